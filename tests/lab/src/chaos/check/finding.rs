//! The result of checking one promise.

/// The finding for one promise: one line of the report.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) promise: &'static str,
    /// How many items were examined, and what kind of items they are.
    pub(crate) examined: usize,
    pub(crate) what: &'static str,
    pub(crate) violations: Vec<String>,
}

impl Finding {
    pub(crate) fn new(promise: &'static str, what: &'static str) -> Self {
        Self { promise, examined: 0, what, violations: Vec::new() }
    }

    pub(crate) fn look(&mut self, violation: Option<String>) {
        self.examined += 1;
        self.violations.extend(violation);
    }
}
