//! Compiles all patterns into one program. For each list of alternatives, a bit mask marks where
//! one of them occurs. A pattern is tried only if its rarest list, its anchor, occurs in the text.

use std::{collections::HashMap, sync::Arc};

use super::{
    lexicon::Lexicon,
    parse::{Alternatives, Element, Phrase},
    reading::Symbol,
    typo::index,
};

/// A rule. It matches if one of its patterns is found and none of `unless` is.
#[derive(Debug, Default)]
pub(crate) struct Rule<'a> {
    pub(crate) patterns: Vec<Vec<Vec<Element<'a>>>>,
    pub(crate) unless: Vec<Vec<Vec<Element<'a>>>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) lexicon: Lexicon,
    /// The lists in which each symbol is used, in three fields: as the anchor of a pattern,
    /// elsewhere in a pattern, or only in exclusions (`unless`).
    pub(super) anchors: Uses,
    pub(super) others: Uses,
    pub(super) excuses: Uses,
    pub(super) phrases: Lists,
    /// The number of masks: one per symbol (a word), then one per slot (see [`Class`]).
    pub(super) masks: usize,
    pub(super) classes: Vec<Class>,
    pub(super) patterns: Vec<Pattern>,
    /// For each mask, the patterns to try if the mask is not empty.
    pub(super) anchored: Lists,
    pub(super) unless: Vec<Vec<Pattern>>,
    pub(super) courtesy: ClassId,
    base: Reach,
}

/// How many of the masks and patterns a search uses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reach {
    pub(super) masks: u32,
    pub(super) patterns: u32,
}

/// The part of a program to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Keywords and opt-outs, which are the same in every program.
    Base,
    Whole,
}

/// A list of alternatives, as pairs of a length in words and a mask. The mask marks where an
/// alternative of that length occurs. A long list has its own mask per length, called a slot.
pub(super) type Class = Vec<(u32, u32)>;
pub(super) type ClassId = usize;

#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) rule: u32,
    pub(super) parts: Vec<Vec<Step>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    One(ClassId),
    Optional(ClassId),
    Many(ClassId),
    NotAfter(ClassId),
    NotBefore(ClassId),
    Words(u8, Option<ClassId>),
    Any,
    Start,
    End,
    Label,
}

impl Program {
    pub(super) fn reach(&self, part: Part) -> Reach {
        match part {
            Part::Base => self.base,
            Part::Whole => Reach {
                masks: u32::MAX,
                patterns: u32::MAX,
            },
        }
    }
}

impl Step {
    fn class(self) -> Option<ClassId> {
        match self {
            Self::One(class) | Self::Optional(class) | Self::Many(class) => Some(class),
            Self::NotAfter(class) | Self::NotBefore(class) => Some(class),
            Self::Words(_, class) => class,
            Self::Any | Self::Start | Self::End | Self::Label => None,
        }
    }
}

/// For each symbol, the slots in which it is a one-word alternative, and the phrases of which it is
/// the rarest word. For each phrase, its slots.
#[derive(Debug, Clone)]
pub(super) struct Uses {
    pub(super) slots_of: Lists,
    pub(super) phrases_of: Lists,
    pub(super) slots_of_phrase: Lists,
}

/// Many short lists, stored in two vectors to save memory.
#[derive(Debug, Default, Clone)]
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(lists: &[Vec<u32>]) -> Self {
        let mut out = Self {
            starts: vec![0],
            items: Vec::new(),
        };
        for list in lists {
            out.items.extend(list);
            out.starts.push(index(out.items.len()));
        }
        out
    }

    pub(super) fn get(&self, at: u32) -> &[u32] {
        &self.items[self.starts[at as usize] as usize..self.starts[at as usize + 1] as usize]
    }

    /// Returns the items below `end` of a sorted list.
    pub(super) fn before(&self, at: u32, end: u32) -> impl Iterator<Item = &u32> {
        self.get(at).iter().take_while(move |item| **item < end)
    }
}

/// A list of more words than this gets a slot; a shorter list uses the masks of its words.
const FEW: usize = 6;
/// While the program is built, this bit marks a mask number as that of a slot. Slots are numbered
/// after the symbols, whose number is known only at the end.
const SLOT: u32 = 1 << 31;

/// One alternative of a list.
#[derive(Debug, Clone, Copy)]
enum Wording {
    Word(Symbol),
    /// The index of a phrase of several words.
    Phrase(u32),
}

/// Collects patterns; [`Builder::finish`] makes the program from them.
#[derive(Debug, Default)]
pub(crate) struct Builder<'a> {
    pub(crate) lexicon: Lexicon,
    rules: u32,
    classes: Vec<Class>,
    class_ids: HashMap<Arc<Alternatives<'a>>, ClassId>,
    /// For each class, its own words and phrases, and the groups whose words belong to it too.
    class_words: Vec<(Vec<Wording>, Vec<ClassId>)>,
    slots: u32,
    slots_of: Vec<Vec<u32>>,
    phrases: Vec<Vec<Symbol>>,
    phrase_ids: HashMap<Vec<Symbol>, u32>,
    slots_of_phrase: Vec<Vec<u32>>,
    patterns: Vec<Pattern>,
    unless: Vec<Vec<Pattern>>,
    /// The size of the base. Its masks are counted in slots, because the number of symbols is not
    /// known yet.
    base: Reach,
}

impl<'a> Builder<'a> {
    pub(crate) fn add(&mut self, rule: &Rule<'a>) {
        let number = self.rules;
        self.rules += 1;
        for pattern in &rule.patterns {
            let pattern = self.pattern(number, pattern);
            self.patterns.push(pattern);
        }
        let unless = rule
            .unless
            .iter()
            .map(|pattern| self.pattern(number, pattern))
            .collect();
        self.unless.push(unless);
    }

    /// Ends the base, the part that is the same in every program.
    pub(crate) fn end_base(&mut self) {
        self.lexicon.end_base();
        self.base = Reach {
            masks: self.slots,
            patterns: index(self.patterns.len()),
        };
    }

    /// Adds words that are recognised even with a typo, and `real` words that are never corrected.
    pub(crate) fn forgive<'w>(
        &mut self,
        words: impl Iterator<Item = &'w str>,
        real: impl Iterator<Item = &'w str>,
    ) {
        self.lexicon.forgive(words, real);
    }

    fn pattern(&mut self, rule: u32, parts: &[Vec<Element<'a>>]) -> Pattern {
        let parts = parts
            .iter()
            .map(|part| part.iter().map(|element| self.step(element)).collect())
            .collect();
        Pattern { rule, parts }
    }

    fn step(&mut self, element: &Element<'a>) -> Step {
        match element {
            Element::One(list) => Step::One(self.class(list)),
            Element::Optional(list) => Step::Optional(self.class(list)),
            Element::Many(list) => Step::Many(self.class(list)),
            Element::NotAfter(list) => Step::NotAfter(self.class(list)),
            Element::NotBefore(list) => Step::NotBefore(self.class(list)),
            Element::Words(most, list) => {
                Step::Words(*most, (!list.is_empty()).then(|| self.class(list)))
            }
            Element::Any => Step::Any,
            Element::Start => Step::Start,
            Element::End => Step::End,
            Element::Label => Step::Label,
        }
    }

    /// Returns the class of a list. A group gets its slots once, however many lists it belongs to.
    pub(crate) fn class(&mut self, list: &Arc<Alternatives<'a>>) -> ClassId {
        if let Some(&known) = self.class_ids.get(list) {
            return known;
        }
        let words: Vec<(u32, Wording)> =
            list.phrases.iter().map(|one| self.wording(*one)).collect();
        let mut class = Class::new();
        let few = words.iter().filter(|(length, _)| *length == 1).count() <= FEW;
        for &(length, one) in &words {
            if let (Wording::Word(word), true) = (one, few) {
                class.push((length, word));
                continue;
            }
            let slot = match class.iter().find(|(known, _)| *known == length) {
                Some((_, slot)) => *slot ^ SLOT,
                None => {
                    class.push((length, self.slots | SLOT));
                    self.slots += 1;
                    self.slots - 1
                }
            };
            match one {
                Wording::Word(word) => entry(&mut self.slots_of, word as usize).push(slot),
                Wording::Phrase(phrase) => {
                    entry(&mut self.slots_of_phrase, phrase as usize).push(slot);
                }
            }
        }
        let groups: Vec<ClassId> = list.groups.iter().map(|group| self.class(group)).collect();
        for group in &groups {
            class.extend_from_slice(&self.classes[*group]);
        }
        let id = self.classes.len();
        self.classes.push(class);
        self.class_ids.insert(Arc::clone(list), id);
        self.class_words
            .push((words.into_iter().map(|(_, one)| one).collect(), groups));
        id
    }

    /// Returns the alternative, and its length in words.
    fn wording(&mut self, one: Phrase<'_>) -> (u32, Wording) {
        let symbols = self.symbols(one);
        if let [word] = symbols.as_slice() {
            return (1, Wording::Word(*word));
        }
        let number = *self.phrase_ids.entry(symbols.clone()).or_insert_with(|| {
            self.phrases.push(symbols.clone());
            index(self.phrases.len() - 1)
        });
        (index(symbols.len()), Wording::Phrase(number))
    }

    pub(crate) fn symbols(&mut self, phrase: Phrase<'_>) -> Vec<Symbol> {
        phrase
            .terms()
            .map(|term| self.lexicon.intern(term))
            .collect()
    }

    pub(crate) fn finish(mut self, courtesy: ClassId) -> Result<Program, aho_corasick::BuildError> {
        self.lexicon.finish()?;
        let symbols = self.lexicon.len() as usize;
        self.slots_of.resize(symbols, Vec::new());
        self.slots_of_phrase.resize(self.phrases.len(), Vec::new());
        for (_, mask) in self
            .classes
            .iter_mut()
            .flatten()
            .filter(|(_, mask)| *mask & SLOT != 0)
        {
            *mask = (*mask ^ SLOT) + index(symbols);
        }
        let masks = symbols + self.slots as usize;
        let of_slot = |slot: u32| slot as usize + symbols;
        // Estimates how common a word is by how often our own lists use it.
        let mut uses = vec![0_usize; symbols];
        let mut part_of = vec![1_usize; self.class_words.len()];
        // A group has a lower number than the lists that contain it. Going backwards therefore
        // counts all these lists before the group.
        for (id, (words, groups)) in self.class_words.iter().enumerate().rev() {
            words
                .iter()
                .flat_map(|one| one.symbols(&self.phrases))
                .for_each(|s| uses[*s as usize] += part_of[id]);
            groups
                .iter()
                .for_each(|group| part_of[*group] += part_of[id]);
        }
        let rarest = |phrase: &[Symbol]| {
            phrase
                .iter()
                .copied()
                .min_by_key(|symbol| uses[*symbol as usize])
        };
        let mut phrases_of = vec![Vec::new(); symbols];
        for (number, phrase) in self.phrases.iter().enumerate() {
            phrases_of[rarest(phrase).expect("a phrase has words") as usize].push(index(number));
        }
        let mut weights: Vec<usize> = Vec::with_capacity(self.class_words.len());
        for (words, groups) in &self.class_words {
            let own: usize = words
                .iter()
                .filter_map(|one| rarest(one.symbols(&self.phrases)))
                .map(|s| uses[s as usize])
                .sum();
            weights.push(own + groups.iter().map(|group| weights[*group]).sum::<usize>());
        }
        let mut anchored = vec![Vec::new(); masks];
        for (number, pattern) in self.patterns.iter().enumerate() {
            let needed = pattern
                .parts
                .iter()
                .flatten()
                .filter_map(|step| match step {
                    Step::One(class) => Some(*class),
                    _ => None,
                });
            let anchor = needed
                .min_by_key(|class| weights[*class])
                .expect("a pattern needs a word");
            for (_, mask) in &self.classes[anchor] {
                anchored[*mask as usize].push(index(number));
            }
        }
        // Masks that only exclusions use are kept apart, because exclusions are checked only after
        // a rule matches.
        let mut excuse = vec![true; masks];
        let steps = self
            .patterns
            .iter()
            .flat_map(|pattern| pattern.parts.iter().flatten());
        for class in steps.filter_map(|step| step.class()).chain([courtesy]) {
            self.classes[class]
                .iter()
                .for_each(|(_, mask)| excuse[*mask as usize] = false);
        }
        let uses = |wanted: &dyn Fn(usize) -> bool| {
            let only = |lists: &[Vec<u32>]| -> Vec<Vec<u32>> {
                let wanted = |list: &Vec<u32>| {
                    list.iter()
                        .copied()
                        .map(|slot| index(of_slot(slot)))
                        .filter(|mask| wanted(*mask as usize))
                        .collect()
                };
                lists.iter().map(wanted).collect()
            };
            let slots_of_phrase = only(&self.slots_of_phrase);
            let used = |phrases: &Vec<u32>| -> Vec<u32> {
                phrases
                    .iter()
                    .copied()
                    .filter(|phrase| !slots_of_phrase[*phrase as usize].is_empty())
                    .collect()
            };
            Uses {
                slots_of: Lists::new(&only(&self.slots_of)),
                phrases_of: Lists::new(&phrases_of.iter().map(used).collect::<Vec<_>>()),
                slots_of_phrase: Lists::new(&slots_of_phrase),
            }
        };
        let anchor = |mask: usize| !anchored[mask].is_empty();
        Ok(Program {
            anchors: uses(&anchor),
            others: uses(&|mask| !anchor(mask) && !excuse[mask]),
            excuses: uses(&|mask| excuse[mask]),
            anchored: Lists::new(&anchored),
            lexicon: self.lexicon,
            phrases: Lists::new(&self.phrases),
            masks,
            classes: self.classes,
            patterns: self.patterns,
            unless: self.unless,
            courtesy,
            base: Reach {
                masks: index(of_slot(self.base.masks)),
                ..self.base
            },
        })
    }
}

// === impl Wording ===

impl Wording {
    fn symbols<'b>(&'b self, phrases: &'b [Vec<Symbol>]) -> &'b [Symbol] {
        match self {
            Self::Word(word) => std::slice::from_ref(word),
            Self::Phrase(number) => &phrases[*number as usize],
        }
    }
}

fn entry(lists: &mut Vec<Vec<u32>>, at: usize) -> &mut Vec<u32> {
    if lists.len() <= at {
        lists.resize(at + 1, Vec::new());
    }
    &mut lists[at]
}
