//! Checks the conditions for sending texts to people: somebody has called the helplines, and
//! counsel has read the laws. Until then, texts may go only to a provider on this machine.

use seven_compliance::jurisdiction::{Laws, State};
use seven_runtime::{Error, Fleet};

#[derive(Debug, thiserror::Error)]
pub enum Unprotected {
    #[error(
        "texts may only go to a provider on this machine while these are unverified: {0}; set their verified_at once somebody has checked them"
    )]
    Unverified(String),
    #[error("whether helplines and laws are verified could not be read")]
    Unknown(#[source] Error),
}

pub(crate) async fn check(fleet: &Fleet) -> Result<(), Unprotected> {
    let open = unverified(fleet).await.map_err(Unprotected::Unknown)?;
    if open.is_empty() {
        Ok(())
    } else {
        Err(Unprotected::Unverified(open.join(", ")))
    }
}

async fn unverified(fleet: &Fleet) -> Result<Vec<String>, Error> {
    let mut open = Vec::new();
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let Some(row) = tx.casino_row().await? else {
            continue;
        };
        tx.commit().await?;
        let rules = &row.config.regulations;
        let packs = fleet.packs.of(&row.config)?.rules.helpline.as_ref();
        let national = rules.responsible_gaming_helpline.as_ref().or(packs);
        let lines = [
            ("helpline", national),
            ("state helpline", rules.state_helpline.as_ref()),
        ];
        open.extend(
            lines
                .into_iter()
                .filter(|(_, line)| line.is_some_and(|line| line.verified_at.is_none()))
                .map(|(what, _)| format!("{what} of {}", entry.casino)),
        );
    }
    let states: Vec<&str> = State::all()
        .filter(|&state| Laws::shipped().of(state).verified_at.is_none())
        .map(State::as_str)
        .collect();
    if !states.is_empty() {
        open.push(format!("sending laws of {}", states.join(" ")));
    }
    Ok(open)
}
