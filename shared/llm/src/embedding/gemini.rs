//! Gemini's `embedContent` for a question and `batchEmbedContents` for content (v1beta, REST).
//!
//! Each request says whether it embeds a question or a document; a document is sent with its title.
//! Shortened vectors do not have unit length; the caller normalises them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use seven_knowledge::Purpose;

use super::{Settings, raw::Raw};
use crate::{
    Usage,
    chat::Error,
    gemini::{google, problem},
    http::{Endpoint, parse},
};

#[derive(Debug)]
pub(super) struct Gemini {
    one: Endpoint,
    many: Endpoint,
    /// `models/<model>`, which each request of a batch has to repeat.
    model: String,
    dimension: usize,
}

#[derive(Deserialize)]
struct One {
    embedding: Values,
}

#[derive(Deserialize)]
struct Many {
    /// In the order of the requests.
    embeddings: Vec<Values>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<f32>,
}

impl Gemini {
    pub(super) fn new(name: &str, settings: &Settings) -> Result<Self, Error> {
        let key = settings.api_key.as_ref();
        let key = key.ok_or_else(|| Error::Setup {
            model: name.to_owned(),
            reason: "Gemini asks for an API key",
        })?;
        let base = settings.base_url.clone().unwrap_or_else(google);
        let endpoint = |verb: &str| {
            let call = format!("{}:{verb}", settings.model);
            Endpoint::new(
                name.to_owned(),
                &base,
                &["v1beta", "models", &call],
                Some(("x-goog-api-key", "", key)),
            )
        };
        let one = endpoint("embedContent")?;
        let many = endpoint("batchEmbedContents")?;
        Ok(Self {
            one,
            many,
            model: format!("models/{}", settings.model),
            dimension: settings.dimension,
        })
    }

    pub(super) async fn embed(
        &self,
        texts: &[&str],
        purpose: Purpose,
        deadline: Duration,
    ) -> Result<Raw, Error> {
        if let [text] = texts {
            let body = self
                .one
                .post(&self.content(text, purpose), deadline, problem)
                .await?;
            let answer: One = parse(&self.one.name, &body)?;
            return Ok((vec![answer.embedding.values], Usage::default()));
        }
        let requests: Vec<Value> = texts
            .iter()
            .map(|text| self.content(text, purpose))
            .collect();
        let body = self
            .many
            .post(&json!({ "requests": requests }), deadline, problem)
            .await?;
        let answer: Many = parse(&self.many.name, &body)?;
        Ok((
            answer.embeddings.into_iter().map(|e| e.values).collect(),
            Usage::default(),
        ))
    }

    fn content(&self, text: &str, purpose: Purpose) -> Value {
        let (title, body) = text
            .split_once('\n')
            .filter(|(_, body)| !body.trim().is_empty())
            .unwrap_or(("", text));
        let mut request = json!({ "model": self.model, "outputDimensionality": self.dimension });
        match purpose {
            Purpose::Query => {
                request["taskType"] = "RETRIEVAL_QUERY".into();
                request["content"] = json!({ "parts": [{ "text": text }] });
            }
            Purpose::Document => {
                request["taskType"] = "RETRIEVAL_DOCUMENT".into();
                request["content"] = json!({ "parts": [{ "text": body }] });
                if !title.is_empty() {
                    request["title"] = title.into();
                }
            }
        }
        request
    }
}
