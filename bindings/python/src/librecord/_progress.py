# SPDX-License-Identifier: MIT OR Apache-2.0
"""Progress of an operation: a callable, or a bar with tqdm's interface."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

from ._library import UNKNOWN, operation

#: A function of (operation, done, total); or tqdm's class, or one of its bars. `done` and `total` are bytes; `total` is
#: None where it is unknown. An exception in it stops the operation, which leaves files unchanged.
Progress = Union[Callable[[str, int, Optional[int]], Any], Any, None]


class _Bar:
    """Feeds a bar of tqdm; each phase ("convert", "check") starts again from 0."""

    def __init__(self, bar: Any):
        self.bar = bar
        self.phase = ""

    def __call__(self, phase: str, done: int, total: Optional[int]) -> None:
        if phase != self.phase or done < self.bar.n:
            self.phase = phase
            self.bar.reset(total)
            self.bar.set_description(phase)
        if total != self.bar.total:
            self.bar.total = total
        self.bar.update(done - self.bar.n)


def _function(progress: Any) -> tuple[Optional[Callable[..., Any]], Any]:
    """Returns the function to call, and the bar to close at the end."""
    if progress is None or not hasattr(progress, "update"):
        return progress, None
    made = progress(total=None, unit="B", unit_scale=True) if isinstance(progress, type) else None
    return _Bar(made if made is not None else progress), made


@contextmanager
def reporting(progress: Progress) -> Iterator[None]:
    """Calls `progress` for each step of the operations in the block, on this thread."""
    function, opened = _function(progress)
    before, operation.failure = operation.progress, None
    if function is not None:
        operation.progress = lambda phase, done, total: function(phase, done, None if total == UNKNOWN else total)
    try:
        yield
    finally:
        operation.progress = before
        if opened is not None:
            opened.close()
    if operation.failure is not None:  # raised in the last step, where the operation does not stop any more
        raise operation.failure
