//! Reads Twilio's webhooks: the form of an inbound message or of a status callback. Neither has a
//! time, so the time of receipt is used.

use chrono::{DateTime, Utc};
use url::form_urlencoded;

use crate::telnyx::webhook::{Event, Received, Status, Unreadable, plain};

/// Returns the form's decoded fields. A body that is not a form gives none of the expected fields.
pub fn fields(body: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(body).into_owned().collect()
}

/// Reads the fields of a call with a verified signature; `now` is the time of receipt.
pub fn parse(fields: &[(String, String)], now: DateTime<Utc>) -> Result<Event, Unreadable> {
    let form = Form(fields);
    let message_id = form.id("MessageSid").or_else(|_| form.id("SmsSid"))?;
    match form
        .get("MessageStatus")
        .or_else(|| form.get("SmsStatus").filter(|status| *status != "received"))
    {
        Some(status) if plain(status) => Ok(Event::Status(Status {
            // Twilio gives a call no id. It sends each status of a message only once, so the
            // message's id and the status together identify the call.
            event_id: format!("{message_id}:{status}"),
            from: form.get("From").unwrap_or_default().to_owned(),
            status: word(status).to_owned(),
            error_code: form
                .get("ErrorCode")
                .filter(|code| plain(code) && *code != "0")
                .map(str::to_owned),
            carrier: None,
            message_id,
            occurred_at: now,
        })),
        Some(_) => Err(Unreadable::new("MessageStatus", "no plain text")),
        None => Ok(Event::Received(Received {
            event_id: message_id.clone(),
            from: form.required("From")?,
            to: vec![form.required("To")?],
            text: form
                .get("Body")
                .filter(|body| !body.is_empty())
                .map(str::to_owned),
            media_count: form
                .get("NumMedia")
                .and_then(|n| n.parse().ok())
                .unwrap_or(0),
            autoresponse: form
                .get("OptOutType")
                .filter(|kind| plain(kind))
                .map(str::to_owned),
            message_id,
            occurred_at: now,
        })),
    }
}

/// Converts Twilio's status to the words that our receipts use.
fn word(status: &str) -> &str {
    match status {
        "accepted" | "scheduled" => "queued",
        "undelivered" => "delivery_failed",
        "failed" | "canceled" => "sending_failed",
        "read" => "delivered",
        other => other,
    }
}

struct Form<'a>(&'a [(String, String)]);

impl<'a> Form<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0
            .iter()
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }

    fn required(&self, name: &'static str) -> Result<String, Unreadable> {
        self.get(name)
            .map(str::to_owned)
            .ok_or_else(|| Unreadable::new(name, "missing"))
    }

    fn id(&self, name: &'static str) -> Result<String, Unreadable> {
        match self.get(name) {
            Some(text) if plain(text) => Ok(text.to_owned()),
            Some(_) => Err(Unreadable::new(
                name,
                "not a text of 1 to 200 bytes without control characters",
            )),
            None => Err(Unreadable::new(name, "missing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(body: &str) -> Result<Event, Unreadable> {
        parse(&fields(body.as_bytes()), DateTime::UNIX_EPOCH)
    }

    #[test]
    fn reads_a_text() {
        let body = "ToCountry=US&SmsMessageSid=SM1&NumMedia=0&SmsSid=SM1&SmsStatus=received&Body=any+italian+place%3F&To=%2B18605550120\
                    &NumSegments=1&MessageSid=SM1&AccountSid=AC1&From=%2B18605550142&ApiVersion=2010-04-01";
        let Ok(Event::Received(text)) = read(body) else {
            panic!("{:?}", read(body))
        };
        assert_eq!(
            (text.message_id.as_str(), text.event_id.as_str()),
            ("SM1", "SM1")
        );
        assert_eq!(text.from, "+18605550142");
        assert_eq!(text.to, ["+18605550120"]);
        assert_eq!(
            (text.text.as_deref(), text.media_count, text.autoresponse),
            (Some("any italian place?"), 0, None)
        );
    }

    #[test]
    fn reads_what_advanced_opt_out_says() {
        let body = "MessageSid=SM2&From=%2B18605550142&To=%2B18605550120&Body=STOP&OptOutType=STOP&NumMedia=0";
        let Ok(Event::Received(text)) = read(body) else {
            panic!("{:?}", read(body))
        };
        assert_eq!(text.autoresponse.as_deref(), Some("STOP"));
    }

    #[test] // SMS-43
    fn statuses_become_our_words() {
        for (theirs, ours, code) in [
            ("queued", "queued", None),
            ("accepted", "queued", None),
            ("sent", "sent", None),
            ("delivered", "delivered", None),
            ("read", "delivered", None),
            ("undelivered", "delivery_failed", Some("30003")),
            ("failed", "sending_failed", Some("30008")),
            ("a word of next year", "a word of next year", None),
        ] {
            let error = code
                .map(|code| format!("&ErrorCode={code}"))
                .unwrap_or_default();
            let body = format!(
                "MessageSid=SM3&MessageStatus={theirs}&From=%2B18605550120&To=%2B18605550142{error}"
            );
            let Ok(Event::Status(status)) = read(&body) else {
                panic!("{:?}", read(&body))
            };
            assert_eq!(
                (status.status.as_str(), status.error_code.as_deref()),
                (ours, code),
                "{theirs}"
            );
            assert_eq!(status.event_id, format!("SM3:{theirs}"));
        }
    }

    #[test]
    fn what_is_no_message_names_its_field() {
        assert_eq!(read("").unwrap_err().field, "SmsSid");
        assert_eq!(read("MessageSid=SM4&Body=hi").unwrap_err().field, "From");
        assert_eq!(
            read("MessageSid=SM%0A4&MessageStatus=sent")
                .unwrap_err()
                .field,
            "SmsSid"
        );
    }

    proptest! {
        #[test]
        fn no_body_panics(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _read = parse(&fields(&body), DateTime::UNIX_EPOCH);
        }
    }
}
