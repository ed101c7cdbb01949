//! Work to do once a transaction is committed: it counts what was written, so that an attempt that
//! is rolled back is not counted.

use std::fmt;

/// In the order in which they were asked for.
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
