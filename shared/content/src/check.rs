//! Checks an edit against the pack's schema and the calendar, before the guards check it.

use chrono::TimeDelta;
use serde_json::Value;
use seven_domain::ContentFinding;
use seven_knowledge::{Categories, Item, Problem, Reference};

use crate::{Edit, Work, guard::Finding};

/// Maximum length of an item's id, in characters. Ids appear in page addresses and in the audit
/// log.
pub(crate) const MOST_ID_CHARS: usize = 64;

/// Parses an item as a person wrote it. Returns all problems at once if the item is invalid.
pub(crate) fn read_item(work: &Work<'_>, value: &Value) -> Result<Item, Vec<Finding>> {
    let reference = Reference {
        now: work.fleet.clock.property_now(),
        zone: work.row.config.operational.timezone,
    };
    let nothing = Categories::default();
    let pack = work.fleet.packs.of(&work.row.config).ok();
    let categories = pack
        .as_ref()
        .map_or(&nothing, |pack| &pack.agents.categories);
    if has_nul(value) {
        return Err(vec![invalid(Problem {
            field: "item".into(),
            problem: "has a NUL character".into(),
            fix: "remove it".into(),
        })]);
    }
    let mut problems = match Item::read(value, reference) {
        Ok(item) => {
            let problems = categories.problems(&item);
            if problems.is_empty() && item.id.chars().count() <= MOST_ID_CHARS {
                return Ok(item);
            }
            problems
        }
        Err(problems) => problems,
    };
    if id_of(value).is_some_and(|id| id.chars().count() > MOST_ID_CHARS) {
        problems.push(Problem {
            field: "id".into(),
            problem: format!("has more than {MOST_ID_CHARS} characters"),
            fix: "use a short id such as dining_001".into(),
        });
    }
    Err(problems.into_iter().map(invalid).collect())
}

/// Maximum distance of an edit's times from now.
const MOST_AHEAD: TimeDelta = TimeDelta::days(3_660);

/// Returns the problems with an edit's times. An end in the past is a problem: it would switch the
/// item off, and no guard would check that.
pub(crate) fn times(work: &Work<'_>, edit: &Edit) -> Vec<Finding> {
    let now = work.fleet.clock.now();
    let begins = edit.publish_at.unwrap_or(now).max(now);
    let wrong = |field: &str, problem: &str, fix: &str| {
        invalid(Problem {
            field: field.into(),
            problem: problem.into(),
            fix: fix.into(),
        })
    };
    let mut found = Vec::new();
    if edit.take_down_at.is_some_and(|at| at <= begins) {
        let fix = "write a later time, or switch the item off now";
        found.push(wrong("take_down_at", "is before the item begins", fix));
    }
    for (field, at) in [
        ("publish_at", edit.publish_at),
        ("take_down_at", edit.take_down_at),
    ] {
        if at.is_some_and(|at| at > now + MOST_AHEAD) {
            found.push(wrong(
                field,
                "is more than ten years ahead",
                "write a nearer time",
            ));
        }
    }
    found
}

/// Returns whether a text contains a NUL character, which Postgres cannot store.
pub(crate) fn has_nul(value: &Value) -> bool {
    value.to_string().contains("\\u0000")
}

pub(crate) fn invalid(problem: Problem) -> Finding {
    Finding {
        kind: ContentFinding::Invalid,
        problem,
    }
}

/// Returns the item's id; `None` if it has none or the id is blank.
pub(crate) fn id_of(value: &Value) -> Option<String> {
    let id = match value.get("id")? {
        Value::String(text) => text.trim().to_owned(),
        // In a spreadsheet, the cell with the id may be a number.
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!id.is_empty()).then_some(id)
}
