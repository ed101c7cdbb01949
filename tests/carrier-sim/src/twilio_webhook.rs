//! Messages in Twilio's format: as its API returns them, and as its webhooks report them. These
//! webhooks are signed forms.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use sha1::Sha1;
use tokio::time::Instant;
use url::form_urlencoded;

use crate::{
    core::Core,
    record::{Attempt, Inbound, Outbound},
    webhook,
};

pub(crate) type Fields = Vec<(String, String)>;

/// Builds Twilio's message resource.
pub(crate) fn message(core: &Core, sent: &Outbound) -> Value {
    let account = &core.settings.twilio.account_sid;
    let error = sent
        .errors
        .first()
        .and_then(|error| error["code"].as_str())
        .and_then(|code| code.parse::<u32>().ok());
    json!({
        "sid": sent.id, "account_sid": account, "api_version": "2010-04-01", "body": sent.text,
        "direction": "outbound-api",
        "from": sent.from, "to": sent.to, "messaging_service_sid": sent.messaging_profile_id,
        "status": word(&sent.status),
        "error_code": error, "error_message": null, "num_segments": sent.parts.to_string(),
        "num_media": "0",
        "price": null, "price_unit": "USD", "date_created": sent.accepted_at.to_rfc2822(),
        "date_sent": sent.sent_at.map(|at| at.to_rfc2822()),
        "uri": format!("/2010-04-01/Accounts/{account}/Messages/{}.json", sent.id),
    })
}

/// Translates a status of the ledger, which uses Telnyx's words, into Twilio's word.
pub(crate) fn word(status: &str) -> &str {
    match status {
        "delivery_failed" => "undelivered",
        "sending_failed" => "failed",
        other => other,
    }
}

pub(crate) fn fields(pairs: &[(&str, &str)]) -> Fields {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Builds the form fields of a status callback.
pub(crate) fn status(core: &Core, sent: &Outbound, status: &str, payload: &Value) -> Fields {
    let status = word(status);
    let mut form = fields(&[
        ("SmsSid", &sent.id),
        ("SmsStatus", status),
        ("MessageStatus", status),
        ("To", &sent.to),
        ("MessageSid", &sent.id),
        ("AccountSid", &core.settings.twilio.account_sid),
        ("From", sent.from.as_deref().unwrap_or_default()),
        ("ApiVersion", "2010-04-01"),
    ]);
    if let Some(code) = payload["errors"][0]["code"].as_str() {
        form.push(("ErrorCode".to_owned(), code.to_owned()));
    }
    form
}

/// Builds the form fields of an inbound message.
pub(crate) fn received(core: &Core, text: &Inbound) -> Fields {
    let (media, parts) = (text.media.len().to_string(), text.parts.to_string());
    let mut form = fields(&[
        ("ToCountry", "US"),
        ("SmsMessageSid", &text.message_id),
        ("NumMedia", &media),
        ("SmsSid", &text.message_id),
        ("SmsStatus", "received"),
        ("FromCountry", "US"),
        ("Body", text.text.as_deref().unwrap_or_default()),
        ("To", &text.to),
        ("NumSegments", &parts),
        ("MessageSid", &text.message_id),
        ("AccountSid", &core.settings.twilio.account_sid),
        ("From", &text.from),
        ("ApiVersion", "2010-04-01"),
    ]);
    if let Some(kind) = &text.autoresponse_type {
        form.push(("OptOutType".to_owned(), kind.clone()));
    }
    form
}

/// Splits a webhook URL into the URL to call and the number of retries. The URL's fragment gives
/// this number, such as `#rc=3`; Twilio calls this a connection override.
pub(crate) fn overrides(url: &str) -> (&str, usize) {
    match url.split_once('#') {
        None => (url, 0),
        Some((address, fragment)) => {
            let again = fragment
                .split('&')
                .find_map(|pair| pair.strip_prefix("rc="));
            (address, again.and_then(|n| n.parse().ok()).unwrap_or(0))
        }
    }
}

/// Calls the webhook once with these fields, signed as Twilio signs them.
pub(crate) async fn call(core: &Core, url: &str, attempt: u32, fields: &Fields) -> Attempt {
    let (at, started) = (core.now(), Instant::now());
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let request = core
        .client
        .post(url)
        .header(
            CONTENT_TYPE,
            "application/x-www-form-urlencoded; charset=utf-8",
        )
        .header(
            "x-twilio-signature",
            sign(&core.settings.twilio.auth_token, url, fields),
        )
        .header("i-twilio-idempotency-token", core.ids.uuid().to_string())
        .body(body);
    webhook::finish(request, attempt, url, at, at.timestamp(), started).await
}

pub(crate) fn sign(token: &str, url: &str, fields: &Fields) -> String {
    let mut sorted = fields.clone();
    sorted.sort();
    let signed = sorted
        .into_iter()
        .fold(url.to_owned(), |text, (name, value)| text + &name + &value);
    let mut mac =
        Hmac::<Sha1>::new_from_slice(token.as_bytes()).expect("an HMAC takes a key of any length");
    mac.update(signed.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the test vector of Twilio's own libraries.
    #[test]
    fn signs_as_twilio_does() {
        let call = fields(&[
            ("To", "+18005551212"),
            ("CallSid", "CA1234567890ABCDE"),
            ("Caller", "+14158675309"),
            ("Digits", "1234"),
            ("From", "+14158675309"),
        ]);
        let url = "https://mycompany.com/myapp.php?foo=1&bar=2";
        assert_eq!(sign("12345", url, &call), "RSOYDt4T1cUTdK1PDd93/VVr8B8=");
    }

    #[test]
    fn calls_again_only_where_the_address_asks() {
        assert_eq!(overrides("http://h/w"), ("http://h/w", 0));
        assert_eq!(overrides("http://h/w#rc=3&rp=all"), ("http://h/w", 3));
        assert_eq!(overrides("http://h/w#ct=500"), ("http://h/w", 0));
    }
}
