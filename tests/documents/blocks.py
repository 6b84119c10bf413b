# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads the blocks of a document: fenced and indented ones of Markdown, `.Dl` and `.Bd -literal` of a manual page, the
examples of the command's help. tests/documents.sh lists the comments that this reads.

    blocks.py PAGE LANGUAGE [FILE]    prints the blocks of PAGE in LANGUAGE without a file name, or those of FILE
"""
import dataclasses
import re
import sys


class Mistake(Exception):
    """A document that breaks the rules of tests/documents.sh."""


@dataclasses.dataclass
class Block:
    line: int  # of its first line of text
    language: str
    lines: list
    file: str = ""  # the file that the block is ...
    piece: bool = False  # ... or is a part of
    reason: str = ""  # why it is not run
    reasons: dict = dataclasses.field(default_factory=dict)  # why lines that begin so are not run
    around: str = ""  # the code around it, with a line BLOCK
    hidden: bool = False  # a comment of the document, not shown to its readers

    def text(self):
        return "".join(line + "\n" for line in self.lines)


@dataclasses.dataclass
class Comment:
    line: int
    text: str


DIRECTIVE = re.compile(r'(not run|around|run)(?:, (?:all (\w+)|"([^"]+)"))?:\s(.*)', re.DOTALL)


def read(path):
    """Returns the blocks of a Markdown file or manual page, in order."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    return _attach(list(_manual(lines) if path.endswith(".1") else _markdown(lines)))


def read_help(text):
    """Returns the blocks of `record help COMMAND`: its indented lines that are commands."""
    return [Block(number, "sh", [line.strip()], reason="needs fish" if " fish " in line else "")
            for number, line in enumerate(text.split("\n"), 1) if line.startswith("  record ")]


def _markdown(lines):
    number = 0
    while number < len(lines):
        line = lines[number]
        begin = number
        number += 1
        if line.startswith("```"):
            number = _until(lines, number, lambda text: text == "```")
            yield _fenced(begin + 2, line[3:].split(), lines[begin + 1:number - 1])
        elif line.startswith("<!--"):
            number = _until(lines, begin, lambda text: text.endswith("-->"))
            yield Comment(begin + 1, "\n".join(lines[begin:number])[4:-3].strip())
        elif re.match(r"    \S", line) and (begin == 0 or not lines[begin - 1] or lines[begin - 1].endswith("-->")):
            while number < len(lines) and lines[number].startswith("    "):
                number += 1
            yield Block(begin + 1, "sh", [text[4:] for text in lines[begin:number]])
        elif re.match(r"\s+```|\s*~~~|\t", line):
            raise Mistake(f"line {begin + 1}: a block must begin with ``` or four spaces at the beginning of a line")


def _fenced(line, words, lines):
    """```LANGUAGE, ```LANGUAGE FILE or ```LANGUAGE in FILE"""
    piece = len(words) == 3 and words[1] == "in"
    if not words or len(words) > 2 and not piece:
        raise Mistake(f"line {line - 1}: expected ```LANGUAGE, ```LANGUAGE FILE or ```LANGUAGE in FILE")
    return Block(line, words[0], lines, words[-1] if len(words) > 1 else "", piece)


def _until(lines, number, ends):
    """Returns the number of the line after the first one that ends the block."""
    for end in range(number, len(lines)):
        if ends(lines[end]):
            return end + 1
    raise Mistake(f"line {number}: a block that does not end")


def _manual(lines):
    number = 0
    while number < len(lines):
        line = lines[number]
        begin = number
        number += 1
        if line.startswith(".Dl "):
            while number < len(lines) and lines[number].startswith(".Dl "):
                number += 1
            yield Block(begin + 1, "sh", [_unescape(text[4:]).removeprefix("$ ") for text in lines[begin:number]])
        elif line.startswith(".Bd -literal"):
            number = _until(lines, number, lambda text: text == ".Ed")
            text = [_unescape(text) for text in lines[begin + 1:number - 1]]
            yield Block(begin + 2, "json" if text[0].startswith("{") else "literal", text)
        elif line.startswith((".Bd", ".D1")):
            raise Mistake(f"line {begin + 1}: a block must be .Dl or .Bd -literal")
        elif line.startswith('.\\" ') and "SPDX-License-Identifier" not in line:
            yield Comment(begin + 1, line[4:].strip())


def _unescape(text):
    for escape, character in (("\\(dq", '"'), ("\\-", "-"), ("\\&", ""), ("\\e", "\\")):
        text = text.replace(escape, character)
    return text


def _attach(items):
    """Applies the comments to the blocks that they are about."""
    blocks, waiting, everywhere = [], [], {}
    for item in items:
        if isinstance(item, Block):
            _apply(item, waiting, everywhere)
            blocks.append(item)
            continue
        found = DIRECTIVE.fullmatch(item.text)
        if not found:
            if ":" in item.text:
                raise Mistake(f"line {item.line}: an unknown comment: {item.text}")
            continue  # bench/run's
        what, language, beginning, text = found.groups()
        if what == "run":
            blocks.append(Block(item.line, "sh", text.split("\n"), hidden=True))
        elif language:
            everywhere[what, language] = text
        else:
            waiting.append((item.line, what, beginning, text))
    if waiting:
        raise Mistake(f"line {waiting[0][0]}: a comment that is about no block")
    return blocks


def _apply(block, waiting, everywhere):
    if not block.file:
        block.reason = everywhere.get(("not run", block.language), "")
        block.around = everywhere.get(("around", block.language), "")
    for line, what, beginning, text in waiting:
        if what == "around":
            block.around = text
        elif not beginning:
            block.reason = text
        elif any(text_.startswith(beginning) for text_ in block.lines):
            block.reasons[beginning] = text
        else:
            raise Mistake(f'line {line}: the block has no line that begins with "{beginning}"')
    waiting.clear()


if __name__ == "__main__":
    for found_ in read(sys.argv[1]):
        if found_.language == sys.argv[2] and found_.file == "".join(sys.argv[3:4]) and not found_.hidden:
            sys.stdout.write(found_.text())
