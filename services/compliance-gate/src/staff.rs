//! Handles a text from a verified phone of the casino's staff (D28). No guest wrote it, so the host
//! does not answer. Keywords keep their effect. STOP also ends the phone's notices.

use seven_compliance::{Intent, LikelyKind};
use seven_runtime::Error;
use seven_store::Tx;

use crate::{
    canned, keywords,
    likely::ASKED,
    types::{Case, Gate, Next},
};

pub(crate) async fn answer(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<Next, Error> {
    // A phone of staff is not asked whether to stop, so a likely STOP counts as a STOP.
    let likely = case
        .decision
        .likely
        .filter(|likely| likely.kind == LikelyKind::OptOut)
        .map(|_| ASKED);
    let keyword = case
        .decision
        .keyword
        .filter(|keyword| keyword.intent != Intent::Affirm)
        .or(likely);
    if let Some(keyword) = keyword
        && let Some(next) = keywords::keyword(gate, tx, case, &keyword).await?
    {
        return Ok(next);
    }
    canned::close(tx, case, "staff").await
}
