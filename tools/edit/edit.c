/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit: the command line as operations, which are done one after the other on each file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/edit/edit_private.h"

/* ----------------------------------------------------------------------------------------------------- options -- */

const tool_option tool_edit_options[] = {
    {"output", "OUT", 'o', "the output file or directory; with {} in a split"},
    {"in-place", NULL, 'i', "replace FILE"},
    {"by", "WHAT", 0, "split by key, a number of levels, or dtype"},
    {"strip", NULL, 0, "split: remove the name of the part from its keys"},
    {"overwrite", NULL, 0, "merge: later values replace earlier ones"},
    {"dry-run", NULL, 'n', "print what would be done, write nothing"},
    {0},
};

static const operation operations[] = {
    {"set", 2, false, tool_edit_set},
    {"rm", 1, true, tool_edit_remove},
    {"mv", 2, false, tool_edit_move},
    {"cast", 2, false, tool_edit_cast},
    {"meta", 2, false, tool_edit_metadata},
    {"merge", 1, false, tool_edit_merge},
    {"split", 0, false, NULL},
    {0},
};

static const operation *find_operation(const char *word)
{
    const operation *o = operations;

    while (o->name && strcmp(o->name, word) != 0) {
        o++;
    }
    return o->name ? o : NULL;
}

/* The operands of an operation of which there may be more than it needs: the first ones may be any word. */
static size_t count_operands(const operation *what, const char *const *operands, size_t count)
{
    size_t taken = what->operands;

    while (what->more && taken < count && !find_operation(operands[taken])) {
        taken++;
    }
    return taken;
}

static void request_free(request *r)
{
    free(r->files);
    free(r->turned);
    free(r->exact);
    free(r->places);
    free(r->steps);
}

static int fail_operation(const char *word)
{
    const char *names[sizeof operations / sizeof *operations] = {0};
    const char *near;

    for (size_t i = 0; operations[i].name; i++) {
        names[i] = operations[i].name;
    }
    near = tool_nearest(word, names);
    return near ? tool_fail_usage("edit", "expected an operation, found \"%s\": did you mean %s?", word, near)
                : tool_fail_usage("edit", "expected an operation, found \"%s\": set, rm, mv, cast, meta, merge, split",
                                  word);
}

/* An option that stands before an operand is for that one: it must be a file that is read. */
static int check_readings(const session *s, const request *r)
{
    for (size_t i = 0; i < s->o->readings.count; i++) {
        const reading *given = &s->o->readings.at[i];
        size_t next = given->before ? given->before : 1;
        bool serves = next > s->inputs;
        for (size_t k = 0; k < r->file_count && !serves; k++) {
            serves = r->places[k] == next;
        }
        for (size_t k = 0; k < r->step_count && !serves; k++) {
            serves = r->steps[k].what->run == tool_edit_merge && r->steps[k].place + 1 == next;
        }
        if (!serves) {
            return tool_fail_usage("edit",
                                   "--%s stands before a word that is not a file: put it before the file it is for",
                                   given->option);
        }
    }
    return EXIT_OK;
}

static int parse_operations(session *s, request *r, const char *const *operands, size_t count, size_t at)
{
    while (at < count) {
        const operation *what = find_operation(operands[at]);
        bool merges = what && what->run == tool_edit_merge;
        size_t taken;
        if (!what) {
            return fail_operation(operands[at]);
        }
        if (r->split) {
            return tool_fail_usage("edit", "split must be the last operation, found %s after it", operands[at]);
        }
        if (count - at - 1 < what->operands) {
            return tool_fail_usage("edit", "%s needs %zu operand%s, found %zu", what->name, what->operands,
                                   tool_plural(what->operands), count - at - 1);
        }
        taken = count_operands(what, operands + at + 1, count - at - 1);
        r->split = !what->run;
        if (merges) {
            s->inputs = at + 2;
        }
        r->steps[r->step_count++] = (step){what, (merges ? operands : r->exact) + at + 1, taken, at + 1};
        at += taken + 1;
    }
    return EXIT_OK;
}

/* `merge A B` is `A merge B`: one operation may stand before its file. */
static bool turn(request *r, const char *const **operands, size_t count)
{
    const char **turned;

    if (count < 2 || !find_operation((*operands)[0])) {
        return false;
    }
    turned = xmalloc(count * sizeof *turned);
    memcpy(turned, *operands, count * sizeof *turned);
    turned[0] = (*operands)[1];
    turned[1] = (*operands)[0];
    *operands = r->turned = turned;
    return true;
}

static int parse(session *s, request *r, const char *const *operands, size_t count)
{
    size_t at = 0;
    bool turned = turn(r, &operands, count);

    r->files = xmalloc((count + 1) * sizeof *r->files);
    r->places = xmalloc((count + 1) * sizeof *r->places);
    r->steps = xmalloc((count + 1) * sizeof *r->steps);
    r->exact = xmalloc((count + 1) * sizeof *r->exact);
    for (size_t i = 0; i < count; i++) {
        r->exact[i] = tool_name_opened(operands[i]).secret; /* a value that looks like an address */
    }
    r->output = tool_own(s->o, "output");
    r->by = tool_own(s->o, "by");
    r->in_place = tool_own(s->o, "in-place") != NULL;
    r->dry = tool_own(s->o, "dry-run") != NULL;
    r->strip = tool_own(s->o, "strip") != NULL;
    while (at < count && !find_operation(operands[at])) {
        r->places[r->file_count] = at + 1;
        r->files[r->file_count++] = operands[at++];
    }
    if (turned && r->file_count) {
        r->places[0] = 2;
    }
    s->inputs = turned ? 2 : at;
    r->is_new = r->file_count && strcmp(r->files[0], "new") == 0;
    /* What writes nothing needs no place for it. */
    r->in_place = r->in_place || (r->dry && !r->output && !r->is_new && r->file_count && strcmp(r->files[0], "-") != 0);
    if (at == count && count > 1) {
        return fail_operation(operands[1]);
    }
    if (!r->file_count || at == count) {
        return tool_fail_usage("edit", "expected FILE, then operations: set, rm, mv, cast, meta, merge, split");
    }
    return parse_operations(s, r, operands, count, at);
}

/* Checks combinations of options. */
static int check(const request *r)
{
    if (r->split && !r->by) {
        return tool_fail_usage("edit", "split needs --by: key, a number of levels, or dtype");
    }
    if (!r->split && (r->by || r->strip)) {
        return tool_fail_usage("edit", "--%s is for split", r->by ? "by" : "strip");
    }
    if (r->in_place && r->output) {
        return tool_fail_usage("edit", "either --output or --in-place");
    }
    if (!r->in_place && !r->output) {
        return tool_fail_usage("edit", "no output: use --output OUT, or --in-place to replace %s", r->files[0]);
    }
    if (r->in_place && (r->is_new || r->split || strcmp(r->files[0], "-") == 0 || strstr(r->files[0], "://"))) {
        return tool_fail_usage("edit", "--in-place needs a file to be written: name one with --output");
    }
    if (r->is_new && r->file_count > 1) {
        return tool_fail_usage("edit", "new stands for one empty record: to edit a file of that name write ./new");
    }
    if (r->split && !strstr(r->output, "{}")) {
        return tool_fail_usage("edit", "split writes several files: {} in --output is the name of the part");
    }
    if (r->split && r->file_count > 1) {
        return tool_fail_usage("edit", "split takes one file, found %zu", r->file_count);
    }
    for (size_t i = 1; r->output && i < r->file_count; i++) {
        const char *name = tool_base_name(r->files[i]);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(tool_base_name(r->files[k]), name) == 0) {
                return tool_fail_usage("edit", "%s and %s would both be %s in --output", r->files[k], r->files[i],
                                       name);
            }
        }
    }
    if (!r->split && r->file_count > 1 && r->output && !tool_is_folder(r->output)) {
        return tool_fail_usage("edit", "several files go to a directory: --output DIRECTORY/, or --in-place");
    }
    return EXIT_OK;
}

/* -------------------------------------------------------------------------------------------------------- work -- */

static void work_free(work *w)
{
    rec_record_free(w->record);
    for (size_t i = w->held.plan_count; i-- > 0;) {
        rec_plan_free(w->held.plans[i]);
    }
    for (size_t i = w->held.count; i-- > 0;) {
        rec_record_free(w->held.at[i]);
    }
    free(w->held.at);
    free(w->held.plans);
    tool_notes_free(&w->notes);
}

static void job_free(job *j, const request *r)
{
    for (size_t i = 0; i < r->step_count && j->outcomes; i++) {
        tool_text_free(&j->outcomes[i].said);
    }
    free(j->outcomes);
    tool_edit_parts_free(j->parts, j->part_count);
    tool_summary_free(&j->sums);
    work_free(&j->w);
    tool_edit_close(&j->to);
}

static int load(session *s, const request *r, size_t index, job *j)
{
    rec_recorder *reader;

    if (r->is_new) {
        j->w.record = rec_record_new(s->context);
        return j->w.record ? EXIT_OK : tool_fail_library();
    }
    reader = tool_edit_reader(s, r->places[index], false);
    j->w.record = reader ? tool_session_load_typed(s, reader, r->files[index]) : NULL;
    rec_close_recorder(reader);
    if (!j->w.record) {
        return EXIT_ERROR;
    }
    tool_notes_take(&j->w.notes);
    return EXIT_OK;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat s, t;

    return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* The name of the recorder that reads a file, which is the one that writes it in place; NULL with the error printed. */
static const char *recorder_of_file(session *s, const request *r, size_t index, const job *j)
{
    const char *name = rec_record_origin(j->w.record)->recorder, *from = tool_session_from(s, r->places[index]);

    if (s->o->to) {
        return s->o->to;
    }
    if (!*name) {
        name = from ? from : tool_recognise(s->context, r->files[index]);
    }
    if (!name) {
        (void)tool_fail_library();
    }
    return name;
}

/* Says where one file goes. */
static int choose(session *s, const request *r, size_t index, job *j)
{
    const char *in = r->files[index], *base = tool_base_name(in);
    const rec_plugin_info *p;
    bool folder = r->output && !r->split && tool_is_folder(r->output);
    struct stat st;
    char *path;
    int status = EXIT_OK;

    if (r->in_place) {
        j->to.name = recorder_of_file(s, r, index, j);
        if (!j->to.name) {
            return EXIT_ERROR;
        }
        if (stat(in, &st) != 0 || !S_ISREG(st.st_mode) || strstr(base, ".index.json")) {
            return tool_fail("%s: --in-place needs a single file: use --output OUT", in);
        }
        j->to.path = xstrdup(in);
    } else {
        size_t length = folder ? strlen(r->output) : 0;
        j->to.path =
            folder ? xasprintf("%s%s%s", r->output, r->output[length - 1] == '/' ? "" : "/", base) : xstrdup(r->output);
        j->to.in_folder = folder && !strstr(r->output, "://");
        j->to.name = s->o->to;
        if (!j->to.name && strcmp(j->to.path, "-") == 0) {
            return tool_fail_usage("edit", "standard output has no extension: name the recorder with --to");
        }
        if (!j->to.name) {
            p = rec_plugin_for_path(s->context, j->to.path);
            j->to.name = p ? p->name : NULL;
        }
        if (!j->to.name) {
            return tool_fail_library();
        }
    }
    if (tool_edit_open(s, j->w.record, &j->to) != EXIT_OK) {
        return EXIT_ERROR;
    }
    if (tool_is_of_others(j->w.record) && !tool_is_foreign(s, rec_recorder_name(j->to.to)) &&
        !tool_is_given(s, "adapter")) {
        return tool_fail("%s: a model of another framework, and %s holds Burn's\n"
                         "Use record convert; --adapter none keeps names and layouts.",
                         in, rec_recorder_name(j->to.to));
    }
    if (strcmp(j->to.path, "-") == 0) {
        return EXIT_OK;
    }
    path = rec_recorder_path(j->to.to, j->to.path);
    if (!path) {
        return tool_fail_library();
    }
    if (r->in_place && !is_same_file(path, in)) {
        status = tool_fail("%s: it lacks the extension of its recorder, so %s would be written\nUse --output OUT.", in,
                           path);
    } else if (!r->in_place && !r->is_new && is_same_file(path, in)) {
        status = tool_fail("%s is the input\nUse --in-place to replace it.", path);
    }
    rec_free(path);
    return status;
}

/* The name of a part as it can stand in the name of a file. */
static char *part_path(const char *output, const char *name)
{
    const char *mark = strstr(output, "{}");
    text t = {0};

    tool_text_add(&t, output, (size_t)(mark - output));
    for (const char *at = name; *at; at++) {
        bool plain = (unsigned char)*at > ' ' && *at != '/' && *at != '\\' && *at != 0x7f;
        tool_text_add(&t, plain && (at != name || *at != '.') ? at : "_", 1);
    }
    tool_text_put(&t, *name ? "" : "_");
    tool_text_put(&t, mark + 2);
    return t.at; /* taken */
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp((*(const part *const *)a)->to.path, (*(const part *const *)b)->to.path);
}

/* Two names may become one in a folder. */
static int check_paths(const job *j)
{
    const part **sorted = xmalloc((j->part_count + 1) * sizeof *sorted);
    int status = EXIT_OK;

    for (size_t i = 0; i < j->part_count; i++) {
        sorted[i] = &j->parts[i];
    }
    qsort(sorted, j->part_count, sizeof *sorted, compare_paths);
    for (size_t i = 1; i < j->part_count && status == EXIT_OK; i++) {
        if (strcmp(sorted[i - 1]->to.path, sorted[i]->to.path) == 0) {
            status = tool_fail("split: the parts %s and %s would both be %s", sorted[i - 1]->name, sorted[i]->name,
                               sorted[i]->to.path);
        }
    }
    free(sorted);
    return status;
}

static int take_apart(session *s, const request *r, job *j)
{
    int status = tool_edit_split(&j->w, r->by, r->strip, &j->parts, &j->part_count);

    for (size_t i = 0; i < j->part_count && status == EXIT_OK; i++) {
        destination *d = &j->parts[i].to;
        char *path;
        d->path = part_path(j->to.path, j->parts[i].name);
        d->name = j->to.name;
        status = tool_edit_open(s, j->parts[i].record, d);
        path = status == EXIT_OK ? rec_recorder_path(d->to, d->path) : NULL;
        if (status == EXIT_OK && !path) {
            status = tool_fail_library();
        }
        if (path && !r->is_new && is_same_file(path, r->files[0])) {
            status = tool_fail("split: the part %s would replace %s itself", j->parts[i].name, path);
        }
        rec_free(path);
    }
    status = status == EXIT_OK ? check_paths(j) : status;
    /* All of them, or none: what cannot be written is found before the first is. */
    for (size_t i = 0; i < j->part_count && status == EXIT_OK; i++) {
        status = tool_edit_try(j->parts[i].record, &j->parts[i].to);
    }
    return status;
}

/* Whether paths name all of a record: no key at its root is empty. */
static bool is_nameable(const rec_value *root)
{
    uint64_t count = rec_value_kind(root) == REC_KIND_MAP ? rec_value_count(root) : 0;

    for (uint64_t i = 0; i < count; i++) {
        rec_scalar key = rec_value_key(root, i);
        if (key.kind == REC_KIND_STRING && key.v.length == 0) {
            return false;
        }
    }
    return true;
}

/* Reads a file and applies all operations without writing. */
static int prepare(session *s, const request *r, size_t index, job *j)
{
    bool named;
    int status;

    j->file = r->is_new ? "new" : tool_input_name(r->files[index]);
    j->w.s = s;
    j->outcomes = xmalloc((r->step_count + 1) * sizeof *j->outcomes);
    memset(j->outcomes, 0, (r->step_count + 1) * sizeof *j->outcomes);
    status = load(s, r, index, j);
    if (status == EXIT_OK && !is_nameable(rec_root(j->w.record))) {
        status = tool_fail("%s: a key is empty at the root: paths cannot name it, so it is not edited", j->file);
    }
    status = status == EXIT_OK ? choose(s, r, index, j) : status;
    j->w.to = j->to.to;
    for (size_t i = 0; i < r->step_count && status == EXIT_OK; i++) {
        const step *todo = &r->steps[i];
        if (todo->what->run) {
            status = todo->what->run(&j->w, todo, &j->outcomes[i]);
        } else {
            status = take_apart(s, r, j);
        }
    }
    /* The result can be edited again. */
    named = is_nameable(rec_root(j->w.record));
    for (size_t i = 0; i < j->part_count && status == EXIT_OK; i++) {
        named = named && is_nameable(rec_root(j->parts[i].record));
    }
    if (status == EXIT_OK && !named) {
        status = tool_fail("%s: a key would be empty at the root: paths cannot name it", j->file);
    }
    return status == EXIT_OK ? tool_summarise(j->w.record, &j->sums) : status;
}

static int save(job *j)
{
    int status = EXIT_OK;

    if (!j->part_count) {
        return tool_edit_save(j->w.record, &j->to);
    }
    for (size_t i = 0; i < j->part_count && status == EXIT_OK; i++) {
        status = tool_edit_save(j->parts[i].record, &j->parts[i].to);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------------- run -- */

/* @param out JSON that is open, or NULL. @param try_only to see whether it can be done. */
static int run_one(session *s, const request *r, size_t index, json *out, bool try_only)
{
    job j = {0};
    double begun = tool_now();
    int status = prepare(s, r, index, &j);
    FILE *stream;

    if (status == EXIT_OK && (r->dry || try_only) && !j.part_count) {
        status = tool_edit_try(j.w.record, &j.to);
    }
    if (status == EXIT_OK && !r->dry && !try_only) {
        tool_progress_expect(s->o->precision == REC_PRECISION_KEEP ? j.sums.nbytes : 0);
        tool_progress_guard();
        status = save(&j);
    }
    if (status == EXIT_OK && !try_only) {
        j.seconds = tool_now() - begun;
        tool_progress_wipe();
        stream = strcmp(j.to.path, "-") == 0 ? stderr : stdout;
        if (out) {
            tool_edit_print_json(out, r, &j);
        } else {
            if (!s->o->quiet) {
                tool_edit_print(r, &j, stream);
            }
            tool_notes_print(&j.w.notes, s->o->quiet);
            tool_notes_print(&j.to.notes, s->o->quiet);
        }
    }
    job_free(&j, r);
    return status;
}

static int run_all(session *s, const request *r)
{
    bool several = r->file_count > 1;
    int status = EXIT_OK;
    json out;

    /* All of them, or none. */
    for (size_t i = 0; i < r->file_count && several && !r->dry && status == EXIT_OK; i++) {
        status = run_one(s, r, i, NULL, true);
    }
    if (status != EXIT_OK) {
        return status;
    }
    if (s->o->json) {
        tool_json_begin(&out, r->output && strcmp(r->output, "-") == 0 ? stderr : stdout, several ? 2 : 1);
    }
    if (s->o->json && several) {
        tool_json_array(&out, NULL);
    }
    for (size_t i = 0; i < r->file_count && status == EXIT_OK; i++) {
        status = run_one(s, r, i, s->o->json ? &out : NULL, false);
    }
    if (s->o->json && several) {
        tool_json_close(&out, ']');
    }
    if (s->o->json && (several || status == EXIT_OK)) {
        tool_json_end(&out);
    }
    return status;
}

int tool_run_edit(session *s, const char *const *operands, size_t count)
{
    request r = {0};
    int status = parse(s, &r, operands, count);

    status = status == EXIT_OK ? check(&r) : status;
    status = status == EXIT_OK ? check_readings(s, &r) : status;
    if (status == EXIT_OK) {
        tool_progress_begin(s->context, s->o->quiet);
        status = run_all(s, &r);
        tool_progress_end();
    }
    request_free(&r);
    return status;
}
