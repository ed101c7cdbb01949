//! Courtesies, honesty about what we are, and asking back.

use super::super::{
    fit::{Part, join_names},
    host::Host,
    understand::Understood,
};

/// A fixed wording of the pack; behind a lead that has introduced us, one that does not do so again.
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
    // A question we could not answer must not be met with "you are welcome".
    if u.is_question && !u.leftover.is_empty() && !u.intends("help") {
        return None;
    }
    let order = ["help", "goodbye", "thanks", "greeting", "statement", "decline", "ack"];
    order.into_iter().find(|intent| u.intends(intent)).map(|intent| say(host, intent))
}

/// Which of the places just named is meant.
pub(crate) fn which(host: &Host<'_>, names: &[String]) -> Part {
    let or = if host.and() == "and" { "or" } else { "o" };
    let body = if names.len() <= 3 {
        host.say("which_of", &[("list", &join_names(names, or))])
    } else {
        host.say("which", &[])
    };
    host.part("clarify", body, &[])
}
