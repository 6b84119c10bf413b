# SPDX-License-Identifier: MIT OR Apache-2.0
"""Records as tensors of PyTorch: `librecord.torch.load_file`, `librecord.torch.save_file`."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

import numpy as np
import torch

from ._dtypes import ml_dtypes
from ._library import lib
from ._record import open as open_record
from ._save import save_file as save_arrays
from ._tensor import Tensor

Path = Union[str, "os.PathLike[str]"]


def _torch(tensor: Tensor) -> Any:
    """Returns a tensor with its own memory; bf16 goes through the bits, which NumPy has."""
    if tensor._column("dtype") == lib.REC_DTYPE_BF16:
        bits = tensor.bytes().view("<i2").astype(np.int16, copy=False).reshape(tensor.shape)
        return torch.from_numpy(bits).view(torch.bfloat16)
    array = tensor.numpy()
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return torch.from_numpy(native if native.flags.writeable else native.copy())


def load_file(filename: Path, device: Union[str, Any] = "cpu", **arguments: Any) -> dict[str, Any]:
    """Loads all tensors of a file as PyTorch's, in memory of their own. Keyword arguments are those of librecord.open().

    Names, shapes and layouts are the file's: a Linear of a Burn record has [inputs, outputs]. For a state_dict, convert
    the record first: librecord.convert("model.mpk", "model.safetensors", profile=…, options={"reverse": True}).
    """
    with open_record(filename, **arguments) as record:
        return {name: _torch(tensor).to(device) for name, tensor in record.items()}


def save_file(tensors: Mapping[str, Any], filename: Path, metadata: Any = None, **arguments: Any) -> Any:
    """Saves a state_dict. The other arguments are those of librecord.save_file().

    Tensors that share memory are rejected by name, as in safetensors: which of them should keep it is the model's to say.
    """
    _reject_shared(tensors)
    arrays = {name: _numpy(name, tensor) for name, tensor in tensors.items()}
    return save_arrays(arrays, filename, metadata, **arguments)


def _numpy(name: str, tensor: Any) -> Any:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, found {type(tensor).__name__}")
    held = tensor.detach().cpu().contiguous()
    if held.dtype != torch.bfloat16:
        return held.numpy()
    if ml_dtypes is None:
        raise TypeError(f"{name}: saving bf16 needs the package ml_dtypes")
    return held.view(torch.int16).numpy().view(ml_dtypes.bfloat16)


def _span(tensor: Any) -> tuple[str, int, int]:
    """Returns the device and the addresses of the first element and after the last."""
    begin = tensor.data_ptr()
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return str(tensor.device), begin, begin + (reach + 1) * tensor.element_size()


def _reject_shared(tensors: Mapping[str, Any]) -> None:
    spans = sorted((*_span(tensor), name) for name, tensor in _with_data(tensors))
    for before, after in zip(spans, spans[1:]):
        if before[0] == after[0] and after[1] < before[2]:
            raise ValueError(f"{before[3]} and {after[3]} share memory: save one of them, or a clone of the other")


def _with_data(tensors: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return ((name, tensor) for name, tensor in tensors.items() if isinstance(tensor, torch.Tensor) and tensor.numel())


__all__ = ["load_file", "save_file"]
