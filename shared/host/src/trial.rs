//! Drafts for which the right verdict is known. Small models often pass every draft, or none. A
//! model that judges one of these drafts wrongly is therefore not used as the judge.

use crate::{PromptFacts, Verdict, prompt::Row};

/// A guest's question, the content that answers it, and a draft.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    row: &'static str,
    pub guest: &'static str,
    pub draft: &'static str,
    /// Whether the draft is true to the content and answers the question.
    pub right: bool,
}

/// Each row comes with a right and a wrong draft. The wrong drafts state no figure or name that the
/// row lacks, so only a judge can refuse them, not the checks in code.
pub const CASES: [Case; 4] = [
    Case {
        row: "Birch Pool: heated pool. Daily 9am-8pm. Adults only after 6pm.",
        guest: "can my kids use the pool tonight at 7?",
        draft: "After 6 PM the Birch Pool is for adults only, so not at 7, sorry.",
        right: true,
    },
    Case {
        row: "Birch Pool: heated pool. Daily 9am-8pm. Adults only after 6pm.",
        guest: "can my kids use the pool tonight at 7?",
        draft: "Yes, your kids are welcome at the Birch Pool tonight, it is open until 8 PM.",
        right: false,
    },
    Case {
        row: "Ember Grill: steaks. Thu-Mon 5pm-10pm, closed Tuesday and Wednesday.",
        guest: "I want steak on Tuesday evening, where do I go?",
        draft: "Ember Grill is open on Tuesday from 5 PM to 10 PM, enjoy your steak.",
        right: false,
    },
    Case {
        row: "Ember Grill: steaks. Thu-Mon 5pm-10pm, closed Tuesday and Wednesday.",
        guest: "I want steak on Tuesday evening, where do I go?",
        draft: "Our steak place, Ember Grill, is closed on Tuesday. It opens Thursday at 5 PM.",
        right: true,
    },
];

impl Case {
    /// Returns the facts for the judge's prompt.
    pub fn facts(&self) -> PromptFacts {
        PromptFacts {
            casino: "Birch Resort".into(),
            persona: "Seven".into(),
            phone: "860-555-0199".into(),
            language: "English",
            rows: vec![Row {
                id: "1".into(),
                text: self.row.into(),
            }],
            ..PromptFacts::default()
        }
    }

    /// Returns whether the verdict is right: pass for a right draft, another verdict for a wrong
    /// one.
    pub fn is_judged_right(&self, verdict: &Verdict) -> bool {
        self.right == (*verdict == Verdict::Pass)
    }
}

#[cfg(test)]
mod tests {
    use seven_domain::ReplyLength;

    use super::*;
    use crate::{Check, Evidence};

    #[test] // AGENT-57
    fn only_a_judge_tells_the_drafts_apart() {
        for case in CASES {
            let facts = case.facts();
            let evidence = Evidence::of([case.row, &facts.casino, &facts.phone]);
            let check = Check {
                evidence: &evidence.with_guest([case.guest]),
                length: ReplyLength::Texts,
                lead: None,
                offers: false,
                asked_identity: false,
                emoji: false,
            };
            assert_eq!(check.findings(case.draft), [], "{}", case.draft);
        }
        for all in [Verdict::Pass, Verdict::Retry("no".into())] {
            let right = CASES.iter().filter(|case| case.is_judged_right(&all));
            assert_eq!(right.count(), 2, "{all:?}");
        }
    }
}
