// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of every version of Burn become modules of this one, with their values and their ids.
use burn::module::Module;
use burn::store::ModuleRecord;
use burn_tests::{burnpack, golden, id_number, models, parameters, stranger};
use librecord::{Options, Recorder};

fn load<M: Module>(module: M, file: &std::path::Path) -> M {
    let record = ModuleRecord::from_bytes(burnpack(file, &Options::new())).expect("Burn reads the Burnpack");
    stranger(module).try_load_record(record).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Every parameter has the bytes and the id of the file. Burn draws the ids of running statistics at each load.
fn compare<M: Module>(module: &M, file: &std::path::Path) {
    let record = Recorder::auto().unwrap().load(file).unwrap();
    let found = parameters(module);
    assert_eq!(found.len(), record.tensors().unwrap().len(), "{}", file.display());
    for parameter in found {
        let path = parameter.path.replace("r#", "");
        let tensor = record.tensor(&path).unwrap();
        let shape: Vec<u64> = parameter.data.shape().iter().map(|size| *size as u64).collect();
        assert_eq!(shape, tensor.shape(), "{}: {path}", file.display());
        assert_eq!(parameter.data.as_bytes(), tensor.bytes().unwrap(), "{}: {path}", file.display());
        if !path.contains("running_") {
            assert_eq!(parameter.id, id_number(tensor.id().unwrap()), "{}: {path}", file.display());
        }
    }
}

#[test]
fn tiny_of_every_version() {
    for file in golden("tiny") {
        compare(&load(models::tiny(), &file), &file);
    }
}

#[test]
fn zoo_of_every_version() {
    for file in golden("zoo") {
        let ids = Recorder::auto().unwrap().load(&file).unwrap().tensor("ids").unwrap().shape().to_vec();
        let zoo = if ids == [3, 2] { models::zoo() } else { models::zoo_wide() };
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
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let readme = read("librecord/README.md");
    for example in ["burn-tests/examples/resume.rs", "librecord/examples/to_burnpack.rs"] {
        let text = read(example);
        assert!(text.lines().count() <= 30, "{example} has more than 30 lines");
        let shown: String = text.lines().skip(2).map(|line| format!("{line}\n")).collect();
        assert!(readme.contains(&format!("\n{shown}```\n")), "the README does not show {example}");
    }
}
