// SPDX-License-Identifier: MIT OR Apache-2.0
//! burn-record: files of every version and format as a store of Burn's modules.
use burn::module::Module;
use burn::tensor::{AllocationProperty, DType};
use burn_record::{Error, RecordStore};
use burn_store::{BurnpackStore, KeyRemapper, ModuleSnapshot, ModuleStore, PathFilter, SafetensorsStore};
use burn_tests::{compare, golden, golden_zoos, models, parameters, stranger, Parameter};
use librecord::Status;
use std::path::PathBuf;

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn loaded<M: Module>(module: M, store: &mut impl ModuleStore<Error = impl std::fmt::Debug>) -> M {
    let mut module = stranger(module);
    let result = module.load_from(store).unwrap();
    assert!(result.missing.is_empty() && result.unused.is_empty() && result.errors.is_empty(), "{result:?}");
    module
}

fn same(found: &[Parameter], expected: &[Parameter], ids: bool) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((&found.path, &found.data), (&expected.path, &expected.data));
        if ids && !found.path.contains("running_") {
            assert_eq!(found.id, expected.id, "{}", found.path);
        }
    }
}

#[test]
fn models_of_every_version_are_loaded_with_values_and_ids() {
    for file in golden("tiny") {
        compare(&loaded(models::tiny(), &mut RecordStore::from_file(&file)), &file);
    }
    for (file, zoo) in golden_zoos() {
        compare(&loaded(zoo, &mut RecordStore::from_file(&file)), &file);
    }
}

#[test]
fn what_is_saved_is_loaded_by_this_store_and_burns_own() {
    fn each<M: Module>(name: &str, module: impl Fn() -> M) {
        let original = stranger(module());
        let expected = parameters(&original);
        for end in ["mpk", "mpk.gz", "safetensors", "bpk"] {
            let file = scratch(&format!("{name}.{end}"));
            original.save_into(&mut RecordStore::from_file(&file).overwrite(true)).unwrap();
            let again = loaded(module(), &mut RecordStore::from_file(&file));
            same(&parameters(&again), &expected, end != "safetensors");
        }
        let again = loaded(module(), &mut BurnpackStore::from_file(scratch(&format!("{name}.bpk"))));
        same(&parameters(&again), &expected, true);
        let again = loaded(module(), &mut SafetensorsStore::from_file(scratch(&format!("{name}.safetensors"))));
        same(&parameters(&again), &expected, false);
    }
    each("tiny", models::tiny);
    each("zoo", models::zoo);
    each("mnist", models::mnist);
    each("words", models::words);
}

#[test]
fn aligned_tensors_of_a_mapped_file_are_shared() {
    let file = scratch("shared.bpk");
    models::mnist().save_into(&mut RecordStore::from_file(&file).overwrite(true)).unwrap();
    let mut store = RecordStore::from_file(&file);
    for (path, tensor) in store.get_all_tensors().unwrap() {
        let bytes = tensor.to_bytes().unwrap();
        assert!(matches!(bytes.property(), AllocationProperty::File), "{path} was copied");
        assert_eq!(bytes.len(), tensor.byte_len());
    }
    // a module outlives its store, and can be changed
    let module = loaded(models::mnist(), &mut store);
    drop(store);
    let expected = parameters(&loaded(models::mnist(), &mut BurnpackStore::from_file(&file)));
    same(&parameters(&module), &expected, true);
    assert_ne!(parameters(&stranger(module))[0].data, expected[0].data);
    same(&parameters(&loaded(models::mnist(), &mut RecordStore::from_file(&file))), &expected, true);
}

#[test]
fn a_filter_a_remapper_and_partial_files() {
    let file = &golden("tiny")[0];
    let filter = PathFilter::new().with_regex("weight$");
    let mut module = stranger(models::tiny());
    let before = parameters(&module);
    let result = module.load_from(&mut RecordStore::from_file(file).filter(filter)).unwrap();
    assert_eq!(result.applied, ["linear.weight"]);
    let after = parameters(&module);
    assert_ne!(after[0].data, before[0].data);
    assert_eq!(after[1].data, before[1].data);

    let rename = || KeyRemapper::new().add_pattern("^linear", "other").unwrap();
    let mut store = RecordStore::from_file(file).remap(rename());
    assert_eq!(store.keys().unwrap(), ["other.bias", "other.weight"]);
    assert!(store.get_tensor("other.weight").unwrap().is_some() && store.get_tensor("none").unwrap().is_none());
    assert!(
        matches!(stranger(models::tiny()).load_from(&mut store).unwrap_err(), Error::Missing(paths) if paths.len() == 2)
    );
    let mut store = RecordStore::from_file(file).remap(rename()).allow_partial(true);
    assert_eq!(stranger(models::tiny()).load_from(&mut store).unwrap().unused.len(), 2);
    // rules of librecord do the same
    let mut store = RecordStore::from_file(file).set("rename", "linear.(.*) => other.$1");
    assert_eq!(store.keys().unwrap(), ["other.bias", "other.weight"]);
}

#[test]
fn adapters_turn_layouts() {
    let file = scratch("turned.safetensors");
    let module = models::tiny();
    let adapter = burn_store::BurnToPyTorchAdapter;
    module.save_into(&mut RecordStore::from_file(&file).with_to_adapter(adapter).overwrite(true)).unwrap();
    let plain = RecordStore::from_file(&file).set("adapter", "none").get_all_tensors().unwrap().clone();
    assert_eq!(plain["linear.weight"].shape.to_vec(), [2, 3]);
    let store = RecordStore::from_file(&file).set("adapter", "none");
    let again = loaded(models::tiny(), &mut store.with_from_adapter(burn_store::PyTorchToBurnAdapter));
    same(&parameters(&again), &parameters(&module), false);
    // librecord's own adapter
    let again = loaded(models::tiny(), &mut RecordStore::from_file(&file).set("adapter", "pytorch"));
    same(&parameters(&again), &parameters(&module), false);
}

#[test]
fn half_precision_becomes_full_or_is_kept() {
    let file = burn_tests::golden_of_the_tree("0.18.0/tiny-half.mpk");
    let kind = |store: &mut RecordStore| store.get_tensor("linear.weight").unwrap().unwrap().dtype;
    assert_eq!(kind(&mut RecordStore::from_file(&file)), DType::F32);
    assert_eq!(kind(&mut RecordStore::from_file(&file).precision(librecord::Precision::Keep)), DType::F16);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let mut tiny = models::tiny();
    let error = tiny.load_from(&mut RecordStore::from_file("/none/x.mpk")).unwrap_err();
    assert!(matches!(&error, Error::Record(error) if error.status() == Status::NotFound), "{error}");
    let file = scratch("wide.mpk");
    let wide = burn::nn::LinearConfig::new(5, 2).init(&burn_tests::device());
    #[derive(Module, Debug)]
    struct Wide {
        linear: burn::nn::Linear,
    }
    Wide { linear: wide }.save_into(&mut RecordStore::from_file(&file).overwrite(true)).unwrap();
    let error = tiny.load_from(&mut RecordStore::from_file(&file)).unwrap_err();
    assert!(matches!(&error, Error::Apply(errors) if errors.len() == 1), "{error}");
    let error = tiny.save_into(&mut RecordStore::from_file(&file)).unwrap_err();
    assert!(matches!(&error, Error::Exists(_)), "{error}");
    let error = tiny.save_into(&mut RecordStore::from_file(scratch("x.none")).overwrite(true)).unwrap_err();
    assert!(matches!(&error, Error::Record(_)), "{error}");
}

#[test]
fn a_lying_file_is_an_error() {
    let mut packed = Vec::new();
    for name in ["liar.bpk", "liar.mpk", "liar.safetensors"] {
        let file = scratch(name);
        models::tiny().save_into(&mut RecordStore::from_file(&file).overwrite(true)).unwrap();
        packed.push((file.clone(), std::fs::read(&file).unwrap()));
    }
    for (file, good) in packed {
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= if place % 2 == 0 { 0xff } else { 0x01 };
            std::fs::write(&file, &bad).unwrap();
            let _ = models::tiny().load_from(&mut RecordStore::from_file(&file));
            std::fs::write(&file, &good[..place]).unwrap();
            let _ = models::tiny().load_from(&mut RecordStore::from_file(&file));
        }
    }
}

#[test]
fn quantised_tensors_are_burns() {
    let Some(shared) = std::env::var_os("LIBRECORD_SHARED").map(PathBuf::from) else { return };
    let folder = shared.join("data/golden/store/0.22.1/quant_q8");
    let Ok(entries) = folder.read_dir() else { return };
    for file in
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "bpk"))
    {
        let mut own = BurnpackStore::from_file(&file);
        let mut store = RecordStore::from_file(&file).precision(librecord::Precision::Keep);
        for (path, expected) in own.get_all_tensors().unwrap() {
            let found = store.get_tensor(path).unwrap().unwrap();
            assert_eq!((found.dtype, &found.shape), (expected.dtype, &expected.shape), "{path}");
            assert_eq!(found.to_bytes().unwrap()[..], expected.to_bytes().unwrap()[..], "{path}");
        }
    }
}
