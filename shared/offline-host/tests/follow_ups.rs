//! Questions that do not name their subject, which is the venue mentioned before.
#![expect(
    dead_code,
    reason = "the desk is shared by tests that use other parts of it"
)]

mod desk;

use desk::Property;
use seven_llm::Exchange;
use seven_text::fold;

const BAHIA: &str = include_str!("unseen/bahia_lucero.json");
const COYOTE: &str = include_str!("unseen/coyote_wash.json");
/// The lowest share of dialogues whose last reply must be right; raise it whenever the measured
/// share rises.
const LEAST: f64 = 0.85;

/// Parts of the sentences with which the host says that the content does not tell something.
const UNKNOWN: [&str; 6] = [
    "passed your question",
    "to be sure",
    "for the rest",
    "pase su pregunta",
    "para estar seguro",
    "para el resto",
];

#[test]
fn a_follow_up_is_about_what_was_talked_of() {
    let mut wrong = Vec::new();
    let mut all = 0;
    for line in include_str!("follow_ups.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [casino, texts, wanted, forbidden] = fields[..] else {
            panic!("{line}")
        };
        let content = if casino == "bahia" { BAHIA } else { COYOTE };
        let mut desk = Property::new(content, "2026-11-20 18:30");
        for text in texts.split(" >> ") {
            let reply = desk.ask(text);
            let host = reply.text;
            desk.state = reply.state;
            desk.history.push(Exchange {
                guest: text.to_owned(),
                host,
            });
        }
        let reply = &desk.history[desk.history.len() - 1].host;
        let told = fold(reply);
        let checks =
            || reply.contains(desk::PHONE) && UNKNOWN.iter().any(|words| told.contains(words));
        let right = |part: &str| {
            if part == "!" {
                checks()
            } else {
                told.contains(&fold(part))
            }
        };
        all += 1;
        if !wanted.split(" / ").any(right) || told.contains(&fold(forbidden)) {
            wrong.push(format!("{texts}\n    {reply}"));
        }
    }
    println!("{} of {all} wrong\n{}", wrong.len(), wrong.join("\n"));
    let share = 1.0 - wrong.len() as f64 / f64::from(all);
    assert!(share >= LEAST, "{share:.2}: {} wrong", wrong.len());
}
