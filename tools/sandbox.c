/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The sandbox. Landlock restricts the calling thread and those that it starts, and cannot be left: it is entered before
 * the first input is opened.
 *
 * Temporary files without a name go into an empty directory that is made for them, because a rule for $TMPDIR would
 * hold for all files that are there already. A child that does nothing else removes it when this process ends, however
 * it ends. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/system.h"
#include "tools/tool.h"

/* The kernel's interface, of which the C library's headers may have less than the kernel. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { VERSION_WANTED = 1, PATH_BENEATH = 1 };

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_CHAR = 1 << 6,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_MAKE_SOCK = 1 << 9,
    FS_MAKE_FIFO = 1 << 10,
    FS_MAKE_BLOCK = 1 << 11,
    FS_MAKE_SYM = 1 << 12,
    FS_REFER = 1 << 13,    /* from ABI 2 on */
    FS_TRUNCATE = 1 << 14, /* 3 */
    FS_ALL = FS_EXECUTE | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_CHAR | FS_MAKE_DIR | FS_MAKE_REG |
             FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_BLOCK | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE,
    FS_FILE = FS_WRITE_FILE | FS_TRUNCATE,
    FS_SAVE = FS_FILE | FS_MAKE_REG | FS_REMOVE_FILE,
    NET_BIND = 1 << 0, /* 4 */
    NET_CONNECT = 1 << 1,
    SCOPE_SOCKETS = 1 << 0, /* 6: those without a name in the file system */
    SCOPE_SIGNALS = 1 << 1
};

typedef struct ruleset {
    uint64_t fs, net, scoped;
} ruleset;

typedef struct __attribute__((packed)) beneath {
    uint64_t allowed;
    int32_t folder;
} beneath;

/* The members of a ruleset that a kernel knows: how large it is there. */
static size_t size_at(int abi)
{
    return abi < 4 ? offsetof(ruleset, net) : abi < 6 ? offsetof(ruleset, scoped) : sizeof(ruleset);
}

/* @return the ABI, 1 or more; 0 with errno: not supported. */
static int find_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_WANTED);

    return abi < 0 ? 0 : abi > INT_MAX ? INT_MAX : (int)abi;
}

const char *tool_sandbox_words(char *buffer, size_t room)
{
    int abi = find_abi();

    if (abi) {
        (void)snprintf(buffer, room, "Landlock, ABI %d%s", abi, abi < 4 ? " (without the network)" : "");
    } else {
        (void)snprintf(buffer, room, "none: %s",
                       errno == ENOSYS       ? "the kernel has no Landlock"
                       : errno == EOPNOTSUPP ? "Landlock is switched off in the kernel"
                                             : strerror(errno));
    }
    return buffer;
}

/* -------------------------------------------------------------------------------------------- temporary files -- */

static int leash = -1;
static pid_t helper;

/* Closes a descriptor and all above it, by one call where the kernel has it. */
static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0) {
        return;
    }
#endif
    for (int fd = first; fd < 1024; fd++) {
        (void)close(fd);
    }
}

/* Waits until the other end of the pipe is closed, and removes the directory. */
static _Noreturn void help(const char *folder, int pipe_end)
{
    char none;
    ssize_t got;

    for (size_t i = 0; i < TOOL_SIGNALS; i++) {
        (void)signal(tool_signals[i], SIG_IGN);
    }
    (void)dup2(pipe_end, STDIN_FILENO);
    close_from(STDOUT_FILENO); /* nobody waits for this process to close a file */
    while ((got = read(STDIN_FILENO, &none, 1)) > 0 || (got < 0 && errno == EINTR)) {
    }
    (void)rmdir(folder);
    _exit(0);
}

static void end_helper(void)
{
    (void)close(leash);
    while (waitpid(helper, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Makes a directory for temporary files, which TMPDIR names from then on. @return whether there is one. */
static bool make_folder(void)
{
    const char *temporary = getenv("TMPDIR");
    char *folder = xasprintf("%s/record-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    int ends[2] = {-1, -1};
    bool made = mkdtemp(folder) != NULL;

    helper = made && pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (helper == 0) {
        (void)close(ends[1]);
        help(folder, ends[0]);
    }
    if (ends[0] >= 0) {
        (void)close(ends[0]);
    }
    if (helper < 0) {
        if (made) {
            (void)rmdir(folder);
        }
        if (ends[1] >= 0) {
            (void)close(ends[1]);
        }
    } else {
        leash = ends[1];
        (void)atexit(end_helper);
    }
    made = helper > 0 && setenv("TMPDIR", folder, 1) == 0;
    free(folder);
    return made;
}

/* ----------------------------------------------------------------------------------------------------- rules -- */

/* Permits access below a directory, or to a file. A missing path cannot be permitted, and remains an error. */
static void allow(int rules, const char *path, uint64_t rights)
{
    int file = open(path, O_PATH | O_CLOEXEC);
    struct stat is;

    if (file >= 0 && fstat(file, &is) == 0) {
        beneath rule = {S_ISDIR(is.st_mode) ? rights : rights & FS_FILE, file};
        (void)syscall(SYS_landlock_add_rule, rules, PATH_BENEATH, &rule, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
}

/* Allows that a file is written: its directory, as a save makes a new file and renames it; what is no regular file, a
 * device, by itself. A link is followed, as a save does. */
static void allow_output(int rules, const char *path, uint64_t rights)
{
    char *real = realpath(path, NULL), *slash;
    struct stat is;

    if (real && stat(real, &is) == 0 && !S_ISREG(is.st_mode)) {
        allow(rules, real, rights);
        free(real);
        return;
    }
    real = real ? real : xstrdup(path);
    slash = strrchr(real, '/');
    if (slash) {
        slash[slash == real] = '\0';
    }
    allow(rules, slash ? real : ".", rights);
    free(real);
}

static void allow_outputs(int rules, const command *c, const session *s, const char *const *operands, size_t count,
                          uint64_t rights)
{
    const char *page = c->bit & (COMMAND_REPORT | COMMAND_SHOW) ? tool_own(s->o, "output") : NULL;
    const char *sums = c->bit == COMMAND_VERIFY ? tool_own(s->o, "sums") : NULL, *file = NULL;

    if (page && strcmp(page, "-") != 0) {
        allow_output(rules, page, rights);
    }
    if (!sums || strcmp(sums, "write") != 0) {
        return;
    }
    if ((file = tool_own(s->o, "sums-file"))) {
        allow_output(rules, file, rights);
    }
    for (size_t i = 0; i < count && !file; i++) {
        allow_output(rules, operands[i], rights);
    }
}

/* @return an open set of rules; -1 with errno. */
static int make_rules(int abi, uint64_t *fs)
{
    ruleset all = {FS_ALL, NET_BIND | NET_CONNECT, SCOPE_SOCKETS | SCOPE_SIGNALS};

    all.fs &= ~(uint64_t)((abi < 2 ? FS_REFER : 0) | (abi < 3 ? FS_TRUNCATE : 0));
    *fs = all.fs;
    return (int)syscall(SYS_landlock_create_ruleset, &all, size_at(abi), 0);
}

static bool is_wanted(const command *c, const session *s)
{
    const char *variable = secure_getenv("LIBRECORD_SANDBOX");

    return (c->bit & COMMAND_SANDBOXED) && !s->o->no_sandbox && !tool_names_any() &&
           (!variable || strcmp(variable, "no") != 0);
}

int tool_sandbox_enter(const command *c, const session *s, const char *const *operands, size_t count)
{
    int abi = is_wanted(c, s) ? find_abi() : 0, rules, error = 0;
    uint64_t fs = 0;

    if (!abi) {
        return EXIT_OK;
    }
    rules = make_rules(abi, &fs);
    if (rules >= 0 && lr_system_privileged()) {
        allow(rules, "/tmp", fs & FS_SAVE); /* a set-user-ID process ignores TMPDIR */
    } else if (rules >= 0 && make_folder()) {
        allow(rules, getenv("TMPDIR"), fs & FS_SAVE);
    }
    if (rules >= 0) {
        allow(rules, "/dev/null", fs & FS_FILE);
        allow_outputs(rules, c, s, operands, count, fs & FS_SAVE);
    }
    if (rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_landlock_restrict_self, rules, 0) != 0) {
        error = errno;
    }
    if (rules >= 0) {
        (void)close(rules);
    }
    return error ? tool_fail("cannot enter the sandbox: %s\nWithout it: --no-sandbox.", strerror(error)) : EXIT_OK;
}
