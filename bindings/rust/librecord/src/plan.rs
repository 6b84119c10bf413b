// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::error::{check, owned, Error, Result};
use crate::{text, Context, Dtype, Record, Recorder, Report};
use librecord_sys as sys;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// What happens to each tensor between one or several sources and a destination, known before data are read.
///
/// Files of a plan must stay unchanged until it is carried out and the records loaded from it are dropped.
pub struct Plan {
    raw: NonNull<sys::rec_plan>,
    /// Keeps the progress closure.
    _context: Context,
    /// Records in memory that the plan, and records loaded from it, read.
    sources: Vec<Arc<Record>>,
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: owned; its sources are dropped after it.
        unsafe { sys::rec_plan_free(self.raw.as_ptr()) }
    }
}

/// What happens to a tensor or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// It is stored at the destination.
    Mapped,
    /// A rule drops it.
    Dropped,
    /// The destination does not use it.
    Unexpected,
    /// The destination requires it and no source has it.
    Missing,
    /// The base's value is used.
    Kept,
    /// No source has it: the type's default, or an assumed zero.
    Default,
    /// An action that this crate does not know.
    Other(i32),
}

impl Action {
    fn from_raw(action: i32) -> Self {
        match action {
            sys::REC_PLAN_MAPPED => Self::Mapped,
            sys::REC_PLAN_DROPPED => Self::Dropped,
            sys::REC_PLAN_UNEXPECTED => Self::Unexpected,
            sys::REC_PLAN_MISSING => Self::Missing,
            sys::REC_PLAN_KEPT => Self::Kept,
            sys::REC_PLAN_DEFAULT => Self::Default,
            other => Self::Other(other),
        }
    }
}

/// A tensor's element type and shape; `None` in a [`PlanLine`] for other values.
pub type Layout = (Dtype, Vec<u64>);

/// A line of a plan. Strings are "" if they do not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanLine {
    /// What happens.
    pub action: Action,
    /// The file, or the name of the source.
    pub source: String,
    /// All keys there that form it.
    pub inputs: Vec<String>,
    /// The path at the destination.
    pub to: String,
    /// "rope, transpose"; "" if the bytes are unchanged.
    pub operations: String,
    /// The reason: "Linear", "rules 2, 4".
    pub why: String,
    /// Element type and shape at the source.
    pub before: Option<Layout>,
    /// Element type and shape at the destination.
    pub after: Option<Layout>,
}

/// A problem or note of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The plan cannot be carried out.
    pub fatal: bool,
    /// The number of its kind, `REC_PROBLEM_…` of librecord.h.
    pub kind: i32,
    /// The key or path, "" for the whole.
    pub key: String,
    /// One sentence.
    pub text: String,
    /// What to do, or "".
    pub hint: String,
}

impl Plan {
    /// An empty plan for a recorder that will save: it leads to its type and kind of file.
    pub fn to(recorder: &Recorder) -> Result<Self> {
        Self::make(recorder.context(), recorder.raw())
    }

    /// An empty plan for [`load`](Self::load).
    pub fn new() -> Result<Self> {
        Self::make(&Context::shared()?, std::ptr::null())
    }

    fn make(context: &Context, to: *const sys::rec_recorder) -> Result<Self> {
        // SAFETY: context and recorder live; the plan keeps what it needs.
        let raw = owned(unsafe { sys::rec_plan_new(context.raw(), to) })?;
        Ok(Self { raw, _context: context.clone(), sources: Vec::new() })
    }

    /// Adds a source, which `from` reads with its current load arguments. Only headers are read.
    pub fn add(&mut self, from: &Recorder, path: impl AsRef<Path>) -> Result<()> {
        let path = text::c_path(path.as_ref())?;
        // SAFETY: plan and recorder live.
        check(unsafe { sys::rec_plan_add(self.raw.as_ptr(), from.raw(), path.as_ptr()) })
    }

    /// Adds a record in memory as a source, with the load arguments of `from`. `name` is its name in messages.
    pub fn add_record(&mut self, from: Option<&Recorder>, record: Arc<Record>, name: &str) -> Result<()> {
        let name = text::c_string(name)?;
        let from = from.map_or(std::ptr::null_mut(), Recorder::raw);
        // SAFETY: the plan keeps the record, and so do the records loaded from it.
        check(unsafe { sys::rec_plan_add_record(self.raw.as_ptr(), from, record.raw(), name.as_ptr()) })?;
        self.sources.push(record);
        Ok(())
    }

    /// Sets a record whose values are used where no source has one.
    pub fn set_base(&mut self, base: Arc<Record>) -> Result<()> {
        // SAFETY: as in add_record().
        check(unsafe { sys::rec_plan_set_base(self.raw.as_ptr(), base.raw()) })?;
        self.sources.push(base);
        Ok(())
    }

    /// The lines, in the destination's order; then what is dropped or unexpected, in the sources' order.
    pub fn lines(&mut self) -> Result<Vec<PlanLine>> {
        let raw = self.raw.as_ptr();
        // SAFETY: the plan is exclusively borrowed; lines live as long as it, and are copied.
        unsafe {
            check(sys::rec_plan_make(raw))?;
            (0..sys::rec_plan_count(raw)).map(|index| line(sys::rec_plan_get(raw, index))).collect()
        }
    }

    /// The problems and notes. They do not make [`lines`](Self::lines) fail; a fatal one makes [`load`](Self::load) fail.
    pub fn problems(&mut self) -> Result<Vec<Problem>> {
        let raw = self.raw.as_ptr();
        // SAFETY: as in lines().
        unsafe {
            check(sys::rec_plan_make(raw))?;
            let problem = |index| sys::rec_plan_problem_get(raw, index).as_ref().ok_or_else(Error::last);
            (0..sys::rec_plan_problem_count(raw))
                .map(|index| {
                    problem(index).map(|problem| Problem {
                        fatal: problem.fatal != 0,
                        kind: problem.kind,
                        key: text::owned(problem.key),
                        text: text::owned(problem.text),
                        hint: text::owned(problem.hint),
                    })
                })
                .collect()
        }
    }

    /// Carries the plan out: a record whose tensors are computed on access, one at a time.
    pub fn load(&mut self) -> Result<Record> {
        // SAFETY: the plan is exclusively borrowed; the record keeps the sources in memory.
        let record = Record::from_raw(unsafe { sys::rec_plan_load(self.raw.as_ptr()) })?;
        Ok(record.keep(self.sources.clone()))
    }

    /// Carries the plan out into a file.
    pub fn convert(&mut self, to: &Recorder, output: impl AsRef<Path>) -> Result<Report> {
        let output = text::c_path(output.as_ref())?;
        let null = std::ptr::null_mut();
        // SAFETY: plan and recorder live.
        check(unsafe { sys::rec_convert(null, std::ptr::null(), to.raw(), output.as_ptr(), self.raw.as_ptr()) })?;
        Ok(Report::last())
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").finish_non_exhaustive()
    }
}

/// # Safety
/// `raw` must be NULL or a line that lives.
unsafe fn line(raw: *const sys::rec_plan_line) -> Result<PlanLine> {
    // SAFETY: the arrays have the lengths beside them.
    unsafe {
        let raw = raw.as_ref().ok_or_else(Error::last)?;
        let layout = |dtype, rank: u32, shape| {
            (dtype != sys::REC_DTYPE_NONE).then(|| (Dtype(dtype), text::slice(shape, rank as usize).to_vec()))
        };
        Ok(PlanLine {
            action: Action::from_raw(raw.action),
            source: text::owned(raw.source),
            inputs: text::slice(raw.inputs, raw.input_count as usize).iter().map(|name| text::owned(*name)).collect(),
            to: text::owned(raw.to),
            operations: text::owned(raw.operations),
            why: text::owned(raw.why),
            before: layout(raw.dtype_before, raw.rank_before, raw.shape_before),
            after: layout(raw.dtype_after, raw.rank_after, raw.shape_after),
        })
    }
}
