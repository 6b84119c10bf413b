// SPDX-License-Identifier: MIT OR Apache-2.0
//! Burn's recorders by name.
use burn::record::{
    BinBytesRecorder, BinFileRecorder, BinGzFileRecorder, DoublePrecisionSettings, FileRecorder, FullPrecisionSettings,
    HalfPrecisionSettings, JsonGzFileRecorder, NamedMpkBytesRecorder, NamedMpkFileRecorder, NamedMpkGzFileRecorder,
    PrecisionSettings, PrettyJsonFileRecorder, Record, Recorder, RecorderError,
};
use burn::tensor::backend::Backend;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq)]
pub enum Format {
    Mpk,
    MpkGz,
    Bin,
    BinGz,
    Json,
    JsonGz,
    /// BinBytes, which is in memory: its bytes are put into a file.
    Bytes,
}

impl Format {
    pub const ALL: [Format; 7] =
        [Format::Mpk, Format::MpkGz, Format::Bin, Format::BinGz, Format::Json, Format::JsonGz, Format::Bytes];

    /// A recorder's name is its extension without dots.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.extension().replace('.', "") == name)
    }

    /// By the extension of a file's name.
    pub fn of(file: &Path) -> Option<Format> {
        let name = file.file_name()?.to_str()?;
        Format::parse(&name.split_once('.')?.1.replace('.', ""))
    }

    pub fn extension(self) -> &'static str {
        match self {
            Format::Mpk => "mpk",
            Format::MpkGz => "mpk.gz",
            Format::Bin => "bin",
            Format::BinGz => "bin.gz",
            Format::Json => "json",
            Format::JsonGz => "json.gz",
            Format::Bytes => "bytes",
        }
    }
}

#[derive(Clone, Copy)]
pub enum Precision {
    Full,
    Double,
    Half,
}

impl Precision {
    pub const ALL: [Precision; 3] = [Precision::Full, Precision::Double, Precision::Half];

    pub fn name(self) -> &'static str {
        match self {
            Precision::Full => "full",
            Precision::Double => "double",
            Precision::Half => "half",
        }
    }

    pub fn parse(name: &str) -> Option<Precision> {
        Precision::ALL.into_iter().find(|precision| precision.name() == name)
    }
}

/// Burn sets the extension itself and takes what follows the last dot for the old one, so it gets the name without.
fn stem(file: &Path, format: Format) -> PathBuf {
    let name = file.to_str().expect("a file name in UTF-8");
    let stem = name.strip_suffix(format.extension()).and_then(|name| name.strip_suffix('.'));
    PathBuf::from(stem.unwrap_or_else(|| panic!("{name} does not end in .{}", format.extension())))
}

fn put<B: Backend, F: FileRecorder<B>, R: Record<B>>(item: R, stem: PathBuf) -> Result<(), RecorderError> {
    F::default().record(item, stem)
}

fn get<B: Backend, F: FileRecorder<B>, R: Record<B>>(stem: PathBuf) -> Result<R, RecorderError> {
    F::default().load(stem, &B::Device::default())
}

fn save_at<B: Backend, P: PrecisionSettings, R: Record<B>>(
    format: Format,
    item: R,
    file: &Path,
) -> Result<(), RecorderError> {
    let stem = stem(file, format);
    match format {
        Format::Mpk => put::<B, NamedMpkFileRecorder<P>, R>(item, stem),
        Format::MpkGz => put::<B, NamedMpkGzFileRecorder<P>, R>(item, stem),
        Format::Bin => put::<B, BinFileRecorder<P>, R>(item, stem),
        Format::BinGz => put::<B, BinGzFileRecorder<P>, R>(item, stem),
        Format::Json => put::<B, PrettyJsonFileRecorder<P>, R>(item, stem),
        Format::JsonGz => put::<B, JsonGzFileRecorder<P>, R>(item, stem),
        Format::Bytes => {
            let bytes = Recorder::<B>::record(&BinBytesRecorder::<P>::default(), item, ())?;
            std::fs::write(file, bytes).map_err(|error| RecorderError::Unknown(error.to_string()))
        }
    }
}

fn load_at<B: Backend, P: PrecisionSettings, R: Record<B>>(format: Format, file: &Path) -> Result<R, RecorderError> {
    let stem = stem(file, format);
    match format {
        Format::Mpk => get::<B, NamedMpkFileRecorder<P>, R>(stem),
        Format::MpkGz => get::<B, NamedMpkGzFileRecorder<P>, R>(stem),
        Format::Bin => get::<B, BinFileRecorder<P>, R>(stem),
        Format::BinGz => get::<B, BinGzFileRecorder<P>, R>(stem),
        Format::Json => get::<B, PrettyJsonFileRecorder<P>, R>(stem),
        Format::JsonGz => get::<B, JsonGzFileRecorder<P>, R>(stem),
        Format::Bytes => load_bytes_at::<B, P, R>(format, file),
    }
}

fn load_bytes_at<B: Backend, P: PrecisionSettings, R: Record<B>>(
    format: Format,
    file: &Path,
) -> Result<R, RecorderError> {
    let bytes = std::fs::read(file).map_err(|error| RecorderError::Unknown(error.to_string()))?;
    let device = B::Device::default();
    match format {
        Format::Mpk => NamedMpkBytesRecorder::<P>::default().load(bytes, &device),
        Format::Bin | Format::Bytes => Recorder::<B>::load(&BinBytesRecorder::<P>::default(), bytes, &device),
        _ => Err(RecorderError::Unknown("Burn has in-memory recorders for mpk and bin alone".into())),
    }
}

pub fn save<B: Backend, R: Record<B>>(
    format: Format,
    precision: Precision,
    item: R,
    file: &Path,
) -> Result<(), RecorderError> {
    match precision {
        Precision::Full => save_at::<B, FullPrecisionSettings, R>(format, item, file),
        Precision::Double => save_at::<B, DoublePrecisionSettings, R>(format, item, file),
        Precision::Half => save_at::<B, HalfPrecisionSettings, R>(format, item, file),
    }
}

pub fn load<B: Backend, R: Record<B>>(
    format: Format,
    precision: Precision,
    memory: bool,
    file: &Path,
) -> Result<R, RecorderError> {
    match (precision, memory) {
        (Precision::Full, false) => load_at::<B, FullPrecisionSettings, R>(format, file),
        (Precision::Double, false) => load_at::<B, DoublePrecisionSettings, R>(format, file),
        (Precision::Half, false) => load_at::<B, HalfPrecisionSettings, R>(format, file),
        (Precision::Full, true) => load_bytes_at::<B, FullPrecisionSettings, R>(format, file),
        (Precision::Double, true) => load_bytes_at::<B, DoublePrecisionSettings, R>(format, file),
        (Precision::Half, true) => load_bytes_at::<B, HalfPrecisionSettings, R>(format, file),
    }
}
