#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every option of every subcommand in every way to give it its work: ways.py prints the cells as TAP.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"

if ! command -v python3 >/dev/null; then
    skip "options x ways" "python3 is not installed"
    finish
fi
record=${RECORD:-${top_builddir:-.}/tools/record}
cd "$scratch" || exit 99
# One process needs no mpirun, but Open MPI does not like root.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PYTHONDONTWRITEBYTECODE=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM PYTHONDONTWRITEBYTECODE
python3 "$srcdir/tests/matrix/ways.py" "$record" "$(dirname "$(dirname "$record")")/mpi/record-mpi" "$srcdir"
ways_status=$?
tap_finished=1 # it has printed the plan
exit "$ways_status"
