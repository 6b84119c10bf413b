#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# PyTorch's own files by way of the command: imported as safetensors of the same tensors are, found by their content, taken
# apart by their keys, and written so that they come back.
# shellcheck disable=SC2016 # messages have names in quotes of this kind
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
top=$(pwd)/../../..
case $srcdir in /*) top=$srcdir ;; esac
golden=$top/tests/data/pytorch
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# does NAME ARGUMENT...: the command succeeds
does() {
    name=$1
    shift
    run "$@"
    status_is "$name" 0
}

cat >net.rs <<'END'
pub struct Net<B: Backend> { fc: nn::Linear<B>, norm: nn::BatchNorm<B, 1>, emb: nn::Embedding<B> }
END

# --------------------------------------------------------------------------------------------------------- importing --

does "tensors leave as they are" convert -q --adapter none "$golden/1.13.1/zip_module.pt" same.safetensors
for file in 1.13.1/zip_module 1.13.1/legacy_module 1.13.1/zip_protocol5 1.13.1/zip_deflated; do
    set -- --type net.rs:Net --rename '^0\. => fc.' --rename '^1\. => norm.' --rename '^2\. => emb.'
    does "$file: it is imported by type" convert -q "$@" "$golden/$file.pt" pt.mpk
    does "and so is the safetensors" convert -q "$@" same.safetensors st.mpk
    check "$file: to the same record" cmp pt.mpk st.mpk
done
run ls pt.mpk
check "a Linear is Burn's" grep -q 'fc.weight *f32 *\[3, 2\]' "$scratch/out"
does "a plan is made of it" plan "$@" "$golden/1.13.1/zip_module.pt"
check "and says what is transposed" grep -q 'fc.weight.*transpose' "$scratch/out"

cp "$golden/1.13.1/legacy_module.pt" pytorch_model.bin
does "a .bin of PyTorch's is known by its content" convert -q "$@" pytorch_model.bin bin.mpk
check "and is the same record" cmp bin.mpk st.mpk

# ------------------------------------------------------------------------------------------------------- parts of it --

does "a checkpoint's model is found" ls "$golden/1.13.1/zip_lightning.pt"
check "what is left out is told" grep -qF 'left out: `loops`, `callbacks`, `optimizer_states`' "$scratch/err"
does "it is imported" convert -q --type net.rs:Net --rename '^model\. => ' --rename '^0\. => fc.' --rename '^1\. => norm.' \
    --rename '^2\. => emb.' "$golden/1.13.1/zip_lightning.pt" lightning.mpk
run info lightning.mpk
check "with its epoch" grep -q 'epoch *= *3' "$scratch/out"
does "as safetensors" convert -q --check --adapter none "$golden/1.13.1/zip_lightning.pt" lightning.safetensors
run info lightning.safetensors
check "with its epoch, which is a number, and what is text after it" grep -q 'hparams_name *= *kwargs' "$scratch/out"
does "another part" show --top-level-key optimizer_states.0.param_groups.0 "$golden/1.13.1/zip_lightning.pt" lr
check "by its key" grep -qx '0.5' "$scratch/out"
does "the whole" show --top-level-key . "$golden/1.13.1/zip_lightning.pt" hyper_parameters.betas.1
check "with all values" grep -qx '0.999' "$scratch/out"
fails "a part that is not there" ls --top-level-key nothing "$golden/1.13.1/zip_nested.pt" <<END
record: $golden/1.13.1/zip_nested.pt: top-level-key: there is no \`nothing\` in the file
  There are: \`encoder\`, \`decoder\`.
END
run ls --top-level-key x same.safetensors
status_is "another format has no such parts" 2
check "as is said" grep -qF 'Safetensors has no option `top-level-key`' "$scratch/err"

# ----------------------------------------------------------------------------------------------------------- writing --

does "a model is written" convert -q --check same.safetensors one.pt
does "and again" convert -q same.safetensors two.pt
check "as the same bytes" cmp one.pt two.pt
does "it is read" convert -q --adapter none one.pt back.safetensors
check "and has the same tensors" cmp back.safetensors same.safetensors
for ending in pth ckpt; do
    does ".$ending is PyTorch's, too" convert -q same.safetensors "model.$ending"
    check "with that name" cmp one.pt "model.$ending"
done

# What leaves backwards is what came.
cat >net.ini <<'END'
[profile net]
rename = ^0\. => fc.
rename = ^1\. => norm.
rename = ^2\. => emb.
module = ^fc$ => Linear
module = ^norm$ => BatchNorm
module = ^emb$ => Embedding
END
does "by a profile" convert -q --profile net.ini:net "$golden/1.13.1/zip_module.pt" profile.mpk
does "and backwards" convert -q --profile net.ini:net --reverse profile.mpk reverse.pt
does "it is read again" convert -q --adapter none reverse.pt reverse.safetensors
does "but for what a record does not have" convert -q --adapter none --drop num_batches_tracked same.safetensors kept.safetensors
run ls --all kept.safetensors
sort "$scratch/out" >kept.ls
run ls --all reverse.safetensors
sort "$scratch/out" >reverse.ls
same "the same names and shapes" kept.ls reverse.ls
for key in 0.weight 0.bias 1.running_var 2.weight; do
    run show kept.safetensors "$key"
    cp "$scratch/out" kept.show
    run show reverse.safetensors "$key"
    same "$key has its values" kept.show "$scratch/out"
done

does "Burn's layout is told" convert st.mpk burn.pt
check "so that nobody takes it for PyTorch's" grep -qF 'for a model that PyTorch is to load, go backwards' "$scratch/err"
does "and comes back" convert -q burn.pt burn.safetensors
run ls burn.safetensors
check "untransposed" grep -q 'fc.weight *f32 *\[3, 2\]' "$scratch/out"
does "an optimizer's state goes out and comes back" convert -q --check "$golden/1.13.1/zip_optimizer.pt" optim.pt
run ls --all optim.pt
cp "$scratch/out" optim.ls
run ls --all "$golden/1.13.1/zip_optimizer.pt"
same "with all values" "$scratch/out" optim.ls

# ---------------------------------------------------------------------------------------------------------- refused --

run convert -q "$golden/1.13.1/refused_command.pt" out.mpk
status_is "a command is refused" 2
check "by its name" grep -qF 'the pickle asks for `posix.system`' "$scratch/err"
check "nothing is written" [ ! -e out.mpk ]

finish
