//! Groups the guests' questions that the content could not answer. Masks everything in the
//! questions that may identify a guest (RAG-21, RAG-41).

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_store::{
    Tx,
    content::{ListedItem, Unanswered},
};
use seven_text::fold;
use uuid::Uuid;

/// Questions that probably mean the same, judged by their words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The newest question, masked.
    pub example: String,
    pub texts: usize,
    pub guests: usize,
    pub last_at: DateTime<Utc>,
}

/// Words that are ignored in the comparison, because they do not say what is asked for.
const EMPTY: &str = "a about after all also am an and any anybody anyone are as at available be because been before but by can could \
    did do does doing dont for from get go going got had has have hello hey hi how i id if ill im in into is it its ive just know let like \
    many may me much my need no not now of off offer offers on one or our out please pls possible question some somewhere sure tell text thank \
    thanks that the their them there theres these they this to today tomorrow tonight too u up us want was we well were what whats when where \
    wheres which who why will wish with wondering would yall you your \
    a ahi al algo alguien alguna alguno alla aqui asi bien buenas buenos como con cual cuando cuanto de del desea dia dias donde el ella en es esa \
    ese eso esta estan este esto estoy favor gracias ha hay hola la las le les lo los mas me mi mis muy necesito no noche noches nos o para \
    pero por porque puede pueden puedo que quiero quiere quisiera saber se ser si sin sobre son su sus tal tambien tarde tardes te tiene tienen tengo \
    tu un una uno unos usted ustedes va voy y ya yo hoy manana";
/// A question joins a group if [`alike`] returns at least this share.
const ALIKE: f64 = 0.5;
/// Maximum length of an example, in characters.
const MOST_CHARS: usize = 160;
/// Number of leading letters by which words are compared, so that "reserve" and "reservation"
/// match.
const STEM: usize = 6;

/// Maximum number of texts that are grouped; older texts are left out.
const MOST_TEXTS: i64 = 5_000;

/// Returns the questions from `period` that the bound casino's content could not answer, in groups.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn asked_in_vain(
    tx: &mut Tx,
    period: Range<DateTime<Utc>>,
    items: &[ListedItem],
) -> Result<Vec<Group>, seven_store::Error> {
    let mut asked = tx.unanswered(period.start, MOST_TEXTS).await?;
    asked.retain(|one| one.at < period.end);
    let names: Vec<String> = items.iter().map(|item| item.name.clone()).collect();
    Ok(group(&asked, &names))
}

/// Groups the questions; the group with the most guests comes first. A group's example is its
/// newest question. The words of `known`, the names of the casino's items, are not masked.
fn group(asked: &[Unanswered], known: &[String]) -> Vec<Group> {
    let empty: HashSet<&str> = EMPTY.split_whitespace().collect();
    let known = known.iter().flat_map(|name| words(name));
    let known: HashSet<String> = known
        .chain(empty.iter().map(|word| (*word).to_owned()))
        .collect();
    let mut groups: Vec<(BTreeSet<String>, Group, HashSet<Uuid>)> = Vec::new();
    // For each word, the groups that contain it. A question is compared only with groups that share
    // a word with it.
    let mut with_word: HashMap<String, Vec<usize>> = HashMap::new();
    let mut newest_first: Vec<&Unanswered> = asked.iter().collect();
    newest_first.sort_by_key(|one| std::cmp::Reverse(one.at));
    for one in newest_first {
        let example = masked(&one.body, &known);
        let said: BTreeSet<String> = words(&example)
            .filter(|word| word.chars().count() > 1 && !empty.contains(word.as_str()))
            .map(|word| stem(&word))
            .collect();
        if said.is_empty() {
            continue;
        }
        let close: BTreeSet<usize> = said
            .iter()
            .filter_map(|word| with_word.get(word))
            .flatten()
            .copied()
            .collect();
        let closest = close
            .into_iter()
            .map(|n| (alike(&groups[n].0, &said), n))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|(a, _), (b, _)| a.total_cmp(b));
        match closest {
            Some((_, n)) => {
                let (_, group, guests) = &mut groups[n];
                group.texts += 1;
                guests.insert(one.guest_id);
                group.guests = guests.len();
            }
            None => {
                let group = Group {
                    example,
                    texts: 1,
                    guests: 1,
                    last_at: one.at,
                };
                for word in &said {
                    with_word
                        .entry(word.clone())
                        .or_default()
                        .push(groups.len());
                }
                groups.push((said, group, HashSet::from([one.guest_id])));
            }
        }
    }
    let mut groups: Vec<Group> = groups.into_iter().map(|(_, group, _)| group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse((group.guests, group.texts, group.last_at)));
    groups
}

/// Returns the beginning of a word, without a plural "s". Similar forms of a word give the same
/// result.
fn stem(word: &str) -> String {
    let singular = word.strip_suffix('s').filter(|word| word.len() > 2);
    singular.unwrap_or(word).chars().take(STEM).collect()
}

/// Returns the share, 0 to 1, of the shorter question's words that the longer question also has.
fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let (less, more) = (a.len().min(b.len()), a.len().max(b.len()));
    // If both questions have several words, a single word in common means little.
    if common == 1 && more > 2 && less > 1 {
        return 0.0;
    }
    common as f64 / less.max(1) as f64
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let folded = fold(text).replace('\'', "");
    let words: Vec<String> = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

/// Masks words that may identify a guest: addresses, words with two or more digits, and likely
/// names. A likely name is capitalised, does not begin a sentence, and is not a known word.
fn masked(text: &str, known: &HashSet<String>) -> String {
    let mut begins = true;
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_address = word.contains('@') || word.contains("://") || word.starts_with("www.");
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let first = bare.chars().next();
        let is_capital = first.is_some_and(char::is_uppercase);
        let is_shouted = bare.chars().all(|c| !c.is_lowercase());
        let is_known = words(bare).all(|word| known.contains(&word));
        let names = is_capital && !begins && !is_known && !is_shouted && bare.chars().count() > 1;
        begins = word.ends_with(['.', '!', '?', ':', '¿', '¡']);
        out.push(match () {
            () if digits > 1 || is_address => "#".to_owned(),
            () if names => "…".to_owned(),
            () => word.to_owned(),
        });
    }
    let line = out.join(" ");
    let kept: String = line.chars().take(MOST_CHARS).collect();
    if kept.len() < line.len() {
        return kept + "…";
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use seven_domain::Language;

    use super::*;

    fn asked(texts: &[&str]) -> Vec<Unanswered> {
        let one = |(n, text): (usize, &&str)| Unanswered {
            at: DateTime::from_timestamp(1_700_000_000 + n as i64, 0).unwrap(),
            guest_id: Uuid::from_u128(n as u128),
            language: Language::En,
            body: (*text).to_owned(),
        };
        texts.iter().enumerate().map(one).collect()
    }

    #[test] // RAG-41
    fn the_same_question_in_other_words_is_one_group() {
        let groups = group(
            &asked(&[
                "do you have a kennel for my dog?",
                "Is there a kennel? we bring a dog",
                "Kennels for dogs available?",
                "do you sell stamps",
                "where can i buy stamps",
                "¿Venden estampillas?",
                "is there a chapel for a wedding",
                "ok",
            ]),
            &[],
        );
        let sizes: Vec<(usize, &str)> = groups
            .iter()
            .map(|group| (group.texts, group.example.as_str()))
            .collect();
        assert_eq!(
            sizes,
            [
                (3, "Kennels for dogs available?"),
                (2, "where can i buy stamps"),
                (1, "ok"),
                (1, "is there a chapel for a wedding"),
                (1, "¿Venden estampillas?"),
            ]
        );
    }

    #[test] // SEC-64
    fn an_example_names_no_guest() {
        let known = HashSet::from(["harvest", "loft", "im"].map(str::to_owned));
        for (text, shown) in [
            (
                "Can I bring wine to the Harvest Loft? I'm Maria Lopez 860-555-0199",
                "Can I bring wine to the Harvest Loft? I'm … … #",
            ),
            ("mail it to ana@example.com please", "mail it to # please"),
            ("Room 1412 has no iron", "Room # has no iron"),
            ("soy Carlos, ¿hay capilla?", "soy … ¿hay capilla?"),
            ("DO YOU HAVE A POOL", "DO YOU HAVE A POOL"),
        ] {
            assert_eq!(masked(text, &known), shown);
        }
    }

    proptest! {
        #[test]
        fn no_digits_of_a_phone_and_no_address_are_left(text in "[a-zA-Z0-9@. ]{0,80}") {
            let shown = masked(&text, &HashSet::new());
            let pairs = shown.as_bytes().windows(2);
            let mut digits = pairs.filter(|pair| pair.iter().all(u8::is_ascii_digit));
            prop_assert!(digits.next().is_none() && !shown.contains('@'), "{}", shown);
        }

        #[test]
        fn every_question_is_counted_once(texts in proptest::collection::vec("zebra( [a-z]{3,8}){0,4}", 0..20)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let groups = group(&asked(&texts), &[]);
            let counted: usize = groups.iter().map(|group| group.texts).sum();
            prop_assert_eq!(counted, texts.len());
            prop_assert!(groups.iter().all(|group| group.guests <= group.texts && group.texts > 0));
        }
    }
}
