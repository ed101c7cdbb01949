//! Errors of the weights' file and of computations. No error contains a text.

use std::{io, path::PathBuf};

use tokio::task::JoinError;

/// The reason why the weights cannot be used. It occurs only at start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "opening the weights {}; ./scripts/weights fetches them and prints the folder to set as \
         knowledge.folder",
        file.display()
    )]
    Open {
        file: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("reading the weights {}", file.display())]
    Read {
        file: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{} has the SHA-256 {got}, this build needs {wanted}; ./scripts/weights fetches the right \
         file and prints the folder to set as knowledge.folder",
        file.display()
    )]
    Other {
        file: PathBuf,
        got: String,
        wanted: &'static str,
    },
    #[error("the weights {} have an unknown form", file.display())]
    Form {
        file: PathBuf,
        #[source]
        source: seven_encoder::Error,
    },
}

/// The reason why a text got no vector although the deadline had not passed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error("computing a vector")]
    Computation(#[source] seven_encoder::Error),
    #[error("the computation was stopped")]
    Stopped(#[source] JoinError),
}
