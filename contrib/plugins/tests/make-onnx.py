#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""make-onnx.py DIRECTORY: writes the .onnx files of tests/files with the package onnx.

kinds     initializers of each element type, in raw_data and in the fields for numbers; packed and one by one; a string
          and an int4, which records lack
nodes     matrices that nodes use in every way: MatMul, Gemm with and without transB, after Transpose, under two names
external  data in w/one.bin and w/deep/two.bin
"""
import os
import sys

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

ARRAY = np.array([[0, 1, 2], [3, 4, 5]])


def model(initializers, nodes=()):
    graph = helper.make_graph(list(nodes), "graph", [], [], list(initializers))
    made = helper.make_model(graph, producer_name="make-onnx", opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 9
    return made


def kinds():
    names = {"FLOAT": np.float32, "DOUBLE": np.float64, "FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16,
             "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64, "UINT8": np.uint8,
             "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64, "BOOL": np.bool_,
             "COMPLEX64": np.complex64, "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn}
    made = []
    for name, dtype in names.items():
        array = (ARRAY - (3 if name.startswith("INT") else 0)).astype(dtype)
        made.append(numpy_helper.from_array(array, f"raw.{name}"))
        typed = TensorProto(name=f"typed.{name}", dims=array.shape, data_type=getattr(TensorProto, name))
        flat = array.reshape(-1)
        if name in ("FLOAT16", "BFLOAT16"):
            typed.int32_data.extend(flat.view(np.uint16).tolist())
        elif name == "FLOAT8E4M3FN":
            typed.int32_data.extend(flat.view(np.uint8).tolist())
        elif name == "COMPLEX64":
            typed.float_data.extend(flat.view(np.float32).tolist())
        else:
            field = {"FLOAT": "float", "DOUBLE": "double", "INT64": "int64", "UINT32": "uint64", "UINT64": "uint64"}
            getattr(typed, field.get(name, "int32") + "_data").extend(flat.tolist() if name != "BOOL" else flat.astype(np.int32).tolist())
        made.append(typed)
    made.append(helper.make_tensor("string", TensorProto.STRING, [1], [b"word"]))
    made.append(helper.make_tensor("int4", TensorProto.INT4, [2], [1, 2]))
    return model(made)


def write_kinds(path):
    """Adds a tensor whose numbers are fields of their own, which the package does not write, to the end of the graph."""
    made = kinds()
    single = TensorProto(name="single", dims=[3], data_type=TensorProto.INT64).SerializeToString()
    single += b"".join(bytes([7 << 3, number]) for number in (5, 6, 7))
    graph = made.graph.SerializeToString() + bytes([5 << 3 | 2, len(single)]) + single
    made.ClearField("graph")
    size = len(graph)
    head = bytearray([7 << 3 | 2])
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    head.append(size)
    with open(path, "wb") as file:
        file.write(made.SerializeToString() + bytes(head) + graph)


def nodes():
    shape = {"mul": 6, "gemm": 6, "gemm_b": 6, "turned": 6, "left": 6, "both": 6, "twice": 6, "table": 6}
    made = [numpy_helper.from_array(np.arange(size, dtype=np.float32).reshape(2, 3), name) for name, size in shape.items()]
    made.append(numpy_helper.from_array(np.ones(3, np.float32), "onnx::MatMul_7"))
    node = helper.make_node
    return model(made, [
        node("MatMul", ["x", "mul"], ["a"]), node("Gemm", ["x", "gemm"], ["b"]),
        node("Gemm", ["x", "gemm_b"], ["c"], transB=1), node("Transpose", ["turned"], ["t"], perm=[1, 0]),
        node("MatMul", ["x", "t"], ["d"]), node("MatMul", ["left", "x"], ["e"]),
        node("MatMul", ["x", "both"], ["f"]), node("Gemm", ["x", "both"], ["g"], transB=1),
        node("Identity", ["twice"], ["again"]), node("MatMul", ["x", "again"], ["h"]),
        node("Gather", ["table", "i"], ["j"]),
        node("MatMul", ["x", "onnx::MatMul_7"], ["k"], name="/block/layers.0/MatMul"),
        node("Constant", [], ["l"], value=numpy_helper.from_array(np.ones(2, np.float32), "c")),
    ])


def external(directory):
    os.makedirs(os.path.join(directory, "w/deep"), exist_ok=True)
    made = []
    for name, place, offset in ("one", "w/one.bin", 0), ("two", "w/deep/two.bin", 8), ("three", "w/one.bin", 24):
        tensor = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3) + offset, name)
        with open(os.path.join(directory, place), "r+b" if offset > 8 else "wb") as file:
            file.seek(offset)
            file.write(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in ("location", place), ("offset", offset), ("length", 24):
            tensor.external_data.add(key=key, value=str(value))
        made.append(tensor)
    return model(made)


def main(directory):
    os.makedirs(directory, exist_ok=True)
    write_kinds(os.path.join(directory, "kinds.onnx"))
    for name, made in ("nodes", nodes()), ("external", external(directory)):
        with open(os.path.join(directory, f"{name}.onnx"), "wb") as file:
            file.write(made.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])
