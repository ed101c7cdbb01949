//! Reads small numbers, written in digits or in words.

const NAMES: [(&str, u32); 34] = [
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
/// Maximum number of digits. Longer numbers, such as phone numbers, are not read.
const MAX_DIGITS: usize = 5;

/// Reads a folded word as a whole number: digits, or an English or Spanish word for 1 to 16 or 20.
pub fn number(word: &str) -> Option<u32> {
    if word.len() <= MAX_DIGITS && word.starts_with(|c: char| c.is_ascii_digit()) {
        return word.parse().ok();
    }
    NAMES
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_words_are_numbers() {
        for (word, value) in [
            ("12", Some(12)),
            ("doce", Some(12)),
            ("4th", None),
            ("123456", None),
        ] {
            assert_eq!(number(word), value, "{word}");
        }
    }
}
