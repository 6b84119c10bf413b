// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules of Burn's whose records changed from version to version, and the optimizers beside Adam.
use crate::cases::{linear, tensor, waves, Trainee};
use burn::module::Module;
use burn::nn;
use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::backend::{AutodiffBackend, Backend};

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

pub fn layers<B: Backend>() -> Layers<B> {
    let device = &B::Device::default();
    Layers {
        lstm: nn::LstmConfig::new(2, 3, true).init(device),
        gru: nn::gru::GruConfig::new(2, 2, false).init(device),
        attention: nn::attention::MultiHeadAttentionConfig::new(4, 2).init(device),
        encoder: nn::transformer::TransformerEncoderConfig::new(4, 6, 2, 2).init(device),
        decoder: nn::transformer::TransformerDecoderConfig::new(4, 6, 2, 1).with_norm_first(true).init(device),
        feed: nn::transformer::PositionWiseFeedForwardConfig::new(2, 3).init(device),
        places: nn::PositionalEncodingConfig::new(4).with_max_sequence_size(6).init(device),
        turns: nn::RotaryEncodingConfig::new(6, 4).init(device),
        up: nn::conv::ConvTranspose1dConfig::new([2, 2], 3).init(device),
        group: nn::GroupNormConfig::new(2, 4).with_affine(false).init(device),
        instance: nn::InstanceNormConfig::new(3).init(device),
        rms: nn::RmsNormConfig::new(3).init(device),
        slope: nn::PReluConfig::new().init(device),
        gate: nn::SwiGluConfig::new(2, 2).init(device),
        pool: nn::pool::AdaptiveAvgPool2dConfig::new([2, 2]).init(),
    }
}

/// What came after 0.13, and constants in containers.
#[cfg(feature = "since_15")]
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

#[cfg(feature = "since_15")]
pub fn recent<B: Backend>() -> Recent<B> {
    let device = &B::Device::default();
    let norm = |size| nn::RmsNormConfig::new(size).init(device);
    let pool = || nn::pool::MaxPool2dConfig::new([2, 2]).init();
    Recent {
        both: nn::BiLstmConfig::new(2, 2, false).init(device),
        deep: nn::conv::Conv3dConfig::new([1, 2], [2, 1, 2]).init(device),
        up: nn::conv::ConvTranspose3dConfig::new([2, 1], [1, 2, 1]).init(device),
        bent: nn::conv::DeformConv2dConfig::new([2, 2], [2, 2]).init(device),
        loss: nn::loss::CrossEntropyLossConfig::new().init(device),
        list: vec![(norm(2), None), (norm(3), Some(nn::PReluConfig::new().init(device)))],
        pools: [pool(), pool()],
        sizes: vec![3, 4, 5],
        maybe: Some(6),
    }
}

/// A model and its optimizer after three steps: the optimizer's state is kept by the ids of the model's parameters.
pub fn trained<B, O>(mut optimizer: O) -> (Trainee<B>, O)
where
    B: AutodiffBackend,
    O: Optimizer<Trainee<B>, B>,
{
    let device = &B::Device::default();
    let mut model = Trainee { a: linear::<B>(3, 4), b: nn::LinearConfig::new(4, 2).with_bias(false).init(device) };
    for _ in 0..3 {
        model = step(model, &mut optimizer);
    }
    (model, optimizer)
}

/// The model after one more step. Tests of other versions of Burn make the same one.
pub fn step<B, O>(model: Trainee<B>, optimizer: &mut O) -> Trainee<B>
where
    B: AutodiffBackend,
    O: Optimizer<Trainee<B>, B>,
{
    let input = tensor::<B, 2>([5, 3], &waves(15, 1.0));
    let output = model.b.forward(model.a.forward(input).tanh());
    let gradients = (output.clone() * output).mean().backward();
    let gradients = GradientsParams::from_grads(gradients, &model);
    optimizer.step(0.01, model, gradients)
}
