//! Properties of the offer check that hold for every text.

use proptest::{prelude::*, sample::select};

use super::*;

/// Pieces of replies and promotions, so that random texts built from them exercise the rules.
fn piece() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "$20",
        "$62",
        "$5",
        "$500",
        "20%",
        "20 por ciento",
        "fifty dollars",
        "50 dólares",
        "free play",
        "free drink",
        "on us",
        "gratis",
        "juego gratis",
        "comp",
        "code",
        "TWOLEAF",
        "off",
        "spa",
        "stay",
        "you get",
        "spend",
        "the ribeye is",
        "and",
        ",",
        "-",
        "/",
        "2x1",
        "match",
        "deposit",
        "dining credit",
        "café",
        "😀",
        "mil",
        "for",
        "de",
        "credit card",
        "buy one get one",
    ];
    prop_oneof![
        8 => select(PIECES).prop_map(str::to_owned),
        1 => "[ -~]{0,6}",
        1 => any::<String>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.join(" "))
}

fn promotions() -> impl Strategy<Value = Vec<Promotion>> {
    let one =
        (text(), text(), prop::option::of(0.0..600.0)).prop_map(|(name, description, value)| {
            Promotion {
                id: "more".into(),
                wording: vec![name, description],
                value: value.map(f64::round),
                valid_from: None,
                valid_until: None,
            }
        });
    prop::collection::vec(one, 0..4)
}

proptest! {
    #[test]
    fn total_on_any_text(reply in any::<String>()) {
        let found = check(&reply, &resort(), noon(), ZONE);
        prop_assert_eq!(found.verified, found.action == Action::Pass);
        prop_assert_eq!(found.has_offers, !found.offers_found.is_empty());
        for offer in &found.offers_found {
            prop_assert_eq!(&reply[offer.span.clone()], &offer.text);
        }
    }

    #[test]
    fn more_promotions_take_nothing_away(reply in text(), more in promotions()) {
        let mut catalogue = resort();
        let before = check(&reply, &catalogue, noon(), ZONE);
        catalogue.promotions.extend(more);
        let after = check(&reply, &catalogue, noon(), ZONE);
        prop_assert!(after.action <= before.action);
        prop_assert!(
            after
                .unverified_offers
                .iter()
                .all(|offer| before.unverified_offers.contains(offer))
        );
    }

    #[test]
    fn more_text_excuses_nothing(reply in text(), more in text()) {
        let catalogue = resort();
        let before = action(&reply, &catalogue);
        for reply in [
            format!("{reply}\n{more}"),
            format!("{more}\n{reply}"),
            format!("{reply}! {more}"),
        ] {
            prop_assert!(action(&reply, &catalogue) >= before, "{}", reply);
        }
    }

    #[test]
    fn a_promotion_quoted_proves_itself(wording in text()) {
        let catalogue = Catalogue {
            promotions: vec![promotion("p", 1.0, &[&wording])],
            rows: Vec::new(),
        };
        let found = check(&wording, &catalogue, noon(), ZONE);
        let odd = |offer: &Offer| match &offer.kind {
            Kind::FreeItem { item } | Kind::Comp { item } => item.is_none(),
            Kind::Money { currency, .. } => *currency == Currency::Other,
            _ => false,
        };
        prop_assert!(found.unverified_offers.iter().all(odd), "{:?}", found.unverified_offers);
    }

    #[test]
    fn an_amount_is_proven_by_its_equal_only(listed in 1..10_000u64, said in 1..10_000u64) {
        let play = promotion(
            "p",
            listed as f64,
            &["Free play", "Slot free play for members"],
        );
        let catalogue = Catalogue {
            promotions: vec![play],
            rows: vec![row("Trout", &[listed as f64])],
        };
        for reply in [
            format!("You get ${said} free play"),
            format!("The trout is ${said}."),
            format!("{said} dólares de juego gratis"),
        ] {
            prop_assert_eq!(
                action(&reply, &catalogue) == Action::Pass,
                listed == said,
                "{}",
                reply
            );
        }
    }
}

#[test]
fn long_replies_take_linear_time() {
    let seconds = |text: &str| {
        let start = std::time::Instant::now();
        check(text, &resort(), noon(), ZONE);
        start.elapsed().as_secs_f64()
    };
    for piece in [
        "one ", "$1 ", "you get ", "free ", "1,", "1-", "buy one ", "gratis ",
    ] {
        seconds(&piece.repeat(100));
        let (short, long) = (
            seconds(&piece.repeat(2_000)),
            seconds(&piece.repeat(16_000)),
        );
        // Eight times the text may take 30 times as long, which allows for a busy machine;
        // quadratic work would take 64 times.
        assert!(long < 30.0 * short + 0.2, "{piece:?}: {short} s, {long} s");
    }
}
