//! The conversation that a command is about.

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, ConversationId};
use seven_runtime::Fleet;
use seven_store::{Tx, audit::Entry, prefix::Named};

use crate::commands::{args::Casino, guest_ref::GuestRef, id_prefix::IdPrefix, known};

#[derive(Debug, Args)]
pub(super) struct Which {
    /// Id of the conversation, of its guest or of one of the guest's texts; a unique prefix is
    /// enough.
    #[arg(required_unless_present = "guest", conflicts_with = "guest")]
    id: Option<IdPrefix>,
    /// The guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone from stdin.
    #[arg(long, value_name = "GUEST")]
    guest: Option<GuestRef>,
    #[command(flatten)]
    of: Casino,
}

// === impl Which ===

impl Which {
    pub(super) fn casino(&self) -> &CasinoId {
        &self.of.casino
    }

    pub(super) async fn find(&self, fleet: &Fleet) -> Result<ConversationId> {
        let casino = self.casino();
        known(&fleet.store, casino).await?;
        let hash = match &self.guest {
            Some(guest) => Some(guest.hash(fleet, casino).await?),
            None => None,
        };
        let mut tx = fleet.store.bind(casino).await?;
        let id = match (&hash, &self.id) {
            (Some(hash), _) => tx.guest_by_hash(hash).await?.map(|guest| guest.0),
            (None, Some(id)) => Some(id.find(&mut tx, Named::Conversation).await?),
            (None, None) => None,
        };
        let found = match id {
            Some(id) => tx.conversation_of(id).await?,
            None => None,
        };
        tx.commit().await?;
        found.with_context(|| {
            format!("{casino} has no such conversation; `seven conversation list` shows them")
        })
    }
}

/// Records in the audit log that the words of a conversation were shown.
pub(super) async fn note_reveal(tx: &mut Tx, conversation: ConversationId) -> Result<()> {
    let about = conversation.to_string();
    let event = AuditEvent::PersonalDataRevealed;
    tx.audit(&Entry::of(event, "seven conversation", &about, json!({})))
        .await?;
    Ok(())
}
