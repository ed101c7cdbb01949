//! Stops, and the texts that wait until a stop ends. A stop forbids calls of a provider, for the
//! whole fleet or for one casino. A park is a stop because of a casino's spend limit. Stops are
//! rows in Postgres, so every process knows them, even after a restart.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, OutboundId, OutboundState, text_enum};
use sqlx::FromRow;

use crate::{Result, Store, Tx, due::DueKind};

/// Error code of a stop that a person set.
pub const OPERATOR: &str = "operator";

/// One stop or park.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, serde::Serialize, serde::Deserialize)]
pub struct Stop {
    pub provider: String,
    /// The casino concerned; empty for every casino.
    pub casino_id: String,
    pub error_code: String,
    pub since: DateTime<Utc>,
    pub until: Option<DateTime<Utc>>,
    /// True if the provider refused our account, or this casino's sender if the stop concerns one
    /// casino. The provider is then probed until it accepts us again.
    pub probed: bool,
    pub actor: String,
}

impl Stop {
    /// Returns whether the stop is a park: it was set because of the casino's spend limit.
    pub fn is_park(&self) -> bool {
        !self.casino_id.is_empty() && !self.probed
    }
}

/// A stop to record.
#[derive(Debug, Clone, Copy)]
pub struct NewStop<'a> {
    pub provider: &'a str,
    /// The casino concerned; `None` for every casino.
    pub casino: Option<&'a CasinoId>,
    pub error_code: &'a str,
    /// Time after which the stop ends by itself.
    pub lasts: Option<Duration>,
    /// Time after which the provider may be probed; `None` for a stop that only its expiry or an
    /// operator lifts.
    pub probe_after: Option<Duration>,
    pub actor: &'a str,
}

text_enum! {
    /// Why a queued text is held until its due row or [`Store::wake_held`] wakes it.
    HoldReason {
        ProviderStopped => "provider_stopped",
        Parked => "sending_parked",
        /// No provider of the casino answers.
        ProvidersDown => "providers_down",
        /// None of the providers that are set up has a number of the casino.
        NoProvider => "no_provider",
        Paused => "paused",
        Killed => "killed",
        /// The guest has not answered yet whether they want no more texts (D20).
        OptOutAsked => "opt_out_asked",
        /// A person has to release the reply (AGENT-15).
        AwaitsReview => "awaits_review",
    }
}

/// Result of holding a text that cannot go to any provider now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Waiting,
    /// The text's `useful_until` time is over: the text ended as `expired`, with the reason for
    /// which it waited.
    Lapsed,
    /// The text is not queued any more.
    Gone,
}

impl Store {
    /// Records a stop. The new stop replaces a stop of the same provider and casino, but keeps its
    /// start. If the provider refuses the account during a park, the park also keeps its end. Only
    /// another operator's stop replaces an operator's stop. Returns true if no stop existed, or if
    /// an operator's stop replaced a stop that no operator set.
    pub async fn stop_provider(&self, stop: &NewStop<'_>) -> Result<bool> {
        let new: Option<bool> = sqlx::query_scalar(include_str!("../sql/stop_provider.sql"))
            .bind(stop.provider)
            .bind(stop.casino.map_or("", CasinoId::as_str))
            .bind(stop.error_code)
            .bind(stop.lasts.map(|d| d.as_secs_f64()))
            .bind(stop.probe_after.map(|d| d.as_secs_f64()))
            .bind(stop.actor)
            .bind(OPERATOR)
            .fetch_optional(&mut *self.fleet().await?)
            .await?;
        Ok(new.unwrap_or(false))
    }

    /// Returns every stop and park, oldest first.
    pub async fn provider_stops(&self) -> Result<Vec<Stop>> {
        Ok(
            sqlx::query_as("select provider, casino_id, error_code, since, until, probe_at is not null as probed, actor from provider_stops order by since")
                .fetch_all(&mut *self.fleet().await?)
                .await?,
        )
    }

    /// Lifts stops and returns them. A `provider` of `None` means every provider; a `casino` of
    /// `None` means the stops of the whole fleet.
    pub async fn lift_stops(
        &self,
        provider: Option<&str>,
        casino: Option<&CasinoId>,
    ) -> Result<Vec<Stop>> {
        Ok(sqlx::query_as(
            "delete from provider_stops where ($1::text is null or provider = $1) and casino_id = $2
             returning provider, casino_id, error_code, since, until, probe_at is not null as probed, actor",
        )
        .bind(provider)
        .bind(casino.map_or("", CasinoId::as_str))
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }

    /// Lifts this stop. Returns false if it has ended or was replaced by another one.
    pub async fn lift_stop(&self, stop: &Stop) -> Result<bool> {
        let lifted = sqlx::query(
            "delete from provider_stops where provider = $1 and casino_id = $2 and error_code = $3",
        )
        .bind(&stop.provider)
        .bind(&stop.casino_id)
        .bind(&stop.error_code)
        .execute(&mut *self.fleet().await?)
        .await?;
        Ok(lifted.rows_affected() == 1)
    }

    /// Deletes and returns the stops that have expired.
    pub async fn ended_stops(&self) -> Result<Vec<Stop>> {
        Ok(
            sqlx::query_as("delete from provider_stops where until <= now() returning provider, casino_id, error_code, since, until, probe_at is not null as probed, actor")
                .fetch_all(&mut *self.fleet().await?)
                .await?,
        )
    }

    /// Claims stops that are due for a probe, so that within `every` no other process probes them.
    /// With `own`, claims the stops of this casino. With `None`, claims the stops of the whole
    /// fleet, and those of casinos whose probe is ten minutes overdue.
    pub async fn claim_probes(&self, every: Duration, own: Option<&CasinoId>) -> Result<Vec<Stop>> {
        Ok(sqlx::query_as(
            "update provider_stops set probe_at = now() + make_interval(secs => $1)
             where (provider, casino_id) in (select provider, casino_id from provider_stops
               where probe_at <= now() and case when $2::text is null then casino_id = '' or probe_at <= now() - interval '10 minutes'
                                           else casino_id = $2 end
               for update skip locked)
             returning provider, casino_id, error_code, since, until, probe_at is not null as probed, actor",
        )
        .bind(every.as_secs_f64())
        .bind(own.map(CasinoId::as_str))
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }

    /// Makes the held texts of one casino, or of all casinos, due now. Each guest still gets texts
    /// in order: the pre-send check makes a later text wait for an earlier one.
    pub async fn wake_held(&self, casino: Option<&CasinoId>) -> Result<u64> {
        let done = sqlx::query(
            "update due set due_at = now(), claimed_until = null where kind = $1 and ($2::text is null or casino_id = $2) and due_at > now()",
        )
        .bind(DueKind::Held)
        .bind(casino.map(CasinoId::as_str))
        .execute(&mut *self.fleet().await?)
        .await?;
        Ok(done.rows_affected())
    }
}

impl Tx {
    /// Returns the stops that concern the bound casino: the fleet's and its own.
    pub async fn stops(&mut self) -> Result<Vec<Stop>> {
        let casino = self.casino_str();
        let stops = "select provider, casino_id, error_code, since, until, probe_at is not null as probed, actor
             from provider_stops where casino_id in ('', $1) and (until is null or until > now())";
        Ok(sqlx::query_as(stops)
            .bind(casino)
            .fetch_all(self.conn())
            .await?)
    }

    /// Holds a queued text that cannot be sent now; a due row wakes it after `poll`. Expires the
    /// text if its `useful_until` time is over.
    pub async fn hold(
        &mut self,
        outbound: OutboundId,
        reason: HoldReason,
        poll: Duration,
    ) -> Result<Held> {
        let row: Option<(bool, f64)> = sqlx::query_as(
            "select useful_until <= now(), greatest(0, extract(epoch from useful_until - now()))::float8
             from outbound_messages where outbound_id = $1 and state = 'queued' for update",
        )
        .bind(outbound.0)
        .fetch_optional(self.conn())
        .await?;
        match row {
            None => Ok(Held::Gone),
            Some((true, _)) => {
                self.end_queued(outbound, OutboundState::Expired, reason.as_str())
                    .await?;
                self.cancel_later_parts(outbound, reason.as_str()).await?;
                self.end_held_text(outbound).await?;
                Ok(Held::Lapsed)
            }
            Some((false, useful)) => {
                let useful = Duration::try_from_secs_f64(useful).unwrap_or_default();
                let after = poll.min(useful);
                // The due row wakes the text, so the next sweep need not come before that. A sweep
                // that is planned for later stays where it is.
                let waits = "update outbound_messages set reason = $2, next_sweep_at = greatest(next_sweep_at, now() + make_interval(secs => $3))
                   where outbound_id = $1";
                sqlx::query(waits)
                    .bind(outbound.0)
                    .bind(reason)
                    .bind(after.as_secs_f64() + self.sweep_base())
                    .execute(self.conn())
                    .await?;
                self.put_due(DueKind::Held, outbound.0, after).await?;
                Ok(Held::Waiting)
            }
        }
    }

    /// Expires a text whose `useful_until` time is over. Returns the reason for which the text was
    /// held. Returns `expired` if the text was not held, or was held as
    /// [`HoldReason::OptOutAsked`].
    pub async fn lapse(&mut self, outbound: OutboundId) -> Result<&'static str> {
        let reason: Option<String> = sqlx::query_scalar(
            "select reason from outbound_messages where outbound_id = $1 and state = 'queued'",
        )
        .bind(outbound.0)
        .fetch_optional(self.conn())
        .await?
        .flatten();
        let waited = reason.and_then(|reason| reason.parse().ok());
        let reason = waited
            .filter(|reason| *reason != HoldReason::OptOutAsked)
            .map_or("expired", HoldReason::as_str);
        self.end_queued(outbound, OutboundState::Expired, reason)
            .await?;
        self.cancel_later_parts(outbound, reason).await?;
        self.end_held_text(outbound).await?;
        Ok(reason)
    }
}
