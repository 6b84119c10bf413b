// SPDX-License-Identifier: MIT OR Apache-2.0
// The network of net.h as the user of Burn has it.

#[derive(Module, Debug)]
pub struct Net<B: Backend> {
    fc1: Linear<B>,
    norm: LayerNorm<B>,
    fc2: Linear<B>,
}
