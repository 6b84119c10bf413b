/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record plugins: the formats that are there, and why others are not. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* The words of a list that is separated by `stops`. */
static void json_words(json *j, const char *key, const char *list, const char *stops)
{
    tool_json_array(j, key);
    while (*list) {
        size_t length = strcspn(list, stops);
        tool_json_text(j, NULL, list, length);
        list += length;
        list += strspn(list, stops);
    }
    tool_json_close(j, ']');
}

static const char *kind_word(int32_t kind)
{
    static const char *const kinds[] = {"format", "codec", "stack", "source", "scheme"};
    return kind >= 0 && kind < (int32_t)(sizeof kinds / sizeof *kinds) ? kinds[kind] : "unknown";
}

static void json_option(json *j, const rec_option *option)
{
    static const char *const types[] = {"", "bool", "int", "float", "choice", "text", "size"};

    tool_json_object(j, NULL);
    tool_json_string(j, "name", option->name);
    tool_json_string(j, "type", types[option->type]);
    tool_json_string(j, "default", option->initial);
    if (option->type == REC_OPTION_INT || option->type == REC_OPTION_SIZE) {
        tool_json_int(j, "minimum", option->minimum);
        tool_json_int(j, "maximum", option->maximum);
    } else if (option->type == REC_OPTION_CHOICE) {
        tool_json_array(j, "choices");
        for (size_t i = 0; option->choices[i]; i++) {
            tool_json_string(j, NULL, option->choices[i]);
        }
        tool_json_close(j, ']');
    }
    tool_json_string(j, "help", option->help);
    tool_json_close(j, '}');
}

static void json_plugin(json *j, const rec_plugin_info *p)
{
    tool_json_object(j, NULL);
    tool_json_string(j, "name", p->name);
    tool_json_bool(j, "usable", p->usable);
    tool_json_string(j, "kind", kind_word(p->kind));
    json_words(j, "aliases", p->aliases, ", ");
    tool_json_string(j, "extension", p->extension);
    json_words(j, "extensions", p->extensions, ", ");
    tool_json_string(j, "description", p->description);
    tool_json_string(j, "file", p->file);
    tool_json_string(j, "refused", p->refused);
    tool_json_string(j, "hidden", p->hidden);
    json_words(j, "schemes", p->schemes, ", ");
    tool_json_string(j, "format", p->format);
    tool_json_string(j, "codec", p->codec);
    tool_json_bool(j, "can_load", p->can_load);
    tool_json_bool(j, "can_save", p->can_save);
    tool_json_bool(j, "needs_type", p->needs_type);
    tool_json_bool(j, "has_names", p->has_names);
    tool_json_bool(j, "reads_folders", p->reads_folders);
    tool_json_string(j, "adapter", p->adapter);
    tool_json_string(j, "version", p->version);
    tool_json_string(j, "license", p->license);
    json_words(j, "options", p->options, "\n");
    tool_json_array(j, "option_list");
    for (uint64_t i = 0; i < p->option_count; i++) {
        json_option(j, p->option_list[i]);
    }
    tool_json_close(j, ']');
    tool_json_close(j, '}');
}

/* @param only one of them, or NULL: all. */
static void print_json(rec_context *context, uint64_t count, const rec_plugin_info *only)
{
    json j;

    tool_json_open(&j, stdout, 2);
    tool_json_array(&j, "plugins");
    for (uint64_t i = 0; !only && i < count; i++) {
        json_plugin(&j, rec_plugin_get(context, i));
    }
    if (only) {
        json_plugin(&j, only);
    }
    tool_json_close(&j, ']');
    tool_json_finish(&j);
}

/* The home folder as people write it: ~/.local/lib/librecord/npy.so */
static void file_cell(table *t, const char *file)
{
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    char *shorter;

    if (length > 1 && strncmp(file, home, length) == 0 && file[length] == '/') {
        shorter = xasprintf("~%s", file + length);
        tool_table_cell_safe(t, shorter);
        free(shorter);
    } else {
        tool_table_cell_safe(t, file);
    }
}

static void row(table *t, const rec_plugin_info *p, bool why)
{
    char *string;

    tool_table_cell_safe(t, p->name);
    string = p->extension[0] ? xasprintf("%s.%s", p->kind == REC_PLUGIN_CODEC ? "*" : "", p->extension) : xstrdup("-");
    tool_table_cell_safe(t, string);
    free(string);
    if (why) {
        file_cell(t, p->file);
    }
    string = p->usable ? xstrdup(p->description) : xasprintf("refused: %s", p->refused);
    tool_table_cell_safe(t, string);
    free(string);
}

/* Prints each line of `lines`; the label is printed once. */
static void detail(const char *label, const char *lines)
{
    text line = {0};

    for (; *lines; label = "") {
        size_t length = strcspn(lines, "\n");
        tool_text_safe(&line, lines, length);
        printf("  %-11s  %s\n", label, line.at);
        tool_text_free(&line);
        lines += length + (lines[length] == '\n');
    }
}

static void print_name(const rec_plugin_info *p)
{
    text line = {0};

    tool_text_safe(&line, p->name, strlen(p->name));
    printf("%s%s%s\n", tool_style(STYLE_BOLD), line.at, tool_style(STYLE_PLAIN));
    tool_text_free(&line);
}

/* The lines of a plugin that say more than the table: its other names, its options, what others hide of it. */
static void print_more(const rec_plugin_info *p, bool all)
{
    putchar('\n');
    print_name(p);
    detail("also called", all ? p->aliases : "");
    detail("schemes", all ? p->schemes : "");
    detail("format", all ? p->format : "");
    detail("codec", all ? p->codec : "");
    detail("hidden", p->hidden);
    detail("options", all ? p->options : "");
}

static const char *abilities(const rec_plugin_info *p)
{
    if (p->kind == REC_PLUGIN_CODEC) {
        return p->can_load && p->can_save ? "decode and encode" : p->can_load ? "decode only" : "encode only";
    }
    if (p->kind == REC_PLUGIN_SOURCE) {
        return p->can_load ? "open" : "";
    }
    if (p->kind == REC_PLUGIN_SCHEME) {
        return p->can_load ? "decode" : "recognise and reject";
    }
    return p->can_load && p->can_save ? "load and save" : p->can_load ? "load only" : p->can_save ? "save only" : "";
}

/* All of one plugin. */
static void print_one(const rec_plugin_info *p)
{
    print_name(p);
    detail("", p->description);
    detail("refused", p->refused);
    detail("also called", p->aliases);
    detail("kind", p->kind == REC_PLUGIN_FORMAT ? "" : kind_word(p->kind));
    detail("schemes", p->schemes);
    detail("format", p->format);
    detail("codec", p->codec);
    detail(strchr(p->extensions, ',') ? "extensions" : "extension",
           *p->extensions || !p->usable || p->kind >= REC_PLUGIN_SOURCE ? p->extensions : "none: it works in memory");
    detail("can", abilities(p));
    detail("folders", p->reads_folders ? "are read like files" : "");
    if (p->usable && (p->kind == REC_PLUGIN_FORMAT || p->kind == REC_PLUGIN_STACK)) {
        detail("names", p->has_names ? "" : "are not in its files: give the record's type");
    }
    detail("adapter", strcmp(p->adapter, "burn") == 0 ? "" : p->adapter);
    detail("version", p->version);
    detail("license", p->license);
    detail("file", p->file);
    detail("hidden", p->hidden);
    detail("options", p->options);
}

/* @return the plugin of that name, or a rejected one; NULL with the error printed. */
static const rec_plugin_info *look_up(rec_context *context, const char *name, uint64_t count)
{
    const rec_plugin_info *found = rec_plugin_find(context, name);

    for (uint64_t i = 0; !found && i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        found = !p->usable && strcmp(p->name, name) == 0 ? p : NULL;
    }
    if (!found && !rec_plugin_find(context, name)) {
        (void)tool_fail_library();
    }
    return found;
}

/* Whether all that it could do others do in its place. */
static bool is_hidden(const rec_plugin_info *p)
{
    return strncmp(p->hidden, "all of it", strlen("all of it")) == 0;
}

static void print_people(rec_context *context, uint64_t count, bool why)
{
    uint64_t refused = 0, hidden = 0;
    char number[NUMBER_ROOM];
    table t;

    tool_table_begin(&t, why ? "llll" : "lll", NULL);
    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        refused += !p->usable;
        hidden += p->usable && is_hidden(p);
        if (why || (p->usable && !is_hidden(p))) {
            row(&t, p, why);
        }
    }
    tool_table_print(&t, stdout);
    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        bool more =
            why ? *p->aliases || *p->options || *p->hidden || *p->schemes || *p->format : *p->hidden && !is_hidden(p);
        if (p->usable && more) {
            print_more(p, why);
        }
    }
    if (count == 0) {
        puts("No plugin was found. LIBRECORD_PLUGIN_PATH names the directories to look into.");
    }
    if (hidden && !why) {
        printf("\n%s more %s hidden by others of the same name; record plugins --why shows which.\n",
               tool_grouped(hidden, number), hidden == 1 ? "is" : "are");
    }
    if (refused && !why) {
        printf("\n%s more %s rejected; record plugins --why shows the reason.\n", tool_grouped(refused, number),
               refused == 1 ? "is" : "are");
    }
}

int tool_run_plugins(session *s, const char *const *operands, size_t count)
{
    const rec_plugin_info *only;
    uint64_t plugins;

    plugins = rec_plugin_count(s->context);
    if (!plugins && rec_error_status() != REC_OK) {
        return tool_fail_library(); /* an error, not an empty list */
    }
    only = count ? look_up(s->context, operands[0], plugins) : NULL;
    if (count && !only) {
        return EXIT_ERROR;
    }
    if (s->o->json) {
        print_json(s->context, plugins, only);
    } else if (only) {
        print_one(only);
    } else {
        print_people(s->context, plugins, s->o->why);
    }
    return EXIT_OK;
}
