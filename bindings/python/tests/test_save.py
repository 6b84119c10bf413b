# SPDX-License-Identifier: MIT OR Apache-2.0
"""Saving: every element type and shape, and what is rejected by name."""
import librecord as lr
import ml_dtypes
import msgpack
import numpy as np
import pytest
import safetensors.numpy

EXTENSIONS = ["mpk", "safetensors", "bpk", "mpk.gz", "json"]
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", ml_dtypes.bfloat16]


def same(found, expected):
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_come_back(tmp_path, extension, dtype):
    array = np.array([[0, 1, 2], [3, 1, 0]]).astype(dtype)
    path = tmp_path / f"m.{extension}"
    lr.save_file({"x": array}, path)
    found = lr.load_file(path)["x"]
    assert np.array_equal(found.astype("f8"), array.astype("f8")) and found.shape == array.shape
    if extension != "json":
        assert same(found, array)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4, 5)], ids=str)
def test_shapes_come_back(tmp_path, extension, shape):
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    path = tmp_path / f"m.{extension}"
    lr.save_file({"x": array, "y": np.ones(2, np.float32)}, path)
    with lr.open(path) as record:
        assert record["x"].shape == shape and same(np.asarray(record["x"]), array)
        assert same(record["x"][...], array)


def test_orders_and_strides_are_saved_by_value(tmp_path):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    arrays = {"c": base, "f": np.asfortranarray(base), "t": base.T, "s": base[::2, ::-1], "n": np.float32(3)}
    lr.save_file(arrays, tmp_path / "m.safetensors")
    found = safetensors.numpy.load_file(tmp_path / "m.safetensors")
    for name, array in arrays.items():
        assert np.array_equal(found[name], array) and found[name].shape == np.shape(array)


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros(2, ">f4"), r"layers\.0\.weight: dtype >f4 is big-endian.*'<f4'"),
        (np.zeros(2, "c8"), r"layers\.0\.weight: dtype complex64"),
        (np.array([{}]), r"layers\.0\.weight: dtype object"),
        (np.array(["a"]), r"layers\.0\.weight: dtype <U1"),
        (np.zeros(2, np.longdouble), r"layers\.0\.weight: dtype float128"),
        ([1.0, 2.0], r"layers\.0\.weight: expected an array of NumPy or a Tensor, found list"),
    ],
    ids=["big-endian", "complex", "object", "text", "longdouble", "list"],
)
def test_other_dtypes_are_rejected_by_name(tmp_path, array, message):
    with pytest.raises(TypeError, match=message):
        lr.save_file({"layers.0.weight": array}, tmp_path / "m.mpk")
    assert not (tmp_path / "m.mpk").exists()


@pytest.mark.parametrize("extension", ["mpk", "safetensors", "bpk"])
def test_more_than_ten_layers_in_any_order(tmp_path, model, extension):
    for number, names in enumerate((list(model), sorted(model), sorted(model, reverse=True))):
        path = tmp_path / f"{number}.{extension}"
        lr.save_file({name: model[name] for name in names}, path)
        found = lr.load_file(path)
        assert set(found) == set(model)
        assert all(same(found[name], model[name]) for name in model)


def test_layers_are_a_list_for_burn(tmp_path, model):
    lr.save_file({name: model[name] for name in sorted(model)}, tmp_path / "m.mpk")
    with open(tmp_path / "m.mpk", "rb") as file:
        item = msgpack.unpackb(file.read())["item"]
    assert isinstance(item["layers"], list) and len(item["layers"]) == 12
    assert set(item["layers"][11]["weight"]) == {"id", "param"}


@pytest.mark.parametrize("names", [["a.b", "a"], ["a", "a.b"], ["a.b", ""]])
def test_name_below_another_is_rejected(tmp_path, names):
    with pytest.raises(lr.ArgumentError):
        lr.save_file({name: np.zeros(1, np.float32) for name in names}, tmp_path / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_safetensors_reads_what_is_saved(tmp_path, model):
    lr.save_file(model, tmp_path / "m.safetensors")
    found = safetensors.numpy.load_file(tmp_path / "m.safetensors")
    assert set(found) == set(model) and all(same(found[name], model[name]) for name in model)


@pytest.mark.parametrize("extension", ["mpk", "safetensors", "bpk"])
def test_metadata_come_back(tmp_path, model, extension):
    lr.save_file(model, tmp_path / f"m.{extension}", metadata={"who": "me"})
    with lr.open(tmp_path / f"m.{extension}") as record:
        assert record.metadata["who"] == "me"


def test_plain_safetensors_has_plain_metadata(tmp_path, model):
    lr.save_file(model, tmp_path / "m.safetensors", metadata={"who": "me"}, options={"record": False})
    with safetensors.safe_open(tmp_path / "m.safetensors", "np") as file:
        assert file.metadata() == {"who": "me"}


def test_save_returns_bytes(model):
    data = lr.save(model)
    assert isinstance(data, bytes)
    assert all(same(array, model[name]) for name, array in safetensors.numpy.load(data).items())
    assert set(lr.load(lr.save(model, recorder="NamedMpk"))) == set(model)


def test_ids(tmp_path):
    arrays = {"a": np.zeros(2, np.float32), "b": np.zeros(2, np.float32), "c": np.zeros(2, np.float32)}
    lr.save_file(arrays, tmp_path / "m.mpk", ids={"a": "2mpobr8idscgq", "b": None})
    with lr.open(tmp_path / "m.mpk") as record:
        assert record["a"].id == "2mpobr8idscgq" and record["b"].id is None and len(record["c"].id) == 13
        assert not record["b"].is_parameter


def test_tensors_of_a_record_keep_their_ids(tmp_path, golden):
    with lr.open(golden / "0.18.0/tiny-full.mpk") as record:
        lr.save_file(dict(record), tmp_path / "m.mpk")
        with lr.open(tmp_path / "m.mpk") as copy:
            assert {name: tensor.id for name, tensor in copy.items()} == {name: t.id for name, t in record.items()}


def test_record_is_saved_with_all_values(tmp_path, golden):
    with lr.open(golden / "0.18.0/adam-full.mpk") as record:
        lr.save_file(record, tmp_path / "same.mpk", burn="keep")
        lr.save_file(record, tmp_path / "more.mpk", metadata={"note": "x"})
    assert (tmp_path / "same.mpk").read_bytes() == (golden / "0.18.0/adam-full.mpk").read_bytes()
    with lr.open(tmp_path / "more.mpk") as record:
        assert record.metadata["note"] == "x"


@pytest.mark.parametrize("burn", ["0.13", "0.18", "0.21"])
def test_layout_of_a_version(tmp_path, model, burn):
    lr.save_file(model, tmp_path / "m.mpk", burn=burn)
    with lr.open(tmp_path / "m.mpk") as record:
        assert record.origin.version.startswith(burn)


def test_precision(tmp_path, model):
    lr.save_file(model, tmp_path / "m.mpk", precision="half")
    assert all(array.dtype == np.float16 for array in lr.load_file(tmp_path / "m.mpk").values())
    notes = lr.save_file({"x": np.array([1e30], np.float32)}, tmp_path / "big.mpk", precision="half")
    assert notes[0].kind == "overflow" and notes[0].path == "x" and notes[0].number == 1


def test_unwritable_directory_and_unknown_extension(tmp_path, model):
    with pytest.raises((FileNotFoundError, OSError)):
        lr.save_file(model, tmp_path / "none/m.mpk")
    with pytest.raises(lr.Error):
        lr.save_file(model, tmp_path / "m.nothing")


def test_empty_dict(tmp_path):
    lr.save_file({}, tmp_path / "m.safetensors")
    assert lr.load_file(tmp_path / "m.safetensors") == {}
    with lr.open(tmp_path / "m.safetensors") as record:
        assert len(record) == 0 and list(record) == []


@pytest.mark.parametrize("tensors", [np.zeros(2), [np.zeros(2)], {1: np.zeros(2)}, "model.mpk"])
def test_only_mappings_from_names_are_saved(tmp_path, tensors):
    with pytest.raises(TypeError, match="expected a Record, or arrays by name"):
        lr.save_file(tensors, tmp_path / "a.mpk")
    with pytest.raises(TypeError, match="expected a Record, or arrays by name"):
        lr.save(tensors)


def test_ids_of_missing_tensors_are_rejected(tmp_path):
    with pytest.raises(lr.NotFoundError, match="ids: b: there is no tensor of this name"):
        lr.save_file({"a": np.zeros(2)}, tmp_path / "a.mpk", ids={"b": None})
