/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record completion: what completes words in a shell. The scripts only ask; what there is to choose is found here. */
#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/names.h"
#include "tools/tool.h"

/* ----------------------------------------------------------------------------------------------------- scripts -- */

/* A candidate that is not a whole word yet ends in one of `.=:/`. The line ":files" asks for names of files. */
static const char bash_script[] =
    "# Completion of record(1) for bash.\n"
    "_record() {\n"
    "    local line word\n"
    "    COMPREPLY=()\n"
    "    word=${COMP_WORDS[COMP_CWORD]}\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            compopt -o filenames\n"
    "            while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- \"${word#[=:]}\")\n"
    "        else\n"
    "            COMPREPLY+=(\"$(printf %q \"${line%%$'\\t'*}\")\")\n"
    "        fi\n"
    "    done < <(record completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[.=:/] ]]; then\n"
    "        compopt -o nospace\n"
    "    fi\n"
    "}\n"
    "complete -F _record record\n";

static const char zsh_script[] =
    "#compdef record\n"
    "# Completion of record(1) for zsh.\n"
    "_record() {\n"
    "    local line word help files=\n"
    "    local -a whole parts shown shown_parts\n"
    "    for line in \"${(@f)$(record completion words -- \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
    "        word=${line%%$'\\t'*} help=${line#*$'\\t'}\n"
    "        [[ -z $line ]] && continue\n"
    "        if [[ $line == :files ]]; then files=1\n"
    "        elif [[ $word == *[.=:/] ]]; then parts+=(\"$word\") shown_parts+=(\"$word${${help:#$word}:+  -- "
    "$help}\")\n"
    "        else whole+=(\"$word\") shown+=(\"$word${${help:#$word}:+  -- $help}\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#whole )) && compadd -l -d shown -- \"${whole[@]}\"\n"
    "    (( $#parts )) && compadd -S '' -l -d shown_parts -- \"${parts[@]}\"\n"
    "    [[ -n $files ]] && { [[ $PREFIX == --*=* ]] && compset -P '*='; _files }\n"
    "}\n"
    "compdef _record record\n";

static const char fish_script[] =
    "# Completion of record(1) for fish.\n"
    "function __record_words\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in (record completion words -- $words[2..-1] 2>/dev/null)\n"
    "        if test \"$line\" = :files\n"
    "            set -l word (commandline -ct)\n"
    "            set -l stem (string match -r '^--[^=]*=' -- $word)\n"
    "            for path in (complete -C\"__record_any \"(string replace -r '^--[^=]*=' '' -- $word))\n"
    "                echo \"$stem$path\"\n"
    "            end\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c record -f -a '(__record_words)'\n";

/* -------------------------------------------------------------------------------------------------- candidates -- */

/* The word to complete: candidates repeat the part that is already there. */
typedef struct wanted {
    const char *stem; /* "--profile=" */
    size_t stem_length;
    const char *typed;
    size_t length;
} wanted;

static wanted whole_word(const char *word)
{
    return (wanted){"", 0, word, strlen(word)};
}

static void put_candidate(const wanted *w, const char *word, size_t length, const char *help)
{
    text line = {0};
    bool plain;

    if (length < w->length || strncmp(word, w->typed, w->length) != 0) {
        return;
    }
    /* What could steer a terminal is no word that anybody would type. */
    tool_text_safe(&line, word, length);
    plain = line.length == length && memcmp(line.at, word, length) == 0;
    tool_text_free(&line);
    if (!plain) {
        return;
    }
    printf("%.*s%.*s", (int)w->stem_length, w->stem, (int)length, word);
    if (help && *help) {
        tool_text_safe(&line, help, strcspn(help, "\n"));
        printf("\t%s", line.at);
        tool_text_free(&line);
    }
    putchar('\n');
}

static void put_word(const wanted *w, const char *word, const char *help)
{
    put_candidate(w, word, strlen(word), help);
}

static void put_words(const wanted *w, const char *const *list)
{
    for (; *list; list++) {
        put_word(w, *list, NULL);
    }
}

static void put_files(void)
{
    puts(":files");
}

/* Recorders by their names; one who types small letters means the short names. */
static void put_recorders(const session *s, const wanted *w, bool save)
{
    for (uint64_t i = 0; i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        if (!p->usable || !(save ? p->can_save : p->can_load)) {
            continue;
        }
        put_word(w, p->name, p->description);
        for (const char *at = p->aliases; w->length && islower((unsigned char)*w->typed) && *at;) {
            size_t length = strcspn(at, ", ");
            put_candidate(w, at, length, p->description);
            at += length;
            at += strspn(at, ", ");
        }
    }
}

static void put_profiles(const session *s, const wanted *w)
{
    for (uint64_t i = 0; i < rec_profile_count(s->context); i++) {
        const rec_profile_info *p = rec_profile_get(s->context, i);
        put_word(w, p->name, p->description);
    }
}

/* Names of types: all that are known, or with `FILE.rs:` those of the file. */
static void put_types(const session *s, wanted w)
{
    const char *colon = strrchr(w.typed, ':'), *name;
    rec_types *types = NULL, *known = rec_types_new(s->context);
    uint64_t count = 0, fresh = 0;
    const char **names = NULL;
    char *file = NULL;

    if (colon && colon > w.typed && colon[-1] != ':' && known) {
        file = xasprintf("%.*s", (int)(colon - w.typed), w.typed);
        while (rec_types_name(known, fresh)) {
            fresh++;
        }
        types = rec_types_add_file(known, file) == REC_OK ? known : NULL;
    } else {
        types = known;
    }
    while (types && rec_types_name(types, count)) {
        count++;
    }
    count -= file && types ? fresh : 0; /* those that were added last are the first */
    names = xmalloc((size_t)(count + 1) * sizeof *names);
    for (uint64_t i = 0; i < count; i++) {
        names[i] = rec_types_name(types, i);
    }
    qsort(names, (size_t)count, sizeof *names, lr_by_text);
    for (uint64_t i = 0; i < count; i++) {
        name = i && strcmp(names[i - 1], names[i]) == 0 ? NULL : names[i];
        if (name && file) {
            char *full = xasprintf("%s:%s", file, name);
            put_word(&w, full, NULL);
            free(full);
        } else if (name) {
            put_word(&w, name, NULL);
        }
    }
    if (!file) {
        put_files();
    }
    free(names);
    free(file);
    rec_types_free(known);
}

/* -------------------------------------------------------------------------------------------------------- keys -- */

/* Prints keys of a record. If there are many, only up to the next dot. */
static void put_keys(session *s, const wanted *w, const char *path)
{
    enum { MANY = 100 };
    struct stat st;
    /* Reading a pipe could block, and errors are not printed here. */
    rec_recorder *recorder = stat(path, &st) == 0 && !S_ISFIFO(st.st_mode) ? tool_session_look(s, 1) : NULL;
    rec_record *record = recorder ? tool_load(recorder, path) : NULL;
    rec_iterator *iterator = record ? rec_iterate(record) : NULL;
    const char *key;
    size_t count = 0;
    text last = {0};

    while (iterator && count <= MANY && rec_iterator_next(iterator, &key)) {
        count += strncmp(key, w->typed, w->length) == 0;
    }
    rec_iterator_free(iterator);
    iterator = record ? rec_iterate(record) : NULL;
    while (iterator && rec_iterator_next(iterator, &key)) {
        size_t length = strlen(key);
        if (strncmp(key, w->typed, w->length) != 0) {
            continue;
        }
        if (count > MANY) {
            size_t part = w->length + strcspn(key + w->length, ".");
            length = part < length ? part + 1 : length;
        }
        if (last.at && last.length == length && strncmp(last.at, key, length) == 0) {
            continue;
        }
        last.length = 0;
        tool_text_add(&last, key, length);
        put_candidate(w, key, length, NULL);
    }
    rec_iterator_free(iterator);
    tool_text_free(&last);
    rec_record_free(record);
    rec_close_recorder(recorder);
}

/* ------------------------------------------------------------------------------------------------------ values -- */

/* Completes the last word of a comma-separated list: earlier words are repeated. */
static void put_list(const wanted *w, const char *const *list)
{
    const char *comma = strrchr(w->typed, ',');
    size_t before = comma ? (size_t)(comma + 1 - w->typed) : 0;
    char *stem = xasprintf("%.*s%.*s", (int)w->stem_length, w->stem, (int)before, w->typed);
    wanted last = {stem, strlen(stem), w->typed + before, w->length - before};

    put_words(&last, list);
    free(stem);
}

/* The versions that are written. */
static void put_versions(const wanted *w)
{
    for (unsigned minor = 7; minor <= 23; minor++) {
        char word[16];
        (void)snprintf(word, sizeof word, "0.%u", minor);
        put_word(w, word, NULL);
    }
}

/* Completes the value of an option by its name: equal names mean the same in all subcommands, with one exception. */
static void put_values(session *s, const command *c, const char *option, const wanted *w)
{
    static const char *const precisions[] = {"half", "full", "double", "default", "keep", NULL};
    static const char *const whens[] = {"auto", "always", "never", NULL};
    static const char *const adapters[] = {"pytorch", "none", NULL};
    static const char *const gaps[] = {"close", "keep", NULL};
    static const char *const sums[] = {"write", "check", NULL};
    static const char *const orders[] = {"file",  "name",  "size",   "dtype",  "shape",   "offset", "-file",
                                         "-name", "-size", "-dtype", "-shape", "-offset", NULL};
    static const char *const pairs[] = {"name", "position", "id", NULL};
    static const char *const parts[] = {"key", "1", "2", "3", "dtype", NULL};
    static const char *const ignored[] = {"dtype", "added", "removed", "renamed", "metadata", "values", "data", NULL};
    static const char *const nothing[] = {NULL}; /* numbers and custom names: no files */
    static const struct {
        const char *option;
        const char *const *words;
        int commands; /* 0: all that have it */
    } lists[] = {{"precision", precisions, 0},
                 {"color", whens, 0},
                 {"adapter", adapters, 0},
                 {"gaps", gaps, 0},
                 {"sums", sums, 0},
                 {"sort", orders, 0},
                 {"by", pairs, COMMAND_DIFF},
                 {"by", parts, COMMAND_EDIT},
                 {"atol", nothing, 0},
                 {"rtol", nothing, 0},
                 {"ulp", nothing, 0},
                 {"depth", nothing, 0},
                 {"threads", nothing, 0},
                 {"max-shard-size", nothing, 0},
                 {"name", nothing, 0},
                 {"as", nothing, 0}};

    if (strcmp(option, "ignore") == 0) {
        put_list(w, ignored);
        return;
    }
    if (strcmp(option, "burn") == 0) {
        put_versions(w);
        return;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(option, lists[i].option) == 0 && (!lists[i].commands || (c && c->bit & lists[i].commands))) {
            put_words(w, lists[i].words);
            return;
        }
    }
    if (strcmp(option, "from") == 0 || strcmp(option, "to") == 0) {
        put_recorders(s, w, *option == 't');
    } else if (strcmp(option, "profile") == 0) {
        put_profiles(s, w);
        put_files();
    } else if (strcmp(option, "type") == 0) {
        put_types(s, *w);
    } else {
        put_files();
    }
}

static bool takes_argument(const command *c, const char *word)
{
    const tool_option *form;

    for (size_t i = 0; (form = tool_option_at(c, i)); i++) {
        bool is_it =
            word[1] == '-' ? strcmp(form->name, word + 2) == 0 : form->letter && word[1] == form->letter && !word[2];
        if (is_it && form->argument) {
            return true;
        }
    }
    return false;
}

static void put_options(const command *c, const wanted *w)
{
    const tool_option *form;

    for (size_t i = 0; (form = tool_option_at(c, i)); i++) {
        char *name = xasprintf("--%s%s", form->name, form->argument ? "=" : "");
        put_word(w, name, form->help);
        free(name);
    }
}

/* Operands: a file first, then what the subcommand takes. */
static void put_operands(session *s, const command *c, const char *const *before, size_t count, const wanted *w)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    static const char *const operations[] = {"set", "rm", "mv", "cast", "meta", "merge", "split", NULL};
    size_t of = 0;

    while (count && operations[of] && strcmp(operations[of], before[count - 1]) != 0) {
        of++;
    }
    if (c->bit == COMMAND_EDIT && count && !operations[of]) {
        put_words(w, operations);
    } else if (c->bit == COMMAND_COMPLETION) {
        put_words(w, shells);
    } else if (c->bit == COMMAND_HELP) {
        for (const command *each = tool_commands; each->name; each++) {
            put_word(w, each->name, each->summary);
        }
    } else if (c->bit == COMMAND_PROFILES) {
        put_profiles(s, w);
    } else if (c->bit == COMMAND_PLUGINS) {
        put_recorders(s, w, false);
    } else if (count && (count > 1 || c->bit != COMMAND_DIFF) &&
               (c->bit & (COMMAND_SHOW | COMMAND_LS | COMMAND_STATS | COMMAND_EDIT | COMMAND_DIFF))) {
        put_keys(s, w, before[0]);
        if (c->bit != COMMAND_SHOW) {
            put_files();
        }
    } else {
        put_files();
    }
}

/* The operands before the last word of the command line. */
static size_t operands_before(const command *c, const char *const *typed_words, size_t count, const char **operands)
{
    size_t found = 0;
    bool named = false;

    for (size_t i = 0; i + 1 < count; i++) {
        if (typed_words[i][0] == '-' && typed_words[i][1]) {
            i += takes_argument(c, typed_words[i]);
        } else if (!named) {
            named = true;
        } else {
            operands[found++] = typed_words[i];
        }
    }
    return found;
}

/* @param typed_words those behind `record`, the last one is being typed. */
static void put_completions(session *s, const char *const *typed_words, size_t count)
{
    const char *typed = typed_words[count - 1], *last = count > 1 ? typed_words[count - 2] : "", *equals;
    const char **operands = xmalloc(count * sizeof *operands);
    const command *c = NULL;
    wanted w = whole_word(typed);

    for (size_t i = 0; i + 1 < count && !c; i++) {
        c = tool_command_find(typed_words[i]);
    }
    if (strcmp(typed, "=") == 0 && last[0] == '-' && last[1] == '-') { /* bash breaks words at it */
        w = whole_word("");
        put_values(s, c, last + 2, &w);
    } else if (strcmp(last, "=") == 0 && count > 2 && strncmp(typed_words[count - 3], "--", 2) == 0) {
        put_values(s, c, typed_words[count - 3] + 2, &w);
    } else if (last[0] == '-' && last[1] == '-' && takes_argument(c, last)) {
        put_values(s, c, last + 2, &w);
    } else if (last[0] == '-' && last[1] && last[1] != '-' && takes_argument(c, last)) {
        put_files();
    } else if (strncmp(typed, "--", 2) == 0 && (equals = strchr(typed, '='))) {
        char *option = xasprintf("%.*s", (int)(equals - typed - 2), typed + 2);
        w = (wanted){typed, (size_t)(equals + 1 - typed), equals + 1, strlen(equals + 1)};
        put_values(s, c, option, &w);
        free(option);
    } else if (typed[0] == '-') {
        put_options(c, &w);
    } else if (!c) {
        for (c = tool_commands; c->name; c++) {
            put_word(&w, c->name, c->summary);
        }
    } else {
        put_operands(s, c, operands, operands_before(c, typed_words, count, operands), &w);
    }
    free(operands);
}

int tool_run_completion(session *s, const char *const *operands, size_t count)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

    static const char *const nothing[] = {""};

    if (strcmp(operands[0], "words") == 0) {
        put_completions(s, count > 1 ? operands + 1 : nothing, count > 1 ? count - 1 : 1);
        return EXIT_OK;
    }
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts && count == 1; i++) {
        if (strcmp(scripts[i].shell, operands[0]) == 0) {
            fputs(scripts[i].script, stdout);
            return EXIT_OK;
        }
    }
    return tool_fail_usage("completion", "expected bash, zsh or fish, found \"%s\"",
                           operands[count == 1 ? 0 : count - 1]);
}
