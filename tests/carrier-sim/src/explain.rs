//! What the fleet can say about a reply, if whoever started the simulator lent it a way to ask.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::StatusCode,
    routing::get,
};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::core::Core;

type Answer = Pin<Box<dyn Future<Output = Option<Value>> + Send>>;

/// Answers which path led to a send attempt, in the words of the fleet; none when it does not know the attempt. The
/// simulator hands the answer on unread: it stays free of the fleet's store.
#[derive(Clone)]
pub struct Explain(Arc<dyn Fn(Uuid) -> Answer + Send + Sync>);

// === impl Explain ===

impl Explain {
    pub fn new<F>(explain: impl Fn(Uuid) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<Value>> + Send + 'static,
    {
        Self(Arc::new(move |attempt| Box::pin(explain(attempt))))
    }
}

impl fmt::Debug for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Explain(..)")
    }
}

pub(crate) fn router() -> Router<Arc<Core>> {
    Router::new().route("/sim/path", get(path))
}

#[derive(Debug, Deserialize)]
struct Asked {
    attempt: Uuid,
}

async fn path(
    State(core): State<Arc<Core>>,
    Query(Asked { attempt }): Query<Asked>,
) -> Result<Json<Value>, StatusCode> {
    let explain = core.settings.explain.as_ref().ok_or(StatusCode::NOT_FOUND)?;
    (explain.0)(attempt).await.map(Json).ok_or(StatusCode::NOT_FOUND)
}
