# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tiny models of families of which there is no real file here: keys and shapes as their programs save them, numbers of
no meaning. Square matrices wherever the architecture allows them, so that a wrong transpose shows in the bytes alone."""
import random
import struct

from reference import Tensor

E = 24  # the width of everything


def linear(name, out, into, bias=True):
    return {f"{name}.weight": [out, into]} | ({f"{name}.bias": [out]} if bias else {})


def norm(name, size=E, bias=True):
    return {f"{name}.weight": [size]} | ({f"{name}.bias": [size]} if bias else {})


def batch_norm(name, size):
    return norm(name, size) | {f"{name}.running_mean": [size], f"{name}.running_var": [size],
                               f"{name}.num_batches_tracked": ("I64", [])}


def conv(name, out, into, *kernel, bias=True):
    return {f"{name}.weight": [out, into, *kernel]} | ({f"{name}.bias": [out]} if bias else {})


def joined(*parts):
    out = {}
    for part in parts:
        assert not set(out) & set(part)
        out |= part
    return out


def llama(heads=4, kv=2, d=6, layers=2, bias=False, head=True, norms=True, moe=0, inv_freq=False):
    out = {"model.embed_tokens.weight": [50, E]}
    for i in range(layers):
        layer = f"model.layers.{i}"
        attention = f"{layer}.self_attn"
        out |= joined(linear(f"{attention}.q_proj", heads * d, E, bias), linear(f"{attention}.k_proj", kv * d, E, bias),
                      linear(f"{attention}.v_proj", kv * d, E, bias), linear(f"{attention}.o_proj", E, heads * d, False),
                      norm(f"{layer}.input_layernorm", bias=False), norm(f"{layer}.post_attention_layernorm", bias=False))
        if inv_freq:
            out[f"{attention}.rotary_emb.inv_freq"] = [d // 2]
        if moe:
            block = f"{layer}.block_sparse_moe"
            out |= linear(f"{block}.gate", moe, E, False)
            for e in range(moe):
                out |= joined(linear(f"{block}.experts.{e}.w1", 20, E, False), linear(f"{block}.experts.{e}.w3", 20, E, False),
                              linear(f"{block}.experts.{e}.w2", E, 20, False))
        else:
            out |= joined(linear(f"{layer}.mlp.gate_proj", E, E, False), linear(f"{layer}.mlp.up_proj", E, E, False),
                          linear(f"{layer}.mlp.down_proj", E, E, False))
    out |= norm("model.norm", bias=False)
    return out | ({"lm_head.weight": [50, E]} if head else {})


def llama_meta():
    out = {"tok_embeddings.weight": [50, E], "norm.weight": [E], "output.weight": [50, E]}
    for i in range(2):
        layer = f"layers.{i}"
        out |= joined(*(linear(f"{layer}.attention.{w}", E, E, False) for w in ("wq", "wk", "wv", "wo")),
                      *(linear(f"{layer}.feed_forward.{w}", E, E, False) for w in ("w1", "w2", "w3")),
                      norm(f"{layer}.attention_norm", bias=False), norm(f"{layer}.ffn_norm", bias=False))
    return out


def phi3(heads, kv, d):
    out = {"model.embed_tokens.weight": [50, E]}
    for i in range(2):
        layer = f"model.layers.{i}"
        out |= joined(linear(f"{layer}.self_attn.qkv_proj", (heads + 2 * kv) * d, E, False),
                      linear(f"{layer}.self_attn.o_proj", E, heads * d, False),
                      linear(f"{layer}.mlp.gate_up_proj", 2 * E, E, False), linear(f"{layer}.mlp.down_proj", E, E, False),
                      norm(f"{layer}.input_layernorm", bias=False), norm(f"{layer}.post_attention_layernorm", bias=False))
    return out | norm("model.norm", bias=False) | {"lm_head.weight": [50, E]}


def phi():
    out = {"model.embed_tokens.weight": [50, E]}
    for i in range(2):
        layer = f"model.layers.{i}"
        out |= joined(*(linear(f"{layer}.self_attn.{w}", E, E) for w in ("q_proj", "k_proj", "v_proj", "dense")),
                      linear(f"{layer}.mlp.fc1", 48, E), linear(f"{layer}.mlp.fc2", E, 48), norm(f"{layer}.input_layernorm"),
                      {f"{layer}.self_attn.rotary_emb.inv_freq": [2]})
    return out | norm("model.final_layernorm") | linear("lm_head", 50, E)


def gpt_neox():
    out = {"gpt_neox.embed_in.weight": [50, E], "embed_out.weight": [50, E]}
    for i in range(11):  # two digits
        layer = f"gpt_neox.layers.{i}"
        out |= joined(linear(f"{layer}.attention.query_key_value", 3 * E, E), linear(f"{layer}.attention.dense", E, E),
                      linear(f"{layer}.mlp.dense_h_to_4h", 48, E), linear(f"{layer}.mlp.dense_4h_to_h", E, 48),
                      norm(f"{layer}.input_layernorm"), norm(f"{layer}.post_attention_layernorm"),
                      {f"{layer}.attention.bias": ("BOOL", [1, 1, 8, 8]), f"{layer}.attention.masked_bias": [],
                       f"{layer}.attention.rotary_emb.inv_freq": [2]})
    return out | norm("gpt_neox.final_layer_norm")


def falcon(heads, kv, d, new, bias=False, head=True):
    out = {"transformer.word_embeddings.weight": [50, E]}
    for i in range(2):
        layer = f"transformer.h.{i}"
        out |= joined(linear(f"{layer}.self_attention.query_key_value", (heads + 2 * kv) * d, E, bias),
                      linear(f"{layer}.self_attention.dense", E, heads * d, bias),
                      linear(f"{layer}.mlp.dense_h_to_4h", 48, E, bias), linear(f"{layer}.mlp.dense_4h_to_h", E, 48, bias),
                      norm(f"{layer}.ln_attn") | norm(f"{layer}.ln_mlp") if new else norm(f"{layer}.input_layernorm"))
    return out | norm("transformer.ln_f") | ({"lm_head.weight": [50, E]} if head else {})


def t5(gated=False, head=False):
    out = {"shared.weight": [50, E]}
    if head:
        out["lm_head.weight"] = [50, E]
    for stack in ("encoder", "decoder"):
        for i in range(2):
            block = f"{stack}.block.{i}.layer"
            ff = 1 if stack == "encoder" else 2
            out |= joined(*(linear(f"{block}.0.SelfAttention.{w}", 16, E, False) for w in "qkv"),
                          linear(f"{block}.0.SelfAttention.o", E, 16, False), norm(f"{block}.0.layer_norm", bias=False),
                          norm(f"{block}.{ff}.layer_norm", bias=False),
                          *(linear(f"{block}.{ff}.DenseReluDense.{w}", E, E, False) for w in (("wi_0", "wi_1") if gated else ("wi",))),
                          linear(f"{block}.{ff}.DenseReluDense.wo", E, E, False))
            if i == 0:
                out[f"{block}.0.SelfAttention.relative_attention_bias.weight"] = [32, 4]
            if ff == 2:
                out |= joined(*(linear(f"{block}.1.EncDecAttention.{w}", 16, E, False) for w in "qkv"),
                              linear(f"{block}.1.EncDecAttention.o", E, 16, False), norm(f"{block}.1.layer_norm", bias=False))
        out |= norm(f"{stack}.final_layer_norm", bias=False)
    return out


def bart():
    out = {"model.shared.weight": [50, E], "final_logits_bias": [1, 50]}
    for stack in ("encoder", "decoder"):
        out |= {f"model.{stack}.embed_positions.weight": [22, E]} | norm(f"model.{stack}.layernorm_embedding")
        for i in range(2):
            layer = f"model.{stack}.layers.{i}"
            for attention in ("self_attn",) if stack == "encoder" else ("self_attn", "encoder_attn"):
                out |= joined(*(linear(f"{layer}.{attention}.{w}_proj", E, E) for w in ("q", "k", "v", "out")),
                              norm(f"{layer}.{attention}_layer_norm"))
            out |= joined(linear(f"{layer}.fc1", 48, E), linear(f"{layer}.fc2", E, 48), norm(f"{layer}.final_layer_norm"))
    return out


def clip():
    out = {"logit_scale": [], "text_projection.weight": [E, E], "visual_projection.weight": [E, E]}
    for model in ("text_model", "vision_model"):
        for i in range(2):
            layer = f"{model}.encoder.layers.{i}"
            out |= joined(*(linear(f"{layer}.self_attn.{w}_proj", E, E) for w in ("q", "k", "v", "out")),
                          norm(f"{layer}.layer_norm1"), norm(f"{layer}.layer_norm2"), linear(f"{layer}.mlp.fc1", 48, E),
                          linear(f"{layer}.mlp.fc2", E, 48))
        out[f"{model}.embeddings.position_ids"] = ("I64", [1, 10])
        out[f"{model}.embeddings.position_embedding.weight"] = [10, E]
    out |= {"text_model.embeddings.token_embedding.weight": [50, E], "vision_model.embeddings.class_embedding": [E],
            "vision_model.embeddings.patch_embedding.weight": [E, 3, 4, 4]}
    return out | norm("text_model.final_layer_norm") | norm("vision_model.pre_layrnorm") | norm("vision_model.post_layernorm")


def albert(both=False):
    layer = "albert.encoder.albert_layer_groups.0.albert_layers.0"
    out = joined({f"albert.embeddings.{name}_embeddings.weight": [n, 8]
                  for name, n in (("word", 50), ("position", 20), ("token_type", 2))}, norm("albert.embeddings.LayerNorm", 8),
                 linear("albert.encoder.embedding_hidden_mapping_in", E, 8),
                 *(linear(f"{layer}.attention.{w}", E, E) for w in ("query", "key", "value", "dense")),
                 norm(f"{layer}.attention.LayerNorm"), linear(f"{layer}.ffn", E, E), linear(f"{layer}.ffn_output", E, E),
                 norm(f"{layer}.full_layer_layer_norm"), linear("predictions.dense", 8, E), norm("predictions.LayerNorm", 8),
                 {"predictions.decoder.bias": [50]})
    return out | ({"predictions.bias": [50]} if both else {})


def bert(prefix, head):
    out = joined({f"{prefix}embeddings.{name}_embeddings.weight": [n, E]
                  for name, n in (("word", 50), ("position", 20), ("token_type", 2))},
                 {f"{prefix}embeddings.position_ids": ("I64", [1, 20])}, norm(f"{prefix}embeddings.LayerNorm"))
    for i in range(2):
        layer = f"{prefix}encoder.layer.{i}"
        out |= joined(*(linear(f"{layer}.attention.self.{w}", E, E) for w in ("query", "key", "value")),
                      linear(f"{layer}.attention.output.dense", E, E), norm(f"{layer}.attention.output.LayerNorm"),
                      linear(f"{layer}.intermediate.dense", E, E), linear(f"{layer}.output.dense", E, E),
                      norm(f"{layer}.output.LayerNorm"))
    if head == "roberta":
        out |= linear("lm_head.dense", E, E) | norm("lm_head.layer_norm") | {"lm_head.bias": [50]}
    elif head == "bert":
        out |= joined({"cls.predictions.bias": [50]}, linear("cls.predictions.transform.dense", E, E),
                      norm("cls.predictions.transform.LayerNorm"), linear("cls.seq_relationship", 2, E))
    else:
        out |= linear(f"{prefix}pooler.dense", E, E)
    return out


def google(tensors):
    """LayerNorm.gamma and beta, as in files that came from TensorFlow."""
    return {key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): shape
            for key, shape in tensors.items()}


def vit_timm():
    out = {"cls_token": [1, 1, E], "pos_embed": [1, 5, E]} | conv("patch_embed.proj", E, 3, 4, 4) | norm("norm") | linear("head", 5, E)
    for i in range(12):
        block = f"blocks.{i}"
        out |= joined(norm(f"{block}.norm1"), norm(f"{block}.norm2"), linear(f"{block}.attn.qkv", 3 * E, E),
                      linear(f"{block}.attn.proj", E, E), linear(f"{block}.mlp.fc1", E, E), linear(f"{block}.mlp.fc2", E, E))
    return out


def resnet(bottleneck):
    out = conv("conv1", 4, 3, 3, 3, bias=False) | batch_norm("bn1", 4) | linear("fc", 5, 4)
    for stage in range(1, 5):
        for i in range(2):
            block = f"layer{stage}.{i}"
            for c in range(1, 4 if bottleneck else 3):
                out |= conv(f"{block}.conv{c}", 4, 4, 3, 3, bias=False) | batch_norm(f"{block}.bn{c}", 4)
            if i == 0:
                out |= conv(f"{block}.downsample.0", 4, 4, 1, 1, bias=False) | batch_norm(f"{block}.downsample.1", 4)
    return out


def mobilenet():
    out = linear("classifier.1", 5, 8)
    for i in (0, 18):
        out |= conv(f"features.{i}.0", 8, 3, 3, 3, bias=False) | batch_norm(f"features.{i}.1", 8)
    for i in range(1, 18):
        block = f"features.{i}.conv"
        if i == 1:
            out |= joined(conv(f"{block}.0.0", 8, 1, 3, 3, bias=False), batch_norm(f"{block}.0.1", 8),
                          conv(f"{block}.1", 8, 8, 1, 1, bias=False), batch_norm(f"{block}.2", 8))
        else:
            out |= joined(conv(f"{block}.0.0", 8, 8, 1, 1, bias=False), batch_norm(f"{block}.0.1", 8),
                          conv(f"{block}.1.0", 8, 1, 3, 3, bias=False), batch_norm(f"{block}.1.1", 8),
                          conv(f"{block}.2", 8, 8, 1, 1, bias=False), batch_norm(f"{block}.3", 8))
    return out


def squeezenet():
    out = conv("features.0", 4, 3, 3, 3) | conv("classifier.1", 5, 4, 1, 1)
    for i in (3, 4, 5, 7, 8, 9, 10, 12):
        out |= joined(conv(f"features.{i}.squeeze", 4, 4, 1, 1), conv(f"features.{i}.expand1x1", 4, 4, 1, 1),
                      conv(f"features.{i}.expand3x3", 4, 4, 3, 3))
    return out


def convnext():
    out = conv("features.0.0", 8, 3, 4, 4) | norm("features.0.1", 8) | norm("classifier.0", 8) | linear("classifier.2", 5, 8)
    for stage in (1, 3, 5, 7):
        for i in range(2):
            block = f"features.{stage}.{i}"
            out |= joined({f"{block}.layer_scale": [8, 1, 1]}, conv(f"{block}.block.0", 8, 1, 7, 7), norm(f"{block}.block.2", 8),
                          linear(f"{block}.block.3", 8, 8), linear(f"{block}.block.5", 8, 8))
    for stage in (2, 4, 6):
        out |= norm(f"features.{stage}.0", 8) | conv(f"features.{stage}.1", 8, 8, 2, 2)
    return out


def whisper():
    out = conv("model.encoder.conv1", E, 8, 3) | conv("model.encoder.conv2", E, E, 3) | {"proj_out.weight": [50, E]}
    for stack in ("encoder", "decoder"):
        out[f"model.{stack}.embed_positions.weight"] = [14, E]
        for i in range(2):
            layer = f"model.{stack}.layers.{i}"
            for attention in ("self_attn",) if stack == "encoder" else ("self_attn", "encoder_attn"):
                out |= joined(*(linear(f"{layer}.{attention}.{w}_proj", E, E, w != "k") for w in ("q", "k", "v", "out")),
                              norm(f"{layer}.{attention}_layer_norm"))
            out |= joined(linear(f"{layer}.fc1", E, E), linear(f"{layer}.fc2", E, E), norm(f"{layer}.final_layer_norm"))
        out |= norm(f"model.{stack}.layer_norm")
    return out | {"model.decoder.embed_tokens.weight": [50, E]}


def gpt2(prefix):
    out = {f"{prefix}wte.weight": [50, E], f"{prefix}wpe.weight": [20, E]} | norm(f"{prefix}ln_f")
    for i in range(11):
        block = f"{prefix}h.{i}"
        out |= joined(norm(f"{block}.ln_1"), norm(f"{block}.ln_2"), linear(f"{block}.attn.c_attn", E, E),
                      linear(f"{block}.attn.c_proj", E, E), linear(f"{block}.mlp.c_fc", E, E), linear(f"{block}.mlp.c_proj", E, E),
                      {f"{block}.attn.bias": ("U8", [1, 1, 20, 20]), f"{block}.attn.masked_bias": []})
        out[f"{block}.attn.c_attn.weight"], out[f"{block}.attn.c_attn.bias"] = [E, 3 * E], [3 * E]  # Conv1D: [in, out]
    return out


def yolox():
    out = {}

    def base(name):
        return conv(f"{name}.conv", 4, 4, 3, 3, bias=False) | batch_norm(f"{name}.bn", 4)

    def csp(name):
        return joined(*(base(f"{name}.{c}") for c in ("conv1", "conv2", "conv3", "m.0.conv1", "m.0.conv2")))
    out |= base("backbone.backbone.stem.conv")
    for n in range(2, 6):
        dark = f"backbone.backbone.dark{n}"
        out |= base(f"{dark}.0") | csp(f"{dark}.{2 if n == 5 else 1}")
    out |= base("backbone.backbone.dark5.1.conv1") | base("backbone.backbone.dark5.1.conv2")
    out |= joined(*(csp(f"backbone.C3_{c}") for c in ("p4", "p3", "n3", "n4")), base("backbone.lateral_conv0"))
    for i in range(3):
        out |= joined(base(f"head.stems.{i}"), *(base(f"head.{c}_convs.{i}.{j}") for c in ("cls", "reg") for j in range(2)),
                      *(conv(f"head.{c}_preds.{i}", 4, 4, 1, 1) for c in ("cls", "reg", "obj")))
    return {f"model.{key}": shape for key, shape in out.items()} | {"optimizer.step": ("I64", [])}


def dino():
    return vit_timm() | {f"blocks.{i}.ls{n}.gamma": [E] for i in range(12) for n in (1, 2)} | {"mask_token": [1, E]}


HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": E}

# name: (profile, config.json, keys)
MODELS = {
    "llama-one": ("llama", {"num_attention_heads": 4, "hidden_size": E}, llama(kv=4)),
    "llama-tied": ("llama", HEADS, llama(head=False)),
    "llama-old": ("llama", HEADS, llama(inv_freq=True, layers=11)),
    "llama-bf16": ("llama", HEADS, {k: ("BF16", s) for k, s in llama().items()}),
    "qwen2": ("llama", HEADS, llama(bias=True, head=False)),
    "head-dim": ("llama", HEADS | {"head_dim": 8}, llama(d=8)),
    "multi-query": ("llama", HEADS | {"num_key_value_heads": 1}, llama(kv=1)),
    "llama-norope": ("llama-norope", {}, llama()),
    "gemma": ("gemma", HEADS | {"head_dim": 8}, llama(d=8, head=False)),
    "gemma-bf16": ("gemma", HEADS | {"head_dim": 8}, {k: ("BF16", s) for k, s in llama(d=8, head=False).items()}),
    "gemma-f16": ("gemma", HEADS | {"head_dim": 8}, {k: ("F16", s) for k, s in llama(d=8, head=False).items()}),
    "llama-meta": ("llama-meta", {}, llama_meta()),
    "phi3": ("phi3", HEADS, phi3(4, 2, 6)),
    "phi3-one": ("phi3", HEADS | {"num_key_value_heads": 4}, phi3(4, 4, 6)),
    "mixtral": ("mixtral", HEADS, llama(moe=3)),
    "mixtral-stack": ("mixtral-stack", HEADS, llama(moe=12, layers=3)),
    "phi": ("phi", {"num_attention_heads": 3, "num_key_value_heads": 3, "hidden_size": E, "partial_rotary_factor": 0.5}, phi()),
    "gpt-neox": ("gpt-neox", {"num_attention_heads": 3, "hidden_size": E, "rotary_pct": 0.25}, gpt_neox()),
    "gpt-neox-whole": ("gpt-neox", {"num_attention_heads": 6, "hidden_size": E, "rotary_pct": 1.0}, gpt_neox()),
    "falcon-7b": ("falcon", {"num_attention_heads": 4, "num_kv_heads": 4, "hidden_size": E, "multi_query": True,
                             "new_decoder_architecture": False}, falcon(4, 1, 6, False, head=False)),
    "falcon-40b": ("falcon", {"num_attention_heads": 4, "num_kv_heads": 2, "hidden_size": E, "multi_query": True,
                              "new_decoder_architecture": True}, falcon(4, 2, 6, True)),
    "falcon-rw": ("falcon", {"num_attention_heads": 4, "hidden_size": E, "multi_query": False,
                             "new_decoder_architecture": False}, falcon(4, 4, 6, False, bias=True)),
    "gpt2-hub": ("gpt2", {"n_head": 4}, gpt2("")),
    "gpt2-lm": ("gpt2", {"n_head": 4}, gpt2("transformer.")),
    "gpt2-split-hub": ("gpt2-split", {}, gpt2("")),
    "bert-roberta": ("bert", {}, bert("roberta.", None)),
    "bert-google": ("bert", {}, google(bert("bert.", None))),
    "bert-mlm": ("bert-mlm", {}, bert("bert.", "bert")),
    "roberta-mlm": ("bert-mlm", {}, bert("roberta.", "roberta")),
    "albert": ("albert", {}, albert()),
    "whisper": ("whisper", {}, whisper()),
    "t5": ("t5", {}, t5()),
    "t5-v1.1": ("t5", {}, t5(gated=True, head=True)),
    "bart": ("bart", {}, bart()),
    "clip": ("clip", {}, clip()),
    "clip-text": ("clip-text", {}, clip()),
    "vit-timm": ("vit-timm", {}, vit_timm()),
    "resnet-basic": ("resnet", {}, resnet(False)),
    "resnet-bottleneck": ("resnet", {}, resnet(True)),
    "mobilenet": ("mobilenet", {}, mobilenet()),
    "squeezenet": ("squeezenet", {}, squeezenet()),
    "yolox": ("yolox", {}, yolox()),
    "dino": ("dino", {}, {key: shape for key, shape in dino().items() if not key.startswith("head")}),
    "convnext": ("convnext", {}, convnext()),
}


def numbers_of(rng, dtype, count):
    if dtype == "I64":
        return struct.pack(f"<{count}q", *(rng.randrange(1, 1 << 40) for _ in range(count)))
    if dtype in ("BOOL", "U8"):
        return bytes(rng.randrange(2) for _ in range(count))
    values = [rng.gauss(0, 1) for _ in range(count)]
    if dtype == "BF16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack(f"<{count}{'e' if dtype == 'F16' else 'f'}", *values)


def tensors(name):
    """The tensors of a model, the same in each run; in the order of keys, as the safetensors package writes them."""
    rng = random.Random(name)
    out = {}
    for key, shape in sorted(MODELS[name][2].items()):
        dtype, shape = shape if isinstance(shape, tuple) else ("F32", shape)
        count = 1
        for n in shape:
            count *= n
        out[key] = Tensor(dtype, shape, numbers_of(rng, dtype, count))
    return out

# Options for what a family needs to be told: Burn has no place for a bias that the model adds.
SAID = {"bart": ["--drop", "^final_logits_bias$"]}
