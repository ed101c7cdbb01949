//! Judges a go-live check: takes facts and returns one line per check. Pure.

use std::collections::BTreeMap;

use serde::Serialize;
use seven_domain::{
    CaseSeverity, CasinoConfig, CasinoStatus,
    config::{Helpline, NumberKind, Registered, Registration},
};
use seven_store::{contacts::Contact, readiness::Shown};

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub what: &'static str,
    pub ok: bool,
    /// The state that was found, with figures.
    pub found: String,
    /// The operator's next step; `None` if nothing is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<String>,
}

/// How ingress answered a webhook call with a false signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Refused with 401 or 403.
    Refused(u16),
    /// Any other status; a 2xx is the worst, because it accepts a forged call.
    Answered(u16),
    /// No HTTP answer came; holds the reason.
    Silent(String),
}

/// All facts that the checks judge.
#[derive(Debug, Clone)]
pub struct Facts {
    pub config: CasinoConfig,
    pub shown: Shown,
    /// Active rows per category.
    pub content: BTreeMap<String, i64>,
    /// Minimum number of rows per category, from the pack.
    pub least: BTreeMap<String, u32>,
    /// Number of content rows whose vector is missing or outdated; `None` if vectors are not
    /// stored.
    pub without_vector: Option<usize>,
    /// The pack's helpline, used if the casino's document has none.
    pub pack_helpline: Option<Helpline>,
    /// States whose sending law nobody has verified.
    pub unverified_states: Vec<String>,
    pub public_keys: usize,
    pub probe: Probe,
    pub webhook_url: String,
    /// The number of passed checks of `seven casino verify`, or the checks that failed.
    pub apart: Result<usize, Vec<String>>,
    /// The pack's texts that cost more segments than allowed once this casino's names are filled
    /// in.
    pub too_long: Vec<String>,
    /// The number of onboarding texts if the gate judged all of them correctly; otherwise the texts
    /// that it judged wrongly.
    pub gate: Result<usize, Vec<String>>,
    /// The casino's pages if all have the required statements; otherwise the faults of the
    /// incomplete pages.
    pub pages: Result<Vec<String>, Vec<String>>,
    /// Switches that are on for the casino or the fleet.
    pub switches: Vec<String>,
    /// The casino's own people who are told about cases.
    pub contacts: Vec<Contact>,
}

type Check = fn(&Facts) -> Line;

const CHECKS: [Check; 16] = [
    status,
    content,
    vectors,
    number,
    registration,
    laws,
    helplines,
    contacts,
    keys,
    signature,
    isolation,
    gate,
    texts,
    pages,
    consent,
    rehearsal,
];

pub fn judge(facts: &Facts) -> Vec<Line> {
    CHECKS.iter().map(|check| check(facts)).collect()
}

fn line(what: &'static str, found: impl Into<String>, missing: Option<String>) -> Line {
    Line {
        what,
        ok: missing.is_none(),
        found: found.into(),
        todo: missing,
    }
}

fn status(facts: &Facts) -> Line {
    let id = &facts.config.casino_id;
    if facts.shown.status != CasinoStatus::Active {
        return line(
            "status",
            facts.shown.status.as_str(),
            Some(format!("seven casino resume {id} --by NAME --reason TEXT")),
        );
    }
    match facts.switches.as_slice() {
        [] => line("status", "active, no switch is on", None),
        on => line(
            "status",
            format!("switched: {}", on.join(", ")),
            Some("seven status says who set it; seven resume lifts it".into()),
        ),
    }
}

fn content(facts: &Facts) -> Line {
    let have = |category: &str| facts.content.get(category).copied().unwrap_or_default();
    let short: Vec<String> = facts
        .least
        .iter()
        .filter(|(category, least)| have(category) < i64::from(**least))
        .map(|(category, least)| {
            format!("{} more of {category}", i64::from(*least) - have(category))
        })
        .collect();
    let rows: i64 = facts.content.values().sum();
    let counts: Vec<String> = facts
        .content
        .iter()
        .map(|(category, rows)| format!("{category} {rows}"))
        .collect();
    let found = format!("{rows} active rows ({})", counts.join(", "));
    let todo = match (rows, short.as_slice()) {
        (0, _) => Some(format!(
            "seven content load --casino {} FILE",
            facts.config.casino_id
        )),
        (_, []) => None,
        (_, short) => Some(format!("load {}", short.join(", "))),
    };
    line("content", found, todo)
}

fn vectors(facts: &Facts) -> Line {
    match facts.without_vector {
        None => line("vectors", "made in memory; none are stored", None),
        Some(0) => line("vectors", "every row has its vector", None),
        Some(n) => {
            let todo = format!(
                "seven knowledge reindex --casino {}",
                facts.config.casino_id
            );
            line(
                "vectors",
                format!("{n} row(s) without a vector of the model in use"),
                Some(todo),
            )
        }
    }
}

fn number(facts: &Facts) -> Line {
    let ours = &facts.config.operational;
    let numbers: Vec<&str> = ours
        .numbers()
        .map(seven_domain::PhoneE164::as_str)
        .collect();
    let fixture = numbers.iter().any(|number| number.get(5..8) == Some("555"));
    let todo = if ours.number_kind == NumberKind::Demo {
        Some("a demonstration number; order one and set operational.number_kind".to_owned())
    } else if fixture {
        Some("555 is no number of a casino; set operational.telnyx_phone_number".to_owned())
    } else {
        None
    };
    line(
        "number",
        format!("{} ({:?})", numbers.join(", "), ours.number_kind),
        todo,
    )
}

fn registration(facts: &Facts) -> Line {
    let ours = &facts.config.operational;
    let what = match ours.number_kind {
        NumberKind::TollFree => "toll-free verification",
        NumberKind::ShortCode => "short code lease",
        NumberKind::LongCode | NumberKind::Demo => "10DLC campaign",
    };
    let mut open = Vec::new();
    if ours.registration != Registration::Approved {
        open.push(format!(
            "the {what} must be approved; then set operational.registration"
        ));
    }
    if ours.number_kind == NumberKind::LongCode
        && (ours.campaign_class.is_none() || ours.brand_tier.is_none())
    {
        open.push(
            "set operational.campaign_class and brand_tier: they are its pace at AT&T and T-Mobile"
                .to_owned(),
        );
    }
    if ours.number_kind == NumberKind::LongCode {
        match ours.registered.as_ref().map(Registered::missing) {
            None => {
                open.push(
                    "set operational.registered: what the registry was told of brand and campaign"
                        .to_owned(),
                );
            }
            Some(missing) if missing.is_empty() => {}
            Some(missing) => open.push(format!(
                "operational.registered lacks {}",
                missing.join(", ")
            )),
        }
    }
    if ours.twilio_phone_number.is_some() && ours.twilio_registration != Registration::Approved {
        open.push("the Twilio number needs an approved registration of its own".to_owned());
    }
    let found = format!(
        "{what}: {}",
        format!("{:?}", ours.registration).to_lowercase()
    );
    line(
        "registration",
        found,
        (!open.is_empty()).then(|| open.join("; ")),
    )
}

fn laws(facts: &Facts) -> Line {
    let state = &facts.config.regulations.state;
    match facts.unverified_states.as_slice() {
        [] => line("sending laws", "every state's law was verified", None),
        open => {
            let own = if open.contains(state) {
                format!(", {state} among them")
            } else {
                String::new()
            };
            let todo = "counsel reads shared/compliance/data and sets verified_at; guests come from every state";
            line(
                "sending laws",
                format!("{} state(s) unverified{own}", open.len()),
                Some(todo.into()),
            )
        }
    }
}

fn helplines(facts: &Facts) -> Line {
    let rules = &facts.config.regulations;
    let national = rules
        .responsible_gaming_helpline
        .as_ref()
        .or(facts.pack_helpline.as_ref());
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (what, helpline) in [
        ("national", national),
        ("state", rules.state_helpline.as_ref()),
    ] {
        let Some(helpline) = helpline else { continue };
        match helpline.verified_at {
            Some(day) => found.push(format!("{what} {} called on {day}", helpline.number)),
            None => {
                found.push(format!("{what} {} unverified", helpline.number));
                open.push(format!("call {} and set its verified_at", helpline.number));
            }
        }
    }
    // A trade whose pack has no helpline needs no state helpline either.
    if facts.pack_helpline.is_some() && rules.state_helpline.is_none() {
        open.push(format!(
            "set regulations.state_helpline for {}",
            rules.state
        ));
    }
    let found = if found.is_empty() {
        "this trade names none".to_owned()
    } else {
        found.join(", ")
    };
    line(
        "helplines",
        found,
        (!open.is_empty()).then(|| open.join("; ")),
    )
}

fn contacts(facts: &Facts) -> Line {
    let (people, mut open) = (&facts.contacts, Vec::new());
    let is_first = |one: &Contact| one.level == 1 && one.severity == CaseSeverity::Sev2;
    if !people.iter().any(is_first) {
        open.push(
            "add a contact of level 1 and sev2, who takes over a guest: seven contact add"
                .to_owned(),
        );
    }
    if !people.iter().any(|one| one.security) {
        open.push(
            "add a contact with --security, for a danger to life: seven contact add".to_owned(),
        );
    }
    for one in people.iter().filter(|one| one.reached_at.is_none()) {
        open.push(format!(
            "try {}: seven contact test {}",
            one.name, one.contact_id
        ));
    }
    let phone = &facts.config.operational.contact_phone;
    let found = format!("{} of staff; guests are given {phone}", people.len());
    line(
        "contacts",
        found,
        (!open.is_empty()).then(|| open.join("; ")),
    )
}

fn keys(facts: &Facts) -> Line {
    let todo = (facts.public_keys == 0)
        .then(|| "set telnyx.public_keys: Mission Control, Keys & Credentials".to_owned());
    line(
        "public key",
        format!("{} of the provider", facts.public_keys),
        todo,
    )
}

fn signature(facts: &Facts) -> Line {
    let url = &facts.webhook_url;
    let (found, todo) = match &facts.probe {
        Probe::Refused(status) => (
            format!("a call signed by somebody else got {status} at {url}"),
            None,
        ),
        Probe::Answered(status) => (
            format!("a call signed by somebody else got {status} at {url}"),
            Some(
                "it must get 401 or 403: what answers there is not our ingress, or not alone"
                    .to_owned(),
            ),
        ),
        Probe::Silent(why) => (
            format!("{url}: {why}"),
            Some("telnyx.webhook_url must reach ingress from outside".to_owned()),
        ),
    };
    line("signature", found, todo)
}

/// Checks that the gate gave each onboarding text its required verdict and answer.
fn gate(facts: &Facts) -> Line {
    match &facts.gate {
        Ok(texts) => line(
            "gate",
            format!("{texts} onboarding texts are answered as they must be"),
            None,
        ),
        Err(wrong) => line(
            "gate",
            wrong.join("; "),
            Some("correct the pack's guardrails; seven gate check tries a text".into()),
        ),
    }
}

fn isolation(facts: &Facts) -> Line {
    match &facts.apart {
        Ok(checks) => line("isolation", format!("{checks} checks passed"), None),
        Err(failed) => {
            let todo = format!("seven casino verify {}", facts.config.casino_id);
            line(
                "isolation",
                format!("{} failed: {}", failed.len(), failed.join(", ")),
                Some(todo),
            )
        }
    }
}

fn texts(facts: &Facts) -> Line {
    match facts.too_long.as_slice() {
        [] => line(
            "texts",
            "every text keeps its segments with this casino's names",
            None,
        ),
        long => {
            let todo = format!(
                "shorten prompts.casino_name_display or the pack's texts: {}",
                long.join(", ")
            );
            line(
                "texts",
                format!("{} text(s) cost more segments than they may", long.len()),
                Some(todo),
            )
        }
    }
}

/// Checks the casino's public pages, which carriers read before they approve a campaign.
fn pages(facts: &Facts) -> Line {
    match &facts.pages {
        Ok(found) => line("pages", found.join(", "), None),
        Err(wrong) => line(
            "pages",
            format!("{} of 2 missing or incomplete", wrong.len()),
            Some(wrong.join("; ")),
        ),
    }
}

fn consent(facts: &Facts) -> Line {
    let Shown {
        opted_in,
        without_proof,
        ..
    } = facts.shown;
    let found = format!(
        "{opted_in} guest(s) may get campaigns, {without_proof} of them without a consent event"
    );
    let todo = (without_proof > 0)
        .then(|| "seven consent record for each, or set their tier back".to_owned());
    line("consent", found, todo)
}

/// Checks that a text, a STOP confirmation and a HELP answer were delivered. If the casino has
/// campaigns, also checks that a small one was sent.
fn rehearsal(facts: &Facts) -> Line {
    let shown = &facts.shown;
    let mut open = Vec::new();
    for (seen, todo) in [
        (
            shown.delivered,
            "text the number and wait for a delivery receipt",
        ),
        (
            shown.stop_confirmed,
            "text STOP and wait until its confirmation is delivered",
        ),
        (
            shown.help_delivered,
            "text HELP and wait until the answer is delivered",
        ),
    ] {
        if seen == 0 {
            open.push(todo.to_owned());
        }
    }
    if facts.config.features.outbound_campaigns_enabled && shown.small_campaigns == 0 {
        open.push("send a first campaign to at most 10 numbers of the house".to_owned());
    }
    let found = format!(
        "{} text(s) delivered, {} STOP confirmation(s), {} HELP answer(s)",
        shown.delivered, shown.stop_confirmed, shown.help_delivered
    );
    line(
        "rehearsal",
        found,
        (!open.is_empty()).then(|| open.join("; ")),
    )
}

#[cfg(test)]
mod tests;
