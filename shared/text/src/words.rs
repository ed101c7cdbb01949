//! Words, and how alike two words are.

use crate::fold;

/// Returns the folded words. Apostrophes are removed ("what's" -> "whats"), and `&` becomes the
/// word "and". Any other character that is not a letter or digit separates words.
pub fn words(text: &str) -> Vec<String> {
    fold(text)
        .replace('\'', "")
        .replace('&', " and ")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Words that are their own stem, because cutting them makes another word of them: "evening" and
/// "even", "pasta" and "past", "wine" and "win". Sorted.
#[rustfmt::skip]
const WHOLE: [&str; 56] = [
    "bote", "bowling", "boxing", "cabe", "care", "carga", "compa", "covered",
    "credito", "cute", "dime", "dinero", "doce", "done", "dressing", "evening", "fare", "fine",
    "fishing", "funciona", "hate", "hello", "here", "hope", "kidding", "kinda", "large",
    "lento", "listo", "made", "maine", "male", "many", "mate", "meeting", "mice", "mile",
    "mine", "none", "note", "nueve", "partying", "pasta", "pine", "plane", "prime", "quite",
    "sale", "site", "slamming", "suite", "tarda", "tree", "tube", "wedding", "wine",
];

/// Returns a stem that plurals, Spanish genders and words with common endings share: "restaurantes"
/// and "restaurants" -> "restaurant". A stem need not be a word, so compare stems only with stems.
pub fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if stem.len() > 3
        && stem.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| stem.ends_with(end))
    {
        stem.pop();
    }
    if WHOLE.binary_search(&stem.as_str()).is_ok() {
        return stem;
    }
    for ending in ["ing", "ed"] {
        if stem.len() > ending.len() + 2 && stem.ends_with(ending) && stem.is_ascii() {
            stem.truncate(stem.len() - ending.len());
            let bytes = stem.as_bytes();
            let n = bytes.len();
            if n > 3
                && bytes[n - 1] == bytes[n - 2]
                && !matches!(bytes[n - 1], b'a' | b'e' | b'i' | b'o' | b'u' | b'l' | b's')
            {
                stem.pop();
            }
            break;
        }
    }
    if stem.len() > 4 && stem.ends_with(['e', 'o', 'a']) || stem.len() == 4 && stem.ends_with('e') {
        stem.pop();
    } else if stem.len() > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    } else if stem.len() > 4 && stem.ends_with("ie") {
        stem.pop();
    }
    stem
}

/// Returns all runs of three characters of a word, with `^` before the word and `$` after it. They
/// serve to compare misspelt names.
pub fn trigrams(word: &str) -> Vec<[char; 3]> {
    let chars: Vec<char> = std::iter::once('^')
        .chain(word.chars())
        .chain(std::iter::once('$'))
        .collect();
    chars.windows(3).map(|w| [w[0], w[1], w[2]]).collect()
}

/// Returns the share of trigrams that two words have in common, from 0 to 1 (Dice coefficient).
pub fn similarity(a: &str, b: &str) -> f32 {
    let (left, mut right) = (trigrams(a), trigrams(b));
    let total = left.len() + right.len();
    let mut shared = 0usize;
    for gram in left {
        if let Some(at) = right.iter().position(|g| *g == gram) {
            right.swap_remove(at);
            shared += 1;
        }
    }
    if total == 0 {
        0.0
    } else {
        2.0 * shared as f32 / total as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn related_words_share_a_stem() {
        for pair in [
            ("restaurants", "restaurantes"),
            ("restaurante", "restaurant"),
            ("massages", "massage"),
            ("abiertos", "abierta"),
            ("parties", "party"),
            ("closed", "close"),
            ("opening", "open"),
            ("shows", "show"),
            ("gaming", "game"),
            ("swimming", "swim"),
            ("promociones", "promocion"),
        ] {
            assert_eq!(stem(pair.0), stem(pair.1), "{pair:?}");
        }
        for (one, other) in WHOLE.iter().zip(&WHOLE[1..]) {
            assert!(one < other, "{one} stands before {other}");
        }
        for pair in [
            ("partying", "party"),
            ("pastas", "past"),
            ("suites", "suits"),
            ("evening", "even"),
            ("weddings", "wed"),
            ("dinero", "diner"),
            ("hates", "hats"),
        ] {
            assert_ne!(stem(pair.0), stem(pair.1), "{pair:?}");
        }
        assert_ne!(stem("spa"), stem("spas "));
    }

    #[test]
    fn words_survive_accents_quotes_and_typos() {
        assert_eq!(
            words("¿Dónde está Bobby’s & Co?"),
            ["donde", "esta", "bobbys", "and", "co"]
        );
        assert!(similarity("steakhouse", "stakehouse") >= 0.5);
    }
}
