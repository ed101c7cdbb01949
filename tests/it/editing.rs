//! A casino edits its content (D31): which edits are held or refused, when guests get a change, and
//! what the history records.

mod commands;
mod kills;
mod late;
mod spreadsheet;
mod webhook;

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Value, json};
use seven_content::{Edit, Outcome, Terms, Work, publish, save};
use seven_domain::{ContentFinding, ContentSource, RevisionState};
use seven_store::content::{Decided, Wanted};

use crate::harness::{GUEST, House, Wanted as HouseWanted, house, until};

const SHORT: Duration = Duration::from_secs(30);
const MASSAGE: &str = "How much is the Swedish Massage?";

pub(crate) fn by(editor: &str) -> Terms<'_> {
    Terms {
        source: ContentSource::Console,
        editor,
        draft: false,
        approved_by: None,
        keep_refused: true,
        keep_waiting: false,
    }
}

/// Returns the published value of the item with this id.
pub(crate) async fn item(house: &House, id: &str) -> Value {
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let found = tx.published_items(Some(&[id.to_owned()])).await.unwrap();
    tx.commit().await.unwrap();
    found[0].item.clone()
}

async fn edit(house: &House, terms: &Terms<'_>, edit: Edit) -> Outcome {
    let fleet = &house.stack.fleet;
    let mut work = Work::begin(fleet, house.casino()).await.unwrap();
    let mut outcomes = save(&mut work, terms, &[edit]).await.unwrap();
    work.commit().await.unwrap();
    outcomes.remove(0)
}

/// Applies `change` to the item with this id, and saves the result.
pub(crate) async fn changed(
    house: &House,
    terms: &Terms<'_>,
    id: &str,
    change: impl FnOnce(&mut Value),
) -> Outcome {
    let mut value = item(house, id).await;
    change(&mut value);
    let new = Edit {
        value,
        ..Edit::default()
    };
    edit(house, terms, new).await
}

fn state(outcome: &Outcome) -> RevisionState {
    match outcome {
        Outcome::Saved { state, .. } => *state,
        other => panic!("{other:?}"),
    }
}

fn refused(outcome: &Outcome) -> Vec<ContentFinding> {
    match outcome {
        Outcome::Refused { findings, .. } => findings.iter().map(|f| f.kind).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test] // D31, CMS-38..43
async fn guards_hold_or_refuse_and_another_person_publishes() {
    let house = house("editing_guards", HouseWanted::default()).await;
    let ana = by("ana");
    let price = |value: u32| move |item: &mut Value| item["details"]["price"] = value.into();
    let done = changed(&house, &ana, "spa_001", price(175)).await;
    assert_eq!(state(&done), RevisionState::Published);
    let jump = changed(&house, &ana, "spa_001", price(17)).await;
    assert_eq!(state(&jump), RevisionState::Review, "165 to 17 is a slip");
    assert_eq!(item(&house, "spa_001").await["details"]["price"], 175.0);

    // The editor of a change cannot publish it; another person can.
    let fleet = &house.stack.fleet;
    let decide = async |by: &str| {
        let mut work = Work::begin(fleet, house.casino()).await.unwrap();
        let what = Decided {
            item_id: "spa_001",
            revision: 3,
            by,
            reason: "",
        };
        let done = publish(&mut work, &what, &[]).await;
        work.commit().await.unwrap();
        done.map_err(|error| error.to_string())
    };
    let own = decide("ana").await.unwrap_err();
    assert!(own.contains("another person must publish"), "{own}");
    assert_eq!(decide("bob").await, Ok(RevisionState::Published));
    assert_eq!(item(&house, "spa_001").await["details"]["price"], 17.0);
    let again = decide("bob").await.unwrap_err();
    assert!(again.contains("waits for nobody"), "{again}");

    let rule = changed(&house, &ana, "regulation_001", |item| {
        item["description"] = "Guests must be 21 or older everywhere.".into();
    })
    .await;
    assert_eq!(state(&rule), RevisionState::Review);

    // Switching off a whole category at once is refused, because its last item must stay on.
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let all = tx.published_items(None).await.unwrap();
    tx.commit().await.unwrap();
    let off: Vec<Edit> = all
        .iter()
        .filter(|item| item.item["category"] == "spa")
        .map(|item| {
            let mut value = item.item.clone();
            value["active"] = false.into();
            Edit {
                value,
                ..Edit::default()
            }
        })
        .collect();
    let mut work = Work::begin(fleet, house.casino()).await.unwrap();
    let outcomes = save(&mut work, &ana, &off).await.unwrap();
    work.rollback().await.unwrap();
    assert!(
        outcomes
            .iter()
            .all(|one| refused(one) == [ContentFinding::LastActive]),
        "{outcomes:?}"
    );
    // If the items are switched off one by one, at most half of them may be switched off within an
    // hour.
    let mut gone = 0;
    for one in off {
        match edit(&house, &ana, one).await {
            Outcome::Saved { .. } => gone += 1,
            other => {
                assert_eq!(refused(&other), [ContentFinding::ManyOff]);
                break;
            }
        }
    }
    let spas = all
        .iter()
        .filter(|item| item.item["category"] == "spa")
        .count();
    assert_eq!(gone, spas / 2);

    // An edit with invalid values is stored with all its problems until somebody corrects the item.
    let broken = changed(&house, &ana, "dining_001", |item| {
        item["details"]["price_range"] = "cheap".into();
        item["details"]["hours"] = "always".into();
    })
    .await;
    assert!(refused(&broken).len() >= 2, "{broken:?}");
    let kept = "select count(*) from content_revisions where state = 'rejected' and item_id = 'dining_001'";
    assert_eq!(house.number(kept).await, 1);
    changed(&house, &ana, "dining_001", |item| {
        item["tip"] = "Ask for the window.".into();
    })
    .await;
    assert_eq!(house.number(kept).await, 0, "the corrected edit settles it");
    house.stop().await;
}

#[tokio::test] // D31: two editors of one item
async fn an_edit_of_what_moved_on_is_not_saved() {
    let house = house("editing_moved", HouseWanted::default()).await;
    let mine = item(&house, "spa_001").await;
    changed(&house, &by("bob"), "spa_001", |item| {
        item["tip"] = "Book early.".into();
    })
    .await;
    let mut late = mine;
    late["tip"] = "Come late.".into();
    let late = Edit {
        value: late,
        seen: Some(1),
        ..Edit::default()
    };
    let outcome = edit(&house, &by("ana"), late).await;
    assert!(
        matches!(outcome, Outcome::Moved { newest: 2, .. }),
        "{outcome:?}"
    );
    assert_eq!(item(&house, "spa_001").await["tip"], "Book early.");
    house.stop().await;
}

#[tokio::test] // D31: scheduled publishing and expiry
async fn content_begins_and_ends_at_its_times() {
    let house = house("editing_times", HouseWanted::default()).await;
    let mut value = item(&house, "spa_001").await;
    value["details"]["price"] = 180.into();
    let now = house.stack.fleet.clock.now();
    let outcome = edit(
        &house,
        &by("ana"),
        Edit {
            value,
            publish_at: Some(now + TimeDelta::seconds(4)),
            take_down_at: Some(now + TimeDelta::seconds(8)),
            ..Edit::default()
        },
    )
    .await;
    assert_eq!(state(&outcome), RevisionState::Scheduled);
    // The edit `winter` below is based on the revision with the price 180. `winter` stays scheduled
    // after the revision with the price 180 has ended.
    assert_eq!(item(&house, "spa_001").await["details"]["price"], 165.0);
    until("the price begins", SHORT, || async {
        item(&house, "spa_001").await["details"]["price"] == 180.0
    })
    .await;
    let mut next = item(&house, "spa_001").await;
    next["description"] = "The winter ritual.".into();
    let winter = Edit {
        value: next,
        publish_at: Some(now + TimeDelta::days(30)),
        ..Edit::default()
    };
    let winter = edit(&house, &by("ana"), winter).await;
    assert_eq!(state(&winter), RevisionState::Scheduled);
    until("the item ends", SHORT, || async {
        item(&house, "spa_001").await["active"] == false
    })
    .await;
    let kept =
        "select count(*) from content_revisions r join content_items i using (casino_id, item_id)
        where r.state = 'scheduled' and r.base = i.revision";
    assert_eq!(house.number(kept).await, 1);
    // A change that is published at once replaces the scheduled revision.
    changed(&house, &by("bob"), "spa_001", |item| {
        item["tip"] = "Book early.".into();
    })
    .await;
    assert_eq!(house.number(kept).await, 0);
    house.stop().await;
}

/// Runs an operators' command that must succeed, and returns its stdout.
async fn seven(house: &House, args: &[&str]) -> String {
    let casino = house.casino().to_string();
    let said = house
        .seven(&[args, &["--casino", &casino]].concat(), "")
        .await;
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.out
}

#[tokio::test] // CMS-33, CMS-55, D31
async fn undo_and_rollback_bring_old_answers_back() {
    let house = house("editing_rollback", HouseWanted::default()).await;
    let answer = async |nth: i64| {
        let before = house.texts_to(GUEST).len();
        house.text(GUEST, MASSAGE);
        house.settle(nth).await;
        house.texts_to(GUEST).split_off(before).join(" ")
    };
    let before = Utc::now();
    let said = answer(1).await;
    assert!(said.contains("$165"), "{said}");
    for price in [175, 185] {
        let by = by("ana");
        changed(&house, &by, "spa_001", |item| {
            item["details"]["price"] = price.into();
        })
        .await;
    }
    let said = answer(2).await;
    assert!(said.contains("$185"), "{said}");
    let said = seven(&house, &["content", "undo", "spa_001", "--by", "ana"]).await;
    assert!(
        said.contains("Revision 4 of spa_001 is published"),
        "{said}"
    );
    let said = answer(3).await;
    assert!(said.contains("$175"), "{said}");
    let history = seven(&house, &["content", "history", "spa_001"]).await;
    assert_eq!(history.matches("published").count(), 4, "{history}");
    let diff = seven(
        &house,
        &["content", "diff", "spa_001", "--from", "1", "--to", "3"],
    )
    .await;
    assert!(diff.contains("~ details.price: 165"), "{diff}");
    let time = before.to_rfc3339();
    let rollback = ["content", "rollback", "--to", &time, "--by", "ana"];
    let dry = seven(&house, &[&rollback[..], &["--dry-run"]].concat()).await;
    assert!(
        dry.contains("1 changed") && dry.contains("Swedish Massage"),
        "{dry}"
    );
    seven(&house, &[&rollback[..], &["--yes"]].concat()).await;
    let said = answer(4).await;
    assert!(said.contains("$165"), "{said}");
    // The words of an old revision can be purged, but not those of the revision that guests get.
    let purge = [
        "content",
        "purge",
        "spa_001",
        "--reason",
        "a name stood there",
        "--by",
        "ana",
    ];
    seven(&house, &[&purge[..], &["--revision", "3"]].concat()).await;
    let left =
        "select count(*) from content_revisions where item_id = 'spa_001' and item is not null";
    assert_eq!(house.number(left).await, 4);
    house.stop().await;
}

#[tokio::test] // D31: no revision is lost, and the index has what is published
async fn random_edits_by_three_editors_leave_a_whole_history() {
    let house = house("editing_random", HouseWanted::default()).await;
    let fleet = &house.stack.fleet;
    let mut random = StdRng::seed_from_u64(31);
    let ids = [
        "spa_001",
        "spa_002",
        "dining_001",
        "dining_002",
        "promotions_001",
    ];
    let sources = [
        ContentSource::Console,
        ContentSource::Sheet,
        ContentSource::File,
        ContentSource::Api,
    ];
    let mut saved = std::collections::BTreeMap::<&str, i64>::new();
    for n in 0..300 {
        let id = *ids.choose(&mut random).unwrap();
        let mut value = item(&house, id).await;
        match random.random_range(0..4) {
            0 => value["tip"] = format!("Tip {n}").into(),
            1 => value["description"] = format!("Text number {n} about it.").into(),
            2 => value["name"] = 7.into(),
            _ => value["keywords"] = json!([format!("word{n}")]),
        }
        let terms = Terms {
            source: *sources.choose(&mut random).unwrap(),
            editor: ["ana", "bob", "eva"].choose(&mut random).unwrap(),
            draft: random.random_range(0..5) == 0,
            ..by("")
        };
        let mut work = Work::begin(fleet, house.casino()).await.unwrap();
        let edit = Edit {
            value,
            ..Edit::default()
        };
        let outcome = save(&mut work, &terms, &[edit]).await.unwrap().remove(0);
        if random.random_range(0..6) == 0 {
            // Acts like a worker that dies before it commits.
            drop(work);
            continue;
        }
        work.commit().await.unwrap();
        if matches!(outcome, Outcome::Saved { .. } | Outcome::Refused { .. }) {
            *saved.entry(id).or_default() += 1;
        }
    }
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    for (id, count) in saved {
        let all = tx.revisions(Wanted::Of(id), 1_000).await.unwrap();
        assert_eq!(all.len() as i64, count + 1, "{id}: no revision is lost");
        let numbers: Vec<i32> = all.iter().rev().map(|one| one.revision).collect();
        assert!(
            numbers
                .iter()
                .copied()
                .eq(1..=i32::try_from(all.len()).unwrap())
        );
        let newest = all.iter().find(|one| one.state == RevisionState::Published);
        let found = tx.published_items(Some(&[id.to_owned()])).await.unwrap();
        assert_eq!(Some(&found[0].item), newest.unwrap().item.as_ref(), "{id}");
        assert!(newest.unwrap().current);
    }
    tx.commit().await.unwrap();
    house.stop().await;
}
