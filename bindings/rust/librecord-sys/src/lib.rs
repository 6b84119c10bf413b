// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C interface of [librecord](https://github.com/librecord/librecord), as its headers declare it.
//!
//! `librecord.h` and `librecord/parallel.h` document each declaration. The crate `librecord` is the safe interface.
#![no_std]
#![allow(non_camel_case_types)]

// They link the libraries that librecord needs.
#[cfg(feature = "zstd")]
use zstd_sys as _;
#[cfg(feature = "vendored")]
use {libz_sys as _, pcre2_sys as _};

#[rustfmt::skip]
mod bindings;
pub use bindings::*;

extern "C" {
    /// Of `librecord/plugin.h`.
    pub fn rec_is_rust_word(name: *const core::ffi::c_char, length: u64) -> i32;
}
