# SPDX-License-Identifier: MIT OR Apache-2.0
"""each.py RECORD RECORD_MPI MPIRUN FOLDER [all]: what `record convert` makes of models of every family by their profiles, and of
records at every precision and for versions of Burn, ranks make too, byte for byte and with the same notes.

Prints TAP without a plan. All: 1, 2, 3, 4 and 7 ranks, every kind of file and every precision; else 3 ranks, and one file of each fourth
model. FOLDER is for files, and exists."""
import filecmp
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../families"))
import models  # noqa: E402
import reference  # noqa: E402

ALONE = "record: note: written by rank 0 alone: only files whose tensors are plain bytes are written by all ranks\n"
KINDS = ("mpk", "mpk.gz", "bin", "json", "json.gz", "safetensors", "bpk", "mpk.zst", "pt", "npz")
MODELS = tuple(kind for kind in KINDS if kind != "bin")
PRECISIONS = ("half", "full", "double")
VERSIONS = ("0.7", "0.13", "0.14", "0.18", "0.21")


class Ranks:
    def __init__(self, record, record_mpi, mpirun, folder):
        self.record, self.record_mpi, self.mpirun, self.folder = record, record_mpi, mpirun, folder
        self.made, self.refused = 0, []

    def run(self, command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)

    def same(self, counts, arguments, name, kind):
        """What differs, or None. Of a file without names the input is a record, whose type it has."""
        if kind == "bin":
            arguments = ["--type-of", arguments[-1], *arguments]
        # The target's name may be in the file: each stands in a folder of its own.
        one, many = (os.path.join(self.folder, side, f"{name}.{kind}") for side in ("one", "many"))
        alone = self.run([self.record, "convert", "-y", *arguments, one])
        if alone.returncode:
            self.refused.append(f"{name}.{kind}")
        self.made += alone.returncode == 0
        for count in counts:
            if os.path.exists(many):
                os.unlink(many)
            ranks = self.run([self.mpirun, "-n", str(count), self.record_mpi, "convert", "-y", *arguments, many])
            if ranks.returncode != alone.returncode:
                return f"{count} ranks: status {ranks.returncode}, not {alone.returncode}: {ranks.stderr}{alone.stderr}"
            if alone.returncode == 0 and not filecmp.cmp(one, many, shallow=False):
                return f"{count} ranks: other bytes"
            notes = [said.replace(os.path.dirname(many), "").replace(os.path.dirname(one), "").replace(ALONE, "")
                     for said in (alone.stderr, ranks.stderr)]
            if alone.returncode == 0 and notes[0] != notes[1]:
                return f"{count} ranks: {notes[1]!r}, not {notes[0]!r}"
        return None


def tell(name, wrong):
    print(f"{'not ok' if wrong else 'ok'} - {name}{': ' + wrong if wrong else ''}".replace("\n", " "), flush=True)


def prepare(name, folder):
    """A model of a family, and the profile that is for it."""
    profile, config, _ = models.MODELS[name]
    folder = os.path.join(folder, "each-" + name)
    os.mkdir(folder)
    path = os.path.join(folder, "model.safetensors")
    reference.write_safetensors(path, models.tensors(name))
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"num_attention_heads": 4, "num_key_value_heads": 2} | config, file)
    return path, profile


def main():
    record, record_mpi, mpirun, folder = sys.argv[1:5]
    every = sys.argv[5:] == ["all"]
    counts = (1, 2, 3, 4, 7) if every else (3,)
    ranks = Ranks(record, record_mpi, mpirun, folder)
    for side in ("one", "many"):
        os.mkdir(os.path.join(folder, side))
    wrong = []
    names = list(models.MODELS)[:: 1 if every else 4]
    for name in names:
        path, profile = prepare(name, folder)
        for kind in MODELS if every else ("mpk",):
            for precision in PRECISIONS if every else ("half",):
                problem = ranks.same(counts, ["--profile", profile, "--precision", precision, path], name, kind)
                if problem:
                    wrong.append(f"{name} by {profile} as {precision} {kind}: {problem}")
    wrong += [f"{refused} was refused" for refused in ranks.refused if refused.endswith(".mpk")]
    ranks.refused = []
    tell(f"{len(names)} models by their profiles", "; ".join(wrong))

    path, profile = prepare("gpt2-hub", os.path.join(folder, "one"))
    source = os.path.join(folder, "source.mpk")
    subprocess.run([record, "convert", "-qy", "--profile", profile, path, source], check=True)
    for precision in PRECISIONS:
        wrong = [f"{kind}: {problem}" for kind in KINDS for problem in [ranks.same(counts, ["--precision", precision, source], "kind", kind)] if problem]
        tell(f"a record at {precision} precision, as each kind of file", "; ".join(wrong))
    wrong = [f"{kind} of {version}: {problem}" for version in VERSIONS for kind in ("mpk", "bin", "json", "mpk.gz")
             for problem in [ranks.same(counts, ["--burn", version, source], "burn", kind)] if problem]
    tell("a record for older and newer Burns", "; ".join(wrong))
    tell("none of these was refused", "; ".join(ranks.refused))
    print(f"{ranks.made} files were made by {' and '.join(map(str, counts))} ranks")


if __name__ == "__main__":
    main()
