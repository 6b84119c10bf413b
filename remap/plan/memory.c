/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What an import left in a record's metadata for the way back. */
#include "remap/plan/plan.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------- folding -- */

bool lr_memory_is_digits(const char *text, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) {
        if (!lr_is_digit(text[i])) {
            return false;
        }
    }
    return length > 0;
}

uint64_t lr_memory_fold(const char *key, uint64_t length, char *folded)
{
    const char *end = key + length;
    uint64_t used = 0;
    for (const char *part = key; part;) {
        const char *dot = lr_path_dot(part, end);
        uint64_t size = (uint64_t)((dot ? dot : end) - part);
        if (lr_memory_is_digits(part, size)) {
            folded[used++] = '#';
        } else {
            memmove(folded + used, part, (size_t)size);
            used += size;
        }
        if (dot) {
            folded[used++] = '.';
        }
        part = dot ? dot + 1 : NULL;
    }
    folded[used] = '\0';
    return used;
}

/* ----------------------------------------------------------------------------------------------------- finding -- */

static int compare(const char *text, uint64_t length, const lr_memory_entry *entry)
{
    int order = strncmp(text, entry->text, (size_t)length);
    return order ? order : entry->text[length] ? -1 : 0;
}

const lr_memory_entry *lr_memory_find(const lr_memory_list *list, const char *text, uint64_t length)
{
    uint64_t low = 0, high = list->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int order = compare(text, length, &list->at[middle]);
        if (order == 0) {
            return &list->at[middle];
        }
        low = order > 0 ? middle + 1 : low;
        high = order > 0 ? high : middle;
    }
    return NULL;
}

bool lr_memory_has(const lr_memory_list *list, const char *key, uint64_t length)
{
    enum { LONGEST = 4096 };
    char folded[LONGEST];
    return length < LONGEST && lr_memory_find(list, folded, lr_memory_fold(key, length, folded));
}

int32_t lr_memory_add(rec_job *job, lr_memory_list *list, const char *text, const char *value)
{
    if (lr_job_grow(job, &list->at, list->count + 1, &list->room, sizeof *list->at)) {
        list->at[list->count++] = (lr_memory_entry){.text = text, .value = value};
    }
    return job->error.status;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const lr_memory_entry *)a)->text, ((const lr_memory_entry *)b)->text);
}

void lr_memory_sort(lr_memory_list *list)
{
    if (list->count) {
        qsort(list->at, (size_t)list->count, sizeof *list->at, by_text);
    }
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

typedef struct reader {
    rec_job *job;
    lr_arena *arena;
    lr_variables *numbers;
    lr_memory *memory;
} reader;

/* `PLACE NUMBER`: a name of a place may have blanks. */
static int32_t add_moved(const reader *r, char *value)
{
    char *blank = strrchr(value, ' ');
    if (!blank || !lr_memory_is_digits(blank + 1, strlen(blank + 1)) || strlen(blank + 1) > LR_MEMORY_DIGITS) {
        return rec_fail(r->job, REC_E_FORMAT, REC_UNKNOWN, "expected a place and a number for `moved`");
    }
    *blank = '\0';
    return lr_memory_add(r->job, &r->memory->moved, value, blank + 1);
}

/* The lists, and the words of their lines; `dropped` stays in its order. */
static const struct {
    const char *word;
    size_t offset;
    bool sorted;
} lists[] = {
    {"moved", offsetof(lr_memory, moved), true},      {"level", offsetof(lr_memory, levels), true},
    {"linear", offsetof(lr_memory, linear), true},    {"attention", offsetof(lr_memory, attention), true},
    {"cell", offsetof(lr_memory, cells), true},       {"parametrized", offsetof(lr_memory, parametrized), true},
    {"key", offsetof(lr_memory, keys), true},         {"kind", offsetof(lr_memory, kinds), true},
    {"dropped", offsetof(lr_memory, dropped), false},
};
enum { LISTS = sizeof lists / sizeof *lists };

static lr_memory_list *list_at(lr_memory *memory, size_t i)
{
    return (lr_memory_list *)(void *)((char *)memory + lists[i].offset);
}

/* A line of a list. */
static int32_t add_entry(const reader *r, lr_memory_list *list, char *value)
{
    if (list == &r->memory->moved) {
        return add_moved(r, value);
    }
    if (list == &r->memory->kinds) {
        char *blank = strchr(value, ' ');
        if (!blank) {
            return rec_fail(r->job, REC_E_FORMAT, REC_UNKNOWN, "expected a kind and a key");
        }
        *blank = '\0';
        return lr_memory_add(r->job, list, blank + 1, value);
    }
    return lr_memory_add(r->job, list, list == &r->memory->attention && strcmp(value, ".") == 0 ? "" : value, NULL);
}

/* One line. @param value in the arena. */
static int32_t take_line(const reader *r, const char *word, char *value)
{
    static const lr_location place = {.what = LR_MEMORY_KEY};
    lr_memory *m = r->memory;
    for (size_t i = 0; i < LISTS; i++) {
        if (strcmp(word, lists[i].word) == 0) {
            return add_entry(r, list_at(m, i), value);
        }
    }
    if (strcmp(word, "options") == 0) {
        return REC_OK; /* for people */
    }
    if (strcmp(word, "normed") == 0) {
        return lr_rules_add(r->job, m->recognised, "weight_norm", value, false, &place, LR_MEMORY_KEY);
    }
    if (strcmp(word, "number") == 0) {
        return lr_variables_remember(r->job, r->numbers, value);
    }
    if (strcmp(word, "prefix") == 0) {
        m->prefix = value;
        return REC_OK;
    }
    if (lr_rule_kind(word) || strcmp(word, "let") == 0 || strcmp(word, "adapter") == 0 || strcmp(word, "select") == 0) {
        return lr_rules_add(r->job, m->rules, word, value, false, &place, LR_MEMORY_KEY);
    }
    return rec_fail(r->job, REC_E_FORMAT, REC_UNKNOWN, "unknown word `%.40s`", word);
}

static int32_t take_lines(const reader *r, char *text)
{
    int32_t status = REC_OK;
    for (char *end; *text && status == REC_OK; text = end) {
        char *blank;
        end = text + strcspn(text, "\n");
        end = *end ? (*end = '\0', end + 1) : end;
        blank = strchr(text, ' ');
        if (!blank) {
            return rec_fail(r->job, REC_E_FORMAT, REC_UNKNOWN, "expected a word and a value, found `%.40s`", text);
        }
        *blank = '\0';
        status = take_line(r, text, blank + 1);
    }
    return status;
}

int32_t lr_memory_read(rec_job *job, lr_arena *arena, const rec_record *record, lr_variables *numbers,
                       lr_memory **memory)
{
    const lr_entry *entry = lr_map_find_text(&record->metadata, LR_MEMORY_KEY, strlen(LR_MEMORY_KEY));
    const char *text = entry && entry->value.kind == REC_KIND_STRING ? entry->value.v.text : NULL;
    reader r = {.job = job, .arena = arena, .numbers = numbers};
    char *copy;
    *memory = NULL;
    if (!text || strncmp(text, LR_MEMORY_HEAD, strlen(LR_MEMORY_HEAD)) != 0) {
        return REC_OK; /* of a later librecord, whose words are not known */
    }
    text += strlen(LR_MEMORY_HEAD);
    copy = lr_arena_text(arena, text, strlen(text));
    *memory = r.memory = copy ? lr_zalloc(job->allocator, sizeof **memory) : NULL;
    if (!r.memory) {
        return lr_fail_memory(job, strlen(text));
    }
    r.memory->rules = lr_rules_new(job);
    r.memory->recognised = r.memory->rules ? lr_rules_new(job) : NULL;
    if (!r.memory->recognised || take_lines(&r, copy) != REC_OK) {
        rec_fail_hint(job,
                      "The metadata %s of the record are damaged. Without them (--metadata %s=) a reverse conversion "
                      "needs the options of the import.",
                      LR_MEMORY_KEY, LR_MEMORY_KEY);
        lr_memory_free(job->allocator, r.memory);
        *memory = NULL;
        return job->error.status;
    }
    for (size_t i = 0; i < LISTS; i++) {
        if (lists[i].sorted) {
            lr_memory_sort(list_at(r.memory, i));
        }
    }
    return REC_OK;
}

void lr_memory_free(const lr_allocator *allocator, lr_memory *memory)
{
    if (memory) {
        for (size_t i = 0; i < LISTS; i++) {
            lr_release(allocator, list_at(memory, i)->at);
        }
        lr_rules_free(memory->rules);
        lr_rules_free(memory->recognised);
        lr_release(allocator, memory);
    }
}

/* ---------------------------------------------------------------------------------------------------- metadata -- */

/* @return whether all of the text was the number. */
static bool read_number(const char *kind, const char *text, rec_value *value)
{
    char *end = NULL;
    errno = 0;
    switch (*kind) {
    case 'u':
        value->kind = REC_KIND_UINT;
        value->v.u = strtoull(text, &end, 10);
        break;
    case 'i':
        value->kind = REC_KIND_INT;
        value->v.i = strtoll(text, &end, 10);
        break;
    case 'b':
        value->kind = REC_KIND_BOOL;
        value->v.i = strcmp(text, "true") == 0;
        return value->v.i || strcmp(text, "false") == 0;
    case 'f':
        value->kind = REC_KIND_FLOAT;
        return lr_number_read(text, strlen(text), &value->v.f);
    default:
        return false;
    }
    return *text && !*end && !errno;
}

rec_value lr_memory_value(const lr_memory *memory, const char *key, const rec_value *value)
{
    const lr_memory_entry *entry =
        value->kind == REC_KIND_STRING ? lr_memory_find(&memory->kinds, key, strlen(key)) : NULL;
    rec_value number = {.kind = REC_KIND_NIL};
    if (!entry || !read_number(entry->value, value->v.text, &number)) {
        return *value;
    }
    number.bits = (uint16_t)strtoul(entry->value + 1, NULL, 10);
    return number;
}

/* --------------------------------------------------------------------------------------------------- restoring -- */

int32_t lr_memory_restore(rec_job *job, const lr_memory *memory, bool moved, bool levels, const char *key,
                          uint64_t length, char **out)
{
    const char *end = key + length;
    uint64_t used = 0, room = length + LR_MEMORY_DIGITS + 1;
    bool changed = false;
    *out = NULL;
    if ((!moved || !memory->moved.count) && (!levels || !memory->levels.count)) {
        return REC_OK;
    }
    for (uint64_t i = 0; i < length; i++) { /* each part may become a longer number */
        room += key[i] == '.' ? LR_MEMORY_DIGITS : 0;
    }
    *out = lr_alloc(job->allocator, room);
    if (!*out) {
        return lr_fail_memory(job, room);
    }
    for (const char *part = key; part;) {
        const char *dot = lr_path_dot(part, end), *after = dot ? dot : end, *text = part;
        uint64_t size = (uint64_t)(after - part);
        const lr_memory_entry *entry = moved ? lr_memory_find(&memory->moved, key, (uint64_t)(after - key)) : NULL;
        if (levels && lr_memory_find(&memory->levels, key, (uint64_t)(after - key))) {
            changed = true;
            part = dot ? dot + 1 : NULL;
            continue;
        }
        if (entry) {
            changed = true;
            text = entry->value;
            size = strlen(text);
        }
        if (used) {
            (*out)[used++] = '.';
        }
        memcpy(*out + used, text, (size_t)size);
        used += size;
        part = dot ? dot + 1 : NULL;
    }
    (*out)[used] = '\0';
    if (!changed) {
        lr_release(job->allocator, *out);
        *out = NULL;
    }
    return REC_OK;
}
