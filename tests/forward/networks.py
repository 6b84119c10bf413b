# SPDX-License-Identifier: MIT OR Apache-2.0
"""Networks with lists in lists and layers in other modules, files of half precision, and what Burn cannot compute."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import spectral_norm, weight_norm

from blocks import Classifier, Pooler
from registry import floats, model


class Side(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(5, 5, batch_first=True)

    def forward(self, x, state=None):
        return self.rnn(x, state)


@model(floats(2, 6, 5), floats(2, 3, 5))
class Seq2Seq(nn.Module):
    """The decoder begins with the state of the encoder."""

    def __init__(self):
        super().__init__()
        self.encoder = Side()
        self.decoder = Side()
        self.out = nn.Linear(5, 5)

    def forward(self, x, y):
        return self.out(self.decoder(y, self.encoder(x)[1])[0])


@model(floats(2, 6, 5))
class Stepwise(nn.Module):
    """Cells, which have no layer number."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(5, 5), nn.LSTMCell(5, 5)])
        self.gated = nn.GRUCell(5, 5)
        self.out = nn.Linear(5, 5)

    def forward(self, x):
        for cell in self.cells:
            state, outputs = None, []
            for part in x.unbind(1):
                state = cell(part, state)
                outputs.append(state[0])
            x = torch.stack(outputs, 1)
        state, outputs = None, []
        for part in x.unbind(1):
            state = self.gated(part, state)
            outputs.append(state)
        return self.out(torch.stack(outputs, 1))


@model(floats(2, 6, 4))
class Speech(nn.Module):
    """The convolution for positions of wav2vec2, whose lengths are those of the last axis."""

    def __init__(self):
        super().__init__()
        self.pos_conv = weight_norm(nn.Conv1d(4, 4, 3, padding=1, groups=2), dim=2)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(x + F.gelu(self.pos_conv(x.transpose(1, 2))).transpose(1, 2))


class VisionBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(8)
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm2 = nn.LayerNorm(8)
        self.mlp = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y)[0]
        return x + self.mlp(self.norm2(x))


@model(floats(2, 3, 4, 4))
class MiniVit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 2, stride=2)
        self.pos = nn.Parameter(torch.empty(1, 4, 8))
        self.blocks = nn.ModuleList(VisionBlock() for _ in range(2))
        self.head = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


class Kernel(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs1 = nn.ModuleList(weight_norm(nn.Conv1d(4, 4, 3, padding=1)) for _ in range(2))

    def forward(self, x):
        for conv in self.convs1:
            x = x + conv(F.leaky_relu(x, 0.1))
        return x


@model(floats(2, 3, 5))
class Hifi(nn.Module):
    """A vocoder: the norm of a transposed convolution's weight is that of its first axis, too."""

    def __init__(self):
        super().__init__()
        self.conv_pre = weight_norm(nn.Conv1d(3, 4, 3, padding=1))
        self.ups = nn.ModuleList(weight_norm(nn.ConvTranspose1d(4, 4, 4, 2, 1)) for _ in range(2))
        self.resblocks = nn.ModuleList(Kernel() for _ in range(2))

    def forward(self, x):
        x = self.conv_pre(x)
        for up, block in zip(self.ups, self.resblocks):
            x = block(up(F.leaky_relu(x, 0.1)))
        return x


@model(floats(3, 6))
class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6)), nn.ReLU(),
                                 nn.Sequential(nn.Dropout(), nn.Linear(6, 6)))

    def forward(self, x):
        return self.net(x)


@model(floats(3, 6))
class Mixed(nn.Module):
    """The destination has a tuple; the file has gaps."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 6))

    def forward(self, x):
        return self.net(x)


@model(floats(3, 6))
class Various(nn.Module):
    """The destination has a list of an enum, whose variant shows in the rank."""

    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList([nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 6)])

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


@model(floats(3, 6))
class Keyword(nn.Module):
    """Names that are words of Rust."""

    def __init__(self):
        super().__init__()
        self.loop = nn.Linear(6, 6)
        self.match = nn.Linear(6, 6)

    def forward(self, x):
        return self.match(F.relu(self.loop(x)))


class Rounded(nn.Module):
    """The file is in half precision, and PyTorch computes with its numbers in full."""
    dtype = torch.float16

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.fc2 = nn.Linear(6, 6)

    def forward(self, x):
        return self.fc2(F.relu(self.norm(self.fc1(x))))


@model(floats(3, 6))
class Halved(Rounded):
    pass


@model(floats(3, 6))
class Brain(Rounded):
    dtype = torch.bfloat16


@model(floats(2, 5, 8))
class FinalNorm(Classifier):
    """Burn's encoder has no norm after its layers."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8))


@model(floats(2, 5, 8))
class BiasKv(Pooler):
    """Burn's attention has no biases that are a further key and value."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True, add_bias_kv=True)


@model(floats(2, 6, 5))
class Projected(nn.Module):
    """Burn's Lstm has no projection of its output."""

    def __init__(self):
        super().__init__()
        self.memory = nn.LSTM(5, 5, batch_first=True, proj_size=3)
        self.head = nn.Linear(3, 5)

    def forward(self, x):
        return self.head(self.memory(x)[0])


@model(floats(3, 6))
class Spectral(nn.Module):
    """The weight is divided by its norm in each pass."""

    def __init__(self):
        super().__init__()
        self.fc1 = spectral_norm(nn.Linear(6, 6))
        self.fc2 = nn.Linear(6, 6)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))
