# SPDX-License-Identifier: MIT OR Apache-2.0
"""auto.py RECORD FOLDER: which profile is found for models of every family, and that none is for models of others.

Prints TAP without a plan: tests/families.sh counts. FOLDER is for files, and exists."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # noqa: E402
import reference  # noqa: E402
import strangers  # noqa: E402

# Profiles of the same files with another destination: the one that is taken.
MAIN = {"llama-norope": "llama", "mixtral-stack": "mixtral", "gpt2-split": "gpt2", "clip-text": "clip"}
TYPES = {"gemma": "gemma", "llama": "llama", "llama-norope": "llama"}


def write(folder, name, tensors, config):
    folder = os.path.join(folder, "auto-" + name)
    os.mkdir(folder)
    path = os.path.join(folder, "model.safetensors")
    reference.write_safetensors(path, tensors)
    if config is not None:
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
    return path


def families(record, path):
    run = subprocess.run([record, "info", "--json", path], capture_output=True, text=True, check=False)
    return json.loads(run.stdout)["families"] if run.returncode == 0 else [run.stderr]


def auto(record, path):
    run = subprocess.run([record, "plan", "--json", "--profile", "auto", path], capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def say(good, name, more=""):
    print(f"{'ok' if good else 'not ok'} - {name}")
    if not good:
        print(f"#   {more}")


def main():
    record, folder = sys.argv[1:]
    for name, (profile, config, _) in models.MODELS.items():
        wanted = MAIN.get(profile, profile)
        config = config | ({"model_type": TYPES[profile]} if profile in TYPES else {})
        if profile == "llama-norope":
            config |= models.HEADS
        path = write(folder, name, models.tensors(name), config)
        found = families(record, path)
        say([f["profile"] for f in found if f["fits"]] == [wanted], f"{name} is known as {wanted}", found)
        status, out, err = auto(record, path)
        say(f"with the profile {wanted}" in out, f"{name} is taken by it", f"{status} {out[:300]} {err}")
    for name, (keys, config) in strangers.MODELS.items():
        path = write(folder, "stranger-" + name, strangers.tensors(keys), config)
        found = families(record, path)
        say(not [f for f in found if f["fits"]], f"{name} is of no family", found)
        status, out, err = auto(record, path)
        say(status == 2 and "profile auto: no profile fits" in err, f"{name} is taken by no profile", f"{status} {out[:300]} {err}")


main()
