// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers each line `open FILE` with "seconds cpu peak anonymous": the safetensors crate maps the file, reads its header
//! and looks at each tensor once. bench/run is its only user.
mod clock;

use clock::{answer, timed};
use std::io::BufRead;

fn open(path: &str) -> usize {
    let file = std::fs::File::open(path).expect(path);
    let map = unsafe { memmap2::Mmap::map(&file) }.expect(path);
    let tensors = safetensors::SafeTensors::deserialize(&map).expect(path);
    tensors.iter().map(|(name, view)| name.len() + view.shape().len() + view.data().len()).sum()
}

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["open", path] => {
                let (span, seen) = timed(|| open(path));
                assert!(seen > 0);
                answer(span);
            }
            _ => panic!("no operation {line}"),
        }
    }
}
