//! Providers of text messaging: the trait the sender speaks to, and Telnyx (signature, webhooks, send API).
//!
//! The only crate that speaks HTTP to a provider. Decides nothing about sending: it says what happened and how sure it is.

pub mod telnyx;

use std::{future::Future, pin::Pin};

use seven_domain::{AttemptId, CasinoId, PhoneE164};

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

/// What a failed code asks for (spec 05, section 1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Slow down and try again within the call.
    Throttled,
    /// May pass later: re-delivered after 5, 25, 125 s.
    Transient,
    /// Never again for this text.
    Permanent,
    /// The provider holds an opt-out: never again for this guest until they opt in.
    OptedOut,
    /// Keys, funds, profile: nothing will pass until somebody acts.
    Configuration,
}

/// What happened to one request, and how sure that is.
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

pub type SendFuture<'a> = Pin<Box<dyn Future<Output = SendOutcome> + Send + 'a>>;

/// A provider of text messaging. Implementations make exactly one request per call and hide no retries.
pub trait Provider: Send + Sync {
    /// The word in rows and labels.
    fn name(&self) -> &'static str;
    fn send<'a>(&'a self, request: &'a SendRequest) -> SendFuture<'a>;
    /// False when the send API lies outside this machine.
    fn is_local(&self) -> bool;
}
