//! Joins the guest's open texts into sentences. Removes line breaks inside a sentence, and joins
//! pieces of a sentence that were sent as several texts.

/// A text with more words than this is not taken for a piece of a sentence.
const PIECE_WORDS: usize = 4;
/// A word counts as cut in two between texts only if one half has at most this many letters.
const CUT_LETTERS: usize = 4;

/// Words that may begin a piece of a sentence, and with which a sentence cannot end.
const FUNCTION_WORDS: &[&str] = &[
    "the", "a", "an", "is", "are", "was", "do", "does", "did", "to", "for", "at", "in", "on", "of",
    "my", "our", "your", "with", "and", "or", "any", "some", "there", "what", "when", "where",
    "which", "how", "much", "many", "can", "could", "i", "you", "we", "late", "early", "about",
    "from", "by", "have", "if", "el", "la", "los", "las", "un", "una", "de", "del", "en", "para",
    "por", "con", "y", "o", "que", "qué", "cual", "cuál", "cuando", "cuándo", "donde", "dónde",
    "hay", "es", "esta", "está", "mi", "su", "al", "tienen", "puedo",
];

/// Removes line breaks inside sentences and joins the pieces of a sentence. `is_word` says whether
/// the casino's content contains a word. The two halves of a cut word are joined only if they form
/// such a word.
pub(crate) fn joined(texts: &[String], is_word: impl Fn(&str) -> bool) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut in_pieces = false;
    for text in texts {
        let text = unbroken(text);
        let Some(before) = out.last_mut() else {
            out.push(text);
            continue;
        };
        if let Some(whole) = cut_word(before, &text, &is_word) {
            *before = whole;
            in_pieces = true;
        } else if goes_on(before, &text, in_pieces) {
            before.push(' ');
            before.push_str(&text);
            in_pieces = true;
        } else {
            out.push(text);
            in_pieces = false;
        }
    }
    out
}

/// Replaces line breaks inside a sentence by blanks. A break is inside a sentence in two cases: the
/// next line begins in lower case, or this line ends with a word that cannot end a sentence.
fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !out.is_empty() {
            let inside = !ends(&out) && (begins_small(line) || ends_openly(&out));
            out.push(if inside { ' ' } else { '\n' });
        }
        out.push_str(line);
    }
    out
}

fn goes_on(before: &str, text: &str, in_pieces: bool) -> bool {
    if ends(before) || !begins_small(text) || words(text) > PIECE_WORDS {
        return false;
    }
    ends_openly(before)
        || in_pieces
        || words(before) <= PIECE_WORDS && begins_openly(before) && words(before) > 1
}

/// Joins a word that was cut in two, as in "What time does the sp", "a open tomorrow?"
fn cut_word(before: &str, text: &str, is_word: impl Fn(&str) -> bool) -> Option<String> {
    let head = before
        .rsplit(|c: char| !c.is_alphabetic())
        .next()
        .filter(|head| !head.is_empty())?;
    let tail = text
        .split(|c: char| !c.is_alphabetic())
        .next()
        .filter(|tail| !tail.is_empty())?;
    let small = tail.chars().count() <= CUT_LETTERS || head.chars().count() <= CUT_LETTERS;
    let whole = format!("{head}{tail}").to_lowercase();
    let cut = small
        && begins_small(text)
        && !is_function_word(&head.to_lowercase())
        && !is_word(&head.to_lowercase());
    (cut && is_word(&whole)).then(|| format!("{before}{text}"))
}

fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(&word)
}

fn ends(text: &str) -> bool {
    text.trim_end().ends_with(['.', '!', '?', ';', ':', '…'])
}

fn ends_openly(text: &str) -> bool {
    last_word(text).is_some_and(|word| is_function_word(&word))
}

/// Returns whether a text can begin a sentence that was sent in pieces. A text that begins with
/// "and" cannot: "and the pool" is a separate question.
fn begins_openly(text: &str) -> bool {
    let opens = |word: &str| is_function_word(word) && !matches!(word, "and" | "or" | "y" | "o");
    text.split_whitespace()
        .next()
        .is_some_and(|word| opens(&word.to_lowercase()))
}

fn last_word(text: &str) -> Option<String> {
    text.split_whitespace().next_back().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    })
}

fn begins_small(text: &str) -> bool {
    text.chars()
        .next()
        .is_some_and(|c| c.is_lowercase() || c.is_numeric())
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SMS-13: a sentence sent in pieces is read as one sentence
    fn sentences_stay_whole() {
        for (texts, sentences) in [
            (&["Is the\npool open?"][..], &["Is the pool open?"][..]),
            (
                &["Do you have\na steakhouse"],
                &["Do you have a steakhouse"],
            ),
            (&["is the\n\npool\n\nopen"], &["is the pool open"]),
            (&["Is the\nPool open?"], &["Is the Pool open?"]),
            (&["Hi!\nIs the pool open?"], &["Hi!\nIs the pool open?"]),
            (
                &["Pool hours\nParking price"],
                &["Pool hours\nParking price"],
            ),
            (
                &["Is there", "a steakhouse", "open tonight?"],
                &["Is there a steakhouse open tonight?"],
            ),
            (
                &["What time does the sp", "a open tomorrow?"],
                &["What time does the spa open tomorrow?"],
            ),
            (
                &["is the pool open?", "and the gym"],
                &["is the pool open?", "and the gym"],
            ),
            (
                &["and the pool", "when does it open?"],
                &["and the pool", "when does it open?"],
            ),
            (
                &["hi", "what time is check-in"],
                &["hi", "what time is check-in"],
            ),
            (
                &["pool hours", "parking price"],
                &["pool hours", "parking price"],
            ),
            (&[], &[]),
        ] {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(
                joined(&texts, |word| matches!(word, "spa" | "pool" | "open")),
                sentences,
                "{texts:?}"
            );
        }
    }
}
