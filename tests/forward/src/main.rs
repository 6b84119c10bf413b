// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real Burn with the models of tests/forward, as a command.
//!
//!     forward MODEL RECORD OUT.npy [--within LIMIT] IN.npy...
//!     forward MODEL RECORD --train TRAINED
//!
//! Loads RECORD into MODEL and computes the output for the inputs. Prints the largest difference to OUT.npy, as a part of
//! the largest number there. Exit status: 0 if that is below LIMIT (default: 1e-4), 1 if it is not, 3 if Burn rejects the
//! record (its message is on standard output). The second form doubles all parameters, in place of a training, and saves
//! the model as Burn does.
mod blocks;
mod families;
mod inputs;
mod layers;
mod networks;
mod structures;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{FloatDType, Int, Tensor, TensorData};
use inputs::Inputs;
use std::process::exit;

#[cfg(not(feature = "since_22"))]
mod names {
    pub type B = burn::backend::Flex;
    pub type Device = burn::backend::flex::FlexDevice;
    pub use burn::tensor::backend::Backend;
}
#[cfg(feature = "since_22")]
mod names {
    pub type Device = burn::tensor::Device;
}
pub use names::*;

#[cfg(not(feature = "since_22"))]
fn load<M: Module<B>>(module: M, path: &str) -> Result<M, String> {
    use burn::record::{FullPrecisionSettings, NamedMpkFileRecorder};
    let recorder = NamedMpkFileRecorder::<FullPrecisionSettings>::new();
    module.load_file(path, &recorder, &Device::default()).map_err(|error| error.to_string())
}

#[cfg(not(feature = "since_22"))]
fn save<M: Module<B>>(module: M, path: &str) -> Result<(), String> {
    use burn::record::{FullPrecisionSettings, NamedMpkFileRecorder};
    let recorder = NamedMpkFileRecorder::<FullPrecisionSettings>::new();
    module.save_file(path, &recorder).map_err(|error| error.to_string())
}

#[cfg(feature = "since_22")]
fn save<M: Module>(module: M, path: &str) -> Result<(), String> {
    module.save_file(path).map_err(|error| error.to_string())
}

#[cfg(feature = "since_22")]
fn load<M: Module>(module: M, path: &str) -> Result<M, String> {
    module.try_load_file(path).map_err(|error| error.to_string())
}

fn accept<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|error| {
        println!("{error}");
        exit(3)
    })
}

/// A record of half precision stays in half precision from Burn 0.22 on, and inputs are f32.
struct Full;

impl<B: Backend> ModuleMapper<B> for Full {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|tensor| tensor.cast(FloatDType::F32))
    }
}

/// A training of one step.
struct Train;

impl<B: Backend> ModuleMapper<B> for Train {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|tensor| tensor * 2.0)
    }
}

/// The arguments of one run.
pub struct Run {
    record: String,
    trained: Option<String>,
    inputs: Inputs,
}

impl Run {
    fn loaded<M: Module<B>>(&self, module: M) -> M {
        let module = accept(load(module, &self.record)).map(&mut Full);
        if let Some(path) = &self.trained {
            accept(save(module.map(&mut Train), path));
            exit(0);
        }
        module
    }
    fn floats<const D: usize>(&self, number: usize) -> Tensor<B, D> {
        Tensor::from_data(self.inputs.at(number), &Device::default())
    }
    fn tokens(&self, number: usize) -> Tensor<B, 2, Int> {
        Tensor::from_data(self.inputs.at(number), &Device::default())
    }
}

/// Compares the output with PyTorch's. A number that is not finite is infinitely far away.
#[allow(deprecated)] // to_vec, in favour of a method that Burn 0.21 lacks
fn difference(found: TensorData, expected: TensorData) -> f32 {
    let (found, expected) = (found.convert::<f32>(), expected.convert::<f32>());
    assert_eq!(found.num_elements(), expected.num_elements(), "the size of the output");
    let (found, expected) = (found.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
    let scale = expected.iter().fold(0f32, |most, number| most.max(number.abs()));
    found.iter().zip(&expected).fold(0f32, |most, (found, expected)| {
        let apart = (found - expected).abs() / scale;
        if apart.is_finite() {
            most.max(apart)
        } else {
            f32::INFINITY
        }
    })
}

fn compute(name: &str, run: &Run) -> TensorData {
    let files = [blocks::compute, layers::compute, structures::compute, networks::compute, families::compute];
    files.iter().find_map(|compute| compute(name, run)).unwrap_or_else(|| panic!("no model {name}"))
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut limit = 1e-4;
    if let Some(at) = arguments.iter().position(|argument| argument == "--within") {
        limit = arguments[at + 1].parse().expect("a number after --within");
        arguments.drain(at..at + 2);
    }
    let trained = (arguments[2] == "--train").then(|| arguments[3].clone());
    let run = Run { record: arguments[1].clone(), trained, inputs: Inputs(arguments[3..].to_vec()) };
    let worst = difference(compute(&arguments[0], &run), inputs::npy(&arguments[2]));
    println!("{worst:.1e}");
    exit(if worst < limit { 0 } else { 1 })
}
