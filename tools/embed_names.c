/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names in C for what a record calls anything it likes. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "embed.h"

/* Words of C and C++, and what compilers or the usual headers define as macros. Sorted. */
static const char *const words_taken[] = {
    "EOF",         "I",           "INFINITY",  "NAN",       "NULL",          "alignas",       "alignof",
    "and",         "and_eq",      "asm",       "assert",    "auto",          "bitand",        "bitor",
    "bool",        "break",       "case",      "catch",     "char",          "char16_t",      "char32_t",
    "char8_t",     "class",       "co_await",  "co_return", "co_yield",      "compl",         "complex",
    "concept",     "const",       "const_cast", "consteval", "constexpr",    "constinit",     "continue",
    "decltype",    "default",     "delete",    "do",        "double",        "dynamic_cast",  "else",
    "enum",        "errno",       "explicit",  "export",    "extern",        "false",         "float",
    "for",         "friend",      "goto",      "i386",      "if",            "inline",        "int",
    "linux",       "long",        "mutable",   "namespace", "new",           "noexcept",      "noreturn",
    "not",         "not_eq",      "nullptr",   "offsetof",  "operator",      "or",            "or_eq",
    "private",     "protected",   "public",    "register",  "reinterpret_cast", "requires",   "restrict",
    "return",      "short",       "signed",    "sizeof",    "static",        "static_assert", "static_cast",
    "stderr",      "stdin",       "stdout",    "struct",    "switch",        "template",      "this",
    "thread_local", "throw",      "true",      "try",       "typedef",       "typeid",        "typename",
    "typeof",      "typeof_unqual", "union",   "unix",      "unsigned",      "using",         "virtual",
    "void",        "volatile",    "wchar_t",   "while",     "xor",           "xor_eq",
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static bool is_taken(const char *name)
{
    return bsearch(name, words_taken, sizeof words_taken / sizeof *words_taken, sizeof *words_taken, compare_words);
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

bool c_name_valid(const char *name)
{
    size_t i = 0;

    while (is_letter(name[i]) || (i && is_digit(name[i]))) {
        i++;
    }
    return i && !name[i] && !is_taken(name);
}

void c_name_add(text *t, const char *bytes, size_t length)
{
    size_t begin = t->length;

    if (length == 0 || is_digit(bytes[0])) {
        text_put(t, length ? "n" : "empty");
    }
    for (size_t i = 0; i < length; i++) {
        text_add(t, is_letter(bytes[i]) || is_digit(bytes[i]) ? &bytes[i] : "_", 1);
    }
    if (is_taken(t->at + begin)) {
        text_put(t, "_");
    }
}

char *c_name_upper(const char *name)
{
    char *upper = copy(name);

    for (char *c = upper; *c; c++) {
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    }
    return upper;
}

/* ------------------------------------------------------------------------------------------------- names in use -- */

typedef struct used {
    char *name;
    unsigned last; /* the number that was put behind it last */
} used;

static int compare_used(const void *a, const void *b)
{
    return strcmp(((const used *)a)->name, ((const used *)b)->name);
}

static void free_used(void *entry)
{
    free(((used *)entry)->name);
    free(entry);
}

/* @return the entry of a name. @param fresh (out) true if it was not there. */
static used *enter(c_names *names, const char *name, bool *fresh)
{
    used *u = take(sizeof *u);
    used **found;

    *u = (used){copy(name), 1};
    found = tsearch(u, &names->root, compare_used);
    if (!found) {
        (void)fail("out of memory");
        exit(EXIT_ERROR);
    }
    *fresh = *found == u;
    if (!*fresh) {
        free_used(u);
    }
    return *found;
}

char *c_names_take(c_names *names, const char *wanted)
{
    bool fresh;
    used *first = enter(names, wanted, &fresh);
    char *name = copy(wanted);

    while (!fresh) {
        free(name);
        name = print("%s_%u", wanted, ++first->last);
        (void)enter(names, name, &fresh);
    }
    return name;
}

void c_names_free(c_names *names)
{
    tdestroy(names->root, free_used);
    names->root = NULL;
}
