//! The part of Telnyx's v2 API that senders, reconciliation and health checks use.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{ConnectInfo, FromRequestParts, Path, Query, State},
    http::{Method, header::AUTHORIZATION, request::Parts},
    response::Response,
    routing::get,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::{
    core::Core,
    dialect::{Dialect, injected},
    line::Cut,
    outbound,
    telnyx_error::TelnyxError,
};

type Params = Query<HashMap<String, String>>;

pub(crate) fn router() -> Router<Arc<Core>> {
    Router::new()
        .route("/v2/messages", get(list_messages).post(send_message))
        .route("/v2/messages/{id}", get(one_message))
        .route("/v2/detail_records", get(list_records))
        .route("/v2/messaging_optouts", get(list_opt_outs))
        .route("/v2/messaging_profiles", get(list_profiles))
        .route("/v2/balance", get(balance))
}

async fn send_message(
    _: Authorised,
    State(core): State<Arc<Core>>,
    ConnectInfo(line): ConnectInfo<Cut>,
    body: Bytes,
) -> Response {
    outbound::send(&core, &line, &body).await
}

async fn one_message(
    _: Authorised,
    State(core): State<Arc<Core>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, TelnyxError> {
    let sent = core.ledger.outbound(&id).map(|send| send.payload());
    let message = sent.or_else(|| core.ledger.inbound(&id).map(|text| text.payload()));
    let data = message.ok_or_else(|| TelnyxError::new("40303", "No message has this id."))?;
    Ok(Json(json!({"data": data})))
}

/// Lists messages, newest first, in pages. Filters: `filter[to]`, `filter[from]`,
/// `filter[webhook_url]`, and `filter[direction]`, which is outbound unless given.
async fn list_messages(
    _: Authorised,
    State(core): State<Arc<Core>>,
    Query(params): Params,
) -> Json<Value> {
    let wanted = |name: &str, value: Option<&str>| {
        params
            .get(name)
            .is_none_or(|want| value == Some(want.as_str()))
    };
    let records = core.ledger.snapshot();
    let messages: Vec<Value> = if params
        .get("filter[direction]")
        .is_some_and(|direction| direction == "inbound")
    {
        let texts = records.inbound.iter().rev();
        texts
            .filter(|m| wanted("filter[to]", Some(&m.to)) && wanted("filter[from]", Some(&m.from)))
            .map(|m| m.payload())
            .collect()
    } else {
        let sends = records.outbound.iter().rev();
        sends
            .filter(|m| {
                wanted("filter[to]", Some(&m.to)) && wanted("filter[from]", m.from.as_deref())
            })
            .filter(|m| wanted("filter[webhook_url]", m.webhook_url.as_deref()))
            .map(|m| m.payload())
            .collect()
    };
    page(messages, &params)
}

/// Lists message detail records, newest first unless `sort=created_at`. Needs
/// `filter[record_type]=messaging`; also filters by `direction`, `cli`, `cld` and `created_at`.
async fn list_records(
    _: Authorised,
    State(core): State<Arc<Core>>,
    Query(params): Params,
) -> Result<Json<Value>, TelnyxError> {
    if params
        .get("filter[record_type]")
        .is_none_or(|kind| kind != "messaging")
    {
        return Err(TelnyxError::new(
            "10015",
            "filter[record_type] must be 'messaging'.",
        ));
    }
    let (from, until) = (
        time(&params, "filter[created_at][gte]")?,
        time(&params, "filter[created_at][lt]")?,
    );
    let between = |at: DateTime<Utc>| {
        from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until)
    };
    let records = core.ledger.snapshot();
    let ours = |provider: &str| provider == Dialect::Telnyx.name();
    let texts = records
        .inbound
        .iter()
        .filter(|m| ours(&m.provider) && between(m.at));
    let sends = records
        .outbound
        .iter()
        .filter(|m| ours(&m.provider) && between(m.accepted_at));
    let mut all: Vec<(DateTime<Utc>, Value)> = texts
        .map(|m| (m.at, m.detail_record()))
        .chain(sends.map(|m| (m.accepted_at, m.detail_record())))
        .collect();
    for field in ["direction", "cli", "cld"] {
        if let Some(wanted) = params.get(&format!("filter[{field}]")) {
            all.retain(|(_, record)| record[field] == wanted.as_str());
        }
    }
    all.sort_by_key(|(at, _)| *at);
    if params.get("sort").is_none_or(|sort| sort != "created_at") {
        all.reverse();
    }
    Ok(page(
        all.into_iter().map(|(_, record)| record).collect(),
        &params,
    ))
}

/// Lists the guests whom Telnyx blocks after a STOP, oldest first. `from` is the casino's number
/// and `to` the guest's. Filters: `filter[from]`, `created_at[gte]`.
async fn list_opt_outs(
    _: Authorised,
    State(core): State<Arc<Core>>,
    Query(params): Params,
) -> Result<Json<Value>, TelnyxError> {
    let since = time(&params, "created_at[gte]")?;
    let records = core.ledger.snapshot();
    let stops = records.inbound.iter().filter(|m| {
        m.provider == Dialect::Telnyx.name()
            && m.autoresponse_type.as_deref() == Some("STOP")
            && core.ledger.is_blocked(&m.to, &m.from)
            && params
                .get("filter[from]")
                .is_none_or(|number| *number == m.to)
            && since.is_none_or(|since| m.occurred_at >= since)
    });
    let blocks = stops.map(|m| {
        json!({
            "from": m.to,
            "to": m.from,
            "keyword": m.text,
            "messaging_profile_id": null,
            "created_at": m.occurred_at,
        })
    });
    Ok(page(blocks.collect(), &params))
}

fn time(
    params: &HashMap<String, String>,
    name: &str,
) -> Result<Option<DateTime<Utc>>, TelnyxError> {
    let parse = |text: &String| {
        text.parse()
            .map_err(|_| TelnyxError::new("10015", format!("{name} is not a time.")))
    };
    params.get(name).map(parse).transpose()
}

async fn list_profiles(
    _: Authorised,
    State(core): State<Arc<Core>>,
    Query(params): Params,
) -> Json<Value> {
    let profile = json!({
        "record_type": "messaging_profile", "id": "00000000-0000-7000-8000-000000000001",
        "name": core.settings.casino_name,
        "enabled": true, "webhook_url": core.settings.webhook_url, "webhook_failover_url": "",
        "webhook_api_version": "2",
    });
    page(vec![profile], &params)
}

async fn balance(_: Key, State(core): State<Arc<Core>>) -> Json<Value> {
    let credit = if core.account_error(Dialect::Telnyx).as_deref() == Some(NO_FUNDS) {
        "0.00"
    } else {
        "100.00"
    };
    Json(json!({
        "data": {
            "record_type": "balance",
            "balance": credit,
            "available_credit": credit,
            "credit_limit": "0.00",
            "currency": "USD",
        },
    }))
}

fn page(all: Vec<Value>, params: &HashMap<String, String>) -> Json<Value> {
    let number_of = |name: &str, default| {
        params
            .get(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (size, number) = (
        number_of("page[size]", 20usize).clamp(1, 250),
        number_of("page[number]", 1).max(1),
    );
    let (total, pages) = (all.len(), all.len().div_ceil(size));
    let data: Vec<Value> = all
        .into_iter()
        .skip(size.saturating_mul(number - 1))
        .take(size)
        .collect();
    let meta = json!({
        "page_number": number,
        "page_size": size,
        "total_results": total,
        "total_pages": pages,
    });
    Json(json!({"data": data, "meta": meta}))
}

/// Error code of an account without funds. Sends fail with this code, but reads work.
const NO_FUNDS: &str = "20100";

/// An extractor that admits a request with the API key, unless a rule gives the account an error.
struct Authorised;

impl FromRequestParts<Arc<Core>> for Authorised {
    type Rejection = TelnyxError;

    async fn from_request_parts(parts: &mut Parts, core: &Arc<Core>) -> Result<Self, TelnyxError> {
        let Key = Key::from_request_parts(parts, core).await?;
        match core.account_error(Dialect::Telnyx) {
            // The send handler refuses sends itself, so that the ledger records the refusals.
            Some(code) if code != NO_FUNDS && parts.method != Method::POST => Err(injected(&code)),
            _ => Ok(Self),
        }
    }
}

/// An extractor that admits a request with the API key, whatever error the account has.
struct Key;

impl FromRequestParts<Arc<Core>> for Key {
    type Rejection = TelnyxError;

    async fn from_request_parts(parts: &mut Parts, core: &Arc<Core>) -> Result<Self, TelnyxError> {
        let presented = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        if presented.and_then(|value| value.strip_prefix("Bearer "))
            == Some(core.settings.api_key.as_str())
        {
            return Ok(Self);
        }
        Err(TelnyxError::new(
            "10009",
            "The API key is missing or wrong.",
        ))
    }
}
