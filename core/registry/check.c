/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plugin's descriptor, checked member by member: it was made elsewhere, perhaps for another librecord. */
#include "core/registry/open_private.h"

#include <stdio.h>
#include <string.h>

#include "core/registry/registry.h"
#include "core/config/config.h"

/** What the members of ABI 1 take: a descriptor is never smaller. Those that are appended later do not count. */
#define PLUGIN_LEAST (offsetof(rec_plugin, save) + sizeof(((rec_plugin *)0)->save))
#define OPTION_LEAST (offsetof(rec_option, choices) + sizeof(((rec_option *)0)->choices))

#define MAGIC_LEAST (offsetof(rec_magic, mask) + sizeof(((rec_magic *)0)->mask))

/* Those of the upper half may be passed over. */
#define TRAITS_COUNT ((uint64_t)UINT32_MAX)
#define TRAITS_KNOWN                                                                                       \
    ((uint64_t)(REC_TRAIT_TENSORS | REC_TRAIT_NEEDS_TYPE | REC_TRAIT_EXACT_SIZE | REC_TRAIT_FOLDER |       \
                REC_TRAIT_NO_NAMES | REC_TRAIT_TAIL | REC_TRAIT_PATHS | REC_TRAIT_PLAIN | REC_TRAIT_BARE | \
                REC_TRAIT_VALUES))

/* More than these is a table without its NULL at the end. */
enum {
    ALIASES_MOST = 64,
    OPTIONS_MOST = 64,
    CHOICES_MOST = 64,
    EXTENSIONS_MOST = 16,
    MAGIC_MOST = 64,
    MAGIC_BYTES = 16,
    SCHEMES_MOST = 16,
    LINE_MOST = 200,
    EXTENSION_MOST = 32
};

#define REFUSE(...) ((void)snprintf(reason, LR_REASON, __VA_ARGS__), false)

/* One line of text that people read. */
static bool line_valid(const char *text)
{
    size_t length = strnlen(text, LINE_MOST + 1);
    if (length == 0 || length > LINE_MOST || lr_utf8_valid(text, length) != length) {
        return false;
    }
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F) {
            return false;
        }
    }
    return true;
}

static bool extension_valid(const char *extension)
{
    size_t length = strnlen(extension, EXTENSION_MOST + 1);
    return length <= EXTENSION_MOST && lr_name_valid(extension) && extension[0] != '.' && extension[length - 1] != '.';
}

/* A name for messages, whatever bytes it has. */
static const char *shown(lr_excerpt *brief, const char *name)
{
    size_t length = strnlen(name, LR_NAME_MOST + 1);
    return lr_utf8_valid(name, length) == length ? lr_excerpt_text(brief, name) : "(not UTF-8)";
}

static bool check_names(const rec_plugin *plugin, char *reason)
{
    lr_excerpt brief;
    size_t count = 0;
    if (!plugin->name) {
        return REFUSE("it has no name");
    }
    for (const char *name = plugin->name; name; name = plugin->aliases ? plugin->aliases[count++] : NULL) {
        if (!lr_name_valid(name)) {
            return REFUSE("\"%s\" is not a name: 1 to %d letters, digits, \".\", \"_\" and \"-\" are allowed",
                          shown(&brief, name), LR_NAME_MOST);
        }
        if (lr_name_same(name, "Auto")) {
            return REFUSE("the name \"%s\" belongs to librecord itself", name);
        }
        if (count > ALIASES_MOST) {
            return REFUSE("it has more than %d aliases, or no NULL after the last", ALIASES_MOST);
        }
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------- options -- */

static bool choices_valid(const rec_option *option)
{
    size_t count = 0;
    while (option->choices && option->choices[count]) {
        if (count == CHOICES_MOST || !line_valid(option->choices[count])) {
            return false;
        }
        count++;
    }
    return count > 0;
}

static bool check_bounds(const rec_option *option, char *reason)
{
    bool whole = option->type == REC_OPTION_INT || option->type == REC_OPTION_SIZE;
    bool real = option->type == REC_OPTION_FLOAT && REC_HAS(rec_option, option, high);
    if ((whole && option->minimum > option->maximum) || (real && !(option->low <= option->high))) {
        return REFUSE("the lowest value of its option \"%s\" is above the highest", option->name);
    }
    return option->type != REC_OPTION_SIZE || option->minimum >= 0 ||
           REFUSE("the lowest value of its option \"%s\", a size, is below 0", option->name);
}

static bool check_old_names(const rec_option *option, char *reason)
{
    const char *const *old = REC_HAS(rec_option, option, old_names) ? option->old_names : NULL;
    for (size_t i = 0; old && old[i]; i++) {
        if (i == CHOICES_MOST || !lr_key_valid(old[i]) || lr_word_find(old[i], LR_FOR_RECORDER | LR_IN_ARGUMENTS)) {
            return REFUSE("the old names of its option \"%s\" are not at most %d names of options", option->name,
                          CHOICES_MOST);
        }
    }
    return true;
}

static bool check_option(const rec_option *option, char *reason)
{
    char expected[128];
    lr_excerpt brief;
    if (option->size < OPTION_LEAST || option->size > LR_STRUCT_MOST) {
        return REFUSE("an option's size is %u; %zu to %d are possible", (unsigned)option->size, OPTION_LEAST,
                      LR_STRUCT_MOST);
    }
    if (!option->name || !lr_key_valid(option->name)) {
        return REFUSE("\"%s\" cannot name an option: 1 to %d of a-z, 0-9, \"_\" and \"-\" are allowed",
                      option->name ? shown(&brief, option->name) : "", LR_NAME_MOST);
    }
    if (lr_word_find(option->name, LR_FOR_RECORDER)) {
        return REFUSE("the option \"%s\" belongs to librecord itself", option->name);
    }
    if (lr_word_find(option->name, LR_IN_ARGUMENTS)) {
        return REFUSE("the option \"%s\" belongs to librecord itself: it is a load argument", option->name);
    }
    if (!option->help || !line_valid(option->help)) {
        return REFUSE("its option \"%s\" has no line of help", option->name);
    }
    if (!option->initial || (*option->initial && !line_valid(option->initial))) {
        return REFUSE("its option \"%s\" has no default", option->name);
    }
    if (option->type < REC_OPTION_BOOL || option->type > REC_OPTION_SIZE) {
        return REFUSE("its option \"%s\" has the unknown type %d", option->name, (int)option->type);
    }
    if (option->type == REC_OPTION_CHOICE && !choices_valid(option)) {
        return REFUSE("the choices of its option \"%s\" are not 1 to %d words", option->name, CHOICES_MOST);
    }
    if (!check_bounds(option, reason) || !check_old_names(option, reason)) {
        return false;
    }
    return lr_option_check(option, option->initial, expected, sizeof expected) ||
           REFUSE("the default \"%s\" of its option \"%s\" is not %s", option->initial, option->name, expected);
}

static bool check_options(const rec_plugin *plugin, char *reason)
{
    for (size_t i = 0; plugin->options && plugin->options[i]; i++) {
        if (i == OPTIONS_MOST) {
            return REFUSE("it has more than %d options, or no NULL after the last", OPTIONS_MOST);
        }
        if (!check_option(plugin->options[i], reason)) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(plugin->options[j]->name, plugin->options[i]->name) == 0) {
                return REFUSE("it has the option \"%s\" twice", plugin->options[i]->name);
            }
        }
    }
    return true;
}

/* ---------------------------------------------------------------------------------------- extensions and magic -- */

static bool check_extensions(rec_plugin *copy, char *reason)
{
    if (copy->extension && !extension_valid(copy->extension)) {
        copy->extension = NULL;
        return REFUSE("its extension is not 1 to %d letters and digits, with dots inside", EXTENSION_MOST);
    }
    for (size_t i = 0; copy->extensions && copy->extensions[i]; i++) {
        if (i == EXTENSIONS_MOST) {
            return REFUSE("it has more than %d further extensions, or no NULL after the last", EXTENSIONS_MOST);
        }
        if (!copy->extension) {
            return REFUSE("it has further extensions, but none that is appended when it saves");
        }
        if (!extension_valid(copy->extensions[i])) {
            return REFUSE("further extension %zu is not 1 to %d letters and digits, with dots inside", i + 1,
                          EXTENSION_MOST);
        }
    }
    return true;
}

static bool check_magic(const rec_plugin *plugin, char *reason)
{
    for (size_t i = 0; plugin->magic && plugin->magic[i]; i++) {
        const rec_magic *magic = plugin->magic[i];
        if (i == MAGIC_MOST) {
            return REFUSE("it has more than %d kinds of magic bytes, or no NULL after the last", MAGIC_MOST);
        }
        if (magic->size < MAGIC_LEAST || magic->size > LR_STRUCT_MOST) {
            return REFUSE("the size of its magic bytes %zu is %u; %zu to %d are possible", i + 1, (unsigned)magic->size,
                          MAGIC_LEAST, LR_STRUCT_MOST);
        }
        if (magic->length < 1 || magic->length > MAGIC_BYTES || !magic->bytes) {
            return REFUSE("its magic bytes %zu are not 1 to %d bytes", i + 1, MAGIC_BYTES);
        }
    }
    return true;
}

/* As in "https://": letters, digits, "+", "-" and ".", of which the first is a letter; lower case. */
static bool scheme_valid(const char *scheme)
{
    size_t length = strnlen(scheme, EXTENSION_MOST + 1);
    return length >= 2 && length <= EXTENSION_MOST && scheme[0] >= 'a' && scheme[0] <= 'z' &&
           strspn(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == length;
}

static bool check_source(const rec_plugin *plugin, char *reason)
{
    size_t count = 0;
    if (!plugin->open) {
        return REFUSE("it opens nothing, though it is a plugin for sources");
    }
    while (plugin->schemes && plugin->schemes[count]) {
        if (count == SCHEMES_MOST) {
            return REFUSE("it has more than %d schemes, or no NULL after the last", SCHEMES_MOST);
        }
        if (!scheme_valid(plugin->schemes[count])) {
            return REFUSE("scheme %zu is not 2 to %d lower case letters, digits, \"+\", \"-\" and \".\"", count + 1,
                          EXTENSION_MOST);
        }
        count++;
    }
    return count > 0 || REFUSE("it has no scheme, though it is a plugin for sources");
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

/* Each member has the kinds that use it; of another it would be passed over, or called where nothing expects it. */
static bool check_members(const rec_plugin *plugin, char *reason)
{
    enum {
        FORMAT = 1 << REC_PLUGIN_FORMAT,
        CODEC = 1 << REC_PLUGIN_CODEC,
        STACK = 1 << REC_PLUGIN_STACK,
        SOURCE = 1 << REC_PLUGIN_SOURCE,
        SCHEME = 1 << REC_PLUGIN_SCHEME
    };
    static const char *const kinds[] = {"format", "codec", "stack", "plugin for sources", "scheme"};
    const struct {
        const char *name;
        bool set;
        int users;
    } members[] = {
        {"load", plugin->load, FORMAT},
        {"save", plugin->save, FORMAT},
        {"decode", plugin->decode, CODEC},
        {"encode", plugin->encode, CODEC},
        {"open", plugin->open, SOURCE},
        {"probe", plugin->probe, FORMAT | CODEC},
        {"magic", plugin->magic, FORMAT | CODEC},
        {"extension", plugin->extension, FORMAT | CODEC | STACK},
        {"schemes", plugin->schemes, SOURCE},
        {"format", plugin->format, STACK},
        {"codec", plugin->codec, STACK},
        {"presets", plugin->presets, STACK},
        {"claim", plugin->claim, SCHEME},
        {"spans", plugin->spans, SCHEME},
        {"tile", plugin->tile, SCHEME},
        {"options", plugin->options, FORMAT | CODEC | SOURCE},
        {"adapter", plugin->adapter != NULL, FORMAT},
        {"burn_name", plugin->burn_name, FORMAT | STACK},
        {"burn_first", plugin->burn_first != 0, FORMAT},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (members[i].set && !(members[i].users & (1 << plugin->kind))) {
            return REFUSE("it is a %s, and has the member `%s`, which is of other kinds", kinds[plugin->kind],
                          members[i].name);
        }
    }
    return plugin->kind == REC_PLUGIN_FORMAT || !(plugin->traits & TRAITS_COUNT) ||
           REFUSE("it is a %s, and has traits of a format (0x%llx)", kinds[plugin->kind],
                  (unsigned long long)(plugin->traits & TRAITS_COUNT));
}

/* Bytes made of bytes: nothing of a record. */
static bool check_codec(const rec_plugin *plugin, char *reason)
{
    if (!plugin->decode && !plugin->encode) {
        return REFUSE("it can neither decode nor encode");
    }
    return plugin->extension || REFUSE("it is a codec without an extension, by which formats in it are named");
}

static bool preset_valid(const char *preset)
{
    char name[LR_NAME_MOST + 1];
    size_t length = strcspn(preset, "=");
    if (length > LR_NAME_MOST || !preset[length] || !line_valid(preset)) {
        return false;
    }
    memcpy(name, preset, length);
    name[length] = '\0';
    return lr_key_valid(name);
}

/* Names and presets, and nothing of its own: all it can do is its format's and its codec's. */
static bool check_stack(const rec_plugin *plugin, char *reason)
{
    if (!plugin->format || !lr_name_valid(plugin->format) || !plugin->codec || !lr_name_valid(plugin->codec)) {
        return REFUSE("it is a stack that does not name its format and its codec");
    }
    for (size_t i = 0; plugin->presets && plugin->presets[i]; i++) {
        if (i == OPTIONS_MOST) {
            return REFUSE("it has more than %d presets, or no NULL after the last", OPTIONS_MOST);
        }
        if (!preset_valid(plugin->presets[i])) {
            return REFUSE("its preset %zu is not of the form name=value", i + 1);
        }
    }
    return true;
}

static bool check_can(const rec_plugin *plugin, char *reason)
{
    if (plugin->kind >= REC_PLUGIN_FORMAT && plugin->kind <= REC_PLUGIN_SCHEME && !check_members(plugin, reason)) {
        return false;
    }
    switch (plugin->kind) {
    case REC_PLUGIN_FORMAT:
        return plugin->load || plugin->save || REFUSE("it can neither load nor save");
    case REC_PLUGIN_CODEC:
        return check_codec(plugin, reason);
    case REC_PLUGIN_STACK:
        return check_stack(plugin, reason);
    case REC_PLUGIN_SOURCE:
        return check_source(plugin, reason);
    case REC_PLUGIN_SCHEME:
        return plugin->claim || REFUSE("it claims no tensors, though it is a scheme");
    default:
        return REFUSE("it is of a kind that librecord %s does not know (%d)", rec_version_string(), (int)plugin->kind);
    }
}

/* Of the last one 0 is "all that follow", of the default one "the newest that is known". */
static bool check_burn(const rec_plugin *plugin, char *reason)
{
    int32_t first = plugin->burn_first, last = plugin->burn_last, usual = plugin->burn_default;
    if (!first && (last || usual)) {
        return REFUSE("it has a burn_last (%d) or a burn_default (%d) without a burn_first", (int)last, (int)usual);
    }
    if (first &&
        (first < LR_BURN_FIRST || (last && last < first) || (usual && (usual < first || (last && usual > last))))) {
        return REFUSE("its versions of Burn, 0.%d to 0.%d, by default 0.%d, are invalid", (int)first, (int)last,
                      (int)usual);
    }
    return true;
}

bool lr_plugin_check(const rec_plugin *plugin, rec_plugin *copy, char *reason)
{
    memset(copy, 0, sizeof *copy);
    if (plugin->abi != REC_PLUGIN_ABI) {
        return REFUSE("its ABI is %u, this is librecord %s with ABI %d", (unsigned)plugin->abi, rec_version_string(),
                      REC_PLUGIN_ABI);
    }
    if (plugin->size < PLUGIN_LEAST || plugin->size > LR_STRUCT_MOST || plugin->size % _Alignof(rec_plugin) != 0) {
        return REFUSE("the size of its descriptor is %u; %zu to %d in steps of %zu are possible",
                      (unsigned)plugin->size, PLUGIN_LEAST, LR_STRUCT_MOST, _Alignof(rec_plugin));
    }
    memcpy(copy, plugin, plugin->size < sizeof *copy ? plugin->size : sizeof *copy);
    if (!check_names(copy, reason)) {
        copy->name = copy->description = NULL;
        return false;
    }
    if (!copy->description || !line_valid(copy->description)) {
        copy->description = NULL;
        return REFUSE("it has no description of one line");
    }
    if (!check_extensions(copy, reason)) {
        return false;
    }
    if ((copy->version && !line_valid(copy->version)) || (copy->license && !line_valid(copy->license))) {
        return REFUSE("its version or its license is not one line of text");
    }
    if (copy->burn_name && !line_valid(copy->burn_name)) {
        return REFUSE("its burn_name is not one line of text");
    }
    if (copy->traits & TRAITS_COUNT & ~TRAITS_KNOWN) {
        return REFUSE("it has traits that librecord %s does not know (0x%llx)", rec_version_string(),
                      (unsigned long long)(copy->traits & TRAITS_COUNT & ~TRAITS_KNOWN));
    }
    if (copy->adapter && !lr_adapter_valid(copy->adapter)) {
        return REFUSE("its adapter is not a name of 1 to 64 letters, digits, -, _ and .");
    }
    if ((copy->traits & REC_TRAIT_PATHS) && !(copy->traits & REC_TRAIT_TENSORS)) {
        return REFUSE("it has the trait PATHS without TENSORS");
    }
    if ((copy->traits & REC_TRAIT_PLAIN) && !(copy->traits & REC_TRAIT_EXACT_SIZE)) {
        return REFUSE("it has the trait PLAIN without EXACT_SIZE");
    }
    if (!check_burn(copy, reason) || !check_can(copy, reason) || !check_magic(copy, reason)) {
        return false;
    }
    return check_options(copy, reason);
}

bool lr_plugin_init(rec_context *context, const rec_plugin *plugin, char *reason)
{
    rec_job job; /* of its own: the plugin is rejected, the operation goes on */
    lr_call call;
    int32_t status;
    if (!plugin->init) {
        return true;
    }
    lr_job_begin(&job, context, "init", NULL);
    job.quiet = true;
    job.plugin = plugin;
    lr_call_begin(&call, &job, LR_CALL_SOURCE, NULL);
    status = plugin->init(&job, plugin->user);
    lr_call_end(&call);
    if (lr_job_failed(&job)) {
        (void)snprintf(reason, LR_REASON, "%.500s", job.error.what);
        status = job.error.status;
    } else if (status != REC_OK) {
        (void)snprintf(reason, LR_REASON, "its init failed with status %d and gave no reason", (int)status);
    }
    lr_job_drop(&job);
    return status == REC_OK;
}
