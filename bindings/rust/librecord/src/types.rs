// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::error::{check, owned, Error, Result, Status};
use crate::{text, Context};
use librecord_sys as sys;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

struct Inner(NonNull<sys::rec_types>);

// SAFETY: the set is only changed while nothing else refers to it.
unsafe impl Send for Inner {}
// SAFETY: see above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: owned; recorders keep what they need.
        unsafe { sys::rec_types_free(self.0.as_ptr()) }
    }
}

/// A set of type definitions: Burn's modules, optimizers and schedulers, and those added from Rust or INI files.
#[derive(Clone)]
pub struct Types(Arc<Inner>);

impl Types {
    /// A set with Burn's types.
    pub fn new() -> Result<Self> {
        // SAFETY: the context lives; the set keeps what it needs.
        let raw = owned(unsafe { sys::rec_types_new(Context::shared()?.raw()) })?;
        Ok(Self(Arc::new(Inner(raw))))
    }

    pub(crate) fn raw(&self) -> *mut sys::rec_types {
        self.0 .0.as_ptr()
    }

    /// The set, if nothing else refers to it: a recorder sees additions, on whatever thread it runs.
    fn exclusive(&mut self) -> Result<*mut sys::rec_types> {
        match Arc::get_mut(&mut self.0) {
            Some(inner) => Ok(inner.0.as_ptr()),
            None => Err(Error::new(
                Status::Argument,
                "a set of types that is in use cannot be extended: add before you use it",
            )),
        }
    }

    /// Adds the `struct`, `enum` and `type` items of a Rust file, or the type sections of an INI file.
    /// A set that a recorder or another `Types` shares is not extended.
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = text::c_path(path.as_ref())?;
        // SAFETY: nothing else uses the set.
        check(unsafe { sys::rec_types_add_file(self.exclusive()?, path.as_ptr()) })
    }

    /// Adds Rust source in memory; `name` is its name in messages.
    pub fn add_rust(&mut self, source: &str, name: &str) -> Result<()> {
        let (source, name) = (text::c_string(source)?, text::c_string(name)?);
        // SAFETY: nothing else uses the set.
        check(unsafe { sys::rec_types_add_rust(self.exclusive()?, source.as_ptr(), name.as_ptr()) })
    }
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Types").finish_non_exhaustive()
    }
}
