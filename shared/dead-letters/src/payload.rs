//! Renders the payload of a dead letter as JSON. Personal data is masked unless `reveal` is true.
//! All functions are pure.

use base64::{Engine, engine::general_purpose::STANDARD};
use chrono::DateTime;
use prost::Message;
use serde_json::{Map, Value, json};
use seven_bus::events;
use seven_domain::Stage;
use seven_intake::Intake;
use uuid::Uuid;

/// Fields of a provider's event that contain neither guest data nor text.
const PLAIN: [&str; 6] = [
    "event_type",
    "record_type",
    "direction",
    "occurred_at",
    "received_at",
    "status",
];

/// Returns the payload as JSON. If the payload cannot be parsed, returns its length in bytes, or
/// the payload in base64 if `reveal` is true.
pub fn shown(stage: Stage, payload: &[u8], reveal: bool) -> Value {
    let read = match stage {
        Stage::Ingress => serde_json::from_slice(payload)
            .ok()
            .map(|event| raw(payload, event, reveal)),
        Stage::Gate => events::InboundText::decode(payload)
            .ok()
            .map(|text| inbound(&text, reveal)),
        Stage::Swarm => events::ConversationSignal::decode(payload)
            .ok()
            .and_then(|signal| Some(json!({ "conversation_id": id(&signal.conversation_id)? }))),
        Stage::Envelope => events::DraftReady::decode(payload).ok().and_then(|draft| {
            Some(json!({
                "turn_id": id(&draft.turn_id)?,
            }))
        }),
        Stage::Sender => events::OutboundReady::decode(payload)
            .ok()
            .and_then(|ready| Some(json!({ "outbound_id": id(&ready.outbound_id)? }))),
        Stage::Receipts => events::Receipt::decode(payload).ok().map(|receipt| {
            json!({
                "provider": receipt.provider, "provider_message_id": receipt.provider_message_id,
                "status": receipt.status,
                "event_id": receipt.event_id, "attempt_id": id(&receipt.attempt_id),
                "error_code": receipt.error_code,
                "occurred_at": receipt.occurred_at,
            })
        }),
    };
    read.unwrap_or_else(|| match reveal {
        true => json!({ "unreadable": true, "base64": STANDARD.encode(payload) }),
        false => json!({ "unreadable": true, "bytes": payload.len() }),
    })
}

/// Returns a provider's event together with our number that received it. An operator needs the
/// number to add the missing casino.
fn raw(payload: &[u8], event: Value, reveal: bool) -> Value {
    let alone = event
        .pointer("/data/payload/to")
        .and_then(Value::as_array)
        .is_none_or(|to| to.len() == 1);
    let number = match seven_intake::intake_raw(payload, None, DateTime::UNIX_EPOCH) {
        Intake::Text { to, .. } if alone => Some(to.as_str().to_owned()),
        Intake::Text { .. }
        | Intake::Receipt { .. }
        | Intake::OddSender { .. }
        | Intake::Ignored { .. }
        | Intake::Unusable { .. } => None,
    };
    let mut shown = if reveal { event } else { masked(event) };
    if let (Some(number), Value::Object(fields)) = (number, &mut shown) {
        fields.insert("casino_number".to_owned(), number.into());
    }
    shown
}

fn id(bytes: &[u8]) -> Option<Uuid> {
    Uuid::from_slice(bytes).ok()
}

fn inbound(text: &events::InboundText, reveal: bool) -> Value {
    let (from, body) = if reveal {
        (text.from.clone(), text.text.clone())
    } else {
        (phone(&text.from), hidden(&text.text))
    };
    json!({
        "provider": text.provider, "provider_message_id": text.provider_message_id,
        "event_id": text.event_id,
        "from": from, "to": text.to, "text": body, "media_count": text.media_count,
        "autoresponse": text.autoresponse,
        "occurred_at": text.occurred_at, "received_at": text.received_at, "channel": text.channel,
    })
}

/// Masks a phone number except for its last two digits.
fn phone(phone: &str) -> String {
    let tail: String = phone
        .chars()
        .skip(phone.chars().count().saturating_sub(2))
        .collect();
    format!("..{tail}")
}

fn hidden(text: &str) -> String {
    format!("({} characters)", text.chars().count())
}

/// Masks all values of a provider's event except those of the fields in [`PLAIN`]. Other fields may
/// hold a phone number or a text. The structure stays visible.
fn masked(event: Value) -> Value {
    match event {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(masked).collect()),
        Value::String(text) => Value::String(hidden(&text)),
        Value::Number(number) => Value::String(hidden(&number.to_string())),
        other => other,
    }
}

fn field((name, value): (String, Value)) -> (String, Value) {
    let word = |text: &str| {
        text.len() <= 40
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c))
    };
    let kept = PLAIN.contains(&name.as_str())
        && value
            .as_str()
            .is_some_and(|text| word(text) && plain(text) == text);
    (name, if kept { value } else { masked(value) })
}

/// Returns an error message without parts that may quote personal data: text between quotation
/// marks, and long numbers.
pub fn plain(error: &str) -> String {
    const LONG: usize = 9;
    let mut out = String::with_capacity(error.len());
    for (n, part) in error.split('"').enumerate() {
        if n % 2 == 1 {
            out.push_str("\"…\"");
            continue;
        }
        let mut rest = part;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let digits = rest[start..]
                .chars()
                .take_while(char::is_ascii_digit)
                .count();
            out.push_str(&rest[..start]);
            out.push_str(if digits >= LONG {
                "…"
            } else {
                &rest[start..start + digits]
            });
            rest = &rest[start + digits..];
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHONE: &str = "+18605550142";
    const WORDS: &str = "my name is Xiomaraz";

    #[test] // SEC-64
    fn a_masked_payload_holds_neither_phone_nor_words() {
        let text = events::InboundText {
            from: PHONE.into(),
            text: WORDS.into(),
            ..Default::default()
        }
        .encode_to_vec();
        let event = json!({ "data": { "event_type": "message.received",
            "occurred_at": "2026-11-22T19:00:00Z", "payload": {
            "from": { "phone_number": PHONE, "carrier": WORDS }, "to": [{ "phone_number": PHONE }],
            "text": { "body": WORDS },
            "direction": WORDS, "status": PHONE, "type": PHONE, "number": 18_605_550_142_u64 } } })
        .to_string()
        .into_bytes();
        for (stage, payload) in [
            (Stage::Gate, text),
            (Stage::Ingress, event),
            (Stage::Ingress, WORDS.as_bytes().to_vec()),
        ] {
            let (masked, revealed) = (
                shown(stage, &payload, false).to_string(),
                shown(stage, &payload, true).to_string(),
            );
            assert!(
                !masked.contains("8605550142") && !masked.contains("Xiomaraz"),
                "{masked}"
            );
            assert!(
                revealed.contains("Xiomaraz") || revealed.contains(&STANDARD.encode(&payload)),
                "{revealed}"
            );
        }
        let kept = masked(json!({ "event_type": "message.received", "direction": "a b" }));
        assert_eq!(kept["event_type"], "message.received");
    }

    #[test]
    fn only_a_number_of_ours_is_named() {
        let event = |to: Value, kind: &str| {
            let from = json!({ "phone_number": PHONE });
            let payload =
                json!({ "id": "m", "from": from, "to": to, "text": "hi", "status": "delivered" });
            json!({
                "data": {
                    "event_type": kind,
                    "id": "e",
                    "occurred_at": "2026-11-22T19:00:00Z",
                    "payload": payload,
                },
            })
            .to_string()
            .into_bytes()
        };
        let (ours, theirs) = (
            json!({ "phone_number": "+18605550177" }),
            json!({ "phone_number": "+18605550143" }),
        );
        let named =
            |to, kind| shown(Stage::Ingress, &event(to, kind), false)["casino_number"].clone();
        assert_eq!(named(json!([ours]), "message.received"), "+18605550177");
        assert_eq!(
            named(json!([theirs, ours]), "message.received"),
            Value::Null,
            "a group's other members are guests"
        );
        assert_eq!(
            named(json!([theirs]), "message.finalized"),
            Value::Null,
            "what we sent went to a guest"
        );
    }

    #[test]
    fn every_stage_reads_its_own_message() {
        let id = Uuid::from_u128(7);
        let bytes = seven_bus::id_bytes(id);
        let cases = [
            (
                Stage::Swarm,
                events::ConversationSignal {
                    conversation_id: bytes.clone(),
                }
                .encode_to_vec(),
                "conversation_id",
            ),
            (
                Stage::Envelope,
                events::DraftReady {
                    turn_id: bytes.clone(),
                }
                .encode_to_vec(),
                "turn_id",
            ),
            (
                Stage::Sender,
                events::OutboundReady {
                    outbound_id: bytes.clone(),
                }
                .encode_to_vec(),
                "outbound_id",
            ),
            (
                Stage::Receipts,
                events::Receipt {
                    attempt_id: bytes,
                    ..Default::default()
                }
                .encode_to_vec(),
                "attempt_id",
            ),
        ];
        for (stage, payload, field) in cases {
            assert_eq!(shown(stage, &payload, false)[field], json!(id), "{stage}");
            assert_eq!(
                shown(stage, &[0xff; 40], false),
                json!({ "unreadable": true, "bytes": 40 }),
                "{stage}"
            );
        }
    }

    #[test]
    fn an_error_keeps_its_words_and_loses_what_it_quotes() {
        for (error, wanted) in [
            ("no casino has this number", "no casino has this number"),
            (
                "invalid type: string \"hi, it is Ana\", expected u32 at line 1 column 20",
                "invalid type: string \"…\", expected u32 at line 1 column 20",
            ),
            (
                "provider error 40008: from +18605550142",
                "provider error 40008: from +…",
            ),
            ("unbalanced \"quote of Ana", "unbalanced \"…\""),
            ("12345678 123456789é", "12345678 …é"),
        ] {
            assert_eq!(plain(error), wanted);
        }
    }
}
