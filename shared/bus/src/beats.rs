//! Heartbeats of workers: published to current subscribers, stored nowhere.

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt;
use prost::Message;
use tokio::time::{Instant, timeout_at};

use crate::{Bus, Error, events::WorkerBeat, topology};

impl Bus {
    /// Publishes this worker's heartbeat.
    pub async fn beat(&self, beat: &WorkerBeat) {
        let sent = self
            .client
            .publish(topology::WORKER_BEAT, beat.encode_to_vec().into())
            .await;
        if let Err(error) = sent {
            tracing::debug!(%error, "no worker received the heartbeat");
        }
    }

    /// Listens for `time` and returns the last heartbeat of each worker that it heard, sorted by
    /// instance.
    ///
    /// # Errors
    /// Fails when the bus does not answer.
    pub async fn beats(&self, time: Duration) -> Result<Vec<WorkerBeat>, Error> {
        let until = Instant::now() + time;
        let subject = topology::WORKER_BEAT;
        let mut told = self
            .client
            .subscribe(subject)
            .await
            .map_err(|e| Error::setup("subscription to beats")(e.into()))?;
        let mut heard = BTreeMap::new();
        while let Ok(Some(message)) = timeout_at(until, told.next()).await {
            if let Ok(beat) = WorkerBeat::decode(message.payload) {
                heard.insert(beat.instance.clone(), beat);
            }
        }
        Ok(heard.into_values().collect())
    }
}
