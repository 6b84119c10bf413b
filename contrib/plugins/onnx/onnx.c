/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A format for librecord: the initializers of ONNX models, read only. This file finds the graph of a model and reports
 * its tensors. */
#include <string.h>

#include "onnx/graph.h"
#include "onnx/tensor.h"

/* Fields of ModelProto. */
enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_LAST = 25 };
enum { IR_WITH_OPSETS = 3 }; /* from this version on, a model names the sets of its operators */
enum { FILES = 8, NAME_SHOWN = 200 };

typedef struct reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    window window;
    graph graph;
    int scopes; /**< anonymous initializers get names */
    int pytorch;
    uint64_t version, opsets;
    text path, location;
    struct {
        char *name;
        uint64_t length;
        rec_source *source;
    } files[FILES]; /**< files with external data, those that were opened last */
    uint32_t file;  /**< the next one to be replaced */
    uint64_t named, unsupported;
    char example[64]; /**< the type of an unsupported tensor */
} reader;

/* ----------------------------------------------------------------------------------------------- external data -- */

static rec_status keep_file(reader *r, rec_source *source)
{
    char *name = rec_job_alloc(r->job, r->location.length);
    if (!name) {
        rec_source_release(source);
        return rec_fail(r->job, REC_E_MEMORY, REC_UNKNOWN, "no memory for the name of a file");
    }
    memcpy(name, r->location.bytes, r->location.length - 1);
    rec_job_free(r->job, r->files[r->file].name);
    rec_source_release(r->files[r->file].source);
    r->files[r->file].name = name;
    r->files[r->file].length = r->location.length - 1;
    r->files[r->file].source = source;
    r->file = (r->file + 1) % FILES;
    return REC_OK;
}

/* Opens the file that a tensor names. @param out counted. */
static rec_status open_file(reader *r, const tensor *t, rec_source **out)
{
    rec_status status = text_read(&r->location, r->job, r->source, t->location, t->location_size);
    status = status == REC_OK ? text_add(&r->location, r->job, "", 1) : status; /* its NUL */
    if (status == REC_OK && memchr(r->location.bytes, '\0', t->location_size)) {
        status = rec_fail(r->job, REC_E_FORMAT, t->location, "a file name with a NUL");
    }
    for (uint32_t i = 0; i < FILES && status == REC_OK; i++) {
        if (r->files[i].source && r->files[i].length == t->location_size &&
            memcmp(r->files[i].name, r->location.bytes, t->location_size) == 0) {
            *out = rec_source_retain(r->files[i].source);
            return REC_OK;
        }
    }
    status = status == REC_OK ? rec_source_beside(r->job, r->source, r->location.bytes, out) : status;
    return status == REC_OK ? keep_file(r, rec_source_retain(*out)) : status;
}

static rec_status external_data(reader *r, const tensor *t, rec_source **source, uint64_t *offset)
{
    uint64_t size, end;
    rec_status status = open_file(r, t, source);
    *offset = t->offset;
    size = status == REC_OK ? rec_source_size(*source) : 0;
    if (status == REC_OK && (__builtin_add_overflow(t->offset, t->size, &end) || (size != REC_UNKNOWN && end > size))) {
        status = rec_fail_found(r->job, REC_E_FORMAT, t->offset, "the data of a tensor", "the end of the file");
        rec_fail_source(r->job, *source);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/* Makes the path of a value: of the name in the file, or of the scope of the node that uses it. */
static rec_status set_path(reader *r, const graph_value *v)
{
    const graph *g = &r->graph;
    const char *name = g->names.bytes + v->name;
    uint64_t length = v->length;
    if (r->scopes && v->scope_length && graph_find(g, g->names.bytes + v->scope, v->scope_length) == GRAPH_NONE) {
        name = g->names.bytes + v->scope;
        length = v->scope_length;
        r->named++;
    }
    return text_escape(&r->path, r->job, name, length);
}

/* What the products that use a matrix say about its rows, if they agree. */
static int32_t transposed(const reader *r, const graph_value *v, uint32_t rank)
{
    const graph_value *initializer = v->of == GRAPH_NONE ? v : &r->graph.values[v->of];
    return rank != 2                          ? REC_TRANSPOSED_UNKNOWN
           : initializer->used == USED_OUT_IN ? REC_TRANSPOSED_YES
           : initializer->used == USED_IN_OUT ? REC_TRANSPOSED_NO
                                              : REC_TRANSPOSED_UNKNOWN;
}

static rec_status tell(reader *r, const graph_value *v, const tensor *t)
{
    rec_scalar key = {.kind = REC_KIND_STRING};
    rec_tensor_event event = {.size = sizeof event,
                              .dtype = t->type->dtype,
                              .rank = t->rank,
                              .shape = t->shape,
                              .dtype_name = t->type->opaque,
                              .transposed = transposed(r, v, t->rank),
                              .data = {.size = sizeof(rec_blob), .kind = REC_BLOB_RANGE, .length = t->size}};
    rec_status status = t->external ? external_data(r, t, &event.data.source, &event.data.offset)
                                    : tensor_data(r->job, r->source, t, &event.data.source, &event.data.offset);
    status = status == REC_OK ? set_path(r, v) : status;
    key.text = r->path.bytes;
    key.v.length = r->path.length;
    status = status == REC_OK ? r->visitor->key(r->self, v->at, &key) : status;
    status = status == REC_OK ? r->visitor->tensor(r->self, v->at, &event) : status;
    rec_source_release(event.data.source);
    return status;
}

/* PyTorch stores equal tensors once, and Identity gives them their other names. Values between nodes are no tensors of
 * the model: their names have the scope of a node. */
static int is_tensor(const graph *g, const graph_value *v)
{
    const char *name = g->names.bytes + v->name;
    return v->of == GRAPH_NONE ||
           (!v->flipped && v->length && !memchr(name, '/', v->length) && !memchr(name, ':', v->length));
}

static rec_status tell_value(reader *r, uint32_t i)
{
    const graph_value *v = &r->graph.values[i];
    tensor t;
    rec_status status;
    if (!is_tensor(&r->graph, v)) {
        return REC_OK;
    }
    status = tensor_read((pb_cursor){&r->window, v->at, v->end}, &t);
    if (status == REC_OK && t.type->dtype == REC_DTYPE_NONE) {
        r->unsupported++;
        (void)strncpy(r->example, t.type->name, sizeof r->example - 1);
        return REC_OK;
    }
    return status == REC_OK ? tell(r, v, &t) : status;
}

static void note(const reader *r)
{
    if (r->unsupported) {
        rec_job_note(r->job, REC_NOTE_DROPPED, "",
                     "%llu initializer%s of element types that records lack (%s): left out",
                     (unsigned long long)r->unsupported, r->unsupported == 1 ? "" : "s", r->example);
    }
    if (r->graph.constants) {
        rec_job_note(r->job, REC_NOTE_DROPPED, "",
                     "%llu arrays of floats and graphs within nodes, which are not initializers: left out",
                     (unsigned long long)r->graph.constants);
    }
    if (r->named) {
        rec_job_note(r->job, REC_NOTE_LAYOUT, "",
                     "%llu initializer%s without a name of the model: named after the node that uses it; the option "
                     "names=file keeps the names of the file",
                     (unsigned long long)r->named, r->named == 1 ? "" : "s");
    }
}

/* ------------------------------------------------------------------------------------------------------- model -- */

/* @param found (out) the graph; its window is NULL before it is found. */
static rec_status see_field(reader *r, const pb_cursor *c, const pb_field *field, pb_cursor *found)
{
    const uint8_t *bytes;
    uint64_t got;
    rec_status status = REC_OK;
    switch (field->number) {
    case MODEL_IR_VERSION:
        r->version = field->value;
        return REC_OK;
    case MODEL_OPSET:
        r->opsets++;
        return REC_OK;
    case MODEL_PRODUCER:
        if (field->wire == PB_BYTES && field->size == 7) {
            status = window_get(&r->window, field->data, 7, &bytes, &got);
            r->pytorch = status == REC_OK && memcmp(bytes, "pytorch", 7) == 0;
        }
        return status;
    case MODEL_GRAPH:
        status = pb_expect(c, field, PB_BYTES, "the graph");
        if (status == REC_OK && found->w) {
            status = rec_fail(r->job, REC_E_FORMAT, field->at, "a second graph");
        }
        *found = pb_inside(c, field);
        return status;
    default:
        return REC_OK;
    }
}

/* A message that ends between two fields is a message too: what a model must have shows that it is whole. */
static rec_status find_graph(reader *r, pb_cursor *found)
{
    pb_cursor c = {&r->window, 0, r->window.size};
    pb_field field;
    rec_status status = REC_OK;
    *found = (pb_cursor){0};
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        status = status == REC_OK ? see_field(r, &c, &field, found) : status;
    }
    if (status == REC_OK && (!found->w || (r->version >= IR_WITH_OPSETS && !r->opsets))) {
        status = rec_fail_found(r->job, REC_E_FORMAT, c.end, found->w ? "the versions of operators" : "a graph",
                                "the end of the file");
    }
    return status;
}

static rec_status read_model(reader *r)
{
    pb_cursor c;
    rec_status status = find_graph(r, &c);
    status = status == REC_OK ? graph_read(&r->graph, r->job, r->source, c) : status;
    if (status == REC_OK && r->pytorch) { /* its exporter keeps the names of modules */
        status = rec_job_set_adapter(r->job, "pytorch");
    }
    status = status == REC_OK ? r->visitor->map_begin(r->self, 0, REC_FORM_PATHS, REC_UNKNOWN) : status;
    for (uint32_t i = 0; i < r->graph.count && status == REC_OK; i++) {
        status = tell_value(r, i);
    }
    if (status == REC_OK) {
        note(r);
        status = r->visitor->end(r->self, c.end);
    }
    return status;
}

static rec_status load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    reader r = {.job = job,
                .source = source,
                .visitor = visitor,
                .self = self,
                .scopes = strcmp(rec_job_option_text(job, "names"), "scope") == 0,
                .graph = {.job = job}};
    rec_status status = window_open(&r.window, job, source);
    status = status == REC_OK ? read_model(&r) : status;
    for (uint32_t i = 0; i < FILES; i++) {
        rec_source_release(r.files[i].source);
        rec_job_free(job, r.files[i].name);
    }
    graph_free(&r.graph);
    text_free(&r.path, job);
    text_free(&r.location, job);
    return status;
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

/* Reads a tag and its value. @return the number of the field, 0 at the end. */
static uint32_t skip(const rec_head *head, uint64_t *at)
{
    uint64_t tag, value;
    uint32_t used = *at < head->length ? pb_decode(head->data + *at, head->length - *at, &tag) : 0, more;
    more = used ? pb_decode(head->data + *at + used, head->length - *at - used, &value) : 0;
    if (!more || tag >> 3 > MODEL_LAST || ((tag & 7) != PB_VARINT && (tag & 7) != PB_BYTES)) {
        return 0;
    }
    *at += used + more;
    if ((tag & 7) == PB_BYTES) {
        if (head->total != REC_UNKNOWN && value > head->total - *at) {
            return 0;
        }
        *at = value > UINT64_MAX - *at ? UINT64_MAX : *at + value;
    }
    return (uint32_t)(tag >> 3);
}

/* A model begins with its version, a small number, and has a graph among few other fields. */
static int32_t probe(const rec_head *head)
{
    uint64_t at = 0;
    uint32_t field;
    int32_t bits = 12;
    if (head->length < 2 || head->data[0] != (MODEL_IR_VERSION << 3 | PB_VARINT) || head->data[1] > 63) {
        return 0;
    }
    do {
        field = skip(head, &at);
        bits += 4;
    } while (field && field != MODEL_GRAPH && at < head->length);
    return field == MODEL_GRAPH ? bits < 32 ? bits : 32 : 0;
}

static const char *const choices[] = {"scope", "file", NULL};
static const rec_option names = {
    .size = sizeof names,
    .type = REC_OPTION_CHOICE,
    .name = "names",
    .initial = "scope",
    .help = "of initializers that PyTorch calls onnx::MatMul_12: scope: of the node that uses them; file: unchanged",
    .choices = choices,
};
static const rec_option *const options[] = {&names, NULL};

static const rec_plugin onnx = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof onnx,
    .name = "Onnx",
    .extension = "onnx",
    .description = "ONNX: the initializers of a model",
    .traits = REC_TRAIT_TENSORS,
    .options = options,
    .probe = probe,
    .load = load,
    .adapter = "foreign",
    .version = "1.0",
    .license = "MIT OR Apache-2.0",
};

REC_PLUGINS(onnx, &onnx);
