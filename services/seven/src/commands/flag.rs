//! `seven flag list|set|clear`: features for some guests of a casino (DEP-23, DEP-25, DEP-27). A casino's flag stands before the fleet's,
//! both before the casino's document; read at every turn, so in force with the next one.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use seven_domain::{
    CasinoId,
    flags::{PER_GUEST, Rule},
};
use seven_runtime::Fleet;
use seven_store::controls::Order;

use super::{
    fleet,
    given::{Careful, Who},
    guest_ref::GuestRef,
};
use crate::out;

/// Whether the first reply of a session says that an AI writes.
const DISCLOSURE: &str = "features/ai_disclosure_enabled";

#[derive(Debug, Subcommand)]
pub enum Flag {
    /// The flags that are set, and which there are.
    List {
        /// One JSON document instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Set a flag: on or off for all guests, or on for a share, a list, a time. Replaces what stood.
    Set(Set),
    /// Remove a flag: the fleet's, or the casino's document, decides again.
    Clear(Whose),
}

#[derive(Debug, Args)]
pub struct Whose {
    /// `features/<field of the casino document's features>`; `seven flag list` shows them.
    name: String,
    /// Of this casino; without it the flag of every casino that has none of its own.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    who: Who,
}

#[derive(Debug, Args)]
pub struct Set {
    #[command(flatten)]
    whose: Whose,
    /// Off for every guest, whatever else is said.
    #[arg(long)]
    off: bool,
    /// On for this share of the guests, always the same ones; a larger share keeps who was in.
    #[arg(long, value_name = "0..100", value_parser = clap::value_parser!(u8).range(0..=100))]
    percentage: Option<u8>,
    /// On for this guest (phone, guest id, hmac:<key>:<hex>, - for stdin); may be given several times. Needs --casino.
    #[arg(long, value_name = "GUEST", requires = "casino")]
    allow: Vec<GuestRef>,
    /// On from then, such as 2026-12-01T15:00:00Z.
    #[arg(long, value_name = "TIME")]
    from: Option<DateTime<Utc>>,
    /// Off from then.
    #[arg(long, value_name = "TIME")]
    until: Option<DateTime<Utc>>,
}

pub async fn run(config: Option<&Path>, command: Flag) -> Result<()> {
    let fleet = fleet(config).await?;
    let (whose, rule) = match command {
        Flag::List { json } => return list(&fleet, json).await,
        Flag::Clear(whose) => (whose, None),
        Flag::Set(Set { whose, off, percentage, allow, from, until }) => {
            let mut tags = Vec::new();
            for guest in allow {
                if let Some(casino) = &whose.casino {
                    tags.push(guest.hash(&fleet, casino).await?.tag());
                }
            }
            let rule = Rule { enabled: !off, percentage, allow: tags, from, until };
            rule.check()?;
            (whose, Some(rule))
        }
    };
    let Whose { name, casino, careful, who } = whose;
    ensure!(
        rule.is_none() || PER_GUEST.contains(&name.as_str()),
        "no worker decides {name} per guest, so a flag of it would change nothing; flags there are: {}. Other features are read from the \
         casino's document",
        PER_GUEST.join(", ")
    );
    if let Some(casino) = &casino {
        super::known(&fleet.store, casino).await?;
    }
    if name == DISCLOSURE && rule.as_ref().is_some_and(|rule| !rule.enabled) {
        may_be_off(&fleet, casino.as_ref()).await?;
    }
    let whom = casino.as_ref().map_or("every casino", CasinoId::as_str);
    let stood = stands(&fleet, casino.as_ref(), &name).await?;
    ensure!(rule.is_some() || stood.is_some(), "{name} was not set there");
    out!("{name} of {whom}: {} -> {}", in_words(stood.as_ref()), in_words(rule.as_ref()));
    let question = casino.is_none().then(|| format!("change {name} for every casino that has no flag of its own"));
    if !careful.goes_on(question.as_deref())? {
        return Ok(());
    }
    let order = Order { by: &who.by, reason: &who.reason };
    let changed = fleet.store.put_flag(casino.as_ref(), &name, rule.as_ref(), order).await?;
    ensure!(changed, "{name} is not set there any more");
    out!("Done: in force with the next turn.");
    Ok(())
}

/// Refuses to switch the disclosure off where the document says that law asks for it: workers would disclose all the same.
async fn may_be_off(fleet: &Fleet, casino: Option<&CasinoId>) -> Result<()> {
    let Some(casino) = casino else {
        bail!(
            "{DISCLOSURE} cannot be off for every casino: where law asks for the disclosure it is made all the same; name one with --casino"
        );
    };
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    ensure!(
        row.is_none_or(|row| !row.config.regulations.ai_disclosure_required),
        "{casino} discloses whatever the flag says: regulations.ai_disclosure_required of its document is true"
    );
    Ok(())
}

/// The rule that is set there, if any.
async fn stands(fleet: &Fleet, casino: Option<&CasinoId>, name: &str) -> Result<Option<Rule>> {
    let flags = match casino {
        None => fleet.store.fleet_flags().await?,
        Some(casino) => {
            let mut tx = fleet.store.bind(casino).await?;
            let flags = tx.own_flags().await?;
            tx.commit().await?;
            flags
        }
    };
    let flag = flags.into_iter().find(|flag| flag.name == name);
    Ok(flag.and_then(|flag| serde_json::from_value(flag.rule).ok()))
}

async fn list(fleet: &Fleet, json: bool) -> Result<()> {
    let mut all = fleet.store.fleet_flags().await?;
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        all.extend(tx.own_flags().await?);
        tx.commit().await?;
    }
    if json {
        out!("{}", serde_json::json!({ "flags": all, "names": PER_GUEST }));
        return Ok(());
    }
    let mut table = super::table(["casino", "flag", "rule", "version", "by", "reason"]);
    for flag in all {
        let rule = serde_json::from_value::<Rule>(flag.rule).ok();
        let casino = if flag.casino_id.is_empty() { "(every)".to_owned() } else { flag.casino_id };
        table.add_row([
            casino,
            flag.name,
            in_words(rule.as_ref()),
            format!("v{}", flag.version),
            flag.actor,
            flag.reason,
        ]);
    }
    out!("{table}");
    out!("There are: {}", PER_GUEST.join(", "));
    Ok(())
}

/// A rule in words.
fn in_words(rule: Option<&Rule>) -> String {
    let Some(rule) = rule else { return "not set".to_owned() };
    if !rule.enabled {
        return "off".to_owned();
    }
    let whom = match (rule.percentage, rule.allow.len()) {
        (None, 0) => "every guest".to_owned(),
        (None, listed) => format!("{listed} listed guest(s)"),
        (Some(share), 0) => format!("{share} % of the guests"),
        (Some(share), listed) => format!("{share} % of the guests and {listed} listed"),
    };
    let time = |word: &str, at: Option<DateTime<Utc>>| {
        at.map_or_else(String::new, |at| format!(", {word} {}", at.format("%F %T UTC")))
    };
    format!("on for {whom}{}{}", time("from", rule.from), time("until", rule.until))
}
