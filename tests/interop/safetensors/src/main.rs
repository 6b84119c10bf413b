// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads each file with the safetensors crate, saves it again, and says whether the bytes are the same.
use safetensors::SafeTensors;

fn check(path: &str) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|e| e.to_string())?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|e| e.to_string())?;
    let again = safetensors::serialize(tensors.tensors(), metadata.metadata().clone()).map_err(|e| e.to_string())?;
    if again != bytes {
        let at = again.iter().zip(&bytes).position(|(a, b)| a != b);
        return Err(format!("saved again it has {} bytes instead of {}, differing at {at:?}", again.len(), bytes.len()));
    }
    Ok(())
}

fn main() {
    for path in std::env::args().skip(1) {
        match check(&path) {
            Ok(()) => println!("same\t{path}"),
            Err(why) => println!("{why}\t{path}"),
        }
    }
}
