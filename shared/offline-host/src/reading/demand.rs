//! The kind of thing that an answer must contain, such as an amount, a time or a number.

use seven_text::words;

use super::super::understand::Understood;
use crate::calendar::{CALENDAR, MOMENTS};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    Any,
    Money,
    /// A time of day, a day or a month.
    Time,
    /// A time of day.
    Clock,
    /// A count or an age.
    Number,
    /// A duration.
    Span,
}

const FREE: &str =
    "free gratis complimentary included incluido incluida mitad half_price pay_half cent cents";
const UNITS: &str = "minute minutes hour hours night nights day days week weeks month months minuto minutos hora horas noche noches \
    dia dias semana semanas mes meses";
const NUMBERS: &str = "one two three four five six seven eight nine ten eleven twelve fifteen sixteen twenty thirty forty fifty sixty \
    hundred ninety uno dos tres cuatro cinco seis siete ocho nueve diez doce veinte treinta cien cientas";

// === impl Demand ===

impl Demand {
    pub(crate) fn of(u: &Understood<'_>) -> Self {
        let word = |word: &str| u.said.words.iter().any(|said| said == word);
        let many = u
            .said
            .words
            .windows(2)
            .any(|w| w[0] == "how" && w[1] == "many")
            || word("cuantos")
            || word("cuantas");
        let timed =
            ["hours", "starts"].iter().any(|f| u.wants(f)) || word("when") || word("cuando");
        let often = word("often") || word("frequently") || word("frecuencia");
        if u.wants("price") || u.text.contains('$') {
            Self::Money
        } else if u.wants("duration") || often {
            Self::Span
        } else if u.wants("age") || many {
            Self::Number
        } else if u.wants("opens") || u.wants("closes") {
            Self::Clock
        } else if timed {
            Self::Time
        } else {
            Self::Any
        }
    }

    /// Returns the kind of thing that a sentence must contain to state this fact.
    pub(crate) fn of_facet(facet: &str) -> Option<Self> {
        match facet {
            "price" => Some(Self::Money),
            "duration" => Some(Self::Span),
            "age" => Some(Self::Number),
            "hours" | "starts" => Some(Self::Time),
            "opens" | "closes" => Some(Self::Clock),
            _ => None,
        }
    }

    pub(crate) fn met(self, text: &str) -> bool {
        // "Smoke-free" and "gluten-free" do not say that something costs nothing.
        let text = text.replace("-free", "");
        let words = words(&text);
        let joined = format!(" {} ", words.join(" "));
        let any = |list: &str| {
            list.split_whitespace()
                .any(|word| joined.contains(&format!(" {} ", word.replace('_', " "))))
        };
        let digit = |w: &String| w.starts_with(|c: char| c.is_ascii_digit());
        let clock = |w: &String| digit(w) && (w.ends_with("am") || w.ends_with("pm"));
        let number = || words.iter().any(digit) || any(NUMBERS);
        match self {
            Self::Any => true,
            Self::Money => text.contains(['$', '%']) || any(FREE),
            Self::Time => words.iter().any(clock) || any(MOMENTS) || any(CALENDAR),
            Self::Clock => words.iter().any(clock) || any(MOMENTS),
            Self::Number => number(),
            Self::Span => number() && any(UNITS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Demand;

    #[test]
    fn an_answer_holds_what_was_demanded() {
        for (demand, text, met) in [
            (Demand::Money, "Lunch is $18.95.", true),
            (Demand::Money, "Children under 6 eat free.", true),
            (Demand::Money, "The smoke-free half of the floor.", false),
            (Demand::Time, "Karaoke on Thursdays.", true),
            (Demand::Clock, "The Friday crab night.", false),
            (Demand::Clock, "Until noon.", true),
            (Demand::Span, "Stays of up to 14 nights.", true),
            (Demand::Span, "Forty sites at $35.", false),
            (Demand::Number, "Seven hundred machines.", true),
            (Demand::Any, "", true),
        ] {
            assert_eq!(demand.met(text), met, "{demand:?} {text}");
        }
    }
}
