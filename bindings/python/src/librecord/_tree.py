# SPDX-License-Identifier: MIT OR Apache-2.0
"""A record's tree as Python's dicts, lists and scalars."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._errors import check, made
from ._library import ffi, lib
from ._dtypes import STORED

NUMBERS = {lib.REC_KIND_BOOL: "BOOL", lib.REC_KIND_INT: "I64", lib.REC_KIND_UINT: "U64", lib.REC_KIND_FLOAT: "F64"}


def scalar_value(scalar: Any) -> Any:
    """Returns a rec_scalar as bool, int, float, str or None."""
    kind = scalar.kind
    if kind == lib.REC_KIND_STRING:
        return ffi.buffer(scalar.text, scalar.v.length)[:].decode("utf-8", "surrogateescape")
    if kind == lib.REC_KIND_BOOL:
        return bool(scalar.v.i)
    members = {lib.REC_KIND_INT: "i", lib.REC_KIND_UINT: "u", lib.REC_KIND_FLOAT: "f"}
    return getattr(scalar.v, members[kind]) if kind in members else None


def _numbers(value: Any) -> Any:
    """Returns packed numbers as a NumPy array."""
    count = lib.rec_value_count(value)
    first = ffi.new("rec_scalar *")
    if not count:
        return np.zeros(0)
    check(lib.rec_value_get_number(value, 0, first))
    dtype = getattr(lib, "REC_DTYPE_" + NUMBERS[first.kind])
    target = np.empty(count, STORED[dtype].newbyteorder("="))
    check(lib.rec_value_numbers(value, dtype, 0, count, ffi.cast("void *", target.ctypes.data)))
    return target


def _bytes(value: Any) -> bytes:
    size = ffi.new("uint64_t *")
    data = lib.rec_value_bytes(value, size)
    return bytes(ffi.buffer(ffi.cast("char *", data), size[0])) if data else b""


def _key(value: Any, index: int) -> Any:
    scalar = ffi.new("rec_scalar *")
    check(lib.rec_value_get_key(value, index, scalar))
    return scalar_value(scalar)


def tree(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """Converts a value and everything below it.

    A variant of an enum is a dict of its name and its payload; packed numbers are an array; `tensor` makes the leaves.
    """
    kind = lib.rec_value_kind(value)
    if kind == lib.REC_KIND_TENSOR:
        return tensor(lib.rec_value_tensor(value))
    if kind == lib.REC_KIND_NUMBERS:
        return _numbers(value)
    if kind == lib.REC_KIND_BYTES:
        return _bytes(value)
    if kind in (lib.REC_KIND_LIST, lib.REC_KIND_MAP, lib.REC_KIND_VARIANT):
        return _children(value, kind, tensor)
    scalar = ffi.new("rec_scalar *")
    check(lib.rec_value_get(value, scalar))
    return scalar_value(scalar)


def _children(value: Any, kind: int, tensor: Callable[[Any], Any]) -> Any:
    count = lib.rec_value_count(value)
    items = [tree(made(lib.rec_value_item(value, index)), tensor) for index in range(count)]
    if kind == lib.REC_KIND_LIST:
        return items
    if kind == lib.REC_KIND_VARIANT and not items:
        return {_key(value, 0): None}
    return {_key(value, index): item for index, item in enumerate(items)}
