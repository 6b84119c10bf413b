# SPDX-License-Identifier: MIT OR Apache-2.0
"""Opening and reading: golden files of Burn against an independent reader, and each way to a part of the data."""
import io
import json
import subprocess
import sys

import librecord as lr
import msgpack
import numpy as np
import pytest

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "Bool": "?"}


def by_msgpack(path):
    """Yields name, id, shape and values of each parameter of a record, read by Python's msgpack alone."""
    with open(path, "rb") as file:
        root = msgpack.unpackb(file.read(), strict_map_key=False)
    yield from parameters(root["item"], "")


def parameters(value, path):
    if isinstance(value, dict) and set(value) == {"id", "param"}:
        yield path, value["id"], *numbers(value["param"])
    elif isinstance(value, (dict, list)):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in entries:
            yield from parameters(child, f"{path}.{key}" if path else str(key))


def numbers(param):
    """Layouts from 0.14 on have bytes, those before a list of numbers."""
    if isinstance(param, dict) and "bytes" in param:
        dtype = param["dtype"]
        return param["shape"], np.frombuffer(param["bytes"], TYPES[dtype if isinstance(dtype, str) else next(iter(dtype))])
    return param["shape"], np.array(param["value"])


@pytest.mark.parametrize("version", ["0.13.2", "0.14.0", "0.16.1", "0.18.0", "0.21.0"])
@pytest.mark.parametrize("case", ["tiny", "zoo", "plain"])
def test_golden_record_equals_msgpack(golden, version, case):
    path = golden / version / f"{case}-full.mpk"
    with lr.open(path) as record:
        found = list(by_msgpack(path))
        assert found or case == "plain"
        for name, id_of, shape, values in found:
            tensor = record[name]
            assert tensor.id == id_of
            assert list(tensor.shape) == list(shape)
            assert np.array_equal(np.asarray(tensor).ravel(), values)


@pytest.mark.parametrize("extension", ["mpk", "mpk.gz", "json"])
def test_formats_have_the_same_values(golden, extension):
    expected = lr.load_file(golden / "0.18.0/zoo-full.mpk")
    found = lr.load_file(golden / f"0.18.0/zoo-full.{extension}")
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert array.dtype == found[name].dtype and np.array_equal(array, found[name])


def test_record_is_a_mapping_in_file_order(golden):
    with lr.open(golden / "0.18.0/tiny-full.mpk") as record:
        assert list(record) == list(record.keys()) == ["linear.weight", "linear.bias"]
        assert len(record) == 2 and "linear.bias" in record and "linear.nothing" not in record and 3 not in record
        assert [tensor.name for tensor in record.values()] == list(record)
        assert record.origin.recorder == "NamedMpk" and record.origin.version == "0.18.0" and record.origin.mapped
        assert record.metadata["version"] == "0.18.0"
        assert record.notes == []
        assert "2 tensors" in repr(record) and "<td>linear.bias</td>" in record._repr_html_()


def test_group_has_relative_names(golden):
    with lr.open(golden / "0.18.0/tiny-full.mpk") as record:
        group = record["linear"]
        assert list(group) == ["weight", "bias"] and len(group) == 2
        assert np.array_equal(group["bias"], record["linear.bias"])
        assert record.group("linear").tensor("bias").name == "linear.bias"
        with pytest.raises(KeyError):
            record.group("linear.bias")


def test_tensor_describes_itself(golden):
    with lr.open(golden / "0.18.0/tiny-full.mpk") as record:
        tensor = record["linear.weight"]
        assert tensor.shape == (3, 2) and tensor.ndim == 2 and tensor.size == 6 and tensor.nbytes == 24
        assert tensor.dtype == np.float32 and tensor.dtype_name == "f32" and len(tensor) == 3
        assert tensor.id == "2mpobr8idscgq" and tensor.is_parameter and not tensor.assumed and tensor.scheme is None
        assert repr(tensor) == "<librecord.Tensor 'linear.weight' f32 [3, 2]>"
        data = (golden / "0.18.0/tiny-full.mpk").read_bytes()[tensor.offset : tensor.offset + 24]
        assert data == np.asarray(tensor).tobytes() == tensor.bytes().tobytes()


def test_tree_has_scalars_and_lists(golden):
    with lr.open(golden / "0.18.0/adam-full.mpk") as record:
        tree = record.tree
    with open(golden / "0.18.0/adam-full.mpk", "rb") as file:
        expected = msgpack.unpackb(file.read(), strict_map_key=False)["item"]
    assert tree.keys() == expected.keys()


def test_tree_of_metadata_free_json(tmp_path):
    path = tmp_path / "x.json"
    with lr.open(json_record(path)) as record:
        assert record.tree == {"steps": 3, "name": "a", "on": True, "rate": 0.5, "none": None}


def json_record(path):
    item = {"steps": 3, "name": "a", "on": True, "rate": 0.5, "none": None}
    metadata = {"float": "f32", "int": "i32", "format": "burn_core::record::file::PrettyJsonFileRecorder",
                "version": "0.18.0", "settings": "FullPrecisionSettings"}
    path.write_text(json.dumps({"metadata": metadata, "item": item}))
    return path


KEYS = [3, -1, slice(2, 5), slice(None), slice(8, 2, -2), slice(None, None, -1), slice(5, 5), slice(-3, None),
        ..., (2, 1), (slice(1, 9, 3), slice(None), 0), (slice(7, None), ..., -1), [1, 3], np.int64(2), (..., 1), None]


@pytest.mark.parametrize("extension, precision", [("safetensors", "keep"), ("mpk", "keep"), ("mpk.gz", "double")])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_partial_reads_equal_numpy(tmp_path, extension, precision, key):
    whole = np.arange(10 * 3 * 2, dtype=np.float32).reshape(10, 3, 2)
    lr.save_file({"a": np.zeros(1, np.float32), "x": whole}, tmp_path / f"m.{extension}")
    with lr.open(tmp_path / f"m.{extension}", precision=precision) as record:
        assert np.array_equal(record["x"][key], whole[key])
        assert record["x"][key].shape == whole[key].shape


def test_partial_read_beyond_the_end_is_an_index_error(tmp_path):
    lr.save_file({"x": np.zeros((4, 2), np.float32)}, tmp_path / "m.json")
    with lr.open(tmp_path / "m.json", precision="half") as record, pytest.raises(IndexError):
        record["x"][4]


def test_read_converts(golden):
    with lr.open(golden / "0.18.0/tiny-full.mpk") as record:
        tensor = record["linear.weight"]
        assert tensor.read("f64").dtype == np.float64 and tensor.read(np.float16).dtype == np.float16
        assert np.array_equal(tensor.read("f64"), np.asarray(tensor).astype(np.float64))
        assert np.array_equal(tensor.read(start=1, stop=4), np.asarray(tensor).ravel()[1:4])
        with pytest.raises(TypeError, match="complex64"):
            tensor.read(np.complex64)


@pytest.mark.parametrize("how", ["bytes", "bytearray", "memoryview", "BytesIO", "file", "descriptor", "str"])
def test_sources(golden, how):
    path = golden / "0.18.0/tiny-full.mpk"
    data = path.read_bytes()
    with open(path, "rb") as file:
        source = {"bytes": data, "bytearray": bytearray(data), "memoryview": memoryview(data), "BytesIO": io.BytesIO(data),
                  "file": file, "descriptor": file.fileno(), "str": str(path)}[how]
        with lr.open(source) as record:
            assert np.array_equal(record["linear.bias"], lr.load_file(path)["linear.bias"])


def test_load_takes_bytes(golden):
    path = golden / "0.18.0/tiny-full.mpk"
    assert list(lr.load(path.read_bytes())) == list(lr.load_file(path))


def test_source_of_another_kind_is_a_type_error(golden):
    with pytest.raises(TypeError, match="expected a path"):
        lr.open(3.5)
    with open(golden / "README.md") as text, pytest.raises(TypeError, match="rb"):
        lr.open(text)


def test_precision_and_options(golden):
    path = golden / "0.18.0/tiny-full.mpk"
    with lr.open(path, precision="half") as record:
        assert record["linear.bias"].dtype == np.float16
        assert record["linear.bias"][:].dtype == np.float16
    with lr.open(path, options={"data": "skip"}) as record:
        assert record["linear.bias"].shape == (2,)
        with pytest.raises(lr.ArgumentError):
            record["linear.bias"].numpy()
    with pytest.raises(ValueError, match="precision"):
        lr.open(path, precision="quarter")


def test_file_without_names_needs_a_type(tmp_path, golden):
    source = golden / "0.18.0/tiny-full.mpk"
    kind = f"{golden.parent}/types/tiny.rs:Tiny"
    lr.convert(source, tmp_path / "m.bin", type=kind)
    with pytest.raises(lr.NeedsType):
        lr.open(tmp_path / "m.bin", recorder="BinFile")
    with lr.open(tmp_path / "m.bin", recorder="BinFile", type=kind) as record:
        assert np.array_equal(record["linear.weight"], lr.load_file(source)["linear.weight"])


def test_plain_safetensors_opens_unchanged(tmp_path):
    """Weights without biases, which a conversion to Burn cannot decide about."""
    from safetensors.numpy import save_file

    arrays = {f"layers.{i}.weight": np.arange(6, dtype=np.float32).reshape(2, 3) + i for i in (0, 2, 11)}
    save_file(arrays, tmp_path / "m.safetensors", metadata={"who": "me"})
    with lr.open(tmp_path / "m.safetensors") as record:
        assert record.metadata["who"] == "me"
        assert set(record) == set(arrays)
        for name, array in arrays.items():
            assert np.array_equal(record[name], array)


def test_quantised_tensors_are_numbers(golden):
    """Blocks of GGUF, and Burn's; whose elements NumPy has (FP8) are those of the file, without their scales."""
    with lr.open(golden.parent / "gguf/types.gguf") as record:
        tensor = record["blocks.Q4_0"]
        assert tensor.dtype_name == "Q4_0" and tensor.scheme and tensor.numpy().dtype == np.float32
        assert tensor.numpy().shape == tensor.shape and len(tensor.bytes()) == tensor.nbytes
        with pytest.raises(lr.UnsupportedError, match="Q4_0"):
            tensor.dtype


def test_fp8_needs_ml_dtypes(monkeypatch, tmp_path):
    import ml_dtypes

    values = np.array([0, 1, -2, 448], ml_dtypes.float8_e4m3fn)
    header = b'{"x":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}      '
    (tmp_path / "m.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + values.tobytes())
    with lr.open(tmp_path / "m.safetensors") as record:
        assert record["x"].dtype == values.dtype and np.array_equal(record["x"].numpy().view("u1"), values.view("u1"))
        monkeypatch.setattr("librecord._dtypes.ml_dtypes", None)
        with pytest.raises(lr.UnsupportedError, match="ml_dtypes"):
            record["x"].dtype


def test_load_and_save_import_no_module(golden, tmp_path):
    program = (
        "import sys, librecord\n"
        "before = set(sys.modules)\n"
        "arrays = librecord.load_file(sys.argv[1])\n"
        "librecord.save_file(arrays, sys.argv[2])\n"
        "print(sorted(each for each in set(sys.modules) - before if each.startswith('numpy')))"
    )
    command = [sys.executable, "-c", program, golden / "0.18.0/zoo-full.mpk", tmp_path / "out.mpk"]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == "[]\n"
