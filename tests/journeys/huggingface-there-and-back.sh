#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A Llama from the Hub, in two files with its config.json, becomes a record of Burn, and goes back to the Hub's form.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack safetensors

python "the Hub's directory" <<'END'
import json, numpy, os
from safetensors.numpy import save_file
os.mkdir("TinyLlama")
config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": 16,
          "intermediate_size": 24, "vocab_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "head_dim": 4, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
          "max_position_embeddings": 64, "tie_word_embeddings": False, "torch_dtype": "float32"}
json.dump(config, open("TinyLlama/config.json", "w"))
random = numpy.random.default_rng(2)
draw = lambda *shape: random.standard_normal(shape, dtype="f4")
shards = [{"model.embed_tokens.weight": draw(40, 16)}, {"model.norm.weight": draw(16), "lm_head.weight": draw(40, 16)}]
for i, shard in enumerate(shards):
    shard.update({f"model.layers.{i}.{name}.weight": draw(*shape) for name, shape in (
        ("self_attn.q_proj", (16, 16)), ("self_attn.k_proj", (8, 16)), ("self_attn.v_proj", (8, 16)),
        ("self_attn.o_proj", (16, 16)),
        ("mlp.gate_proj", (24, 16)), ("mlp.up_proj", (24, 16)), ("mlp.down_proj", (16, 24)),
        ("input_layernorm", (16,)), ("post_attention_layernorm", (16,)))})
    save_file(shard, f"TinyLlama/model-0000{i + 1}-of-00002.safetensors", metadata={"format": "pt"})
json.dump({"metadata": {"total_size": sum(t.nbytes for s in shards for t in s.values())},
           "weight_map": {k: f"model-0000{i + 1}-of-00002.safetensors" for i, s in enumerate(shards) for k in s}},
          open("TinyLlama/model.safetensors.index.json", "w"))
END

step "what is it?" <<'END'
record info TinyLlama
END
prints "--profile llama"
step "into Burn, for a look and for keeps" <<'END'
record plan --profile llama TinyLlama
record convert --profile llama --strict TinyLlama tiny-llama.mpk
END
step "back, in files of at most 8 KB" <<'END'
mkdir back
cp TinyLlama/config.json back
record convert --profile llama --reverse --config-json back/config.json --max-shard-size 8KB \
    tiny-llama.mpk back/model.safetensors
ls back
END
prints "model.safetensors.index.json"

python "Burn's side has its layout, by Python's msgpack" <<'END'
from journey import tensors
from safetensors.numpy import load_file
record, hub = tensors("tiny-llama.mpk"), load_file("TinyLlama/model-00001-of-00002.safetensors")
down = [key for key in record if key.startswith("layers.0.") and record[key].shape == (24, 16) and
        (record[key] == hub["model.layers.0.mlp.down_proj.weight"].T).all()]
assert len(record) == 21 and len(down) == 1, sorted(record)
END
python "the Hub's side is what it was, by Python's safetensors" <<'END'
import glob, json
from journey import same
from safetensors import safe_open
from safetensors.numpy import load_file
def model(directory):
    index = json.load(open(f"{directory}/model.safetensors.index.json"))["weight_map"]
    tensors = {}
    for name in sorted(set(index.values())):
        part = load_file(f"{directory}/{name}")
        assert all(index[key] == name for key in part) and not set(part) & set(tensors), name
        assert safe_open(f"{directory}/{name}", "np").metadata()["format"] == "pt" # transformers rejects others
        tensors.update(part)
    assert set(tensors) == set(index)
    return tensors
same(model("back"), model("TinyLlama"))
assert len(glob.glob("back/*.safetensors")) > 1
END
finish
