#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# PyTorch trained a classifier and saved its state dict. A program with Burn 0.22 loads it.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs torch numpy store

cat >train.py <<'END'
import torch
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(16, 16, 3), torch.nn.BatchNorm2d(16)
class Mnist(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.blocks = torch.nn.Conv2d(1, 16, 3), torch.nn.ModuleList(Block() for _ in range(3))
        self.fc1, self.fc2 = torch.nn.Linear(256, 32), torch.nn.Linear(32, 10)
torch.manual_seed(8)
model = Mnist()
for block in model.blocks:
    block.norm(torch.randn(4, 16, 5, 5)) # so that the running statistics are some
torch.save(model.state_dict(), "mnist.pt")
END
step "PyTorch saves it" <<'END'
"$PYTHON" train.py
record info mnist.pt
END
step "the plan lists every key" <<'END'
record plan mnist.pt
END
prints "fc2.weight [32, 10]"
step "it becomes a file of Burn 0.22" <<'END'
record convert mnist.pt mnist.bpk
record verify mnist.bpk
END
step "Burn 0.22 loads it, in both of its ways" <<'END'
store read mnist core mnist.bpk >core.json
store read mnist store mnist.bpk >store.json
END

python "Burn has what torch has" <<'END'
import torch
from journey import of_burn, same
expected = {}
for key, value in torch.load("mnist.pt").items():
    if key.startswith("blocks") and ".norm." in key:
        key = key.replace("weight", "gamma").replace("bias", "beta")
    if "num_batches" not in key:
        expected[key] = (value.T if value.ndim == 2 else value).contiguous().numpy()
same(of_burn("core.json"), expected)
same(of_burn("store.json"), expected)
END
finish
