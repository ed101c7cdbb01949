//! Reading a stream outside the worker loop. The scheduler files dead letters and erases messages
//! of deleted guests in this way. Operators' commands show dead letters that are not filed yet.

use std::time::Duration;

use async_nats::jetstream::{
    self,
    consumer::{DeliverPolicy, PullConsumer},
    stream::DirectGetErrorKind,
};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::TryStreamExt;

use crate::{
    Bus, Error,
    client::{KEY_HEADER, TRACE_HEADER},
};

/// A message taken from a stream; it is redelivered unless [`Taken::done`] is called.
#[derive(Debug)]
pub struct Taken(pub(crate) jetstream::Message);

/// Reads a stream once, in order, without affecting its durable consumers.
#[derive(Debug)]
pub struct Reader(PullConsumer);

impl Bus {
    /// Creates a reader of the messages whose subject matches `subject`, from the stream's
    /// beginning.
    pub async fn read(&self, stream: &str, subject: &str) -> Result<Reader, Error> {
        self.read_after(stream, subject, 0).await
    }

    /// Creates a reader of the messages whose subject matches `subject`, starting after `sequence`.
    pub async fn read_after(
        &self,
        stream: &str,
        subject: &str,
        sequence: u64,
    ) -> Result<Reader, Error> {
        let config = jetstream::consumer::pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: sequence + 1,
            },
            filter_subject: subject.to_owned(),
            ack_policy: jetstream::consumer::AckPolicy::None,
            inactive_threshold: Duration::from_secs(60),
            memory_storage: true,
            ..Default::default()
        };
        let consumer = self.stream(stream).await?.create_consumer(config).await;
        consumer
            .map(Reader)
            .map_err(|e| Error::setup(format!("reading {stream}"))(e.into()))
    }

    /// Finds the first message of `subject` after `sequence` and returns when it was stored; `None`
    /// if there is no such message.
    pub async fn first_after(
        &self,
        stream: &str,
        subject: &str,
        sequence: u64,
    ) -> Result<Option<DateTime<Utc>>, Error> {
        match self
            .stream(stream)
            .await?
            .direct_get_next_for_subject(subject, Some(sequence + 1))
            .await
        {
            Ok(message) => Ok(Some(message.time.to_utc())),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::setup(format!(
                "first message of {stream} after {sequence}"
            ))(error.into())),
        }
    }

    /// Returns the message with this sequence in `stream` as its subject, key, payload and trace;
    /// `None` if it is not there.
    pub async fn stored(
        &self,
        stream: &str,
        sequence: u64,
    ) -> Result<Option<(String, String, Bytes, String)>, Error> {
        let message = match self.stream(stream).await?.direct_get(sequence).await {
            Ok(message) => message,
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Error::setup(format!("message {sequence} of {stream}"))(
                    error.into(),
                ));
            }
        };
        let header = |name: &str| {
            message
                .headers
                .get(name)
                .map(|v| v.as_str().to_owned())
                .unwrap_or_default()
        };
        let (key, trace) = (header(KEY_HEADER), header(TRACE_HEADER));
        Ok(Some((
            message.subject.to_string(),
            key,
            message.payload,
            trace,
        )))
    }

    /// Returns up to `most` waiting messages of a durable consumer, without waiting for more.
    pub async fn take(
        &self,
        stream: &str,
        consumer: &str,
        most: usize,
    ) -> Result<Vec<Taken>, Error> {
        let setup = |e: async_nats::Error| Error::setup(format!("pull on {consumer}"))(e);
        let handle: PullConsumer = self
            .stream(stream)
            .await?
            .get_consumer(consumer)
            .await
            .map_err(&setup)?;
        fetch(&handle, most).await.map_err(setup)
    }
}

impl Reader {
    /// Returns the next messages, at most `most`; empty at the end of the stream.
    pub async fn next(&mut self, most: usize) -> Result<Vec<Taken>, Error> {
        fetch(&self.0, most)
            .await
            .map_err(Error::setup("reading a stream"))
    }
}

/// Timeout of a fetch: a request whose answer was lost would never end.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);

async fn fetch(consumer: &PullConsumer, most: usize) -> Result<Vec<Taken>, async_nats::Error> {
    let fetched = async {
        let batch = consumer.fetch().max_messages(most).messages().await?;
        batch.map_ok(Taken).try_collect().await
    };
    tokio::time::timeout(FETCH_TIMEOUT, fetched).await?
}

impl Taken {
    pub fn payload(&self) -> Bytes {
        self.0.payload.clone()
    }

    pub fn sequence(&self) -> u64 {
        self.0.info().map_or(0, |i| i.stream_sequence)
    }

    /// Returns when the message entered its stream.
    pub fn published(&self) -> DateTime<Utc> {
        self.0.info().map_or(DateTime::UNIX_EPOCH, |i| i.published)
    }

    /// Returns the key under which the message was published, or an empty string.
    pub fn key(&self) -> String {
        self.0
            .headers
            .as_ref()
            .and_then(|h| h.get(KEY_HEADER))
            .map(|v| v.as_str().to_owned())
            .unwrap_or_default()
    }

    /// Returns the trace that the message carries, or an empty string.
    pub fn trace(&self) -> String {
        self.0
            .headers
            .as_ref()
            .and_then(|h| h.get(TRACE_HEADER))
            .map(|v| v.as_str().to_owned())
            .unwrap_or_default()
    }

    pub async fn done(self) {
        if let Err(error) = self.0.ack().await {
            tracing::debug!(%error, "acknowledgement not sent");
        }
    }
}
