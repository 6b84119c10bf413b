#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# --threads and --no-threads: every recorder writes the same bytes and reads the same record, whatever the number of threads.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

for value in 0 65 -1 two '1 ' 99999999999999999999; do
    run info --threads "$value" 0.21.0/tiny-full.mpk
    status_is "--threads \"$value\" is refused" 2
    check "and says what was expected" grep -qF -e \
        "--threads: expected a whole number from 1 to 64, found \"$value\"" "$scratch/err"
done
run info --threads 64 0.21.0/tiny-full.mpk
status_is "--threads 64 is none too many" 0
run plugins --no-threads
status_is "a subcommand that reads no record has no threads" 2

started() { # COMMAND...: how many threads it started
    strace -f -qq -e trace=clone,clone3 -o "$scratch/calls" "$@" >"$scratch/out" 2>&1
    grep -cE 'clone3?\(.*CLONE_THREAD' "$scratch/calls"
}

# Numbers as weights have them, 1 MiB of f32 in a pattern that a compressor does not see through, and again until it is large
# enough that readers and compressors share it out.
LC_ALL=C awk 'BEGIN {
    srand(7)
    for (i = 0; i < 262144; i++) printf "%c%c%c%c", 1 + rand() * 255, 1 + rand() * 255, 1 + rand() * 120, rand() < 0.5 ? 61 : 189
}' >"$scratch/piece" || not_ok "awk writes bytes"
check "a piece has 1 MiB" [ "$(wc -c <"$scratch/piece")" -eq 1048576 ]
model() { # MIB: a safetensors file
    bytes=$(($1 * 1048576))
    header='{"b.weight":{"dtype":"F32","shape":['$((bytes / 4096))',1024],"data_offsets":[0,'$bytes']}'
    header="$header,\"a.weight\":{\"dtype\":\"F32\",\"shape\":[512,512],\"data_offsets\":[$bytes,$((bytes + 1048576))]}}"
    while [ $((${#header} % 8)) -ne 0 ]; do header="$header "; done
    length=${#header}
    # shellcheck disable=SC2059 # the bytes of the length
    printf "\\$(printf %o $((length % 256)))\\$(printf %o $((length / 256)))\\0\\0\\0\\0\\0\\0%s" "$header"
    i=0
    while [ "$i" -le "$1" ]; do
        cat "$scratch/piece"
        i=$((i + 1))
    done
}
small=3 medium=9 large=36
[ -n "${SANITIZERS:-}" ] && large=$medium
for size in $small $medium $large; do
    model "$size" >"$scratch/$size.safetensors"
    run convert -q --adapter none "$scratch/$size.safetensors" "$scratch/$size.mpk"
    status_is "a record of $size MiB is made" 0
done

# alike NAME SIZE [OPTION...]: no threads and three, in make check-slow also one and eight, write the same file, and read the
# same record from it. OPTIONs are the writer's.
numbers=3
slow && numbers="1 3 8"
alike() {
    recorder=$1
    size=$2
    shift 2
    case $recorder in
    Bin*) type="--type-of $scratch/$size.mpk" ;;
    *) type= ;;
    esac
    # shellcheck disable=SC2086 # a list of words
    for threads in --no-threads $(printf -- "--threads=%s " $numbers); do
        rm -rf "$scratch/made" && mkdir "$scratch/made"
        # shellcheck disable=SC2086 # lists of words
        "$record" convert -q "$threads" "$@" $type --to "$recorder" "$scratch/$size.mpk" "$scratch/made/x" &&
            "$record" convert -q --no-map "$threads" $type --from "$recorder" --adapter none --to mpk "$(echo "$scratch"/made/x*)" \
                "$scratch/made/back" && (cd "$scratch/made" && cksum x* back*) >"$scratch/sums" || return
        [ "$threads" = --no-threads ] && cp "$scratch/sums" "$scratch/sums.first"
        cmp "$scratch/sums.first" "$scratch/sums" || return
    done
}

# Every recorder that saves files and loads them, and every format in every codec.
"$record" plugins --json >"$scratch/plugins.json"
of_kind() { # KIND: "NAME EXTENSION", a line each
    sed -n "s/.*{\"name\": \"\\([^\"]*\\)\", \"usable\": true, \"kind\": \"$1\", .*\"extension\": \"\\([^\"]*\\)\".*\"can_load\": true, \"can_save\": true.*/\\1 \\2/p" \
        "$scratch/plugins.json"
}
of_kind format >"$scratch/formats"
of_kind stack >"$scratch/all"
cat "$scratch/formats" >>"$scratch/all"
of_kind codec >"$scratch/codecs"
while read -r codec ending; do
    [ "$codec" = gzip ] || echo "NamedMpk.$ending $ending"
done <"$scratch/codecs" >>"$scratch/all"
echo "Safetensors.gz safetensors.gz" >>"$scratch/all"
found=0
while read -r name extension; do
    size=$large
    case $extension in
    *json*) size=$small ;;
    *gz | *zst) size=$medium ;;
    '') continue ;; # of memory alone
    npy) continue ;; # one array
    esac
    found=$((found + 1))
    check "$name: the same bytes whatever the number of threads" alike "$name" "$size"
    [ "$size" = $large ] && size=$medium
    check "$name, half: the same" alike "$name" "$size" --precision half
done <"$scratch/all"
check "the recorders were found" [ "$found" -ge 12 ]
for level in 0 1 9; do
    check "level $level: the same" alike NamedMpkGz $small --option level=$level
done

if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null && [ -z "${SANITIZERS:-}" ]; then
    check "--no-threads starts none" [ "$(started "$record" convert -q --no-map --no-threads --to mpk-gz \
        "$scratch/$large.mpk" "$scratch/none")" -eq 0 ]
    check "--threads 3 starts some" [ "$(started "$record" convert -q --no-map --threads 3 \
        "$scratch/$large.mpk" "$scratch/some.mpk")" -ge 1 ]
else
    skip "how many threads there are" "strace is not installed, or may not trace"
fi

finish
