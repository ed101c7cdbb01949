//! Providers of text messaging: the trait the sender speaks to, and Telnyx and Twilio (signature, webhooks, send API).
//! Error codes are data (`errors`).
//!
//! The only crate that speaks HTTP to a provider. Decides nothing about sending: it says what happened and how sure it is.

pub mod errors;
pub mod fees;
pub mod pace;
pub mod records;
pub mod telnyx;
pub mod twilio;

use std::{future::Future, pin::Pin};

use seven_domain::{AttemptId, CasinoId, PhoneE164};

pub use errors::{AlertLevel, ErrorClass, Verdict, verdict};
pub use records::Records;

/// One text for the provider. `attempt` goes into the request's own webhook address: the only way to recognise it again (D5).
#[derive(Debug, Clone)]
pub struct SendRequest {
    pub casino: CasinoId,
    pub attempt: AttemptId,
    pub from: PhoneE164,
    pub to: PhoneE164,
    pub text: String,
    pub messaging_profile_id: Option<String>,
}

/// The outcome of one request, and how certain it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The provider has it.
    Accepted { provider_message_id: String },
    /// The provider said no.
    Refused { http_status: u16, code: String, class: ErrorClass, detail: String },
    /// Nothing reached the provider (refused connection, DNS, TLS): safe to repeat.
    NotSent { detail: String },
    /// It may or may not have it (timeout, broken read, 5xx): never blindly repeated.
    Ambiguous { http_status: Option<u16>, detail: String },
}

pub type ProbeFuture<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = SendOutcome> + Send + 'a>>;

/// A provider of text messaging. Implementations make exactly one request per call and hide no retries.
pub trait Provider: Send + Sync {
    /// The word in rows and labels.
    fn name(&self) -> &'static str;
    fn send<'a>(&'a self, request: &'a SendRequest) -> SendFuture<'a>;
    /// Asks the provider, without sending anything, whether it takes requests of this account: key and funds. Says why not.
    fn probe(&self) -> ProbeFuture<'_>;
    /// False when the send API lies outside this machine.
    fn is_local(&self) -> bool;
}

/// The error's kind without its URL, which holds the attempt.
pub(crate) fn describe(error: &reqwest::Error) -> String {
    let kind = if error.is_connect() {
        "connection refused or not established"
    } else if error.is_timeout() {
        "no answer before the deadline"
    } else {
        "connection broken"
    };
    kind.to_owned()
}

/// The host is this machine.
pub(crate) fn is_local(url: &reqwest::Url) -> bool {
    match url.host_str() {
        Some(host) => {
            host == "localhost"
                || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
        None => false,
    }
}
