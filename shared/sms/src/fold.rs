//! The table for [`crate::transliterate`]: characters that GSM-7 lacks, with a GSM-7 replacement of
//! the same meaning.

/// Letters with marks that GSM-7 lacks, grouped by the letter that readers accept instead.
const LETTERS: &[(&str, &str)] = &[
    ("a", "áâãāăąǎȁȃȧạảấầẩẫậắằẳẵặḁẚ"),
    ("A", "ÁÀÂÃĀĂĄǍȀȂȦẠẢẤẦẨẪẬẮẰẲẴẶḀ"),
    ("å", "ǻ"),
    ("Å", "Ǻ\u{212b}"),
    ("ä", "ǟ"),
    ("Ä", "Ǟ"),
    ("æ", "ǣǽ"),
    ("Æ", "ǢǼ"),
    ("b", "ḃḅḇƀ"),
    ("B", "ḂḄḆ"),
    ("c", "çćĉċčḉ"),
    ("C", "ĆĈĊČ"),
    ("Ç", "Ḉ"),
    ("d", "ďđðḋḍḏḑḓ"),
    ("D", "ĎĐÐḊḌḎḐḒ"),
    ("e", "êëēĕėęěȅȇȩẹẻẽếềểễệḕḗḙḛḝ"),
    ("E", "ÈÊËĒĔĖĘĚȄȆȨẸẺẼẾỀỂỄỆḔḖḘḚḜ"),
    ("f", "ḟƒ"),
    ("F", "Ḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("G", "ĜĞĠĢǦǴḠ"),
    ("h", "ĥħȟḣḥḧḩḫẖ"),
    ("H", "ĤĦȞḢḤḦḨḪ"),
    ("i", "íîïĩīĭįıǐȉȋḭḯỉị"),
    ("I", "ÍÌÎÏĨĪĬĮİǏȈȊḬḮỈỊ"),
    ("j", "ĵǰ"),
    ("J", "Ĵ"),
    ("k", "ķǩḱḳḵĸ"),
    ("K", "ĶǨḰḲḴ\u{212a}"),
    ("l", "ĺļľŀłḷḹḻḽ"),
    ("L", "ĹĻĽĿŁḶḸḺḼ"),
    ("m", "ḿṁṃ"),
    ("M", "ḾṀṂ"),
    ("n", "ńņňŋǹṅṇṉṋ"),
    ("N", "ŃŅŇŊǸṄṆṈṊ"),
    ("o", "óôõōŏőǒǫǭȍȏȯȱơọỏốồổỗộớờởỡợṍṏṑṓ"),
    ("O", "ÓÒÔÕŌŎŐǑǪǬȌȎȮȰƠỌỎỐỒỔỖỘỚỜỞỠỢṌṎṐṒ"),
    ("ö", "ȫ"),
    ("Ö", "Ȫ"),
    ("ø", "ǿ"),
    ("Ø", "Ǿ"),
    ("p", "ṕṗ"),
    ("P", "ṔṖ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("R", "ŔŖŘȐȒṘṚṜṞ"),
    ("s", "śŝşšșṡṣṥṧṩſẛ"),
    ("S", "ŚŜŞŠȘṠṢṤṦṨ"),
    ("t", "ţťŧțṫṭṯṱẗ"),
    ("T", "ŢŤŦȚṪṬṮṰ"),
    ("u", "úûũūŭůűųǔȕȗưụủứừửữựṳṵṷṹṻ\u{b5}"),
    ("U", "ÚÙÛŨŪŬŮŰŲǓȔȖƯỤỦỨỪỬỮỰṲṴṶṸṺ"),
    ("ü", "ǖǘǚǜ"),
    ("Ü", "ǕǗǙǛ"),
    ("v", "ṽṿ"),
    ("V", "ṼṾ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("W", "ŴẀẂẄẆẈ"),
    ("x", "ẋẍ"),
    ("X", "ẊẌ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("Y", "ÝŶŸȲẎỲỴỶỸ"),
    ("z", "źżžẑẓẕ"),
    ("Z", "ŹŻŽẐẒẔ"),
    ("oe", "œ"),
    ("OE", "Œ"),
    ("ij", "ĳ"),
    ("IJ", "Ĳ"),
    ("th", "þ"),
    ("Th", "Þ"),
    ("SS", "ẞ"),
    ("'n", "ŉ"),
    ("ff", "ﬀ"),
    ("fi", "ﬁ"),
    ("fl", "ﬂ"),
    ("ffi", "ﬃ"),
    ("ffl", "ﬄ"),
    ("st", "ﬅﬆ"),
    ("Ω", "\u{2126}"),
];

const SIGNS: &[(&str, &str)] = &[
    ("'", "`´‘’‚‛′‵ʹʻʼʽˈˊˋ‹›"),
    ("\"", "“”„‟«»″‶〝〞"),
    ("-", "‐‑‒–—―−⁃﹘﹣•‣◦∙·●○▪▫■□"),
    ("...", "…"),
    ("..", "‥"),
    (".", "․"),
    ("!!", "‼"),
    ("??", "⁇"),
    ("?!", "⁈"),
    ("!?", "⁉"),
    ("/", "⁄∕÷"),
    ("x", "×"),
    ("+/-", "±"),
    ("<=", "≤"),
    (">=", "≥"),
    ("->", "→"),
    ("<-", "←"),
    ("~", "∼˜"),
    ("^", "ˆ"),
    ("|", "¦"),
    ("*", "∗⁎"),
    ("(c)", "©"),
    ("(R)", "®"),
    ("(TM)", "™"),
    ("No.", "№"),
    ("c", "¢￠"),
    ("£", "￡"),
    ("¥", "￥"),
    ("a", "ª"),
    ("o", "º"),
    (" deg", "°"),
    ("1", "¹"),
    ("2", "²"),
    ("3", "³"),
    ("1/2", "½"),
    ("1/4", "¼"),
    ("3/4", "¾"),
    ("1/3", "⅓"),
    ("2/3", "⅔"),
    ("\n", "\u{85}\u{2028}\u{2029}"),
];

/// Returns the replacement for a character that GSM-7 lacks; `None` if none has the same meaning.
pub(crate) fn fold(c: char) -> Option<String> {
    if c.is_whitespace()
        && !matches!(
            c,
            '\n' | '\r' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    {
        return Some(" ".to_owned());
    }
    if let Some((plain, _)) = LETTERS.iter().chain(SIGNS).find(|(_, odd)| odd.contains(c)) {
        return Some((*plain).to_owned());
    }
    let code = u32::from(c);
    let ascii = match code {
        // Full-width forms mirror ASCII. The mathematical alphabets repeat A-Z and a-z, and the
        // digits 0-9, once per style.
        0xFF01..=0xFF5E => code - 0xFEE0,
        0x1D400..=0x1D6A3 => match (code - 0x1D400) % 52 {
            n @ 0..26 => u32::from('A') + n,
            n => u32::from('a') + n - 26,
        },
        0x1D7CE..=0x1D7FF => u32::from('0') + (code - 0x1D7CE) % 10,
        _ => return None,
    };
    let ascii = char::from_u32(ascii)?;
    Some(if ascii == '`' { '\'' } else { ascii }.to_string())
}

/// Returns whether a character is invisible on a handset, yet makes a text UCS-2: control codes,
/// zero-width spaces, direction marks.
pub(crate) fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\r' | '\u{c}' | '\u{85}' => false,
        _ if c.is_control() && !c.is_whitespace() => true,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => true,
        _ => false,
    }
}

/// Returns the GSM-7 letter composed of a letter and a combining mark; `None` if there is none.
pub(crate) fn compose(base: char, mark: char) -> Option<char> {
    let (bases, composed) = match mark {
        '\u{300}' => ("aeiou", "àèìòù"),
        '\u{301}' => ("eE", "éÉ"),
        '\u{303}' => ("nN", "ñÑ"),
        '\u{308}' => ("aouAOU", "äöüÄÖÜ"),
        '\u{30a}' => ("aA", "åÅ"),
        '\u{327}' => ("C", "Ç"),
        _ => return None,
    };
    bases
        .chars()
        .zip(composed.chars())
        .find(|&(b, _)| b == base)
        .map(|(_, c)| c)
}
