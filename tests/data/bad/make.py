#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the bad inputs of this folder: one file a mistake, by hand. Python's standard library is enough.

    ./make.py             writes FORMAT/CASE.EXTENSION
    ./make.py --expected  writes FORMAT/CASE.expected too, with the messages that `record` gives now: to be read by a
                          person, line by line, before they are committed. RECORD names the command.
"""
import os
import pathlib
import struct
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent

# ------------------------------------------------------------------------------------------------------ MessagePack --


class Raw(bytes):
    """Bytes that are put in as they are."""


class Map(list):
    """Pairs, of which keys may come twice."""


def pack(value):
    if isinstance(value, Raw):
        return bytes(value)
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if 0 <= value < 128:
            return bytes([value])
        if value < 0:
            return b"\xd3" + struct.pack(">q", value)
        for code, form in ((0xCC, "B"), (0xCD, "H"), (0xCE, "I"), (0xCF, "Q")):
            if value < 1 << 8 * struct.calcsize(form):
                return bytes([code]) + struct.pack(">" + form, value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return (bytes([0xA0 + len(data)]) if len(data) < 32 else b"\xd9" + bytes([len(data)])) + data
    if isinstance(value, bytes):
        return b"\xc4" + bytes([len(value)]) + value
    if isinstance(value, Map):
        head = bytes([0x80 + len(value)]) if len(value) < 16 else b"\xde" + struct.pack(">H", len(value))
        return head + b"".join(pack(k) + pack(v) for k, v in value)
    if isinstance(value, dict):
        return pack(Map(value.items()))
    head = bytes([0x90 + len(value)]) if len(value) < 16 else b"\xdc" + struct.pack(">H", len(value))
    return head + b"".join(pack(v) for v in value)


NAMES = {"double": ("f64", "i64", "Double"), "full": ("f32", "i32", "Full"), "half": ("half::binary16::f16", "i16", "Half")}


def metadata(version="0.21.0", precision="full"):
    floats, ints, settings = NAMES[precision]
    return {"float": floats, "int": ints, "format": "by hand", "version": version,
            "settings": settings + "PrecisionSettings"}


def record(item, **about):
    return pack({"metadata": metadata(**about), "item": item, "_b": []})


def tensor(data=bytes(8), shape=(2,), dtype="F32"):
    return {"bytes": data, "shape": list(shape) if isinstance(shape, tuple) else shape, "dtype": dtype}


def param(value):
    """In a place that a model has."""
    return {"fc1": {"weight": {"id": "0123456789abc", "param": value}, "bias": None}}


def until(data, what, after=0):
    """The data up to and with some bytes, and a few more."""
    return data[: data.index(what) + len(what) + after]


# ------------------------------------------------------------------------------------------------------------- cases --

GOOD = record(param(tensor()))
SMALLEST = record(None)
V1 = {"version": "0.13.2"}

MPK = {
    # Not a record at all.
    "empty": b"",
    "text": b"hello, world\n",
    "json": b'{\n  "metadata": {\n    "float": "f32"\n  },\n  "item": null\n}\n',
    "json-list": b"[1, 2, 3]\n",
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "pytorch": b"PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0archive/data.pkl",
    "pickle": b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.",
    "safetensors": struct.pack("<Q", 64)
    + b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'.ljust(64)
    + bytes(8),
    "burnpack": b"NRUB\x01\x00\x40\x00\x00\x00\xa2gtensors\xa0hmetadata\xa0".ljust(80, b"\0"),
    "hdf5": b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0",
    "zeros": bytes(64),
    "ones": b"\xff" * 64,
    "nil": b"\xc0",
    "number": b"\x05",
    "list": pack([1, 2]),
    "string": pack("a record"),
    "byte-that-begins-nothing": b"\xc1",
    # A map, but not a record.
    "map-empty": pack({}),
    "map-of-other-things": pack({"model": {}, "optimizer": {}}),
    "no-metadata": pack({"item": 1, "_b": []}),
    "no-item": pack({"metadata": metadata(), "_b": []}),
    "burn-0.6": pack({"StateNamed": {"fc1": {"StateNamed": {}}}}),
    "metadata-nil": pack({"metadata": None, "item": 1}),
    "metadata-list": pack({"metadata": [1, 2], "item": 1}),
    "metadata-number": pack({"metadata": {**metadata(), "version": 21}, "item": 1}),
    "metadata-number-key": pack({"metadata": {"float": "f32", 7: "x"}, "item": 1}),
    "metadata-map": pack({"metadata": {"float": {"a": "b"}}, "item": 1}),
    # Cut short.
    "cut-map": SMALLEST[:1],
    "cut-map-header": b"\xdf\x00\x00",
    "cut-key": until(GOOD, b"metad"),
    "cut-metadata": until(GOOD, b"0.21.0"),
    "cut-after-key": until(GOOD, b"item"),
    "cut-id": until(GOOD, b"01234"),
    "cut-bytes-header": until(GOOD, b"\xc4"),
    "cut-bytes": until(GOOD, b"\xc4\x08", 3),
    "cut-shape": until(GOOD, b"shape\x91"),
    "cut-dtype": until(GOOD, b"dtype"),
    "cut-last-byte": GOOD[:-1],
    "cut-float": until(record({"rate": 0.5}), b"\xcb", 4),
    "cut-integer": until(record({"steps": 70000}), b"\xce", 2),
    "cut-long-string-header": until(record({"a": "x" * 40}), b"\xd9"),
    "cut-list-header": until(record({"a": list(range(20))}), b"\xdc", 1),
    "cut-numbers": until(record({"a": {"b": list(range(20))}}), b"\xdc\x00\x14", 5),
    # Parameters that are none.
    "shape-strings": record(param(tensor(shape=["2"]))),
    "shape-floats": record(param(tensor(shape=[2.0]))),
    "shape-negative": record(param(tensor(shape=[-2]))),
    "shape-bools": record(param(tensor(shape=[True]))),
    "shape-number": record(param(tensor(shape=2))),
    "shape-nil": record(param(tensor(shape=None))),
    "shape-overflow": record(param(tensor(shape=[1 << 40, 1 << 40]))),
    "shape-bytes-overflow": record(param(tensor(shape=[1 << 62, 1]))),
    "shape-rank-33": record(param(tensor(shape=[1] * 33))),
    "bytes-short": record(param(tensor(data=bytes(7)))),
    "bytes-long": record(param(tensor(data=bytes(9)))),
    "bytes-of-no-element": record(param(tensor(shape=[0]))),
    "bytes-string": record(param(tensor(data="12345678"))),
    "bytes-numbers": record(param(tensor(data=[0, 0, 256, 0, 0, 0, 0, 0]))),
    "bytes-nil": record(param(tensor(data=None))),
    "dtype-number": record(param(tensor(dtype=1))),
    "dtype-nil": record(param(tensor(dtype=None))),
    "bare-bytes-short": record({"moment": tensor(data=bytes(4))}),
    "v1-count": record(param({"value": [1.0, 2.0, 3.0], "shape": [2, 2]}), **V1),
    "v1-strings": record(param({"value": ["1.0"], "shape": [1]}), **V1),
    "v1-bool-and-number": record(param({"value": [True, 1], "shape": [2]}), **V1),
    "v1-shape-strings": record(param({"value": [1.0], "shape": ["1"]}), **V1),
    "v1-shape-negative": record(param({"value": [1.0], "shape": [-1]}), **V1),
    "v1-integer-too-large": record(param({"value": [1 << 31, 0], "shape": [2]}), **V1),
    "v1-half-too-large": record(param({"value": [70000], "shape": [1]}), precision="half", **V1),
    # Keys.
    "twice": record({"fc1": Map([("weight", 1), ("bias", 2), ("weight", 3)])}),
    "twice-in-metadata": pack({"metadata": Map([("float", "f32"), ("float", "f64")]), "item": 1}),
    "twice-in-record": pack(Map([("metadata", metadata()), ("item", 1), ("item", 2)])),
    "twice-among-many": record({"blocks": Map([(f"k{i}", i) for i in range(20)] + [("k7", 0)])}),
    "twice-numbers": record({"states": Map([(5, 1), (5, 2)])}),
    "key-float": record({"fc1": {0.5: 1}}),
    "key-nil": record({"fc1": {None: 1}}),
    "key-bytes": record({"fc1": {b"ab": 1}}),
    "key-list": record({"fc1": Map([([1], 1)])}),
    "key-map": record({"fc1": Map([(Raw(b"\x80"), 1)])}),
    # Text.
    "utf8-value": record({"fc1": {"name": Raw(b"\xa4ab\xffc")}}),
    "utf8-key": record({"fc1": Map([(Raw(b"\xa3a\x80b"), 1)])}),
    "utf8-metadata": pack({"metadata": {"float": Raw(b"\xa2\xc3\x28")}, "item": 1}),
    "utf8-overlong": record({"name": Raw(b"\xa2\xc0\xaf")}),
    "utf8-surrogate": record({"name": Raw(b"\xa3\xed\xa0\x80")}),
    "utf8-cut": record({"name": Raw(b"\xa2a\xe2")}),
    # What MessagePack has and records have not.
    "ext-1": record({"fc1": {"when": Raw(b"\xd4\x01\x00")}}),
    "ext-time": record({"when": Raw(b"\xd6\xff\x00\x00\x00\x00")}),
    "ext-8": record({"when": Raw(b"\xc7\x02\x05ab")}),
    "ext-cut": until(record({"when": Raw(b"\xc7\x05\x05abcde")}), b"\xc7\x05\x05", 1),
    "unused-byte": record({"fc1": {"name": Raw(b"\xc1")}}),
    # Meant to harm.
    "deep-lists": record({"fc1": Raw(b"\x91" * 300 + b"\xc0")}),
    "deep-maps": record({"fc1": Raw(b"\x81\xa0" * 300 + b"\xc0")}),
    "count-list": record({"fc1": Raw(b"\xdd\xff\xff\xff\xff")}),
    "count-map": record({"fc1": Raw(b"\xdf\xff\xff\xff\xff")}),
    "count-string": record({"fc1": Raw(b"\xdb\xff\xff\xff\xff")}),
    "count-bytes": record({"fc1": Raw(b"\xc6\xff\xff\xff\xff")}),
    "count-nested": record({"fc1": Raw(b"\x93\x92\xdc\x00\x03\x00\x00\x00")}),
    "memory": record({"a": Raw(b"\xdd\x00\x00\x75\x30" + b"\x80" * 30000)}),
}


def gzip(data, crc=None, size=None, head=b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    crc = zlib.crc32(data) if crc is None else crc
    size = len(data) if size is None else size
    return head + packer.compress(data) + packer.flush() + struct.pack("<II", crc, size)


GOOD_GZ = gzip(GOOD)
PLAIN = bytes((i * 167 + 13) % 251 for i in range(3000))

MPK_GZ = {
    "empty": b"",
    "text": b"hello, world\n",
    "mpk": GOOD,
    "json": MPK["json"],
    "zip": MPK["pytorch"],
    "one-byte": b"\x1f",
    "magic-only": b"\x1f\x8b",
    "cut-header": GOOD_GZ[:7],
    "cut-data": GOOD_GZ[:60],
    "cut-checksum": GOOD_GZ[:-6],
    "cut-length": GOOD_GZ[:-1],
    "checksum": gzip(GOOD, crc=0x12345678),
    "length": gzip(GOOD, size=len(GOOD) + 1),
    "method": gzip(GOOD, head=b"\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\xff"),
    "flags": gzip(GOOD, head=b"\x1f\x8b\x08\xe0\x00\x00\x00\x00\x00\xff"),
    "block": GOOD_GZ[:10] + b"\xff\xff\xff\xff" + GOOD_GZ[14:],
    "tail": GOOD_GZ + b"tail",
    "second-member-cut": GOOD_GZ + GOOD_GZ[:20],
    "of-nothing": gzip(b""),
    "of-text": gzip(b"hello, world\n"),
    "of-json": gzip(MPK["json"]),
    "of-gzip": gzip(GOOD_GZ),
    "of-cut-record": gzip(GOOD[:-1]),
    "of-bad-tensor": gzip(MPK["bytes-short"]),
    "of-memory": gzip(MPK["memory"] + PLAIN),
    "long-tensor": gzip(record(param(tensor(data=Raw(b"\xc5\x0b\xb8" + PLAIN), shape=[751])))),
}

FORMATS = {"mpk": ("mpk", MPK), "mpk-gz": ("mpk.gz", MPK_GZ)}


def expected(path, recorder):
    command = [os.environ.get("RECORD", "record"), "info", "--from", recorder, str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode != 2 or not told.stderr.startswith("record: "):
        sys.exit(f"{path}: was not refused\n{told.stdout}{told.stderr}")
    return told.stderr[len("record: "):].replace(str(path), "FILE")


def main():
    for name, (extension, cases) in FORMATS.items():
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        for case, data in cases.items():
            path = folder / f"{case}.{extension}"
            path.write_bytes(data)
            if "--expected" in sys.argv[1:]:
                (folder / f"{case}.expected").write_text(expected(path, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
