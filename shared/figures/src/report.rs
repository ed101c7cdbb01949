//! The figures of a period and of each of its days, and the costs of its months.

use seven_cost::{Cost, Month, Prices, Usd};
use seven_domain::Language;
use seven_store::{
    Result, Tx,
    figures::{Counted, CountedDay},
};

use crate::{Figure, Period, csv};

/// The value of a whole figure, or of one of its parts, such as one language.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    pub figure: Figure,
    /// The name of the part; empty for the whole figure.
    pub part: String,
    pub value: f64,
}

/// One day of a period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Day {
    pub counted: CountedDay,
    /// Cost of models and texts. Fixed monthly costs are not divided among days.
    pub cost: Usd,
}

#[derive(Debug, Clone)]
pub struct Report {
    pub period: Period,
    /// Sorted in the order of [`Figure`]; the parts of a figure begin with the largest. A figure
    /// for which nothing was measured is missing.
    pub values: Vec<Value>,
    pub days: Vec<Day>,
}

/// Returns the costs of every calendar month (UTC) that the period touches, each for the whole
/// month.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn months(tx: &mut Tx, prices: &Prices, period: Period) -> Result<Vec<Cost>> {
    let mut months = Vec::new();
    let mut month = Month::with(period.from);
    while month <= Month::with(period.to) {
        months.push(seven_cost::month_here(tx, prices, month).await?);
        month = month.next();
    }
    Ok(months)
}

impl Report {
    /// Reads the report of the casino to which `tx` is bound.
    ///
    /// # Errors
    /// Fails when Postgres does not answer.
    pub async fn read(tx: &mut Tx, prices: &Prices, period: Period) -> Result<Self> {
        let (from, to) = period.bounds();
        let counted = tx.figures(from, to).await?;
        let days = tx.figure_days(from, to, period.zone.name()).await?;
        let days: Vec<Day> = days.into_iter().map(|day| priced(prices, day)).collect();
        let values = values(counted, &days, prices);
        Ok(Self {
            period,
            values,
            days,
        })
    }

    /// Returns the value of the whole figure; `None` if nothing was measured.
    pub fn value(&self, figure: Figure) -> Option<f64> {
        let whole = |value: &&Value| value.figure == figure && value.part.is_empty();
        self.values.iter().find(whole).map(|value| value.value)
    }

    /// Returns the values of a figure's parts, the largest first.
    pub fn parts(&self, figure: Figure) -> impl Iterator<Item = &Value> {
        let of = move |value: &&Value| value.figure == figure && !value.part.is_empty();
        self.values.iter().filter(of)
    }

    /// Returns the figures as CSV, one line per value.
    pub fn csv(&self, language: Language) -> String {
        let (from, to) = (self.period.from.to_string(), self.period.to.to_string());
        let head = [
            "from",
            "to",
            "figure",
            "part",
            "value",
            "unit",
            "definition",
        ];
        let rows = self.values.iter().map(|of| {
            let unit = of.figure.unit();
            [
                from.clone(),
                to.clone(),
                of.figure.to_string(),
                of.part.clone(),
                unit.written(of.value),
                unit.as_str().to_owned(),
                of.figure.definition(language).to_owned(),
            ]
        });
        csv::table(&head, rows)
    }

    /// Returns the days as CSV, one line per day.
    pub fn days_csv(&self) -> String {
        let head = [
            "day",
            "texts_in",
            "answered",
            "texts_out",
            "cases",
            "opt_outs",
            "cost_dollars",
        ];
        let rows = self.days.iter().map(|Day { counted, cost }| {
            [
                counted.day.to_string(),
                counted.texts_in.to_string(),
                counted.answered.to_string(),
                counted.texts_out.to_string(),
                counted.cases.to_string(),
                counted.opt_outs.to_string(),
                format!("{:.6}", cost.dollars()),
            ]
        });
        csv::table(&head, rows)
    }
}

fn priced(prices: &Prices, counted: CountedDay) -> Day {
    Day {
        cost: model(&counted) + prices.sms(counted.segments_out, counted.segments_in),
        counted,
    }
}

fn model(day: &CountedDay) -> Usd {
    Usd(u64::try_from(day.model_nano_usd).unwrap_or_default())
}

/// Adds shares and costs to the counted figures, and sorts them.
fn values(counted: Vec<Counted>, days: &[Day], prices: &Prices) -> Vec<Value> {
    let mut values: Vec<Value> = counted
        .into_iter()
        .filter_map(|one| {
            Some(Value {
                figure: one.figure.parse().ok()?,
                part: one.part,
                value: one.value,
            })
        })
        .collect();
    let sum = |of: fn(&CountedDay) -> i64| days.iter().map(|day| of(&day.counted)).sum::<i64>();
    let of_model: Usd = days
        .iter()
        .fold(Usd::default(), |sum, day| sum + model(&day.counted));
    let of_texts = prices.sms(sum(|day| day.segments_out), sum(|day| day.segments_in));
    let mut add = |figure, value: f64| {
        values.push(Value {
            figure,
            part: String::new(),
            value,
        });
    };
    add(Figure::CostModel, of_model.dollars());
    add(Figure::CostTexts, of_texts.dollars());
    add(Figure::Cost, (of_model + of_texts).dollars());
    for (figure, part, rest) in [
        (
            Figure::AnsweredShare,
            Figure::Answered,
            &[Figure::Unanswered][..],
        ),
        (Figure::GroundedShare, Figure::Grounded, &[]),
        (
            Figure::DeliveredShare,
            Figure::Delivered,
            &[Figure::Undelivered],
        ),
    ] {
        let of = |figure| {
            let whole = values.iter().find(|value: &&Value| value.figure == figure);
            whole.map_or(0.0, |value| value.value)
        };
        let whole = match figure {
            Figure::GroundedShare => of(Figure::Replies),
            _ => of(part) + rest.iter().map(|rest| of(*rest)).sum::<f64>(),
        };
        if whole > 0.0 {
            let value = of(part) / whole;
            values.push(Value {
                figure,
                part: String::new(),
                value,
            });
        }
    }
    values.sort_by(|a, b| {
        let by_value = b.value.total_cmp(&a.value);
        a.figure
            .cmp(&b.figure)
            .then(by_value)
            .then_with(|| a.part.cmp(&b.part))
    });
    values
}
