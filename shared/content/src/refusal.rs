//! Stores refused edits for their editors, and writes the letters about them as plain text.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;
use seven_domain::{Language, RevisionState};
use seven_knowledge::Category;
use seven_store::content::NewRevision;
use sha2::{Digest, Sha256};
use url::Url;

use crate::{
    Edit, Error, Terms, Work,
    check::{MOST_ID_CHARS, has_nul, id_of},
    guard::{Finding, as_json},
    said,
};

static WORDS: LazyLock<Languages> = LazyLock::new(|| {
    toml::from_str(include_str!("../words/refusal.toml")).expect("the words are read, says a test")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Languages {
    en: Words,
    es: Words,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// The subject of a letter about an edit, with `{item}`; `sheet` is the subject for a whole
    /// spreadsheet.
    edit: String,
    sheet: String,
    /// The subject if the spreadsheet's address does not answer.
    away: String,
    /// The line that names the editor, with `{editor}`.
    by: String,
    /// A sentence that says which content guests get until the problem is solved.
    meanwhile: String,
    more: String,
}

/// Stores a refused edit as a rejected revision if `terms.keep_refused` is set and the edit has an
/// id.
pub(crate) async fn refuse(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    edit: &Edit,
    value: &Value,
    findings: &[Finding],
) -> Result<(), Error> {
    let Some(id) = id_of(value).filter(|id| id.chars().count() <= MOST_ID_CHARS) else {
        return Ok(());
    };
    // An edit that came without an id is not stored. Its editor does not know the generated id, and
    // so could never settle the refused revision.
    if !terms.keep_refused || id_of(&edit.value).is_none() || has_nul(value) {
        return Ok(());
    }
    let text = |key| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let category = Category::from(text("category"));
    let name: String = text("name").chars().take(200).collect();
    let refused = NewRevision {
        item_id: &id,
        category: category.as_str(),
        name: &name,
        item: value,
        content_hash: "",
        active: false,
        state: RevisionState::Rejected,
        source: terms.source,
        editor: terms.editor,
        base: None,
        findings: &as_json(findings),
        publish_at: edit.publish_at,
        take_down_at: edit.take_down_at,
    };
    work.tx.add_revision(&refused).await?;
    tell(work, terms, &refused, findings).await
}

/// Plans letters about a refused edit if changes of its category need a second person. Until the
/// edit is corrected, guests get the old version, for example of a regulation.
async fn tell(
    work: &mut Work<'_>,
    terms: &Terms<'_>,
    refused: &NewRevision<'_>,
    findings: &[Finding],
) -> Result<(), Error> {
    let rules = &work.fleet.packs.of(&work.row.config)?.rules.content;
    let ids = [refused.item_id.to_owned()];
    let before = work.tx.published_items(Some(&ids)).await?.pop();
    // Also checks the category of the published item, because the new category may be mistyped.
    let before = before.and_then(|before| before.item["category"].as_str().map(str::to_owned));
    let is = |category: &str| rules.review.iter().any(|one| one == category);
    if !is(refused.category) && !before.is_some_and(|before| is(&before)) {
        return Ok(());
    }
    let problems: Vec<String> = findings.iter().map(ToString::to_string).collect();
    // A spreadsheet sends the row again after every edited cell. The same problems cause at most
    // one letter a day.
    let told = hex::encode(Sha256::digest(problems.join("\n")));
    let day = work.fleet.clock.now().date_naive();
    let key = format!("{} {day} {}", refused.item_id, &told[..16]);
    let subject = if refused.name.is_empty() {
        refused.item_id
    } else {
        refused.name
    };
    let tx = &mut work.tx;
    tx.plan_refusal_letters(&key, subject, terms.editor, &problems)
        .await?;
    Ok(())
}

/// Subjects of letters about a whole spreadsheet. `SHEET`: the spreadsheet was refused. `AWAY`: its
/// address does not answer.
pub const SHEET: &str = "content_sheet refused";
pub const AWAY: &str = "content_sheet away";

/// Returns the letter's subject and text. `detail` is the JSON that `plan_refusal_letters` stored.
/// `page` is the address of the console's list of content.
pub fn letter(language: Language, casino: &str, detail: &Value, page: &Url) -> (String, String) {
    let words = match language {
        Language::En => &WORDS.en,
        Language::Es => &WORDS.es,
    };
    let text = |key: &str| detail[key].as_str().unwrap_or_default();
    let (item, editor) = (text("subject"), text("editor"));
    let of_sheet = matches!(item, SHEET | AWAY);
    let what = match item {
        SHEET => words.sheet.clone(),
        AWAY => words.away.clone(),
        item => words.edit.replace("{item}", item),
    };
    let subject = format!("{casino}: {what}");
    let mut body = format!("{subject}\n\n");
    for problem in detail["problems"].as_array().into_iter().flatten() {
        let problem = said(language, problem.as_str().unwrap_or_default());
        body.push_str(&format!("- {problem}\n"));
    }
    let by = match of_sheet {
        true => String::new(),
        false => words.by.replace("{editor}", editor) + "\n",
    };
    body.push_str(&format!(
        "\n{by}{}\n\n{}: {page}\n",
        words.meanwhile, words.more
    ));
    (subject, body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test] // CMS-47
    fn a_letter_names_the_item_the_problems_and_who_edited() {
        let page = "https://console.example/c/silver_birch/content"
            .parse()
            .unwrap();
        let detail = json!({ "subject": "Age limit", "editor": "ana@example.com",
            "problems": ["minimum_age: `old` is no number. Write 21"] });
        let (subject, body) = letter(Language::En, "Silver Birch", &detail, &page);
        assert_eq!(
            subject,
            "Silver Birch: a change of \"Age limit\" was refused"
        );
        for part in [
            "- minimum_age: `old` is no number. Write 21\n",
            "ana@example.com",
            page.as_str(),
        ] {
            assert!(body.contains(part), "{part}: {body}");
        }
        let old = json!({ "subject": "Age limit", "problems": ["name: is missing; remove it"] });
        let (_, body) = letter(Language::Es, "Silver Birch", &old, &page);
        assert!(body.contains("- name: falta; elimínelo\n"), "{body}");
        let sheet =
            json!({ "subject": SHEET, "editor": "content_sheet", "problems": ["no answer"] });
        let (subject, body) = letter(Language::Es, "Silver Birch", &sheet, &page);
        assert!(
            !subject.contains('{') && !body.contains("content_sheet"),
            "{body}"
        );
    }
}
