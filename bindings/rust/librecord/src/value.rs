// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::error::{check, Result};
use crate::{text, Element, Error, Status, Tensor};
use librecord_sys as sys;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The kind of a [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Kind {
    Nil,
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer, also a nonnegative one of unknown signedness.
    Uint,
    Float,
    String,
    Bytes,
    List,
    /// Ordered; keys are unique.
    Map,
    /// A variant of an enum.
    Variant,
    /// A list of numbers or of bools, packed.
    Numbers,
    Tensor,
}

/// A scalar of a record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Scalar {
    Nil,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    String(String),
}

macro_rules! scalars {
    ($($kind:ty => $variant:ident),*) => {
        $(impl From<$kind> for Scalar {
            fn from(value: $kind) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}
scalars!(bool => Bool, i64 => Int, i32 => Int, u64 => Uint, u32 => Uint, f64 => Float, f32 => Float, String => String,
         &str => String);

/// A value in the tree of a [`Record`](crate::Record), borrowed from it.
#[derive(Clone, Copy)]
pub struct Value<'r> {
    raw: NonNull<sys::rec_value>,
    record: PhantomData<&'r crate::Record>,
}

// SAFETY: several threads may read one record, and a Value only reads.
unsafe impl Send for Value<'_> {}
// SAFETY: see above.
unsafe impl Sync for Value<'_> {}

/// # Safety
/// The text of a string must live.
unsafe fn scalar_from_raw(raw: &sys::rec_scalar) -> Scalar {
    // SAFETY: the kind says which member of the union is set.
    unsafe {
        match raw.kind {
            sys::REC_KIND_BOOL => Scalar::Bool(raw.v.i != 0),
            sys::REC_KIND_INT => Scalar::Int(raw.v.i),
            sys::REC_KIND_UINT => Scalar::Uint(raw.v.u),
            sys::REC_KIND_FLOAT => Scalar::Float(raw.v.f),
            sys::REC_KIND_STRING => {
                let bytes = text::slice(raw.text.cast::<u8>(), raw.v.length as usize);
                Scalar::String(String::from_utf8_lossy(bytes).into_owned())
            }
            _ => Scalar::Nil,
        }
    }
}

fn empty_scalar() -> sys::rec_scalar {
    sys::rec_scalar { kind: 0, bits: 0, form: 0, v: sys::rec_scalar_v { i: 0 }, text: std::ptr::null() }
}

impl<'r> Value<'r> {
    /// # Safety
    /// The value must live for `'r`.
    pub(crate) unsafe fn from_raw(raw: *const sys::rec_value) -> Option<Self> {
        NonNull::new(raw.cast_mut()).map(|raw| Self { raw, record: PhantomData })
    }

    pub(crate) fn raw(&self) -> *const sys::rec_value {
        self.raw.as_ptr()
    }

    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        // SAFETY: the value lives, here and in the functions below.
        match unsafe { sys::rec_value_kind(self.raw()) } {
            sys::REC_KIND_BOOL => Kind::Bool,
            sys::REC_KIND_INT => Kind::Int,
            sys::REC_KIND_UINT => Kind::Uint,
            sys::REC_KIND_FLOAT => Kind::Float,
            sys::REC_KIND_STRING => Kind::String,
            sys::REC_KIND_BYTES => Kind::Bytes,
            sys::REC_KIND_LIST => Kind::List,
            sys::REC_KIND_MAP => Kind::Map,
            sys::REC_KIND_VARIANT => Kind::Variant,
            sys::REC_KIND_NUMBERS => Kind::Numbers,
            sys::REC_KIND_TENSOR => Kind::Tensor,
            _ => Kind::Nil,
        }
    }

    /// The scalar, also that of nil; `None` for other values.
    pub fn scalar(&self) -> Option<Scalar> {
        let mut raw = empty_scalar();
        let status = unsafe { sys::rec_value_get(self.raw(), &mut raw) };
        (status == sys::REC_OK).then(|| unsafe { scalar_from_raw(&raw) })
    }

    /// The tensor of a tensor value.
    pub fn tensor(&self) -> Option<Tensor<'r>> {
        unsafe { Tensor::from_raw(sys::rec_value_tensor(self.raw())) }
    }

    /// The bytes of a bytes value.
    pub fn bytes(&self) -> Option<&'r [u8]> {
        let mut size = 0;
        let data = unsafe { sys::rec_value_bytes(self.raw(), &mut size) };
        (!data.is_null()).then(|| unsafe { text::slice(data.cast(), size as usize) })
    }

    /// The number of items, entries or packed numbers; 1 for a variant with a payload.
    pub fn len(&self) -> u64 {
        unsafe { sys::rec_value_count(self.raw()) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Item, entry or payload `index`; `None` for packed numbers.
    pub fn item(&self, index: u64) -> Option<Self> {
        unsafe { Self::from_raw(sys::rec_value_item(self.raw(), index)) }
    }

    /// The key of entry `index` of a map, or the name of a variant (index 0).
    pub fn key(&self, index: u64) -> Option<Scalar> {
        let mut raw = empty_scalar();
        let status = unsafe { sys::rec_value_get_key(self.raw(), index, &mut raw) };
        (status == sys::REC_OK).then(|| unsafe { scalar_from_raw(&raw) })
    }

    /// The value below a map (by its key), a list (by its index) or a variant (by its name).
    pub fn child(&self, name: &str) -> Option<Self> {
        let name = text::c_string(name).ok()?;
        unsafe { Self::from_raw(sys::rec_value_child(self.raw(), name.as_ptr())) }
    }

    /// The items, entries or payload, in the file's order.
    pub fn items(&self) -> impl Iterator<Item = Value<'r>> {
        let value = *self;
        (0..value.len()).map_while(move |index| value.item(index))
    }

    /// Packed numbers, converted to `T`.
    pub fn numbers<T: Element>(&self) -> Result<Vec<T>> {
        let count = text::size(self.len())?;
        let mut target = Vec::new();
        target
            .try_reserve_exact(count)
            .map_err(|_| Error::new(Status::Memory, format!("no memory for {count} numbers")))?;
        target.resize(count, T::default());
        // SAFETY: the target has room for `count` elements.
        check(unsafe { sys::rec_value_numbers(self.raw(), T::DTYPE.0, 0, count as u64, target.as_mut_ptr().cast()) })?;
        Ok(target)
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.scalar(), self.tensor()) {
            (Some(scalar), _) => write!(f, "Value({scalar:?})"),
            (_, Some(tensor)) => write!(f, "Value({tensor:?})"),
            _ => write!(f, "Value({:?} of {})", self.kind(), self.len()),
        }
    }
}
