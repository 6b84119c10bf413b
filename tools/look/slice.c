/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Slices as in numpy: `conv1.weight[0, 1:3, ::2, -1]`. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/look/look.h"

size_t tool_slice_find(const char *operand)
{
    size_t length = strlen(operand);
    const char *open = strrchr(operand, '[');

    if (!open || operand[length - 1] != ']' || strspn(open + 1, "0123456789-:, ") + 2 != strlen(open)) {
        return length;
    }
    return (size_t)(open - operand);
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " ");
}

/* @param found (out) whether there is a number. @return what follows it, NULL if it does not fit. */
static const char *read_number(const char *at, int64_t *number, bool *found)
{
    char *end;

    at = skip_space(at);
    errno = 0;
    long long value = strtoll(at, &end, 10);
    *found = end != at;
    *number = value;
    return errno == ERANGE ? NULL : skip_space(end);
}

/* Reads one part up to its comma or bracket. @return where it ends, NULL if it makes no sense. */
static const char *read_part(const char *at, slice_part *part)
{
    bool has_step;

    *part = (slice_part){.step = 1};
    at = read_number(at, &part->start, &part->has_start);
    if (!at || *at != ':') {
        return part->has_start ? at : NULL;
    }
    part->range = true;
    at = read_number(at + 1, &part->stop, &part->has_stop);
    if (!at || *at != ':') {
        return at;
    }
    at = read_number(at + 1, &part->step, &has_step);
    if (!has_step) {
        part->step = 1;
    }
    return part->step < 1 ? NULL : at;
}

int tool_slice_parse(slice *s, const char *string)
{
    const char *at = string + 1;

    *s = (slice){0};
    if (strcmp(skip_space(at), "]") == 0) {
        return EXIT_OK;
    }
    while (s->count < SLICE_PARTS) {
        const char *end = read_part(at, &s->parts[s->count]);
        if (!end || (*end != ',' && *end != ']')) {
            break;
        }
        s->count++;
        if (*end == ']') {
            return EXIT_OK;
        }
        at = end + 1;
    }
    return tool_fail("slice %s: expected indices and ranges like [0, 1:3, :, -1], found \"%s\"%s", string, at,
                     s->count == SLICE_PARTS ? ": too many of them" : "");
}

/* A bound of a range, counted from the end if negative, and clamped, as numpy does. */
static uint64_t clamp_bound(int64_t bound, uint64_t count)
{
    uint64_t back = bound < 0 ? (uint64_t)0 - (uint64_t)bound : 0;

    if (bound < 0) {
        return back > count ? 0 : count - back;
    }
    return (uint64_t)bound > count ? count : (uint64_t)bound;
}

int tool_slice_apply(const slice *s, const char *key, const uint64_t *shape, uint32_t rank, window *w)
{
    uint64_t stride[SLICE_PARTS], place = 1;

    *w = (window){0};
    if (rank > SLICE_PARTS) {
        return tool_fail("%s: it has %u dimensions, %d can be shown", key, (unsigned)rank, SLICE_PARTS);
    }
    if (s->count > rank) {
        return tool_fail("%s: the slice has %zu parts, the tensor has %u dimension%s", key, s->count, (unsigned)rank,
                         tool_plural(rank));
    }
    for (uint32_t i = rank; i-- > 0;) {
        stride[i] = place;
        place *= shape[i];
    }
    for (uint32_t i = 0; i < rank; i++) {
        const slice_part everything = {.range = true, .step = 1};
        const slice_part *part = i < s->count ? &s->parts[i] : &everything;
        uint64_t start = part->has_start ? clamp_bound(part->start, shape[i]) : 0;
        uint64_t stop = part->has_stop ? clamp_bound(part->stop, shape[i]) : shape[i];
        uint64_t step = (uint64_t)part->step;
        if (part->range) {
            w->shape[w->rank] = stop > start ? (stop - start - 1) / step + 1 : 0;
            w->strides[w->rank++] = stride[i] * step;
        } else if (part->start < 0 ? (uint64_t)0 - (uint64_t)part->start > shape[i]
                                   : (uint64_t)part->start >= shape[i]) {
            return tool_fail("%s: index %" PRIi64 " is out of range: dimension %u has %" PRIu64 " element%s", key,
                             part->start, (unsigned)i, shape[i], tool_plural(shape[i]));
        }
        w->first += start * stride[i];
    }
    return EXIT_OK;
}
