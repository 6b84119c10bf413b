# SPDX-License-Identifier: MIT OR Apache-2.0
"""librecord: load, save, convert and inspect records of Burn, and safetensors, PyTorch, GGUF and NumPy files.

    import librecord

    with librecord.open("model.mpk") as record:     # a mapping of names to lazy tensors
        weight = record["fc.weight"]                # shape, dtype, id; no data are read
        rows = weight[0:10]                         # reads these rows
    arrays = librecord.load_file("model.mpk")       # a dict of NumPy arrays
    librecord.save_file(arrays, "model.safetensors")
    librecord.convert("old.mpk", "new.bpk")
"""
from ._command import Diff, diff
from ._convert import Family, Line, Plan, Plugin, Problem, Report, convert, families, plan, plugins, recognise
from ._errors import (
    AccessDenied,
    ArgumentError,
    Cancelled,
    ConfigError,
    Error,
    FormatError,
    LimitError,
    MismatchError,
    NeedsType,
    NoSuchFile,
    NotFoundError,
    Note,
    NotSynced,
    OutOfMemoryError,
    PluginError,
    RangeError,
    SystemFailure,
    UnsupportedError,
)
from ._library import library_version
from ._record import Group, Origin, Record, guard_maps, load, load_file, open
from ._save import save, save_file
from ._tensor import Tensor

__version__ = "0.9.0"

__all__ = [
    "AccessDenied",
    "ArgumentError",
    "Cancelled",
    "ConfigError",
    "Diff",
    "Error",
    "Family",
    "FormatError",
    "Group",
    "LimitError",
    "Line",
    "MismatchError",
    "NeedsType",
    "NoSuchFile",
    "NotFoundError",
    "NotSynced",
    "Note",
    "Origin",
    "OutOfMemoryError",
    "Plan",
    "Plugin",
    "PluginError",
    "Problem",
    "RangeError",
    "Record",
    "Report",
    "SystemFailure",
    "Tensor",
    "UnsupportedError",
    "convert",
    "diff",
    "families",
    "guard_maps",
    "library_version",
    "load",
    "load_file",
    "open",
    "plan",
    "plugins",
    "recognise",
    "save",
    "save_file",
]
