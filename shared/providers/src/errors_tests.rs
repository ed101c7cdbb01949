use proptest::prelude::*;

use super::*;
use ErrorClass::{
    Account, Configuration, Doubtful, OptedOut, Permanent, SpendLimit, Throttled, Transient,
};

/// The table of spec 05, section 1.5: the class and the alert of each code.
#[test]
fn telnyx_codes_mean_what_the_specification_says() {
    let table: &[(&[&str], ErrorClass)] = &[
        (&["10007", "10008", "10037"], Doubtful),
        (
            &[
                "10009", "20002", "20006", "20008", "20012", "20013", "20014", "20100",
            ],
            Account,
        ),
        (&["10011"], Throttled),
        (&["10015", "10016", "10023", "10027", "10033"], Permanent),
        (
            &[
                "40001", "40007", "40009", "40012", "40301", "40302", "40303", "40304", "40308",
                "40310",
            ],
            Permanent,
        ),
        (
            &["40316", "40317", "40319", "40322", "40328", "41000"],
            Permanent,
        ),
        (
            &[
                "40002", "40004", "40005", "40006", "40008", "40011", "40014", "40016", "40017",
                "40018",
            ],
            Transient,
        ),
        (&["40020", "40318", "40320"], Transient),
        (
            &[
                "40003", "40010", "40013", "40015", "40019", "40100", "40150", "40155", "40159",
            ],
            Configuration,
        ),
        (
            &[
                "40305", "40306", "40307", "40309", "40311", "40312", "40313", "40314", "40315",
            ],
            Configuration,
        ),
        (
            &["40321", "40323", "40327", "40329", "40330", "40331"],
            Configuration,
        ),
        (&["40300"], OptedOut),
        (&["40333"], SpendLimit),
    ];
    for (codes, class) in table {
        for code in *codes {
            let found = verdict("telnyx", code, 400);
            assert_eq!((found.class, found.known), (*class, true), "{code}");
            let loud = matches!(class, Configuration | SpendLimit | Account);
            assert!(
                !loud || found.alert != AlertLevel::None,
                "{code} wants a person"
            );
        }
    }
}

#[test]
fn twilio_codes_have_their_counterparts() {
    for (code, class) in [
        ("20003", Account),
        ("20429", Throttled),
        ("20500", Doubtful),
        ("21211", Permanent),
        ("21610", OptedOut),
        ("21611", Transient),
        ("30002", Account),
        ("30003", Transient),
        ("30005", Permanent),
        ("30007", Configuration),
        ("30034", Configuration),
        ("63038", SpendLimit),
    ] {
        assert_eq!(
            (
                verdict("twilio", code, 400).class,
                verdict("twilio", code, 400).known
            ),
            (class, true),
            "{code}"
        );
    }
    assert!(
        !verdict("twilio", "40300", 400).known,
        "each provider has codes of its own"
    );
}

#[test]
fn what_no_table_knows_is_not_tried_again_and_alerts() {
    // Other pages of Telnyx name these codes, but its canonical list does not.
    for code in [
        "47000",
        "40400",
        "40500",
        "40332",
        "40334",
        "",
        "forty",
        "040300",
        "+40300",
        "99999999999",
    ] {
        let found = verdict("telnyx", code, 400);
        if code == "040300" {
            assert_eq!(found.class, OptedOut, "a number is a number");
            continue;
        }
        assert_eq!(
            (found.class, found.known, found.alert),
            (Permanent, false, AlertLevel::Warning),
            "{code}"
        );
    }
    assert_eq!(verdict("telnyx", "", 429).class, Throttled);
    assert_eq!(verdict("telnyx", "", 401).class, Account);
    assert_eq!(
        verdict("telnyx", "40333", 429).class,
        SpendLimit,
        "the code before the status"
    );
    assert_eq!(
        verdict("a provider of next year", "40300", 400).class,
        Permanent
    );
}

#[test]
fn a_table_that_does_not_hold_is_refused() {
    let row =
        |codes: &str, rest: &str| format!("[[error]]\ncodes = {codes}\nmeaning = \"m\"\n{rest}\n");
    let permanent = "class = \"permanent\"";
    for bad in [
        row("[\"forty\"]", permanent),
        row("[]", permanent),
        row("[\"2\", \"1\"]", permanent),
        row("[\"2\"]", permanent) + &row("[\"1\", \"2\"]", permanent),
        row("[\"1\"]", "class = \"transient\""),
        row("[\"1\"]", "class = \"permanent\"\nretry = [1]"),
        row("[\"1\"]", "class = \"no such class\""),
    ] {
        assert!(Table::read(&bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn every_code_has_a_verdict_and_only_known_transient_ones_a_schedule(
        code in "[0-9]{0,6}|\\PC{0,8}",
        status in 100u16..600,
    ) {
        for provider in ["telnyx", "twilio", ""] {
            let found = verdict(provider, &code, status);
            prop_assert_eq!(found.class == Transient, !found.retry.is_empty());
            prop_assert!(
                found.known || found.class == Throttled || found.alert != AlertLevel::None
            );
        }
    }

    #[test]
    fn a_range_holds_exactly_its_codes(code in 40_140u32..40_170) {
        prop_assert_eq!(
            verdict("telnyx", &code.to_string(), 400).known,
            (40_150..=40_159).contains(&code)
        );
    }
}
