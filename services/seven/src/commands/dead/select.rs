//! The filters by which all `seven dead` commands select dead letters.

use std::{collections::BTreeSet, str::FromStr};

use anyhow::{Result, bail, ensure};
use clap::{ArgGroup, Args};
use serde_json::{Value, json};
use seven_domain::{CasinoId, DeadId, DeadState, Invalid, Stage};
use seven_runtime::Fleet;
use seven_store::{dead::Filter, prefix::Named};
use uuid::Uuid;

use crate::commands::{args::Period, given::When, guest_ref::GuestRef, id_prefix::IdPrefix};

#[derive(Debug, Args)]
pub(super) struct Select {
    /// The casino's id, as `seven casino list` shows it.
    #[arg(long, value_name = "ID", conflicts_with_all = ["all_casinos", "unknown"])]
    pub(super) casino: Option<CasinoId>,
    /// Apply to every casino, including removed casinos and numbers that belonged to no casino.
    #[arg(long, conflicts_with = "unknown")]
    pub(super) all_casinos: bool,
    /// Apply to dead letters addressed to numbers that belonged to no casino.
    #[arg(long)]
    pub(super) unknown: bool,
    /// Stage of the dead letters: ingress, gate, swarm, envelope, sender or receipts.
    #[arg(long)]
    pub(super) stage: Option<Stage>,
    /// Text that the reason or an error of the dead letters contains, ignoring case.
    #[arg(long, value_name = "TEXT")]
    pub(super) error: Option<String>,
    #[command(flatten)]
    pub(super) period: Period,
    /// The guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone from stdin.
    #[arg(long, value_name = "GUEST")]
    pub(super) guest: Option<GuestRef>,
    /// State of the dead letters: open, replayed, discarded or all.
    #[arg(long, default_value = "open")]
    pub(super) state: States,
}

/// Returns the argument group that requires ids or a casino filter before a command acts on
/// letters.
pub(super) fn whose() -> ArgGroup {
    ArgGroup::new("whose").required(true).multiple(true).args([
        "ids",
        "casino",
        "all_casinos",
        "unknown",
    ])
}

/// The state that letters must have; `None` selects all states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct States(pub(super) Option<DeadState>);

/// An owner of dead letters, and the filter for them. The owner is a casino, or the pseudo tenant
/// for numbers that belong to no casino.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) owner: CasinoId,
    pub(super) filter: Filter,
}

// === impl Select ===

impl Select {
    /// Returns a part for each selected owner of dead letters. With `wide`, also for owners whose
    /// dead letters may be only in the stream.
    pub(super) async fn parts(&self, fleet: &Fleet, wide: bool) -> Result<Vec<Part>> {
        let guest = self.guest.clone().map(GuestRef::read).transpose()?;
        let owners = self.owners(fleet, wide).await?;
        let (since, until) = self.period.at(fleet.clock.now());
        let mut parts = Vec::new();
        for owner in owners {
            let guest = match &guest {
                // A guest id belongs to one casino; other casinos have no letters about that guest.
                Some(id @ GuestRef::Id(_)) if self.casino.is_none() => {
                    match id.hash(fleet, &owner).await {
                        Ok(hash) => Some(hash),
                        Err(_) => continue,
                    }
                }
                Some(guest) => Some(guest.hash(fleet, &owner).await?),
                None => None,
            };
            let filter = Filter {
                id: None,
                state: self.state.0,
                stage: self.stage,
                error: self.error.clone(),
                since,
                until,
                guest,
            };
            parts.push(Part { owner, filter });
        }
        Ok(parts)
    }

    /// Returns the dead letter that a whole id or a unique prefix names, and its owner. Without
    /// `--casino`, the owner is looked up in the database.
    pub(super) async fn named(&self, fleet: &Fleet, id: &IdPrefix) -> Result<(CasinoId, DeadId)> {
        if let Some(whole) = id.whole().map(DeadId) {
            if let Some(casino) = &self.casino {
                return Ok((casino.clone(), whole));
            }
            return match fleet.store.dead_owner(whole).await? {
                Some(owner) => Ok((owner, whole)),
                None => bail!("no dead letter {whole}; `seven dead list` shows them"),
            };
        }
        let mut found: Vec<(CasinoId, Uuid)> = Vec::new();
        for owner in self.owners(fleet, false).await? {
            let mut tx = fleet.store.bind(&owner).await?;
            let ids = id.candidates(&mut tx, Named::DeadLetter).await?;
            tx.commit().await?;
            found.extend(ids.into_iter().map(|id| (owner.clone(), id)));
        }
        let only = id.among(found.iter().map(|(_, id)| *id), Named::DeadLetter.plural())?;
        let owner = found
            .into_iter()
            .find(|(_, id)| *id == only)
            .map(|(owner, _)| owner);
        owner
            .map(|owner| (owner, DeadId(only)))
            .ok_or_else(|| anyhow::anyhow!("no dead letter {only}"))
    }

    /// Describes the selection for the audit log, without phone or guest.
    pub(super) fn said(&self) -> Value {
        json!({
            "stage": self.stage, "error": self.error, "state": self.state.0,
            "guest": self.guest.is_some(),
            "since": self.period.since.map(When::said), "until": self.period.until.map(When::said),
        })
    }

    async fn owners(&self, fleet: &Fleet, wide: bool) -> Result<Vec<CasinoId>> {
        if self.unknown {
            return Ok(vec![CasinoId::unknown()]);
        }
        if let Some(casino) = &self.casino {
            let mut tx = fleet.store.bind(casino).await?;
            let known = tx.casino_status().await?.is_some();
            tx.commit().await?;
            ensure!(known, "no casino {casino}; `seven casino list` shows them");
            return Ok(vec![casino.clone()]);
        }
        let mut owners: BTreeSet<CasinoId> = fleet.store.dead_owners().await?.into_iter().collect();
        if wide {
            owners.insert(CasinoId::unknown());
            owners.extend(
                fleet
                    .store
                    .roster()
                    .await?
                    .into_iter()
                    .map(|entry| entry.casino),
            );
        }
        Ok(owners.into_iter().collect())
    }
}

// === impl States ===

impl FromStr for States {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "all" {
            Ok(Self(None))
        } else {
            text.parse().map(|state| Self(Some(state)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_or_all_are_read() {
        assert_eq!("all".parse::<States>().unwrap(), States(None));
        assert_eq!(
            "open".parse::<States>().unwrap(),
            States(Some(DeadState::Open))
        );
        assert!("lost".parse::<States>().is_err());
    }
}
