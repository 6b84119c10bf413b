# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reports the cells of a test matrix as TAP, and compares the failures with the list of expected ones.

Usage: expected = Expected("values"); expected.check(cell, ok, message); sys.exit(expected.finish())

The list is the file expected-failures in this directory. Each line has three fields between tabs: the name of the
matrix, a pattern of cells (as of a shell: * ? [abc]) and the title of the issue that will mend them. Empty lines and
lines that begin with # are ignored. Every cell that a pattern matches must fail: one that passes is a failure, and so
is a pattern that matches no cell. So a line is removed together with the fault that it names.
"""
import fnmatch
import os

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected-failures")
MESSAGE_LINES = 20


class Line:
    def __init__(self, place, pattern, title):
        self.place, self.pattern, self.title, self.used = place, pattern, title, False


def read_list(path, matrix):
    """Returns the lines of a matrix. Raises ValueError where a line is malformed."""
    lines = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            text = text.rstrip("\n")
            if not text or text.startswith("#"):
                continue
            fields = text.split("\t")
            if len(fields) != 3 or not all(fields):
                raise ValueError(f"{path}:{number}: expected MATRIX, CELL and ISSUE TITLE between tabs, found {text!r}")
            if fields[0] == matrix:
                lines.append(Line(f"{os.path.basename(path)}:{number}", fields[1], fields[2]))
    return lines


class Expected:
    """The outcome of one matrix."""

    def __init__(self, matrix, path=LIST, out=print):
        self.lines = read_list(path, matrix)
        self.out = out
        self.count = self.failed = self.listed = 0

    def _line_of(self, cell):
        for line in self.lines:
            if fnmatch.fnmatchcase(cell, line.pattern):
                line.used = True
                return line
        return None

    def _report(self, ok, text, message=""):
        self.count += 1
        self.failed += not ok
        text = text.replace("#", "\\#")
        self.out(f"{'ok' if ok else 'not ok'} {self.count} - {text}")
        if not ok:
            lines = str(message).splitlines()
            for line in lines[:MESSAGE_LINES]:
                self.out(f"#   {line}")
            if len(lines) > MESSAGE_LINES:
                self.out(f"#   ({len(lines) - MESSAGE_LINES} more lines)")

    def check(self, cell, ok, message=""):
        """Reports a cell. @param message says what went wrong; it is printed for an unexpected failure."""
        line = self._line_of(cell)
        if line is None:
            self._report(ok, cell, message)
        elif ok:
            self._report(False, f"{cell}: passes, but is listed",
                         f"{line.place}: remove the line, or narrow its pattern")
        else:
            self.listed += 1
            self._report(True, f"{cell}: fails as expected ({line.title})")

    def finish(self, complete=True):
        """Prints the plan. @param complete all cells of the matrix were checked, so that each line must have matched
        one. @return the exit status."""
        for line in self.lines:
            if complete and not line.used:
                self._report(False, f"{line.place}: {line.pattern}: matches no cell", "remove the line")
        if self.listed:
            self.out(f"# {self.listed} of {self.count} cells fail as expected-failures lists them")
        self.out(f"1..{self.count}")
        return 1 if self.failed else 0
