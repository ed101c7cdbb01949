use proptest::prelude::*;

use super::*;
use crate::policy;

fn threshold(alert: &str) -> &'static Threshold {
    policy()
        .figures
        .iter()
        .find(|figure| figure.alert == alert)
        .unwrap()
}

const GOOD: Figures = Figures {
    sent: 200,
    single_segment: 190,
    counted: 200,
    delivered: 199,
    bounced: 1,
    opt_outs: 0,
    reported: 200,
    receipt_seconds: Some(4.0),
};
const WARNING: Standing = Standing::Beyond(Severity::Warning);
const CRITICAL: Standing = Standing::Beyond(Severity::Critical);

#[test] // SMS-54: the table of figures, at its edges
fn figures_are_judged_at_their_edges() {
    let cases = [
        (
            "delivery_rate",
            Figures {
                delivered: 190,
                ..GOOD
            },
            Standing::Good,
        ),
        (
            "delivery_rate",
            Figures {
                delivered: 189,
                ..GOOD
            },
            WARNING,
        ),
        (
            "delivery_rate",
            Figures {
                delivered: 180,
                ..GOOD
            },
            WARNING,
        ),
        (
            "delivery_rate",
            Figures {
                delivered: 179,
                ..GOOD
            },
            CRITICAL,
        ),
        (
            "bounce_rate",
            Figures { bounced: 4, ..GOOD },
            Standing::Good,
        ),
        ("bounce_rate", Figures { bounced: 5, ..GOOD }, WARNING),
        (
            "bounce_rate",
            Figures {
                bounced: 11,
                ..GOOD
            },
            CRITICAL,
        ),
        (
            "opt_out_rate",
            Figures {
                opt_outs: 2,
                ..GOOD
            },
            Standing::Good,
        ),
        (
            "opt_out_rate",
            Figures {
                opt_outs: 3,
                ..GOOD
            },
            WARNING,
        ),
        (
            "opt_out_rate",
            Figures {
                opt_outs: 5,
                ..GOOD
            },
            CRITICAL,
        ),
        // Two opt-outs among twenty texts are 10 %, but may be chance.
        (
            "opt_out_rate",
            Figures {
                opt_outs: 2,
                counted: 20,
                ..GOOD
            },
            Standing::Good,
        ),
        (
            "receipt_latency",
            Figures {
                receipt_seconds: Some(60.0),
                ..GOOD
            },
            Standing::Good,
        ),
        (
            "receipt_latency",
            Figures {
                receipt_seconds: Some(61.0),
                ..GOOD
            },
            WARNING,
        ),
        (
            "receipt_latency",
            Figures {
                receipt_seconds: Some(121.0),
                ..GOOD
            },
            CRITICAL,
        ),
        (
            "single_segment_share",
            Figures {
                single_segment: 139,
                ..GOOD
            },
            WARNING,
        ),
        (
            "single_segment_share",
            Figures {
                single_segment: 99,
                ..GOOD
            },
            CRITICAL,
        ),
    ];
    for (alert, figures, standing) in cases {
        assert_eq!(
            threshold(alert).judge(&figures),
            standing,
            "{alert} {figures:?}"
        );
    }
}

#[test] // C-48: zero traffic is no outage, and neither are nineteen texts
fn few_texts_say_nothing() {
    for figure in &policy().figures {
        assert_eq!(
            figure.judge(&Figures::default()),
            Standing::TooFew,
            "{}",
            figure.alert
        );
        let nineteen = Figures {
            sent: 19,
            counted: 19,
            reported: 19,
            receipt_seconds: Some(500.0),
            ..Figures::default()
        };
        assert_eq!(
            figure.judge(&nineteen),
            Standing::TooFew,
            "{}",
            figure.alert
        );
        let text = figure.told(&GOOD);
        assert!(text.contains(&figure.action) && text.len() < 400, "{text}");
    }
}

#[test] // SMS-52
fn a_block_is_a_low_share_or_refusals_in_a_row() {
    let block = &policy().block;
    let streak = |carrier: &str, refused| Streak {
        provider: "telnyx".into(),
        carrier: carrier.into(),
        refused,
    };
    let of = |delivered, counted| Figures {
        delivered,
        counted,
        ..Figures::default()
    };
    assert_eq!(block.judge(&of(10, 20), &[]), None, "half arrived");
    assert_eq!(block.judge(&of(9, 20), &[]), Some(Blocked::Share(0.45, 20)));
    assert_eq!(block.judge(&of(0, 19), &[]), None, "too few");
    assert_eq!(
        block.judge(&of(0, 0), &[streak("A", 10)]),
        None,
        "ten are not more than ten"
    );
    let worst = block.judge(&of(100, 100), &[streak("A", 3), streak("B", 11)]);
    assert_eq!(
        worst,
        Some(Blocked::Streak(streak("B", 11))),
        "one carrier among others that deliver"
    );
    assert!(
        block
            .told(&worst.unwrap())
            .starts_with("B behind telnyx refused 11 texts in a row")
    );
    assert!(
        block
            .told(&Blocked::Share(0.45, 20))
            .starts_with("only 45.0 % of 20 texts")
    );
}

proptest! {
    // A worse figure never gets a better judgement.
    #[test]
    fn worse_is_never_better(counted in 20i64..5_000, a in 0i64..5_000, b in 0i64..5_000) {
        let (a, b) = (a.min(b).min(counted), a.max(b).min(counted));
        let rank = |standing| match standing {
            Standing::Good => 0,
            Standing::Beyond(Severity::Critical) => 2,
            Standing::Beyond(_) => 1,
            Standing::TooFew => 9,
        };
        let delivered = |n| {
            rank(threshold("delivery_rate").judge(&Figures {
                counted,
                delivered: n,
                ..Figures::default()
            }))
        };
        prop_assert!(delivered(a) >= delivered(b));
        let bounced = |n| {
            rank(threshold("bounce_rate").judge(&Figures {
                counted,
                bounced: n,
                ..Figures::default()
            }))
        };
        prop_assert!(bounced(a) <= bounced(b));
    }
}
