# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Functions of the journeys. Each journey begins in an empty home directory, with `record` in the PATH and no
# configuration. It is a list of steps that a user types one after the other, and ends with a check by another program.
#
#   needs WHAT...             skips the journey if one is missing: a command, a Python package (torch, numpy, msgpack,
#                             safetensors, gguf) or store, the program around real Burn 0.22.1
#   with_library              skips the journey if librecord is static; makes pkg-config find the library of this build
#   step NAME <<'END'         runs commands (bash -eu -o pipefail) in the home directory; $output keeps what they print
#   fails STATUS NAME <<'END' runs a command that must end with this status
#   prints TEXT               checks that the last step printed this; runs of spaces count as one
#   python NAME <<'END'       runs a Python program there, which fails by an exception; it may import journey.py
set -u
: "${srcdir:=.}" "${top_builddir:=.}"
srcdir=$(cd "$srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
# shellcheck source=tests/tap.sh
. "$srcdir/tests/tap.sh"

journeys=$srcdir/tests/journeys
LIBRECORD_INTEROP_DIR=${LIBRECORD_INTEROP_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/librecord-interop}
burn_store=$LIBRECORD_INTEROP_DIR/store-0.22.1/target/debug/store
output=$scratch/output
: "${LIBRECORD_PLUGIN_PATH:=$top_builddir/plugins/.libs}" "${LIBRECORD_DATA:=$srcdir/etc}" "${PYTHON:=python3}"
HOME=$scratch/home
path_before=$PATH
PATH=$scratch/bin:$PATH
PYTHONDONTWRITEBYTECODE=1
export HOME PATH PYTHON PYTHONDONTWRITEBYTECODE srcdir journeys
export LIBRECORD_INTEROP_DIR LIBRECORD_PLUGIN_PATH LIBRECORD_DATA
unset LIBRECORD_CONFIG XDG_CONFIG_HOME XDG_CONFIG_DIRS NO_COLOR MAKEFLAGS MFLAGS MAKELEVEL
mkdir "$HOME" "$scratch/bin"
cd "$HOME" || exit 99

# An installed `record` would find these by itself. libtool's own script takes longer to start.
record=${RECORD:-$top_builddir/tools/record}
inner=${record%/*}/.libs/${record##*/}
if [ -x "$inner" ]; then record=$inner; fi
cat >"$scratch/bin/record" <<END
#!/bin/sh
export LD_LIBRARY_PATH="$top_builddir/.libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
exec "$record" "\$@"
END
cat >"$scratch/bin/cc" <<END
#!/bin/sh
# The compiler may be a script itself that looks for its name in PATH (ccache), where it must not find this one.
PATH="$path_before"
export PATH
case " \$* " in
*" -shared "*) ;; # clang's run time of sanitizers is in programs alone
*) set -- ${SANITIZERS:+-fsanitize=$SANITIZERS} "\$@" ;;
esac
exec ${CC:-/usr/bin/cc} "\$@" -Wl,-rpath,"$top_builddir/.libs"
END
chmod +x "$scratch/bin/record" "$scratch/bin/cc"

step() {
    cat >"$scratch/step.sh"
    step_status=0
    bash -eu -o pipefail "$scratch/step.sh" >"$output" 2>&1 </dev/null || step_status=$?
    if [ "$step_status" = 0 ]; then ok "$1"; else not_ok "$1 (status $step_status)" "$output"; fi
}

fails() {
    cat >"$scratch/step.sh"
    step_status=0
    bash -u "$scratch/step.sh" >"$output" 2>&1 </dev/null || step_status=$?
    if [ "$step_status" = "$1" ]; then ok "$2"; else not_ok "$2 (expected status $1, found $step_status)" "$output"; fi
}

prints() {
    if tr -s ' ' <"$output" | grep -qF -e "$1"; then
        ok "it prints: $1"
    else
        not_ok "it prints: $1" "$output"
    fi
}

python() {
    cat >"$scratch/program.py"
    python_path=$journeys${packages:+:$packages}${PYTHONPATH:+:$PYTHONPATH}
    if PYTHONPATH=$python_path "$PYTHON" "$scratch/program.py" >"$output" 2>&1; then
        ok "$1"
    else
        not_ok "$1" "$output"
    fi
}

# without NAME WHERE-IT-IS: ends the journey
without() {
    skip "the journey" "$1 is missing ($2)"
    finish
}

# Debian's packages of Python are those of /usr/bin/python3, which may not be the first of the PATH.
python_with() {
    for candidate in "$PYTHON" /usr/bin/python3; do
        if command -v "$candidate" >/dev/null && "$candidate" -c 'import importlib.util as u, sys
sys.exit(not all(map(u.find_spec, sys.argv[1:])))' "$@"; then
            PYTHON=$candidate
            return 0
        fi
    done
    return 1
}

packages=
needs() {
    needs_debian=''
    needs_pypi=''
    for what in "$@"; do
        case $what in
        torch | numpy | msgpack) needs_debian="$needs_debian $what" ;;
        safetensors | gguf) needs_pypi="$needs_pypi $what" ;;
        store)
            [ -x "$burn_store" ] || without "real Burn 0.22.1" "tests/interop/store/build 0.22.1 builds it"
            ln -s "$burn_store" "$scratch/bin/store"
            ;;
        *) command -v "$what" >/dev/null || without "$what" "a Debian package" ;;
        esac
    done
    command -v "$PYTHON" >/dev/null || without "$PYTHON" "Debian: python3"
    # shellcheck disable=SC2086 # lists of words
    {
        python_with $needs_debian || without "one of$needs_debian" "Debian: python3-NAME"
        packages=$("$srcdir/tests/interop/packages" --offline $needs_pypi 2>/dev/null) ||
            without "one of$needs_pypi" "PyPI: tests/interop/packages$needs_pypi"
    }
}

with_library() {
    [ -e "$top_builddir/.libs/librecord.so" ] || without "librecord.so" "this build is static"
    sed -e "s|^libdir=.*|libdir=$top_builddir/.libs|" -e "s|^includedir=.*|includedir=$srcdir/include|" \
        "$top_builddir/librecord.pc" >"$scratch/librecord.pc"
    PKG_CONFIG_PATH=$scratch
    export PKG_CONFIG_PATH
}
