//! Finds e-mail addresses and budgets, and the web addresses and user names that must not be read
//! as words.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    Budget, Extracted, Slot,
    number::any_number,
    said::{Gap, Utterance},
};

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[a-z0-9][a-z0-9._%+-]*@[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,}")
        .expect("the pattern is a constant")
});
/// Web addresses, user names with "@", and broken e-mail addresses.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)https?://\S+|www\.\S+|\S*@\S+|\b[a-z0-9-]+\.(?:com|net|org|io|me|ly)\b\S*")
        .expect("the pattern is a constant")
});

pub(super) fn emails(text: &str) -> Vec<Extracted> {
    let found = EMAIL.find_iter(text).filter(|m| {
        let before = text[..m.start()].chars().next_back();
        // Skips a match that is only a part of a longer address.
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '@' | '/' | '.'))
            && !text[m.end()..].starts_with('@')
            && !m.as_str().contains("..")
    });
    let mut found: Vec<Extracted> = found
        .map(|m| Extracted::new(Slot::Email(m.as_str().to_lowercase()), 95, m.range()))
        .collect();
    // If a text has two addresses, it is unclear which one is the guest's, so none is returned.
    if found.len() > 1 {
        found.clear();
    }
    found
}

pub(super) fn addresses(text: &str) -> Vec<Range<usize>> {
    ADDRESS.find_iter(text).map(|m| m.range()).collect()
}

const MOST: &[&str] = &[
    "under",
    "up to",
    "no more than",
    "less than",
    "nothing over",
    "not over",
    "at most",
    "max",
    "below",
    "menos de",
    "no mas de",
    "hasta",
    "maximo",
    "maximo de",
    "como maximo",
];
const ABOUT: &[&str] = &[
    "budget of",
    "budget is",
    "budget around",
    "budget about",
    "budget",
    "spend",
    "spending",
    "presupuesto de",
    "presupuesto es de",
    "presupuesto es",
    "presupuesto",
    "gastar",
    "gastar unos",
];
const GAMBLING: &[&str] = &[
    "bet",
    "bets",
    "gamble",
    "gambling",
    "slots",
    "blackjack",
    "poker",
    "roulette",
    "jackpot",
    "won",
    "win",
    "lost",
    "lose",
    "buy in",
    "apostar",
    "apuesta",
    "gane",
    "perdi",
    "jackpots",
    "freeplay",
    "free play",
    "points",
];

/// Finds the amount that the guest wants to spend. Ignores money won, lost, bet or asked about.
pub(super) fn budget(said: &Utterance<'_>) -> Option<Extracted> {
    if said.has(GAMBLING) {
        return None;
    }
    (0..said.len()).find_map(|n| {
        let (amount, money) = amount(said, n)?;
        let cue = |phrases: &[&str]| cue_before(said, n, phrases);
        let (range_from, range_money) = range(said, n);
        let linked = usize::from(range_from.is_some())
            + usize::from(
                range_from.is_some() && said.is(n.wrapping_sub(1), &["and", "to", "y", "a"]),
            );
        let first = n.saturating_sub(linked);
        let about =
            cue_before(said, first, ABOUT).or_else(|| said.phrase(n + 1, &["budget"]).map(|_| n));
        let most = cue(MOST).filter(|_| {
            money && !said.is_question(n)
                || said.has(&[
                    "budget",
                    "presupuesto",
                    "looking",
                    "something",
                    "busco",
                    "algo",
                ])
        });
        let between = cue_before(said, first, &["between", "entre"])
            .filter(|_| range_from.is_some() && (money || range_money) && !said.is_question(n));
        let from = about.or(most).or(between)?;
        if !money && about.is_none()
            || said.is(
                n + 1,
                &[
                    "people", "guests", "personas", "minutes", "hours", "pm", "am",
                ],
            )
        {
            return None;
        }
        let per_person = said.has(&[
            "per person",
            "a person",
            "each",
            "por persona",
            "cada uno",
            "pp",
            "a head",
        ]);
        let slot = Slot::Budget(Budget {
            least: range_from.filter(|least| *least < amount),
            most: amount,
            per_person,
        });
        Some(Extracted::new(
            slot,
            if about.is_some() { 90 } else { 80 },
            said.span(from, n + 1),
        ))
    })
}

/// Returns the amount at word `n`, and whether it is certainly money; `None` if the amount is the
/// lower end of a range.
fn amount(said: &Utterance<'_>, n: usize) -> Option<(u32, bool)> {
    let whole = said
        .at(n)
        .parse::<u32>()
        .ok()
        .filter(|v| (5..=100_000).contains(v))?;
    // In "$1,500" the comma joins two groups of digits, so neither group alone is the amount.
    if said.between(n) == ","
        || said.between(n + 1).starts_with(',')
            && said.gap(n + 1) == Gap::Comma
            && said.between(n + 1) == ","
    {
        return None;
    }
    let money = said.between(n).ends_with('$')
        || said.is(n + 1, &["dollars", "bucks", "usd", "dolares", "dollar"]);
    let goes_on = matches!(said.between(n + 1), "-" | "-$" | "\u{2013}")
        || said.is(n + 1, &["and", "to", "y", "a"]) && amount_follows(said, n + 2);
    (!goes_on).then_some((whole, money))
}

fn amount_follows(said: &Utterance<'_>, n: usize) -> bool {
    any_number(said, n).is_some()
        && (said.between(n).ends_with('$')
            || said.is(n + 1, &["dollars", "bucks", "usd", "dolares"]))
}

/// Returns the lower end of a range whose upper end is at word `n`, and whether the range is
/// certainly money.
fn range(said: &Utterance<'_>, n: usize) -> (Option<u32>, bool) {
    let linked = n >= 2 && said.is(n - 1, &["and", "to", "y", "a"]);
    let at = if linked { n - 2 } else { n.saturating_sub(1) };
    let joined = n >= 1 && matches!(said.between(n), "-" | "-$" | "\u{2013}");
    let least = (linked || joined)
        .then(|| said.at(at).parse().ok())
        .flatten();
    (least, least.is_some() && said.between(at).ends_with('$'))
}

/// Finds one of the phrases shortly before word `n`. Returns the index of the word at which the
/// phrase begins. Up to two words such as "about" or "like" may come in between.
fn cue_before(said: &Utterance<'_>, n: usize, phrases: &[&str]) -> Option<usize> {
    let filler = |n: usize| {
        said.is(
            n,
            &[
                "about",
                "around",
                "like",
                "roughly",
                "maybe",
                "unos",
                "como",
                "aproximadamente",
                "is",
                "of",
                "only",
                "de",
                "es",
            ],
        )
    };
    let end = (n.saturating_sub(2)..=n).find(|at| (*at..n).all(filler))?;
    (end.saturating_sub(3)..n).find(|at| {
        phrases.iter().any(|p| {
            said.one_of(*at, &[*p])
                .is_some_and(|after| (end..=n).contains(&after))
        })
    })
}
