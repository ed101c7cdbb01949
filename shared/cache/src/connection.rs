//! The connection to Redis: lazy, multiplexed, and unused for one second after a failure.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{
    Client, FromRedisValue, RedisError,
    aio::{ConnectionManager, ConnectionManagerConfig},
};
use seven_domain::Clock;
use seven_telemetry::metrics;
use tokio::sync::OnceCell;

use crate::{Error, local::LocalLimits};

#[derive(Debug, Clone)]
pub struct Settings {
    pub url: String,
    /// Prefix of all keys, so that tests and fleets can share a server.
    pub prefix: String,
    /// Number of processes that may send at the same time. While Redis is unreachable, each process
    /// uses one `senders`th of every limit.
    pub senders: u32,
}

/// A handle on Redis; cheap to clone.
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    prefix: String,
    clock: Clock,
    manager: OnceCell<ConnectionManager>,
    /// Unix milliseconds until which Redis is not called.
    resting_until: AtomicU64,
    pub(crate) local: LocalLimits,
    /// Names of the breakers that this process uses.
    breakers: Mutex<BTreeSet<Arc<str>>>,
}

const RECONNECT_DELAY: Duration = Duration::from_secs(1);
const COMMAND_TIMEOUT: Duration = Duration::from_millis(150);

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("prefix", &self.inner.prefix)
            .finish_non_exhaustive()
    }
}

impl Cache {
    /// Creates a handle without connecting, so that a worker can start while Redis is unreachable.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, Error> {
        let inner = Inner {
            client: Client::open(settings.url.as_str())?,
            prefix: settings.prefix.clone(),
            clock,
            manager: OnceCell::new(),
            resting_until: AtomicU64::new(0),
            local: LocalLimits::new(settings.senders),
            breakers: Mutex::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    pub(crate) fn key(&self, kind: &str, casino: &str, rest: &str) -> String {
        format!("{}{kind}:{casino}:{rest}", self.inner.prefix)
    }

    pub(crate) fn local(&self) -> &LocalLimits {
        &self.inner.local
    }

    /// Returns the names of the breakers that this process uses.
    pub(crate) fn breaker_names(&self) -> std::sync::MutexGuard<'_, BTreeSet<Arc<str>>> {
        self.inner
            .breakers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether Redis answers within the deadline of an ordinary call.
    pub async fn ready(&self) -> bool {
        self.ask::<String>("ready", &redis::cmd("PING"))
            .await
            .is_some()
    }

    pub(crate) fn now_millis(&self) -> u64 {
        u64::try_from(self.inner.clock.now().timestamp_millis()).unwrap_or_default()
    }

    /// Runs one command within the deadline. Returns `None` if Redis is unreachable or too slow, or
    /// failed less than a second ago. `what` is a label of the fallback metric.
    pub(crate) async fn ask<T: FromRedisValue>(
        &self,
        what: &str,
        command: &redis::Cmd,
    ) -> Option<T> {
        let run = async {
            let mut manager = self.manager().await?.clone();
            command.query_async(&mut manager).await
        };
        self.guarded(what, run).await
    }

    /// Runs one script within the deadline.
    pub(crate) async fn invoke<T: FromRedisValue>(
        &self,
        what: &str,
        script: &redis::ScriptInvocation<'_>,
    ) -> Option<T> {
        let run = async {
            let mut manager = self.manager().await?.clone();
            script.invoke_async(&mut manager).await
        };
        self.guarded(what, run).await
    }

    async fn guarded<T>(
        &self,
        what: &str,
        run: impl Future<Output = Result<T, RedisError>>,
    ) -> Option<T> {
        if self.now_millis() < self.inner.resting_until.load(Ordering::Relaxed) {
            metrics().cache_fallbacks.with_label_values(&[what]).inc();
            return None;
        }
        let failure = match tokio::time::timeout(COMMAND_TIMEOUT, run).await {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::warn!(
            what,
            error = failure,
            "Redis is unreachable; limits are counted locally"
        );
        metrics().cache_fallbacks.with_label_values(&[what]).inc();
        let rest = u64::try_from(RECONNECT_DELAY.as_millis()).unwrap_or(1_000);
        self.inner
            .resting_until
            .store(self.now_millis() + rest, Ordering::Relaxed);
        None
    }

    async fn manager(&self) -> Result<&ConnectionManager, RedisError> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(Duration::from_millis(150)))
            .set_response_timeout(Some(Duration::from_millis(150)))
            .set_number_of_retries(1);
        self.inner
            .manager
            .get_or_try_init(|| self.inner.client.get_connection_manager_with_config(config))
            .await
    }
}
