use proptest::prelude::*;

use super::*;

fn message(seq: i64, body: &str, kind: &str, sources: &[&str]) -> WebMessage {
    WebMessage {
        seq,
        body: body.to_owned(),
        kind: kind.to_owned(),
        agent: "host".to_owned(),
        intent: Some("dining".to_owned()),
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        sent_at: chrono::DateTime::UNIX_EPOCH,
    }
}

/// A client's state after some frames: the messages' texts, their sources, and the last event id.
#[derive(Debug, Default, PartialEq, Eq)]
struct Client {
    texts: std::collections::BTreeMap<i64, String>,
    sources: std::collections::BTreeMap<i64, Vec<String>>,
    last: Option<String>,
}

impl Client {
    fn read(&mut self, frames: &str) {
        for frame in frames.split("\n\n").filter(|frame| !frame.is_empty()) {
            let field = |name: &str| {
                frame
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .unwrap_or_default()
            };
            let id = field("id: ");
            let seq = id.split_once(':').unwrap().0.parse().unwrap();
            let data: serde_json::Value = serde_json::from_str(field("data: ")).unwrap();
            let content = data["content"].as_str().unwrap_or_default();
            match field("event: ") {
                "token" => self.texts.entry(seq).or_default().push_str(content),
                "replace" => drop(self.texts.insert(seq, content.to_owned())),
                "sources" => {
                    let sources = serde_json::from_value(data["sources"].clone()).unwrap();
                    assert_eq!(self.sources.insert(seq, sources), None, "told twice");
                }
                other => panic!("{other}"),
            }
            self.last = Some(id.to_owned());
        }
    }
}

#[test] // WEB-10
fn an_answer_from_content_is_tokens_and_sources_and_a_fixed_text_is_one_replace() {
    let mut place = Place::ANSWER;
    let messages = [
        message(1, "Two lines.", "turn", &["dining"]),
        message(2, "Hello.", "turn", &[]),
        message(3, "Call 988 now.", "crisis", &[]),
        message(4, "Pat here.", "person", &[]),
    ];
    let frames = place.write(Dialect::Concierge, &messages);
    let kinds: Vec<&str> = frames
        .lines()
        .filter_map(|line| line.strip_prefix("event: "))
        .collect();
    assert_eq!(
        kinds,
        ["token", "token", "sources", "replace", "replace", "replace"]
    );
    assert!(place.write(Dialect::Concierge, &messages).is_empty());
    let more = [message(5, "More.", "turn", &["spa"])];
    assert!(place.write(Dialect::Concierge, &more).contains("More."));
}

proptest! {
    /// The stream is cut after any frame, any number of times, and another gateway continues it.
    #[test] // D33
    fn a_stream_that_breaks_off_anywhere_loses_and_repeats_nothing(
        bodies in prop::collection::vec("[a-zé漢 ]{1,40}", 1..5),
        made in prop::collection::vec(any::<bool>(), 5),
        cuts in prop::collection::vec(0_usize..30, 0..6),
    ) {
        let messages: Vec<WebMessage> = (1..)
            .zip(&bodies)
            .zip(&made)
            .map(|((seq, body), made)| message(seq, body, "turn", if *made { &["spa"] } else { &[] }))
            .collect();
        let mut whole = Client::default();
        whole.read(&Place::ANSWER.clone().write(Dialect::Widget, &messages));
        let mut client = Client::default();
        for cut in cuts.into_iter().chain([usize::MAX]) {
            let mut place = match &client.last {
                Some(last) => Place::after(last.parse().unwrap()),
                None => Place::ANSWER,
            };
            let frames = place.write(Dialect::Widget, &messages);
            let some: Vec<&str> = frames.split_inclusive("\n\n").take(cut).collect();
            client.read(&some.concat());
        }
        prop_assert_eq!(client, whole);
    }
}
