#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs the commands and programs of README.md, docs/, man/*.1 and the command's help in the order in which a reader
# would type them. Each document has one shell and a directory with the files that it names (files.py).
#
#   ```sh, indented, .Dl    each line is a command. It must exit with 0, or with N if it ends with `# exit N`
#   ```console              lines that begin with `$ ` are commands, the others are their output
#   ```text                 the output of the command before. If it begins with `record: `, that command must exit with 2
#   ```LANGUAGE FILE        creates FILE, which a later command must use. INI rules without a section become a profile
#   ```LANGUAGE in FILE     is a piece of FILE, verbatim
#   ```c, ```cpp            is compiled without a warning, and runs if it has a main()
#   .Bd -literal            JSON: the commands of the document print these keys
#
# A comment, <!-- ... --> or .\" ..., changes this for the block that follows:
#
#   not run: REASON               the block cannot run
#   not run, "TEXT": REASON       lines of the block that begin with TEXT cannot run
#   not run, all LANGUAGE: REASON  no block of LANGUAGE from here to the end can run, unless it names a file
#   around: CODE                  the code around the block, which replaces the line BLOCK
#   around, all LANGUAGE: CODE    the same, for all blocks of LANGUAGE from here to the end
#   run: COMMANDS                 commands that run here and that the reader does not see
#
# A block that does not run and has no such comment is a failure.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

for program in bash python3 jq pkg-config; do
    if ! command -v "$program" >/dev/null; then
        skip "the commands of the documents" "$program is missing"
        finish
    fi
done
RECORD=$(cd "$(dirname "${RECORD:-$top_builddir/tools/record}")" && pwd)/record
export RECORD
PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1
export PYTHONDONTWRITEBYTECODE PYTHONUTF8
python3 "$srcdir/tests/documents/run.py" "$(cd "$srcdir" && pwd)" "$(cd "$top_builddir" && pwd)" "$scratch"
documents_status=$?
tap_finished=1
exit $documents_status
