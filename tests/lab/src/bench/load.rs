//! Sends guests' texts either at a fixed rate, however slow the fleet is, or as fast as the fleet
//! answers. The carrier simulator's ledger gives the times of each text.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use seven_carrier_sim::{Entry, News, Sim, Text};
use tokio::{
    sync::{Notify, broadcast},
    time::{Instant, sleep_until, timeout},
};
use uuid::Uuid;

use super::{
    ground::casino_number,
    measure::{Run, Sample},
};

/// Ordinary questions that the host answers from the demo content in one text.
const QUESTIONS: [&str; 8] = [
    "when does the pool open?",
    "what time is checkout?",
    "is there a steakhouse?",
    "do you have a spa?",
    "where can I park?",
    "any shows this weekend?",
    "is there a buffet for breakfast?",
    "do you have rooms with two beds?",
];

/// Area codes of the guests, each with ten thousand numbers; casinos use another area code.
const AREAS: [&str; 6] = ["401", "475", "203", "212", "646", "917"];

/// If no new answer comes for this time, the run fails.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The pace at which texts are sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// Texts per second, whether or not they are answered.
    Rate(f64),
    /// As fast as the fleet answers: this number of texts is unanswered at any time.
    UnderWay(usize),
}

/// Guests who send one text each, alternating between the casinos.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guests {
    pub(super) casinos: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Guests {
    /// Returns the n-th guest's phone number, in the fictional exchange 555.
    pub(super) fn phone(self, n: usize) -> String {
        let n = self.first + n;
        format!("+1{}555{:04}", AREAS[n / 10_000 % AREAS.len()], n % 10_000)
    }
}

#[derive(Debug, Default)]
struct Heard {
    samples: HashMap<String, Sample>,
    /// Guest of each inbound webhook, by delivery id.
    deliveries: HashMap<Uuid, String>,
    requests: usize,
    answered: usize,
    refused: usize,
}

/// Sends one text per guest and returns when every guest has an answer; fails when no answer comes
/// for [`ANSWER_TIMEOUT`].
pub(super) async fn play(sim: &Sim, guests: Guests, pace: Pace) -> Result<Run> {
    let heard = Arc::new(Mutex::new(Heard::default()));
    let progress = Arc::new(Notify::new());
    let listening = tokio::spawn(listen(
        sim.ledger().subscribe(),
        heard.clone(),
        progress.clone(),
    ));
    let began = Instant::now();
    let mut texted = 0;
    while texted < guests.count {
        let intended = match pace {
            Pace::Rate(rate) => {
                let at = began + Duration::from_secs_f64(texted as f64 / rate);
                sleep_until(at).await;
                at
            }
            Pace::UnderWay(most) => {
                while texted - answered(&heard) >= most {
                    let more = timeout(ANSWER_TIMEOUT, progress.notified()).await;
                    more.with_context(|| {
                        format!("{most} texts are under way and none is answered")
                    })?;
                }
                Instant::now()
            }
        };
        let from = guests.phone(texted);
        lock(&heard).samples.insert(
            from.clone(),
            Sample {
                intended,
                accepted: None,
                requested: None,
            },
        );
        let to = Some(casino_number(texted % guests.casinos));
        let text = Some(QUESTIONS[texted % QUESTIONS.len()].to_owned());
        sim.text(Text {
            from,
            to,
            text,
            ..Text::default()
        })?;
        texted += 1;
    }
    let settled = settle(&heard, &progress, guests.count).await;
    listening.abort();
    let heard = std::mem::take(&mut *lock(&heard));
    if heard.refused > 0 {
        bail!(
            "the carrier refused {} sends of a measurement",
            heard.refused
        );
    }
    let answered = heard.answered;
    settled.with_context(|| format!("{answered} of {} texts were answered", guests.count))?;
    Ok(Run {
        began,
        samples: heard.samples.into_values().collect(),
        requests: heard.requests,
    })
}

fn lock(heard: &Mutex<Heard>) -> std::sync::MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answered(heard: &Mutex<Heard>) -> usize {
    lock(heard).answered
}

async fn settle(heard: &Mutex<Heard>, progress: &Notify, count: usize) -> Result<()> {
    loop {
        // Registers for the notification before it checks the count, so that the last answer is not
        // missed.
        let more = progress.notified();
        if answered(heard) >= count {
            return Ok(());
        }
        timeout(ANSWER_TIMEOUT, more)
            .await
            .context("no answer came any more")?;
    }
}

async fn listen(
    mut news: broadcast::Receiver<News>,
    heard: Arc<Mutex<Heard>>,
    progress: Arc<Notify>,
) {
    loop {
        match news.recv().await {
            Ok(said) => {
                if lock(&heard).hear(said) {
                    progress.notify_one();
                }
            }
            // A missed entry leaves its text without an answer, so the measurement fails later.
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                tracing::error!(missed, "the measurement fell behind");
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

impl Heard {
    /// Returns true when the entry is the first text of an answer to a guest.
    fn hear(&mut self, News { guest, entry }: News) -> bool {
        let now = Instant::now();
        match entry {
            Entry::Inbound(text) => {
                self.deliveries.insert(text.delivery.id, guest);
            }
            Entry::Attempt { delivery, attempt } if attempt.acknowledged() => {
                let sample = self
                    .deliveries
                    .get(&delivery)
                    .and_then(|guest| self.samples.get_mut(guest));
                if let Some(sample) = sample {
                    sample.accepted.get_or_insert(now);
                }
            }
            Entry::Accepted(_) => {
                self.requests += 1;
                if let Some(sample) = self.samples.get_mut(&guest)
                    && sample.requested.is_none()
                {
                    sample.requested = Some(now);
                    self.answered += 1;
                    return true;
                }
            }
            Entry::Refused(_) => self.refused += 1,
            Entry::Attempt { .. }
            | Entry::Status { .. }
            | Entry::Receipt { .. }
            | Entry::Settled { .. } => {}
        }
        false
    }
}
