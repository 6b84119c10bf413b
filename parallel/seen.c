/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that one process looks at for others: it writes down the names, sizes, times and headers that a load of headers
 * asks for; a process that is shown what it wrote opens none of them before it needs the bytes of a tensor, and then
 * only if it is that file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/config/config.h"
#include "core/io/io.h"
#include "librecord/parallel.h"
#include "recorder/recorder.h"

/* Of a file a header is written down, or all of a small one; what is more of it each process reads by itself. */
#define NOTED_FREE (UINT64_C(1) << 20)
#define NOTED_MOST (UINT64_C(128) << 20)
#define NOTED_ALL (UINT64_C(512) << 20)
/* Files that are open at once. */
enum { OPEN_MOST = 64 };

typedef enum seen_kind {
    SEEN_FILE,
    SEEN_MISSING, /* no such file */
    SEEN_ITSELF   /* each looks at it by itself */
} seen_kind;

typedef struct seen_range {
    uint64_t at, size;
    const uint8_t *bytes;
} seen_range;

typedef struct seen_file {
    char *path;
    uint64_t kind, size, seconds, nanoseconds;
    seen_range *ranges;
    uint64_t count, room, noted; /* ranges, and bytes in them */
} seen_file;

typedef struct seen seen_source;

typedef struct seen_table {
    lr_parallel parallel; /* of the job that notes it */
    const lr_allocator *allocator;
    atomic_uint_fast64_t holders; /* its sources, and the context that it is shown to, or the job that writes it */
    lr_arena text;                /* paths and bytes */
    seen_file **files;            /* each stays where it is */
    uint64_t count, room, noted;  /* bytes of all */
    atomic_uint_fast64_t next;    /* index of the file that is probably next */
    pthread_mutex_t lock;         /* protects all members except files' contents */
    seen_source *open[OPEN_MOST];
    uint64_t clock;
} seen_table;

/* Notes given to a context. */
typedef struct shown {
    lr_attached attached; /* the first member */
    lr_parallel parallel; /* the context's */
    const lr_allocator *allocator;
    seen_table **tables;
    uint64_t count, room;
} shown;

/* What a source of such a file has. */
struct seen {
    seen_table *table;
    const seen_file *file;
    seen_file *noted; /* the same while it is written down, else NULL */
    bool map;         /* it may be mapped */
    int fd;           /* -1: it is not open */
    uint32_t busy;    /* active readers */
    uint64_t used;    /* when it was last */
};

/* ------------------------------------------------------------------------------------------------------ tables -- */

static void table_release(seen_table *table)
{
    if (!table || atomic_fetch_sub_explicit(&table->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (uint64_t i = 0; i < table->count; i++) {
        lr_release(table->allocator, table->files[i]->ranges);
        lr_release(table->allocator, table->files[i]);
    }
    lr_release(table->allocator, (void *)table->files);
    lr_arena_free(&table->text);
    (void)pthread_mutex_destroy(&table->lock);
    lr_release(table->allocator, table);
}

static void forget(shown *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        table_release(s->tables[i]);
    }
    s->count = 0;
}

static void release_attached(lr_attached *what)
{
    shown *s = (shown *)what;
    forget(s);
    lr_release(s->allocator, (void *)s->tables);
    lr_release(s->allocator, s);
}

static shown *shown_to(const rec_job *job)
{
    return (shown *)lr_context_attached(job->context, release_attached);
}

static seen_table *table_new(rec_job *job)
{
    const lr_allocator *allocator = job->allocator;
    seen_table *table = lr_zalloc(allocator, sizeof *table);
    if (table && !lr_lock_init(&table->lock)) {
        lr_release(allocator, table);
        table = NULL;
    }
    if (!table) {
        (void)lr_fail_memory(job, sizeof *table);
        return NULL;
    }
    table->allocator = allocator;
    atomic_init(&table->holders, 1);
    lr_arena_init(&table->text, allocator);
    return table;
}

/* @return NULL: out of memory. */
static seen_file *add_file(seen_table *table, const char *path, uint64_t length, seen_kind kind)
{
    seen_file *file = lr_zalloc(table->allocator, sizeof *file);
    char *text = lr_arena_text(&table->text, path, length);
    if (!file || !text ||
        !lr_grow(table->allocator, (void *)&table->files, table->count + 1, &table->room, sizeof *table->files)) {
        lr_release(table->allocator, file);
        return NULL;
    }
    file->path = text;
    file->kind = kind;
    table->files[table->count++] = file;
    return file;
}

static bool add_range(seen_table *table, seen_file *file, uint64_t at, const void *bytes, uint64_t size)
{
    uint8_t *copy = lr_arena_alloc(&table->text, size ? size : 1, 1);
    if (!copy ||
        !lr_grow(table->allocator, (void *)&file->ranges, file->count + 1, &file->room, sizeof *file->ranges)) {
        return false;
    }
    memcpy(copy, bytes, (size_t)size);
    file->ranges[file->count++] = (seen_range){at, size, copy};
    file->noted += size;
    table->noted += size;
    return true;
}

/* Searches from the last hit: a file may be listed twice, and files are usually opened in the listed order. */
static seen_file *find_file(seen_table *table, const char *path)
{
    uint64_t next = atomic_load_explicit(&table->next, memory_order_relaxed);
    seen_file *found = next < table->count && strcmp(table->files[next]->path, path) == 0 ? table->files[next] : NULL;
    for (uint64_t i = table->count; i-- > 0 && !found;) {
        if (strcmp(table->files[i]->path, path) == 0) {
            found = table->files[i];
            next = i;
        }
    }
    atomic_store_explicit(&table->next, found ? next + 1 : next, memory_order_relaxed);
    return found;
}

/* In what was shown last. */
static seen_file *find_shown(const lr_parallel *self, const char *path, seen_table **table)
{
    const shown *s = self->user;
    seen_file *found = NULL;
    for (uint64_t i = s->count; i-- > 0 && !found;) {
        *table = s->tables[i];
        found = find_file(*table, path);
    }
    return found;
}

static const uint8_t *find_range(const seen_file *file, uint64_t at, uint64_t size)
{
    for (uint64_t i = 0; i < file->count; i++) {
        const seen_range *r = &file->ranges[i];
        if (at >= r->at && at - r->at <= r->size && size <= r->size - (at - r->at)) {
            return r->bytes + (at - r->at);
        }
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------- the files -- */

static uint64_t seconds_of(const struct stat *info)
{
    return (uint64_t)(int64_t)info->st_mtim.tv_sec;
}

static const char *time_text(uint64_t seconds, char *buffer, size_t room)
{
    time_t at = (time_t)(int64_t)seconds;
    struct tm parts;
    if (!gmtime_r(&at, &parts) || strftime(buffer, room, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        (void)snprintf(buffer, room, "%" PRId64, (int64_t)seconds);
    }
    return buffer;
}

static bool is_same(const seen_file *file, const struct stat *info)
{
    return S_ISREG(info->st_mode) && (uint64_t)info->st_size == file->size && seconds_of(info) == file->seconds &&
           (uint64_t)info->st_mtim.tv_nsec == file->nanoseconds;
}

static int32_t check_same(rec_job *job, const rec_source *source, const seen_file *file, int fd)
{
    struct stat info;
    char is[32], was[32], is_time[32], was_time[32];
    if (fstat(fd, &info) != 0) {
        return lr_io_errno(job, rec_source_name(source), REC_UNKNOWN, NULL, errno, "inspect the file");
    }
    if (is_same(file, &info)) {
        return REC_OK;
    }
    return lr_io_fail(
        job, rec_source_name(source), REC_E_MISMATCH, REC_UNKNOWN,
        "Use the same file everywhere, and do not write to it meanwhile.",
        "this is not the file whose header was read: it has %s bytes and is of %s, that had %s and was of %s",
        lr_group_digits((uint64_t)info.st_size, is, sizeof is), time_text(seconds_of(&info), is_time, sizeof is_time),
        lr_group_digits(file->size, was, sizeof was), time_text(file->seconds, was_time, sizeof was_time));
}

/* A place for one more that is open. The table is locked. @return NULL: all are being read. */
static seen_source **find_place(seen_table *table)
{
    seen_source **place = NULL;
    for (uint32_t i = 0; i < OPEN_MOST; i++) {
        seen_source **at = &table->open[i];
        if (!*at) {
            return at;
        }
        if (!(*at)->busy && (!place || (*at)->used < (*place)->used)) {
            place = at;
        }
    }
    if (place) {
        (void)close((*place)->fd);
        (*place)->fd = -1;
        *place = NULL;
    }
    return place;
}

/* The file, to be given back with done(). Its descriptor is this reader's own if too many read at once. */
static int32_t begin(rec_job *job, const rec_source *source, int *fd)
{
    seen_source *self = lr_source_self(source);
    seen_table *table = self->table;
    seen_source **place;
    int32_t status = REC_OK;
    int error = 0;
    (void)pthread_mutex_lock(&table->lock);
    if (self->fd < 0) {
        status = lr_path_open(job, rec_source_name(source), O_RDONLY, fd, &error);
        if (error) {
            status = lr_path_refused(job, rec_source_name(source), error);
        }
        status = status == REC_OK ? check_same(job, source, self->file, *fd) : status;
        place = status == REC_OK ? find_place(table) : NULL;
        if (place) {
            *place = self;
            self->fd = *fd;
        } else if (status != REC_OK && *fd >= 0) {
            (void)close(*fd);
        }
    } else {
        *fd = self->fd;
    }
    if (status == REC_OK && *fd == self->fd) {
        self->busy++;
        self->used = ++table->clock;
    }
    (void)pthread_mutex_unlock(&table->lock);
    return status;
}

static void done(const rec_source *source, int fd)
{
    seen_source *self = lr_source_self(source);
    (void)pthread_mutex_lock(&self->table->lock);
    if (fd == self->fd) {
        self->busy--;
    } else {
        (void)close(fd);
    }
    (void)pthread_mutex_unlock(&self->table->lock);
}

/* ----------------------------------------------------------------------------------------------- their sources -- */

static uint64_t seen_size(const rec_source *source)
{
    return ((const seen_source *)lr_source_self(source))->file->size;
}

/* Each has to read so much of it that it is no header: the looking ends here. */
static int32_t leave_to_each(rec_job *job, const rec_source *source)
{
    seen_source *self = lr_source_self(source);
    self->noted->kind = SEEN_ITSELF;
    self->noted->count = self->noted->noted = 0;
    return lr_io_fail(job, rec_source_name(source), REC_E_LIMIT, REC_UNKNOWN, NULL,
                      "this has no header that can be read by itself");
}

static int32_t note(rec_job *job, const rec_source *source, uint64_t at, const void *bytes, uint64_t size)
{
    seen_source *self = lr_source_self(source);
    const seen_file *file = self->file;
    uint64_t most = file->size / 4 > NOTED_FREE ? file->size / 4 : NOTED_FREE;
    if (!self->noted || find_range(file, at, size)) {
        return REC_OK;
    }
    most = most < NOTED_MOST ? most : NOTED_MOST;
    if (file->noted + size > most || self->table->noted + size > NOTED_ALL) {
        return leave_to_each(job, source);
    }
    return add_range(self->table, self->noted, at, bytes, size) ? REC_OK : lr_fail_memory(job, size);
}

static int32_t seen_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    const seen_source *self = lr_source_self(source);
    const uint8_t *known = find_range(self->file, at, size);
    int32_t status = REC_OK;
    int fd = -1;
    if (known) {
        memcpy(target, known, (size_t)size);
        return REC_OK;
    }
    status = begin(job, source, &fd);
    if (status == REC_OK) {
        status = lr_io_read_at(job, rec_source_name(source), fd, self->file->size, at, target, size);
        done(source, fd);
    }
    return status == REC_OK ? note(job, source, at, target, size) : status;
}

/* All of it: what was written down, else mapped, or copied where it cannot be. */
static int32_t seen_view(rec_job *job, rec_source *source)
{
    const seen_source *self = lr_source_self(source);
    const uint8_t *known = find_range(self->file, 0, self->file->size);
    int32_t status;
    int fd = -1;
    if (known) {
        lr_source_ready(source, known, self->file->size);
        return REC_OK;
    }
    if (self->noted) {
        return self->file->size <= NOTED_FREE ? lr_source_read_whole(job, source) : leave_to_each(job, source);
    }
    status = begin(job, source, &fd);
    if (status == REC_OK) {
        status = lr_source_fill(job, source, fd, 0, self->file->size, self->map);
        done(source, fd);
    }
    return status;
}

static int32_t seen_map_late(rec_job *job, rec_source *source)
{
    const seen_source *self = lr_source_self(source);
    int fd = -1;
    int32_t status;
    if (!self->map) {
        return REC_OK;
    }
    status = begin(job, source, &fd);
    if (status == REC_OK) {
        (void)lr_source_map_file(source, fd, 0, self->file->size);
        done(source, fd);
    }
    return status;
}

static void seen_release(rec_source *source)
{
    seen_source *self = lr_source_self(source);
    seen_table *table = self->table;
    (void)pthread_mutex_lock(&table->lock);
    for (uint32_t i = 0; i < OPEN_MOST; i++) {
        if (table->open[i] == self) {
            (void)close(self->fd);
            table->open[i] = NULL;
        }
    }
    (void)pthread_mutex_unlock(&table->lock);
    lr_release(table->allocator, self);
    table_release(table);
}

static const lr_source_ops seen_ops = {
    .stored = true,
    .lasting = true, /* a later read returns the same bytes or fails */
    .size = seen_size,
    .view = seen_view,
    .map_late = seen_map_late,
    .read_at = seen_read_at,
    .release = seen_release,
};

/* The source becomes that of a file. */
static int32_t become(rec_job *job, rec_source *source, seen_table *table, const seen_file *file, seen_file *noted,
                      bool map)
{
    seen_source *self = lr_zalloc(table->allocator, sizeof *self);
    if (!self) {
        return lr_fail_memory(job, sizeof *self);
    }
    (void)atomic_fetch_add_explicit(&table->holders, 1, memory_order_relaxed);
    *self = (seen_source){.table = table, .file = file, .noted = noted, .map = map, .fd = -1};
    lr_source_become(source, &seen_ops, self);
    return REC_OK;
}

/* Notes a file. Anything other than a regular, non-empty file is left to each process. */
static int32_t look(const lr_parallel *parallel, rec_job *job, rec_source *source, bool map, bool *missing,
                    bool *done_here)
{
    seen_table *table = parallel->user;
    struct stat info;
    int error = stat(rec_source_name(source), &info) == 0 ? 0 : errno;
    bool gone = missing && (error == ENOENT || error == ENOTDIR);
    bool good = !error && S_ISREG(info.st_mode) && info.st_size > 0;
    seen_file *file = find_file(table, rec_source_name(source));
    if (file && good && file->kind == SEEN_FILE && is_same(file, &info)) {
        *done_here = true;
        return become(job, source, table, file, file, map);
    }
    file = add_file(table, rec_source_name(source), strlen(rec_source_name(source)),
                    gone   ? SEEN_MISSING
                    : good ? SEEN_FILE
                           : SEEN_ITSELF);
    if (!file) {
        return lr_fail_memory(job, sizeof *file);
    }
    *done_here = gone || good;
    if (gone) {
        *missing = true;
    }
    if (!good) {
        return REC_OK;
    }
    file->size = (uint64_t)info.st_size;
    file->seconds = seconds_of(&info);
    file->nanoseconds = (uint64_t)info.st_mtim.tv_nsec;
    return become(job, source, table, file, file, map);
}

static bool was_shown(const lr_parallel *parallel, const char *path)
{
    seen_table *table;
    const seen_file *file = find_shown(parallel, path, &table);
    return file && file->kind == SEEN_FILE;
}

static int32_t open_shown(const lr_parallel *parallel, rec_job *job, rec_source *source, bool map, bool *missing,
                          bool *done_here)
{
    seen_table *table;
    const seen_file *file = find_shown(parallel, rec_source_name(source), &table);
    if (!file || file->kind == SEEN_ITSELF || (file->kind == SEEN_MISSING && !missing)) {
        return REC_OK;
    }
    *done_here = true;
    if (file->kind == SEEN_MISSING) {
        *missing = true;
        return REC_OK;
    }
    return become(job, source, table, file, NULL, map);
}

/* ------------------------------------------------------------------------------------------ from one to others -- */

/* As bytes, in this machine's order, which shows in the first number: MAGIC, and of each file a head; the path; of each
 * range its place and size, and the bytes. */
static const uint64_t magic = UINT64_C(0x316e656573726c); /* "lrseen1" */
typedef struct file_head {
    uint64_t kind, size, seconds, nanoseconds;
    uint64_t path, ranges; /* length; number */
} file_head;
typedef struct range_head {
    uint64_t at, size;
} range_head;

static seen_table *begin_table(rec_job *job)
{
    seen_table *table = table_new(job);
    if (table) {
        table->parallel = (lr_parallel){.user = table, .open = look, .headers = true};
        job->parallel = &table->parallel;
    }
    return table;
}

static uint8_t *put(uint8_t *at, const void *bytes, uint64_t size)
{
    memcpy(at, bytes, (size_t)size);
    return at + size;
}

static uint64_t bytes_of(const seen_table *table)
{
    uint64_t size = sizeof magic;
    for (uint64_t i = 0; i < table->count; i++) {
        const seen_file *file = table->files[i];
        size += sizeof(file_head) + strlen(file->path) + file->count * sizeof(range_head) + file->noted;
    }
    return size;
}

static int32_t end_table(rec_job *job, seen_table *table, void **data, uint64_t *size)
{
    uint64_t all = bytes_of(table);
    uint8_t *bytes = malloc((size_t)all), *at = bytes;
    job->parallel = NULL;
    if (!bytes) {
        table_release(table);
        return lr_fail_memory(job, all);
    }
    at = put(at, &magic, sizeof magic);
    for (uint64_t i = 0; i < table->count; i++) {
        const seen_file *file = table->files[i];
        const file_head head = {file->kind,        file->size,         file->seconds,
                                file->nanoseconds, strlen(file->path), file->count};
        at = put(put(at, &head, sizeof head), file->path, head.path);
        for (uint64_t r = 0; r < file->count; r++) {
            const range_head range = {file->ranges[r].at, file->ranges[r].size};
            at = put(put(at, &range, sizeof range), file->ranges[r].bytes, range.size);
        }
    }
    table_release(table);
    *data = bytes;
    *size = all;
    return REC_OK;
}

/* The bytes that are left to parse. */
typedef struct left {
    const uint8_t *at;
    uint64_t size;
} left;

/* NULL: there are fewer. */
static const uint8_t *take(left *l, uint64_t size)
{
    const uint8_t *at = l->at;
    if (l->size < size) {
        return NULL;
    }
    l->at += size;
    l->size -= size;
    return at;
}

static bool take_into(left *l, void *target, uint64_t size)
{
    const uint8_t *at = take(l, size);
    return at && memcpy(target, at, (size_t)size);
}

/* @return REC_E_ARGUMENT: those are no such bytes. */
static int32_t take_file(seen_table *table, left *l)
{
    file_head head;
    const uint8_t *path = take_into(l, &head, sizeof head) ? take(l, head.path) : NULL;
    seen_file *file;
    if (!path || head.kind > SEEN_ITSELF || memchr(path, '\0', (size_t)head.path)) {
        return REC_E_ARGUMENT;
    }
    file = add_file(table, (const char *)path, head.path, (seen_kind)head.kind);
    if (!file) {
        return REC_E_MEMORY;
    }
    file->size = head.size;
    file->seconds = head.seconds;
    file->nanoseconds = head.nanoseconds;
    for (uint64_t r = 0; r < head.ranges; r++) {
        range_head range;
        const uint8_t *bytes = take_into(l, &range, sizeof range) ? take(l, range.size) : NULL;
        if (!bytes || range.size > file->size || range.at > file->size - range.size) {
            return REC_E_ARGUMENT;
        }
        if (!add_range(table, file, range.at, bytes, range.size)) {
            return REC_E_MEMORY;
        }
    }
    return REC_OK;
}

/* Where the context keeps what it is shown. NULL: the job has failed. */
static shown *attach(rec_job *job)
{
    shown *s = shown_to(job);
    if (!s) {
        s = lr_job_zalloc(job, sizeof *s);
        if (!s) {
            return NULL;
        }
        s->allocator = job->allocator;
        s->attached.release = release_attached;
        s = (shown *)lr_context_attach(job->context, &s->attached);
        s->parallel = (lr_parallel){.user = s, .open = open_shown, .has = was_shown};
        atomic_store_explicit(&job->context->parallel, &s->parallel, memory_order_release);
    }
    return s;
}

static int32_t show_table(rec_job *job, const void *data, uint64_t size)
{
    left l = {data, size};
    uint64_t begins;
    shown *s = attach(job);
    seen_table *table;
    int32_t status = take_into(&l, &begins, sizeof begins) && begins == magic ? REC_OK : REC_E_ARGUMENT;
    if (s && !size) {
        forget(s);
        return REC_OK;
    }
    table = s ? table_new(job) : NULL;
    if (!table) {
        return job->error.status;
    }
    while (status == REC_OK && l.size) {
        status = take_file(table, &l);
    }
    if (status == REC_OK && !lr_grow(s->allocator, (void *)&s->tables, s->count + 1, &s->room, sizeof(seen_table *))) {
        status = REC_E_MEMORY;
    }
    if (status == REC_OK) {
        s->tables[s->count++] = table;
        return REC_OK;
    }
    table_release(table);
    return status == REC_E_MEMORY ? lr_fail_memory(job, size)
                                  : rec_fail(job, status, REC_UNKNOWN, "these are not the bytes of rec_files_look()");
}

/* ------------------------------------------------------------------------------------------------- public part -- */

/* What tells one format from another, which a caller without a recorder asks for. */
static void look_at_ends(rec_job *job, const char *path)
{
    rec_source *source = lr_registry_open(job, path, false);
    rec_head head;
    if (source && lr_source_head(job, source, &head) == REC_OK) {
        (void)lr_source_tail(job, source, &head);
    }
    lr_source_release(source);
}

rec_status rec_files_look(rec_recorder *recorder, const char *path, void **files, uint64_t *size)
{
    rec_job job;
    seen_table *seen;
    if (LR_NULL(recorder) || LR_NULL(path) || LR_NULL(files) || LR_NULL(size)) {
        return REC_E_ARGUMENT;
    }
    *files = NULL;
    *size = 0;
    lr_recorder_job(&job, recorder, "look at", path);
    seen = begin_table(&job);
    if (seen) {
        rec_status status;
        look_at_ends(&job, path);
        if (!lr_job_failed(&job)) {
            rec_record_free(lr_load_file(&job, recorder, path));
        }
        status = job.error.status;
        if (status != REC_E_MEMORY && status != REC_E_CANCELLED) {
            lr_job_again(&job); /* the load reports it */
        }
        (void)end_table(&job, seen, files, size);
    }
    return lr_job_end(&job);
}

rec_status rec_files_show(rec_recorder *recorder, const void *files, uint64_t size)
{
    rec_job job;
    if (LR_NULL(recorder) || (size && LR_NULL(files))) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "look at", NULL);
    (void)show_table(&job, files, size);
    return lr_job_end(&job);
}
