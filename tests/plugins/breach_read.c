/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What is asked of a job and of sources, wrongly. */
#include <librecord/plugin_types.h>
#include "breach.h"

#include <stdlib.h>

/* Whatever was asked for: the rest is right. */
static int32_t then(const reading *x, int32_t status)
{
    return status == REC_OK ? plain(x) : status;
}

/* --------------------------------------------------------------------------------------------------------- job -- */

static int32_t leak(const reading *x)
{
    for (uint64_t i = 0; i < 300; i++) {
        uint8_t *memory = rec_job_alloc(x->job, i);
        if (!memory) {
            return REC_E_MEMORY;
        }
        memset(memory, 7, (size_t)i);
        if (i % 3 == 0) {
            rec_job_free(x->job, memory);
        }
    }
    return plain(x);
}

static int32_t ask_for_memory(const reading *x)
{
    uint8_t foreign[64], *mine;
    if (IS("memory that is not freed")) {
        return leak(x);
    }
    if (IS("memory of no bytes")) {
        mine = rec_job_alloc(x->job, 0);
        mine = mine ? rec_job_resize(x->job, mine, 0) : NULL;
        return mine ? plain(x) : REC_E_MEMORY;
    }
    if (IS("memory of all bytes")) {
        return rec_job_alloc(x->job, UINT64_MAX) ? plain(x) : REC_E_MEMORY;
    }
    if (IS("memory of no job")) {
        return rec_job_alloc(nowhere, 16) ? plain(x) : REC_E_MEMORY;
    }
    mine = rec_job_alloc(x->job, 64);
    if (!mine) {
        return REC_E_MEMORY;
    }
    if (IS("memory freed that is not its own")) {
        rec_job_free(x->job, foreign);
    } else if (IS("memory freed twice")) {
        rec_job_free(x->job, mine);
        rec_job_free(x->job, mine);
    } else if (IS("memory freed in the middle")) {
        rec_job_free(x->job, mine + 16);
    } else if (IS("memory resized that is not its own")) {
        (void)rec_job_resize(x->job, foreign, 100);
    } else if (IS("memory resized that was freed")) {
        rec_job_free(x->job, mine);
        (void)rec_job_resize(x->job, mine, 100);
    } else if (IS("memory freed of no job")) {
        rec_job_free(nowhere, mine);
    } else {
        rec_job_free(x->job, mine);
        return NOT_HERE;
    }
    return plain(x);
}

static int32_t fail_wrongly(const reading *x)
{
    rec_scalar nil = {.kind = REC_KIND_NIL};
    if (IS("failure of status 77")) {
        return rec_fail(x->job, 77, 3, "a status that there is not");
    }
    if (IS("failure of status -1")) {
        return rec_fail(x->job, -1, 3, "a status that there is not");
    }
    if (IS("failure that is none")) {
        return rec_fail(x->job, REC_OK, 3, "a status that is none");
    }
    if (IS("failure found of status 77")) {
        return rec_fail_found(x->job, 77, 3, "a status", "another");
    }
    if (IS("failure without words")) {
        return rec_fail(x->job, REC_E_FORMAT, 3, (const char *)nowhere);
    }
    if (IS("failure without expectation")) {
        return rec_fail_found(x->job, REC_E_FORMAT, 3, nowhere, "something");
    }
    if (IS("failure without finding")) {
        return rec_fail_found(x->job, REC_E_FORMAT, 3, "something", (const char *)nowhere);
    }
    if (IS("failure of no job")) {
        return rec_fail(nowhere, REC_E_FORMAT, 3, "something");
    }
    if (IS("failure that is not UTF-8")) {
        return rec_fail(x->job, REC_E_FORMAT, 3, "found \"%s\" and \x01",
                        "a\xff"
                        "b");
    }
    if (IS("hint without words")) {
        (void)rec_fail(x->job, REC_E_FORMAT, 3, "a file of its own kind");
        rec_fail_hint(x->job, (const char *)nowhere);
        return REC_E_FORMAT;
    }
    if (IS("failure about no source")) {
        (void)rec_fail(x->job, REC_E_FORMAT, 3, "a file of its own kind");
        rec_fail_source(x->job, nowhere);
        return REC_E_FORMAT;
    }
    if (IS("failure without a report")) {
        return REC_E_FORMAT;
    }
    if (IS("end by 77")) {
        return 77;
    }
    if (IS("end by -5")) {
        return -5;
    }
    if (IS("success after a failure")) {
        (void)rec_fail(x->job, REC_E_FORMAT, 3, "a file of its own kind");
        return plain(x) == REC_OK ? REC_E_IO : REC_OK;
    }
    if (IS("success after a refused event")) {
        (void)x->on->end(x->self, 3);
        (void)x->on->scalar(x->self, 3, &nil);
        return REC_OK;
    }
    if (IS("another status than was reported")) {
        (void)rec_fail(x->job, REC_E_FORMAT, 3, "a file of its own kind");
        return 77;
    }
    return NOT_HERE;
}

int32_t breach_job(const reading *x)
{
    const rec_layout *layout = NULL;
    int32_t status = ask_for_memory(x);
    status = status == NOT_HERE ? fail_wrongly(x) : status;
    if (status != NOT_HERE) {
        return status;
    }
    if (IS("option that was not declared")) {
        const char *text = rec_job_option_text(x->job, "brach");
        return !*text && rec_job_option_int(x->job, "brach") == 0 ? plain(x) : 77;
    }
    if (IS("option of no name")) {
        return *rec_job_option_text(x->job, nowhere) ? 77 : plain(x);
    }
    if (IS("option of no job")) {
        return rec_job_option_int(nowhere, "breach") ? 77 : plain(x);
    }
    if (IS("note of kind 77")) {
        rec_job_note(x->job, 77, NULL, "a note");
        return plain(x);
    }
    if (IS("note of kind -1")) {
        rec_job_note(x->job, -1, NULL, "a note");
        return plain(x);
    }
    if (IS("note without words")) {
        rec_job_note(x->job, REC_NOTE_LAYOUT, NULL, (const char *)nowhere);
        return plain(x);
    }
    if (IS("note of no job")) {
        rec_job_note(nowhere, REC_NOTE_LAYOUT, NULL, "a note");
        return plain(x);
    }
    if (IS("note that is not UTF-8")) {
        rec_job_note(x->job, REC_NOTE_LAYOUT, "p\xff", "a note on \xc3 and \x02");
        return plain(x);
    }
    if (IS("progress of no job")) {
        return then(x, rec_job_progress(nowhere, 1, 2));
    }
    if (IS("path into nothing")) {
        return rec_job_path(x->job, nowhere, 10) ? 77 : plain(x);
    }
    if (IS("count of no job")) {
        return then(x, rec_job_check_count(nowhere, 0, 1, 1, 1));
    }
    if (IS("depth of no job")) {
        return rec_job_depth_limit(nowhere) ? 77 : plain(x);
    }
    if (IS("threads of no job")) {
        return rec_job_threads(nowhere) != 1 ? 77 : plain(x);
    }
    if (IS("layout into nothing")) {
        return then(x, rec_job_layout(x->job, nowhere));
    }
    if (IS("layout of no job")) {
        return then(x, rec_job_layout(nowhere, &layout));
    }
    if (IS("layout of nothing")) {
        return then(x, rec_job_layout_of(x->job, nowhere, &layout));
    }
    if (IS("layout of an expression into nothing")) {
        return then(x, rec_job_layout_of(x->job, "Vec<u8>", nowhere));
    }
    if (IS("layout's text into nothing")) {
        return then(x, rec_job_layout_text(x->job, nowhere));
    }
    if (IS("layout by a text without end")) {
        return then(x, rec_job_use_layout_text(x->job, "x", UINT64_MAX));
    }
    if (IS("layout by no text")) {
        return then(x, rec_job_use_layout_text(x->job, nowhere, 10));
    }
    if (IS("nodes of no layout")) {
        return rec_layout_kind(nowhere) || rec_layout_bits(nowhere) || rec_layout_count(nowhere) ||
                       *rec_layout_name(nowhere, 0) || rec_layout_child(nowhere, 0)
                   ? 77
                   : plain(x);
    }
    if (IS("adapter of no name")) {
        return then(x, rec_job_set_adapter(x->job, "no name"));
    }
    if (IS("adapter of no job")) {
        return then(x, rec_job_set_adapter(nowhere, "burn"));
    }
    if (IS("adapter after a value")) {
        status = begin(x);
        return status == REC_OK ? rec_job_set_adapter(x->job, "burn") : status;
    }
    if (IS("adapter of nothing")) {
        return then(x, rec_job_set_adapter(x->job, nowhere));
    }
    if (IS("name into no path")) {
        return then(x, rec_path_push(x->job, nowhere, "a", 1));
    }
    if (IS("pieces of nothing")) {
        rec_source *out;
        return then(x, rec_source_pieces(x->job, "x", nowhere, 1, &out));
    }
    if (IS("pieces of no size")) {
        const rec_source_piece piece = {.source = x->source};
        rec_source *out;
        return then(x, rec_source_pieces(x->job, "x", &piece, 1, &out));
    }
    if (IS("measure into nothing")) {
        return then(x, rec_source_measure(x->job, x->source, nowhere));
    }
    if (IS("slice beyond a blob")) {
        const rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = 1, .data = "x"};
        rec_blob slice;
        return then(x, rec_blob_slice(x->job, &blob, 1, 1, &slice));
    }
    if (IS("levels in a load")) {
        return then(x, rec_job_walk_levels(x->job, &breach_writer, nowhere));
    }
    if (IS("user of no job")) {
        return rec_job_user(nowhere) ? 77 : plain(x);
    }
    if (IS("escaping nothing")) {
        char path[8];
        return rec_path_escape(nowhere, 8, path, sizeof path) ? 77 : plain(x);
    }
    if (IS("unescaping into nothing")) {
        return rec_path_unescape("a.b", 3, nowhere, 8) ? 77 : plain(x);
    }
    if (IS("id into nothing")) {
        return *rec_id_text(7, nowhere) ? 77 : plain(x);
    }
    if (IS("id of nothing")) {
        uint64_t number;
        return rec_id_number(nowhere, &number) ? 77 : plain(x);
    }
    if (IS("version of no job")) {
        return rec_job_burn(nowhere) >= 0 ? 77 : plain(x);
    }
    if (IS("word of nothing")) {
        return rec_is_rust_word(nowhere, 5) ? 77 : plain(x);
    }
    if (IS("walk in a load")) {
        return then(x, rec_job_walk(x->job, &breach_writer, nowhere));
    }
    if (IS("walk in a load for nobody")) {
        return then(x, rec_job_walk(x->job, nowhere, nowhere));
    }
    if (IS("sink in a load")) {
        return rec_sink_layout(x->job) ? plain(x) : REC_E_MEMORY;
    }
    return NOT_HERE;
}

/* ----------------------------------------------------------------------------------------------------- sources -- */

int32_t breach_sources(const reading *x)
{
    const void *view = NULL;
    const char *const *names = NULL;
    rec_source *other = NULL;
    uint64_t size = 0;
    uint8_t room[64];
    rec_job *job = x->job;
    rec_source *source = x->source;
    int32_t status;
#define DOES(breach_, ...)           \
    if (IS(breach_)) {               \
        return then(x, __VA_ARGS__); \
    }
    DOES("view of nothing", rec_source_view(job, nowhere, &view, &size))
    DOES("view of no job", rec_source_view(nowhere, source, &view, &size))
    DOES("view into nothing", rec_source_view(job, source, nowhere, &size))
    DOES("view without a size", rec_source_view(job, source, &view, nowhere))
    DOES("read of nothing", rec_source_read(job, nowhere, room, 4, &size))
    DOES("read into nothing", rec_source_read(job, source, nowhere, 4, &size))
    DOES("read without a size", rec_source_read(job, source, room, 4, nowhere))
    DOES("read of no job", rec_source_read(nowhere, source, room, 4, &size))
    DOES("read at a place of nothing", rec_source_read_at(job, nowhere, 0, room, 4))
    DOES("read at a place into nothing", rec_source_read_at(job, source, 0, nowhere, 4))
    DOES("read past the end", rec_source_read_at(job, source, 1000, room, 4))
    DOES("read without end", rec_source_read_at(job, source, UINT64_MAX - 2, room, 4))
    DOES("rewind of nothing", rec_source_rewind(job, nowhere))
    DOES("rewind of no job", rec_source_rewind(nowhere, source))
    DOES("names of nothing", rec_source_names(job, nowhere, &names, &size))
    DOES("names into nothing", rec_source_names(job, source, nowhere, &size))
    DOES("beside nothing", rec_source_beside(job, nowhere, "x", &other))
    DOES("beside of no name", rec_source_beside(job, source, nowhere, &other))
    DOES("beside into nothing", rec_source_beside(job, source, "x", nowhere))
    DOES("beside of no job", rec_source_beside(nowhere, source, "x", &other))
    DOES("beside with a slash", rec_source_beside(job, source, "../x", &other))
    DOES("beside of dots", rec_source_beside(job, source, "..", &other))
    DOES("beside of an empty name", rec_source_beside(job, source, "", &other))
    DOES("perhaps beside of no name", rec_source_beside_maybe(job, source, nowhere, &other))
    DOES("at hand of nothing", rec_source_at_hand(job, nowhere, 0, 1, &view))
    DOES("at hand into nothing", rec_source_at_hand(job, source, 0, 1, nowhere))
    DOES("at hand of no job", rec_source_at_hand(nowhere, source, 0, 1, &view))
    DOES("at hand past the end", rec_source_at_hand(job, source, 1, 1000, &view))
    DOES("at hand without end", rec_source_at_hand(job, source, 8, UINT64_MAX - 4, &view))
    DOES("part of nothing", rec_source_part(job, nowhere, 0, 1, &other))
    DOES("part into nothing", rec_source_part(job, source, 0, 1, nowhere))
    DOES("part past the end", rec_source_part(job, source, 1, 1000, &other))
    DOES("part without end", rec_source_part(job, source, 8, UINT64_MAX - 4, &other))
    DOES("name of nothing", *rec_source_name(nowhere) ? 77 : REC_OK)
    DOES("size of nothing", rec_source_size(nowhere) == 0 ? 77 : REC_OK)
    DOES("retaining nothing", rec_source_retain(nowhere) ? 77 : REC_OK)
    if (IS("release of what it was given")) {
        rec_source_release(source);
        return plain(x);
    }
    if (IS("release of what it was given, often")) {
        for (int i = 0; i < 10; i++) {
            rec_source_release(source);
        }
        return plain(x);
    }
    if (IS("release of what is none")) {
        rec_source_release((rec_source *)(void *)room);
        return plain(x);
    }
    if (IS("release of one more than were retained")) {
        (void)rec_source_retain(source);
        rec_source_release(source);
        rec_source_release(source);
        return plain(x);
    }
    if (!IS("release twice") && !IS("no release") && !IS("no release of many")) {
        return NOT_HERE;
    }
    for (int i = 0; i < (IS("no release of many") ? 1000 : 1); i++) {
        status = rec_source_part(job, source, 1, 2, &other);
        if (status != REC_OK) {
            return status;
        }
    }
    if (IS("release twice")) {
        rec_source_release(other);
        rec_source_release(other);
    }
    return plain(x);
}

/* ----------------------------------------------------------------------------- filters, and sources of its own -- */

/** What a filter of this plugin is. */
typedef struct filter {
    rec_source *parent, *own;
    const char *breach;
    uint64_t at;
    rec_source *lent; /* what it says is beside it */
} filter;

static int32_t filter_read(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    filter *x = self;
    const void *view;
    uint64_t size;
    if (IS("filter that gives more than there is room for")) {
        *got = room + 1;
        return REC_OK;
    }
    if (IS("filter that fails without a word") || IS("source that fails without a word")) {
        return REC_E_IO;
    }
    if (IS("filter that fails oddly")) {
        return 77;
    }
    if (IS("filter that reads itself")) {
        return rec_source_read(job, x->own, target, room, got);
    }
    if (IS("filter that views itself")) {
        return rec_source_view(job, x->own, &view, &size);
    }
    if (IS("filter that rewinds itself")) {
        return rec_source_rewind(job, x->own);
    }
    if (IS("filter that releases its parent")) {
        rec_source_release(x->parent);
        *got = 0;
        return REC_OK;
    }
    if (IS("filter without end")) {
        memset(target, 0, (size_t)room);
        *got = room;
        return REC_OK;
    }
    *got = x->at < 8 && room ? 1 : 0;
    x->at += *got;
    if (*got) {
        *(char *)target = 'x';
    }
    return REC_OK;
}

static int32_t filter_read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    const filter *x = self;
    (void)offset;
    if (IS("source that reads itself")) {
        return rec_source_read_at(job, x->own, offset, target, size);
    }
    if (IS("source that fails without a word")) {
        return REC_E_IO;
    }
    memset(target, 'x', (size_t)size);
    return REC_OK;
}

static uint64_t filter_total(void *self)
{
    (void)self;
    return 8;
}

static int32_t filter_rewind(void *self, rec_job *job)
{
    filter *x = self;
    (void)job;
    x->at = 0;
    return IS("filter that cannot begin again") ? 77 : REC_OK;
}

static int32_t filter_beside(void *self, rec_job *job, const char *name, int32_t optional, rec_source **out)
{
    const filter *x = self;
    (void)job, (void)name, (void)optional;
    if (IS("source that lends what is not its own")) {
        *out = x->parent;
    }
    return IS("source that fails to lend") ? 77 : REC_OK;
}

static const rec_source_ops filter_ops = {
    .size = sizeof(rec_source_ops), .read = filter_read, .rewind = filter_rewind, .release = free};
static const rec_source_ops made_ops = {.size = sizeof(rec_source_ops),
                                        .read = filter_read,
                                        .release = free,
                                        .read_at = filter_read_at,
                                        .total = filter_total,
                                        .beside = filter_beside};

static void *filter_new(const reading *x)
{
    filter *self = calloc(1, sizeof *self);
    if (self) {
        self->parent = x->source;
        self->breach = x->breach;
    }
    return self;
}

/* Those that can be made: they are read, and given back. */
static int32_t use_filter(const reading *x, int made)
{
    rec_source *out = NULL, *beside = NULL;
    filter *self = filter_new(x);
    const void *view;
    uint64_t size, got;
    uint8_t byte;
    int32_t status = !self  ? rec_fail(x->job, REC_E_MEMORY, REC_UNKNOWN, "no memory")
                     : made ? rec_source_make(x->job, "made", &made_ops, self, &out)
                            : rec_source_filter(x->job, x->source, &filter_ops, self, &out);
    if (status != REC_OK) {
        return status;
    }
    self->own = out;
    status = IS("source that lends what is not its own") || IS("source that lends nothing") ||
                     IS("source that fails to lend")
                 ? rec_source_beside(x->job, out, "other", &beside)
             : IS("filter that reads itself") || IS("filter that cannot begin again")
                 ? rec_source_read(x->job, out, &byte, 1, &got)
                 : rec_source_view(x->job, out, &view, &size);
    if (status == REC_OK && IS("filter that cannot begin again")) {
        status = rec_source_rewind(x->job, out);
    }
    if (!IS("filter that is not given back")) {
        rec_source_release(out);
    }
    return status == REC_OK ? plain(x) : status;
}

int32_t breach_filters(const reading *x)
{
    rec_source_ops ops = filter_ops;
    rec_source *out = NULL, *byte_wise = NULL;
    rec_job *job = x->job;
    rec_source *source = x->source;
    uint64_t got;
    uint8_t byte;
    int32_t status;
    DOES("filter of nothing", rec_source_filter(job, nowhere, &filter_ops, NULL, &out))
    DOES("filter without functions", rec_source_filter(job, source, nowhere, NULL, &out))
    DOES("filter into nothing", rec_source_filter(job, source, &filter_ops, NULL, nowhere))
    DOES("filter of no job", rec_source_filter(nowhere, source, &filter_ops, NULL, &out))
    DOES("source without functions", rec_source_make(job, "x", nowhere, NULL, &out))
    DOES("source without a name", rec_source_make(job, nowhere, &made_ops, NULL, &out))
    DOES("source into nothing", rec_source_make(job, "x", &made_ops, NULL, nowhere))
    if (IS("filter of size 0") || IS("filter of size 16") || IS("filter of size 70000")) {
        ops.size = IS("filter of size 0") ? 0 : IS("filter of size 16") ? 16 : 70000;
        return then(x, rec_source_filter(job, source, &ops, NULL, &out));
    }
    if (IS("source of size 0") || IS("source of size 70000")) {
        ops.size = IS("source of size 0") ? 0 : 70000;
        return then(x, rec_source_make(job, "x", &ops, NULL, &out));
    }
    if (IS("filter without read")) {
        ops.read = NULL;
        return then(x, rec_source_filter(job, source, &ops, filter_new(x), &out));
    }
    if (IS("filter without rewind")) {
        ops.rewind = NULL;
        return then(x, rec_source_filter(job, source, &ops, filter_new(x), &out));
    }
    if (IS("source without read")) {
        ops.read = NULL;
        return then(x, rec_source_make(job, "x", &ops, filter_new(x), &out));
    }
    if (IS("filter used by parts, then released twice")) {
        status = rec_source_filter(job, source, &filter_ops, filter_new(x), &byte_wise);
        status = status == REC_OK ? rec_source_read(job, byte_wise, &byte, 1, &got) : status;
        rec_source_release(byte_wise);
        rec_source_release(byte_wise);
        return then(x, status);
    }
    if (strncmp(x->breach, "filter that ", 12) == 0 || IS("filter without end")) {
        return use_filter(x, 0);
    }
    if (strncmp(x->breach, "source that ", 12) == 0) {
        return use_filter(x, 1);
    }
    return NOT_HERE;
}
