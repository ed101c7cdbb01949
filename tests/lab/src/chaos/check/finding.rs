//! The result of one check.

/// The result of checking one promise; it becomes one line of the report.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) promise: &'static str,
    /// Number of examined items, and the kind of these items.
    pub(crate) examined: usize,
    pub(crate) what: &'static str,
    pub(crate) violations: Vec<String>,
}

impl Finding {
    pub(crate) fn new(promise: &'static str, what: &'static str) -> Self {
        Self {
            promise,
            examined: 0,
            what,
            violations: Vec::new(),
        }
    }

    pub(crate) fn look(&mut self, violation: Option<String>) {
        self.examined += 1;
        self.violations.extend(violation);
    }
}
