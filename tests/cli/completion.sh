#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record completion: the candidates, and each shell that is there with the script.
# shellcheck disable=SC2016,SC2317 # text for other shells; functions that check() calls
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

completion=$(cd "$srcdir/etc/completion" && pwd)
mnist=$PWD/0.18.0/mnist.mpk
words() { # WORD...
    "$record" completion words -- "$@" >"$scratch/out" 2>"$scratch/err"
}
has() { # CANDIDATE
    cut -f 1 "$scratch/out" | grep -qxF -e "$1" || { cat "$scratch/out" "$scratch/err"; return 1; }
}
lacks() {
    ! cut -f 1 "$scratch/out" | grep -qxF -e "$1"
}

words ""
for each in info ls convert completion; do
    check "the command $each" has "$each"
done
check "with what it does" grep -q "^ls	list tensors" "$scratch/out"
words con
cut -f 1 "$scratch/out" >"$scratch/word"
same "a command by its first letters" - "$scratch/word" <<END
convert
END
words ls --from=NamedMpkB
check "a recorder, glued" has --from=NamedMpkBytes
words ls --from NamedMpkB
check "a recorder, apart" has NamedMpkBytes
words ls --from = NamedMpkB
check "a recorder, as bash breaks words" has NamedMpkBytes
words ls --from mpk
check "a short name of a recorder" has mpk-gz
words plan --profile llam
check "a profile" has llama
words plan --profile ""
check "or a file" has :files
words convert --precision d
check "a precision" has double
words convert --type Adam
check "a type of Burn's" has AdamW
printf 'struct Foo { a: f32 }\nenum Bar { A, B }\n' >"$scratch/x.rs"
words convert --type "$scratch/x.rs:"
check "a type of a Rust file" has "$scratch/x.rs:Foo"
check "and nothing else" lacks "$scratch/x.rs:Adam"
words convert --type "$scratch/none.rs:F"
check "a file of types that is not there says nothing" [ ! -s "$scratch/out" ]
words show "$mnist" stem.w
same "a key of the file" - "$scratch/out" <<END
stem.weight
END
words show --all "$mnist" stem.w
check "a key behind options" has stem.weight
words show --from NamedMpk "$mnist" stem.w
check "a key behind an option with its value" has stem.weight
words show "$scratch/none.mpk" st
check "a file that is not there has no keys" [ ! -s "$scratch/out" ]
mkfifo "$scratch/pipe"
check "a pipe is not read" timeout 300 "$record" completion words -- show "$scratch/pipe" ""
words ls --sort s
check "an order of ls" has size
words ls --sort=-
check "backwards, too" has --sort=-size
words diff --by p
check "what diff pairs by" has position
words edit --by d
check "which is another thing in edit" has dtype
words edit "$mnist" ""
check "after the file of edit come operations" has cast
check "and no keys" sh -c '! grep -q stem "$1"' sh "$scratch/out"
words edit "$mnist" rm st
check "after the operation come keys" has stem.weight
words diff --ignore=added,meta
check "a list goes on" has --ignore=added,metadata
words convert --burn 0.1
check "versions of Burn" has 0.18
words diff --atol ""
check "for a number no files are offered" sh -c '! grep -q . "$1"' sh "$scratch/out"
words ls --pre
check "an option" has --precision=
check "and its neighbour" has --prefix=
words info --ind
check "but none of another command" [ ! -s "$scratch/out" ]
words ls ""
check "files" has :files
words --fr
check "options that any command has before the command" has --from=
words profiles llama-no
check "profiles are what profiles takes" has llama-norope
words plugins NamedMpkB
check "plugins takes recorders" has NamedMpkBytes
words ls "$mnist" stem.w
check "what takes files and keys is given keys" has stem.weight
check "and files" has :files
words convert --precision =
check "a value of which nothing is typed, as bash breaks words" has half
words convert --config-json ""
check "an option that names a file" has :files
words edit -o ""
check "a letter that does" has :files
words convert --type ::
check "colons that belong to no file are part of a type's name" has :files
words help sh
check "help for a command" has show
words completion z
check "a shell" has zsh
"$record" completion words >"$scratch/out"
check "no word at all are all commands" has convert
fails "a shell that is none" completion tcsh <<END
record: expected bash, zsh or fish, found "tcsh"
  record completion --help shows how it is used.
END

fails "two shells" completion bash zsh <<END
record: expected bash, zsh or fish, found "zsh"
  record completion --help shows how it is used.
END

# What could steer a terminal is not offered.
printf '{"metadata":{"float":"f32","int":"i32","format":"x","version":"0.17.0","settings":"x"},"item":{"a\\u001b[2Jx":1,"ab":2}}' >"$scratch/steer.json"
words show "$scratch/steer.json" a
same "keys with control characters are left out" - "$scratch/out" <<END
ab
END

# A record with many keys is completed part by part.
if command -v python3 >/dev/null; then
    python3 - "$scratch/many.safetensors" <<'END'
import json, struct, sys
head = {f"layers.{i}.{k}": {"dtype": "F32", "shape": [], "data_offsets": [4 * (2 * i + j), 4 * (2 * i + j) + 4]}
        for i in range(2000) for j, k in enumerate(("bias", "weight"))}
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + bytes(16000))
END
    words show "$scratch/many.safetensors" la
    same "many keys up to the next point" - "$scratch/out" <<END
layers.
END
    words show "$scratch/many.safetensors" layers.1999.
    check "then the rest" has layers.1999.weight
else
    skip "many keys up to the next point" "python3 is not there"
fi

# The shells.
mkdir "$scratch/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$record" >"$scratch/bin/record"
chmod +x "$scratch/bin/record"
PATH=$scratch/bin:$PATH
cp "$mnist" "$scratch/a b.mpk"
cd "$scratch" || exit 1
if command -v bash >/dev/null; then
    cat >try.bash <<'END'
eval "$(record completion bash)"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _record 2>/dev/null; printf '%s\n' "${COMPREPLY[@]}"; }
try record con
try record plan --profile = llama-no
try record ls 'a '
try record show 'a b.mpk' stem.w
END
    bash try.bash >out 2>err
    same "bash" - out <<END
convert
llama-norope
a b.mpk
stem.weight
END
    check "bash finds nothing wrong" bash -n try.bash
else
    skip "bash" "it is not there"
fi
if command -v fish >/dev/null; then
    fish -c 'record completion fish | source
        complete -C "record con"
        complete -C "record plan --profile=llama-no"
        complete -C "record ls a"
        complete -C "record show a\\ b.mpk stem.w"' 2>err | cut -f 1 >out
    same "fish" - out <<END
convert
--profile=llama-norope
a b.mpk
stem.weight
END
else
    skip "fish" "it is not there"
fi
if command -v zsh >/dev/null && command -v python3 >/dev/null; then
    cat >try.py <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("zsh", ["zsh", "-f", "-i"])
def read_until(word, seconds=300):
    seen, end = b"", time.time() + seconds
    while word not in seen and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break
    return word in seen
os.write(fd, b"fpath=(" + sys.argv[1].encode() + b" $fpath); autoload -U compinit; compinit -u -D; echo rea''dy\n")
read_until(b"ready\r")
# The line that was completed is printed instead of run: ^A goes to its beginning.
for typed, whole in ((b"record con", b"::record:convert\r"), (b"record plan --profile llama-no", b"--profile:llama-norope\r"),
                     (b"record show a\\ b.mpk stem.w", b"show:a b.mpk:stem.weight\r")):
    os.write(fd, typed + b"\t\x01printf '%s:' ':'  \x05; echo\n")
    print(typed, "becomes" if read_until(whole.replace(b"\r", b":\r")) else "DOES NOT BECOME", whole)
os.write(fd, b"exit\n")
END
    python3 try.py "$completion" >out 2>&1
    check "zsh" sh -c '! grep -v becomes out && [ "$(wc -l <out)" = 3 ]'
else
    skip "zsh" "it is not there"
fi

finish
