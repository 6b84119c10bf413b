# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tensors of a record: described by the table, read on access."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _dtypes
from ._errors import UnsupportedError, check, made
from ._library import ffi, lib, text
from ._table import Table

Array = Any  # numpy.ndarray; its element type depends on the file
VERBATIM = (lib.REC_DTYPE_QFLOAT, lib.REC_DTYPE_OPAQUE)


class Tensor:
    """A tensor of an open record. Its data are read on access.

    `numpy.asarray(tensor)` is a read-only view of the mapped file where the bytes are aligned and not converted, else a
    copy. `tensor[10:20]` reads only these rows. The array keeps the file mapped, also after the record is closed.
    """

    __slots__ = ("_table", "_row", "name")

    def __init__(self, table: Table, row: int, name: str):
        self._table = table
        self._row = row
        #: The path in the record, "layers.0.weight".
        self.name = name

    def _column(self, name: str) -> int:
        return int(self._table[name][self._row])

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions, outermost first; () of a 0-d tensor."""
        return self._table.shape(self._row)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._column("rank")

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._column("count")

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes."""
        return self._column("nbytes")

    @property
    def dtype_name(self) -> str:
        """The element type by librecord's name, "f32", "bf16"; of a type that only the file knows by the file's."""
        return text(lib.rec_tensor_dtype_name(self._pointer))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of the array. UnsupportedError: NumPy has none."""
        found = self._dtype()
        if found is None:
            raise UnsupportedError(_dtypes.why_not(self.name, self.dtype_name))
        return found

    @property
    def id(self) -> Optional[str]:
        """The id of the parameter; None without one."""
        pointer = self._column("id")
        return text(ffi.cast("char *", pointer)) if pointer else None

    @property
    def offset(self) -> Optional[int]:
        """The byte in the (decompressed) file at which the data start; None where they are not stored as such."""
        return self._table.offset(self._row)

    @property
    def assumed(self) -> bool:
        """Whether the file lacks the element type, so that it was assumed."""
        return bool(self._column("flags") & lib.REC_ROW_ASSUMED)

    @property
    def is_parameter(self) -> bool:
        """Whether it is a parameter of a module, not a bare tensor such as those of an optimizer."""
        return bool(lib.rec_tensor_is_parameter(self._pointer))

    @property
    def scheme(self) -> Optional[str]:
        """How the tensor is quantised, "FP8 E4M3, 128x128 blocks"; None: it is not."""
        return text(lib.rec_tensor_scheme(self._pointer)) or None

    @property
    def _pointer(self) -> Any:
        return self._table.tensor(self._row)

    def _dtype(self) -> Optional[np.dtype[Any]]:
        number = self._column("dtype")
        if number == lib.REC_DTYPE_BOOL32:
            return np.dtype("?")
        if number == lib.REC_DTYPE_OPAQUE:
            return _dtypes.foreign(self.dtype_name)
        return _dtypes.STORED.get(number)

    def _view(self) -> Optional[Array]:
        """Returns the stored bytes as an array if they are the elements, else None."""
        table, row = self._table, self._row
        dtype, flags = self._dtype(), self._column("flags")
        at_hand = self._column("data") != 0 and not flags & lib.REC_ROW_CONVERTED
        if dtype is None or not at_hand or self._column("dtype") == lib.REC_DTYPE_BOOL32:
            return None
        if not self.size:
            return None
        if not flags & lib.REC_ROW_ALIGNED and dtype.itemsize != 1:
            return None
        memory, offsets = table.data()
        if self._column("data_size") != dtype.itemsize * self.size:
            return None
        return np.ndarray(self.shape, dtype, memory, offsets[row])

    def read(self, dtype: Any = None, start: int = 0, stop: Optional[int] = None) -> Array:
        """Reads elements `start` to `stop`, counted in the order of the file, into a new array.

        Args:
            dtype: "f32", or a dtype of NumPy; None: the tensor's.
            start, stop: the range of elements; None: to the last one.

        Returns:
            An array of the tensor's shape for all elements, else of one dimension.
        """
        begin, end, _ = slice(start, stop).indices(self.size)
        whole = (begin, end) == (0, self.size)
        target, number = self._target(dtype, max(end - begin, 0))
        check(lib.rec_tensor_read(self._pointer, number, begin, target.size, _address(target)))
        return target.reshape(self.shape) if whole else target

    def _target(self, dtype: Any, count: int) -> tuple[Array, int]:
        number = self._column("dtype") if dtype is None else _dtypes.number_of(dtype)
        number = lib.REC_DTYPE_BOOL if number in (lib.REC_DTYPE_BOOL8, lib.REC_DTYPE_BOOL32) else number
        kind = _dtypes.STORED.get(number)
        if kind is None:
            raise UnsupportedError(_dtypes.why_not(self.name, self.dtype_name))
        return np.empty(count, kind.newbyteorder("=")), number

    def bytes(self) -> Array:
        """Returns the bytes as the file stores them, little-endian: an array of uint8 with one dimension."""
        size = ffi.new("uint64_t *")
        pointer = made(lib.rec_tensor_bytes(self._pointer, size))
        buffer = np.frombuffer(ffi.buffer(ffi.cast("char *", pointer), size[0]), np.uint8)
        return buffer.copy()

    def numpy(self) -> Array:
        """Returns the tensor as an array: a read-only view where possible, else a copy."""
        view = self._view()
        if view is not None:
            return view
        if self._column("dtype") in VERBATIM:
            return self._verbatim()
        return self.read()

    def _verbatim(self) -> Array:
        """Returns elements that only the file's type describes; of blocks, such as Q4_0, the numbers."""
        foreign = self._dtype()
        if foreign is not None:
            return self.bytes().view(foreign).reshape(self.shape)
        numbers = lib.rec_tensor_numbers_dtype(self._pointer)
        if numbers in (lib.REC_DTYPE_NONE, *VERBATIM):
            raise UnsupportedError(_dtypes.why_not(self.name, self.dtype_name))
        return self.read(_dtypes.name_of(numbers))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        view = self._view()
        same = dtype is None or np.dtype(dtype) == self._dtype()
        if copy is False and (view is None or not same):
            raise ValueError(f"{self.name}: an array of it needs a copy: the file's bytes are not aligned, or converted")
        array = self.numpy() if view is None else view
        if not same:
            return array.astype(dtype)
        return array.copy() if copy and view is not None else array

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError(f"{self.name}: a 0-d tensor has no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        """Reads a part: `t[3]`, `t[10:20]`, `t[10:20, :, 0]`, `t[...]`. Only the rows of the first index are read."""
        view = self._view()
        if view is not None:
            return view[key]
        first, *rest = key if isinstance(key, tuple) else (key,)
        rows = self._rows(first)
        if rows is None:
            return self.numpy()[key]
        low, high, within = rows
        return self._read_rows(low, high)[(within, *rest)]

    def _rows(self, first: Any) -> Optional[tuple[int, int, Any]]:
        """Returns the rows that an index touches, and the index within them; None: all, or it is another kind of index."""
        if not self.ndim or self._column("dtype") in VERBATIM:
            return None
        length = self.shape[0]
        if isinstance(first, slice):
            touched = range(*first.indices(length))
            low, high = (min(touched[0], touched[-1]), max(touched[0], touched[-1]) + 1) if touched else (0, 0)
            start = touched.start - low if touched else 0
            stop: Optional[int] = touched.stop - low if touched else 0
            return low, high, slice(start, None if stop is not None and stop < 0 else stop, touched.step)
        if isinstance(first, (int, np.integer)) and not isinstance(first, bool):
            index = int(first) + (length if first < 0 else 0)
            return (index, index + 1, 0) if 0 <= index < length else None
        return None

    def _read_rows(self, low: int, high: int) -> Array:
        rest = self.shape[1:]
        row = int(np.prod(rest, dtype=np.int64))
        part = self.read(start=low * row, stop=high * row)
        return part.reshape((high - low, *rest))

    def __repr__(self) -> str:
        return f"<librecord.Tensor {self.name!r} {self.dtype_name} {list(self.shape)}>"


def _address(array: Array) -> Any:
    return ffi.cast("void *", array.ctypes.data)
