/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Programs of librecord-mpi, for tests/mpi/library.sh: what each rank loads is held against the whole, what ranks save
 * together is compared there, and what is refused is refused on every rank in the same words. Rank 0 prints. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord/mpi.h>

static int rank, ranks;

/* Ends this rank; the script sees that the others end as well. */
static void stop(const char *what, const char *why)
{
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, why);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static void need(int yes, const char *what)
{
    if (!yes) {
        stop(what, rec_error_message());
    }
}

static rec_recorder *open_at(const char *name, const char *precision)
{
    rec_recorder *recorder = rec_open_recorder(name, rec_precision_from_name(precision));
    need(recorder != NULL, name);
    return recorder;
}

/* Of the recorder that loads: LIBRARY_SET is OPTION=VALUE. */
static void set_option(rec_recorder *recorder)
{
    const char *setting = getenv("LIBRARY_SET"), *value = setting ? strchr(setting, '=') : NULL;
    char option[64];
    if (value) {
        (void)snprintf(option, sizeof option, "%.*s", (int)(value - setting), setting);
        need(rec_recorder_set(recorder, option, value + 1) == REC_OK, setting);
    }
}

/* -------------------------------------------------------------------------------------------------------- the model */

static uint32_t width_of(rec_dtype dtype)
{
    return rec_dtype_bits(dtype) / 8;
}

/* Element `index` of the tensor of that seed: another one for each. */
static void element(rec_dtype dtype, uint64_t seed, uint64_t index, uint8_t *to)
{
    uint64_t number = (index + seed * 7919) * UINT64_C(2654435761) >> 3;
    float f = (float)(number % 20011) / 64.0F - 100.0F;
    if (dtype == REC_DTYPE_F32) {
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        for (int i = 0; i < 4; i++) {
            to[i] = (uint8_t)(bits >> 8 * i);
        }
        return;
    }
    if (dtype == REC_DTYPE_BOOL) {
        to[0] = number & 1;
        return;
    }
    number = dtype == REC_DTYPE_F16 ? number % 0x7c00 : dtype == REC_DTYPE_I64 ? number % 30000 : number;
    for (uint32_t i = 0; i < width_of(dtype); i++) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

static uint64_t product(const uint64_t *shape, uint32_t from, uint32_t to)
{
    uint64_t count = 1;
    for (uint32_t i = from; i < to; i++) {
        count *= shape[i];
    }
    return count;
}

/* Indices `offset` to before `offset` + `length` along a dimension. */
static void put(rec_record *record, const char *path, rec_dtype dtype, uint64_t seed, uint32_t dimensions,
                const uint64_t *shape, uint32_t d, uint64_t offset, uint64_t length, const char *id)
{
    uint64_t local[32], inner, outer, count, whole = dimensions ? shape[d] : 1;
    uint32_t width = width_of(dtype);
    uint8_t *data;
    rec_tensor_spec spec = {.size = sizeof spec, .dtype = dtype, .rank = dimensions, .ownership = REC_TAKE, .id = id};
    memcpy(local, shape, dimensions * sizeof *shape);
    inner = dimensions ? product(shape, d + 1, dimensions) : 1;
    outer = product(shape, 0, d);
    if (dimensions) {
        local[d] = length;
    }
    count = outer * length * inner;
    data = malloc((size_t)count * width + 1);
    need(data != NULL, "memory");
    for (uint64_t o = 0, at = 0; o < outer; o++) {
        for (uint64_t k = 0; k < length * inner; k++, at++) {
            element(dtype, seed, (o * whole + offset) * inner + k, data + at * width);
        }
    }
    spec.shape = local;
    spec.data = data;
    spec.data_size = count * width;
    need(rec_set_tensor(record, path, &spec) == REC_OK, path);
}

static void put_all(rec_record *record, const char *path, rec_dtype dtype, uint64_t seed, uint32_t dimensions,
                    uint64_t a, uint64_t b, uint64_t c, const char *id)
{
    const uint64_t shape[3] = {a, b, c};
    put(record, path, dtype, seed, dimensions, shape, 0, 0, dimensions ? a : 1, id);
}

static rec_record *model(void)
{
    rec_record *record = rec_record_new(NULL);
    char path[64];
    need(record != NULL, "a record");
    need(rec_set_string(record, "name", "a model") == REC_OK, "name");
    put_all(record, "embed.weight", REC_DTYPE_F32, 1, 2, 13, 6, 1, "g9n520gj4a05s");
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "layers.%u.up.weight", i);
        put_all(record, path, REC_DTYPE_F32, 10 + i, 2, 7, 10, 1, NULL);
        (void)snprintf(path, sizeof path, "layers.%u.down.weight", i);
        put_all(record, path, REC_DTYPE_F16, 20 + i, 2, 10, 7, 1, NULL);
        (void)snprintf(path, sizeof path, "layers.%u.bias", i);
        put_all(record, path, REC_DTYPE_F32, 30 + i, 1, 10, 1, 1, NULL);
        (void)snprintf(path, sizeof path, "layers.%u.steps", i);
        put_all(record, path, REC_DTYPE_I64, 40 + i, 3, 3, 4, 5, NULL);
    }
    put_all(record, "wide.weight", REC_DTYPE_F32, 50, 2, 1100, 1001, 1, NULL);
    put_all(record, "far.weight", REC_DTYPE_F32, 51, 2, 5, 9000, 1, NULL);
    put_all(record, "middle.weight", REC_DTYPE_F32, 52, 3, 4, 9, 700, NULL);
    put_all(record, "mask", REC_DTYPE_BOOL, 53, 2, 9, 3, 1, NULL);
    put_all(record, "one", REC_DTYPE_F32, 54, 0, 1, 1, 1, NULL);
    put_all(record, "none", REC_DTYPE_F32, 55, 2, 0, 4, 1, NULL);
    need(rec_set_uint(record, "epoch", 12) == REC_OK && rec_set_nil(record, "absent") == REC_OK &&
             rec_set_float(record, "rate", 0.25) == REC_OK && rec_set_empty(record, "empty", REC_KIND_LIST) == REC_OK &&
             rec_metadata_set(record, "author", "nobody") == REC_OK,
         "values");
    return record;
}

/* --------------------------------------------------------------------------------------------------------- placing */

static int ends(const char *path, const char *with)
{
    size_t length = strlen(path), end = strlen(with);
    return length >= end && strcmp(path + length - end, with) == 0;
}

static rec_status place(void *user, const char *path, const rec_tensor *tensor, rec_mpi_place *where)
{
    (void)user;
    if (rec_tensor_rank(tensor) < 2 && !ends(path, "bias")) {
        return REC_OK;
    }
    if (ends(path, "up.weight") || strcmp(path, "embed.weight") == 0) {
        where->how = REC_MPI_SPLIT;
    } else if (ends(path, "down.weight") || ends(path, "wide.weight") || ends(path, "far.weight") ||
               ends(path, "middle.weight") || ends(path, "mask")) {
        where->how = REC_MPI_SPLIT;
        where->dimension = 1;
    } else if (ends(path, "steps")) { /* two parts, each of which several ranks may have */
        where->how = REC_MPI_SPLIT;
        where->dimension = 2;
        where->parts = 2;
        where->part = ranks == 1 ? -1 : (ranks - rank) % 2;
    } else if (ends(path, "bias")) { /* of layer 0, 1, 2; of any other model, on some rank */
        where->how = REC_MPI_ONE;
        where->owner = path[strlen(path) > 7 ? 7 : 0] % ranks;
    }
    if (ranks == 1 && where->parts == 2) { /* one rank has one of them */
        where->parts = 1;
    }
    return REC_OK;
}

/* What a rank has, held against the whole. */
static void compare(const rec_record *share, const rec_record *whole, const rec_mpi_slices *slices)
{
    rec_iterator *iterator = rec_iterate(whole);
    const rec_tensor *tensor;
    const char *path;
    uint64_t count = 0;
    while ((tensor = rec_iterator_next_tensor(iterator, &path))) {
        const rec_value *value = rec_value_at(share, path);
        const rec_mpi_slice *slice = rec_mpi_slices_find(slices, path);
        const rec_tensor *part = rec_value_tensor(value);
        rec_mpi_place where = {.size = sizeof where, .part = -1};
        rec_dtype dtype = rec_tensor_dtype(tensor);
        uint32_t dimensions = rec_tensor_rank(tensor), width = width_of(dtype);
        const uint64_t *shape = rec_tensor_shape(tensor);
        uint64_t offset = 0, length, outer, inner, whole_length;
        uint8_t *all, *mine;
        count++;
        (void)place(NULL, path, tensor, &where);
        need(slice != NULL && slice->rank == dimensions && memcmp(slice->shape, shape, dimensions * sizeof *shape) == 0,
             path);
        need(strcmp(slice->path, path) == 0, "its path");
        if (where.how == REC_MPI_ONE && where.owner != rank) {
            need(!slice->held && slice->length == 0 && value && rec_value_kind(value) == REC_KIND_NIL &&
                     rec_value_form(value) == REC_FORM_NONE,
                 "what another rank has");
            continue;
        }
        where.parts = where.parts ? where.parts : ranks;
        where.part = where.part < 0 ? rank % where.parts : where.part;
        whole_length = dimensions ? shape[where.dimension] : 1;
        length =
            where.how == REC_MPI_SPLIT ? rec_mpi_part(whole_length, where.parts, where.part, &offset) : whole_length;
        need(slice->held && slice->dimension == where.dimension && slice->offset == offset && slice->length == length,
             "its line");
        need(part != NULL && rec_tensor_dtype(part) == dtype && rec_tensor_rank(part) == dimensions, "its part");
        need((rec_tensor_id(part) == NULL) == (rec_tensor_id(tensor) == NULL) &&
                 (!rec_tensor_id(part) || strcmp(rec_tensor_id(part), rec_tensor_id(tensor)) == 0),
             "its id");
        outer = product(shape, 0, where.dimension);
        inner = dimensions ? product(shape, where.dimension + 1, dimensions) : 1;
        need(rec_tensor_count(part) == outer * length * inner, "its elements");
        all = malloc((size_t)rec_tensor_count(tensor) * width + 1);
        mine = malloc((size_t)rec_tensor_count(part) * width + 1);
        need(all && mine, "memory");
        need(rec_tensor_read(tensor, dtype, 0, rec_tensor_count(tensor), all) == REC_OK, path);
        need(rec_tensor_read(part, dtype, 0, rec_tensor_count(part), mine) == REC_OK, path);
        for (uint64_t o = 0; o < outer; o++) {
            need(memcmp(mine + o * length * inner * width, all + (o * whole_length + offset) * inner * width,
                        (size_t)(length * inner * width)) == 0,
                 "its values");
        }
        free(all);
        free(mine);
    }
    need(rec_mpi_slices_count(slices) == count && rec_mpi_slices_get(slices, count) == NULL,
         "as many lines as tensors");
    rec_iterator_free(iterator);
}

/* The status that all have; the words are the same on all. */
static int told(rec_status status)
{
    char words[4096] = "";
    (void)snprintf(words, sizeof words, "%s", status == REC_OK ? "" : rec_mpi_error_message());
    (void)MPI_Bcast(words, (int)sizeof words, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (status != REC_OK && strcmp(words, rec_mpi_error_message()) != 0) {
        stop("other words than rank 0's", rec_mpi_error_message());
    }
    if (rank == 0) {
        printf("%s%s%s\n", rec_status_name(status), *words ? ": " : "", words);
    }
    return status == REC_OK ? 0 : 1;
}

static rec_record *share_of(const char *path, const char *precision, uint64_t broadcast, rec_mpi_slices **slices,
                            rec_status *status)
{
    const rec_mpi_options options = {.size = sizeof options, .broadcast = broadcast};
    rec_recorder *recorder = open_at("Auto", precision);
    rec_record *share;
    set_option(recorder);
    share = rec_mpi_load_share(MPI_COMM_WORLD, recorder, path, place, NULL, &options, slices, status);
    rec_close_recorder(recorder);
    return share;
}

/* share FILE PRECISION BROADCAST */
static int do_share(char **a)
{
    rec_mpi_slices *slices;
    rec_status status;
    rec_record *share = share_of(a[0], a[1], strtoull(a[2], NULL, 10), &slices, &status), *whole;
    if (share) {
        rec_recorder *recorder = open_at("Auto", a[1]);
        set_option(recorder);
        whole = rec_load(recorder, a[0]);
        need(whole != NULL, a[0]);
        rec_close_recorder(recorder);
        compare(share, whole, slices);
        rec_record_free(whole);
    }
    rec_mpi_slices_free(slices);
    rec_record_free(share);
    return told(status);
}

static rec_status save_share(const rec_record *record, const rec_mpi_slices *slices, const char *path,
                             const char *precision)
{
    rec_recorder *recorder = open_at("Auto", precision);
    rec_mpi_report report = {.size = sizeof report};
    rec_status status = rec_mpi_save_share(MPI_COMM_WORLD, recorder, record, slices, path, NULL, &report);
    need(status != REC_OK || rank > 0 || report.ranks == ranks || report.ranks == 1, "the report");
    rec_close_recorder(recorder);
    return status;
}

/* round IN PRECISION OUT PRECISION */
static int do_round(char **a)
{
    rec_mpi_slices *slices;
    rec_status status;
    rec_record *share = share_of(a[0], a[1], 0, &slices, &status);
    if (share) {
        status = save_share(share, slices, a[2], a[3]);
    }
    rec_record_free(share);
    rec_mpi_slices_free(slices);
    return told(status);
}

/* save IN PRECISION OUT PRECISION: by this process alone */
static int do_save(char **a)
{
    rec_recorder *from = open_at("Auto", a[1]), *to = open_at("Auto", a[3]);
    rec_record *record;
    set_option(from);
    record = rec_load(from, a[0]);
    need(record != NULL, a[0]);
    need(rec_save(to, record, a[2]) == REC_OK, a[2]);
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return 0;
}

/* make OUT: by this process alone */
static int do_make(char **a)
{
    rec_recorder *recorder = open_at("Auto", "keep");
    rec_record *record = model();
    need(rec_save(recorder, record, a[0]) == REC_OK, a[0]);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return 0;
}

/* ----------------------------------------------------------------------------------------------- records that are
 * built */

static void hold(rec_mpi_slices *slices, const char *path, uint32_t dimensions, const uint64_t *shape, uint32_t d,
                 uint64_t offset, uint64_t length)
{
    const rec_mpi_slice slice = {.size = sizeof slice,
                                 .rank = dimensions,
                                 .path = path,
                                 .shape = shape,
                                 .dimension = d,
                                 .held = 1,
                                 .offset = offset,
                                 .length = length};
    need(rec_mpi_slices_add(slices, &slice) == REC_OK, rec_mpi_error_message());
}

/* What two parts along each of two dimensions, a pipeline of two stages and copies on several ranks come to. With
 * `whole` all of it. */
static rec_record *built(rec_mpi_slices *slices, int whole)
{
    static const uint64_t shape[] = {6, 5};
    rec_record *record = rec_record_new(NULL);
    uint64_t offset = 0, length = 6;
    need(record != NULL, "a record");
    if (whole || rank == 0) {
        need(rec_set_string(record, "name", "built") == REC_OK, "name");
        need(rec_metadata_set(record, "author", "rank 0") == REC_OK, "author");
    }
    if (!whole) {
        length = rec_mpi_part(6, ranks, rank, &offset);
        hold(slices, "tied", 2, shape, 0, offset, length);
    }
    put(record, "tied", REC_DTYPE_F32, 1, 2, shape, 0, offset, length, rank == 0 ? "g9n520gj4a05s" : "u7g08igr9iuj4");
    /* A stage of layers for each rank: the others' are nil values. */
    for (int i = 0; i < 4; i++) {
        char path[32];
        if (whole || i % ranks == rank) {
            (void)snprintf(path, sizeof path, "layers.%d.weight", i);
            put_all(record, path, REC_DTYPE_F16, 2 + (uint64_t)i, 2, 4, 3, 1, NULL);
            (void)snprintf(path, sizeof path, "layers.%d.step", i);
            need(rec_set_uint(record, path, 100 + (uint64_t)i) == REC_OK, path);
        } else {
            (void)snprintf(path, sizeof path, "layers.%d", i);
            need(rec_set_nil(record, path) == REC_OK, path);
        }
    }
    if (whole || rank == ranks - 1) {
        put_all(record, "head.weight", REC_DTYPE_F32, 9, 2, 3, 3, 1, NULL);
        need(rec_set_bool(record, "head.done", 1) == REC_OK, "done");
        need(rec_metadata_set(record, "editor", "the last") == REC_OK, "editor");
    }
    need(rec_set_int(record, "seed", -7) == REC_OK, "seed");
    return record;
}

/* As rank 0 has it in its order, then the others. */
static int do_built(char **a)
{
    rec_mpi_slices *slices = rec_mpi_slices_new();
    rec_record *record = built(slices, 0);
    rec_status status = save_share(record, slices, a[0], "keep");
    rec_record_free(record);
    rec_mpi_slices_free(slices);
    return told(status);
}

static int do_whole(char **a)
{
    rec_recorder *recorder = open_at("Auto", "keep");
    rec_record *record = built(NULL, 1), *ordered = rec_record_new(NULL);
    /* `head` is the last rank's, which rank 0 has not if there are more. */
    static const char *const one[] = {"name", "tied", "layers", "head", "seed"}, *const more[] = {"name", "tied",
                                                                                                  "layers", "seed",
                                                                                                  "head"};
    for (int i = 0; i < 5; i++) {
        const char *key = (a[1][0] == '1' ? one : more)[i];
        need(rec_set_value(ordered, key, rec_value_at(record, key)) == REC_OK, key);
    }
    need(rec_metadata_set(ordered, "author", "rank 0") == REC_OK &&
             rec_metadata_set(ordered, "editor", "the last") == REC_OK,
         "metadata");
    need(rec_save(recorder, ordered, a[0]) == REC_OK, a[0]);
    rec_record_free(ordered);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- what is
 * refused */

static int32_t produce_nothing(void *user, uint64_t offset, void *target, uint64_t size)
{
    (void)user;
    (void)offset;
    (void)target;
    (void)size;
    return 5; /* EIO */
}

static void *scarce_alloc(void *user, size_t size)
{
    return *(int *)user ? NULL : malloc(size);
}

static void *scarce_resize(void *user, void *old, size_t size)
{
    return *(int *)user ? NULL : realloc(old, size);
}

static void scarce_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* saving CASE OUT: what rank 1 has does not go with what rank 0 has */
static int do_saving(char **a)
{
    static const uint64_t shape[] = {4, 6}, other[] = {4, 7};
    static int scarce;
    const rec_allocator allocator = {.size = sizeof allocator,
                                     .alloc = scarce_alloc,
                                     .resize = scarce_resize,
                                     .release = scarce_release,
                                     .user = &scarce};
    rec_context *context = rec_context_new(&allocator);
    rec_mpi_slices *slices = rec_mpi_slices_new();
    rec_record *record = rec_record_new(context);
    const char *c = a[0];
    uint64_t half = 3, from = rank ? 3 : 0;
    int apart = rank == 1;
    rec_status status;
    const uint64_t *s = apart && strcmp(c, "shape") == 0 ? other : shape;
    rec_dtype dtype = apart && strcmp(c, "type") == 0 ? REC_DTYPE_F16 : REC_DTYPE_F32;
    uint32_t d = apart && strcmp(c, "dimension") == 0 ? 0 : 1;
    if (apart && strcmp(c, "overlap") == 0) {
        from = 2;
        half = 4;
    } else if (apart && strcmp(c, "hole") == 0) {
        from = 4;
        half = 2;
    } else if (apart && strcmp(c, "dimension") == 0) {
        from = 1;
    }
    if (strcmp(c, "nobody") == 0) {
        const rec_mpi_slice none = {.size = sizeof none, .rank = 2, .path = "w", .shape = shape};
        need(rec_mpi_slices_add(slices, &none) == REC_OK && rec_set_nil(record, "w") == REC_OK, "w");
    } else {
        if (apart && strcmp(c, "slice") == 0) {
            half = 2;
        }
        if (apart && strcmp(c, "unread") == 0) {
            uint64_t local[] = {4, 3};
            const rec_tensor_spec spec = {.size = sizeof spec,
                                          .dtype = dtype,
                                          .rank = 2,
                                          .ownership = REC_PRODUCE,
                                          .shape = local,
                                          .data_size = 48,
                                          .produce = produce_nothing};
            need(rec_set_tensor(record, "w", &spec) == REC_OK, "w");
        } else {
            put(record, "w", dtype, 1, 2, s, d, from, half, NULL);
        }
        if (apart && strcmp(c, "slice") == 0) {
            half = 3;
        }
        hold(slices, "w", 2, s, d, from, half);
    }
    if (strcmp(c, "gone") == 0 && apart) {
        hold(slices, "gone", 2, shape, 0, 0, 4);
    }
    need(rec_set_uint(record, "step", apart && strcmp(c, "scalar") == 0 ? 2 : 1) == REC_OK, "step");
    if (apart && strcmp(c, "kind") == 0) {
        need(rec_remove(record, "w") == REC_OK && rec_set_uint(record, "w", 3) == REC_OK, "w");
        rec_mpi_slices_free(slices);
        slices = rec_mpi_slices_new();
    }
    if (strcmp(c, "structure") == 0) {
        need(apart ? rec_set_uint(record, "step", 1) == REC_OK && rec_set_uint(record, "a.b", 1) == REC_OK
                   : rec_set_uint(record, "a", 1) == REC_OK,
             "a");
    }
    if (strcmp(c, "metadata") == 0) {
        need(rec_metadata_set(record, "author", apart ? "B" : "A") == REC_OK, "author");
    }
    scarce = apart && strcmp(c, "memory") == 0;
    status = save_share(record, slices, a[1], "keep");
    scarce = 0;
    rec_record_free(record);
    rec_context_free(context);
    rec_mpi_slices_free(slices);
    return told(status);
}

static rec_status place_badly(void *user, const char *path, const rec_tensor *tensor, rec_mpi_place *where)
{
    const char *c = user;
    if (strcmp(path, "wide.weight") != 0) {
        return place(NULL, path, tensor, where);
    }
    where->how = REC_MPI_SPLIT;
    if (strcmp(c, "apart") == 0) {
        where->dimension = rank == 1;
    } else if (strcmp(c, "parts") == 0) {
        where->parts = 2;
        where->part = 2;
    } else if (strcmp(c, "dimension") == 0) {
        where->dimension = 2;
    } else if (strcmp(c, "owner") == 0) {
        where->how = REC_MPI_ONE;
        where->owner = ranks;
    } else if (strcmp(c, "how") == 0) {
        where->how = 9;
    } else if (strcmp(c, "function") == 0) {
        return rank == 1 ? REC_E_CANCELLED : REC_OK;
    }
    return REC_OK;
}

static rec_status split_first(void *user, const char *path, const rec_tensor *tensor, rec_mpi_place *where)
{
    (void)user;
    (void)path;
    (void)tensor;
    where->how = REC_MPI_SPLIT;
    return REC_OK;
}

/* placing CASE IN */
static int do_placing(char **a)
{
    rec_recorder *recorder = open_at("Auto", "keep");
    rec_mpi_slices *slices;
    rec_status status;
    rec_record *share =
        rec_mpi_load_share(MPI_COMM_WORLD, recorder, a[1], strcmp(a[0], "split") == 0 ? split_first : place_badly, a[0],
                           NULL, &slices, &status);
    need((share != NULL) == (status == REC_OK) && (slices != NULL) == (share != NULL), "all or nothing");
    rec_mpi_slices_free(slices);
    rec_record_free(share);
    rec_close_recorder(recorder);
    return told(status);
}

/* keys IN OUT: of a record that was loaded one rank lacks a key */
static int do_keys(char **a)
{
    rec_mpi_slices *slices;
    rec_status status;
    rec_record *share = share_of(a[0], "keep", 0, &slices, &status);
    need(share != NULL, a[0]);
    if (rank == 1) {
        need(rec_remove(share, "epoch") == REC_OK, "epoch");
    }
    status = save_share(share, slices, a[1], "keep");
    rec_record_free(share);
    rec_mpi_slices_free(slices);
    return told(status);
}

/* arguments: what makes no sense, with no more than words */
static int do_arguments(char **a)
{
    rec_recorder *recorder = open_at("NamedMpk", "keep");
    rec_mpi_slices *slices = rec_mpi_slices_new();
    static const uint64_t shape[] = {4};
    const rec_mpi_slice bad[] = {
        {.size = 8, .path = "w"},
        {.size = sizeof *bad, .path = "w", .rank = 1, .shape = shape, .dimension = 1},
        {.size = sizeof *bad, .path = "w", .rank = 1, .shape = shape, .offset = 3, .length = 2},
        {.size = sizeof *bad, .path = "w", .rank = 1, .shape = shape, .offset = 5},
        {.size = sizeof *bad, .path = "w", .rank = 33, .shape = shape},
        {.size = sizeof *bad, .path = "w", .rank = 1},
        {.size = sizeof *bad, .rank = 1, .shape = shape},
        {.size = sizeof *bad, .path = "w", .held = 2}};
    uint64_t offset = 9, sum = 0;
    rec_status status = REC_OK;
    (void)a;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        need(rec_mpi_slices_add(slices, &bad[i]) == REC_E_ARGUMENT &&
                 strstr(rec_mpi_error_message(), "an invalid slice"),
             "a slice");
    }
    need(rec_mpi_slices_add(NULL, &bad[0]) == REC_E_ARGUMENT && rec_mpi_slices_add(slices, NULL) == REC_E_ARGUMENT,
         "NULL");
    need(rec_mpi_slices_count(slices) == 0 && rec_mpi_slices_count(NULL) == 0 && !rec_mpi_slices_get(NULL, 0) &&
             !rec_mpi_slices_find(slices, "w") && !rec_mpi_slices_find(slices, NULL),
         "an empty table");
    hold(slices, "w", 1, shape, 0, 0, 4);
    hold(slices, "w", 1, shape, 0, 1, 2);
    need(rec_mpi_slices_count(slices) == 1 && rec_mpi_slices_find(slices, "w")->offset == 1, "in its place");
    need(rec_mpi_slices_add(slices, rec_mpi_slices_get(slices, 0)) == REC_OK, "itself");
    rec_mpi_slices_free(slices);
    rec_mpi_slices_free(NULL);
    for (int i = 0; i < 7; i++) {
        sum += rec_mpi_part(23, 7, i, &offset);
    }
    need(sum == 23 && offset == 19 && rec_mpi_part(23, 7, 7, &offset) == 0 && rec_mpi_part(23, 7, -1, NULL) == 0,
         "parts");
    need(rec_mpi_part(UINT64_MAX, 3, 2, &offset) == UINT64_MAX / 3 && offset == UINT64_MAX / 3 * 2, "a long one");
    need(!rec_mpi_load(MPI_COMM_WORLD, rank ? NULL : recorder, "x", &status) && status == REC_E_ARGUMENT,
         "no recorder");
    (void)told(status);
    need(!rec_mpi_share(MPI_COMM_WORLD, NULL, NULL, NULL, NULL, NULL, &status) && status == REC_E_ARGUMENT,
         "no record");
    (void)told(status);
    (void)told(rec_mpi_save_share(MPI_COMM_WORLD, recorder, NULL, NULL, "x", NULL, NULL));
    (void)told(rec_mpi_convert(MPI_COMM_WORLD, recorder, "", recorder, "x", NULL, NULL));
    rec_close_recorder(recorder);
    return 0;
}

/* again FILE: loaded, saved over itself in another size, and loaded by all and by each */
static int do_again(char **a)
{
    rec_mpi_slices *slices;
    rec_status status;
    rec_record *share = share_of(a[0], "keep", 0, &slices, &status);
    rec_recorder *recorder = open_at("Auto", "keep");
    need(share != NULL, rec_mpi_error_message());
    need(rec_metadata_set(share, "seen", "again") == REC_OK, "seen");
    need(save_share(share, slices, a[0], "half") == REC_OK, rec_mpi_error_message());
    rec_mpi_slices_free(slices);
    rec_record_free(share);
    share = rec_load(recorder, a[0]);
    need(share != NULL, "loaded by each");
    need(rec_tensor_dtype(rec_tensor_at(share, "wide.weight")) == REC_DTYPE_F16, "the new one");
    rec_record_free(share);
    share = share_of(a[0], "keep", 0, &slices, &status);
    need(share != NULL, rec_mpi_error_message());
    need(rec_tensor_dtype(rec_tensor_at(share, "wide.weight")) == REC_DTYPE_F16, "the new one");
    rec_mpi_slices_free(slices);
    rec_record_free(share);
    rec_close_recorder(recorder);
    return told(REC_OK);
}

/* convert IN PRECISION OUT PRECISION; one: by this process alone */
static int do_convert(char **a)
{
    rec_recorder *from = open_at("Auto", a[1]), *to = open_at("Auto", a[3]);
    rec_mpi_report report = {.size = sizeof report};
    rec_status status = rec_mpi_convert(MPI_COMM_WORLD, from, a[0], to, a[2], NULL, &report);
    need(status != REC_OK || rank > 0 || ((report.ranks == ranks || report.ranks == 1) && report.bytes > 0),
         "the report");
    rec_close_recorder(from);
    rec_close_recorder(to);
    return told(status);
}

static int do_one(char **a)
{
    rec_recorder *from = open_at("Auto", a[1]), *to = open_at("Auto", a[3]);
    need(rec_convert(from, a[0], to, a[2], NULL) == REC_OK, a[2]);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int count;
        int (*run)(char **arguments);
    } all[] = {{"make", 1, do_make},       {"save", 4, do_save},       {"share", 3, do_share},
               {"round", 4, do_round},     {"built", 1, do_built},     {"whole", 2, do_whole},
               {"saving", 2, do_saving},   {"placing", 2, do_placing}, {"keys", 2, do_keys},
               {"convert", 4, do_convert}, {"one", 4, do_one},         {"arguments", 0, do_arguments},
               {"again", 1, do_again}};
    int status = 2, provided;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        return 2;
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
        if (strcmp(argv[1], all[i].name) == 0 && argc == all[i].count + 2) {
            status = all[i].run(argv + 2);
        }
    }
    (void)MPI_Finalize();
    return status;
}
