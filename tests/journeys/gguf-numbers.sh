#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A quantised GGUF becomes numbers for other tools, in safetensors and in NumPy.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy gguf safetensors

python "gguf-py writes a model in four quantised types" <<'END'
import gguf, numpy
random = numpy.random.default_rng(5)
writer = gguf.GGUFWriter("mixed.gguf", "llama")
writer.add_name("mixed")
for name, kind in ("a.weight", "Q8_0"), ("b.weight", "Q4_0"), ("c.weight", "Q5_1"):
    kind = gguf.GGMLQuantizationType[kind]
    writer.add_tensor(name, gguf.quantize(random.standard_normal((4, 256), dtype="f4"), kind), raw_dtype=kind)
kind = gguf.GGMLQuantizationType.Q6_K # gguf-py reads it and does not write it
blocks = random.integers(0, 256, (4, gguf.GGML_QUANT_SIZES[kind][1]), dtype="u1")
blocks[:, -2:] = numpy.full(4, 0.01, "f2").view("u1").reshape(4, 2)
writer.add_tensor("d.weight", blocks, raw_dtype=kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
END
step "what is in it" <<'END'
record ls mixed.gguf
END
prints "Q6_K"
step "as f32 for one tool, as f16 for another, and the figures of both" <<'END'
record convert --adapter none --precision full mixed.gguf mixed.safetensors
record convert --adapter none --precision half mixed.safetensors mixed-half.npz
record diff --adapter none --ignore dtype,metadata mixed.safetensors mixed-half.npz
END

python "gguf-py computes the same numbers" <<'END'
import gguf, numpy
from journey import same
from safetensors.numpy import load_file
expected = {t.name: gguf.dequantize(t.data, t.tensor_type) for t in gguf.GGUFReader("mixed.gguf").tensors}
same(load_file("mixed.safetensors"), expected)
same(dict(numpy.load("mixed-half.npz")), {key: value.astype("f2") for key, value in expected.items()})
END
finish
