# SPDX-License-Identifier: MIT OR Apache-2.0
"""Burn's records as Python values: read from Burn's JSON, rounded, laid out for MessagePack, compared. No imports
but the standard library's.

A record is a tree of dicts, lists, scalars and Tensor. Nothing here knows librecord: it is the other opinion.
"""
import base64
import gzip
import json
import math
import struct

# dtype -> (struct letter, kind)
DTYPES = {
    "f64": ("d", "float"), "f32": ("f", "float"), "flex32": ("f", "float"), "f16": ("e", "float"),
    "i64": ("q", "int"), "i32": ("i", "int"), "i16": ("h", "int"), "i8": ("b", "int"),
    "u64": ("Q", "int"), "u32": ("I", "int"), "u16": ("H", "int"), "u8": ("B", "int"),
    "bool": ("B", "bool"),
}
PRECISIONS = {
    "full": {"float": "f32", "int": "i32"},
    "double": {"float": "f64", "int": "i64"},
    "half": {"float": "f16", "int": "i16"},
}
# the only f32 among the scalars of all cases; its decimal in JSON is the shortest that reads back as f32
SINGLES = {"single"}


class Tensor:
    """Elements are Python floats, ints or bools."""

    def __init__(self, dtype, shape, values, ident=None):
        self.dtype, self.shape, self.values, self.id = dtype, list(shape), values, ident
        if math.prod(self.shape) != len(values):
            raise ValueError(f"shape {shape} with {len(values)} elements")

    @property
    def kind(self):
        return DTYPES[self.dtype][1]

    def pack(self):
        return pack(self.dtype, self.values)

    def at(self, precision):
        """The same at another precision; "keep" and bools stay."""
        dtype = PRECISIONS.get(precision, {}).get(self.kind, self.dtype)
        return Tensor(dtype, self.shape, [rounded(v, dtype) for v in self.values], self.id)


def pack(dtype, values):
    letter = DTYPES[dtype][0]
    return struct.pack(f"<{len(values)}{letter}", *values)


def unpack(dtype, data):
    letter, kind = DTYPES[dtype]
    size = struct.calcsize(f"<{letter}")
    values = list(struct.unpack(f"<{len(data) // size}{letter}", data))
    return [bool(v) for v in values] if kind == "bool" else values


def rounded(value, dtype):
    """A value as `dtype` holds it, to nearest even; what is too large becomes infinite."""
    letter, kind = DTYPES[dtype]
    if kind != "float":
        return value
    try:
        return struct.unpack(f"<{letter}", struct.pack(f"<{letter}", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


# ------------------------------------------------------------------------------------------------------ Burn's JSON

class Record:
    def __init__(self, metadata, root):
        self.metadata, self.root = metadata, root

    @property
    def version(self):
        return tuple(int(part) for part in self.metadata["version"].split(".")[:2])

    @property
    def precision(self):
        return self.metadata["settings"].replace("PrecisionSettings", "").lower()

    def at(self, precision):
        return Record(self.metadata, each_tensor(self.root, lambda t: t.at(precision)))


def each_tensor(node, change):
    if isinstance(node, Tensor):
        return change(node)
    if isinstance(node, dict):
        return {k: each_tensor(v, change) for k, v in node.items()}
    if isinstance(node, list):
        return [each_tensor(v, change) for v in node]
    return node


def load(path):
    """Reads a record that Burn wrote as .json or .json.gz. For V1 at half precision see load_twin()."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        raw = json.load(file)
    if list(raw) not in (["metadata", "item", "_b"], ["metadata", "item"]):
        raise ValueError(f"{path}: not a record: {list(raw)}")
    record = Record(raw["metadata"], None)
    record.root = build(raw["item"], record.precision)
    return record


def build(node, precision):
    if isinstance(node, dict):
        keys = set(node)
        if keys == {"id", "param"}:
            tensor = build(node["param"], precision)
            tensor.id = node["id"]
            return tensor
        if keys == {"bytes", "shape", "dtype"}:
            dtype = node["dtype"]
            dtype = next(iter(dtype)) if isinstance(dtype, dict) else dtype  # 0.21: {"Bool": "Native"}
            dtype = dtype.lower()
            return Tensor(dtype, node["shape"], unpack(dtype, bytes(node["bytes"])))
        if keys == {"value", "shape"}:
            return build_v1(node["value"], node["shape"], precision)
        return {k: build(v, precision) for k, v in node.items()}
    if isinstance(node, list):
        return [build(v, precision) for v in node]
    return node


def build_v1(value, shape, precision):
    """V1 has numbers instead of bytes. serde writes a float with a point, an int without; what is not finite is null,
    and nobody can say which it was: none of the cases has any, but for half precision, which has bit patterns."""
    if value and all(isinstance(v, bool) for v in value):
        return Tensor("bool", shape, value)
    if precision == "half":
        return Tensor("u16" if all(v >= 0 for v in value) else "i16", shape, value)
    kind = "int" if value and all(isinstance(v, int) for v in value) else "float"
    dtype = PRECISIONS[precision][kind]
    return Tensor(dtype, shape, [rounded(v, dtype) for v in value])


def load_twin(half_path, full_path):
    """V1 at half precision writes an f16 as its bit pattern, so the file does not say what is f16 and what i16: the
    full twin does. Its values, rounded, must be those bits."""
    half, full = load(half_path), load(full_path).at("half")
    bits, true = leaves(half.root), leaves(full.root)
    for path, tensor in true.items():
        other = bits[path]
        if isinstance(tensor, Tensor) and pack(tensor.dtype, tensor.values) != pack(other.dtype, other.values):
            raise ValueError(f"{half_path}: {path} is not the rounded full twin")
    return Record(half.metadata, full.root)


# -------------------------------------------------------------------------------------------------------- the tree

def escaped(name):
    return name.replace("\\", "\\\\").replace(".", "\\.")


def leaves(node, path="", out=None):
    """path -> Tensor or scalar, in order; an empty list or dict is a leaf of its own."""
    out = {} if out is None else out
    if isinstance(node, (dict, list)) and node:
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for name, item in items:
            name = escaped(str(name))
            leaves(item, f"{path}.{name}" if path else name, out)
    else:
        out[path] = node
    return out


def id_in_burn_021(ident):
    """The id that Burn 0.21 makes of one it reads: up to eight bytes in base32, filled up with zeros to eight. None
    for a UUID, which it hashes in a way that depends on the processor."""
    if ident is None or len(ident) > 13:
        return None
    padding = "=" * (-len(ident) % 8)
    return base32(base64.b32hexdecode(ident.upper() + padding).ljust(8, b"\0"))


def base32(raw):
    """Bytes as Burn spells ids."""
    return base64.b32hexencode(raw).decode().rstrip("=").lower()


def as_burn_021_reads(node):
    """Ids as Burn 0.21 gives them back; where they cannot be foreseen, "?" and maps by them become sorted lists."""
    if isinstance(node, Tensor):
        return Tensor(node.dtype, node.shape, node.values, node.id and (id_in_burn_021(node.id) or "?"))
    if isinstance(node, list):
        return [as_burn_021_reads(v) for v in node]
    if not isinstance(node, dict):
        return node
    if not is_by_id(node):
        return {k: as_burn_021_reads(v) for k, v in node.items()}
    if any(id_in_burn_021(k) is None for k in node):
        return {"?": in_order(as_burn_021_reads(v) for v in node.values())}
    return {id_in_burn_021(k): as_burn_021_reads(v) for k, v in node.items()}


def forget_ids(node):
    """Of what Burn 0.21 read from UUIDs: every id is "?", maps by id are sorted lists."""
    if isinstance(node, Tensor):
        return Tensor(node.dtype, node.shape, node.values, node.id and "?")
    if isinstance(node, list):
        return [forget_ids(v) for v in node]
    if not isinstance(node, dict):
        return node
    if is_by_id(node):
        return {"?": in_order(forget_ids(v) for v in node.values())}
    return {k: forget_ids(v) for k, v in node.items()}


def in_order(items):
    return sorted(items, key=lambda item: repr([(k, fingerprint(v)) for k, v in leaves(item).items()]))


def fingerprint_of(node):
    """Something that is equal for equal trees, whatever their element types."""
    return repr(sorted((path, fingerprint(leaf)) for path, leaf in leaves(node).items()))


def fingerprint(leaf):
    return (leaf.shape, [float(v) for v in leaf.values]) if isinstance(leaf, Tensor) else leaf


def is_by_id(node):
    """An optimizer's state: a map from parameter ids to {"V1": …}."""
    return bool(node) and all(isinstance(v, dict) and list(v) == ["V1"] for v in node.values())


def laid_out(node):
    """The tree as Burn 0.21 writes it into MessagePack, bytes and all."""
    if isinstance(node, Tensor):
        name = {"Bool": "Native"} if node.dtype == "bool" else node.dtype.upper()
        bare = {"bytes": node.pack(), "shape": node.shape, "dtype": name}
        return bare if node.id is None else {"id": node.id, "param": bare}
    if isinstance(node, dict):
        return {k: laid_out(v) for k, v in node.items()}
    if isinstance(node, list):
        return [laid_out(v) for v in node]
    return node


# ------------------------------------------------------------------------------------------------------ comparison

def same_number(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return isinstance(a, float) and isinstance(b, float) and struct.pack("<d", a) == struct.pack("<d", b)


def same_leaf(path, a, b):
    """None, or what differs. Types count: 1 is not 1.0, True is not 1, -0.0 is not 0.0."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if (a.dtype, a.shape, a.id) != (b.dtype, b.shape, b.id):
            return f"expected {a.dtype} {a.shape} id {a.id}, found {b.dtype} {b.shape} id {b.id}"
        for i, (x, y) in enumerate(zip(a.values, b.values)):
            if not same_number(x, y):
                return f"element {i}: expected {x!r}, found {y!r}"
        return None
    if isinstance(a, float) and isinstance(b, float) and path.split(".")[-1] in SINGLES:
        a, b = rounded(a, "f32"), rounded(b, "f32")
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return None if same_number(a, b) else f"expected {a!r}, found {b!r}"
    return None if type(a) is type(b) and a == b else f"expected {a!r}, found {b!r}"


def differences(expected, found, ordered=True):
    """Sentences about what differs between two trees. `ordered`: fields must come in the same order."""
    return leaf_differences(leaves(expected), leaves(found), ordered)


def leaf_differences(a, b, ordered=True):
    """The same for two that are leaves() already."""
    out = [f"{path}: missing" for path in a if path not in b]
    out += [f"{path}: unexpected" for path in b if path not in a]
    if not out and ordered and list(a) != list(b):
        first = next((x, y) for x, y in zip(a, b) if x != y)
        out.append(f"order: {first[0]} expected, {first[1]} found")
    for path, leaf in a.items():
        if path in b:
            different = same_leaf(path, leaf, b[path])
            if different:
                out.append(f"{path or 'the root'}: {different}")
    return out
