// SPDX-License-Identifier: MIT OR Apache-2.0
// The types of oracle/src/cases.rs as someone who has stranded files would give them to librecord: the structs of a
// model out of its source, with what stands around them there. Nothing compiles this file.
use burn::{
    module::{Module, Param},
    nn::{self, conv::Conv2d},
    prelude::*,
    record::Record,
};

pub const CLASSES: usize = 10;

/// One layer and nothing else.
#[derive(Module, Debug, Clone)]
pub struct Tiny<B: Backend> {
    linear: nn::Linear<B>,
}

impl<B: Backend> Tiny<B> {
    pub fn forward(&self, input: Tensor<B, 2>) -> Tensor<B, 2> {
        let output = self.linear.forward(input); // struct Decoy { linear: nn::LayerNorm<B> }
        output.clone() * output
    }
}

/* A residual step /* with its knobs */ . */
#[derive(Module, Debug)]
pub(crate) struct Block<B>
where
    B: Backend,
{
    fc: nn::Linear<B>,
    norm: nn::LayerNorm<B>,
    act: nn::Relu,
    drop: nn::Dropout,
    /// Constant: it is no parameter.
    scale: f64,
}

#[derive(Module, Debug)]
pub enum Head<B: Backend> {
    Dense(nn::Linear<B>),
    Conv(Conv2d<B>),
}

type Pair<L> = [L; 2];

#[derive(Module, Debug)]
pub struct Zoo<B: Backend> {
    conv1: nn::conv::Conv1d<B>,
    conv2: nn::conv::Conv2d<B>,
    up: nn::conv::ConvTranspose2d<B>,
    bn: nn::BatchNorm<B, 2>, // one parameter less since Burn 0.19
    gn: nn::GroupNorm<B>,
    emb: nn::Embedding<B>,
    no_bias: nn::Linear<B>,
    pub blocks: Vec<Block<B>>,
    pub empty: Vec<nn::Linear<B>>,
    some: Option<nn::Linear<B>>,
    none: Option<nn::Linear<B>>,
    array: Pair<nn::Linear<B>>,
    pair: (nn::Linear<B>, nn::LayerNorm<B>),
    head_a: Head<B>,
    head_b: Head<B>,
    free: Param<Tensor<B, 3>>,
    ids: Param<Tensor<B, 2, Int>>,
    mask: Param<Tensor<B, 1, Bool>>,
    size: usize,
    ratio: f64,
    flag: bool,
}

#[derive(Record, Clone)]
pub struct Scalars<B: Backend> {
    name: String,
    count: usize,
    tiny: u8,
    short: i16,
    long: i64,
    big: u64,
    single: f32,
    double: f64,
    yes: bool,
    words: Vec<String>,
    maybe: Option<u32>,
    never: Option<u32>,
    couple: (u16, String),
    grid: [i32; 3],
    floats: Tensor<B, 2>,
    ints: Tensor<B, 2, Int>,
    bools: Tensor<B, 1, Bool>,
    scalar_like: Tensor<B, 1>,
    void: Tensor<B, 2>,
    nested: Vec<Option<Vec<u8>>>,
}

#[derive(Record, Clone)]
pub struct Long<B: Backend> {
    text_16: String,
    text_32: String,
    list_16: Vec<u16>,
    list_32: Vec<u32>,
    bin_8: Tensor<B, 1>,
    bin_16: Tensor<B, 1>,
    bin_32: Tensor<B, 2>,
}

#[derive(Module, Debug)]
pub struct Trainee<B: Backend> {
    a: nn::Linear<B>,
    b: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct Layers<B: Backend> {
    lstm: nn::Lstm<B>,
    gru: nn::gru::Gru<B>,
    attention: nn::attention::MultiHeadAttention<B>,
    encoder: nn::transformer::TransformerEncoder<B>,
    decoder: nn::transformer::TransformerDecoder<B>,
    feed: nn::transformer::PositionWiseFeedForward<B>,
    places: nn::PositionalEncoding<B>,
    turns: nn::RotaryEncoding<B>,
    up: nn::conv::ConvTranspose1d<B>,
    group: nn::GroupNorm<B>,
    instance: nn::InstanceNorm<B>,
    rms: nn::RmsNorm<B>,
    slope: nn::PRelu<B>,
    gate: nn::SwiGlu<B>,
    pool: nn::pool::AdaptiveAvgPool2d,
}

#[derive(Module, Debug)]
pub struct Recent<B: Backend> {
    both: nn::BiLstm<B>,
    deep: nn::conv::Conv3d<B>,
    up: nn::conv::ConvTranspose3d<B>,
    bent: nn::conv::DeformConv2d<B>,
    loss: nn::loss::CrossEntropyLoss<B>,
    list: Vec<(nn::RmsNorm<B>, Option<nn::PRelu<B>>)>,
    pools: [nn::pool::MaxPool2d; 2],
    sizes: Vec<usize>,
    maybe: Option<usize>,
}

#[derive(Module, Debug)]
pub struct ConvBlock<B: Backend> {
    conv: Conv2d<B>,
    #[cfg(not(feature = "since_19"))]
    norm: nn::BatchNorm<B, 2>,
    #[cfg(feature = "since_19")]
    norm: nn::BatchNorm<B>,
    activation: nn::Gelu,
}

#[derive(Module, Debug)]
pub struct Mnist<B: Backend> {
    stem: Conv2d<B>,
    blocks: Vec<ConvBlock<B>>,
    dropout: nn::Dropout,
    fc1: nn::Linear<B>,
    fc2: nn::Linear<B>,
    num_classes: usize,
}

#[cfg(test)]
mod tests {
    #[test]
    fn braces_in_text_are_text() {
        let text = r#"struct Tiny<B: Backend> { "quoted": } "#;
        assert!(text.ends_with(' ') && '}' != '{' && super::CLASSES == 10);
    }
}
