// SPDX-License-Identifier: MIT OR Apache-2.0
//! The safe interface on the golden files of every version, with errors, threads, closures and hostile files.
//! Needs the source tree; LIBRECORD_SHARED names more golden files, in its data/golden/records.
use librecord::{Context, Dtype, Kind, Options, Plan, Precision, Record, Recorder, Scalar, Status};
use std::io::{Error as IoError, Read, Write};
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data")
}

/// The golden folders of all versions of Burn that are there.
fn versions() -> Vec<PathBuf> {
    let shared = std::env::var_os("LIBRECORD_SHARED").map(PathBuf::from).unwrap_or(data().join("../../../shared"));
    let mut found: Vec<PathBuf> = [data().join("burn"), shared.join("data/golden/records")]
        .iter()
        .filter_map(|folder| folder.read_dir().ok())
        .flat_map(|entries| entries.map(|entry| entry.unwrap().path()))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    assert!(found.len() >= 3, "the golden files are missing: {found:?}");
    found
}

/// A golden file of a folder, in either of the two ways in which they are named.
fn golden(folder: &Path, case: &str, end: &str) -> Option<PathBuf> {
    [folder.join(format!("{case}-{end}")), folder.join(case).join(end.replace("full.mpk", "mpk-full.mpk"))]
        .into_iter()
        .find(|path| path.exists())
}

fn zoo() -> PathBuf {
    data().join("burn/0.18.0/zoo-full.mpk")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn built() -> Record {
    let mut record = Record::new().unwrap();
    record.set_f32("fc.weight", &[2, 3], &[0.5, 1.0, -2.0, 3.5, 4.0, -0.25]).unwrap();
    record.set_f32("fc.bias", &[3], &[1.0, 2.0, 3.0]).unwrap();
    record
}

#[test]
fn every_golden_model_has_its_tensors() {
    let mut seen = 0;
    for folder in versions() {
        let Some(file) = golden(&folder, "zoo", "full.mpk") else { continue };
        let record = Recorder::auto().unwrap().load(&file).unwrap();
        let tensors = record.tensors().unwrap();
        assert_eq!(tensors.len(), 43, "{}", file.display());
        for (path, tensor) in &tensors {
            assert_eq!(tensor.shape().iter().product::<u64>(), tensor.count());
            assert!(tensor.id().is_some() || !tensor.is_parameter(), "{path}");
            assert_eq!(format!("{tensor:?}"), format!("{:?}", record.tensor(path).unwrap()));
        }
        let weight = record.tensor("conv1.weight").unwrap();
        assert_eq!((weight.dtype(), weight.shape()), (Dtype::F32, &[3, 2, 3][..]));
        assert_eq!(weight.f32().unwrap().to_vec(), weight.to_vec::<f32>().unwrap());
        seen += 1;
    }
    assert!(seen >= 3);
}

#[test]
fn records_of_every_version_become_burnpacks_with_values_and_ids() {
    for folder in versions() {
        for case in ["tiny", "zoo", "adam"] {
            let Some(file) = golden(&folder, case, "full.mpk") else { continue };
            let pack = librecord::to_burnpack(&file, &Options::new()).unwrap();
            let (before, after) = (
                Recorder::auto().unwrap().load(&file).unwrap(),
                Recorder::auto().unwrap().load_bytes(pack.bytes).unwrap(),
            );
            assert_eq!(after.origin().recorder, "Burnpack");
            let count = |record: &Record| record.tensors().unwrap().len();
            assert_eq!(count(&before), count(&after), "{}", file.display());
            if case == "tiny" {
                for (path, tensor) in after.tensors().unwrap() {
                    assert_eq!(tensor.bytes().unwrap(), before.tensor(&path).unwrap().bytes().unwrap());
                    assert!(tensor.id().is_some());
                }
            }
        }
    }
}

#[test]
fn a_scheduler_needs_the_name_of_its_type() {
    let file = data().join("burn/0.18.0/noam-full.mpk");
    let error = librecord::to_burnpack(&file, &Options::new()).unwrap_err();
    assert_eq!(error.file(), file.to_str());
    assert!(error.to_string().starts_with(&format!("{}: ", file.display())), "{error}");
    assert_eq!(error.status(), Status::Type);
    let pack = librecord::to_burnpack(&file, &Options::new().type_name("NoamLrScheduler")).unwrap();
    assert!(!pack.bytes.is_empty());
}

#[test]
fn values_of_the_tree_are_read() {
    let record = Recorder::auto().unwrap().load(data().join("burn/0.18.0/plain-full.mpk")).unwrap();
    let root = record.value("").unwrap();
    assert_eq!(root.kind(), Kind::Map);
    assert_eq!(root.items().count() as u64, root.len());
    assert_eq!(root.key(1), Some(Scalar::String("count".into())));
    let scalar = |path| record.value(path).and_then(|value| value.scalar());
    assert_eq!(scalar("count"), Some(Scalar::Uint(123_456)));
    assert_eq!(scalar("long"), Some(Scalar::Int(i64::MIN)));
    assert_eq!(scalar("double"), Some(Scalar::Float(0.1)));
    assert_eq!(scalar("yes"), Some(Scalar::Bool(true)));
    assert_eq!(scalar("never"), Some(Scalar::Nil));
    assert_eq!(scalar("words.1"), Some(Scalar::String("key.with.dots".into())));
    assert!(matches!(scalar("name"), Some(Scalar::String(name)) if name.ends_with("nul\0end")));
    let grid = root.child("grid").unwrap();
    assert_eq!((grid.kind(), grid.numbers::<i64>().unwrap()), (Kind::Numbers, vec![2_147_483_647, -1, -2_147_483_648]));
    assert_eq!(grid.numbers::<i16>().unwrap_err().status(), Status::Range);
    assert_eq!(record.value("ints").unwrap().tensor().unwrap().dtype(), Dtype::I32);
    assert_eq!(record.tensor("void").unwrap().f32().unwrap(), []);
    assert!(root.child("no\0name").is_none() && record.value("nothing").is_none());
}

#[test]
fn errors_have_their_parts() {
    let recorder = Recorder::auto().unwrap();
    let error = recorder.load("/none/x.mpk").unwrap_err();
    assert_eq!((error.status(), error.errno(), error.file()), (Status::NotFound, Some(2), Some("/none/x.mpk")));

    let record = recorder.load(zoo()).unwrap();
    let error = record.tensor("conv1.weigth").unwrap_err();
    assert_eq!((error.status(), error.errno()), (Status::NotFound, None));
    assert!(error.to_string().contains("conv1.weight"), "{error}");

    let bytes = std::fs::read(zoo()).unwrap();
    let error = recorder.load_bytes(bytes[..bytes.len() / 2].to_vec()).unwrap_err();
    assert_eq!(error.status(), Status::Format);
    assert!(error.offset().is_some() && error.path().is_some(), "{error:?}");

    let error = Recorder::auto().unwrap().with("adapter", "nope").unwrap_err();
    assert_eq!(error.status(), Status::Argument);
    let error = Recorder::new("no\0name", Precision::Keep).unwrap_err();
    assert_eq!(error.status(), Status::Argument);
    let error = Recorder::new("NoSuchRecorder", Precision::Keep).unwrap_err();
    assert_eq!(error.status(), Status::NotFound);
    assert!(error.hint().is_some());
}

#[test]
fn a_lying_file_is_an_error() {
    let recorder = Recorder::auto().unwrap();
    let read_all = |bytes: Vec<u8>| {
        let Ok(record) = recorder.load_bytes(bytes) else { return };
        for (_, tensor) in record.tensors().unwrap_or_default() {
            let _ = (tensor.bytes().map(<[u8]>::len), tensor.to_vec::<f32>(), tensor.i64(), tensor.at_hand());
        }
        let _ = Recorder::new("Burnpack", Precision::Full).unwrap().save_bytes(&record);
    };
    for file in ["burn/0.18.0/tiny-full.mpk", "burn/0.21.0/tiny-full.mpk.gz", "burn/0.18.0/plain-full.json"] {
        let good = std::fs::read(data().join(file)).unwrap();
        for length in 0..good.len() {
            assert!(
                recorder.load_bytes(good[..length].to_vec()).is_err() || length + 8 >= good.len(),
                "{file} {length}"
            );
        }
        for place in 0..good.len() {
            for bits in [0x01, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[place] ^= bits;
                read_all(bad);
            }
        }
    }
}

#[test]
fn a_record_is_saved_to_files_memory_and_writers() {
    let (record, recorder) = (built(), Recorder::new("NamedMpk", Precision::Keep).unwrap());
    let file = scratch("built.mpk");
    recorder.save(&record, &file).unwrap();
    let (bytes, report) = recorder.save_bytes(&record).unwrap();
    assert!(report.is_empty(), "{report}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    let mut written = Vec::new();
    recorder.save_writer(&record, &mut written).unwrap();
    assert_eq!(written, bytes);
    let again = recorder.load_reader(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(again.tensor("fc.weight").unwrap().f32().unwrap(), [0.5, 1.0, -2.0, 3.5, 4.0, -0.25]);
    assert_eq!(again.tensor("fc.weight").unwrap().id(), record.tensor("fc.weight").unwrap().id());
    // formats that the library patches at the end
    for name in ["Burnpack", "Npz", "Safetensors"] {
        let recorder = Recorder::new(name, Precision::Keep).unwrap().with("as", "file").unwrap();
        let (bytes, _) = recorder.save_bytes(&record).unwrap();
        let mut written = Vec::new();
        recorder.save_writer(&record, &mut written).unwrap();
        for bytes in [bytes, written] {
            assert_eq!(recorder.load_bytes(bytes).unwrap().tensors().unwrap().len(), 2, "{name}");
        }
    }
}

#[test]
fn tensors_outlive_what_was_loaded_from() {
    let bytes = std::fs::read(zoo()).unwrap();
    let record = Recorder::auto().unwrap().load_bytes(bytes).unwrap();
    let copy = record.try_clone().unwrap();
    let sum: f32 = record.tensor("free").unwrap().f32().unwrap().iter().sum();
    drop(record);
    assert_eq!(copy.tensor("free").unwrap().f32().unwrap().iter().sum::<f32>(), sum);
}

#[test]
fn failing_readers_and_writers_are_errors() {
    struct Bad;
    impl Read for Bad {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(IoError::from_raw_os_error(5))
        }
    }
    impl Write for Bad {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(IoError::other("no"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let recorder = Recorder::new("NamedMpk", Precision::Keep).unwrap();
    let error = recorder.load_reader(Bad).unwrap_err();
    assert_eq!((error.status(), error.errno()), (Status::Io, Some(5)));
    assert_eq!(recorder.save_writer(&built(), &mut Bad).unwrap_err().status(), Status::Io);
}

#[test]
fn produced_tensors_are_asked_for_when_they_are_saved() {
    let asked = Arc::new(AtomicU64::new(0));
    let count = asked.clone();
    let mut record = Record::new().unwrap();
    let fill = move |offset: u64, target: &mut [u8]| {
        count.fetch_add(target.len() as u64, Ordering::Relaxed);
        (0..).zip(target).for_each(|(index, byte)| *byte = (offset + index) as u8);
        Ok(())
    };
    record.set_tensor_with("w", Dtype::U8, &[16, 16], Some(""), fill).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let (bytes, _) = Recorder::new("NamedMpk", Precision::Keep).unwrap().save_bytes(&record).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 256);
    let again = Recorder::auto().unwrap().load_bytes(bytes).unwrap();
    assert_eq!(again.tensor("w").unwrap().to_vec::<u8>().unwrap(), (0..=255).collect::<Vec<u8>>());

    let refuse = |_: u64, _: &mut [u8]| Err(IoError::from_raw_os_error(5));
    record.set_tensor_with("v", Dtype::U8, &[4], None, refuse).unwrap();
    let error = Recorder::new("NamedMpk", Precision::Keep).unwrap().save_bytes(&record).unwrap_err();
    assert_eq!(error.status(), Status::Io);
    assert!(record.set_tensor_with("a\0b", Dtype::U8, &[4], None, refuse).is_err());
    assert!(record.set_tensor_with("a", Dtype::U8, &[u64::MAX, 2], None, refuse).is_err());
    assert!(record.set_tensor("a", Dtype::F32, &[2], &[0; 7], None).is_err());
    assert!(record.set_f32("a", &[2], &[0.0; 3]).is_err());
}

#[test]
fn progress_is_reported_and_cancels() {
    let calls = Arc::new(AtomicU64::new(0));
    let count = calls.clone();
    let context = Context::builder()
        .progress(move |progress| {
            assert!(progress.total.is_none_or(|total| progress.done <= total));
            count.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        })
        .build()
        .unwrap();
    Recorder::new_in(&context, "Auto", Precision::Keep).unwrap().load(zoo()).unwrap();
    assert!(calls.load(Ordering::Relaxed) > 0);

    let context = Context::builder().progress(|_| ControlFlow::Break(())).build().unwrap();
    let error = Recorder::new_in(&context, "Auto", Precision::Keep).unwrap().load(zoo()).unwrap_err();
    assert_eq!(error.status(), Status::Cancelled);
    let error = librecord::to_burnpack(zoo(), &Options::new().context(&context)).unwrap_err();
    assert_eq!(error.status(), Status::Cancelled);
}

#[test]
fn a_panic_of_a_closure_continues_in_the_caller() {
    let context = Context::builder().progress(|_| panic!("from the closure")).build().unwrap();
    let recorder = Recorder::new_in(&context, "Auto", Precision::Keep).unwrap();
    let caught = std::panic::catch_unwind(AssertUnwindSafe(|| recorder.load(zoo()).map(drop))).unwrap_err();
    assert_eq!(caught.downcast_ref::<&str>(), Some(&"from the closure"));
    // and is over after it
    assert_eq!(Recorder::auto().unwrap().load(zoo()).unwrap().tensors().unwrap().len(), 43);
}

#[test]
fn threads_read_one_record() {
    fn shared<T: Send + Sync>() {}
    shared::<Record>();
    shared::<Recorder>();
    shared::<librecord::Tensor>();
    shared::<Context>();
    shared::<librecord::Error>();
    let record = Recorder::new("Auto", Precision::Double).unwrap().load(zoo()).unwrap();
    let sum = |record: &Record| -> f64 {
        let floats = |tensor: &librecord::Tensor| tensor.f64().map(|data| data.iter().sum::<f64>()).unwrap_or(0.0);
        record.tensors().unwrap().iter().map(|(_, tensor)| floats(tensor)).sum()
    };
    let sums: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| sum(&record))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(sums.iter().all(|other| *other == sums[0]) && sums[0] != 0.0);
}

#[test]
fn a_record_is_edited() {
    let mut record = built();
    record.set("steps", 7u64).unwrap();
    record.set("name", "net").unwrap();
    record.set("gone", true).unwrap();
    record.remove("gone").unwrap();
    record.set_id("fc.bias", None).unwrap();
    record.set_metadata("author", Some("me")).unwrap();
    assert_eq!(record.metadata("author").as_deref(), Some("me"));
    assert_eq!(record.all_metadata().unwrap(), [("author".to_string(), "me".to_string())]);
    assert_eq!(record.value("steps").unwrap().scalar(), Some(Scalar::Uint(7)));
    assert!(record.value("gone").is_none());
    assert_eq!(record.tensor("fc.bias").unwrap().id(), None);
    let mut other = Record::new().unwrap();
    other.set_value("copy", record.value("fc").unwrap()).unwrap();
    drop(record);
    assert_eq!(other.tensor("copy.bias").unwrap().f32().unwrap(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_plan_says_what_happens_and_is_carried_out() {
    let source = Arc::new(built());
    let mut rename = Recorder::auto().unwrap().with("rename", "fc.(.*) => layer.$1").unwrap();
    rename.set("drop", ".*bias").unwrap();
    let mut plan = Plan::new().unwrap();
    plan.add_record(Some(&rename), source, "built").unwrap();
    let lines = plan.lines().unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!((lines[0].action, lines[0].to.as_str()), (librecord::Action::Mapped, "layer.weight"));
    assert_eq!(lines[1].action, librecord::Action::Dropped);
    assert!(plan.problems().unwrap().iter().all(|problem| !problem.fatal));
    let record = plan.load().unwrap();
    drop(plan);
    assert_eq!(record.tensor("layer.weight").unwrap().f32().unwrap()[3], 3.5);
}

#[test]
fn types_in_use_are_not_extended() {
    let mut types = librecord::Types::new().unwrap();
    types.add_rust("struct Tiny<B> { linear: Linear<B> }", "tiny.rs").unwrap();
    let error = types.add_rust("struct {", "bad.rs").unwrap_err();
    assert_eq!((error.status(), error.line()), (Status::Format, Some(1)));
    let mut recorder = Recorder::auto().unwrap();
    recorder.set_type(&types, "Tiny").unwrap();
    assert_eq!(types.add_rust("struct B;", "b.rs").unwrap_err().status(), Status::Argument);
    recorder.load(data().join("burn/0.18.0/tiny-full.mpk")).unwrap();
}

#[test]
fn a_context_recognises_files() {
    assert_eq!(Context::shared().unwrap().recognise(zoo()).unwrap(), "NamedMpk");
    assert!(Context::shared().unwrap().options_for("x.safetensors").unwrap().contains(&"burn-store".to_string()));
    assert_eq!(Context::shared().unwrap().options_for("x.none").unwrap_err().status(), Status::Argument);
    let context = Context::builder().threads(1000).build();
    assert_eq!(context.unwrap_err().status(), Status::Argument);
}
