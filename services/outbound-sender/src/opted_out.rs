//! Reconciles the provider's report of an opt-out (error codes 40300 and 21610) with our record.
//! Records a new opt-out. If the provider does not know a guest's START, marks the guest as blocked
//! by the provider. Ignores a report that is older than the guest's last STOP or START.

use seven_compliance::chain::Action;
use seven_domain::{AttemptId, AuditEvent, CasinoId, ConsentTier};
use seven_guest::escalation::{self, Origin, Severity};
use seven_runtime::{Error, Fleet, counted};
use seven_store::{
    audit::Entry,
    consent::{Consent, method},
    escalations::NewEscalation,
    suppressions::Sync,
};

/// Updates the suppression. Safe to repeat: if the process dies before it records the attempt, the
/// same error is handled again.
pub(crate) async fn sync(
    fleet: &Fleet,
    casino: &CasinoId,
    attempt: AttemptId,
    code: &str,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let Some(call) = tx.call_of(attempt).await? else {
        return Ok(());
    };
    tx.lock_conversation(call.conversation_id).await?;
    let sync = tx
        .provider_says_stopped(&call.guest, call.called_at)
        .await?;
    let subject = attempt.to_string();
    match sync {
        Sync::Suppressed => {
            let cancelled = tx
                .cancel_unsent(call.conversation_id, "guest_opted_out")
                .await?;
            let change = Consent {
                guest: &call.guest,
                guest_id: Some(call.guest_id),
                action: Action::Revoked,
                method: method::PROVIDER_BLOCK,
                tier: ConsentTier::None,
                at: call.called_at,
                evidence: serde_json::json!({
                    "error_code": code,
                    "attempt_id": attempt,
                    "texts_cancelled": cancelled,
                }),
                actor: "outbound-sender",
                trace: None,
            };
            counted::record_consent(&mut tx, &change, &fleet.keys).await?;
        }
        Sync::Blocked => {
            tracing::error!(
                %casino,
                attempt_id = %attempt,
                "the provider blocks a guest who is with us; only the guest's START, or the provider, lifts it"
            );
            let detail = serde_json::json!({ "error_code": code });
            let entry = Entry::of(
                AuditEvent::ProviderBlocked,
                "outbound-sender",
                &subject,
                detail,
            );
            tx.audit(&Entry {
                guest: Some(&call.guest),
                ..entry
            })
            .await?;
            // The guest opted in again but gets no texts. A person at the casino has to tell the
            // guest why.
            let sla = escalation::sla(Severity::Sev2);
            let case = NewEscalation {
                escalation_id: fleet.ids.uuid(),
                conversation_id: Some(call.conversation_id),
                guest_id: Some(call.guest_id),
                guest: Some(&call.guest),
                inbound_id: None,
                severity: Severity::Sev2,
                source: Origin::Guardrail,
                reason: "provider_blocks_guest",
                pattern_id: Some(code),
                subject: "",
                detail: None,
                ack_seconds: sla.ack_seconds,
                respond_minutes: sla.respond_minutes,
                actor: "outbound-sender",
                trace: None,
            };
            counted::open_case(&mut tx, &case).await?;
        }
        Sync::Known | Sync::Older => {}
    }
    tx.commit().await?;
    if sync == Sync::Suppressed {
        fleet
            .cache
            .refuse(casino, &call.guest, call.called_at)
            .await;
    }
    tracing::info!(
        %casino,
        attempt_id = %attempt,
        ?sync,
        "the provider reports that the guest opted out"
    );
    Ok(())
}
