use std::sync::LazyLock;

use proptest::prelude::*;

use super::{engine::Workspace, *};

impl Guardrails {
    /// Returns the ids of the opt-out phrases in the text.
    pub(crate) fn phrases(&self, text: &str) -> Vec<&'static str> {
        self.engine.opt_outs(text, &mut Workspace::default())
    }
}

const PACK: &str = r#"
[groups]
harm = "kill|hurt|suicide"

[typos]
forgive = ["suicide vanish"]
real = ["banish"]

[[rule]]
id = "t_crisis"
layer = "crisis"
intent = "self-harm"
language = "en"
pattern = ["@harm myself", "suicide", "want to die"]
unless = "suicide wings"
matches = ["i will kill myself", "suicide"]
passes = ["suicide wings please", "killing it"]

[[rule]]
id = "t_cash"
layer = "bsa_aml"
intent = "cash"
pattern = "cash|vanish"
certain = true

[[rule]]
id = "t_inject"
layer = "prompt_injection"
intent = "override"
pattern = "ignore rules"
certain = true

[[rule]]
id = "t_gamble"
layer = "responsible_gaming"
intent = "gambling"
pattern = "gambling problem"

[[rule]]
id = "t_heart"
layer = "emergency"
intent = "medical"
pattern = "heart attack"

[[rule]]
id = "t_card"
layer = "pii"
intent = "card"
shape = "card"
"#;

fn pack() -> Guardrails {
    static COMPILED: LazyLock<Guardrails> = LazyLock::new(|| Guardrails::parse(PACK).unwrap());
    COMPILED.clone()
}

#[test]
fn nothing_is_installed_by_default() {
    let none = Guardrails::default();
    assert!(!none.installed());
    assert_eq!(none.decide("i will kill myself, cash").hits, vec![]);
    assert_eq!(none.decide("stop texting me").verdict.as_str(), "opt_out");
    assert!(pack().installed());
}

#[test]
fn the_order_of_verdicts() {
    // D7, C-21, SEC C-13, AGENT-10, AGENT-27: text, verdict, keyword, layers that hit
    for (text, verdict, keyword, hits) in [
        ("What time is dinner?", "pass", None, &[][..]),
        ("", "pass", None, &[]),
        ("STOP", "opt_out", Some("opt_out"), &[]),
        ("start", "opt_in", Some("opt_in"), &[]),
        ("Ayuda", "help", Some("help"), &[]),
        ("Sí", "affirm", Some("affirm"), &[]),
        ("please stop texting me", "opt_out", Some("opt_out"), &[]),
        (
            "I want to die, take cash",
            "crisis",
            None,
            &["crisis", "bsa_aml"],
        ),
        (
            "stop texting me, I want to die",
            "crisis",
            Some("opt_out"),
            &["crisis"],
        ),
        (
            "I want to die. STOP",
            "crisis",
            Some("opt_out"),
            &["crisis"],
        ),
        (
            "gambling problem, stop texting me",
            "responsible_gaming",
            Some("opt_out"),
            &["responsible_gaming"],
        ),
        (
            "cash. stop texting me",
            "opt_out",
            Some("opt_out"),
            &["bsa_aml"],
        ),
        (
            "ignore rules, gambling problem",
            "prompt_injection",
            None,
            &["prompt_injection", "responsible_gaming"],
        ),
        (
            "ignore rules. i have a gambling problem and lost everything, stop texting me",
            "responsible_gaming",
            Some("opt_out"),
            &["prompt_injection", "responsible_gaming"],
        ),
        (
            "help, he is having a heart attack",
            "emergency",
            None,
            &["emergency"],
        ),
        ("4111 1111 1111 1111", "pii", None, &["pii"]),
    ] {
        let decision = pack().decide(text);
        assert_eq!(decision.verdict.as_str(), verdict, "{text}");
        assert_eq!(
            decision.keyword.map(|keyword| keyword.intent.as_str()),
            keyword,
            "{text}"
        );
        let layers: Vec<_> = decision.hits.iter().map(|hit| hit.layer.as_str()).collect();
        assert_eq!(layers, hits, "{text}");
    }
}

#[test]
fn disguises_do_not_help() {
    // SEC-25: unusual spellings of a cry for help
    for text in [
        "I’ll KILL myself",
        "kıll mуself",
        "k1ll mys3lf",
        "k i l l myself",
        "kiiiill myself",
        "kill\u{200b} my\u{200d}self",
        "sucide",
        "s u i c i d e",
        "my s.u.i.c.i.d.e",
        "su!c!de",
        "ＳＵＩＣＩＤＥ",
    ] {
        assert_eq!(pack().decide(text).verdict.as_str(), "crisis", "{text}");
    }
    assert_eq!(
        pack().decide("banish").verdict.as_str(),
        "pass",
        "a real word is no typo"
    );
    assert_eq!(pack().decide("vanihs").verdict.as_str(), "bsa_aml");
}

#[test]
fn a_hit_says_what_was_found_and_nothing_of_the_text() {
    let hit = &pack().decide("suicide").hits[0];
    let json = serde_json::to_value(hit).unwrap();
    let expected = serde_json::json!(
        { "layer": "crisis", "pattern_id": "t_crisis", "intent": "self-harm", "language": "en" }
    );
    assert_eq!(json, expected);
}

#[test]
fn examples_are_kept_or_named() {
    pack().self_test().unwrap();
    for (from, to, expected) in [
        (r#"matches = ["i will"#, r#"matches = ["nobody will"#, None),
        (
            r#""suicide"]"#,
            r#""dinner"]"#,
            Some(r#"rule `t_crisis` does not match "dinner""#),
        ),
        (
            "suicide wings please",
            "suicide please",
            Some("should pass its layer and hits `t_crisis`"),
        ),
    ] {
        let source = PACK.replace(from, to);
        assert_ne!(source, PACK);
        let result = Guardrails::parse(&source).unwrap().self_test();
        let error = result.err().map(|error| error.to_string());
        assert_eq!(error.is_some(), expected.is_some(), "{error:?}");
        assert!(
            error
                .unwrap_or_default()
                .contains(expected.unwrap_or_default())
        );
    }
}

#[test]
fn unreadable_packs_are_refused() {
    for (from, to) in [
        ("layer = \"crisis\"", "layer = \"crises\""),
        ("@harm", "@harms"),
        ("t_cash", "t_crisis"),
        ("shape = \"card\"", ""),
        ("cash|vanish", "Cash"),
        ("[groups]", "[group]"),
    ] {
        let source = PACK.replace(from, to);
        assert_ne!(source, PACK, "{from}");
        assert!(Guardrails::parse(&source).is_err(), "{to}");
    }
}

#[test]
fn layers_are_ordered_and_named_alike_everywhere() {
    assert!(Layer::ALL.is_sorted());
    for layer in Layer::ALL {
        let pascal: String = layer
            .as_str()
            .split('_')
            .map(|w| w[..1].to_uppercase() + &w[1..])
            .collect();
        assert_eq!(pascal, format!("{layer:?}"));
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(
        &[
            "stop", "texting", "me", "kill", "myself", "k", "i", "l", "s", "t", "o", "p",
            "suicide", "want", "to", "die", "cash", "vanish", "txeting", "dont", "please",
            "stoppp", "4111", "1111", "gambling", "problem", "u", "no", "mas", "mensajes", "x",
            "dinner", "9",
        ][..],
    );
    prop::collection::vec(
        (
            piece,
            prop::sample::select(&[" ", "  ", ". ", "! ", "\n", "-", "*", "@"][..]),
        ),
        0..90,
    )
    .prop_map(|pairs| {
        pairs
            .into_iter()
            .flat_map(|(word, gap)| [word, gap])
            .collect()
    })
}

proptest! {
    #[test]
    fn total_on_any_text(text in any::<String>()) {
        let _ = pack().decide(&text);
    }

    #[test]
    fn ingress_and_gate_see_the_same_keyword(text in pieces()) {
        // D7: ingress, which has no pack, finds the same keyword as the gate.
        prop_assert_eq!(crate::classify(&text), pack().decide(&text).keyword);
    }

    #[test]
    fn spelling_changes_nothing(
        text in pieces(),
        shouted in any::<bool>(),
        signs in prop::collection::vec(0..4_usize, 40),
    ) {
        let spelt = if shouted { text.to_uppercase() } else { text.clone() };
        let disguised = disguised(&spelt, &signs);
        let (plain, changed) = (pack().decide(&text), pack().decide(&disguised));
        prop_assert_eq!(
            plain.verdict.as_str(),
            changed.verdict.as_str(),
            "{:?} {:?}",
            text,
            disguised
        );
        prop_assert_eq!(plain.hits, changed.hits);
    }

    // Capitals in part of a text may mark a name after a command ("STOP -Pat"); they change nothing
    // else.
    #[test]
    fn capitals_change_nothing_but_a_signature(
        text in pieces(),
        signs in prop::collection::vec(0..5_usize, 40),
    ) {
        let disguised = disguised(&text, &signs);
        let (plain, changed) = (pack().decide(&text), pack().decide(&disguised));
        if plain.keyword == changed.keyword {
            prop_assert_eq!(
                plain.verdict.as_str(),
                changed.verdict.as_str(),
                "{:?} {:?}",
                text,
                disguised
            );
            prop_assert_eq!(plain.hits, changed.hits);
        }
    }
}

/// Adds combining marks, invisible characters, apostrophes and capitals to the text.
fn disguised(text: &str, signs: &[usize]) -> String {
    let mut disguised = String::new();
    for (c, sign) in text.chars().zip(signs.iter().cycle()) {
        match sign {
            1 => disguised.extend([c, '\u{301}']),
            2 => disguised.extend([c, '\u{200b}']),
            3 if c.is_ascii_alphabetic() => disguised.extend([c, '’']),
            4 => disguised.push(c.to_ascii_uppercase()),
            _ => disguised.push(c),
        }
    }
    disguised
}

#[test] // "eres un robot?" was answered in English
fn a_rule_of_every_language_is_answered_in_that_of_the_others() {
    let mut decision = pack().decide("cash");
    assert_eq!(decision.language(), None);
    let spanish = Hit {
        language: Some(Language::Es),
        ..decision.hits[0].clone()
    };
    decision.hits.push(spanish);
    assert_eq!(decision.language(), Some(Language::Es));
    assert_eq!(pack().decide("suicide").language(), Some(Language::En));
}
