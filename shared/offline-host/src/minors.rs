//! Whether a question is about children.

use seven_guest::{Setting, Slot, extract};

use crate::{host::Host, understand::Understood};

/// Returns whether the guest asks for children: in this text, or in an earlier one that this text
/// continues.
pub(crate) fn is_for_a_minor(host: &Host<'_>, u: &Understood<'_>) -> bool {
    if u.wants("kids") {
        return true;
    }
    let request = host.request;
    let earlier = request.history.iter().rev().take(TURNS).map(|exchange| exchange.guest.as_str());
    !host.pack.ourselves.found(&u.said) && earlier.chain([u.text]).any(|text| names_a_minor(host, text))
}

/// Returns whether the text mentions children, as a rule or a price for them does.
pub(crate) fn speaks_of_children(text: &str) -> bool {
    const CHILDREN: [&str; 8] = ["children", "child", "kids", "ninos", "nino", "menores", "toddlers", "youth"];
    seven_knowledge::text::words(text).iter().any(|word| CHILDREN.contains(&word.as_str()))
}

pub(crate) fn names_a_minor(host: &Host<'_>, text: &str) -> bool {
    let said = seven_knowledge::text::words(text);
    if said
        .windows(2)
        .any(|pair| ["my", "our", "mi", "mis"].contains(&pair[0].as_str()) && KIN.contains(&pair[1].as_str()))
    {
        return true;
    }
    let setting = Setting { now: host.request.now, zone: host.request.zone, language: host.language, asked: None };
    extract(text, &setting).iter().any(|found| match &found.slot {
        Slot::Companion { age: Some(age), .. } => *age < GROWN,
        Slot::Companion { kin, .. } | Slot::Group { kin, .. } => kin == "child" || kin == "grandchild",
        _ => false,
    })
}

/// Age of an adult in years: anyone younger is shown only things for all ages (SEC-29).
pub(crate) const GROWN: u32 = 21;

pub(crate) const KIN: [&str; 14] = [
    "son",
    "daughter",
    "kid",
    "kids",
    "child",
    "children",
    "grandson",
    "granddaughter",
    "hijo",
    "hija",
    "hijos",
    "nieto",
    "nieta",
    "grandkids",
];

/// Number of past exchanges in which a mention of children still counts.
pub(crate) const TURNS: usize = 2;
