// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads a model that Burn 0.14 saved into a module of Burn 0.22: store MODEL.mpk OUT.safetensors
use burn::{module::Module, nn, tensor::Device};
use burn_record::RecordStore;
use burn_store::ModuleSnapshot;

#[derive(Module, Debug)]
struct Model {
    a: nn::Linear,
    b: nn::Linear,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &arguments[..] else { return Err("usage: store MODEL.mpk OUT.safetensors".into()) };
    let device = Device::default();
    let a = nn::LinearConfig::new(3, 4).init(&device);
    let mut model = Model { a, b: nn::LinearConfig::new(4, 2).with_bias(false).init(&device) };

    let result = model.load_from(&mut RecordStore::from_file(input))?;
    println!("loaded {:?}", result.applied);
    model.save_into(&mut RecordStore::from_file(output).overwrite(true))?;
    Ok(())
}
