//! Adds at most one question about the guest to a reply: after an answer, never in place of one,
//! and never in a serious moment.

use seven_domain::Language;
use seven_guest::Topic;

use super::{fit::Part, pack::HostPack, phrases::Tokens};
use seven_llm::Request;

/// Intents after which the host asks nothing about the guest.
const GRAVE: [&str; 8] = [
    "complaint",
    "human",
    "identity",
    "allergy",
    "limits",
    "goodbye",
    "decline",
    "language",
];
/// Intents after which the host may ask about the guest, because the guest's answer improves the
/// next suggestion. After other intents, a question would only delay the guest.
const INVITING: [&str; 5] = ["recommend", "events", "rooms", "spa", "statement"];

/// Returns the wording that asks about a topic; the host never asks about companions.
fn key(topic: Topic) -> Option<&'static str> {
    match topic {
        Topic::Name => Some("profile_name"),
        Topic::VisitDate => Some("profile_visit"),
        Topic::PartySize => Some("profile_party"),
        Topic::Dining => Some("profile_dining"),
        Topic::Entertainment => Some("profile_shows"),
        Topic::Gaming => Some("profile_gaming"),
        Topic::Occasions => Some("profile_occasion"),
        Topic::Companions => None,
    }
}

fn is_refusal(text: &str) -> bool {
    let text = seven_text::words(text).join(" ");
    [
        "rather not",
        "prefer not",
        "no name",
        "prefiero no",
        "no quiero dar",
        "none of your",
    ]
    .iter()
    .any(|no| text.contains(no))
}

/// Adds the question about the guest that `request.ask` names to the last part, and returns its
/// text. `None` if the host should ask nothing now.
pub(crate) fn ask(
    pack: &HostPack,
    request: &Request,
    language: Language,
    parts: &mut [Part],
) -> Option<String> {
    // If the guest has refused to tell a name or a party size, the host asks for neither again.
    let declined = request
        .history
        .iter()
        .map(|e| &e.guest)
        .chain(&request.texts)
        .any(|text| is_refusal(text));
    if declined && matches!(request.ask, Some(Topic::Name | Topic::PartySize)) {
        return None;
    }
    let question = pack.say(key(request.ask?)?, language, request.seed, &[]);
    let said = |text: &String| {
        let said = Tokens::new(text);
        GRAVE.iter().any(|intent| {
            pack.intents
                .get(*intent)
                .is_some_and(|phrases| phrases.found(&said))
        })
    };
    let is_any = |part: &Part, intents: &[&str]| intents.contains(&part.intent.as_str());
    let grave = request.texts.iter().any(said) || parts.iter().any(|part| is_any(part, &GRAVE));
    let begins = request.history.is_empty();
    let invites = |part: &Part| is_any(part, &INVITING) && (begins || part.intent != "statement");
    let invited = parts.last().is_some_and(invites);
    let open = parts
        .iter()
        .any(|part| !part.grounded || ["unclear", "clarify"].contains(&part.intent.as_str()));
    if grave || open || !invited {
        return None;
    }
    let last = parts.last_mut()?;
    // "Good to know. Shall we start with dining?" already asks a question, and a less useful one,
    // so it is replaced.
    if last.chat && ["statement", "ack"].contains(&last.intent.as_str()) {
        last.body = pack.say("noted", language, request.seed, &[]);
    }
    last.ask = Some(question.clone());
    Some(question)
}
