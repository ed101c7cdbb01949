//! Lets a person correct the facts about a guest, or record that the guest wants no facts stored.

use chrono::{DateTime, Utc};
use serde_json::json;
use seven_domain::{AuditEvent, ConversationId, GuestId};
use seven_guest::{
    Confidence, Grant, Key, Observation, Profile, Source, Value, completeness::completeness,
};
use seven_store::Tx;
use uuid::Uuid;

use crate::desk::note;

/// The confidence in a fact that a person entered.
const CERTAIN: Confidence = Confidence::percent(95);

/// The result of changing a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corrected {
    Done,
    /// The field cannot have this value.
    Unfit,
    /// This build cannot read the profile, which another build wrote.
    Unreadable,
    /// There was no fact to remove, or consent is already in force.
    Nothing,
    /// The guest has revoked the consent to store facts, or has none to revoke.
    Revoked,
    /// The conversation was deleted.
    Gone,
}

/// Returns the fields that a person may correct. The language is not among them, because the
/// guest's newest text decides it.
pub fn correctable() -> impl Iterator<Item = Key> {
    Key::ALL.iter().copied().filter(|key| *key != Key::Language)
}

/// A guest's profile, read under the conversation's lock.
struct Held {
    guest: GuestId,
    profile: Profile,
}

/// Locks the conversation and reads its guest's profile.
async fn held(
    tx: &mut Tx,
    conversation: ConversationId,
    now: DateTime<Utc>,
) -> seven_store::Result<Result<Held, Corrected>> {
    tx.lock_conversation(conversation).await?;
    let Some(shown) = tx.shown_conversation(conversation).await? else {
        return Ok(Err(Corrected::Gone));
    };
    let profile = match shown.profile.map(Profile::from_json) {
        None => Profile::new(now),
        Some(Ok(read)) => read.profile,
        // A document that this build cannot read must not be replaced, or its facts would be lost.
        Some(Err(_)) => return Ok(Err(Corrected::Unreadable)),
    };
    let guest = GuestId(shown.guest_id);
    Ok(Ok(Held { guest, profile }))
}

/// Writes a changed profile and its audit entry. Restarts a turn in progress and drops the results
/// of its models. Otherwise the turn would write back the profile that it read, and its reply might
/// mention a removed fact.
async fn put(
    tx: &mut Tx,
    conversation: ConversationId,
    mut held: Held,
    (by, now): (&str, DateTime<Utc>),
    detail: serde_json::Value,
) -> seven_store::Result<Corrected> {
    tx.restart_turn(conversation).await?;
    tx.forget_model_results(conversation).await?;
    held.profile.engagement.profile_completeness = completeness(&held.profile, now);
    tx.put_profile(held.guest, &held.profile.to_json()).await?;
    note(tx, AuditEvent::ProfileUpdated, by, conversation, detail).await?;
    Ok(Corrected::Done)
}

/// Sets a field to the value that a person entered, or removes the fact if the text is empty. The
/// caller commits.
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
    let mut held = match held(tx, conversation, now).await? {
        Ok(held) => held,
        Err(refused) => return Ok(refused),
    };
    let detail = if text.trim().is_empty() {
        if !held.profile.forget(key, now) {
            return Ok(Corrected::Nothing);
        }
        json!({ "removed": key.path() })
    } else {
        let Some(value) = key.kind().read(text) else {
            return Ok(Corrected::Unfit);
        };
        // No fact may be entered about a guest who wants none stored.
        let Some(grant) = held.profile.consent_of(held.guest.0, now) else {
            return Ok(Corrected::Revoked);
        };
        held.profile.observe(entered(key, value, grant, now));
        json!({ "corrected": key.path() })
    };
    put(tx, conversation, held, (by, now), detail).await
}

/// Revokes the guest's consent to store facts, on the guest's request. Stored facts are no longer
/// used, and no more are stored. The caller commits.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn revoke(
    tx: &mut Tx,
    conversation: ConversationId,
    reason: &str,
    by: &str,
    now: DateTime<Utc>,
) -> seven_store::Result<Corrected> {
    let mut held = match held(tx, conversation, now).await? {
        Ok(held) => held,
        Err(refused) => return Ok(refused),
    };
    // By writing, a guest has consented to stored facts, even if none are stored yet. `consent_of`
    // adds that consent to the profile, so that it can be revoked.
    held.profile.consent_of(held.guest.0, now);
    let Ok(revoked) = held.profile.revoke(reason, now) else {
        return Ok(Corrected::Revoked);
    };
    tx.forget_told(conversation).await?;
    let detail = json!({
        "revoked": revoked.reference, "scope": revoked.scope, "fields_affected": revoked.fields,
        "reason": reason,
    });
    put(tx, conversation, held, (by, now), detail).await
}

/// Records that the guest consents again. Facts that the revocation withdrew stay withdrawn. The
/// caller commits.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn grant_anew(
    tx: &mut Tx,
    conversation: ConversationId,
    id: Uuid,
    by: &str,
    now: DateTime<Utc>,
) -> seven_store::Result<Corrected> {
    let mut held = match held(tx, conversation, now).await? {
        Ok(held) => held,
        Err(refused) => return Ok(refused),
    };
    if !held.profile.grant_anew(id, now) {
        return Ok(Corrected::Nothing);
    }
    let granted = held.profile.grants().last().map(|last| last.reference);
    put(
        tx,
        conversation,
        held,
        (by, now),
        json!({ "granted": granted }),
    )
    .await
}

fn entered(key: Key, value: Value, grant: Grant, at: DateTime<Utc>) -> Observation {
    Observation {
        key,
        value,
        confidence: CERTAIN,
        source: Source::Operator,
        at,
        grant,
        correction: true,
    }
}
