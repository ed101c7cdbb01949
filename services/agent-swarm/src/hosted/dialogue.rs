//! Describes the state of the dialogue in sentences, for the prompts of a hosted model. The offline
//! host reads the same state as data.

use seven_guest::DialogueState;
use seven_knowledge::Index;

/// Returns one sentence for each thing that the dialogue has settled; empty for a new dialogue.
pub(super) fn settled(state: &DialogueState, index: &Index) -> Vec<String> {
    let names = |ids: &[String]| {
        let known = ids.iter().filter_map(|id| index.get(id));
        known.map(|item| item.name.clone()).collect::<Vec<_>>()
    };
    let list = |what: &str, words: &[String]| {
        (!words.is_empty()).then(|| format!("{what}: {}.", words.join(", ")))
    };
    let listed: Vec<String> = names(&state.listed)
        .iter()
        .enumerate()
        .map(|(n, name)| format!("{}. {name}", n + 1))
        .collect();
    let ages: Vec<String> = state.ages.iter().map(ToString::to_string).collect();
    let asked: Vec<String> = state
        .asked
        .iter()
        .map(|topic| topic.as_str().to_owned())
        .collect();
    let open = state.request.as_ref().map(|request| {
        let row = request.row.as_ref().and_then(|id| index.get(id));
        let what = if request.changes { "change" } else { "booking" };
        let name = row.map_or("a place not yet chosen", |item| item.name.as_str());
        format!("A person was asked for a {what} ({name}); nothing is booked.")
    });
    [
        state.party.map(|party| format!("Party of {party}.")),
        list("Ages of companions", &ages),
        state
            .has_minors()
            .then(|| "Somebody under 21 comes: name no place for adults only.".to_owned()),
        state
            .date
            .map(|date| format!("They plan for {}.", date.format("%A %-d %B %Y"))),
        state
            .minute
            .map(|minute| format!("At {}:{:02}.", minute / 60, minute % 60)),
        list("Diets that must all hold", &state.diets),
        list("They do not want", &state.dislikes),
        state
            .step_free
            .then(|| "They need a way without stairs.".to_owned()),
        state
            .budget
            .as_ref()
            .map(|budget| format!("Budget: {budget}.")),
        list("They look for", &state.wishes),
        list("Named in the last reply, in this order", &listed),
        list("Refused, do not name again", &names(&state.refused)),
        open,
        list("Passed on to a person", &state.promised),
        list("Asked about already, do not ask again", &asked),
        (!state.may_ask()).then(|| "Ask nothing about the guest in this reply.".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use seven_guest::Topic;

    use super::*;

    #[test] // D42: the hosted host knows the same dialogue
    fn each_part_of_the_state_is_a_sentence() {
        let index = Index::build(Vec::new());
        assert!(settled(&DialogueState::default(), &index).is_empty());
        let state = DialogueState {
            party: Some(4),
            ages: vec![5, 8],
            minute: Some(19 * 60 + 5),
            diets: vec!["vegan".into(), "allergy: peanuts".into()],
            dislikes: vec!["seafood".into()],
            step_free: true,
            asked: vec![Topic::Name],
            asked_last: true,
            ..DialogueState::default()
        };
        assert_eq!(
            settled(&state, &index).join(" "),
            "Party of 4. Ages of companions: 5, 8. Somebody under 21 comes: name no place for \
             adults only. At 19:05. Diets that must all hold: vegan, allergy: peanuts. They do not \
             want: seafood. They need a way without stairs. Asked about already, do not ask again: \
             name. Ask nothing about the guest in this reply."
        );
    }
}
