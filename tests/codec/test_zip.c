/* SPDX-License-Identifier: MIT OR Apache-2.0
 * zip archives: what is read, what is refused and in which words, and that what is written is read back. */
#include "tests/test_io.h"

#include <zlib.h>

#include "plugins/codec/zip/zip.h"

/* -------------------------------------------------------------------------------------------- archives by hand -- */

typedef struct maker {
    uint8_t data[4096];
    size_t size;
    uint8_t directory[1024];
    size_t used, count;
} maker;

/* What an archive says of a member, and what it is. */
typedef struct member {
    const char *name;
    const char *other_name; /* in the header before it; NULL: the same */
    const void *data;
    uint32_t stored, size, crc;
    uint16_t method, flags;
    int64_t shift; /* of the place that the directory has */
    bool wide;     /* numbers of 64 bits in the directory */
} member;

static void put(uint8_t *data, size_t *size, uint64_t number, int width)
{
    for (int i = 0; i < width; i++) {
        data[(*size)++] = (uint8_t)(i < 8 ? number >> 8 * i : 0);
    }
}

static void put_member(maker *m, const member *what)
{
    uint64_t at = (uint64_t)((int64_t)m->size + what->shift);
    const char *inner = what->other_name ? what->other_name : what->name;
    put(m->data, &m->size, 0x04034b50, 4);
    put(m->data, &m->size, 20, 2);
    put(m->data, &m->size, what->flags, 2);
    put(m->data, &m->size, what->method, 2);
    put(m->data, &m->size, 0, 4);
    put(m->data, &m->size, what->crc, 4);
    put(m->data, &m->size, what->stored, 4);
    put(m->data, &m->size, what->size, 4);
    put(m->data, &m->size, strlen(inner), 2);
    put(m->data, &m->size, 0, 2);
    memcpy(m->data + m->size, inner, strlen(inner));
    m->size += strlen(inner);
    memcpy(m->data + m->size, what->data, what->stored);
    m->size += what->stored;
    put(m->directory, &m->used, 0x02014b50, 4);
    put(m->directory, &m->used, 20, 2);
    put(m->directory, &m->used, 20, 2);
    put(m->directory, &m->used, what->flags, 2);
    put(m->directory, &m->used, what->method, 2);
    put(m->directory, &m->used, 0, 4);
    put(m->directory, &m->used, what->crc, 4);
    put(m->directory, &m->used, what->wide ? UINT32_MAX : what->stored, 4);
    put(m->directory, &m->used, what->wide ? UINT32_MAX : what->size, 4);
    put(m->directory, &m->used, strlen(what->name), 2);
    put(m->directory, &m->used, what->wide ? 28 : 0, 2);
    put(m->directory, &m->used, 0, 10);
    put(m->directory, &m->used, what->wide ? UINT32_MAX : at, 4);
    memcpy(m->directory + m->used, what->name, strlen(what->name));
    m->used += strlen(what->name);
    if (what->wide) {
        put(m->directory, &m->used, 1, 2);
        put(m->directory, &m->used, 24, 2);
        put(m->directory, &m->used, what->size, 8);
        put(m->directory, &m->used, what->stored, 8);
        put(m->directory, &m->used, at, 8);
    }
    m->count++;
}

/* What the end says otherwise than it is. */
typedef struct ending {
    int64_t shift, size, count;
    uint16_t volume;
    bool wide;
    const char *comment;
} ending;

static void put_end(maker *m, ending e)
{
    uint64_t at = m->size, size = (uint64_t)((int64_t)m->used + e.size);
    uint64_t count = (uint64_t)((int64_t)m->count + e.count), end;
    memcpy(m->data + m->size, m->directory, m->used);
    m->size += m->used;
    at = (uint64_t)((int64_t)at + e.shift);
    end = m->size;
    if (e.wide) {
        put(m->data, &m->size, 0x06064b50, 4);
        put(m->data, &m->size, 44, 8);
        put(m->data, &m->size, 0, 12);
        put(m->data, &m->size, count, 8);
        put(m->data, &m->size, count, 8);
        put(m->data, &m->size, size, 8);
        put(m->data, &m->size, at, 8);
        put(m->data, &m->size, 0x07064b50, 4);
        put(m->data, &m->size, 0, 4);
        put(m->data, &m->size, end, 8);
        put(m->data, &m->size, 1, 4);
    }
    put(m->data, &m->size, 0x06054b50, 4);
    put(m->data, &m->size, e.volume, 2);
    put(m->data, &m->size, e.volume, 2);
    put(m->data, &m->size, e.wide ? 0xffff : count, 2);
    put(m->data, &m->size, e.wide ? 0xffff : count, 2);
    put(m->data, &m->size, e.wide ? UINT32_MAX : size, 4);
    put(m->data, &m->size, e.wide ? UINT32_MAX : at, 4);
    put(m->data, &m->size, e.comment ? strlen(e.comment) : 0, 2);
    if (e.comment) {
        memcpy(m->data + m->size, e.comment, strlen(e.comment));
        m->size += strlen(e.comment);
    }
}

static uint32_t crc_of(const void *data, size_t size)
{
    return (uint32_t)crc32(0, data, (uInt)size);
}

static member plain(const char *name, const char *text)
{
    uint32_t size = (uint32_t)strlen(text);
    return (member){.name = name, .data = text, .stored = size, .size = size, .crc = crc_of(text, size)};
}

/* Deflates into `room`, which is large enough. */
static member packed(const char *name, const void *data, uint32_t size, uint8_t *room, uint32_t most)
{
    z_stream stream = {.next_in = (z_const Bytef *)data, .avail_in = size, .next_out = room, .avail_out = most};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&stream);
    return (member){.name = name,
                    .data = room,
                    .stored = most - stream.avail_out,
                    .size = size,
                    .crc = crc_of(data, size),
                    .method = 8};
}

/* Opens an archive and reads all of it. @return the sum of the sizes, REC_UNKNOWN if it failed. */
static uint64_t read_all(world *w, const void *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    rec_source *source;
    lr_zip zip;
    uint64_t sum = 0;
    int32_t status;
    assert_non_null(exact);
    memcpy(exact, data, size);
    source = lr_source_memory(&w->job, exact, size, "a.zip");
    status = lr_zip_open(&zip, &w->job, source);
    for (uint64_t i = 0; i < zip.count && status == REC_OK; i++) {
        rec_source *inner = NULL;
        const void *bytes;
        uint64_t length = 0;
        status = lr_zip_source(&zip, &zip.members[i], &inner);
        status = status == REC_OK ? rec_source_view(&w->job, inner, &bytes, &length) : status;
        if (status == REC_OK) {
            assert_int_equal(length, zip.members[i].size);
            assert_int_equal(crc_of(bytes, (size_t)length), zip.members[i].crc);
            char *name = calloc(1, (size_t)zip.members[i].name_length + 1); /* not what follows it in the archive */
            assert_non_null(name);
            memcpy(name, zip.members[i].name, (size_t)zip.members[i].name_length);
            assert_ptr_equal(lr_zip_find(&zip, name, zip.members[i].name_length), &zip.members[i]);
            free(name);
        }
        sum += length;
        rec_source_release(inner);
    }
    lr_zip_close(&zip);
    rec_source_release(source);
    free(exact);
    return status == REC_OK ? sum : REC_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static void sound_archives_are_read(void **state)
{
    world *w = *state;
    uint8_t room[512], many[2000] = {0};
    for (int i = 0; i < 8; i++) {
        maker m = {0};
        member a = plain("dir/a", "hello"), b = packed("dir/b", many, sizeof many, room, sizeof room),
               c = plain("c", "");
        a.wide = (i & 1) != 0;
        put_member(&m, &a);
        put_member(&m, &b);
        put_member(&m, &c);
        put_end(&m, (ending){.wide = (i & 2) != 0, .comment = i & 4 ? "as PK\x05\x06 would have it" : NULL});
        assert_int_equal(read_all(w, m.data, m.size), 2005);
        assert_int_equal(end_job(w), REC_OK);
        for (size_t length = 0; length < m.size; length++) {
            assert_int_equal(read_all(w, m.data, length), REC_UNKNOWN);
            assert_int_not_equal(end_job(w), REC_OK);
        }
        for (size_t at = 0; at < m.size; at++) {
            m.data[at] ^= 0x81;
            (void)read_all(w, m.data, m.size);
            (void)end_job(w);
            m.data[at] ^= 0x81;
        }
    }
    {
        maker m = {0};
        put_end(&m, (ending){0});
        assert_int_equal(read_all(w, m.data, m.size), 0);
    }
    {
        /* Names that others begin with. */
        static const char *const names[] = {"a!", "a", "a!!", "a!b", "ab"};
        maker m = {0};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            member each = plain(names[i], "hello");
            put_member(&m, &each);
        }
        put_end(&m, (ending){0});
        assert_int_equal(read_all(w, m.data, m.size), 25);
        assert_int_equal(end_job(w), REC_OK);
    }
}

/* An archive of `a` and `b` is refused in these words. */
static void refuse(world *w, const member *a, const member *b, ending e, int32_t status, const char *words)
{
    maker m = {0};
    put_member(&m, a);
    put_member(&m, b);
    put_end(&m, e);
    assert_int_equal(read_all(w, m.data, m.size), REC_UNKNOWN);
    assert_failed(w, status, words);
}

static void unsound_archives_are_refused(void **state)
{
    world *w = *state;
    const member good = plain("good", "data");
    const ending whole = {0};
    uint8_t room[256];
    uint8_t zeros[100000] = {0};
    member b;
#define REFUSE(change, status, words)                       \
    do {                                                    \
        b = plain("other", "bytes");                        \
        change;                                             \
        refuse(w, &good, &b, whole, REC_E_##status, words); \
    } while (0)
    REFUSE(b.name = "good", FORMAT, "`good`");
    REFUSE(b.other_name = "wrong", FORMAT, "differs from the directory");
    REFUSE(b.shift = 1, FORMAT, "differs from the directory");
    REFUSE(b.shift = -1000, FORMAT, "it has an invalid offset");
    REFUSE(b.shift = 1000, FORMAT, "it has an invalid offset");
    REFUSE(b.crc++, FORMAT, "do not have the checksum");
    REFUSE(b.size++, FORMAT, "a stored member of 5 bytes with a stated size of 6");
    REFUSE(b.flags = 1, UNSUPPORTED, "encrypted");
    REFUSE(b.method = 12, UNSUPPORTED, "method 12");
    REFUSE(b.method = 8, FORMAT, "its compressed data end too early");
    REFUSE(b = plain("other", "\xff\xff\xff"); b.method = 8, FORMAT, "are damaged");
    REFUSE(b = packed("other", zeros, sizeof zeros, room, sizeof room); b.size = 1000, FORMAT, "more bytes than");
    REFUSE(b = packed("other", zeros, sizeof zeros, room, sizeof room);
           b.size++, FORMAT, "inflates to fewer bytes than the directory says");
    REFUSE(b = packed("other", zeros, sizeof zeros, room, sizeof room);
           b.stored--, FORMAT, "its compressed data end too early");
    REFUSE(b = packed("other", zeros, sizeof zeros, room, sizeof room);
           b.stored++, FORMAT, "end before their place does");
    REFUSE(b = packed("other", zeros, sizeof zeros, room, sizeof room); b.crc++, FORMAT, "do not have the checksum");
#undef REFUSE
    b = plain("other", "bytes");
    refuse(w, &good, &b, (ending){.shift = 1}, REC_E_FORMAT, "it must end at");
    refuse(w, &good, &b, (ending){.shift = -1}, REC_E_FORMAT, "it must end at");
    refuse(w, &good, &b, (ending){.size = 1}, REC_E_FORMAT, "it must end at");
    refuse(w, &good, &b, (ending){.count = 1}, REC_E_FORMAT, "3 elements are announced");
    refuse(w, &good, &b, (ending){.count = -1}, REC_E_FORMAT, "more than its 1 entries");
    refuse(w, &good, &b, (ending){.count = 60000}, REC_E_FORMAT, "");
    refuse(w, &good, &b, (ending){.count = INT64_MAX - 2, .wide = true}, REC_E_FORMAT, "");
    refuse(w, &good, &b, (ending){.volume = 1}, REC_E_UNSUPPORTED, "several volumes");
}

/* A member within another one: each is sound by itself. */
static void members_do_not_overlap(void **state)
{
    world *w = *state;
    maker inner = {0}, m = {0};
    member small = plain("in", "x"), large;
    put_member(&inner, &small);
    large = (member){.name = "out",
                     .data = inner.data,
                     .stored = (uint32_t)inner.size,
                     .size = (uint32_t)inner.size,
                     .crc = crc_of(inner.data, inner.size)};
    put_member(&m, &large);
    {
        size_t at = m.size;
        small.shift = -(int64_t)inner.size;
        put_member(&m, &small); /* for its entry alone */
        m.size = at;
    }
    put_end(&m, (ending){0});
    assert_int_equal(read_all(w, m.data, m.size), REC_UNKNOWN);
    assert_failed(w, REC_E_FORMAT, "overlap");
}

static void what_is_written_is_read(void **state)
{
    world *w = *state;
    for (uint32_t alignment = 0; alignment <= 64; alignment += 64) {
        rec_sink *memory = lr_sink_memory(&w->job);
        lr_zip_writer writer;
        rec_blob parts[2] = {{.size = sizeof *parts, .kind = REC_BLOB_TEMPORARY, .length = 3, .data = "abc"},
                             {.size = sizeof *parts, .kind = REC_BLOB_TEMPORARY, .length = 4, .data = "defg"}};
        void *data = NULL;
        uint64_t size = 0;
        rec_source *source;
        lr_zip zip;
        lr_zip_writer_open(&writer, &w->job, memory, alignment);
        assert_int_equal(lr_zip_put(&writer, "dir/one", parts, 2), REC_OK);
        assert_int_equal(lr_zip_put_bytes(&writer, "empty", "", 0), REC_OK);
        assert_int_equal(lr_zip_put_bytes(&writer, "two", "0123456789", 10), REC_OK);
        assert_int_equal(lr_zip_finish(&writer), REC_OK);
        lr_zip_writer_close(&writer);
        assert_int_equal(lr_sink_take(memory, &data, &size), REC_OK);
        assert_int_equal(lr_sink_commit(memory), REC_OK);
        assert_int_equal(read_all(w, data, (size_t)size), 17);
        source = lr_source_memory(&w->job, data, size, "a.zip");
        assert_int_equal(lr_zip_open(&zip, &w->job, source), REC_OK);
        assert_int_equal(zip.count, 3);
        for (uint64_t i = 0; i < zip.count && alignment; i++) {
            assert_int_equal(zip.members[i].offset % alignment, 0);
        }
        lr_zip_close(&zip);
        rec_source_release(source);
        assert_int_equal(end_job(w), REC_OK);
        rec_free(data);
    }
}

/* A sound archive whose numbers have 64 bits, with one of them changed: in which record, at which byte, to what. */
static void records_of_64_bits_must_be_sound(void **state)
{
    enum { ENTRY = 0x02014b50, END64 = 0x06064b50, LOCATOR = 0x07064b50, END = 0x06054b50 };
    static const struct {
        uint32_t record;
        unsigned at, width;
        uint64_t value;
        int32_t status;
        const char *words; /* NULL: it is read */
    } cases[] = {
        {LOCATOR, 0, 4, 0, REC_E_FORMAT, "the directory of the zip archive has the offset 4294967295"},
        {LOCATOR, 4, 4, 1, REC_E_UNSUPPORTED, "a zip archive in several volumes"},
        {LOCATOR, 16, 4, 2, REC_E_UNSUPPORTED, "a zip archive in several volumes"},
        {LOCATOR, 16, 4, 0, REC_OK, NULL}, /* some writers count from 0 */
        {LOCATOR, 8, 8, UINT64_MAX, REC_E_FORMAT,
         "64-bit record has the offset 18446744073709551615, where it cannot be"},
        {LOCATOR, 8, 8, 200, REC_E_FORMAT, "64-bit record has the offset 200, where it cannot be"},
        {LOCATOR, 8, 8, 0, REC_E_FORMAT, "no valid 64-bit record where the zip archive announces it"},
        {END64, 4, 8, 43, REC_E_FORMAT, "no valid 64-bit record where the zip archive announces it"},
        {END64, 4, 8, 45, REC_E_FORMAT, "no valid 64-bit record where the zip archive announces it"},
        {END64, 16, 4, 1, REC_E_UNSUPPORTED, "a zip archive in several volumes"},
        {END64, 20, 4, 1, REC_E_UNSUPPORTED, "a zip archive in several volumes"},
        {END64, 32, 8, 2, REC_E_FORMAT, "2 elements are announced"},
        {END64, 40, 8, UINT64_MAX, REC_E_FORMAT, "with 18446744073709551615 bytes, but it must end at"},
        {END64, 48, 8, 0, REC_E_FORMAT, "has the offset 0 with"},
        {END, 8, 2, 1, REC_E_UNSUPPORTED, "a zip archive in several volumes"},
        {END, 10, 2, 1, REC_E_UNSUPPORTED, "a zip archive in several volumes"},
        {END, 12, 4, 1, REC_E_FORMAT, "the two records at the end of the zip archive contradict each other"},
        {END, 16, 4, 1, REC_E_FORMAT, "the two records at the end of the zip archive contradict each other"},
        {ENTRY, 0, 4, 0, REC_E_FORMAT, "no entry where the directory of the zip archive has one"},
        {ENTRY, 28, 2, 60000, REC_E_FORMAT, "an entry of the zip archive's directory that is not whole"},
        {ENTRY, 30, 2, 27, REC_E_FORMAT,
         "an entry of the zip archive's directory that is not whole"}, /* the extra field is cut */
        {ENTRY, 32, 2, 1, REC_E_FORMAT, "an entry of the zip archive's directory that is not whole"},
        {ENTRY, 34, 2, 1, REC_E_UNSUPPORTED, "a zip archive in several volumes"},
        {ENTRY, 46, 1, 0, REC_E_FORMAT, "a member of the zip archive has a NUL byte in its name"},
        {ENTRY, 50, 2, 2, REC_E_FORMAT, "it has an invalid offset"},     /* an extra field of another meaning */
        {ENTRY, 52, 2, 25, REC_E_FORMAT, "directory that is not whole"}, /* it goes on behind the entry */
        {ENTRY, 52, 2, 20, REC_E_FORMAT, "directory that is not whole"}, /* too short for the third number */
        {ENTRY, 52, 2, 8, REC_E_FORMAT, "directory that is not whole"},
        {ENTRY, 54, 8, 5, REC_E_FORMAT, "differs from the directory of the zip archive"},
        {ENTRY, 62, 8, 5, REC_E_FORMAT, "it reaches into the directory of the zip archive"},
        {ENTRY, 70, 8, 1000, REC_E_FORMAT, "it has an invalid offset"},
    };
    world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        maker m = {0};
        member a = plain("name", "data");
        uint8_t signature[4];
        size_t used = 0;
        uint8_t *at;
        a.wide = true;
        put_member(&m, &a);
        put_end(&m, (ending){.wide = true});
        put(signature, &used, cases[i].record, 4);
        at = memmem(m.data, m.size, signature, sizeof signature);
        assert_non_null(at);
        used = (size_t)(at - m.data) + cases[i].at;
        put(m.data, &used, cases[i].value, (int)cases[i].width);
        if (cases[i].words) {
            if (read_all(w, m.data, m.size) != REC_UNKNOWN) {
                fail_msg("number %zu is read", i);
            }
            assert_failed(w, cases[i].status, cases[i].words);
        } else {
            assert_int_equal(read_all(w, m.data, m.size), 4);
        }
    }
}

/* One more than 16 bits count, by the writer and the reader. */
static void members_are_counted_beyond_16_bits(void **state)
{
    world *w = *state;
    w->context.limits.memory_slack = 64 << 20;
    begin_job(w);
    for (uint64_t count = UINT16_MAX - 1; count <= UINT16_MAX; count++) {
        rec_sink *memory = lr_sink_memory(&w->job);
        lr_zip_writer writer;
        void *data = NULL;
        uint64_t size = 0;
        rec_source *source;
        lr_zip zip;
        lr_zip_writer_open(&writer, &w->job, memory, 0);
        for (uint64_t i = 0; i < count; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "%05u", (unsigned)i);
            assert_int_equal(lr_zip_put_bytes(&writer, name, "", 0), REC_OK);
        }
        assert_int_equal(lr_zip_finish(&writer), REC_OK);
        lr_zip_writer_close(&writer);
        assert_int_equal(lr_sink_take(memory, &data, &size), REC_OK);
        assert_int_equal(lr_sink_commit(memory), REC_OK);
        assert_true((memmem((uint8_t *)data + size - 100, 100, "PK\6\6", 4) != NULL) == (count == UINT16_MAX));
        source = lr_source_memory(&w->job, data, size, "a.zip");
        if (lr_zip_open(&zip, &w->job, source) != REC_OK) {
            (void)end_job(w);
            fail_msg("%s", rec_error_message());
        }
        assert_int_equal(zip.count, count);
        assert_non_null(lr_zip_find(&zip, "65533", 5));
        assert_null(lr_zip_find(&zip, "65536", 5));
        lr_zip_close(&zip);
        rec_source_release(source);
        rec_free(data);
    }
}

static void names_have_a_length(void **state)
{
    world *w = *state;
    rec_sink *memory = lr_sink_memory(&w->job);
    char *name = calloc(1, UINT16_MAX + 2);
    lr_zip_writer writer;
    assert_non_null(name);
    lr_zip_writer_open(&writer, &w->job, memory, 0);
    assert_int_equal(lr_zip_put_bytes(&writer, "", "", 0), REC_E_ARGUMENT);
    assert_failed(w, REC_E_ARGUMENT, "a name of 0 bytes; those of a zip archive's members have 1 to 65535");
    memset(name, 'n', UINT16_MAX);
    assert_int_equal(lr_zip_put_bytes(&writer, name, "", 0), REC_OK);
    memset(name, 'n', UINT16_MAX + 1);
    assert_int_equal(lr_zip_put_bytes(&writer, name, "", 0), REC_E_ARGUMENT);
    assert_failed(w, REC_E_ARGUMENT, "a name of 65536 bytes; those of a zip archive's members have 1 to 65535");
    lr_zip_writer_close(&writer);
    (void)lr_sink_commit(memory);
    free(name);
}

/* Writes, opens and verifies. @return whether all of it went well. */
static bool go_round(world *w, const uint8_t *data)
{
    rec_sink *memory = lr_sink_memory(&w->job);
    rec_source *from = memory ? lr_source_memory(&w->job, data, 1000, "from") : NULL, *source = NULL;
    rec_blob range = {.size = sizeof range, .kind = REC_BLOB_RANGE, .length = 1000, .source = from};
    lr_zip_writer writer = {.job = &w->job};
    lr_zip zip = {.job = &w->job};
    void *bytes = NULL;
    uint64_t size = 0;
    bool well = from != NULL;
    if (well) {
        lr_zip_writer_open(&writer, &w->job, memory, 64);
        well = lr_zip_put(&writer, "range", &range, 1) == REC_OK &&
               lr_zip_put_bytes(&writer, "text", "abc", 3) == REC_OK && lr_zip_finish(&writer) == REC_OK &&
               lr_sink_take(memory, &bytes, &size) == REC_OK;
    }
    source = well ? lr_source_memory(&w->job, bytes, size, "a.zip") : NULL;
    well = source && lr_zip_open(&zip, &w->job, source) == REC_OK && zip.count == 2;
    for (uint64_t i = 0; i < 2 && well; i++) {
        well = lr_zip_check(&zip, &zip.members[i]) == REC_OK;
    }
    lr_zip_close(&zip);
    lr_zip_writer_close(&writer);
    rec_source_release(source);
    rec_source_release(from);
    if (memory) {
        (void)lr_sink_commit(memory);
    }
    rec_free(bytes);
    return well;
}

static void any_allocation_may_fail(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(1000);
    use_counted_allocator(w);
    for (w->fail_at = 0;; w->fail_at++) {
        bool well;
        w->made = 0;
        well = go_round(w, data);
        assert_int_equal(end_job(w), well ? REC_OK : REC_E_MEMORY);
        assert_int_equal(w->live, 0);
        if (w->made <= w->fail_at) {
            assert_true(well && w->fail_at > 5);
            break;
        }
        assert_false(well);
    }
    free(data);
}

/* From within, and after its end. */
static void a_member_is_read_again(void **state)
{
    world *w = *state;
    maker m = {0};
    uint8_t room[512], *data = make_pattern(300), piece[100];
    member stored = {.name = "stored", .data = data, .stored = 300, .size = 300, .crc = crc_of(data, 300)},
           deflated = packed("deflated", data, 300, room, sizeof room);
    rec_source *source;
    lr_zip zip;
    put_member(&m, &stored);
    put_member(&m, &deflated);
    put_end(&m, (ending){0});
    source = lr_source_memory(&w->job, m.data, m.size, "a.zip");
    assert_int_equal(lr_zip_open(&zip, &w->job, source), REC_OK);
    for (uint64_t i = 0; i < 2; i++) {
        rec_source *inner = NULL;
        uint64_t got;
        assert_int_equal(lr_zip_source(&zip, &zip.members[i], &inner), REC_OK);
        assert_int_equal(rec_source_read(&w->job, inner, piece, sizeof piece, &got), REC_OK);
        assert_true(got > 0);
        assert_memory_equal(piece, data, (size_t)got);
        assert_int_equal(rec_source_rewind(&w->job, inner), REC_OK);
        assert_reads(w, inner, data, 300, 7);
        assert_int_equal(rec_source_rewind(&w->job, inner), REC_OK);
        assert_reads(w, inner, data, 300, 300);
        rec_source_release(inner);
    }
    lr_zip_close(&zip);
    rec_source_release(source);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sound_archives_are_read, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(unsound_archives_are_refused, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(members_do_not_overlap, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(what_is_written_is_read, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(records_of_64_bits_must_be_sound, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(members_are_counted_beyond_16_bits, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(names_have_a_length, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(a_member_is_read_again, enter_world, leave_world),
        cmocka_unit_test_setup_teardown(any_allocation_may_fail, enter_world, leave_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
