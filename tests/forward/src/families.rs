// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of families.py, as the destinations of record's profiles name their fields.
use crate::names::*;
use crate::Run;
use burn::module::Module;
use burn::nn::*;
use burn::tensor::activation::softmax;
use burn::tensor::{Int, Tensor, TensorData};

/// Scores of all pairs, with those of later positions masked.
fn causal<B: Backend>(query: Tensor<B, 4>, key: Tensor<B, 4>, scale: f64) -> Tensor<B, 4> {
    let ([_, _, length, _], d) = (query.dims(), query.device());
    let later = |at: usize| if at % length > at / length { -1e9 } else { 0.0 };
    let mask = TensorData::new((0..length * length).map(later).collect::<Vec<f32>>(), [1, 1, length, length]);
    softmax(query.matmul(key.swap_dims(2, 3)) * scale + Tensor::from_data(mask, &d), 3)
}

#[derive(Module, Debug)]
pub struct Attention<B: Backend> {
    wq: Linear<B>,
    wk: Linear<B>,
    wv: Linear<B>,
    wo: Linear<B>,
}

impl<B: Backend> Attention<B> {
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let ([batch, length, _], d) = (x.dims(), x.device());
        let heads = |layer: &Linear<B>, count| layer.forward(x.clone()).reshape([batch, length, count, 4]).swap_dims(1, 2);
        let shared = |t: Tensor<B, 4>| t.unsqueeze_dim::<5>(2).repeat_dim(2, 2).reshape([batch, 4, length, 4]);
        let rotary = RotaryEncodingConfig::new(16, 4).init(&d);
        let query = rotary.forward(heads(&self.wq, 4));
        let key = shared(rotary.forward(heads(&self.wk, 2)));
        let mixed = causal(query, key, 0.5).matmul(shared(heads(&self.wv, 2)));
        self.wo.forward(mixed.swap_dims(1, 2).reshape([batch, length, 16]))
    }
}

#[derive(Module, Debug)]
pub struct FeedForward<B: Backend> {
    swiglu: SwiGlu<B>,
    w2: Linear<B>,
}

#[derive(Module, Debug)]
pub struct LlamaLayer<B: Backend> {
    attention: Attention<B>,
    feed_forward: FeedForward<B>,
    attention_norm: RmsNorm<B>,
    ffn_norm: RmsNorm<B>,
}

#[derive(Module, Debug)]
pub struct Llama<B: Backend> {
    tok_embeddings: Embedding<B>,
    layers: Vec<LlamaLayer<B>>,
    norm: RmsNorm<B>,
    output: Linear<B>,
}

impl<B: Backend> Llama<B> {
    fn new(d: &B::Device) -> Self {
        let plain = |from, to| LinearConfig::new(from, to).with_bias(false).init(d);
        let norm = || RmsNormConfig::new(16).with_epsilon(1e-5).init(d);
        let layer = |_| LlamaLayer {
            attention: Attention { wq: plain(16, 16), wk: plain(16, 8), wv: plain(16, 8), wo: plain(16, 16) },
            feed_forward: FeedForward { swiglu: SwiGluConfig::new(16, 16).init(d), w2: plain(16, 16) },
            attention_norm: norm(),
            ffn_norm: norm(),
        };
        let tok_embeddings = EmbeddingConfig::new(11, 16).init(d);
        Self { tok_embeddings, layers: (0..2).map(layer).collect(), norm: norm(), output: plain(16, 11) }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        let mut x = self.tok_embeddings.forward(x);
        for layer in &self.layers {
            x = x.clone() + layer.attention.forward(layer.attention_norm.forward(x));
            let inner = layer.feed_forward.swiglu.forward(layer.ffn_norm.forward(x.clone()));
            x = x + layer.feed_forward.w2.forward(inner);
        }
        self.output.forward(self.norm.forward(x))
    }
}

pub fn compute(name: &str, run: &Run) -> Option<TensorData> {
    let d = &Device::default();
    let output = match name {
        "Llama" => run.loaded(Llama::<B>::new(d)).forward(run.tokens(0)).into_data(),
        _ => return None,
    };
    Some(output)
}
