//! The letter about content that was refused, as plain text for mail and chat.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;
use seven_domain::Language;
use url::Url;

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
    /// The subject for an edit, with `{item}`, and the one for a whole spreadsheet.
    edit: String,
    sheet: String,
    /// The one for a spreadsheet whose address does not answer.
    away: String,
    /// Names who edited, with `{editor}`.
    by: String,
    /// A sentence about the content that guests get meanwhile.
    meanwhile: String,
    more: String,
}

/// Subjects of letters about a whole spreadsheet; no item has these names.
pub const SHEET: &str = "content_sheet refused";
pub const AWAY: &str = "content_sheet away";

/// Returns subject and text. `detail` is what `plan_refusal_letters` stored; `page` the console's
/// list of content.
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
        body.push_str(&format!("- {}\n", problem.as_str().unwrap_or_default()));
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
        let sheet =
            json!({ "subject": SHEET, "editor": "content_sheet", "problems": ["no answer"] });
        let (subject, body) = letter(Language::Es, "Silver Birch", &sheet, &page);
        assert!(
            !subject.contains('{') && !body.contains("content_sheet"),
            "{body}"
        );
    }
}
