// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is spelled differently in one version of Burn and another. The features `since_N` say 0.N or later.
use crate::cases::Plain;
use burn::lr_scheduler::LrScheduler;
use burn::nn;
use burn::record::Record;

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

/// What a scheduler does, whether or not its trait is generic over the backend: it was up to 0.14.
pub trait Schedule {
    type State: Record<Plain>;
    /// Its record after so many steps.
    fn after(self, steps: usize) -> Self::State;
    /// The rates of the steps that follow a record.
    fn rates(self, record: Self::State, steps: usize) -> Vec<f64>;
}

#[cfg(not(feature = "since_15"))]
impl<S: LrScheduler<Plain>> Schedule for S {
    type State = S::Record;
    fn after(mut self, steps: usize) -> Self::State {
        (0..steps).for_each(|_| {
            self.step();
        });
        self.to_record()
    }
    fn rates(self, record: Self::State, steps: usize) -> Vec<f64> {
        let mut scheduler = self.load_record(record);
        (0..steps).map(|_| scheduler.step()).collect()
    }
}

#[cfg(feature = "since_15")]
impl<S: LrScheduler> Schedule for S {
    type State = S::Record<Plain>;
    fn after(mut self, steps: usize) -> Self::State {
        (0..steps).for_each(|_| {
            self.step();
        });
        self.to_record::<Plain>()
    }
    fn rates(self, record: Self::State, steps: usize) -> Vec<f64> {
        let mut scheduler = self.load_record::<Plain>(record);
        (0..steps).map(|_| scheduler.step()).collect()
    }
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
