/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Agreements between ranks: an outcome, the same text, the same file. If any rank fails, all ranks fail, with its
 * number and host in the message. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/names.h"
#include "mpi/mpi_private.h"

/* As it travels. */
typedef struct failure {
    int32_t status;
    char message[LR_MPI_MESSAGE];
} failure;

static _Thread_local char last[LR_MPI_MESSAGE];

const char *rec_mpi_error_message(void)
{
    return last;
}

rec_status lr_mpi_say(rec_status status, const char *message)
{
    (void)snprintf(last, sizeof last, "%s", message);
    return status;
}

const char *lr_mpi_host(char host[MPI_MAX_PROCESSOR_NAME])
{
    int length = 0;
    if (MPI_Get_processor_name(host, &length) != MPI_SUCCESS) {
        (void)snprintf(host, MPI_MAX_PROCESSOR_NAME, "?");
    }
    return host;
}

rec_status lr_mpi_agree(const lr_mpi_group *group, rec_status status, const char *message)
{
    MPI_Comm comm = group->comm;
    char host[MPI_MAX_PROCESSOR_NAME], said[LR_MPI_MESSAGE] = "";
    int rank = 0, mine, first = INT_MAX;
    failure f = {0};
    (void)MPI_Comm_rank(comm, &rank);
    if (status != REC_OK) { /* before others are met, which may change the last error */
        (void)snprintf(said, sizeof said, "%s", message ? message : rec_error_message());
    }
    if (group->meet) {
        status = group->meet(group->user, status, said, sizeof said);
    }
    mine = status == REC_OK ? INT_MAX : rank;
    if (MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) {
        (void)snprintf(last, sizeof last, "rank %d (%s): MPI failed", rank, lr_mpi_host(host));
        return REC_E_IO;
    }
    if (first == INT_MAX) {
        return REC_OK;
    }
    if (rank == first) {
        f.status = status;
        (void)snprintf(f.message, sizeof f.message, "rank %d (%s): %.3800s", rank, lr_mpi_host(host), said);
    }
    (void)MPI_Bcast(&f, (int)sizeof f, MPI_BYTE, first, comm);
    f.message[sizeof f.message - 1] = '\0';
    memcpy(last, f.message, sizeof last);
    return f.status;
}

rec_status rec_mpi_agree(MPI_Comm comm, rec_status status, const char *message)
{
    return lr_mpi_agree(&(lr_mpi_group){.comm = comm}, status, message);
}

rec_status lr_mpi_same(const lr_mpi_group *group, const char *subject, const char *mine)
{
    MPI_Comm comm = group->comm;
    char others[LR_MPI_WORDS] = "", host[MPI_MAX_PROCESSOR_NAME] = "", message[LR_MPI_MESSAGE] = "";
    int rank = 0;
    bool same;
    (void)MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        (void)snprintf(others, sizeof others, "%s", mine);
        (void)lr_mpi_host(host);
    }
    (void)MPI_Bcast(others, (int)sizeof others, MPI_BYTE, 0, comm);
    (void)MPI_Bcast(host, (int)sizeof host, MPI_BYTE, 0, comm);
    same = strncmp(others, mine, sizeof others - 1) == 0;
    if (!same) {
        (void)snprintf(message, sizeof message, "%s: %.900s here, %.900s on rank 0 (%s)", subject, mine, others, host);
    }
    return lr_mpi_agree(group, same ? REC_OK : REC_E_MISMATCH, message);
}

enum { PIECE = 64 << 10 };

static uint64_t sum_of(int fd, off_t from, uint64_t sum)
{
    uint8_t bytes[PIECE];
    ssize_t got = pread(fd, bytes, sizeof bytes, from);
    return got > 0 ? lr_fnv(sum, bytes, (uint64_t)got) : sum;
}

rec_status rec_mpi_same_file(MPI_Comm comm, const char *path)
{
    char words[LR_MPI_WORDS] = "there is no such file";
    struct stat is;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd >= 0 && fstat(fd, &is) == 0) {
        if (S_ISREG(is.st_mode)) {
            uint64_t sum = sum_of(fd, 0, LR_FNV_BEGIN);
            sum = sum_of(fd, is.st_size > PIECE ? is.st_size - PIECE : 0, sum);
            (void)snprintf(words, sizeof words, "%lld bytes of %lld.%09ld (checksum %016llx)", (long long)is.st_size,
                           (long long)is.st_mtim.tv_sec, is.st_mtim.tv_nsec, (unsigned long long)sum);
        } else {
            (void)snprintf(words, sizeof words, "%s", S_ISDIR(is.st_mode) ? "a directory" : "not a regular file");
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return lr_mpi_same(&(lr_mpi_group){.comm = comm}, path ? path : "(no file)", words);
}
