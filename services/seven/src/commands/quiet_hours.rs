//! `seven quiet-hours check`: says whether a text of a given class may be sent to a number at a
//! given time, and why (D6, D15).

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use clap::{Args, Subcommand};
use serde_json::json;
use seven_compliance::{
    jurisdiction::{self, Residence, State},
    quiet_hours::{self, CasinoWindow, Question},
};
use seven_domain::{Lane, MessageClass};

use super::{
    args::Json,
    context::{Context, Operate},
    given,
    guest_ref::PhoneRef,
};
use crate::{onboard, out};

#[derive(Debug, Subcommand)]
pub enum QuietHours {
    /// Explain whether a text may be sent to a given number at a given time.
    Check(Check),
}

#[derive(Debug, Args)]
pub struct Check {
    /// The guest's phone (E.164), or - to read it from stdin.
    #[arg(long, value_name = "PHONE")]
    to: PhoneRef,
    /// The time, such as 2026-03-08T21:30:00-05:00. Without it: now.
    #[arg(long, value_name = "TIME", value_parser = given::moment)]
    at: Option<DateTime<Utc>>,
    /// Class of the text: opt_out_confirmation, help, crisis, emergency, holding, reply,
    /// informational or marketing.
    #[arg(long, default_value = "marketing")]
    class: MessageClass,
    /// Time zone in the guest's profile, such as America/Chicago.
    #[arg(long, value_parser = given::zone)]
    zone: Option<Tz>,
    /// State in the guest's profile, such as TX.
    #[arg(
        long = "in-state",
        alias = "state",
        value_name = "STATE",
        requires = "zone"
    )]
    state: Option<State>,
    /// The casino document whose quiet hours apply too. Without it: the law alone.
    #[arg(long, value_name = "FILE")]
    casino_file: Option<PathBuf>,
    #[command(flatten)]
    json: Json,
}

impl Operate for QuietHours {
    async fn run(self, _: &Context) -> Result<ExitCode> {
        let Self::Check(command) = self;
        check(command)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn check(
    Check {
        to,
        at,
        class,
        zone,
        state,
        casino_file,
        json,
    }: Check,
) -> Result<()> {
    let to = &to.read()?;
    let at = at.unwrap_or_else(|| seven_domain::Clock::default().now());
    let profile = zone.map(|zone| Residence { zone, state });
    let casino = window(casino_file.as_deref())?;
    let window = quiet_hours::check(&Question {
        to,
        at,
        profile,
        casino,
    });
    let applies = class.lane() == Lane::Bulk;
    let allowed = !applies || window.open;
    let why = if applies {
        window.why.clone()
    } else {
        format!("A text of class {class} is not bound to quiet hours: it answers the guest.")
    };
    if json.json {
        let rules = jurisdiction::of(to, profile.as_ref());
        let mut answer = serde_json::to_value(&window)?;
        answer["allowed"] = json!(allowed);
        answer["class"] = json!(class);
        answer["at"] = json!(at);
        answer["applies"] = json!(applies);
        answer["why"] = json!(why);
        answer["rules"] = json!(rules);
        out!("{answer}");
        return Ok(());
    }
    out!("{}: {why}", if allowed { "may go" } else { "must wait" });
    for place in &window.places {
        let hours: Vec<String> = place.hours.iter().map(ToString::to_string).collect();
        let state = place
            .state
            .map_or_else(|| "any state".to_owned(), |state| state.to_string());
        out!(
            "  {state} ({}): {} there, texts {}; {}",
            place.zone,
            place.local_time.format("%a %H:%M"),
            if hours.is_empty() {
                "never on this day".to_owned()
            } else {
                hours.join(" and ")
            },
            place.source
        );
    }
    if let Some(opens) = window.opens_at.filter(|_| !window.open && applies) {
        out!("  opens at {opens}");
    }
    Ok(())
}

fn window(file: Option<&Path>) -> Result<CasinoWindow> {
    let Some(file) = file else {
        return Ok(CasinoWindow::ANY_TIME);
    };
    let config = onboard::read_casino(&file.display().to_string(), &super::read(file)?)?;
    Ok(CasinoWindow::from_regulations(&config.regulations)?)
}
