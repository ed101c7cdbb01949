//! A provider's own records of our texts, for reconciliation (D5). They are lists of messages
//! without the words, single messages with the words, and the numbers that opted out.

use std::{future::Future, pin::Pin};

use chrono::{DateTime, Utc};
use seven_domain::{AttemptId, PhoneE164};

/// The direction of a text, as we see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Inbound,
    Outbound,
}

/// A query for the records of one number and direction, from `from` (included) to `until`
/// (excluded) by the provider's clock.
#[derive(Debug, Clone)]
pub struct Span {
    pub direction: Direction,
    /// The casino's number.
    pub number: PhoneE164,
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
}

/// One record in the provider's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub message_id: String,
    /// The guest's number.
    pub guest: String,
    pub at: DateTime<Utc>,
    /// The provider's own status, such as received, sent or delivered.
    pub status: String,
}

/// One message as the provider stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub message_id: String,
    pub from: String,
    pub to: String,
    pub text: Option<String>,
    pub media_count: usize,
    pub autoresponse: Option<String>,
    /// For an inbound message, the time of arrival; for an outbound one, the time at which it
    /// reached `status`.
    pub at: DateTime<Utc>,
    pub status: String,
    pub error_code: Option<String>,
    /// The attempt's id from the webhook address in our request; `None` if the address has no id.
    pub attempt: Option<AttemptId>,
}

/// A guest's number that the provider blocks for one of our numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptOut {
    pub guest: String,
    pub at: DateTime<Utc>,
}

/// A page of a list; pages are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub last: bool,
}

/// The provider did not answer, or its answer could not be read. Contains no phone number and no
/// text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reading the provider's records: {problem}")]
pub struct Unread {
    pub problem: String,
    /// True if a later retry may help.
    pub transient: bool,
}

pub type RecordsFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Unread>> + Send + 'a>>;

/// A provider whose records can be read. Each call makes one request without hidden retries; the
/// caller limits the rate.
pub trait Records: Send + Sync {
    /// The provider's name in rows and labels.
    fn name(&self) -> &'static str;
    /// Returns the texts of the period, oldest first.
    fn texts<'a>(&'a self, span: &'a Span, page: usize) -> RecordsFuture<'a, Page<Record>>;
    /// Returns one message; `None` if the provider does not have it, or no longer has it.
    fn message<'a>(&'a self, message_id: &'a str) -> RecordsFuture<'a, Option<Message>>;
    fn opt_outs<'a>(
        &'a self,
        number: &'a PhoneE164,
        since: DateTime<Utc>,
        page: usize,
    ) -> RecordsFuture<'a, Page<OptOut>>;
}
