// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real Burn 0.22's files, one operation a line of standard input, each answered with "seconds cpu peak anonymous": of the
//! operation; MiB of this process so far, VmHWM; and now, RssAnon. bench/run is its only user.
//!
//!     bench-store MEGABYTES
//!     save FILE      Module::save_file, which is ready when the file is on the disk
//!     load FILE      Module::try_load_file, and every tensor made, as its reader is lazy
//!     nothing
//!
//! The model is that of the other benches: a list of Linear 1024x1024 of gaussian f32 without bias.
mod clock;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Distribution, Tensor};
use clock::{answer, timed, Span};
use std::hint::black_box;
use std::io::BufRead;
use std::path::Path;

const SIDE: usize = 1024;

#[derive(Module, Debug)]
struct Net {
    layers: Vec<Linear>,
}

fn model(megabytes: usize, distribution: Distribution) -> Net {
    let device = Device::default();
    let linear = |_| Linear {
        weight: Param::from_tensor(Tensor::<2>::random([SIDE, SIDE], distribution, &device)),
        bias: None,
    };
    Net { layers: (0..megabytes / 4).map(linear).collect() }
}

fn save(net: &Net, file: &Path) -> Span {
    let _ = std::fs::remove_file(file);
    let net = net.clone();
    timed(|| net.save_file(file).expect("Burn saves")).0
}

/// The values of the first element of each tensor, which makes the tensor.
fn load(size: usize, file: &Path) -> Span {
    let net = model(size, Distribution::Default);
    let (span, net) = timed(|| {
        let net = net.try_load_file(file).expect("Burn loads");
        for layer in &net.layers {
            black_box(layer.weight.val().slice([0..1, 0..1]).into_data());
        }
        net
    });
    black_box(&net);
    span
}

fn main() {
    let megabytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("usage: bench-store MEGABYTES");
    let net = model(megabytes, Distribution::Normal(0.0, 1.0));
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let span = match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["nothing"] => (0.0, 0.0),
            ["save", file] => save(&net, Path::new(file)),
            ["load", file] => load(megabytes, Path::new(file)),
            _ => panic!("no operation {line}"),
        };
        answer(span);
    }
}
