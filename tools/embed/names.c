/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names in C for what a record calls anything it likes. */
#include <stdlib.h>
#include <string.h>

#include "tools/embed/embed_private.h"

/* Keywords of C, and what compilers or the usual headers define as macros. */
static const char c_words[] =
    "EOF NULL alignas alignof asm assert auto bool break case char const constexpr continue default do double else "
    "enum errno extern false float for goto i386 if inline int linux long nullptr offsetof register restrict return "
    "short signed sizeof static static_assert stderr stdin stdout struct switch thread_local true typedef typeof "
    "typeof_unqual union unix unsigned void volatile while";
/* Those of C++, and macros of headers that are seldom included. */
static const char more_words[] =
    "I INFINITY NAN and and_eq bitand bitor catch char16_t char32_t char8_t class co_await co_return co_yield compl "
    "complex concept const_cast consteval constinit decltype delete dynamic_cast explicit export friend mutable "
    "namespace new noexcept noreturn not not_eq operator or or_eq private protected public reinterpret_cast requires "
    "static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq";

static bool is_among(const char *list, const char *name, size_t length)
{
    for (size_t word; *list; list += word + (list[word] == ' ')) {
        word = strcspn(list, " ");
        if (word == length && memcmp(list, name, length) == 0) {
            return true;
        }
    }
    return false;
}

bool tool_c_word(const char *name, size_t length)
{
    return is_among(c_words, name, length);
}

static bool is_taken(const char *name)
{
    return tool_c_word(name, strlen(name)) || is_among(more_words, name, strlen(name));
}

/* Not isalpha(): that depends on the locale. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool tool_c_identifier(const char *name, size_t length)
{
    size_t i = 0;

    while (i < length && (is_letter(name[i]) || (i && is_digit(name[i])))) {
        i++;
    }
    return i && i == length;
}

bool tool_c_name_valid(const char *name)
{
    return tool_c_identifier(name, strlen(name)) && !is_taken(name);
}

void tool_c_name_add(text *t, const char *bytes, size_t length)
{
    size_t begin = t->length;

    if (length && is_digit(bytes[0])) {
        tool_text_put(t, "n");
    }
    for (size_t i = 0; i < length; i++) {
        if (is_letter(bytes[i]) || is_digit(bytes[i])) {
            tool_text_add(t, &bytes[i], 1);
        } else if (t->length > begin && t->at[t->length - 1] != '_') {
            tool_text_put(t, "_"); /* one for all that stand together: C++ keeps two underscores for itself */
        }
    }
    if (t->length == begin) {
        tool_text_put(t, length ? "other" : "empty");
    }
    if (is_taken(t->at + begin)) {
        tool_text_put(t, "_");
    }
}

char *tool_c_name_upper(const char *name)
{
    char *upper = xstrdup(name);

    for (char *c = upper; *c; c++) {
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    }
    return upper;
}

/* ----------------------------------------------------------------------------------------------------- look-up -- */

static int by_key(const void *a, const void *b)
{
    const lookup_slot *x = a, *y = b;
    int order = memcmp(x->key, y->key, x->length < y->length ? x->length : y->length);

    return order ? order : (x->length > y->length) - (x->length < y->length);
}

lookup_slot *tool_lookup_find(const lookup *l, const void *key, size_t length)
{
    return tool_known_find(&l->tree, &(lookup_slot){.key = (void *)(uintptr_t)key, .length = length}, by_key);
}

lookup_slot *tool_lookup_add(lookup *l, const void *key, size_t length)
{
    lookup_slot *slot = xmalloc(sizeof *slot);

    *slot = (lookup_slot){.key = memcpy(xmalloc(length), key, length), .length = length, .before = l->last};
    l->last = slot;
    return tool_known_add(&l->tree, slot, by_key);
}

void tool_lookup_free(lookup *l)
{
    tool_known_free(&l->tree, by_key);
    for (lookup_slot *slot = l->last, *before; slot; slot = before) {
        before = slot->before;
        free(slot->key);
        free(slot->text);
        free(slot);
    }
    *l = (lookup){0};
}

/* ------------------------------------------------------------------------------------------------ names in use -- */

char *tool_c_names_take(lookup *names, const char *wanted)
{
    char *name = xstrdup(wanted);
    lookup_slot *first = tool_lookup_find(names, wanted, strlen(wanted));

    while (first && tool_lookup_find(names, name, strlen(name))) {
        free(name);
        name = xasprintf("%s_%u", wanted, ++first->number);
    }
    tool_lookup_add(names, name, strlen(name))->number = 1;
    return name;
}
