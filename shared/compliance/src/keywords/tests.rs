use proptest::prelude::*;

use super::*;
use crate::normal::Folded;

/// Folded and joined again.
fn words(text: &str) -> String {
    Folded::new(text).line().trim().to_owned()
}

fn intent(text: &str) -> Option<&'static str> {
    classify(text).map(|keyword| keyword.intent.as_str())
}

#[test]
fn every_keyword_in_every_spelling() {
    // SMS-15, C-6, C-7
    for row in ROWS {
        let word = row.words;
        let accented: String = word.replace('a', "á").replace('o', "ó");
        for text in [
            word.to_owned(),
            word.to_uppercase(),
            format!("  {word}.\n"),
            format!("\"{word}\"!!"),
            format!("¡{}! 🙏🏽", word.to_uppercase()),
            format!("👍 *{word}*"),
            word.replace(' ', "-"),
            word.replace(' ', "   "),
            accented,
            word.chars()
                .map(|c| if c.is_ascii_lowercase() { char::from_u32(u32::from(c) + 0xFEE0).unwrap() } else { c })
                .collect(),
            format!("{word} {word}"),
        ] {
            let found = classify(&text).unwrap_or_else(|| panic!("{text:?} of {}", row.id));
            assert_eq!(
                (found.intent, found.pattern_id, found.language),
                (row.intent, row.id, row.language),
                "{text:?}"
            );
        }
    }
}

#[test]
fn the_lists_we_must_honour_are_in_the_table() {
    // C-6, SEC-9 to SEC-11, spec 05 section 2.3
    for (expected, list) in [
        (
            "opt_out",
            "STOP,STOPALL,STOP ALL,UNSUBSCRIBE,CANCEL,END,QUIT,REVOKE,OPTOUT,OPT OUT,OPT-OUT,STOP2QUIT,REMOVE,remove me,ALTO,PARAR,PARA,\
             BAJA,DETENER,CANCELAR,NO MAS,no más,ARRET,ARRÊT,basta,salir,🛑,S.T.O.P,stoooop",
        ),
        ("opt_in", "START,UNSTOP,SUBSCRIBE,INICIAR,COMENZAR"),
        ("help", "HELP,INFO,AYUDA,INFORMACION,Información"),
        ("affirm", "Y,YES,YEAH,YEP,SURE,OK,OKAY,SI,Sí,Yes!,yes sounds good,Yes please,sí claro,yesss"),
        ("privacy", "PRIVACY,PRIVACIDAD"),
        ("delete", "DELETE,BORRAR,ELIMINAR"),
    ] {
        for word in list.split(',') {
            assert_eq!(intent(word), Some(expected), "{word}");
        }
    }
}

#[test]
fn courtesy_changes_nothing() {
    // Spec 05 section 2.3, SEC C-4
    for text in [
        "Stop. Thank you",
        "please STOP now",
        " Stop. ",
        "STOP, por favor",
        "Hola, alto ya",
        "hey stop",
        "ok stop",
        "No. Stop.",
        "just stop please",
        "STOP STOP STOP",
        "stop, unsubscribe",
        "cancel please",
        "ya basta",
        "Gracias. Baja",
        "stop help",
        "Who is this? STOP",
        "STOP\nMaria",
        "Stop. I'm not a customer",
        "I already told you I moved away! Unsubscribe!",
    ] {
        assert_eq!(intent(text), Some("opt_out"), "{text}");
    }
    assert_eq!(intent("Please start"), Some("opt_in"));
    assert_eq!(intent("help please"), Some("help"));
    assert_eq!(intent("info por favor"), Some("help"));
}

#[test]
fn ordinary_texts_are_no_keywords() {
    // C-8, C-16, spec 05 section 2.3
    for text in [
        "",
        " ",
        "...",
        "👍",
        "12345",
        "STOP 12345",
        "stopwatch",
        "I'll stop in",
        "Stop by any time",
        "Is there a bus stop?",
        "next stop?",
        "yes cancel",
        "ok cancel",
        "sí cancelar",
        "yes but not today",
        "ok thanks",
        "okay see you",
        "y para cuando",
        "para dos personas",
        "para mi",
        "cancel my 7pm reservation",
        "the end",
        "I quit smoking",
        "end of the month",
        "start at 8",
        "when do you start",
        "help me find a table",
        "I need help with parking",
        "info on the spa",
        "privacy booth",
        "delete the second booking",
        "no more than 4 of us",
        "remove the onions",
        "alto el volumen",
        "baja el precio",
        "Stop! You're too kind",
        "Stop! No way",
        "Oh stop",
        "What is my next stop? Stop?",
        "start stopwatch",
        "sure thing boss",
        "si quiero reservar",
        "menu",
        "wrong number",
        "quit or double down",
        "the show must not end",
        "revoke nothing",
        "Is this the last stop? I mean the tram",
    ] {
        assert_eq!(classify(text), None, "{text:?}");
    }
}

#[test]
fn the_provider_knows_only_its_own_words_alone() {
    for text in ["STOP", "stopall", "Stop All", "UNSUBSCRIBE", "cancel", "END", "quit", " start ", "UNSTOP", "Help"] {
        assert!(classify(text).unwrap().known_to_provider, "{text}");
    }
    for text in [
        "STOP.",
        "stop please",
        "REVOKE",
        "OPT OUT",
        "optout",
        "ALTO",
        "INFO",
        "subscribe",
        "please stop texting me",
        "ＳＴＯＰ",
    ] {
        assert!(!classify(text).unwrap().known_to_provider, "{text}");
    }
}

#[test]
fn what_stands_in_an_audit_record() {
    let found = classify("No más").unwrap();
    assert_eq!(
        (found.intent, found.pattern_id, found.language, found.known_to_provider),
        (Intent::OptOut, "optout.kw.no_mas", Some(Language::Es), false)
    );
    assert_eq!(classify("dejen de enviar mensajes").unwrap().pattern_id, "optout.nl.es.16");
    for row in ROWS {
        let prefix = row.intent.as_str().replace('_', "");
        assert_eq!(row.id.split(".kw.").next(), Some(prefix.as_str()), "{}", row.id);
        assert_eq!(words(row.words), row.words, "rows are written folded");
        assert_eq!(ROWS.iter().filter(|other| other.words == row.words).count(), 1, "{} twice", row.words);
    }
}

const AROUND: &[&str] =
    &["", " ", "!", "...", "\"", "*", "🙏", "👋🏽", " - ", "\n", "¡", "¿", "(", ")", "\u{fe0f}", "\u{200b}"];

proptest! {
    #[test]
    fn punctuation_and_case_keep_the_match(
        row in prop::sample::select(ROWS),
        before in prop::collection::vec(prop::sample::select(AROUND), 0..5),
        after in prop::collection::vec(prop::sample::select(AROUND), 0..5),
        upper in prop::collection::vec(any::<bool>(), 40),
    ) {
        let word: String =
            row.words.chars().zip(upper).map(|(c, up)| if up { c.to_ascii_uppercase() } else { c }).collect();
        let text = format!("{}{word}{}", before.concat(), after.concat());
        let found = classify(&text).map(|keyword| (keyword.intent, keyword.pattern_id));
        prop_assert_eq!(found, Some((row.intent, row.id)), "{:?}", text);
    }

    #[test]
    fn a_keyword_inside_a_sentence_is_none(
        row in prop::sample::select(ROWS),
        before in prop::collection::vec("(dinner|shuttle|table|lobby|tonight|river|seven)", 0..4),
        after in prop::collection::vec("(dinner|shuttle|table|lobby|tonight|river|seven)", 1..4),
    ) {
        let text = format!("{} {} {}", before.join(" "), row.words, after.join(" "));
        let found = classify(&text).filter(|keyword| keyword.pattern_id.contains(".kw."));
        prop_assert_eq!(found, None, "{:?}", text);
    }

    #[test]
    fn total_on_any_text(text in any::<String>()) {
        let _ = classify(&text);
    }
}
