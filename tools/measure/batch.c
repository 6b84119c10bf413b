/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Measuring many tensors: small ones are shared out among the threads, a large one by its pieces. */
#include "tools/measure/measure_private.h"

/* Few enough at a time that progress shows. */
enum { LARGE = MEASURE_LARGE, TOGETHER = 1 << 23, TOGETHER_HASHED = 1 << 25 };

struct batch {
    measured_tensor *made;
    unsigned what;
};

void tool_measure_one(measured_tensor *t, unsigned what)
{
    t->status = what & MEASURE_NUMBERS ? tool_measure_alone(t->tensor, &t->m, &t->numeric) : REC_OK;
    if (t->status == REC_OK && what & MEASURE_SUM) {
        t->status = tool_tensor_sum(t->tensor, t->sum);
    }
}

static void measure_one(void *user, uint64_t i)
{
    struct batch *b = user;

    tool_measure_one(&b->made[i], b->what);
    rec_tensor_release(b->made[i].tensor, 0, REC_UNKNOWN);
}

size_t tool_measure_batch(session *s, const rec_tensor *const *tensors, size_t count, unsigned what,
                          measured_tensor *made)
{
    struct batch b = {made, what};
    bool sums = what & MEASURE_SUM;
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
        made->status = tool_measure_shared(s, made->tensor, &made->m, &made->numeric);
        rec_tensor_release(made->tensor, 0, REC_UNKNOWN);
    } else if (taken) {
        tool_parallel(s, taken, measure_one, &b);
    }
    return taken;
}
