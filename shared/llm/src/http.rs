//! One POST request with a deadline, and the errors that its failures become. The wire formats of
//! Gemini and OpenAI both use it.

use std::{fmt, time::Duration};

use reqwest::{
    Client, Response, StatusCode, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::Instant;

use crate::chat::{Defect, Error, Usage};

/// Maximum size of an answer, in bytes; an answer for a text message is far smaller.
const MOST_BYTES: usize = 4 << 20;

/// The address of a model. Its key is kept in a header that neither `Debug` nor an error prints.
#[derive(Clone)]
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    /// Provider and model.
    pub(crate) name: String,
}

/// The part of a provider's error body that is safe to keep.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The provider's error code, reduced to letters, digits, `_`, `-` and `.`. The provider's
    /// message is not kept, because it may quote the prompt.
    pub(crate) code: String,
    pub(crate) wait: Option<Duration>,
    /// True if a quota is used up and waiting within a turn does not help.
    pub(crate) spent: bool,
    /// True if a content filter stopped the prompt.
    pub(crate) blocked: bool,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Creates an endpoint at the base URL plus `path`, without opening a connection. The process
    /// must have installed its TLS provider (rustls with ring) first.
    pub(crate) fn new(
        name: String,
        base: &Url,
        path: &[&str],
        key: Option<(&'static str, &str, &SecretString)>,
    ) -> Result<Self, Error> {
        let setup = |reason| Error::Setup {
            model: name.clone(),
            reason,
        };
        let mut url = base.clone();
        url.path_segments_mut()
            .map_err(|()| setup("the base URL cannot take a path"))?
            .pop_if_empty()
            .extend(path);
        let mut headers = HeaderMap::new();
        if let Some((header, scheme, key)) = key {
            let value = format!("{scheme}{}", key.expose_secret());
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| setup("the key does not fit into a header"))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(header), value);
        }
        let client = Client::builder()
            .default_headers(headers)
            .connect_timeout(Duration::from_secs(3))
            .redirect(reqwest::redirect::Policy::none())
            // `guarded.rs` makes, counts and logs retries, so the client must not add its own.
            .retry(reqwest::retry::never())
            .build()
            .map_err(|_| setup("the HTTP client cannot be built"))?;
        Ok(Self { client, url, name })
    }

    /// Posts `body` and returns the whole body of a 2xx answer.
    pub(crate) async fn post(
        &self,
        body: &Value,
        deadline: Duration,
        problem: fn(&Value) -> Problem,
    ) -> Result<Vec<u8>, Error> {
        let started = Instant::now();
        let exchange = async {
            let response = self
                .client
                .post(self.url.clone())
                .json(body)
                .send()
                .await
                .map_err(|e| self.lost(e, started))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = self.read(response, started).await;
            if status.is_success() {
                body
            } else {
                Err(self.failure(status, &headers, &body.unwrap_or_default(), problem))
            }
        };
        match tokio::time::timeout(deadline, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::Timeout {
                model: self.name.clone(),
                waited: deadline,
            }),
        }
    }

    async fn read(&self, mut response: Response, started: Instant) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.lost(error, started))?
        {
            if body.len() + chunk.len() > MOST_BYTES {
                return Err(self.unreadable("it is too long"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Returns the error for a body that breaks the wire format.
    pub(crate) fn unreadable(&self, why: &'static str) -> Error {
        Error::Answer {
            model: self.name.clone(),
            defect: Defect::Unreadable(why),
            usage: Usage::default(),
        }
    }

    fn lost(&self, error: reqwest::Error, started: Instant) -> Error {
        let model = self.name.clone();
        if error.is_timeout() && !error.is_connect() {
            return Error::Timeout {
                model,
                waited: started.elapsed(),
            };
        }
        Error::Connection {
            model,
            source: error.without_url(),
        }
    }

    fn failure(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        read: fn(&Value) -> Problem,
    ) -> Error {
        let problem = serde_json::from_slice(body)
            .map(|body: Value| read(&body))
            .unwrap_or_default();
        let model = self.name.clone();
        match status.as_u16() {
            429 if problem.spent => Error::QuotaSpent { model },
            429 => Error::RateLimited {
                model,
                after: retry_after(headers).or(problem.wait),
            },
            _ if problem.blocked => Error::Blocked {
                model,
                reason: problem.code,
                usage: Usage::default(),
            },
            status @ (408 | 500..=599) => Error::Unavailable { model, status },
            status => Error::Refused {
                model,
                status,
                code: problem.code,
            },
        }
    }
}

/// Reads the wait from the headers, in seconds or milliseconds. Ignores dates, because neither
/// provider sends them.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms")
        .map(|millis| millis / 1_000.0)
        .or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Reduces a provider's code to the characters that may be logged.
pub(crate) fn safe_code(code: &str) -> String {
    code.chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        .take(64)
        .collect()
}

/// Parses the body of a 2xx answer. A body that ends early and a body that is not JSON are
/// different errors.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(model: &str, body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|error| {
        let defect = match error.classify() {
            serde_json::error::Category::Eof => Defect::Truncated,
            serde_json::error::Category::Data => Defect::Unreadable("a field has another type"),
            _ => Defect::Unreadable("it is not JSON"),
        };
        Error::Answer {
            model: model.to_owned(),
            defect,
            usage: Usage::default(),
        }
    })
}

/// Returns a tool's arguments, which must be an object; null means no arguments.
pub(crate) fn arguments(
    nth: usize,
    name: &str,
    offered: &[crate::ToolSpec],
    value: Value,
) -> Result<Value, Defect> {
    match value {
        Value::Null => Ok(Value::Object(serde_json::Map::new())),
        Value::Object(_) => Ok(value),
        _ => Err(bad_arguments(nth, name, offered)),
    }
}

/// Returns the error for invalid arguments of a tool call. Names the tool only if we offered it,
/// because any other name is text of the model.
pub(crate) fn bad_arguments(nth: usize, name: &str, offered: &[crate::ToolSpec]) -> Defect {
    let tool = offered
        .iter()
        .any(|tool| tool.name == name)
        .then(|| name.to_owned());
    Defect::ToolArguments { nth, tool }
}
