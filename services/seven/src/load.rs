//! Loads a content file by the one path of content (D31), for `content load`, tools and tests.

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use seven_content::{Edit, Outcome, Terms, Work, save};
use seven_domain::{CasinoId, ContentSource, RevisionState};
use seven_knowledge::{Reference, parse_content_of};
use seven_runtime::Fleet;

use seven_content::diff::{Change, changes};

/// The actor of a casino's first content, which no guest has had an answer from.
const FIRST_LOAD: &str = "first load";

/// The way in which a file is loaded.
#[derive(Debug, Clone, Copy)]
pub struct Loading<'a> {
    pub by: &'a str,
    /// The person who approved the file; not the one who loads it.
    pub approved_by: Option<&'a str>,
    /// Switch off the items that the file does not name.
    pub switch_off_missing: bool,
}

/// The changes that a file makes, by the items' names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    pub created: Vec<String>,
    pub changed: Vec<(String, Vec<Change>)>,
    pub unchanged: usize,
    pub switched_off: Vec<String>,
    /// Items that wait for a second person, and why.
    pub review: Vec<(String, String)>,
    /// Items that are saved with a warning.
    pub warned: Vec<(String, String)>,
    /// The casino's items that are on before.
    pub active_before: usize,
}

/// Validates the file against the casino's time zone and its pack's categories, and saves its items.
///
/// # Errors
/// Fails with every problem of the file, and then nothing is stored.
pub async fn load(
    fleet: &Fleet,
    casino: &CasinoId,
    (file, text): (&str, &str),
    loading: &Loading<'_>,
) -> Result<Loaded> {
    let (work, loaded) = put(fleet, casino, (file, text), loading).await?;
    work.commit().await?;
    Ok(loaded)
}

/// Returns what [`load`] would do, or why it would refuse. Writes nothing.
///
/// # Errors
/// As [`load`].
pub async fn try_load(
    fleet: &Fleet,
    casino: &CasinoId,
    (file, text): (&str, &str),
    loading: &Loading<'_>,
) -> Result<Loaded> {
    let (work, loaded) = put(fleet, casino, (file, text), loading).await?;
    work.rollback().await?;
    Ok(loaded)
}

async fn put<'f>(
    fleet: &'f Fleet,
    casino: &CasinoId,
    (file, text): (&str, &str),
    loading: &Loading<'_>,
) -> Result<(Work<'f>, Loaded)> {
    let mut work = Work::begin(fleet, casino)
        .await
        .with_context(|| format!("no content was loaded for {casino}"))?;
    let values = read(fleet, &mut work, (file, text)).await?;
    let before = work.tx().published_items(None).await?;
    let named = |id: &str| values.iter().any(|value| value["id"] == id);
    let missing = before
        .iter()
        .filter(|item| loading.switch_off_missing && item.active && !named(&item.item_id));
    let off = missing.map(|item| {
        let mut value = item.item.clone();
        value["active"] = Value::Bool(false);
        value
    });
    let edits: Vec<Edit> = values
        .iter()
        .cloned()
        .chain(off)
        .map(|value| Edit {
            value,
            ..Edit::default()
        })
        .collect();
    let terms = Terms {
        source: ContentSource::File,
        editor: loading.by,
        draft: false,
        approved_by: loading
            .approved_by
            .or_else(|| before.is_empty().then_some(FIRST_LOAD)),
        keep_refused: false,
    };
    let outcomes = save(&mut work, &terms, &edits).await?;
    refused(file, &outcomes)?;
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

/// Reads the items of a file in the form in which they are stored.
async fn read(
    fleet: &Fleet,
    work: &mut Work<'_>,
    (file, text): (&str, &str),
) -> Result<Vec<Value>> {
    let row = work.tx().casino_row().await?.context("no such casino")?;
    let reference = Reference {
        now: fleet.clock.property_now(),
        zone: row.config.operational.timezone,
    };
    let categories = &fleet.packs.of(&row.config)?.agents.categories;
    let items = parse_content_of(file, text, reference, categories).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow!(
            "{} problems, nothing was loaded:\n{}",
            lines.len(),
            lines.join("\n")
        )
    })?;
    Ok(items.iter().map(seven_knowledge::Item::to_json).collect())
}

/// Fails with what the guards refused.
fn refused(file: &str, outcomes: &[Outcome]) -> Result<()> {
    let lines: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Refused { item_id, findings } => Some((item_id, findings)),
            _ => None,
        })
        .flat_map(|(id, findings)| findings.iter().map(move |finding| (id, &finding.problem)))
        .map(|(id, problem)| {
            format!(
                "{file}:{id}:{}: {}; {}",
                problem.field, problem.problem, problem.fix
            )
        })
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(anyhow!(
        "{} problems, nothing was loaded (--approved-by NAME of a second person loads it all the same):\n{}",
        lines.len(),
        lines.join("\n")
    ))
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
            .map(|finding| format!("{} {}", finding.problem.field, finding.problem.problem))
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
