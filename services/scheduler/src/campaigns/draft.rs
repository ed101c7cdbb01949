//! A campaign's text for one guest, and when this guest may get it. The dry run uses it too.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_compliance::{
    jurisdiction::{self, Residence},
    quiet_hours::{self, CasinoWindow, Question, Window},
};
use seven_domain::{CampaignId, CasinoConfig, Language, MessageClass, OutboundId};
use seven_runtime::Error;
use seven_store::{
    campaigns::release::Addressee,
    outbound::{NewOutbound, Origin},
};
use seven_telemetry::trace;

/// The kind of a campaign's text.
const CAMPAIGN: &str = "campaign";
/// How long the text is useful: longer than any night, but later its content may be out of date.
const USEFUL: Duration = Duration::from_secs(24 * 3_600);

/// The guest's possible location, and the rules that apply there.
#[derive(Debug)]
pub struct Whereabouts {
    pub window: Window,
    /// The law there requires the casino's self-exclusion list to be consulted (C-23).
    pub exclusion_list_needed: bool,
}

// === impl Whereabouts ===

impl Whereabouts {
    /// Returns how long until the window opens; none if it never does.
    pub fn opens_in(&self, now: DateTime<Utc>) -> Option<Duration> {
        self.window.opens_at.map(|at| (at - now).to_std().unwrap_or_default().max(Duration::from_millis(200)))
    }
}

/// Returns the guest's sending window at `now`, by the casino's time and the guest's (D15).
pub fn place(config: &CasinoConfig, guest: &Addressee, now: DateTime<Utc>) -> Result<Whereabouts, Error> {
    let phone = guest.phone.parse()?;
    let zone = guest.zone.as_deref().and_then(|zone| zone.parse().ok());
    let state = guest.guest_state.as_deref().and_then(|state| state.parse().ok());
    let profile = zone.map(|zone| Residence { zone, state });
    let casino = CasinoWindow::from_regulations(&config.regulations)?;
    let exclusion_list_needed = jurisdiction::of(&phone, profile.as_ref()).self_exclusion_check;
    let window = quiet_hours::check(&Question { to: &phone, at: now, profile, casino });
    Ok(Whereabouts { window, exclusion_list_needed })
}

/// Returns the text in the guest's language; English where that is unknown.
pub fn in_language<'a>(guest: &Addressee, en: &'a str, es: &'a str) -> &'a str {
    match guest.language.as_deref().and_then(|language| language.parse().ok()) {
        Some(Language::Es) => es,
        Some(Language::En) | None => en,
    }
}

/// Returns the row to queue. Its id depends only on the campaign and the guest.
pub fn text(campaign: CampaignId, guest: &Addressee, body: &str) -> NewOutbound {
    let measure = seven_sms::measure(body);
    NewOutbound {
        outbound_id: OutboundId::of_campaign(campaign, guest.guest()),
        conversation_id: guest.conversation(),
        guest_id: guest.guest(),
        origin: Origin::Campaign(campaign),
        part: 1,
        parts: 1,
        kind: CAMPAIGN.to_owned(),
        class: MessageClass::Marketing,
        body: body.to_owned(),
        encoding: measure.encoding.as_str().to_owned(),
        units: i32::try_from(measure.units).unwrap_or(i32::MAX),
        segments: i32::try_from(measure.segments).unwrap_or(i32::MAX),
        agent: CAMPAIGN.to_owned(),
        answers_at: None,
        delay: Duration::ZERO,
        useful_for: USEFUL,
        trace: trace::begin().to_string(),
    }
}
