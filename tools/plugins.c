/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record plugins: the formats that are there, and why others are not. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

static void print_json(rec_context *context, uint64_t count)
{
    json j;

    json_begin(&j, stdout, 2);
    json_object(&j, NULL);
    json_array(&j, "plugins");
    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        json_object(&j, NULL);
        json_string(&j, "name", p->name);
        json_bool(&j, "usable", p->usable);
        json_array(&j, "aliases");
        for (const char *at = p->aliases; *at;) {
            size_t length = strcspn(at, ",");
            json_text(&j, NULL, at, length);
            at += length;
            at += strspn(at, ", ");
        }
        json_close(&j, ']');
        json_string(&j, "extension", p->extension);
        json_string(&j, "description", p->description);
        json_string(&j, "file", p->file);
        json_string(&j, "refused", p->refused);
        json_array(&j, "options");
        for (const char *at = p->options; *at;) {
            size_t length = strcspn(at, "\n");
            json_text(&j, NULL, at, length);
            at += length + (at[length] == '\n');
        }
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}

static void cell(table *t, const char *string)
{
    text safe = {0};

    text_safe(&safe, string, strlen(string));
    table_cell(t, safe.at);
    text_free(&safe);
}

/* The home folder as people write it: ~/.local/lib/librecord/npy.so */
static void file_cell(table *t, const char *file)
{
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    char *shorter;

    if (length > 1 && strncmp(file, home, length) == 0 && file[length] == '/') {
        shorter = print("~%s", file + length);
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
    string = p->extension[0] ? print(".%s", p->extension) : copy("-");
    cell(t, string);
    free(string);
    if (why) {
        file_cell(t, p->file);
    }
    string = p->usable ? copy(p->description) : print("refused: %s", p->refused);
    cell(t, string);
    free(string);
}

/* The lines of a plugin that say more than the table: its other names, its options. */
static void print_more(const rec_plugin_info *p)
{
    text line = {0};

    text_safe(&line, p->name, strlen(p->name));
    printf("\n%s%s%s\n", style(STYLE_BOLD), line.at, style(STYLE_PLAIN));
    text_free(&line);
    if (*p->aliases) {
        text_safe(&line, p->aliases, strlen(p->aliases));
        printf("  also called  %s\n", line.at);
        text_free(&line);
    }
    for (const char *at = p->options, *label = "options"; *at; label = "") {
        size_t length = strcspn(at, "\n");
        text_safe(&line, at, length);
        printf("  %-11s  %s\n", label, line.at);
        text_free(&line);
        at += length + (at[length] == '\n');
    }
}

static void print_people(rec_context *context, uint64_t count, bool why)
{
    uint64_t refused = 0;
    char number[NUMBER_ROOM];
    table t;

    table_begin(&t, why ? "llll" : "lll");
    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        refused += p->usable ? 0 : 1;
        if (p->usable || why) {
            row(&t, p, why);
        }
    }
    table_print(&t, stdout);
    for (uint64_t i = 0; why && i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        if (p->usable && (*p->aliases || *p->options)) {
            print_more(p);
        }
    }
    if (count == 0) {
        puts("No plugin was found. LIBRECORD_PLUGIN_PATH names the folders to look into.");
    } else if (refused && !why) {
        printf("\n%s more %s refused; record plugins --why says why.\n", grouped(refused, number),
               refused == 1 ? "is" : "are");
    }
}

int run_plugins(session *s, const char *const *operands, size_t count)
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
