//! Courtesies, the answer to "are you a robot?", and questions back to the guest.

use std::sync::Arc;

use chrono::NaiveDate;
use seven_guest::{Key, Value};

use super::super::{
    fit::{Part, join_names},
    host::Host,
    resolve,
    suggest::reasons,
    understand::Understood,
};
use super::news::news;
use crate::{
    plan,
    when::{Day, day_words},
};

/// Maximum number of days until a visit to which a courtesy refers.
const MOST_DAYS_AHEAD: i64 = 30;

/// Says a fixed wording of the pack. If the lead (the disclosure before the reply) has introduced
/// the host, the wording does not introduce the host again.
pub(crate) fn say(host: &Host<'_>, intent: &str) -> Part {
    let key = match intent {
        "greeting" if host.room.is_led() => "greeting_led",
        "identity" if host.room.is_led() => "identity_led",
        "human" if host.room.is_led() => "human_led",
        own => own,
    };
    Part {
        chat: true,
        ..host.part(intent, host.say(key, &[]), &[])
    }
}

pub(crate) fn small_talk(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    // A question that was not answered must not get "you are welcome".
    if u.is_question && !u.leftover.is_empty() && !u.intends("help") {
        return None;
    }
    let order = [
        "help",
        "goodbye",
        "thanks",
        "greeting",
        "statement",
        "decline",
        "ack",
    ];
    order
        .into_iter()
        .find(|intent| u.intends(intent))
        .map(|intent| say(host, intent))
}

/// Answers thanks or a goodbye. Names the day that the text names or for which a booking is open,
/// or else the guest. Other days of the dialogue may be days on which the guest does not come.
pub(crate) fn parting(host: &Host<'_>, u: &Understood<'_>, intent: &str) -> Part {
    let today = host.local().date();
    let soon = |date: &NaiveDate| (1..=MOST_DAYS_AHEAD).contains(&(*date - today).num_days());
    let booked = host.state.request.as_ref().filter(|open| !open.changes);
    let named = matches!(u.when.day, Some(Day::Named(_) | Day::Tomorrow));
    let said = plan::moment(host, u).0.filter(|_| named);
    let day = said.or(booked.and_then(|open| open.date)).filter(soon);
    let name = host.request.profile.get(Key::Name).and_then(Value::as_text);
    let body = match (day, name) {
        (Some(day), _) => {
            let day = day_words(day, today, host.language);
            host.say(&format!("{intent}_day"), &[("day", &day)])
        }
        (None, Some(name)) => host.say(&format!("{intent}_name"), &[("name", name)]),
        (None, None) => host.say(intent, &[]),
    };
    Part {
        body,
        ..say(host, intent)
    }
}

/// Acknowledges what the guest said, and repeats it if it is news about the visit. At the beginning
/// of a conversation, the reply also suggests where to start.
pub(crate) fn heard(host: &Host<'_>) -> Part {
    let begins = host.request.history.is_empty();
    let said = say(host, "statement");
    if begins {
        return said;
    }
    let body = news(host).unwrap_or_else(|| host.say("noted", &[]));
    Part { body, ..said }
}

/// Says a fixed wording after which the host asks nothing about the guest.
pub(crate) fn grave(host: &Host<'_>, intent: &str) -> Part {
    Part {
        chat: false,
        is_grave: true,
        ..say(host, intent)
    }
}

/// Confirms the row that the guest chose, with its facts. If several rows may be meant, asks which
/// one; if none, only acknowledges.
pub(crate) fn accepted(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let listed = resolve::listed_for(host, u);
    let chosen = resolve::nth(u, &listed).or_else(|| {
        let named = u.venues().into_iter().find(|mention| mention.telling);
        named.map(|mention| Arc::clone(&mention.item)).or_else(|| {
            listed
                .first()
                .filter(|_| listed.len() == 1 || leaves_choice(u))
                .cloned()
        })
    });
    match chosen {
        Some(row) => {
            let facts = reasons(host, &row).join(", ");
            let slots = [("name", host.name(&row)), ("value", facts)];
            let slots: Vec<(&str, &str)> = slots.iter().map(|(k, v)| (*k, v.as_str())).collect();
            host.part("accept", host.say("accepted", &slots), &[row])
        }
        None if listed.len() > 1 => {
            let names: Vec<String> = listed.iter().map(|row| host.name(row)).collect();
            Part {
                chat: true,
                ..which(host, &names)
            }
        }
        None => say(host, "ack"),
    }
}

/// Returns whether the guest leaves the choice to the host.
fn leaves_choice(u: &Understood<'_>) -> bool {
    let words = [
        "pick", "choose", "decide", "choice", "elige", "elija", "escoge", "decida",
    ];
    u.said
        .words
        .iter()
        .any(|word| words.contains(&word.as_str()))
}

/// Asks the guest which of the places just named is meant.
pub(crate) fn which(host: &Host<'_>, names: &[String]) -> Part {
    let or = if host.and() == "and" { "or" } else { "o" };
    let body = if names.len() <= 3 {
        host.say("which_of", &[("list", &join_names(names, or))])
    } else {
        host.say("which", &[])
    };
    host.part("clarify", body, &[])
}

/// Marks a fixed wording as a real answer, which is not dropped as a courtesy if there are other
/// answers.
pub(crate) fn firm(part: Part) -> Part {
    Part {
        chat: false,
        ..part
    }
}
