# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# The libraries of librecord for musl, built from Debian's sources and those of inih. Sourced by scripts/ports, after
# scripts/foreign.sh.

# musl_sources DIRECTORY: downloads and unpacks the sources. A version that the server lacks, although it lists it, is
# replaced by an older one.
musl_sources() {
    mkdir -p "$1/apt"
    foreign_apt amd64 "$1/apt"
    cd "$1" || return
    apt-get -q update || return
    for name in zlib pcre2 libzstd msgpack-c cmocka libtool; do
        rm -rf "${1:?}/$name"
        for version in $(apt-cache madison "$name" | awk '/ Sources$/ { print $3 }' | sort -rVu); do
            apt-get -q source --download-only --only-source "$name=$version" &&
                dpkg-source --no-check -x "${name}_${version#*:}.dsc" "$name" && break
        done
        [ -d "$1/$name" ] || return
    done
}

# musl_cmake DIRECTORY NAME OPTION...: builds and installs a library that has a CMakeLists.txt
musl_cmake() {
    musl_of=$1/sources/$2
    shift 2
    cmake -S "$musl_of" -B "$musl_of/musl" -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_C_FLAGS="$CFLAGS" -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_INSTALL_PREFIX="$root" -DCMAKE_INSTALL_LIBDIR=lib "$@" && make -C "$musl_of/musl" install
}

# musl_configure DIRECTORY SOURCE OPTION...: the same for one that has a configure script
musl_configure() {
    cd "$1/sources/$2" || return
    shift 2
    ./configure --prefix="$root" "$@" && make && make install
}

# musl_inih DIRECTORY: the two files of INIH_SOURCE
musl_inih() {
    # shellcheck disable=SC2086 # a list of words
    musl-gcc $CFLAGS -c -o "$1/ini.o" "$INIH_SOURCE/ini.c" && ar rcs "$root/lib/libinih.a" "$1/ini.o" &&
        cp "$INIH_SOURCE/ini.h" "$root/include" || return
    cat >"$root/lib/pkgconfig/inih.pc" <<END
Name: inih
Description: parser of INI files
Version: 0
Cflags: -I$root/include
Libs: -L$root/lib -linih
END
}

# musl_libraries DIRECTORY: builds the static libraries in DIRECTORY/root, once, so that a shared library can contain them.
# PCRE2 has no compiler of machine code, which librecord does not use. Call it in a subshell.
musl_libraries() {
    root=$1/root
    export CC=musl-gcc CFLAGS="-O2 -fPIC -ffunction-sections -fdata-sections"
    [ ! -e "$root/complete" ] || return 0
    rm -rf "$root"
    mkdir -p "$root/include" "$root/lib/pkgconfig"
    # The headers of the kernel, which are the same for each C library.
    ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(uname -m)-linux-gnu/asm" "$root/include"
    (musl_sources "$1/sources") || return
    (musl_configure "$1" zlib --static) &&
        (musl_configure "$1" pcre2 --disable-shared --disable-jit --disable-pcre2grep-libz --disable-pcre2grep-libbz2) &&
        (musl_configure "$1" libtool/libltdl --disable-shared --enable-ltdl-install) &&
        make -C "$1/sources/libzstd/lib" PREFIX="$root" ZSTD_LEGACY_SUPPORT=0 install-static install-includes install-pc &&
        musl_cmake "$1" msgpack-c -DMSGPACK_BUILD_EXAMPLES=OFF -DMSGPACK_BUILD_TESTS=OFF &&
        musl_cmake "$1" cmocka -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF && musl_inih "$1" || return
    # libtool puts no static library of its own kind into a shared one.
    rm -f "$root"/lib/*.la
    touch "$root/complete"
}
