/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Jobs: the first failure, the notes, the budget and the progress of one operation. */
#include "core/base/base_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"

/* ---------------------------------------------------------------------------------------------------- the job -- */

rec_status rec_limits_init(rec_limits *limits)
{
    const rec_limits initial = {
        .size = sizeof(rec_limits),
        .depth = 128,
        .memory_factor = 4,
        .memory_slack = UINT64_C(1) << 20,
        .inflated_factor = 64,
        .inflated_slack = UINT64_C(1) << 30,
        .elements = 65536,
    };
    uint32_t size = limits ? limits->size : 0;
    if (LR_NULL(limits)) {
        return REC_E_ARGUMENT;
    }
    if (size < LR_LIMITS_LEAST || size > LR_STRUCT_MOST) {
        return lr_publish(REC_E_ARGUMENT, "rec_limits_init: the limits need their size");
    }
    memset(limits, 0, size);
    memcpy(limits, &initial, size < sizeof initial ? size : sizeof initial);
    limits->size = size;
    return REC_OK;
}

void lr_job_begin(rec_job *job, rec_context *context, const char *operation, const char *file)
{
    memset(job, 0, offsetof(rec_job, error));
    lr_error_clear(&job->error);
    job->operation = operation;
    job->file = file;
    job->progress.total = REC_UNKNOWN;
    job->context = context;
    job->allocator = context ? &context->allocator : &lr_standard_allocator;
    job->limits = context ? context->limits : rec_limits_default();
    job->budget.limit = job->limits.memory_slack;
    job->cuts = lr_watch_cuts();
}

static void free_pieces(lr_pieces *pieces, const lr_allocator *allocator)
{
    for (uint64_t i = 0; i < pieces->room && pieces->count; i++) {
        lr_release(allocator, pieces->slots[i].memory);
    }
    lr_release(allocator, pieces->slots);
    *pieces = (lr_pieces){0};
}

/* What the rooms above keep in the job. */
static void give_back(rec_job *job)
{
    if (job->at_end) {
        job->at_end(job);
    }
    job->beside = 0;
    free_pieces(&job->pieces, job->allocator);
    job->buried = 0;
}

void lr_job_drop(rec_job *job)
{
    give_back(job);
    lr_report_free(job->report);
    job->report = NULL;
    job->notes = 0;
}

void lr_job_again(rec_job *job)
{
    lr_job_drop(job);
    lr_error_clear(&job->error);
    job->hinting = false;
    job->budget.used = 0;
    job->burn.known = false;
}

void lr_job_forgive(rec_job *job)
{
    lr_error_clear(&job->error);
    job->hinting = false;
}

void lr_job_locate(rec_job *job, int32_t status, const char *file, uint32_t line)
{
    lr_error *error = &job->error;
    if (!error->line) {
        error->line = line;
        lr_error_copy_file(error->file, file);
    }
    error->status = status;
}

int32_t lr_job_errno(rec_job *job, int error)
{
    if (job->error.status != REC_OK && job->hinting) {
        job->error.number = error;
    }
    return job->error.status;
}

void lr_job_clear_hint(rec_job *job)
{
    job->error.hint[0] = '\0';
    job->hinting = job->error.status != REC_OK;
}

/* ----------------------------------------------------------------------------------------- files that were cut -- */

/* @param name taken. */
static int32_t fail_cut(rec_job *job, char *name)
{
    const char *whole = job->file;
    int32_t status;
    job->file = name ? name : "(a file)";
    job->where = NULL; /* wherever it was met; and there may be nothing left that knows */
    status = rec_fail(job, REC_E_IO, REC_UNKNOWN, "the file was truncated while it was read");
    rec_fail_hint(job, "Load it again when no other program writes to it, or check its disk.");
    job->file = whole;
    job->named = true;
    free(name);
    return status;
}

int32_t lr_watch_check(rec_job *job, lr_watch *watch, bool sizes_too)
{
    char *name;
    if (!watch || lr_job_failed(job) || (!sizes_too && !lr_watch_cut(watch)) ||
        !lr_watch_look(watch, sizes_too, &name)) {
        return job->error.status;
    }
    return fail_cut(job, name);
}

int32_t lr_watch_judge(rec_job *job, bool sizes_too)
{
    char *name;
    bool guarded = sizes_too && lr_watch_guards();
    if (!job->placed && job->error.status != REC_E_CANCELLED && (guarded || lr_watch_cuts() != job->cuts) &&
        lr_watch_find(job->allocator, job->cuts, sizes_too, &name)) {
        lr_job_forgive(job); /* whatever it was that failed may be about zeros */
        (void)fail_cut(job, name);
    }
    return job->error.status;
}

int32_t lr_watch_any(rec_job *job)
{
    char *name;
    return lr_watch_find(NULL, 0, false, &name) ? fail_cut(job, name) : job->error.status;
}

rec_status rec_guard_maps(void)
{
    int error = lr_watch_guard();
    char text[64];
    if (error) {
        return lr_publish(REC_E_IO, "cannot handle SIGBUS: %s", lr_system_words(error, text, sizeof text));
    }
    lr_publish_ok();
    return REC_OK;
}

rec_status lr_job_end(rec_job *job)
{
    rec_status status = lr_job_failed(job) ? lr_watch_judge(job, true) : REC_OK;
    give_back(job);
    lr_report_publish(job->report, job->notes);
    job->report = NULL;
    lr_error_publish(&job->error);
    return status;
}

static void follow_input(rec_job *job)
{
    uint64_t all, limit;
    if (!lr_add(job->input, job->beside, &all) || !lr_add(all, job->inflated, &all) ||
        !lr_mul(all, job->limits.memory_factor, &limit) || !lr_add(limit, job->limits.memory_slack, &limit)) {
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

void lr_job_sibling(rec_job *job, uint64_t size)
{
    if (!lr_add(job->beside, size, &job->beside)) {
        job->beside = UINT64_MAX;
    }
    follow_input(job);
}

/* Only statuses that there are reach a caller. */
static bool is_failure(int32_t status)
{
    return status > REC_OK && status <= LR_STATUS_LAST;
}

static int32_t fail_begin(rec_job *job, int32_t status, uint64_t at)
{
    lr_error *error = &job->error;
    job->hinting = error->status == REC_OK;
    if (!job->hinting) {
        return 0;
    }
    job->named = false;
    error->status = status;
    error->offset = at;
    if (job->file) {
        lr_error_copy_file(error->file, job->file);
    }
    if (job->where) {
        (void)job->where(job->where_user, error->path, sizeof error->path);
    }
    return 1;
}

int32_t lr_vfail(rec_job *job, int32_t status, uint64_t at, const char *format, va_list args)
{
    if (fail_begin(job, status, at)) {
        lr_error_print(job->error.what, sizeof job->error.what, format, args);
    }
    return job->error.status;
}

/* ------------------------------------------------------------------------------------------ calls into plugins -- */

/* Which plugin's code this thread is in: so that what a plugin calls can tell whether it may, and whom to blame. */
static _Thread_local lr_call *now;

void lr_call_begin(lr_call *call, rec_job *job, int32_t kind, void *self)
{
    *call = (lr_call){.outer = now, .job = job, .kind = kind, .self = self};
    now = call;
}

void lr_call_end(const lr_call *call)
{
    now = call->outer;
}

lr_call *lr_call_now(void)
{
    return now;
}

bool lr_call_is(int32_t kind)
{
    return now && now->kind == kind;
}

int32_t lr_breach_status(const rec_job *job)
{
    const lr_call *call = lr_call_now();
    job = job || !call ? job : call->job;
    return job && lr_job_failed(job) ? job->error.status : REC_E_PLUGIN;
}

int32_t lr_breach(rec_job *job, uint64_t at, const char *format, ...)
{
    const lr_call *call = lr_call_now();
    char what[1024];
    va_list args;
    job = job || !call ? job : call->job;
    if (job && !lr_job_failed(job)) {
        va_start(args, format);
        (void)vsnprintf(what, sizeof what, format, args);
        va_end(args);
        (void)rec_fail(job, REC_E_PLUGIN, at, "the plugin %s %s", job->plugin ? job->plugin->name : "in use", what);
        rec_fail_hint(job, "This is an error of the plugin: report it to its author.");
    }
    return lr_breach_status(job);
}

void lr_breach_null(rec_job *job, const char *function, const char *argument)
{
    (void)lr_breach(job, REC_UNKNOWN, "called %s() with NULL as `%s`", function, argument);
}

bool lr_size_check(rec_job *job, const char *what, uint64_t size, uint64_t least)
{
    if (size < least || size > LR_STRUCT_MOST) {
        return LR_AS_FALSE(lr_breach(job, REC_UNKNOWN, "gave the size of %s as %llu; %llu to %d bytes are possible",
                                     what, (unsigned long long)size, (unsigned long long)least, LR_STRUCT_MOST));
    }
    return true;
}

/* Checks the status that a plugin returned. @return whether the fault is already reported. */
static bool fails_wrongly(rec_job *job, int32_t status, const char *format)
{
    if (!job || !format) {
        lr_breach_null(job, "rec_fail", job ? "format" : "job");
    } else if (!is_failure(status) && !lr_job_failed(job)) {
        (void)lr_breach(job, REC_UNKNOWN, "reported a failure with the status %d, which is not an error: \"%.200s\"",
                        (int)status, format);
    } else {
        return false;
    }
    return true;
}

int32_t rec_fail(rec_job *job, int32_t status, uint64_t at, const char *format, ...)
{
    va_list args;
    if (fails_wrongly(job, status, format)) {
        return lr_breach_status(job);
    }
    va_start(args, format);
    status = lr_vfail(job, status, at, format, args);
    va_end(args);
    return status;
}

int32_t rec_fail_found(rec_job *job, int32_t status, uint64_t at, const char *expected, const char *found, ...)
{
    lr_error *error;
    if (fails_wrongly(job, status, expected ? found : NULL)) {
        return lr_breach_status(job);
    }
    error = &job->error;
    if (fail_begin(job, status, at)) {
        va_list args;
        va_start(args, found);
        lr_error_copy(error->expected, sizeof error->expected, expected);
        lr_error_clean(error->expected);
        lr_error_print(error->found, sizeof error->found, found, args);
        va_end(args);
        (void)snprintf(error->what, sizeof error->what, "expected %s, found %s", error->expected, error->found);
        error->truncated = lr_text_ends(error->found, strlen(error->found), "the end of the file");
    }
    return error->status;
}

int32_t lr_fail_path(rec_job *job, int32_t status, const char *path, const char *format, ...)
{
    if (fail_begin(job, status, REC_UNKNOWN)) {
        va_list args;
        va_start(args, format);
        lr_error_copy(job->error.path, sizeof job->error.path, path);
        lr_error_print(job->error.what, sizeof job->error.what, format, args);
        va_end(args);
    }
    return job->error.status;
}

int32_t lr_fail_line(rec_job *job, int32_t status, const char *file, uint32_t line, const char *format, ...)
{
    if (fail_begin(job, status, REC_UNKNOWN)) {
        va_list args;
        va_start(args, format);
        lr_error_copy_file(job->error.file, file);
        job->error.line = line;
        lr_error_print(job->error.what, sizeof job->error.what, format, args);
        va_end(args);
    }
    return job->error.status;
}

int32_t lr_fail_location_as(rec_job *job, int32_t status, const lr_location *place, const char *format, ...)
{
    char what[1536];
    const char *name = place->what ? place->what : "";
    const char *colon = *name ? ": " : "";
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (place->file) {
        return lr_fail_line(job, status, place->file, place->line, "%s%s%s", name, colon, what);
    }
    return rec_fail(job, status, REC_UNKNOWN, "%s%s%s", name, colon, what);
}

void rec_fail_hint(rec_job *job, const char *format, ...)
{
    lr_error *error;
    size_t used;
    va_list args;
    if (LR_LACKS(job, job) || LR_LACKS(job, format)) {
        return;
    }
    error = &job->error;
    used = strlen(error->hint);
    if (error->status == REC_OK || !job->hinting || used + 16 > sizeof error->hint) {
        return;
    }
    if (used) {
        error->hint[used++] = '\n';
    }
    va_start(args, format);
    lr_error_print(error->hint + used, sizeof error->hint - used, format, args);
    va_end(args);
}

void lr_fail_file(rec_job *job, const char *name)
{
    lr_error *error = &job->error;
    if (error->status != REC_OK && job->hinting && !job->named) {
        lr_error_copy_file(error->file, name);
        job->named = true; /* whoever opened the index that led here may say the same of that */
    }
}

int32_t lr_fail_memory(rec_job *job, uint64_t size)
{
    char need[32];
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory: %s bytes more were needed",
                    lr_group_digits(size, need, sizeof need));
}

int32_t lr_fail_budget(rec_job *job, const char *what)
{
    char have[32], input[32];
    (void)rec_fail(job, REC_E_LIMIT, REC_UNKNOWN,
                   "its %s would take more than %s bytes of memory for an input of %s bytes", what,
                   lr_group_digits(job->budget.limit, have, sizeof have),
                   lr_group_digits(job->input + job->beside, input, sizeof input));
    return LR_HINT(job,
                   "If the file can be trusted, raise memory_factor or memory_slack (rec_limits, or the INI file).");
}

int32_t lr_fail_arena(rec_job *job, const lr_arena *arena, uint64_t size)
{
    return arena->refused ? lr_fail_budget(job, "structure") : lr_fail_memory(job, size);
}

void *lr_job_alloc(rec_job *job, uint64_t size)
{
    void *memory = lr_alloc(job->allocator, size);
    if (!memory) {
        (void)lr_fail_memory(job, size);
    }
    return memory;
}

void *lr_job_zalloc(rec_job *job, uint64_t size)
{
    void *memory = lr_job_alloc(job, size);
    return memory ? memset(memory, 0, (size_t)size) : NULL;
}

char *lr_job_strdup(rec_job *job, const char *text)
{
    char *copy = lr_strdup(job->allocator, text);
    return copy ? copy : LR_AS_NULL(lr_fail_memory(job, strlen(text) + 1));
}

void *lr_job_arena_alloc(rec_job *job, lr_arena *arena, uint64_t size, uint64_t alignment)
{
    void *memory = lr_arena_alloc(arena, size, alignment);
    if (!memory) {
        (void)lr_fail_arena(job, arena, size);
    }
    return memory;
}

char *lr_job_arena_text(rec_job *job, lr_arena *arena, const char *text, uint64_t length)
{
    char *copy = lr_arena_text(arena, text, length);
    return copy ? copy : LR_AS_NULL(lr_fail_arena(job, arena, length + 1));
}

char *lr_job_arena_format(rec_job *job, lr_arena *arena, const char *format, ...)
{
    char text[1024], *whole;
    va_list args;
    int length;
    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length < sizeof text) {
        return lr_job_arena_text(job, arena, text, length < 0 ? 0 : (uint64_t)length);
    }
    whole = lr_job_arena_alloc(job, arena, (uint64_t)length + 1, 1);
    if (whole) {
        va_start(args, format);
        (void)vsnprintf(whole, (size_t)length + 1, format, args);
        va_end(args);
    }
    return whole;
}

/* Bytes needed for so many elements. */
static uint64_t needed(uint64_t need, size_t each)
{
    uint64_t size;
    return lr_mul(need, each, &size) ? size : UINT64_MAX;
}

bool lr_job_grow(rec_job *job, void *array, uint64_t need, uint64_t *room, size_t each)
{
    if (!lr_grow(job->allocator, array, need, room, each)) {
        return LR_AS_FALSE(lr_fail_memory(job, needed(need, each)));
    }
    return true;
}

bool lr_job_arena_grow(rec_job *job, lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each)
{
    if (!lr_arena_grow(arena, array, need, room, each)) {
        return LR_AS_FALSE(lr_fail_arena(job, arena, needed(need, each)));
    }
    return true;
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
        lr_error_copy(place, sizeof place, path);
        lr_error_clean(place);
    } else if (job->where) {
        (void)job->where(job->where_user, place, sizeof place);
    }
    note.path = place;
    lr_error_print(text, sizeof text, format, args);
    job->notes++;
    if (!job->report) {
        job->report = lr_report_new();
    }
    if (job->report) {
        lr_report_add(job->report, &note);
    }
    if (lr_context_tells(job->context) && job->context->note) {
        lr_call call;
        lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
        job->context->note(job->context->note_user, &note);
        lr_call_end(&call);
    }
}

void lr_note(rec_job *job, int32_t kind, uint64_t count, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(job, kind, count, path, format, args);
    va_end(args);
}

const char *lr_place_text(char *place, size_t room, const char *path)
{
    lr_error_copy(place, room, path);
    lr_error_clean(place);
    return place;
}

void rec_job_note(rec_job *job, int32_t kind, const char *path, const char *format, ...)
{
    va_list args;
    if (LR_LACKS(job, job) || LR_LACKS(job, format)) {
        return;
    }
    if (kind < REC_NOTE_ASSUMED || kind > LR_NOTE_LAST) {
        (void)lr_breach(job, REC_UNKNOWN, "made a note of the invalid kind %d", (int)kind);
        return;
    }
    va_start(args, format);
    add_note(job, kind, 1, path, format, args);
    va_end(args);
}

/* ---------------------------------------------------------------------------------------------------- services -- */

uint64_t rec_job_path(rec_job *job, char *path, uint64_t room)
{
    if (LR_LACKS(job, job) || (room && LR_LACKS(job, path))) {
        return 0;
    }
    if (room) {
        path[0] = '\0';
    }
    return job->where ? job->where(job->where_user, path, (size_t)room) : 0;
}

uint32_t rec_job_depth_limit(const rec_job *job)
{
    return LR_LACKS(NULL, job) ? 0 : job->limits.depth;
}

uint32_t rec_job_threads(const rec_job *job)
{
    return LR_LACKS(NULL, job) || !job->context ? 1 : job->context->threads;
}

int32_t rec_job_skips_data(const rec_job *job)
{
    return LR_LACKS(NULL, job) ? 0 : job->skip && !job->whole;
}

int32_t rec_job_check_count(rec_job *job, uint64_t at, uint64_t count, uint64_t each, uint64_t left)
{
    char a[32], b[32];
    if (LR_LACKS(job, job)) {
        return lr_breach_status(job);
    }
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
        rec_fail_hint(job, "The file is truncated or damaged.");
    }
    return job->error.status;
}

void *rec_job_user(const rec_job *job)
{
    return LR_LACKS(NULL, job) || !job->plugin ? NULL : job->plugin->user;
}

int32_t rec_is_utf8(const char *text, uint64_t length)
{
    return !length || (!LR_LACKS(NULL, text) && length <= SIZE_MAX && lr_utf8_valid(text, (size_t)length) == length);
}

/* What the limits allow an input to inflate to. */
static uint64_t inflated_most(const rec_job *job, uint64_t stored)
{
    uint64_t limit;
    return lr_mul(stored, job->limits.inflated_factor, &limit) && lr_add(limit, job->limits.inflated_slack, &limit)
               ? limit
               : UINT64_MAX;
}

/* Data that a plugin inflates count against their own size: like another file of the model, up to what the whole input
 * may inflate to. */
static void count_inflated(rec_job *job, uint64_t inflated)
{
    uint64_t most = inflated_most(job, job->input), left = most > job->inflated ? most - job->inflated : 0;
    inflated = inflated < left ? inflated : left;
    job->inflated += inflated;
    follow_input(job);
}

int32_t rec_job_check_inflated(rec_job *job, uint64_t stored, uint64_t inflated)
{
    char a[32], b[32], c[32];
    uint64_t limit = inflated_most(job, stored);
    if (inflated > limit) {
        (void)rec_fail(job, REC_E_LIMIT, REC_UNKNOWN,
                       "the file of %s bytes would inflate to %s bytes; the limit for its size is %s",
                       lr_group_digits(stored, a, sizeof a), lr_group_digits(inflated, b, sizeof b),
                       lr_group_digits(limit, c, sizeof c));
        rec_fail_hint(
            job, "If the file can be trusted, raise inflated_factor or inflated_slack (rec_limits, or the INI file).");
    }
    if (!lr_job_failed(job)) {
        count_inflated(job, inflated);
    }
    return job->error.status;
}
