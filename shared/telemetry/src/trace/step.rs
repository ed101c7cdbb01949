//! A part of a stage's work, recorded as a child of the stage's span or of another step.

use std::{borrow::Cow, fmt::Display, time::SystemTime};

use super::{
    Kind, Value,
    here::{self, hold_step},
    span::Finished,
};

/// A step, which ends when it is dropped. While no spans are recorded, a step does nothing.
#[derive(Debug)]
#[must_use = "a step ends when it is dropped"]
pub struct Step {
    span: Option<Box<Finished>>,
    /// The parent of new steps before [`Step::entered`]. It is restored when this step ends. The
    /// outer `None` means that the step was not entered.
    before: Option<Option<[u8; 8]>>,
}

/// Starts a step of the current task's span; outside of a span, the step records nothing. The
/// step's name is `prefix` followed by `name`.
pub fn step(prefix: &'static str, name: &str) -> Step {
    Step {
        span: here::child(|| named(prefix, name)).map(Box::new),
        before: None,
    }
}

fn named(prefix: &'static str, name: &str) -> Cow<'static, str> {
    if name.is_empty() {
        Cow::Borrowed(prefix)
    } else {
        Cow::Owned(format!("{prefix}{name}"))
    }
}

impl Step {
    /// Makes this step the parent of all steps that begin before it ends. Use this only if no steps
    /// run in parallel.
    pub fn entered(mut self) -> Self {
        self.before = self
            .span
            .as_ref()
            .map(|span| here::enter(Some(span.span_id)));
        self
    }

    /// Marks the step as a call to another system.
    pub fn client(mut self) -> Self {
        if let Some(span) = &mut self.span {
            span.kind = Kind::Client;
        }
        self
    }

    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.span {
            span.put(key, value.into());
        }
    }

    /// Adds an attribute; its value is formatted only if the step is recorded.
    pub fn tell(&mut self, key: &'static str, value: &dyn Display) {
        if let Some(span) = &mut self.span {
            span.put(key, Value::from(value.to_string()));
        }
    }

    /// Marks the step as failed and exports its trace even if it is not sampled. `why` is a fixed
    /// word from our code, never a library's message.
    pub fn fail(&mut self, why: &str) {
        if let Some(span) = &mut self.span {
            span.error = Some(Cow::Owned(why.to_owned()));
            here::keep();
        }
    }

    /// Ends the step without recording it.
    pub fn forget(mut self) {
        self.span = None;
    }

    /// Returns whether the step is recorded; otherwise, callers need not compute its attributes.
    pub fn is_recorded(&self) -> bool {
        self.span.is_some()
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            here::enter(before);
        }
        if let Some(mut span) = self.span.take() {
            span.ended = SystemTime::now();
            hold_step(*span);
        }
    }
}
