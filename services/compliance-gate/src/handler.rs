//! One text: stored, judged, and either answered from the pack, closed with a reason, or signalled to the swarm.

use chrono::{DateTime, TimeZone, Utc};
use seven_bus::{Delivery, Handler, Outcome, events::InboundText};
use seven_compliance::{Guardrails, Verdict, verdict};
use seven_domain::{
    CasinoConfig, CasinoId, Channel, ConversationId, Disposition, GuestHash, InboundId, Language, PhoneE164, Stage,
};
use seven_packs::{Rules, Texts};
use seven_runtime::{Error, Fleet, failpoint, outcome_of};
use seven_store::{
    Tx,
    guests::{NewIds, Party},
    inbound::{Known, NewInbound},
    outbound::{Origin, Queued},
};
use seven_telemetry::metrics;

use crate::limits;

#[derive(Debug)]
pub struct Gate {
    pub fleet: Fleet,
    pub texts: Texts,
    pub rules: &'static Rules,
    pub guardrails: Guardrails,
}

/// A stored text with all the branches need.
pub(crate) struct Case<'a> {
    pub(crate) config: CasinoConfig,
    pub(crate) party: Party,
    pub(crate) inbound_id: InboundId,
    pub(crate) guest: GuestHash,
    pub(crate) text: &'a Text,
    pub(crate) verdict: Verdict,
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
#[derive(Debug)]
pub(crate) enum Next {
    Signal(ConversationId),
    Send(Vec<Queued>),
    Nothing,
}

impl Next {
    fn name(&self) -> &'static str {
        match self {
            Self::Signal(_) => "swarm",
            Self::Send(_) => "canned",
            Self::Nothing => "closed",
        }
    }
}

impl Handler for Gate {
    type Event = InboundText;
    const STAGE: Stage = Stage::Gate;

    async fn handle(&self, delivery: Delivery<InboundText>) -> Outcome {
        let tries = u32::try_from(delivery.deliveries).unwrap_or(u32::MAX);
        match self.process(&delivery).await {
            Ok(()) => Outcome::Done,
            Err(error) => outcome_of(&error, tries),
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
        let trace = delivery.trace.to_string();
        let mut tx = self.fleet.store.bind(casino).await?;
        let config = tx.casino_row().await?.ok_or_else(|| Error::Other("the casino has no row".into()))?.config;
        let guest = self.fleet.keys.hash(casino, &text.from);
        let new = NewIds { guest: self.fleet.ids.next(), conversation: self.fleet.ids.next() };
        let party = tx.party(&text.from, &guest, &text.to, Channel::Sms, new).await?;
        let verdict = verdict(&text.body, &self.guardrails);
        let inbound_id: InboundId = self.fleet.ids.next();
        let stored = tx.insert_inbound(&party, &text.row(inbound_id, &verdict, delivery)).await?;
        let (next, copy) = if stored {
            let case = Case { config, party, inbound_id, guest, text: &text, verdict, trace: trace.clone() };
            (self.decide(&mut tx, &case).await?, None)
        } else {
            // A duplicate: skip the effect, repeat the publish (D3).
            metrics().duplicates.with_label_values(&[Stage::Gate.as_str()]).inc();
            let known = tx.known_inbound(&text.provider, &text.provider_message_id).await?;
            (self.repeat(&mut tx, known).await?, Some(format!("dup:{}", delivery.stream_seq)))
        };
        failpoint("gate.before_commit");
        tx.commit().await?;
        failpoint("gate.after_commit");
        tracing::info!(%casino, inbound_id = %inbound_id, stored, next = next.name(), trace, "text judged");
        self.publish(casino, &next, inbound_id, copy, &trace).await?;
        failpoint("gate.after_publish");
        self.fleet.cache.mark_done(casino, &format!("in:{}", text.provider_message_id)).await;
        Ok(())
    }

    async fn decide(&self, tx: &mut Tx, case: &Case<'_>) -> Result<Next, Error> {
        if let Verdict::Keyword(keyword) = &case.verdict
            && let Some(next) = self.keyword(tx, case, keyword).await?
        {
            return Ok(next);
        }
        if tx.is_stopped(&case.guest).await? {
            return self.close(tx, case, "opted_out").await;
        }
        if case.text.body.trim().is_empty() {
            return if case.text.media_count > 0 {
                self.canned(tx, case, seven_packs::TextKey::MmsTextOnly).await
            } else {
                self.close(tx, case, "empty").await
            };
        }
        match limits::count(&self.fleet, case).await {
            limits::Limited::No => {
                metrics().inbound.with_label_values(&[case.verdict.as_str(), "open"]).inc();
                Ok(Next::Signal(case.party.conversation_id))
            }
            limits::Limited::TellOnce => self.canned(tx, case, seven_packs::TextKey::RateLimited).await,
            limits::Limited::Silently => self.close(tx, case, "rate_limited").await,
        }
    }

    pub(crate) async fn close(&self, tx: &mut Tx, case: &Case<'_>, reason: &str) -> Result<Next, Error> {
        tx.close_inbound(case.inbound_id, Disposition::Closed, None, Some(reason)).await?;
        metrics().inbound.with_label_values(&[case.verdict.as_str(), reason]).inc();
        Ok(Next::Nothing)
    }

    async fn repeat(&self, tx: &mut Tx, known: Option<Known>) -> Result<Next, Error> {
        Ok(match known {
            Some(known) if known.disposition == Disposition::Open => Next::Signal(known.conversation_id),
            Some(known) if known.disposition == Disposition::Canned => {
                Next::Send(tx.queued_of(Origin::Inbound(known.inbound_id)).await?)
            }
            _ => Next::Nothing,
        })
    }

    async fn publish(
        &self,
        casino: &CasinoId,
        next: &Next,
        cause: InboundId,
        copy: Option<String>,
        trace: &str,
    ) -> Result<(), Error> {
        match next {
            Next::Signal(conversation) => {
                self.fleet.bus.signal_conversation(casino, conversation.0, cause.0, copy, trace).await?;
            }
            Next::Send(queued) => self.fleet.signal_queued(casino, queued, copy.as_deref(), trace).await?,
            Next::Nothing => {}
        }
        Ok(())
    }
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

    fn row(&self, inbound_id: InboundId, verdict: &Verdict, delivery: &Delivery<InboundText>) -> NewInbound {
        NewInbound {
            inbound_id,
            channel: Channel::Sms,
            provider: self.provider.clone(),
            provider_message_id: self.provider_message_id.clone(),
            event_id: self.event_id.clone(),
            body: self.body.clone(),
            media_count: self.media_count,
            autoresponse: self.autoresponse.clone(),
            occurred_at: self.occurred_at,
            received_at: self.received_at,
            stream_seq: i64::try_from(delivery.stream_seq).ok(),
            verdict: verdict.as_str().to_owned(),
            pattern_id: pattern_of(verdict),
            trace: delivery.trace.to_string(),
        }
    }
}

impl Case<'_> {
    /// The keyword's language, else the guest's, else English.
    pub(crate) fn language(&self) -> Language {
        let spoken = match &self.verdict {
            Verdict::Keyword(keyword) => keyword.language,
            _ => None,
        };
        spoken.or(self.party.language).unwrap_or_default()
    }
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
