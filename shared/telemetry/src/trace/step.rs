//! A part of a stage's work: a child of the stage's span, or of another step.

use std::{borrow::Cow, fmt::Display, time::SystemTime};

use super::{
    Kind, Value,
    here::{self, hold_step},
    span::Finished,
};

/// Ends when it is dropped. Empty while nothing is exported.
#[derive(Debug)]
#[must_use = "a step ends when it is dropped"]
pub struct Step {
    span: Option<Box<Finished>>,
    /// Of an entered step: what steps belonged to before.
    before: Option<Option<[u8; 8]>>,
}

/// A step of the span this task is in; empty outside of one. `prefix` and `name` together are its name, put together only when exported.
pub fn step(prefix: &'static str, name: &str) -> Step {
    Step { span: here::child(|| named(prefix, name)).map(Box::new), before: None }
}

fn named(prefix: &'static str, name: &str) -> Cow<'static, str> {
    if name.is_empty() { Cow::Borrowed(prefix) } else { Cow::Owned(format!("{prefix}{name}")) }
}

impl Step {
    /// Steps that begin before this one ends are part of it. For work that goes on one thing after the other.
    pub fn entered(mut self) -> Self {
        self.before = self.span.as_ref().map(|span| here::enter(Some(span.span_id)));
        self
    }

    /// A call to somebody else.
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

    /// The value's words; written only when exported.
    pub fn tell(&mut self, key: &'static str, value: &dyn Display) {
        if let Some(span) = &mut self.span {
            span.put(key, Value::from(value.to_string()));
        }
    }

    /// It failed; its trace is kept whatever is sampled (OBS-36). `why` is a word of ours, not somebody's message.
    pub fn fail(&mut self, why: &str) {
        if let Some(span) = &mut self.span {
            span.error = Some(Cow::Owned(why.to_owned()));
            here::keep();
        }
    }

    /// Leaves no span.
    pub fn forget(mut self) {
        self.span = None;
    }

    /// False while nothing is exported: then there is no need to find out what it would be told.
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
