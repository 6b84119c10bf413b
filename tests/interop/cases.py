# SPDX-License-Identifier: MIT OR Apache-2.0
"""The records that Burn wrote, what is in them by Burn's own JSON, and what all tests need to speak of them."""
import functools
import glob
import os

import records


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def compare(what, expected, found, ordered=True):
    different = records.differences(expected, found, ordered)
    if different:
        raise Failure(f"{what}: {len(different)} differences\n" + "\n".join(different[:8]))


def without_nil(node):
    """Burn's modules had other constants in other versions, and a constant is nothing."""
    if isinstance(node, dict):
        kept = {k: without_nil(v) for k, v in node.items()}
        return {k: v for k, v in kept.items() if v is not None}
    if isinstance(node, list):
        return None if node and all(v is None for v in node) else [without_nil(v) for v in node]
    return node


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
