//! Reads and answers the embedding calls of both wire formats.

use serde_json::{Value, json};

use super::{
    answered::Answered,
    play::Play,
    script::{Format, Received},
};

const GEMINI_FIELDS: &[&str] = &[
    "model",
    "content",
    "taskType",
    "title",
    "outputDimensionality",
];
const OPENAI_FIELDS: &[&str] = &["model", "input", "encoding_format", "dimensions", "user"];
/// Maximum number of requests in one batch of Gemini's API.
const GEMINI_BATCH: usize = 100;

pub(super) fn read(path: &str, route: &str, key: Option<String>, body: &Value) -> Option<Received> {
    let (format, model, embedded) = if route == "/v1/embeddings" {
        let model = body["model"].as_str().unwrap_or_default();
        let input = match &body["input"] {
            Value::String(text) => vec![text.clone()],
            input => input
                .as_array()?
                .iter()
                .filter_map(|text| text.as_str().map(str::to_owned))
                .collect(),
        };
        (Format::OpenAi, model, input)
    } else {
        let (model, verb) = route.strip_prefix("/v1beta/models/")?.split_once(':')?;
        let requests = match verb {
            "embedContent" => std::slice::from_ref(body),
            "batchEmbedContents" => body["requests"].as_array()?.as_slice(),
            _ => return None,
        };
        (Format::Gemini, model, requests.iter().map(text).collect())
    };
    Some(Received {
        format,
        model: model.to_owned(),
        path: path.to_owned(),
        key,
        last_text: embedded.last().cloned().unwrap_or_default(),
        tool_results: Vec::new(),
        tools: Vec::new(),
        embedded,
        body: body.clone(),
    })
}

/// Returns title and text joined, as the model reads them.
fn text(request: &Value) -> String {
    let parts = request
        .pointer("/content/parts")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let texts = parts.iter().filter_map(|part| part["text"].as_str());
    request["title"]
        .as_str()
        .into_iter()
        .chain(texts)
        .collect::<Vec<_>>()
        .join("\n")
}

pub(super) fn objection(request: &Received) -> Option<String> {
    if request.embedded.iter().any(|text| text.trim().is_empty()) {
        return Some("the text to embed is empty".into());
    }
    let body = &request.body;
    let stranger = |body: &Value, known: &[&str]| {
        body.as_object()?
            .keys()
            .find(|name| !known.contains(&name.as_str()))
            .map(|name| format!("unknown name {name}"))
    };
    if request.format == Format::OpenAi {
        return stranger(body, OPENAI_FIELDS);
    }
    if request.key.as_deref().unwrap_or_default().is_empty() {
        return Some("Method doesn't allow unregistered callers".into());
    }
    let requests = body["requests"]
        .as_array()
        .map_or(std::slice::from_ref(body), Vec::as_slice);
    if requests.len() > GEMINI_BATCH {
        return Some("at most 100 requests can be in one batch".into());
    }
    requests.iter().find_map(|one| {
        let task = one["taskType"].as_str();
        if one["model"] != format!("models/{}", request.model) {
            return Some("model: the name of the batch's model is expected".to_owned());
        }
        if one.get("title").is_some() && task != Some("RETRIEVAL_DOCUMENT") {
            return Some("title is only for RETRIEVAL_DOCUMENT".to_owned());
        }
        stranger(one, GEMINI_FIELDS)
    })
}

pub(super) fn answer(request: &Received, vector: fn(&str) -> Vec<f32>, play: &Play) -> Answered {
    let mut vectors = request.embedded.iter().map(|text| vector(text));
    let body = match request.format {
        Format::Gemini if request.path.contains(":embedContent") => {
            json!({ "embedding": { "values": vectors.next() } })
        }
        Format::Gemini => {
            json!({
                "embeddings": vectors.map(|values| json!({ "values": values })).collect::<Vec<_>>(),
            })
        }
        Format::OpenAi => {
            let data = vectors.enumerate();
            let mut data: Vec<Value> = data
                .map(|(index, embedding)| {
                    json!({
                        "object": "embedding",
                        "index": index,
                        "embedding": embedding,
                    })
                })
                .collect();
            // Lists the vectors in reverse, so that a client fails if it ignores `index` and trusts
            // the order.
            data.reverse();
            let tokens = play.tokens.0;
            let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
            json!({ "object": "list", "data": data, "model": request.model, "usage": usage })
        }
    };
    (200, body.to_string())
}
