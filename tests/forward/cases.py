# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is expected of each model, and how record is told what no tensor shows.

CASES[model] = Case(...):
  options   what the model needs in addition to its type: with them the conversion must be right
  facts     the numbers and choices that no tensor shows: --set NAME=VALUE. A conversion that lacks one must be rejected
            with a message that names each of them
  plain     "right", "refused" where the file alone cannot show what its tensors are, or "" to leave the column out
  typed     "refused" where the type's names are not the file's, or its tensors fit more than one kind of module
  type      the name of the Rust type, where it is not the model's
  source    the file of Rust that has the type
  lost      keys that no record has, because Burn computes them or they are tied, as they are in PyTorch
  mixed     the file has a list of different modules, and the destination a tuple: a format of paths needs the type
  never     Burn has no module that computes the same: every conversion must be rejected
  goals     the words of columns in which another result is right
  hub       the files are in hub/, and PyTorch's module is not there
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
    lost: list = field(default_factory=list)
    typed: str = "right"
    hub: bool = False
    mixed: bool = False
    never: bool = False
    goals: dict = field(default_factory=dict)

    @property
    def all_options(self):
        return [*self.options, *(f"--set={name}={value}" for name, value in self.facts.items())]


def remap(*rules):
    return [f"--remap={rule}" for rule in rules]


def rules(*lines):
    return [f"--rule={line}" for line in lines]


def hub(profile, net, options=(), **more):
    return Case([f"--profile={profile}", *options], plain="", type=net, source="families", hub=True,
                **{"typed": "refused", **more})


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
    "Sequence": Case(remap(r"^0\. => first.", r"^2\. => norm.", r"^3\. => last."), plain="", typed="refused"),
    "Gated": Case(plain="refused"),
    # The names of the destination are those of a profile, which a message must name.
    "Llama": Case(["--profile=llama"], {"heads": 4, "kv_heads": 2}, plain="", typed="refused", source="families"),
    "ConfiguredLlama": Case(["--profile=llama"], plain="", typed="refused", type="Llama", source="families"),
    "Bert": Case(["--profile=bert"], plain="", typed="refused", source="families"),
    "Gpt2": Case(["--profile=gpt2"], plain="", typed="refused", source="families"),
    "Vit": Case(["--profile=vit"], plain="", typed="refused", source="families"),
    "Whisper": Case(["--profile=whisper"], plain="", typed="refused", source="families", lost=["proj_out.weight"]),
    "ResNet": Case(["--profile=resnet"], plain="", typed="refused", source="families"),
    "T5": Case(["--profile=t5"], plain="", source="families"),
    "Unet": Case(source="families", mixed=True),
    # Files that transformers wrote, in hub/: a tied tensor is there once.
    "HubBert": hub("bert", "Bert"),
    "HubGpt2": hub("gpt2", "Gpt2", rules("tie = lm_head.weight = transformer.wte.weight", "module = ^lm_head$ => Linear")),
    "HubLlama": hub("llama", "Llama"),
    "HubMistral": hub("llama", "Llama"),
    "HubT5": hub("t5", "T5", typed="right"),
    "HubVit": hub("vit", "Vit"),
    "HubWhisper": hub("whisper", "Whisper"),
    **{name: Case(source="layers") for name in (
        "Wave", "Volume", "Stretch", "Enlarge", "Inflate", "Grouped", "Warp", "Painter", "Forecast", "Dialogue",
        "Counter", "Mirror", "Tower", "Cascade", "Ladder", "Recall", "Onlooker", "Wide", "Gatehouse")},
    "Bare": Case(source="layers", plain=""),  # only the type shows that there is a norm
    "Slope": Case(source="layers", plain="refused"),  # a vector alone may be a PRelu or a norm
    "Block": Case(source="layers", facts={"norm_first": 0}, plain="refused"),
    "PreBlock": Case(source="layers", facts={"norm_first": 1}, plain="refused", type="Block"),
    "Step": Case(source="layers", facts={"norm_first": 0}, plain="refused"),
    "Chosen": Case(source="layers", plain="refused"),
    **{name: Case(source="structures") for name in (
        "Vgg", "Siamese", "Learned", "Ensemble", "Tied")},
    **{name: Case(source="structures", mixed=True) for name in ("Autoencoder", "Twin")},
    "Melody": Case(source="structures", plain="refused", lost=["position.pe"]),
    "Tabular": Case(source="structures", plain="refused"),
    "Mixture": Case(rules(r"module = ^experts\.[0-9]+$ => Linear", r"stack = ^experts\.([0-9]+)\.weight$ => experts"),
                    source="structures", plain="refused", typed="refused"),
    # The .pt of these two is not a state dict.
    "Checkpoint": Case(source="structures", type="Inner"),
    "Pickled": Case(source="structures", type="Inner"),
    **{name: Case(source="networks") for name in ("Seq2Seq", "Nested", "Keyword", "Stepwise")},
    **{name: Case(source="networks", mixed=True) for name in ("MiniVit", "Mixed")},
    "Various": Case(source="networks", plain=""),  # a list or an enum
    "Hifi": Case(source="networks", inexact=True),
    "Speech": Case(source="networks", inexact=True),
    "Halved": Case(source="networks", type="Rounded"),
    "Brain": Case(source="networks", type="Rounded"),
    # What Burn cannot compute.
    "FinalNorm": Case(facts={"norm_first": 0}, plain="refused", type="Classifier", never=True),
    "BiasKv": Case(plain="", type="Pooler", never=True),
    "Tracked": Case(source="layers", plain="", type="Painter", never=True),
    "Projected": Case(source="networks", plain="", never=True),
    "Spectral": Case(source="structures", plain="", type="Inner", never=True),
    # A prefix that the type does not have; the file alone cannot show that the destination lacks it.
    "Parallel": Case(["--select=module"], source="structures", plain="", typed="refused", type="Inner"),
    "Vocoder": Case(source="structures", inexact=True),
    "Reparametrized": Case(source="structures", inexact=True),
    # With the original as a base: it has no place for a weight that the mask no longer zeroes.
    "Pruned": Case(source="structures", type="Inner", inexact=True, goals={"trained": "refused"}),
    "Feed": Case(["--module=^(mix|expand|shrink)$ => Conv1D"], source="structures", plain="refused", typed="refused"),
}

# Conversions that are wrong on purpose: the comparison must see each. Here two names of the right record are
# exchanged.
EXCHANGED = {
    "Cnn": ("running_mean", "running_var"),
    "Tagger": ("input_gate", "forget_gate"),
    "Reader": ("forward", "reverse"),
    "Classifier": ("norm_1", "norm_2"),
    "Forecast": ("update_gate", "reset_gate"),
    "Dialogue": ("forward", "reverse"),
    "Volume": ("running_mean", "running_var"),
    "Gatehouse": ("linear_inner", "linear_outer"),
    "Pooler": ("key", "value"),
    "Translator": ("self_attn", "cross_attn"),
    "Llama": ("wq", "wo"),
}
# These rules are given with the type: a square weight that is not transposed, a rotary encoding that is left out.
MISTAKEN = {
    "Mlp": ["--module=^(project|hidden|readout)$ => Conv1D"],
    "Llama": ["--profile=llama-norope"],
}
