#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A name is an identity: names that a C string cannot hold are rejected in every format, keys that are written alike are the
# same key, and names that differ look different in every output.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
command -v python3 >/dev/null || {
    skip "names" "python3 is not installed"
    finish
}
cd "$scratch" || exit 99

# st FILE KEY...: tensors of two numbers, the n-th of them n; keys are Python strings
cat >st.py <<'PYTHON'
import json, struct, sys
keys = [eval("'" + word + "'") for word in sys.argv[2:]]
header = {key: {"dtype": "F32", "shape": [2], "data_offsets": [8 * i, 8 * i + 8]} for i, key in enumerate(keys)}
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + b"".join(struct.pack("<2f", i, i) for i in range(len(keys))))
PYTHON
st() {
    python3 st.py "$@"
}

# 1. A NUL in a name, in every format: as the format has it, in a file that is right but for that.
st plain.safetensors net.aQQQQQQb.weight
for format in mpk mpk.gz mpk.zst json json.gz bpk npz pt gguf safetensors; do
    "$record" convert -q --adapter none plain.safetensors "plain.$format" 2>err ||
        "$record" convert -q --adapter none --to "$format" plain.safetensors "plain.$format" 2>err || {
        skip "a NUL in a name of .$format" "$(head -n 1 err | cut -c 1-60)"
        continue
    }
    python3 - "$format" <<'PYTHON'
import gzip, subprocess, sys, zipfile
form = sys.argv[1]
source, target = "plain." + form, "nul." + form
data = open(source, "rb").read()
binary, text = (b"aQQQQQQb", b"a\0QQQQQb"), (b"aQQQQQQb", rb"a\u0000b")
if form == "pt":
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(*binary))
    sys.exit()
if form.endswith(".gz"):
    data = gzip.decompress(data)
elif form.endswith(".zst"):
    data = subprocess.run(["zstd", "-dc", source], capture_output=True, check=True).stdout
assert b"aQQQQQQb" in data
data = data.replace(*(text if "json" in form or form == "safetensors" else binary))
if form.endswith(".gz"):
    data = gzip.compress(data)
elif form.endswith(".zst"):
    data = subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout
open(target, "wb").write(data)
PYTHON
    [ -e "nul.$format" ] || {
        skip "a NUL in a name of .$format" "it cannot be made here"
        continue
    }
    for command in info ls show stats verify types; do
        run "$command" "nul.$format"
        status_is "record $command nul.$format" "$([ "$command" = verify ] && echo 1 || echo 2)"
    done
    cat "$scratch/out" "$scratch/err" >said
    check "… says why" grep -q 'NUL' said
done

# 2. Keys that are written alike are one key: 1 and "1", true and "true".
python3 - <<'PYTHON'
import struct
def text(s):
    return bytes([0xA0 | len(s)]) + s
def record(*keys):
    meta = b"\x85" + b"".join(text(k) + text(v) for k, v in
        [(b"float", b"f32"), (b"int", b"i32"), (b"format", b"x"), (b"version", b"0.18.0"), (b"settings", b"x")])
    return b"\x82" + text(b"metadata") + meta + text(b"item") + bytes([0x80 | len(keys)]) + b"".join(
        k + bytes([i]) for i, k in enumerate(keys))
open("number.mpk", "wb").write(record(b"\x01", text(b"1")))
open("bool.mpk", "wb").write(record(b"\xc3", text(b"true")))
open("negative.mpk", "wb").write(record(b"\xff", text(b"-1")))
open("other.mpk", "wb").write(record(b"\x01", text(b"01"), text(b"+1"), text(b"true")))
PYTHON
for file in number bool negative; do
    run ls "$file.mpk"
    status_is "$file.mpk has one key twice" 2
    check "… and the message says so" grep -q twice "$scratch/err"
done
run ls other.mpk
status_is "keys that are written otherwise differ" 0

# 3. Names that differ look different: in a terminal's text, in JSON, in both sides of a diff.
invisible='a a\u200b a\u200d a\u2060 a\ufeff a\xad a\u202e a\x9b a\x1f a\x01 a\x7f a\xa0 a\u2003 a\u3000 a\u034f1 a\U000e0041 a\n a\t a\\\\n a\\\\x01'
invisible="$invisible \\xe9 e\\u0301 \\u212b \\xc5 A\\u030a \\u2126 \\u03a9 \\uac00 \\u1100\\u1161 q\\u0307\\u0323 q\\u0323\\u0307"
invisible="$invisible \\u05d0\\u05b7 \\ufb2e \\u0958 \\u0915\\u093c \\uf900 \\u8c48 \\ue000 \\ue001 \\U000f0000 \\ufdd0 \\ufdd1"
# shellcheck disable=SC2086 # words
st many.safetensors $invisible 'a ' ' a' '' '(root)' 'b\x1fc' 'b.\x1f.c' 'b.c'
st other.safetensors 'z'
# shellcheck disable=SC2086
count=$(printf '%s\n' $invisible | wc -l)
count=$((count + 7))
distinct() { # NAME: the lines of the file `lines` are as many as there are keys, and no two are alike
    sort lines | uniq -d >alike
    check "$1: no two names are alike" test ! -s alike
    check "$1: all are there" test "$(wc -l <lines)" = "$count"
    check "$1: no character steers the terminal or is invisible" python3 -c '
import sys, unicodedata
text = open("lines", encoding="utf-8").read()
lines = text.split("\n")
alike = len(set(unicodedata.normalize("NFC", line) for line in lines)) != len(set(lines))
sys.exit(alike or any(unicodedata.category(c) in ("Cc", "Cf", "Zs", "Zl", "Zp", "Co", "Cn") and c not in " \n" for c in text))'
}
run ls --all --adapter none many.safetensors
grep 'f32' "$scratch/out" | sed 's/  *f32 .*//' >lines
distinct "record ls"
run stats --all --adapter none many.safetensors
grep '▁' "$scratch/out" | sed 's/   *[0-9].*//' >lines
distinct "record stats"
run diff --all --adapter none many.safetensors other.safetensors
grep 'removed ' "$scratch/out" | sed 's/  *f32 .*//' >lines
distinct "record diff"
run ls --json --adapter none many.safetensors
python3 - "$scratch/out" <<'PYTHON' >lines
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
for key in re.findall(r'"(?:path|key|name)": ("(?:[^"\\]|\\.)*"), "dtype"', text):
    print(key)
PYTHON
distinct "record ls --json"

finish
