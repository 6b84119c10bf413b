// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real Burn around burn-store, as a command: it loads what librecord made for it, and writes for librecord to read.
//!
//!     store read CASE HOW FILE     loads a file into CASE's module, all of whose values are others; prints what became of
//!                                  it, and the module's tensors. HOW: store (BurnpackStore), safetensors, core
//!                                  (Module::try_load_record, 0.22 on), mpk (NamedMpkFileRecorder, up to 0.21)
//!     store write DIR              DIR/CASE.EXT of each module; DIR/KIND/{model,optim}.EXT of each optimizer after two
//!                                  steps, DIR/KIND/scheduler.EXT of each scheduler after some. EXT: mpk, from 0.22 on bpk.
//!                                  Prints what each would do next: the model after one more step, the next rate
//!     store resume KIND DIR        loads such files as store write leaves them, and prints that, too
//!     store again KIND FILE OUT    loads an optimizer's state and saves it again (0.22 on)
//!     store quantised DIR          quantised tensors as DIR/stored.bpk, their numbers as DIR/numbers.bpk (0.22 on)
//!     store kinds                  the optimizers and schedulers that there are
//!
//! Exit status: 0, 2 for wrong arguments, 3 where Burn refuses the file (its words on stderr).
mod dump;
mod models;
#[cfg(feature = "since_22")]
mod quantised;
#[cfg_attr(not(feature = "since_22"), path = "train_21.rs")]
#[cfg_attr(feature = "since_22", path = "train_22.rs")]
mod train;

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::tensor::{Bool, Int, Tensor};
use burn_store::{BurnpackStore, ModuleSnapshot, SafetensorsStore};
use std::path::Path;
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

pub fn device() -> Device {
    Device::default()
}

pub fn refused(error: impl std::fmt::Display) -> ! {
    eprintln!("{error}");
    exit(3)
}

/// Other ids than any file has, and other values: what is not loaded is seen.
struct Strangers(u64);

impl Strangers {
    fn id(&mut self) -> ParamId {
        self.0 += 1;
        ParamId::from(9_000_000_000_000_000_000 + self.0)
    }
}

impl<B: Backend> ModuleMapper<B> for Strangers {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let (_, tensor, mapper) = param.consume();
        Param::from_mapped_value(self.id(), tensor.ones_like() * 77.0, mapper)
    }
    fn map_int<const D: usize>(&mut self, param: Param<Tensor<B, D, Int>>) -> Param<Tensor<B, D, Int>> {
        let (_, tensor, mapper) = param.consume();
        Param::from_mapped_value(self.id(), tensor.ones_like() * 77, mapper)
    }
    fn map_bool<const D: usize>(&mut self, param: Param<Tensor<B, D, Bool>>) -> Param<Tensor<B, D, Bool>> {
        let (_, tensor, mapper) = param.consume();
        Param::from_mapped_value(self.id(), tensor, mapper)
    }
}

fn words(list: impl IntoIterator<Item = String>) -> String {
    let list: Vec<String> = list.into_iter().map(|word| format!("{word:?}")).collect();
    format!("[{}]", list.join(", "))
}

fn report<B: Backend, M: Module<B>>(module: &M, applied: usize, missing: String, unused: String, errors: String) {
    println!(
        "{{\"applied\": {applied}, \"missing\": {missing}, \"unused\": {unused}, \"errors\": {errors},\n\"tensors\": {}}}",
        dump::tensors(module)
    );
}

fn read<M: Module<B> + ModuleSnapshot<B>>(module: M, how: &str, file: &Path) {
    let mut module = module.map(&mut Strangers(0));
    let result = match how {
        "store" => module.load_from(&mut BurnpackStore::from_file(file)).unwrap_or_else(|error| refused(error)),
        "safetensors" => module.load_from(&mut SafetensorsStore::from_file(file)).unwrap_or_else(|error| refused(error)),
        #[cfg(feature = "since_22")]
        "core" => {
            let record = burn::store::ModuleRecord::load(file).unwrap_or_else(|error| refused(error));
            let module = module.try_load_record(record).unwrap_or_else(|error| refused(error));
            return report(&module, 0, words([]), words([]), words([]));
        }
        #[cfg(not(feature = "since_22"))]
        "mpk" => {
            let recorder = burn::record::NamedMpkFileRecorder::<burn::record::FullPrecisionSettings>::new();
            let module = module.load_file(file, &recorder, &device()).unwrap_or_else(|error| refused(error));
            return report(&module, 0, words([]), words([]), words([]));
        }
        _ => {
            eprintln!("store: no way {how} in this version");
            exit(2)
        }
    };
    report(
        &module,
        result.applied.len(),
        words(result.missing.iter().map(|(path, _)| path.clone())),
        words(result.unused.iter().cloned()),
        words(result.errors.iter().map(|error| error.to_string())),
    );
}

fn save<M: Module<B>>(module: M, folder: &Path, case: &str) {
    let file = folder.join(case);
    #[cfg(feature = "since_22")]
    module.save_file(file.with_extension("bpk")).unwrap_or_else(|error| refused(error));
    #[cfg(not(feature = "since_22"))]
    module
        .save_file(file, &burn::record::NamedMpkFileRecorder::<burn::record::FullPrecisionSettings>::new())
        .unwrap_or_else(|error| refused(error));
}

macro_rules! cases {
    ($($case:ident)*) => {
        fn read_case(case: &str, how: &str, file: &Path) {
            match case {
                $(stringify!($case) => read(models::$case(), how, file),)*
                _ => {
                    eprintln!("store: no case {case}; there are: {}", [$(stringify!($case)),*].join(" "));
                    exit(2)
                }
            }
        }
        fn write_cases(folder: &Path) {
            $(save(models::$case(), folder, stringify!($case));)*
        }
    };
}
cases!(tiny zoo zoo_wide mnist layers recent words);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["read", case, how, file] => read_case(case, how, Path::new(file)),
        ["write", folder] => {
            std::fs::create_dir_all(folder).expect("a folder");
            write_cases(Path::new(folder));
            train::write(Path::new(folder));
        }
        ["resume", kind, folder] => train::resume(kind, Path::new(folder)),
        #[cfg(feature = "since_22")]
        ["again", kind, file, out] => train::again(kind, Path::new(file), Path::new(out)),
        #[cfg(feature = "since_22")]
        ["quantised", folder] => quantised::write(Path::new(folder)),
        ["kinds"] => train::kinds(),
        _ => {
            eprintln!("usage: store read CASE HOW FILE | write DIR | resume KIND DIR | again KIND FILE OUT | quantised DIR | kinds");
            exit(2)
        }
    }
}
