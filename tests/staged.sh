# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # variables of tap.sh and of those who read this
# For test scripts that build against an installed librecord: copies tests/stage of the build, which `make stage` made, to
# $scratch/stage. Sets $stage, $prefix, $libdir, $plugindir
# and $record. To be read after tap.sh. make_with_installed builds with a pkg-config that knows the stage.

# A make of their own, not a part of the one that runs this.
unset MAKEFLAGS MFLAGS MAKELEVEL
stage=$scratch/stage
if [ ! -d "$top_builddir/tests/stage" ]; then
    not_ok "there is an installation in $top_builddir/tests/stage: run make stage"
    finish
fi
cp -Rp "$top_builddir/tests/stage" "$stage" || exit 99
pc=$(find "$stage" -name librecord.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
cat >"$scratch/pkg-config" <<END
#!/bin/sh
# Nothing is where the .pc file says: it was installed below DESTDIR.
PKG_CONFIG_PATH='$(dirname "$pc")' exec pkg-config --define-variable=prefix='$stage$prefix' "\$@"
END
chmod +x "$scratch/pkg-config"
libdir=$("$scratch/pkg-config" --variable=libdir librecord)
plugindir=$("$scratch/pkg-config" --variable=plugindir librecord)
record=$(find "$stage" -type f -path "*/bin/record")
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# make_with_installed GOAL...: as the one who wrote the Makefile would, but with this build's compiler and sanitizers.
make_with_installed() {
    if [ -n "${SANITIZERS:-}" ]; then
        make CC="${CC:-cc}" PKG_CONFIG="$scratch/pkg-config" CFLAGS="-O1 -g -fsanitize=$SANITIZERS" \
            LDFLAGS="-fsanitize=$SANITIZERS" \
            LDLIBS="$("$scratch/pkg-config" --libs librecord zlib) -Wl,-z,undefs" "$@" # clang's run time is in the program alone
    else
        make CC="${CC:-cc}" PKG_CONFIG="$scratch/pkg-config" LDFLAGS="-Wl,-z,defs" "$@"
    fi
}
