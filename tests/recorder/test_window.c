/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Windows of a save: one after the other they are the file, wherever it is cut; what lies outside is not read; what is
 * lost in parts sums up. And files that others write. */
#include "librecord/parallel.h"
#include "tests/recorder/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

/* ---------------------------------------------------------------------------------------------------- a record -- */

static const char *id = "0123456789ABC";

static void add_tensor(rec_record *record, const char *path, rec_dtype dtype, const void *data, uint64_t bytes,
                       uint64_t rows, uint64_t columns)
{
    const uint64_t shape[] = {rows, columns};
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = dtype, .rank = 2, .shape = shape, .data = data, .data_size = bytes, .id = id};
    assert_int_equal(rec_set_tensor(record, path, &spec), REC_OK);
}

enum { ALL_KINDS, NO_BOOLS, FLOATS, RECORDS };

/* Of several element types, sizes that no cut is even with, and what is no tensor between them. */
static rec_record *make_record(int what)
{
    enum { ROWS = 37, COLUMNS = 41, MANY = ROWS * COLUMNS };
    static float floats[MANY];
    static double doubles[MANY];
    static int64_t longs[MANY];
    static int32_t ints[MANY];
    static uint16_t halves[MANY];
    static uint8_t flags[MANY];
    rec_record *record = rec_record_new(context);
    assert_non_null(record);
    for (int i = 0; i < MANY; i++) {
        floats[i] = (float)i / 7;
        doubles[i] = i % 5 ? (double)i * 1e-3 : 0.1;
        longs[i] = i - 700;
        ints[i] = 700 - i;
        halves[i] = (uint16_t)(i % 0x7c00);
        flags[i] = i % 3 == 0;
    }
    little(floats, 4, MANY);
    little(doubles, 8, MANY);
    little(longs, 8, MANY);
    little(ints, 4, MANY);
    little(halves, 2, MANY);
    if (what == FLOATS) { /* without ids, which a Burnpack could not have */
        id = "";
        add_tensor(record, "a.weight", REC_DTYPE_F32, floats, sizeof floats, ROWS, COLUMNS);
        add_tensor(record, "b.weight", REC_DTYPE_F32, floats, sizeof floats, COLUMNS, ROWS);
        id = "0123456789ABC";
        return record;
    }
    add_tensor(record, "a.weight", REC_DTYPE_F32, floats, sizeof floats, ROWS, COLUMNS);
    assert_int_equal(rec_set_int(record, "a.steps", 12345), REC_OK);
    add_tensor(record, "a.bias", REC_DTYPE_F64, doubles, sizeof doubles, COLUMNS, ROWS);
    add_tensor(record, "b.index", REC_DTYPE_I64, longs, sizeof longs, 1, MANY);
    assert_int_equal(rec_set_string(record, "b.name", "a name"), REC_OK);
    add_tensor(record, "b.count", REC_DTYPE_I32, ints, sizeof ints, MANY, 1);
    add_tensor(record, "c.half", REC_DTYPE_F16, halves, sizeof halves, ROWS, COLUMNS);
    if (what == ALL_KINDS) {
        add_tensor(record, "c.mask", REC_DTYPE_BOOL, flags, sizeof flags, ROWS, COLUMNS);
    }
    add_tensor(record, "d.none", REC_DTYPE_F32, floats, 0, 0, 3);
    return record;
}

/* ------------------------------------------------------------------------------------------------- the windows -- */

typedef struct part {
    uint8_t *data;
    uint64_t size, room;
    bool no_patch;
} part;

static int32_t part_write(void *user, const void *data, uint64_t size)
{
    part *p = user;
    assert_true(size > 0 && size <= 4 * MIB);
    if (p->size + size > p->room) {
        p->room = (p->size + size) * 2;
        p->data = realloc(p->data, (size_t)p->room);
        assert_non_null(p->data);
    }
    memcpy(p->data + p->size, data, (size_t)size);
    p->size += size;
    return 0;
}

static int32_t part_patch(void *user, uint64_t offset, const void *data, uint64_t size)
{
    part *p = user;
    assert_true(size > 0 && offset <= p->size && size <= p->size - offset);
    memcpy(p->data + offset, data, (size_t)size);
    return 0;
}

static const rec_output to_part = {.size = sizeof to_part, .write = part_write, .patch = part_patch};

static uint8_t *read_file(const char *path, uint64_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat is;
    uint8_t *data;
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &is), 0);
    *size = (uint64_t)is.st_size;
    data = malloc((size_t)*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)*size, file), *size);
    (void)fclose(file);
    return data;
}

static void cut(rec_recorder *recorder, const rec_record *record, const char *path, const uint8_t *whole, uint64_t size,
                const uint64_t *cuts, unsigned count, uint64_t sum)
{
    for (unsigned i = 0; i <= count; i++) {
        part p = {0};
        rec_window window = {
            .size = sizeof window, .from = i ? cuts[i - 1] : 0, .to = i < count ? cuts[i] : REC_UNKNOWN};
        uint64_t end = window.to < size ? window.to : size, begin = window.from < size ? window.from : size;
        if (rec_save_window(recorder, record, path, &window, &to_part, &p) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        assert_int_equal(window.total, size);
        assert_int_equal(window.sum, sum);
        assert_int_equal(p.size, end - begin);
        assert_true(p.size == 0 || memcmp(p.data, whole + begin, (size_t)p.size) == 0);
        free(p.data);
    }
}

/* Formats whose tensors are plain bytes, at the layouts of Burn 0.14 and later. */
static bool is_plain(const char *name, const char *version)
{
    static const char *const names[] = {"NamedMpk", "BinFile", "Safetensors", "Burnpack", "Gguf"};
    bool plain = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        plain = plain || strcmp(name, names[i]) == 0;
    }
    return plain && (!version || strcmp(version, "burn-0.14") >= 0);
}

static void check_recorder(scratch *s, const char *name, const rec_record *record, rec_precision precision,
                           const char *version, unsigned *done)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, precision);
    char *path = scratch_path(s, "model");
    rec_window window = {.size = sizeof window};
    uint64_t size, cuts[7];
    uint8_t *whole;
    rec_status status;
    char *real;
    assert_non_null(recorder);
    assert_int_equal(rec_recorder_set(recorder, "sync", "no"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "check", "no"), REC_OK);
    if (version && rec_recorder_set(recorder, "layout", version) != REC_OK) { /* no Burn wrote such files then */
        rec_close_recorder(recorder);
        free(path);
        return;
    }
    status = rec_save(recorder, record, path);
    if (status != REC_OK && !is_plain(name, version)) {
        assert_int_not_equal(rec_save_window(recorder, record, path, &window, NULL, NULL), REC_OK);
        rec_close_recorder(recorder);
        free(path);
        return;
    }
    if (status != REC_OK) { /* then no part of it can be saved either */
        char message[1024];
        (void)snprintf(message, sizeof message, "%s", rec_error_message());
        assert_int_equal(rec_save_window(recorder, record, path, &window, NULL, NULL), status);
        assert_string_equal(rec_error_message(), message);
        rec_close_recorder(recorder);
        free(path);
        return;
    }
    real = rec_recorder_path(recorder, path);
    whole = read_file(real, &size);
    status = rec_save_window(recorder, record, path, &window, NULL, NULL);
    if (!is_plain(name, version)) {
        assert_int_equal(status, REC_E_UNSUPPORTED);
        assert_error(REC_E_UNSUPPORTED, "does not store tensors as plain bytes");
        goto done;
    }
    assert_int_equal(status, REC_OK);
    assert_int_equal(window.total, size);
    for (unsigned n = 1; n <= 7; n = n == 3 ? 7 : n + 1) {
        for (unsigned i = 0; i + 1 < n; i++) {
            cuts[i] = size * (i + 1) / n;
        }
        cut(recorder, record, path, whole, size, cuts, n - 1, window.sum);
    }
    for (unsigned shift = 0; shift < 9; shift++) { /* within an element, wherever those of 8 bytes begin */
        cuts[0] = size / 3 + shift;
        cuts[1] = cuts[0] + 3;
        cuts[2] = cuts[1];
        cuts[3] = size + 5;
        cut(recorder, record, path, whole, size, cuts, 4, window.sum);
    }
    ++*done;
done:
    free(whole);
    (void)unlink(real);
    rec_free(real);
    rec_close_recorder(recorder);
    free(path);
}

static void windows_are_the_file(void **state)
{
    static const rec_precision precisions[] = {REC_PRECISION_KEEP, REC_PRECISION_DOUBLE, REC_PRECISION_FULL,
                                               REC_PRECISION_HALF};
    static const char *const versions[] = {NULL, "burn-0.11", "burn-0.13", "burn-0.16"};
    scratch *s = scratch_new();
    rec_record *records[] = {make_record(ALL_KINDS), make_record(NO_BOOLS), make_record(FLOATS)};
    unsigned done = 0, recorders = 0;
    (void)state;
    for (uint64_t i = 0; i < rec_plugin_count(context); i++) {
        const rec_plugin_info *plugin = rec_plugin_get(context, i);
        unsigned before = done;
        if (!plugin->usable || !plugin->can_save || plugin->kind == REC_PLUGIN_CODEC || !*plugin->extension) {
            continue;
        }
        for (size_t k = 0; k < 4 * 4 * RECORDS; k++) {
            check_recorder(s, plugin->name, records[k % RECORDS], precisions[k / RECORDS % 4],
                           versions[k / RECORDS / 4], &done);
        }
        recorders += done > before;
    }
    assert_int_equal(recorders, 4); /* BinFile needs a type */
    assert_true(done >= 60);
    for (size_t i = 0; i < RECORDS; i++) {
        rec_record_free(records[i]);
    }
    scratch_free(s);
}

/* -------------------------------------------------------------------------------------------- what is not read -- */

enum { BIG = 12 << 20 }; /* more than a writer may gather of small ones */
static uint64_t asked_from, asked_to, asked;

static int32_t produce(void *user, uint64_t offset, void *target, uint64_t size)
{
    float *to = target;
    (void)user;
    asked_from = offset < asked_from ? offset : asked_from;
    asked_to = offset + size > asked_to ? offset + size : asked_to;
    asked += size;
    for (uint64_t i = 0; i < size / 4; i++) {
        to[i] = (float)((offset / 4 + i) % 1000);
    }
    little(target, 4, (size_t)size / 4);
    return 0;
}

/* One large tensor that tells what of it is asked for. */
static rec_record *make_produced(void)
{
    const uint64_t shape[] = {BIG / 4};
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 1,
                            .shape = shape,
                            .data_size = BIG,
                            .ownership = REC_PRODUCE,
                            .produce = produce,
                            .id = ""};
    rec_record *record = rec_record_new(context);
    assert_int_equal(rec_set_tensor(record, "w", &spec), REC_OK);
    return record;
}

static void what_is_outside_is_not_made(void **state)
{
    static const char *const names[] = {"NamedMpk", "BinFile", "Safetensors", "Burnpack", "Gguf"};
    static const rec_precision precisions[] = {REC_PRECISION_KEEP, REC_PRECISION_HALF, REC_PRECISION_DOUBLE};
    rec_record *record = make_produced();
    unsigned done = 0;
    (void)state;
    for (size_t i = 0; i < 15; i++) {
        rec_recorder *recorder = rec_open_recorder_in(context, names[i / 3], precisions[i % 3]);
        uint64_t scale = i % 3 == 1 ? 2 : 4, scaled = i % 3 == 2 ? 8 : scale;
        rec_window window = {.size = sizeof window};
        part p = {0};
        asked_from = REC_UNKNOWN;
        asked = asked_to = 0;
        if (!recorder || rec_save_window(recorder, record, "m", &window, NULL, NULL) != REC_OK) {
            rec_close_recorder(recorder);
            continue;
        }
        assert_int_equal(asked, 0); /* sizes are known without a byte of it */
        window.from = window.total / 2 + 1;
        window.to = window.from + 10000 * scaled;
        assert_int_equal(rec_save_window(recorder, record, "m", &window, &to_part, &p), REC_OK);
        assert_int_equal(p.size, 10000 * scaled);
        assert_true(asked >= 39990 && asked <= 40010 + 8);
        assert_true(asked_to - asked_from <= asked);
        assert_true(asked_from > BIG / 2 - 8192 && asked_from < BIG / 2 + 8192);
        free(p.data);
        rec_close_recorder(recorder);
        done++;
    }
    assert_true(done >= 9);
    rec_record_free(record);
}

/* ------------------------------------------------------------------------------------------------ what is lost -- */

static uint64_t lost_in_parts;

static void lost(void *user, const rec_conversion_loss *loss)
{
    assert_ptr_equal(user, &lost_in_parts);
    assert_int_equal(loss->size, sizeof *loss);
    assert_int_equal(loss->kind, REC_NOTE_OVERFLOW);
    assert_int_equal(loss->dtype, REC_DTYPE_F16);
    assert_int_equal(loss->whole, 0);
    assert_string_equal(loss->path, "w");
    lost_in_parts += loss->count;
}

static void losses_have_words(void **state)
{
    static const struct {
        int32_t kind;
        rec_dtype dtype;
        uint64_t count;
        const char *text;
    } cases[] = {
        {REC_NOTE_OVERFLOW, REC_DTYPE_F16, 1, "1 value was too large for f16 and became infinite"},
        {REC_NOTE_OVERFLOW, REC_DTYPE_F32, 1234567, "1,234,567 values were too large for f32 and became infinite"},
        {REC_NOTE_CLAMPED, REC_DTYPE_I16, 1, "1 integer did not fit i16 and took its nearest limit"},
        {REC_NOTE_CLAMPED, REC_DTYPE_I8, 2, "2 integers did not fit i8 and took its nearest limit"},
    };
    rec_conversion_loss loss = {.size = sizeof loss, .path = ""};
    char text[128];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        loss.kind = cases[i].kind;
        loss.dtype = cases[i].dtype;
        loss.count = cases[i].count;
        assert_int_equal(rec_conversion_loss_text(&loss, text, sizeof text), REC_OK);
        assert_string_equal(text, cases[i].text);
    }
    assert_int_equal(rec_conversion_loss_text(&loss, text, 5), REC_OK);
    assert_string_equal(text, "2 in");
    assert_int_equal(rec_conversion_loss_text(&loss, text, 0), REC_E_ARGUMENT);
    loss.size = 8;
    assert_int_equal(rec_conversion_loss_text(&loss, text, sizeof text), REC_E_ARGUMENT);
    loss = (rec_conversion_loss){.size = sizeof loss, .kind = REC_NOTE_DROPPED};
    assert_int_equal(rec_conversion_loss_text(&loss, text, sizeof text), REC_E_ARGUMENT);
}

static void losses_sum_up(void **state)
{
    enum { MANY = 1000 };
    static float numbers[MANY];
    rec_record *record = rec_record_new(context);
    rec_recorder *recorder = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_HALF);
    rec_window all = {.size = sizeof all};
    (void)state;
    for (int i = 0; i < MANY; i++) {
        numbers[i] = 1e6f;
    }
    little(numbers, 4, MANY);
    add_tensor(record, "w", REC_DTYPE_F32, numbers, sizeof numbers, 1, MANY);
    assert_int_equal(rec_save_window(recorder, record, "m", &all, NULL, NULL), REC_OK);
    for (uint64_t step = 1; step < 20000; step = step * 3 + 2) {
        uint64_t in_report = 0;
        lost_in_parts = 0;
        for (uint64_t at = 0; at < all.total; at += step) {
            rec_window window = {
                .size = sizeof window, .from = at, .to = at + step, .lost = lost, .user = &lost_in_parts};
            part p = {0};
            assert_int_equal(rec_save_window(recorder, record, "m", &window, &to_part, &p), REC_OK);
            for (uint64_t i = 0; i < rec_report_count(); i++) {
                in_report += rec_report_note(i)->kind == REC_NOTE_OVERFLOW;
            }
            free(p.data);
        }
        assert_int_equal(lost_in_parts, MANY);
        assert_int_equal(in_report, 0);
    }
    rec_close_recorder(recorder);
    rec_record_free(record);
}

static void what_cannot_be(void **state)
{
    rec_record *record = make_record(NO_BOOLS);
    rec_recorder *recorder = recorder_of("Safetensors"), *any = recorder_of("Auto");
    rec_window window = {.size = sizeof window, .from = 2, .to = 1}, none = {.size = 8};
    line l = {.fail_at = 0, .error = ENOSPC};
    part p = {0};
    (void)state;
    assert_int_equal(rec_save_window(recorder, record, "m", &window, &to_part, &p), REC_E_ARGUMENT);
    assert_int_equal(rec_save_window(recorder, record, "m", &none, &to_part, &p), REC_E_ARGUMENT);
    window.from = 0;
    assert_int_equal(rec_save_window(any, record, "m", &window, &to_part, &p), REC_E_ARGUMENT);
    assert_int_equal(rec_save_window(any, record, "m.safetensors", &window, &to_part, &p), REC_OK);
    assert_int_equal(p.size, 1);
    {
        rec_output failing = {.size = sizeof failing, .write = line_write};
        window.to = 100;
        assert_int_equal(rec_save_window(recorder, record, "m", &window, &failing, &l), REC_E_IO);
        assert_error(REC_E_IO, "No space left on device");
    }
    window.letters = "a/b";
    assert_int_equal(rec_save_window(recorder, record, "m", &window, &to_part, &p), REC_E_ARGUMENT);
    rec_close_recorder(recorder);
    rec_close_recorder(any);
    rec_record_free(record);
    free(p.data);
}

/* ------------------------------------------------------------------------------------ what others have written -- */

typedef struct filling {
    const char *text;
    int32_t error;
    char seen[600];
    bool cut;
} filling;

static int32_t fill(void *user, rec_filling *told)
{
    filling *f = user;
    const char *temporary = told->files[0].temporary;
    int fd = open(temporary, O_WRONLY);
    assert_int_equal(told->count, 1);
    assert_string_equal(told->letters, "");
    assert_string_equal(told->files[0].name, "model.mpk");
    (void)snprintf(f->seen, sizeof f->seen, "%s", temporary);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, f->text, strlen(f->text), 0), strlen(f->text));
    if (f->cut) {
        assert_int_equal(ftruncate(fd, 3), 0);
    }
    (void)close(fd);
    return f->error;
}

static void assert_holds(const char *path, const char *text)
{
    uint64_t size;
    uint8_t *data = read_file(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, (size_t)size);
    free(data);
}

static rec_status save_filled(rec_recorder *recorder, const char *path, uint64_t size, rec_fill_fn how, void *user)
{
    const rec_file file = {.size = size};
    const rec_filling one = {.size = sizeof one, .files = &file, .count = 1};
    return rec_save_filled(recorder, path, &one, how, user);
}

/* A part of what is to be, which is kept or not. */
typedef struct part_way {
    const char *before; /* what is there of an earlier save; NULL: nothing */
    const char *text;
    int32_t error, keep;
    char seen[600];
} part_way;

static int32_t fill_part(void *user, rec_filling *told)
{
    part_way *p = user;
    char had[32] = "";
    int fd = open(told->files[0].temporary, O_RDWR);
    ssize_t got = read(fd, had, sizeof had - 1);
    assert_int_equal(told->resume, 1);
    assert_int_equal(told->keep, p->before != NULL);
    assert_true(got >= 0);
    assert_string_equal(had, p->before ? p->before : "");
    assert_int_equal(pwrite(fd, p->text, strlen(p->text), (off_t)strlen(had)), strlen(p->text));
    if (!p->error) {
        assert_int_equal(ftruncate(fd, 9), 0); /* what is behind it is not of the file */
    }
    (void)close(fd);
    told->keep = p->keep;
    (void)snprintf(p->seen, sizeof p->seen, "%s", told->files[0].temporary);
    return p->error;
}

static void files_that_are_gone_on_with(void **state)
{
    scratch *s = scratch_new();
    char *path = scratch_path(s, "model.mpk"), *left = scratch_path(s, ".model.mpk.librecord-resume");
    rec_recorder *recorder = recorder_of("NamedMpk"), *other = recorder_of("NamedMpk");
    const rec_file one = {.size = 9};
    const rec_filling all = {.size = sizeof all, .files = &one, .count = 1, .resume = 1};
    part_way p = {.text = "abc", .error = ENOSPC, .keep = 1};
    int fd;
    (void)state;
    assert_int_equal(unlink(left), -1);
    /* No space is reserved where that would make it longer: this file system's zeros are not to be seen below. */
    assert_int_equal(
        rec_save_filled(recorder, path,
                        &(rec_filling){.size = sizeof all, .files = &(rec_file){.size = 0}, .count = 1, .resume = 1},
                        fill_part, &p),
        REC_E_IO);
    assert_string_equal(p.seen, left);
    assert_holds(left, "abc");
    fd = open(left, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    p = (part_way){.before = "abc", .text = "defghi, and more", .keep = 1};
    assert_int_equal(rec_save_filled(other, path, &all, fill_part, &p), REC_E_IO);
    assert_error(REC_E_IO,
                 "another process resumes the partial output of an earlier save,  .model.mpk.librecord-resume");
    assert_string_equal(p.seen, "");
    (void)close(fd);
    assert_int_equal(rec_save_filled(other, path, &all, fill_part, &p), REC_OK);
    assert_holds(path, "abcdefghi");
    assert_int_not_equal(access(left, F_OK), 0);
    /* What is not worth it is not kept, and who does not go on with it removes it. */
    p = (part_way){.text = "", .error = EIO};
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_part, &p), REC_E_IO);
    assert_int_not_equal(access(left, F_OK), 0);
    p = (part_way){.text = "", .error = EIO, .keep = 1};
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_part, &p), REC_E_IO);
    assert_int_equal(access(left, F_OK), 0);
    {
        filling f = {.text = "all of it"};
        assert_int_equal(
            rec_save_filled(recorder, path, &(rec_filling){.size = sizeof all, .files = &one, .count = 1}, fill, &f),
            REC_OK);
    }
    assert_int_not_equal(access(left, F_OK), 0);
    assert_holds(path, "all of it");
    assert_int_equal(symlink("elsewhere", left), 0);
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_part, &p), REC_E_IO);
    assert_error(REC_E_IO, "cannot open the partial output of an earlier save");
    assert_int_equal(unlink(left), 0);
    assert_int_equal(mkfifo(left, 0600), 0);
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_part, &p), REC_E_IO);
    assert_error(REC_E_IO, "the partial output of an earlier save, .model.mpk.librecord-resume, is not a regular file");
    assert_int_equal(unlink(left), 0);
    rec_close_recorder(recorder);
    rec_close_recorder(other);
    free(path);
    free(left);
    scratch_free(s);
}

/* A file that somebody else put there is not written: its owner would own the model, or another file would be lost. */
static void test_planted_files_are_not_resumed(void **state)
{
    enum { STRANGER = 12345 };
    scratch *s = scratch_new();
    char *path = scratch_path(s, "model.mpk"), *left = scratch_path(s, ".model.mpk.librecord-resume");
    char *precious = scratch_text(s, "precious", "precious");
    rec_recorder *recorder = recorder_of("NamedMpk");
    const rec_file one = {.size = 9};
    const rec_filling all = {.size = sizeof all, .files = &one, .count = 1, .resume = 1};
    part_way p = {.before = "precious", .text = "defghi"};
    (void)state;
    assert_int_equal(link(precious, left), 0);
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_part, &p), REC_E_IO);
    assert_error(REC_E_IO, "cannot resume with .model.mpk.librecord-resume: it is a hard link to another file");
    assert_holds(precious, "precious");
    assert_int_equal(unlink(left), 0);
    if (geteuid() == 0) {
        free(scratch_text(s, ".model.mpk.librecord-resume", "planted"));
        assert_int_equal(chown(left, STRANGER, STRANGER), 0);
        assert_int_equal(rec_save_filled(recorder, path, &all, fill_part, &p), REC_E_IO);
        assert_error(REC_E_IO, "cannot resume with .model.mpk.librecord-resume: it belongs to another user (12345)");
        assert_holds(left, "planted");
        assert_int_equal(unlink(left), 0);
    } else {
        print_message("# needs root to give files away: owners are not tested\n");
    }
    assert_string_equal(p.seen, "");
    assert_int_equal(access(path, F_OK), -1);
    rec_close_recorder(recorder);
    free(precious);
    free(path);
    free(left);
    scratch_free(s);
}

static void files_that_others_fill(void **state)
{
    scratch *s = scratch_new();
    char *path = scratch_path(s, "model.mpk");
    rec_recorder *recorder = recorder_of("NamedMpk");
    filling f = {.text = "all of it"};
    (void)state;
    assert_int_equal(save_filled(recorder, path, 9, fill, &f), REC_OK);
    assert_holds(path, "all of it");
    assert_true(strncmp(f.seen, s->path, strlen(s->path)) == 0 && access(f.seen, F_OK) != 0);
    f = (filling){.text = "something", .error = ENOSPC};
    assert_int_equal(save_filled(recorder, path, 9, fill, &f), REC_E_IO);
    assert_error(REC_E_IO, "cannot write: No space left");
    assert_holds(path, "all of it");
    assert_int_not_equal(access(f.seen, F_OK), 0);
    f = (filling){.text = "something", .error = ECANCELED};
    assert_int_equal(save_filled(recorder, path, 9, fill, &f), REC_E_CANCELLED);
    f = (filling){.text = "something", .cut = true};
    assert_int_equal(save_filled(recorder, path, 9, fill, &f), REC_E_IO);
    assert_error(REC_E_IO, "the temporary file has 3 bytes of 9");
    assert_holds(path, "all of it");
    f = (filling){.text = "new"};
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(save_filled(recorder, path, 3, fill, &f), REC_OK);
    assert_holds(path, "new");
    {
        struct stat is;
        assert_int_equal(stat(path, &is), 0);
        assert_int_equal(is.st_mode & 0777, 0640); /* as the one that it replaces */
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody reads it, and nobody waits for that */
    f = (filling){.text = "new"};
    assert_int_equal(save_filled(recorder, path, 3, fill, &f), REC_E_UNSUPPORTED);
    assert_error(REC_E_UNSUPPORTED, "only regular files can be written in parallel");
    assert_string_equal(f.seen, "");
    rec_close_recorder(recorder);
    free(path);
    scratch_free(s);
}

/* ----------------------------------------------------------------------------------------------- several files -- */

enum { FILES_MOST = 64 };
typedef struct told {
    rec_file files[FILES_MOST];
    char names[FILES_MOST][128], stems[FILES_MOST][64], tails[FILES_MOST][64];
    uint64_t count;
} told;

static void take_file(void *user, const rec_file *file)
{
    told *t = user;
    assert_true(t->count < FILES_MOST && !file->temporary && !file->stem == !file->tail);
    (void)snprintf(t->names[t->count], sizeof *t->names, "%s", file->name);
    (void)snprintf(t->stems[t->count], sizeof *t->stems, "%s", file->stem ? file->stem : "");
    (void)snprintf(t->tails[t->count], sizeof *t->tails, "%s", file->tail ? file->tail : "");
    t->files[t->count] = *file;
    t->files[t->count].name = t->names[t->count];
    t->files[t->count].stem = file->stem ? t->stems[t->count] : NULL;
    t->files[t->count].tail = file->tail ? t->tails[t->count] : NULL;
    t->count++;
}

static rec_recorder *recorder_of_several(const char *name, bool keep)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    assert_non_null(recorder);
    assert_int_equal(rec_recorder_set(recorder, "sync", "no"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "check", "no"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "max-shard-size", "10KB"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "keep-names", keep ? "yes" : "no"), REC_OK);
    return recorder;
}

static uint8_t *read_all(const scratch *s, const told *t, uint64_t *size)
{
    uint8_t *whole = NULL;
    *size = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        char path[600];
        uint64_t some;
        uint8_t *data;
        (void)snprintf(path, sizeof path, "%s/%s", s->path, t->names[i]);
        data = read_file(path, &some);
        assert_int_equal(some, t->files[i].size);
        whole = realloc(whole, (size_t)(*size + some) + 1);
        assert_non_null(whole);
        memcpy(whole + *size, data, (size_t)some);
        *size += some;
        free(data);
    }
    return whole;
}

/* All of them, one after the other, are what windows are of. */
static void windows_of_several_files(void **state)
{
    for (int keep = 0; keep < 2; keep++) {
        scratch *s = scratch_new();
        rec_record *record = make_record(ALL_KINDS);
        rec_recorder *recorder = recorder_of_several("Safetensors", keep);
        char *path = scratch_path(s, "m.safetensors");
        told t = {0};
        rec_window window = {.size = sizeof window, .file = take_file, .user = &t};
        uint64_t size, cuts[7];
        uint8_t *whole;
        (void)state;
        assert_int_equal(rec_save_window(recorder, record, path, &window, NULL, NULL), REC_OK);
        assert_true(t.count >= 4);
        assert_string_equal(t.names[t.count - 1], "m.safetensors.index.json");
        assert_null(t.files[t.count - 1].stem);
        assert_true(strncmp(t.names[0], "m-00001-of-0", 12) == 0);
        assert_string_equal(t.stems[0], keep ? "" : "m");
        assert_int_equal(rec_save(recorder, record, path), REC_OK);
        whole = read_all(s, &t, &size);
        assert_int_equal(window.total, size);
        for (unsigned n = 1; n <= 7; n++) {
            for (unsigned i = 0; i + 1 < n; i++) {
                cuts[i] = size * (i + 1) / n;
            }
            cut(recorder, record, path, whole, size, cuts, n - 1, window.sum);
        }
        cuts[0] = t.files[0].size; /* at the seams, and around */
        cuts[1] = cuts[0] + t.files[1].size + 1;
        cuts[2] = cuts[0] + t.files[1].size + t.files[2].size - 1;
        cuts[3] = size - t.files[t.count - 1].size;
        cut(recorder, record, path, whole, size, cuts, 4, window.sum);
        if (!keep) {
            told with = {0};
            rec_window longer = {.size = sizeof longer, .file = take_file, .user = &with, .letters = "abc123"};
            assert_int_equal(rec_save_window(recorder, record, path, &longer, NULL, NULL), REC_OK);
            assert_true(strncmp(with.names[0], "m-abc123-00001-of-0", 19) == 0);
            assert_int_equal(with.files[0].size, t.files[0].size);
            assert_int_not_equal(longer.sum, window.sum);
            /* Each tensor's file is named in the index. */
            assert_int_equal(longer.total - size, 7 * 7);
        }
        free(whole);
        free(path);
        rec_close_recorder(recorder);
        rec_record_free(record);
        scratch_free(s);
    }
}

typedef struct set_filling {
    uint8_t *bytes;
    told *t;
    uint64_t last;
    int32_t error;
    char letters[16];
} set_filling;

static int32_t fill_set(void *user, rec_filling *told_of)
{
    set_filling *f = user;
    const uint8_t *at = f->bytes;
    (void)snprintf(f->letters, sizeof f->letters, "%s", told_of->letters);
    assert_int_equal(told_of->count, f->t->count);
    for (uint64_t i = 0; i < told_of->count; i++) {
        uint64_t some = i + 1 < told_of->count ? told_of->files[i].size : f->last;
        int fd = open(told_of->files[i].temporary, O_WRONLY);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, at, (size_t)some, 0), some);
        (void)close(fd);
        at += some;
    }
    told_of->last_size = f->last;
    return f->error;
}

/* One of them is cut, and its place is not what it was said to be. */
static int32_t fill_none_of_it(void *user, rec_filling *told_of)
{
    (void)user;
    assert_int_equal(truncate(told_of->files[1].temporary, 1), 0);
    return 0;
}

static uint64_t count_in(const scratch *s)
{
    DIR *folder = opendir(s->path);
    uint64_t count = 0;
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    (void)closedir(folder);
    return count - 2;
}

static void sets_that_others_fill(void **state)
{
    scratch *s = scratch_new();
    rec_record *record = make_record(ALL_KINDS);
    rec_recorder *recorder = recorder_of_several("Safetensors", false);
    char *path = scratch_path(s, "m.safetensors");
    told t = {0};
    part p = {0};
    rec_window window = {.size = sizeof window, .to = REC_UNKNOWN, .file = take_file, .user = &t};
    rec_filling all = {.size = sizeof all, .files = t.files};
    set_filling f = {.t = &t};
    uint64_t size;
    uint8_t *whole;
    (void)state;
    assert_int_equal(rec_save_window(recorder, record, path, &window, &to_part, &p), REC_OK);
    all.count = t.count;
    f.bytes = p.data;
    f.last = t.files[t.count - 1].size;
    for (int round = 0; round < 2; round++) {
        f.error = round ? ENOSPC : 0;
        assert_int_equal(rec_save_filled(recorder, path, &all, fill_set, &f), round ? REC_E_IO : REC_OK);
        assert_int_equal(strlen(f.letters), round ? 6 : 0); /* the older ones are in the way */
        assert_int_equal(count_in(s), t.count);
        whole = read_all(s, &t, &size);
        assert_int_equal(size, window.total);
        assert_memory_equal(whole, p.data, (size_t)size);
        free(whole);
    }
    assert_error(REC_E_IO, "No space left on device");
    f.error = 0;
    f.last--; /* what the index is like is the program's affair, and how long it is */
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_set, &f), REC_OK);
    assert_int_equal(count_in(s), t.count);
    assert_int_not_equal(access(t.names[0], F_OK), 0);
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_none_of_it, &f), REC_E_IO);
    assert_error(REC_E_IO, "the temporary file has ");
    assert_int_equal(count_in(s), t.count);
    t.files[t.count - 1].name = "../m";
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_set, &f), REC_E_ARGUMENT);
    t.files[0].tail = NULL;
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_set, &f), REC_E_ARGUMENT);
    all.count = 0;
    assert_int_equal(rec_save_filled(recorder, path, &all, fill_set, &f), REC_E_ARGUMENT);
    free(p.data);
    free(path);
    rec_close_recorder(recorder);
    rec_record_free(record);
    scratch_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(windows_are_the_file, enter, leave),
        cmocka_unit_test_setup_teardown(what_is_outside_is_not_made, enter, leave),
        cmocka_unit_test_setup_teardown(losses_sum_up, enter, leave),
        cmocka_unit_test_setup_teardown(losses_have_words, enter, leave),
        cmocka_unit_test_setup_teardown(what_cannot_be, enter, leave),
        cmocka_unit_test_setup_teardown(files_that_others_fill, enter, leave),
        cmocka_unit_test_setup_teardown(files_that_are_gone_on_with, enter, leave),
        cmocka_unit_test_setup_teardown(test_planted_files_are_not_resumed, enter, leave),
        cmocka_unit_test_setup_teardown(windows_of_several_files, enter, leave),
        cmocka_unit_test_setup_teardown(sets_that_others_fill, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
