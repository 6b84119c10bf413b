#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record browse: what each key does in a table of elements and on a page of text; element types; what a file is.
# shellcheck disable=SC2016 # the shell that is called expands them
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

if ! command -v python3 >/dev/null; then
    skip "the keys" "python3 is not installed"
    finish
fi
TERM=xterm-256color
export TERM
# screen SIZE STEP... -- COMMAND...
screen() {
    LC_ALL=${SCREEN_LOCALE-C.UTF-8} python3 "$srcdir/tests/cli/terminal.py" "$scratch" "$@" >"$scratch/said" 2>"$scratch/err"
}
screen 80x24 q '~' -- "$record" browse 0.18.0/mnist.mpk
if grep -q 'built without ncurses' "$scratch/err" "$scratch/said"; then
    skip "the keys" "record was built without ncurses"
    finish
fi
# line NAME SCREEN LINE TEXT: that line of the screen begins so
line() {
    if [ "$(sed -n "$3p" "$scratch/$2" | cut -c 1-${#4})" = "$4" ]; then
        ok "$1"
    else
        not_ok "$1" "$scratch/$2"
    fi
}

screen 80x24 '/fc1.w<enter>' '<enter>' '?0 zeros' jjjlll =t1 '<up><left>' =t2 kh =t3 '<pgdn>' =t4 '<pgup>' =t5 '<end>' =t6 \
    '<home>' =t7 'g5<enter>' =t8 'g9<esc>' =t9 'g<enter>' =t10 'gx<enter>' =t11 q '/stem.w<enter>' '<enter>' '?0 zeros' \
    ']' =t12 ']jl' =t13 '[' =t14 q q '~' -- "$record" browse 0.18.0/mnist.mpk
line "letters move in a table" t1 7 "[3, 3] = 0.030514285"
line "so do arrows" t2 7 "[2, 2] = "
line "up and to the left too" t3 7 "[1, 1] = "
line "a screen down" t4 7 "[16, 1] = "
line "and up" t5 7 "[1, 1] = "
line "to the end of the row" t6 7 "[1, 31] = "
line "and its beginning" t7 7 "[1, 0] = "
line "what is left out of an index is 0" t8 7 "[5, 0] = "
line "an index may be given up" t9 7 "[5, 0] = "
line "none at all is the first" t10 7 "[0, 0] = "
check "what is not an index is told" grep -qx 'an index is expected that lies within \[256, 32\]' "$scratch/t11"
line "the next table" t12 7 "[1, 0, 0, 0] = "
line "and moves in it" t13 7 "[2, 0, 1, 1] = "
line "the one before" t14 7 "[1, 0, 1, 1] = "

# place NAME SCREEN WORDS: where the page says to be, in its last line
place() {
    if tail -n 1 "$scratch/$2" | grep -q -e "$3\$"; then
        ok "$1"
    else
        not_ok "$1" "$scratch/$2"
    fi
}
screen 80x10 '?' =p0 jj =p1 'k<up>' =p2 '<pgdn>' =p3 ' <pgup>' =p4 G =p5 b =p6 '<home>' =p7 '<end>' =p8 g '/figures<enter>' =p9 n =pa \
    N =pb '/nowhere<enter>' =pc '/<bs>' '/<esc>' l =pd h =pe @100x12 =pf q N =s0 '/xx' '<bs><bs><bs>' =s1 '/conv<enter>' \
    '/<enter>' =s2 q '~' -- "$record" browse 0.18.0/mnist.mpk
lines=$(tail -n 1 "$scratch/p0" | sed 's/.* of //')
place "a page begins at its beginning" p0 "  1-8 of $lines"
place "lines down" p1 "  3-10 of $lines"
place "lines up" p2 "  1-8 of $lines"
place "a screen down" p3 "  9-16 of $lines"
place "and up" p4 "  9-16 of $lines"
place "to the end" p5 "  $((lines - 7))-$lines of $lines"
place "a screen up from there" p6 "  $((lines - 15))-$((lines - 8)) of $lines"
place "to the beginning" p7 "  1-8 of $lines"
place "to the end, by its key" p8 "  $((lines - 7))-$lines of $lines"
check "a search goes to the line" grep -q figures "$scratch/p9"
check "the next one differs" sh -c '! cmp -s "$1" "$2"' - "$scratch/p9" "$scratch/pa"
check "and back" cmp "$scratch/p9" "$scratch/pb"
check "what is not there is told" grep -q '^not found' "$scratch/pc"
check "a narrow page does not move aside" cmp "$scratch/pd" "$scratch/pe"
check "a larger terminal shows more" [ "$(wc -l <"$scratch/pf")" = 12 ]
check "the next one, of nothing that was looked for" grep -qx 'no search yet: / starts one' "$scratch/s0"
check "what was typed can be taken back until it ends" grep -q '^? help' "$scratch/s1"
check "an empty search is the last one again" grep -qx '/conv: 2 of 3' "$scratch/s2"

run edit -o "$scratch/kinds.mpk" new set u 'u64[1, 18446744073709551615]' set i 'i8[-1, 2]' set b 'bool[1, 0]' set h 'f16[1.5]' \
    set none 'f32[0]=1'
screen 80x24 '<enter>' '?zeros' =k0 qj '<enter>' '?zeros' =k1 qj '<enter>' '?zero' =k2 qj '<enter>' '?zeros' =k3 qj '<enter>' =k4 q q '~' -- \
    "$record" browse "$scratch/kinds.mpk"
check "64 bits without a sign, to the last digit" grep -qx '0  1  18446744073709551615' "$scratch/k0"
check "ints" grep -qx '0  -1  2' "$scratch/k1"
check "bools" grep -qx '0  true  false' "$scratch/k2"
check "half floats" grep -qx '0  1.5' "$scratch/k3"
check "none at all" grep -qx 'no elements' "$scratch/k4"

run convert -q 0.18.0/mnist.mpk "$scratch/mnist.mpk.gz"
screen 80x24 i =i0 q q '~' -- "$record" browse "$scratch/mnist.mpk.gz"
check "i tells what the file is" grep -qx 'recorder   NamedMpkGz' "$scratch/i0"
check "how it is kept" grep -q '^size       .* KiB, inflated .* KiB, in memory$' "$scratch/i0"
check "and what it says of itself" grep -qx 'version = 0.21.0' "$scratch/i0"
screen 80x24 i =i1 q q '~' -- "$record" browse 0.18.0/mnist.mpk
check "of a file that is mapped too" grep -q '^size       .*, mapped$' "$scratch/i1"

# ------------------------------------------------------------------------------------------------------- what is typed

screen 80x24 '/é世🛰x' =u0 '<bs><bs>' =u1 '<bs>' =u2 '<clear>' =u3 'fc2' '@60x12' =u4 '<enter>' =u5 '@20x6' \
    '/a_long_name_that_does_not_fit_into_the_line' =u6 '<esc>' '@80x24' q '~' -- "$record" browse 0.18.0/mnist.mpk
check "characters of two, three and four bytes are typed" grep -qx '/é世🛰x' "$scratch/u0"
check "and taken back as characters" grep -qx '/é世' "$scratch/u1"
check "each of them" grep -qx '/é' "$scratch/u2"
check "^U takes all of it back" grep -qx '/' "$scratch/u3"
check "a larger or smaller screen keeps what was typed" grep -qx '/fc2' "$scratch/u4"
check "and looks for it" grep -q '^fc2 ' "$scratch/u5"
check "of what is too long the end is seen" grep -qx '/.*into_the_line' "$scratch/u6"
check "in one line of the screen" test "$(tail -n 1 "$scratch/u6" | wc -m)" -le 21

# ------------------------------------------------------------------------------------------------- branches and leaves

screen 80x24 '<enter>' =b0 '<enter>' =b1 '<down><down><left>' =b2 '<down><right>' '?NaN' =b3 q p =b4 q '/n' '<enter>' q '~' -- \
    "$record" browse 0.18.0/mnist.mpk
check "Enter on a branch folds it" grep -q '^▸ stem' "$scratch/b0"
check "and unfolds it" grep -q '^▾ stem' "$scratch/b1"
check "left of a leaf is what it is in" grep -q '^stem  *1 of 21' "$scratch/b2"
check "right of a leaf looks at it" grep -q '^ stem.weight' "$scratch/b3"
check "what Burn wrote needs no plan, which is told" grep -q . "$scratch/b4"

screen 80x24 '<wheel>' =w0 '<wheelup>' =w1 '<below>' =w2 '<click>' =w4 '<click>' '?NaN' =w3 q '<down>' =w5 '<clicks>' '?NaN' =w6 \
    q q '~' -- "$record" browse --mouse 0.18.0/mnist.mpk
check "the wheel turns down" sh -c '! cmp -s "$1" "$2"' - "$scratch/w0" "$scratch/w1"
check "and up again" grep -q '^stem\.\{0,9\}.* of 21$\|^blocks.* of 21$' "$scratch/w1"
check "a click selects" grep -q '^stem.bias ' "$scratch/w4"
check "a second click looks" grep -q '^ stem.bias' "$scratch/w3"
check "two that come at once are two" grep -q '^ stem.bias' "$scratch/w6"
screen 40x10 e '<end>' =r0 '@40x24' =r1 '@80x24' =r2 '<home><left>' c =r3 q '~' -- "$record" browse 0.18.0/mnist.mpk
check "with the cursor where it was" sh -c 'tail -n 2 "$1" | head -n 1 | cut -d" " -f1 | grep -qxF "$(tail -n 2 "$2" | head -n 1 | cut -d" " -f1)"' \
    - "$scratch/r0" "$scratch/r2"

# ------------------------------------------------------------------------------------------------- elements of all kinds

data_of_gguf=$(cd "$srcdir" && pwd)/tests/data/gguf/types.gguf
first=$("$record" ls -a "$data_of_gguf" | awk '$2 ~ /^Q/ { print $1; exit }')
screen 80x24 "/$first<enter><enter>" '?NaN' =g0 '<right><down>' =g1 q q '~' -- "$record" browse "$data_of_gguf"
"$record" show "$data_of_gguf" "${first}[0, 0]" 2>/dev/null | sed 's/ .*//' >"$scratch/element"
check "blocks of GGUF are numbers" grep -q "^\[.*\] = $(cat "$scratch/element")" "$scratch/g0"
check "which the arrows go through" sh -c '! cmp -s "$1" "$2"' - "$scratch/g0" "$scratch/g1"

run edit -o "$scratch/wide.mpk" new set w 'f32[3, 4, 5]=-123456.789' set v 'f64[40]=1e300' set s 'i64 -9223372036854775808'
screen 30x8 '/w<enter><enter>' '?[0, 0, 0]' =x0 '<end><down><down><down><down>' =x1 ']' ']' ']' =x2 '<pgup>' q '/v<enter><enter>' \
    '?[0]' '<pgdn>' '<pgdn>' '<pgdn>' =x3 'g-1<enter>' =x4 'g-41<enter>' =x5 'g1,2<enter>' =x6 q '/s<enter><enter>' =x7 q q '~' -- \
    "$record" browse "$scratch/wide.mpk"
check "a narrow table begins at the beginning" grep -q '^\[0, 0, 0\] = -123456.79' "$scratch/x0"
check "and goes on to the last row and column of its plane" grep -q '^\[0, 3, 4\] = ' "$scratch/x1"
check "the last plane has none behind it" grep -q '^\[2, 3, 4\] = ' "$scratch/x2"
check "of one dimension a screen down ends at the end" grep -q '^\[39\] = 1e+\{0,1\}300\|^\[[0-9]*\] = 1e' "$scratch/x3"
check "counted from the end" grep -q '^\[39\] = ' "$scratch/x4"
check "but not beyond it" grep -q 'an index is expected that' "$scratch/x5"
check "nor with more numbers than there are dimensions" grep -q 'an index is expected that' "$scratch/x6"
check "a number alone" grep -q '= -9223372036854775808$' "$scratch/x7"

# ---------------------------------------------------------------------------------------------- what is no number, or no key

# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
st_begin
st_entry a F4 "4, 20" 40
st_bytes="$st_bytes$(printf '%040d' 0 | sed 's/0/\\001/g')"
st_entry e F4 0 0
st_tensor b 2 2 10
st_end >"$scratch/f8.safetensors"
screen 80x24 '<enter>' '?byte 0' =n0 'jl' =n1 '<end>' =n2 '<pgdn><pgup><home>g7<enter>' =n3 'g40<enter>' =n4 s =n5 q q 'j<enter>' =n6 q q '~' -- \
    "$record" browse "$scratch/f8.safetensors"
check "elements that are no numbers are bytes" grep -qx 'byte 0 = 01' "$scratch/n0"
check "sixteen in a row" grep -qx '32  01 01 01 01 01 01 01 01' "$scratch/n0"
check "the arrows go through them" grep -qx 'byte 17 = 01' "$scratch/n1"
check "to the end of the row" grep -qx 'byte 31 = 01' "$scratch/n2"
check "and to one of them" grep -qx 'byte 7 = 01' "$scratch/n3"
check "not beyond the last" grep -qx 'an index is expected that lies within \[40\]' "$scratch/n4"
check "there are no figures of them" grep -qx 'not numbers that could be measured' "$scratch/n5"
check "none at all is told, too" grep -qx 'no elements' "$scratch/n6"

control() {
    # shellcheck disable=SC2059 # octal
    printf "\\$1"
}
screen 80x24 "$(control 016)$(control 016)" =m0 "$(control 020)" =m1 "$(control 006)" =m2 "$(control 002)" =m3 "$(control 001)" =m4 q '~' -- \
    "$record" browse "$scratch/kinds.mpk"
check "^N is down" grep -q '^b  *3 of 5' "$scratch/m0"
check "^P is up" grep -q '^i  *2 of 5' "$scratch/m1"
check "^F is a screen down" grep -q '^none  *5 of 5' "$scratch/m2"
check "^B is a screen up" grep -q '^u  *1 of 5' "$scratch/m3"
check "a key that does nothing is told what tells of keys" grep -qx '? explains the keys' "$scratch/m4"
for kind in dumb '' nonesuch; do
    screen 80x24 '~' -- env TERM="$kind" "$record" browse "$scratch/kinds.mpk"
    check "a terminal of kind \"$kind\" is refused" grep -q '^exit 2' "$scratch/end"
done
localedef -i tr_TR -f UTF-8 "$scratch/tr_TR.UTF-8" >"$scratch/log" 2>&1
if [ -e "$scratch/tr_TR.UTF-8/LC_CTYPE" ]; then
    run edit -o "$scratch/capitals.mpk" new set a 'f32[2]=1' set LINEAR 'f32[2]=1'
    SCREEN_LOCALE=tr_TR.UTF-8 LOCPATH=$scratch screen 80x24 '/linear<enter>' =i0 q '~' -- "$record" browse "$scratch/capitals.mpk"
    check "case does not matter in Turkish either" grep -qx '/linear: 1 of 1' "$scratch/i0"
else
    skip "case in Turkish" "localedef or its sources are not there (Debian: locales)"
fi
screen 80x24 =o0 q '~' -- env TERM=vt100 "$record" browse "$scratch/kinds.mpk"
check "one without colours is not" grep -q '^exit 0' "$scratch/end"

finish
