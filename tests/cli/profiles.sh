#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record profiles
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

run profiles
status_is "profiles are listed" 0
check "with what they are" grep -qE '^llama +[A-Z]' "$scratch/out"
for name in bert gpt2 gpt2-split llama llama-norope mixtral-stack resnet vit-timm whisper lstm; do
    check "$name is there" grep -qE "^$name " "$scratch/out"
done
run profiles --all
check "--all says what they are for" grep -qE '^PROFILE +DESCRIPTION +FOR +MAKES$' "$scratch/out"

run profiles resnet
status_is "one is printed" 0
check "with its file" grep -qE '^file +/.*resnet\.ini$' "$scratch/out"
check "and its rules" grep -q '^drop = num_batches_tracked\$$' "$scratch/out"
check "not with others of the file" [ "$(grep -c '^\[' "$scratch/out")" = 0 ]
fails "one that is nearly there" profiles lama <<END
record: unknown profile "lama"
  Did you mean llama?
END
cat >app.ini <<END
[profile mine]
description = my own
source = my files
destination = my structs
; a comment
drop = x

[profile other]
drop = y
END
run profiles --config app.ini mine
cat >"$scratch/expected" <<END
profile      mine
description  my own
source       my files
destination  my structs
back         to the last bit
file         app.ini

; a comment
drop = x
END
sed "s|^\(file  *\).*/|\1|" "$scratch/out" >"$scratch/mine"
same "one of the configuration" "$scratch/expected" "$scratch/mine"

for way in gemma:'in function, not to the last bit' llama:'to the last bit' squeezenet:'to the last bit, from' \
    sequential-gaps:'to the last bit, from'; do
    run profiles "${way%%:*}"
    check "whether ${way%%:*} can go back" grep -q "^back  *${way#*:}" "$scratch/out"
done

need_jq
run profiles --json
answers "--json lists them" '[.profiles[] | select(.name == "resnet") | .file | endswith("resnet.ini")]' '[true]'
run profiles --json --config app.ini mine
answers "and the rules of one" 'del(.file)' '{"name":"mine","description":"my own","source":"my files","destination":"my structs","back":"exact","rules":["drop = x"]}'

finish
