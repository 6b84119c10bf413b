#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The same trainings go to colleagues with PyTorch, who compute with the model and resume Adam.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs torch numpy msgpack jq

step "the old trainings" <<'END'
cp -R "$journeys/training" runs
END
step "the directory's models in PyTorch's names and layout, in full precision" <<'END'
record convert -r --include 'model-*.mpk' --type runs/model.rs:Model --reverse --precision full --to pytorch \
    runs pytorch
record ls pytorch/first/checkpoint/model-1.pt
END
prints "a.weight f32 [4, 3]"
step "its Adam as it is, and which parameter has which id" <<'END'
record convert runs/first/checkpoint/optim-1.mpk pytorch/optim.pt
record ls --json runs/first/checkpoint/model-1.mpk | jq '.tensors | map({(.key): .id}) | add' | tee pytorch/ids.json
END
prints '"b.weight":'

python "torch computes what the records say, and resumes" <<'END'
import json, numpy, torch
from journey import ids, tensors
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2, bias=False)
    def forward(self, x):
        return self.b(self.a(x).tanh())
for run in "second", "first":
    old, model, x = tensors(f"runs/{run}/checkpoint/model-1.mpk"), Model(), torch.linspace(-1, 1, 15).reshape(5, 3)
    model.load_state_dict(torch.load(f"pytorch/{run}/checkpoint/model-1.pt"))
    burn = numpy.tanh(x.numpy() @ old["a.weight"].astype("f4") + old["a.bias"]) @ old["b.weight"].astype("f4")
    assert numpy.allclose(model(x).detach().numpy(), burn, atol=1e-6), run

names, states = json.load(open("pytorch/ids.json")), torch.load("pytorch/optim.pt")
assert names == ids("runs/first/checkpoint/model-1.mpk")
adam = torch.optim.Adam(model.parameters(), 0.01, eps=1e-5)
expected = {}
for key, parameter in model.named_parameters():
    state = states[names[key]]["V1"][f"Rank{parameter.ndim}"]["momentum"]
    first, second = (state[name].T if parameter.ndim == 2 else state[name] for name in ("moment_1", "moment_2"))
    adam.state[parameter] = {"step": torch.tensor(float(state["time"])), "exp_avg": first.clone(),
                             "exp_avg_sq": second.clone()}
    parameter.grad = g = torch.full_like(parameter, 0.125)
    first, second, time = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g * g, 4
    expected[key] = parameter - 0.01 * first / (1 - 0.9**time) / ((second / (1 - 0.999**time)).sqrt() + 1e-5)
adam.step()
assert all(torch.allclose(parameter, expected[key], atol=1e-6) for key, parameter in model.named_parameters())
END
finish
