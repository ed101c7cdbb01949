//! What waits on the bus, and how much ever went over it.

use async_nats::jetstream;
use futures::TryStreamExt;
use seven_domain::Stage;

use crate::{Bus, Error, Floor, topology};

/// One consumer's backlog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lag {
    pub consumer: String,
    /// Not delivered yet.
    pub pending: u64,
    /// Delivered, not acknowledged.
    pub in_flight: usize,
    /// Of those in flight, delivered more than once.
    pub redelivered: usize,
    /// None before the first acknowledgement.
    pub floor: Option<Floor>,
}

impl Bus {
    /// What waits on each of a stage's consumers.
    pub async fn lag(&self, stage: Stage) -> Result<Vec<Lag>, Error> {
        let name = topology::stream_of(stage);
        // Before the consumers, so that no floor is taken for one of a stream that came after its own.
        let stream = self.js.get_stream(name).await.map_err(|e| Error::setup(format!("stream {name}"))(e.into()))?;
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
            floor: i.ack_floor.last_active.map(|acked_at| Floor::of(i.ack_floor.stream_sequence, acked_at, made)),
        };
        Ok(infos.into_iter().map(lag).collect())
    }

    /// How many messages the stages' streams have taken in all their life.
    pub async fn stored_so_far(&self) -> Result<u64, Error> {
        let mut sum = 0;
        for stage in topology::CONSUMING {
            let name = topology::stream_of(stage);
            let stream =
                self.js.get_stream(name).await.map_err(|e| Error::setup(format!("stream {name}"))(e.into()))?;
            sum += stream.cached_info().state.last_sequence;
        }
        Ok(sum)
    }
}
