# SPDX-License-Identifier: MIT OR Apache-2.0
"""Results as TAP, and what several tests use."""
import itertools
import os
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests/data/burn"
NUMBERS = itertools.count(1)


def pytest_runtest_logreport(report):
    if report.when != "call" and not (report.failed or (report.when == "setup" and report.skipped)):
        return
    good = "not ok" if report.failed else "ok"
    reason = f" # SKIP {report.longrepr[2]}" if report.skipped else ""
    print(f"{good} {next(NUMBERS)} - {report.nodeid}{reason}", file=sys.__stdout__, flush=True)
    if report.failed:
        print("".join(f"#   {line}\n" for line in str(report.longrepr).splitlines()), end="", file=sys.__stdout__, flush=True)


def pytest_collectreport(report):
    if report.skipped:
        print(f"ok {next(NUMBERS)} - {report.nodeid} # SKIP {report.longrepr[2]}", file=sys.__stdout__)
    if report.failed:
        print(f"not ok {next(NUMBERS)} - {report.nodeid}\n# {report.longrepr}", file=sys.__stdout__)


def pytest_sessionfinish():
    print(f"1..{next(NUMBERS) - 1}", file=sys.__stdout__, flush=True)


@pytest.fixture
def model():
    """Arrays as a model of twelve layers has them."""
    random = np.random.default_rng(7)
    return {
        f"layers.{layer}.{name}": random.standard_normal(shape, dtype=np.float32)
        for layer in range(12)
        for name, shape in (("weight", (6, 4)), ("bias", (4,)))
    }


@pytest.fixture
def golden():
    return GOLDEN


def in_child(work):
    """Runs a function in a forked child and returns its wait status."""
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    return os.waitpid(child, 0)[1]
