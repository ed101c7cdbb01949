//! One turn as a state machine. The caller reports the outcome of an action, and the machine
//! returns the next action.
//!
//! Each reply gets a new [`Turn`], so an earlier turn cannot affect the reply. Every sequence of
//! events ends with a text for the guest, within the step budget.

use serde::{Deserialize, Serialize};

use crate::{Manifest, Plan};

/// The next step that the caller has to take.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Classify the guest's texts.
    Route,
    /// Make the plan, which the guest never sees.
    Plan,
    /// Let this agent write the reply. `feedback` says what the agent must do differently this
    /// time; `None` if the agent may write freely.
    Speak {
        agent: String,
        feedback: Option<String>,
    },
    /// Judge the reply; `attempt` counts from 0.
    Validate {
        attempt: u32,
    },
    End(Ending),
}

/// The text that the guest gets at the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The active agent's last reply.
    Reply,
    Greeting,
    OffTopic,
    /// The fixed text with the casino's phone number, and the reason for sending it.
    Fallback(Reason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The model failed to write a reply.
    Model,
    /// The validator rejected the reply, and no rewrite is allowed.
    Refused,
    /// The validator did not answer, and this reply may not go out without its verdict (D10).
    ValidatorDown,
    StepBudget,
    /// The caller reported an impossible event. This is a bug, but the guest still gets a text.
    OutOfOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Greeting,
    OffTopic,
    Domain,
}

/// The router's answer: its classification of the guest's texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    pub subject: Subject,
    /// The domain in the router's words: an agent's name or one of its subjects, aliases included.
    #[serde(default)]
    pub domain: Option<String>,
    /// From 0 to 1; counts as 0 if missing.
    #[serde(default)]
    pub confidence: f64,
}

impl Route {
    /// Returns the model's route if the model is sure of it, otherwise `own`, the offline host's
    /// route. If the offline host can answer from the content (`answers`), `own` also replaces a
    /// model's greeting or off-topic route: a model's mistake must not cost the guest an answer.
    #[must_use]
    pub fn or_own(model: Option<Self>, own: Self, answers: bool, least_confidence: f64) -> Self {
        let sure = model.filter(|route| match route.subject {
            Subject::Greeting => !answers,
            Subject::OffTopic => !answers && route.confidence >= least_confidence,
            Subject::Domain => route.confidence >= least_confidence,
        });
        sure.unwrap_or(own)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    /// Write the reply again with this feedback.
    Retry(String),
    Fail(String),
}

/// The outcome of an [`Action`].
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Routed(Route),
    /// `None` if the planner failed; the agent then works without a plan.
    Planned(Option<Plan>),
    Spoke,
    /// The agent hands the turn to another agent.
    HandsTo(String),
    SpeechFailed,
    Judged(Verdict),
    /// The validator gave no verdict; `clean` is true if the checks in code found nothing.
    NotJudged {
        clean: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Routing,
    Planning,
    Speaking,
    Validating,
    Ended,
}

/// A turn in progress.
#[derive(Debug, Clone)]
pub struct Turn<'a> {
    manifest: &'a Manifest,
    /// Whether a clean first reply may go out without a verdict if the validator does not answer
    /// (D10).
    unjudged_may_pass: bool,
    state: State,
    agent: String,
    route: Option<Route>,
    plan: Option<Plan>,
    steps: u32,
    handoffs: u32,
    retries: u32,
    /// The nodes (router, planner, agents, ...) in the order in which the turn entered them, for
    /// `seven turn show`.
    path: Vec<String>,
}

impl<'a> Turn<'a> {
    pub fn new(manifest: &'a Manifest, unjudged_may_pass: bool) -> Self {
        Self {
            manifest,
            unjudged_may_pass,
            state: State::Routing,
            agent: manifest.default_agent.clone(),
            route: None,
            plan: None,
            steps: 1,
            handoffs: 0,
            retries: 0,
            path: vec!["router".to_owned()],
        }
    }

    /// Returns the agent that writes, or wrote, the reply.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    pub fn route(&self) -> Option<&Route> {
        self.route.as_ref()
    }

    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    pub fn path(&self) -> &[String] {
        &self.path
    }

    pub fn handoffs(&self) -> u32 {
        self.handoffs
    }

    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Returns the first action of a turn.
    pub fn first(&self) -> Action {
        Action::Route
    }

    /// Returns the next action after `event`.
    pub fn next(&mut self, event: Event) -> Action {
        let action = self.after(event);
        let action = match action {
            Action::End(ending) => Action::End(ending),
            _ if self.steps >= self.manifest.limits.steps => {
                Action::End(Ending::Fallback(Reason::StepBudget))
            }
            other => other,
        };
        self.enter(&action);
        action
    }

    fn after(&mut self, event: Event) -> Action {
        match (self.state, event) {
            (State::Routing, Event::Routed(route)) => self.routed(route),
            (State::Planning, Event::Planned(plan)) => {
                self.plan = plan;
                self.speak(None)
            }
            (State::Speaking, Event::Spoke) => Action::Validate {
                attempt: self.retries,
            },
            (State::Speaking, Event::HandsTo(to)) => self.handed(to),
            (State::Speaking, Event::SpeechFailed) => Action::End(Ending::Fallback(Reason::Model)),
            (State::Validating, Event::Judged(verdict)) => self.judged(verdict),
            (State::Validating, Event::NotJudged { clean }) => self.not_judged(clean),
            (_, _) => Action::End(Ending::Fallback(Reason::OutOfOrder)),
        }
    }

    fn routed(&mut self, route: Route) -> Action {
        let sure = route.confidence >= self.manifest.limits.least_confidence;
        self.agent = self.manifest.agent_for(route.domain.as_deref()).to_owned();
        let subject = route.subject;
        self.route = Some(route);
        match subject {
            // Needs no confidence, because a greeting does no harm even if the router is wrong.
            Subject::Greeting => Action::End(Ending::Greeting),
            Subject::Domain if sure => Action::Plan,
            Subject::Domain | Subject::OffTopic => Action::End(Ending::OffTopic),
        }
    }

    fn speak(&self, feedback: Option<String>) -> Action {
        Action::Speak {
            agent: self.agent.clone(),
            feedback,
        }
    }

    /// Hands the turn to the agent `to`, if the current agent's `hands_to` lists `to` and the limit
    /// of handoffs is not reached. Otherwise the current agent must answer.
    fn handed(&mut self, to: String) -> Action {
        if self.handoffs < self.manifest.limits.handoffs && self.manifest.may_hand(&self.agent, &to)
        {
            self.handoffs += 1;
            self.agent = to;
            return self.speak(None);
        }
        self.speak(Some(
            "Nobody else is free: answer this yourself, as well as you can.".to_owned(),
        ))
    }

    fn judged(&mut self, verdict: Verdict) -> Action {
        match verdict {
            Verdict::Pass => Action::End(Ending::Reply),
            Verdict::Retry(why) if self.retries < self.manifest.limits.retries => {
                self.retries += 1;
                self.speak(Some(why))
            }
            Verdict::Retry(_) | Verdict::Fail(_) => Action::End(Ending::Fallback(Reason::Refused)),
        }
    }

    /// Ends a turn whose reply got no verdict. The reply of an agent that may speak of offers is
    /// never sent in this case.
    fn not_judged(&self, clean: bool) -> Action {
        let offers = self
            .manifest
            .agents
            .get(&self.agent)
            .is_none_or(|agent| agent.offers);
        let open = self.unjudged_may_pass && self.retries == 0 && clean && !offers;
        Action::End(if open {
            Ending::Reply
        } else {
            Ending::Fallback(Reason::ValidatorDown)
        })
    }

    fn enter(&mut self, action: &Action) {
        let (state, node) = match action {
            Action::Route => (State::Routing, "router".to_owned()),
            Action::Plan => (State::Planning, "planner".to_owned()),
            Action::Speak { agent, .. } => (State::Speaking, agent.clone()),
            Action::Validate { .. } => (State::Validating, "validator".to_owned()),
            Action::End(Ending::Fallback(_)) => (State::Ended, "fallback".to_owned()),
            Action::End(Ending::Reply) => (State::Ended, "reply".to_owned()),
            Action::End(Ending::Greeting) => (State::Ended, "greeting".to_owned()),
            Action::End(Ending::OffTopic) => (State::Ended, "off_topic".to_owned()),
        };
        self.state = state;
        self.steps += 1;
        self.path.push(node);
    }
}

#[cfg(test)]
mod tests;
