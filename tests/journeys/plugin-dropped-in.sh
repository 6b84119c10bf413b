#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A colleague's format: the tutorial's plugin is compiled, dropped into a directory, and `record` has one more format.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack make pkg-config
with_library

step "the plugin's source is built" <<'END'
cp -R "$srcdir/examples/tutorial" flat
chmod -R u+w flat
cp "$srcdir/tests/data/burn/0.21.0/tiny-full.mpk" model.mpk
umask 022
make -C flat CC=cc
END
fails 2 "the format is unknown" <<'END'
record convert model.mpk model.flat
END
step "a copy in a directory" <<'END'
umask 022
mkdir -p .local/lib/librecord .config/librecord
cp flat/flat.so .local/lib/librecord
printf '[librecord]\nplugin_path = %s/.local/lib/librecord\n' "$HOME" >.config/librecord/librecord.ini
record plugins
END
prints "Flat"
step "is a format as any other" <<'END'
record convert model.mpk model.flat
record info model.flat
record convert model.flat back.safetensors
record verify model.flat
END

python "the file is as the tutorial describes it" <<'END'
import numpy, struct
from journey import same, tensors
data, at, found = open("model.flat", "rb").read(), 8, {}
assert data[:8] == b"FLAT" + struct.pack("<I", 1)
while at < len(data):
    length, dtype, rank = struct.unpack_from("<III", data, at)
    at += 12
    shape = struct.unpack_from(f"<{rank}Q", data, at)
    at += 8 * rank
    path = data[at:at + length].decode()
    at += length
    found[path] = numpy.frombuffer(data, "<f4", int(numpy.prod(shape)), at).reshape(shape)
    at += found[path].nbytes
same(found, tensors("model.mpk"))
END
finish
