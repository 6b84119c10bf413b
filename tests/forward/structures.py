# SPDX-License-Identifier: MIT OR Apache-2.0
"""How people put layers together: lists with gaps, options, parameters without a layer, weights computed or shared."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrize, prune, weight_norm

from registry import floats, model, tokens


@model(floats(2, 3, 8, 8))
class Vgg(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Dropout(), nn.Linear(16, 16))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


@model(floats(3, 6), floats(3, 6))
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.towers = nn.ModuleDict({"left": nn.Linear(6, 6), "right": nn.Linear(6, 6)})
        self.joint = nn.Linear(6, 6)

    def forward(self, x, y):
        return self.joint(self.towers["left"](x) * self.towers["right"](y))


@model(floats(2, 5, 8))
class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls_token = nn.Parameter(torch.empty(1, 1, 8))
        self.pos_embed = nn.Parameter(torch.empty(1, 6, 8))
        self.scale = nn.Parameter(torch.empty(8))
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        x = torch.cat((self.cls_token.expand(len(x), -1, -1), x), 1)
        return self.fc(x + self.pos_embed) * self.scale


@model(floats(2, 3, 6, 6))
class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3))
        self.decoder = nn.Sequential(nn.ConvTranspose2d(4, 4, 3), nn.ReLU(), nn.ConvTranspose2d(4, 3, 3))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Position(nn.Module):
    """The positions of the PyTorch tutorial, a buffer that Burn computes."""

    def __init__(self):
        super().__init__()
        angles = torch.arange(50)[:, None] * 10000.0 ** (-torch.arange(0, 8, 2) / 8)
        self.register_buffer("pe", torch.stack((angles.sin(), angles.cos()), -1).flatten(1)[None])

    def forward(self, x):
        return x + self.pe[:, :x.shape[1]]


@model(tokens(12, 2, 7))
class Melody(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes = nn.Embedding(12, 8)
        self.position = Position()
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        return self.out(self.position(self.notes(x)))


class Residual(nn.Module):
    def __init__(self, skip):
        super().__init__()
        self.fc1 = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.fc2 = nn.Linear(6, 6)
        self.shortcut = nn.Linear(6, 6) if skip else None

    def forward(self, x):
        return self.fc2(F.relu(self.norm(self.fc1(x)))) + (self.shortcut(x) if self.shortcut else x)


@model(floats(3, 6))
class Ensemble(nn.Module):
    """Two of the units have no shortcut."""

    def __init__(self):
        super().__init__()
        self.units = nn.ModuleList(Residual(skip) for skip in (False, True, False))

    def forward(self, x):
        for unit in self.units:
            x = unit(x)
        return x


@model(floats(3, 6))
class Twin(nn.Module):
    """The destination has a tuple and an array."""

    def __init__(self):
        super().__init__()
        self.pair = nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6))
        self.heads = nn.ModuleList(nn.Linear(6, 6) for _ in range(2))

    def forward(self, x):
        x = self.pair(x)
        return self.heads[0](x) * self.heads[1](x)


@model(tokens(12, 2, 7))
class Tied(nn.Module):
    """One tensor under two keys; in Burn there are two, and one is the other transposed."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 8)
        self.mix = nn.Linear(8, 8)
        self.head = nn.Linear(8, 12, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.mix(self.embed(x)))


@model(floats(3, 6))
class Mixture(nn.Module):
    """The destination has the experts in one tensor."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(6, 3)
        self.experts = nn.ModuleList(nn.Linear(6, 6, bias=False) for _ in range(3))

    def forward(self, x):
        outputs = torch.stack([expert(x) for expert in self.experts], 1)
        return (self.router(x).softmax(-1)[:, :, None] * outputs).sum(1)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 6)
        self.fc2 = nn.Linear(6, 6)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


@model(floats(3, 6))
class Checkpoint(Inner):
    """Saved in the middle of a training."""

    def stored(self, state):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
        return {"epoch": 3, "best": torch.tensor(0.5), "model_state_dict": state, "optimizer": optimizer.state_dict(),
                "args": {"lr": 0.1, "name": "run 1"}}


@model(floats(3, 6))
class Pickled(Inner):
    """Saved as a whole module."""

    def stored(self, _state):
        return self


@model(floats(3, 6))
class Parallel(nn.Module):
    """The prefix is that of nn.DataParallel."""

    def __init__(self):
        super().__init__()
        self.module = Inner()

    def forward(self, x):
        return self.module(x)


@model(floats(2, 4, 9))
class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = weight_norm(nn.Conv1d(4, 4, 3))
        self.fc = weight_norm(nn.Linear(7, 7))
        self.post = nn.Linear(7, 7)

    def forward(self, x):
        return self.post(F.relu(self.fc(self.pre(x))))


class WeightNorm(nn.Module):
    """The parametrization of later versions of torch, whose keys are original0 and original1."""

    @staticmethod
    def norm(weight):
        return weight.flatten(1).norm(dim=1).reshape(-1, *[1] * (weight.dim() - 1))

    def forward(self, scale, direction):
        return scale * direction / self.norm(direction)

    def right_inverse(self, weight):
        return self.norm(weight), weight.clone()


@model(floats(2, 4, 9))
class Reparametrized(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = nn.Conv1d(4, 4, 3)
        self.post = nn.Linear(7, 7)
        parametrize.register_parametrization(self.pre, "weight", WeightNorm())

    def forward(self, x):
        return self.post(self.pre(x))


@model(floats(3, 6))
class Pruned(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 6)
        self.fc2 = nn.Linear(6, 6)
        prune.random_unstructured(self.fc1, "weight", 0.4)

    def settled(self):
        """Makes the pruning permanent, as a record has it."""
        prune.remove(self.fc1, "weight")
        return self

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Conv1D(nn.Module):
    """The layer of transformers' GPT-2: its weight is that of a linear layer, transposed."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


@model(floats(3, 6))
class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = Conv1D(6, 6)
        self.expand = Conv1D(6, 9)
        self.shrink = Conv1D(9, 6)

    def forward(self, x):
        return self.shrink(F.relu(self.expand(self.mix(x))))


@model(floats(4, 6))
class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn_in = nn.BatchNorm1d(6)
        self.hidden = nn.Linear(6, 6, bias=False)
        self.bn_hidden = nn.BatchNorm1d(6, eps=1e-3)
        self.target = nn.Linear(6, 6)

    def forward(self, x):
        return self.target(F.relu(self.bn_hidden(self.hidden(self.bn_in(x)))))
