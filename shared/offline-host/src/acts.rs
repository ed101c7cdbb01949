//! Finds the act of a sentence: what the guest does with it, such as ask, choose or complain. The
//! subject of the sentence is looked up later. The pack lists the words of the acts; the tables
//! here decide between the acts.

mod heard;
pub(crate) mod learnt;

pub(crate) use heard::speaks_of_own;
use learnt::Learnt;
use seven_domain::Language;
use seven_guest::DialogueState;

use crate::{pack::HostPack, understand::Understood};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Identity,
    WrongNumber,
    SwitchLanguage,
    Human,
    /// Asks for help with gambling.
    Limits,
    Sarcasm,
    Complaint,
    /// Changes or cancels a booking.
    Change,
    /// Asks for something free, a discount or an upgrade.
    Comp,
    /// Asks about their own account or booking, which the host cannot see.
    Account,
    Compare,
    Book,
    Reject,
    More,
    Correct,
    Narrow,
    Recommend,
    Accept,
    Competitor,
    Smalltalk,
    Thanks,
    Goodbye,
    Tell,
    /// Asks for a fact; also the act of a sentence that fits no other.
    Ask,
}

/// A sentence with the state of the dialogue before it.
pub(crate) struct Heard<'a> {
    pub(crate) pack: &'a HostPack,
    pub(crate) u: &'a Understood<'a>,
    pub(crate) state: &'a DialogueState,
    /// The language of the dialogue so far.
    pub(crate) language: Option<Language>,
    /// Whether the text says something new about the guest or the party.
    pub(crate) news: bool,
    pub(crate) learnt: Learnt,
    /// Whether a word in `Understood::leftover`, such as "arcade", occurs in a row's name or
    /// keywords.
    pub(crate) names_something: bool,
}

type Condition = fn(&Heard<'_>) -> bool;

/// How an act is recognised. `key` is the act's key in the pack and in the learnt table. The act
/// can be chosen only if `possible` holds. If `speaks` holds, the act becomes more likely.
struct Rule {
    act: Act,
    key: &'static str,
    possible: Condition,
    speaks: Condition,
}

const fn rule(act: Act, key: &'static str, possible: Condition, speaks: Condition) -> Rule {
    Rule {
        act,
        key,
        possible,
        speaks,
    }
}

const ALWAYS: Condition = |_| true;
const NEVER: Condition = |_| false;

/// Acts that are certain if their condition holds. The first such act is chosen.
const PLAIN: &[(Act, Condition)] = &[
    (Act::Identity, |h| h.u.intends("identity")),
    (Act::WrongNumber, |h| h.u.intends("wrong_number")),
    (Act::SwitchLanguage, |h| h.prefers_a_language()),
    (Act::Limits, |h| h.u.intends("limits")),
];

/// All other acts. Of those that are possible, the one with the highest weight is chosen.
const RULES: &[Rule] = &[
    rule(Act::Human, "human", |h| h.is_shown("human"), NEVER),
    rule(Act::Sarcasm, "sarcasm", |h| h.is_shown("sarcasm"), NEVER),
    rule(
        Act::Complaint,
        "complaint",
        |h| h.is_shown("complaint"),
        |h| h.complains_again(),
    ),
    rule(Act::Change, "change", |h| h.can_change(), NEVER),
    rule(
        Act::Account,
        "account",
        |h| h.speaks_of_own() && h.is_shown("account"),
        NEVER,
    ),
    rule(
        Act::Competitor,
        "competitor",
        |h| h.is_chat("competitor"),
        NEVER,
    ),
    rule(Act::Comp, "comp", |h| h.can_ask_a_favour(), NEVER),
    rule(
        Act::Compare,
        "compare",
        |h| h.can_compare(),
        |h| h.compares_earlier(),
    ),
    rule(
        Act::Goodbye,
        "goodbye",
        |h| h.is_chat("goodbye"),
        |h| h.names_act("goodbye"),
    ),
    rule(
        Act::Thanks,
        "thanks",
        |h| h.is_remark() && h.is_chat("thanks"),
        |h| h.names_act("thanks") && !h.names_act("goodbye"),
    ),
    rule(Act::Accept, "accept", |h| h.can_accept(), |h| h.says_yes()),
    rule(Act::Reject, "reject", |h| h.can_reject(), NEVER),
    rule(Act::Correct, "correct", |h| h.can_correct(), NEVER),
    rule(Act::Book, "booking", |h| h.can_book(), NEVER),
    rule(Act::More, "more", |h| h.can_want_more(), NEVER),
    rule(
        Act::Narrow,
        "narrow",
        |h| h.can_narrow(),
        |h| h.adds_conditions(),
    ),
    rule(Act::Tell, "tell", |h| h.can_tell(), |h| h.tells()),
    rule(
        Act::Recommend,
        "recommend",
        |h| h.can_recommend(),
        |h| h.wants_suggestions(),
    ),
    rule(
        Act::Smalltalk,
        "smalltalk",
        |h| h.is_chat("smalltalk") && !h.names_act("goodbye"),
        NEVER,
    ),
    rule(
        Act::Ask,
        "greeting",
        |h| h.is_apart() && !h.names_act("thanks"),
        |h| h.u.intends("greeting"),
    ),
    rule(Act::Ask, "policy", ALWAYS, |h| h.u.intends("rules")),
    rule(Act::Ask, "ask", ALWAYS, |h| h.asks_a_fact()),
];

/// Added to the logarithm of an act's probability:
/// - `LISTED` if the sentence contains a phrase that the pack lists for the act;
/// - `SPEAKING` if the rule's `speaks` condition holds.
const LISTED: f32 = 3.0;
const SPEAKING: f32 = 2.5;
/// Added for questions about facts, because guests ask them most often. The learnt table was
/// trained with all acts equally often.
const ASKING: f32 = 1.0;
/// Added to each probability, because the logarithm of 0 is not finite.
const LEAST_ODDS: f32 = 1e-3;

/// Returns the act of a sentence.
pub(crate) fn act(heard: &Heard<'_>) -> Act {
    if let Some((act, _)) = PLAIN.iter().find(|(_, holds)| holds(heard)) {
        return *act;
    }
    let weight = |rule: &Rule| {
        let odds = heard.learnt.odds(rule.key) + LEAST_ODDS;
        let listed = heard.u.intends(rule.key) || heard.lists(rule.key);
        let added = LISTED * f32::from(u8::from(listed))
            + SPEAKING * f32::from(u8::from((rule.speaks)(heard)));
        let frequent = ASKING * f32::from(u8::from(rule.key == "ask"));
        odds.ln() + added + frequent
    };
    RULES
        .iter()
        .filter(|rule| (rule.possible)(heard))
        .map(|rule| (weight(rule), rule.act))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(Act::Ask, |(_, act)| act)
}
