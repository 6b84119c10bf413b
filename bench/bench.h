/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the parts of the C side of the bench share. It is a program that does one operation a line of standard input
 * and answers with what it took, so that bench/run can take turns between it and others. */
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

/* What an operation took: seconds, and seconds of CPU of all threads. */
typedef struct span {
    double seconds, cpu;
} span;

/* An operation: `words` are those of its line, the name first; those that are not there are "". What only makes a file
 * returns {0}. A table ends with a name that is NULL. */
enum { WORDS = 16 };
typedef span operate(const model *m, char *const *words);
typedef struct operation {
    const char *name;
    operate *run;
} operation;
extern const operation raw_operations[], ours_operations[], foreign_operations[], edit_operations[],
    process_operations[];

/* All that can fail here ends the program with a message: a measurement without its file means nothing. */
model model_new(size_t megabytes);
void model_free(model *m);

span begin(void);
/* From a begin() until now. */
span since(span start);

/* Opens, or ends the program. */
int must_open(const char *path, int flags);
size_t file_size(int fd);
/* What was written goes to the disk outside every time, or the next operation would pay for it. */
void sync_file(const char *path);
/* Whether one of the words is that. */
bool has_word(char *const *words, const char *word);
/* A word as a number; `least` if it is less or none. */
size_t number_of(const char *word, size_t least);
/* Sums all bytes in words of eight; the result must be used. */
uint64_t sum_words(const void *data, size_t size);
/* A figure of /proc/self/status, "VmHWM" or "RssAnon", in MiB. */
double status_mib(const char *name);
/* RssAnon while the last record that was loaded or saved was still there. */
extern double live_anonymous;
/* Fresh memory of huge pages where the system has them, as librecord's arena is. */
void *fresh_pages(size_t size);

/* In files of their own. */
operate transposes;    /* transpose SIDE [copy] */
operate write_scalars; /* write-scalars FILE: an optimizer's record in Burn 0.13's layout, 750,000 numbers one by one */

#endif
