/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Jobs: the error, the report, the budget and the progress of one operation; and the calling thread's last error. */
#include "core/base/base.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


/* -------------------------------------------------------------------------------------------------- the report -- */

enum { NOTES_KEPT = 1000 };

struct lr_report {
    lr_arena arena;
    rec_note *notes;
    uint64_t count, room;
};

/* Reports outlive their job and its context, so they come from malloc. */
static lr_report *report_new(void)
{
    lr_report *report = malloc(sizeof *report);
    if (report) {
        *report = (lr_report){0};
        lr_arena_init(&report->arena, &lr_standard_allocator);
    }
    return report;
}

static void report_free(void *memory)
{
    lr_report *report = memory;
    if (report) {
        lr_arena_free(&report->arena);
        free(report->notes);
        free(report);
    }
}

static void report_add(lr_report *report, const rec_note *note)
{
    rec_note kept = *note;
    if (report->count == NOTES_KEPT) {
        return;
    }
    if (!lr_grow(&lr_standard_allocator, &report->notes, report->count + 1, &report->room, sizeof *report->notes)) {
        return;
    }
    kept.path = lr_arena_text(&report->arena, note->path, strlen(note->path));
    kept.text = lr_arena_text(&report->arena, note->text, strlen(note->text));
    if (kept.path && kept.text) {
        report->notes[report->count++] = kept;
    }
}

/* -------------------------------------------------------------------------------------- the thread's last words -- */

static _Thread_local lr_error last_error = {.offset = REC_UNKNOWN};
static _Thread_local uint64_t last_notes;
static _Thread_local lr_report *last_report;

/* The report is the one part that is allocated: a key frees it when the thread ends. */
static pthread_key_t report_key;
static pthread_once_t report_once = PTHREAD_ONCE_INIT;
static int report_key_made;

static void make_report_key(void)
{
    report_key_made = pthread_key_create(&report_key, report_free) == 0;
}

static void publish_report(lr_report *report, uint64_t notes)
{
    (void)pthread_once(&report_once, make_report_key);
    report_free(last_report);
    if (report && (!report_key_made || pthread_setspecific(report_key, report) != 0)) {
        report_free(report);
        report = NULL;
    }
    if (!report && report_key_made) {
        (void)pthread_setspecific(report_key, NULL);
    }
    last_report = report;
    last_notes = notes;
}

static void clear_error(lr_error *error)
{
    error->status = REC_OK;
    error->line = 0;
    error->offset = REC_UNKNOWN;
    error->file[0] = error->path[0] = error->expected[0] = error->found[0] = '\0';
    error->hint[0] = error->what[0] = error->message[0] = '\0';
}

/* The beginning of the character that byte `at` of a text is in. */
static size_t boundary(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80) {
        at--;
    }
    return at;
}

/* Copies what fits; a cut text ends in "..." at a character's boundary. */
static void copy_text(char *target, size_t room, const char *text)
{
    size_t length = strlen(text);
    if (length < room) {
        memcpy(target, text, length + 1);
        return;
    }
    length = boundary(text, room - 4);
    memcpy(target, text, length);
    memcpy(target + length, "...", 4);
}

static void print_text(char *target, size_t room, const char *format, va_list args) REC_PRINTF(3, 0);
static void print_text(char *target, size_t room, const char *format, va_list args)
{
    int length = vsnprintf(target, room, format, args);
    if (length < 0) {
        copy_text(target, room, "(text lost)");
    } else if ((size_t)length >= room) {
        memcpy(target + boundary(target, room - 4), "...", 4);
    }
}

char *lr_group_digits(uint64_t number, char *buffer, size_t room)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t at = 0;
    for (int i = 0; i < length && at + 2 < room; i++) {
        if (i && (length - i) % 3 == 0) {
            buffer[at++] = ',';
        }
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

enum { PATH_SHOWN = 160 };

/* FILE: line N: PATH: WHAT, or FILE: byte N: PATH: WHAT; then the hint, each of its lines indented. */
static void compose(lr_error *error)
{
    char *at = error->message;
    size_t room = sizeof error->message;
    char digits[32];
    int n = 0;
#define APPEND(...)                          \
    do {                                     \
        n = snprintf(at, room, __VA_ARGS__); \
        if (n < 0 || (size_t)n >= room) {    \
            return;                          \
        }                                    \
        at += n;                             \
        room -= (size_t)n;                   \
    } while (0)
    if (error->file[0]) {
        APPEND("%s: ", error->file);
    }
    if (error->line) {
        APPEND("line %" PRIu32 ": ", error->line);
    }
    if (error->offset != REC_UNKNOWN) {
        APPEND("byte %s: ", lr_group_digits(error->offset, digits, sizeof digits));
    }
    if (strlen(error->path) > PATH_SHOWN) {
        APPEND("%.*s…%s: ", (int)boundary(error->path, PATH_SHOWN / 2), error->path,
               error->path + boundary(error->path, strlen(error->path) - PATH_SHOWN / 2));
    } else if (error->path[0]) {
        APPEND("%s: ", error->path);
    }
    APPEND("%s", error->what);
    for (const char *line = error->hint; *line;) {
        size_t length = strcspn(line, "\n");
        APPEND("\n  %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
#undef APPEND
}

/* ---------------------------------------------------------------------------------------------------- the job -- */

rec_limits rec_limits_default(void)
{
    return (rec_limits){
        .size = sizeof(rec_limits),
        .depth = 128,
        .memory_factor = 4,
        .memory_slack = UINT64_C(1) << 20,
        .inflated_factor = 64,
        .inflated_slack = UINT64_C(1) << 30,
        .elements = 65536,
    };
}

void lr_job_begin(rec_job *job, rec_context *context, const char *operation, const char *file)
{
    memset(job, 0, offsetof(rec_job, error));
    clear_error(&job->error);
    job->operation = operation;
    job->file = file;
    job->total = REC_UNKNOWN;
    job->context = context;
    job->allocator = context ? &context->allocator : &lr_standard_allocator;
    job->limits = context ? context->limits : rec_limits_default();
    job->budget.limit = job->limits.memory_slack;
}

/* What the rooms above keep in the job. */
static void give_back(rec_job *job)
{
    if (job->at_end) {
        job->at_end(job);
    }
    job->beside = 0;
}

void lr_job_drop(rec_job *job)
{
    give_back(job);
    report_free(job->report);
    job->report = NULL;
    job->notes = 0;
}

void lr_job_again(rec_job *job)
{
    lr_job_drop(job);
    clear_error(&job->error);
    job->hinting = false;
    job->budget.used = 0;
    job->burn_known = false;
}

void lr_job_forgive(rec_job *job)
{
    clear_error(&job->error);
    job->hinting = false;
}

rec_status lr_job_end(rec_job *job)
{
    rec_status status = job->error.status;
    give_back(job);
    publish_report(job->report, job->notes);
    job->report = NULL;
    if (status != REC_OK) {
        compose(&job->error);
        last_error = job->error;
    } else {
        clear_error(&last_error);
    }
    return status;
}

static void follow_input(rec_job *job)
{
    uint64_t all, limit;
    if (!lr_add(job->input, job->beside, &all) || !lr_mul(all, job->limits.memory_factor, &limit) ||
        !lr_add(limit, job->limits.memory_slack, &limit)) {
        limit = UINT64_MAX;
    }
    job->budget.limit = limit;
}

void lr_job_input(rec_job *job, uint64_t size)
{
    if (size >= job->input) {
        job->input = size;
        follow_input(job);
    }
}

void lr_job_beside(rec_job *job, uint64_t size)
{
    if (!lr_add(job->beside, size, &job->beside)) {
        job->beside = UINT64_MAX;
    }
    follow_input(job);
}

static int32_t fail_begin(rec_job *job, int32_t status, uint64_t at)
{
    lr_error *error = &job->error;
    job->hinting = error->status == REC_OK;
    if (!job->hinting) {
        return 0;
    }
    job->named = false;
    error->status = status == REC_OK ? REC_E_PLUGIN : status;
    error->offset = at;
    if (job->file) {
        copy_text(error->file, sizeof error->file, job->file);
    }
    if (job->where) {
        (void)job->where(job->where_user, error->path, sizeof error->path);
    }
    return 1;
}

int32_t lr_vfail(rec_job *job, int32_t status, uint64_t at, const char *format, va_list args)
{
    if (fail_begin(job, status, at)) {
        print_text(job->error.what, sizeof job->error.what, format, args);
    }
    return job->error.status;
}

int32_t rec_fail(rec_job *job, int32_t status, uint64_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = lr_vfail(job, status, at, format, args);
    va_end(args);
    return status;
}

int32_t rec_fail_found(rec_job *job, int32_t status, uint64_t at, const char *expected, const char *found, ...)
{
    lr_error *error = &job->error;
    if (fail_begin(job, status, at)) {
        va_list args;
        va_start(args, found);
        copy_text(error->expected, sizeof error->expected, expected);
        print_text(error->found, sizeof error->found, found, args);
        va_end(args);
        (void)snprintf(error->what, sizeof error->what, "expected %s, found %s", error->expected, error->found);
    }
    return error->status;
}

int32_t lr_fail_path(rec_job *job, int32_t status, const char *path, const char *format, ...)
{
    if (fail_begin(job, status, REC_UNKNOWN)) {
        va_list args;
        va_start(args, format);
        copy_text(job->error.path, sizeof job->error.path, path);
        print_text(job->error.what, sizeof job->error.what, format, args);
        va_end(args);
    }
    return job->error.status;
}

int32_t lr_fail_line(rec_job *job, int32_t status, const char *file, uint32_t line, const char *format, ...)
{
    if (fail_begin(job, status, REC_UNKNOWN)) {
        va_list args;
        va_start(args, format);
        copy_text(job->error.file, sizeof job->error.file, file);
        job->error.line = line;
        print_text(job->error.what, sizeof job->error.what, format, args);
        va_end(args);
    }
    return job->error.status;
}

static int32_t fail_at(rec_job *job, int32_t status, const lr_place *place, const char *format, va_list args)
    REC_PRINTF(4, 0);
static int32_t fail_at(rec_job *job, int32_t status, const lr_place *place, const char *format, va_list args)
{
    char what[1536];
    const char *name = place->what ? place->what : "";
    const char *colon = *name ? ": " : "";
    (void)vsnprintf(what, sizeof what, format, args);
    if (place->file) {
        return lr_fail_line(job, status, place->file, place->line, "%s%s%s", name, colon, what);
    }
    return rec_fail(job, status, REC_UNKNOWN, "%s%s%s", name, colon, what);
}

int32_t lr_fail_place_as(rec_job *job, int32_t status, const lr_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = fail_at(job, status, place, format, args);
    va_end(args);
    return status;
}

int32_t lr_fail_place(rec_job *job, const lr_place *place, const char *format, ...)
{
    va_list args;
    int32_t status;
    va_start(args, format);
    status = fail_at(job, place->file ? REC_E_CONFIG : REC_E_ARGUMENT, place, format, args);
    va_end(args);
    return status;
}

void rec_fail_hint(rec_job *job, const char *format, ...)
{
    lr_error *error = &job->error;
    size_t used = strlen(error->hint);
    va_list args;
    if (error->status == REC_OK || !job->hinting || used + 16 > sizeof error->hint) {
        return;
    }
    if (used) {
        error->hint[used++] = '\n';
    }
    va_start(args, format);
    print_text(error->hint + used, sizeof error->hint - used, format, args);
    va_end(args);
}

void lr_fail_file(rec_job *job, const char *name)
{
    lr_error *error = &job->error;
    if (error->status != REC_OK && job->hinting && !job->named) {
        copy_text(error->file, sizeof error->file, name);
        job->named = true; /* whoever opened the index that led here may say the same of that */
    }
}

int32_t lr_fail_memory(rec_job *job, uint64_t size)
{
    char need[32];
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory: %s bytes more were needed",
                    lr_group_digits(size, need, sizeof need));
}

int32_t lr_fail_allocator(rec_job *job, uint64_t size)
{
    return lr_fail_memory(job, size);
}

int32_t lr_fail_budget(rec_job *job)
{
    char have[32], input[32];
    (void)rec_fail(job, REC_E_LIMIT, REC_UNKNOWN,
                   "its structure would take more than %s bytes of memory for an input of %s bytes",
                   lr_group_digits(job->budget.limit, have, sizeof have),
                   lr_group_digits(job->input + job->beside, input, sizeof input));
    rec_fail_hint(job,
                  "If the file can be trusted, raise memory_factor or memory_slack (rec_limits, or the INI file).");
    return job->error.status;
}

int32_t lr_fail_arena(rec_job *job, const lr_arena *arena, uint64_t size)
{
    return arena->refused ? lr_fail_budget(job) : lr_fail_memory(job, size);
}

/* What was needed for so many elements. */
static uint64_t needed(uint64_t need, size_t each)
{
    uint64_t size;
    return lr_mul(need, each, &size) ? size : UINT64_MAX;
}

bool lr_job_grow(rec_job *job, void *array, uint64_t need, uint64_t *room, size_t each)
{
    if (!lr_grow(job->allocator, array, need, room, each)) {
        (void)lr_fail_memory(job, needed(need, each));
        return false;
    }
    return true;
}

bool lr_job_arena_grow(rec_job *job, lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each)
{
    if (!lr_arena_grow(arena, array, need, room, each)) {
        (void)lr_fail_arena(job, arena, needed(need, each));
        return false;
    }
    return true;
}

const char *lr_errno_words(int error, char *text, size_t room)
{
    const char *words = NULL;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
    words = strerrordesc_np(error);
#endif
    if (!words) {
        (void)snprintf(text, room, "system error %d", error);
        words = text;
    }
    return words;
}

int32_t lr_fail_errno(rec_job *job, int error, const char *doing)
{
    char text[64];
    return rec_fail(job, REC_E_IO, REC_UNKNOWN, "cannot %s: %s", doing, lr_errno_words(error, text, sizeof text));
}

/* ------------------------------------------------------------------------------------------------------- notes -- */

static void add_note(rec_job *job, int32_t kind, uint64_t count, const char *path, const char *format, va_list args)
    REC_PRINTF(5, 0);
static void add_note(rec_job *job, int32_t kind, uint64_t count, const char *path, const char *format, va_list args)
{
    char text[1024];
    char place[512] = "";
    rec_note note = {.size = sizeof note, .kind = kind, .count = count, .text = text};
    if (job->quiet) {
        return;
    }
    if (path) {
        copy_text(place, sizeof place, path);
    } else if (job->where) {
        (void)job->where(job->where_user, place, sizeof place);
    }
    note.path = place;
    print_text(text, sizeof text, format, args);
    job->notes++;
    if (!job->report) {
        job->report = report_new();
    }
    if (job->report) {
        report_add(job->report, &note);
    }
    if (job->context && job->context->note) {
        job->context->note(job->context->note_user, &note);
    }
}

void lr_note(rec_job *job, int32_t kind, uint64_t count, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(job, kind, count, path, format, args);
    va_end(args);
}

void rec_job_note(rec_job *job, int32_t kind, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(job, kind, 1, path, format, args);
    va_end(args);
}

/* ---------------------------------------------------------------------------------------------------- services -- */

/* Each piece begins with its size, so that callers need not keep it. 16 bytes, for the alignment. */
typedef struct piece {
    uint64_t size;
    uint64_t reserved;
} piece;

void *rec_job_resize(rec_job *job, void *old, uint64_t size)
{
    piece *from = old ? (piece *)old - 1 : NULL;
    uint64_t had = from ? from->size : 0;
    uint64_t whole;
    piece *to = NULL;
    bool fits = lr_add(size, sizeof(piece), &whole);
    if (fits && size > had && !lr_budget_take(&job->budget, size - had)) {
        (void)lr_fail_budget(job);
        return NULL;
    }
    if (fits) {
        to = lr_resize(job->allocator, from, whole);
        if (!to && size > had) {
            lr_budget_give(&job->budget, size - had);
        }
    }
    if (!to) {
        (void)lr_fail_memory(job, size);
        return NULL;
    }
    if (size < had) {
        lr_budget_give(&job->budget, had - size);
    }
    to->size = size;
    return to + 1;
}

bool lr_job_grow_counted(rec_job *job, void *array, uint64_t need, uint64_t *room, size_t each)
{
    uint64_t wide = *room;
    void *memory;
    if (need <= *room) {
        return true;
    }
    memcpy(&memory, array, sizeof memory);
    memory = rec_job_resize(job, memory, lr_grow_size(need, &wide, each));
    if (memory) {
        memcpy(array, &memory, sizeof memory);
        *room = wide;
    }
    return memory != NULL;
}

void *rec_job_alloc(rec_job *job, uint64_t size)
{
    return rec_job_resize(job, NULL, size);
}

void rec_job_free(rec_job *job, void *memory)
{
    if (memory) {
        piece *from = (piece *)memory - 1;
        lr_budget_give(&job->budget, from->size);
        lr_release(job->allocator, from);
    }
}

uint64_t rec_job_path(rec_job *job, char *path, uint64_t room)
{
    if (room) {
        path[0] = '\0';
    }
    return job->where ? job->where(job->where_user, path, (size_t)room) : 0;
}

int32_t rec_job_progress(rec_job *job, uint64_t done, uint64_t total)
{
    rec_context *context = job->context;
    rec_progress progress = {.size = sizeof progress,
                             .operation = job->operation,
                             .file = job->file ? job->file : "",
                             .done = done,
                             .total = total};
    if (job->error.status != REC_OK) {
        return job->error.status;
    }
    if (total == job->total && done < job->done) {
        progress.done = done = job->done; /* what was inflated is now being read: nobody's bar goes back for that */
    }
    job->done = done;
    job->total = total;
    if (context && context->progress && context->progress(context->progress_user, &progress) != 0) {
        (void)rec_fail(job, REC_E_CANCELLED, REC_UNKNOWN, "cancelled by the caller");
        job->error.path[0] = '\0'; /* where it happened to be */
        return REC_E_CANCELLED;
    }
    return REC_OK;
}

uint32_t rec_job_depth_limit(const rec_job *job)
{
    return job->limits.depth;
}

int32_t rec_job_check_count(rec_job *job, uint64_t at, uint64_t count, uint64_t each, uint64_t left)
{
    char a[32], b[32];
    if (each == 0) {
        if (count > job->limits.elements) {
            (void)rec_fail(job, REC_E_LIMIT, at, "a list of %s elements that take no bytes; the limit is %s",
                           lr_group_digits(count, a, sizeof a), lr_group_digits(job->limits.elements, b, sizeof b));
            rec_fail_hint(job, "If the file can be trusted, raise `elements` (rec_limits, or the INI file).");
        }
    } else if (count > left / each) {
        (void)rec_fail(job, REC_E_FORMAT, at, "%s element%s announced, but only %s byte%s left",
                       lr_group_digits(count, a, sizeof a), count == 1 ? " is" : "s are",
                       lr_group_digits(left, b, sizeof b), left == 1 ? " is" : "s are");
        rec_fail_hint(job, "The file is cut short or damaged.");
    }
    return job->error.status;
}

/* -------------------------------------------------------------------------------------------------- what is left -- */

rec_status lr_publish(rec_status status, const char *format, ...)
{
    va_list args;
    publish_report(NULL, 0);
    clear_error(&last_error);
    last_error.status = status;
    va_start(args, format);
    print_text(last_error.what, sizeof last_error.what, format, args);
    va_end(args);
    compose(&last_error);
    return status;
}

bool lr_null(const char *function, const char *argument)
{
    if (last_error.status == REC_OK) {
        (void)lr_publish(REC_E_ARGUMENT, "%s: `%s` is NULL", function, argument);
    }
    return true;
}

void lr_publish_ok(void)
{
    publish_report(NULL, 0);
    clear_error(&last_error);
}

rec_status rec_error_status(void)
{
    return last_error.status;
}

const char *rec_error_message(void)
{
    return last_error.message;
}

const char *rec_error_file(void)
{
    return last_error.file;
}

uint64_t rec_error_offset(void)
{
    return last_error.offset;
}

uint32_t rec_error_line(void)
{
    return last_error.line;
}

const char *rec_error_path(void)
{
    return last_error.path;
}

const char *rec_error_expected(void)
{
    return last_error.expected;
}

const char *rec_error_found(void)
{
    return last_error.found;
}

const char *rec_error_hint(void)
{
    return last_error.hint;
}

uint64_t rec_report_count(void)
{
    return last_notes;
}

const rec_note *rec_report_note(uint64_t index)
{
    return last_report && index < last_report->count ? &last_report->notes[index] : NULL;
}

const char *rec_status_name(rec_status status)
{
    static const char *const names[] = {
        "REC_OK",          "REC_E_ARGUMENT", "REC_E_MEMORY", "REC_E_IO",    "REC_E_FORMAT", "REC_E_UNSUPPORTED",
        "REC_E_NOT_FOUND", "REC_E_MISMATCH", "REC_E_RANGE",  "REC_E_LIMIT", "REC_E_PLUGIN", "REC_E_CONFIG",
        "REC_E_CANCELLED",
    };
    return status >= 0 && (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}
