#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Two ranks convert a model of PyTorch to the bytes that one process writes. The other tests of record-mpi are slow.
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

input=$(cd "$srcdir" && pwd)/examples/weights.safetensors
check "record converts it" "$record" convert -q "$input" one.mpk
ranks 2 convert -q "$input" two.mpk
check "two ranks convert it" [ "$status" = 0 ]
check "to the same bytes" cmp one.mpk two.mpk
finish
