//! Shows one conversation: its texts, who answers in it, who has it open, and the staff's notes.
//! Also takes the conversation over and gives it back to the host.

use std::time::Duration;

use askama::{Template, filters::HtmlSafe};
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, ConversationId};
use seven_staff::Right;
use seven_store::{Tx, conversations::TranscriptLine, operators::Host, saved_replies::SavedReply};

use super::{
    conversations::{clock, name_of},
    profile::{Kept, fields},
};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    words::Words,
};

/// Maximum number of texts, and of notes, that a thread shows.
const MOST_TEXTS: i64 = 200;
const MOST_NOTES: i64 = 100;
/// Maximum length of a reason, and of a note, in characters.
const MOST_REASON: usize = 300;
const MOST_NOTE: usize = 2_000;
/// How long a guest's words stay visible after a person gave a reason to see them.
const REVEAL_MINUTES: i32 = 15;
/// If a person's page has not fetched the texts for this long, the person counts as gone. An open
/// page fetches the texts at least every 20 seconds.
const GONE_AFTER: Duration = Duration::from_secs(45);

#[derive(Template)]
#[template(path = "thread.html")]
struct ThreadPage {
    frame: Frame,
    part: TextsPart,
    kept: Kept,
    /// Path and name of the facts that the person may correct; empty if they may correct none.
    fields: Vec<(&'static str, String)>,
    notes: Vec<ShownNote>,
    saved: Vec<SavedReply>,
    /// Colleagues to whom the conversation can be handed on.
    colleagues: Vec<Host>,
    /// The text that could not be sent; empty if there is none. `problem`: why the person's last
    /// action was refused; empty if it was not.
    draft: String,
    problem: String,
    /// Whether the page links to the evidence of the guest's consent.
    may_audit: bool,
}

/// The part of the page that is fetched again after a hint: who answers, and the texts.
#[derive(Template)]
#[template(path = "thread_texts.html")]
pub(super) struct TextsPart {
    w: Words,
    casino: CasinoId,
    conversation: ConversationId,
    forms: String,
    lines: Vec<Line>,
    /// The thread's mark. The form sends it back, so that a reply to an outdated thread is refused.
    mark: i64,
    guest: String,
    /// The number of the ticket that waits for a person; the guest knows this number.
    ticket: Option<i64>,
    paused: bool,
    /// Name of the person who took the conversation over; empty if nobody did.
    taken_by: String,
    /// The person who took the conversation over, as the row stores it; the forms send it back.
    held: String,
    readable: bool,
    mine: bool,
    may_converse: bool,
    may_reveal: bool,
    /// Whether the host's replies in this conversation wait for a person's review.
    reviewed: bool,
    /// Names of the other people who have the conversation open now.
    others: Vec<String>,
}

/// The parts of the page that are not fetched again after a hint.
struct Around {
    kept: Kept,
    notes: Vec<ShownNote>,
    saved: Vec<SavedReply>,
    colleagues: Vec<Host>,
}

/// Pages may insert this part unescaped, because its own template already escapes its values.
impl HtmlSafe for TextsPart {}

struct Line {
    out: bool,
    person: bool,
    at: String,
    /// The delivery state; empty for the guest's texts.
    state: String,
    text: String,
    masked: usize,
    /// The id of the turn behind a reply of the host; empty for other texts.
    turn: String,
}

struct ShownNote {
    author: String,
    at: String,
    body: String,
}

#[derive(Deserialize)]
pub(crate) struct Reasoned {
    #[serde(default)]
    reason: String,
    /// The person who held the conversation when the page with this form was rendered.
    #[serde(default)]
    held: String,
}

#[derive(Deserialize)]
pub(crate) struct NoteForm {
    #[serde(default)]
    note: String,
}

pub(super) type Place = (CasinoId, ConversationId);

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &place, &person, (String::new(), "", StatusCode::OK)).await
}

/// Renders the whole page. `refused` holds the draft that was not sent, the reason (a key for
/// `Words::t`), and the HTTP status.
pub(super) async fn page(
    app: &Shared,
    place: &Place,
    person: &Person,
    refused: (String, &'static str, StatusCode),
) -> Result<Response, Fault> {
    let (draft, problem, status) = refused;
    let (part, around) = read(app, place, person).await?;
    let w = person.words();
    let title = part.guest.clone();
    let problem = if problem.is_empty() {
        problem
    } else {
        w.t(problem)
    };
    let page = ThreadPage {
        frame: Frame::of(person, Some(&place.0), &title, "conversations"),
        fields: if part.readable && part.may_converse {
            fields(w)
        } else {
            Vec::new()
        },
        part,
        kept: around.kept,
        notes: around.notes,
        saved: around.saved,
        colleagues: around.colleagues,
        draft,
        problem: problem.to_owned(),
        may_audit: person.may(&place.0, Right::Audit),
    };
    Ok((status, shown(&page)).into_response())
}

/// Returns the texts alone, which the page fetches again after a hint.
pub(crate) async fn texts(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    person: Person,
) -> Result<Response, Fault> {
    let (part, _) = read(&app, &place, &person).await?;
    Ok(shown(&part).into_response())
}

async fn read(
    app: &Shared,
    (casino, conversation): &Place,
    person: &Person,
) -> Result<(TextsPart, Around), Fault> {
    person.needs(casino, Right::Conversations)?;
    let mut tx = app.fleet.store.bind(casino).await?;
    let found = tx.shown_conversation(*conversation).await?;
    let found = found.ok_or(Fault::NotFound)?;
    let zone = tx
        .casino_row()
        .await?
        .map(|row| row.config.operational.timezone);
    let mark = tx.thread_mark(*conversation).await?;
    let lines = tx.transcript(*conversation, MOST_TEXTS).await?;
    let readable = is_readable(&mut tx, casino, *conversation, person).await?;
    let notes = tx.notes(*conversation, MOST_NOTES).await?;
    let reviewed = tx.is_reviewed(*conversation).await?;
    let names = tx.staff_names().await?;
    let (mut saved, mut colleagues) = (Vec::new(), Vec::new());
    let me = person.actor();
    if person.may(casino, Right::Converse) {
        saved = tx.saved_replies().await?;
        colleagues = tx.hosts().await?;
        colleagues.retain(|host| host.actor != me);
    }
    tx.commit().await?;
    let cache = &app.fleet.cache;
    let looking = cache
        .look(casino, &conversation.to_string(), &me, GONE_AFTER)
        .await;
    if looking.came && looking.all.len() > 1 {
        app.hints.changed(casino);
    }
    let others = looking.all.iter().filter(|other| **other != me);
    let part = TextsPart {
        w: person.words(),
        casino: casino.clone(),
        conversation: *conversation,
        forms: person.token.for_forms(),
        lines: lines
            .iter()
            .map(|line| Line::of(line, person.words(), readable, zone))
            .collect(),
        mark,
        guest: person.words().guest(found.last_four.as_deref()),
        ticket: found.ticket,
        paused: found.paused,
        held: found.taken_by.clone().unwrap_or_default(),
        readable,
        mine: found.taken_by.as_deref() == Some(me.as_str()),
        others: others.map(|other| name_of(&names, other)).collect(),
        taken_by: found
            .taken_by
            .map(|by| name_of(&names, &by))
            .unwrap_or_default(),
        may_converse: person.may(casino, Right::Converse),
        may_reveal: !readable && person.may(casino, Right::Reveal),
        reviewed,
    };
    let kept = if readable {
        let now = app.fleet.clock.property_now();
        Kept::of(found.profile, now, person.words(), zone)
    } else {
        Kept::default()
    };
    let notes = notes
        .into_iter()
        .filter(|_| readable)
        .map(|note| ShownNote {
            author: name_of(&names, &note.author),
            at: clock(note.created_at, zone),
            body: visible(&note.body),
        });
    let around = Around {
        kept,
        notes: notes.collect(),
        saved,
        colleagues,
    };
    Ok((part, around))
}

/// Returns whether the person may now read the guest's words in the conversation.
pub(super) async fn is_readable(
    tx: &mut Tx,
    casino: &CasinoId,
    conversation: ConversationId,
    person: &Person,
) -> Result<bool, Fault> {
    let operator = person.session.operator;
    Ok(person.may(casino, Right::Words) || tx.is_revealed(conversation, operator).await?)
}

impl Line {
    fn of(line: &TranscriptLine, w: Words, readable: bool, zone: Option<chrono_tz::Tz>) -> Self {
        let out = line.direction == "out";
        Self {
            person: line.kind.as_deref() == Some("person"),
            at: clock(line.at, zone),
            state: if out {
                w.of_kind("text", &line.state)
            } else {
                String::new()
            },
            masked: if readable {
                0
            } else {
                line.text.chars().count()
            },
            text: if readable {
                visible(&line.text)
            } else {
                String::new()
            },
            turn: line.turn_id.map(|id| id.to_string()).unwrap_or_default(),
            out,
        }
    }
}

/// Replaces control characters with U+FFFD, because a browser or a terminal could act on them. Line
/// breaks stay.
pub(super) fn visible(text: &str) -> String {
    let mark = |c: char| {
        if c.is_control() && c != '\n' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(mark).collect()
}

pub(crate) async fn take_over(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<Reasoned>,
) -> Result<Response, Fault> {
    let conversation = place.1;
    let mut tx = exists(&app, &place, &person, Right::Converse).await?;
    let reason = shortened(&form.reason, MOST_REASON);
    if reason.is_empty() {
        return refused(tx, &app, &place, &person, "reason_missing").await;
    }
    if changed_hands(&mut tx, conversation, &form.held).await? {
        return refused(tx, &app, &place, &person, "changed_hands").await;
    }
    seven_staff::take_over(&mut tx, conversation, &person.actor(), &reason).await?;
    tx.commit().await?;
    Ok(back_to(&app, &place))
}

pub(crate) async fn release(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<Reasoned>,
) -> Result<Response, Fault> {
    let (casino, conversation) = &place;
    let mut tx = exists(&app, &place, &person, Right::Converse).await?;
    if changed_hands(&mut tx, *conversation, &form.held).await? {
        return refused(tx, &app, &place, &person, "changed_hands").await;
    }
    let resumed = seven_staff::go_on(&mut tx, *conversation, &person.actor()).await?;
    tx.commit().await?;
    if let Some(resumed) = resumed {
        seven_staff::announce(&app.fleet, casino, *conversation, &resumed).await;
    }
    Ok(back_to(&app, &place))
}

/// Locks the conversation. Returns whether its holder is no longer the one that the page showed.
async fn changed_hands(tx: &mut Tx, id: ConversationId, shown: &str) -> Result<bool, Fault> {
    let held = seven_staff::holder(tx, id).await?;
    Ok(held.unwrap_or_default() != shown)
}

/// Rolls back, which releases the conversation's lock, and shows the page with the problem.
async fn refused(
    tx: Tx,
    app: &Shared,
    place: &Place,
    person: &Person,
    problem: &'static str,
) -> Result<Response, Fault> {
    tx.rollback().await?;
    let status = if problem == "changed_hands" {
        StatusCode::CONFLICT
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    page(app, place, person, (String::new(), problem, status)).await
}

/// Makes the words of one conversation visible to the person for a while. The audit log records the
/// reason.
pub(crate) async fn reveal(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<Reasoned>,
) -> Result<Response, Fault> {
    let conversation = place.1;
    let mut tx = exists(&app, &place, &person, Right::Reveal).await?;
    let reason = shortened(&form.reason, MOST_REASON);
    if reason.is_empty() {
        return refused(tx, &app, &place, &person, "reason_missing").await;
    }
    let operator = person.session.operator;
    tx.put_reveal(conversation, operator, REVEAL_MINUTES)
        .await?;
    let detail = json!({ "reason": reason, "minutes": REVEAL_MINUTES });
    let (event, by) = (AuditEvent::PersonalDataRevealed, person.actor());
    seven_staff::note(&mut tx, event, &by, conversation, detail).await?;
    tx.commit().await?;
    Ok(back_to(&app, &place))
}

pub(crate) async fn add_note(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<NoteForm>,
) -> Result<Response, Fault> {
    let mut tx = exists(&app, &place, &person, Right::Converse).await?;
    let note = shortened(&form.note, MOST_NOTE);
    if !note.is_empty() {
        let id = app.fleet.ids.uuid();
        tx.add_note(id, place.1, &person.actor(), &note).await?;
        let (event, detail) = (AuditEvent::NoteAdded, json!({ "note": id }));
        seven_staff::note(&mut tx, event, &person.actor(), place.1, detail).await?;
        tx.commit().await?;
    }
    Ok(back_to(&app, &place))
}

/// Checks the person's right and that the conversation exists, and returns the open transaction.
pub(super) async fn exists(
    app: &Shared,
    (casino, conversation): &Place,
    person: &Person,
    right: Right,
) -> Result<Tx, Fault> {
    person.needs(casino, right)?;
    let mut tx = app.fleet.store.bind(casino).await?;
    let found = tx.shown_conversation(*conversation).await?;
    found.ok_or(Fault::NotFound)?;
    Ok(tx)
}

/// Sends a hint about the change and redirects to the conversation.
pub(super) fn back_to(app: &Shared, (casino, conversation): &Place) -> Response {
    app.hints.changed(casino);
    go_to(&format!("/c/{casino}/conversations/{conversation}"))
}

fn shortened(text: &str, most: usize) -> String {
    text.trim().chars().take(most).collect()
}
