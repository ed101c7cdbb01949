//! A helpline's number, as guests read it and as digits to dial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Invalid;

/// A helpline. `verified_at` is the day on which somebody called the number to verify it; null if
/// nobody has called yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Helpline {
    /// The number as guests read it, at most 16 characters.
    pub number: String,
    /// The digits to dial if `number` spells a word; the letters must stand for these digits.
    #[serde(default)]
    pub digits: Option<String>,
    #[serde(default)]
    pub verified_at: Option<chrono::NaiveDate>,
}

impl Helpline {
    /// Checks the number. If the number spells a word, `digits` must match the letters. Otherwise a
    /// guest in need would call a stranger.
    pub fn check(&self) -> Result<(), Invalid> {
        let problem = |problem: String, expected| Err(Invalid::new("helpline", problem, expected));
        if !(2..=16).contains(&self.number.chars().count()) {
            return problem(
                format!("`{}`", self.number),
                "2 to 16 characters, such as 1-800-555-0100",
            );
        }
        if self
            .number
            .chars()
            .any(|c| !(c.is_ascii_alphanumeric() || c == '-' || c == ' '))
        {
            return problem(
                format!("`{}`", self.number),
                "digits, capital letters and hyphens",
            );
        }
        let dialled: String = self.number.chars().filter_map(dial).collect();
        let spelled = self.number.chars().any(|c| c.is_ascii_alphabetic());
        match &self.digits {
            None if spelled => problem(
                format!("`{}` without digits", self.number),
                "`digits`: what to dial for the word",
            ),
            Some(digits)
                if digits
                    .chars()
                    .filter(char::is_ascii_digit)
                    .collect::<String>()
                    != dialled =>
            {
                problem(
                    format!("`{}` dials {dialled}, not {digits}", self.number),
                    "letters and digits that agree",
                )
            }
            _ => Ok(()),
        }
    }
}

/// Returns the telephone key that has this letter or digit (ITU-T E.161).
fn dial(c: char) -> Option<char> {
    Some(match c.to_ascii_uppercase() {
        c @ '0'..='9' => c,
        'A'..='C' => '2',
        'D'..='F' => '3',
        'G'..='I' => '4',
        'J'..='L' => '5',
        'M'..='O' => '6',
        'P'..='S' => '7',
        'T'..='V' => '8',
        'W'..='Z' => '9',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-27, C-12: 1-800-MY-RESET is 697-3738; the seed had other digits
    fn a_vanity_helpline_must_dial_what_it_spells() {
        let line = |number: &str, digits: Option<&str>| Helpline {
            number: number.into(),
            digits: digits.map(str::to_owned),
            verified_at: None,
        };
        for (number, digits, good) in [
            ("1-800-522-4700", None, true),
            ("988", None, true),
            ("1-800-MY-RESET", Some("1-800-697-3738"), true),
            ("1-800-MY-RESET", Some("1-800-699-7378"), false),
            ("1-800-MY-RESET", None, false),
            ("1-800-522-4700", Some("1-800-522-4701"), false),
            ("", None, false),
            ("call +1 800 555 01 00 now", None, false),
        ] {
            assert_eq!(
                line(number, digits).check().is_ok(),
                good,
                "{number} {digits:?}"
            );
        }
    }
}
