#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""values.py RECORD DIRECTORY [SIZE]...: every kind of value, at sizes around each threshold of the code, in every
format, through every subcommand that reads a file.

All kinds of one size stand in one record, which kinds.py makes without librecord. It is converted to each format, and
the subcommands run on the result. Expected: no signal and no word of a sanitizer, the right exit status, and the same
value in every output. CANNOT lists what a format cannot hold: the command must reject it by name, or print a note
that names it.

With LIBRECORD_TEST_EVERY=n, each format takes every n-th size, but one or more of each kind of size.

A cell is COMMAND/FORMAT, or convert/FORMAT/KIND for what a conversion makes of a kind. Its message lists the sizes at
which it fails.
"""
import concurrent.futures
import functools
import os
import re
import sys

import kinds
import outputs
from expected import Expected

THRESHOLDS = (48, 64, 256, 4096, 65536, 1 << 20)
SIZES = [0, 1] + [threshold + step for threshold in THRESHOLDS for step in (-1, 0, 1)]
OTHERS_AT = (0, 1, 65, 4097)  # sizes at which the commands run that do not print every value
ALONE_AT = (0, 1)             # sizes at which each kind that a format cannot hold is converted alone
COMPRESSED_AT = (0, 65, 4097, 65536)
MANY_AT = (65535, 65536)      # entries of lists and maps that stand in a record of their own
LISTED_UP_TO = 257            # sizes at which ls lists values: it takes a line for each

# Formats, and the options with which they are read. Foreign ones would be adapted to Burn's layout.
RAW = ("--adapter", "none")
TYPED = ("--type", "model.rs:Model")
FORMATS = {"mpk": (), "json": (), "bin": TYPED, "bpk": (), "safetensors": (), "pt": RAW, "npz": RAW, "gguf": RAW}
KEEPING = ("--json", "--precision", "keep")
COMPRESSED = {"mpk.gz": (), "mpk.zst": (), "json.gz": (), "bin.gz": TYPED, "safetensors.zst": ()}

# What a format cannot hold: format, kind, and what the note says of it; None: it is rejected. KIND stands for the
# name of the kind. Nil holds no data: it may be left out without a note.
VALUE = "(?!tensor_|param_|nil$).*"
CANNOT = (
    ("json.*", "float_nan|float_inf", "no NaN"),
    ("json.*", "bytes|list_bytes", "of bytes"),
    ("bin.*", "bytes|list_bytes|map_mixed|tensor_qfloat|tensor_opaque", None),
    ("bpk|npz", VALUE, "KIND"),
    ("gguf", "list_empty|map_empty", "KIND"),
    ("gguf", VALUE, None),
    ("bpk|npz|gguf", "nil", ""),
    ("bpk|pt|npz|gguf", "tensor_opaque", None),
    ("pt|npz|gguf", "tensor_qfloat", None),
    ("pt", ".*_(flex32|bool32)", "Flex32 or Bool"),
    ("pt|npz", ".*_bool8", "of Bool(U8)"),
    ("npz", ".*_(flex32|bf16|bool32)", None),
    ("gguf", ".*_flex32", "of Flex32"),
    ("gguf", ".*_(u64|u32|u16|u8|bool|bool8|bool32)", None),
)
NO_IDS = ("pt", "npz", "gguf")  # a note says that ids were left out
NO_TYPE = ("pt",)               # the record is a map for `record types`, and its values are of several types


def is_tensor(kind):
    return kind.startswith(("tensor_", "param_"))


def cannot(form, kind):
    """Returns (note,) for a kind that a format cannot hold, else None."""
    for forms, names, note in CANNOT:
        if re.fullmatch(forms, form) and re.fullmatch(names, kind):
            return (note,)
    return None


@functools.lru_cache(maxsize=None)
def kinds_at(size):
    return kinds.at(size)


@functools.lru_cache(maxsize=None)
def packed(size, kind):
    return kinds.packed(kinds_at(size)[kind])


@functools.lru_cache(maxsize=None)
def wanted(size, kind, ids):
    """What the outputs have of a kind, with checksums and without, as texts to compare."""
    value = kinds_at(size)[kind]
    return outputs.text_of(outputs.tree_of(value, ids, True)), outputs.text_of(outputs.tree_of(value, ids, False))


class Task:
    """What is done with one format at one size, in a directory of its own. `cells` are (cell, problem or None)."""

    def __init__(self, record, directory, form, size):
        self.record, self.form, self.size, self.cells = record, form, size, []
        self.directory = f"{directory}/{type(self).__name__}-{form}-{size}"
        self.file = "record." + form
        self.options = {**FORMATS, **COMPRESSED}[form]
        self.typed = self.options if self.options == TYPED else ()
        self.kinds = list(kinds_at(size))

    def check(self, cell, problem=None):
        self.cells.append((cell, problem))

    def write(self, name, names):
        """Writes a record of some kinds."""
        with open(os.path.join(self.directory, name), "wb") as file:
            file.write(kinds.record_of({kind: packed(self.size, kind) for kind in names}))

    def clear(self):
        for name in os.listdir(self.directory):
            os.remove(os.path.join(self.directory, name))
        os.rmdir(self.directory)

    def run(self, *arguments):
        return outputs.Run(self.record, self.directory, arguments)

    def command(self, cell, *arguments, status=(0,)):
        """Runs a command that must end with one of `status`. @return the run, None if it did not."""
        done = self.run(*arguments)
        problem = done.crash() or done.other_status(*status)
        self.check(f"{cell}/{self.form}", problem)
        return None if problem else done

    # ---------------------------------------------------------------------------------------------------- conversions

    def make_type(self, name):
        """Makes the Rust source of a record's type, where the format needs it. @return the run if the record has
        none."""
        if not self.typed:
            return None
        done = self.run("types", name)
        with open(os.path.join(self.directory, "model.rs"), "w", encoding="utf-8") as file:
            file.write(done.out.replace("u64 /* or i64 */", "u64"))
        return done if done.status != 0 else None

    def convert(self):
        """Makes the file of all kinds that the format does not reject, and checks the notes. @return whether it did."""
        held = [kind for kind in self.kinds if (cannot(self.form, kind) or ("",))[0] is not None]
        self.write("source.mpk", held)
        self.make_type("source.mpk")
        done = self.command("convert", "convert", *KEEPING, *self.typed, "source.mpk", self.file)
        if done is None:
            return False
        self.notes(outputs.notes_of(done), held)
        self.kinds = [kind for kind in held if not cannot(self.form, kind)]
        self.write("kept.mpk", self.kinds)
        return True

    def notes(self, notes, held):
        for kind in held:
            lacks = cannot(self.form, kind)
            if lacks and lacks[0] not in ("", "KIND"):
                problem = None if lacks[0] in notes else f"no note has {lacks[0]!r}: {notes}"
                self.check(f"convert/{self.form}/{kind}", problem)
        if self.form in NO_IDS and any(kind.startswith("param_") for kind in held):
            self.check(f"convert/{self.form}/ids", None if "the id" in notes else f"no note of the ids: {notes}")

    # ---------------------------------------------------------------------------------------- outputs with all values

    def values(self):
        """Compares the outputs that hold every value: ls and show together with what was made, diff with that."""
        shown = self.command("show", "show", "--json", *self.typed, self.file)
        keys = () if self.size <= LISTED_UP_TO else [kind for kind in self.kinds if is_tensor(kind)]
        listed = self.command("ls", "ls", "--json", "--sha256", *self.typed, self.file, *keys)
        self.command("verify", "verify", *self.typed, self.file)
        if shown and listed:
            self.diff(self.compare(outputs.shown(shown.out), outputs.listing(listed.out), keys))

    def compare(self, shown, listed, keys):
        """@return the kinds that are not as they were made."""
        changed = set()
        for kind in self.kinds:
            plain, summed = wanted(self.size, kind, self.form not in NO_IDS)
            one, two = (outputs.text_of(found.get(kind, outputs.ABSENT)) for found in (shown, listed))
            problem = outputs.difference(plain, one)
            if not problem and (is_tensor(kind) or not keys):
                problem = outputs.difference(summed if is_tensor(kind) else one, two)
            self.check(f"convert/{self.form}/{kind}", problem)
            if problem:
                changed.add(kind)
        return changed

    def diff(self, changed):
        """Compares the file with the record that it was made of, which lacks what the format holds in another form."""
        done = self.command("diff", "diff", "--json", *self.options, self.file, "kept.mpk", *self.options,
                            status=(0, 1))
        if done:
            found = outputs.differing(done) & set(self.kinds)
            problem = None if found == changed else f"found {sorted(found)}, not {sorted(changed)}"
            self.check(f"diff/{self.form}", problem)

    # ---------------------------------------------------------------------------------------------------- the others

    def others(self):
        """The subcommands that print something else, as text and as JSON."""
        for command in ("info", "stats", "verify", "plan"):
            options = self.options if command == "plan" else self.typed
            self.command(command, command, *options, self.file)
            self.command(command, command, "--json", *options, self.file)
        for how in ((), ("-l",), ("--all",), ("--tree",)):
            self.command("ls", "ls", *how, *self.typed, self.file)
        for how in ((), ("--all",)):
            self.command("show", "show", *how, *self.typed, self.file)
        self.command("browse", "browse", "--json", *self.options, self.file)
        self.command("report", "report", *self.typed, self.file, "-o", "page.html")
        self.command("embed", "embed", self.file, "-o", "embedded.h")
        self.command("embed", "embed", "--structs", *self.typed, self.file, "-o", "structs.h")
        self.types()
        self.edit()

    def types(self):
        """The type of the record; where a kind has none, the message names it."""
        none = "map_mixed" in self.kinds or self.form in NO_TYPE
        done = self.command("types", "types", *self.typed, self.file, status=(2,) if none else (0,))
        if done and none and self.form not in NO_TYPE:
            self.check(f"types/{self.form}", None if "map_mixed" in done.err else f"not named: {done.err[:300]}")

    def edit(self):
        """Sets one value and compares all others."""
        edited = "edited." + self.form
        before = self.command("edit", "ls", "--json", "--sha256", *self.typed, self.file)
        if not self.command("edit", "edit", *self.typed, self.file, "set", "tensor_rank0", "f32 7", "-o", edited):
            return
        after = self.command("edit", "ls", "--json", "--sha256", *self.typed, edited)
        if before and after:
            before, after = outputs.listing(before.out), outputs.listing(after.out)
            changed = {kind for kind in before.keys() | after.keys() if before.get(kind) != after.get(kind)}
            self.check(f"edit/{self.form}", None if changed == {"tensor_rank0"} else f"changed {sorted(changed)}")

    def do(self):
        os.mkdir(self.directory)
        if self.convert():
            self.values()
            if self.size in OTHERS_AT and self.form in FORMATS:
                self.others()
        self.clear()
        return self.size, self.cells


class Alone(Task):
    """Converts each kind that the format cannot hold beside a tensor that it can."""

    def do(self):
        os.mkdir(self.directory)
        for kind in self.kinds:
            lacks = cannot(self.form, kind)
            if lacks and lacks[0] in (None, "KIND"):
                self.write("alone.mpk", ["tensor_rank0", kind])
                done = self.make_type("alone.mpk") or self.run("convert", *KEEPING, *self.typed, "alone.mpk",
                                                               "alone." + self.form)
                self.check(f"convert/{self.form}/{kind}", done.crash() or self.named(done, kind, lacks[0]))
        self.clear()
        return self.size, self.cells

    @staticmethod
    def named(done, kind, note):
        """What is wrong with a conversion that had to reject a kind, or to name it in a note."""
        problem = done.other_status(2 if note is None else 0)
        if problem:
            return problem
        said = done.err if note is None else outputs.notes_of(done)
        if "please report it" in said:
            return f"a fault of librecord's own: {said[:400]}"
        return None if kind in said else f"not named: {said[:400]}"


class Many(Task):
    """A list and a map of many entries beside a tensor, without which they would be more than the limits of memory
    allow for a file of that size. What was written is read again. The cell is many/FORMAT."""

    ROOM = kinds.tensor("u8", "U8", "B", [1 << 20])

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def made(size):
        """The record's values, and the record."""
        makers = kinds.values(size)
        made = {"list_strings": makers["list_strings"](), "map": makers["map"](), "room": Many.ROOM}
        return made, kinds.record_of({kind: kinds.packed(value) for kind, value in made.items()})

    def do(self):
        os.mkdir(self.directory)
        made, record = self.made(self.size)
        with open(os.path.join(self.directory, "source.mpk"), "wb") as file:
            file.write(record)
        if self.command("many", "convert", "-q", "source.mpk", self.file):
            shown = self.command("many", "show", "--json", self.file)
            if shown:
                same = outputs.text_of(outputs.shown(shown.out)) == outputs.text_of(outputs.tree_of(made))
                self.check(f"many/{self.form}", None if same else "the values differ")
        self.clear()
        return self.size, self.cells


def sampled(sizes, forms, every):
    """Yields pairs of a size and a format: all, or every n-th size of each format, but one or more."""
    step = min(every, len(sizes))
    for number, size in enumerate(sizes):
        for other, form in enumerate(forms):
            if (number + other) % step == 0:
                yield size, form


def tasks_of(record, directory, sizes, every):
    def those(task, some, forms, step):
        return [task(record, directory, form, size) for size, form in sampled(some, forms, step)]

    alone = [size for size in sizes if size in ALONE_AT]
    return [*those(Task, [size for size in sizes if size in OTHERS_AT], FORMATS, every),
            *those(Task, [size for size in sizes if size not in OTHERS_AT], FORMATS, every),
            *those(Task, [size for size in sizes if size in COMPRESSED_AT], COMPRESSED, every),
            *those(Alone, alone if every == 1 else alone[-1:], FORMATS, 1),
            *those(Many, [size for size in sizes if size in MANY_AT], ("mpk", "json", "safetensors", "pt"), every)]


def main():
    record, directory = sys.argv[1:3]
    sizes = [int(size) for size in sys.argv[3:]] or SIZES
    every = int(os.environ.get("LIBRECORD_TEST_EVERY") or 1)
    expected = Expected("values")
    cells = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for size, found in pool.map(lambda task: task.do(), tasks_of(record, directory, sizes, every)):
            for cell, problem in found:
                problems = cells.setdefault(cell, [])
                if problem:
                    problems.append(f"size {size}: {problem}")
    for cell, problems in sorted(cells.items()):
        expected.check(cell, not problems, "\n".join(problems))
    times = os.times()
    print(f"# {outputs.Run.count} runs of the command: {times.children_user + times.children_system:.0f} s of CPU, and "
          f"{times.user + times.system:.0f} s to compare what they printed")
    return expected.finish(complete=sizes == SIZES and every == 1)


if __name__ == "__main__":
    sys.exit(main())
