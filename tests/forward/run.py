#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""run.py --record COMMAND --burn VERSION=PROGRAM... [--update] [-v] [--keep DIRECTORY] [MODEL...]

Converts each model of PyTorch, loads the record with real Burn and compares the outputs; then converts the record back.
Prints TAP and a table. Exit status 1 if a cell is not what cases.py expects and is not listed in `expected` with its word,
or is listed there and does what it should. README.md explains columns and words. --update writes `expected` again (all models, all
versions). -v prints each command and its messages; --keep leaves the files there;
--made is a directory where hub.py has made the files of hub/ again: they must be the same.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

import numpy
import torch

import make
from cases import CASES, EXCHANGED, MISTAKEN
from registry import MODELS, build

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected")
SOURCES = os.path.join(HERE, "src")
HUB = os.path.join(HERE, "hub")
COLUMNS = ("plain", "type", "follow", "works", "dialect", "pt", "half", "back", "back-type", "trained", "mutants")
ROUNDS = 2
HALF_LIMIT = "2e-2"
HINT = re.compile(r"--(remap|rule|module|select|gaps|set) ('[^']*'|[A-Za-z0-9_.=|-]+)|--(profile) ([a-z0-9-]+)")
# This note only reports how many layers were recognised.
PLAIN_NOTES = ("no type and no module rule names", "recognised by name and shape")


class Model:
    """One model, one version of Burn."""

    def __init__(self, options, version, program, name):
        self.options, self.version, self.program, self.name = options, version, program, name
        self.case = CASES[name]
        self.data = os.path.join(options.scratch, "data", name)
        self.out = os.path.join(options.scratch, version, name)
        minor = int(version.split(".")[1])
        self.burn, self.ext = f"0.{minor}", "bpk" if minor >= 22 else "mpk"
        old, new = (os.path.join(folder, self.case.source + ".rs") for folder in (SOURCES, f"{options.scratch}/src"))
        self.type, self.other = (["--type", f"{source}:{self.case.type or name}"]
                                 for source in ((new, old) if minor >= 22 else (old, new)))
        self.log = {}
        os.makedirs(self.out, exist_ok=True)

    def call(self, column, command):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        said = (done.stdout + done.stderr).strip()
        self.log.setdefault(column, []).append(f"$ {shlex.join(command)}\n{said}\n-> {done.returncode}")
        return done.returncode, said

    def convert(self, column, arguments, source, target):
        """Returns None if record wrote the target, else the word for what it did; and its messages."""
        if os.path.exists(target):
            os.remove(target)
        status, said = self.call(column, [self.options.record, "convert", *arguments, source, target])
        if status == 0:
            return None, said
        return ("refused" if status == 2 and not os.path.exists(target) else f"status-{status}"), said

    def compute(self, column, record, said, within=()):
        inputs = sorted(name for name in os.listdir(self.data) if name.startswith("in"))
        status, _ = self.call(column, [self.program, self.name, record, f"{self.data}/out.npy", *within,
                                       *(f"{self.data}/{name}" for name in inputs)])
        if status in (0, 1):
            return "right" if status == 0 else wrong(said)
        return "empty" if re.search(r": 0 tensors", said) else "unloadable"

    def forth(self, column, arguments, source="model.safetensors", within=()):
        record = f"{self.out}/{column}.{self.ext}"
        word, said = self.convert(column, ["--burn", self.burn, *arguments], f"{self.data}/{source}", record)
        return word or self.compute(column, record, said, within), said

    def follow(self):
        """Does what the messages say, word for word, until record is content or has nothing new to say."""
        arguments, rounds = list(self.type), 0
        while True:
            word, said = self.forth("follow", arguments)
            more = [hint for hint in self.hints(said) if hint not in arguments]
            if word != "refused" or not more or rounds == ROUNDS:
                return word
            arguments, rounds = arguments + more, rounds + 1

    def hints(self, said):
        """The options that messages name. Of several values the one that is true of this model is taken."""
        found = []
        for option, value, profile, name in HINT.findall(said):
            if profile:
                found.append(f"--profile={name}")
            elif option == "set":
                number = value.strip("'").partition("=")[0]
                if number in self.case.facts:
                    found.append(f"--set={number}={self.case.facts[number]}")
            elif "PATTERN" not in value:
                found.append(f"--{option}={value[1:-1] if value.startswith(chr(39)) else value}")
        return list(dict.fromkeys(found))

    def typed(self):
        word, said = self.forth("type", self.type)
        asked = all(re.search(rf"\b{name}=", said) for name in self.case.facts)
        return "asks" if word == "refused" and self.case.facts and asked else word

    def back(self, column, arguments, target):
        """The right record becomes PyTorch's file again, and PyTorch computes the same."""
        file = f"{self.out}/{column}.{target}"
        return self.reverse(column, arguments, f"{self.out}/works.{self.ext}", file)

    def trained(self, arguments):
        """Burn doubles all parameters and saves the model. The way back has the original for what Burn does not keep."""
        record, file = f"{self.out}/burn.{self.ext}", f"{self.out}/trained.safetensors"
        status, _ = self.call("trained", [self.program, self.name, f"{self.out}/works.{self.ext}", "--train", record])
        if status:
            return "unloadable"
        base, config = ["--base", f"{self.data}/model.safetensors"], f"{self.data}/config.json"
        if os.path.exists(config):
            base += ["--config-json", config]
        return self.reverse("trained", [*arguments, *base], record, file, 2.0)

    def reverse(self, column, arguments, record, file, factor=1.0):
        word, said = self.convert(column, ["--reverse", *arguments], record, file)
        if word:
            return word
        with TORCH:
            try:
                word = self.judge(file, factor)
            except (RuntimeError, KeyError, ValueError) as error:
                self.log[column].append(str(error))
                return "unloadable"
        return wrong(said) if word == "WRONG" else word

    def judge(self, file, factor):
        state = make.read_safetensors(file) if file.endswith("safetensors") else torch.load(file)
        if self.case.hub:
            original = make.read_safetensors(f"{self.data}/model.safetensors")
            return compare_states({key: tensor * factor for key, tensor in original.items()}, state)
        module, inputs = build(self.name)
        scale(module, factor)
        if hasattr(module, "settled") and not set(module.state_dict()) <= set(state):
            module = module.settled()
        before = {key: tensor.clone() for key, tensor in module.state_dict().items()}
        with torch.no_grad():
            expected = module(*inputs)
            for key, tensor in module.state_dict().items():
                if key in self.case.lost:
                    state.setdefault(key, tensor)
                else:
                    tensor.zero_()
            module.load_state_dict(state)
            found = module(*inputs)
        if not bool(((found - expected).abs().max() / expected.abs().max() < 1e-4).item()):
            return "WRONG"
        after = module.state_dict()
        same = all(torch.equal(before[key], after[key]) for key in before if not key.endswith("num_batches_tracked"))
        return "right" if same or self.case.inexact else "inexact"

    def mutants(self):
        """Whether the comparison sees every conversion that is wrong on purpose."""
        words = []
        if self.name in EXCHANGED:
            one, other = EXCHANGED[self.name]
            steps = (rf"\b{one}\b", "exchanged"), (rf"\b{other}\b", one), ("exchanged", other)
            swap = [f"--remap={old} => {new}" for old, new in steps]
            mutant = f"{self.out}/mutant.{self.ext}"
            word, said = self.convert("mutants", ["--burn", self.burn, *swap], f"{self.out}/works.{self.ext}", mutant)
            words.append(word or self.compute("mutants", mutant, said))
        if self.name in MISTAKEN:
            mistaken = MISTAKEN[self.name]  # one profile takes the place of another
            kinds = {option.split("=")[0] for option in mistaken} & {"--profile"}
            kept = [option for option in self.case.all_options if option.split("=")[0] not in kinds]
            words.append(self.forth("mutants", [*self.type, *kept, *mistaken])[0])
        if not words:
            return "-"
        return "seen" if all(word.startswith("WRONG") for word in words) else "unseen"

    def cells(self):
        full = [*self.type, *self.case.all_options]
        other = [*self.other, *self.case.all_options]
        row = {"plain": self.forth("plain", [])[0] if self.case.plain else "-", "type": self.typed(),
               "follow": self.follow(), "works": self.forth("works", full)[0]}
        if row["works"] == "right":
            row["dialect"] = self.forth("dialect", other)[0]
            row["pt"] = self.forth("pt", full, "model.pt")[0]
            row["half"] = self.forth("half", [*full, "--precision", "half"], within=("--within", HALF_LIMIT))[0]
            row["back"] = self.back("back", [], "safetensors")
            row["back-type"] = self.back("back-type", full, "pt")
            row["trained"] = self.trained(full)
            row["mutants"] = self.mutants()
        return row

    def goal(self, column):
        case = self.case
        if case.never and not (column == "type" and case.facts):
            return "refused"
        if column in case.goals:
            return case.goals[column]
        if column == "plain":
            return "refused" if case.mixed and self.ext == "bpk" else case.plain
        if column == "type":
            return "asks" if case.facts and case.typed == "right" else case.typed
        return "seen" if column == "mutants" else "right"


def scale(module, factor):
    """Multiplies what Burn has as parameters; statistics of norms are among them."""
    kept = ("num_batches_tracked", "weight_mask", ".pe")
    with torch.no_grad():
        tensors = {t.data_ptr(): t for key, t in module.state_dict().items() if not key.endswith(kept)}
        for tensor in tensors.values():  # a tied tensor is there twice
            tensor.mul_(factor)


def compare_states(before, after):
    """The word for a file that has come back, where no module can load it."""
    if {key: tensor.shape for key, tensor in before.items()} != {key: tensor.shape for key, tensor in after.items()}:
        raise ValueError(f"other keys or shapes: {sorted(set(before) ^ set(after))[:6]}")
    return "right" if all(torch.equal(tensor, after[key]) for key, tensor in before.items()) else "WRONG"


TORCH = threading.Lock()  # its random numbers are those of the process


def wrong(said):
    """WRONG*: a note warned of it."""
    notes = [note for note in re.findall(r"note: (.*)", said) if not note.startswith(PLAIN_NOTES)]
    return "WRONG*" if notes else "WRONG"


def read_expected():
    """Returns {(version, model, column): word}, from lines of these four words."""
    lines = {}
    with open(EXPECTED, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.split("#")[0].split()
            if not fields:
                continue
            if len(fields) != 4 or fields[1] not in CASES or fields[2] not in COLUMNS:
                sys.exit(f"{EXPECTED}:{number}: expected VERSION MODEL COLUMN WORD, found {line.strip()!r}")
            lines[tuple(fields[:3])] = fields[3]
    return lines


def write_expected(failing, versions):
    """Writes the cells that do not do what they should, one line a cell."""
    with open(EXPECTED, encoding="utf-8") as file:
        head = [line for line in file if line.startswith("#")]
    lines = []
    for name in CASES:
        for column in COLUMNS:
            words = [failing.get((version, name, column)) for version in versions]
            if words[0] and len(set(words)) == 1:
                lines.append(f"all {name} {column} {words[0]}\n")
            else:
                lines += [f"{v} {name} {column} {word}\n" for v, word in zip(versions, words) if word]
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.writelines(head + lines)


class Report:
    """TAP, and the cells that do not do what they should."""

    def __init__(self, expected, verbose):
        self.expected, self.verbose = expected, verbose
        self.count = self.failed = 0
        self.failing = {}

    def cell(self, model, column, word):
        goal, key = model.goal(column), (model.version, model.name, column)
        listed = self.expected.get(key) or self.expected.get(("all", *key[1:]))
        if word != goal:
            self.failing[key] = word
        ok = word == (listed or goal) and not (listed and word == goal)
        self.count += 1
        self.failed += not ok
        what = f"Burn {model.version}, {model.name}, {column}: {word}"
        if listed and ok:
            what += f" (listed; {goal} is wanted)"
        elif not ok:
            what += f", where {listed + ' is listed' if listed else goal + ' is wanted'}"
            if word == goal:
                what += ": remove its line from tests/forward/expected"
        print(f"{'ok' if ok else 'not ok'} {self.count} - {what}")
        if not ok or self.verbose:
            said = "\n".join(model.log.get(column, []))[:4000]
            print("".join(f"#   {line}\n" for line in said.splitlines()), end="")

    def made_again(self, name, folder):
        kept, made = (os.path.join(parent, name) for parent in (HUB, folder))
        differing = [file for file in sorted(os.listdir(kept)) if not same_file(f"{kept}/{file}", f"{made}/{file}")]
        self.count += 1
        self.failed += bool(differing)
        ok = f"not ok {self.count}" if differing else f"ok {self.count}"
        print(f"{ok} - transformers makes {name} again{''.join(', but not ' + file for file in differing)}")

    def row(self, model, row):
        for column in COLUMNS:
            if row.get(column, "-") != "-":
                self.cell(model, column, row[column])


def same_file(path, other):
    if not os.path.exists(other):
        return False
    if path.endswith("out.npy"):  # another processor may add in another order
        return numpy.allclose(numpy.load(path), numpy.load(other), rtol=1e-4, atol=1e-5)
    with open(path, "rb") as one, open(other, "rb") as two:
        return one.read() == two.read()


def table(version, rows):
    lines = [["Burn " + version, *COLUMNS]]
    lines += [[name, *(row.get(column, "-") for column in COLUMNS)] for name, row in rows.items()]
    print("#")
    for line in lines:
        print("# " + "".join(f"{cell:<18}" if i == 0 else f"{cell:<11}" for i, cell in enumerate(line)).rstrip())


def copy_hub(source, folder):
    """Copies the files of a model of transformers, and stores its state as PyTorch does."""
    shutil.copytree(source, folder, dirs_exist_ok=True)
    torch.save(make.read_safetensors(f"{folder}/model.safetensors"), f"{folder}/model.pt")


def write_dialect(folder):
    """Writes the sources as Burn 0.22 and later want them: the text that `build` compiles for these versions."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(SOURCES):
        script = os.path.join(HERE, "../interop/without-backend.sed")
        with open(os.path.join(folder, name), "wb") as file:
            subprocess.run(["sed", "-f", script, os.path.join(SOURCES, name)], stdout=file, check=True)


def run(options, programs, names):
    report = Report(read_expected(), options.verbose)
    tables = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for version, program in programs.items():
            models = [Model(options, version, program, name) for name in names]
            tables[version] = {}
            for model, row in zip(models, pool.map(Model.cells, models)):
                report.row(model, row)
                tables[version][model.name] = row
    for name in names:
        if options.made and CASES[name].hub:
            report.made_again(name, options.made)
    print(f"1..{report.count}")
    for version, rows in tables.items():
        table(version, rows)
    right = sum(row["works"] == row.get("pt") == "right" for rows in tables.values() for row in rows.values())
    count = sum(map(len, tables.values()))
    print(f"# {right} of {count} compute the same; {len(report.failing)} cells are to be mended")
    if options.update:
        write_expected(report.failing, list(programs))
        return 0
    return 1 if report.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", required=True)
    parser.add_argument("--burn", action="append", default=[], metavar="VERSION=PROGRAM")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--keep", metavar="DIRECTORY")
    parser.add_argument("--made", metavar="DIRECTORY")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    options = parser.parse_args()
    hub = {name for name, case in CASES.items() if case.hub}
    if set(CASES) != set(MODELS) | hub:
        sys.exit(f"models without a case, or cases without a model: {sorted(set(CASES) ^ (set(MODELS) | hub))}")
    if options.update and options.models:
        sys.exit("--update needs all models")
    with tempfile.TemporaryDirectory(prefix="librecord-forward-") as scratch:
        options.scratch = options.keep or scratch
        names = options.models or list(CASES)
        data = os.path.join(options.scratch, "data")
        make.main(data, *(name for name in names if name not in hub))
        for name in hub.intersection(names):
            copy_hub(os.path.join(HUB, name), os.path.join(data, name))
        write_dialect(os.path.join(options.scratch, "src"))
        return run(options, dict(item.split("=", 1) for item in options.burn), names)


if __name__ == "__main__":
    sys.exit(main())
