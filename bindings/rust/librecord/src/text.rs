// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strings and sizes across the border.
use crate::{Error, Result, Status};
use std::ffi::{c_char, CStr, CString};
use std::path::Path;

/// A copy of a C string; "" for NULL.
pub(crate) fn owned(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: strings of the library are NUL-terminated.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// Borrows a C string of the library, which is UTF-8; "" for NULL.
///
/// # Safety
/// The string must live for `'a`.
pub(crate) unsafe fn borrowed<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: NUL-terminated, and it lives for 'a.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("")
}

pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Status::Argument, format!("{text:?} has a NUL character")))
}

pub(crate) fn c_path(path: &Path) -> Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    CString::new(bytes).map_err(|_| Error::new(Status::Argument, format!("the path {path:?} has a NUL character")))
}

/// A number of the library as a size of this machine.
pub(crate) fn size(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| {
        Error::new(Status::Memory, format!("{number} bytes or elements exceed this machine's address space"))
    })
}

/// # Safety
/// `data` must have `count` elements that live for `'a`; it may be NULL for none.
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: see above.
    unsafe { std::slice::from_raw_parts(data, count) }
}
