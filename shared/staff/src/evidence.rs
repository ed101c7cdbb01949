//! A guest's consent with its proof (SEC-72, SEC-73): the present state, every change with its
//! evidence, and whether the chain verifies.

use serde::Serialize;
use serde_json::{Value, json};
use seven_compliance::chain::Report;
use seven_domain::{
    GuestHash,
    config::{LegalSender, Scope},
};
use seven_runtime::Fleet;
use seven_store::{Error, Tx, consent::Standing, suppressions::Suppression};

use crate::audit::redact;

#[derive(Debug, Clone, Serialize)]
pub struct Evidence {
    pub casino: String,
    /// The guest's keyed hash, as `hmac:<key>:<hex>`.
    pub guest: String,
    /// The guest's present consent; `None` for a guest who never texted or was deleted.
    pub standing: Option<Standing>,
    /// The guest's suppression; `None` if no row exists, and then nothing may be sent.
    pub suppression: Option<Suppression>,
    /// Which texts a STOP ends, by the rules in force today.
    pub revocation_scope: Scope,
    pub legal_sender: Option<LegalSender>,
    /// Every change of consent, oldest first, without network addresses and without the guest's own
    /// words.
    pub events: Vec<Value>,
    pub chain: Report,
}

/// Returns the evidence about one guest of the bound casino; `None` if the casino has no document.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn evidence(
    tx: &mut Tx,
    fleet: &Fleet,
    guest: &GuestHash,
) -> Result<Option<Evidence>, Error> {
    let Some(row) = tx.casino_row().await? else {
        return Ok(None);
    };
    let chain = tx.consent_chain(guest).await?;
    let events = chain.events.iter().map(|link| {
        // An event that is not JSON is shown as it is; the chain's report says that the chain is
        // broken.
        let mut event = serde_json::from_str(&link.event).unwrap_or_else(|_| json!(link.event));
        redact(&mut event, true);
        event
    });
    Ok(Some(Evidence {
        casino: tx.casino().to_string(),
        guest: guest.tag(),
        standing: tx.consent_standing(guest).await?,
        suppression: tx.suppression(guest).await?,
        revocation_scope: row.config.revocation_scope(fleet.clock.now()),
        legal_sender: row.config.regulations.legal_sender.clone(),
        events: events.collect(),
        chain: tx.verify_chain(guest, &fleet.keys).await?,
    }))
}
