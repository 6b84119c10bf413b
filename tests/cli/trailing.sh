#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Bytes after the end of a file are rejected in every format, and so is what is left over in an archive; trailing=ignore reads
# the file without them, with a note, where a reader can tell where it ends.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cp 0.18.0/mnist.mpk "$scratch/a.mpk" || exit 99
cd "$scratch" || exit 99
for format in bpk json gguf npz pt safetensors mpk.gz json.gz; do
    run convert -q --adapter none a.mpk "a.$format"
    status_is "a .$format is written" 0
done
run convert -q --type-of a.mpk a.mpk a.bin
status_is "so is a .bin" 0
if "$record" convert -q a.mpk a.mpk.zst 2>/dev/null; then zst=mpk.zst; else zst=; fi

# 1. A byte, zeros, the same file once more, after each of them.
printf x >byte
head -c 5000 /dev/zero >zeros
for format in mpk bpk bin json gguf npz pt safetensors mpk.gz json.gz $zst; do
    for what in byte zeros "a.$format"; do
        case $format:$what in
        json.gz:zeros | mpk.gz:zeros) continue ;; # gzip's padding: every reader ignores it
        esac
        cat "a.$format" "$what" >"b.$format"
        typed=
        [ "$format" != bin ] || typed='--type-of a.mpk'
        # shellcheck disable=SC2086 # words
        run verify $typed "b.$format"
        check ".$format: ${what#a.} after its end is rejected" [ "$status" = 1 ]
        case $format in mpk | bpk | bin | gguf) ;; *) continue ;; esac
        # shellcheck disable=SC2086
        run verify $typed --from-option trailing=ignore "b.$format"
        status_is "… and ignored by trailing=ignore" 0
        check "… with a note" grep -q 'ignored' "$scratch/err"
    done
done

# 2. Zeros up to the alignment are padding.
python3 - <<'PYTHON' 2>/dev/null || : >no-python
import os
for name, step in (("a.gguf", 32), ("a.bpk", 256)):
    data = open(name, "rb").read()
    pad = -len(data) % step
    open("padded" + name[1:], "wb").write(data + bytes(pad))
    open("filled" + name[1:], "wb").write(data + bytes(pad - 1) + b"x" if pad else data + b"x")
    open("more" + name[1:], "wb").write(data + bytes(pad + step))
PYTHON
for format in gguf bpk; do
    [ ! -e no-python ] || break
    run verify "padded.$format"
    status_is ".$format: padding is no rest" 0
    run verify "filled.$format"
    status_is "… what is not zero is" 1
    run verify "more.$format"
    status_is "… and so is more than the alignment needs" 1
done

# 3. Archives of PyTorch's.
cat >archive.py <<'PYTHON'
import sys, zipfile
def write(target, change):
    with zipfile.ZipFile("a.pt") as old:
        members = [(name, old.read(name)) for name in old.namelist()]
    with zipfile.ZipFile(target, "w") as new:
        for name, data in change(members):
            new.writestr(name, data)
root = zipfile.ZipFile("a.pt").namelist()[0].split("/")[0]
short = len(root) + 1
write("same.pt", lambda m: m)
write("folders.pt", lambda m: [(root + "/", b"")] + m)
write("renamed.pt", lambda m: [("other/" + n[short:], d) for n, d in m])
write("two-roots.pt", lambda m: m + [("other/" + n[short:], d) for n, d in m])
write("no-root.pt", lambda m: [(n[short:], d) for n, d in m])
write("foreign.pt", lambda m: m + [(root + "/payload.sh", b"echo")])
write("beside.pt", lambda m: m + [("README", b"text")])
write("unused.pt", lambda m: m + [(root + "/data/9999", b"12345678")])
for version in ("0", "11", "99", "x", "", "3 ", "3\n\n", "-1", "1" * 30):
    write(f"version-{version.strip() or 'none'}-{len(version)}.pt",
          lambda m: [(n, version.encode() if n == root + "/version" else d) for n, d in m])
for version in ("1", "3\n", "10"):
    write(f"good-{version.strip()}.pt", lambda m: [(n, version.encode() if n == root + "/version" else d) for n, d in m])
PYTHON
if python3 archive.py 2>/dev/null; then
    for file in same folders renamed good-1 good-3 good-10; do
        run verify "$file.pt"
        status_is "$file.pt is read" 0
    done
    for file in two-roots no-root foreign beside unused version-*; do
        file=${file%.pt}
        run verify "$file.pt"
        status_is "$file.pt is rejected" 1
        check "… and the message names the member" grep -q 'the member `' "$scratch/out" "$scratch/err"
        run verify --from-option trailing=ignore "$file.pt"
        status_is "… and read by trailing=ignore" 0
        check "… with a note" grep -q 'ignored' "$scratch/err"
    done
else
    skip "archives of PyTorch's" "python3 is not installed"
fi

finish
