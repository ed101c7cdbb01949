//! A signal: is there something to say, is it time, and is nobody else saying it?

use std::{sync::Arc, time::Duration};

use seven_bus::{Delivery, Handler, Outcome, events::ConversationSignal};
use seven_domain::{CasinoConfig, CasinoId, ConversationId, Stage, flags};
use seven_guest::{Profile, offers::Policy};
use seven_knowledge::{Category, Index, Item};
use seven_llm::Model;
use seven_packs::Pack;
use seven_runtime::{Error, Fleet, outcome_of};
use seven_store::{
    controls::Switch,
    conversations::Lease,
    inbound::{OpenText, Waiting},
    outbound::Queued,
};
use seven_telemetry::trace;
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{
    Settings,
    content::Library,
    session::Recall,
    switches::{Silenced, silent},
};

#[derive(Debug)]
pub struct Swarm {
    pub(crate) fleet: Fleet,
    pub(crate) settings: Settings,
    pub(crate) library: Library,
    /// Turns that are committed and announced at once: models may be waited for by many more.
    pub(crate) commits: Semaphore,
}

/// A leased conversation with everything its turn needs.
pub(crate) struct Work {
    pub(crate) casino: CasinoId,
    pub(crate) config: Arc<CasinoConfig>,
    pub(crate) pack: Arc<Pack>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) lease: Lease,
    pub(crate) open: Vec<OpenText>,
    pub(crate) recall: Recall,
    /// None for a guest of whom nothing is known.
    pub(crate) profile: Option<Profile>,
    pub(crate) index: Arc<Index>,
    pub(crate) trace: String,
}

/// What a turn reads is in hand before its lease is committed; what it writes waits for that (`leased` in turn.rs).
/// Until then the row's lock keeps other turns out, as the lease does afterwards.
pub(crate) type Leasing = JoinHandle<seven_store::Result<()>>;

enum Looked {
    Nothing,
    Early(Duration, &'static str),
    /// And the end of the transaction that leased it.
    Leased(Box<Work>, Leasing),
    /// An operator's switch is on: the holding text of safe mode where it is due, and the trace.
    Silenced(Option<Queued>, String),
}

impl Handler for Swarm {
    type Event = ConversationSignal;
    const STAGE: Stage = Stage::Swarm;

    async fn handle(&self, delivery: Delivery<ConversationSignal>) -> Outcome {
        match self.process(&delivery).await {
            Ok(outcome) => outcome,
            Err(error) => outcome_of(&error, delivery.tries),
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.ready().await
    }
}

/// A turn's lease until the turn has ended well. One that fails, panics or is given up at its deadline gives the lease back instead of
/// letting it lapse (D4): its texts would wait that long.
struct Held {
    fleet: Fleet,
    casino: CasinoId,
    conversation: ConversationId,
    epoch: i64,
    ended: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.ended, Handle::try_current()) {
            runtime.spawn(give_back(self.fleet.clone(), self.casino.clone(), self.conversation, self.epoch));
        }
    }
}

/// Also when the database is away just now.
async fn give_back(fleet: Fleet, casino: CasinoId, conversation: ConversationId, epoch: i64) {
    const PAUSE: Duration = Duration::from_millis(250);
    let given_back = async {
        while let Err(error) = release(&fleet, &casino, conversation, epoch).await {
            tracing::debug!(%casino, %error, "a failed turn's lease is still held");
            sleep(PAUSE).await;
        }
    };
    // Then it has lapsed, or somebody else has one of his own.
    drop(timeout(fleet.timing.lease(), given_back).await);
}

async fn release(fleet: &Fleet, casino: &CasinoId, conversation: ConversationId, epoch: i64) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    tx.release_lease(conversation, epoch).await?;
    Ok(tx.commit().await?)
}

impl Swarm {
    pub fn new(fleet: Fleet, settings: Settings) -> Self {
        let library = Library::new(settings.index_bytes, settings.embedding.clone());
        let commits = Semaphore::new(fleet.database_work());
        Self { fleet, settings, library, commits }
    }

    async fn process(&self, delivery: &Delivery<ConversationSignal>) -> Result<Outcome, Error> {
        let conversation: ConversationId = seven_bus::id(&delivery.event.conversation_id)?;
        match self.look(delivery, conversation).await? {
            Looked::Nothing => {
                self.repeat_drafts(delivery, conversation).await?;
                Ok(Outcome::Done)
            }
            Looked::Early(after, why) => Ok(Outcome::Wait { after, why }),
            Looked::Leased(work, leasing) => {
                let (fleet, casino, epoch) = (self.fleet.clone(), work.casino.clone(), work.lease.epoch);
                let mut held = Held { fleet, casino, conversation, epoch, ended: false };
                let outcome = self.turn(*work, leasing).await;
                held.ended = outcome.is_ok();
                outcome
            }
            // Done: the texts stay open, and the end of the switch has them signalled again.
            Looked::Silenced(queued, trace) => {
                trace::adopt(&trace);
                let queued: Vec<_> = queued.into_iter().collect();
                self.fleet.signal_queued(&delivery.casino, &queued, None, &trace).await?;
                Ok(Outcome::Done)
            }
        }
    }

    /// Reads and leases in one transaction: what is read is what the lease covers.
    async fn look(
        &self,
        delivery: &Delivery<ConversationSignal>,
        conversation: ConversationId,
    ) -> Result<Looked, Error> {
        let timing = &self.fleet.timing;
        let mut tx = self.fleet.store.bind_repeatable(&delivery.casino).await?;
        let waiting = tx.waiting(conversation).await?;
        let waiting = waiting.ok_or_else(|| Error::Other("the casino has no row".into()))?;
        let Waiting { mut casino, open, switched, flags } = waiting;
        if open.is_empty() {
            tx.commit().await?;
            return Ok(Looked::Nothing);
        }
        let pack = Arc::clone(self.fleet.packs.of(&casino.config)?);
        let model = self.settings.models.of(&pack);
        let model = model.ok_or_else(|| Error::Other(format!("no model answers for the pack `{}`", pack.name)))?;
        let rules = &pack.rules;
        if let Some(rest) =
            quiet_rest(&open, timing.pause(rules.quiet_window()), timing.pause(rules.quiet_window_max()))
        {
            tx.commit().await?;
            return Ok(Looked::Early(rest, "quiet_window"));
        }
        // Postgres decides; the bucket's word alone, which may be late, only waits.
        if !silent(&switched) && self.fleet.roster.is_paused(&delivery.casino, Switch::Agents.as_str()) {
            tx.commit().await?;
            return Ok(Looked::Early(Duration::from_secs(1), "agents_paused"));
        }
        let Some(lease) = tx.lease(conversation, timing.lease()).await? else {
            tx.commit().await?;
            return Ok(Looked::Early(timing.lease_wait(), "lease_held"));
        };
        if silent(&switched) {
            let silenced = Silenced { lease: &lease, config: &casino.config, pack: &pack, model: &model, open: &open };
            let queued = self.keep(&mut tx, &silenced, &switched).await?;
            tx.commit().await?;
            return Ok(Looked::Silenced(queued, open.last().map(|text| text.trace.clone()).unwrap_or_default()));
        }
        if !flags.is_empty()
            && let Some(guest) = tx.hash_of(lease.guest_id).await?
        {
            let features = flags::applied(&casino.config.features, &flags, &guest, self.fleet.clock.now());
            Arc::make_mut(&mut casino.config).features = features;
        }
        let index = self.library.index(&mut tx, casino.content_version, casino.config.operational.timezone).await?;
        // The lease's lock on the conversation comes first, as everywhere (see ARCHITECTURE, lock order).
        let mut recall = self.recall(&mut tx, conversation, &pack).await?;
        let open = std::mem::take(&mut recall.place.open);
        let Some(first) = open.first() else {
            tx.release_lease(conversation, lease.epoch).await?;
            tx.commit().await?;
            return Ok(Looked::Nothing);
        };
        let profile = recall.place.profile.take().and_then(|document| read(&delivery.casino, document));
        let told = profile.as_ref().is_some_and(|profile| profile.engagement.responsible_gaming_triggered);
        let index = if lease.responsible_gaming || told { without_gaming(&index) } else { index };
        let trace = first.trace.clone();
        let leasing = tx.commit_meanwhile();
        // The turn belongs to its oldest text.
        trace::adopt(&trace);
        let work = Work {
            casino: delivery.casino.clone(),
            config: casino.config,
            pack,
            model,
            lease,
            open,
            recall,
            profile,
            index,
            trace,
        };
        Ok(Looked::Leased(Box::new(work), leasing))
    }

    /// A redelivered signal whose turn was committed but perhaps not announced: announce it again (D3).
    async fn repeat_drafts(
        &self,
        delivery: &Delivery<ConversationSignal>,
        conversation: ConversationId,
    ) -> Result<(), Error> {
        if delivery.deliveries < 2 {
            return Ok(());
        }
        let mut tx = self.fleet.store.bind(&delivery.casino).await?;
        let drafts = tx.drafted_turns(conversation).await?;
        tx.commit().await?;
        for (turn, trace) in drafts {
            let copy = Some(format!("dup:{}:{}", delivery.stream_seq, delivery.deliveries));
            self.fleet.bus.signal_draft(&delivery.casino, turn, copy, &trace).await?;
        }
        Ok(())
    }
}

/// What a guest who cried for help about gambling may be told of: no games, no tournaments, nothing to play with; the rules and the
/// help there is stay (CONV-36, SEC-28). Whatever model or tool answers finds only these rows.
fn without_gaming(index: &Index) -> Arc<Index> {
    let plays = |item: &Item| match &item.category {
        Category::Gaming => true,
        Category::Regulations | Category::GeneralInfo => false,
        _ => {
            let more = item.keywords.iter().chain(&item.tip).map(String::as_str);
            let said = [item.name.as_str(), item.description.as_str()].into_iter().chain(more);
            Policy::house().is_gaming(&said.collect::<Vec<_>>().join(" . "))
        }
    };
    Arc::new(index.hiding(plays))
}

/// A document nobody can read is told of and begun anew; fields that cannot be read stay in it.
fn read(casino: &CasinoId, document: serde_json::Value) -> Option<Profile> {
    match Profile::from_json(document) {
        Ok(read) => Some(read.profile),
        Err(error) => {
            tracing::error!(%casino, %error, "a guest's profile cannot be read");
            None
        }
    }
}

/// How much longer to listen: until `quiet` after the newest text, but no longer than `most` after the oldest.
fn quiet_rest(open: &[OpenText], quiet: Duration, most: Duration) -> Option<Duration> {
    let ages = || open.iter().map(|text| Duration::try_from_secs_f64(text.age.max(0.0)).unwrap_or(Duration::MAX));
    let newest = quiet.saturating_sub(ages().min()?);
    let oldest = most.saturating_sub(ages().max()?);
    let rest = newest.min(oldest);
    (!rest.is_zero()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(age: f64) -> OpenText {
        OpenText {
            inbound_id: uuid::Uuid::nil(),
            body: String::new(),
            since: chrono::DateTime::UNIX_EPOCH,
            tries: 0,
            trace: String::new(),
            age,
            released: false,
        }
    }

    #[test] // CONV-36, SEC-28
    fn who_cried_for_help_hears_of_no_game() {
        let now = chrono::DateTime::UNIX_EPOCH;
        let item = |id: &str, category: &str, name: &str, description: &str| {
            let row = serde_json::json!({ "id": id, "category": category, "name": name, "description": description, "active": true, "details": {} });
            Item::from_json(&row)
        };
        let rows = [
            ("loyalty_1", "loyalty", "Match Night", "Double points on every slot machine"),
            ("loyalty_2", "loyalty", "Diners' Card", "A tenth dinner for nine paid ones"),
            ("info_1", "general_info", "Cage", "Cash desk of the gaming floor"),
        ];
        let items = rows.iter().map(|(id, category, name, text)| item(id, category, name, text).unwrap()).collect();
        let index = without_gaming(&Index::build(items));
        let left: Vec<_> = index.current(now).map(|item| item.id.as_str()).collect();
        assert_eq!(left, ["loyalty_2", "info_1"]);
        assert!(index.search("double points slot machine", now, 5).iter().all(|hit| hit.item.id != "loyalty_1"));
        assert!(index.mentions("tell me about Match Night", now).is_empty());
    }

    #[test]
    fn listens_until_the_guest_pauses_but_not_for_ever() {
        let (quiet, most) = (Duration::from_millis(1_500), Duration::from_secs(8));
        for (ages, rest) in [
            (vec![0.0], Some(1_500)),
            (vec![1.0], Some(500)),
            (vec![1.5], None),
            (vec![5.0, 0.5], Some(1_000)),
            (vec![7.5, 0.5], Some(500)),
            (vec![8.0, 0.0], None),
            // Stored in another order than written.
            (vec![0.5, 5.0], Some(1_000)),
            (vec![0.5, 7.5], Some(500)),
        ] {
            let open: Vec<_> = ages.iter().map(|a| text(*a)).collect();
            assert_eq!(quiet_rest(&open, quiet, most).map(|d| d.as_millis()), rest, "{ages:?}");
        }
        assert_eq!(quiet_rest(&[text(0.0)], Duration::ZERO, Duration::ZERO), None);
    }
}
