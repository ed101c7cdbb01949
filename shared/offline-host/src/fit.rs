//! Fits a reply into the length that the channel allows, with at most one question. As text
//! messages, a reply is one text of 160 characters if possible, and never more than two texts.

use std::ops::Range;

use seven_domain::ReplyLength;
use seven_llm::{Request, StaffRequest};
use seven_sms::shape;
use seven_text::sentence_ranges;

/// The room for a reply: the channel's length, minus the lead (the disclosure that the persona
/// envelope puts first).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room<'a> {
    lead: Option<&'a str>,
    length: ReplyLength,
}

// === impl Room ===

impl<'a> Room<'a> {
    pub(crate) fn of(request: &'a Request) -> Self {
        let lead = request.lead.as_deref();
        Self {
            lead: lead.filter(|l| !l.trim().is_empty()),
            length: request.length,
        }
    }

    /// Returns the room for text messages.
    #[cfg(test)]
    pub(crate) fn behind(lead: Option<&'a str>) -> Self {
        Self {
            lead: lead.filter(|l| !l.trim().is_empty()),
            length: ReplyLength::Texts,
        }
    }

    /// Returns the room that the reply would have if no lead came before it.
    pub(crate) fn alone(self) -> Self {
        Self { lead: None, ..self }
    }

    /// Returns whether a lead comes before the reply. The lead then introduces the host.
    pub(crate) fn is_led(self) -> bool {
        self.lead.is_some()
    }

    /// Returns whether the reply is of the usual length: one text.
    pub(crate) fn one(self, reply: &str) -> bool {
        self.has(reply, 1)
    }

    /// Returns whether the reply is not too long: at most two texts.
    pub(crate) fn two(self, reply: &str) -> bool {
        self.has(reply, 2)
    }

    /// Returns whether the reply alone fits one text, and fits two texts together with the lead.
    /// The reply then need not be shorter because of the lead.
    pub(crate) fn one_of_its_own(self, reply: &str) -> bool {
        self.alone().one(reply) && self.two(reply)
    }

    /// Returns whether the reply fits into this many texts. Calls the same function that later cuts
    /// the reply into texts.
    fn has(self, reply: &str, texts: usize) -> bool {
        let led = self.lead.map(|lead| format!("{lead} {reply}"));
        let reply = led.as_deref().unwrap_or(reply);
        match self.length {
            ReplyLength::Texts => !shape(reply, texts).truncated,
            ReplyLength::Message { usual, most } => {
                reply.chars().count() <= if texts == 1 { usual } else { most }
            }
        }
    }
}

/// The answer to one thing that the guest wrote.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) intent: String,
    pub(crate) body: String,
    /// A short question back to the guest, which is added only if there is room.
    pub(crate) ask: Option<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) grounded: bool,
    /// Whether the part is only a courtesy, which is dropped if there is a real answer.
    pub(crate) chat: bool,
    /// Whether the part says that the thing asked for is not listed.
    pub(crate) is_denial: bool,
    /// Whether the part describes a whole row, whatever fact was asked for.
    pub(crate) is_whole: bool,
    /// Whether a phrase of the pack or a pointing word led to the part. Such a part is kept even if
    /// the learnt subject of the text is another.
    pub(crate) is_sure: bool,
    /// Whether the part gives only a price range ("$$$") and no amount.
    pub(crate) is_price_range: bool,
    /// The request that the part passes on to a person.
    pub(crate) staff: Option<StaffRequest>,
    /// Whether the guest complained; the host then asks nothing about the guest.
    pub(crate) is_grave: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Fitted {
    pub(crate) text: String,
    pub(crate) sources: Vec<String>,
    pub(crate) intent: String,
    pub(crate) grounded: bool,
    pub(crate) staff: Vec<StaffRequest>,
}

/// Returns as many sentences from the beginning of the text as `fits` accepts. A sentence may be
/// cut only at a semicolon. Empty if `fits` refuses even the first.
pub(crate) fn leading_sentences(text: &str, mut fits: impl FnMut(&str) -> bool) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clauses = |sentence: Range<usize>| {
        let stops = text[sentence.clone()].match_indices("; ");
        let stops: Vec<usize> = stops.map(|(at, _)| sentence.start + at).collect();
        stops.into_iter().chain([sentence.end])
    };
    let mut best = String::new();
    for end in sentence_ranges(&text).into_iter().flat_map(clauses) {
        // A clause kept without the one after the semicolon ends with a full stop.
        let is_clause = text[end..].starts_with(';');
        let cut = if is_clause {
            format!("{}.", &text[..end])
        } else {
            text[..end].to_owned()
        };
        if !fits(&cut) {
            break;
        }
        best = cut;
    }
    best
}

fn first_sentence(text: &str) -> String {
    let mut taken = 0;
    leading_sentences(text, |_| {
        taken += 1;
        taken == 1
    })
}

/// Joins names as "A, B and C".
pub(crate) fn join_names(names: &[String], and: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => {
            let and = if and == "y" && last.to_lowercase().starts_with('i') {
                "e"
            } else {
                and
            };
            format!("{} {and} {last}", most.join(", "))
        }
    }
}

/// Joins the parts in the order of the questions. If they do not fit, keeps the newest part and as
/// many others as fit. Then adds `again`, which invites the guest to repeat the other questions.
pub(crate) fn assemble(room: Room<'_>, parts: Vec<Part>, again: &str) -> Fitted {
    let real = parts.iter().any(|p| !p.chat);
    let mut parts: Vec<Part> = parts.into_iter().filter(|p| !(real && p.chat)).collect();
    let mut seen = Vec::new();
    parts.retain(|p| {
        let fresh = !seen.contains(&p.body);
        seen.push(p.body.clone());
        fresh && !p.body.is_empty()
    });
    // Only the last of several courtesies is kept.
    if !real && parts.len() > 1 {
        parts.drain(..parts.len() - 1);
    }
    let grounded = parts.iter().all(|p| p.grounded);
    // Of the parts that only say that something is not known, keeps the last one.
    if let Some(last) = parts.iter().rposition(|p| !p.grounded) {
        let mut at = 0;
        parts.retain(|p| {
            at += 1;
            p.grounded || at == last + 1 || !p.sources.is_empty()
        });
    }
    let joined = |parts: &[Part]| {
        parts
            .iter()
            .map(|p| p.body.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    if !room.two(&joined(&parts)) && parts.len() > 1 {
        // One sentence for every question is better than a long answer to one.
        for part in parts.iter_mut().filter(|p| p.grounded) {
            let first = first_sentence(&part.body);
            if !first.is_empty() {
                part.body = first;
            }
        }
    }
    let answered = parts.len();
    if !room.two(&joined(&parts)) {
        let mut kept: Vec<Part> = Vec::new();
        for part in parts.into_iter().rev() {
            let mut trial = kept.clone();
            trial.push(part);
            if kept.is_empty() || room.two(&joined(&trial)) {
                kept = trial;
            }
        }
        parts = kept;
    }
    let mut text = joined(&parts);
    if !room.two(&text) {
        // A part with too many facts keeps its first whole sentences.
        let whole = leading_sentences(&text, |t| room.two(t));
        text = if whole.is_empty() { text } else { whole };
    }
    if parts.len() < answered && room.two(&format!("{text} {again}")) {
        text = format!("{text} {again}");
        parts.iter_mut().for_each(|p| p.ask = None);
    }
    if !text.contains('?')
        && let Some(ask) = parts.last().and_then(|p| p.ask.as_ref())
    {
        let with = format!("{text} {ask}");
        // A question back must not make a second text necessary. It is added if one text has room
        // for it, or if the reply needs two texts even without the lead.
        if room.one(&with) || (!room.alone().one(&text) && room.two(&with)) {
            text = with;
        }
    }
    let mut sources: Vec<String> = Vec::new();
    for id in parts.iter().flat_map(|p| &p.sources) {
        if !sources.contains(id) {
            sources.push(id.clone());
        }
    }
    let intent = parts
        .iter()
        .rev()
        .find(|p| p.intent != "unanswered")
        .or(parts.last())
        .map(|p| p.intent.clone())
        .unwrap_or_default();
    let staff = parts.iter().filter_map(|p| p.staff.clone()).collect();
    Fitted {
        text,
        sources,
        intent,
        grounded,
        staff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(intent: &str, body: &str) -> Part {
        Part {
            intent: intent.into(),
            body: body.into(),
            grounded: true,
            ask: Some("What else?".into()),
            ..Part::default()
        }
    }

    #[test]
    fn the_newest_question_comes_first_when_not_all_fit() {
        let long = "Name ".repeat(50);
        let fitted = assemble(
            Room::behind(None),
            vec![part("old", long.trim()), part("new", &"word ".repeat(20))],
            "Ask again.",
        );
        assert!(
            fitted.text.starts_with("word") && fitted.text.ends_with("Ask again."),
            "{}",
            fitted.text
        );
        let both = assemble(
            Room::behind(None),
            vec![part("old", "First."), part("new", "Second.")],
            "Ask again.",
        );
        assert_eq!(
            (both.text.as_str(), both.intent.as_str()),
            ("First. Second. What else?", "new")
        );
    }

    #[test]
    fn a_lead_takes_room() {
        let lead = "Lead ".repeat(12);
        let room = Room::behind(Some(lead.trim()));
        let (shorter, longer) = ("word ".repeat(20), "word ".repeat(21));
        assert!(
            room.one(shorter.trim())
                && !room.one(longer.trim())
                && room.one_of_its_own(longer.trim())
        );
        assert!(room.two(&"word ".repeat(52)) && !room.two(&"word ".repeat(53)));
        let ask = assemble(room, vec![part("x", &shorter)], "");
        assert_eq!(
            ask.text.trim(),
            shorter.trim(),
            "no question back for the price of a second text"
        );
        let facts = format!("{longer}. {longer}. {longer}.").replace(" .", ".");
        assert_eq!(
            assemble(
                room,
                vec![Part {
                    ask: None,
                    ..part("x", &facts)
                }],
                ""
            )
            .text,
            format!("{longer}. {longer}.").replace(" .", ".")
        );
        assert!(!Room::behind(Some(" ")).is_led());
    }

    #[test]
    fn courtesy_yields_and_sentences_are_never_cut() {
        let hello = Part {
            chat: true,
            ..part("greeting", "Hi!")
        };
        assert_eq!(
            assemble(Room::behind(None), vec![hello, part("x", "Answer.")], "").text,
            "Answer. What else?"
        );
        assert_eq!(
            leading_sentences("One fact; another fact. A third.", |t| t.len() < 12),
            "One fact."
        );
        assert_eq!(
            leading_sentences("$1.50 a day. More", |t| t.len() < 14),
            "$1.50 a day."
        );
        let room = Room::behind(None);
        assert!(room.two(&"word ".repeat(60)) && !room.two(&"word ".repeat(70)));
        assert_eq!(join_names(&["A".into(), "Isla".into()], "y"), "A e Isla");
    }
}
