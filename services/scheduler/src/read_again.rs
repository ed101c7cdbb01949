//! Reads texts again after they were handled: the host's for offers that nothing proves, the
//! guests' for cries for help. It finds what an older pack, an older version or a failed check let
//! through.

mod cries;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use seven_compliance::offers::{self, Action};
use seven_domain::{CasinoId, ConversationId, IncidentKind};
use seven_knowledge::offers::catalogue_of;
use seven_runtime::{Error, Fleet};
use seven_store::{Tx, casinos::Casino, incidents::found::ReadAgain};

use crate::incidents::{Found, contain};

/// How far back a process reads first: it may have brought a new pack.
const FIRST_SPAN: TimeDelta = TimeDelta::hours(24);
/// The span of texts that is read in one go.
const CHUNK: TimeDelta = TimeDelta::hours(1);
/// A round reads this much of the one before again, because transactions commit late.
const OVERLAP: TimeDelta = TimeDelta::minutes(5);
/// A turn may still have been made from content that had changed less than this before.
const CONTENT_MARGIN: Duration = Duration::from_secs(120);
const BY: &str = "scheduler";

/// The time up to which a process has read each casino's texts.
pub(crate) type ReadUpTo = Arc<Mutex<HashMap<CasinoId, DateTime<Utc>>>>;

pub(crate) async fn round(fleet: Fleet, read_up_to: ReadUpTo) -> Result<(), Error> {
    let casinos = fleet.store.tenants().await?;
    crate::rounds::each(casinos, |casino| {
        catch_up(fleet.clone(), casino, read_up_to.clone())
    })
    .await
}

/// Reads one casino's texts up to now, an hour at a time. A round that fails goes on where it was.
async fn catch_up(fleet: Fleet, casino: CasinoId, read_up_to: ReadUpTo) -> Result<(), Error> {
    let now = fleet.clock.now();
    let last = {
        let marks = read_up_to.lock().unwrap_or_else(PoisonError::into_inner);
        marks.get(&casino).copied()
    };
    let mut since = last.map_or(now - FIRST_SPAN, |last| last - OVERLAP);
    while since < now {
        let until = (since + CHUNK).min(now);
        // The last chunk has no end: rows of this moment are read, too.
        let end = if until == now { now + CHUNK } else { until };
        read(&fleet, &casino, since, end).await?;
        read_up_to
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(casino.clone(), until);
        since = until;
    }
    Ok(())
}

async fn read(
    fleet: &Fleet,
    casino: &CasinoId,
    since: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<(), Error> {
    let margin = fleet.timing.scaled(CONTENT_MARGIN);
    let mut tx = fleet.store.bind(casino).await?;
    let Some(row) = tx.casino_row().await? else {
        return Ok(());
    };
    let replies = tx.sent_replies(since, until, margin).await?;
    let texts = tx.passed_texts(since, until).await?;
    let unproven = unproven(&mut tx, replies, &row).await?;
    tx.commit().await?;
    for reply in unproven {
        contain(fleet, casino, found(IncidentKind::OfferUnproven, &reply)).await?;
    }
    cries::read(fleet, casino, &row, texts).await
}

fn found(kind: IncidentKind, text: &ReadAgain) -> Found {
    Found {
        kind,
        conversation: ConversationId(text.conversation_id),
        text: text.text_id,
        by: BY,
    }
}

/// Returns the replies that name an amount of money which neither the casino's content nor any of
/// its promotions has. A promotion's days are left to the turn, which knew them.
async fn unproven(
    tx: &mut Tx,
    replies: Vec<ReadAgain>,
    casino: &Casino,
) -> Result<Vec<ReadAgain>, Error> {
    if replies.is_empty() {
        return Ok(Vec::new());
    }
    let zone = casino.config.operational.timezone;
    let content = tx.content().await?;
    // The replies were chosen by when the content had changed last. If it has changed since, they
    // were made from another; the next round chooses again.
    let now = tx.casino_row().await?;
    if now.is_none_or(|now| now.content_version != casino.content_version) {
        return Ok(Vec::new());
    }
    let mut known = catalogue_of(&content, zone);
    for promotion in &mut known.promotions {
        (promotion.valid_from, promotion.valid_until) = (None, None);
    }
    let rejected = |reply: &ReadAgain| {
        offers::check(&reply.body, &known, reply.at, zone).action == Action::Reject
    };
    Ok(replies.into_iter().filter(rejected).collect())
}
