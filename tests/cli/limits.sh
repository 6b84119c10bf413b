#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Files that are made to cost more than they weigh: what the command takes for them stays in proportion.
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"

if ! command -v python3 >/dev/null; then
    skip "files that are made to cost much" "python3 is missing"
    finish
fi
# costs ARGUMENT...: as run; in_proportion NAME then checks its memory and its instructions. To open the plugins takes two
# million of them. valgrind takes long: of each kind of file make check counts one command.
costs() {
    instructions "$@"
    peaks "$@"
}
in_proportion() {
    peak_is_below "$1" 100
    instructions_are_below "$1" 500
}
every=1
slow || every=3
turn=0
costs_in_turn() { # NAME ARGUMENT...
    name_of_cost=$1
    shift
    if [ $((turn % every)) = 0 ]; then
        costs "$@"
        in_proportion "$name_of_cost"
    else
        peaks "$@"
        peak_is_below "$name_of_cost" 100
    fi
    turn=$((turn + 1))
}

# A type of many parameters behind a record, each of four characters.
"$record" convert -q --self-describing --type-of 0.21.0/tiny-full.mpk 0.21.0/tiny-full.mpk "$scratch/tiny.bin"
python3 - "$scratch" <<'END'
import gzip, struct, sys
folder = sys.argv[1]
data = open(f"{folder}/tiny.bin", "rb").read()
size = struct.unpack("<Q", data[-16:-8])[0]
body, text, magic = data[:-16 - size], data[-16 - size:-16], data[-8:]
assert b"`linear" in text
named = text.replace(b"`linear", b"`linea\xcf")
open(f"{folder}/named.bin", "wb").write(body + named + struct.pack("<Q", len(named)) + magic)
for name, text in (("long", b"(" + b"P2f," * 65000 + b"P2f)"), ("longer", b"(" + b"P2f," * 3000000 + b"P2f)"), ("deep", b"(" + b"??????????????u8," * 15000 + b"u8)")):
    made = body + text + struct.pack("<Q", len(text)) + magic
    open(f"{folder}/{name}.bin", "wb").write(made)
    gzip.open(f"{folder}/{name}.bin.gz", "wb").write(made)
END
for name in long deep; do
    costs info "$scratch/$name.bin"
    status_is "$name.bin: a type that the record is not of is refused" 2
    in_proportion "$name.bin"
done
costs info "$scratch/longer.bin.gz"
status_is "12 MB of type in a small file are refused" 2
in_proportion "12 MB of type"
check "as too many" grep -q 'the type that the file carries has 12000005 bytes; at most 262144 are read' "$scratch/err"
run info "$scratch/named.bin"
status_is "a name that is no UTF-8 in that type is refused" 2
check "as the file's fault" grep -q 'the type that the file carries is damaged: character [0-9]*: expected a name in UTF-8$' "$scratch/err"

# Zeros look like anything, at every place.
head -c 195000 /dev/zero >"$scratch/zeros.bin"
costs ls --from bin "$scratch/zeros.bin"
in_proportion "195,000 zeros"
"$record" convert -q --type-of 0.21.0/tiny-full.mpk 0.21.0/tiny-full.mpk "$scratch/head.bin"
{ cat "$scratch/head.bin"; head -c 195000 /dev/zero; } >"$scratch/zeros-behind.bin"
costs ls "$scratch/zeros-behind.bin"
in_proportion "195,000 zeros after a record"
# So does the beginning of a parameter whose list reaches to the end, again and again.
python3 - "$scratch" <<'END'
import sys
folder = sys.argv[1]
head = b"".join(bytes([len(word)]) + word for word in (b"f32", b"i32", b"x", b"0.18.0", b"x"))
start = b"\x0aaaaaaaaaaa"
lists = {"ids": b"\xfc" + (100000).to_bytes(4, "little"), "ids-alone": b"", "ids-zeros": bytes(6)}
for name, rest in lists.items():
    open(f"{folder}/{name}.bin", "wb").write(head + (start + rest) * 12000)
open(f"{folder}/list.bin", "wb").write(head + b"\xfb" + (20000).to_bytes(2, "little") + bytes(200000))
open(f"{folder}/id-list.bin", "wb").write(head + start + b"\xfb" + (20000).to_bytes(2, "little") + bytes(200000))
END
for name in ids ids-alone ids-zeros list id-list; do
    for command in info ls types; do
        case $command:$name in types:ids-*) continue ;; esac # a type is made up, of which the work is bounded otherwise
        costs_in_turn "$command of $name.bin" "$command" "$scratch/$name.bin"
    done
done

finish
