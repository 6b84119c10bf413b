# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the files that the documents name. A name means the same in all of them, except for those that OWN replaces."""
import json
import os
import random
import subprocess

import models
import reference
from models import linear, norm

# Safetensors files of PyTorch models, by keys and shapes.
NET = linear("fc1", 4, 3) | norm("norm", 4) | linear("fc2", 2, 4)
SAFETENSORS = {
    "model": models.llama(),
    "heads-32": models.llama(heads=32, kv=8),
    "bert": models.bert("", None),
    "gpt2": models.gpt2(""),
    "resnet": models.resnet(False),
    "a": linear("fc", 4, 3),
    "b": linear("fc", 2, 4),
    "head": linear("out", 2, 24),
    "body": NET,
    "fresh": NET | linear("head", 3, 2),
    "net": linear("fc1", 4, 3) | linear("head", 2, 4),
    "blocks": linear("blocks.0.fc", 4, 3) | {"blocks.0.weight": [2, 2]} | linear("head", 2, 4),
    "attention": {"attn.in_proj_weight": [12, 4], "attn.in_proj_bias": [12]} | linear("attn.out_proj", 4, 4),
    "fused": linear("layers.0.self_attn.qkv_proj", 16, 4, False) | linear("layers.1.attention.query_key_value", 24, 4),
    "experts": {f"layers.0.experts.{e}.w{w}.weight": [4, 4] for e in range(3) for w in (1, 2, 3)},
    "ours": {"layers.0.attn.weight": [12, 4], "embed.weight": [10, 4], "layers.0.norm.weight": [4]},
}

# model.* is a tiny Llama, mnist.* what Burn's example made.
COMMANDS = """
cp "$BURN/0.18.0/mnist.mpk" mnist.mpk
cp mnist.mpk epoch-20.mpk
cp mnist.mpk before.mpk
record convert -q --precision half mnist.mpk mnist-half.mpk
cp mnist-half.mpk after.mpk
record convert -q mnist-half.mpk after.safetensors
cp "$BURN/0.13.2/tiny-full.mpk" model-0.13.mpk
cp model-0.13.mpk old.mpk
record convert -q --burn 0.21 old.mpk new.mpk
record convert -q --profile llama model.safetensors model.mpk
record convert -q model.mpk model.mpk.gz
record types model.mpk >model.rs
record convert -q --type model.rs:Model model.mpk model.bin
record convert -q --type Adam "$BURN/0.18.0/adam-full.mpk" optim.bin
record convert -q --select fc --type 'nn::Linear<B>' a.safetensors linear.bin
record convert -q fresh.safetensors fresh.mpk
record convert -q --profile resnet resnet.safetensors resnet.mpk
record convert -q net.safetensors net.mpk
record convert -q model.mpk model.json.gz
record edit -q net.mpk rm head -o body.mpk
record edit -q net.mpk rm fc1 -o head.mpk
record convert -q --prefix encoder a.safetensors part-encoder.mpk
record convert -q --prefix head b.safetensors part-head.mpk
record convert -q --prefix encoder a.safetensors --prefix decoder b.safetensors autoencoder.mpk
record convert -q a.safetensors a.npz
unzip -p a.npz fc.weight.npy >table.npy
mkdir epoch-20 old checkpoints checkpoint
cp mnist.mpk epoch-20/model.mpk
cp model.mpk old/model-1.mpk
cp "$BURN/0.18.0/adam-full.mpk" old/optim-1.mpk
cp "$BURN/0.18.0/noam-full.mpk" old/scheduler-1.mpk
for epoch in 1 2 3; do
    cp mnist.mpk checkpoints/epoch-$epoch.mpk
    cp mnist.mpk checkpoint/model-$epoch.mpk
    cp "$BURN/0.18.0/adam-full.mpk" checkpoint/optim-$epoch.mpk
done
"""

# The model of from-burn.md, which other documents use.
MODEL = """
find . -mindepth 1 -delete
cp "$SRCDIR/examples/weights.safetensors" .
blocks="python3 $SRCDIR/tests/documents/blocks.py $SRCDIR/docs/guide/from-burn.md"
$blocks rust model.rs >model.rs
$blocks c model.h >model.h
"""

# Files that only one document has, or that are different there. Burn 0.22 needs the type of a scheduler.
OWN = {
    "README.md": """
cp model.bin m.bin
rm old/scheduler-1.mpk
cp checkpoints/epoch-[12].mpk .
""",
    "docs/guide/embedding.md": """
cp "$BURN/0.21.0/zoo-full.mpk" model.mpk
cp "$BURN/0.21.0/tiny-full.mpk" tiny.mpk
cp "$SRCDIR"/examples/net.rs "$SRCDIR"/examples/*.h "$SRCDIR"/examples/*.c "$SRCDIR"/examples/weights.safetensors .
""",
    "docs/guide/burn-0.22.md": """
cp mnist.mpk old-model.mpk
rm -r checkpoint
cp -R "$SRCDIR/tests/journeys/training/first/checkpoint" .
""",
    "docs/guide/from-burn.md": """
find . -mindepth 1 -delete
cp "$SRCDIR/examples/weights.safetensors" .
""",
    "docs/guide/from-pytorch.md": MODEL,
    "docs/guide/checkpoints.md": MODEL + """
record convert -q --type model.rs:Net --remap '^model\\.(.*) => $1' weights.safetensors net.mpk
""",
    "docs/guide/plugins.md": 'cp "$SRCDIR"/examples/tutorial/* .\n',
}


def make(folder, srcdir):
    """Fills the directory that is copied for each document."""
    for name, shapes in SAFETENSORS.items():
        reference.write_safetensors(os.path.join(folder, name + ".safetensors"), _tensors(name, shapes))
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"num_attention_heads": 4, "num_key_value_heads": 2}, file)
    _shell(folder, srcdir, COMMANDS)


def own(folder, srcdir, document):
    """Adds the files that only this document needs."""
    _shell(folder, srcdir, OWN.get(document, ""))


def _shell(folder, srcdir, commands):
    environment = dict(os.environ, SRCDIR=srcdir, BURN=os.path.join(srcdir, "tests/data/burn"))
    script = ["sh", "-euc", commands + "chmod -R u+w .\n"]
    subprocess.run(script, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=True)


def _tensors(name, shapes):
    """The same numbers in each run."""
    numbers, tensors = random.Random(name), {}
    for key, shape in shapes.items():
        dtype, shape = shape if isinstance(shape, tuple) else ("F32", shape)
        count = 1
        for size in shape:
            count *= size
        tensors[key] = reference.Tensor(dtype, shape, models.numbers_of(numbers, dtype, count))
    return tensors
