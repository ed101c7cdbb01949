//! Converts a text to GSM-7 where its meaning stays the same. Otherwise one accent would more than
//! halve the characters per segment.

use unicode_segmentation::UnicodeSegmentation;

use crate::{
    encoding::{Encoding, septets},
    fold::{compose, fold, is_invisible},
    segments::measure,
};

/// Replaces accents that GSM-7 lacks, and typographic quotes, dashes and spaces. Emoji and other
/// scripts stay. A longer replacement (`…` to `...`) is used only if it adds no segment.
pub fn transliterate(text: &str) -> String {
    let visible: String = text.chars().filter(|&c| !is_invisible(c)).collect();
    let full = map_clusters(&visible, Width::Any);
    let measured = measure(&full);
    if measured.encoding == Encoding::Gsm7 && measured.segments <= measure(text).segments {
        full
    } else {
        map_clusters(&visible, Width::NoLonger)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Any,
    NoLonger,
}

fn map_clusters(text: &str, width: Width) -> String {
    let mut out = String::with_capacity(text.len());
    for cluster in text.graphemes(true) {
        match plain(cluster) {
            Some(plain) if width == Width::Any || utf16(&plain) <= utf16(cluster) => {
                // A space keeps "1½" from becoming "11/2", which reads as eleven halves.
                if plain.contains('/')
                    && plain.len() > 1
                    && out.ends_with(|c: char| c.is_ascii_digit())
                {
                    out.push(' ');
                }
                out.push_str(&plain);
            }
            _ => out.push_str(cluster),
        }
    }
    out
}

fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the GSM-7 form of one grapheme cluster; `None` leaves it unchanged.
fn plain(cluster: &str) -> Option<String> {
    let mut chars = cluster.chars();
    let base = chars.next()?;
    let tail = chars.as_str();
    if is_mark(base) || is_joiner(base) {
        // This is a mark without a base letter, as at the start of a text or after a line break.
        return tail
            .chars()
            .all(|c| is_mark(c) || is_joiner(c))
            .then(String::new);
    }
    let mut plain = if septets(base).is_some() {
        base.to_string()
    } else {
        fold(base)?
    };
    if tail.is_empty() || cluster == "\r\n" {
        return Some(if tail.is_empty() {
            plain
        } else {
            cluster.to_owned()
        });
    }
    // A keycap, an emoji sequence or a struck-out letter means more than its first character alone.
    if !tail.chars().all(|c| is_mark(c) || is_joiner(c)) {
        return None;
    }
    let marks: Vec<char> = tail.chars().filter(|&c| is_mark(c)).collect();
    if marks.is_empty() {
        return Some(plain);
    }
    let last = plain.pop().filter(|&c| is_latin(c))?;
    let mut letter = last;
    for mark in marks {
        match compose(letter, mark) {
            // A mark is composed only with an unchanged base letter. Unicode has two spellings of
            // an e with circumflex and grave; this way both become "e".
            Some(composed) if letter == base => letter = composed,
            _ => break,
        }
    }
    plain.push(letter);
    Some(plain)
}

/// Returns whether a character is a combining mark above, below or through a letter. Strokes that
/// cross a letter out are excluded.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{333}' | '\u{339}'..='\u{36f}')
}

/// Returns whether a character is a joiner or variation selector. They matter within emoji and
/// other scripts, but not on a Latin letter.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

fn is_latin(c: char) -> bool {
    c.is_alphabetic() && c < '\u{250}'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::encoding;
    use proptest::prelude::*;

    #[test]
    fn table() {
        // C-32, C-34
        for (text, expected) in [
            ("á í ó ú Á Í Ó Ú", "a i o u A I O U"),
            (
                "ñ é ü ¿ ¡ à è ì ò ù Ç É Ñ Ü €",
                "ñ é ü ¿ ¡ à è ì ò ù Ç É Ñ Ü €",
            ),
            (
                "¿Dónde está el salón? ¡Aquí!",
                "¿Donde esta el salon? ¡Aqui!",
            ),
            ("“Hi” ‘there’ don’t «ok»", "\"Hi\" 'there' don't \"ok\""),
            ("7–9 pm — or later", "7-9 pm - or later"),
            ("wait…", "wait..."),
            ("a\u{a0}b\u{2009}c\td\u{3000}e", "a b c d e"),
            ("ze\u{200b}ro\u{feff} wi\u{2060}dth\u{ad}", "zero width"),
            ("• one ▪ two", "- one - two"),
            ("façade `code`", "facade 'code'"),
            ("Ｆｕｌｌ　ｗｉｄｔｈ！", "Full width!"),
            ("ﬁne ﬂow œuvre", "fine flow oeuvre"),
            ("𝐁𝐨𝐥𝐝 𝟏𝟐", "Bold 12"),
            ("½ price, 1½ hours", "1/2 price, 1 1/2 hours"),
            ("Café™ 100 µg", "Café(TM) 100 ug"),
            ("1ª y 2º", "1a y 2o"),
            ("tab\u{0}\u{7}s\u{2028}x", "tabs\nx"),
            ("Łódź Şişli Việt", "Lodz Sisli Viet"),
            ("line\r\nbreak\u{c}", "line\r\nbreak\u{c}"),
        ] {
            assert_eq!(transliterate(text), expected);
            assert_eq!(encoding(expected), Encoding::Gsm7);
        }
    }

    #[test]
    fn decomposed_letters_end_as_composed_ones() {
        // C-32
        for (nfd, expected) in [
            ("a\u{301} i\u{301} o\u{301} u\u{301}", "a i o u"),
            (
                "man\u{303}ana cafe\u{301} pingu\u{308}ino",
                "mañana café pingüino",
            ),
            (
                "N\u{303} E\u{301} U\u{308} A\u{30a} C\u{327} c\u{327}",
                "Ñ É Ü Å Ç c",
            ),
            ("e\u{302}\u{300}", "e"),
            ("u\u{308}\u{301}", "ü"),
            ("ñ\u{301}", "ñ"),
            ("é\u{fe0f}\u{200d}", "é"),
            ("a\u{200b}\u{301}", "a"),
            ("\u{301}lone", "lone"),
        ] {
            assert_eq!(transliterate(nfd), expected, "{nfd:?}");
        }
    }

    #[test]
    fn emoji_and_other_scripts_stay() {
        for text in [
            "😀",
            "👩‍👩‍👧 ok",
            "1️⃣ first",
            "❤️",
            "🇺🇸",
            "Привет",
            "日本",
            "שלום",
            "s\u{336}t",
            "=\u{338}",
            "می\u{200c}خواهم",
        ] {
            assert_eq!(transliterate(text), text);
        }
        // Characters around an emoji are replaced too, unless the replacement makes the text
        // longer.
        assert_eq!(transliterate("“Sí” 😀…"), "\"Si\" 😀…");
    }

    #[test]
    fn never_pays_more_than_before() {
        let dear = "™".repeat(70);
        assert_eq!(measure(&dear).segments, 1);
        assert_eq!(transliterate(&dear), dear);
        assert_eq!(transliterate("™"), "(TM)");
    }

    fn messy() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[aeiouncAEU \n\r\u{301}\u{303}\u{308}\u{300}\u{302}\u{327}\u{338}\u{200b}\u{200d}\u{fe0f}\u{20e3}…½™œ👩😀🇺1]{0,90}",
            "(\\PC|[áéñ€{}…—“”’ﬁ½±\t]){0,200}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn idempotent_and_never_longer(text in messy()) {
            let once = transliterate(&text);
            prop_assert_eq!(transliterate(&once), &*once);
            prop_assert!(measure(&once).segments <= measure(&text).segments);
        }

        #[test]
        fn gsm_text_is_left_alone(
            text in "[@£$¥èéùìòÇ\nØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ -?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\\\\\[~\\]|€]{0,200}",
        ) {
            prop_assert_eq!(transliterate(&text), text);
        }
    }
}
