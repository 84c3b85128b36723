//! Processes that fork. A child continues where its parent was: with the parent's memory, with only one thread, and with its own report of
//! what it launches itself.
//!
//! A GPU is opened by the first call, so a child that forks before it opens the GPU itself. A child that forks after it has lost the GPU,
//! as with CUDA itself: every call fails, and a sentence says why.

use std::{
    cell::RefCell,
    sync::{
        MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use runtime::error::CudaError;

use crate::state::{STATE, State, eprintln_all};

thread_local! {
    /// The lock, while this thread forks. No other thread may hold it at that moment, because it would stay locked in the child.
    static HELD: RefCell<Option<MutexGuard<'static, State>>> = const { RefCell::new(None) };
}

/// What the library knows about forks of the process.
#[derive(Debug, Default)]
pub(crate) struct Descent {
    /// Whether `fork` made this process.
    pub(crate) is_child: bool,
    /// Whether the thread that watches the time is missing, because it exists only in the parent.
    is_unwatched: bool,
    /// Whether the GPU belongs to the parent.
    pub(crate) has_lost_gpu: bool,
}

/// Registers handlers for forks.
pub(crate) fn watch() {
    // SAFETY: the functions live as long as the process.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

extern "C" fn before() {
    if let Some(state) = STATE.get() {
        HELD.set(Some(state.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

extern "C" fn in_parent() {
    drop(HELD.take());
}

extern "C" fn in_child() {
    crate::exit::is_new_process();
    if let Some(mut state) = HELD.take() {
        let state = &mut *state;
        state.descent = Descent {
            is_child: true,
            is_unwatched: true,
            has_lost_gpu: state.options.on_gpu && state.is_open,
        };
        state.device.set_jobs(1);
        // Earlier launches are in the parent's report.
        state.story.outcome = Default::default();
        state.story.library_calls.clear();
    }
}

impl State {
    /// Before a call: redoes in a child what `fork` did not copy. The error is the result of all calls in such a child.
    pub(crate) fn check_descent(&mut self) -> Result<(), CudaError> {
        static IS_SAID: AtomicBool = AtomicBool::new(false);
        if self.descent.has_lost_gpu {
            if !IS_SAID.swap(true, Ordering::Relaxed) {
                eprintln_all(
                    "dslc: this process was forked after the first CUDA call of its parent, and a GPU does not work in such a child: fork before, or start a program (exec)\n",
                );
            }
            return Err(CudaError::InitializationError);
        }
        if std::mem::take(&mut self.descent.is_unwatched)
            && let Some(time) = self.options.timeout
        {
            crate::exit::end_after(time, self.options.stop.clone());
        }
        Ok(())
    }
}
