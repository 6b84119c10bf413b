#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measures the Python package beside safetensors.numpy and h5py: CPU time in one run, and its ratio to safetensors'.

    bench/python.py [--rounds N] [--dir DIR] [--megabytes N] [--tensors N]

librecord, safetensors, numpy and h5py must be importable; a row whose package is missing is left out. Each operation
has processes of its own, which take turns; the least time of all rounds counts.
"""
import argparse
import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time

BIG, MANY = "big", "many"
#: An operation: the first of each table is the one that the others are compared with.
TABLES = {
    "MB in 64 tensors, each page read": [
        ("safetensors load_file", "st_load", BIG, None),
        ("safetensors safe_open, get_tensor", "st_get", BIG, None),
        ("h5py, [()]", "h5_load", BIG, None),
        ("the map of .safetensors alone", "map_load", BIG + ".safetensors", None),
        ("the map of .bpk alone", "map_load", BIG + ".bpk", None),
        ("librecord load_file .safetensors", "lr_load", BIG + ".safetensors", 0.10),
        ("librecord load_file .bpk", "lr_load", BIG + ".bpk", 0.10),
        ("librecord load_file .mpk", "lr_load", BIG + ".mpk", 0.5),
    ],
    "MB saved": [
        ("safetensors save_file", "st_save", BIG, None),
        ("librecord save_file .safetensors, no sync, no check", "lr_fast_save", BIG + ".safetensors", None),
        ("librecord save_file .safetensors", "lr_save", BIG + ".safetensors", None),
        ("librecord save_file .mpk", "lr_save", BIG + ".mpk", None),
    ],
    "tensors of 16 bytes, the keys": [
        ("safetensors safe_open, keys", "st_keys", MANY, None),
        ("librecord open, keys .bpk", "lr_keys", MANY + ".bpk", 0.6),
        ("librecord open, keys .mpk", "lr_keys", MANY + ".mpk", 0.95),
        ("librecord open, keys .safetensors", "lr_keys", MANY + ".safetensors", 1.5),
    ],
    "tensors of 16 bytes, all as arrays": [
        ("safetensors load_file", "st_arrays", MANY, None),
        ("librecord load_file .bpk", "lr_arrays", MANY + ".bpk", 1.5),
        ("librecord load_file .mpk", "lr_arrays", MANY + ".mpk", 1.5),
        ("librecord load_file .safetensors", "lr_arrays", MANY + ".safetensors", 1.5),
    ],
    "tensors of 16 bytes, saved": [
        ("safetensors save_file", "st_save", MANY, None),
        ("librecord save_file .mpk", "lr_save", MANY + ".mpk", 1.1),
        ("librecord save_file .mpk, no sync, no check", "lr_fast_save", MANY + ".mpk", None),
        ("librecord save_file .safetensors", "lr_save", MANY + ".safetensors", 1.4),
        ("librecord save_file .safetensors, no sync, no check", "lr_fast_save", MANY + ".safetensors", None),
    ],
}


def arrays(name, megabytes, tensors):
    import numpy as np

    if name == BIG:
        rows = (megabytes << 20) // 64 // 4096
        return {f"layers.{i}.weight": np.full((rows, 1024), i, np.float32) for i in range(64)}
    return {f"blocks.{i // 100}.layers.{i % 100}.weight": np.full((2, 2), i, np.float32) for i in range(tensors)}


def prepare(directory, options):
    import librecord
    from safetensors.numpy import save_file

    for name in (BIG, MANY):
        data = arrays(name, options.megabytes, options.tensors)
        save_file(data, os.path.join(directory, name))
        for extension in ("safetensors", "bpk", "mpk"):
            librecord.save_file(data, os.path.join(directory, f"{name}.{extension}"), sync=False)
    if importlib.util.find_spec("h5py"):
        import h5py

        with h5py.File(os.path.join(directory, BIG + ".h5"), "w") as file:
            for key, value in arrays(BIG, options.megabytes, 0).items():
                file[key] = value


def touched(loaded):
    for value in loaded.values():
        value.reshape(-1)[::1024].sum()
    return loaded


def operation(name, path, options):
    """Returns the function to measure; all its modules are imported."""
    import librecord
    import numpy
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    def map_load():
        return touched({"": numpy.memmap(path, numpy.float32, "r", shape=os.path.getsize(path) // 4)})

    def st_get():
        with safe_open(path, "np") as file:
            return touched({key: file.get_tensor(key) for key in file.keys()})

    def st_keys():
        with safe_open(path, "np") as file:
            return list(file.keys())

    def h5_load():
        import h5py

        with h5py.File(path + ".h5") as file:
            return touched({key: file[key][()] for key in [f"layers.{i}.weight" for i in range(64)]})

    def lr_keys():
        with librecord.open(path) as record:
            return list(record.keys())

    data = arrays(os.path.basename(path).split(".")[0], options.megabytes, options.tensors) if "save" in name else None
    out = f"{path}.out{os.path.splitext(path)[1]}"
    return {
        "st_load": lambda: touched(load_file(path)),
        "map_load": map_load,
        "st_arrays": lambda: load_file(path),
        "st_save": lambda: save_file(data, out),
        "lr_load": lambda: touched(librecord.load_file(path)),
        "lr_arrays": lambda: librecord.load_file(path),
        "lr_save": lambda: librecord.save_file(data, out),
        "lr_fast_save": lambda: librecord.save_file(data, out, sync=False, check=False),
        "st_get": st_get,
        "st_keys": st_keys,
        "h5_load": h5_load,
        "lr_keys": lr_keys,
    }[name], out


def measure(options):
    work, out = operation(options.one[0], options.one[1], options)
    start = time.process_time()
    made = work()
    print(time.process_time() - start)
    del made
    with contextlib.suppress(FileNotFoundError):
        os.unlink(out)


def child(name, path, options):
    command = [sys.executable, __file__, "--megabytes", options.megabytes, "--tensors", options.tensors, "--one", name, path]
    return float(subprocess.run([str(word) for word in command], capture_output=True, check=True, text=True).stdout)


def table(title, rows, directory, options):
    rows = [row for row in rows if row[1] != "h5_load" or importlib.util.find_spec("h5py")]
    least = [float("inf")] * len(rows)
    for _ in range(options.rounds):
        for number, (_, name, file, _) in enumerate(rows):
            least[number] = min(least[number], child(name, os.path.join(directory, file), options))
    print(f"\n| {title} | CPU ms | ratio | aim |\n|---|---|---|---|")
    good = True
    for (label, _, _, aim), seconds in zip(rows, least):
        ratio = seconds / least[0]
        good = good and (aim is None or ratio <= aim)
        print(f"| {label} | {seconds * 1000:.0f} | {ratio:.2f} | {'' if aim is None else aim} |")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dir")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--tensors", type=int, default=100_000)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options)
        return 0
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        prepare(directory, options)
        reached = [table(f"{options.megabytes if 'MB' in title else options.tensors:,} {title}", rows, directory, options)
                   for title, rows in TABLES.items()]
    print("\nall aims reached" if all(reached) else "\nnot all aims reached")
    return 0


if __name__ == "__main__":
    sys.exit(main())
