#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Each command while memory runs out at one place, and then while one call of the system fails: a place is a call with those that led
# to it, and each is tried by the first command that comes there. FAULTS_EACH is how many places of a command at most are tried:
# 2, in a slow run 8.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

why=
if [ -n "${SANITIZERS:-}" ]; then
    why="the sanitizers have allocators of their own"
elif ! command -v python3 >/dev/null; then
    why="there is no python3"
elif ! ${CC:-cc} -O1 -fPIC -shared -o "$scratch/memory.so" "$srcdir/tests/faults/fail_place.c" -ldl 2>"$scratch/err" ||
    ! ${CC:-cc} -O1 -fPIC -shared -DFAIL_SYSTEM -o "$scratch/system.so" "$srcdir/tests/faults/fail_place.c" -ldl 2>"$scratch/err"; then
    why="fail_place.c does not build here: $(head -n 1 "$scratch/err")"
elif ! FAULT_PLACES="$scratch/places" LD_PRELOAD="$scratch/memory.so" "$record" --version >"$scratch/out" \
    2>"$scratch/err" || ! grep -q malloc "$scratch/places"; then
    why="a library cannot stand in front of the C library's here"
fi
if [ -n "$why" ]; then
    skip "each place where memory is asked for" "$why"
    finish
fi
export LC_ALL=C
if slow; then most=8; else most=2; fi

inputs=$scratch/inputs
mkdir -p "$inputs/many" "$scratch/runs"
cp 0.21.0/zoo-full.mpk "$inputs/a.mpk"
cp 0.21.0/zoo-full.mpk "$inputs/out.mpk"
cp 0.21.0/zoo-half.mpk "$inputs/half.mpk"
cp 0.21.0/tiny-full.mpk "$inputs/tiny.mpk"
cp 0.21.0/adam-full.mpk "$inputs/adam.mpk"
cp 0.18.0/tiny-full.mpk "$inputs/many/t.mpk"
cp 0.21.0/tiny-full.mpk.gz "$inputs/many/u.mpk.gz"
cd "$inputs" || exit 99
cat >model.rs <<'END'
#[derive(Module, Debug)]
pub struct Tiny<B: Backend> { linear: Linear<B>, }
END
{
    "$record" edit -q a.mpk set 'conv1.weight[0]' 2.5 rm pair mv '^conv2\.' conv9. meta x y -o b.mpk &&
        "$record" convert -q --type model.rs:Tiny tiny.mpk tiny.bin &&
        "$record" convert -q --type model.rs:Tiny --self-describing tiny.mpk self.bin &&
        "$record" convert -q tiny.mpk tiny.npz &&
        "$record" verify -q --sums write a.mpk
} >"$scratch/err" 2>&1 || not_ok "what is tried can be made" "$scratch/err"
cd "$OLDPWD" || exit 99

cat >"$scratch/commands" <<'END'
info a.mpk
info --json many
ls a.mpk
ls --tree --depth 2 -a a.mpk
ls --sha256 many
show a.mpk
show --json a.mpk 'conv1.weight[0, 1:]'
stats a.mpk
stats --json --all a.mpk
stats many/t.mpk 'linear.*' '!*.bias'
diff a.mpk b.mpk
diff --json --all a.mpk b.mpk
diff --by position --ids --order a.mpk half.mpk
diff --brief a.mpk tiny.mpk
diff --json --atol 1e-3 --rtol 1e-3 --ulp 2 a.mpk half.mpk
diff --ignore dtype,added --bits --nan-differs half.mpk b.mpk
verify many a.mpk
verify --sums write a.mpk
verify --sums check --nan --json a.mpk
verify --in-metadata --sums write out.mpk
~ edit a.mpk set 'conv1.weight[0, 0]' 1.5 rm pair cast '*.bias' f16 mv '^conv1\.' c1. meta hello world merge tiny.mpk -o out2.mpk
edit -i out.mpk set conv1.bias 'f32 [1, 2, 3]' set list '[1, "a", null, {"b": true}]'
~ edit a.mpk split --by key -o 'out-{}.mpk'
edit a.mpk split --by dtype -o 'out-{}.mpk' --json
edit -n a.mpk set w 'i64[4, 5]=3' set y @tiny.mpk:linear.weight -o out.json
edit tiny.npz set x 'f32 [[1, 2], [3, 4]]' set y @tiny.mpk:linear.bias --adapter none -o out.npz
edit a.mpk rm pair.0 cast 'conv*.weight' bf16 cast 'blocks.#.*' f64 -o out2.mpk
edit --json -n b.mpk merge --overwrite a.mpk set flag null -o out.mpk
~ convert -y a.mpk out.json
convert -y --precision half --metadata a=b a.mpk out.mpk.gz
convert -y --max-shard-size 200 --keep-names a.mpk out.safetensors
~ convert -r many outs --to safetensors
convert --json --dry-run a.mpk tiny.mpk out9.mpk
types a.mpk
types --c --name m a.mpk
types --json adam.mpk
~ types tiny.bin
types self.bin
embed tiny.mpk -o out.h
embed --structs tiny.mpk -o out.h
report a.mpk -o out.html
report --json a.mpk b.mpk -o out.html
plan a.mpk
plan --json --remap 'conv1 => c' --drop pair a.mpk
plan --adapter pytorch --prefix x.y tiny.npz
plan --type model.rs:Tiny --remap 'none => fc' tiny.mpk
profiles
profiles llama
~ plugins
plugins --why
END

# each NAME OPTION... <COMMANDS: the lines of each_place.py, as tests of this script
each() {
    name=$1
    shift
    python3 "$srcdir/tests/faults/each_place.py" --record "$record" --inputs "$inputs" --work "$scratch/runs" \
        --each "${FAULTS_EACH:-$most}" "$@" >"$scratch/each" 2>"$scratch/why"
    while IFS= read -r line; do
        case $line in
            'ok '*) ok "$name: ${line#* - }" ;;
            'not ok '*)
                not_ok "$name: ${line#* - }"
                ;;
            '#'*) echo "$line" ;;
        esac
    done <"$scratch/each"
    check "$name: all commands were tried" grep -qx "1\\.\\.$(grep -c . "$scratch/commands")" "$scratch/each"
    sed 's/^/# /' "$scratch/why"
}
each "no memory" --preload "$scratch/memory.so" --memory <"$scratch/commands"
each "no system" --preload "$scratch/system.so" <"$scratch/commands"
check "nothing is left of them" test -z "$(find "$scratch/runs" -mindepth 1 ! -name places)"

finish
