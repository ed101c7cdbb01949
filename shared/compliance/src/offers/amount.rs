//! Reads amounts of money and percentages, in digits or words, English or Spanish, as whole
//! hundredths.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    Currency,
    words::{Gap, Word},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Money { cents: u64, currency: Currency },
    Percent { hundredths: u64 },
}

/// Returns the amount that begins at this word, and the index of the word after it.
pub(super) fn amount(words: &[Word], at: usize) -> Option<(Amount, usize)> {
    let first = words.get(at)?;
    if let Some(currency) = currency_before(first) {
        // "($$, 11am-12am)" is a price range, and not 11 dollars.
        if words
            .get(at + 1)
            .is_some_and(|next| next.gap == Gap::Clause)
        {
            return None;
        }
        let (cents, end) = number(words, at + 1)?;
        // In "$50 USD" the unit belongs to this amount; in "$50 $60" the second sign belongs to the
        // second amount.
        let after = words.get(end).filter(|w| w.is_letters()).and_then(unit);
        let end = if matches!(after, Some(Unit::Money(..))) {
            end + 1
        } else {
            end
        };
        return Some((Amount::Money { cents, currency }, end));
    }
    let (hundredths, end) = number(words, at)?;
    measured(words, hundredths, end).or_else(|| {
        // In "20-25% off" and "10-20 dollars" the first number has the unit of the second.
        let (_, after) = number(words, end).filter(|_| words[end].gap == Gap::Hyphen)?;
        measured(words, hundredths, after).map(|(amount, _)| (amount, end))
    })
}

/// Returns the second amount of a range such as "$25-500". The first amount ends just before `at`.
pub(super) fn range_end(words: &[Word], at: usize, currency: Currency) -> Option<(Amount, usize)> {
    let (cents, end) = number(words, at).filter(|_| words[at].gap == Gap::Hyphen)?;
    Some((Amount::Money { cents, currency }, end))
}

/// Returns the number that begins at this word, in hundredths of its unit. Also returns the index
/// of the word after the number.
pub(super) fn number(words: &[Word], at: usize) -> Option<(u64, usize)> {
    let first = words.get(at)?;
    if first.is_number() {
        let mut value = hundredths(&first.text);
        let mut end = at + 1;
        while let Some(by) = words
            .get(end)
            .and_then(multiplier)
            .filter(|_| end - at < LONGEST)
        {
            value = value.saturating_mul(by);
            end += 1;
        }
        return Some((value, end));
    }
    spelled(words, at)
}

/// The maximum number of words of an amount; it bounds the time for a long row of number words.
const LONGEST: usize = 9;

fn spelled(words: &[Word], at: usize) -> Option<(u64, usize)> {
    let (mut total, mut part, mut end) = (0u64, 0u64, at);
    while let Some(word) = words
        .get(end)
        .filter(|w| end - at < LONGEST && (end == at || w.gap < Gap::Clause))
    {
        match word.text.as_str() {
            "hundred" => part = part.max(1).saturating_mul(100),
            "thousand" | "mil" => {
                total = total.saturating_add(part.max(1).saturating_mul(1000));
                part = 0;
            }
            "million" | "millon" | "millones" => {
                total = total.saturating_add(part).max(1).saturating_mul(1_000_000);
                part = 0;
            }
            "a" | "an"
                if end == at && words.get(at + 1).is_some_and(|w| multiplier(w).is_some()) => {}
            "and" | "y"
                if end > at && words.get(end + 1).is_some_and(|w| value(&w.text).is_some()) => {}
            text => match value(text) {
                Some(value) => part = part.saturating_add(value),
                None => break,
            },
        }
        end += 1;
    }
    (end > at).then(|| (total.saturating_add(part).saturating_mul(100), end))
}

/// Reads `1,234.5`, `1.234,50` and `1.000` in hundredths: the last separator is a decimal point if
/// one or two digits follow it.
fn hundredths(digits: &str) -> u64 {
    let decimals = digits
        .rfind(['.', ','])
        .map(|at| &digits[at + 1..])
        .filter(|d| d.len() <= 2)
        .unwrap_or_default();
    let whole = &digits[..digits.len() - decimals.len()];
    let join = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit);
        digits.fold(0u64, |n, d| {
            n.saturating_mul(10).saturating_add(u64::from(d - b'0'))
        })
    };
    let fraction = if decimals.len() == 1 {
        join(decimals) * 10
    } else {
        join(decimals)
    };
    join(whole).saturating_mul(100).saturating_add(fraction)
}

#[derive(Debug, Clone, Copy)]
enum Unit {
    /// A currency, and how many of this unit make one whole: 100 cents make a dollar.
    Money(Currency, u64),
    Percent,
}

fn measured(words: &[Word], hundredths: u64, end: usize) -> Option<(Amount, usize)> {
    let word = words.get(end).filter(|w| w.gap < Gap::Clause)?;
    if word.is("per") || word.is("por") {
        let percent = words
            .get(end + 1)
            .is_some_and(|w| w.is("cent") || w.is("ciento"));
        return percent.then_some((Amount::Percent { hundredths }, end + 2));
    }
    let sign_of_the_next = word.is("$")
        && words
            .get(end + 1)
            .is_some_and(|w| w.is_number() && w.gap <= Gap::None);
    let amount = match unit(word).filter(|_| !sign_of_the_next)? {
        Unit::Money(currency, per) => Amount::Money {
            cents: hundredths / per,
            currency,
        },
        Unit::Percent => Amount::Percent { hundredths },
    };
    Some((amount, end + 1))
}

fn unit(word: &Word) -> Option<Unit> {
    Some(match word.text.as_str() {
        "$" | "dollar" | "dollars" | "usd" | "buck" | "bucks" | "dolar" | "dolares" | "dlls"
        | "dls" => Unit::Money(Currency::Usd, 1),
        "¢" | "cent" | "cents" | "centavo" | "centavos" => Unit::Money(Currency::Usd, 100),
        "€" | "£" | "euro" | "euros" | "peso" | "pesos" => Unit::Money(Currency::Other, 1),
        "%" | "percent" | "pct" => Unit::Percent,
        _ => return None,
    })
}

fn currency_before(word: &Word) -> Option<Currency> {
    match word.text.as_str() {
        "$" | "usd" => Some(Currency::Usd),
        "€" | "£" => Some(Currency::Other),
        _ => None,
    }
}

fn multiplier(word: &Word) -> Option<u64> {
    match word.text.as_str() {
        "hundred" => Some(100),
        "thousand" | "mil" => Some(1000),
        "million" | "millon" | "millones" => Some(1_000_000),
        "k" if word.gap == Gap::None => Some(1000),
        "m" | "mm" if word.gap == Gap::None => Some(1_000_000),
        _ => None,
    }
}

fn value(word: &str) -> Option<u64> {
    static BY_NAME: LazyLock<HashMap<&str, u64>> = LazyLock::new(|| {
        NUMBERS
            .iter()
            .flat_map(|&(value, names)| names.split(' ').map(move |name| (name, value)))
            .collect()
    });
    BY_NAME.get(word).copied()
}

const NUMBERS: &[(u64, &str)] = &[
    (1, "one un uno una"),
    (2, "two dos"),
    (3, "three tres"),
    (4, "four cuatro"),
    (5, "five cinco"),
    (6, "six seis"),
    (7, "seven siete"),
    (8, "eight ocho"),
    (9, "nine nueve"),
    (10, "ten diez"),
    (11, "eleven once"),
    (12, "twelve doce"),
    (13, "thirteen trece"),
    (14, "fourteen catorce"),
    (15, "fifteen quince"),
    (16, "sixteen dieciseis"),
    (17, "seventeen diecisiete"),
    (18, "eighteen dieciocho"),
    (19, "nineteen diecinueve"),
    (20, "twenty veinte"),
    (25, "veinticinco"),
    (30, "thirty treinta"),
    (40, "forty cuarenta"),
    (50, "fifty cincuenta"),
    (60, "sixty sesenta"),
    (70, "seventy setenta"),
    (80, "eighty ochenta"),
    (90, "ninety noventa"),
    (100, "cien ciento"),
    (200, "doscientos"),
    (300, "trescientos"),
    (400, "cuatrocientos"),
    (500, "quinientos"),
    (600, "seiscientos"),
    (700, "setecientos"),
    (800, "ochocientos"),
    (900, "novecientos"),
];

/// Converts dollars, as content rows and promotions give them, to cents; `None` if the value is
/// negative or too large.
pub(super) fn cents(dollars: f64) -> Option<u64> {
    let cents = (dollars * 100.0).round();
    // A double represents every whole number below 2^53 exactly.
    (0.0..9e15).contains(&cents).then_some(cents as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::words::sentences, *};

    fn usd(text: &str) -> Option<u64> {
        let words = sentences(text).into_iter().next()?;
        match amount(&words, 0)? {
            (
                Amount::Money {
                    cents,
                    currency: Currency::Usd,
                },
                end,
            ) if end == words.len() => Some(cents),
            _ => None,
        }
    }

    #[test]
    fn money() {
        for (text, cents) in [
            ("$50", 5000),
            ("$ 50", 5000),
            ("$50 USD", 5000),
            ("USD 50", 5000),
            ("50 usd", 5000),
            ("50$", 5000),
            ("$1,000.00", 100_000),
            ("$1.000,50", 100_050),
            ("$1.000", 100_000),
            ("$12.5", 1250),
            ("$.50", 50),
            ("50¢", 50),
            ("75 cents", 75),
            ("$5k", 500_000),
            ("$1.5 million", 150_000_000),
            ("5 mil dólares", 500_000),
            ("50 dólares", 5000),
            ("fifty bucks", 5000),
            ("a hundred dollars", 10_000),
            ("one thousand two hundred and fifty dollars", 125_000),
            ("twenty-five dollars", 2500),
            ("treinta y cinco dólares", 3500),
            ("ciento cincuenta dólares", 15_000),
            ("mil dólares", 100_000),
            ("$99999999999999999999999", u64::MAX),
        ] {
            assert_eq!(usd(text), Some(cents), "{text:?}");
        }
        for text in [
            "50",
            "$",
            "$$$",
            "50 people",
            "50 pounds",
            "dollars",
            "€50",
            "50 pesos",
            "20%",
            "a dollar sign",
        ] {
            assert_eq!(usd(text), None, "{text:?}");
        }
    }

    #[test]
    fn percentages() {
        for text in [
            "20%",
            "20 %",
            "20 percent",
            "20 por ciento",
            "twenty per cent",
            "veinte por ciento",
            "20-25%",
        ] {
            let words = sentences(text).remove(0);
            assert_eq!(
                amount(&words, 0).map(|(a, _)| a),
                Some(Amount::Percent { hundredths: 2000 }),
                "{text:?}"
            );
        }
    }

    #[test]
    fn dollars_of_rows() {
        assert_eq!(cents(19.99), Some(1999));
        assert_eq!(cents(62.0), Some(6200));
        for no in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(cents(no), None);
        }
    }

    proptest! {
        #[test]
        fn round_trip(amount in 0..1_000_000_000_000u64) {
            let (whole, rest) = (amount / 100, amount % 100);
            let mut grouped = whole.to_string();
            for at in (1..grouped.len())
                .rev()
                .filter(|at| (grouped.len() - at) % 3 == 0)
                .collect::<Vec<_>>()
            {
                grouped.insert(at, ',');
            }
            let (cents_said, spanish) = (format!("{grouped}.{rest:02}"), grouped.replace(',', "."));
            for text in [
                format!("${cents_said}"),
                format!("USD {cents_said}"),
                format!("{whole}.{rest:02} dollars"),
                format!("${spanish},{rest:02}"),
            ] {
                prop_assert_eq!(usd(&text), Some(amount), "{}", text);
            }
            prop_assert_eq!(usd(&format!("${grouped}")), Some(whole * 100));
            prop_assert_eq!(cents(amount as f64 / 100.0), Some(amount));
        }
    }
}
