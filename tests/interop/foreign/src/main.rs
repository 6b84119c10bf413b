// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real Burn as the reader of converted models: loads a file as the record of a model of nets.rs, and saves it again.
//!
//!     foreign NET mpk|bin FILE OUT.mpk
//!
//! Exit status: 0, 2 for wrong arguments, 3 where Burn refuses the file (its words on stderr).
mod nets;

use burn::module::Module;
use burn::record::{BinFileRecorder, FullPrecisionSettings, NamedMpkFileRecorder, Recorder, RecorderError};
use std::process::exit;

type Cpu = burn::backend::NdArray<f32>;

fn again<M: Module<Cpu>>(format: &str, file: &str, out: &str) -> Result<(), RecorderError> {
    let device = Default::default();
    // Burn takes what follows the last dot for an extension and puts its own there.
    let record: M::Record = match format {
        "mpk" => NamedMpkFileRecorder::<FullPrecisionSettings>::default().load(file.into(), &device)?,
        "bin" => BinFileRecorder::<FullPrecisionSettings>::default().load(file.into(), &device)?,
        _ => usage(),
    };
    Recorder::<Cpu>::record(&NamedMpkFileRecorder::<FullPrecisionSettings>::default(), record, out.into())
}

fn usage() -> ! {
    eprintln!("usage: foreign NET mpk|bin FILE OUT.mpk");
    exit(2)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let [net, format, file, out] = words[..] else { usage() };
    let done = match net {
        "LstmNet" => again::<nets::LstmNet<Cpu>>(format, file, out),
        #[cfg(feature = "since_21")]
        "GruNet" => again::<nets::GruNet<Cpu>>(format, file, out),
        "MhaNet" => again::<nets::MhaNet<Cpu>>(format, file, out),
        "GapsNet" => again::<nets::GapsNet<Cpu>>(format, file, out),
        "ResNet" => again::<nets::ResNet<Cpu>>(format, file, out),
        "Llama" => again::<nets::Llama<Cpu>>(format, file, out),
        "Bert" => again::<nets::Bert<Cpu>>(format, file, out),
        "Vit" => again::<nets::Vit<Cpu>>(format, file, out),
        "Gpt2" => again::<nets::Gpt2<Cpu>>(format, file, out),
        _ => usage(),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        exit(3)
    }
}
