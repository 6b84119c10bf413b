#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""compare.py OURS THEIRS [--count N] [--seed N] [--list]: rules, made at random from the grammar of Rust's `regex`
crate and by breaking such, are run by librecord (OURS) and by the crate itself (THEIRS).

For each rule either both reject it, or both give the same text. librecord may reject a rule that Rust accepts, with a
message; the number of these is printed by kind. Prints TAP."""
import argparse
import collections
import random
import re
import subprocess
import sys

LETTERS = "abkKsSxyz019_.é"
WORDS = ["a", "ab", "k", "layer", "norm", "x1", "é", "ſ", "K", "σ", "_", "-", " "]
PROPERTIES = ["L", "Lu", "Ll", "N", "Nd", "P", "Greek", "Latin", "Alphabetic", "White_Space", "Letter", "Uppercase",
              "sc=Greek", "gc:Lu", "scx=Thai", "gc!=Ll", "Any", "ASCII", "Assigned", "is_greek", "lower case", "M"]
ASCII = ["alpha", "digit", "alnum", "upper", "lower", "punct", "space", "word", "xdigit", "^alpha", "^digit", "blank",
         "cntrl", "graph", "print", "ascii"]
ESCAPES = [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\.", r"\-", r"\[", r"\n", r"\t", r"\v", r"\x41", r"\x{e9}",
           r"\u0041", r"\u{3c3}", r"\U00000061", r"\a", r"\f", r"\r", r"\x7F", r"\/", r"\%"]
ANCHORS = ["^", "$", r"\A", r"\z", r"\b", r"\B", r"\b{start}", r"\b{end}", r"\b{start-half}", r"\b{end-half}", r"\<",
           r"\>"]
STRANGE = [r"\Z", r"\1", r"\K", r"\Q", r"\h", r"\X", r"\G", r"(?=a)", r"(?!a)", r"(?<=a)", r"(?<!a)", r"(?>a)",
           r"(?|a)",
           r"(?#a)", "(?P=a)", r"\pQ", r"\p{Nope}", r"\c", r"\e", r"\0", "(*a)", "{", "}", "]", "[", "(", ")", "*",
           "+?",
           r"\x{110000}", r"\xZZ", "[z-a]", "[[:nope:]]", r"[\b]", "(?i", "(?", "a{2,1}", "a{x}", "a{,3}", "[", "[^",
           "&&",
           r"\b{foo}", r"\b{3}", "(?<a>b)(?<a>c)", "(?<1a>b)", "(?P<é>b)", "(?<a.b[0]>c)", r"\é", r"\_", r"\ "]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.groups = 0
        self.names = []

    def pick(self, *choices):
        return self.r.choice(choices)

    def literal(self):
        return "".join(self.escaped(c) for c in self.r.choice(WORDS))

    def escaped(self, c):
        return "\\" + c if c in r"\.+*?()|[]{}^$#&-~" else c

    def class_item(self, depth):
        n = self.r.random()
        if n < 0.35:
            return self.r.choice(LETTERS.replace(".", ""))
        if n < 0.6:
            return self.pick("a-z", "A-Z", "0-9", "j-t", "à-ÿ", "α-ω", "+--", "!-/", r"\x41-\x5a", "k-k")
        if n < 0.75:
            return self.pick(r"\d", r"\w", r"\s", r"\D", r"\W", r"\.", r"\]", r"\n", r"\x{212a}", r"\-", ".")
        if n < 0.83:
            return self.pick(*[r"\p{%s}"] * 4, r"\P{%s}") % self.r.choice(PROPERTIES)
        if n < 0.9:
            return "[:%s:]" % self.r.choice(ASCII)
        return self.bracket(depth + 1) if depth < 3 else "q"

    def bracket(self, depth=0):
        text = "[" + self.pick("", "", "^") + self.pick("", "", "", "-", "]")
        text += "".join(self.class_item(depth) for _ in range(self.r.randint(1, 3)))
        while self.r.random() < 0.3:
            text += self.pick("&&", "--", "~~")
            text += "".join(self.class_item(depth) for _ in range(self.r.randint(0, 2)))
        return text + self.pick("", "", "", "-") + "]"

    def group(self, depth):
        n = self.r.random()
        inner = self.choice(depth + 1)
        if n < 0.55:
            self.groups += 1
            return "(" + inner + ")"
        if n < 0.65:
            self.groups += 1
            name = "n%d" % self.groups
            self.names.append(name)
            return self.pick("(?P<%s>%s)", "(?<%s>%s)") % (name, inner)
        if n < 0.8:
            return "(?:" + inner + ")"
        flags = "".join(sorted(set(self.r.choices("imsUxRu", k=self.r.randint(1, 2)))))
        if self.r.random() < 0.4:
            flags = "-" + flags
        elif self.r.random() < 0.2:
            flags += "-" + self.pick(*[f for f in "imsUxR" if f not in flags])
        return "(?%s:%s)" % (flags, inner) if self.r.random() < 0.7 else "(?%s)" % flags

    def atom(self, depth):
        n = self.r.random()
        if n < 0.42:
            return self.literal()
        if n < 0.5:
            return "."
        if n < 0.58:
            return self.r.choice(ESCAPES)
        if n < 0.62:
            return self.pick(r"\p{%s}", r"\P{%s}") % self.r.choice(PROPERTIES)
        if n < 0.7:
            return self.r.choice(ANCHORS)
        if n < 0.84 or depth > 3:
            return self.bracket()
        return self.group(depth)

    def repeated(self, depth):
        text = self.atom(depth)
        likely = 0.3
        while self.r.random() < likely:
            likely = 0.08
            text += self.pick("*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}", "{ 1 , 2 }", "{0}",
                              "{1,}")
        return text

    def sequence(self, depth):
        return "".join(self.repeated(depth) for _ in range(self.r.choice([0, 1, 1, 2, 2, 3, 4])))

    def choice(self, depth=0):
        text = self.sequence(depth)
        while self.r.random() < 0.2:
            text += "|" + self.sequence(depth)
        return text

    def pattern(self):
        self.groups, self.names = 0, []
        text = self.choice()
        if self.r.random() < 0.15:
            text = "(?%s)" % self.pick("i", "x", "m", "s", "U", "mR", "i-u", "-u", "ix", "sR") + text
        n = self.r.random()
        if n < 0.12:  # broken
            at = self.r.randint(0, len(text))
            text = text[:at] + self.r.choice(STRANGE) + text[at:]
        elif n < 0.2 and text:
            at = self.r.randrange(len(text))
            text = text[:at] + text[at + 1:]
        elif n < 0.25:
            text = "".join(self.r.choice(r"ab\|()[]{}*+?^$.-&~:=!<>P ixu0d2,#") for _ in range(self.r.randint(1, 10)))
        return text

    def nested(self):
        """Repetitions of what may match nothing, in one another."""
        self.groups, self.names = 0, []

        def part(depth):
            text = self.pick("a", "b", "", "a*", "b?", "a*?", "^", "b??", "ab")
            if depth and self.r.random() < 0.6:
                text += "|".join(part(depth - 1) for _ in range(self.r.randint(1, 3)))
            self.groups += 1
            return self.pick("(%s)", "(?:%s)") % text + self.pick("", "*", "+", "?", "*?", "+?", "{2,}", "{0,2}", "{2}")

        return "".join(part(2) for _ in range(self.r.randint(1, 2))) + self.pick("", "", "b", "$")

    def replacement(self):
        parts = ["$1", "${1}", "$0", "$2_x", "$$", "${n1}", "$n1", "-", "\\1", "$", "x", "${", "$-", "${2}a", "$1a",
                 "é",
                 "%", "${+1}", "$99", "${}"]
        if self.r.random() < 0.5:
            return "<" + "|".join("${%d}" % i for i in range(self.groups + 1)) + ">"
        return "".join(self.r.choice(parts) for _ in range(self.r.randint(0, 3)))

    def text(self, words=None):
        pool = words or ["a", "b", "ab", "k", "K", "layer", "norm", ".", "0", "12", "x1", "é", "É", "ſ", "S", "K", "σ",
                         "Σ", "ς", "_", "-", " ", "\n", "\r\n", "\u0301", "\u200d", "٣", "A", "z", "€", "𝒳", "\u0345",
                         "ι"]
        return "".join(self.r.choice(pool) for _ in range(self.r.randint(0, 8)))


FIXED = [
    (r"(.*)norm\.weight", "${1}norm.gamma", "layers.0.norm.weight"), (r"x*", "-", "axb"), (r"a*", "<$0>", "baaac"),
    (r"(a)|b", "[$1]", "ab"), (r"a++", "-", "aaab"), (r"x**", "-", "xxa"), (r"(a*)*", "<$1>", "aab"),
    (r"(a*)+", "<$1>", "aab"), (r"(|a)*", "<$1>", "aa"), (r"(|a)+", "<$1>", "aa"), (r"(?:b||a)*", "<$0>", "baa"),
    (r"(a|b)*?c", "<$1>", "abc"), (r"$", "-", "a\n"), (r"(?m)^", ">", "a\nb\n"), (r"(?m)$", "<", "a\nb\n"),
    (r"(?mR)^", ">", "a\r\nb\r\n\rc"), (r"(?mR)$", "<", "a\r\nb\n\rc\r"), (r"(?R).+", "-", "ab\rcd\n"),
    (r"[[:word:]]+", "-", "é a_b"), (r"\w+", "-", "e\u0301 a\u200db ٣_"), (r"\s", "-", "a\u180eb\u0085c d"),
    (r"(?i)k", "-", "kKK"), (r"(?i)[k]", "-", "kKK"), (r"(?i-u)k", "-", "kKK"), (r"(?i)\p{Lu}", "-", "aßĸA"),
    (r"(?i)\p{Greek}", "-", "µ\u0345ιι"), (r"(?i)[^s]", "-", "sSſt"), (r"(?i)[[^k]&&\w]", "-", "kKKl"),
    (r"[a-z&&[^c]]", "-", "abcd"), (r"[a-z--[b-c]]", "-", "abcd"), (r"[a-c~~b-d]", "-", "abcd"),
    (r"[\w&&[^\d]]+", "-", "ab12é"), (r"[\w--\d]+", "-", "ab12é"), (r"[\w~~\d]+", "-", "ab12é"), (r"[a&&b]", "-", "ab"),
    (r"\v", "-", "\n\x0b\x0c"), (r"(?x) a b # c" + "\n" + r" [ c d ] \ ", "-", "abc "), (r"(?x)a {2} ?", "-", "aaa"),
    (r"\b{start}\w", "-", "ab cd"), (r"\<a|b\>", "-", "ab ab"), (r"(?U)a+", "-", "aa"), (r"(?U)a+?", "-", "aa"),
    (r"(?<a.b[0]>c)", "${a.b[0]}", "c"), (r"(?<é>c)", "${é}$é", "c"), (r"()", "-", "aé"), (r"a||b", "-", "ab"),
    (r".*a|.*b", "<$0>", "xaxb"), (r"(?:.*a|(?:.*b|.*c))d?", "<$0>", "xaxbxc"), (r"x(a*)b|x(a*)c", "<$1$2>", "xaac"),
    (r"(?i)(?:.*a|.*b)", "<$0>", "xAxB"), (r"(?:\d+a|\d+b|\d+)", "<$0>", "12a34b5"), (r"(?:a+|a+b)", "<$0>", "aab"),
    (r"(a){0}b", "<$1>", "ab"), (r"((a)|b)*", "<$1$2>", "ab"), (r"\p{Cs}", "-", "a"), (r"\p{katakanaorhiragana}", "-",
    "a"),
    (r"\p{unknown}", "-", "a"), (r"\p{isc}", "-", "a"), (r"\pL", "-", "a"), (r"\p{sc}", "-", "$a"), (r"\p{age=3.0}",
    "-", "a"),
    (r"[]a]", "-", "]a"), (r"[]-a]", "-", "_"), (r"[-a]", "-", "-a"), (r"[a-]", "-", "-a"), (r"[^-a]", "-", "b"),
    (r"[--a]", "-", "-a"), (r"[a--]", "-", "-a"), (r"[[a]]", "-", "a]"), (r"[a[b]c]", "-", "abc"), (r"[&&a]", "-",
    "a&"),
    (r"(?:" * 124 + "a" + ")" * 124, "-", "a"), ("(" * 250 + "a" + ")" * 250, "-", "a"), ("(" * 251 + "a" + ")" * 251,
    "-", "a"),
    (r"(a{1000}){1000}", "-", "a"), (r"a{65535}", "-", "a"), (r"\w{40}", "-", "a"), (r"\w{500}", "-", "a"),
    (r"a{4294967296}", "-", "a"), (r"a{4294967295}", "-", "a"), (r"(?:a?){30}a{30}", "-", "a" * 30),
    (r"\pL{60}", "-", "é" * 60), (r".{1000}", "-", "é" * 1000), ("[" * 249 + "a" + "]" * 249, "-", "a"),
    ("[" * 130 + "ab" + "]" * 130, "-", "a"), ("a" + "*" * 249, "-", "a"), ("a" + "*" * 251, "-", "a"),
    ("ab" + "?" * 251, "-", "ab"), (r"[\d&&\w--5]+", "-", "123456"), (r"(?-u)\xff", "-", "ÿ"), (r"(?-u)\x{ff}", "-",
    "ÿ"),
    (r"(?-u)\w+", "-", "aé"), (r"(?-u)\W", "-", "aé"), (r"(?-u)\b.", "-", "aé"), (r"(?-u:\b)é", "-", "aé é"),
    (r"(?-u)\B", "-", "aé b"), (r"(?-u)[a-z]", "-", "aé"), (r"(?-u)[^a]", "-", "aé"), (r"(?-u)[é]", "-", "aé"),
    (r"(?-u)é", "-", "aé"), (r"(?i-u)É", "-", "éÉ"), (r"(?-u)[[:^alpha:]]", "-", "a"), (r"(?-u)\pL", "-", "a"),
]


def run(program, cases):
    data = "".join("\t".join(part.encode().hex() for part in case) + "\n" for case in cases)
    done = subprocess.run([program], input=data.encode(), stdout=subprocess.PIPE, check=False)
    lines = done.stdout.decode("utf-8", "replace").split("\n")[:-1]
    if done.returncode != 0 or len(lines) != len(cases):
        print("not ok - %s ended with status %d after %d of %d rules"
              % (program, done.returncode, len(lines), len(cases)))
        print("# the rule: %r" % (cases[len(lines)],) if len(lines) < len(cases) else "# at its end")
        sys.exit(1)
    return lines


def kind_of(message):
    """What is common to refusals of one kind."""
    message = re.sub(r".*character \d+: ", "", message)
    return re.sub(r"[`\"][^`\"]*[`\"]", "…", message)[:90]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print each rule that Rust alone accepts")
    given = parser.parse_args()
    maker = Maker(given.seed)
    cases = list(FIXED)
    while len(cases) < given.count:
        nested = maker.r.random() < 0.15
        pattern = maker.nested() if nested else maker.pattern()
        replacement = maker.replacement()
        for _ in range(2):
            cases.append((pattern, replacement, maker.text(["a", "b", "ab", "aa"] if nested else None)))
    ours, theirs = run(given.ours, cases), run(given.theirs, cases)
    wrong, loose = [], []
    refused = collections.Counter()
    both = same = 0
    for case, our, their in zip(cases, ours, theirs):
        if our.startswith("ok ") and their.startswith("ok "):
            if our == their:
                same += 1
            else:
                wrong.append((case, our, their))
        elif our.startswith("no ") and their.startswith("no "):
            both += 1
        elif our.startswith("ok "):
            loose.append((case, our, their))
        else:
            refused[kind_of(our)] += 1
            if given.list:
                print("# Rust alone accepts %r: %s" % (case, our))
    print("1..2")
    for name, bad in (("rules give the text that Rust gives", wrong), ("what Rust refuses is refused", loose)):
        print("%sok - %s" % ("not " if bad else "", name))
        for case, our, their in bad[:20]:
            print("#   %r\n#     librecord: %s\n#     Rust:      %s" % (case, decoded(our), decoded(their)))
    for kind, count in refused.most_common(20):
        print("#   %d: %s" % (count, kind))
    print("# %d rules: %d with equal results, %d refused by both, %d by librecord alone, %d different, %d by Rust alone"
          % (len(cases), same, both, sum(refused.values()), len(wrong), len(loose)))
    return 1 if wrong or loose else 0


def decoded(line):
    if line.startswith("ok "):
        _, count, text = (line + " ").split(" ")[:3]
        return "%s matches, %r" % (count, bytes.fromhex(text).decode("utf-8", "replace"))
    return line


if __name__ == "__main__":
    sys.exit(main())
