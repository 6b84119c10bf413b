#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record convert
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

# reports NAME EXPECTED: the line in $scratch/FILE, without the seconds and the directory
reports() {
    sed "s/ in [0-9.]* s, / in T s, /; s|$scratch/||g" "$scratch/${3:-out}" >"$scratch/line"
    printf '%s\n' "$2" >"$scratch/expected"
    same "$1" "$scratch/expected" "$scratch/line"
}

# alike NAME FILE FILE: both list the same tensors and values
alike() {
    "$record" ls -q --json "$2" >"$scratch/first" && "$record" ls -q --json "$3" >"$scratch/second"
    same "$1" "$scratch/first" "$scratch/second"
}

# size FILE: as the report says it, below 10 KiB
size() {
    wc -c <"$1" | awk '{ if ($1 < 1024) print $1 " bytes"; else printf "%.2f KiB\n", $1 / 1024 }'
}

run convert 0.13.2/zoo-full.mpk "$scratch/zoo.mpk"
status_is "V1 to 0.21's layout succeeds" 0
same "and has nothing to note" /dev/null "$scratch/err"
reports "one line says what was done" \
    "0.13.2/zoo-full.mpk (Burn 0.13.2, V1, full) -> zoo.mpk: 43 tensors, $(size "$scratch/zoo.mpk") in T s, checked"
alike "tensors, ids and values are the same" 0.13.2/zoo-full.mpk "$scratch/zoo.mpk"
run info "$scratch/zoo.mpk"
check "the output says 0.21" grep -q 'Burn 0.21.0$' "$scratch/out"

for format in mpk mpk.gz; do
    for file in 0.14.0/zoo-double 0.16.1/plain-full 0.18.0/adam-half 0.21.0/zoo-full 0.21.0/constant-full; do
        run convert $file.mpk "$scratch/x.$format"
        alike "$file.mpk to $format keeps everything" $file.mpk "$scratch/x.$format"
        run convert $file.mpk.gz "$scratch/x.$format"
        "$record" ls -q --json $file.mpk.gz >"$scratch/first"
        "$record" ls -q --json "$scratch/x.$format" >"$scratch/second"
        same "$file.mpk.gz to $format too" "$scratch/first" "$scratch/second"
    done
done

run convert --precision half --to mpk-gz 0.18.0/mnist.mpk "$scratch/run.1"
check "an extension is appended, never replaced" [ -f "$scratch/run.1.mpk.gz" ]
reports "the precision asked for is named" \
    "0.18.0/mnist.mpk (Burn 0.18.0, full) -> run.1.mpk.gz (half): 24 tensors, $(wc -c <"$scratch/run.1.mpk.gz" |
        awk '{ printf "%.1f", $1 / 1024 }') KiB in T s, not checked"
run info "$scratch/run.1"
check "without its extension the file is not found" [ "$status" = 2 ]
run info --from mpk-gz "$scratch/run.1"
check "a named recorder finds it" grep -q 'half (f16, i16)$' "$scratch/out"
"$record" show --precision half 0.18.0/mnist.mpk fc2.weight >"$scratch/expected"
run show "$scratch/run.1.mpk.gz" fc2.weight
same "values are rounded as when loading at that precision" "$scratch/expected" "$scratch/out"

run convert --precision half 0.21.0/plain-full.mpk "$scratch/plain.mpk"
cat >"$scratch/expected" <<END
record: note: floats: 2 values were too large for f16 and became infinite
END
same "floats that became infinite are counted in a note" "$scratch/expected" "$scratch/err"
for version in 0.18.0 0.21.0; do
    run convert -q --precision half $version/plain-full.mpk "$scratch/plain.mpk"
    alike "$version at half precision is as Burn halves it" $version/plain-half.mpk "$scratch/plain.mpk"
    "$record" show --json $version/plain-half.mpk floats >"$scratch/expected"
    run show --json "$scratch/plain.mpk" floats
    same "and so are its values" "$scratch/expected" "$scratch/out"
done

# An i32 that no i16 holds, in a record made for it: a tensor of one element, 65,537.
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"
record_begin 1
str ids
map 3
str bytes
byte 196
byte 8
for value in 1 0 1 0 1 0 0 0; do
    byte $value
done
str shape
list 1
byte 2
str dtype
str I32
record_end >"$scratch/ids.mpk"
echo old >"$scratch/out.mpk"
fails "an integer that does not fit is an error" convert --precision half "$scratch/ids.mpk" "$scratch/out.mpk" <<END
record: $scratch/out.mpk: ids: element 0 is 65537, which does not fit i16 (-32768 to 32767)
  Choose a larger precision, or allow clamping (option clamp).
END
echo old >"$scratch/expected"
same "and leaves the old file" "$scratch/expected" "$scratch/out.mpk"
run convert --precision half --clamp "$scratch/ids.mpk" "$scratch/out.mpk"
status_is "--clamp takes the nearest limit" 0
prints "which is what is written" show "$scratch/out.mpk" ids <<END
[32767,     1]          i16 [2]
END

cp 0.13.2/zoo-full.mpk "$scratch/same.mpk"
run convert "$scratch/same.mpk" "$scratch/same.mpk"
status_is "a file can be converted onto itself" 0
alike "and holds the same" 0.13.2/zoo-full.mpk "$scratch/same.mpk"
run convert --option layout=keep 0.13.2/zoo-full.mpk "$scratch/v1.mpk"
run info "$scratch/v1.mpk"
check "layout=keep keeps the layout" grep -q 'Burn 0.13.2 (V1)$' "$scratch/out"
run convert --option level=0 0.18.0/mnist.mpk "$scratch/stored.mpk.gz"
check "options of the recorder are passed on" [ "$(wc -c <"$scratch/stored.mpk.gz")" -gt "$(wc -c <0.18.0/mnist.mpk)" ]
run convert -q 0.18.0/mnist.mpk "$scratch/quiet.mpk"
same "--quiet says nothing" /dev/null "$scratch/out"

# -------------------------------------------------------------------------------------------------------- mistakes --

codecs=$("$record" plugins | sed -n 's/^.* \*\(\.[a-z0-9]*\) .*/\1/p' | paste -sd, | sed 's/,/, /g')
written=$("$record" plugins --json | grep '"can_save": true' | grep -v '"kind": "codec"' |
    sed -n 's/.*"extensions": \[\([^]]\{1,\}\)\].*/\1/p' | sed 's/"\([^"]*\)"/.\1/g' | paste -sd, |
    sed 's/, */, /g')
fails "an extension that no recorder has" convert 0.18.0/mnist.mpk out.xyz <<END
record: out.xyz: unknown extension
  Known: $written; any of them may be followed by $codecs
  Or name the recorder: --to NAME
END
fails "standard output without a recorder" convert 0.18.0/mnist.mpk - <<END
record: standard output has no extension: name the recorder with --to
  record convert --help shows how it is used.
END
fails "a recorder without files" convert --to mpk-bytes 0.18.0/mnist.mpk "$scratch/x" <<END
record: NamedMpkBytes has no files: convert to standard output, or name another recorder
END
fails "an option with a bad value" convert --option level=99 0.18.0/mnist.mpk "$scratch/bad.mpk.gz" <<END
record: expected a whole number from 0 to 9 for the option level, found \`99\`
END
fails "an option that the recorder lacks" convert --option lvl=9 0.18.0/mnist.mpk "$scratch/bad.mpk.gz" <<END
record: NamedMpkGz has no option \`lvl\`
  Its options: as, map, data, decode, sync, check, clamp, modules, layout, level, trailing
END
check "after a mistake there is no file" [ ! -e "$scratch/bad.mpk.gz" ]
fails "a directory that is not there" convert 0.18.0/mnist.mpk "$scratch/none/x.mpk" <<END
record: $scratch/none/x.mpk: cannot open its directory: No such file or directory
  Create the directory first.
END
fails "an input that is not there" convert none.mpk "$scratch/x.mpk" <<END
record: none.mpk: cannot open the file: No such file or directory
END
head -c 30000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
cp 0.21.0/tiny-full.mpk "$scratch/kept.mpk"
run convert "$scratch/cut.mpk" "$scratch/kept.mpk"
status_is "an input that ends early is an error" 2
same "and leaves the old file" 0.21.0/tiny-full.mpk "$scratch/kept.mpk"
find "$scratch" -name '.*' ! -path "$scratch" >"$scratch/stale"
same "no temporary file is left" /dev/null "$scratch/stale"

# At whatever call it is stopped: the old file or the new one is there, whole, and nothing else.
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null && [ -z "${SANITIZERS:-}" ]; then
    many_tensors 100000 >"$scratch/many.mpk"
    "$record" convert -q "$scratch/many.mpk" "$scratch/many.mpk.gz"
    mkdir "$scratch/stopped"
    for moment in openat:20 flock:1 mmap:60 mmap:90 writev:1 fchmod:1 fsync:1 renameat:1 fsync:2; do
        echo old >"$scratch/stopped/x.mpk.gz"
        (strace -f -qq -o "$scratch/calls" -e "trace=${moment%:*}" -e "inject=${moment%:*}:signal=TERM:when=${moment#*:}" \
            "$record" convert -q "$scratch/many.mpk" "$scratch/stopped/x.mpk.gz" 2>>"$scratch/stopped-err")
        grep -q SIGTERM "$scratch/calls" || echo "no call $moment"
        echo old | cmp -s - "$scratch/stopped/x.mpk.gz" || cmp -s "$scratch/many.mpk.gz" "$scratch/stopped/x.mpk.gz" ||
            echo "stopped at $moment: neither the old file nor the new one"
        find "$scratch/stopped" -type f ! -name x.mpk.gz
    done >"$scratch/harm" 2>/dev/null
    same "stopped at any call it leaves a whole file and nothing else" /dev/null "$scratch/harm"
    same "and has nothing to say" /dev/null "$scratch/stopped-err"
else
    skip "stopped at any call" "strace is not installed, may not trace, or this is built with sanitizers"
fi

# A directory in the output directory that is a link is not followed.
mkdir -p "$scratch/tree/sub" "$scratch/into" "$scratch/elsewhere"
cp 0.18.0/mnist.mpk "$scratch/tree/sub/a.mpk"
cp 0.18.0/mnist.mpk "$scratch/tree/b.mpk"
ln -s ../elsewhere "$scratch/into/sub"
run convert -r "$scratch/tree" "$scratch/into"
status_is "a directory in OUT that is a link fails" 2
check "… with its reason" grep -q 'its directory is a link, which may lead out of the output directory' "$scratch/out" "$scratch/err"
check "… and nothing is written through it" [ -z "$(ls "$scratch/elsewhere")" ]
check "… the other files are written" [ -f "$scratch/into/b.mpk" ]
ln -s into "$scratch/linked"
rm "$scratch/into/sub"
run convert -q -r "$scratch/tree" "$scratch/linked"
status_is "OUT itself may be a link" 0
check "… which is followed" [ -f "$scratch/into/sub/a.mpk" ]

# ------------------------------------------------------------------------------------------------ unchanged files --

# A weight without a bias, at half precision, behind a gap: an adapter would have to ask.
header='{"l.1.weight":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}'
{
    # shellcheck disable=SC2059 # the length as an octal escape
    printf "\\$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header"
    head -c 12 /dev/zero
} >"$scratch/linear.safetensors"
run convert "$scratch/linear.safetensors" "$scratch/linear.json"
status_is "what may be a Linear or an Embedding is an error" 2
run convert -q --from-option as=file "$scratch/linear.safetensors" "$scratch/linear.json"
status_is "as=file converts it unchanged" 0
run ls "$scratch/linear.json"
check "… with its name, element type and shape" grep -Eq 'l\.1\.weight.*f16.*2.*3' "$scratch/out"
run convert --from-option as=file --adapter pytorch "$scratch/linear.safetensors" "$scratch/linear.json"
status_is "as=file and an adapter exclude each other" 2

# ------------------------------------------------------------------------------------------------------------ JSON --

need_jq
run convert --json --precision half 0.21.0/plain-full.mpk "$scratch/x.mpk.gz"
same "--json prints no notes on standard error" /dev/null "$scratch/err"
sed -i "s|$scratch/||" "$scratch/out"
answers "--json is a report" 'del(.seconds, .notes, .checked)' "{\"in\":\"0.21.0/plain-full.mpk\",\"inputs\":[\"0.21.0/plain-full.mpk\"],\"out\":\"x.mpk.gz\",\"from\":\"NamedMpk\",\"to\":\"NamedMpkGz\",\"burn\":\"0.21.0\",\"tensors\":5,\"parameters\":22,\"values\":18,\"written\":$(wc -c <"$scratch/x.mpk.gz")}"
answers "with the notes" '[.notes[] | [.kind, .count, .path]]' '[["overflow",2,"floats"]]'
answers "and whether it was read back" '.checked' false
answers "and the time" '.seconds >= 0' true

finish
