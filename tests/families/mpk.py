# SPDX-License-Identifier: MIT OR Apache-2.0
"""The parameters of a NamedMpk file, read with nothing but Python: for tests that must not trust librecord to read."""
import hashlib
import struct


class Messages:
    """MessagePack, as much of it as records have."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, code):
        return struct.unpack(">" + code, self.take(struct.calcsize(code)))[0]

    def value(self):
        byte = self.take(1)[0]
        if byte < 0x80:
            return byte
        if byte < 0x90:
            return self.map(byte & 15)
        if byte < 0xA0:
            return self.list(byte & 15)
        if byte < 0xC0:
            return self.take(byte & 31).decode()
        if byte >= 0xE0:
            return byte - 256
        if byte in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[byte]
        if byte in (0xC4, 0xC5, 0xC6):
            return self.take(self.number("BHI"[byte - 0xC4]))
        if byte in (0xD9, 0xDA, 0xDB):
            return self.take(self.number("BHI"[byte - 0xD9])).decode()
        if byte in (0xDC, 0xDD):
            return self.list(self.number("HI"[byte - 0xDC]))
        if byte in (0xDE, 0xDF):
            return self.map(self.number("HI"[byte - 0xDE]))
        return self.number({0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h",
                            0xD2: "i", 0xD3: "q"}[byte])

    def list(self, count):
        return [self.value() for _ in range(count)]

    def map(self, count):
        return {self.value(): self.value() for _ in range(count)}


def tensors_of(value, path=""):
    """The parameters of a record: path -> (dtype, shape, sha256)."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {path: value} if value is not None else {}
    if set(value) == {"id", "param"}:
        return tensors_of(value["param"], path)
    if {"bytes", "shape", "dtype"} <= set(value):
        data = value["bytes"]
        dtype = value["dtype"]
        if isinstance(dtype, dict):
            dtype = next(iter(dtype.values()))
        return {path: (dtype.upper(), value["shape"], hashlib.sha256(bytes(data)).hexdigest())}
    out = {}
    for name, item in value.items():
        out |= tensors_of(item, f"{path}.{name}" if path else str(name))
    return out


def read(path):
    with open(path, "rb") as file:
        return tensors_of(Messages(file.read()).value()["item"])
