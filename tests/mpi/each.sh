#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi convert beside record convert: models of every family by their profiles, every kind of file, precision and some versions
# of Burn. LIBRECORD_MPI_EACH=all: all of these with each other, by 1, 2, 3, 4 and 7 ranks, which takes long.
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/mpi/each.py" "$record" "$record_mpi" "$mpirun" "$scratch" \
    ${LIBRECORD_MPI_EACH:+"$LIBRECORD_MPI_EACH"} >"$scratch/said" 2>"$scratch/wrong"
each_status=$?
while read -r line; do
    case $line in
    "ok - "*) ok "${line#ok - }" ;;
    "not ok - "*) not_ok "${line#not ok - }" ;;
    *) echo "# $line" ;;
    esac
done <"$scratch/said"
if [ "$each_status" != 0 ]; then
    not_ok "all were tried" "$scratch/wrong"
else
    ok "all were tried"
fi
finish
