/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Operands that are files and patterns of keys; folders become the records in them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/names.h"
#include "tools/look/look.h"

static void add_file(input_files *in, char *path)
{
    in->files = tool_grown(in->files, in->count, sizeof *in->files);
    in->files[in->count++] = path;
}

/* Whether an operand after the first is a file: a file of that name exists. */
static bool is_file(const char *operand)
{
    struct stat is;

    return strcmp(operand, "-") == 0 || strstr(operand, "://") || stat(operand, &is) == 0;
}

/* What a set that was saved over another one has in the names of its files. */
enum { LETTERS = 6 };

static char *index_of(const char *path, size_t length, const char *extension)
{
    char *index = xasprintf("%.*s%s.index.json", (int)length, path, extension);
    struct stat is;

    if (stat(index, &is) == 0 && S_ISREG(is.st_mode)) {
        return index;
    }
    free(index);
    return NULL;
}

char *tool_index_of_part(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.'), *of = dot;
    const char *number;
    char *index;

    while (of && of > name && strncmp(of, "-of-", 4) != 0) {
        of--;
    }
    if (!of || strncmp(of, "-of-", 4) != 0 || strspn(of + 4, "0123456789") != (size_t)(dot - of - 4)) {
        return NULL;
    }
    for (number = of; number > name && number[-1] >= '0' && number[-1] <= '9';) {
        number--;
    }
    if (number == of || number == name || number[-1] != '-') {
        return NULL;
    }
    index = index_of(path, (size_t)(number - 1 - path), dot);
    if (!index && number - name > LETTERS + 2 && number[-LETTERS - 2] == '-' &&
        strspn(number - LETTERS - 1, "abcdefghijklmnopqrstuvwxyz0123456789") == LETTERS) {
        index = index_of(path, (size_t)(number - LETTERS - 2 - path), dot);
    }
    return index;
}

/* Loads a file or a directory without its data. @return whether that works; else the thread has the library's error. */
static bool skim(session *s, const char *name, const char *path)
{
    rec_recorder *recorder = rec_open_recorder_in(s->context, name, REC_PRECISION_KEEP);
    bool ready = recorder && rec_recorder_set(recorder, "data", "skip") == REC_OK;
    rec_record *record = ready ? rec_load(recorder, path) : NULL;

    rec_record_free(record);
    rec_close_recorder(recorder);
    return record != NULL;
}

/* Whether a file of a directory really is a record. Others, such as the config.json of a model, differ in the first
 * byte. */
static bool is_record(session *s, const char *path)
{
    const char *name = rec_recognise(s->context, path);
    const rec_plugin_info *p = name ? NULL : rec_plugin_for_path(s->context, path);

    /* A file with a record's extension and a wrong first byte is damaged, except for .json and .bin, which other
     * programs use too. */
    if (p && p->can_load && !p->needs_type && !strstr(p->name, "Json")) {
        return true;
    }
    if (!name || !strstr(name, "Json")) {
        return name != NULL;
    }
    return skim(s, name, path) || rec_error_status() != REC_E_FORMAT || rec_error_offset() != 0;
}

int tool_inputs_add_folder(session *s, input_files *in, const char *folder)
{
    size_t length = strlen(folder), count = 0;
    DIR *dir = opendir(folder);
    char **names = NULL;
    struct dirent *each;
    int status = dir ? EXIT_OK : tool_fail("%s: cannot open this directory: %s", folder, strerror(errno));

    while (dir && (each = readdir(dir))) {
        if (each->d_name[0] != '.') {
            names = tool_grown(names, count, sizeof *names);
            names[count++] = xasprintf("%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", each->d_name);
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    if (count) {
        qsort(names, count, sizeof *names, tool_by_name);
    }
    for (size_t i = 0; i < count; i++) {
        struct stat is;
        bool link = lstat(names[i], &is) == 0 && S_ISLNK(is.st_mode), there = stat(names[i], &is) == 0;
        if (status == EXIT_OK && !there && !link && errno != ENOENT) {
            status = tool_fail("%s: cannot be inspected: %s", names[i], strerror(errno));
        } else if (status == EXIT_OK && there && S_ISDIR(is.st_mode) && !link) {
            status = tool_inputs_add_folder(s, in, names[i]);
        } else if (status == EXIT_OK && there && S_ISREG(is.st_mode)) {
            char *index = tool_index_of_part(names[i]);
            if (!index && is_record(s, names[i])) {
                add_file(in, names[i]);
                names[i] = NULL;
            } else if (!index) {
                in->passed_over += rec_recognise(s->context, names[i]) != NULL;
            }
            free(index);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

/* Whether a folder is a model itself, as those of several files with an index are. One with a fault is one, too, so
 * that loading says which; but not one that holds several models. */
static bool is_model(session *s, const char *folder)
{
    return rec_recognise(s->context, folder) &&
           (skim(s, "Auto", folder) || rec_error_status() != REC_E_NOT_FOUND || strcmp(rec_error_file(), folder) != 0);
}

static int add_operand(session *s, input_files *in, const char *operand)
{
    struct stat is;
    size_t before = in->count;
    int status;

    if (strcmp(operand, "-") == 0 || stat(operand, &is) != 0 || !S_ISDIR(is.st_mode) || is_model(s, operand)) {
        add_file(in, xstrdup(operand));
        return EXIT_OK;
    }
    in->several = true;
    status = tool_inputs_add_folder(s, in, operand);
    return status == EXIT_OK && in->count == before ? tool_fail("%s: there is no record in this directory", operand)
                                                    : status;
}

int tool_inputs_find(session *s, const char *const *operands, size_t count, bool keys, input_files *in)
{
    const char **others = xmalloc(count * sizeof *others);
    size_t other_count = 0;
    int status = EXIT_OK;

    *in = (input_files){0};
    for (size_t i = 0; i < count && status == EXIT_OK; i++) {
        if (i == 0 || !keys || is_file(operands[i])) {
            status = add_operand(s, in, operands[i]);
        } else {
            others[other_count++] = operands[i];
        }
    }
    in->several = in->several || in->count > 1;
    if (status == EXIT_OK && other_count && !(in->keys = tool_patterns_make(others, other_count))) {
        status = EXIT_ERROR;
    }
    free(others);
    return status;
}

int tool_inputs_check(const input_files *in)
{
    const char *idle = tool_patterns_idle(in->keys);

    if (!idle) {
        return EXIT_OK;
    }
    return tool_fail("%s: no key matches \"%s\", and there is no file of that name",
                     in->several ? "the records" : tool_input_name(in->files[0]), idle);
}

bool tool_inputs_same(const session *s, const input_files *in)
{
    uint64_t sum = in->count;

    for (size_t i = 0; i < in->count; i++) {
        sum = lr_fnv(sum, in->files[i], strlen(in->files[i])) + 1;
    }
    return s->shared->together(s->shared->self, NULL, sum, NULL);
}

static void json_failed(json *j, const char *path)
{
    tool_json_object(j, NULL);
    tool_json_string(j, "file", path);
    tool_json_string(j, "error", rec_error_message());
    tool_json_close(j, '}');
}

int tool_inputs_each(const session *s, const input_files *in, unsigned indent, json *j,
                     int (*tell)(void *user, const char *path), void *user)
{
    bool several = s->o->json && in->several, told = several;
    int status = EXIT_OK;

    tool_json_begin(j, stdout, several ? indent + 2 : indent);
    if (several) {
        tool_json_object(j, NULL);
        tool_json_array(j, "files");
    }
    for (size_t i = 0; i < in->count && !in->ended; i++) {
        int one = tell(user, in->files[i]);
        if (one == EXIT_ERROR && several) {
            json_failed(j, in->files[i]);
        }
        told = told || one != EXIT_ERROR;
        status = one > status ? one : status;
    }
    if (several) {
        tool_json_close(j, ']');
        tool_json_close(j, '}');
    }
    if (s->o->json && told) {
        tool_json_end(j);
    }
    return status;
}

void tool_inputs_free(input_files *in)
{
    for (size_t i = 0; i < in->count; i++) {
        free(in->files[i]);
    }
    free(in->files);
    tool_patterns_free(in->keys);
    *in = (input_files){0};
}
