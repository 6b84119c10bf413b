# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes PyTorch's own files with real torch, and what is in each: make.py FOLDER [NAME…]

NAME.pt, and NAME.tsv: key, dtype, shape and bytes in hex (row-major, little-endian) of each tensor of the model in it, or
`!` and words that the refusal must say. The golden files in tests/data/pytorch/ were made so, by torch
1.13.1 and 2.8.0; tests/interop/run does it with the torch it has."""
import argparse
import collections
import io
import os
import sys
import warnings
import zipfile

import numpy
import torch

warnings.simplefilter("ignore")
NEW = tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 3)


def raw(tensor):
    tensor = tensor.detach().resolve_conj().contiguous()
    return tensor.view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def twin(tensors):
    return [(k, str(t.dtype)[6:], ",".join(map(str, t.shape)), raw(t).hex()) for k, t in tensors.items()]


def refused(words):
    return [("!", words)]


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def save(value, **how):
    target = io.BytesIO()
    torch.save(value, target, **how)
    return target.getvalue()


def tiny():
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.Embedding(3, 2))


def every():
    """All element types that both versions have, with values of both signs."""
    types = dict(f64=torch.float64, f32=torch.float32, f16=torch.float16, bf16=torch.bfloat16, i64=torch.int64,
                 i32=torch.int32, i16=torch.int16, i8=torch.int8, u8=torch.uint8)
    found = {name: torch.tensor([0, 1, 100, 3]).to(t) if name == "u8" else torch.tensor([0, 1, -100, 3]).to(t)
             for name, t in types.items()}
    found["b"] = torch.tensor([True, False, True])
    found["scalar"] = torch.tensor(2.5)
    found["empty"] = torch.zeros(0, 3)
    return found


def views():
    base = torch.arange(24, dtype=torch.float32)
    grid = base.view(4, 6)
    return {
        "whole": grid,
        "transposed": grid.t(),
        "columns": grid[:, 1:6:2],
        "row": grid[2],
        "tail": base[20:],
        "expanded": base[5:6].expand(3),
        "outer": base[:2].unsqueeze(1).expand(2, 3),
        "permuted": torch.arange(24, dtype=torch.int16).view(2, 3, 4).permute(2, 0, 1),
        "bytes": torch.arange(12, dtype=torch.uint8).view(3, 4).t(),
        "windows": base.as_strided((4, 3), (2, 1), 3),
        "half": torch.arange(6).to(torch.float16).view(2, 3).t(),
        "channels": torch.arange(16, dtype=torch.float32).view(1, 2, 2, 4).to(memory_format=torch.channels_last),
    }


@case
def zip_types():
    return save(every()), twin(every())


@case
def zip_views():
    return save(views()), twin(views())


@case
def zip_module():
    model = tiny()
    return save(model.state_dict()), twin(model.state_dict())


@case
def zip_shared():
    one = torch.arange(6.0).view(2, 3)
    found = collections.OrderedDict(wte=one, head=one, part=one[1])
    return save(found), twin(found)


@case
def zip_parameters():
    found = {"w": torch.nn.Parameter(torch.arange(4.0)), "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False)}
    return save(found), twin(found)


def protocol(number):
    def make():
        model = tiny()
        return save(model.state_dict(), pickle_protocol=number), twin(model.state_dict())
    return make


for number in (3, 4, 5):
    CASES[f"zip_protocol{number}"] = protocol(number)


def checkpoint():
    model = tiny()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    return model, optimizer


@case
def zip_lightning():
    model, optimizer = checkpoint()
    found = {"epoch": 3, "global_step": 120, "pytorch-lightning_version": "1.9.0",
             "state_dict": collections.OrderedDict(("model." + k, v) for k, v in model.state_dict().items()),
             "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"total": {"ready": 4}}}}, "callbacks": {},
             "optimizer_states": [optimizer.state_dict()], "lr_schedulers": [], "hparams_name": "kwargs",
             "hyper_parameters": {"lr": 0.5, "betas": (0.9, 0.999), "name": "tiny", "big": 1 << 62, "none": None}}
    return save(found), twin(found["state_dict"])


@case
def zip_optimizer():
    _, optimizer = checkpoint()
    return save(optimizer.state_dict()), None


@case
def zip_nested():
    model = tiny().state_dict()
    found = {"encoder": model, "decoder": {"weight": torch.ones(2), "layers": [{"a": torch.zeros(1)}, {"a": torch.ones(1)}]}}
    flat = {"encoder." + k: v for k, v in model.items()}
    flat.update({"decoder.weight": torch.ones(2), "decoder.layers.0.a": torch.zeros(1), "decoder.layers.1.a": torch.ones(1)})
    return save(found), twin(flat)


@case
def zip_values():
    return save({"t": torch.ones(1), "size": torch.Size([2, 3]), "device": torch.device("cuda", 1), "dtype": torch.float16,
                 "bytes": b"\x00\x7f\x80\xff", "array": bytearray(b"ab"), "set": {1}, "complex": 1 + 2j, "none": None,
                 "text": "h\u00e9", "true": True, "negative": -5, "wide": (1 << 64) - 1, "layout": torch.strided}), None


@case
def legacy_types():
    return save(every(), _use_new_zipfile_serialization=False), twin(every())


@case
def legacy_views():
    return save(views(), _use_new_zipfile_serialization=False), twin(views())


@case
def legacy_module():
    model = tiny()
    return save(model.state_dict(), _use_new_zipfile_serialization=False), twin(model.state_dict())


@case
def legacy_protocol4():
    model = tiny()
    return save(model.state_dict(), _use_new_zipfile_serialization=False, pickle_protocol=4), twin(model.state_dict())


@case
def zip_deflated():
    """Packed again by other hands: deflated, the pickle last."""
    model = tiny()
    source = zipfile.ZipFile(io.BytesIO(save(model.state_dict())))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as z:
        for name in reversed(source.namelist()):
            z.writestr(zipfile.ZipInfo(name), source.read(name), zipfile.ZIP_DEFLATED)
    return target.getvalue(), twin(model.state_dict())


@case
def zip_big_endian():
    """As a machine of the other byte order writes it."""
    found = {k: v for k, v in every().items() if v.numel()}
    found.update(view=torch.arange(6, dtype=torch.int32).view(2, 3).t(), complex=torch.tensor([1 + 2j, -3.5j]))
    source = zipfile.ZipFile(io.BytesIO(save(found)))
    widths = [t.dtype.itemsize if hasattr(t.dtype, "itemsize") else t.element_size() for t in found.values()]
    widths[-1] //= 2
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as z:
        for name in source.namelist():
            data = source.read(name)
            number = name.rsplit("/data/")[-1]
            if name.endswith("/byteorder"):
                continue
            if "/data/" in name:
                w = widths[int(number)]
                data = b"".join(data[i:i + w][::-1] for i in range(0, len(data), w))
            z.writestr(zipfile.ZipInfo(name), data)
        z.writestr(zipfile.ZipInfo(source.namelist()[0].split("/")[0] + "/byteorder"), "big")
    return target.getvalue(), twin(found)


def whole():
    """A module with a buffer that state_dict() leaves out, and one without parameters."""
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.BatchNorm1d(2))
    net.register_buffer("scratch", torch.ones(2), persistent=False)
    return net


@case
def zip_whole_module():
    net = whole()
    return save(net), twin(net.state_dict())


@case
def legacy_whole_module():
    net = whole()
    return save(net, _use_new_zipfile_serialization=False), twin(net.state_dict())


@case
def zip_stepped_over():
    """Objects of classes that nobody knows stand beside the model; one has itself in it."""
    found, args = dict(whole().state_dict()), argparse.Namespace(rate=0.1)
    args.self = args
    history = collections.defaultdict(list, loss=[1.0])
    return save({"state_dict": found, "args": args, "history": history}), twin(found)


@case
def zip_defaultdict():
    found = collections.defaultdict(float, whole().state_dict())
    return save(found), twin(found)


@case
def zip_numpy():
    """Numbers of NumPy's are data; its arrays stand beside the model."""
    found = dict(whole().state_dict())
    return save({"state_dict": found, "best": numpy.float64(0.5), "step": numpy.int32(-3),
                 "mean": numpy.ones(3, "f2")}), twin(found)


def arrays():
    """Arrays of NumPy's in each order of elements and of bytes, and the tensors that they are."""
    base = numpy.arange(-3, 9, dtype="f4").reshape(3, 4)
    found = {"plain": base, "columns": numpy.asfortranarray(base), "swapped": base.astype(">f8"),
             "both": numpy.asfortranarray(base.astype(">i2").reshape(2, 2, 3)), "half": base.astype("f2"),
             "bools": base > 2, "bytes": numpy.arange(256, dtype="u1"), "number": numpy.array(0.5),
             "empty": numpy.ones((0, 3)), "c.0": base[:2].astype("i8"), "c.1": base.T}
    native = {k: numpy.ascontiguousarray(a).astype(a.dtype.newbyteorder("=")).reshape(a.shape) for k, a in found.items()}
    return found, twin({k: torch.from_numpy(a) for k, a in native.items()})


@case
def zip_numpy_arrays():
    return save(arrays()[0]), arrays()[1]


@case
def zip_numpy_protocol5():
    return save({"params": arrays()[0], "names": numpy.array(["a", "b"])}, pickle_protocol=5), arrays()[1]


@case
def zip_numpy_beside():
    """A text of NumPy's in a model is no tensor; arrays of another class are stepped over next to the model."""
    found = dict(whole().state_dict())
    return save({"state_dict": {**found, "names": numpy.array(["a", "b"])}, "mean": numpy.ones(3),
                 "matrix": numpy.matrix([[1.0]])}), twin(found)


@case
def refused_inside():
    return save({"w": torch.ones(1), "args": argparse.Namespace(rate=0.1)}), refused("argparse.Namespace")


@case
def refused_sparse():
    return save({"s": torch.eye(3).to_sparse()}), refused("sparse")


@case
def refused_quantised():
    return save({"q": torch.quantize_per_tensor(torch.ones(3), 0.5, 1, torch.qint8)}), refused("quantised")


@case
def refused_conjugate():
    """(Before 2.0 torch forgets that, and loads other values than it saved.)"""
    if not NEW:
        return None
    return save({"c": torch.tensor([1 + 2j]).conj()}), refused("conjugate")


class Marked(torch.Tensor):
    pass


Marked.__module__ = "elsewhere"
sys.modules["elsewhere"] = sys.modules[__name__]


@case
def refused_subclass():
    return save({"m": torch.ones(2).as_subclass(Marked)}), refused("elsewhere.Marked")


class Command:
    def __reduce__(self):
        return os.system, ("true",)


@case
def refused_command():
    return save({"w": torch.ones(1), "evil": Command()}), refused(os.system.__module__ + ".system")


@case
def refused_script():
    target = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), target)
    return target.getvalue(), refused("TorchScript")


@case
def attributes():
    """A tensor with attributes of its own, which are none of a record's."""
    one = torch.ones(2)
    one.note = "kept by Python"
    return save({"w": one}), twin({"w": one})


if NEW:
    @case
    def new_types():
        found = {"u16": torch.tensor([1, 65535], dtype=torch.uint16), "u32": torch.tensor([7], dtype=torch.uint32),
                 "u64": torch.tensor([1 << 63], dtype=torch.uint64).t(), "e4m3": torch.ones(3).to(torch.float8_e4m3fn),
                 "e5m2": torch.ones(3).to(torch.float8_e5m2), "c64": torch.tensor([1 + 2j]),
                 "strided": torch.arange(6).to(torch.uint16).view(2, 3).t()}
        return save(found), twin(found)


def main():
    folder, wanted = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for name, make in CASES.items():
        if wanted and name not in wanted:
            continue
        made = make()
        if made is None:
            continue
        data, what = made
        with open(os.path.join(folder, name + ".pt"), "wb") as file:
            file.write(data)
        if what is not None:
            with open(os.path.join(folder, name + ".tsv"), "w") as file:
                file.writelines("\t".join(line) + "\n" for line in what)
    print(f"{len(CASES)} cases of torch {torch.__version__}")


main()
