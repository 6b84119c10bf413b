#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""onnx_models.py DIRECTORY MODEL...: exports models of PyTorch to ONNX, in DIRECTORY/MODEL/.

model.onnx is what torch.onnx.export writes, in0.npy... the inputs, out.npy the output that PyTorch computes.
"""
import os
import sys

import numpy
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import blocks  # noqa: E402, F401 (registers models)
import layers  # noqa: E402, F401
from registry import build  # noqa: E402


def make(name, directory):
    module, inputs = build(name)
    os.makedirs(directory, exist_ok=True)
    with torch.no_grad():
        output = module(*inputs)
        # Constants are folded and batch norms merged into convolutions otherwise, and the model's tensors are gone.
        torch.onnx.export(module, tuple(inputs), f"{directory}/model.onnx", opset_version=13,
                          training=torch.onnx.TrainingMode.PRESERVE if has_batch_norm(module) else
                          torch.onnx.TrainingMode.EVAL)
    for number, tensor in enumerate(inputs):
        numpy.save(f"{directory}/in{number}.npy", tensor.numpy())
    numpy.save(f"{directory}/out.npy", output.numpy())


def has_batch_norm(module):
    return any(isinstance(part, torch.nn.modules.batchnorm._BatchNorm) for part in module.modules())


def main(directory, *names):
    torch.set_num_threads(1)
    for name in names:
        make(name, os.path.join(directory, name))


if __name__ == "__main__":
    main(*sys.argv[1:])
