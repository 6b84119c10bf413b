# SPDX-License-Identifier: MIT OR Apache-2.0
"""The shared library: where it is found, and the context that all operations share."""
from __future__ import annotations

import os
import threading
from typing import Any, Iterator, Optional

from ._ffi import ffi as ffi

SONAME = "librecord.so.0"
INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib")
COMMAND_PLACES = ("record", "bin/record", "tools/.libs/record")
LIBRARY_PLACES = (SONAME, "lib/" + SONAME, ".libs/" + SONAME)


def _directories() -> Iterator[str]:
    chosen = os.environ.get("LIBRECORD_DIR")
    if chosen:
        yield chosen
    yield INSIDE


def _inside(names: tuple[str, ...]) -> Optional[str]:
    """Returns the first of these files in LIBRECORD_DIR, or else in the package; None: neither has one."""
    for directory in _directories():
        for name in names:
            path = os.path.join(directory, name)
            if os.path.exists(path):
                return path
    return None


def command_path() -> Optional[str]:
    """Returns the path of the command `record`: LIBRECORD_DIR's, the package's, or the one in PATH."""
    from shutil import which

    return _inside(COMMAND_PLACES) or which("record")


def _load() -> Any:
    chosen = os.environ.get("LIBRECORD_DIR")
    path = _inside(LIBRARY_PLACES)
    if chosen and not (path and path.startswith(chosen)):
        raise ImportError(f"LIBRECORD_DIR: {chosen}: found no {SONAME} there, in lib/ or in .libs/")
    try:
        return ffi.dlopen(path or SONAME)
    except OSError as error:
        raise ImportError(
            f"librecord: cannot open {path or SONAME}: {error}\nInstall librecord, or set LIBRECORD_DIR."
        ) from error


lib = _load()


class _Operation(threading.local):
    """The callback and the failure of the operation that this thread runs."""

    progress: Any = None
    failure: Optional[BaseException] = None


operation = _Operation()


def _keep(_kind: type, failure: BaseException, _trace: Any) -> int:
    operation.failure = failure
    return 1


def _on_progress(_user: Any, progress: Any) -> int:
    if operation.progress is not None:
        operation.progress(text(progress.step), progress.overall_done, progress.overall_total)
    return 0


def text(pointer: Any) -> str:
    """Returns a C string; bytes that are not UTF-8 become surrogates, as in os.fsdecode()."""
    return ffi.string(pointer).decode("utf-8", "surrogateescape") if pointer else ""


def encoded(value: str) -> bytes:
    """Returns the bytes of a str for the library."""
    result = value.encode("utf-8", "surrogateescape")
    if b"\0" in result:
        raise ValueError(f"{value!r}: a name cannot hold a NUL")
    return result


progress_callback = ffi.callback("int32_t(void *, const rec_progress *)", _on_progress, error=1, onerror=_keep)


def _new_context() -> Any:
    made = lib.rec_context_new(ffi.NULL)
    if not made:
        raise MemoryError("librecord: out of memory")
    lib.rec_context_set_progress(made, progress_callback, ffi.NULL)
    return made


context = _new_context()
library_version = text(lib.rec_version_string())
UNKNOWN = 2**64 - 1
