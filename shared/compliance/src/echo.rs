//! Finds our own words in a guest's text, so that they are not taken for the guest's. Our words
//! occur in quoted replies and in phones' reactions ("Liked “...”"), in five languages.

use std::sync::LazyLock;

use regex::Regex;

use crate::is_invisible;

/// A phone's reaction to a message, sent as a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// The quoted words; empty for a reaction to a picture.
    pub quoted: String,
    /// The words that the guest wrote after the quotation; usually empty.
    pub added: String,
}

/// How many of our latest texts to a guest are compared with an incoming reaction or reply.
pub const TEXTS_REMEMBERED: i64 = 8;
/// The longest text that is checked for a reaction; a reaction quotes only one message.
const LONGEST_BYTES: usize = 4_000;
/// Minimum number of consecutive words of one of our texts that make a quotation without quotation
/// marks.
const QUOTED_WORDS: usize = 6;
/// The same minimum for words inside quotation marks.
const MARKED_WORDS: usize = 3;

static FORMS: LazyLock<(Regex, Regex, Regex)> = LazyLock::new(|| {
    let regex = |pattern: String| Regex::new(&pattern).expect("the forms can be read, says a test");
    let lead = [
        // English
        r"(?:dis)?liked|loved|hearted|laughed at|emphasi[sz]ed|questioned|exclaimed|highlighted|reacted(?: with)? \S+ to",
        r"removed (?:an? |the |their )?[^.?!]{1,40} from",
        // Spanish
        r"(?:a [^.?!]{1,25} )?(?:no )?(?:le|te|me) (?:ha )?(?:gust[oó]|gustado|encant[oó]|encantado|divirti[oó])",
        r"(?:se )?(?:ri[oó]|ha re[ií]do) (?:de|con)|(?:ha )?(?:enfatiz|destac|resalt|subray|exclam|cuestion|pregunt)(?:[oó]|ado)(?: por)?",
        r"(?:reaccion[oó]|ha reaccionado)(?: con)? \S+ al?|(?:quit|elimin|borr|retir)[oó] [^.?!]{1,40} (?:de|a)",
        // French
        r"(?:a )?(?:aim[eé]|ador[eé])|j[’']aime|j[’']adore|n[’']a pas aim[eé]|a ri (?:de|[àa])|a mis l[’']accent sur|a (?:soulign|accentu|questionn)[eé]",
        r"a (?:pos[eé]|mis) [^.?!]{1,30} (?:sur|[àa])|a r[eé]agi (?:avec|par) \S+ [àa]|a (?:supprim|retir|enlev)[eé] [^.?!]{1,40} (?:de|[àa])",
        // German
        r"gef[aä]llt(?: nicht)?|gefiel(?: nicht)?|liebte?|lachte?(?: [uü]ber)?|hob|betonte?|hinterfragte?|fragte nach|hat(?: [uü]ber)?",
        r"reagierte? mit \S+ auf|entfernte? [^.?!]{1,40} von|hat [^.?!]{1,30} (?:von|auf)",
        // Portuguese
        r"(?:n[aã]o )?gostou d[eoa]|(?:n[aã]o )?curtiu|amou|adorou|riu(?: d[eoa]| com)?|enfatizou|destacou|questionou|perguntou",
        r"reagiu(?: com)? \S+ (?:a|à|ao)|(?:removeu|retirou) [^.?!]{1,40} (?:de|da|do)",
        // Some programs send only the emoji: "😂 to “...”".
        r"[^\p{L}\p{N}\s]{1,12} (?:to|al?|à|an|auf|zu|para|em|de|from)",
    ]
    .join("|");
    let thing = r"image|photo|picture|movie|video|attachment|audio message|voice message|voice note|link|location|contact|sticker|gif|file|message|poll|imagen|foto|v[ií]deo|pel[ií]cula|archivo(?: adjunto)?|mensaje(?: de (?:audio|voz))?|nota de voz|enlace|ubicaci[oó]n|contacto|vid[eé]o|pi[eè]ce jointe|message|bild|anhang|datei|nachricht|imagem|anexo|mensagem|arquivo";
    (
        regex(format!(r"(?i)^(?:{lead})\s*:?$")),
        regex(format!(
            r"(?i)^(?:{lead}|gostou|gefällt) (?:an?|the|this|your|una?|un|la|el|su|tu|une?|votre|eine?|das|die|uma?|sua|seu|\d+) (?:{thing})s?[.!]?$"
        )),
        regex(
            r"(?i)^(?:geliebt|geliked|gelacht|hervorgehoben|betont|hervor|infrage|hinterfragt|entfernt|reagiert|(?:mit|in) .{1,40})[.!]?$"
                .to_owned(),
        ),
    )
});

/// Returns the reaction if the text is worded like one, without comparing the quotation with our
/// texts.
pub fn reaction(text: &str) -> Option<Reaction> {
    let first = text
        .trim_start_matches(|c: char| is_invisible(c) || c.is_whitespace())
        .chars()
        .next()?;
    // A reaction is short, because it quotes only one message. It does not begin with the
    // quotation, because its verb comes first.
    if text.len() > LONGEST_BYTES || first == '“' || first == '"' {
        return None;
    }
    let (reacted, about_thing, verb_behind) = &*FORMS;
    let Some((lead, quoted, added)) = text
        .contains(['“', '"', '„', '«'])
        .then(|| parts(text))
        .flatten()
    else {
        let short = text.len() <= 80 && about_thing.is_match(&cleaned(text));
        return short.then(|| Reaction {
            quoted: String::new(),
            added: String::new(),
        });
    };
    if !reacted.is_match(&lead) {
        return None;
    }
    let added = if verb_behind.is_match(&added) {
        String::new()
    } else {
        added
    };
    Some(Reaction { quoted, added })
}

/// The guest's own words in a text that quotes us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theirs {
    /// The words before the quotation: the phone's verb ("Pidió nota por") or words of the guest.
    pub lead: String,
    /// The words after the quotation; empty if the guest added nothing.
    pub added: String,
}

impl Theirs {
    pub fn whole(&self) -> String {
        format!("{}\n{}", self.lead, self.added).trim().to_owned()
    }
}

/// Returns the parts of the text that are not ours, or `None` if it quotes none of our texts.
/// `ours` holds our latest texts to this guest.
pub fn without_ours(text: &str, ours: &[String]) -> Option<Theirs> {
    let ours: Vec<Vec<String>> = ours
        .iter()
        .map(|text| words(text).map(|(_, word)| word).collect())
        .collect();
    if let Some((lead, _, added)) =
        parts(text).filter(|(_, quoted, _)| ours.iter().any(|ours| holds(ours, quoted)))
    {
        return Some(Theirs { lead, added });
    }
    let theirs: Vec<(std::ops::Range<usize>, String)> = words(text).collect();
    let mut kept = String::new();
    let (mut at, mut from) = (0, 0);
    while at < theirs.len() {
        let run = ours
            .iter()
            .map(|ours| longest_run(&theirs[at..], ours))
            .max()
            .unwrap_or(0);
        let whole = run > 1 && run == theirs.len() && ours.iter().any(|ours| ours.len() == run);
        if run >= QUOTED_WORDS || whole {
            kept.push_str(&text[from..theirs[at].0.start]);
            at += run;
            from = theirs[at - 1].0.end;
        } else {
            at += 1;
        }
    }
    if from == 0 {
        return None;
    }
    kept.push_str(&text[from..]);
    let added = if kept.chars().any(char::is_alphanumeric) {
        kept.trim().to_owned()
    } else {
        String::new()
    };
    Some(Theirs {
        lead: String::new(),
        added,
    })
}

/// Returns whether one of our texts contains the quoted words.
pub fn is_ours(quoted: &str, ours: &[String]) -> bool {
    ours.iter().any(|ours| {
        holds(
            &words(ours).map(|(_, word)| word).collect::<Vec<_>>(),
            quoted,
        )
    })
}

/// Returns whether a text contains quotation marks, or the `>` that mail programs put before quoted
/// lines.
pub fn may_quote(text: &str) -> bool {
    text.contains(['“', '”', '"', '„', '«', '»', '>'])
}

/// Splits a text into the words before a quotation, the quotation, and the words after it. A
/// quotation without a closing mark runs to the end of the text.
fn parts(text: &str) -> Option<(String, String, String)> {
    let text = cleaned(text);
    let open = text.find(['“', '"', '„', '«'])?;
    let lead = text[..open].trim().to_owned();
    if lead.is_empty() || lead.chars().count() > 60 {
        return None;
    }
    let inside = &text[open..];
    let inside = &inside[inside.chars().next()?.len_utf8()..];
    let (quoted, added) = match inside.rfind(['”', '"', '“', '»']) {
        Some(close) => (
            &inside[..close],
            inside[close..].trim_start_matches(['”', '"', '“', '»']),
        ),
        None => (inside, ""),
    };
    let added = added
        .trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | ';'))
        .to_owned();
    Some((lead, quoted.trim().to_owned(), added))
}

/// Returns the text without invisible characters. White space is replaced by one blank, except for
/// line breaks.
fn cleaned(text: &str) -> String {
    let seen = text.chars().filter(|c| !is_invisible(*c)).map(|c| {
        if c.is_whitespace() && c != '\n' {
            ' '
        } else {
            c
        }
    });
    let seen: String = seen.collect();
    seen.split(' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .trim()
        .to_owned()
}

/// Returns the words in lower case, each with its byte range in the text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, String)> {
    let start = text.as_ptr() as usize;
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
        .filter(|word| !word.is_empty())
        .map(move |word| {
            let at = word.as_ptr() as usize - start;
            (at..at + word.len(), word.replace('’', "'").to_lowercase())
        })
}

/// Returns whether our text contains the quoted words consecutively; the last word may be cut off,
/// because phones shorten long quotations.
fn holds(ours: &[String], quoted: &str) -> bool {
    let quoted: Vec<String> = words(quoted).map(|(_, word)| word).collect();
    let Some((last, whole)) = quoted.split_last() else {
        return false;
    };
    (quoted.len() >= MARKED_WORDS || quoted.len() == ours.len())
        && ours
            .windows(quoted.len())
            .any(|run| run[..whole.len()] == *whole && run[whole.len()].starts_with(last.as_str()))
}

/// Returns how many of the guest's words, from the first one on, occur consecutively in our text.
fn longest_run(theirs: &[(std::ops::Range<usize>, String)], ours: &[String]) -> usize {
    let run = |from: usize| {
        theirs
            .iter()
            .zip(&ours[from..])
            .take_while(|((_, theirs), ours)| theirs == *ours)
            .count()
    };
    (0..ours.len()).map(run).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // SMS-24, CONV-2: reactions that phones send as texts
    fn reactions_are_known_by_their_form() {
        for (text, quoted) in [
            ("Liked “Text STOP.”", "Text STOP."),
            ("Loved \"Reply STOP to end.\"", "Reply STOP to end."),
            ("Reacted 🎉 to “welcome back”", "welcome back"),
            ("Removed a like from “STOP”", "STOP"),
            ("Removed an exclamation mark from “STOP”", "STOP"),
            (
                " \u{200b}😂\u{200b} to “\u{200a}STOP to end.\u{200a}” ",
                "STOP to end.",
            ),
            ("Le gustó “STOP para salir.”", "STOP para salir."),
            (
                "Se rió de “Hola, soy Seven, IA. STOP para salir. ”",
                "Hola, soy Seven, IA. STOP para salir.",
            ),
            ("Reaccionó con ❤️ a “STOP”", "STOP"),
            ("A aimé « STOP pour finir »", "STOP pour finir"),
            ("Gefällt „STOP“", "STOP"),
            ("Gostou de “STOP para sair”", "STOP para sair"),
            (
                "Liked “In danger, call 911. Msg f…",
                "In danger, call 911. Msg f…",
            ),
            ("Liked an image", ""),
            ("Le encantó una foto", ""),
        ] {
            let found = reaction(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (found.quoted.as_str(), found.added.as_str()),
                (quoted, ""),
                "{text}"
            );
        }
        let added = reaction("Liked “STOP to end.” thanks, is the pool open?").unwrap();
        assert_eq!(added.added, "thanks, is the pool open?");
        for plain in [
            "I said \"STOP\"",
            "loved the pool",
            "my wife liked the room",
            "liked it a lot",
            "please \"STOP\" now",
            "",
        ] {
            assert_eq!(reaction(plain), None, "{plain}");
        }
    }

    #[test] // D7: a STOP before a quotation was written by the guest
    fn words_before_a_quotation_stay() {
        let ours = ["Hi, I'm Seven. Text STOP to end. Msg rates apply.".to_owned()];
        for (text, lead, added) in [
            ("STOP. You said “Text STOP to end”", "STOP. You said", ""),
            (
                "You said \"Text STOP to end.\" so STOP",
                "You said",
                "so STOP",
            ),
            ("Pidió nota por “Text STOP to end.”", "Pidió nota por", ""),
        ] {
            let theirs = without_ours(text, &ours).unwrap();
            assert_eq!(
                (theirs.lead.as_str(), theirs.added.as_str()),
                (lead, added),
                "{text}"
            );
        }
    }

    #[test]
    fn our_words_are_not_the_guests() {
        let ours =
            ["Silver Birch Resort: you are unsubscribed. We will send no more texts. To rejoin, text START."
                .to_owned()];
        for (text, left) in [
            (
                "Pidió nota por “you are unsubscribed. We will send no”",
                Some(""),
            ),
            (
                "> you are unsubscribed. We will send no more texts.\nwait what",
                Some("wait what"),
            ),
            (
                "you are unsubscribed. We will send no more texts. why?",
                Some("why?"),
            ),
            ("no more texts", None),
            ("stop", None),
            ("I said “STOP”", None),
        ] {
            let found = without_ours(text, &ours);
            let found = found.as_ref().map(|theirs| {
                theirs
                    .added
                    .trim_matches(|c: char| !c.is_alphanumeric() && c != '?')
            });
            assert_eq!(found, left, "{text}");
        }
    }

    proptest! {
        #[test]
        fn total(text in "\\PC{0,200}", ours in "\\PC{0,100}") {
            let _ = reaction(&text);
            let _ = without_ours(&text, &[ours]);
        }
    }
}
