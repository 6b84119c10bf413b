// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics of closures that C calls. They stop at the border: the closure fails instead, which ends the operation, and the
//! panic continues in the caller of the operation.
use std::any::Any;
use std::cell::RefCell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

thread_local! {
    static CAUGHT: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

/// Calls `act`; a panic is stored for this thread, and `failed` returned.
pub(crate) fn stop<T>(failed: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|payload| {
        CAUGHT.with_borrow_mut(|caught| *caught = Some(payload));
        failed
    })
}

/// Continues the panic that was stored for this thread.
pub(crate) fn resume() {
    if let Some(payload) = CAUGHT.with_borrow_mut(Option::take) {
        resume_unwind(payload);
    }
}
