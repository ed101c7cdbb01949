//! `POST /v2/messages`: one request per call, with pooled connections, a deadline and no hidden
//! retries.

use std::time::Duration;

use reqwest::{Client, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::NAME;
use crate::{
    ErrorClass, ProbeFuture, Provider, SendFuture, SendOutcome, SendRequest, describe, is_local,
    verdict,
};

#[derive(Debug, Clone)]
pub struct Settings {
    pub base_url: Url,
    pub api_key: SecretString,
    /// Our webhook's address; each request appends its attempt's id.
    pub webhook_url: Url,
    pub deadline: Duration,
}

#[derive(Debug, Clone)]
pub struct Telnyx {
    pub(super) client: Client,
    endpoint: Url,
    pub(super) settings: Settings,
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
struct Funds {
    data: Balance,
}
#[derive(Deserialize)]
struct Balance {
    balance: Option<String>,
    available_credit: Option<String>,
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
        let endpoint = settings
            .base_url
            .join("v2/messages")
            .map_err(|_| Error::BaseUrl)?;
        Ok(Self {
            client,
            endpoint,
            settings,
        })
    }

    async fn call(&self, request: &SendRequest) -> SendOutcome {
        let webhook = format!(
            "{}/{}",
            self.settings.webhook_url.as_str().trim_end_matches('/'),
            request.attempt
        );
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
                return SendOutcome::NotSent {
                    detail: describe(&error),
                };
            }
            Err(error) => {
                return SendOutcome::Ambiguous {
                    http_status: None,
                    detail: describe(&error),
                };
            }
        };
        let status = response.status();
        match response.bytes().await {
            Ok(body) => read(status, &body),
            Err(error) => SendOutcome::Ambiguous {
                http_status: Some(status.as_u16()),
                detail: describe(&error),
            },
        }
    }
}

impl Telnyx {
    /// Checks the key with `GET /v2/messaging_profiles` and the funds with `GET /v2/balance`.
    async fn ask(&self) -> Result<(), String> {
        self.get("v2/messaging_profiles?page[size]=1").await?;
        let balance: Funds =
            serde_json::from_slice(&self.get("v2/balance").await?).map_err(|e| e.to_string())?;
        // The balance is a decimal as text. If it cannot be parsed, the funds count as sufficient.
        let left = balance
            .data
            .available_credit
            .or(balance.data.balance)
            .and_then(|text| text.parse::<f64>().ok());
        if left.is_some_and(|left| left <= 0.0) {
            Err("no funds".to_owned())
        } else {
            Ok(())
        }
    }

    async fn get(&self, path: &str) -> Result<Vec<u8>, String> {
        let url = self
            .settings
            .base_url
            .join(path)
            .map_err(|e| e.to_string())?;
        let request = self
            .client
            .get(url)
            .bearer_auth(self.settings.api_key.expose_secret());
        let response = request.send().await.map_err(|e| describe(&e))?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("HTTP {}", status.as_u16()));
        }
        Ok(response.bytes().await.map_err(|e| describe(&e))?.to_vec())
    }
}

impl Provider for Telnyx {
    fn name(&self) -> &'static str {
        NAME
    }

    fn send<'a>(&'a self, request: &'a SendRequest) -> SendFuture<'a> {
        Box::pin(self.call(request))
    }

    fn probe(&self) -> ProbeFuture<'_> {
        Box::pin(self.ask())
    }

    fn is_local(&self) -> bool {
        is_local(&self.settings.base_url)
    }
}

fn read(status: StatusCode, body: &[u8]) -> SendOutcome {
    if status.is_success() {
        return match serde_json::from_slice::<Accepted>(body) {
            Ok(accepted) => SendOutcome::Accepted {
                provider_message_id: accepted.data.id,
            },
            Err(_) => SendOutcome::Ambiguous {
                http_status: Some(status.as_u16()),
                detail: "accepted, but without a message id".into(),
            },
        };
    }
    if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
        return SendOutcome::Ambiguous {
            http_status: Some(status.as_u16()),
            detail: "server error".into(),
        };
    }
    let problem = serde_json::from_slice::<Problems>(body)
        .ok()
        .and_then(|p| p.errors.into_iter().next());
    let (code, detail) = match problem {
        Some(Problem {
            code: serde_json::Value::String(code),
            title,
        }) => (code, title),
        Some(Problem { code, title }) => (code.to_string(), title),
        None => (String::new(), "no error code".into()),
    };
    let class = verdict(NAME, &code, status.as_u16()).class;
    if class == ErrorClass::Doubtful {
        return SendOutcome::Ambiguous {
            http_status: Some(status.as_u16()),
            detail: format!("code {code}"),
        };
    }
    SendOutcome::Refused {
        http_status: status.as_u16(),
        code,
        class,
        detail: detail.chars().take(200).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_by_how_sure_they_are() {
        let ok = read(
            StatusCode::OK,
            br#"{"data":{"id":"m1","to":[{"status":"queued"}]}}"#,
        );
        assert_eq!(
            ok,
            SendOutcome::Accepted {
                provider_message_id: "m1".into()
            }
        );
        assert!(matches!(
            read(StatusCode::OK, b"<html>"),
            SendOutcome::Ambiguous { .. }
        ));
        assert!(matches!(
            read(StatusCode::BAD_GATEWAY, b""),
            SendOutcome::Ambiguous {
                http_status: Some(502),
                ..
            }
        ));
        let stop = read(
            StatusCode::BAD_REQUEST,
            br#"{"errors":[{"code":"40300","title":"Blocked due to STOP message"}]}"#,
        );
        assert!(matches!(
            stop,
            SendOutcome::Refused {
                class: ErrorClass::OptedOut,
                ..
            }
        ));
        assert!(matches!(
            read(StatusCode::TOO_MANY_REQUESTS, b""),
            SendOutcome::Refused {
                class: ErrorClass::Throttled,
                ..
            }
        ));
    }
}
