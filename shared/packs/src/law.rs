//! Checks what the law and the product demand of every pack, whatever its trade. The check runs
//! when the pack is read.

use seven_compliance::{Guardrails, Layer};
use seven_domain::{Language, MessageClass};

use crate::{Error, Rules, Slots, TextKey, Texts};

/// The longest allowed value of each slot of a text.
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

/// Strings that a text must contain, in English and in Spanish.
const MUST_HOLD: &[(TextKey, &[&str], &[&str])] = &[
    // A confirmation of an opt-out or opt-in must name the casino and the keyword that reverses it.
    // The answer to HELP must name the casino, the phone and STOP.
    (
        TextKey::OptOutConfirmation,
        &[LONGEST.casino, "START"],
        &[LONGEST.casino, "START"],
    ),
    (
        TextKey::OptInConfirmation,
        &[LONGEST.casino, "STOP"],
        &[LONGEST.casino, "STOP"],
    ),
    (TextKey::OptOutQuestion, &["STOP"], &["STOP"]),
    (
        TextKey::Help,
        &[LONGEST.casino, LONGEST.phone, "STOP"],
        &[LONGEST.casino, LONGEST.phone, "STOP"],
    ),
    (
        TextKey::ConsentPrompt,
        &[LONGEST.casino, "YES", "automated", "STOP"],
        &[LONGEST.casino, "SI", "automati", "STOP"],
    ),
    // These texts must say that an AI writes.
    (
        TextKey::Disclosure,
        &["AI", LONGEST.casino],
        &["IA", LONGEST.casino],
    ),
    (
        TextKey::Redisclosure,
        &["AI", LONGEST.casino],
        &["IA", LONGEST.casino],
    ),
    (
        TextKey::WebDisclosure,
        &["AI", LONGEST.casino],
        &["IA", LONGEST.casino],
    ),
    (TextKey::Identity, &["AI"], &["IA"]),
    (TextKey::WebIdentity, &["AI"], &["IA"]),
    // These texts must give a phone number.
    (TextKey::Fallback, &[LONGEST.phone], &[LONGEST.phone]),
    (TextKey::OffTopic, &[LONGEST.phone], &[LONGEST.phone]),
    (TextKey::Holding, &[LONGEST.phone], &[LONGEST.phone]),
    (TextKey::SafeMode, &[LONGEST.phone], &[LONGEST.phone]),
    (
        TextKey::EscalatedShortly,
        &[LONGEST.phone],
        &[LONGEST.phone],
    ),
    (TextKey::EscalatedHours, &[LONGEST.phone], &[LONGEST.phone]),
    (
        TextKey::EscalatedTomorrow,
        &[LONGEST.phone],
        &[LONGEST.phone],
    ),
    (
        TextKey::EscalationOverdue,
        &[LONGEST.phone],
        &[LONGEST.phone],
    ),
    (TextKey::Crisis, &["988", "911"], &["988", "911"]),
    (TextKey::Emergency, &["911"], &["911"]),
    (TextKey::LateCry, &["988", "911"], &["988", "911"]),
    (TextKey::CrisisLine, &["988"], &["988"]),
    (TextKey::EmergencyLine, &["911"], &["911"]),
    (
        TextKey::GamingLine,
        &[LONGEST.helpline],
        &[LONGEST.helpline],
    ),
    (
        TextKey::ResponsibleGaming,
        &[LONGEST.helpline],
        &[LONGEST.helpline],
    ),
];

/// Returns the class that this text must have, if it may be sent even while other texts must wait
/// (D5, D6). Returns `None` for other texts; a pack must not give them such a class.
fn class_of(key: TextKey) -> Option<MessageClass> {
    Some(match key {
        TextKey::OptOutConfirmation => MessageClass::OptOutConfirmation,
        TextKey::Help => MessageClass::Help,
        TextKey::Crisis
        | TextKey::LateCry
        | TextKey::ResponsibleGaming
        | TextKey::CrisisLine
        | TextKey::GamingLine => MessageClass::Crisis,
        TextKey::Emergency | TextKey::EmergencyLine => MessageClass::Emergency,
        TextKey::Holding
        | TextKey::SafeMode
        | TextKey::EscalatedShortly
        | TextKey::EscalatedHours
        | TextKey::EscalatedTomorrow
        | TextKey::EscalationOverdue => MessageClass::Holding,
        _ => return None,
    })
}

/// Returns whether a layer matters only to some trades, so that a pack may leave it out. The other
/// layers protect people and the product.
fn is_of_the_trade(layer: Layer) -> bool {
    matches!(
        layer,
        Layer::ResponsibleGaming | Layer::BsaAml | Layer::PatronPrivacy | Layer::AgeVerification
    )
}

/// Returns whether a pack may lack this text, because the text answers a layer that the pack may
/// leave out.
pub(crate) fn may_miss(key: TextKey) -> bool {
    let of =
        |layer: Layer| TextKey::answer_to(layer) == key || TextKey::line_of(layer) == Some(key);
    Layer::ALL
        .into_iter()
        .any(|layer| is_of_the_trade(layer) && of(layer))
}

pub(crate) fn check(rules: &Rules, texts: &Texts, guardrails: &Guardrails) -> Result<(), Error> {
    for layer in Layer::ALL {
        let answer = TextKey::answer_to(layer);
        match guardrails.guards(layer) {
            true if !texts.has(answer) => return Err(Error::Missing(answer)),
            false if !is_of_the_trade(layer) => return Err(Error::Unguarded(layer.as_str())),
            _ => {}
        }
    }
    for &key in TextKey::ALL.iter().filter(|key| texts.has(**key)) {
        text(key, rules, texts)?;
    }
    safety_languages(rules, texts, guardrails)
}

/// If a pack has one of these layers, it needs a rule and an answer for that layer in every safety
/// language.
const SAFETY_LAYERS: [Layer; 3] = [Layer::Crisis, Layer::Emergency, Layer::ResponsibleGaming];

/// Checks that the pack has a rule and an answer in every safety language for each of its
/// `SAFETY_LAYERS`. Refuses a rule or an answer in a language that `rules.safety_languages` does
/// not list.
fn safety_languages(rules: &Rules, texts: &Texts, guardrails: &Guardrails) -> Result<(), Error> {
    for layer in SAFETY_LAYERS
        .into_iter()
        .filter(|layer| guardrails.guards(*layer))
    {
        let (guarded, answer) = (
            guardrails.safety_languages(layer),
            TextKey::answer_to(layer),
        );
        for language in &rules.safety_languages {
            let lacks = |file, what| Error::NoSafetyText {
                language: language.clone(),
                layer: layer.as_str(),
                file,
                what,
            };
            if !guarded.contains(language.as_str()) {
                return Err(lacks("guardrails.toml", "rule"));
            }
            let rendered = texts.render_safety(answer, language, &LONGEST);
            let rendered = rendered.ok_or_else(|| lacks("texts.toml", "answer"))?;
            fits(answer, language, texts, &rendered)?;
        }
    }
    let spoken = Layer::ALL
        .into_iter()
        .flat_map(|layer| guardrails.safety_languages(layer));
    let spoken = spoken.chain(TextKey::ALL.iter().flat_map(|key| texts.others(*key)));
    match spoken
        .into_iter()
        .find(|language| !rules.safety_languages.contains(*language))
    {
        Some(unlisted) => Err(Error::NotSafetyLanguage(unlisted.to_owned())),
        None => Ok(()),
    }
}

fn text(key: TextKey, rules: &Rules, texts: &Texts) -> Result<(), Error> {
    let refused = |why: String| Err(Error::Text { key, why });
    let class = texts.class(key);
    let special = class.is_safety() || class == MessageClass::Holding;
    if class_of(key).map_or(special, |demanded| demanded != class) {
        let demanded = class_of(key).map_or("reply", MessageClass::as_str);
        return refused(format!("is of class {class}; its class is {demanded}"));
    }
    if rules.helpline.is_none() && texts.mentions(key, "helpline") {
        return refused("mentions a helpline, and rules.toml names none".to_owned());
    }
    for language in Language::ALL {
        let rendered = texts.render(key, language, &LONGEST);
        fits(key, language.as_str(), texts, &rendered)?;
    }
    Ok(())
}

/// Checks that a text in one language contains its required strings and has not too many segments.
/// A Spanish text needs the Spanish strings, any other text the English ones. In a safety language,
/// only phone numbers are required, and they are the same in every language.
fn fits(key: TextKey, language: &str, texts: &Texts, rendered: &str) -> Result<(), Error> {
    let refused = |why: String| Err(Error::Text { key, why });
    let facts = MUST_HOLD.iter().find(|(demanding, ..)| *demanding == key);
    let facts = facts.map_or(&[][..], |(_, en, es)| {
        if language == Language::Es.as_str() {
            es
        } else {
            en
        }
    });
    if let Some(missing) = facts.iter().find(|fact| !rendered.contains(**fact)) {
        return refused(format!("({language}) has to hold `{missing}`: {rendered}"));
    }
    let (costs, most) = (
        seven_sms::measure(rendered).segments,
        texts.most_segments(key),
    );
    if costs > most {
        return refused(format!(
            "({language}) costs {costs} segments of {most} with the longest names: {rendered}"
        ));
    }
    Ok(())
}
