//! Hands a conversation on to a colleague or to anybody who takes it, for example at the end of a
//! shift.

use serde_json::json;
use seven_domain::{AuditEvent, CaseSeverity, CaseSource, ConversationId, GuestId};
use seven_runtime::{
    Fleet,
    own_cases::{OwnCase, open_own_case},
};
use seven_store::Tx;

use crate::desk::{holder, note};

/// The reason of the case that is opened when a conversation waits for somebody to take it on.
const HANDED_ON: &str = "handed_on";

/// Result of handing a conversation on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandedOn {
    Done,
    /// The person does not hold the conversation.
    NotYours,
    /// The colleague may not write at this casino.
    NoColleague,
}

/// Hands a conversation on to the colleague whose name in the audit log is `to`. The host stays
/// silent. If `to` is `None`, anybody may take the conversation. The cases that `by` acknowledged
/// must then be acknowledged anew, within the full time. If the conversation has no case, one is
/// opened, so that contacts are notified. The caller commits.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn hand_on(
    fleet: &Fleet,
    tx: &mut Tx,
    conversation: ConversationId,
    by: &str,
    to: Option<&str>,
) -> seven_store::Result<HandedOn> {
    if holder(tx, conversation).await?.as_deref() != Some(by) {
        return Ok(HandedOn::NotYours);
    }
    if let Some(to) = to
        && !tx.hosts().await?.iter().any(|host| host.actor == to)
    {
        return Ok(HandedOn::NoColleague);
    }
    tx.hand_over(conversation, by, to).await?;
    if to.is_none()
        && let Some(shown) = tx.shown_conversation(conversation).await?
        && shown.cases.as_array().is_none_or(Vec::is_empty)
    {
        let case = OwnCase {
            id: fleet.ids.uuid(),
            severity: CaseSeverity::Sev2,
            source: CaseSource::HostPromise,
            reason: HANDED_ON,
            subject: "",
            about: Some((conversation, GuestId(shown.guest_id))),
            actor: by,
        };
        open_own_case(tx, &case).await?;
    }
    let detail = json!({ "handed_on": true, "from": by, "to": to });
    note(tx, AuditEvent::ConversationPaused, by, conversation, detail).await?;
    Ok(HandedOn::Done)
}
