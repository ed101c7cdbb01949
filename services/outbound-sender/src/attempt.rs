//! Runs the pre-send check, calls the provider and records the result (D5). If a text was certainly
//! not sent, it gets up to three calls in a row at one provider, each after a new check.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use seven_bus::Outcome;
use seven_cache::{Outcome as Spoke, Transition};
use seven_domain::{AttemptId, AttemptOutcome, CasinoId, Lane, TWILIO};
use seven_faults::failpoint;
use seven_providers::{ErrorClass, SendOutcome, SendRequest, verdict};
use seven_runtime::Error;
use seven_store::{
    connections::Lent,
    outbound::{AttemptEnd, Next},
    presend_check::{Claim, PresendCheck, Refusal},
};
use seven_telemetry::{metrics, trace};

use crate::{
    content, late, measure, refusal,
    route::{self, from_number, speaks},
    stops,
    types::{Ended, Job, Sender},
    window::{self, Eligibility},
};

/// Maximum number of successive calls to one provider for one text; then the text waits.
const CALLS: u32 = 3;
/// Seconds before each re-delivery, unless the provider's error code has other delays (SMS-44).
const REDELIVERY: [u32; 3] = [5, 25, 125];

/// Maximum time between a pre-send check and the call that it permits. If a process stood still for
/// longer, it checks again instead of calling. The time is measured by the wall clock, which
/// continues while a machine sleeps.
const CHECK_VALIDITY: TimeDelta = TimeDelta::seconds(2);

/// Calls providers until the text is accepted, refused, in doubt or deferred. Each call gets its
/// own route and pre-send check. A doubtful call ends the loop and is never repeated at another
/// provider (D5).
pub(crate) async fn look_and_send(sender: &Sender, job: &mut Job) -> Result<Outcome, Error> {
    let (mut called, mut calls, mut first) = ("", 0, true);
    loop {
        let eligibility = window::eligibility(sender, job)?;
        // Selects the route and asks the cache at the same time. The cache can only refuse;
        // Postgres decides.
        let (route, refused_as_of) = tokio::join!(
            route::route(sender, job),
            sender.fleet.cache.refused(&job.casino, &job.guest)
        );
        let route = match route {
            Ok(route) => route,
            Err(none) => return refusal::hold(sender, job, none).await,
        };
        let carrier = route.carrier;
        if carrier.name() != called {
            (called, calls) = (carrier.name(), 0);
        }
        calls += 1;
        let attempt: AttemptId = sender.fleet.ids.next();
        let checked_at = sender.fleet.clock.now();
        let claim = match check(sender, job, (attempt, called), &eligibility, refused_as_of).await {
            Ok(Ok(claim)) => claim,
            refused => {
                carrier
                    .ended(&sender.fleet, route.permit, Spoke::Neutral)
                    .await;
                match refused? {
                    Err(Refusal::QuietHours) => {
                        return window::defer(sender, job, eligibility.opens_at).await;
                    }
                    Err(refusal) => return refusal::refused(sender, job, refusal).await,
                    Ok(_) => return Ok(Outcome::Done),
                }
            }
        };
        failpoint!("sender.after_claim");
        if std::mem::take(&mut first) {
            measure::reply(&sender.fleet, job);
        }
        let request = request(job, called, attempt, &claim)?;
        let mut span = trace::step("seven.node.provider_call", "").client();
        // Safety texts may be sent even after a STOP, so their check may be older.
        let held_up = job.class.lane() != Lane::Safety
            && sender.fleet.clock.now() - checked_at > CHECK_VALIDITY;
        let outcome = if held_up {
            held_up_before_the_call()
        } else {
            carrier.provider.send(&request).await
        };
        failpoint!("sender.after_call");
        describe(&mut span, called, attempt, job, &outcome);
        drop(span);
        let spoke = if held_up {
            Spoke::Neutral
        } else {
            speaks(&outcome)
        };
        let moved = carrier.ended(&sender.fleet, route.permit, spoke).await;
        if route.failover {
            metrics().failovers.with_label_values(&[called]).inc();
        }
        if let SendOutcome::Refused { code, class, .. } = &outcome {
            stops::act_on(&sender.fleet, &job.casino, called, code, *class, attempt).await?;
        }
        let opened = matches!(
            moved,
            Some(Transition::Opened { .. } | Transition::Reopened)
        );
        let next = next(
            sender,
            job,
            called,
            &outcome,
            if opened { 0 } else { calls },
        );
        record(sender, job, attempt, called, &outcome, next).await?;
        if next == Next::Sent {
            late::note_late_help(sender, job).await?;
        }
        failpoint!("sender.after_record");
        match next {
            Next::RetryNow if must_reread(&outcome) => {
                let mut tx = sender.fleet.store.bind(&job.casino).await?;
                job.stops = tx.stops().await?;
                tx.commit().await?;
            }
            // This call opened the breaker: another provider is called at once, if there is one
            // (SMS-41).
            Next::RetryNow if opened => {}
            Next::RetryNow => {
                if !sender.held(sender.fleet.timing.in_call_pause()).await {
                    return Ok(Outcome::Wait {
                        after: sender.fleet.timing.in_call_pause(),
                        why: "shutting_down",
                    });
                }
            }
            Next::Failed if is_transient(&outcome) => return Ok(dead(&outcome, job)),
            _ => return Ok(Outcome::Done),
        }
    }
}

/// Returns whether this call stopped the provider, for all casinos or for this one. The stops must
/// then be read again.
fn must_reread(outcome: &SendOutcome) -> bool {
    matches!(
        outcome,
        SendOutcome::Refused {
            class: ErrorClass::Account | ErrorClass::SpendLimit,
            ..
        }
    )
}

async fn check(
    sender: &Sender,
    job: &Job,
    (attempt_id, provider): (AttemptId, &'static str),
    eligibility: &Eligibility,
    refused_as_of: Option<DateTime<Utc>>,
) -> Result<Result<Claim, Refusal>, Error> {
    let mut span = trace::step("seven.node.presend_check", "");
    let ours = &job.config.operational;
    let mut check = PresendCheck {
        outbound_id: job.outbound_id,
        attempt_id,
        provider,
        sender: Some(from_number(ours, job.number()?, provider)),
        deadline: sender.fleet.timing.send_deadline(),
        grace: sender.fleet.timing.doubt_grace(),
        window_open: eligibility.window_open,
        exclusion_list_needed: eligibility.exclusion_list_needed,
        called_at: sender.fleet.clock.now(),
        refused_as_of,
        risk: None,
    };
    let verdict = if job.class.lane() == Lane::Bulk {
        let mut tx = sender.fleet.store.bind(&job.casino).await?;
        check.risk = content::risk(&mut tx, job).await?;
        let verdict = tx.presend_check(&check).await?;
        tx.commit().await?;
        verdict
    } else {
        sender
            .checks
            .ask(
                &job.casino,
                check,
                || sender.lend(),
                |lent, checks| check_all(sender, lent, &job.casino, checks),
            )
            .await?
    };
    let label = verdict
        .as_ref()
        .map_or_else(|refusal| refusal.as_str(), |_| "sent");
    metrics()
        .presend_check
        .with_label_values(&[job.casino.as_str(), job.class.as_str(), label])
        .inc();
    span.set("seven.verdict", label);
    Ok(verdict)
}

/// Runs the pre-send checks of several texts in one transaction. Texts are checked in the order of
/// their ids, so that two transactions never deadlock. All checks are durable before the first text
/// is sent.
async fn check_all(
    sender: &Sender,
    lent: Lent,
    casino: &CasinoId,
    checks: Vec<PresendCheck>,
) -> Result<Vec<Result<Claim, Refusal>>, Error> {
    let mut tx = sender.fleet.store.bind_on(lent, casino).await?;
    let mut asked: Vec<(usize, &PresendCheck)> = checks.iter().enumerate().collect();
    asked.sort_by_key(|(_, check)| check.outbound_id.0);
    let mut verdicts = Vec::with_capacity(checks.len());
    for (at, check) in asked {
        verdicts.push((at, tx.presend_check(check).await?));
    }
    tx.commit().await?;
    verdicts.sort_by_key(|(at, _)| *at);
    Ok(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
}

/// Decides what happens to the text after a provider's answer. Only the table in D5 and the
/// provider's error codes decide. `calls` is the number of calls to this provider in a row. It is 0
/// if the provider's breaker has just opened, because the next call may then go to another provider
/// at once.
fn next(sender: &Sender, job: &Job, provider: &str, outcome: &SendOutcome, calls: u32) -> Next {
    match outcome {
        SendOutcome::Accepted { .. } => Next::Sent,
        SendOutcome::Ambiguous { .. } => Next::InDoubt,
        SendOutcome::NotSent { .. }
        | SendOutcome::Refused {
            class: ErrorClass::Throttled,
            ..
        } if calls < CALLS => Next::RetryNow,
        // The provider is at fault, not the text, so the number of tries is not limited. The text
        // is tried again until it is too old to be useful.
        SendOutcome::NotSent { .. }
        | SendOutcome::Refused {
            class: ErrorClass::Throttled,
            ..
        } => Next::RetryAfter(
            sender
                .fleet
                .timing
                .redelivery(job.tries.min(2))
                .unwrap_or_default(),
        ),
        SendOutcome::Refused {
            class: ErrorClass::Transient,
            code,
            http_status,
            ..
        } => {
            let waits = verdict(provider, code, *http_status).retry;
            let waits = if waits.is_empty() { &REDELIVERY } else { waits };
            let wait = usize::try_from(job.tries)
                .ok()
                .and_then(|tries| waits.get(tries));
            wait.map_or(Next::Failed, |seconds| {
                Next::RetryAfter(sender.fleet.timing.after(*seconds))
            })
        }
        // The text keeps its place in the queue. The next route, or the lack of one, decides what
        // happens to it.
        SendOutcome::Refused {
            class: ErrorClass::Account | ErrorClass::SpendLimit,
            ..
        } => Next::RetryNow,
        SendOutcome::Refused {
            class: ErrorClass::Doubtful,
            ..
        } => Next::InDoubt,
        SendOutcome::Refused {
            class: ErrorClass::Permanent | ErrorClass::OptedOut | ErrorClass::Configuration,
            ..
        } => Next::Failed,
    }
}

async fn record(
    sender: &Sender,
    job: &Job,
    attempt: AttemptId,
    provider: &'static str,
    outcome: &SendOutcome,
    next: Next,
) -> Result<(), Error> {
    let end = end_of(outcome);
    measure::called(job, provider, &end, next);
    let detail = serde_json::json!({
        "class": job.class, "sms_segments": job.segments, "attempt_id": attempt,
        "provider": provider,
        "error_code": end.error_code,
    });
    let (outbound, subject, guest) = (job.outbound_id, job.outbound_id.to_string(), job.guest);
    let ended = Arc::new(Ended {
        outbound,
        subject,
        attempt,
        guest,
        end,
        next,
        detail,
    });
    sender
        .ends
        .ask(
            &job.casino,
            Arc::clone(&ended),
            || sender.lend(),
            |lent, ends| record_all(sender, lent, &job.casino, ends),
        )
        .await??;
    let end = &ended.end;
    let error_code = end.error_code.as_deref().unwrap_or_default();
    tracing::info!(
        casino = %job.casino,
        outbound_id = %job.outbound_id,
        attempt_id = %attempt,
        provider,
        outcome = %end.outcome,
        error_code,
        ?next,
        "provider called"
    );
    Ok(())
}

async fn record_all(
    sender: &Sender,
    lent: Lent,
    casino: &CasinoId,
    ends: Vec<Arc<Ended>>,
) -> Result<Vec<Result<(), Error>>, Error> {
    // If a crash of the database loses this commit, the attempt is settled as if this worker had
    // died: by the provider's receipt, or by the due row for doubtful attempts.
    let mut tx = sender.fleet.store.bind_repeatable_on(lent, casino).await?;
    for ended in &ends {
        let audit_entry = ended.audit_entry();
        tx.end_attempt(
            ended.outbound,
            ended.attempt,
            &ended.end,
            ended.next,
            audit_entry.as_ref(),
        )
        .await?;
    }
    match tx.commit().await {
        Err(error) if ends.len() == 1 => Err(error.into()),
        // The commit may have succeeded, so the ends are not recorded a second time.
        Err(_) => {
            let lost = |_| {
                Err(Error::Other(
                    "how a call ended may not have been recorded".into(),
                ))
            };
            Ok(ends.iter().map(lost).collect())
        }
        Ok(()) => Ok(ends.iter().map(|_| Ok(())).collect()),
    }
}

/// Writes the call and its outcome to the span. A call that was not accepted marks the span as
/// failed, so that sampling keeps the trace.
fn describe(
    span: &mut trace::Step,
    provider: &'static str,
    attempt: AttemptId,
    job: &Job,
    outcome: &SendOutcome,
) {
    if !span.is_recorded() {
        return;
    }
    let end = end_of(outcome);
    span.set("seven.provider", provider);
    span.tell("seven.attempt_id", &attempt);
    span.set("seven.segments", job.segments);
    span.set("seven.outcome", end.outcome.as_str());
    if let Some(status) = end.http_status {
        span.set("http.response.status_code", i64::from(status));
    }
    if let Some(code) = &end.error_code {
        span.tell("error.type", code);
    }
    if !matches!(outcome, SendOutcome::Accepted { .. }) {
        span.fail(end.outcome.as_str());
    }
}

/// Returns the outcome of a call that was held up and therefore not made. The text was certainly
/// not sent.
fn held_up_before_the_call() -> SendOutcome {
    SendOutcome::NotSent {
        detail: format!(
            "more than {} s between the look and the call",
            CHECK_VALIDITY.num_seconds()
        ),
    }
}

fn is_transient(outcome: &SendOutcome) -> bool {
    matches!(
        outcome,
        SendOutcome::Refused {
            class: ErrorClass::Transient,
            ..
        }
    )
}

fn request(
    job: &Job,
    provider: &str,
    attempt: AttemptId,
    claim: &Claim,
) -> Result<SendRequest, Error> {
    Ok(SendRequest {
        casino: job.casino.clone(),
        attempt,
        from: from_number(&job.config.operational, job.number()?, provider),
        to: claim.to.as_deref().unwrap_or_default().parse()?,
        text: claim.body.clone(),
        messaging_profile_id: match provider {
            TWILIO => job.config.operational.twilio_messaging_service_sid.clone(),
            _ => claim.messaging_profile_id.clone(),
        },
    })
}

fn end_of(outcome: &SendOutcome) -> AttemptEnd {
    let blank = AttemptEnd {
        outcome: AttemptOutcome::Ambiguous,
        http_status: None,
        error_code: None,
        detail: None,
        provider_message_id: None,
    };
    match outcome {
        SendOutcome::Accepted {
            provider_message_id,
        } => AttemptEnd {
            outcome: AttemptOutcome::Accepted,
            provider_message_id: Some(provider_message_id.clone()),
            ..blank
        },
        SendOutcome::Refused {
            http_status,
            code,
            class,
            detail,
        } => AttemptEnd {
            outcome: if matches!(
                class,
                ErrorClass::Throttled
                    | ErrorClass::Transient
                    | ErrorClass::Account
                    | ErrorClass::SpendLimit
            ) {
                AttemptOutcome::Transient
            } else {
                AttemptOutcome::Refused
            },
            http_status: Some(i32::from(*http_status)),
            error_code: Some(code.clone()),
            detail: Some(detail.clone()),
            ..blank
        },
        SendOutcome::NotSent { detail } => AttemptEnd {
            outcome: AttemptOutcome::Transient,
            detail: Some(detail.clone()),
            ..blank
        },
        SendOutcome::Ambiguous {
            http_status,
            detail,
        } => AttemptEnd {
            http_status: http_status.map(i32::from),
            detail: Some(detail.clone()),
            ..blank
        },
    }
}

/// Returns the dead letter of a text that was re-delivered three times and is still refused
/// (SMS-44).
fn dead(outcome: &SendOutcome, job: &Job) -> Outcome {
    let error = match outcome {
        SendOutcome::Refused { code, detail, .. } => format!("provider error {code}: {detail}"),
        SendOutcome::NotSent { detail } => format!("provider not reached: {detail}"),
        SendOutcome::Ambiguous { detail, .. } => detail.clone(),
        SendOutcome::Accepted { .. } => String::new(),
    };
    Outcome::Park {
        reason: "send_failed".into(),
        error,
        attempts: job.tries + 1,
    }
}
