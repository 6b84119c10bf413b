# SPDX-License-Identifier: MIT OR Apache-2.0
"""Other people's model files: Burn 0.22's .bpk, PyTorch's .pt, NumPy's .npz and GGUF, beside those who made them."""
from rows import Beside, File, Op, Row, ours

# Those that Python's gguf can decode: Q8_K, Q1_0 and Q2_0 are missing.
QUANTS = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "TQ1_0", "TQ2_0", "IQ1_S", "IQ1_M",
          "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "MXFP4", "NVFP4")
RECORDERS = {"bpk": "Burnpack", "pt": "PyTorch", "npz": "Npz", "gguf": "Gguf"}

FILES = {
    "sparse_1.safetensors": File(ours("write-sparse {d}/sparse_1.safetensors 1", "")),
    "sparse_large.safetensors": File(ours("write-sparse {d}/sparse_large.safetensors {large}", "")),
    "burn.bpk": File(Op("store", "mb", "save {d}/burn.bpk")),
    "torch.pt": File(Op("torch", "mb", "torch-save {d}/torch.pt")),
    "numpy.npz": File(Op("gguf", "mb", "numpy-save {d}/numpy.npz")),
    "fp8.safetensors": File(ours("write-fp8 {d}/fp8.safetensors")),
    "fp8_large.safetensors": File(ours("write-fp8 {d}/fp8_large.safetensors {large}", "")),
    "layers.safetensors": File(ours("write-layers {d}/layers.safetensors")),
    "plain.gguf": File(ours("save {d}/plain.gguf Gguf full flat"), ours("check {d}/plain.gguf Gguf map")),
}
FILES |= {f"{name}.gguf": File(Op("gguf", "gguf_mb", f"gguf-write {{d}}/{name}.gguf {name}")) for name in (*QUANTS, "F32")}
FILES |= {
    f"{size}.{extension}": File(ours(f"convert {{d}}/sparse_{size}.safetensors Safetensors {{d}}/{size}.{extension} {recorder}"
                                     " map in.adapter=none in.gaps=keep", ""))
    for extension, recorder in RECORDERS.items() for size in ("1", "large")
}


def drained(bench, side):
    """Anonymous memory while numbers are decoded and written to nowhere, beyond that of a process that does nothing."""
    alone = bench.alone(side, 0, "drain {d}/fp8_large.safetensors Safetensors full map adapter=none")
    return alone.live - alone.idle


WRITE = Beside("fallocate + write", ours("raw-write {d}/raw"))


def of_format(name, file, recorder, options, load, save):
    """The rows that every format has. load, save: what it is beside, with aims."""
    read = Beside("pread, 2 threads", ours(f"raw-read {{d}}/{file} 2"))
    written = ours(f"save {{d}}/saved{name} {recorder} full flat")
    memory = ours(f"load {{d}}/{file} {recorder} 2 {options}")
    look = f"{recorder} 0 map {options}"
    return [
        Row(f"load {name} into memory", memory, load[0], at_least=load[1]),
        Row(f"load {name} into memory", memory, read, at_least=load[2]),
        Row(f"load {name} mapped, touch every byte", ours(f"load {{d}}/{file} {look} touch"),
            Beside("raw scan of the map", ours(f"raw-scan {{d}}/{file}")), at_least=load[3]),
        Row(f"save {name}", written, save[0], at_least=save[1]),
        Row(f"save {name}", written, WRITE, at_least=save[2]),
    ]


def rows(options):
    torch = Beside("torch.load(mmap=True)", Op("torch", "mb", "torch-load {d}/torch.pt mmap"))
    out = of_format(".bpk", "burn.bpk", "Burnpack", "",
                    (Beside("Burn 0.22", Op("store", "mb", "load {d}/burn.bpk")), 1, 1, 1 / 1.1),
                    (Beside("Burn 0.22", Op("store", "mb", "save {d}/store_saved.bpk")), None, 0.95))
    out.append(Row("save .bpk, until it is on the disk", ours("save {d}/saved.bpk Burnpack full flat durable"),
                   Beside("Burn 0.22", Op("store", "mb", "save {d}/store_saved.bpk")), at_least=1))
    out += of_format(".pt", "torch.pt", "PyTorch", "adapter=none",
                     (Beside("torch.load", Op("torch", "mb", "torch-load {d}/torch.pt")), 1, 1, 1 / 1.1),
                     (Beside("torch.save", Op("torch", "mb", "torch-save {d}/torch_saved.pt")), 1, None))
    out.append(Row(f"open .pt of {options.mb} MB", ours("load {d}/torch.pt PyTorch 0 map adapter=none"), torch, at_least=1))
    out += of_format(".npz", "numpy.npz", "Npz", "verify=no",
                     (Beside("NumPy", Op("gguf", "mb", "numpy-load {d}/numpy.npz")), 1, 1, 1 / 1.1),
                     (Beside("NumPy", Op("gguf", "mb", "numpy-save {d}/numpy_saved.npz")), 1, None))
    out.append(Row("load .npz into memory, verified", ours("load {d}/numpy.npz Npz 2"),
                   Beside("NumPy", Op("gguf", "mb", "numpy-load {d}/numpy.npz")), at_least=1))
    out.append(Row(f"open .npz of {options.mb} MB", ours("load {d}/numpy.npz Npz 0 map"),
                   Beside("NumPy", Op("gguf", "mb", "numpy-open {d}/numpy.npz")), at_least=1))
    out += of_format(".gguf", "plain.gguf", "Gguf", "",
                     (None, None, 1, 1 / 1.1), (None, None, 0.95))
    for name in QUANTS:
        out.append(Row(f"{options.gguf_mb} MB of f32 from {name}",
                       ours(f"load {{d}}/{name}.gguf Gguf 0 map f32 adapter=none", ""),
                       Beside("Python's gguf", Op("gguf", "gguf_mb", f"gguf-f32 {{d}}/{name}.gguf")), at_least=5))
    out.append(Row(f"{options.gguf_mb} MB of f32 from Q8_0", ours("load {d}/Q8_0.gguf Gguf 0 map f32 adapter=none", ""),
                   Beside("pread of as much f32, 2 threads", ours("raw-read {d}/F32.gguf 2", "")), at_least=0.5))
    out.append(Row(f"{options.mb} MB of f32 from FP8, blocks of 128x128",
                   ours("load {d}/fp8.safetensors Safetensors 0 map f32 adapter=none"),
                   Beside("pread of as much f32, 2 threads", ours("raw-read {d}/layers.safetensors 2")), at_least=0.5))
    out.append(Row(f"  f32 from {4 * options.large_mb} MB of FP8 to nowhere: memory", figure=drained, at_most=64,
                   needs=("fp8_large.safetensors",)))
    for extension, recorder in RECORDERS.items():
        none = " adapter=none" if extension in ("pt", "gguf", "npz") else ""
        out.append(Row(f"lazy open of .{extension}, {options.large_mb} MB",
                       ours(f"load {{d}}/large.{extension} {recorder} 0 map{none}", "", lazy=True),
                       Beside("1 MB", ours(f"load {{d}}/1.{extension} {recorder} 0 map{none}", "", lazy=True)), at_least=0.8))
    return [row for row in out if row.beside or row.figure]  # GGUF's maker neither loads nor saves in memory
