#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Addresses hold secrets: no command prints or writes the user, the password or the query of one, whether it succeeds or
# fails.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
top=$(pwd)/../../..
command -v python3 >/dev/null || {
    skip "secrets of addresses" "python3 is not installed"
    finish
}
"$record" plugins --json | grep -q '"Https"' || {
    skip "secrets of addresses" "built without libcurl, or static"
    finish
}
unset LIBRECORD_CACHE LIBRECORD_HTTP_AUTHORIZATION http_proxy all_proxy
mkdir "$scratch/work" "$scratch/files"
cp 0.18.0/mnist.mpk 0.18.0/mnist.bin "$scratch/files" 2>/dev/null || cp 0.18.0/mnist.mpk "$scratch/files"
cd "$scratch/work" || exit 99
python3 "$top/tests/cli/http-server.py" "$scratch/files" "$scratch/log" >"$scratch/port" 2>/dev/null &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s "$scratch/port" ] && break
    sleep 0.25
done
port=$(cat "$scratch/port")

# A model in PyTorch's layout, which needs a plan, and a file of no known format.
"$record" convert -q --reverse "$scratch/files/mnist.mpk" "$scratch/files/torch.safetensors" 2>/dev/null ||
    "$record" convert -q "$scratch/files/mnist.mpk" "$scratch/files/torch.safetensors"
echo "no record" >"$scratch/files/text.mpk"

address() { # FILE [HOW]: with a user, a password, a token and a fragment
    echo "http://USERQ:PASSW@127.0.0.1:$port/${2:-good}/$1?sig=SECRETQ#FRAGQ"
}
mnist=$(address mnist.mpk)
torch=$(address torch.safetensors)
text=$(address text.mpk)
none=$(address none.mpk)
denied=$(address mnist.mpk token)
whole=$(address mnist.mpk whole)
unknown="strange://USERQ:PASSW@host/m.mpk?sig=SECRETQ#FRAGQ"
odd="http://USERQ:PASSW/SECRETQ@127.0.0.1:$port/good/mnist.mpk"

# silent STATUS ARGUMENT...: the command ends with that status, and nothing that it printed or wrote has a secret
silent() {
    expected=$1
    shift
    run "$@"
    what=$(echo "$*" | sed "s|http://USERQ[^ ]*/\([a-z.]*\)?[^ ]*|URL/\1|g; s|[a-z]*://USERQ[^ ]*|URL|g")
    status_is "record $what" "$expected"
    cat "$scratch/out" "$scratch/err" >said
    ls -R . >>said
    if grep -r -e USERQ -e PASSW -e SECRETQ -e FRAGQ . >"$scratch/found"; then
        not_ok "… has no secret" "$scratch/found"
    else
        ok "… has no secret"
    fi
}

# 1. What succeeds.
silent 0 info "$mnist"
silent 0 info "$mnist" "$torch"
silent 0 info --json "$mnist"
silent 0 ls "$mnist"
silent 0 ls --json "$mnist"
silent 0 ls -l --sha256 "$mnist" "$torch"
silent 0 ls "$mnist" 'fc1*'
silent 0 show "$mnist" fc1.bias
silent 0 show --json "$mnist" fc1.bias
silent 0 stats "$mnist"
silent 0 stats --json "$mnist"
silent 0 diff "$mnist" "$mnist"
silent 0 diff --json "$mnist" "$mnist"
silent 0 verify "$mnist"
silent 0 verify --json "$mnist" "$torch"
silent 0 verify --sums write --sums-file sums "$mnist"
silent 0 types "$mnist"
silent 0 types --json "$mnist"
silent 0 types --c "$mnist"
silent 0 types --check --type-of "$mnist" "$mnist"
silent 0 convert "$mnist" out.mpk
silent 0 convert --json "$mnist" out.mpk
silent 0 convert --check "$torch" out.mpk
silent 0 convert "$mnist" "$torch" folder/
check "… whose files are called after the path alone" ls folder/mnist.mpk
silent 0 convert --type-of "$mnist" "$mnist" out.mpk
silent 0 convert "$whole" out.mpk
check "a note names the server that sends the whole file" grep -q "the server of http://127.0.0.1:$port/whole/mnist.mpk" said
silent 0 plan "$torch"
silent 0 plan --json "$torch"
silent 0 plan --base "$mnist" "$mnist"
silent 0 report "$mnist" -o page.html
silent 0 report "$mnist" "$torch" -o page.html
silent 0 report --json "$mnist" "$mnist" "$torch" -o page.html
silent 0 edit "$mnist" rm fc1 -o out.mpk
silent 0 edit --json "$mnist" rm fc1 -o out.mpk
silent 0 edit "$mnist" merge "$mnist" --overwrite -o out.mpk
silent 0 edit "$mnist" split --by key -o 'part-{}.mpk'
silent 0 verify --cache cache "$mnist"
chmod 777 cache
silent 0 verify --cache cache "$mnist"
check "a note names the cache that is not used" grep -q 'caches nothing: the directory is writable by others' said
silent 0 browse --json "$mnist" "$torch"
silent 2 browse "$mnist"
if grep -q 'built without ncurses' "$scratch/err"; then
    skip "the screen of record browse" "built without ncurses"
else
    TERM=xterm-256color python3 "$top/tests/cli/terminal.py" . 80x24 '?fc1' '=first' i '=second' qq '~' -- \
        "$record" browse "$mnist" >"$scratch/out" 2>"$scratch/err"
    check "the screen of record browse ends" grep -qx 'exit 0' end
    check "… and shows the name" grep -q mnist.mpk first
    check "… and no secret" sh -c '! grep -e USERQ -e PASSW -e SECRETQ -e FRAGQ first second'
fi
silent 0 completion words -- record show "$mnist" fc

# 2. What fails.
for command in info ls show stats verify types plan "report -o page.html" "edit -o x.mpk rm a" "convert x.mpk" embed; do
    for at in "$none" "$denied" "$text" "$unknown" "$odd"; do
        # shellcheck disable=SC2086 # a command with its options
        set -- $command
        name=$1
        shift
        case $name in
            edit) silent 2 edit "$at" rm a -o x.mpk ;;
            convert) silent 2 convert "$at" x.mpk ;;
            verify) silent "$(test "$at" = "$text" && echo 1 || echo 2)" verify "$at" ;;
            *) silent 2 "$name" "$at" "$@" ;;
        esac
    done
done
for at in "$none" "$text" "$unknown"; do
    silent 2 diff "$at" "$mnist"
    silent 2 diff "$mnist" "$at"
    silent 2 convert --base "$at" "$mnist" x.mpk
    silent 2 convert --type-of "$at" "$mnist" x.mpk
    silent 2 edit "$mnist" merge "$at" -o x.mpk
    silent 2 ls --json "$at" "$mnist"
    silent 2 info --json "$at"
done
silent 2 convert -q "$scratch/files/mnist.mpk" "$none"
silent 2 edit "$mnist" rm fc1 -o "$none"
silent 2 report "$mnist" -o "$none"
silent 2 verify --in-metadata --sums write "$mnist"
silent 2 edit -i "$mnist" rm fc1
silent 2 edit "$mnist" rm fc1
silent 2 edit "$mnist" "$mnist" rm fc1 -o x.mpk
silent 2 edit "$mnist" rm nothing -o x.mpk
silent 2 edit "$mnist" frobnicate -o x.mpk
silent 2 edit "$mnist" "$torch"
silent 2 ls "$mnist" 'nothing*'
silent 2 show "$mnist" nothing
silent 2 stats "$mnist" nothing
silent 2 types "$mnist" "$torch"
silent 2 diff "$mnist"
silent 2 diff "$mnist" "$mnist" "$mnist"
silent 2 convert -r "$mnist" folder
silent 2 convert --no-clobber "$mnist" out.mpk
silent 2 convert --to nonsense "$mnist" x
silent 2 convert --from BinFile "$mnist" x.mpk
silent 1 plan --strict --profile llama "$mnist"
silent 2 embed "$mnist" -o net.c
silent 2 "$mnist"
silent 2 help "$mnist"
silent 2 profiles "$mnist"
silent 2 plugins "$mnist"

# Redirections to addresses with secrets: the first is followed, each other one fails at another place.
silent 0 info "$(address mnist.mpk lure0)"
silent 0 verify --json "$(address mnist.mpk lure0)"
silent 0 convert "$(address mnist.mpk lure0)" out.mpk
for number in 1 2 3 4 5 6 7 8; do
    silent 2 info "$(address mnist.mpk "lure$number")"
done
# An index whose parts are addresses.
silent 0 convert -q --max-shard-size 20KB "$scratch/files/torch.safetensors" m.safetensors
for part in 1 2 3; do
    sed "s|m-0000$part-of-0000[0-9].safetensors|http://USERQ:PASSW@127.0.0.1/m.safetensors?sig=SECRETQ#FRAGQ|g" \
        m.safetensors.index.json >"$scratch/files/lured.safetensors.index.json"
    silent 2 info "$scratch/files/lured.safetensors.index.json"
    silent 2 convert -q "$(address lured.safetensors.index.json)" out.mpk
done
check "… but the name is quoted" grep -q 'names the file "http://127.0.0.1/m.safetensors"' said
# Each address in an INI file and in an option that names a second file.
printf '[recorder]\ntype_of = %s\n' "$none" >"$scratch/named.ini"
silent 2 info --config "$scratch/named.ini" "$mnist"
silent 2 plan --model-config "$none" "$torch"

# 3. Addresses that differ in a hidden part only have different names; a value that looks like an address stays.
silent 0 diff --json "$mnist" "${mnist%FRAGQ}"
check "… by a number" grep -q "http://127.0.0.1:$port/good/mnist.mpk (2)" said
run edit "$scratch/files/mnist.mpk" meta from "https://host/m?a=b#c" -o set.mpk
status_is "an address can be set as a value" 0
run info --json set.mpk
check "… as it is" grep -q 'https://host/m?a=b#c' "$scratch/out"

finish
