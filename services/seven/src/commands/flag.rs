//! `seven flag`: features for some guests of a casino. A casino's flag overrides the fleet's, and
//! both override the casino's document; every turn reads them.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use seven_domain::{
    CasinoId,
    flags::{PER_GUEST, Rule},
};
use seven_runtime::Fleet;
use seven_staff::flags::check;
use seven_store::controls::Order;

use super::{
    args::{Careful, Json, Who},
    context::{Context, Operate},
    guest_ref::GuestRef,
    utc,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Flag {
    /// List the flags that are set, and the names of all flags.
    List(Json),
    /// Set a flag, which replaces its earlier rule: on or off for all guests, or on for a share, a
    /// list or a period.
    Set(Set),
    /// Remove a flag; the fleet's flag or the casino's document decides again.
    Clear(Whose),
}

#[derive(Debug, Args)]
pub struct Whose {
    /// Name of the flag, such as features/comp_agent_enabled; `seven flag list` shows all names.
    name: String,
    /// The casino's id, as `seven casino list` shows it. Without it: the flag of all casinos that
    /// have none of their own.
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
    /// Turn the flag off for every guest; overrides the other options.
    #[arg(long)]
    off: bool,
    /// Turn the flag on for this share of the guests. A larger share includes the guests of a
    /// smaller one.
    #[arg(long, value_name = "0..100", value_parser = clap::value_parser!(u8).range(0..=100))]
    percentage: Option<u8>,
    /// Turn the flag on for this guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone
    /// from stdin. May be given several times; needs --casino.
    #[arg(long, value_name = "GUEST", requires = "casino")]
    allow: Vec<GuestRef>,
    /// Time from which the flag is on, such as 2026-12-01T15:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = super::given::moment)]
    from: Option<DateTime<Utc>>,
    /// Time from which the flag is off again.
    #[arg(long, alias = "until", value_name = "TIME", value_parser = super::given::moment)]
    to: Option<DateTime<Utc>>,
}

impl Operate for Flag {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::List(json) => list(ctx, fleet, json.json).await?,
            Self::Clear(whose) => change(fleet, whose, None).await?,
            Self::Set(set) => {
                let rule = set.rule(fleet).await?;
                change(fleet, set.whose, Some(rule)).await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Set {
    async fn rule(&self, fleet: &Fleet) -> Result<Rule> {
        let mut tags = Vec::new();
        for guest in &self.allow {
            if let Some(casino) = &self.whose.casino {
                tags.push(guest.hash(fleet, casino).await?.tag());
            }
        }
        let rule = Rule {
            enabled: !self.off,
            percentage: self.percentage,
            allow: tags,
            from: self.from,
            until: self.to,
        };
        rule.check()?;
        Ok(rule)
    }
}

async fn change(fleet: &Fleet, whose: Whose, rule: Option<Rule>) -> Result<()> {
    let Whose {
        name,
        casino,
        careful,
        who,
    } = whose;
    if let Some(casino) = &casino {
        super::known(&fleet.store, casino).await?;
    }
    if let Some(rule) = &rule {
        check(fleet, casino.as_ref(), &name, rule).await?;
    }
    let whom = casino.as_ref().map_or("every casino", CasinoId::as_str);
    let stood = stands(fleet, casino.as_ref(), &name).await?;
    ensure!(
        rule.is_some() || stood.is_some(),
        "{name} was not set there"
    );
    out!(
        "{name} of {whom}: {} -> {}",
        in_words(stood.as_ref()),
        in_words(rule.as_ref())
    );
    let question = casino
        .is_none()
        .then(|| format!("change {name} for every casino that has no flag of its own"));
    if !careful.goes_on(question.as_deref())? {
        return Ok(());
    }
    let order = Order {
        by: &who.by,
        reason: &who.reason,
    };
    let changed = fleet
        .store
        .put_flag(casino.as_ref(), &name, rule.as_ref(), order)
        .await?;
    ensure!(changed, "{name} is not set there any more");
    out!("Done: in force with the next turn.");
    Ok(())
}

/// Returns the casino's own rule for this flag, or the fleet's rule if `casino` is `None`. Returns
/// `None` if no rule is set.
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

async fn list(ctx: &Context, fleet: &Fleet, json: bool) -> Result<()> {
    let mut all = fleet.store.fleet_flags().await?;
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        all.extend(tx.own_flags().await?);
        tx.commit().await?;
    }
    if json {
        out!(
            "{}",
            serde_json::json!({ "flags": all, "names": PER_GUEST })
        );
        return Ok(());
    }
    let mut table = ctx
        .table(["casino", "flag", "rule", "by", "version", "reason"])
        .wide(["version", "reason"]);
    for flag in all {
        let rule = serde_json::from_value::<Rule>(flag.rule).ok();
        let casino = if flag.casino_id.is_empty() {
            "(every)".to_owned()
        } else {
            flag.casino_id
        };
        table.add_row([
            casino,
            flag.name,
            in_words(rule.as_ref()),
            flag.actor,
            format!("v{}", flag.version),
            flag.reason,
        ]);
    }
    out!("{table}");
    out!("Flags that can be set: {}", PER_GUEST.join(", "));
    Ok(())
}

/// Returns a rule in words.
fn in_words(rule: Option<&Rule>) -> String {
    let Some(rule) = rule else {
        return "not set".to_owned();
    };
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
        at.map_or_else(String::new, |at| format!(", {word} {}", utc(at)))
    };
    format!(
        "on for {whom}{}{}",
        time("from", rule.from),
        time("until", rule.until)
    )
}
