/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Properties of characters by name: `\d`, `\pL`, `\p{Greek}`, `\p{sc=Greek}`. Names compare as Rust has them: without
 * case, spaces, `_`, `-` and a leading "is". What they mean comes from PCRE2, in its words. */
#include <stdio.h>
#include <string.h>

#include "remap/regex/regex_private.h"

enum { NAME_MOST = 64 };

typedef struct alias {
    const char *name;  /* as it compares */
    const char *pcre2; /* between the braces of \p{} */
} alias;

/* clang-format off */

/* General categories: names of Unicode's PropertyValueAliases.txt. */
static const alias categories[] = {
    {"c", "C"}, {"other", "C"},
    {"cc", "Cc"}, {"cntrl", "Cc"}, {"control", "Cc"},
    {"cf", "Cf"}, {"format", "Cf"},
    {"cn", "Cn"}, {"unassigned", "Cn"},
    {"co", "Co"}, {"privateuse", "Co"},
    {"l", "L"}, {"letter", "L"},
    {"lc", "L&"}, {"casedletter", "L&"},
    {"ll", "Ll"}, {"lowercaseletter", "Ll"},
    {"lm", "Lm"}, {"modifierletter", "Lm"},
    {"lo", "Lo"}, {"otherletter", "Lo"},
    {"lt", "Lt"}, {"titlecaseletter", "Lt"},
    {"lu", "Lu"}, {"uppercaseletter", "Lu"},
    {"m", "M"}, {"mark", "M"}, {"combiningmark", "M"},
    {"mc", "Mc"}, {"spacingmark", "Mc"},
    {"me", "Me"}, {"enclosingmark", "Me"},
    {"mn", "Mn"}, {"nonspacingmark", "Mn"},
    {"n", "N"}, {"number", "N"},
    {"nd", "Nd"}, {"decimalnumber", "Nd"}, {"digit", "Nd"},
    {"nl", "Nl"}, {"letternumber", "Nl"},
    {"no", "No"}, {"othernumber", "No"},
    {"p", "P"}, {"punctuation", "P"}, {"punct", "P"},
    {"pc", "Pc"}, {"connectorpunctuation", "Pc"},
    {"pd", "Pd"}, {"dashpunctuation", "Pd"},
    {"pe", "Pe"}, {"closepunctuation", "Pe"},
    {"pf", "Pf"}, {"finalpunctuation", "Pf"},
    {"pi", "Pi"}, {"initialpunctuation", "Pi"},
    {"po", "Po"}, {"otherpunctuation", "Po"},
    {"ps", "Ps"}, {"openpunctuation", "Ps"},
    {"s", "S"}, {"symbol", "S"},
    {"sc", "Sc"}, {"currencysymbol", "Sc"},
    {"sk", "Sk"}, {"modifiersymbol", "Sk"},
    {"sm", "Sm"}, {"mathsymbol", "Sm"},
    {"so", "So"}, {"othersymbol", "So"},
    {"z", "Z"}, {"separator", "Z"},
    {"zl", "Zl"}, {"lineseparator", "Zl"},
    {"zp", "Zp"}, {"paragraphseparator", "Zp"},
    {"zs", "Zs"}, {"spaceseparator", "Zs"},
    {NULL, NULL}};

/* Properties that a character has or has not, with both of their names in PropertyAliases.txt. */
static const alias binaries[] = {
    {"ahex", "ASCII_Hex_Digit"}, {"asciihexdigit", "ASCII_Hex_Digit"},
    {"alpha", "Alphabetic"}, {"alphabetic", "Alphabetic"},
    {"bidic", "Bidi_Control"}, {"bidicontrol", "Bidi_Control"},
    {"bidim", "Bidi_Mirrored"}, {"bidimirrored", "Bidi_Mirrored"},
    {"cased", "Cased"},
    {"ci", "Case_Ignorable"}, {"caseignorable", "Case_Ignorable"},
    {"cwcf", "Changes_When_Casefolded"}, {"changeswhencasefolded", "Changes_When_Casefolded"},
    {"cwcm", "Changes_When_Casemapped"}, {"changeswhencasemapped", "Changes_When_Casemapped"},
    {"cwl", "Changes_When_Lowercased"}, {"changeswhenlowercased", "Changes_When_Lowercased"},
    {"cwt", "Changes_When_Titlecased"}, {"changeswhentitlecased", "Changes_When_Titlecased"},
    {"cwu", "Changes_When_Uppercased"}, {"changeswhenuppercased", "Changes_When_Uppercased"},
    {"dash", "Dash"},
    {"dep", "Deprecated"}, {"deprecated", "Deprecated"},
    {"di", "Default_Ignorable_Code_Point"}, {"defaultignorablecodepoint", "Default_Ignorable_Code_Point"},
    {"dia", "Diacritic"}, {"diacritic", "Diacritic"},
    {"ebase", "Emoji_Modifier_Base"}, {"emojimodifierbase", "Emoji_Modifier_Base"},
    {"ecomp", "Emoji_Component"}, {"emojicomponent", "Emoji_Component"},
    {"emod", "Emoji_Modifier"}, {"emojimodifier", "Emoji_Modifier"},
    {"emoji", "Emoji"},
    {"epres", "Emoji_Presentation"}, {"emojipresentation", "Emoji_Presentation"},
    {"ext", "Extender"}, {"extender", "Extender"},
    {"extpict", "Extended_Pictographic"}, {"extendedpictographic", "Extended_Pictographic"},
    {"grbase", "Grapheme_Base"}, {"graphemebase", "Grapheme_Base"},
    {"grext", "Grapheme_Extend"}, {"graphemeextend", "Grapheme_Extend"},
    {"grlink", "Grapheme_Link"}, {"graphemelink", "Grapheme_Link"},
    {"hex", "Hex_Digit"}, {"hexdigit", "Hex_Digit"},
    {"idc", "ID_Continue"}, {"idcontinue", "ID_Continue"},
    {"ideo", "Ideographic"}, {"ideographic", "Ideographic"},
    {"ids", "ID_Start"}, {"idstart", "ID_Start"},
    {"idsb", "IDS_Binary_Operator"}, {"idsbinaryoperator", "IDS_Binary_Operator"},
    {"idst", "IDS_Trinary_Operator"}, {"idstrinaryoperator", "IDS_Trinary_Operator"},
    {"joinc", "Join_Control"}, {"joincontrol", "Join_Control"},
    {"loe", "Logical_Order_Exception"}, {"logicalorderexception", "Logical_Order_Exception"},
    {"lower", "Lowercase"}, {"lowercase", "Lowercase"},
    {"math", "Math"},
    {"nchar", "Noncharacter_Code_Point"}, {"noncharactercodepoint", "Noncharacter_Code_Point"},
    {"patsyn", "Pattern_Syntax"}, {"patternsyntax", "Pattern_Syntax"},
    {"patws", "Pattern_White_Space"}, {"patternwhitespace", "Pattern_White_Space"},
    {"pcm", "Prepended_Concatenation_Mark"}, {"prependedconcatenationmark", "Prepended_Concatenation_Mark"},
    {"qmark", "Quotation_Mark"}, {"quotationmark", "Quotation_Mark"},
    {"radical", "Radical"},
    {"ri", "Regional_Indicator"}, {"regionalindicator", "Regional_Indicator"},
    {"sd", "Soft_Dotted"}, {"softdotted", "Soft_Dotted"},
    {"sterm", "Sentence_Terminal"}, {"sentenceterminal", "Sentence_Terminal"},
    {"term", "Terminal_Punctuation"}, {"terminalpunctuation", "Terminal_Punctuation"},
    {"uideo", "Unified_Ideograph"}, {"unifiedideograph", "Unified_Ideograph"},
    {"upper", "Uppercase"}, {"uppercase", "Uppercase"},
    {"vs", "Variation_Selector"}, {"variationselector", "Variation_Selector"},
    {"space", "White_Space"}, {"wspace", "White_Space"}, {"whitespace", "White_Space"},
    {"xidc", "XID_Continue"}, {"xidcontinue", "XID_Continue"},
    {"xids", "XID_Start"}, {"xidstart", "XID_Start"},
    {NULL, NULL}};

/* clang-format on */

static const char *find(const alias *list, const char *name)
{
    for (; list->name; list++) {
        if (strcmp(list->name, name) == 0) {
            return list->pcre2;
        }
    }
    return NULL;
}

/* A name as it compares: letters and digits, small. @return false if it cannot be one of Unicode's. */
static bool simplify(const char *text, size_t length, char name[NAME_MOST])
{
    bool is = length >= 2 && (text[0] | 0x20) == 'i' && (text[1] | 0x20) == 's';
    size_t used = 0;
    for (size_t i = is ? 2 : 0; i < length; i++) {
        char c = text[i];
        if (c == ' ' || c == '_' || c == '-' || (unsigned char)c >= 0x80) {
            continue;
        }
        c = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        if (used + 1 == NAME_MOST || !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            return false;
        }
        name[used++] = c;
    }
    name[used] = '\0';
    /* "isc" is the name of a property that is no set, not "is" and the category C. */
    return used && !(is && strcmp(name, "c") == 0);
}

/* The characters of a property that are in ASCII. @return as lr_re_unicode_ranges(). */
static int in_ascii(lr_re_parser *p, const char *property, uint64_t bits[2])
{
    lr_re_ranges ranges = {.allocator = p->job->allocator};
    int known = lr_re_unicode_ranges(p, property, 0x7F, &ranges);
    bits[0] = bits[1] = 0;
    for (size_t i = 0; i < ranges.count; i++) {
        for (uint32_t c = ranges.list[i].first; c <= ranges.list[i].last; c++) {
            bits[c / 64] |= (uint64_t)1 << (c % 64);
        }
    }
    lr_re_ranges_free(&ranges);
    return known;
}

/* A property with what `(?i)` adds to it: relatives of its characters that are not in it themselves. */
static const lr_re_set *fold_property(lr_re_parser *p, const lr_re_set *set)
{
    lr_re_ranges ranges = {.allocator = p->job->allocator};
    const lr_re_set *own = NULL, *both[2];
    int done = lr_re_unicode_cased(p, set->property, false, &ranges);
    if (done > 0) {
        own = lr_re_set_ranges(p->arena, &ranges);
        done = lr_re_unicode_fold(p, &ranges);
    }
    both[0] = set;
    both[1] = done > 0 ? lr_re_set_operate(p->arena, LR_SET_MINUS, lr_re_set_ranges(p->arena, &ranges), own) : NULL;
    lr_re_ranges_free(&ranges);
    return both[1] ? lr_re_set_union(p->arena, both, 2) : NULL;
}

static const lr_re_set *need(lr_re_parser *p, const lr_re_set *set)
{
    return set ? set : lr_re_fail_memory(p);
}

/* @param property between the brackets. NULL: it is unknown (the job is well), or the job has failed. */
static const lr_re_set *property_set(lr_re_parser *p, const char *property)
{
    uint64_t ascii[2];
    const lr_re_set *set = NULL;
    if (in_ascii(p, property, ascii) == 1) {
        set = lr_re_set_property(p->arena, property, ascii);
        set = need(p, set && p->flags.icase ? fold_property(p, set) : set);
    }
    return set;
}

/* NULL: it is unknown, or the job has failed. */
static const lr_re_set *category(lr_re_parser *p, const char *name)
{
    char property[NAME_MOST + 16];
    const char *pcre2 = find(categories, name);
    if (strcmp(name, "any") == 0) {
        return need(p, lr_re_set_range(p->arena, 0, LR_RE_CHARACTER_MOST));
    }
    if (strcmp(name, "ascii") == 0) {
        lr_re_ranges ranges = {.allocator = p->job->allocator};
        const lr_re_set *set = NULL;
        lr_re_ranges_add(&ranges, 0, 0x7F);
        if (!p->flags.icase || lr_re_unicode_fold(p, &ranges) > 0) {
            set = lr_re_set_ranges(p->arena, &ranges);
        }
        lr_re_ranges_free(&ranges);
        return need(p, set);
    }
    if (strcmp(name, "assigned") == 0) {
        return need(p, lr_re_set_not(p->arena, property_set(p, "\\p{Cn}")));
    }
    if (!pcre2) {
        return NULL;
    }
    (void)snprintf(property, sizeof property, "\\p{%s}", pcre2);
    return property_set(p, property);
}

/* @param kind "sc" or "scx" */
static const lr_re_set *script(lr_re_parser *p, const char *kind, const char *name)
{
    char property[NAME_MOST + 16];
    /* Not characters of one script: Rust has no such set. */
    if (strcmp(name, "unknown") == 0 || strcmp(name, "zzzz") == 0) {
        return NULL;
    }
    (void)snprintf(property, sizeof property, "\\p{%s:%s}", kind, name);
    return property_set(p, property);
}

const lr_re_set *lr_re_unicode_class(lr_re_parser *p, const char *name, size_t name_length, const char *value,
                                     size_t value_length, bool negated, const char *at)
{
    char wanted[NAME_MOST], of[NAME_MOST], property[NAME_MOST + 16];
    const lr_re_set *set = NULL;
    const char *binary;
    bool readable = simplify(name, name_length, wanted) && (!value || simplify(value, value_length, of));
    if (!p->flags.unicode) {
        return lr_re_fail(p, at, "`\\p` needs Unicode, which `(?-u)` has switched off");
    }
    if (readable && value) {
        if (strcmp(wanted, "gc") == 0 || strcmp(wanted, "generalcategory") == 0) {
            set = category(p, of);
        } else if (strcmp(wanted, "sc") == 0 || strcmp(wanted, "script") == 0) {
            set = script(p, "sc", of);
        } else if (strcmp(wanted, "scx") == 0 || strcmp(wanted, "scriptextensions") == 0) {
            set = script(p, "scx", of);
        }
    } else if (readable) {
        binary = find(binaries, wanted);
        if (binary) {
            (void)snprintf(property, sizeof property, "\\p{%s}", binary);
            set = property_set(p, property);
        } else {
            set = category(p, wanted);
            if (!set && !lr_job_failed(p->job)) {
                set = script(p, "sc", wanted);
            }
        }
    }
    if (lr_job_failed(p->job)) {
        return NULL;
    }
    if (!set) {
        return lr_re_fail(p, at,
                          "`%.*s%s%.*s` is no Unicode property that is known here: write a general category "
                          "(`\\p{Letter}`), a script (`\\p{Greek}`), a property such as `\\p{Alphabetic}`, or the "
                          "characters themselves",
                          name_length > NAME_MOST ? NAME_MOST : (int)name_length, name, value ? "=" : "",
                          value ? (value_length > NAME_MOST ? NAME_MOST : (int)value_length) : 0, value ? value : "");
    }
    return need(p, negated ? lr_re_set_not(p->arena, set) : set);
}

const lr_re_set *lr_re_perl_class(lr_re_parser *p, char letter, const char *at)
{
    static const lr_re_range digits[] = {{'0', '9'}};
    static const lr_re_range spaces[] = {{'\t', '\r'}, {' ', ' '}};
    static const lr_re_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    /* Unicode's annex C of UTS #18, which Rust follows. PCRE2's own \w and \s are others. The ranges are the common
     * part of \w, where PCRE2 looks first. */
    static const char *const properties[] = {"\\p{Nd}", "\\p{White_Space}",
                                             "0-9A-Z_a-z\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"};
    const char small = (char)(letter | 0x20);
    int which = small == 'd' ? 0 : (small == 's' ? 1 : 2);
    lr_re_range list[4];
    lr_re_ranges ranges = {.list = list, .room = 4};
    const lr_re_set *set;
    ranges.count = which == 0 ? 1 : (which == 1 ? 2 : 4);
    memcpy(list, which == 0 ? digits : (which == 1 ? spaces : words), ranges.count * sizeof *list);
    if (!p->flags.unicode && letter != small) {
        return lr_re_fail(p, at,
                          "`\\%c` without Unicode (`(?-u)`) is any byte but some, which no text can be cut by: "
                          "leave out `-u`",
                          letter);
    }
    set = lr_re_set_ranges(p->arena, &ranges);
    if (set && p->flags.unicode) { /* none of these changes by case: what differs in case alone is in it too */
        uint64_t ascii[2] = {0, 0};
        for (uint32_t c = 0; c < 0x80; c++) {
            ascii[c / 64] |= (uint64_t)(lr_re_set_has(set, c) == 1) << (c % 64);
        }
        set = lr_re_set_property(p->arena, properties[which], ascii);
    }
    return need(p, letter != small ? lr_re_set_not(p->arena, set) : set);
}
