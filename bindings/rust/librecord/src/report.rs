// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::text;
use librecord_sys as sys;
use std::fmt;

/// The kind of a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// An element type or a required value that the file lacks was assumed.
    Assumed,
    /// A finite float became infinite at a smaller precision.
    Overflow,
    /// An integer was clamped (option `clamp`).
    Clamped,
    /// Something was left out or simplified.
    Dropped,
    /// A required field has no value.
    Missing,
    /// A value has no field.
    Unexpected,
    /// A tensor has a wrong rank or wrong dimensions.
    Shape,
    /// A value is of another kind than its field.
    Kind,
    /// Bytes after the record were ignored (option `trailing`).
    Trailing,
    /// The file has an unusual structure.
    Layout,
    /// A tensor's keys, shape and dtype (load argument `debug`).
    Key,
    /// How the adapter treated a module that no type or rule names.
    Adapted,
    /// A rule has no match, or probably a mistake.
    Rule,
    /// The output could not be read back although the option `check` is set.
    Check,
    /// A kind that this crate does not know.
    Other(i32),
}

impl NoteKind {
    fn from_raw(kind: i32) -> Self {
        match kind {
            sys::REC_NOTE_ASSUMED => Self::Assumed,
            sys::REC_NOTE_OVERFLOW => Self::Overflow,
            sys::REC_NOTE_CLAMPED => Self::Clamped,
            sys::REC_NOTE_DROPPED => Self::Dropped,
            sys::REC_NOTE_MISSING => Self::Missing,
            sys::REC_NOTE_UNEXPECTED => Self::Unexpected,
            sys::REC_NOTE_SHAPE => Self::Shape,
            sys::REC_NOTE_KIND => Self::Kind,
            sys::REC_NOTE_TRAILING => Self::Trailing,
            sys::REC_NOTE_LAYOUT => Self::Layout,
            sys::REC_NOTE_KEY => Self::Key,
            sys::REC_NOTE_ADAPTED => Self::Adapted,
            sys::REC_NOTE_RULE => Self::Rule,
            sys::REC_NOTE_CHECK => Self::Check,
            other => Self::Other(other),
        }
    }
}

/// A warning of an operation that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Its kind.
    pub kind: NoteKind,
    /// The number of values or elements, 1 for a single thing.
    pub count: u64,
    /// The path in the record, "" for the whole record.
    pub path: String,
    /// One sentence.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.text)
    }
}

/// The warnings of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    notes: Vec<Note>,
    count: u64,
}

impl Report {
    /// Takes the report of this thread's last operation.
    pub(crate) fn last() -> Self {
        // SAFETY: no preconditions; a note lives until the next operation.
        let count = unsafe { sys::rec_report_count() };
        let notes = (0..count).map_while(|index| unsafe { sys::rec_report_note(index).as_ref() }).map(|note| Note {
            kind: NoteKind::from_raw(note.kind),
            count: note.count,
            path: text::owned(note.path),
            text: text::owned(note.text),
        });
        Self { notes: notes.collect(), count }
    }

    pub(crate) fn append(&mut self, more: Self) {
        self.notes.extend(more.notes);
        self.count += more.count;
    }

    /// The notes; the library stores the first 1,000 of an operation.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
    /// The number of notes, including those that were not stored.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Whether there is no note.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
