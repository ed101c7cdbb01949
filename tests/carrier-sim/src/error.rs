//! Errors of the simulator itself. The errors that the simulator sends to callers are in
//! `telnyx_error` and `twilio_error`.

use std::{net::SocketAddr, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("listening on {listen}")]
    Bind {
        listen: SocketAddr,
        source: std::io::Error,
    },
    #[error("webhook_url {url:?} is not an http(s) URL")]
    WebhookUrl { url: String },
    #[error("building the HTTP client")]
    Client { source: reqwest::Error },
    #[error("opening the ledger file {path}", path = path.display())]
    LedgerFile {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{problem}")]
    Request { problem: String },
}

impl Error {
    pub(crate) fn request(problem: impl Into<String>) -> Self {
        Self::Request {
            problem: problem.into(),
        }
    }
}
