/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the library says to do, in the words of the command: it speaks of load arguments, `profile = llama`, and here
 * they are options, to be pasted as they stand. */
#include <stdlib.h>
#include <string.h>

#include "tools/print/print.h"

/* Load arguments with an option, and whether that is a switch. All others are rules. */
static const struct {
    const char *word, *option;
    bool plain;
} written[] = {
    {"profile", "profile", false}, {"prefix", "prefix", false},   {"select", "select", false},
    {"rename", "remap", false},    {"remap", "remap", false},     {"drop", "drop", false},
    {"module", "module", false},   {"variant", "variant", false}, {"adapter", "adapter", false},
    {"gaps", "gaps", false},       {"set", "set", false},         {"config", "config-json", false},
    {"partial", "partial", true},  {"strict", "strict", true},    {"reverse", "reverse", true},
};
static const char *const rules[] = {"split",   "weight_norm", "add",     "rope",  "squeeze",
                                    "reshape", "transpose",   "permute", "stack", "join",
                                    "merge",   "tie",         "export",  "back",  "let"};

/* `word = value` as an option, and the option of a recorder that has a switch. @return false: it is neither. */
static bool put_option(text *t, const char *at, size_t length)
{
    static const char positional[] = "positional";
    const char *equals = memmem(at, length, " = ", 3);
    size_t word = equals ? (size_t)(equals - at) : 0;
    char *value = equals ? xasprintf("%.*s", (int)(length - word - 3), equals + 3) : NULL;
    bool found = length == sizeof positional - 1 && memcmp(at, positional, length) == 0;

    if (found) {
        tool_text_format(t, "--%s", positional);
    }
    for (size_t i = 0; equals && i < sizeof written / sizeof *written && !found; i++) {
        if (strlen(written[i].word) == word && memcmp(written[i].word, at, word) == 0) {
            found = true;
            tool_text_format(t, "--%s", written[i].option);
            if (!written[i].plain) {
                tool_text_put(t, " ");
                tool_text_quoted(t, value);
            }
        }
    }
    for (size_t i = 0; equals && i < sizeof rules / sizeof *rules && !found; i++) {
        if (strlen(rules[i]) == word && memcmp(rules[i], at, word) == 0) {
            char *whole = xasprintf("%.*s", (int)length, at);
            found = true;
            tool_text_put(t, "--rule ");
            tool_text_quoted(t, whole);
            free(whole);
        }
    }
    free(value);
    return found;
}

void tool_text_hint(text *t, const char *hint)
{
    tool_text_put(t, "");
    while (*hint) {
        const char *tick = strchr(hint, '`'), *end = tick ? strchr(tick + 1, '`') : NULL;
        size_t plain = end ? (size_t)(tick - hint) : strlen(hint);
        tool_text_add(t, hint, plain);
        hint += plain;
        if (end && !put_option(t, tick + 1, (size_t)(end - tick) - 1)) {
            tool_text_add(t, tick, (size_t)(end - tick) + 1);
        }
        hint = end ? end + 1 : hint;
    }
}
