//! Chooses the answer: one [`Part`] for each sentence in which the guest asks for something.

mod halves;
mod look_up;
mod missing;

use halves::halves;
use look_up::settled;
use missing::named;
use std::collections::HashSet;

use seven_domain::Language;
use seven_guest::DialogueState;
use seven_knowledge::Category;
use seven_llm::Request;
use seven_text::sentence_ranges;

use super::{
    compose::{chat, lookup, news},
    fit::{Part, Room},
    pack::HostPack,
    understand::Understood,
};
use crate::{
    about::{about_topic, about_venue},
    acts::{self, Act, Heard, learnt::Learnt},
    again,
    asked::Asked,
    cautions, compare, exists,
    finding::Facts,
    found, hear,
    host::Host,
    pack::Caution,
    request, resolve, subjects, suggest,
};

// === impl Host ===

/// The answer to all open texts, and the state of the dialogue after it.
pub(crate) struct Answered {
    pub(crate) parts: Vec<Part>,
    pub(crate) state: DialogueState,
}

/// Answers every text that is still open, oldest first; a later text may refer to a venue that an
/// earlier one names.
pub(crate) fn parts(
    pack: &HostPack,
    facts: Option<&Facts>,
    request: &Request,
    language: Language,
) -> Answered {
    let mut state = request.state.clone();
    state.learn(&request.profile);
    let news = state.is_news(&request.state);
    let listed = suggest::listed_stems(request);
    let cautions = cautions::named(pack, request);
    // Also looks for children in the guest's earlier texts. If another stage answered such a text,
    // it did not change the state.
    let host = Host {
        pack,
        request,
        language,
        room: Room::of(request).alone(),
        state: &request.state,
        listed: &listed,
        cautions: &cautions,
        asked: None,
    };
    let mut earlier = request.history.iter();
    state.children |= earlier.any(|earlier| hear::speaks_of_young(&host, &earlier.guest));
    let mut dialogue = Dialogue {
        pack,
        request,
        language,
        news,
        listed: &listed,
        cautions: &cautions,
        facts,
        said: Vec::new(),
        parts: Vec::new(),
        state,
    };
    let (filler, telling): (Vec<_>, Vec<_>) = request
        .texts
        .iter()
        .partition(|text| dialogue.is_filler(text));
    // If no text says anything by itself, the last one is answered.
    let last = filler.last().filter(|_| telling.is_empty());
    for text in telling.iter().chain(last) {
        dialogue.answer(text);
    }
    dialogue.drop_repeated();
    dialogue.join_unanswered();
    let answered = dialogue
        .parts
        .iter()
        .any(|(part, remark)| !remark && !part.chat);
    let parts = dialogue
        .parts
        .into_iter()
        .filter(|(_, remark)| !(answered && *remark))
        .map(|(part, _)| part);
    Answered {
        parts: parts.collect(),
        state: dialogue.state,
    }
}

/// Facets that describe the party; a sentence with no other asks for nothing.
const ABOUT_PEOPLE: [&str; 4] = ["about", "kids", "dietary", "couples"];

/// A sentence as it was read, with its act.
#[derive(Clone)]
struct Sentence<'a> {
    u: Understood<'a>,
    act: Act,
}

/// The open texts while they are answered: the inputs, the answers so far, and the state.
struct Dialogue<'a> {
    pack: &'a HostPack,
    request: &'a Request,
    language: Language,
    /// Whether the texts say something new about the guest.
    news: bool,
    /// Stems of all words that occur in the names and keywords of rows.
    listed: &'a HashSet<String>,
    cautions: &'a [&'a Caution],
    facts: Option<&'a Facts>,
    /// The sentences answered already.
    said: Vec<&'a str>,
    /// The answers, each with a flag: true if the answer is to a mere remark.
    parts: Vec<(Part, bool)>,
    state: DialogueState,
}

impl<'a> Dialogue<'a> {
    /// Answers each sentence of a text that asks or wants something. If no sentence does, answers
    /// the text as a whole.
    fn answer(&mut self, text: &'a str) {
        let sentences = said_sentences(text);
        let mut wanted: Vec<Sentence<'a>> = Vec::new();
        let mut told = Vec::new();
        let (mut only, mut corrected) = (None, None);
        for sentence in &sentences {
            let mut read = self.read(sentence);
            // "Is there an ax throwing place. Or like an arcade." asks on.
            read.u.is_question |= !wanted.is_empty() && read.u.offers_another();
            let (act, wants) = (read.act, Self::wants(&read));
            only = (*sentence == text).then(|| read.clone());
            // If several sentences set conditions on one suggestion, each changes the state, and
            // only the last is answered.
            let again = wants && act.proposes();
            if let Some(first) = wanted.pop_if(|last| again && last.act.proposes()) {
                self.hear(&first);
            }
            if wants {
                wanted.push(read);
            } else if act == Act::Correct {
                self.hear(&read);
                corrected = Some(read);
            } else {
                told.push(read);
            }
        }
        // "Where shall we eat? We love Italian": the remark sets a condition on the question.
        if let Some(question) = wanted.first().filter(|_| !told.is_empty()).cloned() {
            // A new request drops earlier wishes, but not those of the remarks beside it.
            self.hear(&question);
            self.state.proposed = false;
            for remark in told {
                self.hear(&remark);
            }
        }
        let whole = only.unwrap_or_else(|| self.read(text));
        // "No wait, Saturday. And my mom might come": the correction asks for the request again.
        let correction = corrected.filter(|_| wanted.is_empty() && whole.act == Act::Tell);
        wanted.extend(correction);
        let complains = whole.act == Act::Complaint;
        if wanted.is_empty() || complains {
            self.say(whole, text);
        }
        if !complains {
            // The remarks beside a single question help the finder to understand it, and so does
            // the whole text for a sentence of a few words.
            let alone = wanted.len() == 1;
            for sentence in wanted {
                let is_whole = alone || !is_long(&sentence.u);
                let asked = if is_whole { text } else { sentence.u.text };
                self.say(sentence, asked);
            }
        }
    }

    /// Returns whether a text says nothing by itself, as "oh and" before the next text does.
    fn is_filler(&self, text: &str) -> bool {
        const MOST_WORDS: usize = 3;
        let u = Understood::read(self.pack, self.request, text);
        let empty = u.leftover.is_empty() && u.intents.is_empty() && u.facets.is_empty();
        let names = !u.topics.is_empty() || !u.kinds.is_empty() || !u.mentions.is_empty();
        empty && !names && !u.when.is_said() && !u.is_question && u.said.words.len() <= MOST_WORDS
    }

    /// Removes the description of a row if a later answer gives a fact of the same row, as in "and
    /// the pool", "when does it open?", or if an earlier answer describes the row too.
    fn drop_repeated(&mut self) {
        let facts: Vec<(usize, Vec<String>)> = self
            .parts
            .iter()
            .enumerate()
            .filter(|(_, (part, _))| part.grounded && !part.is_whole)
            .map(|(at, (part, _))| (at, part.sources.clone()))
            .collect();
        let (mut at, mut described) = (0, HashSet::new());
        self.parts.retain(|(part, _)| {
            let is_told = |fact: &(usize, Vec<String>)| fact.0 >= at && fact.1 == part.sources;
            let repeated = part.is_whole
                && part.sources.len() == 1
                && (facts.iter().any(is_told) || !described.insert(part.sources.clone()));
            at += 1;
            !repeated
        });
    }

    /// Lets "for the rest, please call" follow the other answers, in place of the longer wordings
    /// that say that a question is not answered.
    fn join_unanswered(&mut self) {
        // A remark that got no answer needs none.
        let is_open = |(part, remark): &(Part, bool)| {
            part.intent == "unanswered" && part.sources.is_empty() && !remark
        };
        if !self.parts.iter().any(|(part, _)| found::is_told(part)) {
            return;
        }
        let open = self.parts.iter().position(is_open);
        let Some((first, _)) = open.map(|at| self.parts.remove(at)) else {
            return;
        };
        self.parts.retain(|part| !is_open(part));
        let body = self.host(&self.state).say("missing_rest", &[]);
        self.parts.push((Part { body, ..first }, false));
    }

    /// Reads a sentence and finds its act.
    fn read(&self, text: &'a str) -> Sentence<'a> {
        let host = self.host(&self.state);
        let mut u = Understood::read(self.pack, self.request, text);
        // "Is it open then?" asks about the day and time of the plan.
        let then = self.pack.times.get("then");
        if !u.when.is_said() && then.is_some_and(|then| then.found(&u.said)) {
            u.when = host.when_of(&u);
        }
        let listed = |word: &String| suggest::is_listed(&host, word);
        let act = acts::act(&Heard {
            pack: self.pack,
            u: &u,
            state: &self.state,
            language: self.request.language,
            news: self.news,
            learnt: Learnt::of(&u.said.words),
            names_something: u.leftover.iter().any(listed),
        });
        Sentence { u, act }
    }

    /// Returns whether the sentence asks or wants something by itself.
    fn wants(Sentence { u, act }: &Sentence<'_>) -> bool {
        let served = !u.topics.is_empty() || !u.kinds.is_empty() || u.asks_fact();
        match act {
            // "My buddy is an hour late and I'm losing it" asks for no hours.
            Act::Ask => u.is_question || u.asks_fact() && !(u.is_statement() && is_long(u)),
            Act::More | Act::Compare => u.is_question || u.asks_fact(),
            // "She's allergic to lilies" is a condition, not a question about diets.
            Act::Narrow => {
                u.is_question || u.facets.iter().any(|facet| !ABOUT_PEOPLE.contains(facet))
            }
            Act::Recommend => u.is_question || served,
            Act::Book | Act::Change | Act::Comp | Act::Account | Act::Human => true,
            Act::Identity | Act::WrongNumber | Act::SwitchLanguage | Act::Limits => true,
            _ => false,
        }
    }

    fn host<'b>(&self, state: &'b DialogueState) -> Host<'b>
    where
        'a: 'b,
    {
        Host {
            pack: self.pack,
            request: self.request,
            language: self.language,
            room: Room::of(self.request),
            state,
            listed: self.listed,
            cautions: self.cautions,
            asked: None,
        }
    }

    fn hear(&mut self, sentence: &Sentence<'_>) {
        self.state = hear::hear(&self.host(&self.state), sentence.act, &sentence.u);
    }

    /// Turns the act `Tell` into `Narrow` if the last reply listed rows and the guest says
    /// something new about the party. The news is then a condition for those rows.
    fn narrowed(&self, act: Act) -> Act {
        let requested = self.state.category.is_some() && !self.state.listed.is_empty();
        match act {
            Act::Tell if self.news && requested => Act::Narrow,
            _ => act,
        }
    }

    /// Adds a sentence to the state of the dialogue and answers it. The finder of facts reads
    /// `asked`: the sentence, or the whole text if only this sentence asks.
    fn say(&mut self, sentence: Sentence<'a>, asked: &str) {
        self.hear(&sentence);
        let heard = self.state.clone();
        let asked = self
            .facts
            .map(|facts| Asked::new(facts, self.request, &heard, asked));
        let host = Host {
            asked: asked.as_ref(),
            ..self.host(&heard)
        };
        let act = self.narrowed(sentence.act);
        let u = sentence.u;
        let by_act = by_act(&host, act, &u, &self.said);
        let is_looked_up = by_act.is_none();
        let part = by_act.unwrap_or_else(|| looked_up(&host, &u, &self.said));
        let part = if act.is_certain() || part.is_sure {
            part
        } else {
            let look_up = |plain: &Understood<'_>| looked_up(&host, plain, &self.said);
            subjects::instead(&host, act, &u, &part, look_up).unwrap_or(part)
        };
        let halves = is_looked_up
            .then(|| halves(&host, u.text, &part, &self.said))
            .flatten();
        let told = halves.as_deref().unwrap_or(std::slice::from_ref(&part));
        let found = found::instead(&host, act, &u, told);
        let (act, part, halves) = match found {
            Some((act, found)) => (act, found, None),
            None => (act, part, halves),
        };
        let is_news = act == Act::Correct || act == Act::Narrow && !u.is_question;
        let part = if is_news {
            news::before(&host, part)
        } else {
            let part = exists::affirmed(&host, &u, named(&host, &u, part));
            again::unless_told(&host, &u, part)
        };
        self.state.request =
            request::left_open(&host, &u, act, &part).or(self.state.request.take());
        self.state.complaining = part.is_grave;
        // A partial answer ("for the rest, please call") is about its rows too.
        let is_told = !part.is_denial || part.intent == "unanswered";
        if !part.sources.is_empty() && is_told {
            self.state.proposed = act.proposes();
            self.state.listed = resolve::subjects(&host, &part.sources);
        }
        // A remark such as "We love it here." needs no answer if other sentences get one.
        let remark = !u.is_question && (!part.grounded || part.intent == "unclear");
        match halves {
            Some(halves) => self
                .parts
                .extend(halves.into_iter().map(|half| (half, false))),
            None => self.parts.push((part, remark)),
        }
        self.said.push(u.text);
    }
}

/// Returns whether the sentence is longer than a few words that name a fact.
fn is_long(u: &Understood<'_>) -> bool {
    const FEW: usize = 5;
    u.said.words.len() > FEW
}

/// Answers a sentence by its act; `None` if only a look-up can answer it.
fn by_act(host: &Host<'_>, act: Act, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    let part = match act {
        Act::Identity => chat::say(host, "identity"),
        Act::WrongNumber => chat::say(host, "wrong_number"),
        Act::SwitchLanguage => language_switch(host, said_now),
        Act::Human => chat::firm(chat::say(host, "human")),
        Act::Limits => {
            lookup::limits(host, u).unwrap_or_else(|| chat::firm(chat::say(host, "human")))
        }
        Act::Sarcasm => chat::grave(host, "sarcasm"),
        Act::Complaint => request::complaint(host, u),
        // After a complaint, a remark without a topic continues the complaint. "Where can we eat
        // tomorrow?" has a topic, so it does not.
        _ if host.state.complaining && act.may_complain() && goes_on_complaining(host, u) => {
            request::complaint(host, u)
        }
        Act::Account => chat::firm(chat::say(host, "account")),
        Act::Change => request::change(host, u),
        Act::Comp => request::comp(host, u),
        Act::Compare => return compare::answer(host, u),
        Act::Book => request::book(host, u),
        Act::Correct => {
            return request::corrected(host, u).or_else(|| suggest::answer(host, act, u));
        }
        // A sentence such as "And make it 8:30" may complete the open booking.
        Act::Narrow if u.kinds.is_empty() && u.refused.is_empty() => {
            return request::corrected(host, u).or_else(|| suggest::answer(host, act, u));
        }
        // "Skip the spa" refuses the whole subject, so that nothing of it is suggested.
        act if act.proposes() && u.drops_topic() => chat::heard(host),
        Act::Recommend | Act::Narrow | Act::More | Act::Reject => {
            return suggest::answer(host, act, u);
        }
        Act::Accept => request::chosen(host, u).unwrap_or_else(|| chat::accepted(host, u)),
        Act::Competitor => chat::say(host, "competitor"),
        Act::Smalltalk => chat::say(host, "smalltalk"),
        Act::Thanks => chat::parting(host, u, "thanks"),
        Act::Goodbye => chat::parting(host, u, "goodbye"),
        Act::Tell => chat::heard(host),
        Act::Ask if u.intends("cheapest") && u.about(&Category::Entertainment) => {
            return suggest::answer(host, Act::Recommend, u);
        }
        Act::Ask => return None,
    };
    Some(part)
}

/// Returns whether a text after a complaint belongs to it. "I think it was the Italian place"
/// does; "where can we get Italian food" and "we want tacos" do not.
fn goes_on_complaining(host: &Host<'_>, u: &Understood<'_>) -> bool {
    let phrases = host.pack.acts.get("recommend");
    let wishes = phrases.is_some_and(|phrases| phrases.found(&u.said));
    let remarks = !u.is_question && !wishes && !u.kinds.is_empty();
    u.topics.is_empty() && (u.kinds.is_empty() || remarks)
}

/// Answers a question with the facts of rows. After a complaint, a question that no row answers
/// counts as part of the complaint.
fn looked_up(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Part {
    let part = settled(host, u, said_now);
    if host.state.complaining && !part.grounded {
        request::complaint(host, u)
    } else {
        part
    }
}

impl Act {
    /// Returns whether a guest who has just complained may continue the complaint with this act.
    fn may_complain(self) -> bool {
        matches!(
            self,
            Self::Tell
                | Self::Narrow
                | Self::Smalltalk
                | Self::Sarcasm
                | Self::Competitor
                | Self::Recommend
        )
    }

    /// Returns whether the act alone decides the answer. For any other act, the subject of the text
    /// may change the answer.
    pub(crate) fn is_certain(self) -> bool {
        !matches!(
            self,
            Self::Ask
                | Self::Tell
                | Self::Smalltalk
                | Self::Recommend
                | Self::Narrow
                | Self::More
                | Self::Reject
                | Self::Accept
        )
    }

    /// Returns whether nothing but the act may decide the answer: bookings, favours, accounts, who
    /// the host is, and help with gambling.
    pub(crate) fn is_final(self) -> bool {
        matches!(
            self,
            Self::Identity
                | Self::WrongNumber
                | Self::Limits
                | Self::Change
                | Self::Book
                | Self::Comp
                | Self::Account
        )
    }

    /// Returns whether the answer to this act proposes rows, which the guest may accept or refuse.
    pub(crate) fn proposes(self) -> bool {
        matches!(
            self,
            Self::Recommend | Self::Narrow | Self::More | Self::Reject | Self::Correct
        )
    }
}

/// Returns the sentences of a guest's text. An ellipsis does not end a sentence, and a blank text
/// is one sentence.
fn said_sentences(text: &str) -> Vec<&str> {
    let mut ranges = sentence_ranges(text);
    ranges.dedup_by(|next, last| {
        let pauses = text[last.clone()].ends_with("..");
        last.end = if pauses { next.end } else { last.end };
        pauses
    });
    if ranges.is_empty() {
        vec![text]
    } else {
        ranges.into_iter().map(|range| &text[range]).collect()
    }
}

/// Switches to the language that the guest asked for, and answers the last question again in it.
fn language_switch(host: &Host<'_>, said_now: &[&str]) -> Part {
    let switch = host.say("switched", &[]);
    // If the open texts also ask something, the last question is not answered again.
    let beside = |text: &String| {
        said_sentences(text)
            .into_iter()
            .any(|s| host.read(s).is_question)
    };
    if host.request.texts.iter().any(beside) {
        return Part {
            chat: true,
            ..host.part("language", switch, &[])
        };
    }
    let last = said_now
        .last()
        .copied()
        .or(host.request.history.last().map(|e| e.guest.as_str()));
    let again = last
        .map(|text| host.read(text))
        .filter(|u| u.is_question)
        .map(|u| part_of_earlier(host, &u));
    match again {
        Some(again) if again.grounded => {
            let both = format!("{switch} {}", again.body);
            let body = if host.room.two(&both) {
                both
            } else {
                again.body
            };
            Part {
                body,
                intent: "language".into(),
                ask: None,
                ..again
            }
        }
        _ => Part {
            ask: Some(host.say("ask_help", &[])),
            ..host.part("language", switch, &[])
        },
    }
}

fn part_of_earlier(host: &Host<'_>, u: &Understood<'_>) -> Part {
    about_venue(host, u)
        .or_else(|| about_topic(host, u))
        .or_else(|| lookup::anything(host, u))
        .unwrap_or_else(|| host.unanswered())
}
