//! The handles that every worker holds (store, bus, cache, roster, packs, clock, keys). Also the
//! fleet's intervals, and the mapping of errors to outcomes. Independent of any stage.

pub mod counted;
mod error;
mod heartbeat;
pub mod own_cases;
mod proxies;
mod timing;
pub mod web;

use seven_bus::{Bus, Outgoing, Roster};
use seven_cache::Cache;
use seven_compliance::Keyword;
use seven_domain::{CasinoId, Clock, HashKeys, IdSource};
use seven_packs::Packs;
use seven_store::{Store, consent::method, outbound::Queued, spool::Spooled, suppressions::Word};
use tokio_util::sync::CancellationToken;

pub use error::{Error, outcome_of};
pub use heartbeat::beat;
pub use proxies::Proxies;
pub use timing::Timing;

/// Returns how a STOP or START was requested. Ingress and gate both use this, so that they store
/// the same method. `provider_reacted` is true if the webhook says that the provider blocked or
/// unblocked the number.
pub fn word_of(
    keyword: &Keyword,
    provider: &str,
    text: &str,
    provider_reacted: bool,
) -> Word<'static> {
    let method = match keyword.intent {
        _ if keyword.pattern_id.contains(".nl.") => method::NATURAL_LANGUAGE,
        seven_compliance::Intent::OptIn => method::START_KEYWORD,
        _ => method::STOP_KEYWORD,
    };
    Word {
        method,
        provider_knows: provider_reacted || seven_compliance::provider::reacts(provider, text),
    }
}

/// The resources that all parts of a worker share; one per process, cheap to clone.
#[derive(Debug, Clone)]
pub struct Fleet {
    pub store: Store,
    pub bus: Bus,
    pub cache: Cache,
    pub roster: Roster,
    pub packs: Packs,
    pub clock: Clock,
    pub ids: IdSource,
    pub timing: Timing,
    pub keys: HashKeys,
    pub shutdown: CancellationToken,
}

/// Returns the maximum number of concurrent tasks that wait only for the database. It is four per
/// connection, or one per connection if the worker serves certain casinos only (`own`). More tasks
/// would delay other casinos' guests (docs/performance.md).
pub fn database_work(connections: usize, own: bool) -> usize {
    let each = if own { 1 } else { 4 };
    each * connections
}

impl Fleet {
    /// Signals queued texts to the sender. `copy` makes a repeated signal differ, so that NATS does
    /// not drop it as a duplicate.
    pub async fn signal_queued(
        &self,
        casino: &CasinoId,
        queued: &[Queued],
        copy: Option<&str>,
        trace: &str,
    ) -> Result<(), Error> {
        for text in queued {
            self.bus
                .signal_outbound(
                    casino,
                    text.outbound_id.0,
                    text.queue,
                    copy.map(str::to_owned),
                    trace,
                )
                .await?;
        }
        Ok(())
    }

    /// Converts a message into a row of the spool. The spool keeps messages while the bus does not
    /// accept them (D2).
    pub fn spooled(&self, message: &Outgoing<'_>) -> Spooled {
        Spooled {
            spool_id: self.ids.uuid(),
            subject: message.subject.clone(),
            message_key: message.key.to_owned(),
            headers: serde_json::json!({ "traceparent": message.trace }),
            payload: message.payload.to_vec(),
        }
    }

    /// Like [`database_work`], for this process's connections and casinos.
    pub fn database_work(&self) -> usize {
        database_work(
            self.store.most_connections(),
            !self.roster.only().is_empty(),
        )
    }

    /// Returns whether both services that every stage needs are ready: the store and the bus.
    pub async fn ready(&self) -> bool {
        self.store.ready().await && self.bus.ready().await
    }
}
