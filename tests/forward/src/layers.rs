// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of layers.py: each module of burn::nn that has parameters and is not in blocks.rs.
use crate::names::*;
use crate::Run;
use burn::module::Module;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::attention::{CrossAttention, CrossAttentionConfig};
use burn::nn::conv::*;
use burn::nn::gru::{BiGru, BiGruConfig, Gru, GruConfig};
use burn::nn::norm::{Normalization, NormalizationConfig};
use burn::nn::transformer::*;
use burn::nn::*;
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, TensorData};

fn linear<B: Backend>(width: usize, d: &B::Device) -> Linear<B> {
    LinearConfig::new(width, width).init(d)
}

#[derive(Module, Debug)]
pub struct Wave<B: Backend> {
    smooth: Conv1d<B>,
    gn: GroupNorm<B>,
    out: Linear<B>,
}

impl<B: Backend> Wave<B> {
    fn new(d: &B::Device) -> Self {
        let smooth = Conv1dConfig::new(6, 6, 3).with_padding(PaddingConfig1d::Explicit(1, 1)).init(d);
        Self { smooth, gn: GroupNormConfig::new(3, 6).init(d), out: linear(9, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.out.forward(self.gn.forward(self.smooth.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Volume<B: Backend> {
    scan: Conv3d<B>,
    bn: BatchNorm<B>,
    score: Linear<B>,
}

impl<B: Backend> Volume<B> {
    fn new(d: &B::Device) -> Self {
        let scan = Conv3dConfig::new([4, 4], [2, 2, 2]).init(d);
        Self { scan, bn: BatchNormConfig::new(4).init(d), score: linear(32, d) }
    }
    fn forward(&self, x: Tensor<B, 5>) -> Tensor<B, 2> {
        self.score.forward(relu(self.bn.forward(self.scan.forward(x))).flatten(1, 4))
    }
}

#[derive(Module, Debug)]
pub struct Stretch<B: Backend> {
    grow: ConvTranspose1d<B>,
    smooth: Conv1d<B>,
}

impl<B: Backend> Stretch<B> {
    fn new(d: &B::Device) -> Self {
        let grow = ConvTranspose1dConfig::new([4, 4], 3).with_stride(2).init(d);
        Self { grow, smooth: Conv1dConfig::new(4, 4, 3).init(d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.smooth.forward(relu(self.grow.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Enlarge<B: Backend> {
    up: ConvTranspose2d<B>,
    refine: Conv2d<B>,
}

impl<B: Backend> Enlarge<B> {
    fn new(d: &B::Device) -> Self {
        let up = ConvTranspose2dConfig::new([4, 4], [2, 2]).with_stride([2, 2]).init(d);
        Self { up, refine: Conv2dConfig::new([4, 4], [3, 3]).with_bias(false).init(d) }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.refine.forward(relu(self.up.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Inflate<B: Backend> {
    fill: ConvTranspose3d<B>,
    scan: Conv3d<B>,
}

impl<B: Backend> Inflate<B> {
    fn new(d: &B::Device) -> Self {
        let fill = ConvTranspose3dConfig::new([3, 3], [2, 2, 2]).with_stride([2, 2, 2]).init(d);
        Self { fill, scan: Conv3dConfig::new([3, 3], [3, 3, 3]).init(d) }
    }
    fn forward(&self, x: Tensor<B, 5>) -> Tensor<B, 5> {
        self.scan.forward(self.fill.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct Grouped<B: Backend> {
    depthwise: Conv2d<B>,
    pointwise: Conv2d<B>,
    spread: ConvTranspose2d<B>,
}

impl<B: Backend> Grouped<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            depthwise: Conv2dConfig::new([4, 4], [3, 3]).with_groups(4).init(d),
            pointwise: Conv2dConfig::new([4, 4], [1, 1]).init(d),
            spread: ConvTranspose2dConfig::new([4, 4], [3, 3]).with_groups(2).init(d),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.spread.forward(relu(self.pointwise.forward(self.depthwise.forward(x))))
    }
}

#[derive(Module, Debug)]
pub struct Warp<B: Backend> {
    offset: Conv2d<B>,
    warp: DeformConv2d<B>,
}

impl<B: Backend> Warp<B> {
    fn new(d: &B::Device) -> Self {
        let offset = Conv2dConfig::new([4, 18], [3, 3]).init(d);
        Self { offset, warp: DeformConv2dConfig::new([4, 4], [3, 3]).init(d) }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.warp.forward(x.clone(), self.offset.forward(x), None)
    }
}

#[derive(Module, Debug)]
pub struct Painter<B: Backend> {
    brush: Conv2d<B>,
    inorm: InstanceNorm<B>,
}

impl<B: Backend> Painter<B> {
    fn new(d: &B::Device) -> Self {
        Self { brush: Conv2dConfig::new([4, 4], [1, 1]).init(d), inorm: InstanceNormConfig::new(4).init(d) }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.inorm.forward(self.brush.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct Bare<B: Backend> {
    conv1: Conv2d<B>,
    norm1: InstanceNorm<B>,
    conv2: Conv2d<B>,
    norm2: GroupNorm<B>,
}

impl<B: Backend> Bare<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            conv1: Conv2dConfig::new([4, 4], [1, 1]).init(d),
            norm1: InstanceNormConfig::new(4).with_affine(false).init(d),
            conv2: Conv2dConfig::new([4, 4], [1, 1]).init(d),
            norm2: GroupNormConfig::new(2, 4).with_affine(false).init(d),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.norm2.forward(self.conv2.forward(self.norm1.forward(self.conv1.forward(x))))
    }
}

#[derive(Module, Debug)]
pub struct Slope<B: Backend> {
    fc: Linear<B>,
    act: PRelu<B>,
    out: Linear<B>,
}

impl<B: Backend> Slope<B> {
    fn new(d: &B::Device) -> Self {
        Self { fc: linear(6, d), act: PReluConfig::new().with_num_parameters(6).init(d), out: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.out.forward(self.act.forward(self.fc.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Forecast<B: Backend> {
    memory: Gru<B>,
    head: Linear<B>,
}

impl<B: Backend> Forecast<B> {
    fn new(d: &B::Device) -> Self {
        Self { memory: GruConfig::new(5, 5, true).init(d), head: linear(5, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.memory.forward(x, None))
    }
}

#[derive(Module, Debug)]
pub struct Dialogue<B: Backend> {
    turns: BiGru<B>,
    head: Linear<B>,
}

impl<B: Backend> Dialogue<B> {
    fn new(d: &B::Device) -> Self {
        Self { turns: BiGruConfig::new(5, 4, true).init(d), head: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.turns.forward(x, None).0)
    }
}

#[derive(Module, Debug)]
pub struct Counter<B: Backend> {
    cell: Rnn<B>,
    head: Linear<B>,
}

impl<B: Backend> Counter<B> {
    fn new(d: &B::Device) -> Self {
        Self { cell: RnnConfig::new(5, 5, true).init(d), head: linear(5, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.cell.forward(x, None).0)
    }
}

#[derive(Module, Debug)]
pub struct Mirror<B: Backend> {
    both: BiRnn<B>,
    head: Linear<B>,
}

impl<B: Backend> Mirror<B> {
    fn new(d: &B::Device) -> Self {
        Self { both: BiRnnConfig::new(5, 4, true).init(d), head: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.both.forward(x, None).0)
    }
}

#[derive(Module, Debug)]
pub struct Tower<B: Backend> {
    recurrent: Vec<Lstm<B>>,
    head: Linear<B>,
}

impl<B: Backend> Tower<B> {
    fn new(d: &B::Device) -> Self {
        Self { recurrent: (0..2).map(|_| LstmConfig::new(5, 5, true).init(d)).collect(), head: linear(5, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.recurrent.iter().fold(x, |x, layer| layer.forward(x, None).0))
    }
}

#[derive(Module, Debug)]
pub struct Cascade<B: Backend> {
    lstms: Vec<BiLstm<B>>,
    head: Linear<B>,
}

impl<B: Backend> Cascade<B> {
    fn new(d: &B::Device) -> Self {
        Self { lstms: [5, 10].map(|width| BiLstmConfig::new(width, 5, true).init(d)).into(), head: linear(10, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.lstms.iter().fold(x, |x, layer| layer.forward(x, None).0))
    }
}

#[derive(Module, Debug)]
pub struct Ladder<B: Backend> {
    memory: Vec<Gru<B>>,
    head: Linear<B>,
}

impl<B: Backend> Ladder<B> {
    fn new(d: &B::Device) -> Self {
        Self { memory: (0..2).map(|_| GruConfig::new(5, 5, true).init(d)).collect(), head: linear(5, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.memory.iter().fold(x, |x, layer| layer.forward(x, None)))
    }
}

#[derive(Module, Debug)]
pub struct Recall<B: Backend> {
    memory: Lstm<B>,
    head: Linear<B>,
}

impl<B: Backend> Recall<B> {
    fn new(d: &B::Device) -> Self {
        Self { memory: LstmConfig::new(5, 5, false).init(d), head: linear(5, d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.head.forward(self.memory.forward(x, None).0)
    }
}

#[derive(Module, Debug)]
pub struct Onlooker<B: Backend> {
    look: CrossAttention<B>,
    norm: LayerNorm<B>,
}

impl<B: Backend> Onlooker<B> {
    fn new(d: &B::Device) -> Self {
        Self { look: CrossAttentionConfig::new(8, 6, 4, 2, 2).init(d), norm: LayerNormConfig::new(8).init(d) }
    }
    fn forward(&self, x: Tensor<B, 3>, context: Tensor<B, 3>) -> Tensor<B, 3> {
        self.norm.forward(x.clone() + self.look.forward(x, context, None))
    }
}

#[derive(Module, Debug)]
pub struct Block<B: Backend> {
    block: TransformerEncoderLayer<B>,
    norm: LayerNorm<B>,
}

impl<B: Backend> Block<B> {
    fn new(norm_first: bool, d: &B::Device) -> Self {
        let config = TransformerEncoderConfig::new(8, 8, 2, 1).with_norm_first(norm_first);
        Self { block: TransformerEncoderLayer::new(&config, d), norm: LayerNormConfig::new(8).init(d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.norm.forward(self.block.forward(x, None, None))
    }
}

#[derive(Module, Debug)]
pub struct Step<B: Backend> {
    step: TransformerDecoderLayer<B>,
    out: Linear<B>,
}

impl<B: Backend> Step<B> {
    fn new(d: &B::Device) -> Self {
        let config = TransformerDecoderConfig::new(8, 8, 2, 1).with_activation(ActivationConfig::Relu);
        Self { step: TransformerDecoderLayer::new(&config, d), out: linear(8, d) }
    }
    fn forward(&self, x: Tensor<B, 3>, memory: Tensor<B, 3>) -> Tensor<B, 3> {
        let decoder = TransformerDecoder {
            layers: vec![self.step.clone()],
            d_model: 8,
            d_ff: 8,
            n_heads: 2,
            n_layers: 1,
            dropout: 0.0,
            norm_first: false,
            quiet_softmax: false,
        };
        self.out.forward(decoder.forward(TransformerDecoderInput::new(x, memory)))
    }
}

#[derive(Module, Debug)]
pub struct Wide<B: Backend> {
    ffn: PositionWiseFeedForward<B>,
    norm: LayerNorm<B>,
}

impl<B: Backend> Wide<B> {
    fn new(d: &B::Device) -> Self {
        Self { ffn: PositionWiseFeedForwardConfig::new(6, 6).init(d), norm: LayerNormConfig::new(6).init(d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.norm.forward(x.clone() + self.ffn.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct Gatehouse<B: Backend> {
    glu: SwiGlu<B>,
    down: Linear<B>,
}

impl<B: Backend> Gatehouse<B> {
    fn new(d: &B::Device) -> Self {
        Self { glu: SwiGluConfig::new(6, 6).with_bias(true).init(d), down: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.down.forward(self.glu.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct Chosen<B: Backend> {
    norm: Normalization<B>,
    act: Activation<B>,
    fc: Linear<B>,
}

impl<B: Backend> Chosen<B> {
    fn new(d: &B::Device) -> Self {
        let norm = NormalizationConfig::Batch(BatchNormConfig::new(6)).init(d);
        Self { norm, act: ActivationConfig::PRelu(PReluConfig::new().with_num_parameters(6)).init(d), fc: linear(6, d) }
    }
    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.fc.forward(self.act.forward(self.norm.forward(x)))
    }
}

pub fn compute(name: &str, run: &Run) -> Option<TensorData> {
    let d = &Device::default();
    let output = match name {
        "Wave" => run.loaded(Wave::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Volume" => run.loaded(Volume::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Stretch" => run.loaded(Stretch::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Enlarge" => run.loaded(Enlarge::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Inflate" => run.loaded(Inflate::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Grouped" => run.loaded(Grouped::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Warp" => run.loaded(Warp::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Painter" => run.loaded(Painter::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Bare" => run.loaded(Bare::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Slope" => run.loaded(Slope::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Forecast" => run.loaded(Forecast::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Dialogue" => run.loaded(Dialogue::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Counter" => run.loaded(Counter::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Mirror" => run.loaded(Mirror::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Tower" => run.loaded(Tower::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Cascade" => run.loaded(Cascade::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Ladder" => run.loaded(Ladder::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Recall" => run.loaded(Recall::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Onlooker" => run.loaded(Onlooker::<B>::new(d)).forward(run.floats(0), run.floats(1)).into_data(),
        "Block" => run.loaded(Block::<B>::new(false, d)).forward(run.floats(0)).into_data(),
        "PreBlock" => run.loaded(Block::<B>::new(true, d)).forward(run.floats(0)).into_data(),
        "Step" => run.loaded(Step::<B>::new(d)).forward(run.floats(0), run.floats(1)).into_data(),
        "Wide" => run.loaded(Wide::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Gatehouse" => run.loaded(Gatehouse::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Chosen" => run.loaded(Chosen::<B>::new(d)).forward(run.floats(0)).into_data(),
        _ => return None,
    };
    Some(output)
}
