//! From a verified body to what we do with it: pure, so that a dead letter can be read again by a later version.

use chrono::{DateTime, Utc};
use prost::Message;
use seven_bus::events::{InboundText, Receipt};
use seven_compliance::{Intent, Keyword, classify, provider};
use seven_domain::{AttemptId, Invalid, PhoneE164, TELNYX, TWILIO};
use seven_providers::{
    telnyx::webhook::{self, Event, Received, Status, Unreadable},
    twilio,
};

/// A webhook body, by what it asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Intake {
    Text {
        to: PhoneE164,
        /// The other numbers of a group message; the casino's may be among them.
        others: Vec<PhoneE164>,
        from: PhoneE164,
        /// The opt-out or the opt-in in it, if there is one.
        keyword: Option<Keyword>,
        occurred_at: DateTime<Utc>,
        event: InboundText,
    },
    /// With its number, or at least the attempt of its path, by which its casino is found too.
    Receipt {
        number: Option<PhoneE164>,
        attempt: Option<AttemptId>,
        event: Receipt,
    },
    /// From a short code or a name: no guest writes so. Kept, and answered by nobody.
    OddSender {
        error: String,
        number: PhoneE164,
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
    let (mut numbers, mut wrong) = (Vec::new(), None);
    for number in &received.to {
        match number.parse::<PhoneE164>() {
            Ok(number) => numbers.push(number),
            Err(error) => wrong = Some(error.to_string()),
        }
    }
    if numbers.is_empty() {
        let error = wrong.unwrap_or_else(|| "no number".to_owned());
        return Intake::Unusable { reason: "number_not_e164", error, number: None };
    }
    let others = numbers.split_off(1);
    let to = numbers.remove(0);
    let from = match sender(&received.from) {
        Ok(from) => from,
        Err(error) => return Intake::OddSender { error: error.to_string(), number: to },
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
    let keyword = word_in(&event, &from);
    Intake::Text { to, others, from, keyword, occurred_at: received.occurred_at, event }
}

/// The opt-out or opt-in in a text: the provider's own verdict, else the text's. A short code's words are no guest's.
pub fn word_in(event: &InboundText, from: &PhoneE164) -> Option<Keyword> {
    if from.is_short_code() {
        return None;
    }
    let word = provider::keyword(&event.autoresponse).or_else(|| classify(&event.text));
    word.filter(|keyword| matches!(keyword.intent, Intent::OptOut | Intent::OptIn))
}

/// A guest's number; ten digits, or eleven from 1 on, are a North American one without its plus.
fn sender(from: &str) -> Result<PhoneE164, Invalid> {
    let digits = from.bytes().all(|b| b.is_ascii_digit());
    match from.len() {
        10 if digits => format!("+1{from}").parse(),
        11 if digits && from.starts_with('1') => format!("+{from}").parse(),
        _ => from.parse(),
    }
}

fn receipt(provider: &str, status: Status, attempt: Option<AttemptId>) -> Intake {
    let number: Option<PhoneE164> = match status.from.parse() {
        Ok(number) => Some(number),
        Err(_) if attempt.is_some() => None,
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
    Intake::Receipt { number, attempt, event }
}

impl Intake {
    /// The numbers of which one is the casino's this event is about.
    pub fn numbers(&self) -> Vec<&PhoneE164> {
        match self {
            Self::Text { to, others, .. } => std::iter::once(to).chain(others).collect(),
            Self::Receipt { number, .. } | Self::Unusable { number, .. } => number.iter().collect(),
            Self::OddSender { number, .. } => vec![number],
            Self::Ignored { .. } => Vec::new(),
        }
    }

    /// The same event, once it is known which of a group's numbers is ours.
    #[must_use]
    pub fn addressed_to(mut self, number: &PhoneE164) -> Self {
        if let Self::Text { to, event, .. } = &mut self {
            to.clone_from(number);
            number.as_str().clone_into(&mut event.to);
        }
        self
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
            Self::OddSender { .. } | Self::Ignored { .. } | Self::Unusable { .. } => None,
        }
    }
}
