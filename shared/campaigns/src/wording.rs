//! A campaign's text in both languages: fills in the slots and reports all faults at once.

use std::fmt;

use seven_compliance::proactive;
use seven_domain::{CasinoConfig, Language};
use seven_sms::{Measure, Risk, risk::REWORD_ABOVE};

/// A text as guests receive it.
#[derive(Debug, Clone)]
pub struct Text {
    pub body: String,
    pub measure: Measure,
    pub risk: Risk,
}

/// The campaign's text in both languages.
#[derive(Debug, Clone)]
pub struct Texts {
    pub en: Text,
    pub es: Text,
}

/// A fault of one text.
#[derive(Debug, Clone)]
pub enum Fault {
    UnknownSlot(String),
    Wording(proactive::Fault),
    TooLong(Measure),
    Risky(Risk),
}

/// The faults of the texts in both languages; at least one of the lists is not empty.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    pub en: Vec<Fault>,
    pub es: Vec<Fault>,
}

impl Texts {
    /// Fills in the slots of both texts and checks the results.
    ///
    /// # Errors
    /// Returns every fault of both texts.
    pub fn read(en: &str, es: &str, config: &CasinoConfig) -> Result<Self, Faults> {
        let (en, wrong_en) = Text::read(en, Language::En, config);
        let (es, wrong_es) = Text::read(es, Language::Es, config);
        if wrong_en.is_empty() && wrong_es.is_empty() {
            Ok(Self { en, es })
        } else {
            Err(Faults {
                en: wrong_en,
                es: wrong_es,
            })
        }
    }
}

impl Text {
    fn read(template: &str, language: Language, config: &CasinoConfig) -> (Self, Vec<Fault>) {
        let casino = &config.prompts.casino_name_display;
        let slots = [
            ("casino", casino.as_str()),
            ("persona", config.branding.persona_name.as_str()),
            ("phone", config.operational.contact_phone.as_str()),
        ];
        let (filled, unknown) = fill(template.trim(), &slots);
        let body = seven_sms::transliterate(&filled);
        let (measure, risk) = (
            seven_sms::measure(&body),
            seven_sms::risk::<&str>(&body, &[]),
        );
        let mut faults: Vec<Fault> = unknown.into_iter().map(Fault::UnknownSlot).collect();
        let wrong = proactive::faults(&body, language, casino);
        faults.extend(wrong.into_iter().map(Fault::Wording));
        if measure.segments != 1 {
            faults.push(Fault::TooLong(measure));
        }
        if risk.must_be_reworded() {
            faults.push(Fault::Risky(risk.clone()));
        }
        let text = Self {
            body,
            measure,
            risk,
        };
        (text, faults)
    }
}

impl Fault {
    /// Returns the fault's code, by which the console finds its explanation.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownSlot(_) => "unknown_slot",
            Self::Wording(proactive::Fault::NoCasino) => "no_casino",
            Self::Wording(proactive::Fault::NoDisclosure) => "no_disclosure",
            Self::Wording(proactive::Fault::NoStop) => "no_stop",
            Self::Wording(proactive::Fault::NoCallToAction) => "no_call_to_action",
            Self::Wording(proactive::Fault::TwoQuestions) => "two_questions",
            Self::TooLong(_) => "too_long",
            Self::Risky(_) => "risky",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSlot(slot) => write!(
                f,
                "`{slot}` is no slot; there are {{casino}}, {{persona}} and {{phone}}"
            ),
            Self::Wording(fault) => fault.fmt(f),
            Self::TooLong(measure) => write!(
                f,
                "it takes {} segments ({} of {} units in {}); it must fit one",
                measure.segments,
                measure.units,
                measure.encoding.single(),
                measure.encoding.as_str()
            ),
            Self::Risky(risk) => write!(
                f,
                "carriers would filter it: risk {risk}, at most {REWORD_ABOVE:.2} may be sent; \
                 reword it"
            ),
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let english = self.en.iter().map(|fault| ("English", fault));
        let spanish = self.es.iter().map(|fault| ("Spanish", fault));
        for (n, (name, fault)) in english.chain(spanish).enumerate() {
            let line = if n > 0 { "\n" } else { "" };
            write!(f, "{line}the {name} text: {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Fills in the slots. Returns the text, and the unknown slots and unmatched braces.
fn fill(template: &str, slots: &[(&str, &str)]) -> (String, Vec<String>) {
    let (mut text, mut unknown, mut rest) = (String::new(), Vec::new(), template);
    while let Some(open) = rest.find(['{', '}']) {
        text.push_str(&rest[..open]);
        let inside = &rest[open..];
        let end = inside.find('}').map_or(inside.len(), |at| at + 1);
        let name = inside[..end]
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
            .unwrap_or_default()
            .trim();
        match slots.iter().find(|(slot, _)| *slot == name) {
            Some((_, value)) => text.push_str(value),
            None => unknown.push(inside[..end].to_owned()),
        }
        rest = &inside[end..];
    }
    text.push_str(rest);
    (text, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EN: &str = "Hi, {persona} here, the AI host of {casino}. A table for Friday? Reply YES, or STOP to opt out.";
    const ES: &str = "Soy {persona}, anfitrión IA de {casino}. Responda SI para una mesa el viernes o PARAR para salir.";

    fn config() -> CasinoConfig {
        serde_json::from_str(seven_packs::demo::CASINO).unwrap()
    }

    #[test] // SMS-33, SMS-49
    fn slots_are_filled_and_letters_made_cheap() {
        let texts = Texts::read(EN, ES, &config()).unwrap();
        assert!(
            texts
                .en
                .body
                .starts_with("Hi, Seven here, the AI host of Silver Birch Resort."),
            "{}",
            texts.en.body
        );
        assert!(texts.es.body.contains("anfitrion IA"), "{}", texts.es.body);
        assert_eq!(
            (texts.en.measure.segments, texts.es.measure.segments),
            (1, 1)
        );
    }

    #[test] // SMS-33, SMS-34: all faults of both at once, the risk with its parts
    fn every_fault_is_named() {
        let risky = "{casino}, your AI host: ACT NOW! Get $50 at bit.ly/x. Reply YES or STOP to opt out. {name}";
        let said = Texts::read(risky, "Venga hoy.", &config())
            .unwrap_err()
            .to_string();
        for part in [
            "the English text: `{name}` is no slot",
            "the English text: carriers would filter it: risk 0.90 (link 0.30, 2 x word in capitals 0.20",
            "the Spanish text: it does not name the casino",
            "the Spanish text: it does not say that an AI writes",
            "the Spanish text: it does not say how to stop",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let long = format!("{EN} {}", "More of it. ".repeat(10));
        assert!(
            Texts::read(&long, ES, &config())
                .unwrap_err()
                .to_string()
                .contains("it takes 2 segments")
        );
    }

    #[test]
    fn braces_that_are_no_slots() {
        let slots = [("a", "1")];
        for (template, text, unknown) in [
            ("x{a}y{ a }", "x1y1", vec![]),
            ("{b}", "", vec!["{b}"]),
            ("{a", "", vec!["{a"]),
            ("a}b", "ab", vec!["}"]),
            ("{}", "", vec!["{}"]),
        ] {
            let (filled, wrong) = fill(template, &slots);
            assert_eq!(
                (filled.as_str(), wrong),
                (text, unknown.into_iter().map(str::to_owned).collect()),
                "{template}"
            );
        }
    }
}
