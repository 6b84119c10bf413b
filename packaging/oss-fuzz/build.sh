#!/bin/bash -eu
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the entries of tests/fuzz into $OUT, each with its seeds and its dictionary. CC, CXX, CFLAGS, CXXFLAGS and
# LIB_FUZZING_ENGINE are OSS-Fuzz's: the sanitizers are in the flags.
if [ -d "$SRC/pcre2" ]; then
    (cd "$SRC/pcre2" && ./autogen.sh)
    mkdir -p "$WORK/pcre2"
    (cd "$WORK/pcre2" && "$SRC/pcre2/configure" --disable-shared --enable-unicode --prefix="$WORK/root" && \
        make -j"$(nproc)" && make install)
    export PKG_CONFIG_PATH="$WORK/root/lib/pkgconfig"
fi

autoreconf -fi
mkdir -p "$WORK/build"
cd "$WORK/build"
# The machines that fuzz have none of the libraries: all that can be is linked in.
"$SRC/librecord/configure" --enable-fuzzing --enable-sanitizers=no --with-isal=no --with-ncurses=no
make -j"$(nproc)" fuzzers
"$SRC/librecord/tests/fuzz/make-seeds" "$WORK/seeds"

for program in tests/fuzz/fuzz_*; do
    if [ ! -x "$program" ] || [ -d "$program" ]; then
        continue
    fi
    name=${program##*/}
    target=${name#fuzz_}
    cp "$program" "$OUT/$name"
    (cd "$WORK/seeds/$target" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
    if [ -f "$SRC/librecord/tests/fuzz/dictionaries/$target" ]; then
        cp "$SRC/librecord/tests/fuzz/dictionaries/$target" "$OUT/$name.dict"
    fi
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 25\n' >"$OUT/$name.options"
done
# What the entries read beside their input: Burn's modules. They look for it beside the program.
mkdir -p "$OUT/etc"
cp -r "$SRC/librecord/etc/modules" "$SRC/librecord/etc/profiles" "$OUT/etc"
# Libraries that are shared go beside them.
mkdir -p "$OUT/lib"
for program in "$OUT"/fuzz_*; do
    if [ -x "$program" ] && [ ! -d "$program" ]; then
        ldd "$program" | awk '$1 ~ /^lib(inih|ltdl|zstd|pcre2)/ { print $3 }' | while read -r file; do
            cp -L "$file" "$OUT/lib/"
        done
        patchelf --set-rpath "\$ORIGIN/lib" "$program"
    fi
done
