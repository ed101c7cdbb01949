//! Finds possible offers in a text. Replies, promotions and content rows are all read by this code.
//! A promotion quoted word for word therefore always proves itself.

use std::ops::Range;

use super::{
    Currency, Kind,
    amount::{Amount, amount, number, range_end},
    say,
    vocabulary::{
        Class, canonical, is_function_word, is_joint, is_price_word, may_be_free_for_all, thing,
    },
    words::{Gap, Word, sentences},
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claimed {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
    /// Whether the guest would receive the amount. False if the guest would pay it, or if the text
    /// only mentions it. False for an offer without an amount.
    pub(super) given: bool,
    /// The kind of thing that the amount is good for; `None` if the words beside the amount name
    /// none.
    pub(super) about: Option<Class>,
}

/// 100%, in hundredths.
const WHOLE: u64 = 10_000;

pub(super) fn extract(text: &str) -> Vec<Claimed> {
    sentences(text)
        .iter()
        .flat_map(|words| sentence(words, text))
        .collect()
}

fn sentence(words: &[Word], text: &str) -> Vec<Claimed> {
    let reader = Reader { words, text };
    let mut found = Vec::new();
    let (mut amounts_to, mut gifts_to, mut codes_to) = (0, 0, 0);
    for at in 0..words.len() {
        if at >= amounts_to {
            for (range, amount) in reader.amounts(at) {
                amounts_to = range.end;
                found.extend(reader.money_or_percent(range, amount));
            }
            if let Some(end) = say::HALF.at(words, at) {
                amounts_to = end;
                found.push(reader.half(at..end));
            }
        }
        if at >= codes_to
            && let Some((end, code)) = reader.code(at)
        {
            codes_to = end;
            found.push(reader.found(at..end, Kind::Code { code }));
        }
        if let Some(end) = say::BOGO.at(words, at) {
            found.push(reader.found(
                at..end,
                Kind::Bogo {
                    item: reader.item_after(end, 3).or(reader.item_before(at, 3)),
                },
            ));
        }
        if let Some(end) = say::MATCH.at(words, at) {
            found.push(reader.found(
                at..end,
                Kind::Match {
                    on: reader.matched(at..end),
                },
            ));
        }
        if at >= gifts_to
            && let Some((range, kind)) = reader.gift(at)
        {
            gifts_to = range.end.max(at + 1);
            // "$50 on us" is one offer, the money; "on us" is not a second one.
            let beside = |a: &Range<usize>| a.end + 2 >= range.start && a.start <= range.end + 2;
            let said_of_amount =
                kind.item().is_none() && reader.amounts_near(at).iter().any(beside);
            if !said_of_amount {
                found.push(reader.found(range, kind));
            }
        }
    }
    found
}

struct Reader<'a> {
    words: &'a [Word],
    text: &'a str,
}

impl Reader<'_> {
    fn found(&self, words: Range<usize>, kind: Kind) -> Claimed {
        Claimed {
            kind,
            span: self.span(words),
            given: false,
            about: None,
        }
    }

    fn span(&self, words: Range<usize>) -> Range<usize> {
        let covered = &self.words[words];
        covered.first().map_or(0, |w| w.span.start)..covered.last().map_or(0, |w| w.span.end)
    }

    // === amounts ===

    /// Returns the amount that begins here and, if it begins a range, the second amount too.
    fn amounts(&self, at: usize) -> Vec<(Range<usize>, Amount)> {
        let Some((first, end)) = amount(self.words, at).or_else(|| self.bare_amount(at)) else {
            return Vec::new();
        };
        let mut all = vec![(at..end, first)];
        if let Amount::Money { currency, .. } = first
            && amount(self.words, end).is_none()
            && let Some((second, to)) = range_end(self.words, end, currency)
        {
            all.push((end..to, second));
        }
        all
    }

    /// Returns a bare number that means dollars, as in "500 in free play". A number below 5 is not
    /// an amount: "2 free play offers" means two offers.
    fn bare_amount(&self, at: usize) -> Option<(Amount, usize)> {
        const FEW: u64 = 500;
        let (cents, end) = number(self.words, at).filter(|&(cents, _)| cents >= FEW)?;
        self.words.get(end).filter(|w| w.gap < Gap::Clause)?;
        say::PLAY_OR_CREDIT.at(self.words, end)?;
        Some((
            Amount::Money {
                cents,
                currency: Currency::Usd,
            },
            end,
        ))
    }

    fn amounts_near(&self, at: usize) -> Vec<Range<usize>> {
        (at.saturating_sub(6)..(at + 6).min(self.words.len()))
            .filter_map(|at| amount(self.words, at).map(|(_, end)| at..end))
            .collect()
    }

    fn money_or_percent(&self, range: Range<usize>, amount: Amount) -> Option<Claimed> {
        let given = self.is_given(&range);
        let kind = match amount {
            Amount::Money { cents, currency } => Kind::Money { cents, currency },
            // Ignores "I am 100% sure".
            Amount::Percent { hundredths: WHOLE } if !given => return None,
            Amount::Percent { hundredths } => Kind::Percent { hundredths },
        };
        Some(Claimed {
            kind,
            span: self.span(range.clone()),
            given,
            about: self.about(&range),
        })
    }

    fn half(&self, range: Range<usize>) -> Claimed {
        let about = self.about(&range);
        Claimed {
            kind: Kind::Percent {
                hundredths: WHOLE / 2,
            },
            span: self.span(range),
            given: true,
            about,
        }
    }

    fn is_given(&self, amount: &Range<usize>) -> bool {
        self.gift_follows(amount.end)
            || (!say::ASKED.end_at(self.words, amount.start) && self.gift_precedes(amount.start))
    }

    fn gift_follows(&self, end: usize) -> bool {
        if say::ON_US.at(self.words, end).is_some() {
            return true;
        }
        for at in end..(end + 4).min(self.words.len()) {
            let word = &self.words[at];
            if word.gap == Gap::Clause || say::NO_GIFT.at(self.words, at).is_some() {
                return false;
            }
            if let Some(to) = say::GIFT
                .at(self.words, at)
                .or_else(|| say::ON_US.at(self.words, at))
            {
                // Ignores compounds such as "off-peak" and "credit-card".
                return self
                    .words
                    .get(to)
                    .is_none_or(|next| next.gap != Gap::Hyphen);
            }
            if is_joint(word) || is_price_word(word) || !word.is_letters() {
                return false;
            }
        }
        false
    }

    fn gift_precedes(&self, start: usize) -> bool {
        if say::GIVING_DIRECTLY.end_at(self.words, start) {
            return true;
        }
        self.gift_of(start) || self.someone_gives(start)
    }

    /// Returns whether a word such as "bonus" comes shortly before the amount: "a bonus of $50".
    fn gift_of(&self, start: usize) -> bool {
        for at in (start.saturating_sub(5)..start).rev() {
            if self.words[at + 1].gap == Gap::Clause {
                return false;
            }
            let word = &self.words[at];
            let looks_alike = (at.saturating_sub(2)..=at).any(|from| {
                say::NO_GIFT
                    .at(self.words, from)
                    .is_some_and(|end| end > at)
            });
            if !looks_alike && say::GIFT_OF.at(self.words, at).is_some() {
                return true;
            }
            if is_joint(word) || PRICED.iter().any(|p| word.is(p)) || !word.is_letters() {
                return false;
            }
        }
        false
    }

    /// Returns whether a verb of giving comes before the amount without a price word between them:
    /// "You get dinner, a show and $50".
    fn someone_gives(&self, start: usize) -> bool {
        for at in (start.saturating_sub(12)..start).rev() {
            if say::GIVING.at(&self.words[..start], at).is_some() {
                return true;
            }
            if is_price_word(&self.words[at]) {
                return false;
            }
        }
        false
    }

    fn about(&self, amount: &Range<usize>) -> Option<Class> {
        let class = |at: usize| match say::MATCH.at(self.words, at) {
            Some(_) => Some(Class::Match),
            None => thing(&self.words[at].text)
                .map(|(_, class)| class)
                .filter(|&class| class != Class::Gift),
        };
        let ahead = amount.end..amount.end + self.ahead(amount.end, 6).len();
        let behind = amount.start - self.behind(amount.start, 4).len()..amount.start;
        let said: Vec<Class> = ahead.chain(behind.rev()).filter_map(class).collect();
        // "Credit for dinner" is about dinner.
        said.iter()
            .find(|&&class| class != Class::Credit)
            .or(said.first())
            .copied()
    }

    // === everything else ===

    fn code(&self, at: usize) -> Option<(usize, Option<String>)> {
        let end = say::CODE.at(self.words, at)?;
        let is_code = |w: &&Word| {
            w.gap < Gap::Clause
                && (w.is_number() || !is_function_word(w))
                && say::NO_CODE.at(self.words, end).is_none()
        };
        if self.words.get(end).filter(is_code).is_none() {
            return Some((end, None));
        }
        let rest = &self.words[end + 1..];
        let to = end
            + 1
            + rest
                .iter()
                .take_while(|w| matches!(w.gap, Gap::None | Gap::Hyphen))
                .count();
        let code = self.text[self.span(end..to)].to_ascii_uppercase();
        Some((to, Some(code)))
    }

    fn matched(&self, words: Range<usize>) -> String {
        let play = self.words[words]
            .iter()
            .filter_map(|w| thing(&w.text))
            .find(|&(_, class)| class == Class::Play);
        play.map_or("deposit", |(name, _)| name).to_owned()
    }

    /// Finds an item at `at` that is free for the guest, in any wording.
    fn gift(&self, at: usize) -> Option<(Range<usize>, Kind)> {
        let words = self.words;
        if let Some(end) = say::ON_US.at(words, at) {
            let looks_alike = say::NO_GIFT.end_at(words, end);
            return (!looks_alike).then(|| {
                (
                    at..end,
                    Kind::Comp {
                        item: self.item_before(at, 6),
                    },
                )
            });
        }
        if let Some(end) = say::NO_CHARGE.at(words, at) {
            let item = self.item_before(at, 5).or_else(|| self.item_after(end, 3));
            return Some((
                at..end,
                Kind::FreeItem {
                    item: item.or_else(|| self.word_before(at)),
                },
            ));
        }
        if let Some(end) = say::COMP.at(words, at) {
            let item = self.item_after(end, 3).or_else(|| {
                let next = words
                    .get(end)
                    .filter(|w| w.gap < Gap::Clause && !is_function_word(w))?;
                Some(canonical(&next.text))
            });
            let to = if item.is_some() {
                self.item_end(end, 3)
            } else {
                end
            };
            return Some((at..to, Kind::Comp { item }));
        }
        self.free(at)
    }

    fn free(&self, at: usize) -> Option<(Range<usize>, Kind)> {
        let words = self.words;
        if !words[at].is("free") || (at > 0 && words[at].gap == Gap::Hyphen) {
            return None;
        }
        let gift = |range, item| Some((range, Kind::FreeItem { item: Some(item) }));
        // Handles "free slot play".
        let near = self
            .ahead(at + 1, 3)
            .iter()
            .take_while(|w| !is_function_word(w))
            .any(|w| thing(&w.text).is_some());
        if near {
            return gift(at..self.item_end(at + 1, 3), self.item_after(at + 1, 3)?);
        }
        let before = at.checked_sub(1).filter(|_| words[at].gap < Gap::Clause)?;
        // Handles "a free car".
        let next = words
            .get(at + 1)
            .filter(|w| w.gap < Gap::Clause && !is_function_word(w) && !is_joint(w));
        if let Some(next) = next.filter(|_| say::ARTICLE.at(words, before) == Some(at))
            && say::FREE_TIME.at(words, at + 1).is_none()
        {
            return gift(at..at + 2, canonical(&next.text));
        }
        // Handles "drinks are free" and "third night free", but not "service animals stay free".
        match words[before].text.as_str() {
            "is" | "are" | "be" => gift(at..at + 1, self.item_before(before, 3)?),
            "stay" | "play" => None,
            word => gift(before..at + 1, thing(word)?.0.to_owned()),
        }
    }

    // === what it is about ===

    /// Returns the next words, at most `reach`, up to a clause break, a joining word, a number or a
    /// sign.
    fn ahead(&self, from: usize, reach: usize) -> &[Word] {
        let words = &self.words[from.min(self.words.len())..(from + reach).min(self.words.len())];
        let end = words
            .iter()
            .position(|w| w.gap == Gap::Clause || is_joint(w) || !w.is_letters());
        &words[..end.unwrap_or(words.len())]
    }

    fn behind(&self, to: usize, reach: usize) -> &[Word] {
        let from = to.saturating_sub(reach);
        let breaks = |at: &usize| {
            let next = self.words.get(at + 1).is_some_and(|w| w.gap == Gap::Clause);
            next || is_joint(&self.words[*at]) || !self.words[*at].is_letters()
        };
        let start = (from..to).rev().find(breaks).map_or(from, |at| at + 1);
        &self.words[start..to]
    }

    fn item_after(&self, from: usize, reach: usize) -> Option<String> {
        let (name, _) = thing(&self.words[from..self.item_end(from, reach)].last()?.text)?;
        Some(name.to_owned())
    }

    /// Returns the index after the first thing that the next words name. If they name none, returns
    /// the index after one word. Things in a row are one thing: "free show tickets" ends after
    /// "tickets".
    fn item_end(&self, from: usize, reach: usize) -> usize {
        let ahead = self.ahead(from, reach);
        let is_thing = |word: &&Word| thing(&word.text).is_some();
        match ahead.iter().position(|word| is_thing(&word)) {
            Some(first) => from + first + ahead[first..].iter().take_while(is_thing).count(),
            None => from + usize::from(!ahead.is_empty()),
        }
    }

    fn item_before(&self, to: usize, reach: usize) -> Option<String> {
        self.behind(to, reach)
            .iter()
            .rev()
            .find_map(|w| thing(&w.text))
            .map(|(name, _)| name.to_owned())
    }

    fn word_before(&self, to: usize) -> Option<String> {
        self.behind(to, 3)
            .iter()
            .rev()
            .find(|w| !is_function_word(w))
            .map(|w| canonical(&w.text))
    }
}

/// Words that announce a price. A gift named before such a word does not make the amount a gift: in
/// "Parking is free and valet costs $20", the $20 is a price.
const PRICED: &[&str] = &[
    "cost", "costs", "from", "starting", "starts", "at", "desde", "cuesta", "cuestan", "vale",
    "valen", "cobra", "cobran",
];

/// Returns the words of a text in the form in which things are compared; see [`canonical`].
pub(super) fn words_of(text: &str) -> impl Iterator<Item = String> {
    sentences(text)
        .into_iter()
        .flatten()
        .filter(Word::is_letters)
        .map(|w| canonical(&w.text))
}

pub(super) fn says_free(text: &str) -> bool {
    sentences(text).iter().any(|words| {
        (0..words.len()).any(|at| {
            words[at].is("free") && words[at].gap != Gap::Hyphen
                || say::NO_CHARGE.at(words, at).is_some()
                || say::COMP.at(words, at).is_some()
        })
    })
}

impl Kind {
    /// Returns the name of the thing that the offer gives; `None` if it names no thing.
    pub(super) fn item(&self) -> Option<&str> {
        match self {
            Self::FreeItem { item } | Self::Comp { item } | Self::Bogo { item } => item.as_deref(),
            Self::Match { on } => Some(on),
            Self::Money { .. } | Self::Percent { .. } | Self::Code { .. } => None,
        }
    }

    /// Returns the size of an amount, in hundredths of its unit.
    pub(super) fn amount(&self) -> Option<u64> {
        match self {
            Self::Money { cents, .. } => Some(*cents),
            Self::Percent { hundredths } => Some(*hundredths),
            Self::FreeItem { .. }
            | Self::Comp { .. }
            | Self::Bogo { .. }
            | Self::Code { .. }
            | Self::Match { .. } => None,
        }
    }

    /// Returns whether the offer gives something that a casino may provide free to everyone, such
    /// as parking. A content row that calls the thing free then proves the offer.
    pub(super) fn is_amenity(&self) -> bool {
        matches!(self, Self::FreeItem { .. } | Self::Comp { .. })
            && self.item().is_some_and(may_be_free_for_all)
    }
}
