# SPDX-License-Identifier: MIT OR Apache-2.0
"""Random records, by librecord and by others: Python's msgpack and json, NumPy, the safetensors package, real Burn.

    differential.py [--seed S] [--count N] [--only TEST] [--burn VERSION=ORACLE]… [--require] [--keep FOLDER] RECORD

Each of N records is made from S and its number alone, so that one of them can be made again: --seed S.NUMBER. What is held:

  msgpack      Python packs a record, in whatever widths MessagePack allows; librecord writes it as each of Burn's formats;
               Python reads the same from .mpk and from JSON, behind codecs too
  json         the same from JSON that Python wrote, with spaces, escapes and none
  precision    elements as half, full and double are what Python's struct makes of them
  damaged      a file with some bytes changed: what librecord takes Python's msgpack or json takes, too, and finds the same
  safetensors  tensors as the safetensors package saves them, and what it loads of librecord's
  numpy        arrays in any order of bytes and of axes as NumPy saves them, and what it loads of librecord's
  burn         a record of a type of types.rs with random elements and shapes, for each Burn, which loads it

Prints TAP, a line for each of these. Exit 0, or 1 if anything failed."""
import argparse
import gzip
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import bridge
import records
from cases import Case, Failure, Skip, compare, without_nil
from records import Tensor

try:
    import msgpack
except ImportError:
    msgpack = None
try:
    import numpy
except ImportError:
    numpy = None
try:
    import safetensors.numpy
except ImportError:
    safetensors = None

METADATA = {"float": "f32", "int": "i32",
            "format": "burn_core::record::file::NamedMpkFileRecorder<burn_core::record::settings::FullPrecisionSettings>",
            "version": "0.21.0", "settings": "FullPrecisionSettings"}
WORDS = ["weight", "bias", "a", "b", "layer.0", "back\\slash", "ü", "名前", "🙂", "with space", "0", "id", "param", "V1", "x" * 70,
         "tab\there", "\"", "'", "/", "#", "null", "item", "shape", "é" * 40]
KINDS = ["f64", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"]


# ------------------------------------------------------------------------------------------------- random records

class Single(float):
    """A number that MessagePack has as an f32. In JSON it is the shortest decimal that reads back as that f32."""


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def element(self, dtype, finite=False):
        letter, kind = records.DTYPES[dtype]
        if kind == "bool":
            return self.chance(0.5)
        size = struct.calcsize("<" + letter)
        while True:
            if kind == "float" and self.chance(0.7):
                value = records.rounded(self.random.choice([0.0, -0.0, 1.0, self.random.gauss(0, 1), self.random.uniform(-1e6, 1e6),
                                                            2.0 ** self.random.randint(-160, 127)]), dtype)
            elif kind == "int" and self.chance(0.7):
                least, most = limits(dtype)
                value = self.random.choice([0, 1, least, most, self.random.randint(max(least, -100), 100)])
            else:
                value = struct.unpack("<" + letter, self.random.randbytes(size))[0]
            # What NaN carries is nobody's promise.
            if kind == "int" or math.isfinite(value) or (not finite and not math.isnan(value)):
                return value

    def shape(self, most=6, least=0):
        return [self.random.randint(least, most) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3, 4]))]

    def tensor(self, finite=False):
        dtype, shape = self.random.choice(KINDS), self.shape()
        ident = records.base32(self.random.randbytes(8)) if self.chance(0.6) else None
        return Tensor(dtype, shape, [self.element(dtype, finite) for _ in range(math.prod(shape))], ident)

    def number(self):
        return self.random.choice([0, 1, -1, 127, 128, 255, 256, -32, -33, -128, -129, 65535, 65536, 2**31 - 1, 2**31, 2**32, -2**31,
                                   2**63 - 1, 2**63, 2**64 - 1, -2**63, self.random.randint(-2**63, 2**64 - 1)])

    def text(self):
        return "".join(self.random.choice(WORDS + ["", "\n", "\u007f", "\u2028", "\ufeff", "\0"]) for _ in range(self.random.randint(0, 4)))

    def scalar(self):
        return self.random.choice([lambda: None, lambda: self.chance(0.5), self.number, self.number, self.text,
                                   lambda: self.element("f64", finite=True), lambda: Single(self.element("f32", finite=True))])()

    def key(self):
        return self.random.choice(WORDS) + self.random.choice(["", "", str(self.random.randint(0, 30))])

    def tree(self, depth):
        if depth == 0 or self.chance(0.15):
            return self.tensor() if self.chance(0.6) else self.scalar()
        if self.chance(0.25):
            return [self.tree(depth - 1) for _ in range(self.random.choice([0, 1, 2, 3, 17]))]
        return self.fields(depth)

    def fields(self, depth):
        # What has these keys would be a tensor, to everyone.
        made = {self.key(): self.tree(depth - 1) for _ in range(self.random.choice([0, 1, 2, 3, 5, 18]))}
        return {k: v for k, v in made.items() if k not in ("id", "param", "shape")}

    def record(self):
        return self.fields(self.random.randint(1, 5))

    def flat(self, kinds=KINDS):
        """Tensors by names that no module has."""
        made = {}
        for i in range(self.random.randint(1, 8)):
            dtype, shape = self.random.choice(kinds), self.shape()
            made[f"{self.random.choice('abc')}{i}.{self.random.choice(['q', 'r', 'ü'])}{i}"] = \
                Tensor(dtype, shape, [self.element(dtype) for _ in range(math.prod(shape))])
        return made


def limits(dtype):
    bits = 8 * struct.calcsize("<" + records.DTYPES[dtype][0])
    return (0, 2**bits - 1) if dtype[0] == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)


# ------------------------------------------------------------------------------------------- MessagePack, of any width

class Packer:
    """MessagePack by its specification, in widths that are as random as it allows."""

    def __init__(self, chooser):
        self.random = chooser

    def wide(self, forms, n):
        """@param forms (most, head, struct letter), the narrowest first; none too narrow is taken"""
        fits = [form for form in forms if n <= form[0]]
        _, head, letter = fits[0] if self.random.random() < 0.6 else self.random.choice(fits)
        if letter is None:
            return bytes([head | n])
        return bytes([head]) + struct.pack(">" + letter, n)

    def pack(self, node):
        if node is None or isinstance(node, bool):
            return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[node]
        if isinstance(node, int):
            if node >= 0 and (node > 2**63 - 1 or self.random.random() < 0.7):
                return self.wide([(127, 0, None), (255, 0xcc, "B"), (2**16 - 1, 0xcd, "H"), (2**32 - 1, 0xce, "I"),
                                  (2**64 - 1, 0xcf, "Q")], node)
            if -32 <= node < 0 and self.random.random() < 0.6:
                return struct.pack("b", node)
            forms = [(7, 0xd0, "b"), (15, 0xd1, "h"), (31, 0xd2, "i"), (63, 0xd3, "q")]
            _, head, letter = self.random.choice([f for f in forms if -2**f[0] <= node < 2**f[0]])
            return bytes([head]) + struct.pack(">" + letter, node)
        if isinstance(node, float):
            if isinstance(node, Single):
                return b"\xca" + struct.pack(">f", node)
            return b"\xcb" + struct.pack(">d", node)
        if isinstance(node, str):
            raw = node.encode()
            return self.wide([(31, 0xa0, None), (255, 0xd9, "B"), (2**16 - 1, 0xda, "H"), (2**32 - 1, 0xdb, "I")], len(raw)) + raw
        if isinstance(node, bytes):
            return self.wide([(255, 0xc4, "B"), (2**16 - 1, 0xc5, "H"), (2**32 - 1, 0xc6, "I")], len(node)) + node
        if isinstance(node, list):
            head = self.wide([(15, 0x90, None), (2**16 - 1, 0xdc, "H"), (2**32 - 1, 0xdd, "I")], len(node))
            return head + b"".join(self.pack(item) for item in node)
        head = self.wide([(15, 0x80, None), (2**16 - 1, 0xde, "H"), (2**32 - 1, 0xdf, "I")], len(node))
        return head + b"".join(self.pack(part) for item in node.items() for part in item)


def as_json(node):
    """What laid_out() gives, with bytes as JSON has them."""
    if isinstance(node, dict):
        return {k: list(v) if isinstance(v, bytes) else as_json(v) for k, v in node.items()}
    return [as_json(v) for v in node] if isinstance(node, list) else node


# ---------------------------------------------------------------------------------------------------------- the tests

class Campaign:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.taken = self.refused = 0

    def new(self, name):
        """A file in a folder of its own: Burn cuts a name at its first dot."""
        return os.path.join(tempfile.mkdtemp(dir=self.scratch), name)

    def convert(self, *words):
        done = subprocess.run((self.options.record, "convert", "--quiet", *words), capture_output=True)
        if done.returncode:
            raise Failure(f"convert {' '.join(words)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")

    def write(self, name, data):
        path = self.new(name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def mpk(self, maker, root):
        return self.write("in.mpk", Packer(maker.random).pack({"metadata": METADATA, "item": records.laid_out(root), "_b": []}))

    def json(self, maker, root):
        spacing = maker.random.choice([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}])
        text = json.dumps({"metadata": METADATA, "item": as_json(records.laid_out(root)), "_b": []},
                          ensure_ascii=maker.chance(0.5), **spacing)
        return self.write("in.json", text.encode())

    @staticmethod
    def read_mpk(data):
        raw = msgpack.unpackb(data, raw=False, strict_map_key=True)
        return records.build(raw["item"], "full")

    def read(self, path):
        with open(path, "rb") as file:
            data = bridge.inflated(file.read())
        return self.read_mpk(data) if ".mpk" in path else records.build(json.loads(data)["item"], "full")

    def same_as(self, root, source):
        for ext in ("mpk", "json", "mpk.gz", "json.gz"):
            target = self.new("out." + ext)
            self.convert(source, target)
            found = self.read(target)
            compare(f"{source} as {ext}", with_singles(root, found) if "json" in ext else root, found)

    def msgpack(self, maker):
        root = maker.record()
        self.same_as(root, self.mpk(maker, root))

    def by_json(self, maker):
        root = maker.record()
        self.same_as(root, self.json(maker, root))

    def precision(self, maker):
        root = records.each_tensor(maker.record(), lambda t: t if t.kind == "float" else Tensor("f64", t.shape, [float(v) for v in t.values], t.id))
        source = self.mpk(maker, root)
        for precision in ("half", "full", "double"):
            target = self.new("out.mpk")
            self.convert("--precision", precision, source, target)
            compare(f"{source} at {precision}", records.each_tensor(root, lambda t, p=precision: t.at(p)), self.read(target))

    def damaged(self, maker):
        root = maker.fields(2)
        kind = maker.random.choice(["mpk", "json"])
        path = self.mpk(maker, root) if kind == "mpk" else self.json(maker, root)
        with open(path, "rb") as file:
            data = bytearray(file.read())
        # Behind the metadata, which say how all that follows is read.
        behind = data.find(b"item") + 4
        for _ in range(maker.random.randint(1, 3)):
            at = maker.random.randrange(behind, len(data))
            how = maker.random.randrange(4)
            if how == 0:
                data[at] ^= 1 << maker.random.randrange(8)
            elif how == 1:
                data[at] = maker.random.randrange(256)
            elif how == 2:
                del data[at]
            else:
                data.insert(at, maker.random.randrange(256))
        path = self.write("damaged." + kind, bytes(data))
        target = self.new("out.mpk")
        try:
            self.convert(path, target)
        except Failure:
            self.refused += 1
            return
        self.taken += 1
        try:
            msgpack.unpackb(bytes(data), raw=True, strict_map_key=False) if kind == "mpk" else json.loads(data)
        except (ValueError, msgpack.exceptions.UnpackException) as error:
            raise Failure(f"{path}: librecord takes it, Python says {type(error).__name__}: {error}") from error
        try:
            expected = self.read(path)
        except (ValueError, KeyError, TypeError, AttributeError, struct.error):
            return # nothing is wrong with the file, but what should be a tensor is none: here is no other opinion on that
        compare(f"{path}, damaged", expected, self.read(target))

    def safetensors(self, maker):
        tensors = maker.flat()
        source = self.new("in.safetensors")
        safetensors.numpy.save_file({k: array(t) for k, t in tensors.items()}, source, {"note": maker.text()})
        target = self.new("out.mpk")
        self.convert("--adapter", "none", source, target)
        self.holds(f"{source} as mpk", tensors, records.leaves(self.read(target)), "mpk")
        back = self.new("out.safetensors")
        self.convert(target, back)
        self.holds(f"{target} as safetensors", tensors, safetensors.numpy.load_file(back), "safetensors")

    def numpy(self, maker):
        tensors = maker.flat()
        source = self.new("in.npz")
        (numpy.savez if maker.chance(0.7) else numpy.savez_compressed)(source, **{k: self.any_order(maker, array(t))
                                                                                 for k, t in tensors.items()})
        target = self.new("out.mpk")
        self.convert("--adapter", "none", source, target)
        self.holds(f"{source} as mpk", tensors, records.leaves(self.read(target)), "mpk")
        back = self.new("out.npz")
        self.convert(target, back)
        with numpy.load(back, allow_pickle=False) as found:
            self.holds(f"{target} as npz", tensors, dict(found.items()), "npz")

    @staticmethod
    def any_order(maker, values):
        if maker.chance(0.4):
            values = values.astype(values.dtype.newbyteorder(">"))
        return numpy.asfortranarray(values) if maker.chance(0.4) and values.ndim else values

    @staticmethod
    def holds(what, tensors, found, kind):
        if kind != "mpk":
            found = {k: Tensor(name_of(v.dtype), v.shape, v.ravel().tolist()) for k, v in found.items()}
        else:
            found = {k: Tensor(t.dtype, t.shape, t.values) for k, t in found.items()}
        different = records.leaf_differences(dict(sorted(tensors.items())), dict(sorted(found.items())))
        if different:
            raise Failure(f"{what}: {len(different)} differences\n" + "\n".join(different[:8]))

    def burn(self, maker):
        """Through every Burn that is there, in each of its formats."""
        name = maker.random.choice(["tiny", "zoo", "plain", "adam"])
        root = maker_of_case(maker, self.options.cases[name].twin("full").root)
        source = self.mpk(maker, root)
        for burn in self.options.burns:
            wanted = without_nil(bridge.as_double(bridge.with_ids(
                bridge.with_ids(root, lambda ident, b=burn: bridge.id_for(ident, b.minor)), burn.id_back)))
            for recorder, more in (("mpk", ()), ("json", ()), ("bin", ("--types", self.options.types, "--type", bridge.TYPES[name]))):
                target = self.new("out." + recorder)
                self.convert("--burn", f"0.{burn.minor}", "--precision", "full", *more, source, target)
                found = burn.read(name, target, recorder, "full", self.new("read.mpk"))
                found = without_nil(found)
                compare(f"{source} as {recorder} in Burn {burn.version}", read_nearly(wanted, found) if recorder == "json" else wanted,
                        found, ordered=False)


def with_singles(node, found):
    """A tree with what was found for each f32 that it reads back as."""
    if isinstance(node, Single) and isinstance(found, float) and records.rounded(found, "f32") == node:
        return found
    if isinstance(node, dict) and isinstance(found, dict):
        return {k: with_singles(v, found.get(k)) for k, v in node.items()}
    if isinstance(node, list) and isinstance(found, list) and len(node) == len(found):
        return [with_singles(v, w) for v, w in zip(node, found)]
    return node


def read_nearly(node, found):
    """A tree with what was found for each f64 that it is next to: Burn's serde_json reads a decimal to within one unit."""
    if isinstance(node, float) and isinstance(found, float) and found in (math.nextafter(node, math.inf), math.nextafter(node, -math.inf)):
        return found
    if isinstance(node, dict) and isinstance(found, dict):
        return {k: read_nearly(v, found.get(k)) for k, v in node.items()}
    if isinstance(node, list) and isinstance(found, list) and len(node) == len(found):
        return [read_nearly(v, w) for v, w in zip(node, found)]
    return node


def maker_of_case(maker, node, name=""):
    """A record of the same type: shapes, elements, numbers and words are others. A number in JSON is one that is finite,
    and Burn 0.14 and 0.15 do not load empty tensors."""
    if isinstance(node, Tensor):
        shape = [maker.random.randint(1, 5) for _ in node.shape]
        return Tensor(node.dtype, shape, [maker.element(node.dtype, finite=True) for _ in range(math.prod(shape))], node.id)
    if isinstance(node, dict):
        return {k: maker_of_case(maker, v, k) for k, v in node.items()}
    if isinstance(node, list):
        return [maker_of_case(maker, v, name) for v in node]
    if isinstance(node, float):
        return maker.element("f32" if name in records.SINGLES else "f64", finite=True)
    return node


def array(tensor):
    letter, kind = records.DTYPES[tensor.dtype]
    return numpy.frombuffer(tensor.pack(), "<?" if kind == "bool" else "<" + {"q": "i8", "Q": "u8"}.get(letter, letter)).reshape(tensor.shape)


def name_of(dtype):
    return "bool" if dtype.kind == "b" else dtype.kind + str(8 * dtype.itemsize)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", help="one of the tests, by name")
    parser.add_argument("--types", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "types.rs"))
    parser.add_argument("--burn", action="append", default=[])
    parser.add_argument("--require", action="store_true", help="a skip is a failure")
    parser.add_argument("--keep", help="where files go of a record that failed")
    parser.add_argument("record")
    options = parser.parse_args()
    options.burns = [bridge.Burn(*word.split("=", 1), msgpack) for word in options.burn]
    tests = [("msgpack", msgpack, "Python's msgpack is not installed"), ("by_json", msgpack, "Python's msgpack is not installed"),
             ("precision", msgpack, "Python's msgpack is not installed"), ("damaged", msgpack, "Python's msgpack is not installed"),
             ("safetensors", numpy and safetensors and msgpack, "Python's safetensors, msgpack or NumPy is not installed"),
             ("numpy", numpy and msgpack, "NumPy or Python's msgpack is not installed"),
             ("burn", options.burns and msgpack, "no real Burn is built")]
    golden = os.path.join(os.path.dirname(options.types), "..", "data", "burn", "0.21.0")
    options.cases = {name: Case(name, "0.21.0", os.path.join(golden, name + "-{precision}.{ext}")) for name in ("tiny", "zoo", "plain", "adam")}
    seed, _, number = options.seed.partition(".")
    numbers = [int(number)] if number else range(options.count)
    tests = [test for test in tests if options.only in (None, test[0])]
    status = 0
    for at, (name, there, why) in enumerate(tests, 1):
        if not there:
            print(f"{'not ok' if options.require else 'ok'} {at} - random records: {name} # SKIP {why}", flush=True)
            status |= options.require
            continue
        failures = 0
        for i in numbers:
            with tempfile.TemporaryDirectory() as scratch:
                campaign = Campaign(options, scratch)
                try:
                    getattr(campaign, name)(Maker(f"{seed}.{i}.{name}"))
                except Skip:
                    pass
                except Failure as failure:
                    failures += 1
                    if failures <= 3:
                        print(f"# --only {name} --seed {seed}.{i}")
                        print("\n".join("#   " + line for line in str(failure).splitlines()[:14]))
                    if options.keep:
                        shutil.copytree(scratch, os.path.join(options.keep, f"{name}-{seed}.{i}"), dirs_exist_ok=True)
        status |= failures > 0
        print(f"{'not ok' if failures else 'ok'} {at} - random records: {name}, {len(numbers)} of them from seed {seed}"
              + (f", {failures} failed" if failures else ""), flush=True)
    print(f"1..{len(tests)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
