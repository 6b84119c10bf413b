// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is spelled differently in one version of Burn and another. The features `since_N` say 0.N or later.
use burn::lr_scheduler::LrScheduler;
use burn::nn;

/// BatchNorm said its rank up to 0.18.
#[cfg(not(feature = "since_19"))]
pub type BatchNorm2d<B> = nn::BatchNorm<B, 2>;
#[cfg(feature = "since_19")]
pub type BatchNorm2d<B> = nn::BatchNorm<B>;

/// An array of modules had to be Copy before 0.15; a tuple has the same bytes in every format.
#[cfg(not(feature = "since_15"))]
pub type Couple<T> = (T, T);
#[cfg(not(feature = "since_15"))]
pub fn couple<T>(first: T, second: T) -> Couple<T> {
    (first, second)
}
#[cfg(feature = "since_15")]
pub type Couple<T> = [T; 2];
#[cfg(feature = "since_15")]
pub fn couple<T>(first: T, second: T) -> Couple<T> {
    [first, second]
}

/// Schedulers were generic over the backend up to 0.14. A scheduler after `steps` steps, as its record.
#[cfg(not(feature = "since_15"))]
pub fn scheduler_record<S: LrScheduler<crate::cases::Plain>>(mut scheduler: S, steps: usize) -> S::Record {
    (0..steps).for_each(|_| {
        scheduler.step();
    });
    scheduler.to_record()
}
#[cfg(feature = "since_15")]
pub fn scheduler_record<S: LrScheduler>(mut scheduler: S, steps: usize) -> S::Record<crate::cases::Plain> {
    (0..steps).for_each(|_| {
        scheduler.step();
    });
    scheduler.to_record()
}

/// A scheduler's `init` can fail since 0.16.
#[cfg(not(feature = "since_16"))]
#[macro_export]
macro_rules! initialised {
    ($scheduler:expr) => {
        $scheduler
    };
}
#[cfg(feature = "since_16")]
#[macro_export]
macro_rules! initialised {
    ($scheduler:expr) => {
        $scheduler.expect("a valid scheduler")
    };
}
