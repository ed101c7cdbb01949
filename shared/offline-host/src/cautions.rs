//! Finds rows whose own text warns a guest: a massage that is "not recommended during pregnancy" is
//! never suggested to a guest who says that she is pregnant.

use seven_knowledge::Item;
use seven_llm::Request;
use seven_text::{sentences, words};

use crate::{
    host::Host,
    pack::{Caution, HostPack},
    phrases::Tokens,
};

/// Words that make a sentence about a condition a warning.
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

/// Returns whether the row's text warns of a condition that the guest has named.
pub(crate) fn warns(host: &Host<'_>, item: &Item) -> bool {
    host.cautions.iter().any(|caution| is_warned(item, caution))
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
