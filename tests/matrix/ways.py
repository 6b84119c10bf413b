# SPDX-License-Identifier: MIT OR Apache-2.0
"""ways.py RECORD RECORD_MPI SOURCE: every option of every subcommand in every way to give the subcommand its work.

What the single file gives, every other way gives as well: the same files byte for byte, the same output but for names.
Or the way rejects the option before anything is written, where ways_options.py lists that. The options are those of
`record completion words`: a new one needs a value in ways_options.py. RECORD_MPI runs as one process; it may be missing.
With LIBRECORD_TEST_EVERY=n, a row with options takes every third way, from another one on than the row before, and all
ways that are to reject it; record-mpi, which takes 0.3 s to start, runs the options of every n-th row only.
Files are made in the working directory. Prints TAP."""
import json
import os
import re
import shutil
import subprocess
import sys

import ways_files
import ways_options
from expected import Expected

# ------------------------------------------------------------------------------------------------------------ running


class Result:
    """What a run leaves: its status, what it prints, and the files below out/."""

    def __init__(self, status, out, err, files):
        self.status, self.out, self.err, self.files = status, out, err, files

    def text(self):
        return self.out.decode(errors="backslashreplace")

    def __str__(self):
        sizes = ", ".join(f"{name} ({len(data)} bytes)" for name, data in sorted(self.files.items()))
        return f"status {self.status}; {sizes or 'no files'}\n{ascii(self.text()[:500])}\n{self.err[:500]}".rstrip()


def must(*command):
    """Runs a program that makes what the matrix needs."""
    done = start(*command)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr.decode()}")


def direct(program):
    """Returns the program that a wrapper of libtool starts: without the wrapper it takes a third of the time."""
    real = os.path.join(os.path.dirname(program), ".libs", os.path.basename(program))
    if not os.path.exists(real):
        return program
    libraries = os.path.join(os.path.dirname(os.path.dirname(program)), ".libs")
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH")]))
    return real


def files_below(folder):
    """Returns the bytes of all files, by their paths below the directory."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def start(*command, stdin=subprocess.DEVNULL):
    """Runs a program to its end."""
    return subprocess.run(command, stdin=stdin, capture_output=True, timeout=300, check=False)


class Command:
    """A subcommand of a program."""

    def __init__(self, program, name):
        self.program, self.name = program, name

    def run(self, args, stdin=os.devnull, old=()):
        """Runs it with a directory out/ that is empty but for `old`: names, or names and where to copy them from."""
        shutil.rmtree("out", ignore_errors=True)
        os.makedirs("out")
        for name, source in dict(old).items():
            shutil.copy(source, f"out/{name}")
        with open(stdin, "rb") as source:
            done = start(self.program, self.name, *args, stdin=source)
        return Result(done.returncode, done.stdout, done.stderr.decode(errors="backslashreplace"), files_below("out"))


def words_of(record, *line):
    """Returns the candidates of completion for the last word."""
    done = start(record, "completion", "words", "--", *line)
    return [candidate.split("\t")[0] for candidate in done.stdout.decode().splitlines()]


def options_of(record, command):
    """Returns the names of a subcommand's options."""
    return [word.strip("-=") for word in words_of(record, command, "--") if word.startswith("--")]


# ---------------------------------------------------------------------------------------------------------- comparing


class Case:
    """A row of an option: the single file's result, and how those of the ways compare with it."""

    def __init__(self, record, mpi, row):
        self.record, self.mpi, self.row = record, mpi, row
        self.file, self.other = (f"{row.on}/{ways_files.first(row.on, which)}" for which in "ab")
        self.to = ["--to", row.to] if row.to else []
        self.single = self.run_single()

    def succeeds(self):
        return self.single.status == 0 or (self.single.status == 1 and self.record.name == "diff")

    def single_of(self, way):
        """Returns the result that a way is compared with; None if the way does not apply."""
        del way
        return self.single

    def plain(self, text, second=None):
        """Returns text without names, the widths that follow from them, and times."""
        if second:
            text = text.replace(second, "@B")
        for name in (self.file, os.path.basename(self.file), "standard input"):
            text = text.replace(name, "@")
        text = re.sub(r'"-"', '"@"', text)
        text = re.sub(r'in \d+\.\d+ s|"seconds": [\d.]+', "in T", text)
        return re.sub(r"[ ─]+", " ", text)


def plainly_in(one, many):
    """Returns whether the output about several files has that about one: its lines, or its JSON."""
    if set(one.splitlines()) <= set(many.splitlines()):
        return True
    try:
        one, many = json.loads(one), json.loads(many)
    except ValueError:
        return False
    if one in many.get("files", []):
        return True
    of_file = [entry | {"file": ""} for entry in many.get("tensors", []) if entry["file"] == "@"]
    return of_file and of_file == [entry | {"file": ""} for entry in one.get("tensors", [])]


class Convert(Case):
    """record convert: what counts are the files."""

    ways = ("OUT/", "-r", "stdin", "stdout", "several", "mpi", "mpi -r")

    def old(self, names):
        return [(f"{name}.{self.row.to}", "net.rs") for name in names] if self.row.old else []

    def run_single(self):
        return self.record.run([*self.row.alone, *self.to, self.file, "out/a"], old=self.old("a"))

    def single_of(self, way):
        if way == "several":
            return self.below_p() if self.row.to and not self.row.old else None
        if way.startswith("mpi") and not self.mpi:
            return None
        return None if way == "stdout" and self.row.old else self.single

    def below_p(self):
        """Returns the tensors of the single file, all below p; None if that fails."""
        done = self.record.run([*self.row.args, "--prefix", "p", *self.to, self.file, "out/both"])
        return self.listed(done) if done.status == 0 and done.files else None

    def listed(self, done):
        """Returns the tensors of the files that a run wrote."""
        shutil.rmtree("listed", ignore_errors=True)
        os.makedirs("listed")
        for name, data in done.files.items():
            with open(f"listed/{name}", "wb") as file:
                file.write(data)
        name = next((name for name in done.files if name.endswith(".json")), next(iter(done.files)))
        return Command(self.record.program, "ls").run(["--json", f"listed/{name}"])

    def run(self, way):
        args = [*self.row.args, *self.to]
        program = self.mpi if way.startswith("mpi") else self.record
        if way in ("-r", "mpi -r"):
            return program.run(["-r", *args, self.row.on, "out"], old=self.old("ab"))
        if way == "OUT/":
            return program.run([*args, self.file, self.other, "out/"], old=self.old("ab"))
        if way == "stdin":
            return program.run([*args, "-", "out/a"], stdin=self.file, old=self.old("a"))
        if way == "stdout":
            return program.run([*args, self.file, "-"])
        if way == "several":
            return program.run(["--prefix", "p", self.file, "--prefix", "q", self.other, *args, "out/both"])
        return program.run([*args, self.file, "out/a"], old=self.old("a"))

    def wrong(self, way, result, single):
        """Returns why a result is not that of the single file; None if it is."""
        if result.status != single.status:
            return f"status {result.status}, not {single.status}"
        if way == "stdout":
            return None if result.out == b"".join(single.files.values()) else "standard output is not what the file has"
        many = way in ("OUT/", "-r", "mpi -r")
        for name in "ab" if many and self.row.second else "a":
            found = named_a(result.files, name)
            if found != single.files:
                return f"{name}: the files are {sorted(found)}, not {sorted(single.files)}, or have other bytes"
        return self.wrong_notes(result) if many and not self.row.old and "--json" not in self.row.args else None

    def wrong_notes(self, result):
        """Compares notes and errors, but for the one whose hint has the name of each file."""
        one, many = self.said(self.single), self.said(result)
        return None if one == many else f"missing notes: {sorted(one - many)}, others: {sorted(many - one)}"

    def said(self, result):
        lines = [line for line in result.err.splitlines() if line.startswith("record: ")]
        lines = [re.sub(r" \(likewise \d+ more\)$|out/a\.\w+: ", "", self.plain(line)) for line in lines]
        return {line.replace("@: ", "") for line in lines if "carries no names" not in line}


def named_a(files, name):
    """Returns the files of one input as if it were called a."""
    found = {}
    for path, data in files.items():
        if path.startswith(name):
            data = data.replace(f'"{name}-'.encode(), b'"a-') if path.endswith(".index.json") else data
            found["a" + path[1:].replace(".data", "")] = data
    return found


class Other(Case):
    """Any other subcommand: what counts are standard output and the files."""

    ways_of = {
        "info": ("several", "folder", "stdin"),
        "ls": ("several", "stdin"),
        "show": ("stdin",),
        "stats": ("several", "stdin", "mpi"),
        "diff": ("stdin", "second", "mpi"),
        "verify": ("several", "folder", "stdin", "mpi"),
        "plan": ("stdin",),
        "edit": ("in place", "stdin", "stdout"),
        "types": ("stdin",),
        "embed": ("stdin",),
        "report": ("stdin",),
    }

    @property
    def ways(self):
        return self.ways_of[self.record.name]

    @property
    def second(self):
        """The other side of a comparison."""
        return "other.mpk" if self.row.on == "ours" else self.other

    def line(self, args, *inputs, out=None):
        """Returns a command line. Operations of edit and keys of show stand before options in a row."""
        count = next((i for i, word in enumerate(args) if word.startswith("--")), len(args))
        operations, options = args[:count], args[count:]
        if self.record.name == "edit":
            name = "{}.mpk" if "split" in operations else "a" if self.row.to else "a.mpk"
            operations = operations or ["meta", "key", "value"]
            return [*options, *self.to, *inputs, *operations, *(out or ["-o", f"out/{name}"])]
        if self.record.name == "embed":
            return [*options, *self.to, *inputs, "-o", "out/net.h"]
        if self.record.name == "report":
            return [*options, *inputs, "-o", "out/page.html"]
        if self.record.name == "show":
            return [*options, *inputs, *operations]
        if self.record.name == "diff":
            return [*inputs, *options]  # for both
        return [*options, *inputs]

    def inputs(self, name):
        return (name, self.second) if self.record.name == "diff" else (name,)

    def run_single(self):
        return self.record.run(self.line(self.row.alone, *self.inputs(self.file)))

    def single_of(self, way):
        if way == "mpi" and not self.mpi:
            return None
        written = list(self.single.files)
        if way == "in place" and (written != ["a.mpk"] or self.file != "ours/a.mpk" or "--to" in self.row.args):
            return None
        return None if way == "stdout" and len(written) != 1 else self.single

    def run(self, way):
        args = self.row.args
        if way == "mpi":
            return self.mpi.run(self.line(args, *self.inputs(self.file)))
        if way == "second":
            return self.record.run(self.line(args, self.file, "-"), stdin=self.second)
        if way == "several":
            return self.record.run(self.line(args, self.file, self.other))
        if way == "folder":
            return self.record.run(self.line(args, self.row.on))
        if way == "in place":
            return self.record.run(self.line(args, "out/a.mpk", out=["--in-place"]), old=[("a.mpk", self.file)])
        if way == "stdout":
            to = [] if self.to or "--to" in args else ["--to", "mpk"]
            return self.record.run(self.line(args, self.file, out=["-o", "-", *to]))
        return self.record.run(self.line(args, *self.inputs("-")), stdin=self.file)

    def wrong(self, way, result, single):
        """Returns why a result is not that of the single file; None if it is."""
        if result.status != single.status:
            return f"status {result.status}, not {single.status}"
        if way == "stdout":
            return None if result.out == b"".join(single.files.values()) else "standard output is not what the file has"
        if way == "in place":
            return None if result.files == single.files else "the file is another one"
        one, many = (self.plain(x.text(), self.second if way == "second" else None) for x in (single, result))
        if way == "second":
            many = self.plain(result.text().replace("standard input", "@B").replace('"-"', '"@B"'))
        one, many = self.alike(one), self.alike(many)
        if way in ("several", "folder"):
            return None if plainly_in(one, many) else "the output about the single file is not there"
        if one != many:
            return "other output"
        return None if self.written(result) == self.written(single) else "other files"

    def alike(self, text):
        """Leaves out what depends on the way: hints with the file's name, sums over all files, sizes of pages."""
        pattern = {
            "info": r"^as a record .*\n",
            "stats": r"^\d+ tensors?; .*\n.*\n",
            "report": r'"size": \d+|[\d.]+ KiB',
        }.get(self.record.name)
        return re.sub(pattern, "", text, flags=re.M) if pattern else text

    def written(self, result):
        return {name: self.plain(data.decode(errors="backslashreplace")) for name, data in result.files.items()}


# --------------------------------------------------------------------------------------------------------- the matrix


class Matrix:
    def __init__(self, record, record_mpi):
        self.record, self.record_mpi = record, record_mpi
        self.every, self.turn = int(os.environ.get("LIBRECORD_TEST_EVERY") or 1), 0
        self.expected = Expected("ways")

    def commands(self):
        """Checks that all subcommands and all values are used."""
        known = {*ways_options.COMMANDS, *ways_options.OTHERS}
        there = {word for word in words_of(self.record, "") if not word.startswith("-")}
        self.expected.check("subcommands", there == known, f"Not known here, or not in record: {sorted(there ^ known)}")
        options = {name: options_of(self.record, name) for name in ways_options.COMMANDS}
        unused = [f"{name} --{x}" for name, own in ways_options.OWN.items() for x in own if x not in options[name]]
        unused += [f"--{x}" for x in ways_options.SHARED if not any(x in of_one for of_one in options.values())]
        self.expected.check("values", not unused, f"There is no such option: {', '.join(unused)}")
        for name, of_one in options.items():
            self.rows(name, f"{name} without options", ways_options.PLAIN, of_one, True)
            for option in of_one:
                if option not in ways_options.EXEMPT:
                    self.option(name, option, of_one)

    def option(self, name, option, options):
        """Checks all rows of an option whose other options the subcommand has."""
        rows = ways_options.OWN.get(name, {}).get(option, ways_options.SHARED.get(option))
        cell = f"{name} --{option}"
        if rows is None:
            self.expected.check(cell, False, "This option has no value in tests/matrix/ways_options.py.")
            return
        succeeded = self.rows(name, cell, rows, options, name == "convert")
        self.expected.check(cell, succeeded, "The single file fails with every value of this option.")

    def rows(self, name, cell, rows, options, every):
        """Checks all rows, or those up to the first whose single file succeeds. Returns whether one does."""
        succeeded = False
        for number, row in enumerate(rows):
            if (succeeded and not every) or not row.options() <= set(options):
                continue
            mpi = None if succeeded or not self.record_mpi or self.turn % self.every else Command(self.record_mpi, name)
            self.turn += 1
            case = (Convert if name == "convert" else Other)(Command(self.record, name), mpi, row)
            for way in self.ways_of(case):
                self.way(f"{cell}{f' ({number + 1})' if number else ''}: {way}", case, way)
            succeeded = succeeded or case.succeeds()
        return succeeded

    def ways_of(self, case):
        """Returns the ways of a case that are tried."""
        step = min(3, len(case.ways))
        return [way for number, way in enumerate(case.ways)
                if self.every == 1 or not case.row.args or way in case.row.rejected or way.startswith("mpi")
                or (number + self.turn) % step == 0]

    def way(self, cell, case, way):
        single = case.single_of(way)
        if single is None:
            return
        result = case.run(way)
        command = f"$ record {case.record.name} {' '.join(case.row.args)}, on {case.row.on}"
        if way in case.row.rejected:
            self.expected.check(cell, result.status in (1, 2) and not result.files and result.err.startswith("record"),
                                f"This way is to reject it before anything is written.\n{command}\n{way}: {result}")
            return
        if way == "several" and case.record.name == "convert":
            why = self.several(case, result, single)
        else:
            why = case.wrong(way, result, single)
        self.expected.check(cell, why is None, f"{why}\n{command}\nsingle: {single}\n{way}: {result}")

    @staticmethod
    def several(case, result, single):
        """Compares what two inputs below p and q become with what one below p does."""
        if result.status or not result.files:
            return f"status {result.status}"
        both = json.loads(case.listed(result).text())["tensors"]
        for name in "pq":
            found = [(t["key"][1:], t["dtype"], t["shape"]) for t in both if t["key"].startswith(f"{name}.")]
            if found != [(t["key"][1:], t["dtype"], t["shape"]) for t in json.loads(single.text())["tensors"]]:
                return f"other tensors below {name}"
        return None


def starting(program):
    """Returns the program if it is there and starts, else None, which is printed."""
    if not os.access(program, os.X_OK):
        print(f"# without {os.path.basename(program)}, which is not built")
        return None
    program = direct(program)
    failed = start(program, "--version").returncode
    if failed:
        print(f"# without {os.path.basename(program)}, which does not start")
    return None if failed else program


def main():
    record, record_mpi, source = sys.argv[1:]
    matrix = Matrix(direct(record), starting(record_mpi))
    ways_files.make(lambda *args: must(matrix.record, *args), source)
    matrix.commands()
    return matrix.expected.finish()


sys.exit(main())
