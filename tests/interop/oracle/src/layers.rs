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
    gru: nn::Gru<B>,
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
    loss: nn::loss::MseLoss,
}

pub fn layers<B: Backend>() -> Layers<B> {
    let device = &B::Device::default();
    Layers {
        lstm: nn::LstmConfig::new(2, 3, true).init(device),
        gru: nn::GruConfig::new(2, 2, false).init(device),
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
        loss: nn::loss::MseLoss::new(),
    }
}

/// A model and its optimizer after some steps: the optimizer's state is kept by the ids of the model's parameters.
pub fn trained<B, O>(mut optimizer: O) -> (Trainee<B>, O)
where
    B: AutodiffBackend,
    O: Optimizer<Trainee<B>, B>,
{
    let device = &B::Device::default();
    let mut model = Trainee { a: linear::<B>(3, 4), b: nn::LinearConfig::new(4, 2).with_bias(false).init(device) };
    for _ in 0..3 {
        let input = tensor::<B, 2>([5, 3], &waves(15, 1.0));
        let output = model.b.forward(model.a.forward(input).tanh());
        let gradients = (output.clone() * output).mean().backward();
        let gradients = GradientsParams::from_grads(gradients, &model);
        model = optimizer.step(0.01, model, gradients);
    }
    (model, optimizer)
}
