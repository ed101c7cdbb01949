//! Removes what phones, mail gateways and guests put around a command: instruction words ("Reply
//! STOP"), signatures, mail headers, part numbers, dictated punctuation ("stop period").

use std::sync::LazyLock;

use regex::Regex;

use crate::normal::without_marks;

/// The longest text that is searched for a wrapped command.
const LONGEST_BYTES: usize = 300;
/// Maximum number of rounds. Each round removes one wrapping at the start and one at the end,
/// because wrappings can be nested.
const ROUNDS: usize = 5;

/// The text that is left when its wrapping has been removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unwrapped {
    pub(super) text: String,
    /// Whether a removed part also occurs around ordinary sentences ("from the room", "send help").
    /// If so, only an unmistakable command counts.
    pub(super) doubtful: bool,
}

struct Wrappings {
    header: Regex,
    prefixes: Regex,
    instruction: Regex,
    suffixes: Regex,
    signature: Regex,
    lower_signature: Regex,
}

static WRAPPINGS: LazyLock<Wrappings> = LazyLock::new(|| {
    let regex =
        |pattern: &str| Regex::new(pattern).expect("the wrappings can be read, says a test");
    let part = r"[(\[]?\s*\d{1,2}\s*(?:/|\bof\b|\bde\b)\s*\d{1,2}\s*[)\]]?";
    let name = r"[\p{L}][\p{L}.'’-]*";
    let upper = r"\p{Lu}[\p{L}.'’-]*";
    Wrappings {
        header: regex(
            r"(?im)^\s*(?:frm|from|subj|subject|to|date|cc|sent|asunto|de|para|fecha)\s*:[^\n]*(?:\n|$)",
        ),
        prefixes: regex(&format!(
            r#"(?i)^[\s"'“”‘’]*(?:\(\s*(?:re|fw|fwd|rv)\s*:[^)]*\)|(?:re|fw|fwd|rv|tr|wg|aw|msg|text|txt|message|body|mensaje|texto)\s*[:>]|[<(\[]\s*(?:no subject|sin asunto|none)\s*[>)\]]|{part}\s*[:.)-]?|hash\s?tag\b|numeral\b|#)\s*"#
        )),
        instruction: regex(
            r#"(?i)^[\s"'“”‘’]*(?:please\s+|por favor\s+)?(?:i\s+|i'?m\s+|im\s+)?(?:repl(?:y|ying|ied)|respond(?:ing)?|text(?:ing|ed)?|txt(?:ing)?|send(?:ing)?|sent|typ(?:e|ing|ed)|enter(?:ing)?|writ(?:e|ing)|said|say|press|msg|env[ií](?:e|ar|o|a|ando)|respond(?:er|a|o|e)|contest(?:o|ar|e|a)|escrib(?:o|a|e|ir)|mand(?:o|ar|e|a)|texte(?:o|ar)|pong(?:a|o)|digo|dije)(?:\s+back)?(?:\s+(?:with|con))?(?:\s+(?:the\s+word|the|la\s+palabra|a))?[\s:"'“”‘’]+"#,
        ),
        suffixes: regex(&format!(
            r#"(?is)(?:\s*{part}|\s*\(con'?t\)?|[\s,.;-]*\b(?:sent (?:from|via|with|using)|enviado (?:desde|con)|get outlook for|obtener outlook para)\b.{{0,60}}|[\s,]+(?:period|dot|full stop|comma|exclamation(?: point| mark)?|question mark|punto(?: final)?|coma)|[!¡]+1[!¡1]*)[\s.!"'”’)]*$"#
        )),
        signature: regex(&format!(
            r"(?:\s*[-–—~*/|]+\s*|\s*\n\s*|[\s,]+(?i:from|de parte de)\s+){upper}(?:\s+{upper}){{0,2}}(?:,\s*{upper}(?:\s+{upper})?)?[\s.]*$"
        )),
        lower_signature: regex(&format!(
            r"(?:\s*[-–—~*/|]+\s*|\s*\n\s*|[\s,]+(?i:from)\s+){name}(?:\s+{name}){{0,1}}[\s.]*$"
        )),
    }
});

/// Words that no name contains. If one of them comes after "stop from" or a dash, the text there is
/// not a signature.
const NO_NAMES: &[&str] = &[
    "a", "all", "at", "for", "here", "home", "in", "it", "me", "my", "now", "of", "on", "or",
    "that", "the", "there", "this", "to", "today", "tomorrow", "tonight", "us", "what", "when",
    "why", "you", "your", "el", "la", "los", "las", "mi", "aqui", "ahi", "hoy",
];

/// Returns the text without its wrapping, or `None` if nothing was removed.
pub(super) fn unwrap(text: &str) -> Option<Unwrapped> {
    // Removes combining marks first, because the patterns know only letters and would overlook a
    // signature with marks.
    let text = without_marks(text);
    if text.len() > LONGEST_BYTES {
        return None;
    }
    let wrappings = &*WRAPPINGS;
    let mut rest = wrappings.header.replace_all(&text, "").trim().to_owned();
    let mut doubtful = false;
    // In a text that is all capitals, a capital letter does not indicate a name.
    let capitals_show_names = rest.chars().any(char::is_lowercase);
    for _ in 0..ROUNDS {
        let before = rest.len();
        for regex in [&wrappings.prefixes, &wrappings.suffixes] {
            take_off(&mut rest, regex);
        }
        doubtful |= take_off(&mut rest, &wrappings.instruction);
        if !signs_off_without_name(&rest) {
            if capitals_show_names {
                take_off(&mut rest, &wrappings.signature);
            }
            doubtful |= take_off(&mut rest, &wrappings.lower_signature);
        }
        if rest.len() == before {
            break;
        }
    }
    (!rest.is_empty() && rest != text.trim()).then_some(Unwrapped {
        text: rest,
        doubtful,
    })
}

/// Removes the first match of `regex` and returns whether there was one. A match of the whole text
/// is not removed.
fn take_off(rest: &mut String, regex: &Regex) -> bool {
    let Some(range) = regex
        .find(rest)
        .map(|found| found.range())
        .filter(|range| range.len() < rest.len())
    else {
        return false;
    };
    rest.replace_range(range, "");
    let trimmed = rest.trim();
    *rest = trimmed.to_owned();
    true
}

/// Returns whether the supposed signature contains a word that no name contains.
fn signs_off_without_name(text: &str) -> bool {
    let after = |mark: &str| {
        text.to_lowercase()
            .rfind(mark)
            .map(|at| text[at + mark.len()..].to_lowercase())
    };
    let tail = after(" from ").or_else(|| {
        text.rfind(['-', '–', '—', '\n'])
            .and_then(|at| text.get(at + 1..))
            .map(str::to_lowercase)
    });
    tail.is_some_and(|tail| {
        tail.split(|c: char| !c.is_alphanumeric())
            .any(|word| NO_NAMES.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SMS-15: additions around a command are removed
    fn wrappings_come_off() {
        for (text, inside) in [
            ("Reply STOP", "STOP"),
            ("Reply: STOP", "STOP"),
            ("Please reply with the word STOP", "STOP"),
            ("Envíe STOP", "STOP"),
            ("escribo STOP", "STOP"),
            ("STOP from Pat", "STOP"),
            ("Stop -Pat Doe", "Stop"),
            ("STOP - Pat Doe, Hartford", "STOP"),
            ("Fw: Stop\n\nPat Doe", "Stop"),
            ("STOP sent from my Verizon LG Smartphone", "STOP"),
            ("stop sent from Yahoo Mail", "stop"),
            ("STOP\n\nSent from my iPhone", "STOP"),
            ("FRM:pat@example.com\nSUBJ:Re:\nMSG:STOP", "STOP"),
            ("SUBJ:your offer\nMSG:STOP\nFRM:pat@example.com", "STOP"),
            ("(Re: offer) STOP", "STOP"),
            ("<no subject> stop", "stop"),
            ("STOP 1/1", "STOP"),
            ("1 of 1: STOP", "STOP"),
            ("stop period", "stop"),
            ("Stop punto", "Stop"),
            ("hashtag stop", "stop"),
            ("stop!!1!", "stop"),
            ("STOP -JOSE", "STOP"),
            ("STOP -Jose\u{301}", "STOP"),
            ("stop-pat \u{301}", "stop"),
            ("STOP\u{200b} - P\u{200b}at Doe", "STOP"),
        ] {
            assert_eq!(
                unwrap(text).map(|u| u.text).as_deref(),
                Some(inside),
                "{text:?}"
            );
        }
        for plain in [
            "STOP",
            "stop please",
            "cancel all my bookings",
            "we have got to stop this game",
            "",
        ] {
            assert_eq!(unwrap(plain), None, "{plain:?}");
        }
        assert_ne!(
            unwrap("stop from here on").map(|u| u.text).as_deref(),
            Some("stop")
        );
    }
}
