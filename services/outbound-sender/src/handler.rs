//! One queued text: wait out its delay and its pace, look, send, record.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use seven_bus::{Delivery, Handler, Outcome, events::OutboundReady};
use seven_compliance::jurisdiction::State;
use seven_domain::{CasinoConfig, CasinoId, GuestHash, MessageClass, OutboundId, PhoneE164, Stage};
use seven_runtime::{Error, Fleet, outcome_of};
use seven_store::{
    connections::Lent,
    last_look::{Claim, Look, Refusal},
    outbound::{Found, Pending},
    providers::Stop,
};
use seven_telemetry::trace;
use tokio::time::sleep;

use crate::{
    attempt::Ended,
    carriers::Carrier,
    numbers::Registry,
    pace::{Limits, Lines},
    together::Together,
};

/// Waits up to this are held here with progress acknowledgements; longer ones are due rows (D13).
pub(crate) const LONGEST_HELD: Duration = Duration::from_secs(8);

pub struct Sender {
    pub(crate) fleet: Fleet,
    /// In the fleet's order.
    pub(crate) carriers: Vec<Carrier>,
    pub(crate) registry: Registry,
    pub(crate) limits: Limits,
    pub(crate) lines: Lines,
    pub(crate) reads: Together<OutboundId, Option<Found>>,
    pub(crate) looks: Together<Look, Result<Claim, Refusal>>,
    pub(crate) ends: Together<Arc<Ended>, Result<(), Error>>,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("carriers", &self.carriers).finish_non_exhaustive()
    }
}

/// A queued text with what is known about it before the look.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) casino: CasinoId,
    pub(crate) config: Arc<CasinoConfig>,
    pub(crate) outbound_id: OutboundId,
    pub(crate) class: MessageClass,
    pub(crate) segments: u32,
    pub(crate) guest: GuestHash,
    pub(crate) phone: PhoneE164,
    pub(crate) zone: Option<Tz>,
    pub(crate) state: Option<State>,
    pub(crate) tries: u32,
    /// When the text that this answers reached us; how long the answer was put off so that it reads like a person's.
    pub(crate) answers_at: Option<DateTime<Utc>>,
    pub(crate) delay: Duration,
    /// Made by a turn, which waited out the quiet window first.
    pub(crate) of_turn: bool,
    /// The number the guest writes to.
    pub(crate) number: PhoneE164,
    /// Providers that may not be called, as known when the text was taken; the last look decides.
    pub(crate) stops: Vec<Stop>,
}

impl Handler for Sender {
    type Event = OutboundReady;
    const STAGE: Stage = Stage::Sender;

    async fn handle(&self, delivery: Delivery<OutboundReady>) -> Outcome {
        match self.process(&delivery).await {
            Ok(outcome) => outcome,
            Err(error) => outcome_of(&error, delivery.tries),
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.store.ready().await
    }
}

impl Sender {
    async fn process(&self, delivery: &Delivery<OutboundReady>) -> Result<Outcome, Error> {
        let outbound_id: OutboundId = seven_bus::id(&delivery.event.outbound_id)?;
        let casino = &delivery.casino;
        let found =
            self.reads.ask(casino, outbound_id, || self.lend(), |lent, texts| self.read(lent, casino, texts)).await?;
        let Some(Found { pending, config, stops }) = found.filter(|found| found.pending.state == "queued") else {
            trace::ended("done", true);
            return Ok(Outcome::Done);
        };
        trace::adopt(&pending.trace);
        let wait = Duration::try_from_secs_f64(pending.wait).unwrap_or_default();
        if wait > LONGEST_HELD {
            let mut tx = self.fleet.store.bind_repeatable(casino).await?;
            tx.put_due("send", outbound_id.0, wait).await?;
            tx.commit().await?;
            trace::set("seven.put_off_ms", wait.as_millis() as i64);
            return Ok(Outcome::Done);
        }
        let mut job = Job::new(&delivery.casino, config, outbound_id, &pending, stops)?;
        trace::tell("seven.message_class", &job.class);
        if trace::on() {
            trace::set("seven.guest_phone_hash", job.guest.tag());
        }
        let hold = trace::step("seven.node.hold", "");
        if wait.is_zero() {
            hold.forget();
        }
        if !self.held(wait).await {
            return Ok(Outcome::Wait { after: wait, why: "shutting_down" });
        }
        let pace = trace::step("seven.node.pace", "");
        if let Some(after) = self.paced(&job).await {
            pace.forget();
            return Ok(Outcome::Wait { after, why: "pace" });
        }
        drop(pace);
        self.check_number(&job).await?;
        self.look_and_send(&mut job).await
    }

    /// What is known of texts before their look.
    pub(crate) async fn lend(&self) -> Result<Lent, Error> {
        Ok(self.fleet.store.lend().await?)
    }

    async fn read(&self, lent: Lent, casino: &CasinoId, texts: Vec<OutboundId>) -> Result<Vec<Option<Found>>, Error> {
        let mut tx = self.fleet.store.bind_repeatable_on(lent, casino).await?;
        let found = tx.pending_here(&texts).await?;
        drop(tx.commit_meanwhile());
        // A text may be asked about twice: signals are repeated.
        Ok(texts.iter().map(|text| found.get(text).cloned()).collect())
    }

    /// Sleeps, unless the fleet stops first.
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

impl Job {
    fn new(
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
            class: pending.class.parse()?,
            segments: u32::try_from(pending.segments).unwrap_or(1),
            guest: GuestHash { key_id: pending.key_id, bytes },
            phone: pending.phone.parse()?,
            zone: pending.zone.as_deref().and_then(|zone| zone.parse().ok()),
            state: pending.guest_state.as_deref().and_then(|state| state.parse().ok()),
            tries: u32::try_from(pending.tries).unwrap_or(0),
            answers_at: pending.answers_at,
            delay: Duration::try_from_secs_f64(pending.delay).unwrap_or_default(),
            of_turn: pending.of_turn,
            number: pending.casino_number.parse()?,
            stops,
        })
    }

    /// Nothing goes to this provider: it refuses the account.
    pub(crate) fn stopped(&self, provider: &str) -> bool {
        self.stops.iter().any(|stop| !stop.is_park() && stop.provider == provider)
    }

    /// The casino may not send now: nothing at the provider whose limit is reached, and only safety texts at another.
    pub(crate) fn parked(&self, provider: &str) -> bool {
        let mut parks = self.stops.iter().filter(|stop| stop.is_park());
        parks.any(|stop| !self.class.is_safety() || stop.provider == provider)
    }
}
