#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What the command says of options and operands that are not as they should be, of odd folders, and of plugins one by one.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cp 0.18.0/tiny-full.mpk "$scratch/tiny.mpk"
cd "$scratch" || exit 99
head -c 50 tiny.mpk >cut.mpk
mkdir mixed broken empty
cp tiny.mpk mixed/a.mpk
cp cut.mpk mixed/b.mpk
cp cut.mpk broken/b.mpk
echo text >mixed/a.txt
ln -s a.mpk mixed/link.mpk

transcript "options" <<'END'
$ frobnicate --bits
record: unknown command "frobnicate"
  Commands: info, ls, show, stats, diff, verify, convert, plan, edit, types, embed, report, browse, profiles, plugins, completion, help.
status 2
$ --bits
record: a command was expected: info, ls, show, convert or another
  record --help shows how it is used.
status 2
$ ls --bits tiny.mpk
record: --bits is not an option of `record ls`
  record ls --help shows how it is used.
status 2
$ ls -z tiny.mpk
record: unknown option -z
  record help options lists all options.
status 2
$ ls --from-option nonsense tiny.mpk
record: --from-option: expected NAME=VALUE, found "nonsense"
status 2
$ ls --threads 65 tiny.mpk
record: --threads: expected a whole number from 1 to 64, found "65"
status 2
$ ls --threads 2x tiny.mpk
record: --threads: expected a whole number from 1 to 64, found "2x"
status 2
$ edit tiny.mpk rm linear -o
record: -o needs a value: -o OUT
status 2
$ show --types none.rs --type T tiny.mpk
record: none.rs: cannot open: No such file or directory
status 2
$ show --type-of none.mpk tiny.mpk
record: none.mpk: cannot open the file: No such file or directory
status 2
$ edit tiny.mpk rm linear -oglued.mpk -q
$ ls glued.mpk
KEY     KIND  VALUE
(root)  map   {}
1 value
END

transcript "patterns of keys" <<'END'
$ ls tiny.mpk '[a-l]*.weight'
KEY            DTYPE  SHAPE   PARAMETERS
linear.weight  f32    [3, 2]           6
1 of 2 tensors, 6 parameters, 24 bytes
$ ls tiny.mpk '*.[!w]*'
KEY          DTYPE  SHAPE  PARAMETERS
linear.bias  f32    [2]             2
1 of 2 tensors, 2 parameters, 8 bytes
$ ls tiny.mpk '*.[^w]*'
KEY          DTYPE  SHAPE  PARAMETERS
linear.bias  f32    [2]             2
1 of 2 tensors, 2 parameters, 8 bytes
$ ls tiny.mpk '[!l]*'
record: tiny.mpk: no key matches "[!l]*", and there is no file of that name
status 2
$ ls tiny.mpk '[l'
record: tiny.mpk: no key matches "[l", and there is no file of that name
status 2
$ ls tiny.mpk 'linear{1,2..3}*'
record: tiny.mpk: no key matches "linear{1,2..3}*", and there is no file of that name
status 2
END

transcript "folders" <<'END'
$ report empty -o page.html
record: empty: there is no record in this directory
status 2
$ report broken -o page.html -q
record: none of the records in the directory can be read:
  left out: broken/b.mpk: byte 36: metadata.format: the data end inside a string: at least 93 more bytes are needed
status 2
$ convert -r --type-of tiny.mpk mixed made
record: --type-of gives the type of one record: with --recursive give --type GLOB=TYPE
status 2
$ convert -r mixed mixed
record: mixed: the directory that is converted cannot be written to
status 2
$ convert -r mixed tiny.mpk
record: tiny.mpk: a directory is needed to convert a directory to
status 2
$ convert -r --burn 0.21 mixed made
FILE      RESULT
a.mpk     converted  -> a.mpk: 2 tensors, 346 bytes
a.txt     skipped    no record
b.mpk     failed     byte 36: metadata.format: the data end inside a string: at least 93 more bytes are needed
link.mpk  skipped    a link
1 converted (1 checked), 2 skipped, 1 failed
record: b.mpk: byte 36: metadata.format: the data end inside a string: at least 93 more bytes are needed
  The file is truncated: copy it again from its source.
status 2
END
run report mixed -o page.html
check "a report of a directory is about what can be read" [ "$status" = 0 ]
check "and says what it leaves out" grep -q 'left out: b.mpk' err
run types tiny.mpk
cp out tiny.rs
run convert -q --type tiny.rs:Model tiny.mpk tiny.bin
run report tiny.bin -o nameless.html
check "a file without names is reported by its positions" [ "$status" = 0 ]
check "which is said" grep -q 'position' err nameless.html

real=$(cd "$OLDPWD" && cd "${LIBRECORD_PLUGIN_PATH:-.}" && pwd)
plugin() { # NAME: without the file
    run plugins "$1"
    grep -v '^  file ' out >shown
}
plugin zstd
if [ "$status" = 0 ]; then
    same "a codec" - shown <<END
zstd
               Zstandard (RFC 8878)
  also called  zst
  kind         codec
  extensions   zst, zstd
  can          decode and encode
  options      level (1 to 19, 3): compression, from 1 (fastest) to 19 (smallest)
END
else
    skip "a codec" "built without zstd"
fi
plugin Https
if [ "$status" = 0 ]; then
    same "a source of bytes" - shown <<END
Https
               files of a server, read in parts
  also called  http
  kind         source
  schemes      https, http
  can          open
END
else
    skip "a source of bytes" "built without libcurl"
fi
if [ "${real%/*/*}" != "$real" ]; then
    HOME=${real%/*/*} "$record" plugins --why >out 2>err
    check "files below one's home are told from there" grep -q '^NamedMpk  .*  ~/.*/mpk\.' out
fi
run plugins nonsense
check "a plugin that is none" [ "$status" = 2 ]
check "is told with those there are" grep -q '^  Known: .*NamedMpk, NamedMpkBytes' err
if command -v jq >/dev/null; then
    run plugins --json NamedMpk
    answers "one plugin as JSON" '[.plugins[] | .name, .extension, .can_save]' '["NamedMpk","mpk",true]'
fi
finish
