// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C interface of [librecord](https://github.com/librecord/librecord), as its headers declare it.
//!
//! `librecord.h` and `librecord/parallel.h` document each declaration. The crate `librecord` is the safe interface.
#![no_std]
#![allow(non_camel_case_types)]

#[rustfmt::skip]
mod bindings;
pub use bindings::*;

extern "C" {
    /// Of `librecord/plugin.h`.
    pub fn rec_is_rust_word(name: *const core::ffi::c_char, length: u64) -> i32;
}
