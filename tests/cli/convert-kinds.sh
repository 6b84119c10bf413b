#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record convert: each kind of target without writing it, folders and the types of what is in them, and what is refused in which words.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

data=$srcdir/tests/data/burn/0.21.0
cp "$data/tiny-full.mpk" tiny.mpk
cp "$data/tiny-half.mpk" half.mpk
run edit -q -o k.mpk new set w 'f32[2, 3]=0.1' set u 'u64[1, 18446744073709551615]' set b 'bool[1, 0, 1]' set s '"text"' set n 5u8
cat >t.rs <<'EOT'
enum E { A, B(f32), C { v: u32 } }
struct T { e: E, n: u32, o: Option<E> }
EOT
meta='"metadata":{"float":"f32","int":"i32","format":"x","version":"0.18.0","settings":"x"}'
echo "{$meta,\"item\":{\"e\":{\"B\":1.5},\"n\":3,\"o\":\"A\"}}" >v.json
run convert -q --type t.rs:T v.json v.bin
run convert -q tiny.mpk f.safetensors
mkdir -p in/x/y mixed target
cp tiny.mpk in/a.mpk
cp half.mpk in/x/y/b.mpk
cp tiny.mpk mixed/t.mpk
cp v.bin mixed/v.bin
: >target/x
cat >named.ini <<'EOT'
[recorder ours]
plugin = safetensors
gaps = keep

[recorder plain]
plugin = mpk
precision = half
EOT

check "the files to try it on" [ -s v.bin ]

transcript "what would be written, and what could not be" <<'END'
$ convert --dry-run k.mpk y.bpk
k.mpk (Burn 0.21.0, full) -> y.bpk: 3 tensors, 771 bytes; a dry run, nothing was written
record: note: s: a Burnpack holds only the tensors of a module: the other values of the record are left out; likewise n (5)
$ convert --dry-run k.mpk y.pt
k.mpk (Burn 0.21.0, full) -> y.pt: 3 tensors, 1.60 KiB; a dry run, nothing was written
record: note: the ids of 3 tensors: left out, PyTorch has none
record: note: the version of Burn that wrote the record: left out
record: note: 1 tensor of an element type that only PyTorch 2.3 and later load
record: note: written as plain values with its own names and layout; for a model that PyTorch loads, use reverse
$ convert --dry-run k.mpk y.npz
k.mpk (Burn 0.21.0, full) -> y.npz: 3 tensors, 767 bytes; a dry run, nothing was written
record: note: s: 2 values other than tensors, the first here: left out, because NumPy files hold arrays only
record: note: the ids of 3 parameters: left out, because NumPy files hold arrays only
record: note: written with Burn's names and layout; for a model of PyTorch's, use reverse
$ convert --dry-run k.mpk y.gguf
record: u: expected an element type that GGUF has, found u64 at `u`
  It has f64, f32, f16, bf16, i64, i32, i16, i8 and ggml's own blocks.
status 2
$ convert --dry-run --max-shard-size 40 k.mpk y.safetensors
k.mpk (Burn 0.21.0, full) -> y.safetensors: 3 tensors; a dry run, nothing was written
$ convert --dry-run --json -r in out2 --to json
{
  "in": "in",
  "out": "out2",
  "files": [
    {"file": "a.mpk", "result": "converted", "out": "a.json", "tensors": 2, "checked": false, "written": 1221},
    {"file": "x/y/b.mpk", "result": "converted", "out": "x/y/b.json", "tensors": 2, "checked": false, "written": 973}
  ],
  "converted": 2,
  "failed": 0,
  "skipped": 0,
  "dry_run": true
}
$ convert --dry-run --no-map f.safetensors y.mpk
f.safetensors (Burn 0.21.0, full) -> y.mpk: 2 tensors, 346 bytes; a dry run, nothing was written
$ convert --dry-run --no-map tiny.mpk y.json
tiny.mpk (Burn 0.21.0, full) -> y.json: 2 tensors, 1.19 KiB; a dry run, nothing was written
$ convert --dry-run --debug f.safetensors y.mpk
Debug information of keys and tensor shapes:
---
Key: linear.bias
Shape: [2]
Dtype: F32
---
Key: linear.weight
Shape: [3, 2]
Dtype: F32
---
f.safetensors (Burn 0.21.0, full) -> y.mpk: 2 tensors, 346 bytes; a dry run, nothing was written
$ convert --dry-run --metadata version=1 tiny.mpk y.json
record: --metadata version: it describes how the record is written; use --burn
status 2
$ convert --dry-run --metadata a= tiny.mpk y.json
tiny.mpk (Burn 0.21.0, full) -> y.json: 2 tensors, 1.19 KiB; a dry run, nothing was written
$ convert --dry-run --metadata =1 tiny.mpk y.json
record: --metadata: expected KEY=VALUE, found "=1"
status 2
$ convert --dry-run --config named.ini --from ours f.safetensors y.mpk
f.safetensors (Burn 0.21.0, full) -> y.mpk: 2 tensors, 346 bytes; a dry run, nothing was written
$ convert --dry-run --config named.ini --from plain tiny.mpk y.json
tiny.mpk (Burn 0.21.0, full) -> y.json: 2 tensors, 1.19 KiB; a dry run, nothing was written
$ convert --dry-run --config named.ini --to plain tiny.mpk y
tiny.mpk (Burn 0.21.0, full) -> y.mpk: 2 tensors, 346 bytes; a dry run, nothing was written
$ convert --dry-run --burn 0.18 tiny.mpk y.json
tiny.mpk (Burn 0.21.0, full) -> y.json: 2 tensors, 1.19 KiB; a dry run, nothing was written
$ convert --dry-run --burn 0.18.1 tiny.mpk y.json
tiny.mpk (Burn 0.21.0, full) -> y.json: 2 tensors, 1.19 KiB; a dry run, nothing was written
$ convert --dry-run --burn 1 tiny.mpk y.json
record: --burn: expected 0.7 to 0.23, found "1"
status 2
$ convert --dry-run --burn 0.99 tiny.mpk y.json
record: --burn: expected 0.7 to 0.23, found "0.99"
status 2
END

transcript "folders" <<'END'
$ convert -r in target --to json
FILE       RESULT
a.mpk      converted  -> a.json: 2 tensors, 1.19 KiB
x/y/b.mpk  failed     cannot make its directory: Not a directory
1 converted (0 checked), 0 skipped, 1 failed
record: x/y/b.mpk: cannot make its directory: Not a directory
status 2
$ convert -r -q in out3 --to json
$ convert -r in in --to json
record: in: the directory that is converted cannot be written to
status 2
$ convert -r in in/// --to json
record: in///: the directory that is converted cannot be written to
status 2
$ convert -r in tiny.mpk --to json
record: tiny.mpk: a directory is needed to convert a directory to
status 2
$ convert -r tiny.mpk target --to json
record: tiny.mpk: --recursive needs a directory
status 2
$ convert -r nowhere out --to json
record: nowhere: --recursive needs a directory
status 2
$ convert -r mixed out5 --to json
FILE   RESULT
t.mpk  converted  -> t.json: 2 tensors, 1.19 KiB
v.bin  failed     a BinFile record carries no names: give its type, --type 'v.bin=TYPE'
1 converted (0 checked), 0 skipped, 1 failed
record: v.bin: a BinFile record carries no names: give its type, --type 'v.bin=TYPE'
  The model's Rust source:             --type 'v.bin=model.rs:Model'
  One of Burn's own types by name:     --type 'v.bin=Adam'
status 2
$ convert -r --type t.rs:T mixed out6 --to json
FILE   RESULT
t.mpk  failed     the type T has no tensors, but the record has 2
v.bin  converted  -> v.json: 0 tensors, 332 bytes
1 converted (0 checked), 0 skipped, 1 failed
record: t.mpk: the type T has no tensors, but the record has 2
  Is it the right type, and is its source of the same version of Burn as the model?
status 2
$ convert -r --type '*.bin=t.rs:T' mixed out7 --to json
FILE   RESULT
t.mpk  converted  -> t.json: 2 tensors, 1.19 KiB
v.bin  converted  -> v.json: 0 tensors, 332 bytes
2 converted (0 checked), 0 skipped, 0 failed
$ convert -r --type 'x/*.bin=t.rs:T' --type T mixed out8 --to json
FILE   RESULT
t.mpk  failed  cannot find the type `T`
v.bin  failed  cannot find the type `T`
0 converted, 0 skipped, 2 failed
record: note: --type x/*.bin: no file has such a name
record: t.mpk: cannot find the type `T`
  Add the Rust file that defines it, or an INI file with [type T].
  Likewise 1 more.
status 2
$ convert -r --type '*.bin=none.rs:T' mixed out9 --to json
record: none.rs: cannot open: No such file or directory
status 2
$ convert -r --type t.rs: mixed out10 --to json
record: --type t.rs:: a type's name must follow the colon
status 2
$ convert -r --type-of tiny.mpk mixed out11 --to json
record: --type-of gives the type of one record: with --recursive give --type GLOB=TYPE
status 2
$ convert -r --remap 'a => b' in out12 --to json
FILE       RESULT
a.mpk      converted  -> a.json: 2 tensors, 1.19 KiB
x/y/b.mpk  converted  -> x/y/b.json: 2 tensors, 973 bytes
2 converted (0 checked), 0 skipped, 0 failed
$ convert -r --include '*.mpk' --exclude 'x/*' in out13 --to json
FILE   RESULT
a.mpk  converted  -> a.json: 2 tensors, 1.19 KiB
1 converted (0 checked), 0 skipped, 0 failed
$ convert -r in
record: expected record convert IN... OUT, found 1 operand
  record convert --help shows how it is used.
status 2
$ convert tiny.mpk tiny.mpk mixed
FILE      RESULT
tiny.mpk  converted  -> tiny.mpk: 2 tensors, 346 bytes
tiny.mpk  failed     tiny.mpk was written from another file already
1 converted (1 checked), 0 skipped, 1 failed
record: tiny.mpk: tiny.mpk was written from another file already
status 2
$ convert tiny.mpk
record: expected record convert IN... OUT, found 1 operand
  record convert --help shows how it is used.
status 2
$ convert
record: expected record convert IN... OUT, found 0 operands
  record convert --help shows how it is used.
status 2
END

transcript "types of files without names" <<'END'
$ convert --dry-run --type A --type B v.bin y.json
record: --type may be given once; several are for convert --recursive
status 2
$ convert --dry-run --type A --type-of tiny.mpk v.bin y.json
record: --type and --type-of exclude each other
status 2
$ convert --dry-run --types t.rs v.bin y.json
record: --types only defines types: select one with --type
status 2
$ convert --dry-run --types t.rs --type T v.bin y.json
v.bin (Burn 0.21.0, full) -> y.json: 0 tensors, 3 values, 332 bytes; a dry run, nothing was written
$ convert --dry-run --types none.rs --type T v.bin y.json
record: none.rs: cannot open: No such file or directory
status 2
$ convert --dry-run --type-of v.bin v.bin y.json
record: --type-of v.bin: this one has no names either
  A record in MessagePack or JSON is needed.
status 2
$ convert --dry-run --type-of none.mpk v.bin y.json
record: none.mpk: cannot open the file: No such file or directory
status 2
$ convert --dry-run --types t.rs --type-of v.json v.bin y.json
record: v.bin: the record that the type was taken from does not show whether the integer `n` is signed, and formats without names store both differently
  Give a type that shows it: Burn's own by its name (StepLrScheduler), or Rust source; in the output of `record types`, correct `u64 /* or i64 */` and remove the comment.
status 2
$ convert --dry-run --type t.rs v.bin y.json
record: the type `t.rs`, column 2: expected the end of the type, found `.`
status 2
$ convert --dry-run --type none.ini:T v.bin y.json
record: none.ini: cannot open: No such file or directory
status 2
$ convert --dry-run --type t.rs::T v.bin y.json
record: the type `t.rs::T`, column 2: expected the end of the type, found `.`
status 2
$ convert --dry-run v.bin y.json
record: v.bin: a BinFile record carries no names: its type is needed
  give the model's Rust source:          --type model.rs:Model
  or a record of the same model:         --type-of model.mpk
  or one of Burn's own types by name:    --type Adam
status 2
$ convert --dry-run --positional v.bin y.json
record: v.bin: no parameters can be found in it without its type
  Give its type: an optimizer's, a scheduler's or a module's without parameters by its name.
status 2
END


# --------------------------------------------------------------------------------------------------------- from a pipe
"$record" convert -q --type t.rs:T --to json - - <v.bin >piped 2>"$scratch/err"
run convert -q --type t.rs:T v.bin y.json
same "what has no names is read from a pipe, with its type" y.json piped
"$record" convert -q --config named.ini --from ours --to json - - <f.safetensors >piped 2>"$scratch/err"
run convert -q --force f.safetensors y.json
same "a named recorder reads a pipe" y.json piped
"$record" convert -q --type none.rs:T --to json - - <v.bin >piped 2>err
check "a type that is not there is told" [ "$?-$(cat err)" = "2-record: none.rs: cannot open: No such file or directory" ]
"$record" convert -q --to json - - <v.bin >piped 2>err
check "no type is, too" grep -q '^record: standard input: a bincode record carries no names: its type is needed' err
check "and nothing is written then" [ ! -s piped ]

finish
