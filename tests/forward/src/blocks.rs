// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of blocks.py, as a user of Burn writes them. cargo compiles this file; record takes the types from it.
use crate::names::*;
use crate::Run;
use burn::module::Module;
use burn::nn::activation::ActivationConfig;
use burn::nn::attention::{MhaInput, MultiHeadAttention, MultiHeadAttentionConfig};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::transformer::{
    TransformerDecoder, TransformerDecoderConfig, TransformerDecoderInput, TransformerEncoder,
    TransformerEncoderConfig, TransformerEncoderInput,
};
use burn::nn::*;
use burn::tensor::activation::{relu, silu};
use burn::tensor::{Int, Tensor, TensorData};

fn linear<B: Backend>(width: usize, d: &B::Device) -> Linear<B> {
    LinearConfig::new(width, width).init(d)
}

#[derive(Module, Debug)]
pub struct Mlp<B: Backend> {
    project: Linear<B>,
    ln: LayerNorm<B>,
    hidden: Linear<B>,
    readout: Linear<B>,
}

impl<B: Backend> Mlp<B> {
    fn new(d: &B::Device) -> Self {
        Self { project: linear(8, d), ln: LayerNormConfig::new(8).init(d), hidden: linear(8, d), readout: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.readout.forward(relu(self.hidden.forward(self.ln.forward(self.project.forward(x)))))
    }
}

#[derive(Module, Debug)]
pub struct Cnn<B: Backend> {
    stem: Conv2d<B>,
    stem_bn: BatchNorm<B>,
    mix: Conv2d<B>,
    mix_bn: BatchNorm<B>,
    classifier: Linear<B>,
}

impl<B: Backend> Cnn<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            stem: Conv2dConfig::new([3, 4], [3, 3]).with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1)).init(d),
            stem_bn: BatchNormConfig::new(4).init(d),
            mix: Conv2dConfig::new([4, 4], [3, 3]).with_stride([2, 2]).with_bias(false).init(d),
            mix_bn: BatchNormConfig::new(4).init(d),
            classifier: LinearConfig::new(36, 5).init(d),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = relu(self.stem_bn.forward(self.stem.forward(x)));
        let x = relu(self.mix_bn.forward(self.mix.forward(x)));
        self.classifier.forward(x.flatten(1, 3))
    }
}

#[derive(Module, Debug)]
pub struct Lookup<B: Backend> {
    words: Embedding<B>,
    mix: Linear<B>,
}

impl<B: Backend> Lookup<B> {
    fn new(d: &B::Device) -> Self {
        Self { words: EmbeddingConfig::new(12, 8).init(d), mix: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        self.mix.forward(self.words.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct Tagger<B: Backend> {
    words: Embedding<B>,
    encoder: Lstm<B>,
    head: Linear<B>,
}

impl<B: Backend> Tagger<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            words: EmbeddingConfig::new(12, 5).init(d),
            encoder: LstmConfig::new(5, 5, true).init(d),
            head: linear(5, d),
        }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        self.head.forward(self.encoder.forward(self.words.forward(x), None).0)
    }
}

#[derive(Module, Debug)]
pub struct Reader<B: Backend> {
    context: BiLstm<B>,
    span: Linear<B>,
}

impl<B: Backend> Reader<B> {
    fn new(d: &B::Device) -> Self {
        Self { context: BiLstmConfig::new(5, 4, true).init(d), span: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.span.forward(self.context.forward(x, None).0)
    }
}

#[derive(Module, Debug)]
pub struct Classifier<B: Backend> {
    transformer: TransformerEncoder<B>,
    head: Linear<B>,
}

impl<B: Backend> Classifier<B> {
    fn new(norm_first: bool, d: &B::Device) -> Self {
        let config = TransformerEncoderConfig::new(8, 16, 2, 2).with_activation(ActivationConfig::Relu);
        Self { transformer: config.with_norm_first(norm_first).init(d), head: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.transformer.forward(TransformerEncoderInput::new(x)))
    }
}

#[derive(Module, Debug)]
pub struct Pooler<B: Backend> {
    attn: MultiHeadAttention<B>,
    norm: LayerNorm<B>,
}

impl<B: Backend> Pooler<B> {
    fn new(d: &B::Device) -> Self {
        Self { attn: MultiHeadAttentionConfig::new(8, 2).init(d), norm: LayerNormConfig::new(8).init(d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.norm.forward(x.clone() + self.attn.forward(MhaInput::self_attn(x)).context)
    }
}

#[derive(Module, Debug)]
pub struct Translator<B: Backend> {
    decoder: TransformerDecoder<B>,
    vocab: Linear<B>,
}

impl<B: Backend> Translator<B> {
    fn new(norm_first: bool, d: &B::Device) -> Self {
        let config = TransformerDecoderConfig::new(8, 16, 2, 2).with_activation(ActivationConfig::Relu);
        Self { decoder: config.with_norm_first(norm_first).init(d), vocab: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 3>, memory: Tensor<B, 3>) -> Tensor<B, 3> {
        self.vocab.forward(self.decoder.forward(TransformerDecoderInput::new(x, memory)))
    }
}

#[derive(Module, Debug)]
pub struct Gaps<B: Backend> {
    layers: Vec<Linear<B>>,
}

impl<B: Backend> Gaps<B> {
    fn new(d: &B::Device) -> Self {
        Self { layers: (0..3).map(|_| linear(6, d)).collect() }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let x = relu(self.layers[0].forward(x));
        let x = relu(self.layers[1].forward(x));
        self.layers[2].forward(x)
    }
}

#[derive(Module, Debug)]
pub struct Sequence<B: Backend> {
    first: Linear<B>,
    norm: LayerNorm<B>,
    last: Linear<B>,
}

impl<B: Backend> Sequence<B> {
    fn new(d: &B::Device) -> Self {
        Self { first: linear(6, d), norm: LayerNormConfig::new(6).init(d), last: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.last.forward(self.norm.forward(relu(self.first.forward(x))))
    }
}

#[derive(Module, Debug)]
pub struct Gated<B: Backend> {
    norm: RmsNorm<B>,
    gate: Linear<B>,
    up: Linear<B>,
    down: Linear<B>,
}

impl<B: Backend> Gated<B> {
    fn new(d: &B::Device) -> Self {
        let plain = || LinearConfig::new(8, 8).with_bias(false).init(d);
        Self { norm: RmsNormConfig::new(8).with_epsilon(1e-5).init(d), gate: plain(), up: plain(), down: plain() }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let y = self.norm.forward(x.clone());
        x + self.down.forward(silu(self.gate.forward(y.clone())) * self.up.forward(y))
    }
}

pub fn compute(name: &str, run: &Run) -> Option<TensorData> {
    let d = &Device::default();
    let output = match name {
        "Mlp" => run.loaded(Mlp::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Cnn" => run.loaded(Cnn::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Lookup" => run.loaded(Lookup::<B>::new(d)).forward(run.tokens(0)).into_data(),
        "Tagger" => run.loaded(Tagger::<B>::new(d)).forward(run.tokens(0)).into_data(),
        "Reader" => run.loaded(Reader::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Classifier" | "FinalNorm" => run.loaded(Classifier::<B>::new(false, d)).forward(run.floats(0)).into_data(),
        "PreNorm" => run.loaded(Classifier::<B>::new(true, d)).forward(run.floats(0)).into_data(),
        "Pooler" | "BiasKv" => run.loaded(Pooler::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Translator" => run.loaded(Translator::<B>::new(false, d)).forward(run.floats(0), run.floats(1)).into_data(),
        "PreTranslator" => run.loaded(Translator::<B>::new(true, d)).forward(run.floats(0), run.floats(1)).into_data(),
        "Gaps" => run.loaded(Gaps::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Sequence" => run.loaded(Sequence::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Gated" => run.loaded(Gated::<B>::new(d)).forward(run.floats(0)).into_data(),
        _ => return None,
    };
    Some(output)
}
