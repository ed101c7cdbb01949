//! A campaign's two texts: fills in the slots and reports all faults at once.

use anyhow::{Result, bail};
use seven_compliance::proactive;
use seven_domain::{CasinoConfig, Language};
use seven_sms::{Measure, Risk, risk::REWORD_ABOVE};

/// A text as guests receive it.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) body: String,
    pub(super) measure: Measure,
    pub(super) risk: Risk,
}

/// The campaign's text in both languages.
#[derive(Debug, Clone)]
pub(super) struct Texts {
    pub(super) en: Text,
    pub(super) es: Text,
}

impl Texts {
    /// # Errors
    /// Names every fault of both texts.
    pub(super) fn read(en: &str, es: &str, config: &CasinoConfig) -> Result<Self> {
        let mut faults = Vec::new();
        let mut one = |template: &str, language: Language, name: &str| {
            let (text, wrong) = Text::read(template, language, config);
            faults.extend(
                wrong
                    .into_iter()
                    .map(|fault| format!("the {name} text: {fault}")),
            );
            text
        };
        let texts = Self {
            en: one(en, Language::En, "English"),
            es: one(es, Language::Es, "Spanish"),
        };
        if faults.is_empty() {
            Ok(texts)
        } else {
            bail!("{}", faults.join("\n"))
        }
    }
}

impl Text {
    fn read(template: &str, language: Language, config: &CasinoConfig) -> (Self, Vec<String>) {
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
        let mut faults: Vec<String> = unknown
            .into_iter()
            .map(|slot| {
                format!("`{slot}` is no slot; there are {{casino}}, {{persona}} and {{phone}}")
            })
            .collect();
        faults.extend(
            proactive::faults(&body, language, casino)
                .iter()
                .map(ToString::to_string),
        );
        if measure.segments != 1 {
            let (units, most) = (measure.units, measure.encoding.single());
            faults.push(format!(
                "it takes {} segments ({units} of {most} units in {}); it must fit one",
                measure.segments,
                measure.encoding.as_str()
            ));
        }
        if risk.must_be_reworded() {
            faults.push(format!(
                "carriers would filter it: risk {risk}, at most {REWORD_ABOVE:.2} may be sent; \
                 reword it"
            ));
        }
        (
            Self {
                body,
                measure,
                risk,
            },
            faults,
        )
    }
}

/// Fills in the slots and returns the unknown slots and unmatched braces.
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
