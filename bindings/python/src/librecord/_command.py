# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command `record`, and what the library has only there."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, Union

from ._errors import Error
from ._library import command_path


def _path() -> str:
    found = command_path()
    if found is None:
        raise FileNotFoundError("the command record is neither in the package nor in PATH: install librecord")
    return found


def run(arguments: Sequence[str]) -> NoReturn:
    """Replaces the process by the command `record` with these arguments."""
    os.execv(_path(), ["record", *arguments])


def main() -> NoReturn:
    """The console script `record`, and `python -m librecord`."""
    try:
        run(sys.argv[1:])
    except FileNotFoundError as error:
        sys.exit(f"record: {error}")


class Diff(dict[str, Any]):
    """The result of diff(): the JSON of `record diff --json`. It is true if the records differ."""

    @property
    def equal(self) -> bool:
        return bool(self["equal"])

    def __bool__(self) -> bool:
        return not self.equal

    def __repr__(self) -> str:
        return f"<librecord.Diff: {'equal' if self.equal else self['totals']}>"


def diff(
    a: Union[str, "os.PathLike[str]"],
    b: Union[str, "os.PathLike[str]"],
    *,
    atol: float = 0.0,
    rtol: float = 0.0,
    arguments: Sequence[str] = (),
) -> Diff:
    """Compares two records: structure, then values.

    Args:
        atol, rtol: differences to ignore, absolute and relative to the larger number.
        arguments: other options of `record diff`, ["--ids"].

    Returns:
        A dict with "equal", "added", "removed", "renamed", "tensors" (those that differ), "values" and "totals".
    """
    words = [_path(), "diff", "--json", "--atol", repr(atol), "--rtol", repr(rtol), *arguments, "--"]
    done = subprocess.run([*words, os.fspath(a), os.fspath(b)], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise Error(done.stderr.decode("utf-8", "replace").strip())
    return Diff(json.loads(done.stdout))
