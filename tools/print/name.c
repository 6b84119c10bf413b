/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names to show in place of the addresses on the command line, which hold secrets. The command works with these names,
 * so that whatever it prints or writes has no secret. An address is another type, which only functions that open a file
 * use. */
#include <stdlib.h>
#include <string.h>

#include "tools/print/print.h"

/* An address and its unique name. */
typedef struct pair {
    char *shown, *opened;
} pair;

static pair *pairs;
static size_t count;

static const pair *find(const char *shown, const char *opened)
{
    for (size_t i = 0; i < count; i++) {
        if ((shown && strcmp(pairs[i].shown, shown) == 0) || (opened && strcmp(pairs[i].opened, opened) == 0)) {
            return &pairs[i];
        }
    }
    return NULL;
}

const char *tool_name_shown(const char *operand)
{
    const pair *known = find(NULL, operand);
    size_t room, number = 1;
    char *name, *whole;

    if (known || !strstr(operand, "://")) {
        return known ? known->shown : operand;
    }
    room = (size_t)rec_display_name(operand, NULL, 0) + 1;
    name = xmalloc(room);
    (void)rec_display_name(operand, name, room);
    for (whole = xstrdup(name); find(whole, NULL); whole = xasprintf("%s (%zu)", name, ++number)) {
        free(whole); /* another address with the same name: they differ in hidden parts */
    }
    free(name);
    pairs = tool_grown(pairs, count, sizeof *pairs);
    pairs[count++] = (pair){whole, xstrdup(operand)};
    return whole;
}

tool_address tool_name_opened(const char *name)
{
    const pair *known = find(name, NULL);

    return (tool_address){known ? known->opened : name};
}

rec_record *tool_load(rec_recorder *recorder, const char *name)
{
    return rec_load(recorder, tool_name_opened(name).secret);
}

const char *tool_recognise(rec_context *context, const char *name)
{
    return rec_recognise(context, tool_name_opened(name).secret);
}

rec_status tool_plan_add(rec_plan *plan, rec_recorder *recorder, const char *name)
{
    return rec_plan_add(plan, recorder, tool_name_opened(name).secret);
}

rec_families *tool_families(const rec_record *record, const char *name, uint64_t *number)
{
    return rec_record_families(record, name ? tool_name_opened(name).secret : NULL, number);
}

const char *tool_base_name(const char *path)
{
    const char *last = strrchr(path, '/');

    return last && last[1] ? last + 1 : path;
}

bool tool_names_any(void)
{
    return count > 0;
}

void tool_names_free(void)
{
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].shown);
        free(pairs[i].opened);
    }
    free(pairs);
    pairs = NULL;
    count = 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int tool_by_name(const void *a, const void *b)
{
    return tool_compare_names(*(char *const *)a, *(char *const *)b);
}

/* @param first the character that comes before all others; 0: none. */
static int compare(const char *a, const char *b, char first)
{
    while (*a && *b) {
        size_t x, y;
        int order;
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b) {
                return *a == first || (*b != first && (unsigned char)*a < (unsigned char)*b) ? -1 : 1;
            }
            a++;
            b++;
            continue;
        }
        a += strspn(a, "0");
        b += strspn(b, "0");
        x = strspn(a, "0123456789");
        y = strspn(b, "0123456789");
        order = x != y ? (x < y ? -1 : 1) : strncmp(a, b, x);
        if (order) {
            return order;
        }
        a += x;
        b += y;
    }
    return (*a != '\0') - (*b != '\0');
}

int tool_compare_names(const char *a, const char *b)
{
    int order = compare(a, b, '\0');

    return order ? order : strcmp(a, b);
}

int tool_compare_keys(const char *a, const char *b)
{
    return compare(a, b, '.');
}
