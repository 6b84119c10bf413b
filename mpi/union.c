/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Unites the records of all ranks. Each rank broadcasts its values and its parts of tensors in turn, and every rank
 * unites them in the same way. The later rank reports a contradiction. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "mpi/mpi_private.h"

/* A value as it travels: this, its path, its id with their NULs, and its value. */
typedef struct head {
    uint64_t offset, length, index;
    uint64_t value;    /* bytes */
    uint32_t path, id; /* bytes */
    int32_t kind;
    rec_dtype dtype;
    uint32_t rank, dimension;
    uint32_t sized, held; /* bools */
    uint32_t beside;      /* bool: it is in the table of slices alone */
    uint32_t parameter;   /* bool */
    uint64_t shape[32];   /* of which `rank` travel */
} head;

/* In front of it. */
typedef struct preface {
    char host[MPI_MAX_PROCESSOR_NAME];
    uint32_t built; /* bool: the record was not loaded */
} preface;

typedef struct uniting {
    lr_mpi_union *u;
    MPI_Comm comm;
    int rank, ranks;
    const rec_mpi_slices *slices;
    lr_mpi_told mine; /* what this rank tells */
    /* While what the ranks tell is added up. */
    char (*hosts)[MPI_MAX_PROCESSOR_NAME];
    bool all_built;
    uint64_t keys; /* of rank 0's record */
    int apart;     /* the first rank whose keys are others; 0: none */
    char *apart_here, *apart_there;
    bool contradicted; /* by any rank, as all know */
    rec_status status; /* of this rank */
    char why[LR_MPI_MESSAGE];
} uniting;

static void add(lr_mpi_told *t, head h, const char *path, const char *id, const void *value, size_t size)
{
    h.path = (uint32_t)strlen(path) + 1;
    h.id = id ? (uint32_t)strlen(id) + 1 : 0;
    h.value = size;
    lr_mpi_add(t, &h, offsetof(head, shape) + h.rank * sizeof *h.shape);
    lr_mpi_add(t, path, h.path);
    lr_mpi_add(t, id, h.id);
    lr_mpi_add(t, value, size);
}

/* --------------------------------------------------------------------------------------- of this rank's record -- */

/* A failure of this rank: the first counts. */
static void fail(uniting *g, rec_status status, const char *path, const char *words)
{
    if (g->status == REC_OK) {
        g->status = status;
        (void)snprintf(g->why, sizeof g->why, "%.1200s: %.2400s", path, words);
    }
}

static void fail_memory(uniting *g)
{
    fail(g, REC_E_MEMORY, "the combined record of the ranks", "out of memory");
}

/* Checks that a row of the table matches the tensor. */
static bool fits(uniting *g, const char *path, const rec_tensor *tensor, const rec_mpi_slice *slice)
{
    const uint64_t *shape = rec_tensor_shape(tensor);
    uint32_t rank = rec_tensor_rank(tensor);
    char here[LR_MPI_WORDS], there[LR_MPI_WORDS], words[LR_MPI_MESSAGE];
    bool same = slice->held && slice->rank == rank;
    for (uint32_t i = 0; same && i < rank; i++) {
        same = shape[i] == (i == slice->dimension ? slice->length : slice->shape[i]);
    }
    if (!same) {
        (void)snprintf(words, sizeof words,
                       "expected indices %" PRIu64 " to before %" PRIu64
                       " of dimension %u of %.500s%s, found a tensor of the shape %.500s",
                       slice->offset, slice->offset + slice->length, slice->dimension,
                       lr_mpi_shape(there, sizeof there, slice->shape, slice->rank),
                       slice->held ? "" : " on another rank", lr_mpi_shape(here, sizeof here, shape, rank));
        fail(g, REC_E_MISMATCH, path, words);
    }
    return same;
}

static void tell_tensor(uniting *g, const char *key, const rec_tensor *tensor)
{
    lr_mpi_union *u = g->u;
    const rec_mpi_slice *slice = rec_mpi_slices_find(g->slices, key + 1);
    const uint64_t *shape = slice ? slice->shape : rec_tensor_shape(tensor);
    const char *dtype = rec_tensor_dtype_name(tensor);
    const rec_tensor **mine;
    head h = {.kind = REC_KIND_TENSOR,
              .dtype = rec_tensor_dtype(tensor),
              .sized = rec_dtype_bits(rec_tensor_dtype(tensor)) > 0,
              .rank = rec_tensor_rank(tensor),
              .held = 1,
              .parameter = rec_tensor_is_parameter(tensor) != 0,
              .index = u->mine_count};
    if (slice && !fits(g, key + 1, tensor, slice)) {
        return;
    }
    memcpy(h.shape, shape, h.rank * sizeof *shape);
    h.dimension = slice ? slice->dimension : 0;
    h.offset = slice ? slice->offset : 0;
    h.length = slice ? slice->length : h.rank ? shape[0] : 1;
    if (h.rank && h.length == shape[h.dimension]) { /* all of it, along whichever dimension */
        h.dimension = 0;
        h.length = shape[0];
    } else if (h.rank && !h.sized) {
        fail(g, REC_E_UNSUPPORTED, key + 1, "a slice of a tensor whose elements have no fixed size");
        return;
    }
    mine = lr_mpi_grown(u->mine, u->mine_count, sizeof *mine);
    if (!mine) {
        fail_memory(g);
        return;
    }
    u->mine = mine;
    u->mine[u->mine_count++] = tensor;
    add(&g->mine, h, key, rec_tensor_id(tensor), dtype, strlen(dtype) + 1);
}

static uint64_t sum_of(const rec_value *value)
{
    uint64_t size = 0, sum = LR_FNV_BEGIN, count = rec_value_count(value);
    const uint8_t *bytes = rec_value_bytes(value, &size);
    for (uint64_t i = 0; !bytes && i < count; i++) {
        rec_scalar number = rec_value_number(value, i);
        sum = lr_fnv(sum, &number.kind, sizeof number.kind);
        sum = lr_fnv(sum, &number.v.u, sizeof number.v.u);
    }
    return bytes ? lr_fnv(sum, bytes, size) : sum;
}

static void tell_value(uniting *g, const char *key, const rec_value *value)
{
    head h = {.kind = rec_value_kind(value)};
    rec_scalar scalar = rec_value_scalar(value);
    uint64_t sums[3] = {0};
    lr_mpi_told t = {0};
    if (h.kind == REC_KIND_TENSOR) {
        tell_tensor(g, key, rec_value_tensor(value));
        return;
    }
    if (h.kind >= REC_KIND_BYTES) {
        sums[0] = (uint64_t)rec_value_form(value);
        sums[1] = rec_value_count(value);
        sums[2] = sum_of(value);
        add(&g->mine, h, key, NULL, sums, sizeof sums);
        return;
    }
    if (h.kind == REC_KIND_STRING) {
        lr_mpi_add(&t, scalar.text, (size_t)scalar.v.length);
    }
    scalar.text = NULL;
    lr_mpi_add(&t, &scalar, sizeof scalar);
    add(&g->mine, h, key, NULL, t.at, t.size);
    g->mine.failed = g->mine.failed || t.failed;
    free(t.at);
}

/* Returns the path with a letter before it. */
static char *key_of(char letter, const char *path)
{
    size_t size = strlen(path) + 2;
    char *key = malloc(size);
    if (key) {
        (void)snprintf(key, size, "%c%s", letter, path);
    }
    return key;
}

/* Broadcasts the rows of the table for tensors that this rank lacks. */
static void tell_slices(uniting *g, const rec_record *record)
{
    for (uint64_t i = 0; i < rec_mpi_slices_count(g->slices) && g->status == REC_OK; i++) {
        const rec_mpi_slice *slice = rec_mpi_slices_get(g->slices, i);
        const rec_value *value = rec_value_at(record, slice->path);
        head h = {.kind = REC_KIND_TENSOR, .rank = slice->rank, .dimension = slice->dimension, .beside = 1};
        char *key;
        if (slice->held && !rec_value_tensor(value)) {
            fail(g, REC_E_MISMATCH, slice->path, "expected a tensor, as the table of slices says; found none");
        } else if (!slice->held) {
            key = key_of('t', slice->path);
            if (!key) {
                fail_memory(g);
                return;
            }
            memcpy(h.shape, slice->shape, slice->rank * sizeof *slice->shape);
            add(&g->mine, h, key, NULL, NULL, 0);
            free(key);
        }
    }
}

static void tell_record(uniting *g, const rec_record *record)
{
    /* A copy has no recorder; a record built in memory has no layout and no version. */
    const rec_origin *origin = rec_record_origin(record);
    preface p = {.built = !*origin->recorder && !origin->layout &&
                          rec_value_form(rec_root(record)) == REC_FORM_UNKNOWN && !rec_metadata(record, "version")};
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path, *text;
    char *key;
    (void)lr_mpi_host(p.host);
    lr_mpi_add(&g->mine, &p, sizeof p);
    for (uint64_t i = 0; i < rec_metadata_count(record) && g->status == REC_OK; i++) {
        if (rec_metadata_get(record, i, &path, &text) != REC_OK || !(key = key_of('m', path))) {
            fail_memory(g);
            break;
        }
        value = rec_metadata_value(record, path);
        add(&g->mine, (head){.kind = rec_value_kind(value)}, key, NULL, text, strlen(text) + 1);
        free(key);
    }
    while (iterator && g->status == REC_OK && (value = rec_iterator_next(iterator, &path))) {
        key = key_of('t', path);
        if (key) {
            tell_value(g, key, value);
        } else {
            fail_memory(g);
        }
        free(key);
    }
    if (!iterator || g->mine.failed) {
        fail_memory(g);
    }
    rec_iterator_free(iterator);
    tell_slices(g, record);
    if (g->mine.failed) {
        fail_memory(g);
    }
}

/* ---------------------------------------------------------------------------------------------------- added up -- */

/* Records a contradiction: `guilty` reports it, and every rank knows its number. */
static void contradict(uniting *g, int guilty, const lr_mpi_leaf *leaf, const char *here, const char *there)
{
    char words[LR_MPI_MESSAGE];
    g->contradicted = true;
    if (guilty == g->rank) {
        (void)snprintf(words, sizeof words, "expected %.1000s, as on rank %d (%s); found %.1000s", there, leaf->first,
                       g->hosts[leaf->first], here);
        fail(g, REC_E_MISMATCH, *leaf->path == 'm' ? "metadata" : leaf->path + 1, words);
    }
}

static bool yields(int32_t kind)
{
    return kind == REC_KIND_NIL;
}

static const char *kind_words(int32_t kind, const char *value, size_t size, char *words, size_t room)
{
    static const char *const names[] = {"nothing",           "a bool",  "an integer",    "an integer",   "a float",
                                        "a string",          "bytes",   "an empty list", "an empty map", "a variant",
                                        "a list of numbers", "a tensor"};
    rec_scalar scalar = {0};
    char bits[32] = "";
    const char *name = kind >= 0 && kind <= REC_KIND_TENSOR ? names[kind] : "a value";
    if (kind >= REC_KIND_BYTES || size < sizeof scalar) {
        return name;
    }
    memcpy(&scalar, value + size - sizeof scalar, sizeof scalar);
    if (scalar.bits) {
        (void)snprintf(bits, sizeof bits, " of %u bits", (unsigned)scalar.bits);
    }
    switch (kind) {
    case REC_KIND_BOOL:
        return scalar.v.i ? "true" : "false";
    case REC_KIND_INT:
        (void)snprintf(words, room, "%" PRId64 "%s", scalar.v.i, bits);
        return words;
    case REC_KIND_UINT:
        (void)snprintf(words, room, "%" PRIu64 "%s", scalar.v.u, bits);
        return words;
    case REC_KIND_FLOAT:
        (void)snprintf(words, room, "%.17g%s", scalar.v.f, bits);
        return words;
    case REC_KIND_STRING:
        (void)snprintf(words, room, "\"%.*s\"", (int)(size - sizeof scalar < 200 ? size - sizeof scalar : 200), value);
        return words;
    default:
        return name;
    }
}

static const char *value_words(const char *path, int32_t kind, const char *value, size_t size, char *words, size_t room)
{
    if (*path == 'm') {
        (void)snprintf(words, room, "%.300s = %.600s", path + 1, value);
        return words;
    }
    return kind_words(kind, value, size, words, room);
}

static const char *tensor_words(rec_dtype dtype, const char *name, const uint64_t *shape, uint32_t rank, char *words,
                                size_t room)
{
    char text[LR_MPI_WORDS];
    (void)snprintf(words, room, "a tensor of %s %.600s", dtype == REC_DTYPE_NONE ? "the shape" : name,
                   lr_mpi_shape(text, sizeof text, shape, rank));
    return words;
}

static bool set_value(lr_mpi_leaf *leaf, const char *value, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, value, size);
        copy[size] = '\0';
        free(leaf->value);
        leaf->value = copy;
        leaf->value_size = size;
    }
    return copy != NULL;
}

static void range_words(char *words, size_t room, const lr_mpi_leaf *leaf, uint32_t dimension, uint64_t from,
                        uint64_t to)
{
    char shape[LR_MPI_WORDS];
    (void)snprintf(words, room, "indices %" PRIu64 " to before %" PRIu64 " of dimension %u of %.600s", from, to,
                   dimension, lr_mpi_shape(shape, sizeof shape, leaf->shape, leaf->rank));
}

/* Adds a rank's part of a tensor. */
static void hold(uniting *g, lr_mpi_leaf *leaf, const head *h, int rank)
{
    lr_mpi_union *u = g->u;
    uint64_t whole = leaf->rank ? leaf->shape[h->dimension] : 1, at = 0;
    uint64_t bytes =
        lr_mpi_product(h->shape, 0, h->rank) / (whole ? whole : 1) * h->length * (rec_dtype_bits(h->dtype) / 8);
    char here[LR_MPI_WORDS * 2], there[LR_MPI_WORDS * 2];
    lr_mpi_held *held;
    bool all = h->length == whole, others = leaf->held_count > 0;
    if (bytes == 0 && leaf->sized) {
        return; /* nothing to ask for */
    }
    if (others && leaf->dimension != h->dimension &&
        !(all && leaf->held_count == 1 && leaf->held[0].length == leaf->shape[leaf->dimension])) {
        range_words(here, sizeof here, leaf, h->dimension, h->offset, h->offset + h->length);
        (void)snprintf(there, sizeof there, "parts along dimension %u", leaf->dimension);
        contradict(g, rank, leaf, here, there);
        return;
    }
    while (at < leaf->held_count && leaf->held[at].offset < h->offset) {
        at++;
    }
    if (others && at < leaf->held_count && leaf->held[at].offset == h->offset && leaf->held[at].length == h->length) {
        /* A replicated part: the rank with the smaller load sends it. */
        if (u->load[rank] + bytes < u->load[leaf->held[at].rank]) {
            u->load[leaf->held[at].rank] -= bytes;
            u->load[rank] += bytes;
            leaf->held[at].rank = rank;
            leaf->held[at].index = h->index;
        }
        return;
    }
    if ((at > 0 && leaf->held[at - 1].offset + leaf->held[at - 1].length > h->offset) ||
        (at < leaf->held_count && h->offset + h->length > leaf->held[at].offset)) {
        const lr_mpi_held *other = at > 0 && leaf->held[at - 1].offset + leaf->held[at - 1].length > h->offset
                                       ? &leaf->held[at - 1]
                                       : &leaf->held[at];
        char words[LR_MPI_MESSAGE];
        g->contradicted = true;
        if (rank == g->rank) {
            range_words(here, sizeof here, leaf, h->dimension, h->offset, h->offset + h->length);
            (void)snprintf(words, sizeof words,
                           "parts overlap: expected none of indices %" PRIu64 " to before %" PRIu64
                           ", which rank %d (%s) has; found %.1500s",
                           other->offset, other->offset + other->length, other->rank, g->hosts[other->rank], here);
            fail(g, REC_E_MISMATCH, leaf->path + 1, words);
        }
        return;
    }
    held = lr_mpi_grown(leaf->held, leaf->held_count, sizeof *held);
    if (!held) {
        fail_memory(g);
        return;
    }
    leaf->held = held;
    memmove(leaf->held + at + 1, leaf->held + at, (size_t)(leaf->held_count - at) * sizeof *leaf->held);
    leaf->held[at] = (lr_mpi_held){.offset = h->offset, .length = h->length, .rank = rank, .index = h->index};
    leaf->held_count++;
    leaf->dimension = h->dimension;
    u->load[rank] += bytes;
}

/* Adds a tensor, or compares it with the known parts. */
static void unite_tensor(uniting *g, lr_mpi_leaf *leaf, const head *h, const char *id, const char *name, int rank)
{
    char here[LR_MPI_WORDS], there[LR_MPI_WORDS];
    bool same_shape = leaf->rank == h->rank && memcmp(leaf->shape, h->shape, h->rank * sizeof *h->shape) == 0;
    bool same_type = h->dtype == REC_DTYPE_NONE || leaf->dtype == REC_DTYPE_NONE ||
                     (leaf->dtype == h->dtype && strcmp(leaf->value, name) == 0);
    if (!same_shape || !same_type) {
        contradict(
            g, rank, leaf, tensor_words(h->dtype, name, h->shape, h->rank, here, sizeof here),
            tensor_words(leaf->dtype, leaf->value ? leaf->value : "", leaf->shape, leaf->rank, there, sizeof there));
        return;
    }
    if (!h->held) {
        leaf->expected = true;
        return;
    }
    if (leaf->dtype == REC_DTYPE_NONE) {
        leaf->dtype = h->dtype;
        leaf->sized = h->sized != 0;
        leaf->first = rank;
        leaf->id = id ? strdup(id) : NULL;
        leaf->parameter = h->parameter != 0;
        if (!set_value(leaf, name, strlen(name) + 1) || (id && !leaf->id)) {
            fail_memory(g);
            return;
        }
    }
    hold(g, leaf, h, rank);
}

static lr_mpi_leaf *new_leaf(uniting *g, const char *path, int rank)
{
    lr_mpi_union *u = g->u;
    lr_mpi_leaf *leaves = lr_mpi_grown(u->leaves, u->count, sizeof *leaves);
    if (!leaves) {
        return NULL;
    }
    u->leaves = leaves;
    if (!lr_mpi_names_add(&u->names, path)) {
        return NULL;
    }
    u->leaves[u->count] = (lr_mpi_leaf){.path = u->names.at[u->count], .first = rank, .kind = REC_KIND_NIL};
    return &u->leaves[u->count++];
}

static void unite(uniting *g, const head *h, const char *path, const char *id, const char *value, int rank, uint64_t at)
{
    lr_mpi_union *u = g->u;
    uint64_t index = lr_mpi_names_find(&u->names, path);
    lr_mpi_leaf *leaf = index == REC_UNKNOWN ? new_leaf(g, path, rank) : &u->leaves[index];
    char here[LR_MPI_WORDS], there[LR_MPI_WORDS];
    bool fresh = index == REC_UNKNOWN, is_new;
    if (!leaf) {
        fail_memory(g);
        return;
    }
    if (!h->beside && rank > 0 && !g->apart && (fresh || index != at || index >= g->keys)) {
        g->apart = rank; /* another key than rank 0's */
        g->apart_here = strdup(path);
        g->apart_there = strdup(at < g->keys ? u->leaves[at].path : "");
    }
    is_new = fresh || (yields(leaf->kind) && !yields(h->kind));
    if (h->kind == REC_KIND_TENSOR) {
        if (is_new) {
            leaf->kind = h->kind;
            leaf->first = rank;
            leaf->rank = h->rank;
            memcpy(leaf->shape, h->shape, sizeof leaf->shape);
        }
        if (leaf->kind == REC_KIND_TENSOR) {
            unite_tensor(g, leaf, h, id, value, rank);
            return;
        }
    } else if (is_new) {
        leaf->kind = h->kind;
        leaf->first = rank;
        if (!set_value(leaf, value, (size_t)h->value)) {
            fail_memory(g);
        }
        return;
    }
    if (yields(h->kind) && !yields(leaf->kind)) {
        return;
    }
    if (h->kind != leaf->kind || h->value != leaf->value_size || memcmp(value, leaf->value, leaf->value_size) != 0) {
        contradict(g, rank, leaf, value_words(path, h->kind, value, (size_t)h->value, here, sizeof here),
                   value_words(path, leaf->kind, leaf->value, leaf->value_size, there, sizeof there));
    }
}

static void unite_all(uniting *g, const char *at, size_t size, int rank)
{
    const char *end = at + size;
    preface p;
    uint64_t keys = 0;
    memcpy(&p, at, sizeof p);
    at += sizeof p;
    memcpy(g->hosts[rank], p.host, sizeof p.host);
    g->all_built = g->all_built && p.built;
    while (at < end) {
        const char *path, *id;
        head h = {0};
        memcpy(&h, at, offsetof(head, shape));
        at += offsetof(head, shape);
        memcpy(h.shape, at, h.rank * sizeof *h.shape);
        path = at + h.rank * sizeof *h.shape;
        id = path + h.path;
        at = id + h.id + h.value;
        unite(g, &h, path, h.id ? id : NULL, id + h.id, rank, keys);
        keys += h.beside ? 0 : 1;
    }
    if (rank == 0) {
        g->keys = keys;
    } else if (keys < g->keys && !g->apart) {
        g->apart = rank;
        g->apart_here = strdup("");
        g->apart_there = strdup(g->u->leaves[keys].path);
    }
}

/* Nothing is missing. */
static void check_whole(uniting *g, const lr_mpi_leaf *leaf)
{
    uint64_t whole = leaf->rank ? leaf->shape[leaf->dimension] : 1, end = 0;
    char here[LR_MPI_WORDS * 2], words[LR_MPI_MESSAGE];
    if (leaf->kind != REC_KIND_TENSOR || leaf->first != g->rank) {
        return;
    }
    if (leaf->dtype == REC_DTYPE_NONE) {
        fail(g, REC_E_MISMATCH, leaf->path + 1,
             "expected a tensor on some rank, as the table of slices says; found none on any");
        return;
    }
    if (!leaf->sized || lr_mpi_product(leaf->shape, 0, leaf->rank) == 0) {
        return;
    }
    for (uint64_t i = 0; i < leaf->held_count && leaf->held[i].offset == end; i++) {
        end += leaf->held[i].length;
    }
    if (end < whole) {
        uint64_t next = whole;
        for (uint64_t i = 0; i < leaf->held_count && next == whole; i++) {
            next = leaf->held[i].offset > end ? leaf->held[i].offset : whole;
        }
        range_words(here, sizeof here, leaf, leaf->dimension, end, next);
        (void)snprintf(words, sizeof words, "expected %.1500s on some rank; found on none", here);
        fail(g, REC_E_MISMATCH, leaf->path + 1, words);
    }
}

/* Loaded records have the same keys everywhere. */
static void check_keys(uniting *g)
{
    const char *key, *found;
    char words[LR_MPI_MESSAGE];
    g->u->alike = !g->apart;
    if (g->apart != g->rank || !g->apart || g->all_built) {
        return;
    }
    if (!g->apart_here || !g->apart_there) {
        fail_memory(g);
        return;
    }
    key = *g->apart_there ? g->apart_there : g->apart_here;
    found = *g->apart_here && *g->apart_there ? g->apart_here + 1
            : *g->apart_here                  ? "one more key"
                                              : "the end of the record";
    (void)snprintf(words, sizeof words,
                   "expected %s, as in the record of rank 0 (%s); found %.1000s: records that were loaded have the "
                   "same keys on all "
                   "ranks, with a nil value for what another rank has",
                   *g->apart_there ? "this key" : "no more keys", g->hosts[0], found);
    fail(g, REC_E_MISMATCH, key + 1, words);
}

/* One rank after the other: what one tells is all that there is of them at a time. All ranks. */
static rec_status exchange(uniting *g)
{
    enum { PIECE = 64 << 20 };
    uint64_t size = g->mine.size, most = 0;
    uint64_t *sizes = malloc((size_t)g->ranks * sizeof *sizes);
    char *other = NULL;
    rec_status status;
    g->hosts = calloc((size_t)g->ranks, sizeof *g->hosts);
    g->u->load = calloc((size_t)g->ranks, sizeof *g->u->load);
    (void)MPI_Allreduce(&size, &most, 1, MPI_UINT64_T, MPI_MAX, g->comm);
    other = most <= SIZE_MAX ? malloc((size_t)most) : NULL;
    if (!sizes || !other || !g->hosts || !g->u->load) {
        fail_memory(g);
    }
    status = rec_mpi_agree(g->comm, g->status, g->why);
    if (status == REC_OK) {
        (void)MPI_Allgather(&size, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, g->comm);
    }
    for (int i = 0; status == REC_OK && i < g->ranks; i++) {
        char *from = i == g->rank ? g->mine.at : other;
        for (uint64_t at = 0; at < sizes[i]; at += PIECE) {
            (void)MPI_Bcast(from + at, (int)(sizes[i] - at < PIECE ? sizes[i] - at : PIECE), MPI_BYTE, i, g->comm);
        }
        if (g->status != REC_E_MEMORY) {
            unite_all(g, from, (size_t)sizes[i], i);
        }
    }
    free(sizes);
    free(other);
    return status;
}

rec_status lr_mpi_union_make(lr_mpi_union *u, MPI_Comm comm, const rec_record *record, const rec_mpi_slices *slices)
{
    uniting g = {.u = u, .comm = comm, .slices = slices, .all_built = true};
    rec_status status;
    *u = (lr_mpi_union){0};
    (void)MPI_Comm_rank(comm, &g.rank);
    (void)MPI_Comm_size(comm, &g.ranks);
    tell_record(&g, record);
    status = rec_mpi_agree(comm, g.status, g.why);
    status = status == REC_OK ? exchange(&g) : status;
    if (status == REC_OK) {
        check_keys(&g);
        for (uint64_t i = 0; i < u->count && g.status == REC_OK && !g.contradicted; i++) {
            check_whole(&g, &u->leaves[i]);
        }
        status = rec_mpi_agree(comm, g.status, g.why);
    }
    free(g.mine.at);
    free(g.hosts);
    free(g.apart_here);
    free(g.apart_there);
    return status;
}

void lr_mpi_union_free(lr_mpi_union *u)
{
    for (uint64_t i = 0; i < u->count; i++) {
        free(u->leaves[i].id);
        free(u->leaves[i].held);
        free(u->leaves[i].value);
    }
    free(u->leaves);
    free(u->mine);
    free(u->load);
    lr_mpi_names_free(&u->names);
    *u = (lr_mpi_union){0};
}
