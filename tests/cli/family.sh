#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What the command says of a foreign file: its family, the profile that fits, hints that can be pasted.
# shellcheck disable=SC2016 # patterns have dollars of their own
# shellcheck disable=SC2086,SC2317 # lists of words; functions that check() calls
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

# has_not PATTERN FILE
has_not() {
    ! grep -q -e "$1" "$2"
}

# model KEY=SHAPE…: a safetensors file of zeros, "a=2,3"
model() {
    model_at=0
    model_header=
    for model_one in "$@"; do
        model_shape=${model_one#*=}
        model_count=1
        for model_n in $(echo "$model_shape" | tr , ' '); do
            model_count=$((model_count * model_n))
        done
        model_header="$model_header${model_header:+,}\"${model_one%%=*}\":{\"dtype\":\"F32\",\"shape\":[$model_shape],\"data_offsets\":[$model_at,$((model_at + model_count * 4))]}"
        model_at=$((model_at + model_count * 4))
    done
    model_header="{$model_header}"
    printf "\\$(printf '%03o' $((${#model_header} % 256)))\\$(printf '%03o' $((${#model_header} / 256)))\\0\\0\\0\\0\\0\\0%s" "$model_header"
    head -c "$model_at" /dev/zero
}

# llama KEY=SHAPE…: what a Llama has, and those
llama() {
    set -- "$@" model.embed_tokens.weight=5,4 model.norm.weight=4
    for i in 0 1; do
        for w in q k v o; do
            set -- "$@" model.layers.$i.self_attn.${w}_proj.weight=4,4
        done
        set -- "$@" model.layers.$i.mlp.gate_proj.weight=6,4 model.layers.$i.mlp.up_proj.weight=6,4 model.layers.$i.mlp.down_proj.weight=4,6 \
            model.layers.$i.input_layernorm.weight=4 model.layers.$i.post_attention_layernorm.weight=4
    done
    model "$@"
}

# ---------------------------------------------------------------------------------------------------------- families

llama lm_head.weight=5,4 >llama.safetensors
run info llama.safetensors
check "info names the family, with the option for it" \
    grep -qx 'looks like         Llama: --profile llama (for another destination: llama-norope)' "$scratch/out"
run plan llama.safetensors
status_is "a file of a family is not taken for a model of its own" 1
check "plan names the family" grep -qx 'problem: llama.safetensors looks like Llama' "$scratch/out"
check "in the words of the command" grep -qxe '  Use this: --profile llama' "$scratch/out"
check "and what keeps its names" grep -qxe '  Or keep its names: --adapter pytorch.' "$scratch/out"
run plan --adapter pytorch llama.safetensors
status_is "which does" 0
run plan --profile auto --set heads=2 --set kv_heads=2 llama.safetensors
status_is "auto takes the profile that fits" 0
check "and says which" grep -q 'llama.safetensors is Llama: converted with the profile llama (another destination: llama-norope)' "$scratch/out"
check "its rules act" grep -q 'tok_embeddings.weight' "$scratch/out"
run convert --quiet --profile AUTO --set heads=2 --set kv_heads=2 llama.safetensors auto.mpk
status_is "convert takes it too" 0
run convert --quiet --profile llama --set heads=2 --set kv_heads=2 llama.safetensors named.mpk
run ls --all auto.mpk
grep -v '^auto' "$scratch/out" >expected-keys
run ls --all named.mpk
check "which is what the profile makes" cmp expected-keys "$scratch/out"

echo '{"model_type":"llama","num_attention_heads":2,"num_key_value_heads":2}' >llama.config.json
run convert llama.safetensors confirmed.mpk
status_is "a family that the configuration confirms is taken" 0
check "a note says so" grep -q 'llama.safetensors is Llama by its configuration: converted with the profile llama (another' "$scratch/err"
check "with the way to keep the names" grep -qxe '  To keep its names: --adapter pytorch.' "$scratch/err"
run ls --all confirmed.mpk
check "as the profile makes it" grep -q '^tok_embeddings.weight ' "$scratch/out"
run plan --adapter pytorch llama.safetensors
check "its names are kept if asked" has_not 'by its configuration' "$scratch/out"
run convert llama.safetensors confirmed.npz
check "between formats of other frameworks nothing is taken" has_not 'by its configuration' "$scratch/err"
echo '{"model_type":"llama"}' >llama.config.json
run convert llama.safetensors unconfirmed.mpk
status_is "without the numbers it fails" 2
check "which are named" grep -q 'the number `heads` is missing' "$scratch/err"
rm llama.config.json confirmed.*

llama >tied.safetensors
run info tied.safetensors
check "two families may have the same keys" \
    grep -qx 'looks like        Llama: --profile llama or Gemma: --profile gemma; its config.json, with model_type, would tell' "$scratch/out"
fails "then auto asks" plan --profile auto tied.safetensors <<END
record: tied.safetensors: profile auto: several profiles fit: llama, gemma
  Name one of them. A companion config.json with its model_type would decide.
END
echo '{"model_type":"gemma","num_attention_heads":2}' >tied.config.json
run info tied.safetensors
check "the configuration tells" grep -qx 'looks like        Gemma: --profile gemma' "$scratch/out"
run plan --profile llama tied.safetensors
check "a profile that fits worse than another says so" \
    grep -qx 'note: tied.safetensors looks like Gemma: another profile fits it better than llama' "$scratch/out"
check "and which one it is" grep -qxe '  Use this: --profile gemma' "$scratch/out"
run plan --profile gemma tied.safetensors
check "the one that fits has no such note" has_not 'looks like' "$scratch/out"
echo '{"model_type":"granite","num_attention_heads":2}' >tied.config.json
run plan --profile llama tied.safetensors
check "a named profile is compared with the configuration" \
    grep -qx 'note: the configuration says model_type "granite", and the profile llama is for llama mistral qwen2' "$scratch/out"
run plan --strict --profile llama tied.safetensors
status_is "under strict that is a problem" 1
echo '{"model_type":"llama","num_attention_heads":2,"partial_rotary_factor":0.5}' >tied.config.json
run plan --profile llama tied.safetensors
status_is "rotary positions of a part of a head are a problem" 1
check "with the rule" grep -q 'says partial_rotary_factor, and rule [0-9]* (rope = .*| H) permutes the rows of whole heads' "$scratch/out"
echo '{"model_type":"llama","num_attention_heads":2,"rope_parameters":{"partial_rotary_factor":0.5}}' >tied.config.json
run plan --profile llama tied.safetensors
status_is "also where they are a parameter of the rotation" 1
echo '{"model_type":"llama","num_attention_heads":2,"no_rope_layers":[1, 0]}' >tied.config.json
run plan --profile llama tied.safetensors
status_is "layers without rotary positions are a problem" 1
check "with the rule" grep -q '^problem: the configuration says no_rope_layers: 1 without rotary positions, and rule [0-9]* (rope = .*| H) permutes their rows' "$scratch/out"
run plan --profile llama --set no_rope_layers=0 tied.safetensors
status_is "unless the model knows them" 0
check "without a word of an unused number" has_not 'no rule uses' "$scratch/out"
run plan --profile llama-norope tied.safetensors
status_is "or nothing is permuted" 0
for list in '[1, 1]' '[]' '[true, true]' '[[0], 1]' '{"a": [0]}'; do
    echo '{"model_type":"llama","num_attention_heads":2,"no_rope_layers":'"$list"'}' >tied.config.json
    run plan --profile llama tied.safetensors
    status_is "no layer is without: $list" 0
done
for list in '[true, false]' '[-1, 0]' '[0, 0.5]'; do
    echo '{"model_type":"llama","num_attention_heads":2,"no_rope_layers":'"$list"'}' >tied.config.json
    run plan --profile llama tied.safetensors
    status_is "one is: $list" 1
done
# Biases that the configuration denies, and those that it promises.
for name in attention_bias mlp_bias; do
    echo '{"model_type":"llama","num_attention_heads":2,"'$name'":true}' >tied.config.json
    run plan --profile llama tied.safetensors
    status_is "biases that the file lacks are a problem: $name" 1
    check "and are named: $name" grep -q "^problem: the configuration says $name: true, and tied.safetensors has none" "$scratch/out"
    run plan --profile llama --set $name=0 tied.safetensors
    status_is "unless the model has none: $name" 0
    echo '{"model_type":"llama","num_attention_heads":2,"'$name'":false}' >tied.config.json
    run plan --strict --profile llama tied.safetensors
    status_is "the configuration and the file have none: $name" 0
done
model q_proj.weight=2,2 q_proj.bias=2 >biased.safetensors
echo '{"attention_bias":false}' >biased.config.json
run convert --config-json biased.config.json biased.safetensors none.mpk
status_is "biases that the configuration denies" 2
check "are named" grep -q 'says attention_bias: false, and biased.safetensors has q_proj.bias' "$scratch/err"
run convert --config-json biased.config.json --set attention_bias=1 biased.safetensors biased.mpk
status_is "unless the model has them" 0
echo '{"model_type":"llama","num_attention_heads":2,"head_dim":2}' >tied.config.json
run plan --strict --profile llama tied.safetensors
status_is "heads of as many rows as the configuration says" 0
echo '{"model_type":"llama","num_attention_heads":2,"head_dim":1}' >tied.config.json
run plan --profile llama tied.safetensors
status_is "of another number are a problem" 1
check "with the numbers" grep -q '4 rows are not those of 2 heads with the head_dim of the configuration, 1$' "$scratch/out"
echo '{"model_type":"llama","num_attention_heads":2}' >strange.config.json
llama model.layers.0.self_attn.q_norm.weight=2 model.layers.1.self_attn.q_norm.weight=2 lm_head.weight=5,4 >strange.safetensors
run plan --profile llama strange.safetensors
check "keys that the family does not have are told" \
    grep -qx "note: 2 keys are none of Llama's: model.layers.0.self_attn.q_norm.weight, …" "$scratch/out"
run plan --strict --profile llama strange.safetensors
status_is "and a problem under strict" 1

# Whether the head is the embedding.
echo '{"model_type":"llama","num_attention_heads":2,"tie_word_embeddings":true}' >tied.config.json
run convert -q --profile llama tied.safetensors tied.mpk
status_is "a head that is missing is the embedding" 0
run ls tied.mpk
check "and there" grep -q '^output.weight' "$scratch/out"
echo '{"model_type":"llama","num_attention_heads":2,"tie_word_embeddings":false}' >tied.config.json
run plan --profile llama tied.safetensors
check "but not where the configuration says that it is none" grep -qxF \
    'note: output.weight is not there, and not made of tok_embeddings.weight: the configuration says tie_word_embeddings is false' "$scratch/out"
check "which names what makes it one" grep -qxFe '  If it is the embedding: --set tie_word_embeddings=1' "$scratch/out"
run convert -q --profile llama tied.safetensors untied.mpk
run ls untied.mpk
check "and is not written" has_not '^output' "$scratch/out"
run plan --strict --profile llama tied.safetensors
status_is "strict: a problem" 1
run plan --strict --profile llama --set tie_word_embeddings=1 tied.safetensors
status_is "with the number it is one" 0
llama lm_head.weight=5,4 >tied-head.safetensors
cp tied-head.safetensors parted.safetensors
echo '{"model_type":"llama","num_attention_heads":2,"tie_word_embeddings":true}' >parted.config.json
run plan --strict --profile llama parted.safetensors
status_is "a head that is there and is the embedding" 0
run edit -q tied-head.safetensors set 'lm_head.weight[0,0]' 9 -o parted.safetensors
run plan --profile llama parted.safetensors
status_is "one that differs is a problem" 1
check "in one line" grep -qx 'problem: output.weight and tok_embeddings.weight differ, and the configuration says tie_word_embeddings' "$scratch/out"
run plan --profile llama --set tie_word_embeddings=0 parted.safetensors
status_is "kept on demand" 0
check "without a word of an unused number" has_not 'no rule uses' "$scratch/out"
run plan --profile llama --drop lm_head parted.safetensors
status_is "or left out" 0
echo '{"model_type":"granite"}' >tied.config.json
run info tied.safetensors
check "what the configuration calls otherwise is only nearly one" \
    grep -q 'nearly Llama: --profile llama, but its tied.config.json says model_type "granite"' "$scratch/out"
run plan --profile auto tied.safetensors
check "and is not taken" [ "$status" = 2 ]
check "it is said why" grep -qxe '  llama nearly does, but its tied.config.json says model_type "granite".' "$scratch/err"
check "and how to take it all the same" grep -qxe '  If it is the right one, name it: --profile llama.' "$scratch/err"
echo '{' >tied.config.json
run info tied.safetensors
status_is "a broken configuration does not keep info from its work" 0
check "it is said" grep -q 'the family is unknown: .*tied.config.json' "$scratch/err"
run plan tied.safetensors
status_is "nor plan" 0

llama score.weight=2,4 lm_head.weight=5,4 >head.safetensors
run info head.safetensors
check "a head of its own is named" \
    grep -q "nearly Llama: --profile llama, but 1 of 22 keys is none of Llama's: score.weight" "$scratch/out"
llama model.layers.0.self_attn.q_norm.weight=2 lm_head.weight=5,4 >other.safetensors
run info other.safetensors
check "a strange tensor in a layer is another family" has_not 'looks like' "$scratch/out"
fails "which auto does not take" plan --profile auto other.safetensors <<END
record: other.safetensors: profile auto: no profile fits
  Name a profile, or write rules: no profile is for its family.
END
fails "backwards nothing can be chosen" plan --profile auto --reverse auto.mpk <<END
record: auto.mpk: profile auto cannot choose for a reverse load
  A record does not show which file it came from: name the profile.
END
fails "nor for a record of Burn" plan --profile auto auto.mpk <<END
record: auto.mpk: profile auto: no profile fits
  Name a profile, or write rules: no profile is for its family.
END
run plan --profile bert llama.safetensors
check "what another family's profile requires names the right one" grep -qxe '  It looks like Llama: --profile llama.' "$scratch/out"

# Below one name, as checkpoints have it.
cat >own.ini <<'END'
[profile ours]
family = our net
has = ^(l[0-9])\.w$ | [2*n, _]
has = ^(l[0-9])\.b$ | [n]
rename = ^l([0-9])\. => layers.$1.
END
model module.l0.w=6,2 module.l0.b=3 >below.safetensors
model module.l0.w=6,2 other.l0.b=3 >not.safetensors
run info --config own.ini not.safetensors
check "a family is known by all of its keys" has_not 'looks like' "$scratch/out"
run info --config own.ini below.safetensors
check "a family below one name" grep -qe 'looks like *our net: --select module --profile ours$' "$scratch/out"
fails "auto does not go there unasked" plan --config own.ini --profile auto below.safetensors <<END
record: below.safetensors: profile auto: no profile fits the whole file
  Below module it is our net: --select module and --profile ours.
END
run plan --config own.ini --profile auto --select module below.safetensors
status_is "but where it is asked to" 0

# A profile of one's own.
model l0.w=6,2 l0.b=3 l1.w=8,2 l1.b=4 >ours.safetensors
run info --config own.ini ours.safetensors
check "families of one's own are found" grep -qxe 'looks like *our net: --profile ours' "$scratch/out"
run plan --config own.ini --profile auto ours.safetensors
check "and taken" grep -q 'layers.1.w' "$scratch/out"
model l0.w=6,2 l0.b=3 l1.w=6,2 l1.b=4 >ours.safetensors
run info --config own.ini ours.safetensors
check "their sizes are held" has_not 'looks like' "$scratch/out"
for wrong in 'a | [n]' '(a) | [2n]' '(a) | [,]' '(a) | [1,2,3,4,5,6,7,8,9]' '(a) | [0*n]' '(a | [1]'; do
    printf '[profile ours]\nfamily = our net\nhas = l0\nknows = %s\n' "$wrong" >own.ini
    run plan --config own.ini --profile auto ours.safetensors
    check "no shape: $wrong" grep -q 'own.ini: line 4: \[profile ours\]' "$scratch/err"
done

# ------------------------------------------------------------------------------------------------ what is missing

# Norms with affine = false have no tensors.
cat >bare.rs <<'END'
pub struct Net<B: Backend> { conv: Linear<B>, norm: GroupNorm<B>, inst: InstanceNorm<B> }
pub struct Strict<B: Backend> { conv: Linear<B>, norm: LayerNorm<B> }
END
model conv.weight=4,4 conv.bias=4 >bare.safetensors
for file in bare.mpk bare.bpk bare.json; do
    run convert --strict --type bare.rs:Net bare.safetensors $file
    status_is "$file: a norm may have no tensors" 0
    run types --check --type bare.rs:Net $file
    status_is "$file: it is of the type" 0
done
run plan --type bare.rs:Strict bare.safetensors
status_is "not one that always has some" 1
model conv.weight=4,4 conv.bias=4 gnorm.weight=4 gnorm.bias=4 >left.safetensors
run plan --type bare.rs:Net left.safetensors
status_is "tensors that are left may be those of the norm" 1
check "which is missing then" grep -qx 'problem: norm is missing: a module of type GroupNorm' "$scratch/out"
check "with the rename" grep -qxFe "  Nearest: gnorm: --remap '^gnorm\. => norm.'" "$scratch/out"
model conv.weight=4,4 conv.bias=4 extra.weight=4,4,4 >left.safetensors
run plan --type bare.rs:Net left.safetensors
status_is "tensors of another rank are not" 0

# A head that is tied.
cat >tied.rs <<'END'
pub struct Net<B: Backend> { words: Embedding<B>, places: Embedding<B>, head: Linear<B> }
pub struct Two<B: Backend> { words: Embedding<B>, head: Linear<B>, other: Linear<B> }
END
model words.weight=5,4 places.weight=3,4 >head.safetensors
run plan --type tied.rs:Net head.safetensors
status_is "a head that is missing is a problem" 1
check "the embedding of most rows is offered" \
    grep -qxFe "  If it is tied to the embedding words.weight [5, 4]: --rule 'tie = head.weight = words.weight'" "$scratch/out"
run convert --strict --type tied.rs:Net --rule 'tie = head.weight = words.weight' head.safetensors head.mpk
status_is "pasted, it fits" 0
run ls head.mpk
check "as a Linear" grep -q '^head.weight  *f32  *\[4, 5\]' "$scratch/out"
echo '{"tie_word_embeddings":false}' >untied.json
run plan --config-json untied.json --type tied.rs:Net head.safetensors
check "not where the configuration says that it is none" has_not 'tie =' "$scratch/out"
model words.weight=5,4 places.weight=3,4 head.weight=5,4 >zeros.safetensors
"$record" edit -q zeros.safetensors set 'head.weight[0,0]' 9 -o both.safetensors
echo '{"tie_word_embeddings":true}' >both.config.json
run plan --type tied.rs:Net --rule 'tie = head.weight = words.weight' both.safetensors
status_is "the configuration is read for a tie alone" 1
check "and the head compared" grep -q '^problem: head.weight and words.weight differ' "$scratch/out"
run plan --type tied.rs:Two head.safetensors
check "nor for two" has_not 'tie =' "$scratch/out"

cat >net.rs <<'END'
pub struct Net<B: Backend> { model: Body<B>, head: Linear<B> }
pub struct Body<B: Backend> { layers: Vec<Layer<B>>, norm: LayerNorm<B> }
pub struct Layer<B: Backend> { attn: Attn<B>, fc: Linear<B> }
pub struct Attn<B: Backend> { query: Linear<B>, key: Linear<B>, value: Linear<B> }
pub struct Only<B: Backend> { model: Body<B> }
pub struct Odd<B: Backend> { classifier: Linear<B>, conv: Conv2d<B> }
END
set -- lm_head.weight=5,8 lm_head.bias=5 model.norm.weight=8 model.norm.bias=8
for i in 0 1; do
    set -- "$@" model.layers.$i.attn.qkv.weight=24,8 model.layers.$i.attn.qkv.bias=24 model.layers.$i.fc.weight=8,8 model.layers.$i.fc.bias=8
done
model "$@" >net.safetensors
run plan --type net.rs:Net net.safetensors
split="--rule 'split = ^model\.layers\.([0-9]+)\.attn\.qkv\.(weight|bias)\$ | rows query key value => model.layers.\$1.attn.%.\$2'"
rename="--remap '^lm_head\. => head.'"
check "a rename that would do is there to be pasted" grep -qxFe "  Nearest: lm_head: $rename" "$scratch/out"
check "and a split" grep -qxFe "  model.layers.0.attn.qkv.weight [24, 8] may be queries, keys and values in one: $split" "$scratch/out"
eval "run plan --strict --type net.rs:Net $rename $split net.safetensors"
status_is "both pasted, it is the whole model" 0
check "without a word left" grep -q '12 tensors: 12 mapped to 20, 0 dropped; 0 unexpected, 0 missing' "$scratch/out"

model layers.0.attn.query.weight=8,8 layers.0.attn.key.weight=8,8 layers.0.attn.value.weight=8,8 layers.0.fc.weight=8,8 norm.weight=8 norm.bias=8 >body.safetensors
run plan --type net.rs:Only body.safetensors
check "a level that the file lacks" grep -qxFe '  The values expected below model is at the top of the file: --prefix model' "$scratch/out"
run plan --type net.rs:Only --prefix model body.safetensors
status_is "pasted, it fits" 0
model model.layers.0.attn.query.weight=8,8 model.layers.0.attn.key.weight=8,8 model.layers.0.attn.value.weight=8,8 model.layers.0.fc.weight=8,8 \
    model.norm.weight=8 model.norm.bias=8 >below.safetensors
run plan --type net.rs:Body below.safetensors
check "a level that it has too many" grep -qxFe '  All 6 keys begin with `model.`: --select model' "$scratch/out"
run plan --type net.rs:Body --select model below.safetensors
status_is "pasted, it fits as well" 0

model head.weight=5,8 head.bias=5 stem.weight=4,3,3,3 stem.bias=4 >odd.safetensors
run plan --type net.rs:Odd odd.safetensors
check "by the shape, where names say nothing" grep -qxFe "  The only one of that shape that is left: stem: --remap '^stem\. => conv.'" "$scratch/out"
check "to each place what fits there" grep -qxFe "  The only one of that shape that is left: head: --remap '^head\. => classifier.'" "$scratch/out"
cat >wrap.rs <<'END'
pub struct Wrapped<B: Backend> { conv1: Wrap<B> }
pub struct Wrap<B: Backend> { conv: nn::conv::Conv2d<B>, norm: BatchNorm<B> }
END
model conv1.weight=4,3,3,3 conv1.bias=4 conv1.norm.weight=4 conv1.norm.bias=4 conv1.norm.running_mean=4 conv1.norm.running_var=4 >wrap.safetensors
run plan --type wrap.rs:Wrapped wrap.safetensors
leaves="--remap '^conv1\.([^.]+)\$ => conv1.conv.\$1'"
check "a module whose tensors stand beside others: they alone" grep -qxFe "  Nearest: conv1.weight [4, 3, 3, 3]: $leaves" "$scratch/out"
eval "run plan --strict --type wrap.rs:Wrapped $leaves wrap.safetensors"
status_is "pasted, it fits as well, too" 0
model "a b.weight=5,8" 'a"'"'"'$(touch x).weight=4,3,3,3' >hostile.safetensors 2>/dev/null
run plan --type net.rs:Odd hostile.safetensors
check "names that need care in a pattern make no rule" has_not '--remap' "$scratch/out"

# 48 layers that lack the same are a line, as keys are.
set -- norm.weight=8 norm.bias=8
for i in $(seq 0 47); do
    set -- "$@" layers.$i.fc.weight=8,8
done
model "$@" >deep.safetensors
run plan --type net.rs:Body deep.safetensors
check "problems fold" grep -qx 'problem: layers.#.attn is missing: a module of type Attn (×48)' "$scratch/out"
check "and so does what is missing in the table" grep -qE '^\(missing\) +×48 +layers.#.attn  ' "$scratch/out"
check "in few lines" [ "$(wc -l <"$scratch/out")" -lt 10 ]
run convert --type net.rs:Body deep.safetensors deep.mpk
check "a conversion that refuses tells the same" grep -qx 'record: layers.#.attn is missing: a module of type Attn (×48)' "$scratch/err"
run plan --all --type net.rs:Body deep.safetensors
check "--all lists every one" [ "$(grep -c '^problem: layers\.[0-9]*\.attn is missing' "$scratch/out")" = 48 ]
set -- lm_head.weight=5,8 lm_head.bias=5 model.norm.weight=8 model.norm.bias=8
for i in $(seq 0 11); do
    set -- "$@" model.layers.$i.attn.qkv.weight=24,8 model.layers.$i.fc.weight=8,8
done
model "$@" >layers.safetensors
run plan --type net.rs:Net layers.safetensors
check "names too" grep -qx 'problem: model.layers.#.attn.{query,key,value} is missing: a module of type Linear (×36)' "$scratch/out"
check "with one rule for all of them" [ "$(grep -cFe --rule "$scratch/out")" = 1 ]

need_jq
run plan --json --type net.rs:Net net.safetensors
answers "--json has them as options too" '[.problems[] | select(.key == "head") | .hint]' "[\"Nearest: lm_head: --remap '^lm_head\\\\. => head.'\"]"
run info --json llama.safetensors
answers "--json has the family" .families '[{"name":"Llama","profile":"llama","fits":true,"others":"llama-norope","select":"","but":""}]'

# ------------------------------------------------------------------------------------------------------- of several --

cp llama.safetensors whole.safetensors
shards_said=$("$record" convert -q --adapter none --max-shard-size 300 whole.safetensors parts.safetensors 2>&1)
part=$(find . -name 'parts-*1-of-*.safetensors' -printf '%f\n' | head -n 1)
check "a model in several files" [ -z "$shards_said" -a -n "$part" ]
run info "$part"
check "one of them is of the family of all" grep -q '^looks like .*Llama: --profile llama.*, as a part of parts.safetensors.index.json' "$scratch/out"
check "and the whole is what to plan" grep -q 'record plan parts.safetensors.index.json shows' "$scratch/out"
run info --json "$part"
answers "--json" '[.families[0].profile, .part_of]' '["llama","parts.safetensors.index.json"]'
rm parts.safetensors.index.json
run info "$part"
check "without an index it is of none" sh -c '! grep -q "looks like" "$1"' sh "$scratch/out"

finish
