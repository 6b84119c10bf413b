/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Errors and reports: their texts, and the calling thread's last ones. */
#include "core/base/base_private.h"

#include <inttypes.h>
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

lr_report *lr_report_new(void)
{
    lr_report *report = malloc(sizeof *report);
    if (report) {
        *report = (lr_report){0};
        lr_arena_init(&report->arena, &lr_standard_allocator);
    }
    return report;
}

void lr_report_free(void *memory)
{
    lr_report *report = memory;
    if (report) {
        lr_arena_free(&report->arena);
        free(report->notes);
        free(report);
    }
}

void lr_report_add(lr_report *report, const rec_note *note)
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

/* ------------------------------------------------------------------------------------- the thread's last words -- */

/* All zero, so that a thread that never fails pays nothing for it: see rec_error_offset(). */
static _Thread_local lr_error last_error;
static _Thread_local uint64_t last_notes;
static _Thread_local lr_report *last_report;

/* The report is the one part that is allocated: a key frees it when the thread ends. */
static pthread_key_t report_key;
static pthread_once_t report_once = PTHREAD_ONCE_INIT;
static int report_key_made;

static void make_report_key(void)
{
    report_key_made = pthread_key_create(&report_key, lr_report_free) == 0;
}

void lr_report_publish(lr_report *report, uint64_t notes)
{
    (void)pthread_once(&report_once, make_report_key);
    lr_report_free(last_report);
    if (report && (!report_key_made || pthread_setspecific(report_key, report) != 0)) {
        lr_report_free(report);
        report = NULL;
    }
    if (!report && report_key_made) {
        (void)pthread_setspecific(report_key, NULL);
    }
    last_report = report;
    last_notes = notes;
}

void lr_error_clear(lr_error *error)
{
    error->status = REC_OK;
    error->line = 0;
    error->number = 0;
    error->offset = REC_UNKNOWN;
    error->file[0] = error->path[0] = error->expected[0] = error->found[0] = '\0';
    error->hint[0] = error->what[0] = error->message[0] = '\0';
    error->truncated = false;
}

void lr_error_copy(char *target, size_t room, const char *text)
{
    size_t length = strlen(text);
    if (length < room) {
        memcpy(target, text, length + 1);
        return;
    }
    length = lr_character_begin(text, room - 4);
    memcpy(target, text, length);
    memcpy(target + length, "...", 4);
}

void lr_error_copy_file(char *target, const char *file)
{
    enum { ROOM = sizeof((lr_error *)0)->file };
    char shown[ROOM + 1]; /* one more: what does not fit is seen */
    (void)lr_display(file, shown, sizeof shown);
    lr_error_copy(target, ROOM, shown);
}

void lr_error_clean(char *text)
{
    size_t length = strlen(text);
    for (size_t at = 0; (at += lr_utf8_valid(text + at, length - at)) < length; at++) {
        text[at] = '?';
    }
    for (char *c = text; *c; c++) {
        if (((unsigned char)*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7F) {
            *c = '?';
        }
    }
}

void lr_error_print(char *target, size_t room, const char *format, va_list args)
{
    int length = vsnprintf(target, room, format, args);
    if (length < 0) {
        lr_error_copy(target, room, "(text lost)");
    } else if ((size_t)length >= room) {
        memcpy(target + lr_character_begin(target, room - 4), "...", 4);
    }
    lr_error_clean(target);
}

enum { PATH_SHOWN = 160 };

/* Copies a part of a text, as much as fits. */
static void copy_part(char *target, size_t room, const char *from, size_t length)
{
    length = length < room ? length : lr_character_begin(from, room - 1);
    memcpy(target, from, length);
    target[length] = '\0';
}

/* Fills in the expected and the found value from the message's first line that has both. */
static void split_found(lr_error *error)
{
    static const char word[] = "expected ", and[] = ", found ";
    const char *expected = strstr(error->what, word), *found = expected ? strstr(expected, and) : NULL;
    if (found && !error->expected[0] && found < expected + strcspn(expected, "\n")) {
        expected += sizeof word - 1;
        copy_part(error->expected, sizeof error->expected, expected, (size_t)(found - expected));
        found += sizeof and - 1;
        copy_part(error->found, sizeof error->found, found, strcspn(found, "\n"));
    }
}

/* FILE: line N: PATH: WHAT, or FILE: byte N: PATH: WHAT; then the hint, each of its lines indented. */
static void compose(lr_error *error)
{
    char *at = error->message;
    size_t room = sizeof error->message;
    char digits[32];
    int n = 0;
    split_found(error);
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
        APPEND("%.*s…%s: ", (int)lr_character_begin(error->path, PATH_SHOWN / 2), error->path,
               error->path + lr_character_begin(error->path, strlen(error->path) - PATH_SHOWN / 2));
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

/* -------------------------------------------------------------------------------------------------- publishing -- */

void lr_error_publish(lr_error *error)
{
    if (error->status != REC_OK) {
        compose(error);
        last_error = *error;
    } else {
        lr_error_clear(&last_error);
    }
}

rec_status lr_publish(rec_status status, const char *format, ...)
{
    va_list args;
    lr_report_publish(NULL, 0);
    lr_error_clear(&last_error);
    last_error.status = status;
    va_start(args, format);
    lr_error_print(last_error.what, sizeof last_error.what, format, args);
    va_end(args);
    compose(&last_error);
    return status;
}

void lr_null(const char *function, const char *argument)
{
    if (last_error.status == REC_OK) {
        (void)lr_publish(REC_E_ARGUMENT, "%s: `%s` is NULL", function, argument);
    }
}

void lr_publish_ok(void)
{
    lr_report_publish(NULL, 0);
    lr_error_clear(&last_error);
}

/* ------------------------------------------------------------------------------------------------------ copies -- */

struct rec_error {
    lr_error error;
    lr_report *report;
    uint64_t notes;
};

/* NULL: there are no notes, or no memory for them. */
static lr_report *copy_report(const lr_report *from)
{
    lr_report *report = from ? lr_report_new() : NULL;
    for (uint64_t i = 0; report && i < from->count; i++) {
        lr_report_add(report, &from->notes[i]);
    }
    return report;
}

rec_error *rec_error_copy(void)
{
    rec_error *copy = malloc(sizeof *copy);
    if (!copy) {
        return NULL;
    }
    *copy = (rec_error){.error = last_error, .report = copy_report(last_report), .notes = last_notes};
    if (last_report && (!copy->report || copy->report->count < last_report->count)) {
        rec_error_free(copy);
        return NULL;
    }
    return copy;
}

void rec_error_restore(const rec_error *error)
{
    if (error) {
        lr_report_publish(copy_report(error->report), error->notes);
        last_error = error->error;
    }
}

void rec_error_free(rec_error *error)
{
    if (error) {
        lr_report_free(error->report);
        free(error);
    }
}

/* ----------------------------------------------------------------------------------------------------- getters -- */

rec_status rec_error_status(void)
{
    return last_error.status;
}

int32_t rec_error_errno(void)
{
    return last_error.number;
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
    return last_error.status == REC_OK ? REC_UNKNOWN : last_error.offset;
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
        "REC_E_CANCELLED", "REC_E_TYPE",     "REC_E_SYNC",
    };
    return status >= 0 && (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}
