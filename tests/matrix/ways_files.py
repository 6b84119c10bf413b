# SPDX-License-Identifier: MIT OR Apache-2.0
"""The files that the matrix of ways (ways.py) uses: fixtures of two files each, a.* and b.*, and what options name."""
import json
import os
import shutil
import struct

RUST = """
pub struct Net<B: Backend> { fc1: Linear<B>, norm: LayerNorm<B>, fc2: Linear<B> }
pub struct More<B: Backend> { fc1: Linear<B>, norm: LayerNorm<B>, fc2: Linear<B>, head: Linear<B> }
pub enum Norm<B: Backend> { Layer(LayerNorm<B>), Batch(BatchNorm<B>) }
pub struct Either<B: Backend> { fc1: Linear<B>, norm: Norm<B>, fc2: Linear<B> }
"""
INI = """
[recorder compact]
plugin = json
style = compact
[recorder raw]
plugin = safetensors
adapter = none
[profile net]
has = ^fc1\\.weight$
rename = ^fc1\\. => first.
[profile split]
let = H heads
split = ^qkv\\.(weight|bias)$ | rows q*H k v => %.$1
"""
NET = [("fc1.weight", [4, 3]), ("fc1.bias", [4]), ("norm.weight", [4]), ("norm.bias", [4]),
       ("fc2.weight", [2, 4]), ("fc2.bias", [2])]
GAPS = [("l.0.weight", [4, 3]), ("l.0.bias", [4]), ("l.2.weight", [2, 4]), ("l.2.bias", [2])]


def safetensors(path, tensors, dtype="F32", code="f", value=lambda i: (i % 17 - 8) / 8):
    """Writes tensors without a library: names and shapes."""
    header, data = {}, b""
    for name, shape in tensors:
        count = 1
        for size in shape:
            count *= size
        chunk = struct.pack(f"<{count}{code}", *[value(i) for i in range(count)])
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(chunk)]}
        data += chunk
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def text(path, string):
    with open(path, "w", encoding="utf-8") as file:
        file.write(string)


def first(fixture, which):
    """Returns the name of file a or b of a fixture."""
    return min(name for name in os.listdir(fixture) if name.startswith(which))


def pair(name, extension, make):
    """Makes a fixture: the second file is a copy of the first."""
    os.makedirs(name)
    first = f"{name}/a{extension}"
    make(first)
    shutil.copy(first, f"{name}/b{extension}")


def make(record, source):
    """Makes all files in the working directory. record(*args) runs the command and must succeed."""
    burn = os.path.join(source, "tests/data/burn/0.18.0")
    lightning = os.path.join(source, "tests/data/pytorch/1.13.1/zip_lightning.pt")
    text("net.rs", RUST)
    text("own.ini", INI)
    text("two.json", '{"heads": 2}')
    safetensors("net.safetensors", NET)
    convert = lambda *args: record("convert", "-q", *args)  # noqa: E731
    convert("--type", "net.rs:Net", "net.safetensors", "net.mpk")
    record("edit", "-q", "net.mpk", "set", "head.weight", "f32[4, 2]=0", "-o", "base.mpk")
    record("edit", "-q", "net.mpk", "set", "fc2.bias[0]", "9", "-o", "other.mpk")
    record("verify", "-q", "--sums", "write", "net.mpk")
    os.rename("net.mpk.sums", "net.sums")
    pair("ours", ".mpk", lambda path: shutil.copy("net.mpk", path))
    pair("theirs", ".safetensors", lambda path: shutil.copy("net.safetensors", path))
    pair("bin", ".bin", lambda path: convert("net.mpk", path, "--type", "net.rs:Net"))
    pair("self", ".bin", lambda path: convert("net.mpk", path, "--type", "net.rs:Net", "--self-describing"))
    pair("unnamed", ".data", lambda path: shutil.copy("bin/a.bin", path))
    pair("adam", ".mpk", lambda path: shutil.copy(f"{burn}/adam-full.mpk", path))
    pair("noam", ".mpk", lambda path: shutil.copy(f"{burn}/noam-full.mpk", path))
    pair("lightning", ".pt", lambda path: shutil.copy(lightning, path))
    pair("gaps", ".safetensors", lambda path: safetensors(path, GAPS))
    pair("fused", ".safetensors", lambda path: safetensors(path, [("qkv.weight", [8, 4]), ("qkv.bias", [8])]))
    pair("large", ".safetensors", lambda path: safetensors(path, [("n", [3])], "I64", "q", lambda i: i << 40))
    pair("summed", ".mpk", lambda path: shutil.copy("net.mpk", path))
    record("verify", "-q", "--sums", "write", "--in-metadata", "summed/a.mpk", "summed/b.mpk")
    shutil.copy("net.sums", "summed/a.mpk.sums")
    shutil.copy("net.sums", "summed/b.mpk.sums")
    pair("trailing", ".mpk", lambda path: shutil.copy("net.mpk", path))
    for name in "ab":
        with open(f"trailing/{name}.mpk", "ab") as file:
            file.write(b"behind it")
