//! Decides whether the casino really makes an offer. An amount must match with its unit; a code or
//! a thing must match word for word.

use std::collections::HashSet;

use super::{
    Currency, Kind, Promotion, Row,
    amount::cents,
    extract::{Claimed, extract, says_free, words_of},
    vocabulary::{Class, thing},
};

/// A valid promotion and the offers found in its wording.
#[derive(Debug)]
pub(super) struct Campaign<'a> {
    pub(super) id: &'a str,
    found: Vec<Claimed>,
    words: HashSet<String>,
    classes: HashSet<Class>,
    /// The promotion's `value` in cents; `None` if there is none, or if the wording makes it a
    /// percentage.
    value: Option<u64>,
    /// Whether the promotion gives several amounts. If so, each is good only for the thing named
    /// next to it.
    several: bool,
}

impl<'a> Campaign<'a> {
    pub(super) fn read(promotion: &'a Promotion) -> Self {
        let found: Vec<Claimed> = promotion
            .wording
            .iter()
            .flat_map(|text| extract(text))
            .collect();
        let words: HashSet<String> = promotion
            .wording
            .iter()
            .flat_map(|text| words_of(text))
            .collect();
        let classes = classes(&words, &found);
        let value = promotion.value.and_then(cents);
        let is_percent = |value: u64| {
            found
                .iter()
                .any(|f| matches!(f.kind, Kind::Percent { hundredths } if hundredths == value))
        };
        let given: HashSet<u64> = found
            .iter()
            .filter(|f| f.given)
            .filter_map(|f| f.kind.amount())
            .collect();
        let (value, several) = (value.filter(|&v| !is_percent(v)), given.len() > 1);
        Self {
            id: &promotion.id,
            found,
            words,
            classes,
            value,
            several,
        }
    }

    pub(super) fn proves(&self, offer: &Claimed) -> bool {
        match &offer.kind {
            Kind::Money {
                cents,
                currency: Currency::Usd,
            } => {
                self.gives_amount(offer) || self.value == Some(*cents) && self.is_about(offer.about)
            }
            Kind::Money {
                currency: Currency::Other,
                ..
            } => false,
            Kind::Percent { .. } => self.gives_amount(offer),
            // A mention without the code itself, as in "there is a promo code", matches any code.
            Kind::Code { code: wanted } => self.found.iter().any(|f| {
                matches!(
                    &f.kind,
                    Kind::Code { code } if wanted.as_ref().is_none_or(|w| Some(w) == code.as_ref())
                )
            }),
            Kind::FreeItem { item } | Kind::Comp { item } => item.as_deref().is_some_and(|item| {
                self.found.iter().any(|f| {
                    matches!(f.kind, Kind::FreeItem { .. } | Kind::Comp { .. })
                        && self.is_item(item, f.kind.item())
                })
            }),
            Kind::Bogo { item } => self.found.iter().any(|f| {
                matches!(f.kind, Kind::Bogo { .. })
                    && item
                        .as_deref()
                        .is_none_or(|item| self.is_item(item, f.kind.item()))
            }),
            Kind::Match { on } => self
                .found
                .iter()
                .any(|f| matches!(f.kind, Kind::Match { .. }) && self.is_item(on, f.kind.item())),
        }
    }

    fn gives_amount(&self, offer: &Claimed) -> bool {
        self.found.iter().any(|f| {
            let about = match (offer.about, f.about) {
                (Some(offered), Some(given)) if self.several || offered == given => {
                    offered == given
                }
                (about, _) => self.is_about(about),
            };
            f.kind == offer.kind && (f.given || !offer.given) && about
        })
    }

    fn is_about(&self, class: Option<Class>) -> bool {
        class.is_none_or(|class| self.classes.contains(&class))
    }

    fn is_item(&self, offered: &str, given: Option<&str>) -> bool {
        given.map_or_else(|| self.words.contains(offered), |given| given == offered)
    }
}

/// Returns the classes of things that a promotion is good for. Match play does not count as free
/// play, although both are play.
fn classes(words: &HashSet<String>, found: &[Claimed]) -> HashSet<Class> {
    let mut classes: HashSet<Class> = words
        .iter()
        .filter_map(|word| thing(word))
        .map(|(_, class)| class)
        .collect();
    if found.iter().any(|f| matches!(f.kind, Kind::Match { .. })) {
        classes.insert(Class::Match);
        if !found
            .iter()
            .any(|f| matches!(f.kind, Kind::FreeItem { .. }) && f.kind.item() == Some("play"))
        {
            classes.remove(&Class::Play);
        }
    }
    classes
}

/// The facts in content rows. They prove prices and free amenities, never a gift of money.
#[derive(Debug)]
pub(super) struct Content {
    stated: HashSet<Kind>,
    /// The words of each row that calls something free.
    free: Vec<HashSet<String>>,
}

impl Content {
    pub(super) fn read(rows: &[Row]) -> Self {
        let price = |cents| Kind::Money {
            cents,
            currency: Currency::Usd,
        };
        let said = rows
            .iter()
            .flat_map(|row| extract(&row.text))
            .map(|found| found.kind);
        let prices = rows
            .iter()
            .flat_map(|row| &row.prices)
            .filter_map(|&dollars| cents(dollars))
            .map(price);
        let free = rows
            .iter()
            .filter(|row| says_free(&row.text))
            .map(|row| words_of(&row.text).collect());
        Self {
            stated: said
                .chain(prices)
                .filter(|kind| kind.amount().is_some())
                .collect(),
            free: free.collect(),
        }
    }

    pub(super) fn proves(&self, offer: &Claimed) -> bool {
        match &offer.kind {
            Kind::Money {
                currency: Currency::Usd,
                ..
            }
            | Kind::Percent { .. } => !offer.given && self.stated.contains(&offer.kind),
            kind => {
                kind.is_amenity()
                    && kind
                        .item()
                        .is_some_and(|item| self.free.iter().any(|words| words.contains(item)))
            }
        }
    }
}
