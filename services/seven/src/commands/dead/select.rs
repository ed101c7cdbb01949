//! The filters by which all `seven dead` commands select dead letters.

use std::{collections::BTreeSet, str::FromStr, time::Duration};

use anyhow::{Result, bail, ensure};
use chrono::{DateTime, Utc};
use clap::{ArgGroup, Args};
use serde_json::{Value, json};
use seven_domain::{CasinoId, DeadId, DeadState, Invalid, Stage};
use seven_runtime::Fleet;
use seven_store::dead::Filter;

use crate::commands::guest_ref::GuestRef;

#[derive(Debug, Args)]
pub(super) struct Select {
    /// Only dead letters of this casino.
    #[arg(long, value_name = "ID", conflicts_with_all = ["all_casinos", "unknown"])]
    pub(super) casino: Option<CasinoId>,
    /// Dead letters of every casino, including removed casinos and numbers that belonged to no
    /// casino.
    #[arg(long, conflicts_with = "unknown")]
    pub(super) all_casinos: bool,
    /// Dead letters addressed to numbers that belonged to no casino.
    #[arg(long)]
    pub(super) unknown: bool,
    /// Only dead letters of this stage: ingress, gate, swarm, envelope, sender, receipts.
    #[arg(long)]
    pub(super) stage: Option<Stage>,
    /// Only dead letters with this text in their reason or errors, ignoring case.
    #[arg(long, value_name = "TEXT")]
    pub(super) error: Option<String>,
    /// Only dead letters last seen since: 30m, 2h, 7d, or a time (RFC 3339).
    #[arg(long, value_name = "WHEN")]
    pub(super) since: Option<When>,
    /// Only dead letters last seen before: 30m, 2h, 7d, or a time (RFC 3339).
    #[arg(long, value_name = "WHEN")]
    pub(super) until: Option<When>,
    /// Only dead letters about this guest: phone, guest id, hmac:<key>:<hex>, or - for a phone on
    /// stdin.
    #[arg(long, value_name = "WHO")]
    pub(super) guest: Option<GuestRef>,
    /// State: open, replayed, discarded or all.
    #[arg(long, default_value = "open")]
    pub(super) state: States,
}

/// Returns the argument group that requires ids or a casino filter before a command acts on
/// letters.
pub(super) fn whose() -> ArgGroup {
    ArgGroup::new("whose").required(true).multiple(true).args(["ids", "casino", "all_casinos", "unknown"])
}

/// A state, or all states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct States(pub(super) Option<DeadState>);

/// A time, or a span before now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    At(DateTime<Utc>),
    Ago(Duration),
}

/// A casino or pseudo tenant, with the filter for its dead letters.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) owner: CasinoId,
    pub(super) filter: Filter,
}

// === impl Select ===

impl Select {
    /// Returns the filter for each casino that has dead letters; with `wide`, for each that may
    /// have some only in the stream.
    pub(super) async fn parts(&self, fleet: &Fleet, wide: bool) -> Result<Vec<Part>> {
        let guest = self.guest.clone().map(GuestRef::read).transpose()?;
        let owners = self.owners(fleet, wide).await?;
        let now = fleet.clock.now();
        let mut parts = Vec::new();
        for owner in owners {
            let guest = match &guest {
                // A guest id belongs to one casino; other casinos have no letters about that guest.
                Some(id @ GuestRef::Id(_)) if self.casino.is_none() => match id.hash(fleet, &owner).await {
                    Ok(hash) => Some(hash),
                    Err(_) => continue,
                },
                Some(guest) => Some(guest.hash(fleet, &owner).await?),
                None => None,
            };
            let filter = Filter {
                id: None,
                state: self.state.0,
                stage: self.stage,
                error: self.error.clone(),
                since: self.since.map(|when| when.at(now)),
                until: self.until.map(|when| when.at(now)),
                guest,
            };
            parts.push(Part { owner, filter });
        }
        Ok(parts)
    }

    /// Returns the casino that owns a letter: the given one, otherwise the one found in the
    /// database.
    pub(super) async fn owner_of(&self, fleet: &Fleet, id: DeadId) -> Result<CasinoId> {
        if let Some(casino) = &self.casino {
            return Ok(casino.clone());
        }
        match fleet.store.dead_owner(id).await? {
            Some(owner) => Ok(owner),
            None => bail!("no dead letter {id}; `seven dead list` shows them"),
        }
    }

    /// Describes the selection for the audit log, without phone or guest.
    pub(super) fn said(&self) -> Value {
        json!({
            "stage": self.stage, "error": self.error, "state": self.state.0, "guest": self.guest.is_some(),
            "since": self.since.map(When::said), "until": self.until.map(When::said),
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
            owners.extend(fleet.store.roster().await?.into_iter().map(|entry| entry.casino));
        }
        Ok(owners.into_iter().collect())
    }
}

// === impl When, States ===

impl When {
    fn at(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::At(at) => at,
            Self::Ago(ago) => now - ago,
        }
    }

    fn said(self) -> String {
        match self {
            Self::At(at) => at.to_rfc3339(),
            Self::Ago(ago) => format!("{} s ago", ago.as_secs()),
        }
    }
}

impl FromStr for When {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Ok(at) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self::At(at.to_utc()));
        }
        let invalid = || Invalid::new("time", text, "30s, 30m, 2h, 7d, or a time such as 2026-11-22T19:00:00Z");
        let unit: u64 = match text.chars().last() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3_600,
            Some('d') => 86_400,
            _ => return Err(invalid()),
        };
        let number: u64 = text[..text.len() - 1].parse().map_err(|_| invalid())?;
        // Limit of ten years: longer than any letter is kept.
        let seconds = number.checked_mul(unit).filter(|seconds| *seconds <= 3_650 * 86_400).ok_or_else(invalid)?;
        Ok(Self::Ago(Duration::from_secs(seconds)))
    }
}

impl FromStr for States {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "all" { Ok(Self(None)) } else { text.parse().map(|state| Self(Some(state))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_said_or_as_ago() {
        let ago = |seconds| When::Ago(Duration::from_secs(seconds));
        for (text, when) in [("45s", ago(45)), ("30m", ago(1_800)), ("2h", ago(7_200)), ("7d", ago(604_800))] {
            assert_eq!(text.parse::<When>().unwrap(), when, "{text}");
        }
        let at = "2026-11-22T19:00:00+01:00".parse::<When>().unwrap();
        assert_eq!(at, When::At("2026-11-22T18:00:00Z".parse().unwrap()));
        for bad in ["", "h", "2", "-2h", "2w", "2.5h", "99999999999999999999d", "4000d", "yesterday", "é"] {
            assert!(bad.parse::<When>().is_err(), "{bad}");
        }
        assert_eq!("all".parse::<States>().unwrap(), States(None));
        assert_eq!("open".parse::<States>().unwrap(), States(Some(DeadState::Open)));
        assert!("lost".parse::<States>().is_err());
    }
}
