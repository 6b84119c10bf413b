/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards: the two spellings of what torch's weight_norm keeps of a weight. */
#include <stdio.h>
#include <string.h>

#include "remap/reverse/reverse_private.h"

/* The key of the direction by one spelling. @return false: it is too long for any file's. */
static bool spell(const lr_candidate *weight, bool parametrized, bool direction, char *text, size_t room)
{
    const char *last = lr_path_last(weight->text, weight->length);
    int n = parametrized ? snprintf(text, room, "%.*sparametrizations.%s.original%c", (int)(last - weight->text),
                                    weight->text, last, direction ? '1' : '0')
                         : snprintf(text, room, "%s_%c", weight->text, direction ? 'v' : 'g');
    return n > 0 && (size_t)n < room;
}

/* Whether the file had the direction by one spelling. */
static bool had(const lr_reverse *b, const lr_candidate *weight, bool parametrized)
{
    const lr_memory *memory = b->source->memory;
    const char *select = b->source->rules->select;
    char text[4096];
    size_t head = select ? (size_t)snprintf(text, sizeof text, "%.3000s.", select) : 0;
    return memory && spell(weight, parametrized, true, text + head, sizeof text - head) &&
           lr_memory_has(&memory->keys, text, strlen(text));
}

bool lr_back_is_normed(const lr_reverse *b, const lr_candidate *weight)
{
    bool known = b->source->memory && b->source->memory->keys.count;
    return !known || had(b, weight, false) || had(b, weight, true);
}

int32_t lr_back_normed_names(lr_reverse *b, const lr_candidate *weight, const char *names[2])
{
    const lr_memory *memory = b->source->memory;
    bool parametrized =
        had(b, weight, true) || (memory && lr_memory_find(&memory->parametrized, weight->text, weight->length));
    char text[4096];
    for (int i = 0; i < 2; i++) {
        if (!spell(weight, parametrized, i == 1, text, sizeof text)) {
            return rec_fail(b->job, REC_E_LIMIT, REC_UNKNOWN, "the key %.100s… is too long", weight->text);
        }
        names[i] = lr_back_keep(b, text, strlen(text));
    }
    return b->job->error.status;
}
