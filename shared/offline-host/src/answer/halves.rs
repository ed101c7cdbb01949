//! Answers a sentence that asks two things.

use seven_text::words;

use super::look_up::settled;
use crate::{fit::Part, host::Host};

/// Words after "or" that ask for a yes or no.
const NO: [&str; 4] = ["nah", "no", "not", "nope"];

/// Answers a sentence that asks two things ("How much is parking and wifi") in two parts, if each
/// half has an answer of its own.
pub(super) fn halves(
    host: &Host<'_>,
    sentence: &str,
    whole: &Part,
    said_now: &[&str],
) -> Option<Vec<Part>> {
    let spaced = |mark: &str| {
        sentence
            .find(&format!(" {mark} "))
            .map(|at| (at, at + mark.len() + 2))
    };
    let (end, start) = ["and", "y", "or", "o", "&", "also"]
        .into_iter()
        .filter_map(spaced)
        .min()?;
    let (left, right) = (sentence[..end].trim(), sentence[start..].trim());
    // "Or nah?" only asks for a yes or no.
    let rest = words(right);
    if let [only] = rest.as_slice()
        && NO.contains(&only.as_str())
    {
        return None;
    }
    // A cut inside a name is refused: "Fig & Cedar" is one place.
    let cut = words(left).len();
    if host
        .request
        .index
        .mentions(sentence, host.request.now)
        .iter()
        .any(|m| m.from < cut && cut < m.to)
    {
        return None;
    }
    let (first, mut second) = (host.read(left), host.read(right));
    // If the first half refers to the place just named, "or" does not join two questions: "Is it
    // fresh water or salt".
    let either = [" or ", " o "].contains(&&sentence[end..start]);
    if either && first.points_back {
        return None;
    }
    // In "How much is the kayak and what time do they close", the second half asks about the place
    // named in the first.
    let back = !first.facets.is_empty()
        && second.mentions.is_empty()
        && (second.is_bare_fact() || second.points_back);
    if !first.is_particular() || !(back || second.is_particular()) {
        return None;
    }
    // A second half such as "is it heated?" asks for something different from the first half.
    let asks_anew = second.points_back && !second.leftover.is_empty();
    if second.facets.is_empty() && !asks_anew {
        second.facets.clone_from(&first.facets);
    }
    if !second.when.is_said() {
        second.when = first.when;
    }
    second.is_question |= first.is_question;
    let said: Vec<&str> = said_now.iter().copied().chain([left]).collect();
    let part = settled(host, &first, said_now);
    let mut state = host.state.clone();
    let mut rows = part.sources.clone();
    let named = first
        .venues()
        .into_iter()
        .map(|mention| mention.item.id.clone());
    rows.extend(named.filter(|id| !part.sources.contains(id)));
    state.told(&rows, None, false);
    let then = Host {
        state: &state,
        ..*host
    };
    let of_first = settled(&then, &second, &said);
    let rest = if of_first.grounded {
        of_first
    } else {
        settled(host, &second, &said)
    };
    let mut halves = vec![part, rest];
    let real = halves
        .iter()
        .filter(|half| half.grounded && !half.chat && !half.sources.is_empty())
        .count();
    let told = |half: &Part| !half.is_whole && half.body != whole.body;
    let apart = back
        || !halves[0]
            .sources
            .iter()
            .any(|id| halves[1].sources.contains(id))
        || halves.iter().all(told);
    let new = halves
        .iter()
        .any(|half| half.sources.iter().any(|id| !whole.sources.contains(id)));
    let both = |half: &Part| whole.body.contains(&half.body);
    let same_row = halves[1]
        .sources
        .iter()
        .all(|id| halves[0].sources.contains(id));
    let better = match whole.grounded {
        true if back => real == 2 && !halves.iter().all(both) && same_row,
        true => real == 2 && (new || whole.sources.len() < 2) && halves[0].body != halves[1].body,
        false => real >= 1,
    };
    // If both halves come from one row and one half describes the whole row, that half is enough.
    let same = !back && halves[0].sources == halves[1].sources && real == 2;
    if same && let Some(row) = halves.iter().position(|half| half.is_whole) {
        return Some(vec![halves.swap_remove(row)]);
    }
    (apart && better).then_some(halves)
}
