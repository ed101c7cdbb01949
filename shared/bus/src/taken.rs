//! Reading a stream outside the worker loop: the scheduler's filing of dead letters.

use async_nats::jetstream::{self, consumer::PullConsumer};
use bytes::Bytes;
use futures::StreamExt;

use crate::{Bus, Error, client::TRACE_HEADER};

/// A message in hand; it comes again unless [`Taken::done`] is called.
#[derive(Debug)]
pub struct Taken(jetstream::Message);

impl Bus {
    /// Up to `most` waiting messages of a durable consumer, without waiting for more.
    pub async fn take(&self, stream: &str, consumer: &str, most: usize) -> Result<Vec<Taken>, Error> {
        let setup = |e: async_nats::Error| Error::setup(format!("pull on {consumer}"))(e);
        let handle: PullConsumer = self.stream(stream).await?.get_consumer(consumer).await.map_err(&setup)?;
        let mut batch = handle.fetch().max_messages(most).messages().await.map_err(|e| setup(e.into()))?;
        let mut taken = Vec::new();
        while let Some(message) = batch.next().await {
            taken.push(Taken(message.map_err(setup)?));
        }
        Ok(taken)
    }
}

impl Taken {
    pub fn payload(&self) -> Bytes {
        self.0.payload.clone()
    }

    pub fn sequence(&self) -> u64 {
        self.0.info().map_or(0, |i| i.stream_sequence)
    }

    /// The trace the message carries, or empty.
    pub fn trace(&self) -> String {
        self.0.headers.as_ref().and_then(|h| h.get(TRACE_HEADER)).map(|v| v.as_str().to_owned()).unwrap_or_default()
    }

    pub async fn done(self) {
        if let Err(error) = self.0.ack().await {
            tracing::debug!(%error, "acknowledgement not sent");
        }
    }
}
