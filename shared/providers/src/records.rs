//! A provider's own records of our texts, for reconciliation (D5): lists without texts, one message
//! with its text, and the numbers that opted out there.

use std::{future::Future, pin::Pin};

use chrono::{DateTime, Utc};
use seven_domain::{AttemptId, PhoneE164};

/// Which way a text went, seen from us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Inbound,
    Outbound,
}

/// A span of one number's records. Times are the provider's.
#[derive(Debug, Clone)]
pub struct Span {
    pub direction: Direction,
    /// The casino's number.
    pub number: PhoneE164,
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
}

/// One line of the provider's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub message_id: String,
    /// The guest's number.
    pub guest: String,
    pub at: DateTime<Utc>,
    /// The provider's word: received, sent, delivered ...
    pub status: String,
}

/// One message as the provider has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub message_id: String,
    pub from: String,
    pub to: String,
    pub text: Option<String>,
    pub media_count: usize,
    pub autoresponse: Option<String>,
    /// Inbound: when the guest's text came. Outbound: when the status was reached.
    pub at: DateTime<Utc>,
    pub status: String,
    pub error_code: Option<String>,
    /// From the webhook address that our own request named.
    pub attempt: Option<AttemptId>,
}

/// A number that the provider blocks for one of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptOut {
    pub guest: String,
    pub at: DateTime<Utc>,
}

/// A page of a list; pages count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub last: bool,
}

/// The provider could not be asked, or its answer could not be read. Holds no phone and no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reading the provider's records: {problem}")]
pub struct Unread {
    pub problem: String,
    /// Asking again later may help.
    pub transient: bool,
}

pub type RecordsFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Unread>> + Send + 'a>>;

/// A provider whose records can be read. One request per call, no hidden retries; who calls keeps to the pace.
pub trait Records: Send + Sync {
    /// The word in rows and labels.
    fn name(&self) -> &'static str;
    /// Oldest first.
    fn texts<'a>(&'a self, span: &'a Span, page: usize) -> RecordsFuture<'a, Page<Record>>;
    /// None when the provider has no such message (any more).
    fn message<'a>(&'a self, message_id: &'a str) -> RecordsFuture<'a, Option<Message>>;
    fn opt_outs<'a>(
        &'a self,
        number: &'a PhoneE164,
        since: DateTime<Utc>,
        page: usize,
    ) -> RecordsFuture<'a, Page<OptOut>>;
}
