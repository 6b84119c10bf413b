#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# With the rights of another user (sudo, doas, pkexec), a command reads no configuration, profile or module that others
# can change, unless the command line names it.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cp 0.18.0/mnist.mpk "$scratch/in.mpk" || exit 99
cd "$scratch" || exit 99
chmod 755 .
mkdir data
cp -R "$LIBRECORD_DATA/modules" "$LIBRECORD_DATA/profiles" data
chmod -R go-w data
printf '[librecord]\nthreads = 1\n' >named.ini

# rejected WORDS ARGUMENT...: the command fails as another user's, with these words, and succeeds without borrowed rights
rejected() {
    words=$1
    shift
    run "$@"
    status_is "record $*" 0
    for variable in SUDO_UID DOAS_USER PKEXEC_UID; do
        run env "$variable=1000" "$record" "$@"
        status_is "… is rejected if $variable is set" 2
        check "… for its reason" grep -q "$words" "$scratch/err"
    done
}

# run env …: cli.sh runs the command alone
run() {
    [ "$1" = env ] || set -- "$record" "$@"
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

LIBRECORD_CONFIG=$scratch/named.ini
export LIBRECORD_CONFIG
chmod 666 named.ini
rejected 'named.ini: not read with the rights of another user.*the file is writable by others' info in.mpk
run env SUDO_UID=1000 LIBRECORD_CONFIG=/dev/null "$record" info in.mpk
status_is "no configuration is none to reject" 0
run env SUDO_UID=1000 LIBRECORD_CONFIG=/dev/null "$record" info --config named.ini in.mpk
status_is "a file that the command line names is read" 0
chmod 644 named.ini
run env SUDO_UID=1000 "$record" info in.mpk
status_is "a file that nobody else can change is read" 0

# A link that others can change leads to another file at the next moment.
mkdir open linked
chmod 777 open
ln -s ../named.ini open/link.ini
ln -s ../linked open/folder
cp named.ini linked/named.ini
for path in open/link.ini open/folder/named.ini; do
    LIBRECORD_CONFIG=$path rejected 'lies in a directory, which is writable by others' info in.mpk
    LIBRECORD_CONFIG=$scratch/$path rejected 'lies in a directory, which is writable by others' info in.mpk
done
ln -s named.ini link.ini
LIBRECORD_CONFIG=$scratch/link.ini run env SUDO_UID=1000 "$record" info in.mpk
status_is "a link that nobody else can change is followed" 0
if [ "$(id -u)" = 0 ]; then
    mkdir -p theirs/mine
    cp named.ini theirs/mine/named.ini
    chown 65534 theirs
    LIBRECORD_CONFIG=theirs/mine/named.ini rejected 'a directory of its path belongs to user 65534' info in.mpk
else
    skip "a directory below that of another user" "needs root"
fi

LIBRECORD_DATA=$scratch/data
export LIBRECORD_DATA
chmod 666 data/profiles/llama.ini
rejected 'llama.ini: not read with the rights of another user' profiles llama
chmod 644 data/profiles/llama.ini
chmod 777 data/modules
rejected 'the directory is writable by others' types in.mpk

# A set-user-ID command runs no compiler that its caller names.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && ! grep -q '^# .*libtool' "$record" &&
    ! ldd "$record" 2>/dev/null | grep -q librecord; then
    cp "$record" borrowed
    chmod 4755 borrowed
    mkdir theirs2
    chown 65534 theirs2
    printf '#!/bin/sh\ntouch "%s/theirs2/ran"\n' "$scratch" >compiler
    chmod 755 compiler
    run env CC="$scratch/compiler" setpriv --reuid 65534 --regid 65534 --clear-groups \
        ./borrowed embed in.mpk -o theirs2/net.o
    status_is "a set-user-ID command runs no compiler" 2
    check "… and says so" grep -q 'a set-user-ID process runs no compiler' "$scratch/err"
    check "… and did not run it" test ! -e theirs2/ran
else
    skip "a set-user-ID command" "needs root, setpriv and a static build"
fi

finish
