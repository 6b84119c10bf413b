#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record ls
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

prints "repeated layers and siblings are folded" ls 0.18.0/mnist.mpk <<END
KEY                                           DTYPE  SHAPE           PARAMETERS
stem.weight                                   f32    [16, 1, 3, 3]          144
stem.bias                                     f32    [16]                    16
blocks.#.conv.weight                      ×3  f32    [16, 16, 3, 3]       2,304
blocks.#.conv.bias                        ×3  f32    [16]                    16
blocks.#.norm.{gamma,beta}                ×3  f32    [16]                2 × 16
blocks.#.norm.{running_mean,running_var}  ×3  f32    [16]                2 × 16
fc1.weight                                    f32    [256, 32]            8,192
fc1.bias                                      f32    [32]                    32
fc2.weight                                    f32    [32, 10]               320
fc2.bias                                      f32    [10]                    10
24 tensors, 15,866 parameters, 62.0 KiB; 43 nil      (--all lists every one)
END
run ls --all 0.18.0/mnist.mpk
check "--all lists each tensor" [ "$(grep -cE '^[a-z0-9_.]+  +f32    \[' "$scratch/out")" = 24 ]
check "--all lists what is nil" [ "$(grep -cE '^[a-z0-9_.]+ +nil   null$' "$scratch/out")" = 43 ]
check "--all says the totals" grep -qx '24 tensors, 15,866 parameters, 62.0 KiB; 43 nil' "$scratch/out"
prints "values stand in a table of their own" ls --all 0.21.0/plain-full.mpk <<'END'
KEY          DTYPE  SHAPE   PARAMETERS
floats       f32    [3, 4]          12
ints         i32    [2, 3]           6
bools        bool   [3]              3
scalar_like  f32    [1]              1
void         f32    [0, 3]           0

KEY       KIND     VALUE
name      string   "café \"open\" C:\\dir\x0d\n\ttab 🛰 \x07 nul\x…
count     uint     123456
tiny      uint     255
short     int      -32768
long      int      -9223372036854775808
big       uint     18446744073709551615
single    float    0.1
double    float    0.1
yes       bool     true
words.0   string   ""
words.1   string   "key.with.dots"
words.2   string   "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww…
maybe     uint     65536
never     nil      null
couple.0  uint     40000
couple.1  string   "second"
grid      numbers  [2147483647, -1, -2147483648]
nested.0  numbers  [0, 127, 128, 255]
nested.1  nil      null
nested.2  list     []
5 tensors, 22 parameters, 79 bytes; 18 values; 2 nil
END
prints "a record that is one value" ls 0.21.0/constant-full.mpk <<END
KEY     KIND   VALUE
(root)  float  0.001
1 value
END
prints "optimizer state" ls 0.21.0/composed-full.mpk <<END
KEY                       KIND   VALUE
schedulers.0.Linear       uint   46
schedulers.1.Exponential  float  0.06561000000000002
2 values
END
for case in tiny zoo plain composed; do
    "$record" ls 0.21.0/$case-full.mpk >"$scratch/expected"
    run ls 0.21.0/$case-full.mpk.gz
    same "compressed or not, $case is the same" "$scratch/expected" "$scratch/out"
done

# Layers of one name that differ in shape.
record_begin 1
str layers
list 8
for rows in 4 4 4 2 2 4 1 3; do
    map 1
    str weight
    tensor $rows 2
done
record_end >"$scratch/layers.mpk"
prints "layers that differ in shape are told by their indices" ls "$scratch/layers.mpk" <<END
KEY                        DTYPE  SHAPE   PARAMETERS
layers.{0-2,5}.weight  ×4  f32    [4, 2]           8
layers.{3-4}.weight    ×2  f32    [2, 2]           4
layers.6.weight            f32    [1, 2]           2
layers.7.weight            f32    [3, 2]           6
8 tensors, 48 parameters, 192 bytes      (--all lists every one)
END

# Two levels of lists, of which one index is always the same.
record_begin 1
str a
list 3
for _ in 0 1 2; do
    map 1
    str b
    list 1
    map 4
    for name in q k v o; do
        str $name
        tensor 2 2
    done
done
record_end >"$scratch/nested.mpk"
prints "only the index that varies is a hash sign" ls "$scratch/nested.mpk" <<END
KEY                    DTYPE  SHAPE   PARAMETERS
a.#.b.0.{q,k,v,o}  ×3  f32    [2, 2]       4 × 4
12 tensors, 48 parameters, 192 bytes      (--all lists every one)
END

# Names that could steer a terminal, hold dots and backslashes, or nothing.
record_begin 1
str m
map 5
str "$(printf 'red\033[31m')"
tensor 1 1
str 'a.b'
tensor 1 2
str 'c\d'
tensor 1 3
str "$(printf 'right\342\200\256left')"
tensor 1 4
str 'naïve'
tensor 1 5
record_end >"$scratch/names.mpk"
prints "names are printed so that they cannot steer a terminal" ls "$scratch/names.mpk" <<'END'
KEY                      DTYPE  SHAPE   PARAMETERS
m.red\x1b[31m            f32    [1, 1]           1
m.a\.b                   f32    [1, 2]           2
m.c\\d                   f32    [1, 3]           3
m.right\xe2\x80\xaeleft  f32    [1, 4]           4
m.naïve                  f32    [1, 5]           5
5 tensors, 15 parameters, 60 bytes
END

# 26 scalars: the first 20 are listed, unless all are asked for.
record_begin 1
str s
map 26
for letter in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
    str $letter
    byte 7
done
record_end >"$scratch/many.mpk"
run ls "$scratch/many.mpk"
check "of many values the first are listed" grep -qx '… and 6 more' "$scratch/out"
check "how to list them all is said" grep -qx '26 values      (--all lists every one)' "$scratch/out"
run ls --all "$scratch/many.mpk"
check "--all lists all of them" [ "$(grep -c ' uint  7$' "$scratch/out")" = 26 ]

head -c 40000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
run ls "$scratch/cut.mpk"
status_is "a file that ends early is an error" 2
check "it says where" grep -qF "record: $scratch/cut.mpk: byte 31,041: fc1.weight" "$scratch/err"
same "and prints nothing of it" /dev/null "$scratch/out"

need_jq
run ls --json --depth 1 --sort size 0.18.0/mnist.mpk
answers "--json of sums" '.groups | map([.key, .tensors, .parameters, .nbytes]) | .[0], length' '["fc1",2,8224,32896]
4'
run ls --json --sha256 0.18.0/mnist.mpk fc2.bias
answers "--json of all that is known" '.tensors[0]' \
    '{"key":"fc2.bias","dtype":"f32","shape":[10],"nbytes":40,"id":"1lte53jr8eq36","offset":65400,"sha256":"'"$({ printf 'f32 [10]\n' && tail -c +65401 0.18.0/mnist.mpk | head -c 40; } | sha256sum | sed 's/ .*//')"'"}'
run ls --json 0.21.0/tiny-half.mpk "$scratch/cut.mpk" 0.21.0/tiny-full.mpk
answers "--json of several files" '.files | map(.tensors | length), (.[1] | keys)' '[2,0,2]
["error","file"]'
run ls --json 0.21.0/zoo-full.mpk
answers "--json is an object of tensors and values" keys '["tensors","values"]'
answers "a tensor has these members, in this order" '.tensors[0] | keys_unsorted' '["key","dtype","shape","nbytes","id"]'
answers "the first tensor" '.tensors[0] | del(.id)' '{"key":"conv1.weight","dtype":"f32","shape":[3,2,3],"nbytes":72}'
answers "ids are strings" '[.tensors[].id | length] | unique' '[13]'
answers "all tensors, in the file's order" '.tensors | length, .[-1].key' '43
"mask"'
answers "a value has these members, in this order" '.values[0] | keys_unsorted' '["key","kind","value"]'
run ls --json 0.21.0/plain-full.mpk
answers "a tensor without id has null" '.tensors[0].id' null
check "integers are exact" grep -qF '{"key": "big", "kind": "uint", "value": 18446744073709551615}' "$scratch/out"
check "negative ones too" grep -qF '{"key": "long", "kind": "int", "value": -9223372036854775808}' "$scratch/out"
jq -r '.item.name' 0.21.0/plain-full.json >"$scratch/expected"
jq -r '.values[] | select(.key == "name").value' "$scratch/out" >"$scratch/found"
same "strings are those of Burn's own JSON" "$scratch/expected" "$scratch/found"
answers "kinds" '[.values[].kind] | unique' '["bool","float","int","list","nil","numbers","string","uint"]'
answers "packed numbers are lists" '.values[] | select(.key == "grid").value' '[2147483647,-1,-2147483648]'
run ls --json 0.13.2/zoo-half.mpk
answers "what was assumed is marked" '[.tensors[] | select(.assumed)] | length' 20
answers "what was not assumed is not" '[.tensors[] | has("assumed")] | map(select(. == false)) | length' 23
for file in 0.*/*.mpk; do
    "$record" ls --quiet --json "$file" >"$scratch/out" 2>"$scratch/err" || echo "$file"
    jq -e '.tensors and .values' "$scratch/out" >/dev/null || echo "$file"
done >"$scratch/bad"
same "--json of every record is valid" /dev/null "$scratch/bad"

# ----------------------------------------------------------------------------------------------------------- manners --

mnist=0.18.0/mnist.mpk
prints "patterns choose keys and what is below, with an exclamation mark they leave out" ls $mnist 'blocks.#.conv' fc2 '!*.bias' \
    --precision keep <<END
KEY                       DTYPE  SHAPE           PARAMETERS
blocks.#.conv.weight  ×3  f32    [16, 16, 3, 3]       2,304
fc2.weight                f32    [32, 10]               320
4 of 24 tensors, 7,232 parameters, 28.2 KiB; 24 nil      (--all lists every one)
END
chosen() { # NAME KEYS PATTERN...
    name=$1
    expected=$2
    shift 2
    run ls --all $mnist "$@"
    check "$name" [ "$(sed -n 's/^\([a-z0-9_.]*\)  *f32 .*/\1/p' "$scratch/out" | tr '\n' ' ')" = "$expected " ]
}
chosen "braces, ranges and a line of the folded listing" "blocks.0.norm.gamma blocks.0.norm.beta blocks.2.norm.gamma blocks.2.norm.beta" \
    'blocks.{0,2-9}.norm.{gamma,beta}'
chosen "numbers of several digits, by ranges" "blocks.1.norm.gamma blocks.2.norm.gamma" 'blocks.{1-1234567,9-8}.norm.gamma'
chosen "a character, one of several, any text" "stem.bias fc1.bias fc2.bias" '?c[0-9].b*' 'stem.b*' '!*.weight'
chosen "only what is left out" "stem.weight stem.bias" '!blocks' '!fc*'
chosen "an alternative may be a pattern" "fc1.weight fc2.weight" '{f*,x}.w{eight,}'
fails "a pattern that nothing matches" ls $mnist fc3 <<END
record: $mnist: no key matches "fc3", and there is no file of that name
END
run ls $mnist stem fc3
status_is "one of several that nothing matches" 2
check "what the others match is listed" grep -q '^2 of 24 tensors' "$scratch/out"
prints "a dot in a key is no level, a backslash none of its own" ls "$scratch/names.mpk" 'm.a\.b' 'm.c\\d' <<'END'
KEY     DTYPE  SHAPE   PARAMETERS
m.a\.b  f32    [1, 2]           2
m.c\\d  f32    [1, 3]           3
2 of 5 tensors, 5 parameters, 20 bytes
END
prints "values are chosen, too" ls 0.21.0/plain-full.mpk couple yes <<END
KEY       KIND    VALUE
yes       bool    true
couple.0  uint    40000
couple.1  string  "second"
3 of 18 values
END
for bad in '!' '[[:nope:]]'; do
    run ls $mnist "$bad"
    status_is "no pattern: $bad" 2
done

prints "-l has a line each, with what is known of it" ls -l $mnist 'fc{1,2}' <<END
KEY         DTYPE  SHAPE      PARAMETERS   BYTES  OFFSET  ID
fc1.weight  f32    [256, 32]       8,192  32,768  31,044  8j5r54ft02nps
fc1.bias    f32    [32]               32     128  63,871  98p6gou9slg0o
fc2.weight  f32    [32, 10]          320   1,280  64,063  mjh5sora5h2rk
fc2.bias    f32    [10]               10      40  65,400  1lte53jr8eq36
4 of 24 tensors, 8,554 parameters, 33.4 KiB
END
sorted() { # BY KEYS
    run ls -l --sort="$1" $mnist 'fc{1,2}'
    check "--sort $1" [ "$(sed -n 's/^\([a-z0-9.]*\)  *f32 .*/\1/p' "$scratch/out" | tr '\n' ' ')" = "$2 " ]
}
sorted name "fc1.bias fc1.weight fc2.bias fc2.weight"
sorted -name "fc2.weight fc2.bias fc1.weight fc1.bias"
sorted size "fc1.weight fc2.weight fc1.bias fc2.bias"
sorted -size "fc2.bias fc1.bias fc2.weight fc1.weight"
sorted shape "fc1.weight fc2.weight fc1.bias fc2.bias"
sorted -offset "fc2.bias fc2.weight fc1.bias fc1.weight"
sorted -file "fc2.bias fc2.weight fc1.bias fc1.weight"
fails "an order that there is not" ls --sort color $mnist <<END
record: --sort: expected file, name, size, dtype, shape or offset, with a minus sign before it for the other way round; found "color"
END
run ls --sort size $mnist
check "folded lines are sorted by all that they stand for" [ "$(sed -n '2,4s/ .*//p' "$scratch/out" | tr '\n' ' ')" = \
    "fc1.weight blocks.#.conv.weight fc2.weight " ]

prints "a tree, with sums" ls --tree $mnist 'blocks.#.norm' stem <<END
KEY                 TENSORS  DTYPE  SHAPE          PARAMETERS       SIZE
stem                      2                               160  640 bytes
  weight                     f32    [16, 1, 3, 3]         144  576 bytes
  bias                       f32    [16]                   16   64 bytes
blocks                   12                               192  768 bytes
  #                      12                               192  768 bytes
    norm                 12                               192  768 bytes
      gamma               3  f32    [16]                   48  192 bytes
      beta                3  f32    [16]                   48  192 bytes
      running_mean        3  f32    [16]                   48  192 bytes
      running_var         3  f32    [16]                   48  192 bytes
14 of 24 tensors, 352 parameters, 1.38 KiB; 14 nil      (--all lists every one)
END
prints "what lies deeper is added up" ls --tree --depth 1 --sort size $mnist <<END
KEY     TENSORS  PARAMETERS       SIZE
fc1           2       8,224   32.1 KiB
blocks       18       7,152   27.9 KiB
fc2           2         330   1.29 KiB
stem          2         160  640 bytes
24 tensors, 15,866 parameters, 62.0 KiB; 43 nil      (--all lists every one)
END
prints "without a tree the keys are whole" ls --depth 2 $mnist blocks fc2 <<END
KEY         TENSORS  DTYPE  SHAPE     PARAMETERS      SIZE
blocks.#         18                        7,152  27.9 KiB
fc2.weight           f32    [32, 10]         320  1.25 KiB
fc2.bias             f32    [10]              10  40 bytes
20 of 24 tensors, 7,482 parameters, 29.2 KiB; 33 nil      (--all lists every one)
END
# Levels without a name, keys that end where others go on, and more levels than anybody has.
st_begin
st_tensor x..y 1 1
st_tensor "" 1 1
st_tensor x. 2 2
st_tensor x.z 3 3
st_tensor "$(printf 'd.%.0s' $(seq 100))e" 1 1
st_end >"$scratch/levels.safetensors"
run ls --tree "$scratch/levels.safetensors" 'd*'
check "what lies deeper than 64 levels is one" [ "$(wc -l <"$scratch/out")" = 66 ]
prints "levels without a name" ls --tree "$scratch/levels.safetensors" '!d' <<'END'
KEY     TENSORS  DTYPE  SHAPE  PARAMETERS      SIZE
x             3                         6  24 bytes
  ""             f32    [2]             2   8 bytes
  \.y            f32    [1]             1   4 bytes
  z              f32    [3]             3  12 bytes
(root)           f32    [1]             1   4 bytes
4 of 5 tensors, 7 parameters, 28 bytes      (--all lists every one)
END
fails "--depth needs a number" ls --depth two $mnist <<END
record: --depth: expected a number, 1 or more, found "two"
END
fails "a whole one" ls --depth 1.5 $mnist <<END
record: --depth: expected a whole number, found "1.5"
END
fails "a line each is no tree" ls -l --tree $mnist <<END
record: --long prints a line for each tensor, --tree does not
  record ls --help shows how it is used.
END
run ls --sha256 $mnist fc2
check "--sha256 has a column more" [ "$(sed -n 's/^fc2.* \([0-9a-f]*\)$/\1/p' "$scratch/out" | tr '\n' ' ')" = \
    "735d704b2be5ca46 647203e0ae767e79 " ]
"$record" convert -q $mnist "$scratch/same.safetensors"
"$record" ls --sha256 $mnist | sed -n 's/^\([a-z][a-z0-9_.]*\) .* \([0-9a-f]\{16\}\)$/\1 \2/p' | sort >"$scratch/expected"
"$record" ls --sha256 --adapter none "$scratch/same.safetensors" |
    sed -n 's/^\([a-z][a-z0-9_.]*\) .* \([0-9a-f]\{16\}\)$/\1 \2/p' | sort >"$scratch/found"
check "sums are there to be compared" [ "$(wc -l <"$scratch/expected")" = 24 ]
same "a conversion does not change them" "$scratch/expected" "$scratch/found"

prints "several files" ls 0.21.0/tiny-half.mpk 0.21.0/tiny-full.mpk '*.bias' <<END
0.21.0/tiny-half.mpk:
KEY          DTYPE  SHAPE  PARAMETERS
linear.bias  f16    [2]             2
1 of 2 tensors, 2 parameters, 4 bytes

0.21.0/tiny-full.mpk:
KEY          DTYPE  SHAPE  PARAMETERS
linear.bias  f32    [2]             2
1 of 2 tensors, 2 parameters, 8 bytes
END
run ls 0.21.0/tiny-half.mpk "$scratch/cut.mpk" 0.21.0/tiny-full.mpk
status_is "one that cannot be read is an error" 2
check "the others are listed" [ "$(grep -c '^2 tensors' "$scratch/out")" = 2 ]

# A terminal of 40 columns: keys that differ in the middle alone, at the end alone, in more than one place.
if command -v python3 >/dev/null; then
    cat >"$scratch/terminal.py" <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.environ["NO_COLOR"] = "1"
    os.execv(sys.argv[2], sys.argv[2:])
seen = b""
while True:
    try:
        more = os.read(fd, 65536)
    except OSError:
        break
    if not more:
        break
    seen += more
os.waitpid(pid, 0)
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
END
    record_begin 1
    str model
    map 3
    for name in alpha_of_all_the_layers_one_weight alpha_of_all_the_layers_two_weight beta_of_all_the_layers_one_weight; do
        str $name
        tensor 1 2
    done
    record_end >"$scratch/long.mpk"
    python3 "$scratch/terminal.py" 50 "$record" ls --all "$scratch/long.mpk" >"$scratch/out"
    # shellcheck disable=SC2016 # what the other shell expands
    check "keys are shortened to the terminal's width" sh -c '[ "$(grep -c "….*f32" "$1")" = 3 ] && ! sed "s/…/./" "$1" | grep -q "^.\{51\}"' - \
        "$scratch/out"
    check "what differs still does" [ "$(grep f32 "$scratch/out" | sort -u | wc -l)" = 3 ]
    # Where no cut tells them apart they are whole.
    record_begin 1
    str model
    map 3
    for name in a1234567890123456789012345678901x1234567890123456789012345678901z \
        a1234567890123456789012345678901y1234567890123456789012345678901z b; do
        str $name
        tensor 1 2
    done
    record_end >"$scratch/long.mpk"
    python3 "$scratch/terminal.py" 40 "$record" ls --all "$scratch/long.mpk" >"$scratch/out"
    check "what no cut could tell apart is whole, on a line of its own" [ "$(grep -c '^model.a12345678901.*[xy].*z$' "$scratch/out")" = 2 ]
    column=$(sed -n '1s/DTYPE.*//p' "$scratch/out" | wc -c)
    check "its figures below their columns" [ "$(grep -c "^ \{$((column - 1))\}f32 " "$scratch/out")" = 2 ]
    # shellcheck disable=SC2016 # the words of the other shell
    check "which fit the terminal" sh -c '! grep f32 "$1" | grep -q "^.\{41\}"' - "$scratch/out"
else
    skip "rows on a narrow terminal" "python3 is not installed"
fi

many_tensors 100000 >"$scratch/hundred.mpk"
run ls "$scratch/hundred.mpk"
cat >"$scratch/expected" <<END
KEY              DTYPE  SHAPE  PARAMETERS
m.#.w  ×100,000  f32    [32]           32
100,000 tensors, 3,200,000 parameters, 12.2 MiB      (--all lists every one)
END
same "100,000 tensors are one line" "$scratch/expected" "$scratch/out"
run ls --all "$scratch/hundred.mpk"
check "a line each" [ "$(wc -l <"$scratch/out")" = 100002 ]
run ls -l --sort -name "$scratch/hundred.mpk" '!m.{0-99998}'
check "all but one can be left out" [ "$(grep -c '^m\.' "$scratch/out")" = 1 ]
run ls -l --sort -name "$scratch/hundred.mpk" 'm.{9990-10009}'
check "as people count" [ "$(sed -n '2p;21p' "$scratch/out" | sed 's/ .*//' | tr '\n' ' ')" = "m.10009.w m.9990.w " ]
run ls --tree --all "$scratch/hundred.mpk"
check "a tree has a line for each and one for each above it" [ "$(grep -c ' f32 ' "$scratch/out")" = 100000 ]

# 1 GB, nothing of which is on the disk: only the header is read.
{
    printf '\170\000\000\000\000\000\000\000%-120s' '{"w":{"dtype":"F32","shape":[16384,16384],"data_offsets":[0,1073741824]}}'
} >"$scratch/big.safetensors"
truncate -s $((128 + 1073741824)) "$scratch/big.safetensors"
prints "a file of 1 GB" ls -l "$scratch/big.safetensors" <<END
KEY  DTYPE  SHAPE            PARAMETERS          BYTES  OFFSET
w    f32    [16384, 16384]  268,435,456  1,073,741,824     128
1 tensor, 268,435,456 parameters, 1.00 GiB
END
peaks ls "$scratch/big.safetensors"
peak_is_below "takes little memory" 32

finish
