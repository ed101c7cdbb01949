//! Measures how well acts are found in labelled texts that another person wrote
//! (`tests/conversations/acts`).

use std::collections::BTreeMap;

use seven_guest::DialogueState;

use super::fixture::{Fixture, PACK};
use crate::{
    acts::{Act, Heard, act, learnt::Learnt},
    pack::HostPack,
    understand::Understood,
};

const DEV: &str = include_str!("../../../../tests/conversations/acts/dev.jsonl");
const TEST: &str = include_str!("../../../../tests/conversations/acts/test.jsonl");

/// Minimum share of texts whose act is found: `DEV_SHARE` for the texts that were read while the
/// table was written, `TEST_SHARE` for those that were not.
const DEV_SHARE: f64 = 0.80;
const TEST_SHARE: f64 = 0.54;

#[derive(serde::Deserialize)]
struct Row {
    act: String,
    before: String,
    text: String,
}

fn name(act: Act) -> String {
    format!("{act:?}").to_lowercase()
}

/// Returns the share of texts whose act was found. Also returns the other texts, for each pair of
/// the wanted and the found act.
fn measured(texts: &str) -> (f64, BTreeMap<(String, String), Vec<String>>) {
    let pack = HostPack::from_toml(PACK).unwrap();
    let desk = Fixture::at("2026-03-06 18:30");
    let (mut right, mut all) = (0, 0);
    let mut matrix: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for line in texts.lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let request = desk.mended(&row.text);
        let u = Understood::read(&pack, &request, &request.texts[0]);
        let before = !row.before.is_empty();
        let listed = before.then(|| vec!["a".to_owned(), "b".to_owned()]);
        let state = DialogueState {
            listed: listed.unwrap_or_default(),
            proposed: before,
            asked_last: row.before.ends_with('?'),
            category: before.then(|| "dining".to_owned()),
            ..DialogueState::default()
        };
        let heard = Heard {
            language: None,
            pack: &pack,
            u: &u,
            state: &state,
            learnt: Learnt::of(&u.said.words),
            names_something: false,
            news: !seven_guest::extract(&row.text, &desk.setting()).is_empty(),
        };
        let found = name(act(&heard));
        all += 1;
        right += usize::from(found == row.act);
        if found != row.act {
            matrix.entry((row.act, found)).or_default().push(row.text);
        }
    }
    (right as f64 / f64::from(all), matrix)
}

#[test] // CONV-12: acts are told apart, on texts that nobody tuned on too
fn acts_are_told_apart() {
    for (texts, least) in [(DEV, DEV_SHARE), (TEST, TEST_SHARE)] {
        let (share, matrix) = measured(texts);
        if std::env::var_os("SHOW").is_some() && least == DEV_SHARE {
            for ((wanted, found), texts) in &matrix {
                eprintln!("{wanted} as {found}: {texts:?}");
            }
        }
        let counts: Vec<String> = matrix
            .iter()
            .map(|((wanted, found), texts)| format!("{wanted}>{found} {}", texts.len()))
            .collect();
        eprintln!("acts found: {share:.3}: {}", counts.join(", "));
        assert!(share >= least, "{share:.3} of the acts, wanted {least}");
    }
}
