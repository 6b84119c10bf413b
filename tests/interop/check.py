# SPDX-License-Identifier: MIT OR Apache-2.0
"""What tests/interop/run runs: the `record` command against real Burn's files, real Burn, and Python's msgpack.
All comparisons are exact: bits of floats, kinds of numbers, order of fields, parameter ids."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import bridge
import records
from cases import Case, Failure, Skip, compare, golden, without_nil

SOURCES = [(ext, precision) for ext in ("mpk", "mpk.gz") for precision in ("full", "double", "half")]
BURN = "0.21.0"  # what the saved files are made for


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

    def run(self, *words):
        run(self.program, *words)

    def json(self, *words):
        text = run(self.program, *words, "--json")
        try:
            return json.loads(text)
        except ValueError as error:
            raise Failure(f"record {' '.join(words)} --json: {error}")

    def convert(self, source, target, precision):
        self.run("convert", source, target, "--precision", precision)

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


# ---------------------------------------------------------------------------------------------------------- tests

class Tests:
    def __init__(self, options, scratch, oracle, no_oracle):
        self.record = Record(options.record)
        self.oracle, self.no_oracle = oracle, no_oracle
        self.scratch = scratch
        self.groups = []  # of (name, function), of which later ones need what earlier ones left
        self.remarks = lambda: []  # lines to be printed when all has run
        try:
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
        for line in self.remarks():
            print(f"# {line}".rstrip())
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


def pairs(words):
    return dict(word.split("=", 1) for word in words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--driver", help="the program of driver.c")
    parser.add_argument("--no-driver", help="why there is none")
    parser.add_argument("--oracle", action="append", default=[], metavar="VERSION=PROGRAM",
                        help="a version of real Burn")
    parser.add_argument("--no-oracle", action="append", default=[], metavar="VERSION=WHY", help="why there is none")
    parser.add_argument("--no-msgpack", help="why there is none")
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--part", choices=("command", "bridge"), help="only those tests")
    parser.add_argument("--model", help="mnist.mpk")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    oracles, no_oracles = pairs(options.oracle), pairs(options.no_oracle)
    with tempfile.TemporaryDirectory(prefix="librecord-interop-") as scratch:
        tests = Tests(options, scratch, oracles.get(BURN), no_oracles.get(BURN))
        cases = [case for folder in options.folders for case in golden(folder)]
        driver = None
        if options.part != "bridge":
            for case in cases:
                tests.add_golden(case)
            tests.add_fresh(os.path.join(scratch, "fresh"))
            if options.model:
                tests.add_model(options.model)
        if options.part != "command":
            lacking = options.no_driver if not options.driver else None
            lacking = lacking or (tests.no_msgpack if tests.msgpack is None else None)
            if lacking:
                no_oracles, oracles, cases = {**no_oracles, **dict.fromkeys(oracles, lacking)}, {}, []
            types = os.path.join(os.path.dirname(os.path.abspath(__file__)), "types.rs")
            driver = bridge.Driver(options.driver, types)
            burns = {v: bridge.Burn(v, program, tests.msgpack) for v, program in oracles.items()}
            between = bridge.Bridge(tests, driver, burns, no_oracles)
            between.add(os.path.join(scratch, "burn"), cases)
            tests.remarks = between.lines
        status = tests.all(options.require)
        if driver and not driver.close():
            print("# the driver did not come to a good end", file=sys.stderr)
            status = 1
        return status


sys.exit(main())
