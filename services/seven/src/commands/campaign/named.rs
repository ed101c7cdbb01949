//! Finds a campaign by its name, its id or a unique prefix of its id.

use anyhow::{Context, Result};
use seven_domain::CasinoId;
use seven_store::{Tx, campaigns::Campaign as Row, prefix::Named};

use crate::commands::id_prefix::IdPrefix;

/// Returns the campaign with this name or id. A name wins over a prefix of an id.
pub(crate) async fn named(tx: &mut Tx, casino: &CasinoId, name: &str) -> Result<Row> {
    let mut found = tx.campaign(name).await?;
    if found.is_none()
        && let Ok(prefix) = name.parse::<IdPrefix>()
    {
        let id = prefix.find(tx, Named::Campaign).await?;
        found = tx.campaign(&id.to_string()).await?;
    }
    found.with_context(|| {
        format!("{casino} has no campaign `{name}`; `seven campaign list` shows them")
    })
}
