//! Forecasts a campaign for each guest: runs the real pre-send check in a transaction that is
//! rolled back.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};
use seven_domain::{CampaignId, CasinoConfig, GuestHash, GuestId, PROVIDERS, TELNYX};
use seven_runtime::{Error, Fleet};
use seven_sms::risk::COMPARED;
use seven_store::{
    Tx,
    campaigns::{
        NewListed,
        release::{Addressee, ListingRefusal},
    },
    presend_check::{PresendCheck, Refusal},
};

use crate::{
    draft::{self, Whereabouts},
    wording::Texts,
};

/// Number of guests that are checked concurrently.
const AT_ONCE: usize = 4;

/// The outcome that a guest's text would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Now,
    /// The text would be sent when the guest's sending window opens: the opening time, and the wait
    /// until then.
    Deferred(DateTime<Utc>, Duration),
    /// The text would wait until an obstacle ends by itself; holds the obstacle's code.
    Later(String),
    Refused(String),
}

/// The forecast for one guest of the campaign's list.
#[derive(Debug, Clone)]
pub struct Line {
    pub guest: GuestHash,
    /// `None` if the casino has no such guest.
    pub guest_id: Option<GuestId>,
    pub fate: Fate,
    /// Number of segments that would be billed for the text.
    pub segments: u64,
}

/// The forecast for all guests of a list.
#[derive(Debug, Clone, Default)]
pub struct Plan(pub Vec<Line>);

// === impl Fate ===

impl Fate {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Deferred(..) => "deferred",
            Self::Later(_) => "later",
            Self::Refused(_) => "refused",
        }
    }

    /// Returns the reason: the pre-send check's code if there is one; empty for a text that would
    /// be sent at once.
    pub fn why(&self) -> &str {
        match self {
            Self::Now => "",
            Self::Deferred(..) => Refusal::QuietHours.as_str(),
            Self::Later(why) | Self::Refused(why) => why,
        }
    }

    pub fn opens_at(&self) -> Option<DateTime<Utc>> {
        if let Self::Deferred(at, _) = self {
            Some(*at)
        } else {
            None
        }
    }
}

// === impl Plan ===

impl Plan {
    /// Makes the forecast for every guest; writes nothing.
    ///
    /// # Errors
    /// Fails when a store does not answer.
    pub async fn of(
        fleet: &Fleet,
        config: &CasinoConfig,
        campaign: CampaignId,
        texts: &Texts,
        guests: Vec<GuestHash>,
    ) -> Result<Self, Error> {
        let lines = stream::iter(guests)
            .map(|guest| async move {
                match line(fleet, config, campaign, texts, guest).await {
                    // Another transaction of this guest, such as a turn or a receipt, got in the
                    // way. Tries once more.
                    Err(Error::Store(error)) if error.is_contended() => {
                        line(fleet, config, campaign, texts, guest).await
                    }
                    line => line,
                }
            })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(Self(lines))
    }

    /// Returns the number of guests per fate and reason.
    pub fn counts(&self) -> BTreeMap<(&'static str, &str), u64> {
        let mut counts = BTreeMap::new();
        for line in &self.0 {
            *counts
                .entry((line.fate.word(), line.fate.why()))
                .or_default() += 1;
        }
        counts
    }

    /// Returns the counts as a JSON object. The keys are the fate's word, or `word: reason` if
    /// there is a reason; the values are numbers of guests.
    pub fn document(&self) -> Value {
        let mut document = Map::new();
        for ((word, why), n) in self.counts() {
            let key = if why.is_empty() {
                word.to_owned()
            } else {
                format!("{word}: {why}")
            };
            document.insert(key, n.into());
        }
        Value::Object(document)
    }

    pub fn count(&self, word: &str) -> usize {
        self.0
            .iter()
            .filter(|line| line.fate.word() == word)
            .count()
    }

    /// Returns the number of segments of all texts that are not refused.
    pub fn segments(&self) -> u64 {
        self.0
            .iter()
            .filter(|line| !matches!(line.fate, Fate::Refused(_)))
            .map(|line| line.segments)
            .sum()
    }

    /// Returns the latest time at which a guest's sending window opens; `None` if no text is
    /// deferred.
    pub fn last_opening(&self) -> Option<DateTime<Utc>> {
        self.0.iter().filter_map(|line| line.fate.opens_at()).max()
    }

    /// Returns the rows to store, one for each guest that the casino knows.
    pub fn listed(&self) -> Vec<NewListed> {
        let row = |line: &Line| {
            let guest_id = line.guest_id?;
            Some(match &line.fate {
                Fate::Refused(why) => NewListed {
                    guest_id,
                    refused: Some(why.clone()),
                    wait: None,
                },
                Fate::Deferred(_, wait) => NewListed {
                    guest_id,
                    refused: None,
                    wait: Some((*wait, line.fate.why().to_owned())),
                },
                Fate::Now | Fate::Later(_) => NewListed {
                    guest_id,
                    refused: None,
                    wait: None,
                },
            })
        };
        self.0.iter().filter_map(row).collect()
    }
}

async fn line(
    fleet: &Fleet,
    config: &CasinoConfig,
    campaign: CampaignId,
    texts: &Texts,
    guest: GuestHash,
) -> Result<Line, Error> {
    let mut tx = fleet.store.bind(&config.casino_id).await?;
    let refused = |guest_id, why: &str| Line {
        guest,
        guest_id,
        fate: Fate::Refused(why.to_owned()),
        segments: 0,
    };
    let Some(id) = tx.guest_by_hash(&guest).await? else {
        return Ok(refused(None, "unknown_guest"));
    };
    let Some(addressee) = tx.addressee(id).await? else {
        return Ok(refused(Some(id), "no_conversation"));
    };
    let body = draft::in_language(&addressee, &texts.en.body, &texts.es.body);
    let segments = u64::try_from(seven_sms::measure(body).segments).unwrap_or(1);
    let now = fleet.clock.property_now();
    let place = draft::place(config, &addressee, now)?;
    let asked = ask(
        fleet,
        config,
        &mut tx,
        &draft::text(campaign, &addressee, body),
        &place,
        &guest,
    )
    .await;
    tx.rollback().await?;
    Ok(Line {
        guest,
        guest_id: Some(id),
        fate: fate(&addressee, asked?.err(), &place, now),
        segments,
    })
}

/// Queues the text and runs the pre-send check on it; the caller rolls both back.
async fn ask(
    fleet: &Fleet,
    config: &CasinoConfig,
    tx: &mut Tx,
    text: &seven_store::outbound::NewOutbound,
    place: &Whereabouts,
    guest: &GuestHash,
) -> Result<Result<(), Refusal>, Error> {
    let refused_as_of = fleet.cache.refused(&config.casino_id, guest).await;
    tx.queue(text).await?;
    let wording = tx
        .wording(
            text.outbound_id,
            i64::try_from(COMPARED).unwrap_or(i64::MAX),
        )
        .await?
        .unwrap_or_default();
    let first = config
        .operational
        .providers
        .first()
        .map_or(TELNYX, String::as_str);
    let provider = PROVIDERS
        .into_iter()
        .find(|provider| *provider == first)
        .unwrap_or(TELNYX);
    let ours = &config.operational;
    let check = PresendCheck {
        outbound_id: text.outbound_id,
        attempt_id: fleet.ids.next(),
        provider,
        sender: ours
            .number_at(provider)
            .or(Some(&ours.telnyx_phone_number))
            .cloned(),
        deadline: fleet.timing.send_deadline(),
        grace: fleet.timing.doubt_grace(),
        window_open: place.window.open,
        exclusion_list_needed: place.exclusion_list_needed,
        called_at: fleet.clock.now(),
        refused_as_of,
        risk: Some(seven_sms::risk(&wording.body, &wording.earlier).score()),
    };
    Ok(tx.presend_check(&check).await?.map(|_| ()))
}

/// Converts the pre-send check's answer into a forecast. If an obstacle ends by itself, the text
/// waits instead of being refused.
fn fate(
    guest: &Addressee,
    refusal: Option<Refusal>,
    place: &Whereabouts,
    now: DateTime<Utc>,
) -> Fate {
    if guest.refusal == Some(ListingRefusal::DeletionPending) {
        return Fate::Refused("deletion_pending".to_owned());
    }
    match refusal {
        None | Some(Refusal::EarlierUnsent) if guest.busy => {
            Fate::Later("conversation_under_way".to_owned())
        }
        None => Fate::Now,
        Some(Refusal::QuietHours) => match (place.window.opens_at, place.opens_in(now)) {
            (Some(at), Some(wait)) => Fate::Deferred(at, wait),
            _ => Fate::Refused(Refusal::QuietHours.as_str().to_owned()),
        },
        Some(
            passing @ (Refusal::Paused
            | Refusal::Killed
            | Refusal::CasinoInactive
            | Refusal::ProviderStopped
            | Refusal::Parked
            | Refusal::EarlierUnsent
            | Refusal::RefusedByCache
            | Refusal::NotYet
            | Refusal::OptOutAsked
            | Refusal::NumberUnchecked
            | Refusal::SenderRetired),
        ) => Fate::Later(passing.as_str().to_owned()),
        Some(lasting) => Fate::Refused(lasting.as_str().to_owned()),
    }
}
