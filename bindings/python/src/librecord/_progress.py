# SPDX-License-Identifier: MIT OR Apache-2.0
"""Progress of an operation: a callable, or a bar with tqdm's interface."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Union

from ._library import operation

#: A function of (step, done, total); or tqdm's class, or one of its bars. `step` is "read", "write" or "check"; `done`
#: of `total` is the part of the whole operation, without a unit, and never decreases. An exception in the function stops
#: the operation, which leaves files unchanged.
Progress = Union[Callable[[str, int, int], Any], Any, None]


class _Bar:
    """Feeds a bar of tqdm."""

    def __init__(self, bar: Any):
        self.bar = bar
        self.step = ""

    def __call__(self, step: str, done: int, total: int) -> None:
        if not self.step:
            self.bar.reset(total)
        if step != self.step:
            self.step = step
            self.bar.set_description(step)
        self.bar.total = total
        self.bar.update(done - self.bar.n)


def _function(progress: Any) -> tuple[Any, Any]:
    """Returns the function to call, and the bar to close at the end."""
    if progress is None or not hasattr(progress, "update"):
        return progress, None
    own = progress(bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}") if isinstance(progress, type) else None
    return _Bar(own if own is not None else progress), own


@contextmanager
def reporting(progress: Progress) -> Iterator[None]:
    """Calls `progress` for each step of the operations in the block, on this thread."""
    function, opened = _function(progress)
    before, operation.failure = operation.progress, None
    operation.progress = function
    try:
        yield
    finally:
        operation.progress = before
        if opened is not None:
            opened.close()
    if operation.failure is not None:  # raised in the last step, where the operation does not stop any more
        raise operation.failure
