//! Makes a campaign's text for one guest, and determines when the guest may get it. The forecast
//! and the release both use this code.

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

/// Time after its creation within which a text may be sent. It is long enough to wait for the end
/// of any night; after that, the text's content may be out of date.
const USEFUL_FOR: Duration = Duration::from_secs(24 * 3_600);

/// The requirements of the laws at the places where the guest may be.
#[derive(Debug)]
pub struct Whereabouts {
    pub window: Window,
    /// Whether the law requires the casino to consult its list of self-excluded guests.
    pub exclusion_list_needed: bool,
}

// === impl Whereabouts ===

impl Whereabouts {
    /// Returns the time until the window opens; `None` if it never opens.
    pub fn opens_in(&self, now: DateTime<Utc>) -> Option<Duration> {
        self.window.opens_at.map(|at| {
            (at - now)
                .to_std()
                .unwrap_or_default()
                .max(Duration::from_millis(200))
        })
    }
}

/// Returns the window in which the law and the casino's hours allow a text to this guest (D15).
pub fn place(
    config: &CasinoConfig,
    guest: &Addressee,
    now: DateTime<Utc>,
) -> Result<Whereabouts, Error> {
    let phone = guest.phone.parse()?;
    let zone = guest.zone.as_deref().and_then(|zone| zone.parse().ok());
    let state = guest
        .guest_state
        .as_deref()
        .and_then(|state| state.parse().ok());
    let profile = zone.map(|zone| Residence { zone, state });
    let casino = CasinoWindow::from_regulations(&config.regulations)?;
    let exclusion_list_needed = jurisdiction::of(&phone, profile.as_ref()).self_exclusion_check;
    let window = quiet_hours::check(&Question {
        to: &phone,
        at: now,
        profile,
        casino,
    });
    Ok(Whereabouts {
        window,
        exclusion_list_needed,
    })
}

/// Returns the text in the guest's language, or in English if that is unknown.
pub fn in_language<'a>(guest: &Addressee, en: &'a str, es: &'a str) -> &'a str {
    match guest.language {
        Some(Language::Es) => es,
        Some(Language::En) | None => en,
    }
}

/// Returns the row to queue. Its id depends only on the campaign and the guest. A guest therefore
/// cannot get the text twice.
pub fn text(campaign: CampaignId, guest: &Addressee, body: &str) -> NewOutbound {
    let (id, origin) = (
        OutboundId::of_campaign(campaign, guest.guest()),
        Origin::Campaign(campaign),
    );
    NewOutbound::new(
        id,
        guest.recipient(),
        origin,
        MessageClass::Marketing,
        body.to_owned(),
        USEFUL_FOR,
    )
    .trace(&trace::begin().to_string())
}
