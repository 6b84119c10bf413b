// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the benches in Rust share: an operation's time, the CPU time of all threads, and the process's memory.
use std::ffi::{c_int, c_long};
use std::time::Instant;

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

/// Seconds of CPU of this process, all its threads. Linux's CLOCK_PROCESS_CPUTIME_ID is 2.
fn cpu() -> f64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    assert_eq!(unsafe { clock_gettime(2, &mut time) }, 0);
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

/// Seconds and seconds of CPU.
pub type Span = (f64, f64);

/// What the work took, and what it made, which is freed outside the time.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Span, T) {
    let before = cpu();
    let start = Instant::now();
    let made = work();
    let seconds = start.elapsed().as_secs_f64();
    ((seconds, cpu() - before), made)
}

/// A figure of /proc/self/status in MiB.
fn status_mib(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with(name)).expect("the figure");
    line.split_whitespace().nth(1).expect("a number").parse::<f64>().expect("a number") / 1024.0
}

/// The line that bench/run waits for.
pub fn answer((seconds, spent): Span) {
    use std::io::Write;
    println!("{seconds:.9} {spent:.9} {:.3} {:.3}", status_mib("VmHWM"), status_mib("RssAnon"));
    std::io::stdout().flush().expect("flushed");
}
