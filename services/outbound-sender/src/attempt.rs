//! Look, call, record (D5): at most three calls for what certainly did not reach the provider, each with a new look; everything
//! that may have reached it is left to its webhook and its due row.

use seven_bus::Outcome;
use seven_domain::{AttemptId, AuditEvent};
use seven_providers::{ErrorClass, SendOutcome, SendRequest};
use seven_runtime::{Error, failpoint};
use seven_store::{
    audit::Entry,
    last_look::{Claim, Look, Refusal},
    outbound::{AttemptEnd, Next},
};
use seven_telemetry::metrics;

use crate::{Sender, handler::Job, opted_out, window::Eligibility};

const CALLS: u32 = 3;

impl Sender {
    pub(crate) async fn look_and_send(&self, job: &Job) -> Result<Outcome, Error> {
        for call in 1..=CALLS {
            let attempt: AttemptId = self.fleet.ids.next();
            let eligibility = self.eligibility(job)?;
            let claim = match self.look(job, attempt, &eligibility).await? {
                Ok(claim) => claim,
                Err(Refusal::QuietHours) => return self.defer(job, eligibility.opens_at).await,
                Err(refusal) => return self.refused(job, refusal).await,
            };
            failpoint("sender.after_claim");
            let outcome = self.provider.send(&request(job, attempt, &claim)?).await;
            failpoint("sender.after_call");
            if matches!(outcome, SendOutcome::Refused { class: ErrorClass::OptedOut, .. }) {
                opted_out::sync(&self.fleet, &job.casino, attempt).await?;
            }
            let next = self.next(job, &outcome, call);
            self.record(job, attempt, &outcome, next).await?;
            failpoint("sender.after_record");
            match next {
                Next::RetryNow => {
                    if !self.held(self.fleet.timing.in_call_pause()).await {
                        return Ok(Outcome::Wait { after: self.fleet.timing.in_call_pause(), why: "shutting_down" });
                    }
                }
                Next::Failed if job.tries >= 3 => return Ok(dead(&outcome, job)),
                _ => return Ok(Outcome::Done),
            }
        }
        Ok(Outcome::Done)
    }

    async fn look(
        &self,
        job: &Job,
        attempt_id: AttemptId,
        eligibility: &Eligibility,
    ) -> Result<Result<Claim, Refusal>, Error> {
        let look = Look {
            outbound_id: job.outbound_id,
            attempt_id,
            provider: self.provider.name(),
            deadline: self.fleet.timing.send_deadline(),
            grace: self.fleet.timing.doubt_grace(),
            window_open: eligibility.window_open,
            exclusion_list_needed: eligibility.exclusion_list_needed,
            called_at: self.fleet.clock.now(),
            refused_as_of: self.fleet.cache.refused(&job.casino, &job.guest).await,
        };
        let mut tx = self.fleet.store.bind(&job.casino).await?;
        let verdict = tx.last_look(&look).await?;
        tx.commit().await?;
        let label = verdict.as_ref().map_or_else(|refusal| refusal.as_str(), |_| "sent");
        metrics().last_look.with_label_values(&[job.class.as_str(), label]).inc();
        Ok(verdict)
    }

    /// What a provider's answer means for the text: a pure reading of the table in D5.
    fn next(&self, job: &Job, outcome: &SendOutcome, call: u32) -> Next {
        let later = || self.fleet.timing.redelivery(job.tries).map_or(Next::Failed, Next::RetryAfter);
        match outcome {
            SendOutcome::Accepted { .. } => Next::Sent,
            SendOutcome::Ambiguous { .. } => Next::InDoubt,
            SendOutcome::NotSent { .. } | SendOutcome::Refused { class: ErrorClass::Throttled, .. } if call < CALLS => {
                Next::RetryNow
            }
            SendOutcome::NotSent { .. }
            | SendOutcome::Refused { class: ErrorClass::Throttled | ErrorClass::Transient, .. } => later(),
            SendOutcome::Refused {
                class: ErrorClass::Permanent | ErrorClass::OptedOut | ErrorClass::Configuration,
                ..
            } => Next::Failed,
        }
    }

    async fn record(&self, job: &Job, attempt: AttemptId, outcome: &SendOutcome, next: Next) -> Result<(), Error> {
        let end = end_of(outcome);
        metrics().sends.with_label_values(&[end.outcome, end.error_code.as_deref().unwrap_or("")]).inc();
        let mut tx = self.fleet.store.bind(&job.casino).await?;
        tx.end_attempt(job.outbound_id, attempt, &end, next).await?;
        if next == Next::Sent {
            tx.record_disclosure(job.outbound_id).await?;
        }
        if matches!(next, Next::Sent | Next::Failed) {
            let event = if next == Next::Sent { AuditEvent::SmsOutbound } else { AuditEvent::SmsDeliveryFailed };
            let subject = job.outbound_id.to_string();
            let detail = serde_json::json!({
                "class": job.class, "sms_segments": job.segments, "attempt_id": attempt, "error_code": end.error_code,
            });
            tx.audit(&Entry { guest: Some(&job.guest), ..Entry::of(event, "outbound-sender", &subject, detail) })
                .await?;
        }
        tx.commit().await?;
        let error_code = end.error_code.as_deref().unwrap_or_default();
        tracing::info!(casino = %job.casino, outbound_id = %job.outbound_id, attempt_id = %attempt, outcome = end.outcome, error_code, ?next, "provider called");
        Ok(())
    }
}

fn request(job: &Job, attempt: AttemptId, claim: &Claim) -> Result<SendRequest, Error> {
    Ok(SendRequest {
        casino: job.casino.clone(),
        attempt,
        from: claim.from.parse()?,
        to: claim.to.parse()?,
        text: claim.body.clone(),
        messaging_profile_id: claim.messaging_profile_id.clone(),
    })
}

fn end_of(outcome: &SendOutcome) -> AttemptEnd {
    let blank = AttemptEnd {
        outcome: "ambiguous",
        http_status: None,
        error_code: None,
        detail: None,
        provider_message_id: None,
    };
    match outcome {
        SendOutcome::Accepted { provider_message_id } => {
            AttemptEnd { outcome: "accepted", provider_message_id: Some(provider_message_id.clone()), ..blank }
        }
        SendOutcome::Refused { http_status, code, class, detail } => AttemptEnd {
            outcome: if matches!(class, ErrorClass::Throttled | ErrorClass::Transient) {
                "transient"
            } else {
                "refused"
            },
            http_status: Some(i32::from(*http_status)),
            error_code: Some(code.clone()),
            detail: Some(detail.clone()),
            ..blank
        },
        SendOutcome::NotSent { detail } => AttemptEnd { outcome: "transient", detail: Some(detail.clone()), ..blank },
        SendOutcome::Ambiguous { http_status, detail } => {
            AttemptEnd { http_status: http_status.map(i32::from), detail: Some(detail.clone()), ..blank }
        }
    }
}

/// Re-delivered three times and still refused (SMS-44).
fn dead(outcome: &SendOutcome, job: &Job) -> Outcome {
    let error = match outcome {
        SendOutcome::Refused { code, detail, .. } => format!("provider error {code}: {detail}"),
        SendOutcome::NotSent { detail } => format!("provider not reached: {detail}"),
        SendOutcome::Ambiguous { detail, .. } => detail.clone(),
        SendOutcome::Accepted { .. } => String::new(),
    };
    Outcome::Park { reason: "send_failed".into(), error, attempts: job.tries + 1 }
}
