//! Compares the stream in each dialect with its golden file, and checks that streams resume without
//! loss or repetition.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::time::Duration;

use proptest::prelude::*;
use seven_sse::{Cursor, Dialect, Event, HEARTBEAT, Status, frame, retry, tokens};

/// Returns one event of each kind, in a plausible order.
fn whole<'a>(sources: &'a [String]) -> Vec<Event<'a>> {
    let thread = "0199f3a0-0000-7000-8000-000000000001";
    vec![
        Event::Metadata { thread },
        Event::RouteDecision { route: "sql" },
        Event::ToolStart { tool: "sql_agent" },
        Event::Status {
            status: Status::Reading,
            words: "Leyendo…",
        },
        Event::Token {
            content: "Two lines:\r\n",
        },
        Event::Token {
            content: "\"quoted\" </script>\u{2028}",
        },
        Event::Replace {
            content: "Hi, how can I help?",
        },
        Event::Sources { sources },
        Event::Escalation {
            content: "A person answers you here. Your number is 12.",
            number: 12,
        },
        Event::Error {
            code: "busy",
            message: "Please try again.",
        },
        Event::Done { tokens: 128 },
        Event::Bye,
    ]
}

fn written(dialect: Dialect) -> String {
    let sources = ["dining".to_owned(), "spa".to_owned()];
    let mut stream = retry(Duration::from_secs(3)) + HEARTBEAT;
    for (n, event) in whole(&sources).iter().enumerate() {
        let id = matches!(event, Event::Token { .. }).then_some(Cursor { seq: 7, offset: n });
        stream.extend(frame(dialect, event, id));
    }
    stream
}

#[test] // WEB-10, WEB-11, WID-6, SQL-1
fn each_dialect_is_written_as_its_golden_file_shows() {
    for (dialect, golden) in [
        (Dialect::Concierge, include_str!("golden/concierge.txt")),
        (Dialect::Widget, include_str!("golden/widget.txt")),
        (Dialect::Analytics, include_str!("golden/analytics.txt")),
    ] {
        assert_eq!(written(dialect), golden, "{dialect:?}");
    }
}

/// Returns the events of a stream as a browser parses them (WHATWG HTML, 9.2.6): id, name and data.
fn read(stream: &str) -> Vec<(String, String, String)> {
    let (mut all, mut id) = (Vec::new(), String::new());
    let (mut name, mut data) = (String::new(), None::<String>);
    for line in stream.split('\n') {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                if let Some(data) = data.take() {
                    all.push((id.clone(), std::mem::take(&mut name), data));
                }
            }
            "id" => value.clone_into(&mut id),
            "event" => value.clone_into(&mut name),
            "data" => data = Some(data.map_or(value.to_owned(), |said| said + "\n" + value)),
            _ => {}
        }
    }
    all
}

/// Streams a text from the byte `from`. Returns the joined tokens, and the cursor of each token.
fn streamed(text: &str, seq: i64, from: usize) -> (String, Vec<Cursor>) {
    let mut stream = String::new();
    for token in tokens(text, from) {
        let event = Event::Token {
            content: token.content,
        };
        let offset = token.end;
        stream.extend(frame(Dialect::Widget, &event, Some(Cursor { seq, offset })));
    }
    let (mut joined, mut cursors) = (String::new(), Vec::new());
    for (id, name, data) in read(&stream) {
        assert_eq!(name, "token");
        let data: serde_json::Value = serde_json::from_str(&data).unwrap();
        joined.push_str(data["content"].as_str().unwrap());
        cursors.push(id.parse().unwrap());
    }
    (joined, cursors)
}

#[test]
fn words_are_tokens_and_long_ones_are_cut() {
    let cut = |text: &'static str| {
        tokens(text, 0)
            .map(|token| token.content)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        cut("Yes,  until 10pm.\nBye"),
        ["Yes,  ", "until ", "10pm.\n", "Bye"]
    );
    assert_eq!(cut(" 24/7"), [" ", "24/7"]);
    assert_eq!(cut(""), Vec::<&str>::new());
    assert!(cut(&*Box::leak("赌".repeat(100).into_boxed_str())).len() > 3);
    // The emoji of a family of four is several code points, but one character for a reader.
    assert_eq!(cut("👨‍👩‍👧‍👦 hi"), ["👨‍👩‍👧‍👦 ", "hi"]);
}

#[test] // D33
fn only_what_we_wrote_is_a_cursor() {
    for good in ["0:0", "7:120"] {
        let cursor: Cursor = good.parse().unwrap();
        assert_eq!(cursor.to_string(), good);
    }
    for bad in [
        "",
        "7",
        "7:",
        ":7",
        "-1:0",
        "7:-1",
        "+7:1",
        "07:1",
        "7:1 ",
        "7:1:2",
        "x:y",
        "99999999999999999999:0",
    ] {
        assert!(bad.parse::<Cursor>().is_err(), "{bad:?}");
    }
}

proptest! {
    #[test] // D33, D34: joined tokens are the stored text, from wherever a stream resumes
    fn a_stream_that_breaks_off_anywhere_loses_and_repeats_nothing(
        text in "(?s).{0,300}", seq in 0_i64..1_000, at in 0_usize..60,
    ) {
        let (joined, cursors) = streamed(&text, seq, 0);
        prop_assert_eq!(&joined, &text);
        let Some(broke) = cursors.get(at % cursors.len().max(1)) else { return Ok(()) };
        let (rest, _) = streamed(&text, seq, broke.offset);
        prop_assert_eq!(format!("{}{rest}", &text[..broke.offset]), text);
    }

    #[test] // a forged place is answered with whole characters
    fn any_number_of_bytes_is_a_place(text in "(?s).{0,50}", from in any::<usize>()) {
        let (rest, _) = streamed(&text, 1, from);
        prop_assert!(text.ends_with(&rest));
    }
}
