//! Types that pass between the stages of the sender.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use seven_compliance::jurisdiction::State;
use seven_domain::{
    AttemptId, AuditEvent, CasinoConfig, CasinoId, Channel, GuestHash, MessageClass, OutboundId,
    PhoneE164,
};
use seven_providers::Provider;
use seven_runtime::{Error, Fleet};
use seven_store::{
    audit::Entry,
    connections::Lent,
    outbound::{AttemptEnd, Next, Pending, PendingSend},
    presend_check::{Claim, PresendCheck, Refusal},
    providers::Stop,
};
use tokio::time::sleep;

use crate::{batch::Batcher, carrier::Carrier, line::Lines, registry::Registry};

/// Maximum time that a text waits inside the worker. For a longer wait, a due row is written
/// instead (D13).
pub(crate) const MAX_HELD_WAIT: Duration = Duration::from_secs(8);

pub struct Sender {
    pub(crate) fleet: Fleet,
    /// The providers that may be called, in the fleet's order.
    pub(crate) carriers: Vec<Carrier>,
    pub(crate) registry: Registry,
    pub(crate) limits: Limits,
    pub(crate) lines: Lines,
    pub(crate) reads: Batcher<OutboundId, Option<PendingSend>>,
    pub(crate) checks: Batcher<PresendCheck, Result<Claim, Refusal>>,
    pub(crate) ends: Batcher<Arc<Ended>, Result<(), Error>>,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender")
            .field("carriers", &self.carriers)
            .finish_non_exhaustive()
    }
}

/// A queued text with everything known about it before the pre-send check.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) casino: CasinoId,
    pub(crate) config: Arc<CasinoConfig>,
    pub(crate) outbound_id: OutboundId,
    pub(crate) class: MessageClass,
    pub(crate) segments: u32,
    pub(crate) guest: GuestHash,
    /// The guest's phone; `None` for a guest of the website.
    pub(crate) phone: Option<PhoneE164>,
    /// The casino's number to which the guest writes; `None` for a guest of the website.
    pub(crate) number: Option<PhoneE164>,
    pub(crate) zone: Option<Tz>,
    pub(crate) state: Option<State>,
    pub(crate) tries: u32,
    /// When we received the guest's text that this text answers; `None` if this text answers none.
    pub(crate) answers_at: Option<DateTime<Utc>>,
    /// The delay that was added on purpose, so that the answer seems to be typed by a person.
    pub(crate) delay: Duration,
    /// Whether a turn made this text; a turn begins only after the quiet window.
    pub(crate) of_turn: bool,
    /// The stops in force when the text was taken up. Providers that they stop are skipped; the
    /// pre-send check has the final decision.
    pub(crate) stops: Vec<Stop>,
}

impl Job {
    pub(crate) fn new(
        casino: &CasinoId,
        config: Arc<CasinoConfig>,
        outbound_id: OutboundId,
        pending: &Pending,
        stops: Vec<Stop>,
    ) -> Result<Self, Error> {
        let bytes = pending
            .phone_hash
            .as_slice()
            .try_into()
            .map_err(|_| Error::Other("a guest hash is not 32 bytes".into()))?;
        Ok(Self {
            casino: casino.clone(),
            config,
            outbound_id,
            class: pending.class,
            segments: u32::try_from(pending.segments).unwrap_or(1),
            guest: GuestHash {
                key_id: pending.key_id,
                bytes,
            },
            phone: pending.phone.as_deref().map(str::parse).transpose()?,
            number: match pending.channel {
                Channel::Sms => Some(pending.casino_number.parse()?),
                Channel::Web => None,
            },
            zone: pending.zone.as_deref().and_then(|zone| zone.parse().ok()),
            state: pending
                .guest_state
                .as_deref()
                .and_then(|state| state.parse().ok()),
            tries: u32::try_from(pending.tries).unwrap_or(0),
            answers_at: pending.answers_at,
            delay: Duration::try_from_secs_f64(pending.delay).unwrap_or_default(),
            of_turn: pending.of_turn,
            stops,
        })
    }

    /// Returns the guest's phone; an error for a guest of the website, who has none.
    pub(crate) fn phone(&self) -> Result<&PhoneE164, Error> {
        let phone = self.phone.as_ref();
        phone.ok_or_else(|| Error::Other("the guest has no phone".into()))
    }

    pub(crate) fn number(&self) -> Result<&PhoneE164, Error> {
        let number = self.number.as_ref();
        number.ok_or_else(|| Error::Other("the conversation has no number".into()))
    }

    /// Returns whether all sending through this provider is stopped, because it refuses the
    /// account.
    pub(crate) fn stopped(&self, provider: &str) -> bool {
        self.stops
            .iter()
            .any(|stop| !stop.is_park() && stop.provider == provider)
    }

    /// Returns whether a spend limit keeps this text from the provider. Once a limit is reached at
    /// one provider, the casino sends nothing through that provider, and only safety texts through
    /// others.
    pub(crate) fn parked(&self, provider: &str) -> bool {
        let mut parks = self.stops.iter().filter(|stop| stop.is_park());
        parks.any(|stop| !self.class.is_safety() || stop.provider == provider)
    }
}

impl Sender {
    /// Makes a sender without its worker loop. It is for callers that control the order of
    /// deliveries themselves, such as the model test.
    pub fn new(fleet: Fleet, providers: Vec<Arc<dyn Provider>>, registry: Registry) -> Self {
        let carriers = providers
            .into_iter()
            .map(|provider| Carrier::new(&fleet, provider))
            .collect();
        let connections = fleet.store.most_connections();
        Self {
            fleet,
            carriers,
            registry,
            limits: Limits::default(),
            lines: Lines::default(),
            reads: Batcher::over(connections),
            checks: Batcher::over(connections),
            ends: Batcher::over(connections),
        }
    }

    /// Returns a connection for a batch of questions about several texts.
    pub(crate) async fn lend(&self) -> Result<Lent, Error> {
        Ok(self.fleet.store.lend().await?)
    }

    /// Sleeps; returns false if the fleet shut down first.
    pub(crate) async fn held(&self, wait: Duration) -> bool {
        if wait.is_zero() {
            return true;
        }
        tokio::select! {
            () = self.fleet.shutdown.cancelled() => false,
            () = sleep(wait) => true,
        }
    }
}

/// Limits that the fleet's operator set.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Maximum number of segments per second of the account at each provider, if it differs from
    /// the provider's default.
    pub account: BTreeMap<String, u32>,
    /// Maximum number of segments per second of the whole fleet; `None` for no limit.
    pub fleet: Option<u32>,
}

/// The end of a call to a provider, to be recorded.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outbound: OutboundId,
    pub(crate) subject: String,
    pub(crate) attempt: AttemptId,
    pub(crate) guest: GuestHash,
    pub(crate) end: AttemptEnd,
    pub(crate) next: Next,
    pub(crate) detail: serde_json::Value,
}

impl Ended {
    /// Returns the entry for the audit log; `None` unless the text was sent or failed.
    pub(crate) fn audit_entry(&self) -> Option<Entry<'_>> {
        let event = match self.next {
            Next::Sent => AuditEvent::SmsOutbound,
            Next::Failed => AuditEvent::SmsDeliveryFailed,
            Next::RetryNow | Next::RetryAfter(_) | Next::InDoubt => return None,
        };
        let entry = Entry::of(event, "outbound-sender", &self.subject, self.detail.clone());
        Some(Entry {
            guest: Some(&self.guest),
            ..entry
        })
    }
}
