//! The price of a row as one number.

use seven_knowledge::{Item, item::Details};

use super::venue;
use crate::host::Host;

/// Returns the price of a row as a number that can be compared. For a restaurant, this is the
/// number of dollar signs; for any other row, it is the amount in dollars.
pub(crate) fn figure(host: &Host<'_>, item: &Item) -> Option<f64> {
    match &item.details {
        Details::Dining(d) => Some(d.price_range.len() as f64),
        _ => {
            let text = venue::price(host, item)?;
            let digits: String = text
                .split('$')
                .nth(1)?
                .chars()
                .take_while(|c| c.is_ascii_digit() || *c == '.')
                .collect();
            digits.trim_end_matches('.').parse().ok()
        }
    }
}
