# SPDX-License-Identifier: MIT OR Apache-2.0
"""The library's errors as exceptions."""
from __future__ import annotations

import errno as system
import os
from typing import Any, NamedTuple, NoReturn, Optional

from ._library import UNKNOWN, ffi, lib, operation, text


class Error(Exception):
    """An error of librecord. The message has the place, the problem and a hint; the attributes have its parts.

    Attributes:
        status: the name of the C status, "REC_E_FORMAT".
        file: the file, or the name of the stream; "" without one.
        offset: the byte in the (decompressed) file; None without one.
        line: the line of a configuration or rules file; 0 without one.
        path: the path in the record, "layers.0.weight"; "" without one.
        expected, found: what the library expected and found; "" where that does not apply.
        hint: what to do; "" without a hint.
        errno: the number of the failed system call, or None. An OSError then also has filename and strerror.
    """

    status: str = ""
    file: str = ""
    offset: Optional[int] = None
    line: int = 0
    path: str = ""
    expected: str = ""
    found: str = ""
    hint: str = ""
    errno: Optional[int] = None

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, {name: getattr(self, name) for name in PARTS})


PARTS = ("status", "file", "offset", "line", "path", "expected", "found", "hint", "errno")


def _rebuild(kind: type[Error], args: tuple[Any, ...], parts: dict[str, Any]) -> Error:
    error = kind(*args)
    for name, value in parts.items():
        setattr(error, name, value)
    if isinstance(error, OSError) and error.errno:
        error.filename, error.strerror = error.file or None, os.strerror(error.errno)
    return error


class ArgumentError(Error, ValueError):
    """An argument is invalid."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class SystemFailure(Error, OSError):
    """The system failed to open, read, write, sync or rename."""


class AccessDenied(SystemFailure, PermissionError):
    """The system does not permit the access."""


class FormatError(Error, ValueError):
    """The input is invalid in its format."""


class UnsupportedError(Error, ValueError):
    """The input is valid, but the library or the recorder does not support it."""


class NoSuchFile(Error, FileNotFoundError):
    """There is no such file."""


class NotFoundError(Error, KeyError):
    """There is no such tensor, recorder or section."""


class MismatchError(Error, ValueError):
    """A record does not match the type that it is read with."""


class RangeError(Error, ValueError):
    """A number is out of range of its new type."""


class LimitError(Error, ValueError):
    """The input exceeds a limit of memory or nesting."""


class PluginError(Error, RuntimeError):
    """A plugin is unusable."""


class ConfigError(Error, ValueError):
    """The configuration has an error; `file` and `line` say where."""


class Cancelled(Error):
    """The progress callback raised an exception, which is the `__cause__`. Files are unchanged."""


class NeedsType(Error, ValueError):
    """The file has no names: give a type."""


class NotSynced(Error, OSError):
    """The new file is complete and in place, but its directory could not be synced."""


KINDS: dict[int, type[Error]] = {
    lib.REC_E_ARGUMENT: ArgumentError,
    lib.REC_E_MEMORY: OutOfMemoryError,
    lib.REC_E_IO: SystemFailure,
    lib.REC_E_FORMAT: FormatError,
    lib.REC_E_UNSUPPORTED: UnsupportedError,
    lib.REC_E_NOT_FOUND: NotFoundError,
    lib.REC_E_MISMATCH: MismatchError,
    lib.REC_E_RANGE: RangeError,
    lib.REC_E_LIMIT: LimitError,
    lib.REC_E_PLUGIN: PluginError,
    lib.REC_E_CONFIG: ConfigError,
    lib.REC_E_CANCELLED: Cancelled,
    lib.REC_E_TYPE: NeedsType,
    lib.REC_E_SYNC: NotSynced,
}
for _each in (Error, NoSuchFile, AccessDenied, *KINDS.values()):
    _each.__module__ = "librecord"  # where users find it


def _kind(status: int, errno: int) -> type[Error]:
    if status == lib.REC_E_NOT_FOUND and errno:
        return NoSuchFile
    if status == lib.REC_E_IO and errno in (system.EACCES, system.EPERM):
        return AccessDenied
    return KINDS.get(status, Error)


def last() -> Error:
    """Returns the calling thread's last error as an exception."""
    status, errno, offset = lib.rec_error_status(), lib.rec_error_errno(), lib.rec_error_offset()
    parts = {name: text(getattr(lib, f"rec_error_{name}")()) for name in ("file", "path", "expected", "found", "hint")}
    parts["status"] = text(lib.rec_status_name(status))
    numbers = {"offset": None if offset == UNKNOWN else offset, "line": lib.rec_error_line(), "errno": errno or None}
    return _rebuild(_kind(status, errno), (text(lib.rec_error_message()),), {**parts, **numbers})


def fail() -> NoReturn:
    """Raises the last error; after an exception in a callback, `Cancelled` from it."""
    error, failure = last(), operation.failure
    operation.failure = None
    if failure is not None and not isinstance(failure, Exception):
        raise failure  # KeyboardInterrupt, SystemExit
    raise error from failure


def check(status: int) -> None:
    """Raises the last error if a function returned one."""
    if status != lib.REC_OK:
        fail()


def made(pointer: Any) -> Any:
    """Returns a pointer that a function returned; NULL raises the last error."""
    if pointer == ffi.NULL:
        fail()
    return pointer


class Note(NamedTuple):
    """A note of an operation: something that succeeded, but not as one might expect."""

    kind: str
    path: str
    text: str
    number: int  #: of the values or elements that it is about


NOTE_KINDS = {
    value: name[len("REC_NOTE_") :].lower()
    for name, value in ((name, getattr(lib, name)) for name in dir(lib) if name.startswith("REC_NOTE_"))
}


def notes() -> list[Note]:
    """Returns the notes of the calling thread's last operation, at most 1,000."""
    result = []
    for index in range(lib.rec_report_count()):
        note = lib.rec_report_note(index)
        if not note:
            break
        result.append(Note(NOTE_KINDS.get(note.kind, "other"), text(note.path), text(note.text), note.count))
    return result
