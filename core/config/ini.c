/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that people write, read whole, and INI files, through inih. Left alone, inih cuts lines of 200 bytes and reads
 * the rest as lines of their own, cuts names of 50 bytes, ends values at " ;", takes an indented line for more of the
 * value before, and returns success for all of it. So the lines are found and checked here: inih is handed a short
 * "key=@" that it cannot misread, and the value and its line are kept aside until it calls back. Its settings are
 * global to the process and are neither used nor trusted: a line that does not come back at once is a failure. */
#include "core/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MOST = 1 << 20 };

/* ------------------------------------------------------------------------------------- files that people write -- */

static int32_t system_failed(rec_job *job, const char *path, int error, const char *doing)
{
    char text[256];
    (void)lr_fail_line(job, REC_E_IO, path, 0, "cannot %s: %s", doing, lr_system_words(error, text, sizeof text));
    return lr_job_errno(job, error);
}

/* Copies a text of the library. */
static char *copy(rec_job *job, const char *builtin, size_t *length)
{
    size_t room = strlen(builtin) + 1;
    char *text = lr_job_alloc(job, room);
    if (!text) {
        return NULL;
    }
    *length = room - 1;
    return memcpy(text, builtin, room);
}

char *lr_text_file(rec_job *job, const char *path, const char *wanted, size_t *length)
{
    const lr_builtin_file *builtin = lr_builtin_find(path);
    enum { LEAST = 4096 }; /* that are asked of the system at once */
    char *text = NULL;
    uint64_t room = 0;
    size_t used = 0;
    struct stat state;
    int32_t status = REC_OK;
    int fd;
    if (builtin) {
        return copy(job, builtin->text, length);
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)system_failed(job, path, errno, "open");
        return NULL;
    }
    if (fstat(fd, &state) == 0 && S_ISDIR(state.st_mode)) {
        status = lr_fail_line(job, REC_E_IO, path, 0, "a directory, where %s is needed", wanted);
    }
    while (status == REC_OK) {
        ssize_t got;
        if (!lr_job_grow(job, &text, used + LEAST, &room, 1)) {
            status = job->error.status;
            continue;
        }
        got = read(fd, text + used, (size_t)room - used - 1);
        if (got == 0) {
            break;
        }
        if (got < 0) {
            status = errno == EINTR ? REC_OK : system_failed(job, path, errno, "read");
            continue;
        }
        used += (size_t)got;
        if (used > LR_TEXT_FILE_MOST) {
            status = lr_fail_line(job, REC_E_LIMIT, path, 0, "larger than 16 MiB: this is not %s", wanted);
        }
    }
    (void)close(fd);
    if (status != REC_OK) {
        lr_release(job->allocator, text);
        return NULL;
    }
    text[used] = '\0';
    *length = used;
    return text;
}

/** A file that is being read. */
typedef struct ini {
    rec_job *job;
    const char *path;
    const lr_ini_reader *reader;
    void *user;
    char *text, *next, *end; /**< the whole file, the line after this one, its end */
    uint32_t line;           /**< number of the line that was taken last */
    bool in_section;
    bool handed;             /**< inih was given a key that it has not called back for */
    const char *key, *value; /**< of that line */
} ini;

/* --------------------------------------------------------------------------------------------------- the lines -- */

#define MISTAKE(in, ...) lr_fail_line((in)->job, REC_E_CONFIG, (in)->path, (in)->line, __VA_ARGS__)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char *trim(char *start, char *end)
{
    while (end > start && is_blank(end[-1])) {
        end--;
    }
    *end = '\0';
    while (is_blank(*start)) {
        start++;
    }
    return start;
}

static int32_t bad_byte(ini *in, const char *start, const char *at)
{
    unsigned char byte = (unsigned char)*at;
    unsigned column = (unsigned)(at - start) + 1;
    if (byte == '\r') {
        (void)MISTAKE(in, "a carriage return without a line feed in column %u", column);
        rec_fail_hint(in->job, "Lines end with a line feed, or with both.");
    } else if (byte == '\0') {
        (void)MISTAKE(in, "a NUL byte in column %u", column);
        rec_fail_hint(in->job, "Save the file as UTF-8 text.");
    } else if (byte < ' ' || byte == 0x7F) {
        (void)MISTAKE(in, "a control character (0x%02x) in column %u", byte, column);
    } else {
        (void)MISTAKE(in, "invalid UTF-8 (0x%02x) in column %u", byte, column);
        rec_fail_hint(in->job, "Save the file as UTF-8 text.");
    }
    return in->job->error.status;
}

/* Takes the next line off the text, checked. @param line,end (out) the line, without its end. */
static int32_t take_line(ini *in, char **line, char **end)
{
    char *start = in->next;
    size_t left = (size_t)(in->end - start);
    char *feed = memchr(start, '\n', left);
    char *stop = feed ? feed : in->end;
    size_t length;
    in->line++;
    in->next = feed ? feed + 1 : in->end;
    if (in->line == 1 && left >= 3 && memcmp(start, "\xEF\xBB\xBF", 3) == 0) {
        start += 3;
    }
    if (stop > start && stop[-1] == '\r') {
        stop--;
    }
    length = (size_t)(stop - start);
    if (length > LINE_MOST) {
        return MISTAKE(in, "the line is longer than 1 MiB");
    }
    for (char *at = start; at < stop; at++) {
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7F) {
            return bad_byte(in, start, at);
        }
    }
    if (lr_utf8_valid(start, length) != length) {
        return bad_byte(in, start, start + lr_utf8_valid(start, length));
    }
    *line = start;
    *end = stop;
    return REC_OK;
}

static int32_t take_section(ini *in, char *line)
{
    char *close = strchr(line, ']');
    lr_excerpt brief;
    if (!close) {
        return MISTAKE(in, "\"%s\" has no \"]\"", lr_excerpt_text(&brief, line));
    }
    if (close[1]) {
        (void)MISTAKE(in, "text after the \"]\" of a section: \"%s\"",
                      lr_excerpt_text(&brief, trim(close + 1, strchr(close, 0))));
        return LR_HINT(in->job, "Put comments on separate lines.");
    }
    in->in_section = true;
    return in->reader->section(in->user, trim(line + 1, close), in->line);
}

static int32_t check_key(ini *in, const char *key)
{
    lr_excerpt brief;
    if (!*key) {
        return MISTAKE(in, "no key before the \"=\"");
    }
    if (strlen(key) > LR_NAME_MOST) {
        return MISTAKE(in, "the key \"%s\" is longer than %d bytes", lr_excerpt_text(&brief, key), LR_NAME_MOST);
    }
    for (const char *c = key; *c; c++) {
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *c)) {
            return MISTAKE(in, "\"%s\" is not a key: it may have letters, digits, \".\", \"_\" and \"-\"",
                           lr_excerpt_text(&brief, key));
        }
    }
    return REC_OK;
}

/* Finds key and value, for inih to call back with. */
static int32_t take_setting(ini *in, char *line)
{
    char *equals = strchr(line, '=');
    lr_excerpt brief;
    char *key;
    if (!equals) {
        (void)MISTAKE(in, "no \"=\" in \"%s\"", lr_excerpt_text(&brief, line));
        return LR_HINT(in->job, "A line is \"key = value\" or \"[section]\", or a comment that begins with ; or #.\nA "
                                "value cannot continue on the next line.");
    }
    in->value = trim(equals + 1, strchr(equals, 0));
    key = trim(line, equals);
    if (check_key(in, key) != REC_OK) {
        return in->job->error.status;
    }
    if (!in->in_section) {
        (void)MISTAKE(in, "\"%s\" precedes any section", key);
        return LR_HINT(in->job, "%s", in->reader->begin);
    }
    if (!*in->value) {
        (void)MISTAKE(in, "\"%s\" has no value", key);
        return LR_HINT(in->job, "%s", in->reader->no_value);
    }
    in->key = key;
    return REC_OK;
}

/* -------------------------------------------------------------------------------------------------------- inih -- */

static int32_t not_handled(ini *in)
{
    (void)MISTAKE(in, "the library inih did not take the key \"%s\"", in->key);
    return LR_HINT(in->job, "This program has changed inih's global settings.");
}

/* As fgets: the next line for inih, or NULL at the end and after a mistake, which the job then knows. */
static char *next_line(char *target, int room, void *stream)
{
    ini *in = stream;
    if (in->handed) {
        (void)not_handled(in);
    }
    while (!lr_job_failed(in->job) && in->next < in->end) {
        char *line = NULL, *end = NULL;
        if (take_line(in, &line, &end) != REC_OK) {
            break;
        }
        line = trim(line, end);
        if (*line == '[') {
            (void)take_section(in, line);
        } else if (*line && *line != ';' && *line != '#' && take_setting(in, line) == REC_OK) {
            int length = snprintf(target, (size_t)room, "%s=@\n", in->key);
            in->handed = true;
            if (length < 0 || length >= room) {
                (void)not_handled(in);
                break;
            }
            return target;
        }
    }
    return NULL;
}

/* inih's handler. @return 1: inih has its own idea of what to do about mistakes, which next_line() leaves unused. */
static int on_setting(void *user, const char *section, const char *key, const char *value)
{
    ini *in = user;
    (void)section;
    if (!in->handed || strcmp(key, in->key) != 0 || strcmp(value, "@") != 0) {
        (void)not_handled(in);
        return 1;
    }
    in->handed = false;
    (void)in->reader->setting(in->user, in->key, in->value, in->line);
    return 1;
}

int32_t lr_ini_read(rec_job *job, const char *path, const lr_ini_reader *reader, void *user)
{
    ini in = {.job = job, .path = path, .reader = reader, .user = user, .key = ""};
    size_t length = 0;
    int32_t status;
    in.text = in.next = lr_text_file(job, path, "a configuration file", &length);
    status = job->error.status;
    if (in.text) {
        int result;
        in.end = in.text + length;
        result = ini_parse_stream(next_line, &in, on_setting, &in);
        if (lr_job_failed(job)) {
            status = job->error.status;
        } else if (in.handed) {
            status = not_handled(&in);
        } else if (result != 0) {
            status = rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory in the library inih");
        }
    }
    lr_release(job->allocator, in.text);
    return status;
}
