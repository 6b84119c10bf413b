#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The command line itself: help, version, options, mistakes.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

run --version
check "--version names the library's version" grep -qE '^record \(librecord\) [0-9]+\.[0-9]+\.[0-9]+$' "$scratch/out"
status_is "--version ends with 0" 0

run --help
status_is "--help ends with 0" 0
check "--help goes to standard output" grep -q '^Usage: record ' "$scratch/out"
cp "$scratch/out" "$scratch/help"
awk 'length > 80' "$scratch/help" >"$scratch/long"
same "--help fits 80 columns" /dev/null "$scratch/long"
run help
same "record help is --help" "$scratch/help" "$scratch/out"
# shellcheck disable=SC2317 # check() calls it
fits() { # FILE: a terminal has 24 lines
    [ "$(wc -l <"$1")" -le 24 ] || wc -l "$1"
    [ "$(wc -l <"$1")" -le 24 ]
}
check "--help fits 24 lines" fits "$scratch/help"
run help options
awk 'length > 80' "$scratch/out" >"$scratch/long"
same "record help options fits 80 columns" /dev/null "$scratch/long"
check "record help options has options of several commands" grep -q '^      --from NAME ' "$scratch/out"
check "record help options has load arguments" grep -q '^      --prefix PATH ' "$scratch/out"
check "record help options has those of one command" grep -q '^      --sha256 ' "$scratch/out"

run --help
commands=$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' "$scratch/out" | sort -u)
for command in $commands; do
    run help "$command"
    cp "$scratch/out" "$scratch/help"
    check "record help $command says how it is used" grep -q "^Usage: record $command" "$scratch/help"
    awk 'length > 80' "$scratch/help" >"$scratch/long"
    same "record help $command fits 80 columns" /dev/null "$scratch/long"
    check "record help $command fits 24 lines" fits "$scratch/help"
    run "$command" --help
    same "record $command --help is the same" "$scratch/help" "$scratch/out"
    run "$command" -h --no-such-file
    status_is "record $command with an unknown option ends with 2" 2
done

fails "no command" <<END
record: a command was expected: info, ls, show, convert or another
  record --help shows how it is used.
END
fails "a command that is nearly one" lst 0.18.0/mnist.mpk <<END
record: unknown command "lst"
  Did you mean record ls?
END
# In the order of the help.
run --help
all=$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' "$scratch/out" | paste -s -d , | sed 's/,/, /g')
fails "a command that is none" transmogrify <<END
record: unknown command "transmogrify"
  Commands: $all.
END
fails "help for a command that is none" help shwo <<END
record: unknown command "shwo"
  Did you mean record show?
END
fails "an option that is nearly one" ls --jsn 0.18.0/mnist.mpk <<END
record: unknown option --jsn
  Did you mean --json?
END
fails "an option that is cut short" ls --prec half 0.18.0/mnist.mpk <<END
record: unknown option --prec
  Did you mean --precision?
END
fails "an option that is none" ls --frobnicate 0.18.0/mnist.mpk <<END
record: unknown option --frobnicate
  record help options lists the options of record ls.
END
fails "a letter that is none" ls -z 0.18.0/mnist.mpk <<END
record: unknown option -z
  record help options lists all options.
END
fails "an option of another command" ls --why 0.18.0/mnist.mpk <<END
record: --why is not an option of \`record ls\`
  record ls --help shows how it is used.
END
fails "an option without its value" ls 0.18.0/mnist.mpk --from <<END
record: --from needs a value: --from NAME
END
fails "an option with an empty value" ls 0.18.0/mnist.mpk --from= <<END
record: --from needs a value, found an empty one
END
fails "a flag with a value" ls --json=yes 0.18.0/mnist.mpk <<END
record: --json takes no value
END
fails "a precision that is none" info --precision quarter 0.18.0/mnist.mpk <<END
record: --precision: expected half, full, double, default or keep, found "quarter"
END
fails "a colour setting that is none" info --color sometimes 0.18.0/mnist.mpk <<END
record: --color: expected auto, always or never, found "sometimes"
END
fails "a recorder's option without value" convert --option level 0.18.0/mnist.mpk "$scratch/x.mpk" <<END
record: --option: expected NAME=VALUE, found "level"
END
fails "too few operands" convert 0.18.0/mnist.mpk <<END
record: expected record convert IN... OUT, found 1 operand
  record convert --help shows how it is used.
END
fails "too many operands" types a b <<END
record: expected record types FILE, found 2 operands
  record types --help shows how it is used.
END
fails "a configuration that is not there" info --config "none.ini" 0.18.0/mnist.mpk <<END
record: none.ini: cannot open: No such file or directory
END

run info 0.21.0/tiny-full.mpk
cp "$scratch/out" "$scratch/plain"
for order in "--from mpk info 0.21.0/tiny-full.mpk" "info --from=mpk 0.21.0/tiny-full.mpk" \
    "info 0.21.0/tiny-full.mpk --from mpk" "--from mpk -- info 0.21.0/tiny-full.mpk" "-q info 0.21.0/tiny-full.mpk"; do
    # shellcheck disable=SC2086
    run $order
    same "options stand anywhere: $order" "$scratch/plain" "$scratch/out"
done

cp 0.21.0/tiny-full.mpk "$scratch/-q"
cd "$scratch" || exit 99
run info -- -q
check "after -- a name may begin with a hyphen" grep -q 'Burn 0.21.0' "$scratch/out"

finish
