#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A conversion that maps no tensor is an error and leaves an existing output alone; a type without tensors does not fit a
# record with tensors.
# shellcheck disable=SC2119 # torch_net without argument is meant
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
# shellcheck source=tests/cli/make-safetensors.sh
. "$srcdir/tests/cli/make-safetensors.sh"
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

torch_net >net.safetensors
cat >net.rs <<'END'
#[derive(Module, Debug)]
pub struct Net<B: Backend> { fc1: Linear<B>, norm: LayerNorm<B>, fc2: Linear<B> }
#[derive(Module, Debug)]
pub struct Plain<B: Backend> { act: Relu, rate: f64, phantom: PhantomData<B> }
#[derive(Module, Debug)]
pub struct Other<B: Backend> { head: Option<Linear<B>> }
END
run convert -q --type net.rs:Net net.safetensors net.mpk
status_is "a record is made" 0
run convert -q --burn 0.22 --type net.rs:Net net.safetensors net.bpk
status_is "and a Burnpack" 0
run convert -q net.mpk net.json
cp net.mpk net.mpk.before
cp net.bpk net.bpk.before
cp net.json net.json.before

transcript "a type without tensors does not fit a record with tensors" <<'END'
$ convert --type net.rs:Plain net.safetensors new.mpk
record: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 2
$ convert -y --type net.rs:Plain net.bpk net.bpk
record: net.bpk: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 2
$ convert -y --partial --type net.rs:Plain net.bpk net.bpk
record: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 2
$ convert -y --type net.rs:Plain net.mpk net.mpk
record: net.mpk: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 2
$ convert -y --type net.rs:Plain net.json net.json
record: net.json: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 2
$ types --check --type net.rs:Plain net.bpk
record: net.bpk: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 1
$ types --check --type net.rs:Plain net.mpk
record: net.mpk: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 1
$ convert --reverse --type net.rs:Plain net.bpk new.safetensors
record: net.bpk: the type Plain has no tensors, but the record has 6
  Is it the right type, and is its source of the same version of Burn as the model?
status 2
$ types --check --type net.rs:Net net.bpk
net.bpk: of this type
END

transcript "nothing mapped is an error with a type" <<'END'
$ convert --type net.rs:Other net.safetensors new.mpk
record: none of 6 tensors is mapped: the destination stays empty
  Is it the right profile, or the right type?
status 2
$ convert -y --type net.rs:Other net.bpk net.bpk
record: net.bpk: none of 6 tensors is mapped: the destination stays empty
  Is it the right profile, or the right type?
status 2
END
run plan --type net.rs:Other net.safetensors
status_is "and in a plan" 1
check "which is a problem" grep -q '^problem: none of 6 tensors is mapped' "$scratch/out"
[ -e new.mpk ]
check "no file was made" [ $? = 1 ]
run convert -q --partial --type net.rs:Other net.safetensors new.mpk
status_is "unless the load is partial" 0
run convert -y --partial --type net.rs:Other net.safetensors new.mpk
status_is "which replaces no output" 2
cat >"$scratch/expected" <<'END'
record: new.mpk: no tensor was mapped: the existing file is not replaced
  Correct the type or the rules, or save to another name.
END
same "says why" "$scratch/expected" "$scratch/err"
run convert -y --partial --drop . net.bpk net.bpk
status_is "nor do rules" 2
run convert -q -y --partial --drop . net.bpk dropped.bpk
status_is "a new file may be empty" 0

for file in net.mpk net.bpk net.json; do
    check "$file is as it was" cmp "$file.before" "$file"
done
finish
