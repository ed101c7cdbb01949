//! Reads small whole numbers, in digits or in words.

use super::said::Utterance;

/// Returns the number at word `n` unless it is part of an amount, a time, a fraction or a range.
pub(super) fn number(said: &Utterance<'_>, n: usize) -> Option<u32> {
    let value = any_number(said, n)?;
    let (before, after) = (said.between(n), said.between(n + 1));
    let digit = |n: usize| said.at(n).starts_with(|c: char| c.is_ascii_digit());
    let part = |between: &str| {
        between.len() == 1 && matches!(between, "." | ":" | "/" | "," | "-" | "\u{2013}")
    };
    let money = before.ends_with('$') || after.starts_with(['%', '$']);
    let glued = (n > 0 && digit(n - 1) && part(before)) || (digit(n + 1) && part(after));
    let or = |at: usize| said.is(at, &["or", "o", "to"]);
    let range = (or(n + 1) && any_number(said, n + 2).is_some())
        || (n >= 2 && or(n - 1) && any_number(said, n - 2).is_some());
    (!money && !glued && !range).then_some(value)
}

/// Returns the number at word `n`, even if it is part of an amount, a time, a fraction or a range.
pub(super) fn any_number(said: &Utterance<'_>, n: usize) -> Option<u32> {
    seven_text::number(said.at(n))
}

/// Returns whether the number is written in figures.
pub(super) fn in_figures(said: &Utterance<'_>, n: usize) -> bool {
    said.at(n).starts_with(|c: char| c.is_ascii_digit())
}
