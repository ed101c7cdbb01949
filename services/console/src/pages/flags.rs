//! The flags of a casino: features that are on for some of its guests. The page of the switches
//! shows them and lets people set them.

use axum::{
    extract::{Path, State},
    response::Response,
};
use serde::Deserialize;
use seven_domain::{
    CasinoId,
    flags::{PER_GUEST, Rule},
};
use seven_staff::{
    Right,
    flags::{NotAllowed, check},
};
use seven_store::{controls::Order, flags::Flag};

use super::{
    conversations::clock,
    switches::{MOST_REASON, page},
};
use crate::{access::Posted, app::Shared, fault::Fault, guard::go_to, words::Words};

/// One flag on the page.
pub(super) struct Row {
    /// The part of the flag's name after the last slash.
    pub(super) key: &'static str,
    pub(super) title: String,
    pub(super) hint: String,
    /// The casino's own rule in words. `set` says who set the rule, when and why. Both are empty if
    /// the casino has no rule.
    pub(super) own: String,
    pub(super) set: String,
    /// The rule for all casinos without a rule of their own; empty if there is none.
    pub(super) everywhere: String,
}

#[derive(Deserialize)]
pub(crate) struct Given {
    #[serde(default)]
    flag: String,
    /// The guests for whom the flag is on: `all`, `none` or `share`; `document` removes the
    /// casino's rule.
    #[serde(default)]
    whom: String,
    /// Percentage of the guests, for `share`.
    #[serde(default)]
    share: String,
    #[serde(default)]
    reason: String,
}

/// Returns the part of a flag's name by which the pages refer to the flag.
fn key(name: &'static str) -> &'static str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns the rows of all flags. `signed` writes who set a flag, when and why.
pub(super) fn rows(
    w: Words,
    own: &[Flag],
    everywhere: &[Flag],
    zone: chrono_tz::Tz,
    signed: impl Fn(&Flag) -> String,
) -> Vec<Row> {
    let rule = |flags: &[Flag], name: &str| {
        let flag = flags.iter().find(|flag| flag.name == name)?;
        serde_json::from_value(flag.rule.clone()).ok()
    };
    let words = |rule: Option<Rule>| rule.map_or_else(String::new, |rule| in_words(w, &rule, zone));
    let row = |name: &'static str| Row {
        key: key(name),
        title: w.of_kind("flag", key(name)),
        hint: w.of_kind("flag_hint", key(name)),
        own: words(rule(own, name)),
        set: own
            .iter()
            .find(|flag| flag.name == name)
            .map(&signed)
            .unwrap_or_default(),
        everywhere: words(rule(everywhere, name)),
    };
    PER_GUEST.into_iter().map(row).collect()
}

/// Writes in words for which guests, and in which period, a rule turns the flag on.
fn in_words(w: Words, rule: &Rule, zone: chrono_tz::Tz) -> String {
    if !rule.enabled {
        return w.t("flag_none").to_owned();
    }
    let mut parts = Vec::new();
    match rule.percentage {
        Some(share) => parts.push(format!("{share} {}", w.t("flag_of_guests"))),
        None if rule.allow.is_empty() => parts.push(w.t("flag_all").to_owned()),
        None => {}
    }
    if !rule.allow.is_empty() {
        parts.push(format!("{} {}", rule.allow.len(), w.t("flag_listed")));
    }
    let time = |key, at| format!("{} {}", w.t(key), clock(at, Some(zone)));
    parts.extend(rule.from.map(|at| time("flag_from", at)));
    parts.extend(rule.until.map(|at| time("flag_until", at)));
    parts.join(", ")
}

/// Sets the casino's rule for a flag, or removes it. The change takes effect with the next turn.
pub(crate) async fn set(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Given>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Switches)?;
    let name = PER_GUEST.into_iter().find(|name| key(name) == form.flag);
    let name = name.ok_or(Fault::NotFound)?;
    let reason: String = form.reason.trim().chars().take(MOST_REASON).collect();
    let mut problems = Vec::new();
    if reason.is_empty() {
        problems.push("reason_missing");
    }
    let percentage = form.share.trim().parse().ok().filter(|share| *share <= 100);
    let rule = match form.whom.as_str() {
        "document" => None,
        "all" | "none" => Some(Rule {
            enabled: form.whom == "all",
            ..Rule::default()
        }),
        "share" => {
            if percentage.is_none() {
                problems.push("flag_share_wrong");
            }
            Some(Rule {
                enabled: true,
                percentage,
                ..Rule::default()
            })
        }
        _ => return Err(Fault::NotFound),
    };
    if let Some(rule) = &rule {
        match check(&app.fleet, Some(&casino), name, rule).await {
            Ok(()) => {}
            Err(NotAllowed::Store(error)) => return Err(error.into()),
            Err(NotAllowed::NoVariant(_)) => problems.push("flag_no_variant"),
            Err(_) => problems.push("flag_disclosure_required"),
        }
    }
    if !problems.is_empty() {
        return page(&app, &casino, &person, problems).await;
    }
    let order = Order {
        by: &person.actor(),
        reason: &reason,
    };
    let changed = app
        .fleet
        .store
        .put_flag(Some(&casino), name, rule.as_ref(), order)
        .await?;
    if !changed {
        return page(&app, &casino, &person, vec!["flag_not_set"]).await;
    }
    Ok(go_to(&format!("/c/{casino}/switches")))
}
