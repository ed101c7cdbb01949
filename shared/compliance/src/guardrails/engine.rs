//! Compiles keywords, opt-outs and a pack's rules into one program and judges texts with it.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use super::{
    Author, Decision, Hit, Layer,
    pack::{Error, Failure, Pack, PackRule},
};
use crate::{
    echo,
    keywords::{Commands, Intent, Keyword, Row, courtesy},
    likeness::{Band, Likely, LikelyKind, Likeness},
    machine::{self, Machine},
    opt_out::{self, OptOutRule},
    pattern::{Builder, Groups, Part, Program, Reading, Scratch},
    second::Evidence,
    verdict::Verdict,
};

#[derive(Debug, Clone)]
pub(super) struct Engine {
    commands: Commands,
    /// The rules in order: first the built-in opt-out rules, then the pack's.
    program: Program,
    rules: Vec<PackRule>,
    has_certain: bool,
}

/// Buffers that successive decisions reuse, to save allocations.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) reading: Reading,
    pub(super) scratch: Scratch,
}

impl Engine {
    /// Returns the engine with keywords and opt-outs only, without a pack.
    pub(super) fn base() -> Arc<Self> {
        static BASE: LazyLock<Arc<Engine>> = LazyLock::new(|| {
            Arc::new(
                Engine::new(None).expect("the compiled-in tables are built by this crate's tests"),
            )
        });
        BASE.clone()
    }

    pub(super) fn new(pack: Option<Pack>) -> Result<Self, Error> {
        let courtesy = courtesy();
        let mut builder = Builder::default();
        let commands = Commands::new(&mut builder);
        let edges = Groups::default()
            .alternatives(&courtesy)
            .expect("courtesy is folded words, says a test");
        let edges = builder.class(&edges);
        opt_out::add_to(&mut builder);
        builder.end_base();
        if let Some(pack) = &pack {
            pack.add_to(&mut builder)?;
        }
        let program = builder.finish(edges)?;
        let rules = pack.map(|pack| pack.rules).unwrap_or_default();
        let has_certain = rules.iter().any(|rule| rule.certain);
        Ok(Self {
            commands,
            program,
            rules,
            has_certain,
        })
    }

    pub(super) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    pub(super) fn guards(&self, layer: Layer) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.layer == layer && !rule.spares)
    }

    pub(super) fn safety_languages(&self, layer: Layer) -> BTreeSet<&str> {
        let rules = self.rules.iter().filter(|rule| rule.layer == layer);
        rules
            .filter_map(|rule| rule.safety_language.as_deref())
            .collect()
    }

    pub(super) fn rules(&self) -> usize {
        self.rules.len()
    }

    pub(super) fn decide(&self, text: &str, workspace: &mut Workspace) -> Decision {
        if let Some(reaction) = echo::reaction(text) {
            // Judges only the words that the guest added; the words that the phone quoted are ours.
            let added = (!reaction.added.is_empty())
                .then(|| self.decide_of_guest(&reaction.added, workspace));
            return added.unwrap_or_else(|| Decision::of(Author::Echo));
        }
        self.decide_of_guest(text, workspace)
    }

    fn decide_of_guest(&self, text: &str, workspace: &mut Workspace) -> Decision {
        let decision = self.judge(text, workspace);
        let Some(machine) = machine::of(text) else {
            return decision;
        };
        let urgent = decision.hits.iter().any(|hit| hit.layer.is_urgent());
        let stops = decision
            .keyword
            .is_some_and(|keyword| keyword.intent == Intent::OptOut);
        if machine == Machine::Busy && (urgent || stops) {
            return decision;
        }
        // A machine's text gets no reply. The urgent hits are kept, because a person must see a cry
        // for help even in such a text.
        let hits = decision
            .hits
            .into_iter()
            .filter(|hit| hit.layer.is_urgent())
            .collect();
        Decision {
            hits,
            ..Decision::of(Author::Machine(machine))
        }
    }

    fn judge(&self, text: &str, workspace: &mut Workspace) -> Decision {
        let Workspace { reading, scratch } = workspace;
        self.program.lexicon.read(text, reading);
        let command = self.commands.whole_message(&reading.base);
        let command = command.or_else(|| {
            self.commands
                .wrapped(text, reading, |inside| self.whole_message(inside))
        });
        let command = command.map(Row::keyword);
        // The classifier (D20) finds texts that belong to a layer but match none of its patterns.
        // It also overrules patterns that match ordinary talk.
        let likeness = if command.is_none() {
            Likeness::of(reading.folded.line())
        } else {
            None
        };
        let band = |rule: &PackRule| match likeness {
            Some(like) if !rule.is_certain() => match like.with_pattern(rule.layer) {
                Band::Likely(_) | Band::Nothing if rule.layer.is_urgent() => {
                    surest_clause(reading, rule.layer, like)
                }
                band => band,
            },
            _ => Band::Certain,
        };
        // A text with Chinese words never counts as ordinary, because the classifier does not know
        // Chinese.
        let ordinary = likeness.is_some_and(|like| like.is_ordinary())
            && !self.has_certain
            && !reading.folded.has_han();
        let found = self.program.search(
            reading,
            scratch,
            if ordinary { Part::Base } else { Part::Whole },
        );

        let kept = by_words(found).any(|found| found == OptOutRule::Kept);
        let phrase = |wanted: Intent| by_words(found).find_map(|found| in_words(found, wanted));
        let keyword = command
            .or_else(|| self.commands.own_sentence(reading).map(Row::keyword))
            .or_else(|| phrase(Intent::OptOut).filter(|_| !kept))
            .or_else(|| phrase(Intent::OptIn).filter(|_| !negates(reading)));
        // Ingress has no pack and must find the same keyword as the gate. If pieces were joined to
        // a word that only the pack knows, the keyword is decided again without the pack.
        let keyword = if reading.foreign_joins {
            Self::base().judge(text, &mut Workspace::default()).keyword
        } else {
            keyword
        };

        let by_pattern = found
            .iter()
            .filter_map(|rule| (*rule as usize).checked_sub(opt_out::RULES.len()));
        let by_pattern = by_pattern.map(|number| &self.rules[number]);
        let (sparing, by_pattern): (Vec<&PackRule>, Vec<&PackRule>) =
            by_pattern.partition(|rule| rule.spares);
        let by_shape = self
            .rules
            .iter()
            .filter(|rule| rule.shape.is_some_and(|shape| shape.is_in(&reading.folded)));
        let doubted = by_pattern.iter().find_map(|rule| match band(rule) {
            Band::Likely(likely) => Some(likely),
            Band::Certain | Band::Nothing => None,
        });
        let certain = by_pattern
            .into_iter()
            .filter(|rule| band(rule) == Band::Certain);
        let mut hits: Vec<Hit> = certain.chain(by_shape).map(hit).collect();
        let spared =
            by_words(found).any(|found| matches!(found, OptOutRule::Spared | OptOutRule::Kept));
        // If the pack has no rule for the classifier's layer, the layer is ignored. In another
        // trade, for instance, gambling problems may not matter.
        let layer = likeness
            .filter(|_| keyword.is_none() && hits.is_empty())
            .and_then(|like| like.layer());
        if let Some(layer) = layer
            && self.guards(layer)
            && !sparing.iter().any(|rule| rule.layer == layer)
        {
            hits.push(layer_like(layer));
        }
        hits.sort_by_key(|hit| hit.layer);
        let known = |likely: &Likely| match likely.kind {
            LikelyKind::OptOut => keyword.is_some() || spared || !hits.is_empty(),
            LikelyKind::Cry(layer) => {
                !self.guards(layer) || hits.iter().any(|hit| hit.layer.serves(layer))
            }
        };
        let likely = [doubted, likeness.and_then(|like| like.likely())]
            .into_iter()
            .flatten()
            .find(|likely| !known(likely));
        let evidence = Evidence {
            suspicion: likeness.map(|like| like.urgency()),
            spared,
            doubted: doubted.and_then(|likely| match likely.kind {
                LikelyKind::Cry(layer) => Some(layer),
                LikelyKind::OptOut => None,
            }),
            sure: hits
                .iter()
                .any(|hit| hit.layer.is_urgent() && self.is_certain(&hit.pattern_id)),
        };
        let verdict = verdict(command.is_some(), keyword, &hits);
        Decision {
            verdict,
            keyword,
            hits,
            likely,
            author: Author::Guest,
            evidence,
        }
    }

    fn is_certain(&self, rule: &str) -> bool {
        self.rules
            .iter()
            .any(|known| known.is_certain() && known.id == rule)
    }

    /// Returns the row of the keyword table that makes up the whole text, if there is one.
    fn whole_message(&self, text: &str) -> Option<&'static Row> {
        let mut reading = Reading::default();
        self.program.lexicon.read(text, &mut reading);
        self.commands.whole_message(&reading.base)
    }

    pub(super) fn reads(&self, text: &str, workspace: &mut Workspace) -> String {
        self.program.lexicon.read(text, &mut workspace.reading);
        workspace.reading.folded.line().to_owned()
    }

    pub(super) fn likeness(&self, text: &str, workspace: &mut Workspace) -> Option<Likeness> {
        self.program.lexicon.read(text, &mut workspace.reading);
        Likeness::of(workspace.reading.folded.line())
    }

    /// Returns the ids of the opt-out phrases found in the text.
    #[cfg(test)]
    pub(super) fn opt_outs(&self, text: &str, workspace: &mut Workspace) -> Vec<&'static str> {
        self.program.lexicon.read(text, &mut workspace.reading);
        let found = self
            .program
            .search(&workspace.reading, &mut workspace.scratch, Part::Base);
        by_words(found)
            .filter_map(|found| {
                if let OptOutRule::Words {
                    id,
                    intent: Intent::OptOut,
                    ..
                } = found
                {
                    Some(id)
                } else {
                    None
                }
            })
            .collect()
    }

    pub(super) fn failures(&self, hits: impl Fn(&str) -> Vec<Hit>) -> Vec<Failure> {
        let mut failures = Vec::new();
        for rule in &self.rules {
            let missed = rule
                .matches
                .iter()
                .filter(|text| !hits(text).iter().any(|hit| hit.pattern_id == rule.id));
            failures.extend(missed.map(|text| Failure::Missed {
                rule: rule.id.clone(),
                example: text.clone(),
            }));
            for text in &rule.passes {
                let caught = hits(text).into_iter().find(|hit| hit.layer == rule.layer);
                failures.extend(caught.map(|hit| Failure::Caught {
                    rule: rule.id.clone(),
                    example: text.clone(),
                    by: hit.pattern_id,
                }));
            }
        }
        failures
    }
}

fn by_words(rules: &[u32]) -> impl Iterator<Item = OptOutRule> {
    rules
        .iter()
        .map_while(|rule| opt_out::RULES.get(*rule as usize).copied())
}

fn in_words(found: OptOutRule, wanted: Intent) -> Option<Keyword> {
    let OptOutRule::Words {
        id,
        intent,
        language,
    } = found
    else {
        return None;
    };
    (intent == wanted).then_some(Keyword {
        intent,
        pattern_id: id,
        language: Some(language),
    })
}

/// Judges the whole text and each of its clauses, and returns the most certain result. A cry for
/// help may share a text with a question about dinner.
fn surest_clause(reading: &Reading, layer: Layer, whole: Likeness) -> Band {
    let clauses = reading.folded.clauses();
    let bands = clauses
        .iter()
        .filter_map(|clause| Likeness::of(clause))
        .map(|like| like.with_pattern(layer));
    bands
        .chain([whole.with_pattern(layer)])
        .min_by_key(|band| match band {
            Band::Certain => 0,
            Band::Likely(_) => 1,
            Band::Nothing => 2,
        })
        .unwrap_or(Band::Nothing)
}

/// Returns whether a text contains a negation; such a text never counts as an opt-in.
fn negates(reading: &Reading) -> bool {
    const NEGATIONS: &[&str] = &[
        "no", "not", "dont", "never", "stop", "nor", "wont", "cant", "nunca", "jamas", "ni",
        "tampoco", "deje", "dejen", "paren",
    ];
    (0..reading.folded.len()).any(|at| NEGATIONS.contains(&reading.folded.word(at)))
}

fn layer_like(layer: Layer) -> Hit {
    let intent = "like texts of this kind".to_owned();
    Hit {
        layer,
        pattern_id: format!("like.{}", layer.as_str()),
        intent,
        language: None,
        safety_language: None,
    }
}

fn hit(rule: &PackRule) -> Hit {
    Hit {
        layer: rule.layer,
        pattern_id: rule.id.clone(),
        intent: rule.intent.clone(),
        language: rule.language,
        safety_language: rule.safety_language.clone(),
    }
}

/// Returns the verdict by precedence. A bare STOP or START comes first, because nothing may delay
/// it (D7). Then come a cry for help, an opt-out in plain language, the other layers, and last HELP
/// or YES.
fn verdict(whole: bool, keyword: Option<Keyword>, hits: &[Hit]) -> Verdict {
    let worst = || hits.first().cloned().map(Verdict::Guardrail);
    let urgent = || {
        hits.iter()
            .find(|hit| hit.layer.is_urgent())
            .cloned()
            .map(Verdict::Guardrail)
    };
    match keyword {
        Some(keyword) if matches!(keyword.intent, Intent::OptOut | Intent::OptIn) => {
            let first = if whole { None } else { urgent() };
            first.unwrap_or(Verdict::Keyword(keyword))
        }
        Some(keyword) => worst().unwrap_or(Verdict::Keyword(keyword)),
        None => worst().unwrap_or(Verdict::Pass),
    }
}
