// SPDX-License-Identifier: MIT OR Apache-2.0
//! NumPy's files of the models' inputs and outputs: version 1, f4 or i8, little-endian, in C's order.
use burn::tensor::TensorData;

pub struct Inputs(pub Vec<String>);

impl Inputs {
    pub fn at(&self, number: usize) -> TensorData {
        npy(&self.0[number])
    }
}

fn shape(header: &str) -> Vec<usize> {
    let list = header.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    list.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

pub fn npy(path: &str) -> TensorData {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let body = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8_lossy(&file[10..body]);
    if header.contains("'<f4'") {
        let numbers = file[body..].chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        TensorData::new(numbers.collect::<Vec<_>>(), shape(&header))
    } else {
        assert!(header.contains("'<i8'"), "{path}: {header}");
        let numbers = file[body..].chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()));
        TensorData::new(numbers.collect::<Vec<_>>(), shape(&header))
    }
}
