//! Errors in settings.

use std::{fmt, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading settings")]
    Read(#[from] Box<figment::Error>),
    #[error(
        "settings file {0} does not exist; copy shared/settings/settings.default.toml or set SEVEN_CONFIG"
    )]
    NoFile(PathBuf),
    #[error(
        "no fleet runs here; ./scripts/dev starts one, --config FILE or SEVEN_CONFIG names another's settings"
    )]
    NoFleet,
    #[error("reading the secrets in {folder} (SEVEN_SECRETS)")]
    Secrets {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{0}")]
    Faults(Faults),
}

/// A setting whose value no worker can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub key: &'static str,
    pub problem: String,
    pub expected: &'static str,
}

/// All faults of one set of settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

// === impl Faults ===

impl Faults {
    /// Records a fault unless `good` is true.
    pub(crate) fn need(
        &mut self,
        good: bool,
        key: &'static str,
        problem: impl Into<String>,
        expected: &'static str,
    ) {
        if !good {
            self.0.push(Fault {
                key,
                problem: problem.into(),
                expected,
            });
        }
    }

    /// Returns `Ok` if no fault was recorded.
    ///
    /// # Errors
    /// Returns the faults if there are any.
    pub(crate) fn none(self) -> Result<(), Error> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Error::Faults(self))
        }
    }
}

impl fmt::Display for Faults {
    /// Writes one line for each fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (
            n,
            Fault {
                key,
                problem,
                expected,
            },
        ) in self.0.iter().enumerate()
        {
            let end = if n == 0 { "" } else { "\n" };
            write!(f, "{end}setting {key}: {problem}; expected {expected}")?;
        }
        Ok(())
    }
}
