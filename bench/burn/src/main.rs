// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real Burn's recorders, one operation a line of standard input, each answered with "seconds peak anonymous" (MiB of
//! this process so far, VmHWM; and now, RssAnon). bench/run is its only user.
//!
//!     bench-burn MEGABYTES
//!     save FILE mpk|mpkgz|bin|bingz|json|jsongz full|half moved|shared    (FILE without extension; Burn sets it)
//!     load FILE mpk|mpkgz|bin|bingz|json|jsongz full|half    (half: mpk and mpkgz only)
//!     nothing
//!
//! The model is a list of Linear 1024x1024 of gaussian f32 without bias. `moved`: its tensors belong to nobody else
//! when it becomes a record. `shared`: a clone lives on, as when a checkpoint is written during training.
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::record::{
    BinFileRecorder, BinGzFileRecorder, FileRecorder, FullPrecisionSettings, HalfPrecisionSettings, JsonGzFileRecorder,
    NamedMpkFileRecorder, NamedMpkGzFileRecorder, PrettyJsonFileRecorder,
};
use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor, TensorData};
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

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

/// Burn replaces the extension, so the name must not have a dot.
fn written(stem: &Path, format: &str) -> PathBuf {
    stem.with_extension(format.replace("gz", ".gz"))
}

fn save_as<R: FileRecorder<Cpu>>(net: Net<Cpu>, stem: &Path) {
    R::default().record(net.into_record(), stem.to_path_buf()).expect("Burn saves");
}

fn save(layers: &[Vec<f32>], stem: &Path, format: &str, precision: &str, shared: bool) -> f64 {
    let _ = std::fs::remove_file(written(stem, format));
    let net = model(layers.to_vec());
    let kept = shared.then(|| net.clone());
    let start = Instant::now();
    match (format, precision) {
        ("mpk", "full") => save_as::<NamedMpkFileRecorder<FullPrecisionSettings>>(net, stem),
        ("mpk", "half") => save_as::<NamedMpkFileRecorder<HalfPrecisionSettings>>(net, stem),
        ("mpkgz", "full") => save_as::<NamedMpkGzFileRecorder<FullPrecisionSettings>>(net, stem),
        ("mpkgz", "half") => save_as::<NamedMpkGzFileRecorder<HalfPrecisionSettings>>(net, stem),
        ("bin", "full") => save_as::<BinFileRecorder<FullPrecisionSettings>>(net, stem),
        ("bingz", "full") => save_as::<BinGzFileRecorder<FullPrecisionSettings>>(net, stem),
        ("json", "full") => save_as::<PrettyJsonFileRecorder<FullPrecisionSettings>>(net, stem),
        ("jsongz", "full") => save_as::<JsonGzFileRecorder<FullPrecisionSettings>>(net, stem),
        other => panic!("no recorder {other:?}"),
    }
    let seconds = start.elapsed().as_secs_f64();
    black_box(&kept);
    std::fs::File::open(written(stem, format)).and_then(|file| file.sync_all()).expect("synced");
    seconds
}

fn load_as<R: FileRecorder<Cpu>>(stem: &Path) -> f64 {
    let start = Instant::now();
    let record: NetRecord<Cpu> = R::default().load(stem.to_path_buf(), &Default::default()).expect("Burn loads");
    let seconds = start.elapsed().as_secs_f64();
    assert!(!record.layers.is_empty());
    black_box(&record);
    seconds
}

fn load(stem: &Path, format: &str, precision: &str) -> f64 {
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

/// A figure of /proc/self/status in MiB.
fn status_mib(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with(name)).expect("the figure");
    line.split_whitespace().nth(1).expect("a number").parse::<f64>().expect("a number") / 1024.0
}

fn main() {
    let megabytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("usage: bench-burn MEGABYTES");
    let layers = gaussian(megabytes);
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let seconds = match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["nothing"] => 0.0,
            ["save", file, format, precision, how] => save(&layers, Path::new(file), format, precision, how == "shared"),
            ["load", file, format, precision] => load(Path::new(file), format, precision),
            _ => panic!("no operation {line}"),
        };
        println!("{seconds:.9} {:.3} {:.3}", status_mib("VmHWM"), status_mib("RssAnon"));
        std::io::stdout().flush().expect("flushed");
    }
}
