# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each module of burn::nn that has parameters, in a small model. blocks.py has Linear, Embedding, LayerNorm, RmsNorm, Conv2d,
BatchNorm, Lstm, BiLstm, MultiHeadAttention, TransformerEncoder and TransformerDecoder."""
import torch
from torch import nn
from torch.nn import functional as F

from registry import floats, model


@model(floats(2, 6, 9))
class Wave(nn.Module):
    def __init__(self):
        super().__init__()
        self.smooth = nn.Conv1d(6, 6, 3, padding=1)
        self.gn = nn.GroupNorm(3, 6)
        self.out = nn.Linear(9, 9)

    def forward(self, x):
        return self.out(self.gn(self.smooth(x)))


@model(floats(2, 4, 3, 3, 3))
class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.scan = nn.Conv3d(4, 4, 2)
        self.bn = nn.BatchNorm3d(4)
        self.score = nn.Linear(32, 32)

    def forward(self, x):
        return self.score(F.relu(self.bn(self.scan(x))).flatten(1))


@model(floats(2, 4, 5))
class Stretch(nn.Module):
    def __init__(self):
        super().__init__()
        self.grow = nn.ConvTranspose1d(4, 4, 3, stride=2)
        self.smooth = nn.Conv1d(4, 4, 3)

    def forward(self, x):
        return self.smooth(F.relu(self.grow(x)))


@model(floats(2, 4, 4, 4))
class Enlarge(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 4, 2, stride=2)
        self.refine = nn.Conv2d(4, 4, 3, bias=False)

    def forward(self, x):
        return self.refine(F.relu(self.up(x)))


@model(floats(2, 3, 2, 2, 2))
class Inflate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fill = nn.ConvTranspose3d(3, 3, 2, stride=2)
        self.scan = nn.Conv3d(3, 3, 3)

    def forward(self, x):
        return self.scan(self.fill(x))


@model(floats(2, 4, 5, 5))
class Grouped(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = nn.Conv2d(4, 4, 3, groups=4)
        self.pointwise = nn.Conv2d(4, 4, 1)
        self.spread = nn.ConvTranspose2d(4, 4, 3, groups=2)

    def forward(self, x):
        return self.spread(F.relu(self.pointwise(self.depthwise(x))))


class DeformConv(nn.Module):
    """A convolution whose samples are displaced; torch has it in torchvision alone. 3 x 3, without padding."""

    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels, channels, 3, 3))
        self.bias = nn.Parameter(torch.empty(channels))

    def forward(self, x, offset):
        height, width = offset.shape[2:]
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        samples = []
        for place in range(9):
            y = rows + place // 3 + offset[:, 2 * place]
            x_at = columns + place % 3 + offset[:, 2 * place + 1]
            grid = torch.stack((2 * x_at / (x.shape[3] - 1) - 1, 2 * y / (x.shape[2] - 1) - 1), -1)
            samples.append(F.grid_sample(x, grid, align_corners=True))
        sums = torch.einsum("nckhw,ock->nohw", torch.stack(samples, 2), self.weight.flatten(2))
        return sums + self.bias[:, None, None]


@model(floats(2, 4, 5, 5))
class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = nn.Conv2d(4, 18, 3)
        self.warp = DeformConv(4)

    def forward(self, x):
        return self.warp(x, self.offset(x))


@model(floats(2, 4, 4, 4))
class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.brush = nn.Conv2d(4, 4, 1)
        self.inorm = nn.InstanceNorm2d(4, affine=True)

    def forward(self, x):
        return self.inorm(self.brush(x))


@model(floats(2, 4, 4, 4))
class Tracked(Painter):
    """Evaluation computes with the running statistics, which Burn's module does not have."""

    def __init__(self):
        super().__init__()
        self.inorm = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)


@model(floats(2, 4, 4, 4))
class Bare(nn.Module):
    """Norms without parameters: the file has no key of theirs."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 4, 1)
        self.norm1 = nn.InstanceNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 1)
        self.norm2 = nn.GroupNorm(2, 4, affine=False)

    def forward(self, x):
        return self.norm2(self.conv2(self.norm1(self.conv1(x))))


@model(floats(3, 6))
class Slope(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.act = nn.PReLU(6)
        self.out = nn.Linear(6, 6)

    def forward(self, x):
        return self.out(self.act(self.fc(x)))


class Recurrent(nn.Module):
    """A recurrent layer and a square head."""
    layer, options, name, width = nn.LSTM, {}, "memory", 5

    def __init__(self):
        super().__init__()
        setattr(self, self.name, self.layer(5, self.width, batch_first=True, **self.options))
        outputs = self.width * (2 if self.options.get("bidirectional") else 1)
        self.head = nn.Linear(outputs, outputs)

    def forward(self, x):
        return self.head(getattr(self, self.name)(x)[0])


@model(floats(2, 6, 5))
class Forecast(Recurrent):
    layer = nn.GRU


@model(floats(2, 6, 5))
class Dialogue(Recurrent):
    layer, options, name, width = nn.GRU, {"bidirectional": True}, "turns", 4


@model(floats(2, 6, 5))
class Counter(Recurrent):
    layer, name = nn.RNN, "cell"


@model(floats(2, 6, 5))
class Mirror(Recurrent):
    layer, options, name, width = nn.RNN, {"bidirectional": True}, "both", 4


@model(floats(2, 6, 5))
class Tower(Recurrent):
    options, name = {"num_layers": 2}, "recurrent"


@model(floats(2, 6, 5))
class Cascade(Recurrent):
    options, name, width = {"num_layers": 2, "bidirectional": True}, "lstms", 5


@model(floats(2, 6, 5))
class Ladder(Recurrent):
    layer, options = nn.GRU, {"num_layers": 2}


@model(floats(2, 6, 5))
class Recall(Recurrent):
    options = {"bias": False}


class CrossAttention(nn.Module):
    """Four heads of two; two heads for keys and values, which have another width."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(8, 8)
        self.key = nn.Linear(6, 4)
        self.value = nn.Linear(6, 4)
        self.output = nn.Linear(8, 8)

    def forward(self, x, context):
        layers = (self.query(x), self.key(context), self.value(context))
        query, key, value = (t.unflatten(-1, (-1, 2)).transpose(1, 2) for t in layers)
        key, value = key.repeat_interleave(2, 1), value.repeat_interleave(2, 1)
        scores = (query @ key.transpose(2, 3) / 2 ** 0.5).softmax(-1)
        return self.output((scores @ value).transpose(1, 2).flatten(2))


@model(floats(2, 4, 8), floats(2, 5, 6))
class Onlooker(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = CrossAttention()
        self.norm = nn.LayerNorm(8)

    def forward(self, x, context):
        return self.norm(x + self.look(x, context))


@model(floats(2, 5, 8))
class Block(nn.Module):
    norm_first = False

    def __init__(self):
        super().__init__()
        self.block = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, norm_first=self.norm_first,
                                                activation="gelu")
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.block(x))


@model(floats(2, 5, 8))
class PreBlock(Block):
    norm_first = True


@model(floats(2, 4, 8), floats(2, 6, 8))
class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.TransformerDecoderLayer(8, 2, 8, batch_first=True)
        self.out = nn.Linear(8, 8)

    def forward(self, x, memory):
        return self.out(self.step(x, memory))


class Feedforward(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_inner = nn.Linear(6, 6)
        self.linear_outer = nn.Linear(6, 6)

    def forward(self, x):
        return self.linear_outer(F.gelu(self.linear_inner(x)))


@model(floats(3, 6))
class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.ffn = Feedforward()
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        return self.norm(x + self.ffn(x))


class Swish(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_inner = nn.Linear(6, 6)
        self.linear_outer = nn.Linear(6, 6)

    def forward(self, x):
        return F.silu(self.linear_inner(x)) * self.linear_outer(x)


@model(floats(3, 6))
class Gatehouse(nn.Module):
    def __init__(self):
        super().__init__()
        self.glu = Swish()
        self.down = nn.Linear(6, 6)

    def forward(self, x):
        return self.down(self.glu(x))


@model(floats(3, 6))
class Chosen(nn.Module):
    """The destination has enums: which norm and which activation."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.act = nn.PReLU(6)
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        return self.fc(self.act(self.norm(x)))
