/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record plugins: the formats that are there, and why others are not. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

static void print_json(rec_context *context, uint64_t count)
{
    json j;

    tool_json_begin(&j, stdout, 2);
    tool_json_object(&j, NULL);
    tool_json_array(&j, "plugins");
    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        tool_json_object(&j, NULL);
        tool_json_string(&j, "name", p->name);
        tool_json_bool(&j, "usable", p->usable);
        tool_json_array(&j, "aliases");
        for (const char *at = p->aliases; *at;) {
            size_t length = strcspn(at, ",");
            tool_json_text(&j, NULL, at, length);
            at += length;
            at += strspn(at, ", ");
        }
        tool_json_close(&j, ']');
        tool_json_string(&j, "extension", p->extension);
        tool_json_string(&j, "description", p->description);
        tool_json_string(&j, "file", p->file);
        tool_json_string(&j, "refused", p->refused);
        tool_json_array(&j, "options");
        for (const char *at = p->options; *at;) {
            size_t length = strcspn(at, "\n");
            tool_json_text(&j, NULL, at, length);
            at += length + (at[length] == '\n');
        }
        tool_json_close(&j, ']');
        tool_json_close(&j, '}');
    }
    tool_json_close(&j, ']');
    tool_json_close(&j, '}');
    tool_json_end(&j);
}

static void cell(table *t, const char *string)
{
    text safe = {0};

    tool_text_safe(&safe, string, strlen(string));
    tool_table_cell(t, safe.at);
    tool_text_free(&safe);
}

/* The home folder as people write it: ~/.local/lib/librecord/npy.so */
static void file_cell(table *t, const char *file)
{
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    char *shorter;

    if (length > 1 && strncmp(file, home, length) == 0 && file[length] == '/') {
        shorter = xasprintf("~%s", file + length);
        cell(t, shorter);
        free(shorter);
    } else {
        cell(t, file);
    }
}

static void row(table *t, const rec_plugin_info *p, bool why)
{
    char *string;

    cell(t, p->name);
    string = p->extension[0] ? xasprintf(".%s", p->extension) : xstrdup("-");
    cell(t, string);
    free(string);
    if (why) {
        file_cell(t, p->file);
    }
    string = p->usable ? xstrdup(p->description) : xasprintf("refused: %s", p->refused);
    cell(t, string);
    free(string);
}

/* The lines of a plugin that say more than the table: its other names, its options. */
static void print_more(const rec_plugin_info *p)
{
    text line = {0};

    tool_text_safe(&line, p->name, strlen(p->name));
    printf("\n%s%s%s\n", tool_style(STYLE_BOLD), line.at, tool_style(STYLE_PLAIN));
    tool_text_free(&line);
    if (*p->aliases) {
        tool_text_safe(&line, p->aliases, strlen(p->aliases));
        printf("  also called  %s\n", line.at);
        tool_text_free(&line);
    }
    for (const char *at = p->options, *label = "options"; *at; label = "") {
        size_t length = strcspn(at, "\n");
        tool_text_safe(&line, at, length);
        printf("  %-11s  %s\n", label, line.at);
        tool_text_free(&line);
        at += length + (at[length] == '\n');
    }
}

static void print_people(rec_context *context, uint64_t count, bool why)
{
    uint64_t refused = 0;
    char number[NUMBER_ROOM];
    table t;

    tool_table_begin(&t, why ? "llll" : "lll");
    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        refused += p->usable ? 0 : 1;
        if (p->usable || why) {
            row(&t, p, why);
        }
    }
    tool_table_print(&t, stdout);
    for (uint64_t i = 0; why && i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        if (p->usable && (*p->aliases || *p->options)) {
            print_more(p);
        }
    }
    if (count == 0) {
        puts("No plugin was found. LIBRECORD_PLUGIN_PATH names the folders to look into.");
    } else if (refused && !why) {
        printf("\n%s more %s refused; record plugins --why says why.\n", tool_grouped(refused, number),
               refused == 1 ? "is" : "are");
    }
}

int tool_run_plugins(session *s, const char *const *operands, size_t count)
{
    uint64_t plugins = rec_plugin_count(s->context);

    (void)operands;
    (void)count;
    if (s->o->json) {
        print_json(s->context, plugins);
    } else {
        print_people(s->context, plugins, s->o->why);
    }
    return EXIT_OK;
}
