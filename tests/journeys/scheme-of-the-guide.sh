#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A scheme of one's own: the one in the guide is built with the installed headers alone and decodes a checkpoint.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy pkg-config
with_library

python "a checkpoint of integers" <<'END'
import json, numpy, struct
codes = numpy.arange(-128, 128, dtype="i2").astype("i1").reshape(8, 32)
header = json.dumps({"a.weight": {"dtype": "I8", "shape": [8, 32], "data_offsets": [0, 256]}}).encode()
open("model.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + codes.tobytes())
END
step "the scheme of the guide is built" <<'END'
mkdir headers schemes
cp -R "$srcdir/include/." headers
awk '/^```/ { inside = /^```c/; text = inside ? "" : text; if (!inside && text ~ /REC_PLUGIN_SCHEME/) { printf "%s", text; text = "" } next }
    inside { text = text $0 "\n" }' "$srcdir/docs/guide/plugins.md" >by-127.c
grep -q 'REC_PLUGINS(scheme_by_127' by-127.c
umask 022
cc -std=c11 -Wall -Wextra -Werror -O2 -fPIC -shared -Iheaders by-127.c -o schemes/scheme-by-127.so $(pkg-config --libs librecord)
END
step "without it the integers stay integers" <<'END'
record convert --adapter none --precision full model.safetensors integers.npz
END
step "with it they become numbers" <<'END'
export LIBRECORD_PLUGIN_PATH=$PWD/schemes:$LIBRECORD_PLUGIN_PATH
record plugins by-127
record info model.safetensors
record convert --adapter none --precision full model.safetensors numbers.npz
record convert model.safetensors kept.safetensors
END
prints "integers / 127"
python "which are divided by 127" <<'END'
import numpy
codes = numpy.arange(-128, 128, dtype="i2").astype("i1").reshape(8, 32)
assert (numpy.load("integers.npz")["a.weight"] == codes).all()
numbers = numpy.load("numbers.npz")["a.weight"]
assert numbers.dtype == numpy.float32 and (numbers == codes.astype("f4") / numpy.float32(127)).all()
assert open("kept.safetensors", "rb").read().endswith(codes.tobytes())
END
finish
