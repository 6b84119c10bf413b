// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tensors of a record as Burn's lazy ones. Their data are read when Burn asks for them, and shared with the record where they
//! lie in memory or in a mapped file, aligned for their elements.
use crate::Error;
use burn_core::tensor::{AllocationProperty, BoolStore, Bytes, DType};
use burn_pack::{Reader, Tensor as PackTensor};
use librecord::{Dtype, Record, Recorder, Tensor};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

/// The element type; `None` if Burn has none or it is quantised.
fn dtype(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::F64 => DType::F64,
        Dtype::F32 => DType::F32,
        Dtype::FLEX32 => DType::Flex32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::I64 => DType::I64,
        Dtype::I32 => DType::I32,
        Dtype::I16 => DType::I16,
        Dtype::I8 => DType::I8,
        Dtype::U64 => DType::U64,
        Dtype::U32 => DType::U32,
        Dtype::U16 => DType::U16,
        Dtype::U8 => DType::U8,
        Dtype::BOOL => DType::Bool(BoolStore::Native),
        Dtype::BOOL8 => DType::Bool(BoolStore::U8),
        Dtype::BOOL32 => DType::Bool(BoolStore::U32),
        _ => return None,
    })
}

/// A range of a record that stays where it is while the record lives.
struct Shared {
    start: *const u8,
    size: usize,
    _record: Arc<Record>,
}

// SAFETY: the bytes are not changed while the record lives, which is Send and Sync.
unsafe impl Send for Shared {}
// SAFETY: see above.
unsafe impl Sync for Shared {}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: made of a slice that is borrowed from the record.
        unsafe { std::slice::from_raw_parts(self.start, self.size) }
    }
}

/// Bytes aligned for any element.
struct Aligned {
    words: Vec<u64>,
    size: usize,
}

impl Aligned {
    fn new(size: usize) -> Result<Self, burn_pack::Error> {
        let mut words = Vec::new();
        let count = size.div_ceil(8);
        words.try_reserve_exact(count).map_err(|_| burn_pack::Error::IoError(format!("no memory for {size} bytes")))?;
        words.resize(count, 0);
        Ok(Self { words, size })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the words have at least `size` bytes.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.size) }
    }
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: as in bytes().
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.size) }
    }
}

/// The data of a tensor: shared if possible, else one copy.
fn data(record: &Arc<Record>, tensor: &Tensor<'_>, width: usize, size: usize) -> Result<Bytes, burn_pack::Error> {
    if tensor.dtype() == tensor.stored_dtype() {
        if let Some(bytes) = tensor.at_hand() {
            if bytes.len() == size && bytes.as_ptr().align_offset(width) == 0 {
                let shared = Shared { start: bytes.as_ptr(), size, _record: record.clone() };
                return Ok(Bytes::from_shared(bytes::Bytes::from_owner(shared), AllocationProperty::File));
            }
        }
    }
    let mut copy = Aligned::new(size)?;
    tensor.read_bytes(tensor.dtype(), 0, copy.bytes()).map_err(|error| burn_pack::Error::IoError(error.to_string()))?;
    Ok(Bytes::from_shared(bytes::Bytes::from_owner(copy), AllocationProperty::Native))
}

/// A path as Burn's stores have it: a field that is a word of Rust is `r#type`.
fn store_name(path: &str) -> String {
    let level = |level: &str| if librecord::is_rust_word(level) { format!("r#{level}") } else { level.to_string() };
    path.split('.').map(level).collect::<Vec<String>>().join(".")
}

/// A tensor that Burn reads later. The provider must not panic: Burn would abort the process.
fn deferred(record: &Arc<Record>, path: &str, tensor: &Tensor<'_>) -> Result<PackTensor, Error> {
    let unknown = || Error::Dtype { path: path.into(), dtype: tensor.dtype_name().into() };
    let dtype = dtype(tensor.dtype()).ok_or_else(unknown)?;
    let size = |number: u64| usize::try_from(number).map_err(|_| unknown());
    let shape = tensor.shape().iter().map(|length| size(*length)).collect::<Result<Vec<usize>, Error>>()?;
    let (bytes, width) = (size(tensor.nbytes())?, dtype.size());
    let name = store_name(path);
    let (record, place) = (record.clone(), path.to_string());
    let provider = move || {
        let read = || {
            let tensor = record.tensor(&place).map_err(|error| burn_pack::Error::IoError(error.to_string()))?;
            data(&record, &tensor, width, bytes)
        };
        catch_unwind(AssertUnwindSafe(read))
            .unwrap_or_else(|_| Err(burn_pack::Error::ValidationError(format!("{place}: a panic while it was read"))))
    };
    Ok(PackTensor::deferred(name, dtype, shape, tensor.id_number(), bytes, provider))
}

/// All tensors of a record that was loaded for `burnpack`.
pub(crate) fn tensors(record: Record, burnpack: &Recorder) -> Result<Vec<PackTensor>, Error> {
    let tensors = record.tensors()?;
    if tensors.iter().any(|(_, tensor)| tensor.dtype() == Dtype::QFLOAT) {
        // Burn reads the schemes of quantisation from a Burnpack.
        let (bytes, _) = burnpack.save_bytes(&record)?;
        return Ok(Reader::from_bytes(Bytes::from_bytes_vec(bytes))?.into_tensors()?);
    }
    drop(tensors);
    let record = Arc::new(record);
    let found = record.tensors()?;
    found.iter().map(|(path, tensor)| deferred(&record, path, tensor)).collect()
}
