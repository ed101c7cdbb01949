//! Extracts facts and names from an English or Spanish text, word by word, without grammar.

use seven_text::fold;

use super::Unfounded;

/// A stated fact, which can be right or wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// An amount in cents.
    Money(u64),
    /// Minutes after midnight. If `known_half` is false, the text says neither am nor pm. The true
    /// time may then be 12 hours later.
    Time { minutes: u16, known_half: bool },
    /// The digits, without separators.
    Number(String),
}

impl Fact {
    pub(super) fn same_time(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Time {
                    minutes: a,
                    known_half: true,
                },
                Self::Time {
                    minutes: b,
                    known_half: true,
                },
            ) => a == b,
            (Self::Time { minutes: a, .. }, Self::Time { minutes: b, .. }) => a % 720 == b % 720,
            // In "doors at 7" the hour is written as a plain number.
            (Self::Number(hour), Self::Time { minutes, .. }) => {
                minutes % 60 == 0
                    && hour.parse()
                        == Ok(if minutes % 720 == 0 {
                            12
                        } else {
                            minutes / 60 % 12
                        })
            }
            _ => false,
        }
    }

    pub(super) fn holds(&self, number: &str) -> bool {
        match self {
            Self::Number(known) => known == number,
            Self::Money(cents) => cents % 100 == 0 && (cents / 100).to_string() == *number,
            Self::Time { minutes, .. } => {
                let (hour, minute) = (minutes / 60, minutes % 60);
                let said = |value: u16| value.to_string() == *number;
                said(hour) || said((hour + 11) % 12 + 1) || minute > 0 && said(minute)
            }
        }
    }

    pub(super) fn unfounded(self) -> Unfounded {
        match self {
            Self::Money(cents) => Unfounded::Money(format!("${}.{:02}", cents / 100, cents % 100)),
            Self::Time {
                minutes,
                known_half,
            } => {
                let half = if !known_half {
                    ""
                } else if minutes < 720 {
                    " AM"
                } else {
                    " PM"
                };
                Unfounded::Time(format!(
                    "{}:{:02}{half}",
                    (minutes / 60 + 11) % 12 + 1,
                    minutes % 60
                ))
            }
            Self::Number(number) => Unfounded::Number(number),
        }
    }
}

/// Returns true if a word marks the sentence as a denial.
pub(super) fn denies(sentence: &str) -> bool {
    let words = words(sentence);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    any(&[
        "no", "not", "don't", "dont", "isn't", "can't", "cannot", "nothing", "sorry", "ningun",
        "ninguna", "nada", "tampoco",
    ])
}

/// Splits a text into folded words: lower case, no accents, no punctuation at their ends.
pub(super) fn words(text: &str) -> Vec<String> {
    let bare = text
        .split(|c: char| c.is_whitespace() || "/-–—&".contains(c))
        .map(bare)
        .filter(|word| !word.is_empty());
    bare.map(|word| {
        fold(
            word.strip_suffix("'s")
                .or_else(|| word.strip_suffix("’s"))
                .unwrap_or(word),
        )
    })
    .collect()
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Returns runs of capitalised words, which are taken for names. At the beginning of a sentence, a
/// run must have at least two words.
pub(super) fn names(sentence: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    let mut run_starts = true;
    let close = |run: &mut Vec<&str>, at_start: bool, names: &mut Vec<String>| {
        // The first word of a sentence is capitalised even if it is not a name.
        let words = if at_start && run.first().is_some_and(|word| common(word)) {
            &run[1..]
        } else {
            &run[..]
        };
        if words.len() > usize::from(at_start && words.len() == run.len()) {
            names.push(words.join(" "));
        }
        run.clear();
    };
    for (at, token) in sentence.split_whitespace().enumerate() {
        let word = bare(token);
        let capital = word.chars().next().is_some_and(char::is_uppercase)
            && word.chars().any(char::is_lowercase);
        if capital && !(at > 0 && common(word)) {
            if run.is_empty() {
                run_starts = at == 0;
            }
            run.push(word);
        }
        if !capital || at > 0 && common(word) || token.ends_with([',', ';', ':', '.', '!', '?']) {
            close(&mut run, run_starts, &mut names);
        }
    }
    close(&mut run, run_starts, &mut names);
    names
}

/// Returns true for words that are often capitalised but are not names: calendar words, and words
/// that often begin a sentence.
fn common(word: &str) -> bool {
    const COMMON: &str = " monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays \
        january february march april may june july august september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul \
        aug sep sept oct nov dec lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto \
        septiembre octubre noviembre diciembre i i'm i'll i'd i've english spanish espanol ingles am pm ok the a an try call text our your we you \
        there is are it its what when where how good great hi hello thanks thank yes no for on at in and or but el la los las un una hola gracias \
        si su nuestro nuestra para por en y o que cuando donde como tenemos tiene hay ofrecemos daily closed open opens diario cerrado shall ";
    COMMON.contains(&format!(" {} ", fold(word)))
}

/// Returns amounts, times and numbers in the order of the text.
pub(super) fn facts(text: &str) -> Vec<Fact> {
    let tokens: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "-–—/()".contains(c))
        .collect();
    let mut facts = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '$');
        let next = tokens
            .get(at + 1)
            .map_or("", |next| next.trim_matches([',', ';', '!', '?', ')']));
        facts.extend(fact(token, next));
    }
    facts
}

fn fact(token: &str, next: &str) -> Option<Fact> {
    if let Some(amount) = token.strip_prefix('$') {
        return cents(amount).map(Fact::Money);
    }
    if !token.starts_with(|c: char| c.is_ascii_digit()) {
        let digits: String = token.chars().filter(char::is_ascii_digit).collect();
        return (!digits.is_empty()).then(|| number(&digits));
    }
    let split = token
        .find(|c: char| !c.is_ascii_digit() && c != ':')
        .unwrap_or(token.len());
    let (clock, tail) = token.split_at(split);
    let half = half(tail).or_else(|| if tail.is_empty() { half(next) } else { None });
    if clock.contains(':') || half.is_some() {
        return time(clock, half);
    }
    // Only the whole part is read: 89.50 gives 89, 1,200 gives 1200, 4th gives 4.
    let digits: String = token
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(char::is_ascii_digit)
        .collect();
    Some(number(&digits))
}

fn number(digits: &str) -> Fact {
    Fact::Number(digits.to_owned())
}

fn half(word: &str) -> Option<bool> {
    match word.to_lowercase().replace('.', "").as_str() {
        "am" | "a" => Some(false),
        "pm" | "p" => Some(true),
        _ => None,
    }
}

fn time(clock: &str, half: Option<bool>) -> Option<Fact> {
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "0"));
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    if hour > 24 || minute > 59 {
        return None;
    }
    let hour = match half {
        Some(afternoon) if (1..=12).contains(&hour) => hour % 12 + if afternoon { 12 } else { 0 },
        _ => hour % 24,
    };
    // An hour above 12 or with two digits, such as 17:30 or 09:30, is read as a 24-hour time; 12:30
    // is not.
    let known_half =
        half.is_some() || hour > 12 || clock.starts_with('0') || clock.len() == 5 && hour != 12;
    Some(Fact::Time {
        minutes: hour * 60 + minute,
        known_half,
    })
}

fn cents(amount: &str) -> Option<u64> {
    let amount: String = amount
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .filter(|c| *c != ',')
        .collect();
    let (whole, part) = amount
        .trim_end_matches('.')
        .split_once('.')
        .unwrap_or((amount.trim_end_matches('.'), "0"));
    let part = format!("{part:0<2}");
    let whole: u64 = whole.parse().ok()?;
    whole
        .checked_mul(100)?
        .checked_add(part.get(..2)?.parse().ok()?)
}
