/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files larger than memory, read tensor by tensor: pages that were read are given back, and nothing is lost by that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <librecord.h>

#include "tests/sanitized.h"
#include "tests/scratch.h"
#include "tests/sparse.h"

enum { MIB = 1 << 20, KIB = 1 << 10 };

static void good(rec_status status)
{
    if (status != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
}

/* ------------------------------------------------------------------------------------------------------- files -- */

/* A file of `count` tensors "t.N", each of `each` bytes of u8, sparse but for the first byte of each, which is N & 255.
 * @return its path, to be freed. */
static char *write_sparse(const scratch *s, const char *name, unsigned count, uint64_t each)
{
    char *path = scratch_path(s, name), *header = malloc(64 + (size_t)count * 96);
    FILE *file = fopen(path, "wb");
    size_t length = 1;
    assert_non_null(header);
    assert_non_null(file);
    header[0] = '{';
    for (unsigned i = 0; i < count; i++) {
        length += (size_t)sprintf(header + length,
                                  "%s\"t.%u\":{\"dtype\":\"U8\",\"shape\":[%llu],\"data_offsets\":[%llu,%llu]}",
                                  i ? "," : "", i, (unsigned long long)each, (unsigned long long)(i * each),
                                  (unsigned long long)((i + 1) * each));
    }
    header[length++] = '}';
    for (unsigned i = 0; i < 8; i++) {
        assert_int_not_equal(fputc((int)((uint64_t)length >> (8 * i) & 255), file), EOF);
    }
    assert_int_equal(fwrite(header, 1, length, file), length);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(fseeko(file, (off_t)(8 + length + i * each), SEEK_SET), 0);
        assert_int_not_equal(fputc((int)(i & 255), file), EOF);
    }
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (off_t)(8 + length + count * each)), 0);
    assert_int_equal(fclose(file), 0);
    free(header);
    return path;
}

/* -------------------------------------------------------------------------------------------- pages given back -- */

/* What of files is in memory, in KiB. */
static long resident_of_files(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    long kib = -1;
    assert_non_null(status);
    while (kib < 0 && fgets(line, sizeof line, status)) {
        if (strncmp(line, "RssFile:", 8) == 0) {
            kib = strtol(line + 8, NULL, 10);
        }
    }
    (void)fclose(status);
    assert_true(kib >= 0);
    return kib;
}

/* Reads all tensors of a file in pieces. @param every tensors between two
 * looks at what is resident. @return the most that was, in KiB, beyond what was before. */
static long read_through(rec_record *record, uint64_t piece, unsigned every, bool release)
{
    rec_iterator *iterator = rec_iterate(record);
    uint8_t *target = malloc((size_t)piece);
    const rec_tensor *tensor;
    unsigned number = 0;
    long before, most;
    assert_non_null(iterator);
    assert_non_null(target);
    memset(target, 1, (size_t)piece);
    before = most = resident_of_files();
    while ((tensor = rec_iterator_next_tensor(iterator, NULL)) != NULL) {
        uint64_t count = rec_tensor_count(tensor);
        for (uint64_t at = 0; at < count; at += piece) {
            uint64_t n = count - at < piece ? count - at : piece;
            good(rec_tensor_read(tensor, REC_DTYPE_U8, at, n, target));
            assert_int_equal(target[0], at ? 0 : number & 255);
            if (release) {
                rec_tensor_release(tensor, at, n);
            }
            if (every == 1 || number % every == 0) {
                long now = resident_of_files();
                most = now > most ? now : most;
            }
        }
        number++;
    }
    rec_iterator_free(iterator);
    free(target);
    return most - before;
}

static rec_recorder *opened(const char *map)
{
    rec_recorder *r = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    assert_non_null(r);
    good(rec_recorder_set(r, "map", map));
    good(rec_recorder_set(r, "adapter", "none"));
    return r;
}

static void what_was_read_of_a_map_does_not_stay(void **state)
{
    /* Large tensors, one that is read in pieces, and more small ones than pages that bring their neighbours. */
    static const struct {
        unsigned count, every;
        uint64_t each, piece;
    } files[] = {{24, 1, 4 * MIB, 4 * MIB}, {1, 1, 96 * MIB, 4 * MIB}, {12000, 50, 8 * KIB - 3, MIB}};
    scratch *s = scratch_new();
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i += sparsely()) {
        char *path = write_sparse(s, "a.safetensors", files[i].count, files[i].each);
        rec_recorder *r = opened("yes");
        rec_record *record = rec_load(r, path);
        long released, kept;
        assert_non_null(record);
        assert_true(rec_record_origin(record)->mapped);
        released = read_through(record, files[i].piece, files[i].every, true);
        kept = read_through(record, files[i].piece, files[i].every, false);
        if (released >= 10 * KIB || kept < 80 * KIB) {
            fail_msg("file %zu: %ld KiB were resident, and %ld where nothing was given back", i, released, kept);
        }
        rec_record_free(record);
        rec_close_recorder(r);
        free(path);
    }
    scratch_free(s);
}

/* What a pipe brought is in a temporary file. */
static void nor_what_came_by_a_pipe(void **state)
{
    scratch *s = scratch_new();
    char *path = write_sparse(s, "a.safetensors", 12, 8 * MIB), command[700];
    rec_recorder *r = opened("yes");
    rec_record *record;
    FILE *pipe;
    (void)state;
    (void)snprintf(command, sizeof command, "cat '%s'", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    record = rec_load_fd(r, fileno(pipe), "a pipe");
    assert_int_equal(pclose(pipe), 0);
    assert_non_null(record);
    assert_false(rec_record_origin(record)->mapped);
    assert_true(read_through(record, 8 * MIB, 1, true) < 16 * KIB);
    rec_record_free(record);
    rec_close_recorder(r);
    free(path);
    scratch_free(s);
}

/* A member of an archive is read from the archive's map by a source of the plugin's. */
static void nor_a_member_of_an_archive(void **state)
{
    scratch *s = scratch_new();
    char *path = write_sparse(s, "a.safetensors", 24, 4 * MIB), *out = scratch_path(s, "a.npz");
    rec_recorder *r = opened("yes"), *to = rec_open_recorder("Npz", REC_PRECISION_KEEP);
    rec_record *record = rec_load(r, path);
    (void)state;
    assert_non_null(record);
    assert_non_null(to);
    good(rec_recorder_set(to, "sync", "no"));
    good(rec_save(to, record, out));
    rec_record_free(record);
    record = rec_load(r, out);
    assert_non_null(record);
    assert_true(read_through(record, 4 * MIB, 1, true) < 16 * KIB);
    rec_record_free(record);
    rec_close_recorder(to);
    rec_close_recorder(r);
    free(out);
    free(path);
    scratch_free(s);
}

/* Bytes that are nowhere else must stay, and so must the last error. */
static void memory_is_left_alone(void **state)
{
    scratch *s = scratch_new();
    char *path = write_sparse(s, "a.safetensors", 2, 8 * MIB);
    rec_record *loaded[3], *built = rec_record_new(NULL);
    rec_recorder *mapped = opened("yes"), *copied = opened("no");
    uint64_t shape = 2 * MIB, size = 0;
    float *numbers = calloc(2 * MIB, sizeof *numbers);
    FILE *file = fopen(path, "rb");
    uint8_t *whole = malloc(17 * MIB);
    const rec_tensor *tensor;
    (void)state;
    assert_true(built && numbers && file && whole);
    size = fread(whole, 1, 17 * MIB, file);
    (void)fclose(file);
    loaded[0] = rec_load(mapped, path);
    loaded[1] = rec_load(copied, path);
    loaded[2] = rec_load_bytes(mapped, whole, size);
    for (size_t i = 0; i < 3; i++) {
        const uint8_t *bytes;
        assert_non_null(loaded[i]);
        tensor = rec_tensor_at(loaded[i], "t.1");
        bytes = rec_tensor_bytes(tensor, NULL);
        assert_non_null(bytes);
        assert_int_equal(bytes[0], 1);
        rec_tensor_release(tensor, 0, REC_UNKNOWN);
        assert_int_equal(bytes[0], 1);
        rec_tensor_release(tensor, 8 * MIB, 1);
        rec_tensor_release(tensor, UINT64_MAX, UINT64_MAX);
        rec_tensor_release(tensor, 8 * MIB - 1, UINT64_MAX);
        rec_tensor_release(tensor, 3, 0);
        assert_int_equal(bytes[0], 1);
        assert_ptr_equal(rec_tensor_bytes(tensor, NULL), bytes);
    }
    numbers[5] = 5;
    good(rec_set_f32(built, "w", numbers, 1, &shape));
    tensor = rec_tensor_at(built, "w");
    rec_tensor_release(tensor, 0, REC_UNKNOWN);
    assert_true(rec_tensor_f32(tensor)[5] == 5);
    assert_null(rec_tensor_at(built, "v"));
    rec_tensor_release(NULL, 0, 1);
    rec_tensor_release(tensor, 0, 1);
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    for (size_t i = 0; i < 3; i++) {
        rec_record_free(loaded[i]);
    }
    rec_record_free(built);
    rec_close_recorder(mapped);
    rec_close_recorder(copied);
    free(whole);
    free(numbers);
    free(path);
    scratch_free(s);
}

static void *read_and_release(void *user)
{
    uint8_t *target = malloc(MIB);
    rec_iterator *iterator = rec_iterate(user);
    const rec_tensor *tensor;
    unsigned number = 0;
    bool right = target && iterator;
    while (right && (tensor = rec_iterator_next_tensor(iterator, NULL)) != NULL) {
        uint64_t count = rec_tensor_count(tensor);
        for (uint64_t at = 0; at < count && right; at += MIB) {
            right = rec_tensor_read(tensor, REC_DTYPE_U8, at, MIB, target) == REC_OK && target[1] == 0 &&
                    target[0] == (at ? 0 : number & 255);
            rec_tensor_release(tensor, at, MIB);
        }
        number++;
    }
    rec_iterator_free(iterator);
    free(target);
    return right ? user : NULL;
}

static void threads_do_not_mind(void **state)
{
    scratch *s = scratch_new();
    char *path = write_sparse(s, "a.safetensors", 8, 4 * MIB);
    rec_recorder *r = opened("yes");
    rec_record *record = rec_load(r, path);
    pthread_t threads[3];
    (void)state;
    assert_non_null(record);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_and_release, record), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
    }
    rec_record_free(record);
    rec_close_recorder(r);
    free(path);
    scratch_free(s);
}

/* --------------------------------------------------------------------------------------------- temporary files -- */

/* What is in memory, in KiB, of files and all else. */
static long resident(void)
{
    FILE *status = fopen("/proc/self/statm", "r");
    long whole = 0, kib = 0;
    assert_non_null(status);
    assert_int_equal(fscanf(status, "%ld %ld", &whole, &kib), 2);
    (void)fclose(status);
    return kib * (sysconf(_SC_PAGESIZE) / KIB);
}

static long most_resident;

static int32_t look_at_resident(void *user, const rec_progress *progress)
{
    long now = resident();
    (void)user;
    (void)progress;
    most_resident = now > most_resident ? now : most_resident;
    return 0;
}

static rec_recorder *opened_in(rec_context *context, const char *name)
{
    rec_recorder *r = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    if (!r) {
        fail_msg("%s", rec_error_message());
    }
    return r;
}

/* Saves what a sparse file holds under another name. @return its path, to be freed. */
static char *write_as(const scratch *s, const char *name, const char *recorder, unsigned count, uint64_t each)
{
    char *path = write_sparse(s, "in.safetensors", count, each), *out = scratch_path(s, name);
    rec_recorder *from = opened("yes"), *to = opened_in(NULL, recorder);
    good(rec_recorder_set(to, "sync", "no"));
    good(rec_convert(from, path, to, out, NULL));
    rec_close_recorder(from);
    rec_close_recorder(to);
    assert_int_equal(unlink(path), 0);
    free(path);
    return out;
}

static void what_is_inflated_may_go_to_a_file(void **state)
{
    static const struct {
        const char *name, *recorder;
        unsigned count;
        uint64_t each;
    } files[] = {
        {"a.mpk.gz", "NamedMpkGz", 12, 8 * MIB},
        {"b.mpk.gz", "NamedMpkGz", 6000, 16 * KIB},
        {"a.safetensors.gz", "Safetensors.gzip", 12, 8 * MIB},
        {"a.json.gz", "JsonGz", 24, MIB},
        {"a.json", "PrettyJson", 24, MIB},
    };
    scratch *s = scratch_new();
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i += sparsely()) {
        char *path = write_as(s, files[i].name, files[i].recorder, files[i].count, files[i].each);
        rec_context *context = rec_context_new(NULL);
        rec_recorder *r;
        rec_record *record;
        long before, loaded;
        assert_non_null(context);
        good(rec_context_set_spill(context, MIB));
        rec_context_set_progress(context, look_at_resident, NULL);
        r = opened_in(context, files[i].recorder);
        before = most_resident = resident();
        record = rec_load(r, path);
        if (!record) {
            fail_msg("%s: %s", path, rec_error_message());
        }
        (void)look_at_resident(NULL, NULL);
        loaded = most_resident - before;
        if (loaded > 20 * KIB || read_through(record, 8 * MIB, files[i].count > 100 ? 100 : 1, true) > 16 * KIB) {
            fail_msg("%s: %ld KiB were resident while it was loaded, %ld of files", path, loaded, resident_of_files());
        }
        rec_record_free(record);
        rec_close_recorder(r);
        rec_context_free(context);
        free(path);
    }
    scratch_free(s);
}

static void a_temporary_file_that_cannot_be_is_told(void **state)
{
    scratch *s = scratch_new();
    char *path = write_as(s, "a.mpk.gz", "NamedMpkGz", 2, 8 * MIB), *old = getenv("TMPDIR");
    struct rlimit most, before;
    rec_context *context = rec_context_new(NULL);
    rec_recorder *r;
    (void)state;
    assert_non_null(context);
    good(rec_context_set_spill(context, 0));
    r = opened_in(context, "Auto");
    old = old ? strdup(old) : NULL;
    assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
    assert_null(rec_load(r, path));
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    assert_non_null(strstr(rec_error_message(), "/nowhere/at/all"));
    assert_non_null(strstr(rec_error_message(), "TMPDIR"));
    if (old) {
        assert_int_equal(setenv("TMPDIR", old, 1), 0);
    } else {
        assert_int_equal(unsetenv("TMPDIR"), 0);
    }
    /* As on a disk that is full. */
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    most = (struct rlimit){.rlim_cur = 9 * MIB, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);
    assert_null(rec_load(r, path));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rec_error_status(), REC_E_IO);
    if (rec_error_errno() != EFBIG) {
        fail_msg("%s", rec_error_message());
    }
    assert_non_null(strstr(rec_error_message(), "write to a temporary file"));
    assert_non_null(strstr(rec_error_hint(), "TMPDIR"));
    rec_close_recorder(r);
    rec_context_free(context);
    free(old);
    free(path);
    scratch_free(s);
}

/* ----------------------------------------------------------------------------------------------- headers alone -- */

static rec_record *load_headers(rec_context *context, const char *path, int fd)
{
    rec_recorder *r = opened_in(context, "Auto");
    rec_record *record;
    good(rec_recorder_set(r, "adapter", "none"));
    good(rec_recorder_set(r, "data", "skip"));
    record = fd < 0 ? rec_load(r, path) : rec_load_fd(r, fd, path);
    rec_close_recorder(r);
    return record;
}

static rec_record *through_a_pipe(rec_context *context, const char *path)
{
    char command[700];
    FILE *pipe;
    rec_record *record;
    (void)snprintf(command, sizeof command, "cat '%s' 2>/dev/null", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    record = load_headers(context, path, fileno(pipe));
    (void)pclose(pipe); /* cat may have been stopped */
    return record;
}

/* A record with what files have beside tensors of some size. */
static rec_record *some_record(void)
{
    static const float numbers[5000] = {1, 2, 3};
    const uint64_t large[] = {50, 100}, small[] = {3}, none[] = {0, 4};
    rec_record *record = rec_record_new(NULL);
    uint8_t bytes[2] = {1, 0};
    const uint64_t two[] = {2};
    const rec_tensor_spec bools = {.size = sizeof bools,
                                   .dtype = REC_DTYPE_BOOL,
                                   .rank = 1,
                                   .shape = two,
                                   .data = bytes,
                                   .data_size = 2,
                                   .id = ""};
    assert_non_null(record);
    good(rec_set_f32(record, "layers.0.weight", numbers, 2, large));
    good(rec_set_f32(record, "layers.0.bias", numbers, 1, small));
    good(rec_set_f32(record, "layers.1.weight", numbers, 2, large));
    good(rec_set_f32(record, "empty", numbers, 2, none));
    good(rec_set_tensor(record, "mask", &bools));
    return record;
}

static void assert_same_headers(const char *what, const rec_record *whole, const rec_record *headers)
{
    rec_iterator *a = rec_iterate(whole), *b = rec_iterate(headers);
    const char *x, *y;
    const rec_tensor *t;
    assert_int_equal(rec_metadata_count(whole), rec_metadata_count(headers));
    while ((t = rec_iterator_next_tensor(a, &x)) != NULL) {
        const rec_tensor *u = rec_iterator_next_tensor(b, &y);
        uint8_t one[8];
        if (!u || strcmp(x, y) != 0 || rec_tensor_dtype(t) != rec_tensor_dtype(u) ||
            rec_tensor_nbytes(t) != rec_tensor_nbytes(u) || rec_tensor_rank(t) != rec_tensor_rank(u) ||
            memcmp(rec_tensor_shape(t), rec_tensor_shape(u), rec_tensor_rank(t) * sizeof(uint64_t)) != 0 ||
            !rec_tensor_id(t) != !rec_tensor_id(u) ||
            (rec_tensor_id(t) && strcmp(rec_tensor_id(t), rec_tensor_id(u)) != 0)) {
            fail_msg("%s: %s is not as it is in the whole", what, x);
        }
        if (rec_tensor_count(t)) {
            assert_null(rec_tensor_bytes(u, NULL));
            assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
            assert_non_null(strstr(rec_error_message(), "data = skip"));
            assert_int_equal(rec_tensor_read(u, rec_tensor_dtype(u), 0, 1, one), REC_E_ARGUMENT);
        }
        rec_tensor_release(u, 0, REC_UNKNOWN);
    }
    assert_null(rec_iterator_next_tensor(b, NULL));
    rec_iterator_free(a);
    rec_iterator_free(b);
}

static void headers_are_those_of_the_whole(void **state)
{
    static const struct {
        const char *name, *recorder, *layout;
    } files[] = {
        {"a.mpk", "NamedMpk", NULL},
        {"a.mpk.gz", "NamedMpkGz", NULL},
        {"b.mpk.gz", "NamedMpkGz", "burn-0.13"},
        {"a.json", "PrettyJson", NULL},
        {"a.json.gz", "JsonGz", NULL},
        {"b.json", "PrettyJson", "burn-0.13"},
        {"a.safetensors", "Safetensors", NULL},
        {"a.safetensors.gz", "Safetensors.gzip", NULL},
        {"a.bpk", "Burnpack", NULL},
        {"a.bpk.gz", "Burnpack.gzip", NULL},
        {"a.npz", "Npz", NULL},
        {"a.npz.gz", "Npz.gzip", NULL},
        {"a.pt", "PyTorch", NULL},
        {"a.pt.gz", "PyTorch.gzip", NULL},
        {"a.gguf", "Gguf", NULL},
        {"a.gguf.gz", "Gguf.gzip", NULL},
    };
    scratch *s = scratch_new();
    rec_context *spills = rec_context_new(NULL);
    rec_record *record = some_record();
    (void)state;
    assert_non_null(spills);
    good(rec_context_set_spill(spills, 0));
    for (size_t i = 0; i < sizeof files / sizeof *files; i += sparsely()) {
        char *path = scratch_path(s, files[i].name);
        rec_recorder *to = opened_in(NULL, files[i].recorder);
        rec_record *whole, *some;
        good(rec_recorder_set(to, "sync", "no"));
        if (strncmp(files[i].recorder, "Gguf", 4) == 0 && rec_value_at(record, "mask")) {
            good(rec_remove(record, "mask")); /* it has no bools */
        }
        if (files[i].layout) {
            good(rec_recorder_set(to, "layout", files[i].layout));
        }
        if (rec_save(to, record, path) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        rec_close_recorder(to);
        to = opened("yes");
        whole = rec_load(to, path);
        rec_close_recorder(to);
        assert_non_null(whole);
        for (int way = 0; way < 3; way++) {
            some = way == 1 ? through_a_pipe(NULL, path) : load_headers(way ? spills : NULL, path, -1);
            if (!some) {
                fail_msg("%s, way %d: %s", files[i].name, way, rec_error_message());
            }
            assert_same_headers(files[i].name, whole, some);
            if (way == 0) {
                assert_int_equal(rec_record_origin(some)->mapped, rec_record_origin(whole)->mapped);
            }
            rec_record_free(some);
        }
        rec_record_free(whole);
        free(path);
    }
    rec_record_free(record);
    rec_context_free(spills);
    scratch_free(s);
}

static void headers_need_little_memory(void **state)
{
    static const struct {
        const char *name, *recorder;
        unsigned count;
        uint64_t each;
        bool pipe;
    } files[] = {
        {"a.mpk.gz", "NamedMpkGz", 3, 32 * MIB, false},   {"a.mpk", "NamedMpk", 3, 32 * MIB, true},
        {"b.mpk.gz", "NamedMpkGz", 6000, 16 * KIB, true}, {"a.safetensors.gz", "Safetensors.gzip", 12, 8 * MIB, false},
        {"a.json.gz", "JsonGz", 24, MIB, true},           {"a.bpk.gz", "Burnpack.gzip", 12, 8 * MIB, true},
    };
    scratch *s = scratch_new();
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i += sparsely()) {
        char *path = write_as(s, files[i].name, files[i].recorder, files[i].count, files[i].each);
        rec_context *context = rec_context_new(NULL);
        rec_record *record;
        long before;
        /* Addresses of 32 bits: MessagePack is read as a whole. */
        bool whole = sizeof(void *) < sizeof(uint64_t) && strstr(files[i].name, ".mpk");
        assert_non_null(context);
        rec_context_set_progress(context, look_at_resident, NULL);
        before = most_resident = resident();
        record = files[i].pipe ? through_a_pipe(context, path) : load_headers(context, path, -1);
        if (!record) {
            fail_msg("%s: %s", path, rec_error_message());
        }
        (void)look_at_resident(NULL, NULL);
        /* What a sanitizer keeps of what was freed does not count. */
        if (!SANITIZED && !whole && most_resident - before > 16 * KIB) {
            fail_msg("%s: %ld KiB were resident", path, most_resident - before);
        }
        rec_record_free(record);
        rec_context_free(context);
        free(path);
    }
    scratch_free(s);
}

static void *feed(void *user)
{
    static const uint8_t zeros[64 * KIB];
    const int *ends = user;
    uint64_t written = 0;
    ssize_t n = 1;
    while (n > 0 && written < 256 * (uint64_t)MIB) {
        n = write(ends[1], zeros, sizeof zeros);
        written += n > 0 ? (uint64_t)n : 0;
    }
    (void)close(ends[1]);
    return written < 256 * (uint64_t)MIB ? user : NULL;
}

static void of_a_pipe_the_header_is_read(void **state)
{
    scratch *s = scratch_new();
    char *path = write_sparse(s, "a.safetensors", 64, 4 * MIB);
    uint8_t head[8192];
    FILE *file = fopen(path, "rb");
    rec_record *record;
    pthread_t feeder;
    void *stopped = NULL;
    int ends[2];
    (void)state;
    assert_non_null(file);
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    (void)fclose(file);
    assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], head, sizeof head), sizeof head);
    assert_int_equal(pthread_create(&feeder, NULL, feed, ends), 0);
    record = load_headers(NULL, "a pipe", ends[0]);
    (void)close(ends[0]);
    assert_int_equal(pthread_join(feeder, &stopped), 0);
    assert_non_null(record);
    assert_non_null(stopped); /* long before all was read */
    assert_true(rec_record_origin(record)->inflated == REC_UNKNOWN);
    rec_record_free(record);
    free(path);
    scratch_free(s);
}

static void damage_is_told_in_a_stream_too(void **state)
{
    static const struct {
        const char *name;
        size_t size;
        uint8_t bytes[40];
        const char *words;
    } files[] = {
        {"empty.mpk", 0, {0}, "empty"},
        {"list.mpk", 3, {0x93, 1, 2}, ""},
        {"cut.mpk",
         16,
         {0x82, 0xa8, 'm', 'e', 't', 'a', 'd', 'a', 't', 'a', 0x80, 0xa4, 'i', 't', 'e', 'm'},
         "the data end"},
        {"long.mpk",
         21,
         {0x82, 0xa8, 'm', 'e', 't', 'a',  'd',  'a',  't',  'a', 0x80,
          0xa4, 'i',  't', 'e', 'm', 0xc6, 0xff, 0xff, 0xff, 0xff},
         "the data end inside a byte string"},
        {"many.mpk",
         21,
         {0x82, 0xa8, 'm', 'e', 't', 'a',  'd',  'a',  't',  'a', 0x80,
          0xa4, 'i',  't', 'e', 'm', 0xdd, 0xff, 0xff, 0xff, 0xff},
         "4,294,967,295 elements are announced"},
        {"text.mpk",
         21,
         {0x82, 0xa8, 'm', 'e', 't', 'a',  'd',  'a',  't',  'a', 0x80,
          0xa4, 'i',  't', 'e', 'm', 0xdb, 0xff, 0xff, 0xff, 0xff},
         "the data end inside a string"},
        {"more.mpk",
         18,
         {0x82, 0xa8, 'm', 'e', 't', 'a', 'd', 'a', 't', 'a', 0x80, 0xa4, 'i', 't', 'e', 'm', 0x80, 0x80},
         "the record ends here, and 1 byte follows"},
        {"cut.safetensors", 12, {200, 0, 0, 0, 0, 0, 0, 0, '{', '"', 'a', '"'}, "only 4 follow"},
    };
    scratch *s = scratch_new();
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i += sparsely()) {
        char *path = scratch_write(s, files[i].name, files[i].bytes, files[i].size);
        assert_null(through_a_pipe(NULL, path));
        if (!strstr(rec_error_message(), files[i].words)) {
            fail_msg("%s: %s", files[i].name, rec_error_message());
        }
        free(path);
    }
    scratch_free(s);
}

static void what_has_no_data_is_not_saved(void **state)
{
    scratch *s = scratch_new();
    char *path = write_sparse(s, "a.safetensors", 2, MIB), *out = scratch_text(s, "out.mpk", "as it was");
    rec_record *record = load_headers(NULL, path, -1);
    rec_recorder *to = opened_in(NULL, "NamedMpk");
    char text[16] = "";
    FILE *file;
    (void)state;
    assert_non_null(record);
    assert_int_equal(rec_save(to, record, out), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "data = skip"));
    file = fopen(out, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), 9);
    (void)fclose(file);
    assert_string_equal(text, "as it was");
    assert_int_equal(rec_recorder_set(to, "data", "no"), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "read or skip"));
    rec_close_recorder(to);
    rec_record_free(record);
    free(out);
    free(path);
    scratch_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_of_a_map_does_not_stay),
        cmocka_unit_test(nor_what_came_by_a_pipe),
        cmocka_unit_test(nor_a_member_of_an_archive),
        cmocka_unit_test(memory_is_left_alone),
        cmocka_unit_test(threads_do_not_mind),
        cmocka_unit_test(what_is_inflated_may_go_to_a_file),
        cmocka_unit_test(a_temporary_file_that_cannot_be_is_told),
        cmocka_unit_test(headers_are_those_of_the_whole),
        cmocka_unit_test(headers_need_little_memory),
        cmocka_unit_test(of_a_pipe_the_header_is_read),
        cmocka_unit_test(damage_is_told_in_a_stream_too),
        cmocka_unit_test(what_has_no_data_is_not_saved),
    };
    return cmocka_run_group_tests_name("files larger than memory", tests, NULL, NULL);
}
