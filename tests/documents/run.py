# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the commands and programs of the documents and prints TAP: see tests/documents.sh.

    run.py SRCDIR BUILDDIR SCRATCH
"""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(1, os.path.join(sys.argv[1], "tests/families"))
import blocks  # noqa: E402
import files  # noqa: E402
import steps  # noqa: E402
import tools  # noqa: E402


class Report:
    """Prints TAP, and counts the blocks that do not run."""

    def __init__(self):
        self.count, self.failed, self.marked, self.ran = 0, 0, 0, 0

    def result(self, name, mistakes=(), skip=""):
        self.count += 1
        self.failed += bool(mistakes)
        print(f"{'not ok' if mistakes else 'ok'} {self.count} - {_clean(name)}{' # SKIP ' + skip if skip else ''}")
        for line in "\n".join(mistakes).split("\n") if mistakes else ():
            print(f"#   {line}")

    def left_out(self, name, reason):
        self.marked += 1
        print(f"# not run: {_clean(name)}: {reason}")

    def end(self):
        print(f"# {self.ran} steps ran, {self.marked} are marked as not run")
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def _clean(name):
    """Returns one line without a comment, which TAP would read as a directive."""
    return re.sub(r"\s+", " ", re.sub(r"\s#.*", "", name)).strip()


def run_shell(listed, folder, work):
    """Runs the steps in one shell, which writes the output and the status of each to a file in `work`."""
    lines = ["set -o pipefail\n"]
    for number, step in enumerate(listed):
        base = f"{work}/{number}"
        _write(f"{base}.sh", step.script)
        _write(f"{base}.source", step.source)
        lines.append(f"SOURCE={base}.source\n. {base}.sh >{base}.out 2>&1 </dev/null\necho $? >{base}.status\n")
    _write(f"{work}/all.sh", "".join(lines))
    subprocess.run(["bash", "--norc", f"{work}/all.sh"], cwd=folder, stdin=subprocess.DEVNULL, check=False)


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _squeeze(text):
    """Drops what may differ: the number of spaces, and times."""
    return re.sub(r"\b[0-9.]+ s\b", "0 s", re.sub(r"[ \t]+", " ", text)).strip()


def judge(step, status, output):
    """Returns the mistakes of a step that ran."""
    mistakes = []
    if status not in [str(number) for number in step.statuses]:
        mistakes.append(f"exit status {status or 'none: the shell ended'}, expected {step.statuses}")
    if step.piece and step.piece not in output:
        return mistakes + ["not a piece of it:", step.piece]
    left = [_squeeze(line) for line in output.split("\n")]
    for line in step.shown:
        wanted = _squeeze(line)
        while left and wanted not in left[0] and wanted != "…":
            left.pop(0)
        if not left:
            mistakes.append(f"not printed, or not in this order: {line}")
            break
    return mistakes + ["it printed:", output.rstrip("\n")] if mistakes else []


def run_document(name, listed, folder, work, report):
    """Runs a document's steps and reports each."""
    active = [step for step in listed if not step.reason and not step.keys and not tools.missing(step)]
    run_shell(active, folder, work)
    outputs = {id(step): _read(f"{work}/{number}.out") for number, step in enumerate(active)}
    statuses = {id(step): _read(f"{work}/{number}.status").strip() for number, step in enumerate(active)}
    printed = set(re.findall(r'"(\w+)":', "".join(outputs.values())))
    for step in listed:
        title = f"{name}:{step.line}: {step.title}"
        if step.reason:
            report.left_out(title, step.reason)
        elif step.keys:
            report.result(title, [f"no command prints the key {key}" for key in sorted(step.keys - printed)])
        elif id(step) in outputs:
            report.ran += 1
            report.result(title, judge(step, statuses[id(step)], outputs[id(step)]))
        else:
            report.result(title, skip=tools.missing(step))


def documents(srcdir):
    """Yields the name of each document and a function that reads its blocks."""
    pages = ["README.md"] + sorted(os.path.relpath(path, srcdir) for path in
                                   glob.glob(f"{srcdir}/docs/**/*.md", recursive=True) + glob.glob(f"{srcdir}/man/*.1"))
    for page in pages:
        yield page, lambda page=page: blocks.read(os.path.join(srcdir, page))
    for command in re.findall(r"^  ([a-z]+) ", _help(), re.MULTILINE):
        yield f"record help {command}", lambda command=command: blocks.read_help(_help(command))


def _help(*words):
    return subprocess.run(["record", "help", *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def main(srcdir, builddir, scratch):
    report = Report()
    tools.make(srcdir, builddir, scratch)
    common = os.path.join(scratch, "common")
    os.mkdir(common)
    files.make(common, srcdir)
    for number, (name, blocks_of) in enumerate(documents(srcdir)):
        try:
            listed = steps.of_document(blocks_of())
        except blocks.Mistake as mistake:
            report.result(name, [str(mistake)])
            continue
        folder, work = os.path.join(scratch, f"folder{number}"), os.path.join(scratch, f"work{number}")
        shutil.copytree(common, folder)
        os.mkdir(work)
        files.own(folder, srcdir, name)
        run_document(name, listed, folder, work, report)
    report.result("the documents have commands", [] if report.ran > 200 else [f"only {report.ran} steps"])
    return report.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
