/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>
#include <sys/random.h>

#include "onnx/graph.h"
#include "onnx/tensor.h"

/* Fields of GraphProto, NodeProto and AttributeProto. */
enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_SPARSE = 15 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_I = 3,
    ATTRIBUTE_T = 5,
    ATTRIBUTE_G = 6,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_GRAPHS = 11
};
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2 };
enum { INPUTS = 3, OP_ROOM = 16, LEAST = 64 };

typedef struct range {
    uint64_t at, size;
} range;

typedef struct node {
    range inputs[INPUTS], output, name;
    uint32_t input_count;
    char op[OP_ROOM];
    int trans_b;
    int permutes; /**< Transpose of anything but a matrix */
} node;

/* ------------------------------------------------------------------------------------------------ names, values -- */

static uint32_t hash(const graph *g, const char *name, uint64_t length)
{
    uint64_t sum = g->seed[0];
    for (uint64_t i = 0; i < length; i++) {
        sum = (sum ^ (uint8_t)name[i]) * g->seed[1];
        sum ^= sum >> 32;
    }
    return (uint32_t)sum;
}

uint32_t graph_find(const graph *g, const char *name, uint64_t length)
{
    uint32_t i = g->head_count ? g->heads[hash(g, name, length) & (g->head_count - 1)] : GRAPH_NONE;
    while (i != GRAPH_NONE &&
           (g->values[i].length != length || memcmp(g->names.bytes + g->values[i].name, name, length) != 0)) {
        i = g->values[i].same;
    }
    return i;
}

static void link_value(graph *g, uint32_t i)
{
    graph_value *v = &g->values[i];
    uint32_t *head = &g->heads[hash(g, g->names.bytes + v->name, v->length) & (g->head_count - 1)];
    v->same = *head;
    *head = i;
}

static rec_status no_memory(graph *g)
{
    return rec_fail(g->job, REC_E_MEMORY, REC_UNKNOWN, "no memory for the names of %u tensors", g->count);
}

/* Makes room for another value, and for as many lists by hash. */
static rec_status grow(graph *g)
{
    uint32_t wider = g->room ? g->room * 2 : LEAST, *heads;
    graph_value *values;
    if (g->count < g->room) {
        return REC_OK;
    }
    values = g->room > UINT32_MAX / 4 ? NULL : rec_job_resize(g->job, g->values, wider * sizeof *values);
    if (!values) {
        return no_memory(g);
    }
    g->values = values;
    heads = rec_job_resize(g->job, g->heads, wider * sizeof *heads);
    if (!heads) {
        return no_memory(g);
    }
    g->heads = heads;
    g->room = g->head_count = wider;
    memset(heads, 0xff, wider * sizeof *heads); /* GRAPH_NONE */
    for (uint32_t i = 0; i < g->count; i++) {
        link_value(g, i);
    }
    return REC_OK;
}

/* Reads a text of the file into `read`. */
static rec_status read_text(graph *g, range at)
{
    return text_read(&g->read, g->job, g->source, at.at, at.size);
}

/* Adds the text that was read last, as a value. */
static rec_status add(graph *g, graph_value value)
{
    rec_status status = grow(g);
    value.name = g->names.length;
    value.length = g->read.length;
    status = status == REC_OK ? text_add(&g->names, g->job, g->read.bytes, g->read.length) : status;
    if (status == REC_OK) {
        g->values[g->count] = value;
        link_value(g, g->count++);
    }
    return status;
}

static rec_status add_initializer(graph *g, const pb_cursor *c, const pb_field *field)
{
    range name;
    rec_status status = pb_expect(c, field, PB_BYTES, "an initializer");
    status = status == REC_OK ? tensor_name(pb_inside(c, field), &name.at, &name.size) : status;
    if (status == REC_OK && !name.size) {
        return rec_fail(g->job, REC_E_FORMAT, field->at, "an initializer without a name");
    }
    status = status == REC_OK ? read_text(g, name) : status;
    if (status == REC_OK && graph_find(g, g->read.bytes, g->read.length) != GRAPH_NONE) {
        return rec_fail(g->job, REC_E_FORMAT, field->at, "a second initializer of the same name");
    }
    return status == REC_OK
               ? add(g, (graph_value){.at = field->data, .end = field->data + field->size, .of = GRAPH_NONE})
               : status;
}

/* ------------------------------------------------------------------------------------------------------- nodes -- */

/* Whether a constant has numbers that could be parameters: floats with a dimension. */
static rec_status looks_trained(pb_cursor c, uint64_t *count)
{
    pb_field field;
    int floats = 0, dims = 0;
    rec_status status = REC_OK;
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        dims = dims || field.number == TENSOR_DIMS;
        floats = floats || (field.number == TENSOR_TYPE &&
                            (field.value == 1 || field.value == 10 || field.value == 11 || field.value == 16));
    }
    *count += floats && dims;
    return status;
}

/* A permutation: 1, 0 alone turns a matrix round. */
static rec_status read_perm(const pb_cursor *c, const pb_field *field, uint32_t *place, int *other)
{
    pb_cursor inside = pb_inside(c, field);
    uint64_t axis = field->value;
    rec_status status = REC_OK;
    if (field->wire == PB_VARINT) {
        *other = *other || axis != 1u - *place || *place > 1;
        ++*place;
        return REC_OK;
    }
    status = pb_expect(c, field, PB_BYTES, "the axes of Transpose");
    while (status == REC_OK && inside.at < inside.end) {
        status = pb_varint(&inside, &axis);
        *other = *other || *place > 1 || axis != 1u - *place;
        ++*place;
    }
    return status;
}

static int is(const pb_cursor *c, range found, const char *word)
{
    const uint8_t *bytes;
    uint64_t length = strlen(word), got;
    return found.size == length && window_get(c->w, found.at, length, &bytes, &got) == REC_OK &&
           memcmp(bytes, word, length) == 0;
}

static rec_status read_attribute(graph *g, pb_cursor c, node *n)
{
    pb_field field;
    range name = {0};
    uint64_t number = 0;
    uint32_t axes = 0;
    int permutes = 0;
    rec_status status = REC_OK;
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        if (status != REC_OK) {
            return status;
        }
        switch (field.number) {
        case ATTRIBUTE_NAME:
            status = pb_expect(&c, &field, PB_BYTES, "the name of an attribute");
            name = (range){field.data, field.size};
            break;
        case ATTRIBUTE_I:
            number = field.value;
            break;
        case ATTRIBUTE_INTS:
            status = read_perm(&c, &field, &axes, &permutes);
            break;
        case ATTRIBUTE_T:
            status = field.wire == PB_BYTES ? looks_trained(pb_inside(&c, &field), &g->constants) : REC_OK;
            break;
        case ATTRIBUTE_G:
        case ATTRIBUTE_GRAPHS:
            g->constants++;
            break;
        default:
            break;
        }
    }
    if (status == REC_OK && is(&c, name, "transB")) {
        n->trans_b = number != 0;
    } else if (status == REC_OK && is(&c, name, "perm")) {
        n->permutes = permutes || axes != 2;
    }
    return status;
}

static rec_status read_op(const pb_cursor *c, const pb_field *field, node *n)
{
    const uint8_t *bytes;
    uint64_t got;
    rec_status status =
        field->size && field->size < OP_ROOM ? window_get(c->w, field->data, field->size, &bytes, &got) : REC_OK;
    if (status == REC_OK && field->size && field->size < OP_ROOM) {
        memcpy(n->op, bytes, field->size);
        n->op[field->size] = '\0';
    }
    return status;
}

static rec_status read_node(graph *g, pb_cursor c, node *n)
{
    pb_field field;
    rec_status status = REC_OK;
    *n = (node){0};
    while (status == REC_OK && c.at < c.end) {
        range bytes;
        status = pb_next(&c, &field);
        if (status == REC_OK && field.number >= NODE_INPUT && field.number <= NODE_ATTRIBUTE) {
            status = pb_expect(&c, &field, PB_BYTES, "a field of a node");
        }
        if (status != REC_OK) {
            return status;
        }
        bytes = (range){field.data, field.size};
        if (field.number == NODE_INPUT && n->input_count < INPUTS) {
            n->inputs[n->input_count++] = bytes;
        } else if (field.number == NODE_OUTPUT && !n->output.size) {
            n->output = bytes;
        } else if (field.number == NODE_NAME) {
            n->name = bytes;
        } else if (field.number == NODE_OP) {
            status = read_op(&c, &field, n);
        } else if (field.number == NODE_ATTRIBUTE) {
            status = read_attribute(g, pb_inside(&c, &field), n);
        }
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------- what nodes show -- */

/* Finds the value at an input. @param found (out) GRAPH_NONE if it is neither an initializer nor made of one. */
static rec_status find_input(graph *g, const node *n, uint32_t input, uint32_t *found)
{
    rec_status status = REC_OK;
    *found = GRAPH_NONE;
    if (input < n->input_count && n->inputs[input].size) {
        status = read_text(g, n->inputs[input]);
        *found = status == REC_OK ? graph_find(g, g->read.bytes, g->read.length) : GRAPH_NONE;
    }
    return status;
}

/* The output of Identity or Transpose is a name for the same numbers. */
static rec_status add_other_name(graph *g, const node *n)
{
    uint32_t input;
    graph_value made = {.flipped = strcmp(n->op, "Transpose") == 0};
    rec_status status = find_input(g, n, 0, &input);
    if (status != REC_OK || input == GRAPH_NONE || n->permutes || !n->output.size) {
        return status;
    }
    made.of = g->values[input].of == GRAPH_NONE ? input : g->values[input].of;
    made.flipped ^= g->values[input].flipped;
    made.at = g->values[made.of].at;
    made.end = g->values[made.of].end;
    status = read_text(g, n->output);
    if (status == REC_OK && graph_find(g, g->read.bytes, g->read.length) != GRAPH_NONE) {
        return rec_fail(g->job, REC_E_FORMAT, n->output.at, "a node makes a value that exists already");
    }
    return status == REC_OK ? add(g, made) : status;
}

/* PyTorch calls what it computed when it exported a model `onnx::MatMul_12`, and the node that uses it
 * `/encoder/layers.0/MatMul`: the initializer gets the name encoder.layers.0.weight. */
static rec_status name_by_scope(graph *g, const node *n, uint32_t initializer, const char *role)
{
    static const char anonymous[] = "onnx::";
    graph_value *v = &g->values[initializer];
    uint64_t begin, end;
    rec_status status;
    if (v->scope_length || v->length < sizeof anonymous ||
        memcmp(g->names.bytes + v->name, anonymous, sizeof anonymous - 1) != 0) {
        return REC_OK;
    }
    status = read_text(g, n->name);
    for (end = g->read.length; status == REC_OK && end && g->read.bytes[end - 1] != '/'; end--) {
    }
    begin = end && g->read.bytes[0] == '/';
    if (status != REC_OK || end < begin + 2) {
        return status;
    }
    for (uint64_t i = begin; i < end; i++) {
        g->read.bytes[i] = g->read.bytes[i] == '/' ? '.' : g->read.bytes[i];
    }
    v->scope = g->names.length;
    v->scope_length = end - begin + strlen(role);
    status = text_add(&g->names, g->job, g->read.bytes + begin, end - begin);
    return status == REC_OK ? text_add(&g->names, g->job, role, strlen(role)) : status;
}

/* The second operand of a product is a layer's weight: rows are its inputs, or after a Transpose its outputs. */
static rec_status see_weight(graph *g, const node *n, int transposed, int is_matrix)
{
    uint32_t input, of;
    rec_status status = find_input(g, n, 1, &input);
    if (status != REC_OK || input == GRAPH_NONE) {
        return status;
    }
    of = g->values[input].of == GRAPH_NONE ? input : g->values[input].of;
    if (is_matrix) {
        g->values[of].used |= transposed != g->values[input].flipped ? USED_OUT_IN : USED_IN_OUT;
    }
    return name_by_scope(g, n, of, "weight");
}

static rec_status see_bias(graph *g, const node *n)
{
    uint32_t input;
    rec_status status = find_input(g, n, 2, &input);
    return status == REC_OK && input != GRAPH_NONE && g->values[input].of == GRAPH_NONE
               ? name_by_scope(g, n, input, "bias")
               : status;
}

static rec_status see_node(graph *g, const node *n)
{
    int gemm = strcmp(n->op, "Gemm") == 0, product = gemm || strcmp(n->op, "MatMul") == 0;
    rec_status status = REC_OK;
    if (strcmp(n->op, "Identity") == 0 || strcmp(n->op, "Transpose") == 0) {
        return add_other_name(g, n);
    }
    if (product || strcmp(n->op, "Conv") == 0 || strcmp(n->op, "ConvTranspose") == 0) {
        status = see_weight(g, n, gemm && n->trans_b, product);
        return status == REC_OK && strcmp(n->op, "MatMul") != 0 ? see_bias(g, n) : status;
    }
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------- graph -- */

static rec_status read_initializers(graph *g, pb_cursor c)
{
    pb_field field;
    rec_status status = REC_OK;
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        if (status == REC_OK && field.number == GRAPH_INITIALIZER) {
            status = add_initializer(g, &c, &field);
        } else if (status == REC_OK && field.number == GRAPH_SPARSE) {
            status = rec_fail(g->job, REC_E_UNSUPPORTED, field.at, "a sparse initializer");
        }
    }
    return status;
}

/* Nodes come in the order in which they compute: one that makes a value before those that use it. */
static rec_status read_nodes(graph *g, pb_cursor c)
{
    pb_field field;
    node n;
    rec_status status = REC_OK;
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        if (status != REC_OK || field.number != GRAPH_NODE) {
            continue;
        }
        status = pb_expect(&c, &field, PB_BYTES, "a node");
        status = status == REC_OK ? read_node(g, pb_inside(&c, &field), &n) : status;
        status = status == REC_OK ? see_node(g, &n) : status;
    }
    return status;
}

rec_status graph_read(graph *g, rec_job *job, rec_source *source, pb_cursor c)
{
    rec_status status;
    *g = (graph){.job = job, .source = source};
    if (getentropy(g->seed, sizeof g->seed) != 0) {
        return rec_fail(job, REC_E_IO, REC_UNKNOWN, "the system gives no random numbers");
    }
    g->seed[1] |= 1;
    status = read_initializers(g, c);
    return status == REC_OK ? read_nodes(g, c) : status;
}

void graph_free(graph *g)
{
    rec_job_free(g->job, g->values);
    rec_job_free(g->job, g->heads);
    text_free(&g->names, g->job);
    text_free(&g->read, g->job);
}
