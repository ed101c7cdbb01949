//! Plays the visits against the carrier's simulator.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use seven_carrier_sim::Text;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    ground::{Ground, casino_number},
    visits::Visit,
};

/// Returns when the last guest has said the last word.
pub(crate) async fn play(ground: Arc<Ground>, began: Instant, visits: Vec<Visit>) -> Result<()> {
    let mut guests = JoinSet::new();
    for visit in visits {
        sleep_until(began + visit.at).await;
        guests.spawn(guest(ground.clone(), visit));
    }
    while let Some(done) = guests.join_next().await {
        done??;
    }
    Ok(())
}

async fn guest(ground: Arc<Ground>, visit: Visit) -> Result<()> {
    let began = Instant::now();
    let mut replays: Vec<(Duration, Text)> = Vec::new();
    for said in &visit.script {
        sleep_until(began + said.after).await;
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
            text.occurred_at = ground.stack.sim.ledger().inbound(&texted.message_id).map(|first| first.occurred_at);
            text.event_id = Some(texted.event_id);
            text.message_id = Some(texted.message_id);
            replays.push((said.after + again, text));
        }
    }
    for (at, text) in replays {
        sleep_until(began + at).await;
        ground.stack.sim.text(text)?;
    }
    Ok(())
}
