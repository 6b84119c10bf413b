# SPDX-License-Identifier: MIT OR Apache-2.0
"""Foreign models between librecord, real Burn and Python's safetensors, for the families of $LIBRECORD_SHARED.

`record convert` makes a record of each by its family's profile and the type of nets.rs; real Burn loads it as that model
and saves it again; what it saved is read by plain Python and compared with the family's expected hashes. The way back
(--reverse) is read by Python's safetensors, and by torch where that is installed, and compared with what torch saw in
the original."""
import argparse
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "families"))
import mpk  # noqa: E402

# table, profile, type in nets.rs (None: no struct of Burn's is like it), the least minor version of Burn
FAMILIES = [
    ("lstm/lstm", "lstm", "LstmNet", 20),
    ("gru/gru", "gru", "GruNet", 21),
    ("mha/mha", "mha", "MhaNet", 20),
    ("sequential-gaps/sequential-gaps", "sequential-gaps", "GapsNet", 20),
    ("resnet/resnet", "resnet", "ResNet", 20),
    ("llama/llama", "llama", "Llama", 20),
    ("llama/llama.norope", "llama-norope", "Llama", 20),
    ("llama/tied/llama-tied", "llama", "Llama", 20),
    ("bert/bert", "bert", "Bert", 20),
    ("bert/mlm/bert-mlm", "bert-mlm", None, 0),
    ("vit/vit", "vit", "Vit", 20),
    ("gpt2/gpt2", "gpt2", None, 0),
    ("gpt2/gpt2.split", "gpt2-split", "Gpt2", 20),
    ("whisper/whisper", "whisper", None, 0),
]
VARIANTS = {"Basic", "Bottleneck", "Branch", "Conv", "Norm"}  # levels of enums, which the tables do not have
NO_FIELD = {"sequential-gaps/sequential-gaps": {"steps"}}  # rank 0: Burn has no such tensor
# What a user must say: Burn's attention has no bias_k and bias_v, no tensor shows norm_first, and `cross` is a struct of
# ours, for Burn's attention has one width for queries, keys and values.
OPTIONS = {"mha/mha": ["--drop", "bias_[kv]$", "--set", "norm_first=0",
                       "--rule", r"split = ^cross\.in_proj_(bias)$ | rows query key value => cross.%.$1",
                       "--rule", r"rename = ^cross\.q_proj_weight$ => cross.query.weight",
                       "--rule", r"rename = ^cross\.k_proj_weight$ => cross.key.weight",
                       "--rule", r"rename = ^cross\.v_proj_weight$ => cross.value.weight",
                       "--rule", r"rename = ^cross\.out_proj\. => cross.output."]}


class Failure(Exception):
    pass


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def table(path):
    with open(path, encoding="utf-8") as file:
        names, *rows = [line.rstrip("\n").split("\t") for line in file]
    return [dict(zip(names, row)) for row in rows]


def facts(row):
    return row["dtype"], json.loads(row["shape"]), row["sha256"]


def differences(expected, found):
    out = [f"{key}: missing" for key in expected if key not in found]
    out += [f"{key}: nobody asks for it" for key in found if key not in expected]
    out += [f"{key}: expected {expected[key]}, found {found[key]}" for key in expected
            if key in found and expected[key] != found[key]]
    if out:
        raise Failure(f"{len(out)} differences\n" + "\n".join(sorted(out)[:8]))


def named(key):
    return ".".join(part for part in key.split(".") if part not in VARIANTS)


def same_dtype(entry):
    """Burn's bool has a name and a place in memory."""
    dtype, shape, digest = entry
    return "BOOL" if dtype in ("NATIVE", "BOOL") else dtype, shape, digest


def through_burn(options, family, net, profile, program, version, ext, folder):
    source, name = options.families, os.path.basename(family)
    expected = {row["dest"]: facts(row) for row in table(f"{source}/{family}.expected.tsv")}
    expected = {key: value for key, value in expected.items() if key not in NO_FIELD.get(family, ())}
    out = f"{folder}/{name.replace('.', '-')}-{ext}-{version.replace('.', '-')}"
    run(options.record, "convert", "--quiet", *OPTIONS.get(family, []), "--profile", profile, "--type",
        f"{HERE}/foreign/src/nets.rs:{net}", "--burn", ".".join(version.split(".")[:2]), model(source, family), f"{out}.{ext}")
    run(program, net, ext, f"{out}.{ext}", f"{out}-again.mpk")
    differences(expected, {named(key): same_dtype(value) for key, value in mpk.read(f"{out}-again.mpk").items()})


def in_both_dialects(options, family, net, profile, folder):
    """The type is the same in Rust source for Burn up to 0.21 and for later versions."""
    new, outputs = f"{folder}/new-nets.rs", []
    run("sh", "-c", 'sed -f "$1" "$2" >"$3"', "sed", f"{HERE}/without-backend.sed", f"{HERE}/foreign/src/nets.rs", new)
    for burn, ext in (("0.21", "mpk"), ("0.22", "bpk")):
        for number, path in enumerate((f"{HERE}/foreign/src/nets.rs", new)):
            out = f"{folder}/dialect-{number}.{ext}"
            run(options.record, "convert", "--quiet", "-y", *OPTIONS.get(family, []), "--profile", profile, "--type",
                f"{path}:{net}", "--burn", burn, model(options.families, family), out)
            with open(out, "rb") as file:
                outputs.append(file.read())
        if outputs[-1] != outputs[-2]:
            raise Failure(f"the {ext} files differ")


def model(source, family):
    folder, name = os.path.split(f"{source}/{family}")
    for file in (f"{name.split('.')[0]}.safetensors", "model.safetensors", "model.safetensors.index.json"):
        if os.path.exists(f"{folder}/{file}"):
            return f"{folder}/{file}"
    raise Failure(f"{folder}: no model")


def by_python(package, path):
    with package.safe_open(path, framework="np") as file:
        keys = set(file.keys())
    with open(path, "rb") as file:
        found = dict(package.deserialize(file.read()))
    assert keys == set(found)
    return {key: (t["dtype"], list(t["shape"]), hashlib.sha256(bytes(t["data"])).hexdigest()) for key, t in found.items()}


def by_torch(torch, path):
    load = importlib.import_module("safetensors.torch").load_file
    dtypes = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL"}
    return {key: (dtypes[t.dtype], list(t.shape), hashlib.sha256(t.contiguous().numpy().tobytes()).hexdigest())
            for key, t in load(path).items()}


def back(options, family, profile, read, folder):
    """The record by the profile alone, and from it PyTorch's names and layouts again."""
    source, (above, name) = options.families, os.path.split(family)
    used = {row["source"] for row in table(f"{source}/{family}.expected.tsv")}
    keys = table(f"{source}/{above}/{name.split('.')[0]}.keys.tsv")
    out = f"{folder}/{name.replace('.', '-')}-forth"
    run(options.record, "convert", "--quiet", *OPTIONS.get(family, []), "--profile", profile, "--precision", "keep",
        model(source, family), f"{out}.mpk")
    words = [options.record, "convert", "--quiet", *OPTIONS.get(family, []), "--profile", profile, "--reverse", "--precision",
             "keep"]
    config = os.path.join(os.path.dirname(model(source, family)), "config.json")
    if os.path.exists(config):
        words += ["--config-json", config]
    run(*words, f"{out}.mpk", f"{out}-back.safetensors")
    differences({row["key"]: facts(row) for row in keys if row["key"] in used}, read(f"{out}-back.safetensors"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--families", required=True, help="the folder with the families")
    parser.add_argument("--burn", action="append", default=[], metavar="VERSION=PROGRAM")
    parser.add_argument("--no-burn", action="append", default=[], metavar="VERSION=WHY")
    parser.add_argument("--require", action="store_true")
    options = parser.parse_args()
    tests = []
    with tempfile.TemporaryDirectory(prefix="librecord-foreign-") as folder:
        for version, program in (word.split("=", 1) for word in options.burn):
            for family, profile, net, least in FAMILIES:
                for ext in ("mpk", "bin"):
                    if net and int(version.split(".")[1]) >= least:
                        tests.append((f"Burn {version} loads {family} as {net}, {ext}", through_burn,
                                      (options, family, net, profile, program, version, ext, folder)))
        for version, why in (word.split("=", 1) for word in options.no_burn):
            tests.append((f"Burn {version} loads converted models", why, None))
        readers = []
        for name, reader in (("safetensors", by_python), ("torch", by_torch)):
            try:
                package = importlib.import_module(name)
                importlib.import_module("safetensors")
                readers.append((name, lambda path, r=reader, p=package: r(p, path)))
            except ImportError:
                tests.append((f"Python's {name} reads the way back", f"{name} is not installed", None))
        for family, profile, net, _ in FAMILIES:
            if net:
                tests.append((f"{family} as {net}: its Rust source in both dialects", in_both_dialects,
                              (options, family, net, profile, folder)))
            for name, read in readers:
                tests.append((f"Python's {name} reads {family} when it has come back", back,
                              (options, family, profile, read, folder)))
        failed = 0
        print(f"1..{len(tests)}")
        for number, (name, function, arguments) in enumerate(tests, 1):
            wrong = None
            if arguments is None:
                # torch is a gigabyte: nobody is asked to have it
                if options.require and "torch" not in name:
                    wrong = function
                else:
                    print(f"ok {number} - {name} # SKIP {function}")
                    continue
            else:
                try:
                    function(*arguments)
                except Failure as error:
                    wrong = str(error)
            failed += wrong is not None
            print(f"{'ok' if wrong is None else 'not ok'} {number} - {name}")
            for line in (wrong or "").splitlines():
                print(f"#   {line}")
            sys.stdout.flush()
    print(f"# foreign models: {len(tests)} tests, {failed} failed")
    return failed > 0


sys.exit(main())
