//! Lets the guests of all visits send their texts through the carrier simulator. Lets the visitors
//! of the websites call the gateways.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use seven_carrier_sim::Text;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    browse::{self, Browsed},
    ground::{Ground, casino_id, casino_number},
    staff::{self, Held},
    stale,
    visitors::Visitor,
    visits::{ASKED, DELETION, MACHINE, Odd, Visit},
};

/// One casino's number is handed on to another casino during the run. A guest waits for this at
/// most `HAND_OVER`. After that the guest texts anyway, but `stops_reach_the_former` does not
/// examine the guest's STOP.
const HAND_OVER: Duration = Duration::from_secs(60);

/// Facts of a run that neither the carrier's ledger nor the fleet's rows hold.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) browsed: Vec<Browsed>,
    /// Takeovers of conversations with guests who text: the times during which a person had the
    /// conversation.
    pub(crate) held: Vec<Held>,
}

/// Starts each visit at its time and returns when the last guest has sent the last text.
pub(crate) async fn play(
    ground: Arc<Ground>,
    began: Instant,
    visits: Vec<Visit>,
    visitors: Vec<Visitor>,
) -> Result<Played> {
    let (mut guests, mut browsing) = (JoinSet::new(), JoinSet::new());
    let (on_web, by_text) = (ground.clone(), ground);
    let arriving = async {
        for visitor in visitors {
            sleep_until(began + visitor.at).await;
            browsing.spawn(browse::visit(on_web.clone(), visitor));
        }
    };
    let texting = async {
        for visit in visits {
            sleep_until(began + visit.at).await;
            guests.spawn(guest(by_text.clone(), visit));
        }
    };
    tokio::join!(arriving, texting);
    let mut played = Played::default();
    while let Some(done) = guests.join_next().await {
        played.held.extend(done??);
    }
    while let Some(done) = browsing.join_next().await {
        played.browsed.push(done??);
    }
    Ok(played)
}

/// Plays one guest who texts. Returns the time during which a person had the conversation, if any.
async fn guest(ground: Arc<Ground>, visit: Visit) -> Result<Option<Held>> {
    let began = Instant::now();
    if visit.odd == Some(Odd::Stale) {
        stale::publish(&ground, &visit).await?;
        return Ok(None);
    }
    let mut staff = None;
    match visit.odd {
        Some(Odd::Machine(answer)) => {
            drop(tokio::spawn(machine(ground.clone(), visit.clone(), answer)));
        }
        Some(Odd::Deleted) => drop(tokio::spawn(forget(ground.clone(), visit.clone()))),
        Some(Odd::TakenOver(takeover)) => {
            let ground = ground.clone();
            let casino = casino_id(visit.casino).parse()?;
            let guest = ground.stack.fleet.keys.hash(&casino, &visit.phone.parse()?);
            staff = Some(tokio::spawn(async move {
                staff::take_over(&ground, &casino, &guest, takeover).await
            }));
        }
        Some(Odd::Flood | Odd::Cry | Odd::HandedOn | Odd::Crowd | Odd::CryInCrowd | Odd::Stale)
        | None => {}
    }
    let mut replays: Vec<(Duration, Text)> = Vec::new();
    for said in &visit.script {
        sleep_until(began + said.after).await;
        if visit.odd == Some(Odd::HandedOn) && !said.after.is_zero() {
            handed_on(&ground).await;
        }
        let mut text = Text {
            from: visit.phone.clone(),
            to: Some(casino_number(visit.casino)),
            text: Some(said.text.to_owned()),
            ..Text::default()
        };
        if !said.written.is_zero() {
            text.occurred_at = Some(ground.stack.fleet.clock.now() - said.written);
        }
        let texted = ground.stack.sim.text(text.clone())?;
        if let Some(again) = said.again {
            text.occurred_at = ground
                .stack
                .sim
                .ledger()
                .inbound(&texted.message_id)
                .map(|first| first.occurred_at);
            text.event_id = Some(texted.event_id);
            text.message_id = Some(texted.message_id);
            replays.push((said.after + again, text));
        }
    }
    for (at, text) in replays {
        sleep_until(began + at).await;
        ground.stack.sim.text(text)?;
    }
    match staff {
        Some(staff) => staff.await?,
        None => Ok(None),
    }
}

/// Waits until the number is handed on to another casino, at most [`HAND_OVER`]. This happens late
/// if servers are down at the planned time.
async fn handed_on(ground: &Ground) {
    let mut handed_on = ground.handed_on.subscribe();
    drop(timeout(HAND_OVER, handed_on.wait_for(Option::is_some)).await);
}

/// Plays a machine that answers every text it gets, as an automatic reply does.
async fn machine(ground: Arc<Ground>, visit: Visit, answer: &'static str) {
    let until = Instant::now() + MACHINE;
    let mut answered = 0;
    while Instant::now() < until {
        let come = ground
            .stack
            .sim
            .ledger()
            .snapshot()
            .outbound
            .iter()
            .filter(|sent| sent.to == visit.phone)
            .count();
        for _ in answered..come {
            let text = Text {
                from: visit.phone.clone(),
                to: Some(casino_number(visit.casino)),
                text: Some(answer.to_owned()),
                ..Text::default()
            };
            if let Err(error) = ground.stack.sim.text(text) {
                tracing::warn!(%error, "a machine could not answer");
            }
        }
        answered = come;
        sleep(Duration::from_millis(200)).await;
    }
}

/// Requests a guest's deletion as an operator, [`ASKED`] after the guest arrived. Does nothing when
/// the database is down at that moment or does not know the guest.
async fn forget(ground: Arc<Ground>, visit: Visit) {
    sleep(ASKED).await;
    let fleet = &ground.stack.fleet;
    let asked = async {
        let casino = casino_id(visit.casino).parse()?;
        let guest = fleet.keys.hash(&casino, &visit.phone.parse()?);
        let mut tx = fleet.store.bind(&casino).await?;
        if let Some(guest_id) = tx.guest_by_hash(&guest).await? {
            let (id, now) = (fleet.ids.uuid(), fleet.clock.now());
            tx.request_deletion(id, &guest, guest_id, "seven chaos", now, DELETION)
                .await?;
            tx.commit().await?;
        }
        anyhow::Ok(())
    };
    if let Err(error) = asked.await {
        tracing::info!(
            error = &*error as &dyn std::error::Error,
            "a guest was not to be forgotten after all"
        );
    }
}
