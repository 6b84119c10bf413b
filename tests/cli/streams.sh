#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Standard input and output, pipes, a full disk, a terminal.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

"$record" ls --json 0.18.0/mnist.mpk >"$scratch/expected"
"$record" ls --json - <0.18.0/mnist.mpk >"$scratch/out"
same "a file as standard input" "$scratch/expected" "$scratch/out"
# shellcheck disable=SC2002
cat 0.18.0/mnist.mpk | "$record" ls --json - >"$scratch/out"
same "a pipe as standard input" "$scratch/expected" "$scratch/out"
gzip -c 0.18.0/mnist.mpk | "$record" ls --json - >"$scratch/out"
same "a compressed pipe" "$scratch/expected" "$scratch/out"
"$record" convert -q --to mpk-gz 0.18.0/mnist.mpk - | "$record" convert -q --to mpk - - | "$record" ls --json - \
    >"$scratch/out"
same "pipes all the way" "$scratch/expected" "$scratch/out"
mkfifo "$scratch/fifo"
cat 0.18.0/mnist.mpk >"$scratch/fifo" &
"$record" ls --json "$scratch/fifo" >"$scratch/out"
same "a FIFO as a file" "$scratch/expected" "$scratch/out"
"$record" convert -q --to mpk 0.18.0/mnist.mpk - >"$scratch/fifo.mpk"
mkfifo "$scratch/out.mpk"
cat "$scratch/out.mpk" >"$scratch/through" &
"$record" convert -q 0.18.0/mnist.mpk "$scratch/out.mpk"
wait
same "a FIFO as the output" "$scratch/fifo.mpk" "$scratch/through"

"$record" info - <0.21.0/tiny-full.mpk.gz >"$scratch/out"
check "standard input has a name" grep -q '^standard input  NamedMpkGz record, written by Burn 0.21.0$' "$scratch/out"
printf '' | "$record" info - >"$scratch/out" 2>"$scratch/err"
check "an empty input is an error that says so" grep -q '^record: standard input: .*empty' "$scratch/err"
head -c 100 0.21.0/tiny-full.mpk | "$record" info - >"$scratch/out" 2>"$scratch/err"
check "so is one that ends early" grep -q '^record: standard input: byte [0-9]*: ' "$scratch/err"

"$record" convert --to mpk 0.18.0/mnist.mpk - >"$scratch/data" 2>"$scratch/err"
check "the report goes to standard error if the data do not" grep -q -- '-> standard output: 24 tensors' "$scratch/err"
"$record" ls --json "$scratch/data" >"$scratch/out"
same "and the data are whole" "$scratch/expected" "$scratch/out"

if [ -w /dev/full ]; then
    for command in "--version" "help" "ls 0.18.0/mnist.mpk" "ls --json 0.18.0/mnist.mpk" "info 0.18.0/mnist.mpk" \
        "show 0.18.0/mnist.mpk stem.weight" "plugins" "verify 0.18.0/mnist.mpk"; do
        # shellcheck disable=SC2086
        "$record" $command >/dev/full 2>"$scratch/err"
        status=$?
        status_is "a full disk: record $command ends with 2" 2
        check "and says so" grep -qx 'record: standard output: cannot write: No space left on device' "$scratch/err"
    done
    "$record" convert --to mpk 0.18.0/mnist.mpk - >/dev/full 2>"$scratch/err"
    status=$?
    status_is "a full disk: converting to standard output ends with 2" 2
    check "and says so, once" [ "$(grep -c 'standard output: .*cannot write: No space left' "$scratch/err")" = 1 ]
else
    skip "a full disk" "there is no /dev/full"
fi

# Much output into a reader that has seen enough.
{
    "$record" show --all 0.18.0/mnist.mpk fc1.weight 2>"$scratch/err"
    echo $? >"$scratch/status"
} | head -n 1 >"$scratch/out"
same "a reader that has seen enough ends it without a word" /dev/null "$scratch/err"
check "by the signal, as other filters" grep -qx 141 "$scratch/status"
(
    trap '' PIPE
    {
        "$record" show --all 0.18.0/mnist.mpk fc1.weight 2>"$scratch/err"
        echo $? >"$scratch/status"
    } | head -n 1 >"$scratch/out"
)
same "also where the signal was ignored" /dev/null "$scratch/err"
check "the first line arrived" [ "$(wc -l <"$scratch/out")" = 1 ]

# ---------------------------------------------------------------------------------------------- an input that shrinks --

# Converted to a FIFO that is read slowly: the input is cut while its data are read.
header='{"a":{"dtype":"U8","shape":[41943040],"data_offsets":[0,41943040]}}'
printf "\\$(printf %03o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >"$scratch/shrinks.safetensors"
truncate -s $((41943040 + 8 + ${#header})) "$scratch/shrinks.safetensors"
# What waits for another program ends by one signal.
# shellcheck disable=SC2317 # called by wait_for
sleeps() { # PID: a process of record that waits for something
    [ "$(basename "$(readlink "/proc/$1/exe")")" = record ] && grep -q '^State:[^A-Z]*S' "/proc/$1/status"
}
# shellcheck disable=SC2317
has_ended() { # PID
    ! grep '^State:' "/proc/$1/status" | grep -qv '^State:[^A-Z]*Z'
}
stops() { # WHAT ARGUMENT...: of a convert that waits
    stops_what=$1
    shift
    "$record" convert -q "$@" 2>"$scratch/err" <"$scratch/nobody" &
    stops_pid=$!
    wait_for sleeps $stops_pid
    kill -TERM $stops_pid
    wait_for has_ended $stops_pid || kill -KILL $stops_pid
    wait $stops_pid
    stops_status=$?
    check "$stops_what ends by one signal" [ $stops_status = 143 ]
}
mkfifo "$scratch/nobody" "$scratch/unread.mpk"
exec 9<>"$scratch/nobody" # which never has anything
stops "waiting for a reader" 0.18.0/mnist.mpk "$scratch/unread.mpk"
stops "waiting for input" --to mpk - "$scratch/never.mpk"
exec 9>&-
check "nothing is left of it" [ -z "$(find "$scratch" -name '*never.mpk*')" ]

mkfifo "$scratch/slow.mpk"
"$record" convert -q --no-map --adapter none "$scratch/shrinks.safetensors" "$scratch/slow.mpk" 2>"$scratch/err" &
{
    head -c 100000 >"$scratch/out"
    truncate -s 30000000 "$scratch/shrinks.safetensors"
    cat >/dev/null
} <"$scratch/slow.mpk"
if wait $!; then
    not_ok "an input that shrinks is an error" "$scratch/err"
else
    ok "an input that shrinks is an error"
fi
check "the error names the input, where the place is" \
    grep -qF "/shrinks.safetensors: byte 30,000,000: a: the file shrank while it was read" "$scratch/err"

# ------------------------------------------------------------------------------------------------------- terminals --

"$record" ls --color=always 0.21.0/tiny-full.mpk >"$scratch/out"
check "--color=always colours" grep -q "^$(printf '\033')\\[1mKEY" "$scratch/out"
"$record" ls 0.21.0/tiny-full.mpk >"$scratch/out"
check "a file gets no colours" [ "$(LC_ALL=C tr -cd '\033' <"$scratch/out" | wc -c)" = 0 ]
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    on_terminal() { # COLUMNS COMMAND
        TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r' >"$scratch/out"
    }
    on_terminal 80 "'$record' ls 0.21.0/tiny-full.mpk"
    check "a terminal gets colours" grep -q "$(printf '\033')\\[1mKEY" "$scratch/out"
    on_terminal 80 "NO_COLOR=1 '$record' ls 0.21.0/tiny-full.mpk"
    check "not with NO_COLOR" [ "$(LC_ALL=C tr -cd '\033' <"$scratch/out" | wc -c)" = 0 ]
    on_terminal 80 "'$record' ls --color=never 0.21.0/tiny-full.mpk"
    check "nor with --color=never" [ "$(LC_ALL=C tr -cd '\033' <"$scratch/out" | wc -c)" = 0 ]
    on_terminal 60 "'$record' ls --all --color=never 0.18.0/mnist.mpk"
    check "a narrow terminal shortens keys in the middle" grep -qE '^block.*….*  f32' "$scratch/out"
    "$record" ls --all 0.18.0/mnist.mpk | cat >"$scratch/out"
    check "a pipe never does" [ "$(grep -c … "$scratch/out")" = 0 ]
    # A record that comes slowly. A pipe holds 64 KiB, so when the second piece is written the command has read the first
    # one. What comes more than a second later makes it show how far it is.
    header='{"a":{"dtype":"U8","shape":[8388608],"data_offsets":[0,8388608]}}'
    {
        printf "\\$(printf %03o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header"
        head -c 8388608 /dev/urandom
    } >"$scratch/noise.safetensors"
    "$record" convert -q --adapter none "$scratch/noise.safetensors" "$scratch/slowly.mpk.gz"
    cat >"$scratch/slowly" <<'END'
for from in 1 200001; do
    tail -c "+$from" "$1" | head -c 200000
    sleep 1.2
done
tail -c +400001 "$1"
END
    for command in info ls show types "plan --debug"; do
        shown=$scratch/progress-${command%% *}
        TERM=xterm script -qec "sh '$scratch/slowly' '$scratch/slowly.mpk.gz' | '$record' $command - >/dev/null" \
            /dev/null </dev/null >"$shown" &
    done
    wait
    for command in info ls show types plan; do
        check "$command shows how far it is" grep -q 'load: .*MiB' "$scratch/progress-$command"
    done
    on_terminal 80 "'$record' show 0.21.0/plain-full.mpk name"
    check "a string cannot ring the terminal's bell" [ "$(LC_ALL=C tr -cd '\007' <"$scratch/out" | wc -c)" = 0 ]
else
    skip "terminals" "there is no script(1)"
fi

finish
