#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What commands cost for many tensors: the instructions that they execute are linear in the number of tensors.
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"

instructions --version
if [ -z "$instructions" ]; then
    skip "costs are linear" "valgrind is not installed, or this build has sanitizers"
    finish
fi
cd "$scratch" || exit 99

# tensors COUNT FIRST: a safetensors file, half of it l.FIRST.w and so on, which is a list, and half m.tFIRST.w, a map
tensors() {
    LC_ALL=C awk -v count="$1" -v first="$2" 'BEGIN {
        entry = "%s\"%s%06d.w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[%d,%d]}"
        for (i = 0; i < count; i++)
            text = text sprintf(entry, i ? "," : "{", i % 2 ? "m.t" : "l.", first + int(i / 2), 8 * i, 8 * i + 8)
        size = length(text) + 1
        printf "%c%c%c%c%c%c%c%c%s}", size % 256, int(size / 256) % 256, int(size / 65536), 0, 0, 0, 0, 0, text
    }'
    head -c $((8 * $1)) /dev/zero
}
few=300 some=600 many=1200
for count in $few $some $many; do
    tensors "$count" 0 >"$count.safetensors"
    tensors "$count" 500000 >"other$count.safetensors"
    for name in "$count" "other$count"; do
        "$record" convert -q --adapter none "$name.safetensors" "$name.mpk" || not_ok "$name.mpk is made"
    done
done

# No other plugin is opened, which takes longer than the commands.
mpk=${LIBRECORD_PLUGIN_PATH:-}/mpk.so
if [ -e "$mpk" ]; then
    mkdir plugins && cp "$mpk" plugins && chmod go-w . plugins plugins/mpk.so
    LIBRECORD_PLUGIN_PATH=$scratch/plugins
fi

# linear NAME ARGUMENT...: if the cost is linear, the step from 600 to 1,200 tensors takes 2 times as many instructions
# as the step from 300 to 600; if it is quadratic, 4 times. The command reads a.mpk, and b.mpk, which has other names.
# $prepare is run before it.
prepare=:
linear() {
    linear_name=$1 counts=
    shift
    for count in $few $some $many; do
        cp "$count.mpk" a.mpk
        cp "other$count.mpk" b.mpk
        $prepare
        instructions "$@"
        [ "$status" -le 1 ] || break
        counts="$counts $instructions"
    done
    echo "status $status, instructions:$counts" >>err
    # shellcheck disable=SC2086 # words
    set -- $counts
    if [ $# = 3 ] && [ $((($3 - $2) * 10)) -lt $((($2 - $1) * 21)) ]; then
        ok "$linear_name"
    else
        not_ok "$linear_name" err
    fi
}
linear "ls folds them" ls a.mpk
check "into a line" grep -q '^l\.#\.w  *×600 ' out
linear "diff of other names" diff --all a.mpk b.mpk
slow || finish
linear "ls lists all" ls --all a.mpk
linear "ls sorts and chooses" ls -l --sort -name a.mpk '!l.{0-2}.w'
linear "ls draws a tree" ls --tree --all a.mpk
linear "stats" stats --all a.mpk
linear "verify writes checksums" verify --sums write a.mpk
prepare="$record verify -q --sums write a.mpk"
linear "verify checks them" verify --sums check a.mpk
prepare=:
linear "diff of the same names" diff --all a.mpk a.mpk
linear "edit removes, renames, casts and sets" \
    edit a.mpk rm '*9.w' mv '^l\.' 'layers.' cast '*' f16 set 'layers.7.w[0]' 2 -o c.mpk
linear "plan with a rule" plan --rename '^l\. => m.' a.mpk
linear "report" report -q a.mpk -o a.html

# keys COUNT STEP...: leaves the instructions of browse for these keys, its start and its end included, in $instructions
keys() {
    cp "$1.mpk" a.mpk
    shift
    # shellcheck disable=SC2086 # words
    TERM=xterm-256color python3 "$srcdir/tests/cli/terminal.py" . 80x24 '<right>' =a "$@" q '~' -- \
        $counting "$record" browse a.mpk >err 2>&1
    counted
}
if command -v python3 >/dev/null && keys $few && ! grep -q 'built without ncurses' err; then
    for count in $few $many; do
        keys "$count"
        nothing=$instructions
        keys "$count" '<down>' =a '<down>' =a '<end>' =a '<pgup>' =a '<home>' =a
        [ "$count" = $few ] && small=$((instructions - nothing))
    done
    is_below "a key of browse costs the same among few and many tensors" $((instructions - nothing)) $((small * 12 / 10))
else
    skip "a key of browse costs the same among few and many tensors" "python3 is not installed, or ncurses"
fi

finish
