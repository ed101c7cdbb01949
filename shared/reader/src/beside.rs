//! Judges a guest's text together with our latest texts to that guest. A reaction to our words, or
//! a copy of them, does not count as the guest's own words.

use seven_compliance::{Author, Decision, Guardrails, Verdict, dialogue, echo};

/// Returns whether the decision must be checked against our own texts. For most guests' texts it
/// need not be, and the caller can skip the query for our texts.
pub fn needs_our_texts(decision: &Decision, body: &str) -> bool {
    let in_words = decision
        .keyword
        .is_some_and(|keyword| keyword.pattern_id.contains(".nl."));
    echo::may_quote(body) || in_words || decision.likely.is_some() || !decision.hits.is_empty()
}

/// Returns whether the decision found anything: a keyword, a likely meaning, a hit of a guardrail,
/// or a verdict other than pass.
pub fn matters(decision: &Decision) -> bool {
    decision.keyword.is_some()
        || decision.likely.is_some()
        || !decision.hits.is_empty()
        || !matches!(decision.verdict, Verdict::Pass)
}

/// Judges the text again without our own words. `ours` are our latest texts to the guest, newest
/// first. `read` judges a text by itself, with both readers. `pack_says` returns every text of the
/// pack.
pub async fn beside_our_texts<F: Future<Output = Decision>>(
    read: impl Fn(String) -> F,
    decision: Decision,
    body: &str,
    rails: &Guardrails,
    ours: &[String],
    pack_says: impl Fn() -> Vec<String>,
) -> Decision {
    if decision.author == Author::Echo {
        return reacted_to(body, rails, ours, pack_says).unwrap_or(decision);
    }
    let decision = match echo::without_ours(body, ours) {
        Some(theirs) => match read(theirs.whole()).await {
            alarm if matters(&alarm) => alarm,
            _ if theirs.added.is_empty() => return Decision::of(Author::Echo),
            _ => read(theirs.added).await,
        },
        None => decision,
    };
    let asked = ours.first().is_some_and(|last| last.contains(['?', '¿']));
    let likely = decision
        .likely
        .filter(|likely| dialogue::holds(*likely, body, asked));
    Decision { likely, ..decision }
}

/// Judges the words that a reaction quotes. If they are a cry for help and we did not write them,
/// they are the guest's own: returns the decision on them. In any other case returns `None`.
fn reacted_to(
    body: &str,
    rails: &Guardrails,
    ours: &[String],
    pack_says: impl Fn() -> Vec<String>,
) -> Option<Decision> {
    let quoted = echo::reaction(body)?.quoted;
    let own = rails.decide(&quoted);
    let cries = own.hits.iter().any(|hit| hit.layer.is_urgent());
    (cries && !echo::is_ours(&quoted, ours) && !echo::is_ours(&quoted, &pack_says())).then_some(own)
}
