#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A subcommand that reads restricts itself: a plugin that tries to write a file, to execute a program and to connect cannot, and
# with --no-sandbox it can. It still writes what it is asked for, and temporary files.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
top=$srcdir
case $top in /*) ;; *) top=$(pwd)/../../../.. ;; esac
cp 0.18.0/mnist.mpk "$scratch/in.mpk" || exit 99
cd "$scratch" || exit 99
unset LIBRECORD_SANDBOX

run --version
check "--version says whether there is a sandbox" grep -qE '^sandbox: (Landlock, ABI [0-9]+.*|none: .*)$' "$scratch/out"
words=$(sed -n 's/^sandbox: //p' "$scratch/out")
case $words in
none:*)
    skip "what a sandbox denies" "$words"
    finish
    ;;
esac
abi=$(echo "$words" | sed 's/^Landlock, ABI \([0-9]*\).*/\1/')
library=${top_builddir:-.}/.libs
case $library in /*) ;; *) library=$(cd "$OLDPWD" && cd "$library" 2>/dev/null && pwd) ;; esac
[ -e "$library/librecord.so" ] || {
    skip "what a sandbox denies" "this is a static build, which opens no plugins"
    finish
}

# A plugin that tries, and says what came of it.
mkdir plugins
cat >escape.c <<'C'
#include <librecord/plugin.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *word(int failed)
{
    return failed ? strerrorname_np(errno) : "done";
}

static const char *make(const char *path, int flags)
{
    int file = open(path, flags, 0600);
    const char *came = word(file < 0);
    if (file >= 0) {
        close(file);
    }
    return came;
}

static const char *execute(void)
{
    char *const words[] = {"sh", "-c", ":", NULL};
    pid_t child;
    int error = posix_spawn(&child, getenv("ESCAPE_PROGRAM"), NULL, NULL, words, words + 3);
    errno = error;
    if (!error) {
        waitpid(child, NULL, 0);
    }
    return word(error);
}

static const char *reach(void)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(9)};
    int s = socket(AF_INET, SOCK_STREAM, 0), failed;
    inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
    failed = connect(s, (struct sockaddr *)&there, sizeof there) != 0 && errno != ECONNREFUSED;
    return word(failed);
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    char path[4096];
    const char *folder = getenv("ESCAPE_FOLDER"), *temporary = getenv("TMPDIR"), *file, *old, *beside, *removed, *made;
    (void)source, (void)visitor, (void)self;
    snprintf(path, sizeof path, "%s/new", folder);
    file = make(path, O_WRONLY | O_CREAT);
    snprintf(path, sizeof path, "%s/old", folder);
    old = make(path, O_WRONLY);
    snprintf(path, sizeof path, "%s/made", folder);
    made = word(mkdir(path, 0700) != 0);
    snprintf(path, sizeof path, "%s/gone", folder);
    removed = word(unlink(path) != 0);
    snprintf(path, sizeof path, "%s/../escaped", temporary ? temporary : "/tmp");
    beside = make(path, O_WRONLY | O_CREAT);
    return rec_fail(job, REC_E_FORMAT, REC_UNKNOWN,
                    "write %s, overwrite %s, mkdir %s, remove %s, beside %s, unnamed %s, execute %s, connect %s, read %s", file,
                    old, made, removed, beside, make(temporary ? temporary : "/tmp", O_TMPFILE | O_RDWR), execute(), reach(),
                    make("/etc/passwd", O_RDONLY));
}

static const rec_plugin escape = {.abi = REC_PLUGIN_ABI,
                                  .size = sizeof escape,
                                  .name = "Escape",
                                  .extension = "esc",
                                  .description = "tries to get out",
                                  .traits = REC_TRAIT_TENSORS,
                                  .load = load,
                                  .adapter = NULL};

REC_PLUGINS(esc, &escape);
C
# shellcheck disable=SC2086 # a compiler with its options
${CC:-cc} ${SANITIZERS:+-fsanitize=$SANITIZERS} -D_GNU_SOURCE -shared -fPIC -I"$top/include" -o plugins/esc.so escape.c -L"$library" \
    -lrecord 2>"$scratch/err" || {
    not_ok "the plugin is built" "$scratch/err"
    finish
}
chmod -R go-w plugins
mkdir theirs tmp pages
ESCAPE_FOLDER=$scratch/theirs ESCAPE_PROGRAM=/bin/sh TMPDIR=$scratch/tmp
LIBRECORD_PLUGIN_PATH=$scratch/plugins:$LIBRECORD_PLUGIN_PATH
export ESCAPE_FOLDER ESCAPE_PROGRAM TMPDIR LIBRECORD_PLUGIN_PATH
echo text >a.esc
cp a.esc b.esc

# tries ARGUMENT...: leaves in `came` what the plugin said, with fresh files to try it on
tries() {
    rm -rf theirs/* tmp/* escaped
    echo old >theirs/old
    echo old >theirs/gone
    run "$@"
    cat "$scratch/out" "$scratch/err" | grep -o "write [A-Za-z]*, overwrite.*, read [A-Za-z]*" | head -n 1 >came
}
connect=EACCES
[ "$abi" -ge 4 ] || connect="done"
jailed="write EACCES, overwrite EACCES, mkdir EACCES, remove EACCES, beside EACCES, unnamed done, execute EACCES, connect $connect, read done"
free="write done, overwrite done, mkdir done, remove done, beside done, unnamed done, execute done, connect done, read done"
for command in info ls show stats verify "diff --from Escape b.esc" plan types "report -o pages/page.html"; do
    # shellcheck disable=SC2086 # words
    tries $command --from Escape a.esc
    check "record ${command%% *} denies it" grep -qxF "$jailed" came
    check "… and leaves nothing in \$TMPDIR" [ -z "$(ls tmp)" ]
    # shellcheck disable=SC2086
    tries $command --no-sandbox --from Escape a.esc
    check "… but with --no-sandbox" grep -qxF "$free" came
done
LIBRECORD_SANDBOX=no tries ls --from Escape a.esc
check "a variable switches it off, for tools that write by themselves" grep -qxF "$free" came

# What is asked for is written.
ln -s pages/there.html link.html
for page in pages/page.html page.html link.html; do
    run report in.mpk -o "$page"
    status_is "a page is written to $page" 0
done
for sums in "--sums write" "--sums write --sums-file pages/sums" "--sums write --in-metadata"; do
    # shellcheck disable=SC2086 # words
    run verify $sums in.mpk
    status_is "record verify $sums" 0
done
run types --check --type-of in.mpk in.mpk
status_is "record types --check" 0
run convert -q --to mpk.gz in.mpk in.mpk.gz
TMPDIR=$scratch/none run ls in.mpk.gz
status_is "a compressed file is read without a directory for temporary files" 0
rm -rf tmp/*
run stats in.mpk.gz
status_is "and with one" 0
check "… which is empty afterwards" [ -z "$(ls tmp)" ]

finish
