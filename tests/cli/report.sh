#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record report: what it says, the data in the page, what a browser makes of it
set -u
# shellcheck source=tests/cli/cost.sh
. "${srcdir:=.}/tests/cli/cost.sh"
# shellcheck source=tests/cli/make-record.sh
. "$srcdir/tests/cli/make-record.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

page=$scratch/page.html

# data: the JSON of $page into $scratch/out
data() {
    awk '/<script type="application\/json" id="data">/ { sub(/.*id="data">/, ""); on = 1 }
         on { end = sub(/<\/script>.*/, ""); print }
         end { exit }' "$page" >"$scratch/out"
}

run report 0.18.0/mnist.mpk -o "$page"
status_is "a report is made" 0
check "one line says so" grep -qE "^$page: 24 tensors of 1 record, [0-9.]+ KiB\$" "$scratch/out"
same "and nothing else" /dev/null "$scratch/err"
check "in 80 columns but for the name" [ "$(sed "s|^$page||" "$scratch/out" | awk '{ print (length < 80) }')" = 1 ]
run report -q 0.18.0/mnist.mpk -o "$page"
same "--quiet says nothing" /dev/null "$scratch/out"
run report 0.18.0/mnist.mpk
check "without --output the page goes to standard output" cmp "$scratch/out" "$page"
run report --no-threads 0.18.0/mnist.mpk -o -
check "the number of threads changes nothing" cmp "$scratch/out" "$page"
"$record" report - -o "$scratch/stdin.html" <0.18.0/mnist.mpk >/dev/null 2>&1
check "standard input can be a record" grep -qF '<title>standard input</title>' "$scratch/stdin.html"

# Of a page that browsers are to trust.
check "it has a policy" grep -q "Content-Security-Policy.*default-src 'none'.*script-src 'sha256-" "$page"
check "it asks for nothing elsewhere" [ "$(grep -cE '(src|href)="?(https?:)?//|@import|url\(' "$page")" = 0 ]
check "scripts of its own alone, as elements" [ "$(grep -co '<script' "$page")" = 2 ]
check "no attribute is a script or a style" [ "$(grep -cE '<[^>]* (on[a-z]+|style)="' "$page")" = 0 ]
if command -v openssl >/dev/null; then
    # shellcheck disable=SC2317 # what check() calls
    hash_is() { # ELEMENT DIRECTIVE
        hash=$(awk -v a="<$1>" -v z="</$1>" 'index($0, a) { on = 1; sub(".*" a, "") } index($0, z) && on { exit } on { print }' "$page" |
            openssl dgst -sha256 -binary | openssl base64)
        grep -qF "$2 'sha256-$hash'" "$page"
    }
    check "the policy names its script" hash_is script script-src
    check "and its style" hash_is style style-src
else
    skip "the policy names its script" "openssl is not installed"
fi

# ------------------------------------------------------------------------------------------------------- what fails --

fails "a file that is not there" report nowhere.mpk -o "$page" <<END
record: nowhere.mpk: cannot open the file: No such file or directory
END
head -c 40000 0.18.0/mnist.mpk >"$scratch/cut.mpk"
cp "$page" "$scratch/before.html"
run report "$scratch/cut.mpk" -o "$page"
status_is "a file that ends early is an error" 2
check "the page that was there stays" cmp "$page" "$scratch/before.html"
run report 0.18.0/mnist.mpk "$scratch/cut.mpk" -o "$page"
status_is "also as the second" 2
echo "no record" >"$scratch/text.mpk"
run report "$scratch/text.mpk" -o "$page"
status_is "what is no record is an error" 2
fails "--json needs a page beside it" report --json 0.18.0/mnist.mpk <<END
record: --output is needed: the name of the page, report.html
  record report --help shows how it is used.
END
mkdir "$scratch/empty"
fails "a directory without records" report "$scratch/empty" -o "$page" <<END
record: $scratch/empty: there is no record in this directory
END
run report 0.18.0/mnist.mpk -o "$scratch/nowhere/page.html"
status_is "a page that cannot be written is an error" 2
cp 0.18.0/mnist.mpk "$scratch/model.mpk"
fails "a page never takes the place of a record" report "$scratch/model.mpk" -o "$scratch/../${scratch##*/}/model.mpk" <<END
record: $scratch/../${scratch##*/}/model.mpk: this is one of the records: the page would replace it
END
check "which stays" cmp 0.18.0/mnist.mpk "$scratch/model.mpk"
run report 0.18.0/mnist.mpk --include 'x*' -o "$page"
status_is "--include is for folders" 2

# -------------------------------------------------------------------------------------------------------- the data --

need_jq
run report --json 0.21.0/zoo-full.mpk -o "$page"
answers "--json says what was made" 'keys_unsorted' '["out","size","records","tensors","notes"]'
answers "of what" '.records[0] | keys_unsorted' '["file","recorder","tensors","parameters","nbytes","not_finite","norm"]'
check "how large" [ "$(jq .size "$scratch/out")" = "$(wc -c <"$page")" ]
data
answers "the data are JSON" '.mode, (.tensors | length), (.records | length)' '"one"
43
1'
answers "ids" '[.tensors[].i | length] | unique' '[13]'
answers "several element types" '.dtypes | length > 1' true
answers "each tensor has its figures" '[.tensors[] | .a | length] | unique' '[15]'
answers "of a histogram all finite values" '[.tensors[].a | select(.[14]) | (.[0] - .[2] - .[3]) == (.[14] | add)] | unique' '[true]'

# Known numbers: 1, 2, 3, 4.
st_begin
st_tensor a.weight "2, 2" 4
st_tensor none "0, 3" 0
st_tensor one "" 1 5
st_counter steps
st_metadata '{"</script>":"<b>&","x":"y"}'
st_end >"$scratch/known.safetensors"
run report "$scratch/known.safetensors" -o "$page"
status_is "0 elements, 0 dimensions, integers" 0
data
answers "figures" '.tensors[0] | .k, .s, .n, (.a[:9]), (.a[9] * 1000000), (.a[10] * 1000000 | round), (.a[11] * .a[11] | round)' '"a.weight"
[2,2]
16
[4,0,0,0,0,0,0,1,4]
2500000
1118034
30'
answers "nothing is not a number" '.tensors[1].a[7:15]' '[null,null,null,null,null,null,null,null]'
answers "metadata" '.records[0].metadata' '[["</script>","<b>&"],["x","y"]]'
check "nothing of them is markup" [ "$(grep -c '</script>' "$page")" = 2 ]

run report 0.21.0/plain-full.mpk -o "$page"
data
answers "bools are measured too" '.tensors[] | select(.k == "bools") | .a[0]' 3
answers "values that are not tensors" '.values | length, (.[] | select(.[0] == "big"))' '18
["big","uint","18446744073709551615",null]'
run report 0.21.0/constant-full.mpk -o "$page"
status_is "a record without tensors" 0
data
answers "has none" '.tensors | length' 0

# Keys as an enemy would choose them.
st_begin
st_tensor '</script><script>alert(1)</script>' "1" 1
st_tensor '<img src=x onerror=alert(1)>' "1" 1
st_tensor "a&amp;b'\`\${1}" "1" 1
st_tensor '<!--' "1" 1
st_tensor '__proto__' "1" 1
st_tensor 'constructor.prototype' "1" 1
st_tensor "$(printf '\342\200\256gnp.exe')" "1" 1
st_tensor "$(printf '\327\220\327\221.weight')" "1" 1
st_end >"$scratch/hostile.safetensors"
run report "$scratch/hostile.safetensors" -o "$scratch/hostile.html"
status_is "keys that look like markup" 0
page=$scratch/hostile.html
data
answers "are in the data as they are" '.tensors[0].k, .tensors[4].k' '"</script><script>alert(1)</script>"
"__proto__"'
check "and end no element" [ "$(grep -c '</script>' "$page")" = 2 ]
check "and begin none" [ "$(grep -ciE '<(img|script>alert|!--)' "$page")" = 0 ]
check "what turns lines around is written by its bytes" [ "$(sed '/id="data"/,$d' "$page" | grep -c "$(printf '\342\200\256')")" = 0 ]
page=$scratch/page.html

# --------------------------------------------------------------------------------------------------------- changes --

st_begin
st_tensor same "2" 2 1
st_tensor changed "2" 2 3
st_tensor gone "3" 3 7
st_tensor shape "2, 2" 4 1
st_tensor old "5" 5 9
st_end >"$scratch/a.safetensors"
st_begin
st_tensor same "2" 2 1
st_tensor changed "2" 2 4
st_tensor shape "4" 4 1
st_tensor new "6" 6 7
st_tensor young "5" 5 9
st_end >"$scratch/b.safetensors"
run report "$scratch/a.safetensors" "$scratch/b.safetensors" -o "$page"
status_is "two records" 0
data
answers "what became of each" '[.mode, (.tensors[] | [.k, .c[0]])]' '["two",["same","same"],["changed","changed"],["gone","removed"],["shape","shape"],["new","added"],["young","renamed"]]'
answers "how much" '.tensors[1].c | .[1], .[2], (.[4] * 1000000 | round)' '2
1
220863'
answers "where the largest difference is" '.tensors[1].c[3]' 0
answers "the old name and shape" '[.tensors[] | select(.o) | .o]' '[["f32",[2,2],null],["f32",[5],"old"]]'
run report 0.21.0/zoo-full.mpk 0.21.0/zoo-full.mpk.gz -o "$page"
data
answers "the same record in another format" '[.tensors[].c[0]] | unique' '["same"]'
run report 0.21.0/zoo-full.mpk 0.21.0/zoo-half.mpk -o "$page"
data
answers "half precision rounds, and no more" '[.tensors[].c[0]] | unique - ["rounded", "dtype", "same"]' '[]'
answers "some is rounded" '[.tensors[].c[0]] | index("rounded") != null' true

# ------------------------------------------------------------------------------------------------------ checkpoints --

mkdir "$scratch/ck"
for n in 1 2 10; do
    st_begin
    st_tensor layer.weight "2" 2 $n
    st_tensor fixed "1" 1 3
    st_end >"$scratch/ck/model-$n.safetensors"
    st_begin
    st_tensor moment "9" 9 $n
    st_end >"$scratch/ck/optim-$n.safetensors"
done
run report "$scratch/ck" -o "$page"
status_is "a directory of checkpoints" 0
check "a note names the files that are left out" grep -qF "$scratch/ck: the report is about model-#.safetensors (3); left out: optim-#.safetensors (3). --include 'GLOB' selects others" "$scratch/err"
mkdir "$scratch/sorts"
for name in aaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbb cccccccccccccccccccc dddddddddddddddddddd eeeeeeeeeeeeeeeeeeee ffffffffffffffffffff \
    gggggggggggggggggggg hhhhhhhhhhhhhhhhhhhh iiiiiiiiiiiiiiiiiiii jjjjjjjjjjjjjjjjjjjj; do
    cp "$scratch/ck/model-1.safetensors" "$scratch/sorts/$name.safetensors"
done
cp "$scratch/ck/model-1.safetensors" "$scratch/ck/model-2.safetensors" "$scratch/sorts"
run report "$scratch/sorts" -o "$scratch/sorts.html"
check "of many the rest is counted" grep -qE 'left out: aaaaaaaaaaaaaaaaaaaa.safetensors \(1\), .* and [0-9]+ more\. --include' "$scratch/err"
data
answers "by their numbers" '.mode, [.records[].step]' '"series"
[1,2,10]'
answers "a line for each quantity" '.tensors[0].l | map(length)' '[3,3,3,3]'
answers "means" '.tensors[0].l[2]' '[1.5,2.5,10.5]'
answers "norms" '.tensors[0].l[0] | map(. * . | round)' '[5,13,221]'
answers "changes since the one before" '.tensors[0].l[1] | map(if . then . * 1000000 | round else . end)' '[null,392232,761042]'
answers "from the first to the last" '[.tensors[].c[0]]' '["changed","same"]'
run report "$scratch/ck/model-1.safetensors" "$scratch/ck/model-10.safetensors" "$scratch/ck/model-2.safetensors" -o "$page"
data
answers "as a shell lists them, too" '[.records[].step]' '[1,2,10]'
run report "$scratch/ck" --include 'optim-*' -o "$page"
same "with --include nothing is left to be told" /dev/null "$scratch/err"
data
answers "--include" '[.records[].name]' '["optim-1.safetensors","optim-2.safetensors","optim-10.safetensors"]'
head -c 20 "$scratch/ck/model-10.safetensors" >"$scratch/ck/model-11.safetensors"
head -c 120 "$scratch/ck/model-10.safetensors" >"$scratch/ck/model-12.safetensors"
run report "$scratch/ck" --include 'model-*' -o "$page"
status_is "what a training left half written is passed over" 0
check "and told" grep -q 'model-12.safetensors' "$scratch/err"
data
answers "the others are there" '[.records[].step], [.tensors[].c[0]]' '[1,2,10]
["changed","same"]'
rm "$scratch"/ck/model-1*

# ------------------------------------------------------------------------------------------------------- large ones --

# 256 MB, nothing of which is on the disk.
if [ -z "${SANITIZERS:-}" ]; then
    printf '\170\000\000\000\000\000\000\000%-120s' '{"w":{"dtype":"F32","shape":[67108864],"data_offsets":[0,268435456]}}' >"$scratch/big.safetensors"
    truncate -s $((128 + 268435456)) "$scratch/big.safetensors"
    cp --sparse=always "$scratch/big.safetensors" "$scratch/big2.safetensors" 2>/dev/null || ln "$scratch/big.safetensors" "$scratch/big2.safetensors"
    peaks report --threads 2 "$scratch/big.safetensors" -o "$page"
    status_is "a tensor of 256 MB" 0
    peak_is_below "in little memory" 128
    peaks report --threads 2 "$scratch/big.safetensors" "$scratch/big2.safetensors" -o "$page"
    status_is "two of them" 0
    peak_is_below "in little memory" 192
    rm -f "$scratch/big.safetensors" "$scratch/big2.safetensors"
fi
many=20000
slow && many=100000
many_tensors $many >"$scratch/many.mpk"
run report -q "$scratch/many.mpk" -o "$scratch/many.html"
status_is "$many tensors" 0

# ---------------------------------------------------------------------------------------------------- in a browser --

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ] || ! command -v python3 >/dev/null || [ -n "${SANITIZERS:-}" ]; then
    skip "in a browser" "there is no chromium or no python3, or this is about the command's own memory"
    finish
fi
# One browser opens all pages: it takes longer to start than to open one. It ends with this script's end of the pipe.
mkfifo "$scratch/ask" "$scratch/reply"
timeout 1800 python3 "$srcdir/tests/cli/report-browser.py" "$browser" "$scratch/out" "$scratch/err" <"$scratch/ask" >"$scratch/reply" &
exec 7>"$scratch/ask" 8<"$scratch/reply"
# browse FILE STEP...: what the page says to steps is left in $scratch/out
browse() {
    printf '%s\0' "$@" '' >&7
    read -r status <&8 || status=none
}
browse "$scratch/many.html" load
if grep -q 'the browser ' "$scratch/err"; then
    exec 7>&- 8<&-
    wait
    skip "in a browser" "it does not start here"
    finish
fi
status_is "$many tensors are shown without a complaint" 0

run report -q 0.18.0/mnist.mpk -o "$page"
browse "$page" size 1600 1000 scheme light load js 'document.documentElement.className' js 'document.querySelectorAll("#map rect").length > 20' \
    js 'document.querySelectorAll("#rows .row").length' js 'getComputedStyle(document.body).backgroundColor' \
    scheme dark js 'getComputedStyle(document.body).backgroundColor' js 'getComputedStyle(document.getElementById("plain")).display'
status_is "a page opens without an error in the console, and asks no network" 0
cat >"$scratch/expected" <<'END'
"live"
true
24
"rgb(245, 246, 248)"
"rgb(14, 17, 22)"
"none"
END
same "with a map and a table, light and dark" "$scratch/expected" "$scratch/out"

find='document.getElementById("search").value = Q; document.getElementById("search").dispatchEvent(new Event("input"))'
browse "$page" size 1600 1000 load js "${find%%Q*}'norm !gamma'${find#*Q}" wait 'document.querySelectorAll("#rows .row").length === 9' \
    js "${find%%Q*}'/^fc\\\\d\\\\.w/'${find#*Q}" wait 'document.querySelectorAll("#rows .row").length === 2' \
    js "${find%%Q*}'blocks.#.conv.bias'${find#*Q}" wait 'document.querySelectorAll("#rows .row").length === 3' \
    js "${find%%Q*}'/(/'${find#*Q}" wait 'document.getElementById("wrong").textContent.includes("Not a regular expression")' \
    js "${find%%Q*}'conv'${find#*Q}" wait 'document.querySelectorAll("#rows .row").length === 6' \
    js 'document.querySelectorAll("#heads button")[7].click()' js 'document.querySelector("#rows .row .key").textContent' \
    js 'document.querySelectorAll("#heads .head")[7].getAttribute("aria-sort")' \
    js 'document.getElementById("scroller").focus()' key ArrowDown key Enter wait 'document.getElementById("detail").open' \
    js 'document.getElementById("detail-title").textContent' js 'document.querySelectorAll("#detail .histogram rect.new").length' \
    key Escape wait '!document.getElementById("detail").open && location.hash === ""' js 'location.hash'
status_is "search, sorting and keys of the keyboard" 0
tail -n 6 "$scratch/out" >"$scratch/found"
cat >"$scratch/expected" <<'END'
"blocks.0.conv.bias"
"descending"
null
"blocks.2.conv.bias"
32
""
END
same "find, sort and open" "$scratch/expected" "$scratch/found"

run report -q 0.21.0/plain-full.mpk -o "$scratch/values.html"
browse "$scratch/values.html" size 1600 1000 load js 'document.querySelectorAll("#values tr")[2].textContent' js 'document.querySelector("#trail .dim").textContent'
cat >"$scratch/expected" <<'END'
"countuint123456"
"5 tensors, 79 bytes"
END
same "values that are not tensors are shown" "$scratch/expected" "$scratch/out"
browse "$scratch/hostile.html" size 400 800 load js 'typeof window.hurt' js 'document.querySelectorAll("img, #rows script").length' \
    js '[...document.querySelectorAll("#rows .key")].map((k) => k.textContent).sort().slice(0, 4)' \
    js 'document.documentElement.scrollWidth <= 400' js 'document.body.textContent.includes("\\u202egnp")' \
    js '[...document.querySelectorAll("#rows .key")].some((k) => k.textContent.includes("\u202e"))'
status_is "keys that look like markup stay text" 0
cat >"$scratch/expected" <<'END'
"undefined"
0
["<!--", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\\u202egnp.exe"]
true
true
false
END
same "in 400 pixels, nothing is beyond the edge" "$scratch/expected" "$scratch/out"

# Rows that are not to be seen do not exist, and frames come soon.
browse "$scratch/many.html" size 1600 1000 load js 'document.querySelectorAll("#rows .row").length' \
    js 'document.getElementById("folded").click(); document.querySelectorAll("#rows .row").length < 60' \
    js '(async () => { const s = document.getElementById("scroller"); const list = []; let t = performance.now();
        for (let i = 1; i <= 40; i++) { s.scrollTop = i * s.scrollHeight / 41; await new Promise(requestAnimationFrame); const n = performance.now(); list.push(n - t); t = n; }
        list.sort((a, b) => a - b); return list[20] < 250 && document.querySelectorAll("#rows .row").length < 60; })()' \
    key End wait 'document.querySelectorAll("#rows .row").length > 0'
status_is "$many rows are scrolled" 0
cat >"$scratch/expected" <<'END'
1
true
true
END
same "fluidly" "$scratch/expected" "$scratch/out"

run report -q "$scratch/a.safetensors" "$scratch/b.safetensors" -o "$page"
browse "$page" size 1600 1000 load js 'document.getElementById("notes").children.length > 3' js '[...document.querySelectorAll("#rows .badge")].map((b) => b.textContent).sort()' \
    paper js 'getComputedStyle(document.getElementById("printed")).display' js 'document.querySelectorAll("#printed tbody tr").length'
status_is "changes are shown" 0
cat >"$scratch/expected" <<'END'
true
["added", "changed", "other shape", "removed", "renamed", "unchanged"]
"block"
6
END
same "and printed" "$scratch/expected" "$scratch/out"
# Everything that can be pointed at or chosen, once.
everything='(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const at = (node, type, more) => node.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX: 50, clientY: 50, pointerType: "mouse", ...more }));
    for (const select of document.querySelectorAll("main select, section select")) {
        for (const option of select.options) { select.value = option.value; select.dispatchEvent(new Event("change")); await frame(); }
        select.selectedIndex = 0; select.dispatchEvent(new Event("change"));
    }
    for (const box of document.querySelectorAll("input[type=checkbox]")) { box.click(); await frame(); box.click(); }
    for (const node of document.querySelectorAll("#map rect, #lines .reach")) { at(node, "pointermove"); at(node, "pointerleave"); }
    for (let i = 0; i < 30; i++) {
        const all = document.querySelectorAll("#map rect");
        at(all[i * 7 % all.length], "click");
        if (document.getElementById("detail").open) {
            for (const node of document.querySelectorAll("#detail .reach")) { at(node, "pointermove"); }
            for (const name of ["next", "previous", "copy", "close"]) { document.getElementById(name).click(); await frame(); }
        }
        const up = document.querySelector("#trail button");
        if (up && i % 3 === 2) { up.click(); }
    }
    for (const button of document.querySelectorAll("#notes button")) { button.click(); await frame(); document.getElementById("detail").close(); }
    for (let i = 0; i < 3; i++) { document.getElementById("theme").click(); }
    for (let i = 0; i < document.querySelectorAll("#heads button").length; i++) {
        for (let k = 0; k < 3; k++) { document.querySelectorAll("#heads button")[i].click(); await frame(); }
    }
    return document.querySelectorAll("#rows .row").length > 0;
})()'
browse "$page" size 1600 1000 load js "$everything" size 500 800 js "$everything"
status_is "whatever is pointed at or chosen is no error (changes)" 0
browse "$scratch/hostile.html" size 1600 1000 load js "$everything"
status_is "whatever is pointed at or chosen is no error (hostile keys)" 0
run report -q "$scratch/ck" --include 'optim-*' -o "$page"
browse "$page" size 1600 1000 load js "$everything"
status_is "whatever is pointed at or chosen is no error (checkpoints)" 0
run report -q 0.21.0/constant-full.mpk -o "$scratch/none.html"
browse "$scratch/none.html" size 400 800 load js 'document.getElementById("nothing").hidden'
status_is "a record without tensors is no error either" 0
same "and said to be one" - "$scratch/out" <<END
false
END
browse "$page" size 400 800 load js 'document.querySelectorAll("#lines path.line").length' js 'document.getElementById("quantity").options.length' \
    js 'document.documentElement.scrollWidth <= 400' size 320 600 js 'document.documentElement.scrollWidth <= 320'
status_is "lines are drawn" 0
cat >"$scratch/expected" <<'END'
1
4
true
true
END
same "for each module" "$scratch/expected" "$scratch/out"

exec 7>&- 8<&-
wait # until it has removed what it left
finish
