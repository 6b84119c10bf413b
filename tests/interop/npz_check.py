#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""npz_check.py RECORD

NumPy saves arrays of every element type, order and byte order under plain and odd names; RECORD, the command, converts
the files; NumPy loads what comes of them: the same values, and the same bytes as NumPy writes of arrays in C's order and
this machine's byte order (before Python 3.11.4 but for the headers of the archive). What no tensor can be is refused.
Prints TAP. Needs NumPy 1.24 or later; plugins and data are found as the command finds them.
"""
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy

count = failed = 0
record = sys.argv[1]


def report(good, what, why=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {what}" + (f" # {why}" if why and not good else ""))


def run(*args, data=None):
    done = subprocess.run([record, *args], input=data, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


def native(array):
    """As librecord has it: C's order, little-endian."""
    array = numpy.asarray(array)
    return numpy.array(array, dtype=array.dtype.newbyteorder("<"), order="C")


def content(path):
    with open(path, "rb") as file:
        return file.read()


def writes_sizes():
    """Whether this Python's zipfile marks the sizes of a header that are in its 64-bit field, as the specification asks.
    It does so since 3.11.4; before, the headers that numpy.savez writes have both."""
    with open("marks.zip", "wb") as file, zipfile.ZipFile(file, "w") as archive:
        with archive.open("a", "w", force_zip64=True):
            pass
    return content("marks.zip")[18:26] == b"\xff" * 8


def alike(path, expected):
    """The same bytes, but for what an older zipfile writes in headers."""
    if content(path) == content(expected):
        return True
    with zipfile.ZipFile(path) as a, zipfile.ZipFile(expected) as b:
        members = [(x.filename, x.CRC, x.compress_type, x.date_time, x.header_offset) for x in a.infolist()]
        return not writes_sizes() and len(content(path)) == len(content(expected)) and members == [
            (x.filename, x.CRC, x.compress_type, x.date_time, x.header_offset) for x in b.infolist()]


def same(a, b):
    return (a.dtype == b.dtype and a.shape == b.shape and
            numpy.ascontiguousarray(a).tobytes() == numpy.ascontiguousarray(b).tobytes())


def check(name, arrays):
    """Both ways of saving, to files and to a pipe, with values and bytes held against NumPy's."""
    numpy.savez("expected.npz", **{key: native(array) for key, array in arrays.items()})
    numpy.savez_compressed("expected-small.npz", **{key: native(array) for key, array in arrays.items()})
    numpy.savez("in.npz", **arrays)
    numpy.savez_compressed("in-small.npz", **arrays)
    for source in ("in.npz", "in-small.npz"):
        for options, expected in (([], "expected.npz"), (["--option", "compress=yes"], "expected-small.npz")):
            what = f"{name}: {source} to {expected[9:]}"
            status, _, words = run("convert", "--check", *options, source, "out.npz")
            if status:
                report(False, what, words)
                continue
            with numpy.load("out.npz") as found:
                good = list(found.keys()) == list(arrays)
                good = good and all(same(found[key], native(array)) for key, array in arrays.items())
            report(good, f"{what}, values")
            # Another zlib may compress otherwise.
            report(options or alike("out.npz", expected), f"{what}, bytes")
            status, piped, words = run("convert", "--to", "Npz", *options, source, "-")
            report(status == 0 and piped == content("out.npz"), f"{what}, through a pipe", words)
    status, _, words = run("convert", "--adapter", "none", "in.npz", "whole.mpk")
    status, _, words = (status, None, words) if status else run("convert", "whole.mpk", "back.npz")
    good = status == 0
    if good:
        with numpy.load("back.npz") as found:
            good = sorted(found.keys()) == sorted(arrays)
            good = good and all(same(found[key], native(array)) for key, array in arrays.items())
    report(good, f"{name}: through MessagePack and back", words)


def every_type():
    random = numpy.random.default_rng(7)
    arrays = {}
    for code in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"):
        for order in "<>":
            bits = random.integers(0, 256, (5, 3, 7) + (int(code[1]),), dtype="u1")
            array = (bits[..., 0] & 1).astype("b1") if code == "b1" else bits.view(order + code)[..., 0]
            arrays[f"{code}.{'le' if order == '<' else 'be'}.c"] = numpy.ascontiguousarray(array)
            arrays[f"{code}.{'le' if order == '<' else 'be'}.f"] = numpy.asfortranarray(array)
    return arrays


def every_shape():
    shapes = [(), (1,), (0,), (3,), (0, 4), (4, 0), (1, 5), (5, 1), (2, 3), (2, 0, 3), (1, 1, 1), (2, 3, 4, 5), (1,) * 32,
              (2,) * 12, (300, 7), (1000003,)]
    return {f"shape.{i}": numpy.asfortranarray(numpy.arange(int(numpy.prod(shape)), dtype="f4").reshape(shape))
            for i, shape in enumerate(shapes)}


def odd_names():
    names = ["x\\y", "a..b", "..", ".first", "last.", "\\", "\\.", "a\\.b", "../up", "/", "a/b", " ", "\u00e9\u20ac\U0001f600",
             "line\nbreak", "0", "list.0", "list.1", "list.5", "%s", "arr_0", "a.npy", "~", "\"'", "\x7f"]
    return {name: numpy.full(i + 1, i, "i4") for i, name in enumerate(names)}


def refusals():
    for what, array, words in (
            ("objects", numpy.array([{}, None], dtype=object), "Python objects"),
            ("complex numbers", numpy.zeros(2, "c8"), "complex numbers"),
            ("strings", numpy.array(["a", "bc"]), "strings"),
            ("bytes", numpy.array([b"a", b"bc"]), "strings"),
            ("structures", numpy.zeros(2, [("a", "f4"), ("b", "i2")]), "structures"),
            ("dates", numpy.zeros(2, "M8[s]"), "dates"),
            ("void", numpy.zeros(2, "V3"), "raw bytes"),
            ("long doubles", numpy.zeros(2, "g"), "floats of a size")):
        numpy.savez("odd.npz", good=numpy.zeros(1), odd=array)
        status, _, said = run("ls", "odd.npz")
        report(status == 0 and "odd" in said and words in said, f"{what} are listed and left out", said)
        numpy.save("odd.npy", array, allow_pickle=True)
        status, _, said = run("ls", "odd.npy")
        report(status == 2 and words in said, f"{what} are refused alone", said)


def alone():
    for name, array in {**every_shape(), **every_type()}.items():
        numpy.save("one.npy", array)
        numpy.save("expected.npy", native(array))
        status, _, words = run("convert", "one.npy", "out.npy")
        if status or content("out.npy") != content("expected.npy"):
            report(False, f"{name} as .npy", words)
            return
    report(True, "every type and shape as .npy, bytes")


def others():
    with zipfile.ZipFile("mixed.npz", "w") as archive:
        numpy.save("one.npy", numpy.arange(3))
        archive.write("one.npy", "array.npy")
        archive.write("one.npy", "bare")
        archive.writestr("notes.txt", "not an array")
        archive.writestr("folder/", "")
    status, _, words = run("convert", "mixed.npz", "out.npz")
    report(status == 0 and "1 member of the archive other than arrays, the first notes.txt: left out" in words,
           "what is no array is left out and told", words)
    with numpy.load("out.npz") as found:
        report(sorted(found.keys()) == ["array", "bare"], "and what is one is there")
    with zipfile.ZipFile("other.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.write("one.npy", "array.npy")
    status, _, words = run("ls", "other.npz")
    report(status == 2 and "bzip2" in words, "another compression is refused", words)
    unseekable = subprocess.run(
        [sys.executable, "-c", "import numpy, sys; numpy.savez_compressed(sys.stdout.buffer, a=numpy.arange(5))"],
        capture_output=True, check=True).stdout
    status, _, words = run("convert", "--from", "Npz", "-", "out.npz", data=unseekable)
    report(status == 0, "sizes behind the data, through a pipe", words)
    with numpy.load("out.npz") as found:
        report(list(found["a"]) == [0, 1, 2, 3, 4], "and the values")


def many():
    arrays = {f"a{i}": numpy.uint16(i & 0xffff) for i in range(66000)}
    numpy.savez("many.npz", **arrays)
    status, _, words = run("convert", "many.npz", "out.npz")
    report(status == 0 and alike("out.npz", "many.npz"), "66,000 members, counted in 64 bits", words)


def main():
    if tuple(int(part) for part in numpy.__version__.split(".")[:2]) < (1, 24):
        print(f"1..0 # SKIP NumPy {numpy.__version__} writes other headers than 1.24 and later")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check("every type", every_type())
        check("every shape", every_shape())
        check("odd names", odd_names())
        check("no array", {})
        alone()
        refusals()
        others()
        many()
    print(f"1..{count}")
    print(f"# NumPy {numpy.__version__}: {count - failed} of {count} passed")
    return failed != 0


sys.exit(main())
