/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks: layout, memory, descriptors, filters, and what happens when a write fails. Files are in test_sink_file.c. */
#include "tests/test_io.h"
#include "tests/custom_sink.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define MIB ((size_t)1 << 20)

/* ----------------------------------------------------------------------------------------------------- helpers -- */

struct stream {
    const uint8_t *data;
    size_t at;
    size_t fail_at; /* the first byte that cannot be made */
    int calls;
};

static int32_t stream_read(void *user, void *target, uint64_t size)
{
    struct stream *stream = user;
    stream->calls++;
    if (stream->at + size > stream->fail_at) {
        return REC_E_RANGE;
    }
    memcpy(target, stream->data + stream->at, (size_t)size);
    stream->at += (size_t)size;
    return REC_OK;
}

static rec_blob blob_of(int32_t kind, const void *data, uint64_t size)
{
    return (rec_blob){.size = sizeof(rec_blob), .kind = kind, .length = size, .data = data, .offset = REC_UNKNOWN};
}

/* Writes `size` bytes of the pattern in every way there is, in pieces that grow and shrink. */
static int32_t write_in_every_way(world *w, rec_sink *sink, const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 7, 0, 3000, 40000, 5, 70000, 33 * 1024, 2 << 20, 9, 100};
    rec_source *source = lr_source_memory(&w->job, data, size, "m");
    int32_t status = source ? REC_OK : w->job.error.status;
    size_t at = 0;
    for (size_t i = 0; at < size && status == REC_OK; i++) {
        size_t piece = pieces[i % (sizeof pieces / sizeof *pieces)];
        struct stream stream = {.data = data + at, .fail_at = SIZE_MAX};
        rec_blob blob;
        if (piece > size - at) {
            piece = size - at;
        }
        switch (i % 5) {
        case 0:
            status = rec_sink_write(sink, data + at, piece);
            break;
        case 1:
            blob = blob_of(REC_BLOB_VIEW, data + at, piece);
            status = rec_sink_put(sink, &blob);
            break;
        case 2: {
            uint8_t *copy = malloc(piece + 1); /* gone after the call, as the contract says */
            assert_non_null(copy);
            memcpy(copy, data + at, piece);
            blob = blob_of(REC_BLOB_TEMPORARY, copy, piece);
            status = rec_sink_put(sink, &blob);
            memset(copy, 0xEE, piece + 1);
            free(copy);
            break;
        }
        case 3:
            blob = blob_of(REC_BLOB_RANGE, NULL, piece);
            blob.source = source;
            blob.offset = at;
            status = rec_sink_put(sink, &blob);
            break;
        default:
            blob = blob_of(REC_BLOB_STREAM, NULL, piece);
            blob.read = stream_read;
            blob.user = &stream;
            status = rec_sink_put(sink, &blob);
            break;
        }
        at += piece;
        if (status == REC_OK) {
            assert_int_equal(rec_sink_tell(sink), at);
        }
    }
    rec_source_release(source);
    return status;
}

/* ------------------------------------------------------------------------------------------- layout and memory -- */

static void a_layout_counts_and_reads_nothing(void **state)
{
    world *w = *state;
    rec_sink *sink = rec_sink_layout(&w->job);
    rec_blob view = blob_of(REC_BLOB_VIEW, "x", UINT64_C(1) << 40); /* nowhere near that much is there */
    struct stream stream = {0};
    rec_blob made = blob_of(REC_BLOB_STREAM, NULL, UINT64_C(1) << 41);
    made.read = stream_read;
    made.user = &stream;
    assert_non_null(sink);
    assert_int_equal(rec_sink_write(sink, "abc", 3), REC_OK);
    assert_int_equal(rec_sink_put(sink, &view), REC_OK);
    assert_int_equal(rec_sink_put(sink, &made), REC_OK);
    assert_int_equal(rec_sink_tell(sink), 3 + (UINT64_C(3) << 40));
    assert_int_equal(stream.calls, 0);
    view.length = UINT64_MAX;
    assert_int_equal(rec_sink_put(sink, &view), REC_E_RANGE);
    assert_int_equal(rec_sink_close(sink), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "a file cannot have 2^64 bytes");
    assert_int_equal(w->progress_calls, 0);
}

static void memory_takes_every_kind_of_write(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(9 * MIB);
    for (int reserve = 0; reserve < 3; reserve++) {
        rec_sink *sink = lr_sink_memory(&w->job);
        void *bytes;
        uint64_t size;
        assert_non_null(sink);
        assert_int_equal(lr_sink_reserve(sink, (uint64_t)reserve * 5 * MIB), REC_OK);
        assert_int_equal(write_in_every_way(w, sink, data, 9 * MIB), REC_OK);
        assert_int_equal(lr_sink_take(sink, &bytes, &size), REC_OK);
        assert_int_equal(lr_sink_commit(sink), REC_OK);
        assert_int_equal(size, 9 * MIB);
        assert_int_equal(memcmp(bytes, data, (size_t)size), 0);
        free(bytes);
    }
    assert_true(w->progress_calls >= 6);
    free(data);
}

static void memory_of_nothing_can_be_freed(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_memory(&w->job);
    void *bytes;
    uint64_t size;
    assert_int_equal(lr_sink_take(sink, &bytes, &size), REC_OK);
    assert_non_null(bytes);
    assert_int_equal(size, 0);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    free(bytes);
}

static void memory_that_nobody_takes_goes_with_the_sink(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_memory(&w->job);
    void *bytes = &bytes;
    uint64_t size = 1;
    assert_int_equal(rec_sink_write(sink, "abc", 3), REC_OK);
    (void)rec_fail(&w->job, REC_E_FORMAT, REC_UNKNOWN, "something else");
    assert_int_equal(rec_sink_write(sink, "abc", 3), REC_E_FORMAT);
    assert_int_equal(lr_sink_take(sink, &bytes, &size), REC_E_FORMAT);
    assert_null(bytes);
    assert_int_equal(size, 0);
    assert_int_equal(lr_sink_commit(sink), REC_E_FORMAT);
}

static void broken_blobs_are_refused(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_memory(&w->job);
    rec_blob blob = blob_of(9, "x", 1);
    assert_int_equal(rec_sink_put(sink, &blob), REC_E_PLUGIN);
    assert_int_equal(lr_sink_commit(sink), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "a blob of kind 9 without what that kind needs");
}

static void a_stream_that_fails_stops_the_save(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(5 * MIB);
    rec_sink *sink = lr_sink_memory(&w->job);
    struct stream stream = {.data = data, .fail_at = 4 * MIB + 1};
    rec_blob blob = blob_of(REC_BLOB_STREAM, NULL, 5 * MIB);
    blob.read = stream_read;
    blob.user = &stream;
    assert_int_equal(rec_sink_put(sink, &blob), REC_E_PLUGIN);
    assert_int_equal(lr_sink_commit(sink), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "has a blob's read function that failed with status 8 and gave no reason");
    free(data);
}

/* ------------------------------------------------------------------------------------------------- descriptors -- */

static void a_descriptor_takes_every_kind_of_write(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(9 * MIB);
    int fd = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    rec_sink *sink;
    assert_int_equal(write(fd, "before", 6), 6);
    sink = lr_sink_fd(&w->job, fd);
    assert_non_null(sink);
    assert_int_equal(lr_sink_reserve(sink, 9 * MIB), REC_OK);
    assert_int_equal(write_in_every_way(w, sink, data, 9 * MIB), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(write(fd, "after", 5), 5); /* still open */
    (void)close(fd);
    {
        size_t size;
        char *bytes = read_file("out", &size);
        assert_int_equal(size, 9 * MIB + 11);
        assert_memory_equal(bytes, "before", 6);
        assert_int_equal(memcmp(bytes + 6, data, 9 * MIB), 0);
        assert_memory_equal(bytes + 6 + 9 * MIB, "after", 5);
        free(bytes);
    }
    assert_true(w->progress_calls >= 2);
    free(data);
}

static void count_free(void *user, const void *data)
{
    ++*(int *)user;
    free((void *)(uintptr_t)data);
}

static void views_are_kept_until_they_are_written(void **state)
{
    world *w = *state;
    const size_t size = 5000;
    uint8_t *data = make_pattern(300 * size);
    for (int fail = 0; fail < 2; fail++) {
        int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        rec_sink *sink = lr_sink_fd(&w->job, fd);
        int freed = 0, most = 0;
        for (int i = 0; i < 300; i++) {
            uint8_t *copy = malloc(size);
            rec_source *source;
            rec_blob blob;
            assert_non_null(copy);
            memcpy(copy, data + (size_t)i * size, size);
            source = lr_source_owned(&w->context.allocator, copy, size, count_free, &freed);
            blob = blob_of(REC_BLOB_VIEW, copy, size);
            blob.source = source;
            assert_int_equal(rec_sink_put(sink, &blob), REC_OK);
            rec_source_release(source); /* the sink has a count of its own */
            most = i + 1 - freed > most ? i + 1 - freed : most;
        }
        assert_true(most > 1 && most <= 256); /* they waited, but not for ever */
        assert_true(freed < 300);
        if (fail) {
            (void)rec_fail(&w->job, REC_E_RANGE, REC_UNKNOWN, "something else");
        }
        assert_int_equal(lr_sink_commit(sink), fail ? REC_E_RANGE : REC_OK);
        assert_int_equal(freed, 300);
        (void)close(fd);
        if (!fail) {
            assert_file("out", data, 300 * size);
        }
    }
    free(data);
}

static void a_mapped_file_that_was_cut_is_an_error(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(3 * MIB);
    int fd = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    rec_sink *sink = lr_sink_fd(&w->job, fd);
    rec_source *source;
    rec_blob blob = blob_of(REC_BLOB_RANGE, NULL, 3 * MIB);
    write_file("in", data, 3 * MIB);
    source = source_of_file(&w->job, "in", true);
    assert_int_equal(truncate("in", 4096), 0);
    blob.source = source;
    blob.offset = 0;
    assert_int_equal(rec_sink_put(sink, &blob), REC_E_IO);
    assert_int_equal(lr_sink_commit(sink), REC_E_IO);
    assert_failed(w, REC_E_IO, "in: the file was truncated while it was read\n");
    rec_source_release(source);
    (void)close(fd);
    free(data);
}

/* Reads a pipe only when it is full, so that the writer has to wait for each piece. */
struct drain {
    int ends[2];
    const uint8_t *data;
    size_t size;
    size_t piece;
    bool interrupts; /* each wait by a signal */
    pthread_t writer;
    atomic_bool written; /* the writer is done */
    bool equal;
};

static void wait_until_full(struct drain *drain)
{
    struct pollfd room = {.fd = drain->ends[1], .events = POLLOUT};
    while (!atomic_load(&drain->written) && poll(&room, 1, 0) == 1) {
        (void)sched_yield();
    }
    if (drain->interrupts && !atomic_load(&drain->written)) {
        (void)pthread_kill(drain->writer, SIGUSR1);
    }
}

static void *drain_pipe(void *user)
{
    struct drain *drain = user;
    uint8_t room[65536];
    size_t at = 0;
    ssize_t n;
    drain->equal = true;
    do {
        wait_until_full(drain);
        n = read(drain->ends[0], room, drain->piece);
        if (n > 0) {
            drain->equal =
                drain->equal && at + (size_t)n <= drain->size && memcmp(room, drain->data + at, (size_t)n) == 0;
            at += (size_t)n;
        }
    } while (n > 0);
    drain->equal = drain->equal && at == drain->size;
    (void)close(drain->ends[0]);
    return NULL;
}

static void begin_drain(struct drain *drain, int flags, pthread_t *thread)
{
    assert_int_equal(pipe2(drain->ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(drain->ends[1], F_SETFL, flags), 0);
    drain->writer = pthread_self();
    assert_int_equal(pthread_create(thread, NULL, drain_pipe, drain), 0);
}

static void end_drain(struct drain *drain, pthread_t thread)
{
    atomic_store(&drain->written, true);
    (void)close(drain->ends[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(drain->equal);
}

static void a_slow_pipe_that_does_not_block_gets_all(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(3 * MIB);
    pthread_t thread;
    struct drain drain = {.data = data, .size = 3 * MIB, .piece = 30011};
    rec_sink *sink;
    begin_drain(&drain, O_NONBLOCK, &thread);
    sink = lr_sink_fd(&w->job, drain.ends[1]);
    assert_int_equal(write_in_every_way(w, sink, data, 3 * MIB), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    end_drain(&drain, thread);
    free(data);
}

static void ignore_signal(int number)
{
    (void)number;
}

static void signals_do_not_tear_a_write(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(3 * MIB);
    pthread_t thread;
    struct drain drain = {.data = data, .size = 3 * MIB, .piece = 20011, .interrupts = true};
    struct sigaction interrupt = {.sa_handler = ignore_signal}, before; /* without SA_RESTART */
    rec_sink *sink;
    int32_t status;
    assert_int_equal(sigaction(SIGUSR1, &interrupt, &before), 0);
    begin_drain(&drain, 0, &thread);
    sink = lr_sink_fd(&w->job, drain.ends[1]);
    status = rec_sink_write(sink, data, 3 * MIB);
    assert_int_equal(lr_sink_commit(sink), status);
    end_drain(&drain, thread);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(status, REC_OK);
    free(data);
}

static void waiting_for_a_reader_can_be_cancelled(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(MIB);
    int ends[2];
    rec_sink *sink;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    w->cancel_at = 2;
    sink = lr_sink_fd(&w->job, ends[1]);
    assert_int_equal(rec_sink_write(sink, data, MIB), REC_E_CANCELLED); /* nobody ever reads */
    assert_int_equal(lr_sink_commit(sink), REC_E_CANCELLED);
    (void)close(ends[0]);
    (void)close(ends[1]);
    free(data);
}

static void a_reader_that_goes_away_is_named(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(MIB);
    int ends[2];
    rec_sink *sink;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    (void)close(ends[0]);
    sink = lr_sink_fd(&w->job, ends[1]);
    assert_int_equal(rec_sink_write(sink, data, MIB), REC_E_IO);
    assert_int_equal(lr_sink_commit(sink), REC_E_IO);
    assert_failed(w, REC_E_IO, "job.file: byte 0: cannot write: Broken pipe\n  The reader of this output has exited.");
    (void)close(ends[1]);
    (void)signal(SIGPIPE, before);
    free(data);
}

static void a_full_device_says_what_was_needed(void **state)
{
    world *w = *state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    rec_sink *sink;
    if (fd < 0) {
        skip();
    }
    sink = lr_sink_fd(&w->job, fd);
    assert_int_equal(lr_sink_reserve(sink, 12345678), REC_OK);
    assert_int_equal(rec_sink_write(sink, "abc", 3), REC_OK); /* still in the buffer */
    assert_int_equal(lr_sink_commit(sink), REC_E_IO);
    assert_failed(w, REC_E_IO, "job.file: byte 0: cannot write: No space left on device\n  It needs 12,345,678 bytes");
    (void)close(fd);
}

/* ----------------------------------------------------------------------------------------------------- failing -- */

struct faulty {
    int calls;
    int fail_at; /* which write fails, -1: none */
    size_t bytes;
    const uint8_t *data;
    bool equal;
};

static int32_t faulty_write(void *user, rec_job *job, const void *data, uint64_t size)
{
    struct faulty *faulty = user;
    assert_true(size <= 4 * MIB);
    if (faulty->calls++ == faulty->fail_at) {
        return rec_fail(job, REC_E_IO, faulty->bytes, "write %d fails", faulty->calls);
    }
    faulty->equal = faulty->equal && memcmp(data, faulty->data + faulty->bytes, (size_t)size) == 0;
    faulty->bytes += (size_t)size;
    return REC_OK;
}

static void every_write_may_fail(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(9 * MIB);
    bool done = false;
    for (int n = 0; !done; n++) {
        struct faulty faulty = {.fail_at = n, .data = data, .equal = true};
        rec_sink *sink = sink_custom(&w->job, faulty_write, &faulty);
        int32_t status = write_in_every_way(w, sink, data, 9 * MIB);
        assert_int_equal(lr_sink_commit(sink), status);
        assert_true(faulty.equal);
        done = faulty.calls <= n;
        if (done) {
            assert_int_equal(status, REC_OK);
            assert_int_equal(faulty.bytes, 9 * MIB);
            assert_true(n > 20);
        } else {
            char words[64];
            assert_int_equal(status, REC_E_IO);
            assert_int_equal(faulty.calls, n + 1); /* nothing is written after a failure */
            (void)snprintf(words, sizeof words, "write %d fails", n + 1);
            assert_failed(w, REC_E_IO, words);
        }
    }
    free(data);
}

static void progress_is_told_and_cancels(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(40 * MIB);
    rec_blob blob = blob_of(REC_BLOB_VIEW, data, 40 * MIB);
    rec_sink *sink = lr_sink_memory(&w->job);
    assert_int_equal(lr_sink_reserve(sink, 100), REC_OK);
    assert_int_equal(rec_sink_put(sink, &blob), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(w->progress_calls, 10);
    assert_int_equal(w->job.progress.done, 40 * MIB);
    assert_int_equal(w->job.progress.total, 100);
    w->cancel_at = 13;
    sink = lr_sink_memory(&w->job);
    assert_int_equal(rec_sink_put(sink, &blob), REC_E_CANCELLED);
    assert_int_equal(rec_sink_tell(sink), 12 * MIB);
    assert_int_equal(lr_sink_commit(sink), REC_E_CANCELLED);
    free(data);
}

/* ----------------------------------------------------------------------------------------------------- filters -- */

/* Adds a key to every byte, and a trailer with the count. */
struct shift {
    uint8_t key;
    uint64_t count;
    int *finished, *released;
    bool mute_failure;
};

static int32_t shift_write(void *self, rec_sink *target, const void *data, uint64_t size)
{
    struct shift *shift = self;
    const uint8_t *in = data;
    uint8_t out[512];
    assert_true(size <= 4 * MIB);
    if (shift->mute_failure) {
        return REC_E_FORMAT;
    }
    for (uint64_t at = 0; at < size;) {
        uint64_t piece = size - at < sizeof out ? size - at : sizeof out;
        int32_t status;
        for (uint64_t i = 0; i < piece; i++) {
            out[i] = (uint8_t)(in[at + i] + shift->key);
        }
        status = rec_sink_write(target, out, piece);
        if (status != REC_OK) {
            return status;
        }
        at += piece;
    }
    shift->count += size;
    return REC_OK;
}

static int32_t shift_finish(void *self, rec_sink *target)
{
    struct shift *shift = self;
    ++*shift->finished;
    return rec_sink_write(target, &shift->count, sizeof shift->count);
}

static void shift_release(void *self)
{
    struct shift *shift = self;
    ++*shift->released;
    free(shift);
}

static const rec_sink_ops shift_ops = {
    .size = sizeof shift_ops, .write = shift_write, .finish = shift_finish, .release = shift_release};

static struct shift *new_shift(uint8_t key, int *finished, int *released)
{
    struct shift *shift = calloc(1, sizeof *shift);
    assert_non_null(shift);
    *shift = (struct shift){.key = key, .finished = finished, .released = released};
    return shift;
}

static void a_filter_changes_what_passes_and_adds_its_end(void **state)
{
    world *w = *state;
    const size_t size = 9 * MIB;
    uint8_t *data = make_pattern(size);
    int finished = 0, released = 0;
    rec_sink *memory = lr_sink_memory(&w->job);
    rec_sink *outer = rec_sink_filter(&w->job, memory, &shift_ops, new_shift(3, &finished, &released));
    rec_sink *inner = rec_sink_filter(&w->job, outer, &shift_ops, new_shift(4, &finished, &released));
    void *bytes;
    uint64_t got;
    uint64_t count;
    assert_int_equal(write_in_every_way(w, inner, data, size), REC_OK);
    assert_true(w->progress_calls >= 2 && w->progress_calls <= 3); /* told once, not by each of the three */
    assert_int_equal(rec_sink_close(inner), REC_OK);
    assert_int_equal(rec_sink_tell(outer), size + 8);
    assert_int_equal(rec_sink_close(outer), REC_OK);
    assert_int_equal(finished, 2);
    assert_int_equal(released, 2);
    assert_int_equal(lr_sink_take(memory, &bytes, &got), REC_OK);
    assert_int_equal(lr_sink_commit(memory), REC_OK);
    assert_int_equal(got, size + 16);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(data[i] + 7);
    }
    assert_int_equal(memcmp(bytes, data, size), 0);
    memcpy(&count, (uint8_t *)bytes + size + 8, 8);
    assert_int_equal(count, size + 8);
    free(bytes);
    free(data);
}

static void a_filter_is_not_finished_after_a_failure(void **state)
{
    world *w = *state;
    int finished = 0, released = 0;
    struct faulty faulty = {.fail_at = 0};
    rec_sink *target = sink_custom(&w->job, faulty_write, &faulty);
    rec_sink *filter = rec_sink_filter(&w->job, target, &shift_ops, new_shift(3, &finished, &released));
    assert_int_equal(rec_sink_write(filter, "abc", 3), REC_E_IO);
    assert_int_equal(rec_sink_close(filter), REC_E_IO);
    assert_int_equal(lr_sink_commit(target), REC_E_IO);
    assert_int_equal(finished, 0);
    assert_int_equal(released, 1);
}

static void a_filter_that_fails_without_a_word_is_reported(void **state)
{
    world *w = *state;
    int finished = 0, released = 0;
    rec_sink *target = lr_sink_memory(&w->job);
    struct shift *shift = new_shift(3, &finished, &released);
    rec_sink *filter = rec_sink_filter(&w->job, target, &shift_ops, shift);
    shift->mute_failure = true;
    assert_int_equal(rec_sink_write(filter, "abc", 3), REC_E_PLUGIN);
    assert_int_equal(rec_sink_close(filter), REC_E_PLUGIN);
    assert_int_equal(lr_sink_commit(target), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "has a sink filter that failed with status 4 and gave no reason");
}

static void a_filter_without_write_is_refused(void **state)
{
    world *w = *state;
    int finished = 0, released = 0;
    rec_sink_ops ops = shift_ops;
    rec_sink *target = lr_sink_memory(&w->job);
    ops.write = NULL;
    assert_null(rec_sink_filter(&w->job, target, &ops, new_shift(3, &finished, &released)));
    assert_int_equal(released, 1); /* taken, also on failure */
    assert_int_equal(lr_sink_commit(target), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "made a sink filter without `write`");
}

static void a_filter_of_no_sensible_size_is_refused(void **state)
{
    static const uint32_t sizes[] = {0, (uint32_t)offsetof(rec_sink_ops, release), 5000, UINT32_MAX};
    world *w = *state;
    int finished = 0, released = 0;
    rec_sink_ops ops = shift_ops;
    rec_sink *target = lr_sink_memory(&w->job);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ops.size = sizes[i];
        assert_null(rec_sink_filter(&w->job, target, &ops, &finished));
        assert_true(strstr(w->job.error.what, "gave the size of the functions of a sink filter as") != NULL);
        lr_job_forgive(&w->job);
    }
    assert_int_equal(finished + released, 0);
    assert_int_equal(lr_sink_commit(target), REC_OK);
    assert_int_equal(end_job(w), REC_OK);
}

static void the_sink_of_a_save_is_not_a_plugins_to_close(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_memory(&w->job);
    assert_int_equal(rec_sink_close(NULL), REC_OK);
    assert_int_equal(rec_sink_close(sink), REC_E_PLUGIN);
    assert_int_equal(lr_sink_commit(sink), REC_E_PLUGIN);
    assert_failed(w, REC_E_PLUGIN, "closed the sink passed to it");
}

/* ----------------------------------------------------------------------------------------------- out of memory -- */

static void each_allocation_may_fail(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(200000);
    bool done = false;
    use_counted_allocator(w);
    for (int64_t n = 0; !done; n++) {
        int finished = 0, released = 0;
        rec_sink *layout = NULL, *filter = NULL, *out = NULL;
        int fd = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(n < 50);
        w->made = 0;
        w->fail_at = n;
        out = lr_sink_fd(&w->job, fd);
        layout = out ? rec_sink_layout(&w->job) : NULL;
        if (layout) {
            filter = rec_sink_filter(&w->job, out, &shift_ops, new_shift(1, &finished, &released));
            if (filter) {
                (void)write_in_every_way(w, filter, data, 200000);
            }
            (void)rec_sink_close(filter);
            (void)rec_sink_close(layout);
            assert_int_equal(released, 1);
        }
        if (out) {
            (void)lr_sink_commit(out);
        }
        (void)close(fd);
        done = w->made <= n;
        if (done) {
            assert_true(n >= 5);
            assert_int_equal(end_job(w), REC_OK);
        } else if (filter && !lr_job_failed(&w->job)) { /* that closed sinks are remembered is as good as it can be */
            assert_int_equal(end_job(w), REC_OK);
        } else {
            assert_failed(w, REC_E_MEMORY, "out of memory");
        }
        assert_int_equal(w->live, 0);
    }
    free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_layout_counts_and_reads_nothing),
        TEST(memory_takes_every_kind_of_write),
        TEST(memory_of_nothing_can_be_freed),
        TEST(memory_that_nobody_takes_goes_with_the_sink),
        TEST(broken_blobs_are_refused),
        TEST(a_stream_that_fails_stops_the_save),
        TEST(a_descriptor_takes_every_kind_of_write),
        TEST(views_are_kept_until_they_are_written),
        TEST(a_mapped_file_that_was_cut_is_an_error),
        TEST(a_slow_pipe_that_does_not_block_gets_all),
        TEST(signals_do_not_tear_a_write),
        TEST(waiting_for_a_reader_can_be_cancelled),
        TEST(a_reader_that_goes_away_is_named),
        TEST(a_full_device_says_what_was_needed),
        TEST(every_write_may_fail),
        TEST(progress_is_told_and_cancels),
        TEST(a_filter_changes_what_passes_and_adds_its_end),
        TEST(a_filter_is_not_finished_after_a_failure),
        TEST(a_filter_that_fails_without_a_word_is_reported),
        TEST(a_filter_without_write_is_refused),
        TEST(a_filter_of_no_sensible_size_is_refused),
        TEST(the_sink_of_a_save_is_not_a_plugins_to_close),
        TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
