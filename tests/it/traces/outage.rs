//! Tests that texts flow while the collector hangs or refuses spans.

use std::time::Duration;

use seven_testkit::collector::{Collector, Mood};

use super::{QUESTION, delivered, guest, logging, settings};
use crate::harness::{Wanted, house, until};

#[tokio::test] // OBS-25
async fn texts_flow_while_the_collector_hangs_or_refuses() {
    const GUESTS: usize = 20;
    let collector = Collector::start().await.unwrap();
    collector.be(Mood::Silent);
    let extra = settings(&collector, 1.0) + "telemetry.queue = 40\n";
    let house = house(
        "traces_outage",
        Wanted {
            extra,
            ..Wanted::default()
        },
    )
    .await;
    let (_kept, log) = logging();
    for n in 0..GUESTS {
        house.text(&guest(n), QUESTION);
    }
    house.settle(GUESTS as i64).await;
    delivered(&house).await;
    let dropped = |reason| {
        seven_telemetry::metrics()
            .spans_dropped
            .with_label_values(&[reason])
            .get()
    };
    assert!(dropped("full") > 0, "more than 40 spans waited");
    assert!(collector.requests() >= 1);

    // Spans that the collector refuses are dropped at once and counted. The whole outage adds only
    // a few lines to the log.
    collector.be(Mood::Refuses);
    until(
        "the hanging request is given up",
        Duration::from_secs(20),
        || async { dropped("export") > 0 },
    )
    .await;
    for n in 0..GUESTS {
        house.text(&guest(n), "when does the pool open?");
    }
    house.settle(2 * GUESTS as i64).await;
    collector.be(Mood::Takes);
    house.text(&guest(0), "what about parking?");
    until("spans come again", Duration::from_secs(20), || async {
        !collector.spans().is_empty()
    })
    .await;
    let said = std::fs::read_to_string(log).unwrap();
    let lines = said
        .lines()
        .filter(|line| line.contains("the collector"))
        .count();
    assert!(
        (1..=4).contains(&lines),
        "{lines} lines about the collector"
    );
    house.stop().await;
}
