# SPDX-License-Identifier: MIT OR Apache-2.0
"""coverage.py [--check] SOURCE BUILD [PATH...]: what gcov counted in BUILD, as a table by folder of SOURCE; of each PATH,
a file or folder below SOURCE, the files, the lines that were never run and the branches that were never taken.
scripts/coverage builds, runs the tests and calls it."""
import json
import os
import subprocess
import sys

# What is installed: tests and examples are not what is tested.
ROOMS = ("common", "core", "burn", "parallel", "recorder", "types", "remap", "plugins", "tools")
LINES_AIM, BRANCHES_AIM = 95.0, 85.0
BATCH = 64  # objects for one run of gcov


class File:
    """A source file: how often each line ran, and each branch of it, whatever was compiled of it how often."""

    def __init__(self):
        self.lines = {}
        self.branches = {}

    def add(self, entry):
        number = entry["line_number"]
        self.lines[number] = self.lines.get(number, 0) + entry["count"]
        for index, branch in enumerate(entry["branches"]):
            if not branch["throw"]:
                # A line of an inline function is there once in each object that has the function.
                key = (number, entry.get("function_name"), index)
                self.branches[key] = self.branches.get(key, 0) + branch["count"]

    def figures(self):
        return (len(self.lines), sum(1 for count in self.lines.values() if count),
                len(self.branches), sum(1 for count in self.branches.values() if count))

    def untaken(self):
        """Lines that ran, with how many of their branches were never taken, and of how many."""
        by_line = {}
        for (number, _, _), count in self.branches.items():
            if self.lines.get(number):
                never, of = by_line.get(number, (0, 0))
                by_line[number] = (never + (count == 0), of + 1)
        return {number: pair for number, pair in by_line.items() if pair[0]}


def notes_of(build):
    """All of them: some tests include what they test."""
    for folder, _, names in os.walk(build):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".gcno"))


def gather(source, build):
    """The files by their path below SOURCE."""
    files = {}
    notes = sorted(notes_of(build))
    if not notes:
        sys.exit(f"coverage: {build}: nothing there was built with --coverage")
    for start in range(0, len(notes), BATCH):
        run = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities"] + notes[start:start + BATCH],
                             capture_output=True, check=False)
        if run.returncode:
            sys.exit(f"coverage: gcov ended with status {run.returncode}: {run.stderr.decode(errors='replace')}")
        for text in run.stdout.splitlines():
            unit = json.loads(text)
            for found in unit["files"]:
                path = os.path.realpath(os.path.join(unit["current_working_directory"], found["file"]))
                path = os.path.relpath(path, source)
                if path.split(os.sep)[0] in ROOMS:
                    for entry in found["lines"]:
                        files.setdefault(path, File()).add(entry)
    return files


def share(part, whole):
    return 100.0 * part / whole if whole else 100.0


def row(name, figures, width):
    lines, ran, branches, taken = figures
    low = share(ran, lines) < LINES_AIM or share(taken, branches) < BRANCHES_AIM
    print(f"{name:{width}} {lines:7} {share(ran, lines):7.1f} % {branches:9} {share(taken, branches):7.1f} %"
          + ("  *" if low else ""))
    return low


def table(title, rows):
    """@return whether any row is below the aims."""
    width = max(len(name) for name in [title, "together", *rows])
    print(f"{title:{width}}   lines       run  branches     taken")
    low = [row(name, figures, width) for name, figures in sorted(rows.items())]
    row("together", [sum(column) for column in zip(*rows.values())], width)
    return any(low)


def listing(source, path, found):
    """The lines that never ran, those that follow each other as one, and each that ran but not all its ways."""
    untaken = found.untaken()
    numbers = sorted(found.lines)
    with open(os.path.join(source, path), encoding="utf-8") as file:
        text = [line.rstrip() for line in file]
    at = 0
    while at < len(numbers):
        number = numbers[at]
        at += 1
        if number in untaken:
            print(f"{path}:{number}: {untaken[number][0]} of {untaken[number][1]} never taken: {text[number - 1]}")
        elif not found.lines[number]:
            while at < len(numbers) and not found.lines[numbers[at]]:
                at += 1
            last = f"-{numbers[at - 1]}" if numbers[at - 1] != number else ""
            print(f"{path}:{number}{last}: never run: {text[number - 1]}")


def main(arguments):
    check = arguments[:1] == ["--check"]
    source, build, *paths = arguments[check:]
    source = os.path.realpath(source)
    files = gather(source, build)
    folders = {}
    for path, found in files.items():
        sums = folders.setdefault(os.path.dirname(path), [0, 0, 0, 0])
        folders[os.path.dirname(path)] = [a + b for a, b in zip(sums, found.figures())]
    for wanted in (os.path.normpath(path) for path in paths):
        chosen = {path: found for path, found in sorted(files.items())
                  if path == wanted or path.startswith(wanted + os.sep)}
        if not chosen:
            sys.exit(f"coverage: {wanted}: no source of the library, its plugins or the command is there")
        for path, found in chosen.items():
            listing(source, path, found)
        table(wanted, {path: found.figures() for path, found in chosen.items()})
        print()
    low = table("folder", folders)
    return 1 if low and check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
