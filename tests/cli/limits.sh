#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Files that are made to cost more than they weigh: what the command takes for them stays in proportion.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

if ! command -v python3 >/dev/null; then
    skip "files that are made to cost much" "python3 is missing"
    finish
fi
cat >"$scratch/cost.py" <<'END'
# cost.py MIB SECONDS COMMAND...: runs it; its status, or 99 if it took more of either.
import resource, subprocess, sys, time
begun = time.monotonic()
status = subprocess.run(sys.argv[3:]).returncode
took, peak = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
if peak > float(sys.argv[1]) or took > float(sys.argv[2]):
    print(f"it took {peak:.0f} MiB and {took:.1f} s", file=sys.stderr)
    sys.exit(99)
sys.exit(status)
END
# Sanitizers take memory of their own, and time.
mib=${SANITIZERS:+1000}
costs() { # MIB SECONDS ARGUMENT...
    most=${mib:-$1}
    shift
    seconds=$1
    shift
    python3 "$scratch/cost.py" "$most" "$((seconds * (${mib:-0} > 0 ? 10 : 1)))" "$record" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
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
    costs 100 5 info "$scratch/$name.bin"
    status_is "$name.bin: a type that the record is not of is refused, in proportion" 2
done
costs 100 5 info "$scratch/longer.bin.gz"
status_is "12 MB of type in a small file are refused" 2
check "as too many" grep -q 'the type that the file carries has 12000005 bytes; at most 262144 are read' "$scratch/err"
costs 100 5 info "$scratch/named.bin"
status_is "a name that is no UTF-8 in that type is refused" 2
check "as the file's fault" grep -q 'the type that the file carries is damaged: character [0-9]*: expected a name in UTF-8$' "$scratch/err"

# Zeros look like anything, at every place.
head -c 195000 /dev/zero >"$scratch/zeros.bin"
costs 100 5 ls --from bin "$scratch/zeros.bin"
check "195,000 zeros are told of in no time" [ "$status" != 99 ]
"$record" convert -q --type-of 0.21.0/tiny-full.mpk 0.21.0/tiny-full.mpk "$scratch/head.bin"
{ cat "$scratch/head.bin"; head -c 195000 /dev/zero; } >"$scratch/zeros-behind.bin"
costs 100 5 ls "$scratch/zeros-behind.bin"
check "also behind a record" [ "$status" != 99 ]

finish
