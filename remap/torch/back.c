/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The table of PyTorch's modules read backwards: from Burn's path of a tensor to PyTorch's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/torch/torch.h"

int lr_torch_norm_first(lr_plan_source *source)
{
    double value;
    return lr_variables_ask(&source->numbers, LR_NUMBER_NORM_FIRST, &value) ? value != 0 : -1;
}

/* Appends to a place's path. */
static bool put(lr_torch_place *place, const char *text, size_t length)
{
    size_t used = strlen(place->text);
    if (used + length >= place->room) {
        return false;
    }
    memcpy(place->text + used, text, length);
    place->text[used + length] = '\0';
    return true;
}

/* The rest of a path after its begin, without the dot. NULL: it begins otherwise. */
static const char *after(const char *path, const char *begin)
{
    size_t length = strlen(begin);
    if (strncmp(path, begin, length) != 0 || (path[length] && path[length] != '.')) {
        return NULL;
    }
    return path + length + (path[length] == '.');
}

/* Whether a path is that of a part: `%.weight`. @param part (out) its number. */
static bool is_part(const lr_torch_kind *kind, const char *pattern, const char *path, uint64_t *part)
{
    const char *rest = pattern + 1; /* after `%` */
    for (*part = 0; kind->parts[*part]; ++*part) {
        size_t length = strlen(kind->parts[*part]);
        if (strncmp(path, kind->parts[*part], length) == 0 && strcmp(path + length, rest) == 0) {
            return true;
        }
    }
    return false;
}

static bool put_name(lr_torch_place *place, const lr_torch_field *field, uint64_t layer, bool reversed)
{
    const char *number = strchr(field->torch, '#');
    char digits[24];
    size_t head = number ? (size_t)(number - field->torch) : strlen(field->torch);
    place->whole = place->text + strlen(place->text);
    if (!put(place, field->torch, head)) {
        return false;
    }
    if (number) {
        (void)snprintf(digits, sizeof digits, "%" PRIu64, layer);
        return put(place, digits, strlen(digits)) && put(place, reversed ? "_reverse" : "", reversed ? 8 : 0);
    }
    return true;
}

static bool back_held(const lr_torch_field *field, const char *rest, int norm_first, lr_torch_place *place)
{
    const lr_torch_kind *inner = lr_torch_kind_find(field->kind);
    size_t length = strlen(field->torch);
    if (!put(place, field->torch, length) || !put(place, ".", 1)) {
        return false;
    }
    if (field->each) {
        size_t digits = strspn(rest, "0123456789");
        if (!digits || rest[digits] != '.' || !put(place, rest, digits + 1)) {
            return false;
        }
        rest += digits + 1;
    }
    return lr_torch_back(inner, rest, 0, norm_first, place);
}

/* A field that is moved: a linear layer, a norm. */
static bool back_moved(const lr_torch_field *field, const char *path, int norm_first, lr_torch_place *place)
{
    const char *burn = norm_first > 0 && field->norm_first ? field->norm_first : field->burn, *rest = after(path, burn);
    place->unsure = place->unsure || (rest && field->norm_first && norm_first < 0);
    place->linear = rest && field->linear;
    return rest && put(place, field->torch, strlen(field->torch)) && put(place, *rest ? "." : "", *rest != '\0') &&
           put(place, rest, strlen(rest));
}

bool lr_torch_back(const lr_torch_kind *kind, const char *path, uint64_t layer, int norm_first, lr_torch_place *place)
{
    bool reversed = false;
    size_t used = strlen(place->text);
    place->kind = kind;
    place->part_count = 1;
    place->whole = NULL;
    if (kind->both) {
        const char *forward = after(path, "forward"), *reverse = after(path, "reverse");
        reversed = reverse != NULL;
        path = forward ? forward : reverse;
    }
    for (const lr_torch_field *f = kind->fields; path && f->torch; f++) {
        place->text[used] = '\0';
        if (!f->burn) {
            continue;
        }
        if (f->parts && is_part(kind, f->burn, path, &place->part)) {
            place->part_count = lr_torch_part_count(kind);
            place->linear = true;
            return put_name(place, f, layer, reversed);
        }
        if (f->kind && after(path, f->burn) && back_held(f, after(path, f->burn), norm_first, place)) {
            return true;
        }
        if (!f->parts && !f->kind && back_moved(f, path, norm_first, place)) {
            return true;
        }
    }
    return false;
}
