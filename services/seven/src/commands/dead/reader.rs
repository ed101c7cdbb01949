//! Arguments for the name of the person who views dead letters, and for revealing personal data.

use clap::Args;

use super::super::given;

/// The person who views dead letters.
#[derive(Debug, Args)]
pub(crate) struct Reader {
    /// Your name, for the audit log.
    #[arg(
        long,
        value_name = "NAME",
        env = "USER",
        hide_env_values = true,
        default_value = "operator"
    )]
    pub(crate) by: String,
}

/// Whether personal data is shown, and why.
#[derive(Debug, Args)]
pub(crate) struct Reveal {
    /// Show personal data and the words of texts; the audit log records it. Needs --reason.
    #[arg(long, requires = "why")]
    pub(crate) reveal: bool,
    /// The reason, for the audit log.
    #[arg(long = "reason", id = "why", value_name = "TEXT", requires = "reveal")]
    #[arg(value_parser = given::words)]
    pub(crate) reason: Option<String>,
}
