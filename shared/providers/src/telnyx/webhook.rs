//! Parses webhook bodies in every form that Telnyx sends: `to` as a list or as text, null texts,
//! unknown fields.

use chrono::{DateTime, Utc};
use serde_json::Value;

/// An event with a verified signature.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Received(Received),
    Status(Status),
    /// Another event, which is acknowledged and counted, but not handled (D2).
    Other {
        event_type: String,
    },
}

/// The event `message.received`.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    pub event_id: String,
    pub message_id: String,
    pub from: String,
    /// Every recipient. A group message has several, and our number may be any of them.
    pub to: Vec<String>,
    /// `None` if the message has only media. If a media message has a subject, the subject is put
    /// before its text.
    pub text: Option<String>,
    pub media_count: usize,
    pub autoresponse: Option<String>,
    pub occurred_at: DateTime<Utc>,
}

/// The event `message.sent` or `message.finalized`.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub event_id: String,
    pub message_id: String,
    /// The casino's number; empty if the provider does not name it.
    pub from: String,
    pub status: String,
    pub error_code: Option<String>,
    /// The recipient's carrier, if the provider names it.
    pub carrier: Option<String>,
    pub occurred_at: DateTime<Utc>,
}

/// A body with a valid signature that cannot be used as an event. The error names the field and the
/// problem, but not the field's content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("webhook field {field}: {problem}")]
pub struct Unreadable {
    pub field: &'static str,
    pub problem: String,
}

impl Unreadable {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self {
            field,
            problem: problem.into(),
        }
    }
}

/// Reads a body whose signature was verified.
pub fn parse(body: &[u8]) -> Result<Event, Unreadable> {
    let envelope: Value = serde_json::from_slice(body)
        .or_else(|error| serde_json::from_slice(&without_lone_surrogates(body)).map_err(|_| error))
        .map_err(|e| {
            Unreadable::new("(body)", format!("{:?} at line {}", e.classify(), e.line()))
        })?;
    let data = envelope
        .get("data")
        .filter(|d| d.is_object())
        .ok_or_else(|| Unreadable::new("data", "missing or no object"))?;
    let event_type = text(data, "event_type", "data.event_type")?;
    match event_type.as_str() {
        "message.received" => received(data).map(Event::Received),
        "message.sent" | "message.finalized" => status(data).map(Event::Status),
        _ => Ok(Event::Other { event_type }),
    }
}

fn received(data: &Value) -> Result<Received, Unreadable> {
    let payload = payload(data)?;
    Ok(Received {
        event_id: text(data, "id", "data.id")?,
        message_id: text(payload, "id", "data.payload.id")?,
        from: number(payload.get("from"))
            .ok_or_else(|| Unreadable::new("data.payload.from", "no phone_number"))?,
        to: recipients(payload)?,
        text: match payload.get("text") {
            None | Some(Value::Null) => subject(payload),
            Some(Value::String(text)) => Some(with_subject(subject(payload), text)),
            Some(_) => {
                return Err(Unreadable::new(
                    "data.payload.text",
                    "neither text nor null",
                ));
            }
        },
        media_count: payload
            .get("media")
            .and_then(Value::as_array)
            .map_or(0, Vec::len),
        autoresponse: payload
            .get("autoresponse_type")
            .and_then(Value::as_str)
            .filter(|t| plain(t))
            .map(str::to_owned),
        occurred_at: occurred_at(data)?,
    })
}

fn status(data: &Value) -> Result<Status, Unreadable> {
    let payload = payload(data)?;
    let first = match payload.get("to") {
        Some(Value::Array(list)) => list.first(),
        other => other,
    };
    let status = first
        .and_then(|to| to.get("status"))
        .and_then(Value::as_str)
        .filter(|s| plain(s));
    Ok(Status {
        event_id: text(data, "id", "data.id")?,
        message_id: text(payload, "id", "data.payload.id")?,
        from: number(payload.get("from")).unwrap_or_default(),
        status: status
            .ok_or_else(|| {
                Unreadable::new("data.payload.to[0].status", "missing or no plain text")
            })?
            .to_owned(),
        error_code: payload
            .get("errors")
            .and_then(|e| e.get(0))
            .and_then(|e| e.get("code"))
            .and_then(code),
        carrier: first
            .and_then(|to| to.get("carrier"))
            .and_then(Value::as_str)
            .filter(|c| plain(c))
            .map(str::to_owned),
        occurred_at: occurred_at(data)?,
    })
}

fn payload(data: &Value) -> Result<&Value, Unreadable> {
    data.get("payload")
        .filter(|p| p.is_object())
        .ok_or_else(|| Unreadable::new("data.payload", "missing or no object"))
}

fn text(object: &Value, key: &str, field: &'static str) -> Result<String, Unreadable> {
    match object.get(key) {
        Some(Value::String(text)) if plain(text) => Ok(text.clone()),
        Some(_) => Err(Unreadable::new(
            field,
            "not a text of 1 to 200 bytes without control characters",
        )),
        None => Err(Unreadable::new(field, "missing")),
    }
}

/// Returns true for short text without control characters. Ids become headers on the bus, where a
/// line break would begin a new header. They are also stored in Postgres, which takes no NUL.
pub(crate) fn plain(text: &str) -> bool {
    (1..=200).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// Returns the numbers in `to` and `cc`.
fn recipients(payload: &Value) -> Result<Vec<String>, Unreadable> {
    let listed = |key: &str| match payload.get(key) {
        Some(Value::Array(list)) => list.iter().filter_map(|one| number(Some(one))).collect(),
        other => number(other).into_iter().collect::<Vec<_>>(),
    };
    let all = [listed("to"), listed("cc")].concat();
    if all.is_empty() {
        Err(Unreadable::new("data.payload.to", "no phone_number"))
    } else {
        Ok(all)
    }
}

fn subject(payload: &Value) -> Option<String> {
    payload
        .get("subject")
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|subject| !subject.is_empty())
        .map(str::to_owned)
}

/// Puts the subject before the text, because some phones put the guest's whole text into the
/// subject.
fn with_subject(subject: Option<String>, text: &str) -> String {
    match subject {
        Some(subject) if text.trim().is_empty() => subject,
        Some(subject) if subject != text.trim() => format!("{subject}\n{text}"),
        _ => text.to_owned(),
    }
}

/// Replaces every unpaired escaped surrogate by U+FFFD. A phone that cuts an emoji in two sends
/// such a surrogate; a JSON parser would refuse the whole body because of it.
fn without_lone_surrogates(body: &[u8]) -> Vec<u8> {
    let unit = |at: usize| {
        let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    while at < body.len() {
        if body[at] != b'\\' {
            out.push(body[at]);
            at += 1;
            continue;
        }
        let length = match unit(at) {
            // Any other escape is skipped as two bytes. Otherwise the second backslash of `\\`
            // would count as the start of an escape.
            None => 2,
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                out.extend_from_slice(b"\\ufffd");
                at += 6;
                continue;
            }
            Some(_) => 6,
        };
        let end = (at + length).min(body.len());
        out.extend_from_slice(&body[at..end]);
        at = end;
    }
    out
}

/// Reads a phone number from an object with `phone_number`, from the first element of a list, or
/// from plain text (in older events).
fn number(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => number(list.first()),
        object => object
            .get("phone_number")
            .and_then(Value::as_str)
            .map(str::to_owned),
    }
}

fn code(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|c| plain(c))
        .map(str::to_owned)
        .or_else(|| value.as_u64().map(|n| n.to_string()))
}

fn occurred_at(data: &Value) -> Result<DateTime<Utc>, Unreadable> {
    let text = text(data, "occurred_at", "data.occurred_at")?;
    DateTime::parse_from_rfc3339(&text)
        .map(|t| t.with_timezone(&Utc))
        .map_err(|e| Unreadable::new("data.occurred_at", e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn received_event() -> Value {
        json!({"data": {"event_type": "message.received", "id": "e1",
            "occurred_at": "2026-11-22T19:00:00.000+00:00", "record_type": "event",
            "payload": {"id": "m1", "direction": "inbound", "type": "SMS", "text": "hi",
                "media": [],
                "from": {"phone_number": "+18605550142", "carrier": "x", "line_type": "long_code"},
                "to": [{"phone_number": "+18605550100", "status": "webhook_delivered"}]}},
            "meta": {"attempt": 1, "delivered_to": "http://127.0.0.1/"}})
    }

    fn read(value: &Value) -> Result<Event, Unreadable> {
        parse(value.to_string().as_bytes())
    }

    #[test] // SMS-2
    fn reads_a_text_and_older_shapes_of_it() {
        let Event::Received(first) = read(&received_event()).unwrap() else {
            panic!("not received")
        };
        assert_eq!((first.text.as_deref(), first.media_count), (Some("hi"), 0));
        assert_eq!(first.to, ["+18605550100"]);
        let mut older = received_event();
        older["data"]["payload"]["to"] = json!("+18605550100");
        assert_eq!(read(&older).unwrap(), Event::Received(first));
    }

    #[test] // CONV-2
    fn media_alone_has_no_text() {
        let mut mms = received_event();
        mms["data"]["payload"]["text"] = Value::Null;
        mms["data"]["payload"]["media"] =
            json!([{"url": "http://127.0.0.1/x", "content_type": "image/png", "size": null}]);
        let Event::Received(mms) = read(&mms).unwrap() else {
            panic!("not received")
        };
        assert_eq!((mms.text, mms.media_count), (None, 1));
    }

    #[test] // CONV-2
    fn a_group_message_names_all_its_numbers_and_a_subject_is_text() {
        let mut mms = received_event();
        mms["data"]["payload"]["to"] =
            json!([{"phone_number": "+18605550142"}, {"phone_number": "+18605550143"}]);
        mms["data"]["payload"]["cc"] = json!([{"phone_number": "+18605550100"}]);
        mms["data"]["payload"]["subject"] = json!("STOP");
        mms["data"]["payload"]["text"] = json!("");
        let Event::Received(mms) = read(&mms).unwrap() else {
            panic!("not received")
        };
        assert_eq!(mms.to, ["+18605550142", "+18605550143", "+18605550100"]);
        assert_eq!(mms.text.as_deref(), Some("STOP"));
    }

    #[test] // D2: nothing is lost before the gate
    fn half_an_emoji_costs_no_text() {
        for (escaped, text) in [
            (r"STOP \ud83d", "STOP \u{fffd}"),
            (r"\udc4d hi", "\u{fffd} hi"),
            (r"\ud83d\udc4d\ud83d", "👍\u{fffd}"),
            (r"\ud83d\ud83d\udc4d", "\u{fffd}👍"),
            (r"a\\ud83d", r"a\ud83d"),
        ] {
            let body = received_event()
                .to_string()
                .replace("\"text\":\"hi\"", &format!("\"text\":\"{escaped}\""));
            let Ok(Event::Received(read)) = parse(body.as_bytes()) else {
                panic!("{escaped}")
            };
            assert_eq!(read.text.as_deref(), Some(text), "{escaped}");
        }
        assert!(parse(br#"{"data": "\ud83"#).is_err());
    }

    #[test] // SMS-43
    fn reads_a_receipt_with_its_error_code() {
        let event = json!({"data": {"event_type": "message.finalized", "id": "e2",
            "occurred_at": "2026-11-22T19:00:00Z",
            "payload": {"id": "m2", "from": {"phone_number": "+18605550100"},
                "to": [{
                    "phone_number": "+18605550142",
                    "status": "delivery_failed",
                    "carrier": "Some Wireless",
                }],
                "errors": [{"code": 40300, "title": "Blocked"}], "cost": {"amount": 0.0051}}}});
        let Event::Status(status) = read(&event).unwrap() else {
            panic!("no status")
        };
        assert_eq!(
            (status.status.as_str(), status.error_code.as_deref()),
            ("delivery_failed", Some("40300"))
        );
        assert_eq!(status.carrier.as_deref(), Some("Some Wireless"));
    }

    #[test]
    fn unknown_types_are_not_errors_and_broken_bodies_name_their_field() {
        assert!(matches!(
            read(&json!({"data": {"event_type": "10dlc.brand.update"}})),
            Ok(Event::Other { .. })
        ));
        assert_eq!(parse(b"\xff\xfe").unwrap_err().field, "(body)");
        for (path, field) in [
            ("/data/id", "data.id"),
            ("/data/payload/id", "data.payload.id"),
            ("/data/payload/from", "data.payload.from"),
            ("/data/occurred_at", "data.occurred_at"),
        ] {
            for odd in [json!({}), json!("two\r\nlines"), json!("zero\0")] {
                // `parse` accepts any string as `from`; whether it is a phone number is checked
                // later.
                if path == "/data/payload/from" && odd.is_string() {
                    continue;
                }
                let mut event = received_event();
                *event.pointer_mut(path).unwrap() = odd;
                assert_eq!(read(&event).unwrap_err().field, field);
            }
        }
    }
}
