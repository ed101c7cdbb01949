//! Detects a text's language by its small words, such as "the" or "el". The language that the host
//! claims plays no role. Pure.

use seven_domain::Language;

const ENGLISH: &[&str] = &[
    "the", "of", "and", "in", "with", "for", "is", "are", "an", "you", "your", "it", "its", "to",
    "at", "on", "our", "we", "from", "that", "this", "i'm", "i'll", "can", "do", "does", "would",
    "what", "when", "there", "have", "has", "open", "opens", "closed", "tonight", "today", "call",
    "please", "need", "be", "by", "not", "or",
];
const SPANISH: &[&str] = &[
    "el", "la", "los", "las", "de", "del", "y", "en", "con", "para", "por", "que", "es", "un",
    "una", "su", "sus", "se", "le", "lo", "al", "si", "esta", "estan", "hay", "abre", "cierra",
    "abierto", "cerrado", "hoy", "llame", "puede", "tiene", "cuesta", "hasta", "desde", "nuestro",
    "nuestra", "soy", "como", "cuando", "donde", "sin", "desea", "todos", "dias",
];

/// Counts the small words of each language in the text. Returns the language that has more; `None`
/// if both have equally many.
pub(super) fn language(text: &str) -> Option<Language> {
    let folded = seven_text::fold(text);
    let words = || {
        folded
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
    };
    let english = words().filter(|word| ENGLISH.contains(word)).count();
    let spanish = words().filter(|word| SPANISH.contains(word)).count();
    match english.cmp(&spanish) {
        std::cmp::Ordering::Greater => Some(Language::En),
        std::cmp::Ordering::Less => Some(Language::Es),
        std::cmp::Ordering::Equal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_tell_the_language() {
        for (text, is) in [
            (
                "Cinder Grove is open from 5 PM to 10 PM tonight.",
                Some(Language::En),
            ),
            ("Cinder Grove abre hoy de 5 PM a 10 PM.", Some(Language::Es)),
            (
                "El Leaf Club desk está en la entrada principal.",
                Some(Language::Es),
            ),
            ("Hoshi Lantern: 5 PM", None),
            ("", None),
        ] {
            assert_eq!(language(text), is, "{text}");
        }
    }
}
