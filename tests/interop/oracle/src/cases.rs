// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records. Each case is one value that is written by every recorder at every precision; the names of its fields
//! are part of the golden files, so a change here needs new ones.
use crate::formats::{self, Format, Precision};
use crate::initialised;
use crate::layers::{layers, step, trained};
use crate::since::{couple, BatchNorm2d, Couple, Schedule};
use crate::Task;
use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::lr_scheduler::exponential::ExponentialLrSchedulerConfig;
use burn::lr_scheduler::linear::LinearLrSchedulerConfig;
use burn::lr_scheduler::noam::NoamLrSchedulerConfig;
use burn::module::{Module, Param, ParamId};
use burn::nn;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdaGradConfig, AdamConfig, AdamWConfig, Optimizer, RmsPropConfig, SgdConfig};
use burn::record::Record;
use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor};

pub type Plain = burn::backend::NdArray<f32>;
type Trained = burn::backend::Autodiff<Plain>;

/// The smallest module: two parameters.
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

/// Nearly every kind of field that a module can have.
#[derive(Module, Debug)]
pub struct Zoo<B: Backend> {
    conv1: nn::conv::Conv1d<B>,
    conv2: nn::conv::Conv2d<B>,
    up: nn::conv::ConvTranspose2d<B>,
    bn: BatchNorm2d<B>,
    gn: nn::GroupNorm<B>,
    emb: nn::Embedding<B>,
    no_bias: nn::Linear<B>,
    blocks: Vec<Block<B>>,
    empty: Vec<nn::Linear<B>>,
    some: Option<nn::Linear<B>>,
    none: Option<nn::Linear<B>>,
    array: Couple<nn::Linear<B>>,
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

/// A record that is no module: every scalar, odd strings, tensors without ids.
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

/// Past the counts where MessagePack changes its lengths: 16-bit and 32-bit strings, binaries and arrays.
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

/// What Adam's state is made from.
#[derive(Module, Debug)]
pub struct Trainee<B: Backend> {
    pub a: nn::Linear<B>,
    pub b: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct ConvBlock<B: Backend> {
    conv: nn::conv::Conv2d<B>,
    norm: BatchNorm2d<B>,
    activation: nn::Gelu,
}

/// A small classifier of 28x28 digits, as in Burn's own example: the model that the README looks at.
#[derive(Module, Debug)]
pub struct Mnist<B: Backend> {
    stem: nn::conv::Conv2d<B>,
    blocks: Vec<ConvBlock<B>>,
    dropout: nn::Dropout,
    fc1: nn::Linear<B>,
    fc2: nn::Linear<B>,
    num_classes: usize,
}

/// Numbers without a pattern that rounding could hide behind, the same in every version.
pub fn waves(count: usize, amplitude: f32) -> Vec<f32> {
    (0..count).map(|i| amplitude * (i as f32 * 1.7 + 0.3).sin() / (1.0 + (i % 7) as f32)).collect()
}

pub fn tensor<B: Backend, const D: usize>(shape: [usize; D], values: &[f32]) -> Tensor<B, D> {
    Tensor::<B, 1>::from_floats(values, &B::Device::default()).reshape(shape)
}

pub fn linear<B: Backend>(inputs: usize, outputs: usize) -> nn::Linear<B> {
    nn::LinearConfig::new(inputs, outputs).init(&B::Device::default())
}

fn zoo<B: Backend>() -> Zoo<B> {
    use nn::conv::{Conv1dConfig, Conv2dConfig, ConvTranspose2dConfig};
    let device = &B::Device::default();
    let block = |scale| Block {
        fc: linear(3, 3),
        norm: nn::LayerNormConfig::new(3).init(device),
        act: nn::Relu::new(),
        drop: nn::DropoutConfig::new(0.25).init(),
        scale,
    };
    Zoo {
        conv1: Conv1dConfig::new(2, 3, 3).init(device),
        conv2: Conv2dConfig::new([2, 4], [3, 2]).init(device),
        up: ConvTranspose2dConfig::new([4, 2], [2, 2]).init(device),
        bn: nn::BatchNormConfig::new(4).init(device),
        gn: nn::GroupNormConfig::new(2, 4).init(device),
        emb: nn::EmbeddingConfig::new(5, 3).init(device),
        no_bias: nn::LinearConfig::new(2, 2).with_bias(false).init(device),
        blocks: vec![block(0.5), block(1.0), block(2.0)],
        empty: vec![],
        some: Some(linear(1, 2)),
        none: None,
        array: couple(linear(2, 1), linear(1, 1)),
        pair: (linear(2, 3), nn::LayerNormConfig::new(2).init(device)),
        head_a: Head::Dense(linear(2, 2)),
        head_b: Head::Conv(Conv2dConfig::new([1, 1], [2, 2]).init(device)),
        free: Param::initialized(ParamId::new(), tensor([2, 3, 2], &waves(12, 3.0))),
        ids: Param::initialized(
            ParamId::new(),
            Tensor::<B, 1, Int>::from_ints([12, -7, 0, 4095, -32768, 32767], device).reshape([3, 2]),
        ),
        mask: Param::initialized(ParamId::new(), tensor::<B, 1>([5], &[1.0, -1.0, -1.0, 1.0, -1.0]).greater_elem(0.0)),
        size: 9,
        ratio: 0.75,
        flag: true,
    }
}

fn scalars<B: Backend>() -> Scalars<B> {
    let device = &B::Device::default();
    Scalars {
        // a quote, a backslash, control characters, two and four bytes of UTF-8, an inner NUL
        name: "caf\u{e9} \"open\" C:\\dir\r\n\ttab \u{1F6F0} \u{7} nul\u{0}end".into(),
        count: 123_456,
        tiny: 255,
        short: -32_768,
        long: i64::MIN,
        big: u64::MAX,
        single: 0.1,
        double: 0.1,
        yes: true,
        words: vec![String::new(), "key.with.dots".into(), "w".repeat(256)],
        maybe: Some(65_536),
        never: None,
        couple: (40_000, "second".into()),
        grid: [i32::MAX, -1, i32::MIN],
        // the edges of f16: greatest, first that rounds to infinity, least subnormal, half of it; and of f32
        floats: tensor([3, 4], &[
            0.0, -0.0, 1.0, -2.5, 65_504.0, 65_520.0, 6.0e-8, 2.9e-8, 3.0e38, -1.0e-40, 0.333_333_34, 1_000.5,
        ]),
        ints: Tensor::<B, 1, Int>::from_ints([-32_768, -1, 0, 1, 255, 32_767], device).reshape([2, 3]),
        bools: tensor::<B, 1>([3], &[1.0, -1.0, 1.0]).greater_elem(0.0),
        scalar_like: tensor([1], &[-0.618]),
        void: Tensor::zeros([0, 3], device),
        nested: vec![Some(vec![0, 127, 128, 255]), None, Some(vec![])],
    }
}

/// The same without its empty tensor, which Burn up to 0.15 writes but cannot load.
fn solid<B: Backend>() -> Scalars<B> {
    Scalars { void: tensor([2, 1], &[0.5, -8.25]), ..scalars() }
}

fn long<B: Backend>() -> Long<B> {
    Long {
        text_16: "abc ".repeat(100),
        text_32: "0123456789".repeat(7_000),
        list_16: (0..40_000).collect(),
        list_32: (0..70_000).map(|i| i * 61).collect(),
        bin_8: tensor([40], &waves(40, 1.0)),
        bin_16: tensor([5_000], &waves(5_000, 1.0)),
        bin_32: tensor([130, 140], &waves(130 * 140, 10.0)),
    }
}

fn mnist<B: Backend>() -> Mnist<B> {
    let device = &B::Device::default();
    let conv = |inputs, outputs| nn::conv::Conv2dConfig::new([inputs, outputs], [3, 3]).init(device);
    let block = || ConvBlock {
        conv: conv(16, 16),
        norm: nn::BatchNormConfig::new(16).init(device),
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

/// Parameters get their values when they are first used, and every clone of an unused one gets others. A record uses
/// them all.
fn settled<B: Backend, M: Module<B>>(module: M) -> M {
    let record = module.clone().into_record();
    module.load_record(record)
}

/// The cases pass by here one after the other; what the task asks for is done with each.
pub struct Offers<'a> {
    pub task: &'a Task,
    pub known: Vec<&'static str>,
}

impl Offers<'_> {
    /// `make` gives the state, which then gives as many equal records as are wanted. The record's type comes from
    /// there, so reading needs no other.
    fn offer<B, R, S>(&mut self, name: &'static str, make: impl FnOnce() -> S)
    where
        B: Backend,
        R: Record<B>,
        S: Fn() -> R,
    {
        self.known.push(name);
        match self.task {
            Task::Write { folder, only } if only.is_empty() || only.iter().any(|wanted| wanted == name) => {
                let record = make();
                std::fs::create_dir_all(folder).expect("a folder to write into");
                for precision in Precision::ALL {
                    for format in Format::ALL {
                        let file = folder.join(format!("{name}-{}.{}", precision.name(), format.extension()));
                        formats::save::<B, R>(format, precision, record(), &file).expect("Burn saves its own record");
                    }
                }
            }
            Task::Read { case, format, precision, memory, file, out, into } if case == name => {
                let record = formats::load::<B, R>(*format, *precision, *memory, file);
                let record = record.unwrap_or_else(|error| refused(file, error));
                formats::save::<B, R>(*into, Precision::Double, record, out).expect("Burn saves what it loaded")
            }
            _ => {}
        }
    }

    /// A scheduler after `steps` steps.
    fn scheduler<S: Schedule>(&mut self, name: &'static str, steps: usize, make: impl Fn() -> S) {
        if let Task::Rates { case, format, precision, file } = self.task {
            if case == name {
                let record = formats::load::<Plain, S::State>(*format, *precision, false, file);
                let record = record.unwrap_or_else(|error| refused(file, error));
                make().rates(record, 4).iter().for_each(|rate| println!("{rate}"));
            }
        }
        self.offer::<Plain, _, _>(name, || || make().after(steps));
    }

    fn optimizer<O: Optimizer<Trainee<Trained>, Trained>>(&mut self, name: &'static str, make: impl FnOnce() -> O) {
        self.offer::<Trained, _, _>(name, || {
            let optimizer = trained(make()).1;
            move || optimizer.to_record()
        });
    }
}

fn refused(file: &std::path::Path, error: burn::record::RecorderError) -> ! {
    eprintln!("oracle: Burn refuses {}: {error}", file.display());
    std::process::exit(3)
}

pub fn all(offers: &mut Offers) {
    offers.offer::<Plain, _, _>("tiny", || {
        let module = settled(Tiny::<Plain> { linear: linear(3, 2) });
        move || module.clone().into_record()
    });
    offers.offer::<Plain, _, _>("zoo", || {
        let module = settled(zoo::<Plain>());
        move || module.clone().into_record()
    });
    offers.offer::<Plain, _, _>("plain", || || scalars::<Plain>());
    offers.offer::<Plain, _, _>("solid", || || solid::<Plain>());
    offers.offer::<Plain, _, _>("long", || || long::<Plain>());
    let pair = std::cell::OnceCell::new();
    let pair = || pair.get_or_init(|| trained::<Trained, _>(AdamConfig::new().init()));
    offers.offer::<Trained, _, _>("adam", || || pair().1.to_record());
    offers.offer::<Trained, _, _>("trainee", || || pair().0.clone().into_record());
    // the same two after their next step
    let later = std::cell::OnceCell::new();
    let later = || {
        later.get_or_init(|| {
            let (model, optimizer) = pair();
            let mut optimizer = AdamConfig::new().init().load_record(optimizer.to_record());
            (step(model.clone(), &mut optimizer), optimizer)
        })
    };
    offers.offer::<Trained, _, _>("adam4", || || later().1.to_record());
    offers.offer::<Trained, _, _>("trainee4", || || later().0.clone().into_record());
    offers.optimizer("adamw", || AdamWConfig::new().init());
    offers.optimizer("sgd", || SgdConfig::new().with_momentum(Some(MomentumConfig::new())).init());
    offers.optimizer("rmsprop", || RmsPropConfig::new().with_centered(true).init());
    offers.optimizer("adagrad", || AdaGradConfig::new().init());
    offers.offer::<Plain, _, _>("layers", || {
        let module = settled(layers::<Plain>());
        move || module.clone().into_record()
    });
    #[cfg(feature = "since_15")]
    offers.offer::<Plain, _, _>("recent", || {
        let module = settled(crate::layers::recent::<Plain>());
        move || module.clone().into_record()
    });
    // a bare scalar as the whole record; a constant scheduler's own record is unit
    offers.offer::<Plain, _, _>("constant", || || 0.001f64);
    offers.scheduler("noam", 300, || initialised!(NoamLrSchedulerConfig::new(0.1).init()));
    offers.scheduler("cosine", 7, || {
        initialised!(CosineAnnealingLrSchedulerConfig::new(0.1, 20).with_min_lr(0.01).init())
    });
    offers.scheduler("linear", 7, || initialised!(LinearLrSchedulerConfig::new(0.1, 0.01, 20).init()));
    offers.scheduler("exponential", 7, || initialised!(ExponentialLrSchedulerConfig::new(0.1, 0.9).init()));
    #[cfg(feature = "since_16")]
    offers.scheduler("step", 7, || {
        initialised!(burn::lr_scheduler::step::StepLrSchedulerConfig::new(0.1, 3).init())
    });
    #[cfg(feature = "since_19")]
    offers.scheduler("composed", 5, || {
        use burn::lr_scheduler::composed::ComposedLrSchedulerConfig;
        let both = ComposedLrSchedulerConfig::new()
            .linear(LinearLrSchedulerConfig::new(0.1, 0.01, 50))
            .exponential(ExponentialLrSchedulerConfig::new(0.1, 0.9));
        initialised!(both.init())
    });
    offers.offer::<Plain, _, _>("mnist", || {
        let module = settled(mnist::<Plain>());
        move || module.clone().into_record()
    });
}
