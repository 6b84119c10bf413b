#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes weights.safetensors to standard output: what PyTorch would have saved of the network of net.h, with made numbers.

    model = nn.ModuleDict({"fc1": nn.Linear(3, 4), "norm": nn.LayerNorm(4), "fc2": nn.Linear(4, 2)}), below "model."
"""
import json
import math
import struct
import sys

SHAPES = {"fc1.weight": [4, 3], "fc1.bias": [4], "norm.weight": [4], "norm.bias": [4], "fc2.weight": [2, 4], "fc2.bias": [2]}

header, data = {"__metadata__": {"format": "pt"}}, b""
for number, (name, shape) in enumerate(sorted(SHAPES.items())):
    count = math.prod(shape)
    values = [round(math.sin(10 * number + i), 3) for i in range(count)]
    header[f"model.{name}"] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
    data += struct.pack(f"<{count}f", *values)
text = json.dumps(header, separators=(",", ":")).encode()
text += b" " * (-len(text) % 8)
sys.stdout.buffer.write(struct.pack("<Q", len(text)) + text + data)
