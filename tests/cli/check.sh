#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record convert --check: what was written is read back, whatever the recorder, the precision and the layout.
# shellcheck disable=SC2016,SC2119 # rules have dollars of their own; torch_net without argument is meant
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

# checked NAME ARGUMENT...: the conversion succeeds and says that it was checked
checked() {
    name=$1
    shift
    run convert --check --option sync=no "$@"
    if [ "$status" = 0 ] && grep -q ' s, checked$' "$scratch/out"; then
        ok "$name"
    else
        echo "status $status" >>"$scratch/err"
        not_ok "$name" "$scratch/err"
    fi
}

# The newest version, and in a slow run every one.
if slow; then set -- */*.mpk; else set -- 0.21.0/*.mpk; fi
for format in mpk mpk.gz json json.gz safetensors; do
    for file; do
        checked "$file to $format" "$file" "$scratch/x.$format"
    done
done
for file in 0.21.0/*.mpk; do
    checked "the tensors alone of $file" --option record=no "$file" "$scratch/x.safetensors"
done
for file in 0.13.2/zoo-full.mpk 0.21.0/zoo-double.mpk 0.18.0/mnist.mpk 0.21.0/tiny-full.mpk; do
    [ -e "$file" ] || continue
    for precision in half full double; do
        # What does not fit is refused before there is anything to check.
        "$record" convert -q --precision $precision "$file" "$scratch/y.mpk" 2>"$scratch/err" || continue
        for format in mpk mpk.gz json safetensors; do
            checked "$file to $format at $precision precision" --precision $precision "$file" "$scratch/x.$format"
        done
    done
    if slow; then set -- 0.7 0.11 0.13 0.14 0.18 0.21; else set -- 0.11 0.21; fi
    for burn; do
        "$record" convert -q --burn "$burn" "$file" "$scratch/y.mpk" 2>"$scratch/err" || continue
        checked "$file for Burn $burn" --burn "$burn" "$file" "$scratch/x.mpk"
        checked "$file for Burn $burn as JSON" --burn "$burn" "$file" "$scratch/x.json"
    done
done

cd "$scratch" || exit 99
torch_net >net.safetensors
cat >net.rs <<'END'
pub struct Net<B: Backend> {
    fc1: Linear<B>,
    norm: LayerNorm<B>,
    fc2: Linear<B>,
}
END
for format in mpk mpk.gz json bin bin.gz safetensors; do
    checked "an import to $format" --type net.rs:Net net.safetensors as.$format
done
checked "a type behind its record" --type net.rs:Net --self-describing net.safetensors as.bin
checked "that type's record" --to mpk as.bin from-bin
checked "an import at half precision" --precision half --type net.rs:Net net.safetensors half.mpk
mkdir -p model
checked "a model in several files, whose folder is there" --max-shard-size 100 net.safetensors model/model.safetensors
cat >family.ini <<'END'
[profile net]
module = fc\d => Linear
module = norm => LayerNorm
END
checked "an import by a profile" --profile family.ini:net net.safetensors family.mpk
checked "the profile backwards" --profile family.ini:net --reverse family.mpk reversed.safetensors
check "whose result is the file that it began with" sh -c \
    '"$1" ls --all net.safetensors | sort >a && "$1" ls --all reversed.safetensors | sort >b && diff a b' - "$record"

run convert --type net.rs:Net net.safetensors default.mpk
check "it is done without being asked" grep -q ' s, checked$' "$scratch/out"
run convert --option check=no --type net.rs:Net net.safetensors default.mpk
check "and not if that is not wanted" grep -q ' s, not checked$' "$scratch/out"
"$record" convert --check --to mpk --type net.rs:Net net.safetensors - 2>"$scratch/err" | cat >piped.mpk
check "a stream is not checked" grep -q ' s, not checked$' "$scratch/err"
check "which is told" grep -q 'note: not checked: .* cannot be read back' "$scratch/err"
check "and whole" cmp piped.mpk default.mpk
mkdir folder
cp as.mpk folder/a.mpk
cp as.json folder/b.json
run convert --recursive --to mpk.gz folder into
check "a directory's report counts them" grep -q '^2 converted (0 checked)' "$scratch/out"
run convert --recursive --check --to mpk.gz folder into
check "and those that were asked for" grep -q '^2 converted (2 checked)' "$scratch/out"
finish
