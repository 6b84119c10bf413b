// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod burnpack;
mod context;
mod dtype;
mod error;
mod io;
mod panics;
mod plan;
mod record;
mod recorder;
mod report;
mod tensor;
mod text;
mod types;
mod value;

pub use burnpack::{to_burnpack, Burnpack, Options};
pub use context::{guard_maps, Context, ContextBuilder, Limits, Progress};
pub use dtype::{Dtype, Element, Precision};
pub use error::{Error, Result, Status};
pub use plan::{Action, Layout, Plan, PlanLine, Problem};
pub use record::{Origin, Record};
pub use recorder::Recorder;
pub use report::{Note, NoteKind, Report};
pub use tensor::Tensor;
pub use types::Types;
pub use value::{Kind, Scalar, Value};

/// The version of the linked C library, "0.9.0".
pub fn library_version() -> &'static str {
    // SAFETY: the string is static.
    unsafe { text::borrowed(librecord_sys::rec_version_string()) }
}

/// Whether a name is a word of Rust. A field of that name is `r#type` in the paths of Burn's stores, and `type` in a record.
pub fn is_rust_word(name: &str) -> bool {
    // SAFETY: the name has so many bytes; NUL is not needed.
    unsafe { librecord_sys::rec_is_rust_word(name.as_ptr().cast(), name.len() as u64) != 0 }
}
