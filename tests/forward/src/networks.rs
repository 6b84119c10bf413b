// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of networks.py.
use crate::names::*;
use crate::Run;
use burn::module::{Module, Param};
use burn::nn::attention::{MhaInput, MultiHeadAttention, MultiHeadAttentionConfig};
use burn::nn::conv::*;
use burn::nn::*;
use burn::tensor::activation::{gelu, leaky_relu, relu};
use burn::tensor::{Tensor, TensorData};

fn linear<B: Backend>(width: usize, d: &B::Device) -> Linear<B> {
    LinearConfig::new(width, width).init(d)
}

#[derive(Module, Debug)]
pub struct Side<B: Backend> {
    rnn: Lstm<B>,
}

#[derive(Module, Debug)]
pub struct Seq2Seq<B: Backend> {
    encoder: Side<B>,
    decoder: Side<B>,
    out: Linear<B>,
}

impl<B: Backend> Seq2Seq<B> {
    fn new(d: &B::Device) -> Self {
        let side = || Side { rnn: LstmConfig::new(5, 5, true).init(d) };
        Self { encoder: side(), decoder: side(), out: linear(5, d) }
    }
    fn forward(&self, x: Tensor<B, 3>, y: Tensor<B, 3>) -> Tensor<B, 3> {
        let state = self.encoder.rnn.forward(x, None).1;
        self.out.forward(self.decoder.rnn.forward(y, Some(state)).0)
    }
}

#[derive(Module, Debug)]
pub struct Stepwise<B: Backend> {
    cells: Vec<Lstm<B>>,
    gated: Gru<B>,
    out: Linear<B>,
}

impl<B: Backend> Stepwise<B> {
    fn new(d: &B::Device) -> Self {
        let cell = |_| LstmConfig::new(5, 5, true).init(d);
        Self { cells: (0..2).map(cell).collect(), gated: GruConfig::new(5, 5, true).init(d), out: linear(5, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let x = self.cells.iter().fold(x, |x, cell| cell.forward(x, None).0);
        self.out.forward(self.gated.forward(x, None))
    }
}

#[derive(Module, Debug)]
pub struct Speech<B: Backend> {
    pos_conv: Conv1d<B>,
    norm: LayerNorm<B>,
}

impl<B: Backend> Speech<B> {
    fn new(d: &B::Device) -> Self {
        let conv = Conv1dConfig::new(4, 4, 3).with_groups(2).with_padding(PaddingConfig1d::Explicit(1, 1));
        Self { pos_conv: conv.init(d), norm: LayerNormConfig::new(4).init(d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.norm.forward(x.clone() + gelu(self.pos_conv.forward(x.swap_dims(1, 2))).swap_dims(1, 2))
    }
}

#[derive(Module, Debug)]
pub struct VisionBlock<B: Backend> {
    norm1: LayerNorm<B>,
    attn: MultiHeadAttention<B>,
    norm2: LayerNorm<B>,
    mlp: Vec<Linear<B>>,
}

#[derive(Module, Debug)]
pub struct MiniVit<B: Backend> {
    patch: Conv2d<B>,
    pos: Param<Tensor<B, 3>>,
    blocks: Vec<VisionBlock<B>>,
    head: (LayerNorm<B>, Linear<B>),
}

impl<B: Backend> MiniVit<B> {
    fn new(d: &B::Device) -> Self {
        let norm = || LayerNormConfig::new(8).init(d);
        let block = |_| VisionBlock {
            norm1: norm(),
            attn: MultiHeadAttentionConfig::new(8, 2).init(d),
            norm2: norm(),
            mlp: vec![linear(8, d), linear(8, d)],
        };
        Self {
            patch: Conv2dConfig::new([3, 8], [2, 2]).with_stride([2, 2]).init(d),
            pos: Initializer::Zeros.init([1, 4, 8], d),
            blocks: (0..2).map(block).collect(),
            head: (norm(), linear(8, d)),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let mut x = self.patch.forward(x).flatten::<3>(2, 3).swap_dims(1, 2) + self.pos.val();
        for block in &self.blocks {
            x = x.clone() + block.attn.forward(MhaInput::self_attn(block.norm1.forward(x))).context;
            let inner = gelu(block.mlp[0].forward(block.norm2.forward(x.clone())));
            x = x + block.mlp[1].forward(inner);
        }
        self.head.1.forward(self.head.0.forward(x.mean_dim(1).flatten::<2>(1, 2)))
    }
}

#[derive(Module, Debug)]
pub struct Kernel<B: Backend> {
    convs1: Vec<Conv1d<B>>,
}

#[derive(Module, Debug)]
pub struct Hifi<B: Backend> {
    conv_pre: Conv1d<B>,
    ups: Vec<ConvTranspose1d<B>>,
    resblocks: Vec<Kernel<B>>,
}

impl<B: Backend> Hifi<B> {
    fn new(d: &B::Device) -> Self {
        let conv = |from| Conv1dConfig::new(from, 4, 3).with_padding(PaddingConfig1d::Explicit(1, 1)).init(d);
        let up = |_| ConvTranspose1dConfig::new([4, 4], 4).with_stride(2).with_padding(1).init(d);
        let kernel = |_| Kernel { convs1: vec![conv(4), conv(4)] };
        Self { conv_pre: conv(3), ups: (0..2).map(up).collect(), resblocks: (0..2).map(kernel).collect() }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.ups.iter().zip(&self.resblocks).fold(self.conv_pre.forward(x), |x, (up, block)| {
            let x = up.forward(leaky_relu(x, 0.1));
            block.convs1.iter().fold(x, |x, conv| x.clone() + conv.forward(leaky_relu(x, 0.1)))
        })
    }
}

#[derive(Module, Debug)]
pub struct Nested<B: Backend> {
    net: Vec<Vec<Linear<B>>>,
}

impl<B: Backend> Nested<B> {
    fn new(d: &B::Device) -> Self {
        Self { net: vec![vec![linear(6, d), linear(6, d)], vec![linear(6, d)]] }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let x = relu(self.net[0][0].forward(x));
        self.net[1][0].forward(relu(self.net[0][1].forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Mixed<B: Backend> {
    net: (Linear<B>, LayerNorm<B>, Linear<B>),
}

impl<B: Backend> Mixed<B> {
    fn new(d: &B::Device) -> Self {
        Self { net: (linear(6, d), LayerNormConfig::new(6).init(d), linear(6, d)) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.net.2.forward(relu(self.net.1.forward(self.net.0.forward(x))))
    }
}

#[derive(Module, Debug)]
pub enum Item<B: Backend> {
    Dense(Linear<B>),
    Norm(LayerNorm<B>),
}

#[derive(Module, Debug)]
pub struct Various<B: Backend> {
    steps: Vec<Item<B>>,
}

impl<B: Backend> Various<B> {
    fn new(d: &B::Device) -> Self {
        let dense = || Item::Dense(linear(6, d));
        Self { steps: vec![dense(), Item::Norm(LayerNormConfig::new(6).init(d)), dense()] }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.steps.iter().fold(x, |x, step| match step {
            Item::Dense(layer) => layer.forward(x),
            Item::Norm(layer) => layer.forward(x),
        })
    }
}

#[derive(Module, Debug)]
pub struct Keyword<B: Backend> {
    r#loop: Linear<B>,
    r#match: Linear<B>,
}

impl<B: Backend> Keyword<B> {
    fn new(d: &B::Device) -> Self {
        Self { r#loop: linear(6, d), r#match: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.r#match.forward(relu(self.r#loop.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Rounded<B: Backend> {
    fc1: Linear<B>,
    norm: LayerNorm<B>,
    fc2: Linear<B>,
}

impl<B: Backend> Rounded<B> {
    fn new(d: &B::Device) -> Self {
        Self { fc1: linear(6, d), norm: LayerNormConfig::new(6).init(d), fc2: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.fc2.forward(relu(self.norm.forward(self.fc1.forward(x))))
    }
}

#[derive(Module, Debug)]
pub struct Projected<B: Backend> {
    memory: Lstm<B>,
    head: Linear<B>,
}

impl<B: Backend> Projected<B> {
    fn new(d: &B::Device) -> Self {
        Self { memory: LstmConfig::new(5, 3, true).init(d), head: LinearConfig::new(3, 5).init(d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.memory.forward(x, None).0)
    }
}

pub fn compute(name: &str, run: &Run) -> Option<TensorData> {
    let d = &Device::default();
    let output = match name {
        "Seq2Seq" => run.loaded(Seq2Seq::<B>::new(d)).forward(run.floats(0), run.floats(1)).into_data(),
        "Stepwise" => run.loaded(Stepwise::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Speech" => run.loaded(Speech::<B>::new(d)).forward(run.floats(0)).into_data(),
        "MiniVit" => run.loaded(MiniVit::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Hifi" => run.loaded(Hifi::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Nested" => run.loaded(Nested::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Mixed" => run.loaded(Mixed::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Various" => run.loaded(Various::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Keyword" => run.loaded(Keyword::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Halved" | "Brain" => run.loaded(Rounded::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Projected" => run.loaded(Projected::<B>::new(d)).forward(run.floats(0)).into_data(),
        _ => return None,
    };
    Some(output)
}
