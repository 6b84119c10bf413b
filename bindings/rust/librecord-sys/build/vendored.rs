// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles librecord from the crate's copy (vendor/, made by the script `pack`) or from the tree that the crate lies in.
//! scripts/sources lists the files, flags and macros; vendor/sources is its output.
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Plugins by the feature that selects them; those of a format and a codec need both. The order is that of a search.
const PLUGINS: &[(&str, &[&str])] = &[
    ("mpk", &["MPK"]),
    ("mpk_gz", &["MPK", "GZ"]),
    ("bin", &["BIN"]),
    ("bin_gz", &["BIN", "GZ"]),
    ("json", &["JSON"]),
    ("json_gz", &["JSON", "GZ"]),
    ("safetensors", &["SAFETENSORS"]),
    ("gz", &["GZ"]),
    ("bpk", &[]),
    ("npz", &["NPZ"]),
    ("zst", &["ZSTD"]),
    ("pt", &["PYTORCH"]),
    ("gguf", &["GGUF"]),
    ("scheme_ggml", &["GGUF"]),
    ("scheme_fp4", &["SAFETENSORS"]),
    ("scheme_fp8", &["SAFETENSORS"]),
    ("scheme_known", &["SAFETENSORS"]),
];

fn feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

/// Where the sources are, the lines of scripts/sources, and where the files are that it generates.
struct Tree {
    root: PathBuf,
    lines: String,
    generated: PathBuf,
}

impl Tree {
    fn find(out: &Path) -> Self {
        let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
        let vendor = here.join("vendor");
        if vendor.join("sources").exists() {
            let lines = std::fs::read_to_string(vendor.join("sources")).expect("vendor/sources is text");
            return Self { generated: vendor.join("generated"), root: vendor, lines };
        }
        let root = here.join("../../..");
        let script = root.join("scripts/sources");
        let run = |arguments: &[&std::ffi::OsStr]| {
            let output = Command::new(&script).args(arguments).output();
            match output {
                Ok(output) if output.status.success() => String::from_utf8(output.stdout).expect("UTF-8"),
                Ok(output) => panic!("{}: {}", script.display(), String::from_utf8_lossy(&output.stderr)),
                Err(error) => panic!("no vendor/sources, and {}: {error}", script.display()),
            }
        };
        println!("cargo:rerun-if-changed={}", script.display());
        let generated = out.join("generated");
        run(&["--generate".as_ref(), generated.as_os_str()]);
        Self { lines: run(&[]), root, generated }
    }
}

#[derive(Default)]
struct Part {
    files: Vec<PathBuf>,
    flags: Vec<String>,
    defines: Vec<String>,
}

/// Whether lines of an option apply.
fn wanted(option: &str) -> bool {
    match option {
        "-" => true,
        "zstd" => feature("ZSTD"),
        "isal" => feature("ISAL"),
        "excess" => env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "s390x"),
        _ => false,
    }
}

/// The files, flags and macros of each part; "-" has those of all. The command is left out.
fn parts(tree: &Tree) -> BTreeMap<&str, Part> {
    let mut parts: BTreeMap<&str, Part> = BTreeMap::new();
    for line in tree.lines.lines() {
        let mut words = line.splitn(4, ' ');
        let (Some(kind), Some(name), Some(option), Some(value)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            panic!("sources: a line has less than four words: {line}")
        };
        if name == "record" || name == "static" || !wanted(option) {
            continue;
        }
        let part = parts.entry(name).or_default();
        match kind {
            "source" => part.files.push(tree.root.join(value)),
            "generated" => part.files.push(tree.generated.join(value)),
            "include" => part.flags.push(format!("-I{}", tree.root.join(value).display())),
            "flag" => part.flags.push(value.into()),
            "define" => part.defines.push(value.into()),
            "link" => println!("cargo:rustc-link-lib={value}"),
            "header" => println!("cargo:rerun-if-changed={}", tree.root.join(value).display()),
            "needs" => {}
            _ => panic!("sources: an unknown line: {line}"),
        }
    }
    parts
}

/// The table of plugins that the features select.
fn table(out: &Path) -> PathBuf {
    let mut text = String::from("#include \"librecord/static.h\"\n#define PLUGINS(P)");
    for (plugin, features) in PLUGINS {
        if features.iter().all(|name| feature(name)) {
            write!(text, " P({plugin})").expect("a string");
        }
    }
    text.push_str("\nREC_STATIC_PLUGINS(PLUGINS);\n");
    let file = out.join("plugins.c");
    std::fs::write(&file, text).expect("OUT_DIR is writable");
    file
}

fn add(build: &mut cc::Build, part: &Part) {
    for flag in &part.flags {
        build.flag(flag);
    }
    for define in &part.defines {
        let (name, value) = define.split_once('=').map_or((define.as_str(), None), |(name, value)| (name, Some(value)));
        build.define(name, value);
    }
}

/// inih: the crate's copy, or INIH_SOURCE, or the system's. Returns the directory with its source.
fn inih(tree: &Tree) -> Option<PathBuf> {
    if feature("SYSTEM_INIH") {
        #[cfg(feature = "system-inih")]
        pkg_config::Config::new().statik(true).probe("inih").expect("inih is installed, for the feature system-inih");
        return None;
    }
    let copy = tree.root.join("inih");
    let found = if copy.join("ini.c").exists() { Some(copy) } else { env::var_os("INIH_SOURCE").map(PathBuf::from) };
    let Some(found) = found.filter(|folder| folder.join("ini.c").exists()) else {
        panic!(
            "inih is missing: set INIH_SOURCE to a directory with ini.c and ini.h, or enable the feature system-inih."
        );
    };
    Some(found)
}

pub fn build() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let tree = Tree::find(&out);
    let parts = parts(&tree);
    let mut base = cc::Build::new();
    base.opt_level(2).debug(false).warnings(false);
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86") {
        base.flag("-msse2").flag("-mfpmath=sse");
    }
    add(&mut base, &parts["-"]);
    let inih = inih(&tree);
    // First: zstd-sys also has a header common/cpu.h.
    base.include(&tree.root);
    base.include(tree.root.join("msgpack")).include(tree.root.join("pcre2")).includes(&inih);
    for name in ["DEP_Z_INCLUDE", "DEP_ZSTD_INCLUDE"] {
        base.includes(env::var_os(name).as_ref().map(env::split_paths).into_iter().flatten());
    }
    #[cfg(feature = "isal")]
    base.includes(
        pkg_config::probe_library("libisal").expect("ISA-L is installed, for the feature isal").include_paths,
    );

    let mut archive = cc::Build::new();
    for (name, part) in &parts {
        if *name == "-" || part.files.is_empty() {
            continue;
        }
        let mut build = base.clone();
        add(&mut build, part);
        archive.objects(build.files(&part.files).compile_intermediates());
    }
    let mut rest = base.clone();
    rest.file(table(&out)).files(inih.map(|folder| folder.join("ini.c")));
    archive.objects(rest.compile_intermediates());
    archive.compile("record");
}
