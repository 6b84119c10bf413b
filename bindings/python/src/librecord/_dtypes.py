# SPDX-License-Identifier: MIT OR Apache-2.0
"""Element types: the library's numbers, their names, and NumPy's dtypes."""
from __future__ import annotations

from importlib import import_module
from typing import Any, Optional

import numpy as np

from ._library import encoded, lib, text

def _optional(name: str) -> Any:
    """Returns a module, or None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


ml_dtypes = _optional("ml_dtypes")


#: Stored bytes are little-endian.
STORED: dict[int, np.dtype[Any]] = {
    lib.REC_DTYPE_F64: np.dtype("<f8"),
    lib.REC_DTYPE_F32: np.dtype("<f4"),
    lib.REC_DTYPE_FLEX32: np.dtype("<f4"),
    lib.REC_DTYPE_F16: np.dtype("<f2"),
    lib.REC_DTYPE_I64: np.dtype("<i8"),
    lib.REC_DTYPE_I32: np.dtype("<i4"),
    lib.REC_DTYPE_I16: np.dtype("<i2"),
    lib.REC_DTYPE_I8: np.dtype("i1"),
    lib.REC_DTYPE_U64: np.dtype("<u8"),
    lib.REC_DTYPE_U32: np.dtype("<u4"),
    lib.REC_DTYPE_U16: np.dtype("<u2"),
    lib.REC_DTYPE_U8: np.dtype("u1"),
    lib.REC_DTYPE_BOOL: np.dtype("?"),
    lib.REC_DTYPE_BOOL8: np.dtype("?"),
}
#: Of types that the library copies verbatim, by the file's name.
FOREIGN = {
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
}
if ml_dtypes is not None:
    STORED[lib.REC_DTYPE_BF16] = np.dtype(ml_dtypes.bfloat16)

#: The library's number of each dtype that a tensor can be saved from.
SAVED: dict[np.dtype[Any], int] = {
    dtype: number
    for number, dtype in STORED.items()
    if number not in (lib.REC_DTYPE_FLEX32, lib.REC_DTYPE_BOOL8)
}


def name_of(number: int) -> str:
    return text(lib.rec_dtype_name(number))


def number_of(dtype: Any) -> int:
    """Returns the library's number of a dtype, given by librecord's name ("bf16") or as NumPy takes it."""
    if isinstance(dtype, str):
        number = int(lib.rec_dtype_from_name(encoded(dtype)))
        if number != lib.REC_DTYPE_NONE:
            return number
    wanted = np.dtype(dtype)
    if wanted not in SAVED:
        raise TypeError(f"{wanted}: no element type of records; they have {', '.join(map(str, SAVED))}")
    return SAVED[wanted]


def foreign(name: str) -> Optional[np.dtype[Any]]:
    """Returns the dtype for a type that only the file knows, or None."""
    if name == "C64":
        return np.dtype("<c8")
    kind = getattr(ml_dtypes, FOREIGN.get(name, ""), None) if ml_dtypes is not None else None
    return None if kind is None else np.dtype(kind)


def why_not(name: str, dtype: str) -> str:
    """Returns why an array of this element type cannot be had."""
    if dtype == "bf16" or dtype in FOREIGN:
        return f"{name}: NumPy has no {dtype}: install ml_dtypes, or read it as another type: tensor.read('f32')"
    return f"{name}: NumPy has no {dtype}: tensor.bytes() has it as it is stored"
