// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::text;
use librecord_sys as sys;
use std::fmt;

/// The result of a function that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// An invalid argument.
    Argument,
    /// An allocation failed.
    Memory,
    /// The system failed to open, read, write, sync or rename.
    Io,
    /// The input is invalid in its format.
    Format,
    /// The input is valid, but this library or recorder does not support it.
    Unsupported,
    /// There is no such recorder, key, section or file. [`Error::errno`] is set for a file.
    NotFound,
    /// A record does not match the type or model it is for.
    Mismatch,
    /// A number is out of range of its new type.
    Range,
    /// A limit of [`Limits`](crate::Limits) was exceeded.
    Limit,
    /// A plugin is unusable or violated its contract.
    Plugin,
    /// The configuration has an error.
    Config,
    /// The progress closure stopped the operation.
    Cancelled,
    /// The file cannot be read without its type: [`Recorder::set_type`](crate::Recorder::set_type).
    Type,
    /// The new file is in place, but its directory could not be synced.
    Sync,
    /// A status that this crate does not know.
    Other(i32),
}

impl Status {
    fn from_raw(status: sys::rec_status) -> Self {
        match status {
            sys::REC_E_ARGUMENT => Self::Argument,
            sys::REC_E_MEMORY => Self::Memory,
            sys::REC_E_IO => Self::Io,
            sys::REC_E_FORMAT => Self::Format,
            sys::REC_E_UNSUPPORTED => Self::Unsupported,
            sys::REC_E_NOT_FOUND => Self::NotFound,
            sys::REC_E_MISMATCH => Self::Mismatch,
            sys::REC_E_RANGE => Self::Range,
            sys::REC_E_LIMIT => Self::Limit,
            sys::REC_E_PLUGIN => Self::Plugin,
            sys::REC_E_CONFIG => Self::Config,
            sys::REC_E_CANCELLED => Self::Cancelled,
            sys::REC_E_TYPE => Self::Type,
            sys::REC_E_SYNC => Self::Sync,
            other => Self::Other(other),
        }
    }
}

#[derive(Clone, Debug)]
struct Parts {
    status: Status,
    message: String,
    file: Option<String>,
    offset: Option<u64>,
    line: Option<u32>,
    path: Option<String>,
    expected: Option<String>,
    found: Option<String>,
    hint: Option<String>,
    errno: Option<i32>,
}

/// An error of the library. `Display` prints the complete message, with the hint on its second line.
#[derive(Clone, Debug)]
pub struct Error(Box<Parts>);

impl Error {
    /// Takes the last error of this thread.
    pub(crate) fn last() -> Self {
        let part = |pointer| Some(text::owned(pointer)).filter(|text| !text.is_empty());
        // SAFETY: these functions have no preconditions; the strings are valid until the next call that can fail.
        unsafe {
            Self(Box::new(Parts {
                status: Status::from_raw(sys::rec_error_status()),
                message: text::owned(sys::rec_error_message()),
                file: part(sys::rec_error_file()),
                offset: Some(sys::rec_error_offset()).filter(|offset| *offset != sys::REC_UNKNOWN),
                line: Some(sys::rec_error_line()).filter(|line| *line != 0),
                path: part(sys::rec_error_path()),
                expected: part(sys::rec_error_expected()),
                found: part(sys::rec_error_found()),
                hint: part(sys::rec_error_hint()),
                errno: Some(sys::rec_error_errno()).filter(|number| *number != 0),
            }))
        }
    }

    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            status,
            message: message.into(),
            file: None,
            offset: None,
            line: None,
            path: None,
            expected: None,
            found: None,
            hint: None,
            errno: None,
        }))
    }

    pub(crate) fn with_path(mut self, path: &str) -> Self {
        self.0.path = Some(path.into());
        self
    }

    /// Names the file of an error that has none.
    pub(crate) fn with_file(mut self, file: &std::path::Path) -> Self {
        if self.0.file.is_none() {
            let file = file.display().to_string();
            self.0.message = format!("{file}: {}", self.0.message);
            self.0.file = Some(file);
        }
        self
    }

    /// The kind of the error.
    pub fn status(&self) -> Status {
        self.0.status
    }
    /// The complete message: place, problem, expected and found, and a hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }
    /// The file, or the name of the stream.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }
    /// The byte offset in the (decompressed) file.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
    /// The line of an error in a configuration or a Rust source.
    pub fn line(&self) -> Option<u32> {
        self.0.line
    }
    /// The path in the record, "layers.0.weight".
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }
    /// What was expected.
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }
    /// What was found.
    pub fn found(&self) -> Option<&str> {
        self.0.found.as_deref()
    }
    /// What to do.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
    /// The errno of a system call that failed.
    pub fn errno(&self) -> Option<i32> {
        self.0.errno
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

/// Converts a status; first continues a panic of a closure that the operation called.
pub(crate) fn check(status: sys::rec_status) -> Result<()> {
    crate::panics::resume();
    if status == sys::REC_OK {
        Ok(())
    } else {
        Err(Error::last())
    }
}

/// Converts a returned pointer in the same way.
pub(crate) fn owned<T>(pointer: *mut T) -> Result<std::ptr::NonNull<T>> {
    crate::panics::resume();
    std::ptr::NonNull::new(pointer).ok_or_else(Error::last)
}
