/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Access control lists and extended attributes of files that a save replaces: the new file has them, or it is readable
 * by nobody who could not read the old one, and a note names what was lost. */
#include "tests/test_io.h"

#include <grp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define ACL "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"

/* Tags of entries in the xattr format of the kernel. */
enum {
    USER_OBJ = 1,
    USER = 2,
    GROUP_OBJ = 4,
    GROUP = 8,
    MASK = 16,
    OTHER = 32,
    NOBODY = 65534,
    COLLEAGUE = 1001,
    TEAM = 4321
};

typedef struct acl {
    uint8_t bytes[4 + 8 * 8];
    size_t size;
} acl;

static void put(acl *a, uint32_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        a->bytes[a->size++] = (uint8_t)(number >> 8 * i);
    }
}

static void add(acl *a, uint32_t tag, uint32_t permissions, uint32_t id)
{
    if (a->size == 0) {
        put(a, 2, 4);
    }
    put(a, tag, 2);
    put(a, permissions, 2);
    put(a, id, 4);
}

/* A list with one named user. `other` is what everybody else may do. */
static acl list_of(uint32_t user, uint32_t named, uint32_t group, uint32_t mask, uint32_t other)
{
    acl a = {.size = 0};
    add(&a, USER_OBJ, 6, UINT32_MAX);
    add(&a, USER, named, user);
    add(&a, GROUP_OBJ, group, UINT32_MAX);
    add(&a, MASK, mask, UINT32_MAX);
    add(&a, OTHER, other, UINT32_MAX);
    return a;
}

static void set_list(const char *path, const char *name, const acl *a)
{
    if (setxattr(path, name, a->bytes, a->size, 0) != 0) {
        print_message("# this file system has no access control lists (%s): not tested\n", strerror(errno));
        skip();
    }
}

static void assert_list(const char *path, const acl *a)
{
    uint8_t found[256];
    assert_int_equal(getxattr(path, ACL, found, sizeof found), a->size);
    assert_memory_equal(found, a->bytes, a->size);
}

static void assert_no_list(const char *path)
{
    assert_int_equal(getxattr(path, ACL, NULL, 0), -1);
    assert_int_equal(errno, ENODATA);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void old_file(const char *path, mode_t mode)
{
    (void)unlink(path);
    write_file(path, "old", 3);
    assert_int_equal(chmod(path, mode), 0);
}

static rec_status save(world *w, const char *path)
{
    rec_sink *sink = lr_sink_file(&w->job, path, false);
    if (sink) {
        (void)rec_sink_write(sink, "new", 3);
        (void)lr_sink_commit(sink);
    }
    return w->job.error.status;
}

/* The save ended well, with a note that has these words; NULL: with none. */
static void assert_saved(world *w, const char *path, const char *note)
{
    assert_int_equal(end_job(w), REC_OK);
    assert_file(path, "new", 3);
    assert_int_equal(rec_report_count(), note != NULL);
    if (note) {
        assert_contains(rec_report_note(0)->text, note);
        assert_contains(rec_report_note(0)->text, path);
    }
}

/* ----------------------------------------------------------------------------------------- calls that may fail -- */

static int fail_set, fail_remove; /* the errno, 0: works */

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    errno = fail_set;
    return fail_set ? -1 : (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
}

int fremovexattr(int fd, const char *name)
{
    errno = fail_remove;
    return fail_remove ? -1 : (int)syscall(SYS_fremovexattr, fd, name);
}

static int let_go(void **state)
{
    fail_set = fail_remove = 0;
    return leave_world(state);
}

/* Whether a user of one group can read a file of the world's directory. */
static bool can_read(world *w, uid_t user, gid_t group, const char *path)
{
    int status = -1;
    pid_t child;
    assert_int_equal(chmod(w->folder, 0755), 0);
    child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setgid(group) != 0 || setuid(user) != 0) {
            _exit(2);
        }
        _exit(open(path, O_RDONLY | O_CLOEXEC) < 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 2);
    return WEXITSTATUS(status) == 0;
}

/* ----------------------------------------------------------------------------------------------------------- lists --
 */

static void test_list_is_kept(void **state)
{
    world *w = *state;
    const acl lists[] = {list_of(NOBODY, 0, 4, 4, 4), list_of(COLLEAGUE, 6, 0, 6, 0), list_of(COLLEAGUE, 4, 6, 2, 4)};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        mode_t mode;
        old_file("a.mpk", 0600);
        set_list("a.mpk", ACL, &lists[i]);
        mode = mode_of("a.mpk");
        assert_int_equal(save(w, "a.mpk"), REC_OK);
        assert_saved(w, "a.mpk", NULL);
        assert_list("a.mpk", &lists[i]);
        assert_int_equal(mode_of("a.mpk"), mode);
    }
}

static void test_denied_users_stay_denied(void **state)
{
    world *w = *state;
    const acl denied = list_of(NOBODY, 0, 4, 4, 4), named = list_of(COLLEAGUE, 6, 0, 6, 0);
    if (geteuid() != 0) {
        skip();
    }
    for (int lost = 0; lost < 2; lost++) {
        old_file("a.mpk", 0644);
        set_list("a.mpk", ACL, &denied);
        fail_set = lost ? ENOSPC : 0;
        assert_int_equal(save(w, "a.mpk"), REC_OK);
        assert_false(can_read(w, NOBODY, NOBODY, "a.mpk"));
        fail_set = 0;
        old_file("a.mpk", 0660);
        assert_int_equal(chown("a.mpk", 0, TEAM), 0);
        set_list("a.mpk", ACL, &named);
        fail_set = lost ? ENOSPC : 0;
        assert_int_equal(save(w, "a.mpk"), REC_OK);
        assert_false(can_read(w, 1234, TEAM, "a.mpk"));
        assert_int_equal(can_read(w, COLLEAGUE, 1, "a.mpk"), !lost);
        fail_set = 0;
    }
}

/* The mode alone must grant everybody at most what the list granted. */
static void test_lost_list_leaves_the_strictest_mode(void **state)
{
    static const char words[] = "lost the access control list of the file it replaces (No space left on device)";
    world *w = *state;
    const struct {
        acl list;
        mode_t mode;
    } cases[] = {
        {list_of(NOBODY, 0, 4, 4, 4), 0600},    /* whoever is denied may be of the group, or one of the others */
        {list_of(NOBODY, 6, 4, 6, 4), 0644},    /* nobody is denied */
        {list_of(COLLEAGUE, 6, 0, 6, 0), 0600}, /* the group bits were the mask */
        {list_of(COLLEAGUE, 6, 6, 4, 4), 0644}, /* the mask bounds the group */
        {list_of(COLLEAGUE, 4, 6, 6, 6), 0644}, /* a named user may read only */
        {list_of(COLLEAGUE, 6, 6, 0, 4), 0600}, /* the mask denies a named user what the others may do */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        old_file("a.mpk", 0600);
        fail_set = 0;
        set_list("a.mpk", ACL, &cases[i].list);
        fail_set = ENOSPC;
        assert_int_equal(save(w, "a.mpk"), REC_OK);
        assert_saved(w, "a.mpk", words);
        assert_no_list("a.mpk");
        assert_int_equal(mode_of("a.mpk"), cases[i].mode);
    }
}

/* A named group counts for the others alone: its members may be of the owning group too, and then had its rights as
 * well. */
static void test_lost_list_with_a_named_group(void **state)
{
    world *w = *state;
    acl list = {.size = 0};
    add(&list, USER_OBJ, 7, UINT32_MAX);
    add(&list, GROUP_OBJ, 5, UINT32_MAX);
    add(&list, GROUP, 1, TEAM);
    add(&list, MASK, 7, UINT32_MAX);
    add(&list, OTHER, 5, UINT32_MAX);
    old_file("a.mpk", 0700);
    set_list("a.mpk", ACL, &list);
    fail_set = EPERM;
    assert_int_equal(save(w, "a.mpk"), REC_OK);
    assert_saved(w, "a.mpk", "lost the access control list");
    assert_int_equal(mode_of("a.mpk"), 0751);
}

/* A directory's default list is for new files; a replaced one has none unless it had it. */
static void test_default_list_is_not_inherited(void **state)
{
    world *w = *state;
    const acl list = list_of(COLLEAGUE, 6, 6, 6, 4);
    old_file("a.mpk", 0660);
    set_list(".", DEFAULT_ACL, &list);
    assert_int_equal(save(w, "a.mpk"), REC_OK);
    assert_saved(w, "a.mpk", NULL);
    assert_no_list("a.mpk");
    assert_int_equal(mode_of("a.mpk"), 0660);
    fail_remove = EIO;
    assert_int_equal(save(w, "a.mpk"), REC_OK);
    assert_saved(w, "a.mpk", "cannot remove the access control list that its directory gave it (Input/output error)");
    assert_int_equal(mode_of("a.mpk"), 0600);
    fail_remove = 0;
    assert_int_equal(save(w, "new.mpk"), REC_OK); /* nothing is replaced */
    assert_saved(w, "new.mpk", NULL);
    assert_int_equal(getxattr("new.mpk", ACL, NULL, 0), list.size);
}

static void test_file_is_private_until_it_is_in_place(void **state)
{
    world *w = *state;
    const acl list = list_of(COLLEAGUE, 6, 6, 6, 4);
    rec_sink *sink;
    DIR *files;
    struct dirent *entry;
    int seen = 0;
    old_file("a.mpk", 0600);
    set_list("a.mpk", ACL, &list);
    sink = lr_sink_file(&w->job, "a.mpk", false);
    files = opendir(".");
    while ((entry = readdir(files))) {
        if (strstr(entry->d_name, ".librecord-tmp")) {
            assert_int_equal(mode_of(entry->d_name), 0600); /* the group bits are the mask: no entry grants anything */
            seen++;
        }
    }
    (void)closedir(files);
    assert_int_equal(seen, 1);
    assert_int_equal(lr_sink_commit(sink), REC_OK);
    assert_list("a.mpk", &list);
}

static int save_in_open(world *w)
{
    return save(w, "open/a.mpk") != REC_OK || end_job(w) != REC_OK ? 99 : (int)rec_report_count();
}

/* Saves open/a.mpk as somebody who is not root. @return how many notes that made. */
static int save_as_nobody(world *w)
{
    int status = -1;
    pid_t child;
    assert_int_equal(chmod(w->folder, 0755), 0);
    child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0) {
            _exit(98);
        }
        _exit(save_in_open(w));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void nobodys_file(mode_t mode, gid_t group, const acl *list)
{
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkdir("open", 0755), 0);
    old_file("open/a.mpk", mode);
    assert_int_equal(chown("open", NOBODY, NOBODY) | chown("open/a.mpk", NOBODY, group), 0);
    if (list) {
        set_list("open/a.mpk", ACL, list);
    }
}

/* Members of the old group are among the others afterwards. */
static void test_no_mode_gives_more_to_a_group_that_cannot_be_kept(void **state)
{
    static const mode_t modes[][2] = {{0604, 0600}, {0640, 0600}, {0644, 0644},
                                      {0664, 0644}, {0626, 0622}, {0642, 0600}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        nobodys_file(modes[i][0], TEAM, NULL);
        assert_int_equal(save_as_nobody(*state), 0);
        assert_int_equal(mode_of("open/a.mpk"), modes[i][1]);
        assert_int_equal(unlink("open/a.mpk") | rmdir("open"), 0);
    }
}

/* The list's group entry was the old group's. */
static void test_list_goes_with_a_group_that_cannot_be_kept(void **state)
{
    const acl list = list_of(COLLEAGUE, 6, 6, 6, 4);
    nobodys_file(0664, TEAM, &list);
    assert_int_equal(save_as_nobody(*state), 1);
    assert_no_list("open/a.mpk");
    assert_int_equal(mode_of("open/a.mpk"), 0644);
}

static void test_list_of_an_unreadable_file_is_kept(void **state)
{
    acl list = list_of(COLLEAGUE, 6, 0, 6, 0);
    list.bytes[4 + 2] = 2; /* its owner may write to it alone */
    nobodys_file(0200, NOBODY, &list);
    assert_int_equal(save_as_nobody(*state), 0);
    assert_list("open/a.mpk", &list);
}

/* ------------------------------------------------------------------------------------------------------ attributes --
 */

static void test_user_attributes_are_kept(void **state)
{
    world *w = *state;
    char *large = calloc(1, 2000), value[8], *found = malloc(2000);
    old_file("a.mpk", 0644);
    memset(large, 'x', 2000);
    if (setxattr("a.mpk", "user.note", "1", 1, 0) != 0 || setxattr("a.mpk", "user.empty", "", 0, 0) != 0 ||
        setxattr("a.mpk", "user.large", large, 2000, 0) != 0) {
        print_message("# this file system has no attributes (%s): not tested\n", strerror(errno));
        free(large);
        free(found);
        skip();
    }
    assert_int_equal(save(w, "a.mpk"), REC_OK);
    assert_saved(w, "a.mpk", NULL);
    assert_int_equal(getxattr("a.mpk", "user.note", value, sizeof value), 1);
    assert_int_equal(value[0], '1');
    assert_int_equal(getxattr("a.mpk", "user.empty", value, sizeof value), 0);
    assert_int_equal(getxattr("a.mpk", "user.large", found, 2000), 2000);
    assert_memory_equal(found, large, 2000);
    fail_set = ENOSPC;
    assert_int_equal(save(w, "a.mpk"), REC_OK);
    assert_saved(w, "a.mpk", "lost 3 extended attributes of the file it replaces, user.");
    assert_int_equal(getxattr("a.mpk", "user.note", value, sizeof value), -1);
    free(large);
    free(found);
}

/* ------------------------------------------------------------------------------------------------------------ sets --
 */

static rec_status write_set(world *w)
{
    rec_sink *sink = lr_sink_file(&w->job, "m", false), *part;
    assert_non_null(sink);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rec_sink_part(&w->job, sink, "m", i ? "2-of-2.part" : "1-of-2.part", &part), REC_OK);
        (void)rec_sink_write(part, "new", 3);
        (void)rec_sink_write(sink, rec_sink_name(part), strlen(rec_sink_name(part)));
        (void)rec_sink_write(sink, "\n", 1);
        (void)rec_sink_close(part);
    }
    return lr_sink_commit(sink);
}

/* The path of part `which`, to be freed. */
static char *part_of_set(int which)
{
    size_t size;
    char *index = read_file("m", &size), *second = strchr(index, '\n') + 1, *path;
    *strchr(second, '\n') = '\0';
    second[-1] = '\0';
    path = strdup(which ? second : index);
    free(index);
    return path;
}

static void each_part(void (*call)(const char *path, const acl *list), const acl *first, const acl *second)
{
    for (int i = 0; i < 2; i++) {
        char *path = part_of_set(i);
        call(path, i ? second : first);
        free(path);
    }
}

static void give_list(const char *path, const acl *list)
{
    set_list(path, ACL, list);
}

static void assert_mode_alone(const char *path, const acl *list)
{
    (void)list;
    assert_no_list(path);
    assert_int_equal(mode_of(path), 0640);
}

static void test_files_of_a_set_keep_the_list_they_share(void **state)
{
    world *w = *state;
    const acl list = list_of(COLLEAGUE, 6, 4, 6, 0);
    assert_int_equal(write_set(w), REC_OK);
    each_part(give_list, &list, &list);
    assert_int_equal(write_set(w), REC_OK);
    each_part(assert_list, &list, &list);
    assert_int_equal(end_job(w), REC_OK);
    assert_int_equal(rec_report_count(), 0);
}

static void test_files_of_a_set_with_different_lists_get_none(void **state)
{
    world *w = *state;
    const acl list = list_of(COLLEAGUE, 6, 4, 6, 4), other = list_of(NOBODY, 6, 6, 6, 0);
    assert_int_equal(write_set(w), REC_OK);
    each_part(give_list, &list, &other);
    assert_int_equal(write_set(w), REC_OK);
    each_part(assert_mode_alone, NULL, NULL);
    assert_int_equal(end_job(w), REC_OK);
    assert_int_equal(rec_report_count(), 2);
    assert_contains(rec_report_note(0)->text, "lost the access control list of the files it replaces (theirs differ)");
}

static void test_files_of_a_new_set_get_the_list_of_the_file_they_replace(void **state)
{
    world *w = *state;
    const acl list = list_of(COLLEAGUE, 6, 4, 6, 0);
    old_file("m", 0600);
    set_list("m", ACL, &list);
    assert_int_equal(write_set(w), REC_OK);
    assert_list("m", &list);
    each_part(assert_list, &list, &list);
}

/* --------------------------------------------------------------------------------------------------- out of memory --
 */

static void test_each_allocation_may_fail(void **state)
{
    world *w = *state;
    const acl list = list_of(COLLEAGUE, 6, 0, 6, 0);
    bool done = false;
    use_counted_allocator(w);
    for (int64_t n = 0; !done; n++) {
        assert_true(n < 50);
        old_file("a.mpk", 0600);
        set_list("a.mpk", ACL, &list);
        (void)setxattr("a.mpk", "user.note", "1", 1, 0);
        w->made = 0;
        w->fail_at = n;
        (void)save(w, "a.mpk");
        assert_int_equal(w->live, 0);
        done = w->made <= n;
        if (done) {
            assert_saved(w, "a.mpk", NULL);
        } else {
            assert_failed(w, REC_E_MEMORY, "out of memory");
            assert_file("a.mpk", "old", 3);
        }
        assert_list("a.mpk", &list);
        assert_int_equal(count_files(".", ""), 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_world, let_go)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_list_is_kept),
        TEST(test_denied_users_stay_denied),
        TEST(test_lost_list_leaves_the_strictest_mode),
        TEST(test_lost_list_with_a_named_group),
        TEST(test_default_list_is_not_inherited),
        TEST(test_file_is_private_until_it_is_in_place),
        TEST(test_no_mode_gives_more_to_a_group_that_cannot_be_kept),
        TEST(test_list_goes_with_a_group_that_cannot_be_kept),
        TEST(test_list_of_an_unreadable_file_is_kept),
        TEST(test_user_attributes_are_kept),
        TEST(test_files_of_a_set_keep_the_list_they_share),
        TEST(test_files_of_a_set_with_different_lists_get_none),
        TEST(test_files_of_a_new_set_get_the_list_of_the_file_they_replace),
        TEST(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("sink-access", tests, NULL, NULL);
}
