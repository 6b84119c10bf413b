/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record verify: reads all of a record, makes checks that the library leaves out, and compares tensors with their
 * checksums. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/verify/verify_private.h"

const tool_option tool_verify_options[] = {
    {"nan", NULL, 0, "NaN and infinite numbers are problems"},
    {"sums", "WHAT", 0, "write or check the SHA-256 of every tensor"},
    {"sums-file", "FILE", 0, "the file with the checksums (default: FILE.sums)"},
    {"in-metadata", NULL, 0, "store the checksums in the record's metadata"},
    {0},
};

/* ---------------------------------------------------------------------------------------------------- one file -- */

/* Whatever is wrong with a file. */
typedef struct problems {
    struct problem {
        const char *kind; /* file, data, module, state, bool, nan, sum */
        char *key, *text;
        const rec_tensor *tensor; /* of the kind nan, for its places; else NULL */
        measured_places places;
    } *at;
    size_t count;
} problems;

enum { SUMS_NONE, SUMS_WRITE, SUMS_CHECK };

/* State across the files. */
typedef struct run {
    session *s;
    input_files in;
    bool nan, in_metadata;
    int sums; /* SUMS_… */
    const char *sums_file;
    json j;
    size_t operand_count;
    uint64_t good, failed;
    state_owners model, optimizer; /* of two files */
} run;

/* A file while it is looked at. */
typedef struct checked {
    const run *r;
    const char *path;
    rec_record *record;
    bool by_position;
    listing l;
    uint64_t nan, inf, agreed, bare; /* bare: tensors that have no numbers */
    problems wrong;
    sum_list expected; /* SUMS_CHECK */
    text made;         /* SUMS_WRITE */
    char *written;     /* where sums were written; NULL: nowhere */
} checked;

/* Adds a problem. @param said is taken. */
static void add_problem(checked *c, const char *kind, const char *key, char *said)
{
    problems *p = &c->wrong;

    p->at = tool_grown(p->at, p->count, sizeof *p->at);
    p->at[p->count++] = (struct problem){.kind = kind, .key = xstrdup(key), .text = said};
}

static void free_checked(checked *c)
{
    for (size_t i = 0; i < c->wrong.count; i++) {
        free(c->wrong.at[i].key);
        free(c->wrong.at[i].text);
    }
    free(c->wrong.at);
    tool_sums_free(&c->expected);
    tool_text_free(&c->made);
    free(c->written);
    tool_listing_free(&c->l);
    rec_record_free(c->record);
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/* Bools are 0 or 1 where they are stored, too: Rust takes others for no bools at all. */
static void check_bools(checked *c, const char *key, const rec_tensor *tensor)
{
    rec_dtype stored = rec_tensor_stored_dtype(tensor);
    size_t width = rec_dtype_bits(stored) / 8;
    uint64_t size = 0, wrong = 0;
    const uint8_t *bytes;
    char number[NUMBER_ROOM];

    if (stored != REC_DTYPE_BOOL && stored != REC_DTYPE_BOOL8 && stored != REC_DTYPE_BOOL32) {
        return;
    }
    bytes = rec_tensor_bytes(tensor, &size);
    for (uint64_t i = 0; bytes && i < size; i++) {
        wrong += bytes[i] > (i % width == 0);
    }
    if (!bytes && size) {
        add_problem(c, "data", key, xstrdup(rec_error_message()));
    }
    if (wrong) {
        add_problem(c, "bool", key,
                    xasprintf("%s byte%s of its bools %s neither 0 nor 1", tool_grouped(wrong, number),
                              tool_plural(wrong), wrong == 1 ? "is" : "are"));
    }
}

static bool is_variance(const char *key)
{
    const char *dot = strrchr(key, '.');

    return strcmp(dot ? dot + 1 : key, "running_var") == 0;
}

/* Adds how many numbers of a tensor are not finite, and where the first are. */
static void add_odd(checked *c, const char *key, const rec_tensor *tensor, const measured *m)
{
    char number[NUMBER_ROOM];
    measured_places places;
    text said = {0};

    if (tool_measure_places(tensor, m, &places) != REC_OK) {
        add_problem(c, "data", key, xstrdup(rec_error_message()));
        return;
    }
    tool_text_format(&said, "%s NaN", tool_grouped(m->nan, number));
    tool_text_format(&said, ", %s infinite", tool_grouped(m->inf, number));
    tool_text_format(&said, ", of %s numbers; the first", tool_grouped(m->count, number));
    if (places.nan_count) {
        tool_text_put(&said, " NaN at ");
        tool_text_places(&said, tensor, places.nan, places.nan_count);
    }
    if (places.inf_count) {
        tool_text_put(&said, places.nan_count ? "; infinite at " : " infinite at ");
        tool_text_places(&said, tensor, places.inf, places.inf_count);
    }
    add_problem(c, "nan", key, said.at);
    c->wrong.at[c->wrong.count - 1].tensor = tensor;
    c->wrong.at[c->wrong.count - 1].places = places;
}

static void check_numbers(const run *r, checked *c, const char *key, const rec_tensor *tensor, const measured *m)
{
    char number[NUMBER_ROOM];

    c->nan += m->nan;
    c->inf += m->inf;
    if (is_variance(key) && m->min < 0) {
        add_problem(c, "module", key,
                    xasprintf("a variance is less than zero: %s", tool_float_text(m->min, REC_DTYPE_F32, number)));
    }
    if (r->nan && (m->nan || m->inf)) {
        add_odd(c, key, tensor, m);
    }
}

static void check_sum(const run *r, checked *c, const char *key, const uint8_t sum[MEASURE_SUM_BYTES])
{
    sum_line *line = r->sums == SUMS_CHECK ? tool_sums_find(&c->expected, key) : NULL;

    if (r->sums == SUMS_WRITE) {
        tool_sums_add(&c->made, key, sum);
    } else if (line) {
        line->seen = true;
        if (memcmp(line->sum, sum, MEASURE_SUM_BYTES) == 0) {
            c->agreed++;
        } else {
            add_problem(c, "sum", key, xstrdup("its values, type or shape changed: the checksum differs"));
        }
    } else if (r->sums == SUMS_CHECK) {
        add_problem(c, "sum", key, xstrdup("it has no checksum"));
    }
}

static int check_tensor(void *user, size_t i, const measured_tensor *t)
{
    checked *c = user;
    const run *r = c->r;
    const char *key = c->l.tensors[i].path;

    if (t->status != REC_OK) {
        add_problem(c, "data", key, xstrdup(rec_error_message()));
        return EXIT_OK;
    }
    if (t->numeric) {
        check_numbers(r, c, key, t->tensor, &t->m);
        check_bools(c, key, t->tensor);
    } else {
        uint64_t size = 0;
        c->bare++;
        if (!rec_tensor_bytes(t->tensor, &size) && rec_error_status() != REC_OK) {
            add_problem(c, "data", key, xstrdup(rec_error_message()));
        }
    }
    if (r->sums) {
        check_sum(r, c, key, t->sum);
    }
    rec_tensor_release(t->tensor, 0, REC_UNKNOWN);
    return EXIT_OK;
}

static unsigned what_to_measure(const run *r)
{
    return r->sums ? MEASURE_NUMBERS | MEASURE_SUM : MEASURE_NUMBERS;
}

static int check_tensors(run *r, checked *c)
{
    const rec_origin *origin = rec_record_origin(c->record);
    uint64_t total = origin->inflated == REC_UNKNOWN || origin->inflated < c->l.nbytes ? c->l.nbytes : origin->inflated;

    return tool_measure_each(r->s, "verify", total, c->l.handles, c->l.tensor_count, what_to_measure(r), check_tensor,
                             c);
}

/* -------------------------------------------------------------------------------------------------------- sums -- */

/* The metadata that sums are in. */
#define SUMS_KEY "sha256"

static char *sums_path(const run *r, const checked *c)
{
    return r->sums_file ? xstrdup(r->sums_file) : xasprintf("%s.sums", c->path);
}

static int read_expected(run *r, checked *c)
{
    const char *lines = r->in_metadata ? rec_metadata(c->record, SUMS_KEY) : NULL;
    char *path;
    int status;

    if (r->in_metadata && !lines) {
        return tool_fail("%s: its metadata have no checksums\nCreate them: record verify --sums write --in-metadata.",
                         tool_input_name(c->path));
    }
    if (r->in_metadata) {
        return tool_sums_parse(&c->expected, lines, tool_input_name(c->path));
    }
    path = sums_path(r, c);
    status = tool_sums_read(&c->expected, path);
    free(path);
    return status;
}

static int32_t discard(void *user, const void *data, uint64_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return 0;
}

/* Whether the format keeps the sums: what it leaves out it tells. */
static bool keeps_metadata(rec_recorder *recorder, const rec_record *record, bool *failed)
{
    rec_output nowhere = {.size = sizeof nowhere, .name = "(nowhere)", .write = discard};

    *failed = rec_save_to(recorder, record, &nowhere, NULL) != REC_OK;
    for (uint64_t i = 0; i < rec_report_count() && rec_report_note(i); i++) {
        if (rec_report_note(i)->kind == REC_NOTE_DROPPED) {
            return false;
        }
    }
    return true;
}

/* Saves the record again, with the checksums in its metadata. */
static int write_metadata(run *r, checked *c)
{
    rec_recorder *recorder =
        rec_open_recorder_in(r->s->context, rec_record_origin(c->record)->recorder, REC_PRECISION_KEEP);
    /* Nothing but the metadata is to be another: the file stays one of its version of Burn. */
    bool failed = !recorder || rec_recorder_set(recorder, "layout", "keep") != REC_OK ||
                  rec_metadata_set(c->record, SUMS_KEY, c->made.at ? c->made.at : "") != REC_OK;
    char *path = failed ? NULL : rec_recorder_path(recorder, c->path);
    struct stat st;
    int status = EXIT_OK;

    if (path &&
        (strcmp(path, c->path) != 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || strstr(path, ".index.json"))) {
        status = tool_fail("%s: checksums go into the metadata of one file with the extension of its recorder\n"
                           "Without --in-metadata they go to FILE.sums.",
                           c->path);
    } else if (!failed && !keeps_metadata(recorder, c->record, &failed) && !failed) {
        status = tool_fail("%s: %s cannot store the checksums in its metadata\n"
                           "Without --in-metadata they go to FILE.sums.",
                           c->path, rec_recorder_name(recorder));
    } else if (failed) {
        status = tool_fail_library();
    } else if (tool_progress_guard(), (status = tool_saved(rec_save(recorder, c->record, c->path))) == EXIT_OK) {
        c->written = xstrdup("the metadata");
    }
    rec_free(path);
    rec_close_recorder(recorder);
    return status;
}

/* A file without names shows its parameters alone, and constants between them are small: much that is neither is a
 * parameter that was not found, as that at the end of a file that was cut. */
static void check_rest(checked *c)
{
    enum { FEW = 4096 };
    const rec_origin *origin = rec_record_origin(c->record);
    uint64_t found = c->l.nbytes, rest;
    char number[NUMBER_ROOM];

    rest = origin->inflated != REC_UNKNOWN && origin->inflated > found ? origin->inflated - found : 0;
    if (rest > FEW && rest > origin->inflated / 4) {
        add_problem(c, "rest", "",
                    xasprintf("%s bytes belong to no parameter that was found, so the file may be truncated or "
                              "something else; with its type all of it is checked",
                              tool_grouped(rest, number)));
    }
}

/* Writes the checksums to the requested place. */
static int write_sums(run *r, checked *c)
{
    char *path;
    int status;

    if (r->in_metadata) {
        return write_metadata(r, c);
    }
    path = sums_path(r, c);
    status = tool_sums_write(&c->made, path);
    if (status == EXIT_OK) {
        c->written = path;
    } else {
        free(path);
    }
    return status;
}

/* By the first of several processes, for which the others wait: the next file may be this one again. */
static int write_for_all(run *r, checked *c)
{
    const tool_shared *shared = r->s->shared;
    int status = shared->first ? write_sums(r, c) : EXIT_OK;
    int answer = shared->agree(shared->self, tool_saved_status(status));

    if (answer < 0) {
        r->in.ended = true;
        return EXIT_ERROR;
    }
    if (answer == EXIT_UNSYNCED && !shared->first) {
        tool_saved_unsynced(c->path);
    }
    return answer == EXIT_UNSYNCED ? status : answer;
}

static int finish_sums(run *r, checked *c)
{
    for (size_t i = 0; i < c->expected.count; i++) {
        if (!c->expected.lines[i].seen) {
            add_problem(c, "sum", c->expected.lines[i].key, xstrdup("it has a checksum, but is not in the record"));
        }
    }
    if (r->sums != SUMS_WRITE || c->wrong.count) {
        return EXIT_OK; /* a file that fails gets no sums */
    }
    return write_for_all(r, c);
}

/* ----------------------------------------------------------------------------------------------------- telling -- */

static void print_problems(const run *r, const checked *c)
{
    enum { SHOWN = 20 };
    char number[NUMBER_ROOM];

    for (size_t i = 0; i < c->wrong.count; i++) {
        const struct problem *p = &c->wrong.at[i];
        text line = {0};
        if (strcmp(p->kind, "file") == 0) {
            continue; /* that was the error, which was printed */
        }
        if (i == SHOWN && c->wrong.count > SHOWN + 1 && !r->s->o->all) {
            printf("  … and %s more (--all lists every one)\n", tool_grouped(c->wrong.count - SHOWN, number));
            return;
        }
        tool_text_name(&line, p->key);
        printf("  %s%s", line.at, *line.at ? ": " : "");
        tool_text_free(&line);
        tool_print_lines(stdout, "", "    ", p->text);
    }
}

static void print_people(const run *r, const checked *c)
{
    char number[NUMBER_ROOM];

    if (r->s->o->quiet && !c->wrong.count) {
        return;
    }
    fputs(c->wrong.count ? tool_style(STYLE_BOLD) : "", stdout);
    tool_print_safe(stdout, tool_input_name(c->path));
    printf(": %s%s", c->wrong.count ? "FAILED" : "ok", c->wrong.count ? tool_style(STYLE_PLAIN) : "");
    if (c->record) {
        printf(": %s tensor%s", tool_grouped(c->l.tensor_count, number), tool_plural(c->l.tensor_count));
        printf(", %s", tool_sized(c->l.nbytes, number));
        if (r->sums == SUMS_CHECK) {
            printf("; %s sum%s", tool_grouped(c->agreed, number), tool_plural(c->agreed));
            printf(" agree%s", c->agreed == 1 ? "s" : "");
        } else if (c->written) {
            fputs("; checksums written to ", stdout);
            tool_print_safe(stdout, c->written);
        }
        if ((c->nan || c->inf) && !r->nan) {
            printf("; %s NaN", tool_grouped(c->nan, number));
            printf(", %s infinite", tool_grouped(c->inf, number));
        }
    }
    putchar('\n');
    print_problems(r, c);
    if (c->by_position) {
        puts("  It has no names: bytes between its parameters were not checked. --type TYPE\n  or --type-of RECORD "
             "checks all of it.");
    }
    if (r->sums == SUMS_WRITE && !c->written && c->wrong.count) {
        puts("  No checksums were written.");
    }
}

static void print_json(run *r, const checked *c, const notes *n)
{
    json *j = &r->j;

    tool_json_object(j, NULL);
    tool_json_string(j, "file", c->path);
    tool_json_bool(j, "ok", c->wrong.count == 0);
    tool_json_string(j, "recorder", c->record ? rec_record_origin(c->record)->recorder : NULL);
    tool_json_bool(j, "named", c->record && !c->by_position);
    tool_json_uint(j, "tensors", c->l.tensor_count);
    tool_json_uint(j, "values", c->l.value_count);
    tool_json_uint(j, "nbytes", c->l.nbytes);
    tool_json_uint(j, "nan", c->nan);
    tool_json_uint(j, "inf", c->inf);
    tool_json_uint(j, "sums", c->agreed);
    tool_json_string(j, "sums_written", c->written);
    tool_json_array(j, "problems");
    for (size_t i = 0; i < c->wrong.count; i++) {
        tool_json_object(j, NULL);
        tool_json_string(j, "kind", c->wrong.at[i].kind);
        tool_json_string(j, "key", c->wrong.at[i].key);
        tool_json_string(j, "text", c->wrong.at[i].text);
        if (c->wrong.at[i].tensor) {
            tool_json_places(j, c->wrong.at[i].tensor, &c->wrong.at[i].places);
        }
        tool_json_close(j, '}');
    }
    tool_json_close(j, ']');
    tool_json_notes(j, "notes", n);
    tool_json_close(j, '}');
}

/* ------------------------------------------------------------------------------------- a model and its optimizer -- */

/* @param optimizer `c` is the optimizer, which was read after the model */
static void compare_states(const run *r, checked *c, bool optimizer, notes *n)
{
    const char *other = optimizer ? r->model.file : r->optimizer.file, *key;

    for (size_t at = 0; (key = tool_states_lacking(&r->optimizer, &r->model, &at));) {
        add_problem(c, "state", key,
                    xasprintf(optimizer ? "the state of a parameter that is not in %s"
                                        : "%s has the state of a parameter that is not here",
                              other));
    }
    for (size_t at = 0; (key = tool_states_lacking(&r->model, &r->optimizer, &at));) {
        tool_notes_add(
            n, REC_NOTE_CHECK, key,
            xasprintf(optimizer ? "a parameter of %s without a state here" : "a parameter without a state in %s",
                      other));
    }
}

/* Of two files, compares the states of the one with the parameters of the other once both were read. */
static int check_states(run *r, checked *c, notes *n)
{
    state_owners own;
    bool optimizer;

    if (r->operand_count != 2 || r->in.count != 2 || c->by_position) {
        return EXIT_OK;
    }
    if (tool_states_list(c->record, tool_input_name(c->path), &own, &optimizer) != EXIT_OK) {
        tool_states_free(&own);
        return EXIT_ERROR;
    }
    tool_states_free(optimizer ? &r->optimizer : &r->model);
    *(optimizer ? &r->optimizer : &r->model) = own;
    if (r->model.count && r->optimizer.count) {
        compare_states(r, c, optimizer, n);
    }
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------------ a file -- */

/* Whether a load that failed says that the file is bad; else it could not be looked at. */
static bool is_verdict(rec_status status)
{
    return status == REC_E_FORMAT || status == REC_E_MISMATCH || status == REC_E_RANGE || status == REC_E_LIMIT ||
           status == REC_E_UNSUPPORTED || status == REC_E_TYPE;
}

/* Tensors that do not go together in a module are a failure here. That a layer lacks what its siblings have may be
 * meant: it stays a note, like all others. */
static void take_notes(checked *c, notes *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n->kept; i++) {
        struct note *note = &n->at[i];
        if (note->kind == REC_NOTE_SHAPE && strstr(note->text, "do not go together")) {
            add_problem(c, "module", note->path, note->text);
            free(note->path);
            n->made--;
        } else {
            n->at[kept++] = *note;
        }
    }
    n->kept = kept;
}

/* @return EXIT_OK, EXIT_DIFFERS if the file failed, EXIT_ERROR if it could not be checked, with the error printed. */
static int run_file(void *user, const char *path)
{
    run *r = user;
    rec_recorder *recorder = tool_session_look(r->s, 1);
    bool opened = recorder != NULL;
    checked c = {.r = r, .path = path};
    notes n = {0};
    int status = EXIT_OK;

    if (opened && rec_recorder_set(recorder, "modules", "yes") == REC_OK) {
        c.record = tool_session_read(r->s, recorder, path, &c.by_position);
        tool_notes_take(&n);
    }
    tool_progress_begin(r->s->context, r->s->o->quiet);
    if (c.record) {
        take_notes(&c, &n);
        status = r->sums == SUMS_CHECK ? read_expected(r, &c) : EXIT_OK;
        status = status == EXIT_OK ? tool_listing_gather(c.record, NULL, true, &c.l) : status;
    }
    if (tool_measure_together(r->s, path, c.record ? (uint64_t)status : (uint64_t)rec_error_status(), c.l.handles,
                              c.l.tensor_count, what_to_measure(r)) != EXIT_OK) {
        r->in.ended = true;
        status = EXIT_ERROR;
    } else if (c.record) {
        status = status == EXIT_OK ? check_tensors(r, &c) : status;
        if (status == EXIT_OK && c.by_position) {
            check_rest(&c);
        }
        status = status == EXIT_OK ? check_states(r, &c, &n) : status;
        tool_progress_wipe();
        status = status == EXIT_OK ? finish_sums(r, &c) : status;
    } else if (opened && is_verdict(rec_error_status())) {
        add_problem(&c, "file", "", xstrdup(rec_error_message()));
    } else {
        status = EXIT_ERROR;
    }
    tool_progress_end();
    if (status == EXIT_OK) {
        status = c.wrong.count ? EXIT_DIFFERS : EXIT_OK;
        r->good += status == EXIT_OK;
        r->failed += status != EXIT_OK;
        if (r->s->o->json) {
            print_json(r, &c, &n);
        } else {
            print_people(r, &c);
            (void)fflush(stdout); /* before what is noted of this one */
            tool_notes_print(&n, r->s->o->quiet || c.by_position);
        }
    }
    tool_measure_end(r->s);
    tool_notes_free(&n);
    free_checked(&c);
    return status;
}

static int read_options(run *r)
{
    const options *o = r->s->o;
    const char *what = tool_own(o, "sums");

    r->nan = tool_own(o, "nan") != NULL;
    r->in_metadata = tool_own(o, "in-metadata") != NULL;
    r->sums_file = tool_own(o, "sums-file");
    if (what && strcmp(what, "write") != 0 && strcmp(what, "check") != 0) {
        return tool_fail("--sums: expected write or check, found \"%s\"", what);
    }
    r->sums = !what ? SUMS_NONE : *what == 'w' ? SUMS_WRITE : SUMS_CHECK;
    if (!what && (r->sums_file || r->in_metadata)) {
        return tool_fail_usage("verify", "--%s needs --sums write or --sums check",
                               r->sums_file ? "sums-file" : "in-metadata");
    }
    if (r->sums_file && r->in_metadata) {
        return tool_fail_usage("verify", "checksums are either in a file or in the metadata");
    }
    return EXIT_OK;
}

/* Checks that it is known where the sums are. */
static int check_inputs(const run *r)
{
    if (r->sums_file && r->in.count > 1) {
        return tool_fail_usage("verify", "--sums-file is for one file, found %zu", r->in.count);
    }
    for (size_t i = 0; i < r->in.count; i++) {
        bool stream = strcmp(r->in.files[i], "-") == 0 || strstr(r->in.files[i], "://");
        if (stream && r->sums && !r->sums_file && !(r->in_metadata && r->sums == SUMS_CHECK)) {
            return tool_fail_usage("verify", "%s: it has no companion file; use --sums-file FILE",
                                   tool_input_name(r->in.files[i]));
        }
    }
    return EXIT_OK;
}

int tool_run_verify(session *s, const char *const *operands, size_t count)
{
    run r = {.s = s, .operand_count = count};
    int status = read_options(&r);
    char number[NUMBER_ROOM];

    tool_session_streams(s);
    if (status == EXIT_OK) {
        status = tool_inputs_find(s, operands, count, false, &r.in);
    }
    if (status == EXIT_OK) {
        status = check_inputs(&r);
    }
    if (status == EXIT_OK && !tool_inputs_same(s, &r.in)) {
        status = EXIT_ERROR;
    }
    status = status == EXIT_OK ? tool_inputs_each(s, &r.in, 2, &r.j, run_file, &r) : status;
    if (!s->o->json && r.in.several && (r.good || r.failed) && (!s->o->quiet || r.failed)) {
        printf("%s ok", tool_grouped(r.good, number));
        printf(", %s failed", tool_grouped(r.failed, number));
        if (r.in.passed_over) {
            printf(", %s no record%s", tool_grouped(r.in.passed_over, number), tool_plural(r.in.passed_over));
        }
        putchar('\n');
    }
    tool_states_free(&r.model);
    tool_states_free(&r.optimizer);
    tool_inputs_free(&r.in);
    return status;
}
