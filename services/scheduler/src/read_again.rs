//! Checks texts a second time after they were handled. The host's texts are checked for offers that
//! the content does not support, guests' texts for cries for help. This finds texts that an older
//! pack, an older program or a failed check let through.

mod cries;

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde_json::Value;
use seven_compliance::offers::{self, Action};
use seven_domain::{CasinoId, ConversationId, IncidentKind};
use seven_knowledge::offers::catalogue_of;
use seven_runtime::{Error, Fleet};
use seven_store::{Tx, casinos::Casino, incidents::found::ReadAgain};
use uuid::Uuid;

use crate::incidents::{Found, contain};

/// A new process first checks the texts of this period before its start, because it may have a new
/// pack.
const FIRST_SPAN: TimeDelta = TimeDelta::hours(24);
/// Length of the period whose texts are checked in one step.
const CHUNK: TimeDelta = TimeDelta::hours(1);
/// Each round begins this long before the end of the previous round, because transactions may
/// commit late.
const OVERLAP: TimeDelta = TimeDelta::minutes(5);
/// A turn that began within this time after a change of content is not checked: it may have used
/// the earlier content.
const CONTENT_MARGIN: Duration = Duration::from_secs(120);
const BY: &str = "scheduler";

/// How far this process has checked each casino's texts.
pub(crate) type Read = Arc<Mutex<HashMap<CasinoId, Mark>>>;

/// How far one casino's texts are checked.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    up_to: DateTime<Utc>,
    /// The checked texts that the next round's overlap contains again, with the time of their
    /// check.
    lately: HashMap<Key, DateTime<Utc>>,
}

/// A text's id, and a hash of its words, so that a changed row is checked again.
type Key = (Uuid, u64);

fn key(text: &ReadAgain) -> Key {
    let mut words = DefaultHasher::new();
    text.body.hash(&mut words);
    (text.text_id, words.finish())
}

// === impl Mark ===

impl Mark {
    fn new(now: DateTime<Utc>) -> Self {
        Self {
            up_to: now - FIRST_SPAN,
            lately: HashMap::new(),
        }
    }

    /// Leaves out the texts that are already checked.
    fn unread(&self, mut texts: Vec<ReadAgain>) -> Vec<ReadAgain> {
        texts.retain(|text| !self.lately.contains_key(&key(text)));
        texts
    }

    /// Marks these texts as checked, and drops the marks that no later round needs.
    fn note(&mut self, texts: Vec<Key>, now: DateTime<Utc>) {
        self.lately.retain(|_, found| now - *found <= OVERLAP * 2);
        self.lately
            .extend(texts.into_iter().map(|text| (text, now)));
    }
}

pub(crate) async fn round(fleet: Fleet, marks: Read) -> Result<(), Error> {
    let casinos = fleet.store.tenants().await?;
    crate::rounds::each(casinos, |casino| {
        catch_up(fleet.clone(), casino, marks.clone())
    })
    .await
}

/// Checks one casino's texts up to now, an hour at a time. After a failure, the next round
/// continues from the last finished hour.
async fn catch_up(fleet: Fleet, casino: CasinoId, marks: Read) -> Result<(), Error> {
    let now = fleet.clock.now();
    let last = {
        let marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.get(&casino).cloned()
    };
    let mut mark = last.unwrap_or_else(|| Mark::new(now));
    let mut since = mark.up_to - OVERLAP;
    while since < now {
        let until = (since + CHUNK).min(now);
        // The last chunk ends an hour from now, so that rows of this very moment are included.
        let end = if until == now { now + CHUNK } else { until };
        let found = read(&fleet, &casino, &mark, since..end).await?;
        // Only texts of the last chunk come up again in the next round, so only they are marked.
        // Marks for a whole day would need too much memory.
        if until == now {
            mark.note(found, now);
        }
        mark.up_to = until;
        marks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(casino.clone(), mark.clone());
        since = until;
    }
    Ok(())
}

/// Checks the texts of this period that are not checked yet, and returns their keys.
async fn read(
    fleet: &Fleet,
    casino: &CasinoId,
    mark: &Mark,
    Range {
        start: since,
        end: until,
    }: Range<DateTime<Utc>>,
) -> Result<Vec<Key>, Error> {
    let margin = fleet.timing.scaled(CONTENT_MARGIN);
    let mut tx = fleet.store.bind(casino).await?;
    let Some(row) = tx.casino_row().await? else {
        return Ok(Vec::new());
    };
    let replies = mark.unread(tx.sent_replies(since, until, margin).await?);
    let texts = mark.unread(tx.passed_texts(since, until).await?);
    let mut read: Vec<Key> = texts.iter().map(key).collect();
    let content = content_of(&mut tx, &replies, &row).await?;
    // The checks below take seconds to compute, so the transaction ends first and frees its
    // connection.
    tx.commit().await?;
    if let Some(content) = content {
        read.extend(replies.iter().map(key));
        for reply in unproven(content, replies, row.config.operational.timezone).await? {
            contain(fleet, casino, found(IncidentKind::OfferUnproven, &reply)).await?;
        }
    }
    cries::read(fleet, casino, &row, texts).await?;
    Ok(read)
}

fn found(kind: IncidentKind, text: &ReadAgain) -> Found {
    Found {
        kind,
        conversation: ConversationId(text.conversation_id),
        text: text.text_id,
        by: BY,
    }
}

/// Returns the casino's content, against which the replies are checked. Returns `None` if there are
/// no replies. Also returns `None` if the content has changed since the replies were selected; the
/// next round then selects them again.
async fn content_of(
    tx: &mut Tx,
    replies: &[ReadAgain],
    casino: &Casino,
) -> Result<Option<Vec<Value>>, Error> {
    if replies.is_empty() {
        return Ok(None);
    }
    let content = tx.content().await?;
    let now = tx.casino_row().await?;
    let same = now.is_some_and(|now| now.content_version == casino.content_version);
    Ok(same.then_some(content))
}

/// Returns the replies that name an amount of money found neither in the casino's content nor in
/// any of its promotions. A promotion's dates are not checked here, because the turn checked them
/// when it made the reply. The check runs on a blocking thread, because checking a day's replies
/// takes seconds.
async fn unproven(
    content: Vec<Value>,
    replies: Vec<ReadAgain>,
    zone: Tz,
) -> Result<Vec<ReadAgain>, Error> {
    let judged = tokio::task::spawn_blocking(move || {
        let mut known = catalogue_of(&content, zone);
        for promotion in &mut known.promotions {
            (promotion.valid_from, promotion.valid_until) = (None, None);
        }
        let rejected = |reply: &ReadAgain| {
            offers::check(&reply.body, &known, reply.at, zone).action == Action::Reject
        };
        replies.into_iter().filter(rejected).collect()
    });
    judged
        .await
        .map_err(|error| Error::Other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: u128, body: &str) -> ReadAgain {
        ReadAgain {
            text_id: Uuid::from_u128(id),
            conversation_id: Uuid::nil(),
            body: body.into(),
            at: DateTime::UNIX_EPOCH,
        }
    }

    #[test] // SEC-95
    fn a_text_is_read_once_unless_it_changes() {
        let start = DateTime::UNIX_EPOCH;
        let mut mark = Mark::new(start);
        let both = vec![text(1, "a"), text(2, "b")];
        assert_eq!(mark.unread(both.clone()).len(), 2);
        mark.note(both.iter().map(key).collect(), start);
        assert!(mark.unread(both).is_empty());
        let changed = mark.unread(vec![text(1, "a"), text(2, "c"), text(3, "b")]);
        assert_eq!(
            changed
                .iter()
                .map(|t| t.text_id.as_u128())
                .collect::<Vec<_>>(),
            [2, 3]
        );
        // A mark that no later round needs is dropped.
        mark.note(vec![key(&text(4, "d"))], start + OVERLAP * 3);
        assert_eq!(mark.lately.len(), 1);
    }
}
