/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The atomic file sink: whatever happens, the old file or the new one is there, whole, and nothing else stays. */
#include "tests/killing.h"
#include "tests/test_io.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MIB ((size_t)1 << 20)
#define TEMPORARY ".librecord-tmp"
/* Exit status of a child that could not set up what it was to test. */
enum { CANNOT = 77 };

/* Saves `size` bytes of one letter. */
static rec_status save_letters(world *w, const char *path, char letter, size_t size)
{
    rec_sink *sink = lr_sink_file(&w->job, path, false);
    char *data = malloc(size ? size : 1);
    assert_non_null(data);
    memset(data, letter, size);
    if (sink) {
        (void)rec_sink_write(sink, data, size);
        (void)lr_sink_commit(sink);
    }
    free(data);
    return w->job.error.status;
}

/* @return the letter of a file that is whole, 0 if it is anything else. */
static char whole(const char *path, size_t size)
{
    size_t found;
    char *bytes = read_file(path, &found);
    char letter = found == size ? bytes[0] : '\0';
    for (size_t i = 0; letter && i < size; i++) {
        letter = bytes[i] == letter ? letter : '\0';
    }
    free(bytes);
    return letter;
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode & 07777;
}

/* Runs a function in a child that is not root. @return its exit status. */
static int as_nobody(world *w, int (*call)(world *w))
{
    int status = -1;
    pid_t child;
    assert_int_equal(chmod(w->folder, 0755), 0);
    child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(CANNOT);
        }
        _exit(call(w));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT) {
        skip();
    }
    return WEXITSTATUS(status);
}

/* ---------------------------------------------------------------------------------------------------- the good -- */

static void a_new_file_has_the_mode_of_the_umask(void **state)
{
    world *w = *state;
    mode_t before = umask(027);
    assert_int_equal(save_letters(w, "new.mpk", 'n', 5000), REC_OK);
    (void)umask(before);
    assert_int_equal(whole("new.mpk", 5000), 'n');
    assert_int_equal(mode_of("new.mpk"), 0640);
    assert_int_equal(count_files(".", ""), 1);
}

static void nothing_is_a_file_too(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_file(&w->job, "empty", true);
    assert_int_equal(lr_sink_reserve(sink, 0), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_file("empty", "", 0);
}

static void the_old_file_stays_until_the_new_one_is_whole(void **state)
{
    world *w = *state;
    rec_sink *sink;
    char *data = malloc(3 * MIB);
    memset(data, 'n', 3 * MIB);
    write_file("a.mpk", "old", 3);
    assert_int_equal(chmod("a.mpk", 0604), 0);
    sink = lr_sink_file(&w->job, "a.mpk", true);
    assert_non_null(sink);
    assert_int_equal(rec_sink_write(sink, data, 3 * MIB), REC_OK);
    assert_file("a.mpk", "old", 3);
    assert_int_equal(count_files(".", TEMPORARY), 1);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(whole("a.mpk", 3 * MIB), 'n');
    assert_int_equal(mode_of("a.mpk"), 0604);
    assert_int_equal(count_files(".", ""), 1);
    free(data);
}

static void what_replaces_a_file_is_private_until_it_is_in_place(void **state)
{
    world *w = *state;
    rec_sink *sink;
    DIR *list;
    struct dirent *entry;
    write_file("a.mpk", "old", 3);
    sink = lr_sink_file(&w->job, "a.mpk", false);
    list = opendir(".");
    while ((entry = readdir(list))) {
        if (strstr(entry->d_name, TEMPORARY)) {
            assert_int_equal(mode_of(entry->d_name), 0600);
        }
    }
    (void)closedir(list);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(mode_of("a.mpk"), 0644);
}

static void the_owner_is_kept_where_possible(void **state)
{
    world *w = *state;
    struct stat info;
    if (geteuid() != 0) {
        skip();
    }
    write_file("a.mpk", "old", 3);
    assert_int_equal(chown("a.mpk", 1234, 4321), 0);
    assert_int_equal(chmod("a.mpk", 06751), 0);
    assert_int_equal(save_letters(w, "a.mpk", 'n', 10), REC_OK);
    assert_int_equal(stat("a.mpk", &info), 0);
    assert_int_equal(info.st_uid, 1234);
    assert_int_equal(info.st_gid, 4321);
    assert_int_equal(info.st_mode & 07777, 0751); /* nobody vouched for the new bytes */
}

static int replace_file_of_other_group(world *w)
{
    return save_letters(w, "open/a.mpk", 'n', 10) != REC_OK;
}

static void another_group_gets_no_more_than_everybody(void **state)
{
    world *w = *state;
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkdir("open", 0700), 0);
    assert_int_equal(chown("open", 65534, 65534), 0);
    write_file("open/a.mpk", "old", 3);
    assert_int_equal(chown("open/a.mpk", 65534, 4321), 0); /* of a group that its owner is not in */
    assert_int_equal(chmod("open/a.mpk", 02664), 0);
    assert_int_equal(as_nobody(w, replace_file_of_other_group), 0);
    assert_int_equal(whole("open/a.mpk", 10), 'n');
    assert_int_equal(mode_of("open/a.mpk"), 0644);
}

static void reserved_space_is_cut_to_what_was_written(void **state)
{
    world *w = *state;
    const uint64_t reserves[] = {1, 100, 10 * MIB};
    for (size_t i = 0; i < sizeof reserves / sizeof *reserves; i++) {
        rec_sink *sink = lr_sink_file(&w->job, "a.mpk", false);
        assert_int_equal(lr_sink_reserve(sink, reserves[i]), REC_OK);
        assert_int_equal(rec_sink_write(sink, "0123456789", 10), REC_OK);
        assert_int_equal(lr_sink_commit(sink), REC_OK);
        assert_file("a.mpk", "0123456789", 10);
    }
}

static void paths_may_be_absolute_or_in_folders(void **state)
{
    world *w = *state;
    char path[128];
    assert_int_equal(mkdir("folder", 0755), 0);
    (void)snprintf(path, sizeof path, "%s/folder/../b.mpk", w->folder);
    assert_int_equal(save_letters(w, "folder/a.mpk", 'a', 10), REC_OK);
    assert_int_equal(save_letters(w, path, 'b', 10), REC_OK);
    assert_int_equal(whole("folder/a.mpk", 10), 'a');
    assert_int_equal(whole("b.mpk", 10), 'b');
}

static void names_may_be_as_long_as_the_system_allows(void **state)
{
    world *w = *state;
    char name[300];
    /* Two bytes a letter: the temporary file's name must not end within one. */
    for (size_t i = 0; i < 254; i += 2) {
        memcpy(name + i, "\xC3\xA4", 2);
    }
    name[254] = 'x';
    name[255] = '\0';
    assert_int_equal(save_letters(w, name, 'a', 10), REC_OK);
    assert_int_equal(save_letters(w, name, 'b', 10), REC_OK);
    assert_int_equal(whole(name, 10), 'b');
    name[255] = 'x';
    name[256] = '\0';
    assert_int_equal(save_letters(w, name, 'c', 10), REC_E_IO);
    assert_failed(w, REC_E_IO, "File name too long");
    assert_int_equal(count_files(".", ""), 1);
}

/* --------------------------------------------------------------------------------------- links, pipes, devices -- */

static void a_link_is_followed_to_its_file(void **state)
{
    world *w = *state;
    struct stat info;
    assert_int_equal(mkdir("real", 0755), 0);
    assert_int_equal(mkdir("links", 0755), 0);
    write_file("real/a.mpk", "old", 3);
    assert_int_equal(symlink("../links/two", "links/one"), 0);
    assert_int_equal(symlink("../real/a.mpk", "links/two"), 0);
    assert_int_equal(save_letters(w, "links/one", 'n', 10), REC_OK);
    assert_int_equal(whole("real/a.mpk", 10), 'n');
    assert_int_equal(lstat("links/one", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat("links/two", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(count_files("real", ""), 1);
    assert_int_equal(count_files("links", ""), 2);
}

static void a_link_to_nothing_makes_its_file(void **state)
{
    world *w = *state;
    struct stat info;
    char absolute[128];
    assert_int_equal(mkdir("real", 0755), 0);
    (void)snprintf(absolute, sizeof absolute, "%s/real/b.mpk", w->folder);
    assert_int_equal(symlink("real/a.mpk", "one"), 0);
    assert_int_equal(symlink(absolute, "two"), 0);
    assert_int_equal(symlink("missing/a.mpk", "three"), 0);
    assert_int_equal(save_letters(w, "one", 'a', 10), REC_OK);
    assert_int_equal(save_letters(w, "two", 'b', 10), REC_OK);
    assert_int_equal(whole("real/a.mpk", 10), 'a');
    assert_int_equal(whole("real/b.mpk", 10), 'b');
    assert_int_equal(lstat("one", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(save_letters(w, "three", 'c', 10), REC_E_NOT_FOUND);
    assert_failed(w, REC_E_NOT_FOUND,
                  "three: cannot open its directory: No such file or directory\n  Create the directory first");
}

static void links_in_a_circle_are_an_error(void **state)
{
    world *w = *state;
    assert_int_equal(symlink("two", "one"), 0);
    assert_int_equal(symlink("one", "two"), 0);
    assert_int_equal(save_letters(w, "one", 'a', 10), REC_E_IO);
    assert_failed(w, REC_E_IO, "one: cannot inspect the file: Too many levels of symbolic links");
}

struct reader {
    const char *path;
    char bytes[100];
    size_t size;
};

static void *read_fifo(void *user)
{
    struct reader *reader = user;
    int fd = open(reader->path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    while ((n = read(fd, reader->bytes + reader->size, sizeof reader->bytes - reader->size)) > 0) {
        reader->size += (size_t)n;
    }
    (void)close(fd);
    return NULL;
}

static void a_fifo_is_written_straight(void **state)
{
    world *w = *state;
    struct reader reader = {.path = "fifo"};
    struct stat info;
    pthread_t thread;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("fifo", "link"), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_fifo, &reader), 0);
    assert_int_equal(save_letters(w, "link", 'f', 10), REC_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(reader.size, 10);
    assert_memory_equal(reader.bytes, "ffffffffff", 10);
    assert_int_equal(stat("fifo", &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(count_files(".", ""), 2);
}

static void a_device_is_written_straight(void **state)
{
    world *w = *state;
    struct stat info;
    assert_int_equal(save_letters(w, "/dev/null", 'x', 3 * MIB), REC_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    if (stat("/dev/full", &info) == 0) {
        assert_int_equal(save_letters(w, "/dev/full", 'x', 3 * MIB), REC_E_IO);
        assert_failed(w, REC_E_IO, "/dev/full: byte 0: cannot write: No space left on device");
    }
}

static void a_descriptors_own_name_leads_to_its_file(void **state)
{
    world *w = *state;
    char path[64];
    int fd = open("a.mpk", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(save_letters(w, path, 'a', 10), REC_OK);
    assert_int_equal(whole("a.mpk", 10), 'a');
    (void)close(fd);
    fd = open("a.mpk", O_RDWR | O_CLOEXEC);
    assert_int_equal(unlink("a.mpk"), 0); /* now the link says "a.mpk (deleted)" */
    assert_int_equal(save_letters(w, path, 'b', 10), REC_E_IO);
    assert_failed(w, REC_E_IO, "the file was replaced by something else while it was opened");
    assert_int_equal(count_files(".", ""), 0);
    (void)close(fd);
}

/* ---------------------------------------------------------------------------------------------------- refusals -- */

static void folders_are_refused(void **state)
{
    world *w = *state;
    const char *const paths[] = {"folder", "folder/", ".", "/", "link"};
    assert_int_equal(mkdir("folder", 0755), 0);
    assert_int_equal(symlink("folder", "link"), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char words[64];
        (void)snprintf(words, sizeof words, "%s: cannot save to a directory", paths[i]);
        assert_int_equal(save_letters(w, paths[i], 'x', 10), REC_E_IO);
        assert_failed(w, REC_E_IO, words);
    }
    assert_int_equal(count_files("folder", ""), 0);
}

static void missing_folders_are_not_made(void **state)
{
    world *w = *state;
    assert_int_equal(save_letters(w, "no/a.mpk", 'x', 10), REC_E_NOT_FOUND);
    assert_failed(w, REC_E_NOT_FOUND,
                  "no/a.mpk: cannot open its directory: No such file or directory\n"
                  "  Create the directory first.");
    assert_int_equal(save_letters(w, "new/", 'x', 10), REC_E_NOT_FOUND);
    (void)end_job(w);
    assert_int_equal(save_letters(w, "", 'x', 10), REC_E_IO);
    (void)end_job(w);
    write_file("file", "", 0);
    assert_int_equal(save_letters(w, "file/a.mpk", 'x', 10), REC_E_NOT_FOUND);
    assert_failed(w, REC_E_NOT_FOUND, "file/a.mpk: cannot inspect the file: Not a directory");
}

/* Exit status 0 if the save failed and its message has the words. */
static int fails_with(world *w, const char *path, const char *words)
{
    if (save_letters(w, path, 'n', 10) != REC_E_IO) {
        return 1;
    }
    (void)lr_job_end(&w->job);
    return strstr(rec_error_message(), words) ? 0 : 2;
}

static int save_to_closed_folder(world *w)
{
    return fails_with(w, "closed/a.mpk",
                      "closed/a.mpk: cannot make a temporary file in its directory: Permission denied\n"
                      "  Make its directory writable: a save creates the new file there.");
}

static void a_folder_that_cannot_be_written_is_named(void **state)
{
    world *w = *state;
    assert_int_equal(mkdir("closed", 0555), 0);
    assert_int_equal(as_nobody(w, save_to_closed_folder), 0);
    assert_int_equal(count_files("closed", ""), 0);
}

static int save_to_protected_file(world *w)
{
    return fails_with(w, "open/a.mpk", "open/a.mpk: cannot write to the file: Permission denied");
}

static void a_protected_file_is_not_replaced(void **state)
{
    world *w = *state;
    assert_int_equal(mkdir("open", 0777), 0);
    assert_int_equal(chmod("open", 0777), 0);
    write_file("open/a.mpk", "old", 3);
    assert_int_equal(chmod("open/a.mpk", 0444), 0);
    assert_int_equal(as_nobody(w, save_to_protected_file), 0);
    assert_file("open/a.mpk", "old", 3);
    assert_int_equal(count_files("open", ""), 1);
}

static int save_to_blind_folder(world *w)
{
    return save_letters(w, "blind/a.mpk", 'n', 10) != REC_OK;
}

static void a_folder_that_cannot_be_listed_will_do(void **state)
{
    world *w = *state;
    assert_int_equal(mkdir("blind", 0733), 0);
    assert_int_equal(chmod("blind", 0333), 0);
    assert_int_equal(as_nobody(w, save_to_blind_folder), 0);
    assert_int_equal(chmod("blind", 0755), 0);
    assert_int_equal(whole("blind/a.mpk", 10), 'n');
    assert_int_equal(count_files("blind", ""), 1);
}

/* ---------------------------------------------------------------------------------------------------- failures -- */

static void a_failed_job_leaves_the_old_file(void **state)
{
    world *w = *state;
    rec_sink *sink;
    write_file("a.mpk", "old", 3);
    sink = lr_sink_file(&w->job, "a.mpk", true);
    assert_int_equal(rec_sink_write(sink, "new", 3), REC_OK);
    (void)rec_fail(&w->job, REC_E_RANGE, REC_UNKNOWN, "a number does not fit");
    assert_int_equal(lr_sink_commit(sink), REC_E_RANGE);
    assert_failed(w, REC_E_RANGE, "a number does not fit");
    assert_file("a.mpk", "old", 3);
    assert_int_equal(count_files(".", ""), 1);
}

static void what_was_written_and_is_gone_cannot_be_read_back(void **state)
{
    world *w = *state;
    struct dirent *entry;
    rec_sink *sink = lr_sink_file(&w->job, "a.mpk", true);
    DIR *list = opendir(".");
    assert_int_equal(rec_sink_write(sink, "new", 3), REC_OK);
    while ((entry = readdir(list))) {
        assert_true(!strstr(entry->d_name, TEMPORARY) || unlink(entry->d_name) == 0);
    }
    (void)closedir(list);
    assert_null(lr_sink_reopen(sink));
    assert_int_equal(lr_sink_commit(sink), REC_E_NOT_FOUND);
    assert_failed(w, REC_E_NOT_FOUND, "a.mpk: cannot read back what was written: No such file or directory");
    assert_int_equal(count_files(".", ""), 0);
}

static void a_cancelled_save_leaves_the_old_file(void **state)
{
    world *w = *state;
    write_file("a.mpk", "old", 3);
    w->cancel_at = 3;
    assert_int_equal(save_letters(w, "a.mpk", 'n', 20 * MIB), REC_E_CANCELLED);
    assert_file("a.mpk", "old", 3);
    assert_int_equal(count_files(".", ""), 1);
}

static void a_size_limit_leaves_the_old_file_wherever_it_strikes(void **state)
{
    world *w = *state;
    const rlim_t limits[] = {0, 1, 4095, MIB, MIB + 1, 3 * MIB - 1};
    struct rlimit before, limit;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    write_file("a.mpk", "old", 3);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char words[128], digits[32];
        rec_sink *sink;
        limit = before;
        limit.rlim_cur = limits[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(save_letters(w, "a.mpk", 'n', 3 * MIB), REC_E_IO);
        (void)snprintf(words, sizeof words, "a.mpk: byte %s: cannot write: File too large\n  Files of this size",
                       lr_group_digits(limits[i], digits, sizeof digits));
        assert_failed(w, REC_E_IO, words);
        sink = lr_sink_file(&w->job, "a.mpk", false);
        assert_non_null(sink);
        assert_int_equal(lr_sink_reserve(sink, 3 * MIB), REC_E_IO); /* shows before anything is written */
        assert_int_equal(lr_sink_commit(sink), REC_E_IO);
        assert_failed(w, REC_E_IO, "a.mpk: cannot reserve space for the file: File too large");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_file("a.mpk", "old", 3);
        assert_int_equal(count_files(".", ""), 1);
    }
    (void)signal(SIGXFSZ, handler);
}

/* In a mount namespace of its own, on a file system of 1 MiB. */
static int save_to_full_disk(world *w)
{
    rec_sink *sink;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "disk", "tmpfs", 0, "size=1m") != 0) {
        return CANNOT;
    }
    write_file("disk/a.mpk", "old", 3);
    if (save_letters(w, "disk/a.mpk", 'n', 3 * MIB) != REC_E_IO) {
        return 1;
    }
    (void)end_job(w);
    if (!strstr(rec_error_message(), "cannot write: No space left on device\n  It needs at least 1,0") ||
        !strstr(rec_error_message(), " bytes, 1,044,480 are free there.")) {
        (void)fprintf(stderr, "%s\n", rec_error_message());
        return 2;
    }
    sink = lr_sink_file(&w->job, "disk/a.mpk", false);
    if (!sink || lr_sink_reserve(sink, 3 * MIB) != REC_E_IO || lr_sink_commit(sink) != REC_E_IO) {
        return 3;
    }
    (void)end_job(w);
    if (!strstr(rec_error_message(), "disk/a.mpk: cannot reserve space for the file: No space left on device\n"
                                     "  It needs 3,145,728 bytes, 1,044,480 are free there.")) {
        (void)fprintf(stderr, "%s\n", rec_error_message());
        return 4;
    }
    assert_file("disk/a.mpk", "old", 3);
    return count_files("disk", "") == 1 ? 0 : 5;
}

static void a_full_disk_leaves_the_old_file_and_says_what_is_needed(void **state)
{
    world *w = *state;
    int status;
    pid_t child;
    assert_int_equal(mkdir("disk", 0755), 0);
    child = fork();
    if (child == 0) {
        _exit(save_to_full_disk(w));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ------------------------------------------------------------------------------------- killed, stale and alive -- */

static void wait_killed(pid_t child)
{
    int status;
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Saves 'b' over 'a' in a child that is killed at its n-th call. @return whether the save was done before. */
static bool save_and_die(world *w, size_t size, long n)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        begin_job(w);
        atomic_store(&kill_at, n);
        _exit(save_letters(w, "a.mpk", 'b', size) != REC_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
    return WIFEXITED(status);
}

static void a_save_killed_at_any_call_leaves_a_whole_file_and_its_rest_is_swept(void **state)
{
    world *w = *state;
    const size_t size = 3 * MIB + 17;
    int old = 0, new = 0, swept = 0;
    bool done = false;
    for (long n = 1; !done; n++) {
        int before;
        assert_int_equal(save_letters(w, "a.mpk", 'a', size), REC_OK);
        assert_int_equal(count_files(".", ""), 1);
        done = save_and_die(w, size, n);
        old += whole("a.mpk", size) == 'a';
        new += whole("a.mpk", size) == 'b';
        assert_int_equal(old + new, n);
        before = count_files(".", TEMPORARY);
        assert_true(before <= 1);
        swept += before;
    }
    assert_true(old > 3 && swept > 1 && new > 1);
    assert_int_equal(whole("a.mpk", size), 'b');
}

/* A child that stops in the middle of a save until it is killed. */
static pid_t start_save(world *w, const char *path)
{
    int ends[2];
    char byte;
    pid_t child;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        rec_sink *sink = lr_sink_file(&w->job, path, false);
        if (!sink || rec_sink_write(sink, "half", 4) != REC_OK || write(ends[1], "x", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            (void)pause();
        }
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    (void)close(ends[0]);
    return child;
}

static void a_live_save_is_not_swept(void **state)
{
    world *w = *state;
    pid_t child;
    write_file("a.mpk", "old", 3);
    child = start_save(w, "a.mpk");
    assert_int_equal(count_files(".", TEMPORARY), 1);
    assert_int_equal(save_letters(w, "a.mpk", 'n', 10), REC_OK);
    assert_int_equal(count_files(".", TEMPORARY), 1);
    wait_killed(child);
    assert_int_equal(count_files(".", TEMPORARY), 1);
    assert_int_equal(save_letters(w, "a.mpk", 'm', 10), REC_OK);
    assert_int_equal(count_files(".", ""), 1);
}

static void only_rests_of_the_same_target_are_swept(void **state)
{
    world *w = *state;
    static const char *const others[] = {
        ".b.mpk.abcdef" TEMPORARY,   ".a.mpk.abcde" TEMPORARY,
        ".a.mpk.abcdefg" TEMPORARY,  ".a.mpk.ABCDEF" TEMPORARY,
        ".a.mpk.x.abcdef" TEMPORARY, "a.mpk.abcdef" TEMPORARY,
        ".a.mpk.abcdef.tmp",         ".a_mpk.abcdef" TEMPORARY,
        ".a.mpk.abc.ef" TEMPORARY,   ".a.mpk",
    };
    const size_t count = sizeof others / sizeof *others;
    for (size_t i = 0; i < count; i++) {
        write_file(others[i], "x", 1);
    }
    write_file(".a.mpk.abcdef" TEMPORARY, "stale", 5);
    write_file(".a.mpk.012345" TEMPORARY, "stale", 5);
    assert_int_equal(chmod(".a.mpk.012345" TEMPORARY, 0400), 0);
    assert_int_equal(mkfifo(".a.mpk.zzzzzz" TEMPORARY, 0600), 0); /* nobody's: must not hang, and stays */
    assert_int_equal(mkdir(".a.mpk.yyyyyy" TEMPORARY, 0700), 0);
    assert_int_equal(symlink(others[0], ".a.mpk.xxxxxx" TEMPORARY), 0);
    assert_int_equal(save_letters(w, "a.mpk", 'n', 10), REC_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(access(others[i], F_OK), 0);
    }
    assert_int_equal(count_files(".", ""), (int)count + 3 + 1);
}

/* What lies beside a temporary file goes when that may: not while somebody writes it. */
static void what_lies_beside_a_stale_one_goes_with_it(void **state)
{
    world *w = *state;
    static const char *const gone[] = {
        ".a.mpk.abcdef" TEMPORARY "-2118-5.lock", ".a.mpk.abcdef-00003" TEMPORARY "-1.lock",
        ".a.mpk.abcdef.librecord-set-2118385665-4800.lock", ".a.mpk.abcdef-00001.librecord-set-7-8.lock",
        ".a.mpk.librecord-resume-7-8.lock"};
    static const char *const stay[] = {".a.mpk.zzzzzz" TEMPORARY,         ".a.mpk.zzzzzz" TEMPORARY "-2118-5.lock",
                                       ".a.mpk.abcdef" TEMPORARY ".lock", ".a.mpk.abcdef" TEMPORARY "x",
                                       ".a.mpk.librecord-resume.x",       ".a.mpk.librecord-sets-1.lock"};
    const size_t count = sizeof stay / sizeof *stay;
    int fd;
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        write_file(gone[i], "x", 1);
    }
    for (size_t i = 0; i < count; i++) {
        write_file(stay[i], "x", 1);
    }
    fd = open(stay[0], O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(save_letters(w, "a.mpk", 'n', 10), REC_OK);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        assert_int_equal(access(gone[i], F_OK), -1);
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(access(stay[i], F_OK), 0);
    }
    (void)close(fd);
    write_file(".a.mpk.librecord-resume", "stale", 5);
    write_file(gone[4], "x", 1);
    assert_int_equal(save_letters(w, "a.mpk", 'o', 10), REC_OK);
    assert_int_equal(count_files(".", ""), (int)count - 2 + 1);
}

struct saver {
    world *w;
    char letter;
    int failed;
};

static void *save_often(void *user)
{
    struct saver *saver = user;
    char data[3000];
    memset(data, saver->letter, sizeof data);
    for (int i = 0; i < 60; i++) {
        rec_job job;
        rec_sink *sink;
        lr_job_begin(&job, &saver->w->context, "save", "a.mpk");
        sink = lr_sink_file(&job, "a.mpk", false);
        if (sink) {
            (void)rec_sink_write(sink, data, sizeof data);
            (void)lr_sink_commit(sink);
        }
        saver->failed += lr_job_end(&job) != REC_OK;
    }
    return NULL;
}

static void saves_at_once_do_not_sweep_each_other(void **state)
{
    world *w = *state;
    enum { THREADS = 6 };
    struct saver savers[THREADS];
    pthread_t threads[THREADS];
    w->context.progress = NULL;
    for (int i = 0; i < THREADS; i++) {
        savers[i] = (struct saver){.w = w, .letter = (char)('a' + i)};
        assert_int_equal(pthread_create(&threads[i], NULL, save_often, &savers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(savers[i].failed, 0);
    }
    assert_int_not_equal(whole("a.mpk", 3000), 0);
    assert_int_equal(count_files(".", ""), 1);
}

/* --------------------------------------------------------------------------------------- saved, but not synced -- */

static int folder_error, folder_syncs;

/* In place of the system's: a directory's fails as it is told to. */
int fsync(int fd)
{
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        folder_syncs++;
        errno = folder_error;
        return folder_error ? -1 : 0;
    }
    return fdatasync(fd);
}

/* @param sync whether it is asked for. */
static rec_status save_new(world *w, const char *path, bool sync)
{
    rec_sink *sink = lr_sink_file(&w->job, path, sync);
    assert_non_null(sink);
    assert_int_equal(rec_sink_write(sink, "new", 3), REC_OK);
    return lr_sink_commit(sink);
}

static void what_is_in_place_and_not_synced_is_told_apart(void **state)
{
    world *w = *state;
    const char *const places[] = {"a.mpk", "folder/a.mpk"};
    assert_int_equal(mkdir("folder", 0755), 0);
    for (size_t i = 0; i < 2; i++) {
        char words[256];
        write_file(places[i], "old", 3);
        folder_error = EIO;
        assert_int_equal(save_new(w, places[i], true), REC_E_SYNC);
        assert_file(places[i], "new", 3);
        (void)snprintf(words, sizeof words,
                       "%s: saved, but cannot sync its directory: Input/output error\n"
                       "  Save again, or sync the directory: the new file is complete and in place, but after a crash "
                       "of the system the old one may reappear.",
                       places[i]);
        assert_failed(w, REC_E_SYNC, words);
        assert_int_equal(rec_error_errno(), EIO);
        assert_string_equal(rec_error_file(), places[i]);
    }
    assert_string_equal(rec_status_name(REC_E_SYNC), "REC_E_SYNC");
    assert_int_equal(count_files(".", TEMPORARY), 0);
    assert_int_equal(count_files("folder", ""), 1);
}

/* Some file systems cannot sync a directory, and whoever asks for no sync is not told of one. */
static void a_folder_that_has_no_sync_is_no_failure(void **state)
{
    world *w = *state;
    const int errors[] = {EINVAL, EBADF};
    for (size_t i = 0; i < 2; i++) {
        folder_error = errors[i];
        assert_int_equal(save_new(w, "a.mpk", true), REC_OK);
        assert_int_equal(end_job(w), REC_OK);
    }
    folder_error = EIO;
    folder_syncs = 0;
    assert_int_equal(save_new(w, "a.mpk", false), REC_OK);
    assert_int_equal(end_job(w), REC_OK);
    assert_int_equal(folder_syncs, 0);
    folder_error = 0;
}

/* Several files: the directory of each is synced, whatever the others say, and the first failure is told. */
static void files_in_several_folders_are_all_synced(void **state)
{
    world *w = *state;
    rec_sink *sink, *part;
    assert_int_equal(mkdir("other", 0755), 0);
    assert_int_equal(symlink("other/part", "part"), 0);
    sink = lr_sink_file(&w->job, "index", true);
    assert_int_equal(rec_sink_beside(&w->job, sink, "part", &part), REC_OK);
    assert_int_equal(rec_sink_write(part, "new", 3), REC_OK);
    folder_error = EIO;
    folder_syncs = 0;
    assert_int_equal(lr_sink_commit(sink), REC_E_SYNC);
    assert_int_equal(folder_syncs, 2);
    assert_failed(w, REC_E_SYNC, "part: saved, but cannot sync its directory");
    assert_file("other/part", "new", 3);
    folder_error = 0;
}

/* ----------------------------------------------------------------------------------------------- out of memory -- */

static void each_allocation_may_fail(void **state)
{
    world *w = *state;
    bool done = false;
    write_file("real.mpk", "old", 3);
    assert_int_equal(symlink("real.mpk", "link"), 0);
    use_counted_allocator(w);
    for (int64_t n = 0; !done; n++) {
        assert_true(n < 50);
        w->made = 0;
        w->fail_at = n;
        (void)save_letters(w, "link", 'n', 10);
        assert_int_equal(w->live, 0);
        done = w->made <= n;
        if (done) {
            assert_int_equal(end_job(w), REC_OK);
            assert_int_equal(whole("real.mpk", 10), 'n');
            assert_int_equal(n, 6);
        } else {
            assert_failed(w, REC_E_MEMORY, "out of memory");
            assert_file("real.mpk", "old", 3);
        }
        assert_int_equal(count_files(".", ""), 2);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_has_the_mode_of_the_umask),
        TEST(nothing_is_a_file_too),
        TEST(the_old_file_stays_until_the_new_one_is_whole),
        TEST(what_replaces_a_file_is_private_until_it_is_in_place),
        TEST(the_owner_is_kept_where_possible),
        TEST(another_group_gets_no_more_than_everybody),
        TEST(reserved_space_is_cut_to_what_was_written),
        TEST(paths_may_be_absolute_or_in_folders),
        TEST(names_may_be_as_long_as_the_system_allows),
        TEST(a_link_is_followed_to_its_file),
        TEST(a_link_to_nothing_makes_its_file),
        TEST(links_in_a_circle_are_an_error),
        TEST(a_fifo_is_written_straight),
        TEST(a_device_is_written_straight),
        TEST(a_descriptors_own_name_leads_to_its_file),
        TEST(folders_are_refused),
        TEST(missing_folders_are_not_made),
        TEST(a_folder_that_cannot_be_written_is_named),
        TEST(a_protected_file_is_not_replaced),
        TEST(a_folder_that_cannot_be_listed_will_do),
        TEST(a_failed_job_leaves_the_old_file),
        TEST(what_was_written_and_is_gone_cannot_be_read_back),
        TEST(a_cancelled_save_leaves_the_old_file),
        TEST(a_size_limit_leaves_the_old_file_wherever_it_strikes),
        TEST(a_full_disk_leaves_the_old_file_and_says_what_is_needed),
        TEST(a_save_killed_at_any_call_leaves_a_whole_file_and_its_rest_is_swept),
        TEST(a_live_save_is_not_swept),
        TEST(only_rests_of_the_same_target_are_swept),
        TEST(what_lies_beside_a_stale_one_goes_with_it),
        TEST(saves_at_once_do_not_sweep_each_other),
        TEST(what_is_in_place_and_not_synced_is_told_apart),
        TEST(a_folder_that_has_no_sync_is_no_failure),
        TEST(files_in_several_folders_are_all_synced),
        TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("sink-file", tests, NULL, NULL);
}
