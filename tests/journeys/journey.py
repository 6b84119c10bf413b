# SPDX-License-Identifier: MIT OR Apache-2.0
"""A second opinion for the journeys: records of Burn read by Python's msgpack and json, without librecord."""
import json

import numpy

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
          "Bool": "?"}


def parse(path):
    """The whole tree of an .mpk or .json file, `metadata` and `item`."""
    with open(path, "rb") as file:
        if path.endswith(".json"):
            return json.load(file)
        import msgpack  # journeys without an .mpk need none
        return msgpack.unpack(file, raw=False, strict_map_key=False)


def array(value):
    dtype = value["dtype"] if isinstance(value["dtype"], str) else "Bool" # Burn 0.20 on: {"Bool": "Native"}
    return numpy.frombuffer(bytes(value["bytes"]), DTYPES[dtype]).reshape(value["shape"])


def visit(node, path, found):
    """`found(path, value)` for each leaf; of a parameter or tensor only for the tensor and its id."""
    if isinstance(node, dict) and set(node) == {"id", "param"}:
        found(path, array(node["param"]), node["id"])
    elif isinstance(node, dict) and {"bytes", "shape", "dtype"} <= set(node):
        found(path, array(node), None)
    elif isinstance(node, (dict, list)):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            visit(value, f"{path}.{key}" if path else str(key), found)


def tensors(path):
    """NumPy arrays by their keys."""
    result = {}
    visit(parse(path)["item"], "", lambda key, value, ident: result.update({key: value}))
    return result


def ids(path):
    """The ids of parameters by their keys."""
    result = {}
    visit(parse(path)["item"], "", lambda key, value, ident: result.update({key: ident}))
    return result


def of_burn(path):
    """NumPy arrays of what `store read` or `store resume` printed of real Burn's tensors, in full precision."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    assert not any(report.get(what) for what in ("missing", "unused", "errors")), report
    return {t["path"]: numpy.frombuffer(bytes.fromhex(t["bytes"]), DTYPES[t["dtype"].split("(")[0]]).reshape(t["shape"])
            for t in report["tensors" if "tensors" in report else "model"]}


def same(found, expected):
    """Both have the same keys, element types, shapes and values, to the bit."""
    assert set(found) == set(expected), f"keys differ: {sorted(set(found) ^ set(expected))}"
    for key, value in expected.items():
        a, b = numpy.asarray(found[key]), numpy.asarray(value)
        assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{key}: {a.dtype} {a.shape} is not {b.dtype} {b.shape}"
        assert a.tobytes() == b.tobytes(), f"{key}: {(a != b).sum()} of {a.size} values differ"
