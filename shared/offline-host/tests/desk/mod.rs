//! A test desk that asks the offline host questions as a guest would, at a chosen casino and time.
#![expect(
    clippy::unwrap_used,
    reason = "clippy exempts test functions, not the helpers they share"
)]

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use chrono::{DateTime, NaiveDateTime, TimeZone, Utc};
use chrono_tz::{America::New_York, Tz};
use seven_knowledge::{Index, Reference, parse_content};
use seven_llm::{Exchange, Reply, Request};
use seven_offline_host::{Facts, OfflineModel};
use seven_packs::CASINO as PACK;

pub(crate) const PHONE: &str = "1-860-555-0142";
const ZONE: Tz = New_York;

static MODEL: LazyLock<OfflineModel> =
    LazyLock::new(|| OfflineModel::from_toml(&PACK.host).unwrap());
/// The same model, which also finds facts by their meaning.
static FINDING: LazyLock<OfflineModel> =
    LazyLock::new(|| MODEL.clone().with_facts(Facts::new().unwrap()));

pub(crate) struct Property {
    pub(crate) index: Arc<Index>,
    pub(crate) now: DateTime<Utc>,
    pub(crate) seed: u64,
    pub(crate) lead: Option<String>,
    pub(crate) history: Vec<Exchange>,
    pub(crate) state: seven_guest::DialogueState,
    pub(crate) ask: Option<seven_guest::Topic>,
    /// Whether the host finds facts by their meaning too.
    pub(crate) finds: bool,
}

fn at(local: &str) -> DateTime<Utc> {
    let wall = NaiveDateTime::parse_from_str(local, "%Y-%m-%d %H:%M").unwrap();
    ZONE.from_local_datetime(&wall).earliest().unwrap().to_utc()
}

impl Property {
    /// Loads `content` as a casino's content, at a local time in New York. Relative dates in the
    /// content are counted from that time.
    pub(crate) fn new(content: &str, local: &str) -> Self {
        let now = at(local);
        let items = parse_content("content.json", content, Reference { now, zone: ZONE });
        let items = items.unwrap_or_else(|problems| panic!("{}", problems[0]));
        let index = Arc::new(Index::build(items).in_zone(ZONE));
        Self {
            index,
            now,
            seed: 7,
            lead: None,
            history: Vec::new(),
            ask: None,
            finds: false,
            state: seven_guest::DialogueState::default(),
        }
    }

    /// Sends the guest's texts of one turn, separated by " || ", and returns the reply.
    pub(crate) fn ask(&self, text: &str) -> Reply {
        let model = if self.finds { &FINDING } else { &MODEL };
        model.answer(&self.request(text))
    }

    /// Returns the request that [`Self::ask`] sends.
    pub(crate) fn request(&self, text: &str) -> Request {
        Request {
            casino_name: "Silver Birch Resort".into(),
            contact_phone: PHONE.into(),
            persona: "Seven".into(),
            zone: ZONE,
            now: self.now,
            language: None,
            lead: self.lead.clone(),
            length: seven_domain::ReplyLength::Texts,
            texts: text.split(" || ").map(str::to_owned).collect(),
            history: self.history.clone(),
            index: Arc::clone(&self.index),
            seed: self.seed,
            deadline: Duration::from_secs(5),
            profile: seven_guest::profile::Context::default(),
            summary: None,
            ask: self.ask,
            state: self.state.clone(),
        }
    }
}

/// A text, the phrases that its reply must contain, and the phrases that it must not contain.
pub(crate) type Row = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// Sends each text in a turn without history, with three seeds. Lists every fault of the replies.
pub(crate) fn wrong(desk: &mut Property, rows: &[Row]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (text, holds, lacks) in rows {
        for seed in [0, 7, 1 << 40] {
            desk.seed = seed;
            let reply = desk.ask(text).text;
            let missing = holds.iter().find(|h| !reply.contains(**h));
            let stray = lacks.iter().find(|l| reply.contains(**l));
            if missing.is_some() || stray.is_some() {
                wrong.push(format!(
                    "{text}\n  lacks {missing:?}, holds {stray:?}: {reply}"
                ));
            }
        }
    }
    wrong
}
