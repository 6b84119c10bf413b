/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of a server: what is kept in a directory and when it counts, a system that refuses, and memory that fails. The
 * server is a thread of this program. */
#undef _FORTIFY_SOURCE /* calls of the system are defined here */
#include <glob.h>
#include <malloc.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "common/sha256.h"

#include "tests/codec/http_scene.h"
#include "tests/sanitized.h"

/* --------------------------------------------------------------------------------------- a system that refuses -- */

enum { CALL_NONE, CALL_PREAD, CALL_PWRITE, CALL_SYNC, CALL_RENAME };
static int refused, refused_errno; /* which call, and why; 0: it does nothing */
static int refusals;               /* how many there are to be */

static bool refuses(int call)
{
    if (refused != call || refusals == 0) {
        return false;
    }
    refusals--;
    errno = refused_errno;
    return true;
}

static void refuse(int call, int why, int times)
{
    refused = call;
    refused_errno = why;
    refusals = times;
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    if (refuses(CALL_PREAD)) {
        return refused_errno ? -1 : 0;
    }
    return lseek(fd, offset, SEEK_SET) < 0 ? -1 : read(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    if (refuses(CALL_PWRITE)) {
        return refused_errno ? -1 : 0;
    }
    return lseek(fd, offset, SEEK_SET) < 0 ? -1 : write(fd, data, size);
}

int fdatasync(int fd)
{
    (void)fd; /* no test takes the power away */
    return refuses(CALL_SYNC) ? -1 : 0;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return refuses(CALL_RENAME) ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

/* ------------------------------------------------------------------------------------ what is kept in a directory --
 */

enum { KEPT = 3 * MIB + 5 }; /* four blocks, the last of 5 bytes */

static void use_cache(const char *folder)
{
    assert_int_equal(setenv("LIBRECORD_CACHE", folder, 1), 0);
}

/* The one file of the directory that ends so. */
static const char *kept_file(const char *end)
{
    static char path[256];
    char pattern_of[64];
    glob_t found;
    (void)snprintf(pattern_of, sizeof pattern_of, "cache/*%s", end);
    assert_int_equal(glob(pattern_of, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    (void)snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static void what_was_fetched_is_there(void **state)
{
    world *w = *state;
    rec_source *source;
    use_cache("cache");
    SCRIPT(KEPT, PART);
    source = open_good(w);
    assert_bytes(w, source, MIB + 10, 20); /* blocks as a whole */
    assert_range(1, "bytes=1048576-2097151");
    assert_bytes(w, source, MIB - 1, 2);
    assert_range(2, "bytes=0-1048575");
    assert_bytes(w, source, 0, KEPT); /* what is missing of them */
    assert_range(3, "bytes=2097152-3145732");
    assert_bytes(w, source, 2 * MIB, 3);
    assert_int_equal(server_asked(&server), 4);
    rec_source_release(source);
    SCRIPT(KEPT, PART);
    source = open_good(w);
    assert_bytes(w, source, 0, KEPT);
    assert_int_equal(server_asked(&server), 1);
    assert_noted(w, NULL);
    rec_source_release(source);
}

/* The index of that file. */
static void write_kept(const char *format, const char *url, const char *tag, const char *size, const char *bits)
{
    char index[512], digest[2 * LR_SHA256_BYTES + 1];
    int length;
    lr_sha256_hex(url_of(url), strlen(url_of(url)), digest);
    length = snprintf(index, sizeof index, "%s\n%s\n%s\n%s\n%s\n", format, digest, tag, size, bits);
    write_file(kept_file(".index"), index, (size_t)length);
}

static void an_index_counts_if_all_of_it_is_right(void **state)
{
    static const struct {
        const char *format, *url, *tag, *size, *bits;
        int asked; /* to read all of it */
    } cases[] = {
        {"librecord cache 2", "/m", "\"one\"", "3145733", "0f", 1},
        {"librecord cache 2", "/m", "\"one\"", "3145733", "07", 2},
        {"librecord cache 2", "/m", "\"one\"", "3145733", "05", 3},
        {"librecord cache 1", "/m", "\"one\"", "3145733", "0f", 2},
        {"librecord cache 2", "/n", "\"one\"", "3145733", "0f", 2},
        {"librecord cache 2", "/m", "\"two\"", "3145733", "0f", 2},
        {"librecord cache 2", "/m", "\"one\"", "3145734", "0f", 2},
        {"librecord cache 2", "/m", "\"one\"", "3145733", "f", 2},
        {"librecord cache 2", "/m", "\"one\"", "3145733", "0f0f", 2},
        {"librecord cache 2", "/m", "\"one\"", "3145733", "0F", 2},
        {"librecord cache 2", "/m", "\"one\"", "3145733", "f ", 2},
        {"librecord cache 2", "/m", "\"one\"", "3145733", " f", 2},
        {"", "/m", "", "", "", 2},
    };
    world *w = *state;
    rec_source *source;
    use_cache("cache");
    SCRIPT(KEPT, PART);
    source = open_good(w);
    assert_bytes(w, source, 0, KEPT);
    rec_source_release(source);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_kept(cases[i].format, cases[i].url, cases[i].tag, cases[i].size, cases[i].bits);
        SCRIPT(KEPT, PART);
        source = open_good(w);
        assert_bytes(w, source, 100000, KEPT - 100000);
        if (server_asked(&server) != cases[i].asked) {
            fail_msg("%zu: it was asked %d times", i, server_asked(&server));
        }
        rec_source_release(source);
    }
    write_file(kept_file(".index"), "librecord cache 2", 17); /* no line ends */
    SCRIPT(KEPT, PART);
    source = open_good(w);
    assert_bytes(w, source, 100000, KEPT - 100000);
    assert_int_equal(server_asked(&server), 2);
    rec_source_release(source);
    assert_int_equal(truncate(kept_file(".data"), KEPT - 1), 0); /* its bytes are not all there */
    SCRIPT(KEPT, PART);
    source = open_good(w);
    assert_bytes(w, source, 100000, KEPT - 100000);
    assert_int_equal(server_asked(&server), 2);
    rec_source_release(source);
}

static void much_is_written_down_on_the_way(void **state)
{
    world *w = *state;
    rec_source *source;
    size_t length;
    char *index;
    use_cache("cache");
    SCRIPT(70 * (uint64_t)MIB, PART);
    source = open_good(w);
    for (uint64_t at = 0; at < 64; at += 4) {
        assert_bytes(w, source, at * MIB + FIRST, 4 * (uint64_t)MIB - FIRST);
    }
    assert_int_equal(server_asked(&server), 17);
    assert_range(1, "bytes=0-4194303");
    index = read_file(kept_file(".index"), &length);
    assert_contains(index, "\n73400320\nffffffffffffffff00\n");
    free(index);
    rec_source_release(source);
}

/* Why a directory keeps nothing, though the file is read all the same. */
static void a_folder_that_keeps_nothing_is_told(void **state)
{
    world *w = *state;
    rec_source *source;
    char data[256];
    int fd;
    static const char untagged[] = HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\n\r\n%B";
    static char tagged[600] = HEAD_206 "Content-Range: bytes %F-%L/%T\r\nContent-Length: %N\r\nETag: ";
    use_cache("cache");
    SCRIPT(TOTAL, untagged);
    source = open_good(w);
    assert_noted(w, "the directory cache (LIBRECORD_CACHE) caches nothing: the server does not report which version of "
                    "a file it sends");
    assert_bytes(w, source, 0, TOTAL);
    rec_source_release(source);
    /* A tag of any length will do. */
    memset(tagged + strlen(tagged), 'a', 256);
    (void)strcat(tagged, "\r\n\r\n%B");
    SCRIPT(TOTAL, tagged);
    rec_source_release(open_good(w));
    assert_noted(w, NULL);
    /* More blocks than anybody keeps, which would take memory by what a server only says. */
    SCRIPT(UINT64_C(1) << 50, PART);
    rec_source_release(open_good(w));
    assert_noted(w, "caches nothing: it keeps files of at most 16 TiB");
    /* Another has it. */
    SCRIPT(TOTAL, PART);
    rec_source_release(open_good(w));
    (void)snprintf(data, sizeof data, "%s", kept_file(".data"));
    fd = open(data, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    source = open_good(w);
    assert_noted(w, "caches nothing: another program is fetching the same file");
    assert_bytes(w, source, 0, TOTAL);
    rec_source_release(source);
    assert_int_equal(close(fd), 0);
    /* A link in its place is not followed. */
    assert_int_equal(unlink(data), 0);
    assert_int_equal(symlink("elsewhere", data), 0);
    rec_source_release(open_good(w));
    assert_noted(w, "caches nothing: Too many levels of symbolic links");
    write_file("file", "", 0);
    use_cache("file");
    rec_source_release(open_good(w));
    assert_noted(w, "the directory file (LIBRECORD_CACHE) caches nothing: cannot open the directory: Not a directory");
    use_cache("no/such/folder");
    rec_source_release(open_good(w));
    assert_noted(w, "caches nothing: No such file or directory");
    use_cache("");
    rec_source_release(open_good(w));
    assert_noted(w, NULL);
}

/* ------------------------------------------------------------------------------------ secrets, and other users -- */

static void open_and_close(world *w, const char *url)
{
    rec_source *source = open_url(w, url);
    assert_non_null(source);
    assert_bytes(w, source, 0, TOTAL);
    rec_source_release(source);
}

static void test_kept_files_hold_no_secret(void **state)
{
    static const char *const secrets[] = {"me", "PASSW", "SECRETQ", "127.0.0.1"};
    world *w = *state;
    struct dirent *entry;
    struct stat about;
    DIR *files;
    int count = 0;
    char url[128];
    use_cache("cache");
    SCRIPT(TOTAL, PART);
    (void)snprintf(url, sizeof url, "http://me:PASSW@127.0.0.1:%d/m?sig=SECRETQ", server.port);
    open_and_close(w, url);
    assert_noted(w, NULL);
    files = opendir("cache");
    while ((entry = readdir(files))) {
        char path[300];
        size_t size;
        char *text;
        (void)snprintf(path, sizeof path, "cache/%s", entry->d_name);
        assert_int_equal(stat(path, &about), 0);
        if (!S_ISREG(about.st_mode)) {
            continue;
        }
        count++;
        assert_int_equal(about.st_mode & 07777, 0600);
        text = read_file(path, &size);
        for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
            assert_null(memmem(text, size, secrets[i], strlen(secrets[i])));
            assert_null(strstr(entry->d_name, secrets[i]));
        }
        free(text);
    }
    (void)closedir(files);
    assert_int_equal(count, 2);
    assert_int_equal(stat("cache", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    /* Another password or query is another address. */
    assert_int_equal(server_asked(&server), 2);
    open_and_close(w, url);
    assert_int_equal(server_asked(&server), 3); /* the first request, by which the file is known */
    url[strlen(url) - 1] = 'X';
    open_and_close(w, url);
    (void)end_job(w);
    assert_int_equal(count_files("cache", ".data"), 2);
}

static void test_links_are_not_followed(void **state)
{
    world *w = *state;
    char fresh[300], *dot;
    use_cache("cache");
    SCRIPT(TOTAL, PART);
    open_and_close(w, url_of("/m"));
    (void)snprintf(fresh, sizeof fresh, "%s", kept_file(".index"));
    write_file("victim", "precious", 8);
    /* Where the next index is made, and in the place of the index. */
    dot = strrchr(fresh, '.');
    assert_int_equal(unlink(fresh), 0);
    assert_int_equal(symlink("../victim", fresh), 0);
    (void)strcpy(dot, ".new");
    assert_int_equal(symlink("../victim", fresh), 0);
    open_and_close(w, url_of("/m"));
    assert_noted(w, NULL);
    assert_file("victim", "precious", 8);
    assert_int_equal(unlink(fresh), 0);
    assert_int_equal(unlink("victim"), 0);
    assert_int_equal(count_files("cache", ".new"), 0); /* new names cannot be foreseen, and nothing stays under them */
    assert_non_null(kept_file(".index"));
}

enum { STRANGER = 12345 };

static void assert_unused(world *w, const char *words)
{
    open_and_close(w, url_of("/m"));
    assert_noted(w, words);
}

static void test_directory_of_others_is_not_used(void **state)
{
    world *w = *state;
    SCRIPT(TOTAL, PART);
    assert_int_equal(mkdir("outer", 0755) | mkdir("outer/inner", 0755), 0);
    use_cache("outer/inner");
    open_and_close(w, url_of("/m"));
    assert_noted(w, NULL);
    assert_int_equal(chmod("outer/inner", 0775), 0);
    assert_unused(w,
                  "the directory outer/inner (LIBRECORD_CACHE) caches nothing: the directory is writable by its group");
    assert_int_equal(chmod("outer/inner", 0757), 0);
    assert_unused(w, "caches nothing: the directory is writable by others");
    assert_int_equal(chmod("outer/inner", 0755) | chmod("outer", 0777), 0);
    assert_unused(w, "caches nothing: the directory lies in ");
    assert_int_equal(chmod("outer", 01777), 0);
    open_and_close(w, url_of("/m"));
    assert_noted(w, NULL);
    if (geteuid() != 0) {
        print_message("# needs root to give folders away: owners are not tested\n");
        return;
    }
    assert_int_equal(chown("outer", STRANGER, 0), 0);
    assert_unused(w, "outer belongs to user 12345");
    assert_int_equal(chown("outer", 0, 0) | chown("outer/inner", STRANGER, 0), 0);
    assert_unused(w, "caches nothing: the directory belongs to user 12345");
}

static void test_files_of_others_are_not_believed(void **state)
{
    world *w = *state;
    char data[300], index[300];
    use_cache("cache");
    SCRIPT(TOTAL, PART);
    open_and_close(w, url_of("/m"));
    (void)snprintf(data, sizeof data, "%s", kept_file(".data"));
    (void)snprintf(index, sizeof index, "%s", kept_file(".index"));
    open_and_close(w, url_of("/m"));
    assert_int_equal(server_asked(&server), 3); /* all is there */
    (void)end_job(w);
    assert_int_equal(chmod(data, 0644) | chmod(index, 0644), 0); /* of an older version */
    open_and_close(w, url_of("/m"));
    assert_noted(w, NULL);
    assert_int_equal(server_asked(&server), 4);
    assert_int_equal(chmod(index, 0666), 0);
    open_and_close(w, url_of("/m"));
    assert_noted(w, NULL);
    assert_int_equal(server_asked(&server), 6);
    assert_int_equal(chmod(data, 0660), 0);
    assert_unused(w, "caches nothing: other users can change a file in it");
    assert_int_equal(chmod(data, 0600) | link(data, "other"), 0);
    assert_unused(w, "caches nothing: other users can change a file in it");
    assert_int_equal(unlink("other"), 0);
    if (geteuid() != 0) {
        print_message("# needs root to give files away: owners are not tested\n");
        return;
    }
    SCRIPT(TOTAL, PART);
    assert_int_equal(chown(index, STRANGER, 0), 0);
    open_and_close(w, url_of("/m"));
    assert_noted(w, NULL);
    assert_int_equal(server_asked(&server), 2); /* nothing was believed */
    assert_int_equal(chown(data, STRANGER, 0), 0);
    assert_unused(w, "caches nothing: other users can change a file in it");
}

static void with_little_room(rlim_t most, void (*then)(world *w), world *w)
{
    struct rlimit before, little;
    void (*signalled)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    then(w);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, signalled);
}

static void open_and_release(world *w)
{
    rec_source_release(open_good(w));
}

static void open_whole(world *w)
{
    assert_null(open_url(w, url_of("/m")));
}

static void a_system_that_refuses_is_told(void **state)
{
    static const struct {
        int call, why, times;
        const char *words; /* NULL: it goes on */
    } cases[] = {
        {CALL_PREAD, EINTR, 3, NULL},
        {CALL_PREAD, EIO, 1, "cannot read the directory LIBRECORD_CACHE: Input/output error"},
        {CALL_PREAD, 0, 1, "cannot read the directory LIBRECORD_CACHE: Input/output error"}, /* it was cut */
        {CALL_PWRITE, EINTR, 3, NULL},
        {CALL_PWRITE, ENOSPC, 1, "cannot write into the directory LIBRECORD_CACHE: No space left on device"},
        {CALL_PWRITE, 0, 1, "cannot write into the directory LIBRECORD_CACHE: Input/output error"},
        {CALL_SYNC, EIO, 1, NULL},
        {CALL_RENAME, EIO, 1, NULL},
    };
    world *w = *state;
    rec_source *source;
    use_cache("cache");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCRIPT(TOTAL, PART);
        source = open_good(w);
        refuse(cases[i].call, cases[i].why, cases[i].times);
        if (cases[i].words) {
            assert_int_equal(read_all(w, source, 0, TOTAL), REC_E_IO);
            assert_failed(w, REC_E_IO, cases[i].words);
        } else {
            assert_bytes(w, source, 0, TOTAL);
        }
        rec_source_release(source);
        assert_int_equal(refusals, 0);
        /* What could not be written down is fetched again, and is right. */
        source = open_good(w);
        assert_bytes(w, source, 0, TOTAL);
        rec_source_release(source);
        assert_int_equal(unlink(kept_file(".index")), 0);
    }
    assert_int_equal(unlink(kept_file(".data")), 0);
    with_little_room(1000, open_and_release, w);
    assert_noted(w, "the directory cache (LIBRECORD_CACHE) caches nothing: File too large");
}

static void a_file_that_comes_as_a_whole_needs_room(void **state)
{
    world *w = *state;
    rec_source *source;
    static const char folder[] = "no/such/folder";
    char far[4096 - sizeof "/librecord-XXXXXX" + 2], *before = getenv("TMPDIR");
    before = before ? strdup(before) : NULL;
    SCRIPT(TOTAL, WHOLE);
    with_little_room(1000, open_whole, w);
    assert_failed(w, REC_E_IO, "cannot write a temporary file: File too large");
    assert_int_equal(setenv("TMPDIR", "no/such/folder", 1), 0);
    assert_null(open_url(w, url_of("/m")));
    assert_failed(w, REC_E_IO, "cannot make a temporary file: No such file or directory");
    /* The name of a file in it has 4096 bytes, one more than a path: it is not tried as another, shorter one. */
    memset(far, '/', sizeof far);
    memcpy(far + sizeof far - sizeof folder, folder, sizeof folder);
    assert_int_equal(setenv("TMPDIR", far, 1), 0);
    assert_null(open_url(w, url_of("/m")));
    assert_failed(w, REC_E_IO, "cannot make a temporary file: No such file or directory");
    assert_int_equal(setenv("TMPDIR", "", 1), 0);
    source = open_good(w);
    assert_int_equal(before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR"), 0);
    free(before);
    refuse(CALL_PREAD, EINTR, 2);
    assert_bytes(w, source, 5, TOTAL - 5);
    refuse(CALL_PREAD, 0, 1);
    assert_int_equal(read_all(w, source, 0, 10), REC_E_IO);
    (void)end_job(w);
    assert_contains(rec_error_message(), "cannot read a temporary file: Input/output error");
    rec_source_release(source);
}

/* ------------------------------------------------------------------------------------------- memory that fails -- */

static _Thread_local long countdown = -1; /* allocations of this thread until one fails; negative: none does */
static bool failed;

static bool REC_MAYBE_UNUSED fails_now(void)
{
    if (countdown < 0 || countdown-- > 0) {
        return false;
    }
    failed = true;
    errno = ENOMEM;
    return true;
}

#include "tests/failing_malloc.h"

/* Opens, reads, opens another. @return whether all of it went well. */
static bool fetch(world *w)
{
    static uint8_t data[TOTAL];
    rec_source *source = NULL, *other = NULL;
    bool well = lr_http_open(&w->job, url_of("/m"), &source) == REC_OK &&
                rec_source_read_at(&w->job, source, 0, data, TOTAL) == REC_OK &&
                rec_source_beside(&w->job, source, "x", &other) == REC_OK;
    long left = countdown;
    countdown = -1;
    for (uint64_t i = 0; well && i < TOTAL; i++) {
        assert_true(data[i] == pattern(i));
    }
    rec_source_release(other);
    rec_source_release(source);
    countdown = left;
    return well;
}

static void any_allocation_may_fail(void **state)
{
    world *w = *state;
#if !REPLACES_MALLOC
    print_message("malloc belongs to the sanitizer\n");
    skip();
#endif
    assert_int_equal(setenv("LIBRECORD_HTTP_AUTHORIZATION", "Bearer secret", 1), 0);
    SCRIPT(TOTAL, PART);
    for (int kept = 0; kept < 2; kept++) {
        bool well;
        use_cache(kept ? "cache" : "");
        assert_true(fetch(w)); /* libcurl's own tables */
        assert_int_equal(end_job(w), REC_OK);
        for (long n = 0;; n++) {
            failed = false;
            countdown = n;
            well = fetch(w);
            countdown = -1;
            if (end_job(w) != REC_OK && !failed) {
                fail_msg("allocation %ld: %s", n, rec_error_message());
            }
            assert_true(well == (rec_error_status() == REC_OK));
            assert_true(well || rec_error_message()[0]);
            if (!failed) {
                assert_true(n > 20);
                break;
            }
        }
    }
}

#ifdef __GLIBC_PREREQ
#define MALLOC_TELLS (!SANITIZED && __GLIBC_PREREQ(2, 33))
#else
#define MALLOC_TELLS 0
#endif

/* A file and its companion free all memory. malloc also counts the caches of threads, which grow at times while the
   threads of a busy machine take turns; a leak grows in each window of rounds. */
static void nothing_stays_of_what_is_kept(void **state)
{
#if !MALLOC_TELLS
    (void)state;
    print_message("malloc does not say what is in use\n");
    skip();
#else
    enum { WINDOWS = 8, ROUNDS = 25 };
    world *w = *state;
    size_t least = SIZE_MAX;
    SCRIPT(TOTAL, PART);
    use_cache("cache");
    for (int window = 0; window < WINDOWS; window++) {
        size_t before = mallinfo2().uordblks, after;
        for (int round = 0; round < ROUNDS; round++) {
            assert_true(fetch(w));
            assert_int_equal(end_job(w), REC_OK);
        }
        after = mallinfo2().uordblks;
        least = after < before ? 0 : after - before < least ? after - before : least;
    }
    assert_true(least < ROUNDS * 16);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_fetched_is_there),
        TEST(an_index_counts_if_all_of_it_is_right),
        TEST(much_is_written_down_on_the_way),
        TEST(a_folder_that_keeps_nothing_is_told),
        TEST(a_system_that_refuses_is_told),
        TEST(a_file_that_comes_as_a_whole_needs_room),
        TEST(any_allocation_may_fail),
        TEST(nothing_stays_of_what_is_kept),
        TEST(test_kept_files_hold_no_secret),
        TEST(test_links_are_not_followed),
        TEST(test_directory_of_others_is_not_used),
        TEST(test_files_of_others_are_not_believed),
    };
    return cmocka_run_group_tests_name("files of servers that are kept", tests, begin_server, end_server);
}
