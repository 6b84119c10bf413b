// SPDX-License-Identifier: MIT OR Apache-2.0
use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    tensor::{backend::Backend, Tensor},
};

#[derive(Module, Debug)]
pub struct Model<B: Backend> {
    a: Linear<B>,
    b: Linear<B>,
}

impl<B: Backend> Model<B> {
    pub fn new(device: &B::Device) -> Self {
        Model {
            a: LinearConfig::new(3, 4).init(device),
            b: LinearConfig::new(4, 2).with_bias(false).init(device),
        }
    }

    pub fn forward(&self, input: Tensor<B, 2>) -> Tensor<B, 2> {
        self.b.forward(self.a.forward(input).tanh())
    }
}
