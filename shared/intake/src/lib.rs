//! Converts a verified webhook body into the action to take. The functions do no I/O, so the body
//! of a dead letter can be parsed with them again.

use chrono::{DateTime, Utc};
use prost::Message;
use seven_bus::events::{InboundText, Receipt};
use seven_compliance::{Intent, Keyword, classify, provider};
use seven_domain::{AttemptId, Invalid, PhoneE164, TELNYX, TWILIO};
use seven_providers::{
    telnyx::webhook::{self, Event, Received, Status, Unreadable},
    twilio,
};

/// A webhook body, classified by the action that it requires.
#[derive(Debug, Clone, PartialEq)]
pub enum Intake {
    Text {
        to: PhoneE164,
        /// The other recipients of a group message; the casino's number may be among them.
        others: Vec<PhoneE164>,
        from: PhoneE164,
        /// The opt-out or opt-in that the text contains, if any.
        keyword: Option<Keyword>,
        occurred_at: DateTime<Utc>,
        event: InboundText,
    },
    /// A delivery receipt. `number` is the casino's number. `attempt` is taken from the path of the
    /// webhook's URL; it identifies the casino if `number` cannot be read.
    Receipt {
        number: Option<PhoneE164>,
        attempt: Option<AttemptId>,
        event: Receipt,
    },
    /// A text from a short code or an alphanumeric sender, which cannot be a guest. It is stored,
    /// but not answered.
    OddSender {
        error: String,
        number: PhoneE164,
    },
    Ignored {
        event_type: String,
    },
    /// An authentic event that cannot be used: the reason, the error, and the casino's number if it
    /// could be read.
    Unusable {
        reason: &'static str,
        error: String,
        number: Option<PhoneE164>,
    },
}

/// Parses a verified body of Telnyx. Never fails: an unreadable body becomes [`Intake::Unusable`].
pub fn intake(body: &[u8], attempt: Option<AttemptId>, now: DateTime<Utc>) -> Intake {
    of(TELNYX, webhook::parse(body), attempt, now)
}

/// Parses a verified form of Twilio. Never fails.
pub fn intake_form(
    fields: &[(String, String)],
    attempt: Option<AttemptId>,
    now: DateTime<Utc>,
) -> Intake {
    of(TWILIO, twilio::webhook::parse(fields, now), attempt, now)
}

/// Parses a body that was verified on arrival, from either provider: Telnyx sends JSON objects,
/// Twilio forms.
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
        Err(unreadable) => Intake::Unusable {
            reason: "unreadable",
            error: unreadable.to_string(),
            number: None,
        },
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
        return Intake::Unusable {
            reason: "number_not_e164",
            error,
            number: None,
        };
    }
    let others = numbers.split_off(1);
    let to = numbers.remove(0);
    let from = match sender(&received.from) {
        Ok(from) => from,
        Err(error) => {
            return Intake::OddSender {
                error: error.to_string(),
                number: to,
            };
        }
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
        // Postgres cannot store NUL characters, and they carry no meaning.
        text: body.replace('\0', ""),
    };
    let keyword = word_in(&event, &from);
    Intake::Text {
        to,
        others,
        from,
        keyword,
        occurred_at: received.occurred_at,
        event,
    }
}

/// Returns the opt-out or opt-in in a text. If the provider reported a keyword, uses that;
/// otherwise classifies the text. `None` for a short code, which is not a guest.
pub fn word_in(event: &InboundText, from: &PhoneE164) -> Option<Keyword> {
    if from.is_short_code() {
        return None;
    }
    let word = provider::keyword(&event.autoresponse).or_else(|| classify(&event.text));
    word.filter(|keyword| matches!(keyword.intent, Intent::OptOut | Intent::OptIn))
}

/// Parses a guest's number. Ten digits, or eleven that begin with 1, are a North American number
/// without its plus sign.
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
        Err(e) => {
            return Intake::Unusable {
                reason: "number_not_e164",
                error: e.to_string(),
                number: None,
            };
        }
    };
    let event = Receipt {
        provider: provider.into(),
        provider_message_id: status.message_id,
        status: status.status,
        event_id: status.event_id,
        attempt_id: attempt
            .map(|a| seven_bus::id_bytes(a.0))
            .unwrap_or_default(),
        error_code: status.error_code.unwrap_or_default(),
        carrier: status.carrier.unwrap_or_default(),
        occurred_at: status.occurred_at.timestamp_millis(),
    };
    Intake::Receipt {
        number,
        attempt,
        event,
    }
}

impl Intake {
    /// Returns the numbers in the event, one of which may be a casino's.
    pub fn numbers(&self) -> Vec<&PhoneE164> {
        match self {
            Self::Text { to, others, .. } => std::iter::once(to).chain(others).collect(),
            Self::Receipt { number, .. } | Self::Unusable { number, .. } => number.iter().collect(),
            Self::OddSender { number, .. } => vec![number],
            Self::Ignored { .. } => Vec::new(),
        }
    }

    /// Returns the time at which the guest wrote the text; `None` for other events.
    pub fn written_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Text { occurred_at, .. } => Some(*occurred_at),
            Self::Receipt { .. }
            | Self::OddSender { .. }
            | Self::Ignored { .. }
            | Self::Unusable { .. } => None,
        }
    }

    /// Makes `number` the recipient of the event. Used once it is known which number of a group
    /// message is the casino's.
    #[must_use]
    pub fn addressed_to(mut self, number: &PhoneE164) -> Self {
        if let Self::Text { to, event, .. } = &mut self {
            to.clone_from(number);
            number.as_str().clone_into(&mut event.to);
        }
        self
    }

    /// Returns the stage that handles the event, and the key and the payload of the message to that
    /// stage; `None` if no stage handles the event.
    pub fn message(&self) -> Option<(seven_domain::Stage, String, bytes::Bytes)> {
        match self {
            Self::Text { event, .. } => Some((
                seven_domain::Stage::Gate,
                event.event_id.clone(),
                event.encode_to_vec().into(),
            )),
            Self::Receipt { event, .. } => Some((
                seven_domain::Stage::Receipts,
                event.event_id.clone(),
                event.encode_to_vec().into(),
            )),
            Self::OddSender { .. } | Self::Ignored { .. } | Self::Unusable { .. } => None,
        }
    }
}
