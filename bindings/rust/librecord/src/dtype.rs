// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::text;
use librecord_sys as sys;
use std::fmt;

/// The element type of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dtype(pub(crate) sys::rec_dtype);

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident;)*) => {
        #[allow(missing_docs)]
        impl Dtype {
            $($(#[$doc])* pub const $name: Self = Self(sys::$raw);)*
        }
    };
}
dtypes! {
    NONE = REC_DTYPE_NONE;
    F64 = REC_DTYPE_F64;
    F32 = REC_DTYPE_F32;
    /// Burn's "at least f16 inside, f32 outside": stored as f32.
    FLEX32 = REC_DTYPE_FLEX32;
    F16 = REC_DTYPE_F16;
    BF16 = REC_DTYPE_BF16;
    I64 = REC_DTYPE_I64;
    I32 = REC_DTYPE_I32;
    I16 = REC_DTYPE_I16;
    I8 = REC_DTYPE_I8;
    U64 = REC_DTYPE_U64;
    U32 = REC_DTYPE_U32;
    U16 = REC_DTYPE_U16;
    U8 = REC_DTYPE_U8;
    /// One byte for each element, 0 or 1.
    BOOL = REC_DTYPE_BOOL;
    /// Burn 0.21's `Bool(U8)`: the same bytes, another name.
    BOOL8 = REC_DTYPE_BOOL8;
    /// Burn 0.21's `Bool(U32)`: four bytes for each element.
    BOOL32 = REC_DTYPE_BOOL32;
    /// Burn's quantised tensors.
    QFLOAT = REC_DTYPE_QFLOAT;
    /// A type that the library does not know.
    OPAQUE = REC_DTYPE_OPAQUE;
}

impl Dtype {
    /// The short name, "f32".
    pub fn name(self) -> &'static str {
        // SAFETY: the string is static.
        unsafe { text::borrowed(sys::rec_dtype_name(self.0)) }
    }

    /// The size of an element in bits; 0 if elements have no fixed size.
    pub fn bits(self) -> u32 {
        // SAFETY: no preconditions.
        unsafe { sys::rec_dtype_bits(self.0) }
    }
}

impl fmt::Debug for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The element types of float and int tensors in a load or save. Bool and quantised tensors are never converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// As stored.
    #[default]
    Keep,
    /// f64 and i64.
    Double,
    /// f32 and i32.
    Full,
    /// f16 and i16.
    Half,
}

impl Precision {
    pub(crate) fn raw(self) -> sys::rec_precision {
        match self {
            Self::Keep => sys::REC_PRECISION_KEEP,
            Self::Double => sys::REC_PRECISION_DOUBLE,
            Self::Full => sys::REC_PRECISION_FULL,
            Self::Half => sys::REC_PRECISION_HALF,
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type of Rust that elements of tensors can be read as.
pub trait Element: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// Its element type.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($kind:ty => $dtype:ident),*) => {
        $(impl sealed::Sealed for $kind {}
        impl Element for $kind {
            const DTYPE: Dtype = Dtype::$dtype;
        })*
    };
}
elements!(f64 => F64, f32 => F32, i64 => I64, i32 => I32, i16 => I16, i8 => I8, u64 => U64, u32 => U32, u16 => U16, u8 => U8);
