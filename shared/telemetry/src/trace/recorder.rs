//! Handles finished spans. Spans of sampled or important traces are exported. Other spans are
//! buffered for a while, in case their trace becomes important. Spans beyond a limit are dropped
//! and counted.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use seven_domain::{CasinoId, TraceContext};
use tokio::{sync::mpsc, time::Instant};

use super::Finished;
use crate::metrics;

/// Maximum number of spans of unsampled traces in memory. Each stays for at most
/// `UNSAMPLED_SPAN_TTL`.
pub const HELD: usize = 4_096;
const UNSAMPLED_SPAN_TTL: Duration = Duration::from_secs(60);
/// Maximum number of traces that are remembered as important. Later spans of these traces are
/// exported, too.
const REMEMBERED: usize = 4_096;

static ON: AtomicBool = AtomicBool::new(false);
static RECORDER: RwLock<Option<Arc<Recorder>>> = RwLock::new(None);

struct Recorder {
    sample: Sample,
    places: Arc<Places>,
    outbox: mpsc::UnboundedSender<Vec<Finished>>,
    kept: mpsc::Sender<[u8; 16]>,
    held: Mutex<Held>,
}

/// Decides which traces are exported. Traces that a process marked as important are always
/// exported.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// The share of traces that are exported, from 0 to 1.
    pub share: f64,
    /// Shares of single casinos, which override `share`, for example for a load test.
    pub of: HashMap<CasinoId, f64>,
}

/// Number of spans that wait for the exporter, and the current limit on this number.
#[derive(Debug)]
struct Places {
    waiting: AtomicUsize,
    room: AtomicUsize,
}

/// The queue of spans that wait for the exporter.
#[derive(Debug)]
pub struct Outbox {
    spans: mpsc::UnboundedReceiver<Vec<Finished>>,
    places: Arc<Places>,
    /// Maximum number of spans that may wait for the exporter.
    room: usize,
}

/// Traces that other processes must export too, because this process found them important.
#[derive(Debug)]
pub struct Kept(mpsc::Receiver<[u8; 16]>);

#[derive(Default)]
struct Held {
    spans: HashMap<[u8; 16], Vec<Finished>>,
    /// For each group of spans that was buffered: the time, the trace and the number of spans,
    /// oldest first.
    order: VecDeque<(Instant, [u8; 16], usize)>,
    count: usize,
    kept: HashSet<[u8; 16]>,
    kept_order: VecDeque<[u8; 16]>,
}

/// Starts recording. `room` is the maximum number of spans that may wait for the exporter.
pub fn start(sample: Sample, room: usize) -> (Outbox, Kept) {
    let (outbox, spans) = mpsc::unbounded_channel();
    let (kept, wanted) = mpsc::channel(256);
    let places = Arc::new(Places {
        waiting: AtomicUsize::new(0),
        room: AtomicUsize::new(room),
    });
    let recorder = Recorder {
        sample,
        places: Arc::clone(&places),
        outbox,
        kept,
        held: Mutex::default(),
    };
    *RECORDER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(recorder));
    ON.store(true, Ordering::Release);
    (
        Outbox {
            spans,
            places,
            room,
        },
        Kept(wanted),
    )
}

/// Ends recording. Spans that wait in the [`Outbox`] can still be taken out.
pub fn off() {
    ON.store(false, Ordering::Release);
    *RECORDER.write().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Returns whether spans are recorded at all.
pub fn on() -> bool {
    ON.load(Ordering::Acquire)
}

fn recorder() -> Option<Arc<Recorder>> {
    RECORDER
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Returns whether this trace is exported; true if nothing is recorded. The casino's share decides,
/// or the fleet's share if the casino has none. The result depends only on the id and the shares,
/// so all processes agree.
pub fn is_sampled(trace_id: &[u8; 16], casino: Option<&CasinoId>) -> bool {
    recorder().is_none_or(|recorder| recorder.sample.takes(trace_id, casino))
}

/// Starts a trace that no webhook began. The fleet's share decides whether it is exported.
pub fn begin() -> TraceContext {
    let context = TraceContext::start();
    TraceContext {
        sampled: is_sampled(&context.trace_id, None),
        ..context
    }
}

/// Exports a trace that another process found important.
pub fn keep_trace(trace_id: [u8; 16]) {
    if let Some(recorder) = recorder() {
        let found = recorder.held().keep(trace_id).1;
        recorder.send(found);
    }
}

/// Receives the finished spans of one trace. If `matters` is true, this process found the trace
/// important, and announces it to the other processes.
pub(super) fn take(
    trace_id: [u8; 16],
    casino: Option<&CasinoId>,
    sampled: bool,
    matters: bool,
    mut spans: Vec<Finished>,
) {
    let Some(recorder) = recorder() else { return };
    if matters && !recorder.sample.takes(&trace_id, casino) {
        let (new, mut found) = recorder.held().keep(trace_id);
        found.append(&mut spans);
        spans = found;
        if new {
            // If the announcement fails (no receiver, or a full channel), this process still
            // exports its own spans.
            recorder.kept.try_send(trace_id).ok();
        }
    } else if !sampled && !recorder.held().kept.contains(&trace_id) {
        return recorder.held().hold(trace_id, spans);
    }
    recorder.send(spans);
}

// === impl Sample ===

impl Sample {
    /// Reads the last eight bytes of the trace's id as a number from 0 to 1. Returns true if this
    /// number is below the share.
    fn takes(&self, trace_id: &[u8; 16], casino: Option<&CasinoId>) -> bool {
        let share = casino
            .and_then(|casino| self.of.get(casino))
            .unwrap_or(&self.share);
        let below = (share.clamp(0.0, 1.0) * 2f64.powi(64)) as u128;
        let mut last = [0; 8];
        last.copy_from_slice(&trace_id[8..]);
        u128::from(u64::from_be_bytes(last)) < below
    }
}

// === impl Recorder ===

impl Recorder {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues spans without waiting; drops and counts those beyond the limit.
    fn send(&self, spans: Vec<Finished>) {
        let count = spans.len();
        if count == 0 {
            return;
        }
        let Places { waiting, room } = &*self.places;
        let before = waiting.fetch_add(count, Ordering::AcqRel);
        if before + count > room.load(Ordering::Acquire) || self.outbox.send(spans).is_err() {
            waiting.fetch_sub(count, Ordering::AcqRel);
            metrics()
                .spans_dropped
                .with_label_values(&["full"])
                .inc_by(u64::try_from(count).unwrap_or(u64::MAX));
        }
    }
}

// === impl Held ===

impl Held {
    fn hold(&mut self, trace_id: [u8; 16], spans: Vec<Finished>) {
        let now = Instant::now();
        self.count += spans.len();
        self.order.push_back((now, trace_id, spans.len()));
        self.spans.entry(trace_id).or_default().extend(spans);
        while let Some((at, oldest, count)) = self.order.front().copied() {
            if self.count <= HELD && now.duration_since(at) < UNSAMPLED_SPAN_TTL {
                break;
            }
            self.order.pop_front();
            // The trace may have fewer than `count` spans left, because spans were taken out for
            // export.
            if let Some(spans) = self.spans.get_mut(&oldest) {
                let count = count.min(spans.len());
                spans.drain(..count);
                self.count -= count;
                if spans.is_empty() {
                    self.spans.remove(&oldest);
                }
            }
        }
    }

    /// Marks a trace as important. Returns whether it was not marked before, and its buffered
    /// spans.
    fn keep(&mut self, trace_id: [u8; 16]) -> (bool, Vec<Finished>) {
        let new = self.kept.insert(trace_id);
        if new {
            self.kept_order.push_back(trace_id);
            if self.kept_order.len() > REMEMBERED
                && let Some(oldest) = self.kept_order.pop_front()
            {
                self.kept.remove(&oldest);
            }
        }
        let found = self.spans.remove(&trace_id).unwrap_or_default();
        self.count -= found.len();
        (new, found)
    }
}

// === impl Outbox ===

impl Outbox {
    /// Returns the next batch of about `most` spans. Waits for the first span, but for no more.
    /// `None` once recording has ended and the queue is empty.
    pub async fn next(&mut self, most: usize) -> Option<Vec<Finished>> {
        let mut batch = self.spans.recv().await?;
        if batch.len() < most {
            batch.extend(self.more(most - batch.len()));
        }
        Some(batch)
    }

    /// Returns about `most` of the spans that are already queued.
    pub fn more(&mut self, most: usize) -> Vec<Finished> {
        let mut batch = Vec::new();
        while batch.len() < most
            && let Ok(more) = self.spans.try_recv()
        {
            batch.extend(more);
        }
        batch
    }

    /// Lowers the number of waiting spans by `count`. The caller has exported or dropped these
    /// spans.
    pub fn done(&self, count: usize) {
        self.places.waiting.fetch_sub(count, Ordering::AcqRel);
    }

    /// Sets the limit on waiting spans, to no more than the limit given to [`start`]. The exporter
    /// lowers the limit while the collector does not answer.
    pub fn limit(&self, most: usize) {
        self.places
            .room
            .store(most.min(self.room), Ordering::Release);
    }
}

// === impl Kept ===

impl Kept {
    /// Returns the next trace to announce to other processes; `None` once recording has ended.
    pub async fn next(&mut self) -> Option<[u8; 16]> {
        self.0.recv().await
    }
}
