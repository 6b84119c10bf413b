// SPDX-License-Identifier: MIT OR Apache-2.0
//! Burn's own quantised tensors, and the numbers that Burn makes of them.
use crate::{device, refused};
use burn::module::{Module, Param, ParamId};
use burn::tensor::quantization::{QuantScheme, QuantStore, QuantValue, ScaleDtype};
use burn::tensor::{Tensor, TensorData};
use burn_store::{BurnpackStore, ModuleSnapshot};
use std::path::Path;

#[derive(Module, Debug)]
struct Quantised {
    tensors: Vec<Param<Tensor<3>>>,
}

/// The type of values, their blocks (none: one scale for all), the type of scales, and whether the tensor has a scale, too.
const SCHEMES: [(QuantValue, &[u8], ScaleDtype, bool); 8] = [
    (QuantValue::Q8S, &[], ScaleDtype::F32, false),
    (QuantValue::Q8F, &[], ScaleDtype::F16, false),
    (QuantValue::Q8S, &[6], ScaleDtype::F32, false),
    (QuantValue::Q8F, &[4, 3], ScaleDtype::F16, false),
    (QuantValue::Q4S, &[12], ScaleDtype::BF16, false),
    (QuantValue::Q2S, &[8, 1], ScaleDtype::UE8M0, false),
    (QuantValue::Q4F, &[6], ScaleDtype::UE4M3, false),
    (QuantValue::Q8S, &[2, 6], ScaleDtype::UE4M3, true),
];

fn save(tensors: &[Tensor<3>], file: &Path) {
    let tensors = tensors.iter().enumerate();
    let tensors = tensors.map(|(i, tensor)| Param::initialized(ParamId::from(i as u64 + 1), tensor.clone())).collect();
    let mut store = BurnpackStore::from_file(file).overwrite(true);
    Quantised { tensors }.save_into(&mut store).unwrap_or_else(|error| refused(error));
}

/// Numbers of several sizes, by a linear congruence.
fn numbers() -> Vec<f32> {
    let mut state = 12345u32;
    let next = |_| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        ((state >> 8) as f32 / 8388608.0 - 1.0) * ((state & 7) as f32 + 0.5)
    };
    (0..2 * 8 * 12).map(next).collect()
}

/// FOLDER/stored.bpk has quantised tensors, FOLDER/numbers.bpk what Burn makes of them.
pub fn write(folder: &Path) {
    let quantise = |(value, block, scale, two): (QuantValue, &[u8], ScaleDtype, bool)| {
        let scheme = QuantScheme::default().with_value(value).with_store(QuantStore::Native);
        let scheme = if block.is_empty() { scheme.per_tensor(scale) } else { scheme.per_block(block, scale) };
        let scheme = if two { scheme.per_tensor(ScaleDtype::F32) } else { scheme };
        Tensor::<3>::from_data(TensorData::new(numbers(), [2, 8, 12]), &device()).quantize_dynamic(&scheme)
    };
    let stored: Vec<_> = SCHEMES.into_iter().map(quantise).collect();
    let numbers: Vec<_> = stored.iter().map(|tensor| tensor.clone().dequantize()).collect();
    save(&stored, &folder.join("stored.bpk"));
    save(&numbers, &folder.join("numbers.bpk"));
}
