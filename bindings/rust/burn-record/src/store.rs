// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::{load, save, Error};
use burn_pack::Tensor as PackTensor;
use burn_store::{ApplyResult, IdentityAdapter, KeyRemapper, ModuleAdapter, ModuleSnapshot, ModuleStore, PathFilter};
use librecord::{Context, Precision, Record, Recorder, Report, Types};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file of any format that librecord reads or writes, as a store of Burn's modules.
///
/// Data are read when a parameter takes them. Where they lie in a mapped file, aligned and in the parameter's type, the
/// parameter shares them without a copy; the file must not be changed in place while the module lives.
#[must_use]
pub struct RecordStore {
    path: PathBuf,
    context: Option<Context>,
    recorder: String,
    precision: Precision,
    arguments: Vec<(String, String)>,
    types: Option<(Types, String)>,
    metadata: Vec<(String, String)>,
    filter: Option<PathFilter>,
    remapper: KeyRemapper,
    from_adapter: Box<dyn ModuleAdapter>,
    to_adapter: Box<dyn ModuleAdapter>,
    allow_partial: bool,
    validate: bool,
    overwrite: bool,
    skip_enum_variants: bool,
    report: Report,
    tensors: Option<BTreeMap<String, PackTensor>>,
}

impl RecordStore {
    /// A store in a file. Loading recognises the format by content, saving takes it from the extension.
    pub fn from_file(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().into(),
            context: None,
            recorder: "Auto".into(),
            precision: Precision::Full,
            arguments: Vec::new(),
            types: None,
            metadata: Vec::new(),
            filter: None,
            remapper: KeyRemapper::new(),
            from_adapter: Box::new(IdentityAdapter),
            to_adapter: Box::new(IdentityAdapter),
            allow_partial: false,
            validate: true,
            overwrite: false,
            skip_enum_variants: false,
            report: Report::default(),
            tensors: None,
        }
    }

    /// Uses a context: threads, limits, progress.
    pub fn context(mut self, context: &Context) -> Self {
        self.context = Some(context.clone());
        self
    }

    /// Names the recorder instead of recognising the file or its extension: "NamedMpkGz", "Safetensors"…
    pub fn recorder(mut self, name: &str) -> Self {
        self.recorder = name.into();
        self
    }

    /// Sets the element types of float and int tensors of a load; the default is [`Precision::Full`]. A save keeps them.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Sets an option or load argument of the recorder: `profile`, `rename`, `adapter`, `layout`…
    pub fn set(mut self, option: &str, value: &str) -> Self {
        self.arguments.push((option.into(), value.into()));
        self
    }

    /// Sets the type of the record, for files without names and for fields without tensors.
    pub fn types(mut self, types: &Types, expression: &str) -> Self {
        self.types = Some((types.clone(), expression.into()));
        self
    }

    /// Adds metadata to the file of a save.
    pub fn metadata(mut self, key: &str, value: &str) -> Self {
        self.metadata.push((key.into(), value.into()));
        self
    }

    /// Loads or saves the parameters that the filter selects.
    pub fn filter(mut self, filter: PathFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Renames tensors of a load.
    pub fn remap(mut self, remapper: KeyRemapper) -> Self {
        self.remapper = remapper;
        self
    }

    /// Adapts tensors of a load to the module.
    pub fn with_from_adapter(mut self, adapter: impl ModuleAdapter + 'static) -> Self {
        self.from_adapter = Box::new(adapter);
        self
    }

    /// Adapts tensors of the module to the file of a save.
    pub fn with_to_adapter(mut self, adapter: impl ModuleAdapter + 'static) -> Self {
        self.to_adapter = Box::new(adapter);
        self
    }

    /// Keeps parameters that the file lacks. The default is an error.
    pub fn allow_partial(mut self, allow: bool) -> Self {
        self.allow_partial = allow;
        self
    }

    /// Makes tensors that do not fit their parameters an error, which is the default.
    pub fn validate(mut self, validate: bool) -> Self {
        self.validate = validate;
        self
    }

    /// Replaces an existing file. The default is an error.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Leaves the names of enum variants out of paths.
    pub fn skip_enum_variants(mut self, skip: bool) -> Self {
        self.skip_enum_variants = skip;
        self
    }

    /// The warnings of the last load or save.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn open(&self, precision: Precision) -> Result<Recorder, Error> {
        let context = self.context.clone().map_or_else(Context::shared, Ok)?;
        let mut recorder = Recorder::new_in(&context, &self.recorder, precision)?;
        for (option, value) in &self.arguments {
            recorder.set(option, value)?;
        }
        if let Some((types, expression)) = &self.types {
            recorder.set_type(types, expression)?;
        }
        Ok(recorder)
    }

    fn cache(&mut self) -> Result<&BTreeMap<String, PackTensor>, Error> {
        if self.tensors.is_none() {
            let context = self.context.clone().map_or_else(Context::shared, Ok)?;
            let burnpack = Recorder::new_in(&context, "Burnpack", self.precision)?;
            let record = self.open(self.precision)?.load_for(&self.path, &burnpack, "memory.bpk")?;
            self.report = record.report().clone();
            let tensors = self.remapper.remap(load::tensors(record, &burnpack)?).0;
            self.tensors = Some(tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect());
        }
        Ok(self.tensors.get_or_insert_with(BTreeMap::new))
    }

    /// Whether the format has names of its own for Burn's stores (`r#type` in safetensors), and the caller did not choose.
    fn asks_for_names_of_stores(&self) -> Result<bool, Error> {
        let chosen = self.arguments.iter().any(|(option, _)| option == "burn-store" || option == "layout");
        if chosen || self.recorder != "Auto" {
            return Ok(false);
        }
        let context = self.context.clone().map_or_else(Context::shared, Ok)?;
        Ok(context.options_for(&self.path)?.iter().any(|option| option == "burn-store"))
    }

    fn record<M: ModuleSnapshot>(&self, module: &M) -> Result<Record, Error> {
        let mut record = Record::new()?;
        for tensor in module.collect(self.filter.clone(), Some(self.to_adapter.clone()), self.skip_enum_variants) {
            save::add(&mut record, tensor)?;
        }
        for (key, value) in &self.metadata {
            record.set_metadata(key, Some(value))?;
        }
        Ok(record)
    }
}

impl ModuleStore for RecordStore {
    type Error = Error;

    fn collect_from<M: ModuleSnapshot>(&mut self, module: &M) -> Result<(), Error> {
        self.tensors = None;
        if !self.overwrite && self.path.symlink_metadata().is_ok() {
            return Err(Error::Exists(self.path.clone()));
        }
        let record = self.record(module)?;
        let mut recorder = self.open(Precision::Keep)?;
        if self.asks_for_names_of_stores()? {
            recorder.set("burn-store", "yes")?;
        }
        self.report = recorder.save(&record, &self.path)?;
        Ok(())
    }

    fn apply_to<M: ModuleSnapshot>(&mut self, module: &mut M) -> Result<ApplyResult, Error> {
        let tensors: Vec<PackTensor> = self.cache()?.values().cloned().collect();
        let adapter = self.from_adapter.clone();
        let result = module.apply(tensors, self.filter.clone(), Some(adapter), self.skip_enum_variants);
        if self.validate && !result.errors.is_empty() {
            return Err(Error::Apply(result.errors));
        }
        if !self.allow_partial && !result.missing.is_empty() {
            return Err(Error::Missing(result.missing));
        }
        Ok(result)
    }

    fn get_tensor(&mut self, name: &str) -> Result<Option<&PackTensor>, Error> {
        Ok(self.cache()?.get(name))
    }

    fn get_all_tensors(&mut self) -> Result<&BTreeMap<String, PackTensor>, Error> {
        self.cache()
    }

    fn keys(&mut self) -> Result<Vec<String>, Error> {
        Ok(self.cache()?.keys().cloned().collect())
    }
}
