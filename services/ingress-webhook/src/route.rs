//! Whose event is it? By the casino's number: from the roster, else from Postgres, so that a casino added a moment ago is found.

use seven_domain::{CasinoId, PhoneE164};
use seven_runtime::Fleet;

/// None: no casino has this number. An error means that nobody could be asked.
pub(crate) async fn casino_of(fleet: &Fleet, number: &PhoneE164) -> Result<Option<CasinoId>, seven_store::Error> {
    if let Some(casino) = fleet.roster.casino_of(number.as_str()) {
        return Ok(Some(casino));
    }
    fleet.store.casino_of_number(number).await
}
