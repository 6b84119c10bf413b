// SPDX-License-Identifier: MIT OR Apache-2.0
//! The modules whose records other versions of Burn wrote: those of the oracle, of which only the tensors matter here.
#[cfg(not(feature = "since_22"))]
use crate::B;
use crate::{device, Device};
#[cfg(not(feature = "since_22"))]
use burn::tensor::backend::Backend;
use burn::module::{Module, Param, ParamId};
use burn::nn;
use burn::tensor::{Bool, Int, Tensor};

#[derive(Module, Debug)]
pub struct Tiny<B: Backend> {
    linear: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct Block<B: Backend> {
    fc: nn::Linear<B>,
    norm: nn::LayerNorm<B>,
    act: nn::Relu,
    drop: nn::Dropout,
    scale: f64,
}

#[derive(Module, Debug)]
pub enum Head<B: Backend> {
    Dense(nn::Linear<B>),
    Conv(nn::conv::Conv2d<B>),
}

#[derive(Module, Debug)]
pub struct Zoo<B: Backend> {
    conv1: nn::conv::Conv1d<B>,
    conv2: nn::conv::Conv2d<B>,
    up: nn::conv::ConvTranspose2d<B>,
    bn: nn::BatchNorm<B>,
    gn: nn::GroupNorm<B>,
    emb: nn::Embedding<B>,
    no_bias: nn::Linear<B>,
    blocks: Vec<Block<B>>,
    empty: Vec<nn::Linear<B>>,
    some: Option<nn::Linear<B>>,
    none: Option<nn::Linear<B>>,
    array: [nn::Linear<B>; 2],
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

#[derive(Module, Debug)]
pub struct ConvBlock<B: Backend> {
    conv: nn::conv::Conv2d<B>,
    norm: nn::BatchNorm<B>,
    activation: nn::Gelu,
}

#[derive(Module, Debug)]
pub struct Mnist<B: Backend> {
    stem: nn::conv::Conv2d<B>,
    blocks: Vec<ConvBlock<B>>,
    dropout: nn::Dropout,
    fc1: nn::Linear<B>,
    fc2: nn::Linear<B>,
    num_classes: usize,
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

/// A field that is a word of Rust: `r#type` in a store, `type` in a record.
#[derive(Module, Debug)]
pub struct Words<B: Backend> {
    r#type: nn::Linear<B>,
    r#match: Vec<nn::Linear<B>>,
    free: Param<Tensor<B, 1>>,
}

fn linear(inputs: usize, outputs: usize) -> nn::Linear<B> {
    nn::LinearConfig::new(inputs, outputs).init(&device())
}

fn zeros<const D: usize>(shape: [usize; D]) -> Param<Tensor<B, D>> {
    Param::initialized(ParamId::new(), Tensor::<B, D>::zeros(shape, &device()))
}

pub fn tiny() -> Tiny<B> {
    Tiny { linear: linear(3, 2) }
}

fn any_zoo(ids: [usize; 2]) -> Zoo<B> {
    use nn::conv::{Conv1dConfig, Conv2dConfig, ConvTranspose2dConfig};
    let d: Device = device();
    let block = |scale| Block {
        fc: linear(3, 3),
        norm: nn::LayerNormConfig::new(3).init(&d),
        act: nn::Relu::new(),
        drop: nn::DropoutConfig::new(0.25).init(),
        scale,
    };
    Zoo {
        conv1: Conv1dConfig::new(2, 3, 3).init(&d),
        conv2: Conv2dConfig::new([2, 4], [3, 2]).init(&d),
        up: ConvTranspose2dConfig::new([4, 2], [2, 2]).init(&d),
        bn: nn::BatchNormConfig::new(4).init(&d),
        gn: nn::GroupNormConfig::new(2, 4).init(&d),
        emb: nn::EmbeddingConfig::new(5, 3).init(&d),
        no_bias: nn::LinearConfig::new(2, 2).with_bias(false).init(&d),
        blocks: vec![block(0.5), block(1.0), block(2.0)],
        empty: vec![],
        some: Some(linear(1, 2)),
        none: None,
        array: [linear(2, 1), linear(1, 1)],
        pair: (linear(2, 3), nn::LayerNormConfig::new(2).init(&d)),
        head_a: Head::Dense(linear(2, 2)),
        head_b: Head::Conv(Conv2dConfig::new([1, 1], [2, 2]).init(&d)),
        free: zeros([2, 3, 2]),
        ids: Param::initialized(ParamId::new(), Tensor::<B, 2, Int>::zeros(ids, &d)),
        mask: Param::initialized(ParamId::new(), Tensor::<B, 1>::zeros([5], &d).greater_elem(0.5)),
        size: 9,
        ratio: 0.75,
        flag: true,
    }
}

pub fn zoo() -> Zoo<B> {
    any_zoo([3, 2])
}

/// The zoo of the golden records, whose integers have another shape.
pub fn zoo_wide() -> Zoo<B> {
    any_zoo([2, 3])
}

pub fn mnist() -> Mnist<B> {
    let d = device();
    let conv = |inputs, outputs| nn::conv::Conv2dConfig::new([inputs, outputs], [3, 3]).init(&d);
    let block = || ConvBlock {
        conv: conv(16, 16),
        norm: nn::BatchNormConfig::new(16).init(&d),
        activation: nn::Gelu::new(),
    };
    Mnist {
        stem: conv(1, 16),
        blocks: (0..3).map(|_| block()).collect(),
        dropout: nn::DropoutConfig::new(0.5).init(),
        fc1: linear(256, 32),
        fc2: linear(32, 10),
        num_classes: 10,
    }
}

pub fn layers() -> Layers<B> {
    let d = device();
    Layers {
        lstm: nn::LstmConfig::new(2, 3, true).init(&d),
        gru: nn::gru::GruConfig::new(2, 2, false).init(&d),
        attention: nn::attention::MultiHeadAttentionConfig::new(4, 2).init(&d),
        encoder: nn::transformer::TransformerEncoderConfig::new(4, 6, 2, 2).init(&d),
        decoder: nn::transformer::TransformerDecoderConfig::new(4, 6, 2, 1).with_norm_first(true).init(&d),
        feed: nn::transformer::PositionWiseFeedForwardConfig::new(2, 3).init(&d),
        places: nn::PositionalEncodingConfig::new(4).with_max_sequence_size(6).init(&d),
        turns: nn::RotaryEncodingConfig::new(6, 4).init(&d),
        up: nn::conv::ConvTranspose1dConfig::new([2, 2], 3).init(&d),
        group: nn::GroupNormConfig::new(2, 4).with_affine(false).init(&d),
        instance: nn::InstanceNormConfig::new(3).init(&d),
        rms: nn::RmsNormConfig::new(3).init(&d),
        slope: nn::PReluConfig::new().init(&d),
        gate: nn::SwiGluConfig::new(2, 2).init(&d),
        pool: nn::pool::AdaptiveAvgPool2dConfig::new([2, 2]).init(),
    }
}

pub fn recent() -> Recent<B> {
    let d = device();
    let norm = |size| nn::RmsNormConfig::new(size).init(&d);
    let pool = || nn::pool::MaxPool2dConfig::new([2, 2]).init();
    Recent {
        both: nn::BiLstmConfig::new(2, 2, false).init(&d),
        deep: nn::conv::Conv3dConfig::new([1, 2], [2, 1, 2]).init(&d),
        up: nn::conv::ConvTranspose3dConfig::new([2, 1], [1, 2, 1]).init(&d),
        bent: nn::conv::DeformConv2dConfig::new([2, 2], [2, 2]).init(&d),
        loss: nn::loss::CrossEntropyLossConfig::new().init(&d),
        list: vec![(norm(2), None), (norm(3), Some(nn::PReluConfig::new().init(&d)))],
        pools: [pool(), pool()],
        sizes: vec![3, 4, 5],
        maybe: Some(6),
    }
}

pub fn words() -> Words<B> {
    Words { r#type: linear(2, 3), r#match: vec![linear(1, 1), linear(2, 2)], free: zeros([4]) }
}
