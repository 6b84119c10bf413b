# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who keeps what alive: arrays, records, threads, children, and files that change meanwhile."""
import gc
import os
import subprocess
import sys
import threading
import weakref

import librecord as lr
import numpy as np
import pytest
from conftest import in_child


@pytest.fixture
def saved(tmp_path, model):
    path = tmp_path / "m.safetensors"
    lr.save_file(model, path)
    return path


def test_view_is_read_only_and_not_copied(saved, model):
    with lr.open(saved) as record:
        name = next(iter(model))
        first, second = np.asarray(record[name]), record[name].numpy()
        assert first.ctypes.data == second.ctypes.data == record.arrays()[name].ctypes.data
        assert not first.flags.writeable and first.base is not None
        with pytest.raises(ValueError):
            first[0] = 1
        with pytest.raises(ValueError):
            first.flags.writeable = True
        assert record[name][1:3].ctypes.data == first[1:3].ctypes.data


def test_copy_has_the_three_meanings_of_numpy(saved, golden, model):
    name = next(iter(model))
    with lr.open(saved) as record:
        tensor = record[name]
        assert tensor.__array__(copy=True).flags.writeable
        assert not tensor.__array__(copy=False).flags.writeable
        assert tensor.__array__(np.float64).dtype == np.float64
        with pytest.raises(ValueError, match="copy"):
            tensor.__array__(np.float64, copy=False)
    with lr.open(golden / "0.18.0/tiny-full.mpk", precision="half") as record, pytest.raises(ValueError, match=r"linear\.bias"):
        record["linear.bias"].__array__(copy=False)


def test_array_outlives_record_and_tensor(saved, model):
    record = lr.open(saved)
    handle = weakref.ref(record.handle)
    tensor = record[next(iter(model))]
    array = tensor.numpy()
    part = array[1:]
    record.close()
    del record, tensor, array
    gc.collect()
    assert handle() is not None
    assert np.array_equal(part, model[next(iter(model))][1:])
    del part
    assert handle() is None  # at once, without the collector of cycles


def test_closed_record(saved, model):
    record = lr.open(saved)
    tensor = record[next(iter(model))]
    record.close()
    record.close()
    with pytest.raises(ValueError, match="closed"):
        record["x"]
    assert "closed" in repr(record)
    assert np.array_equal(tensor, model[tensor.name])


def test_record_frees_its_memory_without_collector(saved):
    gc.disable()
    try:
        record = lr.open(saved)
        record.arrays(), list(record), record.tree
        handle = weakref.ref(record.handle)
        record.close()
        del record
        assert handle() is None
    finally:
        gc.enable()


def test_bytes_are_kept(saved, model):
    arrays = lr.load(saved.read_bytes())
    gc.collect()
    assert all(np.array_equal(arrays[name], array) for name, array in model.items())


@pytest.mark.parametrize("extension", ["mpk", "json", "mpk.gz"])
def test_arrays_of_other_formats_outlive_the_record(tmp_path, model, extension):
    lr.save_file(model, tmp_path / f"m.{extension}")
    arrays = lr.load_file(tmp_path / f"m.{extension}")
    gc.collect()
    assert all(np.array_equal(arrays[name], array) for name, array in model.items())


def test_saved_arrays_are_released(tmp_path):
    array = np.ones(5, np.float32)
    before = sys.getrefcount(array)
    lr.save_file({"x": array}, tmp_path / "m.mpk")
    assert sys.getrefcount(array) == before


def test_forked_child_reads_and_loads(saved, model):
    record = lr.open(saved)
    arrays = record.arrays()

    def work():
        assert all(np.array_equal(arrays[name], array) for name, array in model.items())
        assert set(lr.load_file(saved)) == set(model)
        lr.save_file(model, saved.with_suffix(".mpk"))

    assert in_child(work) == 0
    assert set(lr.load_file(saved.with_suffix(".mpk"))) == set(model)


def test_threads_share_a_record(tmp_path, model):
    lr.save_file(model, tmp_path / "m.json")
    record, failures = lr.open(tmp_path / "m.json"), []

    def work():
        for name, array in model.items():
            if not np.array_equal(record[name], array):
                failures.append(name)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_progress_of_threads_is_their_own(tmp_path, model):
    seen = {}

    def work(number):
        steps = []
        lr.save_file(model, tmp_path / f"{number}.mpk", progress=lambda *step: steps.append(threading.get_ident()))
        seen[number] = set(steps) == {threading.get_ident()}

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {number: True for number in range(4)}


def test_replaced_file_keeps_values(saved, model):
    record = lr.open(saved)
    arrays = record.arrays()
    lr.save_file({name: array + 1 for name, array in model.items()}, saved)
    assert all(np.array_equal(arrays[name], array) for name, array in model.items())
    assert all(np.array_equal(array, model[name] + 1) for name, array in lr.load_file(saved).items())


def test_file_is_saved_over_itself(saved, model):
    lr.save_file(lr.load_file(saved), saved)
    assert all(np.array_equal(array, model[name]) for name, array in lr.load_file(saved).items())


GUARDED = """
import os, sys
import numpy as np
import librecord as lr
path = sys.argv[1]
lr.save_file({"x": np.ones(1 << 20, np.float32)}, path)
if sys.argv[2] == "guarded":
    lr.guard_maps()
record = lr.open(path)
array = np.asarray(record["x"])
os.truncate(path, 4096)
print(float(array[-1]))
try:
    record.check()
except OSError as error:
    print(error.status)
"""


def test_truncated_file_with_guard():
    done = truncated("guarded")
    assert done.returncode == 0 and done.stdout.split() == ["0.0", "REC_E_IO"]


def test_truncated_file_without_guard_kills():
    assert truncated("plain").returncode == -7


def truncated(how):
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "m.safetensors")
        return subprocess.run([sys.executable, "-c", GUARDED, path, how], capture_output=True, text=True, check=False)
