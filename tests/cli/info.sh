#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record info
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

prints "a model" info 0.18.0/mnist.mpk <<END
mnist.mpk     NamedMpk record, written by Burn 0.18.0
precision     full (f32, i32)
contents      24 tensors, 15,866 parameters, 62.0 KiB; 43 nil
largest       fc1.weight  f32 [256, 32]  32.0 KiB
file          63.9 KiB, mapped; parameter ids of 13 characters
END
prints "a compressed one, with all kinds of tensors" info 0.14.0/zoo-double.mpk.gz <<END
zoo-double.mpk.gz  NamedMpkGz record, written by Burn 0.14.1
precision          double (f64, i64); tensors: 41 f64, 1 i64, 1 bool
contents           43 tensors, 260 parameters, 2.00 KiB; 1 value; 58 nil
largest            conv2.weight  f64 [4, 2, 3, 2]  384 bytes
file               2.20 KiB, inflated 5.04 KiB, in memory; parameter ids of 10 characters
END
prints "no tensors" info 0.21.0/constant-full.mpk <<END
constant-full.mpk  NamedMpk record, written by Burn 0.21.0
precision          full (f32, i32)
contents           0 tensors; 1 value
file               199 bytes, mapped
END
prints "no parameter ids" info 0.21.0/plain-half.mpk <<END
plain-half.mpk  NamedMpk record, written by Burn 0.21.0
precision       half (f16, i16); tensors: 3 f16, 1 i16, 1 bool
contents        5 tensors, 22 parameters, 41 bytes; 18 values; 2 nil
largest         floats  f16 [3, 4]  24 bytes
file            917 bytes, mapped; no parameter ids
END
prints "copied into memory" info --no-map 0.21.0/tiny-full.mpk <<END
tiny-full.mpk  NamedMpk record, written by Burn 0.21.0
precision      full (f32, i32)
contents       2 tensors, 8 parameters, 32 bytes
largest        linear.weight  f32 [3, 2]  24 bytes
file           346 bytes, in memory; parameter ids of 13 characters
END
prints "at another precision" info --precision half 0.21.0/tiny-full.mpk <<END
tiny-full.mpk  NamedMpk record, written by Burn 0.21.0
precision      full (f32, i32); tensors: 2 f16
contents       2 tensors, 8 parameters, 16 bytes
largest        linear.weight  f16 [3, 2]  12 bytes
file           346 bytes, mapped; parameter ids of 13 characters
END

run info 0.13.2/zoo-half.mpk
cat >"$scratch/expected" <<END
zoo-half.mpk  NamedMpk record, written by Burn 0.13.2 (V1)
precision     half (f16, i16); tensors: 41 f16, 1 i16, 1 bool; 20 assumed
contents      43 tensors, 260 parameters, 515 bytes; 1 value; 56 nil
largest       conv2.weight  f16 [4, 2, 3, 2]  96 bytes
file          4.42 KiB, mapped; parameter ids of 36 characters
END
same "types that had to be assumed" "$scratch/expected" "$scratch/out"
cat >"$scratch/expected" <<END
record: note: the file does not record whether 20 of its tensors hold floats or integers: floats are assumed
END
same "the assumption is noted on standard error" "$scratch/expected" "$scratch/err"
run info --quiet 0.13.2/zoo-half.mpk
same "--quiet prints no notes" /dev/null "$scratch/err"

long=a-file-with-a-name-that-is-rather-long.mpk
cp 0.21.0/tiny-full.mpk "$scratch/$long"
prints "a long name stands on a line of its own" info "$scratch/$long" <<END
$long
recorder      NamedMpk record, written by Burn 0.21.0
precision     full (f32, i32)
contents      2 tensors, 8 parameters, 32 bytes
largest       linear.weight  f32 [3, 2]  24 bytes
file          346 bytes, mapped; parameter ids of 13 characters
END

fails "a file that is not there" info 0.21.0/nope.mpk <<END
record: 0.21.0/nope.mpk: cannot open the file: No such file or directory
END
run show 0.21.0
status_is "a directory without a model is an error for a command that reads one record" 2
check "that says so" grep -q '^record: 0.21.0: unknown format: no recorder reads a directory' "$scratch/err"
fails "a recorder that is nearly one" info --from mpx 0.21.0/tiny-full.mpk.gz <<END
record: no recorder is called "mpx"
  Did you mean "mpk"?
  Known: $("$record" plugins --json | sed -n '/"kind": "\(format\|stack\)"/s/^ *{"name": "\([^"]*\)".*/\1/p' | paste -sd, | sed 's/,/, /g').
END
fails "the wrong recorder" info --from mpk 0.21.0/tiny-full.mpk.gz <<END
record: 0.21.0/tiny-full.mpk.gz: byte 0: expected a MessagePack map, found 0x1f 0x8b, which is how gzip begins
  It looks like a NamedMpkGz record: open it with that recorder, or with Auto.
END
fails "an option that the recorder lacks" info --from mpk --from-option level=1 0.21.0/tiny-full.mpk <<END
record: NamedMpk has no option \`level\`
  Its options: as, map, data, decode, sync, check, clamp, modules, layout, trailing
END

# ---------------------------------------------------------------------------------------------------- several files --

run info 0.18.0/mnist.mpk "$scratch/none.mpk" 0.21.0/tiny-full.mpk
status_is "a file that is not there is an error" 2
cat >"$scratch/expected" <<END
0.18.0/mnist.mpk  NamedMpk record, written by Burn 0.18.0
precision         full (f32, i32)
contents          24 tensors, 15,866 parameters, 62.0 KiB; 43 nil
largest           fc1.weight  f32 [256, 32]  32.0 KiB
file              63.9 KiB, mapped; parameter ids of 13 characters

0.21.0/tiny-full.mpk  NamedMpk record, written by Burn 0.21.0
precision             full (f32, i32)
contents              2 tensors, 8 parameters, 32 bytes
largest               linear.weight  f32 [3, 2]  24 bytes
file                  346 bytes, mapped; parameter ids of 13 characters
END
same "several files are told one after the other, those that are good whatever the others are" "$scratch/expected" "$scratch/out"
mkdir -p "$scratch/folder/below/.hidden" "$scratch/nothing"
cp 0.21.0/tiny-full.mpk "$scratch/folder/b.mpk"
cp 0.21.0/tiny-half.mpk "$scratch/folder/below/a.mpk"
cp 0.21.0/tiny-half.mpk "$scratch/folder/below/.hidden/c.mpk"
echo "no record" >"$scratch/folder/README"
ln -s .. "$scratch/folder/below/up"
run info "$scratch/folder"
check "a directory is the records in it and below it, in the order of their names" \
    [ "$(grep -o '[a-z/]*\.mpk' "$scratch/out" | sed 's|.*folder/||' | tr '\n' ' ')" = "b.mpk below/a.mpk " ]
fails "a directory without records is an error" info "$scratch/nothing" <<END
record: $scratch/nothing: there is no record in this directory
END

need_jq
run info --json 0.18.0/mnist.mpk "$scratch/none.mpk" 0.21.0/tiny-full.mpk
answers "--json of several files is an object with an array" '.files | map(.tensors), (.[1] | keys), map(.file)[2]' \
    '[24,null,2]
["error","file"]
"0.21.0/tiny-full.mpk"'
run info --json 0.13.2/zoo-half.mpk
same "--json prints no notes on standard error" /dev/null "$scratch/err"
answers "--json has all there is" 'del(.metadata, .notes)' '{"file":"0.13.2/zoo-half.mpk","recorder":"NamedMpk","foreign":false,"burn":"0.13.2","layout":1,"precision":"half","tensors":43,"parameters":260,"nbytes":515,"assumed":20,"values":1,"nil":56,"dtypes":{"f16":41,"i16":1,"bool":1},"schemes":[],"largest":{"key":"conv2.weight","dtype":"f16","shape":[4,2,3,2],"nbytes":96},"ids":{"count":43,"shortest":36,"longest":36},"families":[],"part_of":null,"stored":4522,"inflated":4522,"mapped":true}'
answers "--json has the metadata as they are" .metadata.float '"half::binary16::f16"'
answers "--json has the notes" '.notes[0] | [.kind, .count, .path]' '["assumed",20,""]'
run info --json 0.21.0/composed-full.mpk
answers "--json without tensors" '[.tensors, .largest, .layout, .ids.count, .notes]' '[0,null,2,0,[]]'
printf '%s' '{"metadata":{"blocks":32,"tokens":["<s>",0.5],"rope":{"base":null}},"item":{"a":1}}' >"$scratch/typed.json"
run info --json "$scratch/typed.json"
answers "--json has metadata that are not texts as they are" '.metadata | del(.float)' \
    '{"blocks":32,"tokens":["<s>",0.5],"rope":{"base":null}}'

mkdir "$scratch/two"
cp "$srcdir/examples/weights.safetensors" "$scratch/two/a.safetensors"
cp "$srcdir/examples/weights.safetensors" "$scratch/two/b.safetensors"
run info --json "$scratch/two"
check "a directory with two models is no model: both are listed" \
    [ "$(jq -r '.files[].file' "$scratch/out" | sed 's|.*/||' | tr '\n' ' ')" = "a.safetensors b.safetensors " ]

printf '{"hidden_size": 24}' >"$scratch/two/config.json"
run info "$scratch/two"
status_is "a config.json beside models is passed over" 0

finish
