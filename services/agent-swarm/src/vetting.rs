//! Compares the offers in a reply with the rows from which the reply was made, and with the current
//! promotions.

use std::sync::Arc;

use seven_compliance::offers::{self, OfferCheck};
use seven_domain::AuditEvent;
use seven_knowledge::{Category, Item, offers::catalogue};
use seven_llm::Request;
use seven_runtime::Error;
use seven_store::{Tx, audit::Entry};
use uuid::Uuid;

use crate::{agent_reply::AgentReply, turn_input::TurnInput, types::Work};

/// Checks a draft; `rows` are the content rows from which it was made.
pub(crate) fn vet<'a>(
    draft: &str,
    request: &Request,
    rows: impl Iterator<Item = &'a Arc<Item>>,
) -> OfferCheck {
    let known = || {
        let promotions = request
            .index
            .by_category(&Category::Promotions, request.now);
        catalogue(
            promotions.iter().map(Arc::as_ref),
            rows.map(Arc::as_ref),
            request.zone,
        )
    };
    offers::check_with(draft, known, request.now, request.zone)
}

/// Records offers that are sent although no promotion proves them, so that a person reviews them.
pub(crate) async fn flag(
    tx: &mut Tx,
    work: &Work,
    input: &TurnInput,
    agent_reply: &AgentReply,
    turn: Uuid,
) -> Result<(), Error> {
    let request = &input.request;
    let given = agent_reply
        .reply
        .sources
        .iter()
        .chain(agent_reply.record.context.iter().map(|row| &row.id));
    let rows: Vec<&Arc<Item>> = given.filter_map(|id| request.index.get(id)).collect();
    let Some(said) = vet(&agent_reply.reply.text, request, rows.into_iter()).audit else {
        return Ok(());
    };
    let (subject, detail) = (turn.to_string(), serde_json::json!({ "said": said }));
    let entry = Entry {
        trace: Some(&work.trace),
        ..Entry::of(AuditEvent::OfferFlagged, "agent-swarm", &subject, detail)
    };
    Ok(tx.audit(&entry).await?)
}
