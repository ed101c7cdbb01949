//! Finds a campaign by its name or id.

use anyhow::{Context, Result};
use seven_domain::CasinoId;
use seven_store::{Tx, campaigns::Campaign as Row};

/// Returns the campaign with this name or id.
pub(crate) async fn named(tx: &mut Tx, casino: &CasinoId, name: &str) -> Result<Row> {
    let found = tx.campaign(name).await?;
    found.with_context(|| format!("{casino} has no campaign `{name}`; `seven campaign list` shows them"))
}
