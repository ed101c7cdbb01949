//! Releases campaigns: queues the guests' texts one after another, at the casino's rate and in each
//! guest's sending hours (D6, D13). The pre-send check later decides about each text.

use std::time::Duration;

use seven_campaigns::{
    draft,
    pace::{self, Budget},
};
use seven_domain::{AuditEvent, CasinoConfig, CasinoId};
use seven_runtime::{Error, Fleet};
use seven_store::{
    audit::Entry,
    campaigns::release::{Addressee, Next},
    controls::Switch,
    outbound::Queued,
};
use seven_telemetry::{metrics, trace as spans};

/// Maximum number of guests whom one round considers at one casino. Guests who must wait or get no
/// text do not count against the casino's rate.
const BATCH: i64 = 500;
/// How long the text to a guest with an active conversation is put off.
const ACTIVE_CONVERSATION_DELAY: Duration = Duration::from_secs(30);

/// While one of these switches is on, no campaign is released.
const SILENT: [Switch; 4] = [
    Switch::Proactive,
    Switch::Outbound,
    Switch::SafeMode,
    Switch::Kill,
];

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    crate::rounds::each(fleet.store.campaigning().await?, |casino| {
        casino_round(fleet.clone(), casino)
    })
    .await
}

/// Releases one casino's texts, if its settings enable campaigns. Only one scheduler does this for
/// a casino at a time, because two would double the rate.
async fn casino_round(fleet: Fleet, casino: CasinoId) -> Result<(), Error> {
    let mut lead = fleet.store.bind(&casino).await?;
    if !lead.lead_campaigns().await? {
        return Ok(());
    }
    let Some(row) = lead
        .casino_row()
        .await?
        .filter(|row| row.config.features.outbound_campaigns_enabled)
    else {
        return Ok(());
    };
    if lead.switched().await?.iter().any(|on| SILENT.contains(on)) {
        return Ok(());
    }
    let rate = pace::rate(&row.config.operational);
    let (released, waiting) = lead.campaign_load(pace::window(rate)).await?;
    let mut budget = Budget::new(rate, released, waiting);
    let mut listed = lead.next_listed(BATCH).await?.into_iter();
    while !budget.is_spent() && !fleet.shutdown.is_cancelled() {
        let Some(next) = listed.next() else { break };
        budget.spend(release(&fleet, &row.config, next).await?);
    }
    for campaign in lead.finish_campaigns().await? {
        let subject = campaign.to_string();
        let detail = serde_json::json!({ "state": "done" });
        lead.audit(&Entry::of(
            AuditEvent::CampaignChanged,
            "scheduler",
            &subject,
            detail,
        ))
        .await?;
        tracing::info!(%casino, campaign_id = %campaign, "campaign has reached all its guests");
    }
    Ok(lead.commit().await?)
}

/// Queues the guest's text, puts it off, or refuses it. Returns how many segments were queued.
async fn release(fleet: &Fleet, config: &CasinoConfig, next: Next) -> Result<u32, Error> {
    let casino = &config.casino_id;
    let mut tx = fleet.store.bind(casino).await?;
    let guest = tx.addressee(next.guest_id).await?;
    let Some((text_en, text_es)) = tx.take_listed(next).await? else {
        return Ok(0);
    };
    let queued = match judged(fleet, config, guest.as_ref())? {
        Verdict::Refuse(why) => {
            tx.refuse_listed(next, &why).await?;
            None
        }
        Verdict::PutOff(wait, why) => {
            tx.put_off(next, wait, why).await?;
            None
        }
        Verdict::Release(guest) => {
            let body = draft::in_language(guest, &text_en, &text_es);
            let text = draft::text(next.campaign_id, guest, body);
            // If the text was queued before under this id, `queue` returns `None`. Then only the
            // guest's entry in the campaign is updated.
            let queued = tx.queue(&text).await?;
            tx.mark_released(next, text.outbound_id).await?;
            let segments = seven_sms::measure(&text.body).segments;
            queued.map(|queued| (queued, segments, text.trace))
        }
    };
    tx.commit().await?;
    let Some((queued, segments, trace)) = queued else {
        return Ok(0);
    };
    signal(fleet, casino, queued, &trace).await;
    metrics().swept.with_label_values(&["campaign"]).inc();
    Ok(u32::try_from(segments).unwrap_or(1))
}

enum Verdict<'a> {
    Release(&'a Addressee),
    PutOff(Duration, &'static str),
    Refuse(String),
}

/// Decides whether to release, put off or refuse the text. The pre-send check decides again before
/// a released text is sent.
fn judged<'a>(
    fleet: &Fleet,
    config: &CasinoConfig,
    guest: Option<&'a Addressee>,
) -> Result<Verdict<'a>, Error> {
    let Some(guest) = guest else {
        return Ok(Verdict::Refuse("no_conversation".to_owned()));
    };
    if let Some(why) = guest.refusal {
        return Ok(Verdict::Refuse(why.to_string()));
    }
    let now = fleet.clock.property_now();
    let place = draft::place(config, guest, now)?;
    if !place.window.open {
        return Ok(match place.opens_in(now) {
            Some(wait) => Verdict::PutOff(wait, "quiet_hours"),
            None => Verdict::Refuse("quiet_hours".to_owned()),
        });
    }
    if guest.busy {
        let wait = fleet
            .timing
            .scale
            .at_least(ACTIVE_CONVERSATION_DELAY, Duration::from_millis(500));
        return Ok(Verdict::PutOff(wait, "conversation_under_way"));
    }
    Ok(Verdict::Release(guest))
}

/// Signals the queued text; the sweep repeats a lost signal.
async fn signal(fleet: &Fleet, casino: &CasinoId, queued: Queued, trace: &str) {
    let texts = [queued];
    let signalled = fleet.signal_queued(casino, &texts, None, trace);
    // No webhook caused this text, so the release is the first span of the text's trace.
    if let Err(error) = spans::originate("campaign", casino, trace, signalled).await {
        tracing::warn!(
            %casino,
            error = &error as &dyn std::error::Error,
            "a released text is queued but could not be announced"
        );
    }
}
