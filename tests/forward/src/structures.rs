// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of structures.py: lists, options, tuples, parameters without a layer.
use crate::names::*;
use crate::Run;
use burn::module::{Module, Param};
use burn::nn::conv::*;
use burn::nn::pool::MaxPool2dConfig;
use burn::nn::*;
use burn::tensor::activation::{relu, softmax};
use burn::tensor::{Int, Tensor, TensorData};

fn linear<B: Backend>(width: usize, d: &B::Device) -> Linear<B> {
    LinearConfig::new(width, width).init(d)
}

#[derive(Module, Debug)]
pub struct Vgg<B: Backend> {
    features: Vec<Conv2d<B>>,
    classifier: Vec<Linear<B>>,
}

impl<B: Backend> Vgg<B> {
    fn new(d: &B::Device) -> Self {
        let conv = |from| Conv2dConfig::new([from, 4], [3, 3]).init(d);
        Self { features: [3, 4].map(conv).into(), classifier: vec![linear(16, d), linear(16, d)] }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = self.features.iter().fold(x, |x, layer| relu(layer.forward(x)));
        let x = MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init().forward(x);
        self.classifier[1].forward(relu(self.classifier[0].forward(x.flatten(1, 3))))
    }
}

#[derive(Module, Debug)]
pub struct Towers<B: Backend> {
    left: Linear<B>,
    right: Linear<B>,
}

#[derive(Module, Debug)]
pub struct Siamese<B: Backend> {
    towers: Towers<B>,
    joint: Linear<B>,
}

impl<B: Backend> Siamese<B> {
    fn new(d: &B::Device) -> Self {
        Self { towers: Towers { left: linear(6, d), right: linear(6, d) }, joint: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>, y: Tensor<B, 2>) -> Tensor<B, 2> {
        self.joint.forward(self.towers.left.forward(x) * self.towers.right.forward(y))
    }
}

#[derive(Module, Debug)]
pub struct Learned<B: Backend> {
    cls_token: Param<Tensor<B, 3>>,
    pos_embed: Param<Tensor<B, 3>>,
    scale: Param<Tensor<B, 1>>,
    fc: Linear<B>,
}

impl<B: Backend> Learned<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            cls_token: Initializer::Zeros.init([1, 1, 8], d),
            pos_embed: Initializer::Zeros.init([1, 6, 8], d),
            scale: Initializer::Ones.init([8], d),
            fc: linear(8, d),
        }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let first = self.cls_token.val().repeat_dim(0, x.dims()[0]);
        let x = Tensor::cat(vec![first, x], 1) + self.pos_embed.val();
        self.fc.forward(x) * self.scale.val().unsqueeze()
    }
}

#[derive(Module, Debug)]
pub struct Autoencoder<B: Backend> {
    encoder: Vec<Conv2d<B>>,
    decoder: Vec<ConvTranspose2d<B>>,
}

impl<B: Backend> Autoencoder<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            encoder: [3, 4].map(|from| Conv2dConfig::new([from, 4], [3, 3]).init(d)).into(),
            decoder: [4, 3].map(|to| ConvTranspose2dConfig::new([4, to], [3, 3]).init(d)).into(),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let x = self.encoder[1].forward(relu(self.encoder[0].forward(x)));
        self.decoder[1].forward(relu(self.decoder[0].forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Melody<B: Backend> {
    notes: Embedding<B>,
    position: PositionalEncoding<B>,
    out: Linear<B>,
}

impl<B: Backend> Melody<B> {
    fn new(d: &B::Device) -> Self {
        let position = PositionalEncodingConfig::new(8).with_max_sequence_size(50).init(d);
        Self { notes: EmbeddingConfig::new(12, 8).init(d), position, out: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        self.out.forward(self.position.forward(self.notes.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Residual<B: Backend> {
    fc1: Linear<B>,
    norm: LayerNorm<B>,
    fc2: Linear<B>,
    shortcut: Option<Linear<B>>,
}

#[derive(Module, Debug)]
pub struct Ensemble<B: Backend> {
    units: Vec<Residual<B>>,
}

impl<B: Backend> Ensemble<B> {
    fn new(d: &B::Device) -> Self {
        let unit = |skip: bool| Residual {
            fc1: linear(6, d),
            norm: LayerNormConfig::new(6).init(d),
            fc2: linear(6, d),
            shortcut: skip.then(|| linear(6, d)),
        };
        Self { units: [false, true, false].map(unit).into() }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.units.iter().fold(x, |x, unit| {
            let inner = unit.fc2.forward(relu(unit.norm.forward(unit.fc1.forward(x.clone()))));
            inner + unit.shortcut.as_ref().map_or(x.clone(), |layer| layer.forward(x))
        })
    }
}

#[derive(Module, Debug)]
pub struct Twin<B: Backend> {
    pair: (Linear<B>, LayerNorm<B>),
    heads: [Linear<B>; 2],
}

impl<B: Backend> Twin<B> {
    fn new(d: &B::Device) -> Self {
        Self { pair: (linear(6, d), LayerNormConfig::new(6).init(d)), heads: [linear(6, d), linear(6, d)] }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let x = self.pair.1.forward(self.pair.0.forward(x));
        self.heads[0].forward(x.clone()) * self.heads[1].forward(x)
    }
}

#[derive(Module, Debug)]
pub struct Tied<B: Backend> {
    embed: Embedding<B>,
    mix: Linear<B>,
    head: Linear<B>,
}

impl<B: Backend> Tied<B> {
    fn new(d: &B::Device) -> Self {
        let head = LinearConfig::new(8, 12).with_bias(false).init(d);
        Self { embed: EmbeddingConfig::new(12, 8).init(d), mix: linear(8, d), head }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        self.head.forward(self.mix.forward(self.embed.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Mixture<B: Backend> {
    router: Linear<B>,
    experts: Param<Tensor<B, 3>>,
}

impl<B: Backend> Mixture<B> {
    fn new(d: &B::Device) -> Self {
        Self { router: LinearConfig::new(6, 3).init(d), experts: Initializer::Zeros.init([3, 6, 6], d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let outputs = x.clone().unsqueeze::<3>().repeat_dim(0, 3).matmul(self.experts.val()).swap_dims(0, 1);
        let shares = softmax(self.router.forward(x), 1).unsqueeze_dim::<3>(2);
        (shares * outputs).sum_dim(1).flatten(1, 2)
    }
}

/// Without the prefix of nn.DataParallel; weights are not computed here.
#[derive(Module, Debug)]
pub struct Inner<B: Backend> {
    fc1: Linear<B>,
    fc2: Linear<B>,
}

impl<B: Backend> Inner<B> {
    fn new(d: &B::Device) -> Self {
        Self { fc1: linear(6, d), fc2: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.fc2.forward(relu(self.fc1.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Vocoder<B: Backend> {
    pre: Conv1d<B>,
    fc: Linear<B>,
    post: Linear<B>,
}

impl<B: Backend> Vocoder<B> {
    fn new(d: &B::Device) -> Self {
        Self { pre: Conv1dConfig::new(4, 4, 3).init(d), fc: linear(7, d), post: linear(7, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.post.forward(relu(self.fc.forward(self.pre.forward(x))))
    }
}

#[derive(Module, Debug)]
pub struct Reparametrized<B: Backend> {
    pre: Conv1d<B>,
    post: Linear<B>,
}

impl<B: Backend> Reparametrized<B> {
    fn new(d: &B::Device) -> Self {
        Self { pre: Conv1dConfig::new(4, 4, 3).init(d), post: linear(7, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.post.forward(self.pre.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct Feed<B: Backend> {
    mix: Linear<B>,
    expand: Linear<B>,
    shrink: Linear<B>,
}

impl<B: Backend> Feed<B> {
    fn new(d: &B::Device) -> Self {
        Self { mix: linear(6, d), expand: LinearConfig::new(6, 9).init(d), shrink: LinearConfig::new(9, 6).init(d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.shrink.forward(relu(self.expand.forward(self.mix.forward(x))))
    }
}

#[derive(Module, Debug)]
pub struct Tabular<B: Backend> {
    bn_in: BatchNorm<B>,
    hidden: Linear<B>,
    bn_hidden: BatchNorm<B>,
    target: Linear<B>,
}

impl<B: Backend> Tabular<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            bn_in: BatchNormConfig::new(6).init(d),
            hidden: LinearConfig::new(6, 6).with_bias(false).init(d),
            bn_hidden: BatchNormConfig::new(6).with_epsilon(1e-3).init(d),
            target: linear(6, d),
        }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let x = self.hidden.forward(self.bn_in.forward(x));
        self.target.forward(relu(self.bn_hidden.forward(x)))
    }
}

pub fn compute(name: &str, run: &Run) -> Option<TensorData> {
    let d = &Device::default();
    let output = match name {
        "Vgg" => run.loaded(Vgg::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Siamese" => run.loaded(Siamese::<B>::new(d)).forward(run.floats(0), run.floats(1)).into_data(),
        "Learned" => run.loaded(Learned::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Autoencoder" => run.loaded(Autoencoder::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Melody" => run.loaded(Melody::<B>::new(d)).forward(run.tokens(0)).into_data(),
        "Ensemble" => run.loaded(Ensemble::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Twin" => run.loaded(Twin::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Tied" => run.loaded(Tied::<B>::new(d)).forward(run.tokens(0)).into_data(),
        "Mixture" => run.loaded(Mixture::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Checkpoint" | "Pickled" | "Parallel" | "Pruned" | "Spectral" => {
            run.loaded(Inner::<B>::new(d)).forward(run.floats(0)).into_data()
        }
        "Vocoder" => run.loaded(Vocoder::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Reparametrized" => run.loaded(Reparametrized::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Feed" => run.loaded(Feed::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Tabular" => run.loaded(Tabular::<B>::new(d)).forward(run.floats(0)).into_data(),
        _ => return None,
    };
    Some(output)
}
