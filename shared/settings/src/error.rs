//! Errors in settings.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading settings")]
    Read(#[from] Box<figment::Error>),
    #[error("settings file {0} does not exist; copy shared/settings/settings.default.toml or set SEVEN_CONFIG")]
    NoFile(PathBuf),
    #[error("no fleet runs here; ./scripts/dev starts one, --config FILE or SEVEN_CONFIG names another's settings")]
    NoFleet,
    #[error("reading the secrets in {folder} (SEVEN_SECRETS)")]
    Secrets {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("setting {key}: {problem}; expected {expected}")]
    Bad { key: &'static str, problem: String, expected: &'static str },
}
