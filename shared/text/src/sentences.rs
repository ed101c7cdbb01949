//! Splits a text into sentences.

use std::ops::Range;

/// Returns the sentences of a text, trimmed. A line break ends a sentence. So does `.`, `?` or `!`
/// before a space or at the end, except a full stop after an abbreviation, as in "a.m." or "St.
/// James".
pub fn sentences(text: &str) -> Vec<&str> {
    sentence_ranges(text)
        .into_iter()
        .map(|range| &text[range])
        .collect()
}

/// Returns the byte ranges of [`sentences`].
pub fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    let ends = text
        .match_indices(['?', '!', '.', '\n'])
        .filter(|(at, mark)| is_end(text, *at, mark));
    let mut ranges = Vec::new();
    let mut start = 0;
    for end in ends.map(|(at, mark)| at + mark.len()).chain([text.len()]) {
        let piece = &text[start..end];
        if piece.contains(char::is_alphanumeric) {
            let from = start + piece.len() - piece.trim_start().len();
            ranges.push(from..from + piece.trim().len());
        }
        start = end;
    }
    if ranges.is_empty() && !text.trim().is_empty() {
        ranges.push(0..text.len());
    }
    ranges
}

fn is_end(text: &str, at: usize, mark: &str) -> bool {
    let next = text[at + mark.len()..].chars().next();
    mark == "\n"
        || next.is_none_or(char::is_whitespace) && (mark != "." || !is_abbreviated(&text[..at]))
}

/// Returns whether the last word of `before` is an abbreviation: a single letter or a title.
fn is_abbreviated(before: &str) -> bool {
    let last = before
        .rsplit(|c: char| !c.is_alphanumeric() && !"'\u{2019}".contains(c))
        .next()
        .unwrap_or_default();
    let titles = ["st", "mr", "mrs", "ms", "dr", "sr", "sra"];
    let one_letter = last.chars().count() == 1 && last.contains(char::is_alphabetic);
    one_letter || titles.iter().any(|title| last.eq_ignore_ascii_case(title))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stops_inside_times_amounts_and_titles_end_no_sentence() {
        for (text, expected) in [
            (
                "Open at 7 a.m. daily. Closed on Monday!",
                &["Open at 7 a.m. daily.", "Closed on Monday!"][..],
            ),
            (
                "A beer is $8.50. Doors at 7. Come",
                &["A beer is $8.50.", "Doors at 7.", "Come"],
            ),
            (
                "Dr. Lee is in\nAsk at St. James St",
                &["Dr. Lee is in", "Ask at St. James St"],
            ),
            ("hi?? I can't. ok", &["hi??", "I can't.", "ok"]),
            ("Well... yes (21+). Ok", &["Well...", "yes (21+).", "Ok"]),
            ("...", &["..."]),
            ("", &[]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_letter_or_digit_is_lost(text in "\\PC{0,60}") {
            let kept = |text: &str| {
                text.chars()
                    .filter(|c| c.is_alphanumeric())
                    .collect::<String>()
            };
            prop_assert_eq!(kept(&sentences(&text).concat()), kept(&text));
        }
    }
}
