/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The command line: one table of options makes the parser, the help and the suggestions. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

enum {
    WRITERS = COMMAND_CONVERT | COMMAND_EMBED | COMMAND_EDIT,
    PLANNERS = COMMAND_CONVERT | COMMAND_PLAN,
    COMPARERS = COMMAND_DIFF | COMMAND_STATS | COMMAND_VERIFY | COMMAND_REPORT | COMMAND_BROWSE,
    READERS = COMMAND_INFO | COMMAND_LS | COMMAND_SHOW | COMMAND_TYPES | COMMAND_PLAN | COMPARERS | WRITERS,
    WORKERS = READERS | COMMAND_PLUGINS | COMMAND_PROFILES,
    EVERY = COMMAND_ALL
};

typedef struct option_spec option_spec;
/* Takes an option into `o`. @param value NULL: it has none. @return EXIT_OK, or EXIT_ERROR with the error printed. */
typedef int take_fn(options *o, const option_spec *spec, const char *value);
struct option_spec {
    tool_option form;
    int commands; /* that know it */
    take_fn *take;
    size_t member;   /* of `options`, where it goes */
    const char *key; /* the load argument that it is, if that has another name; or the variable that it sets for plugins
                        without a recorder */
};

/* ------------------------------------------------------------------------------------------------------ values -- */

static void add_word(words *w, const char *word)
{
    w->at = tool_grown(w->at, w->count, sizeof *w->at);
    w->at[w->count++] = word;
}

static bool is_setting(const char *value)
{
    const char *equals = strchr(value, '=');

    return equals && equals > value;
}

static int take_flag(options *o, const option_spec *spec, const char *value)
{
    (void)value;
    *(bool *)((char *)o + spec->member) = true;
    return EXIT_OK;
}

static int take_text(options *o, const option_spec *spec, const char *value)
{
    *(const char **)((char *)o + spec->member) = value;
    return EXIT_OK;
}

static int take_name(options *o, const option_spec *spec, const char *value)
{
    return take_text(o, spec, tool_name_shown(value));
}

static int take_variable(options *o, const option_spec *spec, const char *value)
{
    (void)o;
    return setenv(spec->key, value, 1) == 0 ? EXIT_OK : tool_fail("--%s: out of memory", spec->form.name);
}

static int check_setting(const option_spec *spec, const char *value)
{
    return is_setting(value) ? EXIT_OK
                             : tool_fail("--%s: expected %s, found \"%s\"", spec->form.name,
                                         *spec->form.argument == 'K' ? "KEY=VALUE" : "NAME=VALUE", value);
}

static int take_setting(options *o, const option_spec *spec, const char *value)
{
    if (check_setting(spec, value) != EXIT_OK) {
        return EXIT_ERROR;
    }
    add_word((words *)((char *)o + spec->member), value);
    return EXIT_OK;
}

static int take_types(options *o, const option_spec *spec, const char *value)
{
    (void)spec;
    add_word(&o->types, value);
    return EXIT_OK;
}

static int take_precision(options *o, const option_spec *spec, const char *value)
{
    rec_precision precision = rec_precision_from_name(value);

    (void)spec;
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

static int take_color(options *o, const option_spec *spec, const char *value)
{
    static const char *const names[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};

    (void)spec;
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            o->color = i;
            return EXIT_OK;
        }
    }
    return tool_fail("--color: expected auto, always or never, found \"%s\"", value);
}

/* --no-threads has no value. */
static int take_threads(options *o, const option_spec *spec, const char *value)
{
    char *end = NULL;
    unsigned long threads = value ? strtoul(value, &end, 10) : 1;

    (void)spec;
    if (value && (value[strspn(value, "0123456789")] || *end || threads < 1 || threads > 64)) {
        return tool_fail("--threads: expected a whole number from 1 to 64, found \"%s\"", value);
    }
    o->threads = (uint32_t)threads;
    return EXIT_OK;
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

/* An argument for reading an input: its place among the inputs counts. */
static int add_reading(options *o, int kind, const char *key, const option_spec *spec, const char *value)
{
    readings *r = &o->readings;

    r->at = tool_grown(r->at, r->count, sizeof *r->at);
    r->at[r->count++] = (reading){kind, key, value, spec->form.name, o->operands.count};
    return EXIT_OK;
}

/* A flag is `yes`. */
static int take_load(options *o, const option_spec *spec, const char *value)
{
    if (spec->member) {
        (void)take_flag(o, spec, value);
    }
    return add_reading(o, READING_LOAD, spec->key ? spec->key : spec->form.name, spec, value ? value : "yes");
}

static int take_rule(options *o, const option_spec *spec, const char *value)
{
    return check_rule(value) == EXIT_OK ? add_reading(o, READING_LOAD, NULL, spec, value) : EXIT_ERROR;
}

static int take_from(options *o, const option_spec *spec, const char *value)
{
    return add_reading(o, READING_FROM, NULL, spec, value);
}

static int take_from_option(options *o, const option_spec *spec, const char *value)
{
    return check_setting(spec, value) == EXIT_OK ? add_reading(o, READING_OPTION, NULL, spec, value) : EXIT_ERROR;
}

static int take_top_level_key(options *o, const option_spec *spec, const char *value)
{
    return add_reading(o, READING_OPTION, spec->form.name, spec, value);
}

static int take_type(options *o, const option_spec *spec, const char *value)
{
    add_word(&o->type, value);
    return add_reading(o, READING_TYPE, NULL, spec, value);
}

static int take_type_of(options *o, const option_spec *spec, const char *value)
{
    o->type_of = tool_name_shown(value);
    return add_reading(o, READING_TYPE, NULL, spec, value);
}

/* ------------------------------------------------------------------------------------------------------- table -- */

#define FLAG(name) .take = take_flag, .member = offsetof(options, name)
#define TEXT(name) .take = take_text, .member = offsetof(options, name)
#define NAME(name) .take = take_name, .member = offsetof(options, name)
#define SETTING(name) .take = take_setting, .member = offsetof(options, name)
#define VARIABLE(name) .take = take_variable, .key = name
#define LOAD .take = take_load

static const option_spec specs[] = {
    {{"from", "NAME", 0, "read with this recorder (default: by contents)"}, READERS, .take = take_from},
    {{"to", "NAME", 0, "write with this recorder (default: by extension)"}, WRITERS | COMMAND_PLAN, TEXT(to)},
    {{"precision", "P", 0, "half, full, double, default (configured) or keep"}, READERS, .take = take_precision},
    {{"option", "N=VALUE", 0, "set option N of the output recorder"}, WRITERS, SETTING(to_options)},
    {{"from-option", "N=VALUE", 0, "set option N of the input recorder"}, READERS, .take = take_from_option},
    {{"top-level-key", "KEY", 0, "the part of a PyTorch file to read; .: all"}, READERS, .take = take_top_level_key},
    {{"type", "TYPE", 0, "the record's type: an expression, or FILE.rs:TYPE"}, READERS, .take = take_type},
    {{"types", "FILE", 0, "Rust source or INI file with types (repeatable)"}, READERS, .take = take_types},
    {{"type-of", "RECORD", 0, "use the type of this record, which has names"}, READERS, .take = take_type_of},
    {{"burn", "0.N", 0, "write for this version of Burn, 0.7 to 0.23"}, WRITERS, TEXT(burn)},
    {{"self-describing", NULL, 0, "append the type to a record without names"}, WRITERS, FLAG(self_describing)},
    {{"positional", NULL, 0, "without a type: name parameters by position"}, READERS, FLAG(positional)},
    {{"metadata", "KEY=VALUE", 0, "set metadata; an empty VALUE removes them"}, COMMAND_CONVERT, SETTING(metadata)},
    {{"max-shard-size", "SIZE", 0, "write shards of at most this size"}, COMMAND_CONVERT, TEXT(max_shard_size)},
    {{"keep-names", NULL, 0, "reuse the names of existing shards"}, COMMAND_CONVERT, FLAG(keep_names)},
    {{"recursive", NULL, 'r', "IN and OUT are directories: convert every record"}, COMMAND_CONVERT, FLAG(recursive)},
    {{"check", NULL, 0, "read the output back; types: check the type"}, COMMAND_TYPES | COMMAND_CONVERT, FLAG(check)},
    {{"clamp", NULL, 0, "replace integers out of range by the nearest limit"}, COMMAND_SHOW | WRITERS, FLAG(clamp)},
    {{"no-map", NULL, 0, "read the file into memory instead of mapping it"}, READERS, FLAG(no_map)},
    {{"threads", "N", 0, "use at most N threads, 1 to 64"}, READERS, .take = take_threads},
    {{"no-threads", NULL, 0, "use one thread, like --threads 1"}, READERS, .take = take_threads},
    {{"cache", "DIR", 0, "cache downloaded files here (https://)"}, READERS, VARIABLE("LIBRECORD_CACHE")},
    {{"http-speed", "B[/S]", 0, "least bytes a second of a server (1024/60)"},
     READERS,
     VARIABLE("LIBRECORD_HTTP_SPEED")},
    {{"http-tries", "N", 0, "how many requests for a file may fail (10)"}, READERS, VARIABLE("LIBRECORD_HTTP_TRIES")},
    {{"http-size", "BYTES", 0, "limit for files of unknown size (64 GiB)"}, READERS, VARIABLE("LIBRECORD_HTTP_SIZE")},
    {{"http-time", "SECONDS", 0, "limit for the time of all requests (none)"},
     READERS,
     VARIABLE("LIBRECORD_HTTP_TIME")},
    {{"no-sandbox", NULL, 0, "let plugins write, execute and connect"}, COMMAND_SANDBOXED, FLAG(no_sandbox)},
    {{"all", NULL, 'a', "print everything: every tensor, every element"},
     COMMAND_INFO | COMMAND_LS | COMMAND_SHOW | COMMAND_PLAN | COMMAND_PROFILES | COMMAND_STATS | COMMAND_DIFF |
         COMMAND_VERIFY,
     FLAG(all)},
    {{"why", NULL, 0, "print plugin files, and why one is rejected"}, COMMAND_PLUGINS, FLAG(why)},
    {{"json", NULL, 0, "print JSON, for programs"}, WORKERS, FLAG(json)},
    {{"config", "FILE", 0, "use this configuration file"}, WORKERS, TEXT(config)},
    {{"color", "WHEN", 0, "auto (the default), always or never"}, EVERY, .take = take_color},
    {{"quiet", NULL, 'q', "print no notes, no progress, no summary"}, EVERY, FLAG(quiet)},
    {{"help", NULL, 'h', "print this help"}, EVERY, FLAG(help)},
    {{"version", NULL, 'V', "print the version"}, EVERY, FLAG(version)},
    {{"adapter", "A", 0, "the module layout: pytorch, none (Burn's)"}, READERS, LOAD},
    {{"profile", "NAME", 0, "rules for a model family: NAME, FILE.ini:NAME, auto"}, READERS, LOAD},
    {{"set", "NAME=NUMBER", 0, "a number used by rules (repeatable)"}, READERS, LOAD},
    {{"config-json", "FILE", 0, "the model's config.json, if it is elsewhere"}, READERS, LOAD, .key = "config"},
    {{"reverse", NULL, 0, "apply the profile backwards: to PyTorch's names"}, READERS, LOAD},
    {{"remap", "'RE => TEXT'", 0, "rename keys, in order, each on the last result"}, READERS, LOAD},
    {{"rename", "'RE => TEXT'", 0, "the same as --remap"}, READERS, LOAD},
    {{"drop", "RE", 0, "drop matching keys of the file"}, READERS, LOAD},
    {{"module", "'RE => TYPE'", 0, "the kind of modules at paths: Linear, Param, …"}, READERS, LOAD},
    {{"variant", "'RE => NAME'", 0, "variant of the enums at paths"}, READERS, LOAD},
    {{"rule", "'KEY = VALUE'", 0, "any rule of a profile: split, stack, …"}, READERS, .take = take_rule},
    {{"prefix", "PATH", 0, "put this path before every key"}, READERS, LOAD},
    {{"select", "PATH", 0, "load only keys below this path, without it"}, READERS, LOAD},
    {{"gaps", "WHAT", 0, "gaps in list indices: close or keep"}, READERS, LOAD},
    {{"base", "RECORD", 0, "take missing values from this record"}, PLANNERS, NAME(base)},
    {{"partial", NULL, 0, "values that the type requires may be missing"}, READERS, LOAD},
    {{"strict", NULL, 0, "unexpected keys and unused rules are errors"},
     READERS,
     LOAD,
     .member = offsetof(options, strict)},
    {{"debug", NULL, 0, "print keys, shapes and dtypes like Burn"}, PLANNERS, LOAD, .member = offsetof(options, debug)},
};
enum { SPECS = sizeof specs / sizeof *specs };

/* ----------------------------------------------------------------------------------------------------- finding -- */

static bool is_it(const tool_option *form, const char *name, size_t length, char letter)
{
    return name ? strlen(form->name) == length && strncmp(form->name, name, length) == 0 : form->letter == letter;
}

/* Finds a common option by its name, or by its letter if the name is NULL. @return NULL: there is none. */
static const option_spec *find_spec(const char *name, size_t length, char letter)
{
    for (const option_spec *spec = specs; spec < specs + SPECS; spec++) {
        if (is_it(&spec->form, name, length, letter)) {
            return spec;
        }
    }
    return NULL;
}

/* The same of a subcommand's own. @param c NULL: none. */
static const tool_option *find_own(const command *c, const char *name, size_t length, char letter)
{
    for (const tool_option *own = c ? c->own : NULL; own && own->name; own++) {
        if (is_it(own, name, length, letter)) {
            return own;
        }
    }
    return NULL;
}

/* The same of any subcommand, since it may follow its options. @param c is preferred. */
static const tool_option *find_any_own(const command *c, const char *name, size_t length, char letter)
{
    const tool_option *found = find_own(c, name, length, letter);

    for (const command *each = tool_commands; each->name && !found; each++) {
        found = find_own(each, name, length, letter);
    }
    return found;
}

const tool_option *tool_option_at(const command *c, size_t index)
{
    for (const tool_option *own = c ? c->own : NULL; own && own->name; own++) {
        if (!index--) {
            return own;
        }
    }
    for (const option_spec *spec = specs; spec < specs + SPECS; spec++) {
        if ((!c || (spec->commands & c->bit)) && !index--) {
            return &spec->form;
        }
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- parsing -- */

static int fail_unknown(const command *c, const char *typed, size_t length)
{
    enum { MOST = SPECS + 64 };
    const char *names[MOST + 1] = {0};
    char *name = xasprintf("%.*s", (int)length, typed);
    const tool_option *each;
    const char *near;
    int status;

    for (size_t i = 0; i < MOST && (each = tool_option_at(c, i)); i++) {
        names[i] = each->name;
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

/* Takes an option: one of the two. */
static int take(options *o, const option_spec *spec, const tool_option *own, const char *value)
{
    if (spec) {
        o->given |= UINT64_C(1) << (spec - specs);
        return spec->take(o, spec, value);
    }
    o->own.at = tool_grown(o->own.at, o->own.count, sizeof *o->own.at);
    o->own.at[o->own.count++] = (own_given){own->name, tool_name_shown(value ? value : ""), o->operands.count};
    return EXIT_OK;
}

/* `--name`, `--name=value` or `--name value`. @param at index of the argument, moved on if a value was taken. */
static int parse_long(options *o, const command *c, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const option_spec *spec = find_spec(name, length, '\0');
    const tool_option *form = spec ? &spec->form : find_any_own(c, name, length, '\0');

    if (!form) {
        return fail_unknown(c, name, length);
    }
    if (!form->argument && value) {
        return tool_fail("--%s takes no value", form->name);
    }
    if (form->argument && !value) {
        if (*at + 1 == argc) {
            return tool_fail("--%s needs a value: --%s %s", form->name, form->name, form->argument);
        }
        value = argv[++*at];
    }
    if (form->argument && !*value) {
        return tool_fail("--%s needs a value, found an empty one", form->name);
    }
    return take(o, spec, form, value);
}

/* `-a`, `-qa`, `-o FILE`, `-oFILE`; a common option with a letter takes no value. */
static int parse_short(options *o, const command *c, int argc, char **argv, int *at)
{
    int status = EXIT_OK;

    for (const char *letter = argv[*at] + 1; *letter && status == EXIT_OK; letter++) {
        const option_spec *spec = find_spec(NULL, 0, *letter);
        const tool_option *form = spec ? &spec->form : find_any_own(c, NULL, 0, *letter);
        if (!form) {
            return tool_fail("unknown option -%c\nrecord help options lists all options.", *letter);
        }
        if (!form->argument) {
            status = take(o, spec, form, NULL);
        } else if (letter[1]) {
            return take(o, spec, form, letter + 1);
        } else if (*at + 1 == argc || !*argv[*at + 1]) {
            return tool_fail("-%c needs a value: -%c %s", *letter, *letter, form->argument);
        } else {
            return take(o, spec, form, argv[++*at]);
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
    for (size_t i = 0; i < SPECS; i++) {
        if ((o->given >> i & 1) && !(specs[i].commands & c->bit)) {
            return tool_fail_usage(c->name, "--%s is not an option of `record %s`", specs[i].form.name, c->name);
        }
    }
    for (size_t i = 0; i < o->own.count; i++) {
        if (!find_own(c, o->own.at[i].name, strlen(o->own.at[i].name), '\0')) {
            return tool_fail_usage(c->name, "--%s is not an option of `record %s`", o->own.at[i].name, c->name);
        }
    }
    return EXIT_OK;
}

/* -------------------------------------------------------------------------------------------------------- help -- */

/* Prints an option with its description; further lines are indented below. */
static void print_option(const tool_option *form, FILE *out)
{
    char flag[32], short_form[8] = "    ";

    if (form->letter) {
        (void)snprintf(short_form, sizeof short_form, "-%c, ", form->letter);
    }
    (void)snprintf(flag, sizeof flag, "--%s%s%s", form->name, form->argument ? " " : "",
                   form->argument ? form->argument : "");
    fprintf(out, "  %s%-22s ", short_form, flag);
    for (const char *line = form->help; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "%*s%.*s\n", line == form->help ? 0 : 29, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void tool_options_help(const command *c, FILE *out)
{
    for (const char *name = c->shown; *name; name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        const tool_option *own = find_own(c, name, length, '\0');
        const option_spec *spec = own ? NULL : find_spec(name, length, '\0');
        if (own || spec) {
            print_option(own ? own : &spec->form, out);
        }
        name += length;
    }
}

void tool_options_all(FILE *out)
{
    fputs("Options of several commands:\n", out);
    for (size_t i = 0; i < SPECS; i++) {
        if (strcmp(specs[i].form.name, "adapter") == 0) {
            fputs("\nLoad arguments, for files of other frameworks (also in an INI file):\n", out);
        }
        print_option(&specs[i].form, out);
    }
    for (const command *c = tool_commands; c->name; c++) {
        for (const tool_option *own = c->own; own && own->name; own++) {
            if (own == c->own) {
                fprintf(out, "\nOptions of record %s:\n", c->name);
            }
            print_option(own, out);
        }
    }
}
