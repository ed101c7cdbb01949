//! Finds the base of a word with an ending that `seven_text::stem` does not remove: Spanish verb
//! forms, pronouns and diminutives, English -er, -y, -ly. Used only for words that neither the
//! lexicon nor the list of common words contains.

/// Endings of word forms, each with the endings that the base word may have instead. The order
/// decides which base words are tried first.
const ENDINGS: &[(&str, &[&str])] = &[
    ("andonos", &["ar"]),
    ("iendonos", &["er", "ir"]),
    ("andome", &["ar"]),
    ("ariamos", &["ar"]),
    ("aremos", &["ar"]),
    ("eremos", &["er"]),
    ("iremos", &["ir"]),
    ("abamos", &["ar"]),
    ("arnos", &["ar"]),
    ("ernos", &["er"]),
    ("irnos", &["ir"]),
    ("arles", &["ar"]),
    ("iendo", &["er", "ir"]),
    ("aste", &["ar"]),
    ("aron", &["ar"]),
    ("ieron", &["er", "ir"]),
    ("aria", &["ar"]),
    ("arme", &["ar"]),
    ("arse", &["ar"]),
    ("arlo", &["ar"]),
    ("arla", &["ar"]),
    ("arle", &["ar"]),
    ("erme", &["er"]),
    ("erse", &["er"]),
    ("erlo", &["er"]),
    ("irme", &["ir"]),
    ("irse", &["ir"]),
    ("amos", &["ar", "a"]),
    ("emos", &["er", "ar"]),
    ("imos", &["ir", "er"]),
    ("ando", &["ar"]),
    ("ados", &["ar", "ado"]),
    ("adas", &["ar", "ada"]),
    ("aban", &["ar"]),
    ("quitos", &["co", "ca"]),
    ("quita", &["ca"]),
    ("quito", &["co"]),
    ("ecitos", &["e", ""]),
    ("ecito", &["e", ""]),
    ("citos", &["", "s"]),
    ("citas", &["", "s"]),
    ("cito", &[""]),
    ("cita", &[""]),
    ("itos", &["o", "e", "a"]),
    ("itas", &["a", "o"]),
    ("ito", &["o", "e", ""]),
    ("ita", &["a", "o"]),
    ("illos", &["o", "a"]),
    ("illas", &["a"]),
    ("aba", &["ar"]),
    ("are", &["ar"]),
    ("ado", &["ar"]),
    ("ada", &["ar"]),
    ("ido", &["er", "ir"]),
    ("ida", &["er", "ir"]),
    ("iest", &["y"]),
    ("ier", &["y"]),
    ("ers", &["", "e", "ing"]),
    ("ies", &["y"]),
    ("est", &["", "e"]),
    ("er", &["", "e", "ing"]),
    ("ly", &["", "le"]),
    ("an", &["ar"]),
    ("en", &["er", "ir", "ar"]),
    ("as", &["ar"]),
    ("es", &["er", "ir", ""]),
    ("y", &["", "e"]),
    ("o", &["ar", "er", "ir"]),
    ("a", &["ar", "er"]),
    ("e", &["ar", "er"]),
];

/// Minimum number of letters before the ending; fewer letters would match unrelated words.
const LEAST: usize = 3;

/// Returns the base words of which `word` may be a form, in the order of `ENDINGS`.
pub(super) fn bases(word: &str) -> impl Iterator<Item = String> {
    let trunks = ENDINGS
        .iter()
        .filter_map(move |(ending, before)| Some((word.strip_suffix(ending)?, *before)));
    trunks
        .filter(|(trunk, _)| trunk.chars().count() >= LEAST)
        .flat_map(|(trunk, before)| {
            let single = single(trunk);
            before.iter().flat_map(move |b| {
                std::iter::once(format!("{trunk}{b}")).chain(single.map(|t| format!("{t}{b}")))
            })
        })
}

/// Shortens runs of one letter to two letters and to one, in case a key was held too long: "poool"
/// gives "pool" and "pol", "gymm" gives "gym".
pub(super) fn squeezed(word: &str) -> impl Iterator<Item = String> {
    [2, 1].into_iter().filter_map(move |most| {
        let (mut short, mut last, mut run) = (String::with_capacity(word.len()), None, 0);
        for letter in word.chars() {
            run = if last == Some(letter) { run + 1 } else { 1 };
            last = Some(letter);
            if run <= most {
                short.push(letter);
            }
        }
        (short != word).then_some(short)
    })
}

/// Removes the second of two equal last letters: "swimm" -> "swim".
fn single(trunk: &str) -> Option<&str> {
    let (at, last) = trunk.char_indices().next_back()?;
    let rest = &trunk[..at];
    (rest.ends_with(last) && !"aeiouls".contains(last)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // RAG-9
    fn forms_lead_back_to_their_words() {
        for (form, base) in [
            ("nadamos", "nadar"),
            ("nadando", "nadar"),
            ("relajarnos", "relajar"),
            ("comiendo", "comer"),
            ("casarnos", "casar"),
            ("perrito", "perro"),
            ("cafecito", "cafe"),
            ("swimmer", "swim"),
            ("smoky", "smoke"),
            ("boxers", "boxing"),
        ] {
            assert!(
                bases(form).any(|b| b == base),
                "{form}: {:?}",
                bases(form).collect::<Vec<_>>()
            );
        }
        assert_eq!(squeezed("poool").collect::<Vec<_>>(), ["pool", "pol"]);
        assert_eq!(squeezed("gymm").collect::<Vec<_>>(), ["gym"]);
        assert_eq!(bases("ito").count(), 0);
    }
}
