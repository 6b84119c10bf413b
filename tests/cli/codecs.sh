#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Codecs behind formats, from outside: names and paths, what is recognised through them, damage, and what cannot be.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

file=0.18.0/mnist.mpk
codecs=gz
"$record" plugins zstd >"$scratch/log" 2>&1 && codecs='gz zst'

unpack() { # CODEC FILE
    case $1 in
    gz) gzip -dc <"$2" ;;
    zst) zstd -qdc <"$2" ;;
    esac
}
pack() { # CODEC
    case $1 in
    gz) gzip -c ;;
    zst) zstd -qc ;;
    esac
}

for codec in $codecs; do
    # zstd(1) need not be there where libzstd is; gzip(1) is everywhere
    tool=yes
    [ "$codec" = gz ] || command -v zstd >/dev/null || tool=no

    # 1. what it writes is the format's file, compressed
    for format in mpk json safetensors; do
        out=$scratch/$format
        run convert -q "$file" "$out.$format"
        run convert -q "$file" "$out.$format.$codec"
        status_is "$format.$codec by the end of a path" 0
        if [ $tool = yes ] && ! echo "$format.$codec" | grep -q '^[jm].*gz'; then # Burn's names for them are in the metadata
            unpack "$codec" "$out.$format.$codec" >"$scratch/unpacked"
            check "is the same as $format, compressed" cmp "$out.$format" "$scratch/unpacked"
        fi
        run convert -q --check --option level=9 --to "$format.$codec" "$file" "$scratch/checked"
        status_is "--check reads $format.$codec back" 0
        check "and says nothing but that" test ! -s "$scratch/err"
        run convert -q "$out.$format.$codec" "$scratch/back.mpk"
        run convert -q "$out.$format" "$scratch/direct.mpk"
        check "$format.$codec comes back" cmp "$scratch/direct.mpk" "$scratch/back.mpk"
    done
    "$record" convert -q --to "mpk.$codec" "$file" - | "$record" convert -q --to mpk - - >"$scratch/piped"
    check "mpk.$codec through pipes" cmp "$scratch/mpk.mpk" "$scratch/piped"

    # 2. what it is called
    run info --json "$scratch/safetensors.safetensors.$codec"
    check "info names the format and the codec" grep -q "\"recorder\": \"Safetensors.$codec\"" "$scratch/out"
    run convert -q --to "Safetensors.$codec" --option record=no "$file" "$scratch/named"
    check "a recorder that is named appends both extensions" test -s "$scratch/named.safetensors.$codec"
    run convert -q --option levle=3 --to "safetensors.$codec" "$file" "$scratch/no"
    status_is "an option that neither has is refused" 2
    check "with those that both have" grep -q 'level, max-shard-size, record' "$scratch/err"
    printf '[recorder mine]\nplugin = safetensors.%s\nlevel = 9\nprecision = half\n' "$codec" >"$scratch/ini"
    run convert -q --config "$scratch/ini" --precision default --to mine "$file" "$scratch/mine"
    check "a recorder of the INI file may be one" test -s "$scratch/mine.safetensors.$codec"
    run info "$scratch/mine.safetensors.$codec"
    check "with its precision" grep -q '^precision  *half' "$scratch/out"
    run convert -q -y --config "$scratch/ini" --to mine "$file" "$scratch/mine"
    run info "$scratch/mine.safetensors.$codec"
    check "which needs no option" grep -q '^precision  *half' "$scratch/out"
    run convert -q -y --config "$scratch/ini" --precision keep --to mine "$file" "$scratch/mine"
    run info "$scratch/mine.safetensors.$codec"
    check "and gives way to one" grep -q '^precision  *full' "$scratch/out"
    printf '[librecord]\nprecision = half\n[recorder mine]\nplugin = mpk\n' >"$scratch/ini"
    run convert -q -y --config "$scratch/ini" --to mine "$file" "$scratch/all"
    run info "$scratch/all.mpk"
    check "so does that of all recorders" grep -q '^precision  *half' "$scratch/out"

    # 3. without names, behind a codec
    run convert -q --type-of "$file" "$file" "$scratch/typed.bin.$codec"
    run convert -q --type-of "$file" "$file" "$scratch/typed.bin"
    run convert -q --type-of "$file" "$scratch/typed.bin.$codec" "$scratch/typed.mpk"
    run convert -q --type-of "$file" "$scratch/typed.bin" "$scratch/direct.mpk"
    check "bin.$codec comes back by its type" cmp "$scratch/direct.mpk" "$scratch/typed.mpk"
    run ls "$scratch/typed.bin.$codec"
    check "and is recognised without it" grep -q "carries no names (Bin.*z.* record, Burn 0.21.0)" "$scratch/out"

    # 4. what cannot be
    run convert -q --max-shard-size 1000 "$file" "$scratch/parts.safetensors.$codec"
    status_is "several files are not one compressed file" 2
    check "which is said" grep -q 'max-shard-size would make' "$scratch/err"
    check "and leaves nothing" test ! -e "$scratch/parts.safetensors.$codec"
    run convert -q --max-shard-size 1000 "$file" "$scratch/parts.safetensors"
    if [ $tool = yes ]; then
        pack "$codec" <"$scratch/parts.safetensors.index.json" >"$scratch/parts.safetensors.index.json.$codec"
        run info "$scratch/parts.safetensors.index.json.$codec"
        status_is "nor is an index the model if it is compressed" 2
        check "which is said, too" grep -q 'continues in another file' "$scratch/err"
    fi
    run info --from "safetensors.$codec" "$scratch"
    check "a directory with the name of a compressed file is a directory" grep -q 'this is a directory, not a file' "$scratch/err"

    # 5. damage
    cp "$scratch/mpk.mpk.$codec" "$scratch/whole"
    size=$(wc -c <"$scratch/whole")
    for cut in $((size - 1)) $((size / 2)) 300; do
        head -c "$cut" "$scratch/whole" >"$scratch/cut.mpk.$codec"
        run info "$scratch/cut.mpk.$codec"
        tr -d , <"$scratch/err" >"$scratch/plain"
        check "$codec cut at $cut fails" grep -q "byte $cut: the compressed file ends before its data do" "$scratch/plain"
    done
    { cat "$scratch/whole" && echo junk; } >"$scratch/junk.mpk.$codec"
    run info "$scratch/junk.mpk.$codec"
    tr -d , <"$scratch/err" >"$scratch/plain"
    check "bytes behind are refused" grep -q "byte $size: .* 5 bytes more that are not" "$scratch/plain"
    printf 'hello world, this is no record at all\n' | pack "$codec" >"$scratch/words.$codec" 2>/dev/null
    if [ $tool = yes ]; then
        run info "$scratch/words.$codec"
        check "data without a record are rejected" grep -q 'the format of its decompressed data is unknown' "$scratch/err"
        printf '\211PNG\r\n\032\n0000000000000000' | pack "$codec" >"$scratch/picture.$codec"
        run info "$scratch/picture.$codec"
        check "and what it is is said" grep -q 'About its contents: It is a picture (PNG)' "$scratch/err"
        pack "$codec" <"$scratch/whole" >"$scratch/twice.$codec"
        run info "$scratch/twice.$codec"
        check "a codec in a codec is one too many" grep -q 'About its contents: It is compressed' "$scratch/err"
        run info --from "mpk.$codec" "$scratch/twice.$codec"
        status_is "also if the recorder is named" 2
        head -c 20000000 /dev/zero | pack "$codec" >"$scratch/bomb.mpk.$codec"
        printf '[librecord]\ninflated_factor = 1\ninflated_slack = 1MiB\n' >"$scratch/ini"
        run show --config "$scratch/ini" --from "mpk.$codec" "$scratch/bomb.mpk.$codec"
        check "a bomb meets the limit" grep -q 'inflates to more than' "$scratch/err"
    fi
done

# 6. gzip's own
{ printf '\037\213' && head -c 100 "$file"; } >"$scratch/like.mpk"
run info "$scratch/like.mpk"
status_is "a magic is not all" 2
run convert -q --to PrettyJson.gz "$file" "$scratch/pretty"
run info "$scratch/pretty.json.gz"
check "PrettyJson.gz is read as JsonGz" grep -q 'JsonGz record' "$scratch/out"
gzip -dc "$scratch/pretty.json.gz" >"$scratch/unpacked"
check "and holds what PrettyJson writes" cmp "$scratch/json.json" "$scratch/unpacked"
run convert -q --to json-gz --option style=pretty "$file" "$scratch/style"
gzip -dc "$scratch/style.json.gz" | sed 's/file::JsonGz/file::PrettyJson/' >"$scratch/unpacked"
check "as JsonGz does if it is told to" cmp "$scratch/json.json" "$scratch/unpacked"
run convert -q --to PrettyJson.gz --option style=compact "$file" "$scratch/pretty"
run convert -q --to json-gz "$file" "$scratch/compact"
for name in pretty compact; do
    gzip -dc "$scratch/$name.json.gz" | sed 's/burn_core::record::file::[A-Za-z]*/Recorder/' >"$scratch/$name"
done
check "whose default is without white space" cmp "$scratch/pretty" "$scratch/compact"

# 7. a foreign model behind a codec is adapted as it would be
st_begin
st_tensor fc.weight 4,3 12
st_tensor fc.bias 4 4
st_end >"$scratch/foreign.safetensors"
gzip -c "$scratch/foreign.safetensors" >"$scratch/foreign.safetensors.gz"
run convert -q "$scratch/foreign.safetensors" "$scratch/foreign.mpk"
check "a model of PyTorch becomes a record" test -s "$scratch/foreign.mpk"
run convert -q "$scratch/foreign.safetensors.gz" "$scratch/packed.mpk"
check "and so it does if it is compressed" cmp "$scratch/foreign.mpk" "$scratch/packed.mpk"

# 8. plugins that are not there
library=$(echo "$LIBRECORD_PLUGIN_PATH" | cut -d: -f1)
if [ -e "$library/mpk-gz.so" ]; then
    mkdir "$scratch/few" && cp "$library/mpk.so" "$library/mpk-gz.so" "$scratch/few"
    LIBRECORD_PLUGIN_PATH=$scratch/few "$record" convert --to mpk-gz "$file" "$scratch/no" 2>"$scratch/err"
    check "a name without its codec says so" grep -q 'its codec "gz" is not there' "$scratch/err"
    LIBRECORD_PLUGIN_PATH=$scratch/few "$record" info "$scratch/mpk.mpk.gz" 2>"$scratch/err"
    check "and so does the file" grep -q 'It is compressed with gzip. Decompress it first' "$scratch/err"
fi

finish
