//! Tests a thousand edits by three editors through four sources. Meanwhile the database, ingress
//! and the swarm are killed again and again (D31).

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use reqwest::StatusCode;
use serde_json::{Value, json};
use seven_content::{Edit, Terms, Work, save};
use seven_domain::{ContentSource, RevisionState};
use seven_settings::Worker;
use seven_store::content::Wanted;
use seven_testkit::{Postgres, Scratch};
use tokio::{process::Child, sync::Mutex, time::sleep};

use super::{
    MASSAGE, by, changed,
    webhook::{Sheet, row},
};
use crate::harness::{GUEST, House, Wanted as HouseWanted, house_on};

const EDITS: usize = 1_000;
const EDITORS: [&str; 3] = ["ana", "bob", "eva"];
const ITEMS: [&str; 4] = ["spa_001", "spa_002", "dining_001", "promotions_001"];
/// Processes that are killed: `ingress-webhook` takes signed edits, `agent-swarm` answers guests
/// with the edited content.
const KILLED: [&str; 2] = ["ingress-webhook", "agent-swarm"];

/// The work that the editors share. Each edit writes words that no other edit writes.
struct Editing<'a> {
    house: &'a House,
    left: AtomicUsize,
    retried: AtomicUsize,
    done: Mutex<Vec<(&'static str, String)>>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_edits_outlive_killed_workers_and_a_killed_database() {
    let scratch = Scratch::new("editing_kills_server").unwrap();
    // This server writes commits to disk: the test kills it, and no acknowledged edit may be lost.
    let postgres = Postgres::start(scratch.path(), false).await.unwrap();
    let url = postgres.create_database("edits", None).await.unwrap();
    let theirs = [Worker::IngressWebhook, Worker::AgentSwarm];
    let workers = Worker::ALL.into_iter().filter(|w| !theirs.contains(w));
    let wanted = HouseWanted {
        workers: workers.collect(),
        ..HouseWanted::default()
    };
    let house = house_on("editing_kills", wanted, url).await;
    let processes = Mutex::new(HashMap::new());
    for worker in KILLED {
        let process = house.process(worker, None);
        processes.lock().await.insert(worker, process);
    }
    house.ingress_up().await;

    let work = Editing {
        house: &house,
        left: AtomicUsize::new(EDITS),
        retried: AtomicUsize::new(0),
        done: Mutex::default(),
    };
    let over = AtomicBool::new(false);
    let editing = async {
        tokio::join!(work.edit(0), work.edit(1), work.edit(2));
        over.store(true, Ordering::Relaxed);
    };
    let ((), kills) = tokio::join!(editing, kill(&house, &postgres, &processes, &over));
    eprintln!(
        "{EDITS} edits, {} tries failed, {kills:?} kills of database and workers",
        work.retried.load(Ordering::Relaxed)
    );
    assert!(kills.0 > 1 && kills.1 > 3, "{kills:?}");
    whole(&house, work.done.into_inner()).await;

    changed(&house, &by("ana"), "spa_001", |item| {
        item["details"]["price"] = 175.into();
    })
    .await;
    house.ingress_up().await;
    house.text(GUEST, MASSAGE);
    house.settle_within(1, Duration::from_secs(60)).await;
    let said = house.said_to(GUEST);
    assert!(said.contains("$175"), "{said}");
    drop(processes);
    house.stop().await;
    postgres.wipe_data().await.unwrap();
}

/// Kills the database or one of the processes, again and again until `over` is set. Returns how
/// often it killed the database and how often a process.
async fn kill(
    house: &House,
    postgres: &Postgres,
    processes: &Mutex<HashMap<&'static str, Child>>,
    over: &AtomicBool,
) -> (usize, usize) {
    let mut random = StdRng::seed_from_u64(7);
    let (mut database, mut workers) = (0, 0);
    while !over.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(random.random_range(500..2_500))).await;
        // Every third kill is the database's, so that a fast machine kills it often enough too.
        if (database + workers) % 3 == 2 {
            postgres.kill().unwrap();
            postgres.restart().await.unwrap();
            database += 1;
        } else {
            let worker = *KILLED.choose(&mut random).unwrap();
            let mut processes = processes.lock().await;
            processes.get_mut(worker).unwrap().kill().await.unwrap();
            processes.insert(worker, house.process(worker, None));
            workers += 1;
        }
    }
    (database, workers)
}

/// Checks three things: each edit is one revision, the revisions' numbers have no gap, and guests
/// get the newest published revision.
async fn whole(house: &House, done: Vec<(&'static str, String)>) {
    assert_eq!(done.len(), EDITS);
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    for id in ITEMS {
        let all = tx.revisions(Wanted::Of(id), 2_000).await.unwrap();
        let ours = done.iter().filter(|(item, _)| *item == id);
        let mut edits = 0;
        for (_, words) in ours {
            let with = all.iter().filter(|one| says(one.item.as_ref(), words));
            assert_eq!(with.count(), 1, "{id}: {words}");
            edits += 1;
        }
        assert_eq!(all.len(), edits + 1, "{id}: the first load and the edits");
        let numbers = all.iter().rev().map(|one| one.revision);
        assert!(numbers.eq(1..=i32::try_from(all.len()).unwrap()), "{id}");
        let newest = all.iter().find(|one| one.state == RevisionState::Published);
        let found = tx.published_items(Some(&[id.to_owned()])).await.unwrap();
        assert_eq!(Some(&found[0].item), newest.unwrap().item.as_ref(), "{id}");
        assert!(newest.unwrap().current, "{id}");
    }
    tx.commit().await.unwrap();
}

fn says(item: Option<&Value>, words: &str) -> bool {
    item.is_some_and(|item| item["description"] == words)
}

impl Editing<'_> {
    /// Makes edits one after the other. Repeats each edit until the edit is known to be stored.
    async fn edit(&self, editor: usize) {
        let mut random = StdRng::seed_from_u64(editor as u64);
        let take = |left: usize| left.checked_sub(1);
        while let Ok(n) = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
        {
            let source = random.random_range(0..10);
            let id = match source {
                0..3 => "spa_001",
                _ => ITEMS.choose(&mut random).unwrap(),
            };
            let words = format!("Text number {n} of {} about it.", EDITORS[editor]);
            let mut tries = 0_i64;
            loop {
                let stored = match source {
                    0..3 => self.by_sheet(&words, n, tries).await,
                    3 => self.by_file(&mut random, id, &words, editor).await,
                    _ => self.by_call(&mut random, id, &words, editor).await,
                };
                if stored.is_some() {
                    break;
                }
                tries += 1;
                self.retried.fetch_add(1, Ordering::Relaxed);
                sleep(Duration::from_millis(100)).await;
            }
            self.done.lock().await.push((id, words));
        }
    }

    /// Sends an edit as the sheet's script does: each try has a new signature.
    async fn by_sheet(&self, words: &str, n: usize, tries: i64) -> Option<()> {
        let sheet = Sheet {
            house: self.house,
            http: reqwest::Client::new(),
        };
        let mut row = row(&format!("edit-{n}"), "$165");
        row["item"]["description"] = words.into();
        let key = seven_content::webhook::key(&self.house.stack.fleet.keys, self.house.casino(), 1);
        let at = (self.house.stack.fleet.clock.now().timestamp() + tries).to_string();
        let body = row.to_string();
        let signature = seven_content::webhook::sign(&key, &at, body.as_bytes());
        let (status, said) = sheet
            .send("silver_birch", body, &at, &signature)
            .await
            .ok()?;
        if status.is_server_error() {
            return None;
        }
        assert_eq!(status, StatusCode::OK, "{said}");
        Some(())
    }

    /// Loads a file with `seven content load`, and sometimes kills that process.
    async fn by_file(
        &self,
        random: &mut StdRng,
        id: &str,
        words: &str,
        editor: usize,
    ) -> Option<()> {
        let fleet = &self.house.stack.fleet;
        let mut tx = fleet.store.bind(self.house.casino()).await.ok()?;
        let all = tx.revisions(Wanted::Of(id), 2_000).await.ok()?;
        tx.commit().await.ok()?;
        if all.iter().any(|one| says(one.item.as_ref(), words)) {
            return Some(());
        }
        let mut item = all.iter().find(|one| one.current)?.item.clone()?;
        item["description"] = words.into();
        let name = format!("of-{}.json", EDITORS[editor]);
        let file = self
            .house
            .file(&name, &json!({ "schema": 1, "items": [item] }).to_string());
        let casino = self.house.casino().to_string();
        let by = EDITORS[editor];
        let mut command = tokio::process::Command::new(crate::harness::binary());
        let mut child = command
            .args([
                "content", "load", &file, "--casino", &casino, "--by", by, "--yes",
            ])
            .arg("--config")
            .arg(&self.house.stack.config_file)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let patience = match random.random_range(0..3) {
            0 => Duration::from_millis(random.random_range(50..400)),
            _ => Duration::from_secs(60),
        };
        match tokio::time::timeout(patience, child.wait()).await {
            Ok(ended) => ended.unwrap().success().then_some(()),
            Err(_) => {
                child.kill().await.unwrap();
                None
            }
        }
    }

    /// Saves an edit as the console and the API do. First checks whether an earlier try has stored
    /// the edit.
    async fn by_call(
        &self,
        random: &mut StdRng,
        id: &str,
        words: &str,
        editor: usize,
    ) -> Option<()> {
        let fleet = &self.house.stack.fleet;
        let mut work = Work::begin(fleet, self.house.casino()).await.ok()?;
        let all = work.tx().revisions(Wanted::Of(id), 2_000).await.ok()?;
        if all.iter().any(|one| says(one.item.as_ref(), words)) {
            return Some(());
        }
        let mut value = all.iter().find(|one| one.current)?.item.clone()?;
        value["description"] = words.into();
        if random.random_range(0..6) == 0 {
            // This value is invalid, so the edit is refused but stored.
            value["name"] = 7.into();
        }
        let sources = [ContentSource::Console, ContentSource::Api];
        let terms = Terms {
            source: *sources.choose(random).unwrap(),
            editor: EDITORS[editor],
            draft: random.random_range(0..5) == 0,
            ..by("")
        };
        let edit = Edit {
            value,
            ..Edit::default()
        };
        save(&mut work, &terms, &[edit]).await.ok()?;
        work.commit().await.ok()
    }
}
