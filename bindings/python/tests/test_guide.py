# SPDX-License-Identifier: MIT OR Apache-2.0
"""The programs of the guide and of the README run, one after the other, and so does the example."""
import re
import runpy
import shutil
import sys

import numpy as np
import pytest
from conftest import ROOT
from safetensors.numpy import save_file

DOCUMENTS = ["docs/guide/python.md", "bindings/python/README.md"]


@pytest.fixture
def folder(tmp_path, monkeypatch, golden):
    """The files that the documents name."""
    monkeypatch.chdir(tmp_path)
    tiny = golden / "0.18.0/tiny-full.mpk"
    for name in ("model.mpk", "old.mpk"):
        shutil.copy(tiny, name)
    (tmp_path / "truncated.mpk").write_bytes(tiny.read_bytes()[:-40])
    save_file({"fc.weight": np.zeros((2, 3), np.float32), "fc.bias": np.zeros(2, np.float32)}, "weights.safetensors")
    return tmp_path


@pytest.mark.parametrize("document", DOCUMENTS)
def test_programs_of_the_documents(folder, document):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(), re.S | re.M)
    assert blocks
    program = "".join(blocks)
    if document.endswith("README.md"):
        program = program.replace("fc.weight", "linear.weight")
    exec(compile(program, document, "exec"), {})


def test_example(folder, golden, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["example.py", str(golden / "0.18.0/mnist.mpk"), str(folder)])
    runpy.run_path(str(ROOT / "bindings/python/example.py"))
    assert "converted: Burnpack" in capsys.readouterr().out
