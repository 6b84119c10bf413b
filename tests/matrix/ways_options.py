# SPDX-License-Identifier: MIT OR Apache-2.0
"""The values that the matrix of ways (ways.py) gives to each option, and the ways that reject an option.

An option that is not here is a failure of the matrix, and so is one here that its subcommand does not have."""


class Row:
    """One use of an option.

    args      the words on the command line; those before the first option are operations of edit
    on        the fixture: a directory that ways_files.py makes
    to        the recorder that writes; None: args or the output's name say so
    alone     the words for the single file that the ways are compared with, where they are not args
    old       a file of the output's name is there before
    second    -r and OUT/ give the second file of the fixture, too
    rejected  the ways that reject it
    """

    def __init__(self, *args, on="ours", to="mpk", alone=None, old=False, second=True, rejected=()):
        self.args, self.on, self.to = list(args), on, to
        self.alone = self.args if alone is None else list(alone)
        self.old, self.second, self.rejected = old, second, set(rejected)

    def options(self):
        return {word[2:] for word in self.args if word.startswith("--")}


# What has an input, and runs without a terminal. A subcommand that is in none of these is a failure.
COMMANDS = ("convert", "info", "ls", "show", "stats", "diff", "verify", "plan", "edit", "types", "embed", "report")
OTHERS = {"browse", "profiles", "plugins", "completion", "help"}

# Options that do not change what is done with an input, or that are ways themselves.
EXEMPT = {"help", "version", "recursive"}

# No option at all.
PLAIN = [Row(on=fixture) for fixture in ("ours", "theirs", "adam", "noam", "self", "gaps", "large")]
PLAIN += [Row(on="bin", rejected=("stdin", "stdout", "second"))]

# Options of several subcommands. The first row that succeeds counts, and all of them for convert.
SHARED = {
    "from": [Row("--from", "mpk"), Row("--from", "bin", "--type", "net.rs:Net", on="unnamed")],
    "to": [Row("--to", "safetensors", to=None), Row("--to", "bin", "--type", "net.rs:Net", to=None),
           Row("--to", "npz", on="theirs", to=None), Row("--to", "compact", "--config", "own.ini", to=None)],
    "precision": [Row("--precision", "half"), Row("--precision", "double", on="theirs")],
    "option": [Row("--option", "sync=no"), Row("--option", "record=no", to="safetensors")],
    "from-option": [Row("--from-option", "trailing=ignore", "--from", "mpk", on="trailing")],
    "top-level-key": [Row("--top-level-key", "state_dict", "--adapter", "none", on="lightning"),
                      Row("--top-level-key", "nothing", on="lightning")],
    "type": [Row("--type", "net.rs:Net"), Row("--type", "net.rs:Net", on="theirs"),
             Row("--type", "net.rs:Net", on="bin"),
             Row("--type", "NoamLrScheduler", "--burn", "0.22", on="noam", to="bpk")],
    "types": [Row("--types", "net.rs", "--type", "Net", on="bin")],
    "type-of": [Row("--type-of", "net.mpk", on="bin", rejected=("OUT/", "-r", "mpi -r"))],
    "burn": [Row("--burn", "0.18"), Row("--burn", "0.14", on="theirs"), Row("--burn", "0.22", to=None),
             Row("--burn", "0.22", on="adam", to=None), Row("--burn", "0.22", on="noam", to=None)],
    "self-describing": [Row("--self-describing", "--type", "net.rs:Net", to="bin"),
                        Row("--self-describing", on="self")],
    "positional": [Row("--positional", on="bin")],
    "clamp": [Row("--precision", "half", "--clamp", on="large")],
    "no-map": [Row("--no-map"), Row("--no-map", on="theirs")],
    "threads": [Row("--threads", "2")],
    "no-threads": [Row("--no-threads")],
    "cache": [Row("--cache", "cache")],
    "no-sandbox": [Row("--no-sandbox")],
    "http-speed": [Row("--http-speed", "1024/60")],
    "http-tries": [Row("--http-tries", "3")],
    "http-size": [Row("--http-size", "1000000")],
    "http-time": [Row("--http-time", "60")],
    "all": [Row("--all")],
    "json": [Row("--json"), Row("--json", on="theirs")],
    "config": [Row("--config", "own.ini"), Row("--config", "own.ini", "--from", "raw", on="theirs")],
    "color": [Row("--color", "always")],
    "quiet": [Row("--quiet")],
    "adapter": [Row("--adapter", "none", on="theirs"), Row("--adapter", "none")],
    "profile": [Row("--profile", "own.ini:net", on="theirs"), Row("--profile", "own.ini:net"),
                Row("--profile", "nothing")],
    "set": [Row("--profile", "own.ini:split", "--set", "heads=2", on="fused")],
    "config-json": [Row("--profile", "own.ini:split", "--config-json", "two.json", on="fused")],
    "reverse": [Row("--reverse", "--type", "net.rs:Net", to="safetensors"),
                Row("--reverse", "--profile", "own.ini:net", to="safetensors"),
                Row("--reverse", "--type", "net.rs:Net", to="pt")],
    "remap": [Row("--remap", "^fc1 => first", on="theirs"), Row("--remap", "^fc1 => first")],
    "rename": [Row("--rename", "^fc1 => first", on="theirs"), Row("--rename", "^fc1 => first")],
    "drop": [Row("--drop", "^fc2", on="theirs"), Row("--drop", "^fc2")],
    "module": [Row("--module", "^fc => Linear", "--module", "^norm => LayerNorm", on="theirs"),
               Row("--module", "^fc => Linear")],
    "variant": [Row("--type", "net.rs:Either", "--variant", "^norm$ => Layer", on="theirs")],
    "rule": [Row("--rule", "rename = ^fc1 => first", on="theirs"), Row("--rule", "rename = ^fc1 => first")],
    "prefix": [Row("--prefix", "a.b", on="theirs"), Row("--prefix", "a.b")],
    "select": [Row("--select", "fc1", on="theirs"), Row("--select", "fc1")],
    "gaps": [Row("--gaps", "keep", on="gaps"), Row("--gaps", "close", on="gaps")],
    "partial": [Row("--partial", "--type", "net.rs:More", on="theirs"), Row("--type", "net.rs:More", on="theirs")],
    "strict": [Row("--strict", "--type", "net.rs:Net", on="theirs"), Row("--strict", "--drop", "nothing", on="theirs")],
}

ONE = ("OUT/", "stdin", "stdout", "several", "mpi")
FOLDERS = ("OUT/", "-r", "mpi -r")

# Options of one subcommand, and others for it.
OWN = {
    "convert": {
        "force": [Row("--force", old=True)],
        "no-clobber": [Row("--no-clobber"), Row("--no-clobber", old=True)],
        "skip-existing": [Row("--skip-existing"), Row("--skip-existing", old=True)],
        "dry-run": [Row("--dry-run"), Row("--dry-run", on="theirs")],
        "include": [Row("--include", "a.*", alone=[], second=False, rejected=ONE)],
        "exclude": [Row("--exclude", "b.*", alone=[], second=False, rejected=ONE)],
        "metadata": [Row("--metadata", "author=me"), Row("--metadata", "author=me", on="theirs")],
        "max-shard-size": [Row("--max-shard-size", "64", to="safetensors", rejected=("stdout",))],
        "keep-names": [Row("--max-shard-size", "64", "--keep-names", to="safetensors", rejected=("stdout",))],
        "check": [Row("--check"), Row("--check", on="theirs")],
        "type": SHARED["type"] + [Row("--type", "*.bin=net.rs:Net", on="bin", alone=["--type", "net.rs:Net"],
                                      rejected=("stdin", "stdout", "mpi"))],
        "base": [Row("--base", "base.mpk", on="theirs", rejected=FOLDERS), Row("--base", "base.mpk", rejected=FOLDERS)],
        "debug": [Row("--debug", on="theirs", rejected=FOLDERS)],
    },
    "ls": {
        "long": [Row("--long")],
        "sort": [Row("--sort", "size")],
        "tree": [Row("--tree")],
        "depth": [Row("--depth", "1")],
        "sha256": [Row("--sha256")],
    },
    "diff": {
        "atol": [Row("--atol", "1")],
        "rtol": [Row("--rtol", "10")],
        "ulp": [Row("--ulp", "1")],
        "bits": [Row("--bits")],
        "nan-differs": [Row("--nan-differs")],
        "ignore": [Row("--ignore", "data")],
        "ids": [Row("--ids")],
        "order": [Row("--order")],
        "by": [Row("--by", "position")],
        "noise": [Row("--noise")],
        "brief": [Row("--brief")],
    },
    "show": {
        "output": [Row("fc1.weight", "--output", "out/w.npy", to=None)],
    },
    "verify": {
        "nan": [Row("--nan")],
        "sums": [Row("--sums", "check", on="summed", rejected=("stdin",))],
        "sums-file": [Row("--sums", "check", "--sums-file", "net.sums", rejected=("several", "folder"))],
        "in-metadata": [Row("--sums", "check", "--in-metadata", on="summed")],
    },
    "plan": {
        "base": [Row("--base", "base.mpk", on="theirs")],
        "debug": [Row("--debug", on="theirs")],
        "types": [Row("--types", "net.rs", "--type", "Net", on="bin", rejected=("stdin",))],
        "type-of": [Row("--type-of", "net.mpk", on="bin", rejected=("stdin",))],
    },
    "edit": {
        "output": [Row(to=None)],
        "in-place": [Row(to=None)],
        "by": [Row("split", "--by", "key", to=None)],
        "strip": [Row("split", "--by", "key", "--strip", to=None)],
        "overwrite": [Row("merge", "other.mpk", "--overwrite", to=None)],
        "dry-run": [Row("--dry-run")],
        "clamp": [Row("cast", "n", "i32", "--clamp", "--to", "safetensors", on="large", to=None)],
    },
    "types": {
        "c": [Row("--c", "--name", "net")],
        "name": [Row("--c", "--name", "net")],
        "check": [Row("--check", "--type", "net.rs:Net")],
    },
    "embed": {
        "output": [Row(to=None)],
        "name": [Row("--name", "net", to=None)],
        "as": [Row("--as", "net", to=None)],
        "structs": [Row("--structs", to=None)],
    },
    "report": {
        "output": [Row()],
        "include": [Row("--include", "a.*", alone=[], rejected=("stdin",))],
    },
}

