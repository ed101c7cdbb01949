//! Keeps the span of the current task in a task-local variable, so that functions need not pass it
//! on.

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
    /// The span's context; if spans are not recorded, the context of the inbound message.
    context: Cell<TraceContext>,
    /// The current step, which is the parent of steps that begin now.
    inside: Cell<Option<[u8; 8]>>,
    live: RefCell<Option<Box<Live>>>,
}

/// The span and its steps, while they are being recorded.
struct Live {
    span: Finished,
    steps: Vec<Finished>,
    /// Spans that belong to other traces, and whether each of those traces is sampled.
    apart: Vec<(Finished, bool)>,
    keep: bool,
    /// If true, the span is dropped. It is recorded all the same if the work fails, has steps or is
    /// kept, or if `named` is true.
    discarded: bool,
    /// Whether a published message names this span as its parent.
    named: bool,
}

// === opening a span ===

/// Runs a stage's work on one message. The work's span is a child of the span that published the
/// message.
pub async fn consume<F: Future>(
    stage: &'static str,
    casino: &CasinoId,
    from: TraceContext,
    kind: Kind,
    work: F,
) -> F::Output {
    HERE.scope(Here::new(stage, Some(casino.clone()), from, kind), work)
        .await
}

/// Runs the work for a call from outside the fleet. The work's span is the first of its trace;
/// [`assume`] sets the trace's id.
pub async fn serve<F: Future>(stage: &'static str, work: F) -> F::Output {
    let here = Here::new(stage, None, TraceContext::start(), Kind::Server);
    here.rooted(None);
    HERE.scope(here, work).await
}

/// Runs scheduled work on a row. The work's span is a child of the webhook's span; the row's column
/// `trace` has the context of the webhook's span.
pub async fn resume<F: Future>(
    stage: &'static str,
    casino: &CasinoId,
    trace: &str,
    work: F,
) -> F::Output {
    let from = trace.parse().unwrap_or_else(|_| TraceContext::start());
    HERE.scope(
        Here::new(stage, Some(casino.clone()), from, Kind::Internal),
        work,
    )
    .await
}

/// Runs the first work on a text that no webhook caused. `trace` was chosen when the text was
/// written. The work's span is the first span of this trace.
pub async fn originate<F: Future>(
    stage: &'static str,
    casino: &CasinoId,
    trace: &str,
    work: F,
) -> F::Output {
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
            let context = TraceContext {
                span_id: TraceContext::span(),
                ..from
            };
            here.context.set(context);
            let name = Cow::Owned(format!("seven.{stage}"));
            let span = Finished::begun(name, kind, context, Some(from.span_id));
            let live = Live {
                span,
                steps: Vec::new(),
                apart: Vec::new(),
                keep: false,
                discarded: false,
                named: false,
            };
            *here.live.borrow_mut() = Some(Box::new(live));
        }
        here
    }

    /// Decides whether the trace is exported. Called when the trace or its casino becomes known,
    /// because either may change the decision.
    fn sample(&self) {
        let context = self.context.get();
        let keep = self.live.borrow().as_ref().is_some_and(|live| live.keep);
        let sampled = keep || is_sampled(&context.trace_id, self.casino.borrow().as_ref());
        self.context.set(TraceContext { sampled, ..context });
    }

    /// Makes the span the first of its trace. `context` is `Some` if the trace and its first span
    /// already have ids.
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
    /// Passes the spans to the recorder, even if the work was cancelled: messages that the work
    /// published may name this span as their parent.
    fn drop(&mut self) {
        let Some(live) = self.live.borrow_mut().take() else {
            return;
        };
        let Live {
            mut span,
            mut steps,
            apart,
            keep,
            discarded,
            named,
        } = *live;
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
        recorder::take(
            context.trace_id,
            casino.as_ref(),
            context.sampled || matters,
            matters,
            steps,
        );
        for (span, sampled) in apart {
            recorder::take(
                span.trace_id,
                casino.as_ref(),
                sampled || matters,
                matters,
                vec![span],
            );
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

/// Returns the trace context to write into a row or message; `None` if no work is running.
pub fn current() -> Option<TraceContext> {
    with(|here| here.context.get())
}

/// Returns the current trace context if its spans are exported.
pub fn exported() -> Option<TraceContext> {
    if on() {
        current().filter(|context| context.sampled)
    } else {
        None
    }
}

/// Returns the trace context to publish with a message whose trace is `trace`. This is the context
/// of the current span, if the span belongs to that trace and is not discarded. `None`: the message
/// keeps its own context.
pub fn outgoing(trace: &str) -> Option<TraceContext> {
    let leaves_none = || {
        with(|here| {
            here.live
                .borrow()
                .as_ref()
                .is_some_and(|live| live.discarded)
        }) == Some(true)
    };
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

/// Moves the work into the trace of its row, if the message carried no trace or a different one.
/// `trace` is the row's `traceparent`.
pub fn adopt(trace: &str) {
    let Ok(row) = trace.parse::<TraceContext>() else {
        return;
    };
    with(|here| {
        let ours = here.context.get();
        let sampled = if ours.trace_id == row.trace_id {
            ours.sampled || row.sampled
        } else {
            row.sampled
        };
        if ours.trace_id == row.trace_id {
            here.context.set(TraceContext { sampled, ..ours });
            return;
        }
        let mut live = here.live.borrow_mut();
        let Some(live) = live.as_mut() else {
            return here.context.set(row);
        };
        live.span.parent = Some(row.span_id);
        // If `keep` marked the message's trace, the row's trace is exported now, because the work
        // moves there.
        let keep = live.keep;
        here.context.set(TraceContext {
            trace_id: row.trace_id,
            sampled: sampled || keep,
            ..ours
        });
    });
}

/// Sets the trace of work that [`serve`] runs.
pub fn assume(context: TraceContext) {
    with(|here| {
        let span_id = here.context.get().span_id;
        here.context.set(TraceContext { span_id, ..context });
        here.sample();
    });
}

/// Sets the work's casino once it is known. A casino may have its own share of exported traces, so
/// this decides again whether the trace is exported.
pub fn concern(casino: &CasinoId) {
    with(|here| {
        *here.casino.borrow_mut() = Some(casino.clone());
        here.sample();
    });
}

pub fn set(key: &'static str, value: impl Into<Value>) {
    with_live(|live| live.span.put(key, value.into()));
}

/// Adds an attribute; its value is formatted only if the span is recorded.
pub fn tell(key: &'static str, value: &dyn Display) {
    with_live(|live| live.span.put(key, Value::from(value.to_string())));
}

/// Marks the work as failed and exports its trace. `why` is a fixed word from our code.
pub fn fail(why: &str) {
    with_live(|live| live.span.error = Some(Cow::Owned(why.to_owned())));
    keep();
}

/// Exports this trace even if it is not sampled: for consent, guardrails, safety and failures.
/// Later messages carry the sampled flag, and other processes export their buffered spans of this
/// trace.
pub fn keep() {
    with(|here| {
        if let Some(live) = here.live.borrow_mut().as_mut() {
            live.keep = true;
            here.context.set(TraceContext {
                sampled: true,
                ..here.context.get()
            });
        }
    });
}

/// Records the outcome of the work. If `waits` is true, the span is discarded as by [`discard`].
pub fn ended(outcome: &'static str, waits: bool) {
    with_live(|live| {
        live.span.put("seven.outcome", Value::from(outcome));
        live.discarded |= waits;
    });
}

/// Drops the span of this work. The span is recorded all the same if the work fails, has steps or
/// is kept, or if a published message names it as its parent.
pub fn discard() {
    with_live(|live| live.discarded = true);
}

/// Records that this work also answered another text, whose trace is `trace`. Adds a span to that
/// trace, and links it with the current span.
pub fn join(trace: &str, name: &'static str) {
    let Ok(theirs) = trace.parse::<TraceContext>() else {
        return;
    };
    with(|here| {
        let ours = here.context.get();
        if let Some(live) = here.live.borrow_mut().as_mut()
            && theirs.trace_id != ours.trace_id
        {
            live.span.links.push(theirs);
            let context = TraceContext {
                span_id: TraceContext::span(),
                ..theirs
            };
            let mut span = Finished::begun(
                Cow::Borrowed(name),
                Kind::Internal,
                context,
                Some(theirs.span_id),
            );
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
        let context = TraceContext {
            span_id: TraceContext::span(),
            ..here.context.get()
        };
        let parent = here.inside.get().unwrap_or(here.context.get().span_id);
        Some(Finished::begun(
            name(),
            Kind::Internal,
            context,
            Some(parent),
        ))
    })
    .flatten()
}

/// Makes `step` the parent of new steps and returns the previous parent.
pub(super) fn enter(step: Option<[u8; 8]>) -> Option<[u8; 8]> {
    with(|here| here.inside.replace(step)).flatten()
}

pub(super) fn hold_step(step: Finished) {
    with_live(|live| live.steps.push(step));
}

/// Calls `tell` with the stage, casino and context of the current work, for use in a log line.
pub(crate) fn told<T>(
    tell: impl FnOnce(&'static str, Option<&str>, TraceContext) -> T,
) -> Option<T> {
    with(|here| match here.casino.try_borrow() {
        Ok(casino) => tell(
            here.stage,
            casino.as_ref().map(CasinoId::as_str),
            here.context.get(),
        ),
        Err(_) => tell(here.stage, None, here.context.get()),
    })
}
