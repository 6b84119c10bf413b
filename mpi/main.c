/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record-mpi: record convert, diff, verify and stats with MPI. Every rank runs the same command. Rank 0 prints; a
 * failure on any rank is printed once, with the rank and its host. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <librecord/mpi.h>
#include <librecord/parallel.h>

#include "common/names.h"
#include "tools/tool.h"

static const char usage[] = "Usage: mpirun -n N record-mpi convert [OPTION]... IN... OUT\n"
                            "       mpirun -n N record-mpi diff [OPTION]... A B\n"
                            "       mpirun -n N record-mpi verify [OPTION]... FILE...\n"
                            "       mpirun -n N record-mpi stats [OPTION]... FILE... [KEY]...\n"
                            "Performs the commands of `record` with N processes and the same results: each reads,\n"
                            "converts and writes a part of the file, or reads a part of its tensors. record help\n"
                            "options lists the options. Additional options of convert:\n"
                            "      --hint KEY=VALUE  a hint for MPI-IO, such as cb_nodes=8 (repeatable)\n"
                            "      --resume          resume an interrupted run of the same command; keep partial\n"
                            "                        output for the next --resume\n"
                            "convert --recursive, and several files to a directory: one process for each file.\n"
                            "Standard input and output are not supported. The exit status is that of record.";

/* State of a command that all ranks run. */
typedef struct across {
    int rank, ranks;
    bool ended; /* a failure is known to all ranks */
    bool told;  /* all ranks ended alike, and rank 0 has printed the outcome */
    text errors;
    bool saved;
    char **arguments; /* without record-mpi's own options */
    MPI_Info hints;
    bool resume, check; /* from the options of the same names */
    bool files;         /* each of many files is for one rank */
    uint64_t identity;  /* of the conversion */
    rec_mpi_report report;
    notes notes;
} across;

/* --------------------------------------------------------------------------------------- what convert asks for -- */

static int agree(void *self, int answer)
{
    across *a = self;
    if (rec_mpi_agree(MPI_COMM_WORLD, REC_OK, NULL) != REC_OK) {
        a->ended = true;
        return -1;
    }
    (void)MPI_Bcast(&answer, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return answer;
}

static void take_note(void *self, const rec_note *note)
{
    across *a = self;
    tool_notes_add(&a->notes, note->kind, note->path, xstrdup(note->text));
    a->notes.at[a->notes.kept - 1].count = note->count;
}

static int save(void *self, rec_recorder *to, const rec_record *record, const char *out, notes *n, bool *checked)
{
    across *a = self;
    const rec_mpi_options told = {.size = sizeof told,
                                  .hints = a->hints,
                                  .has_hints = 1,
                                  .note = take_note,
                                  .user = a,
                                  .check = a->check,
                                  .resume = a->resume,
                                  .identity = a->identity};
    rec_status status;
    a->report.size = sizeof a->report;
    status = rec_mpi_save(MPI_COMM_WORLD, to, record, out, &told, &a->report);
    tool_notes_append(n, &a->notes);
    a->saved = status == REC_OK || status == REC_E_SYNC;
    a->ended = !a->saved;
    *checked = a->check;
    return a->saved ? tool_saved(status) : EXIT_ERROR;
}

static bool into_folder(void *self, const char *out)
{
    (void)out;
    return ((across *)self)->files;
}

/* ------------------------------------------------------------------------- what diff, verify and stats ask for -- */

static bool end_of(across *a, rec_status status)
{
    a->ended = a->ended || status != REC_OK;
    return !a->ended;
}

static bool together(void *self, const char *path, uint64_t outcome, const char *said)
{
    across *a = self;
    uint64_t mine[] = {outcome, ~outcome, said != NULL}, most[3] = {0}, first = outcome;
    char why[4096];
    bool apart;

    if (a->ended || !end_of(a, rec_mpi_agree(MPI_COMM_WORLD, REC_OK, NULL))) {
        return false;
    }
    if (path && !strstr(path, "://") && !end_of(a, rec_mpi_same_file(MPI_COMM_WORLD, path))) {
        return false;
    }
    (void)MPI_Allreduce(mine, most, 3, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (most[0] == ~most[1]) {
        return true;
    }
    (void)MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    apart = most[2] ? said != NULL : outcome != first;
    (void)snprintf(why, sizeof why, "%s%s%s", path ? path : "", path ? ": " : "",
                   a->errors.length ? a->errors.at : "the files found here differ from those of rank 0");
    return end_of(a, rec_mpi_agree(MPI_COMM_WORLD, apart ? REC_E_MISMATCH : REC_OK, said ? said : why));
}

static bool exchange(void *self, void *all, const uint64_t *ends)
{
    across *a = self;
    int *sizes = xmalloc(2 * (size_t)a->ranks * sizeof *sizes), *places = sizes + a->ranks;
    bool fits = ends[a->ranks - 1] <= INT32_MAX, met;
    rec_status status;

    for (int i = 0; i < a->ranks && fits; i++) {
        places[i] = i ? (int)ends[i - 1] : 0;
        sizes[i] = (int)ends[i] - places[i];
    }
    met = !a->ended &&
          end_of(a, rec_mpi_agree(MPI_COMM_WORLD, fits ? REC_OK : REC_E_LIMIT, "too many tensors for one message"));
    if (met) {
        status = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, sizes, places, MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS
                     ? REC_OK
                     : REC_E_IO;
        met = end_of(a, rec_mpi_agree(MPI_COMM_WORLD, status, "MPI failed"));
    }
    free(sizes);
    return met;
}

/* ------------------------------------------------------------------------------------------------- the command -- */

/* Takes its own options out of the command line. */
static int take_own(across *a, int *argc, char **argv)
{
    int kept = 0;
    a->arguments = argv;
    (void)MPI_Info_create(&a->hints);
    for (int i = 0; i < *argc; i++) {
        static const char name[] = "--hint";
        const size_t length = sizeof name - 1;
        char *setting = NULL, *value;
        if (strcmp(argv[i], "--") == 0) {
            while (i < *argc) {
                argv[kept++] = argv[i++];
            }
            break;
        }
        if (strcmp(argv[i], "--resume") == 0) {
            a->resume = true;
            continue;
        }
        if (strcmp(argv[i], name) == 0) {
            setting = i + 1 < *argc ? argv[++i] : NULL;
        } else if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') {
            setting = argv[i] + length + 1;
        } else {
            argv[kept++] = argv[i];
            continue;
        }
        value = setting ? strchr(setting, '=') : NULL;
        if (!value || value == setting || value - setting >= MPI_MAX_INFO_KEY ||
            strlen(value + 1) >= MPI_MAX_INFO_VAL) {
            return tool_fail("--hint takes KEY=VALUE, as MPI-IO knows them");
        }
        setting = xasprintf("%.*s", (int)(value - setting), setting);
        (void)MPI_Info_set(a->hints, setting, value + 1);
        free(setting);
    }
    argv[kept] = NULL;
    *argc = kept;
    return EXIT_OK;
}

/* Rejects options that a parallel save cannot honour, and output files that one process alone could write. */
static int check(const across *a, const options *o, bool files)
{
    const char *left = NULL;
    for (size_t i = 1; i < o->operands.count && !left; i++) {
        left = strcmp(o->operands.at[i], "-") == 0 ? "standard input and output" : NULL;
    }
    if (!left && a->resume && (files || strcmp(o->operands.at[0], "convert") != 0)) {
        return tool_fail("--resume is for convert to one file");
    }
    return left ? tool_fail("not by record-mpi: %s\nUse record %s.", left, o->operands.at[0]) : EXIT_OK;
}

/* Whether files are converted each by itself, of a folder or into one: the first rank knows. */
static bool is_of_files(across *a, const options *o, bool converts)
{
    const char *out = converts && o->operands.count > 1 ? o->operands.at[o->operands.count - 1] : "";
    int files = converts && (o->recursive || tool_is_folder(out));

    if (!end_of(a, rec_mpi_agree(MPI_COMM_WORLD, REC_OK, NULL))) {
        return false;
    }
    (void)MPI_Bcast(&files, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return files;
}

static int same_files(across *a, const options *o, size_t inputs)
{
    rec_status status = REC_OK;
    for (size_t i = 0; i <= inputs && status == REC_OK; i++) {
        const char *path = i < inputs ? o->operands.at[i + 1] : o->base;
        status = path && !strstr(path, "://") ? rec_mpi_same_file(MPI_COMM_WORLD, path) : REC_OK;
    }
    a->ended = status != REC_OK;
    return a->ended ? EXIT_ERROR : EXIT_OK;
}

/* Rank 0 reads the headers of the inputs for all ranks. Inputs that cannot be opened are reported later, by the load.
 */
static int show_files(across *a, const session *s, size_t inputs)
{
    rec_status status = rec_mpi_agree(MPI_COMM_WORLD, REC_OK, NULL);

    for (size_t i = 0; i <= inputs && status == REC_OK; i++) {
        const char *path = i < inputs ? s->o->operands.at[i + 1] : s->o->base;
        const char *reader = a->rank == 0 && path && !strstr(path, "://") ? rec_recognise(s->context, path) : NULL;
        char name[256] = "";
        rec_recorder *recorder;

        (void)snprintf(name, sizeof name, "%s", reader ? reader : "");
        (void)MPI_Bcast(name, (int)sizeof name, MPI_BYTE, 0, MPI_COMM_WORLD);
        recorder = *name ? rec_open_recorder_in(s->context, name, REC_PRECISION_KEEP) : NULL;
        status = rec_mpi_show(MPI_COMM_WORLD, recorder, tool_name_opened(path).secret);
        rec_close_recorder(recorder);
    }
    a->ended = status != REC_OK;
    return a->ended ? EXIT_ERROR : EXIT_OK;
}

/* What this rank works with: a word each for librecord and the plugins that can be used, sorted, each ending in a line
 * feed.
 * @return to be freed. */
static char *versions_of(rec_context *context)
{
    uint64_t count = rec_plugin_count(context);
    char **lines = xmalloc((size_t)(count + 1) * sizeof *lines);
    size_t found = 0;
    text all = {0};

    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *p = rec_plugin_get(context, i);
        if (p->usable) {
            lines[found++] = xasprintf("plugin %s %s\n", p->name, *p->version ? p->version : "without a version");
        }
    }
    qsort(lines, found, sizeof *lines, lr_by_text);
    tool_text_format(&all, "librecord %s\n", rec_version_string());
    for (size_t i = 0; i < found; i++) {
        tool_text_put(&all, lines[i]);
        free(lines[i]);
    }
    free(lines);
    return all.at;
}

/* Returns the first line of `one` that `other` lacks, without its newline; NULL if it lacks none. The caller frees it.
 */
static char *line_of_one(const char *one, const char *other)
{
    for (const char *end; *one; one = end + 1) {
        char *line;
        const char *at;
        end = strchr(one, '\n');
        line = xasprintf("%.*s", (int)(end + 1 - one), one);
        at = strstr(other, line);
        while (at && at != other && at[-1] != '\n') {
            at = strstr(at + 1, line);
        }
        if (!at) {
            line[end - one] = '\0';
            return line;
        }
        free(line);
    }
    return NULL;
}

/* Whether all ranks have the librecord and the plugins that rank 0 has, before anything is read by them. */
static int same_versions(across *a, const session *s)
{
    char *mine = versions_of(s->context), *first = mine, *here, *there;
    uint64_t size = strlen(mine) + 1;
    text why = {0};
    rec_status status;

    (void)MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    first = a->rank == 0 ? mine : xmalloc((size_t)size);
    (void)MPI_Bcast(first, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    here = line_of_one(mine, first);
    there = line_of_one(first, mine);
    if (here || there) {
        tool_text_format(&why, "%s%s%s%s%s", here ? here : "", here ? " here" : "", here && there ? ", " : "",
                         there ? there : "", there ? " on rank 0" : "");
        tool_text_put(&why, !there ? ", which rank 0 has not" : !here ? ", which is not here" : "");
    }
    status = rec_mpi_agree(MPI_COMM_WORLD, why.length ? REC_E_MISMATCH : REC_OK, why.at);
    if (first != mine) {
        free(first);
    }
    free(mine);
    free(here);
    free(there);
    tool_text_free(&why);
    return end_of(a, status) ? EXIT_OK : EXIT_ERROR;
}

/* All ranks run it, and rank 0 tells. */
static int look(across *a, session *s, const command *c, const options *o)
{
    int status;

    if (a->rank == 0) {
        (void)tool_fail_divert(NULL);
    }
    status = tool_saved_status(tool_command_run(c, s, o->operands.at + 1, o->operands.count - 1));
    (void)tool_fail_divert(&a->errors);
    if (status != EXIT_ERROR && rec_guard_check(NULL) != REC_OK) {
        status = tool_fail_library();
    }
    a->told = together(a, NULL, (uint64_t)status, NULL);
    return a->told ? status : EXIT_ERROR;
}

/* A file that was named: what it says if it is small, as what tells how to convert is; else its size and the time of
 * its last change. */
static uint64_t add_file(uint64_t sum, const char *path)
{
    enum { SMALL = 1 << 20 };
    struct stat is;
    FILE *file;
    char some[4096];
    size_t got;

    if (stat(path, &is) != 0 || !S_ISREG(is.st_mode)) {
        return sum;
    }
    sum = lr_fnv(sum, &is.st_size, sizeof is.st_size);
    if (is.st_size > SMALL) {
        sum = lr_fnv(sum, &is.st_mtim.tv_sec, sizeof is.st_mtim.tv_sec);
        return lr_fnv(sum, &is.st_mtim.tv_nsec, sizeof is.st_mtim.tv_nsec);
    }
    file = fopen(path, "rb");
    while (file && (got = fread(some, 1, sizeof some, file)) > 0) {
        sum = lr_fnv(sum, some, got);
    }
    if (file) {
        (void)fclose(file);
    }
    return sum;
}

/* Returns a hash that identifies this conversion: the options, the input files, and the companion files that describe
 * models. On rank 0. */
static uint64_t identify(const across *a, const session *s, size_t inputs)
{
    const char *out = s->o->operands.at[inputs + 1];
    uint64_t sum = lr_fnv(LR_FNV_BEGIN, rec_version_string(), strlen(rec_version_string()));

    for (char **word = a->arguments + 1; *word; word++) {
        const char *value = strchr(*word, '=');
        sum = lr_fnv(sum, *word, strlen(*word) + 1);
        if (strcmp(*word, out) != 0) { /* which may be there, and is replaced */
            sum = add_file(sum, *word);
            sum = value ? add_file(sum, value + 1) : sum;
        }
    }
    for (size_t i = 0; i <= inputs; i++) {
        const char *path = i < inputs ? s->o->operands.at[i + 1] : s->o->base,
                   *slash = path ? strrchr(path, '/') : NULL;
        const char *name = path && !strstr(path, "://") ? rec_recognise(s->context, path) : NULL;
        rec_recorder *recorder = name ? rec_open_recorder_in(s->context, name, REC_PRECISION_KEEP) : NULL;
        char *beside = path ? xasprintf("%.*sconfig.json", slash ? (int)(slash - path) + 1 : 0, path) : NULL;
        void *files = NULL;
        uint64_t size = 0;

        if (recorder && rec_files_look(recorder, tool_name_opened(path).secret, &files, &size) == REC_OK) {
            sum = lr_fnv(sum, files, size);
        }
        sum = beside ? add_file(sum, beside) : sum;
        rec_free(files);
        rec_close_recorder(recorder);
        free(beside);
    }
    return sum;
}

static int run(across *a, const options *o)
{
    tool_shared shared = {.self = a,
                          .first = a->rank == 0,
                          .rank = (uint32_t)a->rank,
                          .ranks = (uint32_t)a->ranks,
                          .agree = agree,
                          .into_folder = into_folder,
                          .save = save,
                          .together = together,
                          .exchange = exchange};
    const command *c = o->operands.count ? tool_command_find(o->operands.at[0]) : NULL;
    size_t count = o->operands.count ? o->operands.count - 1 : 0;
    bool converts;
    session s;
    int status;

    if (o->version && a->rank == 0) {
        printf("record-mpi (librecord) %s\n", rec_version_string());
    }
    if (o->help && a->rank == 0) {
        puts(usage);
    }
    if (o->version || o->help) {
        return EXIT_OK;
    }
    if (!c || !(c->bit & (COMMAND_CONVERT | COMMAND_DIFF | COMMAND_VERIFY | COMMAND_STATS))) {
        return tool_fail("record-mpi has the commands convert, diff, verify and stats; record has all others\n%s",
                         "mpirun -n N record-mpi convert [OPTION]... IN... OUT");
    }
    converts = c->bit == COMMAND_CONVERT;
    if ((status = tool_options_check(o, c)) != EXIT_OK) {
        return status;
    }
    shared.files = a->files = is_of_files(a, o, converts);
    shared.writes = shared.first || shared.files;
    if (shared.files) {
        shared.save = tool_alone.save;
    }
    if (a->ended || (status = check(a, o, shared.files)) != EXIT_OK) {
        return EXIT_ERROR;
    }
    if (count < c->least || count > c->most) {
        return tool_fail("expected record-mpi %s %s, found %zu operand%s", c->name,
                         converts                 ? "IN... OUT"
                         : c->bit == COMMAND_DIFF ? "A B"
                                                  : "FILE...",
                         count, tool_plural(count));
    }
    if ((status = converts ? same_files(a, o, count - 1) : EXIT_OK) == EXIT_OK &&
        (status = tool_session_open(&s, o)) == EXIT_OK) {
        s.shared = &shared;
        status = same_versions(a, &s);
        status = status == EXIT_OK && !shared.files ? show_files(a, &s, converts ? count - 1 : count) : status;
        if (status == EXIT_OK && a->resume) {
            a->identity = a->rank == 0 ? identify(a, &s, count - 1) : 0;
            (void)MPI_Bcast(&a->identity, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        }
        a->check = o->check;
        status = status != EXIT_OK           ? status
                 : converts && !shared.files ? tool_command_run(c, &s, o->operands.at + 1, count)
                                             : look(a, &s, c, o);
        tool_session_close(&s);
    }
    return status;
}

static void print_report(const rec_mpi_report *r)
{
    char number[NUMBER_ROOM];
    double rate = r->write > 0 ? (double)r->bytes / r->write : 0;
    printf("  %d rank%s: layout %.2f s, %s written in %.2f s (%.0f MB/s), sync and rename %.2f s\n", r->ranks,
           tool_plural((uint64_t)r->ranks), r->layout, tool_sized(r->bytes, number), r->write, rate / 1e6, r->commit);
    if (r->resumed == 2) {
        puts("  the partial output of another conversion was discarded");
    } else if (r->resumed) {
        printf("  of that %s were kept from an earlier conversion\n", tool_sized(r->kept, number));
    }
    if (r->ranks > 1) {
        printf("  slowest: rank %d (%s), %.2f times the mean\n", r->slowest, r->slowest_host,
               r->write_mean > 0 ? r->write / r->write_mean : 1.0);
    }
}

int main(int argc, char **argv)
{
    across a = {0};
    options o = {0};
    int provided, status;
    bool printed;

    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        return tool_fail("MPI does not start: run it by mpirun");
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &a.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &a.ranks);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error in words */
    (void)tool_fail_divert(&a.errors);
    if (a.rank != 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))) {
        (void)tool_fail("cannot open /dev/null");
    }
    status = take_own(&a, &argc, argv);
    status = status == EXIT_OK ? tool_options_parse(&o, argc, argv) : status;
    /* What mpirun gives a rank looks like a terminal, wherever it sends it on to. */
    tool_output_plain();
    tool_output_setup(o.color == COLOR_AUTO ? COLOR_NEVER : o.color);
    (void)rec_guard_maps();
    status = status == EXIT_OK ? run(&a, &o) : status;
    if (a.rank == 0 && status == EXIT_OK && a.saved && !o.quiet && !o.json) {
        print_report(&a.report);
    }
    if (tool_output_finish() != EXIT_OK) {
        status = status == EXIT_OK && tool_memory_was_saved() ? EXIT_UNSYNCED : EXIT_ERROR;
    }
    if (status != EXIT_ERROR && rec_guard_check(NULL) != REC_OK) {
        status = tool_fail_library();
    }
    /* Print the failure of the lowest rank, unless all ranks have it. Rank 0 has printed the problems of a plan as a
     * list. */
    printed = !a.ended && a.rank == 0 && status == EXIT_ERROR && !a.errors.length;
    if (!a.ended && !a.told &&
        rec_mpi_agree(MPI_COMM_WORLD, status == EXIT_ERROR ? REC_E_ARGUMENT : REC_OK,
                      a.errors.at ? a.errors.at : "it failed") != REC_OK) {
        a.ended = true;
    }
    (void)tool_fail_divert(NULL);
    if (a.ended) {
        status = EXIT_ERROR;
        if (a.rank == 0 && !printed) {
            (void)tool_fail("%s", rec_mpi_error_message());
        }
    } else if (a.errors.length && a.rank == 0) {
        (void)tool_fail("%s", a.errors.at);
    }
    tool_text_free(&a.errors);
    tool_options_free(&o);
    tool_notes_free(&a.notes);
    (void)MPI_Info_free(&a.hints);
    (void)MPI_Finalize();
    return status;
}
