#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Files that Burn did not write: looked at, converted, written.
# shellcheck disable=SC2016,SC2119 # rules have dollars of their own; torch_net without argument is meant
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

torch_net >net.safetensors
torch_net 101 >other.safetensors
cat >net.rs <<END
pub struct Net<B: Backend> {
    fc1: Linear<B>,
    norm: LayerNorm<B>,
    fc2: Linear<B>,
}
pub struct Two<B: Backend> {
    a: Net<B>,
    b: Net<B>,
}
END

# values NAME FILE KEY <<EXPECTED
values() {
    cat >"$scratch/expected"
    run show "$2" "$3"
    same "$1" "$scratch/expected" "$scratch/out"
}

# reports NAME <<EXPECTED: what convert said, without the seconds
reports() {
    cat >"$scratch/expected"
    sed 's/ in [0-9.]* s, / in T s, /' "$scratch/out" >"$scratch/line"
    same "$1" "$scratch/expected" "$scratch/line"
}

# size FILE: as the report says it, below 1 KiB
size() {
    wc -c <"$1" | awk '{ print $1 " bytes" }'
}

# ------------------------------------------------------------------------------------------------------------- looking

prints "ls lists what is in the file" ls net.safetensors <<END
KEY                 DTYPE  SHAPE   PARAMETERS
fc1.weight          f32    [4, 3]          12
fc1.bias            f32    [4]              4
norm.{weight,bias}  f32    [4]          2 × 4
fc2.weight          f32    [2, 4]           8
fc2.bias            f32    [2]              2
6 tensors, 34 parameters, 136 bytes      (--all lists every one)
END
prints "with a type it lists what becomes of it" ls --type net.rs:Net net.safetensors <<END
KEY                DTYPE  SHAPE   PARAMETERS
fc1.weight         f32    [3, 4]          12
fc1.bias           f32    [4]              4
norm.{gamma,beta}  f32    [4]          2 × 4
fc2.weight         f32    [4, 2]           8
fc2.bias           f32    [2]              2
6 tensors, 34 parameters, 136 bytes; 1 nil      (--all lists every one)
END
run ls --remap 'fc1 => first' net.safetensors
check "a load argument counts too" grep -q '^first\.weight  *f32  *\[3, 4\]' "$scratch/out"
run info net.safetensors
check "info says that it is no record of Burn" grep -q '^net.safetensors .*another framework, not a record of Burn$' "$scratch/out"
check "and how to see what becomes of it" grep -q 'record plan net.safetensors' "$scratch/out"
values "show shows the file's values" net.safetensors fc2.weight <<END
[[50.0, 51.0, 52.0, 53.0],
 [54.0, 55.0, 56.0, 57.0]]          f32 [2, 4]
END
run types net.safetensors
check "types shows the type of what becomes of it" grep -q 'fc1: nn::Linear<B>' "$scratch/out"

# ---------------------------------------------------------------------------------------------------------- converting

run convert net.safetensors net.mpk
status_is "PyTorch's file becomes a record in one command" 0
reports "which says what was done, and why" <<END
net.safetensors -> net.mpk: 6 tensors, $(size net.mpk) in T s, checked
  6 tensors: 6 mapped, 0 dropped; 0 unexpected, 0 missing
  2 renamed (LayerNorm, by its shape); 2 transpose (Linear, by its shape)
END
check "what was assumed is a note" grep -q '^record: note: no type and no module rule names the modules' "$scratch/err"
values "weights of Linear are transposed" net.mpk fc2.weight <<END
[[50.0, 54.0],
 [51.0, 55.0],
 [52.0, 56.0],
 [53.0, 57.0]]          f32 [4, 2]
END
values "norms have Burn's names" net.mpk norm.gamma <<END
[30.0, 31.0, 32.0, 33.0]          f32 [4]
END
run info net.mpk
check "it is a record of Burn 0.21" grep -q 'NamedMpk record, written by Burn 0.21.0$' "$scratch/out"
run convert -q net.safetensors quiet.mpk
same "--quiet says nothing" /dev/null "$scratch/out"
same "nor on standard error" /dev/null "$scratch/err"
run convert --type net.rs:Net net.safetensors typed.mpk
same "with a type nothing is assumed" /dev/null "$scratch/err"
check "and the report names the modules" grep -q '^  2 renamed (LayerNorm); 2 transpose (Linear)$' "$scratch/out"
"$record" convert --to mpk - - <net.safetensors >stream.mpk 2>"$scratch/err"
"$record" ls --json stream.mpk | sed 's/"id": "[^"]*"//' >"$scratch/first"
"$record" ls --json net.mpk | sed 's/"id": "[^"]*"//' >"$scratch/second"
same "so does standard input" "$scratch/second" "$scratch/first"
run convert --type net.rs:Net net.safetensors net.bin
status_is "with a type it becomes a file without names as well" 0
run convert --type net.rs:Net net.bin back.mpk
values "which holds the same" back.mpk norm.beta <<END
[40.0, 41.0, 42.0, 43.0]          f32 [4]
END
run convert --debug --drop . net.safetensors none.mpk
status_is "a plan with a problem is an error" 2
check "that says what it is" grep -q '^record: none of 6 tensors is mapped' "$scratch/err"
check "nothing is written" [ ! -e none.mpk ]
run convert --debug --adapter none net.safetensors debug.mpk
"$record" plan --debug --adapter none net.safetensors >"$scratch/expected"
sed '/^net.safetensors -> /,$d' "$scratch/out" >"$scratch/debug"
same "--debug prints what the plan's does, before the report" "$scratch/expected" "$scratch/debug"
run convert --remap 'fc2 => fc1' --remap 'norm => fc1' net.safetensors none.mpk
check "each problem is listed" [ "$(grep -c '^record: .* sources for' "$scratch/err")" -ge 2 ]
echo old >old.mpk
cp old.mpk "$scratch/expected"
run convert --type net.rs:Net --drop '^norm' net.safetensors old.mpk
status_is "what the type wants and the file lacks is an error" 2
same "and leaves the old file" "$scratch/expected" old.mpk

# ------------------------------------------------------------------------------------------------------ several inputs

run convert --prefix a net.safetensors --prefix b other.safetensors both.mpk
status_is "several inputs become one record" 0
reports "which the report says" <<END
net.safetensors + other.safetensors -> both.mpk: 12 tensors, $(wc -c <both.mpk | awk '{ printf "%.2f KiB", $1 / 1024 }') in T s, checked
  12 tensors: 12 mapped, 0 dropped; 0 unexpected, 0 missing
  4 renamed (LayerNorm, by its shape); 4 transpose (Linear, by its shape); 4 renamed (Linear, by its shape)
END
values "the first below its prefix" both.mpk 'a.fc1.weight[0]' <<END
[ 1.0,  4.0,  7.0, 10.0]          f32 [4]
END
values "the second below its own" both.mpk 'b.fc1.weight[0]' <<END
[101.0, 104.0, 107.0, 110.0]          f32 [4]
END
run convert net.safetensors --prefix b other.safetensors --type net.rs:Two two.mpk
status_is "a prefix is for the input behind it alone" 2
run convert --prefix a net.safetensors --prefix b other.safetensors --type net.rs:Two two.mpk
status_is "a type is for what they become" 0
run convert --remap '^ => a.' net.safetensors --remap '^ => b.' other.safetensors --remap 'fc(\d) => f$1' rules.mpk
run ls --all rules.mpk
check "what stands behind the last input is for all of them" [ "$(grep -cE '^[ab]\.f[12]\.' "$scratch/out")" = 8 ]
run convert net.safetensors other.safetensors clash.mpk
status_is "two inputs with the same keys are an error" 2
check "that says so" grep -q '2 sources for fc1.weight' "$scratch/err"

torch_net 201 | "$record" convert -q --to mpk - - >base.mpk 2>/dev/null
run convert --drop '^(norm|fc2)' --base base.mpk net.safetensors based.mpk
status_is "--base gives what no input gives" 0
check "which the report says" grep -qE '; 0 unexpected, 0 missing, 4 kept from the base' "$scratch/out"
values "the input's values are taken" based.mpk 'fc1.weight[0]' <<END
[ 1.0,  4.0,  7.0, 10.0]          f32 [4]
END
values "the base's stay" based.mpk norm.beta <<END
[40.0, 41.0, 42.0, 43.0]          f32 [4]
END

# ------------------------------------------------------------------------------------------------------------- writing

run convert net.safetensors again.safetensors
status_is "a foreign file can be written again" 0
"$record" ls --all net.safetensors | sort >"$scratch/raw"
"$record" ls --all again.safetensors | sort >"$scratch/second"
same "as it is" "$scratch/raw" "$scratch/second"
run info again.safetensors
check "still not as a record" grep -q 'not a record of Burn$' "$scratch/out"
run convert "$data/0.21.0/plain-full.mpk" plain.safetensors
status_is "a record can be written as safetensors" 0
run info plain.safetensors
check "and is still a record" grep -q 'Safetensors record, written by Burn 0.21.0$' "$scratch/out"
run convert plain.safetensors plain.mpk
"$record" ls -q --json "$data/0.21.0/plain-full.mpk" >"$scratch/first"
"$record" ls -q --json plain.mpk >"$scratch/second"
same "so that all comes back" "$scratch/first" "$scratch/second"

run convert --metadata author=me --metadata license=MIT "$data/0.21.0/tiny-full.mpk" meta.mpk
run info meta.mpk
check "metadata can be set" grep -q '^metadata .*author = me$' "$scratch/out"
check "several of them" grep -q '^ .*license = MIT$' "$scratch/out"
run convert --metadata author= meta.mpk less.mpk
run info less.mpk
check "and removed" [ "$(grep -c 'author' "$scratch/out")" = 0 ]
check "alone" grep -q '^metadata .*license = MIT$' "$scratch/out"
run convert --metadata author=me net.safetensors meta.safetensors
run info meta.safetensors
check "in a foreign file too" grep -q 'author = me$' "$scratch/out"
fails "metadata without a value" convert --metadata author net.safetensors x.mpk <<END
record: --metadata: expected KEY=VALUE, found "author"
END

run convert --metadata author=me --type net.rs:Net net.safetensors meta.bin
status_is "data without names can hold no metadata of one's own" 0
check "which is said" grep -q "^record: note: 1 entry of metadata, \`author\`: left out" "$scratch/err"
run convert -q --type net.rs:Net net.safetensors plain.bin
check "and they are as without" cmp meta.bin plain.bin
run convert -q --metadata author=me --type net.rs:Net net.safetensors named.mpk
run embed --to bin --type net.rs:Net --output embedded.c named.mpk
check "nor has a program that they are embedded in" grep -q "^record: note: 1 entry of metadata, \`author\`: left out" \
    "$scratch/err"
while read -r key option; do
    fails "what tells how a record is written is not set: $key" convert --metadata "$key=1" "$data/0.21.0/tiny-full.mpk" \
        refused.mpk <<END
record: --metadata $key: it describes how the record is written; use --$option
END
done <<END
version burn
format to
float precision
int precision
settings precision
END
check "and nothing is written" [ ! -e refused.mpk ]

# Words of another program that Burn has, too.
st_begin
st_metadata '{"version":"0.7.3","float":"f64","int":"i64","settings":"mine","format":"pt","author":"me"}'
st_tensor fc.weight "2, 3" 6
st_tensor fc.bias 2 2
st_end >words.safetensors
run info words.safetensors
check "they say nothing of Burn there" [ "$(grep -c 'Burn 0\|double' "$scratch/out")" = 0 ]
check "but are shown" grep -q 'version = 0.7.3$' "$scratch/out"
for precision in keep full; do
    run convert --precision $precision words.safetensors words.mpk
    check "nor of the record at precision $precision" grep -q '^words.safetensors -> words.mpk' "$scratch/out"
    run info words.mpk
    check "that becomes of it" grep -q 'written by Burn 0.21.0$' "$scratch/out"
    check "whose precision is that of its tensors" grep -q '^precision *full (f32, i32)$' "$scratch/out"
    check "and which has the rest" grep -q 'author = me$' "$scratch/out"
done
run convert --metadata version=2 words.safetensors words-2.safetensors
run info words-2.safetensors
check "in a file of its own kind they can be set" grep -q 'version = 2$' "$scratch/out"

mkdir model
run convert --max-shard-size 100 net.safetensors model/model.safetensors
status_is "a model can be written in several files" 0
reports "the report names their index" <<END
net.safetensors -> model/model.safetensors.index.json: 6 tensors in T s, checked
END
check "with an index" [ -f model/model.safetensors.index.json ]
check "and more than one part" [ "$(find model -name '*-of-*' | wc -l)" -ge 2 ]
run convert --type net.rs:Net net.safetensors typed.safetensors
run convert --metadata librecord.import= --type net.rs:Net typed.safetensors typed.mpk
status_is "a record in safetensors is still one by its type" 0
run convert --metadata librecord.import= --type net.rs:Net net.safetensors straight.mpk
check "with the ids that its tensors get" cmp straight.mpk typed.mpk
cp -r model older
run convert net.safetensors older/model.safetensors
check "a file written whole beside an older index is told" grep -q 'index.json is the index of an older set' "$scratch/err"
for from in model model/model.safetensors.index.json; do
    "$record" ls --all "$from" | sort >"$scratch/second"
    same "which $from lists" "$scratch/raw" "$scratch/second"
    run convert -q --type net.rs:Net "$from" sharded.mpk
    values "and converts" sharded.mpk fc2.bias <<END
[60.0, 61.0]          f32 [2]
END
done

mkdir -p many/below
cp net.safetensors many/a.safetensors
cp "$data/0.21.0/tiny-full.mpk" many/below/tiny.mpk
cp -r model many/sharded
echo text >many/notes.txt
run convert --recursive --to mpk --module 'fc => Linear' --module 'norm => LayerNorm' many out
status_is "a directory is converted" 0
check "what Burn did not write, with the load arguments" grep -qE '^a.safetensors +converted +-> a.mpk: 6 tensors' "$scratch/out"
check "and what it did" grep -qE '^below/tiny.mpk +converted ' "$scratch/out"
check "a model in several files, once" grep -qE '^sharded/model.safetensors.index.json +converted +-> sharded/model.mpk: 6 ' "$scratch/out"
check "not its parts" grep -qE '^sharded/model-0+1-of-.* skipped +a part of sharded/model.safetensors.index.json$' "$scratch/out"
values "with its values" out/sharded/model.mpk 'fc2.weight[0]' <<END
[50.0, 54.0]          f32 [2]
END
run convert --recursive --max-shard-size 100 --drop nothing many parts
check "what is written in several files is told by its index" \
    grep -qE '^a.safetensors +converted +-> a.safetensors.index.json: 6 tensors$' "$scratch/out"
run convert --recursive --to mpk many assumed
check "a note says which file it is about" grep -q '^record: note: a.safetensors: no type and no module rule' "$scratch/err"
run convert --recursive many kept
same "from safetensors to safetensors nothing is assumed" /dev/null "$scratch/err"
run convert net.safetensors kept/one.safetensors
check "nor adapted, as with one file" cmp kept/one.safetensors kept/a.safetensors

# Load arguments: a directory gives the files that its records give one by one, whoever wrote them.
mkdir folder
run convert -q --type net.rs:Net net.safetensors folder/ours.mpk
cp net.safetensors folder/theirs.safetensors
printf '[profile own]\nhas = ^fc1\\.weight$\nrename = ^fc1\\. => first.\n' >own.ini
# alike NAME OPTION...
alike() {
    alike_name=$1
    shift
    rm -rf single many into
    mkdir single
    run convert -q "$@" --to npz folder/ours.mpk single/ours
    run convert -q "$@" --to npz folder/theirs.safetensors single/theirs
    check "$alike_name: each file by itself" [ -f single/ours.npz ] && [ -f single/theirs.npz ]
    run convert -q -r "$@" --to npz folder many
    check "$alike_name: --recursive" diff -r single many
    run convert -q "$@" --to npz folder/ours.mpk folder/theirs.safetensors into/
    check "$alike_name: files into a directory" diff -r single into
    rm -rf into
    run convert -q folder/ours.mpk folder/theirs.safetensors into/ --to npz "$@"
    check "$alike_name: options after the inputs" diff -r single into
}
alike "without load arguments"
alike --type --type net.rs:Net
alike --reverse --type net.rs:Net --reverse
alike --adapter --adapter none --remap '^norm => nrm'
alike --prefix --prefix a.b
alike --select --select fc1
alike --drop --drop '^fc2'
alike --module --module '^fc => Linear'
alike --rule --rule 'rename = ^fc2 => head'
alike --profile --profile own.ini:own
alike --partial --partial --type net.rs:Net --drop '^fc2'
alike --from --from auto --gaps keep

# refuses NAME EXPECTED OPTION...: what cannot be done is rejected before anything is written.
refuses() {
    refuses_name=$1
    refuses_what=$2
    shift 2
    rm -rf many
    run convert --to mpk "$@"
    status_is "$refuses_name is an error" 2
    check "$refuses_name: the message" grep -qF -e "$refuses_what" "$scratch/err"
    check "$refuses_name: nothing is written" [ ! -e many ]
}
refuses "a directory and --base" "--base is for one output" -r --base folder/ours.mpk folder many
refuses "a directory and --debug" "--debug prints the keys of one model" -r --debug folder many
refuses "a directory and --type-of" "--type-of gives the type of one record" -r --type-of folder/ours.mpk folder many
refuses "a directory and --types alone" "--types only defines types" -r --types net.rs folder many
refuses "a directory and a profile that there is not" 'unknown profile "nosuch"' -r --profile nosuch folder many
refuses "a directory and a broken rule" "rule" -r --remap '( => x' folder many
refuses "a directory and a recorder that there is not" "nosuch" -r --from nosuch folder many
refuses "an argument between inputs" "--prefix stands between inputs" folder/ours.mpk --prefix a folder/ours.mpk many/

# Errors and notes are those of one file, those of several files once.
{
    st_begin
    st_tensor emb.weight '3, 2' 6
    st_tensor head.weight '2, 2' 4
    st_end
} >folder/x.safetensors
cp folder/x.safetensors folder/y.safetensors
run convert folder/x.safetensors x.mpk
sed 's/^record: /record: x.safetensors: /' "$scratch/err" >"$scratch/expected"
echo '  Likewise 1 more.' >>"$scratch/expected"
run convert -r --to mpk --include '[xy].*' folder many
same "errors have their hints" "$scratch/expected" "$scratch/err"
status_is "and count" 2
cp net.safetensors folder/again.safetensors
run convert -r --to mpk --include '*s.safetensors' --include 'again.*' folder many
check "notes are printed once" [ "$(grep -c 'note: .*no type and no module rule' "$scratch/err")" = 1 ]
check "with the number of others" grep -q 'note: again.safetensors: .* (likewise 1 more)$' "$scratch/err"
echo text >folder/text
run convert -r --to mpk --include text folder many
status_is "a file of a directory that is no record is left out" 0
run convert folder/text many/ --to mpk
status_is "one that was named fails" 2
check "as it does by itself" grep -q '^record: folder/text: ' "$scratch/err"

# ---------------------------------------------------------------------------------------------------------------- parts

run convert --partial --drop '^fc2' --type net.rs:Net net.safetensors part.mpk
status_is "what is missing is left out of a partial record" 0
run ls part.mpk
check "which has the rest" grep -q '^4 tensors' "$scratch/out"
run convert --partial --drop '^fc2' --type net.rs:Net net.safetensors part.bin
status_is "a file without names cannot leave anything out" 2
run convert --base typed.mpk --drop '^fc2' --type net.rs:Net net.safetensors based.mpk
check "with a base the report does not take its version for the input's" \
    grep -q '^net.safetensors -> based.mpk: 6 tensors' "$scratch/out"

# ------------------------------------------------------------------------------------------------------------ profiles

cat >family.ini <<END
[profile net]
description = the net of this test
rename = ^fc(\d)\. => layer\$1.
module = ^layer\d\$ => Linear
module = ^norm\$ => LayerNorm
END
run convert --profile family.ini:net net.safetensors family.mpk
status_is "a profile of one's own" 0
run ls family.mpk
check "is followed" grep -qE '^layer1\.weight +f32 +\[3, 4\]' "$scratch/out"
run convert --profile family.ini:net --reverse family.mpk reversed.safetensors
status_is "and its reverse" 0
"$record" ls --all reversed.safetensors | sort >"$scratch/second"
same "gives the names back" "$scratch/raw" "$scratch/second"
values "and the layout" reversed.safetensors fc2.weight <<END
[[50.0, 51.0, 52.0, 53.0],
 [54.0, 55.0, 56.0, 57.0]]          f32 [2, 4]
END

run convert --profile bert net.safetensors wrong.mpk
status_is "a profile of another family is refused" 2
check "which says what the family always has" \
    grep -q '^record: the profile bert is for a model that has `encoder' "$scratch/err"
check "and what it may be instead" grep -q 'Is it another family' "$scratch/err"
check "nothing is written" [ ! -e wrong.mpk ]
run convert --profile bert --reverse net.mpk wrong.safetensors
status_is "backwards too" 2
check "since the record becomes none of that family" grep -q 'and net.mpk becomes none$' "$scratch/err"
run convert --partial --profile family.ini:net --rule 'require = ^fc9' net.safetensors wrong.mpk
status_is "a part of a model is a partial load" 0
check "with a note" grep -q '^record: note: rule 4 requires `^fc9`, and net.safetensors has no such key' "$scratch/err"
run convert --profile family.ini:net --rule 'require = ^fc9' net.safetensors wrong.mpk
status_is "else it is an error" 2
cat >other.ini <<END
[profile other]
require = ^layer1
module = ^layer1\$ => Linear
END
torch_deep() {
    st_begin
    for st_layer in 1 4 5; do
        st_tensor "layer$st_layer.weight" "2, 3" 6
    done
    st_end
}
torch_deep >deep.safetensors
run convert --profile other.ini:other deep.safetensors wrong.mpk
status_is "a profile that leaves weights open is refused" 2
check "which names them" grep -q '^record: layer4 and 1 like it: a weight of rank 2 without a bias' "$scratch/err"
run convert --profile other.ini:other --module 'layer[45] => Linear' deep.safetensors all.mpk
status_is "rules settle them" 0
run convert --set heads=4 --profile family.ini:net net.safetensors set.mpk
status_is "a number that no rule asks for" 0
check "is told" grep -q '^record: note: no rule uses the number `heads`, which was set$' "$scratch/err"
run convert --strict --set heads=4 --profile family.ini:net net.safetensors set.mpk
status_is "and refused where it is strict" 2
cat >plain.ini <<END
[profile plain]
rename = ^nothing => something
END
run convert --adapter none --profile plain.ini:plain --reverse net.mpk plain.safetensors
status_is "backwards, a profile whose rules change nothing is refused" 2
check "and says so" grep -q 'no rule of the profile plain matched anything in net.mpk' "$scratch/err"

# ----------------------------------------------------------------------------------------------------- rounded once

# Integers where floats are wanted, and the other way round: 2^24 + 1 (f32 has no such number), 16777217.5, 10^-300.
st_begin
st_entry counts I64 2 16
st_bytes="$st_bytes\\001\\000\\000\\001\\000\\000\\000\\000\\377\\377\\377\\376\\377\\377\\377\\377"
st_entry steps F64 1 8
st_bytes="$st_bytes\\000\\000\\000\\030\\000\\000\\160\\101"
st_entry mask F64 1 8
st_bytes="$st_bytes\\131\\363\\370\\302\\037\\156\\245\\001"
st_end >kinds.safetensors
cat >kinds.rs <<END
pub struct Kinds<B: Backend> {
    counts: Param<Tensor<B, 1>>,
    steps: Param<Tensor<B, 1, Int>>,
    mask: Param<Tensor<B, 1, Bool>>,
}
END
for precision in double full half keep; do
    run convert --precision $precision --type kinds.rs:Kinds kinds.safetensors kinds-$precision.mpk
    case $precision in
    half) status_is "at half precision an integer that does not fit is refused" 2 ;;
    *) status_is "kinds of elements change at precision $precision" 0 ;;
    esac
done
values "integers become f64 exactly" kinds-double.mpk counts <<END
[ 16777217.0, -16777217.0]          f64 [2]
END
values "and f32 by the nearest" kinds-full.mpk counts <<END
[ 16777216.0, -16777216.0]          f32 [2]
END
values "floats become integers without a narrower float between" kinds-full.mpk steps <<END
[16777217]          i32 [1]
END
values "what is not zero is true" kinds-full.mpk mask <<END
[true]          bool [1]
END
for precision in double full; do
    "$record" show --precision $precision --type kinds.rs:Kinds kinds.safetensors >loaded
    "$record" show kinds-$precision.mpk >"$scratch/expected"
    same "loading at precision $precision gives the same" "$scratch/expected" loaded
done

families=${LIBRECORD_SHARED:-$srcdir/../shared}/data/families
if [ -d "$families" ]; then
    for family in bert llama resnet whisper sequential-gaps; do
        model=$(find "$families/$family" -maxdepth 1 -name '*.safetensors' ! -name '*-of-*')
        drop=
        [ "$family" = mha ] && drop='--drop bias_[kv]$' # one of its modules has add_bias_kv, which Burn does not have
        # shellcheck disable=SC2086 # two words or none
        run convert $drop --profile "$family" "${model:-$families/$family}" family.mpk
        status_is "$family becomes a record" 0
        same "without a word of doubt" /dev/null "$scratch/err"
    done
else
    skip "real families" "$families is not there"
fi

# ---------------------------------------------------------------------------------------------------------------- JSON

need_jq
run convert --json --drop '^norm' net.safetensors json.mpk
answers "--json has the plan's sums" '.plan | [.tensors, .mapped, .dropped, .fatal]' '[6,4,2,0]'
answers "and problems, and notes" '[(.problems | type), (.notes[0].kind)]' '["array","adapted"]'
run convert --json --prefix a net.safetensors --prefix b other.safetensors json.mpk
answers "and all inputs" '.inputs' '["net.safetensors","other.safetensors"]'
run info --json net.safetensors
answers "info says that it is foreign" '[.foreign, .burn, .tensors]' '[true,null,6]'

finish
