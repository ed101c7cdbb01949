//! Chooses the answer to what was asked: one [`Part`] for each sentence of the guest that asks
//! something.

use seven_domain::Language;
use seven_llm::Request;

use super::{
    company,
    compose::{chat, events, lookup, services},
    fit::{Part, Room},
    focus, follow_up,
    pack::HostPack,
    phrases::Tokens,
    reading,
    understand::Understood,
};
use crate::{
    about::{about_topic, about_venue},
    host::Host,
    sentences::sentences,
};

// === impl Host ===

/// Answers every open text, oldest first. Later texts may refer to venues that earlier ones name.
pub(crate) fn parts(pack: &HostPack, request: &Request, language: Language) -> Vec<Part> {
    let host = Host { pack, request, language, room: Room::behind(request.lead.as_deref()) };
    let mut said_now: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for text in &request.texts {
        for sentence in sentences(text) {
            let understood = host.read(sentence);
            let asks = understood.is_question;
            let part = settled(&host, &understood, &said_now);
            let halves = halves(&host, sentence, &part, &said_now);
            // A remark beside a question ("We love it here.") needs no answer.
            let remark = !asks && (!part.grounded || part.intent == "unclear");
            match halves {
                Some(halves) => parts.extend(halves.into_iter().map(|half| (half, false))),
                None => parts.push((part, remark)),
            }
            said_now.push(sentence);
        }
    }
    let answered = parts.iter().any(|(part, remark)| !remark && !part.chat);
    parts.into_iter().filter(|(_, remark)| !(answered && *remark)).map(|(part, _)| part).collect()
}

/// Splits a sentence that asks two questions ("How much is parking and wifi", "dinner and a show"),
/// if each half has an answer of its own.
fn halves(host: &Host<'_>, sentence: &str, whole: &Part, said_now: &[&str]) -> Option<Vec<Part>> {
    let spaced = |mark: &str| sentence.find(&format!(" {mark} ")).map(|at| (at, at + mark.len() + 2));
    let (end, start) = ["and", "y", "or", "o", "&", "also"].into_iter().filter_map(spaced).min()?;
    let (left, right) = (sentence[..end].trim(), sentence[start..].trim());
    // Never cuts inside a name: "Fig & Cedar" is one place.
    let cut = seven_knowledge::text::words(left).len();
    if host.request.index.mentions(sentence, host.request.now).iter().any(|m| m.from < cut && cut < m.to) {
        return None;
    }
    let (first, mut second) = (host.read(left), host.read(right));
    // "How much is the kayak and what time do they close": the second half asks about the place in
    // the first.
    let back = !first.facets.is_empty() && second.mentions.is_empty() && (second.is_bare_fact() || second.points_back);
    if !first.is_particular() || !(back || second.is_particular()) {
        return None;
    }
    if second.facets.is_empty() {
        second.facets.clone_from(&first.facets);
    }
    if !second.when.is_said() {
        second.when = first.when;
    }
    second.is_question |= first.is_question;
    let said: Vec<&str> = said_now.iter().copied().chain([left]).collect();
    let mut halves = vec![settled(host, &first, said_now), settled(host, &second, &said)];
    let real = halves.iter().filter(|half| half.grounded && !half.chat && !half.sources.is_empty()).count();
    let told = |half: &Part| !half.is_whole && half.body != whole.body;
    let apart = back || !halves[0].sources.iter().any(|id| halves[1].sources.contains(id)) || halves.iter().all(told);
    let new = halves.iter().any(|half| half.sources.iter().any(|id| !whole.sources.contains(id)));
    let both = |half: &Part| whole.body.contains(&half.body);
    let same_row = halves[1].sources.iter().all(|id| halves[0].sources.contains(id));
    let better = match whole.grounded {
        true if back => real == 2 && !halves.iter().all(both) && same_row,
        true => real == 2 && (new || whole.sources.len() < 2) && halves[0].body != halves[1].body,
        false => real >= 1,
    };
    // If both halves come from one row and one of them describes the whole row, that one is enough.
    let same = !back && halves[0].sources == halves[1].sources && real == 2;
    if same && let Some(row) = halves.iter().position(|half| half.is_whole) {
        return Some(vec![halves.swap_remove(row)]);
    }
    (apart && better).then_some(halves)
}

/// Answers from the fields of the rows; failing that, with a sentence of a row; failing that, tells
/// the guest whom to ask.
fn settled(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Part {
    if let Some(part) = focus::answer(host, u, said_now) {
        return part;
    }
    let part = reading::honest(host, u, part(host, u, said_now));
    let part = focus::honest(host, u, said_now, part);
    let open = part.intent == "unanswered"
        || (part.chat && u.is_question && !u.leftover.is_empty())
        || (matches!(part.intent.as_str(), "unclear" | "statement") && u.leftover.len() > 1);
    let open = open && !["identity", "complaint", "human", "allergy"].contains(&part.intent.as_str());
    let open = open && !services::is_untold(host, u);
    if open && let Some(found) = reading::fallback(host, u, said_now, part.is_denial) { found } else { part }
}

fn part(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Part {
    if u.intends("identity") {
        return chat::say(host, "identity");
    }
    if u.intends("wrong_number") {
        return chat::say(host, "wrong_number");
    }
    if u.said.words.is_empty() {
        return chat::say(host, "unclear");
    }
    if u.intends("complaint") {
        return Part { chat: false, ..chat::say(host, "complaint") };
    }
    if host.pack.language.preferred(&Tokens::new(u.text)).is_some()
        && u.topics.is_empty()
        && u.venues().is_empty()
        && u.facets.is_empty()
    {
        return language_switch(host, said_now);
    }
    if u.intends("human") {
        return Part { chat: false, ..chat::say(host, "human") };
    }
    if u.intends("allergy") && u.venues().is_empty() && u.kinds.is_empty() {
        return Part { chat: false, ..chat::say(host, "allergy") };
    }
    if u.is_praise() {
        return chat::say(host, "thanks");
    }
    if u.is_statement() {
        return chat::say(host, "statement");
    }
    if u.intends("limits") {
        return lookup::limits(host, u).unwrap_or_else(|| Part { chat: false, ..chat::say(host, "human") });
    }
    if u.intends("rules") {
        return lookup::rule(host, u).unwrap_or_else(|| host.unanswered());
    }
    if services::is_untold(host, u) {
        return host.unanswered();
    }
    company::age_rule(host, u)
        .or_else(|| follow_up::of_last(host, u, said_now))
        .or_else(|| services::answer(host, u))
        .or_else(|| reading::exact(host, u))
        .or_else(|| events::at_place(host, u))
        .or_else(|| about_venue(host, u))
        .or_else(|| lookup::by_name(host, u))
        .or_else(|| follow_up::answer(host, u, said_now))
        .or_else(|| contact(host, u))
        .or_else(|| about_topic(host, u))
        .or_else(|| events::found(host, u).or_else(|| events::on_that_day(host, u)))
        .or_else(|| lookup::anything(host, u))
        .or_else(|| chat::small_talk(host, u))
        .unwrap_or_else(|| if u.is_question || u.asks_fact() { host.unanswered() } else { chat::say(host, "unclear") })
}

/// Switches to the requested language and answers the last question again in it (CONV-40: the
/// context is kept).
fn language_switch(host: &Host<'_>, said_now: &[&str]) -> Part {
    let switch = host.say("switched", &[]);
    // The same texts also ask a question, so the previous one is not repeated.
    let beside = |text: &String| sentences(text).into_iter().any(|s| host.read(s).is_question);
    if host.request.texts.iter().any(beside) {
        return Part { chat: true, ..host.part("language", switch, &[]) };
    }
    let last = said_now.last().copied().or(host.request.history.last().map(|e| e.guest.as_str()));
    let again = last.map(|text| host.read(text)).filter(|u| u.is_question).map(|u| part_of_earlier(host, &u));
    match again {
        Some(again) if again.grounded => {
            let both = format!("{switch} {}", again.body);
            let body = if host.room.two(&both) { both } else { again.body };
            Part { body, intent: "language".into(), ask: None, ..again }
        }
        _ => Part { ask: Some(host.say("ask_help", &[])), ..host.part("language", switch, &[]) },
    }
}

fn part_of_earlier(host: &Host<'_>, u: &Understood<'_>) -> Part {
    about_venue(host, u)
        .or_else(|| about_topic(host, u))
        .or_else(|| lookup::anything(host, u))
        .unwrap_or_else(|| host.unanswered())
}

/// Gives the casino's own phone number when a phone is asked for and no place is named.
fn contact(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let house = u.wants("phone") && u.leftover.is_empty() && u.topics.is_empty() && u.venues().is_empty();
    house.then(|| host.part("contact", host.say("contact", &[]), &[]))
}
