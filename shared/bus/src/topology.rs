//! Streams, subjects and consumers, as data.
//!
//! | stream    | subjects                  | consumed by             |
//! |-----------|---------------------------|-------------------------|
//! | INGRESS   | ingress.<casino>          | gate-<casino>           |
//! | CLEARED   | cleared.<casino>          | swarm-<casino>          |
//! | DRAFTED   | drafted.<casino>          | envelope-<casino>       |
//! | OUTBOUND  | outbound.<casino>.<queue> | sender-<queue>-<casino> |
//! | RECEIPT   | receipt.<casino>          | receipts-<casino>       |
//! | CONTENT   | content.<casino>          | (plain subscriptions)   |
//! | DEAD      | dead.<stage>.<casino>     | filing                  |
//! | ADVISORY  | `$JS` max-deliveries      | advisories              |

use std::time::Duration;

use async_nats::jetstream::{consumer, consumer::pull, stream};
use seven_domain::{CasinoId, Queue, Stage};

const GIBIBYTE_BYTES: i64 = 1 << 30;
const DAY: Duration = Duration::from_secs(86_400);

pub const DEAD_STREAM: &str = "DEAD";
pub const ADVISORY_STREAM: &str = "ADVISORY";
pub const FILING_CONSUMER: &str = "filing";
pub const ADVISORY_CONSUMER: &str = "advisories";
pub const ADVISORY_SUBJECT: &str = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>";
/// Subjects on which casinos' new content is announced.
pub const CONTENT_SUBJECTS: &str = "content.*";
/// Subject on which a process announces traces that the others should export completely. A message
/// holds one trace id (16 bytes) and is stored in no stream.
pub const TRACE_KEEP: &str = "trace.keep";
/// Subject of the workers' heartbeats, stored in no stream; operators read them when the database
/// is unreachable.
pub const WORKER_BEAT: &str = "worker.beat";
/// Subjects of hints that there is news for a guest of a website, stored in no stream.
pub const HINT_SUBJECTS: &str = "web.*";
/// Key-value bucket that mirrors the casinos' switches (D14).
pub const FLEET_BUCKET: &str = "fleet";
/// Name that the server gives to the stream behind this bucket.
pub const FLEET_BUCKET_STREAM: &str = "KV_fleet";
/// Stream that keeps content announcements, so that they can be inspected.
pub const CONTENT_STREAM: &str = "CONTENT";

/// JetStream settings that operators may change.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Number of servers that keep a copy of each stream: 1 by default, 3 in production.
    pub replicas: usize,
    pub duplicate_window: Duration,
    pub ack_wait: Duration,
    pub max_deliver: i64,
    /// Size limit of each stream. A full stream refuses new messages and drops no old ones.
    pub stream_bytes: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            replicas: 1,
            duplicate_window: Duration::from_secs(600),
            ack_wait: Duration::from_secs(10),
            max_deliver: 50,
            stream_bytes: GIBIBYTE_BYTES,
        }
    }
}

/// The stages that consume messages from a stream, in the order in which a text passes them.
pub const CONSUMING: [Stage; 5] = [
    Stage::Gate,
    Stage::Swarm,
    Stage::Envelope,
    Stage::Sender,
    Stage::Receipts,
];

/// Stages whose messages [`crate::Bus::changes`] receives. Their messages carry only ids, whereas
/// those of ingress carry texts.
pub(crate) const HEARD: [Stage; 3] = [Stage::Swarm, Stage::Sender, Stage::Receipts];

/// How long the stages' streams keep a message.
pub const STAGE_RETENTION: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Maximum number of consumers of one stream; the sender's stream has four per casino. Without this
/// limit, servers from 2.15 on allow only 1 000, too few for 251 casinos.
const MOST_CONSUMERS: i32 = 100_000;

/// Returns the name of the stream from which a stage consumes.
pub fn stream_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Ingress | Stage::Gate => "INGRESS",
        Stage::Swarm => "CLEARED",
        Stage::Envelope => "DRAFTED",
        Stage::Sender => "OUTBOUND",
        Stage::Receipts => "RECEIPT",
    }
}

fn prefix_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Ingress | Stage::Gate => "ingress",
        Stage::Swarm => "cleared",
        Stage::Envelope => "drafted",
        Stage::Sender => "outbound",
        Stage::Receipts => "receipt",
    }
}

/// Returns the queues of a stage: the sender has four, the others none.
pub fn queues_of(stage: Stage) -> &'static [Option<Queue>] {
    match stage {
        Stage::Sender => &[
            Some(Queue::Urgent),
            Some(Queue::Safety),
            Some(Queue::Reply),
            Some(Queue::Bulk),
        ],
        Stage::Ingress | Stage::Gate | Stage::Swarm | Stage::Envelope | Stage::Receipts => &[None],
    }
}

/// Returns the subject on which `stage` receives a casino's messages.
pub fn subject(stage: Stage, casino: &CasinoId, queue: Option<Queue>) -> String {
    match queue {
        Some(queue) => format!("{}.{casino}.{queue}", prefix_of(stage)),
        None => format!("{}.{casino}", prefix_of(stage)),
    }
}

/// Returns every subject on which `stage` receives messages, of one casino or of all.
pub fn subjects_of(stage: Stage, casino: Option<&CasinoId>) -> Vec<String> {
    let Some(casino) = casino else {
        let wildcard = if queues_of(stage).len() > 1 {
            "*.*"
        } else {
            "*"
        };
        return vec![format!("{}.{wildcard}", prefix_of(stage))];
    };
    queues_of(stage)
        .iter()
        .map(|queue| subject(stage, casino, *queue))
        .collect()
}

/// Returns the subject of hints for a casino's guests on the web.
pub fn subject_for_hints(casino: &CasinoId) -> String {
    format!("web.{casino}")
}

/// Returns the bucket's subject for a casino's switches, or for those of all casinos.
pub fn subject_for_control(casino: Option<&CasinoId>) -> String {
    format!(
        "$KV.{FLEET_BUCKET}.{}",
        casino.map_or(">", CasinoId::as_str)
    )
}

pub fn subject_for_content(casino: &CasinoId) -> String {
    format!("content.{casino}")
}

/// Returns `dead.<stage>.<casino>`; events for unknown numbers go to `dead.ingress.unknown`.
pub fn subject_for_dead(stage: Stage, casino: &CasinoId) -> String {
    let casino = if casino.is_unknown() {
        "unknown"
    } else {
        casino.as_str()
    };
    format!("dead.{stage}.{casino}")
}

/// Returns the subject filter for dead letters. `None` as the stage means all stages, and `None` as
/// the casino means all casinos.
pub fn subjects_of_dead(stage: Option<Stage>, casino: Option<&CasinoId>) -> String {
    let stage = stage.map_or("*", Stage::as_str);
    match casino {
        Some(casino) if casino.is_unknown() => format!("dead.{stage}.unknown"),
        Some(casino) => format!("dead.{stage}.{casino}"),
        None => format!("dead.{stage}.*"),
    }
}

pub fn consumer_name(stage: Stage, casino: &CasinoId, queue: Option<Queue>) -> String {
    match queue {
        Some(queue) => format!("{stage}-{queue}-{casino}"),
        None => format!("{stage}-{casino}"),
    }
}

/// Returns the configuration of every stream; the bucket's own stream is not included.
pub fn streams(limits: &Limits) -> Vec<stream::Config> {
    let base = |name: &str, subjects: &[&str], max_age: Duration| stream::Config {
        name: name.to_owned(),
        subjects: subjects.iter().map(|s| (*s).to_owned()).collect(),
        retention: stream::RetentionPolicy::Limits,
        storage: stream::StorageType::File,
        num_replicas: limits.replicas,
        duplicate_window: limits.duplicate_window.min(max_age),
        max_age,
        max_consumers: MOST_CONSUMERS,
        max_bytes: limits.stream_bytes,
        discard: stream::DiscardPolicy::New,
        allow_direct: true,
        ..stream::Config::default()
    };
    let mut all: Vec<_> = CONSUMING
        .into_iter()
        .map(|stage| {
            let subjects = subjects_of(stage, None);
            base(
                stream_of(stage),
                &subjects.iter().map(String::as_str).collect::<Vec<_>>(),
                STAGE_RETENTION,
            )
        })
        .collect();
    all.push(stream::Config {
        max_messages_per_subject: 1,
        ..base(CONTENT_STREAM, &[CONTENT_SUBJECTS], 7 * DAY)
    });
    all.push(base(DEAD_STREAM, &["dead.*.*"], 30 * DAY));
    all.push(base(ADVISORY_STREAM, &[ADVISORY_SUBJECT], 30 * DAY));
    all
}

/// Returns the configuration of an existing stream, with each limit raised to ours if ours is
/// higher. Limits that somebody raised by hand stay, and no message is dropped.
pub(crate) fn raised(there: &stream::Config, ours: &stream::Config) -> stream::Config {
    stream::Config {
        max_consumers: there.max_consumers.max(ours.max_consumers),
        duplicate_window: there.duplicate_window.max(ours.duplicate_window),
        ..there.clone()
    }
}

/// Adds a size limit to a stream without one. The limit is at least twice the current size, so that
/// the stream accepts messages at once.
pub(crate) fn bounded(
    there: &stream::Config,
    ours: &stream::Config,
    held_bytes: u64,
) -> stream::Config {
    if there.max_bytes > 0 {
        return there.clone();
    }
    let held_bytes = i64::try_from(held_bytes).unwrap_or(i64::MAX);
    stream::Config {
        max_bytes: ours.max_bytes.max(held_bytes.saturating_mul(2)),
        discard: ours.discard,
        ..there.clone()
    }
}

/// Where a consumer that is created (again) starts reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At the beginning of the stream, for example for a new casino.
    All,
    /// At this time; everything published earlier was already handled.
    At(chrono::DateTime<chrono::Utc>),
    /// After this sequence, up to which all messages were acknowledged.
    After(u64),
}

/// Returns the configuration of a casino's consumer. A single server keeps the consumer's position
/// in memory (D25). A cluster keeps it on disk. Otherwise reading would restart at the beginning
/// after all servers stopped.
pub(crate) fn consumer_config(
    stage: Stage,
    casino: &CasinoId,
    queue: Option<Queue>,
    limits: &Limits,
    start: Start,
) -> pull::Config {
    let name = consumer_name(stage, casino, queue);
    pull::Config {
        filter_subject: subject(stage, casino, queue),
        memory_storage: limits.replicas == 1,
        ..durable(&name, limits, start)
    }
}

pub(crate) fn durable(name: &str, limits: &Limits, start: Start) -> pull::Config {
    let deliver_policy = match start {
        Start::All => consumer::DeliverPolicy::All,
        Start::At(start_time) => consumer::DeliverPolicy::ByStartTime { start_time },
        Start::After(sequence) => consumer::DeliverPolicy::ByStartSequence {
            start_sequence: sequence + 1,
        },
    };
    pull::Config {
        durable_name: Some(name.to_owned()),
        deliver_policy,
        ack_policy: consumer::AckPolicy::Explicit,
        ack_wait: limits.ack_wait,
        max_deliver: limits.max_deliver,
        max_ack_pending: 10_000,
        num_replicas: limits.replicas,
        ..pull::Config::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_belongs_to_exactly_one_stream() {
        let casino: CasinoId = "silver_birch".parse().unwrap();
        let streams = streams(&Limits::default());
        for stage in CONSUMING {
            for queue in queues_of(stage) {
                let subject = subject(stage, &casino, *queue);
                let owners = streams
                    .iter()
                    .filter(|s| s.subjects.iter().any(|p| matches(p, &subject)))
                    .count();
                assert_eq!(owners, 1, "{subject}");
            }
        }
        assert!(
            streams.iter().all(|stream| stream.max_consumers >= 40_000),
            "ten thousand casinos, four queues each"
        );
        assert_eq!(FLEET_BUCKET_STREAM, format!("KV_{FLEET_BUCKET}"));
        assert_eq!(subjects_of(Stage::Sender, Some(&casino)).len(), 4);
        assert_eq!(
            subject_for_dead(Stage::Ingress, &CasinoId::unknown()),
            "dead.ingress.unknown"
        );
        assert_eq!(
            subjects_of_dead(Some(Stage::Ingress), Some(&CasinoId::unknown())),
            "dead.ingress.unknown"
        );
        assert!(matches(
            &subjects_of_dead(None, None),
            &subject_for_dead(Stage::Gate, &casino)
        ));
    }

    #[test] // D25
    fn consumers_of_casinos_keep_their_place_in_memory_on_a_server_alone() {
        let casino: CasinoId = "silver_birch".parse().unwrap();
        for stage in CONSUMING {
            for queue in queues_of(stage) {
                let in_memory = |replicas| {
                    let limits = Limits {
                        replicas,
                        ..Limits::default()
                    };
                    consumer_config(stage, &casino, *queue, &limits, Start::All).memory_storage
                };
                assert_eq!((in_memory(1), in_memory(3)), (true, false), "{stage}");
                let config =
                    consumer_config(stage, &casino, *queue, &Limits::default(), Start::All);
                assert_eq!(
                    config.durable_name,
                    Some(consumer_name(stage, &casino, *queue))
                );
            }
        }
        assert!(!durable(FILING_CONSUMER, &Limits::default(), Start::All).memory_storage);
    }

    fn matches(pattern: &str, subject: &str) -> bool {
        let (p, s): (Vec<_>, Vec<_>) = (pattern.split('.').collect(), subject.split('.').collect());
        p.len() == s.len() && p.iter().zip(&s).all(|(p, s)| *p == "*" || p == s)
    }
}
