//! Callbacks that run after a transaction is committed. They count what was written, so that a
//! rolled-back attempt is not counted.

use std::fmt;

/// Callbacks, in the order in which they were registered.
#[derive(Default)]
pub(crate) struct After(Vec<Box<dyn FnOnce() + Send>>);

impl After {
    pub(crate) fn push(&mut self, what: impl FnOnce() + Send + 'static) {
        self.0.push(Box::new(what));
    }

    pub(crate) fn run(self) {
        self.0.into_iter().for_each(|what| what());
    }
}

impl fmt::Debug for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("After").field(&self.0.len()).finish()
    }
}
