# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# What the tests of record-mpi share: how ranks are started. They run in $scratch. A test ends here where none can be.

# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

record_mpi=$(dirname "$(dirname "$record")")/mpi/record-mpi
mpirun=${MPIRUN:-mpirun}
if [ ! -x "$record_mpi" ]; then
    skip "record convert by many ranks" "configured without MPI"
    finish
fi
if ! command -v "$mpirun" >/dev/null; then
    skip "record convert by many ranks" "there is no $mpirun to start them"
    finish
fi

# Open MPI counts processors and does not like root, MPICH minds neither.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent='' PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_plm_rsh_agent PRTE_MCA_rmaps_default_mapping_policy

# ranks N ARGUMENT...: leaves $status, $scratch/out and $scratch/err; no hang
ranks() {
    ranks_n=$1
    shift
    timeout -k 5 60 "$mpirun" -n "$ranks_n" "$record_mpi" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

if ! timeout -k 5 60 "$mpirun" -n 2 "$record_mpi" --version >"$scratch/out" 2>"$scratch/err" </dev/null; then
    skip "record convert by many ranks" "$mpirun does not start two ranks here: $(tail -n 1 "$scratch/err")"
    finish
fi
