//! A real Postgres with one casino in it.

use std::time::Duration;

use secrecy::SecretString;
use serde_json::json;
use seven_domain::{CasinoConfig, Channel, GuestHash, HashKey, HashKeys, IdSource, PhoneE164};
use seven_store::{
    Store, SweepPlan, Tx,
    guests::{GuestLaw, NewIds, Party},
};
use seven_testkit::Postgres;

pub(crate) struct House {
    /// URL of the database, with the owner's login.
    pub(crate) url: String,
    pub(crate) store: Store,
    pub(crate) config: CasinoConfig,
    pub(crate) keys: HashKeys,
    pub(crate) ids: IdSource,
}

/// Creates a new database that contains the casino.
pub(crate) async fn house(name: &str) -> House {
    let ids = IdSource::default();
    let postgres = Postgres::for_tests().await.unwrap();
    let name = format!("{name}_{}", ids.uuid().simple());
    let url = postgres.create_database(&name, None).await.unwrap();
    Store::migrate(&SecretString::from(url.clone()))
        .await
        .unwrap();
    let app = SecretString::from(url.replacen("postgres@", "seven_app@", 1));
    let sweep = SweepPlan {
        base: Duration::from_secs(15),
        longest: Duration::from_secs(600),
    };
    let store = Store::new(&app, 3, sweep).unwrap();
    let config: CasinoConfig = serde_json::from_value(json!({
        "casino_id": "silver_birch",
        "prompts": { "casino_name_display": "Silver Birch" },
        "regulations": { "state": "CT" },
        "operational": {
            "timezone": "America/New_York",
            "telnyx_phone_number": "+18605550100",
            "number_kind": "demo",
            "contact_phone": "1-860-555-0199",
        }
    }))
    .unwrap();
    store.put_casino(&config, "test").await.unwrap();
    let keys = HashKeys::new(HashKey {
        id: 1,
        secret: SecretString::from("k".repeat(32)),
    });
    House {
        url,
        store,
        config,
        keys,
        ids,
    }
}

impl House {
    /// Creates a guest with this phone, and the guest's conversation.
    pub(crate) async fn party(&self, tx: &mut Tx, phone: &str) -> (Party, GuestHash) {
        let phone: PhoneE164 = phone.parse().unwrap();
        let hash = self.keys.hash(&self.config.casino_id, &phone);
        let new = NewIds {
            guest: self.ids.next(),
            conversation: self.ids.next(),
        };
        let number = &self.config.operational.telnyx_phone_number;
        let law = GuestLaw::default();
        let party = tx.party(&phone, &hash, number, Channel::Sms, new, &law);
        (party.await.unwrap(), hash)
    }
}
