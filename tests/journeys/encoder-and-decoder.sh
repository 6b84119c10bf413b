#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Two models that were trained apart are put into one record for a program that has both, and one is taken out again.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack safetensors

python "PyTorch's encoder and decoder" <<'END'
import numpy
from safetensors.numpy import save_file
random = numpy.random.default_rng(7)
draw = lambda *shape: random.standard_normal(shape, dtype="f4")
encoder = {"0.weight": draw(8, 16), "0.bias": draw(8), "2.weight": draw(4, 8), "2.bias": draw(4)}
decoder = {"0.weight": draw(8, 4), "0.bias": draw(8), "2.weight": draw(16, 8), "2.bias": draw(16)}
save_file(encoder, "encoder.safetensors")
save_file(decoder, "decoder.safetensors")
END
step "both in one record; numbers of nn.Sequential have no gaps in Burn" <<'END'
record plan --prefix encoder.layers encoder.safetensors --prefix decoder.layers decoder.safetensors
record convert --prefix encoder.layers encoder.safetensors --prefix decoder.layers decoder.safetensors autoencoder.mpk
record ls --all autoencoder.mpk
END
prints "decoder.layers.1.weight f32 [8, 16]"
step "the encoder alone, under another name" <<'END'
record edit autoencoder.mpk rm decoder mv '^encoder\.' 'body.' -o body.mpk
record convert --reverse body.mpk body.safetensors
record ls body.safetensors
END
prints "body.layers.1.weight f32 [4, 8]"

python "Python finds each tensor where it belongs" <<'END'
from journey import same, tensors
from safetensors.numpy import load_file
def layers(name, model):
    return {f"{name}.layers.{int(key[0]) // 2}{key[1:]}": value for key, value in model.items()}
encoder, decoder = load_file("encoder.safetensors"), load_file("decoder.safetensors")
both = {**layers("encoder", encoder), **layers("decoder", decoder)}
same(tensors("autoencoder.mpk"), {key: value.T for key, value in both.items()})
same(load_file("body.safetensors"), layers("body", encoder))
END
finish
