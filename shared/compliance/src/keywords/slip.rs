//! Recognises a command with typos: "Syop", "tsop", "sto p", "StopStop", "CANCELL". Only whole
//! messages are corrected, because "step" and "shop" are ordinary words in a sentence.

use strsim::osa_distance;

/// A command word with two lists. `also` has misspellings with more than one typo. `real` has real
/// words that differ from the command by one letter; they are not corrected.
struct Word {
    word: &'static str,
    also: &'static [&'static str],
    real: &'static [&'static str],
}

const WORDS: &[Word] = &[
    Word {
        word: "stop",
        also: &["stahp", "stawp"],
        real: &[
            "step", "shop", "slop", "stow", "atop", "top", "sop", "stoop", "strop", "swop",
            "estop", "stomp", "scop", "stoup",
        ],
    },
    Word {
        word: "unsubscribe",
        also: &["unscribe", "unscribed"],
        real: &["subscribe", "unsubscribed", "subscribed"],
    },
    Word {
        word: "cancel",
        also: &[],
        real: &["chancel", "cancels"],
    },
    Word {
        word: "revoke",
        also: &[],
        real: &["evoke", "revoked", "revokes"],
    },
    Word {
        word: "optout",
        also: &[],
        real: &[],
    },
    Word {
        word: "quit",
        also: &[],
        real: &[
            "quiet", "quite", "quilt", "quid", "quip", "quiz", "suit", "unit", "quits", "qui",
            "quin", "squit", "quick",
        ],
    },
    Word {
        word: "desuscribir",
        also: &[],
        real: &["suscribir", "suscribirse"],
    },
    Word {
        word: "cancelar",
        also: &[],
        real: &["cancelan", "cancelas", "cancela"],
    },
];

/// Words that guests append to "stop" without a blank, as in STOPTOEND or stop2quit.
const TO_WHAT: &[&str] = &[
    "end",
    "stop",
    "quit",
    "cancel",
    "optout",
    "unsubscribe",
    "all",
    "now",
    "please",
    "leave",
    "exit",
];

const LONGEST_BYTES: usize = 40;

/// Returns the command that a single word (lower case, letters and digits) means.
pub(super) fn command(word: &str) -> Option<&'static str> {
    if word.len() < 3 || word.len() > LONGEST_BYTES || !word.is_ascii() {
        return None;
    }
    in_pieces(word).or_else(|| {
        WORDS
            .iter()
            .find(|known| known.is_meant_by(word))
            .map(|known| known.word)
    })
}

/// Returns the command in a message whose blanks and signs have been removed: "sto p",
/// "un-subscribe", "StopStop", "STOP to end".
pub(super) fn in_pieces(squeezed: &str) -> Option<&'static str> {
    if squeezed.len() > LONGEST_BYTES {
        return None;
    }
    let spelled = || {
        WORDS
            .iter()
            .find(|known| known.word == squeezed || known.also.contains(&squeezed))
    };
    repeated(squeezed)
        .or_else(|| followed(squeezed))
        .or_else(|| spelled().map(|known| known.word))
}

/// Returns the command that the text repeats, as in "stopstopstop".
fn repeated(text: &str) -> Option<&'static str> {
    let times = |word: &str| {
        text.len() > word.len() && text.len().is_multiple_of(word.len()) && {
            text.as_bytes()
                .chunks(word.len())
                .all(|chunk| chunk == word.as_bytes())
        }
    };
    ["stop", "unsubscribe", "quit", "end", "cancel", "alto"]
        .into_iter()
        .find(|word| times(word))
}

fn followed(text: &str) -> Option<&'static str> {
    let rest = text.strip_prefix("stop")?;
    let rest = rest
        .strip_prefix('2')
        .or_else(|| rest.strip_prefix("to"))
        .unwrap_or(rest);
    TO_WHAT.contains(&rest).then_some("stop")
}

impl Word {
    fn is_meant_by(&self, text: &str) -> bool {
        if text == self.word || self.also.contains(&text) {
            return true;
        }
        if self.real.contains(&text) {
            return false;
        }
        // Accepts a digit at the end, typed by mistake: "STOP1".
        let glued = text.strip_suffix(|c: char| c.is_ascii_digit()) == Some(self.word);
        let most = if self.word.len() >= 8 { 2 } else { 1 };
        glued
            || osa_distance(self.word, text) <= most
                && !text.ends_with(|c: char| c.is_ascii_digit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_one_key() {
        for (text, word) in [
            ("stip", Some("stop")),
            ("syop", Some("stop")),
            ("stopo", Some("stop")),
            ("stop1", Some("stop")),
            ("stpp", Some("stop")),
            ("tsop", Some("stop")),
            ("sttop", Some("stop")),
            ("stp", Some("stop")),
            ("stahp", Some("stop")),
            ("stopstopstop", Some("stop")),
            ("stoptoend", Some("stop")),
            ("stop2stop", Some("stop")),
            ("stop2optout", Some("stop")),
            ("unscribe", Some("unsubscribe")),
            ("unsubcribe", Some("unsubscribe")),
            ("cancell", Some("cancel")),
            ("revok", Some("revoke")),
            ("qiut", Some("quit")),
            ("shop", None),
            ("step", None),
            ("top", None),
            ("spot", None),
            ("quiet", None),
            ("quite", None),
            ("subscribe", None),
            ("stop12", None),
            ("story", None),
            ("", None),
        ] {
            assert_eq!(command(text), word, "{text}");
        }
    }
}
