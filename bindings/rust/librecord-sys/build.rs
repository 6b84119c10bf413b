// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the C library: LIBRECORD_DIR is an installation prefix or a build directory, else pkg-config searches.
use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=LIBRECORD_DIR");
    // docs.rs has no librecord, and links nothing.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    match env::var_os("LIBRECORD_DIR") {
        Some(folder) => by_folder(Path::new(&folder)),
        None => by_pkg_config(),
    }
}

fn by_folder(folder: &Path) {
    let has_library =
        |place: &Path| ["so", "dylib", "a"].iter().any(|end| place.join(format!("librecord.{end}")).exists());
    let Some(place) = ["lib", "lib64", ".libs"].iter().map(|name| folder.join(name)).find(|place| has_library(place))
    else {
        panic!(
            "LIBRECORD_DIR={}: no librecord.so in its lib, lib64 or .libs. Name the prefix of an installation, or the \
                directory of a build.",
            folder.display()
        );
    };
    println!("cargo:rustc-link-search=native={}", place.display());
    println!("cargo:rustc-link-lib=record");
    println!("cargo:lib={}", place.display());
}

#[cfg(feature = "system")]
fn by_pkg_config() {
    let version = env!("CARGO_PKG_VERSION");
    if let Err(error) = pkg_config::Config::new().atleast_version(version).probe("librecord") {
        panic!("librecord {version} is not installed, or pkg-config does not find it. Install it, or set LIBRECORD_DIR to its \
                prefix.\n{error}");
    }
}
