/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the parts of the C side of the bench share. It is a program that does one operation a line of standard input
 * and answers with its seconds, so that bench/run can take turns between it and real Burn. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The payload: `count` layers of SIDE x SIDE gaussian f32, as a list of Linear without bias. */
enum { SIDE = 1024, LAYER_COUNT = SIDE * SIDE, LAYER_BYTES = LAYER_COUNT * 4 };

typedef struct model {
    size_t count;
    float **layers;
} model;

/* All that can fail here ends the program with a message: a measurement without its file means nothing. */
model model_new(size_t megabytes);
void model_free(model *m);

/* Monotonic seconds. */
double now(void);
/* Opens, or ends the program. */
int must_open(const char *path, int flags);
size_t file_size(int fd);
/* Sums all bytes in words of eight; the result must be used. */
uint64_t sum_words(const void *data, size_t size);
/* A figure of /proc/self/status, "VmHWM" or "RssAnon", in MiB. */
double status_mib(const char *name);
/* RssAnon while the last record that was loaded or saved was still there. */
extern double live_anonymous;
/* Fresh memory of huge pages where the system has them, as librecord's arena is. */
void *fresh_pages(size_t size);

/* Limits of the system and of zlib. Each returns seconds. */
double raw_open(const char *path);                             /* open, map, unmap */
double raw_scan(const char *path);                             /* map and read every byte */
double raw_write(const model *m, const char *path, bool half); /* fallocate and one write a layer; half as many bytes */
double raw_read(const char *path, unsigned threads);           /* pread into fresh pages */
double raw_inflate(const char *path);                          /* zlib alone, mapped file to fresh pages */

/* `side` x `side` f32: the library's transpose, or memcpy. */
double transposes(size_t side, bool copy);

/* librecord. */
double ours_open(const char *path);  /* load mapped, look at every tensor's name, shape and place */
double ours_scan(const char *path);  /* the same for a .bin without a type, whose parameters have to be found */
double ours_touch(const char *path); /* the same and read every byte */
double ours_load(const char *path, const char *recorder, unsigned threads); /* into memory, not mapped */
double ours_load_f32(const char *path, unsigned threads);                   /* a file of f16 as f32 in memory */
double ours_save(const model *m, const char *path, const char *recorder, const char *precision);
double ours_load_scalars(const char *path); /* mapped, every byte of every tensor read */
/* Compares a file with the model, rounded if it is f16; ends the program if they differ. */
void ours_check(const model *m, const char *path, const char *recorder, bool half);

/* Foreign models (foreign.c). */
void write_header(const char *path, size_t count);     /* safetensors of many small tensors, a hole where data would be */
void write_sparse(const char *path, size_t megabytes); /* 16 tensors, a hole where data would be */
void write_layers(const model *m, const char *path);   /* the payload as PyTorch has it */
void write_sixteen(const model *m, const char *path);  /* the payload as 16 tensors */
double raw_copy_memory(const char *path);              /* map, memcpy into fresh pages */
double raw_copy_file(const char *from, const char *to); /* read and write in turns, a MiB each */
double raw_match(size_t count);                         /* 50 regular expressions on so many keys, PCRE2 alone */
double foreign_open(const char *path);                  /* header only; look at every tensor */
double foreign_reader(const char *path, const char *plugins); /* the same by the plugin's reader alone (reader/) */
double foreign_load(const char *path);                  /* with the PyTorch adapter: every byte of every tensor is made */
double foreign_convert(const char *from, const char *to, bool adapt, const char *map, bool watched); /* to NamedMpk */
double foreign_plan(const char *path);                  /* 50 rules on every key */
void foreign_check(const model *m, const char *path);   /* that foreign_load() transposes */

/* Writes an optimizer's record in Burn 0.13's layout: 2 x `half_count` numbers one by one, no bytes. */
void write_scalars(const char *path, size_t half_count);

#endif
