//! A person corrects what is known about a guest.

use chrono::{DateTime, Utc};
use serde_json::json;
use seven_domain::{AuditEvent, ConversationId, GuestId};
use seven_guest::{Confidence, Grant, Key, Observation, Profile, Source, Value};
use seven_store::Tx;

use crate::desk::note;

/// How sure a fact is that a person entered.
const CERTAIN: Confidence = Confidence::percent(95);

/// Result of a correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corrected {
    Done,
    /// The field cannot have this value.
    Unfit,
    /// There was nothing to remove.
    Nothing,
    /// The conversation was deleted.
    Gone,
}

/// Returns the fields that a person may correct. The language is not one: the guest's newest text
/// decides it.
pub fn correctable() -> impl Iterator<Item = Key> {
    Key::ALL.iter().copied().filter(|key| *key != Key::Language)
}

/// Replaces a field by what a person entered, or removes it if that is empty. A turn in progress
/// begins again, because it would write the profile that it has read. The caller commits.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn correct(
    tx: &mut Tx,
    conversation: ConversationId,
    (key, text): (Key, &str),
    by: &str,
    now: DateTime<Utc>,
) -> seven_store::Result<Corrected> {
    tx.lock_conversation(conversation).await?;
    let Some(shown) = tx.shown_conversation(conversation).await? else {
        return Ok(Corrected::Gone);
    };
    let guest = GuestId(shown.guest_id);
    let mut profile = match shown.profile.map(Profile::from_json) {
        None => Profile::new(now),
        Some(Ok(read)) => read.profile,
        // A document that this build cannot read is not replaced: it would be lost.
        Some(Err(_)) => return Ok(Corrected::Unfit),
    };
    let detail = if text.trim().is_empty() {
        if !profile.forget(key, now) {
            return Ok(Corrected::Nothing);
        }
        json!({ "removed": key.path() })
    } else {
        let Some(value) = key.kind().read(text) else {
            return Ok(Corrected::Unfit);
        };
        profile.observe(entered(key, value, guest, now));
        json!({ "corrected": key.path() })
    };
    tx.restart_turn(conversation).await?;
    tx.put_profile(guest, &profile.to_json()).await?;
    note(tx, AuditEvent::ProfileUpdated, by, conversation, detail).await?;
    Ok(Corrected::Done)
}

fn entered(key: Key, value: Value, guest: GuestId, at: DateTime<Utc>) -> Observation {
    Observation {
        key,
        value,
        confidence: CERTAIN,
        source: Source::Operator,
        at,
        grant: Grant::of_guest(guest.0),
        correction: true,
    }
}
