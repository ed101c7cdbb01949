//! The casinos' staff: a person takes a conversation over on a console, writes, and gives it back.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, ConversationId, GuestHash};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{
    desk::Posted,
    ground::Ground,
    visits::{PERSONS_TEXT, Takeover},
};

/// Time between two tries while a store is down.
const AGAIN: Duration = Duration::from_millis(20);
/// If the conversation does not exist after this time, its first text is probably waiting for the
/// bus. The conversation is then looked for only every [`LATER`], so that the search does not load
/// the database.
const SOON: Duration = Duration::from_secs(2);
const LATER: Duration = Duration::from_millis(500);
/// Longest time for which a person retries one action. Even repeated outages of the stores on a
/// slow machine are shorter.
const PATIENCE: Duration = Duration::from_secs(180);

/// The time during which a person had a conversation: from the commit of the takeover to the
/// request to end it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) conversation: Uuid,
    pub(crate) from: DateTime<Utc>,
    pub(crate) to: DateTime<Utc>,
}

/// Takes the guest's conversation over as soon as the conversation exists, writes to the guest, and
/// gives it back. Returns `None` if there is no conversation, because the guest's message never
/// reached the fleet.
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
            Ok(None) | Err(_) if began.elapsed() < SOON => sleep(AGAIN).await,
            Ok(None) | Err(_) if began.elapsed() < PATIENCE => sleep(LATER).await,
            Ok(None) | Err(_) => return Ok(None),
        }
    };
    sleep(takeover.after).await;
    let (clock, place) = (&ground.stack.fleet.clock, (casino, conversation));
    insist(|| begin(ground, place))
        .await
        .context("taking a conversation over")?;
    let from = clock.now();
    write(ground, place).await;
    sleep(takeover.span).await;
    let to = clock.now();
    insist(|| end(ground, place))
        .await
        .context("giving a conversation back")?;
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

/// Takes the conversation over. If a console refuses the form as outdated, an earlier try may have
/// succeeded although its answer was lost. Then posts the form again, with this person as the
/// current holder.
async fn begin(ground: &Ground, place: (&CasinoId, ConversationId)) -> bool {
    let (desk, reason) = (&ground.desk, ("reason", "chaos"));
    let free = desk.post(place, "/takeover", &[reason, ("held", "")]).await;
    if free != Posted::Outdated {
        return free == Posted::Done;
    }
    let mine = [reason, ("held", &*desk.actor)];
    desk.post(place, "/takeover", &mine).await == Posted::Done
}

/// Writes to the guest. If a console refuses the form as outdated, posts it again. If the answer is
/// lost, does not post the form again, because it may have been stored.
async fn write(ground: &Ground, (casino, conversation): (&CasinoId, ConversationId)) {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let Ok(mark) = ground.desk.mark(casino, conversation).await else {
            sleep(AGAIN).await;
            continue;
        };
        let fields = [("text", PERSONS_TEXT), ("read", &*mark)];
        let posted = ground
            .desk
            .post((casino, conversation), "/say", &fields)
            .await;
        if posted != Posted::Outdated {
            return;
        }
    }
}

/// Gives the conversation back. If a console refuses the form as outdated, an earlier try may have
/// succeeded although its answer was lost. Then posts the form again, with no current holder.
async fn end(ground: &Ground, place: (&CasinoId, ConversationId)) -> bool {
    let desk = &ground.desk;
    let mine = desk
        .post(place, "/release", &[("held", &*desk.actor)])
        .await;
    if mine != Posted::Outdated {
        return mine == Posted::Done;
    }
    desk.post(place, "/release", &[("held", "")]).await == Posted::Done
}

/// Retries the action for at most [`PATIENCE`], because consoles and stores may be down.
async fn insist<F: Future<Output = bool>>(attempt: impl Fn() -> F) -> Result<()> {
    let began = Instant::now();
    while !attempt().await {
        ensure!(began.elapsed() < PATIENCE, "it did not succeed in time");
        sleep(AGAIN).await;
    }
    Ok(())
}
