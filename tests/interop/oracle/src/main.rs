// SPDX-License-Identifier: MIT OR Apache-2.0
//! The real Burn, as a command: it writes records for librecord to read, and reads what librecord wrote.
//!
//!     oracle write DIR [CASE…]                                 DIR/CASE-PRECISION.EXTENSION, all of them
//!     oracle read CASE RECORDER PRECISION FILE OUT             loads a file as CASE, writes it by OUT's extension
//!     oracle readbytes CASE RECORDER PRECISION FILE OUT        the same with the in-memory recorders (mpk, bin)
//!     oracle rates CASE RECORDER PRECISION FILE                loads a scheduler's, prints the rates of its next steps
//!     oracle cases                                             the names of the cases of this version
//!
//! RECORDER: mpk mpkgz bin bingz json jsongz bytes. PRECISION: full double half.
//! OUT is written at double precision, so nothing that was loaded is lost in it.
//! Exit status: 0, 2 for wrong arguments, 3 where Burn refuses the file (its words on stderr).
mod cases;
mod formats;
mod layers;
mod since;

use formats::{Format, Precision};
use std::path::{Path, PathBuf};
use std::process::exit;

/// What is to be done with each case that is offered.
pub enum Task {
    Write { folder: PathBuf, only: Vec<String> },
    Read {
        case: String,
        format: Format,
        precision: Precision,
        memory: bool,
        file: PathBuf,
        out: PathBuf,
        into: Format,
    },
    Rates { case: String, format: Format, precision: Precision, file: PathBuf },
    List,
}

fn usage() -> ! {
    eprintln!(
        "usage: oracle write DIR [CASE…]\n       oracle read|readbytes CASE RECORDER PRECISION FILE OUT\n       \
         oracle rates CASE RECORDER PRECISION FILE\n       oracle cases"
    );
    exit(2)
}

fn parse(args: &[String]) -> Option<Task> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    Some(match words[..] {
        ["write", folder, ..] => {
            Task::Write { folder: PathBuf::from(folder), only: args[2..].to_vec() }
        }
        [how @ ("read" | "readbytes"), case, format, precision, file, out] => Task::Read {
            case: case.to_string(),
            format: Format::parse(format)?,
            precision: Precision::parse(precision)?,
            memory: how == "readbytes",
            file: PathBuf::from(file),
            into: Format::of(Path::new(out))?,
            out: PathBuf::from(out),
        },
        ["rates", case, format, precision, file] => Task::Rates {
            case: case.to_string(),
            format: Format::parse(format)?,
            precision: Precision::parse(precision)?,
            file: PathBuf::from(file),
        },
        ["cases"] => Task::List,
        _ => return None,
    })
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let task = parse(&args).unwrap_or_else(|| usage());
    let mut offers = cases::Offers { task: &task, known: vec![] };
    cases::all(&mut offers);
    let known = offers.known;
    let wanted: &[String] = match &task {
        Task::Write { only, .. } => only,
        Task::Read { case, .. } | Task::Rates { case, .. } => std::slice::from_ref(case),
        Task::List => {
            known.iter().for_each(|name| println!("{name}"));
            &[]
        }
    };
    if let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        eprintln!("oracle: no case `{name}` in this version; there are: {}", known.join(" "));
        exit(2)
    }
}
