/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the numbers of a tensor are like, and what they hash to: extremes, moments, counts of what is odd, a histogram,
 * SHA-256.
 * It opens no file and changes no record; it prints nothing but errors. It reads tensors in pieces with
 * rec_tensor_read(), so that it needs no memory that grows with them. What it gives is the caller's, without anything
 * to free. */
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
    double min, max, mean, std, norm; /* of the finite values (std: of the population); NaN if there are none */
    uint64_t histogram[MEASURE_BINS]; /* all finite values; those outside low and high are in the end bins */
    double low, high;                 /* equal only if there are no finite values */
} measured;

/* Measures one tensor in one pass, by up to the session's threads; the same to the last bit whatever their number and
 * whatever the processor. Bools are 0 and 1. Takes what can be read as numbers, GGUF's blocks too: else `*numeric` is
 * false and `m` has the count alone.
 * @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_measure(session *s, const rec_tensor *tensor, measured *m, bool *numeric);
/* The same on the calling thread, for those that share tensors out by tool_parallel(): nothing is printed.
 * @return REC_OK, else the thread has the library's error. */
rec_status tool_measure_alone(const rec_tensor *tensor, measured *m, bool *numeric);
/* The same by the session's threads. */
rec_status tool_measure_shared(session *s, const rec_tensor *tensor, measured *m, bool *numeric);
/* Adds what was measured of other values; `sum` may begin as {0}. Histograms between other edges cannot be added: then
 * `sum` has none, its bins 0 and its edges NaN. */
void tool_measure_add(measured *sum, const measured *more);

/* SHA-256 of what a tensor is, the same in whatever file it stands: of a line `f32 [2, 3]` and a line feed, then of its
 * elements, row-major and little-endian. Burn's three bools are `bool`, one byte each, flex32 is `f32`; what is not
 * numbers is its own name and its bytes as they are.
 * @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_tensor_sum(session *s, const rec_tensor *tensor, uint8_t sum[MEASURE_SUM_BYTES]);
/* The same on the calling thread, with nothing printed. @return REC_OK, else the thread has the library's error. */
rec_status tool_tensor_sum_alone(const rec_tensor *tensor, uint8_t sum[MEASURE_SUM_BYTES]);

/* SHA-256 of bytes. */
void tool_bytes_sum(const void *bytes, size_t size, uint8_t sum[MEASURE_SUM_BYTES]);

/* One of many. */
typedef struct measured_tensor {
    const rec_tensor *tensor;
    rec_status status; /* not REC_OK: to be measured again by the caller, whose thread then has the error */
    bool numeric;
    measured m;
    uint8_t sum[MEASURE_SUM_BYTES]; /* only if it was asked for */
} measured_tensor;
enum { MEASURE_BATCH = 256 };
/* Measures tensors from the first on, as many as go together: small ones are shared out among the threads, a large one
 * by its pieces. Pages of mapped files are given back. @param sums whether their SHA-256 is wanted. @param made (out)
 * room for MEASURE_BATCH. @return how many, at least one of `count`. */
size_t tool_measure_batch(session *s, const rec_tensor *const *tensors, size_t count, bool sums, measured_tensor *made);

/* Where several processes look at one file: whether all have come to the same record, or to the same failure; then each
 * measures its share of these tensors, and all have what comes of it, which tool_measure_batch() gives in this order. A
 * process that is alone does nothing here. @param outcome what loading came to, 0: well; then nothing is measured
 * otherwise.
 * @return EXIT_OK, or EXIT_ERROR: they have not; all know, and the command is at its end. */
int tool_measure_together(session *s, const char *path, uint64_t outcome, const rec_tensor *const *tensors,
                          size_t count, bool sums);
/* @return a sum of tensors by which processes tell whether theirs are alike, with one more. */
uint64_t tool_measure_mark(uint64_t sum, const rec_tensor *tensor);
/* Frees what that has left. */
void tool_measure_end(session *s);
/* The same as tool_measure_shared() of a tensor that each process reads a share of: all call it. REC_E_CANCELLED: all
 * know that they are at their end. Other failures are those of any of them. */
rec_status tool_measure_across(session *s, const rec_tensor *tensor, measured *m, bool *numeric);

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
 * in the end all of them have all of it. One process is as tool_parallel(). @param costs, made may be NULL then.
 * @return EXIT_OK, or EXIT_ERROR: all know that they are at their end. */
int tool_parallel_across(session *s, const uint64_t *costs, uint64_t count, void (*work)(void *user, uint64_t i),
                         void *user, void *made, size_t size);
/* What one process could not do all try again. @param said what went wrong here this time, NULL: nothing. @return
 * EXIT_OK: it went wrong for all, or for none; EXIT_ERROR: for some, which all know, and are at their end. */
int tool_shared_failed(session *s, const char *said);

/* @return the square root, within two units of the last place; of a negative number NaN. The C library has its own in a
 * library of its own, which a command should not have to load. */
double tool_root(double x);

#endif
