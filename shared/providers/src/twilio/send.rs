//! `POST /2010-04-01/Accounts/{sid}/Messages.json`: one request per call, as a form, with basic
//! authentication and no hidden retries.

use std::time::Duration;

use reqwest::{
    Client, StatusCode, Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::form_urlencoded;

use super::NAME;
use crate::{
    ErrorClass, ProbeFuture, Provider, SendFuture, SendOutcome, SendRequest, describe, is_local,
    verdict,
};

#[derive(Debug, Clone)]
pub struct Settings {
    pub base_url: Url,
    pub account_sid: String,
    /// The user for basic authentication: the SID of the account or of an API key.
    pub user: String,
    /// The auth token, or the secret of the API key, that belongs to `user`.
    pub secret: SecretString,
    /// Our webhook's address; each request appends its attempt's id.
    pub webhook_url: Url,
    pub deadline: Duration,
}

#[derive(Debug, Clone)]
pub struct Twilio {
    client: Client,
    account: Url,
    settings: Settings,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("building the HTTP client")]
    Client(#[from] reqwest::Error),
    #[error("the Twilio base URL cannot take a path; expected one like https://api.twilio.com/")]
    BaseUrl,
    #[error("a Twilio account SID is letters and digits, such as AC followed by 32 of them")]
    AccountSid,
}

#[derive(Deserialize)]
struct Accepted {
    sid: String,
}
#[derive(Deserialize)]
struct Problem {
    code: Option<serde_json::Value>,
    #[serde(default)]
    message: String,
}
#[derive(Deserialize)]
struct Account {
    status: String,
}

/// A fragment appended to our webhook's address. It makes Twilio repeat a webhook call up to three
/// times after a 5xx or no answer. The fragment is neither sent nor signed.
const CALL_AGAIN: &str = "rc=3&rp=all";

impl Twilio {
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let client = Client::builder()
            .timeout(settings.deadline)
            .connect_timeout(Duration::from_secs(3))
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        if settings.account_sid.is_empty()
            || !settings
                .account_sid
                .bytes()
                .all(|b| b.is_ascii_alphanumeric())
        {
            return Err(Error::AccountSid);
        }
        let path = format!("2010-04-01/Accounts/{}", settings.account_sid);
        let account = settings.base_url.join(&path).map_err(|_| Error::BaseUrl)?;
        Ok(Self {
            client,
            account,
            settings,
        })
    }

    fn at(&self, what: &str) -> Url {
        let mut url = self.account.clone();
        url.set_path(&format!("{}{what}", self.account.path()));
        url
    }

    fn form(&self, request: &SendRequest) -> String {
        let mut callback = self.settings.webhook_url.clone();
        callback.set_path(&format!(
            "{}/{}",
            callback.path().trim_end_matches('/'),
            request.attempt
        ));
        callback.set_fragment(Some(CALL_AGAIN));
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("To", request.to.as_str());
        // Names the number even if a messaging service is used, so that status callbacks contain
        // one of the casino's numbers. The service's pool must contain this number.
        form.append_pair("From", request.from.as_str());
        if let Some(service) = &request.messaging_profile_id {
            form.append_pair("MessagingServiceSid", service);
        }
        form.append_pair("Body", &request.text)
            .append_pair("StatusCallback", callback.as_str());
        form.finish()
    }

    async fn call(&self, request: &SendRequest) -> SendOutcome {
        let sent = self
            .client
            .post(self.at("/Messages.json"))
            .basic_auth(
                &self.settings.user,
                Some(self.settings.secret.expose_secret()),
            )
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .body(self.form(request))
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

    /// Reads the account: a wrong key gives HTTP 401, and an account without funds has the status
    /// `suspended`.
    async fn ask(&self) -> Result<(), String> {
        let request = self.client.get(self.at(".json")).basic_auth(
            &self.settings.user,
            Some(self.settings.secret.expose_secret()),
        );
        let response = request.send().await.map_err(|e| describe(&e))?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("HTTP {}", status.as_u16()));
        }
        let account: Account = response
            .json()
            .await
            .map_err(|_| "no account in the answer".to_owned())?;
        if account.status == "active" {
            Ok(())
        } else {
            Err(format!("the account is {}", account.status))
        }
    }
}

impl Provider for Twilio {
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
    let http_status = status.as_u16();
    if status.is_success() {
        return match serde_json::from_slice::<Accepted>(body) {
            Ok(accepted) if !accepted.sid.is_empty() => SendOutcome::Accepted {
                provider_message_id: accepted.sid,
            },
            _ => SendOutcome::Ambiguous {
                http_status: Some(http_status),
                detail: "accepted, but without a message id".into(),
            },
        };
    }
    if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
        return SendOutcome::Ambiguous {
            http_status: Some(http_status),
            detail: "server error".into(),
        };
    }
    let problem = serde_json::from_slice::<Problem>(body).ok();
    let (code, detail) = match problem {
        Some(Problem {
            code: Some(serde_json::Value::String(code)),
            message,
        }) => (code, message),
        Some(Problem {
            code: Some(serde_json::Value::Number(code)),
            message,
        }) => (code.to_string(), message),
        Some(Problem { message, .. }) => (String::new(), message),
        None => (String::new(), "no error code".into()),
    };
    let class = verdict(NAME, &code, http_status).class;
    if class == ErrorClass::Doubtful {
        return SendOutcome::Ambiguous {
            http_status: Some(http_status),
            detail: format!("code {code}"),
        };
    }
    // Twilio's messages may quote phone numbers, so a message that contains a plus sign is dropped.
    let detail = if detail.contains('+') {
        String::new()
    } else {
        detail.chars().take(200).collect()
    };
    SendOutcome::Refused {
        http_status,
        code,
        class,
        detail,
    }
}

#[cfg(test)]
#[path = "send_tests.rs"]
mod tests;
