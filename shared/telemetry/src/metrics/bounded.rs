//! Limits the label values that come from outside. The first 128 codes are used as they are. Later
//! codes, and values that do not look like codes, become `other`.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

const MOST: usize = 128;
const LONGEST: usize = 24;
const OTHER: &str = "other";

static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Returns a provider's error code as a label value. The value is bounded here, because no provider
/// guarantees that its codes are short and few.
pub fn code(given: &str) -> &str {
    keep(
        &mut KNOWN.lock().unwrap_or_else(PoisonError::into_inner),
        given,
    )
}

fn keep<'a>(known: &mut BTreeSet<String>, given: &'a str) -> &'a str {
    // A phone number has more digits than any code, so it cannot become a label.
    let is_code = given.len() <= LONGEST
        && given
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && given.bytes().filter(u8::is_ascii_digit).count() <= 6;
    if !is_code {
        return OTHER;
    }
    if given.is_empty() || known.contains(given) {
        return given;
    }
    if known.len() >= MOST {
        return OTHER;
    }
    known.insert(given.to_owned());
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // OBS-15
    fn what_is_no_code_and_what_is_one_too_many_are_counted_together() {
        let mut known = BTreeSet::new();
        for (given, label) in [
            ("40300", "40300"),
            ("", ""),
            ("account_suspended", "account_suspended"),
            ("+18605550142", OTHER),
            ("18605550142", OTHER),
            ("a sentence of the provider", OTHER),
        ] {
            assert_eq!(keep(&mut known, given), label, "{given}");
        }
        for n in 0..1_000 {
            keep(&mut known, &n.to_string());
        }
        assert_eq!(known.len(), MOST);
        assert_eq!(keep(&mut known, "40300"), "40300", "who came first stays");
        assert_eq!(keep(&mut known, "99999"), OTHER);
    }
}
