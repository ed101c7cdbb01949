//! Finds out whether a question is about children.

use seven_guest::{Setting, Slot, extract};

use crate::{host::Host, understand::Understood};

/// Returns whether the guest asks for something for children. Also true if the party has minors,
/// unless the guest asks for adults only.
pub(crate) fn is_for_a_minor(host: &Host<'_>, u: &Understood<'_>) -> bool {
    if u.wants("kids") {
        return true;
    }
    host.state.young || host.state.has_minors() && !host.pack.grown.found(&u.said)
}

/// Returns whether a sentence of the content mentions children; for a guest's words see
/// `names_a_minor`.
pub(crate) fn speaks_of_children(text: &str) -> bool {
    const CHILDREN: [&str; 8] = [
        "children", "child", "kids", "ninos", "nino", "menores", "toddlers", "youth",
    ];
    seven_text::words(text)
        .iter()
        .any(|word| CHILDREN.contains(&word.as_str()))
}

pub(crate) fn names_a_minor(host: &Host<'_>, text: &str) -> bool {
    let said = seven_text::words(text);
    if said.windows(2).any(|pair| {
        ["my", "our", "mi", "mis"].contains(&pair[0].as_str()) && KIN.contains(&pair[1].as_str())
    }) {
        return true;
    }
    if said.iter().any(|word| YOUNG.contains(&word.as_str())) {
        return true;
    }
    // "They're 5 and 8" gives the ages of people mentioned before.
    let aged = |pair: &[String]| {
        let young = pair[1]
            .parse::<u32>()
            .is_ok_and(|age| (1..GROWN).contains(&age));
        young && AGED.contains(&pair[0].as_str())
    };
    if said.windows(2).any(aged) {
        return true;
    }
    let setting = Setting {
        now: host.request.now,
        zone: host.request.zone,
        language: host.language,
        asked: None,
    };
    extract(text, &setting)
        .iter()
        .any(|found| match &found.slot {
            Slot::Companion { age: Some(age), .. } => *age < GROWN,
            Slot::Companion { kin, .. } | Slot::Group { kin, .. } => {
                kin == "child" || kin == "grandchild"
            }
            _ => false,
        })
}

/// The age of an adult in years; a younger person is shown only things for all ages.
pub(crate) const GROWN: u32 = 21;

/// Words with which guests mention young people in their party.
const YOUNG: [&str; 12] = [
    "teen",
    "teens",
    "teenager",
    "teenagers",
    "toddler",
    "toddlers",
    "grandkids",
    "grandson",
    "granddaughter",
    "nietos",
    "nieta",
    "adolescentes",
];

/// Words that may stand directly before an age, as in "shes 15".
const AGED: [&str; 8] = [
    "theyre", "shes", "hes", "aged", "ages", "cumple", "cumplio", "turns",
];

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
