// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::error::{check, owned, Result};
use crate::{io, text, Context, Precision, Record, Report, Types};
use librecord_sys as sys;
use std::ffi::c_void;
use std::io::{Read, Write};
use std::path::Path;
use std::ptr::NonNull;

/// A format at a precision, with options: loads and saves records.
///
/// Names are those of the command `record`: "NamedMpk", "mpk.gz", "Safetensors", "Burnpack", "Auto" (loads by content and
/// saves by extension). `record plugins` lists them with their options.
pub struct Recorder {
    raw: NonNull<sys::rec_recorder>,
    /// Keeps the progress closure of the context.
    context: Context,
    /// Keeps the set from being extended.
    _types: Option<Types>,
}

// SAFETY: threads may share recorders that are set up; setters take `&mut self`.
unsafe impl Send for Recorder {}
// SAFETY: see above.
unsafe impl Sync for Recorder {}

impl Drop for Recorder {
    fn drop(&mut self) {
        // SAFETY: owned, closed once.
        unsafe { sys::rec_close_recorder(self.raw.as_ptr()) }
    }
}

impl Recorder {
    /// Opens a recorder of the shared context.
    pub fn new(name: &str, precision: Precision) -> Result<Self> {
        Self::new_in(&Context::shared()?, name, precision)
    }

    /// Opens a recorder of a context.
    pub fn new_in(context: &Context, name: &str, precision: Precision) -> Result<Self> {
        let name = text::c_string(name)?;
        // SAFETY: the context lives; the name is copied.
        let raw = owned(unsafe { sys::rec_open_recorder_in(context.raw(), name.as_ptr(), precision.raw()) })?;
        Ok(Self { raw, context: context.clone(), _types: None })
    }

    /// Loads by content and saves by extension, with element types as stored.
    pub fn auto() -> Result<Self> {
        Self::new("Auto", Precision::Keep)
    }

    pub(crate) fn raw(&self) -> *mut sys::rec_recorder {
        self.raw.as_ptr()
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The plugin's name, "NamedMpkGz"; "Auto".
    pub fn name(&self) -> &str {
        // SAFETY: borrowed from the recorder.
        unsafe { text::borrowed(sys::rec_recorder_name(self.raw())) }
    }

    /// The extension without dot; "" for memory only and for "Auto".
    pub fn extension(&self) -> &str {
        // SAFETY: borrowed from the recorder.
        unsafe { text::borrowed(sys::rec_recorder_extension(self.raw())) }
    }

    /// Sets an option (`map`, `data`, `sync`, `check`, `clamp`, `layout`, those of the format) or a load argument (`adapter`,
    /// `profile`, `rename`, `prefix`, `partial`, `strict`…). Each call of `rename` and of other rules adds one.
    pub fn set(&mut self, option: &str, value: &str) -> Result<()> {
        let (option, value) = (text::c_string(option)?, text::c_string(value)?);
        // SAFETY: the recorder is exclusively borrowed; strings are copied.
        check(unsafe { sys::rec_recorder_set(self.raw(), option.as_ptr(), value.as_ptr()) })
    }

    /// Like [`set`](Self::set), to set options while a recorder is opened.
    pub fn with(mut self, option: &str, value: &str) -> Result<Self> {
        self.set(option, value)?;
        Ok(self)
    }

    /// Sets the type of the records, an expression in Rust's grammar with the names of `types`: "Model",
    /// `Vec<nn::Linear<B>>`, "Adam", "NoamLrScheduler".
    pub fn set_type(&mut self, types: &Types, expression: &str) -> Result<()> {
        let expression = text::c_string(expression)?;
        // SAFETY: the recorder is exclusively borrowed, and keeps the set.
        check(unsafe { sys::rec_recorder_set_type_name(self.raw(), types.raw(), expression.as_ptr()) })?;
        self._types = Some(types.clone());
        Ok(())
    }

    /// Loads a file. If `path` with the recorder's extension exists, that is loaded, else `path` itself.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Record> {
        let path = text::c_path(path.as_ref())?;
        // SAFETY: the recorder lives.
        Record::from_raw(unsafe { sys::rec_load(self.raw(), path.as_ptr()) })
    }

    /// Loads from memory. The record keeps `data`, and its tensors lie in it; it is dropped with the last of them.
    pub fn load_bytes<T: AsRef<[u8]> + Send + Sync + 'static>(&self, data: T) -> Result<Record> {
        let data = Box::new(data);
        let bytes: &[u8] = (*data).as_ref();
        let (start, size) = (bytes.as_ptr(), bytes.len() as u64);
        let user = Box::into_raw(data).cast::<c_void>();
        // SAFETY: the bytes stay where they are until the library calls release, once, also if the call fails.
        Record::from_raw(unsafe {
            sys::rec_load_bytes_with(self.raw(), start.cast(), size, Some(io::release_box::<T>), user)
        })
    }

    /// Loads from a reader, to its end. More than 64 MiB go to a temporary file.
    pub fn load_reader<R: Read + Send + 'static>(&self, reader: R) -> Result<Record> {
        let user = Box::into_raw(Box::new(reader)).cast::<c_void>();
        // SAFETY: the library owns the reader until it calls release, once, also if the call fails.
        Record::from_raw(unsafe { sys::rec_load_from(self.raw(), &io::input::<R>(), user) })
    }

    /// Loads the record that [`convert`](Self::convert) would save as `out` by `to`.
    pub fn load_for(&self, path: impl AsRef<Path>, to: &Recorder, out: impl AsRef<Path>) -> Result<Record> {
        let (path, out) = (text::c_path(path.as_ref())?, text::c_path(out.as_ref())?);
        // SAFETY: both recorders live.
        Record::from_raw(unsafe { sys::rec_load_for(self.raw(), path.as_ptr(), to.raw(), out.as_ptr()) })
    }

    /// Saves to a file atomically. The recorder's extension is appended to `path` if it has another one.
    pub fn save(&self, record: &Record, path: impl AsRef<Path>) -> Result<Report> {
        let path = text::c_path(path.as_ref())?;
        // SAFETY: recorder and record live.
        check(unsafe { sys::rec_save(self.raw(), record.raw(), path.as_ptr()) })?;
        Ok(Report::last())
    }

    /// Saves to memory.
    pub fn save_bytes(&self, record: &Record) -> Result<(Vec<u8>, Report)> {
        let mut bytes = Vec::new();
        let user: *mut Vec<u8> = &mut bytes;
        // SAFETY: recorder, record and vector live; the functions are called during the call only.
        let status = unsafe { sys::rec_save_to(self.raw(), record.raw(), &io::output_vec(), user.cast()) };
        check(status)?;
        Ok((bytes, Report::last()))
    }

    /// Saves to a writer, in chunks of at most 4 MiB. If the save fails, the writer may have got a part.
    pub fn save_writer<W: Write + Send>(&self, record: &Record, writer: &mut W) -> Result<Report> {
        let user: *mut W = writer;
        // SAFETY: as in save_bytes().
        let status = unsafe { sys::rec_save_to(self.raw(), record.raw(), &io::output::<W>(), user.cast()) };
        check(status)?;
        Ok(Report::last())
    }

    /// Loads `input` and saves it as `output` with `to`, tensor by tensor, after the load arguments of this recorder.
    pub fn convert(&self, input: impl AsRef<Path>, to: &Recorder, output: impl AsRef<Path>) -> Result<Report> {
        let (input, output) = (text::c_path(input.as_ref())?, text::c_path(output.as_ref())?);
        // SAFETY: both recorders live.
        check(unsafe {
            sys::rec_convert(self.raw(), input.as_ptr(), to.raw(), output.as_ptr(), std::ptr::null_mut())
        })?;
        Ok(Report::last())
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recorder({:?})", self.name())
    }
}
