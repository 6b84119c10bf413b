// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real Burn's recorders, one operation a line of standard input, each answered with "seconds cpu peak anonymous": of
//! the operation; MiB of this process so far, VmHWM; and now, RssAnon. bench/run is its only user.
//!
//!     bench-burn MEGABYTES
//!     save FILE mpk|mpkgz|bin|bingz|json|jsongz full|half moved|shared    (FILE with its extension, that of the format)
//!     load FILE mpk|mpkgz|bin|bingz|json|jsongz full|half    (half: mpk and mpkgz only)
//!     nothing
//!
//! The model is a list of Linear 1024x1024 of gaussian f32 without bias. `moved`: its tensors belong to nobody else
//! when it becomes a record. `shared`: a clone lives on, as when a checkpoint is written during training.
mod clock;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::record::{
    BinFileRecorder, BinGzFileRecorder, FileRecorder, FullPrecisionSettings, HalfPrecisionSettings, JsonGzFileRecorder,
    NamedMpkFileRecorder, NamedMpkGzFileRecorder, PrettyJsonFileRecorder,
};
use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor, TensorData};
use clock::{answer, timed, Span};
use std::hint::black_box;
use std::io::BufRead;
use std::path::{Path, PathBuf};

type Cpu = burn::backend::NdArray<f32>;
const SIDE: usize = 1024;

#[derive(Module, Debug)]
struct Net<B: Backend> {
    layers: Vec<Linear<B>>,
}

/// A model that takes the vectors over.
fn model(layers: Vec<Vec<f32>>) -> Net<Cpu> {
    let device = Default::default();
    let linear = |values| Linear {
        weight: Param::from_tensor(Tensor::from_data(TensorData::new(values, [SIDE, SIDE]), &device)),
        bias: None,
    };
    Net { layers: layers.into_iter().map(linear).collect() }
}

fn gaussian(megabytes: usize) -> Vec<Vec<f32>> {
    let device = Default::default();
    (0..megabytes / 4)
        .map(|_| {
            let tensor = Tensor::<Cpu, 2>::random([SIDE, SIDE], Distribution::Normal(0.0, 1.0), &device);
            tensor.into_data().to_vec().expect("f32")
        })
        .collect()
}

/// Burn sets the extension itself, and replaces what it takes for one: the name without any.
fn stem(file: &Path) -> PathBuf {
    let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
    file.with_file_name(name.split('.').next().expect("a part"))
}

fn save_as<R: FileRecorder<Cpu>>(net: Net<Cpu>, stem: &Path) {
    R::default().record(net.into_record(), stem.to_path_buf()).expect("Burn saves");
}

fn save(layers: &[Vec<f32>], file: &Path, format: &str, precision: &str, shared: bool) -> Span {
    let _ = std::fs::remove_file(file);
    let stem = &stem(file);
    let net = model(layers.to_vec());
    let kept = shared.then(|| net.clone());
    let (times, ()) = timed(|| match (format, precision) {
        ("mpk", "full") => save_as::<NamedMpkFileRecorder<FullPrecisionSettings>>(net, stem),
        ("mpk", "half") => save_as::<NamedMpkFileRecorder<HalfPrecisionSettings>>(net, stem),
        ("mpkgz", "full") => save_as::<NamedMpkGzFileRecorder<FullPrecisionSettings>>(net, stem),
        ("mpkgz", "half") => save_as::<NamedMpkGzFileRecorder<HalfPrecisionSettings>>(net, stem),
        ("bin", "full") => save_as::<BinFileRecorder<FullPrecisionSettings>>(net, stem),
        ("bingz", "full") => save_as::<BinGzFileRecorder<FullPrecisionSettings>>(net, stem),
        ("json", "full") => save_as::<PrettyJsonFileRecorder<FullPrecisionSettings>>(net, stem),
        ("jsongz", "full") => save_as::<JsonGzFileRecorder<FullPrecisionSettings>>(net, stem),
        other => panic!("no recorder {other:?}"),
    });
    black_box(&kept);
    std::fs::File::open(file).and_then(|file| file.sync_all()).expect("the file that was asked for");
    times
}

fn load_as<R: FileRecorder<Cpu>>(stem: &Path) -> Span {
    let (times, record) = timed(|| -> NetRecord<Cpu> {
        R::default().load(stem.to_path_buf(), &Default::default()).expect("Burn loads")
    });
    assert!(!record.layers.is_empty());
    black_box(&record);
    times
}

fn load(file: &Path, format: &str, precision: &str) -> Span {
    let stem = &stem(file);
    match (format, precision) {
        ("mpk", "full") => load_as::<NamedMpkFileRecorder<FullPrecisionSettings>>(stem),
        ("mpk", "half") => load_as::<NamedMpkFileRecorder<HalfPrecisionSettings>>(stem),
        ("mpkgz", "full") => load_as::<NamedMpkGzFileRecorder<FullPrecisionSettings>>(stem),
        ("mpkgz", "half") => load_as::<NamedMpkGzFileRecorder<HalfPrecisionSettings>>(stem),
        ("bin", "full") => load_as::<BinFileRecorder<FullPrecisionSettings>>(stem),
        ("bingz", "full") => load_as::<BinGzFileRecorder<FullPrecisionSettings>>(stem),
        ("json", "full") => load_as::<PrettyJsonFileRecorder<FullPrecisionSettings>>(stem),
        ("jsongz", "full") => load_as::<JsonGzFileRecorder<FullPrecisionSettings>>(stem),
        other => panic!("no recorder {other:?}"),
    }
}

fn main() {
    let megabytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("usage: bench-burn MEGABYTES");
    let layers = gaussian(megabytes);
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let span = match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["nothing"] => (0.0, 0.0),
            ["save", file, format, precision, how] => save(&layers, Path::new(file), format, precision, how == "shared"),
            ["load", file, format, precision] => load(Path::new(file), format, precision),
            _ => panic!("no operation {line}"),
        };
        answer(span);
    }
}
