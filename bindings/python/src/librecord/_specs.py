# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays as the library's array of tensor specs: columns of NumPy instead of a struct for each tensor."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Optional

import numpy as np

from . import _dtypes
from ._library import encoded, ffi, lib

FIELDS = {
    "size": "u4",
    "dtype": "i4",
    "rank": "u4",
    "ownership": "i4",
    "shape": "u8",
    "data": "u8",
    "data_size": "u8",
    "id": "u8",
}
LAYOUT = np.dtype(
    {
        "names": list(FIELDS),
        "formats": list(FIELDS.values()),
        "offsets": [ffi.offsetof("rec_tensor_spec", name) for name in FIELDS],
        "itemsize": ffi.sizeof("rec_tensor_spec"),
    }
)


def texts(values: Sequence[str]) -> tuple[Any, Any]:
    """Returns the addresses of these texts, NUL-terminated, and what keeps them alive."""
    joined = "\0".join(values)
    if joined.count("\0") != max(len(values) - 1, 0):
        encoded(next(value for value in values if "\0" in value))
    data = np.frombuffer(encoded_all(joined), np.uint8)
    ends = np.flatnonzero(data == 0)
    starts = np.concatenate(([0], ends[:-1] + 1)).astype(np.uint64)
    return starts + np.uint64(data.ctypes.data), data


def encoded_all(joined: str) -> bytes:
    return joined.encode("utf-8", "surrogateescape") + b"\0"


def _addresses(arrays: Sequence[Any]) -> Any:
    """Returns where the arrays' bytes are. Only few dtypes, such as bf16, have no buffer."""
    table = ffi.new("char *[]", len(arrays))
    buffer_of = ffi.from_buffer  # freed at once: the arrays keep the bytes
    for row, array in enumerate(arrays):
        try:
            table[row] = buffer_of(array)
        except (ValueError, TypeError, BufferError):
            table[row] = ffi.cast("char *", array.ctypes.data)
    return np.frombuffer(ffi.buffer(table), np.uint64)


class Specs:
    """The specs of some arrays, which must stay alive with it."""

    def __init__(self, arrays: Sequence[Any], ids: Sequence[Optional[str]]):
        self.rows = np.zeros(len(arrays), LAYOUT)
        self.keep: list[Any] = [arrays]
        rows, dtypes = self.rows, _dtypes.SAVED
        rows["size"] = LAYOUT.itemsize
        rows["ownership"] = lib.REC_BORROW
        rows["dtype"] = [dtypes[array.dtype] for array in arrays]
        rows["rank"] = [array.ndim for array in arrays]
        rows["data_size"] = [array.nbytes for array in arrays]
        rows["data"] = _addresses(arrays)
        self._set_shapes([array.shape for array in arrays])
        self._set_ids(ids)

    def _set_shapes(self, shapes: Sequence[tuple[int, ...]]) -> None:
        flat = np.fromiter(chain(*shapes, (0,)), np.uint64)
        starts = np.cumsum(self.rows["rank"], dtype=np.uint64) - self.rows["rank"]
        self.rows["shape"] = starts * np.uint64(8) + np.uint64(flat.ctypes.data)
        self.keep.append(flat)

    def _set_ids(self, ids: Sequence[Optional[str]]) -> None:
        addresses, kept = texts([each or "" for each in ids])
        self.rows["id"] = np.where([each is None for each in ids], np.uint64(0), addresses)
        self.keep.append(kept)

    @property
    def pointer(self) -> Any:
        return ffi.cast("rec_tensor_spec *", self.rows.ctypes.data)
