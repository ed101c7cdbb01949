//! Values that an operator sets: one file per fleet and one small file per casino. Unknown keys are
//! refused, and every problem names its file, its key and the expected value.

pub(crate) mod check;

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use seven_domain::{CasinoId, PhoneE164, config::RateLimitTier};
use seven_settings::Worker;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading {file}")]
    Read {
        file: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{file}: {source}")]
    Parse {
        file: PathBuf,
        source: serde_yaml_ng::Error,
    },
    #[error("{0} holds no *.yaml file; `seven deploy values CASINO` writes one")]
    NoCasino(PathBuf),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Bad(Vec<Problem>),
}

/// A problem in the values, with the value that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {key}: {problem}; expected {expected}")]
pub struct Problem {
    pub file: String,
    pub key: String,
    pub problem: String,
    pub expected: String,
}

/// A fleet and its casinos, checked against each other.
#[derive(Debug, Clone)]
pub struct Values {
    pub fleet: FleetValues,
    /// The casinos, sorted by id.
    pub casinos: Vec<CasinoValues>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetValues {
    /// Environment label of every rendered resource, such as `production`.
    pub environment: String,
    pub namespace: String,
    /// The image, named by digest: `registry/seven@sha256:...`.
    pub image: String,
    pub public: Public,
    pub nats: Nats,
    /// The source of each secret setting: a reference, never the value.
    pub secrets: BTreeMap<String, SecretRef>,
    /// Other settings of the fleet, with the keys of `settings.default.toml`; no secrets.
    #[serde(default)]
    pub settings: toml::Table,
    pub scaling: Scaling,
    /// Size of each worker, keyed by the names that `seven run` takes; every worker needs an entry.
    pub workers: BTreeMap<String, Size>,
    /// Size of a worker that a casino has to itself, unless the casino's file overrides it.
    pub own_workers: Size,
    pub network: Network,
    /// The pages for staff. `None`: the fleet has no console, and no NATS user for one.
    #[serde(default)]
    pub console: Option<Console>,
    /// The gateway for guests of the casinos' websites. `None`: the fleet has no gateway, and no
    /// NATS user for one.
    #[serde(default)]
    pub web: Option<Web>,
    /// The daily backup. `None`: no backup is rendered; operators schedule `seven backup`
    /// themselves.
    #[serde(default)]
    pub backup: Option<Backup>,
    /// The daily exports of the audit log. `None`: none are rendered.
    #[serde(default)]
    pub exports: Option<Exports>,
}

/// The console and its public address.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Console {
    /// The console's host name; it must differ from the webhooks' host name.
    pub domain: String,
    /// Annotations of the console's Ingress, such as the networks that may reach it.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    pub size: Size,
}

/// The web gateway and its public address.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// The gateway's host name; it must differ from those of the webhooks and the console.
    pub domain: String,
    /// Annotations of the gateway's Ingress, in addition to those that keep nginx from buffering
    /// streams.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    pub size: Size,
}

/// A daily backup onto a volume.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    /// An image that contains `pg_dump`: target `backup` of deploy/Dockerfile, by digest.
    pub image: String,
    /// The schedule in cron syntax, in UTC.
    pub schedule: String,
    pub storage: String,
    #[serde(default)]
    pub storage_class: Option<String>,
}

/// Daily exports of the audit log onto a volume.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exports {
    /// The schedule in cron syntax, in UTC.
    pub schedule: String,
    pub storage: String,
    #[serde(default)]
    pub storage_class: Option<String>,
}

/// The public address at which webhooks reach the fleet.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Public {
    /// The fleet's host name; a casino's host name is `<slug>.<domain>`.
    pub domain: String,
    pub ingress_class: String,
    /// Annotations of the Ingress, such as the issuer that renews its certificates.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// The JetStream servers (D16).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nats {
    /// nats-server 2.12.3 or newer, by digest.
    pub image: String,
    /// The number of servers, and of copies of every stream: 1 or 3.
    pub replicas: u32,
    pub storage: String,
    #[serde(default)]
    pub storage_class: Option<String>,
    /// A Kubernetes secret with `tls.crt`, `tls.key` and `ca.crt`, as cert-manager writes it.
    pub tls_secret: String,
    pub cpu: String,
    pub memory: String,
}

/// A reference to a key of a Kubernetes secret.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    pub name: String,
    pub key: String,
}

/// Settings of the autoscaler KEDA, which reads the backlog of each consumer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// Seconds between two readings of the backlog.
    pub polling_interval: u32,
    /// Processes end only after fewer have been enough for this many seconds.
    pub scale_down_after: u32,
    /// Failed readings in a row after which `fallback` processes run.
    pub failures_before_fallback: u32,
}

/// The number of processes of a worker, and the resources of each.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    pub min: u32,
    pub max: u32,
    /// Processes that run while the backlog cannot be read, between `min` and `max`. `None`: the
    /// midpoint.
    #[serde(default)]
    pub fallback: Option<u32>,
    /// Number of messages per process at which another process starts; queued messages and those in
    /// progress are counted. It must exceed the number of messages that one process may have in
    /// progress. `None`: twice that number, and at least 32.
    #[serde(default)]
    pub lag_threshold: Option<usize>,
    pub cpu: String,
    pub memory: String,
    pub memory_limit: String,
}

/// Services that the fleet connects to, inside or outside the cluster.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    pub postgres: Peer,
    pub redis: Peer,
    /// The collector of spans (OTLP). `None`: no spans are exported, or they go to a public
    /// service.
    #[serde(default)]
    pub collector: Option<Peer>,
    /// Servers of hosted models that the fleet reaches on a private network, not over the internet.
    #[serde(default)]
    pub models: Option<Peer>,
    /// Namespaces of the ingress controller, of the monitoring that reads metrics, and of KEDA.
    pub ingress_controller: String,
    pub monitoring: String,
    pub keda: String,
}

/// A service: either addresses outside the cluster (`cidr`), or the pods of a `namespace`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    #[serde(default)]
    pub cidr: Option<String>,
    #[serde(default)]
    pub namespace: Option<String>,
    pub port: u16,
}

/// One casino of the fleet. `number` and `tier` repeat the casino's document, so that `seven deploy
/// values` can find a mismatch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CasinoValues {
    pub casino_id: CasinoId,
    pub number: PhoneE164,
    pub tier: RateLimitTier,
    /// Workers that the casino has to itself, by the names that `seven run` takes. Empty: only the
    /// fleet's workers serve the casino.
    #[serde(default)]
    pub own_workers: Vec<String>,
    /// Maximum number of processes of each of the casino's own workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Secrets that replace the fleet's in the casino's own workers, such as a separate database
    /// login.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, SecretRef>,
}

impl FleetValues {
    /// Returns the size of a worker; `check` made sure that the worker has an entry.
    pub fn size(&self, worker: Worker) -> &Size {
        let size = match worker {
            Worker::Console => self.console.as_ref().map(|console| &console.size),
            Worker::WebGateway => self.web.as_ref().map(|web| &web.size),
            _ => self.workers.get(worker.name()),
        };
        size.unwrap_or(&self.own_workers)
    }
}

impl CasinoValues {
    pub fn owns(&self, worker: Worker) -> bool {
        self.own_workers.iter().any(|name| name == worker.name())
    }
}

impl Size {
    /// Returns the number of processes that run while the backlog is unknown.
    pub fn fallback(&self) -> u32 {
        self.fallback
            .unwrap_or_else(|| self.min.midpoint(self.max).max(self.min))
    }
}
