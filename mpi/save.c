/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by all ranks: each does the same, keeps the bytes of its window and writes them to their place in the
 * temporary files that rank 0 made and gives their names when all have written. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mpi/saving.h"

/* ------------------------------------------------------------------------------------------------------ layout -- */

static const char *version_of(const char *name)
{
    const rec_plugin_info *info = *name ? rec_plugin_find(NULL, name) : NULL;
    return info && *info->version ? info->version : "without a version";
}

static void take_file(void *user, const rec_file *file)
{
    lr_mpi_files_add(&((lr_mpi_saving *)user)->files, file);
}

/* Whether all ranks found a format that cannot be written in windows. @param own,why what this rank found. */
static rec_status find_alone(lr_mpi_saving *s, rec_status own)
{
    int alone = own == REC_E_UNSUPPORTED;
    rec_status status = lr_mpi_agree(s->group, alone ? REC_OK : own, s->why);
    if (status != REC_OK) {
        return status;
    }
    (void)MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MIN, s->group->comm);
    s->alone = alone != 0;
    return alone ? REC_OK : lr_mpi_agree(s->group, own, s->why);
}

/* The layout on every rank: without tensors' data. */
static rec_status find_layout(lr_mpi_saving *s)
{
    const char *to = rec_recorder_name(s->recorder), *from = rec_record_origin(s->record)->recorder;
    char words[LR_MPI_WORDS];
    double begun = MPI_Wtime();
    rec_status status;
    s->window.letters = s->letters;
    s->window.user = s;
    s->window.file = take_file;
    lr_mpi_files_clear(&s->files);
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, NULL, NULL);
    s->window.file = NULL;
    s->layout += MPI_Wtime() - begun;
    if (status != REC_OK) {
        (void)snprintf(s->why, sizeof s->why, "%s", rec_error_message());
    }
    status = find_alone(s, status);
    *s->why = '\0';
    if (status == REC_OK && !s->alone) {
        status = lr_mpi_agree(s->group, s->files.failed || !s->files.count ? REC_E_MEMORY : REC_OK,
                              "out of memory for the names of the files");
    }
    if (status == REC_OK) {
        (void)snprintf(words, sizeof words, "librecord %s, %s %s, %s %s", rec_version_string(),
                       *from ? from : "no reader", version_of(from), to, version_of(to));
        status = lr_mpi_same(s->group, s->path, words);
    }
    if (status == REC_OK && !s->alone) {
        (void)snprintf(words, sizeof words, "%s would have %" PRIu64 " bytes, with the layout %016" PRIx64,
                       s->files.count > 1 ? "its files" : "the file", s->window.total, s->window.sum);
        status = lr_mpi_same(s->group, s->path, words);
    }
    return status;
}

/* Only one file whose tensors are plain bytes can be resumed. */
static rec_status check_resume(lr_mpi_saving *s)
{
    if (s->options.resume && (s->alone || s->files.count > 1)) {
        (void)snprintf(s->why, sizeof s->why,
                       "%.2000s: only one file whose tensors are plain bytes can be resumed, not %s: save it without "
                       "resuming",
                       s->path, s->alone ? "a file that rank 0 writes alone" : "a model in several files");
        return lr_mpi_agree(s->group, REC_E_UNSUPPORTED, s->why);
    }
    return REC_OK;
}

static rec_status make_report(lr_mpi_saving *s, rec_mpi_report *report)
{
    struct {
        double layout, write;
        uint64_t kept;
        char host[64];
    } mine = {.layout = s->layout, .write = s->write, .kept = s->kept}, *all = NULL;
    char host[MPI_MAX_PROCESSOR_NAME];
    uint32_t size = report && report->size < sizeof *report ? report->size : (uint32_t)sizeof *report;
    rec_mpi_report r = {.size = sizeof r,
                        .ranks = s->alone ? 1 : s->ranks,
                        .bytes = s->files.total,
                        .commit = s->commit,
                        .resumed = !s->resume.left ? s->resume.other ? 2 : 0 : 1};
    rec_status status;
    (void)snprintf(mine.host, sizeof mine.host, "%.63s", lr_mpi_host(host));
    all = s->rank == 0 ? calloc((size_t)s->ranks, sizeof *all) : NULL;
    status = lr_mpi_agree(s->group, s->rank == 0 && !all ? REC_E_MEMORY : REC_OK, "out of memory for the report");
    if (status == REC_OK) {
        (void)MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, s->group->comm);
    }
    for (int i = 0; all && status == REC_OK && i < s->ranks; i++) {
        r.layout = all[i].layout > r.layout ? all[i].layout : r.layout;
        r.write_mean += all[i].write / r.ranks;
        r.kept += all[i].kept;
        if (all[i].write >= r.write) {
            r.write = all[i].write;
            r.slowest = i;
            memcpy(r.slowest_host, all[i].host, sizeof r.slowest_host);
        }
    }
    if (report && s->rank == 0) {
        memcpy(report, &r, size);
        report->size = size;
    } else if (report) {
        memset(report, 0, size);
        report->size = size;
    }
    free(all);
    return status;
}

/* Rank 0: there is a temporary file. It is not needed yet. */
static int32_t look_at(void *user, rec_filling *told)
{
    (void)told;
    *(bool *)user = true;
    return ECANCELED;
}

/* Whether there can be a file of that name shows before anything is compressed or looked for. */
static rec_status check_target(lr_mpi_saving *s)
{
    const rec_file file = {.size = 0};
    const rec_filling filling = {.size = sizeof filling, .files = &file, .count = 1};
    bool can = false;
    rec_status own = s->rank == 0 ? rec_save_filled(s->recorder, s->path, &filling, look_at, &can) : REC_OK;
    return lr_mpi_agree(s->group, can ? REC_OK : own, NULL);
}

/* ------------------------------------------------------------------------------------------------------- files -- */

/* All ranks. What fails on one is what it comes to on all. @param told on rank 0. */
static rec_status write_files(lr_mpi_saving *s, rec_filling *told)
{
    rec_status status;
    if (told) {
        (void)snprintf(s->letters, sizeof s->letters, "%s", told->letters);
    }
    (void)MPI_Bcast(s->letters, (int)sizeof s->letters, MPI_BYTE, 0, s->group->comm);
    if (*s->letters) { /* which are in the index, too */
        status = find_layout(s);
        if (status != REC_OK) {
            return status;
        }
    }
    if (told) {
        told->last_size = s->files.at[s->files.count - 1].size;
    }
    status = lr_mpi_saving_fill(s, told);
    status = status == REC_OK && s->options.check ? lr_mpi_saving_compare(s) : status;
    if (status == REC_OK && s->options.resume) {
        bool cut = !told || lr_mpi_resume_cut(&s->resume);
        if (!cut) {
            (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot truncate the temporary file to its size: %s",
                           s->path, strerror(errno));
        }
        status = lr_mpi_agree(s->group, cut ? REC_OK : REC_E_IO, s->why);
    }
    return status;
}

/* Rank 0, while rec_save_filled() waits. */
static int32_t fill(void *user, rec_filling *told)
{
    lr_mpi_saving *s = user;
    s->filled = true;
    s->status = lr_mpi_agree(s->group, REC_OK, NULL);
    if (s->status == REC_OK) {
        s->status = write_files(s, told);
    }
    s->commit = MPI_Wtime();
    return s->status == REC_OK ? 0 : ECANCELED;
}

/* Rank 0. */
static rec_status save_files(lr_mpi_saving *s)
{
    rec_file *list = lr_mpi_files_list(&s->files);
    const rec_filling filling = {
        .size = sizeof filling, .files = list, .count = s->files.count, .resume = s->options.resume};
    rec_status own = REC_E_MEMORY;
    if (list) {
        own = rec_save_filled(s->recorder, s->path, &filling, fill, s);
    }
    free(list);
    return own;
}

/* All ranks. */
static rec_status save_together(lr_mpi_saving *s)
{
    rec_status status, own = REC_OK;
    s->filled = false;
    if (s->rank == 0) {
        own = save_files(s);
        s->commit = MPI_Wtime() - s->commit;
        status = s->status;
    } else {
        status = lr_mpi_agree(s->group, REC_OK, NULL);
        if (status == REC_OK) {
            status = write_files(s, NULL);
        }
    }
    /* Rank 0 is the only one that can have failed without the others' knowing: before all wrote, or after that. */
    if (s->rank == 0 && !s->filled) {
        status = lr_mpi_agree(s->group, own == REC_OK ? REC_E_IO : own, NULL);
    } else if (status == REC_OK) {
        status = lr_mpi_agree(s->group, own, NULL);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------- by rank 0 alone -- */

static uint64_t size_of(const lr_mpi_saving *s)
{
    char *path = rec_recorder_path(s->recorder, s->path);
    struct stat is;
    uint64_t size = path && stat(path, &is) == 0 && S_ISREG(is.st_mode) ? (uint64_t)is.st_size : 0;
    rec_free(path);
    return size;
}

static rec_status save_on_first(lr_mpi_saving *s)
{
    static const rec_note alone = {.size = sizeof alone,
                                   .kind = REC_NOTE_LAYOUT,
                                   .count = 1,
                                   .path = "",
                                   .text = "written by rank 0 alone: only files whose tensors are plain bytes are "
                                           "written by all ranks"};
    rec_status status = s->options.check ? rec_recorder_set(s->recorder, "check", "yes") : REC_OK;
    if (status == REC_OK) {
        status = rec_save(s->recorder, s->record, s->path);
    }
    if (status == REC_OK || status == REC_E_SYNC) {
        lr_mpi_keep(&s->notes, &alone);
        for (uint64_t i = 0; rec_report_note(i); i++) {
            lr_mpi_keep(&s->notes, rec_report_note(i));
        }
    }
    return status;
}

/* All ranks: rank 0 saves as one process does, a file of a format that does not store tensors as plain bytes, or a
 * compressed one, while the others wait. */
static rec_status save_alone(lr_mpi_saving *s)
{
    double begun = MPI_Wtime();
    rec_status status = s->rank == 0 ? save_on_first(s) : REC_OK;
    s->write = MPI_Wtime() - begun;
    status = lr_mpi_agree(s->group, status, NULL);
    if (s->rank == 0 && (status == REC_OK || status == REC_E_SYNC)) {
        s->files.total = size_of(s);
    }
    return status;
}

rec_status lr_mpi_save(const lr_mpi_group *group, rec_recorder *recorder, const rec_record *record, const char *path,
                       const rec_mpi_options *options, rec_mpi_report *report)
{
    lr_mpi_saving *s = calloc(1, sizeof *s);
    bool sane = recorder && record && path && strlen(path) < PATH_MAX && (!options || options->size >= 8) &&
                (!report || report->size >= 8);
    rec_status status = lr_mpi_agree(group,
                                     !s     ? REC_E_MEMORY
                                     : sane ? REC_OK
                                            : REC_E_ARGUMENT,
                                     s ? "rec_mpi_save: an argument is invalid" : "out of memory");
    if (status != REC_OK) {
        free(s);
        return status;
    }
    s->group = group;
    s->recorder = recorder;
    s->record = record;
    s->path = path;
    s->window.size = sizeof s->window;
    s->resume.fd = -1;
    if (options) {
        memcpy(&s->options, options, options->size < sizeof s->options ? options->size : sizeof s->options);
    }
    s->files = (lr_mpi_files){.group = group,
                              .path = path,
                              .hints = s->options.has_hints ? s->options.hints : MPI_INFO_NULL,
                              .file = MPI_FILE_NULL,
                              .read = -1};
    (void)MPI_Comm_rank(group->comm, &s->rank);
    (void)MPI_Comm_size(group->comm, &s->ranks);
    status = s->options.resume ? REC_OK : check_target(s); /* which would remove what was left */
    status = status == REC_OK ? find_layout(s) : status;
    status = status == REC_OK ? check_resume(s) : status;
    if (status == REC_OK) {
        status = s->alone ? save_alone(s) : save_together(s);
    }
    if (status == REC_OK || status == REC_E_SYNC) {
        rec_status told;
        if (s->options.note) {
            lr_mpi_tell(&s->notes, s->options.note, s->options.user);
        }
        told = lr_mpi_tell_losses(group, &s->losses, s->options.note, s->options.user);
        told = told == REC_OK ? make_report(s, report) : told;
        status = status == REC_OK ? told : status;
    }
    lr_mpi_resume_end(&s->resume);
    lr_mpi_files_clear(&s->files);
    free(s->losses.at);
    free(s->notes.at);
    free(s);
    return status;
}

rec_status rec_mpi_save(MPI_Comm comm, rec_recorder *recorder, const rec_record *record, const char *path,
                        const rec_mpi_options *options, rec_mpi_report *report)
{
    return lr_mpi_save(&(lr_mpi_group){.comm = comm}, recorder, record, path, options, report);
}
