use proptest::prelude::*;

use super::*;
use crate::normal::Folded;

/// Returns the text in folded form.
fn words(text: &str) -> String {
    Folded::new(text).line().trim().to_owned()
}

fn intent(text: &str) -> Option<&'static str> {
    classify(text).map(|keyword| keyword.intent.as_str())
}

#[test]
fn every_keyword_in_every_spelling() {
    // SMS-15, C-6, C-7: every row of the table, in capitals and with signs
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
                .map(|c| {
                    if c.is_ascii_lowercase() {
                        char::from_u32(u32::from(c) + 0xFEE0).unwrap()
                    } else {
                        c
                    }
                })
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
    // C-6, SEC-9 to SEC-11, spec 05 section 2.3: our table recognises every word of the lists that
    // we must honour
    for (expected, list) in [
        (
            "opt_out",
            "STOP,STOPALL,STOP ALL,UNSUBSCRIBE,CANCEL,END,QUIT,REVOKE,OPTOUT,OPT OUT,OPT-OUT,STOP2QUIT,REMOVE,remove me,ALTO,PARAR,PARA,\
             BAJA,DETENER,CANCELAR,NO MAS,no más,ARRET,ARRÊT,basta,salir,🛑,S.T.O.P,stoooop",
        ),
        ("opt_in", "START,UNSTOP,SUBSCRIBE,INICIAR,COMENZAR"),
        ("help", "HELP,INFO,AYUDA,INFORMACION,Información"),
        (
            "affirm",
            "Y,YES,YEAH,YEP,SURE,OK,OKAY,SI,Sí,Yes!,yes sounds good,Yes please,sí claro,yesss",
        ),
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
    // Spec 05 section 2.3, SEC C-4: courtesy around STOP
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

#[test] // SMS-15: additions of phones and mail programs, and typos
fn a_wrapped_command_is_the_command() {
    let corpus = include_str!("../../../../tests/corpus/cases.jsonl");
    let stops = corpus.lines().filter(|line| {
        line.contains("\"kind\":\"stop_") || line.contains("\"kind\":\"unsubscribe_")
    });
    let mut count = 0;
    for line in stops {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            intent(row["text"].as_str().unwrap()),
            Some("opt_out"),
            "{line}"
        );
        count += 1;
    }
    assert!(count > 50, "{count}");
    for text in [
        "Reply CANCEL",
        "send END",
        "REVOKE - Pat Doe",
        "OPT OUT from Pat",
        "FW: END",
        "MSG: cancel",
        "Cancel period",
    ] {
        assert_eq!(intent(text), Some("opt_out"), "{text}");
    }
    assert_eq!(intent("Reply START"), Some("opt_in"));
    for text in [
        "STOP 2",
        "cancel all my bookings",
        "we have got to stop this game",
        "send menu",
        "stop from here it is two miles",
        "please don't\nstop",
        "where is the bus\nstop",
        "the last stop - Main Street",
        "shop",
        "step",
        "quite",
        "send help to room 12",
        "say no more",
        "reply to my email",
        "stop by - 7pm",
    ] {
        assert_ne!(intent(text), Some("opt_out"), "{text}");
    }
}

#[test] // SMS-20, C-6: a guest opts in again in plain language
fn who_wants_our_texts_again_opts_in() {
    for text in [
        "text me again please",
        "I changed my mind, please text me again",
        "I want your texts again",
        "restart my texts",
        "quiero recibir mensajes otra vez",
        "quiero volver a recibir sus mensajes",
        "please resume texting",
        "sign me back up for texts",
    ] {
        assert_eq!(intent(text), Some("opt_in"), "{text}");
    }
    for text in [
        "never text me again",
        "dont message me again",
        "text me again and i will sue",
        "no quiero recibir mensajes otra vez",
    ] {
        assert_eq!(intent(text), Some("opt_out"), "{text}");
    }
    for text in [
        "can you send the menu again",
        "text me when the table is ready",
    ] {
        assert_eq!(intent(text), None, "{text}");
    }
}

#[test]
fn ordinary_texts_are_no_keywords() {
    // C-8, C-16, spec 05 section 2.3: ordinary texts that contain a keyword
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
fn what_stands_in_an_audit_record() {
    let found = classify("No más").unwrap();
    assert_eq!(
        (found.intent, found.pattern_id, found.language),
        (Intent::OptOut, "optout.kw.no_mas", Some(Language::Es))
    );
    assert_eq!(
        classify("dejen de enviar mensajes").unwrap().pattern_id,
        "optout.nl.es.16"
    );
    for row in ROWS {
        let prefix = row.intent.as_str().replace('_', "");
        assert_eq!(
            row.id.split(".kw.").next(),
            Some(prefix.as_str()),
            "{}",
            row.id
        );
        assert_eq!(words(row.words), row.words, "rows are written folded");
        assert_eq!(
            ROWS.iter().filter(|other| other.words == row.words).count(),
            1,
            "{} twice",
            row.words
        );
    }
}

const AROUND: &[&str] = &[
    "", " ", "!", "...", "\"", "*", "🙏", "👋🏽", " - ", "\n", "¡", "¿", "(", ")", "\u{fe0f}",
    "\u{200b}",
];

proptest! {
    #[test]
    fn punctuation_and_case_keep_the_match(
        row in prop::sample::select(ROWS),
        before in prop::collection::vec(prop::sample::select(AROUND), 0..5),
        after in prop::collection::vec(prop::sample::select(AROUND), 0..5),
        upper in prop::collection::vec(any::<bool>(), 40),
    ) {
        let word: String = row
            .words
            .chars()
            .zip(upper)
            .map(|(c, up)| if up { c.to_ascii_uppercase() } else { c })
            .collect();
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
