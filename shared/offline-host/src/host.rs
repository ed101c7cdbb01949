//! A request together with the pack; every answer is made from both.

use std::{collections::HashSet, sync::Arc};

use chrono::NaiveDateTime;
use seven_domain::Language;
use seven_guest::DialogueState;
use seven_knowledge::{Category, Item};
use seven_llm::{Request, StaffKind, StaffRequest};

use crate::{
    asked::Asked,
    finding::{Findings, Observer},
    fit::{Part, Room, join_names},
    pack::{Caution, Field, HostPack, Kind},
    understand::{Understood, Wish},
    when::{Day, Time, When},
};

/// The request, the pack, the reply's language and the room for the reply. Every function that
/// composes an answer needs them.
#[derive(Clone, Copy)]
pub(crate) struct Host<'a> {
    pub(crate) pack: &'a HostPack,
    pub(crate) request: &'a Request,
    pub(crate) language: Language,
    pub(crate) room: Room<'a>,
    /// The state of the dialogue, this text included.
    pub(crate) state: &'a DialogueState,
    /// Stems of all words that occur in the names and keywords of rows.
    pub(crate) listed: &'a HashSet<String>,
    /// Conditions that the guest has named and that rows may warn of, such as a pregnancy.
    pub(crate) cautions: &'a [&'a Caution],
    /// The sentence that is being answered, if the finder of facts may read it (D48).
    pub(crate) asked: Option<&'a Asked<'a>>,
}

/// Maximum number of subjects that a greeting names.
const FEW_SUBJECTS: usize = 3;

impl<'a> Host<'a> {
    pub(crate) fn say(&self, key: &str, slots: &[(&str, &str)]) -> String {
        let r = self.request;
        let subjects = self.subjects();
        let few = &subjects[..subjects.len().min(FEW_SUBJECTS)];
        let (few, all) = (few.join(", "), subjects.join(", "));
        let fixed = [
            ("casino", r.casino_name.as_str()),
            ("phone", &r.contact_phone),
            ("persona", &r.persona),
            ("subjects", &few),
            ("all_subjects", &all),
        ];
        let all: Vec<(&str, &str)> = slots.iter().copied().chain(fixed).collect();
        self.pack.say(key, self.language, r.seed, &all)
    }

    /// Returns what the finder finds for the sentence that is being answered; `None` if the host
    /// reads words only.
    pub(crate) fn found(&self) -> Option<&'a Findings> {
        self.asked?.findings()
    }

    pub(crate) fn observer(&self) -> Option<&'a Observer> {
        self.asked?.observer()
    }

    /// Returns the pack's names of the subjects for which the casino has content; if it has none,
    /// the pack's `no_subject` wording.
    fn subjects(&self) -> Vec<String> {
        let named = self.pack.named_subjects.iter();
        let subjects: Vec<String> = named
            .filter(|subject| {
                let category = Category::from(subject.category.clone());
                self.request.index.has(&category, self.request.now)
            })
            .map(|subject| subject.name(self.language).to_owned())
            .collect();
        if subjects.is_empty() {
            vec![self.pack.say("no_subject", self.language, 0, &[])]
        } else {
            subjects
        }
    }

    pub(crate) fn part(&self, intent: &str, body: String, items: &[Arc<Item>]) -> Part {
        let sources = items.iter().map(|i| i.id.clone()).collect();
        Part {
            intent: intent.to_owned(),
            body,
            sources,
            grounded: true,
            ..Part::default()
        }
    }

    /// Says that no row answers the question, and how to reach people.
    pub(crate) fn unanswered(&self) -> Part {
        self.passed_on("unanswered", self.say("unanswered", &[]), "")
    }

    /// Says that the row does not answer the question, and passes the question on to a person.
    pub(crate) fn missing(&self, row: &Item) -> Part {
        let body = self.say("missing", &[("name", &self.name(row))]);
        self.passed_on("unanswered", body, &row.id)
    }

    /// Says that the content does not answer the question, and passes the question on to a person.
    pub(crate) fn passed_on(&self, intent: &str, body: String, subject: &str) -> Part {
        Part {
            grounded: false,
            staff: Some(StaffRequest {
                kind: StaffKind::Question,
                subject: subject.to_owned(),
                request: None,
            }),
            ..self.part(intent, body, &[])
        }
    }

    /// Returns the item's name for the reply. Treatments and services have a Spanish name for
    /// Spanish replies; restaurants keep their own.
    pub(crate) fn name(&self, item: &Item) -> String {
        match (self.language, &item.category) {
            (Language::En, _) | (_, Category::Dining) => item.name.clone(),
            (Language::Es, _) => item.name(Language::Es).to_owned(),
        }
    }

    /// Returns the item's description in the reply's language.
    pub(crate) fn description(&self, item: &Item) -> String {
        item.description(self.language).to_owned()
    }

    pub(crate) fn read(&self, text: &'a str) -> Understood<'a> {
        Understood::read(self.pack, self.request, text)
    }

    /// Returns the kinds and wishes that `word`, a word stored in the state of the dialogue, names.
    pub(crate) fn words(&self, word: &'a str, category: &Category) -> (Vec<&'a Kind>, Vec<Wish>) {
        let read = self.read(word);
        let of_it = |wish: &Wish| wish.category == *category && wish.known;
        let wishes = read.wishes.iter().filter(|wish| of_it(wish)).cloned();
        (read.kinds.clone(), wishes.collect())
    }

    /// Returns the pack's kinds for the diets of the party. An allergy has no kind, because no row
    /// lists allergies.
    pub(crate) fn diets(&self) -> Vec<&'a Kind> {
        let diets = self
            .state
            .diets
            .iter()
            .filter(|diet| !diet.starts_with("allergy"));
        diets
            .flat_map(|diet| self.words(diet, &Category::Dining).0)
            .filter(|kind| kind.field == Field::Dietary)
            .collect()
    }

    /// Returns the day and time for which the guest plans.
    pub(crate) fn planned(&self) -> When {
        When {
            day: self.state.date.map(Day::Date),
            time: self.state.minute.map(Time::Clock),
        }
    }

    /// Returns the time that the text names, or else the time for which the guest plans.
    pub(crate) fn when_of(&self, u: &Understood<'_>) -> When {
        let planned = self.planned();
        let day = u.when.day.or(planned.day);
        match u.when.time {
            Some(time) => When {
                // "Now" and "tonight" mean today, whatever day the visit is planned for.
                day: if time == Time::Now || self.says_tonight(u) {
                    u.when.day
                } else {
                    day
                },
                time: Some(time),
            },
            None if u.when.day.is_some() => When {
                day,
                time: planned.time,
            },
            None => planned,
        }
    }

    fn says_tonight(&self, u: &Understood<'_>) -> bool {
        let tonight = self.pack.times.get("tonight");
        tonight.is_some_and(|phrases| phrases.found(&u.said))
    }

    pub(crate) fn local(&self) -> NaiveDateTime {
        self.request
            .now
            .with_timezone(&self.request.zone)
            .naive_local()
    }

    pub(crate) fn and(&self) -> &'static str {
        if self.language == Language::En {
            "and"
        } else {
            "y"
        }
    }

    /// Writes the first `count` entries as "A, B and C", or as "A, B and 3 more" if there are
    /// others.
    pub(crate) fn first_of(&self, entries: &[String], count: usize) -> String {
        match entries.len().saturating_sub(count) {
            0 => join_names(entries, self.and()),
            more => self.say(
                "and_more",
                &[
                    ("list", &entries[..count].join(", ")),
                    ("count", &more.to_string()),
                ],
            ),
        }
    }

    pub(crate) fn items(&self, category: &Category) -> Vec<Arc<Item>> {
        self.request.index.by_category(category, self.request.now)
    }
}
