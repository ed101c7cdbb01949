//! Plays the visitors of the websites. Their browsers call the gateways, read streams and lose
//! connections. They resume at another gateway, after the last frame that they received.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, Utc};
use futures::future::join_all;
use rand::Rng;
use reqwest::{Client, RequestBuilder, StatusCode};
use seven_domain::{Address, CasinoId, GuestHash};
use seven_testkit::sse::{Frame, Unread};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use uuid::Uuid;

use super::{
    ground::{Ground, PAGE, casino_id},
    size::PER_KIND,
    staff::{self, Held},
    visitors::{Question, Visitor},
};

/// A browser connects again after this time without an answer or a frame.
const SILENT: Duration = Duration::from_secs(5);
const RECONNECT: Duration = Duration::from_millis(100);
/// Longest time for which a browser tries to send a message, or to read the messages that it has
/// not received.
const PATIENCE: Duration = Duration::from_secs(60);
/// Value of `Last-Event-ID` that means: before the first frame of the conversation.
const BEGINNING: &str = "0:0";

/// A visitor's visit, as the visitor's browser saw it.
#[derive(Debug)]
pub(crate) struct Browsed {
    pub(crate) guest: GuestHash,
    /// Secrets of the visit, which no log may hold: the session's token and the visitor's id.
    pub(crate) secrets: [String; 2],
    /// Number of messages that were sent.
    pub(crate) posted: usize,
    /// Ids of the messages that a gateway accepted.
    pub(crate) taken: Vec<Uuid>,
    /// Statuses of answers that no gateway may give: neither 2xx nor 5xx.
    pub(crate) refused: Vec<StatusCode>,
    pub(crate) read: Read,
    pub(crate) held: Option<Held>,
    /// Time at the end of the run at which the visitor began to read the remaining messages. A
    /// message that is delivered after this time may stay unread.
    pub(crate) left_at: Option<DateTime<Utc>>,
    session: Session,
}

/// The fleet's messages that a visitor has read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Text of each message and the number of its `sources` frames, by the message's number.
    pub(crate) messages: BTreeMap<i64, (String, usize)>,
    /// Frames that came after a frame of a later message.
    pub(crate) disordered: usize,
    last: Option<String>,
}

#[derive(Debug, Clone)]
struct Session {
    token: String,
    visitor: Uuid,
    http: Client,
}

/// Outcome of a call that opens a stream.
enum Streamed {
    /// The answer is complete.
    Ended,
    /// The connection broke, or nothing arrived for [`SILENT`].
    Broken,
    NotTaken,
}

// === impl Read ===

impl Read {
    fn take(&mut self, frame: &Frame) {
        let Some((id, seq)) = frame.id.as_ref().and_then(|id| Some((id, seq_of(id)?))) else {
            return;
        };
        self.disordered += usize::from(
            self.messages
                .last_key_value()
                .is_some_and(|(last, _)| *last > seq),
        );
        let (text, sources) = self.messages.entry(seq).or_default();
        match frame.event.as_str() {
            "sources" => *sources += 1,
            _ => text.push_str(frame.data["content"].as_str().unwrap_or_default()),
        }
        self.last = Some(id.clone());
    }
}

fn seq_of(id: &str) -> Option<i64> {
    id.split_once(':')?.0.parse().ok()
}

// === impl Session ===

impl Session {
    async fn begin(ground: &Ground, casino: usize) -> Result<Self> {
        let http = Client::builder().no_proxy().timeout(PATIENCE).build()?;
        let body = serde_json::json!({ "tenant_id": casino_id(casino) });
        let until = Instant::now() + PATIENCE;
        for gateway in (0..PER_KIND).cycle() {
            let url = format!("{}/api/v1/chat/init", ground.gateway(gateway));
            let call = http.post(url).header("origin", PAGE).json(&body);
            if let Ok(answer) = call.send().await
                && answer.status().is_success()
                && let Ok(begun) = answer.json::<serde_json::Value>().await
            {
                let token = begun["token"].as_str().context("a session's token")?;
                let visitor = begun["ticket_id"].as_str().context("a session's ticket")?;
                return Ok(Self {
                    token: token.to_owned(),
                    visitor: visitor.parse()?,
                    http,
                });
            }
            ensure!(Instant::now() < until, "no gateway begins a session");
            sleep(RECONNECT).await;
        }
        unreachable!("gateways are tried in turn without end")
    }

    fn say(&self, ground: &Ground, gateway: usize, text: &str, id: Uuid) -> RequestBuilder {
        let body = serde_json::json!({ "message": text, "message_id": id });
        let url = format!("{}/api/v1/chat/stream", ground.gateway(gateway));
        self.head(self.http.post(url).json(&body))
    }

    fn head(&self, call: RequestBuilder) -> RequestBuilder {
        call.bearer_auth(&self.token).header("origin", PAGE)
    }
}

// === impl Browsed ===

/// Plays one visit, in which the visitor asks the questions. If the plan says so, staff take the
/// conversation over meanwhile.
pub(crate) async fn visit(ground: Arc<Ground>, visitor: Visitor) -> Result<Browsed> {
    let began = Instant::now();
    let session = Session::begin(&ground, visitor.casino).await?;
    let casino: CasinoId = casino_id(visitor.casino).parse()?;
    let address = Address::Visitor(session.visitor);
    let guest = ground.stack.fleet.keys.hash_address(&casino, &address);
    let mut browsed = Browsed {
        guest,
        secrets: [session.token.clone(), session.visitor.to_string()],
        posted: 0,
        taken: Vec::new(),
        refused: Vec::new(),
        left_at: None,
        read: Read::default(),
        held: None,
        session,
    };
    let staff = async {
        match visitor.takeover {
            Some(takeover) => staff::take_over(&ground, &casino, &guest, takeover).await,
            None => Ok(None),
        }
    };
    let asking = async {
        for question in &visitor.questions {
            sleep_until(began + question.after).await;
            browsed.ask(&ground, *question).await;
        }
    };
    let (held, ()) = tokio::join!(staff, asking);
    browsed.held = held?;
    Ok(browsed)
}

impl Browsed {
    /// Sends a message until a gateway accepts it. If the visitor reads the answer at once, sends
    /// the message again until the answer is complete.
    async fn ask(&mut self, ground: &Ground, question: Question) {
        let id = Uuid::new_v4();
        let until = Instant::now() + PATIENCE;
        self.posted += 1;
        let first = rand::rng().random_range(0..PER_KIND);
        let session = self.session.clone();
        let again = (1..question.calls).map(|n| {
            let call = session.say(ground, first + n, question.text, id);
            async move { call.send().await.map(|answer| answer.status()) }
        });
        // These repeated calls run at the same time as the call whose stream is read.
        let again = join_all(again);
        let mut breaks_after = question.breaks_after;
        let reading = async {
            for gateway in (first..first + PER_KIND).cycle() {
                let mut call = self.session.say(ground, gateway, question.text, id);
                if question.reads {
                    call = call.header("accept", "text/event-stream");
                }
                // Names the last frame that was read. The first call of a visit names none, because
                // there is no earlier answer to skip.
                if self.posted > 1 || self.read.last.is_some() {
                    call = call.header("last-event-id", self.place());
                }
                let streamed = self.stream(call, breaks_after.take(), None).await;
                if !matches!(streamed, Streamed::NotTaken) && !self.taken.contains(&id) {
                    self.taken.push(id);
                }
                let sent = !question.reads && self.taken.contains(&id);
                if matches!(streamed, Streamed::Ended) || sent || Instant::now() > until {
                    break;
                }
                sleep(RECONNECT).await;
            }
        };
        let (statuses, ()) = tokio::join!(again, reading);
        let taken = |status: &StatusCode| status.is_success();
        let statuses: Vec<StatusCode> = statuses.into_iter().flatten().collect();
        if statuses.iter().any(taken) && !self.taken.contains(&id) {
            self.taken.push(id);
        }
        statuses.into_iter().for_each(|status| self.judge(status));
    }

    fn place(&self) -> String {
        let last = self.read.last.as_deref();
        last.unwrap_or(BEGINNING).to_owned()
    }

    fn judge(&mut self, status: StatusCode) {
        if !status.is_success() && !status.is_server_error() {
            self.refused.push(status);
        }
    }

    /// Reads a stream until its end, until the connection breaks, or until the frame with the id
    /// `up_to`.
    async fn stream(
        &mut self,
        call: RequestBuilder,
        breaks_after: Option<usize>,
        up_to: Option<&str>,
    ) -> Streamed {
        let Ok(Ok(mut answer)) = timeout(SILENT, call.send()).await else {
            return Streamed::NotTaken;
        };
        let status = answer.status();
        self.judge(status);
        if !status.is_success() {
            return Streamed::NotTaken;
        }
        let (mut unread, mut frames) = (Unread::default(), 0);
        loop {
            while let Some(frame) = unread.frame() {
                if frame.id.is_some() && breaks_after == Some(frames) {
                    return Streamed::Broken;
                }
                frames += usize::from(frame.id.is_some());
                self.read.take(&frame);
                if frame.event == "end" || (up_to.is_some() && self.read.last.as_deref() == up_to) {
                    return Streamed::Ended;
                }
            }
            match timeout(SILENT, answer.chunk()).await {
                Ok(Ok(Some(chunk))) => unread.push(&chunk),
                Ok(Ok(None) | Err(_)) | Err(_) => return Streamed::Broken,
            }
        }
    }

    /// Reads the remaining messages after the fleet has settled. Messages that stay unread are no
    /// error here; the checks find them.
    pub(crate) async fn catch_up(&mut self, ground: &Ground) {
        self.left_at = Some(ground.stack.fleet.clock.now());
        let until = Instant::now() + PATIENCE;
        for gateway in (0..PER_KIND).cycle() {
            let last = self.last_of(ground, gateway).await;
            let Some(last) = last else {
                if Instant::now() > until {
                    return;
                }
                sleep(RECONNECT).await;
                continue;
            };
            if last.is_none() || last == self.read.last || Instant::now() > until {
                return;
            }
            let url = format!("{}/api/v1/chat/stream", ground.gateway(gateway));
            let call = self.session.head(self.session.http.get(url));
            let call = call.header("last-event-id", self.place());
            self.stream(call, None, last.as_deref()).await;
        }
    }

    /// Asks a gateway for the id of the conversation's last frame. The outer `None` means that the
    /// gateway does not answer, the inner one that the conversation has no frame.
    async fn last_of(&self, ground: &Ground, gateway: usize) -> Option<Option<String>> {
        let url = format!("{}/api/v1/chat/history", ground.gateway(gateway));
        let call = self.session.head(self.session.http.get(url));
        let answer = call.send().await.ok()?.error_for_status().ok()?;
        let history: serde_json::Value = answer.json().await.ok()?;
        Some(history["last_event_id"].as_str().map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_by_message_and_disorder_is_counted() {
        let frame = |id: &str, event: &str, content: &str| Frame {
            id: (!id.is_empty()).then(|| id.to_owned()),
            event: event.to_owned(),
            data: serde_json::json!({ "content": content }),
        };
        let mut read = Read::default();
        for frame in [
            frame("", "status", "reading"),
            frame("1:3", "token", "At "),
            frame("1:8", "token", "seven"),
            frame("1:9", "sources", ""),
            frame("2:6", "replace", "Hello"),
            frame("1:8", "token", "seven"),
        ] {
            read.take(&frame);
        }
        assert_eq!(read.messages[&1], ("At sevenseven".to_owned(), 1));
        assert_eq!(read.messages[&2], ("Hello".to_owned(), 0));
        assert_eq!((read.disordered, read.last.as_deref()), (1, Some("1:8")));
    }
}
