/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The command line: one table of options makes the parser, the help and the suggestions. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

enum {
    OPTION_FROM,
    OPTION_TO,
    OPTION_PRECISION,
    OPTION_OPTION,
    OPTION_FROM_OPTION,
    OPTION_TOP_LEVEL_KEY,
    OPTION_TYPE,
    OPTION_TYPES,
    OPTION_TYPE_OF,
    OPTION_BURN,
    OPTION_SELF_DESCRIBING,
    OPTION_POSITIONAL,
    OPTION_METADATA,
    OPTION_SHARD,
    OPTION_KEEP_NAMES,
    OPTION_RECURSIVE,
    OPTION_CHECK,
    OPTION_CLAMP,
    OPTION_NO_MAP,
    OPTION_THREADS,
    OPTION_NO_THREADS,
    OPTION_CACHE,
    OPTION_HTTP_SPEED,
    OPTION_HTTP_TRIES,
    OPTION_HTTP_SIZE,
    OPTION_HTTP_TIME,
    OPTION_NO_SANDBOX,
    OPTION_ALL,
    OPTION_WHY,
    OPTION_JSON,
    OPTION_CONFIG,
    OPTION_COLOR,
    OPTION_QUIET,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_ADAPTER,
    OPTION_PROFILE,
    OPTION_SET,
    OPTION_CONFIG_JSON,
    OPTION_REVERSE,
    OPTION_REMAP,
    OPTION_RENAME,
    OPTION_DROP,
    OPTION_MODULE,
    OPTION_VARIANT,
    OPTION_RULE,
    OPTION_PREFIX,
    OPTION_SELECT,
    OPTION_GAPS,
    OPTION_BASE,
    OPTION_PARTIAL,
    OPTION_STRICT,
    OPTION_DEBUG,
    OPTION_COUNT
};

enum {
    WRITERS = COMMAND_CONVERT | COMMAND_EMBED | COMMAND_EDIT,
    PLANNERS = COMMAND_CONVERT | COMMAND_PLAN,
    COMPARERS = COMMAND_DIFF | COMMAND_STATS | COMMAND_VERIFY | COMMAND_REPORT | COMMAND_BROWSE,
    READERS = COMMAND_INFO | COMMAND_LS | COMMAND_SHOW | COMMAND_TYPES | COMMAND_PLAN | COMPARERS | WRITERS,
    WORKERS = READERS | COMMAND_PLUGINS | COMMAND_PROFILES,
    EVERY = COMMAND_ALL
};

typedef struct option_spec {
    const char *name;
    const char *argument; /* NULL: takes none */
    char letter;          /* 0: no short form */
    int commands;         /* that know it */
    const char *help;
} option_spec;

static const option_spec specs[OPTION_COUNT] = {
    [OPTION_FROM] = {"from", "NAME", 0, READERS, "read with this recorder (default: by contents)"},
    [OPTION_TO] = {"to", "NAME", 0, WRITERS | COMMAND_PLAN, "write with this recorder (default: by extension)"},
    [OPTION_PRECISION] = {"precision", "P", 0, READERS, "half, full, double, default (configured) or keep"},
    [OPTION_OPTION] = {"option", "N=VALUE", 0, WRITERS, "set option N of the output recorder"},
    [OPTION_FROM_OPTION] = {"from-option", "N=VALUE", 0, READERS, "set option N of the input recorder"},
    [OPTION_TOP_LEVEL_KEY] = {"top-level-key", "KEY", 0, READERS, "the part of a PyTorch file to read; .: all"},
    [OPTION_TYPE] = {"type", "TYPE", 0, READERS, "the record's type: an expression, or FILE.rs:TYPE"},
    [OPTION_TYPES] = {"types", "FILE", 0, READERS, "Rust source or INI file with types (repeatable)"},
    [OPTION_TYPE_OF] = {"type-of", "RECORD", 0, READERS, "use the type of this record, which has names"},
    [OPTION_BURN] = {"burn", "0.N", 0, WRITERS, "write for this version of Burn, 0.7 to 0.23"},
    [OPTION_SELF_DESCRIBING] = {"self-describing", NULL, 0, WRITERS, "append the type to a record without names"},
    [OPTION_POSITIONAL] = {"positional", NULL, 0, READERS, "without a type: name parameters by position"},
    [OPTION_METADATA] = {"metadata", "KEY=VALUE", 0, COMMAND_CONVERT, "set metadata; an empty VALUE removes them"},
    [OPTION_SHARD] = {"max-shard-size", "SIZE", 0, COMMAND_CONVERT, "write shards of at most this size"},
    [OPTION_KEEP_NAMES] = {"keep-names", NULL, 0, COMMAND_CONVERT, "reuse the names of existing shards"},
    [OPTION_RECURSIVE] = {"recursive", NULL, 'r', COMMAND_CONVERT, "IN and OUT are directories: convert every record"},
    [OPTION_CHECK] = {"check", NULL, 0, COMMAND_TYPES | COMMAND_CONVERT, "read the output back; types: check the type"},
    [OPTION_CLAMP] = {"clamp", NULL, 0, COMMAND_SHOW | WRITERS, "replace integers out of range by the nearest limit"},
    [OPTION_NO_MAP] = {"no-map", NULL, 0, READERS, "read the file into memory instead of mapping it"},
    [OPTION_THREADS] = {"threads", "N", 0, READERS, "use at most N threads, 1 to 64"},
    [OPTION_NO_THREADS] = {"no-threads", NULL, 0, READERS, "use one thread, like --threads 1"},
    [OPTION_CACHE] = {"cache", "DIR", 0, READERS, "cache downloaded files here (https://)"},
    [OPTION_HTTP_SPEED] = {"http-speed", "B[/S]", 0, READERS, "least bytes a second of a server (1024/60)"},
    [OPTION_HTTP_TRIES] = {"http-tries", "N", 0, READERS, "how many requests for a file may fail (10)"},
    [OPTION_HTTP_SIZE] = {"http-size", "BYTES", 0, READERS, "limit for files of unknown size (64 GiB)"},
    [OPTION_HTTP_TIME] = {"http-time", "SECONDS", 0, READERS, "limit for the time of all requests (none)"},
    [OPTION_NO_SANDBOX] = {"no-sandbox", NULL, 0, COMMAND_SANDBOXED, "let plugins write, execute and connect"},
    [OPTION_ALL] = {"all", NULL, 'a',
                    COMMAND_INFO | COMMAND_LS | COMMAND_SHOW | COMMAND_PLAN | COMMAND_PROFILES | COMMAND_STATS |
                        COMMAND_DIFF | COMMAND_VERIFY,
                    "print everything: every tensor, every element"},
    [OPTION_WHY] = {"why", NULL, 0, COMMAND_PLUGINS, "print plugin files, and why one is rejected"},
    [OPTION_JSON] = {"json", NULL, 0, WORKERS, "print JSON, for programs"},
    [OPTION_CONFIG] = {"config", "FILE", 0, WORKERS, "use this configuration file"},
    [OPTION_COLOR] = {"color", "WHEN", 0, EVERY, "auto (the default), always or never"},
    [OPTION_QUIET] = {"quiet", NULL, 'q', EVERY, "print no notes, no progress, no summary"},
    [OPTION_HELP] = {"help", NULL, 'h', EVERY, "print this help"},
    [OPTION_VERSION] = {"version", NULL, 'V', EVERY, "print the version"},
    [OPTION_ADAPTER] = {"adapter", "A", 0, READERS, "the module layout: pytorch, none (Burn's)"},
    [OPTION_PROFILE] = {"profile", "NAME", 0, READERS, "rules for a model family: NAME, FILE.ini:NAME, auto"},
    [OPTION_SET] = {"set", "NAME=NUMBER", 0, READERS, "a number used by rules (repeatable)"},
    [OPTION_CONFIG_JSON] = {"config-json", "FILE", 0, READERS, "the model's config.json, if it is elsewhere"},
    [OPTION_REVERSE] = {"reverse", NULL, 0, READERS, "apply the profile backwards: to PyTorch's names"},
    [OPTION_REMAP] = {"remap", "'RE => TEXT'", 0, READERS, "rename keys, in order, each on the last result"},
    [OPTION_RENAME] = {"rename", "'RE => TEXT'", 0, READERS, "the same as --remap"},
    [OPTION_DROP] = {"drop", "RE", 0, READERS, "drop matching keys of the file"},
    [OPTION_MODULE] = {"module", "'RE => TYPE'", 0, READERS, "the kind of modules at paths: Linear, Param, …"},
    [OPTION_VARIANT] = {"variant", "'RE => NAME'", 0, READERS, "variant of the enums at paths"},
    [OPTION_RULE] = {"rule", "'KEY = VALUE'", 0, READERS, "any rule of a profile: split, stack, …"},
    [OPTION_PREFIX] = {"prefix", "PATH", 0, READERS, "put this path before every key"},
    [OPTION_SELECT] = {"select", "PATH", 0, READERS, "load only keys below this path, without it"},
    [OPTION_GAPS] = {"gaps", "WHAT", 0, READERS, "gaps in list indices: close or keep"},
    [OPTION_BASE] = {"base", "RECORD", 0, PLANNERS, "take missing values from this record"},
    [OPTION_PARTIAL] = {"partial", NULL, 0, READERS, "values that the type requires may be missing"},
    [OPTION_STRICT] = {"strict", NULL, 0, READERS, "unexpected keys and unused rules are errors"},
    [OPTION_DEBUG] = {"debug", NULL, 0, PLANNERS, "print keys, shapes and dtypes like Burn"},
};

/* The load argument that an option is; a flag is its `yes`. */
static const char *const load_keys[OPTION_COUNT] = {
    [OPTION_ADAPTER] = "adapter",    [OPTION_PROFILE] = "profile", [OPTION_SET] = "set",
    [OPTION_CONFIG_JSON] = "config", [OPTION_REVERSE] = "reverse", [OPTION_REMAP] = "remap",
    [OPTION_RENAME] = "rename",      [OPTION_DROP] = "drop",       [OPTION_MODULE] = "module",
    [OPTION_VARIANT] = "variant",    [OPTION_PREFIX] = "prefix",   [OPTION_GAPS] = "gaps",
    [OPTION_SELECT] = "select",      [OPTION_PARTIAL] = "partial", [OPTION_STRICT] = "strict",
    [OPTION_DEBUG] = "debug",
};

/* The variable that an option sets, for a plugin that no recorder stands for. */
static const char *const variables[OPTION_COUNT] = {
    [OPTION_CACHE] = "LIBRECORD_CACHE",           [OPTION_HTTP_SPEED] = "LIBRECORD_HTTP_SPEED",
    [OPTION_HTTP_TRIES] = "LIBRECORD_HTTP_TRIES", [OPTION_HTTP_SIZE] = "LIBRECORD_HTTP_SIZE",
    [OPTION_HTTP_TIME] = "LIBRECORD_HTTP_TIME",
};

/* All tables know the options of subcommands, since the subcommand may follow them. */
static const own_option *find_own(const command *c, const char *name, size_t length, char letter)
{
    const own_option *of_another = NULL;

    for (const command *each = tool_commands; each->name; each++) {
        for (const own_option *own = each->own; own && own->name; own++) {
            bool is_it =
                name ? strlen(own->name) == length && strncmp(own->name, name, length) == 0 : own->letter == letter;
            if (is_it && each == c) {
                return own;
            }
            of_another = is_it ? own : of_another;
        }
    }
    return of_another;
}

static int fail_unknown(const command *c, const char *typed, size_t length)
{
    enum { OWN_MOST = 64 };
    const char *names[OPTION_COUNT + OWN_MOST + 1] = {0};
    char *name = xasprintf("%.*s", (int)length, typed);
    const char *near;
    size_t count = 0;
    int status;

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!c || (specs[i].commands & c->bit)) {
            names[count++] = specs[i].name;
        }
    }
    for (const own_option *own = c ? c->own : NULL; own && own->name && count < OPTION_COUNT + OWN_MOST; own++) {
        names[count++] = own->name;
    }
    near = tool_nearest(name, names);
    if (near) {
        status = tool_fail("unknown option --%s\nDid you mean --%s?", name, near);
    } else if (c) {
        status = tool_fail("unknown option --%s\nrecord help options lists the options of record %s.", name, c->name);
    } else {
        status = tool_fail("unknown option --%s\nrecord help options lists all options.", name);
    }
    free(name);
    return status;
}

static void add_word(words *w, const char *word)
{
    w->at = xrealloc(w->at, (w->count + 1) * sizeof *w->at);
    w->at[w->count++] = word;
}

static int set_precision(options *o, const char *value)
{
    rec_precision precision = rec_precision_from_name(value);

    if (precision < REC_PRECISION_DEFAULT) {
        static const char *const names[] = {"half", "full", "double", "default", "keep", NULL};
        const char *near = tool_nearest(value, names);
        if (rec_dtype_from_name(value) != REC_DTYPE_NONE) {
            return tool_fail(
                "--precision: expected half, full, double, default or keep, found the element type \"%s\"\n"
                "To change the element type of tensors: record edit FILE cast 'PATTERN' %s -o OUT",
                value, value);
        }
        return tool_fail("--precision: expected half, full, double, default or keep, found \"%s\"%s%s%s", value,
                         near ? "\nDid you mean " : "", near ? near : "", near ? "?" : "");
    }
    o->precision = precision;
    o->precision_given = true;
    return EXIT_OK;
}

static int set_color(options *o, const char *value)
{
    static const char *const names[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            o->color = i;
            return EXIT_OK;
        }
    }
    return tool_fail("--color: expected auto, always or never, found \"%s\"", value);
}

static int set_threads(options *o, const char *value)
{
    char *end;
    unsigned long threads = strtoul(value, &end, 10);

    if (value[strspn(value, "0123456789")] || *end || threads < 1 || threads > 64) {
        return tool_fail("--threads: expected a whole number from 1 to 64, found \"%s\"", value);
    }
    o->threads = (uint32_t)threads;
    return EXIT_OK;
}

static bool is_setting(const char *value)
{
    const char *equals = strchr(value, '=');

    return equals && equals > value;
}

/* What --rule takes: rules, and what else a profile may say. Options of recorders have --from-option. */
static int check_rule(const char *setting)
{
    static const char *const keys[] = {"drop",    "split",   "weight_norm", "rename",    "remap",   "add",    "rope",
                                       "squeeze", "stack",   "reshape",     "transpose", "permute", "join",   "merge",
                                       "tie",     "module",  "variant",     "back",      "let",     "export", "require",
                                       "select",  "adapter", "gaps",        "prefix",    "partial", "set",    "config",
                                       "strict",  "profile", "reverse",     NULL};
    size_t length = strcspn(setting, "= \t");
    char *key;
    const char *near;
    int status = EXIT_OK;

    if (!is_setting(setting)) {
        return tool_fail("--rule: expected KEY = VALUE, found \"%s\"\nIt is written as in a profile: record profiles "
                         "NAME shows some.",
                         setting);
    }
    for (size_t i = 0; keys[i]; i++) {
        if (strlen(keys[i]) == length && strncmp(keys[i], setting, length) == 0) {
            return EXIT_OK;
        }
    }
    key = xasprintf("%.*s", (int)length, setting);
    near = tool_nearest(key, keys);
    if (near) {
        status = tool_fail("--rule: unknown rule \"%s\"\nDid you mean \"%s\"?", key, near);
    } else {
        status = tool_fail("--rule: unknown rule \"%s\"\n"
                           "Known: drop, split, weight_norm, rename, add, rope, squeeze, reshape, transpose, permute, "
                           "stack, join, merge, "
                           "tie, module, variant, back, export, let, select.",
                           key);
    }
    free(key);
    return status;
}

static int add_setting(words *w, const char *option, const char *form, const char *value)
{
    if (!is_setting(value)) {
        return tool_fail("--%s: expected %s, found \"%s\"", option, form, value);
    }
    add_word(w, value);
    return EXIT_OK;
}

static void add_reading(options *o, int kind, size_t which, const char *value)
{
    readings *r = &o->readings;
    const char *key = which == OPTION_TOP_LEVEL_KEY ? specs[which].name : load_keys[which];
    r->at = xrealloc(r->at, (r->count + 1) * sizeof *r->at);
    r->at[r->count++] = (reading){kind, key, value, specs[which].name, o->operands.count};
}

static int set_option(options *o, size_t which, const char *value)
{
    if (load_keys[which]) {
        add_reading(o, READING_LOAD, which, value ? value : "yes");
        o->debug = o->debug || which == OPTION_DEBUG;
        o->strict = o->strict || which == OPTION_STRICT;
        return EXIT_OK;
    }
    if (variables[which]) {
        return setenv(variables[which], value, 1) == 0 ? EXIT_OK : tool_fail("--%s: out of memory", specs[which].name);
    }
    switch (which) {
    case OPTION_FROM:
        add_reading(o, READING_FROM, which, value);
        return EXIT_OK;
    case OPTION_RULE:
        if (check_rule(value) != EXIT_OK) {
            return EXIT_ERROR;
        }
        add_reading(o, READING_LOAD, which, value);
        return EXIT_OK;
    case OPTION_BASE:
        o->base = tool_name_shown(value);
        return EXIT_OK;
    case OPTION_METADATA:
        return add_setting(&o->metadata, specs[which].name, "KEY=VALUE", value);
    case OPTION_SHARD:
        o->max_shard_size = value;
        return EXIT_OK;
    case OPTION_TO:
        o->to = value;
        return EXIT_OK;
    case OPTION_CONFIG:
        o->config = value;
        return EXIT_OK;
    case OPTION_PRECISION:
        return set_precision(o, value);
    case OPTION_COLOR:
        return set_color(o, value);
    case OPTION_OPTION:
        return add_setting(&o->to_options, specs[which].name, "NAME=VALUE", value);
    case OPTION_FROM_OPTION:
        if (!is_setting(value)) {
            return tool_fail("--from-option: expected NAME=VALUE, found \"%s\"", value);
        }
        add_reading(o, READING_OPTION, which, value);
        return EXIT_OK;
    case OPTION_TOP_LEVEL_KEY:
        add_reading(o, READING_OPTION, which, value);
        return EXIT_OK;
    case OPTION_TYPE:
        add_word(&o->type, value);
        add_reading(o, READING_TYPE, which, value);
        return EXIT_OK;
    case OPTION_TYPES:
        add_word(&o->types, value);
        return EXIT_OK;
    case OPTION_TYPE_OF:
        o->type_of = tool_name_shown(value);
        add_reading(o, READING_TYPE, which, value);
        return EXIT_OK;
    case OPTION_BURN:
        o->burn = value;
        return EXIT_OK;
    case OPTION_SELF_DESCRIBING:
        o->self_describing = true;
        return EXIT_OK;
    case OPTION_POSITIONAL:
        o->positional = true;
        return EXIT_OK;
    case OPTION_KEEP_NAMES:
        o->keep_names = true;
        return EXIT_OK;
    case OPTION_RECURSIVE:
        o->recursive = true;
        return EXIT_OK;
    case OPTION_CHECK:
        o->check = true;
        return EXIT_OK;
    case OPTION_CLAMP:
        o->clamp = true;
        return EXIT_OK;
    case OPTION_NO_MAP:
        o->no_map = true;
        return EXIT_OK;
    case OPTION_THREADS:
        return set_threads(o, value);
    case OPTION_NO_THREADS:
        o->threads = 1;
        return EXIT_OK;
    case OPTION_NO_SANDBOX:
        o->no_sandbox = true;
        return EXIT_OK;
    case OPTION_ALL:
        o->all = true;
        return EXIT_OK;
    case OPTION_WHY:
        o->why = true;
        return EXIT_OK;
    case OPTION_JSON:
        o->json = true;
        return EXIT_OK;
    case OPTION_QUIET:
        o->quiet = true;
        return EXIT_OK;
    case OPTION_HELP:
        o->help = true;
        return EXIT_OK;
    default:
        o->version = true;
        return EXIT_OK;
    }
}

static int set_own(options *o, const own_option *own, const char *value)
{
    o->own.at = xrealloc(o->own.at, (o->own.count + 1) * sizeof *o->own.at);
    o->own.at[o->own.count++] = (own_given){own->name, tool_name_shown(value), o->operands.count};
    return EXIT_OK;
}

/* `--name`, `--name=value` or `--name value`. @param at index of the argument, moved on if a value was taken. */
static int parse_long(options *o, const command *c, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2, *known = NULL, *argument = NULL;
    size_t length = strcspn(name, "="), i = 0;
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const own_option *own = NULL;

    while (i < OPTION_COUNT && (strlen(specs[i].name) != length || strncmp(specs[i].name, name, length) != 0)) {
        i++;
    }
    if (i < OPTION_COUNT) {
        o->given |= UINT64_C(1) << i;
        known = specs[i].name;
        argument = specs[i].argument;
    } else if ((own = find_own(c, name, length, '\0'))) {
        known = own->name;
        argument = own->argument;
    } else {
        return fail_unknown(c, name, length);
    }
    if (!argument && value) {
        return tool_fail("--%s takes no value", known);
    }
    if (argument && !value) {
        if (*at + 1 == argc) {
            return tool_fail("--%s needs a value: --%s %s", known, known, argument);
        }
        value = argv[++*at];
    }
    if (argument && !*value) {
        return tool_fail("--%s needs a value, found an empty one", known);
    }
    return own ? set_own(o, own, value ? value : "") : set_option(o, i, value);
}

/* `-a`, `-qa`, `-o FILE`, `-oFILE` */
static int parse_short(options *o, const command *c, int argc, char **argv, int *at)
{
    int status = EXIT_OK;

    for (const char *letter = argv[*at] + 1; *letter && status == EXIT_OK; letter++) {
        const own_option *own = find_own(c, NULL, 0, *letter);
        size_t i = 0;
        while (i < OPTION_COUNT && specs[i].letter != *letter) {
            i++;
        }
        if (i < OPTION_COUNT) {
            o->given |= UINT64_C(1) << i;
            status = set_option(o, i, NULL);
        } else if (!own) {
            return tool_fail("unknown option -%c\nrecord help options lists all options.", *letter);
        } else if (!own->argument) {
            status = set_own(o, own, "");
        } else if (letter[1]) {
            return set_own(o, own, letter + 1);
        } else if (*at + 1 == argc || !*argv[*at + 1]) {
            return tool_fail("-%c needs a value: -%c %s", *letter, *letter, own->argument);
        } else {
            return set_own(o, own, argv[++*at]);
        }
    }
    return status;
}

/* The subcommand: the first word that is one, for the options before it too. */
static const command *find_command(int argc, char **argv)
{
    const command *c = NULL;

    for (int i = 1; i < argc && !c; i++) {
        c = tool_command_find(argv[i]);
    }
    return c;
}

/* No option: that includes `-` and, as a value that `edit` sets, a negative number, since no option is a digit. */
static bool is_operand(const char *word)
{
    return word[0] != '-' || word[1] == '\0' || strchr("0123456789", word[1]);
}

int tool_options_parse(options *o, int argc, char **argv)
{
    const command *c = find_command(argc, argv);
    bool ended = false;
    int status = EXIT_OK;

    *o = (options){.precision = REC_PRECISION_KEEP};
    for (int i = 1; i < argc && status == EXIT_OK; i++) {
        const char *argument = argv[i];
        if (ended || is_operand(argument)) {
            add_word(&o->operands, tool_name_shown(argument));
        } else if (strcmp(argument, "--") == 0) {
            ended = true;
        } else if (argument[1] == '-') {
            status = parse_long(o, c, argc, argv, &i);
        } else {
            status = parse_short(o, c, argc, argv, &i);
        }
    }
    return status;
}

void tool_options_free(options *o)
{
    free(o->own.at);
    free(o->type.at);
    free(o->types.at);
    free(o->readings.at);
    free(o->metadata.at);
    free(o->to_options.at);
    free(o->operands.at);
    tool_names_free();
}

int tool_options_check(const options *o, const command *c)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((o->given >> i & 1) && !(specs[i].commands & c->bit)) {
            return tool_fail_usage(c->name, "--%s is not an option of `record %s`", specs[i].name, c->name);
        }
    }
    for (size_t i = 0; i < o->own.count; i++) {
        const own_option *own = c->own;
        while (own && own->name && strcmp(own->name, o->own.at[i].name) != 0) {
            own++;
        }
        if (!own || !own->name) {
            return tool_fail_usage(c->name, "--%s is not an option of `record %s`", o->own.at[i].name, c->name);
        }
    }
    return EXIT_OK;
}

option_form tool_option_at(const command *c, size_t index)
{
    for (const own_option *own = c ? c->own : NULL; own && own->name; own++) {
        if (!index--) {
            return (option_form){own->name, own->argument, own->help, own->letter};
        }
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_spec *spec = &specs[i];
        if ((!c || (spec->commands & c->bit)) && !index--) {
            return (option_form){spec->name, spec->argument, spec->help, spec->letter};
        }
    }
    return (option_form){0};
}

/* Prints an option with its description; further lines are indented below. */
static void print_option(char letter, const char *name, const char *argument, const char *help, FILE *out)
{
    char flag[32], short_form[8] = "    ";

    if (letter) {
        (void)snprintf(short_form, sizeof short_form, "-%c, ", letter);
    }
    (void)snprintf(flag, sizeof flag, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    fprintf(out, "  %s%-22s ", short_form, flag);
    for (const char *line = help; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "%*s%.*s\n", line == help ? 0 : 29, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* The option of that name: the subcommand's, or one of several subcommands. */
static void print_named(const command *c, const char *name, size_t length, FILE *out)
{
    const own_option *own = c->own;
    size_t i = 0;

    while (own && own->name && (strlen(own->name) != length || strncmp(own->name, name, length) != 0)) {
        own++;
    }
    while (i < OPTION_COUNT && (strlen(specs[i].name) != length || strncmp(specs[i].name, name, length) != 0)) {
        i++;
    }
    if (own && own->name) {
        print_option(own->letter, own->name, own->argument, own->help, out);
    } else if (i < OPTION_COUNT) {
        print_option(specs[i].letter, specs[i].name, specs[i].argument, specs[i].help, out);
    }
}

void tool_options_help(const command *c, FILE *out)
{
    for (const char *name = c->shown; *name; name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        print_named(c, name, length, out);
        name += length;
    }
}

void tool_options_all(FILE *out)
{
    fputs("Options of several commands:\n", out);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (i == OPTION_ADAPTER) {
            fputs("\nLoad arguments, for files of other frameworks (also in an INI file):\n", out);
        }
        print_option(specs[i].letter, specs[i].name, specs[i].argument, specs[i].help, out);
    }
    for (const command *c = tool_commands; c->name; c++) {
        for (const own_option *own = c->own; own && own->name; own++) {
            if (own == c->own) {
                fprintf(out, "\nOptions of record %s:\n", c->name);
            }
            print_option(own->letter, own->name, own->argument, own->help, out);
        }
    }
}
