/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What programs of older releases find in the library and newer headers do not declare: with the layouts of then. */
#include <stdint.h>

#include "core/base/base.h"

/* rec_limits of 0.1, which its programs take by value. */
struct limits_0_1 {
    uint32_t size;
    uint32_t depth;
    uint64_t memory_factor, memory_slack, inflated_factor, inflated_slack, elements;
};

/* The headers' function of that name is the program's own; called here it would be a second one of the name,
 * unoptimised. */
REC_API struct limits_0_1 lr_limits_default_0_1(void) __asm__("rec_limits_default");

struct limits_0_1 lr_limits_default_0_1(void)
{
    rec_limits now = {.size = sizeof now};
    (void)rec_limits_init(&now);
    return (struct limits_0_1){
        .size = sizeof(struct limits_0_1),
        .depth = now.depth,
        .memory_factor = now.memory_factor,
        .memory_slack = now.memory_slack,
        .inflated_factor = now.inflated_factor,
        .inflated_slack = now.inflated_slack,
        .elements = now.elements,
    };
}
