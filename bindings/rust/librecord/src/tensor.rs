// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::error::{check, Error, Result, Status};
use crate::value::Value;
use crate::{text, Dtype, Element};
use librecord_sys as sys;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A tensor of a [`Record`](crate::Record), borrowed from it.
#[derive(Clone, Copy)]
pub struct Tensor<'r> {
    raw: NonNull<sys::rec_tensor>,
    record: PhantomData<&'r crate::Record>,
}

// SAFETY: several threads may read one record, and a Tensor only reads.
unsafe impl Send for Tensor<'_> {}
// SAFETY: see above.
unsafe impl Sync for Tensor<'_> {}

impl<'r> Tensor<'r> {
    /// # Safety
    /// The tensor must live for `'r`.
    pub(crate) unsafe fn from_raw(raw: *const sys::rec_tensor) -> Option<Self> {
        NonNull::new(raw.cast_mut()).map(|raw| Self { raw, record: PhantomData })
    }

    fn raw(&self) -> *const sys::rec_tensor {
        self.raw.as_ptr()
    }

    /// The element type at the precision of the load.
    pub fn dtype(&self) -> Dtype {
        // SAFETY: the tensor lives, here and in the functions below.
        Dtype(unsafe { sys::rec_tensor_dtype(self.raw()) })
    }

    /// The element type of the stored bytes.
    pub fn stored_dtype(&self) -> Dtype {
        Dtype(unsafe { sys::rec_tensor_stored_dtype(self.raw()) })
    }

    /// The name of [`dtype`](Self::dtype); of opaque and quantised tensors the file's name.
    pub fn dtype_name(&self) -> &'r str {
        unsafe { text::borrowed(sys::rec_tensor_dtype_name(self.raw())) }
    }

    /// How the file names the type of an opaque or quantised tensor, for example the scheme of its quantisation.
    pub fn dtype_value(&self) -> Option<Value<'r>> {
        unsafe { Value::from_raw(sys::rec_tensor_dtype_value(self.raw())) }
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &'r [u64] {
        unsafe { text::slice(sys::rec_tensor_shape(self.raw()), sys::rec_tensor_rank(self.raw()) as usize) }
    }

    /// The number of elements, the product of the shape.
    pub fn count(&self) -> u64 {
        unsafe { sys::rec_tensor_count(self.raw()) }
    }

    /// The number of bytes at the precision of the load.
    pub fn nbytes(&self) -> u64 {
        unsafe { sys::rec_tensor_nbytes(self.raw()) }
    }

    /// The parameter id as the file has it.
    pub fn id(&self) -> Option<&'r str> {
        let id = unsafe { sys::rec_tensor_id(self.raw()) };
        (!id.is_null()).then(|| unsafe { text::borrowed(id) })
    }

    /// The parameter id as the number that Burn 0.21 and later have; `None` without an id, or if it is no number of Burn.
    pub fn id_number(&self) -> Option<u64> {
        let mut number = 0;
        let status = unsafe { sys::rec_tensor_id_number(self.raw(), &mut number) };
        (status == sys::REC_OK).then_some(number)
    }

    /// Whether it is a parameter of a module; not so a bare tensor, such as those of an optimizer's state.
    pub fn is_parameter(&self) -> bool {
        unsafe { sys::rec_tensor_is_parameter(self.raw()) != 0 }
    }

    /// Whether the element type is not in the file and was assumed.
    pub fn assumed(&self) -> bool {
        unsafe { sys::rec_tensor_assumed(self.raw()) != 0 }
    }

    /// The offset of the tensor's bytes in the (decompressed) file, if they are stored as such.
    pub fn offset(&self) -> Option<u64> {
        Some(unsafe { sys::rec_tensor_offset(self.raw()) }).filter(|offset| *offset != sys::REC_UNKNOWN)
    }

    /// The name of the way in which a quantised tensor is stored, "FP8 E4M3, 128x128 blocks".
    pub fn scheme(&self) -> Option<&'r str> {
        let scheme = unsafe { sys::rec_tensor_scheme(self.raw()) };
        (!scheme.is_null()).then(|| unsafe { text::borrowed(scheme) })
    }

    /// The stored bytes, little-endian, at any alignment; without a copy if they are mapped or in memory.
    pub fn bytes(&self) -> Result<&'r [u8]> {
        let mut size = 0;
        let data = unsafe { sys::rec_tensor_bytes(self.raw(), &mut size) };
        crate::panics::resume();
        if data.is_null() {
            return Err(Error::last());
        }
        // SAFETY: `size` bytes, borrowed from the record.
        Ok(unsafe { text::slice(data.cast(), text::size(size)?) })
    }

    /// The stored bytes if they are mapped or in memory. Does not read or copy; use [`read`](Self::read) otherwise.
    pub fn at_hand(&self) -> Option<&'r [u8]> {
        let mut size = 0;
        let data = unsafe { sys::rec_tensor_at_hand(self.raw(), &mut size) };
        if data.is_null() {
            return None;
        }
        // SAFETY: `size` bytes, borrowed from the record.
        text::size(size).ok().map(|size| unsafe { text::slice(data.cast(), size) })
    }

    /// Elements in host byte order: the stored bytes if type and alignment match, else converted once and kept by the record.
    fn typed<T>(&self, data: *const T) -> Result<&'r [T]> {
        crate::panics::resume();
        if data.is_null() {
            return Err(Error::last());
        }
        // SAFETY: typed access returns `count` aligned elements, borrowed from the record.
        Ok(unsafe { text::slice(data, text::size(self.count())?) })
    }

    /// The elements as f32: the stored bytes if they are that, else converted once and kept.
    pub fn f32(&self) -> Result<&'r [f32]> {
        self.typed(unsafe { sys::rec_tensor_f32(self.raw()) })
    }
    /// The elements as f64, like [`f32`](Self::f32).
    pub fn f64(&self) -> Result<&'r [f64]> {
        self.typed(unsafe { sys::rec_tensor_f64(self.raw()) })
    }
    /// The bit patterns of the elements as IEEE binary16, like [`f32`](Self::f32).
    pub fn f16_bits(&self) -> Result<&'r [u16]> {
        self.typed(unsafe { sys::rec_tensor_f16(self.raw()) })
    }
    /// The elements as i64, like [`f32`](Self::f32).
    pub fn i64(&self) -> Result<&'r [i64]> {
        self.typed(unsafe { sys::rec_tensor_i64(self.raw()) })
    }
    /// The elements as i32, like [`f32`](Self::f32).
    pub fn i32(&self) -> Result<&'r [i32]> {
        self.typed(unsafe { sys::rec_tensor_i32(self.raw()) })
    }
    /// The elements of a bool tensor, 0 or 1.
    pub fn bools(&self) -> Result<&'r [u8]> {
        self.typed(unsafe { sys::rec_tensor_bool(self.raw()) })
    }

    /// Reads elements from `first` on into `target`, converted to its type. The record keeps nothing.
    pub fn read<T: Element>(&self, first: u64, target: &mut [T]) -> Result<()> {
        let (count, data) = (target.len() as u64, target.as_mut_ptr());
        // SAFETY: the target has room for `count` elements of that type.
        check(unsafe { sys::rec_tensor_read(self.raw(), T::DTYPE.0, first, count, data.cast()) })
    }

    /// Reads elements from `first` on into `target` as bytes of `dtype`, host byte order.
    /// `target` must have a whole number of elements.
    pub fn read_bytes(&self, dtype: Dtype, first: u64, target: &mut [u8]) -> Result<()> {
        let width = dtype.bits() as usize / 8;
        if width == 0 || target.len() % width != 0 {
            let message = format!("{} bytes are no whole number of elements of type {dtype}", target.len());
            return Err(Error::new(Status::Argument, message));
        }
        let count = (target.len() / width) as u64;
        // SAFETY: the target has room for `count` elements of `width` bytes.
        check(unsafe { sys::rec_tensor_read(self.raw(), dtype.0, first, count, target.as_mut_ptr().cast()) })
    }

    /// All elements, converted to `T`.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let count = text::size(self.count())?;
        let mut target = Vec::new();
        target
            .try_reserve_exact(count)
            .map_err(|_| Error::new(Status::Memory, format!("no memory for {count} elements of type {}", T::DTYPE)))?;
        target.resize(count, T::default());
        self.read(0, &mut target)?;
        Ok(target)
    }

    /// Hints that the elements are no longer needed, so that their pages can be dropped. Slices stay valid.
    pub fn release(&self) {
        unsafe { sys::rec_tensor_release(self.raw(), 0, sys::REC_UNKNOWN) }
    }
}

impl std::fmt::Debug for Tensor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tensor({} {:?}", self.dtype_name(), self.shape())?;
        if let Some(id) = self.id() {
            write!(f, ", id {id}")?;
        }
        f.write_str(")")
    }
}
