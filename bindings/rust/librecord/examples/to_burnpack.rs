// SPDX-License-Identifier: MIT OR Apache-2.0
//! Converts a record of any version of Burn for Burn 0.22 and lists it: to_burnpack IN OUT
use librecord::{to_burnpack, Options, Recorder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &arguments[..] else { return Err("usage: to_burnpack IN OUT".into()) };

    let pack = to_burnpack(input, &Options::new())?;
    print!("{}", pack.report);
    std::fs::write(output, &pack.bytes)?;

    let record = Recorder::auto()?.load_bytes(pack.bytes)?;
    for (path, tensor) in record.tensors()? {
        println!("{path}: {} {:?}", tensor.dtype(), tensor.shape());
    }
    Ok(())
}
