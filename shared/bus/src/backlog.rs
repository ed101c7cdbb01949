//! The messages that wait on the bus, and the number of messages ever stored.

use async_nats::jetstream::{self, context::ConsumerInfoErrorKind};
use bytes::Bytes;
use futures::TryStreamExt;
use seven_domain::{CasinoId, Stage};

use crate::{Bus, Error, Floor, taken::Taken, topology};

/// One consumer's backlog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lag {
    pub consumer: String,
    /// Messages not delivered yet.
    pub pending: u64,
    /// Messages delivered but not acknowledged.
    pub in_flight: usize,
    /// Messages in flight that were delivered more than once.
    pub redelivered: usize,
    /// The sequence up to which all messages are acknowledged; `None` before the first
    /// acknowledgement.
    pub floor: Option<Floor>,
}

/// The used and available size of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    pub stream: String,
    pub held_bytes: u64,
    pub limit_bytes: Option<u64>,
}

impl Bus {
    /// Returns the backlog of every consumer of a stage.
    pub async fn lag(&self, stage: Stage) -> Result<Vec<Lag>, Error> {
        let name = topology::stream_of(stage);
        // Reads the stream before its consumers. If the stream is created again in between, no
        // floor of the old stream is then attributed to the new one.
        let stream = self
            .js
            .get_stream(name)
            .await
            .map_err(|e| Error::setup(format!("stream {name}"))(e.into()))?;
        let made = stream.cached_info().created;
        let infos: Vec<jetstream::consumer::Info> = stream
            .consumers()
            .try_collect()
            .await
            .map_err(|e| Error::setup(format!("consumers of {stage}"))(e.into()))?;
        let lag = |i: jetstream::consumer::Info| Lag {
            consumer: i.name,
            pending: i.num_pending,
            in_flight: i.num_ack_pending,
            redelivered: i.num_redelivered,
            floor: i
                .ack_floor
                .last_active
                .map(|acked_at| Floor::of(i.ack_floor.stream_sequence, acked_at, made)),
        };
        // Skips consumers without a durable name: temporary readers outside the worker loop create
        // them.
        Ok(infos
            .into_iter()
            .filter(|info| info.config.durable_name.is_some())
            .map(lag)
            .collect())
    }

    /// Returns the sequence of the last message stored in a stage's stream.
    ///
    /// # Errors
    /// Fails when the bus does not answer.
    pub async fn last_sequence(&self, stage: Stage) -> Result<u64, Error> {
        let name = topology::stream_of(stage);
        let stream = self
            .js
            .get_stream(name)
            .await
            .map_err(|e| Error::setup(format!("stream {name}"))(e.into()))?;
        Ok(stream.cached_info().state.last_sequence)
    }

    /// Returns the sequence up to which a casino's consumer has acknowledged every message, or the
    /// stream's last sequence if no message waits. `None` if the consumer does not exist, for
    /// instance because the casino was removed.
    ///
    /// # Errors
    /// Fails when the bus does not answer.
    pub async fn read_up_to(&self, stage: Stage, casino: &CasinoId) -> Result<Option<u64>, Error> {
        let (stream, name) = (
            topology::stream_of(stage),
            topology::consumer_name(stage, casino, None),
        );
        // Reads the last sequence before the consumer's state: a message that is stored in between
        // must not count as acknowledged.
        let last = self.last_sequence(stage).await?;
        let info = match self.stream(stream).await?.consumer_info(&name).await {
            Ok(info) => info,
            Err(error) if error.kind() == ConsumerInfoErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::setup(format!("consumer {name}"))(error.into())),
        };
        let waits = info.num_pending > 0 || info.num_ack_pending > 0;
        Ok(Some(if waits {
            info.ack_floor.stream_sequence
        } else {
            last
        }))
    }

    /// Returns the payloads that contain `needle`, oldest first. Searches a casino's messages in a
    /// stage's stream, from after `sequence` on.
    ///
    /// # Errors
    /// Fails when the bus does not answer.
    pub async fn holding_after(
        &self,
        stage: Stage,
        casino: &CasinoId,
        sequence: u64,
        needle: &[u8],
    ) -> Result<Vec<Bytes>, Error> {
        let mut reader = self
            .read(
                topology::stream_of(stage),
                &topology::subject(stage, casino, None),
            )
            .await?;
        let mut found = Vec::new();
        loop {
            let batch = reader.next(500).await?;
            if batch.is_empty() {
                return Ok(found);
            }
            let holds = |payload: &Bytes| {
                payload
                    .windows(needle.len().max(1))
                    .any(|window| window == needle)
            };
            found.extend(
                batch
                    .iter()
                    .filter(|m| m.sequence() > sequence)
                    .map(Taken::payload)
                    .filter(holds),
            );
        }
    }

    /// Returns the current and the maximum size of each stream. A stream without a limit of its own
    /// has no maximum.
    ///
    /// # Errors
    /// Fails when the bus does not answer, or a stream is missing.
    pub async fn storage(&self) -> Result<Vec<Storage>, Error> {
        let mut all = Vec::new();
        for config in topology::streams(&self.limits) {
            let stream = self
                .js
                .get_stream(&config.name)
                .await
                .map_err(|e| Error::setup(format!("stream {}", config.name))(e.into()))?;
            let (held_bytes, limit) = (
                stream.cached_info().state.bytes,
                stream.cached_info().config.max_bytes,
            );
            let limit_bytes = u64::try_from(limit).ok().filter(|limit| *limit > 0);
            all.push(Storage {
                stream: config.name,
                held_bytes,
                limit_bytes,
            });
        }
        Ok(all)
    }

    /// Returns the number of messages that the stages' streams have ever stored.
    pub async fn stored_so_far(&self) -> Result<u64, Error> {
        let mut sum = 0;
        for stage in topology::CONSUMING {
            let name = topology::stream_of(stage);
            let stream = self
                .js
                .get_stream(name)
                .await
                .map_err(|e| Error::setup(format!("stream {name}"))(e.into()))?;
            sum += stream.cached_info().state.last_sequence;
        }
        Ok(sum)
    }
}
