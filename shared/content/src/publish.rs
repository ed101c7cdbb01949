//! Publishes, refuses and withdraws waiting revisions.

use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, RevisionState};
use seven_knowledge::Item;
use seven_runtime::Fleet;
use seven_store::{
    audit::Entry,
    content::{Decided, Revision},
};

use crate::{
    Error, Weight, Work,
    guard::{Change, Finding, weight_of},
    weigh::weigh,
};

/// The actor recorded for changes that the scheduler makes at their planned time.
const TIMER: &str = "scheduler";

impl Work<'_> {
    /// Makes this revision the item's published one. All revisions that a transaction publishes get
    /// the same content version.
    pub(crate) async fn make_public(
        &mut self,
        item_id: &str,
        revision: i32,
        by: &str,
        reason: &str,
    ) -> Result<(), Error> {
        let version = self.next_version().await?;
        let what = Decided {
            item_id,
            revision,
            by,
            reason,
        };
        Ok(self.tx.publish_revision(&what, version).await?)
    }

    /// Returns the content version of everything that this transaction publishes. The first call
    /// raises the casino's version.
    async fn next_version(&mut self) -> Result<i64, Error> {
        let version = match self.version {
            Some(version) => version,
            None => self.tx.raise_content_version().await?,
        };
        self.version = Some(version);
        Ok(version)
    }

    async fn waiting(&mut self, item: &str, revision: i32) -> Result<Revision, Error> {
        let found = self.tx.revision(item, revision).await?;
        let found = found.ok_or_else(|| Error::NoRevision {
            item: item.to_owned(),
            revision,
        })?;
        match found.state {
            RevisionState::Draft | RevisionState::Review | RevisionState::Scheduled => Ok(found),
            state => Err(Error::NotWaiting {
                item: item.to_owned(),
                revision,
                state,
            }),
        }
    }

    async fn audit_decision(
        &mut self,
        what: &Decided<'_>,
        state: RevisionState,
    ) -> Result<(), Error> {
        let casino = self.tx.casino().to_string();
        let detail = json!({ "changes": [{ "item": what.item_id, "revision": what.revision, "state": state }],
            "reason": what.reason });
        let entry = Entry::of(AuditEvent::ContentUpdated, what.by, &casino, detail);
        Ok(self.tx.audit(&entry).await?)
    }
}

/// Publishes a waiting revision, or schedules it if its time is still to come. If the revision
/// needs a second person, its editor cannot publish it. `also` lists other names of the publishing
/// person, such as the mail address that a spreadsheet uses.
///
/// # Errors
/// Fails when:
/// - the revision does not wait, or was purged;
/// - the item was published anew after the revision was written;
/// - the guards refuse the revision now;
/// - the revision needs a second person, and its editor tries to publish it.
pub async fn publish(
    work: &mut Work<'_>,
    what: &Decided<'_>,
    also: &[&str],
) -> Result<RevisionState, Error> {
    let revision = work.waiting(what.item_id, what.revision).await?;
    let Some(value) = &revision.item else {
        return Err(Error::Purged {
            item: what.item_id.to_owned(),
            revision: what.revision,
        });
    };
    let ids = [what.item_id.to_owned()];
    let before = work.tx.published_items(Some(&ids)).await?.pop();
    if before.as_ref().map(|before| before.revision) != revision.base {
        return Err(Error::Moved {
            item: what.item_id.to_owned(),
        });
    }
    let after = Item::from_json(value).map_err(|problems| {
        let problems = problems
            .iter()
            .map(|p| format!("{}: {}", p.field, p.problem));
        Error::Blocked(problems.collect::<Vec<_>>().join("\n"))
    })?;
    let before = before.and_then(|before| Item::from_json(&before.item).ok());
    let change = Change {
        before: before.as_ref(),
        after: &after,
    };
    let findings = weigh(work, &[change]).await?.pop().unwrap_or_default();
    let same = |name: &&str| name.eq_ignore_ascii_case(&revision.editor);
    let own = same(&what.by) || also.iter().any(same);
    allowed(&findings, own, what.by)?;
    let later = revision
        .publish_at
        .filter(|at| *at > work.fleet.clock.now());
    if later.is_some() {
        let from = [RevisionState::Draft, RevisionState::Review];
        let to = RevisionState::Scheduled;
        // If the revision is already scheduled, somebody approved it earlier, and nothing is
        // recorded now.
        if work.tx.decide_revision(what, &from, to).await? {
            work.audit_decision(what, to).await?;
        }
        return Ok(to);
    }
    work.make_public(what.item_id, what.revision, what.by, what.reason)
        .await?;
    work.audit_decision(what, RevisionState::Published).await?;
    Ok(RevisionState::Published)
}

/// Publishes waiting revisions in one transaction, one after the other. Each is checked against the
/// content that the earlier ones leave. Returns the outcome of each. The caller decides from the
/// outcomes whether to commit.
///
/// # Errors
/// Fails when the database fails. If a revision cannot be published, its outcome says why.
pub async fn publish_all(
    work: &mut Work<'_>,
    whats: &[Decided<'_>],
    also: &[&str],
) -> Result<Vec<Result<RevisionState, Error>>, Error> {
    let mut outcomes = Vec::with_capacity(whats.len());
    for what in whats {
        outcomes.push(match publish(work, what, also).await {
            Err(error @ (Error::Store(_) | Error::NoCasino | Error::Pack(_))) => return Err(error),
            outcome => outcome,
        });
    }
    Ok(outcomes)
}

/// Checks whether the guards' findings allow this person to publish the revision. `own` is true if
/// this person wrote the revision.
fn allowed(findings: &[Finding], own: bool, by: &str) -> Result<(), Error> {
    let of = |weight: Weight| findings.iter().filter(move |f| weight_of(f.kind) == weight);
    let told = |finding: &Finding| {
        let problem = &finding.problem;
        format!("{} {}", problem.field, problem.problem)
    };
    if let Some(block) = of(Weight::Block).next() {
        return Err(Error::Blocked(block.to_string()));
    }
    match of(Weight::Review).next() {
        Some(finding) if own => Err(Error::OwnWork {
            by: by.to_owned(),
            why: told(finding),
        }),
        _ => Ok(()),
    }
}

/// Refuses a waiting revision. Its editor finds the revision among the refused ones, with the
/// reason.
///
/// # Errors
/// Fails when this revision does not wait.
pub async fn reject(work: &mut Work<'_>, what: &Decided<'_>) -> Result<(), Error> {
    end(work, what, RevisionState::Rejected).await
}

/// Withdraws a waiting revision, or dismisses a refused one.
///
/// # Errors
/// Fails when this revision neither waits nor was refused.
pub async fn withdraw(work: &mut Work<'_>, what: &Decided<'_>) -> Result<(), Error> {
    let refused = [RevisionState::Rejected];
    let dismissed = work
        .tx
        .decide_revision(what, &refused, RevisionState::Withdrawn)
        .await?;
    if dismissed {
        return work.audit_decision(what, RevisionState::Withdrawn).await;
    }
    end(work, what, RevisionState::Withdrawn).await
}

async fn end(work: &mut Work<'_>, what: &Decided<'_>, to: RevisionState) -> Result<(), Error> {
    let revision = work.waiting(what.item_id, what.revision).await?;
    work.tx.decide_revision(what, &[revision.state], to).await?;
    work.audit_decision(what, to).await
}

/// Publishes the revisions whose time has come, and switches off the items whose end has come.
/// Returns how many items changed.
///
/// # Errors
/// Fails when the database fails.
pub async fn due(fleet: &Fleet, casino: &CasinoId) -> Result<usize, Error> {
    let now = fleet.clock.now();
    let mut work = Work::begin(fleet, casino).await?;
    let mut done = 0;
    for (item_id, revision) in work.tx.revisions_due(now).await? {
        let what = Decided {
            item_id: &item_id,
            revision,
            by: TIMER,
            reason: "its time came",
        };
        match publish(&mut work, &what, &[]).await {
            Ok(_) => done += 1,
            // A revision that can no longer be published is refused. The editor then finds the
            // refused revision, with the reason.
            Err(refused @ (Error::Moved { .. } | Error::Blocked(_) | Error::Purged { .. })) => {
                let reason = refused.to_string();
                let what = Decided {
                    reason: &reason,
                    ..what
                };
                reject(&mut work, &what).await?;
            }
            Err(error) => return Err(error),
        }
    }
    for (item_id, _) in work.tx.take_downs_due(now).await? {
        let version = work.next_version().await?;
        work.tx.take_down_item(&item_id, TIMER, version).await?;
        let detail =
            json!({ "changes": [{ "item": item_id, "state": "switched off at its time" }] });
        let entry = Entry::of(AuditEvent::ContentUpdated, TIMER, casino.as_str(), detail);
        work.tx.audit(&entry).await?;
        done += 1;
    }
    work.commit().await?;
    Ok(done)
}
