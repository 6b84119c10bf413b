// SPDX-License-Identifier: MIT OR Apache-2.0
//! Readers, writers and producers of Rust as the functions that the C interface calls.
use crate::panics;
use librecord_sys as sys;
use std::ffi::c_void;
use std::io::{ErrorKind, Read, Write};

/// An errno for a failed call; -1, an error without a number, if the system has none.
fn errno(error: &std::io::Error) -> i32 {
    error.raw_os_error().filter(|number| *number > 0).unwrap_or(-1)
}

type Produce = dyn FnMut(u64, &mut [u8]) -> std::io::Result<()> + Send;
pub(crate) struct Producer(pub(crate) Box<Produce>);

pub(crate) unsafe extern "C" fn produce(user: *mut c_void, offset: u64, target: *mut c_void, size: u64) -> i32 {
    panics::stop(-1, || {
        // SAFETY: one thread calls it at a time; the target has room for `size` bytes, which are initialised here.
        let (producer, target) = unsafe {
            std::ptr::write_bytes(target.cast::<u8>(), 0, size as usize);
            (&mut *user.cast::<Producer>(), std::slice::from_raw_parts_mut(target.cast::<u8>(), size as usize))
        };
        (producer.0)(offset, target).err().map_or(0, |error| errno(&error))
    })
}

pub(crate) unsafe extern "C" fn release_producer(user: *mut c_void, _data: *const c_void) {
    // SAFETY: made by Box::into_raw(), released once.
    panics::stop((), || drop(unsafe { Box::from_raw(user.cast::<Producer>()) }));
}

pub(crate) unsafe extern "C" fn release_box<T>(user: *mut c_void, _data: *const c_void) {
    // SAFETY: made by Box::into_raw() of a Box<T>, released once.
    panics::stop((), || drop(unsafe { Box::from_raw(user.cast::<T>()) }));
}

/// An input that reads `R` to its end. The library owns the reader until it calls `release`.
pub(crate) fn input<R: Read + Send>() -> sys::rec_input {
    // SAFETY: all-zero is a valid rec_input.
    let mut input: sys::rec_input = unsafe { std::mem::zeroed() };
    input.size = size_of::<sys::rec_input>() as u32;
    input.total = sys::REC_UNKNOWN;
    input.read = Some(read::<R>);
    input.release = Some(release_reader::<R>);
    input
}

unsafe extern "C" fn read<R: Read>(user: *mut c_void, target: *mut c_void, room: u64, got: *mut u64) -> i32 {
    panics::stop(-1, || {
        // SAFETY: calls do not overlap; the target has `room` bytes, which are initialised here.
        let (reader, target) = unsafe {
            std::ptr::write_bytes(target.cast::<u8>(), 0, room as usize);
            (&mut *user.cast::<R>(), std::slice::from_raw_parts_mut(target.cast::<u8>(), room as usize))
        };
        loop {
            match reader.read(target) {
                Ok(count) => {
                    // SAFETY: `got` is a place for a number. A reader that claims more than there is room for is wrong.
                    unsafe { *got = count.min(target.len()) as u64 };
                    return 0;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return errno(&error),
            }
        }
    })
}

unsafe extern "C" fn release_reader<R>(user: *mut c_void) {
    // SAFETY: made by Box::into_raw(), released once.
    panics::stop((), || drop(unsafe { Box::from_raw(user.cast::<R>()) }));
}

/// An output that `W` gets, which the caller keeps.
pub(crate) fn output<W: Write + Send>() -> sys::rec_output {
    sys::rec_output { write: Some(write::<W>), ..empty_output() }
}

/// An output that a `Vec<u8>` gets, which can be patched.
pub(crate) fn output_vec() -> sys::rec_output {
    sys::rec_output { write: Some(write_vec), patch: Some(patch_vec), ..empty_output() }
}

fn empty_output() -> sys::rec_output {
    // SAFETY: all-zero is a valid rec_output.
    let mut output: sys::rec_output = unsafe { std::mem::zeroed() };
    output.size = size_of::<sys::rec_output>() as u32;
    output
}

/// # Safety
/// `data` must have `size` bytes.
unsafe fn bytes<'a>(data: *const c_void, size: u64) -> &'a [u8] {
    // SAFETY: see above.
    unsafe { crate::text::slice(data.cast(), size as usize) }
}

unsafe extern "C" fn write<W: Write>(user: *mut c_void, data: *const c_void, size: u64) -> i32 {
    panics::stop(-1, || {
        // SAFETY: calls do not overlap; `user` is the caller's writer.
        let writer = unsafe { &mut *user.cast::<W>() };
        writer.write_all(unsafe { bytes(data, size) }).err().map_or(0, |error| errno(&error))
    })
}

const ENOMEM: i32 = 12;
const EINVAL: i32 = 22;

unsafe extern "C" fn write_vec(user: *mut c_void, data: *const c_void, size: u64) -> i32 {
    panics::stop(-1, || {
        // SAFETY: calls do not overlap; `user` is the caller's vector.
        let (target, data) = unsafe { (&mut *user.cast::<Vec<u8>>(), bytes(data, size)) };
        if target.try_reserve(data.len()).is_err() {
            return ENOMEM;
        }
        target.extend_from_slice(data);
        0
    })
}

unsafe extern "C" fn patch_vec(user: *mut c_void, offset: u64, data: *const c_void, size: u64) -> i32 {
    panics::stop(-1, || {
        // SAFETY: as in write_vec().
        let (target, data) = unsafe { (&mut *user.cast::<Vec<u8>>(), bytes(data, size)) };
        let place =
            usize::try_from(offset).ok().and_then(|start| target.get_mut(start..start.checked_add(data.len())?));
        match place {
            Some(place) => {
                place.copy_from_slice(data);
                0
            }
            None => EINVAL,
        }
    })
}
