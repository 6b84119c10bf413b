# SPDX-License-Identifier: MIT OR Apache-2.0
"""Families of published models in small, written out: the keys are those of their files, the arithmetic is theirs."""
import torch
from torch import nn
from torch.nn import functional as F

from blocks import RmsNorm
from registry import floats, model, tokens
from structures import Conv1D


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
        sine, cosine = angles.sin(), angles.cos()
        return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)

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


@model(tokens(11, 2, 5))
class ConfiguredLlama(Llama):
    """With the configuration that the Hub keeps beside the weights."""
    config = {"model_type": "llama", "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 16,
              "intermediate_size": 16, "num_hidden_layers": 2, "vocab_size": 11, "rms_norm_eps": 1e-5,
              "rope_theta": 10000.0, "tie_word_embeddings": False}


def attend(query, key, value, heads, scale=None, mask=None):
    """Attention of tensors [batch, length, width]. MASK is added to the scores."""
    query, key, value = (t.unflatten(-1, (heads, -1)).transpose(1, 2) for t in (query, key, value))
    scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = scores + mask
    return (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)


def causal(length):
    return torch.full((length, length), -1e9).triu(1)


def module(**children):
    """Returns a module that has these children and nothing to compute."""
    result = nn.Module()
    for name, child in children.items():
        result.add_module(name, child)
    return result


class BertLayer(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.attention = module(
            self=module(query=nn.Linear(width, width), key=nn.Linear(width, width), value=nn.Linear(width, width)),
            output=module(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width)))
        self.intermediate = module(dense=nn.Linear(width, inner))
        self.output = module(dense=nn.Linear(inner, width), LayerNorm=nn.LayerNorm(width))

    def forward(self, x):
        heads = self.attention.get_submodule("self")
        mixed = attend(heads.query(x), heads.key(x), heads.value(x), 2)
        x = self.attention.output.LayerNorm(x + self.attention.output.dense(mixed))
        inner = F.gelu(self.intermediate.dense(x))
        return self.output.LayerNorm(x + self.output.dense(inner))


@model(tokens(11, 2, 5))
class Bert(nn.Module):
    config = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 2,
              "layer_norm_eps": 1e-5}

    def __init__(self):
        super().__init__()
        self.embeddings = module(word_embeddings=nn.Embedding(11, 8), position_embeddings=nn.Embedding(6, 8),
                                 token_type_embeddings=nn.Embedding(2, 8), LayerNorm=nn.LayerNorm(8))
        self.encoder = module(layer=nn.ModuleList(BertLayer(8, 16) for _ in range(2)))
        self.pooler = module(dense=nn.Linear(8, 8))

    def forward(self, x):
        tables, places = self.embeddings, torch.arange(x.shape[1])[None]
        x = tables.word_embeddings(x) + tables.position_embeddings(places) + tables.token_type_embeddings(places * 0)
        x = tables.LayerNorm(x)
        for layer in self.encoder.layer:
            x = layer(x)
        return torch.tanh(self.pooler.dense(x[:, 0]))


class Gpt2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(8)
        self.attn = module(c_attn=Conv1D(8, 24), c_proj=Conv1D(8, 8))
        self.ln_2 = nn.LayerNorm(8)
        self.mlp = module(c_fc=Conv1D(8, 32), c_proj=Conv1D(32, 8))

    def forward(self, x):
        query, key, value = self.attn.c_attn(self.ln_1(x)).chunk(3, -1)
        x = x + self.attn.c_proj(attend(query, key, value, 2, mask=causal(x.shape[1])))
        return x + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x))))


@model(tokens(11, 2, 5))
class Gpt2(nn.Module):
    """The head is tied: its key is in the file, and the tensor is that of wte."""
    config = {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 2, "tie_word_embeddings": True}

    def __init__(self):
        super().__init__()
        self.transformer = module(wte=nn.Embedding(11, 8), wpe=nn.Embedding(6, 8),
                                  h=nn.ModuleList(Gpt2Block() for _ in range(2)), ln_f=nn.LayerNorm(8))
        self.lm_head = nn.Linear(8, 11, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, x):
        x = self.transformer.wte(x) + self.transformer.wpe(torch.arange(x.shape[1]))
        for block in self.transformer.h:
            x = block(x)
        return self.lm_head(self.transformer.ln_f(x))


class VitLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layernorm_before = nn.LayerNorm(8)
        self.attention = module(attention=module(query=nn.Linear(8, 8), key=nn.Linear(8, 8), value=nn.Linear(8, 8)),
                                output=module(dense=nn.Linear(8, 8)))
        self.layernorm_after = nn.LayerNorm(8)
        self.intermediate = module(dense=nn.Linear(8, 16))
        self.output = module(dense=nn.Linear(16, 8))

    def forward(self, x):
        y, heads = self.layernorm_before(x), self.attention.attention
        x = x + self.attention.output.dense(attend(heads.query(y), heads.key(y), heads.value(y), 2))
        return x + self.output.dense(F.gelu(self.intermediate.dense(self.layernorm_after(x))))


@model(floats(2, 3, 4, 4))
class Vit(nn.Module):
    config = {"model_type": "vit", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 2, "patch_size": 2}

    def __init__(self):
        super().__init__()
        self.vit = module(embeddings=module(patch_embeddings=module(projection=nn.Conv2d(3, 8, 2, stride=2))),
                          encoder=module(layer=nn.ModuleList(VitLayer() for _ in range(2))), layernorm=nn.LayerNorm(8))
        self.vit.embeddings.cls_token = nn.Parameter(torch.empty(1, 1, 8))
        self.vit.embeddings.position_embeddings = nn.Parameter(torch.empty(1, 5, 8))
        self.classifier = nn.Linear(8, 8)

    def forward(self, x):
        tables = self.vit.embeddings
        x = tables.patch_embeddings.projection(x).flatten(2).transpose(1, 2)
        x = torch.cat((tables.cls_token.expand(len(x), -1, -1), x), 1) + tables.position_embeddings
        for layer in self.vit.encoder.layer:
            x = layer(x)
        return self.classifier(self.vit.layernorm(x)[:, 0])


class WhisperAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(8, 8), nn.Linear(8, 8, bias=False)
        self.v_proj, self.out_proj = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, context, mask=None):
        return self.out_proj(attend(self.q_proj(x), self.k_proj(context), self.v_proj(context), 2, mask=mask))


class WhisperLayer(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.self_attn, self.self_attn_layer_norm = WhisperAttention(), nn.LayerNorm(8)
        if decoder:
            self.encoder_attn, self.encoder_attn_layer_norm = WhisperAttention(), nn.LayerNorm(8)
        self.fc1, self.fc2, self.final_layer_norm = nn.Linear(8, 16), nn.Linear(16, 8), nn.LayerNorm(8)

    def forward(self, x, context=None, mask=None):
        y = self.self_attn_layer_norm(x)
        x = x + self.self_attn(y, y, mask)
        if context is not None:
            x = x + self.encoder_attn(self.encoder_attn_layer_norm(x), context)
        return x + self.fc2(F.gelu(self.fc1(self.final_layer_norm(x))))


@model(floats(2, 3, 8), tokens(11, 2, 3))
class Whisper(nn.Module):
    config = {"model_type": "whisper", "d_model": 8, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    unsaved = ["proj_out.weight"]  # the tokens' embedding

    def __init__(self):
        super().__init__()
        self.model = module(
            encoder=module(conv1=nn.Conv1d(3, 8, 3, padding=1), conv2=nn.Conv1d(8, 8, 3, stride=2, padding=1),
                           embed_positions=nn.Embedding(4, 8), layers=nn.ModuleList([WhisperLayer(False)]),
                           layer_norm=nn.LayerNorm(8)),
            decoder=module(embed_tokens=nn.Embedding(11, 8), embed_positions=nn.Embedding(5, 8),
                           layers=nn.ModuleList([WhisperLayer(True)]), layer_norm=nn.LayerNorm(8)))
        self.proj_out = nn.Linear(8, 11, bias=False)
        self.proj_out.weight = self.model.decoder.embed_tokens.weight

    def forward(self, sound, x):
        encoder, decoder = self.model.encoder, self.model.decoder
        sound = F.gelu(encoder.conv2(F.gelu(encoder.conv1(sound)))).transpose(1, 2) + encoder.embed_positions.weight
        for layer in encoder.layers:
            sound = layer(sound)
        sound = encoder.layer_norm(sound)
        x = decoder.embed_tokens(x) + decoder.embed_positions.weight[:x.shape[1]]
        for layer in decoder.layers:
            x = layer(x, sound, causal(x.shape[1]))
        return self.proj_out(decoder.layer_norm(x))


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride > 1:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


@model(floats(2, 3, 9, 9))
class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(BasicBlock(4, 4, 1), BasicBlock(4, 4, 1))
        self.layer2 = nn.Sequential(BasicBlock(4, 4, 2))
        self.layer3 = nn.Sequential(BasicBlock(4, 6, 2))
        self.layer4 = nn.Sequential(BasicBlock(6, 6, 2))
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class T5Attention(nn.Module):
    def __init__(self, biased):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8, bias=False) for _ in range(4))
        if biased:
            self.relative_attention_bias = nn.Embedding(32, 2)

    def forward(self, x, context, bias):
        return self.o(attend(self.q(x), self.k(context), self.v(context), 2, 1.0, bias))


class T5FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi, self.wo = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)

    def forward(self, x):
        return self.wo(F.relu(self.wi(x)))


class T5Block(nn.Module):
    def __init__(self, decoder, first):
        super().__init__()
        parts = [module(SelfAttention=T5Attention(first), layer_norm=RmsNorm(8))]
        if decoder:
            parts.append(module(EncDecAttention=T5Attention(False), layer_norm=RmsNorm(8)))
        parts.append(module(DenseReluDense=T5FeedForward(), layer_norm=RmsNorm(8)))
        self.layer = nn.ModuleList(parts)

    def forward(self, x, bias, context=None):
        first, last = self.layer[0], self.layer[-1]
        y = first.layer_norm(x)
        x = x + first.SelfAttention(y, y, bias)
        if context is not None:
            x = x + self.layer[1].EncDecAttention(self.layer[1].layer_norm(x), context, None)
        return x + last.DenseReluDense(last.layer_norm(x))


class T5Stack(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.block = nn.ModuleList(T5Block(decoder, not number) for number in range(2))
        self.final_layer_norm = RmsNorm(8)
        self.decoder = decoder

    def bias(self, length):
        """Distances below 8 have buckets of their own; the encoder has other buckets for later keys."""
        places = torch.arange(length)
        apart = places[None] - places[:, None]
        buckets = (-apart).clamp(min=0) if self.decoder else apart.abs() + 16 * (apart > 0)
        bias = self.block[0].layer[0].SelfAttention.relative_attention_bias(buckets).permute(2, 0, 1)
        return bias + causal(length) if self.decoder else bias

    def forward(self, x, context=None):
        bias = self.bias(x.shape[1])
        for block in self.block:
            x = block(x, bias, context)
        return self.final_layer_norm(x)


@model(tokens(11, 2, 6), tokens(11, 2, 4))
class T5(nn.Module):
    config = {"model_type": "t5", "d_model": 8, "d_kv": 4, "num_heads": 2, "tie_word_embeddings": False}

    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(11, 8)
        self.encoder, self.decoder = T5Stack(False), T5Stack(True)
        self.lm_head = nn.Linear(8, 11, bias=False)

    def forward(self, x, y):
        return self.lm_head(self.decoder(self.shared(y), self.encoder(self.shared(x))))


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        return self.double_conv(x)


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.conv = DoubleConv(8, 4)

    def forward(self, x, beside):
        return self.conv(torch.cat((beside, self.up(x)), 1))


@model(floats(2, 3, 4, 4))
class Unet(nn.Module):
    """The lists of its blocks begin with a pooling, or have activations between the layers."""

    def __init__(self):
        super().__init__()
        self.inc = DoubleConv(3, 4)
        self.down1 = module(maxpool_conv=nn.Sequential(nn.MaxPool2d(2), DoubleConv(4, 8)))
        self.up1 = Up()
        self.outc = module(conv=nn.Conv2d(4, 4, 1))

    def forward(self, x):
        x = self.inc(x)
        return self.outc.conv(self.up1(self.down1.maxpool_conv(x), x))
