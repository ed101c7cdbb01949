//! From what was asked to which answer: one [`Part`] for each sentence of the guest that asks something.

use std::sync::Arc;

use chrono::NaiveDateTime;
use seven_domain::Language;
use seven_knowledge::{Category, Item, Mention};

use super::{
    company,
    compose::{chat, events, listing, lookup, services, topic, venue},
    fit::{Part, Room, join_names, plain_spanish},
    focus, follow_up,
    pack::HostPack,
    phrases::Said,
    reading,
    understand::Understood,
};
use seven_llm::Request;

/// What every composer needs.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) pack: &'a HostPack,
    pub(super) request: &'a Request,
    pub(super) language: Language,
    pub(super) room: Room<'a>,
}

// === impl Host ===

impl<'a> Host<'a> {
    pub(super) fn say(&self, key: &str, slots: &[(&str, &str)]) -> String {
        let r = self.request;
        let fixed = [("casino", r.casino_name.as_str()), ("phone", &r.contact_phone), ("persona", &r.persona)];
        let all: Vec<(&str, &str)> = slots.iter().copied().chain(fixed).collect();
        self.pack.say(key, self.language, r.seed, &all)
    }

    pub(super) fn part(&self, intent: &str, body: String, items: &[Arc<Item>]) -> Part {
        let sources = items.iter().map(|i| i.id.clone()).collect();
        Part { intent: intent.to_owned(), body, sources, grounded: true, ..Part::default() }
    }

    /// No row answers: says so, and how to reach people.
    pub(super) fn unanswered(&self) -> Part {
        Part { grounded: false, ..self.part("unanswered", self.say("unanswered", &[]), &[]) }
    }

    /// Restaurants keep the name on their door; treatments and services are called by their Spanish name.
    pub(super) fn name(&self, item: &Item) -> String {
        match (self.language, &item.category) {
            (Language::En, _) | (_, Category::Dining) => item.name.clone(),
            (Language::Es, _) => plain_spanish(item.name(Language::Es)),
        }
    }

    /// Free text of the content in the guest's language.
    pub(super) fn description(&self, item: &Item) -> String {
        match self.language {
            Language::En => item.description.clone(),
            Language::Es => plain_spanish(item.description(Language::Es)),
        }
    }

    pub(super) fn read(&self, text: &'a str) -> Understood<'a> {
        Understood::read(self.pack, self.request, text)
    }

    pub(super) fn local(&self) -> NaiveDateTime {
        self.request.now.with_timezone(&self.request.zone).naive_local()
    }

    pub(super) fn and(&self) -> &'static str {
        if self.language == Language::En { "and" } else { "y" }
    }

    /// The first `count` entries as "A, B and C", or "A, B and 3 more" when there are others.
    pub(super) fn first_of(&self, entries: &[String], count: usize) -> String {
        match entries.len().saturating_sub(count) {
            0 => join_names(entries, self.and()),
            more => self.say("and_more", &[("list", &entries[..count].join(", ")), ("count", &more.to_string())]),
        }
    }

    pub(super) fn items(&self, category: &Category) -> Vec<Arc<Item>> {
        self.request.index.by_category(category, self.request.now)
    }
}

/// Answers every open text, oldest first; later ones may point back to venues the earlier ones name.
pub(super) fn parts(pack: &HostPack, request: &Request, language: Language) -> Vec<Part> {
    let host = Host { pack, request, language, room: Room::behind(request.lead.as_deref()) };
    let mut said_now: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for text in &request.texts {
        for sentence in sentences(text) {
            let understood = host.read(sentence);
            let asks = understood.is_question;
            let part = settled(&host, &understood, &said_now);
            let halves = halves(&host, sentence, &part, &said_now);
            // A remark beside a question ("We love it here.") needs no answer of its own.
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

/// "How much is parking and wifi", "dinner and a show": two questions in one sentence, when each half has an answer of its own.
fn halves(host: &Host<'_>, sentence: &str, whole: &Part, said_now: &[&str]) -> Option<Vec<Part>> {
    let spaced = |mark: &str| sentence.find(&format!(" {mark} ")).map(|at| (at, at + mark.len() + 2));
    let (end, start) = ["and", "y", "or", "o", "&", "also"].into_iter().filter_map(spaced).min()?;
    let (left, right) = (sentence[..end].trim(), sentence[start..].trim());
    // "Fig & Cedar" is one place.
    let cut = seven_knowledge::text::words(left).len();
    if host.request.index.mentions(sentence, host.request.now).iter().any(|m| m.from < cut && cut < m.to) {
        return None;
    }
    let (first, mut second) = (host.read(left), host.read(right));
    // "How much is the kayak and what time do they close": the same place, twice.
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
    // Both in one row: what that row is says both.
    let same = !back && halves[0].sources == halves[1].sources && real == 2;
    if same && let Some(row) = halves.iter().position(|half| half.is_whole) {
        return Some(vec![halves.swap_remove(row)]);
    }
    (apart && better).then_some(halves)
}

/// Cuts where a sentence ends, not inside "a.m." or "$1.50".
fn sentences(text: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    for (at, mark) in text.match_indices(['?', '!', '.', '\n']) {
        let next = at + mark.len();
        let ends = text[next..].chars().next().is_none_or(char::is_whitespace);
        let short = text[..at]
            .rsplit(|c: char| !c.is_alphanumeric())
            .next()
            .is_some_and(|w| mark == "." && w.chars().count() < 2);
        if mark == "\n" || (ends && !short) {
            cuts.push(next);
        }
    }
    cuts.push(text.len());
    let pieces: Vec<&str> =
        cuts.windows(2).map(|w| text[w[0]..w[1]].trim()).filter(|s| s.chars().any(char::is_alphanumeric)).collect();
    if pieces.is_empty() { vec![text] } else { pieces }
}

/// What the fields of the rows answer; where they do not, a sentence of them; where nothing does, who knows.
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
    if host.pack.language.preferred(&Said::new(u.text)).is_some()
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

/// Goes on in the language asked for, with the last question answered again in it (CONV-40: the context is kept).
fn language_switch(host: &Host<'_>, said_now: &[&str]) -> Part {
    let switch = host.say("switched", &[]);
    // The question stands beside the wish for the language.
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

/// Where a name stands in the text, and the rows that carry it.
type Place = ((usize, usize), Vec<Arc<Item>>);

/// The text names a venue, show or treatment.
pub(super) fn about_venue(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let venues = u.venues();
    // "Any boxing tonight?" is about the night, even where a show is called so.
    let show = |m: &&Mention| m.item.category == Category::Entertainment && !m.whole;
    if u.when.is_said() && u.about(&Category::Entertainment) && u.facets.is_empty() && venues.iter().all(show) {
        return None;
    }
    // A part of a name says little beside a whole one.
    let whole = venues.iter().any(|m| m.whole && m.telling);
    let venues: Vec<&Mention> = venues.into_iter().filter(|m| !whole || m.whole).collect();
    let telling = venues.iter().any(|m| m.telling);
    // A place called simply "Casino" or "Slots" is meant only when nothing more telling is asked.
    let weak_is_enough = u.topics.is_empty() && u.kinds.is_empty() && u.leftover.iter().all(|w| within(&venues, u, w));
    if venues.is_empty() || (!telling && !weak_is_enough) {
        return None;
    }
    let mut places: Vec<Place> = Vec::new();
    for mention in venues.iter().filter(|m| m.telling || !telling) {
        match places.iter_mut().find(|(at, _)| *at == (mention.from, mention.to)) {
            Some((_, rows)) => rows.push(Arc::clone(&mention.item)),
            None => places.push(((mention.from, mention.to), vec![Arc::clone(&mention.item)])),
        }
    }
    let answers: Vec<Part> = places.iter().take(2).map(|(_, rows)| venue::answer(host, u, rows)).collect();
    if !telling && answers.iter().any(|a| !a.grounded) {
        return None;
    }
    let mut answers = answers.into_iter();
    let mut first = answers.next()?;
    for other in answers {
        first.body = format!("{} {}", first.body, other.body);
        first.sources.extend(other.sources);
        first.grounded &= other.grounded;
        first.ask = None;
    }
    Some(first)
}

fn within(venues: &[&Mention], u: &Understood<'_>, word: &String) -> bool {
    venues.iter().any(|m| u.said.words[m.from..m.to].contains(word))
}

/// Asks for the phone of nothing in particular: the house's own.
fn contact(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let house = u.wants("phone") && u.leftover.is_empty() && u.topics.is_empty() && u.venues().is_empty();
    house.then(|| host.part("contact", host.say("contact", &[]), &[]))
}

/// The text asks about a category: restaurants, shows, the spa.
pub(super) fn about_topic(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let topic = u.topics.first();
    let served = u.about(&Category::Dining) || u.about(&Category::Entertainment) || !u.kinds.is_empty();
    let gambling =
        ["casino", "gamble", "gambling", "floor", "jugar"].iter().any(|w| u.said.words.iter().any(|s| s == w));
    let asks_age = u.wants("age") && !u.wants("kids") || u.wants("kids") && gambling;
    if asks_age
        && !served
        && let Some(part) = lookup::age(host, u.wants("kids"))
    {
        return Some(part);
    }
    let dining = u.about(&Category::Dining) || (!u.kinds.is_empty() && topic.is_none());
    if u.intends("booking") && !u.wants("reservations") {
        return Some(lookup::booking(host, u));
    }
    // "Spa deals" are deals.
    if u.about(&Category::Promotions) && u.topics.len() > 1 {
        return topic::answer(host, u, &Category::Promotions);
    }
    if u.about(&Category::Entertainment) {
        // "Poker tournament" is first of all about poker, unless a show is.
        let elsewhere = || (u.topics.len() > 1 && !events::tells_all(host, u)).then(|| lookup::told(host, u)).flatten();
        let strange = || events::strange(host, u);
        return Some(elsewhere().or_else(strange).unwrap_or_else(|| events::answer(host, u)));
    }
    if dining {
        return Some(listing::dining(host, u));
    }
    let named = u.mentions.iter().any(|m| m.telling);
    match topic {
        Some(category) => topic::answer(host, u, category),
        None if events::is_kind(host, u) => Some(events::answer(host, u)),
        // "Anything open late?", "somewhere open at 3am?"
        None if u.wants("open")
            && u.leftover.is_empty()
            && !u.wants("hours")
            && !u.wants("opens")
            && !u.wants("closes")
            && !u.asks_us() =>
        {
            Some(listing::dining(host, u))
        }
        None if u.wants("where") && u.leftover.is_empty() && !named => lookup::house_address(host),
        // "What time do you open?": the house itself.
        None if u.leftover.is_empty() && !named && ["open", "hours", "opens", "closes"].iter().any(|f| u.wants(f)) => {
            lookup::house(host, u)
        }
        None if u.intends("recommend") && u.leftover.is_empty() => Some(listing::dining(host, u)),
        None => None,
    }
}
