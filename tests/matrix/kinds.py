# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every kind of value that a record can hold, at a size, and the MessagePack record that holds them.

A value is None, a bool, int, float, F32, str, bytes, list, dict or Tensor of Python. packed() and record_of() encode
them as Burn 0.21 does.
"""
import functools
import math
import re
import struct


class F32(float):
    """A float of 32 bits. Its values are exact in both widths."""


class Tensor:
    """A tensor: the command's and Burn's name of its element type, shape, little-endian data, and the id of a
    parameter."""

    def __init__(self, dtype, burn, shape, data, identity=None):
        self.dtype, self.burn, self.shape, self.data, self.id = dtype, burn, shape, data, identity


# ---------------------------------------------------------------------------------------------------------- MessagePack


def head(most, first, wide, size):
    """What stands before `size` bytes or items: one byte for at most `most`, else a code and that many bytes of a
    number."""
    if size <= most:
        return bytes([first + size])
    code, width = next((code, width) for code, width in wide if size < 1 << 8 * width)
    return bytes([code]) + size.to_bytes(width, "big")


def pack_integer(value):
    if -32 <= value < 128:
        return value.to_bytes(1, "big", signed=value < 0)
    signed = value < 0
    width = next(width for width in (1, 2, 4, 8)
                 if (value >= -(1 << 8 * width - 1) if signed else value < 1 << 8 * width))
    return bytes([(0xD0 if signed else 0xCC) + width.bit_length() - 1]) + value.to_bytes(width, "big", signed=signed)


def pack_tensor(value):
    bare = {"bytes": value.data, "shape": value.shape, "dtype": value.burn}
    return bare if value.id is None else {"id": value.id, "param": bare}


def pack(value, out):
    """Appends a value to a bytearray."""
    if value is None or isinstance(value, bool):
        out.append({None: 0xC0, False: 0xC2, True: 0xC3}[value])
    elif isinstance(value, int):
        out += pack_integer(value)
    elif isinstance(value, F32):
        out += b"\xca" + struct.pack(">f", value)
    elif isinstance(value, float):
        out += b"\xcb" + struct.pack(">d", value)
    elif isinstance(value, str):
        text = value.encode()
        out += head(31, 0xA0, ((0xD9, 1), (0xDA, 2), (0xDB, 4)), len(text)) + text
    elif isinstance(value, bytes):
        out += head(-1, 0, ((0xC4, 1), (0xC5, 2), (0xC6, 4)), len(value)) + value
    elif isinstance(value, list):
        out += head(15, 0x90, ((0xDC, 2), (0xDD, 4)), len(value))
        for item in value:
            if isinstance(item, (int, str)) or (isinstance(item, float) and item):  # zero is equal to minus zero
                out += packed_scalar(item)
            else:
                pack(item, out)
    elif isinstance(value, dict):
        out += head(15, 0x80, ((0xDE, 2), (0xDF, 4)), len(value))
        for key, item in value.items():
            pack(key, out)
            pack(item, out)
    else:
        pack(pack_tensor(value), out)


METADATA = {"float": "f32", "int": "i32", "format": "burn_core::record::file::NamedMpkFileRecorder",
            "version": "0.21.0", "settings": "burn_core::record::settings::FullPrecisionSettings"}


def packed(value):
    out = bytearray()
    pack(value, out)
    return bytes(out)


@functools.lru_cache(maxsize=4096, typed=True)
def packed_scalar(value):
    """packed() of an item of a list: long lists repeat few items."""
    return packed(value)


def map_of(item):
    """A map of names to values that are packed already."""
    return head(15, 0x80, ((0xDE, 2), (0xDF, 4)), len(item)) + b"".join(packed(name) + item[name] for name in item)


def record_of(item):
    """A record of Burn whose root is map_of(item)."""
    return map_of({"metadata": packed(METADATA), "item": map_of(item), "_b": packed([])})


# ------------------------------------------------------------------------------------------------------------ the kinds

# The command's name of an element type, Burn's, and the code of module struct; bf16 has none.
DTYPES = (("f64", "F64", "d"), ("f32", "F32", "f"), ("flex32", "Flex32", "f"), ("f16", "F16", "e"),
          ("bf16", "BF16", ""),
          ("i64", "I64", "q"), ("i32", "I32", "i"), ("i16", "I16", "h"), ("i8", "I8", "b"), ("u64", "U64", "Q"),
          ("u32", "U32", "I"), ("u16", "U16", "H"), ("u8", "U8", "B"), ("bool", {"Bool": "Native"}, "?"),
          ("bool8", {"Bool": "U8"}, "?"), ("bool32", {"Bool": "U32"}, "I"))
PERIOD = 240  # elements after which they repeat; all fit each type


def elements(dtype, code, count):
    if dtype.startswith("bool"):
        one = [i % 3 == 1 for i in range(PERIOD)]
    elif code in ("d", "f", "e", ""):
        one = [i / 8 - 4 for i in range(PERIOD)]
    else:
        one = [i - 120 if code.islower() else i for i in range(PERIOD)]
    if code:
        data = struct.pack(f"<{PERIOD}{code}", *one)
    else:
        data = b"".join(struct.pack("<f", number)[2:] for number in one)
    width = len(data) // PERIOD
    return (data * (count // PERIOD + 1))[: count * width]


def tensor(dtype, burn, code, shape, identity=None):
    return Tensor(dtype, burn, shape, elements(dtype, code, math.prod(shape)), identity)


def text(size):
    """A string of so many bytes, with characters of one to four bytes and those that JSON escapes."""
    whole = ("aé€🛰\\\"\n\x07" * (size // 14 + 1)).encode()[:size].decode(errors="ignore")
    return whole + "." * (size - len(whole.encode()))


def cycle(one, size):
    return (one * (size // len(one) + 1))[:size]


SCALARS = {"nil": None, "bool": True, "int": -(1 << 63), "uint": (1 << 64) - 1, "float": 0.1, "float_f32": F32(0.375),
           "float_nan": math.nan, "float_inf": -math.inf, "float_zero": -0.0}
SCHEME = {"value": "Q8S", "param": "F32", "store": "Native", "level": "Tensor", "mode": "Symmetric"}


def values(size):
    """Functions that make the kinds that are no tensors, with `size` bytes, numbers, items or entries."""
    return {
        "string": lambda: text(size),
        "bytes": lambda: cycle(bytes(range(256)), size),
        "numbers_u8": lambda: cycle(list(range(256)), size),
        "numbers_u16": lambda: cycle([0, 40000, 65535], size),
        "numbers_u32": lambda: cycle([0, 70000, (1 << 32) - 1], size),
        "numbers_u64": lambda: cycle([0, (1 << 63) - 1, (1 << 64) - 1], size),
        "numbers_i8": lambda: cycle([-1, 127, -128], size),
        "numbers_i16": lambda: cycle([-1, 32767, -32768], size),
        "numbers_i32": lambda: cycle([-1, (1 << 31) - 1, -(1 << 31)], size),
        "numbers_i64": lambda: cycle([-1, (1 << 63) - 1, -(1 << 63)], size),
        "numbers_f32": lambda: cycle([F32(0.5), F32(-1.25)], size),
        "numbers_f64": lambda: cycle([0.1, -2.5e300], size),
        "numbers_bool": lambda: cycle([True, False, False], size),
        "list": lambda: cycle(["one", 2, None, 0.5, [], {}], size),
        "list_strings": lambda: cycle(["a", "", "b.c"], size),
        "list_nested": lambda: [[1, [2, ["three"]]], cycle([[], [1, "a"]], size)],
        "list_bytes": lambda: [cycle(bytes(range(256)), size), b"", b"z"],
        "map": lambda: {f"k{i}": i for i in range(size)},
        "map_nested": lambda: {"a": {"b": {f"k{i}": [i, "x"] for i in range(size)}}, "c": {}, "d": 1},
        "map_mixed": lambda: {"a.b": cycle([1, "x"], size), "c d": None, "": 0.5},
    }


def tensors(size):
    """Bare tensors and parameters of each element type with `size` elements, and in other shapes."""
    kinds = {}
    for number, (dtype, burn, code) in enumerate(DTYPES):
        kinds[f"tensor_{dtype}"] = tensor(dtype, burn, code, [size])
        kinds[f"param_{dtype}"] = tensor(dtype, burn, code, [size], f"{number:012d}0")
    data = cycle(bytes(range(256)), size + 4)
    kinds["tensor_qfloat"] = Tensor("qfloat", {"QFloat": SCHEME}, [size], data)
    kinds["tensor_opaque"] = Tensor("Complex64", "Complex64", [size], cycle(data, 8 * size))
    kinds["tensor_rank0"] = tensor("f32", "F32", "f", [])
    kinds["tensor_empty"] = tensor("f32", "F32", "f", [0, 3])
    kinds["tensor_rank3"] = tensor("f32", "F32", "f", [1, size, 2])
    return kinds


# From these sizes on, only the kinds whose names match: the others would cost much and tell nothing new.
FEWER = ((258, "(?!list$|list_nested|map_nested|map_mixed).*"),
         (4098, "nil|string|bytes|numbers_(u8|i64|f64)|list_bytes|tensor_(f32|bf16|u8|bool|qfloat|rank0)|"
                "param_f32"),
         (65538, "string|bytes|list_bytes|tensor_(u8|f32|rank0)|param_u8"))


def is_at(name, size):
    """Whether a record of this size holds a kind. Lists of nothing are the same, whatever they would hold."""
    if size == 0 and re.fullmatch("numbers_.*|list|list_strings|map", name):
        return False
    return all(size < first or re.fullmatch(pattern, name) for first, pattern in FEWER)


def at(size):
    """The kinds of a record of this size."""
    kinds = {**SCALARS, **{name: make() for name, make in values(size).items() if is_at(name, size)}, **tensors(size)}
    kinds = {name: value for name, value in kinds.items() if is_at(name, size)}
    return kinds if size else {**kinds, "list_empty": [], "map_empty": {}}
