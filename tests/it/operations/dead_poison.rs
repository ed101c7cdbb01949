//! A message that always fails blocks no message behind it, in any stage. When the cause is
//! removed, a replay makes it take effect once (D17).

use std::time::Duration;

use seven_bus::{
    Outgoing, subject,
    topology::{CONSUMING, queues_of},
};

use super::BRIEF;
use crate::harness::{Wanted, house, until};

const STAGES: [&str; 5] = ["gate", "swarm", "envelope", "sender", "receipts"];

/// SQL that makes each stage's write fail every time for one guest; each stage has its own guest.
const POISON: &str = "
create table poisoned (what text, phone text);
grant select on poisoned to seven_app;
insert into poisoned values ('inbound_messages', '+18605550110'), ('turns', '+18605550111'), ('outbound_messages', '+18605550112'),
  ('send_attempts', '+18605550113'), ('receipts', '+18605550114');
create function poison() returns trigger language plpgsql as $$
declare guest uuid;
begin
  if tg_table_name in ('send_attempts', 'receipts') then
    select o.guest_id into guest from outbound_messages o where o.outbound_id = new.outbound_id;
  else
    guest := new.guest_id;
  end if;
  if tg_table_name = 'outbound_messages' then
    if new.turn_id is null then return new; end if;
  end if;
  if exists (select 1 from poisoned p join guests g on g.phone = p.phone where p.what = tg_table_name and g.guest_id = guest) then
    raise exception 'poisoned';
  end if;
  return new;
end $$;";

const POISONED: [&str; 5] = [
    "inbound_messages",
    "turns",
    "outbound_messages",
    "send_attempts",
    "receipts",
];

fn poisoned(n: usize) -> String {
    format!("+186055501{}", 10 + n)
}

#[tokio::test] // D17, PROD-35, AGENT-26
async fn one_bad_event_in_each_stage_blocks_no_other_and_acts_once_when_mended() {
    let house = house("dead_poison", Wanted::default()).await;
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::raw_sql(POISON).execute(&owner).await.unwrap();
    // Each trigger gets its own transaction. A transaction that locked several tables could
    // deadlock with a worker.
    for table in POISONED {
        let trigger = format!(
            "create trigger poison before insert on {table} for each row execute function poison()"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(trigger))
            .execute(&owner)
            .await
            .unwrap();
    }
    // Publishes bytes that cannot be decoded on every subject of every stage.
    for stage in CONSUMING {
        for queue in queues_of(stage) {
            let subject = subject(stage, house.casino(), *queue);
            let junk = Outgoing {
                subject,
                key: "junk",
                copy: None,
                trace: "",
                payload: vec![0xff_u8; 40].into(),
            };
            house
                .stack
                .fleet
                .bus
                .publish(&junk, Duration::from_secs(5))
                .await
                .unwrap();
        }
    }
    for n in 0..STAGES.len() {
        house.text(&poisoned(n), BRIEF);
    }
    let well: Vec<_> = (0..STAGES.len())
        .map(|n| format!("+186055501{}", 40 + n))
        .collect();
    for guest in &well {
        house.text(guest, BRIEF);
    }
    for guest in &well {
        until(
            "who comes behind is answered",
            Duration::from_secs(10),
            || async { house.said_to(guest).contains("Nonna Salvia") },
        )
        .await;
    }
    until(
        "the one whose receipts fail is answered",
        Duration::from_secs(10),
        || async { house.said_to(&poisoned(4)).contains("Nonna Salvia") },
    )
    .await;
    // The undecodable message has the same key in all queues of the sender, so the sender's stage
    // makes only one dead letter of it. Each text to the guest whose receipts fail has two
    // receipts.
    let receipts = 2 * i64::try_from(house.texts_to(&poisoned(4)).len()).unwrap();
    until(
        "all that is bad is filed",
        Duration::from_secs(60),
        || async {
            house
                .number("select count(distinct stage) from dead_letters where reason = 'failed' or reason = 'turn_failed'")
                .await
                == 5
                && house
                    .number("select count(*) from dead_letters where reason = 'undecodable'")
                    .await
                    == 5
                && house
                    .number("select count(*) from dead_letters where stage = 'receipts' and reason = 'failed'")
                    .await
                    == receipts
        },
    )
    .await;
    for stage in STAGES {
        let said = house.seven(&["dead", "list", "--stage", stage], "").await;
        assert!(
            said.out.contains("undecodable") && said.out.contains("failed"),
            "{said:?}"
        );
    }
    let mended = house
        .number("select count(*) from dead_letters where reason <> 'undecodable'")
        .await;

    let unsaid: Vec<_> = (0..STAGES.len())
        .map(|n| house.texts_to(&poisoned(n)).len())
        .collect();
    assert_eq!(unsaid[0], 0, "the gate never had it: {unsaid:?}");
    assert!(
        unsaid[4] >= 1,
        "its receipt failed, not its answer: {unsaid:?}"
    );
    sqlx::raw_sql("truncate poisoned")
        .execute(&owner)
        .await
        .unwrap();
    let replay = [
        "dead",
        "replay",
        "--all-casinos",
        "--yes",
        "--rate",
        "1000/s",
        "--by",
        "ana",
    ];
    let line = |n| format!("Replayed {n} dead letter(s); refused 5 (unreadable 5), still listed.");
    // A sweep may have published a copy of a signal. If the copy failed just before the table was
    // emptied, it is filed while its letter is replayed. The command then leaves that letter open
    // and reports it, and the next replay handles it.
    until(
        "no letter is left that can be replayed",
        Duration::from_secs(20),
        || async {
            let said = house.seven(&replay, "").await;
            assert!(said.code == 1 && said.out.contains("refused 5"), "{said:?}");
            said.out.contains(&line(0))
        },
    )
    .await;
    for n in 0..STAGES.len() {
        until(
            "who was poisoned is answered",
            Duration::from_secs(20),
            || async { house.said_to(&poisoned(n)).contains("Nonna Salvia") },
        )
        .await;
    }
    house.settle(10).await;
    until("the receipt is in", Duration::from_secs(10), || async {
        house
            .number("select count(*) from outbound_messages where state = 'sent'")
            .await
            == 0
    })
    .await;
    let texts = house.stack.sim.ledger().snapshot().outbound.len();
    let again = house
        .seven(&[&replay[..], &["--state", "all"]].concat(), "")
        .await;
    assert!(
        again.code == 1 && again.out.contains(&line(mended)),
        "{again:?}"
    );
    for stage in CONSUMING {
        until(
            "the stage has seen them",
            Duration::from_secs(10),
            || async {
                let lag = house.stack.fleet.bus.lag(stage).await.unwrap();
                lag.iter().all(|lag| lag.pending == 0 && lag.in_flight == 0)
            },
        )
        .await;
    }
    house.settle(10).await;
    assert_eq!(
        house.stack.sim.ledger().snapshot().outbound.len(),
        texts,
        "replayed twice, sent once"
    );
    assert_eq!(
        house.number("select count(*) from turns").await,
        10,
        "one turn for each text"
    );
    let labels = ["gate", house.casino().as_str(), "undecodable"];
    assert_eq!(
        seven_telemetry::metrics()
            .dead
            .with_label_values(&labels)
            .get(),
        1
    );
    until(
        "the gauge says what waits",
        Duration::from_secs(15),
        || async {
            let gauge = &seven_telemetry::metrics().dead_open;
            let mended = gauge
                .with_label_values(&["gate", house.casino().as_str(), "failed"])
                .get();
            (gauge.with_label_values(&labels).get(), mended) == (1, 0)
        },
    )
    .await;
    house.stop().await;
}
