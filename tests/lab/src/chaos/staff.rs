//! The casinos' staff: a person takes a conversation over, writes, and gives it back, as the console
//! does.

use std::time::Duration;

use anyhow::{Result, bail};
use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, ConversationId, GuestHash};
use seven_staff::{Write, announce, go_on, say, take_over as take_over_as};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{
    ground::Ground,
    visits::{PERSONS_TEXT, Takeover},
};

/// Name of the person in the audit log.
const PERSON: &str = "dana@chaos.example";
/// Time between two tries while a store is down.
const AGAIN: Duration = Duration::from_millis(20);
/// Longest time for which a person tries the same thing.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time during which a person had a conversation: from the commit of the takeover to the request
/// to end it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) conversation: Uuid,
    pub(crate) from: DateTime<Utc>,
    pub(crate) to: DateTime<Utc>,
}

/// Takes the guest's conversation over as soon as it exists, writes to the guest, and gives it back.
/// Returns `None` when the guest got no conversation, because the message never reached the fleet.
pub(crate) async fn take_over(
    ground: &Ground,
    casino: &CasinoId,
    guest: &GuestHash,
    takeover: Takeover,
) -> Result<Option<Held>> {
    let began = Instant::now();
    let conversation = loop {
        match conversation_of(ground, casino, guest).await {
            Ok(Some(conversation)) => break conversation,
            Ok(None) | Err(_) if began.elapsed() < PATIENCE => sleep(AGAIN).await,
            Ok(None) => return Ok(None),
            Err(error) => return Err(error),
        }
    };
    sleep(takeover.after).await;
    let clock = &ground.stack.fleet.clock;
    insist(|| begin(ground, casino, conversation)).await?;
    let from = clock.now();
    let write = Write {
        casino,
        conversation,
        by: PERSON,
        text: PERSONS_TEXT,
        read: None,
    };
    // Not tried again: nobody could tell whether the first try was stored.
    if let Err(error) = say(&ground.stack.fleet, &write).await {
        tracing::info!(%error, "a person could not write");
    }
    sleep(takeover.span).await;
    let to = clock.now();
    insist(|| end(ground, casino, conversation)).await?;
    Ok(Some(Held {
        conversation: conversation.0,
        from,
        to,
    }))
}

async fn conversation_of(
    ground: &Ground,
    casino: &CasinoId,
    guest: &GuestHash,
) -> Result<Option<ConversationId>> {
    let mut tx = ground.stack.fleet.store.bind(casino).await?;
    let found = tx.conversation_of_guest(guest).await?;
    tx.commit().await?;
    Ok(found.map(|(_, conversation)| conversation))
}

async fn begin(ground: &Ground, casino: &CasinoId, conversation: ConversationId) -> Result<()> {
    let mut tx = ground.stack.fleet.store.bind(casino).await?;
    take_over_as(&mut tx, conversation, PERSON, "chaos").await?;
    Ok(tx.commit().await?)
}

async fn end(ground: &Ground, casino: &CasinoId, conversation: ConversationId) -> Result<()> {
    let fleet = &ground.stack.fleet;
    let mut tx = fleet.store.bind(casino).await?;
    let resumed = go_on(&mut tx, conversation, PERSON).await?;
    tx.commit().await?;
    if let Some(resumed) = resumed {
        announce(fleet, casino, conversation, &resumed).await;
    }
    Ok(())
}

/// Tries until it succeeds, because Postgres may be down.
async fn insist<F: Future<Output = Result<()>>>(attempt: impl Fn() -> F) -> Result<()> {
    let began = Instant::now();
    loop {
        match attempt().await {
            Ok(()) => return Ok(()),
            Err(error) if began.elapsed() > PATIENCE => bail!(error),
            Err(_) => sleep(AGAIN).await,
        }
    }
}
