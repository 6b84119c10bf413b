#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record browse, on a terminal that is a model of one (terminal.py)
# shellcheck disable=SC2154 # $data, $scratch and $status are cli.sh's
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

run browse 0.18.0/mnist.mpk
status_is "without a terminal it refuses" 2
check "and says what else there is" grep -q 'record ls, show and stats print the same; record browse --json prints the tree' "$scratch/err"
if ! grep -q 'built without ncurses' "$scratch/err"; then
    check "and why" grep -qx 'record: browse: standard output is not a terminal' "$scratch/err"
fi

# ----------------------------------------------------------------------------------------------------------------- JSON

if command -v jq >/dev/null; then
    run browse --json 0.18.0/mnist.mpk
    answers "--json: what parts add up to" '.files[0].tree | .tensors, .parameters, .nbytes' '24
15866
63464'
    answers "--json: parts by name" '[.files[0].tree.children[].name]' '["stem","blocks","dropout","fc1","fc2","num_classes"]'
    answers "--json: a tensor" '[.files[0].tree.children[] | select(.name == "fc2").children[] | select(.name == "bias")]' \
        '[{"name":"bias","kind":"tensor","dtype":"f32","shape":[10],"tensors":1,"parameters":10,"nbytes":40}]'
    run browse --json 0.18.0/mnist.mpk 0.21.0/plain-full.mpk
    answers "--json: several files" '[.files[].file]' '["0.18.0/mnist.mpk","0.21.0/plain-full.mpk"]'
    check "--json: integers are exact" grep -q '"value": 18446744073709551615' "$scratch/out"
    for file in 0.*/*.mpk; do
        "$record" browse --quiet --json "$file" >"$scratch/out" 2>"$scratch/err" || echo "$file"
        jq -e '.files[0].tree.kind' "$scratch/out" >/dev/null || echo "$file"
    done >"$scratch/bad"
    same "--json of every record is valid" /dev/null "$scratch/bad"
else
    skip "--json" "jq is not installed"
fi

# ---------------------------------------------------------------------------------------------------------- the terminal

if ! command -v python3 >/dev/null; then
    skip "the screen" "python3 is not installed"
    finish
fi
TERM=xterm-256color
export TERM

# screen SIZE STEP... -- COMMAND...: the screens that the steps ask for are in $scratch, how it ended in $scratch/end
screen() {
    LC_ALL=${SCREEN_LOCALE-C.UTF-8} python3 "$srcdir/tests/cli/terminal.py" "$scratch" "$@" >"$scratch/said" 2>"$scratch/err"
}
# ended NAME [WORDS...]: the last one ended so ("exit 0" without them), and the terminal is as it was
ended() {
    printf '%s\nsettings same\nscreen main\n' "${2:-exit 0}" >"$scratch/expected"
    if cmp -s "$scratch/expected" "$scratch/end"; then
        ok "$1"
    else
        cat "$scratch/said" "$scratch/err" >>"$scratch/end"
        not_ok "$1" "$scratch/end"
    fi
}
# shows NAME SCREEN <<EXPECTED: the whole of it
shows() {
    cat >"$scratch/expected"
    same "$1" "$scratch/expected" "$scratch/$2"
}
# has NAME SCREEN PATTERN: a line that matches, as a basic regular expression
has() {
    if grep -q -e "$3" "$scratch/$2"; then
        ok "$1"
    else
        not_ok "$1" "$scratch/$2"
    fi
}
# has_not NAME SCREEN PATTERN
has_not() {
    if [ -e "$scratch/$2" ] && ! grep -q -e "$3" "$scratch/$2"; then
        ok "$1"
    else
        not_ok "$1" "$scratch/$2"
    fi
}

screen 80x24 =tree q '~' -- "$record" browse 0.18.0/mnist.mpk
if grep -q 'built without ncurses' "$scratch/err"; then
    ended "without ncurses it refuses in words" "exit 2"
    skip "the screen" "record was built without ncurses"
    finish
fi
ended "q ends it, and the terminal is as it was"
shows "a tree at 80 x 24, unfolded as far as it fits" tree <<END
 mnist.mpk  NamedMpk, Burn 0.18.0  24 tensors, 15,866 parameters, 62.0 KiB
▾ stem                         2 tensors         160  640 bytes
    weight                f32  [16, 1, 3, 3]     144  576 bytes
    bias                  f32  [16]               16   64 bytes
▾ blocks                       18 tensors      7,152   27.9 KiB
  ▾ 0                          6 tensors       2,384   9.31 KiB
    ▾ conv                     2 tensors       2,320   9.06 KiB
        weight            f32  [16, 16, 3, 3]  2,304   9.00 KiB
        bias              f32  [16]               16   64 bytes
    ▸ norm                     4 tensors          64  256 bytes
  ▾ 1                          6 tensors       2,384   9.31 KiB
    ▸ conv                     2 tensors       2,320   9.06 KiB
    ▸ norm                     4 tensors          64  256 bytes
  ▾ 2                          6 tensors       2,384   9.31 KiB
    ▸ conv                     2 tensors       2,320   9.06 KiB
    ▸ norm                     4 tensors          64  256 bytes
▾ fc1                          2 tensors       8,224   32.1 KiB
    weight                f32  [256, 32]       8,192   32.0 KiB
    bias                  f32  [32]               32  128 bytes
▾ fc2                          2 tensors         330   1.29 KiB
    weight                f32  [32, 10]          320   1.25 KiB
    bias                  f32  [10]               10   40 bytes
stem                                                                     1 of 21
? help  q quit  / search  Enter look  ←→ fold  s figures  p plan  i file
END

screen 80x24 '/NORM.gam' =none '<bs><bs><bs><bs><bs><bs><bs><bs>' 'norm.gam<enter>' =first n =second n n =round N =back \
    '/nowhere<enter>' =nowhere '<home>jjj' '<left>' =folded '<left>' '<right>' '<right>' =unfolded c =all e =again a =nil \
    q '~' -- "$record" browse 0.18.0/mnist.mpk
ended "it is searched, folded and unfolded"
has "what is typed is seen" none '^/NORM.gam$'
has "a search unfolds what is above" first '^blocks.0.norm.gamma  *[0-9]* of 25$'
has "it says how many there are" first '^/norm.gam: 1 of 3$'
has "n is the next one" second '^blocks.1.norm.gamma '
has "and goes on at the beginning" round '^/norm.gam: 1 of 3, from the other end$'
has "N is the one before" back '^/norm.gam: 3 of 3, from the other end$'
has "what is not there is said" nowhere '^no key has "nowhere"$'
has "left folds" folded '^▸ blocks '
has "right unfolds, and goes to the first child" unfolded '^blocks.0  *5 of '
has "c folds all below" all '^  ▸ 0 '
has "e unfolds all below" again '^      *running_var '
has "a lists what is nil" nil '^    groups  *nil  *null$'


screen 80x24 '/fc2.w<enter>' '<enter>' '?0 zeros' =tensor '<down><right>' =moved 'g31, -1<enter>' =gone 'g32<enter>' =beyond \
    s =figures q q q '~' -- "$record" browse 0.18.0/mnist.mpk
ended "a tensor is looked at"
head -n 10 "$scratch/tensor" >"$scratch/top"
shows "its figures and elements" top <<END
 fc2.weight
f32 [32, 10]  320 elements  1.25 KiB  id mjh5sora5h2rk  at byte 64,063
min -0.17654  mean 0.00168591  max 0.176378  std 0.09955  norm 1.78106
-0.1765 ▄▄▇▄▄▄▄▅▆▅▄▃▄▄▄▄▇▆▅█▂▅▄▅▅▇▄▄▅▄▃▅ 0.1764
0 zeros  0 NaN  0 infinite  0 subnormal  0 beyond half precision  0 zero at half

[0, 0] = -0.1736013
           0          1         2         3         4         5         6
 0   -0.1736     0.1049   0.03793   0.06519   -0.1418   -0.1453   0.09321
 1    0.1227    -0.1445    0.1764   0.03303  -0.09491  -0.08488  -0.05961
END
"$record" show 0.18.0/mnist.mpk 'fc2.weight[1, 1]' | sed 's/ .*//; s/^/[1, 1] = /' >"$scratch/expected"
check "the arrows go to an element, which stands whole above" grep -qxFf "$scratch/expected" "$scratch/moved"
has "g goes to an index, the columns along" gone '^ *3  *4 .* 9$'
has "counted from the end, too" gone '^\[31, 9\] = 0.1105447$'
has "one that is not there is said" beyond '^an index is expected that lies within \[32, 10\]$'
has "s shows all figures" figures '^ *-0.1545 █* 16$'

screen 80x24 p =plan q '?' =help '<end>' =bottom q i =about q t =type '/weight<enter>' =found q s =sum q \
    '/fc1.weight<enter>' s =key q z =other q '~' -- "$record" browse "$srcdir/examples/weights.safetensors"
ended "pages are shown and left"
has "p plans a foreign file" plan 'model.fc1.weight  *\[3, 4\]'
has "? helps" help '^MOVE$'
has "which is paged through" bottom '^  q  Esc  '
has "i tells of the file" about '^recorder   Safetensors$'
has "t prints the type" type '^pub struct '
has "a page is searched" found 'weight'
has "s adds a part up" sum '^34 parameters$'
has "s tells the whole key" key '^model.fc1.weight$'
has "an unknown key says where help is" other '^? explains the keys$'

# A screen of 40 x 10, one that changes its size, one that is too small for anything.
screen 40x10 =small '/fc2.w<enter><enter>' '?min' =tensor '@80x24' =larger '@40x10' q '@12x3' =least \
    '@5x1' '<enter>' =row s '@3x2' =page q q '@80x24' =back q '~' -- "$record" browse 0.18.0/mnist.mpk
ended "the size may change"
shows "40 x 10" small <<END
 mnist.mpk  NamedMpk, Burn 0.18.0  24 te
▾ stem                   2 tensors
    weight          f32  [16, 1, 3, 3]
    bias            f32  [16]
▸ blocks                 18 tensors
▸ fc1                    2 tensors
▸ fc2                    2 tensors

stem                              1 of 6
? help  q quit  / search  Enter look  ←→
END
has "a tensor on that has elements" tensor '^\[0, 0\] = -0.1736013$'
has_not "no line is longer than the screen" tensor '^.\{41\}'
has "it grows with the screen" larger '^14 '
has "on a tiny one the cursor's row is seen" least '^  w…t '
has "one row is a title" row '^ f…ht$'
has "and all of it again later" back '^fc2.weight '

# --------------------------------------------------------------------------------------------------------- the terminal

screen 80x24 =seen '!TERM' '~' -- "$record" browse 0.18.0/mnist.mpk
ended "a signal leaves the terminal as it was" "signal TERM"
screen 80x24 =seen "$(printf '\003')" '~' -- "$record" browse 0.18.0/mnist.mpk
ended "so does an interrupt" "signal INT"
screen 80x24 p =seen '!HUP' '~' -- "$record" browse 0.18.0/mnist.mpk
ended "and a terminal that hangs up" "signal HUP"
screen 80x24 =seen "$(printf '\032')" '~' -- "$record" browse 0.18.0/mnist.mpk
ended "what is stopped has given the terminal back" "stopped"
screen 80x24 =seen "$(printf '\032')" '~' !CONT =again '<down>' =moved q '~' -- "$record" browse 0.18.0/mnist.mpk
ended "and goes on"
same "as it was" "$scratch/seen" "$scratch/again"
has "with its keys" moved '^stem.weight '

screen 80x24 %colored q '~' -- "$record" browse 0.18.0/mnist.mpk
has "branches have a colour" colored '^4: .* b4$'
NO_COLOR=1 screen 80x24 %plain =still q '~' -- "$record" browse 0.18.0/mnist.mpk
has_not "NO_COLOR: none" plain '[0-9]$'
has "the cursor is seen all the same" plain '^1: 0-79 r$'
same "and nothing else differs" "$scratch/tree" "$scratch/still"
screen 80x24 %plain q '~' -- "$record" browse --color never 0.18.0/mnist.mpk
has_not "--color never: none" plain '[0-9]$'

TERM=dumb screen 80x24 '~' -- "$record" browse 0.18.0/mnist.mpk
ended "a dumb terminal is refused" "exit 2"
shows "in words" err <<END
record: browse: the terminal is "dumb" (TERM): it cannot move its cursor
  record ls, show and stats print the same; record browse --json prints the tree.
END
TERM=nobody-knows screen 80x24 '~' -- "$record" browse 0.18.0/mnist.mpk
has "so is one that nobody knows" err '^record: browse: unknown terminal "nobody-knows" (TERM)'
ended "without a trace" "exit 2"
TERMINAL_INPUT=0.18.0/mnist.mpk screen 80x24 =stream p =refused q '~' -- "$record" browse -
ended "a record may come on standard input"
has "keys come from the terminal then" stream '^ standard input  NamedMpk'
has "what cannot be read again is said" refused '^standard input was read to its end'
SCREEN_LOCALE='' LC_CTYPE='' LANG='' screen 80x24 =utf8 q '~' -- "$record" browse 0.18.0/mnist.mpk
same "without a locale there is UTF-8" "$scratch/tree" "$scratch/utf8"
SCREEN_LOCALE=C screen 80x24 =ascii q '~' -- "$record" browse 0.18.0/mnist.mpk
sed 's/▸/>/; s/▾/v/; s/×/x/g; s/←/</; s/→/>/; s/…/./g' "$scratch/tree" >"$scratch/expected"
same "a locale without UTF-8 gets ASCII" "$scratch/expected" "$scratch/ascii"
screen 80x24 '<wheel>' =down '<click>' =clicked q '~' -- "$record" browse --mouse 0.18.0/mnist.mpk
ended "--mouse gives the mouse back"
has "the wheel scrolls" down '^blocks  *4 of 21$'
has "a click selects" clicked '^stem.bias  *3 of 21$'

soname=$(readelf -p .note.dlopen "${top_builddir:-.}/tools/.libs/record" 2>/dev/null | sed -n 's/.*"browse".*"soname":\["\([^"]*\)".*/\1/p')
if [ -n "$soname" ] && [ -z "${SANITIZERS:-}" ]; then
    mkdir "$scratch/broken"
    echo 'no library' >"$scratch/broken/$soname"
    LD_LIBRARY_PATH=$scratch/broken${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} screen 80x24 '~' -- "$record" browse 0.18.0/mnist.mpk
    has "without ncurses it says what is missing" err "^record: $soname cannot be opened, which record browse needs: "
    ended "and the terminal is as it was" "exit 2"
fi

# ----------------------------------------------------------------------------------------------------------- bad input

head -c 40000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
screen 80x24 '~' -- "$record" browse "$scratch/cut.mpk"
has "a file that ends early is an error" err 'byte 31,041: fc1.weight'
ended "and the screen was never taken" "exit 2"
echo 'no record' >"$scratch/no.mpk"
screen 80x24 '~' -- "$record" browse 0.18.0/mnist.mpk "$scratch/no.mpk"
ended "so is what is no record" "exit 2"

# Names that could steer a terminal; long ones that are equal where they are cut; a tensor without dimensions or elements.
record_begin 1
str m
map 6
str "$(printf 'red\033[31m')"
tensor 1 1
str 'a.b'
tensor 1 2
str "$(printf 'right\342\200\256left\033]0;title\007')"
tensor 1 4
str 'the_first_of_many_layers_of_a_model_whose_names_are_much_too_long_and_alike_0_weight_of_the_same'
tensor 1 5
str 'the_first_of_many_layers_of_a_model_whose_names_are_much_too_long_and_alike_1_weight_of_the_same'
tensor 1 5
str '世界'
tensor 1 6
record_end >"$scratch/names.mpk"
screen 80x24 =names '<end>kk' s =whole q q '~' -- "$record" browse "$scratch/names.mpk"
ended "hostile names do no harm"
has "they are shown harmless" names '^    red\\x1b\[31m '
has "so are those that turn directions" names 'right\\xe2\\x80\\xaeleft\\x1b\]0;title\\x07'
has "wide characters" names '^    世界 '
sed -n 's/ *f32 .*//; s/^    the/the/p' "$scratch/names" >"$scratch/cut"
check "rows never become equal by cutting" [ "$(sort -u "$scratch/cut" | grep -c ' #')" = 2 ]
has "s shows the whole key" whole '^weight_of_the_same$'

st_begin
st_entry none F32 "0, 3" 0
st_counter steps
st_entry odd F32 "4" 16
st_bytes="$st_bytes\\000\\000\\300\\177\\000\\000\\200\\177\\001\\000\\000\\000\\000\\000\\200\\077"
st_end >"$scratch/odd.safetensors"
screen 80x24 '/none<enter><enter>' =none q '/odd<enter><enter>' '?NaN' =odd %alarm q '/steps<enter><enter>' =scalar q q '~' \
    -- "$record" browse "$scratch/odd.safetensors"
ended "odd tensors are looked at"
has "no elements" none '^no elements$'
has "NaN, infinite and subnormal values are counted" odd '^0 zeros  1 NaN  1 infinite  1 subnormal '
has "and stand out" alarm '^4: .* b1$'
has "they are shown" odd '^0  NaN  inf  1e-45  1.0$'
has "without dimensions" scalar '^\[\] = 7$'

screen 80x24 '/mask<enter><enter>' =bool q '/q<enter>' q '~' -- "$record" browse 0.21.0/zoo-full.mpk
ended "bools are looked at"
has "as words" bool '= true$\|= false$'
screen 80x24 '/name<enter><enter>' =string q '/grid<enter><enter>' =numbers q '/void<enter><enter>' q q '~' \
    -- "$record" browse 0.21.0/plain-full.mpk
ended "values are looked at"
has "strings by lines" string '^.*tab 🛰 \\x07'
has "numbers" numbers '^\[2147483647, -1, -2147483648\]$'
record_begin 0
record_end >"$scratch/empty.mpk"
screen 80x24 =empty '<enter>' q s q e c a a p q G q '~' -- "$record" browse "$scratch/empty.mpk"
ended "an empty record"
has "is shown as one" empty '^  (root) '
screen 80x24 =value '<enter>' q q '~' -- "$record" browse 0.21.0/constant-full.mpk
ended "a record that is one value"
has "shows it" value '^  (root)  *float  *0.001$'
"$record" convert --quiet --type-of 0.18.0/mnist.mpk 0.18.0/mnist.mpk "$scratch/mnist.bin"
screen 80x24 =bin '<enter>' q q '~' -- "$record" browse "$scratch/mnist.bin"
ended "a file without names"
has "shows its parameters by position" bin '24 tensors'
screen 80x24 =both '/fc2.bias<enter>' =in_second q '~' -- "$record" browse 0.18.0/mnist.mpk 0.21.0/plain-full.mpk
ended "several files"
has "are parts of one tree" both '^▸ 0.21.0/plain-full.mpk '
has "which is searched as one" in_second '^fc2.bias '

# -------------------------------------------------------------------------------------------------------- large records

many_tensors 100000 >"$scratch/hundred.mpk"
screen 80x24 '?100,000 tensors' '<end>' =last '<home><right>' '<end>' =deep '/99998<enter>n' =found '<pgup><pgup><pgdn>' e =all c q '~' \
    -- "$record" browse "$scratch/hundred.mpk"
ended "100,000 tensors"
has "the last one" deep '^m.99999  *100,001 of 100,001$'
has "a search" found '^m.99998 '
has "all unfolded" all ' of 200,001$\|of 100,002$'

if [ "$(df -Pk "$scratch" | awk 'NR == 2 { print $4 }')" -gt 4194304 ]; then
    # A tensor of 1 GiB, in a file of holes.
    header='{"large":{"dtype":"F32","shape":[16384,16384],"data_offsets":[0,1073741824]},"small":{"dtype":"F32","shape":[1],"data_offsets":[1073741824,1073741828]}}  '
    # shellcheck disable=SC2059
    printf "\\$(printf %03o ${#header})\\000\\000\\000\\000\\000\\000\\000$header" >"$scratch/large.safetensors"
    truncate -s $((8 + ${#header} + 1073741828)) "$scratch/large.safetensors"
    screen 80x24 '/large<enter><enter>' '?268,435,456 zeros' =large '<end><pgdn>' '^memory' =moved q q '~' \
        -- "$record" browse "$scratch/large.safetensors"
    ended "a tensor of 1 GiB"
    has "its figures" large '^268,435,456 zeros  0 NaN'
    screen 80x24 '/large<enter><enter>' q s q '/small<enter><enter>' '?1 zero' =small q '/large<enter><enter>' q q '~' \
        -- "$record" browse "$scratch/large.safetensors"
    ended "what nobody waits for any more is given up"
    has "and what is looked at next is measured" small '^1 zero '
    if [ -z "${SANITIZERS:-}" ]; then
        check "in the memory of a piece of it: $(cat "$scratch/memory") KiB" [ "$(cat "$scratch/memory")" -lt 131072 ]
    fi
else
    skip "a tensor of 1 GiB" "there is too little room on the disk"
fi

finish
