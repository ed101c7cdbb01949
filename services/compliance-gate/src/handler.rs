//! One text: stored, judged, and either answered from the pack, closed with a reason, or signalled to the swarm.

use std::sync::Arc;

use chrono::{DateTime, TimeZone, Utc};
use seven_bus::{Delivery, Handler, Outcome, RECOVERED, RECOVERED_AFTER_RESTORE, events::InboundText};
use seven_compliance::{
    Decision, Keyword, Layer, Verdict,
    area_codes::{self, Prefix},
};
use seven_domain::{
    AuditEvent, CasinoConfig, CasinoId, Channel, ConversationId, Disposition, GuestHash, InboundId, Language,
    PhoneE164, Stage, TraceContext,
};
use seven_faults::failpoint;
use seven_packs::Pack;
use seven_runtime::{Error, Fleet, outcome_of, word_of};
use seven_store::{
    Tx,
    audit::Entry,
    casinos::Casino,
    guests::{GuestLaw, NewIds, Party},
    inbound::{Known, NewInbound},
    outbound::{Origin, Queued},
    suppressions::Word,
};
use seven_telemetry::{metrics, trace as spans};

use crate::{mutant, reading};

/// Stored in place of a text that held card, account or identity data (CONV-15).
const NOT_KEPT: &str = "[personal data, not kept]";

#[derive(Debug)]
pub struct Gate {
    pub fleet: Fleet,
    pub fleet_per_minute: u32,
    /// Whether suspicious texts are read twice (D20).
    pub second_reader: bool,
}

/// A stored text with all the branches need.
pub(crate) struct Case<'a> {
    pub(crate) config: Arc<CasinoConfig>,
    pub(crate) pack: Arc<Pack>,
    pub(crate) party: Party,
    pub(crate) inbound_id: InboundId,
    pub(crate) guest: GuestHash,
    pub(crate) text: &'a Text,
    pub(crate) decision: Decision,
    pub(crate) trace: String,
}

/// The event, validated.
pub(crate) struct Text {
    pub(crate) from: PhoneE164,
    pub(crate) to: PhoneE164,
    pub(crate) body: String,
    pub(crate) media_count: i32,
    pub(crate) autoresponse: Option<String>,
    pub(crate) event_id: String,
    pub(crate) provider: String,
    pub(crate) provider_message_id: String,
    pub(crate) occurred_at: DateTime<Utc>,
    pub(crate) received_at: DateTime<Utc>,
}

/// What follows once the text's transaction is durable.
#[derive(Debug, Default)]
pub(crate) struct Next {
    /// The conversation waits for the swarm.
    pub(crate) signal: Option<ConversationId>,
    pub(crate) texts: Vec<Queued>,
}

impl Next {
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    pub(crate) fn signal(conversation: ConversationId) -> Self {
        Self { signal: Some(conversation), ..Self::default() }
    }

    pub(crate) fn send(texts: Vec<Queued>) -> Self {
        Self { texts, ..Self::default() }
    }

    /// Joins two: the texts of both, and the signal of either.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.texts.extend(other.texts);
        Self { signal: self.signal.or(other.signal), texts: self.texts }
    }

    /// Nothing is said, now or by the swarm.
    pub(crate) fn is_silence(&self) -> bool {
        self.signal.is_none() && self.texts.is_empty()
    }

    fn name(&self) -> &'static str {
        match (self.signal, self.texts.is_empty()) {
            (Some(_), _) => "swarm",
            (None, false) => "canned",
            (None, true) => "closed",
        }
    }
}

impl Handler for Gate {
    type Event = InboundText;
    const STAGE: Stage = Stage::Gate;

    async fn handle(&self, delivery: Delivery<InboundText>) -> Outcome {
        match self.process(&delivery).await {
            Ok(()) => Outcome::Done,
            Err(error) => outcome_of(&error, delivery.tries),
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.ready().await
    }
}

impl Gate {
    async fn process(&self, delivery: &Delivery<InboundText>) -> Result<(), Error> {
        let text = Text::read(&delivery.event)?;
        let casino = &delivery.casino;
        if mutant::noted_before(&self.fleet.cache, casino, &format!("in:{}", text.provider_message_id)).await {
            return Ok(());
        }
        let mut tx = self.fleet.store.bind(casino).await?;
        let guest = self.fleet.keys.hash(casino, &text.from);
        let new = NewIds { guest: self.fleet.ids.next(), conversation: self.fleet.ids.next() };
        let (party, Casino { config, .. }) =
            tx.meet(&text.from, &guest, &text.to, Channel::Sms, new, &law_of(&text.from)).await?;
        let pack = Arc::clone(self.fleet.packs.of(&config)?);
        if party.erased_until.is_some_and(|until| text.occurred_at <= until) {
            // A late copy of what a guest had deleted. Nothing of this transaction stays.
            metrics().inbound.with_label_values(&[casino.as_str(), "none", "erased_before"]).inc();
            return self.forget(delivery).await;
        }
        let decision = self.judge(&mut tx, &pack, &config, &guest, &text).await?;
        // The row has what ingress began, so that it hangs together even where this process dies before it exports its span.
        let context = TraceContext { sampled: delivery.trace.sampled || reading::matters(&decision), ..delivery.trace };
        let mut trace = context.to_string();
        let personal = decision.hits.iter().any(|hit| hit.layer == Layer::Pii);
        if spans::on() {
            spans::set("seven.guest_phone_hash", guest.tag());
            spans::tell("seven.thread_id", &party.conversation_id);
        }
        let inbound_id: InboundId = self.fleet.ids.next();
        let row = text.row(inbound_id, &decision, config.operational.session_timeout_hours, personal, delivery, &trace);
        let stored = tx.insert_inbound(&party, &row, &heard(&text, &decision, &guest)).await?;
        let (next, copy) = if stored {
            let case = Case { config, pack, party, inbound_id, guest, text: &text, decision, trace: trace.clone() };
            if matches!(case.party.status.as_str(), "warm" | "archived") {
                tx.set_guest_status(case.party.guest_id, "active").await?;
            }
            count_unknown_code(&case, casino);
            self.note_hits(&mut tx, &case).await?;
            let line_is_news = self.note_likely(&mut tx, &case).await? && !case.party.stopped;
            let line = if line_is_news { self.name_the_line(&mut tx, &case).await? } else { Next::nothing() };
            let answer = line.and(self.decide(&mut tx, &case).await?);
            let notice = self.tell_of_change(&mut tx, &case, &answer).await?;
            (answer.and(notice), None)
        } else {
            // A duplicate: skip the effect, repeat the publish (D3).
            metrics().duplicates.with_label_values(&[Stage::Gate.as_str()]).inc();
            let known = tx.known_inbound(&text.provider, &text.provider_message_id).await?;
            if let Some(known) = &known {
                trace.clone_from(&known.trace);
                spans::adopt(&trace);
            }
            (self.repeat(&mut tx, known).await?, Some(format!("dup:{}", delivery.stream_seq)))
        };
        failpoint!("gate.before_commit");
        tx.commit().await?;
        failpoint!("gate.after_commit");
        spans::set("seven.duplicate", !stored);
        spans::set("seven.next", next.name());
        tracing::info!(%casino, inbound_id = %inbound_id, stored, next = next.name(), trace, "text judged");
        mutant::dawdle().await;
        self.publish(casino, &next, inbound_id, copy, &trace).await?;
        failpoint!("gate.after_publish");
        self.fleet.cache.mark_done(casino, &format!("in:{}", text.provider_message_id)).await;
        if personal {
            self.forget(delivery).await?;
        }
        Ok(())
    }

    /// Takes the event out of its stream: what it holds must not be kept.
    async fn forget(&self, delivery: &Delivery<InboundText>) -> Result<(), Error> {
        self.fleet.bus.erase(Stage::Gate, delivery.stream_seq).await?;
        Ok(())
    }

    async fn repeat(&self, tx: &mut Tx, known: Option<Known>) -> Result<Next, Error> {
        if mutant::forgets_duplicates() {
            return Ok(Next::nothing());
        }
        let Some(known) = known else { return Ok(Next::nothing()) };
        let texts = match known.disposition {
            Disposition::Open | Disposition::Canned => tx.queued_of(Origin::Inbound(known.inbound_id)).await?,
            _ => Vec::new(),
        };
        let signal = (known.disposition == Disposition::Open).then_some(known.conversation_id);
        Ok(Next { signal, texts })
    }

    async fn publish(
        &self,
        casino: &CasinoId,
        next: &Next,
        cause: InboundId,
        copy: Option<String>,
        trace: &str,
    ) -> Result<(), Error> {
        if let Some(conversation) = next.signal {
            self.fleet.bus.signal_conversation(casino, conversation.0, cause.0, copy.clone(), trace).await?;
        }
        if !next.texts.is_empty() {
            self.fleet.signal_queued(casino, &next.texts, copy.as_deref(), trace).await?;
        }
        Ok(())
    }
}

/// The text's own entry; its subject is the row.
fn heard<'a>(text: &Text, decision: &Decision, guest: &'a GuestHash) -> Entry<'a> {
    let hit = decision.hits.first();
    let detail = serde_json::json!({
        "message_length": text.body.chars().count(), "media": text.media_count, "verdict": decision.verdict.as_str(),
        "guardrail_result": { "triggered": hit.is_some(), "layer": hit.map_or("none", |h| h.layer.as_str()) },
    });
    Entry { guest: Some(guest), ..Entry::of(AuditEvent::SmsInbound, "compliance-gate", "", detail) }
}

// === impl Text ===

impl Text {
    fn read(event: &InboundText) -> Result<Self, Error> {
        Ok(Self {
            from: event.from.parse()?,
            to: event.to.parse()?,
            body: event.text.clone(),
            media_count: i32::try_from(event.media_count).unwrap_or(i32::MAX),
            autoresponse: (!event.autoresponse.is_empty()).then(|| event.autoresponse.clone()),
            event_id: event.event_id.clone(),
            provider: event.provider.clone(),
            provider_message_id: event.provider_message_id.clone(),
            occurred_at: millis(event.occurred_at)?,
            received_at: millis(event.received_at)?,
        })
    }

    /// No webhook brought it: it was found at the provider.
    pub(crate) fn is_recovered(&self) -> bool {
        self.event_id.starts_with(RECOVERED)
    }

    /// The same, from a time of which a backup knows nothing.
    pub(crate) fn is_of_before_a_restore(&self) -> bool {
        self.event_id.starts_with(RECOVERED_AFTER_RESTORE)
    }

    fn row(
        &self,
        inbound_id: InboundId,
        decision: &Decision,
        session_hours: u32,
        personal: bool,
        delivery: &Delivery<InboundText>,
        trace: &str,
    ) -> NewInbound {
        NewInbound {
            inbound_id,
            channel: Channel::Sms,
            provider: self.provider.clone(),
            provider_message_id: self.provider_message_id.clone(),
            casino_number: self.to.as_str().to_owned(),
            event_id: self.event_id.clone(),
            body: if personal { NOT_KEPT.to_owned() } else { self.body.clone() },
            media_count: self.media_count,
            autoresponse: self.autoresponse.clone(),
            occurred_at: self.occurred_at,
            received_at: self.received_at,
            stream_seq: i64::try_from(delivery.stream_seq).ok(),
            verdict: decision.verdict.as_str().to_owned(),
            pattern_id: pattern_of(&decision.verdict),
            session_hours: i32::try_from(session_hours).unwrap_or(i32::MAX),
            trace: trace.to_owned(),
        }
    }
}

impl Case<'_> {
    /// The language of the words that decided, else the guest's, else English.
    pub(crate) fn language(&self) -> Language {
        let spoken = match &self.decision.verdict {
            Verdict::Keyword(keyword) => keyword.language,
            Verdict::Guardrail(hit) => hit.language,
            Verdict::Pass => self.decision.keyword.and_then(|keyword| keyword.language),
        };
        spoken.or(self.party.language).unwrap_or_default()
    }

    /// How the command was said, for suppression and consent.
    pub(crate) fn word_of(&self, keyword: &Keyword) -> Word<'static> {
        word_of(keyword, &self.text.provider, &self.text.body, self.text.autoresponse.is_some())
    }

    /// The verdict's name, as rows and metrics bear it.
    pub(crate) fn verdict(&self) -> &'static str {
        self.decision.verdict.as_str()
    }
}

/// A new guest whose area code the table does not know: counted, so that somebody adds it (`data/area_codes.csv`).
fn count_unknown_code(case: &Case<'_>, casino: &CasinoId) {
    if let Prefix::UnknownCode(code) = area_codes::prefix_of(&case.text.from)
        && case.party.new
    {
        metrics().guests.unknown_area_codes.with_label_values(&[casino.as_str()]).inc();
        tracing::warn!(%casino, area_code = code, "a guest's area code is not in the table; the strictest window holds");
    }
}

/// The disclosure law of every state this number may belong to (D15).
fn law_of(phone: &PhoneE164) -> GuestLaw {
    let rules = seven_compliance::jurisdiction::of(phone, None);
    let laws = rules.ai_disclosure_laws.join("; ");
    GuestLaw { disclosure_required: rules.ai_disclosure_required, disclosure_law: (!laws.is_empty()).then_some(laws) }
}

fn pattern_of(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Pass => None,
        Verdict::Keyword(keyword) => Some(keyword.pattern_id.to_owned()),
        Verdict::Guardrail(hit) => Some(hit.pattern_id.clone()),
    }
}

fn millis(unix_millis: i64) -> Result<DateTime<Utc>, Error> {
    Utc.timestamp_millis_opt(unix_millis)
        .single()
        .ok_or_else(|| Error::Other(format!("time {unix_millis} ms is out of range")))
}
