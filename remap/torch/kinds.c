/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The table of PyTorch's modules: their names and Burn's. Burn's layers that apply their norms first number them in
 * another order than PyTorch's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "burn/layout/layout.h"
#include "remap/torch/torch.h"

static const char *const lstm_gates[] = {"input_gate", "forget_gate", "cell_gate", "output_gate", NULL};
static const char *const gru_gates[] = {"reset_gate", "update_gate", "new_gate", NULL};
static const char *const rnn_gates[] = {"gate", NULL};
static const char *const projections[] = {"query", "key", "value", NULL};

static const lr_torch_field recurrent[] = {
    {.torch = "weight_ih_l#", .burn = "%.input_transform.weight", .parts = true, .linear = true},
    {.torch = "weight_hh_l#", .burn = "%.hidden_transform.weight", .parts = true, .linear = true},
    {.torch = "bias_ih_l#", .burn = "%.input_transform.bias", .parts = true},
    {.torch = "bias_hh_l#", .burn = "%.hidden_transform.bias", .parts = true},
    /* nn.LSTMCell and its like: a layer without a number. */
    {.torch = "weight_ih", .burn = "%.input_transform.weight", .parts = true, .linear = true},
    {.torch = "weight_hh", .burn = "%.hidden_transform.weight", .parts = true, .linear = true},
    {.torch = "bias_ih", .burn = "%.input_transform.bias", .parts = true},
    {.torch = "bias_hh", .burn = "%.hidden_transform.bias", .parts = true},
    {.torch = "weight_hr_l#"},
    {.torch = NULL},
};

static const lr_torch_field attention[] = {
    {.torch = "in_proj_weight", .burn = "%.weight", .parts = true, .linear = true},
    {.torch = "in_proj_bias", .burn = "%.bias", .parts = true},
    {.torch = "q_proj_weight", .burn = "query.weight", .linear = true},
    {.torch = "k_proj_weight", .burn = "key.weight", .linear = true},
    {.torch = "v_proj_weight", .burn = "value.weight", .linear = true},
    {.torch = "out_proj", .burn = "output", .linear = true},
    {.torch = "bias_k"},
    {.torch = "bias_v"},
    {.torch = NULL},
};

static const lr_torch_field encoder_layer[] = {
    {.torch = "self_attn", .burn = "mha", .kind = "MultiHeadAttention"},
    {.torch = "linear1", .burn = "pwff.linear_inner", .linear = true},
    {.torch = "linear2", .burn = "pwff.linear_outer", .linear = true},
    {.torch = "norm1", .burn = "norm_1", .norm_first = "norm_2"},
    {.torch = "norm2", .burn = "norm_2", .norm_first = "norm_1"},
    {.torch = NULL},
};

static const lr_torch_field decoder_layer[] = {
    {.torch = "self_attn", .burn = "self_attn", .kind = "MultiHeadAttention"},
    {.torch = "multihead_attn", .burn = "cross_attn", .kind = "MultiHeadAttention"},
    {.torch = "linear1", .burn = "pwff.linear_inner", .linear = true},
    {.torch = "linear2", .burn = "pwff.linear_outer", .linear = true},
    {.torch = "norm1", .burn = "norm_1", .norm_first = "norm_3"},
    {.torch = "norm2", .burn = "norm_2", .norm_first = "norm_1"},
    {.torch = "norm3", .burn = "norm_3", .norm_first = "norm_2"},
    {.torch = NULL},
};

static const lr_torch_field encoder[] = {
    {.torch = "layers", .burn = "layers", .kind = "TransformerEncoderLayer", .each = true},
    {.torch = "norm"},
    {.torch = NULL},
};

static const lr_torch_field decoder[] = {
    {.torch = "layers", .burn = "layers", .kind = "TransformerDecoderLayer", .each = true},
    {.torch = "norm"},
    {.torch = NULL},
};

static const lr_torch_kind kinds[] = {
    {"Lstm", "input_gate", lstm_gates, recurrent, true, false},
    {"BiLstm", "forward", lstm_gates, recurrent, true, true},
    {"Gru", "update_gate", gru_gates, recurrent, true, false},
    {"BiGru", "forward", gru_gates, recurrent, true, true},
    {"Rnn", "gate", rnn_gates, recurrent, true, false},
    {"BiRnn", "forward", rnn_gates, recurrent, true, true},
    {"MultiHeadAttention", "query", projections, attention, false, false},
    {"TransformerEncoderLayer", "mha", NULL, encoder_layer, false, false},
    {"TransformerDecoderLayer", "cross_attn", NULL, decoder_layer, false, false},
    {"TransformerEncoder", "layers", NULL, encoder, false, false},
    {"TransformerDecoder", "layers", NULL, decoder, false, false},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const lr_torch_kind *lr_torch_kind_find(const char *name)
{
    for (size_t i = 0; name && i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

const lr_torch_kind *lr_torch_kind_of(const rec_layout *layout)
{
    const lr_torch_kind *kind = layout->kind == REC_LAYOUT_STRUCT ? lr_torch_kind_find(layout->module) : NULL;
    return kind && lr_layout_named(layout, kind->proof, strlen(kind->proof)) != REC_UNKNOWN ? kind : NULL;
}

uint64_t lr_torch_part_count(const lr_torch_kind *kind)
{
    uint64_t count = 0;
    while (kind->parts && kind->parts[count]) {
        count++;
    }
    return count;
}

const lr_torch_kind *lr_torch_kind_of_gates(uint64_t gates, bool both)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].recurrent && kinds[i].both == both && lr_torch_part_count(&kinds[i]) == gates) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* Reads the number of a layer as PyTorch writes it. */
static bool read_layer(const char *text, uint64_t length, uint64_t *layer)
{
    enum { DIGITS_MOST = 6 };
    return length <= DIGITS_MOST && lr_node_index(text, length, layer) && text[0] != '+' &&
           (text[0] != '0' || length == 1);
}

static bool matches(const char *pattern, const char *name, uint64_t length, uint64_t *layer)
{
    const char *number = strchr(pattern, '#');
    size_t head = number ? (size_t)(number - pattern) : strlen(pattern);
    *layer = 0;
    if (length < head || memcmp(name, pattern, head) != 0) {
        return false;
    }
    return number ? read_layer(name + head, length - head, layer) : length == head;
}

const lr_torch_field *lr_torch_field_find(const lr_torch_kind *kind, const char *name, uint64_t length, uint64_t *layer,
                                          bool *reversed)
{
    static const char end[] = "_reverse";
    enum { END = sizeof end - 1 };
    *reversed = kind->recurrent && length > END && memcmp(name + length - END, end, END) == 0;
    length -= *reversed ? END : 0;
    for (const lr_torch_field *f = kind->fields; f->torch; f++) {
        if (matches(f->torch, name, length, layer)) {
            return f;
        }
    }
    return NULL;
}

const lr_torch_field *lr_torch_holder_find(const lr_torch_kind *kind, const char *name, uint64_t length)
{
    for (const lr_torch_field *f = kind->fields; f->torch; f++) {
        if (f->kind && strlen(f->burn) == length && memcmp(f->burn, name, (size_t)length) == 0) {
            return f;
        }
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------- backwards -- */

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
