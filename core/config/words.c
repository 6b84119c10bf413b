/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The words that sections of an INI file and options of a recorder begin with: the one list of them. What their values
 * mean is known in remap/ and recorder/. docs/reference/configuration.md and docs/reference/rules.md describe each. */
#include "core/config/config.h"

#include <stdio.h>
#include <string.h>

/* Near misses are tried, and words listed, in this order. */
static const lr_word words[] = {
    {"plugin", LR_WORD_PLUGIN, LR_FOR_RECORDER, false},
    {"precision", LR_WORD_PRECISION, LR_FOR_RECORDER, false},
    {"as", LR_WORD_AS, LR_FOR_RECORDER, false},
    {"map", LR_WORD_MAP, LR_FOR_RECORDER, false},
    {"data", LR_WORD_DATA, LR_FOR_RECORDER, false},
    {"decode", LR_WORD_DECODE, LR_FOR_RECORDER, false},
    {"sync", LR_WORD_SYNC, LR_FOR_RECORDER, false},
    {"check", LR_WORD_CHECK, LR_FOR_RECORDER, false},
    {"clamp", LR_WORD_CLAMP, LR_FOR_RECORDER, false},
    {"modules", LR_WORD_MODULES, LR_FOR_RECORDER, false},
    {"layout", LR_WORD_LAYOUT, LR_FOR_RECORDER, false},

    {"profile", LR_WORD_PROFILE, LR_FOR_LOAD, false},
    {"prefix", LR_WORD_PREFIX, LR_FOR_LOAD, false},
    {"config", LR_WORD_CONFIG, LR_FOR_LOAD, false},
    {"set", LR_WORD_SET, LR_FOR_LOAD, true},
    {"partial", LR_WORD_PARTIAL, LR_FOR_LOAD, false},
    {"strict", LR_WORD_STRICT, LR_FOR_LOAD, false},
    {"debug", LR_WORD_DEBUG, LR_FOR_LOAD, false},
    {"reverse", LR_WORD_REVERSE, LR_FOR_LOAD, false},

    {"description", LR_WORD_DESCRIPTION, LR_FOR_PROFILE, false},
    {"source", LR_WORD_SOURCE, LR_FOR_PROFILE, false},
    {"destination", LR_WORD_DESTINATION, LR_FOR_PROFILE, false},
    {"include", LR_WORD_INCLUDE, LR_FOR_PROFILE, true},
    {"less", LR_WORD_LESS, LR_FOR_PROFILE, true},
    {"family", LR_WORD_FAMILY, LR_FOR_FAMILY, false},
    {"others", LR_WORD_OTHERS, LR_FOR_FAMILY, false},
    {"doubt", LR_WORD_DOUBT, LR_FOR_FAMILY, false},
    {"model_type", LR_WORD_MODEL_TYPE, LR_FOR_FAMILY, false},
    {"architecture", LR_WORD_ARCHITECTURE, LR_FOR_FAMILY, false},
    {"has", LR_WORD_HAS, LR_FOR_FAMILY, true},
    {"knows", LR_WORD_KNOWS, LR_FOR_FAMILY, true},

    {"drop", LR_WORD_DROP, LR_FOR_RULES, true},
    {"split", LR_WORD_SPLIT, LR_FOR_RULES, true},
    {"weight_norm", LR_WORD_WEIGHT_NORM, LR_FOR_RULES, true},
    {"rename", LR_WORD_RENAME, LR_FOR_RULES, true},
    {"remap", LR_WORD_RENAME, LR_FOR_RULES, true},
    {"add", LR_WORD_ADD, LR_FOR_RULES, true},
    {"rope", LR_WORD_ROPE, LR_FOR_RULES, true},
    {"squeeze", LR_WORD_SQUEEZE, LR_FOR_RULES, true},
    {"reshape", LR_WORD_RESHAPE, LR_FOR_RULES, true},
    {"transpose", LR_WORD_TRANSPOSE, LR_FOR_RULES, true},
    {"permute", LR_WORD_PERMUTE, LR_FOR_RULES, true},
    {"stack", LR_WORD_STACK, LR_FOR_RULES, true},
    {"join", LR_WORD_JOIN, LR_FOR_RULES, true},
    {"merge", LR_WORD_MERGE, LR_FOR_RULES, true},
    {"tie", LR_WORD_TIE, LR_FOR_RULES, true},
    {"module", LR_WORD_MODULE, LR_FOR_RULES, true},
    {"variant", LR_WORD_VARIANT, LR_FOR_RULES, true},
    {"back", LR_WORD_BACK, LR_FOR_RULES, true},
    {"export", LR_WORD_EXPORT, LR_FOR_RULES, true},
    {"require", LR_WORD_REQUIRE, LR_FOR_RULES, true},
    {"let", LR_WORD_LET, LR_FOR_RULES, true},
    {"adapter", LR_WORD_ADAPTER, LR_FOR_RULES, false},
    {"gaps", LR_WORD_GAPS, LR_FOR_RULES, false},
    {"select", LR_WORD_SELECT, LR_FOR_RULES, false},
};
enum { WORDS = sizeof words / sizeof words[0] };

const lr_word *lr_word_find(const char *name, uint32_t where)
{
    for (size_t i = 0; i < WORDS; i++) {
        if ((words[i].where & where) && strcmp(words[i].name, name) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

const char *lr_word_name(int32_t which)
{
    for (size_t i = 0; i < WORDS; i++) {
        if (words[i].which == which) {
            return words[i].name;
        }
    }
    return "";
}

void lr_words_suggest(lr_suggestion *near, uint32_t where)
{
    for (size_t i = 0; i < WORDS; i++) {
        if (words[i].where & where) {
            lr_suggestion_try(near, words[i].name);
        }
    }
}

const char *lr_words_list(char *text, size_t room, uint32_t where)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < WORDS && used < room; i++) {
        bool second = i && words[i].which == words[i - 1].which;
        if ((words[i].where & where) && !second) {
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "", words[i].name);
        }
    }
    return text;
}
