# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every recorder, every version: librecord with the types of types.rs between the real Burns of several versions.

Burn writes all its cases now, with every recorder at every precision. For each file:
  read    librecord loads it (BinFile and others need the type) and has what Burn's JSON of the same state says;
  bytes   librecord writes it again from each other recorder's file of that state: byte for byte what Burn wrote;
  load    librecord writes it from a file of another precision, Burn loads it;
  bridge  librecord writes it for each other version, whose Burn loads it. Beside it, what Burn does alone.
"""
import gzip
import os
import shutil
import struct
import subprocess
import threading

import records
from cases import Case, Failure, Skip, compare, without_nil

RECORDERS = {  # the oracle's name: extension, librecord's name
    "mpk": ("mpk", "NamedMpk"), "mpkgz": ("mpk.gz", "NamedMpkGz"), "bin": ("bin", "BinFile"),
    "bingz": ("bin.gz", "BinGz"), "json": ("json", "PrettyJson"), "jsongz": ("json.gz", "JsonGz"),
    "bytes": ("bytes", "BinBytes"),
}
PRECISIONS = ("full", "double", "half")
TYPES = {"tiny": "Tiny", "zoo": "Zoo", "plain": "Scalars", "solid": "Scalars", "adam": "Adam", "trainee": "Trainee",
         "adamw": "AdamW", "sgd": "Sgd", "rmsprop": "RmsProp", "adagrad": "AdaGrad", "layers": "Layers",
         "recent": "Recent",
         "constant": "f64", "noam": "NoamLrScheduler", "cosine": "CosineAnnealingLrScheduler",
         "linear": "LinearLrScheduler", "exponential": "ExponentialLrScheduler", "step": "StepLrScheduler",
         "composed": "ComposedLrScheduler"}
BRIDGED = ("mpk", "bin", "json")  # what goes from version to version; gz and memory hold the same
UNORDERED = {"adam", "adamw", "sgd", "rmsprop", "adagrad"}  # a map in random order, another one in every file

SCHEDULERS = {"noam", "cosine", "linear", "exponential", "step", "composed"}
# What Burn kept as a tuple up to 0.14 is one number of it since: what a later record lacks nobody can know.
SHORTENED = {"cosine", "linear", "exponential"}
# Modules with settings that some versions keep and others do not.
SETTINGS = {"layers", "recent"}
# An option of a constant, which bincode alone tells from none.
HIDDEN = {"recent"}
BINCODE = {"bin", "bingz", "bytes"}

# (case, minor) -> why Burn of that version does not load even its own files. Tested as such.
LIMITS = {("plain", 14): "an empty tensor", ("plain", 15): "an empty tensor"}


class Refused(Failure):
    """Real Burn does not load a file."""


def minor(version):
    return int(version.split(".")[1])


# ------------------------------------------------------------------------------------------------- the two programs

class Driver:
    """librecord: driver.c, a process for each thread."""

    def __init__(self, program, types):
        self.words, self.local, self.processes, self.lock = (program, types), threading.local(), [], threading.Lock()

    def process(self):
        if not hasattr(self.local, "process"):
            self.local.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            with self.lock:
                self.processes.append(self.local.process)
        return self.local.process

    def close(self):
        """@return whether all of them came to a good end."""
        for process in self.processes:
            process.stdin.close()
        return all([process.wait() == 0 for process in self.processes])

    def __call__(self, *words):
        process = self.process()
        process.stdin.write("\t".join(words).encode() + b"\n")
        process.stdin.flush()
        lines = []
        while True:
            line = process.stdout.readline()
            if not line.endswith(b"\n"):
                raise Failure(f"{' '.join(words)}: the driver ended with {process.wait()}")
            line = line[:-1].decode()
            if line == "ok":
                return lines
            if line.startswith("error "):
                raise Failure(f"{' '.join(words)}:\n{line[6:]}")
            lines.append(line)

    def convert(self, case, source, target, precision, layout, how="convert"):
        """@param source, target (file, recorder)"""
        words = [word for file, recorder in (source, target) for word in (file, RECORDERS[recorder][1])]
        self(how, TYPES[case], *words, precision, layout)

    def read(self, case, file, recorder):
        """@param recorder None: by the content. @return {path: leaf}, and [Burn's version, settings]"""
        first, *lines = self("dump", TYPES[case], file, RECORDERS[recorder][1] if recorder else "Auto")
        found = {}
        for line in lines:
            path, what = line.split("\t", 1)
            path = bytes.fromhex(path).decode()
            if what.startswith("numbers"):
                for i, number in enumerate(what.split("\t")[1:]):
                    found[f"{path}.{i}" if path else str(i)] = leaf_of(number)
            else:
                found[path] = leaf_of(what)
        return found, first.split(" ")[1:]


def leaf_of(text):
    kind, _, rest = text.partition(" ")
    if kind == "tensor":
        dtype, ident, shape, data = rest.split(" ")
        shape = [int(n) for n in shape.split(",") if n]
        return records.Tensor(dtype, shape, records.unpack(dtype, bytes.fromhex(data)), None if ident == "-" else ident)
    if kind == "text":
        return bytes.fromhex(rest).decode()
    if kind == "float":
        return struct.unpack("=d", bytes.fromhex(rest))[0]
    return {"nil": lambda: None, "list": lambda: [], "map": lambda: {}, "int": lambda: int(rest),
            "bool": lambda: rest == "1"}[kind]()


class Burn:
    """One version of real Burn."""

    def __init__(self, version, program, msgpack):
        self.version, self.minor, self.program, self.msgpack = version, minor(version), program, msgpack

    def run(self, *words):
        done = subprocess.run((self.program, *words), capture_output=True)
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode == 3 or "panicked" in said:
            raise Refused(said)
        if done.returncode:
            raise Failure(f"{' '.join(words)}: exit {done.returncode}\n{said}")
        return done.stdout.decode()

    def write(self, folder):
        cases = [case for case in self.run("cases").split() if case in TYPES]
        self.run("write", folder, *cases)
        return cases

    def rates(self, case, file, recorder):
        """The learning rates of a scheduler's next steps."""
        return [float(line) for line in self.run("rates", case, recorder, "full", file).split()]

    def id_back(self, ident):
        """What this version makes of an id."""
        return ident

    def read(self, case, file, recorder, precision, out):
        """The tree that it loads, at double precision. JSON could not say what is infinite, so MessagePack does."""
        self.run("read", case, recorder, precision, file, out)
        with open(out, "rb") as opened:
            raw = self.msgpack.unpackb(opened.read(), raw=False, strict_map_key=False)
        return records.build(raw["item"], "double")


# -------------------------------------------------------------------------------------------------------------- ids

def id_for(ident, target):
    """The rule by which librecord gives a parameter another id, written down once more: from 0.15 on it has thirteen
    characters. Those of 0.14 are six bytes in base32, now eight; of a UUID it is the first eight bytes."""
    if target >= 15 and len(ident) == 36:
        return records.base32(bytes.fromhex(ident.replace("-", ""))[:8])
    return records.id_in_burn_021(ident) if target >= 15 and len(ident) == 10 else ident


def with_ids(node, change):
    """The tree with other parameter ids, in tensors and in the keys of an optimizer's state."""
    if isinstance(node, records.Tensor):
        return records.Tensor(node.dtype, node.shape, node.values, node.id and change(node.id))
    if isinstance(node, list):
        return [with_ids(v, change) for v in node]
    if isinstance(node, dict):
        by_id = records.is_by_id(node)
        return {change(k) if by_id else k: with_ids(v, change) for k, v in node.items()}
    return node


# ------------------------------------------------------------------------------------------------------------ tests

class Bridge:
    def __init__(self, tests, driver, burns, why_not):
        """@param tests has add(), new() and groups. @param burns {version: Burn}. @param why_not {version: reason}"""
        self.tests, self.driver, self.burns, self.why_not = tests, driver, burns, why_not
        self.cases = {}  # (version, name): Case
        self.table = {}  # (from, to, case, recorder): [what Burn does alone, what comes of librecord]

    def add(self, scratch, golden):
        """@param golden cases from files that are there"""
        for case in golden:
            if case.name in TYPES:
                self.add_case(case)
        for version, why in self.why_not.items():
            self.tests.groups.append([])
            self.tests.add(f"{version}: every recorder, precision and version", self.skip, why)
        for version, burn in self.burns.items():
            folder = os.path.join(scratch, version)
            for name in burn.write(folder):
                self.cases[version, name] = Case(name, version, os.path.join(folder, name + "-{precision}.{ext}"))
                self.add_case(self.cases[version, name])
        for (version, name), case in self.cases.items():
            self.tests.groups.append([])
            for to in self.burns:
                if (to, name) in self.cases:
                    for recorder in BRIDGED:
                        self.tests.add(f"{case}: {recorder} to Burn {to} over librecord", self.goes, case, to, recorder)
            if name == "adam":
                for to in self.burns:
                    for recorder in BRIDGED:
                        self.tests.add(f"{case}: {recorder} to Burn {to}: the optimizer finds the model's parameters",
                                       self.stays_together, version, to, recorder)

        for version in self.burns:
            self.tests.groups.append([])
            for to in self.burns:
                self.tests.add(f"{version}: record convert --recursive to Burn 0.{minor(to)} writes the same",
                               self.folder_goes, version, to)

    def skip(self, why):
        raise Skip(why)

    def add_case(self, case):
        self.tests.groups.append([])
        for recorder in RECORDERS:
            for precision in PRECISIONS:
                if not os.path.exists(file_of(case, recorder, precision)):
                    continue
                what = f"{case}: {recorder} at {precision}"
                self.tests.add(f"{what} is read by librecord", self.reads, case, recorder, precision)
                self.tests.add(f"{what} is written as Burn writes it", self.writes, case, recorder, precision)
                if case.version in self.burns:
                    self.tests.add(f"{what} is loaded by Burn {case.version}", self.loads, case, recorder, precision)

    def reads(self, case, recorder, precision):
        file = file_of(case, recorder, precision)
        found, said = self.driver.read(case.name, file, recorder)
        self.equals(file, records.leaves(case.twin(precision).root), found, case.name not in UNORDERED)
        wanted = [case.twin(precision).metadata["version"], f"{precision.title()}PrecisionSettings"]
        if said != wanted:
            raise Failure(f"{file}: metadata: expected {wanted}, found {said}")
        if recorder != "bytes":
            again, _ = self.driver.read(case.name, file, None)
            self.equals(f"{file} by its content", found, again, True)

    @staticmethod
    def equals(what, expected, found, ordered):
        different = records.leaf_differences(expected, found, ordered)
        if different:
            raise Failure(f"{what}: {len(different)} differences\n" + "\n".join(different[:8]))

    def writes(self, case, recorder, precision):
        """From each recorder's file of the same state. A map in random order is in each file another one."""
        with open(file_of(case, recorder, precision), "rb") as opened:
            expected = inflated(opened.read())
        for source in RECORDERS:
            if case.name in UNORDERED and source != recorder:
                continue
            if case.name in HIDDEN and recorder in BINCODE and source not in BINCODE:
                continue
            file = file_of(case, source, precision)
            if not os.path.exists(file):
                continue
            for layout in ("keep", f"burn-0.{minor(case.version)}"):
                for how in ("convert", "resave") if source == recorder else ("convert",):
                    target = self.tests.new(f"written.{RECORDERS[recorder][0]}")
                    self.driver.convert(case.name, (file, source), (target, recorder), precision, layout, how)
                    with open(target, "rb") as opened:
                        same_bytes(f"from {source}, layout {layout}", expected, inflated(opened.read()))
                    os.remove(target)

    def loads(self, case, recorder, precision):
        burn, before = self.burns[case.version], {"full": "double", "double": "half", "half": "full"}[precision]
        if burn.minor < 14 and recorder in ("json", "jsongz") and precision == "double":
            before = "full"  # what became infinite at half precision would be null in numbers, which Burn does not load
        target = self.tests.new(f"written.{RECORDERS[recorder][0]}")
        self.driver.convert(case.name, (file_of(case, "mpk", before), "mpk"), (target, recorder), precision,
                            f"burn-0.{burn.minor}")
        expected = case.twin(before).at(precision).root
        limit = LIMITS.get((case.name, burn.minor))
        if limit:
            self.is_limit(case, recorder, precision, burn, target, expected, limit)
            return
        found = burn.read(case.name, target, recorder, precision, self.tests.new("read.mpk"))
        compare(target, without_nil(as_double(with_ids(expected, burn.id_back))), without_nil(found),
                case.name not in UNORDERED)

    def is_limit(self, case, recorder, precision, burn, target, expected, limit):
        """What this Burn does not load in its own files it does not load in ours either; librecord does."""
        own = file_of(self.cases.get((burn.version, case.name), case), recorder, precision)
        for file in (own, target):
            try:
                burn.read(case.name, file, recorder, precision, self.tests.new("read.mpk"))
            except Refused:
                continue
            raise Failure(f"{file}: Burn {burn.version} loads {limit} now: this limit is none")
        found, _ = self.driver.read(case.name, target, recorder)
        self.equals(target, records.leaves(expected), found, False)

    # From version to version.

    def bridged(self, case, to, recorder):
        target = self.tests.new(f"bridged.{RECORDERS[recorder][0]}")
        self.driver.convert(case.name, (file_of(case, recorder, "full"), recorder), (target, recorder), "full",
                            f"burn-0.{minor(to)}")
        return target

    def goes(self, case, to, recorder):
        cell = self.table.setdefault((case.version, to, case.name, recorder), ["?", "?"])
        burn, root = self.burns[to], case.twin("full").root
        shortened = case.name in SHORTENED and minor(case.version) < 15 <= burn.minor
        cell[0] = self.alone(case, burn, recorder, root)
        if case.name in SHORTENED and burn.minor < 15 <= minor(case.version):
            cell[1] = "!"
            self.is_refused(case, to, recorder)
            return
        cell[1] = "-"
        target = self.bridged(case, to, recorder)
        expected = with_ids(root, lambda ident: id_for(ident, burn.minor))
        limit = LIMITS.get((case.name, burn.minor))
        if limit:
            self.is_limit(case, recorder, "full", burn, target, expected, limit)
            cell[1] = "*"
            return
        found = burn.read(case.name, target, recorder, "full", self.tests.new("read.mpk"))
        if case.name in SCHEDULERS:
            self.goes_on(case, burn, recorder, target)
        if case.name in SETTINGS:
            self.has_settings(case.name, to, found)
            expected, found = tensors(expected), tensors(found)
        if not shortened:
            compare(target, without_nil(as_double(with_ids(expected, burn.id_back))), without_nil(found), ordered=False)
        cell[1] = "+"

    def is_refused(self, case, to, recorder):
        try:
            target = self.bridged(case, to, recorder)
        except Failure as failure:
            if "expected a tuple" in str(failure) and f"The record is of Burn 0.{minor(case.version)}," in str(failure):
                return
            raise
        raise Failure(f"{target}: librecord made up what Burn {case.version} did not keep")

    def goes_on(self, case, burn, recorder, target):
        """The next steps have the rates that they would have had. Versions add up in another order: not to the bit."""
        before = self.burns[case.version].rates(case.name, file_of(case, recorder, "full"), recorder)
        after = burn.rates(case.name, target, recorder)
        if len(before) != len(after) or not before or any(abs(a - b) > 1e-12 for a, b in zip(before, after)):
            raise Failure(f"{target}: the next rates were {before}, now they are {after}")

    def has_settings(self, name, to, found):
        """What is no tensor is what this Burn makes of the same configuration itself. But an empty list may stand where
        0.21 did not keep how many constants there are."""
        own = records.leaves(without_nil(self.cases[to, name].twin("full").root))
        other = records.leaves(without_nil(found))
        own, other = [{k: v for k, v in all_.items() if not isinstance(v, records.Tensor) and v != []}
                      for all_ in (own, other)]
        self.equals(f"settings of {name}", own, other, False)

    def alone(self, case, burn, recorder, root):
        """+ if this Burn loads the file of another and has its values, whatever it makes of the ids."""
        try:
            found = burn.read(case.name, file_of(case, recorder, "full"), recorder, "full", self.tests.new("alone.mpk"))
        except Refused:
            return "-"
        if case.name in SETTINGS:
            root, found = tensors(root), tensors(found)
        expected = without_nil(as_double(records.forget_ids(root)))
        return "-" if records.differences(expected, without_nil(records.forget_ids(found)), False) else "+"

    def stays_together(self, version, to, recorder):
        """The optimizer's state is kept by the ids of the model's parameters, in the target as in the source."""
        burn, seen = self.burns[to], {}
        for name in ("adam", "trainee"):
            case = self.cases[version, name]
            before = case.twin("full").root
            after = burn.read(name, self.bridged(case, to, recorder), recorder, "full", self.tests.new("read.mpk"))
            seen[name] = before, after
        places = [{leaf.id: path for path, leaf in records.leaves(without_nil(root)).items()}
                  for root in seen["trainee"]]
        states = [{place.get(ident, ident): records.fingerprint_of(without_nil(state)) for ident, state in root.items()}
                  for place, root in zip(places, seen["adam"])]
        if set(states[0]) != {"a.weight", "a.bias", "b.weight"}:
            raise Failure(f"Burn {version} itself kept states of {sorted(states[0])}")
        if states[0] != states[1]:
            wrong = [path for path in states[0] if states[1].get(path) != states[0][path]]
            raise Failure(f"not the same state for {wrong}; after: states of {sorted(states[1])}")

    def folder_goes(self, version, to):
        """All cases as BinFile, by the command: what it writes is what the library writes for each of them."""
        folder, out, words = self.tests.new("in"), self.tests.new("out"), []
        os.mkdir(folder)
        gone = [case for (at, name), case in self.cases.items() if at == version and (to, name) in self.cases
                and not (name in SHORTENED and minor(to) < 15 <= minor(version))]
        for case in gone:
            name = os.path.basename(file_of(case, "bin", "full"))
            shutil.copy(file_of(case, "bin", "full"), os.path.join(folder, name))
            words += ["--type", f"{name}={TYPES[case.name]}"]
        self.tests.record.run("convert", "--recursive", "--types", self.driver.words[1], *words,
                              "--burn", f"0.{minor(to)}", "--precision", "full", folder, out)
        for case in gone:
            target = self.tests.new("bridged.bin")
            self.driver.convert(case.name, (file_of(case, "bin", "full"), "bin"), (target, "bin"), "full",
                                f"burn-0.{minor(to)}")
            with open(target, "rb") as one, open(os.path.join(out, f"{case.name}-full.bin"), "rb") as other:
                same_bytes(case.name, one.read(), other.read())

    def lines(self):
        """The table, for people: for each file the Burns that load it."""
        if not self.table:
            return []
        versions = list(self.burns)
        columns = [(name, recorder) for name in TYPES for recorder in BRIDGED
                   if any((v, name) in self.cases for v in versions)]
        out = ["Which Burn loads the record of which, with equal values: alone > over librecord.",
               f"One mark for each of {' '.join(versions)}: + loads, - does not, . has no such record,",
               "* does not load even its own (an empty tensor); what librecord wrote is right,",
               "! refused: the target wants what the source did not keep.", ""]
        for name in dict.fromkeys(name for name, _ in columns):
            width = 2 * len(versions) + 3
            out.append(f"{name:<12}" + "  ".join(f"{recorder:<{width}}" for recorder in BRIDGED))
            for source in versions:
                if (source, name) in self.cases:
                    cells = []
                    for recorder in BRIDGED:
                        marks = [self.table.get((source, to, name, recorder), "..") for to in versions]
                        cells.append("".join(m[0] for m in marks) + " > " + "".join(m[1] for m in marks))
                    out.append(f"  {source:<10}" + "  ".join(cells))
            out.append("")
        return out


def tensors(root):
    """Paths of tensors as 0.13 and later versions have them: InstanceNorm was a GroupNorm in a struct up to 0.13."""
    return {path.replace("instance.group_norm.", "instance."): leaf for path, leaf in records.leaves(root).items()
            if isinstance(leaf, records.Tensor)}


def file_of(case, recorder, precision):
    return case.file(RECORDERS[recorder][0], precision)


def as_double(root):
    return records.each_tensor(root, lambda tensor: tensor.at("double"))


def inflated(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def same_bytes(what, expected, found):
    if expected != found:
        at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
        around = slice(max(0, at - 40), at + 40)
        raise Failure(f"{what}: {len(found)} bytes, expected {len(expected)}; the first difference is at {at}:\n"
                      f"expected {expected[around]!r}\nfound    {found[around]!r}")
