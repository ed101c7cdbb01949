//! `POST /v2/messages`: one request per call, pooled connections, a deadline, no hidden retries.

use std::time::Duration;

use reqwest::{Client, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::classify;
use crate::{Provider, SendFuture, SendOutcome, SendRequest};

#[derive(Debug, Clone)]
pub struct Settings {
    pub base_url: Url,
    pub api_key: SecretString,
    /// Our webhook's address; each request adds its attempt id to it.
    pub webhook_url: Url,
    pub deadline: Duration,
}

#[derive(Debug, Clone)]
pub struct Telnyx {
    client: Client,
    endpoint: Url,
    settings: Settings,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("building the HTTP client")]
    Client(#[from] reqwest::Error),
    #[error("the Telnyx base URL cannot take a path; expected one like https://api.telnyx.com/")]
    BaseUrl,
}

#[derive(Deserialize)]
struct Accepted {
    data: AcceptedData,
}
#[derive(Deserialize)]
struct AcceptedData {
    id: String,
}
#[derive(Deserialize)]
struct Problems {
    errors: Vec<Problem>,
}
#[derive(Deserialize)]
struct Problem {
    code: serde_json::Value,
    #[serde(default)]
    title: String,
}

impl Telnyx {
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let client = Client::builder()
            .timeout(settings.deadline)
            .connect_timeout(Duration::from_secs(3))
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let endpoint = settings.base_url.join("v2/messages").map_err(|_| Error::BaseUrl)?;
        Ok(Self { client, endpoint, settings })
    }

    async fn call(&self, request: &SendRequest) -> SendOutcome {
        let webhook = format!("{}/{}", self.settings.webhook_url.as_str().trim_end_matches('/'), request.attempt);
        let mut body = json!({
            "from": request.from.as_str(),
            "to": request.to.as_str(),
            "text": request.text,
            "type": "SMS",
            "webhook_url": webhook,
            "use_profile_webhooks": false,
        });
        if let Some(profile) = &request.messaging_profile_id {
            body["messaging_profile_id"] = json!(profile);
        }
        let sent = self
            .client
            .post(self.endpoint.clone())
            .bearer_auth(self.settings.api_key.expose_secret())
            .json(&body)
            .send()
            .await;
        let response = match sent {
            Ok(response) => response,
            Err(error) if error.is_connect() || error.is_builder() => {
                return SendOutcome::NotSent { detail: describe(&error) };
            }
            Err(error) => return SendOutcome::Ambiguous { http_status: None, detail: describe(&error) },
        };
        let status = response.status();
        match response.bytes().await {
            Ok(body) => read(status, &body),
            Err(error) => SendOutcome::Ambiguous { http_status: Some(status.as_u16()), detail: describe(&error) },
        }
    }
}

impl Provider for Telnyx {
    fn name(&self) -> &'static str {
        "telnyx"
    }

    fn send<'a>(&'a self, request: &'a SendRequest) -> SendFuture<'a> {
        Box::pin(self.call(request))
    }

    fn is_local(&self) -> bool {
        match self.settings.base_url.host_str() {
            Some(host) => {
                host == "localhost"
                    || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
            }
            None => false,
        }
    }
}

fn read(status: StatusCode, body: &[u8]) -> SendOutcome {
    if status.is_success() {
        return match serde_json::from_slice::<Accepted>(body) {
            Ok(accepted) => SendOutcome::Accepted { provider_message_id: accepted.data.id },
            Err(_) => SendOutcome::Ambiguous {
                http_status: Some(status.as_u16()),
                detail: "accepted, but without a message id".into(),
            },
        };
    }
    if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
        return SendOutcome::Ambiguous { http_status: Some(status.as_u16()), detail: "server error".into() };
    }
    let problem = serde_json::from_slice::<Problems>(body).ok().and_then(|p| p.errors.into_iter().next());
    let (code, detail) = match problem {
        Some(Problem { code: serde_json::Value::String(code), title }) => (code, title),
        Some(Problem { code, title }) => (code.to_string(), title),
        None => (String::new(), "no error code".into()),
    };
    let class = classify(&code, status.as_u16());
    SendOutcome::Refused { http_status: status.as_u16(), code, class, detail: detail.chars().take(200).collect() }
}

/// The error's kind without its URL, which holds the attempt.
fn describe(error: &reqwest::Error) -> String {
    let kind = if error.is_connect() {
        "connection refused or not established"
    } else if error.is_timeout() {
        "no answer before the deadline"
    } else {
        "connection broken"
    };
    kind.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;

    #[test]
    fn answers_are_read_by_how_sure_they_are() {
        let ok = read(StatusCode::OK, br#"{"data":{"id":"m1","to":[{"status":"queued"}]}}"#);
        assert_eq!(ok, SendOutcome::Accepted { provider_message_id: "m1".into() });
        assert!(matches!(read(StatusCode::OK, b"<html>"), SendOutcome::Ambiguous { .. }));
        assert!(matches!(read(StatusCode::BAD_GATEWAY, b""), SendOutcome::Ambiguous { http_status: Some(502), .. }));
        let stop =
            read(StatusCode::BAD_REQUEST, br#"{"errors":[{"code":"40300","title":"Blocked due to STOP message"}]}"#);
        assert!(matches!(stop, SendOutcome::Refused { class: ErrorClass::OptedOut, .. }));
        assert!(matches!(
            read(StatusCode::TOO_MANY_REQUESTS, b""),
            SendOutcome::Refused { class: ErrorClass::Throttled, .. }
        ));
    }
}
