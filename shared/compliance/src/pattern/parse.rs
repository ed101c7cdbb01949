//! Parses the notation of patterns into elements.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::normal::is_han;

/// The reason why a pattern cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("there is no group @{0}")]
    NoGroup(String),
    #[error("group @{0} is made of itself")]
    Circle(String),
    #[error("`{0}` is not a word in lower case without accents")]
    Word(String),
    #[error("`{0}` is not a number element")]
    Number(String),
    #[error("a pattern needs a word")]
    Empty,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Element<'a> {
    One(Arc<Alternatives<'a>>),
    Optional(Arc<Alternatives<'a>>),
    Many(Arc<Alternatives<'a>>),
    NotAfter(Arc<Alternatives<'a>>),
    NotBefore(Arc<Alternatives<'a>>),
    /// At most this number of words, none of which is one of the alternatives.
    Words(u8, Arc<Alternatives<'a>>),
    Any,
    Start,
    End,
    Label,
}

/// A sorted list of alternatives. Each alternative is one or more consecutive words. The
/// alternatives of `groups` belong to the list too.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alternatives<'a> {
    pub(crate) phrases: Vec<Phrase<'a>>,
    /// Shared, because one group has hundreds of words and belongs to hundreds of lists.
    pub(crate) groups: Vec<Arc<Alternatives<'a>>>,
}

/// Consecutive words as the pack writes them. They are parsed only when needed, because a list has
/// thousands of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Phrase<'a>(&'a str);

impl<'a> Phrase<'a> {
    fn new(text: &'a str) -> Result<Self, Problem> {
        Self(text).read().try_for_each(|term| term.map(drop))?;
        Ok(Self(text))
    }

    pub(crate) fn terms(self) -> impl Iterator<Item = Term<'a>> {
        self.read().filter_map(Result::ok)
    }

    fn read(self) -> impl Iterator<Item = Result<Term<'a>, Problem>> {
        self.0
            .split(['_', ' '])
            .filter(|word| !word.is_empty())
            .flat_map(characters)
            .map(term)
    }
}

impl Alternatives<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.phrases.is_empty() && self.groups.iter().all(|group| group.is_empty())
    }
}

/// Hashes only the first and the last phrase of a list, which suffice to distinguish lists. To hash
/// all words would take most of a worker's start.
impl Hash for Alternatives<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            self.phrases.len(),
            self.phrases.first(),
            self.phrases.last(),
        )
            .hash(state);
        (self.groups.len(), self.groups.first(), self.groups.last()).hash(state);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Term<'a> {
    Word(&'a str),
    Prefix(&'a str),
    Number(Number),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Number {
    /// Whether the number is a code, that is, has letters as well as digits.
    code: bool,
    digits: (u8, u8),
    value: (u64, u64),
}

impl Number {
    pub(crate) fn fits(self, word: &str) -> bool {
        let digits =
            u8::try_from(word.bytes().filter(u8::is_ascii_digit).count()).unwrap_or(u8::MAX);
        if self.code != (usize::from(digits) < word.len()) {
            return false;
        }
        (self.digits.0..=self.digits.1).contains(&digits)
            && (self.value == (0, u64::MAX)
                || word
                    .parse::<u64>()
                    .is_ok_and(|value| (self.value.0..=self.value.1).contains(&value)))
    }
}

/// Named groups of alternatives, which may refer to each other.
#[derive(Debug, Default)]
pub(crate) struct Groups<'a> {
    lists: BTreeMap<&'a str, &'a str>,
    /// The groups that have been parsed.
    known: RefCell<BTreeMap<&'a str, Arc<Alternatives<'a>>>>,
}

impl<'a> Groups<'a> {
    pub(crate) fn new(groups: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self {
            lists: groups.into_iter().collect(),
            known: RefCell::default(),
        }
    }

    pub(crate) fn alternatives(&self, list: &'a str) -> Result<Arc<Alternatives<'a>>, Problem> {
        self.collect(list, &mut Vec::new()).map(Arc::new)
    }

    fn collect(
        &self,
        list: &'a str,
        inside: &mut Vec<&'a str>,
    ) -> Result<Alternatives<'a>, Problem> {
        let mut out = Alternatives::default();
        for one in list.split('|').map(str::trim).filter(|one| !one.is_empty()) {
            let Some(name) = one.strip_prefix('@') else {
                out.phrases.push(Phrase::new(one)?);
                continue;
            };
            if inside.contains(&name) {
                return Err(Problem::Circle(name.to_owned()));
            }
            let (&name, &list) = self
                .lists
                .get_key_value(name)
                .ok_or_else(|| Problem::NoGroup(name.to_owned()))?;
            let known = self.known.borrow().get(name).cloned();
            out.groups.push(match known {
                Some(group) => group,
                None => {
                    inside.push(name);
                    let group = Arc::new(self.collect(list, inside)?);
                    inside.pop();
                    self.known.borrow_mut().insert(name, Arc::clone(&group));
                    group
                }
            });
        }
        out.phrases.sort();
        out.phrases.dedup();
        out.groups.sort();
        out.groups.dedup();
        Ok(out)
    }

    /// Parses a pattern into its parts, which are separated by `&` and must all be found.
    pub(crate) fn pattern(&self, text: &'a str) -> Result<Vec<Vec<Element<'a>>>, Problem> {
        let parts = text.split(" & ").map(|part| {
            part.split_whitespace()
                .map(|one| self.element(one))
                .collect()
        });
        let parts = parts.collect::<Result<Vec<Vec<_>>, _>>()?;
        let has_word = |part: &Vec<Element<'_>>| {
            part.iter()
                .any(|element| matches!(element, Element::One(_)))
        };
        if parts.iter().all(has_word) {
            Ok(parts)
        } else {
            Err(Problem::Empty)
        }
    }

    fn element(&self, text: &'a str) -> Result<Element<'a>, Problem> {
        let list = |rest| self.alternatives(rest);
        let (sign, rest) = text.split_at_checked(1).unwrap_or((text, ""));
        let element = match (sign, rest) {
            ("^", "") => Element::Start,
            ("$", "") => Element::End,
            (".", "") => Element::Any,
            (":", "") => Element::Label,
            ("?", _) => Element::Optional(list(rest)?),
            ("*", _) => Element::Many(list(rest)?),
            ("<", _) => Element::NotAfter(list(rest)?),
            (">", _) => Element::NotBefore(list(rest)?),
            ("~", _) => {
                let (most, without) = rest.split_once('!').unwrap_or((rest, ""));
                let most = most.parse().ok().filter(|most| (1..=12).contains(most));
                Element::Words(
                    most.ok_or_else(|| Problem::Number(text.to_owned()))?,
                    list(without)?,
                )
            }
            _ => Element::One(list(text)?),
        };
        match &element {
            Element::One(list) | Element::Optional(list) | Element::Many(list)
                if list.is_empty() =>
            {
                Err(Problem::Empty)
            }
            _ => Ok(element),
        }
    }
}

/// Splits a word before and after each Chinese character, as folding does.
fn characters(word: &str) -> impl Iterator<Item = &str> {
    word.split_inclusive(is_han).flat_map(|part| {
        let han = part.chars().next_back().filter(|c| is_han(*c));
        let (before, last) = part.split_at(part.len() - han.map_or(0, char::len_utf8));
        [before, last].into_iter().filter(|part| !part.is_empty())
    })
}

fn term(word: &str) -> Result<Term<'_>, Problem> {
    if let Some(range) = word.strip_prefix('#') {
        return number(range)
            .map(Term::Number)
            .ok_or_else(|| Problem::Number(word.to_owned()));
    }
    let (stem, prefix) = word
        .strip_suffix('*')
        .map_or((word, false), |stem| (stem, true));
    let is_folded = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || is_han(c);
    let folded = !stem.is_empty() && stem.chars().all(is_folded);
    match (folded, prefix) {
        (false, _) => Err(Problem::Word(word.to_owned())),
        (true, false) => Ok(Term::Word(stem)),
        (true, true) => Ok(Term::Prefix(stem)),
    }
}

fn number(range: &str) -> Option<Number> {
    let all = Number {
        code: false,
        digits: (1, u8::MAX),
        value: (0, u64::MAX),
    };
    let (list, by_digits) = range
        .strip_suffix('d')
        .map_or((range, false), |list| (list, true));
    let (low, high) = list.split_once('-').unwrap_or((list, list));
    Some(match (range, by_digits) {
        ("", _) => all,
        ("code", _) => Number {
            code: true,
            digits: (3, u8::MAX),
            ..all
        },
        (_, true) => Number {
            digits: (low.parse().ok()?, high.parse().ok()?),
            ..all
        },
        (_, false) => Number {
            value: (low.parse().ok()?, high.parse().ok()?),
            ..all
        },
    })
}
