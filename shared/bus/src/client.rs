//! The bus client: publishes events with identity and trace, and creates consumers.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use async_nats::{
    HeaderMap,
    connection::State,
    jetstream::{
        self, kv,
        message::PublishMessage,
        stream::{self, ConsumerCreateStrictErrorKind},
    },
};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use prost::Message;
use seven_domain::{CasinoId, Queue, Stage, TraceContext};
use seven_telemetry::{metrics, trace};
use tokio::sync::{SetOnce, watch};

use crate::{Access, Error, Roster, events, subject, topology};

/// Header that carries a message's identity. All copies of a message have the same identity but
/// different `Nats-Msg-Id`s.
pub(crate) const KEY_HEADER: &str = "Seven-Key";
pub(crate) const TRACE_HEADER: &str = "traceparent";

#[derive(Debug, Clone)]
pub struct Settings {
    pub url: String,
    pub access: Access,
    pub limits: topology::Limits,
    /// Random text that makes the `Nats-Msg-Id`s of this process unique.
    pub instance: String,
}

/// A handle on the bus; cheap to clone.
#[derive(Debug, Clone)]
pub struct Bus {
    pub(crate) client: async_nats::Client,
    pub(crate) js: jetstream::Context,
    pub(crate) limits: topology::Limits,
    /// Number of connections to the server made so far. After a new connection, the server has
    /// forgotten the requests made on the earlier one.
    pub(crate) connections: watch::Receiver<u64>,
    /// Whether the server is new enough to be trusted with messages; unset until a server was
    /// reached.
    pub(crate) trusted: Arc<SetOnce<bool>>,
    /// Whether this process has already raised the limits of existing streams to ours.
    pub(crate) raised: Arc<AtomicBool>,
}

/// A message to publish. `key` is its identity; `copy` distinguishes a deliberate second signal
/// from a duplicate.
#[derive(Debug, Clone)]
pub struct Outgoing<'a> {
    pub subject: String,
    pub key: &'a str,
    pub copy: Option<String>,
    /// The trace context of the text. The header carries the publishing span instead, if that span
    /// belongs to the same trace.
    pub trace: &'a str,
    pub payload: Bytes,
}

// === impl Bus ===

impl Bus {
    /// Publishes, and waits at most `deadline` for the stream's acknowledgement.
    pub async fn publish(&self, message: &Outgoing<'_>, deadline: Duration) -> Result<(), Error> {
        let acked = async {
            if !*self.trusted.wait().await {
                return Err(Error::TooOld {
                    found: self.client.server_info().version,
                });
            }
            let failed = |source| Error::Publish {
                subject: message.subject.clone(),
                source,
            };
            let sent = self
                .js
                .send_publish(message.subject.clone(), envelope(message))
                .await;
            sent.map_err(|e| failed(e.into()))?
                .await
                .map_err(|e| failed(e.into()))
        };
        match tokio::time::timeout(deadline, acked).await {
            Ok(acked) => acked.map(|_| ()),
            Err(_) => Err(Error::AckTimeout {
                subject: message.subject.clone(),
            }),
        }
    }

    /// Publishes a message that cannot be handled to `dead.<stage>.<casino>` (D17).
    pub async fn dead_letter(
        &self,
        stage: Stage,
        casino: &CasinoId,
        letter: &events::DeadLetter,
        trace: &str,
    ) -> Result<(), Error> {
        metrics()
            .dead
            .with_label_values(&[stage.as_str(), casino.as_str(), &letter.reason])
            .inc();
        let message = Outgoing {
            subject: topology::subject_for_dead(stage, casino),
            key: &letter.message_key,
            copy: Some(format!("dead:{}", letter.stream_seq)),
            trace,
            payload: letter.encode_to_vec().into(),
        };
        self.publish(&message, Duration::from_secs(5)).await
    }

    /// Returns whether the server answers and is new enough.
    pub async fn ready(&self) -> bool {
        matches!(
            tokio::time::timeout(Duration::from_secs(2), self.client.flush()).await,
            Ok(Ok(()))
        ) && self.client.connection_state() == State::Connected
            && self.trusted.get() == Some(&true)
            && !self.is_too_old()
    }

    /// Waits while the connection is lost. Otherwise all requests made in that time would be sent
    /// at once when the connection is restored.
    pub(crate) async fn connected(&self) {
        let mut connections = self.connections.clone();
        connections.mark_unchanged();
        if self.client.connection_state() != State::Connected {
            // An error cannot occur: the sender exists as long as the client.
            drop(connections.changed().await);
        }
    }

    /// Returns the names of a stage's consumers.
    pub async fn consumers(&self, stage: Stage) -> Result<Vec<String>, Error> {
        use futures::TryStreamExt;
        let stream = self.stream(topology::stream_of(stage)).await?;
        stream
            .consumer_names()
            .try_collect()
            .await
            .map_err(|e| Error::setup(format!("consumers of {stage}"))(e.into()))
    }

    /// Creates a durable pull consumer and returns true. If another process has already created the
    /// consumer, changes nothing and returns false.
    pub async fn create_consumer(
        &self,
        stage: Stage,
        casino: &CasinoId,
        queue: Option<Queue>,
        start: topology::Start,
    ) -> Result<bool, Error> {
        let config = topology::consumer_config(stage, casino, queue, &self.limits, start);
        let what = topology::consumer_name(stage, casino, queue);
        let stream = self.stream(topology::stream_of(stage)).await?;
        match stream.create_consumer_strict(config).await {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == ConsumerCreateStrictErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(Error::setup(what)(e.into())),
        }
    }

    /// Removes a casino's consumers. A missing consumer is not an error.
    pub async fn remove_consumers(&self, casino: &CasinoId) -> Result<(), Error> {
        for stage in topology::CONSUMING {
            let stream = self.stream(topology::stream_of(stage)).await?;
            for queue in topology::queues_of(stage) {
                let name = topology::consumer_name(stage, casino, *queue);
                if stream.delete_consumer(&name).await.is_err() {
                    tracing::debug!(consumer = name, "already deleted");
                }
            }
        }
        Ok(())
    }

    /// Onboards a casino: creates the streams and the bucket if they are missing, and all of the
    /// casino's consumers.
    pub async fn onboard(&self, casino: &CasinoId) -> Result<(), Error> {
        self.ensure_streams().await?;
        for stage in topology::CONSUMING {
            let present = self.consumers(stage).await?;
            for queue in topology::queues_of(stage) {
                if !present.contains(&topology::consumer_name(stage, casino, *queue)) {
                    self.create_consumer(stage, casino, *queue, topology::Start::All)
                        .await?;
                }
            }
        }
        Ok(())
    }

    /// Writes one casino's switches to the bucket if they differ from the stored ones; returns true
    /// if it wrote.
    pub async fn mirror(&self, control: &events::Control) -> Result<bool, Error> {
        let bucket = self.bucket().await?;
        let value = Bytes::from(control.encode_to_vec());
        let there = bucket
            .get(control.casino.clone())
            .await
            .map_err(|e| Error::setup("bucket fleet")(e.into()))?;
        if there.as_ref() == Some(&value) {
            return Ok(false);
        }
        bucket
            .put(&control.casino, value)
            .await
            .map_err(|e| Error::setup("bucket fleet")(e.into()))?;
        Ok(true)
    }

    /// Returns the mirrored switches of all casinos, as the workers know them; they may lag briefly
    /// behind Postgres.
    pub async fn mirrored(&self) -> Result<Vec<events::Control>, Error> {
        use futures::TryStreamExt;
        let bucket = self.bucket().await?;
        let failed = |e: async_nats::Error| Error::setup("bucket fleet")(e);
        let mut casinos: Vec<String> = bucket
            .keys()
            .await
            .map_err(|e| failed(e.into()))?
            .try_collect()
            .await
            .map_err(|e| failed(e.into()))?;
        casinos.sort_unstable();
        let mut all = Vec::with_capacity(casinos.len());
        for casino in casinos {
            if let Some(value) = bucket.get(casino).await.map_err(|e| failed(e.into()))? {
                all.extend(events::Control::decode(value).ok());
            }
        }
        Ok(all)
    }

    pub async fn unmirror(&self, casino: &CasinoId) -> Result<(), Error> {
        self.bucket()
            .await?
            .delete(casino.as_str())
            .await
            .map_err(|e| Error::setup("bucket fleet")(e.into()))
    }

    pub(crate) async fn bucket(&self) -> Result<kv::Store, Error> {
        self.js
            .get_key_value(topology::FLEET_BUCKET)
            .await
            .map_err(|e| Error::setup("bucket fleet")(e.into()))
    }

    pub(crate) async fn stream(&self, name: &str) -> Result<stream::Stream<()>, Error> {
        self.js
            .get_stream_no_info(name)
            .await
            .map_err(|e| Error::setup(format!("stream {name}"))(e.into()))
    }
}

// === signals between the stages ===

impl Bus {
    /// Signals to the swarm that a conversation has open texts. With a `copy`, the stream does not
    /// drop a repeated signal as a duplicate.
    pub async fn signal_conversation(
        &self,
        casino: &CasinoId,
        conversation: uuid::Uuid,
        cause: uuid::Uuid,
        copy: Option<String>,
        trace: &str,
    ) -> Result<(), Error> {
        let event = events::ConversationSignal {
            conversation_id: crate::id_bytes(conversation),
        };
        self.signal(
            subject(Stage::Swarm, casino, None),
            &cause.to_string(),
            copy,
            &event,
            trace,
        )
        .await
    }

    pub async fn signal_draft(
        &self,
        casino: &CasinoId,
        turn: uuid::Uuid,
        copy: Option<String>,
        trace: &str,
    ) -> Result<(), Error> {
        let event = events::DraftReady {
            turn_id: crate::id_bytes(turn),
        };
        self.signal(
            subject(Stage::Envelope, casino, None),
            &turn.to_string(),
            copy,
            &event,
            trace,
        )
        .await
    }

    pub async fn signal_outbound(
        &self,
        casino: &CasinoId,
        outbound: uuid::Uuid,
        queue: Queue,
        copy: Option<String>,
        trace: &str,
    ) -> Result<(), Error> {
        let event = events::OutboundReady {
            outbound_id: crate::id_bytes(outbound),
        };
        self.signal(
            subject(Stage::Sender, casino, Some(queue)),
            &outbound.to_string(),
            copy,
            &event,
            trace,
        )
        .await
    }

    /// Announces new content. A lost announcement does no harm, because every turn compares content
    /// versions.
    pub async fn announce_content(
        &self,
        casino: &CasinoId,
        content_version: i64,
    ) -> Result<(), Error> {
        let event = events::ContentChanged { content_version };
        let key = format!("content:{casino}:{content_version}");
        self.signal(
            topology::subject_for_content(casino),
            &key,
            None,
            &event,
            "",
        )
        .await
    }

    /// Returns a stream of casinos and their new content versions, as announced from now on. If
    /// `roster` is limited to some casinos, so is the stream. Announcements are lost while the
    /// connection is down.
    pub async fn content_changes(
        &self,
        roster: &Roster,
    ) -> Result<impl Stream<Item = (CasinoId, i64)> + use<>, Error> {
        let subjects = match roster.only() {
            [] => vec![topology::CONTENT_SUBJECTS.to_owned()],
            only => only.iter().map(topology::subject_for_content).collect(),
        };
        let subscribed = subjects
            .into_iter()
            .map(|subject| self.client.subscribe(subject));
        let messages = futures::stream::select_all(
            futures::future::try_join_all(subscribed)
                .await
                .map_err(|e| Error::setup("subscription to content")(e.into()))?,
        );
        // The server must know the subscription before the caller relies on it.
        self.client
            .flush()
            .await
            .map_err(|e| Error::setup("subscription to content")(e.into()))?;
        Ok(messages.filter_map(async |message| {
            let casino = CasinoId::trusted(message.subject.strip_prefix("content.")?).ok()?;
            Some((
                casino,
                events::ContentChanged::decode(message.payload)
                    .ok()?
                    .content_version,
            ))
        }))
    }

    async fn signal(
        &self,
        subject: String,
        key: &str,
        copy: Option<String>,
        event: &impl Message,
        trace: &str,
    ) -> Result<(), Error> {
        let message = Outgoing {
            subject,
            key,
            copy,
            trace,
            payload: event.encode_to_vec().into(),
        };
        self.publish(&message, Duration::from_secs(5)).await
    }
}

/// Sets the headers before the message id: `PublishMessage::headers` replaces the whole map and
/// would drop the id.
fn envelope(message: &Outgoing<'_>) -> PublishMessage {
    let mut headers = HeaderMap::new();
    headers.insert(KEY_HEADER, message.key);
    match trace::outgoing(message.trace) {
        Some(ours) => headers.insert(TRACE_HEADER, ours.to_string()),
        None if message.trace.is_empty() => {}
        None => headers.insert(TRACE_HEADER, message.trace),
    }
    let id = match &message.copy {
        Some(copy) => format!("{}:{}#{copy}", message.subject, message.key),
        None => format!("{}:{}", message.subject, message.key),
    };
    PublishMessage::build()
        .payload(message.payload.clone())
        .headers(headers)
        .message_id(id)
}

pub(crate) fn trace_of(headers: Option<&HeaderMap>) -> TraceContext {
    headers
        .and_then(|h| h.get(TRACE_HEADER))
        .and_then(|v| v.as_str().parse().ok())
        .unwrap_or_else(TraceContext::start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // The message id must survive our own headers (crates.md, finding 1).
    fn the_message_id_survives_the_headers() {
        let message = Outgoing {
            subject: "ingress.a_b".into(),
            key: "k1",
            copy: None,
            trace: "t",
            payload: Bytes::new(),
        };
        let out = envelope(&message).outbound_message("ingress.a_b");
        let headers = out.headers.unwrap();
        assert_eq!(
            headers.get("Nats-Msg-Id").unwrap().as_str(),
            "ingress.a_b:k1"
        );
        assert_eq!(headers.get(KEY_HEADER).unwrap().as_str(), "k1");
    }
}
