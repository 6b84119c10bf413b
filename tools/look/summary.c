/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Totals of a record, and its writer according to the metadata. */
#include <string.h>

#include "tools/look/look.h"

static void add_scheme(summary *s, const char *label)
{
    enum { MOST = sizeof s->schemes / sizeof *s->schemes };
    size_t i = 0;

    while (i < s->scheme_count && strcmp(s->schemes[i].label, label) != 0) {
        i++;
    }
    if (i == MOST) {
        s->schemes[--i].label = "other schemes";
    } else if (i == s->scheme_count) {
        s->schemes[s->scheme_count++] = (scheme_count){.label = label};
    }
    s->schemes[i].tensors++;
}

static void add_tensor(summary *s, const rec_tensor *tensor, const char *path)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);
    const char *id = rec_tensor_id(tensor);
    size_t kinds = sizeof s->dtypes / sizeof *s->dtypes;
    size_t kind = dtype >= 0 && (size_t)dtype < kinds ? (size_t)dtype : 0;

    s->tensors++;
    if (rec_tensor_scheme(tensor)) {
        add_scheme(s, rec_tensor_scheme(tensor));
    }
    s->elements += rec_tensor_count(tensor);
    s->nbytes += rec_tensor_nbytes(tensor);
    s->assumed += (uint64_t)(rec_tensor_assumed(tensor) != 0);
    s->dtypes[kind]++;
    if (dtype == REC_DTYPE_OPAQUE) {
        const char *name = rec_tensor_dtype_name(tensor);
        s->encoded = !s->encoded || strcmp(s->encoded, name) == 0 ? name : "encoded";
    }
    if (id) {
        uint64_t length = strlen(id);
        s->id_shortest = s->ids && s->id_shortest < length ? s->id_shortest : length;
        s->id_longest = s->id_longest > length ? s->id_longest : length;
        s->ids++;
    }
    if (!s->largest || rec_tensor_nbytes(tensor) > rec_tensor_nbytes(s->largest)) {
        s->largest = tensor;
        s->largest_path.length = 0;
        tool_text_put(&s->largest_path, path);
    }
}

bool tool_is_burns_key(const char *key)
{
    static const char *const names[] = {"version", "float", "int", "format", "settings"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(key, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

rec_dtype tool_number_dtype(const rec_tensor *tensor)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);
    double first;

    return !rec_dtype_bits(dtype) && rec_tensor_count(tensor) > 0 &&
                   rec_tensor_read(tensor, REC_DTYPE_F64, 0, 1, &first) == REC_OK
               ? REC_DTYPE_F32
               : dtype;
}

rec_dtype tool_exact_dtype(rec_dtype dtype)
{
    switch (dtype) {
    case REC_DTYPE_F64:
    case REC_DTYPE_F32:
    case REC_DTYPE_FLEX32:
    case REC_DTYPE_F16:
    case REC_DTYPE_BF16:
        return REC_DTYPE_F64;
    case REC_DTYPE_I64:
    case REC_DTYPE_I32:
    case REC_DTYPE_I16:
    case REC_DTYPE_I8:
        return REC_DTYPE_I64;
    case REC_DTYPE_U64:
    case REC_DTYPE_U32:
    case REC_DTYPE_U16:
    case REC_DTYPE_U8:
        return REC_DTYPE_U64;
    case REC_DTYPE_BOOL:
    case REC_DTYPE_BOOL8:
    case REC_DTYPE_BOOL32:
        return REC_DTYPE_BOOL;
    default:
        return REC_DTYPE_NONE;
    }
}

int tool_summarise(const rec_record *record, summary *s)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;

    *s = (summary){0};
    if (!iterator) {
        return tool_fail_library();
    }
    while ((value = rec_iterator_next(iterator, &path))) {
        const rec_tensor *tensor = rec_value_tensor(value);
        if (tensor) {
            add_tensor(s, tensor, path);
        } else if (rec_value_kind(value) == REC_KIND_NIL) {
            s->nils++;
        } else {
            s->values++;
        }
    }
    rec_iterator_free(iterator);
    return EXIT_OK;
}

void tool_summary_free(summary *s)
{
    tool_text_free(&s->largest_path);
}

bool tool_is_of_others(const rec_record *record)
{
    return rec_value_form(rec_root(record)) == REC_FORM_PATHS;
}

const char *tool_burn_version(const rec_record *record)
{
    return tool_is_of_others(record) ? NULL : rec_metadata(record, "version");
}

const char *tool_element_word(const rec_record *record, const char *key)
{
    const char *value = tool_is_of_others(record) ? NULL : rec_metadata(record, key);
    const char *colon = value ? strrchr(value, ':') : NULL; /* half::binary16::f16 */

    return colon ? colon + 1 : value;
}

const char *tool_precision_word(const rec_record *record)
{
    static const struct {
        const char *real, *integer, *word;
    } known[] = {{"f16", "i16", "half"}, {"f32", "i32", "full"}, {"f64", "i64", "double"}};
    const char *real = tool_element_word(record, "float"), *integer = tool_element_word(record, "int");

    for (size_t i = 0; real && integer && i < sizeof known / sizeof *known; i++) {
        if (strcmp(real, known[i].real) == 0 && strcmp(integer, known[i].integer) == 0) {
            return known[i].word;
        }
    }
    return NULL;
}

void tool_text_nameless(text *t, const rec_record *record, const char *path)
{
    const char *version = rec_metadata(record, "version");

    tool_text_safe(t, path, strlen(path));
    tool_text_format(t, " carries no names (%s record", rec_record_origin(record)->recorder);
    if (version) {
        tool_text_put(t, ", Burn ");
        tool_text_safe(t, version, strlen(version));
    }
    tool_text_put(t, ")");
}
