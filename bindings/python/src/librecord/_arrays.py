# SPDX-License-Identifier: MIT OR Apache-2.0
"""All tensors of a table as arrays, without a call of the library for each."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

from . import _dtypes
from ._errors import check
from ._library import lib
from ._table import Column, Table

#: Tensors that must be copied share blocks of memory: fewer and larger pages. An array keeps at most its block alive.
BLOCK = 32 << 20
ALIGNMENT = 64


def _sizes() -> Column:
    """Returns the bytes of an element by the library's number of the dtype; 0: not the bytes that are stored."""
    sizes = np.zeros(max(_dtypes.STORED) + 1, np.uint64)
    for number, dtype in _dtypes.STORED.items():
        sizes[number] = dtype.itemsize
    return sizes


def _plain(table: Table) -> Column:
    """Returns which tensors' stored bytes are the elements and are in memory."""
    sizes = _sizes()
    size = sizes[np.clip(table["dtype"], 0, len(sizes) - 1)] * (table["dtype"] < len(sizes))
    there = (table["data"] != 0) & (table["count"] != 0) & (size != 0)
    return there & (table["flags"] & lib.REC_ROW_CONVERTED == 0) & (table["data_size"] == table["count"] * size)


def _blocks(sizes: list[int]) -> Iterator[tuple[Any, int]]:
    """Yields a block and an offset in it for each size."""
    places, used = [], [0]
    for size in sizes:
        if used[-1] and used[-1] + size > BLOCK:
            used.append(0)
        places.append((len(used) - 1, used[-1]))
        used[-1] += -(-size // ALIGNMENT) * ALIGNMENT
    memory = [np.empty(size, np.uint8) for size in used]
    return ((memory[block], offset) for block, offset in places)


def plain_arrays(table: Table) -> list[Optional[Any]]:
    """Returns the arrays of the plain tensors, views where they are aligned, else copies; None for each other."""
    plain = _plain(table)
    aligned = table["flags"] & lib.REC_ROW_ALIGNED != 0
    copied = plain & ~aligned
    memory, offsets = table.data()
    places = _blocks(table["nbytes"][copied].tolist())
    kinds = [_dtypes.STORED.get(number) for number in range(max(_dtypes.STORED) + 1)]
    columns = zip(plain.tolist(), aligned.tolist(), table.shapes(), table["dtype"].tolist(), table["nbytes"].tolist(), offsets)
    result: list[Optional[Any]] = []
    for fits, in_place, shape, number, size, offset in columns:
        if not fits:
            result.append(None)
        elif in_place:
            result.append(np.ndarray(shape, kinds[number], memory, offset))
        else:
            block, begin = next(places)
            block[begin : begin + size] = memory[offset : offset + size]
            result.append(np.ndarray(shape, kinds[number], block, begin))
    check(lib.rec_guard_check(table.handle.pointer))
    return result
