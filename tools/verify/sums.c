/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of sums: read, looked into, written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/embed/embed.h"
#include "tools/verify/verify_private.h"

enum { DIGITS = 2 * MEASURE_SUM_BYTES };

/* ----------------------------------------------------------------------------------------------------- reading -- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Undoes what a line that begins with a backslash has escaped. @return false for an escape that there is not. */
static bool unescape(char *key)
{
    char *to = key;

    for (const char *at = key; *at; at++) {
        if (*at == '\\') {
            at++;
            if (*at != '\\' && *at != 'n' && *at != 'r') {
                return false;
            }
            *to++ = *at == 'n' ? '\n' : *at == 'r' ? '\r' : '\\';
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return true;
}

/* Parses `SUM  KEY`. @return false for other text. */
static bool read_line(sum_list *list, char *line)
{
    bool escaped = *line == '\\';
    sum_line made = {0};

    line += escaped;
    for (size_t i = 0; i < DIGITS; i++) {
        int digit = digit_of(line[i]); /* the end of the line is no digit */
        if (digit < 0) {
            return false;
        }
        made.sum[i / 2] = (uint8_t)(made.sum[i / 2] << 4 | digit);
    }
    line += DIGITS;
    if (line[0] != ' ' || (line[1] != ' ' && line[1] != '*') || (escaped && !unescape(line + 2))) {
        return false;
    }
    made.key = line + 2;
    list->lines = tool_grown(list->lines, list->count, sizeof *list->lines);
    list->lines[list->count++] = made;
    return true;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const sum_line *)a)->key, ((const sum_line *)b)->key);
}

/* Reads what the list's text has. */
static int parse(sum_list *list, size_t length, const char *name)
{
    char *begin = list->text, *all = begin ? begin + length : NULL;
    size_t number = 1;
    int status = EXIT_OK;

    if (length && memchr(begin, '\0', length)) {
        return tool_fail("%s: there is a NUL in the checksums", name);
    }
    for (char *line = begin, *end; status == EXIT_OK && line && line < all; line = end + 1, number++) {
        end = memchr(line, '\n', (size_t)(all - line));
        end = end ? end : all; /* where a NUL stands */
        *end = '\0';
        if (*line && *line != '#' && !read_line(list, line)) {
            status = tool_fail("%s: line %zu of the checksums: expected 64 hexadecimal digits, two spaces and a key",
                               name, number);
        }
    }
    if (list->count) {
        qsort(list->lines, list->count, sizeof *list->lines, by_key);
    }
    for (size_t i = 1; i < list->count && status == EXIT_OK; i++) {
        if (strcmp(list->lines[i - 1].key, list->lines[i].key) == 0) {
            status = tool_fail("%s: there are two checksums for %s", name, list->lines[i].key);
        }
    }
    return status;
}

int tool_sums_parse(sum_list *list, const char *lines, const char *name)
{
    *list = (sum_list){.text = xstrdup(lines)};
    return parse(list, strlen(lines), name);
}

int tool_sums_read(sum_list *list, const char *path)
{
    text t = {0};
    bool whole = tool_text_read(&t, path);

    *list = (sum_list){.text = t.at};
    return whole ? parse(list, t.length, path)
                 : tool_fail("%s: cannot read the checksums: %s%s", path, strerror(errno),
                             errno == ENOENT ? "\nCreate them from a good file: record verify --sums write." : "");
}

sum_line *tool_sums_find(const sum_list *list, const char *key)
{
    sum_line wanted = {.key = key};

    return list->count ? bsearch(&wanted, list->lines, list->count, sizeof wanted, by_key) : NULL;
}

void tool_sums_free(sum_list *list)
{
    free(list->lines);
    free(list->text);
    *list = (sum_list){0};
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

void tool_sums_add(text *t, const char *key, const uint8_t sum[MEASURE_SUM_BYTES])
{
    bool escaped = strpbrk(key, "\\\n\r") != NULL;

    tool_text_put(t, escaped ? "\\" : "");
    for (size_t i = 0; i < MEASURE_SUM_BYTES; i++) {
        tool_text_format(t, "%02x", sum[i]);
    }
    tool_text_put(t, "  ");
    for (const char *at = key; *at; at++) {
        if (*at == '\\' || *at == '\n' || *at == '\r') {
            tool_text_put(t, *at == '\\' ? "\\\\" : *at == '\n' ? "\\n" : "\\r");
        } else {
            tool_text_add(t, at, 1);
        }
    }
    tool_text_put(t, "\n");
}

int tool_sums_write(const text *t, const char *path)
{
    target out;
    int status;

    tool_files_guard(); /* a signal leaves nothing behind */
    status = tool_target_open(&out, path);
    if (status == EXIT_OK) {
        if (fwrite(t->at, 1, t->length, out.stream) < t->length || fflush(out.stream) != 0) {
            status = tool_fail("%s: cannot be written: %s", path, strerror(errno));
        } else if (out.temporary && fsync(fileno(out.stream)) != 0) {
            status = tool_fail("%s: cannot be synced: %s", path, strerror(errno));
        }
        if (status == EXIT_OK && (status = tool_target_close(&out)) == EXIT_OK) {
            status = tool_target_commit(&out);
        }
    }
    tool_target_drop(&out);
    return status;
}
