# SPDX-License-Identifier: MIT OR Apache-2.0
"""matrix.py RECORD FOLDER: every profile on a model of every family: those of the family load it, all others refuse it.
With LIBRECORD_TEST_EVERY=n, every n-th of the others, from another one on for each model.

Prints TAP without a plan: tests/families.sh counts. FOLDER is for files, and exists."""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # noqa: E402
import reference  # noqa: E402

# Profiles of one family, which nothing in its files tells apart: what differs is the destination, or the computation.
ALIKE = [
    {"llama", "llama-norope", "gemma"},
    {"llama-meta", "llama3-meta"},
    {"mixtral", "mixtral-stack"},
    {"gpt2", "gpt2-split"},
    {"qwen3", "qwen3-split"},
    {"bert", "roberta"},
    {"bert-mlm", "roberta-mlm"},
    {"clip", "clip-text"},
]
# A model with more than a profile asks for: RoBERTa without its head; DINOv2 has timm's names.
ALSO = {"roberta-mlm": {"bert", "roberta"}, "bert-mlm": {"bert", "roberta"}, "dino": {"vit-timm"}, "vit-timm": {"dino"}}


def prepare(name, folder):
    _, config, _ = models.MODELS[name]
    folder = os.path.join(folder, "matrix-" + name)
    os.mkdir(folder)
    path = os.path.join(folder, "model.safetensors")
    reference.write_safetensors(path, models.tensors(name))
    numbers = {"num_attention_heads": 4, "num_key_value_heads": 2} | config
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(numbers, file)
    return path


def main():
    record, folder = sys.argv[1:]
    run = subprocess.run([record, "profiles", "--json"], capture_output=True, text=True, check=True)
    # Some names add nothing to a load without a profile, and so take every file.
    profiles = [profile["name"] for profile in json.loads(run.stdout)["profiles"]
                if not profile["description"].startswith("adds nothing: ")]

    def loads(pair):
        run = subprocess.run([record, "plan", "--json", "--profile", pair[1],
                              *models.SAID.get(pair[1], []), pair[0]], capture_output=True, text=True,
                             check=False)
        return run.returncode == 0

    every = int(os.environ.get("LIBRECORD_TEST_EVERY") or 1)
    seen = set()
    with ThreadPoolExecutor(2) as pool:
        for name, (own, _, _) in models.MODELS.items():
            if own in seen and name not in ALSO:
                continue
            seen.add(own)
            path = prepare(name, folder)
            expected = {own} | next((set(group) for group in ALIKE if own in group), set()) | ALSO.get(name, set())
            tried = [p for number, p in enumerate(profiles) if p in expected or (number + len(seen)) % every == 0]
            found = {p for p, ok in zip(tried, pool.map(loads, [(path, p) for p in tried])) if ok}
            print(f"{'ok' if found == expected else 'not ok'} - {name} is taken by {', '.join(sorted(expected))} alone")
            for word, some in ("refused by", expected - found), ("taken by", found - expected):
                if some:
                    print(f"#   {word} {', '.join(sorted(some))}")


main()
