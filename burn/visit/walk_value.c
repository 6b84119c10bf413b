/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The walk of values without a type, and of tensors, in the target layout and precision. */
#include "burn/visit/walk_private.h"
#include "core/io/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A tensor that is converted while a writer reads it. */
struct stream {
    lr_walk *walk;
    const rec_tensor *tensor;
    rec_dtype dtype;
    uint32_t width;
    uint64_t next;    /* next element, or next byte of unconverted data */
    uint8_t carry[8]; /* the rest of an element that was read in part */
    uint32_t carried;
    lr_losses losses;
};

/* At the end of the tensor. */
static void tell_losses(const struct stream *s)
{
    if (s->next == s->tensor->count) {
        lr_note_losses(s->walk->job, s->walk->path, s->dtype, &s->losses);
    }
}

static int32_t stream_elements(struct stream *s, uint8_t *target, uint64_t count, lr_losses *losses)
{
    int32_t status = lr_tensor_convert(s->walk->job, s->tensor, s->walk->path, s->dtype, s->walk->clamp, s->next, count,
                                       target, losses);
    if (status == REC_OK) {
        const lr_data *data = s->tensor->data;
        uint64_t width = rec_dtype_bits(s->tensor->packed) / 8;
        lr_swap_if_big(target, s->width, count);
        lr_source_pass(s->walk->job, data->source, data->data ? data->data + s->next * width : NULL, count * width);
        s->next += count;
        tell_losses(s);
    }
    return status;
}

/* Reads stored bytes from a source that should be read once. */
static int32_t raw_read(void *user, void *target, uint64_t size)
{
    struct stream *s = user;
    const lr_data *data = s->tensor->data;
    int32_t status = rec_source_read_at(s->walk->job, data->source, data->offset + s->next, target, size);
    s->next += size;
    return status;
}

static int32_t raw_step(void *user, uint64_t size)
{
    ((struct stream *)user)->next += size;
    return REC_OK;
}

static int32_t stream_read(void *user, void *target, uint64_t size)
{
    struct stream *s = user;
    uint8_t *to = target;
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        uint64_t n;
        if (s->carried) {
            n = size < s->carried ? size : s->carried;
            memcpy(to, s->carry + s->width - s->carried, (size_t)n);
            s->carried -= (uint32_t)n;
        } else if (size < s->width) {
            n = 0;
            status = stream_elements(s, s->carry, 1, &s->losses);
            s->carried = s->width;
        } else {
            n = size / s->width;
            status = stream_elements(s, to, n, &s->losses);
            n *= s->width;
        }
        to += n;
        size -= n;
    }
    return status;
}

/* Skips elements without converting them, except for the one where the step ends: losses in it are counted where its
 * first byte is read. */
static int32_t stream_step(void *user, uint64_t size)
{
    struct stream *s = user;
    lr_losses others = {0};
    uint64_t n = size < s->carried ? size : s->carried;
    int32_t status = REC_OK;
    s->losses.part = true;
    s->carried -= (uint32_t)n;
    size -= n;
    n = size / s->width;
    if (n) {
        s->next += n;
        tell_losses(s);
    }
    size -= n * s->width;
    if (size) {
        status = stream_elements(s, s->carry, 1, &others);
        s->carried = s->width - (uint32_t)size;
    }
    return status;
}

enum { FLEX32_SINCE = 17 };

/* ------------------------------------------------------------------------------------------------- ids as keys -- */

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Whether ids become those of the version that is written. */
static bool changes_ids(const lr_walk *w)
{
    return w->flat || (w->ids && !w->tensors);
}

int32_t lr_walk_check_ids(lr_walk *w, const lr_map *map)
{
    char(*ids)[LR_ID_ROOM];
    size_t count = 0;
    bool changed = false;
    for (uint64_t i = 0; i < map->count && !changed && changes_ids(w); i++) {
        const rec_value *key = &map->entries[i].key;
        char buffer[LR_ID_ROOM];
        changed = key->kind == REC_KIND_STRING && lr_burn_id(key->v.text, w->job->burn.minor, buffer) != key->v.text;
    }
    if (!changed) {
        return REC_OK;
    }
    ids = rec_job_alloc(w->job, map->count * sizeof *ids); /* far less than the map itself has */
    for (uint64_t i = 0; ids && i < map->count; i++) {
        const rec_value *key = &map->entries[i].key;
        char buffer[LR_ID_ROOM];
        const char *id = key->kind == REC_KIND_STRING ? lr_burn_id(key->v.text, w->job->burn.minor, buffer) : "";
        size_t length = strlen(id);
        if (length && length < LR_ID_ROOM) {
            memcpy(ids[count++], id, length + 1);
        }
    }
    if (ids) {
        qsort(ids, count, sizeof *ids, by_text);
    }
    for (size_t i = 1; ids && i < count; i++) {
        if (strcmp(ids[i - 1], ids[i]) == 0) {
            (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                           "two ids of parameters would both become %s in Burn 0.%d, which has 64 bits for one", ids[i],
                           (int)w->job->burn.minor);
            break;
        }
    }
    rec_job_free(w->job, ids);
    return w->job->error.status;
}

/* The element type that is written. */
static rec_dtype target_dtype(lr_walk *w, const rec_tensor *tensor)
{
    rec_dtype dtype = lr_dtype_at(tensor->dtype, w->precision), target = dtype;
    if (lr_dtype_is_bool(dtype) && w->job->burn.minor < LR_BURN_BOOL_STORE) {
        target = REC_DTYPE_BOOL;
    } else if (dtype == REC_DTYPE_FLEX32 && w->job->burn.minor < FLEX32_SINCE) {
        target = REC_DTYPE_F32;
    }
    if (target != dtype) {
        lr_walk_tell(w, REC_NOTE_DROPPED, 1, NULL,
                     "Burn 0.%d has no element type %s: the same values were written as %s", (int)w->job->burn.minor,
                     rec_dtype_name(dtype), rec_dtype_name(target));
    }
    return target;
}

const char *lr_walk_id(lr_walk *w, const char *id, char *buffer)
{
    const char *text = changes_ids(w) ? lr_burn_id(id, w->job->burn.minor, buffer) : id;
    if (text != id && strlen(id) > LR_ID_ROOM) {
        lr_walk_tell(w, REC_NOTE_LAYOUT, 1, NULL,
                     "Burn 0.%d has ids of 64 bits: the first half of a UUID was taken, in every record the same",
                     (int)w->job->burn.minor);
    }
    return text;
}

/* The tensor's bytes in the type that is written: as they lie where nothing has to be converted. */
static void make_blob(lr_walk *w, const rec_tensor *tensor, rec_dtype dtype, struct stream *stream, rec_blob *blob)
{
    const lr_data *data = tensor->data;
    const uint8_t *bytes = lr_data_at_hand(data);
    *blob = (rec_blob){.size = sizeof *blob, .length = data->size, .offset = data->offset};
    w->job->converting = false;
    lr_parallel_step(w->job, (lr_stepping){0});
    if (tensor->packed == dtype && tensor->dtype == dtype) {
        blob->kind = bytes ? REC_BLOB_VIEW : REC_BLOB_RANGE;
        blob->data = bytes;
        blob->source = data->source;
        if (blob->kind == REC_BLOB_RANGE && lr_source_is_far(data->source)) {
            *stream = (struct stream){.walk = w, .tensor = tensor};
            *blob = (rec_blob){.size = sizeof *blob,
                               .kind = REC_BLOB_STREAM,
                               .length = data->size,
                               .offset = REC_UNKNOWN,
                               .read = raw_read,
                               .user = stream};
            lr_parallel_step(w->job, (lr_stepping){.read = raw_read, .user = stream, .over = raw_step});
        }
        return;
    }
    *stream = (struct stream){.walk = w, .tensor = tensor, .dtype = dtype, .width = rec_dtype_bits(dtype) / 8};
    w->job->converting = bytes != NULL;
    blob->kind = REC_BLOB_STREAM;
    blob->length = tensor->count * stream->width; /* the stored or the loaded size was checked; at most 8 times it */
    blob->offset = REC_UNKNOWN;
    blob->read = stream_read;
    blob->user = stream;
    lr_parallel_step(w->job, (lr_stepping){.read = stream_read, .user = stream, .over = stream_step});
}

static int32_t walk_shape(lr_walk *w, const rec_tensor *tensor)
{
    int32_t status = lr_walk_key(w, "shape");
    status = status == REC_OK ? lr_walk_list(w, REC_FORM_LIST, tensor->rank) : status;
    status = status == REC_OK ? lr_walk_numbers(w, REC_DTYPE_U64, tensor->shape, tensor->rank) : status;
    return status == REC_OK ? lr_walk_end(w) : status;
}

static int32_t unit_variant(lr_walk *w, uint64_t index, const char *name)
{
    int32_t status = lr_walk_variant(w, index, name, strlen(name), false);
    return status == REC_OK ? lr_walk_variant_end(w, false) : status;
}

/* Burn's name of an element type as the version that is written spells it. */
static int32_t walk_dtype(lr_walk *w, const rec_tensor *tensor, rec_dtype dtype)
{
    static const char *const stores[] = {"Native", "U8", "U32"};
    uint64_t index, store;
    const char *name;
    int32_t status;
    if (lr_encoding_of(tensor)->words) {
        return lr_walk_value(w, tensor->encoding->words);
    }
    name = lr_burn_dtype_name(dtype, w->job->burn.minor, &index);
    if (!name) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "Burn 0.%d has no element type %s",
                        (int)w->job->burn.minor, rec_dtype_name(dtype));
    }
    if (!lr_dtype_is_bool(dtype) || w->job->burn.minor < LR_BURN_BOOL_STORE) {
        return unit_variant(w, index, name);
    }
    store = dtype == REC_DTYPE_BOOL ? 0 : dtype == REC_DTYPE_BOOL8 ? 1 : 2;
    status = lr_walk_variant(w, index, name, strlen(name), true);
    status = status == REC_OK ? unit_variant(w, store, stores[store]) : status;
    return status == REC_OK ? lr_walk_variant_end(w, true) : status;
}

static int32_t walk_v2(lr_walk *w, const rec_tensor *tensor, rec_dtype dtype)
{
    struct stream stream;
    rec_blob blob;
    int32_t status = lr_walk_map(w, REC_FORM_STRUCT, 3);
    make_blob(w, tensor, dtype, &stream, &blob);
    status = status == REC_OK ? lr_walk_key(w, "bytes") : status;
    status = status == REC_OK ? lr_walk_bytes(w, &blob) : status;
    status = status == REC_OK ? walk_shape(w, tensor) : status;
    status = status == REC_OK ? lr_walk_key(w, "dtype") : status;
    status = status == REC_OK ? walk_dtype(w, tensor, dtype) : status;
    return status == REC_OK ? lr_walk_end(w) : status;
}

enum { V1_PIECE = 4096 };

/* An integer that the version would keep as another one. */
static int32_t fail_rounded(lr_walk *w, uint64_t index, int32_t number)
{
    (void)lr_fail_path(w->job, REC_E_RANGE, w->path,
                       "element %" PRIu64 " is %" PRId32
                       ", but Burn 0.%d stores the integers of full precision as f32, which cannot represent it",
                       index, number, (int)w->job->burn.minor);
    rec_fail_hint(w->job, "Save it at double precision, or for Burn 0.12 or later.");
    return w->job->error.status;
}

/* V1 keeps elements as numbers: f16 as its bit pattern; up to 0.11 full precision integers as f32. */
static int32_t walk_v1(lr_walk *w, const rec_tensor *tensor, rec_dtype dtype)
{
    rec_dtype shown = dtype == REC_DTYPE_F16 ? REC_DTYPE_U16 : dtype;
    lr_losses losses = {0};
    int32_t status;
    if (lr_dtype_is_bool(dtype)) {
        dtype = shown = REC_DTYPE_BOOL;
    }
    if (dtype != REC_DTYPE_F64 && dtype != REC_DTYPE_F32 && dtype != REC_DTYPE_F16 && dtype != REC_DTYPE_I64 &&
        dtype != REC_DTYPE_I32 && dtype != REC_DTYPE_I16 && dtype != REC_DTYPE_BOOL) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "Burn 0.%d has no element type %s",
                        (int)w->job->burn.minor, rec_tensor_dtype_name(tensor));
    }
    if (lr_dtype_at(dtype, w->job->burn.precision) != dtype) { /* nothing in the file would tell its type */
        (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "a tensor of %s in a record of %s precision: a file of Burn 0.%d has one precision",
                       rec_dtype_name(dtype), rec_precision_name(w->job->burn.precision), (int)w->job->burn.minor);
        rec_fail_hint(w->job, "Save it at half, full or double precision instead of keeping it.");
        return w->job->error.status;
    }
    status = lr_walk_map(w, REC_FORM_STRUCT, 2);
    status = status == REC_OK ? lr_walk_key(w, "value") : status;
    status = status == REC_OK ? lr_walk_list(w, REC_FORM_LIST, tensor->count) : status;
    for (uint64_t done = 0; done < tensor->count && status == REC_OK;) {
        uint64_t piece[V1_PIECE];
        uint64_t n = tensor->count - done < V1_PIECE ? tensor->count - done : V1_PIECE;
        status = lr_tensor_convert(w->job, tensor, w->path, dtype, w->clamp, done, n, piece, &losses);
        if (status == REC_OK && dtype == REC_DTYPE_I32 && w->job->burn.minor < LR_BURN_UNIT_B) {
            float numbers[V1_PIECE];
            for (uint64_t i = 0; i < n; i++) {
                int32_t number;
                memcpy(&number, (uint8_t *)piece + i * 4, 4);
                numbers[i] = (float)number;
                if ((double)numbers[i] != (double)number && status == REC_OK) {
                    status = fail_rounded(w, done + i, number);
                }
            }
            status = status == REC_OK ? lr_walk_numbers(w, REC_DTYPE_F32, numbers, n) : status;
        } else if (status == REC_OK) {
            status = lr_walk_numbers(w, shown, piece, n);
        }
        done += n;
    }
    lr_note_losses(w->job, w->path, dtype, &losses);
    status = status == REC_OK ? lr_walk_end(w) : status;
    status = status == REC_OK ? walk_shape(w, tensor) : status;
    return status == REC_OK ? lr_walk_end(w) : status;
}

/* What a tensor is, for a writer. @param id that it is written with. */
static uint32_t flags_of(const lr_walk *w, const rec_tensor *tensor, const char *id)
{
    if (!lr_tensor_is_parameter(tensor)) {
        return w->optimizer ? 0 : REC_EVENT_BARE;
    }
    return id && (!tensor->id || tensor->id_made) ? REC_EVENT_ID_MADE : 0;
}

static int32_t walk_event(lr_walk *w, const rec_tensor *tensor, rec_dtype dtype, const char *id)
{
    struct stream stream;
    char words[LR_DTYPE_TEXT_ROOM];
    rec_tensor_event event = {.size = sizeof event,
                              .dtype = dtype,
                              .rank = tensor->rank,
                              .flags = flags_of(w, tensor, id),
                              .shape = tensor->shape,
                              .id = id};
    if (lr_encoding_of(tensor)->words) {
        event.dtype_name = lr_burn_dtype_text(w->job, tensor->encoding->words, words);
        if (!event.dtype_name) {
            return w->job->error.status;
        }
    }
    if (event.flags & REC_EVENT_BARE && !(w->job->plugin->traits & REC_TRAIT_BARE)) {
        lr_walk_tell(w, REC_NOTE_DROPPED, 1, NULL,
                     "%s does not record that a tensor is not a parameter: without a type it is read back as one",
                     w->job->plugin->name);
    }
    lr_walk_hold(w);
    make_blob(w, tensor, dtype, &stream, &event.data);
    return w->visitor.tensor(w->self, REC_UNKNOWN, &event);
}

/* Whether what is written can hold the words of an element type that has more to it than a name. */
static int32_t check_words(lr_walk *w, const rec_tensor *tensor)
{
    if (tensor->encoding->numbers && tensor->dtype != REC_DTYPE_QFLOAT && !w->tensors) {
        (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor of %s: Burn has no such element type",
                       rec_tensor_dtype_name(tensor));
        rec_fail_hint(w->job, "Convert to a precision: full, half or double make numbers of its elements.");
        return w->job->error.status;
    }
    if (lr_walk_nameless(w)) {
        (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "a tensor of %s: its element type has attributes that this format cannot store",
                       rec_tensor_dtype_name(tensor));
        rec_fail_hint(w->job, "Write it as MessagePack or JSON (NamedMpk, PrettyJson), which store it.");
        return w->job->error.status;
    }
    if (tensor->dtype == REC_DTYPE_OPAQUE && !w->tensors) {
        lr_walk_tell(w, REC_NOTE_LAYOUT, 1, NULL,
                     "Burn has no element type %s: its tensors are copied, but Burn cannot load the file",
                     rec_tensor_dtype_name(tensor));
    }
    if (tensor->dtype == REC_DTYPE_QFLOAT && w->job->burn.minor < LR_BURN_V2) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "Burn 0.%d has no quantised tensors",
                        (int)w->job->burn.minor);
    }
    if (tensor->dtype == REC_DTYPE_QFLOAT &&
        !lr_burn_scheme_fits(tensor->encoding->words, w->record->burn_minor, w->job->burn.minor)) {
        (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "a quantised tensor whose scheme is not in the form of Burn 0.%d", (int)w->job->burn.minor);
        rec_fail_hint(w->job, "Write it for the version of Burn that it comes from, or quantise the model again.");
        return w->job->error.status;
    }
    return REC_OK;
}

int32_t lr_walk_tensor(lr_walk *w, const rec_tensor *tensor)
{
    bool v1 = w->job->burn.minor < LR_BURN_V2;
    char buffer[LR_ID_ROOM], made[LR_ID_ROOM];
    const char *id = tensor->id;
    rec_dtype dtype;
    int32_t status;
    if (lr_encoding_of(tensor)->numbers && lr_precision_changes(w->precision)) {
        tensor = tensor->encoding->numbers;
    }
    dtype = target_dtype(w, tensor);
    if (tensor->dtype == REC_DTYPE_OPAQUE && lr_precision_changes(w->precision)) {
        lr_walk_tell(w, REC_NOTE_LAYOUT, 1, rec_tensor_dtype_name(tensor),
                     "elements of this type are copied unchanged at every precision");
    }
    status = lr_encoding_of(tensor)->words ? check_words(w, tensor) : REC_OK;
    if (status != REC_OK) {
        return status;
    }
    if (!id && lr_tensor_is_parameter(tensor) && !(w->tensors && (w->paths || (w->flat && w->record->dotted)))) {
        uint8_t bytes[8];
        lr_id_of_path(w->path, w->used < w->path_room ? w->used : (size_t)w->path_room - 1, bytes);
        lr_id_base32(bytes, sizeof bytes, made);
        id = made;
    }
    if (w->tensors) {
        return walk_event(w, tensor, dtype, id && w->flat ? lr_walk_id(w, id, buffer) : id);
    }
    if (!id) {
        return v1 ? walk_v1(w, tensor, dtype) : walk_v2(w, tensor, dtype);
    }
    status = lr_walk_map(w, REC_FORM_STRUCT, 2);
    status = status == REC_OK ? lr_walk_key(w, "id") : status;
    id = lr_walk_id(w, id, buffer);
    status = status == REC_OK ? lr_walk_text(w, id, strlen(id)) : status;
    status = status == REC_OK ? lr_walk_key(w, "param") : status;
    if (status == REC_OK) {
        status = v1 ? walk_v1(w, tensor, dtype) : walk_v2(w, tensor, dtype);
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

/* ------------------------------------------------------------------------------------------------------ values -- */

/* Begins a list; of one of metadata, what it is of. */
static int32_t begin_list(lr_walk *w, const rec_value *value, int32_t form, uint64_t count)
{
    const char *of = w->aside && w->visitor.list_of ? lr_list_of_word(value->bits) : NULL;
    int32_t status = lr_walk_list(w, form, count);
    return status == REC_OK && of ? w->visitor.list_of(w->self, REC_UNKNOWN, of) : status;
}

static int32_t walk_run(lr_walk *w, const rec_value *value)
{
    const lr_packed *run = value->v.run;
    int32_t status = begin_list(w, value, run->form, run->count);
    uint32_t width = rec_dtype_bits(run->dtype) / 8;
    if (status == REC_OK) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        uint64_t piece[512];
        for (uint64_t done = 0; done < run->count && status == REC_OK;) {
            uint64_t n = run->count - done < 512 ? run->count - done : 512;
            memcpy(piece, run->data.data + done * width, n * width);
            lr_swap_if_big(piece, width, n);
            status = lr_walk_numbers(w, run->dtype, piece, n);
            done += n;
        }
#else
        (void)width;
        status = lr_walk_numbers(w, run->dtype, run->data.data, run->count);
#endif
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

static int32_t walk_list(lr_walk *w, const rec_value *value)
{
    const lr_list *list = value->v.list;
    int32_t status = begin_list(w, value, value->form, list->count);
    for (uint64_t i = 0; i < list->count && status == REC_OK; i++) {
        size_t used = lr_walk_enter_index(w, i);
        status = lr_walk_value(w, &list->items[i]);
        lr_walk_leave(w, used);
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

/* A key of a foreign model, put together again from the names above a tensor. Unlike the path for messages it has what
 * cannot be printed, too. */
typedef struct dotted {
    char *text;
    size_t used;
    uint64_t room;
} dotted;

static int32_t walk_paths(lr_walk *w, const rec_value *value, dotted *key, bool root);

/* @param whole the name is a path already. */
static int32_t walk_path(lr_walk *w, const char *name, uint64_t length, const rec_value *value, dotted *key, bool first,
                         bool whole)
{
    size_t before = key->used;
    int32_t status;
    if (!lr_job_grow_counted(w->job, &key->text, before + 2 * length + 1, &key->room, 1)) {
        return w->job->error.status;
    }
    if (!first) {
        key->text[key->used++] = '.';
    }
    for (uint64_t i = 0; i < length; i++) {
        if (!whole && (name[i] == '.' || name[i] == '\\')) {
            key->text[key->used++] = '\\';
        }
        key->text[key->used++] = name[i];
    }
    status = walk_paths(w, value, key, false);
    key->used = before;
    return status;
}

/* All tensors of a foreign model under their dotted keys, without the levels between. */
static int32_t walk_paths(lr_walk *w, const rec_value *value, dotted *key, bool root)
{
    bool list = value->kind == REC_KIND_LIST, whole = root && w->record->flat;
    uint64_t count = rec_value_count(value);
    int32_t status = REC_OK;
    if (value->kind == REC_KIND_TENSOR) {
        rec_scalar text = {.kind = REC_KIND_STRING, .v = {.length = key->used}, .text = key->text};
        status = w->visitor.key(w->self, REC_UNKNOWN, &text);
        return status == REC_OK ? lr_walk_tensor(w, value->v.tensor) : status;
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        const lr_entry *entry = list ? NULL : &value->v.map->entries[i];
        size_t used = list    ? lr_walk_enter_index(w, i)
                      : whole ? lr_walk_enter_path(w, entry->key.v.text, entry->key.length)
                              : lr_walk_enter_key(w, &entry->key);
        char index[24];
        int length = snprintf(index, sizeof index, "%" PRIu64, i);
        status = walk_path(w, list ? index : entry->key.v.text, list ? (uint64_t)length : entry->key.length,
                           list ? &value->v.list->items[i] : &entry->value, key, root, whole);
        lr_walk_leave(w, used);
    }
    return status;
}

static int32_t walk_flat(lr_walk *w, const rec_value *value)
{
    dotted key = {0};
    int32_t status = lr_walk_map(w, REC_FORM_PATHS, w->tensor_count);
    status = status == REC_OK ? walk_paths(w, value, &key, true) : status;
    rec_job_free(w->job, key.text);
    return status == REC_OK ? lr_walk_end(w) : status;
}

/* Returns a name in the form of records: a path uses Rust's raw identifiers, `r#type`. */
static int32_t unmark(const lr_walk *w, const lr_map *map, rec_scalar *key)
{
    if (w->record->dotted && !w->flat && key->kind == REC_KIND_STRING && key->v.length > 2 &&
        memcmp(key->text, "r#", 2) == 0) {
        key->text += 2;
        key->v.length -= 2;
        if (lr_map_find_text(map, key->text, key->v.length)) {
            int shown = key->v.length < 100 ? (int)key->v.length : 100;
            (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "r#%.*s and %.*s are both `%.*s` in a record", shown,
                           key->text, shown, key->text, shown, key->text);
            rec_fail_hint(w->job, "Give one of them another name.");
            return w->job->error.status;
        }
    }
    return REC_OK;
}

static int32_t walk_map(lr_walk *w, const rec_value *value)
{
    const lr_map *map = value->v.map;
    int32_t status;
    bool ids;
    if (w->tensors && w->paths && !w->aside && value == &w->record->root) {
        return walk_flat(w, value);
    }
    ids = (w->ids || w->flat) && !w->aside && lr_optimizer_is(value);
    status = ids ? lr_walk_check_ids(w, map) : REC_OK;
    status = status == REC_OK
                 ? lr_walk_map(w, value->form == REC_FORM_PATHS ? REC_FORM_UNKNOWN : value->form, map->count)
                 : status;
    for (uint64_t i = 0; i < map->count && status == REC_OK; i++) {
        size_t used = lr_walk_enter_key(w, &map->entries[i].key);
        rec_scalar key = lr_to_scalar(&map->entries[i].key);
        char buffer[LR_ID_ROOM];
        status = unmark(w, map, &key);
        if (ids) {
            key.text = lr_walk_id(w, key.text, buffer);
            key.v.length = strlen(key.text);
        }
        status = status == REC_OK ? w->visitor.key(w->self, REC_UNKNOWN, &key) : status;
        if (status == REC_OK) {
            status = lr_walk_value(w, &map->entries[i].value);
        }
        lr_walk_leave(w, used);
    }
    return status == REC_OK ? lr_walk_end(w) : status;
}

/* A module that an import recognised: in the order and with the constants of the version that is written. */
static int32_t walk_module(lr_walk *w, const rec_value *value)
{
    const lr_modules *modules = w->job->context->modules;
    const rec_layout *layout = modules ? modules->layout(w->job, modules->name(value->bits)) : NULL;
    if (lr_job_failed(w->job)) {
        return w->job->error.status;
    }
    return layout ? w->typed(w, value, layout) : walk_map(w, value);
}

static int32_t walk_variant(lr_walk *w, const lr_variant *variant)
{
    size_t used = lr_walk_enter_key(w, &variant->name);
    int32_t status =
        lr_walk_variant(w, variant->index, variant->name.v.text, variant->name.length, variant->has_payload);
    if (status == REC_OK && variant->has_payload) {
        status = lr_walk_value(w, &variant->payload);
    }
    status = status == REC_OK ? lr_walk_variant_end(w, variant->has_payload) : status;
    lr_walk_leave(w, used);
    return status;
}

int32_t lr_walk_value(lr_walk *w, const rec_value *value)
{
    rec_scalar scalar;
    rec_blob blob;
    switch (value->kind) {
    case REC_KIND_TENSOR:
        return lr_walk_tensor(w, value->v.tensor);
    case REC_KIND_LIST:
        return walk_list(w, value);
    case REC_KIND_MAP:
        return value->bits && !w->paths && !w->aside ? walk_module(w, value) : walk_map(w, value);
    case REC_KIND_VARIANT:
        return walk_variant(w, value->v.variant);
    case REC_KIND_NUMBERS:
        return walk_run(w, value);
    case REC_KIND_BYTES:
        blob = (rec_blob){.size = sizeof blob,
                          .kind = value->v.bytes->data ? REC_BLOB_VIEW : REC_BLOB_RANGE,
                          .length = value->v.bytes->size,
                          .data = value->v.bytes->data,
                          .source = value->v.bytes->source,
                          .offset = value->v.bytes->offset};
        return lr_walk_bytes(w, &blob);
    default:
        scalar = lr_to_scalar(value);
        return lr_walk_scalar(w, &scalar);
    }
}
