/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a folder of plugins: what its files hold, so that a look-up need not open all of them to find one.
 *
 * A line a fact, the words separated by one blank. `f` begins a file, `p` a plugin of it, what follows is the plugin's:
 *     librecord plugins 1
 *     f SIZE SECONDS NANOSECONDS NAME.so
 *     p KIND TRAITS FUNCTIONS NAME
 *     a ALIAS
 *     e EXTENSION                   the first is the one that is appended
 *     s SCHEME
 *     c FORMAT CODEC                of a stack
 *     m OFFSET BYTES MASK           magic, in hexadecimal digits
 *     z SUM                         of all that stands before it; the last line
 * Traits and functions are hexadecimal. A file counts only as long as its size and its time are those of the index;
 * what the index does not have, or has wrong, is opened. So nothing is found that is not there, and what is opened is
 * checked as if there were no index. It is input as any other: no line of it can do more than be refused, and one that
 * is wrong makes all of them count for nothing. */
#include "core/registry/index_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char first_line[] = "librecord plugins 1";

enum { INDEX_MOST = 1024 * 1024, MAGIC_BYTES = 16, WORDS_MOST = 64 };

/* What a plugin has, in the word FUNCTIONS. */
enum { HAS_LOAD = 1, HAS_SAVE = 2, HAS_PROBE = 4, HAS_DECODE = 8, HAS_ENCODE = 16, HAS_OPEN = 32 };

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* They stand for functions that are not there yet, and are never called. */
static int32_t told_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    (void)source;
    (void)visitor;
    (void)self;
    return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "a plugin was used that was not opened");
}

static int32_t told_save(rec_job *job, rec_sink *sink)
{
    (void)sink;
    return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "a plugin was used that was not opened");
}

static int32_t told_probe(const rec_head *head)
{
    (void)head;
    return 0;
}

static int32_t told_decode(rec_job *job, rec_source *stored, rec_source **out)
{
    (void)stored;
    *out = NULL;
    return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "a plugin was used that was not opened");
}

static int32_t told_encode(rec_job *job, rec_sink *target, rec_sink **out)
{
    (void)target;
    *out = NULL;
    return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "a plugin was used that was not opened");
}

static int32_t told_open(rec_job *job, const char *location, rec_source **out)
{
    (void)location;
    *out = NULL;
    return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "a plugin was used that was not opened");
}

/** The plugin that is read. */
typedef struct words {
    const char *at[WORDS_MOST + 1];
    size_t count;
} words;

/** The index as it is read. */
typedef struct reader {
    rec_job *job;
    lr_arena *arena;
    lr_index *index;
    bool begun;   /**< `d` has a name */
    rec_plugin d; /**< the plugin that is read */
    words aliases, extensions, schemes;
    const rec_magic *magic[WORDS_MOST + 1];
    size_t magic_count;
} reader;

/* The next word of a line, which ends there then. NULL: there is none. */
static char *take_word(char **at)
{
    char *word = *at;
    size_t length = word ? strcspn(word, " ") : 0;
    if (length == 0) {
        return NULL;
    }
    *at = word[length] ? word + length + 1 : NULL;
    word[length] = '\0';
    return word;
}

/* @param digits a sign, or a digit of the base. */
static bool take_number(char **at, int base, long long least, long long most, long long *number)
{
    const char *word = take_word(at);
    char *end = NULL;
    if (!word || strspn(word, base == 16 ? "0123456789abcdef" : "-0123456789") != strlen(word)) {
        return false;
    }
    errno = 0;
    *number = strtoll(word, &end, base);
    return errno == 0 && end != word && *end == '\0' && *number >= least && *number <= most;
}

static const char *keep(reader *r, const char *text)
{
    const char *kept = lr_arena_text(r->arena, text, strlen(text));
    if (!kept) {
        (void)lr_fail_memory(r->job, strlen(text) + 1);
    }
    return kept;
}

/* A list of pointers with its NULL. */
static void *keep_list(reader *r, const void *list, size_t count)
{
    size_t size = (count + 1) * sizeof(void *);
    void **kept;
    if (count == 0) {
        return NULL;
    }
    kept = lr_arena_alloc(r->arena, size, 16);
    if (!kept) {
        (void)lr_fail_memory(r->job, size);
        return NULL;
    }
    memcpy(kept, list, count * sizeof(void *));
    kept[count] = NULL;
    return kept;
}

static bool add_word(reader *r, words *list, char *line)
{
    const char *word = take_word(&line);
    if (!word || line || !r->begun || list->count == WORDS_MOST) {
        return false;
    }
    list->at[list->count] = keep(r, word);
    return list->at[list->count++] != NULL;
}

/* Ends the plugin that was read. @return false: it is none, or the job has failed. */
static bool end_plugin(reader *r)
{
    lr_index_file *file = r->index->count ? &r->index->files[r->index->count - 1] : NULL;
    char reason[LR_REASON];
    rec_plugin copy;
    if (!r->begun) {
        return true;
    }
    r->begun = false;
    r->d.aliases = keep_list(r, r->aliases.at, r->aliases.count);
    r->d.schemes = keep_list(r, r->schemes.at, r->schemes.count);
    r->d.magic = keep_list(r, (const void *)r->magic, r->magic_count);
    if (r->extensions.count) {
        r->d.extension = r->extensions.at[0];
        r->d.extensions = keep_list(r, r->extensions.at + 1, r->extensions.count - 1);
    }
    if (lr_job_failed(r->job) || !lr_plugin_check(&r->d, &copy, reason) ||
        !lr_job_arena_grow(r->job, r->arena, &file->plugins, file->count + 1, &file->room, sizeof copy)) {
        return false;
    }
    file->plugins[file->count++] = copy;
    return true;
}

static bool begin_file(reader *r, char *line)
{
    lr_index *index = r->index;
    lr_index_file file = {.count = 0};
    long long size, seconds, nanoseconds;
    const char *name;
    if (!end_plugin(r) || !take_number(&line, 10, 0, LLONG_MAX, &size) ||
        !take_number(&line, 10, LLONG_MIN, LLONG_MAX, &seconds) ||
        !take_number(&line, 10, 0, 999999999, &nanoseconds) || !(name = take_word(&line)) || line) {
        return false;
    }
    file.name = keep(r, name);
    file.size = (uint64_t)size;
    file.seconds = seconds;
    file.nanoseconds = nanoseconds;
    if (!file.name ||
        !lr_job_arena_grow(r->job, r->arena, &index->files, index->count + 1, &index->room, sizeof file)) {
        return false;
    }
    index->files[index->count++] = file;
    return true;
}

static bool begin_plugin(reader *r, char *line)
{
    long long kind, traits, functions;
    const char *name;
    if (!end_plugin(r) || r->index->count == 0 || !take_number(&line, 10, 0, INT32_MAX, &kind) ||
        !take_number(&line, 16, 0, LLONG_MAX, &traits) || !take_number(&line, 16, 0, 63, &functions) ||
        !(name = take_word(&line)) || line) {
        return false;
    }
    r->aliases.count = r->extensions.count = r->schemes.count = r->magic_count = 0;
    r->d = (rec_plugin){.abi = REC_PLUGIN_ABI,
                        .size = sizeof r->d,
                        .name = keep(r, name),
                        .description = "as its folder's index has it",
                        .kind = (int32_t)kind,
                        .traits = (uint64_t)traits,
                        .load = functions & HAS_LOAD ? told_load : NULL,
                        .save = functions & HAS_SAVE ? told_save : NULL,
                        .probe = functions & HAS_PROBE ? told_probe : NULL,
                        .decode = functions & HAS_DECODE ? told_decode : NULL,
                        .encode = functions & HAS_ENCODE ? told_encode : NULL,
                        .open = functions & HAS_OPEN ? told_open : NULL};
    r->begun = r->d.name != NULL;
    return r->begun;
}

static bool add_stack(reader *r, char *line)
{
    const char *format = take_word(&line), *codec = line ? take_word(&line) : NULL;
    if (!format || !codec || line || !r->begun) {
        return false;
    }
    r->d.format = keep(r, format);
    r->d.codec = keep(r, codec);
    return r->d.format && r->d.codec;
}

/* Two digits a byte. @return how many bytes, 0: none, too many, or no digits. */
static uint32_t read_bytes(const char *word, uint8_t *bytes)
{
    size_t length = word ? strlen(word) : 0;
    if (length == 0 || length % 2 || length > 2 * MAGIC_BYTES || strspn(word, "0123456789abcdef") != length) {
        return 0;
    }
    for (size_t i = 0; i < length / 2; i++) {
        const char digits[3] = {word[2 * i], word[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return (uint32_t)(length / 2);
}

static bool add_magic(reader *r, char *line)
{
    struct {
        rec_magic magic;
        uint8_t bytes[MAGIC_BYTES], mask[MAGIC_BYTES];
    } *kept;
    long long offset;
    if (!r->begun || r->magic_count == WORDS_MOST || !take_number(&line, 10, LLONG_MIN, LLONG_MAX, &offset)) {
        return false;
    }
    kept = lr_arena_alloc(r->arena, sizeof *kept, 16);
    if (!kept) {
        (void)lr_fail_memory(r->job, sizeof *kept);
        return false;
    }
    kept->magic = (rec_magic){.size = sizeof kept->magic, .offset = offset, .bytes = kept->bytes, .mask = kept->mask};
    kept->magic.length = line ? read_bytes(take_word(&line), kept->bytes) : 0;
    r->magic[r->magic_count++] = &kept->magic;
    return kept->magic.length && line && read_bytes(take_word(&line), kept->mask) == kept->magic.length && !line;
}

static bool read_line(reader *r, char *line)
{
    char what = line[0];
    if (what == '\0' || line[1] != ' ') {
        return false;
    }
    line += 2;
    switch (what) {
    case 'f':
        return begin_file(r, line);
    case 'p':
        return begin_plugin(r, line);
    case 'a':
        return add_word(r, &r->aliases, line);
    case 'e':
        return add_word(r, &r->extensions, line);
    case 's':
        return add_word(r, &r->schemes, line);
    case 'c':
        return add_stack(r, line);
    case 'm':
        return add_magic(r, line);
    default:
        return false;
    }
}

/* @param text with a NUL at its end. */
static bool read_text(reader *r, char *text, size_t size)
{
    char *line = text, *end = text + size;
    bool first = true;
    while (line < end) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop || memchr(line, '\0', (size_t)(stop - line))) {
            return false; /* cut short, or no text */
        }
        *stop = '\0';
        if (first ? strcmp(line, first_line) != 0 : !read_line(r, line)) {
            return false;
        }
        first = false;
        line = stop + 1;
    }
    return end_plugin(r);
}

/* FNV-1a: against accidents. Who may write here may put plugins here, too. */
static uint64_t sum_of(const char *text, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

enum { SUM_LINE = 2 + 16 + 1 };

static void print_sum(char line[SUM_LINE + 1], const char *text, size_t size)
{
    (void)snprintf(line, SUM_LINE + 1, "z %016" PRIx64 "\n", sum_of(text, size));
}

/* @return the size without the sum, 0 if that is not right. */
static size_t check_sum(const char *text, size_t size)
{
    char line[SUM_LINE + 1];
    if (size < SUM_LINE) {
        return 0;
    }
    print_sum(line, text, size - SUM_LINE);
    return memcmp(line, text + size - SUM_LINE, SUM_LINE) == 0 ? size - SUM_LINE : 0;
}

/* The whole file, which was `state`. @return NULL: there is none to be had. */
static char *read_file(rec_job *job, const char *path, const struct stat *state)
{
    size_t size = (size_t)state->st_size, used = 0;
    char *text = lr_alloc(job->allocator, size + 1);
    int fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = 1;
    if (!text) {
        (void)lr_fail_memory(job, size + 1);
        return NULL;
    }
    while (fd >= 0 && used < size && got > 0) {
        got = read(fd, text + used, size - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (used < size) {
        lr_release(job->allocator, text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

int32_t lr_index_read(rec_job *job, lr_arena *arena, const char *folder, bool installed, lr_index *index)
{
    char path[PATH_MAX], reason[LR_REASON], *text = NULL;
    struct stat state;
    size_t size;
    reader *r;
    *index = (lr_index){.count = 0};
    if (snprintf(path, sizeof path, "%s/%s", folder, LR_INDEX_NAME) >= (int)sizeof path ||
        *lr_trust_file(path, installed, &state, reason) || state.st_size > INDEX_MOST) {
        return REC_OK;
    }
    r = lr_zalloc(job->allocator, sizeof *r);
    if (!r) {
        return lr_fail_memory(job, sizeof *r);
    }
    r->job = job;
    r->arena = arena;
    r->index = index;
    text = read_file(job, path, &state);
    size = text ? check_sum(text, (size_t)state.st_size) : 0;
    if (!size || !read_text(r, text, size)) {
        *index = (lr_index){.count = 0};
    }
    lr_release(job->allocator, text);
    lr_release(job->allocator, r);
    return job->error.status;
}

const lr_index_file *lr_index_find(const lr_index *index, const char *name, const struct stat *state)
{
    for (uint64_t i = 0; i < index->count; i++) {
        const lr_index_file *file = &index->files[i];
        if (strcmp(file->name, name) == 0) {
            /* Archives keep whole seconds: a file that came out of one has none of the rest. */
            bool same = file->size == (uint64_t)state->st_size && file->seconds == (long long)state->st_mtim.tv_sec &&
                        (file->nanoseconds == state->st_mtim.tv_nsec || state->st_mtim.tv_nsec == 0);
            return same ? file : NULL;
        }
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

void lr_index_begin(FILE *out)
{
    (void)fprintf(out, "%s\n", first_line);
}

void lr_index_add_file(FILE *out, const char *name, const struct stat *state)
{
    (void)fprintf(out, "f %lld %lld %ld %s\n", (long long)state->st_size, (long long)state->st_mtim.tv_sec,
                  (long)state->st_mtim.tv_nsec, name);
}

static void print_words(FILE *out, char what, const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++) {
        (void)fprintf(out, "%c %s\n", what, list[i]);
    }
}

static void print_magic(FILE *out, const rec_magic *magic)
{
    (void)fprintf(out, "m %" PRId64 " ", magic->offset);
    for (uint32_t i = 0; i < magic->length; i++) {
        (void)fprintf(out, "%02x", magic->bytes[i]);
    }
    (void)fputc(' ', out);
    for (uint32_t i = 0; i < magic->length; i++) {
        (void)fprintf(out, "%02x", magic->mask ? magic->mask[i] : 0xff);
    }
    (void)fputc('\n', out);
}

void lr_index_add_plugin(FILE *out, const rec_plugin *d)
{
    unsigned functions = (d->load ? HAS_LOAD : 0u) | (d->save ? HAS_SAVE : 0u) | (d->probe ? HAS_PROBE : 0u) |
                         (d->decode ? HAS_DECODE : 0u) | (d->encode ? HAS_ENCODE : 0u) | (d->open ? HAS_OPEN : 0u);
    (void)fprintf(out, "p %d %" PRIx64 " %x %s\n", (int)d->kind, d->traits & (uint64_t)INT64_MAX, functions, d->name);
    print_words(out, 'a', d->aliases);
    if (d->extension) {
        (void)fprintf(out, "e %s\n", d->extension);
    }
    print_words(out, 'e', d->extensions);
    print_words(out, 's', d->schemes);
    if (d->format && d->codec) {
        (void)fprintf(out, "c %s %s\n", d->format, d->codec);
    }
    for (size_t i = 0; d->magic && d->magic[i]; i++) {
        print_magic(out, d->magic[i]);
    }
}

void lr_index_end(FILE *out, const char *text, size_t size)
{
    char line[SUM_LINE + 1];
    print_sum(line, text, size);
    (void)fputs(line, out);
}
