//! Lets a person settle an incident that the fleet found and contained (SEC-96..98), and write the
//! report about its cause.

use seven_domain::{CasinoId, ConversationId, IncidentState};
use seven_runtime::Fleet;
use seven_store::{Tx, incidents::found::FoundIncident};
use uuid::Uuid;

use crate::desk::finish;

/// Why an incident was not changed.
#[derive(Debug, thiserror::Error)]
pub enum NotChanged {
    #[error("the casino has no such incident")]
    Unknown,
    #[error("the incident is {0}; it cannot become {1}")]
    State(IncidentState, IncidentState),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// How a person settles an incident.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// The finding and the remedy, without a guest's words or number.
    pub said: &'a str,
    /// Whether nothing was wrong.
    pub false_alarm: bool,
}

/// Settles the incident and its case. If nothing else in the conversation waits for a person, the
/// host answers there again. A switch that the incident turned on stays on.
///
/// # Errors
/// Fails when there is no such open incident, or Postgres does not answer.
pub async fn settle(
    fleet: &Fleet,
    casino: &CasinoId,
    incident: Uuid,
    by: &str,
    outcome: Outcome<'_>,
) -> Result<(), NotChanged> {
    let mut tx = fleet.store.bind(casino).await?;
    let known = may_become(&mut tx, incident, IncidentState::Resolved).await?;
    tx.resolve_incident(incident, by, outcome.said, outcome.false_alarm)
        .await?;
    match tx.settle_case(known.escalation_id, by).await? {
        Some(settled) => {
            finish(fleet, casino, tx, settled, by).await?;
        }
        None => tx.commit().await?,
    }
    Ok(())
}

/// Records the report about a settled incident's cause.
///
/// # Errors
/// Fails when there is no such settled incident, or Postgres does not answer.
pub async fn report(
    fleet: &Fleet,
    casino: &CasinoId,
    incident: Uuid,
    by: &str,
    text: &str,
) -> Result<(), NotChanged> {
    let mut tx = fleet.store.bind(casino).await?;
    may_become(&mut tx, incident, IncidentState::Postmortem).await?;
    tx.report_incident(incident, by, text).await?;
    Ok(tx.commit().await?)
}

/// Locks the incident's conversation first; every transaction that contains or settles an incident
/// does so. Returns the incident if its state allows the change.
async fn may_become(
    tx: &mut Tx,
    incident: Uuid,
    next: IncidentState,
) -> Result<FoundIncident, NotChanged> {
    let known = tx.found_incident(incident).await?;
    let conversation = known.and_then(|known| known.conversation_id);
    if let Some(conversation) = conversation {
        tx.lock_conversation(ConversationId(conversation)).await?;
    }
    let known = tx.found_incident(incident).await?;
    let known = known.ok_or(NotChanged::Unknown)?;
    if known.state.may_become(next) {
        Ok(known)
    } else {
        Err(NotChanged::State(known.state, next))
    }
}
