//! Types that pass between the stages of the gate.

use std::sync::Arc;

use chrono::{DateTime, TimeZone, Utc};
use seven_bus::{Delivery, RECOVERED, RECOVERED_AFTER_RESTORE, events::InboundText};
use seven_compliance::{Decision, Keyword, Verdict};
use seven_domain::{
    Address, CasinoConfig, Channel, ChannelProfile, ConversationId, GuestHash, InboundId, Language,
    PhoneE164,
};
use seven_packs::Pack;
use seven_runtime::{Error, Fleet, word_of};
use seven_store::{guests::Party, inbound::NewInbound, outbound::Queued, suppressions::Word};

/// Stored in place of a text with card, account or identity data.
const NOT_KEPT: &str = "[personal data, not kept]";

#[derive(Debug)]
pub struct Gate {
    pub fleet: Fleet,
    pub fleet_per_minute: u32,
    /// Whether suspicious texts are read by the second reader too (D20).
    pub second_reader: bool,
}

/// A stored text, with everything that the decision needs.
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

/// The inbound event after its fields were checked.
pub(crate) struct Text {
    pub(crate) from: Address,
    /// The casino's number; `None` where the channel has none.
    pub(crate) to: Option<PhoneE164>,
    pub(crate) body: String,
    pub(crate) media_count: i32,
    pub(crate) autoresponse: Option<String>,
    pub(crate) event_id: String,
    pub(crate) provider: String,
    pub(crate) provider_message_id: String,
    pub(crate) occurred_at: DateTime<Utc>,
    pub(crate) received_at: DateTime<Utc>,
}

/// The signal and the texts that are published after the transaction is durable. Both may be
/// missing.
#[derive(Debug, Default)]
pub(crate) struct Next {
    /// The conversation that the swarm has to answer, if any.
    pub(crate) signal: Option<ConversationId>,
    pub(crate) texts: Vec<Queued>,
}

impl Next {
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    pub(crate) fn signal(conversation: ConversationId) -> Self {
        Self {
            signal: Some(conversation),
            ..Self::default()
        }
    }

    pub(crate) fn send(texts: Vec<Queued>) -> Self {
        Self {
            texts,
            ..Self::default()
        }
    }

    /// Combines two results. Keeps the texts of both, and the signal of the first, or of the second
    /// if the first has none.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.texts.extend(other.texts);
        Self {
            signal: self.signal.or(other.signal),
            texts: self.texts,
        }
    }

    /// Returns whether the guest gets no answer, neither from the gate nor from the swarm.
    pub(crate) fn is_silence(&self) -> bool {
        self.signal.is_none() && self.texts.is_empty()
    }

    pub(crate) fn name(&self) -> &'static str {
        match (self.signal, self.texts.is_empty()) {
            (Some(_), _) => "swarm",
            (None, false) => "canned",
            (None, true) => "closed",
        }
    }
}

impl Text {
    pub(crate) fn read(event: &InboundText) -> Result<Self, Error> {
        let from: Address = event.from.parse()?;
        let to = from.phone().map(|_| event.to.parse()).transpose()?;
        Ok(Self {
            from,
            to,
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

    pub(crate) fn channel(&self) -> Channel {
        self.from.channel()
    }

    pub(crate) fn profile(&self) -> &'static ChannelProfile {
        self.channel().profile()
    }

    /// Returns the casino's number; empty where the channel has none.
    pub(crate) fn number(&self) -> &str {
        self.to.as_ref().map_or("", PhoneE164::as_str)
    }

    /// Returns whether the text was found in the provider's records because its webhook never came.
    pub(crate) fn is_recovered(&self) -> bool {
        self.event_id.starts_with(RECOVERED)
    }

    /// Returns whether a backup was restored after the text was written, and the text was then
    /// found in the provider's records. The backup may lack the text's answer.
    pub(crate) fn is_of_before_a_restore(&self) -> bool {
        self.event_id.starts_with(RECOVERED_AFTER_RESTORE)
    }

    pub(crate) fn row(
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
            channel: self.channel(),
            provider: self.provider.clone(),
            provider_message_id: self.provider_message_id.clone(),
            casino_number: self.number().to_owned(),
            event_id: self.event_id.clone(),
            body: if personal {
                NOT_KEPT.to_owned()
            } else {
                self.body.clone()
            },
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
    /// Returns the language of the words that decided the verdict, else the guest's, else English.
    pub(crate) fn language(&self) -> Language {
        let spoken = self.decision.language();
        spoken.or(self.party.language).unwrap_or_default()
    }

    /// Returns how the guest gave the command, to record it with the suppression and the consent.
    pub(crate) fn word_of(&self, keyword: &Keyword) -> Word<'static> {
        word_of(
            keyword,
            &self.text.provider,
            &self.text.body,
            self.text.autoresponse.is_some(),
        )
    }

    /// Returns the verdict's name, as it is stored in rows and metrics.
    pub(crate) fn verdict(&self) -> &'static str {
        self.decision.verdict.as_str()
    }
}

fn millis(unix_millis: i64) -> Result<DateTime<Utc>, Error> {
    Utc.timestamp_millis_opt(unix_millis)
        .single()
        .ok_or_else(|| Error::Other(format!("time {unix_millis} ms is out of range")))
}

fn pattern_of(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Pass => None,
        Verdict::Keyword(keyword) => Some(keyword.pattern_id.to_owned()),
        Verdict::Guardrail(hit) => Some(hit.pattern_id.clone()),
    }
}
