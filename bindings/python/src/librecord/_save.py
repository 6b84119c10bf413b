# SPDX-License-Identifier: MIT OR Apache-2.0
"""Saving arrays and records."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy as np

from . import _dtypes
from ._errors import NotFoundError, Note, check, made, notes
from ._library import context, encoded, ffi, lib
from ._progress import Progress, reporting
from ._record import Options, Record, new_recorder, set_options, set_type
from ._specs import Specs, texts
from ._tensor import Tensor

Tensors = Mapping[str, Any]
#: Parameter ids by name: None makes a bare tensor; names that it lacks get a new id.
Ids = Mapping[str, Optional[str]]


def _array(name: str, value: Any) -> Any:
    """Returns the value as an array whose bytes can be saved in place."""
    if type(value) is np.ndarray and value.dtype in _dtypes.SAVED and value.flags.c_contiguous:
        return value
    if isinstance(value, Tensor):
        value = value.numpy()
    if not isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(f"{name}: expected an array of NumPy or a Tensor, found {type(value).__name__}")
    if value.dtype not in _dtypes.SAVED:
        raise TypeError(f"{name}: {_why(value.dtype)}")
    return value if isinstance(value, np.ndarray) and value.flags.c_contiguous else np.array(value, order="C")


def _why(dtype: np.dtype[Any]) -> str:
    swapped = dtype.newbyteorder("<")
    if swapped in _dtypes.SAVED and dtype.byteorder == ">":
        return f"dtype {dtype.str} is big-endian: convert it with array.astype({swapped.str!r})"
    return f"dtype {dtype}: no element type of records; they have {', '.join(map(str, _dtypes.SAVED))}"


def _id(name: str, value: Any, ids: Optional[Ids]) -> Optional[str]:
    """Returns the id for a tensor: the given one, that of a Tensor, or "" for a new one."""
    if ids is not None and name in ids:
        return ids[name]
    if isinstance(value, Tensor):
        return value.id if value.id or not value.is_parameter else ""
    return ""


def _check_names(tensors: Tensors, ids: Optional[Ids]) -> None:
    if not isinstance(tensors, Mapping) or not all(isinstance(name, str) for name in tensors):
        raise TypeError(f"expected a Record, or arrays by name, found {type(tensors).__name__}")
    for name in ids or {}:
        if name not in tensors:
            raise NotFoundError(f"ids: {name}: there is no tensor of this name")


class Built:
    """A record of the library built from arrays, which it keeps: their bytes are not copied."""

    def __init__(self, tensors: Tensors, ids: Optional[Ids]):
        _check_names(tensors, ids)
        names = list(tensors)
        arrays = [_array(name, value) for name, value in tensors.items()]
        specs = Specs(arrays, [_id(name, value, ids) for name, value in tensors.items()])
        addresses, kept = texts(names)
        self.keep = (specs, kept)
        self.pointer = ffi.gc(made(lib.rec_record_new(context)), lib.rec_record_free)
        pointers = ffi.cast("char **", addresses.ctypes.data)
        if names:
            check(lib.rec_set_tensors(self.pointer, pointers, specs.pointer, len(names), lib.REC_NAMES_KEEP_GAPS))


def _record_of(tensors: Union[Tensors, Record], metadata: Optional[Mapping[str, str]], ids: Optional[Ids]) -> Any:
    """Returns an object whose `pointer` is the record to save."""
    if isinstance(tensors, Record):
        if not metadata and not ids:
            return tensors.handle
        made_of: Any = _copy(tensors)
        for name, each in (ids or {}).items():
            check(lib.rec_set_id(made_of.pointer, encoded(name), ffi.NULL if each is None else encoded(each)))
    else:
        made_of = Built(tensors, ids)
    for key, value in (metadata or {}).items():
        check(lib.rec_metadata_set(made_of.pointer, encoded(key), encoded(value)))
    return made_of


class _copy:  # noqa: N801
    """A copy of a record; its tensors share their bytes with the original, which it keeps."""

    def __init__(self, record: Record):
        self.keep = record.handle
        self.pointer = ffi.gc(made(lib.rec_record_copy(self.keep.pointer)), lib.rec_record_free)


def _writer(recorder: str, precision: str, burn: Optional[str], type_of: Optional[str], options: Optional[Options]) -> Any:
    writer = new_recorder(recorder, precision)
    set_options(writer, {"layout": burn if burn == "keep" else f"burn-{burn}"} if burn else None)
    set_options(writer, options)
    set_type(writer, type_of)
    return writer


def save_file(
    tensors: Union[Tensors, Record],
    filename: Union[str, "os.PathLike[str]"],
    metadata: Optional[Mapping[str, str]] = None,
    *,
    burn: Optional[str] = None,
    precision: str = "keep",
    sync: bool = True,
    check: Union[bool, str] = "auto",  # noqa: A002
    ids: Optional[Ids] = None,
    recorder: str = "Auto",
    type: Optional[str] = None,  # noqa: A002
    options: Optional[Options] = None,
    progress: Progress = None,
) -> list[Note]:
    """Saves arrays, or an open record with all its values, to a file. A new file replaces an old one only when complete.

    Args:
        tensors: arrays or Tensors by name, in any order; each dot of a name is a level ("layers.0.weight"). Or a Record.
        filename: its extension is the format: .mpk, .safetensors, .bpk, .mpk.gz, .json, .npz, …
        metadata: text by key.
        burn: the version of Burn whose layout is written, "0.21"; None: the newest of the format; "keep": a Record's own.
        precision: "keep", "full" (f32, i32), "half" (f16, i16) or "double" (f64, i64).
        sync: whether the file is synced to the disk.
        check: whether the file is read back and compared; "auto": where that costs little.
        ids: parameter ids by name, None for a bare tensor; the others are parameters with new ids.
        recorder: the format, if not that of the extension.
        type: of a format without names (.bin): "model.rs:Model".
        options: of the recorder.
        progress: a function of (step, done, total), or tqdm.

    Returns:
        Notes about values that were changed or left out.

    Raises:
        TypeError: an element type that records lack, by the tensor's name. ArgumentError: two names exclude each other.
    """
    own = {"sync": sync, "check": check}
    writer = _writer(recorder, precision, burn, type, {**own, **(options or {})})
    made_of = _record_of(tensors, metadata, ids)
    with reporting(progress):
        _check(lib.rec_save(writer, made_of.pointer, os.fsencode(filename)))
    return notes()


_check = check


def save(
    tensors: Union[Tensors, Record],
    metadata: Optional[Mapping[str, str]] = None,
    *,
    recorder: str = "Safetensors",
    burn: Optional[str] = None,
    precision: str = "keep",
    ids: Optional[Ids] = None,
    type: Optional[str] = None,  # noqa: A002
    options: Optional[Options] = None,
) -> bytes:
    """Saves to bytes, as save_file() to a file; `recorder` is the format, "NamedMpk"."""
    writer = _writer(recorder, precision, burn, type, options)
    made_of = _record_of(tensors, metadata, ids)
    data, size = ffi.new("void **"), ffi.new("uint64_t *")
    with reporting(None):
        _check(lib.rec_save_bytes(writer, made_of.pointer, data, size))
    try:
        return bytes(ffi.buffer(ffi.cast("char *", data[0]), size[0]))
    finally:
        lib.rec_free(data[0])
