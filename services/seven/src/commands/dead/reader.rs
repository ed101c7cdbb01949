//! Arguments for the name of the person who views dead letters, and for revealing personal data.

use clap::Args;

use super::super::given;

/// The person who views dead letters, for the audit log.
#[derive(Debug, Args)]
pub(crate) struct Reader {
    /// Your name, for the record.
    #[arg(long, env = "USER", hide_env_values = true, default_value = "operator")]
    pub(crate) by: String,
}

/// Whether personal data is shown, and why.
#[derive(Debug, Args)]
pub(crate) struct Reveal {
    /// Show payloads unmasked, personal data included.
    #[arg(long, requires = "why")]
    pub(crate) reveal: bool,
    /// Why; kept in the audit log.
    #[arg(long = "reason", id = "why", value_name = "TEXT", requires = "reveal", value_parser = given::words)]
    pub(crate) reason: Option<String>,
}
