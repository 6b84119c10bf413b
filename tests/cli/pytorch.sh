#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# PyTorch's own files by way of the command: imported as safetensors of the same tensors are, found by their content, taken
# apart by their keys, and written so that they come back.
# shellcheck disable=SC2016 # messages have names in quotes of this kind
# shellcheck disable=SC2317 # functions that check() calls
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

# The stream before zip, by hand.
stream_head() {
    printf '\200\002\212\012\154\374\234\106\371\040\152\250\120\031.\200\002M\351\003.\200\002}.\200\002}('
}
# a tensor of the three floats that there are, up to its offset, shape and strides
floats() {
    printf 'ctorch._utils\n_rebuild_tensor_v2\n((X\007\000\000\000storagectorch\nFloatStorage\nX\001\000\000\0000'
    printf 'X\003\000\000\000cpuK\003tQK\000'
}
linear() {
    printf 'X\011\000\000\000fc.weight'
    floats
    printf '(K\001K\003t(K\003K\001t\211}tR'
    printf 'X\007\000\000\000fc.bias'
    floats
    printf '(K\001t(K\001t\211}tRu'
}
stream_tail() {
    printf '.\200\002]X\001\000\000\0000a.\003\000\000\000\000\000\000\000\000\000\200\077\000\000\000\100\000\000\100\100'
}
{ stream_head && linear && stream_tail; } >plain.pt
{
    stream_head && printf 'X\012\000\000\000state_dict}(' && linear
    printf 'X\004\000\000\000loss' && floats && printf '))\211}tRu' && stream_tail
} >beside.pt
{
    stream_head && printf 'X\004\000\000\000mine}(' && linear
    printf 'X\003\000\000\000opt}(X\005\000\000\000state}X\014\000\000\000param_groups]uu' && stream_tail
} >unknown.pt
does "a state dict alone" convert -q plain.pt plain.mpk
does "a tensor next to it" convert -y beside.pt beside.mpk
check "is left out with a note" grep -qF 'left out: `loss`' "$scratch/err"
check "and the model is the same" cmp plain.mpk beside.mpk
run ls beside.mpk
check "its Linear is transposed" grep -q 'fc.weight *f32 *\[3, 1\]' "$scratch/out"
does "a checkpoint without a known name" convert -y unknown.pt unknown.mpk
check "leaves with a note that nothing was adapted" grep -qF 'nothing is adapted' "$scratch/err"
check "which names the part" grep -qF 'such as `mine`' "$scratch/err"
does "that part is adapted" convert -q --top-level-key mine unknown.pt mine.mpk
check "and is the same model" cmp plain.mpk mine.mpk

does "another part" show --top-level-key optimizer_states.0.param_groups.0 "$golden/1.13.1/zip_lightning.pt" lr
check "by its key" grep -qx '0.5' "$scratch/out"
does "the whole" show --top-level-key . "$golden/1.13.1/zip_lightning.pt" 'hyper_parameters.betas[1]'
check "with all values" grep -qx '0.999' "$scratch/out"
fails "a part that is not there" ls --top-level-key nothing "$golden/1.13.1/zip_nested.pt" <<END
record: $golden/1.13.1/zip_nested.pt: top-level-key: there is no \`nothing\` in the file
  Known: \`encoder\`, \`decoder\`.
END
run ls --top-level-key x same.safetensors
status_is "another format has no such parts" 2
check "as is said" grep -qF 'Safetensors has no option `top-level-key`' "$scratch/err"

# ----------------------------------------------------------------------------------------------------------- writing --

does "a model is written" convert -q --check same.safetensors one.pt
does "and again" convert -q same.safetensors two.pt
check "as the same bytes" cmp one.pt two.pt
does "it is read" convert -q --adapter none one.pt back.safetensors
does "and has the same tensors" convert -q same.safetensors formatted.safetensors
check "with the same bytes" cmp back.safetensors formatted.safetensors
for ending in pth ckpt; do
    does ".$ending is PyTorch's, too" convert -q same.safetensors "model.$ending"
    check "with that name" cmp one.pt "model.$ending"
done

# transformers 4.41 to 4.57 load a file only if its metadata have `format`, one of pt, tf, flax, mlx; 5 loads any.
takes_format() { # FILE
    head -c "$(($(od -An -tu8 -N8 "$1") + 8))" "$1" | grep -q '"__metadata__":{[^}]*"format":"pt"'
}
check "flat names in PyTorch's layout say so" takes_format back.safetensors
does "a checkpoint with an entry next to the model" convert -q beside.pt beside.safetensors
check "says so, too" takes_format beside.safetensors
does "a record of Burn" convert -q plain.mpk burn.safetensors
check "does not" sh -c '! grep -q "\"format\":\"pt\"" burn.safetensors'
{
    stream_head && printf 'X\012\000\000\000state_dict}(' && linear
    printf 'X\006\000\000\000formatX\001\000\000\000xX\007\000\000\000versionK\005u' && stream_tail
} >words.pt
does "entries whose names mean something in other formats" convert -q words.pt words.safetensors
check "do not take their place" takes_format words.safetensors
does "nor in a record" convert -q words.pt words.mpk
run info --all words.mpk
check "and are kept" sh -c 'grep -q "checkpoint.format = x" "$1" && grep -q "checkpoint.version = 5" "$1"' - "$scratch/out"

# Between formats that hold names and arrays nothing changes.
does "a model becomes arrays of NumPy" convert -y same.safetensors same.npz
check "with its names and layout" sh -c '! grep -q transpose "$1" "$2"' - "$scratch/out" "$scratch/err"
does "and is a model again" convert -q same.npz again.safetensors
check "which is the same" cmp again.safetensors back.safetensors
does "also as PyTorch's" convert -q same.npz again.pt
check "to the byte" cmp again.pt one.pt
does "another" convert -q plain.pt plain.npz
does "from there it becomes Burn's" convert -q plain.npz npz.mpk
run diff npz.mpk plain.mpk
status_is "with the same values" 0

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
check "so that nobody takes it for PyTorch's" grep -qF 'for a model that PyTorch loads, use reverse' "$scratch/err"
does "and comes back" convert -q burn.pt burn.safetensors
run ls burn.safetensors
check "untransposed" grep -q 'fc.weight *f32 *\[3, 2\]' "$scratch/out"
run convert -q --type-of st.mpk burn.pt typed.mpk
status_is "parameters of a type get ids, which PyTorch has none of" 0
run diff st.mpk typed.mpk
status_is "and are what they were" 0
does "an optimizer's state goes out and comes back" convert -q --check "$golden/1.13.1/zip_optimizer.pt" optim.pt
run ls --all optim.pt
cp "$scratch/out" optim.ls
run ls --all "$golden/1.13.1/zip_optimizer.pt"
same "with all values" "$scratch/out" optim.ls

# -------------------------------------------------------------------------------------------------------- several files --

mkdir parts
does "a part of a model" convert -q --adapter none --drop '^[12]\.' same.safetensors 1.pt
does "and the rest of it" convert -q --adapter none --drop '^0\.' same.safetensors 2.pt
mv 1.pt parts/pytorch_model-00001-of-00002.bin
mv 2.pt parts/pytorch_model-00002-of-00002.bin
# map_of FILE: the entries of an index; what begins with 0 is in the first part
map_of() {
    run ls --all same.safetensors
    awk '/^ *[0-9]\./ { part = $1 ~ /^0\./ ? 1 : 2
        printf "%s    \"%s\": \"pytorch_model-%05d-of-00002.bin\"", n++ ? ",\n" : "", $1, part }' "$scratch/out"
}
{
    echo '{ "metadata": {"total_size": 10000000000, "origin": "a trainer"}, "weight_map": {'
    map_of
    echo ' } }'
} >parts/pytorch_model.bin.index.json
does "an index is loaded" convert -q --adapter none parts/pytorch_model.bin.index.json parts.safetensors
does "a directory is, too" convert -q --adapter none parts folder.safetensors
check "to the same" cmp parts.safetensors folder.safetensors
run info parts
check "its size is that of its files" grep -q '^file  *[0-9.]* [A-Za-z]*, mapped' "$scratch/out"
run info parts.safetensors
check "with the text of its metadata" grep -q 'origin *= *a trainer' "$scratch/out"
run ls --all parts.safetensors
sort "$scratch/out" >parts.ls
run ls --all same.safetensors
sort "$scratch/out" >same.ls
same "all tensors are there" parts.ls same.ls
does "it is imported as one file is" convert -q --type net.rs:Net --rename '^0\. => fc.' --rename '^1\. => norm.' \
    --rename '^2\. => emb.' parts several.mpk
for key in fc.weight norm.gamma emb.weight; do
    run show several.mpk "$key"
    cp "$scratch/out" several.show
    run show st.mpk "$key"
    same "$key has its values" several.show "$scratch/out"
done
cp parts/pytorch_model.bin.index.json sound.json
sed 's/"0.weight": "pytorch_model-00001/"0.weight": "pytorch_model-00002/' sound.json >parts/pytorch_model.bin.index.json
at=$(grep -ob '"0.weight"' parts/pytorch_model.bin.index.json | cut -d: -f1)
fails "a tensor in another part than the index says" ls parts <<END
record: parts/pytorch_model.bin.index.json: byte $at: the tensor \`0.weight\` is, against the index, also in pytorch_model-00001-of-00002.bin
  The index and the files are not of one model, or not all were copied.
END
sed 's/"0.weight"/"0.wait"/' sound.json >parts/pytorch_model.bin.index.json
run ls parts
status_is "a tensor that no part has is refused" 2
check "by its name" grep -qF 'the tensor `0.wait` is not in pytorch_model-00001-of-00002.bin' "$scratch/err"
sed '/"0.weight"/d' sound.json >parts/pytorch_model.bin.index.json
does "a tensor that the index does not name" ls --all parts
check "is left out" [ "$(grep -c '0\.weight' "$scratch/out")" = 0 ]
check "and told" grep -qF 'that the index does not name: left out; the first is `0.weight`' "$scratch/err"
sed 's/00002-of-00002/00003-of-00003/' sound.json >parts/pytorch_model.bin.index.json
run ls parts
status_is "a part that is not there" 2
check "is named" grep -qF 'pytorch_model-00003-of-00003.bin: cannot open the file' "$scratch/err"
sed 's,"pytorch_model-00001,"../pytorch_model-00001,' sound.json >parts/pytorch_model.bin.index.json
run ls parts
status_is "a part out of the directory is refused" 2
cp "$golden/1.13.1/zip_optimizer.pt" parts/pytorch_model-00001-of-00002.bin
cp sound.json parts/pytorch_model.bin.index.json
run ls parts
status_is "a part that is no model is refused" 2
check "by its name" grep -q 'pytorch_model-00001-of-00002.bin: it is not a model' "$scratch/err"
mkdir single
cp "$golden/1.13.1/legacy_module.pt" single/pytorch_model.bin
does "a directory with the whole in one file" convert -q --type net.rs:Net --rename '^0\. => fc.' --rename '^1\. => norm.' \
    --rename '^2\. => emb.' single single.mpk
check "is that file" cmp single.mpk st.mpk
cp same.safetensors single/model.safetensors
does "where there are safetensors, too" info single
check "these count" grep -q 'Safetensors' "$scratch/out"

# ------------------------------------------------------------------------------------------------------------- lists --

# A list of numbers is the same value as in other formats.
printf '{"metadata":{"float":"f32","int":"i32","format":"f","version":"0.21.0","settings":"s"},"item":{"list":[%s],"two":[0.5,-1]}}' \
    "$(seq -s , 0 9999)" >long.json
run convert -q long.json long.pt
status_is "a record with a long list becomes a .pt" 0
run diff long.json long.pt
status_is "and the list is the same when it is read" 0
run ls long.pt
check "a listing has it in one line" grep -qE '^list +numbers +\[0, 1, 2, .* 10,000 in all\]$' "$scratch/out"

# ----------------------------------------------------------------------------------------------------------- refused --

run convert -q "$golden/1.13.1/refused_command.pt" out.mpk
status_is "a command is refused" 2
check "by its name" grep -qF 'the pickle asks for `posix.system`' "$scratch/err"
check "nothing is written" [ ! -e out.mpk ]

# Several archives in one file, and what is no archive of torch.save().
"$record" convert -q --adapter none "$srcdir/tests/data/pytorch/1.13.1/zip_module.pt" one.pt
cat one.pt one.pt >several.pt
run ls several.pt
check "several archives in one file" \
    grep -q "several archives in one file: the last one begins after $(wc -c <one.pt | tr -d ' ') other bytes" "$scratch/err"
cat "$srcdir/tests/data/pytorch/1.13.1/zip_module.pt" "$srcdir/tests/data/pytorch/1.13.1/zip_module.pt" >several.pt
run ls several.pt
check "as torch writes them" grep -q 'several archives in one file: the last one begins after' "$scratch/err"
cat "$srcdir/tests/data/pytorch/1.13.1/legacy_module.pt" "$srcdir/tests/data/pytorch/1.13.1/legacy_module.pt" >several.pt
run ls several.pt
check "of the old form as well" grep -q 'several archives of torch.save() in one file' "$scratch/err"
tar cf old.tar one.pt
run ls old.tar
check "a tar archive is known by name" grep -q 'It is a tar archive, as PyTorch files from before 0.1.10 are' "$scratch/err"
for protocol in 3 4 5; do
    # shellcheck disable=SC2059 # octal
    printf "\\200\\00$protocol}q\\000." >pickle.pkl
    run ls pickle.pkl
    check "a pickle of protocol $protocol is known by name" grep -q 'It is a Python pickle' "$scratch/err"
done

# ------------------------------------------------------------------------------------------------------------- names --

"$record" edit new set fc.weight 'f32[2,3]=1' set fc.bias 'f32[3]=1' -q -o only.json
run convert -q -y only.json only.npz
run convert -y only.npz flat.pt
status_is "NumPy's arrays become one dictionary" 0
check "with flat names" grep -aq 'fc\.weight' flat.pt
check "of which no version of Burn is left out" sh -c '! grep -q "which version of Burn" "$1"' - "$scratch/err"
run convert -q -y flat.pt back.json
run diff only.json back.json
status_is "nothing adapts them on the way back" 0
"$record" edit -q only.json mv fc fc.inner -o inner.json
run convert -q -y inner.json inner.pt
zip -qd inner.pt archive/.data/librecord 2>/dev/null || skip "a dictionary with an unknown name" "zip is not installed"
if command -v zip >/dev/null; then
    run convert -y inner.pt inner.npz
    check "a dictionary with an unknown name is named" \
        grep -q 'the model is what the file has as `inner`, which is not in its names' "$scratch/err"
fi

finish
