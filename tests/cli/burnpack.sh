#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Burnpack on the command line: records of every Burn into it and back, and the golden files of Burn's own stores.
# shellcheck disable=SC2016 # what an inner shell expands, or text with backquotes
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

# listed FILE: its tensors and values
listed() {
    "$record" ls -q --json "$1"
}

# ------------------------------------------------------------------------------------------- models there and back again

for file in 0.13.2/tiny-full 0.14.0/tiny-half 0.16.1/zoo-double 0.18.0/zoo-full 0.18.0/mnist 0.21.0/zoo-full; do
    for burn in 0.19 0.20 0.21 0.22 0.23; do
        [ "$burn/${file#*/}" = 0.19/zoo-full ] || [ "$burn/${file#*/}" = 0.19/zoo-double ] && continue
        run convert -q --burn $burn $file.mpk "$scratch/a.bpk"
        status_is "$file for Burn $burn" 0
    done
    run convert -q $file.mpk "$scratch/a.bpk"
    run convert -q "$scratch/a.bpk" "$scratch/b.bpk"
    check "$file.bpk comes back to the byte" cmp "$scratch/a.bpk" "$scratch/b.bpk"
    run convert -q "$scratch/a.bpk" "$scratch/a.mpk"
    run convert -q "$scratch/a.mpk" "$scratch/b.bpk"
    check "$file.bpk by way of .mpk, too" cmp "$scratch/a.bpk" "$scratch/b.bpk"
done

run convert 0.13.2/tiny-full.mpk "$scratch/a.bpk"
check "what ids become is told once" [ "$(grep -c 'note: .*ids of 64 bits' "$scratch/err")" = 1 ]
check "ids of UUIDs are numbers of 64 bits" sh -c "'$record' ls -q --json '$scratch/a.bpk' | grep -qE '\"id\": *\"[0-9a-v]{13}\"'"

# ------------------------------------------------------------------------------------------------ who has which file

sed "s|%|$scratch|" >"$scratch/expected.old" <<'END'
record: %/x.bpk: Burn 0.18 has no Burnpack files: Burn 0.19 is the first with them
  Write .mpk, for example: this version has recorders.
END
run convert --burn 0.18 0.18.0/tiny-full.mpk "$scratch/x.bpk"
status_is "Burn 0.18 has no burnpack" 2
same "which is said" "$scratch/expected.old" "$scratch/err"
for format in mpk mpk.gz json; do
    run convert --burn 0.22 0.18.0/tiny-full.mpk "$scratch/x.$format"
    status_is "Burn 0.22 has no $format" 2
    check "which is said of $format" grep -q 'Burn 0.22 has no recorders' "$scratch/err"
    check "and nothing is left of $format" [ ! -e "$scratch/x.$format" ]
done

# Formats that are nobody's of Burn are written for each of its versions: its stores load some of them.
for format in safetensors pt npz gguf; do
    for minor in 21 22 23; do
        run convert --burn 0.$minor 0.18.0/tiny-full.mpk "$scratch/x.$format"
        status_is "$format is written for Burn 0.$minor" 0
    done
    rm -f "$scratch/x.$format"
done

# ------------------------------------------------------------------------------------------- optimizers, schedulers

# A scheduler without a state is nil in a record, and an empty Burnpack.
cat >"$scratch/constant.json" <<'END'
{"metadata": {"float": "f32", "int": "i32", "format": "burn_core::record::file::PrettyJsonFileRecorder<burn_core::record::settings::FullPrecisionSettings>", "version": "0.21.0", "settings": "FullPrecisionSettings"}, "item": null, "_b": null}
END
run convert -q "$scratch/constant.json" "$scratch/constant.mpk"
run convert -q --burn 0.22 "$scratch/constant.mpk" "$scratch/constant.bpk"
run convert -q --burn 0.21 "$scratch/constant.bpk" "$scratch/again.mpk"
status_is "a scheduler without a state goes back to Burn 0.21" 0
check "as it was" cmp "$scratch/constant.mpk" "$scratch/again.mpk"
run convert -q -y --burn 0.21 --type ConstantLr "$scratch/constant.bpk" "$scratch/again.mpk"
check "with its type, too" cmp "$scratch/constant.mpk" "$scratch/again.mpk"
run convert -q -y --burn 0.21 --type Adam "$scratch/constant.bpk" "$scratch/again.json"
check "an optimizer that has no state yet is a map" grep -q '"item": {}' "$scratch/again.json"

for version in 0.14.0 0.16.1 0.18.0 0.21.0; do
    run convert -q $version/adam-full.mpk "$scratch/adam.bpk"
    status_is "Adam of $version" 0
    run convert -q "$scratch/adam.bpk" "$scratch/adam.mpk"
    run convert -q "$scratch/adam.mpk" "$scratch/again.bpk"
    check "comes back from $version" cmp "$scratch/adam.bpk" "$scratch/again.bpk"
    run convert -q --burn 0.21 "$scratch/adam.bpk" "$scratch/x.bpk"
    status_is "Adam of $version is no burnpack of 0.21" 2
    run convert -q --type NoamLrScheduler $version/noam-full.mpk "$scratch/noam.bpk"
    status_is "Noam of $version, by its type" 0
    run convert -q "$scratch/noam.bpk" "$scratch/noam.mpk"
    "$record" show -q $version/noam-full.mpk >"$scratch/first"
    "$record" show -q "$scratch/noam.mpk" >"$scratch/second"
    same "and back is the same number" "$scratch/first" "$scratch/second"
    run convert -q $version/noam-full.mpk "$scratch/x.bpk"
    status_is "a number does not say which scheduler it is of" 2
done
# Up to 0.14 some were tuples of their numbers, of which one is left.
while read -r type numbers name value; do
    for format in json mpk bin; do
        cat >"$scratch/tuple.json" <<END
{"metadata": {"float": "f32", "int": "i32", "version": "0.14.0", "settings": "FullPrecisionSettings",
  "format": "burn_core::record::file::PrettyJsonFileRecorder<burn_core::record::settings::FullPrecisionSettings>"},
 "item": [$numbers], "_b": null}
END
        [ $format = json ] || run convert -q --burn 0.14 --type "$type" "$scratch/tuple.json" "$scratch/tuple.$format"
        run convert -q --burn 0.22 --type "$type" "$scratch/tuple.$format" "$scratch/tuple.bpk"
        status_is "$type of 0.14, a tuple, from .$format" 0
        run show -q "$scratch/tuple.bpk" "0.$name"
        check "is its $name" grep -qx -- "$value" "$scratch/out"
    done
    run convert -q --burn 0.22 "$scratch/tuple.mpk" "$scratch/none.bpk"
    status_is "a tuple of numbers does not say which scheduler it is of" 2
    check "and nothing is written" [ ! -e "$scratch/none.bpk" ]
done <<'END'
CosineAnnealingLrScheduler 0.0625,0.0,0.125,1000,300 current_iter 300
LinearLrScheduler 0.0625,-0.5,700 remaining_iters 700
ExponentialLrScheduler 0.0625,0.5 previous_lr 0.0625
END
run convert -q 0.21.0/composed-full.mpk "$scratch/composed.bpk"
status_is "a composed scheduler says it" 0
run convert -q "$scratch/composed.bpk" "$scratch/composed.mpk"
check "and is the same again" cmp "$scratch/composed.mpk" 0.21.0/composed-full.mpk

# ---------------------------------------------------------------------------------------- what real Burn saved, and saves

burnpack=../burnpack
for file in "$burnpack"/0.22.1/*.bpk; do
    name=${file##*/}
    run convert -q "$file" "$scratch/x.bpk"
    case $name in
    optim-*) # Burn has the tensors of a state in random order
        run convert -q "$scratch/x.bpk" "$scratch/y.bpk"
        check "$name stays what it is" cmp "$scratch/x.bpk" "$scratch/y.bpk"
        listed "$scratch/x.bpk" | sed '/"file"/d; /"offset"/d' >"$scratch/first"
        listed "$file" | sed '/"file"/d; /"offset"/d' >"$scratch/second"
        same "$name has its tensors and numbers" "$scratch/second" "$scratch/first"
        ;;
    *) check "$name comes back to the byte" cmp "$scratch/x.bpk" "$file" ;;
    esac
    run convert -q "$file" "$scratch/x.mpk"
    status_is "$name becomes a record of Burn 0.21" 0
done
run convert -q "$burnpack/0.22.1/words.bpk" "$scratch/words.mpk"
"$record" ls -q "$scratch/words.mpk" >"$scratch/out"
check "r#type is type in a record" sh -c "grep -q '^type.weight' '$scratch/out' && ! grep -q 'r#' '$scratch/out'"
run convert -q "$scratch/words.mpk" "$scratch/x.bpk"
check "and r#type again in a burnpack" cmp "$scratch/x.bpk" "$burnpack/0.22.1/words.bpk"
run convert -q --reverse "$burnpack/0.22.1/words.bpk" "$scratch/words.safetensors"
run ls "$scratch/words.safetensors"
check "and type in PyTorch's file" sh -c "grep -q '^type.weight' '$scratch/out' && ! grep -q 'r#' '$scratch/out'"
cat >"$scratch/words.rs" <<'END'
#[derive(Module, Debug)]
pub struct Words<B: Backend> { r#type: nn::Linear<B>, r#match: Vec<nn::Linear<B>>, free: Param<Tensor<B, 1>> }
END
run convert -q --type "$scratch/words.rs:Words" "$burnpack/0.22.1/words.bpk" "$scratch/typed.bin"
status_is "by its type it becomes any record" 0
run convert -q --type "$scratch/words.rs:Words" "$scratch/typed.bin" "$scratch/x.bpk"
check "and the same burnpack again" cmp "$scratch/x.bpk" "$burnpack/0.22.1/words.bpk"
# What Burn 0.21's type asks for beside what a state of 0.22 has is written as absent.
run convert -q --type Adam "$burnpack/0.22.1/optim-adam.bpk" "$scratch/x.mpk"
status_is "a state of Adam by its type" 0
check "with what Adam's records have" sh -c "'$record' show -q '$scratch/x.mpk' | grep -q 'max_moment_2: null'"

# A checkpoint of burn-train, whole.
mkdir -p "$scratch/old/checkpoint"
cp 0.21.0/tiny-half.mpk.gz "$scratch/old/checkpoint/model-3.mpk.gz"
cp "$burnpack/0.21.0/optim-amsgrad.mpk" "$scratch/old/checkpoint/optim-3.mpk"
cp "$burnpack/0.21.0/scheduler-cosine.mpk" "$scratch/old/checkpoint/scheduler-3.mpk"
run convert -r --burn 0.22 --to bpk "$scratch/old" "$scratch/new"
status_is "a scheduler whose kind is not told" 2
check "is said to be one" grep -q 'its type is needed' "$scratch/out"
rm -r "$scratch/new"
run convert -r --burn 0.22 --to bpk --type 'scheduler-*=CosineAnnealingLrScheduler' "$scratch/old" "$scratch/new"
status_is "a whole checkpoint crosses" 0
for file in model-3 optim-3 scheduler-3; do
    check "$file is there" [ -s "$scratch/new/checkpoint/$file.bpk" ]
done
run ls -q --json "$scratch/new/checkpoint/model-3.bpk"
check "the model is one of f32" sh -c "grep -q '\"f32\"' '$scratch/out' && ! grep -q '\"f16\"' '$scratch/out'"
run convert -q --precision keep 0.21.0/tiny-half.mpk "$scratch/x.bpk"
run ls -q --json "$scratch/x.bpk"
check "unless half is asked for" grep -q '"f16"' "$scratch/out"
run convert 0.21.0/tiny-half.mpk "$scratch/x.bpk"
check "which is said" grep -q 'half precision was written as full' "$scratch/err"

# The README's line, as it stands: models and optimizers of all versions; a scheduler that needs an answer fails alone.
line=$(sed -n 's/^ *record \(convert -r --burn [^#]*[^# ]\) *#.*/\1/p' "$srcdir/README.md")
check "the README has a line for a directory" [ "$line" = "convert -r --burn 0.22 old/ new/" ]
rm -rf "$scratch/old" "$scratch/new"
for version in 0.*; do
    mkdir -p "$scratch/old/$version"
    cp "$version"/tiny-full.mpk "$version"/tiny-half.mpk.gz "$version"/tiny-double.json.gz "$version"/zoo-full.mpk \
        "$version"/adam-*.mpk "$version"/plain-full.json "$scratch/old/$version"
done
cp 0.18.0/mnist.mpk "$scratch/old"
# readme: runs the line
readme() {
    # shellcheck disable=SC2086 # words
    (cd "$scratch" && "$record" $line >out 2>err </dev/null)
    status=$?
}
readme
status_is "the README's line converts models and optimizers" 0
check "all of them" [ "$(find "$scratch/old" -type f | wc -l)" = "$(find "$scratch/new" -name '*.bpk' | wc -l)" ]
check "and nothing that Burn 0.22 does not load" [ -z "$(find "$scratch/new" -type f ! -name '*.bpk')" ]
run convert -q --burn 0.22 0.14.0/adam-full.mpk "$scratch/x.bpk"
check "as one by one" cmp "$scratch/x.bpk" "$scratch/new/0.14.0/adam-full.bpk"
rm -r "$scratch/old" "$scratch/new"
mkdir "$scratch/old"
cp 0.18.0/mnist.mpk "$scratch/old/model-1.mpk"
cp 0.18.0/adam-full.mpk "$scratch/old/optim-1.mpk"
cp 0.18.0/noam-full.mpk "$scratch/old/scheduler-1.mpk"
cp 0.18.0/noam-full.mpk "$scratch/old/scheduler-2.mpk"
readme
status_is "a scheduler whose type is not given counts" 2
check "the others are converted" [ -s "$scratch/new/model-1.bpk" ] && [ -s "$scratch/new/optim-1.bpk" ]
check "it alone is not" [ "$(find "$scratch/new" -type f | wc -l)" = 2 ]
cat >"$scratch/expected" <<END
record: scheduler-1.mpk: this number is the record of an unknown scheduler: its type is needed
  It is NoamLrScheduler, CosineAnnealingLrScheduler, LinearLrScheduler, ExponentialLrScheduler or StepLrScheduler.
  Give it: --type 'GLOB=TYPE'.
  Likewise 1 more.
END
same "with the hint that one file gets" "$scratch/expected" "$scratch/err"

run convert --burn 0.23 0.18.0/mnist.mpk "$scratch/mnist"
status_is "a name without extension becomes that of a .bpk" 0
check "which is there" [ -s "$scratch/mnist.bpk" ]
"$record" convert --burn 0.23 0.18.0/mnist.mpk - >"$scratch/x.bpk" 2>"$scratch/err"
check "standard output is one, too" cmp "$scratch/x.bpk" "$scratch/mnist.bpk"
run convert --burn 0.22 0.18.0/mnist.mpk "$scratch/x.mpk"
status_is "an extension that names another format is an error" 2
check "that tells which it loads" grep -q 'Write .bpk, which it loads' "$scratch/err"
run convert --burn 0.21 0.18.0/mnist.mpk "$scratch/none"
status_is "0.21 has recorders, of which one is to be named" 2

# -------------------------------------------------------------------------------------------------- Burn's own files

golden=${LIBRECORD_SHARED:-$srcdir/../shared}/data/golden/store
if [ -d "$golden" ]; then
    if slow; then set -- "$golden"/0.*/*/*.bpk; else set -- "$golden"/0.22.*/*/*.bpk; fi
    for file; do
        version=${file#"$golden"/}
        version=${version%%/*}
        run convert -q --burn "${version%.*}" "$file" "$scratch/x.bpk"
        case $version in *-*) run convert -q --burn 0.23 "$file" "$scratch/x.bpk" ;; esac
        check "${file#"$golden"/} comes back to the byte" cmp "$scratch/x.bpk" "$file"
    done
    # What Burn's recorder and its store saved of the same model, where both kept its element types.
    for file in "$golden"/0.*/*/full.mpk; do
        folder=${file%/*}
        version=${folder#"$golden"/}
        version=${version%%/*}
        case ${folder#"$golden"/} in
        0.19.1/plain | 0.19.1/zoo | 0.20.1/plain | 0.20.1/zoo) continue ;;
        esac
        [ -e "$folder/store.bpk" ] || continue
        run convert -q --burn "${version%.*}" --option "store=$version" "$file" "$scratch/x.bpk"
        check "${folder#"$golden"/}: the record becomes the store's file" cmp "$scratch/x.bpk" "$folder/store.bpk"
    done
    for case in adam rmsprop sgd sgd_plain; do
        run convert -q "$golden/0.21.0/optim_$case/full.mpk" "$scratch/x.bpk"
        listed "$scratch/x.bpk" | sed '/"file"/d' >"$scratch/first"
        listed "$golden/0.22.1/optim_$case/core.bpk" | sed '/"file"/d' >"$scratch/second"
        check "$case of 0.21 has what 0.22's own has" [ "$(grep -c '"path"' "$scratch/first")" = "$(grep -c '"path"' "$scratch/second")" ]
    done
    for case in noam:Noam step:Step; do
        run convert -q --type "${case#*:}LrScheduler" "$golden/0.21.0/sched_${case%:*}/full.mpk" "$scratch/x.bpk"
        check "${case%:*} of 0.21 is 0.22's" cmp "$scratch/x.bpk" "$golden/0.22.1/sched_${case%:*}/core.bpk"
        run convert -q "$golden/0.22.1/sched_${case%:*}/core.bpk" "$scratch/x.mpk"
        check "${case%:*} of 0.22 is 0.21's" cmp "$scratch/x.mpk" "$golden/0.21.0/sched_${case%:*}/full.mpk"
    done
    for case in composed constant; do
        run convert -q "$golden/0.21.0/sched_$case/full.mpk" "$scratch/x.bpk"
        check "$case of 0.21 is 0.22's" cmp "$scratch/x.bpk" "$golden/0.22.1/sched_$case/core.bpk"
    done
    # Quantised tensors change their scheme's form, and nothing else.
    run convert -q "$golden/0.21.0/quant_q8/full.mpk" "$scratch/x.bpk"
    check "a quantised model of 0.21 is 0.22's" cmp "$scratch/x.bpk" "$golden/0.22.1/quant_q8/core.bpk"
    run convert -q "$golden/0.22.1/quant_q8/core.bpk" "$scratch/x.mpk"
    check "and back" cmp "$scratch/x.mpk" "$golden/0.21.0/quant_q8/full.mpk"
    # Refused by all or by 0.22 and later: refused here. Accepted by all: read, but for names that are there twice.
    for file in "$golden"/hostile/*.bpk; do
        name=${file##*/}
        name=${name%.bpk}
        # Four versions say what they make of it, the last of them being the strictest.
        verdict=$(awk -v name="\"$name\": {" '
            index($0, name) { on = 1 }
            on && /"list":/ { asked++; last = /"ok"/; accepted += last }
            asked == 4 { exit }
            END { print accepted == 4 ? "ok" : accepted == 0 || !last ? "refused" : "either" }
        ' "$golden/hostile/verdicts.json")
        # Bytes that are no tensor's are refused, which every Burn ignores.
        case $name in twice_name_* | twice_metadata_key | name_missing | offsets_same) verdict=refused ;; esac
        run ls "$file"
        case $verdict in
        ok) status_is "$name is read, as by every Burn" 0 ;;
        refused) status_is "$name is refused" 2 ;;
        *) status_is "$name is what newer versions read" 0 ;;
        esac
    done
else
    skip "golden files of Burn's stores" "the shared test data are not there: set LIBRECORD_SHARED"
fi

# ------------------------------------------------------------------------------------------------ names of other files
# names NAME...: a foreign file of tensors of these names
names() {
    st_begin
    for st_name; do
        st_tensor "$st_name" "1" 1
    done
    st_end >"$scratch/names.safetensors"
}
names a a.b
run convert -y --adapter none "$scratch/names.safetensors" "$scratch/both.bpk"
status_is "a name below another tensor's is rejected" 2
check "with both names" grep -qF '`a.b` is below `a`: a burnpack cannot hold both' "$scratch/err"
check "and nothing is written" [ ! -e "$scratch/both.bpk" ]
for st_name in "" . x. ..; do
    names "$st_name" other
    run convert -q -y --adapter none "$scratch/names.safetensors" "$scratch/names.bpk"
    status_is "the name \"$st_name\" is written" 0
    run diff "$scratch/names.safetensors" "$scratch/names.bpk"
    status_is "the name \"$st_name\" is read" 0
done

finish
