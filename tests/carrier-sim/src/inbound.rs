//! Handles a guest's text: builds, records and delivers its webhook (`message.received` at Telnyx).

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    core::Core,
    dialect::Dialect,
    error::Error,
    measure::measure,
    record::{Delivery, Entry, Inbound},
    webhook::{self, Job, Says, event_data},
};

/// Body of `POST /sim/inbound`. Omitted fields get made-up values; a caller sets `event_id` and
/// `message_id` to repeat an event.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// `twilio` for a text to the casino's number at Twilio; by default Telnyx.
    #[serde(default)]
    pub provider: Option<String>,
    pub from: String,
    /// The number texted; by default the casino's number from the settings.
    #[serde(default)]
    pub to: Option<String>,
    #[serde(default)]
    pub text: Option<String>,
    /// URLs, or objects in Telnyx's shape.
    #[serde(default)]
    pub media: Vec<Value>,
    #[serde(default)]
    pub event_id: Option<String>,
    #[serde(default)]
    pub message_id: Option<String>,
    #[serde(default)]
    pub occurred_at: Option<DateTime<Utc>>,
    /// The keyword (STOP, START or HELP) that the provider's webhook reports as answered by the
    /// provider. By default, this is the keyword that the provider recognises in the text, if any.
    #[serde(default)]
    pub autoresponse: Option<String>,
}

/// The event id and the message id of an accepted text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Texted {
    pub event_id: String,
    pub message_id: String,
}

#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) texted: Texted,
    pub(crate) delivery: Uuid,
    /// Completes when the delivery has ended; fails if the simulator stops before.
    pub(crate) settled: tokio::sync::oneshot::Receiver<()>,
}

/// Records the text and starts its delivery.
pub(crate) fn accept(core: &Arc<Core>, text: Text) -> Result<Accepted, Error> {
    if text.from.trim().is_empty() {
        return Err(Error::request("from: a number is needed"));
    }
    if text.text.is_none() && text.media.is_empty() {
        return Err(Error::request("text or media is needed"));
    }
    let at = core.now();
    let measured = measure(text.text.as_deref().unwrap_or_default());
    let keyword = text
        .text
        .as_deref()
        .and_then(carrier_keyword)
        .filter(|_| core.blocks_on_stop());
    let at_twilio = text.provider.as_deref() == Some(Dialect::Twilio.name());
    let dialect = if at_twilio {
        Dialect::Twilio
    } else {
        Dialect::Telnyx
    };
    let url = if at_twilio {
        &core.settings.twilio.webhook_url
    } else {
        &core.settings.webhook_url
    };
    let record = Inbound {
        provider: dialect.name().to_owned(),
        event_id: text.event_id.unwrap_or_else(|| core.ids.uuid().to_string()),
        message_id: text
            .message_id
            .unwrap_or_else(|| dialect.message_id(&core.ids)),
        from: text.from,
        to: text
            .to
            .unwrap_or_else(|| core.settings.casino_number.clone()),
        text: text.text,
        media: text.media.into_iter().map(media_item).collect(),
        encoding: measured.encoding.to_owned(),
        parts: measured.parts,
        occurred_at: text.occurred_at.unwrap_or(at),
        at,
        autoresponse_type: text.autoresponse.or_else(|| keyword.map(str::to_owned)),
        delivery: Delivery::new(core.ids.uuid(), vec![url.clone()]),
    };
    let job = Job {
        delivery: record.delivery.id,
        says: match dialect {
            Dialect::Telnyx => Says::Telnyx(event_data(
                &record.event_id,
                "message.received",
                record.occurred_at,
                &record.payload(),
            )),
            Dialect::Twilio => Says::Twilio(crate::twilio_webhook::received(core, &record)),
        },
        urls: record.delivery.urls.clone(),
        first_call: None,
    };
    let texted = Texted {
        event_id: record.event_id.clone(),
        message_id: record.message_id.clone(),
    };
    core.ledger.record(Entry::Inbound(record));
    let (done, settled) = tokio::sync::oneshot::channel();
    let delivery = job.delivery;
    let background = core.clone();
    core.spawn(async move {
        webhook::deliver(&background, job).await;
        // Sending fails when nobody waits, which is normal without `?wait=true`.
        let _waiting = done.send(());
    });
    Ok(Accepted {
        texted,
        delivery,
        settled,
    })
}

/// Turns a bare URL into a media object in Telnyx's format. An object stays as it is.
fn media_item(item: Value) -> Value {
    match item {
        Value::String(url) => {
            json!({"url": url, "content_type": null, "size": null, "hash_sha256": null})
        }
        other => other,
    }
}

/// If the whole message is a keyword on which Telnyx itself acts, returns that keyword
/// (specification 05, section 1.7). Case does not matter. Telnyx does not act on REVOKE and OPT
/// OUT.
fn carrier_keyword(text: &str) -> Option<&'static str> {
    match text.trim().to_uppercase().as_str() {
        "STOP" | "STOPALL" | "STOP ALL" | "UNSUBSCRIBE" | "CANCEL" | "END" | "QUIT" => Some("STOP"),
        "START" | "UNSTOP" => Some("START"),
        "HELP" => Some("HELP"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carrier_knows_only_its_own_words() {
        for stop in ["STOP", " stop ", "Stop All", "quit"] {
            assert_eq!(carrier_keyword(stop), Some("STOP"), "{stop}");
        }
        for other in ["REVOKE", "opt out", "please stop all messages", "STOP."] {
            assert_eq!(carrier_keyword(other), None, "{other}");
        }
        assert_eq!(carrier_keyword("unstop"), Some("START"));
        assert_eq!(carrier_keyword("help"), Some("HELP"));
    }

    #[test]
    fn media_keeps_the_shape_it_is_given() {
        assert_eq!(media_item(json!("http://m/1.jpg"))["url"], "http://m/1.jpg");
        assert_eq!(
            media_item(json!({"url": "u", "sha256": "x"})),
            json!({"url": "u", "sha256": "x"})
        );
    }
}
