// SPDX-License-Identifier: MIT OR Apache-2.0
use burn::{module::Module, nn, tensor::backend::Backend};

#[derive(Module, Debug)]
pub struct Tiny<B: Backend> {
    linear: nn::Linear<B>,
}

/// What Tiny is not.
#[derive(Module, Debug)]
pub struct Other<B: Backend> {
    norm: nn::LayerNorm<B>,
}
