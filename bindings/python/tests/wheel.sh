#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The wheel and `pip install` from the checkout, in fresh virtual environments, and the types by mypy. Prints TAP.
# shellcheck disable=SC2317 # functions that check() calls
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LIBRECORD_PLUGIN_PATH LIBRECORD_DATA LIBRECORD_DIR LD_LIBRARY_PATH PYTHONPATH

number=0
failures=0
check() { # NAME COMMAND...
    local name=$1
    shift
    number=$((number + 1))
    if "$@" >"$scratch/log" 2>&1; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        tail -n 40 "$scratch/log" | sed 's/^/#   /'
        failures=1
    fi
}
if ! "$python" -m venv "$scratch/probe" || ! "$scratch/probe/bin/pip" download --quiet --no-deps --dest "$scratch" cffi >"$scratch/log" 2>&1; then
    echo "1..0 # SKIP the wheel: packages of Python cannot be fetched"
    exit 0
fi

# works VENV: a program and the command, with nothing but the virtual environment
works() {
    (cd "$scratch" && "$1/bin/python" "$here/example.py" "$root/tests/data/burn/0.18.0/mnist.mpk" "$scratch" &&
        "$1/bin/record" ls "$scratch/model.bpk" && "$1/bin/python" -m librecord diff "$scratch/model.bpk" "$root/tests/data/burn/0.18.0/mnist.mpk" &&
        "$1/bin/record" convert --force "$scratch/doubled.safetensors" "$scratch/doubled.mpk.gz")
}
fresh() { # VENV WHAT
    "$python" -m venv "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check "$2"
}
check "a wheel is made" "$here/wheel" "$scratch/wheels"
wheel=$(echo "$scratch"/wheels/*.whl)
check "it is for any Python and glibc 2.28" expr "$wheel" : '.*-py3-none-.*manylinux_2_28_.*\.whl'
old_enough() { "$("$python" -c 'import os; print(os.environ.get("LIBRECORD_INTEROP_DIR") or os.path.expanduser("~/.cache/librecord-interop"))')/wheel-tools/bin/auditwheel" show "$wheel" | grep -E 'manylinux_2_(5|12|17|24|26|27|28)_'; }
check "auditwheel finds no newer symbol" old_enough
check "it is installed in a fresh environment" fresh "$scratch/wheel-venv" "$wheel"
check "and works" works "$scratch/wheel-venv"
check "pip install from the checkout" fresh "$scratch/source-venv" "$here"
check "it works" works "$scratch/source-venv"
check "mypy is installed" "$scratch/source-venv/bin/pip" install --quiet --disable-pip-version-check mypy==1.18.2
check "the package passes mypy --strict" "$scratch/source-venv/bin/mypy" --config-file "$here/pyproject.toml" "$here/src/librecord"
cat >"$scratch/user.py" <<'END'
import librecord
import numpy as np

with librecord.open("model.mpk") as record:
    shape: tuple[int, ...] = record.tensor("x").shape
    names: list[str] = list(record)
    array = np.asarray(record["x"])
report: librecord.Report = librecord.convert("a.mpk", "b.bpk", rename=[("a", "b")], progress=lambda step, done, total: None)
END
check "and so does a program that uses it" "$scratch/source-venv/bin/mypy" --strict "$scratch/user.py"
echo "1..$number"
exit $failures
