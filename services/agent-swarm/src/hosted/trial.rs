//! Tries the judging model on drafts of which the right verdict is known. A model that fails would
//! pass invented answers, or none; its verdicts are then not asked for.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use seven_host::{Prompt, Prompts, Verdict, draft_to_judge, guests_words, trial::CASES};
use seven_llm::chat::{ChatModel, ChatRequest, Error, Message};
use tokio::time::Instant;

/// The wait before a trial that found no answering model is repeated, once a turn asks for it.
const REPEAT_AFTER: Duration = Duration::from_secs(60);

/// The result of the trial of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitness {
    /// The model did not answer yet.
    Unknown,
    Fit,
    /// The number of drafts that it judged wrongly or not readably.
    Unfit(u8),
}

/// The fitness of a judge, which the turns of a process share.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    state: Arc<AtomicU8>,
    tried: Arc<Mutex<Option<Instant>>>,
}

const FIT: u8 = u8::MAX;

// === impl Trial ===

impl Trial {
    /// Trusts the judge without a trial.
    pub fn trusted() -> Self {
        let trial = Self::default();
        trial.state.store(FIT, Ordering::Relaxed);
        trial
    }

    pub(crate) fn fitness(&self) -> Fitness {
        match self.state.load(Ordering::Relaxed) {
            0 => Fitness::Unknown,
            FIT => Fitness::Fit,
            wrong => Fitness::Unfit(wrong),
        }
    }

    /// Starts a trial in the background, unless the result is known or a trial began shortly before.
    pub(crate) fn start(&self, judge: Arc<dyn ChatModel>, prompts: &Prompts, deadline: Duration) {
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = tried.is_none_or(|at| at.elapsed() >= REPEAT_AFTER);
        if self.fitness() != Fitness::Unknown || !is_due {
            return;
        }
        *tried = Some(Instant::now());
        let (state, requests) = (Arc::clone(&self.state), requests(prompts, deadline));
        tokio::spawn(async move {
            match examine(&*judge, &requests).await {
                Ok(Fitness::Unfit(wrong)) => {
                    state.store(wrong, Ordering::Relaxed);
                    tracing::warn!(
                        model = judge.name(),
                        wrong,
                        "the judging model does not tell right drafts from wrong ones, so drafts \
                         are compared with the offline host's answer; set [model] judge to a \
                         better model"
                    );
                }
                Ok(_) => state.store(FIT, Ordering::Relaxed),
                Err(error) => tracing::warn!(
                    model = judge.name(),
                    kind = error.kind(),
                    "the judging model could not be tried; the next turns try again"
                ),
            }
        });
    }
}

/// Returns the requests of a trial, one for each of [`CASES`].
pub fn requests(prompts: &Prompts, deadline: Duration) -> Vec<ChatRequest> {
    let request = |case: &seven_host::trial::Case| ChatRequest {
        system: prompts.render(Prompt::Validator, &case.facts()),
        messages: vec![Message::User(format!(
            "{}\n{}",
            guests_words(case.guest),
            draft_to_judge(case.draft)
        ))],
        tools: Vec::new(),
        output_schema: Some(Verdict::schema()),
        temperature: Some(0.0),
        max_output_tokens: Some(400),
        deadline,
    };
    CASES.iter().map(request).collect()
}

/// Judges the drafts of a trial. A wrong or unreadable verdict is asked for once more.
///
/// # Errors
/// The model's error if it does not answer at all.
pub async fn examine(judge: &dyn ChatModel, requests: &[ChatRequest]) -> Result<Fitness, Error> {
    let mut wrong = 0;
    for (case, request) in CASES.iter().zip(requests) {
        let mut right = false;
        for _ in 0..2 {
            right = match judge.chat(request).await {
                Ok(reply) => Verdict::parse(&reply.text)
                    .is_some_and(|verdict| case.is_judged_right(&verdict)),
                Err(Error::Answer { .. }) => false,
                Err(error) => return Err(error),
            };
            if right {
                break;
            }
        }
        wrong += u8::from(!right);
    }
    Ok(if wrong == 0 {
        Fitness::Fit
    } else {
        Fitness::Unfit(wrong)
    })
}
