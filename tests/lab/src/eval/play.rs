//! Plays many dialogues on one fleet. Each dialogue has its own casino, and its own swarm whose
//! clock starts at the dialogue's first text. Dates in the content, such as "in 12 days", count
//! from that time.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, Result, anyhow};
use seven::onboard;
use seven_agent_swarm::Embedding;
use seven_bus::{Roster, WorkerSettings};
use seven_carrier_sim::Text;
use seven_domain::{
    CasinoConfig, CasinoId, CasinoStatus, Clock, Disposition, OutboundState, PhoneE164, TurnState,
};
use seven_guest::Profile;
use seven_host::Record;
use seven_knowledge::Index;
use seven_offline_host::Facts;
use seven_runtime::Fleet;
use seven_settings::Worker;
use seven_store::timeline::{Subject, Timeline};
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, sleep},
};
use uuid::Uuid;

use super::{
    dialogue::{Dialogue, Turn, Verdict},
    judge::{Heard, House, judge},
    known,
    models::{self, Host},
    property::{Property, house},
    report::{Played, PlayedTurn},
};
use crate::stack::{Plan, Stack};

/// Longest wait for an answer; afterwards the turn has failed and the dialogue continues.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest wait for an answer if an earlier text of the guest got none. The wait is short, because
/// the later texts then mostly get no answer either.
const SHORT_ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two checks of a guest's texts; more frequent checks would cost more CPU time than
/// they save.
const LOOK: Duration = Duration::from_millis(60);
const ACTOR: &str = "seven eval";

/// Addresses of the servers. A run writes casinos and guests into these servers.
#[derive(Debug, Clone)]
pub struct Ground {
    pub nats_url: String,
    pub redis_url: String,
    /// The database owner's URL of an empty database.
    pub postgres_url: String,
    pub dir: PathBuf,
}

/// A running fleet with all workers except the swarm.
#[derive(Debug)]
pub struct Theatre {
    stack: Arc<Stack>,
    property: Arc<Property>,
    /// Number of runs so far. The number is part of the casinos' ids, so that each run has separate
    /// casinos.
    runs: usize,
}

/// One guest at one copy of the casino.
struct Scene {
    fleet: Fleet,
    config: CasinoConfig,
    phone: String,
    house: House,
    patience: Duration,
    swarm: JoinSet<()>,
}

/// Parts that all dialogues of a run share.
#[derive(Clone)]
struct Cast {
    stack: Arc<Stack>,
    property: Arc<Property>,
    swarm: seven_agent_swarm::Settings,
    loops: WorkerSettings,
}

impl Theatre {
    pub async fn open(ground: Ground, property: Property) -> Result<Self> {
        let config = &property.config;
        let workers = Worker::ALL
            .into_iter()
            .filter(|worker| *worker != Worker::AgentSwarm)
            .collect();
        let plan = Plan {
            nats_url: ground.nats_url,
            redis_url: ground.redis_url,
            postgres_url: ground.postgres_url,
            dir: ground.dir,
            // Leaves out waits that only serve people: other tests cover the typing delay and the
            // quiet window.
            scale: 0.0,
            at: None,
            workers,
            casino_name: config.prompts.casino_name_display.clone(),
            casino_number: config.operational.telnyx_phone_number.as_str().to_owned(),
            extra: String::new(),
            ledger_file: None,
        };
        Ok(Self {
            stack: Arc::new(Stack::start(plan).await?),
            property: Arc::new(property),
            runs: 0,
        })
    }

    /// Returns the cache through which hosted models share their circuit breakers.
    pub fn cache(&self) -> &seven_cache::Cache {
        &self.stack.fleet.cache
    }

    /// Returns the fleet's packs; a host needs one model for each of them.
    pub fn packs(&self) -> &seven_packs::Packs {
        &self.stack.fleet.packs
    }

    /// Returns the finder, with the vectors of the content's facts at the dialogues' times. Otherwise
    /// the first turns would wait for the vectors, some of them too long.
    ///
    /// # Errors
    /// Fails if a row is wrong, or a dialogue's time does not exist at the casino.
    pub fn facts(&self, dialogues: &[Dialogue]) -> Result<Facts> {
        let facts = Facts::new()?;
        let zone = self.property.config.operational.timezone;
        for dialogue in dialogues {
            let Ok(now) = self.property.instant(dialogue.at) else {
                continue;
            };
            let items = self.property.items(dialogue.at)?;
            facts.prepare(&Index::build(items).in_zone(zone), now)?;
        }
        Ok(facts)
    }

    /// Plays all dialogues, several at a time, and returns the results in the order of the
    /// dialogues. If a dialogue breaks off, all its checks fail; the other dialogues are not
    /// affected.
    pub async fn play(&mut self, dialogues: &[Dialogue], host: &Host) -> Result<Vec<Played>> {
        self.runs += 1;
        let settings = &self.stack.settings.worker;
        let cast = Cast {
            stack: Arc::clone(&self.stack),
            property: Arc::clone(&self.property),
            swarm: seven_agent_swarm::Settings {
                models: models::steady(self.packs(), &host.models),
                hosted: host.hosted.clone(),
                web_limits: seven_agent_swarm::WebLimits::default(),
                embedding: Embedding::default(),
                model_deadline: host
                    .deadline
                    .unwrap_or(Duration::from_secs(settings.model_deadline_seconds)),
                index_bytes: settings.index_megabytes * 1024 * 1024,
            },
            loops: WorkerSettings {
                concurrency: 8,
                deadline: Duration::from_secs(settings.handler_deadline_seconds),
                ..WorkerSettings::default()
            },
        };
        let seats = Arc::new(Semaphore::new(host.at_once));
        let mut playing = JoinSet::new();
        let mut played: Vec<Option<Played>> = dialogues.iter().map(|_| None).collect();
        let mut places = std::collections::HashMap::new();
        for (n, dialogue) in dialogues.iter().enumerate() {
            let (cast, dialogue, seats, run) = (
                cast.clone(),
                dialogue.clone(),
                Arc::clone(&seats),
                self.runs,
            );
            let task = playing.spawn(async move {
                let _seat = seats.acquire_owned().await;
                Box::pin(play(&cast, &dialogue, run, n)).await
            });
            places.insert(task.id(), n);
        }
        while let Some(ended) = playing.join_next_with_id().await {
            let (place, outcome) = match ended {
                Ok((id, outcome)) => (places.get(&id), outcome),
                Err(died) => (
                    places.get(&died.id()),
                    Err(anyhow!("the dialogue's task died: {died}")),
                ),
            };
            if let Some(n) = place {
                let dialogue = &dialogues[*n];
                played[*n] =
                    Some(outcome.unwrap_or_else(|error| broken(dialogue, &format!("{error:#}"))));
            }
        }
        Ok(played.into_iter().flatten().collect())
    }

    pub async fn close(self) -> Result<()> {
        let stack =
            Arc::try_unwrap(self.stack).map_err(|_| anyhow!("a dialogue is still being played"))?;
        stack.stop().await
    }
}

/// Returns the result of a dialogue that could not be played. All its checks failed, and `trouble`
/// is the reason.
fn broken(dialogue: &Dialogue, trouble: &str) -> Played {
    let heard = Heard {
        trouble: trouble.to_owned(),
        ..Heard::default()
    };
    let turns = dialogue
        .turns
        .iter()
        .map(|turn| judged(dialogue, turn, &[], heard.clone(), &House::default(), 0));
    Played::of(dialogue, turns.collect())
}

fn judged(
    dialogue: &Dialogue,
    turn: &Turn,
    guest: &[String],
    heard: Heard,
    house: &House,
    millis: u64,
) -> PlayedTurn {
    let checks = judge(&turn.expect, &dialogue.tags, guest, &heard, house);
    PlayedTurn::of(turn, heard, checks, millis)
}

async fn play(cast: &Cast, dialogue: &Dialogue, run: usize, n: usize) -> Result<Played> {
    let mut scene = Scene::set(cast, dialogue, run, n).await?;
    let (mut turns, mut texts, mut said) = (Vec::new(), 0, Vec::new());
    let mut before = Timeline::default();
    for turn in &dialogue.turns {
        let begun = Instant::now();
        said.extend(turn.guest.as_slice().iter().cloned());
        texts += turn.guest.as_slice().len();
        scene.say(&cast.stack, turn.guest.as_slice(), texts).await?;
        let (after, trouble) = scene.hear(texts).await?;
        let heard = scene.heard(&before, &after, &trouble, turn).await?;
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        turns.push(judged(dialogue, turn, &said, heard, &scene.house, millis));
        before = after;
    }
    scene.leave(&cast.stack).await?;
    Ok(Played::of(dialogue, turns))
}

impl Scene {
    async fn set(cast: &Cast, dialogue: &Dialogue, run: usize, n: usize) -> Result<Self> {
        let (stack, property) = (&cast.stack, &cast.property);
        let mut config = property.config.clone();
        config.casino_id = format!("eval_{run}_{n}").parse()?;
        // Gives each run 200 numbers of the fictional range 555-01xx, so that the runs on one fleet
        // do not collide.
        let seat = run * 200 + n;
        config.operational.telnyx_phone_number =
            format!("+1{}55501{:02}", 201 + seat / 100, seat % 100).parse()?;
        let mut fleet = stack.fleet.clone();
        fleet.clock = Clock::starting_at(property.instant(dialogue.at)?);
        fleet.roster = Roster::new(vec![config.casino_id.clone()]);
        fleet.shutdown = stack.fleet.shutdown.child_token();
        onboard::add_casino(&fleet, &config, ACTOR).await?;
        onboard::announce(&stack.fleet, &config.casino_id).await?;
        onboard::load_content(
            &fleet,
            &config.casino_id,
            &property.content_file,
            &property.content,
            ACTOR,
        )
        .await?;
        let mut tx = fleet.store.bind(&config.casino_id).await?;
        tx.replace_exclusions(&[], ACTOR).await?;
        tx.commit().await?;
        let grounds = dialogue.turns.iter().any(|turn| turn.expect.unanswerable);
        let house = house(&fleet, &config, &property.items(dialogue.at)?, grounds)?;
        let mut swarm = JoinSet::new();
        swarm.spawn(seven_agent_swarm::run(
            fleet.clone(),
            cast.swarm.clone(),
            cast.loops,
        ));
        Ok(Self {
            fleet,
            config,
            phone: format!("+186055501{:02}", n % 100),
            house,
            patience: ANSWER_TIMEOUT + cast.swarm.model_deadline,
            swarm,
        })
    }

    /// Closes the casino, so that the fleet stops its work for it.
    async fn leave(mut self, stack: &Stack) -> Result<()> {
        self.fleet.shutdown.cancel();
        let mut tx = self.fleet.store.bind(self.casino()).await?;
        tx.set_casino_status(CasinoStatus::Suspended, ACTOR, "its dialogue is over")
            .await?;
        tx.commit().await?;
        onboard::announce(&stack.fleet, self.casino()).await?;
        while self.swarm.join_next().await.is_some() {}
        Ok(())
    }

    fn casino(&self) -> &CasinoId {
        &self.config.casino_id
    }

    /// Sends the texts. The host must answer them together, as after the quiet window. If there are
    /// several, the swarm is therefore paused until all of them are stored.
    async fn say(&self, stack: &Stack, texts: &[String], so_far: usize) -> Result<()> {
        let together = texts.len() > 1;
        let open = self
            .fleet
            .roster
            .get(self.casino())
            .context("the casino is not in the roster")?;
        if together {
            let mut held = open.clone();
            held.paused.push("pause_agents".to_owned());
            self.fleet.roster.put(held);
        }
        for (n, text) in texts.iter().enumerate() {
            let to = Some(
                self.config
                    .operational
                    .telnyx_phone_number
                    .as_str()
                    .to_owned(),
            );
            stack.sim.text(Text {
                from: self.phone.clone(),
                to,
                text: Some(text.clone()),
                ..Text::default()
            })?;
            if together {
                // Waits until the text is stored, so that texts are stored in the order in which
                // they were written.
                let stored = so_far - texts.len() + n + 1;
                self.until(|timeline| timeline.inbound.len() >= stored)
                    .await?;
            }
        }
        self.fleet.roster.put(open);
        Ok(())
    }

    /// Waits until the fleet has finished its work, or until the timeout. Returns the guest's
    /// timeline and a note of trouble. The note names the timeout; it is empty if the fleet
    /// finished.
    async fn hear(&mut self, texts: usize) -> Result<(Timeline, String)> {
        let settled = |timeline: &Timeline| {
            timeline.inbound.len() >= texts
                && timeline
                    .inbound
                    .iter()
                    .all(|text| text.disposition != Disposition::Open)
                && timeline
                    .turns
                    .iter()
                    .all(|turn| turn.state != TurnState::Drafted)
                && timeline.outbound.iter().all(|text| {
                    ![OutboundState::Queued, OutboundState::Sending].contains(&text.state)
                })
        };
        let (timeline, settled) = self.until(settled).await?;
        let trouble = if settled {
            String::new()
        } else {
            format!("no end within {} s", self.patience.as_secs())
        };
        if !settled {
            self.patience = SHORT_ANSWER_TIMEOUT;
        }
        Ok((timeline, trouble))
    }

    async fn until(&self, done: impl Fn(&Timeline) -> bool) -> Result<(Timeline, bool)> {
        let until = Instant::now() + self.patience;
        loop {
            let timeline = self.timeline().await?;
            let is_done = done(&timeline);
            if is_done || Instant::now() > until {
                return Ok((timeline, is_done));
            }
            sleep(LOOK).await;
        }
    }

    async fn timeline(&self) -> Result<Timeline> {
        let hash = self
            .fleet
            .keys
            .hash(self.casino(), &self.phone.parse::<PhoneE164>()?);
        let mut tx = self.fleet.store.bind(self.casino()).await?;
        let guest = tx.guest_by_hash(&hash).await?;
        let timeline = match guest {
            Some(guest) => tx.timeline(&Subject::Guest(guest), 200).await?,
            None => Timeline::default(),
        };
        tx.commit().await?;
        Ok(timeline)
    }

    async fn heard(
        &self,
        before: &Timeline,
        after: &Timeline,
        trouble: &str,
        turn: &Turn,
    ) -> Result<Heard> {
        let turns = after
            .turns
            .iter()
            .filter(|turn| before.turns.iter().all(|old| old.turn_id != turn.turn_id));
        let turns: Vec<_> = turns.collect();
        let sent = |state| [OutboundState::Sent, OutboundState::Delivered].contains(&state);
        let texts = after.outbound.iter().filter(|text| {
            before
                .outbound
                .iter()
                .all(|old| old.outbound_id != text.outbound_id)
        });
        let texts: Vec<_> = texts.filter(|text| sent(text.state)).collect();
        let verdict = match (turns.is_empty(), texts.first()) {
            (true, None) => Verdict::Silence,
            (true, Some(text)) if text.agent == "gate" => Verdict::Canned,
            _ => Verdict::Reply,
        };
        let (mut sources, mut answered_by) = (Vec::<String>::new(), Vec::new());
        for turn in &turns {
            sources.extend(serde_json::from_value::<Vec<String>>(turn.sources.clone())?);
            answered_by.extend(self.answered_by(turn.turn_id).await?);
        }
        Ok(Heard {
            verdict: trouble.is_empty().then_some(verdict),
            trouble: trouble.to_owned(),
            segments: texts
                .iter()
                .map(|text| usize::try_from(text.segments).unwrap_or(0))
                .sum(),
            texts: texts.iter().map(|text| text.body.clone()).collect(),
            agents: turns.iter().map(|turn| turn.agent.clone()).collect(),
            sources,
            answered_by,
            known: self.known(turn).await?,
        })
    }

    /// Returns `model`, `fallback_text`, or why the offline host answered the turn; `None` without
    /// a hosted model.
    async fn answered_by(&self, turn: Uuid) -> Result<Option<String>> {
        let mut tx = self.fleet.store.bind(self.casino()).await?;
        let shown = tx.shown_turn(turn).await?;
        tx.commit().await?;
        let record: Option<Record> = shown
            .map(|shown| serde_json::from_value(shown.record))
            .transpose()?;
        Ok(record.and_then(|record| record.answered_by().map(str::to_owned)))
    }

    async fn known(
        &self,
        turn: &Turn,
    ) -> Result<std::collections::BTreeMap<String, serde_json::Value>> {
        if turn.expect.fields.is_empty() {
            return Ok(std::collections::BTreeMap::new());
        }
        let hash = self
            .fleet
            .keys
            .hash(self.casino(), &self.phone.parse::<PhoneE164>()?);
        let mut tx = self.fleet.store.bind(self.casino()).await?;
        let document = match tx.guest_by_hash(&hash).await? {
            Some(guest) => tx.profile(guest).await?,
            None => None,
        };
        tx.commit().await?;
        let now = self.fleet.clock.property_now();
        let profile = document.map_or_else(
            || Ok(Profile::new(now)),
            |document| Profile::from_json(document).map(|read| read.profile),
        )?;
        Ok(turn
            .expect
            .fields
            .keys()
            .map(|field| (field.clone(), known::known(&profile, field, now)))
            .collect())
    }
}
