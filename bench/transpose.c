/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A transpose alone beside a memcpy of as many bytes, one thread, memory in use on both sides: how near the machine's
 * own speed the library's kernel is. It is compiled in, as the library shows nobody its insides. */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "remap/ops/ops.h"
#include "bench.h"

span transposes(const model *m, char *const *words)
{
    bool copy = has_word(words, "copy");
    size_t side = number_of(words[1], 1), size = side * side * sizeof(float);
    float *from = fresh_pages(size), *to = fresh_pages(size);
    span start, took;

    (void)m;
    for (size_t i = 0; i < side * side; i++) {
        from[i] = (float)i;
    }
    memset(to, 1, size);
    start = begin();
    if (copy) {
        memcpy(to, from, size);
    } else {
        lr_transpose(from, side * sizeof *from, to, side * sizeof *to, side, side, sizeof *from);
    }
    took = since(start);
    if (to[1] != from[copy ? 1 : side]) {
        errx(2, "the transpose is wrong");
    }
    munmap(from, size);
    munmap(to, size);
    return took;
}
