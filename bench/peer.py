# SPDX-License-Identifier: MIT OR Apache-2.0
"""What users of Python would take: one operation a line of standard input, each answered with "seconds cpu peak anonymous".

    peer.py MEGABYTES        bench/run is its only user
    safetensors-open FILE    the header's names
    torch-save FILE, torch-load FILE [mmap], numpy-save FILE, numpy-load FILE, numpy-open FILE
    gguf-write FILE TYPE     a file of blocks of that type whose values are a payload of f32
    gguf-f32 FILE            all of its tensors as f32
"""
import os
import sys
import time

MEGABYTES = int(sys.argv[1])
SIDE = 1024


def payload():
    """Layers of gaussian f32, as NumPy has them."""
    import numpy
    if not hasattr(payload, "layers"):
        random = numpy.random.default_rng(42)
        payload.layers = {f"layers.{i}.weight": random.standard_normal((SIDE, SIDE), dtype=numpy.float32)
                          for i in range(MEGABYTES // 4)}
    return payload.layers


def timed(work):
    """Seconds and seconds of CPU; what the work made is freed outside the time."""
    cpu, start = time.process_time(), time.perf_counter()
    made = work()
    span = time.perf_counter() - start, time.process_time() - cpu
    assert made is not False
    return span


def written(path, work):
    if os.path.exists(path):
        os.unlink(path)
    span = timed(work)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    return span


def safetensors_open(path):
    from safetensors import safe_open

    def work():
        with safe_open(path, framework="np") as file:
            return len(list(file.keys())) > 0
    return timed(work)


def torch_save(path):
    import torch
    model = {name: torch.from_numpy(values) for name, values in payload().items()}
    return written(path, lambda: torch.save(model, path))


def torch_load(path, how=""):
    import torch
    return timed(lambda: torch.load(path, weights_only=True, mmap=how == "mmap"))


def numpy_save(path):
    import numpy
    return written(path, lambda: numpy.savez(path, **payload()))


def numpy_load(path):
    import numpy

    def work():
        with numpy.load(path) as file:
            return {name: file[name] for name in file.files}
    return timed(work)


def numpy_open(path):
    import numpy

    def work():
        with numpy.load(path) as file:
            return len(file.files) > 0
    return timed(work)


def gguf_write(path, name):
    """Random blocks: how fast they become numbers does not depend on which. Their scales are numbers, no infinities."""
    import gguf
    import numpy
    kind = gguf.GGMLQuantizationType[name]
    block, size = gguf.GGML_QUANT_SIZES[kind]
    random = numpy.random.default_rng(42)
    writer = gguf.GGUFWriter(path, "llama")
    for i in range(MEGABYTES // 4):
        data = random.integers(0, 0x70, (SIDE, SIDE // block * size), dtype=numpy.uint8)
        writer.add_tensor(f"blk.{i}.ffn_up.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return 0, 0


def gguf_f32(path):
    import gguf
    from gguf import quants

    def work():
        reader = gguf.GGUFReader(path)
        return [quants.dequantize(tensor.data, tensor.tensor_type) for tensor in reader.tensors]
    return timed(work)


def mib(name):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


OPERATIONS = {f.__name__.replace("_", "-"): f for f in (safetensors_open, torch_save, torch_load, numpy_save, numpy_load,
                                                        numpy_open, gguf_write, gguf_f32)}
for request in sys.stdin:
    words = request.split()
    seconds, spent = (0, 0) if words[0] == "nothing" else OPERATIONS[words[0]](*words[1:])
    print(f"{seconds:.9f} {spent:.9f} {mib('VmHWM'):.3f} {mib('RssAnon'):.3f}", flush=True)
