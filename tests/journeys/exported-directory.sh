#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# All models of a directory become safetensors in the same tree. A second run converts new files only.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack safetensors jq

step "the trainings, with text files between them" <<'END'
cp -R "$journeys/training" runs
END
step "what would be done" <<'END'
record convert -r --dry-run --include 'model-*.mpk' --to safetensors runs exported
test ! -e exported
END
prints "first/checkpoint/model-1.mpk"
step "it is done" <<'END'
record convert -r --include 'model-*.mpk' --to safetensors runs exported
find exported -type f | sort
END
prints "exported/second/checkpoint/model-1.safetensors"
step "another epoch, another run" <<'END'
record edit runs/first/checkpoint/model-1.mpk set a.bias 0 -o runs/first/checkpoint/model-2.mpk
touch -d '2001-02-03' exported/first/checkpoint/model-1.safetensors
record convert -r --json --skip-existing --include 'model-*.mpk' --to safetensors runs exported >report.json
jq -c '[.converted, .failed]' report.json
stat -c %y exported/first/checkpoint/model-1.safetensors
END
prints "[1,0]"
prints "2001-02-03"

python "Python's safetensors reads each as Python's msgpack reads its record" <<'END'
import glob
from journey import same, tensors
from safetensors.numpy import load_file
files = sorted(glob.glob("exported/**/*.safetensors", recursive=True))
assert len(files) == 3, files
for name in files:
    same(load_file(name), tensors(name.replace("exported", "runs").replace(".safetensors", ".mpk")))
END
finish
