use std::time::Duration;

use proptest::prelude::*;

use super::{NanoUsd, Price, RetryPolicy, Settings, UsdPerMillion};
use crate::chat::{Error, Usage};

fn unavailable() -> Error {
    Error::Unavailable {
        model: "m".into(),
        status: 503,
    }
}

#[test] // PROD-13
fn the_delays_are_the_tables() {
    let policy = RetryPolicy::default();
    let delay = |retry, chance| policy.delay(retry, &unavailable(), chance).as_millis();
    assert_eq!(
        [delay(0, 0.0), delay(1, 0.0), delay(2, 0.0), delay(9, 0.0)],
        [1_000, 2_000, 4_000, 30_000]
    );
    assert_eq!([delay(0, -1.0), delay(0, 1.0)], [500, 1_500]);
    let hasty = RetryPolicy {
        initial_ms: 100,
        ..policy
    };
    assert_eq!(
        hasty.delay(0, &unavailable(), -1.0),
        Duration::ZERO,
        "floored at zero"
    );
    let told = Error::RateLimited {
        model: "m".into(),
        after: Some(Duration::from_secs(7)),
    };
    assert_eq!(policy.delay(0, &told, 0.0), Duration::from_secs(7));
    assert_eq!(policy.delay(9, &told, 0.0), Duration::from_secs(30));
}

#[test] // OBS-42, RAG-48
fn tokens_cost_whole_nano_dollars() {
    let price = Price {
        input: "0.30".parse().unwrap(),
        output: "2.5".parse().unwrap(),
    };
    let usage = |input_tokens, output_tokens| Usage {
        input_tokens,
        output_tokens,
    };
    assert_eq!(price.of(usage(1_000_000, 0)), NanoUsd(300_000_000));
    assert_eq!(price.of(usage(1, 1)), NanoUsd(2_800));
    let odd = Price {
        input: "0.000001".parse().unwrap(),
        ..Price::default()
    };
    assert_eq!(odd.of(usage(1, 0)), NanoUsd(1), "rounded up");
    assert_eq!(price.of(usage(u64::MAX, u64::MAX)), NanoUsd(u64::MAX));
    assert_eq!(NanoUsd(1_002_800).to_string(), "$0.001002800");
    assert_eq!(
        [NanoUsd(1), NanoUsd(u64::MAX)].into_iter().sum::<NanoUsd>(),
        NanoUsd(u64::MAX)
    );
}

#[test]
fn a_price_that_is_no_decimal_is_refused() {
    for bad in [
        "",
        ".",
        "1.",
        ".5",
        "-1",
        "+1",
        "1e3",
        "0.1234567",
        "1,5",
        "99999999999999999999",
    ] {
        assert!(bad.parse::<UsdPerMillion>().is_err(), "{bad}");
    }
}

#[test] // PROD-9, PROD-13
fn the_defaults_are_the_specifications_and_a_config_may_change_them() {
    let default = Settings::default();
    assert_eq!(
        (
            default.breaker_failures,
            default.breaker_window_ms,
            default.breaker_cooldown_ms
        ),
        (5, 60_000, 30_000)
    );
    assert_eq!(
        (
            default.breaker_successes,
            default.call_timeout_ms,
            default.retry.retries
        ),
        (2, 10_000, 3)
    );
    let text = "breaker_cooldown_ms = 5000\nlimit = { per_minute = 30 }\nprice = { input = \"0.30\", output = \"2.50\" }";
    let set: Settings = toml::from_str(text).unwrap();
    assert_eq!(
        (set.breaker_cooldown_ms, set.limit.per_minute.get()),
        (5_000, 30)
    );
    assert!(
        toml::from_str::<Settings>("price = { input = 0.3, output = 2.5 }").is_err(),
        "floats are no money"
    );
    assert!(toml::from_str::<Settings>("colour = 1").is_err());
}

proptest! {
    #[test] // PROD-13
    fn delays_stay_within_their_bounds(retry in 0u32..2_000, chance in -1.0f64..=1.0) {
        let delay = RetryPolicy::default().delay(retry, &unavailable(), chance);
        prop_assert!(delay >= Duration::from_millis(500) && delay <= Duration::from_millis(30_500));
    }

    #[test]
    fn prices_never_panic(text in "[0-9.]{0,30}|.*") {
        drop(text.parse::<UsdPerMillion>());
    }
}
