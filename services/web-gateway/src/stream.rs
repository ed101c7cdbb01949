//! The stream of one guest. It reads the conversation when it is woken, and writes new messages. It
//! ends when the answer is complete, the time is over, or the client leaves. The host also answers
//! when no stream is open.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures::{Stream, stream};
use seven_domain::{CasinoId, Disposition, GuestHash, Language};
use seven_http::Streamed;
use seven_sse::{Dialect, Event, HEARTBEAT, Status, frame, retry};
use seven_store::web::{ReadFrom, WebMessage, WebNews};
use seven_telemetry::metrics;
use tokio::time::{Instant, sleep_until};

use crate::{app::Shared, frames::Place, live::Follower, words::Words};

/// If a stream has written no frame for this time, it sends a comment, which clients ignore. The
/// comment keeps proxies from closing the stream.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
/// A stream that waits for its answer reads the conversation this often, even without a hint. A
/// lost hint therefore delays an answer by at most this time.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// Maximum number of messages per read. It limits memory: for a client that never reads, the stream
/// holds the frames of only one read.
const MOST_MESSAGES: u8 = 4;
/// Maximum number of messages in an answer that is returned as one object.
const WHOLE_ANSWER: u8 = 100;
/// How long a client waits before it reconnects.
const RECONNECT: Duration = Duration::from_secs(2);

/// The guest whose conversation is read.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) casino: CasinoId,
    pub(crate) guest: GuestHash,
    /// The language of texts that are not replies, until the guest's language is known.
    pub(crate) language: Language,
}

/// The condition that ends a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Until {
    /// The stream ends with the answer to `message` (a provider message id), or at the time `at`.
    Answered { message: String, at: Instant },
    /// The stream ends only when the client leaves.
    Left,
}

/// The state of the answer to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The message is not stored yet, or an answer is being made.
    Coming,
    Complete,
    /// A person will answer later.
    Waiting,
    /// The message gets no answer.
    None,
}

/// Returns the state of the answer to the message that opened the stream. `shown` says whether the
/// stream has written a message so far.
pub(crate) fn answer_of(news: &WebNews, shown: bool) -> Answer {
    let Some(asked) = news.asked else {
        return Answer::Coming;
    };
    match asked.disposition {
        _ if news.more => Answer::Coming,
        Disposition::Open => Answer::Coming,
        _ if news.busy => Answer::Coming,
        Disposition::Held if !shown => Answer::Waiting,
        Disposition::Closed if !shown => Answer::None,
        _ => Answer::Complete,
    }
}

/// A stream's state between two frames.
struct Open {
    app: Shared,
    reader: Reader,
    dialect: Dialect,
    place: Place,
    until: Until,
    follower: Follower,
    /// Frames that are written before any message; `None` once they are written.
    first: Option<String>,
    status: Option<Status>,
    /// The last ticket whose frame this stream has written.
    ticket: Option<i64>,
    shown: bool,
    busy: bool,
    beat_at: Instant,
    ended: bool,
}

/// Opens the response that carries a guest's stream. `first` is written before anything else.
pub(crate) fn open(
    app: &Shared,
    reader: Reader,
    dialect: Dialect,
    place: Place,
    until: Until,
    first: Option<Event<'_>>,
) -> Response {
    // Subscribes before the first read, so that no message between the two is missed.
    let follower = app.live.follow(&reader.casino, &reader.guest);
    let first = first.and_then(|event| frame(dialect, &event, None));
    let open = Open {
        app: app.clone(),
        dialect,
        place,
        until,
        follower,
        first: Some(retry(RECONNECT) + &first.unwrap_or_default()),
        status: None,
        ticket: None,
        shown: false,
        busy: false,
        beat_at: Instant::now() + HEARTBEAT_EVERY,
        ended: false,
        reader,
    };
    let mut response = Body::from_stream(chunks(open)).into_response();
    response.extensions_mut().insert(Streamed);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store, no-transform"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Without this header, nginx would buffer the frames.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Waits for the answer to a message until `at`, and returns all messages of the answer.
pub(crate) async fn collect(
    app: &Shared,
    reader: &Reader,
    message: &str,
    at: Instant,
) -> (Answer, Vec<WebMessage>) {
    let mut follower = app.live.follow(&reader.casino, &reader.guest);
    loop {
        let news = read(app, reader, Some(message), (ReadFrom::Answer, WHOLE_ANSWER)).await;
        let late = Instant::now() >= at;
        if let Some(news) = news {
            let answer = answer_of(&news, !news.messages.is_empty());
            if answer != Answer::Coming || late {
                return (answer, news.messages);
            }
        } else if late {
            return (Answer::Coming, Vec::new());
        }
        tokio::select! {
            () = app.fleet.shutdown.cancelled() => return (Answer::Coming, Vec::new()),
            () = follower.news() => {}
            () = sleep_until(at.min(Instant::now() + LOOK_AGAIN)) => {}
        }
    }
}

/// Reads the new messages of a conversation; `None` if the conversation does not exist yet or the
/// database does not answer.
async fn read(
    app: &Shared,
    reader: &Reader,
    message: Option<&str>,
    (from, most): (ReadFrom, u8),
) -> Option<WebNews> {
    let read = async {
        let mut tx = app.fleet.store.bind(&reader.casino).await?;
        let news = tx.web_news(&reader.guest, message, from, most).await?;
        tx.commit().await?;
        Ok::<_, seven_store::Error>(news)
    };
    match read.await {
        Ok(news) => news,
        // The stream reads again soon, so the guest only sees that the answer takes longer.
        Err(error) => {
            tracing::debug!(%error, "a stream could not be read");
            None
        }
    }
}

fn chunks(open: Open) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let counted = Counted::new();
    stream::unfold((open, counted), |(mut open, counted)| async move {
        let chunk = open.next().await?;
        Some((Ok(Bytes::from(chunk)), (open, counted)))
    })
}

impl Open {
    /// Returns the next frames; `None` when the stream has ended.
    async fn next(&mut self) -> Option<String> {
        if self.ended {
            return None;
        }
        if let Some(first) = self.first.take() {
            let status = match self.until {
                Until::Answered { .. } => self.status(Status::Reading),
                Until::Left => None,
            };
            return Some(first + &status.unwrap_or_default());
        }
        loop {
            if let Some(frames) = self.look().await {
                self.beat_at = Instant::now() + HEARTBEAT_EVERY;
                return Some(frames);
            }
            let look_at = match self.until {
                Until::Answered { at, .. } => at.min(Instant::now() + LOOK_AGAIN),
                Until::Left => self.beat_at,
            };
            tokio::select! {
                biased;
                () = self.app.fleet.shutdown.cancelled() => return self.end(&[Event::Bye]),
                () = self.follower.news() => {}
                () = sleep_until(look_at.min(self.beat_at)) => {
                    if Instant::now() >= self.beat_at {
                        self.beat_at = Instant::now() + HEARTBEAT_EVERY;
                        return Some(HEARTBEAT.to_owned());
                    }
                }
            }
        }
    }

    /// Reads the conversation and returns the new frames, if any.
    async fn look(&mut self) -> Option<String> {
        let news = self.news().await;
        let late = match &self.until {
            Until::Answered { at, .. } => Instant::now() >= *at,
            Until::Left => false,
        };
        let Some(news) = news else {
            return late.then(|| self.give_up()).flatten();
        };
        self.reader.language = news.language.unwrap_or(self.reader.language);
        let mut frames = self.place.write(self.dialect, &news.messages);
        let adds = !frames.is_empty();
        self.shown |= adds;
        frames += &self.ticket(news.ticket).unwrap_or_default();
        let words = Words::of(self.reader.language);
        let ended = match &self.until {
            Until::Left => {
                // A last frame after each answer tells the page that the answer is complete. `adds`
                // covers a quick answer: it may be complete when the stream first reads it.
                if (self.busy || adds) && !news.busy && !news.more {
                    frames += &self.frame(&Event::Done { tokens: 0 });
                }
                None
            }
            Until::Answered { .. } => match answer_of(&news, self.shown) {
                Answer::Coming if late => return self.give_up(),
                Answer::Coming => None,
                Answer::Complete => self.end(&[Event::Done { tokens: 0 }]),
                Answer::Waiting => self.end(&[
                    Event::Error {
                        code: "waiting",
                        message: &words.waiting,
                    },
                    Event::Done { tokens: 0 },
                ]),
                Answer::None => self.end(&[
                    Event::Error {
                        code: "not_answered",
                        message: &words.not_answered,
                    },
                    Event::Done { tokens: 0 },
                ]),
            },
        };
        self.busy = news.busy || news.more;
        let status = match (news.paused, news.busy) {
            (true, _) => self.status(Status::Waiting),
            (false, true) => self.status(Status::Searching),
            (false, false) => {
                self.status = None;
                None
            }
        };
        let frames = match ended {
            Some(end) => frames + &end,
            None => frames + &status.unwrap_or_default(),
        };
        (!frames.is_empty()).then_some(frames)
    }

    async fn news(&self) -> Option<WebNews> {
        let message = match &self.until {
            Until::Answered { message, .. } => Some(message.as_str()),
            Until::Left => None,
        };
        read(
            &self.app,
            &self.reader,
            message,
            (self.place.from(), MOST_MESSAGES),
        )
        .await
    }

    fn give_up(&mut self) -> Option<String> {
        let words = Words::of(self.reader.language);
        let slow = Event::Error {
            code: "timeout",
            message: &words.slow,
        };
        self.end(&[slow, Event::Done { tokens: 0 }])
    }

    fn end(&mut self, events: &[Event<'_>]) -> Option<String> {
        self.ended = true;
        Some(events.iter().map(|event| self.frame(event)).collect())
    }

    /// Returns the frame of a status if it differs from the last status written. The concierge's
    /// dialect has no status frames.
    fn status(&mut self, status: Status) -> Option<String> {
        if self.dialect != Dialect::Widget || self.status == Some(status) {
            return None;
        }
        self.status = Some(status);
        let words = Words::of(self.reader.language);
        let words = match status {
            Status::Reading => &words.status_reading,
            Status::Searching => &words.status_searching,
            Status::Waiting => &words.status_waiting,
        };
        Some(self.frame(&Event::Status { status, words }))
    }

    /// Returns the frame of a ticket, if this stream has not written it yet.
    fn ticket(&mut self, ticket: Option<i64>) -> Option<String> {
        let number = ticket.filter(|_| self.ticket != ticket)?;
        self.ticket = ticket;
        let content = &Words::of(self.reader.language).ticket;
        Some(self.frame(&Event::Escalation { content, number }))
    }

    fn frame(&self, event: &Event<'_>) -> String {
        frame(self.dialect, event, None).unwrap_or_default()
    }
}

/// Counts a stream in the metric of open streams until it is dropped.
struct Counted;

impl Counted {
    fn new() -> Self {
        metrics().web.streams.inc();
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics().web.streams.dec();
    }
}
