# SPDX-License-Identifier: MIT OR Apache-2.0
"""hub.py DIRECTORY: small models of transformers as save_pretrained() writes them, with our own weights.

Each DIRECTORY/NAME has model.safetensors, config.json, in0.npy... and out.npy. The tree keeps them in hub/; `run` makes
them again in an environment with the pinned version of transformers and compares them. The widths are those of
families.rs, so that the same types of Burn compute them.
"""
import os
import sys

import numpy
import torch
import transformers

from registry import fill, floats, tokens

# name, class, its configuration, inputs by the parameters of forward, the output's name
LLAMA = {"vocab_size": 11, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "max_position_embeddings": 16}
MODELS = [
    ("HubBert", "BertModel", "BertConfig",
     {"vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16,
      "max_position_embeddings": 6, "layer_norm_eps": 1e-5}, {"input_ids": tokens(11, 2, 5)}, "pooler_output"),
    ("HubGpt2", "GPT2LMHeadModel", "GPT2Config",
     {"vocab_size": 11, "n_positions": 6, "n_embd": 8, "n_layer": 2, "n_head": 2, "activation_function": "gelu",
      "bos_token_id": 0, "eos_token_id": 0}, {"input_ids": tokens(11, 2, 5)}, "logits"),
    ("HubLlama", "LlamaForCausalLM", "LlamaConfig", LLAMA, {"input_ids": tokens(11, 2, 5)}, "logits"),
    ("HubMistral", "MistralForCausalLM", "MistralConfig", {**LLAMA, "tie_word_embeddings": True},
     {"input_ids": tokens(11, 2, 5)}, "logits"),
    ("HubT5", "T5ForConditionalGeneration", "T5Config",
     {"vocab_size": 11, "d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 2, "num_heads": 2, "layer_norm_epsilon": 1e-5,
      "tie_word_embeddings": False, "decoder_start_token_id": 0},
     {"input_ids": tokens(11, 2, 6), "decoder_input_ids": tokens(11, 2, 4)}, "logits"),
    ("HubVit", "ViTForImageClassification", "ViTConfig",
     {"image_size": 4, "patch_size": 2, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
      "intermediate_size": 16, "layer_norm_eps": 1e-5, "num_labels": 8}, {"pixel_values": floats(2, 3, 4, 4)}, "logits"),
    ("HubWhisper", "WhisperForConditionalGeneration", "WhisperConfig",
     {"vocab_size": 11, "num_mel_bins": 3, "d_model": 8, "encoder_layers": 1, "decoder_layers": 1,
      "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16,
      "max_source_positions": 4, "max_target_positions": 5, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0,
      "decoder_start_token_id": 0, "suppress_tokens": None, "begin_suppress_tokens": None},
     {"input_features": floats(2, 3, 8), "decoder_input_ids": tokens(11, 2, 3)}, "logits"),
]


def make(name, kind, config, values, inputs, output, directory):
    module = getattr(transformers, kind)(getattr(transformers, config)(**values))
    fill(name, module)
    module.eval()
    arguments = {key: maker() for key, maker in inputs.items()}
    with torch.no_grad():
        result = module(**arguments)[output]
    module.save_pretrained(directory, safe_serialization=True)
    for number, tensor in enumerate(arguments.values()):
        numpy.save(f"{directory}/in{number}.npy", tensor.numpy())
    numpy.save(f"{directory}/out.npy", result.numpy())
    generation = f"{directory}/generation_config.json"
    if os.path.exists(generation):
        os.remove(generation)


def main(directory):
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    for entry in MODELS:
        make(*entry, os.path.join(directory, entry[0]))


if __name__ == "__main__":
    main(sys.argv[1])
