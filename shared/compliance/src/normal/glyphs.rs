//! Decides about single characters: which are dropped, which are read as a word, and which foreign
//! letters look like Latin ones.

use unicode_security::confusable_detection::skeleton;

pub(super) enum Special {
    Nothing,
    Separator,
    Word(&'static str),
    Letter(char),
}

/// Returns the letter drawn in a circle, in a square or as half of a flag. One such letter alone is
/// a symbol; several in a row spell a word.
pub(super) fn enclosed(c: char) -> Option<char> {
    const ROWS: [u32; 7] = [0x1f110, 0x1f130, 0x1f150, 0x1f170, 0x1f1e6, 0x24b6, 0x24d0];
    let code = u32::from(c);
    let row = ROWS
        .into_iter()
        .find(|first| (*first..first + 26).contains(&code))?;
    char::from_u32(u32::from(b'a') + code - row)
}

/// Returns whether a character is dropped, separates words, or is read as a word or a letter;
/// `None` for ordinary characters.
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
        // These characters separate words. Otherwise Unicode would replace them by letters, which
        // would become part of the word beside them.
        'ℹ' | 'Ⓜ' | '™' | '℠' | '\u{1f100}'..='\u{1f1ff}' => Some(Special::Separator),
        // Small capitals.
        'ᴀ' => Some(Special::Letter('a')),
        'ʙ' => Some(Special::Letter('b')),
        'ᴄ' => Some(Special::Letter('c')),
        'ᴅ' => Some(Special::Letter('d')),
        'ᴇ' => Some(Special::Letter('e')),
        'ɪ' => Some(Special::Letter('i')),
        'ʟ' => Some(Special::Letter('l')),
        'ᴍ' => Some(Special::Letter('m')),
        'ɴ' => Some(Special::Letter('n')),
        'ᴏ' => Some(Special::Letter('o')),
        'ᴘ' => Some(Special::Letter('p')),
        'ʀ' => Some(Special::Letter('r')),
        'ꜱ' => Some(Special::Letter('s')),
        'ᴛ' => Some(Special::Letter('t')),
        'ᴜ' => Some(Special::Letter('u')),
        'ᴠ' => Some(Special::Letter('v')),
        // A pictogram is read as the word for what it shows.
        '🛑' => Some(Special::Word("stop")),
        '🤖' => Some(Special::Word("robot")),
        '🖕' => Some(Special::Word("middlefinger")),
        '🔫' => Some(Special::Word("gun")),
        _ => None,
    }
}

/// Passes a character to `out` in lower case. If a letter of another script looks like a Latin
/// letter, passes the Latin letter instead.
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
    let mut drawn = skeleton(c.encode_utf8(&mut buffer))
        .filter(|part| !unicode_normalization::char::is_combining_mark(*part));
    let first = drawn.next()?;
    // Unicode lists the capital I as a look-alike of the small l.
    let first = if first == 'l' && c.is_uppercase() {
        'i'
    } else {
        first
    };
    (first.is_ascii_alphabetic() && drawn.next().is_none()).then(|| first.to_ascii_lowercase())
}
