// SPDX-License-Identifier: MIT OR Apache-2.0
//! A training of an old Burn goes on: the next step gives the parameters and the moments that the old version made.
//!
//! data/VERSION was written by real Burn of that version (tests/interop/oracle): a model and its Adam after three steps
//! (trainee, adam) and the same two after the fourth (trainee4, adam4).
use burn::lr_scheduler::{noam::NoamLrSchedulerConfig, LrSchedulerRecord};
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer, OptimizerRecord};
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, Tensor, TensorData};
use burn_tests::{burnpack, device, golden, parameters, stranger, trained};
use librecord::{Options, Record, Recorder};

#[derive(Module, Debug)]
struct Trainee {
    a: Linear,
    b: Linear,
}

impl Trainee {
    fn new() -> Self {
        let device = device().autodiff();
        Self { a: LinearConfig::new(3, 4).init(&device), b: LinearConfig::new(4, 2).with_bias(false).init(&device) }
    }
}

/// The step of the oracle.
fn step(model: Trainee, optimizer: &mut ModuleOptimizer) -> Trainee {
    let waves: Vec<f32> = (0..15).map(|i| (i as f32 * 1.7 + 0.3).sin() / (1.0 + (i % 7) as f32)).collect();
    let input: Tensor<2> = Tensor::from_data(TensorData::new(waves, [5, 3]), &device().autodiff());
    let output = model.b.forward(model.a.forward(input).tanh());
    let gradients = (output.clone() * output).mean().backward();
    let gradients = GradientsParams::from_grads(gradients, &model);
    optimizer.step(0.01, model, gradients)
}

fn close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1e-3), "{what}: {found}, expected {expected}");
    }
}

fn record(bytes: &Bytes) -> Record {
    Recorder::auto().unwrap().load_bytes(bytes.to_vec()).unwrap()
}

fn resume(version: &str) {
    let bytes = |name: &str| burnpack(trained(version, name), &Options::new());
    let model = ModuleRecord::from_bytes(bytes("trainee")).unwrap();
    let model = stranger(Trainee::new()).try_load_record(model).unwrap();
    let state = OptimizerRecord::from_bytes(bytes("adam")).unwrap();
    let mut optimizer = AdamConfig::new().init().load_record(state);

    let model = step(model, &mut optimizer);

    let expected = Recorder::auto().unwrap().load(trained(version, "trainee4")).unwrap();
    for parameter in parameters(&model) {
        let expected = expected.tensor(&parameter.path).unwrap().f32().unwrap();
        close(&format!("{version}: {}", parameter.path), parameter.data.as_slice().unwrap(), expected);
    }
    let (found, expected) = (optimizer.to_record().into_bytes().unwrap(), bytes("adam4"));
    let (found, expected) = (record(&found), record(&expected));
    let moments = expected.tensors().unwrap();
    assert_eq!(moments.len(), 6, "two moments of three parameters");
    for (path, moment) in moments {
        close(&format!("{version}: {path}"), found.tensor(&path).unwrap().f32().unwrap(), moment.f32().unwrap());
    }
}

#[test]
fn the_next_step_is_that_of_the_old_version() {
    for version in ["0.13.2", "0.14.0", "0.16.1", "0.18.0", "0.20.1", "0.21.0"] {
        resume(version);
    }
}

#[test]
fn a_state_without_its_ids_would_be_seen() {
    let state = OptimizerRecord::from_bytes(burnpack(trained("0.18.0", "adam"), &Options::new())).unwrap();
    let mut optimizer = AdamConfig::new().init().load_record(state);
    // other parameters than the state's: Adam begins anew for each of them
    step(Trainee::new(), &mut optimizer);
    let after = record(&optimizer.to_record().into_bytes().unwrap());
    assert_eq!(after.tensors().unwrap().len(), 12);
}

#[test]
fn a_scheduler_goes_on() {
    let config = || NoamLrSchedulerConfig::new(0.1).init().unwrap();
    for file in golden("noam") {
        let options = Options::new().type_name("NoamLrScheduler");
        let state = LrSchedulerRecord::from_bytes(burnpack(&file, &options)).unwrap();
        let mut resumed = config().load_record(state);
        let mut expected = config();
        (0..300).for_each(|_| drop(expected.step()));
        for _ in 0..3 {
            assert_eq!(resumed.step().base(), expected.step().base(), "{}", file.display());
        }
    }
}
