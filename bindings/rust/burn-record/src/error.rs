// SPDX-License-Identifier: MIT OR Apache-2.0
use burn_store::ApplyError;
use std::fmt;
use std::path::PathBuf;

/// An error of a [`RecordStore`](crate::RecordStore).
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The library's: the file cannot be read or written. It has the file, offset, path and a hint.
    Record(librecord::Error),
    /// Tensors of the file do not fit the module's parameters.
    Apply(Vec<ApplyError>),
    /// Parameters of the module, with the kind of their module, that the file lacks.
    Missing(Vec<(String, String)>),
    /// The file to write exists, and the store may not overwrite it.
    Exists(PathBuf),
    /// Burn has no element type for a tensor of the file.
    Dtype {
        /// The path of the tensor.
        path: String,
        /// The name of its type.
        dtype: String,
    },
    /// Burn's: a Burnpack of quantised tensors cannot be read.
    Pack(burn_pack::Error),
}

impl From<librecord::Error> for Error {
    fn from(error: librecord::Error) -> Self {
        Self::Record(error)
    }
}

impl From<burn_pack::Error> for Error {
    fn from(error: burn_pack::Error) -> Self {
        Self::Pack(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(error) => error.fmt(f),
            Self::Apply(errors) => {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                write!(f, "tensors do not fit the module: {}", texts.join("; "))
            }
            Self::Missing(paths) => {
                let paths: Vec<&str> = paths.iter().map(|(path, _)| path.as_str()).collect();
                write!(
                    f,
                    "the file lacks parameters of the module: {}\n  Use allow_partial(true) to keep them.",
                    paths.join(", ")
                )
            }
            Self::Exists(path) => {
                write!(f, "{}: the file exists\n  Use overwrite(true) to replace it.", path.display())
            }
            Self::Dtype { path, dtype } => write!(f, "{path}: Burn has no element type {dtype}"),
            Self::Pack(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Record(error) => Some(error),
            Self::Pack(error) => Some(error),
            _ => None,
        }
    }
}
