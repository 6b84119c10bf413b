# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a row, an operation and a file of bench/run are. A table of rows is a part: rows_*.py."""
from dataclasses import dataclass
from typing import Callable, Optional


@dataclass(frozen=True)
class Op:
    """One operation that is timed: a line for a process (candidates.py). `{d}/NAME` in it is a file: an input if the part
    says how it is made, an output otherwise."""
    kind: str            # ours, burn, crate …: which program
    payload: str         # mb, gz_mb, json_mb: the option that says how large the process's model is; "" for none
    line: str
    cold: bool = False   # its inputs are dropped from the page cache before; otherwise they are read again
    fresh: bool = False  # in a process of its own
    lazy: bool = False   # reads only a little of its inputs: done once before the time instead of reading them all again


@dataclass(frozen=True)
class Beside:
    """What an operation is compared with."""
    name: str
    op: Op


@dataclass(frozen=True)
class File:
    """An input: how it is made and how it is known to be right."""
    make: Op
    check: Optional[Op] = None


@dataclass(frozen=True)
class Row:
    """One line of the table: the time of `op` (beside another, or alone), or what the function `figure` finds."""
    what: str
    op: Optional[Op] = None
    beside: Optional[Beside] = None
    at_least: Optional[float] = None  # how many times as fast as what it is beside
    below: Optional[float] = None     # milliseconds
    figure: Optional[Callable] = None # (bench, side) -> a number
    unit: str = "MiB"                 # of that number
    at_most: Optional[float] = None   # of that number
    needs: tuple = ()                 # names of files that `figure` wants

    def operations(self):
        return ([self.op] if self.op else []) + ([self.beside.op] if self.beside else [])

    def title(self):
        return f"{self.what}, beside {self.beside.name}" if self.beside else self.what


def ours(line, payload="mb", **how):
    return Op("ours", payload, line, **how)


def burn(line, payload="mb"):
    return Op("burn", payload, line)
