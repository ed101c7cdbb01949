//! Values that an operator sets for a fleet and for each casino: one file per fleet, one small file
//! per casino (DEP-39, DEP-43). Unknown keys are refused; every problem names its file, its key and
//! the value expected.

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
    Parse { file: PathBuf, source: serde_yaml_ng::Error },
    #[error("{0} holds no *.yaml file; `seven deploy values CASINO` writes one")]
    NoCasino(PathBuf),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Bad(Vec<Problem>),
}

/// One thing that is wrong, and what would be right.
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
    /// In the order of their ids.
    pub casinos: Vec<CasinoValues>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetValues {
    /// A label of everything that is rendered, such as `production`.
    pub environment: String,
    pub namespace: String,
    /// By digest: `registry/seven@sha256:...`.
    pub image: String,
    pub public: Public,
    pub nats: Nats,
    /// Where each secret setting comes from: by reference, never the value (SEC-130).
    pub secrets: BTreeMap<String, SecretRef>,
    /// Other settings of the fleet, as in `settings.default.toml`; no secrets.
    #[serde(default)]
    pub settings: toml::Table,
    pub scaling: Scaling,
    /// By the names `seven run` takes; every worker has an entry.
    pub workers: BTreeMap<String, Size>,
    /// Processes per own worker of a casino, where its own file says nothing else.
    pub own_workers: Size,
    pub network: Network,
    /// None: somebody else calls `seven backup` once a day.
    #[serde(default)]
    pub backup: Option<Backup>,
}

/// A backup a day onto a volume (DEP-31).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    /// With `pg_dump` in it: target `backup` of deploy/Dockerfile, by digest.
    pub image: String,
    /// In cron's words, by UTC.
    pub schedule: String,
    pub storage: String,
    #[serde(default)]
    pub storage_class: Option<String>,
}

/// How webhooks reach the fleet (DEP-1, DEP-2).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Public {
    /// The fleet's host; a casino's is `<slug>.<domain>`.
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
    /// 1 or 3: servers, and copies of every stream.
    pub replicas: u32,
    pub storage: String,
    #[serde(default)]
    pub storage_class: Option<String>,
    /// A Kubernetes secret with `tls.crt`, `tls.key` and `ca.crt`, as cert-manager writes it.
    pub tls_secret: String,
    pub cpu: String,
    pub memory: String,
}

/// A key of a Kubernetes secret.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    pub name: String,
    pub key: String,
}

/// How KEDA reads the backlog.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// Seconds between two readings.
    pub polling_interval: u32,
    /// Seconds a smaller backlog must last before processes end.
    pub scale_down_after: u32,
    /// Readings that may fail before `fallback` processes run.
    pub failures_before_fallback: u32,
}

/// How many processes of a worker, and how large.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    pub min: u32,
    pub max: u32,
    /// Processes while the backlog cannot be read; between min and max. None: half way.
    #[serde(default)]
    pub fallback: Option<u32>,
    /// Messages waiting or in work that one process is worth; more than one process has in work. None: twice as many, and 32 at least.
    #[serde(default)]
    pub lag_threshold: Option<usize>,
    pub cpu: String,
    pub memory: String,
    pub memory_limit: String,
}

/// Peers of the fleet, in the cluster or beside it (DEP-16).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    pub postgres: Peer,
    pub redis: Peer,
    /// Takes spans (OTLP); None: none are exported, or a public service takes them.
    #[serde(default)]
    pub collector: Option<Peer>,
    /// Models that are not reached over the internet.
    #[serde(default)]
    pub models: Option<Peer>,
    /// The namespaces of what calls the webhook, what reads metrics, and KEDA.
    pub ingress_controller: String,
    pub monitoring: String,
    pub keda: String,
}

/// Either addresses outside the cluster or pods of a namespace.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    #[serde(default)]
    pub cidr: Option<String>,
    #[serde(default)]
    pub namespace: Option<String>,
    pub port: u16,
}

/// One casino of the fleet. `number` and `tier` repeat its document, so that a mistake shows here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CasinoValues {
    pub casino_id: CasinoId,
    pub number: PhoneE164,
    pub tier: RateLimitTier,
    /// Workers it has for itself, by the names `seven run` takes. Empty: the fleet's alone serve it.
    #[serde(default)]
    pub own_workers: Vec<String>,
    /// Most processes of each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Secrets its own workers use in place of the fleet's, such as a login of its own (DEP-14, DEP-40).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, SecretRef>,
}

impl FleetValues {
    /// The size of a worker; `check` made sure that there is one.
    pub fn size(&self, worker: Worker) -> &Size {
        self.workers.get(worker.name()).unwrap_or(&self.own_workers)
    }
}

impl CasinoValues {
    pub fn owns(&self, worker: Worker) -> bool {
        self.own_workers.iter().any(|name| name == worker.name())
    }
}

impl Size {
    /// Processes while nobody knows the backlog.
    pub fn fallback(&self) -> u32 {
        self.fallback.unwrap_or_else(|| self.min.midpoint(self.max).max(self.min))
    }
}
