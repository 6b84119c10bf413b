/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Statistics and SHA-256 of a tensor's numbers: extremes, moments, counts of special values, a histogram. It opens no
 * file, changes no record, and prints only errors. It reads tensors in chunks with rec_tensor_read(), so that memory
 * does not grow with them. Results belong to the caller and need no release. */
#ifndef RECORD_MEASURE_H
#define RECORD_MEASURE_H

#include "tools/look/look.h"

enum { MEASURE_BINS = 32, MEASURE_SUM_BYTES = 32 };

typedef struct measured {
    uint64_t count; /* elements */
    uint64_t zeros, nan, inf;
    uint64_t subnormal;               /* at the tensor's own element type */
    uint64_t half_overflow;           /* finite floats that f16 would make infinite; integers beyond i16 */
    uint64_t half_underflow;          /* floats other than zero that f16 would make zero */
    double min, max, mean, std, norm; /* of the finite values (std: of the population); NaN without finite values */
    uint64_t histogram[MEASURE_BINS]; /* all finite values; those outside low and high are in the end bins */
    double low, high;                 /* equal only if there are no finite values */
} measured;

/* Measures one tensor in one pass, by up to the session's threads; the same to the last bit whatever their number and
 * whatever the processor. Bools are 0 and 1. Takes what can be read as numbers, GGUF's blocks too: else `*numeric` is
 * false and `m` has the count alone.
 * @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_measure(session *s, const rec_tensor *tensor, measured *m, bool *numeric);
/* Adds what was measured of other values; `sum` may begin as {0}. Histograms between other edges cannot be added: then
 * `sum` has none, its bins 0 and its edges NaN. */
void tool_measure_add(measured *sum, const measured *more);

/* Where the first NaN and infinite numbers of a tensor are. */
enum { MEASURE_PLACES = 3 };
typedef struct measured_places {
    uint64_t nan[MEASURE_PLACES], inf[MEASURE_PLACES]; /* elements */
    size_t nan_count, inf_count;
} measured_places;
/* Looks for them if `m` counts any; reads no further than it must. @return REC_OK, else the thread has the library's
 * error. */
rec_status tool_measure_places(const rec_tensor *tensor, const measured *m, measured_places *found);
/* Adds "[0, 3], [1, 2]". */
void tool_text_places(text *t, const rec_tensor *tensor, const uint64_t *places, size_t count);
/* The members `nan_at` and `inf_at`. */
void tool_json_places(json *j, const rec_tensor *tensor, const measured_places *found);

/* Computes a tensor's SHA-256, which does not depend on the file format: over a line `f32 [2, 3]` with a newline, then
 * the elements, row-major and little-endian. Burn's three bool types are `bool`, one byte each; flex32 is `f32`; other
 * types have their own name and their stored bytes. @return REC_OK, else the thread has the library's error. */
rec_status tool_tensor_sum(const rec_tensor *tensor, uint8_t sum[MEASURE_SUM_BYTES]);

/* SHA-256 of bytes. */
void tool_bytes_sum(const void *bytes, size_t size, uint8_t sum[MEASURE_SUM_BYTES]);

/* The figures wanted of many tensors. */
enum { MEASURE_NUMBERS = 1, MEASURE_SUM = 2 };
/* One of many. */
typedef struct measured_tensor {
    const rec_tensor *tensor;
    rec_status status; /* not REC_OK: to be measured again by the caller, whose thread then has the error */
    bool numeric;      /* this and `m`: MEASURE_NUMBERS */
    measured m;
    uint8_t sum[MEASURE_SUM_BYTES]; /* MEASURE_SUM */
} measured_tensor;
/* Measures all of a list and calls `each` in its order, until one returns another status than EXIT_OK. Where `made` has
 * a failure, the thread has its error. @param what MEASURE_…. Shows progress of `total` bytes. @return the last
 * status. */
int tool_measure_each(session *s, const char *operation, uint64_t total, const rec_tensor *const *tensors, size_t count,
                      unsigned what, int (*each)(void *user, size_t i, const measured_tensor *made), void *user);

/* For several processes with one file: checks that all have loaded the same record, or failed alike; then each measures
 * its share of these tensors and all exchange the results, which tool_measure_each() takes. A single
 * process does nothing here. @param outcome of the load, 0: success; otherwise nothing is measured. @return EXIT_OK, or
 * EXIT_ERROR: outcomes differ; all processes know it, and the command ends. */
int tool_measure_together(session *s, const char *path, uint64_t outcome, const rec_tensor *const *tensors,
                          size_t count, unsigned what);
/* @return a sum of tensors by which processes tell whether theirs are alike, with one more. */
uint64_t tool_measure_mark(uint64_t sum, const rec_tensor *tensor);
/* Frees what that has left. */
void tool_measure_end(session *s);

/* Adds a histogram as a line of ▁▂▃▄▅▆▇█, `width` columns or as many as there are bins; only empty bins are ▁. */
void tool_text_sparkline(text *t, const uint64_t *bins, size_t count, size_t width);

/* Runs work(user, i) for each i < count on up to the session's threads, the caller's among them; in which order is
 * free. On other threads a tensor may be read; memory, printing and the session are not for them. */
void tool_parallel(session *s, uint64_t count, void (*work)(void *user, uint64_t i), void *user);
/* @return how many threads that is at most. */
uint32_t tool_threads(const session *s);

/* Where several processes look at one file: cuts a list into a run for each, by what its items cost. @param ends (out)
 * where each run ends. */
void tool_shared_cut(const uint64_t *costs, uint64_t count, uint32_t ranks, uint64_t *ends);
/* tool_parallel() by all processes, each its run. Work i leaves made[i], of `size` bytes without one that was not set;
 * in the end all of them have all of it. Work that fails, with the library's error, is done again on this thread, and
 * by all processes.
 * @return EXIT_OK, or EXIT_ERROR with the error printed, or known to all processes. */
int tool_parallel_across(session *s, const uint64_t *costs, uint64_t count, rec_status (*work)(void *user, uint64_t i),
                         void *user, void *made, size_t size);

/* @return the square root, within two units of the last place; of a negative number NaN. The C library has its own in a
 * library of its own, which a command should not have to load. */
double tool_root(double x);

#endif
