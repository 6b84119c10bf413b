/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources of files, mapped and copied, and of descriptors and streams. */
#include "core/io/io_private.h"
#include "os/file.h"
#include "tests/end_child.h"
#include "tests/test_io.h"

#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#define MIB ((size_t)1 << 20)

/* ------------------------------------------------------------------------------------------------------- files -- */

static void a_file_is_mapped(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(300000);
    rec_source *source;
    write_file("a.bin", data, 300000);
    source = source_of_file(&w->job, "a.bin", true);
    assert_non_null(source);
    assert_true(lr_source_mapped(source));
    assert_string_equal(rec_source_name(source), "a.bin");
    assert_view(w, source, data, 300000);
    assert_int_equal(w->job.input, 300000);
    assert_int_equal(unlink("a.bin"), 0); /* a file that is replaced stays as it was for who has it */
    assert_reads(w, source, data, 300000, 4096);
    rec_source_release(source);
    write_file("one.bin", data, 1);
    source = source_of_file(&w->job, "one.bin", true);
    assert_non_null(source);
    assert_true(lr_source_mapped(source));
    rec_source_release(source);
    free(data);
}

/* By the kernel's own list. Only since some version has it AFS_FS_MAGIC, CIFS's and SMB 2's; Lustre is not in it. */
static void file_systems_of_servers_are_known(void **state)
{
    static const uint32_t remote[] = {NFS_SUPER_MAGIC,     SMB_SUPER_MAGIC,  V9FS_MAGIC,
                                      CEPH_SUPER_MAGIC,    CODA_SUPER_MAGIC, AFS_SUPER_MAGIC,
#ifdef AFS_FS_MAGIC
                                      AFS_FS_MAGIC,
#endif
#ifdef CIFS_SUPER_MAGIC
                                      CIFS_SUPER_MAGIC,    SMB2_SUPER_MAGIC,
#endif
#ifdef FUSE_SUPER_MAGIC
                                      FUSE_SUPER_MAGIC,
#endif
                                      UINT32_C(0x0BD00BD0)};
    static const uint32_t local[] = {EXT4_SUPER_MAGIC, TMPFS_MAGIC, BTRFS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, 0};
    (void)state;
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
        assert_true(lr_file_system_is_remote(remote[i]));
    }
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        assert_false(lr_file_system_is_remote(local[i]));
    }
}

static void a_file_is_copied_by_one_thread_or_several(void **state)
{
    world *w = *state;
    const size_t sizes[] = {1, 4095, 4096, 3 * MIB + 5, 33 * MIB + 123};
    uint8_t *data = make_pattern(34 * MIB);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_file("a.bin", data, sizes[i]);
        for (uint32_t threads = 1; threads <= 64; threads *= 8) {
            rec_source *source;
            w->context.threads = threads;
            source = source_of_file(&w->job, "a.bin", false);
            assert_non_null(source);
            assert_false(lr_source_mapped(source));
            assert_int_equal(truncate("a.bin", 0), 0); /* a copy does not mind */
            assert_view(w, source, data, sizes[i]);
            rec_source_release(source);
            write_file("a.bin", data, sizes[i]);
        }
    }
    free(data);
}

static void an_empty_file_is_an_empty_source(void **state)
{
    world *w = *state;
    write_file("empty", "", 0);
    for (int map = 0; map < 2; map++) {
        rec_source *source = source_of_file(&w->job, "empty", map);
        assert_non_null(source);
        assert_view(w, source, "", 0);
        rec_source_release(source);
    }
}

static void a_file_that_hides_its_size_is_read(void **state)
{
    world *w = *state;
    rec_source *source = source_of_file(&w->job, "/proc/self/status", true);
    rec_head head;
    assert_non_null(source);
    assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
    assert_true(head.length > 100);
    assert_memory_equal(head.data, "Name:", 5);
    rec_source_release(source);
}

static void a_missing_file_is_not_found(void **state)
{
    world *w = *state;
    assert_null(source_of_file(&w->job, "nowhere/a.bin", true));
    assert_failed(w, REC_E_NOT_FOUND, "nowhere/a.bin: cannot open the file: No such file or directory");
}

static void a_folder_is_refused(void **state)
{
    world *w = *state;
    assert_int_equal(mkdir("folder", 0755), 0);
    for (int map = 0; map < 2; map++) {
        assert_null(source_of_file(&w->job, "folder", map));
        assert_failed(w, REC_E_UNSUPPORTED, "folder: this is a directory, not a file");
    }
}

static int32_t shrink_file(void *user, const rec_progress *progress)
{
    (void)user;
    (void)progress;
    return truncate("a.bin", (off_t)(9 * MIB)) != 0;
}

static void a_file_that_shrinks_while_it_is_copied_is_an_error(void **state)
{
    world *w = *state;
    write_file("a.bin", "", 0);
    assert_int_equal(truncate("a.bin", (off_t)(20 * MIB)), 0);
    w->context.progress = shrink_file;
    assert_null(source_of_file(&w->job, "a.bin", false));
    assert_failed(w, REC_E_IO, "a.bin: byte 9,437,184: the file shrank while it was read: it had 20,971,520 bytes");
}

static int32_t grow_file(void *user, const rec_progress *progress)
{
    (void)user;
    (void)progress;
    return truncate("a.bin", (off_t)(30 * MIB)) != 0;
}

static void a_file_that_grows_while_it_is_copied_is_what_it_was(void **state)
{
    world *w = *state;
    rec_source *source;
    write_file("a.bin", "", 0);
    assert_int_equal(truncate("a.bin", (off_t)(9 * MIB)), 0);
    w->context.progress = grow_file;
    source = source_of_file(&w->job, "a.bin", false);
    assert_non_null(source);
    assert_int_equal(rec_source_size(source), 9 * MIB);
    rec_source_release(source);
}

static void copying_can_be_cancelled(void **state)
{
    world *w = *state;
    write_file("a.bin", "", 0);
    assert_int_equal(truncate("a.bin", (off_t)(200 * MIB)), 0);
    w->cancel_at = 2;
    assert_null(source_of_file(&w->job, "a.bin", false));
    assert_int_equal(end_job(w), REC_E_CANCELLED);
    assert_int_equal(w->progress_calls, 2);
}

/* ---------------------------------------------------------------------------------------- read as it is needed -- */

static void an_opened_file_is_read_in_pieces_until_somebody_wants_the_view(void **state)
{
    world *w = *state;
    const size_t size = 9 * MIB + 77;
    uint8_t *data = make_pattern(size);
    write_file("a.bin", data, size);
    for (int map = 0; map < 2; map++) {
        rec_source *source = lr_source_open(&w->job, "a.bin", map);
        uint8_t room[100];
        rec_head head;
        assert_non_null(source);
        assert_int_equal(rec_source_size(source), size); /* known without reading */
        assert_int_equal(w->job.input, size);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(lr_source_head(&w->job, source, &head), REC_OK);
            assert_int_equal(head.length, 65536);
            assert_int_equal(head.total, size);
            assert_memory_equal(head.data, data, 65536);
        }
        assert_reads(w, source, data, size, MIB / 3);
        assert_int_equal(rec_source_rewind(&w->job, source), REC_OK);
        assert_reads(w, source, data, size, size + 1);
        assert_int_equal(rec_source_read_at(&w->job, source, size - 100, room, 100), REC_OK);
        assert_memory_equal(room, data + size - 100, 100);
        assert_false(lr_source_mapped(source));
        assert_view(w, source, data, size);
        assert_true(lr_source_mapped(source) == (map == 1));
        assert_int_equal(rec_source_rewind(&w->job, source), REC_OK);
        assert_reads(w, source, data, size, MIB);
        assert_int_equal(rec_source_read_at(&w->job, source, size - 99, room, 100), REC_E_FORMAT);
        assert_failed(w, REC_E_FORMAT, "a.bin: byte 9,437,162: 100 bytes are needed");
        rec_source_release(source);
    }
    free(data);
}

static void an_opened_file_that_shrinks_is_an_error_wherever_it_is_read(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(100000), room[100000];
    for (int how = 0; how < 4; how++) {
        rec_source *source;
        const void *view;
        uint64_t got;
        rec_head head;
        int32_t status;
        write_file("a.bin", data, 100000);
        source = lr_source_open(&w->job, "a.bin", false);
        assert_non_null(source);
        assert_int_equal(truncate("a.bin", 5000), 0);
        status = how == 0   ? rec_source_read(&w->job, source, room, 100000, &got)
                 : how == 1 ? rec_source_read_at(&w->job, source, 10, room, 6000)
                 : how == 2 ? lr_source_head(&w->job, source, &head)
                            : rec_source_view(&w->job, source, &view, &got);
        assert_int_equal(status, REC_E_IO);
        assert_failed(w, REC_E_IO, "a.bin: byte 5,000: the file shrank while it was read: it had 100,000 bytes");
        rec_source_release(source);
    }
    free(data);
}

static void who_keeps_an_opened_file_gets_it_whole_at_the_end_of_the_load(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(100000);
    rec_source *alone, *kept;
    write_file("a.bin", data, 100000);
    alone = lr_source_open(&w->job, "a.bin", false);
    kept = lr_source_open(&w->job, "a.bin", false);
    (void)rec_source_retain(kept);
    assert_int_equal(lr_source_settle(&w->job, alone), REC_OK);
    assert_int_equal(lr_source_settle(&w->job, kept), REC_OK);
    rec_source_release(kept);
    assert_int_equal(truncate("a.bin", 0), 0);
    assert_view(w, kept, data, 100000);
    {
        const void *view;
        uint64_t size;
        assert_int_equal(rec_source_view(&w->job, alone, &view, &size), REC_E_IO); /* nobody wanted it in time */
        assert_failed(w, REC_E_IO, "the file shrank");
    }
    rec_source_release(alone);
    rec_source_release(kept);
    free(data);
}

struct asker {
    world *w;
    rec_source *source;
    const uint8_t *data;
    int number;
    bool right;
};

static void *ask(void *user)
{
    struct asker *asker = user;
    rec_job job;
    uint8_t room[5000];
    const void *view;
    uint64_t size = 0;
    lr_job_begin(&job, &asker->w->context, "test", "job.file");
    asker->right = true;
    for (int i = 0; i < 50 && asker->right; i++) {
        uint64_t at = (uint64_t)i * 1999;
        asker->right = rec_source_read_at(&job, asker->source, at, room, 5000) == REC_OK &&
                       memcmp(room, asker->data + at, 5000) == 0;
        if (i == 10 * asker->number) {
            asker->right = asker->right && rec_source_view(&job, asker->source, &view, &size) == REC_OK &&
                           size == 200000 && memcmp(view, asker->data, (size_t)size) == 0;
        }
    }
    (void)lr_job_end(&job);
    return NULL;
}

static void many_threads_may_ask_an_opened_file(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(200000);
    w->context.progress = NULL; /* the test's own counts without a lock */
    write_file("a.bin", data, 200000);
    for (int map = 0; map < 2; map++) {
        pthread_t threads[4];
        struct asker askers[4];
        rec_source *source = lr_source_open(&w->job, "a.bin", map);
        assert_non_null(source);
        for (int i = 0; i < 4; i++) {
            askers[i] = (struct asker){.w = w, .source = source, .data = data, .number = i + 1};
            assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_true(askers[i].right);
        }
        rec_source_release(source);
    }
    free(data);
}

/* ------------------------------------------------------------------------------------------------- descriptors -- */

static void a_descriptor_is_taken_from_where_it_stands(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(20000);
    write_file("a.bin", data, 20000);
    for (int map = 0; map < 2; map++) {
        int fd = open("a.bin", O_RDONLY | O_CLOEXEC);
        rec_source *source;
        assert_int_equal(lseek(fd, 5001, SEEK_SET), 5001);
        source = lr_source_fd(&w->job, fd, "input", map);
        assert_non_null(source);
        assert_int_equal(lr_source_mapped(source), map);
        assert_view(w, source, data + 5001, 20000 - 5001);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 20000); /* what was read has been read */
        rec_source_release(source);
        source = lr_source_fd(&w->job, fd, "input", map);
        assert_non_null(source);
        assert_view(w, source, "", 0);
        rec_source_release(source);
        (void)close(fd);
    }
    free(data);
}

static void a_descriptor_that_cannot_be_read_is_an_error(void **state)
{
    world *w = *state;
    int fd;
    write_file("a.bin", "abc", 3);
    fd = open("a.bin", O_WRONLY | O_CLOEXEC);
    assert_null(lr_source_fd(&w->job, fd, "input", true));
    assert_failed(w, REC_E_IO, "input: byte 0: cannot read the file: Bad file descriptor");
    (void)close(fd);
    assert_null(lr_source_fd(&w->job, fd, "input", true));
    assert_failed(w, REC_E_IO, "input: cannot inspect the file: Bad file descriptor");
}

struct feed {
    int fd;
    const uint8_t *data;
    size_t size;
    size_t piece;
    bool slow; /* each piece comes when the reader has taken the one before it */
};

static atomic_int looks; /* of a reader that waits, whether it shall go on */

static int32_t count_looks(void *user, const rec_progress *progress)
{
    (void)user, (void)progress;
    (void)atomic_fetch_add(&looks, 1);
    return 0;
}

static void wait_for_reader(int fd)
{
    int left = 0;
    while (atomic_load(&looks) < 2 || (ioctl(fd, FIONREAD, &left) == 0 && left > 0)) {
        (void)usleep(1000);
    }
}

static void *feed_pipe(void *user)
{
    struct feed *feed = user;
    for (size_t at = 0; at < feed->size;) {
        size_t piece = feed->size - at < feed->piece ? feed->size - at : feed->piece;
        ssize_t n;
        if (feed->slow) {
            wait_for_reader(feed->fd);
        }
        n = write(feed->fd, feed->data + at, piece);
        if (n <= 0) {
            break;
        }
        at += (size_t)n;
    }
    (void)close(feed->fd);
    return NULL;
}

static void a_pipe_is_read_to_its_end(void **state)
{
    world *w = *state;
    const size_t sizes[] = {0, 1, 70000, 5 * MIB + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *data = make_pattern(sizes[i]);
        int ends[2];
        pthread_t thread;
        struct feed feed = {.data = data, .size = sizes[i], .piece = 10007};
        rec_source *source;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        feed.fd = ends[1];
        assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
        source = lr_source_fd(&w->job, ends[0], "stdin", true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_non_null(source);
        assert_false(lr_source_mapped(source));
        assert_view(w, source, data, sizes[i]);
        assert_int_equal(w->job.input, sizes[i]);
        rec_source_release(source);
        (void)close(ends[0]);
        free(data);
    }
}

static void a_fifo_is_read_by_name(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(100000);
    pid_t child;
    rec_source *source;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    child = fork();
    if (child == 0) {
        struct feed feed = {.fd = open("fifo", O_WRONLY), .data = data, .size = 100000, .piece = 4096};
        (void)feed_pipe(&feed);
        end_child(0);
    }
    source = source_of_file(&w->job, "fifo", true);
    assert_non_null(source);
    assert_view(w, source, data, 100000);
    rec_source_release(source);
    assert_int_equal(waitpid(child, NULL, 0), child);
    free(data);
}

static void a_long_stream_is_spilled_to_a_file_without_a_name(void **state)
{
    world *w = *state;
    size_t size = 66 * MIB + 77;
    uint8_t *data = make_pattern(size);
    int ends[2];
    pthread_t thread;
    struct feed feed = {.data = data, .size = size, .piece = 1 << 16};
    rec_source *source;
    assert_int_equal(mkdir("spill", 0700), 0);
    assert_int_equal(setenv("TMPDIR", "spill", 1), 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    feed.fd = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    source = lr_source_fd(&w->job, ends[0], "stdin", true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_non_null(source);
    assert_int_equal(count_files("spill", ""), 0);
    assert_view(w, source, data, size);
    assert_true(w->progress_calls >= 16);
    rec_source_release(source);
    (void)close(ends[0]);
    free(data);
}

static void a_stream_that_cannot_be_spilled_says_what_to_do(void **state)
{
    world *w = *state;
    uint8_t *zeros = calloc(1, 65 * MIB);
    int ends[2];
    pthread_t thread;
    struct feed feed = {.data = zeros, .size = 65 * MIB, .piece = 1 << 16};
    assert_int_equal(setenv("TMPDIR", "not/there", 1), 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    feed.fd = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    assert_null(lr_source_fd(&w->job, ends[0], "stdin", true));
    assert_int_equal(unsetenv("TMPDIR"), 0);
    for (char rest[65536]; read(ends[0], rest, sizeof rest) > 0;) {
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_failed(w, REC_E_NOT_FOUND, "set TMPDIR to a directory with space");
    assert_string_equal(rec_error_file(), "not/there");
    (void)close(ends[0]);
    free(zeros);
}

static void a_spill_that_cannot_grow_is_an_error(void **state)
{
    world *w = *state;
    uint8_t *zeros = calloc(1, 65 * MIB);
    int ends[2];
    pthread_t thread;
    struct feed feed = {.data = zeros, .size = 65 * MIB, .piece = 1 << 16};
    struct rlimit before, limit;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setenv("TMPDIR", ".", 1), 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    feed.fd = ends[1];
    limit = before;
    limit.rlim_cur = MIB + 1;
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_null(lr_source_fd(&w->job, ends[0], "stdin", true));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    for (char rest[65536]; read(ends[0], rest, sizeof rest) > 0;) {
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_failed(w, REC_E_IO,
                  ".: cannot write to a temporary file in this directory: File too large\n"
                  "  Set TMPDIR to a directory with more space.");
    assert_int_equal(count_files(".", ""), 0);
    (void)close(ends[0]);
    (void)signal(SIGXFSZ, handler);
    free(zeros);
}

static void a_descriptor_that_does_not_block_is_waited_for(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(500);
    int ends[2];
    pthread_t thread;
    struct feed feed = {.data = data, .size = 500, .piece = 100, .slow = true};
    rec_source *source;
    atomic_store(&looks, 0);
    w->context.progress = count_looks;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    feed.fd = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    source = lr_source_fd(&w->job, ends[0], "stdin", true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_non_null(source);
    assert_view(w, source, data, 500);
    rec_source_release(source);
    (void)close(ends[0]);
    free(data);
}

static void waiting_can_be_cancelled(void **state)
{
    world *w = *state;
    int ends[2];
    w->cancel_at = 2;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    assert_null(lr_source_fd(&w->job, ends[0], "stdin", true)); /* nobody ever writes */
    assert_int_equal(end_job(w), REC_E_CANCELLED);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* A wait that is cancelled among signals, which come every 5 ms and call the function. */
static void assert_cancelled_among_signals(world *w, const int ends[2], void (*on_signal)(int number))
{
    struct sigaction interrupt = {.sa_handler = on_signal}, before; /* without SA_RESTART */
    struct itimerval often = {.it_interval = {.tv_usec = 5000}, .it_value = {.tv_usec = 5000}}, never = {0};
    rec_source *source;
    assert_int_equal(sigaction(SIGALRM, &interrupt, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    w->cancel_at = 3;
    source = lr_source_fd(&w->job, ends[0], "stdin", true); /* nobody ever writes */
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_null(source);
    assert_int_equal(end_job(w), REC_E_CANCELLED);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void ignore_signal(int number)
{
    (void)number;
}

static void a_signal_lets_a_blocked_read_be_cancelled(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_cancelled_among_signals(*state, ends, ignore_signal);
}

enum { SIGNALS_MOST = 400 };
static int kept_open;
static volatile sig_atomic_t signals;

/* Ends the wait: the reader does not. */
static void close_after_many(int number)
{
    (void)number;
    if (++signals == SIGNALS_MOST) {
        (void)close(kept_open);
    }
}

/* Signals that come oftener than the wait looks up. */
static void signals_do_not_keep_a_wait_from_being_cancelled(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    kept_open = ends[1];
    signals = 0;
    assert_cancelled_among_signals(*state, ends, close_after_many);
    assert_true(signals < SIGNALS_MOST);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_mapped),
        TEST(file_systems_of_servers_are_known),
        TEST(a_file_is_copied_by_one_thread_or_several),
        TEST(an_empty_file_is_an_empty_source),
        TEST(a_file_that_hides_its_size_is_read),
        TEST(a_missing_file_is_not_found),
        TEST(a_folder_is_refused),
        TEST(a_file_that_shrinks_while_it_is_copied_is_an_error),
        TEST(a_file_that_grows_while_it_is_copied_is_what_it_was),
        TEST(copying_can_be_cancelled),
        TEST(an_opened_file_is_read_in_pieces_until_somebody_wants_the_view),
        TEST(an_opened_file_that_shrinks_is_an_error_wherever_it_is_read),
        TEST(who_keeps_an_opened_file_gets_it_whole_at_the_end_of_the_load),
        TEST(many_threads_may_ask_an_opened_file),
        TEST(a_descriptor_is_taken_from_where_it_stands),
        TEST(a_descriptor_that_cannot_be_read_is_an_error),
        TEST(a_pipe_is_read_to_its_end),
        TEST(a_fifo_is_read_by_name),
        TEST(a_long_stream_is_spilled_to_a_file_without_a_name),
        TEST(a_stream_that_cannot_be_spilled_says_what_to_do),
        TEST(a_spill_that_cannot_grow_is_an_error),
        TEST(a_descriptor_that_does_not_block_is_waited_for),
        TEST(waiting_can_be_cancelled),
        TEST(a_signal_lets_a_blocked_read_be_cancelled),
        TEST(signals_do_not_keep_a_wait_from_being_cancelled),
    };
    return cmocka_run_group_tests_name("source-file", tests, NULL, NULL);
}
