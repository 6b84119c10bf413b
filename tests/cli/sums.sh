#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record verify: files of sums that are not as they should be, and where sums cannot be.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

run edit -o k.mpk new set w 'f32[2, 3]=0.5' set 'a\\b' 'u8[1, 2]' set plain 'i64[1]'
run convert -q k.mpk k.npz
cp k.mpk none-of-its-extension
head -c 100 k.mpk >cut.mpk
transcript "sums of a name with a backslash come back" <<'END'
$ verify k.mpk --sums write
k.mpk: ok: 3 tensors, 34 bytes; checksums written to k.mpk.sums
$ verify k.mpk --sums check
k.mpk: ok: 3 tensors, 34 bytes; 3 sums agree
END
hash=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
tr a-f A-F <k.mpk.sums | sed 's/^\([^ ]*\)  .*w$/\1 *w/; /\*w$/!d' >upper
echo nonsense >nonsense
echo "$hash w" >one-blank
printf '\\%s  w\\q\n' "$hash" >escape
{ cat k.mpk.sums && printf '\000x'; } >nul
cat k.mpk.sums k.mpk.sums >twice
{ printf '# a remark\n\n' && cat k.mpk.sums; } >remark
sed "s/^[^ ]*  w\$/$hash  w/" k.mpk.sums >wrong
{ cat k.mpk.sums && echo "$hash  not there"; } >extra
: >empty
transcript "files of sums" <<'END'
$ verify k.mpk --sums check --sums-file remark
k.mpk: ok: 3 tensors, 34 bytes; 3 sums agree
$ verify k.mpk --sums check --sums-file upper
k.mpk: FAILED: 3 tensors, 34 bytes; 1 sum agrees
  a\\b: it has no checksum
  plain: it has no checksum
status 1
$ verify k.mpk --sums check --sums-file extra
k.mpk: FAILED: 3 tensors, 34 bytes; 3 sums agree
  not there: it has a checksum, but is not in the record
status 1
$ verify k.mpk --sums check --sums-file empty
k.mpk: FAILED: 3 tensors, 34 bytes; 0 sums agree
  w: it has no checksum
  a\\b: it has no checksum
  plain: it has no checksum
status 1
$ verify k.mpk --sums check --sums-file nonsense
record: nonsense: line 1 of the checksums: expected 64 hexadecimal digits, two spaces and a key
status 2
$ verify k.mpk --sums check --sums-file one-blank
record: one-blank: line 1 of the checksums: expected 64 hexadecimal digits, two spaces and a key
status 2
$ verify k.mpk --sums check --sums-file escape
record: escape: line 1 of the checksums: expected 64 hexadecimal digits, two spaces and a key
status 2
$ verify k.mpk --sums check --sums-file nul
record: nul: there is a NUL in the checksums
status 2
$ verify k.mpk --sums check --sums-file twice
record: twice: there are two checksums for a\\b
status 2
$ verify k.mpk --sums check --sums-file none
record: none: cannot read the checksums: No such file or directory
  Create them from a good file: record verify --sums write.
status 2
$ verify k.mpk --sums write --sums-file none/sums
record: none/sums: cannot be written: No such file or directory
status 2
END
run verify k.mpk --sums check --sums-file wrong
check "a sum that is another one is a failure" [ "$status" = 1 ]
check "that names the tensor" grep -q '^  w: ' out
transcript "what cannot be asked" <<'END'
$ verify k.mpk --sums write --sums-file x --in-metadata
record: checksums are either in a file or in the metadata
  record verify --help shows how it is used.
status 2
$ verify k.mpk --in-metadata
record: --in-metadata needs --sums write or --sums check
  record verify --help shows how it is used.
status 2
$ verify k.mpk --sums-file x
record: --sums-file needs --sums write or --sums check
  record verify --help shows how it is used.
status 2
$ verify k.mpk --sums nonsense
record: --sums: expected write or check, found "nonsense"
status 2
$ verify - --sums check
record: standard input: it has no companion file; use --sums-file FILE
  record verify --help shows how it is used.
status 2
$ verify - --sums write --in-metadata
record: standard input: it has no companion file; use --sums-file FILE
  record verify --help shows how it is used.
status 2
$ verify k.npz --sums write --in-metadata
record: k.npz: Npz cannot store the checksums in its metadata
  Without --in-metadata they go to FILE.sums.
status 2
$ verify none-of-its-extension --sums write --in-metadata
record: none-of-its-extension: checksums go into the metadata of one file with the extension of its recorder
  Without --in-metadata they go to FILE.sums.
status 2
$ verify k.npz --sums check --in-metadata
record: k.npz: its metadata have no checksums
  Create them: record verify --sums write --in-metadata.
status 2
$ verify k.mpk --sums write --in-metadata
k.mpk: ok: 3 tensors, 34 bytes; checksums written to the metadata
$ verify k.mpk --sums check --in-metadata
k.mpk: ok: 3 tensors, 34 bytes; 3 sums agree
$ verify cut.mpk k.mpk
cut.mpk: FAILED
k.mpk: ok: 3 tensors, 34 bytes
1 ok, 1 failed
record: cut.mpk: byte 36: metadata.format: the data end inside a string: at least 43 more bytes are needed
  The file is truncated: copy it again from its source.
status 1
$ verify k.mpk k.npz -q
END
finish
