//! The record of everything that the simulator saw. It is kept in memory, sent to listeners and
//! appended to a file.

use std::{
    collections::{HashMap, HashSet},
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Mutex,
};

use serde::Serialize;
use tokio::sync::broadcast;
use uuid::Uuid;

use crate::{
    error::Error,
    lock::lock,
    record::{Delivery, Entry, Inbound, Outbound, Refusal},
};

/// Maximum number of entries that a listener may be behind. A listener that falls further behind
/// gets an error and has to read the ledger again.
const BACKLOG: usize = 1024;

/// All records of the simulator. Its lock is never held across an await.
#[derive(Debug)]
pub struct Ledger {
    state: Mutex<State>,
    news: broadcast::Sender<News>,
}

/// A new entry, and the guest whom it concerns.
#[derive(Debug, Clone, Serialize)]
pub struct News {
    pub guest: String,
    pub entry: Entry,
}

/// The records so far, oldest first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Snapshot {
    pub inbound: Vec<Inbound>,
    pub outbound: Vec<Outbound>,
    pub refused: Vec<Refusal>,
}

#[derive(Debug, Default)]
struct State {
    records: Snapshot,
    /// Positions of sends in `records`, by message id. Later entries about a send carry only its
    /// message id.
    sends: HashMap<String, usize>,
    /// Positions of webhook deliveries in `records`, by delivery id. Later entries about a delivery
    /// carry only its id.
    deliveries: HashMap<Uuid, DeliveryIndex>,
    /// Pairs of a casino's number and a guest's number. After a STOP, Telnyx itself refuses sends
    /// from the first to the second.
    blocked: HashSet<(String, String)>,
    file: Option<File>,
}

#[derive(Debug, Clone, Copy)]
enum DeliveryIndex {
    Inbound(usize),
    Receipt { send: usize, receipt: usize },
}

// === impl Ledger ===

impl Ledger {
    /// Opens an empty ledger. With `path`, reads the ledger in that file first, and appends new
    /// entries to it.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Error> {
        let mut state = State::default();
        if let Some(path) = path {
            state.resume(path).map_err(|source| Error::LedgerFile {
                path: PathBuf::from(path),
                source,
            })?;
        }
        Ok(Self {
            state: Mutex::new(state),
            news: broadcast::Sender::new(BACKLOG),
        })
    }

    pub(crate) fn record(&self, entry: Entry) {
        let mut state = lock(&self.state);
        state.append(&entry);
        let guest = state.apply(entry.clone());
        // Sent under the lock, so that listeners get entries in the ledger's order. An error means
        // only that nobody listens.
        let _heard_by = self.news.send(News { guest, entry });
    }

    /// Subscribes to all entries from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    pub fn snapshot(&self) -> Snapshot {
        lock(&self.state).records.clone()
    }

    /// Returns only the records that concern one guest's number.
    pub fn of_guest(&self, guest: &str) -> Snapshot {
        let state = lock(&self.state);
        let Snapshot {
            inbound,
            outbound,
            refused,
        } = &state.records;
        Snapshot {
            inbound: inbound
                .iter()
                .filter(|text| text.from == guest)
                .cloned()
                .collect(),
            outbound: outbound
                .iter()
                .filter(|send| send.to == guest)
                .cloned()
                .collect(),
            refused: refused
                .iter()
                .filter(|send| send.to.as_deref() == Some(guest))
                .cloned()
                .collect(),
        }
    }

    pub fn outbound(&self, message_id: &str) -> Option<Outbound> {
        let state = lock(&self.state);
        state
            .sends
            .get(message_id)
            .and_then(|at| state.records.outbound.get(*at))
            .cloned()
    }

    pub fn inbound(&self, message_id: &str) -> Option<Inbound> {
        lock(&self.state)
            .records
            .inbound
            .iter()
            .rev()
            .find(|text| text.message_id == message_id)
            .cloned()
    }

    pub(crate) fn delivery(&self, id: Uuid) -> Option<Delivery> {
        lock(&self.state).delivery_mut(id).cloned()
    }

    pub(crate) fn is_blocked(&self, casino: &str, guest: &str) -> bool {
        lock(&self.state)
            .blocked
            .contains(&(casino.to_owned(), guest.to_owned()))
    }

    /// Deletes all records, and empties the file. Calls that are in progress leave no record when
    /// they end.
    pub fn clear(&self) {
        let mut state = lock(&self.state);
        let file = state.file.take();
        if let Some(Err(error)) = file.as_ref().map(|file| file.set_len(0)) {
            tracing::warn!(%error, "ledger file not emptied");
        }
        *state = State {
            file,
            ..State::default()
        };
    }
}

// === impl State ===

impl State {
    fn resume(&mut self, path: &Path) -> std::io::Result<()> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        let mut lines = Vec::new();
        file.read_to_end(&mut lines)?;
        for line in lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            match serde_json::from_slice(line) {
                Ok(entry) => drop(self.apply(entry)),
                Err(error) => tracing::warn!(%error, "ledger line skipped"),
            }
        }
        // If the process was killed during a write, the last line is incomplete. The next entry
        // must begin a new line.
        if lines.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }
        self.file = Some(file);
        Ok(())
    }

    /// Appends an entry with a single write. No flush is needed: even if this process is killed,
    /// the operating system completes the write.
    fn append(&mut self, entry: &Entry) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_vec(entry)
            .map_err(std::io::Error::from)
            .and_then(|mut line| {
                line.push(b'\n');
                file.write_all(&line)
            });
        if let Err(error) = written {
            tracing::warn!(%error, "ledger line not written");
        }
    }

    /// Adds the entry to the records and returns the guest whom it concerns (empty when unknown).
    fn apply(&mut self, entry: Entry) -> String {
        match entry {
            Entry::Inbound(text) => {
                let guest = text.from.clone();
                let pair = (text.to.clone(), guest.clone());
                match text.autoresponse_type.as_deref() {
                    Some("STOP") => drop(self.blocked.insert(pair)),
                    Some("START") => drop(self.blocked.remove(&pair)),
                    _ => {}
                }
                self.deliveries.insert(
                    text.delivery.id,
                    DeliveryIndex::Inbound(self.records.inbound.len()),
                );
                self.records.inbound.push(text);
                guest
            }
            Entry::Accepted(send) => {
                let guest = send.to.clone();
                self.sends
                    .insert(send.id.clone(), self.records.outbound.len());
                self.records.outbound.push(send);
                guest
            }
            Entry::Refused(refusal) => {
                let guest = refusal.to.clone().unwrap_or_default();
                self.records.refused.push(refusal);
                guest
            }
            Entry::Status {
                message_id,
                status,
                at,
                errors,
            } => {
                let Some((_, send)) = self.send_mut(&message_id) else {
                    return String::new();
                };
                if status == "sent" {
                    send.sent_at = Some(at);
                } else {
                    send.completed_at = Some(at);
                }
                send.status = status;
                send.errors = errors;
                send.to.clone()
            }
            Entry::Receipt {
                message_id,
                receipt,
            } => {
                let Some((at, send)) = self.send_mut(&message_id) else {
                    return String::new();
                };
                let place = DeliveryIndex::Receipt {
                    send: at,
                    receipt: send.receipts.len(),
                };
                let (delivery, guest) = (receipt.delivery.id, send.to.clone());
                send.receipts.push(receipt);
                self.deliveries.insert(delivery, place);
                guest
            }
            Entry::Attempt { delivery, attempt } => {
                if let Some(record) = self.delivery_mut(delivery) {
                    record.attempts.push(attempt);
                }
                self.guest_of(delivery)
            }
            Entry::Settled { delivery, state } => {
                if let Some(record) = self.delivery_mut(delivery) {
                    record.state = state;
                }
                self.guest_of(delivery)
            }
        }
    }

    fn send_mut(&mut self, message_id: &str) -> Option<(usize, &mut Outbound)> {
        let at = *self.sends.get(message_id)?;
        self.records.outbound.get_mut(at).map(|send| (at, send))
    }

    fn delivery_mut(&mut self, id: Uuid) -> Option<&mut Delivery> {
        match *self.deliveries.get(&id)? {
            DeliveryIndex::Inbound(at) => self
                .records
                .inbound
                .get_mut(at)
                .map(|text| &mut text.delivery),
            DeliveryIndex::Receipt { send, receipt } => self
                .records
                .outbound
                .get_mut(send)?
                .receipts
                .get_mut(receipt)
                .map(|receipt| &mut receipt.delivery),
        }
    }

    fn guest_of(&self, delivery: Uuid) -> String {
        let guest = match self.deliveries.get(&delivery) {
            Some(DeliveryIndex::Inbound(at)) => {
                self.records.inbound.get(*at).map(|text| &text.from)
            }
            Some(DeliveryIndex::Receipt { send, .. }) => {
                self.records.outbound.get(*send).map(|send| &send.to)
            }
            None => None,
        };
        guest.cloned().unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
