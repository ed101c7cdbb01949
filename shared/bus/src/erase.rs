//! Taking messages out of streams: what must not be kept (CONV-15), and what a guest had deleted (DATA-57).

use std::time::Duration;

use async_nats::jetstream;
use futures::StreamExt;
use seven_domain::Stage;

use crate::{Bus, Error, topology};

impl Bus {
    /// Removes one message of a stage's stream, overwriting it: it held what must not be kept. True when it was there.
    pub async fn erase(&self, stage: Stage, sequence: u64) -> Result<bool, Error> {
        let stream = self.stream(topology::stream_of(stage)).await?;
        Ok(stream.delete_message(sequence).await.is_ok())
    }

    /// Removes every message of these subjects whose payload holds `needle`; returns how many. Reads each message once, in order,
    /// and leaves the stages' consumers alone.
    pub async fn erase_holding(&self, stream: &str, subject: &str, needle: &[u8]) -> Result<u64, Error> {
        let setup = |e: async_nats::Error| Error::setup(format!("reading {stream} to erase"))(e);
        let handle = self.stream(stream).await?;
        let config = jetstream::consumer::pull::Config {
            filter_subject: subject.to_owned(),
            ack_policy: jetstream::consumer::AckPolicy::None,
            inactive_threshold: Duration::from_secs(60),
            memory_storage: true,
            ..Default::default()
        };
        let consumer = handle.create_consumer(config).await.map_err(|e| setup(e.into()))?;
        let mut erased = 0;
        loop {
            let mut batch = consumer.fetch().max_messages(500).messages().await.map_err(|e| setup(e.into()))?;
            let mut read = 0;
            while let Some(message) = batch.next().await {
                let message = message.map_err(&setup)?;
                read += 1;
                let holds = message.payload.windows(needle.len().max(1)).any(|window| window == needle);
                let sequence = message.info().map_err(&setup)?.stream_sequence;
                if holds && handle.delete_message(sequence).await.is_ok() {
                    erased += 1;
                }
            }
            if read == 0 {
                return Ok(erased);
            }
        }
    }
}
