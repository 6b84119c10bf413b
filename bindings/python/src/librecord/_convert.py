# SPDX-License-Identifier: MIT OR Apache-2.0
"""Conversion between files, and its plan."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from typing import Any, NamedTuple, Optional, Union

from ._errors import Note, check, made, notes
from ._library import context, encoded, ffi, lib, text
from ._progress import Progress, reporting
from ._record import Options, new_recorder, set_options, set_type
from ._save import _writer
from ._dtypes import name_of

Path = Union[str, "os.PathLike[str]"]


class Report(NamedTuple):
    """The result of a conversion."""

    source: str
    target: str
    notes: list[Note]  #: what was assumed, dropped, or recognised by its shape


class Line(NamedTuple):
    """What happens to a tensor. Shapes are outermost first; dtypes are librecord's names, "" if it is not a tensor."""

    action: str  #: "mapped", "dropped", "unexpected", "missing", "kept" or "default"
    source: str  #: the file
    inputs: tuple[str, ...]  #: all keys that form it
    to: str  #: the path at the destination
    operations: str  #: "rope, transpose"; "" if the bytes are unchanged
    why: str
    dtype_before: str
    dtype_after: str
    shape_before: tuple[int, ...]
    shape_after: tuple[int, ...]


class Problem(NamedTuple):
    """A problem of a plan; a fatal one must be decided before the plan can be carried out."""

    kind: str
    fatal: bool
    key: str
    text: str
    hint: str


def _names(prefix: str) -> dict[int, str]:
    return {getattr(lib, name): name[len(prefix) :].lower() for name in dir(lib) if name.startswith(prefix)}


ACTIONS = _names("REC_PLAN_")
PROBLEMS = _names("REC_PROBLEM_")


def _dtype(number: int) -> str:
    return "" if number == lib.REC_DTYPE_NONE else name_of(number)


def _shape(pointer: Any, rank: int) -> tuple[int, ...]:
    return tuple(ffi.unpack(pointer, rank)) if pointer and rank else ()


def _line(found: Any) -> Line:
    inputs = tuple(text(found.inputs[index]) for index in range(found.input_count))
    return Line(
        ACTIONS.get(found.action, "other"),
        text(found.source),
        inputs,
        text(found.to),
        text(found.operations),
        text(found.why),
        _dtype(found.dtype_before),
        _dtype(found.dtype_after),
        _shape(found.shape_before, found.rank_before),
        _shape(found.shape_after, found.rank_after),
    )


class Plan(Sequence[Line]):
    """What a conversion would do, tensor by tensor, known from the headers alone. A sequence of lines."""

    def __init__(self, pointer: Any):
        self._pointer = pointer
        self._lines = [
            _line(made(lib.rec_plan_get(self._pointer, index))) for index in range(lib.rec_plan_count(self._pointer))
        ]

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: Any) -> Any:
        return self._lines[index]

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)

    @property
    def problems(self) -> list[Problem]:
        """The problems; those that are fatal first need a decision."""
        result = []
        for index in range(lib.rec_plan_problem_count(self._pointer)):
            found = made(lib.rec_plan_problem_get(self._pointer, index))
            kind = PROBLEMS.get(found.kind, "other")
            result.append(Problem(kind, bool(found.fatal), text(found.key), text(found.text), text(found.hint)))
        return result

    def to_pandas(self) -> Any:
        """Returns the lines as a pandas.DataFrame."""
        return import_module("pandas").DataFrame(self._lines, columns=Line._fields)

    def __repr__(self) -> str:
        fatal = sum(problem.fatal for problem in self.problems)
        return f"<librecord.Plan: {len(self)} lines, {fatal} fatal problems>"

    def _repr_html_(self) -> str:
        return _html(self)


def _html(plan: Plan) -> str:
    def cells(values: tuple[object, ...], kind: str = "td") -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(str(value))}</{kind}>" for value in values) + "</tr>"

    head = cells(("action", "from", "to", "operations", "why"), "th")
    rows = [cells((line.action, ", ".join(line.inputs), line.to, line.operations, line.why)) for line in plan]
    problems = "".join(f"<li>{escape(problem.key)}: {escape(problem.text)}</li>" for problem in plan.problems)
    return f"<p>{escape(repr(plan))}</p><table>{head}{''.join(rows)}</table><ul>{problems}</ul>"


def _arguments(
    profile: Optional[str], rename: Sequence[tuple[str, str]], options: Optional[Options]
) -> dict[str, Any]:
    result: dict[str, Any] = {"rename": [f"{pattern} => {replacement}" for pattern, replacement in rename]}
    if profile is not None:
        result["profile"] = profile
    return {**result, **(options or {})}


def _reader(recorder: str, type_of: Optional[str], arguments: Options) -> Any:
    reader = new_recorder(recorder, "keep")
    set_options(reader, arguments)
    set_type(reader, type_of)
    return reader


def convert(
    source: Path,
    target: Path,
    *,
    burn: Optional[str] = None,
    precision: str = "keep",
    type: Optional[str] = None,  # noqa: A002
    profile: Optional[str] = None,
    rename: Sequence[tuple[str, str]] = (),
    source_recorder: str = "Auto",
    target_recorder: str = "Auto",
    options: Optional[Options] = None,
    save_options: Optional[Options] = None,
    progress: Progress = None,
) -> Report:
    """Converts a file, tensor by tensor, as the command `record convert` does: foreign layouts become Burn's.

    Args:
        source, target: paths; the format of the target is that of its extension.
        burn: the version of Burn whose layout is written, "0.21".
        precision: "keep", "full" (f32, i32), "half" (f16, i16) or "double" (f64, i64).
        type: the type of the records, "model.rs:Model", "Adam".
        profile: rules for a family of models, "llama"; "auto": those that match the file.
        rename: pairs of a pattern and its replacement.
        source_recorder, target_recorder: the formats, if they are not recognised.
        options: other load arguments, {"adapter": "pytorch", "partial": True}.
        save_options: of the writing recorder, {"sync": False}.
        progress: a function of (step, done, total), or tqdm.
    """
    reader = _reader(source_recorder, type, _arguments(profile, rename, options))
    writer = _writer(target_recorder, precision, burn, type, save_options)
    with reporting(progress):
        check(lib.rec_convert(reader, os.fsencode(source), writer, os.fsencode(target), ffi.NULL))
    return Report(os.fspath(source), os.fspath(target), notes())


def plan(
    source: Path,
    target: Path,
    *,
    burn: Optional[str] = None,
    precision: str = "keep",
    type: Optional[str] = None,  # noqa: A002
    profile: Optional[str] = None,
    rename: Sequence[tuple[str, str]] = (),
    source_recorder: str = "Auto",
    target_recorder: str = "",
    options: Optional[Options] = None,
) -> Plan:
    """Returns what convert() would do, without reading data or writing a file. The arguments are those of convert()."""
    reader = _reader(source_recorder, type, _arguments(profile, rename, options))
    name = target_recorder or text(made(lib.rec_plugin_for_path(context, os.fsencode(target))).name)
    writer = _writer(name, precision, burn, type, None)
    pointer = ffi.gc(made(lib.rec_plan_new(context, writer)), lib.rec_plan_free)
    check(lib.rec_plan_add(pointer, reader, os.fsencode(source)))
    check(lib.rec_plan_make(pointer))
    return Plan(pointer)


class Family(NamedTuple):
    """A family of models that matches a file."""

    profile: str  #: for convert(profile=…)
    name: str
    fits: bool  #: all tensors belong to the family, in its shapes
    others: tuple[str, ...]  #: profiles for the same files with another destination
    select: str  #: the path above the tensors
    but: str  #: why it is uncertain


def families(path: Path) -> list[Family]:
    """Returns the families of models that match the tensors of a file; else those that nearly match."""
    from ._record import open as open_record

    count = ffi.new("uint64_t *")
    with open_record(path, options={"data": "skip"}) as record:
        found = made(lib.rec_record_families(record.handle.pointer, os.fsencode(path), count))
    try:
        return [_family(found[index]) for index in range(count[0])]
    finally:
        lib.rec_free(found)


def _family(found: Any) -> Family:
    others = tuple(text(found.others).split())
    return Family(text(found.profile), text(found.name), bool(found.fits), others, text(found.select), text(found.but))


def recognise(path: Path) -> str:
    """Returns the name of the recorder that reads a file, by its contents and name."""
    return text(made(lib.rec_recognise(context, os.fsencode(path))))


class Plugin(NamedTuple):
    """A plugin: a format, a codec, a source."""

    name: str
    kind: str  #: "format", "codec", "stack", "source" or "scheme"
    extensions: tuple[str, ...]
    description: str
    can_load: bool
    can_save: bool
    needs_type: bool  #: reading needs a type
    file: str  #: the shared object, or "built in"
    refused: str  #: "" or why it is unusable


KINDS = {getattr(lib, "REC_PLUGIN_" + name.upper()): name for name in ("format", "codec", "stack", "source", "scheme")}


def _plugin(found: Any) -> Plugin:
    extensions = tuple(each for each in text(found.extensions).split(", ") if each)
    return Plugin(
        text(found.name),
        KINDS.get(found.kind, "other"),
        extensions,
        text(found.description),
        bool(found.can_load),
        bool(found.can_save),
        bool(found.needs_type),
        text(found.file),
        text(found.refused),
    )


def plugins() -> list[Plugin]:
    """Returns all plugins, with those that are unusable and why."""
    return [_plugin(made(lib.rec_plugin_get(context, index))) for index in range(lib.rec_plugin_count(context))]
