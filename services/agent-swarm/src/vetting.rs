//! Checks the offers in a reply against the rows from which it was made and the current promotions.

use std::sync::Arc;

use seven_compliance::offers::{self, Catalogue, OfferCheck, Promotion, Row};
use seven_domain::AuditEvent;
use seven_knowledge::{Category, Item, formatter, item::Details};
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
    let promotions = || {
        request
            .index
            .by_category(&Category::Promotions, request.now)
    };
    let catalogue = || Catalogue {
        promotions: promotions()
            .iter()
            .map(|item| promotion(item, request))
            .collect(),
        rows: rows
            .map(|item| Row {
                text: wording(item, request).join(" "),
                prices: Vec::new(),
            })
            .collect(),
    };
    offers::check_with(draft, catalogue, request.now, request.zone)
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

fn promotion(item: &Item, request: &Request) -> Promotion {
    let wording = wording(item, request);
    let Details::Promotion(details) = &item.details else {
        return Promotion {
            id: item.id.clone(),
            wording,
            ..Promotion::default()
        };
    };
    Promotion {
        id: item.id.clone(),
        wording,
        value: Some(details.value),
        valid_from: Some(details.valid_from.to_string()),
        valid_until: Some(details.valid_until.to_string()),
    }
}

/// Returns the item's wording in both languages.
fn wording(item: &Item, request: &Request) -> Vec<String> {
    let own = formatter::text(item, request.zone);
    [Some(own), item.name_es.clone(), item.description_es.clone()]
        .into_iter()
        .flatten()
        .collect()
}
