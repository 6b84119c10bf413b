#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# PyTorch's modules of several tensors, there and back under any attribute name: with the type, and without one by what
# keys and records show.
# shellcheck disable=SC2094 # `shapes` is a function here and a file there
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

product() { # "A, B": the number of elements
    count=1
    for size in $(echo "$1" | tr ',' ' '); do
        count=$((count * size))
    done
    echo $count
}

model() { # FILE KEY=SHAPE...
    file=$1
    shift
    st_begin
    for tensor; do
        shape=$(echo "${tensor#*=}" | sed 's/,/, /g')
        st_tensor "${tensor%%=*}" "$shape" "$(product "$shape")"
    done
    st_end >"$file.safetensors"
}

recurrent() { # PATH GATES UNITS WIDTH LAYER [END]: the tensors of a layer
    rows=$(($2 * $3))
    echo "$1.weight_ih_l$5${6-}=$rows,$4 $1.weight_hh_l$5${6-}=$rows,$3 $1.bias_ih_l$5${6-}=$rows $1.bias_hh_l$5${6-}=$rows"
}

attention() { # PATH
    echo "$1.in_proj_weight=12,4 $1.in_proj_bias=12 $1.out_proj.weight=4,4 $1.out_proj.bias=4"
}

layer() { # PATH: what both kinds of layers have
    echo "$1.linear1.weight=6,4 $1.linear1.bias=6 $1.linear2.weight=4,6 $1.linear2.bias=4 $1.norm1.weight=4 $1.norm1.bias=4" \
        "$1.norm2.weight=4 $1.norm2.bias=4"
}

# there_and_back NAME TYPE OPTION...: model.safetensors becomes a record and that the same file again
there_and_back() {
    name=$1
    printf 'use burn::nn::*;\n#[derive(Module, Debug)]\npub struct Net { %s }\n' "$2" >net.rs
    shift 2
    for format in mpk bpk; do
        for typed in net.rs:Net ''; do
            run convert -y ${typed:+--type $typed} "$@" model.safetensors "there.$format"
            status_is "$name ${typed:+with its type, }to $format" 0
            run convert -y --reverse ${typed:+--type $typed} "$@" "there.$format" back.safetensors
            status_is "$name ${typed:+with its type, }from $format" 0
            check "$name ${typed:+with its type, }$format: the same" "$record" diff model.safetensors back.safetensors
        done
    done
}

# shellcheck disable=SC2046 # lists of words
for path in encoder lstm a.b; do
    inside=''
    [ "$path" = a.b ] && inside=yes
    field=${path%%.*}
    for kind in Lstm:4 Gru:3 Rnn:1; do
        gates=${kind#*:}
        kind=${kind%:*}
        type() {
            if [ "$inside" ]; then
                printf '%s: A }\n#[derive(Module, Debug)]\npub struct A { b: %s' "$field" "$1"
            else
                printf '%s: %s' "$field" "$1"
            fi
        }
        model model $(recurrent $path "$gates" 2 3 0)
        there_and_back "$kind $path" "$(type "$kind")"
        model model $(recurrent $path "$gates" 2 3 0) $(recurrent $path "$gates" 2 3 0 _reverse)
        there_and_back "Bi$kind $path" "$(type "Bi$kind")"
        model model $(recurrent $path "$gates" 2 3 0) $(recurrent $path "$gates" 2 2 1) $(recurrent $path "$gates" 2 2 2)
        there_and_back "layers of $kind $path" "$(type "Vec<$kind>")"
    done
done

# shellcheck disable=SC2046 # lists of words
{
    model model $(attention pool)
    printf 'use burn::nn::*;\n#[derive(Module, Debug)]\npub struct Net { pool: MultiHeadAttention }\n' >net.rs
    run convert --type net.rs:Net model.safetensors there.bpk
    run convert --reverse --type net.rs:Net there.bpk back.safetensors
    check "attention with its type comes back" "$record" diff model.safetensors back.safetensors
    run convert model.safetensors there.mpk
    run convert -y --reverse there.mpk back.safetensors
    check "and without one where the record has its constants" "$record" diff model.safetensors back.safetensors
    model model pool.q_proj_weight=4,4 pool.k_proj_weight=4,5 pool.v_proj_weight=4,6 pool.in_proj_bias=12 pool.out_proj.weight=4,4
    run convert -y --type net.rs:Net model.safetensors there.bpk
    run convert -y --reverse --type net.rs:Net there.bpk back.safetensors
    check "attention to other widths comes back" "$record" diff model.safetensors back.safetensors

    model model $(for i in 0 1; do attention t.layers.$i.self_attn; layer t.layers.$i; done)
    for first in 0 1; do
        there_and_back "an encoder, norm_first $first" 't: TransformerEncoder' --set norm_first=$first
    done
    cp model.safetensors encoder.safetensors
    model model $(for i in 0 1; do attention t.layers.$i.self_attn; layer t.layers.$i; done) other.weight=4,3 other.bias=4
    there_and_back "an encoder beside a rule" 't: TransformerEncoder, extra: Linear' --set norm_first=0 \
        --rule 'rename = ^other\. => extra.'
    run convert -y --set norm_first=0 --rule 'rename = ^other\. => extra.' model.safetensors there.mpk
    run convert -y --reverse there.mpk back.safetensors
    check "the rule is remembered, and the encoder recognised" "$record" diff model.safetensors back.safetensors
    mv encoder.safetensors model.safetensors
    there_and_back "an encoder again" 't: TransformerEncoder' --set norm_first=1

    run convert -y model.safetensors none.bpk
    status_is "the order of norms is asked for" 2
    check "by the option that gives it" grep -q -e '--set norm_first=0|1' "$scratch/err"
    run convert -y --type net.rs:Net model.safetensors none.bpk
    status_is "with the type too" 2
    check "nothing is written" [ ! -e none.bpk ]
    run convert -y --reverse there.bpk back.safetensors
    status_is "on the way back the record has it" 0
    check "and the file is the same" "$record" diff model.safetensors back.safetensors
    run convert -y --metadata librecord.import= there.bpk bare.bpk
    run convert -y --reverse --type net.rs:Net bare.bpk none.safetensors
    status_is "a record without that asks" 2
    check "by the same option" grep -q -e '--set norm_first=0|1' "$scratch/err"

    model model $(for part in self_attn multihead_attn; do attention d.layers.0.$part; done) $(layer d.layers.0) \
        d.layers.0.norm3.weight=4 d.layers.0.norm3.bias=4
    for first in 0 1; do
        there_and_back "a decoder, norm_first $first" 'd: TransformerDecoder' --set norm_first=$first
    done
    model model $(for part in self_attn multihead_attn; do attention d.layers.0.$part; done) $(layer d.layers.0) \
        d.layers.0.norm3.weight=4 d.layers.0.norm3.bias=4 other.weight=4,3 other.bias=4
    there_and_back "a decoder beside a rule" 'd: TransformerDecoder, extra: Linear' --set norm_first=0 \
        --rule 'rename = ^other\. => extra.'

    # Without a type nothing shows that the destination has a norm after the last layer, which Burn's encoder has not.
    model model $(for i in 0 1; do attention t.layers.$i.self_attn; layer t.layers.$i; done) t.norm.weight=4 t.norm.bias=4
    run convert -y --set norm_first=0 model.safetensors none.bpk
    status_is "a norm after the last layer" 2
    check "is named" grep -q '^record: t.norm: a norm after the last layer' "$scratch/err"
    run convert -y --set norm_first=0 --module '^t\.norm$ => LayerNorm' model.safetensors there.bpk
    status_is "unless a rule says what it is" 0

    # Rules win, on both ways.
    model model $(recurrent old.rnn 4 2 3 0)
    there_and_back "a rename moves the module" 'encoder: Lstm' --remap '^old\.rnn\. => encoder.'
    for name in lstm gru rnn mha; do
        there_and_back "the profile $name adds nothing" 'old: Old }
#[derive(Module, Debug)]
pub struct Old { rnn: Lstm' --profile $name
    done
}

# Cells are layers without a number, and come back as such: alone and in lists.
cell() { # PATH GATES
    echo "$1.weight_ih=$(($2 * 2)),2 $1.weight_hh=$(($2 * 2)),2 $1.bias_ih=$(($2 * 2)) $1.bias_hh=$(($2 * 2))"
}
# shellcheck disable=SC2046 # lists of words
for kind in Lstm:4 Gru:3 Rnn:1; do
    gates=${kind#*:}
    kind=${kind%:*}
    model model $(cell step "$gates") $(cell many.0 "$gates") $(cell many.1 "$gates") $(recurrent layer "$gates" 2 2 0)
    there_and_back "cells of $kind" "step: $kind, many: Vec<$kind>, layer: $kind"
    run convert -y --metadata librecord.import= there.mpk bare.mpk
    run convert -y --reverse --base model.safetensors bare.mpk back.safetensors
    check "cells of $kind by the base" "$record" diff model.safetensors back.safetensors
done

# weight_norm by both spellings. Each row has the length that its numbers say, so that no bit changes.
normed() { # PREFIX
    st_begin
    st_tensor "$1old.weight_g" '1, 1' 1 5
    st_tensor "$1old.weight_v" '1, 2' 2 3
    st_tensor "$1new.0.parametrizations.weight.original0" '1, 1' 1 5
    st_tensor "$1new.0.parametrizations.weight.original1" '1, 2' 2 3
    st_tensor "$1old.bias" 1 1
    st_tensor "$1new.0.bias" 1 1
    st_end >model.safetensors
}
normed ''
there_and_back "weight_norm" 'old: Linear, new: Vec<Linear>'
there_and_back "weight_norm next to a rule" 'first: Linear, new: Vec<Linear>' --remap '^old\. => first.'
run convert -y --reverse there.mpk back.safetensors
check "and the record has the rule" "$record" diff model.safetensors back.safetensors
run convert -y --metadata librecord.import= there.mpk bare.mpk
run convert -y --reverse --remap '^old\. => first.' --base model.safetensors bare.mpk back.safetensors
status_is "a record that lost its metadata goes back by its base" 0
check "weight_norm comes back" "$record" diff model.safetensors back.safetensors
normed 'module.'
run convert -y --select module --type net.rs:Net --remap '^old\. => first.' model.safetensors there.mpk
run convert -y --reverse there.mpk back.safetensors
status_is "weight_norm below what was selected goes back" 0
check "the same" "$record" diff model.safetensors back.safetensors

# The axis of the lengths, as in wav2vec2's pos_conv, whose weight_norm has dim 2; and one length of all, dim None.
shapes() { # FILE
    "$record" ls --all "$1" | grep weight | sort
}
axis() { # NAME SHAPE COUNT
    st_begin
    st_tensor conv.0.weight_g "$2" "$3" 5
    st_tensor conv.0.weight_v '3, 2, 4' 24
    st_tensor plain.0.weight '2, 2' 4
    st_end >model.safetensors
    shapes model.safetensors >shapes
    printf 'use burn::nn::*;\n#[derive(Module, Debug)]\npub struct Net { conv: Vec<conv::Conv1d>, plain: Vec<Linear> }\n' >net.rs
    run convert -y --type net.rs:Net model.safetensors there.mpk
    run convert -y --reverse there.mpk back.safetensors
    shapes back.safetensors >found
    same "weight_norm, $1: the record has it" shapes found
    run convert -y --metadata librecord.import= there.mpk bare.mpk
    run convert -y --reverse --base model.safetensors --type net.rs:Net bare.mpk back.safetensors
    shapes back.safetensors >found
    same "weight_norm, $1: the base shows it" shapes found
    run convert -y --type net.rs:Net model.safetensors there.bin
    rule=$(sed -n "s/.*--rule '\(weight_norm = [^']*\)'.*/\1/p" "$scratch/err")
    run convert -y --reverse --type net.rs:Net --rule "$rule" there.bin back.safetensors
    shapes back.safetensors >found
    same "weight_norm, $1: the note of a .bin has a rule for it" shapes found
}
axis rows '3, 1, 1' 3
axis 'dim 1' '1, 2, 1' 2
axis 'dim 2' '1, 1, 4' 4
axis 'one length of all' '' 1
run convert -y --reverse --type net.rs:Net --rule 'weight_norm = ^conv\.0$ | 3' there.bin none.safetensors
status_is "an axis that the weight has not" 2
run convert -y --type net.rs:Net --rule 'weight_norm = ^conv\.0$ | widest' model.safetensors none.mpk
status_is "an axis of no name" 2

# A list of different modules is nn.Sequential's. In Burn it may be a struct, whose fields have names in a .bpk.
model model stem.0.weight=2,2 stem.0.bias=2 stem.2.weight=2 stem.2.bias=2 same.0.weight=2,2 same.0.bias=2 same.2.weight=2,2 same.2.bias=2
run convert -y model.safetensors none.bpk
status_is "a list of different modules to .bpk" 2
check "the message names it alone" grep -q '^record: stem: a list of different modules (Linear, LayerNorm)' "$scratch/err"
for way in '--gaps close' '--partial'; do
    # shellcheck disable=SC2086 # a list of words
    run convert -y $way model.safetensors there.bpk
    status_is "a tuple in the model: $way" 0
done
run convert -y --remap '^stem\.0\. => stem.fc.' --remap '^stem\.2\. => stem.norm.' model.safetensors there.bpk
status_is "with names" 0
run convert -y model.safetensors there.mpk
status_is "a .mpk has structs in lists" 0

# The fields of nn.Sequential itself are numbers: an error where Burn is to load the record, else a note.
model model 0.weight=2,2 0.bias=2 2.weight=2,2 2.bias=2
run convert -y model.safetensors none.bpk
status_is "a model whose fields are numbers to .bpk" 2
run convert -y --burn 0.21 model.safetensors none.mpk
status_is "and for a version of Burn" 2
run convert -y model.safetensors there.mpk
status_is "and to .mpk" 0
check "with a note" grep -q "note: the model's own fields are numbers" "$scratch/err"

# A record in Burn's layout is not what PyTorch loads.
run convert -y there.mpk burns.safetensors
check "a note says whose layout a record has" grep -q 'names and layout; for a model that PyTorch loads, use reverse' "$scratch/err"
run convert -y --option burn-store=yes there.mpk burns.safetensors
# shellcheck disable=SC2016 # the inner shell expands $1
check "not where Burn's store is to load it" sh -c '! grep -q backwards "$1"' - "$scratch/err"
run convert -y --reverse there.mpk back.safetensors
# shellcheck disable=SC2016 # the inner shell expands $1
check "nor on the way back" sh -c '! grep -q "use reverse" "$1"' - "$scratch/err"

finish
