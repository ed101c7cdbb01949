//! Limits the exclamation marks in a reply to the number that the casino chose.

/// Lets at most `most` sentences end with one exclamation mark; later ones end with a full stop.
/// Exclamation marks inside a sentence or inside one of `names` stay.
pub fn calmed(text: &str, most: u8, names: &[&str]) -> String {
    let named = |at: usize| {
        names.iter().any(|name| {
            text.match_indices(name)
                .any(|(from, _)| (from..from + name.len()).contains(&at))
        })
    };
    let (mut calm, mut left, mut done) = (String::with_capacity(text.len()), most, 0);
    while let Some(at) = text[done..].find('!').map(|at| done + at) {
        let after = text[at..].trim_start_matches('!');
        let next = text.len() - after.len();
        calm.push_str(&text[done..at]);
        if named(at) || !ends_sentence(after) {
            calm.push_str(&text[at..next]);
        } else if left > 0 {
            left -= 1;
            calm.push('!');
        } else {
            close(&mut calm);
        }
        done = next;
    }
    calm + &text[done..]
}

/// Returns whether the exclamation mark before `after` ends its sentence. Closing quotes and
/// brackets after the mark are ignored. The mark does not end the sentence if a letter or a digit
/// follows, or a space and a lower-case letter.
fn ends_sentence(after: &str) -> bool {
    let after = after.trim_start_matches(['"', '\'', ')', '”', '’', '»']);
    match after.chars().next() {
        None => true,
        Some(next) if next.is_whitespace() => !after.trim_start().starts_with(char::is_lowercase),
        Some(next) => !next.is_alphanumeric(),
    }
}

/// Removes the opening marks (`¡`) of the last sentence in `calm`. Then appends a full stop, unless
/// the sentence ends with `.`, `?` or `…`.
fn close(calm: &mut String) {
    while let Some(open) = calm
        .rfind(['¡', '!'])
        .filter(|at| calm[*at..].starts_with('¡'))
    {
        calm.remove(open);
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
            (
                "Welcome! The pool opens at 9 AM! See you!",
                1,
                "Welcome! The pool opens at 9 AM. See you.",
            ),
            ("Welcome! See you!", 0, "Welcome. See you."),
            ("Wow!!! See you!!", 2, "Wow! See you!"),
            ("Open until 9 PM", 0, "Open until 9 PM"),
            ("Really?! Yes!", 0, "Really? Yes."),
            (
                "Bravo! plays at 8 PM! Tickets are $40!",
                1,
                "Bravo! plays at 8 PM! Tickets are $40.",
            ),
            (
                "See \"Bravo!\" Tickets are $40!",
                0,
                "See \"Bravo!\" Tickets are $40.",
            ),
            (
                "¡Bienvenido! ¡La piscina abre a las 9! ¿Viene hoy?",
                1,
                "¡Bienvenido! La piscina abre a las 9. ¿Viene hoy?",
            ),
            (
                "Abre a las 9. Le va a gustar, ¡seguro!",
                0,
                "Abre a las 9. Le va a gustar, seguro.",
            ),
            (
                "¡Hoy solo $9.99! ¡¡Hola, Sr. Pérez!!",
                0,
                "Hoy solo $9.99. Hola, Sr. Pérez.",
            ),
            ("Great!😀 See you!😀", 0, "Great.😀 See you.😀"),
            (
                "Mamma Mia! The Musical is at 7 PM! Bravo! That is all!",
                1,
                "Mamma Mia! The Musical is at 7 PM! Bravo! That is all.",
            ),
        ] {
            assert_eq!(
                calmed(text, most, &["Mamma Mia! The Musical", "Bravo!"]),
                calm,
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_touched_and_once_is_enough(
            text in "([A-Za-z!?¡. ]|\\PC){0,80}",
            most in 0u8..4,
        ) {
            let calm = calmed(&text, most, &[]);
            prop_assert_eq!(&calmed(&calm, most, &[]), &calm);
            let bare = |text: &str| {
                text.chars()
                    .filter(|c| !"!¡.".contains(*c))
                    .collect::<String>()
            };
            prop_assert_eq!(bare(&calm), bare(&text));
            let ends = calm
                .match_indices('!')
                .filter(|(at, _)| ends_sentence(&calm[at + 1..]))
                .count();
            prop_assert!(ends <= usize::from(most), "{:?}", calm);
        }

        #[test]
        fn what_opens_goes_with_what_closes(
            words in proptest::collection::vec(
                "[a-z]{1,6}( [a-z]{1,6}| \\$9\\.99| Sr\\. Luz){0,3}",
                1..6,
            ),
            most in 0u8..4,
        ) {
            let text: Vec<String> = words.iter().map(|words| format!("¡A{words}!")).collect();
            let calm = calmed(&text.join(" "), most, &[]);
            prop_assert_eq!(calm.matches('¡').count(), calm.matches('!').count(), "{}", calm);
        }
    }
}
