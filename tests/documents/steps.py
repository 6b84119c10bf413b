# SPDX-License-Identifier: MIT OR Apache-2.0
"""Turns the blocks of a document into steps: scripts for the document's shell, and the result that each must have."""
import dataclasses
import re

from blocks import Mistake

# `record diff` exits with 1 if the files differ: that is no failure.
ANSWERS = re.compile(r"record(-mpi)? diff |mpirun .* record-mpi diff ")
STATUS = re.compile(r"\s#.*\bexit ([0-9]+)$")
# A piece of a program may end before it uses what it declares.
COMPILERS = {"c": "cc -std=c11 -Wno-unused-variable -x c", "cpp": "c++ -std=c++17 -Wno-unused-variable -x c++"}


@dataclasses.dataclass
class Step:
    line: int
    title: str
    script: str = ""  # for the shell
    statuses: tuple = (0,)
    source: str = ""  # a file for the script: $SOURCE
    shown: list = dataclasses.field(default_factory=list)  # lines that it prints, in this order
    piece: str = ""  # text that it prints verbatim
    file: str = ""  # the file that it creates, for later steps
    keys: set = dataclasses.field(default_factory=set)  # JSON keys that the document's steps print
    reason: str = ""  # why it does not run


def of_document(blocks):
    """Returns the steps of a document in their order."""
    steps = []
    for block in blocks:
        if block.reason:
            first = next((line.strip() for line in block.lines if line), "")
            steps.append(Step(block.line, first, reason=block.reason))
        elif block.file:
            steps.append(_file(block))
        elif block.language == "sh":
            steps += [_command(block, line, text) for line, text in _joined(block)]
        elif block.language == "console":
            steps += _session(block)
        elif block.language == "text":
            _show(steps, block.line, block.lines)
        elif block.language == "json":
            steps.append(Step(block.line, "the keys of the JSON", keys=set(re.findall(r'"(\w+)"', block.text()))))
        elif block.language in COMPILERS:
            steps.append(_program(block))
        else:
            raise Mistake(f"line {block.line}: {block.language} is not run; name its file, or say why in a comment")
    _used(steps)
    return steps


def _joined(block):
    """Yields the commands of a block, each with its line; a backslash at the end of a line continues it."""
    text, begin = "", 0
    for number, line in enumerate(block.lines, block.line):
        begin = begin if text else number
        text += line + "\n"
        if not line.endswith("\\") and text.strip():
            yield begin, text
        if not line.endswith("\\"):
            text = ""


def _command(block, line, text):
    reason = next((why for beginning, why in block.reasons.items() if text.startswith(beginning)), "")
    status = STATUS.search(text.rstrip("\n"))
    statuses = (int(status[1]),) if status else (0, 1) if ANSWERS.match(text) else (0,)
    return Step(line, text.strip(), text, statuses, reason=reason)


def _session(block):
    """Returns the steps of a session: lines that begin with `$ ` are commands, the others are their output."""
    steps = []
    for number, line in enumerate(block.lines, block.line):
        if line.startswith("$ "):
            steps.append(_command(block, number, line[2:] + "\n"))
        else:
            _show(steps, number, [line])
    return steps


def _show(steps, line, lines):
    if not steps or steps[-1].reason:
        raise Mistake(f"line {line}: output of no command")
    steps[-1].shown += lines
    if lines[0].startswith("record: "):
        steps[-1].statuses = (2,)


def _file(block):
    """Returns the step that creates the file, or that compares the block with a piece of it."""
    if block.piece:
        return Step(block.line, f"a piece of {block.file}", f"cat {block.file}\n", piece=block.text())
    text = block.text()
    if block.language == "ini" and not text.lstrip().startswith(("[", ";")):
        text = f"[profile {block.file.partition('.')[0]}]\n" + text  # rules without a section
    return Step(block.line, block.file, f'cat "$SOURCE" >{block.file}\n', source=text, file=block.file)


def _program(block):
    """Returns the step that compiles the block with the code around it, and runs it if it has a main()."""
    text = block.text()
    if block.around:
        before, found, after = ("\n" + block.around + "\n").partition("\nBLOCK\n")
        if not found:
            raise Mistake(f"line {block.line}: the code around it has no line BLOCK")
        includes = "".join(line + "\n" for line in block.lines if line.startswith("#"))
        body = "".join("\n" if line.startswith("#") else line + "\n" for line in block.lines)
        text = f"{includes}{before}\n#line {block.line}\n{body}{after}\n"
    objects = "".join(f" $([ ! -e {name}.o ] || echo {name}.o)" for name in re.findall(r'#include "(\w+)\.h"', text))
    compiler = COMPILERS[block.language] + ' -I . -o "$SOURCE.out" "$SOURCE"'
    if re.search(r"\bint main\(", text):
        script = f'{compiler} -x none{objects} $(pkg-config --cflags --libs librecord) -lm && "$SOURCE.out"\n'
    else:
        script = f"{compiler} -c $(pkg-config --cflags librecord) $MPI_CFLAGS\n"
    return Step(block.line, block.language, script, source=text)


def _used(steps):
    """Fails if no later step uses a file: such a file is not tested."""
    for number, step in enumerate(steps):
        word = r"\bmake\b" if step.file == "Makefile" else r"\b" + re.escape(step.file)
        if step.file and not any(re.search(word, later.script + later.source) for later in steps[number + 1:]):
            raise Mistake(f"line {step.line}: no command uses {step.file}")
