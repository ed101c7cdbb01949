//! Words the usual values of the content as answers: "No reservation needed at X" for `Walk-in only`.
//! Each function returns the key of the wording in the pack; a value that is not usual is told as it
//! stands.

/// Returns the wording for how a restaurant takes reservations.
pub(crate) fn reservations(value: &str) -> &'static str {
    let begins = |start: &str| value.to_lowercase().starts_with(start);
    if begins("walk") {
        "reserve_walk_in"
    } else if begins("required") {
        "reserve_needed"
    } else if begins("recommended") {
        "reserve_advised"
    } else {
        "reservations"
    }
}

/// Returns the wording for a dress code.
pub(crate) fn dress(value: &str) -> &'static str {
    if value.eq_ignore_ascii_case("casual") {
        "dress_casual"
    } else {
        "dress"
    }
}

/// Returns the wording for an age rule, and what to say of the rule: for "21+", the age alone.
pub(crate) fn age(value: &str) -> (&'static str, &str) {
    let digits = value
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(value.len());
    let (age, rest) = value.split_at(digits);
    if value.eq_ignore_ascii_case("all ages") {
        ("age_all", value)
    } else if !age.is_empty() && ["+", " and over", " or older"].contains(&rest) {
        ("age_from", age)
    } else {
        ("age", value)
    }
}

/// Returns the wording for a price range of dollar signs.
pub(crate) fn price_range(value: &str) -> &'static str {
    match value {
        "$" => "price_low",
        "$$" => "price_middle",
        "$$$" => "price_raised",
        "$$$$" => "price_high",
        _ => "price_range",
    }
}

/// Returns the wording for a price; `otherwise` unless the thing is free. `price` is in the reply's
/// language.
pub(crate) fn price(price: &str, otherwise: &'static str) -> &'static str {
    let is_free = ["free", "gratis"]
        .iter()
        .any(|free| price.starts_with(free));
    if is_free && !price.starts_with("free to ") {
        "price_free"
    } else {
        otherwise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_values_have_wordings_of_their_own() {
        assert_eq!(reservations("Walk-in only"), "reserve_walk_in");
        assert_eq!(reservations("Two weeks ahead"), "reservations");
        assert_eq!(dress("Casual"), "dress_casual");
        assert_eq!(dress("Smart casual"), "dress");
        assert_eq!(age("21+"), ("age_from", "21"));
        assert_eq!(age("All ages"), ("age_all", "All ages"));
        assert_eq!(age("12+ with an adult"), ("age", "12+ with an adult"));
        assert_eq!(price_range("$$"), "price_middle");
        assert_eq!(price_range("$15"), "price_range");
        assert_eq!(price("free for hotel guests", "price"), "price_free");
        assert_eq!(price("free to join", "price"), "price");
        assert_eq!(price("$20", "price"), "price");
    }
}
