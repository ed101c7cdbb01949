//! Resources that every worker holds: handles on store, bus and cache, the roster, the packs, the
//! clock, the scale and the guest-hash keys; and how a failure becomes an outcome. Knows no stage.

pub mod counted;
mod error;
mod heartbeat;
mod timing;

use seven_bus::{Bus, Roster};
use seven_cache::Cache;
use seven_compliance::Keyword;
use seven_domain::{CasinoId, Clock, HashKeys, IdSource};
use seven_packs::Packs;
use seven_store::{Store, consent::method, outbound::Queued, suppressions::Word};
use tokio_util::sync::CancellationToken;

pub use error::{Error, outcome_of};
pub use heartbeat::beat;
pub use timing::Timing;

/// How a command was said, for the suppression and the consent chain (C-17): ingress and gate must write the same.
///
/// `provider_reacted`: the provider's webhook says that it blocked or unblocked the number, whatever its default list holds.
pub fn word_of(keyword: &Keyword, provider: &str, text: &str, provider_reacted: bool) -> Word<'static> {
    let method = match keyword.intent {
        _ if keyword.pattern_id.contains(".nl.") => method::NATURAL_LANGUAGE,
        seven_compliance::Intent::OptIn => method::START_KEYWORD,
        _ => method::STOP_KEYWORD,
    };
    Word { method, provider_knows: provider_reacted || seven_compliance::provider::reacts(provider, text) }
}

/// One per process, cloned freely.
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

/// So much at once of what waits for nothing but the database: four for each connection, one in a casino's own worker, whose flood has
/// replicas. More would only stand in line, in the end before NATS, where other casinos' guests stand too (docs/performance.md).
pub fn database_work(connections: usize, own: bool) -> usize {
    let each = if own { 1 } else { 4 };
    each * connections
}

impl Fleet {
    /// Tells the sender about queued texts. `copy` lets a repeated signal pass the duplicate window.
    pub async fn signal_queued(
        &self,
        casino: &CasinoId,
        queued: &[Queued],
        copy: Option<&str>,
        trace: &str,
    ) -> Result<(), Error> {
        for text in queued {
            self.bus.signal_outbound(casino, text.outbound_id.0, text.lane, copy.map(str::to_owned), trace).await?;
        }
        Ok(())
    }

    /// So much at once of what waits for nothing but the database.
    pub fn database_work(&self) -> usize {
        database_work(self.store.most_connections(), !self.roster.only().is_empty())
    }

    /// Both stores that a stage cannot work without.
    pub async fn ready(&self) -> bool {
        self.store.ready().await && self.bus.ready().await
    }
}
