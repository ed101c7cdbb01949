//! Tests of the whole check, on replies as guests would read them.

mod dates;
mod properties;
mod rows;

use chrono::{DateTime, Utc};
use chrono_tz::{America::New_York, Tz};

use super::*;

const ZONE: Tz = New_York;

fn at(time: &str) -> DateTime<Utc> {
    time.parse().unwrap()
}

fn noon() -> DateTime<Utc> {
    at("2026-07-15T16:00:00Z")
}

fn promotion(id: &str, value: f64, wording: &[&str]) -> Promotion {
    let wording = wording.iter().map(|&text| text.to_owned()).collect();
    Promotion {
        id: id.into(),
        wording,
        value: Some(value),
        valid_from: None,
        valid_until: None,
    }
}

fn row(text: &str, prices: &[f64]) -> Row {
    Row {
        text: text.into(),
        prices: prices.to_vec(),
    }
}

/// Returns the catalogue of table 12.4 of the specification: one campaign and one row with menu
/// prices.
fn table() -> Catalogue {
    Catalogue {
        promotions: vec![promotion(
            "summer",
            20.0,
            &["Summer Free Play", "$500 free play for members"],
        )],
        rows: vec![row("The Grove. Dry-aged ribeye $62, trout $38.", &[])],
    }
}

fn resort() -> Catalogue {
    Catalogue {
        promotions: vec![
            promotion(
                "play",
                20.0,
                &[
                    "New Leaf Free Play",
                    "Juego gratis de bienvenida",
                    "$20 in slot free play on the day you join the Leaf Club.",
                    "$20 de juego gratis en tragamonedas el día que se une al Club Leaf.",
                ],
            ),
            promotion(
                "dining",
                25.0,
                &[
                    "Midweek Dining Credit",
                    "Crédito de cena entre semana",
                    "$25 dining credit on each hotel night from Sunday to Thursday.",
                    "$25 de crédito para comidas por cada noche de hotel de domingo a jueves.",
                ],
            ),
            promotion(
                "stay",
                40.0,
                &[
                    "Stay Two Save More",
                    "$40 off a stay of two nights or more when booked by phone with code Twoleaf.",
                    "$40 menos en estancias de dos noches o más al reservar por teléfono con el código Twoleaf.",
                ],
            ),
            promotion(
                "spa",
                15.0,
                &["Quiet Day Spa", "15% off any massage, Monday to Thursday."],
            ),
            promotion(
                "wings",
                12.0,
                &[
                    "Two-for-one wings",
                    "Buy one get one wings at the bar on Mondays.",
                ],
            ),
            promotion(
                "match",
                50.0,
                &["Match Play Monday", "$50 match play at any table."],
            ),
            promotion(
                "visit",
                30.0,
                &[
                    "Spend and play",
                    "Spend $100 at any restaurant, get $30 free play.",
                ],
            ),
        ],
        rows: vec![
            row("The Grove. Dry-aged ribeye $62, trout $38.", &[]),
            row("Family show at Aurora Hall", &[35.0, 75.5]),
            row(
                "Free covered garage with a walkway to the casino floor.",
                &[],
            ),
            row("WiFi gratis en toda la propiedad.", &[]),
            row("Gift cards from $25 to $500 work at restaurants.", &[]),
            row(
                "Valet is $20 a day. An 18% service charge applies to groups.",
                &[],
            ),
            row("La salida tardía cuesta $40.", &[]),
        ],
    }
}

fn action(reply: &str, catalogue: &Catalogue) -> Action {
    check(reply, catalogue, noon(), ZONE).action
}
