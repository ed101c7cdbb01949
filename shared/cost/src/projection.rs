//! Projects the cost of a month: by the specification's formula, or from a casino's actual costs.

use serde::Serialize;

use super::{Cost, Usd};

/// Number of days in a projected month.
const DAYS: f64 = 30.0;

/// The inputs of the formula. The defaults are the specification's estimates; a casino's own
/// measurements should replace them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumed {
    pub conversations_per_day: f64,
    pub turns_per_conversation: f64,
    /// Share of the turns whose first draft is refused, 0 to 1.
    pub retry_rate: f64,
    /// Model cost of a turn whose first draft passes.
    pub turn: Usd,
    /// Model cost of a turn that needs a second draft.
    pub retried_turn: Usd,
    /// Cost of embedding the question, per turn.
    pub embedding: Usd,
}

/// The projected cost of a month.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Projection {
    pub conversations: f64,
    pub turns: f64,
    pub model: Usd,
    pub embedding: Usd,
    /// Cost of the texts. `sms` and `fixed` are zero in a projection by the formula, which covers
    /// only the models.
    pub sms: Usd,
    pub fixed: Usd,
    pub total: Usd,
    pub per_conversation: Usd,
}

impl Default for Assumed {
    fn default() -> Self {
        Self {
            conversations_per_day: 0.0,
            turns_per_conversation: 4.0,
            retry_rate: 0.15,
            turn: Usd(250_000),
            retried_turn: Usd(380_000),
            embedding: Usd(1_000),
        }
    }
}

impl Usd {
    fn scaled(self, by: f64) -> Self {
        // Amounts are at most a few million dollars; a double can represent them exactly in
        // billionths.
        Self((self.0 as f64 * by).round().max(0.0) as u64)
    }
}

impl Assumed {
    pub fn project(&self) -> Projection {
        let conversations = self.conversations_per_day * DAYS;
        let turns = conversations * self.turns_per_conversation;
        let retried = turns * self.retry_rate;
        let model = self.turn.scaled(turns - retried) + self.retried_turn.scaled(retried);
        let embedding = self.embedding.scaled(turns);
        Projection::of(conversations, turns, model, embedding, Usd(0), Usd(0))
    }
}

impl Projection {
    /// Scales the costs of a casino's month so far to a month with this many conversations a day.
    /// `None` if the casino has had no conversation.
    pub fn like(cost: &Cost, conversations_per_day: f64) -> Option<Self> {
        let had = u32::try_from(cost.used.conversations)
            .ok()
            .filter(|had| *had > 0)?;
        let conversations = conversations_per_day * DAYS;
        let by = conversations / f64::from(had);
        let turns = cost.used.turns as f64 * by;
        Some(Self::of(
            conversations,
            turns,
            cost.model.scaled(by),
            Usd(0),
            cost.sms.scaled(by),
            cost.fixed,
        ))
    }

    fn of(
        conversations: f64,
        turns: f64,
        model: Usd,
        embedding: Usd,
        sms: Usd,
        fixed: Usd,
    ) -> Self {
        let total = model + embedding + sms + fixed;
        let per_conversation = if conversations > 0.0 {
            total.scaled(1.0 / conversations)
        } else {
            Usd(0)
        };
        Self {
            conversations,
            turns,
            model,
            embedding,
            sms,
            fixed,
            total,
            per_conversation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Prices, *};

    fn cents(money: Usd) -> u64 {
        (money.0 + 5_000_000) / 10_000_000
    }

    #[test] // OBS-42: the specification's 42 conversations a day
    fn the_formula_gives_the_golden_month() {
        let month = Assumed {
            conversations_per_day: 42.0,
            ..Assumed::default()
        }
        .project();
        assert_eq!((month.conversations, month.turns), (1_260.0, 5_040.0));
        assert_eq!(
            (
                cents(month.model),
                cents(month.embedding),
                cents(month.total)
            ),
            (136, 1, 136)
        );
        assert_eq!(month.per_conversation.to_string(), "$0.0011");
        assert_eq!(Assumed::default().project().total, Usd(0));
    }

    #[test] // OBS-42
    fn a_casinos_own_month_is_stretched_but_for_what_is_fixed() {
        let used = seven_store::cost::Used {
            turns: 200,
            conversations: 50,
            segments_out: 200,
            segments_in: 200,
            model_nano_usd: 100_000_000,
            ..seven_store::cost::Used::default()
        };
        let price = |text: &str| text.parse::<Usd>().unwrap();
        let prices = Prices {
            segment_out: price("0.004"),
            segment_in: price("0.004"),
            surcharge: price("0.003"),
            number: price("1"),
            campaign: price("15"),
            infrastructure: price("0"),
            budget: price("0"),
            reindex: price("5"),
            web_visitor: price("0.5"),
            web_casino: price("50"),
        };
        let cost = prices.cost("silver_birch", "2026-11".parse().unwrap(), used);
        let month = Projection::like(&cost, 10.0).unwrap();
        assert_eq!((month.conversations, month.turns), (300.0, 1_200.0));
        assert_eq!(
            (month.model, month.sms, month.fixed),
            (price("0.6"), price("16.8"), price("16"))
        );
        assert_eq!(month.total, price("33.4"));
        assert!(
            Projection::like(
                &prices.cost("quiet", "2026-11".parse().unwrap(), Default::default()),
                10.0
            )
            .is_none()
        );
    }
}
