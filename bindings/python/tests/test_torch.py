# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tensors of PyTorch, where it is installed."""
import librecord as lr
import numpy as np
import pytest

torch = pytest.importorskip("torch")
from librecord.torch import load_file, save_file  # noqa: E402

DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("extension", ["safetensors", "mpk", "bpk"])
@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_come_back(tmp_path, extension, name):
    tensor = torch.tensor([[0, 1, 2], [3, 1, 0]]).to(getattr(torch, name))
    save_file({"a": tensor[0, 0].clone(), "x": tensor}, tmp_path / f"m.{extension}")
    found = load_file(tmp_path / f"m.{extension}")
    assert found["x"].dtype == tensor.dtype and torch.equal(found["x"], tensor)
    assert found["a"].shape == () and torch.equal(found["a"], tensor[0, 0])


def test_loaded_tensors_can_be_written(tmp_path):
    save_file({"x": torch.ones(4)}, tmp_path / "m.safetensors")
    tensor = load_file(tmp_path / "m.safetensors")["x"]
    tensor += 1
    assert torch.equal(tensor, torch.full((4,), 2.0))
    assert torch.equal(load_file(tmp_path / "m.safetensors")["x"], torch.ones(4))


def test_file_is_the_same_as_by_numpy(tmp_path):
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    save_file({"x": tensor.T}, tmp_path / "m.mpk")
    assert np.array_equal(lr.load_file(tmp_path / "m.mpk")["x"], tensor.numpy().T)


def test_shared_memory_is_rejected_by_name(tmp_path):
    tensor = torch.zeros(3, 3)
    for other in (tensor, tensor.T, tensor[1]):
        with pytest.raises(ValueError, match="a and b share memory|b and a share memory"):
            save_file({"a": tensor, "b": other}, tmp_path / "m.mpk")
    save_file({"a": tensor[0], "b": tensor[1], "c": torch.zeros(0)}, tmp_path / "m.mpk")
    assert set(load_file(tmp_path / "m.mpk")) == {"a", "b", "c"}


def test_parameters_and_other_values(tmp_path):
    model = torch.nn.Linear(2, 3)
    save_file(dict(model.named_parameters()), tmp_path / "m.mpk")
    assert torch.equal(load_file(tmp_path / "m.mpk")["weight"], model.weight)
    with pytest.raises(TypeError, match="x: expected a torch.Tensor"):
        save_file({"x": np.zeros(2)}, tmp_path / "m.mpk")
