use super::*;
use crate::{CASINO, Pack, casino};

const LONGEST: Slots<'_> = Slots {
    casino: "Abcdefghijkl Mnopqrstuvw",
    phone: "1-860-555-0199 x",
    persona: "Maximilian",
    helpline: "1-800-555-0100 x",
    state_helpline: "1-800-555-0101 x",
    min_age: 21,
    guest: "Maximiliana-Rosa",
    topic: "Abcdefghijklm Nopqrstuvw Abcdefghijkl Mn",
};

/// The characters that GSM-7 (GSM 03.38) encodes as one septet. A text with a character outside
/// GSM-7 has segments of only 70 characters.
const GSM7: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const GSM7_EXTENSION: &str = "^{}\\[~]|€";

fn septets(text: &str) -> usize {
    text.chars()
        .map(|c| match (GSM7.contains(c), GSM7_EXTENSION.contains(c)) {
            (true, _) => 1,
            (_, true) => 2,
            _ => panic!("`{c}` is not GSM-7 in: {text}"),
        })
        .sum()
}

fn longest(key: TextKey, language: Language) -> String {
    casino().texts.render(key, language, &LONGEST)
}

#[track_caller]
fn holds(key: TextKey, language: Language, facts: &[&str]) {
    let text = longest(key, language);
    for fact in facts {
        assert!(
            text.contains(fact),
            "{} {} lacks `{fact}`: {text}",
            key.as_str(),
            language.as_str()
        );
    }
}

#[test] // SMS-29, C-46, DEP-8, CONV-20, AGENT-74: segments with the longest slots
fn every_text_keeps_its_segments() {
    assert_eq!(
        (
            LONGEST.casino.len(),
            LONGEST.phone.len(),
            LONGEST.persona.len()
        ),
        (24, 16, 10)
    );
    for &key in TextKey::ALL {
        for language in Language::ALL {
            let text = longest(key, language);
            let n = septets(&text);
            // If a text has two segments, each has room for 153 septets.
            let most = [160, 306][casino().texts.most_segments(key) - 1];
            assert!(
                (1..=most).contains(&n),
                "{} {}: {n} septets of {most}: {text}",
                key.as_str(),
                language.as_str()
            );
            assert!(!text.contains('\n') && text == text.trim(), "{text}");
        }
    }
}

#[test] // SMS-16, CONV-7
fn opt_out_says_it_is_done_and_how_to_return() {
    holds(
        TextKey::OptOutConfirmation,
        Language::En,
        &[LONGEST.casino, "unsubscribed", "no more texts", "START"],
    );
    holds(
        TextKey::OptOutConfirmation,
        Language::Es,
        &[LONGEST.casino, "baja", "ya no le enviaremos", "START"],
    );
}

#[test] // C-14, CONV-5, SEC-14: a confirmation sells and asks nothing
fn opt_out_holds_no_marketing() {
    let selling = [
        "offer", "credit", "free", "dining", "show", "spa ", "reward", "promo", "miss", "why",
        "sorry", "$", "?", "!", "http", ".ai", "oferta", "gratis", "cena", "credito", "premio",
        "por qu", "lament",
    ];
    for language in Language::ALL {
        let text = longest(TextKey::OptOutConfirmation, language).to_lowercase();
        for word in selling {
            assert!(!text.contains(word), "`{word}` in: {text}");
        }
    }
    assert_eq!(
        casino().texts.class(TextKey::OptOutConfirmation),
        MessageClass::OptOutConfirmation
    );
}

#[test] // SMS-17, SMS-18, CONV-8, C-9
fn help_names_brand_support_rates_and_stop() {
    let always = [
        LONGEST.persona,
        LONGEST.casino,
        "Hey Seven",
        "help@heyseven.ai",
        LONGEST.phone,
        "STOP",
    ];
    for language in Language::ALL {
        holds(TextKey::Help, language, &always);
    }
    holds(
        TextKey::Help,
        Language::En,
        &["AI host", "Msg freq varies", "Msg&data rates may apply"],
    );
    holds(
        TextKey::Help,
        Language::Es,
        &["IA de", "Frecuencia variable", "Pueden aplicar tarifas"],
    );
    assert_eq!(casino().texts.class(TextKey::Help), MessageClass::Help);
}

#[test] // C-12, CONV-6
fn opt_in_says_what_is_back_and_how_to_leave() {
    holds(
        TextKey::OptInConfirmation,
        Language::En,
        &[
            LONGEST.casino,
            "again",
            "freq varies",
            "rates may apply",
            "HELP",
            "STOP",
        ],
    );
    holds(
        TextKey::OptInConfirmation,
        Language::Es,
        &[
            LONGEST.casino,
            "vuelve",
            "Frecuencia",
            "tarifas",
            "AYUDA",
            "STOP",
        ],
    );
}

#[test] // CONV-11, C-17: only the privacy and consent texts may contain a link
fn only_privacy_links() {
    for language in Language::ALL {
        holds(
            TextKey::Privacy,
            language,
            &["heyseven.ai/privacy", "DELETE", "STOP"],
        );
        for &key in TextKey::ALL
            .iter()
            .filter(|key| !matches!(key, TextKey::Privacy | TextKey::ConsentPrompt))
        {
            let text = longest(key, language).replace("help@heyseven.ai", "");
            assert!(
                !text.contains("heyseven.ai") && !text.contains("http") && !text.contains("www"),
                "{text}"
            );
        }
    }
}

#[test] // C-18, CONV-12
fn delete_promises_no_deadline_and_says_what_stays() {
    holds(
        TextKey::DeleteReceived,
        Language::En,
        &["received", "process", "keep proof"],
    );
    holds(
        TextKey::DeleteReceived,
        Language::Es,
        &["recibimos", "procesar", "conserva"],
    );
    for language in Language::ALL {
        assert!(!longest(TextKey::DeleteReceived, language).contains("24 h"));
    }
}

#[test] // DEP-9, CONV-2
fn the_guest_always_has_a_way_on() {
    for language in Language::ALL {
        holds(
            TextKey::Fallback,
            language,
            &[LONGEST.casino, LONGEST.phone],
        );
        holds(TextKey::Holding, language, &[LONGEST.casino, LONGEST.phone]);
        holds(
            TextKey::SafeMode,
            language,
            &[LONGEST.casino, LONGEST.phone],
        );
    }
    let escalated = [
        TextKey::EscalatedShortly,
        TextKey::EscalatedHours,
        TextKey::EscalatedTomorrow,
    ];
    for (key, en, es) in [
        (escalated[0], "shortly", "en breve"),
        (escalated[1], "later today", "hoy"),
        (escalated[2], "in the morning", "a primera hora"),
    ] {
        holds(
            key,
            Language::En,
            &[LONGEST.casino, LONGEST.phone, "a person will reply", en],
        );
        holds(
            key,
            Language::Es,
            &[LONGEST.casino, LONGEST.phone, "una persona le escribe", es],
        );
        assert_eq!(casino().texts.class(key), MessageClass::Holding);
    }
    holds(
        TextKey::MmsTextOnly,
        Language::En,
        &["only read text", "describe"],
    );
    holds(
        TextKey::MmsTextOnly,
        Language::Es,
        &["solo puedo leer texto", "describa"],
    );
    assert_eq!(
        casino().texts.class(TextKey::Holding),
        MessageClass::Holding
    );
}

#[test] // SEC-49, SEC-50: the disclosure leaves most of the segment to the answer
fn disclosure_is_short_and_plain() {
    for (language, ai) in [(Language::En, "AI host"), (Language::Es, "IA de")] {
        holds(
            TextKey::Disclosure,
            language,
            &[ai, LONGEST.persona, LONGEST.casino, "STOP"],
        );
        let n = septets(&longest(TextKey::Disclosure, language));
        assert!(n <= 70, "{n}");
        let web = longest(TextKey::WebDisclosure, language);
        assert!(!web.contains("STOP"), "there is nothing to stop: {web}");
    }
}

#[test] // style guide: at most one exclamation mark; C-35: formal address (usted)
fn texts_keep_the_house_tone() {
    for &key in TextKey::ALL {
        for language in Language::ALL {
            let text = longest(key, language);
            assert!(
                text.matches('!').count() <= 1 && text.matches('?').count() <= 1,
                "{text}"
            );
        }
        let spanish = format!(
            " {} ",
            longest(key, Language::Es)
                .to_lowercase()
                .replace([',', '.', ':'], " ")
        );
        for tuteo in [
            " tu ",
            " tus ",
            " te ",
            " ti ",
            " envia ",
            " llama ",
            " responde ",
            " quieres ",
            " puedes ",
        ] {
            assert!(!spanish.contains(tuteo), "`{tuteo}` in {spanish}");
        }
    }
}

#[test]
fn names_with_markup_are_not_escaped() {
    let slots = Slots {
        casino: "Fern & \"Oak\" {{ 1 }}",
        ..LONGEST
    };
    let text = casino()
        .texts
        .render(TextKey::Fallback, Language::En, &slots);
    assert!(text.contains("Fern & \"Oak\" {{ 1 }}"), "{text}");
    assert_eq!(
        casino()
            .texts
            .render_own("Call {{ casino }}", &slots)
            .unwrap(),
        "Call Fern & \"Oak\" {{ 1 }}"
    );
}

#[test]
fn a_broken_pack_is_refused_with_its_reason() {
    let without_help = CASINO.texts.replace("[help]", "[disclosure2]");
    assert!(chain(&Texts::parse(&without_help).unwrap_err()).contains("disclosure2"));
    let cut = &CASINO.texts[..CASINO.texts.find("[disclosure]").unwrap()];
    assert!(matches!(
        Texts::parse(cut),
        Err(Error::Missing(TextKey::Disclosure))
    ));
    let unknown_slot = CASINO
        .texts
        .replace("(Hey Seven). Help", "{{ brand }}. Help");
    let error = Texts::parse(&unknown_slot).unwrap_err();
    assert!(
        chain(&error).contains("rendering `help` (en)"),
        "{}",
        chain(&error)
    );
    let no_spanish = CASINO.texts.replacen("es = ", "fr = ", 1);
    assert!(Texts::parse(&no_spanish).is_err());
    assert!(matches!(
        casino().texts.render_own("{{ brand }}", &LONGEST),
        Err(Error::Own(_))
    ));
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
    assert!(matches!(
        casino().texts.render_own(endless, &LONGEST),
        Err(Error::Own(_))
    ));
}

fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}

#[test] // SEC-26 to SEC-31, CONV-13 to CONV-17: answers to guardrails sell nothing
fn guardrail_answers_hold_their_facts() {
    use Language::{En, Es};
    for (key, language, facts) in [
        (
            TextKey::Crisis,
            En,
            &["988", "911", LONGEST.helpline, "not alone"][..],
        ),
        (
            TextKey::Crisis,
            Es,
            &["988", "911", LONGEST.helpline, "a solas"],
        ),
        (TextKey::Emergency, En, &["911", "AI", LONGEST.phone]),
        (TextKey::Emergency, Es, &["911", "IA", LONGEST.phone]),
        (
            TextKey::ResponsibleGaming,
            En,
            &[
                LONGEST.helpline,
                LONGEST.state_helpline,
                LONGEST.phone,
                "exclude yourself here",
                "24/7",
                "free",
                "confidential",
                "call or text",
                "not alone",
            ],
        ),
        (
            TextKey::ResponsibleGaming,
            Es,
            &[
                LONGEST.helpline,
                LONGEST.state_helpline,
                LONGEST.phone,
                "excluirse con nosotros",
                "24/7",
                "gratis",
                "confidencial",
            ],
        ),
        (TextKey::PromptInjection, En, &["visit", "property"]),
        (
            TextKey::BsaAml,
            En,
            &["guest services", "financial policies"],
        ),
        (TextKey::BsaAml, Es, &["servicio al cliente"]),
        (
            TextKey::PatronPrivacy,
            En,
            &["other guests", "your own visit"],
        ),
        (TextKey::PatronPrivacy, Es, &["otros huéspedes"]),
        (TextKey::Pii, En, &["in person", "valid ID", "card"]),
        (TextKey::Pii, Es, &["en persona", "tarjetas"]),
        (
            TextKey::AgeVerification,
            En,
            &["21", "valid ID", "gaming floor", "all ages", LONGEST.phone],
        ),
        (
            TextKey::AgeVerification,
            Es,
            &["21", "llevar ID", "sala de juego", LONGEST.phone],
        ),
        (
            TextKey::Identity,
            En,
            &["AI host", "not a person", LONGEST.casino],
        ),
        (
            TextKey::Identity,
            Es,
            &["IA de", "no una persona", LONGEST.casino],
        ),
    ] {
        holds(key, language, facts);
    }
    for language in Language::ALL {
        for key in [
            TextKey::Crisis,
            TextKey::Emergency,
            TextKey::ResponsibleGaming,
        ] {
            let text = longest(key, language).to_lowercase();
            for selling in [
                "dining",
                "show",
                "spa",
                "offer",
                "cena",
                "restaurante",
                "oferta",
                "casino",
            ] {
                assert!(
                    !text.replace("no esta", "").contains(selling),
                    "`{selling}` in: {text}"
                );
            }
            assert!(casino().texts.class(key).is_safety());
        }
    }
    // The law forbids telling a person that they were reported, so the text must not mention any
    // report.
    for word in ["report", "alert", "compliance", "log"] {
        assert!(!longest(TextKey::BsaAml, En).contains(word));
    }
}

#[test] // C-9: the question has all that prior express written consent requires
fn the_consent_prompt_is_complete() {
    holds(
        TextKey::ConsentPrompt,
        Language::En,
        &[
            "YES",
            "automated marketing",
            "not a condition of purchase",
            "freq",
            "rates",
            "HELP",
            "STOP",
            "privacy",
        ],
    );
    holds(
        TextKey::ConsentPrompt,
        Language::Es,
        &[
            "SI",
            "automatizados",
            "No es requisito de compra",
            "AYUDA",
            "STOP",
        ],
    );
}

#[test]
fn a_casino_without_a_state_helpline_says_nothing_of_one() {
    let text = casino().texts.render(
        TextKey::ResponsibleGaming,
        Language::En,
        &Slots {
            state_helpline: "",
            ..LONGEST
        },
    );
    assert!(
        !text.contains("In your state") && text.contains("confidential. They"),
        "{text}"
    );
}

#[test] // SEC-109, C-29: a text that may be sent at any hour names no time
fn the_holding_text_promises_no_time() {
    for language in Language::ALL {
        let text = longest(TextKey::Holding, language).to_lowercase();
        for time in [
            "minute", "minuto", "shortly", "breve", "hour", "hora", "today", "hoy", "soon",
            "pronto", "tomorrow", "manana",
        ] {
            assert!(!text.contains(time), "`{time}` in: {text}");
        }
    }
}

#[test] // SMS-26, DATA-25
fn a_guest_is_welcomed_back_by_what_is_known() {
    let say = |language, guest, topic| {
        casino().texts.render(
            TextKey::WelcomeBack,
            language,
            &Slots {
                guest,
                topic,
                ..LONGEST
            },
        )
    };
    assert_eq!(say(Language::En, "Ana", ""), "Welcome back, Ana.");
    assert_eq!(say(Language::En, "", ""), "Welcome back.");
    assert_eq!(
        say(Language::En, "", "Fern Grill"),
        "Welcome back. Last time we talked about Fern Grill."
    );
    assert_eq!(
        say(Language::Es, "Ana", ""),
        "Un gusto leerle de nuevo, Ana."
    );
    // The sentence opens a reply, so it must leave most of the segment to the answer.
    for language in Language::ALL {
        assert!(septets(&say(language, LONGEST.guest, "")) <= 45);
    }
}

#[test] // WEB-13, issue L.5: Chinese exists in the safety layers alone, with the lines
fn the_safety_layers_answer_in_chinese() {
    use seven_compliance::{Layer, Verdict};
    let pack = casino();
    for (text, layer, facts) in [
        ("我想自杀", Layer::Crisis, &["988", "911"][..]),
        (
            "我不想活了, when is dinner served tonight?",
            Layer::Crisis,
            &["988"],
        ),
        ("請叫救護車", Layer::Emergency, &["911", LONGEST.phone]),
        ("賭博成癮", Layer::ResponsibleGaming, &[LONGEST.helpline]),
        (
            "怎么戒赌",
            Layer::ResponsibleGaming,
            &[LONGEST.state_helpline],
        ),
        (
            "我想自我排除",
            Layer::ResponsibleGaming,
            &[LONGEST.helpline],
        ),
    ] {
        let decision = pack.guardrails().decide(text);
        let Verdict::Guardrail(hit) = &decision.verdict else {
            panic!("{text}: {decision:?}");
        };
        assert_eq!((hit.layer, hit.language), (layer, None), "{text}");
        let language = hit.safety_language.as_deref().unwrap();
        let answer = pack
            .texts
            .render_safety(TextKey::answer_to(layer), language, &LONGEST)
            .unwrap();
        for fact in facts {
            assert!(answer.contains(fact), "{fact} in: {answer}");
        }
    }
    for text in ["赌场几点开门", "有什么好吃的", "停车要多少钱"] {
        assert_eq!(
            pack.guardrails().decide(text).verdict,
            Verdict::Pass,
            "{text}"
        );
    }
    assert!(
        pack.texts
            .render_safety(TextKey::Help, "zh", &LONGEST)
            .is_none()
    );
}

#[test] // issue L.5: a safety language is whole, or the pack is refused
fn a_safety_language_without_a_rule_or_an_answer_is_refused() {
    assert!(Pack::parse("casino", &CASINO).is_ok());
    for (file, from, to, why) in [
        (
            "texts",
            "others.zh = \"请立即",
            "others.fr = \"请立即",
            "no answer for `emergency`",
        ),
        (
            "guardrails",
            "id = \"rg_zh\"\nlayer = \"responsible_gaming\"",
            "id = \"rg_zh\"\nlayer = \"abuse\"",
            "no rule for `responsible_gaming`",
        ),
        (
            "rules",
            "safety_languages = [\"zh\"]",
            "safety_languages = []",
            "`zh` is not among",
        ),
    ] {
        let mut broken = CASINO.clone();
        let text = match file {
            "texts" => &mut broken.texts,
            "rules" => &mut broken.rules,
            _ => &mut broken.guardrails,
        };
        assert!(text.contains(from), "{from}");
        *text = text.replacen(from, to, 1).into();
        let error = Pack::parse("casino", &broken).unwrap_err();
        assert!(chain(&error).contains(why), "{why}: {}", chain(&error));
    }
}
