// SPDX-License-Identifier: MIT OR Apache-2.0
//! The structs have the sizes and offsets that the C compiler gives them, and the declarations are the headers'.
//! These tests need the source tree of librecord; in the packed crate they pass without it.
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Expands to a list of (struct, size, [(member, offset)]).
macro_rules! structs {
    ($($name:ident { $($member:ident)* })*) => {
        type Layout = (&'static str, usize, Vec<(&'static str, usize)>);
        fn layouts() -> Vec<Layout> {
            use librecord_sys::*;
            vec![$((stringify!($name), size_of::<$name>(),
                vec![$((stringify!($member), std::mem::offset_of!($name, $member))),*])),*]
        }
    };
}
include!("structs.rs");

fn include_dir() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../include");
    folder.join("librecord.h").exists().then_some(folder)
}

fn c_program() -> String {
    let mut text =
        String::from("#include <librecord.h>\n#include <librecord/parallel.h>\n#include <stdio.h>\nint main(void){\n");
    for (name, _, members) in layouts() {
        writeln!(text, "printf(\"{name} %zu\\n\", sizeof({name}));").unwrap();
        for (member, _) in members {
            let member = member.trim_start_matches("r#");
            writeln!(text, "printf(\"{name}.{member} %zu\\n\", offsetof({name}, {member}));").unwrap();
        }
    }
    text + "return 0;}\n"
}

fn rust_lines() -> String {
    let mut text = String::new();
    for (name, size, members) in layouts() {
        writeln!(text, "{name} {size}").unwrap();
        for (member, offset) in members {
            writeln!(text, "{name}.{} {offset}", member.trim_start_matches("r#")).unwrap();
        }
    }
    text
}

#[test]
fn structs_have_the_layout_of_c() {
    let Some(include) = include_dir() else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&source, c_program()).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = compiler.split_whitespace();
    let done = Command::new(words.next().unwrap())
        .args(words)
        .arg("-I")
        .arg(include)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status();
    assert!(done.unwrap().success());
    let output = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), rust_lines());
}

#[test]
fn declarations_are_those_of_the_headers() {
    if include_dir().is_none() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("generate");
    let output = Command::new(script).arg("--check").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn crate_headers_and_library_have_one_version() {
    use librecord_sys::*;
    let declared = format!("{REC_VERSION_MAJOR}.{REC_VERSION_MINOR}.{REC_VERSION_PATCH}");
    assert_eq!(env!("CARGO_PKG_VERSION"), declared);
    let number = REC_VERSION_MAJOR * 10000 + REC_VERSION_MINOR * 100 + REC_VERSION_PATCH;
    assert_eq!(unsafe { rec_version() }, number);
}
