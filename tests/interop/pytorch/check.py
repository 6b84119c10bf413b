# SPDX-License-Identifier: MIT OR Apache-2.0
"""librecord against real torch, both ways. Prints TAP. check.py --record COMMAND [--families FOLDER]

1. What this torch writes now (make.py) is read with its values, or refused in the words that are expected.
2. What librecord writes of it is loaded by torch.load(weights_only=True), mapped where it can be, and has the same tensors.
3. Families: a record goes backwards by its profile, and torch has the tensors of the original.
4. An optimizer's state goes through MessagePack and back, and the optimizer steps on as if nothing had been."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import warnings

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
warnings.simplefilter("ignore")
VERSION = tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2])
FAMILIES = [("resnet/resnet", "resnet"), ("gpt2/model", "gpt2"), ("llama/tied/model", "llama"), ("bert/model", "bert"),
            ("vit/model", "vit"), ("whisper/model", "whisper"), ("lstm/lstm", "lstm"), ("gru/gru", "gru"), ("mha/mha", "mha")]
TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
         "I16": "int16", "I8": "int8", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "BOOL": "bool",
         "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64"}

done = 0
failed = 0


def check(name, fine, why=""):
    global done, failed
    done += 1
    failed += not fine
    print(f"{'ok' if fine else 'not ok'} {done} - torch {torch.__version__}: {name}")
    if not fine:
        print("# " + str(why).strip().replace("\n", "\n# ")[:2000])
    return fine


def run(*arguments):
    return subprocess.run([args.record, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def safetensors(path):
    """Every tensor of a file: {key: [dtype, shape, hex]}, read by hand."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    found = {}
    for key, entry in json.loads(data[8:8 + length]).items():
        if key != "__metadata__":
            begin, end = entry["data_offsets"]
            found[key] = [TYPES[entry["dtype"]], ",".join(map(str, entry["shape"])),
                          data[8 + length + begin:8 + length + end].hex()]
    return found


def tensors(value):
    found = {}
    for key, t in value.items():
        t = t.detach().contiguous()
        raw = t.reshape(-1).view(torch.uint8).numpy().tobytes() if t.numel() else b""
        found[key] = [str(t.dtype)[6:], ",".join(map(str, t.shape)), raw.hex()]
    return found


def load(path):
    how = {"mmap": True} if VERSION >= (2, 1) else {}
    return torch.load(path, weights_only=True, map_location="cpu", **how)


def goldens(work):
    subprocess.run([sys.executable, os.path.join(HERE, "make.py"), work], check=True, stdout=subprocess.DEVNULL)
    for name in sorted(os.listdir(work)):
        if not name.endswith(".tsv"):
            continue
        stem = os.path.join(work, name[:-4])
        with open(stem + ".tsv") as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        out = run("convert", "-q", "--adapter", "none", stem + ".pt", stem + ".safetensors")
        if lines[0][0] == "!":
            words = lines[0][1]
            check(f"{name[:-4]} is refused", out.returncode == 2 and words in out.stderr, out.stderr)
            continue
        want = {line[0]: line[1:] for line in lines}
        if check(f"{name[:-4]} is read", out.returncode == 0, out.stderr):
            check(f"{name[:-4]} has its values", safetensors(stem + ".safetensors") == want)
        if VERSION < (2, 3) and any(line[1].startswith(("uint16", "uint32", "uint64", "float8")) for line in lines):
            continue
        out = run("convert", "-q", "--check", "--adapter", "none", stem + ".pt", stem + ".again.pt")
        if check(f"{name[:-4]} is written", out.returncode == 0, out.stderr):
            try:
                check(f"{name[:-4]} is loaded by torch", tensors(load(stem + ".again.pt")) == want)
            except Exception as error:
                check(f"{name[:-4]} is loaded by torch", False, error)


def families(work):
    for table, profile in FAMILIES:
        source = os.path.join(args.families, table + ".safetensors")
        if not os.path.exists(source):
            print(f"# {source} is not there")
            continue
        record, back = os.path.join(work, profile + ".mpk"), os.path.join(work, profile + ".pt")
        out = run("convert", "-q", "--profile", profile, source, record)
        if check(f"{profile} becomes a record", out.returncode == 0, out.stderr):
            config = os.path.join(os.path.dirname(source), "config.json")
            config = ["--config-json", config] if os.path.exists(config) else []
            out = run("convert", "-q", "--profile", profile, *config, "--reverse", record, back)
        if out.returncode == 0:
            was, found = safetensors(source), tensors(load(back))
            wrong = [key for key in found if was.get(key) != found[key]]
            check(f"{profile} goes back to torch", found and not wrong, wrong)
            # And from torch's file as from safetensors: the same record.
            again = os.path.join(work, profile + ".again.mpk")
            out = run("convert", "-q", "--profile", profile, *config, back, again)
            with open(record, "rb") as a, open(again, "rb") as b:
                check(f"{profile} by way of .pt is the same record", a.read() == b.read(), out.stderr)
        else:
            check(f"{profile} goes back to torch", False, out.stderr)


def optimizer(work):
    def fresh():
        torch.manual_seed(3)
        model = torch.nn.Linear(3, 2)
        return model, torch.optim.Adam(model.parameters(), lr=0.5)

    def step(model, adam):
        for weight in model.parameters():
            weight.grad = torch.full_like(weight, 0.25)
        adam.step()

    model, adam = fresh()
    step(model, adam)
    first, second, third = (os.path.join(work, name) for name in ("adam.pt", "adam.mpk", "adam.again.pt"))
    torch.save(adam.state_dict(), first)
    for source, target in ((first, second), (second, third)):
        out = run("convert", "-q", source, target)
        check(f"an optimizer: {os.path.basename(target)}", out.returncode == 0, out.stderr)
    other, again = fresh()
    with torch.no_grad():
        for to, weight in zip(other.parameters(), model.parameters()):
            to.copy_(weight)
    # Integers as keys are text once they were in MessagePack, as in any record of Burn.
    state = torch.load(third, weights_only=VERSION >= (2, 0))
    state["state"] = {int(key): value for key, value in state["state"].items()}
    again.load_state_dict(state)
    step(model, adam)
    step(other, again)
    check("an optimizer goes on", all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters())))


parser = argparse.ArgumentParser()
parser.add_argument("--record", required=True)
parser.add_argument("--families")
args = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    goldens(os.path.join(folder, "golden"))
    if args.families:
        families(folder)
    optimizer(folder)
print(f"1..{done}")
print(f"# torch {torch.__version__}: {done - failed} passed, {failed} failed")
sys.exit(failed != 0)
