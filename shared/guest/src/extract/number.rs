//! Reads small whole numbers, in digits or in words.

use super::said::Utterance;

const WORDS: &[(&str, u32)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("twenty", 20),
    ("uno", 1),
    ("dos", 2),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("siete", 7),
    ("ocho", 8),
    ("nueve", 9),
    ("diez", 10),
    ("once", 11),
    ("doce", 12),
    ("trece", 13),
    ("catorce", 14),
    ("quince", 15),
    ("dieciseis", 16),
    ("veinte", 20),
];

/// Returns the number at word `n` unless it is part of an amount, a time, a fraction or a range.
pub(super) fn number(said: &Utterance<'_>, n: usize) -> Option<u32> {
    let value = any_number(said, n)?;
    let (before, after) = (said.between(n), said.between(n + 1));
    let digit = |n: usize| said.at(n).starts_with(|c: char| c.is_ascii_digit());
    let part = |between: &str| between.len() == 1 && matches!(between, "." | ":" | "/" | "," | "-" | "\u{2013}");
    let money = before.ends_with('$') || after.starts_with(['%', '$']);
    let glued = (n > 0 && digit(n - 1) && part(before)) || (digit(n + 1) && part(after));
    let or = |at: usize| said.is(at, &["or", "o", "to"]);
    let range =
        (or(n + 1) && any_number(said, n + 2).is_some()) || (n >= 2 && or(n - 1) && any_number(said, n - 2).is_some());
    (!money && !glued && !range).then_some(value)
}

/// Returns the number at word `n`, even if it is part of something else.
pub(super) fn any_number(said: &Utterance<'_>, n: usize) -> Option<u32> {
    let word = said.at(n);
    if word.len() <= 5 && word.starts_with(|c: char| c.is_ascii_digit()) {
        return word.parse().ok();
    }
    WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// Returns whether the number is written in figures.
pub(super) fn in_figures(said: &Utterance<'_>, n: usize) -> bool {
    said.at(n).starts_with(|c: char| c.is_ascii_digit())
}
