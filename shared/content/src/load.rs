//! Loads a content file, for `seven content load`, the console's upload, tools and tests. The items
//! of the file are saved like any other edit (D31).

use std::{borrow::Cow, path::Path};

use serde_json::Value;
use seven_domain::{CasinoId, ContentFinding, ContentSource, RevisionState};
use seven_knowledge::{Category, Item, Reference, parse_content_of};
use seven_runtime::Fleet;
use seven_store::content::{ListedItem, PublishedItem};

use crate::{
    Edit, Error, Outcome, Terms, Work,
    diff::{Change, changes},
    item_of_row, save,
    table::{MOST_BYTES, MOST_ROWS, TableError, TableRow, read_csv, read_xlsx},
};

/// The name recorded as approver of a casino's first content.
const FIRST_LOAD: &str = "first load";

/// Why a file was not loaded. Nothing from the file was stored.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{file}: {why}")]
    Table { file: String, why: TableError },
    #[error("{0} is not UTF-8")]
    NotText(String),
    #[error("{}, nothing was loaded{}:\n{}", count(lines.len()), way(*only_guards), lines.join("\n"))]
    Problems {
        /// Every problem, with its place in the file, one per line.
        lines: Vec<String>,
        /// Whether only guards refused the file. If so, a second person's approval lets it load.
        only_guards: bool,
    },
    #[error("no content was loaded for {casino}: {why}")]
    Content { casino: CasinoId, why: Error },
}

fn count(problems: usize) -> String {
    match problems {
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    }
}

fn way(only_guards: bool) -> &'static str {
    if only_guards {
        " (--approved-by NAME of a second person loads it all the same)"
    } else {
        ""
    }
}

/// The options for loading a file.
#[derive(Debug, Clone, Copy)]
pub struct Loading<'a> {
    pub by: &'a str,
    /// The person, other than `by`, who approved the file.
    pub approved_by: Option<&'a str>,
    /// Switch off the active items that the file does not contain.
    pub switch_off_missing: bool,
    /// Save all items as drafts. A person publishes them together later.
    pub draft: bool,
    /// Skip items that have a revision waiting for a person.
    pub keep_waiting: bool,
    /// Publish a casino's first content without a second person. Only commands may set this.
    pub first_waits_for_nobody: bool,
}

/// A content file, with the name by which problems refer to it.
#[derive(Debug)]
pub struct File<'a> {
    pub name: &'a str,
    pub content: Content<'a>,
}

#[derive(Debug)]
pub enum Content<'a> {
    /// JSON or JSON Lines.
    Text(Cow<'a, str>),
    /// A spreadsheet's rows.
    Rows(Vec<TableRow>),
}

impl<'a> File<'a> {
    /// Wraps JSON text, which `parse_content_of` parses later.
    pub fn json(name: &'a str, text: &'a str) -> Self {
        let content = Content::Text(Cow::Borrowed(text));
        Self { name, content }
    }

    /// Parses a file by its extension:
    /// - `.csv` is one table. Its column `category` names each row's category. Without that column,
    ///   the file's name is the category.
    /// - `.xlsx` has one tab per category.
    /// - Anything else is JSON.
    ///
    /// # Errors
    /// Fails when the file is not a readable table, not UTF-8 text, or too large.
    pub fn read(name: &'a str, bytes: Vec<u8>) -> Result<Self, LoadError> {
        let table = |why| LoadError::Table {
            file: name.to_owned(),
            why,
        };
        if bytes.len() > MOST_BYTES {
            return Err(table(TableError::TooLarge));
        }
        let path = Path::new(name);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let content = match ending.unwrap_or_default().to_lowercase().as_str() {
            "csv" => Content::Rows(read_csv(stem.unwrap_or_default(), &bytes).map_err(table)?),
            "xlsx" => Content::Rows(read_xlsx(&bytes).map_err(table)?),
            _ => {
                let text = String::from_utf8(bytes);
                let text = text.map_err(|_| LoadError::NotText(name.to_owned()))?;
                Content::Text(text.into())
            }
        };
        Ok(Self { name, content })
    }
}

/// The changes that a file makes; items are given by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    pub created: Vec<String>,
    pub changed: Vec<(String, Vec<Change>)>,
    pub unchanged: usize,
    pub switched_off: Vec<String>,
    /// Items that wait for a second person, each with the reason.
    pub review: Vec<(String, String)>,
    /// Items that were saved with a warning, each with the warning's text.
    pub warned: Vec<(String, String)>,
    /// Number of the casino's items that were active before the load.
    pub active_before: usize,
}

/// Validates the file's items by the casino's time zone and the pack's categories, then saves them.
///
/// # Errors
/// Returns every problem of the file. Nothing is stored in that case.
pub async fn load(
    fleet: &Fleet,
    casino: &CasinoId,
    file: &File<'_>,
    loading: &Loading<'_>,
) -> Result<Loaded, LoadError> {
    let (work, loaded) = put(fleet, casino, file, loading).await?;
    work.commit().await.map_err(|why| content(casino, why))?;
    Ok(loaded)
}

/// Loads the file if it still makes exactly the planned changes. Otherwise stores nothing and
/// returns the changes that the file would make now.
///
/// # Errors
/// As [`load`].
pub async fn load_as_planned(
    fleet: &Fleet,
    casino: &CasinoId,
    file: &File<'_>,
    loading: &Loading<'_>,
    planned: &Loaded,
) -> Result<Result<(), Loaded>, LoadError> {
    let (work, loaded) = put(fleet, casino, file, loading).await?;
    let failed = |why| content(casino, why);
    if loaded == *planned {
        work.commit().await.map_err(failed)?;
        return Ok(Ok(()));
    }
    work.rollback().await.map_err(failed)?;
    Ok(Err(loaded))
}

/// Returns the changes that [`load`] would make, or why it would refuse. Writes nothing.
///
/// # Errors
/// As [`load`].
pub async fn try_load(
    fleet: &Fleet,
    casino: &CasinoId,
    file: &File<'_>,
    loading: &Loading<'_>,
) -> Result<Loaded, LoadError> {
    let (work, loaded) = put(fleet, casino, file, loading).await?;
    work.rollback().await.map_err(|why| content(casino, why))?;
    Ok(loaded)
}

fn content(casino: &CasinoId, why: Error) -> LoadError {
    LoadError::Content {
        casino: casino.clone(),
        why,
    }
}

async fn put<'f>(
    fleet: &'f Fleet,
    casino: &CasinoId,
    file: &File<'_>,
    loading: &Loading<'_>,
) -> Result<(Work<'f>, Loaded), LoadError> {
    let failed = |why| content(casino, why);
    let mut work = Work::begin(fleet, casino).await.map_err(failed)?;
    let before = work.tx().published_items(None).await;
    let before = before.map_err(|error| failed(error.into()))?;
    let values = match &file.content {
        Content::Text(text) => items(&work, (file.name, text))?,
        Content::Rows(rows) => {
            let listed = work.tx().listed_items(None).await;
            let listed = listed.map_err(|error| failed(error.into()))?;
            of_table(&work, (file.name, rows), &before, &listed)
        }
    };
    if values.len() > MOST_ROWS {
        let file = file.name.to_owned();
        let why = TableError::TooLong;
        return Err(LoadError::Table { file, why });
    }
    let named = |id: &str| values.iter().any(|(_, value)| value["id"] == id);
    let missing = before
        .iter()
        .filter(|item| loading.switch_off_missing && item.active && !named(&item.item_id));
    let off = missing.map(|item| {
        let mut value = item.item.clone();
        value["active"] = Value::Bool(false);
        (format!("{}:{}", file.name, item.item_id), value)
    });
    let off: Vec<(String, Value)> = off.collect();
    let (places, edits): (Vec<String>, Vec<Edit>) = values
        .into_iter()
        .chain(off)
        .map(|(place, value)| {
            let edit = Edit {
                value,
                ..Edit::default()
            };
            (place, edit)
        })
        .unzip();
    let terms = Terms {
        source: ContentSource::File,
        editor: loading.by,
        draft: loading.draft,
        approved_by: loading.approved_by.or_else(|| {
            (loading.first_waits_for_nobody && before.is_empty()).then_some(FIRST_LOAD)
        }),
        keep_refused: false,
        keep_waiting: loading.keep_waiting,
    };
    let outcomes = save(&mut work, &terms, &edits).await.map_err(failed)?;
    refused(&places, &outcomes)?;
    let mut loaded = Loaded {
        active_before: before.iter().filter(|item| item.active).count(),
        ..Loaded::default()
    };
    for (edit, outcome) in edits.iter().zip(outcomes) {
        let id = edit.value["id"].as_str().unwrap_or_default();
        let old = before.iter().find(|item| item.item_id == id);
        loaded.note(outcome, old.map(|old| &old.item), &edit.value);
    }
    Ok((work, loaded))
}

/// Parses a JSON file. Returns its items in their stored form, each with its place in the file.
fn items(work: &Work<'_>, (file, text): (&str, &str)) -> Result<Vec<(String, Value)>, LoadError> {
    let (fleet, config) = (work.fleet, &work.row.config);
    let reference = Reference {
        now: fleet.clock.property_now(),
        zone: config.operational.timezone,
    };
    let pack = fleet.packs.of(config);
    let pack = pack.map_err(|why| content(work.tx.casino(), why.into()))?;
    let items = parse_content_of(file, text, reference, &pack.agents.categories);
    let items = items.map_err(|problems| LoadError::Problems {
        lines: problems.iter().map(ToString::to_string).collect(),
        only_guards: false,
    })?;
    let placed = |item: &Item| (format!("{file}:{}", item.id), item.to_json());
    Ok(items.iter().map(placed).collect())
}

/// Returns the items of a spreadsheet's rows, each with its place in the file. A row without an id
/// belongs to the item of the same name in its category, published or not. If there is no such
/// item, the row makes a new one.
fn of_table(
    work: &Work<'_>,
    (file, rows): (&str, &[TableRow]),
    before: &[PublishedItem],
    listed: &[ListedItem],
) -> Vec<(String, Value)> {
    let item = |row: &TableRow| {
        let cell = |wanted: &str| {
            let found = row
                .cells
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| match value {
                Value::String(text) => text.trim().to_owned(),
                other => other.to_string(),
            })
        };
        let category = Category::from(cell("category").unwrap_or_else(|| row.tab.clone()));
        // A blank cell counts like a missing column: the row has no id.
        let id = cell("id").filter(|id| !id.is_empty());
        let (id, name) = (id, cell("name").unwrap_or_default().to_lowercase());
        let same = |known: &&PublishedItem| match &id {
            Some(id) => known.item_id == *id,
            None => {
                let text = |key: &str| known.item[key].as_str().unwrap_or_default().to_lowercase();
                text("name") == name && text("category") == category.as_str()
            }
        };
        let known = before.iter().find(same).map(|known| &known.item);
        let schema = work.schema(category.as_str());
        let mut item = item_of_row(category.as_str(), &row.cells, known, schema);
        let waits = |one: &&ListedItem| {
            one.revision.is_none()
                && one.name.to_lowercase() == name
                && one.category == category.as_str()
        };
        if let (None, None, Some(one)) = (&id, known, listed.iter().find(waits)) {
            item["id"] = one.item_id.clone().into();
        }
        (format!("{file}[{}]:{}", row.tab, row.number), item)
    };
    rows.iter().map(item).collect()
}

/// If an edit was refused, fails with all findings of the checks and guards.
fn refused(places: &[String], outcomes: &[Outcome]) -> Result<(), LoadError> {
    let mut lines = Vec::new();
    let mut only_guards = true;
    for (place, outcome) in places.iter().zip(outcomes) {
        let Outcome::Refused { findings, .. } = outcome else {
            continue;
        };
        for finding in findings {
            only_guards &= finding.kind != ContentFinding::Invalid;
            lines.push(format!("{place}:{finding}"));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    Err(LoadError::Problems { lines, only_guards })
}

impl Loaded {
    fn note(&mut self, outcome: Outcome, before: Option<&Value>, after: &Value) {
        let Outcome::Saved {
            name,
            state,
            new,
            findings,
            ..
        } = outcome
        else {
            self.unchanged += 1;
            return;
        };
        let why: Vec<String> = findings
            .iter()
            .map(|finding| format!("{}: {}", finding.problem.field, finding.problem.problem))
            .collect();
        if state == RevisionState::Review {
            self.review.push((name, why.join("; ")));
            return;
        }
        if !why.is_empty() {
            self.warned.push((name.clone(), why.join("; ")));
        }
        let is_off = |value: &Value| value["active"] == Value::Bool(false);
        match before {
            _ if new => self.created.push(name),
            Some(before) if is_off(after) && !is_off(before) => self.switched_off.push(name),
            before => {
                let fields = changes(before.unwrap_or(&Value::Null), after);
                self.changed.push((name, fields));
            }
        }
    }
}
