/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by all ranks: each does the same, keeps the bytes of its window and writes them to their place in the
 * temporary files that rank 0 made and gives their names when all have written. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The layout on every rank: without tensors' data where the format lets that be. */
static rec_status find_layout(lr_mpi_saving *s)
{
    const char *to = rec_recorder_name(s->recorder), *from = rec_record_origin(s->record)->recorder;
    char words[LR_MPI_WORDS];
    double begun = MPI_Wtime();
    rec_status status, all;
    s->window.part = s->whole_text ? REC_PART_FILE : REC_PART_PIECES; /* if there are any */
    s->window.letters = s->letters;
    s->window.user = s;
    s->window.file = take_file;
    lr_mpi_files_clear(&s->files);
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, NULL, NULL);
    /* What is gone on with is cut by bytes of the file; and where there is next to nothing to be shared it is made
     * once. */
    if (status == REC_OK && lr_mpi_saving_is_text(s) && (s->options.resume || s->window.total <= (uint64_t)s->ranks)) {
        s->whole_text = true;
        s->window.part = REC_PART_FILE;
        lr_mpi_files_clear(&s->files);
        status = rec_save_window(s->recorder, s->record, s->path, &s->window, NULL, NULL);
    }
    s->window.file = NULL;
    s->layout += MPI_Wtime() - begun;
    all = rec_mpi_agree(s->comm, status, NULL);
    if (all == REC_OK) {
        all = rec_mpi_agree(s->comm, s->files.failed || !s->files.count ? REC_E_MEMORY : REC_OK,
                            "out of memory for the names of the files");
    }
    if (all != REC_OK) {
        return all;
    }
    (void)snprintf(words, sizeof words, "librecord %s, %s %s, %s %s", rec_version_string(), *from ? from : "no reader",
                   version_of(from), to, version_of(to));
    all = lr_mpi_same(s->comm, s->path, words);
    if (all == REC_OK) {
        (void)snprintf(words, sizeof words, "%s would have %" PRIu64 " bytes%s, with the layout %016" PRIx64,
                       s->files.count > 1 ? "its files" : "the file", s->window.total,
                       lr_mpi_saving_is_text(s) ? " of numbers"
                       : s->window.piece        ? " before it is compressed"
                                                : "",
                       s->window.sum);
        all = lr_mpi_same(s->comm, s->path, words);
    }
    return all;
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
                        .ranks = s->ranks,
                        .bytes = s->files.total,
                        .commit = s->commit,
                        .resumed = !s->resume.left ? s->resume.other ? 2 : 0 : 1};
    rec_status status;
    (void)snprintf(mine.host, sizeof mine.host, "%.63s", lr_mpi_host(host));
    all = s->rank == 0 ? calloc((size_t)s->ranks, sizeof *all) : NULL;
    status = rec_mpi_agree(s->comm, s->rank == 0 && !all ? REC_E_MEMORY : REC_OK, "out of memory for the report");
    if (status == REC_OK) {
        (void)MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, s->comm);
    }
    for (int i = 0; all && status == REC_OK && i < s->ranks; i++) {
        r.layout = all[i].layout > r.layout ? all[i].layout : r.layout;
        r.write_mean += all[i].write / s->ranks;
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
    return rec_mpi_agree(s->comm, can ? REC_OK : own, NULL);
}

/* ------------------------------------------------------------------------------------------------------- files -- */

/* All ranks. What fails on one is what it comes to on all. @param told on rank 0. */
static rec_status write_files(lr_mpi_saving *s, rec_filling *told)
{
    rec_status status;
    if (told) {
        (void)snprintf(s->letters, sizeof s->letters, "%s", told->letters);
    }
    (void)MPI_Bcast(s->letters, (int)sizeof s->letters, MPI_BYTE, 0, s->comm);
    if (*s->letters) { /* which are in the index, too */
        status = find_layout(s);
        if (status != REC_OK) {
            return status;
        }
    }
    if (told && !s->window.piece) {
        told->last_size = s->files.at[s->files.count - 1].size;
    }
    status = lr_mpi_saving_fill(s, told);
    status = status == REC_OK && s->options.check ? lr_mpi_saving_compare(s) : status;
    if (status == REC_OK && s->options.resume && !s->staged) {
        bool cut = !told || lr_mpi_resume_cut(&s->resume, s->files.total);
        if (!cut) {
            (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot cut the temporary file to its size: %s", s->path,
                           strerror(errno));
        }
        status = rec_mpi_agree(s->comm, cut ? REC_OK : REC_E_IO, s->why);
    }
    return status;
}

/* Rank 0, while rec_save_filled() waits. */
static int32_t fill(void *user, rec_filling *told)
{
    lr_mpi_saving *s = user;
    s->filled = true;
    s->status = rec_mpi_agree(s->comm, REC_OK, NULL);
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
        .size = sizeof filling, .files = list, .count = s->files.count, .resume = s->options.resume && !s->staged};
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
        status = rec_mpi_agree(s->comm, REC_OK, NULL);
        if (status == REC_OK) {
            status = write_files(s, NULL);
        }
    }
    /* Rank 0 is the only one that can have failed without the others' knowing: before all wrote, or after that. */
    if (s->rank == 0 && !s->filled) {
        status = rec_mpi_agree(s->comm, own == REC_OK ? REC_E_IO : own, NULL);
    } else if (status == REC_OK) {
        status = rec_mpi_agree(s->comm, own, NULL);
    }
    return status;
}

/* All ranks: what is not there yet of the bytes of several files goes into the one that keeps them. */
static rec_status keep_bytes(lr_mpi_saving *s, rec_filling *told)
{
    lr_mpi_files files = s->files;
    rec_status status;
    s->files = s->kept_in;
    lr_mpi_files_add(&s->files, &(rec_file){.size = files.total});
    status =
        rec_mpi_agree(s->comm, s->files.failed ? REC_E_MEMORY : REC_OK, "out of memory for the names of the files");
    status = status == REC_OK ? lr_mpi_saving_fill(s, told) : status;
    s->kept_in = s->files;
    s->files = files;
    s->staged = status == REC_OK;
    return status;
}

/* Rank 0, while rec_save_filled() waits. All that is made goes out from here; what kept it is not needed any more then.
 */
static int32_t keep_and_save(void *user, rec_filling *told)
{
    lr_mpi_saving *s = user;
    s->filled = true;
    s->status = rec_mpi_agree(s->comm, REC_OK, NULL);
    s->status = s->status == REC_OK ? keep_bytes(s, told) : s->status;
    if (s->staged) {
        s->status = save_together(s);
        s->filled = true;
        told->keep = s->status != REC_OK && s->status != REC_E_SYNC;
    }
    return ECANCELED;
}

/* Several files that are gone on with. All ranks. */
static rec_status save_kept(lr_mpi_saving *s)
{
    rec_status status;
    s->kept_in =
        (lr_mpi_files){.comm = s->comm, .path = s->path, .hints = s->files.hints, .file = MPI_FILE_NULL, .read = -1};
    if (s->rank == 0) {
        const rec_file one = {.size = s->window.total};
        const rec_filling filling = {.size = sizeof filling, .files = &one, .count = 1, .resume = 1};
        rec_status own = rec_save_filled(s->recorder, s->path, &filling, keep_and_save, s);
        return s->filled ? s->status : rec_mpi_agree(s->comm, own == REC_OK ? REC_E_IO : own, NULL);
    }
    status = rec_mpi_agree(s->comm, REC_OK, NULL);
    status = status == REC_OK ? keep_bytes(s, NULL) : status;
    return status == REC_OK ? save_together(s) : status;
}

rec_status rec_mpi_save(MPI_Comm comm, rec_recorder *recorder, const rec_record *record, const char *path,
                        const rec_mpi_options *options, rec_mpi_report *report)
{
    lr_mpi_saving *s = calloc(1, sizeof *s);
    bool sane = recorder && record && path && strlen(path) < PATH_MAX && (!options || options->size >= 8) &&
                (!report || report->size >= 8);
    rec_status status = rec_mpi_agree(comm,
                                      !s     ? REC_E_MEMORY
                                      : sane ? REC_OK
                                             : REC_E_ARGUMENT,
                                      s ? "rec_mpi_save: an argument makes no sense" : "out of memory");
    if (status != REC_OK) {
        free(s);
        return status;
    }
    s->comm = comm;
    s->recorder = recorder;
    s->record = record;
    s->path = path;
    s->window.size = sizeof s->window;
    s->pieces.fd = s->resume.fd = s->kept_in.read = -1;
    if (options) {
        memcpy(&s->options, options, options->size < sizeof s->options ? options->size : sizeof s->options);
    }
    s->files = (lr_mpi_files){.comm = comm,
                              .path = path,
                              .hints = s->options.has_hints ? s->options.hints : MPI_INFO_NULL,
                              .file = MPI_FILE_NULL,
                              .read = -1};
    (void)MPI_Comm_rank(comm, &s->rank);
    (void)MPI_Comm_size(comm, &s->ranks);
    status = s->options.resume ? REC_OK : check_target(s); /* which would remove what was left */
    status = status == REC_OK ? find_layout(s) : status;
    if (status == REC_OK && s->window.summed) { /* the layout has the sums */
        status = lr_mpi_saving_sums(s);
        status = status == REC_OK ? find_layout(s) : status;
    }
    if (status == REC_OK && s->window.piece && !s->options.resume) {
        status = lr_mpi_saving_pieces(s);
    }
    if (status != REC_OK) {
        goto done;
    }
    if (s->window.piece) { /* of what is gone on with it is not known yet */
        s->files.at[0].size = s->files.total = s->pieces.total;
    }
    status = s->options.resume && s->files.count > 1 ? save_kept(s) : save_together(s);
    if (status == REC_OK || status == REC_E_SYNC) {
        rec_status told;
        if (s->options.note) {
            lr_mpi_tell(&s->notes, s->options.note, s->options.user);
        }
        told = lr_mpi_tell_losses(comm, &s->losses, s->options.note, s->options.user);
        told = told == REC_OK ? make_report(s, report) : told;
        status = status == REC_OK ? told : status;
    }
done:
    lr_mpi_resume_end(&s->resume);
    lr_mpi_files_clear(&s->files);
    lr_mpi_files_clear(&s->kept_in);
    lr_mpi_pieces_end(&s->pieces);
    free(s->losses.at);
    free(s->notes.at);
    free(s);
    return status;
}
