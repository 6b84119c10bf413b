/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sets: models in several files that an index names and that are replaced as a whole; what they are called, what is
 * removed, and what never is. tests/cli/shards.sh kills such saves at each call. */
#include "tests/test_io.h"

#include <signal.h>
#include <sys/wait.h>

#define SET ".librecord-set"
#define PUBLISHED(n) "m-" n "-of-2.part"

/* A set of two files with an index that names them. @return what commit does. */
static int32_t write_set(world *w, const char *path, const char *text, bool sync)
{
    rec_sink *sink = lr_sink_file(&w->job, path, sync), *part;
    assert_non_null(sink);
    for (int i = 0; i < 2; i++) {
        int32_t status = rec_sink_part(&w->job, sink, "m", i ? "2-of-2.part" : "1-of-2.part", &part);
        if (status == REC_OK) {
            const char *name = rec_sink_name(part);
            (void)rec_sink_write(part, text, strlen(text));
            (void)rec_sink_write(sink, name, strlen(name));
            (void)rec_sink_write(sink, "\n", 1);
            (void)rec_sink_close(part);
        }
    }
    return lr_sink_commit(sink);
}

/* What the index names has that text. */
static void assert_set(const char *index, const char *folder, const char *text)
{
    size_t size;
    char *names = read_file(index, &size), *rest = names, *name;
    int count = 0;
    names = realloc(names, size + 1);
    assert_non_null(names);
    names[size] = '\0';
    for (name = strtok_r(names, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
        char path[300];
        (void)snprintf(path, sizeof path, "%s/%s", folder, name);
        assert_file(path, text, strlen(text));
        count++;
    }
    assert_int_equal(count, 2);
    free(names);
}

static void a_set_takes_the_place_of_another(void **state)
{
    world *w = *state;
    for (int sync = 0; sync < 2; sync++) {
        assert_int_equal(write_set(w, "m", "first", sync), REC_OK);
        assert_file("m", PUBLISHED("1") "\n" PUBLISHED("2") "\n", 28);
        assert_set("m", ".", "first");
        assert_int_equal(write_set(w, "m", "second", sync), REC_OK);
        assert_set("m", ".", "second");
        assert_int_equal(access(PUBLISHED("1"), F_OK), -1);
        assert_int_equal(count_files(".", ""), 3);
        assert_int_equal(write_set(w, "m", "third", sync), REC_OK);
        assert_set("m", ".", "third");
        assert_int_equal(count_files(".", ""), 3);
        assert_int_equal(end_job(w), REC_OK);
        assert_int_equal(leave_world(state) + enter_world(state), 0);
        w = *state;
    }
}

static void names_are_as_long_in_the_first_walk(void **state)
{
    world *w = *state;
    for (int there = 0; there < 2; there++) {
        rec_sink *sink = lr_sink_file(&w->job, "file", false), *layout = lr_sink_layout_of(&w->job, sink), *a, *b;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(rec_sink_rename(&w->job, i ? sink : layout, "m"), REC_OK);
            assert_int_equal(rec_sink_part(&w->job, i ? sink : layout, "m", "1-of-2.part", i ? &b : &a), REC_OK);
        }
        assert_int_equal(strlen(rec_sink_name(a)), strlen(PUBLISHED("1")) + (there ? 7 : 0));
        assert_int_equal(strlen(rec_sink_name(b)), strlen(rec_sink_name(a)));
        assert_int_equal(rec_sink_write(sink, rec_sink_name(b), strlen(rec_sink_name(b))), REC_OK);
        assert_int_equal(rec_sink_close(layout), REC_OK);
        assert_int_equal(lr_sink_commit(sink), REC_OK);
    }
    assert_int_equal(count_files(".", ""), 2);
    rec_sink *layout = rec_sink_layout(&w->job), *part; /* of nothing that is a file */
    assert_int_equal(rec_sink_part(&w->job, layout, "m", "1-of-2.part", &part), REC_OK);
    assert_string_equal(rec_sink_name(part), PUBLISHED("1"));
    assert_int_equal(rec_sink_close(layout), REC_OK);
}

/* A file of such a name or another save: each has the new set get letters, and stays. */
static void published_names_are_for_who_is_alone(void **state)
{
    world *w = *state;
    rec_sink *other;
    write_file(PUBLISHED("2"), "whose?", 6);
    assert_int_equal(write_set(w, "m", "first", false), REC_OK);
    assert_set("m", ".", "first");
    assert_file(PUBLISHED("2"), "whose?", 6);
    assert_int_equal(count_files(".", ""), 4);
    assert_int_equal(write_set(w, "m", "second", false), REC_OK);
    assert_file(PUBLISHED("2"), "whose?", 6); /* no index named it */
    assert_int_equal(count_files(".", ""), 4);
    assert_int_equal(unlink("m") + unlink(PUBLISHED("2")), 0);
    other = lr_sink_file(&w->job, "m", false);
    assert_int_equal(write_set(w, "m", "third", false), REC_OK);
    assert_int_equal(access(PUBLISHED("1"), F_OK), -1);
    (void)rec_fail(&w->job, REC_E_FORMAT, REC_UNKNOWN, "enough");
    (void)lr_sink_commit(other);
    (void)end_job(w);
    assert_set("m", ".", "third");
}

static void a_name_that_appears_meanwhile_is_not_taken(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_file(&w->job, "m", false), *part[2];
    assert_int_equal(rec_sink_part(&w->job, sink, "m", "1-of-2.part", &part[0]), REC_OK);
    assert_int_equal(rec_sink_part(&w->job, sink, "m", "2-of-2.part", &part[1]), REC_OK);
    write_file(PUBLISHED("2"), "mine", 4);
    assert_int_equal(lr_sink_commit(sink), REC_E_IO);
    assert_failed(w, REC_E_IO,
                  "m-2-of-2.part: cannot rename the temporary file to the file's name: File exists\n"
                  "  Save again: another program has created it since the save began.");
    assert_file(PUBLISHED("2"), "mine", 4);
    assert_int_equal(count_files(".", ""), 1); /* the first went again */
}

/* What killed saves leave: their temporary file is there, and nobody has its lock. */
/* The index of a set with letters that another save has put there: replaced, and its files are no one's. The names that
 * it shares with the new set are the new set's. */
static void an_index_that_appears_meanwhile_is_replaced_with_its_files(void **state)
{
    world *w = *state;
    rec_sink *sink = lr_sink_file(&w->job, "m", false), *part;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rec_sink_part(&w->job, sink, "m", i ? "2-of-2.part" : "1-of-2.part", &part), REC_OK);
        assert_string_equal(rec_sink_name(part), i ? PUBLISHED("2") : PUBLISHED("1"));
        (void)rec_sink_write(part, "new", 3);
        (void)rec_sink_close(part);
    }
    (void)rec_sink_write(sink, PUBLISHED("1") "\n" PUBLISHED("2") "\n", 28);
    write_file("m", PUBLISHED("1") "\nm-aaaaaa-2-of-2.part\n", 35);
    write_file("m-aaaaaa-2-of-2.part", "old", 3);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_int_equal(end_job(w), REC_OK);
    assert_set("m", ".", "new");
    assert_int_equal(access("m-aaaaaa-2-of-2.part", F_OK), -1);
    assert_int_equal(count_files(".", ""), 3);
}

static void what_killed_saves_leave_is_swept(void **state)
{
    world *w = *state;
    /* Before the index was exchanged: some files have their names. */
    assert_int_equal(write_set(w, "m", "first", false), REC_OK);
    write_file(".m.aaaaaa" SET, "m-aaaaaa-1-of-2.part\nm-aaaaaa-2-of-2.part\n", 42);
    write_file("m-aaaaaa-1-of-2.part", "stray", 5);
    write_file(".m.aaaaaa-00002" SET, "stray", 5);
    /* After that: it is the old index. */
    write_file(".m.bbbbbb" SET, "m-cccccc-1-of-2.part\nm-1-of-3.part\nx-1-of-2.part\n../m-2-of-3.part", 65);
    write_file("m-cccccc-1-of-2.part", "old", 3);
    write_file("m-1-of-3.part", "old", 3);
    /* Nobody's. */
    static const char *const kept[] = {"x-1-of-2.part",     "m-2-of-3.partly",      "m-dddddd-1-of-2.part",
                                       "m-1-of-2.part.old", "m-latest-2-of-2.part", ".m.abcde" SET,
                                       ".n.aaaaaa" SET};
    for (size_t i = 0; i < 7; i++) {
        write_file(kept[i], "kept", 4);
    }
    /* A save in one file has no say in it. */
    assert_int_equal(lr_sink_commit(lr_sink_file(&w->job, "x", false)), REC_OK);
    assert_int_equal(access("m-aaaaaa-1-of-2.part", F_OK), 0);
    assert_int_equal(write_set(w, "m", "second", false), REC_OK);
    assert_int_equal(end_job(w), REC_OK);
    assert_set("m", ".", "second");
    for (size_t i = 0; i < 7; i++) {
        assert_file(kept[i], "kept", 4);
    }
    assert_int_equal(count_files(".", ""), 3 + 7 + 1);
}

/* Killed after the exchange: the letters are those of the set that counts. */
static void the_set_that_counts_is_not_swept(void **state)
{
    world *w = *state;
    rec_sink *sink, *part;
    write_file("m", "m-bbbbbb-1-of-2.part\nm-bbbbbb-2-of-2.part\n", 42);
    write_file("m-bbbbbb-1-of-2.part", "now", 3);
    write_file("m-bbbbbb-2-of-2.part", "now", 3);
    write_file(".m.bbbbbb" SET, PUBLISHED("1") "\n", 14);
    write_file(PUBLISHED("1"), "old", 3);
    sink = lr_sink_file(&w->job, "m", false);
    assert_int_equal(rec_sink_part(&w->job, sink, "m", "1-of-2.part", &part), REC_OK);
    assert_int_equal(access(PUBLISHED("1"), F_OK), -1);
    assert_int_equal(access(".m.bbbbbb" SET, F_OK), -1);
    (void)rec_fail(&w->job, REC_E_FORMAT, REC_UNKNOWN, "no");
    assert_int_equal(lr_sink_commit(sink), REC_E_FORMAT);
    (void)end_job(w);
    assert_set("m", ".", "now");
    assert_int_equal(count_files(".", ""), 3);
}

static void a_live_save_is_not_swept(void **state)
{
    world *w = *state;
    rec_sink *live, *part;
    assert_int_equal(write_set(w, "m", "first", false), REC_OK);
    live = lr_sink_file(&w->job, "m", false);
    assert_int_equal(rec_sink_part(&w->job, live, "m", "1-of-2.part", &part), REC_OK);
    assert_int_equal(count_files(".", SET), 2);
    assert_int_equal(write_set(w, "m", "second", false), REC_OK);
    assert_int_equal(count_files(".", SET), 2);
    assert_int_equal(rec_sink_write(part, "third", 5), REC_OK);
    assert_int_equal(rec_sink_write(live, rec_sink_name(part), strlen(rec_sink_name(part))), REC_OK);
    assert_int_equal(lr_sink_commit(live), REC_OK); /* the last one counts, and those of the second go */
    assert_int_equal(count_files(".", ""), 2);
}

static void names_with_what_an_index_escapes_are_known_by_their_letters(void **state)
{
    world *w = *state;
    for (int i = 0; i < 3; i++) {
        rec_sink *sink = lr_sink_file(&w->job, "m", false), *part;
        const char *name;
        assert_int_equal(rec_sink_part(&w->job, sink, "a\"b", "1.part", &part), REC_OK);
        name = rec_sink_name(part);
        assert_int_equal(rec_sink_write(sink, "\"a\\\"b", 5), REC_OK);
        assert_int_equal(rec_sink_write(sink, name + 3, strlen(name + 3)), REC_OK);
        assert_int_equal(rec_sink_write(sink, "\"", 1), REC_OK);
        assert_int_equal(lr_sink_commit(sink), REC_OK);
    }
    assert_int_equal(count_files(".", ""), 3); /* and the first one, which has none */
}

static void the_new_files_are_no_more_open_than_the_old(void **state)
{
    world *w = *state;
    struct stat info;
    size_t size;
    char *index;
    assert_int_equal(write_set(w, "m", "first", false), REC_OK);
    assert_int_equal(chmod("m", 0644) + chmod(PUBLISHED("1"), 0640) + chmod(PUBLISHED("2"), 0604), 0);
    assert_int_equal(write_set(w, "m", "second", false), REC_OK);
    index = read_file("m", &size);
    *(char *)memchr(index, '\n', size) = '\0';
    assert_int_equal(stat(index, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    free(index);
    assert_int_equal(stat("m", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0644);
}

static void an_index_behind_a_link_has_its_files_beside_the_link(void **state)
{
    world *w = *state;
    assert_int_equal(mkdir("blobs", 0755) + mkdir("m", 0755), 0);
    assert_int_equal(symlink("../blobs/1", "m/m"), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write_set(w, "m/m", i ? "more" : "once", true), REC_OK);
        assert_int_equal(end_job(w), REC_OK);
        assert_set("m/m", "m", i ? "more" : "once");
        assert_int_equal(count_files("m", ""), 3);
        assert_int_equal(count_files("blobs", ""), 1);
    }
    write_file("blobs/.1.aaaaaa" SET, "m-aaaaaa-1-of-2.part\n", 21);
    write_file("m/m-aaaaaa-1-of-2.part", "stray", 5);
    assert_int_equal(write_set(w, "m/m", "last", true), REC_OK);
    assert_int_equal(count_files("m", ""), 3);
    assert_int_equal(count_files("blobs", ""), 1);
}

static void files_of_one_set_have_names_of_one_kind(void **state)
{
    world *w = *state;
    static const char *const stems[] = {"m", "n", "m"}, *const tails[] = {"22-of-2.part", "2-of-2.part", "2-of-2.trap"};
    for (size_t i = 0; i < 3; i++) {
        rec_sink *sink = lr_sink_file(&w->job, "m", false), *part;
        assert_int_equal(rec_sink_part(&w->job, sink, "m", "1-of-2.part", &part), REC_OK);
        assert_int_equal(rec_sink_part(&w->job, sink, stems[i], tails[i], &part), REC_E_PLUGIN);
        assert_null(part);
        (void)lr_sink_commit(sink);
        assert_failed(w, REC_E_PLUGIN, "gave files of one set names that differ in more than digits");
    }
    rec_sink *sink = lr_sink_file(&w->job, "m", false), *part;
    assert_int_equal(rec_sink_part(&w->job, sink, "../m", "1-of-2.part", &part), REC_E_ARGUMENT);
    (void)lr_sink_commit(sink);
    assert_failed(w, REC_E_ARGUMENT, "which is not a plain file name");
    assert_int_equal(count_files(".", ""), 0);
}

/* Others of the index's names one after the other: while some are new and some are old nobody finds an index. */
static void files_that_keep_their_names_have_no_index_meanwhile(void **state)
{
    world *w = *state;
    rec_sink *sink, *a, *b;
    write_file("m", "old", 3);
    write_file("a", "old", 3);
    write_file("b", "old", 3);
    for (int fails = 2; fails >= 0; fails--) { /* at the second file, at the first, at none */
        sink = lr_sink_file(&w->job, "m", fails == 1);
        assert_int_equal(rec_sink_beside(&w->job, sink, "a", &a), REC_OK);
        assert_int_equal(rec_sink_beside(&w->job, sink, "b", &b), REC_OK);
        (void)rec_sink_write(sink, "new", 3);
        if (fails) {
            assert_int_equal(unlink(fails == 1 ? "a" : "b") + mkdir(fails == 1 ? "a" : "b", 0755), 0);
        }
        assert_int_equal(lr_sink_commit(sink), fails ? REC_E_IO : REC_OK);
        if (fails == 2) {
            assert_failed(w, REC_E_IO, "Until then m is empty, so that they are not read as a model.");
        }
        (void)end_job(w);
        assert_file("m", fails == 2 ? "" : fails ? "old" : "new", fails == 2 ? 0 : 3);
        assert_int_equal(count_files(".", ""), 3);
        if (fails) {
            assert_int_equal(rmdir(fails == 1 ? "a" : "b"), 0);
            write_file(fails == 1 ? "a" : "b", "old", 3);
            write_file("m", "old", 3);
        }
    }
}

static void each_allocation_may_fail(void **state)
{
    world *w = *state;
    bool done = false;
    use_counted_allocator(w);
    for (int64_t n = 0; !done; n++) {
        rec_sink *sink, *part = NULL;
        assert_true(n < 100);
        write_file("m", PUBLISHED("1") "\n", 14);
        write_file(PUBLISHED("1"), "old", 3);
        write_file(".m.aaaaaa" SET, "m-aaaaaa-1-of-2.part\n", 21);
        write_file("m-aaaaaa-1-of-2.part", "stray", 5);
        w->made = 0;
        w->fail_at = n;
        sink = lr_sink_file(&w->job, "m", false);
        if (sink && rec_sink_part(&w->job, sink, "m", "1-of-2.part", &part) == REC_OK) {
            const char *name = rec_sink_name(part);
            (void)rec_sink_write(part, "new", 3);
            (void)rec_sink_write(sink, name, strlen(name));
        }
        if (sink) {
            (void)lr_sink_commit(sink);
        }
        done = w->made <= n;
        if (!lr_job_failed(&w->job)) {
            size_t size;
            char name[64] = "", *index = read_file("m", &size);
            memcpy(name, index, size < 63 ? size : 63);
            free(index);
            assert_file(name, "new", 3);
            assert_int_equal(end_job(w), REC_OK);
            /* What there was no memory to look into is left to the next save. */
            assert_true(!done || count_files(".", "") == 2);
            assert_int_equal(unlink(name), 0);
        } else {
            assert_failed(w, REC_E_MEMORY, "out of memory");
            assert_file("m", PUBLISHED("1") "\n", 14);
            assert_file(PUBLISHED("1"), "old", 3);
        }
        assert_int_equal(w->live, 0);
        w->fail_at = -1;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, leave_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_set_takes_the_place_of_another),
        TEST(names_are_as_long_in_the_first_walk),
        TEST(published_names_are_for_who_is_alone),
        TEST(a_name_that_appears_meanwhile_is_not_taken),
        TEST(an_index_that_appears_meanwhile_is_replaced_with_its_files),
        TEST(what_killed_saves_leave_is_swept),
        TEST(the_set_that_counts_is_not_swept),
        TEST(a_live_save_is_not_swept),
        TEST(names_with_what_an_index_escapes_are_known_by_their_letters),
        TEST(the_new_files_are_no_more_open_than_the_old),
        TEST(an_index_behind_a_link_has_its_files_beside_the_link),
        TEST(files_of_one_set_have_names_of_one_kind),
        TEST(files_that_keep_their_names_have_no_index_meanwhile),
        TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
