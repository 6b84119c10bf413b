/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader: a model's tensors under their dotted names, or any other part of a file as the values it is. */
#include <inttypes.h>
#include <stdio.h>

#include "common/names.h"
#include "plugins/codec/burns.h"
#include "plugins/codec/excerpt.h"
#include "plugins/codec/pytorch/pytorch.h"
#include "plugins/codec/room.h"

enum { RUN_MOST = 256 };

/* Numbers of a list that follow each other and are of one kind. */
typedef struct run {
    rec_dtype dtype;
    uint64_t count;
    uint64_t words[RUN_MOST]; /* the bits of each; of bools a byte */
} run;

/* A traversal that calls the visitor. */
typedef struct teller {
    const lr_pt_file *file_of; /* what `p` is of */
    const lr_pickle *p;
    rec_job *job;
    const rec_visitor *visitor;
    void *self;
    uint64_t left; /* limit of values: shared ones may be reported often, but not endlessly */
    char *path;    /* of a model: the name so far */
    uint64_t length, room;
    lr_index *index; /* of a model in several files, else NULL… */
    uint64_t file;   /* …and the number of this one */
    char *name;      /* from the index, if it differs from the path */
    uint64_t name_room;
    uint64_t passed_over;     /* of a model: values that are no tensors */
    lr_codec_excerpt example; /* one of them */
    run numbers;              /* empty but in a list */
} teller;

static int32_t tell_value(teller *t, uint32_t index, uint32_t depth);

/* ------------------------------------------------------------------------------------------------------ values -- */

static int32_t count(teller *t)
{
    if (!t->left) {
        return rec_fail(t->job, REC_E_LIMIT, REC_UNKNOWN,
                        "the pickle repeats objects so often that their number exceeds the limit");
    }
    t->left--;
    return REC_OK;
}

static int32_t tell_tensor(teller *t, const lr_pt_node *node)
{
    rec_tensor_event event;
    rec_source *made = NULL;
    int32_t status = node->kind == LR_PT_ARRAY
                         ? lr_pickle_array_event(t->p, node, &event)
                         : lr_pt_event(t->file_of, (const lr_pt_tensor *)t->p->tensors.data + node->v.u, &event, &made);
    if (status == REC_OK) {
        status = t->visitor->tensor(t->self, lr_pickle_element_place(t->p, node), &event);
    }
    rec_source_release(made);
    return status;
}

static int32_t tell_bytes(teller *t, const lr_pt_node *node)
{
    const uint8_t *text = (const uint8_t *)lr_pickle_text(t->p, node);
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = node->length, .data = text};
    uint8_t *bytes = NULL;
    int32_t status;
    if (node->mark & LR_PT_LATIN1) {
        bytes = rec_job_alloc(t->job, node->length ? node->length : 1);
        if (!bytes) {
            return rec_fail(t->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for bytes in a pickle");
        }
        lr_pickle_bytes(t->p, node, bytes);
        blob.data = bytes;
        blob.length = lr_pickle_byte_count(t->p, node);
    }
    status = t->visitor->bytes(t->self, lr_pickle_place(t->p, node->v.u), &blob);
    rec_job_free(t->job, bytes);
    return status;
}

/* The single value of a node. @param at (out) its place in the file. */
static rec_scalar scalar_of(const teller *t, const lr_pt_node *node, uint64_t *at)
{
    rec_scalar scalar = {.kind = REC_KIND_NIL, .v.u = node->v.u};
    *at = REC_UNKNOWN;
    switch (node->kind) {
    case LR_PT_BOOL:
        scalar.kind = REC_KIND_BOOL;
        break;
    case LR_PT_INT:
        scalar.kind = node->v.i < 0 ? REC_KIND_INT : REC_KIND_UINT;
        break;
    case LR_PT_UINT:
        scalar.kind = REC_KIND_UINT;
        break;
    case LR_PT_FLOAT:
        scalar.kind = REC_KIND_FLOAT;
        scalar.bits = 64;
        break;
    case LR_PT_STRING:
        scalar = (rec_scalar){.kind = REC_KIND_STRING, .v.length = node->length, .text = lr_pickle_text(t->p, node)};
        *at = lr_pickle_place(t->p, node->v.u);
        break;
    default:
        break;
    }
    return scalar;
}

static int32_t tell_scalar(teller *t, const lr_pt_node *node)
{
    uint64_t at;
    rec_scalar scalar = scalar_of(t, node, &at);
    return t->visitor->scalar(t->self, at, &scalar);
}

/* An element type or a class, by its name. */
static int32_t tell_global(teller *t, const lr_pt_node *node)
{
    char name[80];
    rec_scalar scalar = {.kind = REC_KIND_STRING, .text = name};
    scalar.v.length = lr_pickle_global_name(node, name, sizeof name);
    return t->visitor->scalar(t->self, REC_UNKNOWN, &scalar);
}

static int32_t fail_kind(const teller *t, const lr_pt_node *node)
{
    return rec_fail(t->job, REC_E_UNSUPPORTED, node->kind == LR_PT_BIG ? lr_pickle_place(t->p, node->v.u) : REC_UNKNOWN,
                    "%s, which no record has", lr_pickle_words(node));
}

/* A key of a dictionary as an event. */
static int32_t tell_key(teller *t, const lr_pt_node *key)
{
    uint64_t at;
    rec_scalar scalar = scalar_of(t, key, &at);
    return scalar.kind == REC_KIND_NIL || scalar.kind == REC_KIND_FLOAT
               ? rec_fail(t->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                          "a dictionary with %s as a key; a record's keys are strings, integers and bools",
                          lr_pickle_words(key))
               : t->visitor->key(t->self, at, &scalar);
}

static int32_t tell_dict(teller *t, const lr_pt_node *node, uint32_t depth)
{
    uint32_t c = node->v.cells.first;
    int32_t status = t->visitor->map_begin(t->self, REC_UNKNOWN, REC_FORM_MAP, node->length / 2);
    while (c && status == REC_OK) {
        const lr_pt_cell *key = lr_pickle_cell(t->p, c), *value = lr_pickle_cell(t->p, key->next);
        status = tell_key(t, lr_pickle_node(t->p, key->node));
        status = status == REC_OK ? tell_value(t, value->node, depth + 1) : status;
        c = value->next;
    }
    return status == REC_OK ? t->visitor->end(t->self, REC_UNKNOWN) : status;
}

static rec_dtype number_dtype(const lr_pt_node *node)
{
    switch (node->kind) {
    case LR_PT_BOOL:
        return REC_DTYPE_BOOL;
    case LR_PT_INT:
        return REC_DTYPE_I64;
    case LR_PT_UINT:
        return REC_DTYPE_U64;
    case LR_PT_FLOAT:
        return REC_DTYPE_F64;
    default:
        return REC_DTYPE_NONE;
    }
}

static int32_t tell_numbers(teller *t)
{
    run *r = &t->numbers;
    uint64_t count = r->count;
    r->count = 0;
    return count ? t->visitor->numbers(t->self, REC_UNKNOWN, r->dtype, r->words, count) : REC_OK;
}

/* Appends a number to the run, and reports the run before it if that is full or of another element type. */
static int32_t add_number(teller *t, const lr_pt_node *node, rec_dtype dtype)
{
    run *r = &t->numbers;
    int32_t status = count(t);
    if (status == REC_OK && (r->dtype != dtype || r->count == RUN_MOST)) {
        status = tell_numbers(t);
    }
    r->dtype = dtype;
    if (dtype == REC_DTYPE_BOOL) {
        ((uint8_t *)r->words)[r->count++] = node->v.u != 0;
    } else {
        r->words[r->count++] = node->v.u;
    }
    return status;
}

static int32_t tell_list(teller *t, const lr_pt_node *node, uint32_t depth)
{
    int32_t form = node->kind == LR_PT_TUPLE ? REC_FORM_TUPLE : REC_FORM_LIST;
    int32_t status = t->visitor->list_begin(t->self, REC_UNKNOWN, form, node->length);
    for (uint32_t c = node->v.cells.first; c && status == REC_OK; c = lr_pickle_cell(t->p, c)->next) {
        uint32_t index = lr_pickle_cell(t->p, c)->node;
        const lr_pt_node *item = lr_pickle_node(t->p, index);
        rec_dtype dtype = number_dtype(item);
        if (dtype != REC_DTYPE_NONE) {
            status = add_number(t, item, dtype);
        } else {
            status = tell_numbers(t);
            status = status == REC_OK ? tell_value(t, index, depth + 1) : status;
        }
    }
    status = status == REC_OK ? tell_numbers(t) : status;
    return status == REC_OK ? t->visitor->end(t->self, REC_UNKNOWN) : status;
}

static int32_t tell_value(teller *t, uint32_t index, uint32_t depth)
{
    const lr_pt_node *node = lr_pickle_node(t->p, index);
    int32_t status = count(t);
    if (status != REC_OK) {
        return status;
    }
    if (depth >= rec_job_depth_limit(t->job)) {
        return rec_fail(t->job, REC_E_LIMIT, REC_UNKNOWN, "dictionaries and lists are nested more than %u deep",
                        (unsigned)depth);
    }
    switch (node->kind) {
    case LR_PT_TENSOR:
        return tell_tensor(t, node);
    case LR_PT_ARRAY:
        return lr_pickle_has_elements(t->p, node) ? tell_tensor(t, node) : fail_kind(t, node);
    case LR_PT_BYTES:
        return tell_bytes(t, node);
    case LR_PT_DICT:
        return tell_dict(t, node, depth);
    case LR_PT_TUPLE:
    case LR_PT_LIST:
        return tell_list(t, node, depth);
    case LR_PT_GLOBAL:
        return tell_global(t, node);
    case LR_PT_BIG:
    case LR_PT_STORAGE:
    case LR_PT_NUMPY_TYPE:
        return fail_kind(t, node);
    case LR_PT_CLASS:
    case LR_PT_OBJECT:
        return lr_pickle_refuse((lr_pickle *)(uintptr_t)t->p, node);
    default:
        return tell_scalar(t, node);
    }
}

/* ----------------------------------------------------------------------------------------------------- a model -- */

/* Appends a part to the name: a path, with backslashes escaped. @return its previous length; REC_UNKNOWN with the
 * failure reported. */
static uint64_t enter(teller *t, const char *part, uint64_t length)
{
    uint64_t before = t->length, need = before + 2 * length + 2;
    if (lr_codec_grow(t->job, &t->path, need, &t->room, 1) != REC_OK) {
        return REC_UNKNOWN;
    }
    if (before) {
        t->path[t->length++] = '.';
    }
    t->length += rec_path_escape(part, length, t->path + t->length, t->room - t->length);
    return before;
}

static int32_t tell_part(teller *t, uint32_t index, uint32_t depth);

/* An item of a dictionary or list, under its key or number. */
static int32_t tell_item(teller *t, const lr_pt_node *key, uint64_t number, uint32_t value, uint32_t depth)
{
    const lr_pt_node numbered = {.kind = LR_PT_INT, .v.u = number};
    char digits[24];
    uint64_t length, before;
    const char *part = lr_pickle_key_text(t->p, key ? key : &numbered, digits, &length);
    int32_t status;
    if (!part) {
        return rec_fail(t->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a dictionary of tensors with %s as a key",
                        lr_pickle_words(key));
    }
    before = enter(t, part, length);
    if (before == REC_UNKNOWN) {
        return REC_E_MEMORY;
    }
    status = tell_part(t, value, depth);
    t->length = before;
    return status;
}

/* Whether the index of the model has the tensor at the path in this file. */
static int32_t ask_index(teller *t, bool *wanted)
{
    const char *name = t->path;
    uint64_t length = t->length;
    if (memchr(name, '\\', (size_t)length)) {
        int32_t status = lr_codec_grow(t->job, &t->name, length + 1, &t->name_room, 1);
        if (status != REC_OK) {
            return status;
        }
        t->path[length] = '\0'; /* there is room for it */
        length = rec_path_unescape(name, length, t->name, t->name_room);
        name = t->name;
    }
    return lr_index_take(t->index, t->file, name, length, wanted);
}

static int32_t tell_named(teller *t, const lr_pt_node *node)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .v.length = t->length, .text = t->path};
    bool wanted = true;
    int32_t status = t->index ? ask_index(t, &wanted) : REC_OK;
    if (status != REC_OK || !wanted) {
        return status;
    }
    status = t->visitor->key(t->self, lr_pickle_element_place(t->p, node), &key);
    return status == REC_OK ? tell_tensor(t, node) : status;
}

static int32_t tell_part(teller *t, uint32_t index, uint32_t depth)
{
    const lr_pt_node *node = lr_pickle_node(t->p, index);
    int32_t status = count(t);
    uint64_t number = 0;
    if (status != REC_OK) {
        return status;
    }
    if (lr_pickle_has_elements(t->p, node)) {
        return tell_named(t, node);
    }
    if (node->kind == LR_PT_CLASS || node->kind == LR_PT_OBJECT) {
        return lr_pickle_refuse((lr_pickle *)(uintptr_t)t->p, node);
    }
    if (!(node->mark & LR_PT_TENSORS)) {
        bool nothing = node->kind == LR_PT_NONE || (node->kind == LR_PT_DICT && !(node->mark & LR_PT_OTHERS));
        if (!nothing && !t->passed_over++) {
            (void)lr_codec_shown(&t->example, t->path, t->length);
        }
        return REC_OK;
    }
    if (depth >= rec_job_depth_limit(t->job)) {
        return rec_fail(t->job, REC_E_LIMIT, REC_UNKNOWN, "dictionaries and lists are nested more than %u deep",
                        (unsigned)depth);
    }
    for (uint32_t c = node->v.cells.first; c && status == REC_OK;) {
        const lr_pt_cell *key = lr_pickle_cell(t->p, c), *value = key;
        if (node->kind == LR_PT_DICT) {
            value = lr_pickle_cell(t->p, key->next);
        }
        status = tell_item(t, node->kind == LR_PT_DICT ? lr_pickle_node(t->p, key->node) : NULL, number++, value->node,
                           depth + 1);
        c = value->next;
    }
    return status;
}

/* Reports single numbers and texts next to the model as metadata: the epoch, the version of the trainer. Keys by which
 * other formats say what a file is (Burn's records, safetensors) get another name. */
static int32_t tell_metadata(teller *t, const lr_pt_node *beside)
{
    int32_t status = REC_OK;
    for (uint32_t c = beside->v.cells.first; c && status == REC_OK;) {
        const lr_pt_cell *key = lr_pickle_cell(t->p, c), *value = lr_pickle_cell(t->p, key->next);
        const lr_pt_node *k = lr_pickle_node(t->p, key->node), *v = lr_pickle_node(t->p, value->node);
        rec_scalar name, text;
        char renamed[32];
        uint64_t at, unused;
        c = value->next;
        if (!lr_pt_is_metadata(t->p, k, v)) {
            continue;
        }
        name = scalar_of(t, k, &at);
        text = scalar_of(t, v, &unused);
        if (lr_is_burns(name.text, name.v.length)) {
            name.v.length = (uint64_t)snprintf(renamed, sizeof renamed, "checkpoint.%.*s", (int)k->length, name.text);
            name.text = renamed;
        }
        if (v->kind == LR_PT_STRING) {
            status = t->visitor->metadata(t->self, at, &name, &text);
        } else {
            status = t->visitor->metadata_value(t->self, at, &name);
            status = status == REC_OK ? tell_scalar(t, v) : status;
        }
    }
    return status;
}

/* The tensors of a model, within the map that they all are in. */
static int32_t tell_tensors(teller *t, const lr_pt_choice *choice)
{
    int32_t status = tell_part(t, choice->node, 0);
    if (status == REC_OK && t->passed_over) {
        rec_job_note(t->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " value%s other than tensors (`%s`%s): left out; top-level-key = . has all of the file",
                     t->passed_over, t->passed_over == 1 ? "" : "s", t->example.text,
                     t->passed_over == 1 ? "" : " and others");
    }
    return status;
}

static int32_t tell_model(teller *t, const lr_pt_choice *choice)
{
    int32_t status = choice->beside ? tell_metadata(t, lr_pickle_node(t->p, choice->beside)) : REC_OK;
    status = status == REC_OK ? t->visitor->map_begin(t->self, REC_UNKNOWN, REC_FORM_PATHS, REC_UNKNOWN) : status;
    status = status == REC_OK ? tell_tensors(t, choice) : status;
    return status == REC_OK ? t->visitor->end(t->self, REC_UNKNOWN) : status;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

/* Opens a file and reports its chosen part. @param t the state so far. @param name the file among several, or NULL. */
static int32_t tell_file(teller *t, rec_source *source, const char *name)
{
    lr_pt_file file;
    lr_pt_choice choice;
    int32_t status = lr_pt_file_open(&file, t->job, source);
    status = status == REC_OK ? lr_pt_choose(&file, &choice) : status;
    if (status == REC_OK && file.names && !name) {
        status = rec_job_set_adapter(t->job, "burn");
    }
    if (status == REC_OK) {
        t->file_of = &file;
        t->p = &file.pickle;
        t->left = 65536 + 4 * (file.pickle.nodes.count + file.pickle.cells.count);
        t->passed_over = 0;
        if (!name) {
            status = choice.paths ? tell_model(t, &choice) : tell_value(t, choice.node, 0);
        } else if (choice.paths) {
            if (choice.beside) {
                rec_job_note(t->job, REC_NOTE_DROPPED, "", "values next to the model's part in %s: left out", name);
            }
            status = tell_tensors(t, &choice);
        } else {
            status = rec_fail(t->job, REC_E_FORMAT, REC_UNKNOWN, "it is not a model, which is a dictionary of tensors");
        }
    }
    lr_pt_file_close(&file);
    return status;
}

/* Reports the index's facts about the model that its tensors do not show. */
static int32_t tell_index(teller *t)
{
    const lr_index *x = t->index;
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < x->pair_count && status == REC_OK; i++) {
        const lr_st_text *k = &x->pairs[i].key, *v = &x->pairs[i].value;
        rec_scalar key = {.kind = REC_KIND_STRING, .v.length = k->length, .text = lr_st_json_text(&x->json, k)};
        rec_scalar value = {.kind = REC_KIND_STRING, .v.length = v->length, .text = lr_st_json_text(&x->json, v)};
        status = t->visitor->metadata(t->self, x->pairs[i].at, &key, &value);
        if (status != REC_OK && x->source) {
            rec_fail_source(t->job, x->source);
        }
    }
    if (x->left_out) {
        rec_job_note(t->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " entr%s of the index's metadata other than text: left out", x->left_out,
                     x->left_out == 1 ? "y" : "ies");
    }
    return status;
}

/* Files of a model opened before the first event: until then the load can start again. */
enum { AHEAD = 48 };

typedef struct parts {
    rec_source *open[AHEAD]; /* those not told yet; the others NULL */
    rec_source *index;       /* the one that is read */
} parts;

static int32_t keep_part(void *self, uint64_t number, rec_source *part)
{
    parts *p = self;
    p->open[number] = part;
    return REC_OK;
}

static void close_parts(void *self)
{
    parts *p = self;
    for (uint64_t i = 0; i < AHEAD; i++) {
        rec_source_release(p->open[i]);
        p->open[i] = NULL;
    }
}

static int32_t tell_shard(teller *t, parts *p)
{
    rec_source *part = NULL;
    const char *name;
    int32_t status = lr_index_file(t->index, t->file, &name);
    if (status == REC_OK && t->file < AHEAD) {
        part = p->open[t->file];
        p->open[t->file] = NULL;
    } else if (status == REC_OK) {
        status = rec_source_beside(t->job, p->index, name, &part);
    }
    if (status == REC_OK) {
        status = tell_file(t, part, name);
        if (status != REC_OK) {
            rec_fail_source(t->job, part);
        }
    }
    rec_source_release(part);
    return status;
}

/* The files that an index names, one after the other. @param counted whether `source` is the index's to release. */
static int32_t tell_several(teller *t, rec_source *source, bool counted)
{
    lr_index index;
    parts p = {.index = source};
    const lr_index_reader reader = {&p, AHEAD, keep_part, close_parts};
    int32_t status = lr_index_open_ahead(&index, t->job, &p.index, counted, "PyTorch", ".bin", &reader);
    t->index = &index;
    status = status == REC_OK ? tell_index(t) : status;
    status = status == REC_OK ? t->visitor->map_begin(t->self, REC_UNKNOWN, REC_FORM_PATHS, REC_UNKNOWN) : status;
    for (t->file = 0; t->file < index.file_count && status == REC_OK; t->file++) {
        status = tell_shard(t, &p);
    }
    status = status == REC_OK ? lr_index_done(&index) : status;
    status = status == REC_OK ? t->visitor->end(t->self, REC_UNKNOWN) : status;
    close_parts(&p);
    lr_index_close(&index);
    return status;
}

#define INDEX_END ".bin.index.json"
#define WHOLE "pytorch_model.bin"

/* A published directory: its only index, or the single file of a model without an index. */
static int32_t tell_folder(teller *t, rec_source *folder, const char *const *names, uint64_t count)
{
    const char *index = NULL, *whole = NULL;
    rec_source *source = NULL;
    int32_t status;
    for (uint64_t i = 0; i < count; i++) {
        if (lr_ends_in(names[i], INDEX_END)) {
            if (index) {
                status = rec_fail(t->job, REC_E_NOT_FOUND, REC_UNKNOWN, "the directory holds several models");
                rec_fail_hint(t->job, "Load one by its index: %s, %s", index, names[i]);
                return status;
            }
            index = names[i];
        } else if (strcmp(names[i], WHOLE) == 0) {
            whole = names[i];
        }
    }
    if (!index && !whole) {
        return rec_fail(t->job, REC_E_NOT_FOUND, REC_UNKNOWN,
                        "the directory holds neither " WHOLE " nor an index of parts");
    }
    status = rec_source_beside(t->job, folder, index ? index : whole, &source);
    if (status == REC_OK && index) {
        return tell_several(t, source, true); /* releases it */
    }
    if (status == REC_OK) {
        status = tell_file(t, source, NULL);
        if (status != REC_OK) {
            rec_fail_source(t->job, source);
        }
    }
    rec_source_release(source);
    return status;
}

/* Whether what is given is text, JSON, rather than one of PyTorch's files. */
static int32_t is_text(rec_job *job, rec_source *source, bool *text)
{
    uint64_t size = rec_source_size(source);
    const void *all;
    uint8_t first = 0;
    int32_t status = size == REC_UNKNOWN ? rec_source_view(job, source, &all, &size) : REC_OK;
    status = status == REC_OK && size ? rec_source_read_at(job, source, 0, &first, 1) : status;
    *text = first == '{' || lr_json_is_space(first);
    return status;
}

int32_t lr_pt_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    teller t = {.job = job, .visitor = visitor, .self = self};
    const char *const *names;
    uint64_t count;
    bool text = false;
    int32_t status = rec_source_names(job, source, &names, &count);
    if (status == REC_OK && names) {
        status = tell_folder(&t, source, names, count);
    } else if (status == REC_OK) {
        status = is_text(job, source, &text);
        if (status == REC_OK) {
            status = text ? tell_several(&t, source, false) : tell_file(&t, source, NULL);
        }
    }
    rec_job_free(job, t.path);
    rec_job_free(job, t.name);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- probing -- */

/* Less than the bid for safetensors: a directory with both has the same model twice. */
static int32_t probe_folder(const rec_head *head)
{
    for (uint64_t i = 0; i < head->name_count; i++) {
        if (strcmp(head->names[i], WHOLE) == 0 || lr_ends_in(head->names[i], INDEX_END)) {
            return 16;
        }
    }
    return 0;
}

/* By the first file that it names; where that is too far behind, by its own name. */
static int32_t probe_index(const rec_head *head)
{
    static const char *const ends[] = {".bin", ".pt", ".pth", ".ckpt"};
    const char *file;
    uint64_t size;
    bool ours = false;
    if (!lr_index_probe(head->data, head->length, &file, &size)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends && file; i++) {
        ours |= lr_text_ends(file, size, ends[i]);
    }
    return ours || (!file && head->name && lr_ends_in(head->name, INDEX_END)) ? 160 : 0;
}

int32_t lr_pt_probe(const rec_head *head)
{
    static const char pickle[] = "data.pkl";
    uint64_t length;
    if (head->names) {
        return probe_folder(head);
    }
    if (head->length && (head->data[0] == '{' || lr_json_is_space(head->data[0]))) {
        return probe_index(head);
    }
    if (lr_pt_is_stream(head->data, head->length)) {
        return 120;
    }
    if (head->length < 30 || memcmp(head->data, "PK\x03\x04", 4) != 0) {
        return 0;
    }
    /* torch.save() puts the pickle first; what was packed again may have it anywhere. */
    length = head->data[26] | (uint64_t)head->data[27] << 8;
    if (length >= sizeof pickle - 1 && length <= head->length - 30 &&
        memcmp(head->data + 30 + length - (sizeof pickle - 1), pickle, sizeof pickle - 1) == 0) {
        return 96;
    }
    return 16;
}
