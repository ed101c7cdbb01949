//! `seven webhook verify`: the body on stdin, exit 0 or 1 with the reason.

use std::{io::Read, process::ExitCode};

use anyhow::{Context, Result};
use clap::Subcommand;
use seven_domain::Clock;
use seven_providers::telnyx::signature::Verifier;

use crate::out;

#[derive(Debug, Subcommand)]
pub enum Webhook {
    /// Verify a Telnyx signature over `{timestamp}|{body}`; the body comes on stdin, byte for byte.
    Verify {
        /// Base64 of the 32-byte public key; may be given several times.
        #[arg(long, value_name = "B64", required = true)]
        public_key: Vec<String>,
        /// The telnyx-timestamp header.
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        timestamp: String,
        /// The telnyx-signature-ed25519 header.
        #[arg(long, value_name = "B64", allow_hyphen_values = true)]
        signature: String,
        /// Judge at this time (Unix seconds) instead of now.
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        now: Option<i64>,
    },
}

pub fn run(Webhook::Verify { public_key, timestamp, signature, now }: &Webhook) -> Result<ExitCode> {
    let verifier = Verifier::new(public_key)?;
    let mut body = Vec::new();
    std::io::stdin().lock().read_to_end(&mut body).context("reading the body from stdin")?;
    let now = now.unwrap_or_else(|| Clock::default().now().timestamp());
    match verifier.verify(Some(timestamp), Some(signature), &body, now) {
        Ok(()) => {
            out!("valid");
            Ok(ExitCode::SUCCESS)
        }
        Err(refusal) => {
            out!("{refusal}");
            Ok(ExitCode::FAILURE)
        }
    }
}
