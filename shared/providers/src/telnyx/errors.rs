//! Telnyx error codes as data (spec 05, section 1.5). Keyed on the code, never on title or detail.

use crate::ErrorClass::{self, Configuration, OptedOut, Permanent, Throttled, Transient};

/// (first code, last code, class). A code that is not here is permanent and shows in `seven_sends_total`.
const TABLE: &[(u32, u32, ErrorClass)] = &[
    (10_007, 10_008, Transient),
    (10_009, 10_009, Configuration),
    (10_011, 10_011, Throttled),
    (10_015, 10_016, Permanent),
    (10_023, 10_023, Permanent),
    (10_027, 10_027, Permanent),
    (10_033, 10_033, Permanent),
    (10_037, 10_037, Transient),
    (20_002, 20_002, Configuration),
    (20_006, 20_014, Configuration),
    (20_100, 20_100, Configuration),
    (40_001, 40_001, Permanent),
    (40_002, 40_002, Transient),
    (40_003, 40_003, Configuration),
    (40_004, 40_006, Transient),
    (40_007, 40_007, Permanent),
    (40_008, 40_008, Transient),
    (40_009, 40_009, Permanent),
    (40_010, 40_010, Configuration),
    (40_011, 40_011, Transient),
    (40_012, 40_012, Permanent),
    (40_013, 40_013, Configuration),
    (40_014, 40_014, Transient),
    (40_015, 40_015, Configuration),
    (40_016, 40_018, Transient),
    (40_019, 40_019, Configuration),
    (40_020, 40_020, Transient),
    (40_100, 40_159, Configuration),
    (40_300, 40_300, OptedOut),
    (40_301, 40_304, Permanent),
    (40_305, 40_309, Configuration),
    (40_310, 40_310, Permanent),
    (40_311, 40_315, Configuration),
    (40_316, 40_317, Permanent),
    (40_318, 40_318, Transient),
    (40_319, 40_319, Permanent),
    (40_320, 40_320, Transient),
    (40_321, 40_321, Configuration),
    (40_322, 40_322, Permanent),
    (40_323, 40_327, Configuration),
    (40_328, 40_328, Permanent),
    (40_329, 40_331, Configuration),
    // The daily spend limit comes as HTTP 429 but is no rate limit.
    (40_333, 40_333, Configuration),
];

/// The class of a code; `http_status` decides when the body named none.
pub fn classify(code: &str, http_status: u16) -> ErrorClass {
    let listed =
        code.parse::<u32>().ok().and_then(|n| TABLE.iter().find(|(first, last, _)| (*first..=*last).contains(&n)));
    match listed {
        Some((_, _, class)) => *class,
        None if http_status == 429 => Throttled,
        None if http_status == 401 || http_status == 403 => Configuration,
        None => Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_mean_what_the_table_says() {
        for (code, status, class) in [
            ("40300", 400, OptedOut),
            ("40333", 429, Configuration),
            ("10011", 429, Throttled),
            ("", 429, Throttled),
            ("40310", 400, Permanent),
            ("40008", 400, Transient),
            ("10009", 401, Configuration),
            ("49999", 400, Permanent),
        ] {
            assert_eq!(classify(code, status), class, "{code}");
        }
    }

    #[test]
    fn ranges_do_not_overlap() {
        assert!(TABLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
}
