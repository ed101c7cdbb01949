//! `seven webhook verify`: verifies the signature of a body on stdin; exit 0, or 1 with the reason.

use std::{io::Read, process::ExitCode};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use seven_domain::Clock;
use seven_providers::telnyx::signature::Verifier;

use super::context::{Context, Operate};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Webhook {
    /// Verify a Telnyx signature; the body comes on stdin, byte for byte.
    Verify(Verify),
}

#[derive(Debug, Args)]
pub struct Verify {
    /// The 32-byte public key in base64; may be given several times.
    #[arg(long, value_name = "B64", required = true)]
    public_key: Vec<String>,
    /// The telnyx-timestamp header.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    timestamp: String,
    /// The telnyx-signature-ed25519 header.
    #[arg(long, value_name = "B64", allow_hyphen_values = true)]
    signature: String,
    /// Time at which the signature is judged (Unix seconds). Without it: now.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    now: Option<i64>,
}

impl Operate for Webhook {
    async fn run(self, _: &Context) -> Result<ExitCode> {
        let Self::Verify(command) = self;
        verify(&command)
    }
}

fn verify(
    Verify {
        public_key,
        timestamp,
        signature,
        now,
    }: &Verify,
) -> Result<ExitCode> {
    let verifier = Verifier::new(public_key)?;
    let mut body = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut body)
        .context("reading the body from stdin")?;
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
