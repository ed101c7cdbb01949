//! Plays the events in the life of one text, and checks after each event that the promises hold.

use std::{
    ops::Deref,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use seven_domain::{
    AttemptId, AttemptOutcome, Clock, MessageClass, OutboundId, OutboundState, TELNYX,
    sending::{by_receipt, may_move},
};
use seven_store::{
    outbound::{AttemptEnd, NewOutbound, Next, Origin},
    presend_check::PresendCheck,
    receipts::{NewReceipt, ReceiptOutcome},
};

use crate::house as casino;

/// One event in the life of a text. `attempt` picks one of the attempts so far, perhaps an old one.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A sender tries to claim the text. `arrives`: whether the provider call reaches the provider.
    Claim {
        arrives: bool,
    },
    /// The sender gets the answer to the attempt, at most once.
    Answer {
        attempt: usize,
        said: Report,
    },
    DoubtIsOver {
        attempt: usize,
    },
    Receipt {
        attempt: usize,
        status: &'static str,
    },
    StrangeReceipt {
        status: &'static str,
    },
    Silence,
}

/// The provider's answer to an attempt, as the sender gets it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Report {
    /// The true result. If the call arrived, the text was accepted. Otherwise a transient failure:
    /// the provider certainly did not take the text.
    Truth,
    /// No clear answer: a timeout, a broken read or a 5xx.
    Nothing,
    /// If the call arrived, the text was accepted. Otherwise a permanent refusal.
    Never,
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) id: AttemptId,
    arrives: bool,
    answered: bool,
    /// Whether the attempt has an outcome: from an answer, from a receipt, or because its doubt
    /// timed out.
    settled: bool,
}

/// A database, and the number of texts that were begun in it.
pub(crate) struct House {
    of: casino::House,
    texts: AtomicUsize,
}

impl Deref for House {
    type Target = casino::House;

    fn deref(&self) -> &casino::House {
        &self.of
    }
}

pub(crate) async fn house() -> House {
    House {
        of: casino::house("sending").await,
        texts: AtomicUsize::new(0),
    }
}

/// The text that is played. Its guest gets no other text.
pub(crate) struct Life<'h> {
    house: &'h House,
    pub(crate) outbound: OutboundId,
    pub(crate) conversation: seven_domain::ConversationId,
    class: MessageClass,
    pub(crate) attempts: Vec<Attempt>,
}

impl<'h> Life<'h> {
    pub(crate) async fn begin(house: &'h House, class: MessageClass) -> Self {
        let n = house.texts.fetch_add(1, Ordering::Relaxed);
        let mut tx = house.store.bind(&house.config.casino_id).await.unwrap();
        let (party, hash) = house.party(&mut tx, &format!("+1860555{n:04}")).await;
        tx.ensure_suppression_row(&hash).await.unwrap();
        let outbound = house.ids.next();
        let text = NewOutbound::new(
            outbound,
            party.recipient(),
            Origin::Person,
            class,
            "The pool is open.".into(),
            Duration::from_secs(3_600),
        )
        .answers_at(Some(Clock::default().now()));
        tx.queue(&text).await.unwrap().unwrap();
        tx.commit().await.unwrap();
        Self {
            house,
            outbound,
            conversation: party.conversation_id,
            class,
            attempts: Vec::new(),
        }
    }

    pub(crate) async fn state(&self) -> OutboundState {
        let mut tx = self
            .house
            .store
            .bind(&self.house.config.casino_id)
            .await
            .unwrap();
        let (state, _) = tx.outbound_state(self.outbound).await.unwrap().unwrap();
        state
    }

    /// Plays a step, and asserts that the text moved as the transition table permits.
    pub(crate) async fn play(&mut self, step: &Step) {
        let before = self.state().await;
        let expected = self.step(step, before).await;
        let after = self.state().await;
        assert!(
            before == after || may_move(before, after),
            "{step:?}: {before} -> {after}"
        );
        if let Some(expected) = expected {
            assert_eq!(after, expected, "{step:?} at {before}");
        }
        let at_the_guests = self
            .attempts
            .iter()
            .filter(|attempt| attempt.arrives)
            .count();
        let most = if self.class.is_safety() { 2 } else { 1 };
        assert!(
            at_the_guests <= most,
            "{step:?}: the guest has {at_the_guests} copies"
        );
    }

    pub(crate) async fn step(
        &mut self,
        step: &Step,
        before: OutboundState,
    ) -> Option<OutboundState> {
        let casino = &self.house.config.casino_id;
        let mut tx = self.house.store.bind(casino).await.unwrap();
        let expected = match *step {
            Step::Claim { arrives } => {
                let id: AttemptId = self.house.ids.next();
                let check = PresendCheck {
                    outbound_id: self.outbound,
                    attempt_id: id,
                    provider: TELNYX,
                    sender: Some(self.house.config.operational.telnyx_phone_number.clone()),
                    deadline: Duration::from_secs(10),
                    grace: Duration::from_secs(10),
                    window_open: true,
                    exclusion_list_needed: false,
                    called_at: Clock::default().now(),
                    refused_as_of: None,
                    risk: None,
                };
                let passed = tx.presend_check(&check).await.unwrap().is_ok();
                assert_eq!(
                    passed,
                    before == OutboundState::Queued,
                    "only what is queued goes out"
                );
                if passed {
                    assert!(
                        self.attempts.iter().all(|attempt| attempt.settled),
                        "another call is under way"
                    );
                    self.attempts.push(Attempt {
                        id,
                        arrives,
                        answered: false,
                        settled: false,
                    });
                }
                passed.then_some(OutboundState::Sending)
            }
            Step::Answer { attempt, said } => {
                let at = self.pick(attempt)?;
                let known = &mut self.attempts[at];
                if std::mem::replace(&mut known.answered, true) {
                    return Some(before);
                }
                known.settled |= !matches!(said, Report::Nothing);
                let (outcome, next) = match (said, known.arrives) {
                    (Report::Nothing, _) => (AttemptOutcome::Ambiguous, Next::InDoubt),
                    (_, true) => (AttemptOutcome::Accepted, Next::Sent),
                    (Report::Truth, false) => (AttemptOutcome::Transient, Next::RetryNow),
                    (Report::Never, false) => (AttemptOutcome::Refused, Next::Failed),
                };
                let id = (outcome == AttemptOutcome::Accepted).then(|| format!("p-{}", known.id));
                let end = AttemptEnd {
                    outcome,
                    http_status: None,
                    error_code: (outcome == AttemptOutcome::Refused).then(|| "40310".to_owned()),
                    detail: None,
                    provider_message_id: id,
                };
                tx.end_attempt(self.outbound, known.id, &end, next, None)
                    .await
                    .unwrap();
                None
            }
            Step::DoubtIsOver { attempt } => {
                let at = self.pick(attempt)?;
                let last = at + 1 == self.attempts.len();
                self.attempts[at].settled = true;
                tx.settle_doubt(self.attempts[at].id).await.unwrap();
                // An older attempt does not affect the current one.
                (!last).then_some(before)
            }
            Step::Receipt { attempt, status } => {
                let at = self.pick(attempt)?;
                if !self.attempts[at].arrives {
                    return Some(before);
                }
                self.attempts[at].settled |= by_receipt(OutboundState::Sending, status).is_some();
                let told = self.receipt(Some(self.attempts[at].id), status);
                tx.record_receipt(&told).await.unwrap();
                Some(by_receipt(before, status).unwrap_or(before))
            }
            Step::StrangeReceipt { status } => {
                let told = self.receipt(None, status);
                let outcome = tx.record_receipt(&told).await.unwrap().outcome;
                assert_eq!(outcome, ReceiptOutcome::Stranger);
                Some(before)
            }
            Step::Silence => {
                tx.cancel_unsent(self.conversation, "guest_opted_out")
                    .await
                    .unwrap();
                let stops = before == OutboundState::Queued && !self.class.is_safety();
                Some(if stops {
                    OutboundState::Suppressed
                } else {
                    before
                })
            }
        };
        tx.commit().await.unwrap();
        expected
    }

    /// Returns the index of the attempt to which a receipt or an answer belongs, perhaps an old
    /// one; `None` if there is no attempt.
    pub(crate) fn pick(&self, attempt: usize) -> Option<usize> {
        attempt.checked_rem(self.attempts.len())
    }

    pub(crate) fn receipt(&self, attempt: Option<AttemptId>, status: &str) -> NewReceipt {
        let id = attempt.map_or_else(
            || format!("stranger-{}", self.house.ids.uuid()),
            |id| format!("p-{id}"),
        );
        NewReceipt {
            provider: TELNYX.into(),
            event_id: self.house.ids.uuid().to_string(),
            status: status.into(),
            attempt_id: attempt,
            error_code: None,
            occurred_at: Clock::default().now(),
            provider_message_id: id,
            carrier: None,
        }
    }

    /// Ends the text's life: no more answers come, and the doubt of every attempt times out.
    pub(crate) async fn ends(&mut self) {
        for attempt in 0..self.attempts.len() {
            self.play(&Step::DoubtIsOver { attempt }).await;
        }
        assert_ne!(
            self.state().await,
            OutboundState::Sending,
            "somebody has the last word"
        );
    }
}
