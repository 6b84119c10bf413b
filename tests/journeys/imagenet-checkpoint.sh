#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The checkpoint of PyTorch's ImageNet example: a model in DataParallel, its optimizer, the best accuracy as a tensor.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs torch numpy msgpack

cat >make.py <<'END'
import torch
torch.manual_seed(3)
model = torch.nn.Sequential()
model.add_module("conv1", torch.nn.Conv2d(3, 4, 3, bias=False))
model.add_module("bn1", torch.nn.BatchNorm2d(4))
model.add_module("relu", torch.nn.ReLU())
model.add_module("pool", torch.nn.AdaptiveAvgPool2d(1))
model.add_module("flatten", torch.nn.Flatten())
model.add_module("fc", torch.nn.Linear(4, 10))
parallel = torch.nn.DataParallel(model)
optimizer = torch.optim.SGD(parallel.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
for _ in range(2):
    optimizer.zero_grad()
    parallel(torch.randn(5, 3, 8, 8)).square().mean().backward()
    optimizer.step()
torch.save({"epoch": 2, "arch": "resnet0", "state_dict": parallel.state_dict(), "best_acc1": torch.tensor(71.5),
            "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, "checkpoint.pth.tar")
END
step "the example saves its checkpoint" <<'END'
"$PYTHON" make.py
record ls --top-level-key . checkpoint.pth.tar
END
prints "best_acc1"
step "the model becomes a record" <<'END'
record plan --remap '^module\. => ' checkpoint.pth.tar
record convert --remap '^module\. => ' checkpoint.pth.tar model.mpk
record ls model.mpk
END
prints "bn1.{gamma,beta,running_mean,running_var}"
step "which learns on in Burn, and goes back" <<'END'
record edit model.mpk set 'fc.bias[0]' 0.5 -o trained.mpk
record convert --reverse trained.mpk trained.pt
END

python "torch has the same model in the record" <<'END'
import torch
from journey import same, tensors
state = {key[len("module."):]: value.numpy() for key, value in torch.load("checkpoint.pth.tar")["state_dict"].items()}
expected = {"conv1.weight": state["conv1.weight"], "bn1.gamma": state["bn1.weight"], "bn1.beta": state["bn1.bias"],
            "bn1.running_mean": state["bn1.running_mean"], "bn1.running_var": state["bn1.running_var"],
            "fc.weight": state["fc.weight"].T, "fc.bias": state["fc.bias"]}
same(tensors("model.mpk"), expected)
back = torch.load("trained.pt")
state["fc.bias"][0] = 0.5
del state["bn1.num_batches_tracked"]
same({key: value.numpy() for key, value in back.items()}, {"module." + key: value for key, value in state.items()})
END
finish
