//! Finds the guest, conversation and row that a dead letter is about.

use chrono::{TimeZone, Utc};
use prost::Message;
use seven_bus::events;
use seven_domain::{Address, CasinoId, Invalid, Stage};
use seven_runtime::Fleet;
use seven_store::dead::About;

/// Returns the guest, conversation and row to which a stage's message refers.
///
/// # Errors
/// Fails if the message cannot be parsed. Always fails for ingress, whose dead letters are raw
/// webhook bodies.
pub fn about(
    fleet: &Fleet,
    casino: &CasinoId,
    stage: Stage,
    key: &str,
    payload: &[u8],
) -> Result<About, Invalid> {
    fn read<M: Message + Default>(payload: &[u8]) -> Result<M, Invalid> {
        M::decode(payload)
            .map_err(|e| Invalid::new("event", e.to_string(), "a message of its stage"))
    }
    Ok(match stage {
        Stage::Ingress => return Err(Invalid::new("event", "raw", "a message of a later stage")),
        Stage::Gate => {
            let text: events::InboundText = read(payload)?;
            let at = Utc.timestamp_millis_opt(text.occurred_at).single();
            let occurred_at =
                at.ok_or_else(|| Invalid::new("occurred_at", "out of range", "Unix milliseconds"))?;
            let from: Address = text.from.parse()?;
            About::Text {
                guest: fleet.keys.hash_address(casino, &from),
                channel: from.channel(),
                occurred_at,
            }
        }
        Stage::Swarm => {
            let signal: events::ConversationSignal = read(payload)?;
            About::Conversation {
                id: seven_bus::id(&signal.conversation_id)?,
                text: key.parse().ok(),
            }
        }
        Stage::Envelope => About::Turn(seven_bus::id(
            &read::<events::DraftReady>(payload)?.turn_id,
        )?),
        Stage::Sender => About::Outbound(seven_bus::id(
            &read::<events::OutboundReady>(payload)?.outbound_id,
        )?),
        Stage::Receipts => {
            let receipt: events::Receipt = read(payload)?;
            if receipt.attempt_id.is_empty() {
                About::Nobody
            } else {
                About::Attempt(seven_bus::id(&receipt.attempt_id)?)
            }
        }
    })
}
