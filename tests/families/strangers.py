# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tiny models of families for which there is no profile, most of them with keys that look like those of one there is."""
from models import E, batch_norm, conv, dino, gpt2, joined, linear, llama, norm, resnet, vit_timm, bert, whisper, bart, t5
from reference import Tensor


def renamed(keys, *pairs):
    out = {}
    for key, shape in keys.items():
        for old, new in pairs:
            key = key.replace(old, new)
        out[key] = shape
    return out


def layers(keys, add, prefix="model.layers.", count=2):
    out = dict(keys)
    for i in range(count):
        out |= {f"{prefix}{i}.{key}": shape for key, shape in add.items()}
    return out


def without(keys, *words):
    return {key: shape for key, shape in keys.items() if not any(word in key for word in words)}


def transposed(keys, word):
    return {key: shape[::-1] if word in key and key.endswith("weight") else shape for key, shape in keys.items()}


def bloom():
    out = {"transformer.word_embeddings.weight": [50, E]} | norm("transformer.word_embeddings_layernorm") | norm("transformer.ln_f")
    for i in range(2):
        layer = f"transformer.h.{i}"
        out |= joined(linear(f"{layer}.self_attention.query_key_value", 3 * E, E), linear(f"{layer}.self_attention.dense", E, E),
                      linear(f"{layer}.mlp.dense_h_to_4h", 48, E), linear(f"{layer}.mlp.dense_4h_to_h", E, 48),
                      norm(f"{layer}.input_layernorm"), norm(f"{layer}.post_attention_layernorm"))
    return out


def gptj():
    out = {"transformer.wte.weight": [50, E]} | norm("transformer.ln_f") | linear("lm_head", 50, E)
    for i in range(2):
        layer = f"transformer.h.{i}"
        out |= joined(*(linear(f"{layer}.attn.{w}_proj", E, E, False) for w in ("q", "k", "v", "out")), norm(f"{layer}.ln_1"),
                      linear(f"{layer}.mlp.fc_in", 48, E), linear(f"{layer}.mlp.fc_out", E, 48))
    return out


def opt():
    out = {"model.decoder.embed_tokens.weight": [50, E], "model.decoder.embed_positions.weight": [22, E]}
    for i in range(2):
        layer = f"model.decoder.layers.{i}"
        out |= joined(*(linear(f"{layer}.self_attn.{w}_proj", E, E) for w in ("q", "k", "v", "out")), norm(f"{layer}.self_attn_layer_norm"),
                      linear(f"{layer}.fc1", 48, E), linear(f"{layer}.fc2", E, 48), norm(f"{layer}.final_layer_norm"))
    return out | norm("model.decoder.final_layer_norm")


def distilbert():
    out = joined({"distilbert.embeddings.word_embeddings.weight": [50, E], "distilbert.embeddings.position_embeddings.weight": [20, E]},
                 norm("distilbert.embeddings.LayerNorm"))
    for i in range(2):
        layer = f"distilbert.transformer.layer.{i}"
        out |= joined(*(linear(f"{layer}.attention.{w}_lin", E, E) for w in ("q", "k", "v", "out")), norm(f"{layer}.sa_layer_norm"),
                      linear(f"{layer}.ffn.lin1", 48, E), linear(f"{layer}.ffn.lin2", E, 48), norm(f"{layer}.output_layer_norm"))
    return out


def swin():
    out = conv("patch_embed.proj", E, 3, 4, 4) | norm("patch_embed.norm") | norm("norm", 2 * E) | linear("head", 5, 2 * E)
    for s in range(2):
        for i in range(2):
            block, width = f"layers.{s}.blocks.{i}", E << s
            out |= joined(norm(f"{block}.norm1", width), norm(f"{block}.norm2", width), linear(f"{block}.attn.qkv", 3 * width, width),
                          linear(f"{block}.attn.proj", width, width), linear(f"{block}.mlp.fc1", 4 * width, width),
                          linear(f"{block}.mlp.fc2", width, 4 * width), {f"{block}.attn.relative_position_bias_table": [49, 3]})
    return out


def efficientnet():
    out = conv("features.0.0", 8, 3, 3, 3, bias=False) | batch_norm("features.0.1", 8) | linear("classifier.1", 5, 8)
    for i in range(1, 8):
        block = f"features.{i}.0.block"
        out |= joined(conv(f"{block}.0.0", 8, 1, 3, 3, bias=False), batch_norm(f"{block}.0.1", 8), conv(f"{block}.1.fc1", 2, 8, 1, 1),
                      conv(f"{block}.1.fc2", 8, 2, 1, 1), conv(f"{block}.2.0", 8, 8, 1, 1, bias=False), batch_norm(f"{block}.2.1", 8))
    return out


def vgg():
    out = {}
    for i in (0, 2, 5, 7):
        out |= conv(f"features.{i}", 8, 8, 3, 3)
    return out | linear("classifier.0", 16, 8) | linear("classifier.3", 16, 16) | linear("classifier.6", 5, 16)


def densenet():
    out = conv("features.conv0", 8, 3, 7, 7, bias=False) | batch_norm("features.norm0", 8) | linear("classifier", 5, 8)
    for i in range(1, 3):
        layer = f"features.denseblock1.denselayer{i}"
        out |= joined(batch_norm(f"{layer}.norm1", 8), conv(f"{layer}.conv1", 8, 8, 1, 1, bias=False), batch_norm(f"{layer}.norm2", 8),
                      conv(f"{layer}.conv2", 8, 8, 3, 3, bias=False))
    return out


def resnext():
    """Groups: the second convolution of a block has fewer inputs than the first one outputs."""
    return {key: [4, 2, 3, 3] if key.startswith("layer") and key.endswith("conv2.weight") else shape
            for key, shape in resnet(True).items()}


def hf_resnet():
    out = conv("resnet.embedder.embedder.convolution", 4, 3, 7, 7, bias=False) | batch_norm("resnet.embedder.embedder.normalization", 4)
    for s in range(4):
        layer = f"resnet.encoder.stages.{s}.layers.0.layer"
        out |= joined(*(conv(f"{layer}.{i}.convolution", 4, 4, 3, 3, bias=False) | batch_norm(f"{layer}.{i}.normalization", 4) for i in range(2)))
    return out | linear("classifier.1", 5, 4)


def vae():
    out = conv("encoder.conv_in", E, 3, 3, 3) | conv("quant_conv", 8, 8, 1, 1)
    return out | joined(*(conv(f"encoder.down_blocks.0.resnets.{i}.conv1", E, E, 3, 3) | norm(f"encoder.down_blocks.0.resnets.{i}.norm1") for i in range(2)))


NORMS = {f"{name}_layernorm.weight": [E] for name in ("pre_feedforward", "post_feedforward")}
HEAD_NORMS = {"self_attn.q_norm.weight": [6], "self_attn.k_norm.weight": [6]}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": E}
POST = "post_attention_layernorm"

# name: (keys, config.json or None)
MODELS = {
    "granite": (llama(), HEADS | {"model_type": "granite"}),
    "minicpm": (llama(), HEADS | {"model_type": "minicpm"}),
    "gemma2": (layers(llama(head=False), NORMS), HEADS | {"model_type": "gemma2"}),
    "gemma2-alone": (layers(llama(head=False), NORMS), None),
    "gemma3": (layers(llama(head=False), NORMS | HEAD_NORMS), HEADS | {"model_type": "gemma3_text"}),
    "olmo2": (without(layers(llama(), {"post_feedforward_layernorm.weight": [E], "self_attn.q_norm.weight": [E], "self_attn.k_norm.weight": [12]}),
                      "input_layernorm"), None),
    "olmoe": (layers(renamed(llama(moe=3), ("block_sparse_moe", "mlp"), (".w1.", ".gate_proj."), (".w2.", ".down_proj."), (".w3.", ".up_proj.")),
                     {"self_attn.q_norm.weight": [E], "self_attn.k_norm.weight": [E]}), None),
    "olmo": (without(llama(), "norm"), None),
    "cohere": (without(llama(head=False), POST), None),
    "stablelm": (layers(llama(), {"input_layernorm.bias": [E], f"{POST}.bias": [E]}) | {"model.norm.bias": [E]}, None),
    "qwen2-moe": (layers(llama(bias=True), {"mlp.gate.weight": [4, E], "mlp.shared_expert_gate.weight": [1, E]}), None),
    "deepseek": (layers(llama(), {"mlp.gate.weight": [4, E]}) | {f"model.layers.1.mlp.experts.{i}.gate_proj.weight": [8, E] for i in range(4)}, None),
    "llava": (renamed(llama(), ("model.", "language_model.model."), ("lm_head", "language_model.lm_head"))
              | linear("multi_modal_projector.linear_1", E, E), None),
    "llama-lora": ({f"base_model.model.model.layers.{i}.self_attn.q_proj.lora_{w}.weight": [4, E] for i in range(2) for w in "AB"}, None),
    "llama-shard": ({key: shape for key, shape in llama().items() if ".layers.0." in key}, None),
    "starcoder2": (renamed(without(llama(bias=True), "up_proj"), ("gate_proj", "c_fc"), ("down_proj", "c_proj")), None),
    "glm4": (renamed(without(llama(bias=True), "up_proj"), ("gate_proj", "gate_up_proj")), None),
    "bloom": (bloom(), None),
    "gpt-j": (gptj(), None),
    "opt": (opt(), None),
    "gpt-bigcode": ({k: [E + 12, E] if k.endswith("c_attn.weight") else [E + 12] if k.endswith("c_attn.bias") else s
                     for k, s in gpt2("transformer.").items()}, None),
    "nanogpt": (transposed(without(gpt2("transformer."), "masked_bias"), ".c_") | {"lm_head.weight": [50, E]}, None),
    "imagegpt": (without(gpt2("transformer."), "ln_1.bias", "ln_2.bias", "ln_f.bias"), None),
    "distilbert": (distilbert(), None),
    "electra": (bert("electra.", None) | linear("discriminator_predictions.dense", E, E), None),
    "layoutlm": (bert("", None) | {"embeddings.x_position_embeddings.weight": [20, E]}, None),
    "longformer": (layers(bert("longformer.", None), linear("attention.self.query_global", E, E), "longformer.encoder.layer."), None),
    "bert-generation": (layers(bert("bert.", None), linear("crossattention.self.query", E, E), "bert.encoder.layer."), None),
    "pegasus": (without(bart(), "layernorm_embedding") | norm("model.encoder.layer_norm"), None),
    "mbart": (bart() | norm("model.encoder.layer_norm") | norm("model.decoder.layer_norm"), None),
    "switch": (t5() | {"encoder.block.1.layer.1.mlp.experts.expert_0.wi.weight": [E, E]}, None),
    "umt5": (t5() | {"encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight": [32, 4]}, None),
    "speech2text": (renamed(whisper(), ("encoder.conv1", "encoder.conv.conv_layers.0")), None),
    "swin": (swin(), None),
    "deit": (vit_timm() | {"dist_token": [1, 1, E], "pos_embed": [1, 6, E]} | linear("head_dist", 5, E), None),
    "deit3": ({k: s for k, s in dino().items() if k != "mask_token"}, None),
    "beit": (vit_timm() | {"blocks.0.gamma_1": [E], "blocks.0.attn.q_bias": [E]}, None),
    "mae": (vit_timm() | {"mask_token": [1, 1, E], "decoder_pos_embed": [1, 5, E]}, None),
    "efficientnet": (efficientnet(), None),
    "vgg": (vgg(), None),
    "densenet": (densenet(), None),
    "resnext": (resnext(), None),
    "se-resnet": (resnet(False) | conv("layer1.0.se.fc1", 2, 4, 1, 1), None),
    "resnet-3d": ({k: [*s, 3] if isinstance(s, list) and len(s) == 4 else s for k, s in resnet(False).items()}, None),
    "resnet-of-transformers": (hf_resnet(), None),
    "vae": (vae(), None),
    "linear": (linear("fc", 3, 4), None),
    "empty": ({}, None),
}


def tensors(keys):
    """Zeros: only keys and shapes count."""
    out = {}
    sizes = {"I64": 8, "BOOL": 1, "U8": 1}
    for key, shape in sorted(keys.items()):
        dtype, shape = shape if isinstance(shape, tuple) else ("F32", shape)
        count = 1
        for n in shape:
            count *= n
        out[key] = Tensor(dtype, shape, bytes(count * sizes.get(dtype, 4)))
    return out
