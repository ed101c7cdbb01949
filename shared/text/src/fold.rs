//! Converts a text to the form in which texts are compared.

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
