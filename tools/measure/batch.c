/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Measuring many tensors: small ones are shared out among the threads, a large one by its pieces. */
#include "tools/measure/measure_private.h"

/* Few enough at a time that progress shows. */
enum { LARGE = MEASURE_LARGE, TOGETHER = 1 << 23, TOGETHER_HASHED = 1 << 25 };

struct batch {
    measured_tensor *made;
    bool sums;
};

static void measure_one(void *user, uint64_t i)
{
    struct batch *b = user;
    measured_tensor *t = &b->made[i];

    t->status = tool_measure_alone(t->tensor, &t->m, &t->numeric);
    if (t->status == REC_OK && b->sums) {
        t->status = tool_tensor_sum_alone(t->tensor, t->sum);
    }
    rec_tensor_release(t->tensor, 0, REC_UNKNOWN);
}

static rec_status measure_large(session *s, measured_tensor *t)
{
    rec_status status = tool_measure_shared(s, t->tensor, &t->m, &t->numeric);

    rec_tensor_release(t->tensor, 0, REC_UNKNOWN);
    return status;
}

size_t tool_measure_batch(session *s, const rec_tensor *const *tensors, size_t count, bool sums, measured_tensor *made)
{
    struct batch b = {.made = made, .sums = sums};
    uint64_t elements = 0, most = sums ? TOGETHER_HASHED : TOGETHER;
    size_t taken = 0;

    /* A hash is one thread's work, however large the tensor: then all are shared out. */
    while (taken < count && taken < MEASURE_BATCH && elements < most) {
        uint64_t own = rec_tensor_count(tensors[taken]);
        if (own > LARGE && taken && !sums) {
            break;
        }
        made[taken] = (measured_tensor){.tensor = tensors[taken]};
        elements += own;
        taken++;
        if (own > LARGE && !sums) {
            break;
        }
    }
    if (taken == 1 && !sums) {
        made->status = measure_large(s, made);
    } else if (taken) {
        tool_parallel(s, taken, measure_one, &b);
    }
    return taken;
}
