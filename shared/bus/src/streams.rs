//! Creation and adjustment of the streams, the bucket and the fleet-wide consumers.

use std::{collections::HashMap, sync::atomic::Ordering};

use async_nats::jetstream::{consumer::pull, kv, stream};
use chrono::{DateTime, Utc};
use seven_domain::Stage;

use crate::{Bus, Error, topology};

/// Streams and consumers that [`Bus::ensure_streams`] created, and the state of every stream.
#[derive(Debug, Default)]
pub struct Streams {
    pub created: Vec<String>,
    found: HashMap<String, StreamState>,
}

/// State of an existing stream. The creation time distinguishes it from another stream of the same
/// name.
#[derive(Debug, Clone, Copy)]
pub struct StreamState {
    pub made: DateTime<Utc>,
    pub last_sequence: u64,
    pub consumers: usize,
}

// === impl Streams ===

impl Streams {
    /// Returns the state of the stage's stream, if it was read.
    pub fn found(&self, stage: Stage) -> Option<StreamState> {
        self.found.get(topology::stream_of(stage)).copied()
    }
}

// === impl Bus ===

impl Bus {
    /// Creates the missing streams and the missing bucket. The first call in a process also raises
    /// the limits of existing streams to ours, and adds a byte limit to a stream without one.
    pub async fn ensure_streams(&self) -> Result<Streams, Error> {
        let (mut created, mut found) = (Vec::new(), HashMap::new());
        for config in topology::streams(&self.limits) {
            let name = config.name.clone();
            let info = if let Ok(stream) = self.js.get_stream(&name).await {
                if !self.raised.load(Ordering::Relaxed) {
                    let there = stream.cached_info();
                    let bounded = topology::bounded(&there.config, &config, there.state.bytes);
                    // The byte limit has a separate call, because a server may refuse the other
                    // changes.
                    let there = if self.bound(&there.config, &bounded).await {
                        &bounded
                    } else {
                        &there.config
                    };
                    self.raise(there, &config).await;
                }
                stream.cached_info().clone()
            } else {
                let made = Box::pin(self.js.create_stream(config)).await;
                created.push(name.clone());
                made.map_err(|e| Error::setup(format!("stream {name}"))(e.into()))?
                    .cached_info()
                    .clone()
            };
            let stream::State {
                last_sequence,
                consumer_count: consumers,
                ..
            } = info.state;
            found.insert(
                name,
                StreamState {
                    made: info.created,
                    last_sequence,
                    consumers,
                },
            );
        }
        self.raised.store(true, Ordering::Relaxed);
        if self.js.get_key_value(topology::FLEET_BUCKET).await.is_err() {
            let bucket = kv::Config {
                bucket: topology::FLEET_BUCKET.to_owned(),
                history: 1,
                num_replicas: self.limits.replicas,
                ..kv::Config::default()
            };
            self.js
                .create_key_value(bucket)
                .await
                .map_err(|e| Error::setup("bucket fleet")(e.into()))?;
            created.push(topology::FLEET_BUCKET_STREAM.to_owned());
        }
        self.ensure_durable(
            topology::DEAD_STREAM,
            topology::FILING_CONSUMER,
            &mut created,
        )
        .await?;
        self.ensure_durable(
            topology::ADVISORY_STREAM,
            topology::ADVISORY_CONSUMER,
            &mut created,
        )
        .await?;
        Ok(Streams { created, found })
    }

    /// Raises a stream's limits. A refusal is only logged, because the stream works as before. A
    /// server before 2.15 never changes how many consumers an existing stream may have.
    async fn raise(&self, there: &stream::Config, ours: &stream::Config) {
        let raised = topology::raised(there, ours);
        if raised == *there {
            return;
        }
        let (stream, consumers, window) = (
            &there.name,
            raised.max_consumers,
            raised.duplicate_window.as_secs(),
        );
        match self.js.update_stream(&raised).await {
            Ok(_) => tracing::info!(
                stream,
                consumers,
                duplicate_window_seconds = window,
                "stream allows more now"
            ),
            Err(error) => tracing::warn!(
                stream,
                consumers_allowed = there.max_consumers,
                consumers_wanted = consumers,
                duplicate_window_seconds = there.duplicate_window.as_secs(),
                duplicate_window_seconds_wanted = window,
                %error,
                "stream keeps the smaller limits it was made with: docs/upgrade.md"
            ),
        }
    }

    /// Sets the size limit; returns whether the stream has it now.
    async fn bound(&self, there: &stream::Config, bounded: &stream::Config) -> bool {
        if bounded == there {
            return true;
        }
        let (stream, bytes) = (&there.name, bounded.max_bytes);
        match self.js.update_stream(bounded).await {
            Ok(_) => tracing::info!(stream, bytes, "stream has a byte limit now"),
            Err(error) => {
                tracing::warn!(
                    stream,
                    bytes,
                    %error,
                    "stream has no byte limit; see docs/upgrade.md"
                );
                return false;
            }
        }
        true
    }

    async fn ensure_durable(
        &self,
        stream: &str,
        name: &str,
        created: &mut Vec<String>,
    ) -> Result<(), Error> {
        let handle = self.stream(stream).await?;
        if handle.consumer_info(name).await.is_err() {
            // The filing consumer and the advisory consumer retry until Postgres is reachable
            // again: if they gave up on a message, no process would file it as a dead letter.
            let config = pull::Config {
                max_deliver: -1,
                ..topology::durable(name, &self.limits, topology::Start::All)
            };
            handle
                .create_consumer(config)
                .await
                .map_err(|e| Error::setup(format!("consumer {name}"))(e.into()))?;
            created.push(name.to_owned());
        }
        Ok(())
    }
}
