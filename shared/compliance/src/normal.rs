//! One spelling for the many ways a word is typed: case, accents, punctuation, emoji, full-width letters (C-6, C-7).

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The words of a text, folded: lower case, no accents, no apostrophes ("don’t" is `dont`); everything that is neither
/// letter nor digit separates words.
pub(crate) fn words(text: &str) -> Vec<String> {
    let folded = text
        .chars()
        .filter(|&c| !is_apostrophe(c) && !is_invisible(c))
        // NFKC would turn these signs into letters of the word beside them.
        .map(|c| if matches!(c, 'ℹ' | 'Ⓜ' | '™' | '℠') { ' ' } else { c })
        .nfkc()
        .flat_map(char::to_lowercase)
        .nfd()
        .filter(|&c| !is_combining_mark(c) && !is_apostrophe(c));
    let mut line = String::with_capacity(text.len());
    for c in folded {
        match c {
            // A stop sign says what it shows.
            '🛑' => line.push_str(" stop "),
            c if c.is_alphanumeric() && !('\u{1f100}'..='\u{1f1ff}').contains(&c) => line.push(c),
            _ => line.push(' '),
        }
    }
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if words.len() >= 3 && words.iter().all(|w| w.chars().count() == 1) {
        return vec![words.concat()]; // "S.T.O.P"
    }
    words
}

/// The words with drawn-out letters taken back ("stoooop"), when there are any.
pub(crate) fn calmed(words: &[String]) -> Option<Vec<String>> {
    let calm: Vec<String> = words.iter().map(|w| calm_word(w)).collect();
    (calm != words).then_some(calm)
}

fn calm_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let chars: Vec<char> = word.chars().collect();
    for run in chars.chunk_by(|a, b| a == b) {
        let keep = if run.len() >= 3 && run[0].is_alphabetic() { 1 } else { run.len() };
        out.extend(&run[..keep]);
    }
    out
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '`' | '´' | '‘' | '’' | '‛' | 'ʼ' | 'ʹ' | '′' | '＇')
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_spellings() {
        for (text, expected) in [
            ("  STOP.  ", "stop"),
            ("No   MÁS!", "no mas"),
            ("no ma\u{301}s", "no mas"),
            ("ＳＴＯＰ", "stop"),
            ("𝐒𝐓𝐎𝐏", "stop"),
            ("st\u{200b}op", "stop"),
            ("S.T.O.P", "stop"),
            ("opt-out", "opt out"),
            ("don’t / don't / don´t", "dont dont dont"),
            ("🙏 help 🙏🏽 ℹ️", "help"),
            ("STOP™ 🅰", "stop"),
            ("🛑", "stop"),
            ("7:30 pm", "7 30 pm"),
            ("?!…", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text:?}");
        }
        assert_eq!(calmed(&words("Stoooop pleeease 1000")).unwrap().join(" "), "stop please 1000");
        assert_eq!(calmed(&words("coffee 555")), None);
    }
}
