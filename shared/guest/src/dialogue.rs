//! The state of a dialogue: the guest's party, dates and wishes, the rows that the host named, and
//! the host's questions and promises. The state is stored with the session. The offline host and
//! hosted models both read and write it.

use std::fmt;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::{Key, Topic, Value, profile::Context};

/// Maximum number of rows in each of the lists `shown` and `recent`.
const MOST_ROWS: usize = 12;
/// Maximum number of questions about the guest that the host asks in one session.
const MOST_QUESTIONS: usize = 2;
/// Maximum number of words in each of the lists `wishes` and `dislikes`.
const MOST_WORDS: usize = 12;
/// A party with somebody under this age, in years, may not be offered a place for adults.
pub const ADULT_AGE_YEARS: u32 = 21;
/// A party with somebody under this age, in years, may not be offered a show "from 18".
pub const COMING_OF_AGE_YEARS: u32 = 18;

/// The facts and wishes settled so far. `Debug` shows counts only, because diets and ages are
/// personal data.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DialogueState {
    /// The size of the party, including the guest; `None` if unknown.
    pub party: Option<u32>,
    /// Whether children come along, even if their ages are unknown.
    pub children: bool,
    /// Whether the guest is under age.
    pub young: bool,
    /// The ages of companions, in years.
    pub ages: Vec<u32>,
    /// The day that the guest last named for a plan.
    pub date: Option<NaiveDate>,
    /// The time that the guest last named, in minutes after midnight; `None` if unknown.
    pub minute: Option<u16>,
    /// Diets as the profile names them: `vegan`, `allergy: peanuts`. A place must meet all of them.
    pub diets: Vec<String>,
    /// Kinds of things that the guest does not want, in the pack's words: `seafood`.
    pub dislikes: Vec<String>,
    /// Whether somebody in the party needs step-free access.
    pub step_free: bool,
    /// The guest's budget, as the profile names it.
    pub budget: Option<String>,
    /// The content category of the current request.
    pub category: Option<String>,
    /// The things that the current request asks for within its category, in the pack's words, such
    /// as `sushi`.
    pub wishes: Vec<String>,
    /// Ids of the rows in the last reply that named any, in the order of the reply.
    pub listed: Vec<String>,
    /// Whether the last reply proposed the rows in `listed`, which the guest may accept or refuse.
    pub proposed: bool,
    /// Ids of all rows named for the current request; the answer to "what else" leaves them out.
    pub shown: Vec<String>,
    /// Ids of the rows that the replies of this session named, the newest last. A later text may
    /// mean one of them, as in "that massage", or compare two.
    pub recent: Vec<String>,
    /// Ids of rows that the guest refused.
    pub refused: Vec<String>,
    /// A booking or change that the guest asked for and a person has to confirm.
    pub request: Option<OpenRequest>,
    /// Subjects of questions that were passed on to a person.
    pub promised: Vec<String>,
    /// The topics about which the host asked in this session, newest last.
    pub asked: Vec<Topic>,
    /// Whether the last reply ended with a question.
    pub asked_last: bool,
    /// Whether the guest complained or was in trouble; if so, the host no longer asks about the
    /// guest.
    pub grave: bool,
    /// Whether the guest's last text complained; if so, the next text may continue the complaint.
    pub complaining: bool,
}

/// A wish that only a person can fulfil, with the fields that are known.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenRequest {
    /// The id of the row that is to be booked, if the guest chose one.
    pub row: Option<String>,
    pub category: Option<String>,
    pub date: Option<NaiveDate>,
    pub minute: Option<u16>,
    pub party: Option<u32>,
    /// Whether something booked earlier is to be changed or cancelled.
    pub changes: bool,
}

impl fmt::Debug for DialogueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DialogueState({} diets, {} wishes, {} rows listed)",
            self.diets.len(),
            self.wishes.len(),
            self.listed.len()
        )
    }
}

impl fmt::Debug for OpenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenRequest(changes: {})", self.changes)
    }
}

// === impl DialogueState ===

impl DialogueState {
    /// Returns the ids of the rows that the dialogue talks of: those of the last reply that named
    /// any, then those named earlier, the newest first. An id may come twice.
    pub fn talked(&self) -> impl Iterator<Item = &str> {
        let earlier = self.recent.iter().rev();
        self.listed.iter().chain(earlier).map(String::as_str)
    }

    /// Copies the profile's facts about this visit: party, ages, diets, access and budget. The
    /// profile already has the guest's corrections, so the profile's values replace those stored
    /// here.
    pub fn learn(&mut self, known: &Context) {
        let text = |key| known.get(key).and_then(Value::as_text).map(str::to_owned);
        let number = |value: &Value| value.as_int().and_then(|n| u32::try_from(n).ok());
        let list = |key| {
            let list = known.get(key).and_then(Value::as_list);
            list.map(<[String]>::to_vec).unwrap_or_default()
        };
        self.party = known.get(Key::PartySize).and_then(number).or(self.party);
        let ending = |end: &'static str| {
            let facts = known.facts.iter();
            facts.filter(move |fact| {
                fact.path.starts_with("companions.") && fact.path.ends_with(end)
            })
        };
        self.ages = ending(".age")
            .filter_map(|fact| number(&fact.value))
            .collect();
        let child = |value: &Value| {
            value
                .as_text()
                .is_some_and(|kin| ["child", "grandchild"].contains(&kin))
        };
        let kids = known.get(Key::KidsMenu) == Some(&Value::Bool(true));
        self.children |= kids || ending(".relationship").any(|fact| child(&fact.value));
        self.diets = list(Key::Dietary);
        let companions = ending(".preferences.dining");
        for fact in companions {
            if let Value::List(diets) = &fact.value {
                let new = diets.iter().filter(|diet| !self.diets.contains(diet));
                let new: Vec<String> = new.cloned().collect();
                self.diets.extend(new);
            }
        }
        self.step_free |= !list(Key::Accessibility).is_empty();
        self.budget = text(Key::Budget).or_else(|| self.budget.take());
    }

    /// Returns whether party size, ages, diets or access needs differ from the earlier state.
    pub fn is_news(&self, earlier: &Self) -> bool {
        (self.party, &self.ages, &self.diets, self.step_free)
            != (
                earlier.party,
                &earlier.ages,
                &earlier.diets,
                earlier.step_free,
            )
    }

    /// Returns whether the party includes somebody too young for a place for adults.
    pub fn has_minors(&self) -> bool {
        self.children || self.young || self.ages.iter().any(|age| *age < ADULT_AGE_YEARS)
    }

    /// Returns whether somebody in the party is, or may be, too young for a show from 18 years.
    pub fn may_have_children(&self) -> bool {
        let of_age = |age: &u32| (COMING_OF_AGE_YEARS..ADULT_AGE_YEARS).contains(age);
        let unknown = self.children || self.young;
        let children = self.ages.iter().any(|age| *age < COMING_OF_AGE_YEARS);
        children || unknown && !self.ages.iter().any(of_age)
    }

    /// Returns whether the host may ask something about the guest. The host never asks in two
    /// replies in a row, nor after a complaint or trouble. It asks at most `MOST_QUESTIONS` times
    /// in a session. `topic::next` limits the tries per topic.
    pub fn may_ask(&self) -> bool {
        !self.grave && !self.asked_last && self.asked.len() < MOST_QUESTIONS
    }

    /// Returns whether the dialogue already answers a question about the topic.
    pub fn knows(&self, topic: Topic) -> bool {
        match topic {
            Topic::PartySize => self.party.is_some(),
            Topic::VisitDate => self.date.is_some(),
            _ => false,
        }
    }

    /// Begins a request in a category. If the category changes, forgets wishes and rows already
    /// named.
    pub fn begin(&mut self, category: &str) {
        if self.category.as_deref() != Some(category) {
            self.category = Some(category.to_owned());
            self.wishes.clear();
            self.shown.clear();
        }
    }

    /// Adds words for things that the guest wants, or does not want, and keeps only the newest
    /// `MOST_WORDS`.
    pub fn note(words: &mut Vec<String>, new: impl IntoIterator<Item = String>) {
        for word in new {
            words.retain(|known| *known != word);
            words.push(word);
        }
        words.drain(..words.len().saturating_sub(MOST_WORDS));
    }

    fn remember(known: &mut Vec<String>, rows: &[String]) {
        known.retain(|row| !rows.contains(row));
        known.extend_from_slice(rows);
        known.drain(..known.len().saturating_sub(MOST_ROWS));
    }

    /// Records a reply: the rows that it named, in the reply's order; the topic that the host asked
    /// about; and whether the reply ended with a question.
    pub fn told(&mut self, rows: &[String], asked: Option<Topic>, question: bool) {
        if !rows.is_empty() {
            self.listed = rows.to_vec();
            Self::remember(&mut self.shown, rows);
            Self::remember(&mut self.recent, rows);
        }
        self.asked.extend(asked);
        self.asked_last = question;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // CONV-25: never two questions in a row, none after trouble
    fn the_host_asks_seldom() {
        let mut state = DialogueState::default();
        assert!(state.may_ask());
        state.told(&[], Some(Topic::Name), true);
        assert!(!state.may_ask(), "two questions in a row");
        state.told(&[], None, false);
        assert!(state.may_ask());
        assert_eq!(state.asked, [Topic::Name]);
        state.grave = true;
        assert!(!state.may_ask());
    }

    #[test]
    fn a_new_category_begins_a_new_request() {
        let mut state = DialogueState::default();
        state.begin("dining");
        state.wishes.push("sushi".to_owned());
        state.told(&["a".to_owned(), "b".to_owned()], None, false);
        state.begin("dining");
        assert_eq!((state.wishes.len(), state.shown.len()), (1, 2));
        state.begin("spa");
        assert!(state.wishes.is_empty() && state.shown.is_empty());
        assert_eq!(state.listed, ["a", "b"]);
    }

    #[test]
    fn it_grows_to_a_limit_and_survives_storing() {
        let mut state = DialogueState::default();
        for n in 0..40 {
            state.told(&[format!("row_{n}")], None, false);
            DialogueState::note(&mut state.dislikes, [format!("kind_{n}")]);
        }
        assert_eq!(state.shown.len(), MOST_ROWS);
        assert_eq!(state.dislikes.len(), MOST_WORDS);
        let json = serde_json::to_value(&state).unwrap();
        assert_eq!(
            serde_json::from_value::<DialogueState>(json).unwrap(),
            state
        );
        let old: DialogueState = serde_json::from_str("{}").unwrap();
        assert_eq!(old, DialogueState::default());
    }
}
