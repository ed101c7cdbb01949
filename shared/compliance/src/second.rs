//! Combines the first reading of a suspicious text with the second reader's judgement (D20). The
//! second reader is in `shared/reader`; this module has only the rule that combines both.

use serde::Serialize;

use crate::{
    Author, Decision, Guardrails, Intent, Layer, Likely, LikelyKind, guardrails::Hit,
    likeness::MARGIN_WITH_PATTERN, verdict::Verdict,
};

/// For each kind, the second reader's log odds that a text is of this kind and not ordinary. The
/// second reader does not know the first reader's odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SecondReading {
    pub opt_out: f32,
    pub crisis: f32,
    pub emergency: f32,
    pub responsible_gaming: f32,
}

/// Findings of the first reading that [`Guardrails::weigh`] needs to combine both readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The classifier's log odds that the text is urgent, in hundredths; `None` if the classifier
    /// did not judge the text.
    pub(crate) suspicion: Option<i16>,
    /// Whether a phrase asks to keep our texts ("don't stop texting me"). If so, the text is not an
    /// opt-out, even if its words look like one.
    pub(crate) spared: bool,
    /// The layer of a pattern that matched although the classifier doubts the match.
    pub(crate) doubted: Option<Layer>,
    /// Whether one of the rules that matched is marked as certain in the pack.
    pub(crate) sure: bool,
}

/// A text gets a second reading if the first reader's log odds, in hundredths, are above this. In
/// the tuning sets, nine in ten ordinary texts are below this, and no cry for help is.
const SUSPICIOUS: i16 = -250;
/// The weight of the first reader's log odds when they are added to the second reader's.
const FIRST_READERS_SHARE: f32 = 0.5;
/// An opt-out or a cry is likely only if the weighted sum of both readers' log odds is above its
/// limit. A crisis has the lowest limit. An unnecessary helpline does less harm than an unnecessary
/// question about opting out.
const LEAST_OPT_OUT: f32 = 4.0;
const LEAST_CRISIS: f32 = 3.25;
const LEAST_CRY: f32 = 4.0;
/// If all log odds of the second reader are below this, the second reader is sure that the text is
/// ordinary. A pattern's match then becomes likely instead of certain.
const ORDINARY: f32 = -2.5;
/// If all log odds of the second reader are below this, a pattern that the first reader doubts too
/// raises no alarm. In the tuning sets, no cry for help that a pattern finds is below this.
const CLEARLY_ORDINARY: f32 = -4.0;

impl Evidence {
    pub(crate) const NONE: Self = Self {
        suspicion: None,
        spared: false,
        doubted: None,
        sure: false,
    };
}

impl Decision {
    /// Returns whether a second reading could change the decision. That is so if a guest wrote the
    /// text, it neither opts out nor in, and the first reader is not sure that it is ordinary.
    pub fn is_suspicious(&self) -> bool {
        self.author == Author::Guest
            && self
                .keyword
                .is_none_or(|keyword| !matches!(keyword.intent, Intent::OptOut | Intent::OptIn))
            && self
                .evidence
                .suspicion
                .is_some_and(|suspicion| suspicion > SUSPICIOUS)
    }
}

impl Guardrails {
    /// Combines both readings. If a pattern found a cry for help, the second reader can only weaken
    /// it to a likely one; only if the first reader doubts the pattern can the second cancel it.
    /// Otherwise the log odds of both readers decide what the text is likely to be.
    #[must_use]
    pub fn weigh(&self, mut first: Decision, second: &SecondReading) -> Decision {
        if !first.is_suspicious() {
            return first;
        }
        let kinds = [
            (LikelyKind::OptOut, second.opt_out),
            (LikelyKind::Cry(Layer::Crisis), second.crisis),
            (LikelyKind::Cry(Layer::Emergency), second.emergency),
            (
                LikelyKind::Cry(Layer::ResponsibleGaming),
                second.responsible_gaming,
            ),
        ];
        let odds = kinds
            .iter()
            .map(|(_, odds)| *odds)
            .fold(f32::NEG_INFINITY, f32::max);
        if odds < CLEARLY_ORDINARY {
            first.evidence.doubted = None;
        }
        if let Some(cry) = first
            .hits
            .iter()
            .find(|hit| hit.layer.is_urgent())
            .map(|hit| hit.layer)
        {
            let doubted = odds < ORDINARY && first.keyword.is_none() && !first.evidence.sure;
            return if doubted {
                softened(first, cry)
            } else {
                self.beside(first, &kinds)
            };
        }
        self.beside(first, &kinds)
    }

    /// Keeps the certain findings and sets `likely` to the most likely kind, if its log odds
    /// suffice.
    fn beside(&self, first: Decision, kinds: &[(LikelyKind, f32)]) -> Decision {
        let net = f32::from(first.evidence.suspicion.unwrap_or(SUSPICIOUS)) / 100.0;
        let margin = |kind: LikelyKind, odds: f32| match kind {
            // A pattern that only the classifier doubts stays a likely alarm.
            LikelyKind::Cry(layer) if first.evidence.doubted == Some(layer) => {
                f32::from(MARGIN_WITH_PATTERN) / 100.0
            }
            LikelyKind::OptOut => odds + FIRST_READERS_SHARE * net - LEAST_OPT_OUT,
            LikelyKind::Cry(Layer::Crisis) => odds + FIRST_READERS_SHARE * net - LEAST_CRISIS,
            LikelyKind::Cry(_) => odds + FIRST_READERS_SHARE * net - LEAST_CRY,
        };
        // A kind raises no alarm if the answer to the certain findings already covers it.
        let open = |kind: LikelyKind| match kind {
            LikelyKind::OptOut => {
                first.keyword.is_none() && !first.evidence.spared && first.hits.is_empty()
            }
            LikelyKind::Cry(layer) => {
                self.guards(layer) && !first.hits.iter().any(|hit| hit.layer.serves(layer))
            }
        };
        let margins = kinds
            .iter()
            .map(|(kind, odds)| (*kind, margin(*kind, *odds)));
        let most = margins.max_by(|one, other| one.1.total_cmp(&other.1));
        let likely = most.filter(|(kind, margin)| *margin > 0.0 && open(*kind));
        let likely = likely.map(|(kind, margin)| Likely {
            kind,
            margin: (margin * 100.0) as i16,
        });
        Decision { likely, ..first }
    }
}

/// Weakens the decision: its certain cry for help becomes a likely one.
fn softened(first: Decision, cry: Layer) -> Decision {
    let hits: Vec<Hit> = first
        .hits
        .into_iter()
        .filter(|hit| !hit.layer.is_urgent())
        .collect();
    let verdict = hits
        .first()
        .cloned()
        .map_or(Verdict::Pass, Verdict::Guardrail);
    let likely = Some(Likely {
        kind: LikelyKind::Cry(cry),
        margin: MARGIN_WITH_PATTERN,
    });
    Decision {
        verdict,
        hits,
        likely,
        ..first
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    /// Matches a pattern about gambling; the classifier gives the urgent kinds 0.35 together.
    const DOUBTED: &str = "soap sold there?";
    const PACK: &str = include_str!("../../packs/casino/guardrails.toml");

    fn all(odds: f32) -> SecondReading {
        SecondReading {
            opt_out: odds,
            crisis: odds,
            emergency: odds,
            responsible_gaming: odds,
        }
    }

    fn rails() -> Guardrails {
        static RAILS: LazyLock<Guardrails> = LazyLock::new(|| Guardrails::parse(PACK).unwrap());
        RAILS.clone()
    }

    #[test] // D20
    fn the_second_reader_finds_softens_and_never_silences() {
        let rails = rails();
        let ordinary = all(-6.0);
        let found = SecondReading {
            crisis: 6.0,
            ..ordinary
        };
        let kind = |decision: &Decision| decision.likely.map(|likely| likely.kind.as_str());
        for (text, second, verdict, likely) in [
            // A pattern matched, and the second reader does not find the text ordinary: the cry
            // stays certain.
            ("i want to kill myself tonight", all(5.0), "crisis", None),
            ("i want to kill myself tonight", all(-2.0), "crisis", None),
            // The second reader weakens the pattern's finding but does not cancel it.
            (
                "i want to kill myself tonight",
                ordinary,
                "pass",
                Some("crisis"),
            ),
            // No pattern matched; both readers must agree.
            (
                "nobody will notice when i am not around any more",
                found,
                "pass",
                Some("crisis"),
            ),
            (
                "nobody will notice when i am not around any more",
                ordinary,
                "pass",
                None,
            ),
            // A pattern that both readers doubt raises no alarm, one that only the first doubts does.
            (DOUBTED, all(-3.9), "pass", Some("responsible_gaming")),
            (DOUBTED, ordinary, "pass", None),
            // The second reader changes neither certain opt-outs nor requests to go on texting.
            ("stop texting me please", ordinary, "opt_out", None),
            (
                "please do not stop texting me about the shows",
                SecondReading {
                    opt_out: 9.0,
                    ..ordinary
                },
                "pass",
                None,
            ),
        ] {
            let decision = rails.weigh(rails.decide(text), &second);
            assert_eq!(
                (decision.verdict.as_str(), kind(&decision)),
                (verdict, likely),
                "{text} {second:?}"
            );
        }
    }

    #[test]
    fn only_what_the_first_reader_doubts_is_read_again() {
        let rails = rails();
        for (text, suspicious) in [
            ("what time does the breakfast buffet open on sunday", false),
            ("STOP", false),
            ("stop texting me", false),
            ("hi", false),
            ("nobody will notice when i am not around any more", true),
        ] {
            assert_eq!(rails.decide(text).is_suspicious(), suspicious, "{text}");
        }
    }

    proptest! {
        #[test] // D20: one reader alone does not opt a guest out or cancel a pattern's cry
        fn an_alarm_stays_and_nothing_becomes_certain(
            text in "[a-z ]{0,80}",
            odds in prop::array::uniform4(-20.0_f32..20.0),
        ) {
            let rails = rails();
            let first = rails.decide(&text);
            let [opt_out, crisis, emergency, responsible_gaming] = odds;
            let second = SecondReading { opt_out, crisis, emergency, responsible_gaming };
            let both = rails.weigh(first.clone(), &second);
            prop_assert_eq!(both.keyword, first.keyword);
            prop_assert!(both.hits.iter().all(|hit| first.hits.contains(hit)));
            let urgent =
                |decision: &Decision| decision.hits.iter().any(|hit| hit.layer.is_urgent());
            prop_assert!(!urgent(&first) || urgent(&both) || both.likely.is_some());
        }
    }
}
