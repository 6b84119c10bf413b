# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each error is librecord's and Python's at once, and has the parts of the message."""
import os
import pickle
import threading

import librecord as lr
import numpy as np
import pytest


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        lr.open(tmp_path / "none.mpk")
    error = caught.value
    assert isinstance(error, lr.NoSuchFile) and error.errno == 2 and error.status == "REC_E_NOT_FOUND"
    assert error.file == str(tmp_path / "none.mpk") and error.file in str(error) and error.offset is None
    assert error.filename == error.file and error.strerror == os.strerror(2)


def test_missing_key_suggests_names(golden):
    with lr.open(golden / "0.18.0/tiny-full.mpk") as record, pytest.raises(KeyError) as caught:
        record["linear.wieght"]
    assert isinstance(caught.value, lr.NotFoundError) and "linear.weight" in str(caught.value)
    assert not str(caught.value).startswith("'")


def test_truncated_file(tmp_path, golden):
    data = (golden / "0.18.0/tiny-full.mpk").read_bytes()
    (tmp_path / "m.mpk").write_bytes(data[:-40])
    with pytest.raises(ValueError) as caught:
        lr.open(tmp_path / "m.mpk")
    error = caught.value
    assert isinstance(error, lr.FormatError) and error.offset is not None and error.path.startswith("linear")


def test_unknown_content_recorder_and_option(tmp_path, golden):
    (tmp_path / "m.dat").write_bytes(b"\x00nothing that is known" * 4)
    with pytest.raises(lr.Error):
        lr.open(tmp_path / "m.dat")
    with pytest.raises(lr.NotFoundError):
        lr.open(golden / "0.18.0/tiny-full.mpk", recorder="Nothing")
    with pytest.raises(ValueError):
        lr.open(golden / "0.18.0/tiny-full.mpk", options={"no-such-option": True})
    with pytest.raises(ValueError, match="NUL"):
        lr.open(golden / "0.18.0/tiny-full.mpk", recorder="a\0b")


def test_hostile_files_raise(golden):
    bad = golden.parent / "bad/mpk"
    raised = 0
    for path in sorted(bad.glob("*.mpk")):
        try:
            lr.load_file(path)
        except lr.Error as error:
            assert str(error) and error.status.startswith("REC_E_")
            raised += 1
    assert raised > 30


def test_error_can_be_pickled(tmp_path):
    with pytest.raises(lr.Error) as caught:
        lr.open(tmp_path / "none.mpk")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value) and str(copy) == str(caught.value)
    assert (copy.errno, copy.file, copy.status) == (2, caught.value.file, "REC_E_NOT_FOUND")
    assert copy.filename == copy.file


def test_errors_of_threads_are_not_mixed_up(tmp_path):
    wrong = []

    def work(number):
        for turn in range(50):
            path = tmp_path / f"{number}-{turn}.mpk"
            try:
                lr.open(path)
            except FileNotFoundError as error:
                if error.file != str(path):
                    wrong.append((error.file, path))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission(tmp_path):
    (tmp_path / "m.mpk").write_bytes(b"x")
    (tmp_path / "m.mpk").chmod(0)
    with pytest.raises(PermissionError):
        lr.open(tmp_path / "m.mpk")


def test_directory_is_a_system_failure_or_format(tmp_path):
    with pytest.raises(lr.Error):
        lr.open(tmp_path)


def test_nan_is_kept(tmp_path):
    lr.save_file({"x": np.array([np.nan, -0.0, np.inf], np.float32)}, tmp_path / "m.mpk")
    found = lr.load_file(tmp_path / "m.mpk")["x"]
    assert found.tobytes() == np.array([np.nan, -0.0, np.inf], np.float32).tobytes()
