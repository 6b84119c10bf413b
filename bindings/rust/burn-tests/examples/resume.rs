// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resumes a training of Burn 0.14 in Burn 0.22: resume CHECKPOINT-FOLDER
use burn::{module::Module, nn, optim::*, store::ModuleRecord, tensor::Bytes, tensor::Device};
use librecord::{to_burnpack, Options};

#[derive(Module, Debug)]
struct Model {
    a: nn::Linear,
    b: nn::Linear,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: resume CHECKPOINT-FOLDER")?;
    let device = Device::default().autodiff();
    let a = nn::LinearConfig::new(3, 4).init(&device);
    let model = Model { a, b: nn::LinearConfig::new(4, 2).with_bias(false).init(&device) };

    let pack = to_burnpack(format!("{folder}/model-1.mpk"), &Options::new())?;
    let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(pack.bytes))?;
    let model = model.load_record(record);
    let pack = to_burnpack(format!("{folder}/optim-1.mpk"), &Options::new())?;
    let record = OptimizerRecord::from_bytes(Bytes::from_bytes_vec(pack.bytes))?;
    let optimizer = AdamConfig::new().init().load_record(record);

    println!("{model}\n{:?}", optimizer.to_record());
    Ok(())
}
