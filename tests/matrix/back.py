#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""back.py RECORD DIRECTORY [--full]: records that go through two formats and come back.

Four ways: `untyped` (record -> A -> B -> record), `typed` (the same, with the type of the record at the end),
`reversed` (a model of PyTorch -> record in A -> --reverse -> B), and `foreign` (flat names, of no record of Burn, A -> B
-> A). For each pair of formats and each kind of value, what
comes back is equal, or a note on the way names the difference. The table allowed-notes lists the notes that may be
printed, for which formats and kinds, and what each covers: any other note is a failure, and so is a difference that no
note covers.

Without --full, each pair takes one of `untyped` and `typed`, and its neighbours the other.

What other programs read is compared with what they read: each file of `untyped` by the reader of its format (msgpack,
json, numpy, torch, safetensors, gguf), and each file of `reversed` and `foreign`. Readers that are not installed
are skipped.

A cell is WAY/A/B/KIND, or judge/FORMAT/KIND.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

import judges
import kinds
import outputs
import values
from expected import Expected

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = ("mpk", "json", "bin", "bpk", "safetensors", "pt", "npz", "gguf")
COMPRESSED = ("mpk.gz", "mpk.zst", "json.gz", "bin.gz", "safetensors.zst")
SIZES, SIZES_FULL = (3,), (0, 1, 3, 65, 4097)
RAW = ("--adapter", "none")
NO_BARE = ("bpk", "pt", "npz", "gguf")  # they do not tell a bare tensor from a parameter


# ------------------------------------------------------------------------------------------------------------- the kinds


def parameter(number, shape=(2,)):
    return kinds.tensor("f32", "F32", "f", list(shape), f"{number:011d}g0")


def places():
    """Lists and names: where a value stands, and not what it is."""
    return {
        "list_of_params": [parameter(n) for n in range(12)],
        "list_with_none": [None, parameter(20), None, parameter(21)],
        "list_tail_none": [parameter(30), None, None],
        "list_in_list": [[parameter(40)], [], [parameter(41), parameter(42)]],
        "map_of_params": {"weight": parameter(50), "bias": parameter(51)},
        "map_deep": {"a": {"b": {"c": {"d": parameter(60)}}}},
        "map_numbers": {"1": parameter(70)},
        "map_dotted": {"a.b": parameter(71), "c": parameter(72)},
        "map_bare": {"moment": kinds.tensor("f32", "F32", "f", [2])},
    }


def kinds_at(size):
    return {**values.kinds_at(size), **places()}


# -------------------------------------------------------------------------------------------------- what may be different


class Allowed:
    """A row of allowed-notes: a pattern of formats, of kinds and of the note, and what differences it covers."""

    def __init__(self, place, fields):
        self.place, self.used = place, False
        self.form, self.kinds, self.note = (re.compile(pattern) for pattern in fields[:3])
        self.covers = set(fields[3].split(",")) - {"nothing"}


def read_allowed():
    rows = []
    with open(os.path.join(HERE, "allowed-notes"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\n").split("\t")
            if line.strip() and not line.startswith("#"):
                if len(fields) != 5 or not all(fields):
                    raise ValueError(f"allowed-notes:{number}: expected FORMAT, KINDS, NOTE, COVERS and REASON between tabs")
                rows.append(Allowed(f"allowed-notes:{number}", fields))
    return rows


class Step:
    """A conversion that was done: its notes, as far as they are allowed."""

    def __init__(self, form, done, rows):
        self.form, self.problem, self.rows = form, done.crash() or done.other_status(0), []
        for note in [] if self.problem else json.loads(done.out)["notes"]:
            text = f"{note['path']}: {note['text']}"
            row = next((row for row in rows if row.form.fullmatch(form) and row.note.search(text)), None)
            if row is None:
                self.problem = f"{done.words}: a note that is not in allowed-notes: {text}"
                continue
            row.used = True
            self.rows.append(row)

    def covers(self, kind, what):
        return any(what in row.covers and row.kinds.fullmatch(kind) for row in self.rows)


def difference_of(expected, found):
    """What differs: absent, changed, bare (a parameter or no parameter), ids; None if nothing does. A tensor that has an
    id is a parameter."""
    if found == outputs.ABSENT:
        return None if expected is None else "absent"  # nil holds nothing
    if isinstance(expected, dict) and isinstance(found, dict) and "dtype" in expected and "dtype" in found:
        if {**expected, "id": None} != {**found, "id": None}:
            return "changed"
        if (expected["id"] is None) != (found["id"] is None):
            return "bare"
        return "ids" if expected["id"] != found["id"] else None
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        return worst(difference_of(expected[key], found[key]) for key in expected)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return worst(difference_of(one, other) for one, other in zip(expected, found))
    return None if outputs.text_of(expected) == outputs.text_of(found) else "changed"


def worst(differences):
    found = set(differences) - {None}
    return next((what for what in ("absent", "changed", "bare", "ids") if what in found), None)


def differences_of(expected, found):
    """All that differs below a value: a set."""
    if isinstance(expected, dict) and isinstance(found, dict) and "dtype" not in expected and expected:
        return set().union(*(differences_of(expected[key], found.get(key, outputs.ABSENT)) for key in expected))
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found) and expected:
        return set().union(*(differences_of(one, other) for one, other in zip(expected, found)))
    one = difference_of(expected, found)
    return {one} if one else set()


# --------------------------------------------------------------------------------------------------------------- the ways


class Chain:
    """A record through two formats and back. `cells` are (cell, problem or None)."""

    def __init__(self, record, directory, rows, way, size, pair):
        self.record, self.rows, self.way, self.size, self.pair, self.cells = record, rows, way, size, pair, []
        self.directory = f"{directory}/{way}-{size}-{'-'.join(pair)}"

    def run(self, *arguments):
        return outputs.Run(self.record, self.directory, arguments)

    def read(self, form, name):
        """What another program reads of a file; a file that it rejects is a failure."""
        try:
            return judges.read(form, os.path.join(self.directory, name))
        except Exception as why:  # whatever the reader raises
            self.check("load", f"its own reader rejects {name}: {why}")
            return None

    def check(self, kind, problem=None):
        self.cells.append((f"{self.way}/{'/'.join(self.pair)}/{kind}", problem))

    # What a type has no word for: Complex64, and bytes, for which it has a list.
    UNTYPED = re.compile("tensor_opaque|bytes|list_bytes|map_mixed")
    BARE = re.compile("tensor_.*|map_bare")

    def rejected(self, kind):
        """Whether the way rejects a kind: a format does (values.py tests that), or a type asks for what an earlier step
        lost, which its note said."""
        lacks = [values.cannot(form, kind) for form in self.pair]
        if any(one and one[0] is None for one in lacks):
            return True
        typed = [self.way == "typed" or form.startswith("bin") for form in (*self.pair[1:], "mpk")]
        typed[-1] = self.way == "typed"
        if any(typed) and self.UNTYPED.fullmatch(kind):
            return True
        for number, one in enumerate(lacks):
            later = any(typed[number:])
            if later and one and (one[0] == "KIND" or "NaN" in one[0]):
                return True
            if later and self.BARE.fullmatch(kind) and self.pair[number] in NO_BARE and \
                    any(form not in values.NO_IDS for form in self.pair[number + 1:]):
                return True
            if later and self.pair[number] == "pt" and kind.endswith("_bool32"):
                return True
        return False

    def options(self, form):
        typed = values.TYPED if form.startswith("bin") else ()
        return typed or (RAW if form.split(".")[0] in ("safetensors", "pt", "npz", "gguf") else ())

    def go(self):
        """Writes the record and converts it. @return the steps, None if one failed."""
        names = ["source.mpk", *(f"{number}.{form}" for number, form in enumerate(self.pair)), "back.mpk"]
        held = {kind: value for kind, value in kinds_at(self.size).items() if not self.rejected(kind)}
        with open(os.path.join(self.directory, names[0]), "wb") as file:
            file.write(kinds.record_of({kind: kinds.packed(value) for kind, value in held.items()}))
        with open(os.path.join(self.directory, "model.rs"), "w", encoding="utf-8") as file:
            file.write(self.run("types", names[0]).out.replace("u64 /* or i64 */", "u64"))
        steps = []
        for before, after, form in zip(names, names[1:], [*self.pair, "mpk"]):
            read = self.options(before.split(".", 1)[1]) if before != names[0] else ()
            typed = values.TYPED if form.startswith("bin") or (self.way == "typed" and after == names[-1]) else ()
            options = tuple(dict.fromkeys(read + typed)) if read != typed else typed
            if typed and read == RAW:
                options = RAW + values.TYPED
            step = Step(form, self.run("convert", *values.KEEPING, *options, before, after), self.rows)
            steps.append(step)
            if step.problem:
                self.check("convert", step.problem)
                return None, held
        self.check("convert")
        return steps, held

    def compare(self, steps, held):
        shown = self.run("show", "--json", "back.mpk")
        listed = self.run("ls", "--json", "--sha256", "back.mpk")
        if shown.other_status(0) or listed.other_status(0):
            self.check("show", shown.other_status(0) or listed.other_status(0))
            return
        found, sums = outputs.shown(shown.out), outputs.listing(listed.out)
        for kind, value in held.items():
            tensor = isinstance(value, kinds.Tensor)
            wanted = outputs.tree_of(value, True, not tensor)
            differs = differences_of(wanted, (sums if tensor else found).get(kind, outputs.ABSENT))
            left = sorted(what for what in differs if not any(step.covers(kind, what) for step in steps))
            self.check(kind, f"{' and '.join(left)}, and no note says so: expected {outputs.excerpt(str(wanted))}, found "
                             f"{outputs.excerpt(str((sums if tensor else found).get(kind)))}" if left else None)

    def do(self):
        os.mkdir(self.directory)
        steps, held = self.go()
        if steps:
            self.compare(steps, held)
        subprocess.run(["rm", "-r", self.directory], check=True)
        return self.cells


class Judged(Chain):
    """A file of each format, by a reader that is not librecord's."""

    def __init__(self, record, directory, rows, size, form):
        super().__init__(record, directory, rows, "judge", size, (form,))

    def rejected(self, kind):
        """Also what PyTorch before 2.3 cannot load, so that it loads the rest."""
        return super().rejected(kind) or (self.pair[0] == "pt" and re.fullmatch(".*_(u64|u32|u16|bool32)", kind))

    def do(self):
        os.mkdir(self.directory)
        steps, held = self.go()
        if steps:
            seen = self.read(self.pair[0], "0." + self.pair[0])
            tensors = {kind: value for kind, value in held.items() if isinstance(value, kinds.Tensor)}
            for kind, value in tensors.items() if seen is not None else ():
                self.check(kind, judges.compare(value, seen.get(kind)))
        subprocess.run(["rm", "-r", self.directory], check=True)
        return self.cells


class Reversed(Chain):
    """A model of PyTorch, imported with its type, and back by --reverse."""

    MODEL = """
#[derive(Module, Debug)]
pub struct Model<B: Backend> {
    emb: nn::Embedding<B>,
    layers: Vec<nn::Linear<B>>,
    norm: nn::LayerNorm<B>,
    bn: nn::BatchNorm<B>,
    head: Option<nn::Linear<B>>,
}
"""

    def __init__(self, record, directory, rows, pair):
        super().__init__(record, directory, rows, "reversed", 3, pair)

    def do(self):
        os.mkdir(self.directory)
        burn, out = self.pair
        model = judges.write_model(os.path.join(self.directory, "model.safetensors"))
        if model is not None:
            with open(os.path.join(self.directory, "model.rs"), "w", encoding="utf-8") as file:
                file.write(self.MODEL)
            typed = ("--type", "model.rs:Model")
            one = Step(burn, self.run("convert", "--json", *typed, "model.safetensors", "record." + burn), self.rows)
            two = Step(out, self.run("convert", "--json", *typed, "--reverse", "record." + burn, "back." + out), self.rows)
            self.check("convert", one.problem or two.problem)
            seen = None if one.problem or two.problem else self.read(out, "back." + out)
            for key, tensor in model.items() if seen is not None else ():
                self.check(key, judges.compare(tensor, seen.get(key)))
            extra = sorted(set(seen or ()) - set(model))
            self.check("keys", f"keys that the model does not have: {extra}" if extra else None)
        subprocess.run(["rm", "-r", self.directory], check=True)
        return self.cells


class Foreign(Chain):
    """Tensors under flat names, which keep names and layout between formats that are not Burn's."""

    SHAPES = {"a.weight": [3, 4], "a.bias": [3], "norm.weight": [4], "norm.bias": [4], "l.1.weight": [2, 3], "plain": [2]}

    def __init__(self, record, directory, rows, pair):
        super().__init__(record, directory, rows, "foreign", 3, pair)

    def judge(self, form, name, model):
        seen = self.read(form, name)
        for key, tensor in model.items() if seen is not None else ():
            self.check(f"{form}/{key}", judges.compare(tensor, seen.get(key)))
        self.check(f"{form}/keys", None if seen is None or set(seen) == set(model) else f"other keys: {sorted(seen)}")

    def do(self):
        os.mkdir(self.directory)
        one, two = self.pair
        model = {key: kinds.tensor("f32", "F32", "f", shape) for key, shape in self.SHAPES.items()}
        model["a.steps"] = kinds.tensor("i32", "I32", "i", [2])
        names = ["source." + (one if one == "npz" else "safetensors"), "0." + one, "1." + two, "2." + one]
        path = os.path.join(self.directory, names[0])
        (judges.write_npz(path, model) if one == "npz" else judges.write_safetensors(path, model, None))
        for before, after in zip(names, names[1:]):
            form = after.split(".")[1]
            step = Step(form, self.run("convert", "--json", before, after), self.rows)
            self.check("convert", step.problem)
            if step.problem:
                break
            self.judge(form, after, model)
        subprocess.run(["rm", "-r", self.directory], check=True)
        return self.cells


def tasks_of(record, directory, rows, full):
    formats = FORMATS + (COMPRESSED if full else ())
    for size in SIZES_FULL if full else SIZES:
        for number, one in enumerate(formats):
            yield Judged(record, directory, rows, size, one)
            for other, two in enumerate(formats):
                for turn, way in enumerate(("untyped", "typed")):
                    if full or (number + other) % 2 == turn:
                        yield Chain(record, directory, rows, way, size, (one, two))
    for burn in ("mpk", "json", "bpk", "bin") + (("mpk.gz", "mpk.zst") if full else ()):
        for out in ("safetensors", "pt", "gguf", "npz"):
            yield Reversed(record, directory, rows, (burn, out))
    for one in ("npz", "safetensors", "pt", "gguf"):
        for two in ("npz", "safetensors", "pt", "gguf"):
            yield Foreign(record, directory, rows, (one, two))


def main():
    full = "--full" in sys.argv
    record, directory = [word for word in sys.argv[1:] if word != "--full"]
    rows, expected, cells = read_allowed(), Expected("back"), {}
    for missing in judges.missing():
        print(f"# no {missing}: what it would read is not compared")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda task: task.do(), tasks_of(record, directory, rows, full)):
            for cell, problem in found:
                problems = cells.setdefault(cell, [])
                if problem:
                    problems.append(problem)
    for cell, problems in sorted(cells.items()):
        expected.check(cell, not problems, "\n".join(problems))
    for row in rows:
        if full and not row.used:
            print(f"# {row.place}: no conversion printed this note")
    print(f"# {outputs.Run.count} runs of the command")
    return expected.finish(complete=full)


if __name__ == "__main__":
    sys.exit(main())
