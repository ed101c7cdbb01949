//! One turn as a machine (AGENT-8..17, AGENT-51, AGENT-57..59, AGENT-64): what to do next, given what came of the last step.
//!
//! A turn is made anew for every reply, so nothing of an earlier one can leak into it (AGENT-17). Whatever happens, it ends, within its
//! step budget, in something that can be said to the guest (AGENT-67).

use serde::{Deserialize, Serialize};

use crate::{Manifest, Plan};

/// The next step that the caller has to take.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Say what the texts are about.
    Route,
    /// Make the silent plan.
    Plan,
    /// Let this agent write the reply; `feedback` says what was wrong with the last one.
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
    /// The fixed text with the casino's phone, and why.
    Fallback(Reason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The model failed to write.
    Model,
    /// The validator refused the reply for good.
    Refused,
    /// The validator did not answer, and nothing may go out unjudged (D10).
    ValidatorDown,
    StepBudget,
    /// The caller reported what cannot have happened: a bug, and still no silence.
    OutOfOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Greeting,
    OffTopic,
    Domain,
}

/// The router's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    pub subject: Subject,
    /// The domain, as the router calls it; aliases are fine.
    #[serde(default)]
    pub domain: Option<String>,
    /// 0 to 1; missing counts as 0 (AGENT-11).
    #[serde(default)]
    pub confidence: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    /// Write it again, without this.
    Retry(String),
    Fail(String),
}

/// The outcome of an [`Action`].
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Routed(Route),
    RouterSlow,
    RouterUnreadable,
    /// None when the planner failed: the agent does without (AGENT-52).
    Planned(Option<Plan>),
    Spoke,
    /// The agent asks that another one answer.
    HandsTo(String),
    SpeechFailed,
    Judged(Verdict),
    /// The validator gave no verdict; whether the deterministic checks found nothing.
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
    /// Casino policy: a clean first reply may go out when the validator is away (D10, default closed).
    unjudged_may_pass: bool,
    state: State,
    agent: String,
    route: Option<Route>,
    plan: Option<Plan>,
    steps: u32,
    handoffs: u32,
    retries: u32,
    /// Nodes in the order of their visit, for `seven turn show`.
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

    /// The agent whose reply this is.
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

    /// The first thing to do.
    pub fn first(&self) -> Action {
        Action::Route
    }

    /// Returns the next action after `event`.
    pub fn next(&mut self, event: Event) -> Action {
        let action = self.after(event);
        let action = match action {
            Action::End(ending) => Action::End(ending),
            _ if self.steps >= self.manifest.limits.steps => Action::End(Ending::Fallback(Reason::StepBudget)),
            other => other,
        };
        self.enter(&action);
        action
    }

    fn after(&mut self, event: Event) -> Action {
        match (self.state, event) {
            (State::Routing, Event::Routed(route)) => self.routed(route),
            (State::Routing, Event::RouterSlow) => Action::Plan,
            (State::Routing, Event::RouterUnreadable) => Action::End(Ending::OffTopic),
            (State::Planning, Event::Planned(plan)) => {
                self.plan = plan;
                self.speak(None)
            }
            (State::Speaking, Event::Spoke) => Action::Validate { attempt: self.retries },
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
            // A greeting is harmless however unsure the router is (C-3).
            Subject::Greeting => Action::End(Ending::Greeting),
            Subject::Domain if sure => Action::Plan,
            Subject::Domain | Subject::OffTopic => Action::End(Ending::OffTopic),
        }
    }

    fn speak(&self, feedback: Option<String>) -> Action {
        Action::Speak { agent: self.agent.clone(), feedback }
    }

    /// Beyond the cap, or against the matrix, the agent has to answer by itself (C-2).
    fn handed(&mut self, to: String) -> Action {
        if self.handoffs < self.manifest.limits.handoffs && self.manifest.may_hand(&self.agent, &to) {
            self.handoffs += 1;
            self.agent = to;
            return self.speak(None);
        }
        self.speak(Some("Nobody else is free: answer this yourself, as well as you can.".to_owned()))
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

    /// A reply by an agent that may speak of offers is never sent unjudged (C-15).
    fn not_judged(&self, clean: bool) -> Action {
        let offers = self.manifest.agents.get(&self.agent).is_none_or(|agent| agent.offers);
        let open = self.unjudged_may_pass && self.retries == 0 && clean && !offers;
        Action::End(if open { Ending::Reply } else { Ending::Fallback(Reason::ValidatorDown) })
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
