#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What is paid before main() whether or not it is used, by what the objects hold and not by the clock.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

library=$top_builddir/.libs/librecord.so
if [ ! -e "$library" ] || [ -n "${SANITIZERS:-}" ]; then
    skip "what is paid at the start" "this is a static build, or one with sanitizers"
    finish
fi

asks() { # NAME: who has it, of the library, the command and the plugins
    for file in "$library" "$top_builddir/tools/.libs/record" "$top_builddir"/plugins/.libs/*.so; do
        [ -e "$file" ] && nm "$file" | sed -n "s|.* \($1\)\$|${file##*/} has \1|p"
    done
}
asks_nobody() {
    asks '__cpu_indicator_init' | tee "$scratch/asks"
    [ ! -s "$scratch/asks" ]
}
if [ -e /usr/include/sys/platform/x86.h ] || [ -e "/usr/include/$(uname -m)-linux-gnu/sys/platform/x86.h" ]; then
    check "no constructor asks the processor what it can do" asks_nobody
    printf 'int main(void) { return __builtin_cpu_supports("avx2"); }\n' >"$scratch/asks.c"
    ${CC:-cc} -o "$scratch/asks.so" "$scratch/asks.c" &&
        check "one that did would be found" sh -c "nm '$scratch/asks.so' | grep -q ' __cpu_indicator_init\$'"
else
    skip "no constructor asks the processor what it can do" "this C library or processor has no answers of its own"
fi

# With a plugin directory of one's own, which is empty if the plugins are in the library.
plugin_files() {
    [ -e "$top_builddir/plugins/.libs/mpk.so" ]
}
mkdir "$scratch/plugins"
! plugin_files || cp "$top_builddir"/plugins/.libs/*.so "$scratch/plugins"
chmod -R go-w "$scratch"
real=$(cd "$top_builddir" && pwd)
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s/.libs LIBRECORD_PLUGIN_PATH=%s exec %s/tools/.libs/record "$@"\n' \
    "$real" "$scratch/plugins" "$real" >"$scratch/record"
chmod +x "$scratch/record"
cp "$srcdir/examples/weights.safetensors" "$scratch/w.safetensors"
for name in mpk bpk pt json gguf npz mpk.gz json.gz json.zst; do
    case $name in
    *.zst) "$scratch/record" plugins | grep -q zstd || continue ;;
    esac
    "$scratch/record" convert -q --adapter none "$scratch/w.safetensors" "$scratch/w.$name"
done

# A path opens the plugin named after its extension, and no other if that one recognises the file. A source plugin is opened only
# for an address, a scheme only for a tensor that is stored as other than numbers.
opened() { # ARGUMENT...: the plugins that the command opens
    rm -f "$scratch"/calls.*
    LD_DEBUG=files LD_DEBUG_OUTPUT=$scratch/calls "$scratch/record" "$@" >/dev/null 2>"$scratch/err" || cat "$scratch/err"
    cat "$scratch"/calls.* | sed -n "s|.*file=$scratch/plugins/\([a-z0-9-]*\)\.so .*|\1|p" | LC_ALL=C sort -u | tr '\n' ' '
}
if plugin_files; then
    for words in "mpk mpk" "bpk bpk" "pt pt" "json json" "gguf gguf" "npz npz" "safetensors safetensors" "mpk.gz gz mpk mpk-gz" \
        "json.gz gz json json-gz" "json.zst json zst"; do
        name=${words%% *}
        [ -e "$scratch/w.$name" ] || continue
        check "to list a .$name, of the plugins these are opened: ${words#* }" [ "$(opened ls "$scratch/w.$name")" = "${words#* } " ]
    done
    formats=$(cd "$scratch/plugins" && for plugin in *.so; do echo "${plugin%.so}"; done | grep -vE '^(source|scheme)-' | LC_ALL=C sort | tr '\n' ' ')
    cp "$scratch/w.pt" "$scratch/w.pth"
    check "no plugin is called pth: all are opened but those for sources and schemes" [ "$(opened ls "$scratch/w.pth")" = "$formats" ]
    cp "$scratch/w.mpk" "$scratch/w.safetensors.mpk"
    cp "$scratch/w.mpk" "$scratch/wrong.safetensors"
    check "the plugin of a wrong extension is not sure: all are opened" [ "$(opened ls "$scratch/wrong.safetensors")" = "$formats" ]
    cat >"$scratch/w.safetensors.index.json" <<END
{"metadata": {"total_size": 4}, "weight_map": {"model.fc1.bias": "w.safetensors", "model.fc1.weight": "w.safetensors", "model.fc2.bias": "w.safetensors", "model.fc2.weight": "w.safetensors", "model.norm.bias": "w.safetensors", "model.norm.weight": "w.safetensors"}}
END
    check "the plugin json is not sure of the index of a model in several files: all are opened" \
        [ "$(opened ls "$scratch/w.safetensors.index.json")" = "$formats" ]
    printf '\200\002}q\001.' >"$scratch/pickle.mpk"
    check "an empty map of MessagePack is no certain .mpk: all are opened" \
        [ "$(opened info "$scratch/pickle.mpk" | tail -n 1)" = "$formats" ]
    check "the last extension counts" [ "$(opened ls "$scratch/w.safetensors.mpk")" = "mpk " ]
else
    skip "which plugins are opened" "they are in the library"
fi

if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null; then
    # A reader of headers steps over tensors: of a large mapped file the system reads nothing ahead meanwhile, and no longer.
    {
        printf '\112\0\0\0\0\0\0\0{"a.weight":{"dtype":"U8","shape":[9437184],"data_offsets":[0,9437184]}}  '
        head -c 9437184 /dev/zero
    } >"$scratch/large.safetensors"
    "$scratch/record" convert -q --adapter none "$scratch/large.safetensors" "$scratch/large.mpk"
    advice() { # ARGUMENT...: what the system is told of the file, in order
        strace -f -qq -e trace=fadvise64 -o "$scratch/calls" "$scratch/record" "$@" >/dev/null 2>"$scratch/err" || cat "$scratch/err"
        sed -n 's/.*FADV_\(RANDOM\|NORMAL\)).*/\1/p' "$scratch/calls" | tr '\n' ' '
    }
    check "headers of a large file are read a page at a time" [ "$(advice ls "$scratch/large.mpk")" = "RANDOM NORMAL " ]
    check "so are they while it is converted, and the rest is not" \
        [ "$(advice convert -q "$scratch/large.mpk" "$scratch/again.mpk")" = "RANDOM NORMAL " ]
    check "those of a small one, and of a copy, are not" \
        [ -z "$(advice ls "$scratch/w.mpk")$(advice ls --no-map "$scratch/large.mpk")" ]
else
    skip "what is read of a large file" "strace is not installed, or may not trace"
fi

# What the library and the command are linked with. The command opens ncurses itself, for record browse.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | grep -vE '^(libc|ld-linux.*|libpthread|librecord)\.so'; }
needs_nothing() { ! needed "$1"; }
needs_no_ltdl() { needed "$library" && ! needed "$library" | grep libltdl; }
needs_three() { needed "$library" | sed 's/\.so.*//' | LC_ALL=C sort | tr '\n' ' ' | grep -x 'libinih libltdl libpcre2-8 '; }
if plugin_files; then
    check "the library is linked with inih, libltdl and PCRE2, beside the C library" needs_three
else
    check "the library with its plugins is not linked with libltdl" needs_no_ltdl
fi
check "the command is linked with nothing but the library and the C library" needs_nothing "$top_builddir/tools/.libs/record"
one_that_needs_more() {
    ${CC:-cc} -shared -Wl,--no-as-needed -o "$scratch/more.so" -x c /dev/null -lm && needed "$scratch/more.so"
}
check "one that needed more would be found" one_that_needs_more

finish
