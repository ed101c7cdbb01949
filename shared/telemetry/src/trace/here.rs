//! The span this task works in, kept beside the task: no function has to pass it on.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    fmt::Display,
    time::SystemTime,
};

use seven_domain::{CasinoId, TraceContext};

use super::{
    recorder::{self, is_sampled, on},
    span::{Finished, Kind, Value},
};

tokio::task_local! {
    static HERE: Here;
}

struct Here {
    stage: &'static str,
    casino: RefCell<Option<CasinoId>>,
    /// Of the span; while nothing is exported, of whatever came in.
    context: Cell<TraceContext>,
    /// The step that others are part of now.
    inside: Cell<Option<[u8; 8]>>,
    live: RefCell<Option<Box<Live>>>,
}

/// The span and the steps being recorded.
struct Live {
    span: Finished,
    steps: Vec<Finished>,
    /// Spans that belong to other traces, and whether those are sampled.
    apart: Vec<(Finished, bool)>,
    keep: bool,
    /// Leaves no span, unless something failed or names it as its parent.
    discarded: bool,
    /// Messages name it as their parent.
    named: bool,
}

// === opening a span ===

/// Runs a stage's work on one message, as a child of what published it.
pub async fn consume<F: Future>(
    stage: &'static str,
    casino: &CasinoId,
    from: TraceContext,
    kind: Kind,
    work: F,
) -> F::Output {
    HERE.scope(Here::new(stage, Some(casino.clone()), from, kind), work).await
}

/// Runs the work on a call from outside: the first span of a trace, which [`assume`] names.
pub async fn serve<F: Future>(stage: &'static str, work: F) -> F::Output {
    let here = Here::new(stage, None, TraceContext::start(), Kind::Server);
    here.rooted(None);
    HERE.scope(here, work).await
}

/// Runs work on a row whose turn came by time: a child of the webhook that its trace names.
pub async fn resume<F: Future>(stage: &'static str, casino: &CasinoId, trace: &str, work: F) -> F::Output {
    let from = trace.parse().unwrap_or_else(|_| TraceContext::start());
    HERE.scope(Here::new(stage, Some(casino.clone()), from, Kind::Internal), work).await
}

/// Runs the first work on a text that no webhook began: its trace was given when it was written.
pub async fn originate<F: Future>(stage: &'static str, casino: &CasinoId, trace: &str, work: F) -> F::Output {
    let from = trace.parse().unwrap_or_else(|_| TraceContext::start());
    let here = Here::new(stage, Some(casino.clone()), from, Kind::Internal);
    here.rooted(Some(from));
    HERE.scope(here, work).await
}

impl Here {
    fn new(stage: &'static str, casino: Option<CasinoId>, from: TraceContext, kind: Kind) -> Self {
        let here = Self {
            stage,
            casino: RefCell::new(casino),
            context: Cell::new(from),
            inside: Cell::new(None),
            live: RefCell::new(None),
        };
        if on() {
            let context = TraceContext { span_id: TraceContext::span(), ..from };
            here.context.set(context);
            let name = Cow::Owned(format!("seven.{stage}"));
            let span = Finished::begun(name, kind, context, Some(from.span_id));
            let live = Live { span, steps: Vec::new(), apart: Vec::new(), keep: false, discarded: false, named: false };
            *here.live.borrow_mut() = Some(Box::new(live));
        }
        here
    }

    /// Decides anew whether the trace is exported, whatever it turns out to be.
    fn sample(&self) {
        let context = self.context.get();
        let keep = self.live.borrow().as_ref().is_some_and(|live| live.keep);
        let sampled = keep || is_sampled(&context.trace_id, self.casino.borrow().as_ref());
        self.context.set(TraceContext { sampled, ..context });
    }

    /// The first of its trace; `context` where that is given already.
    fn rooted(&self, context: Option<TraceContext>) {
        if let Some(live) = self.live.borrow_mut().as_mut() {
            live.span.parent = None;
            if let Some(context) = context {
                self.context.set(context);
                live.span.span_id = context.span_id;
            }
        }
    }
}

impl Drop for Here {
    /// Also where the work was abandoned: what it published names this span.
    fn drop(&mut self) {
        let Some(live) = self.live.borrow_mut().take() else { return };
        let Live { mut span, mut steps, apart, keep, discarded, named } = *live;
        let failed = span.error.is_some();
        if discarded && !failed && steps.is_empty() && !keep && !named {
            return;
        }
        let context = self.context.get();
        span.ended = SystemTime::now();
        if let Some(casino) = self.casino.borrow().as_ref() {
            span.put("seven.casino_id", Value::from(casino.as_str().to_owned()));
        }
        steps.push(span);
        for step in &mut steps {
            step.trace_id = context.trace_id;
        }
        let (casino, matters) = (self.casino.borrow(), keep || failed);
        recorder::take(context.trace_id, casino.as_ref(), context.sampled || matters, matters, steps);
        for (span, sampled) in apart {
            recorder::take(span.trace_id, casino.as_ref(), sampled || matters, matters, vec![span]);
        }
    }
}

// === in a span ===

fn with<T>(act: impl FnOnce(&Here) -> T) -> Option<T> {
    HERE.try_with(act).ok()
}

fn with_live(act: impl FnOnce(&mut Live)) {
    with(|here| {
        if let Some(live) = here.live.borrow_mut().as_mut() {
            act(live);
        }
    });
}

/// Returns the context that a row or a message written now should carry; none outside of any work.
pub fn current() -> Option<TraceContext> {
    with(|here| here.context.get())
}

/// The trace this work is in, where its spans are exported.
pub fn exported() -> Option<TraceContext> {
    if on() { current().filter(|context| context.sampled) } else { None }
}

/// The context for a message whose trace is `trace`: this span, when it is of the same trace. None: as it is, also where this span is to
/// leave nothing behind and could be nobody's parent.
pub fn outgoing(trace: &str) -> Option<TraceContext> {
    let leaves_none = || with(|here| here.live.borrow().as_ref().is_some_and(|live| live.discarded)) == Some(true);
    if !on() || leaves_none() {
        return None;
    }
    let ours = current()?;
    let theirs: TraceContext = trace.parse().ok()?;
    if theirs.trace_id != ours.trace_id {
        return None;
    }
    with_live(|live| live.named = true);
    Some(ours)
}

/// The trace that the row of this work has, as `traceparent`: the work moves into it where its message brought another or none.
pub fn adopt(trace: &str) {
    let Ok(row) = trace.parse::<TraceContext>() else { return };
    with(|here| {
        let ours = here.context.get();
        let sampled = if ours.trace_id == row.trace_id { ours.sampled || row.sampled } else { row.sampled };
        if ours.trace_id == row.trace_id {
            here.context.set(TraceContext { sampled, ..ours });
            return;
        }
        let mut live = here.live.borrow_mut();
        let Some(live) = live.as_mut() else { return here.context.set(row) };
        live.span.parent = Some(row.span_id);
        // A request to keep the trace applies to the row's trace, which the work now belongs to.
        let keep = live.keep;
        here.context.set(TraceContext { trace_id: row.trace_id, sampled: sampled || keep, ..ours });
    });
}

/// Names the trace that a call from outside begins.
pub fn assume(context: TraceContext) {
    with(|here| {
        let span_id = here.context.get().span_id;
        here.context.set(TraceContext { span_id, ..context });
        here.sample();
    });
}

/// Sets the work's casino, where it becomes known only during the work, and samples the trace again
/// by that casino's share.
pub fn concern(casino: &CasinoId) {
    with(|here| {
        *here.casino.borrow_mut() = Some(casino.clone());
        here.sample();
    });
}

pub fn set(key: &'static str, value: impl Into<Value>) {
    with_live(|live| live.span.put(key, value.into()));
}

/// The value's words; written only when exported.
pub fn tell(key: &'static str, value: &dyn Display) {
    with_live(|live| live.span.put(key, Value::from(value.to_string())));
}

/// The work failed; its trace is kept (OBS-36). `why` is a word of ours.
pub fn fail(why: &str) {
    with_live(|live| live.span.error = Some(Cow::Owned(why.to_owned())));
    keep();
}

/// Exports this trace whatever the sample says: consent, guardrails, safety, failures (PROD-7,
/// OBS-3, OBS-36). Later messages of the trace carry the mark, also those that other processes
/// publish; other processes are told to export the spans of it that they still hold.
pub fn keep() {
    with(|here| {
        if let Some(live) = here.live.borrow_mut().as_mut() {
            live.keep = true;
            here.context.set(TraceContext { sampled: true, ..here.context.get() });
        }
    });
}

/// How the work ended: `waits` leaves no span, unless it had steps.
pub fn ended(outcome: &'static str, waits: bool) {
    with_live(|live| {
        live.span.put("seven.outcome", Value::from(outcome));
        live.discarded |= waits;
    });
}

/// Leaves no span of this work, unless it fails.
pub fn discard() {
    with_live(|live| live.discarded = true);
}

/// Another text was answered by this work too: its own trace gets a span that is linked to here.
pub fn join(trace: &str, name: &'static str) {
    let Ok(theirs) = trace.parse::<TraceContext>() else { return };
    with(|here| {
        let ours = here.context.get();
        if let Some(live) = here.live.borrow_mut().as_mut()
            && theirs.trace_id != ours.trace_id
        {
            live.span.links.push(theirs);
            let context = TraceContext { span_id: TraceContext::span(), ..theirs };
            let mut span = Finished::begun(Cow::Borrowed(name), Kind::Internal, context, Some(theirs.span_id));
            span.links.push(ours);
            live.apart.push((span, theirs.sampled));
        }
    });
}

// === for the steps and the log ===

pub(super) fn child(name: impl FnOnce() -> Cow<'static, str>) -> Option<Finished> {
    with(|here| {
        let live = here.live.borrow();
        live.as_ref()?;
        let context = TraceContext { span_id: TraceContext::span(), ..here.context.get() };
        let parent = here.inside.get().unwrap_or(here.context.get().span_id);
        Some(Finished::begun(name(), Kind::Internal, context, Some(parent)))
    })
    .flatten()
}

/// Makes a step the one that others are part of; tells which it was.
pub(super) fn enter(step: Option<[u8; 8]>) -> Option<[u8; 8]> {
    with(|here| here.inside.replace(step)).flatten()
}

pub(super) fn hold_step(step: Finished) {
    with_live(|live| live.steps.push(step));
}

/// Passes on the stage, casino and context of the work that a log line is written in.
pub(crate) fn told<T>(tell: impl FnOnce(&'static str, Option<&str>, TraceContext) -> T) -> Option<T> {
    with(|here| match here.casino.try_borrow() {
        Ok(casino) => tell(here.stage, casino.as_ref().map(CasinoId::as_str), here.context.get()),
        Err(_) => tell(here.stage, None, here.context.get()),
    })
}
