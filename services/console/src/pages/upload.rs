//! Uploads a content file (D31). First checks the file and shows a report; then a person may load
//! exactly this file.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{FromRequest, Multipart, Path, Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_content::{
    load::{File, LoadError, Loaded, Loading, load_as_planned, try_load},
    table::columns,
};
use seven_domain::CasinoId;
use seven_staff::Right;
use seven_store::casinos::Casino;
use uuid::Uuid;

use crate::{
    access::{Person, Posted},
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::{file, go_to, shown},
    uploads::{Checked, Options},
    words::Words,
};

/// Maximum size, in bytes, of a request with a file. It is larger than the maximum size of a file:
/// the page can then explain that a file is too large.
pub(crate) const MOST_BYTES: usize = 32 << 20;
/// Maximum number of lines in each group of the report; the audit log has all lines.
const MOST_LINES: usize = 200;

#[derive(Template)]
#[template(path = "upload.html")]
struct UploadPage {
    frame: Frame,
    casino: CasinoId,
    name: String,
    /// The key of the checked file; empty if there is nothing to load.
    key: String,
    problems: Vec<String>,
    groups: Vec<Group>,
    unchanged: usize,
    loaded: bool,
    /// Categories with a template to download: id and name.
    categories: Vec<(String, String)>,
}

struct Group {
    name: &'static str,
    lines: Vec<String>,
    more: usize,
}

#[derive(Deserialize)]
pub(crate) struct Agreed {
    #[serde(default)]
    key: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let mut page = UploadPage::empty(&casino, &person);
    let row = row(&app, &casino).await?;
    let pack = app.fleet.packs.of(&row.config).ok();
    let names = pack.iter().flat_map(|pack| pack.agents.categories.names());
    let w = person.words();
    page.categories = names
        .map(|name| (name.to_owned(), w.of_kind("category", name)))
        .collect();
    Ok(shown(&page).into_response())
}

/// Returns a CSV file with the header row of a category's table, as a template to fill in.
pub(crate) async fn template(
    State(app): State<Shared>,
    Path((casino, category)): Path<(CasinoId, String)>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let row = row(&app, &casino).await?;
    let pack = app
        .fleet
        .packs
        .of(&row.config)
        .map_err(|_| Fault::NotFound)?;
    let schema = pack.agents.categories.get(&category.as_str().into());
    let columns = columns(Some(schema.ok_or(Fault::NotFound)?));
    Ok(file(&format!("{category}.csv"), columns.join(",") + "\r\n"))
}

async fn row(app: &App, casino: &CasinoId) -> Result<Casino, Fault> {
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    row.ok_or(Fault::NotFound)
}

/// Checks a file and shows what loading it would do, or everything that is wrong with it.
pub(crate) async fn check(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
    request: Request,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let sent = Multipart::from_request(request, &app).await;
    let sent = sent.map_err(|_| Fault::Forbidden)?;
    let mut page = UploadPage::empty(&casino, &person);
    let w = person.words();
    let (name, bytes, options) = match read(sent, &person).await {
        Ok(sent) => sent,
        Err(Unread::Foreign) => return Err(Fault::Forbidden),
        Err(Unread::TooLarge) => {
            page.problems.push(w.t("upload_too_large").to_owned());
            return Ok((StatusCode::PAYLOAD_TOO_LARGE, shown(&page)).into_response());
        }
        Err(Unread::Nothing) => {
            page.problems.push(w.t("upload_nothing").to_owned());
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, shown(&page)).into_response());
        }
    };
    page.name.clone_from(&name);
    let by = person.actor();
    let loading = terms(&by, options);
    let planned = match File::read(&name, bytes.clone()) {
        Ok(read) => try_load(&app.fleet, &casino, &read, &loading).await,
        Err(error) => Err(error),
    };
    let planned = match planned.map_err(problems) {
        Ok(planned) => planned,
        Err(problems) => return page.refused(person.words(), &problems?),
    };
    page.report(&person, &planned);
    if !page.groups.is_empty() {
        let key = app.fleet.ids.uuid();
        let checked = Checked {
            casino,
            by,
            name,
            bytes,
            options,
            planned,
        };
        app.uploads.insert(key, Arc::new(checked)).await;
        page.key = key.to_string();
    }
    Ok(shown(&page).into_response())
}

/// Loads a checked file for the person who uploaded it. Refuses to load if the changes would differ
/// from those that the person was shown.
pub(crate) async fn agree(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Agreed>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let key = form.key.parse::<Uuid>().unwrap_or_default();
    let kept = app.uploads.get(&key).await;
    let kept = kept.filter(|kept| kept.casino == casino && kept.by == person.actor());
    let mut page = UploadPage::empty(&casino, &person);
    let w = person.words();
    let Some(kept) = kept else {
        page.problems.push(w.t("upload_gone").to_owned());
        return Ok((StatusCode::CONFLICT, shown(&page)).into_response());
    };
    page.name.clone_from(&kept.name);
    let loading = terms(&kept.by, kept.options);
    let (fleet, planned) = (&app.fleet, &kept.planned);
    let done = match File::read(&kept.name, kept.bytes.clone()) {
        Ok(read) => load_as_planned(fleet, &casino, &read, &loading, planned).await,
        Err(error) => Err(error),
    };
    match done.map_err(problems) {
        Ok(Ok(())) => {
            app.uploads.invalidate(&key).await;
            app.hints.changed(&casino);
            page.report(&person, planned);
            page.loaded = true;
            Ok(shown(&page).into_response())
        }
        Ok(Err(_)) => {
            app.uploads.invalidate(&key).await;
            page.problems.push(w.t("upload_moved").to_owned());
            Ok((StatusCode::CONFLICT, shown(&page)).into_response())
        }
        Err(problems) => page.refused(w, &problems?),
    }
}

fn terms(by: &str, options: Options) -> Loading<'_> {
    Loading {
        by,
        approved_by: None,
        switch_off_missing: options.switch_off_missing,
        draft: options.draft,
        keep_waiting: false,
        first_waits_for_nobody: false,
    }
}

/// Redirects people to the form if they reload the address of its result.
pub(crate) async fn again(Path(casino): Path<CasinoId>) -> Response {
    go_to(&format!("/c/{casino}/content/upload"))
}

/// Returns every problem of a file, in words for an editor.
fn problems(error: LoadError) -> Result<Vec<String>, Fault> {
    match error {
        LoadError::Problems { lines, .. } => Ok(lines),
        LoadError::Content {
            why: seven_content::Error::Store(error),
            ..
        } => Err(error.into()),
        error => Ok(vec![error.to_string()]),
    }
}

/// Why no file could be read from a request.
enum Unread {
    /// The request does not come from a page of this session.
    Foreign,
    TooLarge,
    Nothing,
}

/// Reads the file's name and bytes and the chosen options. The form's token comes before the file.
/// If the token is missing or wrong, the file is not read.
async fn read(mut sent: Multipart, person: &Person) -> Result<(String, Vec<u8>, Options), Unread> {
    let (mut ours, mut options, mut file) = (false, Options::default(), None);
    while let Some(field) = sent.next_field().await.map_err(|_| Unread::TooLarge)? {
        match field.name().unwrap_or_default() {
            "forms" => {
                let token = field.text().await.map_err(|_| Unread::Foreign)?;
                ours = token == person.token.for_forms();
            }
            _ if !ours => return Err(Unread::Foreign),
            "off" => options.switch_off_missing = true,
            "draft" => options.draft = true,
            "file" => {
                let name = field.file_name().unwrap_or_default().to_owned();
                let bytes = field.bytes().await.map_err(|_| Unread::TooLarge)?;
                file = Some((name, bytes.to_vec()));
            }
            _ => {}
        }
    }
    let (name, bytes) = file
        .filter(|(_, bytes)| !bytes.is_empty())
        .ok_or(Unread::Nothing)?;
    Ok((name, bytes, options))
}

impl UploadPage {
    fn empty(casino: &CasinoId, person: &Person) -> Self {
        let title = person.words().t("upload");
        Self {
            frame: Frame::of(person, Some(casino), title, "content"),
            casino: casino.clone(),
            name: String::new(),
            key: String::new(),
            problems: Vec::new(),
            groups: Vec::new(),
            unchanged: 0,
            loaded: false,
            categories: Vec::new(),
        }
    }

    /// Shows the page with every problem of the file.
    fn refused(mut self, w: Words, problems: &[String]) -> Result<Response, Fault> {
        self.problems = problems.iter().map(|line| w.problem(line)).collect();
        Ok((StatusCode::UNPROCESSABLE_ENTITY, shown(&self)).into_response())
    }

    /// Fills the report: new and changed items, items that are switched off, items that wait for a
    /// second person, and warnings.
    fn report(&mut self, person: &Person, loaded: &Loaded) {
        let w = person.words();
        self.unchanged = loaded.unchanged;
        let why = |(name, why): &(String, String)| w.problem(&format!("{name}: {why}"));
        let changed = loaded.changed.iter().map(|(name, fields)| {
            let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
            format!("{name}: {}", fields.join("; "))
        });
        let groups = [
            ("upload_new", loaded.created.clone()),
            ("upload_changed", changed.collect()),
            ("upload_off", loaded.switched_off.clone()),
            ("upload_review", loaded.review.iter().map(why).collect()),
            ("upload_warned", loaded.warned.iter().map(why).collect()),
        ];
        let group = |(key, mut lines): (&'static str, Vec<String>)| {
            let more = lines.len().saturating_sub(MOST_LINES);
            lines.truncate(MOST_LINES);
            let name = w.t(key);
            (!lines.is_empty()).then_some(Group { name, lines, more })
        };
        self.groups = groups.into_iter().filter_map(group).collect();
    }
}
