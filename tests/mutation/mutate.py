#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Mutation testing: small changes of meaning, one at a time, which the tests should notice.

mutate N [--seed S] [--folder FOLDER]... draws N mutants of core/, recorder/, remap/, types/ and plugins/ (all of them or those
given) and judges each: the object is compiled, what it is part of is linked, and the test programs that run the changed line
are run, quickest first, then the scripts of the command that run it. A mutant is killed by the first that fails, or takes far
longer than it does otherwise, and does so again. One that does not compile, or that compiles to the same code, is none and is
drawn anew.
What is known is kept in the folder of the builds, so a sample can be judged in batches, and a larger N adds to it.

  --again          judges the survivors of the sample once more, after tests were written; the drawn lines are found where they
                   went, and a line that is gone is told
  --list           prints the table and the survivors of the sample, judges nothing
  --mutant FILE:LINE OLD NEW
                   judges this change alone: of the text OLD in that line to NEW
  --units          without the scripts
  --without TEST   without this one (repeatable), where there is no time for those that take long
  --build FOLDER   where the builds are, by default build-mutate

Two builds are made there: one to be changed, and one with gcov that tells which line is run by which test (made once; --map
makes it anew). Nothing of the sources is touched. Mutants judged to be equivalent by hand are in tests/mutation/equivalent, each
with its reason. Needs gcc, gcov, make and what the build needs; Linux.
"""

import argparse
import collections
import difflib
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

FOLDERS = ["core", "recorder", "remap", "types", "plugins"]
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EQUIVALENT = os.path.join(TOP, "tests", "mutation", "equivalent")
MEMORY = 8 << 30  # bytes of address space of a test's process
FILE_SIZE = 2 << 30
UNIT_SECONDS = 60  # of programs for one mutant, by the time that they take under gcov
SCRIPT_SECONDS = 60  # of scripts
ROOMS = {"core": ["core"], "recorder": ["recorder"], "remap": ["remap"], "types": ["types"], "plugins": ["codec", "recorder"]}


# ------------------------------------------------------------------------------------------------------------- mutants

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?)[uUlLfF]*)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.X | re.S,
)
KEYWORDS = set(
    "if else for while do switch case default return break continue goto sizeof static const struct union enum typedef "
    "unsigned signed int char void long short bool float double volatile register extern inline _Atomic".split()
)
SWAPS = {
    "compare": {"<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="]},
    "arithmetic": {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "+=": ["-="], "-=": ["+="], "++": ["--"], "--": ["++"]},
    "logic": {"&&": ["||"], "||": ["&&"]},
    "bits": {"&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"], "^": ["&"], "|=": ["&="], "&=": ["|="]},
}
# How often each kind is drawn.
WEIGHTS = {
    "compare": 20, "arithmetic": 12, "logic": 12, "constant": 14, "condition": 14,
    "statement": 14, "jump": 7, "not": 4, "bits": 3, "arguments": 3,
}  # fmt: skip


class Token:
    def __init__(self, kind, text, at):
        self.kind, self.text, self.at, self.end = kind, text, at, at + len(text)


def tokens_of(text):
    """Without comments and directives; those keep their places."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", blank, text, flags=re.M)
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match.group(0), match.start()))
    return found


def matching(tokens, at):
    """Index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].text in "([{":
            depth += 1
        elif tokens[i].text in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return len(tokens) - 1


def bodies(tokens):
    """(first, last) token of each function's body."""
    i = 0
    while i < len(tokens):
        if tokens[i].text == "{":
            end = matching(tokens, i)
            if i and tokens[i - 1].text == ")":
                yield i, end
            i = end
        i += 1


def statement_end(tokens, at, last):
    depth = 0
    for i in range(at, last):
        if tokens[i].text in ("(", "[", "{"):
            depth += 1
        elif tokens[i].text in (")", "]", "}"):
            depth -= 1
            if depth < 0:
                return None
        elif tokens[i].text == ";" and depth == 0:
            return i
    return None


def removable(tokens, start, end):
    """Whether the statement is an assignment or a call, no declaration."""
    first = tokens[start]
    if first.kind != "name" and first.text not in ("*", "(", "++", "--"):
        return False
    if first.text in KEYWORDS:
        return False
    if first.kind == "name" and tokens[start + 1].kind == "name":
        return False
    if first.kind == "name" and tokens[start + 1].text == "*":
        return False
    if first.kind == "name" and tokens[start + 1].text == ":":
        return False
    texts = [t.text for t in tokens[start:end]]
    return any(t in ("(", "=", "++", "--") or (t.endswith("=") and len(t) > 1) for t in texts)


def mutants_of(text):
    """All (kind, from, to, new text) of a source text."""
    tokens = tokens_of(text)
    for first, last in bodies(tokens):
        for i in range(first + 1, last):
            token, before, after = tokens[i], tokens[i - 1], tokens[i + 1]
            spaced = text[token.at - 1].isspace() and text[token.end].isspace()
            for kind, table in SWAPS.items():
                if token.text in table and (spaced or token.text in ("++", "--")):
                    for new in table[token.text]:
                        yield kind, token.at, token.end, new
            if token.kind == "number":
                if "." not in token.text or token.text[0].isdigit():
                    yield "constant", token.at, token.end, f"({token.text} + 1)"
                    if not re.fullmatch(r"0[uUlL]*", token.text):
                        yield "constant", token.at, token.end, f"({token.text} - 1)"
            if token.text == "!" and after.text != "=":
                yield "not", token.at, token.end, ""
            if token.text in ("if", "while") and after.text == "(":
                end = matching(tokens, i + 1)
                inner = text[after.end : tokens[end].at]
                yield "condition", after.end, tokens[end].at, f"(({inner}), false)"
                if token.text == "if":
                    yield "condition", after.end, tokens[end].at, f"(({inner}), true)"
            if token.text in ("break", "continue", "goto") or (token.text == "return" and after.text == ";"):
                end = statement_end(tokens, i, last)
                if end is not None:
                    yield "jump", token.at, tokens[end].at, ""
            elif token.text == "return":
                end = statement_end(tokens, i, last)
                if end is not None:
                    value = text[after.at : tokens[end].at]
                    if value in ("true", "false"):
                        yield "jump", after.at, tokens[end].at, "false" if value == "true" else "true"
                    elif value not in ("0", "NULL"):
                        yield "jump", after.at, tokens[end].at, f"(({value}), 0)"
            if before.text in (";", "{", "}") or (before.text == ":" and text[token.at - 1].isspace()):
                end = statement_end(tokens, i, last)
                if end is not None and removable(tokens, i, end):
                    yield "statement", token.at, tokens[end].at, ""
            if token.kind == "name" and token.text not in KEYWORDS and before.text in ("(", ","):
                if after.text == "," and i + 3 < last and tokens[i + 2].kind == "name" and tokens[i + 3].text in (",", ")"):
                    other = tokens[i + 2]
                    if other.text != token.text:
                        yield "arguments", token.at, other.end, f"{other.text}, {token.text}"


class Mutant:
    """A change of a file as it was when the mutant was drawn; the line's text finds it again."""

    def __init__(self, path, kind, text, start, end, new):
        self.path, self.kind, self.start, self.end, self.new = path, kind, start, end, new
        self.line = text.count("\n", 0, start) + 1
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        self.old_lines = text[first:last]
        self.new_lines = text[first:start] + new + text[end:last]
        nth = text[:first].count("\n" + self.old_lines + "\n")
        self.key = hashlib.sha1(repr((path, self.old_lines, self.new_lines, nth)).encode()).hexdigest()[:12]
        self.nth = nth

    def record(self):
        return {k: getattr(self, k) for k in ("key", "path", "kind", "line", "old_lines", "new_lines", "nth")}

    def diff(self):
        old = "".join(f"-{line}\n" for line in self.old_lines.split("\n"))
        new = "".join(f"+{line}\n" for line in self.new_lines.split("\n"))
        return f"{self.path}:{self.line} ({self.kind}) [{self.key}]\n{old}{new}"


class Known(Mutant):
    """A mutant of an earlier run, found again in the text as it is now."""

    def __init__(self, record):
        self.__dict__.update(record)

    def place(self):
        """Its line now, and the text with the change; None where its lines are gone."""
        text = read(os.path.join(TOP, self.path))
        at, found = -1, []
        while (at := text.find("\n" + self.old_lines + "\n", at + 1)) >= 0:
            found.append(at + 1)
        if not found:
            return None, None
        at = found[min(self.nth, len(found) - 1)]
        self.line = text.count("\n", 0, at) + 1
        self.line += next((i for i, (a, b) in enumerate(zip(self.old_lines.split("\n"), self.new_lines.split("\n"))) if a != b), 0)
        return self.line, text[:at] + self.new_lines + text[at + len(self.old_lines) :]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# --------------------------------------------------------------------------------------------------------------- builds


class Build:
    """A build, and the commands that made each object and each program of it."""

    def __init__(self, folder, flags, once=False):
        self.folder = folder
        complete = os.path.join(folder, "complete")
        self.log = os.path.join(folder, "make.log")
        if not os.path.exists(os.path.join(folder, "Makefile")):
            os.makedirs(folder, exist_ok=True)
            configure = os.path.relpath(os.path.join(TOP, "configure"), folder)
            say(f"configures {folder}")
            self.command([configure, "-q", f"CFLAGS={flags} -g0 -w"] + ([f"CC={os.environ['CC']}"] if "CC" in os.environ else []))
        if not once or not os.path.exists(complete):
            say(f"builds {folder}")
            with open(self.log, "a", encoding="utf-8") as log:
                # Not with the tests: their programs are built, and none is run.
                self.command(["make", "V=1", f"-j{os.cpu_count()}", "check", "TESTS="], log)
            write(complete, "")
        self.compiles, self.links, self.archives = {}, {}, {}
        self.restore()
        self.parse()

    def command(self, words, log=None):
        if subprocess.run(words, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT if log else None).returncode:
            sys.exit(f"mutate: {' '.join(words)} failed in {self.folder}" + (f", see {self.log}" if log else ""))

    def restore(self):
        """What a run that was killed has left changed."""
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if name.endswith(".unchanged"):
                    os.replace(os.path.join(folder, name), os.path.join(folder, name[: -len(".unchanged")]))

    def parse(self):
        renamed = {}  # libtool gives the second object of a name another one
        for line in open(self.log, encoding="utf-8", errors="replace"):
            if line.startswith("libtool: compile:"):
                words = shlex.split(line.split(":", 2)[2])
                words = [w for w in words if w != "ccache"]
                source = next(os.path.relpath(os.path.join(self.folder, w), TOP) for w in words if w.endswith(".c"))
                out = words[words.index("-o") + 1]
                self.compiles.setdefault(source, {})[out] = words
            elif line.startswith("libtool: link:"):
                words = shlex.split(line.split(":", 2)[2].split(" >/dev/null")[0])
                words = [w for w in words if w != "ccache"]
                if words[:1] == ["ln"]:
                    renamed[os.path.normpath(words[2])] = os.path.normpath(words[1])
                elif words and words[0].endswith("ar") and len(words) > 2:
                    objects = [os.path.normpath(w) for w in words[3:] if w.endswith(".o")]
                    self.archives[os.path.normpath(words[2])] = {renamed.get(o, o): os.path.basename(o) for o in objects}
                elif "-o" in words:
                    out = os.path.normpath(words[words.index("-o") + 1])
                    self.links[out] = words

    def products(self, objects):
        """The archives with one of the objects, and what is linked of those or of the objects."""
        archives = [a for a, members in self.archives.items() if set(members) & set(objects)]
        parts = set(archives) | set(objects)
        linked = [out for out, words in self.links.items() if any(os.path.normpath(w) in parts for w in words)]
        return archives, linked

    def variable(self, text):
        """What make makes of the text, run by its shell."""
        rule = f"include Makefile\nlr-mutate:\n\t@{text}\n.PHONY: lr-mutate\n"
        done = subprocess.run(["make", "-s", "-f", "-", "lr-mutate"], cwd=self.folder, input=rule, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"mutate: make cannot tell {text}: {done.stderr}")
        return done.stdout

    def environment(self):
        plain = self.variable("$(AM_TESTS_ENVIRONMENT) env -0")
        return dict(pair.split("=", 1) for pair in plain.split("\0") if "=" in pair)

    def tests(self):
        names = self.variable("echo $(TESTS)").split()
        units = [n for n in names if not n.endswith(".sh")]
        scripts = [n for n in names if n.startswith("tests/cli/") and n.endswith(".sh")]
        return units, scripts


class Tests:
    """Runs tests of a build within limits, so that a mutant that hangs, fills the memory or the disk ends."""

    def __init__(self, build, work):
        self.build, self.tmp = build, os.path.join(work, f"tmp-{os.getpid()}")
        self.environment = build.environment()
        self.environment.update(TMPDIR=self.tmp)
        self.log = os.path.join(work, f"tmp-{os.getpid()}.log")

    @staticmethod
    def wait(process, wall):
        """The status, "time" after so many seconds; those in which this process stood still, and the test with it, are none."""
        spent = 0
        while wall is None or spent < wall:
            began = time.monotonic()
            try:
                return process.wait(wall and 1)
            except subprocess.TimeoutExpired:
                spent += min(time.monotonic() - began, 2)
        return "time"

    def run(self, name, cpu=None, wall=None, extra=None):
        """(status, seconds of CPU, seconds); the status is "time" where it took too long."""

        def limits():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
            if cpu:
                resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 2))

        shutil.rmtree(self.tmp, ignore_errors=True)
        os.makedirs(self.tmp)
        path = os.path.join(TOP, name) if name.endswith(".sh") else os.path.join(self.build.folder, name)
        words = ["/bin/sh", path] if name.endswith(".sh") else [path]
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                words, cwd=self.build.folder, env=dict(self.environment, **(extra or {})), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=limits, start_new_session=True,
            )  # fmt: skip
            try:
                status = self.wait(process, wall)
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
        if status == -signal.SIGXCPU or status == -signal.SIGKILL:
            status = "time"
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return status, used, time.monotonic() - began


# ------------------------------------------------------------------------------------------------------- who runs what


class Map:
    """Which test runs which line. Made once of the sources as they were then; lines are found where they went."""

    def __init__(self, work, anew):
        self.work, self.folder = work, os.path.join(work, "map")
        self.index_path = os.path.join(self.folder, "index.json")
        self.cache = {}
        if anew:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.index = {"tests": {}, "objects": {}}
        if os.path.exists(self.index_path):
            self.index = json.load(open(self.index_path, encoding="utf-8"))
        self.build = None

    def add(self, names):
        """Runs those tests that have not been run yet."""
        known = self.index.get("known", names)
        names = [name for name in names if name in known and name not in self.index["tests"]]
        if not names:
            return
        if not self.build:
            # As it was when the first of them was run: the data that the others left are of that.
            self.build = Build(os.path.join(self.work, "coverage"), "-O1 --coverage", True)
            self.runner = Tests(self.build, self.work)
        if not self.index["objects"]:
            self.index["folder"] = self.build.folder
            self.index["known"] = sum(self.build.tests(), [])
            for source, outs in self.build.compiles.items():
                self.index["objects"][source] = list(outs)
                if source.split("/")[0] in FOLDERS:
                    copy = os.path.join(self.folder, "sources", source)
                    os.makedirs(os.path.dirname(copy), exist_ok=True)
                    shutil.copy(os.path.join(TOP, source), copy)
        for name in names:
            prefix = os.path.join(self.folder, "run", name)
            status, cpu, wall = self.runner.run(name, extra={"GCOV_PREFIX": prefix})
            self.index["tests"][name] = {"cpu": cpu, "wall": wall, "prefix": prefix, "sum": self.sum(name)}
            say(f"{name}: {cpu:.2f} s" + ("" if status == 0 else f", status {status}"))
            write(self.index_path + ".new", json.dumps(self.index))
            os.replace(self.index_path + ".new", self.index_path)

    @staticmethod
    def sum(name):
        path = os.path.join(TOP, name if name.endswith(".sh") else name + ".c")
        return hashlib.sha1(read(path).encode()).hexdigest() if os.path.exists(path) else ""

    def lines(self, source):
        """{test: {line: runs}} of the source as it was."""
        kept = os.path.join(self.folder, "lines", source + ".json")
        if source not in self.cache:
            self.cache[source] = {}
            if os.path.exists(kept):
                known = json.load(open(kept, encoding="utf-8"))
                self.cache[source] = {t: {int(k): v for k, v in l.items()} for t, l in known.items()}
        found = self.cache[source]
        missing = [name for name in self.index["tests"] if name not in found]
        if not missing:
            return found
        for name in missing:
            found[name] = {}
        for out in self.index["objects"].get(source, []):
            base = os.path.join(self.index["folder"], os.path.splitext(out)[0])
            names, files = [], []
            for name in missing:
                data = self.index["tests"][name]["prefix"] + base + ".gcda"
                if os.path.exists(data):
                    notes = os.path.splitext(data)[0] + ".gcno"
                    if not os.path.lexists(notes):
                        os.symlink(base + ".gcno", notes)
                    names.append(name)
                    files.append(data)
            if files:
                done = subprocess.run(["gcov", "--json-format", "--stdout"] + files, capture_output=True, cwd=self.index["folder"])
                for name, text in zip(names, done.stdout.decode().splitlines()):
                    for file in json.loads(text)["files"]:
                        if os.path.relpath(os.path.join(self.index["folder"], file["file"]), TOP) == source:
                            for each in file["lines"]:
                                number = each["line_number"]
                                found[name][number] = found[name].get(number, 0) + each["count"]
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        write(kept, json.dumps(found))
        return found

    def earlier_line(self, source, line):
        """Where the line was, None if it is new."""
        then = os.path.join(self.folder, "sources", source)
        if not os.path.exists(then):
            return None
        old, new = read(then).split("\n"), read(os.path.join(TOP, source)).split("\n")
        if old == new:
            return line
        for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            if block.b <= line - 1 < block.b + block.size:
                return line - block.b + block.a
        return None

    def choose(self, source, line, tests):
        """The tests that run the line: those that have changed since, which may run any line now, those of the room, the
        others; the quickest first."""
        self.add(tests)
        lines, then = self.lines(source), self.earlier_line(source, line)
        chosen = []
        for name in tests:
            test, counts = self.index["tests"].get(name), lines.get(name)
            if not test:
                chosen.append((0, 0, name))
                continue
            if not counts:
                continue
            if test["sum"] != self.sum(name):
                chosen.append((0, test["cpu"], name))
                continue
            if then is not None:
                at = next((l for l in range(then, max(then - 8, 0), -1) if l in counts), None)
                # What is far from any line that is counted is in a table: any line of the file may use that.
                if not (any(counts.values()) if at is None else counts[at]):
                    continue
            near = name.split("/")[1] in ROOMS[source.split("/")[0]]
            chosen.append((1 if near else 2, test["cpu"], name))
        chosen.sort()
        return [name for _, _, name in chosen]

    def seconds(self, name):
        return self.index["tests"].get(name, {"cpu": 1})["cpu"]

    def limits(self, name):
        test = self.index["tests"].get(name, {"cpu": 5, "wall": 5})
        return test["cpu"] * 4 + 5, test["wall"] * 10 + 30


# ---------------------------------------------------------------------------------------------------------------- judge


class Judge:
    def __init__(self, work, options):
        self.options, self.scratch = options, os.path.join(work, "scratch")
        os.makedirs(self.scratch, exist_ok=True)
        self.build = Build(os.path.join(work, "plain"), "-O1")
        self.tests = Tests(self.build, work)
        self.units, self.scripts = ([n for n in names if n not in options.without] for names in self.build.tests())
        self.map = Map(work, options.map)
        self.sound, self.unsound = set(), set()

    def compile(self, source, text):
        """Compiles a text in the place of a source: {object of the build: compiled file}, None where it does not compile."""
        path, made = os.path.join(self.scratch, os.path.basename(source)), {}
        for number, (out, words) in enumerate(self.build.compiles[source].items()):
            target = os.path.join(self.scratch, f"mutant-{number}.o")
            words = list(words)
            words[words.index("-o") + 1] = target
            at = next(i for i, w in enumerate(words) if w.endswith(".c"))
            # As if it were the source itself, so that what compiles to the same code is the same file.
            write(path, f'# 1 "{words[at]}"\n{text}')
            words[at] = path
            words = [w for w in words if w not in ("-MD", "-MP", "-w")]  # which would let the mistakes below pass
            if "-MF" in words:
                del words[words.index("-MF") : words.index("-MF") + 2]
            if "-MT" in words:
                del words[words.index("-MT") : words.index("-MT") + 2]
            words += ["-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-Werror=implicit-function-declaration"]
            words += ["-iquote", os.path.join(TOP, os.path.dirname(source))]
            if subprocess.run(words, cwd=self.build.folder, capture_output=True).returncode:
                return None
            made[out] = target
        return made

    def same(self, made):
        return all(open(file, "rb").read() == open(os.path.join(self.build.folder, out), "rb").read() for out, file in made.items())

    def judge(self, mutant):
        """("same"|"broken"|"gone", None), ("killed", by whom) or ("survived", what was run)"""
        line, text = mutant.place()
        if line is None:
            return "gone", None
        made = self.compile(mutant.path, text)
        if made is None:
            return "broken", None
        if self.same(made):
            return "same", None
        ran = []
        for tests in [self.units] + ([] if self.options.units else [self.scripts]):
            verdict, by = "killed", None
            chosen = self.map.choose(mutant.path, line, tests)
            while verdict == "killed":
                verdict, by = self.run(made, chosen)
                if verdict != "survived" and (verdict != "killed" or self.passes(by)):
                    return verdict, by
            ran += by
        return "survived", ran

    def run(self, made, tests):
        ran, spent = [], 0
        with Changed(self.build, made) as changed:
            for name in [n for n in tests if n not in self.unsound]:
                if not changed.link(name):
                    return "broken", None
                if ran and spent + self.map.seconds(name) > (SCRIPT_SECONDS if name in self.scripts else UNIT_SECONDS):
                    continue
                spent += self.map.seconds(name)
                ran.append(name)
                if self.fails(name):
                    return "killed", name
        return "survived", ran

    def passes(self, name):
        """Whether the test passes without a change; asked once of each that has killed."""
        if name not in self.sound and self.fails(name):
            say(f"{name} fails without a change: it judges nothing")
            self.unsound.add(name)
        self.sound.add(name)
        return name not in self.unsound

    def fails(self, name):
        """Twice: not because of what else the machine did at the time."""
        return all(self.tests.run(name, *self.map.limits(name))[0] not in (0, 77) for _ in range(2))


class Changed:
    """The build with other objects in it, for as long as it lasts."""

    def __init__(self, build, made):
        self.build, self.made, self.kept = build, made, []

    def path(self, name):
        return os.path.join(self.build.folder, name)

    def keep(self, name):
        if os.path.exists(self.path(name)):
            os.replace(self.path(name), self.path(name) + ".unchanged")
            self.kept.append(name)

    def __enter__(self):
        self.archives, self.linked = self.build.products([os.path.normpath(out) for out in self.made])
        if not self.linked:
            sys.exit(f"mutate: nothing is made of {', '.join(self.made)}")
        for out, file in self.made.items():
            self.keep(out)
            shutil.copy(file, self.path(out))
        for archive in self.archives:
            self.keep(archive)
            shutil.copy(self.path(archive) + ".unchanged", self.path(archive))
            for out, file in self.made.items():
                member = self.build.archives[archive].get(os.path.normpath(out))
                if member:
                    renamed = os.path.join(os.path.dirname(file), member)
                    shutil.copy(file, renamed)
                    subprocess.run(["ar", "r", archive, renamed], cwd=self.build.folder, capture_output=True, check=True)
        self.done = set()
        self.shared = [name for name in self.linked if name.endswith(".so") or ".so." in name]
        self.good = all([self.one(name) for name in self.shared])
        return self

    def one(self, name):
        if name not in self.done:
            self.keep(name)
            self.done.add(name)
            return subprocess.run(self.build.links[name], cwd=self.build.folder, capture_output=True).returncode == 0
        return True

    def link(self, test):
        """The program, if it has a part in the change. False: it cannot be linked."""
        return self.good and all([self.one(name) for name in (test, os.path.join(os.path.dirname(test), ".libs", os.path.basename(test))) if name in self.linked])

    def __exit__(self, *_):
        for name in self.kept:
            os.replace(self.path(name) + ".unchanged", self.path(name))


# --------------------------------------------------------------------------------------------------------------- sample


def equivalents():
    """Keys of what was judged by hand: stanzas of path, lines after "- ", lines after "+ ", the reason after "# "."""
    found = {}
    if os.path.exists(EQUIVALENT):
        for stanza in re.split(r"\n\s*\n", read(EQUIVALENT)):
            lines = [l for l in stanza.split("\n") if l]
            old = [l[1:].strip() for l in lines if l.startswith("-")]
            new = [l[1:].strip() for l in lines if l.startswith("+")]
            why = " ".join(l[1:].strip() for l in lines if l.startswith("#"))
            if lines and old:
                found[(lines[0].strip(), "\n".join(old), "\n".join(new))] = why
    return found


def shape(mutant):
    strip = lambda text: "\n".join(l.strip() for l in text.split("\n"))
    return mutant.path, strip(mutant.old_lines), strip(mutant.new_lines)


def draw(seed, folders, compiled):
    """Mutants without end, each as likely as its kind's weight says."""
    kinds, texts = collections.defaultdict(list), {}
    for source in sorted(compiled):
        if source.split("/")[0] in folders:
            texts[source] = read(os.path.join(TOP, source))
            for kind, start, end, new in mutants_of(texts[source]):
                kinds[kind].append((source, start, end, new))
    generator = random.Random(seed)
    names = [k for k in WEIGHTS if kinds[k]]
    while True:
        kind = generator.choices(names, [WEIGHTS[k] for k in names])[0]
        source, start, end, new = generator.choice(kinds[kind])
        yield Mutant(source, kind, texts[source], start, end, new)


def report(results, listed):
    """The table by folder and by kind; the survivors."""
    hand = equivalents()
    for result in results.values():
        if result["verdict"] == "survived" and shape(Known(result)) in hand:
            result["verdict"] = "equivalent"
    counted = [r for r in results.values() if r["verdict"] in ("killed", "survived", "equivalent")]
    print(f"{'':24}{'mutants':>9}{'killed':>9}{'survived':>9}{'equivalent':>12}{'% killed':>10}")
    rows = [(f, [r for r in counted if r["path"].split("/")[0] == f]) for f in FOLDERS]
    rows += [(k, [r for r in counted if r["kind"] == k]) for k in WEIGHTS]
    for name, each in rows + [("all", counted)]:
        if each:
            by = collections.Counter(r["verdict"] for r in each)
            real = by["killed"] + by["survived"]
            print(f"{name:24}{len(each):9}{by['killed']:9}{by['survived']:9}{by['equivalent']:12}{100 * by['killed'] / max(real, 1):10.1f}")
    if listed:
        for result in counted:
            if result["verdict"] == "survived":
                print("\n" + Known(result).diff() + "judged by " + (" ".join(result["by"] or []) or "nothing: no test runs it"))
    gone = [r for r in results.values() if r["verdict"] == "gone"]
    if gone:
        print(f"\n{len(gone)} of the sample are of lines that have gone since")


def say(text):
    print(f"mutate: {text}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", action="append", choices=FOLDERS)
    parser.add_argument("--build", default="build-mutate")
    parser.add_argument("--without", action="append", default=[], metavar="TEST")
    parser.add_argument("--mutant", nargs=3, metavar=("FILE:LINE", "OLD", "NEW"))
    for name in ("again", "list", "units", "map"):
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    # So that what was changed is put back.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work = os.path.abspath(options.build)
    folders = options.folder or FOLDERS
    kept = os.path.join(work, f"sample-{options.seed}-{'-'.join(folders)}.json")
    results = json.load(open(kept, encoding="utf-8")) if os.path.exists(kept) else {}
    if options.list:
        report(results, True)
        return 0
    judge = Judge(work, options)

    def judged(mutant):
        began = time.monotonic()
        verdict, by = judge.judge(mutant)
        results[mutant.key] = dict(mutant.record(), verdict=verdict, by=by, seconds=round(time.monotonic() - began, 1))
        write(kept + ".new", json.dumps(results, indent=1))
        os.replace(kept + ".new", kept)
        say(f"{verdict:9} {results[mutant.key]['seconds']:6} s  {mutant.path}:{mutant.line} {mutant.kind}" + (f"  {by}" if verdict == "killed" else ""))
        return verdict

    if options.mutant:
        place, old, new = options.mutant
        path, line = place.rsplit(":", 1)
        text = read(os.path.join(TOP, path))
        start = sum(len(l) + 1 for l in text.split("\n")[: int(line) - 1])
        start = text.index(old, start)
        mutant = Mutant(path, "given", text, start, start + len(old), new)
        known = Known(mutant.record())
        verdict, by = judge.judge(known)
        print(f"{mutant.diff()}{verdict} {by}")
        return 0
    if options.again:
        for result in list(results.values()):
            if result["verdict"] in ("survived", "gone"):
                judged(Known({k: v for k, v in result.items() if k not in ("verdict", "by", "seconds")}))
    else:
        counted = sum(r["verdict"] in ("killed", "survived") for r in results.values())
        for mutant in draw(options.seed, folders, judge.build.compiles):
            if counted >= options.count:
                break
            if mutant.key not in results:
                counted += judged(Known(mutant.record())) in ("killed", "survived")
    report(results, True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
