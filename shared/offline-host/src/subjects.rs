//! Finds the subject of a sentence, such as pets or parking, with a table learnt from labelled
//! texts (`scripts/data/train_tables.py`). The subject excludes answers from rows of other
//! subjects. It also leads to an answer if the pack does not list the guest's wording.

use std::sync::{Arc, LazyLock};

use seven_domain::Language;
use seven_knowledge::{Category, Item};
use seven_text::linear::Linear;

use crate::{
    acts::{Act, learnt::line, speaks_of_own},
    compose::chat,
    fit::Part,
    host::Host,
    phrases::Tokens,
    reading, request,
    subject::{KEYS, Subject, SubjectAct, names},
    suggest,
    understand::Understood,
};

const CLASSES: usize = KEYS.len();

static BYTES: &[u8] = include_bytes!("../data/subjects.bin");
static TABLE: LazyLock<Linear<CLASSES, 64>> =
    LazyLock::new(|| Linear::read(BYTES).expect("the table is part of the crate and tested"));

/// The lowest probability at which rows of a subject may answer.
const POSSIBLE: f32 = 0.08;
/// The lowest probability at which a subject rejects an answer from rows of other subjects.
const LIKELY: f32 = 0.35;
/// The lowest probability at which a subject answers a question that got no answer.
const CLEAR: f32 = 0.4;
/// The lowest probability at which a subject's answer replaces the answer that the act gave.
const CERTAIN: f32 = 0.5;
/// The lowest probability at which a subject rejects an answer from rows of the last reply.
const BEYOND_DOUBT: f32 = 0.8;
/// The lowest probability at which the second subject is used instead of an aspect (see
/// `SubjectFile::is_aspect`).
const BESIDE_ASPECT: f32 = 0.15;

/// All subjects with their probabilities for a sentence, the most probable one first; `None` for a
/// subject that the pack does not have.
struct Ranked<'a>(Vec<(Option<&'a Subject>, f32)>);

// === impl Ranked ===

impl<'a> Ranked<'a> {
    fn of(host: &Host<'a>, u: &Understood<'_>) -> Self {
        let odds = TABLE.odds(&line(&u.said.words));
        let mut ranked: Vec<(&str, f32)> = KEYS.into_iter().zip(odds).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let subject = |(key, odds): (&str, f32)| (host.pack.subjects.get(key), odds);
        Self(ranked.into_iter().map(subject).collect())
    }

    /// Returns the most probable subject if its probability is at least `least`. If the most
    /// probable subject is an aspect, returns the second one, provided that both together reach
    /// `least`.
    fn clear(&self, least: f32) -> Option<&'a Subject> {
        let [(Some(first), best), (second, next), ..] = self.0[..] else {
            return None;
        };
        if first.is_aspect && next >= BESIDE_ASPECT && best + next >= least {
            return second;
        }
        (best >= least && !first.is_aspect).then_some(first)
    }

    /// Returns whether an answer may be about the text's subject. One of these must hold:
    /// - The text names the answer's row or category.
    /// - The answer contains words of a likely subject.
    /// - A row of the answer belongs to a possible subject, or to no subject of the pack.
    fn fits(&self, host: &Host<'_>, u: &Understood<'_>, part: &Part) -> bool {
        let index = &host.request.index;
        let told = |subject: &Subject| subject.rows.found(&Tokens::new(&part.body));
        if !part.sources.is_empty() && self.clear(LIKELY).is_some_and(told) {
            return true;
        }
        let (named, certain) = (u.venues(), self.clear(BEYOND_DOUBT).is_some());
        let mut rows = part.sources.iter().filter_map(|id| index.get(id));
        let fits = |row: &Arc<Item>| {
            let eats = !u.kinds.is_empty() && row.category == Category::Dining;
            let mut venues = named.iter().filter(|mention| mention.telling);
            let topic = eats || u.topics.contains(&row.category);
            if topic && !certain || venues.any(|mention| mention.item.id == row.id) {
                return true;
            }
            let called = names(row);
            let owners = self
                .0
                .iter()
                .filter_map(|(subject, odds)| Some(((*subject)?, *odds)));
            let owners = owners.filter(|(subject, _)| subject.covers(row, &called));
            let mut owners = owners.peekable();
            owners.peek().is_none() || owners.any(|(_, odds)| odds >= POSSIBLE)
        };
        if part.is_denial {
            return rows.all(fits);
        }
        rows.any(fits)
    }
}

/// Keeps the answer of a look-up if it may be about the text's subject. Otherwise calls `look_up`
/// with the plain question about the subject. If this finds no answer either, passes the guest's
/// question on to a person.
pub(crate) fn kept(
    host: &Host<'_>,
    u: &Understood<'_>,
    part: Part,
    look_up: impl FnOnce(&Understood<'_>) -> Part,
) -> Part {
    let ranked = Ranked::of(host, u);
    let listed = &host.state.listed;
    let least = match part.sources.is_empty() {
        true => CLEAR,
        false if part.sources.iter().all(|id| listed.contains(id)) => BEYOND_DOUBT,
        false => LIKELY,
    };
    let subject = ranked.clear(least).filter(|subject| subject.act.is_none());
    let open = subject.filter(|_| !names_another(u, &part) && !ranked.fits(host, u, &part));
    let Some(subject) = open else {
        return part;
    };
    let is_open = part.sources.is_empty();
    if is_open && subject.suggests {
        return part;
    }
    match plain(host, subject, u, look_up) {
        Some(plain) if is_open && plain.grounded && !plain.is_denial => {
            reading::partly(host, &plain)
        }
        Some(plain) => plain,
        None if is_open => part,
        None => host.unanswered(),
    }
}

/// Returns the subject's own answer in place of `part`, the answer found before. Does so only if
/// the subject is certain and `part` is not about it.
pub(crate) fn instead(
    host: &Host<'_>,
    act: Act,
    u: &Understood<'_>,
    part: &Part,
    look_up: impl FnOnce(&Understood<'_>) -> Part,
) -> Option<Part> {
    let ranked = Ranked::of(host, u);
    let subject = ranked.clear(CERTAIN)?;
    // A condition on suggestions, such as a wheelchair, asks for nothing by itself.
    let narrows = act.proposes() && (!u.is_question || !u.kinds.is_empty());
    if narrows || part.is_grave || names_another(u, part) {
        return None;
    }
    let is_fact = part.grounded && !part.sources.is_empty();
    let beyond_doubt = ranked.clear(BEYOND_DOUBT).is_some();
    // An answer about the row of the last reply is kept, as in `kept`.
    let listed = &host.state.listed;
    if is_fact && !beyond_doubt && part.sources.iter().all(|id| listed.contains(id)) {
        return None;
    }
    let Some(by_subject) = subject.act else {
        // If a question has found no row, suggestions do not answer it either: "Is breakfast
        // included?" does not ask for restaurants.
        let open = act == Act::Ask && part.sources.is_empty() && subject.suggests;
        let off = !open && !ranked.fits(host, u, part);
        return off.then(|| plain(host, subject, u, look_up)).flatten();
    };
    let is_told = part.grounded && !part.chat && part.sources.is_empty();
    let may_fit = is_fact && ranked.fits(host, u, part);
    let doubted = is_told || may_fit || is_fact && !beyond_doubt;
    // "Can I get a free room" asks for no room's price.
    let favour = by_subject == SubjectAct::Comp && beyond_doubt;
    if by_subject != SubjectAct::Complaint && !favour && doubted {
        return None;
    }
    Some(match by_subject {
        SubjectAct::Account if !speaks_of_own(u) && !u.said.words.contains(&"i".to_owned()) => {
            return None;
        }
        SubjectAct::Account => chat::firm(chat::say(host, "account")),
        SubjectAct::Change if is_fact => return None,
        SubjectAct::Comp if is_fact && !favour => return None,
        SubjectAct::Change => request::change(host, u),
        SubjectAct::Comp => request::comp(host, u),
        SubjectAct::Complaint => request::complaint(host, u),
        SubjectAct::Human => chat::firm(chat::say(host, "human")),
        SubjectAct::Identity => chat::say(host, "identity"),
        // A joke may end with a question, but no person needs to look up the answer.
        SubjectAct::Chat if act == Act::Ask && u.is_question && part.sources.is_empty() => {
            chat::say(host, "smalltalk")
        }
        SubjectAct::Chat if act == Act::Ask && !u.is_question && is_fact => chat::heard(host),
        SubjectAct::Chat => return None,
    })
}

/// Returns whether the text names a row but the answer comes from no row. Such a text asks about
/// the named row only: "What is the dress code at Copper Owl?"
fn names_another(u: &Understood<'_>, part: &Part) -> bool {
    part.sources.is_empty() && u.venues().iter().any(|mention| mention.telling)
}

/// Answers the plain question about a subject from the rows. Suggestions also take the guest's own
/// words into account. Any other answer that says nothing about these words adds that people can
/// tell the rest.
fn plain<'a>(
    host: &Host<'a>,
    subject: &'a Subject,
    u: &Understood<'_>,
    look_up: impl FnOnce(&Understood<'_>) -> Part,
) -> Option<Part> {
    let question = subject.question.as_ref()?;
    let question = match host.language {
        Language::En => &question.en,
        Language::Es => &question.es,
    };
    let suggested = |text: &str| {
        let wish = Understood::read(host.pack, host.request, text);
        let part = suggest::answer(host, Act::Recommend, &wish)?;
        (!part.is_denial).then_some(part)
    };
    let with_own = || {
        let both = format!("{question} {}", u.text);
        suggested(&both).or_else(|| suggested(question))
    };
    if let Some(part) = subject.suggests.then(with_own).flatten() {
        return Some(part);
    }
    let part = look_up(&host.read(question));
    let index = &host.request.index;
    let mut rows = part.sources.iter().filter_map(|id| index.get(id));
    let about = if part.is_denial {
        rows.all(|row| subject.covers(row, &names(row)))
    } else {
        part.grounded && rows.any(|row| subject.covers(row, &names(row)))
    };
    about.then(|| reading::honest(host, u, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert!(Linear::<CLASSES, 64>::read(BYTES).is_some());
    }
}
