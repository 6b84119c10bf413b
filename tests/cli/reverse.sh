#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A record goes back to the file of another framework: the type is checked, modules are recognised key by key, options
# mean what they mean on the way there, and nothing goes in the wrong direction.
# shellcheck disable=SC2016 # what stands in single quotes is for another shell
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# An Embedding and a square Linear: no shape shows that the Linear was left as Burn has it.
{
    st_begin
    st_tensor words.weight "4, 2" 8
    st_tensor mix.weight "2, 2" 4 20
    st_tensor mix.bias 2 2 30
    st_end
} >in.safetensors
cat >net.rs <<'END'
#[derive(Module, Debug)]
pub struct Net<B: Backend> { words: Embedding<B>, mix: Linear<B> }
#[derive(Module, Debug)]
pub struct Misspelt<B: Backend> { words: Embedding<B>, mixx: Linear<B> }
#[derive(Module, Debug)]
pub struct Less<B: Backend> { words: Embedding<B> }
#[derive(Module, Debug)]
pub struct Ranks<B: Backend> { words: Conv1d<B>, mix: Linear<B> }
END
cat >net22.rs <<'END'
#[derive(Module, Debug)]
pub struct Net { words: Embedding, mix: Linear }
END

# back NAME ARGUMENT...: what goes back is the file that came
back() {
    name=$1
    shift
    rm -f back.safetensors
    run convert --reverse "$@" back.safetensors
    if [ "$status" != 0 ] || [ -s "$scratch/err" ]; then
        echo "status $status" >>"$scratch/err"
        not_ok "$name" "$scratch/err"
    else
        check "$name" "$record" diff in.safetensors back.safetensors
    fi
}

# refused NAME WORDS ARGUMENT...: it ends with status 2 and those words, and writes nothing
refused() {
    name=$1
    words=$2
    shift 2
    rm -f back.safetensors
    run convert --reverse "$@" back.safetensors
    if [ "$status" = 2 ] && [ ! -e back.safetensors ] && grep -qF "$words" "$scratch/err"; then
        ok "$name"
    else
        echo "status $status, expected 2 and: $words" >>"$scratch/err"
        not_ok "$name" "$scratch/err"
    fi
}

# As Burn saves a record: without what an import leaves in it.
for format in mpk bpk json; do
    run convert -q --metadata librecord.import= --type net.rs:Net in.safetensors "net.$format"
    status_is "$format: a record is made" 0
    back "$format: by its type" --strict --type net.rs:Net "net.$format"
    back "$format: by the type as Burn 0.22 writes it" --strict --type net22.rs:Net "net.$format"
    back "$format: one rule leaves the others recognised" --strict --module '^words$ => Embedding' "net.$format"
    refused "$format: a rule for another module settles nothing" "words.weight: nothing says" \
        --module '^mix$ => Linear' "net.$format"
    refused "$format: a misspelt field" "mixx" --type net.rs:Misspelt "net.$format"
    refused "$format: a module that the type lacks" "mix" --type net.rs:Less "net.$format"
    refused "$format: another rank" "words" --type net.rs:Ranks "net.$format"
    refused "$format: another type" "gamma" --type BatchNorm "net.$format"
    refused "$format: a rule that matches nothing is an error under strict" "rule 1 (\`^zzz\`) matched nothing" \
        --strict --type net.rs:Net --remap '^zzz => y' "net.$format"
    refused "$format: and a module rule" "rule 1 (\`^zzz\`) matched nothing" \
        --strict --type net.rs:Net --module '^zzz => Conv1D' "net.$format"
    refused "$format: and one that only goes back" "rule 1 (\`^zzz\`) matched nothing" \
        --strict --type net.rs:Net --rule 'back = ^zzz => y' "net.$format"
    refused "$format: what is not below the prefix" "net.$format: " --type net.rs:Net --prefix deep "net.$format"
done
back "the record itself is a type" --strict --type-of net.mpk net.mpk

run convert --reverse --type net.rs:Net --remap '^zzz => y' net.mpk back.safetensors
status_is "a rule that matches nothing is no error without strict" 0
# shellcheck disable=SC2016
check "but a note" grep -qF 'record: note: rule 1 (`^zzz`) matched nothing' "$scratch/err"

# A rule comes before the type in both directions: transformers' Conv1D is a Linear of Burn that is not transposed.
for format in mpk bpk; do
    run convert -q --metadata librecord.import= --type net.rs:Net --module '^mix$ => Conv1D' in.safetensors "conv.$format"
    status_is "$format: a rule comes before the type" 0
    back "$format: and so it does backwards" --strict --type net.rs:Net --module '^mix$ => Conv1D' "conv.$format"
done

# ------------------------------------------------------------------------------------------------- the wrong direction
"$record" convert -q in.safetensors in.pt
for file in in.safetensors in.pt; do
    refused "$file is no record" "$file: not a record of Burn: reverse goes from a record to the file of another framework" \
        --type net.rs:Net "$file"
done
for output in back.mpk back.mpk.gz back.bpk back.bin back.json back.mpk.zst; do
    run convert --reverse --type net.rs:Net net.mpk "$output"
    if [ "$status" = 2 ] && [ ! -e "$output" ] && grep -q 'the output is a format of Burn' "$scratch/err"; then
        ok "nothing goes backwards into $output"
    elif grep -q 'no recorder' "$scratch/err"; then
        skip "nothing goes backwards into $output" "this build lacks the format"
    else
        not_ok "nothing goes backwards into $output" "$scratch/err"
    fi
done

# --------------------------------------------------------------------------------------------------------- a base
# The original is the base: what no record has comes from it, and nothing that the record has is left out.
{
    st_begin
    st_tensor enc.fc.weight "2, 3" 6
    st_tensor enc.fc.bias 2 2 20
    st_tensor enc.bn.weight 2 2 30
    st_tensor enc.bn.bias 2 2 40
    st_tensor enc.bn.running_mean 2 2 50
    st_tensor enc.bn.running_var 2 2 60
    st_counter enc.bn.num_batches_tracked
    st_metadata '{"license":"mit"}'
    st_end
} >in.safetensors
cat >base.rs <<'END'
#[derive(Module, Debug)]
pub struct Net<B: Backend> { dense: Linear<B>, bn: BatchNorm<B> }
END
set -- --remap '^enc\. => ' --remap '^fc\. => dense.'
run convert -q --metadata librecord.import= --type base.rs:Net "$@" in.safetensors base.mpk
status_is "a record for a base" 0
back "everything comes back with a base and a type" --strict --type base.rs:Net "$@" --rule 'export = ^enc\.' \
    --base in.safetensors base.mpk
"$record" edit -q base.mpk set 'dense.weight[0,0]' 99 -o trained.mpk
refused "what was trained is never left out" "are not in the base, and left out: " --type base.rs:Net \
    --base in.safetensors trained.mpk
check "and the hint says why" grep -q "The record's values would be lost" "$scratch/err"
run convert --partial --reverse --type base.rs:Net --remap '^enc\. => ' --rule 'export = ^enc\.' \
    --base in.safetensors trained.mpk partial.safetensors
status_is "but for a partial load" 0
check "which says so" grep -q 'are not in the base, and left out: ' "$scratch/err"

# ------------------------------------------------------------------------------------------ what an import leaves in it
# alone NAME FILE: it goes back without an option
alone() {
    back "$1" --strict "$2"
}

# there NAME ARGUMENT...: in.safetensors becomes a record in each format that has metadata, and comes back
there() {
    there_name=$1
    shift
    for format in mpk mpk.gz json bpk; do
        rm -f there.*
        run convert -q "$@" in.safetensors "there.$format"
        status_is "$there_name, $format: there" 0
        alone "$there_name, $format: and back without an option" "there.$format"
    done
    "$record" convert -q there.bpk there.mpk
    alone "$there_name: through another format" there.mpk
}

{
    st_begin
    st_tensor net.0.weight "2, 2" 4 10
    st_tensor net.0.bias 2 2 20
    st_tensor net.2.weight "2, 2" 4 30
    st_tensor net.2.bias 2 2 40
    st_tensor net.10.0.weight "2, 2" 4 50
    st_tensor net.10.0.bias 2 2 60
    st_tensor net.10.3.weight "2, 2" 4 70
    st_tensor net.10.3.bias 2 2 80
    st_end
} >in.safetensors
there "gaps of lists" --remap '^zzz => y' --gaps close
there "and other names" --remap '^net\. => layers.' --gaps close
there "and a part of the weights as they are" --module '^net\.1$ => Conv1D' --module '^net => Linear' --gaps close
{
    st_begin
    st_tensor model.emb.weight "4, 2" 8
    st_tensor model.q.weight "2, 2" 4 10
    st_tensor model.out.weight "2, 2" 4 20
    st_tensor model.norm.weight 2 2 30
    st_end
} >in.safetensors
there "a rule without a trace" --remap '^model\. => ' --module '^(q|out)$ => Linear' --module 'emb => Embedding' \
    --module 'norm => RmsNorm'
there "what is selected, and a prefix" --select model --prefix deep.net --module '^(q|out)$ => Linear' \
    --module 'emb => Embedding' --module 'norm => RmsNorm'
there "a number" --set H=1 --rule 'rope = q\.weight$ | H' --module 'q$|out => Linear' --module 'emb => Embedding' \
    --module 'norm => RmsNorm'
there "nothing adapted" --adapter none
cat >levels.rs <<'END'
#[derive(Module, Debug)]
pub struct Net<B: Backend> { model: Inner<B> }
#[derive(Module, Debug)]
pub struct Inner<B: Backend> { emb: Embedding<B>, q: Any<B>, out: Any<B>, norm: RmsNorm<B> }
#[derive(Module, Debug)]
pub enum Any<B: Backend> { Dense(Linear<B>), Other(Conv1d<B>) }
END
there "levels of variants" --type levels.rs:Net
for format in mpk json; do
    run ls there.$format
done

# An option counts more than what the import left.
run convert -q --adapter none in.safetensors there.mpk
run convert -q --reverse --module 'q$ => Linear' --module '.* => Param' --adapter pytorch there.mpk back.safetensors
check "options come first" sh -c '"$1" show back.safetensors "model.q.weight[0]" | grep -q "\[10.0, 12.0\]"' - "$record"

# A format without metadata says what is needed.
printf 'pub struct Net<B: Backend> { layers: Vec<Linear<B>> }\n' >list.rs
{
    st_begin
    st_tensor seq.0.weight "2, 3" 6
    st_tensor seq.2.weight "2, 2" 4 10
    st_tensor seq.5.weight "2, 2" 4 20
    st_end
} >in.safetensors
run convert --type list.rs:Net --remap '^seq => layers' in.safetensors list.bin
cat >"$scratch/expected" <<'END'
record: note: data without names do not store how the model was imported: the reverse conversion needs --rule 'rename = ^seq => layers' --gaps keep --rule 'back = ^layers\.2\. => layers.5.' --rule 'back = ^layers\.1\. => layers.2.'
END
same "a .bin cannot keep it: a note has the options of the way back" "$scratch/expected" "$scratch/err"
back "which work" --type list.rs:Net --rule 'rename = ^seq => layers' --gaps keep \
    --rule 'back = ^layers\.2\. => layers.5.' --rule 'back = ^layers\.1\. => layers.2.' list.bin
for output in there.gguf there.safetensors there.pt; do
    "$record" convert -q --type list.rs:Net --remap '^seq => layers' in.safetensors there.mpk
    "$record" convert -q --adapter none there.mpk "$output"
    run info "$output"
    check "$output is another framework's and has none of it" \
        sh -c '! grep -q librecord.import "$1"' - "$scratch/out"
done

# Other rules than those of the import do not undo it.
"$record" convert -q --type list.rs:Net --remap '^seq => layers' in.safetensors there.mpk
run convert --reverse --type list.rs:Net --rule 'back = ^layers\. => blocks.' there.mpk back.safetensors
status_is "other rules than those of the import are taken" 0
check "and a note names what they do not undo" \
    grep -q 'note: the import of this record used rename = ^seq => layers, which is not given and not undone' "$scratch/err"
refused "which is an error under --strict" "the import of this record used rename" --strict --type list.rs:Net \
    --rule 'back = ^layers\. => blocks.' there.mpk

# Metadata that no librecord wrote.
for text in 'nonsense' 'unknown x' 'moved a' 'moved a b' 'number x' 'rename (' 'rename a' 'let x'; do
    "$record" edit -q there.mpk meta librecord.import "1
$text" -o damaged.mpk
    refused "damaged: $text" "librecord.import" damaged.mpk
done
"$record" edit -q there.mpk meta librecord.import "2
unknown x" -o later.mpk
run convert --reverse later.mpk back.safetensors
status_is "those of a later librecord are not read" 0

# A head that was the embedding, and is not any more.
{
    st_begin
    st_tensor emb.weight "2, 2" 4
    st_end
} >in.safetensors
echo '{"tie_word_embeddings": true, "n": 1}' >tied.json
set -- --config-json tied.json --rule 'tie = head.weight = emb.weight' --module 'head => Linear' --module 'emb => Embedding'
run convert -q "$@" in.safetensors tied.mpk
status_is "a tied head" 0
alone "is left out again" tied.mpk
"$record" edit -q tied.mpk set 'head.weight[0,0]' 9 -o parted.mpk
refused "one that has parted is a problem" "head.weight and emb.weight were one tensor and differ now" "$@" parted.mpk
refused "also as the import left it" "head.weight and emb.weight were one tensor and differ now" parted.mpk
run convert -q --reverse --set tie_word_embeddings=0 parted.mpk back.safetensors
status_is "unless they are not tied any more" 0
check "then both are there" [ "$("$record" ls back.safetensors | grep -c weight)" = 2 ]

# ------------------------------------------------------------------------------------------------- what is left out
{
    st_begin
    st_tensor fc.weight "2, 3" 6
    st_tensor fc.bias 2 2 20
    st_tensor bn.weight 2 2 30
    st_tensor bn.bias 2 2 40
    st_tensor bn.running_mean 2 2 50
    st_tensor bn.running_var 2 2 60
    st_counter bn.num_batches_tracked
    st_end
} >in.safetensors
run convert -q in.safetensors there.mpk
run convert --strict --reverse there.mpk back.safetensors
status_is "bookkeeping is no error" 0
cat >"$scratch/expected" <<'END'
record: note: bn.num_batches_tracked: left out when the record was imported, so the file lacks them
  With the original as the base (--base ORIGINAL) they come back.
END
same "but a note" "$scratch/expected" "$scratch/err"
back "and comes back with the base" --strict --base in.safetensors there.mpk
run convert -q --metadata librecord.import= in.safetensors there.mpk
run convert --reverse there.mpk back.safetensors
cat >"$scratch/expected" <<'END'
record: note: num_batches_tracked of 1 BatchNorm: no record has it, and PyTorch counts from 0 again
  With the original as the base (--base ORIGINAL) they come back.
END
same "also of a record that Burn made" "$scratch/expected" "$scratch/err"

# What the model computes with is an error on the way there: a wrong model without an error is the other way.
cat >needed.ini <<'END'
[profile needed]
drop = bias_[kv]$ | needed
drop = logits_bias$ | needed unless zero
module = fc$ => Linear
END
# needed TENSOR FIRST
needed() {
    st_begin
    st_tensor fc.weight "2, 3" 6
    st_tensor fc.bias 2 2 20
    st_tensor "$1" 1 1 "$2"
    st_end
}
needed fc.bias_k 3 >in.safetensors
fails "a tensor that Burn has no place for" convert --profile needed.ini in.safetensors out.mpk <<'END'
record: fc.bias_k: the model computes with it, and Burn's module has no place for it (rule 1)
  Drop it by a rule (drop = PATTERN) if the output may differ, or load a part (partial).
  As an option: --drop PATTERN; --partial.
END
run convert -q --profile needed.ini --partial in.safetensors out.mpk
status_is "is left out of a part" 0
run convert -q --profile needed.ini --drop 'bias_k$' in.safetensors out.mpk
status_is "or by the user's rule" 0
needed fc.bias_k 0 >in.safetensors
run convert -q --profile needed.ini in.safetensors out.mpk
status_is "zeros count as well" 2
needed logits_bias 0 >in.safetensors
run convert -q --profile needed.ini in.safetensors out.mpk
status_is "unless the rule says otherwise" 0
needed logits_bias 1 >in.safetensors
run convert -q --profile needed.ini in.safetensors out.mpk
status_is "and what is no zero is an error again" 2
for bad in 'x | needed now' 'x | needed unless' 'x | needed unless one' 'x | needed | needed' 'x | needed unless zero zero'; do
    run convert -q --rule "drop = $bad" in.safetensors out.mpk
    status_is "no rule: drop = $bad" 2
done

# ------------------------------------------------------------------------------------------------------- metadata
{
    st_begin
    st_tensor fc.weight "2, 3" 6
    st_tensor fc.bias 2 2 20
    st_metadata '{"format":"pt","license":"mit","librecord.metadata":"[1,{\"epoch\":7,\"rate\":0.5,\"done\":true}]"}'
    st_end
} >in.safetensors
run info in.safetensors
sed -n 's/.*  \([a-z]* = .*\)/\1/p' "$scratch/out" | sort >there.metadata
for format in mpk json bpk; do
    run convert -q in.safetensors "there.$format"
    back "$format: a model with metadata" --strict "there.$format"
    run info back.safetensors
    sed -n 's/.*  \([a-z]* = .*\)/\1/p' "$scratch/out" | sort >back.metadata
    check "$format: in one entry with their kinds" grep -q '"librecord.metadata":"\[1,{' back.safetensors
    same "$format: which come back, numbers as numbers" there.metadata back.metadata
done
run convert --reverse there.mpk back.gguf
status_is "a GGUF without its architecture" 0
check "is told" grep -q 'record: note: the metadata have no general.architecture' "$scratch/err"
run convert -q --metadata general.architecture=llama in.safetensors there.mpk
run convert --reverse there.mpk back.gguf
check "but not one that has it" sh -c '! grep -q general.architecture "$1"' - "$scratch/err"
check "it comes from the record" sh -c '"$1" info back.gguf | grep -q "general.architecture = llama"' - "$record"

# ------------------------------------------------------------------------------------------ torch judges weight_norm
cat >norm.py <<'END'
import sys, torch
from torch.nn.utils import weight_norm
if sys.argv[1] == "new":
    from torch.nn.utils.parametrizations import weight_norm as parametrized
torch.manual_seed(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = (parametrized if sys.argv[1] == "new" else weight_norm)(torch.nn.Conv1d(3, 4, 2))
        self.b = (parametrized if sys.argv[1] == "new" else weight_norm)(torch.nn.Linear(4, 2))
    def forward(self, x):
        return self.b(self.a(x).transpose(1, 2))
net, x = Net(), torch.randn(2, 3, 5)
for p in net.parameters():
    torch.nn.init.normal_(p)
if sys.argv[2] == "save":
    torch.save(net.state_dict(), sys.argv[3])
else:
    before = net(x)
    net.load_state_dict(torch.load(sys.argv[3]), strict=True)
    assert (net(x) - before).abs().max() < 1e-5
END
torch=python3
"$torch" -c 'import torch' 2>/dev/null || torch=/usr/bin/python3
for style in old new; do
    if ! "$torch" norm.py $style save norm.pt 2>"$scratch/err"; then
        skip "weight_norm ($style) computes the same" "no torch with it"
        continue
    fi
    "$record" convert -q --rule 'weight_norm = ^[ab]$' --module '^b$ => Linear' --module '^a$ => Conv1d' norm.pt norm.mpk
    run convert --reverse norm.mpk norm-back.pt
    status_is "weight_norm ($style) goes back" 0
    check "with a note" grep -q 'undone in function, not to the last bit' "$scratch/err"
    check "and computes the same" "$torch" norm.py $style load norm-back.pt
    refused "weight_norm ($style): not to the bit" 'undone in function' --strict norm.mpk
done

# A record that Burn saved again has lost what the import left. The base shows which numbers its lists had.
cat >nested.rs <<'END'
use burn::nn::*;
#[derive(Module, Debug)]
pub struct Net { net: Vec<Vec<Linear>>, pair: (Linear, LayerNorm), plain: Vec<Linear> }
END
st_begin
for at in net.0.0 net.0.2 net.2.1 pair.1 plain.0 plain.1; do
    st_tensor $at.weight '2, 2' 4
    st_tensor $at.bias 2 2
done
st_tensor pair.4.weight 2 2
st_tensor pair.4.bias 2 2
st_end >nested.safetensors
for format in mpk bpk; do
    run convert -y --type nested.rs:Net nested.safetensors nested.$format
    run convert -y --metadata librecord.import= nested.$format bare.$format
    run convert -y --reverse --type nested.rs:Net bare.$format none.safetensors
    check "without the base a note says what is unknown, .$format" \
        grep -q 'note: net.0 and 3 more: the layers of a list are numbered from 0' "$scratch/err"
    run convert -y --reverse --type nested.rs:Net nested.$format none.safetensors
    # shellcheck disable=SC2016 # the inner shell expands $1
    check "not where the record shows it, .$format" sh -c '! grep -q "numbered from 0" "$1"' - "$scratch/err"
    run convert -y --reverse --type nested.rs:Net --base nested.safetensors bare.$format nested-back.safetensors
    status_is "gaps by the base, .$format" 0
    check "the same, .$format" "$record" diff nested.safetensors nested-back.safetensors
    rm none.safetensors
    run convert -y --reverse --gaps keep --type nested.rs:Net --base nested.safetensors bare.$format none.safetensors
    status_is "not where gaps are kept, .$format" 2
done
st_begin
for at in net.0.0 net.0.2 net.2.1 net.2.2 pair.1 plain.0 plain.1; do
    st_tensor $at.weight '2, 2' 4
    st_tensor $at.bias 2 2
done
st_end >longer.safetensors
run convert -y --reverse --type nested.rs:Net --base longer.safetensors bare.mpk none.safetensors
status_is "a base with more elements does not show it" 2

finish
