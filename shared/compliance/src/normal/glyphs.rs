//! Single characters: what is left out, what stands for a word, which foreign letters look like Latin ones.

use unicode_security::confusable_detection::skeleton;

pub(super) enum Special {
    Nothing,
    Separator,
    Word(&'static str),
}

/// Signs that are not read letter by letter.
pub(super) fn special(c: char) -> Option<Special> {
    match c {
        '´' | '‘' | '’' | '‛' | 'ʼ' | 'ʹ' | '′' | '＇' => Some(Special::Nothing),
        '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => Some(Special::Nothing),
        // Compatibility forms would turn these into letters of the word beside them.
        'ℹ' | 'Ⓜ' | '™' | '℠' | '\u{1f100}'..='\u{1f1ff}' => Some(Special::Separator),
        // A picture says what it shows.
        '🛑' => Some(Special::Word("stop")),
        '🤖' => Some(Special::Word("robot")),
        '🖕' => Some(Special::Word("middlefinger")),
        '🔫' => Some(Special::Word("gun")),
        _ => None,
    }
}

/// The Latin letter a letter of another script is drawn like; anything else as it is, in lower case.
pub(super) fn latin(c: char, mut out: impl FnMut(char)) {
    if c.is_ascii() {
        return out(c.to_ascii_lowercase());
    }
    if special(c).is_some() {
        return;
    }
    if !c.is_alphabetic() {
        return out(c);
    }
    match drawn_like(c).or_else(|| c.to_uppercase().next().and_then(drawn_like)) {
        Some(letter) => out(letter),
        None => c.to_lowercase().for_each(out),
    }
}

fn drawn_like(c: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut drawn =
        skeleton(c.encode_utf8(&mut buffer)).filter(|part| !unicode_normalization::char::is_combining_mark(*part));
    let first = drawn.next()?;
    // A capital I is drawn like a small l.
    let first = if first == 'l' && c.is_uppercase() { 'i' } else { first };
    (first.is_ascii_alphabetic() && drawn.next().is_none()).then(|| first.to_ascii_lowercase())
}
