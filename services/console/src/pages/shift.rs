//! Hands a conversation on to a colleague, or leaves it to anybody. At the end of a shift, hands on
//! all conversations that a person holds.

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;
use seven_domain::CasinoId;
use seven_staff::{
    Right,
    shift::{HandedOn, hand_on},
};

use super::{
    conversations,
    thread::{Place, back_to, exists, page},
};
use crate::{access::Posted, app::Shared, fault::Fault, guard::go_to};

#[derive(Deserialize)]
pub(crate) struct To {
    /// The colleague, as the audit log names them; empty to leave the conversation to anybody.
    #[serde(default)]
    to: String,
}

impl To {
    fn colleague(&self) -> Option<&str> {
        (!self.to.is_empty()).then_some(&*self.to)
    }
}

pub(crate) async fn one(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<To>,
) -> Result<Response, Fault> {
    let mut tx = exists(&app, &place, &person, Right::Converse).await?;
    let by = person.actor();
    let problem = match hand_on(&app.fleet, &mut tx, place.1, &by, form.colleague()).await? {
        HandedOn::Done => {
            tx.commit().await?;
            return Ok(back_to(&app, &place));
        }
        HandedOn::NotYours => "changed_hands",
        HandedOn::NoColleague => "no_colleague",
    };
    tx.rollback().await?;
    let refused = (String::new(), problem, StatusCode::CONFLICT);
    page(&app, &place, &person, refused).await
}

/// Hands on all conversations that the person holds at this casino. A conversation that somebody
/// else took over meanwhile stays with them.
pub(crate) async fn all(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<To>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Converse)?;
    let by = person.actor();
    let mut tx = app.fleet.store.bind(&casino).await?;
    let held = tx.held_by(&by).await?;
    tx.commit().await?;
    for conversation in held {
        let mut tx = app.fleet.store.bind(&casino).await?;
        let handed = hand_on(&app.fleet, &mut tx, conversation, &by, form.colleague()).await?;
        if handed == HandedOn::NoColleague {
            let filter = conversations::Filter::default();
            return conversations::page(&app, &casino, &person, &filter, "no_colleague").await;
        }
        tx.commit().await?;
    }
    app.hints.changed(&casino);
    Ok(go_to(&format!("/c/{casino}/conversations")))
}
