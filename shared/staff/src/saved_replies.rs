//! Checks and stores saved replies, by the same rules for all callers.

use serde_json::json;
use seven_domain::{AuditEvent, CasinoConfig, Language};
use seven_runtime::Fleet;
use seven_sms::Shaped;
use seven_store::{
    Tx,
    audit::Entry,
    saved_replies::{Saved, SavedReply},
};
use uuid::Uuid;

/// Maximum length of a title, in characters.
pub const MOST_TITLE: usize = 60;

/// Why a saved reply is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    TitleMissing,
    TitleTooLong,
    /// Another reply of the casino has this title.
    TitleTaken,
    /// Neither language has a text.
    NoText,
    /// The text of this language does not fit into one reply.
    TooLong(Language),
}

/// Why a saved reply was not stored.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("the saved reply is wrong in {} places", .0.len())]
    Wrong(Vec<Wrong>),
    #[error(transparent)]
    Pack(#[from] seven_packs::Unknown),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// Stores a saved reply, trimmed, with its audit entry. The caller commits.
///
/// # Errors
/// Returns all faults of the reply; the caller then rolls back.
pub async fn put(
    fleet: &Fleet,
    tx: &mut Tx,
    config: &CasinoConfig,
    reply: &SavedReply,
    by: &str,
) -> Result<(), Refused> {
    let most_texts = fleet.packs.of(config)?.rules.max_texts;
    let reply = SavedReply {
        title: reply.title.trim().to_owned(),
        en: reply.en.trim().to_owned(),
        es: reply.es.trim().to_owned(),
        reply_id: reply.reply_id,
    };
    let wrong = check(&reply, most_texts);
    if !wrong.is_empty() {
        return Err(Refused::Wrong(wrong));
    }
    if tx.put_saved_reply(&reply, by).await? == Saved::TitleTaken {
        return Err(Refused::Wrong(vec![Wrong::TitleTaken]));
    }
    audit(tx, &reply.reply_id, by, "stored").await?;
    Ok(())
}

/// Removes a saved reply, with an audit entry; does nothing if there is no such reply. The caller
/// commits.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn remove(tx: &mut Tx, reply: Uuid, by: &str) -> seven_store::Result<()> {
    if tx.remove_saved_reply(reply).await? {
        audit(tx, &reply, by, "removed").await?;
    }
    Ok(())
}

async fn audit(tx: &mut Tx, reply: &Uuid, by: &str, change: &str) -> seven_store::Result<()> {
    let detail = json!({ "change": change });
    let subject = reply.to_string();
    tx.audit(&Entry::of(
        AuditEvent::SavedReplyChanged,
        by,
        &subject,
        detail,
    ))
    .await
}

fn check(reply: &SavedReply, most_texts: usize) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    match reply.title.chars().count() {
        0 => wrong.push(Wrong::TitleMissing),
        1..=MOST_TITLE => {}
        _ => wrong.push(Wrong::TitleTooLong),
    }
    if reply.en.is_empty() && reply.es.is_empty() {
        wrong.push(Wrong::NoText);
    }
    for (language, text) in [(Language::En, &reply.en), (Language::Es, &reply.es)] {
        if !text.is_empty() && Shaped::of(text, true, most_texts).truncated {
            wrong.push(Wrong::TooLong(language));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // AGENT-15
    fn everything_that_is_wrong_is_told_at_once() {
        let long = "word ".repeat(200);
        let reply = |title: &str, en: &str, es: &str| SavedReply {
            title: title.into(),
            en: en.into(),
            es: es.into(),
            reply_id: Uuid::nil(),
        };
        for (reply, wrong) in [
            (reply("Valet", "On its way.", ""), vec![]),
            (reply("", "", ""), vec![Wrong::TitleMissing, Wrong::NoText]),
            (
                reply(&"t".repeat(61), &long, &long),
                vec![
                    Wrong::TitleTooLong,
                    Wrong::TooLong(Language::En),
                    Wrong::TooLong(Language::Es),
                ],
            ),
        ] {
            assert_eq!(check(&reply, 2), wrong);
        }
    }
}
