//! Asks the offline host a question with a draft in place of the published item. An editor then
//! reads the answer before any guest does. Nothing is stored, and nobody is texted.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use seven_guest::{DialogueState, profile::Context};
use seven_knowledge::{Index, Item, Offline};
use seven_llm::{Reply, Request};
use seven_offline_host::OfflineModel;

use crate::{Error, Work, check::id_of};

/// The id of a draft that has no id yet. The reply names its sources by id.
pub const DRAFT: &str = "draft";
/// The deadline for the host's answer; the offline host needs only milliseconds.
const DEADLINE: Duration = Duration::from_secs(5);

/// Returns the host's first answer to a new guest's question, from the published content and
/// `draft`. A draft that cannot be parsed is left out.
///
/// # Errors
/// Fails when the database fails or the casino's pack is not loaded.
pub async fn ask(work: &mut Work<'_>, draft: &Value, question: &str) -> Result<Reply, Error> {
    let published = work.tx.published_items(None).await?;
    let config = &work.row.config;
    let pack = work.fleet.packs.of(config)?;
    let model = OfflineModel::from_toml(&pack.files.host)
        .map_err(|error| Error::Blocked(format!("the pack's host cannot be read: {error}")))?;
    let id = id_of(draft).unwrap_or_else(|| DRAFT.to_owned());
    let others = published
        .iter()
        .filter(|item| item.active && item.item_id != id)
        .filter_map(|item| Item::from_json(&item.item).ok());
    let mut draft = draft.clone();
    draft["id"] = id.clone().into();
    let draft = Item::from_json(&draft).ok().filter(|item| item.active);
    let items: Vec<Item> = others.chain(draft).collect();
    let zone = config.operational.timezone;
    let index = Index::build(items)
        .in_zone(zone)
        .embedded(&Offline::default());
    let request = Request {
        casino_name: config.prompts.casino_name_display.clone(),
        contact_phone: config.operational.contact_phone.clone(),
        persona: config.branding.persona_name.clone(),
        zone,
        now: work.fleet.clock.property_now(),
        language: None,
        lead: None,
        length: seven_domain::ReplyLength::Texts,
        texts: vec![question.to_owned()],
        history: Vec::new(),
        index: Arc::new(index),
        seed: 0,
        deadline: DEADLINE,
        profile: Context::default(),
        summary: None,
        ask: None,
        state: DialogueState::default(),
    };
    Ok(model.answer(&request))
}
