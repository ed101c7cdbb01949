//! The provider in the model test. It asks the book whether each request is allowed, and answers as
//! the current step says.

use std::sync::{Arc, Mutex};

use seven_domain::AttemptId;
use seven_providers::{ErrorClass, ProbeFuture, Provider, SendFuture, SendOutcome, SendRequest};
use sqlx::PgPool;
use tokio::sync::Notify;
use uuid::Uuid;

use super::{
    book::Call,
    desk::{PHONES, Workers, text_of},
    steps::{Answer, Said, Who},
};

pub(crate) struct Carrier {
    desk: Arc<Workers>,
    owner: PgPool,
    pub(crate) plan: Mutex<Plan>,
    /// Notified when a step lets the sender die.
    pub(crate) died: Notify,
}

/// The behaviour that the current step wants from the provider, and the results of the step.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) answer: Option<Answer>,
    pub(crate) meanwhile: Option<Said>,
    pub(crate) requests: Vec<Attempt>,
    pub(crate) complaint: Option<String>,
    pub(crate) opted_out: Option<(Who, i64)>,
}

/// A request that was made. A receipt can report on it later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    pub(crate) id: AttemptId,
    pub(crate) who: Who,
    pub(crate) at: i64,
}

impl Carrier {
    pub(crate) fn new(desk: Arc<Workers>, owner: PgPool) -> Self {
        Self {
            desk,
            owner,
            plan: Mutex::default(),
            died: Notify::new(),
        }
    }

    fn plan<T>(&self, change: impl FnOnce(&mut Plan) -> T) -> T {
        change(&mut self.plan.lock().unwrap())
    }

    async fn call(&self, request: &SendRequest, who: Who) -> Result<Call, String> {
        let row: Option<(String, String, Uuid, Option<String>)> = sqlx::query_as(
            "select o.class, o.kind, o.outbound_id, i.provider_message_id from send_attempts a
             join outbound_messages o on o.casino_id = a.casino_id and o.outbound_id = a.outbound_id
             left join inbound_messages i on i.casino_id = o.casino_id and i.inbound_id = o.inbound_id
             where a.attempt_id = $1",
        )
        .bind(request.attempt.0)
        .fetch_optional(&self.owner)
        .await
        .map_err(|e| e.to_string())?;
        let (class, kind, outbound, answers) =
            row.ok_or_else(|| format!("a request to {who} of no known attempt"))?;
        let class = class.parse().map_err(|e| format!("{e}"))?;
        let answers = answers.as_deref().and_then(text_of);
        Ok(Call {
            who,
            class,
            kind,
            outbound,
            answers,
            now: self.desk.now(),
            local_hour: self.desk.local_hour(),
        })
    }

    async fn answer(&self, request: &SendRequest) -> Result<SendOutcome, String> {
        let casino = self
            .desk
            .numbers
            .iter()
            .position(|number| number == request.from.as_str());
        let phone = PHONES
            .iter()
            .position(|phone| *phone == request.to.as_str());
        let (Some(casino), Some(phone)) = (casino, phone) else {
            return Err("a request to or from a stranger".into());
        };
        let who = Who { casino, phone };
        let (answer, meanwhile) = self.plan(|plan| {
            (
                plan.answer.take().unwrap_or(Answer::Accepts),
                plan.meanwhile.take(),
            )
        });
        if answer == Answer::CrashBeforeRequest {
            return self.die().await;
        }
        let call = self.call(request, who).await?;
        self.desk.book().judge(&call)?;
        self.desk.count(&format!("sent {}", call.class));
        self.plan(|plan| {
            plan.requests.push(Attempt {
                id: request.attempt,
                who,
                at: call.now,
            });
        });
        if let Some(said) = meanwhile {
            self.desk
                .post(self.desk.next_text(), who, said, self.desk.now())
                .await?;
        }
        match answer {
            Answer::Accepts => self.desk.book().took(&call),
            Answer::AnswersTooLate | Answer::CrashInRequest => {
                self.desk.book().may_have_taken(&call);
            }
            _ => self.desk.book().not_reached(&call),
        }
        let refused = |http_status, code: &str, class| SendOutcome::Refused {
            http_status,
            code: code.to_owned(),
            class,
            detail: "the step says so".to_owned(),
        };
        Ok(match answer {
            Answer::Accepts => SendOutcome::Accepted {
                provider_message_id: request.attempt.to_string(),
            },
            Answer::SaysOptedOut => {
                self.plan(|plan| plan.opted_out = Some((who, call.now)));
                refused(400, "40300", ErrorClass::OptedOut)
            }
            Answer::RefusesForGood => refused(400, "40310", ErrorClass::Permanent),
            Answer::RefusesForNow => refused(503, "10009", ErrorClass::Transient),
            Answer::IsNotReached => SendOutcome::NotSent {
                detail: "connection refused".to_owned(),
            },
            Answer::AnswersTooLate => SendOutcome::Ambiguous {
                http_status: None,
                detail: "no answer in time".to_owned(),
            },
            Answer::CrashInRequest | Answer::CrashBeforeRequest => return self.die().await,
        })
    }

    async fn die(&self) -> Result<SendOutcome, String> {
        self.died.notify_one();
        std::future::pending().await
    }
}

impl Provider for Carrier {
    fn name(&self) -> &'static str {
        seven_domain::TELNYX
    }

    fn send<'a>(&'a self, request: &'a SendRequest) -> SendFuture<'a> {
        Box::pin(async move {
            match self.answer(request).await {
                Ok(outcome) => outcome,
                Err(complaint) => {
                    self.plan(|plan| plan.complaint = Some(complaint));
                    SendOutcome::Ambiguous {
                        http_status: None,
                        detail: "the test has ended".to_owned(),
                    }
                }
            }
        })
    }

    fn probe(&self) -> ProbeFuture<'_> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn is_local(&self) -> bool {
        true
    }
}
