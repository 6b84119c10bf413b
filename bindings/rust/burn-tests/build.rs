// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes the modules of tests/interop/store, which are those of the golden records, without their backend.
use std::path::Path;
use std::process::Command;

fn main() {
    let interop = Path::new(&std::env::var_os("INTEROP_DIR").unwrap_or("../../../tests/interop".into())).to_path_buf();
    let (script, source) = (interop.join("without-backend.sed"), interop.join("store/src/models.rs"));
    println!("cargo:rerun-if-changed={}", script.display());
    println!("cargo:rerun-if-changed={}", source.display());
    println!("cargo:rerun-if-env-changed=INTEROP_DIR");
    // A file that is included has no inner comments.
    let output =
        Command::new("sed").arg("-f").arg(&script).args(["-e", "/^\\/\\/!/d"]).arg(&source).output().expect("sed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let target = Path::new(&std::env::var_os("OUT_DIR").expect("OUT_DIR")).join("models.rs");
    std::fs::write(target, output.stdout).expect("models.rs is written");
}
