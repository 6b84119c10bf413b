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

LIBRECORD_DATA=$scratch/data
export LIBRECORD_DATA
chmod 666 data/profiles/llama.ini
rejected 'llama.ini: not read with the rights of another user' profiles llama
chmod 644 data/profiles/llama.ini
chmod 777 data/modules
rejected 'the folder is writable by others' types in.mpk

finish
