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

/* Writes an optimizer's record in Burn 0.13's layout: 2 x `half_count` numbers one by one, no bytes. */
void write_scalars(const char *path, size_t half_count);

#endif
