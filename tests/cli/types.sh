#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record: types, files without names, versions of Burn, folders
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"

types=$srcdir/tests/data/types
case $types in /*) ;; *) types=$(cd "$OLDPWD" && cd "$types" && pwd) ;; esac

# works NAME ARGUMENT...: status 0
works() {
    works_name=$1
    shift
    run "$@"
    status_is "$works_name" 0
}

# says NAME TEXT [FILE]: the text is in standard error, or in the file
says() {
    if grep -qF -- "$2" "$scratch/${3:-err}"; then
        ok "$1"
    else
        not_ok "$1" "$scratch/${3:-err}"
    fi
}

# alike NAME FILE FILE: both have the same bytes
alike() {
    check "$1" cmp "$2" "$3"
}

here=$PWD
cp 0.18.0/tiny-full.mpk 0.18.0/adam-full.mpk 0.13.2/zoo-full.mpk "$scratch"
cd "$scratch" || exit 99

# ---------------------------------------------------------------------------------------------------- a type given

works "a type from Rust source" convert --option layout=keep --type "$types/tiny.rs:Tiny" tiny-full.mpk tiny.bin
works "the same by --types and --type" convert --option layout=keep --types "$types/tiny.rs" --type 'Tiny<B>' tiny-full.mpk two.bin
alike "makes the same file" tiny.bin two.bin
works "an expression over Burn's own types needs no file" convert --option layout=keep --type Adam adam-full.mpk adam.bin
works "bincode and back" convert --option layout=keep --type "$types/tiny.rs:Tiny" tiny.bin back.mpk
alike "is the record that Burn wrote" tiny-full.mpk back.mpk
works "the type of another record" convert --option layout=keep --type-of tiny-full.mpk tiny.bin back.mpk
alike "reads it as well" tiny-full.mpk back.mpk
works "--self-describing" convert --option layout=keep --self-describing --type "$types/tiny.rs:Tiny" tiny-full.mpk self.bin
works "needs no type to be read" convert --option layout=keep self.bin back.mpk
alike "and holds the record" tiny-full.mpk back.mpk

run ls --types "$types/tiny.rs" tiny.bin
says "--types alone is a mistake" "select one with --type"
run ls --type Tiny --type Adam tiny.bin
says "so are two types" "--type may be given once"
run ls --type Tiny --type-of tiny-full.mpk tiny.bin
says "or a type and a record" "exclude each other"
run ls --type Tiny tiny.bin
says "a type that nobody defines is named" "cannot find the type \`Tiny\`"
echo 'pub struct Teeny<B: Backend> { fc: Linear<B> }' >teeny.rs
run ls --type teeny.rs:Teney tiny.bin
says "one that is spelled nearly so, with its place" "Did you mean \`Teeny\`, in teeny.rs:1?"
run ls --type Linaer tiny.bin
says "Burn's own too" "Did you mean \`Linear\`?"
run ls --precision hal tiny.bin
says "and precisions" "Did you mean half?"
run ls --type-of tiny.bin tiny.bin
says "a record without names has no type to give" "this one has no names either"

# -------------------------------------------------------------------------------------------------- without a type

run ls tiny.bin
status_is "ls of a file without names lists by position" 0
says "and says so" "tiny.bin carries no names (BinFile record, Burn 0.18.0). Parameters by position:" out
says "with the place of each" "OFFSET" out
says "and how to give names" "--type model.rs:Model, --type-of RECORD" out

cat >expected <<END
record: tiny.bin: a BinFile record carries no names: its type is needed
  2 parameters were found by their ids:   record ls tiny.bin
  give the model's Rust source:          --type model.rs:Model
  or a record of the same model:         --type-of model.mpk
  or one of Burn's own types by name:    --type Linear
  or take parameters by their position:  --positional
END
run convert tiny.bin out.mpk
status_is "convert needs its type" 2
same "and says how to give it" expected err
run show tiny.bin 0
says "so does show" "its type is needed"
# shellcheck disable=SC2002 # a pipe
cat tiny.bin | "$record" stats - 2>err.pipe
check "from standard input, in the words of the command" grep -qF 'or set the option --positional to list' err.pipe
works "--positional takes the parameters by position" convert --positional tiny.bin positions.mpk
says "with a note" "named by their position"

for file in "$here/0.18.0/noam-full.mpk:NoamLrScheduler" "$here/0.18.0/constant-full.mpk:f64" "$here/0.18.0/adam-full.mpk:Adam"; do
    type=${file##*:}
    works "a .bin of $type" convert --option layout=keep --type "$type" "${file%:*}" bare.bin
    works "info without its type" info bare.bin
    says "says what its header says" "BinFile record, written by Burn 0.18.0" out
    says "and that this is all" "unknown without its type: no parameters can be found in it" out
    works "so does ls" ls bare.bin
    says "with the version" "bare.bin carries no names (BinFile record, Burn 0.18.0), and no parameters can be found in it." out
    works "--positional or not" ls --positional bare.bin
    run types bare.bin
    status_is "there is no type to show" 2
    says "which is said" "its type is needed"
    rm -f positions.mpk
    run convert --positional bare.bin positions.mpk
    status_is "nothing is not converted" 2
    says "and nobody is accused" "no parameters can be found in it without its type"
    check "nor written" test ! -e positions.mpk
done

# ------------------------------------------------------------------------------------------------ a number's sign
# 299 of an i32 and 598 of a usize are the same bytes in bincode, and formats with names do not tell which it is.

works "a scheduler in JSON" convert "$here/0.18.0/noam-full.mpk" noam.json
sed 's/"item": [0-9]*/"item": 299/' noam.json >step.json
works "of an i32 by Burn's name" convert --type StepLrScheduler step.json step.bin
run show --type StepLrScheduler step.bin ''
says "is read by it" 299 out
for command in "show --type-of step.json step.bin" "diff step.json step.bin" "convert --type-of step.json step.json other.bin" \
    "convert --self-describing --type-of step.json step.json other.bin"; do
    # shellcheck disable=SC2086 # words
    run $command
    status_is "$command: refused" 2
    says "because of the sign" "the record that the type was taken from does not show whether the integer \`item\` is signed"
    says "with what to do" "StepLrScheduler"
done
check "nothing is written" test ! -e other.bin
run types step.json
says "types marks it" "pub type Model = u64 /* or i64 */; // assumed: its sign and width" out
cp out step.rs
run show --type step.rs:Model step.bin
status_is "what is printed is not yet a choice" 2
sed 's|u64 /\* or i64 \*/|i64|' step.rs >chosen.rs
run show --type chosen.rs:Model step.bin ''
says "it is one when the comment is gone" 299 out
sed 's/"item": [0-9]*/"item": -299/' noam.json >minus.json
works "a negative one is sure" convert --type-of minus.json minus.json minus.bin
run show --type StepLrScheduler minus.bin ''
says "and right" -299 out
sed 's/"item": [0-9]*/"item": 18446744073709551615/' noam.json >most.json
works "so is one that is too large for a sign" convert --type-of most.json most.json most.bin
sed 's/"item": [0-9]*/"item": {"head": {"steps": [[1, 2], [3, 4]]}, "ratio": 0.5}/' noam.json >deep.json
run convert --type-of deep.json deep.json other.bin
says "one deep in a record has its path" "the integer \`head.steps\` is signed"
sed 's/"item": [0-9]*/"item": {"head": {"steps": [[1, 2], [3, -4]]}, "ratio": 0.5}/' noam.json >deep.json
works "of several in one place one can tell" convert --type-of deep.json deep.json deep.bin
works "an optimizer's own is known" convert --type-of adam-full.mpk adam-full.mpk adam.bin
works "formats with names do not care" convert --type-of step.json step.json step.mpk

# ------------------------------------------------------------------------------------------------------- mismatch

run ls --type "$types/tiny.rs:Other" tiny.bin
status_is "another type is refused" 2
says "the field is named" "byte 173: norm.beta.id: expected a parameter"
says "its line in the source, too" "  \`norm\` is in $types/tiny.rs:$(sed -n '/struct Other/,$ { /norm:/ { =; q; } }' "$types/tiny.rs")."
says "and the version that the file says" "The file says Burn 0.18; does the version differ?"
run types zoo-full.mpk
cp out zoo.rs
works "a record of many modules" convert --type zoo.rs:Model zoo-full.mpk zoo.bin
rm -f first.mpk
run convert --type nn::conv::Conv1d zoo.bin first.mpk
status_is "the type of its first module is not that of the record" 2
says "where it ends is said" "the record ends here, and"
says "and why" "The type is not that of the whole record: of one module of it, or one that lacks its last fields."
says "and what allows it" "record: --from-option trailing=ignore"
check "nothing is written" test ! -e first.mpk
works "what allows it does" convert --from-option trailing=ignore --type nn::conv::Conv1d zoo.bin first.mpk
says "with a note" "bytes after the record were ignored"
run types --check --type nn::conv::Conv1d zoo.bin
status_is "types --check: a type that ends before the record does" 1
run types --check --from-option trailing=ignore --type nn::conv::Conv1d zoo.bin
status_is "types --check: also where that is allowed" 1
for form in bin bin.gz; do
    works "self-describing .$form" convert --self-describing --type "$types/tiny.rs:Tiny" tiny-full.mpk "self.$form"
    works "its own type is no rest" ls --type "$types/tiny.rs:Tiny" "self.$form"
done
gzip -dc self.bin.gz >rest
printf rest >>rest
gzip -c rest >rest.bin.gz
run ls --type "$types/tiny.rs:Tiny" rest.bin.gz
status_is "what follows it is, compressed too" 2
cat tiny-full.mpk - >rest.mpk <<END
rest
END
run ls rest.mpk
status_is "so is what follows a record with names" 2
says "as is said" "the record ends here, and 5 bytes follow"
works "unless it is allowed" ls --from-option trailing=ignore rest.mpk

LC_ALL=C sed 's/0\.18\.0/0.12.0/' tiny.bin >old.bin
run ls --type "$types/tiny.rs:Tiny" old.bin
says "a version that fits better is named" "By the layout of Burn 0.14 to 0.21 the type fits it."
LC_ALL=C sed 's/0\.18\.0/-.18.0/' tiny.bin >untold.bin
works "a version that is not told is found" ls --type "$types/tiny.rs:Tiny" untold.bin
says "and named" "the file does not record the version of Burn that wrote it"

works "types --check: a record of the type" types --check --type "$types/tiny.rs:Tiny" tiny-full.mpk
run types --check --type "$types/tiny.rs:Other" tiny-full.mpk
status_is "types --check: a record with names of another type" 1
says "says what does not fit, and of which file" "record: tiny-full.mpk: norm: the record lacks this field of its type"
run types --check --type "$types/tiny.rs:Other" tiny.bin
status_is "types --check: a record without names of another type" 1
run types --check tiny.bin
status_is "types --check needs a type" 2
run types --check --type Adam nothing.bin
status_is "types --check of no file is an error" 2

# ---------------------------------------------------------------------------------------------------- record types

cat >expected <<'END'
// The type of a record: written by Burn 0.18.
// The record does not show whether a present value is an Option.

use burn::module::Module;
use burn::nn;
use burn::tensor::backend::Backend;

#[derive(Module, Debug)]
pub struct Model<B: Backend> {
    linear: nn::Linear<B>,
}
END
run types tiny-full.mpk
same "types prints Rust source" expected out
run types adam-full.mpk
says "an optimizer is recognised" "pub type Model = Adam; // assumed: Adam, but AdamW has the same fields" out
run types zoo-full.mpk
says "assumptions are marked" "    array: Vec<nn::Linear<B>>, // assumed: a Vec" out
says "enums are" "pub enum HeadA<B: Backend> { // assumed: that there are no other variants, and their order" out
says "ranks tell modules apart" "    conv2: nn::conv::Conv2d<B>," out
run types zoo-full.mpk
cp out shown.rs
works "what types prints can be read" types --check --type shown.rs:Model zoo-full.mpk
run types tiny.bin
says "types of a file without names makes one up" "    linear_0: nn::Linear<B>, // 0 [" out
says "and says what it is" "// tiny.bin carries no names (BinFile record, Burn 0.18.0)." out
cp out begun.rs
works "in Rust from the first line" types --check --type begun.rs:Model tiny.bin

# ------------------------------------------------------------------------------------------------- versions of Burn

works "--burn writes for another version" convert --burn 0.13 tiny-full.mpk old.mpk
run info --json old.mpk
says "which the file says" '"burn": "0.13.0"' out
works "a patch is of the same version" convert --burn 0.18.1 tiny-full.mpk same.mpk
run convert --burn 0.99 tiny-full.mpk x.mpk
says "one that there is not is refused" 'expected 0.7 to 0.23, found "0.99"'

# ------------------------------------------------------------------------------------------------------- folders

mkdir -p run/epoch-1
cp "$here/0.13.2/tiny-full.mpk" run/epoch-1/model.mpk
cp "$here/0.13.2/adam-full.mpk" run/epoch-1/optim.mpk
cp tiny.bin run/model.bin
echo '{"lr": 0.1}' >run/config.json
echo text >run/notes.txt
cat >expected <<END
FILE               RESULT
config.json        skipped    no record
epoch-1/model.mpk  converted  -> epoch-1/model.mpk: 2 tensors
epoch-1/optim.mpk  converted  -> epoch-1/optim.mpk: 6 tensors
model.bin          converted  -> model.mpk: 2 tensors
notes.txt          skipped    no record
3 converted (3 checked), 2 skipped, 0 failed
END
run convert --recursive --burn 0.21 --to mpk --type 'optim*=Adam' --type "model.*=$types/tiny.rs:Tiny" run new
status_is "a directory is converted" 0
sed 's/ tensors, .*/ tensors/' out >report
same "with a report" expected report
run show --json new/epoch-1/optim.mpk
grep -o '"[0-9a-v]*": {"V1"' out | sed 's/"\([0-9a-v]*\)".*/\1/' | awk '{ print length($0) }' | sort -u >lengths
echo 13 >expected
same "an optimizer's ids are those of the new version" expected lengths
run ls --json new/epoch-1/model.mpk
grep -o '"id": "[^"]*"' out | awk '{ print length($2) - 2 }' | sort -u >lengths
same "and so are the model's" expected lengths

run convert -r --burn 0.21 --to mpk run other
status_is "what fails does not end it, but counts" 2
says "the reason is in the report" "give its type, --type 'model.bin=TYPE'" out
check "the others are there" test -f other/epoch-1/optim.mpk
run convert -r --to mpk run run
says "a directory is not converted into itself" "the directory that is converted cannot be written to"
run convert -r --to mpk tiny.bin new
says "a file is not a directory" "--recursive needs a directory"

echo '{"metadata":{"float":"f32","int":"i32","format":"f","version":"0.21.0","settings":"s"},"item":{"a.b":[1,{"c d":1,"e":"x"}]}}' >mixed.json
run types mixed.json
status_is "a map of several types has no type" 2
says "its path is in the message" 'a\.b.1: a map whose values are of several types has no type in Rust'

# --------------------------------------------------------------------------------------------------------- flat files

# A flat file has the tensors alone: neither constants nor what is None. Layers may have them in another order each.
st_begin
for layer in 0 1 2; do
    names="wq.weight norm.gamma"
    [ "$layer" = 1 ] && names="norm.gamma wq.weight"
    for name in $names; do
        case $name in
            *.gamma) st_tensor "layers.$layer.$name" "2" 2 ;;
            *) st_tensor "layers.$layer.$name" "2, 2" 4 ;;
        esac
    done
done
st_tensor "embedding.weight" "3, 2" 6
st_end >flat.safetensors
run convert -q --adapter none --burn 0.21 flat.safetensors flat.bpk
for file in flat.safetensors flat.bpk; do
    run types --adapter none "$file"
    check "$file: layers are one struct in a Vec" grep -Eq '^    layers: Vec<Layer(<B>)?>' "$scratch/out"
    check "$file: what may be a Linear or an Embedding is marked" \
        [ "$(grep -Ec 'nn::(Embedding|Linear)(<B>)?, // assumed: ' "$scratch/out")" = 2 ]
    check "$file: and never unmarked" [ "$(grep -Ec 'nn::(Embedding|Linear)(<B>)?,$' "$scratch/out")" = 0 ]
done
# ----------------------------------------------------------------------------------------------------------- JSON

need_jq
run ls --json tiny.bin
answers "ls --json has offsets where there are no names" '[.named, (.tensors | length), (.tensors[0].offset > 0)]' '[false,2,true]'
run types --json tiny-full.mpk
answers "types --json" '[.file, .burn, .given, .named, .assumed, (.source | startswith("// The type"))]' '["tiny-full.mpk","0.18.0",null,true,0,true]'
run convert -r --json --burn 0.21 --to mpk --type "model.*=$types/tiny.rs:Tiny" run more
answers "convert --recursive --json" '[.converted, .skipped, .failed, .files[0].result, .files[1].out]' '[3,2,0,"skipped","epoch-1/model.mpk"]'

finish
