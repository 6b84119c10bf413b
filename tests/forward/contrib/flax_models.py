#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""flax_models.py DIRECTORY: models of blocks.py in Flax, in DIRECTORY/MODEL/.

model.msgpack holds the variables as flax.serialization writes them, in0.npy the input, out.npy the output that Flax
computes. Inputs and outputs have PyTorch's and Burn's order of axes, NCHW; Flax computes with NHWC.

flax_models.py DIRECTORY MODEL FILE: loads FILE into the model strictly, and compares variables and output.
"""
import os
import sys

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import serialization

jax.config.update("jax_default_matmul_precision", "highest")
EPSILON = 1e-5  # Burn's default; Flax's is another one


class Mlp(nn.Module):
    def setup(self):
        self.project, self.hidden, self.readout = nn.Dense(8), nn.Dense(8), nn.Dense(8)
        self.ln = nn.LayerNorm(epsilon=EPSILON)

    def __call__(self, x):
        return self.readout(nn.relu(self.hidden(self.ln(self.project(x)))))


class Cnn(nn.Module):
    def setup(self):
        self.stem = nn.Conv(4, (3, 3), padding=1)
        self.mix = nn.Conv(4, (3, 3), strides=2, padding="VALID", use_bias=False)
        self.stem_bn = nn.BatchNorm(use_running_average=True, epsilon=EPSILON)
        self.mix_bn = nn.BatchNorm(use_running_average=True, epsilon=EPSILON)
        self.classifier = nn.Dense(5)

    def __call__(self, x):
        x = nn.relu(self.stem_bn(self.stem(x.transpose(0, 2, 3, 1))))
        x = nn.relu(self.mix_bn(self.mix(x)))
        # The rows of the classifier are in the order in which the axes are flattened: no conversion can change that.
        return self.classifier(x.transpose(0, 3, 1, 2).reshape(x.shape[0], -1))


class Lookup(nn.Module):
    def setup(self):
        self.words, self.mix = nn.Embed(12, 8), nn.Dense(8)

    def __call__(self, x):
        return self.mix(self.words(x))


class Pooler(nn.Module):
    def setup(self):
        self.attn = nn.MultiHeadDotProductAttention(num_heads=2)
        self.norm = nn.LayerNorm(epsilon=EPSILON)

    def __call__(self, x):
        return self.norm(x + self.attn(x, x))


class Gated(nn.Module):
    def setup(self):
        self.norm = nn.RMSNorm(epsilon=EPSILON)
        self.gate, self.up, self.down = (nn.Dense(8, use_bias=False) for _ in range(3))

    def __call__(self, x):
        y = self.norm(x)
        return x + self.down(nn.silu(self.gate(y)) * self.up(y))


MODELS = {"Mlp": (Mlp, (3, 8)), "Cnn": (Cnn, (2, 3, 7, 7)), "Lookup": (Lookup, (2, 7)), "Pooler": (Pooler, (2, 5, 8)),
          "Gated": (Gated, (2, 5, 8))}


def build(name):
    """Returns a model, its variables and its input. No layer is the copy of another one, and nothing is 0 or 1."""
    net, shape = MODELS[name]
    random = np.random.default_rng(sum(name.encode()))
    x = random.integers(0, 12, shape) if name == "Lookup" else random.standard_normal(shape).astype(np.float32)
    variables = net().init(jax.random.PRNGKey(0), jnp.asarray(x))

    def fill(path, leaf):
        positive = path[-1].key in ("scale", "var")
        made = random.random(leaf.shape) + 0.5 if positive else random.standard_normal(leaf.shape) * 0.4
        return made.astype(np.float32)
    return net(), jax.tree_util.tree_map_with_path(fill, variables), x


def make(name, directory):
    model, variables, x = build(name)
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/model.msgpack", "wb") as file:
        file.write(serialization.to_bytes(variables))
    np.save(f"{directory}/in0.npy", x.astype(np.int64) if name == "Lookup" else x)
    np.save(f"{directory}/out.npy", np.asarray(model.apply(variables, jnp.asarray(x))))


def compare(name, path):
    model, variables, x = build(name)
    with open(path, "rb") as file:
        found = serialization.from_bytes(variables, file.read())
    before, after = (flax.traverse_util.flatten_dict(tree, sep="/") for tree in (variables, found))
    differing = [key for key in before if before[key].dtype != after[key].dtype or
                 before[key].tobytes() != np.asarray(after[key]).tobytes()]
    expected, output = (model.apply(tree, jnp.asarray(x)) for tree in (variables, found))
    apart = float(jnp.abs(output - expected).max() / jnp.abs(expected).max())
    print(f"{apart:.1e}", *differing)
    return 0 if apart < 1e-5 and not differing else 1


def main(directory, name=None, path=None):
    if name:
        return compare(name, path)
    for each in MODELS:
        make(each, os.path.join(directory, each))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
