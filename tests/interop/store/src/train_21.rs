// SPDX-License-Identifier: MIT OR Apache-2.0
//! Optimizers and schedulers of Burn 0.21, through its recorders.
use crate::{device, dump, refused, B};
use burn::lr_scheduler::{
    composed::ComposedLrSchedulerConfig, constant::ConstantLr, cosine::CosineAnnealingLrSchedulerConfig,
    exponential::ExponentialLrSchedulerConfig, linear::LinearLrSchedulerConfig, noam::NoamLrSchedulerConfig,
    step::StepLrSchedulerConfig, LrScheduler,
};
use burn::module::{AutodiffModule, Module};
use burn::nn;
use burn::optim::{momentum::MomentumConfig, *};
use burn::record::{FullPrecisionSettings, NamedMpkFileRecorder, Recorder};
use burn::tensor::{backend::Backend, Tensor, TensorData};
use std::path::Path;

type A = burn::backend::Autodiff<B>;

#[derive(Module, Debug)]
pub struct Net<B: Backend> {
    a: nn::Linear<B>,
    b: nn::Linear<B>,
}

fn recorder() -> NamedMpkFileRecorder<FullPrecisionSettings> {
    NamedMpkFileRecorder::new()
}

fn net(bias: bool) -> Net<A> {
    Net {
        a: nn::LinearConfig::new(3, 4).with_bias(bias).init(&device()),
        b: nn::LinearConfig::new(4, 2).with_bias(false).init(&device()),
    }
}

fn values<const D: usize>(shape: [usize; D], step: usize, which: usize) -> Tensor<B, D> {
    let count: usize = shape.iter().product();
    let list: Vec<f32> = (0..count).map(|i| ((i * 7 + step * 5 + which * 3) % 19) as f32 / 16.0 - 0.5).collect();
    Tensor::from_data(TensorData::new(list, shape), &device())
}

fn steps<O: Optimizer<Net<A>, A>>(mut net: Net<A>, optimizer: &mut O, from: usize, to: usize) -> Net<A> {
    for step in from..to {
        let mut gradients = GradientsParams::new();
        gradients.register::<B, 2>(net.a.weight.id, values([3, 4], step, 0));
        if let Some(bias) = &net.a.bias {
            gradients.register::<B, 1>(bias.id, values([4], step, 1));
        }
        gradients.register::<B, 2>(net.b.weight.id, values([4, 2], step, 2));
        net = optimizer.step(0.01, net, gradients);
    }
    net
}

/// What is to be done with each optimizer and each scheduler.
enum Task<'a> {
    Write(&'a Path),
    Resume(&'a str, &'a Path),
    List,
}

impl Task<'_> {
    fn optimizer<O: Optimizer<Net<A>, A>>(&self, kind: &str, bias: bool, make: impl Fn() -> O) {
        match self {
            Task::Write(folder) => {
                let folder = folder.join(kind);
                std::fs::create_dir_all(&folder).expect("a folder");
                let mut optimizer = make();
                let net = steps(net(bias), &mut optimizer, 0, 2);
                net.clone().save_file(folder.join("model"), &recorder()).unwrap_or_else(|error| refused(error));
                Recorder::<A>::record(&recorder(), optimizer.to_record(), folder.join("optim"))
                    .unwrap_or_else(|error| refused(error));
                let next = steps(net, &mut optimizer, 2, 3);
                println!("{{\"kind\": \"{kind}\", \"model\": {}}}", dump::tensors(&next.valid()).replace('\n', " "));
            }
            Task::Resume(wanted, folder) if *wanted == kind => {
                let net = net(bias)
                    .load_file(folder.join("model"), &recorder(), &device())
                    .unwrap_or_else(|error| refused(error));
                let record = Recorder::<A>::load(&recorder(), folder.join("optim"), &device())
                    .unwrap_or_else(|error| refused(error));
                let mut optimizer = make().load_record(record);
                let next = steps(net, &mut optimizer, 2, 3);
                println!("{{\"kind\": \"{kind}\", \"model\": {}}}", dump::tensors(&next.valid()).replace('\n', " "));
            }
            Task::List => println!("{kind}"),
            _ => {}
        }
    }

    fn scheduler<S: LrScheduler>(&self, kind: &str, count: usize, make: impl Fn() -> S) {
        match self {
            Task::Write(folder) => {
                let folder = folder.join(kind);
                std::fs::create_dir_all(&folder).expect("a folder");
                let mut scheduler = make();
                for _ in 0..count {
                    scheduler.step();
                }
                Recorder::<B>::record(&recorder(), scheduler.to_record::<B>(), folder.join("scheduler"))
                    .unwrap_or_else(|error| refused(error));
                println!("{{\"kind\": \"{kind}\", \"rate\": {:?}}}", scheduler.step());
            }
            Task::Resume(wanted, folder) if *wanted == kind => {
                let record = Recorder::<B>::load(&recorder(), folder.join("scheduler"), &device())
                    .unwrap_or_else(|error| refused(error));
                println!("{{\"kind\": \"{kind}\", \"rate\": {:?}}}", make().load_record::<B>(record).step());
            }
            Task::List => println!("{kind}"),
            _ => {}
        }
    }

    fn all(&self) {
        self.optimizer("adam", true, || AdamConfig::new().init::<A, Net<A>>());
        self.optimizer("amsgrad", true, || AdamConfig::new().with_amsgrad(true).init::<A, Net<A>>());
        self.optimizer("adamw", true, || AdamWConfig::new().init::<A, Net<A>>());
        self.optimizer("sgd", true, || SgdConfig::new().init::<A, Net<A>>());
        let momentum = || SgdConfig::new().with_momentum(Some(MomentumConfig::new()));
        self.optimizer("sgd-momentum", true, || momentum().init::<A, Net<A>>());
        self.optimizer("rmsprop", true, || RmsPropConfig::new().init::<A, Net<A>>());
        let centred = || RmsPropConfig::new().with_centered(true).with_momentum(0.5);
        self.optimizer("rmsprop-centred", true, || centred().init::<A, Net<A>>());
        self.optimizer("adagrad", true, || AdaGradConfig::new().init::<A, Net<A>>());
        self.optimizer("muon", false, || MuonConfig::new().init::<A, Net<A>>());
        self.optimizer("adan", true, || AdanConfig::new().init::<A, Net<A>>());
        self.scheduler("noam", 300, || NoamLrSchedulerConfig::new(0.1).init().expect("a scheduler"));
        self.scheduler("cosine", 30, || CosineAnnealingLrSchedulerConfig::new(0.1, 100).init().expect("a scheduler"));
        self.scheduler("linear", 5, || LinearLrSchedulerConfig::new(0.1, 0.01, 50).init().expect("a scheduler"));
        self.scheduler("exponential", 5, || ExponentialLrSchedulerConfig::new(0.1, 0.9).init().expect("a scheduler"));
        self.scheduler("step", 7, || StepLrSchedulerConfig::new(0.1, 3).init().expect("a scheduler"));
        self.scheduler("constant", 2, || ConstantLr::from(0.5));
        self.scheduler("composed", 5, || {
            ComposedLrSchedulerConfig::new()
                .linear(LinearLrSchedulerConfig::new(0.1, 0.01, 50))
                .exponential(ExponentialLrSchedulerConfig::new(0.1, 0.9))
                .init()
                .expect("a scheduler")
        });
    }
}

pub fn write(folder: &Path) {
    Task::Write(folder).all()
}

pub fn resume(kind: &str, folder: &Path) {
    Task::Resume(kind, folder).all()
}

pub fn kinds() {
    Task::List.all()
}
