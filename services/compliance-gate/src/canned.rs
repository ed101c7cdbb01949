//! Texts of the pack as the answer to the text in hand: queued at once, without typing delay.

use std::time::Duration;

use seven_domain::{Disposition, MessageClass, OutboundId};
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::{
    Tx,
    outbound::{NewOutbound, Origin},
};
use seven_telemetry::metrics;

use crate::{
    handler::{Case, Gate, Next},
    mutant,
};

impl Gate {
    /// Answers with a text of the pack, unless the same answer was given a moment ago: then the guest's text ends without one.
    pub(crate) async fn canned(&self, tx: &mut Tx, case: &Case<'_>, key: TextKey) -> Result<Next, Error> {
        if self.was_said_just_now(tx, case, key).await? {
            return self.close(tx, case, "answered_recently").await;
        }
        let body = self.render(case, key);
        self.queue(tx, case, key, body).await.map(|(next, _)| next)
    }

    /// Whether this answer was given within the time in which the pack gives it once.
    pub(crate) async fn was_said_just_now(&self, tx: &mut Tx, case: &Case<'_>, key: TextKey) -> Result<bool, Error> {
        if mutant::answers_always() {
            return Ok(false);
        }
        let silence = self.fleet.timing.scaled(case.pack.rules.say_again_after(key));
        Ok(!silence.is_zero() && tx.said_within(case.party.conversation_id, key.as_str(), silence).await?)
    }

    pub(crate) fn render(&self, case: &Case<'_>, key: TextKey) -> String {
        case.pack.say(key, case.language(), &case.config)
    }

    /// Queues the text and ends the guest's as answered by it.
    pub(crate) async fn queue(
        &self,
        tx: &mut Tx,
        case: &Case<'_>,
        key: TextKey,
        body: String,
    ) -> Result<(Next, OutboundId), Error> {
        let (next, outbound_id) = self.queue_text(tx, case, key, body).await?;
        tx.close_inbound(case.inbound_id, Disposition::Canned, Some(outbound_id.0), Some(key.as_str())).await?;
        metrics().inbound.with_label_values(&[tx.casino().as_str(), case.verdict(), key.as_str()]).inc();
        Ok((next, outbound_id))
    }

    /// Queues a text beside whatever answers the guest's.
    pub(crate) async fn queue_text(
        &self,
        tx: &mut Tx,
        case: &Case<'_>,
        key: TextKey,
        body: String,
    ) -> Result<(Next, OutboundId), Error> {
        let measure = seven_sms::measure(&body);
        let outbound_id: OutboundId = self.fleet.ids.next();
        let (class, rules) = (case.pack.texts.class(key), &case.pack.rules);
        let useful_for = match class {
            MessageClass::OptOutConfirmation => rules.opt_out_confirmation(),
            // Late help is help: it does not end with the confirmation's five minutes.
            MessageClass::Crisis | MessageClass::Emergency => rules.answer_to_a_cry(),
            _ => rules.usefulness(),
        };
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
        Ok((Next::send(queued.into_iter().collect()), outbound_id))
    }

    /// One confirmation only: Telnyx's own counts (C-10), and so does what a fleet said that was lost since.
    pub(crate) async fn answer_unless_provider_did(
        &self,
        tx: &mut Tx,
        case: &Case<'_>,
        key: TextKey,
    ) -> Result<Next, Error> {
        if case.text.autoresponse.is_some() {
            self.close(tx, case, "provider_answered").await
        } else if case.text.is_of_before_a_restore() || (key != TextKey::OptOutConfirmation && self.is_late(case)) {
            self.close(tx, case, "stale").await
        } else {
            self.canned(tx, case, key).await
        }
    }

    /// An opted-out guest gets nothing but safety texts.
    pub(crate) async fn answer_unless_stopped(
        &self,
        tx: &mut Tx,
        case: &Case<'_>,
        key: TextKey,
    ) -> Result<Next, Error> {
        if tx.is_stopped(&case.guest).await? {
            self.close(tx, case, "opted_out").await
        } else if case.text.is_of_before_a_restore() {
            self.close(tx, case, "stale").await
        } else {
            self.canned(tx, case, key).await
        }
    }
}
