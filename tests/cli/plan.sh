#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record plan
# shellcheck disable=SC2016,SC2119 # rules have dollars of their own; torch_net without argument is meant
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
cd "$scratch" || exit 99

torch_net >net.safetensors
cat >net.rs <<END
pub struct Net<B: Backend> {
    fc1: Linear<B>,
    norm: LayerNorm<B>,
    fc2: Linear<B>,
}
END

# decides NAME ARGUMENT... <<EXPECTED: the plan needs a decision: status 1, that on standard output, nothing else
decides() {
    name=$1
    shift
    cat >"$scratch/expected"
    run "$@"
    if [ "$status" != 1 ] || [ -s "$scratch/err" ]; then
        echo "status $status" >>"$scratch/err"
        not_ok "$name" "$scratch/err"
    else
        same "$name" "$scratch/expected" "$scratch/out"
    fi
}

# ----------------------------------------------------------------------------------------------------------- the table

prints "modules are recognised by their shapes, and it is said" plan net.safetensors <<END
KEY                 IS          BECOMES            AS      WHY
fc1.weight          f32 [4, 3]  fc1.weight         [3, 4]  Linear, by its shape: transpose
fc1.bias            f32 [4]     fc1.bias                   Linear, by its shape
norm.{weight,bias}  f32 [4]     norm.{gamma,beta}          LayerNorm, by its shape
fc2.weight          f32 [2, 4]  fc2.weight         [4, 2]  Linear, by its shape: transpose
fc2.bias            f32 [2]     fc2.bias                   Linear, by its shape
note: no type and no module rule names the modules; recognised by name and shape: Linear (transposed) 2, norms (renamed) 1, embeddings and the like (unchanged) 0
6 tensors: 6 mapped, 0 dropped; 0 unexpected, 0 missing      (--all lists every one)
END
prints "a type says what modules are" plan --type net.rs:Net net.safetensors <<END
KEY                 IS          BECOMES            AS      WHY
fc1.weight          f32 [4, 3]  fc1.weight         [3, 4]  Linear: transpose
fc1.bias            f32 [4]     fc1.bias                   Linear
norm.{weight,bias}  f32 [4]     norm.{gamma,beta}          LayerNorm
fc2.weight          f32 [2, 4]  fc2.weight         [4, 2]  Linear: transpose
fc2.bias            f32 [2]     fc2.bias                   Linear
6 tensors: 6 mapped, 0 dropped; 0 unexpected, 0 missing      (--all lists every one)
END
prints "rules are named by their numbers" plan --module '^layers\. => Linear' --remap '^fc(\d)\. => layers.$1.' \
    --drop '^norm\.' --all net.safetensors <<END
KEY          IS          BECOMES          AS      WHY
fc1.weight   f32 [4, 3]  layers.0.weight  [3, 4]  Linear, rule 2: gap, transpose
fc1.bias     f32 [4]     layers.0.bias            Linear, rule 2: gap
fc2.weight   f32 [2, 4]  layers.1.weight  [4, 2]  Linear, rule 2: gap, transpose
fc2.bias     f32 [2]     layers.1.bias            Linear, rule 2: gap
norm.weight  f32 [4]     (dropped)                rule 3
norm.bias    f32 [4]     (dropped)                rule 3
6 tensors: 4 mapped, 2 dropped; 0 unexpected, 0 missing
END
cat >"$scratch/as-it-is" <<END
KEY                 IS          BECOMES
fc1.weight          f32 [4, 3]  fc1.weight
fc1.bias            f32 [4]     fc1.bias
norm.{weight,bias}  f32 [4]     norm.{weight,bias}
fc2.weight          f32 [2, 4]  fc2.weight
fc2.bias            f32 [2]     fc2.bias
6 tensors: 6 mapped, 0 dropped; 0 unexpected, 0 missing      (--all lists every one)
END
prints "without adapter nothing happens" plan --adapter none net.safetensors <"$scratch/as-it-is"
prints "between two foreign files nothing is adapted" plan --to safetensors net.safetensors <"$scratch/as-it-is"
prints "what is split has a line for each part, folded" plan --adapter none \
    --rule 'split = ^fc1\.(weight|bias)$ | rows a b => $1.%' --drop '^(norm|fc2)' net.safetensors <<END
KEY                 IS          BECOMES       AS      WHY
fc1.weight          f32 [4, 3]  weight.{a,b}  [2, 3]  rule 1: split
fc1.bias            f32 [4]     bias.{a,b}    [2]     rule 1: split
norm.{weight,bias}  f32 [4]     (dropped)             rule 2
fc2.weight          f32 [2, 4]  (dropped)             rule 2
fc2.bias            f32 [2]     (dropped)             rule 2
6 tensors: 2 mapped to 4, 4 dropped; 0 unexpected, 0 missing      (--all lists every one)
END

st_begin
st_tensor w "6, 2" 12
st_end >one.safetensors
echo 'pub struct Part<B: Backend> { a: Linear<B> }' >part.rs
prints "parts that nothing asks for are not so many tensors" plan --adapter none --type part.rs:Part \
    --rule 'split = ^w$ | rows a b c => %.weight' one.safetensors <<END
KEY  IS          BECOMES     AS      WHY
w    f32 [6, 2]  a.weight    [2, 2]  rule 1: split a
w    f32 [6, 2]  (left out)          the type has no b.weight
w    f32 [6, 2]  (left out)          the type has no c.weight
note: 2 keys are not in the type, and left out: b.weight, c.weight
1 tensor: 1 mapped, 0 dropped; 2 unexpected, 0 missing
END
"$record" convert -q --type net.rs:Net net.safetensors base.mpk
run plan --adapter none --base base.mpk --drop . net.safetensors
check "what the base has is not subtracted from the sources" grep -q '^6 tensors: 0 mapped, 6 dropped; 0 unexpected, 0 missing, 6 kept' \
    "$scratch/out"

# layers N...
layers() {
    st_begin
    for layer in "$@"; do
        st_tensor "net.$layer.fc.weight" "2, 3" 6
        st_tensor "net.$layer.fc.bias" 2 2
        st_counter "net.$layer.bn.num_batches_tracked"
    done
    st_end
}
layers 0 2 4 >gaps.safetensors
prints "repeated layers are one line, and closed gaps are shown" plan --module 'fc$ => Linear' --drop tracked \
    gaps.safetensors <<END
KEY                               IS          BECOMES              AS      WHY
net.{0,2,4}.fc.weight         ×3  f32 [2, 3]  net.{0-2}.fc.weight  [3, 2]  Linear: transpose
net.{0,2,4}.fc.bias           ×3  f32 [2]     net.{0-2}.fc.bias            Linear
net.#.bn.num_batches_tracked  ×3  i64 []      (dropped)                    rule 2
9 tensors: 6 mapped, 3 dropped; 0 unexpected, 0 missing      (--all lists every one)
END
layers 0 1 2 >layers.safetensors
prints "what is stacked names all it is made of" plan --adapter none --rule 'stack = ^net\.([0-9]+)\.(fc.*) => net.$2' \
    --drop tracked layers.safetensors <<END
KEY                               IS          BECOMES        AS         WHY
net.{0-2}.fc.bias                 f32 [2]     net.fc.bias    [3, 2]     rule 1: stack
net.{0-2}.fc.weight               f32 [2, 3]  net.fc.weight  [3, 2, 3]  rule 1: stack
net.#.bn.num_batches_tracked  ×3  i64 []      (dropped)                 rule 2
9 tensors: 6 mapped to 2, 3 dropped; 0 unexpected, 0 missing      (--all lists every one)
END
st_begin
for part in q k v; do
    st_tensor "l.${part}_proj.weight" "2, 2" 4
done
st_end >parts.safetensors
prints "what is joined names all it is made of" plan --adapter none --rule 'join = ^l\.%_proj\.weight | rows q k v => l.qkv' \
    parts.safetensors <<END
KEY                    IS          BECOMES  AS      WHY
l.{q,k,v}_proj.weight  f32 [2, 2]  l.qkv    [6, 2]  rule 1: join
3 tensors: 3 mapped to 1, 0 dropped; 0 unexpected, 0 missing
END
prints "one by one with --all" plan --all --adapter none --rule 'join = ^l\.%_proj\.weight | rows q k v => l.qkv' \
    parts.safetensors <<END
KEY                                                IS          BECOMES  AS      WHY
l.q_proj.weight, l.k_proj.weight, l.v_proj.weight  f32 [2, 2]  l.qkv    [6, 2]  rule 1: join
3 tensors: 3 mapped to 1, 0 dropped; 0 unexpected, 0 missing
END
st_begin
for part in alpha bravo charlie delta echo foxtrot golf hotel india juliett; do
    st_tensor "$part.weight" "2" 2
done
st_end >many.safetensors
prints "of many with long names the first" plan --adapter none many.safetensors \
    --rule 'join = ^%\.weight | rows alpha bravo charlie delta echo foxtrot golf hotel india juliett => all' <<END
KEY                      IS       BECOMES  AS    WHY
alpha.weight and 9 more  f32 [2]  all      [20]  rule 1: join
10 tensors: 10 mapped to 1, 0 dropped; 0 unexpected, 0 missing
END
mkdir -p here there
cp parts.safetensors here/net.safetensors
cp many.safetensors there/net.safetensors
run plan --adapter none here/net.safetensors there/net.safetensors
check "files of one name are told apart by their folders" sh -c \
    'grep -q "^here/net.safetensors  *l" "$1" && grep -q "^there/net.safetensors  *{" "$1"' - "$scratch/out"
# on_terminal COLUMNS ARGUMENT...: what a terminal of that width shows
on_terminal() {
    columns=$1
    shift
    TERM=xterm script -qec "stty cols $columns; '$record' $*" /dev/null </dev/null | tr -d '\r' >"$scratch/out"
}
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    on_terminal 60 plan --color=never --module "'fc\$ => Linear'" --drop tracked gaps.safetensors
    cat >"$scratch/expected" <<END
net.{0,2,4}.fc.weight ×3  f32 [2, 3]
    -> net.{0-2}.fc.weight  [3, 2]  Linear: transpose
net.{0,2,4}.fc.bias ×3  f32 [2]
    -> net.{0-2}.fc.bias  Linear
net.#.bn.num_batches_tracked ×3  i64 []
    (dropped)  rule 2
9 tensors: 6 mapped, 3 dropped; 0 unexpected, 0 missing      (--all lists every one)
END
    same "a terminal that is too narrow for the table gets two lines for each" "$scratch/expected" "$scratch/out"
    on_terminal 120 plan --color=never --drop tracked gaps.safetensors
    check "one that is wide enough the table" grep -q "^KEY  *IS  *BECOMES  *AS  *WHY" "$scratch/out"
else
    skip "a plan on a narrow terminal" "there is no script(1)"
fi
prints "each input has the arguments before it, and each key its file" plan --prefix a net.safetensors \
    --prefix b --drop tracked layers.safetensors --adapter none <<END
FILE                KEY                               IS          BECOMES               WHY
net.safetensors     fc1.weight                        f32 [4, 3]  a.fc1.weight
net.safetensors     fc1.bias                          f32 [4]     a.fc1.bias
net.safetensors     norm.{weight,bias}                f32 [4]     a.norm.{weight,bias}
net.safetensors     fc2.weight                        f32 [2, 4]  a.fc2.weight
net.safetensors     fc2.bias                          f32 [2]     a.fc2.bias
layers.safetensors  net.#.fc.weight               ×3  f32 [2, 3]  b.net.#.fc.weight
layers.safetensors  net.#.fc.bias                 ×3  f32 [2]     b.net.#.fc.bias
layers.safetensors  net.#.bn.num_batches_tracked  ×3  i64 []      (dropped)             rule 1
15 tensors: 12 mapped, 3 dropped; 0 unexpected, 0 missing      (--all lists every one)
END

"$record" plan net.safetensors >"$scratch/plain"
"$record" plan - <net.safetensors >"$scratch/stream"
same "standard input has the same plan" "$scratch/plain" "$scratch/stream"
fails "which can be read only once" plan - - <<END
record: standard input can be read only once
END
cp "$data/0.18.0/mnist.mpk" .
run plan mnist.mpk
check "values that go along are only counted" grep -q '^24 tensors: 24 mapped, .*; 43 values ' "$scratch/out"
run plan --all mnist.mpk
check "--all lists them" grep -qE '^num_classes +value +num_classes$' "$scratch/out"

# ------------------------------------------------------------------------------------------------------------ problems

decides "two sources of one key" plan --remap 'fc2 => fc1' --adapter none net.safetensors <<END
KEY                 IS          BECOMES
fc1.weight          f32 [4, 3]  fc1.weight
fc1.bias            f32 [4]     fc1.bias
norm.{weight,bias}  f32 [4]     norm.{weight,bias}
problem: 2 sources for fc1.weight: fc1.weight and fc2.weight (as it is; rule 1)
problem: 2 sources for fc1.bias: fc1.bias and fc2.bias (as it is; rule 1)
  Drop one of them, or give one another key.
6 tensors: 6 mapped to 4, 0 dropped; 0 unexpected, 0 missing      (--all lists every one)
END
run plan --remap 'modle => x' net.safetensors
status_is "a rule that matched nothing is a note" 0
check "which names it" grep -qF 'note: rule 1 (`modle`) matched nothing' "$scratch/out"
run plan --strict --remap 'modle => x' net.safetensors
status_is "--strict makes it a problem" 1
run plan --remap 'fc(\d) => f$1x' net.safetensors
check "a replacement that reads otherwise is a note, once" [ "$(grep -c 'write `${1}x`' "$scratch/out")" = 1 ]
run plan --type net.rs:Net --remap 'fc2 => fc3' net.safetensors
status_is "what the type wants and the file lacks" 1
check "is a line" grep -qE '^\(missing\) +fc2 ' "$scratch/out"
check "and a problem" grep -q '^problem: fc2 is missing' "$scratch/out"
check "what nothing asks for is a line" grep -qE '^fc2.weight .*\(left out\)' "$scratch/out"
check "and counted" grep -q '; 2 unexpected, 1 missing' "$scratch/out"
run plan --type net.rs:Net --remap 'fc2 => fc3' --partial net.safetensors
status_is "--partial lets it be missing" 0
run plan --drop . net.safetensors
status_is "nothing mapped at all" 1
check "is a problem" grep -q '^problem: none of 6 tensors is mapped' "$scratch/out"
st_begin
st_tensor table.weight "4, 4" 16
st_end >table.safetensors
run plan table.safetensors
status_is "what could be this or that" 1
check "needs to be said" grep -q '^problem: table: ' "$scratch/out"
check "and the option for it is named" grep -qF -e "  As an option: --module 'PATTERN => TYPE'." "$scratch/out"
run plan net.safetensors net.safetensors
check "two inputs with the same keys: the option that keeps them apart is named" \
    grep -qF -e '  As an option: --prefix PATH before an input.' "$scratch/out"
run plan --module 'table => Linear' table.safetensors
status_is "a module rule says it" 0

# ------------------------------------------------------------------------------------------------------------ mistakes

# refuses NAME WORDS ARGUMENT...: status 2, nothing printed but an error with these words
refuses() {
    name=$1
    words=$2
    shift 2
    run "$@"
    status_is "$name is an error" 2
    check "$name: $words" grep -qF -e "$words" "$scratch/err"
    same "$name: no plan is printed" /dev/null "$scratch/out"
}
refuses "a pattern that Rust would refuse" 'look-ahead `(?=`' plan --remap '(?=x) => y' net.safetensors
refuses "a rule without arrow" 'rule 1: rename has no " => "' plan --remap 'fc1' net.safetensors
fails "an adapter that is none" plan --adapter torch net.safetensors <<END
record: adapter: expected pytorch, foreign or none, found "torch"
  Did you mean "pytorch"?
END
fails "a rule that is none" plan --rule 'foo = bar' net.safetensors <<END
record: --rule: unknown rule "foo"
  Known: drop, split, weight_norm, rename, add, rope, squeeze, reshape, transpose, permute, stack, join, merge, tie, module, variant, back, export, let, select.
END
fails "a rule that is nearly one" plan --rule 'splti = bar' net.safetensors <<END
record: --rule: unknown rule "splti"
  Did you mean "split"?
END
refuses "an option of the recorder as a rule" 'unknown rule "clamp"' plan --rule 'clamp = yes' net.safetensors
refuses "a number that is nowhere" 'set heads=NUMBER' plan --rule 'rope = fc1.weight$ | heads' net.safetensors
refuses "a type that is not there" 'Nett' plan --type net.rs:Nett net.safetensors
fails "a rule without key" plan --rule stack net.safetensors <<END
record: --rule: expected KEY = VALUE, found "stack"
  It is written as in a profile: record profiles NAME shows some.
END
fails "two profiles for one input" plan --profile llama --profile gpt2 net.safetensors <<END
record: --profile may be given once for an input
  Your own profile may include others: include = NAME.
END
fails "a profile that is nearly one" plan --profile lama net.safetensors <<END
record: unknown profile "lama"
  Did you mean "llama"?
END
fails "a file that is not there" plan none.safetensors <<END
record: none.safetensors: cannot open the file: No such file or directory
END

# ----------------------------------------------------------------------------------------------------------- debugging

cat >debug.txt <<END
Debug information of keys and tensor shapes:
---
Original Key: fc1.bias
Remapped Key: a.0.bias
Shape: [4]
Dtype: F32
---
Original Key: fc1.weight
Remapped Key: a.0.weight
Shape: [4, 3]
Dtype: F32
---
Key: fc2.bias
Shape: [2]
Dtype: F32
---
Key: fc2.weight
Shape: [2, 4]
Dtype: F32
---
END
prints "--debug prints what Burn prints" plan --debug --remap 'fc1 => a.0' --drop norm net.safetensors <debug.txt

golden=${LIBRECORD_SHARED:-$srcdir/../shared}/data/golden/import
if [ -d "$golden" ]; then
    for case in "$golden"/debug-print*; do
        set --
        while read -r line; do
            case $line in
            "rename = "*) set -- "$@" --remap "${line#rename = }" ;;
            "adapter = NoAdapter") set -- "$@" --adapter none ;;
            esac
        done <"$case/args.txt"
        cp "$case/type.txt" type.rs
        prints "to the letter: ${case##*/}" plan --debug "$@" --type type.rs:Net "$case/input.safetensors" <"$case/debug.txt"
    done
else
    skip "to the letter what Burn printed" "$golden is not there"
fi

# ---------------------------------------------------------------------------------------------------------------- JSON

need_jq
run plan --json --type net.rs:Net --remap 'fc2 => fc3' --drop norm.bias net.safetensors
status_is "--json has the same exit status" 1
answers "a line" '.lines[] | select(.to == "fc1.weight")' '{"action":"mapped","source":"net.safetensors","from":["fc1.weight"],"to":"fc1.weight","operations":"transpose","why":"Linear","before":{"dtype":"f32","shape":[4,3]},"after":{"dtype":"f32","shape":[3,4]}}'
answers "what is dropped goes nowhere" '.lines[] | select(.action == "dropped") | [.from, .to]' '[["norm.bias"],null]'
answers "what is missing comes from nowhere" '.lines[] | select(.action == "missing" and .to == "fc2") | [.from, .before]' '[[],null]'
answers "problems" '[.problems[] | select(.fatal) | .kind] | unique' '["missing"]'
answers "totals" '.totals | [.tensors, .mapped, .dropped, .unexpected]' '[6,3,1,2]'
answers "inputs" '[.inputs, .to]' '[["net.safetensors"],null]'
run plan --json --adapter none --rule 'stack = ^net\.([0-9]+)\.(fc.*) => net.$2' --drop tracked layers.safetensors
answers "all that a tensor is made of" '.lines[0].from' '["net.0.fc.bias","net.1.fc.bias","net.2.fc.bias"]'

finish
