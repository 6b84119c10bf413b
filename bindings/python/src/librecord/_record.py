# SPDX-License-Identifier: MIT OR Apache-2.0
"""Records: opening, and the mapping from names to tensors."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import IO, Any, NamedTuple, Optional, Union

from ._arrays import plain_arrays
from ._errors import Note, NotFoundError, check, fail, made, notes
from ._library import UNKNOWN, context, encoded, ffi, lib, text
from ._progress import Progress, reporting
from ._table import Handle, Table
from ._tensor import Array, Tensor
from ._tree import tree

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, int, IO[bytes]]
#: Load arguments and options of a recorder: name and value; True and False are yes and no, a list sets it several times.
Options = Mapping[str, Any]


class Origin(NamedTuple):
    """Where a record comes from."""

    recorder: str  #: the plugin that read it, "NamedMpk"
    file: str  #: the file or stream; "" for memory
    mapped: bool  #: whether tensors point into a mapped file
    layout: int  #: Burn's layout of parameters: 1 (up to 0.13), 2 (from 0.14 on), 0 if unknown
    stored: Optional[int]  #: bytes of the file
    inflated: Optional[int]  #: bytes after decompression
    version: str  #: the version that wrote it, "0.18.0"; "" if unknown


def new_recorder(name: str, precision: str) -> Any:
    """Returns a recorder of the library, which closes itself."""
    number = lib.rec_precision_from_name(encoded(precision))
    if number < 0:
        raise ValueError(f"precision: expected keep, full, half or double, found {precision!r}")
    return ffi.gc(made(lib.rec_open_recorder_in(context, encoded(name), number)), lib.rec_close_recorder)


def set_options(recorder: Any, options: Optional[Options]) -> None:
    for name, value in (options or {}).items():
        for each in value if isinstance(value, (list, tuple)) else [value]:
            word = {True: "yes", False: "no"}[each] if isinstance(each, bool) else str(each)
            check(lib.rec_recorder_set(recorder, encoded(name.replace("_", "-")), encoded(word)))


def set_type(recorder: Any, expression: Optional[str]) -> None:
    """Sets the type of a recorder's records: "Model" of Burn's own, "model.rs:Model" of a Rust or INI file."""
    if expression is None:
        return
    types = ffi.gc(made(lib.rec_types_new(context)), lib.rec_types_free)
    file = re.match(r"(.*\.(?:rs|ini)):(?!:)(.+)$", expression, re.S)
    if file:
        check(lib.rec_types_add_file(types, encoded(file[1])))
    check(lib.rec_recorder_set_type_name(recorder, types, encoded(file[2] if file else expression)))


def _unchanged(recorder: Any, precision: str, type_of: Optional[str], options: Optional[Options]) -> None:
    """Sets that names and layouts stay those of the file. A precision, a type or an option adds to that."""
    exact = precision == "keep" and type_of is None and not options
    set_options(recorder, {"as": "file"} if exact else {"adapter": "none", "gaps": "keep"})
    set_options(recorder, options)
    set_type(recorder, type_of)


def _load(recorder: Any, source: Source) -> Handle:
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = source if isinstance(source, bytes) else bytes(source)
        return Handle(made(lib.rec_load_bytes(recorder, ffi.from_buffer(data), len(data))), data)
    if isinstance(source, int):
        return Handle(made(lib.rec_load_fd(recorder, source, encoded(f"(descriptor {source})"))))
    if isinstance(source, (str, os.PathLike)):
        return Handle(made(lib.rec_load(recorder, os.fsencode(source))))
    return _load_stream(recorder, source)


def _load_stream(recorder: Any, source: IO[bytes]) -> Handle:
    """Loads from an object with read(): its whole rest is read into memory first."""
    if not hasattr(source, "read"):
        raise TypeError(f"expected a path, bytes, a file or a descriptor, found {type(source).__name__}")
    data = source.read()
    if not isinstance(data, bytes):
        raise TypeError("the file is open as text: open it with mode 'rb'")
    return _load(recorder, data)


def open(  # noqa: A001
    source: Source,
    *,
    recorder: str = "Auto",
    precision: str = "keep",
    type: Optional[str] = None,  # noqa: A002
    options: Optional[Options] = None,
    progress: Progress = None,
) -> Record:
    """Opens a file of any format, unchanged: no value, name or shape is adapted. Data are read on access.

    Args:
        source: a path, bytes, an open binary file (read to its end) or a file descriptor.
        recorder: the format, "NamedMpk"; "Auto" recognises it by its contents.
        precision: "keep", "full" (f32, i32), "half" (f16, i16) or "double" (f64, i64).
        type: of a file without names: "Adam", or "model.rs:Model" of a Rust source or INI file.
        options: load arguments, {"data": "skip"}.
        progress: a function of (step, done, total), or tqdm.

    Raises:
        FileNotFoundError, FormatError, UnsupportedError, NeedsType, …: all are librecord.Error.
    """
    reader = new_recorder(recorder, precision)
    _unchanged(reader, precision, type, options)
    with reporting(progress):
        handle = _load(reader, source)
    return Record(handle, notes())


class _Names(Mapping[str, Tensor]):
    """A mapping from names to tensors, in the order of the file."""

    _table: Table

    def _path(self, name: str) -> str:
        return name

    def __getitem__(self, name: str) -> Any:
        """Returns the tensor of that name, or the Group below it. `tensor()` and `group()` return one kind only."""
        row = self._table.index.get(self._path(name))
        if row is not None:
            return Tensor(self._table, row, self._path(name))
        if name and self._has_group(name):
            return self.group(name)
        return self.tensor(name)

    def tensor(self, name: str) -> Tensor:
        """Returns the tensor of that name. NotFoundError, which is a KeyError, suggests similar names."""
        path = self._path(name)
        row = self._table.index.get(path)
        if row is None:
            made(lib.rec_tensor_at(self._table.handle.pointer, encoded(path)))
            raise NotFoundError(f"{path}: no tensor of this name")
        return Tensor(self._table, row, path)

    def group(self, name: str) -> Group:
        """Returns the tensors below a name, by the rest of their names."""
        if not self._has_group(name):
            self.tensor(name)  # whose error names similar ones
            raise NotFoundError(f"{self._path(name)}: this is a tensor, not a group")
        return Group(self._table, self._path(name) + ".")

    def _has_group(self, name: str) -> bool:
        prefix = self._path(name) + "."
        return any(each.startswith(prefix) for each in self._table.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._path(name) in self._table.index or self._has_group(name))

    def arrays(self) -> dict[str, Array]:
        """Returns all tensors as arrays: read-only views of the mapped file where possible, else copies.

        UnsupportedError names the first tensor whose element type NumPy lacks.
        """
        return {name: tensor.numpy() for name, tensor in self.items()}


class Group(_Names):
    """The tensors below a name of a record."""

    def __init__(self, table: Table, prefix: str):
        self._table = table
        self._prefix = prefix

    def _path(self, name: str) -> str:
        return self._prefix + name

    def __iter__(self) -> Iterator[str]:
        cut = len(self._prefix)
        return (name[cut:] for name in self._table.names if name.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<librecord.Group {self._prefix[:-1]!r}: {len(self)} tensors>"


class Record(_Names):
    """An open record: a mapping from names to lazy tensors, in the order of the file.

    Several threads may read one record. `close()`, or the end of a `with` block, lets go of it; arrays that are views of
    the file keep it mapped until the last of them is gone.
    """

    def __init__(self, handle: Handle, made_notes: list[Note]):
        self._handle: Optional[Handle] = handle
        self._names_table: Optional[Table] = None
        #: What the load noticed: assumed element types, dropped values, …
        self.notes: list[Note] = made_notes

    @property
    def handle(self) -> Handle:
        """The library's record. ValueError: the record is closed."""
        if self._handle is None:
            raise ValueError("the record is closed")
        return self._handle

    @property
    def _table(self) -> Table:  # type: ignore[override]
        if self._names_table is None:
            self._names_table = Table(self.handle)
        return self._names_table

    def close(self) -> None:
        """Lets go of the file. Tensors and arrays that exist stay valid."""
        self._handle = self._names_table = None

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.names)

    def __len__(self) -> int:
        return len(self._table.names)

    def arrays(self) -> dict[str, Array]:
        table = self._table
        return {
            name: Tensor(table, row, name).numpy() if array is None else array
            for row, (name, array) in enumerate(zip(table.names, plain_arrays(table)))
        }

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata, by key; values other than text are JSON."""
        handle, key, value = self.handle, ffi.new("const char **"), ffi.new("const char **")
        result = {}
        for index in range(lib.rec_metadata_count(handle.pointer)):
            check(lib.rec_metadata_get(handle.pointer, index, key, value))
            result[text(key[0])] = text(value[0])
        return result

    @property
    def origin(self) -> Origin:
        """The file, its format and the version that wrote it."""
        pointer = self.handle.pointer
        found = lib.rec_record_origin(pointer)
        sizes = [None if size == UNKNOWN else size for size in (found.stored, found.inflated)]
        version = text(lib.rec_metadata(pointer, b"version"))
        return Origin(text(found.recorder), text(found.file), bool(found.mapped), found.layout, sizes[0], sizes[1], version)

    @property
    def tree(self) -> Any:
        """The whole tree with its scalars: dicts, lists, numbers, strings; the leaves with data are Tensors."""
        table = self._table
        rows = {pointer: row for row, pointer in enumerate(table["tensor"].tolist())}

        def leaf(pointer: Any) -> Tensor:
            row = rows[int(ffi.cast("uintptr_t", pointer))]
            return Tensor(table, row, table.names[row])

        return tree(lib.rec_root(self.handle.pointer), leaf)

    def check(self) -> None:
        """After guard_maps(): raises SystemFailure if the mapped file was truncated, so that bytes may have been zeros."""
        check(lib.rec_guard_check(self.handle.pointer))

    def __repr__(self) -> str:
        if self._handle is None:
            return "<librecord.Record, closed>"
        origin = self.origin
        return f"<librecord.Record {origin.file or '(memory)'!r} {origin.recorder}: {len(self)} tensors>"

    def _repr_html_(self) -> str:
        return _html(self)


HTML_ROWS = 60


def _html(record: Record) -> str:
    """Returns the table of `record ls`: at most HTML_ROWS tensors."""
    cells = [
        f"<tr><td>{escape(name)}</td><td>{escape(tensor.dtype_name)}</td>"
        f"<td>{escape(' × '.join(map(str, tensor.shape)))}</td><td style='text-align:right'>{tensor.nbytes:,}</td></tr>"
        for name, tensor in zip(record, (Tensor(record._table, row, "") for row in range(HTML_ROWS)))
    ]
    more = len(record) - len(cells)
    rest = f"<tr><td colspan=4>… and {more:,} more</td></tr>" if more > 0 else ""
    head = "<tr><th>tensor</th><th>type</th><th>shape</th><th>bytes</th></tr>"
    return f"<p>{escape(repr(record))}</p><table>{head}{''.join(cells)}{rest}</table>"


def load_file(filename: Union[str, "os.PathLike[str]"], **arguments: Any) -> dict[str, Array]:
    """Loads all tensors of a file as arrays, in the order of the file.

    Arrays are read-only views of the mapped file where the format stores aligned bytes (.safetensors, .bpk), else copies;
    `array.copy()` makes one that can be written. Keyword arguments are those of open().
    """
    with open(filename, **arguments) as record:
        return record.arrays()


def load(data: bytes, **arguments: Any) -> dict[str, Array]:
    """Loads all tensors from bytes, as load_file(); views point into `data`."""
    return load_file(data, **arguments)  # type: ignore[arg-type]


def guard_maps() -> None:
    """Protects the process against truncation of mapped files, which else kills it by SIGBUS: missing bytes become zeros,
    operations of the library that meet them fail, and Record.check() reports them. Installs a handler of SIGBUS for good.
    """
    if lib.rec_guard_maps() != lib.REC_OK:
        fail()
