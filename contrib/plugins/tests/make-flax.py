#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""make-flax.py DIRECTORY: writes the .msgpack files of tests/files with Flax itself.

cnn       variables of a small network as flax.linen initialises them, parameters and statistics
state     a training state: a step, parameters, the state of Adam with its empty parts
kinds     one array of each element type, NumPy's scalars, a complex number, texts, lists, empty maps
chunked   the array of 40 numbers in chunks of at most 64 bytes, as Flax writes those of more than 1 GiB

Needs flax, jax and optax. The files are the same at each run.
"""
import os
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
from flax import serialization
from flax.training import train_state


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.relu(x).mean((1, 2))
        return nn.Dense(5)(nn.LayerNorm()(x))


def cnn():
    model = Cnn()
    variables = model.init(jax.random.PRNGKey(0), jnp.ones((1, 6, 6, 3)))
    leaves, tree = jax.tree_util.tree_flatten(variables)
    random = np.random.default_rng(1)
    filled = [(0.5 + random.random(leaf.shape)).astype(np.float32) for leaf in leaves]
    return serialization.to_bytes(jax.tree_util.tree_unflatten(tree, filled))


def state():
    model = nn.Dense(2)
    params = {"Dense_0": {"kernel": np.arange(6, dtype=np.float32).reshape(3, 2), "bias": np.zeros(2, np.float32)}}
    made = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.01))
    return serialization.to_bytes(made)


def kinds():
    names = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8",
             "bool", "complex64", "complex128"]
    more = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]
    arrays = {name: np.array([[0, 1, 2], [3, 4, 5]]).astype(name) for name in names}
    arrays |= {name: np.array([[0, 1, 2], [3, 4, 5]]).astype(getattr(ml_dtypes, name)) for name in more}
    scalars = {name: arrays[name].dtype.type(1) for name in names + more}
    rest = {"nothing": None, "yes": True, "one": 1, "minus": -40000, "half": 0.5, "text": "g\u00fcte", "bytes": b"\0\1",
            "complex": 1 - 2j, "list": [1, 2.5, "x", np.ones(2, np.float32)], "empty map": {}, "empty list": [],
            "a.b": {"c\\d": np.zeros((0, 3), np.float32)}, "rank 0": np.array(7, np.float32),
            "large": 2**64 - 1, "long": "x" * 300}
    return serialization.msgpack_serialize({"arrays": arrays, "scalars": scalars, "rest": rest})


def chunked():
    serialization.MAX_CHUNK_SIZE = 64
    return serialization.msgpack_serialize({"params": {"Embed_0": {
        "embedding": np.arange(40, dtype=np.float32).reshape(8, 5)}, "Dense_0": {"bias": np.ones(5, np.float32)}}})


def main(directory):
    os.makedirs(directory, exist_ok=True)
    for make in cnn, state, kinds, chunked:
        with open(os.path.join(directory, f"{make.__name__}.msgpack"), "wb") as file:
            file.write(make())


if __name__ == "__main__":
    main(sys.argv[1])
