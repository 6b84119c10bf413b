# SPDX-License-Identifier: MIT OR Apache-2.0
"""The table that bench/run prints. A figure is met by its median, or by its least where the machine was disturbed."""
import json
import statistics


BEGIN, END = "<!-- bench/run --into -->", "<!-- end -->"
MARKDOWN_HEAD = "| row | ms: median, least | rival | ms: median, least | times as fast: median, least | aim | |"


class Times:
    """What one operation took in each round."""

    def __init__(self):
        self.seconds, self.cpu, self.why = [], [], None

    def median(self):
        return statistics.median(self.seconds)

    def least(self):
        return min(self.seconds)

    def cells(self):
        return [text_of(self.median()), text_of(self.least()), text_of(min(self.cpu))]


def text_of(seconds):
    return f"{seconds * 1e3:.3f}" if seconds < 0.01 else f"{seconds * 1e3:.1f}"


def figure_text(value, unit):
    digits = 4 if not unit else 2 if value < 100 else 0
    return f"{value:.{digits}f} {unit}".rstrip()


class Table:
    HEAD = ["ms", "median", "least", "CPU", "rival", "median", "least", "CPU", "ratio", "of least", "of CPU", "aim", ""]

    def __init__(self, then):
        """then: the name of the other revision, or None."""
        self.then = then
        self.head = self.HEAD + ([then, "now is"] if then else [])
        self.lines, self.count, self.raw = [], {"met": 0, "by least": 0, "MISSED": 0, "failed": 0}, []

    def verdict(self, met, by_least=False):
        word = "met" if met else "by least" if by_least else "MISSED"
        self.count[word] += 1
        return word

    def failed(self, part, row, why):
        self.count["failed"] += 1
        self.line(part, row, ["", "", "", row.beside.name if row.beside else "", "", "", "", "", "", "", "", f"failed: {why}"], None)

    def line(self, part, row, cells, then):
        self.lines.append([row.what, *cells, *(then or ["", ""] if self.then else [])])
        self.raw.append({"part": part, "row": row.title(), "what": row.what.strip(), "cells": self.lines[-1][1:]})

    def add_time(self, part, row, now, other, then):
        """now, other, then: Times; other and then may be None."""
        cells = now.cells()
        if other:
            ratio, least = other.median() / now.median(), other.least() / now.least()
            cells += [row.beside.name, *other.cells(), f"{ratio:.2f}x", f"{least:.2f}x",
                      f"{min(other.cpu) / min(now.cpu):.2f}x"]
            aim = row.at_least
            cells += ["", ""] if aim is None else [f">= {aim:.3g}x", self.verdict(ratio >= aim, least >= aim)]
        else:
            aim = row.below
            cells += [""] * 7
            cells += ["", ""] if aim is None else [f"< {aim:g}", self.verdict(now.median() * 1e3 < aim, now.least() * 1e3 < aim)]
        old = None
        if then:
            old = [text_of(then.median()), f"{then.least() / now.least():.2f}x"] if then.seconds else ["-", ""]
        self.line(part, row, cells, old)

    def add_figure(self, part, row, now, then):
        """now, then: numbers; then may be None, or a string that says why there is none."""
        cells = [figure_text(now, row.unit)] + [""] * 9
        cells += ["", ""] if row.at_most is None else [f"<= {row.at_most:.4g}", self.verdict(now <= row.at_most)]
        old = None
        if then is not None:
            old = [then, ""] if isinstance(then, str) else [figure_text(then, row.unit), ""]
        self.line(part, row, cells, old)

    def print(self):
        rows = [self.head] + self.lines
        # what failed says why at any length
        widths = [max(len(row[i]) for row in rows if i != 12 or len(row[i]) < 12) for i in range(len(self.head))]
        left = {0, 4, 12}
        for row in rows:
            print("  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip())

    def markdown(self, facts):
        """A section a part: what a reader wants to know, as text."""
        out = {}
        for row in self.raw:
            section = out.setdefault(row["part"], [f"### {row['part']}", "", facts, "", MARKDOWN_HEAD, "|---" * 7 + "|"])
            median, least, _, name, other, other_least, _, ratio, ratio_least, _, aim, verdict = row["cells"][:12]
            pairs = [", ".join(filter(None, pair)) for pair in ((median, least), (other, other_least), (ratio, ratio_least))]
            section.append("| " + " | ".join([row["what"], pairs[0], name, pairs[1], pairs[2], aim, verdict]) + " |")
        return {part: "\n".join(lines) + "\n\n" for part, lines in out.items()}

    def put_into(self, path, facts):
        """Replaces the sections of what was measured between two marks of a document."""
        with open(path, encoding="utf-8") as file:
            head, begin, rest = file.read().partition(BEGIN)
        old, end, tail = rest.partition(END)
        if not begin or not end:
            raise SystemExit(f"bench/run: {path} has no {BEGIN} and {END}")
        sections = {text.split(None, 1)[0]: f"### {text}" for text in old.split("### ")[1:]} | self.markdown(facts)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{head}{BEGIN}\n\n{''.join(sections.values())}{END}{tail}")

    def save(self, path, facts):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"facts": facts, "head": self.head[1:], "rows": self.raw}, file, indent=1)
