// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tensors of a module as a record, which reads each of them back from its device while it is saved.
use crate::Error;
use burn_core::module::ParamId;
use burn_core::tensor::{BoolStore, Bytes, DType};
use burn_pack::Tensor as PackTensor;
use librecord::{Dtype, Record};
use std::io::Error as IoError;

fn dtype(dtype: DType) -> Option<Dtype> {
    Some(match dtype {
        DType::F64 => Dtype::F64,
        DType::F32 => Dtype::F32,
        DType::Flex32 => Dtype::FLEX32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::I64 => Dtype::I64,
        DType::I32 => Dtype::I32,
        DType::I16 => Dtype::I16,
        DType::I8 => Dtype::I8,
        DType::U64 => Dtype::U64,
        DType::U32 => Dtype::U32,
        DType::U16 => Dtype::U16,
        DType::U8 => Dtype::U8,
        DType::Bool(BoolStore::Native) => Dtype::BOOL,
        DType::Bool(BoolStore::U8) => Dtype::BOOL8,
        DType::Bool(BoolStore::U32) => Dtype::BOOL32,
        DType::QFloat(_) => return None,
    })
}

/// Adds a tensor. Its data are read once for a save that asks for them in order, and dropped after the last byte.
pub(crate) fn add(record: &mut Record, tensor: PackTensor) -> Result<(), Error> {
    // A field that is a word of Rust is `r#type` in a store, and `type` in a record.
    let levels: Vec<&str> = tensor.name.split('.').map(|level| level.trim_start_matches("r#")).collect();
    let path = levels.join(".");
    let unknown = || Error::Dtype { path: path.clone(), dtype: format!("{:?}", tensor.dtype) };
    let kind = dtype(tensor.dtype).ok_or_else(unknown)?;
    let shape: Vec<u64> = tensor.shape.iter().map(|length| *length as u64).collect();
    let id = tensor.param_id.map(|id| ParamId::from(id).to_string());
    let total = tensor.byte_len();
    let mut held: Option<Bytes> = None;
    let produce = move |offset: u64, target: &mut [u8]| {
        let bytes = match held.take() {
            Some(bytes) => bytes,
            None => tensor.to_bytes().map_err(|error| IoError::other(error.to_string()))?,
        };
        let start = usize::try_from(offset).map_err(IoError::other)?;
        let source = start.checked_add(target.len()).and_then(|end| bytes.get(start..end));
        target.copy_from_slice(source.ok_or_else(|| IoError::other("beyond the end of the tensor"))?);
        if start + target.len() < total {
            held = Some(bytes);
        }
        Ok(())
    };
    record.set_tensor_with(&path, kind, &shape, id.as_deref(), produce)?;
    Ok(())
}
