# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is expected of each model, and how record is told what no tensor shows.

CASES[model] = Case(...):
  options   what the model needs beside its type; with them the conversion must be right ("works" and the columns after it)
  facts     the numbers and choices that no tensor shows: --set NAME=VALUE. A conversion that lacks one must be rejected
            with a message that names each of them
  plain     "right", or "refused" where the file alone cannot show what its tensors are
  type      the name of the Rust type, where it is not the model's
  source    the file of Rust that has the type
  inexact   the way back gives the same function and not the same bits
"""
from dataclasses import dataclass, field


@dataclass
class Case:
    options: list = field(default_factory=list)
    facts: dict = field(default_factory=dict)
    plain: str = "right"
    type: str = ""
    source: str = "blocks"
    inexact: bool = False
    typed: str = "right"

    @property
    def all_options(self):
        return [*self.options, *(f"--set={name}={value}" for name, value in self.facts.items())]


def remap(*rules):
    return [f"--remap={rule}" for rule in rules]


def rules(*lines):
    return [f"--rule={line}" for line in lines]


CASES = {
    "Mlp": Case(),
    "Cnn": Case(),
    "Lookup": Case(plain="refused"),  # an Embedding or a Linear without bias
    "Tagger": Case(plain="refused"),
    "Reader": Case(),
    "Classifier": Case(facts={"norm_first": 0}, plain="refused"),
    "PreNorm": Case(facts={"norm_first": 1}, plain="refused", type="Classifier"),
    "Pooler": Case(),
    "Translator": Case(facts={"norm_first": 0}, plain="refused"),
    "PreTranslator": Case(facts={"norm_first": 1}, plain="refused", type="Translator"),
    "Gaps": Case(),
    # The type's fields have names, and the file has numbers.
    "Sequence": Case(remap(r"^0\. => first.", r"^2\. => norm.", r"^3\. => last."), plain="refused", typed="refused"),
    "Gated": Case(plain="refused"),
    "Llama": Case(["--profile=llama"], facts={"heads": 4, "kv_heads": 2}, plain="refused", typed="refused", source="families"),
}

# Conversions that are wrong on purpose: the comparison must see each of them. The rules exchange tensors of the right record.
EXCHANGED = {
    "Cnn": ("running_mean", "running_var"),
    "Tagger": ("input_gate", "forget_gate"),
    "Reader": ("forward", "reverse"),
    "Classifier": ("norm_1", "norm_2"),
    "Pooler": ("key", "value"),
    "Translator": ("self_attn", "cross_attn"),
    "Llama": ("wq", "wo"),
}
# These rules are given with the type: a square weight that is not transposed, a rotary encoding that is left out.
MISTAKEN = {
    "Mlp": ["--module=^hidden$ => Conv1D"],
    "Llama": ["--profile=llama-norope"],
}
