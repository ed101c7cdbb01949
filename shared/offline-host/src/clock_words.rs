//! Writes times of day that are said in words as digits: "quarter to 5" as "4:45". Every later step
//! then reads one form.

use std::sync::LazyLock;

use regex::{Captures, Regex};

const HOURS: [&[&str]; 12] = [
    &["one", "una"],
    &["two", "dos"],
    &["three", "tres"],
    &["four", "cuatro"],
    &["five", "cinco"],
    &["six", "seis"],
    &["seven", "siete"],
    &["eight", "ocho"],
    &["nine", "nueve"],
    &["ten", "diez"],
    &["eleven", "once"],
    &["twelve", "doce"],
];

/// An hour in digits or in words.
static HOUR: LazyLock<String> = LazyLock::new(|| {
    let words = HOURS.concat().join("|");
    format!(r"(?P<hour>1[0-2]|[1-9]|{words})")
});

/// A form of a time of day, and how it is written in digits.
struct Form {
    pattern: Regex,
    write: fn(u32, &Captures<'_>) -> Option<String>,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let form = |pattern: &str, write| Form {
        pattern: Regex::new(&format!(
            "(?i){}",
            pattern
                .replace("HOUR2", &HOUR.replace("hour", "hour2"))
                .replace("HOUR", &HOUR)
        ))
        .expect("the pattern is a constant"),
        write,
    };
    vec![
        form(
            r"\b(?:a |un )?(?:quarter (?:to|til|till|of|before)|cuarto (?:para|pa) las?) HOUR\b",
            |hour, _| Some(at(hour + 11, 45)),
        ),
        form(r"\bHOUR menos cuarto\b", |hour, _| Some(at(hour + 11, 45))),
        form(
            r"\b(?:a )?quarter (?:past|after) HOUR\b|\bHOUR2 y cuarto\b",
            |hour, _| Some(at(hour, 15)),
        ),
        form(r"\bhalf past HOUR\b|\bHOUR2 y media\b", |hour, _| {
            Some(at(hour, 30))
        }),
        form(r"\b(?:at |@ ?)?HOUR ?(?:o'? ?clock)\b", |hour, _| {
            Some(format!("at {hour}"))
        }),
        form(
            concat!(
                r"\b(?P<before>at|around|by|about|til|till|until|before|after|las) HOUR",
                r"(?: (?P<minutes>thirty|fifteen|forty[ -]five|treinta|quince))?\b",
            ),
            named,
        ),
        form(
            concat!(
                r"\b(?P<before>at|around|by|it|for|about|til|till|until|before|after|las) ",
                r"HOUR(?P<digits>00|15|30|45)\b",
            ),
            run_together,
        ),
        form(
            r"\bHOUR(?P<digits>00|15|30|45) ?(?P<half>[ap]m)\b",
            |hour, said| Some(format!("{hour}:{}{}", &said["digits"], &said["half"])),
        ),
        form(
            r"\b(?:at |around |about )?HOUR(?::?(?P<digits>00|15|30|45))?[ -]?ish\b",
            |hour, said| {
                let minutes = said.name("digits").map_or("00", |digits| digits.as_str());
                Some(format!("around {hour}:{minutes}"))
            },
        ),
    ]
});

/// Writes all times of day in digits. The hour of a time stays without am or pm if the guest gave
/// neither.
pub(crate) fn in_digits(text: &str) -> String {
    FORMS.iter().fold(text.to_owned(), |text, form| {
        let digits = |said: &Captures<'_>| {
            let hour = ["hour", "hour2"].iter().find_map(|name| said.name(name));
            let written = hour.and_then(|hour| (form.write)(number(hour.as_str())?, said));
            written.unwrap_or_else(|| said[0].to_owned())
        };
        form.pattern.replace_all(&text, digits).into_owned()
    })
}

fn number(hour: &str) -> Option<u32> {
    let word = hour.to_lowercase();
    let named = HOURS.iter().zip(1..);
    let named = named.filter(|(words, _)| words.contains(&word.as_str()));
    word.parse().ok().or(named.map(|(_, hour)| hour).next())
}

fn at(hour: u32, minute: u32) -> String {
    format!("{}:{minute:02}", (hour - 1) % 12 + 1)
}

/// "At seven" is a time; "at one of the bars" is none.
fn named(hour: u32, said: &Captures<'_>) -> Option<String> {
    let minute = match said.name("minutes").map(|minutes| minutes.as_str()) {
        Some("thirty" | "treinta") => 30,
        Some("fifteen" | "quince") => 15,
        Some(_) => 45,
        None if said["hour"].eq_ignore_ascii_case("one") => return None,
        None => return Some(format!("{} {hour}", &said["before"])),
    };
    Some(format!("{} {}", &said["before"], at(hour, minute)))
}

/// "Make it 730" is a time; "for 300 people" is none.
fn run_together(hour: u32, said: &Captures<'_>) -> Option<String> {
    let counts = ["it", "for", "about", "around"].contains(&said["before"].to_lowercase().as_str());
    let (before, minutes) = (&said["before"], &said["digits"]);
    (!counts || minutes != "00").then(|| format!("{before} {hour}:{minutes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // CONV-4: times as guests write them
    fn times_are_written_in_digits() {
        for (said, digits) in [
            (
                "put us down for 2 at quarter to 5",
                "put us down for 2 at 4:45",
            ),
            ("a quarter of one works", "12:45 works"),
            ("quarter past six?", "6:15?"),
            ("Half past 7 pls", "7:30 pls"),
            ("las 7 y media", "las 7:30"),
            ("a las ocho y cuarto", "a las 8:15"),
            ("9 menos cuarto", "8:45"),
            ("un cuarto para las 8", "7:45"),
            ("at seven thirty", "at 7:30"),
            ("around seven", "around 7"),
            ("a las siete", "a las 7"),
            ("5 o'clock", "at 5"),
            ("at 5 oclock", "at 5"),
            ("make it 730", "make it 7:30"),
            ("at 1130pm", "at 11:30pm"),
            ("645pm", "6:45pm"),
            ("11ish", "around 11:00"),
            ("around 6 ish", "around 6:00"),
            ("730ish", "around 7:30"),
        ] {
            assert_eq!(in_digits(said), digits);
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "a table for two",
            "at one of the bars",
            "for 300 people",
            "it 100 percent",
            "room 730",
            "quarter slots",
            "is the tres leches good",
            "half of us",
            "check in at 3pm",
            "see u at 7:30",
        ] {
            assert_eq!(in_digits(text), text);
        }
    }
}
