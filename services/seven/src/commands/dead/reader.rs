//! Arguments for the person who looks at dead letters, and for whether personal data is shown.

use clap::Args;

use super::super::given;

/// The person who looks, for the record.
#[derive(Debug, Args)]
pub(crate) struct Reader {
    /// Your name, for the record.
    #[arg(long, env = "USER", hide_env_values = true, default_value = "operator")]
    pub(crate) by: String,
}

/// Whether personal data is shown.
#[derive(Debug, Args)]
pub(crate) struct Reveal {
    /// Show payloads as they came, personal data included.
    #[arg(long, requires = "why")]
    pub(crate) reveal: bool,
    /// Why; kept in the audit log.
    #[arg(long = "reason", id = "why", value_name = "TEXT", requires = "reveal", value_parser = given::words)]
    pub(crate) reason: Option<String>,
}
