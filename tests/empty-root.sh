#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The commands of docs/guide/burn-0.22.md with the archive of a release, in a root directory that has only the archive and the
# checkpoint: no shell, no C library, no /proc, /dev and /tmp.
#   LIBRECORD_ARCHIVE   the archive (packaging/release/make); by default one is made of the static `record` of this build
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
srcdir=$(cd "$srcdir" && pwd)
RECORD=$(cd "$(dirname "$RECORD")" && pwd)/record
page=$srcdir/docs/guide/burn-0.22.md
archive=librecord-0.9.0-linux-x86_64
root=$scratch/root
mkdir "$root"

leave() { # REASON
    skip "the commands of docs/guide/burn-0.22.md in an empty root directory" "$1"
    finish
}
for program in python3 readelf unshare; do
    command -v "$program" >/dev/null || leave "$program is missing"
done
static() { # FILE
    readelf -hW "$1" >/dev/null 2>&1 && ! readelf -lW "$1" | grep -q INTERP
}
if [ -n "${LIBRECORD_ARCHIVE:-}" ]; then
    cp "$LIBRECORD_ARCHIVE" "$root/$archive.tar.gz"
elif static "$RECORD"; then
    mkdir -p "$scratch/$archive/bin"
    cp "$RECORD" "$scratch/$archive/bin/record"
    tar czf "$root/$archive.tar.gz" -C "$scratch" "$archive"
else
    leave "this build has no static record, and LIBRECORD_ARCHIVE is not set"
fi
cp -R "$srcdir/tests/journeys/training/first/checkpoint" "$root/checkpoint"
chmod -R u+w "$root"

python3 "$srcdir/tests/documents/blocks.py" "$page" sh | grep -E '^(tar xf )?librecord-' >"$scratch/commands"
check "the page has three commands" [ "$(wc -l <"$scratch/commands")" = 3 ]

inside() { # COMMAND...
    env -i "$(command -v unshare)" --map-root-user "$(command -v chroot)" "$root" "$@"
}
# The first command needs tar, which an empty root directory lacks.
check "the archive is unpacked" tar xf "$root/$archive.tar.gz" -C "$root"
inside "$archive/bin/record" --version >"$scratch/version" 2>&1 || {
    grep -q 'Operation not permitted' "$scratch/version" && leave "unshare is not permitted"
}
check "the command runs" grep -q '^record (librecord) ' "$scratch/version"
grep '^librecord-' "$scratch/commands" >"$scratch/rest"
while read -r line; do
    # The line is quoted as for a shell.
    eval "set -- $line"
    check "$line" inside "$@"
done <"$scratch/rest"

# The same bytes as from the build, which has its data and plugins in files.
check "the build converts the checkpoint" "$RECORD" convert -r --burn 0.22 --type 'scheduler*=NoamLrScheduler' \
    "$root/checkpoint" "$scratch/expected"
check "the files are the same" diff -r "$scratch/expected" "$root/new"
check "there are three" [ "$(find "$root/new" -name '*.bpk' | wc -l)" = 3 ]

finish
