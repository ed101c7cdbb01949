//! OpenAI's `/embeddings`, which llama.cpp, vLLM and Ollama offer too.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::{
    Settings,
    raw::{Raw, unreadable},
};
use crate::{
    Usage,
    chat::Error,
    http::{Endpoint, parse},
    openai::problem,
};

#[derive(Debug)]
pub(super) struct OpenAi {
    endpoint: Endpoint,
    model: String,
    /// The number of values to request for each vector; `None` if the server does not accept the
    /// field `dimensions`.
    dimension: Option<usize>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Datum>,
    usage: Option<Billed>,
}

#[derive(Deserialize)]
struct Datum {
    /// Position of the text in the request; the server may return the vectors in another order.
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Billed {
    prompt_tokens: Option<u64>,
}

fn openai() -> Url {
    Url::parse("https://api.openai.com/v1/").expect("a constant URL")
}

impl OpenAi {
    pub(super) fn new(name: &str, settings: &Settings) -> Result<Self, Error> {
        let base = settings.base_url.clone().unwrap_or_else(openai);
        let key = settings
            .api_key
            .as_ref()
            .map(|key| ("authorization", "Bearer ", key));
        let endpoint = Endpoint::new(name.to_owned(), &base, &["embeddings"], key)?;
        let dimension = settings.ask_for_dimension.then_some(settings.dimension);
        Ok(Self {
            endpoint,
            model: settings.model.clone(),
            dimension,
        })
    }

    /// Embeds the texts. There is no parameter for the purpose, because these models embed
    /// questions and documents alike.
    pub(super) async fn embed(&self, texts: &[&str], deadline: Duration) -> Result<Raw, Error> {
        let mut body = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        if let Some(dimension) = self.dimension {
            body["dimensions"] = dimension.into();
        }
        let answer = self.endpoint.post(&body, deadline, problem).await?;
        let answer: Answer = parse(&self.endpoint.name, &answer)?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for datum in answer.data {
            *vectors
                .get_mut(datum.index)
                .ok_or_else(|| unreadable(&self.endpoint))? = datum.embedding;
        }
        let input_tokens = answer
            .usage
            .and_then(|usage| usage.prompt_tokens)
            .unwrap_or_default();
        Ok((
            vectors,
            Usage {
                input_tokens,
                output_tokens: 0,
            },
        ))
    }
}
