//! Questions that do not name their subject: the venue mentioned before stays the subject.
#![expect(dead_code, reason = "the desk is shared by tests that use other parts of it")]

mod desk;

use desk::Property;
use seven_knowledge::text::fold;
use seven_llm::Exchange;

const BAHIA: &str = include_str!("unseen/bahia_lucero.json");
const COYOTE: &str = include_str!("unseen/coyote_wash.json");
/// Least share of dialogues that must end right; raised whenever the measured share rises.
const LEAST: f64 = 0.85;

/// Parts of the pack's sentences that say that the content does not tell something.
const UNKNOWN: [&str; 6] = [
    "our team can tell you",
    "to be sure",
    "for the rest",
    "nuestro equipo se lo dice",
    "para estar seguro",
    "lo demas",
];

#[test]
fn a_follow_up_is_about_what_was_talked_of() {
    let mut wrong = Vec::new();
    let mut all = 0;
    for line in include_str!("follow_ups.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [casino, texts, wanted, forbidden] = fields[..] else { panic!("{line}") };
        let content = if casino == "bahia" { BAHIA } else { COYOTE };
        let mut desk = Property::new(content, "2026-11-20 18:30");
        for text in texts.split(" >> ") {
            let host = desk.ask(text).text;
            desk.history.push(Exchange { guest: text.to_owned(), host });
        }
        let reply = &desk.history[desk.history.len() - 1].host;
        let told = fold(reply);
        let checks = || reply.contains(desk::PHONE) && UNKNOWN.iter().any(|words| told.contains(words));
        let right = |part: &str| if part == "!" { checks() } else { told.contains(&fold(part)) };
        all += 1;
        if !wanted.split(" / ").any(right) || told.contains(&fold(forbidden)) {
            wrong.push(format!("{texts}\n    {reply}"));
        }
    }
    println!("{} of {all} wrong\n{}", wrong.len(), wrong.join("\n"));
    let share = 1.0 - wrong.len() as f64 / f64::from(all);
    assert!(share >= LEAST, "{share:.2}: {} wrong", wrong.len());
}
