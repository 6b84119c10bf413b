// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::{Context, Precision, Recorder, Report, Result, Types};
use std::path::{Path, PathBuf};

/// How [`to_burnpack`] reads the file.
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    context: Option<Context>,
    recorder: String,
    precision: Precision,
    type_name: Option<String>,
    type_files: Vec<PathBuf>,
    arguments: Vec<(String, String)>,
    burn: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            context: None,
            recorder: "Auto".into(),
            precision: Precision::Full,
            type_name: None,
            type_files: Vec::new(),
            arguments: Vec::new(),
            burn: None,
        }
    }
}

impl Options {
    /// The file's format is recognised, its numbers become f32 and i32, and the newest Burn's layout is written.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses a context: threads, limits, progress.
    pub fn context(mut self, context: &Context) -> Self {
        self.context = Some(context.clone());
        self
    }

    /// Names the recorder that reads the file, for a format that has no mark to recognise it by.
    pub fn from(mut self, recorder: &str) -> Self {
        self.recorder = recorder.into();
        self
    }

    /// Sets the element types of float and int tensors. The default is [`Precision::Full`], as Burn's recorders load;
    /// a module of Burn 0.22 takes the element type of the file.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Names the type of the record: of a scheduler, whose file does not say which it is ("NoamLrScheduler",
    /// "CosineAnnealingLrScheduler"…), or of a file without names ("Model", with [`types`](Self::types)).
    pub fn type_name(mut self, expression: &str) -> Self {
        self.type_name = Some(expression.into());
        self
    }

    /// Adds a Rust file with the types that [`type_name`](Self::type_name) refers to, beside Burn's own.
    pub fn types(mut self, path: impl AsRef<Path>) -> Self {
        self.type_files.push(path.as_ref().into());
        self
    }

    /// Sets a load argument: `profile`, `rename`, `drop`, `adapter`, `prefix`, `partial`, `strict`…
    pub fn set(mut self, argument: &str, value: &str) -> Self {
        self.arguments.push((argument.into(), value.into()));
        self
    }

    /// Writes for a version of Burn, "0.21" to "0.23"; the default is the newest that the library knows.
    pub fn burn(mut self, version: &str) -> Self {
        self.burn = Some(version.into());
        self
    }

    fn readers(&self) -> Result<(Recorder, Recorder)> {
        let context = match &self.context {
            Some(context) => context.clone(),
            None => Context::shared()?,
        };
        let mut from = Recorder::new_in(&context, &self.recorder, Precision::Keep)?;
        let mut to = Recorder::new_in(&context, "Burnpack", self.precision)?;
        for (argument, value) in &self.arguments {
            from.set(argument, value)?;
        }
        if let Some(expression) = &self.type_name {
            let mut types = Types::new()?;
            for file in &self.type_files {
                types.add_file(file)?;
            }
            from.set_type(&types, expression)?;
            to.set_type(&types, expression)?;
        }
        if let Some(version) = &self.burn {
            to.set("layout", &format!("burn-{version}"))?;
        }
        Ok((from, to))
    }
}

/// A Burnpack in memory.
#[derive(Clone, Debug)]
pub struct Burnpack {
    /// The file's bytes, for `from_bytes` of Burn's records.
    pub bytes: Vec<u8>,
    /// The warnings of the conversion.
    pub report: Report,
}

/// Converts a model's, optimizer's or scheduler's record of any format and any version of Burn into a Burnpack, in memory.
///
/// Burn 0.22 and later load it by `ModuleRecord::from_bytes`, `OptimizerRecord::from_bytes` and
/// `LrSchedulerRecord::from_bytes`. Parameter ids are kept, so that an optimizer's state still belongs to the parameters of
/// the model that it was saved with.
///
/// ```no_run
/// # fn main() -> librecord::Result<()> {
/// let model = librecord::to_burnpack("checkpoint/model-3.mpk", &librecord::Options::new())?;
/// let noam = librecord::Options::new().type_name("NoamLrScheduler");
/// let scheduler = librecord::to_burnpack("checkpoint/scheduler-3.mpk", &noam)?;
/// # Ok(())
/// # }
/// ```
pub fn to_burnpack(path: impl AsRef<Path>, options: &Options) -> Result<Burnpack> {
    let (from, to) = options.readers()?;
    let record = from.load_for(&path, &to, "memory.bpk")?;
    let mut report = record.report().clone();
    let (bytes, saved) = to.save_bytes(&record).map_err(|error| error.with_file(path.as_ref()))?;
    report.append(saved);
    Ok(Burnpack { bytes, report })
}
