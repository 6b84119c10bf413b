# SPDX-License-Identifier: MIT OR Apache-2.0
"""Conversion, plans, differences, and what the library lists."""
import subprocess
import sys
import types

import librecord as lr
import numpy as np
import pytest


@pytest.mark.parametrize("target", ["m.mpk", "m.bpk", "m.safetensors", "m.mpk.gz", "m.json"])
def test_golden_record_into_each_format(tmp_path, golden, target):
    source = golden / "0.18.0/zoo-full.mpk"
    report = lr.convert(source, tmp_path / target)
    assert report.target == str(tmp_path / target) and report.source == str(source)
    expected, found = lr.load_file(source), lr.load_file(tmp_path / target)
    assert len(found) == len(expected)
    assert sorted(array.tobytes() for array in found.values()) == sorted(array.tobytes() for array in expected.values())


def test_layout_and_precision(tmp_path, golden):
    lr.convert(golden / "0.13.2/tiny-full.mpk", tmp_path / "m.mpk", burn="0.18", precision="half")
    with lr.open(tmp_path / "m.mpk") as record:
        assert record.origin.version.startswith("0.18") and record["linear.weight"].dtype == np.float16


def test_foreign_model_is_adapted(tmp_path):
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    foreign(tmp_path / "m.safetensors", weight)
    lr.convert(tmp_path / "m.safetensors", tmp_path / "m.mpk", rename=[("^fc", "linear")])
    with lr.open(tmp_path / "m.mpk") as record:
        assert np.array_equal(record["linear.weight"], weight.T)


def foreign(path, weight):
    from safetensors.numpy import save_file

    save_file({"fc.weight": weight, "fc.bias": np.zeros(2, np.float32)}, path)


def test_plan_has_lines_and_problems(tmp_path):
    foreign(tmp_path / "m.safetensors", np.zeros((2, 3), np.float32))
    plan = lr.plan(tmp_path / "m.safetensors", tmp_path / "m.mpk", rename=[("^fc", "linear"), ("nothing", "x")])
    lines = {line.to: line for line in plan}
    line = lines["linear.weight"]
    assert line.action == "mapped" and line.inputs == ("fc.weight",) and line.operations == "transpose"
    assert line.shape_before == (2, 3) and line.shape_after == (3, 2) and line.dtype_after == "f32"
    assert [problem.kind for problem in plan.problems if not problem.fatal] and len(plan) == 2
    assert "<td>linear.weight</td>" in plan._repr_html_() and "2 lines" in repr(plan)
    assert not (tmp_path / "m.mpk").exists()


def test_plan_to_pandas(tmp_path, monkeypatch):
    """Without pandas itself: the rows and names that it gets."""
    given = {}
    fake = types.ModuleType("pandas")
    fake.DataFrame = lambda rows, columns: given.update(rows=list(rows), columns=columns)
    monkeypatch.setitem(sys.modules, "pandas", fake)
    foreign(tmp_path / "m.safetensors", np.zeros((2, 3), np.float32))
    lr.plan(tmp_path / "m.safetensors", tmp_path / "m.mpk").to_pandas()
    assert len(given["rows"]) == 2 and given["columns"][0] == "action"


def test_diff(golden, tmp_path):
    path = golden / "0.18.0/tiny-full.mpk"
    equal = lr.diff(path, path)
    assert equal.equal and not equal and equal["totals"]["pairs"] == 2
    half = lr.diff(path, golden / "0.18.0/tiny-half.mpk")
    assert half and [tensor["verdict"] for tensor in half["tensors"]] == ["rounded", "rounded"]
    assert lr.diff(path, golden / "0.18.0/tiny-half.mpk", atol=0.01)["totals"]["within"] == 2
    with pytest.raises(lr.Error, match="none.mpk"):
        lr.diff(path, tmp_path / "none.mpk")


def test_command(golden):
    done = subprocess.run([sys.executable, "-m", "librecord", "ls", golden / "0.18.0/tiny-full.mpk"], capture_output=True,
                          check=True, text=True)
    assert "linear.weight" in done.stdout
    assert subprocess.run([sys.executable, "-m", "librecord", "nothing"], capture_output=True, check=False).returncode == 2


def test_lists(golden, tmp_path):
    assert lr.recognise(golden / "0.18.0/tiny-full.mpk.gz") == "NamedMpkGz"
    names = {plugin.name: plugin for plugin in lr.plugins()}
    assert names["NamedMpk"].kind == "format" and names["NamedMpk"].extensions == ("mpk",) and names["NamedMpk"].can_save
    assert lr.library_version.startswith("0.")
    foreign(tmp_path / "m.safetensors", np.zeros((2, 3), np.float32))
    assert lr.families(tmp_path / "m.safetensors") == []


def test_progress_function_sees_one_operation(tmp_path, model):
    steps = []
    lr.save_file(model, tmp_path / "m.mpk", progress=lambda *step: steps.append(step))
    assert {name for name, _, _ in steps} == {"write", "check"}
    del steps[:]
    lr.convert(tmp_path / "m.mpk", tmp_path / "m.bpk", progress=lambda *step: steps.append(step))
    done = [each for _, each, _ in steps]
    assert done == sorted(done) and done[-1] == steps[-1][2] and len({total for _, _, total in steps}) == 1


class Bar:
    """tqdm's interface."""

    made = []

    def __init__(self, total=None, **_):
        self.n, self.total, self.phases, self.closed = 0, total, [], False
        Bar.made.append(self)

    def update(self, by):
        assert by >= 0
        self.n += by

    def reset(self, total=None):
        self.n, self.total = 0, total

    def set_description(self, text):
        self.phases.append(text)

    def close(self):
        self.closed = True


def test_progress_bar(tmp_path, model):
    lr.save_file(model, tmp_path / "m.mpk", progress=Bar)
    assert Bar.made[-1].closed and Bar.made[-1].phases[0] == "write"
    own = Bar()
    lr.convert(tmp_path / "m.mpk", tmp_path / "m.bpk", progress=own)
    assert not own.closed and own.phases


def test_exception_in_progress_cancels(tmp_path, model):
    def stop(*_):
        raise RuntimeError("enough")

    (tmp_path / "m.mpk").write_bytes(b"old")
    with pytest.raises(lr.Cancelled) as caught:
        lr.save_file(model, tmp_path / "m.mpk", progress=stop)
    assert isinstance(caught.value.__cause__, RuntimeError) and caught.value.status == "REC_E_CANCELLED"
    assert (tmp_path / "m.mpk").read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1
    lr.save_file(model, tmp_path / "m.mpk")


def test_interrupt_in_progress_is_not_hidden(tmp_path, model):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lr.save_file(model, tmp_path / "m.mpk", progress=stop)
    assert list(tmp_path.iterdir()) == []
