//! Saves edits: checks all of them, lets the guards judge them, and publishes those that need no
//! second person.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use seven_domain::{AuditEvent, RevisionState};
use seven_knowledge::{Category, Item, Problem};
use seven_store::{
    audit::Entry,
    content::{NewRevision, PublishedItem, ToldEdit, WAITING},
};

use crate::{
    Edit, Error, Outcome, Terms, Weight, Work,
    check::{id_of, invalid, read_item, times},
    guard::{Change, Finding, as_json, weight},
    refusal::refuse,
    weigh::weigh,
};

/// An edit that passed the checks.
struct Checked {
    place: usize,
    item: Item,
    value: Value,
    hash: String,
    before: Option<PublishedItem>,
    newest: i32,
}

/// Saves the edits and returns the outcome of each, in their order. The caller decides from the
/// outcomes whether to commit the transaction.
///
/// # Errors
/// Fails when the database fails or the casino's pack is not loaded.
pub async fn save(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    edits: &[Edit],
) -> Result<Vec<Outcome>, Error> {
    let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(edits.len());
    for edit in edits {
        outcomes.push(repeated(work, terms, edit).await?);
    }
    let checked = check(work, terms, edits, &mut outcomes).await?;
    let parsed: Vec<Option<Item>> = checked
        .iter()
        .map(|one| parsed(one.before.as_ref()))
        .collect();
    let changes: Vec<Change<'_>> = checked
        .iter()
        .zip(&parsed)
        .map(|(one, before)| Change {
            before: before.as_ref(),
            after: &one.item,
        })
        .collect();
    let found = weigh(work, &changes).await?;
    for (one, findings) in checked.iter().zip(found) {
        let outcome = store(work, terms, &edits[one.place], one, findings).await?;
        outcomes[one.place] = Some(outcome);
    }
    let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
    for (edit, outcome) in edits.iter().zip(&outcomes) {
        note(work, terms, edit, outcome).await?;
    }
    audit(work, terms, &outcomes).await?;
    Ok(outcomes)
}

/// Returns [`Outcome::Repeated`] if the edit already made a revision, or if this very call was
/// handled before. Returns `None` if the edit must be saved now.
async fn repeated(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    edit: &Edit,
) -> Result<Option<Outcome>, Error> {
    let Some((id, signed_at)) = &edit.edit else {
        return Ok(None);
    };
    let Some(before) = work.tx.told_edit(terms.source, id).await? else {
        return Ok(None);
    };
    let replayed = before.signed_at >= *signed_at;
    Ok(match before.revision {
        None if !replayed => None,
        revision => Some(Outcome::Repeated {
            item_id: before.item_id,
            revision: revision.unwrap_or_default(),
            replayed,
        }),
    })
}

/// Records the edit's id, so that the same edit is saved only once.
async fn note(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    edit: &Edit,
    outcome: &Outcome,
) -> Result<(), Error> {
    let (item_id, revision) = match outcome {
        Outcome::Saved {
            item_id, revision, ..
        } => (item_id, Some(*revision)),
        Outcome::Unchanged { item_id, .. }
        | Outcome::Refused { item_id, .. }
        | Outcome::Moved { item_id, .. } => (item_id, None),
        Outcome::Repeated { .. } => return Ok(()),
    };
    if let Some((id, signed_at)) = &edit.edit {
        let told = ToldEdit {
            item_id: item_id.clone(),
            revision,
            signed_at: *signed_at,
        };
        work.tx.note_edit(terms.source, id, &told).await?;
    }
    Ok(())
}

/// Checks every edit that has no outcome yet, and returns the edits to be stored. Invalid edits,
/// outdated edits and edits without a change get an outcome here.
async fn check(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    edits: &[Edit],
    outcomes: &mut [Option<Outcome>],
) -> Result<Vec<Checked>, Error> {
    let ids: Vec<String> = edits.iter().filter_map(|edit| id_of(&edit.value)).collect();
    let published = work.tx.published_items(Some(&ids)).await?;
    let mut published: HashMap<String, PublishedItem> = published
        .into_iter()
        .map(|item| (item.item_id.clone(), item))
        .collect();
    let newest = work.tx.newest_revisions(&ids).await?;
    let undecided = match terms.keep_waiting {
        true => work.tx.undecided(&ids).await?,
        false => HashMap::new(),
    };
    let (mut checked, mut seen) = (Vec::new(), HashSet::new());
    let mut numbers = HashMap::new();
    for (place, edit) in edits.iter().enumerate() {
        if outcomes[place].is_some() {
            continue;
        }
        let value = with_id(work, &edit.value, &mut numbers).await?;
        let id = id_of(&value).unwrap_or_default();
        let before = published.remove(&id);
        let newest = newest.get(&id).copied().unwrap_or_default();
        let checked_item = read_item(work, &value).and_then(|item| {
            let problems = times(work, edit);
            if problems.is_empty() {
                Ok(item)
            } else {
                Err(problems)
            }
        });
        let item = match checked_item {
            Ok(_) if !seen.insert(id.clone()) => {
                let twice = Problem {
                    field: "id".into(),
                    problem: format!("`{id}` stands here twice"),
                    fix: "give every item its own id".into(),
                };
                Err(vec![invalid(twice)])
            }
            other => other,
        };
        let moved = edit.seen.is_some_and(|seen| seen < newest);
        match item {
            _ if moved => {
                outcomes[place] = Some(Outcome::Moved {
                    item_id: id,
                    newest,
                });
            }
            Err(findings) => {
                refuse(work, terms, edit, &value, &findings).await?;
                outcomes[place] = Some(Outcome::Refused {
                    item_id: id,
                    findings,
                });
            }
            Ok(item) => {
                let value = item.to_json();
                let hash = hash(&value);
                let left = undecided.get(&id);
                match before {
                    before if left.is_some_and(|left| left.waits || left.refused == hash) => {
                        outcomes[place] = Some(Outcome::Unchanged {
                            item_id: id,
                            revision: before.map_or(0, |before| before.revision),
                        });
                    }
                    Some(before) if before.content_hash == hash && same_times(edit, &before) => {
                        if !terms.draft {
                            // The edit equals the published item, so the editor no longer wants
                            // their waiting revisions.
                            let tx = &mut work.tx;
                            tx.withdraw_revisions(&id, terms.editor, &WAITING).await?;
                        }
                        outcomes[place] = Some(Outcome::Unchanged {
                            item_id: id,
                            revision: before.revision,
                        });
                    }
                    before => checked.push(Checked {
                        place,
                        item,
                        value,
                        hash,
                        before,
                        newest,
                    }),
                }
            }
        }
    }
    Ok(checked)
}

/// Returns when the item is to end. An edit without an end keeps the item's present end, unless
/// `no_end` is set.
fn end_of(edit: &Edit, before: Option<&PublishedItem>) -> Option<DateTime<Utc>> {
    if edit.no_end {
        return None;
    }
    let before = before.and_then(|before| before.take_down_at);
    edit.take_down_at.or(before)
}

/// Returns whether the edit does not change the times of its item.
fn same_times(edit: &Edit, before: &PublishedItem) -> bool {
    edit.publish_at.is_none() && end_of(edit, Some(before)) == before.take_down_at
}

/// Gives a new item the next id of its category, such as `dining_012`. `numbers` has the last
/// number that was given in each category.
async fn with_id(
    work: &mut Work<'_>,
    value: &Value,
    numbers: &mut HashMap<String, i64>,
) -> Result<Value, Error> {
    let mut value = value.clone();
    if let (Some(id), Some(map)) = (id_of(&value), value.as_object_mut()) {
        map.insert("id".into(), id.into());
        return Ok(value);
    }
    let category = value.get("category").and_then(Value::as_str);
    if let Some(category) = category.map(Category::from)
        && let Some(map) = value.as_object_mut()
    {
        let name = category.as_str();
        let last = match numbers.get(name) {
            Some(last) => *last,
            None => work.tx.highest_item_number(name).await?,
        };
        numbers.insert(name.to_owned(), last + 1);
        map.insert("id".into(), format!("{name}_{:03}", last + 1).into());
    }
    Ok(value)
}

fn parsed(before: Option<&PublishedItem>) -> Option<Item> {
    before.and_then(|before| Item::from_json(&before.item).ok())
}

/// Stores one revision. Publishes it unless it is a draft, needs a second person, or is scheduled
/// for later.
async fn store(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    edit: &Edit,
    one: &Checked,
    findings: Vec<Finding>,
) -> Result<Outcome, Error> {
    let item_id = one.item.id.clone();
    let weight = weight(&findings);
    if weight == Some(Weight::Block) && terms.approved_by.is_none() {
        refuse(work, terms, edit, &one.value, &findings).await?;
        return Ok(Outcome::Refused { item_id, findings });
    }
    let later = edit.publish_at.filter(|at| *at > work.fleet.clock.now());
    let state = match weight {
        _ if terms.draft => RevisionState::Draft,
        Some(Weight::Review) if terms.approved_by.is_none() => RevisionState::Review,
        _ if later.is_some() => RevisionState::Scheduled,
        _ => RevisionState::Published,
    };
    let stored = match state {
        // A revision to be published is stored as a draft first; `make_public` publishes it below.
        RevisionState::Published => RevisionState::Draft,
        other => other,
    };
    let revision = NewRevision {
        item_id: &item_id,
        category: one.item.category.as_str(),
        name: &one.item.name,
        item: &one.value,
        content_hash: &one.hash,
        active: one.item.active,
        state: stored,
        source: terms.source,
        editor: terms.editor,
        base: one.before.as_ref().map(|before| before.revision),
        findings: &as_json(&findings),
        publish_at: later,
        take_down_at: end_of(edit, one.before.as_ref()),
    };
    if state == RevisionState::Published {
        // Withdraws the editor's waiting revisions. They are based on the item before this edit, so
        // publishing one of them would undo this edit.
        let tx = &mut work.tx;
        tx.withdraw_revisions(&item_id, terms.editor, &WAITING)
            .await?;
    }
    let revision = work.tx.add_revision(&revision).await?;
    debug_assert!(revision > one.newest, "revisions only go up");
    if state == RevisionState::Published {
        let by = terms.approved_by.unwrap_or(terms.editor);
        work.make_public(&item_id, revision, by, "").await?;
    }
    Ok(Outcome::Saved {
        item_id,
        name: one.item.name.clone(),
        revision,
        state,
        new: one.before.is_none(),
        findings,
    })
}

/// Returns the SHA-256 of the item. Sorts the keys first, so that equal items have equal hashes.
fn hash(item: &Value) -> String {
    let mut sorted = item.clone();
    sorted.sort_all_objects();
    hex::encode(Sha256::digest(sorted.to_string().as_bytes()))
}

/// Maximum number of items that one entry of the audit log lists.
const NAMED: usize = 500;

async fn audit(work: &mut Work<'_>, terms: &Terms<'_>, outcomes: &[Outcome]) -> Result<(), Error> {
    let one = |outcome: &Outcome| match outcome {
        Outcome::Saved {
            item_id,
            revision,
            state,
            findings,
            ..
        } => {
            let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
            Some(
                json!({ "item": item_id, "revision": revision, "state": state, "findings": kinds }),
            )
        }
        Outcome::Refused { item_id, findings } => {
            let fields: Vec<_> = findings.iter().map(|f| f.problem.field.as_str()).collect();
            Some(json!({ "item": item_id, "state": "refused", "fields": fields }))
        }
        Outcome::Unchanged { .. } | Outcome::Moved { .. } | Outcome::Repeated { .. } => None,
    };
    let changes: Vec<Value> = outcomes.iter().filter_map(one).take(NAMED).collect();
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused { .. });
    // Refused edits that are not stored changed nothing, so there is nothing to audit.
    if changes.is_empty() || !terms.keep_refused && outcomes.iter().all(refused) {
        return Ok(());
    }
    let casino = work.tx.casino().to_string();
    let detail = json!({ "source": terms.source, "changes": changes });
    let entry = Entry::of(AuditEvent::ContentUpdated, terms.editor, &casino, detail);
    Ok(work.tx.audit(&entry).await?)
}
