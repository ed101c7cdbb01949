//! The two alphabets of a text message, and how many units each character takes.

/// The alphabet in which one message is encoded; a single character outside GSM-7 makes the whole
/// message UCS-2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    Gsm7,
    Ucs2,
}

impl Encoding {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gsm7 => "gsm7",
            Self::Ucs2 => "ucs2",
        }
    }

    /// Returns the units that a single, not concatenated message holds: septets for GSM-7, UTF-16
    /// units for UCS-2.
    pub const fn single(self) -> usize {
        match self {
            Self::Gsm7 => 160,
            Self::Ucs2 => 70,
        }
    }

    /// Returns the units that each part of a concatenated message holds in addition to its header.
    pub const fn part(self) -> usize {
        match self {
            Self::Gsm7 => 153,
            Self::Ucs2 => 67,
        }
    }

    /// Returns the units one character takes in this encoding; 0 in GSM-7 for a character it lacks.
    pub(crate) fn cost(self, c: char) -> usize {
        match self {
            Self::Gsm7 => septets(c).unwrap_or(0),
            Self::Ucs2 => c.len_utf16(),
        }
    }
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the septets of a character in GSM 03.38. A character of the basic table takes 1, one of
/// the extension table 2 (escape and code). `None` if neither table has the character.
pub fn septets(c: char) -> Option<usize> {
    match c {
        '\n' | '\r' | ' '..='Z' | 'a'..='z' | '_' => Some(1),
        '£' | '¥' | '§' | '¤' | '¡' | '¿' => Some(1),
        'è' | 'é' | 'ù' | 'ì' | 'ò' | 'à' | 'ä' | 'ö' | 'ñ' | 'ü' | 'ø' | 'å' | 'æ' | 'ß' => {
            Some(1)
        }
        'Ç' | 'É' | 'Ä' | 'Ö' | 'Ñ' | 'Ü' | 'Ø' | 'Å' | 'Æ' => Some(1),
        'Δ' | 'Φ' | 'Γ' | 'Λ' | 'Ω' | 'Π' | 'Ψ' | 'Σ' | 'Θ' | 'Ξ' => Some(1),
        '\u{c}' | '^' | '{' | '}' | '\\' | '[' | '~' | ']' | '|' | '€' => Some(2),
        _ => None,
    }
}

pub fn encoding(text: &str) -> Encoding {
    if text.chars().all(|c| septets(c).is_some()) {
        Encoding::Gsm7
    } else {
        Encoding::Ucs2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The basic table in code order; the escape code 0x1B is left out.
    const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
        ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
    const EXTENSION: &str = "\u{c}^{}\\[~]|€";

    #[test]
    fn the_tables_hold_exactly_the_standard_characters() {
        // SMS-27, C-32
        assert_eq!(BASIC.chars().count(), 127);
        assert_eq!(EXTENSION.chars().count(), 10);
        for c in '\0'..=char::MAX {
            let expected = if BASIC.contains(c) {
                Some(1)
            } else if EXTENSION.contains(c) {
                Some(2)
            } else {
                None
            };
            assert_eq!(septets(c), expected, "{c:?}");
        }
    }

    #[test]
    fn look_alikes_are_not_gsm() {
        // C-32
        for c in [
            'ç', '`', '\t', '\u{b5}', '\0', '\u{1b}', 'á', 'í', 'ó', 'ú', 'Á', 'À', 'â', '’', '–',
            '…', '\u{a0}', 'Α',
        ] {
            assert_eq!(encoding(&c.to_string()), Encoding::Ucs2, "{c:?}");
        }
        for text in ["ñ é ü ¿ ¡", "Ç\u{c}€", "à è ì ò ù", "ΔΦΓΛΩΠΨΣΘΞ", ""] {
            assert_eq!(encoding(text), Encoding::Gsm7, "{text:?}");
        }
        assert_eq!(
            [Encoding::Gsm7.to_string(), Encoding::Ucs2.to_string()],
            ["gsm7", "ucs2"]
        );
    }
}
