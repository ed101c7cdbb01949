//! The host's part of a pack: all words that the offline host knows and says, as data
//! (`packs/casino/host.toml`).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use seven_domain::Language;
use seven_knowledge::Category;
use seven_text::{stem, words};

use super::{
    language::Tongue,
    phrases::Phrases,
    spelling::Speller,
    subject::{self, Subject, SubjectFile},
};
use seven_llm::Error;

/// The parsed pack. Reading checks every key that the code uses, so that no wording is missing
/// later.
#[derive(Debug, Clone)]
pub struct HostPack {
    pub(crate) language: Tongue,
    /// The lowest score at which a row counts as an answer.
    pub(crate) threshold: f32,
    pub(crate) intents: BTreeMap<String, Phrases>,
    pub(crate) facets: BTreeMap<String, Phrases>,
    /// Phrases from which an act is recognised. The words of these phrases stay in
    /// `Understood::leftover`; the words of intents and facets do not.
    pub(crate) acts: BTreeMap<String, Phrases>,
    pub(crate) times: BTreeMap<String, Phrases>,
    /// Words that do not show what the guest wants.
    pub(crate) ignore: BTreeSet<String>,
    ignored_stems: BTreeSet<String>,
    pub(crate) topics: Vec<Topic>,
    /// Subjects that the host offers to look up, if the casino has content for them. The subjects
    /// that guests ask about most come first.
    pub(crate) named_subjects: Vec<NamedSubject>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) particulars: Vec<Particular>,
    pub(crate) services: Vec<Service>,
    /// Phrases for things such as a lifeguard. A question about such a thing is answered only from
    /// a row with the same phrase.
    pub(crate) literal: Phrases,
    /// Groups of phrases in `literal` with the same meaning.
    pub(crate) same: Vec<Vec<String>>,
    /// Phrases by which a guest says that only adults come, such as "my husband and me".
    pub(crate) grown: Phrases,
    /// How guests ask whether there is something: "do you have".
    pub(crate) exists: Phrases,
    pub(crate) cautions: Vec<Caution>,
    /// The things that guests complain about, the most telling first.
    pub(crate) grievances: Vec<Grievance>,
    /// For each allergen (named as in guests' profiles), phrases in a restaurant's texts that show
    /// that it serves the allergen.
    pub(crate) allergens: BTreeMap<String, Phrases>,
    /// The learnt subjects that the pack answers, by their keys.
    pub(crate) subjects: BTreeMap<String, Subject>,
    pub(crate) speller: Speller,
    say: BTreeMap<String, Wording>,
    values_es: BTreeMap<String, String>,
    replace_es: Vec<Replace>,
}

/// A content category, with the words that guests use for it.
#[derive(Debug, Clone)]
pub(crate) struct Topic {
    pub(crate) category: Category,
    pub(crate) phrases: Phrases,
    /// Words that name the category and also narrow it, such as "massage".
    pub(crate) also: Phrases,
    label: (String, String),
}

/// A content category as the host names it among others: "restaurants, the spa and more".
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedSubject {
    pub(crate) category: String,
    en: String,
    es: String,
}

/// A narrower wish for a place to eat or drink, such as a cuisine, a bar or vegan food.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    /// The first phrase of the kind, under which the state of a dialogue stores it.
    pub(crate) name: String,
    pub(crate) field: Field,
    pub(crate) values: Vec<String>,
    pub(crate) phrases: Phrases,
}

/// A narrower wish inside any category, such as live music. `phrases` has the guests' words for it,
/// `values` the words of the rows that meet it.
#[derive(Debug, Clone)]
pub(crate) struct Particular {
    pub(crate) category: Category,
    pub(crate) values: Vec<String>,
    pub(crate) phrases: Phrases,
}

/// A service, with the phrases that guests use for it and the values by which its row is found.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    pub(crate) phrases: Phrases,
    pub(crate) values: Vec<String>,
    pub(crate) categories: Vec<Category>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Field {
    Cuisine,
    Subcategory,
    Price,
    Dietary,
    Kids,
    /// A dish or meal in the keywords or the description: "pizza", "breakfast".
    Serves,
}

// --- the file as written

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    threshold: f32,
    language: LanguageFile,
    shorthand: BTreeMap<String, String>,
    intents: BTreeMap<String, Pair<Vec<String>>>,
    facets: BTreeMap<String, Pair<Vec<String>>>,
    acts: BTreeMap<String, Pair<Vec<String>>>,
    times: BTreeMap<String, Pair<Vec<String>>>,
    ignore: Ignore,
    topics: BTreeMap<String, TopicFile>,
    named_subjects: Vec<NamedSubject>,
    kinds: Vec<KindFile>,
    wishes: Vec<ParticularFile>,
    #[serde(default)]
    services: Vec<ServiceFile>,
    #[serde(default)]
    literal: Literal,
    #[serde(default)]
    grown: Vec<String>,
    #[serde(default)]
    exists: Vec<String>,
    #[serde(default)]
    cautions: Vec<CautionFile>,
    #[serde(default)]
    grievances: Vec<GrievanceFile>,
    #[serde(default)]
    allergens: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    subjects: BTreeMap<String, SubjectFile>,
    say: BTreeMap<String, Wording>,
    values_es: BTreeMap<String, String>,
    replace_es: Vec<Replace>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageFile {
    pub(crate) en: String,
    pub(crate) es: String,
    pub(crate) prefer: Pair<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair<T> {
    pub(crate) en: T,
    pub(crate) es: T,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    words: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicFile {
    label: Pair<String>,
    words: Pair<Vec<String>>,
    also: Pair<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replace {
    from: String,
    to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindFile {
    field: Field,
    values: Vec<String>,
    words: Vec<String>,
}

/// A condition of a guest, such as a pregnancy:
/// - `said`: how guests name it;
/// - `rows`: how rows name it when they warn of it;
/// - `unfit`: phrases of rows that do not suit such a guest, although these rows give no warning.
#[derive(Debug, Clone)]
pub(crate) struct Caution {
    pub(crate) said: Phrases,
    pub(crate) rows: Phrases,
    pub(crate) unfit: Phrases,
}

impl Caution {
    fn new(file: &CautionFile) -> Self {
        Self {
            said: Phrases::new(&file.said),
            rows: Phrases::new(&file.rows),
            unfit: Phrases::new(&file.unfit),
        }
    }
}

/// A thing that guests complain about: how they name it, and its name after "I am sorry about".
#[derive(Debug, Clone)]
pub(crate) struct Grievance {
    pub(crate) said: Phrases,
    names: (String, String),
}

impl Grievance {
    fn new(file: GrievanceFile) -> Self {
        Self {
            said: Phrases::new(&file.said),
            names: (file.en, file.es),
        }
    }

    pub(crate) fn name(&self, language: Language) -> &str {
        match language {
            Language::En => &self.names.0,
            Language::Es => &self.names.1,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrievanceFile {
    said: Vec<String>,
    en: String,
    es: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CautionFile {
    said: Vec<String>,
    rows: Vec<String>,
    #[serde(default)]
    unfit: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParticularFile {
    topic: String,
    values: Vec<String>,
    words: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceFile {
    words: Vec<String>,
    values: Vec<String>,
    categories: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Literal {
    words: Vec<String>,
    same: Vec<Vec<String>>,
}

/// One thing that the host says, with its alternative wordings in both languages.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wording {
    en: Vec<String>,
    es: Vec<String>,
}

pub(crate) const INTENTS: [&str; 18] = [
    "greeting",
    "thanks",
    "goodbye",
    "identity",
    "wrong_number",
    "human",
    "ack",
    "decline",
    "statement",
    "booking",
    "recommend",
    "help",
    "listing",
    "complaint",
    "rules",
    "allergy",
    "limits",
    "cheapest",
];
pub(crate) const FACETS: [&str; 16] = [
    "couples",
    "open",
    "opens",
    "closes",
    "hours",
    "price",
    "where",
    "dress",
    "kids",
    "dietary",
    "reservations",
    "age",
    "phone",
    "duration",
    "about",
    "starts",
];
const ACTS: [&str; 21] = [
    "booking",
    "human",
    "sarcasm",
    "complaint",
    "account",
    "change",
    "comp",
    "compare",
    "accept",
    "reject",
    "correct",
    "more",
    "details",
    "competitor",
    "smalltalk",
    "thanks",
    "goodbye",
    "narrow",
    "party",
    "policy",
    "recommend",
];
const TIMES: [&str; 15] = [
    "leaving",
    "then",
    "now",
    "tonight",
    "evening",
    "late",
    "today",
    "tomorrow",
    "morning",
    "afternoon",
    "weekend",
    "week",
    "lunchtime",
    "noon",
    "midnight",
];
const SAY: &str = include_str!("say_keys.txt");

// === impl Kind ===

impl Kind {
    /// Returns whether the kind is a condition of the guests, such as a diet. Cuisines, dishes,
    /// prices and kinds of place are not.
    pub(crate) fn is_condition(&self) -> bool {
        matches!(self.field, Field::Kids | Field::Dietary)
    }
}

// === impl NamedSubject ===

impl NamedSubject {
    pub(crate) fn name(&self, language: Language) -> &str {
        match language {
            Language::En => &self.en,
            Language::Es => &self.es,
        }
    }
}

// === impl HostPack ===

impl HostPack {
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let file: File = toml::from_str(text).map_err(|error| Error::Pack(Box::new(error)))?;
        for (table, known, present) in [
            (
                "intents",
                INTENTS.as_slice(),
                file.intents.keys().collect::<Vec<_>>(),
            ),
            ("facets", FACETS.as_slice(), file.facets.keys().collect()),
            ("acts", ACTS.as_slice(), file.acts.keys().collect()),
            ("times", TIMES.as_slice(), file.times.keys().collect()),
            (
                "say",
                SAY.split_whitespace().collect::<Vec<_>>().as_slice(),
                file.say.keys().collect(),
            ),
        ] {
            if let Some(missing) = known.iter().find(|k| !present.iter().any(|p| p == *k)) {
                return Err(Error::PackContent(format!(
                    "[{table}.{missing}] is missing"
                )));
            }
            if let Some(stray) = present.iter().find(|p| !known.contains(&p.as_str())) {
                return Err(Error::PackContent(format!(
                    "[{table}.{stray}] is not used by anything"
                )));
            }
        }
        let stray = |key: &&String| !subject::KEYS.contains(&key.as_str());
        if let Some(key) = file.subjects.keys().find(stray) {
            return Err(Error::PackContent(format!(
                "[subjects.{key}] is no subject; the subjects are: {}",
                subject::KEYS.join(", ")
            )));
        }
        if let Some((key, _)) = file
            .say
            .iter()
            .find(|(_, w)| w.en.is_empty() || w.es.is_empty())
        {
            return Err(Error::PackContent(format!(
                "[say.{key}] needs a wording in each language"
            )));
        }
        let speller = Speller::new(file.shorthand, text);
        let compile = |table: BTreeMap<String, Pair<Vec<String>>>| -> BTreeMap<String, Phrases> {
            table
                .into_iter()
                .map(|(key, pair)| (key, Phrases::new(pair.en.iter().chain(&pair.es))))
                .collect()
        };
        let topic = |(name, topic): (String, TopicFile)| Topic {
            category: name.into(),
            phrases: Phrases::new(topic.words.en.iter().chain(&topic.words.es)),
            also: Phrases::new(topic.also.en.iter().chain(&topic.also.es)),
            label: (topic.label.en, topic.label.es),
        };
        let kind = |kind: KindFile| Kind {
            name: kind
                .words
                .first()
                .map_or_else(String::new, |word| word.trim_end_matches('*').to_owned()),
            field: kind.field,
            values: kind.values,
            phrases: Phrases::new(&kind.words),
        };
        let particular = |wish: ParticularFile| Particular {
            category: wish.topic.into(),
            values: wish.values,
            phrases: Phrases::new(&wish.words),
        };
        let service = |service: ServiceFile| Service {
            phrases: Phrases::new(&service.words),
            values: service.values,
            categories: service.categories.into_iter().map(Category::from).collect(),
        };
        Ok(Self {
            language: Tongue::new(&file.language),
            threshold: file.threshold,
            intents: compile(file.intents),
            facets: compile(file.facets),
            acts: compile(file.acts),
            times: compile(file.times),
            ignored_stems: words(&file.ignore.words)
                .iter()
                .map(|word| stem(word))
                .collect(),
            ignore: words(&file.ignore.words).into_iter().collect(),
            topics: file.topics.into_iter().map(topic).collect(),
            named_subjects: file.named_subjects,
            kinds: file.kinds.into_iter().map(kind).collect(),
            particulars: file.wishes.into_iter().map(particular).collect(),
            services: file.services.into_iter().map(service).collect(),
            literal: Phrases::new(&file.literal.words),
            same: file.literal.same,
            grown: Phrases::new(&file.grown),
            exists: Phrases::new(&file.exists),
            cautions: file.cautions.iter().map(Caution::new).collect(),
            grievances: file.grievances.into_iter().map(Grievance::new).collect(),
            allergens: file
                .allergens
                .into_iter()
                .map(|(name, words)| (name, Phrases::new(&words)))
                .collect(),
            subjects: file
                .subjects
                .into_iter()
                .map(|(key, subject)| (key, Subject::new(subject)))
                .collect(),
            speller,
            say: file.say,
            values_es: file.values_es,
            replace_es: file.replace_es,
        })
    }

    /// Returns the wording of `key` that `seed` picks, with its slots filled. One seed always picks
    /// the same wording.
    pub(crate) fn say(
        &self,
        key: &str,
        language: Language,
        seed: u64,
        slots: &[(&str, &str)],
    ) -> String {
        let Some(wording) = self.say.get(key) else {
            return String::new();
        };
        let choices = match language {
            Language::En => &wording.en,
            Language::Es => &wording.es,
        };
        // Mixes the key into the seed, so that one seed picks different wordings for different
        // keys.
        let spread = key.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
        let pick = usize::try_from((spread >> 32) % choices.len() as u64).unwrap_or(0);
        let mut text = choices[pick].clone();
        for (slot, value) in slots {
            text = text.replace(&format!("{{{slot}}}"), value);
        }
        text
    }

    /// Returns whether the word, with any ending, does not show what the guest wants.
    pub(crate) fn ignores(&self, word: &str) -> bool {
        self.ignore.contains(word) || self.ignored_stems.contains(&stem(word))
    }

    /// Returns a fixed value of the content, such as "Smart casual", in the guest's language.
    pub(crate) fn value(&self, value: &str, language: Language) -> String {
        match language {
            Language::En => value.to_owned(),
            Language::Es => self.values_es.get(value).cloned().unwrap_or_else(|| {
                let replaced = self.replace_es.iter();
                replaced.fold(value.to_owned(), |text, r| text.replace(&r.from, &r.to))
            }),
        }
    }

    /// Returns the name of a category: "restaurants", "restaurantes".
    pub(crate) fn label(&self, category: &Category, language: Language) -> String {
        let label = self
            .topics
            .iter()
            .find(|t| t.category == *category)
            .map(|t| &t.label);
        label.map_or_else(
            || category.as_str().replace('_', " "),
            |(en, es)| if language == Language::En { en } else { es }.clone(),
        )
    }
}
