#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The golden files of tests/data/gguf, and judging ours, by the package gguf of llama.cpp.

gguf_files.py make FOLDER         writes the golden files
gguf_files.py check FILE EXPECTED reads FILE as llama.cpp's package does and compares names, shapes, types, bytes and metadata with
                            EXPECTED, another GGUF file; prints what differs
gguf_files.py judge RECORD FOLDER converts the golden files with the command, and judges what it wrote; prints a line a test
gguf_files.py numbers FILE OUT    writes what the package makes of the elements of FILE, as f32, to the safetensors file OUT
"""
import json
import struct
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, quants

BLOCKS = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "TQ2_0", "MXFP4",
          "IQ1_S", "IQ2_XXS", "TQ1_0", "IQ1_M", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "NVFP4"]

if "Q2_0" not in GGMLQuantizationType.__members__:  # of ggml since gguf-py 0.19
    new = int.__new__(GGMLQuantizationType, 42)
    new._name_, new._value_ = "Q2_0", 42
    GGMLQuantizationType._member_map_["Q2_0"] = GGMLQuantizationType._value2member_map_[42] = new
    GGML_QUANT_SIZES[new] = (64, 18)


def q8_k(blocks):
    """A scale in f32, 256 bytes with signs, 16 sums of them in 16 bits that only products need."""
    return blocks[:, :4].copy().view("<f4") * blocks[:, 4:260].view("i1").astype("<f4")


def q1_0(blocks):
    """A scale in f16 and 128 bits, the lowest of a byte first: the scale where it is set, minus the scale where not."""
    scale = blocks[:, :2].copy().view("<f2").astype("<f4")
    return np.where(np.unpackbits(blocks[:, 2:], axis=1, bitorder="little") == 1, scale, -scale)


def q2_0(blocks):
    """A scale in f16 and 64 codes of two bits, the lowest of a byte first: -1, 0, 1 and 2 times the scale."""
    scale = blocks[:, :2].copy().view("<f2").astype("<f4")
    codes = np.stack([blocks[:, 2:] >> shift & 3 for shift in (0, 2, 4, 6)], axis=2)
    return scale * (codes.reshape(len(blocks), 64).astype("<f4") - 1)


# Types that the package knows and cannot decode, by ggml's definitions in ggml-common.h and ggml-quants.c.
OURS = {"Q8_K": q8_k, "Q1_0": q1_0, "Q2_0": q2_0}


def decoded(data, kind):
    """The numbers of rows of blocks."""
    if kind.name not in OURS:
        return quants.dequantize(data, kind)
    return OURS[kind.name](data.reshape(-1, GGML_QUANT_SIZES[kind][1])).reshape(len(data), -1)


def finite_blocks(rng, kind, rows, blocks):
    """Random blocks whose numbers are finite in f32."""
    size = GGML_QUANT_SIZES[kind][1]
    raw = rng.integers(0, 256, size=(rows, blocks * size), dtype=np.uint8)
    per_block = raw.reshape(-1, size)
    for i in range(len(per_block)):
        while not np.isfinite(decoded(per_block[i : i + 1], kind)).all():
            per_block[i] = rng.integers(0, 256, size=size, dtype=np.uint8)
    return raw


def add_blocks(writer, rng, rows, blocks):
    for name in BLOCKS + list(OURS):
        kind = GGMLQuantizationType[name]
        writer.add_tensor(f"blocks.{name}", finite_blocks(rng, kind, rows, blocks), raw_dtype=kind)


def many(path):
    """Enough blocks that nearly every entry of each codebook is used."""
    np.seterr(all="ignore")
    writer = GGUFWriter(path, "test")
    add_blocks(writer, np.random.default_rng(30), 16, 16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make(folder):
    np.seterr(all="ignore")
    rng = np.random.default_rng(20220917)
    w = GGUFWriter(f"{folder}/types.gguf", "test")
    w.add_uint8("an.u8", 200)
    w.add_int8("an.i8", -100)
    w.add_uint16("an.u16", 60000)
    w.add_int16("an.i16", -30000)
    w.add_uint32("an.u32", 4000000000)
    w.add_int32("an.i32", -2000000000)
    w.add_uint64("an.u64", 2**64 - 1)
    w.add_int64("an.i64", -(2**63))
    w.add_float32("an.f32", 0.1)
    w.add_float64("an.f64", 0.1)
    w.add_bool("a.bool", True)
    w.add_string("a.string", "grün \u2603")
    w.add_array("an.array.of.strings", ["<s>", "", "▁the"])
    w.add_array("an.array.of.ints", [1, -2, 3, 2**31 - 1])
    w.add_array("an.array.of.floats", [0.5, -1000.0, 0.25])
    w.add_array("an.array.of.bools", [True, False, True])
    for kind, dtype in (("f32", np.float32), ("f16", np.float16), ("f64", np.float64)):
        w.add_tensor(f"plain.{kind}", rng.standard_normal((2, 3)).astype(dtype))
    for kind, dtype in (("i8", np.int8), ("i16", np.int16), ("i32", np.int32), ("i64", np.int64)):
        w.add_tensor(f"plain.{kind}", rng.integers(-100, 100, size=(2, 1, 3)).astype(dtype))
    bf16 = (rng.standard_normal((3, 4)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    w.add_tensor("plain.bf16", bf16.view(np.uint8), raw_dtype=GGMLQuantizationType.BF16)
    add_blocks(w, rng, 2, 1)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    split = GGUFWriter(f"{folder}/split.gguf", "test", split_max_tensors=2)
    split.add_string("general.name", "split")
    for i in range(5):
        split.add_tensor(f"t.{i}", np.full((i + 1,), i, dtype=np.float32))
    split.write_header_to_file()
    split.write_kv_data_to_file()
    split.write_tensors_to_file()
    split.close()


def value(field):
    def part(i):
        p = field.parts[i]
        return bytes(p).decode() if field.types[-1] == GGUFValueType.STRING else p[0].item()

    if field.types and field.types[0] == GGUFValueType.ARRAY:
        return [part(i) for i in field.data]
    return part(field.data[0])


def entries(reader):
    return {
        f.name: ([t.name for t in f.types], value(f)) for f in reader.fields.values() if not f.name.startswith("GGUF.")
    }


def check(path, expected):
    a, b = GGUFReader(path), GGUFReader(expected)
    wrong = []
    x, y = entries(a), entries(b)
    wrong += [f"metadata {k}: {x.get(k)} for {y.get(k)}" for k in sorted(set(x) | set(y)) if x.get(k) != y.get(k)]
    s, t = {v.name: v for v in a.tensors}, {v.name: v for v in b.tensors}
    if list(s) != list(t):
        wrong.append(f"tensors: {list(s)} for {list(t)}")
    for name in set(s) & set(t):
        if s[name].tensor_type != t[name].tensor_type or list(s[name].shape) != list(t[name].shape):
            wrong.append(f"{name}: another type or shape")
        elif s[name].data.tobytes() != t[name].data.tobytes():
            wrong.append(f"{name}: other data")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def numbers(path, out):
    np.seterr(all="ignore")
    header, data = {}, b""
    for tensor in sorted(GGUFReader(path).tensors, key=lambda t: t.name):
        if tensor.tensor_type.name not in BLOCKS + list(OURS) + ["F32", "F16", "BF16"]:
            continue
        flat = decoded(tensor.data, tensor.tensor_type).astype("<f4").tobytes()
        shape = [int(n) for n in reversed(tensor.shape)]
        header[tensor.name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(flat)]}
        data += flat
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(out, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    return 0


# Types of metadata by their numbers: a name, how struct packs one, and values.
SCALARS = ((0, "u8", "B", (0, 255)), (1, "i8", "b", (-128, 127)), (2, "u16", "H", (0, 65535)), (3, "i16", "h", (-32768, 5)),
           (4, "u32", "I", (0, 4294967295)), (5, "i32", "i", (-(1 << 31), 7)), (6, "f32", "f", (0.1, -0.0, 3e38)),
           (7, "bool", "?", (True, False)), (10, "u64", "Q", (0, (1 << 64) - 1)), (11, "i64", "q", (-(1 << 63), 1)),
           (12, "f64", "d", (0.1, -0.0, 1e300)))
TEXTS = ("", "grün \u2603", "a\nb", "7")


def packed_text(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def every_entry():
    """Every type of metadata, alone and in arrays: a name and the bytes after it. The package does not write all of these."""
    yield "general.architecture", struct.pack("<I", 8) + packed_text("test")
    for number, name, code, numbers in SCALARS:
        for i, one in enumerate(numbers):
            yield f"one.{name}.{i}", struct.pack("<I" + code, number, one)
        for length in (0, 1, len(numbers), 5000):
            values = [numbers[i % len(numbers)] for i in range(length)]
            yield f"array.{name}.{length}", struct.pack(f"<IIQ{length}{code}", 9, number, length, *values)
    for i, text in enumerate(TEXTS):
        yield f"one.text.{i}", struct.pack("<I", 8) + packed_text(text)
    for length in (0, 1, 4, 5000):
        texts = b"".join(packed_text(TEXTS[i % 4]) for i in range(length))
        yield f"array.text.{length}", struct.pack("<IIQ", 9, 8, length) + texts


def write_every_entry(path):
    """A file with every type of metadata and the tensors of a Linear, which are one way in ggml's order."""
    metadata = list(every_entry())
    tensors = (("fc.weight", (4, 3)), ("fc.bias", (3,)))
    out = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    out += b"".join(packed_text(name) + data for name, data in metadata)
    at = 0
    for name, shape in tensors:
        out += packed_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, at)
        at += 64
    out += b"\0" * (-len(out) % 32)
    out += struct.pack("<12f", *range(12)) + bytes(16) + struct.pack("<3f", 7, 8, 9) + bytes(20)
    with open(path, "wb") as f:
        f.write(out)


def metadata_comes_back(run, told, work):
    """Every type of metadata through each format and back, with --reverse and without."""
    source = f"{work}/entries.gguf"
    write_every_entry(source)
    expected = entries(GGUFReader(source))
    for form in ("mpk", "json", "mpk.gz", "bpk", "safetensors", "gguf"):
        for way in ((), ("--reverse",), ("--adapter", "none")):
            between, back = f"{work}/between.{form}", f"{work}/back.gguf"
            reads = way if way == ("--adapter", "none") else ()
            if way == ("--reverse",) and form in ("safetensors", "gguf"):
                continue  # they are no records of Burn
            good = run("convert", "-q", "--force", *reads, source, between)
            good = good and run("convert", "-q", "--force", *way, between, back)
            found = entries(GGUFReader(back)) if good else {}
            found.pop("librecord.layout", None)
            wrong = sorted(k for k in expected.keys() | found.keys() if repr(found.get(k)) != repr(expected.get(k)))
            told(f"metadata come back through .{form} {' '.join(way)}", good and not wrong)
            for key in wrong[:5] if good else ():
                print(f"#   {key}: expected {repr(expected.get(key))[:80]}, found {repr(found.get(key))[:80]}")


def judge(record, folder):
    import filecmp
    import os
    import subprocess
    import tempfile

    bad = 0
    with tempfile.TemporaryDirectory() as work:

        def run(*arguments):
            return subprocess.run([record, *arguments], capture_output=True, check=False).returncode == 0

        def told(name, good):
            nonlocal bad
            bad += not good
            print(("ok" if good else "not ok") + " - GGUF: " + name)

        metadata_comes_back(run, told, work)
        types, again, fresh = f"{folder}/types.gguf", f"{work}/again.gguf", f"{work}/fresh"
        told("written as it was read", run("convert", "-q", types, again) and check(again, types) == 0)
        os.mkdir(fresh)
        make(fresh)
        told("the golden file is what the package writes", filecmp.cmp(f"{fresh}/types.gguf", types, False))
        numbers(types, f"{work}/numbers.safetensors")
        told("its numbers are those of the package",
             filecmp.cmp(f"{work}/numbers.safetensors", f"{folder}/types.numbers.safetensors", False))
        whole = f"{work}/whole.gguf"
        good = run("convert", "-q", f"{folder}/split-00001-of-00003.gguf", whole)
        told("a model in three files becomes one", good and len(GGUFReader(whole).tensors) == 5)
        many(f"{work}/many.gguf")
        for file, precision, kind in ((types, "full", "F32"), (types, "half", "F16"), (f"{work}/many.gguf", "full", "F32")):
            out = f"{work}/{precision}-{os.path.basename(file)}"
            good = run("convert", "-q", "--precision", precision, file, out)
            found = {t.name: t for t in GGUFReader(out).tensors} if good else {}
            source = {t.name: t for t in GGUFReader(file).tensors}
            for name in BLOCKS + list(OURS):
                tensor = source[f"blocks.{name}"]
                with np.errstate(all="ignore"):
                    want = decoded(tensor.data, tensor.tensor_type).astype("<f4" if kind == "F32" else "<f2")
                mine = found.get(tensor.name)
                told(f"{len(tensor.data)} rows of {name} at {precision} precision",
                     mine is not None and mine.tensor_type.name == kind and mine.data.tobytes() == want.tobytes())
    return 1 if bad else 0


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    sys.exit({"make": make, "check": check, "numbers": numbers, "judge": judge}[what](*rest) or 0)
