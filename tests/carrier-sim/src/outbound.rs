//! Handles sends through the APIs of both providers. Checks a send as Telnyx does. Then accepts the
//! send, or lets it fail as a rule demands.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::json;
use seven_domain::PhoneE164;

use crate::{
    core::{Core, is_http_url},
    dialect::{Dialect, Problem},
    line::Cut,
    measure::measure,
    receipts,
    record::{Entry, Outbound, Refusal},
    rules::{Fault, Faults, Sending},
    telnyx_error::TelnyxError,
    twilio_webhook,
};

const MOST_PARTS: u32 = 10;
const MOST_MEDIA: usize = 10;
/// Time after which the connection of a send with a timeout fault is cut. It is multiplied by the
/// time scale, but is at least `SHORTEST_SILENCE`.
const SILENCE: Duration = Duration::from_secs(12);
const SHORTEST_SILENCE: Duration = Duration::from_secs(3);

/// Body of a send request. Unknown fields are ignored, as Telnyx does.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SendRequest {
    pub(crate) to: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) messaging_profile_id: Option<String>,
    media_urls: Vec<String>,
    subject: Option<String>,
    pub(crate) webhook_url: Option<String>,
    webhook_failover_url: Option<String>,
    tags: Vec<String>,
}

/// Parses and handles a send through Telnyx's API. The caller has checked the API key.
pub(crate) async fn send(core: &Arc<Core>, line: &Cut, body: &[u8]) -> Response {
    let request: SendRequest = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => {
            let problem = Problem::Telnyx(TelnyxError::new("10023", error.to_string()));
            return refuse(
                core,
                &SendRequest::default(),
                Dialect::Telnyx,
                problem,
                None,
            );
        }
    };
    take(core, line, Dialect::Telnyx, request).await
}

/// Handles a parsed send of either provider: refuses it, accepts it, or applies a fault.
pub(crate) async fn take(
    core: &Arc<Core>,
    line: &Cut,
    dialect: Dialect,
    request: SendRequest,
) -> Response {
    if let Some(code) = core.account_error(dialect) {
        return refuse(core, &request, dialect, dialect.injected(&code), None);
    }
    let draft = match check(core, dialect, &request) {
        Ok(draft) => draft,
        Err(error) => return refuse(core, &request, dialect, dialect.said(error), None),
    };
    let text = draft.text.as_deref().unwrap_or_default();
    let faults = core.strike(Sending {
        provider: dialect.name(),
        to: &draft.to,
        text,
    });
    let spoil =
        |code: &str, fault| refuse(core, &request, dialect, dialect.injected(code), Some(fault));
    match &faults.answer {
        Some(fault @ Fault::TooManyRequests) => spoil(dialect.too_many(), fault),
        Some(fault @ Fault::ServerErrorBefore) => spoil(dialect.server_error(), fault),
        Some(fault @ Fault::Error(code)) => spoil(code, fault),
        Some(fault @ (Fault::ConnectionReset | Fault::TimeoutBefore)) => {
            let patience = if *fault == Fault::TimeoutBefore {
                silence(core)
            } else {
                Duration::ZERO
            };
            record_refusal(core, &request, dialect, None, Some(fault));
            hang_up(line, patience).await
        }
        _ => answer(core, line, dialect, draft, faults).await,
    }
}

/// Accepts the message. A fault may nevertheless replace the answer or suppress it.
async fn answer(
    core: &Arc<Core>,
    line: &Cut,
    dialect: Dialect,
    mut draft: Outbound,
    faults: Faults,
) -> Response {
    draft.faults = [&faults.answer, &faults.receipts]
        .into_iter()
        .flatten()
        .map(Fault::label)
        .collect();
    let accepted = match dialect {
        Dialect::Telnyx => Json(json!({"data": draft.payload()})).into_response(),
        Dialect::Twilio => (
            StatusCode::CREATED,
            Json(twilio_webhook::message(core, &draft)),
        )
            .into_response(),
    };
    core.ledger.record(Entry::Accepted(draft.clone()));
    receipts::start(core, draft, faults.receipts);
    match faults.answer {
        Some(Fault::ServerErrorAfter) => dialect.injected(dialect.server_error()).into_response(),
        Some(Fault::TimeoutAfter) => hang_up(line, silence(core)).await,
        Some(Fault::ConnectionResetAfter) => hang_up(line, Duration::ZERO).await,
        _ => accepted,
    }
}

/// Makes the checks that Telnyx makes before it queues a message.
fn check(core: &Core, dialect: Dialect, request: &SendRequest) -> Result<Outbound, TelnyxError> {
    let to = request.to.clone().unwrap_or_default();
    if to.parse::<PhoneE164>().is_err() {
        return Err(TelnyxError::new(
            "40310",
            "The 'to' address should be in E.164 format.",
        ));
    }
    match &request.from {
        Some(from) if from.parse::<PhoneE164>().is_err() => {
            return Err(TelnyxError::new(
                "40305",
                "The 'from' address should be a number of the messaging profile.",
            ));
        }
        None if request.messaging_profile_id.is_none() => {
            return Err(TelnyxError::new(
                "40305",
                "Either 'from' or 'messaging_profile_id' is required.",
            ));
        }
        _ => {}
    }
    let text = request.text.as_deref().unwrap_or_default();
    if text.is_empty() && request.media_urls.is_empty() {
        return Err(TelnyxError::new("40316", "A message needs text or media."));
    }
    if request.media_urls.len() > MOST_MEDIA {
        return Err(TelnyxError::new(
            "40317",
            "An MMS carries ten items at most.",
        ));
    }
    let measured = measure(text);
    if measured.parts > MOST_PARTS {
        return Err(TelnyxError::new(
            "40302",
            "The text needs more than ten parts.",
        ));
    }
    let given = |url: &Option<String>| url.clone().filter(|url| !url.is_empty());
    let (webhook_url, webhook_failover_url) = (
        given(&request.webhook_url),
        given(&request.webhook_failover_url),
    );
    if [&webhook_url, &webhook_failover_url]
        .into_iter()
        .flatten()
        .any(|url| !is_http_url(url))
    {
        return Err(TelnyxError::new(
            "10027",
            "A webhook URL is not an http(s) URL.",
        ));
    }
    if request
        .from
        .as_deref()
        .is_some_and(|from| core.ledger.is_blocked(from, &to))
    {
        return Err(TelnyxError::new(
            "40300",
            "The recipient replied STOP to this number.",
        ));
    }
    Ok(Outbound {
        provider: dialect.name().to_owned(),
        id: dialect.message_id(&core.ids),
        from: request.from.clone(),
        to,
        text: request.text.clone(),
        media_urls: request.media_urls.clone(),
        subject: request.subject.clone(),
        encoding: measured.encoding.to_owned(),
        parts: measured.parts,
        messaging_profile_id: request.messaging_profile_id.clone(),
        webhook_url,
        webhook_failover_url,
        tags: request.tags.clone(),
        accepted_at: core.now(),
        sent_at: None,
        completed_at: None,
        status: "queued".to_owned(),
        errors: Vec::new(),
        faults: Vec::new(),
        receipts: Vec::new(),
    })
}

fn silence(core: &Core) -> Duration {
    core.scale.at_least(SILENCE, SHORTEST_SILENCE)
}

fn refuse(
    core: &Core,
    request: &SendRequest,
    dialect: Dialect,
    problem: Problem,
    fault: Option<&Fault>,
) -> Response {
    record_refusal(core, request, dialect, Some(&problem), fault);
    problem.into_response()
}

fn record_refusal(
    core: &Core,
    request: &SendRequest,
    dialect: Dialect,
    problem: Option<&Problem>,
    fault: Option<&Fault>,
) {
    core.ledger.record(Entry::Refused(Refusal {
        provider: dialect.name().to_owned(),
        at: core.now(),
        from: request.from.clone(),
        to: request.to.clone(),
        text: request.text.clone(),
        webhook_url: request.webhook_url.clone(),
        http_status: problem.map(|problem| problem.http_status().as_u16()),
        code: problem.map(|problem| problem.code().to_owned()),
        fault: fault.map(Fault::label),
    }));
}

/// Cuts the connection without an answer: the response returned here is never written.
async fn hang_up(line: &Cut, patience: Duration) -> Response {
    tokio::time::sleep(patience).await;
    line.cut();
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}
