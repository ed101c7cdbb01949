//! Campaigns that are running: pace, several schedulers, STOP, switches, pause and cancel.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{change, done, guest, listed, reached, send_all, slow};
use crate::harness::{House, house, until};

const GUESTS: usize = 16;

async fn some(house: &House, n: usize) {
    until("some have it", Duration::from_secs(20), || async {
        reached(house).len() >= n
    })
    .await;
}

/// Asserts that no text of the campaign is sent for two seconds. Returns how many were sent before.
async fn nothing_leaves(house: &House) -> usize {
    let before = reached(house).len();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(reached(house).len(), before, "a text of the campaign left");
    before
}

#[tokio::test] // D5, D6, SMS-14: two schedulers, one pace, no guest twice; a reply finds room
async fn two_schedulers_release_each_guest_once_at_the_casinos_pace() {
    // The casino sends five segments a second. One is kept for safety texts and two for replies, so
    // the campaign has two.
    let house = house("campaign_pace", slow(5)).await;
    let other = house.process("scheduler", None);
    listed(&house, 0..GUESTS).await;
    until("both live", Duration::from_secs(20), || async {
        house
            .number("select count(*) from workers where worker = 'scheduler'")
            .await
            == 2
    })
    .await;
    let begun = Instant::now();
    send_all(&house, "autumn").await;
    some(&house, 3).await;
    house.text("+18605550199", "where is nonna salvia?");
    let asked = Instant::now();
    until("the reply", Duration::from_secs(8), || async {
        !house.texts_to("+18605550199").is_empty()
    })
    .await;
    assert!(
        asked.elapsed() < Duration::from_secs(4),
        "the reply waited {:?} behind the campaign",
        asked.elapsed()
    );
    done(&house).await;
    let took = begun.elapsed();
    // The first few texts are sent at once. The others are sent at two a second, by both schedulers
    // together.
    assert!(
        took > Duration::from_secs((GUESTS as u64 - 4) / 2),
        "{GUESTS} texts within {took:?}"
    );
    assert_eq!(
        reached(&house),
        (0..GUESTS).collect::<Vec<_>>(),
        "each once"
    );
    assert_eq!(
        house
            .number(
                "select count(distinct outbound_id) from campaign_guests where state = 'released'"
            )
            .await,
        16
    );
    drop(other);
    house.stop().await;
}

#[tokio::test] // D7, SMS-10, SMS-31: who stops in the middle of it gets none
async fn a_stop_in_the_middle_of_it() {
    let house = house("campaign_stop", slow(3)).await;
    listed(&house, 0..GUESTS).await;
    send_all(&house, "autumn").await;
    some(&house, 2).await;
    let had = reached(&house);
    for n in 3..7 {
        house.text(&guest(n), "STOP");
    }
    until("the stops stand", Duration::from_secs(10), || async {
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await
            == 4
    })
    .await;
    done(&house).await;
    let left: Vec<usize> = (0..GUESTS)
        .filter(|n| !(3..7).contains(n) || had.contains(n))
        .collect();
    let got = reached(&house);
    assert!(left.iter().all(|n| got.contains(n)), "{got:?}");
    // Texts are released one at a time. So at most one text may have been released already when a
    // STOP came.
    let after: Vec<_> = got
        .iter()
        .filter(|n| (3..7).contains(*n) && !had.contains(n))
        .collect();
    assert!(after.len() <= 1, "{got:?}, before the stops {had:?}");
    let refused =
        "select count(*) from campaign_guests c left join outbound_messages o using (outbound_id)
      where coalesce(o.reason, c.reason) in ('guest_suppressed', 'guest_opted_out')";
    assert_eq!(
        house.number(refused).await,
        i64::try_from(GUESTS - got.len()).unwrap()
    );
    house.stop().await;
}

// D14, SMS-52: a pause of proactive texts takes effect within two seconds. When the pause ends, the
// campaign continues and reaches each guest once
#[tokio::test]
async fn a_pause_of_proactive_texts_holds_it_and_resume_goes_on() {
    let house = house("campaign_brake", slow(5)).await;
    let casino = house.casino().to_string();
    listed(&house, 0..GUESTS).await;
    send_all(&house, "autumn").await;
    some(&house, 3).await;
    let brake = [
        "--casino",
        &casino,
        "--proactive",
        "--by",
        "Robin",
        "--reason",
        "a drill",
    ];
    super::ran(&house, &[&["pause"][..], &brake].concat()).await;
    sleep(Duration::from_millis(500)).await;
    let before = nothing_leaves(&house).await;
    assert!(before < GUESTS, "it was over before it was paused");
    // Replies to guests are not paused.
    house.text("+18605550199", "where is nonna salvia?");
    until("the reply", Duration::from_secs(8), || async {
        !house.texts_to("+18605550199").is_empty()
    })
    .await;
    super::ran(&house, &[&["resume"][..], &brake].concat()).await;
    done(&house).await;
    assert_eq!(reached(&house), (0..GUESTS).collect::<Vec<_>>());
    house.stop().await;
}

#[tokio::test] // SMS-46: one campaign's own pause, resume and cancel
async fn a_campaign_is_paused_and_cancelled_by_itself() {
    let house = house("campaign_cancel", slow(5)).await;
    listed(&house, 0..GUESTS).await;
    send_all(&house, "autumn").await;
    some(&house, 2).await;
    change(&house, &["campaign", "pause", "autumn"]).await;
    sleep(Duration::from_millis(500)).await;
    let paused = nothing_leaves(&house).await;
    change(&house, &["campaign", "resume", "autumn"]).await;
    some(&house, paused + 2).await;
    let said = change(&house, &["campaign", "cancel", "autumn"]).await;
    assert!(said.contains("autumn is cancelled"), "{said}");
    sleep(Duration::from_millis(500)).await;
    let got = nothing_leaves(&house).await;
    assert!(got < GUESTS);
    let twice = house
        .seven(
            &[
                "campaign",
                "resume",
                "autumn",
                "--casino",
                house.casino().as_str(),
                "--by",
                "R",
                "--reason",
                "r",
            ],
            "",
        )
        .await;
    assert!(
        twice.code == 1 && twice.err.contains("autumn is cancelled"),
        "{twice:?}"
    );
    let dropped =
        "select count(*) from campaign_guests c left join outbound_messages o using (outbound_id)
      where coalesce(o.reason, c.reason) = 'campaign_cancelled'";
    assert_eq!(
        house.number(dropped).await,
        i64::try_from(GUESTS - got).unwrap()
    );
    assert_eq!(
        house
            .number("select count(*) from outbound_messages where state = 'queued'")
            .await,
        0
    );
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'campaign_changed'")
            .await,
        4
    );
    house.stop().await;
}

#[tokio::test] // D4: a guest who is waiting for an answer, or for a person, is not interrupted
async fn a_guest_in_conversation_is_left_for_later() {
    let house = house("campaign_busy", slow(10)).await;
    listed(&house, 0..3).await;
    let casino = house.casino().to_string();
    let agents = [
        "--casino", &casino, "--agents", "--by", "Robin", "--reason", "a drill",
    ];
    super::ran(&house, &[&["pause"][..], &agents].concat()).await;
    house.text(&guest(1), "where is nonna salvia?");
    until(
        "the question is stored",
        Duration::from_secs(10),
        || async {
            house
                .number("select count(*) from inbound_messages where disposition = 'open'")
                .await
                == 1
        },
    )
    .await;
    send_all(&house, "autumn").await;
    some(&house, 2).await;
    nothing_leaves(&house).await;
    assert_eq!(reached(&house), [0, 2]);
    super::ran(&house, &[&["resume"][..], &agents].concat()).await;
    done(&house).await;
    assert_eq!(reached(&house), [0, 1, 2]);
    let texts = house.texts_to(&guest(1));
    assert!(
        texts.last().is_some_and(|text| text.contains(super::MARK)),
        "the answer came first: {texts:#?}"
    );
    house.stop().await;
}
