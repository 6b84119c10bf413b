# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models of a few layers each, with the attribute names that a person would choose.

A weight is square where it can be: then no shape shows whether it was transposed.
"""
import torch
from torch import nn
from torch.nn import functional as F

from registry import floats, model, tokens


@model(floats(3, 8))
class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 8)
        self.ln = nn.LayerNorm(8)
        self.hidden = nn.Linear(8, 8)
        self.readout = nn.Linear(8, 8)

    def forward(self, x):
        return self.readout(F.relu(self.hidden(self.ln(self.project(x)))))


@model(floats(2, 3, 7, 7))
class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.stem_bn = nn.BatchNorm2d(4)
        self.mix = nn.Conv2d(4, 4, 3, stride=2, bias=False)
        self.mix_bn = nn.BatchNorm2d(4)
        self.classifier = nn.Linear(36, 5)

    def forward(self, x):
        x = F.relu(self.stem_bn(self.stem(x)))
        x = F.relu(self.mix_bn(self.mix(x)))
        return self.classifier(x.flatten(1))


@model(tokens(12, 2, 7))
class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(12, 8)
        self.mix = nn.Linear(8, 8)

    def forward(self, x):
        return self.mix(self.words(x))


@model(tokens(12, 2, 7))
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(12, 5)
        self.encoder = nn.LSTM(5, 5, batch_first=True)
        self.head = nn.Linear(5, 5)

    def forward(self, x):
        return self.head(self.encoder(self.words(x))[0])


@model(floats(2, 6, 5))
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.context = nn.LSTM(5, 4, batch_first=True, bidirectional=True)
        self.span = nn.Linear(8, 8)

    def forward(self, x):
        return self.span(self.context(x)[0])


@model(floats(2, 5, 8))
class Classifier(nn.Module):
    norm_first = False

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=self.norm_first)
        self.transformer = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 8)

    def forward(self, x):
        return self.head(self.transformer(x))


@model(floats(2, 5, 8))
class PreNorm(Classifier):
    """Burn applies the second norm of such a layer before the first one."""
    norm_first = True


@model(floats(2, 5, 8))
class Pooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(x + self.attn(x, x, x)[0])


@model(floats(2, 4, 8), floats(2, 6, 8))
class Translator(nn.Module):
    norm_first = False

    def __init__(self):
        super().__init__()
        layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, norm_first=self.norm_first)
        self.decoder = nn.TransformerDecoder(layer, 2)
        self.vocab = nn.Linear(8, 8)

    def forward(self, x, memory):
        return self.vocab(self.decoder(x, memory))


@model(floats(2, 4, 8), floats(2, 6, 8))
class PreTranslator(Translator):
    norm_first = True


@model(floats(3, 6))
class Gaps(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Dropout(0.1),
                                    nn.Linear(6, 6))

    def forward(self, x):
        return self.layers(x)


@model(floats(3, 6))
class Sequence(nn.Sequential):
    """The model itself is a list, so that its keys begin with numbers."""

    def __init__(self):
        super().__init__(nn.Linear(6, 6), nn.ReLU(), nn.LayerNorm(6), nn.Linear(6, 6))


class RmsNorm(nn.Module):
    """torch 1.13 has none."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


@model(floats(3, 5, 8))
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RmsNorm(8)
        self.gate = nn.Linear(8, 8, bias=False)
        self.up = nn.Linear(8, 8, bias=False)
        self.down = nn.Linear(8, 8, bias=False)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))
