use chrono::{DateTime, Utc};

use super::*;
use crate::record::{Attempt, DeliveryState};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
}

fn inbound(event_id: &str, delivery: u128, autoresponse: Option<&str>) -> Inbound {
    Inbound {
        provider: "telnyx".into(),
        event_id: event_id.into(),
        message_id: "m-in".into(),
        from: "+18605550142".into(),
        to: "+18605550100".into(),
        text: Some("hi".into()),
        media: Vec::new(),
        encoding: "GSM-7".into(),
        parts: 1,
        occurred_at: at(0),
        at: at(0),
        autoresponse_type: autoresponse.map(str::to_owned),
        delivery: Delivery::new(Uuid::from_u128(delivery), vec!["http://x/".into()]),
    }
}

fn attempt(status: u16) -> Attempt {
    let url = "http://x/".to_owned();
    Attempt {
        attempt: 1,
        url,
        at: at(1),
        timestamp: 1,
        status: Some(status),
        millis: 3,
        error: None,
    }
}

/// A separate folder for each test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("carrier-sim-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[test]
fn attempts_find_their_own_delivery_when_an_event_is_repeated() {
    let ledger = Ledger::open(None).unwrap();
    ledger.record(Entry::Inbound(inbound("e", 1, None)));
    ledger.record(Entry::Inbound(inbound("e", 2, None)));
    ledger.record(Entry::Attempt {
        delivery: Uuid::from_u128(1),
        attempt: attempt(200),
    });
    ledger.record(Entry::Settled {
        delivery: Uuid::from_u128(1),
        state: DeliveryState::Acknowledged,
    });
    let texts = ledger.snapshot().inbound;
    assert_eq!(texts[0].delivery.attempts.len(), 1);
    assert_eq!(texts[0].delivery.state, DeliveryState::Acknowledged);
    assert_eq!(texts[1].delivery.attempts.len(), 0);
    assert_eq!(texts[1].delivery.state, DeliveryState::Pending);
}

#[test]
fn start_lifts_the_carriers_block() {
    let ledger = Ledger::open(None).unwrap();
    ledger.record(Entry::Inbound(inbound("a", 1, Some("STOP"))));
    assert!(ledger.is_blocked("+18605550100", "+18605550142"));
    assert!(
        !ledger.is_blocked("+18605550101", "+18605550142"),
        "only for the number that was stopped"
    );
    ledger.record(Entry::Inbound(inbound("b", 2, Some("START"))));
    assert!(!ledger.is_blocked("+18605550100", "+18605550142"));
}

#[test]
fn a_killed_simulator_remembers_and_a_torn_line_harms_nothing() {
    let folder = Folder::new("torn");
    let path = folder.0.join("ledger.jsonl");
    Ledger::open(Some(&path))
        .unwrap()
        .record(Entry::Inbound(inbound("first", 1, None)));
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(br#"{"kind":"inbound","event_id":"to"#)
        .unwrap();

    let again = Ledger::open(Some(&path)).unwrap();
    assert_eq!(again.snapshot().inbound.len(), 1);
    again.record(Entry::Inbound(inbound("second", 2, None)));
    again.record(Entry::Attempt {
        delivery: Uuid::from_u128(2),
        attempt: attempt(500),
    });

    let texts = Ledger::open(Some(&path)).unwrap().snapshot().inbound;
    assert_eq!(
        texts
            .iter()
            .map(|text| text.event_id.as_str())
            .collect::<Vec<_>>(),
        ["first", "second"]
    );
    assert_eq!(texts[1].delivery.attempts[0].status, Some(500));
}

#[test]
fn clearing_empties_the_file_too() {
    let folder = Folder::new("clear");
    let path = folder.0.join("ledger.jsonl");
    let ledger = Ledger::open(Some(&path)).unwrap();
    ledger.record(Entry::Inbound(inbound("old", 1, Some("STOP"))));
    ledger.clear();
    ledger.record(Entry::Inbound(inbound("new", 2, None)));
    assert!(!ledger.is_blocked("+18605550100", "+18605550142"));
    let texts = Ledger::open(Some(&path)).unwrap().snapshot().inbound;
    assert_eq!(
        texts
            .iter()
            .map(|text| text.event_id.as_str())
            .collect::<Vec<_>>(),
        ["new"]
    );
}

#[tokio::test]
async fn news_names_the_guest_even_of_a_webhook_call() {
    let ledger = Ledger::open(None).unwrap();
    let mut news = ledger.subscribe();
    ledger.record(Entry::Inbound(inbound("e", 1, None)));
    ledger.record(Entry::Attempt {
        delivery: Uuid::from_u128(1),
        attempt: attempt(200),
    });
    for _ in 0..2 {
        assert_eq!(news.recv().await.unwrap().guest, "+18605550142");
    }
}
