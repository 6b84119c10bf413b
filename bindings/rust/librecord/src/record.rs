// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::error::{check, owned, Error, Result, Status};
use crate::value::{Scalar, Value};
use crate::{io, text, Context, Dtype, Report, Tensor};
use librecord_sys as sys;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// A loaded or built model record: a tree of named values whose leaves are tensors and scalars.
///
/// Tensors of a mapped file are read when they are accessed. The file must not be changed in place meanwhile, as for any
/// mapped file; replacing it by a rename is safe. [`guard_maps`](crate::guard_maps) turns the truncation of a mapped file
/// into an error, and the option `map` = `no` of a [`Recorder`](crate::Recorder) reads the file into memory instead.
pub struct Record {
    raw: NonNull<sys::rec_record>,
    report: Report,
    /// Records whose tensors this one computes its own from.
    sources: Vec<Arc<Record>>,
}

// SAFETY: several threads may read one record; editing takes `&mut self`.
unsafe impl Send for Record {}
// SAFETY: see above.
unsafe impl Sync for Record {}

impl Drop for Record {
    fn drop(&mut self) {
        // SAFETY: owned; its sources are dropped after it.
        unsafe { sys::rec_record_free(self.raw.as_ptr()) }
    }
}

/// The origin of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The recorder that read it, "NamedMpk"; "" for a built record.
    pub recorder: String,
    /// The file or stream; "" for memory and built records.
    pub file: String,
    /// Whether its tensors lie in a mapped file.
    pub mapped: bool,
    /// Burn's layout of parameters: 1 (up to 0.13), 2 (from 0.14 on), 0 if unknown.
    pub layout: i32,
}

impl Record {
    /// An empty record of the shared context.
    pub fn new() -> Result<Self> {
        // SAFETY: the context lives; the record keeps what it needs.
        Self::from_raw(unsafe { sys::rec_record_new(Context::shared()?.raw()) })
    }

    /// Takes a returned record with this thread's report.
    pub(crate) fn from_raw(raw: *mut sys::rec_record) -> Result<Self> {
        Ok(Self { raw: owned(raw)?, report: Report::last(), sources: Vec::new() })
    }

    pub(crate) fn keep(mut self, sources: Vec<Arc<Record>>) -> Self {
        self.sources = sources;
        self
    }

    pub(crate) fn raw(&self) -> *mut sys::rec_record {
        self.raw.as_ptr()
    }

    /// A deep copy whose tensors share their bytes with this record.
    pub fn try_clone(&self) -> Result<Self> {
        // SAFETY: the record lives.
        let copy = Self::from_raw(unsafe { sys::rec_record_copy(self.raw()) })?;
        Ok(copy.keep(self.sources.clone()))
    }

    /// The warnings of the load.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Where the record comes from.
    pub fn origin(&self) -> Origin {
        // SAFETY: borrowed from the record, never NULL.
        let origin = unsafe { &*sys::rec_record_origin(self.raw()) };
        Origin {
            recorder: text::owned(origin.recorder),
            file: text::owned(origin.file),
            mapped: origin.mapped != 0,
            layout: origin.layout,
        }
    }

    /// The tensor at a path; an error, which suggests similar names, if there is none.
    pub fn tensor(&self, path: &str) -> Result<Tensor<'_>> {
        let path = text::c_string(path)?;
        // SAFETY: the tensor is borrowed from the record.
        unsafe { Tensor::from_raw(sys::rec_tensor_at(self.raw(), path.as_ptr())) }.ok_or_else(Error::last)
    }

    /// All tensors with their paths, in the file's order.
    pub fn tensors(&self) -> Result<Vec<(String, Tensor<'_>)>> {
        // SAFETY: the table lives until it is freed, its tensors as long as the record. Rows are `row_size` bytes apart.
        unsafe {
            let raw = sys::rec_record_table(self.raw());
            let table = owned(raw.cast_mut())?.as_ref();
            let rows: *const u8 = table.rows.cast();
            let row = |index: u64| &*rows.add(index as usize * table.row_size as usize).cast::<sys::rec_row>();
            let found = (0..table.count)
                .map(row)
                .filter_map(|row| Some((text::owned(row.path), Tensor::from_raw(row.tensor)?)))
                .collect();
            sys::rec_table_free(raw);
            Ok(found)
        }
    }

    /// The value at a path: names and list indices joined by dots; "" is the root.
    pub fn value(&self, path: &str) -> Option<Value<'_>> {
        let path = text::c_string(path).ok()?;
        // SAFETY: the value is borrowed from the record.
        unsafe { Value::from_raw(sys::rec_value_at(self.raw(), path.as_ptr())) }
    }

    /// A metadata entry as text; values other than text are a line of JSON.
    pub fn metadata(&self, key: &str) -> Option<String> {
        let key = text::c_string(key).ok()?;
        // SAFETY: borrowed from the record, and copied.
        let found = unsafe { sys::rec_metadata(self.raw(), key.as_ptr()) };
        (!found.is_null()).then(|| text::owned(found))
    }

    /// All metadata, in the file's order.
    pub fn all_metadata(&self) -> Result<Vec<(String, String)>> {
        // SAFETY: the record lives.
        (0..unsafe { sys::rec_metadata_count(self.raw()) })
            .map(|index| {
                let (mut key, mut value) = (std::ptr::null(), std::ptr::null());
                check(unsafe { sys::rec_metadata_get(self.raw(), index, &mut key, &mut value) })?;
                Ok((text::owned(key), text::owned(value)))
            })
            .collect()
    }

    /// Sets a metadata entry; `None` removes it.
    pub fn set_metadata(&mut self, key: &str, value: Option<&str>) -> Result<()> {
        let (key, value) = (text::c_string(key)?, value.map(text::c_string).transpose()?);
        let value = value.as_ref().map_or(std::ptr::null(), |value| value.as_ptr());
        // SAFETY: the strings are copied.
        check(unsafe { sys::rec_metadata_set(self.raw(), key.as_ptr(), value) })
    }

    /// Sets a scalar. Missing levels of the path are created; a value or an empty list or map is replaced.
    pub fn set(&mut self, path: &str, value: impl Into<Scalar>) -> Result<()> {
        let path = text::c_string(path)?;
        let (raw, path) = (self.raw(), path.as_ptr());
        // SAFETY: the record is exclusively borrowed; strings are copied.
        check(unsafe {
            match value.into() {
                Scalar::Nil => sys::rec_set_nil(raw, path),
                Scalar::Bool(value) => sys::rec_set_bool(raw, path, value.into()),
                Scalar::Int(value) => sys::rec_set_int(raw, path, value),
                Scalar::Uint(value) => sys::rec_set_uint(raw, path, value),
                Scalar::Float(value) => sys::rec_set_float(raw, path, value),
                Scalar::String(value) => sys::rec_set_string(raw, path, text::c_string(&value)?.as_ptr()),
            }
        })
    }

    /// Sets a tensor from a copy of little-endian bytes. `id`: "" creates a parameter id, `None` makes a bare tensor.
    pub fn set_tensor(&mut self, path: &str, dtype: Dtype, shape: &[u64], data: &[u8], id: Option<&str>) -> Result<()> {
        let id = id.map(text::c_string).transpose()?;
        let mut spec = new_spec(dtype, shape, id.as_deref())?;
        spec.ownership = sys::REC_COPY;
        spec.data = data.as_ptr().cast();
        spec.data_size = data.len() as u64;
        self.set_spec(path, &spec)
    }

    /// Sets a tensor whose bytes `produce` writes when they are needed: it fills the slice from the offset on. A save asks
    /// for each byte once and in order, in chunks of at most 4 MiB (zip archives to a stream ask twice).
    pub fn set_tensor_with(
        &mut self,
        path: &str,
        dtype: Dtype,
        shape: &[u64],
        id: Option<&str>,
        produce: impl FnMut(u64, &mut [u8]) -> std::io::Result<()> + Send + 'static,
    ) -> Result<()> {
        let id = id.map(text::c_string).transpose()?;
        let mut spec = new_spec(dtype, shape, id.as_deref())?;
        let producer: Box<io::Producer> = Box::new(io::Producer(Box::new(produce)));
        spec.ownership = sys::REC_PRODUCE;
        // A size that overflows is left at 0: the library rejects the shape.
        let count = shape.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
        spec.data_size = count.and_then(|count| count.checked_mul(u64::from(dtype.bits() / 8))).unwrap_or(0);
        spec.produce = Some(io::produce);
        spec.release = Some(io::release_producer);
        // The library releases the producer, also if the call fails.
        spec.user = Box::into_raw(producer).cast::<c_void>();
        self.set_spec(path, &spec)
    }

    fn set_spec(&mut self, path: &str, spec: &sys::rec_tensor_spec) -> Result<()> {
        let path = match text::c_string(path) {
            Ok(path) => path,
            Err(error) => {
                if let Some(release) = spec.release {
                    // SAFETY: the library did not get the producer, so that it is released here.
                    unsafe { release(spec.user, std::ptr::null()) }
                }
                return Err(error);
            }
        };
        // SAFETY: the record is exclusively borrowed; the spec and what it points to live for the call.
        check(unsafe { sys::rec_set_tensor(self.raw(), path.as_ptr(), spec) })
    }

    /// Sets an f32 parameter with a new id.
    pub fn set_f32(&mut self, path: &str, shape: &[u64], data: &[f32]) -> Result<()> {
        let expected = shape.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
        if expected != Some(data.len() as u64) {
            let message = format!("{path}: expected as many numbers as the shape {shape:?} has, found {}", data.len());
            return Err(Error::new(Status::Argument, message).with_path(path));
        }
        let path = text::c_string(path)?;
        // SAFETY: `data` has as many elements as the shape; both are copied.
        check(unsafe { sys::rec_set_f32(self.raw(), path.as_ptr(), data.as_ptr(), shape.len() as u32, shape.as_ptr()) })
    }

    /// Sets a deep copy of a value of another record; tensors share their bytes.
    pub fn set_value(&mut self, path: &str, value: Value<'_>) -> Result<()> {
        let path = text::c_string(path)?;
        // SAFETY: both records live; this one is exclusively borrowed.
        check(unsafe { sys::rec_set_value(self.raw(), path.as_ptr(), value.raw()) })
    }

    /// Sets the parameter id of a tensor; `None` removes it.
    pub fn set_id(&mut self, path: &str, id: Option<&str>) -> Result<()> {
        let (path, id) = (text::c_string(path)?, id.map(text::c_string).transpose()?);
        let id = id.as_ref().map_or(std::ptr::null(), |id| id.as_ptr());
        // SAFETY: the strings are copied.
        check(unsafe { sys::rec_set_id(self.raw(), path.as_ptr(), id) })
    }

    /// Removes the value at a path; later list items move up.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        let path = text::c_string(path)?;
        // SAFETY: the record is exclusively borrowed.
        check(unsafe { sys::rec_remove(self.raw(), path.as_ptr()) })
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").field("origin", &self.origin()).finish_non_exhaustive()
    }
}

/// A spec without data. It borrows `shape` and `id`.
fn new_spec(dtype: Dtype, shape: &[u64], id: Option<&std::ffi::CStr>) -> Result<sys::rec_tensor_spec> {
    let rank =
        u32::try_from(shape.len()).map_err(|_| Error::new(Status::Argument, "a tensor has at most 32 dimensions"))?;
    // SAFETY: all-zero is a valid rec_tensor_spec.
    let mut spec: sys::rec_tensor_spec = unsafe { std::mem::zeroed() };
    spec.size = size_of::<sys::rec_tensor_spec>() as u32;
    spec.dtype = dtype.0;
    spec.rank = rank;
    spec.shape = shape.as_ptr();
    spec.id = id.map_or(std::ptr::null(), |id| id.as_ptr());
    Ok(spec)
}
