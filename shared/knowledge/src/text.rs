//! Words as the index and the offline host compare them: lower case, no accents, light English and
//! Spanish stems.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Folds a text: lower case, no accents, plain quotes and dashes: "¿Dónde está?" -> "¿donde esta?".
pub fn fold(text: &str) -> String {
    text.nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' | '\u{00b4}' | '`' => '\'',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{00a0}' | '\u{202f}' => ' ',
            other => other,
        })
        .collect()
}

/// Returns folded words. Apostrophes join ("what's" -> "whats"); any other character that is no
/// letter or digit separates.
pub fn words(text: &str) -> Vec<String> {
    fold(text)
        .replace('\'', "")
        .replace('&', " and ")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns a light stem, equal for plurals, Spanish gender and common endings: "restaurantes",
/// "restaurants" -> "restaurant". Both sides of every comparison are stemmed, so the stem need not
/// be a real word.
pub fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if stem.len() > 3 && stem.ends_with('s') && !["ss", "us", "is"].iter().any(|end| stem.ends_with(end)) {
        stem.pop();
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

/// Returns the character trigrams of a word with its edges marked, for comparing misspelt names.
pub(crate) fn trigrams(word: &str) -> Vec<[char; 3]> {
    let chars: Vec<char> = std::iter::once('^').chain(word.chars()).chain(std::iter::once('$')).collect();
    chars.windows(3).map(|w| [w[0], w[1], w[2]]).collect()
}

/// Returns the Dice coefficient of two words' trigrams, 0 to 1.
pub(crate) fn similarity(a: &str, b: &str) -> f32 {
    let (left, mut right) = (trigrams(a), trigrams(b));
    let total = left.len() + right.len();
    let mut shared = 0usize;
    for gram in left {
        if let Some(at) = right.iter().position(|g| *g == gram) {
            right.swap_remove(at);
            shared += 1;
        }
    }
    if total == 0 { 0.0 } else { 2.0 * shared as f32 / total as f32 }
}

/// Counts the letters to insert, drop, replace or swap with a neighbour to turn `a` into `b`. A
/// swap counts once, because it is one typing error.
pub(crate) fn typos(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
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
        assert_ne!(stem("spa"), stem("spas "));
    }

    #[test]
    fn words_survive_accents_quotes_and_typos() {
        assert_eq!(words("¿Dónde está Bobby’s & Co?"), ["donde", "esta", "bobbys", "and", "co"]);
        assert!(similarity("steakhouse", "stakehouse") >= 0.5);
        assert_eq!(typos("ember", "embre"), 1);
        assert_eq!(typos("", "ab"), 2);
    }
}
