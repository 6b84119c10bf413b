// SPDX-License-Identifier: MIT OR Apache-2.0
//! Optimizers and schedulers of Burn 0.22 and later, whose states are burnpacks.
use crate::{device, dump, refused};
use burn::lr_scheduler::{
    composed::ComposedLrSchedulerConfig, constant::ConstantLr, cosine::CosineAnnealingLrSchedulerConfig,
    exponential::ExponentialLrSchedulerConfig, linear::LinearLrSchedulerConfig, module_lr_scheduler::ModuleLrScheduler,
    noam::NoamLrSchedulerConfig, step::StepLrSchedulerConfig, LrSchedulerRecord,
};
use burn::module::Module;
use burn::nn;
use burn::optim::{momentum::MomentumConfig, *};
use burn::tensor::{Tensor, TensorData};
use std::path::Path;

#[derive(Module, Debug)]
pub struct Net {
    a: nn::Linear,
    b: nn::Linear,
}

fn net(bias: bool) -> Net {
    let device = device().autodiff();
    Net {
        a: nn::LinearConfig::new(3, 4).with_bias(bias).init(&device),
        b: nn::LinearConfig::new(4, 2).with_bias(false).init(&device),
    }
}

fn values<const D: usize>(shape: [usize; D], step: usize, which: usize) -> Tensor<D> {
    let count: usize = shape.iter().product();
    let list: Vec<f32> = (0..count).map(|i| ((i * 7 + step * 5 + which * 3) % 19) as f32 / 16.0 - 0.5).collect();
    Tensor::from_data(TensorData::new(list, shape), &device())
}

fn steps(mut net: Net, optimizer: &mut ModuleOptimizer, from: usize, to: usize) -> Net {
    for step in from..to {
        let mut gradients = GradientsParams::new();
        gradients.register::<2>(net.a.weight.id, values([3, 4], step, 0));
        if let Some(bias) = &net.a.bias {
            gradients.register::<1>(bias.id, values([4], step, 1));
        }
        gradients.register::<2>(net.b.weight.id, values([4, 2], step, 2));
        net = optimizer.step(0.01, net, gradients);
    }
    net
}

fn optimizer(kind: &str) -> Option<ModuleOptimizer> {
    Some(match kind {
        "adam" => AdamConfig::new().init(),
        "amsgrad" => AdamConfig::new().with_amsgrad(true).init(),
        "adamw" => AdamWConfig::new().init(),
        "sgd" => SgdConfig::new().init(),
        "sgd-momentum" => SgdConfig::new().with_momentum(Some(MomentumConfig::new())).init(),
        "rmsprop" => RmsPropConfig::new().init(),
        "rmsprop-centred" => RmsPropConfig::new().with_centered(true).with_momentum(0.5).init(),
        "adagrad" => AdaGradConfig::new().init(),
        "muon" => MuonConfig::new().init(),
        "adan" => AdanConfig::new().init(),
        _ => return None,
    })
}

fn scheduler(kind: &str) -> Option<(ModuleLrScheduler, usize)> {
    Some(match kind {
        "noam" => (NoamLrSchedulerConfig::new(0.1).init().expect("a scheduler"), 300),
        "cosine" => (CosineAnnealingLrSchedulerConfig::new(0.1, 100).init().expect("a scheduler"), 30),
        "linear" => (LinearLrSchedulerConfig::new(0.1, 0.01, 50).init().expect("a scheduler"), 5),
        "exponential" => (ExponentialLrSchedulerConfig::new(0.1, 0.9).init().expect("a scheduler"), 5),
        "step" => (StepLrSchedulerConfig::new(0.1, 3).init().expect("a scheduler"), 7),
        "constant" => (ModuleLrScheduler::new(ConstantLr::from(0.5)), 2),
        "composed" => (
            ComposedLrSchedulerConfig::new()
                .linear(LinearLrSchedulerConfig::new(0.1, 0.01, 50))
                .exponential(ExponentialLrSchedulerConfig::new(0.1, 0.9))
                .init()
                .expect("a scheduler"),
            5,
        ),
        _ => return None,
    })
}

const OPTIMIZERS: [&str; 10] = [
    "adam", "amsgrad", "adamw", "sgd", "sgd-momentum", "rmsprop", "rmsprop-centred", "adagrad", "muon", "adan",
];
const SCHEDULERS: [&str; 7] = ["noam", "cosine", "linear", "exponential", "step", "constant", "composed"];

fn tell(kind: &str, next: &Net) {
    println!("{{\"kind\": \"{kind}\", \"model\": {}}}", dump::tensors(next).replace('\n', " "));
}

pub fn write(folder: &Path) {
    for kind in OPTIMIZERS {
        let folder = folder.join(kind);
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut optimizer = optimizer(kind).expect("an optimizer");
        let net = steps(net(kind != "muon"), &mut optimizer, 0, 2);
        net.clone().save_file(folder.join("model.bpk")).unwrap_or_else(|error| refused(error));
        optimizer.save(folder.join("optim.bpk")).unwrap_or_else(|error| refused(error));
        tell(kind, &steps(net, &mut optimizer, 2, 3));
    }
    for kind in SCHEDULERS {
        let folder = folder.join(kind);
        std::fs::create_dir_all(&folder).expect("a folder");
        let (mut scheduler, count) = scheduler(kind).expect("a scheduler");
        for _ in 0..count {
            scheduler.step();
        }
        scheduler.to_record().save(folder.join("scheduler.bpk")).unwrap_or_else(|error| refused(error));
        println!("{{\"kind\": \"{kind}\", \"rate\": {:?}}}", scheduler.step().base());
    }
}

pub fn resume(kind: &str, folder: &Path) {
    if let Some(optimizer) = optimizer(kind) {
        let record = burn::store::ModuleRecord::load(folder.join("model.bpk")).unwrap_or_else(|error| refused(error));
        let net = net(kind != "muon").try_load_record(record).unwrap_or_else(|error| refused(error));
        let mut optimizer = optimizer.load(folder.join("optim.bpk")).unwrap_or_else(|error| refused(error));
        tell(kind, &steps(net, &mut optimizer, 2, 3));
    } else if let Some((scheduler, _)) = scheduler(kind) {
        let record = LrSchedulerRecord::load(folder.join("scheduler.bpk")).unwrap_or_else(|error| refused(error));
        println!("{{\"kind\": \"{kind}\", \"rate\": {:?}}}", scheduler.load_record(record).step().base());
    }
}

/// Loads an optimizer's state and saves it again: what Burn did not understand is gone then.
pub fn again(kind: &str, file: &Path, out: &Path) {
    let Some(optimizer) = optimizer(kind) else {
        eprintln!("store: no optimizer {kind}");
        std::process::exit(2)
    };
    optimizer
        .load(file)
        .unwrap_or_else(|error| refused(error))
        .save(out)
        .unwrap_or_else(|error| refused(error));
}

pub fn kinds() {
    OPTIMIZERS.iter().chain(&SCHEDULERS).for_each(|kind| println!("{kind}"));
}
