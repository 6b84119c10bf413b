/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader: a model's tensors under their dotted names, or any other part of a file as the values it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugins/codec/excerpt.h"
#include "plugins/codec/pytorch/pytorch.h"

/* Something is told. */
typedef struct teller {
    const lr_pt_file *file;
    const lr_pickle *p;
    rec_job *job;
    const rec_visitor *visitor;
    void *self;
    uint64_t left; /* values that may still be told: what is there once may be meant often, but not without end */
    char *path;    /* of a model: the name so far */
    uint64_t length, room;
    uint64_t passed_over;     /* of a model: values that are no tensors */
    lr_codec_excerpt example; /* one of them */
} teller;

static int32_t tell_value(teller *t, uint32_t index, uint32_t depth);

/* ---------------------------------------------------------------------------------------------------------- values -- */

static int32_t count(teller *t)
{
    if (!t->left) {
        return rec_fail(t->job, REC_E_LIMIT, REC_UNKNOWN,
                        "the pickle means the same things so often that they are too many to be told");
    }
    t->left--;
    return REC_OK;
}

static int32_t tell_tensor(teller *t, const lr_pt_node *node)
{
    const lr_pt_tensor *tensor = (const lr_pt_tensor *)t->p->tensors.data + node->v.u;
    rec_tensor_event event;
    rec_source *made = NULL;
    int32_t status = lr_pt_event(t->file, tensor, &event, &made);
    if (status == REC_OK) {
        status = t->visitor->tensor(t->self, lr_pickle_place(t->p, tensor->at), &event);
    }
    rec_source_release(made);
    return status;
}

static int32_t tell_bytes(teller *t, const lr_pt_node *node)
{
    const uint8_t *text = (const uint8_t *)lr_pickle_text(t->p, node);
    rec_blob blob = {.struct_size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .size = node->length, .data = text};
    uint8_t *bytes = NULL;
    int32_t status;
    if (node->mark & LR_PT_LATIN1) {
        uint64_t size = 0;
        bytes = rec_job_alloc(t->job, node->length ? node->length : 1);
        if (!bytes) {
            return rec_fail(t->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for bytes in a pickle");
        }
        for (uint64_t i = 0; i < node->length; i++) {
            if (text[i] < 0x80) {
                bytes[size++] = text[i];
            } else { /* two bytes, which were found to be those of a character below 256 */
                bytes[size++] = (uint8_t)(text[i] << 6 | (text[i + 1] & 0x3f));
                i++;
            }
        }
        blob.data = bytes;
        blob.size = size;
    }
    status = t->visitor->bytes(t->self, lr_pickle_place(t->p, node->v.u), &blob);
    rec_job_free(t->job, bytes);
    return status;
}

static int32_t tell_scalar(teller *t, const lr_pt_node *node)
{
    rec_scalar scalar = {.kind = REC_KIND_NIL};
    uint64_t at = REC_UNKNOWN;
    switch (node->kind) {
    case LR_PT_BOOL:
        scalar.kind = REC_KIND_BOOL;
        scalar.v.i = node->v.i;
        break;
    case LR_PT_INT:
        scalar.kind = node->v.i < 0 ? REC_KIND_INT : REC_KIND_UINT;
        scalar.v.i = node->v.i;
        break;
    case LR_PT_UINT:
        scalar.kind = REC_KIND_UINT;
        scalar.v.u = node->v.u;
        break;
    case LR_PT_FLOAT:
        scalar.kind = REC_KIND_FLOAT;
        scalar.bits = 64;
        scalar.v.f = node->v.f;
        break;
    case LR_PT_STRING:
        scalar.kind = REC_KIND_STRING;
        scalar.v.length = node->length;
        scalar.text = lr_pickle_text(t->p, node);
        at = lr_pickle_place(t->p, node->v.u);
        break;
    default:
        break;
    }
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
    rec_scalar scalar = {.kind = REC_KIND_STRING};
    switch (key->kind) {
    case LR_PT_STRING:
        scalar.v.length = key->length;
        scalar.text = lr_pickle_text(t->p, key);
        return t->visitor->key(t->self, lr_pickle_place(t->p, key->v.u), &scalar);
    case LR_PT_BOOL:
        scalar.kind = REC_KIND_BOOL;
        break;
    case LR_PT_INT:
        scalar.kind = key->v.i < 0 ? REC_KIND_INT : REC_KIND_UINT;
        break;
    case LR_PT_UINT:
        scalar.kind = REC_KIND_UINT;
        break;
    default:
        return rec_fail(t->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "a dictionary with %s as a key; a record's keys are "
                        "strings, integers and bools",
                        lr_pickle_words(key));
    }
    scalar.v.u = key->v.u;
    return t->visitor->key(t->self, REC_UNKNOWN, &scalar);
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

static int32_t tell_list(teller *t, const lr_pt_node *node, uint32_t depth)
{
    int32_t form = node->kind == LR_PT_TUPLE ? REC_FORM_TUPLE : REC_FORM_LIST;
    int32_t status = t->visitor->list_begin(t->self, REC_UNKNOWN, form, node->length);
    for (uint32_t c = node->v.cells.first; c && status == REC_OK; c = lr_pickle_cell(t->p, c)->next) {
        status = tell_value(t, lr_pickle_cell(t->p, c)->node, depth + 1);
    }
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
        return fail_kind(t, node);
    default:
        return tell_scalar(t, node);
    }
}

/* ---------------------------------------------------------------------------------------------------------- a model -- */

/* Puts one more part behind the name: a path, in which a backslash of the file's is escaped. @return its length before that; REC_UNKNOWN with the failure reported. */
static uint64_t enter(teller *t, const char *part, uint64_t length)
{
    uint64_t before = t->length, need = before + 2 * length + 2;
    if (need > t->room) {
        uint64_t room = need < 256 ? 256 : 2 * need;
        char *larger = rec_job_resize(t->job, t->path, room);
        if (!larger) {
            (void)rec_fail(t->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the name of a tensor");
            return REC_UNKNOWN;
        }
        t->path = larger;
        t->room = room;
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
    char digits[24];
    const char *part = digits;
    uint64_t length, before;
    int32_t status;
    if (key && key->kind == LR_PT_STRING) {
        part = lr_pickle_text(t->p, key);
        length = key->length;
    } else if (!key || key->kind == LR_PT_INT) {
        length = (uint64_t)snprintf(digits, sizeof digits, "%" PRId64, key ? key->v.i : (int64_t)number);
    } else {
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

static int32_t tell_part(teller *t, uint32_t index, uint32_t depth)
{
    const lr_pt_node *node = lr_pickle_node(t->p, index);
    int32_t status = count(t);
    uint64_t number = 0;
    if (status != REC_OK) {
        return status;
    }
    if (node->kind == LR_PT_TENSOR) {
        rec_scalar key = {.kind = REC_KIND_STRING, .v.length = t->length, .text = t->path};
        const lr_pt_tensor *tensor = (const lr_pt_tensor *)t->p->tensors.data + node->v.u;
        status = t->visitor->key(t->self, lr_pickle_place(t->p, tensor->at), &key);
        return status == REC_OK ? tell_tensor(t, node) : status;
    }
    if (!(node->mark & LR_PT_TENSORS)) {
        if (node->kind != LR_PT_NONE && !t->passed_over++) {
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

/* What is beside the model and is one number or text, as metadata: the epoch, the version of the trainer. */
static int32_t tell_metadata(teller *t, const lr_pt_node *beside)
{
    int32_t status = REC_OK;
    for (uint32_t c = beside->v.cells.first; c && status == REC_OK;) {
        const lr_pt_cell *key = lr_pickle_cell(t->p, c), *value = lr_pickle_cell(t->p, key->next);
        const lr_pt_node *k = lr_pickle_node(t->p, key->node), *v = lr_pickle_node(t->p, value->node);
        rec_scalar name = {.kind = REC_KIND_STRING, .v.length = k->length};
        rec_scalar text = {.kind = REC_KIND_STRING, .v.length = v->length};
        c = value->next;
        if (!lr_pt_is_metadata(t->p, k, v)) {
            continue;
        }
        name.text = lr_pickle_text(t->p, k);
        if (v->kind == LR_PT_STRING) {
            text.text = lr_pickle_text(t->p, v);
            status = t->visitor->metadata(t->self, lr_pickle_place(t->p, k->v.u), &name, &text);
        } else {
            status = t->visitor->metadata_value(t->self, lr_pickle_place(t->p, k->v.u), &name);
            status = status == REC_OK ? tell_scalar(t, v) : status;
        }
    }
    return status;
}

static int32_t tell_model(teller *t, const lr_pt_choice *choice)
{
    int32_t status = choice->beside ? tell_metadata(t, lr_pickle_node(t->p, choice->beside)) : REC_OK;
    status = status == REC_OK ? t->visitor->map_begin(t->self, REC_UNKNOWN, REC_FORM_PATHS, REC_UNKNOWN) : status;
    status = status == REC_OK ? tell_part(t, choice->node, 0) : status;
    status = status == REC_OK ? t->visitor->end(t->self, REC_UNKNOWN) : status;
    if (status == REC_OK && t->passed_over) {
        rec_job_note(t->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64
                     " value%s that %s no tensor%s (`%s`%s): left out; top-level-key = . has all of the file",
                     t->passed_over, t->passed_over == 1 ? "" : "s", t->passed_over == 1 ? "is" : "are",
                     t->passed_over == 1 ? "" : "s", t->example.text, t->passed_over == 1 ? "" : " and others");
    }
    rec_job_free(t->job, t->path);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- the whole -- */

int32_t lr_pt_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    lr_pt_file file;
    lr_pt_choice choice;
    teller t;
    int32_t status = lr_pt_file_open(&file, job, source);
    status = status == REC_OK ? lr_pt_choose(&file, &choice) : status;
    if (status == REC_OK) {
        t = (teller){.file = &file,
                     .p = &file.pickle,
                     .job = job,
                     .visitor = visitor,
                     .self = self,
                     .left = 65536 + 4 * (file.pickle.nodes.count + file.pickle.cells.count)};
        status = choice.paths ? tell_model(&t, &choice) : tell_value(&t, choice.node, 0);
    }
    lr_pt_file_close(&file);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- probing -- */

int32_t lr_pt_probe(const rec_head *head)
{
    static const char pickle[] = "data.pkl";
    uint64_t length;
    if (head->names) {
        return 0;
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
