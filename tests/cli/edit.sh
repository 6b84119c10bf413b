#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record edit
# shellcheck disable=SC2059 # formats are made
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

# edits NAME ARGUMENT... <<EXPECTED: the command succeeds and reports that, seconds and folders aside
edits() {
    name=$1
    shift
    cat >"$scratch/expected"
    run edit "$@"
    if [ "$status" != 0 ] || [ -s "$scratch/err" ]; then
        echo "status $status" >>"$scratch/err"
        not_ok "$name" "$scratch/err"
    else
        sed "s/ in [0-9.]* s\\>/ in T s/; s|$scratch/||g; s/, [0-9.]* \\(bytes\\|KiB\\) in T/, SIZE in T/" \
            "$scratch/out" >"$scratch/said"
        same "$name" "$scratch/expected" "$scratch/said"
    fi
}

# refuses NAME ARGUMENT... <<EXPECTED: as fails, and nothing was written to $scratch/no*
refuses() {
    fails "$@"
    check "$1: and writes nothing" sh -c "! ls '$scratch'/no* '$scratch'/.no* 2>/dev/null"
}

# shows NAME FILE KEY EXPECTED
shows() {
    run show "$2" "$3"
    printf '%s\n' "$4" >"$scratch/expected"
    same "$1" "$scratch/expected" "$scratch/out"
}

tiny=0.18.0/tiny-full.mpk
plain=0.18.0/plain-full.mpk
zoo=0.18.0/zoo-full.mpk

# ------------------------------------------------------------------------------------------------------ what it says

edits "a report of operations" $zoo set 'conv1.weight[0, 0]' 1.5 rm pair cast '*.bias' f16 mv '^conv1\.' c1. \
    meta hello world -o "$scratch/a.mpk" <<END
$zoo -> a.mpk: 39 tensors, SIZE in T s, checked
  set conv1.weight[0, 0] 1.5  3 elements of f32 [3, 2, 3]
  rm pair                     4 tensors, 52 bytes, and 1 value removed
  cast *.bias f16             11 tensors f32 -> f16; 25 of 25 values rounded
  mv ^conv1\\. c1.             7 keys renamed
  meta hello world            added
END
shows "the slice was set" "$scratch/a.mpk" 'c1.weight[0, 0]' '[1.5, 1.5, 1.5]          f32 [3]'
"$record" show $zoo 'conv1.weight[1]' >"$scratch/first"
"$record" show "$scratch/a.mpk" 'c1.weight[1]' >"$scratch/second"
same "the rest of the tensor stays" "$scratch/first" "$scratch/second"
run info "$scratch/a.mpk"
check "the version of Burn stays" grep -q 'written by Burn 0.18.0$' "$scratch/out"
check "and metadata are there" grep -q 'hello = world' "$scratch/out"
"$record" ls -a --json $zoo | sed -n 's/.*"key": "\(conv2[^"]*\)".*"id": /\1 /p' >"$scratch/first"
"$record" ls -a --json "$scratch/a.mpk" | sed -n 's/.*"key": "\(conv2[^"]*\)".*"id": /\1 /p' >"$scratch/second"
same "ids stay, of cast tensors too" "$scratch/first" "$scratch/second"
check "and there are some" [ -s "$scratch/first" ]
run edit --help
check "the help has at most 80 columns" sh -c "! sed 's/…/./g' '$scratch/out' | grep -q '.\{81\}'"
check "the help has examples" grep -q '^Examples:' "$scratch/out"

# ------------------------------------------------------------------------------------------------------------- values

edits "values" $plain set count 5 set name hello set new.x 1.5f32 set couple '[1, "x"]' set maybe null cast tiny u32 \
    set words.0 '"5"' -o "$scratch/p.mpk" <<END
$plain -> p.mpk: 5 tensors, SIZE in T s, checked
  set count 5          was 123456
  set name hello       was "café \\"open\\" C:\\\\dir\\x0d\\n\\ttab 🛰 \\x…
  set new.x 1.5f32     added
  set couple [1, "x"]  was a list
  set maybe null       was 65536
  cast tiny u32        now u32
  set words.0 "5"      was ""
END
shows "a number" "$scratch/p.mpk" count 5
shows "a string" "$scratch/p.mpk" name hello
shows "a string in quotes" "$scratch/p.mpk" words.0 5
shows "a new level" "$scratch/p.mpk" new.x 1.5
shows "a list" "$scratch/p.mpk" couple.1 x
shows "nil" "$scratch/p.mpk" maybe null
run edit new set a '{"b": [true, -5, {"c.d": "\u00e9\ud83d\ude80"}], "e": NaN}' set big 18446744073709551615 \
    set f 'f64 [[0.1, -inf], [NaN, 1e308]]' set h 'f16[2, 3]=0.5' set m 'bool [true, false]' set s 'i8 -7' \
    set z 'f32[0, 4]=0' set b 'bf16 [1.00390625]' -o "$scratch/new.mpk"
status_is "a record of nothing" 0
shows "nested values" "$scratch/new.mpk" 'a.b.2.c\.d' é🚀
shows "the largest number" "$scratch/new.mpk" big 18446744073709551615
shows "doubles" "$scratch/new.mpk" f '[[        0.1,   -Infinity],
 [      NaN,             1e308]]          f64 [2, 2]'
shows "halves" "$scratch/new.mpk" h '[[0.5, 0.5, 0.5],
 [0.5, 0.5, 0.5]]          f16 [2, 3]'
shows "bools" "$scratch/new.mpk" m '[ true, false]          bool [2]'
shows "no dimension" "$scratch/new.mpk" s '-7          i8 []'
shows "no elements" "$scratch/new.mpk" z '[]          f32 [0, 4]'
shows "ties round to even" "$scratch/new.mpk" b '[1.0]          bf16 [1]'
run ls -a --json "$scratch/new.mpk"
check "new tensors have ids" [ "$(grep -c '"id": "[0-9a-v]\{13\}"' "$scratch/out")" = 6 ]
run edit "$scratch/new.mpk" set f[0] '[1, 2]' set m[1] true set s 5 set f[1,0] 7.5 cast s f32 cast m i32 cast z bool \
    cast h u8 -o "$scratch/new2.mpk"
check "what is not whole becomes no integer" grep -q 'cast h: u8 takes whole numbers, and it holds others' "$scratch/err"
run edit "$scratch/new.mpk" set f[0] '[1, 2]' set m[1] true set s 5 set f[1,0] 7.5 cast s f32 cast m i32 cast z bool \
    -o "$scratch/new2.mpk"
shows "rows and elements" "$scratch/new2.mpk" f '[[1.0,   2.0],
 [7.5,   1e308]]          f64 [2, 2]'
shows "an integer as a float" "$scratch/new2.mpk" s '5.0          f32 []'
shows "bools as integers" "$scratch/new2.mpk" m '[1, 1]          i32 [2]'
run edit $tiny set linear.bias "@$scratch/new.mpk:h" set from @0.18.0/none -o "$scratch/no.mpk"
status_is "a file that is not there" 2
run edit $tiny set linear.bias "@$scratch/new.mpk:h" -o "$scratch/t.mpk"
shows "a tensor of another file" "$scratch/t.mpk" 'linear.bias[0]' '[0.5, 0.5, 0.5]          f16 [3]'
"$record" ls --json $tiny | grep -o '"key": "linear.bias.*"id": .*' | grep -o '"id": .*' >"$scratch/first"
"$record" ls --json "$scratch/t.mpk" | grep -o '"key": "linear.bias.*"id": .*' | grep -o '"id": .*' >"$scratch/second"
same "takes the id of the one before" "$scratch/first" "$scratch/second"

refuses "a value where a map is" edit $tiny set linear 5 -o "$scratch/no.mpk" <<END
record: set linear: it is a map, which one value cannot replace
  Remove it first (rm), or name what is in it.
END
refuses "a number of another kind" edit $plain set short 40000000000000000000 -o "$scratch/no.mpk" <<END
record: short: expected a number of 64 bits, found "40000000000000000000"
END
refuses "text for a tensor" edit $tiny set linear.weight hello -o "$scratch/no.mpk" <<END
record: set linear.weight: it is a tensor: a number, or numbers in lists were expected, found "hello"
END
refuses "another shape" edit $tiny set linear.weight '[1, 2]' -o "$scratch/no.mpk" <<END
record: set linear.weight: expected one number or [3, 2], found [2]
END
refuses "ragged lists" edit $tiny set linear.weight 'f32 [[1, 2], [3]]' -o "$scratch/no.mpk" <<END
record: set linear.weight: expected numbers, in lists of one length at each level
END
refuses "too large a tensor" edit $tiny set x 'f32[4294967296, 4294967296]=0' -o "$scratch/no.mpk" <<END
record: set x: this shape has more elements than fit into memory
END
refuses "JSON without an end" edit $tiny set x '[1, [2' -o "$scratch/no.mpk" <<END
record: x: expected a comma or ], found ""
END
refuses "too small a type" edit $tiny set x 300u8 -o "$scratch/no.mpk" <<END
record: x: expected a number that fits its suffix, found "u8"
END
refuses "an index out of range" edit $tiny set 'linear.weight[9]' 1 -o "$scratch/no.mpk" <<END
record: linear.weight: index 9 is out of range: dimension 0 has 3 elements
END
deep=$(printf '%0100d' 0 | sed 's/0/[/g')
run edit $tiny set x "$deep" -o "$scratch/no.mpk"
status_is "many levels" 2

# ------------------------------------------------------------------------------------------------------ rm, mv, cast

edits "patterns" $zoo rm 'blocks.*.norm' rm 'array.0' rm '*_b' -o "$scratch/r.mpk" <<END
$zoo -> r.mpk: 33 tensors, SIZE in T s, checked
  rm blocks.*.norm  6 tensors, 72 bytes, and 3 values removed
  rm array.0        2 tensors, 12 bytes removed
  rm *_b            2 tensors, 20 bytes, and 8 values removed
END
run show "$scratch/r.mpk" array
check "later items move up" grep -q '^0:' "$scratch/out"
run edit new set l '[{"x": 0, "y": 10}, {"x": 1, "y": 11}, {"x": 2, "y": 12}]' set set 7u8 set rm 8u8 -o "$scratch/list.mpk"
run edit "$scratch/list.mpk" rm l.0 l.1 -o "$scratch/r.mpk"
check "several keys are found before one is removed" [ "$("$record" show "$scratch/r.mpk" l.0.x | cut -c1)$status" = 20 ]
run edit "$scratch/list.mpk" rm l.1.x l.1 'l.*.y' l.1 -o "$scratch/r.mpk"
check "some of which lie below others" grep -q '  rm l.1.x l.1 l.\*.y l.1  4 values removed' "$scratch/out"
run edit "$scratch/list.mpk" rm l rm set -o "$scratch/r.mpk"
"$record" ls -a --json "$scratch/r.mpk" >"$scratch/out"
check "a key that is an operation's word comes first" sh -c "grep -q '\"rm\"' '$scratch/out' && ! grep -q '\"set\"' '$scratch/out'"
run edit --json "$scratch/list.mpk" rm set l rm rm set n 1 -o "$scratch/r.mpk"
check "and ends the keys otherwise" [ "$status$(tr -d ' \n' <"$scratch/out" | grep -o '"operands":\[[^]]*\]' | tr -d '\n')" = \
    '0"operands":["set","l"]"operands":["rm"]"operands":["n","1"]' ]
refuses "one of several keys is misspelt" edit $tiny rm linear linaer -o "$scratch/no.mpk" <<END
record: linaer: the record has no such key
  Did you mean linear?
END
refuses "all but a pattern, and more" edit $tiny rm linear '!linear' -o "$scratch/no.mpk" <<END
record: rm: !linear stands for all other keys: it cannot be one of several
END
refuses "a misspelt key" edit $tiny rm linaer -o "$scratch/no.mpk" <<END
record: linaer: the record has no such key
  Did you mean linear?
END
refuses "a pattern that matches nothing" edit $tiny rm 'x.*' -o "$scratch/no.mpk" <<END
record: no key matches x.*
  In patterns * is any text, dots too, # a number, {a,b} alternatives.
END
refuses "a rename of nothing" edit $tiny mv foo bar -o "$scratch/no.mpk" <<END
record: rule 1 (\`foo\`) matched nothing
  Rules act in order, each on the result of the one before.
END
run edit $zoo mv '^conv1\.' conv2. -o "$scratch/no.mpk"
check "two tensors of one name" grep -q '2 sources for conv2' "$scratch/err"
run edit $zoo rm '!conv1.*' -o "$scratch/r.mpk"
run ls -a --json "$scratch/r.mpk"
check "all but a pattern" [ "$(grep -c '"key": "conv1\.' "$scratch/out")-$(grep -c '"id"' "$scratch/out")" = 7-2 ]
run edit $tiny rm '*' -o "$scratch/r.mpk"
status_is "all" 0
refuses "the root" edit $tiny rm '' -o "$scratch/no.mpk" <<END
record: the root cannot be removed
END
run edit "$scratch/new.mpk" set f 'f64 [1e300, 1e-300, 0.1, 2, NaN, -inf]' cast f f16 -o "$scratch/c.mpk"
check "what a cast loses is told" grep -q \
    'f64 -> f16; 3 of 6 values rounded, 1 became infinite, 1 became zero$' "$scratch/out"
refuses "an integer that does not fit" edit "$scratch/new.mpk" set x 'i32 [1, 300]' cast x i8 -o "$scratch/no.mpk" <<END
record: x: element 1 is 300, which does not fit i8 (-128 to 127)
  Choose a larger precision, or allow clamping (option clamp).
END
refuses "another kind for all" edit $tiny cast linear i32 -o "$scratch/no.mpk" <<END
record: cast linear: no tensor there is of i32's kind
  Tensors of another kind are cast one by one, by their whole key.
END
refuses "what Burn 0.13 cannot hold" edit 0.13.2/tiny-half.mpk cast '*' f64 -o "$scratch/no.mpk" <<END
record: $scratch/no.mpk: linear.weight: a tensor of f64 in a record of half precision: a file of Burn 0.13 has one precision
  Save it at half, full or double precision instead of keeping it.
END
run edit 0.13.2/tiny-full.mpk mv linear l -o "$scratch/v1.mpk"
run info "$scratch/v1.mpk"
check "V1 stays V1" grep -q 'written by Burn 0.13.2 (V1)$' "$scratch/out"

# ------------------------------------------------------------------------------------------------- merge and split

run edit $zoo split --by key -o "$scratch/part-{}.mpk"
status_is "a split" 0
set --
for key in $("$record" show $zoo | sed -n 's/^\([a-z0-9_]*\):.*/\1/p' | sed 1d); do
    set -- "$@" merge "$scratch/part-$key.mpk"
done
run edit "$scratch/part-conv1.mpk" "$@" -o "$scratch/whole.mpk"
"$record" edit -q $zoo meta a b meta a '' -o "$scratch/same.mpk"
check "a merge of all parts is the record, to the byte" cmp "$scratch/same.mpk" "$scratch/whole.mpk"
run edit $zoo split --by dtype -o "$scratch/type-{}.mpk"
run edit "$scratch/type-f32.mpk" merge "$scratch/type-bool.mpk" merge "$scratch/type-i32.mpk" \
    merge "$scratch/type-values.mpk" -o "$scratch/whole.mpk"
"$record" show -a $zoo | sort >"$scratch/first"
"$record" show -a "$scratch/whole.mpk" | sort >"$scratch/second"
same "and of parts by element type, but for the order" "$scratch/first" "$scratch/second"
run edit $zoo split --by 1 --strip -o "$scratch/no-{}.mpk"
check "a value cannot lose its name" grep -q 'whose name cannot be stripped' "$scratch/err"
run edit $tiny split --by key --strip -o "$scratch/only-{}.mpk"
run show "$scratch/only-linear.mpk" 'weight[0]'
status_is "a stripped part is the module itself" 0
refuses "a split without {}" edit $tiny split --by key -o "$scratch/no.mpk" <<END
record: split writes several files: {} in --output is the name of the part
  record edit --help shows how it is used.
END
run edit new set 'a/b' 1 set a_b 2 -o "$scratch/clash.mpk"
run edit "$scratch/clash.mpk" split --by key -o "$scratch/no{}.mpk"
check "two parts of one name" grep -q 'would both be' "$scratch/err"
check "nor leave the directory" sh -c "! ls '$scratch'/no* 2>/dev/null"

run edit $tiny set linear.bias 1 -o "$scratch/other.mpk"
refuses "keys that both have" edit merge $tiny "$scratch/other.mpk" -o "$scratch/no.mpk" <<END
record: merge $scratch/other.mpk: 1 key is in both, and not the same: linear.bias
  With --overwrite the later record's count; a --prefix before the file puts its keys elsewhere.
END
run edit merge $tiny "$scratch/other.mpk" --overwrite -o "$scratch/merged.mpk"
shows "the later one's count" "$scratch/merged.mpk" linear.bias '[1.0, 1.0]          f32 [2]'
run edit $tiny merge --prefix head "$scratch/other.mpk" -o "$scratch/merged.mpk"
shows "a prefix is for the file behind it" "$scratch/merged.mpk" head.linear.bias '[1.0, 1.0]          f32 [2]'
refuses "an option for no file" edit $tiny --prefix x merge "$scratch/other.mpk" -o "$scratch/no.mpk" <<END
record: --prefix stands before a word that is not a file: put it before the file it is for
  record edit --help shows how it is used.
END

# ------------------------------------------------------------------------------------------------ files of others

# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
st_begin
st_tensor a.fc.weight '2, 3' 6 1
st_tensor a.fc.bias '2' 2 9
st_tensor a.n.count '' 1 7
st_metadata '{"who":"me","format":"pt"}'
st_end >"$scratch/f.safetensors"
run edit "$scratch/f.safetensors" rm a.n mv 'nothing' x -o "$scratch/no.safetensors"
status_is "a rename of nothing in it" 2
run edit "$scratch/f.safetensors" rm a.n mv '^a\.' b. cast b.fc.bias f16 -o "$scratch/g.safetensors"
run ls --json "$scratch/g.safetensors"
check "a foreign file keeps its layout" grep -q '"key": "b.fc.weight", "dtype": "f32", "shape": \[2, 3\]' "$scratch/out"
check "levels that hold nothing are gone" sh -c "! grep -q count '$scratch/out'"
run info "$scratch/g.safetensors"
check "and its metadata" sh -c "grep -q 'who = me' '$scratch/out' && grep -q 'format = pt' '$scratch/out'"
run edit -n "$scratch/f.safetensors" rm a.n 'a.*' a.n
status_is "keys of a foreign model that go with others" 0
refuses "a foreign model is no record of Burn's" edit "$scratch/f.safetensors" rm a.n -o "$scratch/no.mpk" <<END
record: $scratch/f.safetensors: a model of another framework, and NamedMpk holds Burn's
  Use record convert; --adapter none keeps names and layouts.
END
run edit $tiny merge --prefix x "$scratch/f.safetensors" -o "$scratch/both.mpk"
run ls --json "$scratch/both.mpk"
check "what is merged into one is Burn's" grep -q '"key": "x.a.fc.weight", "dtype": "f32", "shape": \[3, 2\]' "$scratch/out"

# --------------------------------------------------------------------------------------------------------- in place

cp $tiny "$scratch/in.mpk"
chmod 640 "$scratch/in.mpk"
ln -s in.mpk "$scratch/link.mpk"
edits "in place" -i "$scratch/link.mpk" set linear.bias 0 <<END
link.mpk -> link.mpk: 2 tensors, SIZE in T s, checked
  set linear.bias 0  2 elements of f32 [2]
END
shows "the file itself" "$scratch/in.mpk" linear.bias '[0.0, 0.0]          f32 [2]'
check "links and modes stay" sh -c "[ -L '$scratch/link.mpk' ] && [ \$(stat -c %a '$scratch/in.mpk') = 640 ]"
cp "$scratch/in.mpk" "$scratch/before"
fails "OUT is never the input by chance" edit "$scratch/in.mpk" set linear.bias 1 -o "$scratch/link.mpk" <<END
record: $scratch/link.mpk is the input
  Use --in-place to replace it.
END
fails "several files: all or none" edit -i "$scratch/in.mpk" "$scratch/new.mpk" set 'linear.bias[0]' 1 <<END
record: linear.bias: the record has no such key
  The record has: a, big, f, h, m, s, z, b
END
same "the first is as it was" "$scratch/before" "$scratch/in.mpk"
run edit -n -i "$scratch/in.mpk" set linear.bias 5
same "--dry-run writes nothing" "$scratch/before" "$scratch/in.mpk"
check "and says so" grep -q 'not written: --dry-run' "$scratch/out"
mkdir "$scratch/folder"
run edit "$scratch/in.mpk" $plain set x 1 -o "$scratch/folder"
check "several files into a directory" [ -f "$scratch/folder/in.mpk" -a -f "$scratch/folder/plain-full.mpk" ]
run edit "$scratch/in.mpk" $plain set x 1 -o "$scratch/new/below/"
check "which is made" [ "$status" = 0 -a -f "$scratch/new/below/in.mpk" -a -f "$scratch/new/below/plain-full.mpk" ]
run edit $plain set x 1 -o "$scratch/one/"
check "one file into a directory that is made" [ "$status" = 0 -a -f "$scratch/one/plain-full.mpk" ]
run edit -n $plain set x 1 -o "$scratch/dry/"
check "--dry-run makes none" [ "$status" = 0 -a ! -e "$scratch/dry" ]
refuses "nor does what fails" edit $plain rm nonesuch -o "$scratch/no-such/" <<END
record: nonesuch: the record has no such key
  The record has: name, count, tiny, short, long, big, single, double, …
END
fails "a directory whose name a file has" edit $plain set x 1 -o "$scratch/in.mpk/" <<END
record: $scratch/in.mpk/plain-full.mpk: cannot inspect the file: Not a directory
END
fails "a directory below a file" edit $plain set x 1 -o "$scratch/in.mpk/below/" <<END
record: $scratch/in.mpk/below/plain-full.mpk: cannot make its directory: Not a directory
END
cp $tiny "$scratch/tiny.dat"
fails "a name without its extension" edit -i "$scratch/tiny.dat" set x 1 <<END
record: $scratch/tiny.dat: it lacks the extension of its recorder, so $scratch/tiny.dat.mpk would be written
  Use --output OUT.
END
"$record" edit - set x 1 --to mpk -o - <$tiny >"$scratch/piped.mpk" 2>"$scratch/err"
shows "from a pipe into a pipe" "$scratch/piped.mpk" x 1

# ------------------------------------------------------------------------------------------------------ bad input

head -c 200 $tiny >"$scratch/cut.mpk"
run edit "$scratch/cut.mpk" set x 1 -o "$scratch/no.mpk"
status_is "a file that was cut" 2
echo hello >"$scratch/text.mpk"
run edit "$scratch/text.mpk" set x 1 -o "$scratch/no.mpk"
status_is "no record" 2
refuses "no operation" edit $tiny rma x -o "$scratch/no.mpk" <<END
record: expected an operation, found "rma": did you mean rm?
  record edit --help shows how it is used.
END
refuses "no output" edit $tiny set x 1 <<END
record: no output: use --output OUT, or --in-place to replace $tiny
  record edit --help shows how it is used.
END
refuses "too few operands" edit $tiny set x -o "$scratch/no.mpk" <<END
record: set needs 2 operands, found 1
  record edit --help shows how it is used.
END
# Metadata keep the type that they have, or get the one before the value.
gguf=$(pwd)/../../../tests/data/gguf/types.gguf
key=$("$record" info --json "$gguf" | tr ',{' '[\n*]' | sed -n 's/^ *"\([a-z.0-9]*\)": *[0-9][0-9]*$/\1/p' | head -1)
printf '["a", "b"]' >"$scratch/words.json"
printf 'u32 is a word here' >"$scratch/words.txt"
run edit "$gguf" meta "$key" 7 meta new.u32 'u32 4096' meta new.words "[str] @$scratch/words.json" \
    meta new.text "@$scratch/words.txt" meta new.str 'str u8 1' -o "$scratch/typed.gguf"
status_is "metadata with a type are set" 0
run edit "$scratch/typed.gguf" meta new.u32 4294967296 -o "$scratch/no.gguf"
status_is "a value that is not of the type is rejected" 2
check "with the type and what to do" grep -qF "meta new.u32: expected a value of its type, u32, found \"4294967296\"" "$scratch/err"
run edit "$scratch/typed.gguf" meta new.u32 'u8 256' -o "$scratch/no.gguf"
check "so is one that is not of the type before it" grep -qF 'expected a value of the type u8, found "256"' "$scratch/err"
run edit "$scratch/typed.gguf" meta new.text "@$scratch/none" -o "$scratch/no.gguf"
check "a file that is not there is an error" grep -q 'none: No such file' "$scratch/err"
check "nothing was written" test ! -e "$scratch/no.gguf"
run diff "$gguf" "$scratch/typed.gguf"
check "a file is a text, whatever it begins with" grep -q 'u32 is a word here' "$scratch/out"
check "str is a text as it stands" grep -q 'u8 1' "$scratch/out"
run convert -q --metadata new.u32=x "$scratch/typed.gguf" "$scratch/no.gguf"
status_is "--metadata keeps types, too" 2
run convert -q --metadata 'new.u32=u8 7' "$scratch/typed.gguf" "$scratch/u8.gguf"
"$record" convert -q --metadata new.u32=7 "$scratch/typed.gguf" "$scratch/u32.gguf"
run diff "$scratch/u8.gguf" "$scratch/u32.gguf"
check "diff reports another type" grep -q 'u8 7.*u32 7' "$scratch/out"

# A new value is rejected where the file could not hold it.
for format in bpk npz; do
    "$record" convert -q $tiny "$scratch/new.$format"
    run edit "$scratch/new.$format" set linear.wieght 1 -o "$scratch/no.$format"
    status_is "a misspelt key in a .$format is an error" 2
    check "… which names the right one" grep -q 'linear.weight' "$scratch/err"
    check "… and nothing is written" test ! -e "$scratch/no.$format"
done

refuses "metadata that are chosen otherwise" edit $tiny meta version 5 -o "$scratch/no.mpk" <<END
record: meta version: it describes how the record is written; use --burn
END
key=$(printf 'a\033[31m\n')
run edit $tiny set "$key" 1 -o "$scratch/hostile.mpk"
check "control characters are not printed" sh -c "! grep -q \"$(printf '\033')\" '$scratch/out'"

# ------------------------------------------------------------------------------------------------------- large files

# header SIZE: the eight bytes before a header, with its length
header() {
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o\\000\\000\\000\\000' $(($1 & 255)) $(($1 >> 8 & 255)) \
        $(($1 >> 16 & 255)) $(($1 >> 24 & 255)))"
}
awk 'BEGIN { printf "{"; for (i = 0; i < 100000; i++) printf "%s\"l.%d.w%d\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[%d,%d]}",
    i ? "," : "", i / 10, i % 10, 8 * i, 8 * i + 8; printf "}" }' >"$scratch/json"
size=$(wc -c <"$scratch/json")
{ header "$size"; cat "$scratch/json"; head -c 800000 /dev/zero; } >"$scratch/many.safetensors"
run edit "$scratch/many.safetensors" rm '*.w3' mv '^l\.' 'layers.' cast '*' f16 set 'layers.7.w1[0]' 2 \
    -o "$scratch/many2.safetensors"
status_is "100,000 tensors" 0
shows "and each is right" "$scratch/many2.safetensors" layers.7.w1 '[2.0, 0.0]          f16 [2]'

free=$(df -Pk "$scratch" | awk 'NR == 2 { print $4 }')
if [ -n "${SANITIZERS:-}" ] || [ "${free:-0}" -lt 2500000 ]; then
    skip "a file of 1 GB" "sanitizers, or too little disk"
else
    printf '{' >"$scratch/json"
    for i in 0 1 2 3 4 5 6 7; do
        printf '%s"l.%d.w":{"dtype":"F32","shape":[4096,8192],"data_offsets":[%d,%d]}' "$([ $i = 0 ] || echo ,)" $i \
            $((i * 134217728)) $((i * 134217728 + 134217728)) >>"$scratch/json"
    done
    printf '}   ' >>"$scratch/json"
    size=$(wc -c <"$scratch/json")
    { header "$size"; cat "$scratch/json"; } >"$scratch/large.safetensors"
    truncate -s $((8 + size + 1073741824)) "$scratch/large.safetensors"
    # Memory of its own: one tensor of 128 MiB, twice while its element is set. What is mapped is the file's.
    check "a file of 1 GB, in 400 MiB" sh -c "ulimit -d 400000; '$record' edit '$scratch/large.safetensors' rm l.7 \
        mv '^l\\.' layers. cast 'layers.[0-5]' f16 set 'layers.6.w[1, 2]' 3 --option sync=no -o '$scratch/small.safetensors'"
    shows "with what was set" "$scratch/small.safetensors" 'layers.6.w[1, 1:4]' '[0.0, 3.0, 0.0]          f32 [3]'
fi

# ---------------------------------------------------------------------------------------------------------------- JSON

need_jq
run edit --json $tiny cast linear f16 meta a b -o "$scratch/j.mpk"
answers "JSON" '[.in, .recorder, .tensors, .burn, .dry, .checked]' "[\"$tiny\",\"NamedMpk\",2,\"0.18.0\",false,true]"
answers "its operations" '.operations | map([.operation, .operands, .changed, .tensors, .infinite])' \
    '[["cast",["linear","f16"],2,2,0],["meta",["a","b"],1,0,0]]'
answers "written is a number" '.written > 100' true
run edit --json $zoo split --by dtype -o "$scratch/type-{}.mpk"
answers "parts" '.parts | map([.part, .tensors])' '[["f32",41],["values",0],["i32",1],["bool",1]]'
cp $tiny "$scratch/in2.mpk"
run edit --json -i "$scratch/in.mpk" "$scratch/in2.mpk" set x 1
answers "several files are a list" 'map(.tensors)' '[2,2]'

run edit 0.21.0/tiny-half.mpk set 'linear.bias[0]' 1e9 -o "$scratch/large.mpk"
status_is "a number that becomes infinite is refused" 2
check "with what it is too large for" grep -q 'too large for f16' "$scratch/err"
check "and nothing is written" [ ! -e "$scratch/large.mpk" ]
run edit 0.21.0/tiny-half.mpk set 'linear.bias[0]' Infinity -o "$scratch/large.mpk"
status_is "infinity itself may be asked for" 0
run edit -n 0.21.0/tiny-full.mpk rm linear.bias
status_is "what writes nothing needs no place for it" 0

cp 0.21.0/tiny-full.mpk "$scratch/linear.mpk"
run edit "$scratch/linear.mpk" split --by key -o "$scratch/{}.mpk"
status_is "a part that would replace its file is refused" 2
same "which stays" 0.21.0/tiny-full.mpk "$scratch/linear.mpk"
mkdir "$scratch/other" "$scratch/into"
cp "$scratch/linear.mpk" "$scratch/other/linear.mpk"
run edit "$scratch/linear.mpk" "$scratch/other/linear.mpk" rm linear.bias -o "$scratch/into/"
status_is "two files of one name do not go into one folder" 2
check "and none is written" [ ! -e "$scratch/into/linear.mpk" ]
run edit 0.21.0/tiny-full.mpk set k "f32[[$(seq -s , 40)]]=0" -o "$scratch/rank.mpk"
status_is "a shape that is not a list of sizes is refused" 2
run edit 0.21.0/tiny-full.mpk set k 1e300f32 -o "$scratch/rank.mpk"
status_is "a number beyond its suffix is refused" 2

finish
