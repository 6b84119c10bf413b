/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record-mpi: record convert by many processes. Every rank runs the same command; what people see comes from rank 0, and what
 * fails on any rank is told once, with the rank and its host. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librecord/mpi.h>

#include "tools/tool.h"

static const char usage[] = "Usage: mpirun -n N record-mpi convert [OPTION]... IN... OUT\n"
                            "Converts records as `record convert` does, to the same bytes, by N processes that\n"
                            "each read, convert and write a part of the file. record help convert has the\n"
                            "options. Of its own:\n"
                            "      --hint KEY=VALUE  a hint for MPI-IO, such as cb_nodes=8 (repeatable)\n"
                            "What it does not do: several files and folders, --recursive, --max-shard-size,\n"
                            "--check, --dry-run, standard input and output.\n"
                            "Exit status: as record.";

/* What goes over a save of all ranks. */
typedef struct across {
    int rank;
    bool ended; /* a failure is known to all ranks */
    bool saved;
    MPI_Info hints;
    rec_mpi_report report;
    notes notes;
} across;

/* ------------------------------------------------------------------------------------------- what convert asks for -- */

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

static int save(void *self, rec_recorder *to, const rec_record *record, const char *out, notes *n)
{
    across *a = self;
    const rec_mpi_options told = {.size = sizeof told, .hints = a->hints, .has_hints = 1, .note = take_note, .user = a};
    rec_status status;
    a->report.size = sizeof a->report;
    status = rec_mpi_save(MPI_COMM_WORLD, to, record, out, &told, &a->report);
    tool_notes_append(n, &a->notes);
    a->saved = status == REC_OK || status == REC_E_SYNC;
    a->ended = !a->saved;
    return status == REC_E_SYNC ? EXIT_UNSYNCED : a->saved ? EXIT_OK : EXIT_ERROR;
}

/* --------------------------------------------------------------------------------------------------- the command -- */

/* Takes --hint out of the command line. */
static int take_hints(int *argc, char **argv, MPI_Info *hints)
{
    int kept = 0;
    (void)MPI_Info_create(hints);
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
        (void)MPI_Info_set(*hints, setting, value + 1);
        free(setting);
    }
    argv[kept] = NULL;
    *argc = kept;
    return EXIT_OK;
}

/* What a part of a save cannot do is refused, not left out. */
static int check(const options *o)
{
    const char *left = o->recursive                                       ? "--recursive"
                       : o->max_shard_size                                ? "--max-shard-size"
                       : o->check                                         ? "--check"
                       : tool_own(o, "dry-run")                           ? "--dry-run"
                       : tool_own(o, "include") || tool_own(o, "exclude") ? "--include and --exclude"
                                                                          : NULL;
    for (size_t i = 1; i < o->operands.count && !left; i++) {
        left = strcmp(o->operands.at[i], "-") == 0 ? "standard input and output" : NULL;
    }
    return left ? tool_fail("not by record-mpi: %s\nUse record convert.", left) : EXIT_OK;
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

static int run(across *a, const options *o)
{
    const tool_shared shared = {.self = a, .first = a->rank == 0, .agree = agree, .save = save};
    const command *c = tool_command_find("convert");
    size_t count = o->operands.count ? o->operands.count - 1 : 0;
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
    if (!o->operands.count || strcmp(o->operands.at[0], "convert") != 0) {
        return tool_fail("record-mpi has the command convert; record has all others\n%s",
                         "mpirun -n N record-mpi convert [OPTION]... IN... OUT");
    }
    if ((status = tool_options_check(o, c)) != EXIT_OK || (status = check(o)) != EXIT_OK) {
        return status;
    }
    if (count < c->least) {
        return tool_fail("expected record-mpi convert IN... OUT, found %zu operand%s", count, tool_plural(count));
    }
    if ((status = same_files(a, o, count - 1)) == EXIT_OK && (status = tool_session_open(&s, o)) == EXIT_OK) {
        s.shared = &shared;
        status = c->run(&s, o->operands.at + 1, count);
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
    printf("  slowest: rank %d (%s), %.2f times the mean\n", r->slowest, r->slowest_host,
           r->write_mean > 0 ? r->write / r->write_mean : 1.0);
}

int main(int argc, char **argv)
{
    across a = {0};
    options o = {0};
    text errors = {0};
    int provided, status;

    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        return tool_fail("MPI does not start: run it by mpirun");
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &a.rank);
    (void)signal(SIGPIPE, SIG_DFL);
    tool_fail_divert(&errors);
    if (a.rank != 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))) {
        (void)tool_fail("cannot open /dev/null");
    }
    status = take_hints(&argc, argv, &a.hints);
    status = status == EXIT_OK ? tool_options_parse(&o, argc, argv) : status;
    tool_output_setup(o.color);
    (void)rec_guard_maps();
    status = status == EXIT_OK ? run(&a, &o) : status;
    if (a.rank == 0 && status == EXIT_OK && a.saved && !o.quiet && !o.json) {
        print_report(&a.report);
    }
    if (tool_output_finish() != EXIT_OK) {
        status = EXIT_ERROR;
    }
    if (status != EXIT_ERROR && rec_guard_check(NULL) != REC_OK) {
        status = tool_fail_library();
    }
    /* What any rank came to, unless all know already. */
    if (!a.ended && rec_mpi_agree(MPI_COMM_WORLD, status == EXIT_ERROR ? REC_E_ARGUMENT : REC_OK,
                                  errors.at ? errors.at : "it failed") != REC_OK) {
        a.ended = true;
    }
    tool_fail_divert(NULL);
    if (a.ended) {
        status = EXIT_ERROR;
        if (a.rank == 0) {
            (void)tool_fail("%s", rec_mpi_error_message());
        }
    } else if (errors.length && a.rank == 0) {
        (void)tool_fail("%s", errors.at);
    }
    tool_text_free(&errors);
    tool_options_free(&o);
    tool_notes_free(&a.notes);
    (void)MPI_Info_free(&a.hints);
    (void)MPI_Finalize();
    return status;
}
