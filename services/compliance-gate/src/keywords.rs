//! What each keyword does (SMS-15..20, CONV-7..12, D7): its effect, its one answer, its audit entry, in one transaction.

use std::time::Duration;

use seven_compliance::{Intent, Keyword};
use seven_domain::{Disposition, OutboundId};
use seven_packs::{Slots, TextKey};
use seven_runtime::Error;
use seven_store::{
    Tx,
    outbound::{NewOutbound, Origin},
    suppressions::Applied,
};
use seven_telemetry::metrics;

use crate::handler::{Case, Gate, Next};

impl Gate {
    /// The keyword's effect; none when the text goes on to the host like any other.
    pub(crate) async fn keyword(&self, tx: &mut Tx, case: &Case<'_>, keyword: &Keyword) -> Result<Option<Next>, Error> {
        Ok(match keyword.intent {
            Intent::OptOut => Some(self.opt_out(tx, case, keyword).await?),
            Intent::OptIn => Some(self.opt_in(tx, case, keyword).await?),
            Intent::Help => Some(self.answer_unless_provider_did(tx, case, TextKey::Help).await?),
            Intent::Privacy => self.answer_unless_stopped(tx, case, TextKey::Privacy).await?,
            Intent::Delete => {
                self.audit(tx, case, "privacy.delete_requested", keyword).await?;
                tx.silence(case.party.conversation_id, "guest_asked_for_deletion").await?;
                tx.close_open_texts(case.party.conversation_id, case.inbound_id, "superseded_by_delete").await?;
                self.answer_unless_stopped(tx, case, TextKey::DeleteReceived).await?
            }
            // A yes without a pending question of ours is conversation (C-16).
            Intent::Affirm => None,
        })
    }

    async fn opt_out(&self, tx: &mut Tx, case: &Case<'_>, keyword: &Keyword) -> Result<Next, Error> {
        match tx.stop(&case.guest, case.text.occurred_at, &case.text.event_id).await? {
            Applied::Superseded => self.close(tx, case, "overtaken_by_newer_word").await,
            Applied::Repeat => self.close(tx, case, "opt_out_repeated").await,
            Applied::Changed => {
                let conversation = case.party.conversation_id;
                tx.silence(conversation, "guest_opted_out").await?;
                tx.close_open_texts(conversation, case.inbound_id, "superseded_by_opt_out").await?;
                tx.set_consent(case.party.guest_id, "none", "opt_out", case.text.occurred_at).await?;
                self.audit(tx, case, "consent.revoked", keyword).await?;
                self.answer_unless_provider_did(tx, case, TextKey::OptOutConfirmation).await
            }
        }
    }

    async fn opt_in(&self, tx: &mut Tx, case: &Case<'_>, keyword: &Keyword) -> Result<Next, Error> {
        match tx.start(&case.guest, case.text.occurred_at, &case.text.event_id).await? {
            Applied::Superseded => self.close(tx, case, "overtaken_by_newer_word").await,
            Applied::Repeat => self.close(tx, case, "opt_in_repeated").await,
            Applied::Changed => {
                tx.set_consent(case.party.guest_id, "transactional", "opt_in", case.text.occurred_at).await?;
                self.audit(tx, case, "consent.granted", keyword).await?;
                self.fleet.cache.lift(tx.casino(), &case.guest, case.text.occurred_at).await;
                self.answer_unless_provider_did(tx, case, TextKey::OptInConfirmation).await
            }
        }
    }

    /// One confirmation only: Telnyx's own counts (C-10).
    async fn answer_unless_provider_did(&self, tx: &mut Tx, case: &Case<'_>, key: TextKey) -> Result<Next, Error> {
        if case.text.autoresponse.is_some() {
            self.close(tx, case, "provider_answered").await
        } else {
            self.canned(tx, case, key).await
        }
    }

    async fn answer_unless_stopped(&self, tx: &mut Tx, case: &Case<'_>, key: TextKey) -> Result<Option<Next>, Error> {
        Ok(Some(if tx.is_stopped(&case.guest).await? {
            self.close(tx, case, "opted_out").await?
        } else {
            self.canned(tx, case, key).await?
        }))
    }

    /// Queues a text of the pack, without typing delay, as the answer to this one.
    pub(crate) async fn canned(&self, tx: &mut Tx, case: &Case<'_>, key: TextKey) -> Result<Next, Error> {
        let slots = Slots {
            casino: &case.config.prompts.casino_name_display,
            phone: &case.config.operational.contact_phone,
            persona: &case.config.branding.persona_name,
        };
        let body = self.texts.render(key, case.language(), &slots);
        let measure = seven_sms::measure(&body);
        let outbound_id: OutboundId = self.fleet.ids.next();
        let class = self.texts.class(key);
        let useful_for = if class.is_safety() { self.rules.opt_out_confirmation() } else { self.rules.usefulness() };
        let text = NewOutbound {
            outbound_id,
            conversation_id: case.party.conversation_id,
            guest_id: case.party.guest_id,
            origin: Origin::Inbound(case.inbound_id),
            part: 1,
            parts: 1,
            kind: key.as_str().to_owned(),
            class,
            body,
            encoding: measure.encoding.as_str().to_owned(),
            units: i32::try_from(measure.units).unwrap_or(i32::MAX),
            segments: i32::try_from(measure.segments).unwrap_or(i32::MAX),
            agent: "gate".to_owned(),
            answers_at: Some(case.text.received_at),
            delay: Duration::ZERO,
            useful_for,
            trace: case.trace.clone(),
        };
        let queued = tx.queue(&text).await?;
        tx.close_inbound(case.inbound_id, Disposition::Canned, Some(outbound_id.0), Some(key.as_str())).await?;
        metrics().inbound.with_label_values(&[case.verdict.as_str(), key.as_str()]).inc();
        Ok(Next::Send(queued.into_iter().collect()))
    }

    async fn audit(&self, tx: &mut Tx, case: &Case<'_>, action: &str, keyword: &Keyword) -> Result<(), Error> {
        let detail = serde_json::json!({ "pattern_id": keyword.pattern_id, "inbound_id": case.inbound_id });
        Ok(tx.audit("compliance-gate", action, &case.party.guest_id.to_string(), detail, Some(&case.trace)).await?)
    }
}
