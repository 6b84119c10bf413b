/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record profiles: the rules that there are for families of models. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* ----------------------------------------------------------------------------------------------------- section -- */

static char *trimmed(const char *line)
{
    size_t length;

    line += strspn(line, " \t");
    length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1])) {
        length--;
    }
    return xasprintf("%.*s", (int)length, line);
}

/* Whether a line begins a section; @param own (out) that of the profile. */
static bool begins(const char *line, const char *profile, bool *own)
{
    char *header;

    if (line[0] != '[') {
        return false;
    }
    header = xasprintf("[profile %s]", profile);
    *own = strcmp(line, header) == 0;
    free(header);
    return true;
}

/* Whether a line says what is printed anyway. */
static bool describes(const char *line)
{
    static const char *const keys[] = {"description", "source", "destination"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = strlen(keys[i]);
        if (strncmp(line, keys[i], length) == 0 && line[length + strspn(line + length, " \t")] == '=') {
            return true;
        }
    }
    return false;
}

/* Collects the lines of a profile in its file, without blanks around them, each with a newline; comments too.
 * @return EXIT_OK, or EXIT_ERROR with the error printed. */
static int read_rules(const rec_profile_info *p, text *rules)
{
    FILE *file = p->text ? fmemopen((void *)(uintptr_t)p->text, strlen(p->text), "r") : fopen(p->file, "r");
    char *line = NULL;
    size_t room = 0;
    bool own = false;
    int status = EXIT_OK;

    if (!file) {
        return tool_fail("%s: cannot open: %s", p->file, strerror(errno));
    }
    tool_text_put(rules, "");
    while (getline(&line, &room, file) >= 0) {
        char *bare = trimmed(line);
        if (!begins(bare, p->name, &own) && own && (*bare || rules->length) && !describes(bare)) {
            tool_text_put(rules, bare);
            tool_text_put(rules, "\n");
        }
        free(bare);
    }
    if (!feof(file)) {
        status = tool_fail("%s: cannot read: %s", p->file, strerror(errno));
    }
    while (rules->length > 1 && rules->at[rules->length - 2] == '\n') {
        rules->at[--rules->length] = '\0';
    }
    free(line);
    (void)fclose(file);
    return status;
}

/* -------------------------------------------------------------------------------------------------- the way back -- */

/* How a profile goes backwards, from the best on. */
enum { BACK_EXACT, BACK_IMPORT, BACK_FUNCTION, BACK_NONE };
static const struct {
    const char *word, *text;
} ways[] = {
    {"exact", "to the last bit"},
    {"import", "to the last bit, from a record that librecord imported (it says which gaps were closed)"},
    {"function", "in function, not to the last bit"},
    {"none", "no: a rule has no inverse"},
};

/* Whether a rule `KIND = VALUE` is of that kind. @param value (out) */
static bool is_rule(const char *line, const char *kind, const char **value)
{
    size_t length = strlen(kind);

    if (strncmp(line, kind, length) != 0) {
        return false;
    }
    line += length + strspn(line + length, " ");
    *value = line + 1 + strspn(line + (*line == '='), " ");
    return *line == '=';
}

static int way_of_rule(const char *line)
{
    const char *value;

    if ((is_rule(line, "reshape", &value) && !strstr(value, "] to [")) ||
        (is_rule(line, "squeeze", &value) && !strstr(value, " | ")) ||
        (is_rule(line, "join", &value) && !strchr(value, '*'))) {
        return BACK_NONE;
    }
    if (is_rule(line, "add", &value) || is_rule(line, "weight_norm", &value)) {
        return BACK_FUNCTION;
    }
    return is_rule(line, "gaps", &value) && strcmp(value, "close") == 0 ? BACK_IMPORT : BACK_EXACT;
}

/* The worst of a profile's rules and of those that it includes. What `less` takes away counts as well. */
static int way_back(rec_context *context, const text *rules, int depth)
{
    enum { DEEPEST = 16 };
    int worst = BACK_EXACT;

    for (const char *at = rules->at; *at;) {
        size_t length = strcspn(at, "\n");
        char *line = xasprintf("%.*s", (int)length, at);
        const char *value;
        int way = way_of_rule(line);
        bool includes = depth < DEEPEST && is_rule(line, "include", &value);
        for (uint64_t i = 0; includes && i < rec_profile_count(context); i++) {
            const rec_profile_info *p = rec_profile_get(context, i);
            text below = {0};
            if (strcmp(p->name, value) == 0 && read_rules(p, &below) == EXIT_OK) {
                way = way_back(context, &below, depth + 1);
            }
            tool_text_free(&below);
        }
        worst = way > worst ? way : worst;
        free(line);
        at += length + (at[length] == '\n');
    }
    return worst;
}

/* ---------------------------------------------------------------------------------------------------- programs -- */

static void json_profile(json *j, const rec_profile_info *p)
{
    tool_json_string(j, "name", p->name);
    tool_json_string(j, "description", p->description);
    tool_json_string(j, "source", p->source);
    tool_json_string(j, "destination", p->destination);
    tool_json_string(j, "file", p->file);
}

static void list_json(rec_context *context, uint64_t count)
{
    json j;

    tool_json_open(&j, stdout, 2);
    tool_json_array(&j, "profiles");
    for (uint64_t i = 0; i < count; i++) {
        tool_json_object(&j, NULL);
        json_profile(&j, rec_profile_get(context, i));
        tool_json_close(&j, '}');
    }
    tool_json_close(&j, ']');
    tool_json_finish(&j);
}

static void print_json(const rec_profile_info *p, const text *rules, int back)
{
    json j;

    tool_json_open(&j, stdout, 2);
    json_profile(&j, p);
    tool_json_string(&j, "back", ways[back].word);
    tool_json_array(&j, "rules");
    for (const char *at = rules->at; *at;) {
        size_t length = strcspn(at, "\n");
        if (length && *at != '#' && *at != ';') {
            tool_json_text(&j, NULL, at, length);
        }
        at += length + (at[length] == '\n');
    }
    tool_json_close(&j, ']');
    tool_json_finish(&j);
}

/* ------------------------------------------------------------------------------------------------------ people -- */

static void list_people(rec_context *context, uint64_t count, bool all)
{
    table t;

    tool_table_begin(&t, "llll", "PROFILE|DESCRIPTION|FOR|MAKES");
    t.shrink = all ? 2 : 1;
    t.shrink_too = all ? 3 : t.columns;
    for (uint64_t i = 0; i < count; i++) {
        const rec_profile_info *p = rec_profile_get(context, i);
        tool_table_cell_safe(&t, p->name);
        tool_table_cell_safe(&t, p->description);
        tool_table_cell_safe(&t, all ? p->source : "");
        tool_table_cell_safe(&t, all ? p->destination : "");
    }
    tool_table_print(&t, stdout);
    puts("record profiles NAME prints the rules of one.");
}

static void put_line(const char *label, const char *string)
{
    text safe = {0};

    if (*string) {
        tool_text_safe(&safe, string, strlen(string));
        printf("%-12s %s\n", label, safe.at);
        tool_text_free(&safe);
    }
}

static void print_people(const rec_profile_info *p, const text *rules, int back)
{
    text line = {0};

    put_line("profile", p->name);
    put_line("description", p->description);
    put_line("source", p->source);
    put_line("destination", p->destination);
    put_line("back", ways[back].text);
    put_line("file", p->file);
    putchar('\n');
    for (const char *at = rules->at; *at;) {
        size_t length = strcspn(at, "\n");
        tool_text_safe(&line, at, length);
        puts(line.at);
        tool_text_free(&line);
        at += length + (at[length] == '\n');
    }
}

static const rec_profile_info *find(rec_context *context, uint64_t count, const char *name)
{
    const char **names = xmalloc((size_t)((count + 1) * sizeof *names)), *near;
    const rec_profile_info *found = NULL;

    for (uint64_t i = 0; i < count && !found; i++) {
        const rec_profile_info *p = rec_profile_get(context, i);
        names[i] = p->name;
        found = strcmp(p->name, name) == 0 ? p : NULL;
    }
    if (!found) {
        names[count] = NULL;
        near = tool_nearest(name, names);
        if (near) {
            (void)tool_fail("unknown profile \"%s\"\nDid you mean %s?", name, near);
        } else {
            (void)tool_fail("unknown profile \"%s\"\nrecord profiles lists them.", name);
        }
    }
    free(names);
    return found;
}

int tool_run_profiles(session *s, const char *const *operands, size_t count)
{
    uint64_t profiles = rec_profile_count(s->context);
    const rec_profile_info *p;
    text rules = {0};
    int status;

    if (!profiles && rec_error_status() != REC_OK) {
        return tool_fail_library();
    }
    if (!count) {
        if (s->o->json) {
            list_json(s->context, profiles);
        } else if (profiles) {
            list_people(s->context, profiles, s->o->all);
        } else {
            puts("No profile was found. LIBRECORD_DATA names the directory to look into. Without it, librecord uses "
                 "its own.");
        }
        return EXIT_OK;
    }
    p = find(s->context, profiles, operands[0]);
    if (!p) {
        return EXIT_ERROR;
    }
    status = read_rules(p, &rules);
    if (status == EXIT_OK && s->o->json) {
        print_json(p, &rules, way_back(s->context, &rules, 0));
    } else if (status == EXIT_OK) {
        print_people(p, &rules, way_back(s->context, &rules, 0));
    }
    tool_text_free(&rules);
    return status;
}
