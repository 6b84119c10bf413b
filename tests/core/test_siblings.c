/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Models in several files: sources and sinks beside one another, folders as inputs; and a plugin that uses them. */
#include "tests/end_child.h"
#include "tests/custom_sink.h"
#include "tests/test_io.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define TEMPORARY ".librecord-tmp"
#define MIB ((size_t)1 << 20)

/* Runs a function in a child, so that its limits and rights end with it. */
static void in_child(void (*call)(world *w), world *w)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        call(w);
        end_child(0); /* a failed assertion has left through abort or a longjmp into the parent's group */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child assertions cannot be reported. */
#define CHILD_CHECK(condition) \
    ((condition) ? (void)0 : (fprintf(stderr, "line %d: " #condition "\n", __LINE__), _exit(1)))

static int open_descriptors(void)
{
    return count_files("/proc/self/fd", "");
}

/* ------------------------------------------------------------------------------------------------ files beside -- */

static rec_source *open_index(world *w, const char *path, bool map)
{
    rec_source *index = lr_source_open(&w->job, path, map);
    assert_non_null(index);
    return index;
}

static void a_file_beside_is_in_the_folder_of_the_first(void **state)
{
    world *w = *state;
    char absolute[128];
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("a", "outer", 5);
    write_file("m/a", "inner", 5);
    write_file("m/index", "i", 1);
    (void)snprintf(absolute, sizeof absolute, "%s/m/index", w->folder);
    const char *const paths[] = {"m/index", "./m/index", "m//index", absolute};
    for (size_t i = 0; i < 4; i++) {
        rec_source *index = open_index(w, paths[i], i % 2), *a = NULL;
        assert_int_equal(rec_source_beside(&w->job, index, "a", &a), REC_OK);
        assert_view(w, a, "inner", 5);
        assert_int_equal(lr_source_mapped(a), i % 2); /* as the first */
        rec_source_release(index);
        rec_source_release(a);
        (void)end_job(w);
    }
}

static void a_file_beside_has_others_beside_it(void **state)
{
    world *w = *state;
    rec_source *index, *a, *b;
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("m/index", "i", 1);
    write_file("m/a", "a", 1);
    write_file("m/b", "b", 1);
    index = open_index(w, "m/index", false);
    assert_int_equal(rec_source_beside(&w->job, index, "a", &a), REC_OK);
    assert_int_equal(rec_source_beside(&w->job, a, "b", &b), REC_OK);
    assert_string_equal(rec_source_name(b), "m/b");
    rec_source_release(index);
    rec_source_release(a);
    assert_view(w, b, "b", 1);
    rec_source_release(b);
}

static void names_that_leave_the_folder_are_refused(void **state)
{
    world *w = *state;
    static const struct {
        const char *name, *words;
    } bad[] = {
        {"", "m/index: the name of another file is empty"},
        {".", "m/index: it names the file \".\", which is not a plain file name"},
        {"..", "it names the file \"..\", which"},
        {"../secret", "it names the file \"../secret\", which"},
        {"/etc/passwd", "it names the file \"/etc/passwd\", which"},
        {"sub/../secret", "it names the file \"sub/../secret\", which is not a path below its own directory"},
        {"./a", "it names the file \"./a\", which"},
        {"sub//a", "it names the file \"sub//a\", which"},
        {"a/", "it names the file \"a/\", which"},
    };
    char longest[257];
    rec_source *index, *out;
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("secret", "s", 1);
    write_file("m/index", "i", 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        index = open_index(w, "m/index", true);
        assert_int_equal(rec_source_beside(&w->job, index, bad[i].name, &out), REC_E_FORMAT);
        assert_null(out);
        rec_source_release(index);
        assert_failed(w, REC_E_FORMAT, bad[i].words);
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[256] = '\0';
    index = open_index(w, "m/index", true);
    assert_int_equal(rec_source_beside(&w->job, index, longest, &out), REC_E_FORMAT);
    assert_failed(w, REC_E_FORMAT, "is longer than 255 bytes");
    longest[255] = '\0'; /* as long as a name may be: not there, that is all */
    assert_int_equal(rec_source_beside(&w->job, index, longest, &out), REC_E_NOT_FOUND);
    rec_source_release(index);
    (void)end_job(w);
}

static void links_are_followed_from_the_path_as_it_was_given(void **state)
{
    world *w = *state;
    rec_source *index, *a, *b;
    /* As a hub's cache has it: all names are links into another folder. */
    assert_int_equal(mkdir("blobs", 0755), 0);
    assert_int_equal(mkdir("snapshot", 0755), 0);
    write_file("blobs/11", "index", 5);
    write_file("blobs/22", "tensor", 6);
    write_file("blobs/b", "wrong", 5);
    assert_int_equal(symlink("../blobs/11", "snapshot/index"), 0);
    assert_int_equal(symlink("../blobs/22", "snapshot/a"), 0);
    assert_int_equal(symlink("../blobs/33", "snapshot/b"), 0);
    index = open_index(w, "snapshot/index", true);
    assert_view(w, index, "index", 5);
    assert_int_equal(rec_source_beside(&w->job, index, "a", &a), REC_OK);
    assert_view(w, a, "tensor", 6);
    rec_source_release(a);
    assert_int_equal(rec_source_beside(&w->job, index, "b", &b), REC_E_NOT_FOUND);
    rec_source_release(index);
    assert_failed(w, REC_E_NOT_FOUND,
                  "snapshot/b: cannot open the file: No such file or directory\n  It belongs to snapshot/index.");
}

static void only_regular_files_are_opened(void **state)
{
    world *w = *state;
    rec_source *index, *out;
    write_file("index", "i", 1);
    assert_int_equal(mkfifo("fifo", 0644), 0); /* opening it would never end */
    assert_int_equal(symlink("fifo", "to-fifo"), 0);
    assert_int_equal(mkdir("folder", 0755), 0);
    assert_int_equal(symlink("/dev/zero", "zero"), 0);
    static const char *const bad[] = {"fifo", "to-fifo", "zero", "folder"};
    for (size_t i = 0; i < 4; i++) {
        char words[64];
        index = open_index(w, "index", true);
        assert_int_equal(rec_source_beside(&w->job, index, bad[i], &out), REC_E_FORMAT);
        rec_source_release(index);
        (void)snprintf(words, sizeof words,
                       i < 3 ? "%s: this is not a regular file" : "%s: this is a directory, not a file", bad[i]);
        assert_failed(w, REC_E_FORMAT, words);
    }
}

static int32_t read_nothing(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    (void)self, (void)job, (void)target, (void)room;
    *got = 0;
    return REC_OK;
}

static int32_t rewind_nothing(void *self, rec_job *job)
{
    (void)self, (void)job;
    return REC_OK;
}

static void what_is_no_file_has_none_beside_it(void **state)
{
    world *w = *state;
    static const rec_source_ops ops = {.size = sizeof ops, .read = read_nothing, .rewind = rewind_nothing};
    rec_source *file, *out;
    write_file("index", "i", 1);
    write_file("a", "a", 1);
    for (int kind = 0; kind < 3; kind++) {
        rec_source *source = NULL;
        int fd = open("index", O_RDONLY | O_CLOEXEC);
        file = open_index(w, "index", true);
        if (kind == 0) {
            source = lr_source_memory(&w->job, "i", 1, "(memory)");
        } else if (kind == 1) {
            source = lr_source_fd(&w->job, fd, "index", true);
        } else {
            assert_int_equal(rec_source_filter(&w->job, file, &ops, NULL, &source), REC_OK);
        }
        assert_int_equal(rec_source_beside(&w->job, source, "a", &out), REC_E_UNSUPPORTED);
        assert_null(out);
        rec_source_release(source);
        rec_source_release(file);
        (void)close(fd);
        assert_failed(w, REC_E_UNSUPPORTED,
                      "the model continues in another file, \"a\", which is missing\n"
                      "  Load it by the path");
    }
}

static void failures_name_the_file_that_they_are_about(void **state)
{
    world *w = *state;
    uint8_t bytes[16];
    rec_source *index, *a;
    write_file("index", "i", 1);
    write_file("a", "abc", 3);
    index = open_index(w, "index", false);
    assert_int_equal(rec_source_beside(&w->job, index, "a", &a), REC_OK);
    assert_int_equal(rec_source_read_at(&w->job, a, 2, bytes, 8), REC_E_FORMAT);
    assert_failed(w, REC_E_FORMAT, "a: byte 2: 8 bytes are needed from byte 2 on, but there are only 3 bytes");

    assert_int_equal(rec_fail(&w->job, REC_E_FORMAT, 1, "this is wrong"), REC_E_FORMAT); /* a plugin's own words */
    rec_fail_source(&w->job, a);
    rec_fail_hint(&w->job, "Mend it.");
    assert_failed(w, REC_E_FORMAT, "a: byte 1: this is wrong\n  Mend it.");

    rec_fail_source(&w->job, a); /* nothing has failed */
    assert_int_equal(rec_fail(&w->job, REC_E_FORMAT, 1, "first"), REC_E_FORMAT);
    (void)rec_fail(&w->job, REC_E_FORMAT, 1, "second");
    rec_fail_source(&w->job, a); /* that was about the second, which does not count */
    assert_failed(w, REC_E_FORMAT, "job.file: byte 1: first");

    assert_int_equal(truncate("a", 1), 0);
    assert_int_equal(rec_source_read_at(&w->job, a, 0, bytes, 3), REC_E_IO);
    assert_failed(w, REC_E_IO, "a: byte 1: the file shrank while it was read: it had 3 bytes");
    rec_source_release(a);
    rec_source_release(index);
}

static void the_memory_that_a_load_may_take_follows_all_of_its_files(void **state)
{
    world *w = *state;
    rec_source *index, *a, *b;
    uint64_t slack = w->job.limits.memory_slack, factor = w->job.limits.memory_factor;
    write_file("index", "0123456789", 10);
    write_file("a", "", 0);
    assert_int_equal(truncate("a", 1000), 0);
    index = open_index(w, "index", true);
    assert_int_equal(w->job.budget.limit, 10 * factor + slack);
    assert_int_equal(rec_source_beside(&w->job, index, "a", &a), REC_OK);
    assert_int_equal(rec_source_beside(&w->job, index, "a", &b), REC_OK);
    assert_int_equal(w->job.budget.limit, 2010 * factor + slack);
    lr_job_input(&w->job, 500); /* the first was inflated, say */
    assert_int_equal(w->job.budget.limit, 2500 * factor + slack);
    rec_source_release(index);
    rec_source_release(a);
    rec_source_release(b);
    lr_siblings_drop(&w->job);
    assert_null(w->job.kept);
    assert_null(w->job.at_end);
    assert_int_equal(w->job.beside, 0);
}

static void what_is_kept_does_not_depend_on_the_files(void **state)
{
    world *w = *state;
    for (int map = 0; map < 2; map++) {
        rec_source *index, *kept, *passed;
        bool any;
        int before = open_descriptors();
        write_file("index", "i", 1);
        write_file("kept", "keep me", 7);
        write_file("passed", "pass", 4);
        index = open_index(w, "index", map);
        assert_int_equal(rec_source_beside(&w->job, index, "kept", &kept), REC_OK);
        assert_int_equal(rec_source_beside(&w->job, index, "passed", &passed), REC_OK);
        rec_source_release(passed);
        rec_source_release(index);
        assert_int_equal(lr_siblings_settle(&w->job), REC_OK);
        assert_int_equal(lr_siblings_mapped(&w->job, &any), map);
        assert_true(any);
        assert_int_equal(end_job(w), REC_OK);
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(unlink("kept"), 0);
        assert_view(w, kept, "keep me", 7);
        rec_source_release(kept);
    }
}

/* Opens so many that not each can have a descriptor. */
static void open_many(world *w)
{
    enum { MANY = 300 };
    rec_source *kept[MANY], *index;
    struct rlimit limit = {.rlim_cur = 40, .rlim_max = 40};
    char name[32];
    write_file("index", "i", 1);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "part-%03d", i);
        write_file(name, name, strlen(name));
    }
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int map = 0; map < 2; map++) {
        index = lr_source_open(&w->job, "index", map);
        for (int i = 0; i < MANY; i++) {
            (void)snprintf(name, sizeof name, "part-%03d", i);
            kept[i] = NULL;
            CHILD_CHECK(rec_source_beside(&w->job, index, name, &kept[i]) == REC_OK);
        }
        for (int i = 0; i < MANY; i++) {
            char bytes[8];
            (void)snprintf(name, sizeof name, "part-%03d", i);
            CHILD_CHECK(rec_source_read_at(&w->job, kept[i], 0, bytes, 8) == REC_OK);
            CHILD_CHECK(memcmp(bytes, name, 8) == 0);
            rec_source_release(kept[i]);
        }
        rec_source_release(index);
        CHILD_CHECK(end_job(w) == REC_OK);
        CHILD_CHECK(open_descriptors() < 12);
    }
}

static void there_may_be_more_of_them_than_descriptors(void **state)
{
    in_child(open_many, *state);
}

static void empty_files_and_those_that_hide_their_size_are_read(void **state)
{
    world *w = *state;
    rec_source *index, *out;
    write_file("index", "i", 1);
    write_file("empty", "", 0);
    assert_int_equal(symlink("/proc/self/status", "status"), 0);
    index = open_index(w, "index", true);
    assert_int_equal(rec_source_beside(&w->job, index, "empty", &out), REC_OK);
    assert_view(w, out, "", 0);
    rec_source_release(out);
    assert_int_equal(rec_source_beside(&w->job, index, "status", &out), REC_OK);
    assert_true(rec_source_size(out) > 100);
    rec_source_release(out);
    rec_source_release(index);
}

/* ----------------------------------------------------------------------------------------------------- folders -- */

static void a_folder_has_names_and_no_bytes(void **state)
{
    world *w = *state;
    const char *const *names;
    uint64_t count, got;
    const void *data;
    uint8_t byte;
    rec_source *folder, *a;
    rec_head head;
    assert_int_equal(mkdir("m", 0755), 0);
    assert_int_equal(mkdir("m/sub", 0755), 0);
    assert_int_equal(mkfifo("m/fifo", 0644), 0);
    write_file("m/b", "b", 1);
    write_file("m/a", "a", 1);
    write_file("m/.hidden", "h", 1);
    assert_int_equal(symlink("a", "m/to-a"), 0);
    assert_int_equal(symlink("sub", "m/to-sub"), 0);
    assert_int_equal(symlink("nowhere", "m/to-nothing"), 0); /* whoever needs it will say that it is missing */
    static const char *const paths[] = {"m", "m/", "m//", "./m"};
    for (size_t i = 0; i < 4; i++) {
        folder = lr_source_open(&w->job, paths[i], true);
        assert_non_null(folder);
        assert_true(lr_source_is_folder(folder));
        assert_int_equal(rec_source_names(&w->job, folder, &names, &count), REC_OK);
        assert_int_equal(count, 4);
        assert_string_equal(names[0], "a");
        assert_string_equal(names[1], "b");
        assert_string_equal(names[2], "to-a");
        assert_string_equal(names[3], "to-nothing");
        assert_int_equal(rec_source_size(folder), 0);
        assert_int_equal(lr_source_head(&w->job, folder, &head), REC_OK);
        assert_string_equal(head.name, "m");
        assert_ptr_equal(head.names, names);
        assert_int_equal(head.name_count, 4);
        assert_int_equal(head.length, 0);
        assert_int_equal(rec_source_rewind(&w->job, folder), REC_OK);
        assert_int_equal(lr_source_settle(&w->job, folder), REC_OK);
        assert_int_equal(rec_source_beside(&w->job, folder, "a", &a), REC_OK);
        assert_string_equal(rec_source_name(a) + strlen(rec_source_name(a)) - 3, "m/a");
        assert_view(w, a, "a", 1);
        rec_source_release(a);
        assert_int_equal(rec_source_read(&w->job, folder, &byte, 1, &got), REC_E_UNSUPPORTED);
        assert_int_equal(got, 0);
        assert_failed(w, REC_E_UNSUPPORTED, "m: this is a directory, not a file");
        assert_int_equal(rec_source_view(&w->job, folder, &data, &got), REC_E_UNSUPPORTED);
        assert_failed(w, REC_E_UNSUPPORTED, "m: this is a directory, not a file");
        assert_int_equal(rec_source_read_at(&w->job, folder, 0, &byte, 0), REC_E_UNSUPPORTED);
        assert_failed(w, REC_E_UNSUPPORTED, "m: this is a directory, not a file");
        rec_source_release(folder);
    }
    folder = lr_source_open(&w->job, "/", true);
    assert_int_equal(lr_source_head(&w->job, folder, &head), REC_OK);
    assert_string_equal(head.name, "");
    rec_source_release(folder);
}

static void a_file_has_a_name_and_no_names(void **state)
{
    world *w = *state;
    const char *const *names = (const char *const *)&w;
    uint64_t count = 1;
    rec_head head;
    rec_source *file, *memory;
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("m/a.index", "a", 1);
    file = open_index(w, "m/a.index", true);
    assert_int_equal(rec_source_names(&w->job, file, &names, &count), REC_OK);
    assert_null(names);
    assert_int_equal(count, 0);
    assert_int_equal(lr_source_head(&w->job, file, &head), REC_OK);
    assert_string_equal(head.name, "a.index");
    assert_null(head.names);
    rec_source_release(file);
    memory = lr_source_memory(&w->job, "x", 1, "(memory)");
    assert_int_equal(lr_source_head(&w->job, memory, &head), REC_OK);
    assert_string_equal(head.name, "");
    rec_source_release(memory);
}

static void an_empty_folder_is_a_folder(void **state)
{
    world *w = *state;
    const char *const *names = NULL;
    uint64_t count = 1;
    rec_source *folder;
    assert_int_equal(mkdir("m", 0755), 0);
    folder = lr_source_open(&w->job, "m", true);
    assert_int_equal(rec_source_names(&w->job, folder, &names, &count), REC_OK);
    assert_non_null(names);
    assert_int_equal(count, 0);
    rec_source_release(folder);
}

static void look_into_the_locked(world *w)
{
    CHILD_CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    CHILD_CHECK(lr_source_open(&w->job, "locked", true) == NULL);
    CHILD_CHECK(lr_job_end(&w->job) == REC_E_IO);
    CHILD_CHECK(strcmp(rec_error_message(), "locked: cannot open the file: Permission denied") == 0);
}

static void a_folder_that_may_not_be_listed_is_an_error(void **state)
{
    world *w = *state;
    assert_int_equal(chmod(w->folder, 0755), 0);
    assert_int_equal(mkdir("locked", 0711), 0);
    assert_int_equal(chmod("locked", geteuid() == 0 ? 0711 : 0311), 0);
    in_child(look_into_the_locked, w);
}

/* A file system in memory makes the many files in a fifth of the time. */
static int enter_world_in_memory(void **state)
{
    const char *memory = "/dev/shm", *parent = getenv("TMPDIR");
    char *before = parent ? strdup(parent) : NULL;
    int result = access(memory, W_OK | X_OK) == 0 ? setenv("TMPDIR", memory, 1) : 0;
    result |= enter_world(state);
    result |= before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR");
    free(before);
    return result;
}

static void a_folder_of_too_many_files_is_refused(void **state)
{
    world *w = *state;
    char name[48];
    int folder;
    assert_int_equal(mkdir("m", 0755), 0);
    folder = open("m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_file("m/000000", "", 0);
    for (int i = 1; i <= 100000; i++) {
        (void)snprintf(name, sizeof name, "%06d", i);
        if (symlinkat("000000", folder, name) != 0) {
            (void)close(folder);
            skip(); /* no room for so many */
        }
    }
    (void)close(folder);
    assert_null(lr_source_open(&w->job, "m", true));
    assert_failed(w, REC_E_LIMIT, "m: the directory holds more than 100,000 files");
    assert_int_equal(unlink("m/100000"), 0);
    rec_source_release(lr_source_open(&w->job, "m", true));
    assert_int_equal(end_job(w), REC_OK);
}

/* ---------------------------------------------------------------------------------------------- saving several -- */

static rec_sink *beside(world *w, rec_sink *sink, const char *name, const char *text)
{
    rec_sink *out = NULL;
    assert_int_equal(rec_sink_beside(&w->job, sink, name, &out), REC_OK);
    assert_non_null(out);
    assert_int_equal(rec_sink_write(out, text, strlen(text)), REC_OK);
    return out;
}

static void files_that_belong_together_appear_together(void **state)
{
    world *w = *state;
    for (int sync = 0; sync < 2; sync++) {
        rec_sink *sink, *a, *b;
        write_file("index", "old index", 9);
        write_file("a", "old a", 5);
        assert_int_equal(chmod("a", 0640), 0);
        sink = lr_sink_file(&w->job, "index", sync);
        assert_string_equal(rec_sink_name(sink), "index");
        a = beside(w, sink, "a", "new a");
        b = beside(w, a, "b", "new b"); /* beside the second is beside the first */
        assert_string_equal(rec_sink_name(b), "b");
        assert_int_equal(rec_sink_close(a), REC_OK);
        assert_int_equal(rec_sink_write(sink, "new index", 9), REC_OK);
        assert_int_equal(count_files(".", TEMPORARY), 3);
        assert_file("a", "old a", 5);
        assert_int_equal(access("b", F_OK), -1);
        assert_int_equal(rec_sink_tell(a), 5);
        assert_int_equal(lr_sink_tell_all(sink), 19);
        assert_int_equal(lr_sink_commit(sink), REC_OK);
        assert_file("index", "new index", 9);
        assert_file("a", "new a", 5);
        assert_file("b", "new b", 5);
        assert_int_equal(count_files(".", ""), 3);
        struct stat info;
        assert_int_equal(stat("a", &info), 0);
        assert_int_equal(info.st_mode & 07777, 0640);
        assert_int_equal(unlink("b"), 0);
    }
}

static void a_failure_leaves_all_of_the_old_ones(void **state)
{
    world *w = *state;
    for (int closed = 0; closed < 2; closed++) {
        rec_sink *sink, *part = NULL;
        write_file("index", "old index", 9);
        write_file("a", "old a", 5);
        sink = lr_sink_file(&w->job, "index", true);
        for (int i = 0; i < 3; i++) {
            char name[2] = {(char)('a' + i), '\0'};
            part = beside(w, sink, name, "new");
            if (closed) {
                assert_int_equal(rec_sink_close(part), REC_OK);
            }
        }
        assert_int_equal(count_files(".", TEMPORARY), 4);
        (void)rec_fail(&w->job, REC_E_FORMAT, REC_UNKNOWN, "the third is bad");
        assert_int_equal(rec_sink_close(part), REC_E_FORMAT);
        assert_int_equal(lr_sink_commit(sink), REC_E_FORMAT);
        assert_failed(w, REC_E_FORMAT, "the third is bad");
        assert_file("index", "old index", 9);
        assert_file("a", "old a", 5);
        assert_int_equal(count_files(".", ""), 2);
    }
}

static void the_first_can_be_renamed(void **state)
{
    world *w = *state;
    rec_sink *sink, *part;
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("m/model", "another", 7);
    write_file("m/model.index", "old", 3);
    assert_int_equal(chmod("m/model.index", 0600), 0);
    write_file("m/.model.abcdef" TEMPORARY, "stale", 5);
    write_file("m/.model.abcdef-00001" TEMPORARY, "stale", 5);
    sink = lr_sink_file(&w->job, "m/model", true);
    assert_int_equal(lr_sink_reserve(sink, 4096), REC_OK);
    assert_int_equal(rec_sink_rename(&w->job, sink, "model.index"), REC_OK);
    assert_string_equal(rec_sink_name(sink), "model.index");
    assert_int_equal(count_files("m", TEMPORARY), 1);
    part = beside(w, sink, "model-1", "part");
    assert_int_equal(lr_sink_commit(lr_sink_file(&w->job, "m/model", true)), REC_OK); /* its sweep knows both */
    assert_int_equal(count_files("m", TEMPORARY), 2);
    write_file("m/model", "another", 7);
    assert_int_equal(rec_sink_write(sink, "new", 3), REC_OK);
    assert_int_equal(rec_sink_close(part), REC_OK);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_file("m/model", "another", 7);
    assert_file("m/model.index", "new", 3);
    assert_file("m/model-1", "part", 4);
    struct stat info;
    assert_int_equal(stat("m/model.index", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(count_files("m", ""), 3);
}

static void renaming_is_for_the_first_alone_and_at_once(void **state)
{
    world *w = *state;
    rec_sink *sink, *part;
    for (int how = 0; how < 3; how++) {
        sink = lr_sink_file(&w->job, "index", false);
        part = how < 2 ? beside(w, sink, "a", "a") : NULL;
        if (how == 2) {
            assert_int_equal(rec_sink_write(sink, "x", 1), REC_OK);
        }
        assert_int_equal(rec_sink_rename(&w->job, how == 0 ? part : sink, "other"), REC_E_PLUGIN);
        (void)lr_sink_commit(sink);
        assert_failed(w, REC_E_PLUGIN, "renamed a sink other than its first, or after something was written");
    }
    sink = lr_sink_file(&w->job, "index", false);
    assert_int_equal(rec_sink_rename(&w->job, sink, "index"), REC_OK);
    assert_int_equal(rec_sink_rename(&w->job, sink, "../index"), REC_E_ARGUMENT);
    (void)lr_sink_commit(sink);
    assert_failed(w, REC_E_ARGUMENT, "index: it names the file \"../index\", which is not a plain file name");
    assert_int_equal(mkdir("folder", 0755), 0);
    sink = lr_sink_file(&w->job, "index", false);
    assert_int_equal(rec_sink_rename(&w->job, sink, "folder"), REC_E_IO);
    (void)lr_sink_commit(sink);
    assert_failed(w, REC_E_IO, "folder: cannot save to a directory");
    assert_int_equal(count_files(".", ""), 1);
}

static void no_two_files_have_one_name(void **state)
{
    world *w = *state;
    rec_sink *sink, *out;
    static const char *const bad[] = {"index", "a", "to-a", "to-index"};
    write_file("a", "old", 3);
    assert_int_equal(symlink("a", "to-a"), 0);
    assert_int_equal(symlink("index", "to-index"), 0);
    for (size_t i = 0; i < 4; i++) {
        char words[96];
        sink = lr_sink_file(&w->job, "index", false);
        (void)beside(w, sink, "a", "new");
        (void)beside(w, sink, "b", "new");
        assert_int_equal(rec_sink_beside(&w->job, sink, bad[i], &out), REC_E_ARGUMENT);
        assert_null(out);
        (void)lr_sink_commit(sink);
        (void)snprintf(words, sizeof words,
                       i < 2 ? "index: two of its files would have the name \"%s\"" : "%s: it is the same file as",
                       bad[i]);
        assert_failed(w, REC_E_ARGUMENT, words);
        assert_file("a", "old", 3);
        assert_int_equal(count_files(".", ""), 3);
    }
    sink = rec_sink_layout(&w->job); /* the first walk finds it too */
    assert_int_equal(rec_sink_beside(&w->job, sink, "a", &out), REC_OK);
    assert_int_equal(rec_sink_beside(&w->job, sink, "a", &out), REC_E_ARGUMENT);
    (void)rec_sink_close(sink);
    assert_failed(w, REC_E_ARGUMENT, "two of its files would have the name \"a\"");
}

static void a_part_goes_where_its_link_leads(void **state)
{
    world *w = *state;
    rec_sink *sink, *part;
    assert_int_equal(mkdir("blobs", 0755), 0);
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("blobs/1", "old", 3);
    assert_int_equal(symlink("../blobs/1", "m/a"), 0);
    assert_int_equal(symlink("../blobs/2", "m/index"), 0);
    for (int round = 0; round < 2; round++) {
        sink = lr_sink_file(&w->job, "m/index", true);
        part = beside(w, sink, "a", "new"); /* into blobs, as the first */
        assert_int_equal(rec_sink_close(part), REC_OK);
        (void)beside(w, sink, "b", "beside"); /* in the directory that was asked for, where it will be looked for */
        assert_int_equal(count_files("blobs", TEMPORARY), 2);
        assert_int_equal(count_files("m", TEMPORARY), 1);
        if (round == 0) {
            (void)rec_fail(&w->job, REC_E_FORMAT, REC_UNKNOWN, "no");
        }
        assert_int_equal(lr_sink_commit(sink), round == 0 ? REC_E_FORMAT : REC_OK);
        (void)end_job(w);
        assert_file("blobs/1", round == 0 ? "old" : "new", 3);
        assert_int_equal(count_files("blobs", ""), round == 0 ? 1 : 2);
        assert_int_equal(count_files("m", ""), round == 0 ? 2 : 3);
    }
    assert_file("m/b", "beside", 6);
    assert_file("m/a", "new", 3);
    struct stat info;
    assert_int_equal(lstat("m/a", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
}

static int32_t write_nowhere(void *user, rec_job *job, const void *data, uint64_t size)
{
    (void)user, (void)job, (void)data, (void)size;
    return REC_OK;
}

static int32_t filter_nothing(void *self, rec_sink *target, const void *data, uint64_t size)
{
    (void)self;
    return rec_sink_write(target, data, size);
}

static void what_is_no_file_cannot_be_saved_in_several(void **state)
{
    world *w = *state;
    static const rec_sink_ops ops = {.size = sizeof ops, .write = filter_nothing};
    for (int kind = 0; kind < 5; kind++) {
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        rec_sink *file = lr_sink_file(&w->job, kind == 4 ? "/dev/null" : "file", false), *sink, *layout, *out;
        sink = kind == 0   ? lr_sink_memory(&w->job)
               : kind == 1 ? lr_sink_fd(&w->job, fd)
               : kind == 2 ? sink_custom(&w->job, write_nowhere, NULL)
               : kind == 3 ? rec_sink_filter(&w->job, file, &ops, NULL)
                           : file;
        assert_non_null(sink);
        assert_string_equal(rec_sink_name(sink), "");
        layout = lr_sink_layout_of(&w->job, sink);
        assert_string_equal(rec_sink_name(layout), "");
        assert_int_equal(rec_sink_beside(&w->job, layout, "a", &out), REC_E_UNSUPPORTED); /* known in the first walk */
        assert_failed(w, REC_E_UNSUPPORTED, "a model in several files cannot be saved here\n  Save it by the path");
        assert_int_equal(rec_sink_beside(&w->job, sink, "a", &out), REC_E_UNSUPPORTED);
        assert_null(out);
        assert_failed(w, REC_E_UNSUPPORTED, "a model in several files cannot be saved here\n  Save it by the path");
        assert_int_equal(rec_sink_rename(&w->job, sink, "a"), REC_E_UNSUPPORTED);
        (void)rec_sink_close(layout);
        (void)(kind == 3 ? rec_sink_close(sink) : lr_sink_commit(sink));
        if (kind < 4) {
            (void)lr_sink_commit(file);
        }
        (void)close(fd);
        (void)end_job(w);
    }
    assert_int_equal(count_files(".", ""), 0);
}

static void only_files_can_be_beside(void **state)
{
    world *w = *state;
    static const char *const words[] = {"folder: cannot save to a directory",
                                        "fifo: a model in several files can only be saved to regular"};
    assert_int_equal(mkdir("folder", 0755), 0);
    assert_int_equal(mkfifo("fifo", 0644), 0);
    for (int i = 0; i < 2; i++) {
        rec_sink *sink = lr_sink_file(&w->job, "index", false), *out;
        assert_int_equal(rec_sink_beside(&w->job, sink, i ? "fifo" : "folder", &out), REC_E_IO);
        assert_null(out);
        (void)lr_sink_commit(sink);
        assert_failed(w, REC_E_IO, words[i]);
        assert_int_equal(count_files(".", ""), 2);
    }
}

static void nothing_is_written_to_a_closed_part(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_file(&w->job, "index", false), *part = beside(w, sink, "a", "a");
    assert_int_equal(rec_sink_close(part), REC_OK);
    assert_int_equal(rec_sink_close(part), REC_OK);
    assert_int_equal(rec_sink_write(part, "b", 1), REC_E_PLUGIN);
    (void)lr_sink_commit(sink);
    assert_failed(w, REC_E_PLUGIN, "wrote to a sink that it had closed");
    assert_int_equal(count_files(".", ""), 0);
}

static void closed_parts_keep_no_descriptor(void **state)
{
    world *w = *state;
    enum { MANY = 1500 };
    rec_sink *sink = lr_sink_file(&w->job, "index", false);
    int before = open_descriptors();
    char name[32];
    use_counted_allocator(w);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "part-%04d", i);
        assert_int_equal(rec_sink_close(beside(w, sink, name, name)), REC_OK);
    }
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(count_files(".", ""), MANY + 1);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "part-%04d", i);
        assert_file(name, name, strlen(name));
    }
}

static void large_parts_are_whole(void **state)
{
    world *w = *state;
    size_t size = 9 * MIB + 17;
    uint8_t *data = make_pattern(size);
    rec_sink *sink, *parts[3];
    rec_sink *layout = rec_sink_layout(&w->job);
    for (int i = 0; i < 3; i++) { /* as the first walk would */
        char name[2] = {(char)('a' + i), '\0'};
        assert_int_equal(rec_sink_beside(&w->job, layout, name, &parts[i]), REC_OK);
        assert_int_equal(rec_sink_write(parts[i], data, size), REC_OK);
        assert_int_equal(rec_sink_close(parts[i]), REC_OK);
    }
    assert_int_equal(rec_sink_tell(layout), 0);
    assert_int_equal(rec_sink_tell(parts[2]), size);
    assert_int_equal(lr_sink_tell_all(layout), 3 * size);
    sink = lr_sink_file(&w->job, "index", true);
    assert_int_equal(lr_sink_expect(sink, layout), REC_OK);
    assert_int_equal(rec_sink_close(layout), REC_OK);
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        assert_int_equal(rec_sink_beside(&w->job, sink, name, &parts[i]), REC_OK);
    }
    for (size_t at = 0; at < size; at += 50000) { /* in turns, so that each has its thread */
        for (int i = 0; i < 3; i++) {
            assert_int_equal(rec_sink_write(parts[i], data + at, size - at < 50000 ? size - at : 50000), REC_OK);
        }
    }
    assert_int_equal(w->job.progress.total, 3 * size); /* the progress is that of all */
    assert_true(w->job.progress.done > 2 * size);
    assert_true(w->progress_calls > 4);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        struct stat info;
        assert_file(name, data, size);
        assert_int_equal(stat(name, &info), 0);
    }
    assert_file("index", "", 0);
    free(data);
}

static void a_cancelled_save_leaves_nothing(void **state)
{
    world *w = *state;
    uint8_t *data = make_pattern(8 * MIB);
    rec_sink *sink = lr_sink_file(&w->job, "index", false), *part;
    w->cancel_at = 3;
    for (int i = 0; i < 4 && !lr_job_failed(&w->job); i++) {
        char name[2] = {(char)('a' + i), '\0'};
        if (rec_sink_beside(&w->job, sink, name, &part) == REC_OK) {
            (void)rec_sink_write(part, data, 8 * MIB);
            (void)rec_sink_close(part);
        }
    }
    assert_int_equal(lr_sink_commit(sink), REC_E_CANCELLED);
    assert_int_equal(count_files(".", ""), 0);
    free(data);
}

static void a_full_disk_is_an_error_that_leaves_the_old_files(void **state)
{
    world *w = *state;
    rec_sink *sink, *part = NULL;
    uint8_t *data = make_pattern(MIB);
    assert_int_equal(mkdir("disk", 0755), 0);
    if (mount("none", "disk", "tmpfs", 0, "size=2m") != 0) {
        free(data);
        skip();
    }
    write_file("disk/a", "old", 3);
    sink = lr_sink_file(&w->job, "disk/index", true);
    for (int i = 0; i < 3 && !lr_job_failed(&w->job); i++) {
        char name[2] = {(char)('a' + i), '\0'};
        assert_int_equal(rec_sink_beside(&w->job, sink, name, &part), REC_OK);
        (void)rec_sink_write(part, data, MIB);
        (void)rec_sink_close(part);
    }
    (void)lr_sink_commit(sink);
    assert_int_equal(w->job.error.status, REC_E_IO);
    assert_failed(w, REC_E_IO, "disk/b: byte ");
    assert_file("disk/a", "old", 3);
    assert_int_equal(count_files("disk", ""), 1);
    assert_int_equal(umount("disk"), 0);
    free(data);
}

/* What stops one rename in the middle: a directory appears in its place while the save is under way. */
static void a_rename_that_fails_says_what_is_in_place(void **state)
{
    world *w = *state;
    rec_sink *sink;
    write_file("index", "old", 3);
    sink = lr_sink_file(&w->job, "index", true);
    (void)beside(w, sink, "a", "new");
    (void)beside(w, sink, "b", "new");
    (void)beside(w, sink, "c", "new");
    assert_int_equal(rec_sink_write(sink, "new", 3), REC_OK);
    assert_int_equal(mkdir("c", 0755), 0);
    assert_int_equal(lr_sink_commit(sink), REC_E_IO);
    assert_failed(w, REC_E_IO,
                  "c: cannot rename the temporary file to the file's name: Is a directory\n"
                  "  Of the 4 files of the set, 2 are new (a, b), the others unchanged: save "
                  "again.");
    assert_file("index", "old", 3);
    assert_file("b", "new", 3);
    assert_int_equal(count_files(".", ""), 4);
}

/* A child that stops in the middle of a save until it is killed. */
static pid_t start_save(world *w)
{
    int ends[2];
    char byte;
    pid_t child;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        rec_sink *sink = lr_sink_file(&w->job, "index", false), *part;
        for (int i = 0; i < 3; i++) {
            char name[2] = {(char)('a' + i), '\0'};
            if (!sink || rec_sink_beside(&w->job, sink, name, &part) != REC_OK ||
                rec_sink_write(part, "half", 4) != REC_OK || (i < 2 && rec_sink_close(part) != REC_OK)) {
                _exit(1);
            }
        }
        if (write(ends[1], "x", 1) != 1) {
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

static void what_a_killed_save_leaves_is_swept_and_a_live_one_is_not(void **state)
{
    world *w = *state;
    rec_sink *sink;
    int status;
    pid_t child = start_save(w);
    assert_int_equal(count_files(".", TEMPORARY), 4);
    sink = lr_sink_file(&w->job, "index", false);
    assert_int_equal(count_files(".", TEMPORARY), 5);
    (void)beside(w, sink, "a", "new");
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(count_files(".", TEMPORARY), 4);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(count_files(".", TEMPORARY), 4);
    write_file(".index.abcdef-00001" TEMPORARY, "its first is gone", 17);
    write_file(".index.abcdef-0001" TEMPORARY, "not ours", 8);
    write_file(".index.abcdef-000x1" TEMPORARY, "not ours", 8);
    write_file(".other.abcdef-00001" TEMPORARY, "not ours", 8);
    sink = lr_sink_file(&w->job, "index", false);
    assert_int_equal(count_files(".", TEMPORARY), 4);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(count_files(".", TEMPORARY), 3);
    assert_file("a", "new", 3);
}

static void long_names_have_temporary_files_too(void **state)
{
    world *w = *state;
    char first[256], second[256];
    rec_sink *sink;
    memset(first, 'x', 255);
    memset(second, 'x', 255);
    first[255] = second[255] = '\0';
    second[254] = 'y';
    sink = lr_sink_file(&w->job, first, false);
    (void)beside(w, sink, second, "2");
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(end_job(w), REC_OK);
    assert_file(second, "2", 1);
    assert_int_equal(count_files(".", ""), 2);
}

/* ----------------------------------------------------------------------------------------------- out of memory -- */

static void each_allocation_may_fail(void **state)
{
    world *w = *state;
    bool done = false;
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("m/index", "i", 1);
    write_file("m/a", "a", 1);
    use_counted_allocator(w);
    for (int64_t n = 0; !done; n++) {
        rec_source *folder, *index = NULL, *a = NULL;
        rec_sink *sink, *out = NULL;
        assert_true(n < 100);
        w->made = 0;
        w->fail_at = n;
        folder = lr_source_open(&w->job, "m", false);
        if (folder && rec_source_beside(&w->job, folder, "index", &index) == REC_OK) {
            (void)rec_source_beside(&w->job, index, "a", &a);
        }
        (void)lr_siblings_settle(&w->job);
        rec_source_release(folder);
        rec_source_release(index);
        rec_source_release(a);
        lr_siblings_drop(&w->job);
        sink = lr_job_failed(&w->job) ? NULL : lr_sink_file(&w->job, "m/x", false);
        if (sink) {
            (void)rec_sink_rename(&w->job, sink, "y");
            if (rec_sink_beside(&w->job, sink, "z", &out) == REC_OK) {
                (void)rec_sink_write(out, "z", 1);
            }
            (void)lr_sink_commit(sink);
        }
        assert_int_equal(w->live, 0);
        done = w->made <= n;
        if (done) {
            assert_int_equal(end_job(w), REC_OK);
            assert_file("m/z", "z", 1);
        } else {
            assert_failed(w, REC_E_MEMORY, "out of memory");
            assert_int_equal(count_files("m", ""), 2);
        }
    }
}

/* --------------------------------------------------------------------------------------- with a plugin, in all -- */

/** A context that has tests/plugins/parts.c. */
static rec_context *parts_context(const char *folder)
{
    const char *compiler = getenv("CC"), *top = getenv("top_srcdir");
    rec_context *context = rec_context_new(NULL);
    char *command = NULL, plugins[128];
    (void)snprintf(plugins, sizeof plugins, "%s/plugins", folder);
    assert_non_null(context);
    if (mkdir(plugins, 0755) == 0) {
        assert_true(asprintf(&command,
                             "%s -std=c11 -fPIC -shared -I'%s/include' -o '%s/parts.so' '%s/tests/plugins/parts.c'",
                             compiler && *compiler ? compiler : "cc", top ? top : ".", plugins, top ? top : ".") > 0);
        assert_int_equal(system(command), 0);
        free(command);
    }
    assert_int_equal(rec_context_add_plugin_path(context, plugins), REC_OK);
    return context;
}

static rec_record *make_record(rec_context *context, int count)
{
    rec_record *record = rec_record_new(context);
    assert_non_null(record);
    for (int i = 0; i < count; i++) {
        char key[16];
        uint8_t bytes[100];
        uint64_t shape = 20 + (uint64_t)i;
        rec_tensor_spec spec = {
            .size = sizeof spec, .dtype = REC_DTYPE_U8, .rank = 1, .shape = &shape, .data = bytes, .data_size = shape};
        memset(bytes, 'a' + i, sizeof bytes);
        (void)snprintf(key, sizeof key, "t%d", i);
        assert_int_equal(rec_set_tensor(record, key, &spec), REC_OK);
    }
    return record;
}

static void assert_record(const rec_record *record, int count)
{
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    for (int i = 0; i < count; i++) {
        char key[16];
        uint64_t size;
        const uint8_t *bytes;
        (void)snprintf(key, sizeof key, "t%d", i);
        assert_non_null(rec_tensor_at(record, key));
        bytes = rec_tensor_bytes(rec_tensor_at(record, key), &size);
        assert_non_null(bytes);
        assert_int_equal(size, 20 + i);
        for (uint64_t k = 0; k < size; k++) {
            assert_int_equal(bytes[k], 'a' + i);
        }
    }
}

static void a_model_in_parts_is_saved_and_loaded(void **state)
{
    world *w = *state;
    rec_context *context = parts_context(w->folder);
    static const char *const paths[] = {"m/x.parts", "m", "m/", "./m/", "m/."};
    assert_int_equal(mkdir("m", 0755), 0);
    for (int closed = 0; closed < 2; closed++) {
        rec_recorder *recorder = rec_open_recorder_in(context, "Parts", REC_PRECISION_KEEP);
        rec_record *record = make_record(context, 5);
        assert_non_null(recorder);
        assert_int_equal(rec_recorder_set(recorder, "close", closed ? "yes" : "no"), REC_OK);
        if (rec_save(recorder, record, "m/x") != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        rec_record_free(record);
        rec_close_recorder(recorder);
        assert_int_equal(count_files("m", ""), 6);
    }
    for (size_t i = 0; i < 5; i++) {
        for (int how = 0; how < 4; how++) { /* by name and recognised, mapped and copied */
            rec_recorder *recorder = rec_open_recorder_in(context, how & 1 ? "Auto" : "Parts", REC_PRECISION_KEEP);
            rec_record *record;
            assert_non_null(recorder);
            assert_int_equal(rec_recorder_set(recorder, "map", how & 2 ? "yes" : "no"), REC_OK);
            record = rec_load(recorder, paths[i]);
            rec_close_recorder(recorder);
            assert_record(record, 5);
            assert_string_equal(rec_record_origin(record)->recorder, "Parts");
            assert_int_equal(rec_record_origin(record)->mapped, how & 2 ? 1 : 0);
            assert_true(rec_record_origin(record)->stored > 20 + 21 + 22 + 23 + 24);
            rec_record_free(record);
        }
        assert_string_equal(rec_recognise(context, paths[i]), "Parts");
    }
    rec_context_free(context);
}

static void a_record_keeps_what_it_needs_of_the_parts(void **state)
{
    world *w = *state;
    for (int map = 0; map < 2; map++) {
        rec_context *context = parts_context(w->folder);
        rec_recorder *recorder = rec_open_recorder_in(context, "Parts", REC_PRECISION_KEEP);
        rec_record *record = make_record(context, 80), *copy;
        int before;
        assert_int_equal(rec_save(recorder, record, "x"), REC_OK);
        rec_record_free(record);
        before = open_descriptors();
        assert_int_equal(rec_recorder_set(recorder, "map", map ? "yes" : "no"), REC_OK);
        record = rec_load(recorder, "x.parts");
        assert_non_null(record);
        assert_int_equal(open_descriptors(), before);
        for (int i = 0; i < 80; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "x-%04d.part", i);
            assert_int_equal(unlink(name), 0);
        }
        rec_close_recorder(recorder);
        copy = rec_record_copy(record);
        rec_record_free(record);
        assert_record(copy, 80);
        rec_record_free(copy);
        rec_context_free(context);
    }
}

static void a_bad_part_is_named(void **state)
{
    world *w = *state;
    rec_context *context = parts_context(w->folder);
    rec_recorder *recorder = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP);
    static const struct {
        const char *index;
        rec_status status;
        const char *words;
    } cases[] = {
        {"PARTS\nt good\nt2 bad\n", REC_E_FORMAT, "m/bad: byte 0: t2: it says that it has 9 bytes"},
        {"PARTS\nt good\nt gone\n", REC_E_NOT_FOUND,
         "m/gone: cannot open the file: No such file or directory\n  It belongs to m/x.parts."},
        {"PARTS\nt ../good\n", REC_E_FORMAT,
         "m/x.parts: it names the file \"../good\", which is not a path below its own directory"},
        {"PARTS\nt good\nt good\n", REC_E_FORMAT, "m/"},
        {"PARTS\ngood\n", REC_E_FORMAT, "m/x.parts: byte 6: a line is not \"KEY FILE\""},
    };
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("m/good", "\3ab", 3);
    write_file("m/bad", "\11abc", 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int folder = 0; folder < 2; folder++) {
            write_file("m/x.parts", cases[i].index, strlen(cases[i].index));
            assert_null(rec_load(recorder, folder ? "m" : "m/x.parts"));
            assert_int_equal(rec_error_status(), cases[i].status);
            assert_contains(rec_error_message(), cases[i].words);
        }
    }
    rec_close_recorder(recorder);
    rec_context_free(context);
}

static void a_folder_that_nobody_reads_is_refused(void **state)
{
    world *w = *state;
    rec_context *context = rec_context_new(NULL);
    rec_recorder *automatic, *mpk;
    assert_int_equal(mkdir("m", 0755), 0);
    write_file("m/notes.txt", "x", 1);
    automatic = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP);
    mpk = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
    assert_non_null(mpk);
    assert_null(rec_load(mpk, "m"));
    assert_contains(rec_error_message(), "m: this is a directory, not a file\n  Give the name of a file.");
    assert_int_equal(rec_error_status(), REC_E_IO);
    assert_null(rec_load(automatic, "m"));
    assert_contains(rec_error_message(), "\n  Give the name of a file.");
    rec_close_recorder(automatic);
    rec_close_recorder(mpk);
    rec_context_free(context);

    context = parts_context(w->folder);
    automatic = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP);
    mpk = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
    assert_null(rec_load(automatic, "m"));
    assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
    assert_contains(rec_error_message(), "m: unknown format: no recorder reads a directory with these names\n");
    assert_contains(rec_error_message(), "Directories are read by: ");
    assert_contains(rec_error_message(), "Parts");
    assert_null(rec_recognise(context, "m"));
    assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
    assert_null(rec_load(mpk, "m/"));
    assert_contains(rec_error_message(),
                    "m/: this is a directory, not a file\n  Give the name of a file.\n  Directories are read by: ");
    assert_null(rec_load(automatic, "nowhere/"));
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    rec_close_recorder(automatic);
    rec_close_recorder(mpk);
    rec_context_free(context);
}

static void a_file_with_the_extension_wins_over_a_folder(void **state)
{
    world *w = *state;
    rec_context *context = rec_context_new(NULL);
    rec_recorder *mpk = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
    rec_record *record = make_record(context, 2);
    (void)w;
    assert_int_equal(rec_save(mpk, record, "m"), REC_OK);
    rec_record_free(record);
    assert_int_equal(access("m.mpk", F_OK), 0);
    assert_int_equal(mkdir("m", 0755), 0);
    record = rec_load(mpk, "m");
    assert_record(record, 2);
    rec_record_free(record);
    assert_null(rec_load(mpk, "m/"));
    assert_contains(rec_error_message(), "m/: this is a directory, not a file");
    rec_close_recorder(mpk);
    rec_context_free(context);
}

static void parts_need_a_folder(void **state)
{
    world *w = *state;
    rec_context *context = parts_context(w->folder);
    rec_recorder *recorder = rec_open_recorder_in(context, "Parts", REC_PRECISION_KEEP);
    rec_record *record = make_record(context, 1);
    void *data;
    uint64_t size;
    assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_E_UNSUPPORTED);
    assert_contains(rec_error_message(), "a model in several files cannot be saved here");
    assert_null(data);
    assert_null(rec_load_bytes(recorder, "PARTS\nt a\n", 10));
    assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
    assert_contains(rec_error_message(), "(memory): the model continues in another file, \"a\"");
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_beside_is_in_the_folder_of_the_first),
        TEST(a_file_beside_has_others_beside_it),
        TEST(names_that_leave_the_folder_are_refused),
        TEST(links_are_followed_from_the_path_as_it_was_given),
        TEST(only_regular_files_are_opened),
        TEST(what_is_no_file_has_none_beside_it),
        TEST(failures_name_the_file_that_they_are_about),
        TEST(the_memory_that_a_load_may_take_follows_all_of_its_files),
        TEST(what_is_kept_does_not_depend_on_the_files),
        TEST(there_may_be_more_of_them_than_descriptors),
        TEST(empty_files_and_those_that_hide_their_size_are_read),
        TEST(a_folder_has_names_and_no_bytes),
        TEST(a_file_has_a_name_and_no_names),
        TEST(an_empty_folder_is_a_folder),
        TEST(a_folder_that_may_not_be_listed_is_an_error),
        cmocka_unit_test_setup_teardown(a_folder_of_too_many_files_is_refused, enter_world_in_memory, leave_world),
        TEST(files_that_belong_together_appear_together),
        TEST(a_failure_leaves_all_of_the_old_ones),
        TEST(the_first_can_be_renamed),
        TEST(renaming_is_for_the_first_alone_and_at_once),
        TEST(no_two_files_have_one_name),
        TEST(a_part_goes_where_its_link_leads),
        TEST(what_is_no_file_cannot_be_saved_in_several),
        TEST(only_files_can_be_beside),
        TEST(nothing_is_written_to_a_closed_part),
        TEST(closed_parts_keep_no_descriptor),
        TEST(large_parts_are_whole),
        TEST(a_cancelled_save_leaves_nothing),
        TEST(a_full_disk_is_an_error_that_leaves_the_old_files),
        TEST(a_rename_that_fails_says_what_is_in_place),
        TEST(what_a_killed_save_leaves_is_swept_and_a_live_one_is_not),
        TEST(long_names_have_temporary_files_too),
        TEST(each_allocation_may_fail),
        TEST(a_model_in_parts_is_saved_and_loaded),
        TEST(a_record_keeps_what_it_needs_of_the_parts),
        TEST(a_bad_part_is_named),
        TEST(a_folder_that_nobody_reads_is_refused),
        TEST(a_file_with_the_extension_wins_over_a_folder),
        TEST(parts_need_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
