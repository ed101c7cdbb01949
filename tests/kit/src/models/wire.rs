//! Passes each request to the module of its wire format.

use serde_json::Value;

use super::{
    answered::Answered,
    embeddings, gemini, openai,
    play::{Answer, Play},
    script::{Format, Received},
};

pub(super) fn read(path: &str, key: Option<String>, body: Value) -> Option<Received> {
    let route = path.split('?').next().unwrap_or_default();
    if route == "/v1/chat/completions" {
        return Some(openai::read(path, key, body));
    }
    if let Some(received) = embeddings::read(path, route, key.clone(), &body) {
        return Some(received);
    }
    let model = route
        .strip_prefix("/v1beta/models/")?
        .strip_suffix(":generateContent")?;
    Some(gemini::read(model, path, key, body))
}

/// Returns why the real provider would refuse the request; `None` if it would accept it.
pub(super) fn objection(request: &Received) -> Option<String> {
    if !request.embedded.is_empty() {
        return embeddings::objection(request);
    }
    match request.format {
        Format::Gemini => gemini::objection(request),
        Format::OpenAi => openai::objection(request),
    }
}

pub(super) fn answer(request: &Received, nth: usize, play: &Play) -> Answered {
    if let Answer::Vectors(vector) = play.answer {
        return embeddings::answer(request, vector, play);
    }
    match request.format {
        Format::Gemini => gemini::answer(request, nth, play),
        Format::OpenAi => openai::answer(request, nth, play),
    }
}

pub(super) fn problem(format: Format, status: u16, message: &str) -> String {
    match format {
        Format::Gemini => gemini::problem(status, message),
        Format::OpenAi => openai::problem(status, message),
    }
    .to_string()
}
