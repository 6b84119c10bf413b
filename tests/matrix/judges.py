# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads files by other programs: msgpack, json, NumPy, safetensors, gguf-py, and PyTorch in a Python of its own.

read() gives the tensors of a file as Seen, by their keys; None where the reader is not installed or the format has
none: real Burn is asked in tests/interop.
"""
import atexit
import functools
import json
import os
import struct
import subprocess
import threading
import zipfile

import kinds

TORCH_PYTHON = os.environ.get("TORCH_PYTHON", "/usr/bin/python3")
# Reads the files whose names come in, a line each, and prints a line for each.
TORCH_READ = """
import json, sys, torch
def flat(value, path, out):
    if torch.is_tensor(value):
        raw = value.contiguous()
        raw = raw.view(torch.int16) if raw.dtype == torch.bfloat16 else raw
        out[path] = [str(value.dtype)[6:], list(value.shape), raw.numpy().tobytes().hex()]
    elif isinstance(value, dict):
        for key, item in value.items():
            flat(item, f"{path}/{key}" if path else str(key), out)
    return out
torch.zeros(1).numpy()
print("ready", flush=True)
for line in sys.stdin:
    try:
        found = flat(torch.load(json.loads(line), map_location="cpu"), "", {})
    except Exception as why:
        found = str(why)[-400:]
    print(json.dumps(found), flush=True)
"""
# What readers call the element types that the command calls otherwise.
NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
         "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool",
         "F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "I64": "i64", "I32": "i32", "I16": "i16", "I8": "i8",
         "U64": "u64", "U32": "u32", "U16": "u16", "U8": "u8", "BOOL": "bool", "Flex32": "flex32", "bool8": "bool8"}
SAME = {"flex32": "f32", "bool8": "bool"}  # formats that have no name for the first have the second


class Seen:
    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = NAMES.get(dtype, dtype), list(shape), bytes(data)


@functools.lru_cache(maxsize=None)
def module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


class Torch:
    """PyTorch in a Python that has packages of its own. It starts once: that takes longer than to read many files."""

    def __init__(self):
        alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.lock = threading.Lock()
        self.process = subprocess.Popen([TORCH_PYTHON, "-W", "ignore", "-c", TORCH_READ], env=alone, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.there = self.process.stdout.readline() == "ready\n"
        atexit.register(self.process.communicate)

    def read(self, path):
        """Returns what a file holds, or the text of an exception."""
        with self.lock:
            self.process.stdin.write(json.dumps(path) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        return json.loads(line) if line else "PyTorch has ended"


@functools.lru_cache(maxsize=None)
def torch():
    """Returns PyTorch, None if it is not installed. missing() calls this before there are threads."""
    try:
        started = Torch()
    except OSError:
        return None
    return started if started.there else None


def missing():
    return [name for name in ("msgpack", "numpy", "safetensors", "gguf") if not module(name)] + \
           ([] if torch() else ["torch"])


# --------------------------------------------------------------------------------------------------------------- readers


def burns(item):
    """The tensors of Burn's maps at the first level. A list of numbers is bytes in JSON."""
    seen = {}
    for key, value in item.items():
        value = value["param"] if isinstance(value, dict) and value.keys() == {"id", "param"} else value
        if isinstance(value, dict) and value.keys() == {"bytes", "shape", "dtype"}:
            dtype = value["dtype"]
            if isinstance(dtype, dict) and "Bool" in dtype:
                dtype = {"Native": "bool", "U8": "bool8", "U32": "bool32"}[dtype["Bool"]]
            seen[key] = Seen(str(dtype), value["shape"], bytes(value["bytes"]))
    return seen


def read_mpk(path):
    msgpack = module("msgpack")
    if not msgpack:
        return None
    with open(path, "rb") as file:
        return burns(msgpack.unpackb(file.read(), strict_map_key=False)["item"])


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return burns(json.load(file)["item"])


def read_npz(path):
    numpy = module("numpy")
    if not numpy:
        return None
    with numpy.load(path) as arrays:
        return {key: Seen(str(arrays[key].dtype), arrays[key].shape, arrays[key].tobytes()) for key in arrays.files}


def read_safetensors(path):
    safetensors = module("safetensors")
    if not safetensors:
        return None
    with open(path, "rb") as file:
        return {key: Seen(found["dtype"], found["shape"], found["data"])
                for key, found in safetensors.deserialize(file.read())}


def read_gguf(path):
    gguf = module("gguf")
    if not gguf:
        return None
    return {tensor.name: Seen(tensor.tensor_type.name, [int(size) for size in reversed(tensor.shape)],
                              tensor.data.tobytes())
            for tensor in gguf.GGUFReader(path).tensors}


def read_pt(path):
    reader = torch()
    if not reader:
        return None
    found = reader.read(path)
    if isinstance(found, str):
        raise ValueError(f"torch does not load it: {found}")
    return {key: Seen(dtype, shape, bytes.fromhex(data)) for key, (dtype, shape, data) in found.items()}


READERS = {"mpk": read_mpk, "json": read_json, "npz": read_npz, "safetensors": read_safetensors, "gguf": read_gguf,
           "pt": read_pt}


def read(form, path):
    return READERS[form](path) if form in READERS else None


def compare(wanted, seen):
    """What differs of a tensor of kinds.py and what a reader saw; None if nothing does. What readers have no numbers for
    is not compared."""
    names = {wanted.dtype, SAME.get(wanted.dtype, wanted.dtype)}
    if not names & set(NAMES.values()):
        return None
    if seen is None:
        return "not in the file"
    found = seen.dtype, seen.shape, seen.data
    if seen.dtype in names and seen.shape == wanted.shape and seen.data == wanted.data:
        return None
    return f"expected {wanted.dtype} {wanted.shape}, found {found[0]} {found[1]}" + \
        ("" if seen.data == wanted.data else " and other bytes")


# ------------------------------------------------------------------------------------------------------- PyTorch's model


def write_safetensors(path, model, metadata):
    """Writes tensors of kinds.py by their keys."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for key, tensor in model.items():
        header[key] = {"dtype": tensor.burn, "shape": tensor.shape,
                       "data_offsets": [len(data), len(data) + len(tensor.data)]}
        data += tensor.data
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write_npz(path, model):
    """Writes tensors as numpy.savez() does, without NumPy."""
    codes = {"f32": "<f4", "i32": "<i4"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for key, tensor in model.items():
            shape = f"({', '.join(map(str, tensor.shape))}{',' * (len(tensor.shape) == 1)})"
            text = f"{{'descr': '{codes[tensor.dtype]}', 'fortran_order': False, 'shape': {shape}, }}"
            text += " " * (-(len(text) + 11) % 64) + "\n"
            head = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode()
            archive.writestr(key + ".npy", head + tensor.data)


def write_model(path):
    """Writes a model in PyTorch's names and layout. @return its tensors by key."""
    shapes = {"emb.weight": [5, 4], "layers.0.weight": [3, 4], "layers.0.bias": [3], "layers.1.weight": [4, 3],
              "layers.1.bias": [4], "norm.weight": [4], "norm.bias": [4], "bn.weight": [4], "bn.bias": [4],
              "bn.running_mean": [4], "bn.running_var": [4], "head.weight": [2, 4], "head.bias": [2]}
    model = {}
    for number, (key, shape) in enumerate(shapes.items()):
        tensor = kinds.tensor("f32", "F32", "f", shape)
        tensor.data = struct.pack(f"<{len(tensor.data) // 4}f", *(number + i / 8 for i in range(len(tensor.data) // 4)))
        model[key] = tensor
    write_safetensors(path, model, {"format": "pt"})
    return model
