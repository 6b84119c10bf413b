# SPDX-License-Identifier: MIT OR Apache-2.0
"""The list of models: a class of PyTorch under @model(input...) becomes a model of that name."""
import torch

MODELS = {}


def floats(*shape):
    """Returns a maker of an input of normally distributed numbers."""
    return lambda: torch.randn(*shape)


def tokens(count, *shape):
    """Returns a maker of an input of numbers below COUNT."""
    return lambda: torch.randint(0, count, shape)


def model(*inputs):
    """Registers a class whose forward method takes these inputs, which are made after its weights."""
    def register(net):
        MODELS[net.__name__] = (net, inputs)
        return net
    return register


def fill(name, module):
    """Seeds the generator by the model's name and fills all weights.

    No bias, norm or statistic keeps the 0 or 1 of its initialisation, and no layer is the copy of another one: a tensor
    that was lost or exchanged changes the output.
    """
    torch.manual_seed(sum(name.encode()))
    with torch.no_grad():
        for key, tensor in module.state_dict().items():
            if not tensor.is_floating_point() or key.endswith(("weight_mask", ".pe")):
                continue
            positive = key.endswith(("running_var", "weight_g")) or (tensor.dim() == 1 and key.endswith("weight"))
            tensor.copy_(torch.rand_like(tensor) + 0.5 if positive else torch.randn_like(tensor) * 0.4)
            tensor.copy_(tensor.to(getattr(module, "dtype", tensor.dtype)))


def build(name):
    """Returns a model in evaluation mode and its inputs: the same ones in every process."""
    net, inputs = MODELS[name]
    torch.manual_seed(0)
    module = net()
    fill(name, module)
    return module.eval(), [make() for make in inputs]
