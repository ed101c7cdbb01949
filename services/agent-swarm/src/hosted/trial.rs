//! Tries the judging model on drafts whose right verdict is known. A model that fails the trial is
//! not asked for verdicts, because it would pass invented answers, or pass no answer at all.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use seven_host::{Prompt, Prompts, Verdict, draft_to_judge, guests_words, trial::CASES};
use seven_llm::chat::{ChatModel, ChatRequest, Error, Message};
use tokio::time::Instant;

/// Minimum time until the next trial, if the model did not answer in the last one. Counted from the
/// beginning of the last trial. A later turn starts the next trial.
const REPEAT_AFTER: Duration = Duration::from_secs(60);
/// Minimum time until the next trial, if the model failed the last one. Counted from the beginning
/// of the last trial. The model is tried again because its server may run another model under the
/// same name.
const REPEAT_UNFIT_AFTER: Duration = Duration::from_secs(3_600);

/// The result of the trial of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitness {
    /// No trial has ended with an answer of the model yet.
    Unknown,
    Fit,
    /// The model failed; holds the number of drafts that it judged wrongly or unreadably.
    Unfit(u8),
}

/// The fitness of a judge, which the turns of a process share.
#[derive(Debug, Clone, Default)]
pub struct Trial(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    fitness: Fitness,
    running: bool,
    began: Option<Instant>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            fitness: Fitness::Unknown,
            running: false,
            began: None,
        }
    }
}

// === impl Trial ===

impl Trial {
    /// Returns a trial whose judge counts as fit without being tried.
    pub fn trusted() -> Self {
        let trial = Self::default();
        trial.state().fitness = Fitness::Fit;
        trial
    }

    pub(crate) fn fitness(&self) -> Fitness {
        self.state().fitness
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a trial in the background. Does nothing if the judge is fit, a trial is running, or
    /// the last trial began only recently.
    pub(crate) fn start(&self, judge: Arc<dyn ChatModel>, prompts: &Prompts, deadline: Duration) {
        {
            let mut state = self.state();
            let wait = match state.fitness {
                Fitness::Unknown => REPEAT_AFTER,
                Fitness::Unfit(_) => REPEAT_UNFIT_AFTER,
                Fitness::Fit => return,
            };
            if state.running || state.began.is_some_and(|at| at.elapsed() < wait) {
                return;
            }
            (state.running, state.began) = (true, Some(Instant::now()));
        }
        let (trial, requests) = (self.clone(), requests(prompts, deadline));
        tokio::spawn(async move {
            let outcome = examine(&*judge, &requests).await;
            let mut state = trial.state();
            state.running = false;
            match outcome {
                Ok(fitness) => {
                    state.fitness = fitness;
                    if let Fitness::Unfit(wrong) = fitness {
                        tracing::warn!(
                            model = judge.name(),
                            wrong,
                            "the judging model does not tell right drafts from wrong ones, so the \
                             offline host answers; set [model] judge to a better model"
                        );
                    }
                }
                Err(error) => tracing::warn!(
                    model = judge.name(),
                    kind = error.kind(),
                    "the judging model could not be tried; a later turn tries again"
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

/// Judges the drafts of a trial. An unreadable verdict is asked for once more, a wrong one is not.
///
/// # Errors
/// The model's error if it does not answer at all.
pub async fn examine(judge: &dyn ChatModel, requests: &[ChatRequest]) -> Result<Fitness, Error> {
    let mut wrong = 0;
    for (case, request) in CASES.iter().zip(requests) {
        let verdict = match verdict(judge, request).await? {
            None => verdict(judge, request).await?,
            read => read,
        };
        let right = verdict.is_some_and(|verdict| case.is_judged_right(&verdict));
        wrong += u8::from(!right);
    }
    Ok(if wrong == 0 {
        Fitness::Fit
    } else {
        Fitness::Unfit(wrong)
    })
}

/// Asks for one verdict; `None` if the answer is not readable.
async fn verdict(judge: &dyn ChatModel, request: &ChatRequest) -> Result<Option<Verdict>, Error> {
    match judge.chat(request).await {
        Ok(reply) => Ok(Verdict::parse(&reply.text).map(|(verdict, _)| verdict)),
        Err(Error::Answer { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
