//! Finished spans and their attributes.

use std::{borrow::Cow, time::SystemTime};

use seven_domain::TraceContext;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(Cow<'static, str>),
    Texts(Vec<String>),
    Int(i64),
    Float(f64),
    Bool(bool),
}

/// The OpenTelemetry span kinds that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Server,
    Consumer,
    Client,
    Internal,
}

/// A finished span. Its times come from the machine's clock.
#[derive(Debug, Clone)]
pub struct Finished {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// The parent's id; `None` for the first span of a trace.
    pub parent: Option<[u8; 8]>,
    pub name: Cow<'static, str>,
    pub kind: Kind,
    pub started: SystemTime,
    pub ended: SystemTime,
    pub attributes: Vec<(&'static str, Value)>,
    /// Spans of other traces that this work also served.
    pub links: Vec<TraceContext>,
    /// The reason why the work failed, as a fixed word from our code; `None` if it did not fail.
    pub error: Option<Cow<'static, str>>,
}

impl Finished {
    /// Makes a span that begins now. Until its end is set, the end equals the start.
    pub(super) fn begun(
        name: Cow<'static, str>,
        kind: Kind,
        context: TraceContext,
        parent: Option<[u8; 8]>,
    ) -> Self {
        let now = SystemTime::now();
        Self {
            trace_id: context.trace_id,
            span_id: context.span_id,
            parent,
            name,
            kind,
            started: now,
            ended: now,
            attributes: Vec::new(),
            links: Vec::new(),
            error: None,
        }
    }

    pub(super) fn put(&mut self, key: &'static str, value: Value) {
        match self.attributes.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((key, value)),
        }
    }
}

// === impl Value ===

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Float(number.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}
