//! The list of a casino's conversations, the most urgent first.

use std::{collections::HashMap, sync::OnceLock};

use askama::{Template, filters::HtmlSafe};
use axum::{
    body::Bytes,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use seven_domain::{CaseSeverity, CasinoId, Language};
use seven_staff::Right;
use seven_store::{conversations::ListedConversation, operators::Host};

use crate::{
    access::Person, app::Shared, fault::Fault, frame::Frame, guard::shown, lists::ConversationList,
    words::Words,
};

/// Number of days that the list goes back. Conversations that are paused or have a case are always
/// in it.
const DAYS: i64 = 7;
/// Maximum number of conversations in the list.
const MOST: i64 = 200;
/// Number of conversations that the list shows at first. It is small, because every open page
/// renders the list again whenever a text arrives.
const FIRST: usize = 50;

pub(super) const FILTERS: [&str; 4] = ["open", "waiting", "paused", MINE];
/// The filter whose list differs from person to person.
const MINE: &str = "mine";

#[derive(Template)]
#[template(path = "conversations.html")]
struct ListPage {
    frame: Frame,
    part: ListPart,
    severities: &'static [CaseSeverity],
    /// Whether the person has taken over conversations, which they can hand on to a colleague.
    holds: bool,
    colleagues: Vec<Host>,
    problem: &'static str,
}

#[derive(Template)]
#[template(path = "conversations_list.html")]
struct ListPart {
    w: Words,
    casino: CasinoId,
    rows: Vec<Row>,
    /// Number of conversations that the shortened list leaves out.
    more: usize,
    wanted: Wanted,
    bus: bool,
}

/// The filters of a list, and whether it is shown whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    show: &'static str,
    language: Option<Language>,
    cases: Cases,
    whole: bool,
}

impl Wanted {
    /// Returns the filters as the query of the page's address.
    fn query(&self) -> String {
        let language = self.language.map_or("", Language::as_str);
        let case = self.cases.as_str();
        let whole = if self.whole { "&whole=1" } else { "" };
        format!("show={}&language={language}&case={case}{whole}", self.show)
    }

    /// Returns the query for the same filters and the whole list.
    fn query_whole(self) -> String {
        let whole = true;
        Self { whole, ..self }.query()
    }

    fn speaks(&self, language: &str) -> bool {
        self.language.map(Language::as_str) == Some(language)
    }

    fn has_case(&self, case: &str) -> bool {
        self.cases.as_str() == case
    }
}

/// The filter by the cases that a conversation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cases {
    /// No filter: conversations without a case are listed, too.
    Whatever,
    Open,
    Of(CaseSeverity),
}

impl Cases {
    fn as_str(self) -> &'static str {
        match self {
            Self::Whatever => "",
            Self::Open => "open",
            Self::Of(severity) => severity.as_str(),
        }
    }
}

/// Pages may insert this part unescaped, because its own template already escapes its values.
impl HtmlSafe for ListPart {}

/// A conversation as the list shows it.
struct Row {
    id: String,
    guest: String,
    state: String,
    state_words: String,
    severity: String,
    held: i64,
    taken_by: String,
    last: String,
}

#[derive(Default, Deserialize)]
pub(crate) struct Filter {
    #[serde(default)]
    show: String,
    #[serde(default)]
    language: String,
    /// The filter by case: `open`, a severity, or empty.
    #[serde(default)]
    case: String,
    /// Anything but the empty string shows the whole list.
    #[serde(default)]
    whole: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(filter): Query<Filter>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, &filter, "").await
}

/// Shows the list. `problem` is the key for `Words::t` of a form's problem, empty for none.
pub(super) async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    filter: &Filter,
    problem: &'static str,
) -> Result<Response, Fault> {
    person.needs(casino, Right::Conversations)?;
    let list = read(app, casino).await?;
    let bus = app.bus_answers().await;
    let mine = person.actor();
    let holds = |row: &ListedConversation| row.taken_by.as_deref() == Some(&*mine);
    let holds = person.may(casino, Right::Converse) && list.rows.iter().any(holds);
    let mut colleagues = Vec::new();
    if holds {
        let mut tx = app.fleet.store.bind(casino).await?;
        colleagues = tx.hosts().await?;
        tx.commit().await?;
        colleagues.retain(|host| host.actor != mine);
    }
    let part = part(casino, wanted(filter), person, &list, bus);
    let title = person.words().t("conversations");
    let page = ListPage {
        frame: Frame::of(person, Some(casino), title, "conversations"),
        part,
        severities: CaseSeverity::ALL,
        holds,
        colleagues,
        problem: if problem.is_empty() {
            ""
        } else {
            person.words().t(problem)
        },
    };
    let status = if problem.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::CONFLICT
    };
    Ok((status, shown(&page)).into_response())
}

/// Returns the list alone, which the page fetches again after a hint.
pub(crate) async fn list(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(filter): Query<Filter>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let shared = &app.read.conversations;
    let list = shared.of(&casino, read(&app, &casino)).await?;
    let bus = app.bus_answers().await;
    let wanted = wanted(&filter);
    let render = || Bytes::from(shown(&part(&casino, wanted, &person, &list, bus)).0);
    // A list that looks the same for everybody is rendered only once.
    let alike = wanted.language.is_none() && wanted.cases == Cases::Whatever && !wanted.whole;
    let page = match list.shown.get(&(wanted.show, person.words().language())) {
        Some(shown) if bus && alike => shown.get_or_init(render).clone(),
        _ => render(),
    };
    Ok(Html(page).into_response())
}

/// Reads the list, which is the same for everybody who may see it.
async fn read(app: &Shared, casino: &CasinoId) -> Result<ConversationList, Fault> {
    let since = app.fleet.clock.now() - TimeDelta::days(DAYS);
    let mut tx = app.fleet.store.bind(casino).await?;
    let rows = tx.list_conversations(since, MOST).await?;
    let row = tx.casino_row().await?;
    let zone = row.map(|row| row.config.operational.timezone);
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let filters = FILTERS.into_iter().filter(|filter| *filter != MINE);
    let languages = [Language::En, Language::Es];
    let all = filters.flat_map(|filter| languages.map(|language| (filter, language)));
    Ok(ConversationList {
        rows,
        zone,
        names,
        shown: all.map(|key| (key, OnceLock::new())).collect(),
    })
}

/// Returns the filters that the address names; an unknown value does not filter.
fn wanted(filter: &Filter) -> Wanted {
    let known = FILTERS.into_iter().find(|known| *known == filter.show);
    Wanted {
        show: known.unwrap_or(FILTERS[0]),
        language: filter.language.parse().ok(),
        cases: match filter.case.as_str() {
            "open" => Cases::Open,
            severity => severity.parse().map_or(Cases::Whatever, Cases::Of),
        },
        whole: !filter.whole.is_empty(),
    }
}

fn part(
    casino: &CasinoId,
    wanted: Wanted,
    person: &Person,
    list: &ConversationList,
    bus: bool,
) -> ListPart {
    let (w, mine) = (person.words(), person.actor());
    let found = || list.rows.iter().filter(|row| is_wanted(row, wanted, &mine));
    let first = if wanted.whole { usize::MAX } else { FIRST };
    let rows = found()
        .take(first)
        .map(|row| Row {
            id: row.conversation_id.to_string(),
            guest: w.guest(row.last_four.as_deref()),
            state_words: w.of_kind("state", &row.state),
            state: row.state.clone(),
            severity: row.severity.map(|s| s.to_string()).unwrap_or_default(),
            held: row.held_texts,
            taken_by: row
                .taken_by
                .as_ref()
                .map(|by| name_of(&list.names, by))
                .unwrap_or_default(),
            last: row
                .last_inbound_at
                .map(|at| clock(at, list.zone))
                .unwrap_or_default(),
        })
        .collect();
    ListPart {
        w,
        casino: casino.clone(),
        rows,
        more: found().count().saturating_sub(first),
        wanted,
        bus,
    }
}

fn is_wanted(row: &ListedConversation, wanted: Wanted, mine: &str) -> bool {
    let spoken = |language| row.language == Some(language);
    let in_case = match wanted.cases {
        Cases::Whatever => true,
        Cases::Open => row.cases > 0,
        Cases::Of(severity) => row.severity == Some(severity),
    };
    if !in_case || !wanted.language.is_none_or(spoken) {
        return false;
    }
    match wanted.show {
        "waiting" => row.cases > 0 && !row.acknowledged || row.held_texts > 0,
        "paused" => row.paused,
        MINE => row.taken_by.as_deref() == Some(mine),
        _ => true,
    }
}

/// Returns the name of the operator who acted. An actor that is not an operator, such as a name
/// given to a command, is returned as it is.
pub(super) fn name_of(names: &HashMap<String, String>, by: &str) -> String {
    names.get(by).map_or(by, String::as_str).to_owned()
}

/// Writes a time in the property's time zone, or in UTC without one.
pub(super) fn clock(at: DateTime<Utc>, zone: Option<chrono_tz::Tz>) -> String {
    let zone = zone.unwrap_or(chrono_tz::UTC);
    at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string()
}
