/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Text: memory that cannot fail quietly, growing strings, numbers and names as people read them, colours. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "tools/print/print.h"

/* ------------------------------------------------------------------------------------------------------ memory -- */

static bool saved;

void tool_memory_saved(void)
{
    saved = true;
}

bool tool_memory_was_saved(void)
{
    return saved;
}

void *tool_enough(void *memory)
{
    if (!memory) {
        fputs(saved ? "record: out of memory; saved files are in place\n" : "record: out of memory\n", stderr);
        exit(EXIT_ERROR);
    }
    return memory;
}

const rec_plan_line *tool_plan_line(rec_plan *plan, uint64_t index)
{
    const rec_plan_line *line = rec_plan_get(plan, index);

    return line ? line : tool_enough(NULL);
}

void *xmalloc(size_t size)
{
    return tool_enough(malloc(size ? size : 1));
}

void *xrealloc(void *old, size_t size)
{
    return tool_enough(realloc(old, size ? size : 1));
}

char *xstrdup(const char *string)
{
    size_t size = strlen(string) + 1;
    return memcpy(xmalloc(size), string, size);
}

char *xvasprintf(const char *format, va_list args)
{
    char *string = NULL;

    return tool_enough(vasprintf(&string, format, args) < 0 ? NULL : string);
}

char *xasprintf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *string = xvasprintf(format, args);
    va_end(args);
    return string;
}

void *tool_grown(void *at, size_t count, size_t size)
{
    /* It is full at each power of two. */
    return count & (count - 1) ? at : xrealloc(at, (count ? 2 * count : 1) * size);
}

void tool_text_add(text *t, const char *bytes, size_t length)
{
    if (t->room - t->length <= length) {
        size_t room = t->room ? t->room : 64;
        while (room - t->length <= length) {
            room *= 2;
        }
        t->at = xrealloc(t->at, room);
        t->room = room;
    }
    if (length) {
        memcpy(t->at + t->length, bytes, length);
    }
    t->length += length;
    t->at[t->length] = '\0';
}

void tool_text_put(text *t, const char *string)
{
    tool_text_add(t, string, strlen(string));
}

void tool_text_format(text *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *string = xvasprintf(format, args);
    va_end(args);
    tool_text_put(t, string);
    free(string);
}

bool tool_text_read(text *t, const char *path)
{
    char chunk[1 << 16];
    int file = open(path, O_RDONLY | O_CLOEXEC), error;
    ssize_t got = file < 0 ? -1 : 1;

    tool_text_put(t, "");
    while (got > 0 && (got = read(file, chunk, sizeof chunk)) > 0) {
        tool_text_add(t, chunk, (size_t)got);
    }
    error = errno;
    if (file >= 0) {
        (void)close(file);
    }
    errno = error;
    return got == 0;
}

void tool_text_free(text *t)
{
    free(t->at);
    *t = (text){0};
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

const char *tool_grouped(uint64_t number, char *buffer)
{
    return lr_group_digits(number, buffer, NUMBER_ROOM);
}

/* Three significant digits: 4.58, 45.8, 458. */
static const char *three_digits(double number, const char *unit, char *buffer)
{
    int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;

    (void)snprintf(buffer, NUMBER_ROOM, "%.*f %s", decimals, number, unit);
    return buffer;
}

/* A number of the first unit, in the unit in which it has at most three digits before the point. */
static const char *scaled(double value, double step, const char *const *units, char *buffer)
{
    while (value >= 999.5 && units[1]) {
        value /= step;
        units++;
    }
    return three_digits(value, *units, buffer);
}

const char *tool_counted(uint64_t number, char *buffer)
{
    static const char *const units[] = {"M", "B", "T", NULL};

    return number < 1000000 ? tool_grouped(number, buffer) : scaled((double)number / 1e6, 1e3, units, buffer);
}

const char *tool_sized(uint64_t bytes, char *buffer)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};

    if (bytes < 1024) {
        (void)snprintf(buffer, NUMBER_ROOM, "%u byte%s", (unsigned)bytes, tool_plural(bytes));
        return buffer;
    }
    return scaled((double)bytes / 1024, 1024, units, buffer);
}

const char *tool_plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* ------------------------------------------------------------------------------------------------------- UTF-8 -- */

size_t tool_utf8_next(const char *bytes, size_t length, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)bytes;
    size_t need = b[0] < 0x80 ? 1 : (b[0] >> 5) == 6 ? 2 : (b[0] >> 4) == 14 ? 3 : (b[0] >> 3) == 30 ? 4 : 0;

    if (need == 0 || need > length) {
        return 0;
    }
    *code = need == 1 ? b[0] : b[0] & (0x7Fu >> need);
    for (size_t i = 1; i < need; i++) {
        if ((b[i] & 0xC0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (b[i] & 0x3Fu);
    }
    return *code < least[need] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000) ? 0 : need;
}

void tool_text_character(text *t, uint32_t code)
{
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = length; i-- > 0; code >>= 6) {
        bytes[i] = (char)(i ? 0x80 | (code & 0x3F) : length == 1 ? code : (0xF00u >> length & 0xF0u) | code);
    }
    tool_text_add(t, bytes, length);
}

typedef struct range {
    uint32_t first, last;
} range;

/* @return whether a character is in one of the ranges, which are in order. */
static bool is_within(uint32_t code, const range *ranges, size_t count)
{
    for (size_t i = 0; i < count && code >= ranges[i].first; i++) {
        if (code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* Columns of a character on a terminal. wcwidth() would need a locale; these ranges are what names are made of. */
static size_t columns_of(uint32_t code)
{
    static const range none[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}},
                       wide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                                 {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                 {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

    return is_within(code, none, sizeof none / sizeof *none)   ? 0
           : is_within(code, wide, sizeof wide / sizeof *wide) ? 2
                                                               : 1;
}

size_t tool_text_width(const char *string)
{
    size_t length = strlen(string), width = 0, step;
    uint32_t code;

    for (; length; string += step, length -= step) {
        step = tool_utf8_next(string, length, &code);
        width += step ? columns_of(code) : 1;
        step = step ? step : 1;
    }
    return width;
}

bool tool_text_steers(uint32_t code)
{
    static const range ranges[] = {{0, 0x1F},        {0x7F, 0xA0},     {0xAD, 0xAD},       {0x34F, 0x34F},
                                   {0x61C, 0x61C},   {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},
                                   {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F},   {0x2800, 0x2800},
                                   {0x3000, 0x3000}, {0x3164, 0x3164}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
                                   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

    return is_within(code, ranges, sizeof ranges / sizeof *ranges);
}

/* Text without these characters is in Unicode's normal form C, so that no other such text looks the same. Scripts in
 * which many letters combine are in as a whole, and characters without a glyph of their own: for private use, and none.
 */
bool tool_text_combines(uint32_t code)
{
    static const range ranges[] = {
        {0x300, 0x36F},     {0x374, 0x374},     {0x37E, 0x37E},     {0x387, 0x387},     {0x483, 0x489},
        {0x591, 0x5C7},     {0x610, 0x61A},     {0x64B, 0x65F},     {0x670, 0x670},     {0x6D6, 0x6ED},
        {0x711, 0x711},     {0x730, 0x109F},    {0x1100, 0x11FF},   {0x135D, 0x135F},   {0x1700, 0x1CFF},
        {0x1DC0, 0x1DFF},   {0x1F70, 0x2001},   {0x20D0, 0x20FF},   {0x2126, 0x212B},   {0x2329, 0x232A},
        {0x2ADC, 0x2ADC},   {0x2CEF, 0x2CF1},   {0x2D7F, 0x2DFF},   {0x302A, 0x302F},   {0x3099, 0x309A},
        {0xA66F, 0xA67D},   {0xA69E, 0xA69F},   {0xA6F0, 0xA6F1},   {0xA800, 0xABEF},   {0xE000, 0xFAFF},
        {0xFB1D, 0xFB4E},   {0xFDD0, 0xFDEF},   {0xFE20, 0xFE2F},   {0xFFFE, 0xFFFF},   {0x10100, 0x11FFF},
        {0x16A00, 0x16FFF}, {0x1BC00, 0x1BCFF}, {0x1D100, 0x1D24F}, {0x1E000, 0x1E94F}, {0x2F800, 0x2FA1D},
        {0xF0000, 0x10FFFF}};

    return is_within(code, ranges, sizeof ranges / sizeof *ranges);
}

/* Adds text with the characters that must not be printed as \xNN. @param combining prints those that combine. */
static void add_safe(text *t, const char *bytes, size_t length, bool combining)
{
    size_t step, plain = 0;
    uint32_t code;

    tool_text_add(t, "", 0);
    for (size_t at = 0; at < length; at += step) {
        step = tool_utf8_next(bytes + at, length - at, &code);
        if (step && !tool_text_steers(code) && (combining || !tool_text_combines(code))) {
            continue;
        }
        tool_text_add(t, bytes + plain, at - plain);
        step = step ? step : 1;
        plain = at + step;
        if (bytes[at] == '\n') {
            tool_text_put(t, "\\n");
        } else if (bytes[at] == '\t') {
            tool_text_put(t, "\\t");
        } else {
            for (size_t i = 0; i < step; i++) {
                tool_text_format(t, "\\x%02x", (unsigned char)bytes[at + i]);
            }
        }
    }
    tool_text_add(t, bytes + plain, length - plain);
}

void tool_text_name(text *t, const char *name)
{
    size_t length = strlen(name), begin = *name == ' ' || *name == '(', end = length > 1 && name[length - 1] == ' ';

    tool_text_add(t, "", 0);
    if (begin) {
        tool_text_format(t, "\\x%02x", (unsigned)*name);
    }
    tool_text_safe(t, name + begin, length - begin - end);
    if (end) {
        tool_text_put(t, "\\x20");
    }
}

void tool_text_safe(text *t, const char *bytes, size_t length)
{
    add_safe(t, bytes, length, false);
}

void tool_print_safe(FILE *out, const char *string)
{
    text safe = {0};

    tool_text_safe(&safe, string, strlen(string));
    fputs(safe.at ? safe.at : "", out);
    tool_text_free(&safe);
}

void tool_print_lines(FILE *out, const char *lead, const char *further, const char *string)
{
    for (const char *at = string; *at;) {
        size_t length = strcspn(at, "\n");
        text safe = {0};
        tool_text_safe(&safe, at, length);
        fprintf(out, "%s%s\n", at == string ? lead : further, safe.at ? safe.at : "");
        tool_text_free(&safe);
        at += length + (at[length] == '\n');
    }
}

void tool_text_value(text *t, const char *bytes, size_t length)
{
    add_safe(t, bytes, length, true);
}

/* Advances by so many columns. @return the bytes of `string` before that. */
static size_t skip_columns(const char *string, size_t length, size_t columns, bool past)
{
    size_t at = 0, column = 0;
    uint32_t code;

    while (at < length && column < columns) {
        size_t step = tool_utf8_next(string + at, length - at, &code);
        size_t wide = step ? columns_of(code) : 1;
        if (!past && column + wide > columns) {
            break;
        }
        column += wide;
        at += step ? step : 1;
    }
    return at;
}

void tool_text_cut(text *t, const char *string, size_t width, size_t head)
{
    size_t length = strlen(string), total = tool_text_width(string), tail = width - 1 - head;

    tool_text_add(t, string, skip_columns(string, length, head, false));
    tool_text_put(t, "…");
    if (tail) {
        size_t cut = skip_columns(string, length, total - tail, true);
        tool_text_add(t, string + cut, length - cut);
    }
}

void tool_text_shortened(text *t, const char *string, size_t width, bool middle)
{
    if (tool_text_width(string) <= width || width < 3) {
        tool_text_put(t, string);
        return;
    }
    tool_text_cut(t, string, width, middle ? (width - 1) / 2 : width - 1);
}

void tool_text_shape(text *t, const uint64_t *shape, uint32_t rank)
{
    char digits[24];

    tool_text_put(t, "[");
    for (uint32_t i = 0; i < rank; i++) {
        int length = snprintf(digits, sizeof digits, "%s%" PRIu64, i ? ", " : "", shape[i]);
        tool_text_add(t, digits, (size_t)length);
    }
    tool_text_put(t, "]");
}

void tool_text_place(text *t, const rec_tensor *tensor, uint64_t at)
{
    enum { RANK_MOST = 32 };
    uint32_t rank = rec_tensor_rank(tensor);
    const uint64_t *shape = rec_tensor_shape(tensor);
    uint64_t place[RANK_MOST];

    if (rank > RANK_MOST) {
        tool_text_format(t, "[… %llu]", (unsigned long long)at);
        return;
    }
    for (uint32_t i = rank; i-- > 0;) {
        place[i] = at % shape[i];
        at /= shape[i];
    }
    tool_text_shape(t, place, rank);
}

void tool_text_quoted(text *t, const char *string)
{
    static const char *const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-:=,+@%";

    if (*string && string[strspn(string, plain)] == '\0') {
        tool_text_put(t, string);
        return;
    }
    tool_text_put(t, "'");
    while (*string) {
        size_t length = strcspn(string, "'");
        tool_text_safe(t, string, length);
        string += length;
        if (*string) {
            tool_text_put(t, "'\\''");
            string++;
        }
    }
    tool_text_put(t, "'");
}

/* ------------------------------------------------------------------------------------------------------ mistyped -- */

const char *tool_nearest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    size_t length = strlen(typed);
    size_t least = length / 3 + 2; /* one more than what counts as near */

    for (; *names; names++) {
        size_t edits = lr_distance(typed, length, *names, strlen(*names));
        if (length >= 2 && strncmp(typed, *names, length) == 0) {
            edits = 0;
        }
        if (edits < least) {
            least = edits;
            best = *names;
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------------- colours -- */

static const char *const styles[] = {
    [STYLE_PLAIN] = "\033[0m",    [STYLE_BOLD] = "\033[1m",  [STYLE_DIM] = "\033[2m",
    [STYLE_ERROR] = "\033[1;31m", [STYLE_NOTE] = "\033[33m",
};

/* Which streams get colours; set once, before anything is printed. */
static bool colored[2];

void tool_output_setup(int color)
{
    const char *no_color = getenv("NO_COLOR");
    const char *kind = getenv("TERM");
    bool wanted = !(no_color && *no_color) && kind && strcmp(kind, "dumb") != 0;

    for (int i = 0; i < 2; i++) {
        colored[i] = color == COLOR_ALWAYS || (color == COLOR_AUTO && wanted && isatty(i ? 2 : 1));
    }
}

const char *tool_style(int which)
{
    return colored[0] ? styles[which] : "";
}

const char *tool_style_error(int which)
{
    return colored[1] ? styles[which] : "";
}
