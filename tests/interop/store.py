# SPDX-License-Identifier: MIT OR Apache-2.0
"""librecord beside real Burn's stores: what it makes of old records for Burn 0.21 and later is loaded by those, and what they
write becomes records. Prints TAP and a table; exit status 1 if anything failed.

    store.py --record COMMAND --store VERSION=PROGRAM… [--oracle VERSION=PROGRAM…] FOLDER…

FOLDER: golden records, as cases.py finds them. The oracles write more modules than there are golden ones of.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import cases
import records

NEAREST = {"noam": "NoamLrScheduler", "cosine": "CosineAnnealingLrScheduler", "linear": "LinearLrScheduler",
           "exponential": "ExponentialLrScheduler", "step": "StepLrScheduler"}
HERE = os.path.dirname(os.path.abspath(__file__))
TYPES_FILE = os.path.join(HERE, "types.rs")
MODULES = ("tiny", "zoo", "mnist", "layers", "recent")
BARE = ("recent",)  # has a module without tensors whose tensors are no Options
# optimizers of the oracle: how the driver calls them
OPTIMIZERS = {"adam": "adam", "adamw": "adamw", "sgd": "sgd-momentum", "adagrad": "adagrad", "rmsprop": "rmsprop"}
# element types as Burn's Debug has them
TYPES = {"F64": "f64", "F32": "f32", "F16": "f16", "I64": "i64", "I32": "i32", "I16": "i16", "Bool(Native)": "bool"}


class Run:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        self.count = self.failed = 0
        self.table = {}

    def check(self, what, row, column, act):
        self.count += 1
        try:
            act()
        except (cases.Failure, subprocess.CalledProcessError, KeyError, ValueError, OSError) as error:
            words = getattr(error, "stderr", None) or str(error)
            self.failed += 1
            print(f"not ok {self.count} - {what}")
            print("".join(f"#   {line}\n" for line in words.strip().splitlines()[:8]), end="")
            self.table.setdefault(row, {}).setdefault(column, []).append(False)
            return
        print(f"ok {self.count} - {what}")
        self.table.setdefault(row, {}).setdefault(column, []).append(True)

    def record(self, *arguments):
        return subprocess.run([self.args.record, *arguments], check=True, capture_output=True, text=True).stdout

    def path(self, name):
        return os.path.join(self.scratch, name)


def call(program, *arguments):
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise cases.Failure(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def minor(version):
    return int(version.split(".")[1])


def number_of(ident):
    """An id of a record as the number that Burn 0.21 and later have: a UUID's first half."""
    if len(ident) > 13:
        return int.from_bytes(bytes.fromhex(ident.replace("-", "")[:16]), "little")
    text = records.id_in_burn_021(ident)
    bits = "".join(format("0123456789abcdefghijklmnopqrstuv".index(c), "05b") for c in text)
    return int.from_bytes(int(bits[:64], 2).to_bytes(8, "big"), "little")


def expected_tensors(tree):
    return {path.replace("instance.group_norm.", "instance."): (number_of(leaf.id) if leaf.id else None, leaf.dtype, leaf.shape, leaf.pack().hex())
            for path, leaf in records.leaves(tree).items() if isinstance(leaf, records.Tensor)}


def found_tensors(report):
    return {t["path"].replace("r#", ""): (int(t["id"]), TYPES.get(t["dtype"], t["dtype"]), t["shape"], t["bytes"])
            for t in report["tensors"]}


def compare(expected, found, ids):
    if set(expected) != set(found):
        raise cases.Failure(f"other tensors: {sorted(set(expected) ^ set(found))[:6]}")
    for path, (ident, *rest) in expected.items():
        if rest != list(found[path][1:]):
            raise cases.Failure(f"{path}: expected {rest}, found {found[path][1:]}")
        drawn = path.endswith((".running_mean", ".running_var")) # Burn draws their ids whenever it is asked
        if ids and ident is not None and not drawn and ident != found[path][0]:
            raise cases.Failure(f"{path}: expected the id {ident}, found {found[path][0]}")


def holds(report, tree, ids):
    for what in ("missing", "unused", "errors"):
        if report[what]:
            raise cases.Failure(f"{what}: {report[what][:6]}")
    compare(expected_tensors(tree), found_tensors(report), ids)


# ---------------------------------------------------------------------------------------------------------- modules

def driver_case(case):
    return "zoo_wide" if case.name == "zoo" and case.at("full", "full")["ids"].shape == [2, 3] else case.name


def load_modules(run, case, stores):
    """A module's record at full precision, for each Burn with a store, loaded by both of its ways."""
    source = case.file("mpk", "full")
    # Where a module's fields have moved since, its type is needed to say where.
    moved = minor(case.version) < 14 and case.name == "layers"
    typed = ("--types", TYPES_FILE, "--type", "Layers") if moved else ()
    for version, program in stores.items():
        def act(how, ext, burn):
            file = run.path(f"model.{ext}")
            run.record("convert", "-q", "--burn", burn, *typed, source, file)
            holds(json.loads(call(program, "read", driver_case(case), how, file)), case.at("full", "full"),
                  how == "core" or (how == "store" and minor(version) >= 22))
        burn = f"0.{minor(version)}"
        run.check(f"{case}: a .bpk for Burn {version}, by its store", f"{case.version} module", version,
                  lambda: act("store", "bpk", burn))
        if minor(version) >= 22:
            run.check(f"{case}: a .bpk for Burn {version}, by Module::load_record", f"{case.version} module", version,
                      lambda: act("core", "bpk", burn))
        run.check(f"{case}: safetensors for Burn {version}'s store", f"{case.version} module", version,
                  lambda: act("safetensors", "safetensors", "0.21"))


def come_back(run, case, stores):
    """A module's record through another format, without its type, for each Burn with a store."""
    for version, program in stores.items():
        for form in ("pt", "npz", "safetensors", "bpk"):
            def act():
                between, file = run.path(f"between.{form}"), run.path("back.bpk")
                run.record("convert", "-q", "-y", case.file("mpk", "full"), between)
                run.record("convert", "-q", "-y", "--burn", f"0.{minor(version)}", between, file)
                holds(json.loads(call(program, "read", driver_case(case), "store", file)), case.at("full", "full"),
                      False)
            run.check(f"{case}: through .{form} and back, for Burn {version}'s store", f"{case.version} module", version,
                      act)


def half_becomes_full(run, case, stores):
    for version, program in stores.items():
        def act():
            file = run.path("half.bpk")
            run.record("convert", "-q", "--burn", f"0.{minor(version)}", case.file("mpk", "half"), file)
            report = json.loads(call(program, "read", driver_case(case), "store", file))
            types = {t["dtype"] for t in report["tensors"]}
            if types & {"F16", "I16"}:
                raise cases.Failure(f"the model's element types became {types}")
            compare(expected_tensors(records.each_tensor(case.at("half", "half"), lambda t: t.at("full"))),
                    found_tensors(report), minor(version) >= 22)
        run.check(f"{case}: half precision for Burn {version} is full", f"{case.version} module", version, act)


# ----------------------------------------------------------------------------------------------------------- dialects

def dialects(run, source):
    """The paths of Rust source for Burn up to 0.21, and of what without-backend.sed makes of it for later versions."""
    new = run.path("new-" + os.path.basename(source))
    if not os.path.exists(new):
        script = os.path.join(HERE, "without-backend.sed")
        with open(new, "wb") as file:
            subprocess.run(["sed", "-f", script, source], stdout=file, check=True)
    return {"with a backend": source, "without a backend": new}


def read_types(run, file, name, source, what, row, column):
    """A record is of the type that either dialect of its source describes, and becomes the same record with both."""
    made = []
    for dialect, path in dialects(run, source).items():
        def act():
            run.record("types", "--check", "--type", f"{path}:{name}", file)
            out = run.path(f"typed-{len(made)}.json")
            run.record("convert", "-q", "-y", "--type", f"{path}:{name}", file, out)
            with open(out, encoding="utf-8") as text:
                made.append(json.load(text)["item"])
            if made[0] != made[-1]:
                raise cases.Failure("the types of the two dialects do not give the same record")
        run.check(f"{what}: its Rust type {dialect}", row, column, act)


def lacks_modules(run, file, name, source, what, row, column):
    """A Burnpack has tensors alone: a module without any, whose type is given, is taken for missing."""
    for dialect, path in dialects(run, source).items():
        def act():
            done = subprocess.run([run.args.record, "types", "--check", "--type", f"{path}:{name}", file],
                                  check=False, capture_output=True, text=True)
            if done.returncode != 1 or "is missing: a module of type" not in done.stderr:
                raise cases.Failure(f"status {done.returncode}: {done.stderr}")
        run.check(f"{what}: a module without tensors, with its Rust type {dialect}", row, column, act)


# ---------------------------------------------------------------------------------------------- optimizers, schedulers

def states_come_back(run, case, stores):
    """An optimizer's record of any version, loaded by Burn 0.22 and later, is saved by them with nothing lost."""
    for version, program in stores.items():
        if minor(version) < 22:
            continue

        def act():
            file, again = run.path("optim.bpk"), run.path("again.bpk")
            run.record("convert", "-q", "--burn", f"0.{minor(version)}", case.file("mpk", "full"), file)
            call(program, "again", OPTIMIZERS[case.name], file, again)
            trees = []
            for name in (file, again):
                run.record("convert", "-q", name, run.path("state.json"))
                with open(run.path("state.json"), encoding="utf-8") as text:
                    trees.append(json.load(text)["item"])
            states = {k for k in trees[0]}
            if len(states) != len(case.at("full", "full")) or trees[0] != trees[1]:
                raise cases.Failure(f"{len(states)} states went in, {len(trees[1])} came back, or others")
        run.check(f"{case}: its states in Burn {version}", f"{case.version} optimizer", version, act)


def same_next(expected, found):
    if "rate" in expected:
        if expected["rate"] != found["rate"]:
            raise cases.Failure(f"the next rate is {found['rate']}, and was to be {expected['rate']}")
        return
    compare({t["path"]: (int(t["id"]), t["dtype"], t["shape"], t["bytes"]) for t in expected["model"]},
            {t["path"]: (int(t["id"]), t["dtype"], t["shape"], t["bytes"]) for t in found["model"]}, True)


def cross(run, stores):
    """What each version writes goes on in each other version as it would have gone on in its own."""
    for origin, program in stores.items():
        folder = run.path(f"from-{origin}")
        expected = {n["kind"]: n for n in map(json.loads, call(program, "write", folder).splitlines())}
        ext = "bpk" if minor(origin) >= 22 else "mpk"
        for case in MODULES + ("words",):
            read = lacks_modules if ext == "bpk" and case in BARE else read_types
            read(run, f"{folder}/{case}.{ext}", case.capitalize(), os.path.join(HERE, "store/src/models.rs"),
                 f"{case} of Burn {origin}", f"{origin} type", origin)
        for target, other in stores.items():
            if target == origin:
                continue
            out = run.path(f"to-{target}")
            shutil.rmtree(out, ignore_errors=True)
            into = "bpk" if minor(target) >= 22 else "mpk"
            types = [word for kind, name in NEAREST.items() for word in ("--type", f"{kind}/scheduler*={name}")
                     if into == "bpk" and ext == "mpk"]

            def convert():
                # Amsgrad's field that Adam has not, absent in a state, is one of the type's
                optimizers = {"adam": "Adam", "adamw": "AdamW", "amsgrad": "Adam", "sgd": "Sgd", "sgd-momentum": "Sgd",
                              "rmsprop": "RmsProp", "rmsprop-centred": "RmsProp", "adagrad": "AdaGrad", "muon": "Muon",
                              "adan": "Adan"}
                more = [word for kind, name in optimizers.items() for word in ("--type", f"{kind}/optim*={name}")
                        if into == "mpk"]
                run.record("convert", "-q", "--recursive", "--burn", f"0.{minor(target)}", "--to", into, *types, *more,
                           folder, out)
            run.check(f"a folder of Burn {origin} for Burn {target}", f"{origin} folder", target, convert)
            for kind, next_step in expected.items():
                run.check(f"{kind} of Burn {origin} goes on in Burn {target}",
                          f"{origin} {'scheduler' if 'rate' in next_step else 'optimizer'}", target,
                          lambda: same_next(next_step, json.loads(call(other, "resume", kind, f"{out}/{kind}"))))
            for case in MODULES + ("words",):
                def read():
                    file = f"{out}/{case}.{into}"
                    report = json.loads(call(other, "read", case, "store" if into == "bpk" else "mpk", file))
                    own = json.loads(call(program, "read", case, "core" if ext == "bpk" else "mpk", f"{folder}/{case}.{ext}"))
                    compare(found_tensors(own), found_tensors(report), True)
                if into == "bpk": # constants of a module come back with its type alone
                    run.check(f"{case} of Burn {origin} in Burn {target}", f"{origin} module", target, read)


def dequantise(run, version, program):
    """Burn's own quantised tensors at a precision are the numbers that Burn makes of them; without one they come back, for
    the version that wrote them: its form of a scheme is not that of others."""
    minor = ".".join(version.split(".")[:2])
    def act():
        folder = run.path(f"quantised-{version}")
        os.makedirs(folder)
        call(program, "quantised", folder)
        stored, numbers = f"{folder}/stored.bpk", f"{folder}/numbers.bpk"
        run.record("convert", "-q", "--precision", "full", stored, f"{folder}/full.bpk")
        run.record("diff", "--bits", f"{folder}/full.bpk", numbers)
        run.record("convert", "-q", "--burn", minor, stored, f"{folder}/kept.bpk")
        run.record("diff", "--bits", f"{folder}/kept.bpk", stored)
    run.check(f"quantised tensors of Burn {version}", "quantised", version, act)


def print_table(run, columns):
    print("#")
    print(f"# {'what':24}" + "".join(f"{'Burn ' + c:>20}" for c in columns))
    for row in sorted(run.table):
        cells = [run.table[row].get(c, []) for c in columns]
        print(f"# {row:24}" + "".join(f"{f'{sum(c)} of {len(c)}' if c else '-':>20}" for c in cells))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--store", action="append", default=[], metavar="VERSION=PROGRAM")
    parser.add_argument("--oracle", action="append", default=[], metavar="VERSION=PROGRAM")
    parser.add_argument("folders", nargs="*")
    args = parser.parse_args()
    stores = dict(item.split("=", 1) for item in args.store)
    with tempfile.TemporaryDirectory(prefix="librecord-store-") as scratch:
        run = Run(args, scratch)
        folders = list(args.folders)
        for oracle in args.oracle:
            version, program = oracle.split("=", 1)
            made = os.path.join(scratch, "made", version)
            names = call(program, "cases").split()
            call(program, "write", made, *[n for n in (*MODULES, *OPTIMIZERS) if n in names])
            folders.append(os.path.join(scratch, "made"))
        seen = set()
        for case in (c for folder in dict.fromkeys(folders) for c in cases.golden(folder)):
            if case.name in MODULES and (case.version, case.name, case.pattern) not in seen:
                seen.add((case.version, case.name, case.pattern))
                load_modules(run, case, stores)
                read_types(run, case.file("mpk", "full"), case.name.capitalize(), TYPES_FILE, str(case),
                           f"{case.version} type", next(iter(stores)))
                if minor(case.version) >= 14:
                    half_becomes_full(run, case, stores)
                    come_back(run, case, stores)
            elif case.name in OPTIMIZERS and (case.version, case.name, case.pattern) not in seen:
                seen.add((case.version, case.name, case.pattern))
                states_come_back(run, case, stores)
        cross(run, stores)
        for version, program in stores.items():
            if minor(version) >= 22:
                dequantise(run, version, program)
        print(f"1..{run.count}")
        print_table(run, list(stores))
        print(f"# {run.count - run.failed} of {run.count} passed")
        return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
