//! Courtesies, the answer to "are you a robot?", and questions back to the guest.

use super::super::{
    fit::{Part, join_names},
    host::Host,
    understand::Understood,
};

/// Says a fixed wording of the pack. If the lead has already introduced the host, picks the wording
/// that does not do so again.
pub(crate) fn say(host: &Host<'_>, intent: &str) -> Part {
    let key = match intent {
        "greeting" if host.room.is_led() => "greeting_led",
        "identity" if host.room.is_led() => "identity_led",
        "human" if host.room.is_led() => "human_led",
        own => own,
    };
    Part { chat: true, ..host.part(intent, host.say(key, &[]), &[]) }
}

pub(crate) fn small_talk(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    // A question that could not be answered must not be met with "you are welcome".
    if u.is_question && !u.leftover.is_empty() && !u.intends("help") {
        return None;
    }
    let order = ["help", "goodbye", "thanks", "greeting", "statement", "decline", "ack"];
    order.into_iter().find(|intent| u.intends(intent)).map(|intent| say(host, intent))
}

/// Asks which of the places just named the guest means.
pub(crate) fn which(host: &Host<'_>, names: &[String]) -> Part {
    let or = if host.and() == "and" { "or" } else { "o" };
    let body = if names.len() <= 3 {
        host.say("which_of", &[("list", &join_names(names, or))])
    } else {
        host.say("which", &[])
    };
    host.part("clarify", body, &[])
}
