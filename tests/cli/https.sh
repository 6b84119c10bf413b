#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Files of servers: what is asked for, and what becomes of a server's faults. The server is tests/cli/http-server.py, on this
# computer.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
top=$(pwd)/../../..
case $data in /*) ;; *) data=$(pwd) ;; esac
command -v python3 >/dev/null || {
    skip "files of servers" "python3 is not installed"
    finish
}
"$record" plugins --json | grep -q '"Https"' || {
    skip "files of servers" "built without libcurl, or static"
    finish
}
unset LIBRECORD_CACHE LIBRECORD_HTTP_AUTHORIZATION http_proxy all_proxy
mkdir "$scratch/work" "$scratch/files" "$scratch/files/parts"
cd "$scratch/work" || exit 99
files=$scratch/files
log=$scratch/log
: >"$log"
python3 "$top/tests/cli/http-server.py" "$files" "$log" >"$scratch/port" 2>/dev/null &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for test -s "$scratch/port"
at=http://127.0.0.1:$(cat "$scratch/port")

# A model of some 300 KB: more than the first request fetches.
python3 - "$files" <<'END'
import json, struct, sys
folder = sys.argv[1]
def model(name, keys, first):
    header, data = {}, b""
    for i, (key, shape) in enumerate(keys):
        count = shape[0] * shape[1]
        part = struct.pack(f"<{count}f", *((first + i * 7 + j % 251) for j in range(count)))
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(f"{folder}/{name}", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
model("m.safetensors", [("a.weight", [200, 250]), ("b.weight", [100, 250])], 1)
model("parts/x-1.safetensors", [("p", [3, 4])], 3)
model("parts/x-2.safetensors", [("q", [5, 2])], 4)
with open(f"{folder}/parts/m.safetensors.index.json", "w") as f:
    json.dump({"metadata": {}, "weight_map": {"p": "x-1.safetensors", "q": "x-2.safetensors"}}, f)
open(f"{folder}/empty.mpk", "wb").close()
END
cp "$data/0.18.0/mnist.mpk" "$files/mnist.mpk"
"$record" convert -q --adapter none "$files/m.safetensors" expected.mpk
"$record" ls "$files/m.safetensors" >expected.ls

asked() { # NAME PATTERN COUNT: that many requests were like that
    found=$(grep -c "$2" "$log")
    check "$1" test "$found" = "$3"
}
again() {
    : >"$log"
}

# 1. What is asked for.
run ls "$at/good/m.safetensors"
same "a listing is that of the file" expected.ls "$scratch/out"
asked "it took the first 64 KiB" 'bytes=0-65535' 1
asked "and nothing else" . 1
run convert -q --adapter none "$at/good/m.safetensors" good.mpk
check "a conversion gives the same bytes" cmp expected.mpk good.mpk
run info "$at/good/mnist.mpk"
check "any format is read" grep -q '24 tensors, 15,866 parameters' "$scratch/out"
again
run ls "$at/good/parts/m.safetensors.index.json"
check "so are models in several files" grep -q '^2 tensors, 22 parameters' "$scratch/out"
asked "each was asked for once" parts/x- 2
run ls "$at/good/m.safetensors?revision=main#part"
status_is "what follows the name belongs to the address" 0
asked "… and is sent" 'm.safetensors?revision=main bytes' 1

# 2. A server's faults.
run convert -q --adapter none "$at/whole/m.safetensors" whole.mpk
check "a server without parts sends the whole" cmp expected.mpk whole.mpk
run ls "$at/whole/m.safetensors"
check "… which is told" grep -q 'sends no parts of a file: all of it was fetched, 3001' "$scratch/err"
run convert -q --adapter none "$at/untold/m.safetensors" untold.mpk
check "… also without its size" cmp expected.mpk untold.mpk
again
run convert -q --adapter none "$at/cut/m.safetensors" cut.mpk
check "what breaks off goes on" cmp expected.mpk cut.mpk
asked "… where it broke" 'bytes=32768-65535' 1
run ls "$at/busy/m.safetensors"
status_is "a server that is busy is asked again" 0
again
run ls "$at/stop/m.safetensors"
status_is "one that sends nothing is an error" 2
asked "… after five tries" stop 5
run ls "$at/long/m.safetensors"
check "more than was asked for is an error" grep -q 'sends more bytes than requested' "$scratch/err"
run ls "$at/shift/m.safetensors"
check "so is another part" grep -q 'expected the requested bytes, found an answer that begins at byte 1' "$scratch/err"
run convert -q --adapter none "$at/change/m.safetensors" change.mpk
status_is "so is a file that changes" 2
check "… which is told" grep -q 'the file on the server changed while it was read' "$scratch/err"
check "… and nothing is written" test ! -e change.mpk
run ls "$at/good/none.mpk"
check "a file that is not there is not found" grep -q 'the server has no such file (404)' "$scratch/err"
run ls "$at/good/empty.mpk"
status_is "a file of no bytes is no record" 2

# 3. Everything ends. No test waits: limits are lowered, and servers that would go on for ever do so until they are left.
again
run ls "$at/drip/m.safetensors"
status_is "a server that sends a byte an answer is an error" 2
check "… of which there is a limit" grep -q '11 requests for the file failed, more than the limit' "$scratch/err"
asked "… of ten failures" drip 11
again
run ls --http-tries 3 "$at/drip/m.safetensors"
asked "… which is an option" drip 4
LIBRECORD_HTTP_TRIES=2 run ls "$at/drip/m.safetensors"
check "… and a variable" grep -q '3 requests for the file failed' "$scratch/err"
LIBRECORD_HTTP_TRIES=many run ls "$at/good/m.safetensors"
check "… which is checked" grep -q 'LIBRECORD_HTTP_TRIES is "many"; expected a whole number' "$scratch/err"
run ls --http-speed 1000000000000/1 "$at/crawl/m.safetensors"
status_is "a server that hardly sends anything is an error" 2
check "… with the limit" grep -q 'sends less than 1000000000000 bytes a second (over 1 s)' "$scratch/err"
check "… and the option for it" grep -q -e '--http-speed' "$scratch/err"
run ls --http-speed 0 --http-time 1 "$at/crawl/m.safetensors"
check "the time of all requests can be limited" grep -q 'took more than 1 seconds' "$scratch/err"
run ls --http-speed fast "$at/good/m.safetensors"
check "a speed is a number" grep -q 'expected BYTES or BYTES/SECONDS' "$scratch/err"
run ls --http-size 1000000 "$at/endless/m.safetensors"
status_is "a body without an end is an error" 2
check "… with the limit" grep -q 'and more than 1000000 bytes of it, the limit' "$scratch/err"
run ls --http-size 1000 "$at/whole/m.safetensors"
status_is "a file whose size is known may be larger" 0

# 4. A read that failed is not done again, and nobody reads on.
python3 - "$files/large.safetensors" <<'END'
import json, struct, sys
count = 3 << 18
text = json.dumps({"a": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + bytes(4 * count))
END
# All at once, each with a file of its own: most of the time is the pauses between tries.
again
readers=
for command in stats verify diff report show; do
    ln "$files/large.safetensors" "$files/large-$command.safetensors"
    set -- "$at/fails/large-$command.safetensors"
    [ "$command" != diff ] || set -- "$@" "$files/large.safetensors"
    [ "$command" != report ] || set -- "$@" -o page.html
    [ "$command" != show ] || set -- "$@" a
    "$record" "$command" --threads 1 "$@" >"$scratch/$command.out" 2>&1 </dev/null &
    readers="$readers $command=$!"
done
for reader in $readers; do
    command=${reader%=*}
    status=0
    wait "${reader#*=}" || status=$?
    check "record $command fails" test "$status" != 0
    grep "/large-${command}[.]" "$log" >"$scratch/requests"
    check "… after it read the header" grep -q 'bytes=0-' "$scratch/requests"
    check "… after at most five requests for data" test "$(grep -vc 'bytes=0-' "$scratch/requests")" -le 5
done

# 5. Where it leads, and who is told what.
run ls "$at/moved/m.safetensors"
same "a redirection is followed" expected.ls "$scratch/out"
run ls "$at/down/m.safetensors"
status_is "but not to other protocols" 2
run ls "$at/token/m.safetensors"
check "without a token there is a hint" grep -q LIBRECORD_HTTP_AUTHORIZATION "$scratch/err"
again
LIBRECORD_HTTP_AUTHORIZATION='Bearer secret' run ls "$at/token/m.safetensors"
same "with one it is read" expected.ls "$scratch/out"
LIBRECORD_HTTP_AUTHORIZATION='Bearer secret' run ls "$at/away/m.safetensors"
asked "another host does not see it" '/good/m.safetensors bytes=0-65535 None' 1
run ls "http://user:pass@${at#http://}/good/none.mpk"
check "messages have no password" sh -c "! grep -q pass '$scratch/err'"

# 6. The cache.
again
run convert -q --adapter none --cache "$scratch/cache" "$at/good/m.safetensors" cache.mpk
check "with a cache the bytes are the same" cmp expected.mpk cache.mpk
again
run convert -q --adapter none --cache "$scratch/cache" "$at/good/m.safetensors" cache.mpk
check "… and again" cmp expected.mpk cache.mpk
check "what is there is not asked for again" sh -c "! grep -v 'bytes=0-65535' '$log'"
for file in "$scratch"/cache/*.index; do
    sed '3s/.*/"v0"/' "$file" >"$scratch/index" && cp "$scratch/index" "$file"
done
again
run convert -q --adapter none --cache "$scratch/cache" "$at/good/m.safetensors" cache.mpk
check "an older version is fetched anew" grep -q 'bytes=0-3001' "$log"
check "… and right" cmp expected.mpk cache.mpk
for file in "$scratch"/cache/*.index; do
    echo garbage >"$file"
done
run convert -q --adapter none --cache "$scratch/cache" "$at/good/m.safetensors" cache.mpk
check "a damaged index is no harm" cmp expected.mpk cache.mpk

# 7. Switched off.
printf '[librecord]\nsources = no\n' >off.ini
run ls --config off.ini "$at/good/m.safetensors"
check "the configuration can forbid it" grep -q 'are not opened here' "$scratch/err"
run convert -q expected.mpk "$at/good/x.mpk"
status_is "nothing is saved there" 2

# 8. Certificates.
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost 2>/dev/null
    python3 - "$files" >tls.port 2>/dev/null <<'END' &
import functools, http.server, ssl, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
END
    tls=$!
    trap 'kill $server $tls 2>/dev/null; rm -rf "$scratch"' EXIT
    wait_for test -s tls.port
    run ls "https://localhost:$(cat tls.port)/m.safetensors"
    status_is "a certificate that nobody vouches for is refused" 2
    check "… in words" grep -q 'certificate is not one that this computer trusts' "$scratch/err"
    SSL_CERT_FILE=cert.pem run ls "https://localhost:$(cat tls.port)/m.safetensors"
    same "one that is trusted is taken" expected.ls "$scratch/out"
else
    skip "certificates" "openssl is not installed"
fi

finish
