#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Records in pipes: from a compressed archive through `record` to jq, and from a server's `cat` to a file.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs jq gzip tar

step "an archive with two checkpoints" <<'END'
mkdir checkpoints
cp "$srcdir/tests/data/burn/0.21.0/zoo-full.mpk" checkpoints/model-1.mpk
record convert --precision double checkpoints/model-1.mpk checkpoints/model-2.mpk.gz
tar -czf checkpoints.tar.gz checkpoints
rm -r checkpoints
END
step "the first one is listed without being unpacked" <<'END'
tar -xzOf checkpoints.tar.gz checkpoints/model-1.mpk | record ls --json - | jq -r '.tensors[].key' >keys
wc -l <keys
END
prints "43"
step "the second one, to JSON and to jq" <<'END'
tar -xzOf checkpoints.tar.gz checkpoints/model-2.mpk.gz | record convert --to json - - |
    jq -c '.item.conv1.bias.param | [.shape, .dtype]'
END
prints '[[3],"F64"]'
step "through gzip's own program, and back" <<'END'
tar -xzOf checkpoints.tar.gz checkpoints/model-1.mpk >direct.mpk
tar -xzOf checkpoints.tar.gz checkpoints/model-2.mpk.gz | gzip -dc |
    record convert --precision full --to mpk - - >piped.mpk
record convert --to mpk.gz piped.mpk - | gzip -dc >again.mpk
record convert --to json direct.mpk - | jq -S .item >direct.json
record convert --to json - - <again.mpk | jq -S .item >again.json
END

check "jq finds the same in both" cmp direct.json again.json
check "and all of it" jq -e '.conv1.weight.param.bytes | length == 72' direct.json
finish
