#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""safetensors_check.py [--crate PROGRAM] RECORD FILE...

Converts each FILE (anything that RECORD, the command, loads by itself) to safetensors, whole and in several files, and
lets Python's safetensors (and, with --crate, the Rust crate: tests/interop/safetensors, built by cargo) load each
result and save it again: the bytes must be the same (but where a foreign model has several entries of metadata: those are
saved in random order). Then converts it back and compares with what FILE itself becomes.
Prints TAP. Needs Python's safetensors and numpy; plugins and data are found as the command finds them.
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile

import safetensors
from safetensors import safe_open

# Names of element types as safetensors.serialize() wants them.
NAMES = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "F16": "float16",
         "BF16": "bfloat16", "I32": "int32", "U32": "uint32", "F32": "float32", "F64": "float64", "I64": "int64",
         "U64": "uint64", "C64": "complex64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
         "F8_E8M0": "float8_e8m0fnu", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz"}
count = failed = 0


def report(good, what, why=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {what}" + (f" # {why}" if why and not good else ""))


def same_again(path):
    """@return None if Python saves the file as it is, else what differs."""
    with open(path, "rb") as file:
        data = file.read()
    with safe_open(path, framework="np") as opened:
        metadata = opened.metadata()
    if metadata and len(metadata) > 1:
        return None  # in random order, each time another one
    tensors, kept = {}, []
    for name, t in safetensors.deserialize(data):
        dtype, shape, size = NAMES[t["dtype"]], t["shape"], len(t["data"])
        if hasattr(safetensors, "TensorSpec"):  # since 0.8
            kept.append(ctypes.create_string_buffer(bytes(t["data"]), size + 1))
            address = ctypes.addressof(kept[-1])
            tensors[name] = safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=address, data_len=size)
        else:
            tensors[name] = {"dtype": dtype, "shape": shape, "data": bytes(t["data"])}
    again = bytes(safetensors.serialize(tensors, metadata))
    return None if again == data else f"saved again it has {len(again)} bytes instead of {len(data)}"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.strip().replace("\n", " / ")


def check(record, crate, path, folder):
    one, many = os.path.join(folder, "one.safetensors"), os.path.join(folder, "many.safetensors")
    index = many + ".index.json"
    status, _, why = run(record, "convert", "-q", "--option", "layout=keep", "--adapter", "none", path, one)
    report(status == 0, f"{path}: converts", why)
    if status:
        return
    largest = max((len(t["data"]) for _, t in safetensors.deserialize(open(one, "rb").read())), default=0)
    written = [one]
    status, _, why = run(record, "convert", "-q", "--option", "layout=keep", "--adapter", "none",
                         "--max-shard-size", str(max(largest, 1)), path, many)
    report(status == 0, f"{path}: converts to several files", why)
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            weights = json.load(file)["weight_map"]
        parts = sorted(set(weights.values()))
        written += [os.path.join(folder, part) for part in parts]
        for part in parts:
            with safe_open(os.path.join(folder, part), framework="np") as opened:
                keys = sorted(opened.keys())
            report(keys == sorted(k for k, v in weights.items() if v == part), f"{path}: {part} has what the index says")
    for made in written:
        why = same_again(made)
        report(why is None, f"{path}: Python saves {os.path.basename(made)} as it is", why)
    if crate:
        _, lines, _ = run(crate, *written)
        for line in lines.splitlines():
            why, made = line.split("\t")
            with safe_open(made, framework="np") as opened:
                if len(opened.metadata() or {}) > 1:
                    continue
            report(why == "same", f"{path}: the crate saves {os.path.basename(made)} as it is", why)
    back = [os.path.join(folder, name) for name in ("a.mpk", "b.mpk", "c.mpk")]
    whole = index if os.path.exists(index) else many
    for source, target in zip((path, one, whole), back):
        status, _, why = run(record, "convert", "-q", "--option", "layout=keep", "--adapter", "none", source, target)
        report(status == 0, f"{path}: {os.path.basename(source)} to MessagePack", why)
    contents = [open(name, "rb").read() for name in back if os.path.exists(name)]
    report(len(contents) == 3 and contents[1] == contents[0] == contents[2], f"{path}: nothing was lost on the way")


def main():
    arguments = sys.argv[1:]
    crate = None
    if arguments[:1] == ["--crate"]:
        crate, arguments = arguments[1], arguments[2:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    for path in arguments[1:]:
        with tempfile.TemporaryDirectory() as folder:
            check(arguments[0], crate, path, folder)
    print(f"1..{count}")
    print(f"# {count - failed} of {count} passed, with safetensors {safetensors.__version__}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
