//! What a casino decides about the signs of a reply, whoever wrote it (DEP-7).

/// At most `most` sentences end with an exclamation mark, each with one: those after them end with a full stop. A mark inside a sentence is part
/// of a name and stays.
pub fn calmed(text: &str, most: u8) -> String {
    let (mut calm, mut left, mut rest) = (String::with_capacity(text.len()), most, text);
    while let Some(at) = rest.find('!') {
        let (before, from) = rest.split_at(at);
        let after = from.trim_start_matches('!');
        calm.push_str(before);
        if !ends_sentence(after) {
            calm.push_str(&from[..from.len() - after.len()]);
        } else if left > 0 {
            left -= 1;
            calm.push('!');
        } else {
            close(&mut calm);
        }
        rest = after;
    }
    calm + rest
}

/// Nothing follows, or what begins a sentence.
fn ends_sentence(after: &str) -> bool {
    let after = after.trim_start_matches(['"', '\'', ')', '”', '’', '»']);
    let next = after.trim_start();
    next.is_empty() || next.len() < after.len() && !next.starts_with(char::is_lowercase)
}

/// Ends the sentence with a full stop, if it has no end yet, and takes away the mark that opened it.
fn close(calm: &mut String) {
    let sentence = calm.rfind(['.', '!', '?']).map_or(0, |end| end + 1);
    if let Some(open) = calm[sentence..].rfind('¡') {
        calm.remove(sentence + open);
    }
    if !calm.ends_with(['.', '?', '…']) {
        calm.push('.');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // DEP-7
    fn marks_beyond_the_limit_become_full_stops() {
        for (text, most, calm) in [
            ("Welcome! The pool opens at 9 AM! See you!", 1, "Welcome! The pool opens at 9 AM. See you."),
            ("Welcome! See you!", 0, "Welcome. See you."),
            ("Wow!!! See you!!", 2, "Wow! See you!"),
            ("Open until 9 PM", 0, "Open until 9 PM"),
            ("Really?! Yes!", 0, "Really? Yes."),
            // A show called Bravo!, in a sentence and at its end.
            ("Bravo! plays at 8 PM! Tickets are $40!", 1, "Bravo! plays at 8 PM! Tickets are $40."),
            ("See \"Bravo!\" Tickets are $40!", 0, "See \"Bravo.\" Tickets are $40."),
            (
                "¡Bienvenido! ¡La piscina abre a las 9! ¿Viene hoy?",
                1,
                "¡Bienvenido! La piscina abre a las 9. ¿Viene hoy?",
            ),
            ("Abre a las 9. Le va a gustar, ¡seguro!", 0, "Abre a las 9. Le va a gustar, seguro."),
        ] {
            assert_eq!(calmed(text, most), calm, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_touched_and_once_is_enough(text in "([A-Za-z!?¡. ]|\\PC){0,80}", most in 0u8..4) {
            let calm = calmed(&text, most);
            prop_assert_eq!(&calmed(&calm, most), &calm);
            let bare = |text: &str| text.chars().filter(|c| !"!¡.".contains(*c)).collect::<String>();
            prop_assert_eq!(bare(&calm), bare(&text));
            let ends = calm.match_indices('!').filter(|(at, _)| ends_sentence(&calm[at + 1..])).count();
            prop_assert!(ends <= usize::from(most), "{:?}", calm);
        }
    }
}
