//! The message about one case: its facts, and its forms for chat, mail and phone. All functions are
//! pure.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};
use seven_domain::{CaseSeverity, IncidentKind, Language};
use url::Url;

use crate::{DANGERS, Words, reason_name};

/// Maximum length of one quoted text, in characters.
const MOST_QUOTED: usize = 300;
/// Maximum length of one text object of a chat message, in characters; Slack accepts 3000.
const MOST_BLOCK: usize = 2_900;

/// One text of the conversation.
#[derive(Debug, Clone)]
pub struct Line {
    pub from_guest: bool,
    pub text: String,
}

/// The facts of a notice. `known` and `lines` are empty unless the contact may read guests' words.
#[derive(Debug, Clone)]
pub struct CaseMessage {
    pub language: Language,
    /// The casino's name as guests see it.
    pub casino: String,
    pub zone: Tz,
    pub severity: CaseSeverity,
    pub reason: String,
    /// The content row or category that the case is about; empty for none.
    pub about: String,
    pub level: i32,
    pub repeats: i32,
    /// The last four digits of the guest's number; empty for a case without a guest.
    pub last_four: String,
    pub opened_at: DateTime<Utc>,
    pub ack_due_at: Option<DateTime<Utc>>,
    pub respond_due_at: Option<DateTime<Utc>>,
    /// Known facts about the guest, such as the occasion.
    pub known: Vec<String>,
    /// The newest texts of the conversation, oldest first.
    pub lines: Vec<Line>,
    pub link: Url,
}

/// Returns a guest's text as one line that is safe to show. It has at most 300 characters, no
/// control characters, and no marks that change the writing direction.
pub fn shown_line(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    let mut line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !turns(*c))
        .take(MOST_QUOTED + 1)
        .collect();
    if line.chars().count() > MOST_QUOTED {
        line = line.chars().take(MOST_QUOTED - 1).collect();
        line.push('…');
    }
    line
}

/// Returns the text message with the confirmation code for a phone of staff.
pub fn code_text(language: Language, casino: &str, code: &str) -> String {
    let text = Words(language).t("code_text");
    text.replace("{code}", code).replace("{casino}", casino)
}

impl CaseMessage {
    fn words(&self) -> Words {
        Words(self.language)
    }

    fn local(&self, at: DateTime<Utc>) -> String {
        at.with_timezone(&self.zone)
            .format("%Y-%m-%d %H:%M %Z")
            .to_string()
    }

    /// Returns one line that states what happened.
    pub fn subject(&self) -> String {
        let w = self.words();
        let what = w.t(match self.reason.as_str() {
            reason if DANGERS.contains(&reason) => "danger",
            reason if reason.parse::<IncidentKind>().is_ok() => "contained",
            "staff_stopped" | "reply_waits" | "handed_on" => "please_look",
            _ => "subject",
        });
        let reason = reason_name(self.language, &self.reason);
        format!("{}: {what} ({reason})", self.casino)
    }

    /// Returns the facts as pairs of label and value.
    fn facts(&self) -> Vec<(String, String)> {
        let w = self.words();
        let due = |at: Option<DateTime<Utc>>| at.map(|at| self.local(at));
        let guest = (!self.last_four.is_empty())
            .then(|| format!("{} {}", w.t("guest_ending"), self.last_four));
        let level = (self.level > 1).then(|| format!("{} {}", self.level, w.t("of_three")));
        let rows = [
            ("severity", Some(self.severity.to_string())),
            ("reason", Some(reason_name(self.language, &self.reason))),
            (
                "about",
                (!self.about.is_empty()).then(|| shown_line(&self.about)),
            ),
            ("guest", guest),
            ("opened", Some(self.local(self.opened_at))),
            ("acknowledge_by", due(self.ack_due_at)),
            ("write_by", due(self.respond_due_at)),
            ("level", level),
            (
                "repeats",
                (self.repeats > 0).then(|| self.repeats.to_string()),
            ),
            (
                "known",
                (!self.known.is_empty()).then(|| shown_line(&self.known.join(", "))),
            ),
        ];
        rows.into_iter()
            .filter_map(|(name, value)| Some((w.t(name), value?)))
            .collect()
    }

    /// Returns the newest texts, each prefixed with its author.
    fn quoted(&self) -> Vec<String> {
        let w = self.words();
        let said = |line: &Line| {
            let who = w.t(if line.from_guest {
                "from_guest"
            } else {
                "from_us"
            });
            format!("{who}: {}", shown_line(&line.text))
        };
        self.lines.iter().map(said).collect()
    }

    /// Returns the text for a phone: the reason, the time and the link, never a guest's words.
    pub fn text(&self) -> String {
        let w = self.words();
        let mut parts = vec![self.subject()];
        if !self.last_four.is_empty() {
            parts.push(format!("{} {}", w.t("guest_ending"), self.last_four));
        }
        if let Some(due) = self.ack_due_at {
            let due = due.with_timezone(&self.zone).format("%H:%M");
            parts.push(format!("{} {due}", w.t("by_time")));
        }
        format!("{}. {}", parts.join(", "), self.link)
    }

    /// Returns the body of a mail. It is plain text, so markup in a guest's words has no effect.
    pub fn mail(&self) -> String {
        let w = self.words();
        let facts = self.facts();
        let mut parts = vec![
            facts
                .iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect::<Vec<_>>()
                .join("\n"),
        ];
        if !self.lines.is_empty() {
            parts.push(format!("{}\n{}", w.t("texts"), self.quoted().join("\n")));
        }
        parts.push(format!(
            "{}\n{}\n\n{}",
            w.t("open"),
            self.link,
            w.t("link_hint")
        ));
        parts.join("\n\n")
    }

    /// Returns the message for a Slack-compatible webhook. `text` is for push notifications and for
    /// servers that show no blocks; `blocks` are shown in the channel. A guest's words are in
    /// `plain_text` objects, in which markup and mentions have no effect.
    pub fn chat(&self) -> Value {
        let w = self.words();
        let facts = self.facts();
        let fields: Vec<String> = facts
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let plain = |text: &str| json!({ "type": "plain_text", "emoji": false, "text": text });
        let block: String = fields.join("\n").chars().take(MOST_BLOCK).collect();
        let mut blocks = vec![
            json!({ "type": "header", "text": plain(&self.subject().chars().take(140).collect::<String>()) }),
            json!({ "type": "section", "text": plain(&block) }),
        ];
        if !self.lines.is_empty() {
            let quoted: String = format!("{}\n{}", w.t("texts"), self.quoted().join("\n"))
                .chars()
                .take(MOST_BLOCK)
                .collect();
            blocks.push(json!({ "type": "section", "text": plain(&quoted) }));
        }
        let button = json!({
            "type": "button", "style": "primary", "text": plain(&w.t("open")),
            "url": self.link.as_str(), "action_id": "open_case",
        });
        blocks.push(json!({ "type": "actions", "elements": [button] }));
        let text = format!(
            "{}\n{}\n{}: {}",
            self.subject(),
            fields.join("\n"),
            w.t("open"),
            self.link
        );
        json!({ "text": escaped(&text), "blocks": blocks })
    }
}

/// Escapes the three characters that Slack reads as markup.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> CaseMessage {
        CaseMessage {
            language: Language::En,
            casino: "Silver Birch".to_owned(),
            zone: chrono_tz::America::New_York,
            severity: CaseSeverity::Sev2,
            reason: "asks_for_human".to_owned(),
            about: String::new(),
            level: 1,
            repeats: 0,
            last_four: "0142".to_owned(),
            opened_at: "2026-11-27T15:00:00Z".parse().unwrap(),
            ack_due_at: Some("2026-11-27T17:00:00Z".parse().unwrap()),
            respond_due_at: None,
            known: Vec::new(),
            lines: Vec::new(),
            link: "https://console.example/n/silver_birch/abc"
                .parse()
                .unwrap(),
        }
    }

    #[test] // D28, SEC-115
    fn a_notice_tells_the_case_without_words_of_the_guest() {
        let plain = message();
        let mail = plain.mail();
        assert_eq!(
            plain.subject(),
            "Silver Birch: A guest needs a person (asks for a person)"
        );
        assert_eq!(
            mail,
            "Severity: sev2\nReason: asks for a person\nGuest: number ending 0142\n\
             Opened: 2026-11-27 10:00 EST\nAcknowledge by: 2026-11-27 12:00 EST\n\n\
             Open and acknowledge\nhttps://console.example/n/silver_birch/abc\n\n\
             The link opens this case only, for 24 hours. To read and write, log in."
        );
        let chat = plain.chat();
        assert_eq!(chat["blocks"].as_array().unwrap().len(), 3);
        assert!(
            chat["text"]
                .as_str()
                .unwrap()
                .contains("number ending 0142")
        );
    }

    #[test] // D28
    fn a_later_level_a_danger_and_spanish_read_as_such() {
        let mut risen = message();
        (risen.level, risen.repeats, risen.about) = (3, 2, "Birch Grill".to_owned());
        let mail = risen.mail();
        assert!(mail.contains("this is notice: 3 of 3"), "{mail}");
        assert!(mail.contains("Came again: 2") && mail.contains("About: Birch Grill"));
        risen.reason = "crisis".to_owned();
        assert!(risen.subject().contains("may be in danger"));
        risen.language = Language::Es;
        assert!(risen.subject().contains("en peligro"));
        assert!(risen.mail().contains("número terminado en 0142"));
    }

    #[test] // D28: forty hostile texts are tried in tests/it
    fn a_guests_words_stay_words() {
        let mut quoting = message();
        let hostile =
            "<!channel> *bold* <https://evil.example|click>\u{202e}\u{1b}[31m\r\nSubject: x";
        quoting.lines = vec![Line {
            from_guest: true,
            text: hostile.to_owned(),
        }];
        let chat = quoting.chat();
        let block = &chat["blocks"][2]["text"];
        assert_eq!(block["type"], "plain_text");
        let said = block["text"].as_str().unwrap();
        assert!(said.contains("Guest: <!channel> *bold*"), "{said}");
        assert!(!said.contains(['\u{202e}', '\u{1b}', '\r']), "{said:?}");
        assert_eq!(said.lines().count(), 2, "{said:?}");
        assert!(!chat["text"].as_str().unwrap().contains("channel"));
        let long = shown_line(&"e\u{301}".repeat(4_000));
        assert_eq!(long.chars().count(), MOST_QUOTED);
    }
}
