//! Rules that every reply must keep, whichever model wrote it. They are checked in code, because no
//! prompt can guarantee them.

use serde::{Deserialize, Serialize};
use seven_domain::ReplyLength;

mod phrases;

use self::phrases::{BOOKED, COMPS, EMPTY_PROMISES, INTERNALS, PROMISES, SELF, WINNING};
use crate::{Evidence, Unfounded};

/// Maximum number of SMS segments of a reply, on a channel that has segments.
const MOST_SEGMENTS: usize = 2;

/// A rule that a reply breaks. The finding is stored with the turn and given to the agent that
/// writes the reply again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    Empty,
    /// The reply has more segments than it may have.
    TooLong {
        segments: usize,
    },
    /// The reply has more characters than it may have on a channel without segments.
    TooManyCharacters {
        characters: usize,
    },
    /// The reply asks more than one question.
    Questions {
        count: usize,
    },
    /// A list, a heading, bold type or a link in brackets.
    Markup,
    /// The reply calls the host an AI although the guest did not ask. The disclosure already says
    /// that the host is an AI.
    SelfReference,
    /// The reply speaks of comps or free play, which only an agent whose `offers` is true may do.
    CompLanguage,
    /// The reply promises that gambling pays.
    GamingPromise,
    /// The reply promises that somebody will check, call or write. A reply does not open a case, so
    /// nobody would keep the promise.
    EmptyPromise,
    /// The reply says that something was booked, reserved or confirmed, which none of our tools can
    /// do.
    Booking,
    /// The reply shows part of a prompt, plan or tool, such as "search_dining", "{casino}" or
    /// "system prompt".
    Internals,
    /// The reply has a link, or an emoji although the casino allows none. With an emoji, a text is
    /// sent as UCS-2 and needs more segments.
    Style,
    /// The reply names this adults-only place although somebody under 21 comes along.
    ForAdults(String),
    Unfounded(Unfounded),
}

impl Finding {
    /// Returns the rule's metric label.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong { .. } | Self::TooManyCharacters { .. } => "too_long",
            Self::Questions { .. } => "questions",
            Self::Markup => "markup",
            Self::SelfReference => "self_reference",
            Self::CompLanguage => "comp_language",
            Self::GamingPromise => "gaming_promise",
            Self::EmptyPromise => "empty_promise",
            Self::Booking => "booking",
            Self::Internals => "internals",
            Self::Style => "style",
            Self::ForAdults(_) => "for_adults",
            Self::Unfounded(Unfounded::Money(_)) => "money",
            Self::Unfounded(Unfounded::Time(_)) => "time",
            Self::Unfounded(Unfounded::Number(_)) => "number",
            Self::Unfounded(Unfounded::Name(_)) => "name",
        }
    }

    /// Tells the agent how the next reply must differ.
    pub fn feedback(&self) -> String {
        match self {
            Self::Empty => "The reply was empty.".to_owned(),
            Self::TooLong { segments } => {
                format!("The reply took {segments} segments; write less.")
            }
            Self::TooManyCharacters { characters } => {
                format!("The reply took {characters} characters; write less.")
            }
            Self::Questions { count } => {
                format!("The reply asked {count} questions; ask at most one.")
            }
            Self::Markup => "Plain sentences only: no list, no markup.".to_owned(),
            Self::SelfReference => "Do not speak about being an AI unless asked.".to_owned(),
            Self::CompLanguage => {
                "Do not speak of complimentary things, free play or credits.".to_owned()
            }
            Self::GamingPromise => "Never promise or suggest a win.".to_owned(),
            Self::EmptyPromise => {
                "Promise no check, call or text by you or anybody; give the phone number."
                    .to_owned()
            }
            Self::Booking => {
                "Nothing is booked, reserved or confirmed by text: say who can do it.".to_owned()
            }
            Self::Internals => {
                "Nothing of instructions, plans, tools or data formats may be in a reply."
                    .to_owned()
            }
            Self::Style => "No links, and no emoji unless you were told that you may.".to_owned(),
            Self::ForAdults(name) => {
                format!("Somebody under 21 comes: do not name {name}, it is for adults only.")
            }
            Self::Unfounded(what) => format!(
                "Nothing in the casino's content says {}; leave it out.",
                said(what)
            ),
        }
    }
}

fn said(what: &Unfounded) -> &str {
    match what {
        Unfounded::Money(said)
        | Unfounded::Time(said)
        | Unfounded::Number(said)
        | Unfounded::Name(said) => said,
    }
}

/// The facts and limits that a reply is checked against.
#[derive(Debug, Clone)]
pub struct Check<'a> {
    pub evidence: &'a Evidence,
    /// Maximum length of `lead` and the reply together.
    pub length: ReplyLength,
    /// The text that persona-envelope puts before the reply.
    pub lead: Option<&'a str>,
    /// Whether the agent may speak of offers.
    pub offers: bool,
    /// Whether the guest asked if a person or a machine answers.
    pub asked_identity: bool,
    /// Whether the casino lets the host write emoji.
    pub emoji: bool,
}

impl Check<'_> {
    fn length_finding(&self, reply: &str) -> Option<Finding> {
        let led = self.lead.map(|lead| format!("{lead} {reply}"));
        let whole = led.as_deref().unwrap_or(reply);
        match self.length {
            // Measures the reply in the form in which persona-envelope sends it: in GSM-7 if
            // possible.
            ReplyLength::Texts => {
                let segments = seven_sms::measure(&seven_sms::transliterate(whole)).segments;
                (segments > MOST_SEGMENTS).then_some(Finding::TooLong { segments })
            }
            ReplyLength::Message { most, .. } => {
                let characters = whole.chars().count();
                (characters > most).then_some(Finding::TooManyCharacters { characters })
            }
        }
    }

    /// Returns every rule that the reply breaks; an empty list if the reply may be sent.
    pub fn findings(&self, reply: &str) -> Vec<Finding> {
        if reply.trim().is_empty() {
            return vec![Finding::Empty];
        }
        let folded = format!(" {} ", folded_words(reply));
        let has = |phrases: &[&str]| {
            phrases
                .iter()
                .any(|phrase| folded.contains(&format!(" {phrase} ")))
        };
        let questions = reply.split('?').count() - 1;
        let mut findings = Vec::from_iter(self.length_finding(reply));
        if questions > 1 {
            findings.push(Finding::Questions { count: questions });
        }
        if has_markup(reply) {
            findings.push(Finding::Markup);
        }
        if !self.asked_identity && has(SELF) {
            findings.push(Finding::SelfReference);
        }
        if !self.offers && (has(COMPS) || has_discount(&folded)) {
            findings.push(Finding::CompLanguage);
        }
        if has(BOOKED) {
            findings.push(Finding::Booking);
        }
        if has(INTERNALS) || has_code(reply) {
            findings.push(Finding::Internals);
        }
        if has_link(reply) || !self.emoji && has_emoji(reply) {
            findings.push(Finding::Style);
        }
        if has(PROMISES) || has(&["guaranteed", "garantizado", "garantizada"]) && has(WINNING) {
            findings.push(Finding::GamingPromise);
        }
        if has(EMPTY_PROMISES) || has_person_who_will(&folded) {
            findings.push(Finding::EmptyPromise);
        }
        findings.extend(
            self.evidence
                .unfounded(reply)
                .into_iter()
                .map(Finding::Unfounded),
        );
        findings
    }
}

/// Finds promises of contact, such as "our team will text you", "we'll email you" or "alguien le
/// llamara".
fn has_person_who_will(folded: &str) -> bool {
    const WHO: &[&str] = &[
        "someone",
        "somebody",
        "team",
        "person",
        "host",
        "concierge",
        "manager",
        "staff",
        "we",
    ];
    const DOES: &[&str] = &[
        "call", "text", "contact", "email", "message", "reach", "write",
    ];
    const YOU: &[&str] = &["you", "back", "out", "to"];
    const QUIEN: &[&str] = &[
        "alguien",
        "equipo",
        "persona",
        "anfitrion",
        "gerente",
        "personal",
        "nosotros",
    ];
    const LE: &[&str] = &["le", "lo", "la", "te", "se"];
    const HARA: &[&str] = &[
        "llamara",
        "escribira",
        "contactara",
        "contestara",
        "avisara",
        "llama",
        "escribe",
        "contacta",
        "contesta",
    ];
    let words: Vec<&str> = folded.split_whitespace().collect();
    let english = words.windows(4).any(|four| {
        WHO.contains(&four[0])
            && four[1] == "will"
            && DOES.contains(&four[2])
            && YOU.contains(&four[3])
    });
    let short =
        |three: &[&str]| three[0] == "we'll" && DOES.contains(&three[1]) && YOU.contains(&three[2]);
    let spanish = |three: &[&str]| {
        QUIEN.contains(&three[0]) && LE.contains(&three[1]) && HARA.contains(&three[2])
    };
    english || words.windows(3).any(|three| short(three) || spanish(three))
}

/// Finds discounts, such as "$20 off" or "20 % de descuento". A plain price is not a discount.
fn has_discount(folded: &str) -> bool {
    let words: Vec<&str> = folded.split_whitespace().collect();
    let number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    words
        .windows(2)
        .any(|pair| number(pair[0]) && matches!(pair[1], "off" | "menos"))
        || words
            .windows(3)
            .any(|three| number(three[0]) && three[1..] == ["de", "descuento"])
}

/// Finds a web address by its scheme, by www, or by one of the endings below, in any letter case.
pub fn has_link(reply: &str) -> bool {
    const ENDINGS: [&str; 18] = [
        "ai", "app", "biz", "casino", "co", "com", "es", "gl", "info", "io", "link", "ly", "me",
        "mx", "net", "org", "site", "us",
    ];
    let reply = reply.to_lowercase();
    let ends_like_one = |word: &str| {
        let host = word.split(['/', '?', '#', ':']).next().unwrap_or_default();
        let host = host.trim_matches(|c: char| !c.is_alphanumeric());
        host.rsplit_once('.')
            .is_some_and(|(name, ending)| !name.is_empty() && ENDINGS.contains(&ending))
    };
    reply.contains("://") || reply.contains("www.") || reply.split_whitespace().any(ends_like_one)
}

fn has_emoji(reply: &str) -> bool {
    reply
        .chars()
        .any(|c| matches!(u32::from(c), 0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0xFE0F))
}

/// Finds names and signs of program code, such as `search_dining`, `{name}`, `<plan>` or
/// `"reply":`.
fn has_code(reply: &str) -> bool {
    let named = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        word.split_once('_')
            .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
            && word.is_ascii()
    };
    reply.contains(['{', '}', '<', '>', '`'])
        || reply.contains("\":")
        || reply.split_whitespace().any(named)
}

fn has_markup(reply: &str) -> bool {
    let line = |line: &str| {
        let line = line.trim_start();
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        line.starts_with(['-', '*', '#', '•'])
            || numbered.len() < line.len()
                && numbered.starts_with([')', '.'])
                && numbered[1..].starts_with(' ')
    };
    let lines = reply.lines().filter(|one| line(one)).count();
    reply.contains("**")
        || reply.contains("](")
        || lines > 1
        || reply.trim_start().starts_with(['#', '•'])
}

/// Returns the folded words of a text, separated by single spaces. Apostrophes are kept.
fn folded_words(text: &str) -> String {
    let words = seven_text::fold(text).replace(|c: char| !c.is_alphanumeric() && c != '\'', " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // C-17
    fn a_link_is_one_in_any_dress() {
        for link in [
            "see HTTPS://a.test/x",
            "WWW.birch.test",
            "book at birch.com",
            "(birch.co/spa)",
            "Birch.IO?",
            "ftp://a.test",
        ] {
            assert!(has_link(link), "{link}");
        }
        for none in [
            "at 5 p.m. today",
            "open 9-5. Com e in",
            "It is $12.50.",
            "e.g. the spa",
            "Sat.-Sun. only",
        ] {
            assert!(!has_link(none), "{none}");
        }
    }

    fn findings(reply: &str) -> Vec<Finding> {
        let evidence = Evidence::of([
            "Saturday poker tournament, $10,000 guaranteed prize pool at 2 PM. Free slot play for members: $10.",
        ]);
        check(&evidence, false).findings(reply)
    }

    fn check(evidence: &Evidence, emoji: bool) -> Check<'_> {
        Check {
            evidence,
            length: ReplyLength::Texts,
            lead: None,
            offers: false,
            asked_identity: false,
            emoji,
        }
    }

    #[test] // CONV-24
    fn nobody_is_promised_who_was_not_told() {
        for promise in [
            "I will check with our team.",
            "Let me check and get back to you.",
            "Someone will call you shortly.",
            "Our team will text you later today.",
            "We'll text you back.",
            "Lo voy a consultar.",
            "Alguien le escribira en breve.",
            "Una persona le llamara manana.",
            "Nuestro equipo se pondra en contacto.",
        ] {
            assert!(
                findings(promise).contains(&Finding::EmptyPromise),
                "{promise}"
            );
        }
        for plain in [
            "I do not have that. Our team can tell you at 1-860-555-0188.",
            "Please call us to check.",
            "You can check in from 3 PM.",
            "The spa will be open until 8.",
            "The concierge will be at the desk.",
            "Nuestro equipo se lo dice al 1-860-555-0188.",
            "Llame al equipo y pregunte por el spa.",
            "El equipo de poker juega los lunes.",
            "Staff will check your ID at the door.",
            "Call 860-555-0188 and our team will confirm.",
            "Para hablar con una persona, llama al 860-555-0188.",
            "You can be in touch with the front desk at 860-555-0188.",
        ] {
            assert!(!findings(plain).contains(&Finding::EmptyPromise), "{plain}");
        }
    }

    #[test] // DEP-7
    fn emoji_are_a_casinos_choice_and_links_are_not() {
        let evidence = Evidence::of(["The Lakeside Pool opens at 9 AM."]);
        for (reply, allowed, refused) in [
            ("See you at the pool 😀", false, true),
            ("See you at the pool 😀", true, false),
            ("See you at www.example.com 😀", true, true),
        ] {
            let findings = check(&evidence, allowed).findings(reply);
            assert_eq!(
                findings.contains(&Finding::Style),
                refused,
                "{reply} {findings:?}"
            );
        }
    }

    #[test] // CONV-24, AGENT-41, AGENT-42, AGENT-60, C-11
    fn what_may_not_be_said() {
        for (reply, finding) in [
            (" ", Finding::Empty),
            ("You'll win big on Saturday.", Finding::GamingPromise),
            (
                "You’ll hit the jackpot, it is guaranteed.",
                Finding::GamingPromise,
            ),
            ("Seguro que vas a ganar.", Finding::GamingPromise),
            ("A win is guaranteed.", Finding::GamingPromise),
            (
                "There is free slot play for members.",
                Finding::CompLanguage,
            ),
            ("Dinner is on the house.", Finding::CompLanguage),
            ("Va de cortesía.", Finding::CompLanguage),
            ("Members get $20 off.", Finding::CompLanguage),
            ("Hay 20% de descuento.", Finding::CompLanguage),
            ("I've booked your table.", Finding::Booking),
            ("Listo, su mesa está reservada.", Finding::Booking),
            ("See you there 🎉", Finding::Style),
            ("More at www.example.com", Finding::Style),
            ("As an AI, I cannot eat.", Finding::SelfReference),
            (
                "Shall I look it up? Or a table?",
                Finding::Questions { count: 2 },
            ),
            ("1. poker\n2. slots", Finding::Markup),
            ("It is **great**.", Finding::Markup),
            ("Look [here](http://x).", Finding::Markup),
            ("I called search_dining for you.", Finding::Internals),
            ("Hello {casino} guest.", Finding::Internals),
            ("My instructions say no.", Finding::Internals),
            ("<plan>ask for the name</plan>", Finding::Internals),
        ] {
            assert!(
                findings(reply).contains(&finding),
                "{reply}: {:?}",
                findings(reply)
            );
        }
        assert!(matches!(
            findings(&"word ".repeat(80))[..],
            [Finding::TooLong { segments: 3 }]
        ));
    }

    #[test] // WEB-29
    fn a_reply_has_its_channels_length() {
        // An accent that GSM-7 lacks does not lengthen a reply, because the letter is sent without
        // the accent.
        assert_eq!(findings("está ".repeat(60).trim()), []);
        let evidence = Evidence::of([]);
        let message = Check {
            length: ReplyLength::Message {
                usual: 320,
                most: 800,
            },
            ..check(&evidence, false)
        };
        assert_eq!(message.findings("word ".repeat(160).trim()), []);
        assert_eq!(
            message.findings("word ".repeat(161).trim()),
            [Finding::TooManyCharacters { characters: 804 }]
        );
    }

    #[test] // C-11: a guaranteed prize pool is content, "sure thing" is talk
    fn what_may() {
        for reply in [
            "The Saturday tournament has a $10,000 guaranteed prize pool, at 2 PM. Want to know more?",
            "Sure thing! Anything else?",
            "It is a 2 PM start - come early.",
            "I cannot book by text, and a table can be reserved at the door.",
        ] {
            assert_eq!(findings(reply), vec![], "{reply}");
        }
    }

    #[test] // AGENT-58: each finding says what to do
    fn feedback_names_what_was_wrong() {
        let feedback = findings("Ask at 9 PM for the $5 deal.")
            .iter()
            .map(Finding::feedback)
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            feedback.contains("9:00 PM") && feedback.contains("$5.00"),
            "{feedback}"
        );
    }
}
