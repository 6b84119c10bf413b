// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of every version of Burn become modules of this one, with their values and their ids.
use burn::module::Module;
use burn::store::ModuleRecord;
use burn_tests::{burnpack, compare, golden, golden_zoos, models, parameters, stranger};
use librecord::Options;

fn load<M: Module>(module: M, file: &std::path::Path) -> M {
    let record = ModuleRecord::from_bytes(burnpack(file, &Options::new())).expect("Burn reads the Burnpack");
    stranger(module).try_load_record(record).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn tiny_of_every_version() {
    for file in golden("tiny") {
        compare(&load(models::tiny(), &file), &file);
    }
}

#[test]
fn zoo_of_every_version() {
    for (file, zoo) in golden_zoos() {
        compare(&load(zoo, &file), &file);
    }
}

#[test]
fn half_precision_becomes_full() {
    let file = burn_tests::golden_of_the_tree("0.18.0/zoo-half.mpk");
    let module = load(models::zoo(), &file);
    for parameter in parameters(&module) {
        assert_ne!(parameter.data.dtype(), burn::tensor::DType::F16, "{}", parameter.path);
    }
}

#[test]
fn the_wrong_module_is_an_error_of_burn() {
    let bytes = burnpack(&golden("tiny")[0], &Options::new());
    let record = ModuleRecord::from_bytes(bytes).unwrap();
    assert!(models::mnist().try_load_record(record).is_err());
}

/// The README of a crate shows its example, without licence and comment.
#[test]
fn readmes_show_their_examples() {
    let folder = burn_tests::tree().join("bindings/rust");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let readmes = read("librecord/README.md") + &read("burn-record/README.md");
    for example in
        ["burn-tests/examples/resume.rs", "librecord/examples/to_burnpack.rs", "burn-tests/examples/store.rs"]
    {
        let text = read(example);
        assert!(text.lines().count() <= 30, "{example} has more than 30 lines");
        let shown: String = text.lines().skip(2).map(|line| format!("{line}\n")).collect();
        assert!(readmes.contains(&format!("\n{shown}```\n")), "the README does not show {example}");
    }
}
