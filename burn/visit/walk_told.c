/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Notes of the walk: values that the target version or type drops, merges or requires. Notes of one kind share a line:
 * the first with path and value, the next few by name, the others as a number. */
#include <inttypes.h>
#include <stdio.h>

#include "burn/visit/walk_private.h"

enum { NAMED_MOST = 3 }; /* in addition to the first */

/* Appends to a text of `used` bytes; what does not fit is cut. */
static size_t append(char *text, size_t room, size_t used, const char *format, ...) REC_PRINTF(4, 5);
static size_t append(char *text, size_t room, size_t used, const char *format, ...)
{
    va_list args;
    int length;
    va_start(args, format);
    length = used < room ? vsnprintf(text + used, room - used, format, args) : 0;
    va_end(args);
    used += length > 0 ? (size_t)length : 0;
    return used < room ? used : room - 1;
}

const char *lr_walk_value_words(const rec_value *value, char *text, size_t room)
{
    lr_excerpt brief;
    char shape[160];
    switch (value->kind) {
    case REC_KIND_BOOL:
        (void)snprintf(text, room, "%s", value->v.i ? "true" : "false");
        break;
    case REC_KIND_INT:
        (void)snprintf(text, room, "%" PRId64, value->v.i);
        break;
    case REC_KIND_UINT:
        (void)snprintf(text, room, "%" PRIu64, value->v.u);
        break;
    case REC_KIND_FLOAT:
        for (int digits = 6; digits <= 17; digits++) { /* as few as say which number it is */
            double read = 0;
            (void)lr_number_put(text, room, 'g', digits, value->v.f);
            (void)lr_number_read(text, strlen(text), &read); /* NaN and infinities are not parsed: with all digits */
            if (value->bits == 32 ? (float)read == (float)value->v.f : read == value->v.f) {
                break;
            }
        }
        break;
    case REC_KIND_STRING:
        (void)snprintf(text, room, "\"%s\"", lr_excerpt_text(&brief, value->v.text));
        break;
    case REC_KIND_TENSOR:
        (void)snprintf(text, room, "a tensor %s of %s",
                       lr_shape_words(shape, sizeof shape, value->v.tensor->shape, value->v.tensor->rank),
                       rec_tensor_dtype_name(value->v.tensor));
        break;
    default:
        (void)snprintf(text, room, "%s", lr_kind_words(value->kind));
        break;
    }
    return text;
}

void lr_walk_tell(lr_walk *w, int32_t kind, uint64_t count, const char *value, const char *format, ...)
{
    char sentence[sizeof w->told->sentence];
    lr_told *told = w->told;
    va_list args;
    if (w->again) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    while (told < w->told + w->told_count && (told->kind != kind || strcmp(told->sentence, sentence) != 0)) {
        told++;
    }
    if (told == w->told + LR_TOLD_MOST) { /* further kinds are reported individually */
        lr_note(w->job, kind, count, w->path, "%s%s%s", sentence, value ? ": " : "", value ? value : "");
        return;
    }
    if (told == w->told + w->told_count) {
        w->told_count++;
        *told = (lr_told){.kind = kind};
        (void)append(told->sentence, sizeof told->sentence, 0, "%s", sentence);
        (void)append(told->path, sizeof told->path, 0, "%s", w->path);
        (void)append(told->value, sizeof told->value, 0, "%s", value ? value : "");
    } else if (told->places <= NAMED_MOST) {
        told->used = append(told->named, sizeof told->named, told->used, "%s%s%s%s%s", told->used ? ", " : "", w->path,
                            value ? " (" : "", value ? value : "", value ? ")" : "");
    }
    told->count += count;
    told->places++;
}

void lr_walk_tell_all(lr_walk *w)
{
    for (size_t i = 0; i < w->told_count; i++) {
        const lr_told *told = &w->told[i];
        char digits[32], rest[64] = "";
        if (told->places > 1 + NAMED_MOST) {
            (void)snprintf(rest, sizeof rest, " and %s more",
                           lr_group_digits(told->places - 1 - NAMED_MOST, digits, sizeof digits));
        }
        lr_note(w->job, told->kind, told->count, told->path, "%s%s%s%s%s%s", told->sentence, *told->value ? ": " : "",
                told->value, told->used ? "; likewise " : "", told->named, rest);
    }
    w->told_count = 0;
}
