//! Providers of text messaging: the trait that the sender uses, and its implementations for Telnyx
//! and Twilio.
//!
//! Only this crate makes HTTP requests to a provider. It does not decide what is sent; it reports
//! each outcome and how certain the outcome is.

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

/// One text to send. The request to the provider contains a webhook address, and the address
/// contains the id of `attempt`. Only this id identifies the request later (D5).
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
    /// The provider accepted the text.
    Accepted { provider_message_id: String },
    /// The provider refused the text.
    Refused {
        http_status: u16,
        code: String,
        class: ErrorClass,
        detail: String,
    },
    /// Nothing reached the provider (refused connection, DNS, TLS), so the call is safe to repeat.
    NotSent { detail: String },
    /// The provider may or may not have the text (timeout, broken read, 5xx), so the call is never
    /// blindly repeated.
    Ambiguous {
        http_status: Option<u16>,
        detail: String,
    },
}

pub type ProbeFuture<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = SendOutcome> + Send + 'a>>;

/// A provider of text messaging. Implementations make exactly one request per call and hide no
/// retries.
pub trait Provider: Send + Sync {
    /// The provider's name in rows and labels.
    fn name(&self) -> &'static str;
    fn send<'a>(&'a self, request: &'a SendRequest) -> SendFuture<'a>;
    /// Checks, without sending a text, whether the provider accepts our key and the account has
    /// funds. The error states the problem.
    fn probe(&self) -> ProbeFuture<'_>;
    /// Returns true if the send API is on this machine, as with a simulator.
    fn is_local(&self) -> bool;
}

/// Returns the kind of the error without its URL, which contains the attempt's id.
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

/// Returns true if the URL's host is this machine.
pub(crate) fn is_local(url: &reqwest::Url) -> bool {
    match url.host_str() {
        Some(host) => {
            host == "localhost"
                || host
                    .trim_matches(['[', ']'])
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|ip| ip.is_loopback())
        }
        None => false,
    }
}
