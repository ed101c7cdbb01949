//! Finds rows that must not be suggested to a guest. Examples: a massage "not recommended during
//! pregnancy" for a pregnant guest, a seafood restaurant for a guest with an allergy to shellfish.

use seven_knowledge::{Category, Item, item::Details};
use seven_llm::Request;
use seven_text::{sentences, words};

use crate::{
    host::Host,
    pack::{Caution, HostPack},
    phrases::Tokens,
};

/// Words that turn a sentence about a condition into a warning.
const WARNING: [&str; 12] = [
    "not",
    "no",
    "avoid",
    "unsuitable",
    "except",
    "dont",
    "cannot",
    "never",
    "evite",
    "evitar",
    "excepto",
    "prohibido",
];

/// Returns the conditions that the guest has named, now or earlier.
pub(crate) fn named<'a>(pack: &'a HostPack, request: &Request) -> Vec<&'a Caution> {
    let earlier = request.history.iter().map(|exchange| &exchange.guest);
    let said: Vec<Tokens> = earlier
        .chain(&request.texts)
        .map(|text| Tokens::new(text))
        .collect();
    let cautions = pack.cautions.iter();
    cautions
        .filter(|caution| said.iter().any(|tokens| caution.said.found(tokens)))
        .collect()
}

/// Returns whether the row must not be suggested. Either its text warns of a condition that the
/// guest has named, or the row does not suit that condition or an allergy of the party.
pub(crate) fn warns(host: &Host<'_>, item: &Item) -> bool {
    let eats = item.category == Category::Dining;
    let diets = host.state.diets.iter().filter(|_| eats);
    let allergies = diets.filter_map(|diet| {
        let allergen = diet.strip_prefix("allergy: ")?;
        host.pack.allergens.get(allergen)
    });
    let unfit = host.cautions.iter().map(|caution| &caution.unfit);
    let mut unfit = unfit.chain(allergies).peekable();
    // Returns early, because this check runs for every row in every turn, and few guests name a
    // condition.
    if unfit.peek().is_none() {
        return false;
    }
    let told = Tokens::new(&told(item));
    let mut cautions = host.cautions.iter();
    cautions.any(|caution| is_warned(item, caution)) || unfit.any(|phrases| phrases.found(&told))
}

/// Returns all texts of the row, also the internal notes: they may say for whom the row is unfit.
/// No guest sees the notes.
fn told(item: &Item) -> String {
    let cuisine = match &item.details {
        Details::Dining(dining) => Some(dining.cuisine_type.as_str()),
        _ => None,
    };
    let own = [Some(item.name.as_str()), Some(&item.description), cuisine];
    let own = own.into_iter().flatten();
    let also = [&item.description_es, &item.notes].into_iter().flatten();
    let also = also.chain(&item.keywords).map(String::as_str);
    own.chain(also).collect::<Vec<_>>().join(" . ")
}

fn is_warned(item: &Item, caution: &Caution) -> bool {
    let spanish = item.description_es.as_deref().unwrap_or_default();
    [item.description.as_str(), spanish].iter().any(|text| {
        sentences(text).into_iter().any(|sentence| {
            let warning = words(sentence)
                .iter()
                .any(|word| WARNING.contains(&word.as_str()));
            warning && caution.rows.found(&Tokens::new(sentence))
        })
    })
}
