#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The name and licence of a quantised GGUF are corrected. All other keys keep their values and types: llama.cpp looks
# keys up by type.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy gguf

python "gguf-py writes a quantised model" <<'END'
import gguf, numpy
writer = gguf.GGUFWriter("tiny-Q8_0.gguf", "llama")
writer.add_name("tniy")
writer.add_context_length(2048)
writer.add_block_count(1)
writer.add_rope_freq_base(10000.0)
writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
writer.add_add_bos_token(True)
writer.add_tokenizer_model("llama")
writer.add_token_list(["<s>", "a", "b"])
writer.add_token_scores([0.0, -1.0, -2.0])
writer.add_token_types([3, 1, 1])
random = numpy.random.default_rng(4)
for name, shape in ("token_embd.weight", (3, 64)), ("blk.0.ffn_down.weight", (64, 32)):
    data = gguf.quantize(random.standard_normal(shape, dtype="f4"), gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor(name, data, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
writer.add_tensor("output_norm.weight", numpy.ones(64, "f4"))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
END
step "it has the wrong name" <<'END'
record info tiny-Q8_0.gguf
END
prints "general.name = tniy"
step "it is corrected, and gets a licence" <<'END'
record edit tiny-Q8_0.gguf meta general.name tiny meta general.license apache-2.0 -o tiny-fixed.gguf
record info --all tiny-fixed.gguf
END
prints "general.license = apache-2.0"

python "by gguf-py only these two keys changed" <<'END'
import gguf
def describe(path):
    reader = gguf.GGUFReader(path)
    keys = {key: [field.types, field.contents()] for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    return keys, [(t.name, t.tensor_type, t.shape.tolist(), t.data.tobytes()) for t in reader.tensors]
before, tensors = describe("tiny-Q8_0.gguf")
after, same_tensors = describe("tiny-fixed.gguf")
before["general.name"][1] = "tiny"
before["general.license"] = [[gguf.GGUFValueType.STRING], "apache-2.0"]
assert after == before, (before, after)
assert same_tensors == tensors
END
finish
