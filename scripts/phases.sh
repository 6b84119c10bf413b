# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh disable=SC2154 # scripts/test sets source, work and full
# The phases of scripts/test, which reads this file. Each phase adds its test cases to $passed, $failed and $skipped.

jobs=$(nproc)

add() { # PASSED FAILED SKIPPED
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
}

# ended NAME STATUS: counts one test; status 77 means that it cannot run here
ended() {
    if [ "$2" = 77 ]; then
        echo "skipped  $1"
        add 0 0 1
    elif [ "$2" = 0 ]; then
        echo "ok       $1"
        add 1 0 0
    else
        echo "FAILED   $1"
        add 0 1 0
    fi
}

# one NAME COMMAND...: the command is one test; a failure shows the end of its output
one() {
    name_of_one=$1
    shift
    "$@" >"$work/log" 2>&1 && status=0 || status=$?
    [ "$status" = 0 ] || tail -n 60 "$work/log"
    ended "$name_of_one" "$status"
}

# summary NAME DIRECTORY: counts the logs of that directory and prints the logs of programs that failed
summary() {
    scripts/count-tests "$2" >"$work/counts" 2>"$work/failures"
    read -r good bad left <"$work/counts"
    if [ $((good + bad + left)) = 0 ]; then
        echo "no test ran" >"$work/failures"
        bad=1
    fi
    if [ "$bad" != 0 ]; then
        cat "$work/failures"
        sed -n 's/^failed: \([^:]*\): .*/\1/p' "$work/failures" | sort -u | while read -r log; do
            echo "--- $log.log"
            tail -n 60 "$log.log"
        done
    fi
    echo "$1: $good passed, $bad failed, $left skipped"
    add "$good" "$bad" "$left"
}

# built DIRECTORY SOURCE CONFIGURE-ARGUMENT...: configures and builds there, from nothing
built() {
    folder=$1
    from=$2
    shift 2
    rm -rf "$folder"
    mkdir -p "$folder"
    if ! { (cd "$folder" && "$from/configure" --quiet --enable-werror "$@" && make -j"$jobs") >"$folder/build.log" 2>&1; }; then
        tail -n 60 "$folder/build.log"
        ended "the build in $folder" 1
        return 1
    fi
}

# checked NAME DIRECTORY GOAL [TESTS]: runs that goal of make in a build and counts its logs
checked() {
    make -C "$2" -j"$jobs" -k "$3" ${4:+"TESTS=$4"} >"$2/check.log" 2>&1 && status=0 || status=$?
    summary "$1" "$2"
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
        tail -n 60 "$2/check.log"
        ended "$1: make $3" 1
    fi
}

# Packages and configure: each phase needs them.
prepare() {
    scripts/packages gcc g++ clang libclang-rt-14-dev libc6-dev make autoconf automake libtool pkg-config xz-utils binutils \
        libltdl-dev zlib1g-dev libisal-dev libzstd-dev libcurl4-openssl-dev libmsgpack-dev libinih-dev libpcre2-dev \
        libncurses-dev libcmocka-dev abigail-tools cmake shellcheck valgrind strace openmpi-bin libopenmpi-dev mandoc jq \
        python3 python3-msgpack python3-numpy python3-torch python3-pip zstd zsh fish chromium locales
    if [ ! -x configure ] ||
        [ -n "$(find configure.ac Makefile.am ./*/Makefile.inc ./*/*/Makefile.inc m4/lr_flags.m4 -newer configure)" ]; then
        autoreconf -fi >"$work/log" 2>&1 || {
            cat "$work/log"
            exit 1
        }
    fi
    # Builds out of the tarball find the shared test data where the checkout has them.
    if [ -z "${LIBRECORD_SHARED:-}" ] && [ -d ../shared ]; then
        LIBRECORD_SHARED=$(cd ../shared && pwd)
        export LIBRECORD_SHARED
    fi
    # A shim of pyenv takes longer to start than many tests run.
    PATH=$(python3 -c 'import os, sys; print(os.path.dirname(os.path.realpath(sys.executable)))'):$PATH
    # rustup installs cargo here, which need not be in the PATH of a script.
    PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
    export PATH
}

# The build of the release tarball by gcc, which several phases use.
gcc_tree() {
    if [ -e "$work/gcc/built" ] && [ "$(cat "$work/gcc/built")" = "$state" ]; then
        return 0
    fi
    rm -rf "$work/dist" "$work/gcc"
    mkdir -p "$work/dist"
    if ! { (cd "$work/dist" && "$source/configure" --quiet && XZ_OPT=-0 make dist && tar xf librecord-*.tar.xz) >"$work/log" 2>&1; }; then
        tail -n 60 "$work/log"
        ended "make dist" 1
        return 1
    fi
    ended "make dist" 0
    built "$work/gcc" "$(find "$work/dist" -maxdepth 1 -name 'librecord-*' -type d)" CC=gcc --enable-relocatable || return 1
    echo "$state" >"$work/gcc/built"
}

# ---------------------------------------------------------------------------------------------------------------- quick

phase_source() {
    # Scripts are *.sh, and files without an extension whose first line names the shell.
    # shellcheck disable=SC2016 # the inner shell expands $1
    one "shellcheck" find scripts .ci/run tests bindings contrib packaging -type f \
        \( -name '*.sh' -o ! -name '*.*' -exec sh -c 'head -n 1 "$1" | grep -Eq "^#!(/bin/|/usr/bin/env )(ba)?sh"' _ {} \; \) \
        -exec shellcheck -x {} +
    one "all C files are formatted" scripts/format --check
    one "texts avoid the phrases of check-english" scripts/check-english
    one "all C files pass the front end of clang" scripts/syntax "$work/syntax"
}

phase_gcc() {
    gcc_tree || return 0
    # Journeys use real Burn and packages of Python; they skip what is missing.
    for python in python3 /usr/bin/python3; do
        PYTHON=$python tests/interop/packages safetensors gguf >"$work/log" 2>&1 || tail -n 5 "$work/log"
    done
    if command -v cargo >/dev/null; then
        nice tests/interop/store/build 0.22.1 >"$work/log" 2>&1 || tail -n 20 "$work/log"
    fi
    one "the tree keeps its proportions" scripts/house "$work/gcc"
    checked "make check, gcc" "$work/gcc" "$([ -n "$full" ] && echo check-slow || echo check)"
}

phase_clang() {
    built "$work/clang" "$source" CC=clang --enable-fuzzing CFLAGS="-O1 -gline-tables-only" || return 0
    export LIBRECORD_TEST_EVERY=29 # sanitizers are slow, and the gcc tree runs every seventh case
    checked "unit tests under sanitizers" "$work/clang" check-unit
    unset LIBRECORD_TEST_EVERY
    fuzzed "$work/clang" "fuzzing the command" 5000 command
}

phase_burn() {
    gcc_tree || return 0
    python_package
    real_burn "real Burn and Python packages" interop --quick
    real_burn "models of PyTorch in real Burn" forward --quick
    rust_crates
}

# ----------------------------------------------------------------------------------------------------------------- full

# make_check NAME CONFIGURE-ARGUMENT...: builds in a directory of that name and runs make check without ranks
make_check() {
    folder=$work/$1
    shift
    built "$folder" "$source" "$@" || return 0
    MPIRUN=none checked "make check" "$folder" check
}

phase_clang_check() {
    make_check clang-check CC=clang
}

# The sanitizers of clang find offsets to null pointers, which those of gcc do not.
phase_sanitizers() {
    make_check sanitizers CC=clang --enable-sanitizers=address,undefined
}

phase_mpich() {
    scripts/packages mpich libmpich-dev
    mpi_tests=$(find tests/mpi -name '*.sh' ! -name mpi.sh | sort | tr '\n' ' ')
    built "$work/mpich" "$source" CC=gcc --with-mpi MPICC=mpicc.mpich || return 0
    MPIRUN=mpirun.mpich LIBRECORD_MPI_KILLS=100 checked "record-mpi with MPICH" "$work/mpich" check-slow "$mpi_tests"
}

phase_zlib() {
    built "$work/zlib" "$source" CC=gcc --with-isal=no || return 0
    checked "gzip by zlib alone" "$work/zlib" check-slow \
        "tests/codec/test_gzip tests/codec/test_gzip_index tests/codec/test_gzip_sink tests/symbols.sh"
}

phase_threads() {
    built "$work/threads" "$source" CC=gcc --enable-sanitizers=thread || return 0
    checked "thread sanitizer" "$work/threads" check \
        "tests/recorder/test_threads tests/core/test_registry tests/core/test_source tests/core/test_edit tests/codec/test_gzip_sink"
}

# fuzzed BUILD NAME EXECUTIONS TARGET...: so many executions from a fixed seed, so few that no machine runs out of time first:
# each run makes the same ones. Longer searches are made by hand.
fuzzed() {
    fuzz_build=$1
    fuzz_name=$2
    fuzz_runs=$3
    shift 3
    SEED=1 scripts/fuzz -b "$fuzz_build" -j "$jobs" -n "$fuzz_runs" 30 "$@" >"$work/log" 2>&1 && status=0 || status=$?
    cat "$work/log"
    ended "$fuzz_name" "$status"
}

phase_fuzz() {
    fuzzed "$work/fuzz" "fuzzing, 20,000 executions an entry" 20000 bin bpk cache command config gguf gz index ini json mpk npz pt \
        regex rules rust safetensors save server type types words zst
    fuzzed "$work/fuzz" "fuzzing, 1,000 executions an entry" 1000 again load plan
}

phase_faults() {
    gcc_tree || return 0
    BUILD=$work/gcc scripts/faults >"$work/faults.log" 2>&1 && status=0 || status=$?
    grep '^BAD' "$work/faults.log" | head -n 40
    tail -n 12 "$work/faults.log"
    ended faults "$status"
}

# port NAME: a build for another machine; the tests of what depends on the processor, and the bytes that it writes
port() {
    gcc_tree || return 0
    mkdir -p "$work/ports"
    QUICK=yes PORTS=$work/ports NATIVE=$work/gcc/tools/record scripts/ports "$1" >"$work/ports/$1.log" 2>&1 && status=0 || status=$?
    if [ "$status" = 77 ]; then
        tail -n 20 "$work/ports/$1.log"
        ended "the port $1" 77
        return 0
    fi
    summary "the port $1" "$work/ports/$1/build/tests"
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
        tail -n 60 "$work/ports/$1.log"
        ended "the port $1" 1
    fi
}
phase_s390x() { port s390x; }
phase_arm64() { port arm64; }
phase_i386() { port i386; }
phase_musl() { port musl; }
phase_old_glibc() { port old-glibc; }

phase_debian() {
    rm -rf "$work/debian"
    mkdir -p "$work/debian"
    scripts/reproducible "$work/debian" >"$work/debian/reproducible.log" 2>&1 && status=0 || status=$?
    [ "$status" = 0 ] || tail -n 40 "$work/debian/reproducible.log"
    ended "the packages of Debian are reproducible" "$status"
    [ "$status" = 0 ] || return 0
    scripts/debian "$work/debian/first" >"$work/debian/packages.log" 2>&1 && status=0 || status=$?
    echo ":test-result: $([ "$status" = 0 ] && echo PASS || echo FAIL)" >"$work/debian/packages.trs"
    summary "the packages of Debian" "$work/debian"
}

# The files are made from the commit that is checked out, without changes that are not committed. The phase debian makes the
# packages.
phase_release() {
    gcc_tree || return 0
    rm -rf "$work/release"
    one "the files of a release are reproducible" packaging/release/twice --snapshot --only source,x86_64,aarch64,sums \
        "$work/release"
    LIBRECORD_ARCHIVE=$(find "$work/release" -name '*-linux-x86_64.tar.gz')
    export LIBRECORD_ARCHIVE
    checked "the archive in an empty root directory" "$work/gcc" check tests/empty-root.sh
}

phase_distcheck() {
    gcc_tree || return 0
    one "make distcheck" make -C "$work/gcc" -j"$jobs" distcheck \
        TESTS="tests/core/test_registry tests/recorder/test_recorders tests/fuzz/test_seeds tests/cli/convert.sh tests/cli/types.sh tests/man.sh tests/installed.sh"
}

# real_burn NAME DIRECTORY ARGUMENT...: tests/DIRECTORY/run with the command of the tarball's build
real_burn() {
    burn_name=$1
    burn_tests=$2
    shift 2
    mkdir -p "$work/$burn_tests"
    result=PASS
    RECORD=$work/gcc/tools/record LIBRECORD_PLUGIN_PATH=$work/gcc/plugins/.libs \
        "tests/$burn_tests/run" "$@" >"$work/$burn_tests/run.log" 2>&1 || result=FAIL
    echo ":test-result: $result" >"$work/$burn_tests/run.trs"
    summary "$burn_name" "$work/$burn_tests"
}

# rust_crates [--full]: bindings/rust/check with the library of the tarball's build
rust_crates() {
    mkdir -p "$work/rust"
    result=PASS
    RECORD=$work/gcc/tools/record bindings/rust/check "$@" >"$work/rust/run.log" 2>&1 || result=FAIL
    echo ":test-result: $result" >"$work/rust/run.trs"
    summary "the crates for Rust" "$work/rust"
}

# python_package [--full]: the tests of bindings/python with the library of the tarball's build
python_package() {
    mkdir -p "$work/python"
    result=PASS
    # shellcheck disable=SC2065 # a script of that name
    RECORD=$work/gcc/tools/record LIBRECORD_PLUGIN_PATH=$work/gcc/plugins/.libs \
        bindings/python/test "$@" >"$work/python/test.log" 2>&1 || result=FAIL
    echo ":test-result: $result" >"$work/python/test.trs"
    summary "the Python package" "$work/python"
}

phase_interop() {
    gcc_tree || return 0
    python_package --full
    real_burn "all versions of Burn" interop
    real_burn "models of PyTorch in all versions of Burn" forward
    VERSIONS='0.21.0 0.22.1' real_burn "models of Flax and ONNX in real Burn" forward/contrib
    rust_crates --full
}
