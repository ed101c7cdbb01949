//! Fits an answer into texts: about one of 160 characters, never more than two, at most one
//! question (CONV-24).

use seven_sms::shape;

/// The space for a reply: at most two texts, less the lead that the envelope puts before it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Room<'a> {
    lead: Option<&'a str>,
}

// === impl Room ===

impl<'a> Room<'a> {
    pub(crate) fn behind(lead: Option<&'a str>) -> Self {
        Self { lead: lead.filter(|l| !l.trim().is_empty()) }
    }

    /// Returns whether a lead that introduces the host precedes the reply.
    pub(crate) fn is_led(self) -> bool {
        self.lead.is_some()
    }

    pub(crate) fn one(self, reply: &str) -> bool {
        self.texts(reply, 1)
    }

    pub(crate) fn two(self, reply: &str) -> bool {
        self.texts(reply, 2)
    }

    /// Returns whether the reply fits one text alone and two with the lead: no fact is dropped
    /// because of the lead.
    pub(crate) fn one_of_its_own(self, reply: &str) -> bool {
        Self::default().one(reply) && self.two(reply)
    }

    /// Asks the function that later cuts the texts, so that it will not lose anything.
    fn texts(self, reply: &str, most: usize) -> bool {
        match self.lead {
            None => !shape(reply, most).truncated,
            Some(lead) => !shape(&format!("{lead} {reply}"), most).truncated,
        }
    }
}

/// The answer to one part of what the guest wrote.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) intent: String,
    pub(crate) body: String,
    /// A short question back to the guest, asked only if there is space.
    pub(crate) ask: Option<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) grounded: bool,
    /// A courtesy, dropped if there is any real answer.
    pub(crate) chat: bool,
    /// The part says that the requested thing is not there.
    pub(crate) is_denial: bool,
    /// The part describes a whole row, whichever fact was asked for.
    pub(crate) is_whole: bool,
    /// The part gives a price range only ("$$$"), no amount.
    pub(crate) is_price_range: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Fitted {
    pub(crate) text: String,
    pub(crate) sources: Vec<String>,
    pub(crate) intent: String,
    pub(crate) grounded: bool,
}

/// Returns the leading sentences for which `fits` holds, never a cut sentence. Empty when not even
/// the first fits.
pub(crate) fn sentences(text: &str, mut fits: impl FnMut(&str) -> bool) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ends = text.match_indices(['.', '!', '?', ';']).map(|(at, mark)| (at, at + mark.len()));
    let ends = ends.filter(|(_, end)| *end == text.len() || text[*end..].starts_with(' '));
    let mut best = String::new();
    for (at, end) in ends.chain((!text.ends_with(['.', '!', '?'])).then_some((text.len(), text.len()))) {
        // A clause kept without the one after the semicolon ends with a full stop.
        let cut = if text[at..end].starts_with(';') { format!("{}.", &text[..at]) } else { text[..end].to_owned() };
        if !fits(&cut) {
            break;
        }
        best = cut;
    }
    best
}

fn first_sentence(text: &str) -> String {
    let mut taken = 0;
    sentences(text, |_| {
        taken += 1;
        taken == 1
    })
}

/// Replaces Spanish letters outside GSM-7 with plain ones; ñ, é, ¿ and ¡ are in GSM-7 and are kept.
pub(crate) fn plain_spanish(text: &str) -> String {
    let plain = |c: char| match c {
        'á' => 'a',
        'í' => 'i',
        'ó' => 'o',
        'ú' => 'u',
        'Á' => 'A',
        'Í' => 'I',
        'Ó' => 'O',
        'Ú' => 'U',
        other => other,
    };
    text.chars().map(plain).collect()
}

/// Joins names as "A, B and C".
pub(crate) fn join_names(names: &[String], and: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => {
            let and = if and == "y" && last.to_lowercase().starts_with('i') { "e" } else { and };
            format!("{} {and} {last}", most.join(", "))
        }
    }
}

/// Joins the parts in the order asked if they fit; otherwise the newest question goes first, then
/// others while they fit. `again` invites the guest to repeat a question that did not fit.
pub(crate) fn assemble(room: Room<'_>, parts: Vec<Part>, again: &str) -> Fitted {
    let real = parts.iter().any(|p| !p.chat);
    let mut parts: Vec<Part> = parts.into_iter().filter(|p| !(real && p.chat)).collect();
    let mut seen = Vec::new();
    parts.retain(|p| {
        let fresh = !seen.contains(&p.body);
        seen.push(p.body.clone());
        fresh && !p.body.is_empty()
    });
    // Of several courtesies, only the last is kept.
    if !real && parts.len() > 1 {
        parts.drain(..parts.len() - 1);
    }
    let grounded = parts.iter().all(|p| p.grounded);
    // At most one part may say that something is not known, and it goes last.
    if let Some(last) = parts.iter().rposition(|p| !p.grounded) {
        let mut at = 0;
        parts.retain(|p| {
            at += 1;
            p.grounded || at == last + 1 || !p.sources.is_empty()
        });
    }
    let joined = |parts: &[Part]| parts.iter().map(|p| p.body.as_str()).collect::<Vec<_>>().join(" ");
    if !room.two(&joined(&parts)) && parts.len() > 1 {
        // A sentence for every question is better than a long answer to one.
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
        // If one part has too many facts, its first whole sentences are kept.
        let whole = sentences(&text, |t| room.two(t));
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
        // A question back must not add another text. The lead that is sent may be shorter than the
        // one in the request.
        if room.one(&with) || (!Room::default().one(&text) && room.two(&with)) {
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
    Fitted { text, sources, intent, grounded }
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
        let fitted =
            assemble(Room::default(), vec![part("old", long.trim()), part("new", &"word ".repeat(20))], "Ask again.");
        assert!(fitted.text.starts_with("word") && fitted.text.ends_with("Ask again."), "{}", fitted.text);
        let both = assemble(Room::default(), vec![part("old", "First."), part("new", "Second.")], "Ask again.");
        assert_eq!((both.text.as_str(), both.intent.as_str()), ("First. Second. What else?", "new"));
    }

    #[test]
    fn a_lead_takes_room() {
        let lead = "Lead ".repeat(12);
        let room = Room::behind(Some(lead.trim()));
        let (shorter, longer) = ("word ".repeat(20), "word ".repeat(21));
        assert!(room.one(shorter.trim()) && !room.one(longer.trim()) && room.one_of_its_own(longer.trim()));
        assert!(room.two(&"word ".repeat(52)) && !room.two(&"word ".repeat(53)));
        let ask = assemble(room, vec![part("x", &shorter)], "");
        assert_eq!(ask.text.trim(), shorter.trim(), "no question back for the price of a second text");
        let facts = format!("{longer}. {longer}. {longer}.").replace(" .", ".");
        assert_eq!(
            assemble(room, vec![Part { ask: None, ..part("x", &facts) }], "").text,
            format!("{longer}. {longer}.").replace(" .", ".")
        );
        assert!(!Room::behind(Some(" ")).is_led());
    }

    #[test]
    fn courtesy_yields_and_sentences_are_never_cut() {
        let hello = Part { chat: true, ..part("greeting", "Hi!") };
        assert_eq!(assemble(Room::default(), vec![hello, part("x", "Answer.")], "").text, "Answer. What else?");
        assert_eq!(sentences("One fact; another fact. A third.", |t| t.len() < 12), "One fact.");
        assert_eq!(sentences("$1.50 a day. More", |t| t.len() < 14), "$1.50 a day.");
        let room = Room::default();
        assert!(room.two(&"word ".repeat(60)) && !room.two(&"word ".repeat(70)));
        assert_eq!(join_names(&["A".into(), "Isla".into()], "y"), "A e Isla");
    }
}
