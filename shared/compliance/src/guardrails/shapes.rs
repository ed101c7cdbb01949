//! Recognises sensitive numbers by their format alone.

use serde::Deserialize;

use crate::normal::Folded;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// A social security number: groups of 3, 2 and 4 digits.
    Ssn,
    /// A payment card: 13 to 19 digits, grouped as on cards, with a valid check digit.
    Card,
}

impl Shape {
    pub(super) fn is_in(self, folded: &Folded) -> bool {
        let mut from = 0;
        let tokens = folded.tokens();
        while from < tokens.len() {
            if !tokens[from].digits {
                from += 1;
                continue;
            }
            // Collects groups of digits that are all separated by the same single character.
            let sign = tokens.get(from + 1).and_then(|token| token.gap.single());
            let joined = |token: &crate::normal::Token| {
                token.digits
                    && token.gap.single() == sign
                    && matches!(sign, Some(' ' | '-' | '.' | '/'))
            };
            let more = tokens[from + 1..]
                .iter()
                .take_while(|token| joined(token))
                .count();
            let end = from + 1 + more;
            if self.found(folded, from, end) {
                return true;
            }
            // If the separator changed, the last group may begin the next number.
            from = if more == 0 { end } else { end - 1 };
        }
        false
    }

    fn found(self, folded: &Folded, from: usize, end: usize) -> bool {
        let lengths = || (from..end).map(|at| folded.tokens()[at].len());
        match self {
            Self::Ssn => lengths().eq([3, 2, 4]),
            Self::Card => (from..end).any(|start| is_card(folded, start, end)),
        }
    }
}

const GROUPS: &[&[usize]] = &[
    &[4, 4, 4, 4],
    &[4, 6, 5],
    &[4, 6, 4],
    &[4, 4, 4, 4, 3],
    &[8, 8],
    &[4, 4, 4, 3],
    &[6, 13],
];

/// Returns whether a card number begins at this group of digits. An expiry date and a security code
/// may follow it.
fn is_card(folded: &Folded, start: usize, end: usize) -> bool {
    let lengths: Vec<usize> = (start..end.min(start + 19))
        .map(|at| folded.tokens()[at].len())
        .collect();
    let alone = (13..=19).contains(&lengths[0]).then_some(1);
    let grouped = GROUPS
        .iter()
        .find(|groups| lengths.starts_with(groups))
        .map(|groups| groups.len());
    let single =
        (lengths.len() >= 13 && lengths.iter().all(|length| *length == 1)).then_some(lengths.len());
    let pairs = (lengths.len() >= 7 && lengths.iter().take(8).all(|length| *length == 2))
        .then(|| lengths.len().min(8));
    [alone, grouped, single, pairs]
        .into_iter()
        .flatten()
        .any(|groups| {
            let digits = (start..start + groups).flat_map(|at| folded.word(at).bytes());
            is_card_number(&digits.map(|b| b - b'0').collect::<Vec<u8>>())
        })
}

/// Returns whether the digits are a card number. Cards begin with 3 to 6 or 22 to 27. This rules
/// out most booking numbers before the check digit is tested.
fn is_card_number(digits: &[u8]) -> bool {
    let issuer = matches!(digits, [3..=6, ..] | [2, 2..=7, ..]);
    let doubled = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match at % 2 {
            0 => u32::from(*digit),
            _ => u32::from(digit * 2 / 10 + digit * 2 % 10),
        });
    (13..=19).contains(&digits.len()) && issuer && doubled.sum::<u32>().is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_and_social_security_numbers() {
        // CONV-15: numbers, each with whether its format is recognised
        for (shape, text, expected) in [
            (Shape::Ssn, "078-05-1120", true),
            (Shape::Ssn, "its 078 05 1120 ok", true),
            (Shape::Ssn, "078-05-11201", false),
            (Shape::Ssn, "1-078-05-1120", false),
            (Shape::Ssn, "203-555-0142", false),
            (Shape::Ssn, "078-05 1120", false),
            (Shape::Card, "4111 1111 1111 1111", true),
            (Shape::Card, "4111-1111-1111-1111 12/28 123", true),
            (Shape::Card, "card 4111111111111111.", true),
            (Shape::Card, "378282246310005", true),
            (Shape::Card, "3782 822463 10005", true),
            (Shape::Card, "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", true),
            (Shape::Card, "41 11 11 11 11 11 11 11", true),
            (Shape::Card, "4111 1111 1111 1111 0928 737", true),
            (Shape::Card, "4111 1111 1111 1112", false),
            (Shape::Card, "94111111111111111", false),
            (Shape::Card, "41111111111111110000", false),
            (Shape::Card, "203-555-0142 203-555-0143", false),
            (Shape::Card, "booking 20251109834411", false),
            (Shape::Card, "", false),
        ] {
            assert_eq!(shape.is_in(&Folded::new(text)), expected, "{text}");
        }
    }
}
