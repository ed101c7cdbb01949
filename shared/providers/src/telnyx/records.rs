//! Implements [`Records`] with `GET /v2/detail_records`, `GET /v2/messages/{id}` (messages of the
//! last ten days) and `GET /v2/messaging_optouts`.

use chrono::{DateTime, SecondsFormat, Utc};
use reqwest::StatusCode;
use secrecy::ExposeSecret;
use serde_json::Value;
use seven_domain::{AttemptId, PhoneE164};

use super::{NAME, send::Telnyx, webhook::plain};
use crate::{
    describe,
    records::{Direction, Message, OptOut, Page, Record, Records, RecordsFuture, Span, Unread},
};

/// Number of detail records on a full page.
const PAGE: usize = 50;

impl Records for Telnyx {
    fn name(&self) -> &'static str {
        NAME
    }

    fn texts<'a>(&'a self, span: &'a Span, page: usize) -> RecordsFuture<'a, Page<Record>> {
        Box::pin(async move {
            let (direction, ours) = match span.direction {
                Direction::Inbound => ("inbound", "filter[cld]"),
                Direction::Outbound => ("outbound", "filter[cli]"),
            };
            let query = [
                ("filter[record_type]", "messaging".to_owned()),
                ("filter[direction]", direction.to_owned()),
                (ours, span.number.as_str().to_owned()),
                ("filter[created_at][gte]", written(span.from)),
                ("filter[created_at][lt]", written(span.until)),
                ("sort", "created_at".to_owned()),
                ("page[number]", page.to_string()),
                ("page[size]", PAGE.to_string()),
            ];
            let body = self.look("v2/detail_records", &query).await?;
            page_of(&body.unwrap_or_default(), |item| {
                record(item, span.direction)
            })
        })
    }

    fn message<'a>(&'a self, message_id: &'a str) -> RecordsFuture<'a, Option<Message>> {
        Box::pin(async move {
            // The id becomes part of the path, so only characters that occur in ids are accepted.
            if !message_id
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            {
                return Ok(None);
            }
            let Some(body) = self.look(&format!("v2/messages/{message_id}"), &[]).await? else {
                return Ok(None);
            };
            message(body.get("data").unwrap_or(&Value::Null))
                .map(Some)
                .ok_or_else(|| unreadable("a message"))
        })
    }

    fn opt_outs<'a>(
        &'a self,
        number: &'a PhoneE164,
        since: DateTime<Utc>,
        page: usize,
    ) -> RecordsFuture<'a, Page<OptOut>> {
        Box::pin(async move {
            let query = [
                ("filter[from]", number.as_str().to_owned()),
                ("created_at[gte]", written(since)),
                ("page[number]", page.to_string()),
                ("page[size]", PAGE.to_string()),
            ];
            let body = self.look("v2/messaging_optouts", &query).await?;
            page_of(&body.unwrap_or_default(), opt_out)
        })
    }
}

impl Telnyx {
    /// Makes a GET request and returns the answer's JSON; `None` for 404.
    async fn look(&self, path: &str, query: &[(&str, String)]) -> Result<Option<Value>, Unread> {
        let url = self
            .settings
            .base_url
            .join(path)
            .map_err(|_| unreadable("the address"))?;
        let request = self
            .client
            .get(url)
            .query(query)
            .bearer_auth(self.settings.api_key.expose_secret());
        let response = request.send().await.map_err(|e| Unread {
            problem: describe(&e),
            transient: true,
        })?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        if !status.is_success() {
            let transient = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(Unread {
                problem: format!("HTTP {}", status.as_u16()),
                transient,
            });
        }
        let body = response.bytes().await.map_err(|e| Unread {
            problem: describe(&e),
            transient: true,
        })?;
        serde_json::from_slice(&body)
            .map(Some)
            .map_err(|_| unreadable("an answer"))
    }
}

fn written(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn unreadable(what: &str) -> Unread {
    Unread {
        problem: format!("{what} could not be read"),
        transient: false,
    }
}

/// Reads a page. One unreadable record fails the whole page. If the record were skipped, its text
/// would seem never to have reached the provider.
fn page_of<T>(body: &Value, read: impl Fn(&Value) -> Option<T>) -> Result<Page<T>, Unread> {
    let data = body
        .get("data")
        .and_then(Value::as_array)
        .ok_or_else(|| unreadable("a list"))?;
    let items: Option<Vec<T>> = data.iter().map(read).collect();
    let meta = |key: &str| {
        body.get("meta")
            .and_then(|meta| meta.get(key))
            .and_then(Value::as_u64)
    };
    let last = match (meta("page_number"), meta("total_pages")) {
        (Some(page), Some(pages)) => page >= pages,
        _ => data.len() < PAGE,
    };
    Ok(Page {
        items: items.ok_or_else(|| unreadable("a line of a list"))?,
        last,
    })
}

fn word(value: &Value, key: &str) -> Option<String> {
    value
        .get(key)?
        .as_str()
        .filter(|text| plain(text))
        .map(str::to_owned)
}

fn moment(value: &Value, key: &str) -> Option<DateTime<Utc>> {
    value.get(key)?.as_str()?.parse().ok()
}

fn record(item: &Value, direction: Direction) -> Option<Record> {
    let guest = if direction == Direction::Inbound {
        "cli"
    } else {
        "cld"
    };
    Some(Record {
        message_id: word(item, "uuid")?,
        guest: word(item, guest)?,
        at: moment(item, "created_at")?,
        status: word(item, "status").unwrap_or_default(),
    })
}

fn opt_out(item: &Value) -> Option<OptOut> {
    Some(OptOut {
        guest: word(item, "to")?,
        at: moment(item, "created_at")?,
    })
}

fn message(data: &Value) -> Option<Message> {
    let first = data
        .get("to")
        .and_then(|to| to.get(0))
        .unwrap_or(&Value::Null);
    let times = ["completed_at", "sent_at", "received_at"];
    Some(Message {
        message_id: word(data, "id")?,
        from: word(data.get("from")?, "phone_number")?,
        to: word(first, "phone_number")?,
        text: data.get("text").and_then(Value::as_str).map(str::to_owned),
        media_count: data
            .get("media")
            .and_then(Value::as_array)
            .map_or(0, Vec::len),
        autoresponse: word(data, "autoresponse_type"),
        at: times.iter().find_map(|key| moment(data, key))?,
        status: word(first, "status").unwrap_or_default(),
        error_code: data
            .get("errors")
            .and_then(|errors| errors.get(0))
            .and_then(|error| word(error, "code")),
        attempt: word(data, "webhook_url").and_then(|url| attempt(&url)),
    })
}

/// Reads the attempt's id from the end of the webhook address that our request named.
fn attempt(url: &str) -> Option<AttemptId> {
    url.rsplit('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_says_where_it_ends_and_hides_no_gap() {
        let line = json!({
            "uuid": "m1",
            "cli": "+18605550142",
            "cld": "+18605550100",
            "created_at": "2026-11-22T10:00:00Z",
            "status": "received",
        });
        let read = |body: Value| page_of(&body, |item| record(item, Direction::Inbound));
        let page =
            read(json!({"data": [line], "meta": {"page_number": 1, "total_pages": 3}})).unwrap();
        assert!(!page.last);
        assert_eq!(page.items[0].guest, "+18605550142");
        assert!(
            read(json!({"data": [line]})).unwrap().last,
            "a short page without meta is the last"
        );
        assert!(read(json!({"data": [line, {"uuid": "m2"}]})).is_err());
        assert!(read(json!({})).is_err());
    }

    #[test]
    fn a_message_names_the_attempt_it_was_sent_for() {
        let id = "01935aaa-0000-7000-8000-000000000001";
        let body = json!({"id": "m1", "from": {"phone_number": "+18605550100"},
            "to": [{"phone_number": "+18605550142", "status": "delivered"}],
            "text": "hi", "completed_at": "2026-11-22T10:00:01Z",
            "webhook_url": format!("https://us.example/webhooks/telnyx/{id}")});
        let read = message(&body).unwrap();
        assert_eq!(read.attempt, id.parse().ok());
        assert_eq!(read.status, "delivered");
        assert_eq!(attempt("https://us.example/webhooks/telnyx"), None);
    }
}
