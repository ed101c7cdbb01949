//! Releases the work that waited at a casino until a switch was turned off.

use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::controls::Reopened;

/// Why the waiting work could not be released.
#[derive(Debug, thiserror::Error)]
pub enum NotReopened {
    #[error(transparent)]
    Pack(#[from] seven_packs::Unknown),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

/// The effect of ending a switch at one casino.
#[derive(Debug, serde::Serialize)]
pub struct Ended {
    pub casino: CasinoId,
    #[serde(flatten)]
    pub reopened: Reopened,
    /// Number of held texts that were made due again, for a new pre-send check.
    pub woken: u64,
}

/// Releases this casino's work that waited until a switch was turned off. While another switch
/// silences the host, only held texts are checked again.
///
/// # Errors
/// Fails when Postgres does not answer or the casino's pack is not loaded.
pub async fn reopen(fleet: &Fleet, casino: &CasinoId) -> Result<Ended, NotReopened> {
    let mut tx = fleet.store.bind(casino).await?;
    let silent = tx
        .switched()
        .await?
        .iter()
        .any(|switch| switch.silences_agents());
    let row = tx.casino_row().await?;
    let reopened = match row {
        Some(row) if !silent => {
            tx.reopen(fleet.packs.of(&row.config)?.rules.usefulness())
                .await?
        }
        _ => Reopened::default(),
    };
    tx.commit().await?;
    // Releases all held texts. A text that still may not be sent fails its pre-send check and is
    // held again.
    let woken = fleet.store.wake_held(Some(casino)).await?;
    Ok(Ended {
        casino: casino.clone(),
        reopened,
        woken,
    })
}
