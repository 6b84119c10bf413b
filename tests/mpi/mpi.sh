# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# What the tests of record-mpi share: how ranks are started. They run in $scratch. A test ends here where none can be.

# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

record_mpi=${tools%/*}/mpi/record-mpi
[ -x "${tools%/*}/mpi/.libs/record-mpi" ] && record_mpi=${tools%/*}/mpi/.libs/record-mpi
mpirun=${MPIRUN:-mpirun}
if [ ! -x "$record_mpi" ]; then
    skip "record convert by many ranks" "configured without MPI"
    finish
fi
if ! command -v "$mpirun" >/dev/null; then
    skip "record convert by many ranks" "there is no $mpirun to start them"
    finish
fi

# Open MPI counts processors and does not like root, MPICH minds neither.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent='' PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_plm_rsh_agent PRTE_MCA_rmaps_default_mapping_policy
# In the directory that it shares by default, one mpirun fails while another one removes it.
mkdir "$scratch/sessions"
OMPI_MCA_orte_tmpdir_base=$scratch/sessions PRTE_MCA_prte_tmpdir_base=$scratch/sessions
export OMPI_MCA_orte_tmpdir_base PRTE_MCA_prte_tmpdir_base

# ranks N ARGUMENT...: leaves $status, $scratch/out and $scratch/err; no hang
ranks() {
    ranks_n=$1
    shift
    timeout -k 60 600 "$mpirun" -n "$ranks_n" "$record_mpi" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

if ! timeout -k 60 600 "$mpirun" -n 2 "$record_mpi" --version >"$scratch/out" 2>"$scratch/err" </dev/null; then
    skip "record convert by many ranks" "$mpirun does not start two ranks here: $(tail -n 1 "$scratch/err")"
    finish
fi

# ------------------------------------------------------------------------------------------- what looks at files by many ranks

# same_words NAME ARGUMENT...: what record says on its standard output, and its exit status; on the other what it says, but for
# mpirun's words about a status. By so many ranks as $counts has.
counts=3
same_words() {
    words_name=$1
    shift
    "$record" "$@" >expected 2>expected.err </dev/null
    words_status=$?
    for words_n in $counts; do
        ranks "$words_n" "$@"
        if [ "$status" != "$words_status" ] || ! cmp -s expected "$scratch/out"; then
            echo "$words_n ranks: status $status, not $words_status" >>"$scratch/err"
            diff expected "$scratch/out" >>"$scratch/err"
            not_ok "$words_name" "$scratch/err"
            return
        fi
        grep -v '^  ' expected.err | sed 's/^record: //' >lines # perhaps none
        while IFS= read -r line; do
            if ! grep -qF -e "$line" "$scratch/err"; then
                echo "$words_n ranks: \"$line\" is not said" >>"$scratch/err"
                not_ok "$words_name" "$scratch/err"
                return
            fi
        done <lines
    done
    ok "$words_name"
}

# refused NAME WORDS ARGUMENT...: status 2, told once and in these words
refused() {
    refused_name=$1 refused_words=$2
    shift 2
    ranks 3 "$@"
    if [ "$status" = 2 ] && [ "$(grep -c -e "$refused_words" "$scratch/err")" = 1 ]; then
        ok "$refused_name"
    else
        echo "status $status" >>"$scratch/err"
        not_ok "$refused_name" "$scratch/err"
    fi
}

# ./apart COMMAND...: what rank 1 does first is in $ON_RANK_1. The ranks are processes of $scratch/ranks.
cat >"$scratch/apart" <<'END'
#!/bin/sh
echo $$ >>"${0%/*}/ranks"
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ]; then
    eval "$ON_RANK_1"
fi
exec "$@"
END
chmod +x apart
# ranks_have_ended: those that ./apart has started; mpirun may end before ranks that it kills
ranks_have_ended() {
    # shellcheck disable=SC2046 # words
    wait_for no_process $(cat "$scratch/ranks" 2>/dev/null) && rm -f "$scratch/ranks"
}
# shellcheck disable=SC2317 # called by wait_for
no_process() { # PID...
    for pid; do
        ! grep '^State:' "/proc/$pid/status" | grep -qv '^State:[^A-Z]*Z' || return
    done
}
# one_apart NAME WORDS COMMANDS ARGUMENT...: rank 1 does these first
one_apart() {
    apart_name=$1 apart_words=$2 ON_RANK_1=$3
    shift 3
    export ON_RANK_1
    timeout -k 60 600 "$mpirun" -n 3 ./apart "$record_mpi" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    ranks_have_ended
    if [ "$status" = 2 ] && grep -q -e "$apart_words" "$scratch/err"; then
        ok "$apart_name"
    else
        echo "status $status" >>"$scratch/err"
        not_ok "$apart_name" "$scratch/err"
    fi
}

# make_unread: unread.so, for a rank for which a part of a file cannot be read, though its size is there
make_unread() {
    cat >unread.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
ssize_t pread(int fd, void *to, size_t size, off_t at)
{
    if (at >= 300000 && at < 5000000) { /* not where the ranks compare it */
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, to, size, at);
}
ssize_t pread64(int fd, void *to, size_t size, off_t at) { return pread(fd, to, size, at); }
END
    ${CC:-cc} -shared -fPIC -o unread.so unread.c 2>"$scratch/err"
}

# make_full: full.so, with which the disk is full for temporary files. @return whether a compiler makes it
make_full() {
    cat >full.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
static int is_full(int fd)
{
    char link[64], name[4096] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    errno = readlink(link, name, sizeof name - 1) > 0 && (strstr(name, "librecord-tmp") || strstr(name, "/#")) ? ENOSPC : 0;
    return errno != 0;
}
#define CALL(...) (is_full(fd) ? -1 : __VA_ARGS__)
ssize_t write(int fd, const void *data, size_t size) { return CALL(syscall(SYS_write, fd, data, size)); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    struct iovec one = {(void *)data, size};
    return CALL(preadv(-1, &one, -1, at)); /* others are not written by it here */
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) { return pwrite(fd, data, size, at); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    return CALL(preadv(-1, parts, count, at));
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) { return pwritev(fd, parts, count, at); }
END
    ${CC:-cc} -shared -fPIC -o full.so full.c 2>"$scratch/err"
}
