/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What is in a record: its tensors and its other values, with their paths. */
#include <stdlib.h>
#include <string.h>

#include "tools/look/look.h"

static void add_tensor(listing *l, const rec_tensor *tensor)
{
    l->tensors = tool_grown(l->tensors, l->tensor_count, sizeof *l->tensors);
    l->handles = tool_grown(l->handles, l->tensor_count, sizeof *l->handles);
    l->tensors[l->tensor_count] = (entry){
        .dtype = rec_tensor_dtype_name(tensor),
        .shape = rec_tensor_shape(tensor),
        .rank = rec_tensor_rank(tensor),
        .count = rec_tensor_count(tensor),
    };
    l->handles[l->tensor_count++] = tensor;
    l->elements += rec_tensor_count(tensor);
    l->nbytes += rec_tensor_nbytes(tensor);
}

static void add_value(listing *l, const rec_value *value)
{
    l->values = tool_grown(l->values, l->value_count, sizeof *l->values);
    l->nils += rec_value_kind(value) == REC_KIND_NIL;
    l->values[l->value_count++] = (listed_value){NULL, value};
}

int tool_listing_gather(const rec_record *record, key_patterns *keys, bool values, listing *l)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;
    text value_paths = {0};

    if (!iterator) {
        return tool_fail_library();
    }
    while ((value = rec_iterator_next(iterator, &path))) {
        const rec_tensor *tensor = rec_value_tensor(value);
        l->tensors_in_all += tensor != NULL;
        l->values_in_all += !tensor && rec_value_kind(value) != REC_KIND_NIL;
        if ((!tensor && !values) || !tool_patterns_match(keys, path)) {
            continue;
        }
        if (tensor) {
            add_tensor(l, tensor);
        } else {
            add_value(l, value);
        }
        tool_text_add(tensor ? &l->paths : &value_paths, path, strlen(path) + 1);
    }
    rec_iterator_free(iterator);

    /* The texts have stopped moving: tensors' paths first, then those of values. */
    if (value_paths.length) {
        tool_text_add(&l->paths, value_paths.at, value_paths.length);
    }
    tool_text_free(&value_paths);
    path = l->paths.at;
    for (size_t i = 0; i < l->tensor_count; i++, path += strlen(path) + 1) {
        l->tensors[i].path = path;
    }
    for (size_t i = 0; i < l->value_count; i++, path += strlen(path) + 1) {
        l->values[i].path = path;
    }
    return EXIT_OK;
}

void tool_listing_free(listing *l)
{
    free(l->tensors);
    free(l->handles);
    free(l->sums);
    free(l->values);
    tool_text_free(&l->paths);
}

size_t tool_level_length(const char *key)
{
    size_t length = 0;

    while (key[length] && key[length] != '.') {
        length += key[length] == '\\' && key[length + 1] ? 2 : 1;
    }
    return length;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int tool_compare_forms(const rec_tensor *a, const rec_tensor *b)
{
    uint32_t rank = rec_tensor_rank(a);
    int order = strcmp(rec_tensor_dtype_name(a), rec_tensor_dtype_name(b));

    order = order ? order : compare_numbers(rank, rec_tensor_rank(b));
    for (uint32_t i = 0; i < rank && !order; i++) {
        order = compare_numbers(rec_tensor_shape(a)[i], rec_tensor_shape(b)[i]);
    }
    return order ? order : compare_numbers(rec_tensor_nbytes(a), rec_tensor_nbytes(b));
}
