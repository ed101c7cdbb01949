//! Brings back earlier contents as new revisions: of one item, of one category, or of all items.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CasinoId, RevisionState};
use seven_runtime::Fleet;
use seven_store::{audit::Entry, content::Decided};
use sha2::{Digest, Sha256};

use crate::{
    Edit, Error, Outcome, Terms, Work,
    diff::{Change, changes},
    save,
};

/// Maximum number of an item's revisions that are searched for the previous published one.
const MOST_REVISIONS: i64 = 1_000;

/// The changes that a rollback to an earlier time makes; items are given by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Items whose earlier contents are restored, each with the fields that differ.
    pub changed: Vec<(String, Vec<Change>)>,
    /// Items that did not exist or were off at that time; they are switched off.
    pub off: Vec<String>,
    /// Items in `changed` or `off` that have a waiting revision, which the rollback withdraws.
    pub withdrawn: Vec<String>,
    pub unchanged: usize,
    /// Items whose contents of that time were purged; they stay as they are.
    pub purged: Vec<String>,
}

/// The outcome of a rollback that a person agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RolledBack {
    Done,
    /// The content has changed since the person agreed; nothing was restored.
    Moved,
    /// The earlier contents of these items (by id) no longer fit the pack; nothing was restored.
    Unfit(Vec<String>),
}

/// The content to bring back, as it was at the time `at`. `category`: `None` means all categories.
#[derive(Debug, Clone, Copy)]
pub struct Past<'a> {
    pub at: DateTime<Utc>,
    pub category: Option<&'a str>,
}

impl Restored {
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.off.is_empty()
    }

    /// Returns a digest (hex) of these changes. [`roll_back`] makes changes only if a person agreed
    /// to the same digest.
    pub fn seal(&self) -> String {
        hex::encode(Sha256::digest(format!("{self:?}")))
    }
}

/// Returns the changes that [`roll_back`] would make.
///
/// # Errors
/// Fails when the database fails.
pub async fn preview(
    fleet: &Fleet,
    casino: &CasinoId,
    terms: &Terms<'_>,
    past: Past<'_>,
) -> Result<Restored, Error> {
    let mut work = Work::begin(fleet, casino).await?;
    let (planned, _) = restore(&mut work, terms, past.at, past.category).await?;
    // Ends the transaction, so that the lock is not held while a person decides.
    work.rollback().await?;
    Ok(planned)
}

/// Rolls the content back to its state at `past.at`. `agreed` is the [`Restored::seal`] of the
/// changes to which a person agreed. If the changes differ by now, nothing is restored.
///
/// # Errors
/// Fails when the database fails.
pub async fn roll_back(
    fleet: &Fleet,
    casino: &CasinoId,
    terms: &Terms<'_>,
    past: Past<'_>,
    agreed: &str,
) -> Result<RolledBack, Error> {
    let mut work = Work::begin(fleet, casino).await?;
    let (done, outcomes) = restore(&mut work, terms, past.at, past.category).await?;
    let unfit = outcomes.into_iter().filter_map(|outcome| match outcome {
        Outcome::Refused { item_id, .. } => Some(item_id),
        _ => None,
    });
    let unfit: Vec<String> = unfit.collect();
    let refused = match (unfit.is_empty(), done.seal() == agreed) {
        (false, _) => RolledBack::Unfit(unfit),
        (true, false) => RolledBack::Moved,
        (true, true) => {
            work.commit().await?;
            return Ok(RolledBack::Done);
        }
    };
    work.rollback().await?;
    Ok(refused)
}

/// Removes a revision's words from the history. Used if personal data was entered by mistake.
///
/// # Errors
/// Fails when the revision is published, still waits, or was purged before.
pub async fn purge(work: &mut Work<'_>, what: &Decided<'_>) -> Result<(), Error> {
    let (item, revision) = (what.item_id, what.revision);
    if !work.tx.purge_revision(item, revision).await? {
        return Err(Error::NotPurged {
            item: item.to_owned(),
            revision,
        });
    }
    let detail = json!({ "purged": { "item": item, "revision": revision }, "reason": what.reason });
    let casino = work.tx.casino().to_string();
    let entry = Entry::of(AuditEvent::ContentUpdated, what.by, &casino, detail);
    Ok(work.tx.audit(&entry).await?)
}

/// Saves the contents of the item's previous published revision as a new edit.
///
/// # Errors
/// Fails when there is no earlier published revision, or when that revision's words were purged.
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

/// Saves edits that bring a category, or all content, back to its state at `at`. `terms` should
/// name an approver: contents that were published before need no second person.
///
/// # Errors
/// Fails when the database fails.
pub async fn restore(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    at: DateTime<Utc>,
    category: Option<&str>,
) -> Result<(Restored, Vec<Outcome>), Error> {
    let then = work.tx.content_at(at, category).await?;
    let ids: Vec<String> = then.iter().map(|one| one.item_id.clone()).collect();
    let now = work.tx.published_items(Some(&ids)).await?;
    let undecided = work.tx.undecided(&ids).await?;
    let today = work.fleet.clock.now();
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
            // If the earlier contents had an end that has passed by now, the item comes back
            // switched off.
            (Some(_), Some(value)) if was.take_down_at.is_some_and(|end| end <= today) => {
                off(value)
            }
            (Some(_), Some(value)) => value,
            (None, _) => off(is.item.clone()),
        };
        if value == is.item {
            restored.unchanged += 1;
            continue;
        }
        if undecided.get(&was.item_id).is_some_and(|left| left.waits) {
            restored.withdrawn.push(was.name.clone());
        }
        let end = was.take_down_at.filter(|end| *end > today);
        if value["active"] == Value::Bool(false) {
            restored.off.push(was.name);
        } else {
            let fields = changes(&is.item, &value);
            restored.changed.push((was.name, fields));
        }
        edits.push(Edit {
            value,
            take_down_at: end,
            no_end: end.is_none(),
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
