#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the golden files of the schemes: NAME.safetensors as other packages store weights, NAME.expected.safetensors with
the numbers. Elements and scales are read by ml_dtypes; the arithmetic is that of the published reference code: a product
of two f32, rounded once. Needs numpy, ml_dtypes and safetensors. Usage: make.py [FOLDER]"""
import json
import struct
import sys
from pathlib import Path

import ml_dtypes
import numpy

NAMES = {
    "float32": "F32", "float16": "F16", "uint8": "U8", "int8": "I8", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
}  # fmt: skip
random = numpy.random.default_rng(30)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)


def save(name, tensors, dtypes=None):
    """A safetensors file; dtypes: other names of element types and shapes, by key."""
    header, data = {}, b""
    for key, tensor in sorted(tensors.items()):
        dtype, shape = (dtypes or {}).get(key, (NAMES[tensor.dtype.name], tensor.shape))
        begin, data = len(data), data + tensor.tobytes()
        header[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def codes(rows, columns, dtype):
    """Every code, NaNs and zeros with a sign among them."""
    every = numpy.resize(numpy.arange(256, dtype=numpy.uint8), rows * columns)
    return random.permutation(every).reshape(rows, columns).view(dtype)


def product(numbers, scale):
    return numbers.astype(numpy.float32) * scale.astype(numpy.float32)


def spread(scale, shape, block):
    """A scale for each element."""
    scale = numpy.repeat(numpy.repeat(scale, block[0], 0), block[1], 1)
    return scale[: shape[0], : shape[1]]


def scales(shape, dtype):
    if dtype == ml_dtypes.float8_e8m0fnu:
        return random.integers(90, 150, shape, numpy.uint8).view(dtype)
    return random.uniform(1e-4, 3, shape).astype(numpy.float32).astype(dtype)


def fp8():
    e4m3, e5m2, e8m0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu
    bf16, f32, f16 = ml_dtypes.bfloat16, numpy.float32, numpy.float16
    stored, numbers = {}, {}

    def add(name, weight, ending, scale, block):
        stored[f"{name}.weight"] = weight
        numbers[f"{name}.weight"] = weight.astype(f32)
        if scale is not None:
            stored[f"{name}.{ending}"] = scale
            wide = scale.reshape(-1, 1) if scale.ndim < 2 else scale
            numbers[f"{name}.weight"] = product(weight, spread(wide, weight.shape, block))

    add("tensor", codes(4, 64, e4m3), "weight_scale", scales((), f32), (4, 64))
    add("tensor_e5m2", codes(4, 64, e5m2), "weight_scale", scales((1,), bf16), (4, 64))
    add("rows", codes(6, 50, e4m3), "weight_scale", scales((6, 1), bf16), (1, 50))
    add("rows_flat", codes(6, 50, e5m2), "weight_scale", scales((6,), f16), (1, 50))
    add("blocks", codes(130, 132, e4m3), "weight_scale_inv", scales((2, 2), f32), (128, 128))
    add("blocks_e8m0", codes(130, 10, e4m3), "scale", scales((2, 1), e8m0), (128, 128))
    add("comfy", codes(3, 100, e4m3), "scale_weight", scales((), f32), (3, 100))
    add("plain", codes(4, 64, e5m2), "", None, None)
    add("fnuz", codes(4, 64, ml_dtypes.float8_e4m3fnuz), "weight_scale", scales((1,), f32), (4, 64))
    add("fnuz_e5m2", codes(4, 64, ml_dtypes.float8_e5m2fnuz), "weight_scale", scales((1,), f32), (4, 64))
    stored["tensor.input_scale"] = numbers["tensor.input_scale"] = scales((), f32)
    stored["norm.weight"] = numbers["norm.weight"] = scales((8,), f32)
    experts = numpy.stack([codes(129, 4, e4m3) for _ in range(3)])
    stored["experts.weight"], stored["experts.weight_scale_inv"] = experts, scales((3, 2, 1), f32)
    numbers["experts.weight"] = numpy.stack(
        [product(e, spread(s, e.shape, (128, 128))) for e, s in zip(experts, stored["experts.weight_scale_inv"])]
    )
    save("fp8", stored)
    save("fp8.expected", numbers)


def fp4_values(packed):
    """Elements of bytes, the low bits first, along the last dimension."""
    pairs = numpy.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)
    return pairs.astype(numpy.uint8).view(ml_dtypes.float4_e2m1fn).astype(numpy.float32)


def fp4():
    f32, e4m3, e8m0 = numpy.float32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    stored, numbers, other = {}, {}, {}

    def pairs(*shape):
        return random.integers(0, 256, shape, numpy.uint8)

    def blocks(values, scale, size):
        return values * numpy.repeat(scale, size, -1)

    # ModelOpt: the scale of the whole multiplies.
    code, scale, whole = pairs(5, 32), scales((5, 4), f32).astype(e4m3), scales((), f32)
    stored.update({"opt.weight": code, "opt.weight_scale": scale, "opt.weight_scale_2": whole})
    stored["opt.input_scale"] = numbers["opt.input_scale"] = scales((), f32)
    numbers["opt.weight"] = blocks(fp4_values(code), scale.astype(f32) * whole, 16)
    # compressed-tensors: it divides.
    code, scale, whole = pairs(6, 40), (100 * scales((6, 5), f32)).astype(e4m3), 300 * scales((1,), f32)
    stored.update({"ct.weight_packed": code, "ct.weight_scale": scale, "ct.weight_global_scale": whole})
    numbers["ct.weight"] = blocks(fp4_values(code), scale.astype(f32) / whole, 16)
    # Experts with a scale each.
    code, scale, whole = pairs(3, 4, 16), scales((3, 4, 2), f32).astype(e4m3), scales((3,), f32)
    stored.update({"e.up": code, "e.up_weight_scale": scale, "e.up_weight_scale_2": whole})
    numbers["e.up"] = blocks(fp4_values(code), scale.astype(f32) * whole[:, None, None], 16)
    save("nvfp4", stored)
    save("nvfp4.expected", numbers)

    stored, numbers = {}, {}
    # gpt-oss: in transformers the weight is transposed, in its own code it is not.
    code, scale = pairs(2, 6, 3, 16), random.integers(0, 250, (2, 6, 3), numpy.uint8)
    values = blocks(fp4_values(code.reshape(2, 6, 48)), scale.view(e8m0).astype(f32), 32)
    stored.update({"mlp.up_blocks": code, "mlp.up_scales": scale})
    stored.update({"mlp.weight.blocks": code, "mlp.weight.scales": scale})
    numbers["mlp.up"], numbers["mlp.weight"] = values.transpose(0, 2, 1).copy(), values
    # compressed-tensors, and elements that safetensors calls F4.
    code, scale = pairs(5, 32), random.integers(100, 140, (5, 2), numpy.uint8)
    values = blocks(fp4_values(code), scale.view(e8m0).astype(f32), 32)
    stored.update({"ct.weight_packed": code, "ct.weight_scale": scale})
    stored.update({"ds.weight": code.view(numpy.int8), "ds.scale": scale.view(e8m0)})
    stored.update({"f4.weight": code, "f4.weight_scale": scale.view(e8m0)})
    other["f4.weight"] = ("F4", (5, 64))
    numbers.update({f"{name}.weight": values for name in ("ct", "ds", "f4")})
    save("mxfp4", stored, other)
    save("mxfp4.expected", numbers)


fp8()
fp4()
