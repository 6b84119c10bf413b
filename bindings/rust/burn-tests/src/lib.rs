// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tests against real Burn share: golden files, the modules of those, and their parameters.
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Bool, Bytes, Device, Int, Tensor, TensorData};
use std::path::{Path, PathBuf};

#[allow(dead_code)]
pub mod models {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

pub fn device() -> Device {
    Device::default()
}

/// The source of librecord.
pub fn tree() -> PathBuf {
    std::env::var_os("LIBRECORD_TREE").map_or(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.."), PathBuf::from)
}

/// A file of tests/data/burn.
pub fn golden_of_the_tree(name: &str) -> PathBuf {
    tree().join("tests/data/burn").join(name)
}

/// What Burn of that version made: a model, its Adam, and both after the next step.
pub fn trained(version: &str, name: &str) -> PathBuf {
    tree().join("bindings/rust/burn-tests/data").join(version).join(format!("{name}-full.mpk"))
}

/// The golden records of a case at full precision, of each version that is there, in the tree or in LIBRECORD_SHARED.
pub fn golden(case: &str) -> Vec<PathBuf> {
    let shared = std::env::var_os("LIBRECORD_SHARED").map_or(tree().join("../shared"), PathBuf::from);
    let mut found: Vec<PathBuf> = [tree().join("tests/data/burn"), shared.join("data/golden/records")]
        .iter()
        .filter_map(|folder| folder.read_dir().ok())
        .flat_map(|entries| entries.map(|entry| entry.unwrap().path()))
        .flat_map(|folder| [folder.join(format!("{case}-full.mpk")), folder.join(case).join("mpk-full.mpk")])
        .filter(|file| file.exists())
        .collect();
    found.sort();
    assert!(found.len() >= 3, "the golden files of {case} are missing: {found:?}");
    found
}

/// A Burnpack of librecord as Burn's bytes.
pub fn burnpack(file: impl AsRef<Path>, options: &librecord::Options) -> Bytes {
    let pack = librecord::to_burnpack(file.as_ref(), options).unwrap_or_else(|error| panic!("{error}"));
    Bytes::from_bytes_vec(pack.bytes)
}

/// A parameter of a module: its path, id and data.
pub struct Parameter {
    pub path: String,
    pub id: u64,
    pub data: TensorData,
}

#[derive(Default)]
struct Collector {
    path: Vec<String>,
    found: Vec<Parameter>,
}

impl Collector {
    fn add(&mut self, id: ParamId, data: TensorData) {
        self.found.push(Parameter { path: self.path.join("."), id: id.val(), data });
    }
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, _kind: &str) {
        self.path.push(name.to_string());
    }
    fn exit_module(&mut self, _name: &str, _kind: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.add(param.id, param.transform_for_save().val().to_data());
    }
    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        self.add(param.id, param.transform_for_save().val().to_data());
    }
    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.add(param.id, param.transform_for_save().val().to_data());
    }
}

pub fn parameters<M: Module>(module: &M) -> Vec<Parameter> {
    let mut collector = Collector::default();
    module.visit(&mut collector);
    collector.found
}

/// Every parameter has the bytes and the id of the file. Burn draws the ids of running statistics at each load.
pub fn compare<M: Module>(module: &M, file: &std::path::Path) {
    let record = librecord::Recorder::auto().unwrap().load(file).unwrap();
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

/// The golden records of the zoo, each with the module that it belongs to: integers have one of two shapes.
pub fn golden_zoos() -> Vec<(PathBuf, models::Zoo)> {
    let module = |file: &Path| {
        let record = librecord::Recorder::auto().unwrap().load(file).unwrap();
        let upright = record.tensor("ids").unwrap().shape() == [3, 2];
        if upright {
            models::zoo()
        } else {
            models::zoo_wide()
        }
    };
    golden("zoo").into_iter().map(|file| (file.clone(), module(&file))).collect()
}

/// Other ids and other values than any file has: a parameter that is not loaded is seen.
struct Strangers(u64);

impl Strangers {
    fn id(&mut self) -> ParamId {
        self.0 += 1;
        ParamId::from(9_000_000_000_000_000_000 + self.0)
    }
}

impl ModuleMapper for Strangers {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (_, tensor, mapper) = param.consume();
        Param::from_mapped_value(self.id(), tensor.ones_like() * 77.0, mapper)
    }
    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        let (_, tensor, mapper) = param.consume();
        Param::from_mapped_value(self.id(), tensor.ones_like() * 77, mapper)
    }
    fn map_bool<const D: usize>(&mut self, param: Param<Tensor<D, Bool>>) -> Param<Tensor<D, Bool>> {
        let (_, tensor, mapper) = param.consume();
        Param::from_mapped_value(self.id(), tensor, mapper)
    }
}

pub fn stranger<M: Module>(module: M) -> M {
    module.map(&mut Strangers(0))
}

/// A parameter id of a file as the number that Burn 0.21 and later have: the first half of a UUID (up to 0.13), 10
/// characters of base32 (0.14: the number in big-endian order) or 13.
pub fn id_number(text: &str) -> u64 {
    if text.len() > 13 {
        let digits: String = text.chars().filter(|c| *c != '-').take(16).collect();
        return u64::from_str_radix(&digits, 16).expect("a UUID").swap_bytes();
    }
    let bits = text.bytes().fold(0u128, |bits, c| {
        let digit = b"0123456789abcdefghijklmnopqrstuv".iter().position(|known| *known == c).expect("base32");
        bits << 5 | digit as u128
    });
    let unused = text.len() * 5 % 8;
    let bytes = text.len() * 5 / 8;
    let number = (bits >> unused) as u64;
    // `bytes` bytes in the order of the text, of a little-endian number
    number.swap_bytes() >> (64 - 8 * bytes)
}
