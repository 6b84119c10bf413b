# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads a model that Burn 0.18 wrote, changes a tensor, and saves it for Burn 0.22 and for PyTorch's tools.

    python3 example.py MODEL.mpk DIRECTORY
"""
import os
import sys

import librecord
import numpy as np

source, directory = sys.argv[1:]
with librecord.open(source) as record:
    print(record, record.origin.version)
    for name, tensor in record.items():
        print(f"{name:20} {tensor.dtype_name:5} {tensor.shape}")
    first = next(iter(record.values()))
    print(f"{first.name}[0:1] = {first[0:1]}")

arrays = librecord.load_file(source)
arrays[first.name] = arrays[first.name] * np.float32(2)  # loaded arrays are read-only views of the file
librecord.save_file(arrays, os.path.join(directory, "doubled.safetensors"))

librecord.convert(source, os.path.join(directory, "model.bpk"), burn="0.22")
print("converted:", librecord.recognise(os.path.join(directory, "model.bpk")))
