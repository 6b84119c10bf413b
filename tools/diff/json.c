/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The differences between two records, for programs. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

static const char *verdict_word(int verdict)
{
    static const char *const verdicts[] = {
        [PAIR_EQUAL] = "equal",     [PAIR_WITHIN] = "within", [PAIR_ROUNDED] = "rounded", [PAIR_DIFFERS] = "differs",
        [PAIR_UNREAD] = "not read", [PAIR_SHAPE] = "shape",   [PAIR_APART] = "dtype",
    };

    return verdicts[verdict];
}

static void json_side(json *j, const char *key, const side *d)
{
    tool_json_object(j, key);
    tool_json_string(j, "file", d->path);
    tool_json_string(j, "recorder", rec_record_origin(d->record)->recorder);
    tool_json_string(j, "burn", tool_burn_version(d->record));
    tool_json_uint(j, "tensors", d->tensors.count);
    tool_json_uint(j, "parameters", d->elements);
    tool_json_uint(j, "values", d->values.count);
    tool_json_bool(j, "named", !d->by_position);
    tool_json_close(j, '}');
}

static void json_form(json *j, const rec_tensor *tensor)
{
    tool_json_string(j, "dtype", rec_tensor_dtype_name(tensor));
    tool_json_shape(j, "shape", rec_tensor_shape(tensor), rec_tensor_rank(tensor));
}

/* Tensors that stand on one side only. */
static void json_alone(json *j, const char *key, const side *d)
{
    tool_json_array(j, key);
    for (size_t i = 0; i < d->tensors.count; i++) {
        const item *it = d->tensors.at[i];
        if (!it->twin) {
            tool_json_object(j, NULL);
            tool_json_string(j, "key", it->key);
            json_form(j, it->tensor);
            tool_json_close(j, '}');
        }
    }
    tool_json_close(j, ']');
}

static void json_number(json *j, const char *key, double number)
{
    tool_json_float(j, key, number, REC_DTYPE_F64);
}

static void json_place(json *j, const char *key, const rec_tensor *tensor, uint64_t at)
{
    text t = {0};

    tool_text_place(&t, tensor, at);
    tool_json_token(j, key, t.at);
    tool_text_free(&t);
}

static void json_element(json *j, const char *key, const rec_tensor *tensor, uint64_t at)
{
    rec_scalar x = tool_diff_element(tensor, at);

    tool_json_scalar(j, key, &x);
}

static void json_two(json *j, const char *key, const uint64_t numbers[SIDES])
{
    tool_json_array(j, key);
    tool_json_uint(j, NULL, numbers[SIDE_A]);
    tool_json_uint(j, NULL, numbers[SIDE_B]);
    tool_json_close(j, ']');
}

/* Where something is largest, or first, and what stands there. */
static void json_at(json *j, const char *key, double value, const rec_tensor *a, const rec_tensor *b, uint64_t at)
{
    tool_json_object(j, key);
    if (value == value) {
        json_number(j, "value", value);
    }
    json_place(j, "at", a, at);
    json_element(j, "a", a, at);
    json_element(j, "b", b, at);
    tool_json_close(j, '}');
}

static void json_figures(json *j, const pair *p, const rec_tensor *a, const rec_tensor *b)
{
    const figures *f = p->figures;

    tool_json_uint(j, "differing", f->differing);
    if (!f->differing) {
        return; /* bytes, of which no numbers are known */
    }
    tool_json_uint(j, "beyond", f->beyond);
    json_number(j, "change", p->change);
    json_number(j, "cosine", tool_diff_cosine(f));
    json_number(j, "nmse", tool_diff_nmse(f));
    json_number(j, "sqnr", tool_diff_sqnr(tool_diff_nmse(f)));
    json_number(j, "norm_difference", tool_root(f->dd) / f->scale);
    json_number(j, "norm_a", tool_root(f->aa) / f->scale);
    json_number(j, "norm_b", tool_root(f->bb) / f->scale);
    if (f->differing > f->odd) {
        json_at(j, "max_abs", f->max_abs, a, b, f->max_abs_at);
        json_at(j, "max_rel", f->max_rel, a, b, f->max_rel_at);
    }
    if (f->odd) {
        tool_json_uint(j, "not_finite", f->odd);
        json_at(j, "first_not_finite", __builtin_nan(""), a, b, f->odd_at);
    }
    json_two(j, "nan", f->nan);
    json_two(j, "inf", f->inf);
}

static void json_pair(json *j, const comparison *c, const pair *p)
{
    const item *a = p->of[SIDE_A], *b = p->of[SIDE_B];

    tool_json_object(j, NULL);
    tool_json_string(j, "key", tool_diff_key(c, p));
    if (strcmp(a->key, b->key) != 0) {
        tool_json_string(j, "key_b", b->key);
    }
    tool_json_string(j, "verdict", verdict_word(p->verdict));
    json_form(j, a->tensor);
    if (p->dtype) {
        tool_json_string(j, "dtype_b", rec_tensor_dtype_name(b->tensor));
    }
    if (p->verdict == PAIR_SHAPE) {
        tool_json_shape(j, "shape_b", rec_tensor_shape(b->tensor), rec_tensor_rank(b->tensor));
        tool_json_bool(j, "transposed", p->transposed);
    }
    tool_json_uint(j, "count", rec_tensor_count(a->tensor));
    if (p->figures) {
        json_figures(j, p, a->tensor, b->tensor);
    }
    tool_json_close(j, '}');
}

static void json_tensors(json *j, const comparison *c, bool all)
{
    size_t count;
    const pair **sorted = tool_diff_sorted(c, &count);

    tool_json_array(j, "tensors");
    for (size_t i = 0; i < count; i++) {
        json_pair(j, c, sorted[i]);
    }
    for (size_t i = 0; i < c->pair_count; i++) {
        const pair *p = &c->pairs[i];
        if (!p->figures && (all || p->verdict == PAIR_SHAPE || p->verdict == PAIR_APART || p->dtype)) {
            json_pair(j, c, p);
        }
    }
    tool_json_close(j, ']');
    free(sorted);
}

static void json_renamed(json *j, const comparison *c)
{
    tool_json_array(j, "renamed");
    for (size_t i = 0; i < c->pair_count; i++) {
        const pair *p = &c->pairs[i];
        if (p->renamed) {
            tool_json_object(j, NULL);
            tool_json_string(j, "from", p->of[SIDE_A]->key);
            tool_json_string(j, "to", p->of[SIDE_B]->key);
            json_form(j, p->of[SIDE_A]->tensor);
            tool_json_close(j, '}');
        }
    }
    tool_json_close(j, ']');
}

static void json_values(json *j, const comparison *c)
{
    static const char *const names[] = {"a", "b"};

    tool_json_array(j, "values");
    for (size_t i = 0; i < c->value_count; i++) {
        const difference *d = &c->values[i];
        tool_json_object(j, NULL);
        tool_json_string(j, "key", (d->of[SIDE_A] ? d->of[SIDE_A] : d->of[SIDE_B])->key);
        for (int which = 0; which < SIDES; which++) {
            if (d->of[which]) {
                tool_json_leaf(j, names[which], d->of[which]->value);
            }
        }
        tool_json_close(j, '}');
    }
    tool_json_close(j, ']');
    tool_json_array(j, "metadata");
    for (size_t i = 0; i < c->metadata_count; i++) {
        tool_json_object(j, NULL);
        tool_json_string(j, "key", c->metadata[i].key);
        for (int which = 0; which < SIDES; which++) {
            if (c->metadata[i].value[which]) {
                tool_json_string(j, names[which], c->metadata[i].value[which]);
            }
        }
        tool_json_close(j, '}');
    }
    tool_json_close(j, ']');
}

static void json_ids(json *j, const comparison *c)
{
    tool_json_array(j, "ids");
    for (size_t i = 0; i < c->pair_count; i++) {
        const pair *p = &c->pairs[i];
        if (tool_diff_id_counts(c, p) && !p->renamed) {
            tool_json_object(j, NULL);
            tool_json_string(j, "key", tool_diff_key(c, p));
            tool_json_string(j, "a", rec_tensor_id(p->of[SIDE_A]->tensor));
            tool_json_string(j, "b", rec_tensor_id(p->of[SIDE_B]->tensor));
            tool_json_close(j, '}');
        }
    }
    tool_json_close(j, ']');
}

static void json_frozen(json *j, const comparison *c)
{
    frozen f;

    tool_diff_frozen(c, &f);
    tool_json_array(j, "frozen");
    for (size_t i = 0; i < f.count; i++) {
        if (!f.at[i].changed) {
            tool_json_object(j, NULL);
            tool_json_string(j, "key", f.at[i].key);
            tool_json_uint(j, "tensors", f.at[i].tensors);
            tool_json_uint(j, "parameters", f.at[i].elements);
            tool_json_close(j, '}');
        }
    }
    tool_json_close(j, ']');
    tool_diff_frozen_free(&f);
}

void tool_diff_print_json(const comparison *c, bool all, const notes *n)
{
    char *hint;
    json j;

    tool_json_open(&j, stdout, 2);
    tool_json_bool(&j, "equal", !c->differs);
    json_side(&j, "a", &c->sides[SIDE_A]);
    json_side(&j, "b", &c->sides[SIDE_B]);
    json_alone(&j, "removed", &c->sides[SIDE_A]);
    json_alone(&j, "added", &c->sides[SIDE_B]);
    json_renamed(&j, c);
    json_tensors(&j, c, all);
    json_values(&j, c);
    if (c->w->ids || c->bares) {
        json_ids(&j, c);
    }
    json_frozen(&j, c);
    tool_json_object(&j, "totals");
    tool_json_uint(&j, "pairs", c->pair_count);
    for (int i = PAIR_EQUAL; i <= PAIR_APART; i++) {
        tool_json_uint(&j, verdict_word(i), c->verdicts[i]);
    }
    tool_json_uint(&j, "removed", c->removed);
    tool_json_uint(&j, "added", c->added);
    tool_json_uint(&j, "renamed", c->renamed);
    tool_json_uint(&j, "dtypes", c->dtypes);
    tool_json_uint(&j, "moved", c->moved);
    tool_json_uint(&j, "ids", c->ids);
    tool_json_uint(&j, "values", c->value_count);
    tool_json_uint(&j, "values_equal", c->values_equal);
    tool_json_uint(&j, "metadata", c->metadata_count);
    tool_json_close(&j, '}');
    hint = tool_diff_hint(c);
    tool_json_string(&j, "hint", hint);
    free(hint);
    tool_json_notes(&j, "notes", n);
    tool_json_finish(&j);
}
