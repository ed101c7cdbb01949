//! `seven quiet-hours check`: may a text of this class go to this number at this time, and why (D6, D15).

use std::path::{Path, PathBuf};

use anyhow::Result;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use clap::Subcommand;
use serde_json::json;
use seven_compliance::{
    jurisdiction::{self, Residence, State},
    quiet_hours::{self, CasinoWindow, Question},
};
use seven_domain::{Lane, MessageClass, PhoneE164};

use crate::{onboard, out};

#[derive(Debug, Subcommand)]
pub enum QuietHours {
    /// Explain the sending window of one number at one time.
    Check {
        /// The guest's number, E.164.
        #[arg(long)]
        to: PhoneE164,
        /// RFC 3339, such as 2026-03-08T21:30:00-05:00; now when left out.
        #[arg(long)]
        at: Option<DateTime<Utc>>,
        /// opt_out_confirmation, help, crisis, emergency, holding, reply, informational or marketing.
        #[arg(long, default_value = "marketing")]
        class: MessageClass,
        /// The zone in the guest's profile, such as America/Chicago.
        #[arg(long)]
        zone: Option<Tz>,
        /// The state in the guest's profile, such as TX.
        #[arg(long, requires = "zone")]
        state: Option<State>,
        /// Narrow by the quiet hours of the casino in this document; without it the law alone.
        #[arg(long, value_name = "FILE")]
        casino_file: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
}

pub fn run(QuietHours::Check { to, at, class, zone, state, casino_file, json }: &QuietHours) -> Result<()> {
    let at = at.unwrap_or_else(|| seven_domain::Clock::default().now());
    let profile = zone.map(|zone| Residence { zone, state: *state });
    let casino = window(casino_file.as_deref())?;
    let window = quiet_hours::check(&Question { to, at, profile, casino });
    let applies = class.lane() == Lane::Bulk;
    let allowed = !applies || window.open;
    let why = if applies {
        window.why.clone()
    } else {
        format!("A text of class {class} is not bound to quiet hours: it answers the guest.")
    };
    if *json {
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
        let state = place.state.map_or_else(|| "any state".to_owned(), |state| state.to_string());
        out!(
            "  {state} ({}): {} there, texts {}; {}",
            place.zone,
            place.local_time.format("%a %H:%M"),
            if hours.is_empty() { "never on this day".to_owned() } else { hours.join(" and ") },
            place.source
        );
    }
    if let Some(opens) = window.opens_at.filter(|_| !window.open && applies) {
        out!("  opens at {opens}");
    }
    Ok(())
}

fn window(file: Option<&Path>) -> Result<CasinoWindow> {
    let Some(file) = file else { return Ok(CasinoWindow::ANY_TIME) };
    let config = onboard::read_casino(&file.display().to_string(), &super::read(file)?)?;
    Ok(CasinoWindow::from_regulations(&config.regulations)?)
}
