//! A linear classifier, trained on labelled texts, that backs up the patterns (D20).

use std::sync::LazyLock;

use serde::Serialize;
use seven_text::linear::Linear;

use crate::guardrails::Layer;

/// A class of texts that the classifier distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Like {
    Ordinary,
    OptOut,
    Layer(Layer),
}

/// A class whose texts must not be overlooked, because that may cost a life or a lawsuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LikelyKind {
    OptOut,
    /// A cry for help of this urgent layer.
    #[serde(untagged)]
    Cry(Layer),
}

/// A text that is likely an opt-out or a cry for help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Likely {
    pub kind: LikelyKind,
    /// How far the text's log odds exceed the required ones, in hundredths.
    pub margin: i16,
}

const CLASSES: [Like; 12] = [
    Like::Ordinary,
    Like::OptOut,
    Like::Layer(Layer::Crisis),
    Like::Layer(Layer::Emergency),
    Like::Layer(Layer::PromptInjection),
    Like::Layer(Layer::ResponsibleGaming),
    Like::Layer(Layer::BsaAml),
    Like::Layer(Layer::PatronPrivacy),
    Like::Layer(Layer::Pii),
    Like::Layer(Layer::AgeVerification),
    Like::Layer(Layer::Identity),
    Like::Layer(Layer::Abuse),
];
/// The lowest probability at which a text counts as belonging to a layer that is not urgent.
const LIKELY: f32 = 0.9;
/// For each kind, the lowest log odds at which a text is likely of this kind. The log odds compare
/// the kind's class with all classes that are not urgent.
const LEAST: [(Like, LikelyKind, f32); 4] = [
    (Like::OptOut, LikelyKind::OptOut, 3.1),
    (
        Like::Layer(Layer::Crisis),
        LikelyKind::Cry(Layer::Crisis),
        3.2,
    ),
    (
        Like::Layer(Layer::Emergency),
        LikelyKind::Cry(Layer::Emergency),
        2.1,
    ),
    (
        Like::Layer(Layer::ResponsibleGaming),
        LikelyKind::Cry(Layer::ResponsibleGaming),
        3.5,
    ),
];
/// A text with fewer words needs more log odds: `PER_MISSING_WORD` more for each missing word.
const FULL_WORDS: usize = 8;
const PER_MISSING_WORD: f32 = 0.2;
/// If a layer that is not urgent has a lower probability than this, a match of its pattern is
/// ignored as a coincidence.
const UNLIKELY: f32 = 0.2;
/// A pattern's match for an urgent layer is certain from the first of these probabilities on,
/// likely from the second on. They are compared with the sum of the probabilities of all urgent
/// classes.
const CERTAIN_WITH_PATTERN: f32 = 0.7;
const LIKELY_WITH_PATTERN: f32 = 0.1;
/// The margin of a text that both a pattern and the classifier find. It exceeds the margin that
/// `dialogue::holds` may require, so a dialogue never cancels such a find.
pub(crate) const MARGIN_WITH_PATTERN: i16 = 150;
/// Added to both probabilities of an odds ratio so that its logarithm stays finite.
const LEAST_ODDS: f32 = 1e-3;
/// The minimum number of words that the classifier needs; patterns alone judge shorter texts,
/// because two words say too little.
const LEAST_WORDS: usize = 3;

static BYTES: &[u8] = include_bytes!("../data/likeness.bin");

static TABLE: LazyLock<Linear<12, 16>> =
    LazyLock::new(|| Linear::read(BYTES).expect("the table is part of the crate and tested"));

/// How certain it is that a text belongs to the layer whose pattern it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Band {
    Certain,
    Likely(Likely),
    Nothing,
}

/// The probabilities of a text's classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Likeness {
    odds: [f32; CLASSES.len()],
    words: usize,
}

impl Likeness {
    /// Classifies a folded line, in which one space stands before, between and after the words.
    /// Returns `None` if it has too few words.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let words = line
            .bytes()
            .filter(|b| *b == b' ')
            .count()
            .saturating_sub(1);
        (words >= LEAST_WORDS).then(|| Self {
            odds: TABLE.odds(line),
            words,
        })
    }

    /// Returns the most probable class if it is a layer that is not urgent. Its probability must be
    /// at least `LIKELY`.
    pub(crate) fn layer(&self) -> Option<Layer> {
        let best = CLASSES
            .into_iter()
            .zip(self.odds)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match best? {
            (Like::Layer(layer), odd) if odd >= LIKELY && !layer.is_urgent() => Some(layer),
            _ => None,
        }
    }

    /// Returns the opt-out or cry for help whose log odds exceed the required ones by the most;
    /// `None` if no log odds do.
    pub(crate) fn likely(&self) -> Option<Likely> {
        let ordinary: f32 = CLASSES
            .iter()
            .zip(self.odds)
            .filter(|(class, _)| !class.is_urgent())
            .map(|(_, odd)| odd)
            .sum();
        let missing = FULL_WORDS.saturating_sub(self.words) as f32 * PER_MISSING_WORD;
        let margin = |(class, kind, least): (Like, LikelyKind, f32)| {
            let odd = CLASSES
                .iter()
                .zip(self.odds)
                .find(|(other, _)| **other == class)
                .map_or(0.0, |(_, odd)| odd);
            let margin = (odd.max(f32::MIN_POSITIVE) / ordinary.max(f32::MIN_POSITIVE)).ln()
                - least
                - missing;
            Likely {
                kind,
                margin: (margin * 100.0) as i16,
            }
        };
        LEAST
            .into_iter()
            .map(margin)
            .filter(|likely| likely.margin > 0)
            .max_by_key(|likely| likely.margin)
    }

    /// Returns how certain a pattern's match of this layer is. For an urgent layer, adds the
    /// probabilities of all urgent classes: a text may belong to several of them and score low on
    /// each.
    pub(crate) fn with_pattern(&self, layer: Layer) -> Band {
        let same = |class: Like| {
            if layer.is_urgent() {
                class.is_urgent()
            } else {
                class == Like::Layer(layer)
            }
        };
        let odds = CLASSES
            .into_iter()
            .zip(self.odds)
            .filter(|(class, _)| same(*class));
        let odds: f32 = odds.map(|(_, odd)| odd).sum();
        let (certain, likely) = if layer.is_urgent() {
            (CERTAIN_WITH_PATTERN, LIKELY_WITH_PATTERN)
        } else {
            (UNLIKELY, UNLIKELY)
        };
        match odds {
            _ if odds >= certain => Band::Certain,
            _ if odds >= likely => Band::Likely(Likely {
                kind: LikelyKind::Cry(layer),
                margin: MARGIN_WITH_PATTERN,
            }),
            _ => Band::Nothing,
        }
    }

    /// Returns the log odds that the text is an opt-out or a cry for help, in hundredths.
    pub(crate) fn urgency(&self) -> i16 {
        let urgent = CLASSES
            .iter()
            .zip(self.odds)
            .filter(|(class, _)| class.is_urgent())
            .map(|(_, odd)| odd);
        let urgent: f32 = urgent.sum();
        (((urgent + LEAST_ODDS) / (1.0 - urgent + LEAST_ODDS)).ln() * 100.0) as i16
    }

    /// Returns whether the text is so ordinary that a pattern's match would be ignored.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.odds[0] > 1.0 - LIKELY_WITH_PATTERN
    }

    /// Returns the probability of each class with its name, to explain a decision.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, f32)> {
        CLASSES.iter().map(|class| class.as_str()).zip(self.odds)
    }
}

impl LikelyKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OptOut => "opt_out",
            Self::Cry(layer) => layer.as_str(),
        }
    }
}

impl Like {
    fn is_urgent(self) -> bool {
        match self {
            Self::Ordinary => false,
            Self::OptOut => true,
            Self::Layer(layer) => layer.is_urgent(),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Ordinary => "pass",
            Self::OptOut => "opt_out",
            Self::Layer(layer) => layer.as_str(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_whole() {
        assert!(Linear::<12, 16>::read(BYTES).is_some());
    }

    #[test] // C-3, C-11, C-14: wordings that no pattern lists
    fn what_people_mean() {
        let likely = |line: &str| {
            Likeness::of(line)
                .and_then(|like| like.likely())
                .map(|likely| likely.kind)
        };
        for (line, kind) in [
            (
                " whats the point of any of it anymore i am so done with being here ",
                Some(LikelyKind::Cry(Layer::Crisis)),
            ),
            (" what time does the breakfast buffet open on sunday ", None),
            (" can we get two more towels in the room please ", None),
            (" hi ", None),
            ("", None),
        ] {
            assert_eq!(likely(line), kind, "{line}");
        }
    }

    proptest! {
        #[test]
        fn total_and_bounded(line in "[a-z ]{0,3000}") {
            let odds = TABLE.odds(&line);
            prop_assert!(odds.iter().all(|odd| (0.0..=1.0).contains(odd)));
            prop_assert!((odds.iter().sum::<f32>() - 1.0).abs() < 1e-3);
        }
    }
}
