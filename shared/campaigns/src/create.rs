//! Stores a planned campaign with its guests.

use seven_domain::{AuditEvent, CampaignId, CasinoId};
use seven_runtime::{Error, Fleet};
use seven_store::{audit::Entry, campaigns::NewCampaign, controls::Order};

use crate::{Plan, Texts};

/// A planned campaign, ready to be stored.
#[derive(Debug)]
pub struct New<'a> {
    pub campaign_id: CampaignId,
    pub name: &'a str,
    pub texts: &'a Texts,
    pub plan: &'a Plan,
    /// If true, every guest with marketing consent gets a row. The plan may not have checked all of
    /// them.
    pub all_consenting: bool,
    /// If true, nothing is sent until a second person approves.
    pub awaits_approval: bool,
    pub order: Order<'a>,
}

/// Stores the campaign and its guests. If its name is taken, stores nothing and returns false.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn create(fleet: &Fleet, casino: &CasinoId, new: &New<'_>) -> Result<bool, Error> {
    let (name, order, counts) = (new.name, new.order, new.plan.document());
    let row = NewCampaign {
        campaign_id: new.campaign_id,
        name,
        text_en: &new.texts.en.body,
        text_es: &new.texts.es.body,
        by: order.by,
        plan: &counts,
        awaits_approval: new.awaits_approval,
    };
    let mut tx = fleet.store.bind(casino).await?;
    if !tx.create_campaign(&row, &new.plan.listed()).await? {
        return Ok(false);
    }
    if new.all_consenting {
        tx.list_all_consenting(new.campaign_id).await?;
    }
    let state = if new.awaits_approval {
        "awaits_approval"
    } else {
        "running"
    };
    let detail = serde_json::json!({
        "state": state, "name": name, "reason": order.reason, "guests": counts,
    });
    let subject = new.campaign_id.to_string();
    let entry = Entry::of(AuditEvent::CampaignChanged, order.by, &subject, detail);
    tx.audit(&entry).await?;
    tx.commit().await?;
    Ok(true)
}
