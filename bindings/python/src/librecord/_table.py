# SPDX-License-Identifier: MIT OR Apache-2.0
"""The table of a record's tensors as NumPy columns: no call of the library for each tensor.

The library's table is an array of structs whose members point to paths, shapes and data. NumPy reads the structs in
place; a Window reads the bytes that they point to.
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._errors import made
from ._library import UNKNOWN, ffi, lib

Column = Any  # numpy.ndarray of one dimension


class Handle:
    """A record of the library. Tensors, arrays and tables keep it alive; it keeps the bytes that it was loaded from."""

    __slots__ = ("pointer", "keep", "__weakref__")

    def __init__(self, pointer: Any, keep: Any = None):
        self.pointer = ffi.gc(pointer, lib.rec_record_free)
        self.keep = keep


class Window:
    """Memory from the lowest to the highest of some addresses, read-only. Only what lies at the addresses is ever read."""

    __slots__ = ("__array_interface__", "owner", "__weakref__")

    def __init__(self, begin: int, end: int, owner: Any, typestr: str = "|u1"):
        size = np.dtype(typestr).itemsize
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "typestr": typestr,
            "shape": ((end - begin) // size,),
            "data": (begin, True),
        }


ROW_TYPES = {
    "path": "u8",
    "path_length": "u8",
    "tensor": "u8",
    "shape": "u8",
    "id": "u8",
    "data": "u8",
    "data_size": "u8",
    "count": "u8",
    "nbytes": "u8",
    "offset": "u8",
    "dtype": "i4",
    "stored_dtype": "i4",
    "rank": "u4",
    "flags": "u4",
}


def _row_dtype(size: int) -> np.dtype[Any]:
    return np.dtype(
        {
            "names": list(ROW_TYPES),
            "formats": list(ROW_TYPES.values()),
            "offsets": [ffi.offsetof("rec_row", name) for name in ROW_TYPES],
            "itemsize": size,
        }
    )


def _kept(table: Any, handle: Handle) -> Any:
    """Frees the table before the record, which the function that frees the table keeps."""

    def free(pointer: Any, _handle: Handle = handle) -> None:
        lib.rec_table_free(pointer)

    return ffi.gc(table, free)


class Table:
    """All tensors of a record, in the order of the file."""

    def __init__(self, handle: Handle):
        self.handle = handle
        self.pointer = _kept(made(lib.rec_record_table(handle.pointer)), handle)
        count, size = self.pointer.count, self.pointer.row_size
        begin = int(ffi.cast("uintptr_t", self.pointer.rows))
        if count:
            self.rows = np.asarray(Window(begin, begin + count * size, self.pointer)).view(_row_dtype(size))
        else:
            self.rows = np.zeros(0, _row_dtype(size))
        self.names = self._names()
        self.index = dict(zip(self.names, range(count)))
        self._shapes: Optional[list[tuple[int, ...]]] = None
        self._data: Optional[tuple[Any, list[int]]] = None

    def __getitem__(self, column: str) -> Column:
        return self.rows[column]

    def _names(self) -> list[str]:
        """Paths that follow each other in memory, which almost all do, are decoded at once."""
        paths, lengths = self["path"], self["path_length"]
        ends = paths + lengths + 1
        breaks = np.flatnonzero(paths[1:] != ends[:-1]) + 1
        names: list[str] = []
        for first, behind in zip([0, *breaks.tolist()], [*breaks.tolist(), len(paths)]):
            if first < behind:
                begin, end = int(paths[first]), int(ends[behind - 1]) - 1
                chunk = ffi.buffer(ffi.cast("char *", begin), end - begin)[:]
                names += chunk.decode("utf-8", "surrogateescape").split("\0")
        return names

    def shapes(self) -> list[tuple[int, ...]]:
        """Returns the dimensions of all tensors, outermost first."""
        if self._shapes is None:
            result: list[tuple[int, ...]] = [()] * len(self.names)
            for rank in set(self["rank"].tolist()):  # np.unique() would import numpy.ma
                if rank:
                    rows = np.flatnonzero(self["rank"] == rank)
                    for row, shape in zip(rows.tolist(), self._gather(rows, rank)):
                        result[row] = tuple(shape)
            self._shapes = result
        return self._shapes

    def _gather(self, rows: Column, rank: int) -> list[list[int]]:
        addresses = self["shape"][rows]
        begin, end = int(addresses.min()), int(addresses.max()) + 8 * rank
        window = np.asarray(Window(begin, end, self.pointer, "=u8"))
        first = ((addresses - np.uint64(begin)) // np.uint64(8)).astype(np.intp)
        found: list[list[int]] = window[first[:, None] + np.arange(rank)].tolist()
        return found

    def shape(self, row: int) -> tuple[int, ...]:
        if self._shapes is not None:
            return self._shapes[row]
        pointer = ffi.cast("uint64_t *", int(self["shape"][row]))
        return tuple(ffi.unpack(pointer, int(self["rank"][row])))

    def data(self) -> tuple[Any, list[int]]:
        """Returns the memory that has the data at hand, and the offset there of each tensor; -1: not at hand."""
        if self._data is None:
            data, sizes = self["data"], self["data_size"]
            there = (data != 0) & (sizes != 0)
            begin = int(data[there].min()) if there.any() else 0
            end = int((data[there] + sizes[there]).max()) if there.any() else 0
            memory = np.asarray(Window(begin, end, self.handle)) if end else np.empty(0, np.uint8)
            offsets = np.where(there, data - np.uint64(begin), 0).astype(np.int64)
            self._data = memory, np.where(there, offsets, -1).tolist()
        return self._data

    def offset(self, row: int) -> Optional[int]:
        offset = int(self["offset"][row])
        return None if offset == UNKNOWN else offset

    def tensor(self, row: int) -> Any:
        return ffi.cast("rec_tensor *", int(self["tensor"][row]))
