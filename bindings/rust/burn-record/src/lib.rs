// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

#[cfg(target_endian = "big")]
compile_error!("burn-record shares bytes of files with tensors, and those are little-endian");

mod error;
mod load;
mod save;
mod store;

pub use error::Error;
pub use librecord;
pub use store::RecordStore;
