//! The first page, which lists the casinos where the person has a role. Also streams hints to open
//! pages.

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{
        Html, IntoResponse, Response,
        sse::{KeepAlive, Sse},
    },
};
use seven_domain::CasinoId;
use seven_staff::Right;

use crate::{
    access::{self, Person},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    hints,
};

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    frame: Frame,
    /// Each casino with the address of its first page.
    casinos: Vec<(CasinoId, String)>,
}

/// Rights in order of preference, each with its page. A person's first page at a casino is the page
/// of the first right that the person has there.
const FIRST: [(Right, &str); 5] = [
    (Right::Conversations, "now"),
    (Right::Switches, "switches"),
    (Right::Campaigns, "campaigns"),
    (Right::Content, "content"),
    (Right::Audit, "compliance"),
];

pub(crate) async fn show(State(app): State<Shared>, person: Person) -> Result<Response, Fault> {
    let roster = app.fleet.store.roster().await?;
    let mut casinos: Vec<CasinoId> = roster
        .into_iter()
        .map(|entry| entry.casino)
        .filter(|casino| FIRST.iter().any(|(right, _)| person.may(casino, *right)))
        .collect();
    casinos.sort();
    if casinos.is_empty() && person.may_manage_operators() {
        return Ok(go_to("/operators"));
    }
    let first = |casino: &CasinoId| {
        let page = FIRST.iter().find(|(right, _)| person.may(casino, *right));
        format!("/c/{casino}/{}", page.map_or("now", |(_, page)| *page))
    };
    if let [only] = casinos.as_slice()
        && !person.may_manage_operators()
    {
        return Ok(go_to(&first(only)));
    }
    let casinos = casinos
        .iter()
        .map(|casino| (casino.clone(), first(casino)))
        .collect();
    let title = person.words().t("casinos").to_owned();
    let frame = Frame::of(&person, None, &title, "casinos");
    let page: Html<String> = shown(&Home { frame, casinos });
    Ok(page.into_response())
}

/// Streams the hints for one open page. The stream ends when the person's session ends or the
/// person may no longer see the casino's conversations.
pub(crate) async fn stream(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let (checked, whose) = (app.clone(), casino.clone());
    let allowed = move || {
        let (app, casino, token) = (checked.clone(), whose.clone(), person.token.clone());
        async move {
            match access::person(&app, token, false).await {
                Ok(person) => person.may(&casino, Right::Conversations),
                // While the database is away, the right cannot be checked. The stream stays open;
                // the page itself shows the problem.
                Err(fault) => fault == Fault::Trouble,
            }
        }
    };
    let hints = hints::stream_for(app, casino, allowed);
    Ok(Sse::new(hints)
        .keep_alive(KeepAlive::default())
        .into_response())
}
