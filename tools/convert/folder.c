/* SPDX-License-Identifier: MIT OR Apache-2.0
 * One file of a directory: its recorder and type, its target, its conversion, and the report. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "common/names.h"
#include "tools/convert/recursive_private.h"

/* What a model in several files has as its index. */
#define INDEX ".index.json"

/* @param is what the file is, NULL if that is not known. @param why it is skipped, or NULL. */
void tool_folder_add(folder *f, const char *name, const struct stat *is, const char *why)
{
    f->files = tool_grown(f->files, f->count, sizeof *f->files);
    f->files[f->count++] = (found){.name = xstrdup(name),
                                   .why = why ? xstrdup(why) : NULL,
                                   .result = FOLDER_SKIPPED,
                                   .is_file = is && S_ISREG(is->st_mode),
                                   .device = is ? is->st_dev : 0,
                                   .inode = is ? is->st_ino : 0};
}

bool tool_folder_fits(const char *glob, const char *name)
{
    const char *last = strrchr(name, '/');

    return fnmatch(glob, strchr(glob, '/') || !last ? name : last + 1, 0) == 0;
}

/* The type that --type GLOB=TYPE gives to a file: the first glob that matches, against the name alone if the glob has
 * no slash; `--type TYPE` is for all files that no glob matches. */
static const char *type_of(const folder *f, const char *name)
{
    const words *types = &f->s->o->type;
    const char *other = NULL;

    for (size_t i = 0; i < types->count; i++) {
        const char *equals = strchr(types->at[i], '=');
        char *glob;
        bool fits;
        if (!equals) {
            other = other ? other : types->at[i];
            continue;
        }
        glob = xasprintf("%.*s", (int)(equals - types->at[i]), types->at[i]);
        fits = tool_folder_fits(glob, name);
        free(glob);
        if (fits) {
            return equals + 1;
        }
    }
    return other;
}

/* @return how long the longest of "mpk, mpk.gz" is that a name ends in, after a dot; 0: it ends in none. */
static size_t tail_of(const char *name, size_t length, const char *extensions)
{
    size_t longest = 0;

    while (*extensions) {
        size_t tail = strcspn(extensions, ",");
        if (tail > longest && length > tail + 1 && name[length - tail - 1] == '.' &&
            strncmp(name + length - tail, extensions, tail) == 0) {
            longest = tail;
        }
        extensions += tail;
        extensions += strspn(extensions, ", ");
    }
    return longest;
}

/* A name without the extension of its recorder. */
static char *stem_of(const session *s, const char *name, const char *recorder)
{
    const rec_plugin_info *p = tool_session_plugin(s, recorder);
    const char *extensions = p ? p->extensions : "";
    size_t length = strlen(name), tail;

    if (*extensions && lr_ends_in(name, INDEX)) {
        length -= strlen(INDEX);
    }
    tail = tail_of(name, length, extensions);
    return xasprintf("%.*s", (int)(length - (tail ? tail + 1 : 0)), name);
}

bool tool_folder_make(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            *slash = '/';
            return false;
        }
        *slash = '/';
    }
    return true;
}

/* Keeps the text of an error without the file's name, which the table has. Hints are indented: a line that is not
 * begins a problem. */
static void take_said(found *file, const text *said, const char *in, const char *out)
{
    const char *files[] = {in, out}, *at = said->length ? said->at : "it failed";
    text t = {0};

    for (size_t i = 0; i < 2; i++) {
        size_t length = files[i] ? strlen(files[i]) : 0;
        if (length && strncmp(at, files[i], length) == 0 && strncmp(at + length, ": ", 2) == 0) {
            at += length + 2;
        }
    }
    for (bool first = true; *at || first; first = false) {
        size_t length = strcspn(at, "\n");
        tool_text_put(&t, first ? "" : "\n");
        tool_text_put(&t, first || strncmp(at, "  ", 2) == 0 ? "" : "  ");
        tool_text_add(&t, at, length);
        at += length + (at[length] == '\n');
    }
    free(file->said);
    file->said = t.at; /* taken */
}

/* Keeps the problems of a plan in the same form. */
static void take_problems(found *file, const planned *p, bool fatal)
{
    char *said = NULL;
    size_t size;
    FILE *out = tool_enough(open_memstream(&said, &size));

    tool_problems_print(p, fatal, fatal ? TOOL_PROBLEMS_SHOWN : TOOL_PROBLEM_NOTES_SHOWN, "", "", out);
    (void)fclose(out);
    (void)tool_enough(said);
    free(file->said);
    file->said = size ? xasprintf("%.*s", (int)size - 1, said) : NULL; /* without the last line's end */
    free(said);
}

/* Gives the table the first line. */
static void set_why(found *file)
{
    free(file->why);
    file->why = xasprintf("%.*s", (int)strcspn(file->said, "\n"), file->said);
}

int tool_folder_by_target(const void *a, const void *b)
{
    return strcmp(((const found *)a)->target, ((const found *)b)->target);
}

bool tool_folder_is_written(const folder *f, char *target)
{
    return tool_known_find(&f->written, &(found){.target = target}, tool_folder_by_target) != NULL;
}

static int by_inode(const void *one, const void *other)
{
    const found *a = one, *b = other;

    return a->device != b->device ? (a->device < b->device ? -1 : 1) : (a->inode > b->inode) - (a->inode < b->inode);
}

static void find_inodes(folder *f)
{
    f->inodes_found = true;
    for (size_t i = 0; i < f->count; i++) {
        found *file = &f->files[i], *first = file->is_file ? tool_known_add(&f->by_inode, file, by_inode) : file;
        if (first != file && !first->twin) {
            first->twin = file;
        }
    }
}

/* Another file that is to be read and that `out` would take the place of. A link may lead there, or a folder that lies
 * in the other one. */
static const found *read_at(folder *f, const found *file, const char *out)
{
    struct stat is;
    const found *other;

    if (stat(out, &is) != 0) {
        return NULL;
    }
    if (!f->inodes_found) {
        find_inodes(f);
    }
    other = tool_known_find(&f->by_inode, &(found){.device = is.st_dev, .inode = is.st_ino}, by_inode);
    return other == file && other ? other->twin : other;
}

void tool_folder_forget(folder *f)
{
    tool_known_free(&f->written, tool_folder_by_target);
    tool_known_free(&f->by_inode, by_inode);
    for (size_t i = 0; i < f->count; i++) {
        free(f->files[i].name);
        free(f->files[i].out);
        free(f->files[i].why);
        free(f->files[i].target);
        free(f->files[i].said);
        tool_notes_free(&f->files[i].notes);
    }
    free(f->files);
}

char *tool_folder_path(const folder *f, const found *file)
{
    return f->in ? xasprintf("%s/%s", f->in, file->name) : xstrdup(file->name);
}

bool tool_folder_is_free(folder *f, found *file)
{
    char *out = xasprintf("%s/%s", f->out, file->target);
    const found *other = read_at(f, file, out);

    if (other) {
        file->why = xasprintf("it would replace %s, which is converted too", other->name);
        file->result = FOLDER_FAILED;
    }
    free(out);
    return !other;
}

bool tool_folder_may_write(folder *f, found *file)
{
    char *out, *there;
    int answer;

    if (!tool_folder_is_free(f, file)) {
        return false;
    }
    out = xasprintf("%s/%s", f->out, file->target);
    answer = tool_existing(f->s, out, &f->overwrite, &there);
    if (there) {
        file->why = xasprintf("%s exists", there);
        file->result = answer == EXISTING_REFUSE ? FOLDER_FAILED : FOLDER_SKIPPED;
        free(there);
    }
    free(out);
    return answer == EXISTING_WRITE;
}

/* Skips a file of the folder that no recorder recognises; one that the command line names fails. */
static void take_unknown(const folder *f, found *file, const char *in)
{
    bool none = rec_error_status() == REC_E_UNSUPPORTED || rec_error_status() == REC_E_FORMAT;
    text said = {0}, *before = tool_fail_divert(&said);

    (void)tool_fail_library();
    (void)tool_fail_divert(before);
    if (f->in && none) {
        file->result = FOLDER_SKIPPED;
        file->why = xstrdup("no record");
    } else {
        file->result = FOLDER_FAILED;
        take_said(file, &said, in, NULL);
        set_why(file);
    }
    tool_text_free(&said);
}

void tool_folder_look(folder *f, found *file)
{
    char *in = tool_folder_path(f, file), *index = f->in ? tool_index_of_part(in) : NULL;

    if (index) {
        file->why = xasprintf("a part of %s", index + strlen(f->in) + 1);
    } else if (!(file->recorder = f->from ? f->from : tool_recognise(f->s->context, in))) {
        take_unknown(f, file, in);
    }
    free(index);
    free(in);
}

int tool_folder_name(folder *f, found *file)
{
    const char *type = type_of(f, file->name), *dot;
    const rec_plugin_info *target;
    char *stem;

    if (type && !(file->type = tool_session_add_type(f->s, type))) {
        return EXIT_ERROR; /* every file would fail */
    }
    target = tool_session_plugin(f->s, f->to ? f->to : file->recorder);
    dot = target ? target->extension : "";
    stem = stem_of(f->s, f->in ? file->name : tool_base_name(file->name), file->recorder);
    file->target = xasprintf("%s%s%s", stem, *dot ? "." : "", dot);
    free(stem);
    return EXIT_OK;
}

static void take_success(found *file, conversion *c)
{
    bool index = c->path && lr_ends_in(c->path, INDEX);

    file->result = FOLDER_CONVERTED;
    file->out = xasprintf("%s%s", file->target, index ? INDEX : "");
    file->tensors = c->sums.tensors;
    file->written = c->written;
    file->checked = c->checked;
    if (c->plan.plan) {
        take_problems(file, &c->plan, false);
        tool_notes_append(&file->notes, &c->plan.notes);
    }
    tool_notes_append(&file->notes, &c->load_notes);
    tool_notes_append(&file->notes, &c->save_notes);
}

/* @return whether a file of the folder failed because it is no record. */
static bool is_no_record(const folder *f, const conversion *c, const char *in)
{
    bool format = rec_error_status() == REC_E_UNSUPPORTED || rec_error_status() == REC_E_FORMAT;

    if (!f->in || !c->to || c->record || c->plan.made) {
        return false;
    }
    return strncmp(rec_error_expected(), "a Burn record", strlen("a Burn record")) == 0 ||
           (format && f->from && !tool_recognise(f->s->context, in));
}

static void take_failure(const folder *f, found *file, const conversion *c, const text *said, const char *in)
{
    bool asks_type = c->to && rec_error_status() == REC_E_TYPE;

    if (is_no_record(f, c, in)) {
        file->result = FOLDER_SKIPPED;
        file->why = xstrdup("no record");
        return;
    }
    file->result = FOLDER_FAILED;
    if (c->plan.made && c->plan.totals.fatal) {
        take_problems(file, &c->plan, true);
    } else {
        take_said(file, said, in, c->out);
    }
    set_why(file);
    if (asks_type && !file->type && !tool_needs_type(f->s, file->recorder)) { /* those say it themselves */
        char *old = file->said;
        file->said = xasprintf("%s\n  Give it: --type 'GLOB=TYPE'.", old);
        free(old);
    }
}

/* Converts it as if it were the only input. */
static void convert_found(folder *f, found *file, const char *in, const char *out)
{
    session *s = f->s;
    conversion c = {
        .inputs = &in, .count = 1, .out = out, .to_name = f->to_name ? f->to_name : file->recorder, .dry = f->dry};
    text said = {0}, *before = tool_fail_divert(&said);
    int status = EXIT_ERROR;

    free(s->type);
    s->type = file->type ? xstrdup(file->type) : NULL;
    if ((c.to = tool_session_output(s, c.to_name))) {
        status = tool_convert(s, &c);
    }
    (void)tool_fail_divert(before);
    if (status != EXIT_OK) {
        take_failure(f, file, &c, &said, in);
    } else {
        take_success(file, &c);
        if (said.length) {
            (void)tool_fail("%s", said.at); /* the save is not synced */
        }
    }
    tool_text_free(&said);
    tool_conversion_free(&c);
}

/* Whether a directory between the output directory and a file in it is a link, which may lead anywhere. */
static bool leads_out(const folder *f, char *path)
{
    bool link = false;

    for (char *slash = strchr(path + strlen(f->out) + 1, '/'); slash && !link; slash = strchr(slash + 1, '/')) {
        struct stat is;
        *slash = '\0';
        link = lstat(path, &is) == 0 && S_ISLNK(is.st_mode);
        *slash = '/';
    }
    return link;
}

void tool_folder_convert(folder *f, found *file)
{
    char *in = tool_folder_path(f, file), *out = xasprintf("%s/%s", f->out, file->target);

    if (leads_out(f, out)) {
        file->result = FOLDER_FAILED;
        file->why = xstrdup("its directory is a link, which may lead out of the output directory");
    } else if (!f->dry && !tool_folder_make(out)) {
        file->result = FOLDER_FAILED;
        file->why = xasprintf("cannot make its directory: %s", strerror(errno));
    } else {
        convert_found(f, file, in, out);
    }
    free(out);
    free(in);
}
