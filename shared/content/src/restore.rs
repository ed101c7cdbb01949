//! Brings old contents back, as new revisions: one item's earlier one, or all as they were at a time.

use chrono::{DateTime, Utc};
use serde_json::Value;
use seven_domain::RevisionState;

use crate::{Edit, Error, Outcome, Terms, Work, save};

/// Revisions of one item that are looked through for the one before.
const MOST_REVISIONS: i64 = 1_000;

/// The changes that restoring a time makes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Items that get earlier contents again.
    pub changed: Vec<String>,
    /// Items that were not there then, or were off; they are switched off.
    pub off: Vec<String>,
    pub unchanged: usize,
    /// Items whose contents of that time were purged; they stay as they are.
    pub purged: Vec<String>,
}

/// Saves the item as it was before its present published revision.
///
/// # Errors
/// Fails when there is no earlier revision, or what it said was purged.
pub async fn undo(work: &mut Work<'_>, terms: &Terms<'_>, item: &str) -> Result<Outcome, Error> {
    let wanted = seven_store::content::Wanted::Of(item);
    let revisions = work.tx.revisions(wanted, MOST_REVISIONS).await?;
    let mut published = revisions
        .into_iter()
        .filter(|one| one.state == RevisionState::Published);
    let missing = |revision| Error::NoRevision {
        item: item.to_owned(),
        revision,
    };
    let now = published.next().ok_or_else(|| missing(1))?;
    let before = published.next().ok_or_else(|| missing(now.revision - 1))?;
    let value = before.item.ok_or(Error::Purged {
        item: item.to_owned(),
        revision: before.revision,
    })?;
    let edit = Edit {
        value,
        ..Edit::default()
    };
    let mut outcomes = save(work, terms, &[edit]).await?;
    Ok(outcomes.remove(0))
}

/// Makes the content of a category, or of all, what it was at `at`. The contents were published
/// once, so `terms` should name who agreed.
///
/// # Errors
/// Fails when the database does.
pub async fn restore(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    at: DateTime<Utc>,
    category: Option<&str>,
) -> Result<(Restored, Vec<Outcome>), Error> {
    let then = work.tx.content_at(at, category).await?;
    let ids: Vec<String> = then.iter().map(|one| one.item_id.clone()).collect();
    let now = work.tx.published_items(Some(&ids)).await?;
    let (mut restored, mut edits) = (Restored::default(), Vec::new());
    for was in then {
        let Some(is) = now.iter().find(|item| item.item_id == was.item_id) else {
            continue;
        };
        let value = match (was.revision, was.item) {
            (Some(revision), _) if revision == is.revision => {
                restored.unchanged += 1;
                continue;
            }
            (Some(_), None) => {
                restored.purged.push(was.name);
                continue;
            }
            (Some(_), Some(value)) => value,
            (None, _) => off(is.item.clone()),
        };
        if value == is.item {
            restored.unchanged += 1;
            continue;
        }
        let names = if value["active"] == Value::Bool(false) {
            &mut restored.off
        } else {
            &mut restored.changed
        };
        names.push(was.name);
        edits.push(Edit {
            value,
            ..Edit::default()
        });
    }
    let outcomes = save(work, terms, &edits).await?;
    Ok((restored, outcomes))
}

fn off(mut item: Value) -> Value {
    item["active"] = Value::Bool(false);
    item
}
