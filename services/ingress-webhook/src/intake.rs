//! From a verified body to what we do with it: pure, so that a dead letter can be read again by a later version.

use chrono::{DateTime, Utc};
use prost::Message;
use seven_bus::events::{InboundText, Receipt};
use seven_compliance::{Intent, Keyword, classify};
use seven_domain::{AttemptId, PhoneE164, TELNYX, TWILIO};
use seven_providers::{
    telnyx::webhook::{self, Event, Received, Status, Unreadable},
    twilio,
};

/// What a body asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Intake {
    Text {
        to: PhoneE164,
        from: PhoneE164,
        /// The opt-out in it, if there is one.
        stop: Option<Keyword>,
        occurred_at: DateTime<Utc>,
        event: InboundText,
    },
    Receipt {
        number: PhoneE164,
        event: Receipt,
    },
    Ignored {
        event_type: String,
    },
    /// Authentic, but not to be used: the reason, what was wrong, and the casino's number if we could read one.
    Unusable {
        reason: &'static str,
        error: String,
        number: Option<PhoneE164>,
    },
}

/// Reads a verified body of Telnyx. Never fails: what cannot be read is an intake too.
pub fn intake(body: &[u8], attempt: Option<AttemptId>, now: DateTime<Utc>) -> Intake {
    of(TELNYX, webhook::parse(body), attempt, now)
}

/// The same for the verified form of Twilio.
pub fn intake_form(fields: &[(String, String)], attempt: Option<AttemptId>, now: DateTime<Utc>) -> Intake {
    of(TWILIO, twilio::webhook::parse(fields, now), attempt, now)
}

/// Reads a body that was verified when it came, whoever sent it: Telnyx writes JSON objects, Twilio forms.
pub fn intake_raw(body: &[u8], attempt: Option<AttemptId>, now: DateTime<Utc>) -> Intake {
    if body.trim_ascii_start().starts_with(b"{") {
        intake(body, attempt, now)
    } else {
        intake_form(&twilio::webhook::fields(body), attempt, now)
    }
}

fn of(
    provider: &'static str,
    read: Result<Event, Unreadable>,
    attempt: Option<AttemptId>,
    now: DateTime<Utc>,
) -> Intake {
    match read {
        Ok(Event::Received(received)) => text(provider, received, now),
        Ok(Event::Status(status)) => receipt(provider, status, attempt),
        Ok(Event::Other { event_type }) => Intake::Ignored { event_type },
        Err(unreadable) => Intake::Unusable { reason: "unreadable", error: unreadable.to_string(), number: None },
    }
}

fn text(provider: &str, received: Received, now: DateTime<Utc>) -> Intake {
    let to: PhoneE164 = match received.to.parse() {
        Ok(to) => to,
        Err(e) => return Intake::Unusable { reason: "number_not_e164", error: e.to_string(), number: None },
    };
    let from: PhoneE164 = match received.from.parse() {
        Ok(from) => from,
        Err(e) => return Intake::Unusable { reason: "sender_not_e164", error: e.to_string(), number: Some(to) },
    };
    let body = received.text.unwrap_or_default();
    let event = InboundText {
        provider: provider.into(),
        provider_message_id: received.message_id,
        event_id: received.event_id,
        from: from.as_str().to_owned(),
        to: to.as_str().to_owned(),
        media_count: u32::try_from(received.media_count).unwrap_or(u32::MAX),
        autoresponse: received.autoresponse.unwrap_or_default(),
        occurred_at: received.occurred_at.timestamp_millis(),
        received_at: now.timestamp_millis(),
        channel: "sms".into(),
        // NUL cannot be stored in Postgres and says nothing.
        text: body.replace('\0', ""),
    };
    let stop = classify(&event.text).filter(|keyword| keyword.intent == Intent::OptOut);
    Intake::Text { to, from, stop, occurred_at: received.occurred_at, event }
}

fn receipt(provider: &str, status: Status, attempt: Option<AttemptId>) -> Intake {
    let number: PhoneE164 = match status.from.parse() {
        Ok(number) => number,
        Err(e) => return Intake::Unusable { reason: "number_not_e164", error: e.to_string(), number: None },
    };
    let event = Receipt {
        provider: provider.into(),
        provider_message_id: status.message_id,
        status: status.status,
        event_id: status.event_id,
        attempt_id: attempt.map(|a| seven_bus::id_bytes(a.0)).unwrap_or_default(),
        error_code: status.error_code.unwrap_or_default(),
        carrier: status.carrier.unwrap_or_default(),
        occurred_at: status.occurred_at.timestamp_millis(),
    };
    Intake::Receipt { number, event }
}

impl Intake {
    /// The casino's number this event is about.
    pub fn number(&self) -> Option<&PhoneE164> {
        match self {
            Self::Text { to, .. } => Some(to),
            Self::Receipt { number, .. } => Some(number),
            Self::Unusable { number, .. } => number.as_ref(),
            Self::Ignored { .. } => None,
        }
    }

    /// The stage it goes to, its identity there and its bytes.
    pub fn message(&self) -> Option<(seven_domain::Stage, String, bytes::Bytes)> {
        match self {
            Self::Text { event, .. } => {
                Some((seven_domain::Stage::Gate, event.event_id.clone(), event.encode_to_vec().into()))
            }
            Self::Receipt { event, .. } => {
                Some((seven_domain::Stage::Receipts, event.event_id.clone(), event.encode_to_vec().into()))
            }
            Self::Ignored { .. } | Self::Unusable { .. } => None,
        }
    }
}
