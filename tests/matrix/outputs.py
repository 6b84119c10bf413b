# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the command, and makes trees of what it prints, so that they can be compared with what kinds.py made.

A tree has dicts, lists, numbers, texts, True, False and None. Bytes are texts in base64, a tensor is the dict of its
element type, shape, size in bytes and id, and a checksum where the output has one.
"""
import base64
import hashlib
import json
import math
import re
import subprocess

import kinds

ABSENT = "(absent)"


class Run:
    """A run of the command."""

    count = 0

    def __init__(self, record, directory, arguments):
        Run.count += 1
        done = subprocess.run([record, *arguments], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        self.words = " ".join(arguments)
        self.status = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    def crash(self):
        """What is wrong with any command: a signal, or a sanitizer's words."""
        if self.status < 0 or self.status > 3 or re.search(r"Sanitizer|runtime error:", self.err):
            return f"{self.words}: ended by {self.status}: {self.err[:600]}"
        return None

    def other_status(self, *expected):
        """What is wrong if the status is none of these."""
        return None if self.status in expected else f"{self.words}: status {self.status}: {self.err[:300]}"


def notes_of(done):
    """All notes of a conversion with --json, a line each."""
    return "\n".join(f"{note['path']}: {note['text']}" for note in json.loads(done.out)["notes"])


# ----------------------------------------------------------------------------------------------------------- what it is


CANONICAL = {"flex32": "f32", "bool8": "bool", "bool32": "bool"}


def checksum(tensor):
    """The SHA-256 that the command prints: of the element type and shape, a line, and the elements."""
    dtype = CANONICAL.get(tensor.dtype, tensor.dtype)
    data = tensor.data[::4] if tensor.dtype == "bool32" else tensor.data
    return hashlib.sha256(f"{dtype} {tensor.shape}\n".encode() + data).hexdigest()


def tree_of(value, ids=True, plain=True):
    """The tree of a value of kinds.py. @param ids parameters have their ids. @param plain without checksums."""
    if isinstance(value, kinds.Tensor):
        tensor = {"dtype": value.dtype, "shape": value.shape, "nbytes": len(value.data),
                  "id": value.id if ids else None}
        return tensor if plain else {**tensor, "sha256": checksum(value)}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        same = not value or isinstance(value[0], (int, float, str)) and len(set(map(type, value))) == 1
        return value if same else [tree_of(item, ids, plain) for item in value]
    if isinstance(value, dict):
        return {key: tree_of(item, ids, plain) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return float(value) if isinstance(value, float) else value


def text_of(tree):
    """A text that is equal for equal trees only: minus zero is not zero, and true is not 1."""
    return json.dumps(tree)


def excerpt(text):
    return text if len(text) < 160 else text[:120] + " … " + text[-30:]


def difference(expected, found):
    """Returns what differs of two texts of trees, None if they are equal."""
    return None if expected == found else f"expected {excerpt(expected)}, found {excerpt(found)}"


def differing(done):
    """The kinds that `diff --json` finds to differ."""
    found = json.loads(done.out)
    entries = [entry for part in ("removed", "added", "renamed", "tensors", "values") for entry in found[part]]
    return {split(entry["key"])[0] for entry in entries}


# --------------------------------------------------------------------------------------------------- what it printed


def shown(text):
    """The tree that `show --json` prints."""
    return json.loads(text)["value"]


def split(path):
    """The names in a path; dots and backslashes inside one have a backslash before them."""
    if "\\" not in path:
        return path.split(".")
    return [re.sub(r"\\([.\\])", r"\1", name) for name in re.findall(r"(?:^|\.)((?:[^.\\]|\\.)*)", path)]


def lists_in(tree):
    """Makes lists of dicts with the keys 0, 1, 2…"""
    if not isinstance(tree, Level):
        return tree
    items = {name: lists_in(item) for name, item in tree.items()}
    return list(items.values()) if list(items) == [str(index) for index in range(len(items))] else items


class Level(dict):
    """A list or map that is being put together."""


def listing(text):
    """The tree of the tensors and values that `ls --json` prints."""
    root = Level()
    found = json.loads(text)
    for entry in found["tensors"] + found["values"]:
        *above, name = split(entry["key"])
        level = root
        for part in above:
            level = level.setdefault(part, Level())
        if "dtype" in entry:
            fields = ("dtype", "shape", "nbytes", "id", "sha256")
            level[name] = {field: entry[field] for field in fields if field in entry}
        else:
            level[name] = entry["value"]
    return lists_in(root)
