# SPDX-License-Identifier: MIT OR Apache-2.0
"""What tests/interop/run runs: the `record` command against real Burn's files, real Burn, and Python's msgpack.
All comparisons are exact: bits of floats, kinds of numbers, order of fields, parameter ids."""
import argparse
import concurrent.futures
import functools
import glob
import json
import os
import subprocess
import sys
import tempfile

import records

SOURCES = [(ext, precision) for ext in ("mpk", "mpk.gz") for precision in ("full", "double", "half")]
BURN = "0.21.0"  # what the saved files are made for


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def run(*words, stdin=None):
    done = subprocess.run(words, input=stdin, capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise Failure(f"{' '.join(words)}: exit {done.returncode}\n{said}")
    return done.stdout


class Record:
    """The command under test."""

    def __init__(self, program):
        self.program = program

    def json(self, *words):
        text = run(self.program, *words, "--json")
        try:
            return json.loads(text)
        except ValueError as error:
            raise Failure(f"record {' '.join(words)} --json: {error}")

    def convert(self, source, target, precision):
        run(self.program, "convert", source, target, "--precision", precision)

    def read(self, path):
        """path -> Tensor or scalar, by `ls` and one `show` for each tensor: tensors in the order of the file, then
        the rest in the order of the file."""
        listing = self.json("ls", path)
        found = {}
        for item in listing["tensors"]:
            found[item["key"]] = self.tensor(path, item)
        for item in listing["values"]:
            atoms(item["value"], item["key"], found)
        return found

    def tensor(self, path, item):
        shown = self.json("show", path, item["key"])
        for name in ("key", "dtype", "shape"):
            if shown[name] != item[name]:
                raise Failure(f"{item['key']}: ls says {name} {item[name]}, show {shown[name]}")
        dtype = item["dtype"]
        values = [number(v, dtype) for v in flat(shown["values"])]
        tensor = records.Tensor(dtype, item["shape"], values, item["id"])
        if item["nbytes"] != len(tensor.pack()):
            raise Failure(f"{item['key']}: nbytes {item['nbytes']}, {len(tensor.pack())} expected")
        return tensor


def flat(node):
    if isinstance(node, list):
        for item in node:
            yield from flat(item)
    else:
        yield node


def number(value, dtype):
    """An element as `show --json` prints it: the shortest decimal of its type, and words for what JSON lacks."""
    words = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
    kind = records.DTYPES[dtype][1]
    value = words[value] if isinstance(value, str) else value
    wanted = {"float": float, "int": int, "bool": bool}[kind]
    if type(value) is not wanted:
        raise Failure(f"an element of {dtype} is printed as {value!r}")
    return records.rounded(value, dtype)


def atoms(value, path, out):
    """`ls` may print a list of numbers as one value: each of them is compared."""
    for below, leaf in records.leaves(value).items():
        out[f"{path}.{below}" if path and below else path or below] = leaf


def compare(what, expected, found, ordered=True):
    different = records.differences(expected, found, ordered)
    if different:
        raise Failure(f"{what}: {len(different)} differences\n" + "\n".join(different[:8]))


# --------------------------------------------------------------------------------------------------------- golden

class Case:
    """One record of one version of Burn, in whichever of the two layouts of folders."""

    def __init__(self, name, version, pattern):
        self.name, self.version, self.pattern = name, version, pattern
        self.expected = {}

    @functools.cache
    def at(self, source, precision):
        """The tree that its file at one precision becomes at another."""
        return self.twin(source).at(precision).root

    @functools.cache
    def as_burn_reads(self, source, precision):
        """The same as the oracle gives it back, at double precision."""
        root = records.each_tensor(self.at(source, precision), lambda t: t.at("double"))
        return records.as_burn_021_reads(root)

    def file(self, ext, precision):
        return self.pattern.format(rec=ext.replace(".", ""), precision=precision, ext=ext)

    def twin(self, precision):
        """What the files at this precision hold, by Burn's JSON."""
        if precision not in self.expected:
            paths = {}
            for p in ("full", "double", "half"):
                there = [f for f in (self.file("json", p), self.file("json.gz", p)) if os.path.exists(f)]
                if not there:
                    raise Failure(f"no JSON twin at {p} precision beside {self.file('mpk', p)}")
                paths[p] = there[0]
            v1 = records.load(paths["full"]).version < (0, 14)
            self.expected[precision] = (records.load_twin(paths["half"], paths["full"])
                                        if v1 and precision == "half" else records.load(paths[precision]))
        return self.expected[precision]

    @property
    def ordered(self):
        return self.name != "adam"  # a map in random order, another one in every file

    def __str__(self):
        return f"{self.version} {self.name}"


def golden(folder):
    cases = []
    for file in glob.glob(f"{folder}/*/*-full.mpk"):  # version/case-precision.ext
        case = os.path.basename(file)[: -len("-full.mpk")]
        version = os.path.basename(os.path.dirname(file))
        cases.append(Case(case, version, os.path.dirname(file) + "/" + case + "-{precision}.{ext}"))
    for file in glob.glob(f"{folder}/*/*/mpk-full.mpk"):  # version/case/recorder-precision.ext
        base = os.path.dirname(file)
        version, case = base.split("/")[-2:]
        cases.append(Case(case, version, base + "/{rec}-{precision}.{ext}"))
    return sorted(cases, key=lambda c: ([int(n) for n in c.version.split(".")], c.name))


# ---------------------------------------------------------------------------------------------------------- tests

class Tests:
    def __init__(self, options, scratch):
        self.record = Record(options.record)
        self.oracle, self.no_oracle = options.oracle, options.no_oracle
        self.scratch = scratch
        self.groups = []  # of (name, function), of which later ones need what earlier ones left
        try:
            sys.path.insert(0, options.msgpack or "")
            import msgpack
            self.msgpack, self.no_msgpack = msgpack, None
        except ImportError:
            self.msgpack, self.no_msgpack = None, options.no_msgpack or "Python's msgpack is not there"

    def add(self, name, function, *args):
        self.groups[-1].append((name, lambda: function(*args)))

    def need_oracle(self):
        if not self.oracle:
            raise Skip(self.no_oracle or "no oracle")

    def new(self, name):
        """A file in a folder of its own, without dots before the extension: Burn would cut there."""
        return os.path.join(tempfile.mkdtemp(dir=self.scratch), name)

    def add_golden(self, case):
        self.groups.append([])
        for ext, precision in SOURCES:
            self.add(f"{case}: record reads Burn's {precision}.{ext}", self.reads, case, ext, precision)
        for ext in ("mpk", "mpk.gz"):
            for precision in ("full", "double", "half", "keep"):
                files = {}  # what the first unit saved is looked at by the next ones
                said = f"{case}: {ext} saved at {precision} from each of its {len(SOURCES)} files"
                self.add(f"{said} is read by record", self.saves, case, ext, precision, files)
                self.add(f"{said} is read by Burn {BURN}", self.burn_reads, case, ext, precision, files, "read")
                if ext == "mpk":
                    self.add(f"{said} is read by Burn {BURN} from memory",
                             self.burn_reads, case, ext, precision, files, "readbytes")
                self.add(f"{said} is read by Python's msgpack", self.msgpack_reads, case, ext, precision, files)

    def reads(self, case, ext, precision):
        self.equals(case.twin(precision).root, case.file(ext, precision), case.ordered)

    def equals(self, root, path, ordered):
        found, expected = self.record.read(path), records.leaves(root)
        # ls lists tensors and values apart, each in the order of the file
        for what, is_one in (("tensors", True), ("values", False)):
            only = [{k: v for k, v in all_.items() if isinstance(v, records.Tensor) == is_one}
                    for all_ in (expected, found)]
            different = []
            if list(only[0]) != list(only[1]) and (ordered or sorted(only[0]) != sorted(only[1])):
                different = [f"expected {what} {list(only[0])}", f"found {what} {list(only[1])}"]
            for key in only[0]:
                said = key in only[1] and records.same_leaf(key, only[0][key], only[1][key])
                if said:
                    different.append(f"{key}: {said}")
            if different:
                raise Failure(f"{path}: {len(different)} differences\n" + "\n".join(different[:8]))

    def saves(self, case, ext, precision, files):
        for source in SOURCES:
            target = self.new(f"saved.{ext}")
            self.record.convert(case.file(*source), target, precision)
            files[source] = target
        # one is looked at whole; Burn and msgpack look at all of them, and are faster
        source = SOURCES[0]
        self.equals(case.at(source[1], precision), files[source], case.ordered)

    def saved(self, files):
        if len(files) != len(SOURCES):
            raise Failure("record did not save them all")
        return files.items()

    def burn_reads(self, case, ext, precision, files, how):
        self.need_oracle()
        for source, file in self.saved(files):
            out = self.new("read.json")
            at = source[1] if precision == "keep" else precision
            run(self.oracle, how, case.name, ext.replace(".", ""), at, file, out)
            expected = case.as_burn_reads(source[1], precision)
            found = records.load(out).root
            # Burn keeps the ids that are its own; it makes others of UUIDs
            if any("?" in str(leaf.id) for leaf in records.leaves(expected).values()
                   if isinstance(leaf, records.Tensor)) or "?" in keys(expected):
                found = records.forget_ids(found)
            compare(f"{source[1]}.{source[0]}", without_nil(expected), without_nil(found), case.ordered)

    def msgpack_reads(self, case, ext, precision, files):
        if self.msgpack is None:
            raise Skip(self.no_msgpack)
        for source, file in self.saved(files):
            with open(file, "rb") as opened:
                data = opened.read()
            if ext == "mpk.gz":
                data = records.gzip.decompress(data)
            tree = self.msgpack.unpackb(data, raw=False, strict_map_key=False)
            at = source[1] if precision == "keep" else precision
            check_frame(tree, at)
            expected = records.laid_out(case.at(source[1], precision))
            compare(f"{source[1]}.{source[0]}", expected, tree["item"], case.ordered)

    # Fresh from Burn: too large to be kept, and no one can have fitted anything to them.
    def add_fresh(self, folder):
        for case in ("long", "mnist"):
            self.groups.append([])
            files = []
            self.add(f"{BURN} {case}: Burn writes it now", self.written, case, folder, files)
            for ext, precision in SOURCES:
                self.add(f"{BURN} {case}: record reads Burn's {precision}.{ext}",
                         self.fresh_reads, case, ext, precision, files)
            for ext in ("mpk", "mpk.gz"):
                for precision in ("full", "double", "half"):
                    self.add(f"{BURN} {case}: {ext} saved at {precision} is read by Burn {BURN}",
                             self.fresh_saves, case, ext, precision, files)

    def written(self, case, folder, files):
        self.need_oracle()
        run(self.oracle, "write", folder, case)
        files.append(Case(case, BURN, f"{folder}/{case}-{{precision}}.{{ext}}"))

    def fresh_reads(self, case, ext, precision, files):
        self.need_oracle()
        if not files:
            raise Failure("Burn did not write it")
        self.reads(files[0], ext, precision)

    def fresh_saves(self, case, ext, precision, files):
        self.need_oracle()
        if not files:
            raise Failure("Burn did not write it")
        target, out = self.new(f"saved.{ext}"), self.new("read.json")
        self.record.convert(files[0].file("mpk", "full"), target, precision)
        run(self.oracle, "read", case, ext.replace(".", ""), precision, target, out)
        expected = files[0].twin("full").at(precision).at("double").root
        compare("full.mpk", without_nil(expected), without_nil(records.load(out).root))

    # The README's model has no twin in the tree: Burn says what is in it.
    def add_model(self, file):
        self.groups.append([])
        self.add("mnist.mpk: the same by record and by Burn", self.model, file, None)
        self.add("mnist.mpk: the same by Burn after record convert", self.model, file, "converted.mpk.gz")

    def model(self, file, convert):
        self.need_oracle()
        true, out = self.new("true.json"), self.new("read.json")
        run(self.oracle, "read", "mnist", "mpk", "full", file, true)
        expected = records.load(true).at("full").root
        if convert is None:
            found = self.record.read(file)
            compare(file, without_nil(expected), without_nil(nested(found)), ordered=False)
        else:
            target = self.new(convert)
            self.record.convert(file, target, "keep")
            run(self.oracle, "read", "mnist", "mpkgz", "full", target, out)
            compare(target, without_nil(expected), without_nil(records.load(out).at("full").root))

    def all(self, require):
        counts = {"passed": 0, "failed": 0, "skipped": 0}
        number = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for results in pool.map(run_group, self.groups):
                for name, outcome, said in results:
                    number += 1
                    counts[outcome] += 1
                    bad = outcome == "failed" or (require and outcome == "skipped")
                    print(f"{'not ok' if bad else 'ok'} {number} - {name}{f' # SKIP {said}' if outcome == 'skipped' else ''}")
                    if outcome == "failed":
                        print("\n".join(f"#   {line}" for line in said.splitlines()))
                sys.stdout.flush()
        print(f"1..{number}")
        print(", ".join(f"{count} {what}" for what, count in counts.items()))
        return 1 if counts["failed"] or not number or (require and counts["skipped"]) else 0


def run_group(group):
    """[(name, "passed" | "failed" | "skipped", why)]"""
    results = []
    for name, unit in group:
        try:
            unit()
            results.append((name, "passed", ""))
        except Skip as skip:
            results.append((name, "skipped", str(skip)))
        except Failure as failure:
            results.append((name, "failed", str(failure)))
        except (OSError, ValueError, KeyError) as error:
            results.append((name, "failed", f"{type(error).__name__}: {error}"))
    return results


def keys(node):
    if isinstance(node, dict):
        return set(node).union(*(keys(v) for v in node.values()))
    return set().union(*(keys(v) for v in node)) if isinstance(node, list) else set()


def nested(found):
    """Keys without dots in their names, as a tree again."""
    root = {}
    for path, leaf in found.items():
        at = root
        *above, name = path.split(".")
        for part in above:
            at = at.setdefault(part, {})
        at[name] = leaf
    return listed(root)


def listed(node):
    if not isinstance(node, dict):
        return node
    if node and all(key.isdigit() for key in node):
        return [listed(v) for v in node.values()]
    return {k: listed(v) for k, v in node.items()}


def without_nil(node):
    """Burn's modules had other constants in other versions, and a constant is nothing."""
    if isinstance(node, dict):
        kept = {k: without_nil(v) for k, v in node.items()}
        return {k: v for k, v in kept.items() if v is not None}
    if isinstance(node, list):
        return None if node and all(v is None for v in node) else [without_nil(v) for v in node]
    return node


def check_frame(tree, precision):
    """What stands around the item, as Burn 0.21 has it."""
    if not isinstance(tree, dict) or list(tree) != ["metadata", "item", "_b"] or tree["_b"] != []:
        raise Failure(f"the record has {list(tree) if isinstance(tree, dict) else type(tree)} and _b {tree.get('_b')!r}")
    numbers = {"full": ("f32", "i32"), "double": ("f64", "i64"), "half": ("half::binary16::f16", "i16")}[precision]
    found = tree["metadata"]
    wanted = {"float": numbers[0], "int": numbers[1], "version": BURN, "settings": f"{precision.title()}PrecisionSettings"}
    wrong = {k: found.get(k) for k, v in wanted.items() if found.get(k) != v}
    if wrong or list(found) != ["float", "int", "format", "version", "settings"]:
        raise Failure(f"metadata: expected {wanted}, found {found}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--oracle", help="the program of tests/interop/oracle for Burn 0.21")
    parser.add_argument("--no-oracle", help="why there is none")
    parser.add_argument("--msgpack", help="a folder with Python's msgpack")
    parser.add_argument("--no-msgpack", help="why there is none")
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--model", help="mnist.mpk")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="librecord-interop-") as scratch:
        tests = Tests(options, scratch)
        for folder in options.folders:
            for case in golden(folder):
                tests.add_golden(case)
        tests.add_fresh(os.path.join(scratch, "fresh"))
        if options.model:
            tests.add_model(options.model)
        return tests.all(options.require)


sys.exit(main())
