# SPDX-License-Identifier: MIT OR Apache-2.0
"""check.py RECORD FAMILIES.MD FOLDER: made models of every family through `record convert`, beside the second opinion.

Prints TAP without a plan: tests/families.sh counts. FOLDER is for files, and exists."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # noqa: E402
import mpk  # noqa: E402
import reference  # noqa: E402


def recognised(want, tensors):
    """The norms that no rule names: a weight of rank 1 next to a bias of its length."""
    shapes = {key: tensor.shape for key, tensor in tensors.items()}
    norms = {key[:-7] for key, shape in shapes.items() if key.endswith(".weight") and len(shape) == 1 and
             shapes.get(key[:-6] + "bias") == shape and key[:-6] + "running_mean" not in shapes}
    names = {f"{norm}.{old}": f"{norm}.{new}" for norm in norms for old, new in (("weight", "gamma"), ("bias", "beta"))}
    return {names.get(key, key): facts for key, facts in want.items()}


def check(record, rules, name, folder):
    """@return what is wrong, a line each"""
    profile, config, _ = models.MODELS[name]
    folder = os.path.join(folder, name)
    os.mkdir(folder)
    source, target = os.path.join(folder, "model.safetensors"), os.path.join(folder, "out.mpk")
    tensors = models.tensors(name)
    reference.write_safetensors(source, tensors)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    want = {key: tensor.facts() for key, tensor in reference.convert(rules[profile], tensors, config).items()}
    want = recognised(want, tensors)
    run = subprocess.run([record, "convert", "--quiet", "--precision", "keep", "--profile", profile,
                          *models.SAID.get(profile, []), source, target],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        return run.stderr.splitlines() or [f"exit {run.returncode}"]
    found = mpk.read(target)
    wrong = [f"{key}: missing" for key in want if key not in found] + [f"{key}: nobody asks for it" for key in found if key not in want]
    return wrong + [f"{key}: expected {want[key]}, found {found[key]}" for key in want if key in found and want[key] != found[key]]


def main():
    record, text, folder = sys.argv[1:]
    rules = reference.blocks(text)
    tried = {profile for profile, _, _ in models.MODELS.values()}
    for name in models.MODELS:
        wrong = check(record, rules, name, folder)
        print(f"{'not ok' if wrong else 'ok'} - {name} by the profile {models.MODELS[name][0]}")
        for line in wrong[:12]:
            print(f"#   {line}")
    # those with real files are tests/remap/test_families.c's
    rest = set(rules) - tried - {"gru", "lstm", "mha", "rnn", "sequential-gaps", "vit", "vit-torchvision"}
    print(f"{'not ok' if rest else 'ok'} - every block of the text is tried{': not ' + ', '.join(sorted(rest)) if rest else ''}")


main()
