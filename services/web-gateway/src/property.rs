//! `GET /property` and `GET /health` (WEB-60, WEB-61).

use std::collections::BTreeSet;

use axum::{
    Json,
    extract::{Query, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};
use seven_domain::{CasinoId, Language};

use crate::{
    app::Shared,
    call::{casino_of, named},
    problem::Problem,
};

#[derive(Debug, Deserialize)]
pub(crate) struct Which {
    pub(crate) casino: Option<CasinoId>,
    /// The language of the page; without it, the browser's preference decides.
    pub(crate) lang: Option<Language>,
}

/// Returns the casino's summary: its name and state, and what its content covers.
pub(crate) async fn property(
    State(app): State<Shared>,
    Query(which): Query<Which>,
) -> Result<Json<Value>, Problem> {
    let casino = named(&app, which.casino)?;
    let config = casino_of(&app, &casino).await?;
    let mut tx = app.fleet.store.bind(&casino).await?;
    let categories = tx.active_categories().await?;
    tx.commit().await?;
    let items: i64 = categories.iter().map(|(_, items)| items).sum();
    let categories: BTreeSet<&String> = categories.iter().map(|(category, _)| category).collect();
    Ok(Json(json!({
        "casino": casino,
        "name": config.prompts.casino_name_display,
        "location": config.regulations.state,
        "categories": categories,
        "document_count": items,
    })))
}

/// Reports whether the gateway can take messages. While it cannot, a load balancer sends no traffic
/// to this gateway.
pub(crate) async fn health(State(app): State<Shared>) -> (StatusCode, Json<Value>) {
    let (bus, store) = tokio::join!(app.fleet.bus.ready(), app.fleet.store.ready());
    let healthy = bus && store;
    let status = match healthy {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    let body = json!({
        "status": if healthy { "healthy" } else { "degraded" },
        "version": env!("CARGO_PKG_VERSION"),
        "agent_ready": bus,
        "property_loaded": store && !app.fleet.roster.serving().is_empty(),
    });
    (status, Json(body))
}
