#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""make.py DIRECTORY [MODEL...]: the files of each model, in DIRECTORY/MODEL/.

model.safetensors and model.pt hold its state, in0.npy... its inputs, out.npy the output that PyTorch computes, and
config.json the numbers of a model that has a configuration. Needs torch 1.13 or later and NumPy.
"""
import json
import os
import struct
import sys

import numpy
import torch

import blocks  # noqa: F401 (registers models)
import families  # noqa: F401
import layers  # noqa: F401
import networks  # noqa: F401
import structures  # noqa: F401
from registry import MODELS, build

SAFETENSORS = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.bool: "BOOL"}


def write_safetensors(state, path):
    """Writes a state dict. Debian has no package of safetensors."""
    header, chunks, end = {}, [], 0
    for key, tensor in state.items():
        tensor = tensor.detach().contiguous()
        chunk = (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy().tobytes()
        header[key] = {"dtype": SAFETENSORS[tensor.dtype], "shape": list(tensor.shape),
                       "data_offsets": [end, end + len(chunk)]}
        chunks.append(chunk)
        end += len(chunk)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def read_safetensors(path):
    """Returns the state dict of a file."""
    types = {name: dtype for dtype, name in SAFETENSORS.items()}
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    state = {}
    for key, entry in header.items():
        if key == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = types[entry["dtype"]]
        flat = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype) if end > begin else torch.empty(0, dtype=dtype)
        state[key] = flat.reshape(entry["shape"])
    return state


def make(name, directory):
    module, inputs = build(name)
    with torch.no_grad():
        output = module(*inputs)
    os.makedirs(directory, exist_ok=True)
    state = module.state_dict()
    if hasattr(module, "dtype"):
        state = {key: tensor.to(module.dtype) for key, tensor in state.items()}
    for key in getattr(module, "unsaved", ()):
        del state[key]
    write_safetensors(state, f"{directory}/model.safetensors")
    stored = getattr(module, "stored", None)
    torch.save(stored(state) if stored else state, f"{directory}/model.pt")
    for number, tensor in enumerate(inputs):
        numpy.save(f"{directory}/in{number}.npy", tensor.numpy())
    numpy.save(f"{directory}/out.npy", output.numpy())
    config = getattr(module, "config", None)
    if config:
        with open(f"{directory}/config.json", "w", encoding="utf-8") as file:
            json.dump(config, file)


def main(directory, *names):
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    for name in names or MODELS:
        make(name, os.path.join(directory, name))


if __name__ == "__main__":
    main(*sys.argv[1:])
