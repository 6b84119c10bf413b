/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert --recursive: every record of a folder, such as the checkpoints of a training, with one report; and
 * several files, each by itself, into a folder. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/convert/recursive_private.h"

/* ----------------------------------------------------------------------------------------------------- finding -- */

static bool fits_glob(const char *glob, const char *name)
{
    const char *last = strrchr(name, '/');

    return fnmatch(glob, strchr(glob, '/') || !last ? name : last + 1, 0) == 0;
}

/* Whether one of the globs of an option matches. */
static bool is_among(const folder *f, const char *option, const char *name)
{
    const char *glob;
    size_t at = 0;

    while ((glob = tool_own_next(f->s->o, option, &at))) {
        if (fits_glob(glob, name)) {
            return true;
        }
    }
    return false;
}

/* @param is what the file is, NULL if that is not known. @param why it is skipped, or NULL. */
void tool_folder_add(folder *f, const char *name, const struct stat *is, const char *why)
{
    if (f->count == f->room) {
        f->room = f->room ? f->room * 2 : 64;
        f->files = xrealloc(f->files, f->room * sizeof *f->files);
    }
    f->files[f->count++] = (found){.name = xstrdup(name),
                                   .why = why ? xstrdup(why) : NULL,
                                   .result = FOLDER_SKIPPED,
                                   .is_file = is && S_ISREG(is->st_mode),
                                   .device = is ? is->st_dev : 0,
                                   .inode = is ? is->st_ino : 0};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const found *)a)->name, ((const found *)b)->name);
}

/* Notes all files below `below` ("": the folder itself). */
static int find_files(folder *f, const char *below)
{
    char *path = xasprintf("%s%s%s", f->in, *below ? "/" : "", below);
    DIR *dir = opendir(path);
    struct dirent *each;
    int status = EXIT_OK;

    if (!dir) {
        status = tool_fail("%s: cannot open this folder: %s", path, strerror(errno));
    }
    while (dir && status == EXIT_OK && (each = readdir(dir))) {
        struct stat is;
        char *name, *whole;
        if (strcmp(each->d_name, ".") == 0 || strcmp(each->d_name, "..") == 0) {
            continue;
        }
        name = xasprintf("%s%s%s", below, *below ? "/" : "", each->d_name);
        whole = xasprintf("%s/%s", f->in, name);
        if (is_among(f, "exclude", name)) {
            /* neither it nor what is in it */
        } else if (lstat(whole, &is) != 0) {
            tool_folder_add(f, name, NULL, strerror(errno));
        } else if (S_ISDIR(is.st_mode)) {
            bool own = f->out_exists && is.st_dev == f->out_is.st_dev && is.st_ino == f->out_is.st_ino;
            status = own ? EXIT_OK : find_files(f, name);
        } else if (!tool_own(f->s->o, "include") || is_among(f, "include", name)) {
            tool_folder_add(f, name, &is,
                            S_ISREG(is.st_mode)   ? NULL
                            : S_ISLNK(is.st_mode) ? "a link"
                                                  : "no regular file");
        }
        free(whole);
        free(name);
    }
    if (dir) {
        (void)closedir(dir);
    }
    free(path);
    return status;
}

/* -------------------------------------------------------------------------------------------------- converting -- */

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
        fits = fits_glob(glob, name);
        free(glob);
        if (fits) {
            return equals + 1;
        }
    }
    return other;
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);

    return length > tail && strcmp(name + length - tail, end) == 0;
}

/* What a model in several files has as its index. */
#define INDEX ".index.json"

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

    if (*extensions && ends_in(name, INDEX)) {
        length -= strlen(INDEX);
    }
    tail = tail_of(name, length, extensions);
    return xasprintf("%.*s", (int)(length - (tail ? tail + 1 : 0)), name);
}

/* A name without the folders before it; one that ends in a slash is a folder's own. */
static const char *base_name(const char *name)
{
    const char *last = strrchr(name, '/');

    return last && last[1] ? last + 1 : name;
}

/* Makes the folders above a file. */
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

static int by_target(const void *a, const void *b)
{
    return strcmp(((const found *)a)->target, ((const found *)b)->target);
}

static bool is_written(const folder *f, char *target)
{
    return tool_known_find(&f->written, &(found){.target = target}, by_target) != NULL;
}

static int compare_inodes(const found *a, const found *b)
{
    return a->device != b->device ? (a->device < b->device ? -1 : 1)
           : a->inode != b->inode ? (a->inode < b->inode ? -1 : 1)
                                  : 0;
}

/* Of one inode in the order of the files. */
static int by_inode(const void *a, const void *b)
{
    const found *x = *(found *const *)a, *y = *(found *const *)b;
    int order = compare_inodes(x, y);

    return order ? order : (x > y) - (x < y);
}

static void sort_inodes(folder *f)
{
    f->by_inode = xmalloc((f->count + 1) * sizeof *f->by_inode);
    for (size_t i = 0; i < f->count; i++) {
        if (f->files[i].is_file) {
            f->by_inode[f->inodes++] = &f->files[i];
        }
    }
    qsort(f->by_inode, f->inodes, sizeof *f->by_inode, by_inode);
}

/* Another file that is to be read and that `out` would take the place of. A link may lead there, or a folder that lies
 * in the other one. */
static const found *read_at(folder *f, const found *file, const char *out)
{
    struct stat is;
    found wanted;
    size_t low = 0, high;

    if (stat(out, &is) != 0) {
        return NULL;
    }
    if (!f->by_inode) {
        sort_inodes(f);
    }
    wanted = (found){.device = is.st_dev, .inode = is.st_ino};
    for (high = f->inodes; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (compare_inodes(f->by_inode[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low += low < f->inodes && f->by_inode[low] == file;
    return low < f->inodes && compare_inodes(f->by_inode[low], &wanted) == 0 ? f->by_inode[low] : NULL;
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
        file->why = xasprintf("it would take the place of %s, which is converted, too", other->name);
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
        file->why = xasprintf("%s is there already", there);
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
    } else if (!(file->recorder = f->from ? f->from : rec_recognise(f->s->context, tool_name_opened(in)))) {
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
    stem = stem_of(f->s, f->in ? file->name : base_name(file->name), file->recorder);
    file->target = xasprintf("%s%s%s", stem, *dot ? "." : "", dot);
    free(stem);
    return EXIT_OK;
}

static void take_success(found *file, conversion *c)
{
    bool index = c->path && ends_in(c->path, INDEX);

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
           (format && f->from && !rec_recognise(f->s->context, tool_name_opened(in)));
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

void tool_folder_convert(folder *f, found *file)
{
    char *in = tool_folder_path(f, file), *out = xasprintf("%s/%s", f->out, file->target);

    if (!f->dry && !tool_folder_make(out)) {
        file->result = FOLDER_FAILED;
        file->why = xasprintf("cannot make its folder: %s", strerror(errno));
    } else {
        convert_found(f, file, in, out);
    }
    free(out);
    free(in);
}

static int convert_file(folder *f, found *file)
{
    int status = EXIT_OK;

    tool_folder_look(f, file);
    if (!file->why && (status = tool_folder_name(f, file)) == EXIT_OK) {
        if (is_written(f, file->target)) {
            file->result = FOLDER_FAILED;
            file->why = xasprintf("%s was written from another file already", file->target);
        } else if (tool_folder_may_write(f, file)) {
            tool_folder_convert(f, file);
        }
        if (file->out) {
            (void)tool_known_add(&f->written, file, by_target);
        }
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- all files -- */

/* One by one. */
static int convert_each(folder *f)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < f->count && status == EXIT_OK && !tool_progress_stopped(); i++) {
        if (!f->files[i].why) {
            status = convert_file(f, &f->files[i]);
        }
    }
    return status;
}

/* Opens the recorders once, so that a mistake in an option is an error before anything is written. */
static int check_recorders(folder *f)
{
    session *s = f->s;
    rec_recorder *from = tool_session_input(s), *to = NULL;
    const rec_plugin_info *plugin;

    if (!from) {
        return EXIT_ERROR;
    }
    plugin = tool_session_plugin(s, rec_recorder_name(from));
    f->from = plugin ? plugin->name : NULL; /* Auto is none */
    rec_close_recorder(from);
    f->to_name = tool_session_to(s);
    if (f->to_name && !(to = tool_session_output(s, f->to_name))) {
        return EXIT_ERROR;
    }
    f->to = to ? xstrdup(rec_recorder_name(to)) : NULL;
    rec_close_recorder(to);
    return EXIT_OK;
}

/* Converts what was found, if finding it went well, tells of it and frees it. */
static int convert_all(folder *f, int status)
{
    session *s = f->s;

    status = status == EXIT_OK ? check_recorders(f) : status;
    if (s->shared) {
        status = tool_folder_spread(f, status);
    } else if (status == EXIT_OK) {
        status = convert_each(f);
    }
    if (status == EXIT_OK && !tool_progress_stopped()) {
        for (size_t i = 0; i < f->count; i++) {
            f->of[f->files[i].result]++;
        }
        tool_folder_tell(f);
        status = f->of[FOLDER_FAILED] ? EXIT_ERROR : EXIT_OK;
    }
    tool_known_free(&f->written, by_target);
    free(f->by_inode);
    for (size_t i = 0; i < f->count; i++) {
        free(f->files[i].name);
        free(f->files[i].out);
        free(f->files[i].why);
        free(f->files[i].target);
        free(f->files[i].said);
        tool_notes_free(&f->files[i].notes);
    }
    free(f->files);
    free(f->to);
    return status;
}

/* What is for one output alone. */
static int check_options(const options *o)
{
    if (o->type_of) {
        return tool_fail("--type-of tells the type of one record: with %s give --type GLOB=TYPE",
                         o->recursive ? "--recursive" : "several");
    }
    if (o->types.count && !o->type.count) {
        return tool_fail("--types only defines types: say with --type which of them the records have");
    }
    if (o->debug) {
        return tool_fail("--debug prints the keys of one model: convert the files one by one\n"
                         "record plan --debug prints them without converting.");
    }
    return o->base ? tool_fail("--base is for one output: convert the files one by one") : EXIT_OK;
}

/* Rejects a load argument between two inputs: it would apply to all of them, but seems to be for the next one. */
static int check_places(const options *o, size_t count)
{
    for (size_t i = 0; i < o->readings.count; i++) {
        const reading *r = &o->readings.at[i];
        if (r->kind != READING_TYPE && r->before > 1 && r->before <= count) {
            return tool_fail("--%s stands between inputs, but applies to all of them where the output is a folder\n"
                             "Put it before the first input or after the last one.",
                             r->option);
        }
    }
    return EXIT_OK;
}

/* The files of the folder, and whether the other one can take them. */
static int find_all(folder *f)
{
    struct stat in_is;
    int status;

    if (stat(f->in, &in_is) != 0 || !S_ISDIR(in_is.st_mode)) {
        return tool_fail("%s: --recursive needs a folder", f->in);
    }
    f->out_exists = stat(f->out, &f->out_is) == 0;
    if (f->out_exists &&
        (!S_ISDIR(f->out_is.st_mode) || (f->out_is.st_dev == in_is.st_dev && f->out_is.st_ino == in_is.st_ino))) {
        return tool_fail("%s: %s", f->out,
                         S_ISDIR(f->out_is.st_mode) ? "the folder that is converted cannot be written to"
                                                    : "a folder is needed to convert a folder to");
    }
    status = find_files(f, "");
    if (f->count) {
        qsort(f->files, f->count, sizeof *f->files, by_name);
    }
    return status;
}

int tool_run_recursive(session *s, const char *in, const char *out)
{
    folder f = {.s = s, .in = in, .out = out, .dry = tool_own(s->o, "dry-run") != NULL};
    int status;

    if (check_options(s->o) != EXIT_OK) {
        return EXIT_ERROR;
    }
    s->typed_by_file = true;
    tool_progress_begin(s->context, true); /* a table comes at the end */
    status = s->shared && !s->shared->first ? EXIT_OK : find_all(&f);
    status = convert_all(&f, status);
    tool_progress_end();
    return status;
}

int tool_run_each(session *s, const char *const *inputs, size_t count, const char *out)
{
    folder f = {.s = s, .dry = tool_own(s->o, "dry-run") != NULL};
    size_t length = strlen(out);
    struct stat is;
    char *where;
    int status;

    if (check_options(s->o) != EXIT_OK) {
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(inputs[i], "-") == 0) {
            return tool_fail("standard input has no name that a file in %s could have: name the output", out);
        }
    }
    if (check_places(s->o, count) != EXIT_OK) {
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        tool_folder_add(&f, inputs[i], stat(inputs[i], &is) == 0 ? &is : NULL, NULL);
    }
    while (length > 1 && out[length - 1] == '/') {
        length--;
    }
    where = xasprintf("%.*s", (int)length, out);
    f.out = where;
    status = stat(where, &is) == 0 && !S_ISDIR(is.st_mode)
                 ? tool_fail("%s: it is no folder, which files could go into", where)
                 : EXIT_OK;
    s->typed_by_file = true;
    tool_progress_begin(s->context, true);
    status = convert_all(&f, status);
    tool_progress_end();
    free(where);
    return status;
}
