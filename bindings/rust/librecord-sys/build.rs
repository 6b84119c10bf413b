// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the C library (feature `system`) or builds it (feature `vendored`).

use std::env;

#[cfg(all(feature = "vendored", not(feature = "system")))]
#[path = "build/vendored.rs"]
mod vendored;

fn main() {
    for name in ["LIBRECORD_DIR", "INIH_SOURCE", "DOCS_RS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    // A build of the documentation alone links nothing.
    if env::var_os("DOCS_RS").is_none() {
        library();
    }
}

#[cfg(all(feature = "vendored", not(feature = "system")))]
fn library() {
    vendored::build();
}

#[cfg(not(any(feature = "vendored", feature = "system")))]
fn library() {
    panic!("Enable the feature `vendored`, which builds librecord, or `system`, which links an installed one.");
}

#[cfg(feature = "system")]
fn library() {
    match env::var_os("LIBRECORD_DIR") {
        Some(folder) => by_folder(std::path::Path::new(&folder)),
        None => by_pkg_config(),
    }
}

#[cfg(feature = "system")]
fn by_folder(folder: &std::path::Path) {
    let has_library = |place: &std::path::PathBuf| {
        ["so", "dylib", "a"].iter().any(|end| place.join(format!("librecord.{end}")).exists())
    };
    let Some(place) = ["lib", "lib64", ".libs"].iter().map(|name| folder.join(name)).find(has_library) else {
        panic!(
            "LIBRECORD_DIR={}: no librecord.so in its lib, lib64 or .libs. Name the prefix of an installation, or the \
             directory of a build.",
            folder.display()
        );
    };
    println!("cargo:rustc-link-search=native={}", place.display());
    println!("cargo:rustc-link-lib=record");
}

#[cfg(feature = "system")]
fn by_pkg_config() {
    let version = env!("CARGO_PKG_VERSION");
    if let Err(error) = pkg_config::Config::new().atleast_version(version).probe("librecord") {
        panic!(
            "librecord {version} is not installed, or pkg-config does not find it. Install it, or set LIBRECORD_DIR to \
             its prefix.\n{error}"
        );
    }
}
