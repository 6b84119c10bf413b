// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rust's own `regex` crate on the cases of compare.py: lines of pattern, replacement and text in hexadecimal on the
//! standard input; for each a line `ok MATCHES RESULT` (in hexadecimal) or `no REASON`.
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

fn from_hex(text: &str) -> String {
    let bytes = (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal"))
        .collect();
    String::from_utf8(bytes).expect("UTF-8")
}

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut parts = line.split('\t').map(from_hex);
        let mut next = || parts.next().expect("three parts");
        let (pattern, replacement, text) = (next(), next(), next());
        match regex::Regex::new(&pattern) {
            Ok(regex) => {
                let result = regex.replace_all(&text, replacement.as_str());
                let mut hex = String::new();
                for byte in result.bytes() {
                    let _ = write!(hex, "{byte:02x}");
                }
                writeln!(out, "ok {} {hex}", regex.find_iter(&text).count())?;
            }
            Err(error) => {
                let words = error.to_string();
                let last = words.lines().last().unwrap_or("");
                writeln!(out, "no {last}")?;
            }
        }
    }
    out.flush()
}
