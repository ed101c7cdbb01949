//! Handles one draft: adds the disclosure, splits the draft into texts and queues them. Texts for
//! the website are also delivered. A repeated signal queues nothing; it only signals the queued
//! texts again.

use std::time::Duration;

use seven_bus::{Delivery, Handler, Outcome, events::DraftReady};
use seven_domain::{CasinoConfig, GuestHash, MessageClass, Stage, TurnId, TurnState};
use seven_faults::failpoint;
use seven_packs::{Pack, TypingKind};
use seven_runtime::{Error, Fleet, outcome_of};
use seven_sms::{Shaped, measure};
use seven_store::{
    Tx,
    outbound::{NewOutbound, Origin, Queued, Recipient},
    turns::Turn,
};
use seven_telemetry::trace;

use crate::typing::kind_of;

/// If an earlier turn of the conversation is not shaped yet, the signal comes again after this
/// time.
const EARLIER_TURN_DELAY: Duration = Duration::from_millis(50);

/// Time from the moment when a held reply stops being useful to the reply's `not_before`.
const PAST_ITS_USE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Envelope {
    pub fleet: Fleet,
}

impl Handler for Envelope {
    type Event = DraftReady;
    const STAGE: Stage = Stage::Envelope;

    async fn handle(&self, delivery: Delivery<DraftReady>) -> Outcome {
        let turn = match seven_bus::id::<TurnId>(&delivery.event.turn_id) {
            Ok(turn) => turn,
            Err(error) => return outcome_of(&error.into(), 1),
        };
        match self.process(&delivery, turn).await {
            Ok(outcome) => outcome,
            Err(error) => {
                let outcome = outcome_of(&error, self.count(&delivery, turn, &error).await);
                if let Outcome::Park { reason, .. } = &outcome
                    && let Err(error) = self.park(&delivery, turn, reason).await
                {
                    // The turn stays in the state `drafted`, so the sweep signals it again.
                    return outcome_of(&error, 1);
                }
                outcome
            }
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.ready().await
    }
}

impl Envelope {
    async fn process(
        &self,
        delivery: &Delivery<DraftReady>,
        turn_id: TurnId,
    ) -> Result<Outcome, Error> {
        // If a crash of the database loses this commit, the turn is `drafted` again and the sweep
        // signals it.
        let mut tx = self.fleet.store.bind_repeatable(&delivery.casino).await?;
        let Some((turn, casino)) = tx.take_draft(turn_id).await? else {
            return Ok(Outcome::Done);
        };
        trace::adopt(&turn.trace);
        if turn.behind && turn.state == TurnState::Drafted {
            // This transaction is not committed: the texts of the earlier turn have to be queued
            // first.
            return Ok(Outcome::Wait {
                after: EARLIER_TURN_DELAY,
                why: "earlier_turn",
            });
        }
        let (queued, copy) = match turn.state {
            TurnState::Drafted => (self.shape(&mut tx, &casino.config, &turn).await?, None),
            TurnState::Shaped => (
                tx.queued_of(turn_id.0).await?,
                Some(format!(
                    "dup:{}:{}",
                    delivery.stream_seq, delivery.deliveries
                )),
            ),
            // The turn's dead letter may not have reached the bus, so it is announced again.
            TurnState::Parked => return Err(Error::Other("the turn is parked".into())),
            TurnState::Cancelled => (Vec::new(), None),
        };
        let texts = queued.len();
        let (queued, shown_to) = self.show(&mut tx, &turn, queued).await?;
        failpoint!("envelope.before_commit");
        tx.commit().await?;
        failpoint!("envelope.after_commit");
        tracing::info!(
            casino = %delivery.casino,
            turn_id = %turn_id,
            texts,
            left_to_sender = queued.len(),
            trace = turn.trace,
            "answer written"
        );
        if let Some(guest) = shown_to {
            self.fleet.bus.hint(&delivery.casino, &guest.bytes).await;
        }
        self.fleet
            .signal_queued(&delivery.casino, &queued, copy.as_deref(), &turn.trace)
            .await?;
        failpoint!("envelope.after_publish");
        Ok(Outcome::Done)
    }

    /// Delivers the texts at once if the guest is on the website. Returns the texts that the sender
    /// still has to handle. For the website, also returns the guest, whose open streams must get a
    /// hint.
    async fn show(
        &self,
        tx: &mut Tx,
        turn: &Turn,
        queued: Vec<Queued>,
    ) -> Result<(Vec<Queued>, Option<GuestHash>), Error> {
        if !turn.channel.profile().streams || queued.is_empty() {
            return Ok((queued, None));
        }
        let Some(guest) = tx.hash_of(turn.guest_id.into()).await? else {
            return Ok((queued, None));
        };
        let (asked, by) = (turn.newest_text_at, "persona-envelope");
        let left = self
            .fleet
            .show_at_once(tx, &guest, asked, queued, by)
            .await?;
        Ok((left, Some(guest)))
    }

    async fn shape(
        &self,
        tx: &mut Tx,
        config: &CasinoConfig,
        turn: &Turn,
    ) -> Result<Vec<Queued>, Error> {
        let pack = self.fleet.packs.of(config)?;
        let mut span = trace::step("seven.node.persona_envelope", "");
        let profile = turn.channel.profile();
        let composed = pack.disclosed(
            turn.disclosure_kind,
            turn.language,
            config,
            turn.channel,
            &turn.draft,
        );
        let shaped = Shaped::of(
            &composed,
            profile.length.in_segments(),
            pack.rules.max_texts,
        );
        if span.is_recorded() {
            let length =
                |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
            span.set("seven.original_len", composed.chars().count());
            span.set("seven.final_len", length(&shaped.texts));
            span.set(
                "seven.segments",
                shaped
                    .texts
                    .iter()
                    .map(|text| measure(text).segments)
                    .sum::<usize>(),
            );
            span.set("seven.texts", shaped.texts.len());
            span.set("seven.truncated", shaped.truncated);
            span.tell("seven.active_agent", &turn.agent);
        }
        drop(span);
        if shaped.truncated {
            tracing::warn!(
                casino = %tx.casino(),
                intent = turn.intent,
                "an answer did not fit two texts and was cut"
            );
        }
        let first = shaped.texts.first().map_or("", String::as_str);
        let mut delay = match profile.waits {
            true => self.first_delay(pack, config, turn, first),
            false => Duration::ZERO,
        };
        let parts = i32::try_from(shaped.texts.len()).unwrap_or(i32::MAX);
        let to = Recipient {
            conversation_id: turn.conversation_id.into(),
            guest_id: turn.guest_id.into(),
        };
        let origin = Origin::Turn(TurnId(turn.turn_id));
        let is_held = turn.class == MessageClass::Reply
            && (turn.reviewed || config.features.hitl_interrupt_enabled);
        // If the reply is held, the turn is marked before its texts are queued, so that nobody sees
        // a text without the mark. A sender of an earlier release does not know the mark: the late
        // `not_before` keeps it from sending the texts.
        if is_held {
            delay = pack.rules.usefulness() + PAST_ITS_USE;
            let limit = self.fleet.timing.scaled(pack.rules.review_limit());
            tx.hold_turn(TurnId(turn.turn_id), to.conversation_id, limit)
                .await?;
        }
        let mut queued = Vec::new();
        for (part, body) in (1..).zip(&shaped.texts) {
            if part > 1 && !is_held {
                delay += self.typed(pack, config, TypingKind::MultiSegment, body);
            }
            let (id, useful_for) = (self.fleet.ids.next(), pack.rules.usefulness());
            let text = NewOutbound::new(id, to, origin, turn.class, body.clone(), useful_for)
                .part(part, parts)
                .agent(&turn.agent)
                .answers_at((part == 1).then_some(turn.newest_text_at))
                .delay(delay)
                .trace(&turn.trace);
            queued.extend(tx.queue(&text).await?);
        }
        Ok(queued)
    }

    /// Returns the remaining typing delay, which began when the guest's newest text arrived.
    fn first_delay(&self, pack: &Pack, config: &CasinoConfig, turn: &Turn, text: &str) -> Duration {
        let typed = self.typed(
            pack,
            config,
            kind_of(text, turn.disclosure_kind.is_some()),
            text,
        );
        let elapsed = (self.fleet.clock.now() - turn.newest_text_at)
            .to_std()
            .unwrap_or_default();
        typed.saturating_sub(elapsed)
    }

    fn typed(&self, pack: &Pack, config: &CasinoConfig, kind: TypingKind, text: &str) -> Duration {
        if !config.features.human_like_delay_enabled {
            return Duration::ZERO;
        }
        let draw = rand::random_range(-1.0..=1.0);
        self.fleet
            .timing
            .pause(pack.rules.typing.delay(kind, text.chars().count(), draw))
    }

    /// Parks the turn. The sweep skips a turn that has a dead letter (D3).
    async fn park(
        &self,
        delivery: &Delivery<DraftReady>,
        turn: TurnId,
        reason: &str,
    ) -> Result<(), Error> {
        let mut tx = self.fleet.store.bind(&delivery.casino).await?;
        tx.park_turn(turn, reason).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Counts a failure of this turn in its row and returns how often it failed. An unreachable
    /// database is not counted as a failure.
    async fn count(&self, delivery: &Delivery<DraftReady>, turn: TurnId, error: &Error) -> u32 {
        let counted = async {
            let mut tx = self.fleet.store.bind(&delivery.casino).await?;
            let tries = tx.count_turn_try(turn, &error.to_string()).await?;
            tx.commit().await?;
            Ok::<_, seven_store::Error>(tries)
        };
        match (error, counted.await) {
            (Error::Store(e), _) if e.is_unavailable() || e.is_contended() => 0,
            (_, Ok(tries)) => u32::try_from(tries).unwrap_or(0),
            (_, Err(_)) => 0,
        }
    }
}
