// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::error::{check, owned};
use crate::{panics, text, Result};
use librecord_sys as sys;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// The progress of an operation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// "load", "save", "convert"; "check" while the output is read back.
    pub operation: &'a str,
    /// The file or stream.
    pub file: &'a str,
    /// Bytes done.
    pub done: u64,
    /// Bytes to do, if known.
    pub total: Option<u64>,
}

type ProgressFn = dyn Fn(Progress<'_>) -> ControlFlow<()> + Send + Sync;

/// Bounds on the cost of an input. [`Limits::default`] has the library's defaults.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Nesting of lists and maps, at most 200.
    pub depth: u32,
    /// A load allocates at most this many times the size of the (decompressed) input…
    pub memory_factor: u64,
    /// …and this many bytes more.
    pub memory_slack: u64,
    /// Compressed input may decompress to this many times its size…
    pub inflated_factor: u64,
    /// …and this many bytes more.
    pub inflated_slack: u64,
    /// Elements of a list whose elements take no bytes.
    pub elements: u64,
}

fn default_limits() -> sys::rec_limits {
    // SAFETY: all-zero is a valid rec_limits; with its size set rec_limits_init() fills it in.
    unsafe {
        let mut limits: sys::rec_limits = std::mem::zeroed();
        limits.size = size_of::<sys::rec_limits>() as u32;
        sys::rec_limits_init(&mut limits);
        limits
    }
}

impl Default for Limits {
    fn default() -> Self {
        let limits = default_limits();
        Self {
            depth: limits.depth,
            memory_factor: limits.memory_factor,
            memory_slack: limits.memory_slack,
            inflated_factor: limits.inflated_factor,
            inflated_slack: limits.inflated_slack,
            elements: limits.elements,
        }
    }
}

struct Inner {
    raw: NonNull<sys::rec_context>,
    // The C context borrows it; boxed twice so that its address is thin and stays.
    _progress: Option<Box<Box<ProgressFn>>>,
}

// SAFETY: threads may share contexts that are set up, and a Context is not changed after build().
unsafe impl Send for Inner {}
// SAFETY: see above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: made by rec_context_new(), freed once; after it no callback is called.
        unsafe { sys::rec_context_free(self.raw.as_ptr()) }
    }
}

/// Settings that recorders share: threads, limits, the progress closure. Cheap to clone.
///
/// A context reads no configuration file, so that a program behaves the same for every user.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

impl Context {
    /// Returns a builder with the library's defaults.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// The context of recorders that name none: one for the process, with the library's defaults.
    pub fn shared() -> Result<Self> {
        static SHARED: OnceLock<Context> = OnceLock::new();
        if let Some(context) = SHARED.get() {
            return Ok(context.clone());
        }
        let context = Self::builder().build()?;
        Ok(SHARED.get_or_init(|| context).clone())
    }

    /// Recognises a file by its content and name, also inside a compression. Returns the recorder's name, "NamedMpk".
    pub fn recognise(&self, path: impl AsRef<Path>) -> Result<String> {
        let path = text::c_path(path.as_ref())?;
        // SAFETY: the context lives; the result is borrowed from it and copied.
        let name = unsafe { sys::rec_recognise(self.raw(), path.as_ptr()) };
        owned(name.cast_mut()).map(|name| text::owned(name.as_ptr()))
    }

    /// The options of the format that saves to a path, by its extension: "compression", "burn-store"…
    pub fn options_for(&self, path: impl AsRef<Path>) -> Result<Vec<String>> {
        let path = text::c_path(path.as_ref())?;
        // SAFETY: the context lives; what the plugin's description points to lives as long as it, and is copied.
        unsafe {
            let plugin = sys::rec_plugin_for_path(self.raw(), path.as_ptr());
            let plugin = owned(plugin.cast_mut())?.as_ref();
            let options = text::slice(plugin.option_list, plugin.option_count as usize);
            Ok(options.iter().filter_map(|option| option.as_ref()).map(|option| text::owned(option.name)).collect())
        }
    }

    pub(crate) fn raw(&self) -> *mut sys::rec_context {
        self.0.raw.as_ptr()
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}

/// Makes a [`Context`].
#[derive(Default)]
#[must_use]
pub struct ContextBuilder {
    threads: Option<u32>,
    limits: Option<Limits>,
    spill: Option<u64>,
    progress: Option<Box<ProgressFn>>,
}

impl ContextBuilder {
    /// Sets the number of threads for one operation, 1 to 64; the default is the number of processors.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets bounds on the cost of an input.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sends decompressed files and tensors of at least so many bytes to a temporary file instead of memory.
    pub fn spill(mut self, bytes: u64) -> Self {
        self.spill = Some(bytes);
        self
    }

    /// Calls `progress` during operations, on the thread that called the operation. `ControlFlow::Break` stops it: it fails
    /// with [`Status::Cancelled`](crate::Status::Cancelled) and leaves files unchanged. A panic stops it as well, and
    /// continues in the caller of the operation.
    pub fn progress(mut self, progress: impl Fn(Progress<'_>) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Makes the context.
    pub fn build(self) -> Result<Context> {
        // SAFETY: NULL is malloc.
        let raw = owned(unsafe { sys::rec_context_new(std::ptr::null()) })?;
        let inner = Inner { raw, _progress: self.progress.map(Box::new) };
        let raw = raw.as_ptr();
        // SAFETY: the context is new and not shared; the boxed closure lives as long as it.
        unsafe {
            if let Some(threads) = self.threads {
                check(sys::rec_context_set_threads(raw, threads))?;
            }
            if let Some(limits) = &self.limits {
                check(sys::rec_context_set_limits(raw, &raw_limits(limits)))?;
            }
            if let Some(bytes) = self.spill {
                check(sys::rec_context_set_spill(raw, bytes))?;
            }
            if let Some(progress) = &inner._progress {
                let user: *const Box<ProgressFn> = &**progress;
                sys::rec_context_set_progress(raw, Some(call_progress), user.cast_mut().cast());
            }
        }
        Ok(Context(Arc::new(inner)))
    }
}

fn raw_limits(limits: &Limits) -> sys::rec_limits {
    sys::rec_limits {
        depth: limits.depth,
        memory_factor: limits.memory_factor,
        memory_slack: limits.memory_slack,
        inflated_factor: limits.inflated_factor,
        inflated_slack: limits.inflated_slack,
        elements: limits.elements,
        ..default_limits()
    }
}

unsafe extern "C" fn call_progress(user: *mut c_void, progress: *const sys::rec_progress) -> i32 {
    panics::stop(1, || {
        // SAFETY: `user` is the boxed closure of the context; `progress` and its strings live for this call.
        let (call, raw) = unsafe { (&*user.cast::<Box<ProgressFn>>(), &*progress) };
        let progress = unsafe {
            Progress {
                operation: text::borrowed(raw.operation),
                file: text::borrowed(raw.file),
                done: raw.done,
                total: Some(raw.total).filter(|total| *total != sys::REC_UNKNOWN),
            }
        };
        call(progress).is_break().into()
    })
}

/// Protects the process against truncation of mapped files, for all threads and permanently: without it, reading a tensor of
/// a mapped file that another process truncates kills the process by SIGBUS. See `rec_guard_maps()` of the C interface.
pub fn guard_maps() -> Result<()> {
    // SAFETY: no preconditions.
    check(unsafe { sys::rec_guard_maps() })
}
