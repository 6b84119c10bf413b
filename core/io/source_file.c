/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources of files and descriptors: mapped, read by several threads, or, where nothing can be mapped, read to the end
 * and spilled to a temporary file if that is long. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/config/context.h"
#include "core/io/io_private.h"

/* A file of at least THREADS_FROM bytes is read by several threads, each of which has a share of some size. */
#define THREADS_FROM (UINT64_C(32) << 20)
#define THREAD_SHARE (UINT64_C(16) << 20)
/* A stream that is longer goes to a temporary file. */
#define SPILL_FROM (UINT64_C(64) << 20)
#define STREAM_FIRST (UINT64_C(1) << 20)

enum { THREADS_MOST = 64 };

void lr_source_unmap(rec_source *source)
{
    if (source->map) {
        (void)munmap(source->map, (size_t)source->map_size);
        source->map = NULL;
    }
}

/* ------------------------------------------------------------------------------------------------------- mapping -- */

/* Whoever holds a mapped file of a server is killed by SIGBUS when the server goes away: those are copied. */
static bool is_local(int fd)
{
    static const uint32_t remote[] = {
        0x00006969, /* NFS */
        0x0000517B, /* SMB */
        0xFF534D42, /* CIFS */
        0xFE534D42, /* SMB2 */
        0x01021997, /* 9P */
        0x00C36400, /* Ceph */
        0x5346414F, /* AFS */
        0x6B414653, /* AFS of the kernel */
        0x73757245, /* Coda */
        0x0BD00BD0, /* Lustre */
        0x65735546, /* FUSE: sshfs and others */
    };
    struct statfs info;
    if (fstatfs(fd, &info) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
        if ((uint32_t)info.f_type == remote[i]) {
            return false;
        }
    }
    return true;
}

/* Maps [begin, end) of a file, which may begin anywhere in a page. @return false if the system cannot. */
static bool map_file(rec_source *source, int fd, uint64_t begin, uint64_t end)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = begin & ~(page - 1);
    void *map;
    if (end - from > PTRDIFF_MAX) {
        return false;
    }
    map = mmap(NULL, (size_t)(end - from), PROT_READ, MAP_PRIVATE, fd, (off_t)from);
    if (map == MAP_FAILED) {
        return false;
    }
    source->map = map;
    source->map_size = end - from;
    lr_source_ready(source, (const uint8_t *)map + (begin - from), end - begin);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- copying -- */

/* What the threads that copy a file share. */
struct copy {
    int fd;
    uint64_t begin; /* of the file */
    uint8_t *target;
    uint64_t size;
    atomic_uint_fast64_t next; /* the first byte that nobody has taken on */
    atomic_uint_fast64_t done;
    atomic_bool stop;
    atomic_int failed; /* the first failure: an errno, ENDED for a file that ended early, 0 */
    uint64_t failed_at;
};
enum { ENDED = -1 };

static void copy_failed(struct copy *copy, int error, uint64_t at)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&copy->failed, &none, error)) {
        copy->failed_at = at; /* read after this thread was joined */
    }
    atomic_store(&copy->stop, true);
}

/* @return false when there is nothing more to do. */
static bool copy_piece(struct copy *copy)
{
    uint64_t at = atomic_fetch_add(&copy->next, LR_IO_PIECE);
    uint64_t end;
    if (atomic_load(&copy->stop) || at >= copy->size) {
        return false;
    }
    end = copy->size - at > LR_IO_PIECE ? at + LR_IO_PIECE : copy->size;
    while (at < end) {
        ssize_t n = pread(copy->fd, copy->target + at, (size_t)(end - at), (off_t)(copy->begin + at));
        if (n > 0) {
            at += (uint64_t)n;
            (void)atomic_fetch_add(&copy->done, (uint64_t)n);
        } else if (n == 0) {
            copy_failed(copy, ENDED, copy->begin + at);
            return false;
        } else if (errno != EINTR) {
            copy_failed(copy, errno, copy->begin + at);
            return false;
        } else if (atomic_load(&copy->stop)) {
            return false;
        }
    }
    return true;
}

static void *copy_thread(void *user)
{
    while (copy_piece(user)) {
    }
    return NULL;
}

/* Starts helpers; fewer than wanted is no failure, for the caller's thread copies too. Signals stay the application's:
 * none is handled on a thread that it does not know. */
static uint32_t start_threads(struct copy *copy, pthread_t *threads, uint32_t wanted)
{
    sigset_t all, before;
    uint32_t count = 0;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return 0;
    }
    while (count < wanted && pthread_create(&threads[count], NULL, copy_thread, copy) == 0) {
        count++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return count;
}

static int32_t copy_file(rec_job *job, rec_source *source, int fd, uint64_t begin, uint64_t end)
{
    struct copy copy = {.fd = fd, .begin = begin, .size = end - begin};
    pthread_t threads[THREADS_MOST];
    uint32_t wanted = 1, count;
    int32_t status = REC_OK;
    int error;
    if (!lr_pages_grow(&source->pages, copy.size)) {
        return lr_fail_memory(job, copy.size);
    }
    copy.target = source->pages.data;
    if (copy.size >= THREADS_FROM) {
        uint64_t shares = copy.size / THREAD_SHARE;
        wanted = job->context->threads < THREADS_MOST ? job->context->threads : THREADS_MOST;
        wanted = shares < wanted ? (uint32_t)shares : wanted;
    }
    count = start_threads(&copy, threads, wanted - 1);
    while (status == REC_OK && copy_piece(&copy)) {
        status = rec_job_progress(job, atomic_load(&copy.done), copy.size);
    }
    if (status != REC_OK) {
        atomic_store(&copy.stop, true);
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    error = atomic_load(&copy.failed);
    if (status == REC_OK && error == ENDED) {
        status = lr_io_shrank(job, source->name, copy.failed_at, end);
    } else if (status == REC_OK && error != 0) {
        status = lr_io_errno(job, source->name, copy.failed_at, NULL, error, "read the file");
    }
    if (status == REC_OK) {
        lr_pages_trim(&source->pages, copy.size);
        lr_source_ready(source, source->pages.data, copy.size);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------- streams -- */

/* @param got (out) 0 at the end only. */
static int32_t read_some(rec_job *job, const rec_source *source, int fd, uint64_t at, void *target, uint64_t room,
                         uint64_t *got)
{
    *got = 0;
    for (;;) {
        ssize_t n = read(fd, target, (size_t)(room < LR_IO_PIECE ? room : LR_IO_PIECE));
        int32_t status = REC_OK;
        if (n >= 0) {
            *got = (uint64_t)n;
            return REC_OK;
        }
        if (errno == EINTR) {
            status = lr_io_interrupted(job);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            status = lr_io_wait(job, fd, POLLIN);
        } else {
            return lr_io_errno(job, source->name, at, NULL, errno, "read");
        }
        if (status != REC_OK) {
            return status;
        }
    }
}

static const char *temporary_folder(void)
{
    const char *folder = secure_getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* A file without a name, so that nobody else can open it and nothing stays behind. @return -1: reported. */
static int open_spill(rec_job *job)
{
    static const char hint[] = "What cannot be mapped and is longer than 64 MiB goes to a temporary file: "
                               "set TMPDIR to a folder for it.";
    static const char pattern[] = "/librecord-XXXXXX";
    const char *folder = temporary_folder();
    size_t length = strlen(folder);
    char *name = NULL;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (fd >= 0) {
        return fd;
    }
    /* Not every file system has nameless files. */
    name = lr_alloc(job->allocator, length + sizeof pattern);
    if (!name) {
        (void)lr_fail_memory(job, length + sizeof pattern);
        return -1;
    }
    memcpy(name, folder, length);
    memcpy(name + length, pattern, sizeof pattern);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) {
        (void)unlink(name);
    } else {
        int error = errno;
        (void)lr_io_errno(job, folder, REC_UNKNOWN, hint, error, "make a temporary file in this folder");
    }
    lr_release(job->allocator, name);
    return fd;
}

static int32_t spill_write(rec_job *job, int fd, const uint8_t *data, uint64_t size)
{
    while (size) {
        ssize_t n = write(fd, data, (size_t)(size < LR_IO_PIECE ? size : LR_IO_PIECE));
        int32_t status = REC_OK;
        if (n > 0) {
            data += n;
            size -= (uint64_t)n;
        } else if (n < 0 && errno == EINTR) {
            status = lr_io_interrupted(job);
        } else {
            status = lr_io_errno(job, temporary_folder(), REC_UNKNOWN, "Set TMPDIR to a folder with more space.",
                                 n < 0 ? errno : EIO, "write to a temporary file in this folder");
        }
        if (status != REC_OK) {
            return status;
        }
    }
    return REC_OK;
}

/* The rest of a stream of which `pages` hold the first `used` bytes. */
static int32_t spill(rec_job *job, rec_source *source, int fd, lr_pages *pages, uint64_t used)
{
    int temporary = open_spill(job);
    int32_t status;
    uint64_t got = 1;
    if (temporary < 0) {
        return job->error.status;
    }
    status = spill_write(job, temporary, pages->data, used);
    lr_pages_trim(pages, STREAM_FIRST); /* the rest passes through what is left of them */
    while (status == REC_OK && got) {
        status = read_some(job, source, fd, used, pages->data, pages->size, &got);
        if (status == REC_OK && got) {
            status = spill_write(job, temporary, pages->data, got);
            used += got;
        }
        if (status == REC_OK && used / LR_IO_PIECE != (used - got) / LR_IO_PIECE) {
            status = rec_job_progress(job, used, REC_UNKNOWN);
        }
    }
    if (status == REC_OK && !map_file(source, temporary, 0, used)) {
        status = lr_io_errno(job, temporary_folder(), REC_UNKNOWN, NULL, errno, "map a temporary file in this folder");
    }
    (void)close(temporary); /* nothing in it has to reach the disk */
    return status;
}

static int32_t read_stream(rec_job *job, rec_source *source, int fd)
{
    lr_pages pages = {.allocator = job->allocator};
    uint64_t used = 0, got = 1;
    int32_t status = REC_OK;
    while (status == REC_OK && got) {
        if (used == pages.size) {
            uint64_t want = used ? used * 2 : STREAM_FIRST;
            if (used >= SPILL_FROM) {
                status = spill(job, source, fd, &pages, used);
                goto done;
            }
            if (!lr_pages_grow(&pages, want)) {
                status = lr_fail_memory(job, want);
                goto done;
            }
        }
        status = read_some(job, source, fd, used, pages.data + used, pages.size - used, &got);
        used += got;
        if (status == REC_OK && used / LR_IO_PIECE != (used - got) / LR_IO_PIECE) {
            status = rec_job_progress(job, used, REC_UNKNOWN);
        }
    }
    if (status == REC_OK) {
        lr_pages_trim(&pages, used);
        source->pages = pages;
        lr_source_ready(source, pages.data, used);
        return REC_OK;
    }
done:
    lr_pages_free(&pages);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- opening -- */

int32_t lr_source_fill(rec_job *job, rec_source *source, int fd, uint64_t begin, uint64_t end, bool map)
{
    if (map && is_local(fd) && map_file(source, fd, begin, end)) {
        source->mapped = true;
        return REC_OK;
    }
    return copy_file(job, source, fd, begin, end); /* some file systems cannot map at all */
}

/* Fills a source from a descriptor, from where it stands if it is a regular file (`at_position`). */
static int32_t fill(rec_job *job, rec_source *source, int fd, bool at_position, bool map)
{
    struct stat info;
    uint64_t begin = 0, end;
    int32_t status;
    if (fstat(fd, &info) != 0) {
        return lr_io_errno(job, source->name, REC_UNKNOWN, NULL, errno, "look at the file");
    }
    if (S_ISDIR(info.st_mode)) {
        return lr_io_fail(job, source->name, REC_E_IO, REC_UNKNOWN, "Give the name of a file.",
                          "this is a folder, not a file");
    }
    end = S_ISREG(info.st_mode) && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (end && at_position) {
        off_t position = lseek(fd, 0, SEEK_CUR);
        begin = position > 0 ? (uint64_t)position : 0;
    }
    if (begin >= end) {
        /* A stream, an empty file, or one of those of /proc that have bytes and no size. */
        status = read_stream(job, source, fd);
    } else {
        status = lr_source_fill(job, source, fd, begin, end, map);
    }
    if (status == REC_OK && at_position && begin < end) {
        (void)lseek(fd, (off_t)end, SEEK_SET); /* what was read has been read, as with a pipe */
    }
    return status;
}

/* Of a FIFO: waits for a writer. */
static int32_t open_path(rec_job *job, const char *path, int *fd)
{
    int32_t status = REC_OK;
    bool tried = false;
    *fd = -1;
    while (*fd < 0 && status == REC_OK) {
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (*fd < 0 && errno == EINTR) {
            status = lr_io_interrupted(job);
        } else if (*fd < 0 && (errno == EMFILE || errno == ENFILE) && job->kept && !tried) {
            tried = true;
            status = lr_besides_settle(job); /* they give their descriptors back */
        } else if (*fd < 0) {
            status = lr_io_errno(job, path, REC_UNKNOWN, NULL, errno, "open the file");
        }
    }
    return status;
}

/* What a source of a path is made of. The descriptor is taken. */
static int32_t begin_path(rec_job *job, rec_source *source, int fd, bool map)
{
    struct stat info;
    int32_t status;
    bool known = fstat(fd, &info) == 0;
    source->located = true;
    source->map_beside = map;
    if (known && S_ISREG(info.st_mode) && info.st_size > 0) {
        return lr_unread_begin(job, source, fd, (uint64_t)info.st_size, map);
    }
    if (known && S_ISDIR(info.st_mode)) {
        return lr_entries_begin(job, source, fd);
    }
    status = fill(job, source, fd, false, map);
    (void)close(fd); /* it was only read: nothing can be lost */
    return status;
}

rec_source *lr_source_open(rec_job *job, const char *path, bool map)
{
    rec_source *source = lr_source_new(job, path);
    int32_t status;
    int fd;
    if (!source) {
        return NULL;
    }
    status = open_path(job, path, &fd);
    if (status == REC_OK) {
        status = begin_path(job, source, fd, map);
    }
    if (status == REC_OK) {
        lr_job_input(job, rec_source_size(source));
    } else {
        rec_source_release(source);
        source = NULL;
    }
    return source;
}

/* What the path leads to: a file by its name alone could be one that never ends, or that nobody writes to. */
static int32_t check_regular(rec_job *job, const char *path, int fd)
{
    struct stat info;
    if ((fd < 0 ? stat(path, &info) : fstat(fd, &info)) != 0) {
        return lr_io_errno(job, path, REC_UNKNOWN, NULL, errno, "open the file");
    }
    return S_ISREG(info.st_mode)
               ? REC_OK
               : lr_io_fail(job, path, REC_E_FORMAT, REC_UNKNOWN, NULL,
                            S_ISDIR(info.st_mode) ? "this is a folder, not a file" : "this is not a regular file");
}

rec_source *lr_source_open_beside(rec_job *job, const rec_source *source, const char *path)
{
    rec_source *beside = lr_source_new(job, path);
    int32_t status;
    int fd = -1;
    if (!beside) {
        return NULL;
    }
    status = check_regular(job, path, -1); /* before it is opened: that of a FIFO may take for ever */
    if (status == REC_OK) {
        status = open_path(job, path, &fd);
    }
    if (status == REC_OK) {
        status = check_regular(job, path, fd); /* it may have been replaced */
        if (status == REC_OK) {
            status = begin_path(job, beside, fd, source->map_beside);
            if (status == REC_OK && source->map_beside && beside->unread) {
                status = lr_unread_view(job, beside); /* a model may have more files than may be open at once */
            }
        } else {
            (void)close(fd);
        }
    }
    if (status == REC_OK) {
        lr_job_beside(job, rec_source_size(beside));
    } else {
        rec_source_release(beside);
        beside = NULL;
    }
    return beside;
}

rec_source *lr_source_file(rec_job *job, const char *path, bool map)
{
    rec_source *source = lr_source_open(job, path, map);
    const void *data;
    uint64_t size;
    if (source && rec_source_view(job, source, &data, &size) != REC_OK) {
        rec_source_release(source);
        source = NULL;
    }
    return source;
}

rec_source *lr_source_fd(rec_job *job, int fd, const char *name, bool map)
{
    rec_source *source = lr_source_new(job, name);
    if (source && fill(job, source, fd, true, map) != REC_OK) {
        rec_source_release(source);
        source = NULL;
    }
    if (source) {
        lr_job_input(job, source->size);
    }
    return source;
}
