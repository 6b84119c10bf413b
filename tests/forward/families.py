# SPDX-License-Identifier: MIT OR Apache-2.0
"""Families of published models in small, written out: the keys are those of their files, the arithmetic is theirs."""
import torch
from torch import nn
from torch.nn import functional as F

from blocks import RmsNorm
from registry import model, tokens


class LlamaAttention(nn.Module):
    """Four heads of four; two for keys and values. The rotary encoding is that of halves."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 8, bias=False)
        self.v_proj = nn.Linear(16, 8, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)

    @staticmethod
    def rotate(x):
        length, width = x.shape[-2:]
        angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
        first, second = x.chunk(2, -1)
        return torch.cat((first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()), -1)

    def forward(self, x):
        def heads(layer):
            return layer(x).unflatten(-1, (-1, 4)).transpose(1, 2)
        query, key = self.rotate(heads(self.q_proj)), self.rotate(heads(self.k_proj))
        key, value = (t.repeat_interleave(2, 1) for t in (key, heads(self.v_proj)))
        scores = query @ key.transpose(2, 3) / 2
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(later, -1e9).softmax(-1) @ value
        return self.o_proj(mixed.transpose(1, 2).flatten(2))


class LlamaMlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(16, 16, bias=False)
        self.up_proj = nn.Linear(16, 16, bias=False)
        self.down_proj = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm = RmsNorm(16)
        self.self_attn = LlamaAttention()
        self.post_attention_layernorm = RmsNorm(16)
        self.mlp = LlamaMlp()

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(11, 16)
        self.layers = nn.ModuleList(LlamaLayer() for _ in range(2))
        self.norm = RmsNorm(16)

    def forward(self, x):
        x = self.embed_tokens(x)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


@model(tokens(11, 2, 5))
class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = LlamaModel()
        self.lm_head = nn.Linear(16, 11, bias=False)

    def forward(self, x):
        return self.lm_head(self.model(x))
