//! Stage: reads the conversation and takes its lease (D4). Takes no lease if there is nothing to
//! answer, if it is too early, or if another worker is answering.

use std::{sync::Arc, time::Duration};

use seven_bus::{Delivery, events::ConversationSignal};
use seven_domain::{CasinoId, ConversationId, flags};
use seven_guest::{Profile, offers::Policy};
use seven_knowledge::{Category, Index, Item};
use seven_runtime::{Error, Fleet};
use seven_store::{
    controls::Switch,
    conversations::Lease,
    inbound::{OpenText, Waiting},
    outbound::Queued,
};
use seven_telemetry::trace;
use tokio::{
    runtime::Handle,
    time::{sleep, timeout},
};

use crate::{
    history,
    switches::{self, Silenced, silent},
    types::{LeaseCommit, Swarm, Work},
};

/// The result of reading a conversation.
pub(crate) enum Lookup {
    Nothing,
    Early(Duration, &'static str),
    /// The turn's work, and the commit of the transaction that took the lease. The commit may still
    /// be running.
    Leased(Box<Work>, LeaseCommit),
    /// An operator's switch forbids an answer. Contains the holding text of safe mode, if one is
    /// due, and the trace of the newest text.
    Silenced(Option<Queued>, String),
}

/// Reads the conversation and takes its lease in one transaction, so that the lease covers all that
/// was read.
pub(crate) async fn look(
    swarm: &Swarm,
    delivery: &Delivery<ConversationSignal>,
    conversation: ConversationId,
) -> Result<Lookup, Error> {
    let timing = &swarm.fleet.timing;
    let mut tx = swarm.fleet.store.bind_repeatable(&delivery.casino).await?;
    let waiting = tx.waiting(conversation).await?;
    let waiting = waiting.ok_or_else(|| Error::Other("the casino has no row".into()))?;
    let Waiting {
        mut casino,
        channel,
        open,
        switched,
        flags,
    } = waiting;
    if open.is_empty() {
        tx.commit().await?;
        return Ok(Lookup::Nothing);
    }
    let pack = Arc::clone(swarm.fleet.packs.of(&casino.config)?);
    let model = swarm.settings.models.of(&pack);
    let model = model
        .ok_or_else(|| Error::Other(format!("no model answers for the pack `{}`", pack.name)))?;
    let rules = &pack.rules;
    if channel.is_none_or(|channel| channel.profile().waits)
        && let Some(rest) = quiet_rest(
            &open,
            timing.pause(rules.quiet_window()),
            timing.pause(rules.quiet_window_max()),
        )
    {
        tx.commit().await?;
        return Ok(Lookup::Early(rest, "quiet_window"));
    }
    // Postgres decides whether turns are paused. The roster may be out of date, so it can only
    // delay a turn.
    if !silent(&switched)
        && swarm
            .fleet
            .roster
            .is_paused(&delivery.casino, Switch::Agents.as_str())
    {
        tx.commit().await?;
        return Ok(Lookup::Early(Duration::from_secs(1), "agents_paused"));
    }
    let Some(lease) = tx.lease(conversation, timing.lease()).await? else {
        tx.commit().await?;
        return Ok(Lookup::Early(timing.lease_wait(), "lease_held"));
    };
    if silent(&switched) {
        let silenced = Silenced {
            lease: &lease,
            config: &casino.config,
            pack: &pack,
            model: &model,
            open: &open,
        };
        let queued = switches::keep(swarm, &mut tx, &silenced, &switched).await?;
        tx.commit().await?;
        return Ok(Lookup::Silenced(
            queued,
            open.last()
                .map(|text| text.trace.clone())
                .unwrap_or_default(),
        ));
    }
    if !flags.is_empty()
        && let Some(guest) = tx.hash_of(lease.guest_id).await?
    {
        let features = flags::applied(
            &casino.config.features,
            &flags,
            &guest,
            swarm.fleet.clock.now(),
        );
        Arc::make_mut(&mut casino.config).features = features;
    }
    let index = swarm
        .library
        .index(
            &mut tx,
            casino.content_version,
            casino.config.operational.timezone,
        )
        .await?;
    // The lease taken above holds the conversation's lock, as the lock order in ARCHITECTURE.md
    // demands.
    let mut history =
        history::history(&mut tx, conversation, &pack, swarm.fleet.clock.now()).await?;
    let open = std::mem::take(&mut history.place.open);
    let Some(first) = open.first() else {
        tx.release_lease(conversation, lease.epoch).await?;
        tx.commit().await?;
        return Ok(Lookup::Nothing);
    };
    let profile = history
        .place
        .profile
        .take()
        .and_then(|document| read(&delivery.casino, document));
    let told = profile
        .as_ref()
        .is_some_and(|profile| profile.engagement.responsible_gaming_triggered);
    let index = if lease.responsible_gaming || told {
        without_gaming(&index, &pack.offers)
    } else {
        index
    };
    let trace = first.trace.clone();
    let leasing = tx.commit_meanwhile();
    // The turn continues the trace of its oldest text.
    trace::adopt(&trace);
    let work = Work {
        casino: delivery.casino.clone(),
        config: casino.config,
        pack,
        model,
        lease,
        open,
        history,
        profile,
        index,
        trace,
    };
    Ok(Lookup::Leased(Box::new(work), leasing))
}

/// Holds a turn's lease until the turn has succeeded. If the turn fails, panics or takes too long,
/// releases the lease, so that the texts need not wait for its expiry (D4).
pub(crate) struct LeaseGuard {
    fleet: Fleet,
    casino: CasinoId,
    conversation: ConversationId,
    epoch: i64,
    pub(crate) ended: bool,
}

impl LeaseGuard {
    pub(crate) fn of(fleet: &Fleet, work: &Work) -> Self {
        let Lease {
            conversation_id: conversation,
            epoch,
            ..
        } = work.lease;
        Self {
            fleet: fleet.clone(),
            casino: work.casino.clone(),
            conversation,
            epoch,
            ended: false,
        }
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.ended, Handle::try_current()) {
            runtime.spawn(give_back(
                self.fleet.clone(),
                self.casino.clone(),
                self.conversation,
                self.epoch,
            ));
        }
    }
}

/// Releases the lease, and tries again while the database cannot be reached.
async fn give_back(fleet: Fleet, casino: CasinoId, conversation: ConversationId, epoch: i64) {
    const RELEASE_RETRY_DELAY: Duration = Duration::from_millis(250);
    let given_back = async {
        while let Err(error) = release(&fleet, &casino, conversation, epoch).await {
            tracing::debug!(%casino, %error, "a failed turn's lease is still held");
            sleep(RELEASE_RETRY_DELAY).await;
        }
    };
    // Gives up after the duration of a lease: by then it has expired or belongs to another worker.
    drop(timeout(fleet.timing.lease(), given_back).await);
}

async fn release(
    fleet: &Fleet,
    casino: &CasinoId,
    conversation: ConversationId,
    epoch: i64,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    tx.release_lease(conversation, epoch).await?;
    Ok(tx.commit().await?)
}

/// Returns the content for a guest who asked for help with gambling. Games and tournaments are left
/// out, so that no model and no tool finds any. Rules and help stay.
fn without_gaming(index: &Index, policy: &Policy) -> Arc<Index> {
    let plays = |item: &Item| match &item.category {
        Category::Gaming => true,
        Category::Regulations | Category::GeneralInfo => false,
        _ => {
            let more = item.keywords.iter().chain(&item.tip).map(String::as_str);
            let said = [item.name.as_str(), item.description.as_str()]
                .into_iter()
                .chain(more);
            policy.is_gaming(&said.collect::<Vec<_>>().join(" . "))
        }
    };
    Arc::new(index.hiding(plays))
}

/// Returns the stored profile. If the document cannot be parsed, logs the error; the turn then
/// begins a new profile. If only single fields cannot be parsed, they stay in the document.
fn read(casino: &CasinoId, document: serde_json::Value) -> Option<Profile> {
    match Profile::from_json(document) {
        Ok(read) => Some(read.profile),
        Err(error) => {
            tracing::error!(%casino, %error, "a guest's profile cannot be read");
            None
        }
    }
}

/// Returns how long to wait for further texts. The wait ends `quiet` after the newest text, or
/// `most` after the oldest, whichever is earlier. `None` if the wait is over.
fn quiet_rest(open: &[OpenText], quiet: Duration, most: Duration) -> Option<Duration> {
    let ages = || {
        open.iter()
            .map(|text| Duration::try_from_secs_f64(text.age.max(0.0)).unwrap_or(Duration::MAX))
    };
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
            let row = serde_json::json!({
                "id": id,
                "category": category,
                "name": name,
                "description": description,
                "active": true,
                "details": {},
            });
            Item::from_json(&row)
        };
        let rows = [
            (
                "loyalty_1",
                "loyalty",
                "Match Night",
                "Double points on every slot machine",
            ),
            (
                "loyalty_2",
                "loyalty",
                "Diners' Card",
                "A tenth dinner for nine paid ones",
            ),
            (
                "info_1",
                "general_info",
                "Cage",
                "Cash desk of the gaming floor",
            ),
        ];
        let items = rows
            .iter()
            .map(|(id, category, name, text)| item(id, category, name, text).unwrap())
            .collect();
        let index = without_gaming(&Index::build(items), &seven_packs::casino().offers);
        let left: Vec<_> = index.current(now).map(|item| item.id.as_str()).collect();
        assert_eq!(left, ["loyalty_2", "info_1"]);
        assert!(
            index
                .search("double points slot machine", now, 5)
                .iter()
                .all(|hit| hit.item.id != "loyalty_1")
        );
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
            // The order in which the texts were stored differs from the order in which they were
            // written.
            (vec![0.5, 5.0], Some(1_000)),
            (vec![0.5, 7.5], Some(500)),
        ] {
            let open: Vec<_> = ages.iter().map(|a| text(*a)).collect();
            assert_eq!(
                quiet_rest(&open, quiet, most).map(|d| d.as_millis()),
                rest,
                "{ages:?}"
            );
        }
        assert_eq!(
            quiet_rest(&[text(0.0)], Duration::ZERO, Duration::ZERO),
            None
        );
    }
}
